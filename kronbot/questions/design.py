"""The question ``design``: gains of a state feedback about an equilibrium, an observer, or an input shaper."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from io import StringIO

import numpy as np

from kronbot.compute.arrays import NamedArray, Scalar
from kronbot.description.controlling import Control, StateFeedback
from kronbot.description.expressions.expression import parse
from kronbot.description.gains import AT, ROW, SEEN, TORQUE
from kronbot.description.schema import JointDrive, Simulate
from kronbot.description.table import Table
from kronbot.description.wording import listing, unknown
from kronbot.errors import Argument, Failure, Interrupted, UsageError
from kronbot.floats import Array
from kronbot.mechanics.control.closed_loop import estimated, with_feedback
from kronbot.mechanics.control.feedback import (
    Reached,
    costless,
    disk_margin,
    filtered,
    idle_directions,
    observer,
    placed,
    reached,
    regulator,
    stirred,
)
from kronbot.mechanics.linear.deflation import SecondOrder
from kronbot.mechanics.linear.modal import ACCURACY, Modes, of_first_order
from kronbot.mechanics.linear.pole import Pole
from kronbot.mechanics.linear.spectrum import poles as poles_of
from kronbot.mechanics.linear.state_space import LOST, margins
from kronbot.mechanics.motion.integration import Tolerances
from kronbot.model.build import build
from kronbot.model.joint import DrivenJoint
from kronbot.model.robot import Robot
from kronbot.questions.at_rows import at_rows
from kronbot.questions.closed_loop import MARGINS, margin_numbers
from kronbot.questions.costs import UNPAID, cost, paid, told_of_cost
from kronbot.questions.designed_poles import both, in_words, reached_of, told_of_passive, told_of_poles, told_poles
from kronbot.questions.designed_shaper import shaper
from kronbot.questions.elements import falling
from kronbot.questions.limits import told_of_rows, told_of_start
from kronbot.questions.linearize import Found, Linearization, Point
from kronbot.questions.outline import Given, Outline, numbered
from kronbot.questions.result import Outcome, Result
from kronbot.questions.signals import Choice
from kronbot.questions.simulate import Run, simulate
from kronbot.questions.validity import told_of_validity
from kronbot.records import dataclass

PURPOSE = "design"
# The simulation that a predicted cost is compared with: so many time constants, and rows.
LONG, ROWS = 8.0, 4000
FALLS = (
    "the base falls, that of this model does not, as if constant forces held it: joints of an arm that falls or floats "
    "move as without gravity, and the gains for them are those of gravity: [0, 0, 0]; base: {type: fixed} stands still"
)
# Deviations of motors that costs are told for, rad or m, where nobody says others: as a share of ranges that are small.
AWAY, OF_RANGE = 0.01, 0.1
# It is left out where it would last longer by the fastest pole.
LIMIT = 1e5
FILE = "gains.csv"
NOTHING: Mapping[str, float] = {}


@dataclass(frozen=True)
class Wish:
    """What is asked for: the best feedback (``lqr``), one with ``poles``, or a ``shaper`` of that type.

    ``weights`` of states and ``effort`` of joints by name weigh squares; along the file's ``motion`` gains are those of
    so long a ``duration`` (s, by default its period, or its length); ``noise`` has densities of sensors by state,
    and of torques by their names; ``deviation`` is where the run begins that the cost is compared with, by state.
    """

    lqr: bool = False
    poles: Sequence[complex] = ()
    shaper: str | None = None
    weights: Mapping[str, float] | None = None
    effort: Mapping[str, float] | None = None
    noise: Mapping[str, float] | None = None
    deviation: Mapping[str, float] | None = None
    motion: bool = False
    duration: float | None = None


def design_at_rows(
    robot: Robot, points: Sequence[Point], locked: frozenset[int], wish: Wish, progress: Callable[[float], None]
) -> Outcome:
    """The same at many points, as stacks, with coordinates (``q``) and the numbers of margins; nothing is simulated.

    Raises what the first raises.
    """
    words, units = MARGINS[:-1], {"rows": ("1", "rad/s", "rad", "1")}

    def ask(i: int) -> Result:
        answer = design(robot, points[i], locked, wish, None).result
        q = np.array([*answer.at["q"].values()])
        arrays = {"q": NamedArray(q, robot.coordinates, {"rows": list(robot.units)}), **answer.arrays}
        if wish.shaper is None:
            margins = np.array([answer.summary[word] for word in words])
            arrays["margins"] = NamedArray(margins, words, units)
        return replace(answer, arrays=arrays)

    return at_rows(ask, len(points), progress)


def design(
    robot: Robot, point: Point, locked: frozenset[int], wish: Wish, progress: Callable[[float], None] | None
) -> Outcome:
    """The design about the equilibrium at the joints of a point; without a watch its cost is not simulated.

    Where somebody interrupts that simulation the gains are told, with the error.

    Raises UsageError for names that are none, ComputationError where there is no equilibrium or no such feedback.
    """
    if wish.shaper is not None:
        return Outcome(shaper(robot, point, locked, wish.shaper), None)
    found = Linearization(robot, Choice(locked, ("torques",), ()), True).found(point)
    system, free = found.solution.system, robot.others(locked)
    driven = [joint for joint in robot.joints if joint.driven not in locked]
    if not driven:
        raise UsageError("all joints are locked: no torque is left to design")
    places = [list(robot.joints).index(joint) for joint in driven]
    E, dE = (rows["E"].reshape(robot.n, -1)[free][:, places] for rows in (found.values, found.errors))
    n, names = len(free), [robot.coordinates[place] for place in free]
    states = [*names, *(f"{name}_dot" for name in names)]
    poles = found.solution.poles  # which demands a regular M
    A, B = of_first_order(system.M, system.D, system.K, E)
    lost, idle = _unmoved(system, E, dE, poles)
    rest = reached(system, A, B, lost, idle)
    inputs = [f"torque.{joint.name}" for joint in driven]
    Q, R = weighing(robot, wish, driven, states)
    summary: dict[str, Scalar] = {"states": 2 * n, "reached": len(rest.A)}
    unreached = in_words(lost, idle, names) if len(rest.A) < 2 * n else []
    summary |= {"unreached": ", ".join(unreached)} if unreached else {}
    kept = costless([pole for pole in poles if pole not in lost], Q)
    K, P = regulator(rest, Q, R, in_words(kept, idle[:, :0], names)) if wish.lqr else (placed(rest, wish.poles), None)
    loop = with_feedback(system, E, dE, K)
    closed = Modes(reached_of(poles_of(loop), lost, len(rest.A)), n)
    told = told_of_validity(robot, found.point.q, found.point.qd, locked)
    falls = falling(robot, found.point.q)
    told += [FALLS] if falls else []
    told += told_of_poles(loop, closed, wish.lqr, wish.poles)
    summary |= margin_numbers(*disk_margin(rest.A, rest.B, K @ rest.N, both(closed.poles)))
    at = np.concatenate([found.point.q[free], np.zeros(n)])
    gains = np.vstack([np.concatenate([[0.0], at]), np.column_stack([np.asarray(found.point.tau)[places], K])])
    rows = [AT, *(f"{ROW}{joint.name}" for joint in driven)]
    arrays = {
        "gains": NamedArray(gains, rows, "SI", [TORQUE, *states]),
        "K": NamedArray(K, inputs, "SI", states),
        **told_poles(closed),
    }
    arrays |= {} if P is None else {"P": NamedArray((P + P.T) / 2, states, "SI", states)}
    if wish.noise is not None:
        seen = _observer(system, (A, B, rest), (E, dE), (poles, lost, idle), at, wish.noise, states, inputs)
        C = np.eye(2 * n)[[states.index(name) for name in seen["L"].columns or ()]]
        every = np.concatenate([both(closed.poles), both(seen["observer_poles"].values)])
        summary["filtered_disk_margin"] = disk_margin(*filtered(rest, C, K, seen["L"].values), every)[0]
        arrays |= seen
    stopped = None
    alone = "the gains" + " and the filter" * (wish.noise is not None)
    alone += f" leave {'it' if len(unreached) == 1 else 'them'} alone"
    told += told_of_passive(robot, wish.effort or (), np.asarray(found.point.tau), system.K, free)
    told += [f"no torque reaches {listing(unreached, 3)}: {alone}"] if unreached else []
    slowest, fastest = float(np.abs(closed.poles.real).min()), float(np.abs(closed.poles).max())
    if P is not None:
        model = found, P, Q, R, free, driven, slowest, fastest
        costs, doubts, stopped = _costs(robot, wish, arrays["gains"], model, None if falls else progress)
        summary |= costs
        told += doubts
    named = {"q": robot.by_name(found.point.q)}
    named["tau"] = dict(zip((joint.name for joint in robot.joints), np.asarray(found.point.tau).tolist(), strict=True))
    return Outcome(Result(PURPOSE, robot.name, robot.order, named, arrays, {}, summary, told, about=robot), stopped)


def weighing(robot: Robot, wish: Wish, driven: Sequence[DrivenJoint], states: Sequence[str]) -> tuple[Array, Array]:
    """Q and R. Raises UsageError."""
    R = np.diag(_by_name(wish.effort, [joint.name for joint in driven], "effort", 1.0, positive=True))
    usual = {robot.coordinates[joint.driven]: 1.0 for joint in driven}
    return np.diag(_by_name(wish.weights if wish.weights is not None else usual, states, "weights", 0.0)), R


def away(robot: Robot, wish: Wish, states: Sequence[str]) -> Array:
    """The deviation that costs are told for. Raises UsageError."""
    x, ranges = dict.fromkeys(states, 0.0), {each.joint: each.high - each.low for each in robot.limits}
    motors = {robot.coordinates[joint.driven]: ranges.get(joint.name, np.inf) for joint in robot.joints}
    usual = {name: min(AWAY, OF_RANGE * motors[name]) for name in motors if name in states}
    for name, value in (wish.deviation if wish.deviation is not None else usual).items():
        if name not in x:
            raise unknown(name, states, Argument("deviation"), ": no ", behind=" here")
        x[name] = value
    return np.array([*x.values()])


def _by_name(
    given: Mapping[str, float] | None, known: Sequence[str], word: str, default: float, positive: bool = False
) -> Array:
    values = dict.fromkeys(known, default)
    for name, value in (given or {}).items():
        if name not in values:
            raise unknown(name, known, Argument(word), ": no ", behind=" here")
        if value < 0 or (positive and value == 0):
            raise UsageError(
                Argument(word), f": that of {name} must be {'positive' if positive else 'at least 0'}, not {value:g}"
            )
        values[name] = value
    return np.array(list(values.values()))


def _unmoved(system: SecondOrder, E: Array, dE: Array, poles: Sequence[Pole]) -> tuple[list[Pole], Array]:
    """Swinging poles that forces E u do not move, as far as its errors tell, and free directions that they do not."""
    table = np.asarray(margins(system.M, E, np.eye(2 * len(system.M))[:1], poles, dE).table)
    unseen = [pole for pole, each in zip(poles, table, strict=True) if each[0] <= max(LOST, each[1])]
    return [pole for pole in unseen if not pole.free], idle_directions([pole for pole in poles if pole.free], E)


def _observer(
    system: SecondOrder,
    model: tuple[Array, Array, Reached],
    forces: tuple[Array, Array],
    moving: tuple[Sequence[Pole], Sequence[Pole], Array],
    at: Array,
    noise: Mapping[str, float],
    states: Sequence[str],
    inputs: Sequence[str],
) -> dict[str, NamedArray]:
    """The Kalman filter, as simulations want it: of densities of noise of torques, and of sensors of a state each."""
    (A, B, rest), (poles, lost, idle) = model, moving
    sensors = {name: value for name, value in noise.items() if name not in inputs}
    if not sensors:
        raise UsageError(Argument("noise"), ": a Kalman filter wants sensors, like q1: 1e-4")
    _by_name(sensors, states, "noise", 0.0, positive=True)
    moved = _by_name({name: value for name, value in noise.items() if name in inputs}, inputs, "noise", 1.0)
    C = np.eye(len(states))[[states.index(name) for name in sensors]]
    E, dE, by_noise = (each[:, moved > 0] for each in (*forces, B))
    still, alone = (_unmoved(system, E, dE, poles)[0], (lost, idle)) if moved.any() else ([], ([], idle[:, :0]))
    reached_so = stirred(system, A, by_noise, still, *alone)
    L = observer(reached_so, C, np.diag(moved[moved > 0] ** 2), np.diag(np.array(list(sensors.values())) ** 2))
    columns = [AT, *(SEEN + name for name in sensors), *inputs, *states]
    return {
        "estimator": NamedArray(np.column_stack([at, L, B, A]), list(states), "SI", columns),
        "L": NamedArray(L, list(states), "SI", list(sensors)),
        **told_poles(Modes(reached_of(estimated(system, A, L, C), lost, len(rest.A)), len(A)), "observer_"),
    }


def _costs(
    robot: Robot,
    wish: Wish,
    gains: NamedArray,
    model: tuple[Found, Array, Array, Array, list[int], Sequence[DrivenJoint], float, float],
    progress: Callable[[float], None] | None,
) -> tuple[dict[str, Scalar], list[str], Interrupted | None]:
    """The cost of coming back from a deviation: of the linear model, and of the robot itself in a simulation.

    Joints that are locked are held where they are. With what is to be said of it, and who interrupted it.
    """
    found, P, Q, R, free, driven, slowest, fastest = model
    states, n = (gains.columns or ())[1:], len(free)
    start = away(robot, wish, states)
    predicted = float(start @ P @ start)
    costs: dict[str, Scalar] = {"cost_predicted": predicted}
    duration = LONG / slowest if slowest else np.inf
    if progress is None:
        return costs, [], None
    if not duration * fastest <= LIMIT:  # also where all poles are 0
        return costs, [f"no cost is simulated: the slowest pole, {slowest:.3g} 1/s, would take {duration:.3g} s"], None
    q = {place: float(found.point.q[place] + start[i]) for i, place in enumerate(free)}
    qd = {place: float(start[n + i]) for i, place in enumerate(free)}
    run = Run(duration, duration / ROWS, "recursive", "dop853", Tolerances(1e-8, 1e-10), q, qd)
    held = {joint.name: float(found.point.q[joint.driven]) for joint in robot.joints if joint not in driven}
    try:
        rows = paid(lambda: simulate(with_gains(robot, gains, held), run, progress).whole()).series
    except Interrupted as error:
        return {**costs, **UNPAID}, [], error
    except Failure as error:
        return costs, [f"the robot itself does not come back from the deviation: {error}"], None
    at, torques = (np.asarray(each) for each in (found.point.q, found.point.tau))
    x = np.column_stack([rows[name] for name in states]) - np.concatenate([at[free], np.zeros(n)])
    tau = np.column_stack(
        [rows[f"torque.{joint.name}"] - torques[i] for i, joint in enumerate(robot.joints) if joint in driven]
    )
    simulated = cost(rows["t"], x, tau, Q, R)
    began = np.array([[rows[name][0] for name in robot.coordinates]])
    told = [f"with the deviation, {each}" for each in (*told_of_start(robot, began[0]), *told_of_rows(robot, began))]
    return {**costs, "cost_simulated": simulated}, [*told, *told_of_cost(predicted, simulated)], None


def with_gains(robot: Robot, gains: NamedArray, held: Mapping[str, float] = NOTHING) -> Robot:
    """The robot with these gains as its control, joints that are ``held`` at values, and no other drives."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if gains.axis is None:
        writer.writerow(["", *(gains.columns or ())])
        writer.writerows([row, *values] for row, values in zip(gains.rows, gains.values.tolist(), strict=True))
    else:
        name, rows = gains.axis
        writer.writerow([name, *(f"gains[{row},{column}]" for row in gains.rows for column in gains.columns or ())])
        writer.writerows(
            [at, *values] for at, values in zip(rows, gains.values.reshape(len(rows), -1).tolist(), strict=True)
        )
    said = robot.description
    standing = {name: JointDrive(motion=parse(repr(value))) for name, value in held.items()}
    control, run = Control(state_feedback=StateFeedback(FILE)), Simulate(drive=standing or None)
    file = replace(said.robot, control=control, simulate=run, motion={})
    tables = {**said.tables, FILE: Table(FILE, text.getvalue())}
    return build(replace(said, robot=file, tables=tables), robot.order)


def outline(robot: Robot, given: Given) -> Outline:
    """What the answer holds."""
    names = robot.coordinates
    states, inputs = [*names, *(f"{name}_dot" for name in names)], [f"torque.{joint.name}" for joint in robot.joints]
    if any(given.get("shaper", ())):
        numbers = ["frequency", "damping", "longer"]
        return Outline(numbers, ["shaper", "model"], {"impulses": (numbered(5), ["t", "amplitude"])})
    if any(given.get("motion", ())):
        stacks = {"gains": ([AT, *inputs], [TORQUE, *states]), "K": (inputs, states), "P": (states, states)}
        numbers = ["states", "duration", "period", "intervals", "cost_predicted", "cost_simulated"]
        return Outline([*numbers, "largest_multiplier"], [], dict(stacks), stacks=list(stacks))
    known = (("poles", None), ("accuracy", list(ACCURACY)))
    arrays: dict[str, tuple[Sequence[str], Sequence[str] | None]] = {
        "gains": ([AT, *inputs], [TORQUE, *states]),
        "K": (inputs, states),
        "P": (states, states),
        "L": (states, states),
        "estimator": (states, [AT, *(SEEN + name for name in states), *inputs, *states]),
        **{side + word: (numbered(len(states)), columns) for side in ("", "observer_") for word, columns in known},
    }
    numbers = ["states", "reached", *MARGINS, "filtered_disk_margin", "cost_predicted", "cost_simulated"]
    return Outline(numbers, ["unreached"], arrays, (), ("disk_margin",), ("poles", "observer_poles"))
