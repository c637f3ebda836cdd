"""Questions about a robot at a point: kinematics, Hessians, dynamics, expansions; with numbers or as formulas."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

from kronbot.cached import cached_property
from kronbot.compute.question import Question
from kronbot.library import arguments
from kronbot.library.answering import in_words, nothing, numbers, with_limits
from kronbot.library.values import Values, point, view
from kronbot.model import robot
from kronbot.questions.result import Result

if TYPE_CHECKING:
    from kronbot.library.symbolic import Symbolic


class Pointwise(robot.Robot):
    """The model of a robot, and what it answers at one point or at rows of them."""

    @cached_property
    def _asked(self) -> dict[Hashable, Question]:
        """Questions that were traced: the second answer takes its evaluation only."""
        return {}

    def _once(self, which: Hashable, make: Callable[[], Question]) -> Question:
        if which not in self._asked:
            self._asked[which] = make()
        return self._asked[which]

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
        # Here, since SymPy takes half a second to import.
        from kronbot.library.symbolic import Symbolic
        from kronbot.questions.formulas import Writing

        writing = Writing(
            arguments.choice(style, ("text", "latex", "python"), "style"),
            arguments.flag(short, "short"),
            arguments.flag(shared, "shared"),
            arguments.positive(seconds, {}, "seconds"),
            None if array is None else arguments.text(array, "array"),
        )
        return Symbolic(self, writing)

    @in_words
    def check(self) -> Result:
        """What the file describes: masses (kg), lengths (m), numbers of coordinates, natural frequencies, warnings.

        Frequencies stand in the summary where they can be had: not with free parameters, nor where M is singular.

        >>> import kronbot
        >>> kronbot.load("canadarm").check().summary["coordinates"]
        9
        """
        from kronbot.questions import check as survey

        return survey.survey(self)

    @in_words
    def jacobian(
        self, q: Values | None = None, qd: Values | None = None, *, frame: str = "endpoint", axes: str = "base"
    ) -> Result:
        """J_T and J_R (3 x n) of a frame, Tuan (30)-(42), at a point or at rows; with ``qd`` the velocities.

        ``frame`` is ``endpoint``, LINK (its tip), ``LINK:root``, ``com:LINK`` or ``base-to:A,B``; ``axes`` is ``base``
        or ``body``. Velocities are v = J_T qd (m/s) and omega = J_R qd (rad/s); at N rows all arrays are stacks
        (N, ...). Singular values, manipulability and condition number stand in the summary. Raises UsageError for an
        unknown frame or axes, ComputationError for the centre of mass of a link without mass.

        >>> import kronbot
        >>> answer = kronbot.load("stacker-numeric").jacobian(q=[1.0, 0.2, 0.3])
        >>> answer["J_T"].shape
        (3, 3)
        """
        from kronbot.questions import jacobian as jacobians

        seen, rates = view(self, frame, axes), qd is not None
        asked = self._once(("jacobian", seen, rates), lambda: jacobians.jacobian(self, seen, rates))
        return numbers(self, asked, {"q": q, "qd": qd}, jacobians.dexterity)

    @in_words
    def hessian(
        self,
        q: Values | None = None,
        qd: Values | None = None,
        qdd: Values | None = None,
        *,
        frame: str = "endpoint",
        axes: str = "base",
    ) -> Result:
        """H_T and H_R (3 x n^2), Khang derivatives of the Jacobians, Tuan (51)-(61); with rates the accelerations.

        Block column j of H is the derivative of column j of J by q; in axes ``body`` H_T_star = R^T H_T too. With rates
        a = J_T qdd + H_T (qd (x) qd) (m/s2) and alpha (rad/s2). Frames, axes, rows and errors as of :meth:`jacobian`.

        >>> import kronbot
        >>> answer = kronbot.load("puma560").hessian(frame="com:link2")
        >>> answer.arrays["H_T"].columns[:2]
        ['q1|q1', 'q1|q2']
        """
        from kronbot.questions import jacobian as jacobians

        seen, rates = view(self, frame, axes), qd is not None or qdd is not None
        asked = self._once(("hessian", seen, rates), lambda: jacobians.hessian(self, seen, rates))
        return numbers(self, asked, {"q": q, "qd": qd, "qdd": qdd}, nothing)

    @in_words
    def dynamics(self, q: Values | None = None, qd: Values | None = None, qdd: Values | None = None) -> Result:
        """M, C_star, dM_dq, g, K, D of M qdd + C_star (qd x qd) + g + K q + D qd = tau, Khang (95)-(101).

        M, K, D, C (n x n), C_star and dM_dq (n x n^2), g and tau (n,): N m at revolute joints, N at prismatic ones, J
        per unit of a modal coordinate. With rates or accelerations also C, C_christoffel and the forces tau; at a point
        or at rows.

        >>> import kronbot
        >>> answer = kronbot.load("puma560").dynamics(q=[0, "pi/4", 0, 0, 0, 0], qd={"q1": 1})
        >>> bool(abs(answer["M"] - answer["M"].T).max() < 1e-12)
        True
        """
        from kronbot.questions import dynamics as lagrange

        rates = qd is not None or qdd is not None
        asked = self._once(("dynamics", rates), lambda: lagrange.dynamics(self, rates))
        return numbers(self, asked, {"q": q, "qd": qd, "qdd": qdd}, nothing)

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
        coefficients (r x s n^k). Raises ComputationError where coefficients are too large and no ``delta`` is given.
        """
        from kronbot.questions import taylor as expansions

        quantity = arguments.choice(of, expansions.QUANTITIES, "of")
        power = arguments.count(terms, "terms", 0, expansions.MOST_TERMS)
        change = None if delta is None else point(self, delta, "delta")
        at = point(self, q, "q")
        seen = view(self, frame, axes)
        return with_limits(expansions.taylor(self, quantity, seen, power, at, change), self, q, at)
