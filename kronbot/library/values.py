"""Values of coordinates as people give them: by name, as a list, as rows; numbers or expressions over parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from kronbot.description.choices import ALGORITHMS, AXES
from kronbot.description.outputs import WORDS
from kronbot.description.wording import counted, listing, quote, unknown
from kronbot.errors import Argument, UnknownName, UsageError
from kronbot.floats import Array
from kronbot.kinds import is_a
from kronbot.library import arguments
from kronbot.library.arguments import NumberLike
from kronbot.mechanics.multibody.attitude import demand_no_gimbal_lock
from kronbot.mechanics.multibody.kinematics import completed, demand_told_apart, filled
from kronbot.mechanics.multibody.recursion import algorithm_of
from kronbot.model.robot import Robot
from kronbot.questions import jacobian as jacobians
from kronbot.questions.jacobian import FrameView
from kronbot.questions.outputs import chosen

# By name; or all n, or the joints alone, in their order; or rows (N, n) of them. Values by name may be columns (N,).
Values: TypeAlias = Mapping[str, NumberLike | npt.ArrayLike] | Sequence[NumberLike] | npt.NDArray[np.float64]

# What coordinates are, and not their rates, torques or changes.
_PLACES = ("q", "to", "calibration")


def by_index(robot: Robot, given: Values | None, word: str) -> dict[int, float]:
    """The values given, by their index in the coordinates.

    Raises UsageError that lists the names where one is unknown, or where the number of values fits neither the
    coordinates nor the joints, for places beyond ``limits.LARGEST``, and for rows, unless it is one.
    """
    parts = _parts(robot, given, word)
    if any(part.rows not in (None, 1) for part in parts):
        raise UsageError(Argument(word), ": one point is wanted here, not rows of them")
    return {i: value for part in parts for i, value in zip(part.indices, part.values.ravel().tolist(), strict=True)}


def point(robot: Robot, given: Values | None, word: str) -> Array:
    """Values (n,) of all coordinates; where nothing is given joints are at 0 and nothing is deformed.

    Raises UsageError like :func:`by_index`.
    """
    return _checked(robot, completed(robot, by_index(robot, given, word), word), word)


def _checked(robot: Robot, values: Array, word: str) -> Array:
    """Values (..., n) of all coordinates."""
    if word == "q" and robot.base:
        demand_no_gimbal_lock(robot, values)
    return values


def joint_values(robot: Robot, given: Values | None, word: str) -> Array | None:
    """Values (joints,), None where nothing is given; joints that are not named are 0."""
    if given is None:
        return None
    found = by_joint(robot, given, word)
    return np.array([found.get(i, 0.0) for i in robot.rigid])


def by_joint(robot: Robot, given: Values | None, word: str) -> dict[int, float]:
    """The values given, by the places of what the joints' drives move.

    Raises UsageError like :func:`by_index`, and where one is not a joint's; it lists the joints.
    """
    moved = {place: joint.driven for joint in robot.joints for place in (joint.index, joint.driven)}
    with joints_listed(robot, word):
        found = by_index(robot, given, word)
        if found.keys() - moved.keys():
            raise _no_joint(robot, word) or UsageError(Argument(word), f" is by joint: {listing(_joints(robot))}")
    return {moved[place]: value for place, value in found.items()}


@contextmanager
def joints_listed(robot: Robot, word: str) -> Iterator[None]:
    """Where a name that nothing has should be that of a joint, joints are listed, and not all coordinates."""
    try:
        yield
    except UnknownName as error:
        name = str(error.name)
        raise _no_joint(robot, word) or unknown(
            name, _joints(robot), Argument(word), ": no joint ", there="; joints are"
        ) from None


def _joints(robot: Robot) -> list[str]:
    return [joint.name for joint in robot.joints]


def _no_joint(robot: Robot, word: str) -> UsageError | None:
    """The refusal of anything that is by joint, of a robot without any."""
    return None if robot.joints else UsageError(Argument(word), " is by joint, and the robot has no joint")


def points(robot: Robot, given: Mapping[str, Values | None]) -> tuple[dict[str, Array], bool]:
    """Values (N, n) of each input by word, and whether they are rows of many points.

    Raises UsageError like :func:`by_index`, and where inputs have rows of different number.
    """
    parts = {word: _parts(robot, values, word) for word, values in given.items()}
    counts = {rows for of in parts.values() for _, _, rows in of if rows is not None}
    if len(counts) > 1:
        own = {word: sorted({part.rows for part in of if part.rows is not None}) for word, of in parts.items()}
        told = ", ".join(f"{word} has {' and '.join(map(str, each))}" for word, each in own.items() if each)
        raise UsageError(f"rows must be equally many: {told}")
    rows, count = {}, max(counts, default=1)
    for word, of in parts.items():
        whole, known = np.zeros((count, robot.n)), list[int]()
        for places, values, _ in of:
            whole[:, slice(None) if type(places) is range else places] = values
            known += places
        rows[word] = _checked(robot, filled(robot, whole, known, word), word)
    return rows, bool(counts)


class _Part(NamedTuple):
    """Values (k,) of some coordinates at one point, or (N, k) at ``rows`` of them."""

    indices: Sequence[int]
    values: Array
    rows: int | None

    @classmethod
    def of(cls, indices: Sequence[int], values: Array) -> _Part:
        return cls(indices, values, len(values) if values.ndim == 2 else None)


def _parts(robot: Robot, given: Values | None, word: str) -> list[_Part]:
    parts = _read(robot, given, word)
    for part in parts if word in _PLACES else ():
        demand_told_apart(robot, part.values, part.indices, Argument(word))
    return parts


def _read(robot: Robot, given: Values | None, word: str) -> list[_Part]:
    if given is None:
        return []
    if type(given) is np.ndarray:
        if given.ndim:  # before any of very many values is read
            _indices(robot, given.shape[-1], word)
    elif is_a(given, str):
        raise UsageError(Argument(word), f": give values by name or as a list, not the text {arguments.shown(given)}")
    elif is_a(given, Mapping) or arguments.is_named(given):
        named = arguments.pairs(given, word)
        places = [_index(robot, name, word) for name in named]
        if arguments.are_floats(named.values()):  # most often
            return [_Part.of(places, arguments.array([*named.values()], robot.description.values, word, depth=1))]
        columns = [_column(robot, value, word)[..., None] for value in named.values()]
        return [_Part.of([place], column) for place, column in zip(places, columns, strict=True)]
    elif not arguments.is_list(given):
        raise UsageError(Argument(word), f": give values by name or as a list, not {arguments.shown(given)}")
    elif arguments.is_plain_list(given) and given and any(type(given[0]) is kind for kind in (str, int, float)):
        _indices(robot, len(given), word)
    table = arguments.array(given, robot.description.values, word)
    table = table if table.ndim else table[None]
    indices = _indices(robot, table.shape[-1], word)
    if table.ndim == 2 and not len(table):
        raise UsageError(Argument(word), ": there are no rows")
    return [_Part.of(indices, table)]


def _indices(robot: Robot, count: int, word: str) -> Sequence[int]:
    """The coordinates that so many values are for: all of them, or the joints."""
    joints = robot.rigid
    if count not in (robot.n, len(joints)):
        raise UsageError(
            Argument(word),
            f" got {counted(count, 'value')}; the robot has {robot.n or 'no'} coordinates"
            + (f" ({listing(robot.coordinates)}), {len(joints)} of them joints" if robot.n else ""),
        )
    return range(robot.n) if count == robot.n else joints


def _column(robot: Robot, value: object, word: str) -> Array:
    column = arguments.array(value, robot.description.values, word, depth=1)
    if column.ndim and not len(column):
        raise UsageError(Argument(word), ": a number or a column of numbers is wanted, not one of shape (0,)")
    return column


def _index(robot: Robot, name: str, word: str) -> int:
    if name not in robot.coordinates:
        _demand_leading(robot, name, word)
        raise unknown(name, robot.coordinates, Argument(word), ": no coordinate ", there="; coordinates are")
    return robot.coordinates.index(name)


def _demand_leading(robot: Robot, name: str, word: str) -> None:
    if any(link.joint.name == name and link.joint.follows is not None for link in robot.file.links):
        raise UsageError(Argument(word), f": joint {quote(name)} follows others and has no coordinate: give theirs")


def view(robot: Robot, frame: object, axes: object) -> FrameView:
    """The frame of that name, seen in the axes ``base`` or ``body``. Raises UsageError that lists those there are."""
    asked = arguments.text(frame, "frame"), arguments.choice(axes, AXES, "axes")
    return robot.own(("view", *asked), lambda: jacobians.view(robot, *asked))


def algorithm_for(robot: Robot, given: object) -> str:
    """The algorithm of forward dynamics, None for the usual one. Raises UsageError where another one would answer."""
    if given is None:
        return ALGORITHMS[0]
    asked = arguments.choice(given, ALGORITHMS, "algorithm")
    if (other := algorithm_of(robot, asked)) != asked:
        why = ": joints that follow others couple what the recursion takes apart; leave it out, or take "
        raise UsageError(Argument("algorithm", asked), why, Argument("algorithm", other))
    return asked


def indices_of(robot: Robot, joints: object, word: str) -> list[int]:
    """Indices of what the drives of joints move in the coordinates, by their names: a list, "q1,q2", or "all".

    Raises UsageError that lists those there are.
    """
    known = {joint.name: joint.driven for joint in robot.joints}
    for name in arguments.listed(joints, known, word):
        if name not in known:
            _demand_leading(robot, name, word)
    return [known[name] for name in arguments.names(joints, known, word, "joint")]


def outputs_of(robot: Robot, given: object) -> tuple[str, ...]:
    """Outputs by name: a list, "joints,position:endpoint", or "all" for the words there are.

    Raises UsageError that lists those there are.
    """
    return chosen(robot, arguments.listed(given, WORDS, "outputs"))
