"""What a design is asked for, from arguments."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from kronbot.description.choices import SHAPERS
from kronbot.errors import Argument, UsageError
from kronbot.kinds import is_a
from kronbot.library import arguments
from kronbot.library.arguments import NumberLike
from kronbot.questions.design import Wish

# Imaginary units of other languages.
_IMAGINARY = re.compile(r"(?<=\d)i$")
# Poles that are asked for at a time, one for each state at most.
MOST = 1000


def wish(
    known: Mapping[str, float | None],
    lqr: object,
    poles: object,
    shaper: object,
    weights: Mapping[str, NumberLike] | None,
    effort: Mapping[str, NumberLike] | None,
    noise: Mapping[str, NumberLike] | None,
    deviation: Mapping[str, NumberLike] | None,
    motion: object = False,
    duration: float | None = None,
) -> Wish:
    """The wish that arguments tell. Raises UsageError where they tell none, or several."""
    best = arguments.flag(lqr, "lqr")
    told = {"lqr": best, "poles": poles is not None, "shaper": shaper is not None}
    kinds = [name for name, each in told.items() if each]
    if len(kinds) != 1:
        words = Argument("lqr"), ", ", Argument("poles"), " or ", Argument("shaper")
        raise UsageError("one of ", *words, f" is wanted, not {' and '.join(kinds) or 'none'}")
    given = {"weights": weights, "effort": effort, "noise": noise, "deviation": deviation}
    named = {word: _numbers(known, word, values) for word, values in given.items()}
    if not best and (weights is not None or effort is not None or deviation is not None):
        raise UsageError("weights, effort and deviation are for ", Argument("lqr"))
    if shaper is not None and noise is not None:
        raise UsageError(Argument("noise"), " is for a feedback, not for a shaper")
    along = arguments.flag(motion, "motion")
    if along and (not best or noise is not None):
        raise UsageError(Argument("motion"), " goes with ", Argument("lqr"), ", without ", Argument("noise"))
    if duration is not None and not along:
        raise UsageError(Argument("duration"), " goes with ", Argument("motion"))
    kind = None if shaper is None else arguments.choice(shaper, SHAPERS, "shaper")
    return Wish(best, () if poles is None else _poles(poles), kind, motion=along, duration=duration, **named)


def _numbers(
    known: Mapping[str, float | None], word: str, values: Mapping[str, NumberLike] | None
) -> dict[str, float] | None:
    if values is None:
        return None
    return {
        name: arguments.number(each, known, f"{word} {name}") for name, each in arguments.pairs(values, word).items()
    }


def _poles(given: object) -> Sequence[complex]:
    """Poles of the upper half plane, of numbers, or of text like -2+3j."""
    entries = arguments.text(given, "poles").split(",") if is_a(given, str) else arguments.entries(given, "poles")
    if len(entries) > MOST:
        raise UsageError(Argument("poles"), f": more than {MOST}")
    found = []
    for entry in entries:
        try:
            told = complex(_IMAGINARY.sub("j", entry.replace(" ", ""))) if is_a(entry, str) else entry
        except ValueError:
            why = f": a pole like -4 or -2+3j is wanted, not {arguments.shown(entry)}"
            raise UsageError(Argument("poles"), why) from None
        found.append(arguments.complex_number(told, "poles"))
    # One of a pair stands for both, and so does a pair that is written out.
    upper = Counter(each for each in found if each.imag >= 0)
    lower = Counter(each.conjugate() for each in found if each.imag < 0)
    return [*(upper | lower).elements()]
