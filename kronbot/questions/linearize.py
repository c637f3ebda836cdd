"""The question ``linearize``: the linear model at a point, at an equilibrium, as formulas, and along a motion."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

import casadi
import numpy as np
from casadi import SX

from kronbot.cached import cached_property
from kronbot.compute.arrays import NamedArray, Scalar
from kronbot.compute.deferred import later, summary_later
from kronbot.compute.question import Quantity, Question
from kronbot.compute.trace import SHARING_LIMIT, Trace, traced
from kronbot.description.choices import INPUTS
from kronbot.floats import Array
from kronbot.mechanics.control.closed_loop import closed, in_states, of_loop, seen_beside
from kronbot.mechanics.linear.frozen import frozen
from kronbot.mechanics.linear.linear_model import LinearModel, rigid_forces
from kronbot.mechanics.linear.modal import Modes
from kronbot.mechanics.linear.modal import arrays as named_modes
from kronbot.mechanics.linear.ports import entering, places_seen, seen
from kronbot.mechanics.linear.rounding import Entries
from kronbot.mechanics.linear.spectrum import Solution, solutions
from kronbot.mechanics.linear.state_space import MARGINS, Margins, StateSpace, errors_of, margins, state_space
from kronbot.mechanics.multibody.recursion import demand_inertia
from kronbot.mechanics.static.small import beyond_small
from kronbot.model.build import numbers_apart, together
from kronbot.model.robot import Robot
from kronbot.questions.at_rows import at_rows, in_batches
from kronbot.questions.balance import Unbalanced, balanced
from kronbot.questions.closed_loop import LOOP, held, numbers_of_loop, told_of_loop
from kronbot.questions.columns import columns_of_control
from kronbot.questions.elements import demand_directions
from kronbot.questions.outline import Given, Labels, Outline, first, matrix_units, modal, numbered, sides
from kronbot.questions.outputs import chosen, named_in
from kronbot.questions.responses import units_of_columns
from kronbot.questions.result import Outcome, Result
from kronbot.questions.signals import OUTPUTS, Choice, Coordinates, coordinates, outputs_seen, signals
from kronbot.questions.validity import told_of_validity
from kronbot.questions.verdict import about_which, balances, told_of_rounding, verdict
from kronbot.records import dataclass

PURPOSE, BEYOND = "linearize", "beyond_small_deflections"


@dataclass(frozen=True)
class Point:
    """The basic motion at an instant: q, qd, qdd (n,), torques (joints,), None for the rigid arm's, force (3,)."""

    q: Array
    qd: Array
    qdd: Array
    tau: Array | None
    force: Array

    @property
    def parts(self) -> list[Array]:
        """All of them, where the torques are known."""
        return [np.asarray(each) for each in (self.q, self.qd, self.qdd, self.tau, self.force)]


@dataclass(frozen=True)
class Found:
    """The numbers of a linear model about a point, by the names of its trace, their errors, and the solution; and
    whether these are ``frozen``, for they change along the motion."""

    point: Point
    values: Mapping[str, Array]
    errors: Mapping[str, Array]
    solution: Solution
    frozen: bool

    @property
    def force_errors(self) -> Array:
        """Bounds of the errors of h (n,): its own, and what errors of M, D, K make of the motion, which may be dust."""
        found, n = self.errors["h"], len(self.point.q)
        for name, motion in zip("MDK", (self.point.qdd, self.point.qd, self.point.q), strict=True):
            errors = self.errors[name]
            found = found + errors.reshape((math.isqrt(errors.size),) * 2)[:n, :n] @ np.abs(motion)
        return found


def formulas(robot: Robot, locked: frozenset[int]) -> Question:
    """M_L, D_L, K_L, h_L about a rigid motion (59) with symbols for joints, their derivatives and their torques."""
    linear = LinearModel.about_any_motion(robot)
    expressions = linear.on_rigid_motion(linear.M_L, linear.D_L, linear.K_L, linear.h_L)
    expressions = [casadi.substitute(part, linear.force, SX.zeros(3, 1)) for part in expressions]
    free = robot.others(locked)
    names = [robot.coordinates[place] for place in free]
    quantities = {
        name: Quantity(part[free, free], names, names, units)
        for name, part, units in zip(("M_L", "D_L", "K_L"), expressions[:3], matrix_units(robot, free), strict=True)
    }
    quantities["h_L"] = Quantity(expressions[3][free, :], names, None, {"rows": robot.force_units(free)})
    joints, given = robot.joints, [*robot.base, *robot.rigid]
    inputs = {word: getattr(linear, word)[given, :] for word in ("q", "qd", "qdd")} | {"tau": linear.tau}
    words = {
        word: [entries[place] for place in given]
        for word, entries in robot.derivative_names(("q", "qd", "qdd")).items()
    }
    words["tau"] = ["tau" if len(joints) == 1 else f"tau.{joint.name}" for joint in joints]
    return Question(robot.parameters, inputs, words, quantities, PURPOSE)


@dataclass(frozen=True)
class Linearization:
    """The linear model of a robot about any motion, traced once, and what follows from it at a point.

    With ``equilibrium`` the modal coordinates are solved for first, and the torques are those that hold it there. With
    ``closed_loop`` the controllers of the file have their part in it.
    """

    robot: Robot
    choice: Choice
    equilibrium: bool
    closed_loop: bool = False

    @cached_property
    def _linear(self) -> LinearModel:
        demand_inertia(self.robot)
        return LinearModel.about_any_motion(numbers_apart(self.robot))

    @cached_property
    def _which(self) -> tuple[Hashable, ...]:
        needed = self.choice.locked if any(each.kind == "power" for each in self.choice.measured) else None
        return tuple(self.choice.inputs), tuple(self.choice.outputs), needed

    @cached_property
    def trace(self) -> Trace:
        """M, D, K, the inputs' E and others, by q, qd, qdd, torques and force."""
        sharing = SHARING_LIMIT if self.choice.measured else 0
        return traced(self.robot, self._which, PURPOSE, self._matrices, sharing=sharing)

    @cached_property
    def _coordinates(self) -> Coordinates:
        key = "coordinates", PURPOSE, self.choice, self.closed_loop
        robot, choice, integrals = self.robot, self.choice, self._integrals
        return robot.own(key, lambda: coordinates(robot, choice, integrals, held(robot, choice.locked, integrals)))

    def _matrices(self) -> tuple[Mapping[str, SX], Mapping[str, SX]]:
        linear = self._linear
        choice = self.choice
        E, P = entering(linear, choice.inputs), places_seen(linear, choice.outputs)
        others = [(each.kind, each.name) for each in choice.measured]
        beside = seen(linear, others, choice.inputs, choice.locked) if others else {}
        inputs = {"q": linear.q, "qd": linear.qd, "qdd": linear.qdd, "tau": linear.tau, "force": linear.force}
        parts = {"M": linear.M_L, "D": linear.D_L, "K": linear.K_L, "h": linear.h_L, "g": linear.forces, "E": E, "P": P}
        return inputs, parts | beside | linear.holding

    @cached_property
    def _loop(self) -> Trace:
        """The same with controllers, where they are asked for."""
        if not self.closed_loop:
            return self.trace

        def parts() -> tuple[Mapping[str, SX], Mapping[str, SX]]:
            inputs, open_loop = self._matrices()
            return inputs, closed(self._linear, open_loop)

        return traced(self.robot, (*self._which, "closed"), PURPOSE, parts)

    @cached_property
    def _integrals(self) -> list[str]:
        return columns_of_control(self.robot) if self.closed_loop else []

    @cached_property
    def _rigid(self) -> Trace:
        """Torques of the rigid arm."""

        def torques() -> tuple[Mapping[str, SX], Mapping[str, SX]]:
            linear = self._linear
            inputs = {"q": linear.q, "qd": linear.qd, "qdd": linear.qdd, "force": linear.force}
            return inputs, {"tau": rigid_forces(self.robot, linear)}

        return traced(self.robot, "rigid", PURPOSE, torques)

    def at(self, point: Point) -> Result:
        """The linear model about a point, with its state space, modes and a verdict.

        Raises ComputationError where M is singular or no equilibrium is found, UsageError where a parameter is free.
        """
        return self.each([self.robot], [point])[0]()

    def found(self, point: Point) -> Found:
        """The numbers of the model about a point. Raises like :meth:`at`."""
        (found,) = self._found([point])
        if isinstance(found, Unbalanced):
            raise found.told(self.robot, PURPOSE)
        demand_directions(self.robot, found.point.q[None])
        return found

    def each(self, robots: Sequence[Robot], points: Sequence[Point]) -> list[Callable[[], Result]]:
        """The same of robots of one structure, each at a point of its own, as what answers or raises one by one."""
        found = self._of(together(robots))._found(points)
        return [partial(self._of(one)._answer, each) for one, each in zip(robots, found, strict=True)]

    def _of(self, robot: Robot) -> Linearization:
        return self if robot is self.robot else replace(self, robot=robot)

    def _answer(self, found: Found | Unbalanced) -> Result:
        if isinstance(found, Unbalanced):
            raise found.told(self.robot, PURPOSE)
        robot, point = self.robot, found.point
        demand_directions(robot, point.q[None])
        at = {"q": point.q, "qd": point.qd, "qdd": point.qdd}
        named = {word: robot.by_name(entries) for word, entries in at.items()}
        named["tau"] = dict(zip((joint.name for joint in robot.joints), np.asarray(point.tau).tolist(), strict=True))
        arrays, summary = self._numbers(found)
        told = [
            *told_of_validity(robot, point.q, point.qd, self.choice.locked),
            *told_of_rounding(found.solution.system, found.solution.poles),
        ]
        if self.closed_loop:
            loop = found.values, self._coordinates.own, found.solution.system.M, arrays["A"]
            told += told_of_loop(robot, point.q, np.asarray(point.tau).ravel(), *loop, found.solution.poles)
        return Result(PURPOSE, robot.name, robot.order, named, arrays, {}, summary, told, about=robot)

    def _numbers(self, given: Found) -> tuple[dict[str, NamedArray], Mapping[str, Scalar]]:
        """Arrays and summary from the numbers of the linear model."""
        robot, choice, at = self.robot, self.choice, self._coordinates
        values, system = given.values, given.solution.system
        free, own, names, states, inputs, outputs = at.free, at.own, at.names, at.states, at.inputs, at.outputs
        count, beside = len(free), len(own) - len(free)
        found = of_loop(given.solution.poles, count) if beside else given.solution.poles
        h = np.where(np.abs(values["h"]) <= given.force_errors, 0.0, values["h"])[free]  # balanced to rounding
        size = robot.n + len(self._integrals)
        E, dE = (rows["E"].reshape(size, len(inputs))[own, :] for rows in (values, given.errors))
        outputs, *seen_of = outputs_seen(robot, values, given.errors, outputs, len(inputs), free, choice)
        measured, uncertain = (seen_beside(each, beside) for each in seen_of)
        shapes, plain = [p.among(count) for p in found] if beside else found, slice(0, count)
        matrices = zip(("M_L", "D_L", "K_L"), system.without_dust, at.matrices, strict=True)
        arrays = {name: NamedArray(A[plain, plain], names, units, names) for name, A, units in matrices}

        @cache
        def every() -> StateSpace:
            return state_space(system, E, measured, uncertain)

        @cache
        def wrong() -> StateSpace:
            return errors_of(every(), system, measured, uncertain, E, dE)

        @cache
        def space() -> StateSpace:
            return in_states(every().without_dust(system, E, measured, wrong()), count, beside)

        arrays |= {
            "h_L": NamedArray(h, names, at.forces),
            "A": later("A", lambda: space().A, states, "SI", states),
            "B": later("B", lambda: space().B, states, "SI", inputs),
            "C": later("C", lambda: space().C, outputs, "SI", states),
            "D": later("D", lambda: space().D, outputs, "SI", inputs),
            **named_modes(Modes(shapes, count), names),
        }

        @cache
        def reached() -> Margins:
            return margins(system.M, E, every().C, found, dE, wrong().C)

        def summary() -> dict[str, Scalar]:
            largest = float(np.abs(h).max(initial=0.0))
            about = about_which(robot, self.trace, given.point.parts, free, balances(h, values["g"]), given.frozen)
            beyond = beyond_small(robot, given.point.q[None], PURPOSE).any()
            said: dict[str, Scalar] = {"states": len(states), **reached().counts, "largest_h_L": largest}
            if self.closed_loop:
                said |= numbers_of_loop(robot, values["gains"], own, system.M[plain, plain], space().A, found)
            said |= verdict(robot, system, found, about, choice.locked, given.frozen)
            if self.closed_loop:
                said["verdict"] = f"closed loop: {said['verdict']}"
            return said | ({BEYOND: True} if beyond else {})

        arrays["margins"] = later(
            "margins", lambda: reached().table, [str(i + 1) for i in range(len(found))], "1", MARGINS
        )
        return arrays, summary_later(summary)

    def _found(self, points: Sequence[Point]) -> list[Found | Unbalanced]:
        """The numbers of the linear models about points."""
        q, qd, qdd, force = (np.array([getattr(p, word) for p in points]) for word in ("q", "qd", "qdd", "force"))
        lost: Mapping[int, Unbalanced] = {}
        if self.equilibrium:
            q, lost = balanced(self.robot, self.trace, q, qd, qdd, force, PURPOSE)
            still = np.zeros((len(points), len(self.robot.joints)))
            torques = -self.trace.rows(q, qd, qdd, still, force)["h"][:, list(self.robot.rigid)]
        elif points[0].tau is None:
            torques = self._rigid.rows(q, qd, qdd, force)["tau"]
        else:
            torques = np.array([point.tau for point in points])
        basic = (q, qd, qdd, torques, force)
        entries, names = Entries.at(self._loop, basic), [*self.robot.coordinates, *self._integrals]
        at = self._coordinates
        solved, own = solutions(entries, names, at.locked), at.own
        values, errors = (
            [{name: each[i].copy() for name, each in rows.items()} for i in range(len(points))]
            for rows in (entries.values, entries.errors)
        )
        placed = [replace(point, q=there, tau=tau) for point, there, tau in zip(points, q, torques, strict=True)]
        parts = placed, values, errors, solved, frozen(entries, own)
        found = [Found(*each) for each in zip(*parts, strict=True)]
        return [lost.get(i, each) for i, each in enumerate(found)]

    def at_rows(self, points: Sequence[Point], progress: Callable[[float], None]) -> Outcome:
        """The same at many points, as stacks; with them where they are (``q``) and the torques there (``tau``)."""
        labels = {
            "q": (self.robot.coordinates, self.robot.units),
            "tau": ([joint.name for joint in self.robot.joints], self.robot.force_units(self.robot.rigid)),
        }
        found = in_batches(lambda rows: self._found(points[rows]), len(points))

        def ask(i: int) -> Result:
            answer = self._answer(found(i))
            place = {
                word: NamedArray(np.array(list(answer.at[word].values())), names, {"rows": list(units)})
                for word, (names, units) in labels.items()
            }
            return replace(answer, arrays={**place, **answer.arrays})

        return at_rows(ask, len(points), progress)


def outline(robot: Robot, given: Given) -> Outline:
    """What the answer holds: matrices, state space and modes, of which the free coordinates are a part."""
    names = robot.coordinates
    loop = any(given.get("closed_loop", ()))
    integrals = columns_of_control(robot) if loop else []
    states = [*names, *(f"{name}_dot" for name in names), *integrals]
    asked = {
        side: [str(word) for each in given.get(side, ()) for word in named_in(each)] for side in ("inputs", "outputs")
    }
    outputs = chosen(robot, asked["outputs"] or OUTPUTS)
    enter, leave = signals(robot, Choice(frozenset(), asked["inputs"] or INPUTS, outputs))
    arrays: dict[str, Labels] = dict.fromkeys(("M_L", "D_L", "K_L"), (names, names))
    arrays |= {"h_L": (names, None), "A": (states, states), "B": (states, enter), "C": (leave, states)}
    arrays |= {"D": (leave, enter), **modal(names, beside=len(integrals))}
    arrays["margins"] = numbered(len(states)), MARGINS
    words = ["states", "controllable", "observable", "largest_h_L", *(LOOP if loop else ()), "free_coordinates"]
    words += ["largest_growth_rate", BEYOND]
    usual = first("frequencies", robot, "all" not in given.get("lock", ()))
    kinds = [str(kind) for kind in given.get("response", ()) if kind]
    texts = ["verdict", "controllable_doubt", "observable_doubt", *["response"] * bool(kinds)]
    responses = units_of_columns(robot, kinds[0], leave, enter) if kinds else {}
    matrices = zip(("M_L", "D_L", "K_L"), matrix_units(robot, [*range(robot.n)]), strict=True)
    units = {name: sides(names, each["rows"], names, each["columns"]) for name, each in matrices}
    units["h_L"] = units["M_L"][0], {}
    shown = [*responses], usual, ("poles", "shapes")
    return Outline(words, texts, arrays, *shown, units=units, of_series=responses)
