"""Values of a sweep on the command line: angles by joint, lists of vectors, loads on frames and beams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from kronbot.cli.input.habits import demand_plain
from kronbot.cli.output.messages import show_doubts
from kronbot.description.degrees import doubt_of
from kronbot.errors import UsageError
from kronbot.floats import decimals
from kronbot.library.arguments import number

if TYPE_CHECKING:
    from kronbot.model.robot import Robot

# More values than this are a mistyped step.
RANGE_LIMIT = 100_000
# A share of the step: values nearer to 0, or to the end, are meant to be there.
ROUNDING = 1e-9


def angles_by_joint(robot: Robot, texts: Sequence[str]) -> dict[str, list[float]]:
    """``--angles JOINT=VALUES``, repeated: values separated by commas, or FROM:TO:STEP. Raises UsageError."""
    known = robot.description.values
    swept: dict[str, list[float]] = {}
    for text in texts:
        name, equals, values = (part.strip() for part in text.partition("="))
        if not equals or not values:
            raise UsageError(f"--angles {text!r} should read JOINT=VALUE,VALUE,... or JOINT=FROM:TO:STEP")
        if name in swept:
            raise UsageError(f"--angles: {name} is given twice")
        parts = values.split(",")
        swept[name] = [value for part in parts for value in _range(part, known)]
        if any(joint.name == name and joint.revolute for joint in robot.joints):
            written = (each for part in parts for each in part.split(":"))
            doubts = (doubt_of(name, number(each, known, "--angles"), each) for each in written)
            show_doubts(f"--angles: {doubt}" for doubt in islice(filter(None, doubts), 1))
    return swept


def _range(text: str, known: Mapping[str, float | None]) -> list[float]:
    ends = [number(part, known, "--angles") for part in text.split(":")]
    if len(ends) == 1:
        return ends
    if len(ends) != 3 or ends[2] == 0 or (ends[1] - ends[0]) / ends[2] < 0:
        raise UsageError(f"--angles: the range {text!r} should read FROM:TO:STEP with a step towards TO")
    count = (ends[1] - ends[0]) / ends[2]
    if count > RANGE_LIMIT:
        raise UsageError(f"--angles: the range {text!r} has {count:.3g} values; {RANGE_LIMIT} is the limit")
    (start, step), whole = decimals(ends[0], ends[2])
    values = [(start + i * step) / whole for i in range(int(count * (1 + 1e-12) + ROUNDING) + 1)]
    meant = (ends[1], 0.0)
    return [next((each for each in meant if abs(value - each) <= ROUNDING * abs(ends[2])), value) for value in values]


def vectors(text: str | None, option: str) -> Sequence[Sequence[float]] | None:
    """Vectors x,y,z separated by semicolons, None where nothing is given. Raises UsageError."""
    if text is None:
        return None
    demand_plain(text, option, "[]{}")
    rows = [[number(part, {}, option) for part in row.split(",")] for row in text.split(";")]
    for row in rows:
        if len(row) != 3:
            raise UsageError(f"{option} takes vectors x,y,z separated by semicolons, not {len(row)} numbers")
    return rows


def loads(texts: Sequence[str], option: str, form: str, counts: tuple[int, ...]) -> list[tuple[str, list[float]]]:
    """``NAME=fx,fy,fz``, repeated, as names with their numbers. Raises UsageError that shows the form."""
    found = []
    for text in texts:
        name, equals, values = (part.strip() for part in text.rpartition("="))
        parts = [part.strip() for part in values.split(",")]
        if not equals or not name or len(parts) not in counts:
            raise UsageError(f"{option} {text!r} should read {form}")
        found.append((name, [number(part, {}, option) for part in parts]))
    return found
