"""Values of coordinates on the command line: ``0.1,pi/2``, ``q1=0.1,upper.v1=0.02``, ``@file.csv``."""

from __future__ import annotations

import csv
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kronbot.description.wording import did_you_mean
from kronbot.errors import UsageError
from kronbot.library.values import by_place, number

if TYPE_CHECKING:
    from kronbot.library.values import Values
    from kronbot.model.robot import Robot

# More than any batch that fits into memory as an answer.
FILE_LIMIT = 2_000_000_000


def values(robot: Robot, text: str | None, option: str) -> Values | None:
    """The values of an option by name; columns of them from ``@file.csv``, whose header has the names.

    All n values, or as many as there are joints, or NAME=VALUE, each an expression over parameters. Raises UsageError
    that names the option, or the file, and lists the names where one is unknown.
    """
    if text is None:
        return None
    if text.startswith("@"):
        return _columns(robot, text[1:], option)
    parts = [part.strip() for part in text.split(",")] if text.strip() else []
    given: Values = _by_name(parts, option) if any("=" in part for part in parts) else parts
    return {robot.coordinates[place]: value for place, value in by_place(robot, given or None, option).items()}


def vector(text: str | None, option: str) -> list[float]:
    """Three numbers separated by commas, zero where nothing is given."""
    parts = ["0", "0", "0"] if text is None else text.split(",")
    if len(parts) != 3:
        raise UsageError(f"{option} takes three numbers x,y,z, not {len(parts)}")
    return [number(part, {}, option) for part in parts]


def _by_name(parts: list[str], option: str) -> dict[str, str]:
    named: dict[str, str] = {}
    for part in parts:
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise UsageError(f"{option}: {part!r} should read NAME=VALUE like the others")
        if name in named:
            raise UsageError(f"{option}: {name} is given twice")
        named[name] = value
    return named


def _columns(robot: Robot, name: str, option: str) -> dict[str, np.ndarray]:
    path = Path(name)
    try:
        if not path.is_file():
            raise UsageError(f"{option} @{name}: there is no such file")
        if path.stat().st_size > FILE_LIMIT:
            raise UsageError(f"{option} @{name}: the file is larger than {FILE_LIMIT} bytes")
        with path.open(encoding="utf-8-sig", newline="") as file:
            header = [entry.strip() for entry in next(csv.reader([file.readline()]), [])]
            _demand_coordinates(robot, header, f"{option} @{name}")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that a file has no rows is said below
                lines = (line for line in file if line.strip())
                numbers = np.loadtxt(lines, delimiter=",", ndmin=2, comments=None, dtype=float)
    except UnicodeDecodeError:
        raise UsageError(f"{option} @{name}: not UTF-8 text") from None
    except OSError as error:
        raise UsageError(f"{option} @{name}: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{option} @{name}: {error}") from None
    if not header or not numbers.size:
        raise UsageError(f"{option} @{name}: a header of coordinate names and rows of numbers are wanted")
    if numbers.shape[1] != len(header):
        raise UsageError(f"{option} @{name}: {len(header)} names in the header, but {numbers.shape[1]} values in a row")
    if not np.isfinite(numbers).all():
        row = int(np.argmin(np.isfinite(numbers).all(axis=1)))
        raise UsageError(f"{option} @{name}: a value in row {row + 1} after the header is not finite")
    return dict(zip(header, numbers.T, strict=True))


def _demand_coordinates(robot: Robot, header: list[str], where: str) -> None:
    for entry in header:
        if entry not in robot.coordinates:
            hint = did_you_mean(entry, robot.coordinates) or f"; coordinates are {', '.join(robot.coordinates)}"
            raise UsageError(f"{where}: the header must name coordinates, {entry!r} is none{hint}")
        if header.count(entry) > 1:
            raise UsageError(f"{where}: {entry} stands twice in the header")
