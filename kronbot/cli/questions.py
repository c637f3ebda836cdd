"""How a question is put and answered: at a point, at the rows of a file, or as formulas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kronbot.cli.options import Quantity, gathered
from kronbot.errors import FreeParameters, UsageError

if TYPE_CHECKING:
    from kronbot.compute.question import Question
    from kronbot.compute.result import Array, Result, Scalar
    from kronbot.model.robot import Robot

Command = TypeVar("Command", bound=Callable[..., Any])

# Time to simplify formulas before the best form so far is taken, s.
PATIENCE = 20.0


@dataclass(frozen=True)
class Formulas:
    """Whether formulas are wanted (``style`` is None: numbers), and how they are to be written."""

    style: str | None
    short: bool
    shared: bool
    seconds: float

    def check(self, points: dict[str, str | None]) -> None:
        """Raise UsageError where formulas and values of coordinates are asked for at once."""
        given = [f"--{word}" for word, text in points.items() if text is not None]
        if self.style is not None and given:
            raise UsageError(f"formulas hold for every {given[0][2:]}: leave out {' and '.join(given)}, or --symbolic")


def formulas_of(symbolic: str | None, latex: bool, short: bool, cse: bool, seconds: float) -> Formulas:
    """The options together. Raises UsageError where they contradict each other."""
    if latex and symbolic not in (None, "latex"):
        raise UsageError(f"--latex and --symbolic {symbolic} exclude each other")
    style = "latex" if latex else symbolic
    if style is None and (short or cse):
        raise UsageError(f"{'--short' if short else '--cse'} is for formulas: add --symbolic")
    return Formulas(style, short, cse, seconds)


def symbolic_options(command: Command) -> Command:
    """--symbolic, --latex, --short, --cse and --seconds, as ``formulas``."""
    command = gathered("formulas", formulas_of, ["symbolic", "latex", "short", "cse", "seconds"])(command)
    for option in (
        click.option("--seconds", type=Quantity(), default=PATIENCE, show_default=True, help="Time to simplify, s."),
        click.option("--cse", is_flag=True, help="With --symbolic: write common parts once."),
        click.option("--short", is_flag=True, help="With --symbolic: s2, c23 for sin(q2), cos(q2 + q3)."),
        click.option("--latex", is_flag=True, help="Short for --symbolic latex."),
        click.option(
            "--symbolic",
            is_flag=False,
            flag_value="text",
            type=click.Choice(["text", "latex", "python"]),
            help="Formulas in place of numbers: text, latex or python.",
        ),
    ):
        command = option(command)
    return command


def answer(
    robot: Robot,
    question: Question,
    points_at: dict[str, str | None],
    wanted: Formulas,
    summarize: Callable[[dict[str, Array]], dict[str, Scalar]],
) -> Result:
    """The answer to a question in the form wanted; ``summarize`` makes the summary of numbers at one point."""
    from kronbot.cli.points import points
    from kronbot.compute.result import Result

    command = question.purpose
    if wanted.style is not None:
        if robot.order == "exact":
            raise UsageError("order exact is integrated along the beam and has no formulas: take --order 2 or 1")
        from kronbot.compute.formulas import Writing, formulas

        written = formulas(question, Writing(wanted.style, wanted.short, wanted.shared, wanted.seconds))
        if not written.complete:
            click.echo(
                f"simplification stopped after {wanted.seconds:g} s; the formulas are right, but longer than "
                "they could be: --seconds gives more time, --cse writes common parts once",
                err=True,
            )
        meanings: dict[str, Scalar] = {f"where.{name}": meaning for name, meaning in written.meanings.items()}
        return Result(
            command,
            robot.name,
            robot.order,
            arrays=written.arrays,
            summary=meanings,
            source=written.source,
            language=wanted.style,
        )
    values, batch = points(robot, {word: points_at.get(word) for word in question.inputs})
    try:
        arrays = question.at_rows(*values.values()) if batch else question.at(*(rows[0] for rows in values.values()))
    except FreeParameters as error:
        raise FreeParameters(f"{error}, or ask for formulas with --symbolic") from None
    if batch:
        cases: dict[str, Scalar] = {"cases": len(values["q"])}
        return Result(command, robot.name, robot.order, arrays=arrays, summary=cases)
    at = {word: dict(zip(robot.coordinates, rows[0].tolist(), strict=True)) for word, rows in values.items()}
    return Result(command, robot.name, robot.order, at=at, arrays=arrays, summary=summarize(arrays))
