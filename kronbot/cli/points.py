"""Points at which a question is asked: values of ``--q``, ``--qd``, ``--qdd``, one by one or a CSV file of rows."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kronbot.cli.options import coordinate_values, number
from kronbot.description.wording import did_you_mean
from kronbot.errors import UsageError

if TYPE_CHECKING:
    from kronbot.model.robot import Robot

# More than any batch that fits into memory as an answer.
FILE_LIMIT = 2_000_000_000


def points(robot: Robot, texts: dict[str, str | None]) -> tuple[dict[str, np.ndarray], bool]:
    """Values (N, n) of each input by word, and whether they come from a file of rows.

    A text is as for ``coordinate_values``, or ``@file.csv`` with a header of names; values that are not given are 0.
    Files must have equally many rows. Raises UsageError that says what is wrong and where.
    """
    values, lengths = {}, {}
    for word, text in texts.items():
        if text is not None and text.startswith("@"):
            values[word] = _rows(robot, text[1:], f"--{word}")
            lengths[word] = len(values[word])
        else:
            values[word] = np.zeros((1, robot.n))
            for place, value in coordinate_values(robot, text, f"--{word}").items():
                values[word][0, place] = value
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"--{word} has {length}" for word, length in lengths.items())
        raise UsageError(f"files of rows must be equally long: {counts}")
    count = max(lengths.values(), default=1)
    return {word: np.broadcast_to(rows, (count, robot.n)) for word, rows in values.items()}, bool(lengths)


def one_point(robot: Robot, texts: dict[str, str | None]) -> dict[str, np.ndarray]:
    """Values (n,) of each input by word. Raises UsageError for a file of rows."""
    values, batch = points(robot, texts)
    if batch:
        raise UsageError("this command takes one point, not a file of rows")
    return {word: rows[0].copy() for word, rows in values.items()}


def joint_values(robot: Robot, text: str | None, option: str) -> np.ndarray | None:
    """Values (joints,) by number or by name, None where nothing is given; names that are not given are 0."""
    if text is None:
        return None
    given = coordinate_values(robot, text, option)
    if set(given) - {joint.index for joint in robot.joints}:
        raise UsageError(f"{option} is by joint: {', '.join(joint.name for joint in robot.joints)}")
    return np.array([given.get(joint.index, 0.0) for joint in robot.joints])


def vector(text: str | None, option: str) -> np.ndarray:
    """Three numbers separated by commas, zero where nothing is given."""
    parts = [] if text is None else text.split(",")
    if text is not None and len(parts) != 3:
        raise UsageError(f"{option} takes three numbers x,y,z, not {len(parts)}")
    return np.array([number(part, {}, option) for part in parts]) if parts else np.zeros(3)


def _rows(robot: Robot, name: str, option: str) -> np.ndarray:
    path = Path(name)
    try:
        if not path.is_file():
            raise UsageError(f"{option} @{name}: there is no such file")
        if path.stat().st_size > FILE_LIMIT:
            raise UsageError(f"{option} @{name}: the file is larger than {FILE_LIMIT} bytes")
        with path.open(encoding="utf-8-sig", newline="") as file:
            header = [entry.strip() for entry in next(csv.reader([file.readline()]), [])]
            places = [_place(robot, entry, header, f"{option} @{name}") for entry in header]
            lines = [line for line in file if line.strip()]
            if not header or not lines:
                raise UsageError(f"{option} @{name}: a header of coordinate names and rows of numbers are wanted")
            numbers = np.loadtxt(lines, delimiter=",", ndmin=2, comments=None, dtype=float)
    except UnicodeDecodeError:
        raise UsageError(f"{option} @{name}: not UTF-8 text") from None
    except OSError as error:
        raise UsageError(f"{option} @{name}: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{option} @{name}: {error}") from None
    if numbers.shape[1] != len(places):
        raise UsageError(f"{option} @{name}: {len(places)} names in the header, but {numbers.shape[1]} values in a row")
    if not np.isfinite(numbers).all():
        row = int(np.argmin(np.isfinite(numbers).all(axis=1)))
        raise UsageError(f"{option} @{name}: a value in row {row + 1} after the header is not finite")
    rows = np.zeros((len(numbers), robot.n))
    rows[:, places] = numbers
    return rows


def _place(robot: Robot, entry: str, header: list[str], where: str) -> int:
    if entry not in robot.coordinates:
        hint = did_you_mean(entry, robot.coordinates) or f"; coordinates are {', '.join(robot.coordinates)}"
        raise UsageError(f"{where}: the header must name coordinates, {entry!r} is none{hint}")
    if header.count(entry) > 1:
        raise UsageError(f"{where}: {entry} stands twice in the header")
    return robot.coordinates.index(entry)
