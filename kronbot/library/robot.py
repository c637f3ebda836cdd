"""A robot whose methods are the questions of the command line.

Each imports what it needs when it is asked: all of it would double the time to a first Jacobian.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import numpy as np

from kronbot import description
from kronbot.description import limits
from kronbot.errors import Argument, UsageError
from kronbot.library import arguments
from kronbot.library.answering import complete, in_words, of_rows, watcher, with_limits
from kronbot.library.arguments import Progress, Scalar, unheeded
from kronbot.library.pointwise import Pointwise
from kronbot.library.values import AXES, Values, by_place, joint_values, places_of, points
from kronbot.model import build, robot
from kronbot.questions.result import Result

if TYPE_CHECKING:
    from kronbot.library.exporting import Export
    from kronbot.library.statics import Vectors


class Robot(Pointwise):
    """The model of one robot at one kinematic order, and the questions that it answers.

    Made by :func:`kronbot.load`. Coordinates ``q``, rates ``qd`` and accelerations ``qdd`` are given by name
    (``{"q1": 0.1, "upper.v1": "l/50"}``, others are 0), as all n values or those of the joints alone, or, where a
    method says so, as rows of them (an array (N, n), a list of lists, or columns by name). Numbers are SI and radians,
    or expressions over the file's parameters. Every answer is a :class:`kronbot.questions.result.Result`. Every method
    raises UsageError for a name, a number of values or a choice that is not there, FreeParameters where a parameter has
    no value.
    """

    @classmethod
    def of(cls, model: robot.Robot) -> Robot:
        """The same model (a :class:`kronbot.model.robot.Robot`) with its questions. Raises UsageError for no model."""
        if not isinstance(model, robot.Robot):
            raise UsageError(f"model: the model of a robot is wanted, not {arguments.shown(model)}")
        return cls(**{field.name: getattr(model, field.name) for field in fields(model)})

    def at_order(self, order: str | int) -> Robot:
        """The same robot at another kinematic order: "0", "1", "2" or "exact". Raises UsageError for another."""
        return Robot.of(build.build(self.description, arguments.order(order)))

    def with_motion(self, motion: str) -> Robot:
        """The same robot with another motion: YAML text as in a file, ``q1: {type: sinusoid, ...}``.

        Raises MotionError with every mistake of the text, each with its place.
        """
        moved = arguments.text(motion, "motion")
        described = description.load(self.description.source, self.description.overrides, moved)
        return Robot.of(build.build(described, self.order))

    def __reduce__(self) -> tuple[object, ...]:
        """For pickle and copy: made again from its description; tables are read again from their folder."""
        told = self.description
        folder = None if told.source.folder is None else told.source.folder.absolute()
        return _again, (replace(told.source, folder=folder), dict(told.overrides), told.motion, self.order)

    def __repr__(self) -> str:
        return f"<robot {self.name}, order {self.order}: {', '.join(self.coordinates)}>"

    @in_words
    def linearize(
        self,
        q: Values | None = None,
        qd: Values | None = None,
        qdd: Values | None = None,
        *,
        tau: Values | None = None,
        force: Sequence[Scalar] = (0.0, 0.0, 0.0),
        equilibrium: bool = False,
        lock: Sequence[str] | str = (),
        inputs: Sequence[str] | str = ("torques", "force"),
        outputs: Sequence[str] | str = ("joints", "endpoint"),
        progress: Progress = unheeded,
    ) -> Result:
        """M_L y'' + D_L y' + K_L y = h_L about a point or an equilibrium, Khang (63)-(67), and what follows from it.

        ``tau`` are the joints' torques (default: the rigid arm's), ``force`` a dead force (N, base frame) at the
        endpoint. With ``equilibrium`` deflections and holding torques are solved for at the joints of q. Joints of
        ``lock`` ("all", "q1,q2" or a list) follow the basic motion exactly. State space A, B, C, D from ``inputs``
        (torques, force) to ``outputs`` (joints, endpoint, gauges), frequencies, damping, shapes, and a verdict in the
        summary; at rows stacks of them, of the points ``q`` and of ``tau``, and the numbers of verdicts. Raises
        ComputationError where M is singular or no equilibrium is found, with the rows before it as ``partial``.

        >>> import kronbot
        >>> answer = kronbot.load("khang").linearize(equilibrium=True, q={"qa": "pi/4"})
        >>> answer.arrays["A"].values.shape
        (4, 4)
        """
        from kronbot.questions import linearize as linearization

        balanced = arguments.flag(equilibrium, "equilibrium")
        if balanced and (tau is not None or qdd is not None):
            raise UsageError("an equilibrium has no qdd and finds its torques: leave out tau and qdd")
        choice = linearization.Choice(
            frozenset(places_of(self, lock, "lock")),
            arguments.names(inputs, linearization.INPUTS, "inputs", "input"),
            arguments.names(outputs, linearization.OUTPUTS, "outputs", "output"),
        )
        motion, batch = points(self, {"q": q, "qd": qd, "qdd": qdd})
        torques = joint_values(self, tau, "tau")
        load = np.array(arguments.numbers(force, self.description.values, "force", (3,)))
        rows = zip(motion["q"], motion["qd"], motion["qdd"], strict=True)
        places = [linearization.Point(at, rate, change, torques, load) for at, rate, change in rows]
        watch = watcher(self, progress)
        asked = linearization.Linearization(self, choice, balanced)
        if batch:
            return of_rows(asked.at_rows(places, watch), self, q, motion["q"])
        return with_limits(asked.at(places[0]), self, q, places[0].q)

    @in_words
    def linearize_along(
        self,
        *,
        lock: Sequence[str] | str | None = None,
        duration: Scalar | None = None,
        step: Scalar | None = None,
        period: Scalar | None = None,
        progress: Progress = unheeded,
    ) -> Result:
        """M_L, D_L, K_L, h_L along the robot's motion, as stacks over t, Khang (59)-(67); Floquet multipliers.

        :meth:`with_motion` gives it another motion. Times in s; ``lock=None`` leaves all coordinates in the matrices
        and locks the moving joints for the multipliers. Raises UsageError without a motion, without a duration or for
        a ``period`` after which the matrices do not repeat, ComputationError where M is singular.
        """
        from kronbot.questions import linearize_along as floquet

        locked = None if lock is None else frozenset(places_of(self, lock, "lock"))
        return floquet.linearize_along(
            self,
            locked,
            self._time(duration, "duration"),
            self._time(step, "step"),
            self._time(period, "period"),
            watcher(self, progress),
        )

    @in_words
    def modes(
        self,
        q: Values | None = None,
        qd: Values | None = None,
        *,
        convergence: int | None = None,
        progress: Progress = unheeded,
    ) -> Result:
        """Natural frequencies and shapes, joints locked and free, about the straight posture, spinning with ``qd``.

        Frequencies in rad/s, damping ratios, shapes (free coordinates x modes). ``convergence=N`` adds the frequencies
        over 1 ... N modes a direction, at one posture. At rows stacks of them, and the numbers of verdicts; joints that
        move in some row stay locked in all. Raises UsageError where modal coordinates are given, ComputationError where
        M is singular, with the rows before as ``partial``.
        """
        from kronbot.questions import modes as vibration

        largest = None if convergence is None else arguments.count(convergence, "convergence", 1, limits.MODES)
        watch = watcher(self, progress)
        given, batch = points(self, {"q": q, "qd": qd})
        postures, rates = given["q"], given["qd"]
        if not batch:
            found = vibration.vibration(self, postures[0], rates[0], largest, watch)
            return with_limits(found, self, q, postures[0])
        if largest is not None:
            raise UsageError("modes converge at one posture: leave out ", Argument("convergence"), ", or the rows")
        return of_rows(vibration.vibrations(self, postures, rates, watch), self, q, postures)

    @in_words
    def statics(
        self,
        q: Values | None = None,
        *,
        angles: Mapping[str, Sequence[Scalar]] | None = None,
        forces: Vectors | None = None,
        moments: Vectors | None = None,
        loads: Mapping[str, Sequence[Scalar]] | None = None,
        distributed: Mapping[str, Sequence[Scalar]] | None = None,
        tau: Values | None = None,
        calibration: Values | None = None,
        solver: str = "newton",
        buckling: bool = False,
        progress: Progress = unheeded,
    ) -> Result:
        """Equilibria under gravity and dead loads, Piedboeuf (35)-(42), one row of the series a case.

        The file's sweep unless ``q``, ``angles``, ``forces``, ``moments`` say otherwise; rows of ``q`` are the postures
        of a sweep, every row with every load, loads fastest. ``loads`` on frames (3 forces,
        or 3 forces and 3 moments) and ``distributed`` loads on beams (N/m) come on top; joints with a torque in ``tau``
        are free. ``solver`` is newton or linear. Raises ComputationError where a case has no equilibrium, with the
        cases before it as ``partial``.

        >>> import kronbot
        >>> answer = kronbot.load("piedboeuf").statics(q={"theta": 0}, forces=[[0, -0.61, 0]])
        >>> float(answer["tip.arm.y"][0]) < 0
        True
        """
        from kronbot.library import statics as static_questions

        asked = static_questions.ask(
            self,
            q,
            {} if angles is None else angles,
            forces,
            moments,
            () if loads is None else arguments.pairs(loads, "loads").items(),
            () if distributed is None else arguments.pairs(distributed, "distributed").items(),
            tau,
            calibration,
            arguments.choice(solver, static_questions.SOLVERS, "solver"),
        )
        answered = asked.with_buckling if arguments.flag(buckling, "buckling") else asked.answer
        return complete(answered(watcher(self, progress)))

    @in_words
    def simulate(
        self,
        duration: Scalar | None = None,
        step: Scalar | None = None,
        *,
        q: Values | None = None,
        qd: Values | None = None,
        start: str | None = None,
        algorithm: str = "recursive",
        solver: str = "cvodes",
        rtol: Scalar = 1e-8,
        atol: Scalar = 1e-10,
        progress: Progress = unheeded,
    ) -> Result:
        """The motion under the drives of the file with its energies, by recursive dynamics, Mohan-Saha (34)-(42).

        ``duration`` and ``step`` (s) default to the file's, initial ``q`` and ``qd`` to the motion's. ``start`` is
        straight or equilibrium: beams at rest in the sag of the first posture (default: the file's). ``algorithm`` is
        recursive or composite, ``solver`` cvodes, rodas, dop853 or radau. Raises ComputationError where the run stops
        early, Interrupted at Ctrl-C, both with the rows so far as ``partial``.

        >>> import kronbot
        >>> answer = kronbot.load("khang", order="1").simulate(duration=0.1, step=0.05)
        >>> answer["t"].tolist()
        [0.0, 0.05, 0.1]
        """
        from kronbot.mechanics.motion.integration import Tolerances
        from kronbot.mechanics.motion.integrators import SOLVERS
        from kronbot.mechanics.multibody.recursion import ALGORITHMS
        from kronbot.questions import initial_state
        from kronbot.questions import simulate as simulation

        known = self.description.values
        run_time, row_time = simulation.horizon(self, self._time(duration, "duration"), self._time(step, "step"))
        run = simulation.Run(
            duration=run_time,
            step=row_time,
            algorithm=arguments.choice(algorithm, ALGORITHMS, "algorithm"),
            solver=arguments.choice(solver, SOLVERS, "solver"),
            tolerances=Tolerances(arguments.positive(rtol, known, "rtol"), arguments.positive(atol, known, "atol")),
            q=by_place(self, q, "q"),
            qd=by_place(self, qd, "qd"),
            start=initial_state.start_of(self)
            if start is None
            else arguments.choice(start, initial_state.STARTS, "start"),
        )
        return complete(simulation.simulate(self, run, watcher(self, progress)))

    @in_words
    def export(
        self, *functions: str, algorithm: str = "recursive", frame: str = "endpoint", axes: str = "base"
    ) -> Export:
        """Functions of the robot free of kronbot, as C, as a Python module or for CasADi; without names all there are.

        >>> import kronbot
        >>> source, header = kronbot.load("khang").export("inverse_dynamics").c()
        >>> "khang_inverse_dynamics" in header
        True
        """
        from kronbot.library.exporting import Export
        from kronbot.mechanics.multibody.recursion import ALGORITHMS
        from kronbot.questions import export as exported

        names = [arguments.choice(each, exported.FUNCTIONS, "function") for each in functions]
        method = arguments.choice(algorithm, ALGORITHMS, "algorithm")
        choice = exported.Choice(method, arguments.text(frame, "frame"), arguments.choice(axes, AXES, "axes"))
        return Export(exported.package(self, tuple(dict.fromkeys(names)) or tuple(exported.FUNCTIONS), choice))

    @in_words
    def complexity(
        self,
        *functions: str,
        links: Sequence[int] | None = None,
        modes: Sequence[int] | None = None,
        progress: Progress = unheeded,
    ) -> Result:
        """Multiplications, divisions, additions and functions that one evaluation takes, as in Mohan-Saha's Table 1.

        ``functions`` are some of forward_recursive, forward_composite, inverse, inertia, jacobian. With ``links`` or
        ``modes`` also for chains of so many links with so many modes a direction, as series.
        """
        from kronbot.questions import complexity

        names = [arguments.choice(each, complexity.FUNCTIONS, "function") for each in functions]
        sizes = (
            None if links is None else arguments.counts(links, "links", 1, limits.MOVING),
            None if modes is None else arguments.counts(modes, "modes", 1, limits.MODES),
        )
        chains = None if links is None and modes is None else complexity.Chains.of(*sizes)
        watch = watcher(self, progress)
        return complexity.complexity(self, list(dict.fromkeys(names)) or tuple(complexity.FUNCTIONS), chains, watch)

    def force_units(self, places: Iterable[int]) -> list[str]:
        """Units of the generalized forces on the coordinates at ``places`` (0 ... n - 1): N m, N, J per unit.

        Raises UsageError for a place that is not there.
        """
        return super().force_units(arguments.counts(places, "places", 0, self.n - 1))

    def derivative_names(self, words: Iterable[str]) -> dict[str, list[str]]:
        """Names of the entries of ``q``, ``qd`` and ``qdd``, whichever are asked for: ``q1``, ``q1_dot``, ``q1_ddot``.

        Raises UsageError for other words.
        """
        return super().derivative_names(arguments.names(words, ("q", "qd", "qdd"), "words", "name"))

    def _time(self, value: Scalar | None, word: str) -> float | None:
        """A time (s) that is given. Raises UsageError where it is not positive."""
        return None if value is None else arguments.positive(value, self.description.values, word)


def _again(source: description.Source, overrides: Mapping[str, str], motion: str | None, order: str) -> Robot:
    return Robot.of(build.build(description.load(source, overrides, motion), order))
