"""What a fit says in words: combinations that data cannot tell apart, and correlations."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from kronbot.description.wording import listing
from kronbot.floats import Array
from kronbot.mechanics.estimation.knowledge import Ambiguity, Combination, Knowledge

# Correlations that are worth a word.
CORRELATED = 0.9
# Those of two parameters along which a search hardly gets on.
HARDLY = 0.999
# Digits of a correlation: so many at least, and no more.
DIGITS, MOST_DIGITS = 4, 9
# More sums of a group, and more pairs, are left to the arrays.
MOST_SUMS, MOST_PAIRS = 6, 10


def ambiguous(found: Sequence[Ambiguity], names: Sequence[str], held_by_priors: bool) -> Iterator[str]:
    """What each group of parameters that the data cannot tell apart is known by."""
    behind = "; the rest is the priors'" if held_by_priors else ""
    for group in found:
        who = _and([names[i] for i in group.places])
        if len(group.known) > MOST_SUMS:
            rest = len(group.places) - len(group.known)
            left = f"; {rest} combination{'s' * (rest > 1)} of them {'is' if rest == 1 else 'are'} left open{behind}"
            yield f"these data tell {who} only as {len(group.known)} sums, those of the array combinations{left}"
        elif group.known:
            sums = _and([sum_of(each, names) for each in group.known])
            yield f"these data tell {who} only as {sums}{behind}"
        else:
            yield f"these data tell nothing of {who}{behind}"


def sum_of(combination: Combination, names: Sequence[str]) -> str:
    """A combination as a sum: ``0.8 m3 + 0.6 m4``."""
    text = ""
    for place, share in zip(combination.places, combination.shares, strict=True):
        sign = (" - " if share < 0 else " + ") if text else ("-" if share < 0 else "")
        number = "" if (shown := f"{abs(share):.4g}") == "1" else f"{shown} "
        text += f"{sign}{number}{names[place]}"
    return text


def correlated(knowledge: Knowledge, names: Sequence[str]) -> Iterator[str]:
    """Pairs of parameters of which one is known as far as the other is, the strongest first."""
    R = knowledge.correlations
    pairs = [(float(R[i, j]), i, j) for i in range(len(R)) for j in range(i) if abs(R[i, j]) > CORRELATED]
    cure = "; hold one of them, give it a prior, or measure what tells them apart, such as at other postures and loads"
    for value, i, j in sorted(pairs, key=lambda pair: -abs(pair[0]))[:MOST_PAIRS]:
        yield f"{names[j]} and {names[i]} are correlated: {below_one(value)}{cure if abs(value) > HARDLY else ''}"
        cure = ""  # it is the same for all
    if len(pairs) > MOST_PAIRS:
        yield f"{len(pairs) - MOST_PAIRS} more pairs are correlated by more than {CORRELATED}: the array correlations"


def leaning(knowledge: Knowledge, names: Sequence[str]) -> Iterator[str]:
    """Parameters that data tell only beside others, which lie on bounds: they are what these bounds make of them."""
    if not knowledge.held:
        return
    whole = replace(knowledge, held=frozenset())
    untold = [set(group.places) for group in whole.ambiguities]
    for i in sorted(knowledge.held):
        beside = [
            names[j]
            for j in knowledge.free
            if abs(whole.correlations[i, j]) > HARDLY or any({i, j} <= group for group in untold)
        ]
        if beside:
            yield (
                f"these data tell {listing(beside)} only beside {names[i]}: another bound of it has others, which fit "
                "nearly as well; hold it at what it is known to be, give it a prior, or measure what tells them apart"
            )


def below_one(correlation: float) -> str:
    """A correlation with so many digits that it is not rounded to 1."""
    far = max(1 - abs(correlation), 10.0**-MOST_DIGITS)
    digits = max(DIGITS, math.ceil(round(-math.log10(far), 9)))
    return f"{math.copysign(min(abs(correlation), 1 - 10.0**-digits), correlation):.{digits}f}"


def uncertain(start: Array, values: Array, errors: Array, names: Sequence[str]) -> Iterator[str]:
    """Parameters with errors beyond both their estimates and what a search began with."""
    for name, first, value, error in zip(names, start.tolist(), values.tolist(), errors.tolist(), strict=True):
        if max(abs(first), abs(value)) < error < np.inf:
            yield f"these data hardly tell {name}: {value:.3g} with a standard error of {error:.3g}"


def alike(knowledge: Knowledge, names: Sequence[str]) -> tuple[str, str] | None:
    """The two parameters that the data tell apart the least, where they hardly do."""
    R = np.abs(np.nan_to_num(np.tril(knowledge.correlations, -1)))
    if not R.max(initial=0.0) > HARDLY:
        return None
    i, j = divmod(int(R.argmax()), len(R))
    return names[j], names[i]


def _and(words: Sequence[str]) -> str:
    listed = listing(words[:-1]) if len(words) > 1 else ""
    return f"{listed} and {words[-1]}" if listed else words[0]
