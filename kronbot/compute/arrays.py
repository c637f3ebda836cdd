"""Numbers with the names of their rows and columns and their units."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from kronbot.compute import views
from kronbot.description.called import called_by_name
from kronbot.description.wording import Entries
from kronbot.floats import read_only
from kronbot.records import dataclass

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

Scalar = float | int | str | bool
Units = str | Mapping[str, Sequence[str]]


@called_by_name
@dataclass(frozen=True, eq=False)
class NamedArray:
    """A vector (``columns`` is None) or a matrix with named rows and columns, or a stack of them along an axis.

    ``units`` is one unit for all entries, or units of rows and of columns (an entry has their product). ``axis`` names
    the leading axis of a stack and its values. Entries are numbers, or formulas as text (a closed form). Those of an
    array that few look at (:func:`kronbot.compute.deferred.later`) are computed when somebody does.
    """

    values: npt.NDArray[Any]
    rows: Sequence[str]
    units: Units
    columns: Sequence[str] | None = None
    axis: tuple[str, Sequence[float]] | None = None

    def __post_init__(self) -> None:
        """Make it read-only, names and units, too."""
        put, held = object.__setattr__, vars(self)
        if callable(held["values"]):
            held["_compute"] = held.pop("values")
        else:
            held["values"] = read_only(held["values"])
        if type(self.rows) is not tuple:
            put(self, "rows", tuple(self.rows))
        if type(self.units) is not str:
            put(self, "units", units_kept(self.units))
        if self.columns is not None and type(self.columns) is not tuple:
            put(self, "columns", tuple(self.columns))
        if self.axis is not None:
            name, values = self.axis
            put(self, "axis", (name, values if isinstance(values, range) else tuple(values)))

    def __reduce__(self) -> tuple[object, ...]:
        """For pickle, which leaves memory writeable."""
        return NamedArray, (self.values, self.rows, self.plain_units, self.columns, self.axis)

    @property
    def plain_units(self) -> str | dict[str, list[str]]:
        """The units, as JSON has them and to be kept."""
        return self.units if isinstance(self.units, str) else {name: list(each) for name, each in self.units.items()}

    @property
    def unit(self) -> str:
        """What all entries are in: SI where each has a unit of its own, its row's times its column's; else empty."""
        if isinstance(self.units, str):
            return self.units
        return "SI" if all({*self.units.get(side, ())} - {"", "1"} for side in ("rows", "columns")) else ""

    @property
    def symbolic(self) -> bool:
        """True where the entries are formulas."""
        return self.values.dtype.kind in "UO"

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """The values, for NumPy."""
        return np.array(self.values, dtype=dtype) if copy else np.asarray(self.values, dtype=dtype)

    def to_xarray(self) -> xr.DataArray:
        """A DataArray with named rows and columns and the units as an attribute. Raises UsageError without xarray."""
        return views.data_array(dimensions(self, "row", "column"), self.values, self.plain_units)

    def to_pandas(self) -> pd.Series | pd.DataFrame:
        """A Series or DataFrame; a stack has axis and rows as index. Raises UsageError without pandas."""
        return views.frame(dimensions(self, "row", "column"), self.values)

    def to_dict(self) -> dict[str, object]:
        """The JSON object of design section 7."""
        head: dict[str, object] = {"rows": list(self.rows)}
        if self.columns is not None:
            head["columns"] = list(self.columns)
        if self.axis is not None:
            head["axis"] = {"name": self.axis[0], "values": list(self.axis[1])}
        if self.symbolic:
            head["symbolic"] = True
        head["units"] = self.plain_units
        if np.iscomplexobj(self.values):
            return head | {"real": plain(self.values.real), "imag": plain(self.values.imag)}
        return head | {"values": plain(self.values)}


def alike(array: NamedArray, values: npt.NDArray[Any] | Callable[[], npt.NDArray[Any]]) -> NamedArray:
    """Other values, or what computes them later, with names and units of an array, which are not looked at again."""
    made = object.__new__(NamedArray)
    held = made.__dict__
    held.update(array.__dict__)
    if callable(values):
        del held["values"]
        held["_compute"] = values
    else:
        held["values"] = read_only(values)
    return made


def dimensions(array: NamedArray, row: str, column: str) -> dict[str, Sequence[Any]]:
    """Names and labels of the axes of the values."""
    labels: dict[str, Sequence[Any]] = {} if array.axis is None else {array.axis[0]: list(array.axis[1])}
    labels[row] = list(array.rows)
    if array.columns is not None:
        labels[column] = list(array.columns)
    return labels


def held_values(array: NamedArray) -> npt.NDArray[Any] | None:
    """The values that it holds, to be looked at and not given out; None where they are not computed yet."""
    values: npt.NDArray[Any] | None = array.__dict__.get("values")
    return values


class _Values:
    """Values as each who asks sees them: what he makes of their shape and type stays with him."""

    def __get__(self, array: NamedArray | None, owner: type[NamedArray]) -> npt.NDArray[Any] | _Values:
        if array is None:
            return self
        held = array.__dict__
        if (compute := held.get("_compute")) is not None:
            # Where threads meet, all get what one of them computed.
            held.setdefault("values", read_only(compute()))
            held["_compute"] = None
        shown: npt.NDArray[Any] = held["values"].view()
        return shown

    def __set__(self, array: NamedArray, values: npt.NDArray[Any]) -> None:
        """For initializers alone: what is frozen refuses all others."""
        vars(array)["values"] = values


NamedArray.values = _Values()  # type: ignore[assignment]


class Columns(Entries):
    """Arrays by name, of which each who asks gets views of his own."""

    __slots__ = ()

    def __new__(cls, columns: Mapping[str, npt.NDArray[Any]] | Iterable[tuple[str, npt.NDArray[Any]]]) -> Self:
        """Of arrays that are read-only from now on."""
        return super().__new__(cls, {name: read_only(column) for name, column in dict(columns).items()})

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        column: npt.NDArray[Any] = super().__getitem__(name)
        return column.view()

    def __iter__(self) -> Iterator[str]:
        """Its own, by which dict(...) asks for the entries instead of taking them."""
        return super().__iter__()

    if not TYPE_CHECKING:  # as mappings have them, by what is asked for; a dict takes what it holds

        def _plain(self):
            return dict(self)

        def _and(self, other):
            return dict(self) | other

        def _after(self, other):
            return other | dict(self)

        get, values, items = Mapping.get, Mapping.values, Mapping.items
        copy, __or__, __ror__ = _plain, _and, _after


def units_kept(units: Units) -> Units:
    """Units that nobody can change; those that are kept so already stay what they are."""
    if isinstance(units, str | Entries):
        return units
    return Entries({name: tuple(each) for name, each in units.items()})


def plain(value: object) -> object:
    """Numbers as Python numbers and nested lists; -0.0 becomes 0.0, so that equal answers have equal bytes."""
    if isinstance(value, np.ndarray):
        return value.tolist() if value.dtype.kind in "iuUO" else (value + 0.0).tolist()
    if isinstance(value, np.generic):
        value = value.item()
    return value + 0.0 if isinstance(value, float) else value
