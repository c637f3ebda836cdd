"""What an answer may hold, told before it is computed: each question says so of its own in ``outline``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field

from kronbot.model.robot import Robot
from kronbot.records import dataclass

# The values that each argument may take, by its name; those of an argument that is not there are not given.
Given = Mapping[str, Sequence[object]]
Labels = tuple[Sequence[str], Sequence[str] | None]
# Units of rows and of columns by their labels; an entry has their product.
Sides = tuple[Mapping[str, str], Mapping[str, str]]
# As many frequencies of beams are what most ask for.
FIRST = 6


def sides(rows: Sequence[str], of_rows: Sequence[str], columns: Sequence[str], of_columns: Sequence[str]) -> Sides:
    """Units of rows and of columns by their labels."""
    return dict(zip(rows, of_rows, strict=True)), dict(zip(columns, of_columns, strict=True))


# What products of units are called: inertias are masses and moments of these, not forces per acceleration.
CALLED = {"N s2/m": "kg", "N m s2/m": "kg m", "N s2/rad": "kg m", "N m s2/rad": "kg m2"}


def matrix_units(robot: Robot, free: list[int]) -> list[dict[str, list[str]]]:
    """Units of M_L, D_L, K_L: generalized force per second derivative, rate, coordinate."""
    rows, own = robot.force_units(free), [robot.units[place] for place in free]
    return [{"rows": rows, "columns": [f"{time}/({unit})" for unit in own]} for time in ("s2", "s", "1")]


@dataclass(frozen=True)
class Outline:
    """Names of the numbers and texts of the summary, of arrays with their rows and columns, and of the series.

    An answer may lack some of them. ``usual`` is what is mostly asked for beside the numbers. ``complex`` arrays have
    complex entries, those of ``stacks`` one a time. Arrays that are ``absent`` would be there otherwise: how, in words.
    Where the series are ``rows`` of a table these are the columns that tell the rows apart. ``units`` are those of
    arrays, where they are known beforehand, ``of_series`` those of series whose names do not tell them.
    """

    numbers: Sequence[str] = ()
    texts: Sequence[str] = ()
    arrays: Mapping[str, Labels] = field(default_factory=dict)
    series: Sequence[str] = ()
    usual: Sequence[str] = ()
    complex: Sequence[str] = ()
    stacks: Sequence[str] = ()
    rows: Sequence[str] | None = None
    absent: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, Sides] = field(default_factory=dict)
    of_series: Mapping[str, str] = field(default_factory=dict)

    @property
    def all(self) -> Sequence[str]:
        """All names."""
        return [*self.numbers, *self.texts, *self.arrays, *self.series]

    @property
    def empty(self) -> Collection[str]:
        """Arrays without entries, as of beams where there are none."""
        return {name for name, sides in self.arrays.items() if any(side is not None and not side for side in sides)}

    def unit(self, name: str, labels: Sequence[str]) -> str:
        """Of an entry; "" where it is not known, or there is none."""
        sides = (side.get(label, "1") for side, label in zip(self.units[name], labels, strict=False))
        # Of several units beneath a stroke the parentheses stay.
        row, column, *_ = (*(unit if " " in unit else unit.replace("(", "").replace(")", "") for unit in sides), "1")
        over = column.removeprefix("1/")
        if "1" in (row, column):
            found = row if column == "1" else column
        elif column.startswith("1/"):
            found = "1" if row == over else f"{row}/{over}"
        else:
            found = f"{row} {column}"
        return "" if found == "1" else CALLED.get(found, found)

    def __or__(self, other: Outline) -> Outline:
        """What one or the other holds."""
        arrays = dict(self.arrays)
        for name, (labels, columns) in other.arrays.items():
            own = arrays.get(name, ((), columns and ()))
            arrays[name] = _both(own[0], labels), None if columns is None else _both(own[1] or (), columns)
        parts = ("numbers", "texts", "series", "usual", "complex", "stacks")
        rest = {part: _both(getattr(self, part), getattr(other, part)) for part in parts}
        rows = other.rows if self.rows is None else self.rows
        absent = {name: how for name, how in {**self.absent, **other.absent}.items() if name not in arrays}
        units = {**self.units, **other.units}
        for name in self.units.keys() & other.units.keys():
            units[name] = {**self.units[name][0], **units[name][0]}, {**self.units[name][1], **units[name][1]}
        of_series = {**self.of_series, **other.of_series}
        return Outline(arrays=arrays, rows=rows, absent=absent, units=units, of_series=of_series, **rest)


def _both(first: Iterable[str], second: Iterable[str]) -> list[str]:
    return list(dict.fromkeys((*first, *second)))


def numbered(count: int) -> list[str]:
    """ "1", "2", ... as the rows of frequencies are called."""
    return [str(k + 1) for k in range(count)]


def modal(names: Sequence[str], suffix: str = "", beside: int = 0) -> dict[str, Labels]:
    """The arrays of modes of coordinates, and so many states beside; a pair of poles that creep is two of them."""
    numbers = numbered(2 * len(names) + beside)
    vectors = {f"{word}{suffix}": (numbers, None) for word in ("poles", "frequencies", "damping")}
    # Here, since a Jacobian has an outline, too, and no modes.
    from kronbot.mechanics.linear.modal import ACCURACY

    return {**vectors, f"shapes{suffix}": (names, numbers), f"accuracy{suffix}": (numbers, list(ACCURACY))}


def first(name: str, robot: Robot, free: bool) -> list[str]:
    """The frequencies that most ask for; what moves freely comes besides, each at 0: a floating base, ``free`` joints.

    Those with damping are two that creep.
    """
    besides = len(robot.base) + (sum(2 - joint.damping.is_zero() for joint in robot.joints) if free else 0)
    return [f"{name}[{number}]" for number in numbered(min(FIRST, len(robot.flexible)) + besides)]
