"""What ``design`` does with a motion: gains over time, best about what motors that follow it make of the arm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from casadi import SX

from kronbot.compute.arrays import NamedArray, Scalar
from kronbot.compute.trace import traced
from kronbot.description.controlling import Control
from kronbot.description.entries import ZERO
from kronbot.description.gains import AT, ROW, TORQUE
from kronbot.description.schema import JointDrive, Simulate
from kronbot.errors import Argument, ComputationError, Failure, Interrupted, UsageError
from kronbot.floats import Array
from kronbot.mechanics.control.riccati import Jumps, Varying, flow
from kronbot.mechanics.linear.modal import of_first_order
from kronbot.mechanics.motion.integration import Tolerances
from kronbot.mechanics.multibody.recursion import demand_inertia, forward_dynamics
from kronbot.mechanics.multibody.state import propagate
from kronbot.model.build import build
from kronbot.model.robot import Robot
from kronbot.questions.costs import UNPAID, cost, paid, told_of_cost
from kronbot.questions.design import Wish, away, design, weighing, with_gains
from kronbot.questions.elements import demand_constant
from kronbot.questions.friction import told_of_friction_along
from kronbot.questions.keeping import kept
from kronbot.questions.linearize import Linearization, Point
from kronbot.questions.linearize_along import length_of, period_of
from kronbot.questions.pieces import Pieces, Way
from kronbot.questions.result import Outcome, Result
from kronbot.questions.signals import Choice
from kronbot.questions.simulate import Run, simulate
from kronbot.system.interruption import Interruptions

PURPOSE = "design"
# Intervals at first, how often they are halved, and the share by which P may change then (what is left: a fifteenth).
INTERVALS, MESHES, CHANGED = 200, 6, 1e-6
FINE = Tolerances(1e-10, 1e-12)
# Newton's steps to a motion that repeats, and how far it may be off: a share of where beams are.
STEPS, REPEATS, NEARLY = 12, 1e-8, 1e-6
# Beams that are further from their rest at the end, as a share of the way, still swing.
SWINGING = 1e-3
# A share of the cost that the robot pays without a deviation, and that is told.
SMEARED = 1e-3
GAINLESS = "interrupted before there were gains"
# How much longer gains lead them there, as a share of the motion.
BEHIND = 0.1


def design_along(robot: Robot, wish: Wish, progress: Callable[[float], None]) -> Outcome:
    """Gains over the file's motion: of a finite one those of its length, else of its period.

    Where somebody interrupts the simulation of their cost they are told, with the error. Raises UsageError without a
    motion, ComputationError where there are none.
    """
    return kept(lambda met: _design_along(robot, wish, progress, met))


def _design_along(robot: Robot, wish: Wish, progress: Callable[[float], None], met: Interruptions) -> Outcome:
    demand_inertia(robot)
    if robot.base:
        raise UsageError("a floating base goes along no given motion: gains of it are those about a posture")
    demand_constant(robot)
    if not robot.motions:
        raise UsageError(Argument("motion"), " wants one in the file, motion: {JOINT: {...}}")
    period = period_of(robot) if wish.duration is None else "a duration is given"
    periodic = not isinstance(period, str)
    duration = wish.duration or (length_of(robot) if isinstance(period, str) else period)
    (rates,) = robot.derivative_names(["qd"]).values()
    states = [*robot.coordinates, *rates]
    Q, R = weighing(robot, wish, robot.joints, states)
    start = away(robot, wish, states)
    with met.heard(), met.at_work(lambda: GAINLESS):
        pieces, plant, P, rest = _refined(robot, wish, (Q, R), duration, periodic, progress)
    K, nominal = plant.gains(P), pieces.way
    rows = nominal.times[::2]
    names = [joint.name for joint in robot.joints]
    about = np.hstack([np.zeros((len(rows), 1)), nominal.states[::2]])[:, None]
    gains = np.concatenate([about, np.concatenate([nominal.tau[::2, :, None], K], axis=2)], axis=1)
    stopped, axis, told = None, ("t", rows.tolist()), list[str]()
    swinging = "" if periodic else _swinging(robot, nominal, rest["gains"].values[0, 1:])
    told += told_of_friction_along(robot, nominal.states[::2, robot.n :], frozenset())
    if swinging:
        told.append(
            f"at the end of the motion the arm still {swinging} beside its rest there; gains lead to it behind that: "
            "a motion that ends at rest, and leaves no vibration, is better (kronbot explain plan)"
        )
        rows, gains = _to_rest(rows, gains, rest["gains"].values)
    inputs = [f"{ROW}{name}" for name in names]
    arrays = {
        "gains": NamedArray(gains, [AT, *inputs], "SI", [TORQUE, *states], ("t", rows.tolist())),
        "K": NamedArray(K, inputs, "SI", states, axis),
        "P": NamedArray(P, states, "SI", states, axis),
    }
    summary: dict[str, Scalar] = {"states": len(states), "period" if periodic else "duration": duration}
    summary |= {"intervals": len(K) - 1, "cost_predicted": float(start @ P[0] @ start)}
    if periodic:
        summary["largest_multiplier"] = float(np.abs(np.linalg.eigvals(plant.closed(K))).max())
    else:
        try:
            summary |= paid(lambda: _simulated(robot, arrays["gains"], pieces, start, (Q, R, P), told))
        except Interrupted as error:
            stopped = error
            summary |= UNPAID
    progress(1.0)
    at = {"start": robot.by_name(nominal.q[0]), "end": robot.by_name(nominal.q[-1])}
    return Outcome(Result(PURPOSE, robot.name, robot.order, at, arrays, {}, summary, told, about=robot), stopped)


def _refined(
    robot: Robot,
    wish: Wish,
    weights: tuple[Array, Array],
    duration: float,
    periodic: bool,
    progress: Callable[[float], None],
) -> tuple[Pieces, Varying, Array, Mapping[str, NamedArray]]:
    """The motion in pieces, the linear model about it, P where pieces end, and the gains at rest: on intervals that are
    halved until P hardly changes.
    """
    moving, intervals, before = _moving(robot), INTERVALS, None
    begin, rest = None, dict[str, NamedArray]()
    for mesh in range(MESHES):
        if periodic:
            begin = _repeating(robot, moving, duration, intervals, 2**mesh, begin)
        nominal = _follow(robot, moving, duration, 2 * intervals, begin)
        pieces = Pieces(robot, nominal, 2**mesh, PURPOSE)
        plant = _plant(pieces, *weights, periodic)
        rest = rest or _at_rest(robot, nominal.q[-1], wish)
        last = rest["P"].values
        P = plant.periodic(last) if periodic else plant.backward(last)
        progress((mesh + 1) / (MESHES + 1))
        if before is not None and np.abs(P[::2] - before).max() <= CHANGED * np.abs(P).max():
            return pieces, plant, P, rest
        before, intervals = P, 2 * intervals
    why = "vibrations are too fast beside it; fewer modes a link, damping, or other weights"
    raise ComputationError(f"gains along the motion are not found on {intervals // 2} intervals: {why}")


def _moving(robot: Robot) -> Robot:
    """The robot whose motors follow the file's motion exactly; those without one stand."""
    drives = {joint.name: JointDrive(motion=robot.file.motion.get(joint.name, ZERO)) for joint in robot.joints}
    file = replace(robot.file, control=Control(), simulate=Simulate(drive=dict(drives)))
    return build(replace(robot.description, robot=file), robot.order)


def _follow(robot: Robot, moving: Robot, duration: float, pieces: int, begin: Array | None) -> Way:
    """The arm at so many even times and the last, from [q; qd] or from rest, by CVODES."""
    q, qd = dict[int, float](), dict[int, float]()
    if begin is not None:
        loose = robot.others(frozenset(robot.rigid))
        q, qd = ({i: float(begin[shift + i]) for i in loose} for shift in (0, robot.n))
    start = "equilibrium" if begin is None else "straight"
    run = Run(duration, duration / pieces, "recursive", "cvodes", FINE, q, qd, start)
    series = simulate(moving, run, lambda share: None).whole().series
    (rates,) = robot.derivative_names(["qd"]).values()
    q_rows, qd_rows = (np.column_stack([series[name] for name in names]) for names in (robot.coordinates, rates))
    tau = np.column_stack([series[f"torque.{joint.name}"] for joint in robot.joints])

    def parts() -> tuple[Mapping[str, SX], Mapping[str, SX]]:
        q, qd, torques = SX.sym("q", robot.n), SX.sym("qd", robot.n), SX.sym("tau", len(robot.joints))
        whole = SX(robot.n, 1)
        whole[list(robot.rigid)] = torques
        return {"q": q, "qd": qd, "tau": torques}, {"qdd": forward_dynamics(propagate(robot, q, qd), whole, {})}

    qdd = traced(robot, "accelerations", PURPOSE, parts).rows(q_rows, qd_rows, tau)["qdd"]
    return Way(series["t"], q_rows, qd_rows, qdd, tau)


def _matrices(robot: Robot, way: Way) -> Mapping[str, Array]:
    """M, D, K (rows, n, n) and E (rows, n, joints)."""
    trace = Linearization(robot, Choice(frozenset(), ("torques",), ()), False).trace
    rows = trace.rows(way.q, way.qd, way.qdd, way.tau, np.zeros((len(way.times), 3)))
    return {name: rows[name].reshape(len(way.times), robot.n, -1) for name in "MDKE"}


def _linear(pieces: Pieces, free: list[int], periodic: bool) -> tuple[Array, Array, Jumps]:
    """A (N, 3, 2m, 2m) and B (N, 3, 2m, joints) of the free coordinates where pieces begin, in their middle and where
    they end, and what deviations jump to.
    """
    times, which = pieces.samples
    found = _matrices(pieces.robot, pieces.smooth.at(times))
    M, D, K = (found[name][:, free][:, :, free] for name in "MDK")
    pairs = [of_first_order(*each) for each in zip(M, D, K, found["E"][:, free], strict=True)]
    A, B = (np.array(each)[which] for each in zip(*pairs, strict=True))
    jumps, m = dict[int, Array](), len(free)
    for border, s, damped in pieces.jumps(free, periodic):
        jump = np.eye(2 * m)
        jump[m:, :m] = -np.linalg.solve(M[which[border - 1, 2]], np.outer(s, damped))
        jumps[border] = jump @ jumps.get(border, np.eye(2 * m))
    return A, B, jumps


def _plant(pieces: Pieces, Q: Array, R: Array, periodic: bool) -> Varying:
    """The linear model about what the arm does."""
    A, B, jumps = _linear(pieces, [*range(pieces.robot.n)], periodic)
    return Varying(A, B, Q, R, np.diff(pieces.borders), pieces.kept, jumps)


def _repeating(robot: Robot, moving: Robot, period: float, intervals: int, more: int, begin: Array | None) -> Array:
    """Where the arm begins, [q; qd], so that beams are after a period where they were: by Newton's method.

    Errors of runs may end it before it is as near as is wanted: at what is not much further off.
    """
    n, loose = robot.n, robot.others(frozenset(robot.rigid))
    places = [*loose, *(n + i for i in loose)]
    nearest, found = np.inf, np.zeros(0)
    for step in range(STEPS if loose else 1):
        try:
            nominal = _follow(robot, moving, period, 2 * intervals, begin)
        except ComputationError:
            if not step:
                raise
            break  # Newton's method has left for where the model of this order means nothing
        states = nominal.states
        begin = states[0].copy()
        off = (states[-1] - states[0])[places]
        left = np.abs(off).max(initial=0.0) / np.abs(states[:, places]).max(initial=1e-300)
        if left < nearest:
            nearest, found = left, begin.copy()
        if left <= REPEATS:
            return begin
        pieces = Pieces(robot, nominal, more, PURPOSE)
        A, _, jumps = _linear(pieces, loose, True)
        begin[places] += np.linalg.solve(np.eye(len(places)) - flow(A, np.diff(pieces.borders), jumps), off)
    if nearest <= NEARLY:
        return found
    raise ComputationError("no motion of the beams is found that repeats: damping, or another period")


def _at_rest(robot: Robot, end: Array, wish: Wish) -> dict[str, NamedArray]:
    """Gains, and their P, about the rest at the joints of q (n,): what gains go on with."""
    rest, q = np.zeros(robot.n), np.zeros(robot.n)
    q[list(robot.rigid)] = end[list(robot.rigid)]
    point = Point(robot.undeformed(q), rest, rest, None, np.zeros(3))
    return dict(design(robot, point, frozenset(), replace(wish, motion=False), None).result.arrays)


def _swinging(robot: Robot, nominal: Way, rest: Array) -> str:
    """How far the arm is from its rest at the end, or how fast, where that in all this time is more than a little."""
    n, states = robot.n, nominal.states
    off = np.abs(states[-1] - rest)
    ways = off * np.repeat([1.0, nominal.times[-1]], n)
    little = SWINGING * np.ptp(states[:, :n], axis=0).max()
    if ways.max() <= little:
        return ""
    loose = robot.others(frozenset(robot.rigid))
    plain = ways.copy()  # how far a vibration is says more than how fast, if it does
    plain[[n + i for i in loose]] = 0.0
    far = int((plain if plain.max() > little else ways).argmax())
    name, unit, rate = robot.coordinates[far % n], robot.units[far % n], "/s" if far >= n else ""
    what = "swings" if far % n in loose else "moves"
    return f"{what}, {name} {'at' if rate else 'by'} {off[far]:.2g} {unit}{rate}"


def _to_rest(times: Array, gains: Array, rest: Array) -> tuple[Array, Array]:
    """Rows with more of them, in which coordinates go on smoothly to their rest."""
    more = max(4, int(BEHIND * len(times)))
    h, s = times[-1] - times[-2], np.arange(1, more + 1)[:, None] / more
    length, n = h * more, (gains.shape[2] - 1) // 2
    last = gains[-1]
    away, rate = last[0, 1 : n + 1] - rest[0, 1 : n + 1], last[0, n + 1 :]
    rows = last + (rest - last) * s[:, None] ** 2 * (3 - 2 * s[:, None])
    rows[:, 0, 1 : n + 1] = rest[0, 1 : n + 1] + (1 - s) ** 2 * (away * (1 + 2 * s) + rate * length * s)
    rows[:, 0, n + 1 :] = (1 - s) * (rate * (1 - 3 * s) - 6 * s * away / length)
    return np.append(times, times[-1] + h * np.arange(1, more + 1)), np.concatenate([gains, rows])


def _simulated(
    robot: Robot,
    gains: NamedArray,
    pieces: Pieces,
    start: Array,
    weights: tuple[Array, Array, Array],
    told: list[str],
) -> dict[str, Scalar]:
    """The cost that the robot itself pays from a deviation at the start, and what coming back costs from its end."""
    (Q, R, P), nominal, fed = weights, pieces.way, with_gains(robot, gains)
    end = float(nominal.times[-1])

    def paid(begin: Array) -> float:
        q, qd = ({i: float(begin[shift + i]) for i in range(robot.n)} for shift in (0, robot.n))
        run = Run(end, end / (len(nominal.times) - 1), "recursive", "cvodes", FINE, q, qd)
        series = simulate(fed, run, lambda share: None).whole().series
        x = np.column_stack([series[name] for name in (gains.columns or ())[1:]]) - nominal.states
        u = np.column_stack([series[f"torque.{joint.name}"] for joint in robot.joints]) - nominal.tau
        return cost(nominal.times, x, u, Q, R) + float(x[-1] @ P[-1] @ x[-1])

    try:
        whole = paid(nominal.states[0] + start)
        jumping = [t for t in pieces.jumping.tolist() if 0 < t < end]
        alone = paid(nominal.states[0]) if jumping else 0.0
    except Failure as error:
        told.append(f"the robot itself does not come back from the deviation: {error}")
        return {}
    if alone > SMEARED * whole:
        times = f"t = {jumping[0]:.4g} s" + (f" and {len(jumping) - 1} times more" if len(jumping) > 1 else "")
        told.append(
            f"{alone:.2g} of cost_simulated is there without any deviation: contacts or corners of the motion make "
            f"torques jump at {times}, and what stands in rows goes smoothly from one to the next"
        )
    told += told_of_cost(float(start @ P[0] @ start), whole - alone)
    return {"cost_simulated": whole}
