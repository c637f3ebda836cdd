"""Sobol indices: how much of the variance of what is kept comes from each drawn value, alone and with the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from kronbot.compute.arrays import NamedArray
from kronbot.description.wording import listing
from kronbot.errors import Argument, UsageError
from kronbot.questions.swept import Indices
from kronbot.sweeps.cases import Cases, Draws
from kronbot.sweeps.kept import Kept
from kronbot.system.importing import whole_imports

# Share of the resamples of the draws that an interval holds, and how many there are.
CONFIDENCE, RESAMPLES = 0.95, 500
_ONE = "are about one row a case, and these have several"


def indices(draws: Draws, columns: Mapping[str, Sequence[object]]) -> dict[str, Indices]:
    """First-order and total indices of columns of numbers, one for each of the N (d + 2) cases, Saltelli 2010.

    Intervals are percentiles of the bootstrap, whose seed is that of the draws. Columns that some cases lack have none,
    since indices are about whole draws, and those that are the same in all cases, which depend on nothing.
    """
    with whole_imports():
        from scipy.stats import sobol_indices

    values = {name: np.array(column, dtype=float) for name, column in columns.items() if None not in column}
    moving = {name: column for name, column in values.items() if column.max() != column.min()}
    if not moving:
        return {}
    blocks = np.array(list(moving.values())).reshape(len(moving), len(draws.names) + 2, draws.count).transpose(1, 0, 2)
    if len(moving) == len(draws.names) == 1:  # SciPy fails at one by one: it makes a number of it
        blocks = np.repeat(blocks, 2, axis=1)

    def asked(rows: np.ndarray) -> np.ndarray:
        """Indices (2, columns, names) of some rows."""
        f_A, f_B, *f_AB = blocks[..., rows]
        found = sobol_indices(func={"f_A": f_A, "f_B": f_B, "f_AB": np.array(f_AB)}, n=draws.count)
        return np.array([np.reshape(each, (-1, len(draws.names))) for each in (found.first_order, found.total_order)])

    first, total = asked(np.arange(draws.count))
    random = np.random.default_rng(draws.seed)
    again = np.array([asked(random.integers(draws.count, size=draws.count)) for _ in range(RESAMPLES)])
    ends = np.quantile(again, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=0)
    return {name: Indices(first[i], total[i], ends[:, 0, i].T, ends[:, 1, i].T) for i, name in enumerate(moving)}


def told(
    cases: Cases, failed: int, numbers: Mapping[str, Sequence[object]], kept: Sequence[str], usual: Sequence[str]
) -> tuple[dict[str, Indices], list[str]]:
    """Those of the draws of a sweep, if they are asked for, and of which columns ``kept`` there are none, and why."""
    draws = _drawn(cases)
    if draws is None:
        return {}, []
    if failed:
        return {}, [f"no indices: they are about whole draws, and {failed} cases have failed"]
    if any(len(column) != cases.count for column in numbers.values()):
        return {}, [f"no indices: they {_ONE}"]
    found = indices(draws, numbers)
    return found, [*doubts(numbers, kept, usual, found)]


def demand_one_row(cases: Cases, kept: Kept) -> None:
    """Raise UsageError where indices are asked for of cases that have several rows."""
    if _drawn(cases) is not None and kept.telling:
        rows = [each.name for each in kept.columns if each.whole and each.kind == "series"]
        cure = Argument("keep", f"'max({next(name for name in rows if name not in kept.telling)})'")
        why = f"indices {_ONE} ({listing(kept.telling)}): keep one number of each, like "
        raise UsageError(why, cure, ", or ask for one row")


def _drawn(cases: Cases) -> Draws | None:
    """The draws that indices are asked of."""
    last = cases.factors[-1] if cases.factors else None
    return last if isinstance(last, Draws) and last.indices else None


def doubts(
    columns: Mapping[str, Sequence[object]], kept: Sequence[str], usual: Sequence[str], found: Mapping[str, Indices]
) -> Iterator[str]:
    """Which of the columns ``kept`` have no indices and why, in words: those that nobody has named (``usual``) only
    where none has any. ``columns`` are those of numbers."""
    reasons: dict[str, list[str]] = {}
    for name in kept:
        if name in found or (found and name in usual):
            continue
        why = "no single number"
        if name in columns:
            why = "not there in all cases" if None in columns[name] else "the same in all cases"
        reasons.setdefault(why, []).append(name)
    for why, names in reasons.items():
        yield f"no indices of {listing(names)}: {'it is' if len(names) == 1 else 'they are'} {why}"


def array(found: Indices, names: Sequence[str]) -> NamedArray:
    """The indices of a column: first-order and total ones of each name, with the ends of their intervals."""
    parts = [found.first, *found.first_interval.T, found.total, *found.total_interval.T]
    columns = [f"{word}{end}" for word in ("first", "total") for end in ("", "_low", "_high")]
    return NamedArray(np.column_stack(parts), list(names), "", columns)
