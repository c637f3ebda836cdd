"""What an answer must be taken with: warnings about what its model is not made for."""

from __future__ import annotations

from collections.abc import Iterator

from kronbot.description.choices import ORDERS
from kronbot.description.wording import listing
from kronbot.questions.result import Result


def reservations(result: Result) -> Iterator[str]:
    """Sentences, from the counts in the summary."""
    summary = result.summary
    far = "a beam bends by more than a tenth of its length, or its tip turns by more than 0.3 rad"
    for word, total in (("cases", "cases"), ("rows", None)):
        if count := summary.get(f"{word}_beyond_small_deflections", 0):
            of = f" of {summary[total]}" if total else ""
            where = f"{count}{of} {word}: " if total is None or summary[total] != 1 else ""
            yield f"{where}{far}, {_made(result)}"
    counts = [(order, summary.get(f"cases_beyond_small_deflections.{order}", 0)) for order in ORDERS]
    if found := [f"{count} case{'s' * (count != 1)} of order {order}" for order, count in counts if count]:
        yield f"{listing(found)}: {far}, which orders 1 and 2 are not made for: order exact holds for any deflection"
    if "beyond_small_deflections" in summary:
        yield f"{far}, {_made(result)}"
    if "buckling_beyond_small_deflections" in summary:
        yield f"at the buckling load {far}, {_made(result)}"


def _made(result: Result) -> str:
    return f"which order {result.order} is not made for: order exact holds for any deflection"
