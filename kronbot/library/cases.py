"""Answers to one question in many cases, each a robot with values of its own and arguments of its own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial
from inspect import signature, unwrap
from typing import Protocol, Self

from kronbot.description import choices
from kronbot.description.wording import unknown
from kronbot.errors import ComputationError, Interrupted, KronbotError, Starved, UsageError, out_of_memory, said
from kronbot.library import arguments
from kronbot.library.answering import Posed, in_words
from kronbot.library.arguments import NumberLike
from kronbot.model.parameter_rows import Parted
from kronbot.questions.result import Result
from kronbot.sweeps.work import Case
from kronbot.system import limits
from kronbot.system.interruption import interruptions

# Those that can be asked in many cases.
QUESTIONS = (*choices.SWEPT, "linearize_along")
# Those that are functions of a point, or of a start, and of the values of parameters.
TOGETHER = ("kinematics", "jacobian", "hessian", "dynamics", "linearize", "modes", "statics", "simulate")
# Options that are tables: files, or columns by name.
_TABLES = ("follow", "through")
# Cases that are answered together: enough to forget the calls, few enough for memory.
BLOCK = 32
Ask = Callable[[], Result]


class Varied(Protocol):
    """A robot of the library, whose methods are the questions."""

    def with_parameters(self, /, **values: NumberLike) -> Self:
        """The same with other values."""

    def at_order(self, order: str | int) -> Self:
        """The same at another kinematic order."""


def answers(robot: Varied, question: str, cases: Sequence[Case]) -> Iterator[Result | KronbotError]:
    """As :meth:`kronbot.library.robot.Robot.answers`."""
    for start in range(0, len(cases), BLOCK):
        block = cases[start : start + BLOCK]
        made = _together(robot, question, block) if question in TOGETHER else {}
        for i, case in enumerate(block):
            alone = partial(answer, robot, question, case)
            found: Result | KronbotError
            with interruptions() as met:
                try:
                    found = _either(made.get(i, alone), alone).settled()
                except KronbotError as error:
                    if met and isinstance(error, Interrupted):  # of them all; where ``seconds`` are over, of this one
                        raise
                    found = error
                except Exception as error:  # a bug, or the system's: of one case, unless they all meet it
                    if limit := limits.met(error):
                        raise ComputationError(limit) from error
                    kind = Starved if out_of_memory(error) else ComputationError
                    found = kind(f"{type(error).__name__}: {said(error)}")
            yield found


def answer(robot: Varied, question: str, case: Case) -> Result:
    """What the robot of a case answers. Raises what it raises."""
    own, given = _own(robot, question, case)
    found: Result = getattr(own, question)(**given)
    return found


def demand_accepted(robot: object, question: str, given: Iterable[str], but: str = "") -> Collection[str]:
    """The arguments that a question takes of a case, ``but`` one. Raises UsageError for one that it does not."""
    accepted = _accepted(getattr(type(robot), question)) - {but}
    for name in given:
        if name not in accepted:
            raise unknown(name, sorted(accepted), f"{question} takes no ", there="; it takes")
    return accepted


def plain_option(name: str, value: object) -> object:
    """An option as plain values, which know no files: a table's are its columns."""
    if name not in _TABLES:
        return arguments.plain(value, name)
    from kronbot.library.fit import table

    rows = table(value, name)
    found = rows.numbers(rows.header)
    return {column: [None if each != each else each for each in numbers.tolist()] for column, numbers in found.items()}


@cache
def _accepted(method: Callable[..., object]) -> frozenset[str]:
    return frozenset((*signature(method).parameters, "order")) - {"self"}


def _own(robot: Varied, question: str, case: Case) -> tuple[Varied, dict[str, object]]:
    """The robot of a case, and the arguments of its question."""
    given = arguments.pairs(case.arguments, "arguments")
    demand_accepted(robot, question, given)
    values = arguments.pairs(case.parameters, "parameters")
    own = robot.with_parameters(**values) if values else robot  # type: ignore[arg-type]
    if "order" in given:
        order = given.pop("order")
        if order == "all":
            raise UsageError("a case has one order, not all: vary it")
        own = own.at_order(order)  # type: ignore[arg-type]
    return own, given


def _together(robot: Varied, question: str, cases: Sequence[Case]) -> dict[int, Ask]:
    """What answers some of the cases, by number: those that are alike by one call of what is traced.

    A case that is wrong, and one of those that have no answer together, says so alone.
    """
    pose = in_words(unwrap(getattr(type(robot), question)))
    alike: dict[Hashable, list[tuple[int, Posed]]] = {}
    for i, case in enumerate(cases):
        with suppress(Exception):
            own, given = _own(robot, question, case)
            posed = pose(own, **given)
            if isinstance(posed, Posed) and posed.alike is not None:
                alike.setdefault(posed.kind, []).append((i, posed))
    made: dict[int, Ask] = {}
    for group in alike.values():
        with suppress(Exception):
            found = in_words(group[0][1].ask)([posed.robot for _, posed in group], [posed.point for _, posed in group])
            made |= {i: in_words(partial(_told, posed, ask)) for (i, posed), ask in zip(group, found, strict=True)}
    return made


def _either(ask: Ask, alone: Ask) -> Result:
    """One of several, or alone where what they have in common turns out not to be so."""
    try:
        return ask()
    except Parted:
        return alone()


def _told(posed: Posed, ask: Ask) -> Result:
    return posed.told(ask())
