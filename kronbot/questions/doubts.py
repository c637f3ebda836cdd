"""Warnings of cases: of each kind the first one, and how many cases have it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from typing import NamedTuple

from kronbot.records import dataclass

# Numbers that stand by themselves are not what makes a kind; those in names are.
_NUMBERS = re.compile(r"(?<![\w.])[-+]?(\d[-+\d.ej]*|inf|nan)(?!\w)")
_COUNTED = re.compile(r"# (row|case|point)s?\b")
# More kinds than so many are counted.
MOST = 20


class Doubt(NamedTuple):
    """A warning in the words of the ``first`` case (from 1), and in how many ``cases`` it stands."""

    text: str
    first: int
    cases: int

    @property
    def kind(self) -> str:
        """What warnings have in common whose numbers differ."""
        return kind(self.text)


def kind(text: str) -> str:
    """A warning without its numbers, whether they count one or many."""
    return _COUNTED.sub(r"# \1", _NUMBERS.sub("#", text))


@dataclass
class Doubts:
    """Those of cases that come in their order; ``known`` are kinds that somebody has been told already."""

    known: frozenset[str] = frozenset()
    kinds: dict[str, Doubt] = field(default_factory=dict)

    def of_case(self, case: int, texts: Iterable[str]) -> None:
        """The warnings of one case."""
        first: dict[str, str] = {}
        for text in texts:
            first.setdefault(kind(text), str(text))
        self.add(Doubt(text, case, 1) for text in first.values())

    def add(self, doubts: Iterable[Doubt]) -> None:
        """Those of the next cases, each kind once."""
        for new in doubts:
            if (key := new.kind) not in self.known:
                old = self.kinds.get(key, new._replace(cases=0))
                self.kinds[key] = old._replace(cases=old.cases + new.cases)

    def told(self, cases: int) -> Iterator[str]:
        """In words, of so many cases, a line a kind."""
        found = sorted(self.kinds.values(), key=lambda each: each.first)
        for text, first, count in found[:MOST]:
            where = f"in {count} of {cases} cases, first in case {first}" if count > 1 else f"in case {first}"
            yield f"{where if cases > 1 else 'in the one case'}: {text}"
        if len(found) > MOST:
            yield f"cases have {len(found) - MOST} more kinds of warnings"


def of_rows(texts: Sequence[Sequence[str]]) -> list[str]:
    """Warnings of answers at rows as those of one: what all say as it is, the rest with the rows that it is of."""
    always, others = set(texts[0]).intersection(*texts), Doubts()
    for case, said in enumerate(texts, 1):
        others.of_case(case, (text for text in said if text not in always))
    return [*(text for text in texts[0] if text in always), *others.told(len(texts))]
