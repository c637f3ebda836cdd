"""Values of coordinates as people give them: by name, as a list, as rows; numbers or expressions over parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kronbot.description.expressions import ExpressionError, evaluate, parse
from kronbot.description.wording import did_you_mean, quote
from kronbot.errors import UsageError
from kronbot.model.robot import Robot

Array = npt.NDArray[np.float64]
Scalar: TypeAlias = float | str
# By name; or all n, or the joints alone, in their order; or rows (N, n) of them. Values by name may be columns (N,).
Values: TypeAlias = Mapping[str, Scalar | npt.ArrayLike] | Sequence[Scalar] | npt.NDArray[np.float64]


def number(value: Scalar, known: Mapping[str, float | None], word: str) -> float:
    """A number, or the value of an expression over parameters. Raises UsageError that names ``word``."""
    if not isinstance(value, str | Real):
        raise UsageError(f"{word}: {value!r} is not a number")
    text = value if isinstance(value, str) else repr(float(value))
    try:
        return evaluate(parse(text), {name: bound for name, bound in known.items() if bound is not None})
    except ExpressionError as error:
        degrees = re.fullmatch(r"\s*([-+0-9.eE]+)\s*(deg|°)\s*", text)
        hint = f"; write {degrees[1]}*deg" if degrees else ""
        raise UsageError(f"{word}: {text!r} is not a number: {error}{hint}") from None


def numbers(robot: Robot, row: Sequence[Scalar], word: str, counts: tuple[int, ...]) -> list[float]:
    """So many numbers. Raises UsageError for more or fewer."""
    if isinstance(row, str) or len(row) not in counts:
        raise UsageError(f"{word}: {' or '.join(map(str, counts))} numbers are wanted, not {row!r}")
    return [number(each, robot.description.values, word) for each in row]


def vector(robot: Robot, row: Sequence[Scalar], word: str) -> Array:
    """Three numbers (3,). Raises UsageError for more or fewer."""
    return np.array(numbers(robot, row, word, (3,)))


def by_place(robot: Robot, given: Values | None, word: str) -> dict[int, float]:
    """The values given, by their place in the coordinates.

    Raises UsageError that lists the names where one is unknown, or where the number of values fits neither the
    coordinates nor the joints, and for rows.
    """
    columns = _columns(robot, given, word)
    if any(column.ndim for column in columns.values()):
        raise UsageError(f"{word}: one point is wanted here, not rows of them")
    return {place: float(column) for place, column in columns.items()}


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
    columns = {word: _columns(robot, values, word) for word, values in given.items()}
    counts = {
        word: {len(column) for column in of.values() if column.ndim}
        for word, of in columns.items()
        if any(column.ndim for column in of.values())
    }
    if len(set().union(*counts.values())) > 1:
        told = ", ".join(f"{word} has {' and '.join(map(str, sorted(count)))}" for word, count in counts.items())
        raise UsageError(f"rows must be equally many: {told}")
    count = max((max(each) for each in counts.values()), default=1)
    rows = {}
    for word, of in columns.items():
        rows[word] = np.zeros((count, robot.n))
        for place, column in of.items():
            rows[word][:, place] = column
    return rows, bool(counts)


def _columns(robot: Robot, given: Values | None, word: str) -> dict[int, Array]:
    """A number or a column (N,) by place."""
    if given is None:
        return {}
    if isinstance(given, str):
        raise UsageError(f"{word}: give values by name or as a list, not the text {quote(given)}")
    if isinstance(given, Mapping):
        places = {_place(robot, name, word): value for name, value in given.items()}
    elif not isinstance(given, Sequence | np.ndarray):
        raise UsageError(f"{word}: give values by name or as a list, not {given!r}")
    else:
        table = _rows(given, word)
        entries = list(given) if table is None else list(table.T)
        joints = [joint.index for joint in robot.joints]
        if len(entries) == robot.n:
            places = dict(enumerate(entries))
        elif len(entries) == len(joints):
            places = dict(zip(joints, entries, strict=True))
        else:
            raise UsageError(
                f"{word} got {len(entries)} values; the robot has {robot.n} coordinates "
                f"({', '.join(robot.coordinates)}), {len(joints)} of them joints"
            )
    return {place: _column(robot, value, word) for place, value in places.items()}


def _rows(given: Sequence[Scalar] | npt.NDArray[np.float64], word: str) -> Array | None:
    """Rows of points as a table (N, k), None where one point is given."""
    nested = (isinstance(entry, Sequence | np.ndarray) and not isinstance(entry, str) for entry in given)
    if not any(nested):
        return None
    try:
        table = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise UsageError(f"{word}: rows of equally many numbers are wanted") from None
    return table if table.ndim == 2 else None


def _column(robot: Robot, value: Scalar | npt.ArrayLike, word: str) -> Array:
    if isinstance(value, str | int | float):
        return np.asarray(number(value, robot.description.values, word))
    try:
        column = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise UsageError(f"{word}: {value!r} is neither a number nor a column of numbers") from None
    if column.ndim > 1 or (column.ndim == 1 and not len(column)):
        raise UsageError(f"{word}: numbers or columns of numbers are wanted, not an array of shape {column.shape}")
    if not np.isfinite(column).all():
        raise UsageError(f"{word}: a value is not finite")
    return column


def _place(robot: Robot, name: str, word: str) -> int:
    if name not in robot.coordinates:
        hint = did_you_mean(str(name), robot.coordinates) or f"; coordinates are {', '.join(robot.coordinates)}"
        raise UsageError(f"{word}: no coordinate {quote(str(name))}{hint}")
    return robot.coordinates.index(name)


def places_of(robot: Robot, joints: Iterable[str] | str, word: str) -> list[int]:
    """Places of joints in the coordinates, by their names: a list, "q1,q2", or "all".

    Raises UsageError that lists those there are.
    """
    known = {joint.name: joint.index for joint in robot.joints}
    if isinstance(joints, str):
        joints = known if joints.strip() == "all" else [name.strip() for name in joints.split(",")]
    for name in joints:
        if name not in known:
            hint = did_you_mean(name, known) or f"; joints are {', '.join(known) or 'none'}"
            raise UsageError(f"{word}: no joint {quote(name)}{hint}")
    return [known[name] for name in joints]
