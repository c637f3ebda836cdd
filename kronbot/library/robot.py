"""A robot whose methods are the questions of the command line.

Each imports what it needs when it is asked: all of it would double the time to a first Jacobian.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from kronbot import description
from kronbot.cached import cached_property
from kronbot.compute import question
from kronbot.description import choices, compliance, limits
from kronbot.description.called import called_by_name
from kronbot.description.described import with_overrides
from kronbot.description.wording import unknown
from kronbot.errors import Argument, Failure, KronbotError, UsageError
from kronbot.kinds import is_a
from kronbot.library import arguments
from kronbot.library.answering import Posed, answered, complete, in_words, numbers, of_rows, watcher, with_limits
from kronbot.library.arguments import NumberLike, Progress, unheeded
from kronbot.library.values import Values, algorithm_for, by_index, indices_of, joint_values, outputs_of, point, points
from kronbot.library.values import view as seen_as
from kronbot.model import build, robot
from kronbot.questions.result import Outcome, Result
from kronbot.system.forking import AtWork
from kronbot.system.importing import whole_imports
from kronbot.system.sealed import demand_same, seal

if TYPE_CHECKING:
    from kronbot.library.exporting import Export
    from kronbot.library.fit import Data, Estimated
    from kronbot.library.loads import Limits, Loads
    from kronbot.library.poses import PoseLike
    from kronbot.library.statics import Vectors
    from kronbot.library.sweep import Sweep
    from kronbot.library.symbolic import Symbolic
    from kronbot.plots.page.pages import Page
    from kronbot.questions.jacobian import FrameView
    from kronbot.sweeps.work import Case


@called_by_name
class Robot:
    """A robot at one kinematic order, and the questions that it answers.

    Made by :func:`kronbot.load`. Coordinates ``q``, rates ``qd`` and accelerations ``qdd`` are given by name
    (``{"q1": 0.1, "upper.v1": "l/50"}``, others are 0), as all n values or those of the joints alone, or, where a
    method says so, as rows of them (an array (N, n), a list of lists, or columns by name). Numbers are SI and radians,
    or expressions over the file's parameters. Every answer is a :class:`kronbot.questions.result.Result`. Every method
    raises UsageError for a name, a number of values or a choice that is not there, FreeParameters where a parameter has
    no value.

    A robot never changes. It pickles, and two robots are equal where their file, tables, values and order are. A pickle
    that was changed is refused (UsageError); one of strangers may be any program, as all pickles: their robot files are
    text.
    """

    def __init__(self, model: robot.Robot) -> None:
        """The questions of a model (a :class:`kronbot.model.robot.Robot`). Raises UsageError for no model."""
        if not is_a(model, robot.Robot):
            raise UsageError(f"model: the model of a robot is wanted, not {arguments.shown(model)}")
        vars(self).setdefault("_model", model)

    if TYPE_CHECKING:
        _model: robot.Robot
    else:

        def __setattr__(self, name, value):
            raise AttributeError(f"a robot never changes, {name!r} is not put: with_parameters() makes another one")

    @property
    def model(self) -> robot.Robot:
        """The tree of links with symbols for its numbers, which the mechanics are traced with.

        It is there to be looked at; its methods take what kronbot gives them, and check nothing.
        """
        return self._model

    @cached_property
    def _sound(self) -> robot.Robot:
        """The same for questions that want no negative compliance. Raises DescriptionError that tells where one is."""
        compliance.demand_none_negative(self.description)
        return self._model

    @property
    def description(self) -> description.Description:
        """What the file says, with the values of its parameters."""
        return self._model.description

    @property
    def name(self) -> str:
        """The name in the file."""
        return self._model.name

    @property
    def order(self) -> str:
        """The kinematic order: "0", "1", "2" or "exact"."""
        return self._model.order

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of q: per link its joint, then its modal coordinates."""
        return self._model.coordinates

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return self._model.n

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the coordinates: rad or m, or powers of m for coefficients of powers of x."""
        return self._model.units

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints, in the order of the coordinates."""
        return tuple(joint.name for joint in self._model.joints)

    def at_order(self, order: str | int) -> Robot:
        """The same robot at another kinematic order: "0", "1", "2" or "exact". Raises UsageError for another."""
        with AtWork():
            return Robot(build.anew_at_order(self._model, arguments.order(order)))

    def with_parameters(self, /, **values: NumberLike) -> Robot:
        """The same robot with other values of some parameters: numbers, or expressions over the others.

        It shares what was traced: its questions take no longer than another call. Raises UsageError for a parameter
        that is not there, DescriptionError where a value is none that the robot can have.

        >>> import kronbot
        >>> stiffer = kronbot.load("canadarm").with_parameters(EI=2e5)
        >>> stiffer.description.values["EI"]
        200000.0
        """
        with AtWork():
            changed = arguments.expressions(values, "parameter")
            return Robot(build.with_values(self._model, with_overrides(self.description, changed)))

    def with_motion(self, motion: str) -> Robot:
        """The same robot with another motion: YAML text as in a file, ``q1: {type: sinusoid, ...}``.

        Raises MotionError with every mistake of the text, each with its place.
        """
        moved = arguments.content(motion, "motion", "give what the file holds, as in q1: {type: ...}")
        told = self.description
        with AtWork():
            described = description.load(told.source, told.overrides, moved, told.tables)
            return Robot(build.build(described, self.order))

    def rewritten(self, values: Mapping[str, NumberLike], heading: str = "Before") -> str:
        """The text of the robot's file with numbers in the places of parameters; its comments and layout stay.

        What stood there before is told in a comment on top, below a ``heading``. Values that :func:`kronbot.load` or
        :meth:`with_parameters` have changed are put in, too. Raises UsageError for a parameter that is not there, or is
        an expression over others in the file.

        >>> import kronbot
        >>> print(kronbot.load("canadarm").rewritten({"EI": 2e5})[:20])
        # Before
        #   EI: 1e5
        """
        from kronbot.description.yaml.rewriting import rewritten

        changed = {**self.description.overrides, **arguments.expressions(values, "value")}
        for name in changed:
            if name not in self.description.values:
                raise unknown(name, self.description.values, "values: no parameter ")
        with_overrides(self.description, changed)  # which refuses what is no value
        title = arguments.text(heading, "heading")
        if not title.isprintable():
            raise UsageError(Argument("heading"), ": one line of text that can be printed is wanted")
        return rewritten(self.description.source, changed, title)

    def __eq__(self, other: object) -> bool:
        return is_a(other, Robot) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> Hashable:
        return self.order, self.description.identity

    def __reduce__(self) -> tuple[object, ...]:
        """For pickle and copy: built again from its description."""
        return _built, (seal(self.description.checksum, self.order), self.description, self.order)

    def __repr__(self) -> str:
        return f"<robot {self.name}, order {self.order}: {', '.join(self.coordinates)}>"

    def _repr_html_(self) -> str:
        """The robot in a notebook: its tree, masses and coordinates, and a picture where all parameters have values."""
        from kronbot.plots import notebook

        with AtWork():
            try:
                posture = self.kinematics()
            except Failure:
                posture = None
            return notebook.of_robot(self.model, posture)

    def symbolic(
        self,
        style: str = "text",
        *,
        short: bool = False,
        shared: bool = False,
        seconds: float = 20.0,
        array: str | None = None,
    ) -> Symbolic:
        """The questions that have formulas for answers, as ``text``, ``latex`` or ``python``.

        ``short`` writes s2 for sin(q2), ``shared`` writes common parts once, ``seconds`` (s) bounds the work;
        ``array`` makes formulas of that array alone.
        Raises UsageError for another style.

        >>> import kronbot
        >>> kronbot.load("stacker").symbolic(short=True).jacobian()["J_R"].tolist()
        [['0', '0', 's2'], ['0', '-1', '0'], ['0', '0', '-c2']]
        """
        with whole_imports():  # here, since SymPy takes half a second
            from kronbot.library.symbolic import Symbolic
            from kronbot.questions.formulas import Writing

        writing = Writing(
            arguments.choice(style, choices.STYLES, "style"),
            arguments.flag(short, "short"),
            arguments.flag(shared, "shared"),
            arguments.positive(seconds, {}, "seconds"),
            None if array is None else arguments.text(array, "array"),
        )
        compliance.demand_none_negative(self.description)
        return Symbolic(self, writing)

    @in_words
    def check(self) -> Result:
        """What the file describes: masses (kg), lengths (m), numbers of coordinates, natural frequencies, warnings.

        Frequencies stand in the summary where they can be had: not with free parameters, nor where M is singular.

        >>> import kronbot
        >>> kronbot.load("canadarm").check().summary["coordinates"]
        9
        """
        from kronbot.library.of_file import told_of_sweep
        from kronbot.questions import check

        return check.survey(self._sound, told_of_sweep(self.model, self))

    @answered
    def kinematics(
        self,
        q: Values | None = None,
        *,
        frame: str | Sequence[str] = "endpoint",
        inverse: PoseLike | None = None,
        starts: int | None = None,
    ) -> Posed | Result:
        """Poses of frames, Tuan (71)-(72), at a point or at rows: ``pose``, a row a frame, and the matrices ``T``.

        ``frame`` is a name as in :meth:`jacobian`, several of them, or "all": the endpoint and the tip frames of all
        links; ``base-to:A,B`` is B seen from A. ``pose`` has the position x, y, z (m), the angles roll, pitch, yaw
        (rad) of R = Rz(yaw) Ry(pitch) Rx(roll), and the unit quaternion qx, qy, qz, qw; ``T`` has a homogeneous matrix
        (4 x 4) for each frame, one below the other.

        With ``inverse`` the joint values, within their limits, that bring a frame to a pose: x, y, z alone, these with
        roll, pitch, yaw or with qx, qy, qz, qw, some of them by name (positions left out are free), or a matrix T.
        The search begins at ``q``, which also holds all other coordinates (beams are straight by default), and at
        ``starts`` - 1 further places (default 99), the same every time. ``solutions`` has those that were found, the
        nearest to ``q`` first, in which the pose and T are told; the series has all starts.

        Raises UsageError for an unknown frame, ComputationError for the centre of mass of a link without mass, and
        where a pose is not reached, with the nearest as ``partial``.

        >>> import kronbot
        >>> robot = kronbot.load("stacker-numeric")
        >>> answer = robot.kinematics(q=[1.0, 0.2, 0.3])
        >>> answer["T"].shape
        (4, 4)
        >>> robot.kinematics(q=[0.8, 0.3, 0.2], inverse=answer["T"])["solutions"][0].round(9).tolist()
        [1.0, 0.2, 0.3]
        """
        from kronbot.questions import kinematics

        seen = kinematics.views(self._sound, arguments.texts(frame, "frame", least=1))
        if inverse is not None:
            return self._inverse(q, seen, inverse, starts)
        if starts is not None:
            raise UsageError(Argument("starts"), " are those of an inverse: leave it out, or add ", Argument("inverse"))
        put = question.asked(self._sound, ("kinematics", seen), lambda: kinematics.kinematics(self._sound, seen))
        return numbers(self._sound, put, {"q": q}, asked=kinematics.Asked(seen))

    def view(
        self,
        q: Values | str | PathLike[str] | None = None,
        file: str | PathLike[str] | None = None,
        *,
        overwrite: bool = False,
        open: bool = False,
    ) -> Page:
        """A page with the robot in 3D at ``q`` and sliders for its coordinates; ``html``, which a notebook shows.

        With ``file`` (.html), or that in the place of ``q``, it is written there too, and shown in the browser with
        ``open``. Raises UsageError for rows of ``q``, and for a file that is there already unless ``overwrite``;
        ComputationError for more beams than a page holds.

        >>> import kronbot
        >>> kronbot.load("khang").view().html[:15]
        '<!DOCTYPE html>'
        """
        from kronbot.plots.page import contents, pages
        from kronbot.plots.page import robot as shown

        flags = arguments.flag(overwrite, "overwrite"), arguments.flag(open, "open")
        if is_a(q, str | PathLike):
            if file is not None:
                raise UsageError(f"q: coordinates are wanted beside a file, not {arguments.shown(q)}")
            q, file = None, q
        name = None if file is None else arguments.path(file, "file")
        shown.demand_few(self._sound)
        return pages.view(
            lambda: replace(self.kinematics(q=q), command=contents.POSTURE), self.description, name, *flags
        )

    def _inverse(self, q: Values | None, seen: Sequence[FrameView], inverse: object, starts: object) -> Posed:
        from kronbot.library.poses import target
        from kronbot.questions import kinematics

        count = kinematics.STARTS if starts is None else arguments.count(starts, "starts", 1, kinematics.MOST_STARTS)
        if len(seen) != 1:
            raise UsageError(Argument("inverse"), f" is about one frame, not {len(seen)}")
        held, wanted = point(self._sound, q, "q"), target(self._sound, inverse)

        def found() -> Result:
            outcome = kinematics.inverse(self._sound, seen[0], wanted, held, count)
            return complete(replace(outcome, result=with_limits(outcome.result, self._sound, q, held[None])))

        return Posed(self._sound, None, lambda robots, points: [found], None)

    @answered
    def jacobian(
        self,
        q: Values | None = None,
        qd: Values | None = None,
        *,
        frame: str = "endpoint",
        axes: str = "base",
        generalized: bool = False,
    ) -> Posed | Result:
        """J_T and J_R (3 x n) of a frame, Tuan (30)-(42), at a point or at rows; with ``qd`` the velocities.

        ``frame`` is ``endpoint``, LINK (its tip), ``LINK:root``, ``com:LINK`` or ``base-to:A,B``; ``axes`` is ``base``
        or ``body``. Velocities are v = J_T qd (m/s) and omega = J_R qd (rad/s); at N rows all arrays are stacks
        (N, ...). Singular values, manipulability and condition number stand in the summary. ``generalized`` ones, of a
        robot that floats, are by its joints and deformations while its momenta are zero: J_m - J_b M_bb^-1 M_bm
        (Umetani and Yoshida). Raises UsageError for an unknown frame or axes, ComputationError for the centre of mass
        of a link without mass.

        >>> import kronbot
        >>> answer = kronbot.load("stacker-numeric").jacobian(q=[1.0, 0.2, 0.3])
        >>> answer["J_T"].shape
        (3, 3)
        """
        from kronbot.questions import jacobian

        asked = seen_as(self._sound, frame, axes), qd is not None, arguments.flag(generalized, "generalized")
        if asked[-1] and points(self._sound, {"qd": qd})[0]["qd"][:, self._sound.base].any():
            raise UsageError(Argument("generalized"), ": the base goes as zero momentum demands; give no rates of it")
        seen = asked[0]
        put = question.asked(self._sound, ("jacobian", *asked), lambda: jacobian.jacobian(self._sound, *asked))
        return numbers(self._sound, put, {"q": q, "qd": qd}, jacobian.dexterity, seen)

    @answered
    def hessian(
        self,
        q: Values | None = None,
        qd: Values | None = None,
        qdd: Values | None = None,
        *,
        frame: str = "endpoint",
        axes: str = "base",
    ) -> Posed | Result:
        """H_T and H_R (3 x n^2), Khang derivatives of the Jacobians, Tuan (51)-(61); with rates the accelerations.

        Block column j of H is the derivative of column j of J by q; in axes ``body`` H_T_star = R^T H_T too. With rates
        a = J_T qdd + H_T (qd (x) qd) (m/s2) and alpha (rad/s2). Frames, axes, rows and errors as of :meth:`jacobian`.

        >>> import kronbot
        >>> answer = kronbot.load("puma560").hessian(frame="com:link2")
        >>> answer.arrays["H_T"].columns[:2]
        ('q1|q1', 'q1|q2')
        """
        from kronbot.questions import hessian

        seen, rates = seen_as(self._sound, frame, axes), qd is not None or qdd is not None
        put = question.asked(self._sound, ("hessian", seen, rates), lambda: hessian.hessian(self._sound, seen, rates))
        return numbers(self._sound, put, {"q": q, "qd": qd, "qdd": qdd})

    @answered
    def dynamics(self, q: Values | None = None, qd: Values | None = None, qdd: Values | None = None) -> Posed | Result:
        """M, C_star, dM_dq, g, K, D of M qdd + C_star (qd x qd) + g + K q + D qd = tau, Khang (95)-(101).

        M, K, D, C (n x n), C_star and dM_dq (n x n^2), g and tau (n,): N m at revolute joints, N at prismatic ones, J
        per unit of a modal coordinate. With rates or accelerations also C, C_christoffel and the forces tau; at a point
        or at rows.

        >>> import kronbot
        >>> answer = kronbot.load("puma560").dynamics(q=[0, "pi/4", 0, 0, 0, 0], qd={"q1": 1})
        >>> bool(abs(answer["M"] - answer["M"].T).max() < 1e-12)
        True
        """
        rates = qd is not None or qdd is not None

        def asked() -> question.Question:
            from kronbot.questions import dynamics

            return dynamics.dynamics(self._sound, rates)

        put = question.asked(self._sound, ("dynamics", rates), asked)
        if self._sound.elements:
            from kronbot.questions.elements import demand_directions

            demand_directions(self._sound, points(self._sound, {"q": q})[0]["q"])
        return numbers(self._sound, put, {"q": q, "qd": qd, "qdd": qdd})

    @in_words
    def taylor(
        self,
        of: str = "M",
        terms: int = 2,
        q: Values | None = None,
        delta: Values | None = None,
        *,
        frame: str = "endpoint",
        axes: str = "base",
    ) -> Result:
        """Taylor coefficients d^k/dq^k of ``of`` at q, Khang (36), (41), (47); with ``delta`` expansion and error.

        ``of`` is M, C_star, g, J_T, J_R or position; ``terms`` is the highest power, up to 12; a matrix (r x s) has
        coefficients (r x s n^k). ``frame`` and ``axes`` are those of Jacobians and positions, which are in base axes.
        Raises UsageError for those of other matrices, ComputationError where coefficients are too large and no
        ``delta`` is given.
        """
        from kronbot.questions import taylor

        quantity = arguments.choice(of, choices.EXPANDED, "of")
        power = arguments.count(terms, "terms", 0, choices.TERMS)
        told = {"frame": quantity not in choices.SEEN, "axes": quantity not in choices.TURNED}
        arguments.demand_heeded({"frame": frame, "axes": axes}, [word for word in told if told[word]], quantity)
        change = None if delta is None else point(self._sound, delta, "delta")
        at = point(self._sound, q, "q")
        seen = seen_as(self._sound, frame, axes)
        return with_limits(taylor.taylor(self._sound, quantity, seen, power, at, change), self._sound, q, at[None])

    @answered
    def linearize(
        self,
        q: Values | None = None,
        qd: Values | None = None,
        qdd: Values | None = None,
        *,
        tau: Values | None = None,
        force: Sequence[NumberLike] = (0.0, 0.0, 0.0),
        equilibrium: bool = False,
        closed_loop: bool = False,
        lock: Sequence[str] | str = (),
        inputs: Sequence[str] | str = ("torques", "force", "elements", "outside"),
        outputs: Sequence[str] | str = ("joints", "endpoint"),
        response: str | None = None,
        duration: NumberLike | None = None,
        progress: Progress = unheeded,
    ) -> Posed | Result:
        """M_L y'' + D_L y' + K_L y = h_L about a point or an equilibrium, Khang (63)-(67), and what follows from it.

        ``tau`` are the joints' torques (default: the rigid arm's), ``force`` a dead force (N, base frame) at the
        endpoint. With ``equilibrium`` deflections and holding torques are solved for at the joints of q. With
        ``closed_loop`` the file's controllers have their part in D_L, K_L and A, their integrals among the states.
        Joints of ``lock`` ("all", "q1,q2" or a list) follow the basic motion exactly. State space A, B, C, D from
        ``inputs`` (torques, force, elements, and outside, the forces of ``simulate``) to ``outputs`` (joints, endpoint,
        gauges, KIND:NAME as in :meth:`simulate`: exact derivatives), frequencies, damping, shapes, and a verdict in the
        summary; at rows stacks of them, of the points ``q`` and of ``tau``, and the numbers of verdicts. ``response``
        (step, impulse or frequency, at one point) gives the answers of outputs to inputs as columns OUTPUT/INPUT over
        ``t`` (0 to ``duration``, s; default: as poles want) or ``frequency`` (rad/s). Raises ComputationError where M
        is singular or no equilibrium is found, with the rows before it as ``partial``.

        >>> import kronbot
        >>> answer = kronbot.load("khang").linearize(equilibrium=True, q={"qa": "pi/4"})
        >>> answer.arrays["A"].values.shape
        (4, 4)
        """
        from kronbot.library.responding import responding
        from kronbot.questions import linearize, signals
        from kronbot.questions.closed_loop import demand_loop

        balanced = arguments.flag(equilibrium, "equilibrium")
        if balanced and (tau is not None or qdd is not None):
            why = "an equilibrium has no accelerations and finds its torques: leave out "
            raise UsageError(why, Argument("tau"), " and ", Argument("qdd"))
        choice = signals.Choice(
            frozenset(indices_of(self._sound, lock, "lock")),
            tuple(arguments.names(inputs, choices.INPUTS, "inputs", "input")),
            outputs_of(self._sound, outputs),
        )
        motion, batch = points(self._sound, {"q": q, "qd": qd, "qdd": qdd})
        torques = joint_values(self._sound, tau, "tau")
        load = np.array(arguments.numbers(force, self.description.values, "force", (3,)))
        rows = zip(motion["q"], motion["qd"], motion["qdd"], strict=True)
        places = [linearize.Point(at, rate, change, torques, load) for at, rate, change in rows]
        watch = watcher(progress)
        loop = arguments.flag(closed_loop, "closed_loop")
        if loop:
            demand_loop(self._sound, choice)
        answering = responding(response, self._time(duration, "duration"), batch)
        asked = linearize.Linearization(self._sound, choice, balanced, loop)
        if batch:
            return of_rows(asked.at_rows(places, watch), self._sound, q, motion["q"])
        alike = linearize.PURPOSE, choice, balanced, loop, torques is None
        told = partial(with_limits, robot=self._sound, given=q, q=motion["q"])
        return Posed(self._sound, places[0], asked.each, alike, lambda answer: told(answering(answer)))

    @in_words
    def linearize_along(
        self,
        *,
        lock: Sequence[str] | str | None = None,
        duration: NumberLike | None = None,
        step: NumberLike | None = None,
        period: NumberLike | None = None,
        progress: Progress = unheeded,
    ) -> Result:
        """M_L, D_L, K_L, h_L along the robot's motion, as stacks over t, Khang (59)-(67); Floquet multipliers.

        :meth:`with_motion` gives it another motion. Times in s; ``lock=None`` leaves all coordinates in the matrices
        and locks the moving joints for the multipliers. The duration is by default a period, that of the file's
        simulation or of the longest motion. Raises UsageError without a motion, or for a ``period`` after which the
        matrices do not repeat, ComputationError where M is singular.
        """
        from kronbot.questions import linearize_along

        locked = None if lock is None else frozenset(indices_of(self._sound, lock, "lock"))
        return linearize_along.linearize_along(
            self._sound,
            locked,
            self._time(duration, "duration"),
            self._time(step, "step"),
            self._time(period, "period"),
            watcher(progress),
        )

    @answered
    def modes(
        self,
        q: Values | None = None,
        qd: Values | None = None,
        *,
        convergence: int | None = None,
        progress: Progress = unheeded,
    ) -> Posed | Result:
        """Natural frequencies and shapes, joints locked and free, about the straight posture, spinning with ``qd``.

        Frequencies in rad/s, damping ratios, shapes (free coordinates x modes). ``convergence=N`` adds the frequencies
        over 1 ... N modes a direction, at one posture. At rows stacks of them, and the numbers of verdicts; joints that
        move in some row stay locked in all. Raises UsageError where modal coordinates are given, ComputationError where
        M is singular, with the rows before as ``partial``.
        """
        from kronbot.questions import modes

        largest = None if convergence is None else arguments.count(convergence, "convergence", 1, limits.MODES)
        watch = watcher(progress)
        given, batch = points(self._sound, {"q": q, "qd": qd})
        postures, rates = given["q"], given["qd"]
        if batch and largest is not None:
            raise UsageError("modes converge at one posture: leave out ", Argument("convergence"), ", or the rows")
        if batch:
            return of_rows(modes.vibrations(self._sound, postures, rates, watch), self._sound, q, postures)
        told = partial(with_limits, robot=self._sound, given=q, q=postures)
        if largest is not None:
            return told(modes.vibration(self._sound, postures[0], rates[0], largest, watch))
        return Posed(self._sound, (postures[0], rates[0]), modes.each, modes.PURPOSE, told)

    @in_words
    def design(
        self,
        q: Values | None = None,
        *,
        lqr: bool = False,
        poles: Sequence[complex | str] | str | None = None,
        shaper: str | None = None,
        weights: Mapping[str, NumberLike] | None = None,
        effort: Mapping[str, NumberLike] | None = None,
        noise: Mapping[str, NumberLike] | None = None,
        deviation: Mapping[str, NumberLike] | None = None,
        lock: Sequence[str] | str = (),
        motion: bool = False,
        duration: NumberLike | None = None,
        progress: Progress = unheeded,
    ) -> Result:
        """Feedback of the whole state about the equilibrium at the joints of ``q``, or an input shaper there.

        ``lqr``: K of the least integral of x' Q x + u' R u, with ``weights`` (diagonal of Q by coordinate or rate,
        default: 1 of every motor) and ``effort`` (of R by joint, default 1). ``poles``: K with these, the pair of each
        complex one among them. ``shaper``: zv, mzv, zvd, ei or 2hump_ei for the lowest mode, of the closed loop where
        the file has controllers, else with the joints of ``lock`` locked, by default all but those without a drive
        beside others; free joints without one are about their equilibrium. ``gains`` is what
        ``control: {state_feedback: {K: gains.csv}}`` reads. ``noise`` has densities of sensors by state, and of torques
        (``torque.q1``, default 1): ``L`` is the gain of the Kalman filter. The summary has the disk margin at the
        inputs, and for ``lqr`` the cost of coming back from a ``deviation`` (by state, default 0.01 of every motor, or
        a tenth of its range), predicted and simulated. Modes that no torque reaches are taken out and named. At rows of
        ``q`` stacks of gains, to schedule them by posture, with ``margins``; nothing is simulated. With ``motion``
        gains over time, about what motors that follow the file's motion exactly make of the arm: of a ``duration`` (s),
        whose end goes on as at rest, or by default of the period, or the length, of the motion. Raises ComputationError
        where there is no equilibrium or no such feedback, with the rows before it as ``partial``, and Interrupted at
        Ctrl-C in the simulation of a cost, with the gains as ``partial``.

        >>> import kronbot
        >>> kronbot.load("khang").design(lqr=True)["K"].shape
        (1, 4)
        """
        from kronbot.library.designing import wish
        from kronbot.questions import design, design_along, linearize

        known, length = self.description.values, self._time(duration, "duration")
        asked = wish(known, lqr, poles, shaper, weights, effort, noise, deviation, motion, length)
        if asked.motion:
            if q is not None or lock != ():
                raise UsageError(
                    Argument("motion"), " tells where: leave out ", Argument("q"), " and ", Argument("lock")
                )
            return complete(design_along.design_along(self._sound, asked, watcher(progress)))
        places, batch = points(self.model, {"q": q})
        rest = np.zeros(self.n)
        rows = [linearize.Point(at, rest, rest, None, np.zeros(3)) for at in places["q"]]
        locked, watch = frozenset(indices_of(self.model, lock, "lock")), watcher(progress)
        if batch:
            return of_rows(design.design_at_rows(self.model, rows, locked, asked, watch), self.model, q, places["q"])
        outcome = design.design(self.model, rows[0], locked, asked, watch)
        return complete(replace(outcome, result=with_limits(outcome.result, self.model, q, places["q"])))

    @in_words
    def plan(
        self,
        to: Values | None = None,
        q: Values | None = None,
        *,
        duration: NumberLike | None = None,
        shortest: bool = False,
        drive: str = "torque",
        least: str | None = None,
        effort_limits: Limits | None = None,
        limits: Limits | None = None,
        robust: Mapping[str, Sequence[NumberLike]] | None = None,
        after: NumberLike | None = None,
        follow: object = None,
        through: object = None,
        seconds: NumberLike | None = 300.0,
        progress: Progress = unheeded,
    ) -> Result:
        """The motion of the flexible arm from rest at the joints of ``q`` to rest at those of ``to``.

        In a ``duration`` (s) with the ``least`` effort, or change of what moves it, or residual vibration (energy about
        rest, the mean of arms in ``robust`` that limits do not let rest), "nearest" to the torques of a smooth motion,
        or the ``shortest`` one that limits allow. ``drive`` "torque" holds torques on equal intervals; "motion" has
        motors follow a motion exactly, a C3 spline, of which torques are outcomes: vibrations that the model lacks are
        hardly excited. ``effort_limits`` are by joint a number, or smallest and largest (N m or N, None for none),
        ``limits`` those of columns of a simulation (coordinates, ``q1_dot``, ``torque.q1``, ``tip.LINK.y``) or of
        its outputs (``acceleration.q1``, ``curvature.g1``, ``reaction.q1.fx``). Arms with parameters at the ends of
        ranges in ``robust`` come to rest under the same motion, those midway nearly (``between_error``). By direct
        collocation, IPOPT and exact Hessians; the mesh is refined until every arm, under the plan, ends within 1e-5 of
        its goal and keeps its limits in an independent simulation: the series. Both ends are equilibria.
        ``residual_amplitude`` (m) is that of a model with more modes, motors following the plan, so long ``after`` it
        (s, default: its duration, of which 40 at most, and two periods of the slowest vibration at the goal), the
        largest distance from where its endpoint rests. Joints that are not named end where they begin. ``through`` has
        places of motors on the way, in their order: columns of joints like those of ``follow``, NaN for any place, with
        ``t`` at times of a ``duration``, without whenever it is best.

        With ``follow`` (columns by name, a CSV file or a DataFrame: ``t``, s, and as many columns of coordinates, tips
        or the endpoint as there are joints) motors move so that these follow a path exactly, whatever beams do: from
        rest near ``q``, before the path begins where the columns have ``zeros`` in the right half plane, and after its
        end where they have some in the left. Limits are told where such a motion, which is the only one, exceeds them.

        Raises ComputationError where there is no such motion, Interrupted at Ctrl-C, or when so many ``seconds`` are
        over (None: never), with the best so far as ``partial``.

        >>> import kronbot
        >>> answer = kronbot.load("khang", order="0").plan({"qa": 0.3}, duration=1)
        >>> answer["qa"][[0, -1]].round(6).tolist()
        [0.0, 0.3]
        """
        from kronbot.questions.keeping import Deadline

        patience = None if seconds is None else arguments.positive(seconds, self.description.values, "seconds")
        deadline = Deadline(patience)  # of which SciPy, when it is loaded, takes a good part of a second

        from kronbot.library.planning import followed, sharing, wish
        from kronbot.questions import following, plan

        asked: dict[str, object] = {
            "to": to,
            "q": q,
            "duration": duration,
            "shortest": shortest,
            "drive": drive,
            "least": least,
        }
        asked |= {"effort_limits": effort_limits, "limits": limits, "after": after, "through": through}
        if follow is not None:
            start, path, within = followed(self.model, follow, asked | {"robust": robust})
            return complete(following.follow(self.model, start, path, within, deadline, watcher(progress)))
        wanted = wish(self.model, asked)
        robots, between = sharing(self.model, robust, wanted.follows)
        return complete(plan.plan(robots, between, wanted, deadline, watcher(progress)))

    @answered
    def statics(
        self,
        q: Values | None = None,
        *,
        angles: Mapping[str, Sequence[NumberLike]] | None = None,
        forces: Vectors | None = None,
        moments: Vectors | None = None,
        loads: Loads | None = None,
        distributed: Loads | None = None,
        tau: Values | None = None,
        calibration: Values | None = None,
        solver: str = "newton",
        outputs: Sequence[str] | str = (),
        buckling: bool = False,
        order: str | int | None = None,
        progress: Progress = unheeded,
    ) -> Posed | Result:
        """Equilibria under gravity and dead loads, Piedboeuf (35)-(42), one row of the series a case.

        The file's sweep unless ``q``, ``angles``, ``forces``, ``moments`` say otherwise; rows of ``q`` are the postures
        of a sweep, every row with every load, loads fastest. ``loads`` on frames (3 forces, or 3 forces and 3 moments)
        and ``distributed`` loads on beams (N/m) come on top, by name or as pairs of a name and its numbers; joints with
        a torque in ``tau`` are free. ``solver`` is newton or linear, ``outputs`` columns more, as in :meth:`simulate`;
        ``order`` is another kinematic order than the robot's, or "all" of them side by side, with their differences.
        Raises ComputationError where a case has no equilibrium, with the cases before it as ``partial``.

        >>> import kronbot
        >>> answer = kronbot.load("piedboeuf").statics(q={"theta": 0}, forces=[[0, -0.61, 0]])
        >>> float(answer["tip.arm.y"][0]) < 0
        True
        """
        from kronbot.library.statics import inquiry
        from kronbot.questions import statics
        from kronbot.questions.comparison import side_by_side

        at = self.order if order is None else arguments.order(order)
        if arguments.flag(buckling, "buckling") and at == "all":
            raise UsageError(Argument("buckling"), " goes with one order")
        model = build.compliant(self.model if at in (self.order, "all") else self.at_order(at).model)
        given = inquiry(
            model, q=q, angles=angles, forces=forces, moments=moments, loads=loads, distributed=distributed,
            tau=tau, calibration=calibration, solver=solver, outputs=outputs,
        )  # fmt: skip
        watch = watcher(progress)
        if at == "all":
            return complete(side_by_side(statics.at_orders(model, given, choices.ORDERS, watch)))
        if buckling:
            return complete(statics.with_buckling(model, given, watch))

        def ask(robots: Sequence[robot.Robot], inquiries: Sequence[Any]) -> list[Callable[[], Result]]:
            return [partial(_complete, each) for each in statics.each(robots, inquiries, watch)]

        return Posed(model, given, ask, statics.alike(given))

    @answered
    def simulate(
        self,
        duration: NumberLike | None = None,
        step: NumberLike | None = None,
        *,
        q: Values | None = None,
        qd: Values | None = None,
        start: str | None = None,
        loads: Loads | None = None,
        outputs: Sequence[str] | str = (),
        algorithm: str | None = None,
        solver: str = "cvodes",
        rtol: NumberLike = 1e-8,
        atol: NumberLike = 1e-10,
        band: NumberLike = 0.02,
        progress: Progress = unheeded,
    ) -> Posed | Result:
        """The motion under the drives of the file with its energies, by recursive dynamics, Mohan-Saha (34)-(42).

        ``duration`` and ``step`` (s) default to the file's, initial ``q`` and ``qd`` to the motion's. ``start`` is
        straight or equilibrium: beams at rest in the sag of the first posture (default: the file's). ``loads`` are dead
        forces and moments on frames beside those of the file, as in :meth:`statics`. ``outputs`` are columns more:
        position, rotation (its vector), velocity and acceleration of a frame (``"velocity:endpoint"``), rate and
        acceleration of a joint, its reaction (force and moment of the parent on the link, in the root frame), spring
        and power, and gauges. ``algorithm`` is recursive (default) or composite, which alone is for joints that
        follow others, ``solver`` cvodes, rodas, dop853 or radau; ``band`` is the share of its way in which what moves
        has settled (``settling_time`` in the summary).
        Raises ComputationError where the run stops early, Interrupted at Ctrl-C, both with the rows so far as
        ``partial``.

        >>> import kronbot
        >>> answer = kronbot.load("khang", order="1").simulate(duration=0.1, step=0.05)
        >>> answer["t"].tolist()
        [0.0, 0.05, 0.1]
        """
        from kronbot.library.loads import on_moving_frames
        from kronbot.mechanics.motion.integration import Tolerances
        from kronbot.questions import grids, simulate

        known = self.description.values
        run_time, row_time = grids.horizon(self._sound, self._time(duration, "duration"), self._time(step, "step"))
        run = simulate.Run(
            duration=run_time,
            step=row_time,
            algorithm=algorithm_for(self._sound, algorithm),
            solver=arguments.choice(solver, choices.INTEGRATORS, "solver"),
            tolerances=Tolerances(arguments.positive(rtol, known, "rtol"), arguments.positive(atol, known, "atol")),
            q=by_index(self._sound, q, "q"),
            qd=by_index(self._sound, qd, "qd"),
            outputs=outputs_of(self._sound, outputs),
            loads=on_moving_frames(self._sound, loads),
            band=arguments.share(band, known, "band"),
            start=self._model.file.simulate.start
            if start is None
            else arguments.choice(start, choices.STARTS, "start"),
        )
        model, watch = self._sound, watcher(progress)

        def ask(robots: Sequence[robot.Robot], asked: Sequence[Any]) -> list[Callable[[], Result]]:
            return [partial(_complete, each) for each in simulate.each(robots, asked, watch)]

        def alone() -> Result:
            return complete(simulate.simulate(model, run, watch))

        return Posed(model, run, ask, simulate.alike(model, run), alone=alone)

    @in_words
    def fit(
        self,
        data: Data | None = None,
        *,
        question: str | None = None,
        columns: Mapping[str, str] | None = None,
        estimate: Estimated | None = None,
        prior: Mapping[str, Sequence[NumberLike]] | None = None,
        sigma: Mapping[str, NumberLike] | None = None,
        only: str | Sequence[str] | None = None,
        fix: str | Sequence[str] | None = None,
        validate: Data | float | None = None,
        initial: str | None = None,
        offset: Mapping[str, str | NumberLike] | None = None,
        delay: Mapping[str, str | NumberLike] | None = None,
        differentiate: NumberLike | None = None,
        loss: str | None = None,
        starts: int | None = None,
        seed: int | None = None,
        steps: int | None = None,
        plan: int | None = None,
        candidates: Data | None = None,
        synthetic: int | None = None,
        progress: Progress = unheeded,
    ) -> Result:
        """Parameters of the file from measurements, by least squares with exact derivatives.

        ``data`` are columns by name, a DataFrame, the path of a CSV file or an open one, with a row for each
        measurement: what is given there (``q1`` or ``angle.q1``, ``force.x``, ``load.FRAME.fx``) and what was measured,
        as answers of ``question`` call it (``position.FRAME.x``, ``rotation.FRAME.x`` of a rotation vector,
        ``torque.q1``, ``curvature.g1``, ``endpoint.x``); ``columns`` are expressions of the data's columns by such
        names. ``estimate`` names the parameters, perhaps with bounds; without it all plain numbers that something
        depends on; those of ``fix`` stay. ``prior`` has means and standard deviations. ``sigma`` says what measurements
        are good for, by column or by what stands before a dot in it, and so does ``only`` which of them count; what has
        no sigma gets that of its own errors. ``validate`` are other data, or a share of the rows drawn with the
        ``seed``, which are not fitted. ``loss`` is linear, huber or cauchy; ``starts`` are searches from drawn places.
        What is left out the file says under ``fit``.

        Rows of ``simulate`` have the time ``t`` (s), and a number ``record`` where there are several motions;
        ``torque.q1`` or ``motion.q1`` drive the robot. Joints, links behind shafts and floating bases begin as
        ``initial`` says: where the first row of a record has them (rows), as the robot file has it (file), or where the
        fit finds them (fitted): what is measured there is exact in rows, and nothing in fitted. ``offset`` is
        what sensors add to columns, of any question, and ``delay`` how late they tell of motions (s): expressions of
        parameters by column, or by what stands before a dot in it. Rows of ``dynamics`` that hold ``t`` and coordinates
        alone get rates and accelerations by ``differentiate``, the cut-off (Hz) of a filter without delay that torques,
        computed and measured, pass, too.

        With ``plan`` nothing is fitted: the answer are so many rows of ``candidates`` that tell most beside the data,
        if any, and the standard errors they lead to. With ``synthetic`` neither: the parameters are fitted to so many
        draws of noise on what the file's own values give in the rows of the data, and their bias and spread told. For
        both it does not matter what stands in the cells of what would be measured.

        Estimates are in ``at["parameters"]`` and in the array ``estimates``; with them standard errors, correlations,
        singular values, residuals, and in the warnings combinations that these data cannot tell apart. Raises
        UsageError for columns that do not fit, ComputationError without convergence and Interrupted, with the best so
        far (with ``synthetic`` the draws before) as ``partial``.

        >>> import kronbot
        >>> robot = kronbot.load("piedboeuf")
        >>> sag = robot.statics(q=[[0.0], [0.5]], forces=[[0, -1, 0]])
        >>> data = {"theta": [0.0, 0.5], "force.y": [-1, -1], "endpoint.y": sag["endpoint.y"]}
        >>> answer = robot.with_parameters(EI=10).fit(data, estimate="EI")
        >>> round(answer.at["parameters"]["EI"], 6)
        13.4
        """
        from kronbot.library.fit import MOST_ROWS, demand_heeded, inquiry
        from kronbot.library.fit import candidates as rows_of
        from kronbot.questions import fit
        from kronbot.questions.fitting import planning

        asked = inquiry(
            self.model, data, question=question, columns=columns, estimate=estimate, prior=prior, sigma=sigma,
            only=only, fix=fix, validate=validate, initial=initial,
            offset=offset, delay=delay, differentiate=differentiate, loss=loss, starts=starts, seed=seed, steps=steps,
            planned=plan is not None,
        )  # fmt: skip
        model = self.model if asked.question == "statics" else self._sound
        if plan is not None and synthetic is not None:
            raise UsageError("a plan fits nothing: leave out ", Argument("synthetic"))
        given = {"initial": initial, "validate": validate, "starts": starts, "steps": steps, "loss": loss}
        given["seed"] = seed
        demand_heeded(asked, given, plan is not None, synthetic is not None)
        if plan is None and candidates is not None:
            raise UsageError(Argument("candidates"), " are those of a plan: leave them out, or add ", Argument("plan"))
        if plan is not None:
            count = arguments.count(plan, "plan", 1, MOST_ROWS)
            return planning.plan(model, asked, rows_of(self.model, candidates, columns), count)
        if synthetic is not None:
            repetitions = arguments.count(synthetic, "synthetic", planning.LEAST_DRAWS, MOST_ROWS)
            return complete(planning.synthetic(model, asked, repetitions, watcher(progress)))
        return complete(fit.fit(model, asked, watcher(progress)))

    @in_words
    def export(
        self, *functions: str, algorithm: str | None = None, frame: str = "endpoint", axes: str = "base"
    ) -> Export:
        """Functions of the robot free of kronbot, as C, as a Python module or for CasADi; without names all there are.

        ``algorithm`` is that of forward dynamics, as of :meth:`simulate`, ``frame`` that of poses, and with ``axes`` of
        Jacobians and Hessians. Raises UsageError for what none of the functions has.

        >>> import kronbot
        >>> source, header = kronbot.load("khang").export("inverse_dynamics").c()
        >>> "khang_inverse_dynamics" in header
        True
        """
        from kronbot.library.exporting import Export
        from kronbot.questions import export

        names = [arguments.choice(each, export.FUNCTIONS, "function") for each in functions] or [*export.FUNCTIONS]
        choice = export.ExportOptions(
            algorithm_for(self._sound, algorithm),
            arguments.text(frame, "frame"),
            arguments.choice(axes, choices.AXES, "axes"),
        )
        given = {"frame": frame, "axes": axes} | ({} if algorithm is None else {"algorithm": algorithm})
        unheeded = [word for word in given if not any(export.heeds(name, word) for name in names)]
        arguments.demand_heeded(given, unheeded, *names)
        made = Export(self, tuple(dict.fromkeys(names)), choice)
        _ = made.package  # which refuses what no function has
        return made

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
        watch = watcher(progress)
        return complexity.complexity(
            self._sound, list(dict.fromkeys(names)) or tuple(complexity.FUNCTIONS), chains, watch
        )

    def answers(
        self, question: str, cases: Sequence[Case | tuple[Mapping[str, object], Mapping[str, object]]]
    ) -> Iterator[Result | KronbotError]:
        """The answers to a question in many cases: robots with values of their own, arguments of their own.

        ``question`` is the name of a method; a case is a pair of ``parameters`` by name and ``arguments`` of the
        question, and ``order``. For each case, in order, what ``with_parameters(...)`` and the method give, bit for
        bit, or the error that they raise. Raises UsageError for another question, and for what is no case, and
        Interrupted at Ctrl-C, which is no answer of a case.

        >>> import kronbot
        >>> robot = kronbot.load("canadarm")
        >>> soft, stiff = robot.answers("check", [({"EI": 1e4}, {}), ({"EI": 1e6}, {"order": "1"})])
        >>> soft.summary["first_frequency_locked"] < stiff.summary["first_frequency_locked"]
        True
        """
        from kronbot.library import cases as many
        from kronbot.sweeps.work import Case

        asked = arguments.choice(question, many.QUESTIONS, "question")
        given: list[Any] = arguments.entries(cases, "cases")
        pairs = [tuple.__add__(e, ()) if is_a(e, tuple) else () for e in given]
        for pair, each in zip(pairs, given, strict=True):
            if len(pair) != 2 or not all(map(arguments.is_named, pair)):
                strange = arguments.shown(each)
                raise UsageError(f"cases: pairs are wanted, like ({{'EI': 2e5}}, {{'q': [0.1]}}), not {strange}")
        return many.answers(self, asked, [Case(*pair) for pair in pairs])

    @in_words
    def sweep(
        self,
        question: str,
        over: Mapping[str, object] | None = None,
        *,
        cases: Mapping[str, Sequence[object]] | None = None,
        sample: int | None = None,
        seed: int = 0,
        indices: bool = False,
        keep: str | Sequence[str] | None = None,
        workers: int | None = None,
        scheduler: str | None = None,
        output: str | None = None,
        overwrite: bool = False,
        resume: bool = False,
        strict: bool = False,
        plot: bool = False,
        progress: Progress = unheeded,
        **options: object,
    ) -> Sweep:
        """One question in many cases, computed by processes of this machine or by a Dask cluster once you look.

        Before you iterate over the sweep, or ask it for :meth:`~kronbot.library.sweep.Sweep.result`, a column or a
        picture, nothing is computed, no file is written and no error of a case is raised, with ``output`` and
        ``strict`` too: ``robot.sweep(..., output="x.csv").result()`` writes x.csv.

        ``over`` says what varies: parameters, coordinates and rates (``q1``, ``q1_dot``), loads (``force.x``,
        ``load.FRAME.fx``), options of the question and values in them (``to.q1``, in the place of what ``to`` says of
        q1; what it says of others stays), each ``"from:to:N"`` (N values, both ends included), a list, or a
        distribution (``"normal(1e5, 1e4)"``, uniform(from, to), lognormal(mean and deviation of the natural logarithm),
        triangular(from, mode, to)) with ``sample`` draws. They multiply, the first slowest; ``cases`` are columns of
        values that go together. ``keep`` names columns: ``"M[q1,q2]"``, ``"frequencies_free[1:6]"``,
        ``"max(abs(tip.arm.y))"``; by default the numbers of the summary. ``options`` are those of the question. With
        ``indices`` Sobol indices of the draws. With ``output`` (.csv, .json, .npz; ``runs/`` is a folder with a .npz a
        case, ``runs/.json`` one of .json files) a journal beside it lets ``resume`` go on; it appears whole. Cases that
        fail are rows with an error; ``strict`` raises ComputationError at the end. With ``plot`` mode shapes are kept
        beside, by which the picture follows frequencies. Raises UsageError at once for names, grammar and too many
        cases.

        >>> import kronbot
        >>> posture = kronbot.load("canadarm").sweep("modes", over={"q2": "-pi/2:pi/2:181"})
        >>> len(posture), posture.header[:3]
        (181, ['case', 'q2', 'free_coordinates_locked'])
        """
        from kronbot.library import sweep as sweeping
        from kronbot.sweeps.cases import MOST
        from kronbot.sweeps.place import place_of

        words = {"overwrite": overwrite, "resume": resume, "strict": strict}
        flags = [arguments.flag(given, word) for word, given in words.items()]
        return sweeping.sweep(
            self,
            question,
            {} if over is None else arguments.pairs(over, "over"),
            None if cases is None else sweeping.columns_of(cases),
            (
                None if sample is None else arguments.count(sample, "sample", 1, MOST),
                arguments.count(seed, "seed", 0, 2**32 - 1),
                arguments.flag(indices, "indices"),
            ),
            None if keep is None else arguments.texts(keep, "keep"),
            arguments.flag(plot, "plot"),
            options,
            sweeping.Hands(
                None if workers is None else arguments.count(workers, "workers", 1, sweeping.MOST_WORKERS),
                None if scheduler is None else arguments.path(scheduler, "scheduler"),
            ),
            place_of(None if output is None else arguments.path(output, "output"), *flags[:2]),
            flags[2],
            arguments.progress(progress),
        )

    def force_units(self, indices: Iterable[int]) -> list[str]:
        """Units of the generalized forces on the coordinates at ``indices`` (0 ... n - 1): N m, N, J per unit.

        Raises UsageError for an index that is not there.
        """
        return self._model.force_units(arguments.counts(indices, "indices", 0, self._model.n - 1))

    def derivative_names(self, words: Iterable[str]) -> dict[str, list[str]]:
        """Names of the entries of ``q``, ``qd`` and ``qdd``, whichever are asked for: ``q1``, ``q1_dot``, ``q1_ddot``.

        Raises UsageError for other words.
        """
        return self._model.derivative_names(arguments.names(words, ("q", "qd", "qdd"), "words", "name"))

    def _time(self, value: NumberLike | None, word: str) -> float | None:
        """A time (s) that is given. Raises UsageError where it is not positive."""
        return None if value is None else arguments.positive(value, self.description.values, word)


def _complete(ask: Callable[[], Outcome]) -> Result:
    return complete(ask())


def _built(then: str, described: description.Description, order: str) -> Robot:
    demand_same("a robot", then, seal(described.checksum, order))
    with AtWork():
        return Robot(build.build(described, order))
