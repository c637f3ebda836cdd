"""The table of a sweep as a NumPy archive: an array a column, the cases along its first axis; whole arrays too.

Numbers that a case lacks are NaN, also where its array is smaller than others. What is in memory is a chunk.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import IO, Any, BinaryIO

import numpy as np
import numpy.typing as npt

from kronbot.sweeps.kept import ERROR
from kronbot.sweeps.output import Chunks, File, rows
from kronbot.sweeps.work import Task

# The entry that says what sweep this is.
KEY = "sweep.json"


@dataclass
class _Form:
    """What the cells of a column have in common: kind, shape, and the length of texts."""

    kind: str = "?"
    shape: tuple[int, ...] = ()
    length: int = 1

    def widen(self, cells: Sequence[Any]) -> None:
        """Make room for some more cells."""
        for cell in cells:
            if isinstance(cell, str):
                self.kind, self.length = "U", max(self.length, len(cell))
            elif cell is None:
                self.kind = max(self.kind, "f", key=_KINDS.index)
            else:
                value = _value(cell)
                self.kind = max(self.kind, _kind(value), key=_KINDS.index)
                if self.shape != value.shape:
                    sizes = zip(self.shape or value.shape, value.shape, strict=True)
                    self.shape = tuple(max(pair) for pair in sizes)

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(f"<U{self.length}" if self.kind == "U" else _TYPES[self.kind])

    def array(self, cells: Sequence[Any]) -> npt.NDArray[Any]:
        """Cells as an array."""
        if self.kind == "U":
            told = [cell if isinstance(cell, str) else "" if cell is None else json.dumps(cell) for cell in cells]
            return np.array(told, self.dtype)
        made = np.full((len(cells), *self.shape), np.nan if self.kind in "fc" else 0, self.dtype)
        for row, cell in zip(made, cells, strict=True) if self.shape else ():
            if cell is not None:
                value = _value(cell)
                row[tuple(map(slice, value.shape))] = value
        if not self.shape:
            made[:] = [np.nan if cell is None else _value(cell) for cell in cells]
        return made


# Every one holds those before it.
_KINDS = "?ifcU"
_TYPES = {"?": "?", "i": "<i8", "f": "<f8", "c": "<c16"}


def _value(cell: Any) -> npt.NDArray[Any]:
    return np.array(cell["real"]) + 1j * np.array(cell["imag"]) if isinstance(cell, dict) else np.array(cell)


def _kind(value: npt.NDArray[Any]) -> str:
    return "?" if value.dtype.kind == "b" else value.dtype.kind


class Archive(File):
    """An entry a column, and one that says what sweep this is."""

    def pieces(self, task: Task, chunks: Chunks) -> Iterator[bytes]:
        """The file; what is in memory is a chunk."""
        names = task.kept.header
        forms = [_Form("U" if name == ERROR else "?") for name in names]
        for done in chunks():
            for form, cells in zip(forms, zip(*rows(done), strict=True), strict=False):
                form.widen(cells)
        # Blocks of all columns as the chunks come, found again column by column.
        places: list[list[tuple[int, int]]] = [[] for _ in names]
        with TemporaryFile() as blocks:
            count = 0
            for done in chunks():
                table = rows(done)
                count += len(table)
                for form, place, cells in zip(forms, places, zip(*table, strict=True), strict=False):
                    content = form.array(cells).tobytes()
                    place.append((blocks.tell(), len(content)))
                    blocks.write(content)
            sink = _Sink()
            with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as archive:
                for name, form, place in zip(names, forms, places, strict=True):
                    with _entry(archive, name) as entry:
                        head = {"descr": form.dtype.str, "fortran_order": False, "shape": (count, *form.shape)}
                        np.lib.format.write_array_header_2_0(entry, head)
                        for start, length in place:
                            blocks.seek(start)
                            entry.write(blocks.read(length))
                            yield sink.taken()
                with _entry(archive, KEY) as entry:
                    np.lib.format.write_array(entry, np.array(json.dumps(task.key)), allow_pickle=False)
        yield sink.taken()

    def same(self, file: BinaryIO, task: Task) -> bool:
        """As its own entry says."""
        try:
            with np.load(file, allow_pickle=False) as archive:
                known: object = json.loads(str(archive[KEY]))
        except (OSError, ValueError, KeyError, zipfile.BadZipFile):
            return False
        return bool(known == task.key)


def packed(cells: Mapping[str, Any]) -> bytes:
    """An archive of one case: an array each, nothing where there is none."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as archive:
        for name, cell in cells.items():
            if cell is not None:
                with _entry(archive, name) as entry:
                    np.lib.format.write_array(entry, _value(cell), allow_pickle=False)
    return sink.taken()


def _entry(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    """An entry to be written, which has no time stamp."""
    return archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True)


class _Sink:
    """A file that is only written to, whose content is taken on the way."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, content: bytes, /) -> int:
        self._parts.append(bytes(content))
        return len(content)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def taken(self) -> bytes:
        content = b"".join(self._parts)
        self._parts.clear()
        return content
