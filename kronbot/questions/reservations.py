"""What an answer must be taken with: warnings about what its model is not made for."""

from __future__ import annotations

from collections.abc import Iterator

from kronbot.description.choices import ORDERS
from kronbot.description.wording import counted, listing
from kronbot.questions.result import Result

# What cases of both orders say in the same words is one kind of warning.
FAR = (
    "a beam bends by more than a tenth of its length, or its tip turns by more than 0.3 rad, which orders 1 and 2 are "
    "not made for: order exact holds for any deflection"
)


def reservations(result: Result) -> Iterator[str]:
    """Sentences, from the counts in the summary."""
    summary = result.summary
    if (count := summary.get("cases_beyond_small_deflections", 0)) and (cases := summary["cases"]):
        yield f"{f'{count} of {cases} cases: ' if cases != 1 else ''}{FAR}"
    if count := summary.get("rows_beyond_small_deflections", 0):
        yield f"{counted(int(count), 'row')}: {FAR}"
    counts = [(order, summary.get(f"cases_beyond_small_deflections.{order}", 0)) for order in ORDERS]
    if found := [f"{counted(int(count), 'case')} of order {order}" for order, count in counts if count]:
        yield f"{listing(found)}: {FAR}"
    if "beyond_small_deflections" in summary:
        yield FAR
    if "buckling_beyond_small_deflections" in summary:
        yield f"as the load is multiplied, {FAR}"
