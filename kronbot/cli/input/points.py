"""Values of coordinates on the command line: ``0.1,pi/2``, ``q1=0.1,upper.v1=0.02``, ``@file.csv``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from typing import TYPE_CHECKING

import numpy as np

from kronbot.cli.input.habits import angles, demand_plain
from kronbot.cli.output.messages import show_doubts
from kronbot.description.choices import RPY, XYZ
from kronbot.description.degrees import doubt_of
from kronbot.description.limits import CASES
from kronbot.description.wording import shown_path as shown
from kronbot.errors import UsageError
from kronbot.library.arguments import number
from kronbot.library.values import by_index, by_joint, joints_listed

if TYPE_CHECKING:
    from kronbot.library.values import Values
    from kronbot.model.robot import Robot

# Numbers that the answer to one block of rows may hold, and the fewest and most rows of a block.
BLOCK_ENTRIES, FEWEST, MOST = 32_000_000, 512, 65_536


def values(robot: Robot, text: str | None, option: str) -> Values | None:
    """The values of an option by name.

    All n values, or as many as there are joints, or NAME=VALUE, each an expression over parameters. Raises UsageError
    that names the option, or the file, and lists the names where one is unknown.
    """
    if text is None:
        return None
    if not text.strip():
        raise UsageError(f"{option} is empty: give it values, or leave it out for zeros")
    if text.startswith("@"):
        from kronbot.cli.input.rows import blocks_of  # here, since few values are those of a file

        block = next(blocks_of(robot, text[1:], option, 2))
        if len(next(iter(block.values()))) > 1:
            raise UsageError(
                f"{option} {shown(text)}: one point is wanted here, not a file of many rows (kronbot explain rows)"
            )
        return {name: float(column[0]) for name, column in block.items()}
    given = _parts(text, option)
    found = by_index(robot, given, option)
    texts = given.values() if isinstance(given, dict) else given
    warn_of_degrees(robot, {i: [each] for i, each in zip(found, texts, strict=True)}, option)
    by_name = {robot.coordinates[i]: value for i, value in found.items()}
    return by_name if isinstance(given, dict) else list(found.values())


def pose(robot: Robot, text: str, option: str) -> dict[str, str] | list[str]:
    """A pose, by names or as numbers, each an expression over parameters."""
    given = _parts(text, option)
    turned = len(given) == len(XYZ) + len(RPY)
    named = given if isinstance(given, dict) else dict(zip(RPY, given[len(XYZ) :] if turned else (), strict=False))
    known = robot.description.values
    texts = {name: named.get(name, "0") for name in RPY}
    doubts = [doubt_of(name, number(each, known, f"{option} {name}"), each) for name, each in texts.items()]
    show_doubts(f"{option}: {doubt}" for doubt in [*filter(None, doubts)][:1])
    return given


def _parts(text: str, option: str) -> dict[str, str] | list[str]:
    """What stands between commas, by name where there is a NAME=VALUE. Raises UsageError where only some have names."""
    demand_plain(text, option)
    found = [part.strip() for part in text.split(",")]
    return _by_name(found, option) if any("=" in part for part in found) else found


def warn_of_degrees(robot: Robot, texts: Mapping[int, Sequence[str]], option: str) -> None:
    """At the first angle that looks so, of what is written for coordinates by place."""
    known = robot.description.values
    written = ((robot.coordinates[i], each) for i in angles(robot, option) for each in texts.get(i, ()))
    doubts = (doubt_of(name, number(each, known, f"{option[2:]} {name}"), each) for name, each in written)
    show_doubts(f"{option}: {doubt}" for doubt in islice(filter(None, doubts), 1))


def of_joints(robot: Robot, text: str | None, option: str) -> Values | None:
    """The same where only joints can have a value."""
    with joints_listed(robot, option):
        given = values(robot, text, option)
    by_joint(robot, given, option)
    return given


def blocks(robot: Robot, texts: Mapping[str, str | None]) -> Iterator[dict[str, Values | None]]:
    """The values of options by word, block by block of the rows of ``@file.csv``, whose header has the names.

    Where no option names a file there is one block, of single values. Raises UsageError like :func:`values`, for a file
    that cannot be read, and where files have different numbers of rows.
    """
    files = _files(texts)
    single = {word: values(robot, text, f"--{word}") for word, text in texts.items() if word not in files}
    for parts in _blocks(robot, files) if files else [{}]:
        yield {**single, **parts}


def all_rows(robot: Robot, texts: Mapping[str, str | None]) -> dict[str, Values | None]:
    """The same in one block, where every row takes milliseconds and all are one answer.

    Raises UsageError like :func:`blocks`, and for more than CASES rows.
    """
    files = _files(texts)
    single = {word: values(robot, text, f"--{word}") for word, text in texts.items() if word not in files}
    found: list[dict[str, dict[str, np.ndarray]]] = []
    count = 0
    for parts in _blocks(robot, files):
        found.append(parts)
        count += _length(parts)
        if count > CASES:
            raise UsageError(f"more than {CASES} rows are too many for this question")
    columns = {
        word: {name: np.concatenate([parts[word][name] for parts in found]) for name in found[0][word]}
        for word in files
    }
    return {**single, **columns}


def demand_point_to_draw(option: str | None, texts: Mapping[str, object]) -> None:
    """Raise UsageError where a picture of one point, by its option, and rows of them are asked for."""
    if option is not None and _files(texts):
        raise UsageError(f"{option} draws one point: leave out the file of rows, or {option}")


def _files(texts: Mapping[str, object]) -> dict[str, str]:
    """The files that options name, by the word of the option."""
    return {word: text[1:] for word, text in texts.items() if isinstance(text, str) and text.startswith("@")}


def _blocks(robot: Robot, files: Mapping[str, str]) -> Iterator[dict[str, dict[str, np.ndarray]]]:
    """Columns by word and name, block by block."""
    from kronbot.cli.input.rows import blocks_of

    # A Hessian has n^2 columns, and few answers more than a dozen of them.
    size = min(max(BLOCK_ENTRIES // (12 * robot.n**2 + 1), FEWEST), MOST)
    readers = [blocks_of(robot, name, f"--{word}", size) for word, name in files.items()]
    for parts in zip_longest(*readers):
        if None in parts or len({len(next(iter(part.values()))) for part in parts}) > 1:
            raise UsageError(f"the files of {' and '.join(f'--{word}' for word in files)} must have equally many rows")
        yield dict(zip(files, parts, strict=True))


def _length(parts: Mapping[str, Mapping[str, np.ndarray]]) -> int:
    """How many rows a block has."""
    return next(len(column) for columns in parts.values() for column in columns.values())


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
