"""How a question is answered with numbers, at a point or at many, and what a stopped computation leaves."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import wraps
from threading import RLock
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
from kronbot.questions.result import Outcome, Result
from kronbot.system.interruption import own_errors

Given = ParamSpec("Given")
Answer = TypeVar("Answer")
Summary = Callable[[dict[str, Array]], dict[str, Scalar]]


def in_words(question: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """A question to a robot, or to something that has one.

    One after the other, whatever threads ask the same robot: tracing adds symbols to its parameters. Where numbers have
    no answer, or there is no memory for it, it raises ComputationError. Numbers that overflow are seen in the answer:
    NumPy does not warn of them. What a handler of signals or a function of the caller's raises comes through as itself.
    """

    @wraps(question)
    def asked(*given: Given.args, **named: Given.kwargs) -> Answer:
        try:
            with _turn(given[0]).taken(), own_errors(), np.errstate(all="ignore"):
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


def watcher(asked: object, progress: object) -> arguments.Progress:
    """What is told the share that is done of a question; it may wait for others who ask the same robot."""
    told, turn = arguments.progress(progress), _turn(asked)

    def tell(share: float) -> None:
        with turn.left():
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


class _Turn:
    """Whose turn it is to ask a robot; a copy of the robot has one of its own.

    So has a process that is forked: a thread that it does not have may hold the lock of its parent.
    """

    def __init__(self) -> None:
        self._locks: dict[int, RLock] = {}

    @property
    def _lock(self) -> RLock:
        """That of this process; the first one that is set stays."""
        return self._locks.setdefault(os.getpid(), RLock())

    @contextmanager
    def taken(self) -> Iterator[None]:
        """One's own, once the others have had theirs."""
        lock = self._lock
        lock.acquire()
        try:
            yield
        finally:
            with suppress(RuntimeError):  # it was not taken again, see below
                lock.release()

    @contextmanager
    def left(self) -> Iterator[None]:
        """Others', as they were before; a signal that comes while one's own is waited for ends the question."""
        lock, depth = self._lock, 0
        try:
            with suppress(RuntimeError):  # all of it is given back
                while True:
                    lock.release()
                    depth += 1
            yield
        finally:
            try:
                for _ in range(depth):
                    lock.acquire()
            except BaseException as error:
                raise _Foreign(error) from None


def _turn(asked: object) -> _Turn:
    """The turns of a robot; the first ones that are set stay."""
    turn: _Turn = vars(getattr(asked, "robot", asked)).setdefault("_turn", _Turn())
    return turn


def nothing(arrays: dict[str, Array]) -> dict[str, Scalar]:
    """No summary."""
    return {}


def numbers(robot: Robot, question: Question, given: Mapping[str, Values | None], summarize: Summary) -> Result:
    """The answer at one point, with its summary, or at rows of points, as stacks with the axis ``case``.

    Raises UsageError for values that do not fit, FreeParameters where a parameter has no value.
    """
    values, batch = points(robot, {word: given.get(word) for word in question.inputs})
    if batch:
        arrays = question.at_rows(*values.values())
        cases: dict[str, Scalar] = {"cases": len(values["q"])}
        answer = Result(question.purpose, robot.name, robot.order, arrays=arrays, summary=cases)
        return answer if given.get("q") is None else replace(answer, warnings=told_of_rows(robot, values["q"]))
    arrays = question.at(*(rows[0] for rows in values.values()))
    at = {word: dict(zip(robot.coordinates, rows[0].tolist(), strict=True)) for word, rows in values.items()}
    answer = Result(question.purpose, robot.name, robot.order, at=at, arrays=arrays, summary=summarize(arrays))
    return with_limits(answer, robot, given.get("q"), values["q"][0])


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
