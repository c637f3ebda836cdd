"""``kronbot complexity``."""

from __future__ import annotations

import re

import click

from kronbot.cli.input import options
from kronbot.cli.input.option import LISTED, option
from kronbot.cli.input.options import Subject
from kronbot.cli.output.answers import Output
from kronbot.description import limits
from kronbot.errors import UsageError


class Range(click.ParamType[range]):
    """A number N, or all from A to B as A..B."""

    name = "range"

    def __init__(self, largest: int) -> None:
        self.largest = largest

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> range:
        """The numbers."""
        found = re.fullmatch(r"\s*([0-9]{1,9})\s*(?:\.\.\s*([0-9]{1,9})\s*)?", str(value), re.ASCII)
        if found is None:
            self.fail(f"{value!r} should read N or A..B", param, ctx)
        first, last = int(found[1]), int(found[2] or found[1])
        if not 1 <= first <= last <= self.largest:
            self.fail(f"{value!r} should ascend within 1..{self.largest}", param, ctx)
        return range(first, last + 1)


@click.command(short_help="Operations that dynamics and Jacobian take, also of longer and longer chains.")
@options.subject_options
@option(
    "--of",
    type=LISTED,
    metavar="NAMES",
    default="all",
    show_default=True,
    help="Some of forward_recursive, forward_composite, inverse, inertia, jacobian.",
)
@option("--links", type=Range(limits.MOVING), metavar="N|A..B", help="Chains of so many links besides.")
@option("--modes", type=Range(limits.MODES), metavar="N|A..B", help="Their modes in each direction of bending.")
@options.output_options()
def complexity(subject: Subject, of: str, links: range | None, modes: range | None, out: Output) -> None:
    """Count the operations that one evaluation takes for ROBOT: multiplications, divisions, additions, functions.

    With --links or --modes also for chains of equal links like those of Table 1 of Mohan and Saha, beside its formulas
    (which are for --order 1). Counted are the instructions of the trace, common parts merged, parameters as numbers.

    \b
    Examples:
      kronbot complexity canadarm
      kronbot complexity canadarm --order 1 --links 1..16 --modes 1..4 --of forward_recursive --format csv
    """
    out.check()
    robot = subject.load(out)

    from kronbot.library.arguments import names
    from kronbot.questions.complexity import FUNCTIONS

    functions = names(of, FUNCTIONS, "functions", "function")
    if not functions:
        raise UsageError(f"--of names nothing to count; there are {', '.join(FUNCTIONS)}")
    out.answer("counting", lambda progress: robot.complexity(*functions, links=links, modes=modes, progress=progress))
