"""The question ``kinematics``: where frames are and how they are turned, and which joint values bring them there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import casadi
import numpy as np
import numpy.typing as npt
from casadi import SX

from kronbot.compute.arrays import NamedArray, Scalar
from kronbot.compute.question import Quantity, Question, asked
from kronbot.description.choices import POSE, QUATERNION, RPY, XYZ
from kronbot.description.names import carriers
from kronbot.description.wording import listing
from kronbot.errors import Argument, ComputationError, UsageError
from kronbot.floats import Array
from kronbot.mechanics.multibody.inverse_kinematics import Found, InverseKinematics, Target
from kronbot.mechanics.multibody.kinematics import relative_motion
from kronbot.mechanics.multibody.rotations import quaternions, roll_pitch_yaw
from kronbot.model.robot import Robot
from kronbot.questions.jacobian import FrameView, view
from kronbot.questions.outline import Given, Labels, Outline, Sides, numbered
from kronbot.questions.result import Outcome, Result
from kronbot.records import dataclass

PURPOSE = "kinematics"
# What stands for the endpoint and the tip frames of all links.
ALL = "all"
# What a pose may be written as, by how many numbers.
FORMS = {len(names): names for names in (XYZ, (*XYZ, *RPY), (*XYZ, *QUATERNION))}
UNITS = ("m",) * 3 + ("rad",) * 3 + ("1",) * 4
# Starts of an inverse where nothing else is said.
STARTS, MOST_STARTS = 100, 100_000
# Solutions that are listed of those that joints may leave while the pose stays: any number of them would be found.
MEMBERS = 5
# What is said of solutions where elements may close loops.
OPEN = "joints go where the frame is wanted, whatever elements hold: loops that they close may be open"
# Rows and columns of a homogeneous matrix: the axes of the frame, its origin.
ROWS, COLUMNS = (*XYZ, "1"), (*XYZ, "origin")


@dataclass(frozen=True)
class Asked:
    """What a picture wants to know: the frames, and the pose that the one of them was to have."""

    frames: tuple[FrameView, ...]
    target: Target | None = None


@dataclass(frozen=True)
class Poses(Question):
    """A question about homogeneous matrices, whose answer has positions, angles and quaternions beside them."""

    def arrays(self, values: Mapping[str, Array], axis: tuple[str, Sequence[float]] | None) -> dict[str, NamedArray]:
        """``pose``, a row a frame, and the matrices."""
        found = super().arrays(values, axis)
        T = found["T"].values
        T = T.reshape(*T.shape[:-2], -1, 4, 4)
        R = T[..., :3, :3]
        pose = np.concatenate([T[..., :3, 3], roll_pitch_yaw(R), quaternions(R)], axis=-1)
        rows = [name.removesuffix(f".{ROWS[0]}") for name in found["T"].rows[:: len(ROWS)]]
        units = {"rows": ["1"] * len(rows), "columns": list(UNITS)}
        return {"pose": NamedArray(pose, rows, units, POSE, axis), **found}


def views(robot: Robot, names: Sequence[str]) -> tuple[FrameView, ...]:
    """The frames of those names, ``all`` for the endpoint and the tip frames of all links; each once.

    Raises UsageError that lists the frames.
    """
    links = carriers(robot.file)
    every = ["endpoint", *links]
    asked = (each for name in names for each in (every if name == ALL and ALL not in links else [name]))
    return tuple(dict.fromkeys(view(robot, name, "base") for name in asked))


def kinematics(robot: Robot, seen: Sequence[FrameView]) -> Question:
    """T (4 x 4 a frame, one below the other): p_to = T p_of in homogeneous coordinates, Tuan (71)-(72)."""
    q = SX.sym("q", robot.n)
    poses = [relative_motion(robot, q, each.of, each.to).pose for each in seen]
    last = SX([[0, 0, 0, 1]])
    T = casadi.vertcat(*(part for pose in poses for part in (casadi.horzcat(pose.R, pose.r), last)))
    rows = [f"{each.name}.{row}" for each in seen for row in ROWS]
    units = {"rows": ["m", "m", "m", "1"] * len(seen), "columns": ["1/m", "1/m", "1/m", "1"]}
    return Poses(
        robot.parameters, {"q": q}, robot.derivative_names(["q"]), {"T": Quantity(T, rows, COLUMNS, units)}, PURPOSE
    )


def inverse(robot: Robot, seen: FrameView, target: Target, held: Array, count: int) -> Outcome:
    """Joint values for a pose of a frame, from ``count`` starts, the first of them ``held`` (n,), whose others stay.

    The answer is that of :func:`kinematics` at the best of them: the solution nearest to the start, or what comes
    nearest to the pose, with an error. Raises UsageError where no joint moves the frame as it is wanted.
    """
    search = InverseKinematics(robot, seen.of, seen.to, target, held)
    if not search.places:
        raise UsageError(f"no joint moves {seen.name}", *(" as it is wanted" if len(target.rows) < 6 else ""))
    found = search.search(search.starts(count))
    groups = search.solutions(found)
    reached = sum(map(len, groups))
    idle = search.idle_directions(found.q[[group[0] for group in groups]]) if groups else np.zeros(0, dtype=np.int64)
    groups, family = _nearest(groups, idle)
    solution = {i: number for number, group in enumerate(groups, 1) for i in group}
    last = len(groups) + 1
    away = np.where(search.reached(found), 0.0, found.costs)
    order = sorted(range(count), key=lambda i: (solution.get(i, last), away[i], i))
    best = groups[0][0] if groups else order[0]
    places = [joint.index for joint in robot.joints]
    joints = search.whole(found.q)[:, places]
    names, units = ([of[i] for i in places] for of in (robot.coordinates, robot.units))
    columns = [
        np.array(order) + 1,
        np.array([solution.get(i, 0) for i in order]),
        search.reached(found)[order].astype(np.int64),
        found.steps[order],
        found.position[order],
        found.rotation[order],
        *joints[order].T,
    ]
    arrays: dict[str, NamedArray] = {}
    if groups:
        rows = numbered(len(groups))
        values = joints[[group[0] for group in groups]]
        arrays["solutions"] = NamedArray(values, rows, {"rows": ["1"] * len(rows), "columns": units}, names)
    q = search.whole(found.q[best])
    put = asked(robot, (PURPOSE, (seen,)), lambda: kinematics(robot, [seen]))
    summary: dict[str, Scalar] = {
        "reached": bool(groups),
        "solutions_found": len(groups),
        **({"idle_directions": int(idle[0])} if groups else {}),
        **({"family": family} if family else {}),
        "position_error": float(found.position[best]),
        "rotation_error": float(found.rotation[best]),
        "starts": count,
        "starts_that_reach_it": reached,
    }
    answer = Result(
        PURPOSE,
        robot.name,
        robot.order,
        {"q": robot.by_name(q), "start": robot.by_name(held)},
        arrays | put.at(q),
        dict(zip(_columns(names), columns, strict=True)),
        summary,
        [OPEN] if robot.elements else [],
        units=dict(zip(_columns(names), (*("1",) * 4, "m", "rad", *units), strict=True)),
        about=robot,
        asked=Asked((seen,), target),
    )
    return Outcome(answer, None if groups else _unreached(search, found, best))


def _nearest(groups: list[list[int]], idle: npt.NDArray[np.int64]) -> tuple[list[list[int]], str]:
    """The solutions that are listed, and a word on families of which the nearest members are."""
    members = [i for i, count in enumerate(idle.tolist()) if count]
    if len(members) <= MEMBERS:
        return groups, ""
    listed = [group for i, group in enumerate(groups) if i not in members[MEMBERS:]]
    least, most = (int(end(idle[members])) for end in (np.min, np.max))
    ways = f"{least} directions" if least > 1 else "a direction" if most == 1 else f"{least} to {most} directions"
    told = f"joints may move in {ways} and keep the pose: of {len(members)} such solutions the {MEMBERS} nearest"
    return listed, told


def _columns(joints: Iterable[str]) -> list[str]:
    """Of the table of starts."""
    found = ["start", "solution", "converged", "iterations", "error.position", "error.rotation"]
    return [*found, *(f"angle.{name}" for name in joints)]


def _unreached(search: InverseKinematics, found: Found, best: int) -> ComputationError:
    """How near the best start has come, and what holds it."""
    robot, count = search.robot, len(found.q)
    away = [f"{found.position[best]:.3g} m"] if min(search.target.rows) < 3 else []
    away += [f"{found.rotation[best]:.3g} rad"] if search.target.rotation is not None else []
    ends = zip(search.places, found.q[best], *search.limits, strict=True)
    at_limit = [f"{robot.coordinates[i]} at {q:.4g} {robot.units[i]}" for i, q, *pair in ends if q in pair]
    held = f" (at their limits: {', '.join(at_limit)})" if at_limit else ""
    held += f" (beyond the limits of {listing(beyond)})" if (beyond := search.beyond(found.q[best])) else ""
    begun = "the start" if count == 1 else f"any of {count} starts"
    return ComputationError(
        f"the pose is not reached from {begun}: the nearest is {' and '.join(away)} away{held}; take ",
        "one within reach, other first values (",
        Argument("q"),
        ") or more ",
        Argument("starts"),
    )


def outline(robot: Robot, given: Given) -> Outline:
    """What the answer holds: poses and matrices of the frames; of an inverse the solutions and the starts."""
    names: list[str] = []
    for each in given.get("frame", ("endpoint",)):
        names += map(str, each if isinstance(each, list | tuple) else [each])
    frames = [each.name for each in views(robot, names)]
    arrays: dict[str, Labels] = {
        "pose": (frames, POSE),
        "T": ([f"{name}.{row}" for name in frames for row in ROWS], COLUMNS),
    }
    units: dict[str, Sides] = {"pose": ({}, dict(zip(POSE, UNITS, strict=True)))}
    usual = [f"pose[{name},{column}]" for name in frames for column in (*XYZ, *RPY)]
    if "inverse" not in given:
        return Outline(arrays=arrays, usual=usual, units=units)
    joints = [joint.name for joint in robot.joints]
    counts = [each for each in given.get("starts", ()) if isinstance(each, int)]
    arrays["solutions"] = numbered(max(counts, default=STARTS)), joints
    numbers = ["reached", "solutions_found", "idle_directions", "position_error", "rotation_error"]
    numbers += ["starts", "starts_that_reach_it"]
    units["solutions"] = {}, dict(zip(joints, (robot.units[joint.driven] for joint in robot.joints), strict=True))
    shown = [f"solutions[1,{name}]" for name in joints]
    return Outline(numbers, ("family",), arrays, _columns(joints), shown, units=units)
