"""Closed forms of a robot: the same questions as numbers, answered as text, LaTeX or Python."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kronbot.compute.arrays import Scalar
from kronbot.compute.question import Question
from kronbot.description.called import called_by_name
from kronbot.description.wording import listing
from kronbot.errors import Argument, UsageError
from kronbot.library import arguments
from kronbot.library.answering import Subject, in_words
from kronbot.library.values import indices_of, view
from kronbot.model.robot import Robot
from kronbot.questions import dynamics as lagrange
from kronbot.questions import hessian as hessians
from kronbot.questions import jacobian as jacobians
from kronbot.questions import kinematics as poses
from kronbot.questions import linearize as linearization
from kronbot.questions.formulas import Lengths, Writing, formulas
from kronbot.questions.result import Result, demand_array
from kronbot.records import dataclass

# Marks of docstrings.
_PLAIN = re.compile(":meth:|`")


@called_by_name
@dataclass(frozen=True, repr=False)
class Symbolic:
    """Formulas of a robot, in the form that ``writing`` asks for.

    Every method returns a Result whose arrays hold text; ``source`` has whole LaTeX matrices or Python functions.
    Raises ComputationError where formulas are too long, UsageError at order ``exact``, which has none.
    """

    asked: Subject
    writing: Writing

    @property
    def robot(self) -> Robot:
        """The model of who is asked."""
        return self.asked.model

    def __repr__(self) -> str:
        """Of what, and how they are written."""
        return f"<formulas of {self.robot.name}, order {self.robot.order}, as {self.writing.style}>"

    def _repr_html_(self) -> str:
        """In a notebook: what there are formulas of."""
        from kronbot.plots import notebook

        questions = [(name, each.__doc__) for name, each in vars(Symbolic).items() if callable(each) and name[0] != "_"]
        rows = [(f".{name}()", _PLAIN.sub("", told.partition("\n")[0])) for name, told in questions if told]
        names = ", ".join(self.robot.coordinates)
        return notebook.heading(repr(self).strip("<>")) + notebook.table("", rows) + notebook.told(names)

    @in_words
    def kinematics(self, frame: str | Sequence[str] = "endpoint") -> Result:
        """T (4 x 4 a frame, one below the other), Tuan (71)-(72)."""
        seen = poses.views(self.robot, arguments.texts(frame, "frame", least=1))
        return closed_forms(self.robot, poses.kinematics(self.robot, seen), self.writing)

    @in_words
    def jacobian(self, frame: str = "endpoint", axes: str = "base", generalized: bool = False) -> Result:
        """J_T and J_R (3 x n), Tuan (30)-(42); ``generalized`` as of :meth:`Robot.jacobian`."""
        asked = view(self.robot, frame, axes), False, arguments.flag(generalized, "generalized")
        return closed_forms(self.robot, jacobians.jacobian(self.robot, *asked), self.writing)

    @in_words
    def hessian(self, frame: str = "endpoint", axes: str = "base") -> Result:
        """H_T and H_R (3 x n^2), Tuan (51), (53), (60), (61)."""
        seen = view(self.robot, frame, axes)
        return closed_forms(self.robot, hessians.hessian(self.robot, seen, rates=False), self.writing)

    @in_words
    def dynamics(self) -> Result:
        """M, C, C_christoffel, C_star, dM_dq, g, K, D, tau, Khang (95)-(101)."""
        if self.writing.array is not None:  # before anything is traced
            demand_array(self.writing.array, lagrange.names(self.robot))
        elif self.robot.order != "exact":  # before what is derived from M is
            self.writing.demand(lagrange.names(self.robot))
            plain = lagrange.dynamics(self.robot, rates=False, derived=False)
            Lengths(plain, list(plain.quantities)).demand_short(self.writing.shared)
        return closed_forms(self.robot, lagrange.dynamics(self.robot, rates=True), self.writing)

    @in_words
    def linearize(self, lock: Sequence[str] | str = ()) -> Result:
        """M_L, D_L, K_L, h_L about a rigid motion, Khang (59)-(67), without the coordinates of locked joints."""
        locked = frozenset(indices_of(self.robot, lock, "lock"))
        return closed_forms(self.robot, linearization.formulas(self.robot, locked), self.writing)


def closed_forms(robot: Robot, question: Question, writing: Writing) -> Result:
    """The answer as formulas; ``where.NAME`` in the summary says what a symbol stands for.

    ``simplified`` is in the summary, False, where time ran out: the formulas are right but longer than they could be.
    """
    if robot.order == "exact":
        raise UsageError(
            "order exact is integrated along the beam and has no formulas: take ", Argument("order", "2 or 1")
        )
    written = formulas(question, writing)
    summary: dict[str, Scalar] = {f"where.{name}": meaning for name, meaning in written.meanings.items()}
    if not written.complete:
        summary["simplified"] = False
    empty = [name for name, array in written.arrays.items() if not array.values.size]
    return Result(
        question.purpose,
        robot.name,
        robot.order,
        arrays=written.arrays,
        summary=summary,
        warnings=(f"nothing is left that moves: {listing(empty)} have no entries",) if empty else (),
        source=written.source,
        language=writing.style,
        about=robot,
    )
