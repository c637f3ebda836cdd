"""What a linear model is to tell of its responses, from arguments."""

from __future__ import annotations

from collections.abc import Callable

from kronbot.description.choices import RESPONSES
from kronbot.errors import Argument, UsageError
from kronbot.library import arguments
from kronbot.questions.responses import FREQUENCY, with_response
from kronbot.questions.result import Result


def responding(response: str | None, duration: float | None, rows: bool) -> Callable[[Result], Result]:
    """What puts the response to an answer. Raises UsageError where arguments do not go together."""
    if response is None:
        if duration is not None:
            raise UsageError(Argument("duration"), " goes with ", Argument("response"), " step or impulse")
        return lambda answer: answer
    kind = arguments.choice(response, RESPONSES, "response")
    if duration is not None and kind == FREQUENCY:
        raise UsageError(Argument("duration"), " is for a response over time, not over frequency")
    if rows:
        raise UsageError(Argument("response"), " is that of a model at one point, not at rows")
    return lambda answer: with_response(answer, kind, duration)
