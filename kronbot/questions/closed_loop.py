"""Words about linear models with the controllers of a file, and which of their integrals stand still."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import casadi
import numpy as np
from casadi import SX

from kronbot.compute.arrays import NamedArray, Scalar
from kronbot.compute.deferred import demand_finite
from kronbot.description.expressions.expression import Expression
from kronbot.description.gains import TIME
from kronbot.errors import Argument, UsageError
from kronbot.floats import Array
from kronbot.mechanics.control.closed_loop import sampled
from kronbot.mechanics.control.controllers import controllers
from kronbot.mechanics.control.feedback import disk_margin, in_gain_and_phase, sensitivity_peak
from kronbot.mechanics.linear.matrix_polynomial import eigen, inverse
from kronbot.mechanics.motion.drives import drives
from kronbot.model.robot import Robot
from kronbot.questions.signals import Choice

# Numbers of the disk margin; the last is not there where any gain may be multiplied without end.
HIGH = "gain_margin_high"
MARGINS = ("disk_margin", "disk_margin_frequency", "phase_margin", "gain_margin_low", HIGH)
LOOP = (*MARGINS, "sensitivity_peak")
# As a share: poles that are no nearer to anything than this are on the axis, or are not moved or not seen at all.
LOST = 1e-9
# Factors of growth from sample to sample that rounding does not make, of free bodies for example.
GROWS = 1e-6
# Joints (rad, m) that are further from where gains are about are elsewhere.
ELSEWHERE = 1e-6


def controls(robot: Robot) -> bool:
    """Whether something controls a joint."""
    return bool(controllers(robot).joints)


def demand_loop(robot: Robot, choice: Choice) -> None:
    """Raise UsageError where nothing controls a joint, and for outputs that controllers change."""
    if not controls(robot):
        cure = ": the file has no control: {JOINT: {pid: {...}}}, nor a pd drive"
        raise UsageError(Argument("closed_loop"), f" wants controllers{cure}")
    feedback = controllers(robot).feedback
    if feedback is not None and feedback.gains.over == TIME:
        raise UsageError(Argument("closed_loop"), ": gains that change in time are those of a simulation")
    if any(each.kind == "power" for each in choice.measured):
        raise UsageError("power: of a closed loop, controllers have a part in it that is not told: leave it out")


def numbers_of_loop(robot: Robot, gains: Array, own: Sequence[int], M: Array, A: Array) -> dict[str, Scalar]:
    """Margins of a loop with state matrix A, cut at the torques of its controllers, and the peak of its sensitivity.

    Of its ``own`` coordinates, with inertia M, and what is remembered, by place. Nothing where what torques move
    cannot be told from what they leave alone: of a free base. Raises ComputationError where gains overflow.
    """
    demand_finite({"A": A})
    B, fed_back, _ = _cut(robot, gains, own, M)
    if not B.shape[1]:
        return {}
    K = -fed_back
    loop = stilled(A, B, K)
    if loop is None:
        return {}
    found = margin_numbers(*disk_margin(loop + B @ K, B, K))
    peak = sensitivity_peak(loop + B @ K, B, K)
    return found | ({"sensitivity_peak": peak} if np.isfinite(peak) else {})


def _cut(robot: Robot, gains: Array, own: Sequence[int], M: Array) -> tuple[Array, Array, list[int]]:
    """B of the torques of controllers for all states, their gains by these, and the places of these in what is fed
    back."""
    n, free = robot.n, [place for place in own if place < robot.n]
    joints = [joint.driven for joint in controllers(robot).joints]
    rows = [i for i, place in enumerate(joints) if place in free]
    moved = np.zeros((len(free), len(rows)))
    moved[[free.index(joints[i]) for i in rows], range(len(rows))] = 1.0
    columns = [*free, *(n + place for place in free), *(n + place for place in own if place >= n)]
    B = np.zeros((len(columns), len(rows)))
    B[len(free) : 2 * len(free)] = np.linalg.solve(M, moved)
    return B, gains.reshape(len(joints), -1)[np.ix_(rows, columns)], columns


def _told_of_samples(
    robot: Robot, values: Mapping[str, Array], own: Sequence[int], M: Array, of_states: NamedArray
) -> Iterator[str]:
    """Whether deviations grow where controllers are sampled, of which the state matrix knows nothing."""
    at = drives(robot).sample_time
    if at is None:
        return
    A = np.asarray(of_states.values)
    n, remembered = len(A) - sum(place >= robot.n for place in own), [p - robot.n for p in own if p >= robot.n]
    B, gains, columns = _cut(robot, values["gains"], own, M[: n // 2, : n // 2])
    onward = values["onward"].reshape(-1, values["gains"].size // len(controllers(robot).joints))
    T = robot.parameters.evaluate(at, "control.sample_time")
    whole = sampled((A - B @ gains)[:n, :n], B[:n], gains, onward[np.ix_(remembered, columns)], T)
    growth = float(np.abs(eigen(whole)[0]).max(initial=0.0)) if np.isfinite(whole).all() else np.inf
    held = f"the loop is closed as if controllers acted all the time: sampled every {T:g} s "
    if growth > 1 + GROWS:
        yield f"{held}it is unstable, deviations grow by a factor of {growth:.4g} from sample to sample"
    else:
        yield f"{held}they are half a sample late, and deviations do not grow"


def _told_of_rest(robot: Robot, q: Array, tau: Array, own: Sequence[int]) -> Iterator[str]:
    """Whether controllers want joints elsewhere, and which torques there are that nothing of the file gives."""
    control, passive = controllers(robot), drives(robot).passive
    off, loose = [], []
    for joint, torque in zip(robot.joints, tau, strict=True):
        if joint.driven not in own:
            continue
        controller = control.by_joint.get(joint.name)
        if controller is not None and isinstance(controller.target, Expression):
            target = robot.parameters.value(controller.target, f"control.{joint.name}.target")
            if abs(target - q[control.measured(joint)]) > ELSEWHERE:
                off.append(f"{joint.name} = {target:.6g}")
        if joint.name in passive and abs(torque) > LOST * np.abs(tau).max():
            loose.append(f"{joint.name} ({torque:.6g} {'N m' if joint.revolute else 'N'})")
    if off:
        yield f"the targets are {', '.join(off)}: the loop rests there, and here it is held by other torques"
    if loose:
        yield f"nothing of the file gives what holds {', '.join(loose)} here: the robot moves away from this posture"


def stilled(A: Array, B: Array, K: Array) -> Array | None:
    """A whose poles on the imaginary axis that K (s - A)^-1 B does not have decay; None where they are not apart."""
    poles, right = eigen(A)
    left = inverse(right[None])[0].conj().T
    left = left / np.linalg.norm(left, axis=0)
    size, still = float(np.abs(poles).max(initial=0.0)), A.astype(complex)
    weights = np.linalg.norm(B, axis=0).max(), np.linalg.norm(K, axis=1).max()
    for i in np.flatnonzero(np.abs(poles.real) <= LOST * size):
        along = left[:, i].conj() @ right[:, i]
        if abs(along) <= LOST:
            return None
        reach, seen = np.abs(left[:, i].conj() @ B).max() / weights[0], np.abs(K @ right[:, i]).max() / weights[1]
        if min(reach, seen) <= LOST * abs(along):
            still -= size / along * np.outer(right[:, i], left[:, i].conj())
    return np.asarray(still.real)


def margin_numbers(alpha: float, frequency: float) -> dict[str, Scalar]:
    """A disk margin, where it is least, and the gains and the phase that it stands for."""
    low, high, phase = in_gain_and_phase(alpha)
    found: dict[str, Scalar] = {"disk_margin": alpha, "disk_margin_frequency": frequency, "phase_margin": phase}
    return found | {"gain_margin_low": low} | ({"gain_margin_high": high} if np.isfinite(high) else {})


def held(robot: Robot, locked: frozenset[int], integrals: Sequence[str]) -> frozenset[int]:
    """Locked coordinates, with the integrals of locked joints, by place behind the coordinates."""
    names = {f"integral.{joint.name}" for joint in robot.joints if joint.driven in locked}
    return locked | {robot.n + i for i, name in enumerate(integrals) if name in names}


def told_of_loop(
    robot: Robot, q: Array, tau: Array, values: Mapping[str, Array], own: Sequence[int], M: Array, of_states: NamedArray
) -> list[str]:
    """What of the controllers a linear model about q (n,) leaves out, where torques tau (of joints) hold the robot,
    with ``values``, inertia M and the state matrix of its ``own`` coordinates and what is remembered, by place."""
    control = controllers(robot)
    found = [*_told_of_samples(robot, values, own, M, of_states), *_told_of_rest(robot, q, tau, own)]
    if limited := [name for name, each in control.by_joint.items() if each.effort is not None]:
        found.append(f"limits of effort are not in a linear model ({', '.join(limited)})")
    if control.feedback is not None:
        fed = control.feedback.near(SX(q))
        about = {name: float(casadi.evalf(at)) for name, at in fed.at.items() if fed.places[name] in robot.rigid}
        off = [name for name, at in about.items() if abs(at - q[fed.places[name]]) > ELSEWHERE]
        if off:
            away = ", ".join(f"{name} = {about[name]:.6g}" for name in off)
            found.append(f"the gains are about {away}: the loop rests there, and here it is held by other torques")
    return found
