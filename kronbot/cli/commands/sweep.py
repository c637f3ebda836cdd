"""``kronbot sweep QUESTION``: a question's own command, with options for what varies."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from kronbot.cli.input import asking, cases, completion, options
from kronbot.cli.input.of_file import OfFile, left_out
from kronbot.cli.input.option import Whole, option
from kronbot.cli.input.options import Decorator, Subject
from kronbot.cli.output.answers import Output, save_page
from kronbot.cli.output.files import check_folder, check_place, heard, keep_apart, tell
from kronbot.cli.output.messages import show_doubts, worded
from kronbot.description import choices
from kronbot.description.shipped import shipped_robots
from kronbot.description.wording import shown_path as shown
from kronbot.description.wording import unknown
from kronbot.errors import Argument, ComputationError, Failure, Interrupted, UsageError

if TYPE_CHECKING:
    from kronbot.library.sweep import Sweep
    from kronbot.questions.result import Result

QUESTIONS = choices.SWEPT
_ABOUT = """{short}

The question that `kronbot {name}` asks, in every case, with its options. What varies has a name: a parameter, a
coordinate or rate (q1, q1_dot), a load (force.x, load.FRAME.fx), an option of the question (order). Several --over
multiply, the first one is slowest.

\b
Examples:
{examples}
"""
_EXAMPLES = {
    "check": ["canadarm --over EI=5e4:2e5:25 --keep total_mass,first_frequency_locked"],
    "kinematics": ["canadarm --frame upper --over q1=-pi:pi:73 --keep 'pose[upper,x],pose[upper,y]'"],
    "jacobian": ["canadarm --over q2=-pi/2:pi/2:31 --over q3=-pi/2:pi/2:31 --keep manipulability --plot map.png"],
    "hessian": ["canadarm --over q2=0:pi/2:10 --keep 'max(abs(H_T))'"],
    "dynamics": ["puma560 --over q2=-pi:pi:73 --keep 'M[q1,q1],g[q2]' --format csv"],
    "taylor": ["canadarm --delta q2=0.3 --over terms=1,2,3,4 --keep largest_error.1"],
    "linearize": ["khang --equilibrium --over qa=0:pi/2:31 --over EI=20,30,40 -o models.csv"],
    "modes": [
        "canadarm --over q2=-pi/2:pi/2:181 --plot frequencies.png",
        "canadarm --over 'EI~normal(1e5,1e4)' --sample 1024 -o draws.csv",
        "canadarm --cases robots.csv --scheduler tcp://node1:8786 -o robots-modes.csv --resume",
    ],
    "statics": ["piedboeuf --over order=0,1,2,exact --over force.y=-10:0:21 --keep endpoint.y --format csv"],
    "simulate": ["canadarm --solver rodas --over 'EI=8e4,1e5' --keep 'max(abs(tip.forearm.y)),energy_drift'"],
    "design": ["khang --lqr --over qa=-pi/2:pi/2:13 --over weights.qa=1,100 -o gains/"],
    "plan": ["khang --to qa=0.5 --drive motion --duration 2 --over mE=0:0.5:6 -o plans/"],
}


class Sweeps(click.Group):
    """The questions, each as a command made of its own one when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The questions, in the order of the help."""
        return list(QUESTIONS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command, None where there is no such question."""
        return command_of(name) if name in QUESTIONS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The question that stands first, or, where a robot stands there, that of its file."""
        name = args[0]
        if name in QUESTIONS:
            return super().resolve_command(ctx, args)
        if not name.endswith(completion.SUFFIXES) and name not in shipped_robots():
            raise unknown(name, (*QUESTIONS, *shipped_robots()), "no question and no robot file ")
        from kronbot import description

        told = description.load(description.read(name)).robot.sweep
        if told is None:
            raise UsageError(f"{shown(name)} has no sweep: put a question before it, one of {', '.join(QUESTIONS)}")
        return told.question, command_of(told.question), args


@click.group(
    cls=Sweeps,
    short_help="One question in many cases: parameters, postures, loads, draws; on all cores or a cluster.",
    subcommand_metavar="QUESTION ROBOT [OPTIONS]",
    options_metavar="",
)
def sweep() -> None:
    """Ask one QUESTION about ROBOT in many cases, and answer with a table: a row a case.

    What varies is a grid (--over EI=5e4:2e5:25 --over q1=0,pi/4), a file of cases, or draws of distributions (--over
    'EI~normal(1e5,1e4)' --sample 1024). Cases are computed on all cores, or by a Dask cluster; with -o a journal
    beside the file remembers them, and --resume goes on. kronbot sweep QUESTION --help lists the options. Without a
    QUESTION it is that of the robot file's "sweep".

    \b
    Examples:
      kronbot sweep modes canadarm --over q2=-pi/2:pi/2:181 --plot frequencies.png
      kronbot sweep statics piedboeuf --over order=1,2,exact --over force.y=-10:0:21 -o sag.csv
      kronbot sweep simulate canadarm --solver rodas --over EI=8e4,1e5 --format csv
    """


# What varies, who computes it, where it goes.
OPTIONS = options.together(
    option(
        "--over",
        multiple=True,
        metavar="NAME=VALUES",
        shell_complete=completion.varied,
        help="Vary NAME: FROM:TO:N (N values, both ends), a list a,b,c, or NAME~normal(MEAN,SIGMA), uniform(FROM,TO), "
        "lognormal(MU,SIGMA) (of the natural logarithm), triangular(FROM,MODE,TO); may be repeated.",
    ),
    option("--cases", metavar="FILE", help="A CSV file of cases: names in its header, a case in each row."),
    option("--sample", type=Whole(min=1), metavar="N", help="How many draws of distributions."),
    option("--seed", type=Whole(0, 2**32 - 1), default=0, show_default=True, help="Of the draws."),
    option("--indices", is_flag=True, help="Sobol indices of the draws: N (d + 2) cases of d names."),
    option(
        "--keep",
        multiple=True,
        metavar="NAMES",
        help="Columns: energy_drift, frequencies_free[1:6], M[q1,q2], max(abs(tip.arm.y)); default: the usual ones.",
    ),
    option("--workers", type=Whole(1, 1024), metavar="N", help="Processes; default: one a core."),
    option("--scheduler", metavar="ADDRESS|FILE", help="A Dask cluster: tcp://HOST:PORT, or its scheduler file."),
    option("--resume", is_flag=True, help="Go on with a sweep that was stopped, from the journal beside -o."),
    option("--strict", is_flag=True, help="End with exit code 1 where a case has failed."),
    option("--plot", metavar="FILE", help="Draw the table: .png, .svg or .pdf."),
    options.panels_option,
    option("--view", metavar="FILE", help="A page with the table's curves and the robot in each case: .html."),
    option("--open", is_flag=True, help="Show the page of --view in the browser."),
    options.style_option(),
    options.output_option(
        "Write to FILE, format by suffix: .csv .json .npz; to FOLDER/, a file a case (kronbot explain sweep)."
    ),
    options.overwrite_option("Let -o, --plot and --view replace files that are there, and a journal."),
    options.message_options,
)


# Options that are arguments of the library as they are.
_PLAIN = ("sample", "seed", "indices", "workers", "scheduler", "overwrite", "resume")


def named_in(decorator: Decorator) -> dict[str, click.Parameter]:
    """The options that a decorator adds to a command, by name, in the order of the help."""

    def nothing() -> None:
        pass

    found: list[click.Parameter] = getattr(decorator(nothing), "__click_params__")[::-1]  # noqa: B009
    return {str(parameter.name): parameter for parameter in found}


def command_of(question: str) -> click.Command:
    """The command of a question in many cases: its own one's options but those of its output, and those of sweeps."""
    own = getattr(import_module(f"kronbot.cli.commands.{question}"), question)
    sweeping = named_in(OPTIONS)
    dropped = named_in(options.output_options(formulas=True, plot=True, pair=True))
    if any(each.name == "symbolic" for each in own.params):  # others have --seconds to search
        dropped |= named_in(asking.symbolic_options)
    kept = [each for each in own.params if each.name not in dropped]
    examples = "\n".join(f"  kronbot sweep {question} {each}" for each in _EXAMPLES[question])
    return type(own)(  # type: ignore[no-any-return]
        question,
        params=[*kept, *sweeping.values()],
        callback=partial(_sweep, question, frozenset(sweeping)),
        short_help=own.short_help,
        help=_ABOUT.format(short=own.short_help, name=question, examples=examples),
    )


def _sweep(question: str, of_sweep: frozenset[str], **values: Any) -> None:
    """The callback of every question: its options, and those of the sweep."""
    given = {name: values.get(name) for name in of_sweep}
    asked = {name: value for name, value in values.items() if name not in of_sweep}
    of_library = ((name, each) for name, each in asked.items() if name not in ("robot", "order", "settings"))
    # What stands at its default may be varied.
    asked |= {name: None if left_out(name) else each for name, each in of_library}
    subject = Subject(**{name: asked.pop(name) for name in ("robot", "order", "settings")})
    if subject.order == "all":
        raise UsageError("a case has one order: --over order=0,1,2,exact has all of them")
    run(question, subject, asked, given)


def run(question: str, subject: Subject, asked: dict[str, Any], given: Mapping[str, Any]) -> None:
    """Compute the cases and answer with their table."""
    out = Output(given["style"], given["output"], given["overwrite"], given["quiet"], plot=given["plot"])
    out = replace(out, panels=given["panels"], view=given["view"], open=given["open"])
    _check(out, given["resume"])
    if given["cases"] is not None:
        keep_apart(given["cases"], "the file of cases")
    if given["scheduler"] is not None:  # an address is no file
        keep_apart(given["scheduler"], "the file of the scheduler")
    robot = subject.load(out)
    source, told = robot.description.source, robot.description.robot.sweep
    of_file = OfFile.beneath(robot, told, asked) if told is not None and told.question == question else None
    if of_file is not None:
        robot, asked, given = of_file.robot, {**asked, **of_file.options}, {**given, **of_file.parts}
    if question == "linearize":
        from kronbot.cli.commands.linearize import along_or_at

        robot, question, asked = along_or_at(robot, asked)

    from kronbot.cli.input.given import arguments
    from kronbot.cli.output.progress import progress_bar
    from kronbot.questions.swept import undrawn

    options_of_question = arguments(robot.model, asked)

    def swept_as(**parts: Any) -> Sweep:
        return robot.sweep(question, **parts, **options_of_question)

    telling = out.output is None and out.style != "table" and sys.stdout.isatty()  # rows would break the bar
    with progress_bar(f"sweeping {robot.name}", out.quiet or telling) as progress:
        sheet: cases.Sheet | None = None
        try:
            over = _over(given["over"])
            sheet = cases.read(source, given["cases"]) if isinstance(given["cases"], str) else None
            swept = swept_as(
                over=over,
                cases=given["cases"] if sheet is None else sheet.columns,
                keep=given["keep"] or None,
                output=out.output,
                plot=out.plot is not None,
                progress=progress,
                **{name: given[name] for name in _PLAIN},
            )
            _demand_one_value(subject, over, swept.task.cases.names)
            swept = replace(swept, task=replace(swept.task, words=worded))
            if swept.finished:
                there = f"{shown(str(out.output))} is there already: all {len(swept)} cases are in it"
                asked_for = {"a picture": out.drawn, "indices": given["indices"]}
                if more := " and ".join(word for word, wanted in asked_for.items() if wanted):
                    raise UsageError(f"{there}; for {more} they are taken anew: --overwrite without --resume")
                tell(there)
                return
            if out.panels is not None:
                from kronbot.plots.sweep import words

                out.demand_panels(words([column.name for column in swept.task.kept.columns]))
            single, usual = swept.task.kept.single, swept.task.kept.usual
            if out.drawn is not None and (named := {name: of for name, of in single.items() if name not in usual}):
                tell(f"warning: {undrawn(named)}")
            result = _answered(swept, out, out.drawn is not None or given["indices"])
        except Interrupted:
            out.tell_undrawn()
            raise
        except UsageError as error:
            placed: Failure = error
            if sheet is not None:
                placed = sheet.placed(error, lambda columns: swept_as(over={}, cases=columns))
            if of_file is not None and placed is error:
                placed = of_file.placed(error, swept_as)
            raise placed from None
    if result is not None:
        out.save_picture(result)
    if result is not None and out.view is not None:
        from kronbot.plots.page.pages import page

        save_page(out.view, page(result), out.open)
    if swept.tally.failed:
        if given["strict"]:
            raise ComputationError(swept.tally.failures)
        tell(f"warning: {swept.tally.failures}")


def _check(out: Output, resume: bool) -> None:
    """Raise UsageError, before anything is computed, where the answer could not be written."""
    place = None
    if out.output is not None:
        from kronbot.sweeps.place import Place

        place = Place.named(out.output)
        if not place.form.apart:  # what is in the way of a folder the sweep tells
            check_place("-o", out.output, out.overwrite or resume)
    out.check_picture()
    out.check_page()
    if out.output is not None and place is not None and place.form.apart:
        check_folder(out.output, place.path)


def _answered(swept: Sweep, out: Output, whole: bool) -> Result | None:
    """Compute all cases, and tell their table or write it; the answer where it is wanted as a ``whole``."""
    if out.output is None and out.style == "table":
        result = swept.result()
        out.render(result)
        return result
    chunks = iter(swept.kept_chunks if whole else swept.chunks())
    if out.output is not None:
        for _ in chunks:
            pass
        tell(f"wrote {shown(out.output)}")
    else:
        from kronbot.sweeps.place import FILES

        table = FILES[f".{out.style}"]
        table.demand_room(swept.task)
        first = next(chunks)  # before the header: all cases may be refused
        pieces = table.pieces(swept.task, lambda: chain([first], chunks))
        with heard():
            for piece in pieces:
                click.echo(piece, nl=False)
    if not whole:
        if not out.quiet:
            show_doubts([*swept.tally.doubts()])
        return None
    result = swept.result()
    for name, array in result.arrays.items():  # for which the table has no place
        for row, numbers in zip(array.rows, array.values, strict=True):
            tell("{}, {}: first {:.3g} ({:.3g} to {:.3g}), total {:.3g} ({:.3g} to {:.3g})".format(name, row, *numbers))
    if not out.quiet:
        show_doubts(result.warnings)
    return result


def _demand_one_value(subject: Subject, over: Mapping[str, object], names: Sequence[str]) -> None:
    """Raise UsageError for a parameter, or an order, that is given and varied, by --over or by a column of cases."""
    given = {name: Argument("parameters", name) for name in options.settings_of(subject.settings)}
    given |= {} if left_out("order") else {"order": Argument("order", subject.order)}
    for name, once in given.items():
        if name in names:
            varied = Argument("over", name) if name in over else Argument("cases")
            raise UsageError(once, " and ", varied, f" both give {name} values: leave one out")


def _over(texts: Sequence[str] | Mapping[str, object]) -> Mapping[str, object]:
    """--over NAME=VALUES, repeated, by name, or what the file says. Raises UsageError."""
    from kronbot.sweeps.grammar import split

    if isinstance(texts, Mapping):
        return texts
    found: dict[str, object] = {}
    for text in texts:
        name, values = split(text)
        if name in found:
            raise UsageError(f"--over: {name} is given twice")
        found[name] = values
    return found
