"""The question ``modes``: natural frequencies and shapes at a posture and spin rate, and how they converge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from operator import or_

import numpy as np
from casadi import SX

from kronbot.cached import cached_property
from kronbot.compute.arrays import NamedArray, Scalar
from kronbot.compute.deferred import summary_later
from kronbot.compute.trace import Trace, traced
from kronbot.description.limits import MODES
from kronbot.description.schema import Modes as ModeCounts
from kronbot.errors import Argument, ComputationError, DescriptionError, UsageError
from kronbot.floats import Array
from kronbot.mechanics.linear.deflation import SecondOrder
from kronbot.mechanics.linear.frozen import frozen
from kronbot.mechanics.linear.linear_model import LinearModel
from kronbot.mechanics.linear.modal import Modes
from kronbot.mechanics.linear.modal import arrays as named_modes
from kronbot.mechanics.linear.pole import Pole
from kronbot.mechanics.linear.rounding import Entries
from kronbot.mechanics.linear.spectrum import Solution, solutions
from kronbot.mechanics.multibody.recursion import demand_inertia
from kronbot.mechanics.multibody.size import demand_tractable
from kronbot.model.build import build, numbers_apart, together
from kronbot.model.robot import Robot
from kronbot.questions.at_rows import at_rows, in_batches
from kronbot.questions.elements import demand_directions, falling
from kronbot.questions.outline import Given, Labels, Outline, first, modal, numbered
from kronbot.questions.result import Outcome, Result
from kronbot.questions.validity import told_of_validity
from kronbot.questions.verdict import model_in_words, told_of_rounding, verdict
from kronbot.records import dataclass

PURPOSE = "modes"
# Nodes of M, D and K among which common parts are looked for: a third fewer of more are worth hundreds of postures.
SHARING = 20_000


@dataclass(frozen=True)
class Found:
    """The modes of a case, and whether their coefficients are ``frozen``, for they change as joints spin."""

    solution: Solution
    frozen: bool


@dataclass(frozen=True)
class Vibrations:
    """The linear model of a robot about straight postures in steady spin, traced once, and its modes at any of them."""

    robot: Robot

    @cached_property
    def trace(self) -> Trace:
        """M, D, K as functions of q, qd (n,), of which modal coordinates are taken as zero."""
        return traced(self.robot, "matrices", PURPOSE, self._matrices, sharing=SHARING)

    def _matrices(self) -> tuple[Mapping[str, SX], Mapping[str, SX]]:
        demand_inertia(self.robot)
        linear = LinearModel.about_any_motion(numbers_apart(self.robot))
        parts = dict(zip("MDK", linear.in_steady_spin(), strict=True))
        held = dict(zip(linear.holding, linear.on_rigid_motion(*linear.holding.values()), strict=True))
        return {"q": linear.q, "qd": linear.qd}, parts | held

    def entries(self, q: Array, qd: Array) -> Entries:
        """M, D, K at postures and rates (N, n)."""
        return Entries.at(self.trace, (q, qd))

    def idle(self, q: Array, entries: Entries | None = None) -> list[frozenset[int]]:
        """By posture q (N, n) the places of the joints that move nothing there: inertia and weight are 0.

        M of ``entries`` at these postures, at any rates, shows where all move something.
        """
        n, known = self.robot.n, None if entries is None else entries.values["M"]
        if known is not None and (np.diagonal(known.reshape(len(known), n, n), axis1=1, axis2=2) > 0).all():
            return [frozenset() for _ in q]
        values = self.trace.rows(q, np.zeros_like(q))
        M, K = (values[name].reshape(len(q), n, n) for name in "MK")
        moved = (np.diagonal(M, axis1=1, axis2=2) > 0) | K.any(axis=1) | K.any(axis=2)
        return [frozenset(self.robot.rigid).difference(np.flatnonzero(row).tolist()) for row in moved]

    def found(self, entries: Entries, held: frozenset[int]) -> list[dict[str, Found]]:
        """By case (``_cases``) what is found at the postures and rates of entries."""
        names, cases = self.robot.coordinates, _cases(self.robot, held)
        solved = {"free": solutions(entries, names, cases["free"])}
        solved["locked"] = solutions(entries, names, cases["locked"], solved["free"])
        by_case = {}
        for case, locked in cases.items():
            still = frozen(entries, self.robot.others(locked))
            by_case[case] = [Found(*each) for each in zip(solved[case], still, strict=True)]
        return [dict(zip(by_case, each, strict=True)) for each in zip(*by_case.values(), strict=True)]

    def at(
        self,
        found: Mapping[str, Found],
        q: Array,
        qd: Array,
        moving: frozenset[int],
        idle: frozenset[int],
        tables: Mapping[str, NamedArray] | None = None,
    ) -> Result:
        """Modes with joints locked and with joints free but for those that move, and those that move nothing.

        ``tables`` are their convergence. Raises ComputationError where M is singular, where that is so with free joints
        only with the locked ones as ``partial``.
        """
        robot = self.robot
        joints = list(robot.rigid)
        basic = "steady spin, straight beams, moving joints locked" if moving else "the straight posture at rest"
        if not robot.gravity.is_zero():
            if falling(robot, q):
                basic += ", falling freely"
            elif robot.flexible:
                beams = any(link.beam is not None for link in robot.links)
                basic += f", without the {'sag of beams' if beams else 'twist of shafts and bearings'}"
        spinning = [joint.name for joint in robot.joints if joint.driven in moving]
        named = [joint.name for joint in robot.joints]
        rates, posture = (dict(zip(named, values[joints].tolist(), strict=True)) for values in (qd, q))
        arrays: dict[str, NamedArray] = {}
        said: list[Callable[[], Mapping[str, Scalar]]] = []
        still = sorted(robot.coordinates[place] for place in idle - moving)
        warned = [f"{name} moves no inertia of its own and stays locked" for name in still]
        warned += told_of_validity(robot, q, qd)

        def answer() -> Result:
            at, summary = {"q": posture, "qd": rates}, summary_later(lambda: reduce(or_, (each() for each in said), {}))
            return Result(PURPOSE, robot.name, robot.order, at, arrays, {}, summary, warned, about=robot)

        for case, locked in _cases(robot, moving | idle).items():
            solution = found[case].solution
            try:
                poles = solution.poles
            except ComputationError as error:
                if arrays:
                    said.append(lambda: {"complete": False})
                    error.partial = answer()
                raise
            arrays |= named_modes(Modes(poles, len(solution.names)), solution.names, f"_{case}")
            warned += told_of_rounding(solution.system, poles, f" with {case} joints")
            if tables is not None:
                arrays[f"convergence_{case}"] = tables[case]
            told = robot, solution.system, poles, f"about {basic}", locked, found[case].frozen
            stays = "moves and stays locked" if len(spinning) == 1 else "move and stay locked"
            held = f"; {', '.join(spinning)} {stays}" if spinning and case == "free" else ""
            said.append(partial(_said, case, told, held))
        return answer()


def _said(
    case: str, told: tuple[Robot, SecondOrder, Sequence[Pole], str, frozenset[int], bool], held: str
) -> dict[str, Scalar]:
    """The verdict on the poles of a case, and the model it is about, in which joints may be ``held``."""
    robot, _, poles, _, locked, _ = told
    said = verdict(*told) if poles else {}
    if not str(said.get("verdict", "")).startswith("unstable"):
        said.pop("largest_growth_rate", None)
    said["model"] = f"{model_in_words(robot, locked)}{held}"
    return {f"{word}_{case}": value for word, value in said.items()}


def vibration(
    robot: Robot, q: Array, qd: Array, largest: int | None, progress: Callable[[float], None] = lambda share: None
) -> Result:
    """Frequencies, damping ratios and shapes with joints locked and with joints free, about the rigid motion at q, qd.

    Modal coordinates are at rest and straight; gravity and spin enter the stiffness. Joints that move stay locked in
    both, and so do those that move no inertia of their own. With ``largest`` also tables of the first frequencies over
    1 ... largest modes a direction. Raises ComputationError where M is singular, UsageError where a parameter is free
    or modal coordinates are given.
    """
    moving, model = _moving(robot, q[None], qd[None]), Vibrations(robot)
    entries = model.entries(q[None], qd[None])
    idle = model.idle(q[None], entries)[0]
    tables = None if largest is None else _convergence(robot, q, qd, moving | idle, largest, progress)
    return model.at(model.found(entries, moving | idle)[0], q, qd, moving, idle, tables)


def each(robots: Sequence[Robot], points: Sequence[tuple[Array, Array]]) -> list[Callable[[], Result]]:
    """The same of robots of one structure, each at its own q, qd (n,), as what answers or raises one by one."""
    q, qd = (np.array(rows) for rows in zip(*points, strict=True))
    moving = [_moving(robot, q[i : i + 1], qd[i : i + 1]) for i, robot in enumerate(robots)]
    every = Vibrations(together(robots))
    entries = every.entries(q, qd)
    idle = every.idle(q, entries)
    alike: dict[frozenset[int], list[int]] = {}
    for i, held in enumerate(map(frozenset.union, moving, idle)):
        alike.setdefault(held, []).append(i)
    answers: dict[int, Callable[[], Result]] = {}
    for held, rows in alike.items():
        if len(alike) > 1:
            every = Vibrations(together([robots[i] for i in rows]))
            entries = every.entries(q[rows], qd[rows])
        for i, own in zip(rows, every.found(entries, held), strict=True):
            answers[i] = partial(Vibrations(robots[i]).at, own, q[i], qd[i], moving[i], idle[i])
    return [answers[i] for i in range(len(robots))]


def vibrations(robot: Robot, q: Array, qd: Array, progress: Callable[[float], None]) -> Outcome:
    """The same at rows (N, n), as stacks; joints that move in some row stay locked in all of them.

    A row with fewer modes than others (pairs of poles that creep are two) ends with zeros, whose ``count`` is 0.
    """
    moving, model = _moving(robot, q, qd), Vibrations(robot)
    idle = frozenset.intersection(*model.idle(q))
    found = in_batches(lambda rows: model.found(model.entries(q[rows], qd[rows]), moving | idle), len(q))
    return at_rows(lambda i: model.at(found(i), q[i], qd[i], moving, idle), len(q), progress)


def _moving(robot: Robot, q: Array, qd: Array) -> frozenset[int]:
    """Places of the joints that move in some row (N, n).

    Raises UsageError where something is deformed, ComputationError where an element has no direction.
    """
    _demand_undeformed(robot, q, qd)
    demand_directions(robot, q)
    if not qd.any():
        return frozenset()
    if qd[:, list(robot.base)].any():
        raise UsageError("modes are those about a floating base that does not turn: give rates of joints only")
    return frozenset(i for i in robot.rigid if qd[:, i].any())


def _demand_undeformed(robot: Robot, q: Array, qd: Array) -> None:
    """Raise UsageError, naming the first coordinate, where something is deformed, or is being deformed, in some row."""
    for names, values, rest in (
        (robot.coordinates, q, robot.undeformed(q)),
        (robot.derivative_names(["qd"])["qd"], qd, robot.undeformed_rates(qd)),
    ):
        for row, place in np.argwhere(values != rest)[:1].tolist():
            told = f"{names[place]} is {rest[row, place]:.6g} there, not {values[row, place]:.6g}"
            raise UsageError(f"modes are those of a robot that is not deformed: {told}; leave it out")


def _cases(robot: Robot, moving: frozenset[int]) -> dict[str, frozenset[int]]:
    """Places of the joints that are held, by the name of the case."""
    return {"locked": frozenset(robot.rigid), "free": moving}


def _convergence(
    robot: Robot, q: Array, qd: Array, held: frozenset[int], largest: int, progress: Callable[[float], None]
) -> dict[str, NamedArray]:
    """By case a table with rows of 1 ... largest modes in every direction that has any.

    Joints at ``held`` stay locked in both. Columns are the frequencies of what swings, as many as the first row has.
    """
    demand_tractable(_with_modes(robot, largest))  # before the work that leads there
    places = list(robot.rigid)
    rows: dict[str, list[Array]] = {case: [] for case in _cases(robot, held)}
    for count in range(1, largest + 1):
        other = Vibrations(_with_modes(robot, count))
        joints = list(other.robot.rigid)
        full_q, full_qd = np.zeros(other.robot.n), np.zeros(other.robot.n)
        full_q[joints], full_qd[joints] = q[places], qd[places]
        still = frozenset(joint for place, joint in zip(places, joints, strict=True) if place in held)
        found = other.found(other.entries(full_q[None], full_qd[None]), still)[0]
        for case, locked in _cases(other.robot, still).items():
            modes = Modes(found[case].solution.poles, other.robot.n - len(locked))
            rows[case].append(modes.frequencies[modes.swinging])
        progress((count / largest) ** 3)
    return {case: _table(each) for case, each in rows.items()}


def _table(rows: Sequence[Array]) -> NamedArray:
    width = min(map(len, rows))
    counts, numbers = ([str(k + 1) for k in range(size)] for size in (len(rows), width))
    return NamedArray(np.array([row[:width] for row in rows]), counts, "rad/s", numbers)


def _with_modes(robot: Robot, count: int) -> Robot:
    """The same robot with that many modes in every direction that has any."""
    links = []
    for link in robot.file.links:
        if link.flexible is not None:
            own = link.flexible.modes
            counts = ModeCounts(*(count if n else 0 for n in (own.v, own.w, own.torsion)))
            damping = link.flexible.damping
            if isinstance(damping.ratio, tuple):
                text = f": link {link.name!r} lists its damping ratios one by one; "
                raise UsageError(Argument("convergence"), f"{text}write one for all modes, {{ratio: 0.01}}")
            link = replace(link, flexible=replace(link.flexible, modes=counts))
        links.append(link)
    file = replace(robot.file, links=tuple(links))
    try:
        return build(replace(robot.description, robot=file), robot.order)
    except DescriptionError as error:  # a table with fewer shapes
        raise UsageError(Argument("convergence"), f": {error}") from None


def outline(robot: Robot, given: Given) -> Outline:
    """What the answer holds: the modes with joints locked and with joints free."""
    arrays: dict[str, Labels] = {}
    largest = max((each for each in given.get("convergence", ()) if isinstance(each, int)), default=0)
    largest = min(largest, MODES)
    locked = [robot.coordinates[place] for place in (*robot.base, *robot.flexible)]
    cases = {"locked": locked, "free": robot.coordinates}
    for case, names in cases.items():
        arrays |= modal(names, f"_{case}")
        if largest:
            arrays[f"convergence_{case}"] = numbered(largest), numbered(len(names))
    numbers = [f"{word}_{case}" for word in ("free_coordinates", "largest_growth_rate") for case in cases]
    texts = [f"{word}_{case}" for word in ("verdict", "model") for case in cases]
    usual = [name for case in cases for name in first(f"frequencies_{case}", robot, case == "free")]
    uneven = [f"{word}_{case}" for word in ("poles", "shapes") for case in cases]
    return Outline(numbers, texts, arrays, (), usual, uneven)
