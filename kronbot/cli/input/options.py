"""Options that several commands share, each written once, and how their values are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from kronbot.cli.input import completion
from kronbot.cli.input.option import LISTED, VALUED, option, pairs
from kronbot.cli.input.streams import demand_one_reader
from kronbot.cli.output.answers import Output
from kronbot.cli.output.files import keep_apart, tell
from kronbot.cli.output.messages import show_warnings
from kronbot.compute.native import policy
from kronbot.compute.remembered import MEMORY
from kronbot.description import choices
from kronbot.description.wording import escaped
from kronbot.records import dataclass

if TYPE_CHECKING:
    from kronbot.description.described import Description
    from kronbot.library.robot import Robot

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]
# Characters of a reason that a note repeats; --debug shows all of it.
REASON = 300


class Quantity(click.ParamType[float]):
    """A number as in a robot file: 0.05, 1e-8, pi/2, 90*deg; positive unless the option says otherwise."""

    name = "number"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number as a float."""
        from kronbot.description.expressions.expression import ExpressionError, evaluate, parse

        if isinstance(value, float):
            return value
        try:
            number = evaluate(parse(str(value)), {})
        except ExpressionError as error:
            self.fail(error.of(str(value)), param, ctx)
        if number <= 0:
            self.fail(f"{value!r} is not positive", param, ctx)
        return number


@dataclass(frozen=True)
class Subject:
    """The robot that a command is about, at an order, with other values for some parameters."""

    robot: str
    order: str
    settings: tuple[str, ...]

    def load(self, out: Output, judged: bool = False) -> Robot:
        """The robot; warnings about its file go to stderr.

        Those about a shipped robot, whose file says the same, only where it is ``judged`` or has other values; that
        nothing in the file depends on a parameter, which options may, only where it is judged.
        """
        from kronbot import description

        demand_one_reader(self.robot)
        keep_apart(self.robot, "the robot file")
        source = description.read(self.robot)
        settings = settings_of(self.settings)
        model = MEMORY.recall(source, settings, self.order)
        described = description.load(source, settings) if model is None else model.description
        keep_files_apart(described)
        shipped = source.folder in {path.parent for path in description.shipped_robots().values()}
        if not out.quiet and (judged or self.settings or not shipped):
            show_warnings(described.warnings)
            if judged:
                show_warnings(described.useless)
        from kronbot.library.robot import Robot

        return Robot(MEMORY.built(described, settings, self.order) if model is None else model)


def keep_files_apart(described: Description) -> None:
    """Raise UsageError where an answer would take the place of a file that a robot was read from."""
    for path, what in described.files:
        keep_apart(str(path), what)


def gathered(word: str, make: Callable[..., object], names: Sequence[str]) -> Decorator:
    """Hand the values of several options to a command as one object under a word."""

    def decorate(command: Command) -> Command:
        @wraps(command)
        def gathering(**values: Any) -> Any:
            values[word] = make(**{name: values.pop(name) for name in names})
            return command(**values)

        return gathering

    return decorate


def together(*options: Decorator) -> Decorator:
    """Options as one decorator; help lists them in this order."""

    def decorate(command: Command) -> Command:
        for each in reversed(options):
            command = each(command)
        return command

    return decorate


def choice_option(name: str, known: Sequence[str], default: str, text: str) -> Decorator:
    """One word of several."""
    return option(name, type=click.Choice(known), default=default, show_default=True, help=text)


def values_option(name: str, text: str, offered: completion.Completer = completion.coordinates) -> Decorator:
    """Values of coordinates, or of what ``offered`` completes."""
    return option(name, type=VALUED, metavar="VALUES", shell_complete=offered, help=text)


def style_option(text: str = "What to print on stdout.", known: Sequence[str] = ("table", "json", "csv")) -> Decorator:
    """--format."""
    return option("--format", "style", type=click.Choice(known), default="table", show_default=True, help=text)


def or_stdout(context: click.Context, parameter: click.Parameter, name: str | None) -> str | None:
    """The name of a file, None for stdout."""
    return None if name == "-" else name


def output_option(text: str) -> Decorator:
    """-o: a file, or None for stdout."""
    return option("-o", "--output", metavar="FILE", callback=or_stdout, help=text)


def overwrite_option(text: str) -> Decorator:
    """--overwrite, and what it lets be replaced."""
    return option("--overwrite", is_flag=True, help=text)


message_options = together(
    option("-q", "--quiet", is_flag=True, help="No messages on stderr but errors."),
    # main.py looks for --debug itself, since errors are its business.
    option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error."),
)

_NAMED = "0.1,pi/2,0 or by name q1=0.1,upper.v1=0.02"
q_option = values_option("--q", f"Coordinates: {_NAMED}, or @file.csv (kronbot explain rows).")
q_of_one_point_option = values_option("--q", f"Coordinates: {_NAMED} (others 0).")
q_of_start_option = values_option("--q", f"First coordinates: {_NAMED}; default: of the motion.")
qd_option = values_option("--qd", "Rates of the coordinates, written like --q.")
qdd_option = values_option("--qdd", "Second derivatives, written like --q.")
frame_options = together(
    option(
        "--frame", default="endpoint", show_default=True, metavar="FRAME", shell_complete=completion.frame,
        help="endpoint, LINK (its tip), LINK:root, com:LINK, or base-to:A,B (motion of B relative to A).",
    ),
    option(
        "--in", "axes", type=click.Choice(choices.AXES), default="base", show_default=True,
        help="Axes: of the base (the frame it is seen from), or of the moving frame.",
    ),
)  # fmt: skip


algorithm_option: Decorator = option(
    "--algorithm",
    type=click.Choice(choices.ALGORITHMS),
    help="Forward dynamics: recursive DeNOC (default), or composite, the whole inertia matrix and its factorization, "
    "which joints that follow others want.",
)


def load_option(text: str) -> Decorator:
    """--load, which may be repeated."""
    return option(
        "--load", "loads", multiple=True, shell_complete=completion.frame_load,
        metavar="FRAME=FX,FY,FZ[,MX,MY,MZ]", help=text,
    )  # fmt: skip


def outputs_option(text: str, default: str | None = None) -> Decorator:
    """--outputs."""
    return option(
        "--outputs",
        type=LISTED,
        metavar="OUTPUTS",
        default=default,
        show_default=True,
        shell_complete=completion.outputs,
        help=text,
    )


def _use_native(context: click.Context, parameter: click.Parameter, choice: str) -> None:
    context.with_resource(policy.native(choice, _tell_interpreted, _tell_waiting))


def _tell_interpreted(why: str) -> None:
    tell(f"warning: no native code, interpreted instead, with the same answer: {escaped(why)[:REASON]}")


def _tell_waiting(what: str) -> None:
    tell(f"waiting for {escaped(what)[:REASON]}; --native off goes on without")


def _subject(orders: Sequence[str], order_help: str) -> Decorator:
    return together(
        option(
            "--set", "settings", metavar="NAME=VALUE,...", multiple=True, shell_complete=completion.parameter,
            help="Give parameters of the file other values; may be repeated.",
        ),
        choice_option("--order", orders, "2", order_help),
        click.argument("robot", metavar="ROBOT", shell_complete=completion.robots),
        option(
            "--native", type=click.Choice(policy.CHOICES), default="auto", show_default=True,
            expose_value=False, callback=_use_native,
            help="Compiled code: where it pays, always, or never. The answer is the same to the last bit.",
        ),
        gathered("subject", Subject, ["robot", "order", "settings"]),
    )  # fmt: skip


# ROBOT, --order and --set, as ``subject``; --native, which holds while the command runs.
subject_options = _subject(
    choices.ORDERS,
    "Kinematics of flexible links: 0 rigid, 1 first order, 2 with geometric stiffening, exact for any deflection.",
)
subject_at_every_order = _subject(
    [*choices.ORDERS, "all"], "Kinematic order of flexible links, or all of them side by side with their differences."
)


def _pair(context: click.Context, parameter: click.Parameter, text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    from kronbot.plots.frequency_response import pair_named  # here, since it takes numbers, and few pictures

    return pair_named(text)


# Of a picture.
panels_option: Decorator = option(
    "--panels",
    type=LISTED,
    metavar="WORDS",
    help="With --plot: these panels of it alone, such as motion,deflection; all: all modes.",
)


def output_options(
    formulas: bool = False,
    plot: bool = False,
    pair: bool = False,
    report: bool = False,
    view: bool = False,
    page: bool = True,
    arrays: bool = True,
) -> Decorator:
    """--format, -o, --array, --overwrite, --quiet and --debug, as ``out``: the same on every command; some have more.

    The answer may be ``formulas``, --plot draws it, the picture may be about a --pair, --view makes a page of it,
    where there is a picture unless this has no ``page``. One without ``arrays`` is a series of columns.
    """
    pictures: dict[str, Decorator] = {
        "plot": option("--plot", metavar="FILE", help="Draw the answer: .png, .svg or .pdf."),
        "panels": panels_option,
        "view": option("--view", metavar="FILE", help="A page in which the robot moves: .html."),
        "open": option("--open", is_flag=True, help="Show the page of --view in the browser."),
        "pair": option(
            "--pair", metavar="OUTPUT,INPUT", callback=_pair,
            help="With --plot: of the response that is drawn; default: the first pair.",
        ),
    }  # fmt: skip
    if report:
        pictures["view"] = option(
            "--view", "--report", "view", metavar="FILE", help="A page that reports the answer: .html."
        )
    drawn = ["plot", "panels"] * plot + ["pair"] * pair + ["view", "open"] * (plot and page or report or view)
    suffixes = ".json .csv .npz .mat" + " .tex .py" * formulas
    return together(
        *(pictures[word] for word in drawn),
        style_option(),
        output_option(f"Write to FILE, format by suffix: {suffixes}."),
        *([option("--array", metavar="NAME", help="Answer with this array only; csv holds one.")] * arrays),
        overwrite_option("Let -o, --plot and --view replace files that are there."),
        message_options,
        gathered("out", Output, ["style", "output", *["array"] * arrays, "overwrite", "quiet", *drawn]),
    )


def settings_of(settings: tuple[str, ...]) -> Mapping[str, str]:
    """--set NAME=VALUE as a mapping."""
    return pairs(settings, "--set", "NAME=VALUE")
