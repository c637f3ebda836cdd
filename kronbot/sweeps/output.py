"""The table of a sweep as a file, written from chunks in the order of the cases, whole or not at all."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from kronbot.description.wording import quote
from kronbot.errors import Argument, UsageError
from kronbot.sweeps.kept import Kept
from kronbot.sweeps.work import Done, line

SUFFIXES = (".csv", ".json", ".npz")


def demand_format(name: str, kept: Kept) -> str:
    """The suffix, which decides the format. Raises UsageError for another one, and where it cannot hold all."""
    suffix = PurePath(name).suffix
    if suffix not in SUFFIXES:
        raise UsageError(Argument("output", quote(name)), f": the suffix must be one of {', '.join(SUFFIXES)}")
    if suffix == ".csv" and kept.whole:
        one = kept.whole[0]
        raise UsageError(f"{one} is no single number: a .csv takes an entry of it, max({one}) or the like, .npz all")
    return suffix


def pieces(suffix: str, kept: Kept, chunks: Iterable[Done]) -> Iterator[bytes]:
    """The file, piece by piece."""
    if suffix == ".csv":
        return as_csv(kept, chunks)
    return as_json(kept, chunks)


def as_csv(kept: Kept, chunks: Iterable[Done]) -> Iterator[bytes]:
    """Numbers as they are in JSON; nothing where a case has none."""
    yield _csv([kept.header])
    for done in chunks:
        if b'"' not in done.text and not kept.unseen:
            # Numbers, true, false and null only, in which nothing stands between commas by itself.
            yield done.text.replace(b"[", b"").replace(b"]", b"").replace(b"null", b"")
        else:
            yield _csv([_cell(each) for each in row[: len(kept.header)]] for row in rows(done))


def ends(suffix: str, kept: Kept, first: Done, last: Done) -> tuple[bytes, bytes]:
    """How a file begins and how it ends, by its first and its last case."""
    nothing = b"".join(pieces(suffix, kept, ()))
    head, tail = (b"".join(pieces(suffix, kept, [done])) for done in (first, last))
    if suffix == ".csv":
        return head, tail.removeprefix(nothing)
    return head.removesuffix(b"\n]}\n"), tail[tail.index(b"[\n") + 2 :]


def _cell(value: object) -> object:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def _csv(lines: Iterable[Iterable[object]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue().encode()


def as_json(kept: Kept, chunks: Iterable[Done]) -> Iterator[bytes]:
    """An object with the names of the columns and the rows, a line each."""
    yield b'{"columns":' + json.dumps(kept.header, ensure_ascii=False).encode() + b',"rows":[\n'
    comma = b""
    for done in chunks:
        text = done.text
        if kept.unseen:
            text = "".join(line(row[: len(kept.header)]) for row in rows(done)).encode()
        yield comma + text[:-1].replace(b"\n", b",\n")
        comma = b",\n"
    yield b"\n]}\n"


def rows(done: Done) -> list[list[object]]:
    """The rows of a chunk as values; what is kept unseen comes last."""
    found: list[list[object]] = json.loads(b"[" + done.text[:-1].replace(b"\n", b",") + b"]")
    return found
