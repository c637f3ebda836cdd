"""How a question is answered with numbers, at a point or at many, and what a stopped computation leaves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from kronbot.compute.arrays import Array, Scalar
from kronbot.compute.question import Question
from kronbot.errors import ComputationError, said
from kronbot.library import arguments
from kronbot.library.values import Values, points
from kronbot.model.robot import Robot
from kronbot.questions.limits import told_at, told_of_rows
from kronbot.questions.result import Deferred, Outcome, Result
from kronbot.system.interruption import own_errors

Given = ParamSpec("Given")
Answer = TypeVar("Answer")
Summary = Callable[[dict[str, Array]], dict[str, Scalar]]


def in_words(question: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """A question to a robot, or to something that has one.

    Where numbers have no answer, or there is no memory for it, it raises ComputationError. Numbers that overflow are
    seen in the answer: NumPy does not warn of them. What a handler of signals or a function of the caller's raises
    comes through as itself.
    """

    @wraps(question)
    def asked(*given: Given.args, **named: Given.kwargs) -> Answer:
        try:
            with own_errors(), np.errstate(all="ignore"):
                return question(*given, **named)
        except _Foreign as foreign:
            error_of_caller = foreign.error
        except np.linalg.LinAlgError as error:
            why = "joints that move no mass, or numbers of the robot that are too large, too small or too far apart"
            raise ComputationError(f"there is no answer ({error}): {why}") from error
        except MemoryError as error:
            raise ComputationError(f"{said(error)}: ask for less at a time") from error
        raise error_of_caller

    return asked


def watcher(progress: object) -> arguments.Progress:
    """What is told the share that is done of a question; what it raises comes through as itself."""
    told = arguments.progress(progress)

    def tell(share: float) -> None:
        try:
            told(share)
        except Exception as error:
            raise _Foreign(error) from None

    return tell


class _Foreign(BaseException):
    """An error of the caller's on its way there, which nothing takes for one of kronbot's."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(error)
        self.error = error


def numbers(
    robot: Robot,
    question: Question,
    given: Mapping[str, Values | None],
    summarize: Summary | None = None,
    asked: object = None,
) -> Result:
    """The answer at one point, with its summary, or at rows of points, as stacks with the axis ``case``.

    Raises UsageError for values that do not fit, FreeParameters where a parameter has no value.
    """
    values, batch = points(robot, {word: given.get(word) for word in question.inputs})
    limits = given.get("q") is not None
    if batch:
        arrays = question.at_rows(*values.values())
        cases: dict[str, Scalar] = {"cases": len(values["q"])}
        told = told_of_rows(robot, values["q"]) if limits else []
        return Result(
            question.purpose, robot.name, robot.order, arrays=arrays, summary=cases, warnings=told, about=robot
        )
    arrays = question.at(*(rows[0] for rows in values.values()))
    at = {word: dict(zip(robot.coordinates, rows[0].tolist(), strict=True)) for word, rows in values.items()}
    summary = {} if summarize is None else Deferred(lambda: summarize(arrays))
    told = told_at(robot, values["q"][0]) if limits else []
    return Result(
        question.purpose,
        robot.name,
        robot.order,
        at=at,
        arrays=arrays,
        summary=summary,
        warnings=told,
        about=robot,
        asked=asked,
    )


def of_rows(outcome: Outcome, robot: Robot, given: Values | None, q: npt.NDArray[np.float64]) -> Result:
    """The answer at rows q (N, n), complete, with a warning for every joint beyond a limit in some of them."""
    warned = outcome.result.warnings if given is None else [*outcome.result.warnings, *told_of_rows(robot, q)]
    return complete(replace(outcome, result=replace(outcome.result, warnings=warned)))


def with_limits(answer: Result, robot: Robot, given: Values | None, q: npt.NDArray[np.float64]) -> Result:
    """The answer at q (n,) with a warning for every joint beyond a limit, where values of joints were given."""
    return answer if given is None else replace(answer, warnings=[*answer.warnings, *told_at(robot, q)])


def complete(outcome: Outcome) -> Result:
    """The answer; where it stopped early, its error is raised with the answer so far as ``partial``."""
    if outcome.error is None:
        return outcome.result
    outcome.error.partial = outcome.result
    raise outcome.error
