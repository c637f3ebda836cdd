"""Values of a sweep on the command line: angles by joint, lists of vectors, loads on frames and beams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kronbot.cli.options import number
from kronbot.description import schema
from kronbot.description.expressions import Expression, parse
from kronbot.errors import UsageError

if TYPE_CHECKING:
    from kronbot.model.robot import Robot

# More values than this are a mistyped step.
RANGE_LIMIT = 100_000


def angles_by_joint(robot: Robot, texts: Sequence[str]) -> dict[str, list[float]]:
    """``--angles JOINT=VALUES``, repeated: values separated by commas, or FROM:TO:STEP. Raises UsageError."""
    known = {name: value for name, value in robot.description.values.items() if value is not None}
    swept: dict[str, list[float]] = {}
    for text in texts:
        name, equals, values = (part.strip() for part in text.partition("="))
        if not equals or not values:
            raise UsageError(f"--angles {text!r} should read JOINT=VALUE,VALUE,... or JOINT=FROM:TO:STEP")
        if name in swept:
            raise UsageError(f"--angles: {name} is given twice")
        swept[name] = [value for part in values.split(",") for value in _range(part, known)]
    return swept


def _range(text: str, known: dict[str, float]) -> list[float]:
    ends = [number(part, known, "--angles") for part in text.split(":")]
    if len(ends) == 1:
        return ends
    if len(ends) != 3 or ends[2] == 0 or (ends[1] - ends[0]) / ends[2] < 0:
        raise UsageError(f"--angles: the range {text!r} should read FROM:TO:STEP with a step towards TO")
    count = (ends[1] - ends[0]) / ends[2]
    if count > RANGE_LIMIT:
        raise UsageError(f"--angles: the range {text!r} has {count:.3g} values; {RANGE_LIMIT} is the limit")
    return [ends[0] + i * ends[2] for i in range(int(count * (1 + 1e-12) + 1e-9) + 1)]


def vectors(text: str | None, option: str) -> Sequence[Sequence[float]] | None:
    """Vectors x,y,z separated by semicolons, None where nothing is given. Raises UsageError."""
    if text is None:
        return None
    rows = [[number(part, {}, option) for part in row.split(",")] for row in text.split(";")]
    for row in rows:
        if len(row) != 3:
            raise UsageError(f"{option} takes vectors x,y,z separated by semicolons, not {len(row)} numbers")
    return rows


def frame_loads(texts: Sequence[str]) -> tuple[schema.Load, ...]:
    """``--load FRAME=fx,fy,fz[,mx,my,mz]``, repeated. Raises UsageError."""
    loads = []
    for text in texts:
        frame, values = _split(text, "--load", "FRAME=fx,fy,fz or FRAME=fx,fy,fz,mx,my,mz", (3, 6))
        fx, fy, fz, mx, my, mz = [*values, schema.ZERO, schema.ZERO, schema.ZERO][:6]
        loads.append(schema.Load(frame, (fx, fy, fz), (mx, my, mz)))
    return tuple(loads)


def distributed_loads(robot: Robot, texts: Sequence[str]) -> tuple[schema.DistributedLoad, ...]:
    """``--distributed LINK=fx,fy,fz``, repeated. Raises UsageError."""
    from kronbot.description.wording import did_you_mean

    loads = []
    beams = [link.name for link in robot.links if link.beam is not None]
    for text in texts:
        link, (fx, fy, fz) = _split(text, "--distributed", "LINK=fx,fy,fz", (3,))
        if link not in beams:
            hint = did_you_mean(link, beams) or f"; flexible links are {', '.join(beams) or 'none'}"
            raise UsageError(f"--distributed: no flexible link {link!r}{hint}")
        loads.append(schema.DistributedLoad(link, (fx, fy, fz)))
    return tuple(loads)


def _split(text: str, option: str, form: str, counts: tuple[int, ...]) -> tuple[str, list[Expression]]:
    name, equals, values = (part.strip() for part in text.rpartition("="))
    parts = [part.strip() for part in values.split(",")]
    if not equals or not name or len(parts) not in counts:
        raise UsageError(f"{option} {text!r} should read {form}")
    for part in parts:
        number(part, {}, option)
    return name, [parse(part) for part in parts]


def start_of(robot: Robot, places: dict[int, float]) -> np.ndarray:
    """q (n,) from values by place."""
    q = np.zeros(robot.n)
    for place, value in places.items():
        q[place] = value
    return q
