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
from kronbot.floats import Array, all_finite
from kronbot.mechanics.control.closed_loop import of_loop, sampled
from kronbot.mechanics.control.controllers import controllers
from kronbot.mechanics.control.feedback import disk_margin, in_gain_and_phase, sensitivity_peak
from kronbot.mechanics.linear.matrix_polynomial import eigen, inverse
from kronbot.mechanics.linear.pole import Pole
from kronbot.mechanics.motion.drives import drives
from kronbot.model.robot import Robot
from kronbot.questions.signals import Choice

# Numbers of the disk margin; the last is not there where any gain may be multiplied without end.
HIGH = "gain_margin_high"
MARGINS = ("disk_margin", "disk_margin_frequency", "phase_margin", "gain_margin_low", HIGH)
LOOP = (*MARGINS, "sensitivity_peak")
# As a share: poles that are no nearer to anything than this are on the axis, or are not moved or not seen at all.
LOST = 1e-9
# A share of the fastest pole, whose square may be among the entries, below which rounding of these may reach others; by
# how much entries are moved then, how often, and the share that this may move margins by.
SLOW, MOVED, TRIALS, SURE = 1e-5, 4 * float(np.finfo(float).eps), 3, 1e-2
RIGID = "leave out shafts, bearings and modes that are so stiff or damped so much"
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


def numbers_of_loop(
    robot: Robot, gains: Array, own: Sequence[int], M: Array, A: Array, poles: Sequence[Pole]
) -> dict[str, Scalar]:
    """Margins of a loop with state matrix A, cut at the torques of its controllers, and the peak of its sensitivity.

    Of its ``own`` coordinates, with inertia M, and what is remembered, by place, and of its poles. Nothing where what
    torques move cannot be told from what they leave alone: of a free base; and where rounding leaves nothing of them.
    Raises ComputationError where gains overflow.
    """
    demand_finite({"A": A})
    B, fed_back, _ = _cut(robot, gains, own, M)
    if not B.shape[1]:
        return {}
    A, B, K = _seen(A, B, -fed_back, len(M), poles)
    found = _kept(A, B, K, poles) if far_apart(poles) else _margins(A, B, K)
    if found is None:
        return {}
    alpha, frequency, peak = found
    return margin_numbers(alpha, frequency) | ({"sensitivity_peak": peak} if np.isfinite(peak) else {})


def _lost(robot: Robot, gains: Array, own: Sequence[int], M: Array, A: Array, poles: Sequence[Pole]) -> bool:
    """Whether it is rounding that leaves a loop of such poles without margins; M and poles with what is remembered."""
    count = sum(place < robot.n for place in own)
    acting = any(joint.driven in own for joint in controllers(robot).joints) and bool(np.isfinite(A).all())
    drifting = any(pole.free and pole.count == 2 for pole in poles)
    return (
        acting and not drifting and not numbers_of_loop(robot, gains, own, M[:count, :count], A, of_loop(poles, count))
    )


def _seen(A: Array, B: Array, K: Array, n: int, poles: Sequence[Pole]) -> tuple[Array, Array, Array]:
    """The same without damped free directions of n coordinates (and of what is remembered) that K does not see, whose
    poles rounding of A moves off zero."""
    free = np.zeros((len(A), 0))
    for pole in poles:
        if pole.free and pole.count == 1:
            x = pole.right.real
            state = np.concatenate([x[:n], np.zeros(n), x[n:]])
            if np.abs(K @ state).max() <= LOST * np.abs(K).max() * np.abs(state).max():
                free = np.column_stack([free, state])
    if not free.shape[1]:
        return A, B, K
    N = np.linalg.svd(all_finite(free))[0][:, free.shape[1] :]
    return N.T @ A @ N, N.T @ B, K @ N


def far_apart(poles: Sequence[Pole]) -> bool:
    """Whether rounding of the state matrix may leave nothing of the slowest pole."""
    sizes = [abs(pole.value) for pole in poles if not pole.free]
    return bool(sizes) and min(sizes) < SLOW * max(sizes)


def _margins(A: Array, B: Array, K: Array) -> tuple[float, float, float] | None:
    """Disk margin, its frequency, and peak of the sensitivity; None where there are none."""
    loop = stilled(A, B, K)
    if loop is None:
        return None
    return (*disk_margin(loop + B @ K, B, K), sensitivity_peak(loop + B @ K, B, K))


def _kept(A: Array, B: Array, K: Array, poles: Sequence[Pole]) -> tuple[float, float, float] | None:
    """The same where poles tell whether the loop is stable, and A with other rounding makes them no others."""
    growths = [(pole.value.real, pole.growth_error) for pole in poles if not pole.free]
    if any(abs(growth) < error for growth, error in growths):
        return None
    ways = np.random.default_rng(0).uniform(-1, 1, (TRIALS, *A.shape))
    try:
        with np.errstate(all="ignore"):
            found = [_margins(A * (1 + MOVED * way), B, K) for way in [np.zeros_like(A), *ways]]
    except np.linalg.LinAlgError:
        return None
    sizes = np.array([(alpha, 1 / peak) for alpha, _, peak in filter(None, found)])
    settled = len(sizes) == len(found) and (np.ptp(sizes, axis=0) <= SURE * sizes.max(axis=0)).all()
    stable = all(growth < 0 for growth, _ in growths)
    return found[0] if settled and (sizes[0, 0] > 0 or not stable) else None


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
    robot: Robot,
    q: Array,
    tau: Array,
    values: Mapping[str, Array],
    own: Sequence[int],
    M: Array,
    of_states: NamedArray,
    poles: Sequence[Pole],
) -> list[str]:
    """What of the controllers a linear model about q (n,) leaves out, where torques tau (of joints) hold the robot,
    with ``values``, inertia M, the state matrix of its ``own`` coordinates and what is remembered, by place, and
    poles."""
    control = controllers(robot)
    found = [*_told_of_samples(robot, values, own, M, of_states), *_told_of_rest(robot, q, tau, own)]
    if far_apart(poles) and _lost(robot, values["gains"], own, M, np.asarray(of_states.values), poles):
        found.append(f"no margins: rounding leaves nothing of them beside poles so far apart; {RIGID}")
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
