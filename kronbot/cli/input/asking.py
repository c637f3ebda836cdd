"""How a question is put and answered: at a point, at the rows of a file, or as formulas."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

import click

from kronbot.cli.input.option import option
from kronbot.cli.input.options import Quantity, gathered, together
from kronbot.cli.output.answers import Output
from kronbot.cli.output.files import tell
from kronbot.description import choices
from kronbot.errors import FreeParameters, UsageError
from kronbot.records import dataclass

if TYPE_CHECKING:
    from kronbot.library.robot import Robot
    from kronbot.library.symbolic import Symbolic
    from kronbot.questions.result import Result

# Points, of which there may be rows.
POINTS = ("q", "qd", "qdd")
# Languages of formulas that files are for, with their options.
OF_SUFFIX = {".tex": ("latex", "--latex"), ".py": ("python", "--symbolic python")}
# Time to simplify formulas before the best form so far is taken, s.
PATIENCE = 20.0


@dataclass(frozen=True)
class Formulas:
    """Whether formulas are wanted (``style`` is None: numbers), and how they are to be written."""

    style: str | None
    short: bool
    shared: bool
    seconds: float

    def check(self, points: dict[str, str | None], output: str | None) -> None:
        """Raise UsageError where formulas and values of coordinates are asked for at once, or in two languages."""
        suffix = "" if output is None else PurePath(output).suffix
        if self.style is not None and suffix in OF_SUFFIX and OF_SUFFIX[suffix][0] != self.style:
            raise UsageError(f"-o FILE{suffix} wants {OF_SUFFIX[suffix][1]}")
        given = [f"--{word}" for word, text in points.items() if text is not None]
        if self.style is not None and given:
            raise UsageError(f"formulas hold for every {given[0][2:]}: leave out {' and '.join(given)}, or --symbolic")

    def check_picture(self, option: str | None) -> None:
        """Raise UsageError where a picture, by its option, and formulas are asked for."""
        if option is not None and self.style is not None:
            raise UsageError(f"{option} draws numbers: leave out --symbolic")


def formulas_of(symbolic: str | None, latex: bool, short: bool, cse: bool, seconds: float | None) -> Formulas:
    """The options together. Raises UsageError where they contradict each other."""
    if latex and symbolic == "python":
        raise UsageError("--latex and --symbolic python exclude each other")
    style = "latex" if latex else symbolic
    if style is None:
        for word, given in (("--short", short), ("--cse", cse), ("--seconds", seconds is not None)):
            if given:
                raise UsageError(f"{word} is for formulas: add --symbolic")
    return Formulas(style, short, cse, PATIENCE if seconds is None else seconds)


# --symbolic, --latex, --short, --cse and --seconds, as ``formulas``.
symbolic_options = together(
    option(
        "--symbolic", is_flag=False, flag_value="text", type=click.Choice(choices.STYLES),
        help="Formulas in place of numbers: text, latex or python.",
    ),
    option("--latex", is_flag=True, help="Short for --symbolic latex."),
    option("--short", is_flag=True, help="With --symbolic: s2, c23 for sin(q2), cos(q2 + q3)."),
    option("--cse", is_flag=True, help="With --symbolic: write common parts once."),
    option("--seconds", type=Quantity(), help=f"With --symbolic: time to simplify, s; default {PATIENCE:g}."),
    gathered("formulas", formulas_of, ["symbolic", "latex", "short", "cse", "seconds"]),
)  # fmt: skip


def given(options: Mapping[str, object]) -> dict[str, object]:
    """Those that are."""
    return {word: value for word, value in options.items() if value not in (None, ())}


def answer(
    robot: Robot,
    texts: dict[str, str | None],
    wanted: Formulas,
    numeric: Callable[..., Result],
    symbolic: Callable[[Symbolic], Result],
    out: Output,
) -> Iterator[Result]:
    """The answer in the form wanted: ``numeric`` takes the values of the options in ``texts`` by their words.

    There is one, or one for each block of a file of rows. Formulas are made of the array alone that is asked for; csv
    has room for one.
    """
    from kronbot.cli.input.points import blocks

    if wanted.style is None:
        for given in blocks(robot.model, texts):
            try:
                yield numeric(**given)
            except FreeParameters as error:
                raise FreeParameters(*error.args, ", or ask for formulas with --symbolic") from None
        return
    from kronbot.cli.output.render import demand_one

    form, seconds = wanted.style, wanted.seconds
    forms = robot.symbolic(form, short=wanted.short, shared=wanted.shared, seconds=seconds, array=out.array)
    if out.is_csv:
        forms = replace(forms, writing=replace(forms.writing, demand=demand_one))
    result = symbolic(forms)
    if "simplified" in result.summary:
        once = "" if wanted.shared else ", --cse writes common parts once"
        tell(
            f"simplification stopped after {wanted.seconds:g} s; the formulas are right, but longer than "
            f"they could be: --seconds gives more time{once}"
        )
    yield result
