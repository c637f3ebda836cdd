"""The question ``fit``: parameters of a robot from measurements, what is known of them, and what is not."""

from __future__ import annotations

from collections.abc import Callable

from kronbot.errors import Argument, ComputationError, Interrupted, KronbotError
from kronbot.model.robot import Robot
from kronbot.questions.fitting.answers import SHORTER
from kronbot.questions.fitting.inquiry import Inquiry
from kronbot.questions.fitting.report import report
from kronbot.questions.fitting.search import Search
from kronbot.questions.fitting.words import alike
from kronbot.questions.keeping import kept
from kronbot.questions.result import Outcome
from kronbot.system.interruption import Interruptions


def fit(robot: Robot, inquiry: Inquiry, progress: Callable[[float], None]) -> Outcome:
    """The parameters with the least weighted squares of errors, with their errors and what data cannot tell.

    An answer that has not converged, or that somebody interrupts, is the best so far, with its error. Raises UsageError
    for columns that do not fit and for parameters that decide what is traced, ComputationError where there is no answer
    at the start.
    """
    return kept(lambda met: _fit(robot, inquiry, progress, met))


def _fit(robot: Robot, inquiry: Inquiry, progress: Callable[[float], None], met: Interruptions) -> Outcome:
    with met.heard():
        search = Search.of(robot, inquiry, progress)
    error: KronbotError | None = None
    try:
        with met.heard():
            met.demand_none()
            search.run()
    except KeyboardInterrupt:
        if search.best is None:
            raise
        met.take_time()
        search.halt()
        error = Interrupted(f"interrupted after {search.evaluations} evaluations; the best so far is told")
    if error is None and search.found.promised:
        share = f"{100 * search.found.promised:.3g} %"
        none, shorter = (f", as {search.beyond}", f"{SHORTER}, or ") if search.beyond else ("", "")
        error = ComputationError(
            f"the search ended where derivatives and answers disagree: by derivatives a step takes {share} off "
            f"chi_square, but answers there are no better, or there are none{none}; what is told is the best so far, "
            f"whose standard errors mean nothing; {shorter}give ", Argument("parameters"), " other values",
        )  # fmt: skip
    elif error is None and not search.found.converged:
        most = search.inquiry.steps
        steps = f"{most} step{'s' if most != 1 else ''} a search"
        end = f"no convergence after {search.evaluations} evaluations, in at most {steps}"
        told = f"{end} (", Argument("steps"), "): what is told is the best so far"
        error = ComputationError(*told)
        if (both := alike(search.knowledge, search.inquiry.names)) is not None:
            why = f"; these data hardly tell {both[0]} and {both[1]} apart: hold one with "
            error = ComputationError(*told, why, Argument("fix"), " or give it a ", Argument("prior"))
    return Outcome(report(search, error is None), error)
