"""What there is to say of a sweep besides its rows: counts, the first failure, columns that nothing fills."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from kronbot.compute.arrays import Scalar
from kronbot.description.wording import listing
from kronbot.errors import Argument
from kronbot.questions.doubts import Doubts
from kronbot.questions.swept import ERROR
from kronbot.records import dataclass
from kronbot.sweeps.kept import Kept
from kronbot.sweeps.output import rows
from kronbot.sweeps.work import Done

# Cases among which a column that stays empty is looked for.
LOOKED = 10_000


@dataclass
class Tally:
    """How many cases there are and have failed, the first ``failure`` in words, columns (places) still ``empty``,
    warnings of the cases, and of what is varied.

    Empty columns are those that somebody has named: what is kept by default a case may lack.
    """

    kept: Kept
    cases: int = 0
    failed: int = 0
    failure: str = ""
    complete: bool = False
    empty: set[int] = field(default_factory=set)
    of_cases: Doubts = field(default_factory=Doubts)
    of_names: tuple[str, ...] = ()

    def begin(self) -> None:
        """Nothing is computed."""
        self.cases, self.failed, self.failure, self.complete, self.of_cases = 0, 0, "", False, Doubts()
        named = {column.name for column in self.kept.columns} - {*self.kept.usual}
        self.empty = {place for place, name in enumerate(self.kept.header) if name in named}

    def add(self, done: Done) -> None:
        """One chunk more."""
        if (done.failed and not self.failure) or (self.empty and done.stop <= LOOKED):
            error = self.kept.header.index(ERROR)
            for row in rows(done):
                self.empty -= {place for place in self.empty if row[place] is not None}
                if row[error] is not None and not self.failure:
                    self.failure = f"case {row[0]}: {row[error]}"
        self.of_cases.add(done.doubts)
        self.cases, self.failed = done.stop, self.failed + done.failed

    def told(self, count: int, unkept: bool) -> tuple[str | Argument, ...]:
        """How far a sweep of so many cases has come, and what would have kept what is ``unkept``."""
        if not self.cases:
            return (" before the first case",)
        cure = ("; with ", Argument("output"), " what is computed is kept, to go on with") if unkept else ()
        return f" after {self.cases} of {count} cases", *cure

    @property
    def summary(self) -> dict[str, Scalar]:
        """The counts."""
        return {"cases": self.cases, "failed": self.failed}

    @property
    def failures(self) -> str:
        """How many cases have failed, and why the first one has."""
        return f"{self.failed} of {self.cases} cases have failed ({self.failure})"

    def doubts(self) -> Iterator[str]:
        """What is allowed and may be a mistake, of the columns and of the cases."""
        if self.empty and self.failed < self.cases <= LOOKED:
            yield f"no case has {listing(self.kept.header[place] for place in sorted(self.empty))}"
        yield from self.of_names
        yield from self.of_cases.told(self.cases)
