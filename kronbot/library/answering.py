"""How a question is answered with numbers, at a point or at many, and what a stopped computation leaves."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial, wraps
from typing import Any, ParamSpec, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from kronbot.compute.arrays import NamedArray, Scalar
from kronbot.compute.deferred import computed, summary_later
from kronbot.compute.question import Question
from kronbot.description.called import demand_arguments
from kronbot.errors import too_deep
from kronbot.floats import Array
from kronbot.library import arguments
from kronbot.library.values import Values, points
from kronbot.model import build
from kronbot.model.robot import Robot
from kronbot.questions.elements import told_of_time
from kronbot.questions.limits import told_of_rows
from kronbot.questions.result import Outcome, Result, with_warnings
from kronbot.records import dataclass
from kronbot.system.forking import Aside

Given = ParamSpec("Given")
Answer = TypeVar("Answer")
Summary = Callable[[dict[str, NamedArray]], dict[str, Scalar]]


def in_words(question: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """A question to a robot, or to something that has one.

    Where numbers have no answer, or there is no memory for it, or no room on the stack of calls, it raises
    ComputationError, UsageError for the name of an argument that it does not have. Numbers that overflow are seen in
    the answer: NumPy does not warn of them. What a handler of signals or a function of the caller's raises comes
    through as itself.
    """

    @wraps(question)
    def asked(*given: Given.args, **named: Given.kwargs) -> Answer:
        try:
            return computed(partial(question, *given, **named))
        except _Foreign as foreign:
            error_of_caller = foreign.error
        except TypeError:
            demand_arguments(question, len(given), named)
            raise
        except RecursionError:
            error_of_caller = too_deep()
        raise error_of_caller

    return asked


class Subject(Protocol):
    """The robot of the library that is asked: equal to others of the same description and order, and it pickles."""

    @property
    def model(self) -> Robot:
        """Its model."""


@dataclass(frozen=True)
class Posed:
    """A question to a robot at a point, ready to be answered: alone, or with others that are ``alike`` but for these.

    None is like nothing else. ``ask`` gives for many robots of one structure, a point for each, what answers each of
    them, or raises its error; ``told`` puts the library's own words to an answer. ``alone`` answers one that nobody
    asked with others, where that is another way.
    """

    robot: Robot
    point: Any
    ask: Callable[[Sequence[Robot], Sequence[Any]], Sequence[Callable[[], Result]]]
    alike: Hashable
    told: Callable[[Result], Result] = lambda answer: answer
    alone: Callable[[], Result] | None = None

    @property
    def kind(self) -> Hashable:
        """Equal for questions that are answered together."""
        return self.robot.parameters.structure, self.robot.order, self.alike

    def answer(self) -> Result:
        """The answer. Raises what there is instead."""
        return self.told(self.ask([self.robot], [self.point])[0]() if self.alone is None else self.alone())


def answered(question: Callable[Given, Posed | Result]) -> Callable[Given, Result]:
    """A question that is posed, answered :func:`in_words`."""

    # That of every wrapper, too, whose signature is this one: to make each its own takes as long as a first answer.
    question.__annotations__["return"] = "Result"

    @wraps(question)
    def answer(*given: Given.args, **named: Given.kwargs) -> Result:
        found = question(*given, **named)
        return found.answer() if isinstance(found, Posed) else found

    return in_words(answer)


def watcher(progress: object) -> arguments.Progress:
    """What is told the share that is done of a question; what it raises comes through as itself."""
    told = arguments.progress(progress)

    def tell(share: float) -> None:
        try:
            with Aside():
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
) -> Posed | Result:
    """The question at one point, whose answer has a summary, or the answer at rows of points, with the axis ``case``.

    Raises UsageError for values that do not fit, FreeParameters where a parameter has no value.
    """
    values, batch = points(robot, {word: given.get(word) for word in question.inputs})
    told = [] if given.get("q") is None else told_of_rows(robot, values["q"])
    told += told_of_time(robot) if question.purpose == "dynamics" else []
    if batch:
        arrays = question.at_rows(*values.values())
        cases: dict[str, Scalar] = {"cases": len(values["q"])}
        return Result(
            question.purpose, robot.name, robot.order, arrays=arrays, summary=cases, warnings=told, about=robot
        )

    def ask(robots: Sequence[Robot], points: Sequence[Sequence[Array]]) -> list[Callable[[], Result]]:
        rows = (np.array(entries) for entries in zip(*points, strict=True))
        found = question.with_values(build.together(robots).parameters).each(*rows)
        return [partial(answer, *each) for each in zip(robots, points, found, strict=True)]

    def answer(robot: Robot, point: Sequence[Array], arrays: dict[str, NamedArray]) -> Result:
        at = {word: robot.by_name(entries) for word, entries in zip(values, point, strict=True)}
        summary: Mapping[str, Scalar] = {} if summarize is None else summary_later(lambda: summarize(arrays))
        return Result(
            question.purpose, robot.name, robot.order, at=at, arrays=arrays, summary=summary, about=robot, asked=asked
        )

    point = [rows[0] for rows in values.values()]
    return Posed(
        robot,
        point,
        ask,
        question.traced,
        lambda answer: with_warnings(answer, told) if told else answer,
        lambda: answer(robot, point, question.at(*point)),
    )


def of_rows(outcome: Outcome, robot: Robot, given: Values | None, q: npt.NDArray[np.float64]) -> Result:
    """The answer at rows q (N, n), complete, with a warning for joints beyond a limit in those it has."""
    done = q[: int(outcome.result.summary["cases"])]
    return complete(replace(outcome, result=with_limits(outcome.result, robot, given, done)))


def with_limits(answer: Result, robot: Robot, given: Values | None, q: npt.NDArray[np.float64]) -> Result:
    """The answer at rows q (N, n) with a warning for every joint beyond a limit, where values of joints were given."""
    told = [] if given is None else told_of_rows(robot, q)
    return with_warnings(answer, [*answer.warnings, *told]) if told else answer


def complete(outcome: Outcome) -> Result:
    """The answer; where it stopped early, its error is raised with the answer so far as ``partial``."""
    if outcome.error is None:
        return outcome.result
    outcome.error.partial = outcome.result
    raise outcome.error
