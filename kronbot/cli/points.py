"""Values of coordinates on the command line: ``0.1,pi/2``, ``q1=0.1,upper.v1=0.02``, ``@file.csv``."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping
from itertools import islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from kronbot.description.wording import did_you_mean
from kronbot.errors import UsageError
from kronbot.library.values import by_place, joints_only, number

if TYPE_CHECKING:
    from kronbot.library.values import Values
    from kronbot.model.robot import Robot

# Numbers that the answer to one block of rows may hold, and the fewest and most rows of a block.
BLOCK_ENTRIES, FEWEST, MOST = 32_000_000, 512, 65_536
# Characters that a header may have: coordinates are few and their names short.
LINE_LIMIT = 200_000


def values(robot: Robot, text: str | None, option: str) -> Values | None:
    """The values of an option by name.

    All n values, or as many as there are joints, or NAME=VALUE, each an expression over parameters. Raises UsageError
    that names the option, or the file, and lists the names where one is unknown.
    """
    if text is None:
        return None
    if text.startswith("@"):
        block = next(_blocks(robot, text[1:], option, 2))
        if len(next(iter(block.values()))) > 1:
            raise UsageError(f"{option} {text}: one point is wanted here, not a file of many rows")
        return {name: float(column[0]) for name, column in block.items()}
    parts = [part.strip() for part in text.split(",")] if text.strip() else []
    given: Values = _by_name(parts, option) if any("=" in part for part in parts) else parts
    places = by_place(robot, given or None, option)
    _warn_of_degrees(robot, text, places, option)
    return {robot.coordinates[place]: value for place, value in places.items()}


def _warn_of_degrees(robot: Robot, text: str, places: Mapping[int, float], option: str) -> None:
    """Angles beyond 2 pi are suspicious unless somebody wrote pi or deg; rates and torques are not."""
    if option not in ("--q", "--delta", "--calibration") or "deg" in text or "pi" in text:
        return
    for joint in robot.joints:
        value = places.get(joint.index, 0.0)
        if joint.revolute and abs(value) > 2 * math.pi:
            message = (
                f"warning: {option}: {joint.name} = {value:g} is beyond 2 pi: is it in degrees? (write {value:g}*deg)"
            )
            click.echo(message, err=True)


def of_joints(robot: Robot, text: str | None, option: str) -> Values | None:
    """The same where only joints can have a value."""
    given = values(robot, text, option)
    joints_only(robot, by_place(robot, given, option), option)
    return given


def blocks(robot: Robot, texts: Mapping[str, str | None]) -> Iterator[dict[str, Values | None]]:
    """The values of options by word, block by block of the rows of ``@file.csv``, whose header has the names.

    Where no option names a file there is one block, of single values. Raises UsageError like :func:`values`, for a file
    that cannot be read, and where files have different numbers of rows.
    """
    files = {word: text[1:] for word, text in texts.items() if text is not None and text.startswith("@")}
    single = {word: values(robot, text, f"--{word}") for word, text in texts.items() if word not in files}
    if not files:
        yield single
        return
    # A Hessian has n^2 columns, and few answers more than a dozen of them.
    size = min(max(BLOCK_ENTRIES // (12 * robot.n**2 + 1), FEWEST), MOST)
    readers = [_blocks(robot, name, f"--{word}", size) for word, name in files.items()]
    for parts in zip_longest(*readers):
        if None in parts or len({len(next(iter(part.values()))) for part in parts}) > 1:
            raise UsageError(f"the files of {' and '.join(f'--{word}' for word in files)} must have equally many rows")
        yield {**single, **dict(zip(files, parts, strict=True))}


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


def _blocks(robot: Robot, name: str, option: str, size: int) -> Iterator[dict[str, np.ndarray]]:
    """Columns by name, so many rows at a time; at least one block."""
    where = f"{option} @{name}"
    try:
        if not Path(name).is_file():
            raise UsageError(f"{where}: there is no such file")
        with Path(name).open(encoding="utf-8-sig", newline="") as file:
            header = [entry.strip() for entry in next(csv.reader([file.readline(LINE_LIMIT)]), [])]
            _demand_coordinates(robot, header, where)
            lines = (line for line in file if line.strip())
            done = 0
            while block := list(islice(lines, size)):
                rows = np.loadtxt(block, delimiter=",", ndmin=2, comments=None, dtype=float)
                _demand_rows(rows, header, where, done)
                yield dict(zip(header, rows.T, strict=True))
                done += len(rows)
            if not done:
                raise UsageError(f"{where}: a header of coordinate names and rows of numbers are wanted")
    except UnicodeDecodeError:
        raise UsageError(f"{where}: not UTF-8 text") from None
    except OSError as error:
        raise UsageError(f"{where}: {error.strerror}") from None
    except (ValueError, csv.Error) as error:
        raise UsageError(f"{where}: {error}") from None


def _demand_rows(rows: np.ndarray, header: list[str], where: str, before: int) -> None:
    if rows.shape[1] != len(header):
        raise UsageError(f"{where}: {len(header)} names in the header, but {rows.shape[1]} values in a row")
    if not np.isfinite(rows).all():
        row = before + int(np.argmin(np.isfinite(rows).all(axis=1))) + 1
        raise UsageError(f"{where}: a value in row {row} after the header is not finite")


def _demand_coordinates(robot: Robot, header: list[str], where: str) -> None:
    for entry in header:
        if entry not in robot.coordinates:
            hint = did_you_mean(entry, robot.coordinates) or f"; coordinates are {', '.join(robot.coordinates)}"
            raise UsageError(f"{where}: the header must name coordinates, {entry!r} is none{hint}")
        if header.count(entry) > 1:
            raise UsageError(f"{where}: {entry} stands twice in the header")
