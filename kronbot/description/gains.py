"""Gains of a state feedback, and the filter that tells its state, in CSV files.

A file of gains has a row with the state they are about, torques there in its first column, and a row of gains for each
joint; where they change in time or from posture to posture all of that stands in a row each. That of a filter has a row
for each state: what it is about, its rate by what sensors see (gains L), by torques (B) and by the states (A).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from kronbot.description.csv_lines import NUMBER, Line
from kronbot.description.mistakes import raise_all
from kronbot.description.wording import counted, quote, written
from kronbot.errors import DescriptionError, Mistake
from kronbot.records import dataclass

# Names of the first column of gains that change: time, and postures, which are numbered.
TIME, CASE = "t", "case"
# Names of the row with the state that gains are about, and of the column of torques there; rows of joints begin so.
AT, TORQUE = "at", "torque"
ROW = f"{TORQUE}."
SEEN = "seen."
# Rows of gains that change: those of a cubic spline in time, of a line from posture to posture.
LEAST = {TIME: 4, CASE: 2}
_WRITTEN = "as kronbot design writes them"
_FORM = f'a header ("", {TORQUE}, states) and rows {AT}, {ROW}JOINT are wanted, {_WRITTEN}'
_CELL = re.compile(r"gains\[([^,\]]+),([^,\]]+)\]")
_FILTER = f'a header ("", {AT}, {SEEN}SENSOR, {ROW}JOINT, states) and a row for each state are wanted, {_WRITTEN}'


@dataclass(frozen=True)
class Gains:
    """tau = torque - K (x - at): ``at`` by state, ``torques`` by joint, ``K`` by joint and state, each over ``rows``.

    ``over`` is what the rows are told by: TIME (s), CASE, or nothing where there is one. ``mistake(name, message)``
    says at a state or a joint that something is wrong with it.
    """

    at: Mapping[str, Sequence[float]]
    torques: Mapping[str, Sequence[float]]
    K: Mapping[str, Mapping[str, Sequence[float]]]
    mistake: Callable[[str, str], Mistake]
    over: str = ""
    rows: Sequence[float] = (0.0,)


@dataclass(frozen=True)
class Filter:
    """The rate of each state by what sensors see (``L``), torques (``B``) and states (``A``), all less what they are
    ``at``: by state, and by sensor, joint or state.

    ``mistake(name, message)`` says at a column, or at a state, that something is wrong with it.
    """

    at: Mapping[str, float]
    L: Mapping[str, Mapping[str, float]]
    B: Mapping[str, Mapping[str, float]]
    A: Mapping[str, Mapping[str, float]]
    sensors: Sequence[str]
    joints: Sequence[str]
    mistake: Callable[[str, str], Mistake]


def _table(lines: Iterable[Line]) -> list[Line]:
    """Lines of a table in CSV. Raises DescriptionError for another format, or other signs between columns."""
    header, *rows = lines
    if header.text.lstrip()[0] in "{[":
        raise DescriptionError([header.mistake(f"a table in CSV is wanted, {_WRITTEN} (-o K.csv), not JSON")])
    if wrong := header.misparted:
        raise DescriptionError([wrong])
    return [header, *rows]


def filter_of(lines: Iterable[Line]) -> Filter:
    """The filter that lines hold, which are not blank. Raises DescriptionError with every mistake of them."""
    header, *rows = _table(lines)
    names = header.cells[1:]
    sensors = [name.removeprefix(SEEN) for name in names if name.startswith(SEEN)]
    joints = [name.removeprefix(ROW) for name in names if name.startswith(ROW)]
    states = names[1 + len(sensors) + len(joints) :]
    whole = [AT, *(SEEN + name for name in sensors), *(ROW + name for name in joints), *states]
    mistakes = [] if names == whole and sensors and joints and states else [header.mistake(_FILTER)]
    found, places, wrong = _rows(header, rows, lambda name: name in states, _FILTER)
    mistakes += wrong
    missing = [name for name in states if name not in found]
    if not mistakes and missing:
        mistakes.append(header.mistake(f"no row {quote(missing[0])}: {_FILTER}", 1 + names.index(missing[0])))
    raise_all(mistakes)

    columns = {name: i for i, name in reversed([*enumerate(names, 1)])}

    def mistake(name: str, message: str) -> Mistake:
        own = (columns[each] for each in (name, SEEN + name, ROW + name) if each in columns)
        return header.mistake(message, min(own, default=0))

    by_state = {name: dict(zip(names, found[name], strict=True)) for name in states}

    def by(word: str, columns: Sequence[str]) -> dict[str, dict[str, float]]:
        return {state: {name: row[word + name] for name in columns} for state, row in by_state.items()}

    at = {name: row[AT] for name, row in by_state.items()}
    return Filter(at, by(SEEN, sensors), by(ROW, joints), by("", states), sensors, joints, mistake)


def gains_of(lines: Iterable[Line]) -> Gains:
    """The gains that lines hold, which are not blank. Raises DescriptionError with every mistake of them."""
    header, *rows = _table(lines)
    names = header.cells[1:]
    if header.cells[0] in (TIME, CASE):
        return _changing(header, rows)
    mistakes = [] if names[:1] == [TORQUE] and len(names) > 1 else [header.mistake(_FORM)]
    found, places, wrong = _rows(header, rows, lambda name: name == AT or name.startswith(ROW), _FORM)
    mistakes += wrong
    if not mistakes and (AT not in found or len(found) < 2):
        mistakes.append(header.mistake(_FORM))
    raise_all(mistakes)

    columns = {name: i for i, name in enumerate(names, 1)}

    def mistake(name: str, message: str) -> Mistake:
        row = places.get(name if name == AT else f"{ROW}{name}")
        return header.mistake(message, columns[name]) if row is None else row.mistake(message)

    joints = {name.removeprefix(ROW): row for name, row in found.items() if name != AT}
    by_state = {
        name: {state: [gain] for state, gain in zip(names[1:], row[1:], strict=True)} for name, row in joints.items()
    }
    at = {state: [value] for state, value in zip(names[1:], found[AT][1:], strict=True)}
    return Gains(at, {name: [row[0]] for name, row in joints.items()}, by_state, mistake)


def _changing(header: Line, rows: Sequence[Line]) -> Gains:
    """Gains over time, or from posture to posture: in each row all entries, gains[at,q1], gains[torque.q1,q1] and so
    on."""
    cells = [_CELL.fullmatch(cell) for cell in header.cells[1:]]
    pairs = [(cell[1], cell[2]) for cell in cells if cell is not None]
    names, states = [*dict.fromkeys(row for row, _ in pairs)], [*dict.fromkeys(column for _, column in pairs)][1:]
    whole = [(row, column) for row in names for column in (TORQUE, *states)]
    joints = [name.removeprefix(ROW) for name in names[1:]]
    known = names[:1] == [AT] and joints and states and all(name.startswith(ROW) for name in names[1:])
    if not known or pairs != whole or None in cells:
        raise_all(
            [header.mistake(f'columns {header.cells[0]}, "gains[{AT},{TORQUE}]" and so on are wanted, {_WRITTEN}')]
        )
    mistakes, numbers = list[Mistake](), list[list[float]]()
    for row in rows:
        wrong = [i for i, each in enumerate(row.cells) if not _is_number(each)]
        if len(row.cells) != len(header.cells):
            mistakes.append(
                row.mistake(f"{len(header.cells)} columns are wanted here, as in the header, not {len(row.cells)}")
            )
        elif wrong:
            mistakes += [row.mistake(f"a finite number is wanted here, not {quote(row.cells[i])}", i) for i in wrong]
        else:
            numbers.append([float(each) for each in row.cells])
            if len(numbers) > 1 and numbers[-1][0] <= numbers[-2][0]:
                mistakes.append(
                    row.mistake(f"{header.cells[0]} = {row.cells[0]} does not come after {written(numbers[-2][0])}")
                )
    least = LEAST[header.cells[0]]
    if not mistakes and len(numbers) < least:
        mistakes.append(header.mistake(f"{counted(len(numbers), 'row')} of gains, at least {least} are wanted"))
    raise_all(mistakes)
    first, *columns = zip(*numbers, strict=True)
    found = dict(zip(pairs, columns, strict=True))

    ends = {end: i for i, pair in reversed([*enumerate(pairs, 1)]) for end in pair}

    def mistake(name: str, message: str) -> Mistake:
        return header.mistake(message, min((ends[each] for each in (name, ROW + name) if each in ends), default=0))

    by_state = {name: {state: found[ROW + name, state] for state in states} for name in joints}
    torques = {name: found[ROW + name, TORQUE] for name in joints}
    return Gains({s: found[AT, s] for s in states}, torques, by_state, mistake, header.cells[0], first)


def _is_number(cell: str) -> bool:
    return bool(NUMBER.fullmatch(cell)) and math.isfinite(float(cell))


def _rows(
    header: Line, rows: Sequence[Line], known: Callable[[str], bool], form: str
) -> tuple[dict[str, list[float]], dict[str, Line], list[Mistake]]:
    """Numbers of rows by name, where they stand, and mistakes: names that are none or stand twice, cells, columns."""
    names = header.cells[1:]
    first = {name: i for i, name in reversed([*enumerate(names)])}
    repeated = [i for i, name in enumerate(names) if first[name] < i]
    mistakes = [header.mistake(f"the column {quote(names[i])} stands here twice", i + 1) for i in repeated]
    found: dict[str, list[float]] = {}
    places: dict[str, Line] = {}
    for row in rows:
        name, *cells = row.cells
        if not known(name) or name in found:
            why = "stands here twice" if name in found else "is none of these"
            mistakes.append(row.mistake(f"the row {quote(name)} {why}: {form}"))
        elif len(cells) != len(names):
            mistakes.append(
                row.mistake(f"{1 + len(names)} columns are wanted here, as in the header, not {len(row.cells)}")
            )
        else:
            wrong = [i for i, each in enumerate(cells) if not _is_number(each)]
            mistakes += [row.mistake(f"a finite number is wanted here, not {quote(cells[i])}", i + 1) for i in wrong]
            found[name], places[name] = [0.0 if i in wrong else float(each) for i, each in enumerate(cells)], row
    return found, places, mistakes
