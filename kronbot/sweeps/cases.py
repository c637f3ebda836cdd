"""What a sweep varies: ranges, lists, tables and draws, and their product, whose case i is a function of i."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from kronbot.cached import cached_property
from kronbot.errors import Argument, UsageError
from kronbot.floats import Array, decimals
from kronbot.records import dataclass
from kronbot.system.importing import whole_imports
from kronbot.system.silence import unwarned

MOST = 1_000_000_000
# Of draws, Sobol points have so many bits.
_BITS = 30
_LEAST = 2.0 ** -(_BITS + 1)
# Values of a range that are looked at one by one, for what they may ask of an answer.
_FEW = 1000
# How many numbers each distribution takes, and what they are.
DISTRIBUTIONS = {
    "normal": "mean, standard deviation",
    "uniform": "from, to",
    "lognormal": "mean, standard deviation of the natural logarithm",
    "triangular": "from, mode, to",
}

Value = float | int | str | bool
_NONE: Mapping[Value, str] = {}
Places = npt.NDArray[np.int64]


class Factor(Protocol):
    """Names that vary together, and their ``size`` values."""

    @property
    def names(self) -> Sequence[str]:
        """The names."""

    @property
    def size(self) -> int:
        """How many values."""

    @property
    def key(self) -> object:
        """What tells it from others, as JSON, for the journal."""

    def at(self, places: Places) -> list[list[Value]]:
        """The values of each name at places 0 ... size - 1."""


@dataclass(frozen=True)
class Range:
    """``count`` values from ``start`` to ``end``, both included."""

    name: str
    start: float
    end: float
    count: int

    @property
    def names(self) -> Sequence[str]:
        """The one name."""
        return (self.name,)

    @property
    def size(self) -> int:
        """How many."""
        return self.count

    @property
    def key(self) -> object:
        """For the journal."""
        return ["range", self.name, self.start, self.end, self.count]

    def at(self, places: Places) -> list[list[Value]]:
        """Evenly spread, as decimals: of 0.1:0.4:4 the second one is 0.2."""
        (start, end), whole = decimals(self.start, self.end)
        last = max(self.count - 1, 1)
        return [[(start * (last - place) + end * place) / (last * whole) for place in places.tolist()]]


@dataclass(frozen=True, eq=False)
class Numbers(Sequence[Value]):
    """Many numbers in little memory; ``whole`` ones are told without a point, and ``texts`` are expressions of a file
    by their values."""

    values: Array
    whole: npt.NDArray[np.bool_]
    texts: Mapping[Value, str] = _NONE

    @classmethod
    def of(cls, given: Sequence[Value]) -> Numbers | None:
        """None where one is no number, or one that has more digits."""
        if {*map(type, given)} - {int, float} or any(type(each) is int and abs(each) > 2**53 for each in given):
            return None
        texts = given.texts if isinstance(given, Read) else _NONE
        return cls(np.array(given, dtype=float), np.array([type(each) is int for each in given], dtype=bool), texts)

    @classmethod
    def joined(cls, parts: Sequence[Numbers]) -> Numbers:
        """One after the other."""
        return cls(np.concatenate([each.values for each in parts]), np.concatenate([each.whole for each in parts]))

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, place: Any) -> Any:
        return self.at(np.array([place]))[0] if isinstance(place, int) else self.at(place)

    def __iter__(self) -> Iterator[Value]:
        """All at once: one by one they take twenty times as long."""
        return iter(self.at(slice(None)))

    def at(self, places: Places | slice) -> list[Value]:
        """Those at some places."""
        found: list[Value] = self.values[places].tolist()
        for i in np.flatnonzero(self.whole[places]).tolist():
            found[i] = int(found[i])
        return found

    @property
    def few(self) -> tuple[Value, ...]:
        """The different ones where these are few."""
        _, first = np.unique(self.values, return_index=True)
        return tuple(self.at(np.sort(first))) if len(first) <= _FEW else ()


class Read(list[Value]):
    """Values of a file of cases, some of expressions: what is a text there is no number, which takes long to find
    out. ``texts`` are expressions, by their values."""

    def __init__(self, values: Iterable[Value], texts: Mapping[Value, str]) -> None:
        super().__init__(values)
        self.texts = texts


@dataclass(frozen=True)
class Table:
    """Columns of equal length, by name: a list is one of one column."""

    columns: Mapping[str, Sequence[Value]]

    @classmethod
    def of(cls, columns: Mapping[str, Sequence[Value]]) -> Table:
        """Of columns as they come: numbers are packed."""
        packed = {name: each if isinstance(each, Numbers) else Numbers.of(each) for name, each in columns.items()}
        return cls({name: columns[name] if each is None else each for name, each in packed.items()})

    @property
    def names(self) -> Sequence[str]:
        """Of the columns."""
        return tuple(self.columns)

    @property
    def size(self) -> int:
        """How many rows."""
        return len(next(iter(self.columns.values())))

    @property
    def key(self) -> object:
        """For the journal."""
        digest = hashlib.sha256()
        for each in self.columns.values():
            packed = isinstance(each, Numbers)
            content = each.values.tobytes() + each.whole.tobytes() if isinstance(each, Numbers) else repr(each).encode()
            digest.update(b"%d %d:" % (packed, len(content)) + content)
        return ["table", list(self.columns), digest.hexdigest()]

    def at(self, places: Places) -> list[list[Value]]:
        """The rows."""
        return [
            column.at(places) if isinstance(column, Numbers) else [column[place] for place in places.tolist()]
            for column in self.columns.values()
        ]


@dataclass(frozen=True)
class Distribution:
    """What a drawn value follows: a name of DISTRIBUTIONS and its numbers."""

    kind: str
    numbers: tuple[float, ...]

    def values(self, shares: Array) -> Array:
        """Those below which the shares (0 ... 1) of all draws lie, one by one, so that none depends on the others."""
        from scipy.special import ndtri

        if self.kind == "uniform":
            low, high = self.numbers
            return np.asarray(low + (high - low) * shares)
        if self.kind == "triangular":
            low, mode, high = self.numbers
            knee = (mode - low) / (high - low)
            rising = low + np.sqrt(shares * (high - low) * (mode - low))
            return np.where(shares < knee, rising, high - np.sqrt((1 - shares) * (high - low) * (high - mode)))
        mean, deviation = self.numbers
        found = mean + deviation * np.asarray(ndtri(shares))
        return np.array([math.exp(value) for value in found.tolist()]) if self.kind == "lognormal" else found

    @property
    def finite(self) -> bool:
        """Whether all that can be drawn are numbers."""
        try:
            with np.errstate(all="ignore"):
                return bool(np.isfinite(self.values(np.linspace(_LEAST, 1 - _LEAST, 65))).all())
        except OverflowError:
            return False


@dataclass(frozen=True)
class Draws:
    """``count`` scrambled Sobol points of distributions by name.

    With ``indices`` the rows for Sobol indices (Saltelli 2010): A, B, and for every name A with that column of B.
    """

    distributions: Mapping[str, Distribution]
    count: int
    seed: int
    indices: bool = False
    _at: list[Any] = field(default_factory=list, compare=False, repr=False)

    @property
    def names(self) -> Sequence[str]:
        """Of what is drawn."""
        return tuple(self.distributions)

    @property
    def size(self) -> int:
        """How many rows."""
        return self.count * (len(self.distributions) + 2 if self.indices else 1)

    @property
    def key(self) -> object:
        """For the journal."""
        told = {name: [each.kind, *each.numbers] for name, each in self.distributions.items()}
        return ["draws", told, self.count, self.seed, self.indices]

    def at(self, places: Places) -> list[list[Value]]:
        """The rows."""
        block, row = np.divmod(places, self.count)
        shares = self._shares(int(row.min()), int(row.max()) + 1)[row - row.min()]
        width = len(self.distributions)
        found: list[list[Value]] = []
        for i, each in enumerate(self.distributions.values()):
            # Of A but in block B and in that of this name.
            column = np.where((block == 1) | (block == 2 + i), i + width * self.indices, i)
            found.append(each.values(shares[np.arange(len(row)), column]).tolist())
        return found

    def _shares(self, start: int, stop: int) -> Array:
        """Sobol points; going on from the last ones costs no more than these."""
        with whole_imports():
            from scipy.stats import qmc

        if not self._at or self._at[1] > start:
            sampler = qmc.Sobol(len(self.distributions) * (1 + self.indices), scramble=True, bits=_BITS, seed=self.seed)
            self._at[:] = [sampler, 0]
        sampler, now = self._at
        with unwarned("The balance properties"):  # of counts that are no powers of 2
            if start > now:
                sampler.fast_forward(start - now)
            points = sampler.random(stop - start)
        self._at[1] = stop
        # None at the end of a tail that has none.
        shares: Array = np.maximum(points, _LEAST)
        return shares

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_at": []}


@dataclass(frozen=True)
class Cases:
    """Every combination of factors, the first slowest; ``names`` in the order of the columns."""

    names: tuple[str, ...]
    factors: tuple[Factor, ...]

    @classmethod
    def of(cls, names: Iterable[str], factors: Iterable[Factor]) -> Cases:
        """Raises UsageError for a name that stands twice, for none, for no case and for more than MOST."""
        made = cls(tuple(names), tuple(factors))
        if twice := next((name for i, name in enumerate(made.names) if name in made.names[:i]), None):
            raise UsageError(f"{twice} is varied twice")
        if not made.factors:
            raise UsageError("nothing is varied: give ", Argument("over", "NAME=FROM:TO:N"), " or ", Argument("cases"))
        if made.count < 1:
            raise UsageError("there is no case: a range or a list is empty")
        if made.count > MOST:
            raise UsageError(f"{min(made.count, 10**300):.3g} cases are too many; {MOST} is the limit")
        return made

    @cached_property
    def count(self) -> int:
        """How many cases there are."""
        return math.prod(factor.size for factor in self.factors)

    @cached_property
    def key(self) -> object:
        """What tells these cases from others, for the journal."""
        return [list(self.names), *(factor.key for factor in self.factors)]

    def rows(self, start: int, stop: int) -> list[tuple[Value, ...]]:
        """The values of cases start ... stop - 1 (from 0), in the order of ``names``."""
        places = np.arange(start, stop)
        columns: dict[str, list[Value]] = {}
        for factor in reversed(self.factors):
            places, own = np.divmod(places, factor.size)
            columns.update(zip(factor.names, factor.at(own), strict=True))
        return list(zip(*(columns[name] for name in self.names), strict=True))

    def listed(self, name: str) -> Sequence[Value]:
        """The values of a name as they are listed, where not all of them are numbers."""
        columns = (
            factor.columns[name] for factor in self.factors if isinstance(factor, Table) and name in factor.columns
        )
        return next((column for column in columns if not isinstance(column, Numbers)), ())

    def values_of(self, name: str) -> tuple[Value, ...]:
        """The different values of a name where they are listed or few; nothing where they are drawn."""
        for factor in self.factors:
            if isinstance(factor, Table) and name in factor.columns:
                column = factor.columns[name]
                return column.few if isinstance(column, Numbers) else tuple(dict.fromkeys(column))
            if isinstance(factor, Range) and name == factor.name and factor.count <= _FEW:
                return tuple(factor.at(np.arange(factor.count))[0])
        return ()
