"""What a picture, or a table with dimensions, wants to know of the sweep that an answer comes from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from kronbot.description.wording import cut, escaped, listing
from kronbot.floats import Array
from kronbot.records import dataclass

# The column of errors, and the posture that one may begin with.
ERROR, _WHERE = "error", re.compile(r"\A(?:case \d+: )?[^\s:=]+ = [^:]*: ")


@dataclass(frozen=True)
class Indices:
    """Sobol indices of one column: ``first`` and ``total`` (names,), with intervals of confidence (names, 2)."""

    first: Array
    total: Array
    first_interval: Array
    total_interval: Array


@dataclass(frozen=True)
class Swept:
    """The question, what was varied and what was kept of it.

    ``factors`` are the names that vary together and how many values they have, the first slowest; those of ``drawn``
    follow distributions. ``indices`` are those of columns, where they were asked for. ``beside`` are frequencies and
    shapes of every row, by the name of the array, as far as they were kept for a picture; None where a case failed.
    Columns that nobody has named are ``usual``; of those that are whole arrays ``single`` says what is a number. Angles
    of statics that were ``found``, where torques were given, are called like those that are given. ``q`` are the
    coordinates that all cases share, by name.
    """

    question: str
    factors: Sequence[tuple[Sequence[str], int]]
    drawn: Sequence[str]
    kept: Sequence[str]
    indices: Mapping[str, Indices] = field(default_factory=dict)
    beside: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    usual: Sequence[str] = ()
    single: Mapping[str, str] = field(default_factory=dict)
    found: Sequence[str] = ()
    q: Mapping[str, float] = field(default_factory=dict)


def undrawn(single: Mapping[str, str], what: str = "a picture shows single numbers") -> str:
    """That whole arrays are left out, and what to keep of them."""
    are = "is a whole array" if len(single) == 1 else "are whole arrays"
    return f"{listing(single)} {are}, {what}: keep {listing(single.values())}"


def reason(error: str | None, longest: int) -> str:
    """An error in up to so many signs: of a longer one what is wrong, without the posture where it is."""
    text = error or ""
    return escaped(cut(text if len(text) <= longest else _WHERE.sub("... ", text), longest))
