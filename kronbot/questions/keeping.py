"""Answers that are made piece by piece: what is finished when one fails, or when a signal comes, is kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from kronbot.errors import Argument, Interrupted, KronbotError
from kronbot.questions.result import Outcome
from kronbot.system.interruption import Interruptions, interruptions

Piece = TypeVar("Piece")
# While equations are derived and compiled, which for large robots takes longest.
PREPARING = "interrupted while the equations were prepared, before the first number of the answer"

# How a message ends where the answer holds what a search has found before it stopped.
COMPLETE = "interrupted; the answer is complete"
SO_FAR = "; the best so far is told"


class Deadline:
    """So many ``seconds`` from now, None for all the time that it takes.

    Pieces of the work lie between two demands: one is not begun that would end further behind the deadline than it
    begins before, if it takes as long as the one before.
    """

    def __init__(self, seconds: float | None) -> None:
        self.seconds, self.last = seconds, time.monotonic()
        self.end = None if seconds is None else self.last + seconds
        self.met = False

    def demand(self) -> None:
        """Raise Interrupted when they are over."""
        now = time.monotonic()
        piece, self.last = now - self.last, now
        if self.end is not None and now + piece / 2 > self.end:
            self.met = True
            raise Interrupted(f"{self.seconds:g} s were {'' if now > self.end else 'nearly '}over")


def in_time(error: KronbotError, met: Interruptions) -> KronbotError:
    """An error that leaves no answer; where a deadline was its reason, and no signal ``met``, with the cure."""
    if not isinstance(error, Interrupted) or met:
        return error
    return Interrupted(*error.args, ", before there was any answer: more ", Argument("seconds"))


def kept(answer: Callable[[Interruptions], Outcome]) -> Outcome:
    """The answer, which is finished first where a signal comes while it is put together from its pieces.

    A second signal ends it with KeyboardInterrupt, and so does the first in :meth:`Interruptions.heard`.
    """
    with interruptions() as met:
        outcome: Outcome | None = None
        try:
            with met.saving(), met.at_work(lambda: PREPARING):
                outcome = answer(met)
        except KeyboardInterrupt:
            if outcome is None:
                raise
        if met and outcome.error is None:
            return replace(outcome, error=Interrupted(COMPLETE))
        return outcome


def gathered(
    met: Interruptions, pieces: Iterable[Piece], told: Callable[[list[Piece]], str]
) -> tuple[list[Piece], KronbotError | None]:
    """The pieces before one fails or a signal comes, and what stopped them; ``told`` says how far a signal let them.

    Raises what stopped them where there is none.
    """
    found: list[Piece] = []
    before = met.doing

    def doing() -> str:
        return f"{told(found)}, in a step that did not end in time" if found else before()

    error: KronbotError
    try:
        with met.heard(), met.at_work(doing):
            met.demand_none()
            for piece in pieces:
                found.append(piece)
                met.demand_none()
        return found, None
    except KeyboardInterrupt:
        met.take_time()
        met.doing = before
        error = Interrupted(told(found))
    except KronbotError as failed:
        error = failed
    if not found:
        raise error
    return found, error
