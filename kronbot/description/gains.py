"""Gains of a state feedback in a CSV file: where they hold, torques there, and a row of gains for each joint."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

from kronbot.description.csv_lines import NUMBER, Line
from kronbot.description.mistakes import raise_all
from kronbot.description.wording import quote
from kronbot.errors import Mistake
from kronbot.records import dataclass

# Names of the row with the state that gains are about, and of the column of torques there; rows of joints begin so.
AT, TORQUE = "at", "torque"
ROW = f"{TORQUE}."
_FORM = f'a header ("", {TORQUE}, states) and rows {AT}, {ROW}JOINT are wanted, as kronbot design writes them'


@dataclass(frozen=True)
class Gains:
    """tau = torque - K (x - at): ``at`` by state, ``torques`` by joint, ``K`` by joint and state.

    ``mistake(name, message)`` says at a state or a joint that something is wrong with it.
    """

    at: Mapping[str, float]
    torques: Mapping[str, float]
    K: Mapping[str, Mapping[str, float]]
    mistake: Callable[[str, str], Mistake]


def gains_of(lines: Iterable[Line]) -> Gains:
    """The gains that lines hold, which are not blank. Raises DescriptionError with every mistake of them."""
    header, *rows = lines
    names = header.cells[1:]
    mistakes: list[Mistake] = []
    if names[:1] != [TORQUE] or len(names) < 2:
        mistakes.append(header.mistake(_FORM))
    repeated = [i for i, name in enumerate(names) if name in names[:i]]
    mistakes += [header.mistake(f"the column {quote(names[i])} stands here twice", i + 1) for i in repeated]
    found: dict[str, list[float]] = {}
    places: dict[str, Line] = {}
    for row in rows:
        name, *cells = row.cells
        if (name != AT and not name.startswith(ROW)) or name in found:
            why = "stands here twice" if name in found else "is none of these"
            mistakes.append(row.mistake(f"the row {quote(name)} {why}: {_FORM}"))
        elif len(cells) != len(names):
            mistakes.append(
                row.mistake(f"{1 + len(names)} columns are wanted here, as in the header, not {len(row.cells)}")
            )
        else:
            wrong = [i for i, each in enumerate(cells) if not (NUMBER.fullmatch(each) and math.isfinite(float(each)))]
            mistakes += [row.mistake(f"a finite number is wanted here, not {quote(cells[i])}", i + 1) for i in wrong]
            found[name], places[name] = [0.0 if i in wrong else float(each) for i, each in enumerate(cells)], row
    if not mistakes and (AT not in found or len(found) < 2):
        mistakes.append(header.mistake(_FORM))
    raise_all(mistakes)

    def mistake(name: str, message: str) -> Mistake:
        row = places.get(f"{ROW}{name}")
        return header.mistake(message, 1 + names.index(name)) if row is None else row.mistake(message)

    joints = {name.removeprefix(ROW): row for name, row in found.items() if name != AT}
    by_state = {name: dict(zip(names[1:], row[1:], strict=True)) for name, row in joints.items()}
    at = dict(zip(names[1:], found[AT][1:], strict=True))
    return Gains(at, {name: row[0] for name, row in joints.items()}, by_state, mistake)
