"""Values of coordinates as people give them: by name, as a list, as rows; numbers or expressions over parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from kronbot.description.choices import AXES
from kronbot.description.wording import listing, quote, unknown
from kronbot.errors import UsageError
from kronbot.floats import Array
from kronbot.library import arguments
from kronbot.library.arguments import Scalar
from kronbot.model.robot import Robot
from kronbot.questions import jacobian as jacobians
from kronbot.questions.jacobian import FrameView

# By name; or all n, or the joints alone, in their order; or rows (N, n) of them. Values by name may be columns (N,).
Values: TypeAlias = Mapping[str, Scalar | npt.ArrayLike] | Sequence[Scalar] | npt.NDArray[np.float64]


def by_place(robot: Robot, given: Values | None, word: str) -> dict[int, float]:
    """The values given, by their place in the coordinates.

    Raises UsageError that lists the names where one is unknown, or where the number of values fits neither the
    coordinates nor the joints, and for rows.
    """
    parts = _parts(robot, given, word)
    if any(part.rows is not None for part in parts):
        raise UsageError(f"{word}: one point is wanted here, not rows of them")
    return {place: value for part in parts for place, value in zip(part.places, part.values.tolist(), strict=True)}


def point(robot: Robot, given: Values | None, word: str) -> Array:
    """Values (n,) of all coordinates, 0 where nothing is given. Raises UsageError like :func:`by_place`."""
    values = np.zeros(robot.n)
    for place, value in by_place(robot, given, word).items():
        values[place] = value
    return values


def joint_values(robot: Robot, given: Values | None, word: str) -> Array | None:
    """Values (joints,), None where nothing is given; joints that are not named are 0."""
    if given is None:
        return None
    places = joints_only(robot, by_place(robot, given, word), word)
    return np.array([places.get(joint.index, 0.0) for joint in robot.joints])


def joints_only(robot: Robot, places: dict[int, float], word: str) -> dict[int, float]:
    """The values again. Raises UsageError where one is not a joint's."""
    if places.keys() - {joint.index for joint in robot.joints}:
        raise UsageError(f"{word} is by joint: {', '.join(joint.name for joint in robot.joints)}")
    return places


def points(robot: Robot, given: Mapping[str, Values | None]) -> tuple[dict[str, Array], bool]:
    """Values (N, n) of each input by word, and whether they are rows of many points.

    Raises UsageError like :func:`by_place`, and where inputs have rows of different number.
    """
    parts = {word: _parts(robot, values, word) for word, values in given.items()}
    counts = {
        word: found for word, of in parts.items() if (found := {part.rows for part in of if part.rows is not None})
    }
    if len(set().union(*counts.values())) > 1:
        told = ", ".join(f"{word} has {' and '.join(map(str, sorted(count)))}" for word, count in counts.items())
        raise UsageError(f"rows must be equally many: {told}")
    count = max((max(each) for each in counts.values()), default=1)
    rows = {}
    for word, of in parts.items():
        rows[word] = np.zeros((count, robot.n))
        for part in of:
            rows[word][:, part.places] = part.values
    return rows, bool(counts)


class _Part(NamedTuple):
    """Values (k,) of some coordinates at one point, or (N, k) at ``rows`` of them."""

    places: Sequence[int]
    values: Array
    rows: int | None

    @classmethod
    def of(cls, places: Sequence[int], values: Array) -> _Part:
        return cls(places, values, len(values) if values.ndim == 2 else None)


def _parts(robot: Robot, given: Values | None, word: str) -> list[_Part]:
    if given is None:
        return []
    if isinstance(given, str):
        raise UsageError(f"{word}: give values by name or as a list, not the text {quote(given)}")
    if isinstance(given, Mapping):
        named = arguments.pairs(given, word)
        return [
            _Part.of([_place(robot, name, word)], _column(robot, value, word)[..., None])
            for name, value in named.items()
        ]
    if not arguments.is_list(given):
        raise UsageError(f"{word}: give values by name or as a list, not {arguments.shown(given)}")
    if type(given) in (list, tuple) and given and type(given[0]) in (str, int, float):
        _places(robot, len(given), word)  # before any of a million values is read
    table = np.atleast_1d(arguments.array(given, robot.description.values, word))
    places = _places(robot, table.shape[-1], word)
    if table.ndim == 2 and not len(table):
        raise UsageError(f"{word}: there are no rows")
    return [_Part.of(places, table)]


def _places(robot: Robot, count: int, word: str) -> Sequence[int]:
    """The coordinates that so many values are for: all of them, or the joints."""
    joints = [joint.index for joint in robot.joints]
    if count not in (robot.n, len(joints)):
        raise UsageError(
            f"{word} got {count} values; the robot has {robot.n} coordinates "
            f"({listing(robot.coordinates)}), {len(joints)} of them joints"
        )
    return list(range(robot.n)) if count == robot.n else joints


def _column(robot: Robot, value: object, word: str) -> Array:
    column = arguments.array(value, robot.description.values, word, depth=1)
    if column.ndim and not len(column):
        raise UsageError(f"{word}: a number or a column of numbers is wanted, not one of shape (0,)")
    return column


def _place(robot: Robot, name: str, word: str) -> int:
    if name not in robot.coordinates:
        raise unknown(name, robot.coordinates, f"{word}: no coordinate ", there="; coordinates are")
    return robot.coordinates.index(name)


def view(robot: Robot, frame: object, axes: object) -> FrameView:
    """The frame of that name, seen in the axes ``base`` or ``body``. Raises UsageError that lists those there are."""
    return jacobians.view(robot, arguments.text(frame, "frame"), arguments.choice(axes, AXES, "axes"))


def places_of(robot: Robot, joints: object, word: str) -> list[int]:
    """Places of joints in the coordinates, by their names: a list, "q1,q2", or "all".

    Raises UsageError that lists those there are.
    """
    known = {joint.name: joint.index for joint in robot.joints}
    return [known[name] for name in arguments.names(joints, known, word, "joint")]
