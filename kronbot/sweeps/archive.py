"""The table of a sweep as a NumPy archive: an array a column, the cases along its first axis; whole arrays too.

Numbers that a case lacks are NaN, also where its array is smaller than others. What is in memory is a chunk.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from tempfile import TemporaryFile
from typing import IO, Any, BinaryIO

import numpy as np

from kronbot.questions.swept import ERROR
from kronbot.sweeps.cells import Form, value
from kronbot.sweeps.output import Chunks, File, rows
from kronbot.sweeps.work import Task

# The entries that say what sweep this is, and the units of its columns.
KEY, UNITS = "sweep.json", "units.json"


class Archive(File):
    """An entry a column, and one that says what sweep this is."""

    def pieces(self, task: Task, chunks: Chunks) -> Iterator[bytes]:
        """The file; what is in memory is a chunk."""
        names = task.kept.header
        forms = [Form("U" if name == ERROR else "?") for name in names]
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
                for name, told in ((KEY, task.key), (UNITS, task.units)):
                    with _entry(archive, name) as entry:
                        entry.write(_told(told))
        yield sink.taken()

    def same(self, file: BinaryIO, task: Task) -> bool:
        """As its own entry says."""
        wanted = _told(task.key)
        try:
            with zipfile.ZipFile(file) as archive, archive.open(f"{KEY}.npy") as entry:
                return entry.read(len(wanted) + 1) == wanted  # however much it holds
        except (OSError, ValueError, KeyError, NotImplementedError, zipfile.BadZipFile, zlib.error):
            return False


def _told(about: Mapping[str, Any]) -> bytes:
    """What an entry that says something holds: JSON as an array of text."""
    made = io.BytesIO()
    np.lib.format.write_array(made, np.array(json.dumps(about)), allow_pickle=False)
    return made.getvalue()


def packed(cells: Mapping[str, Any]) -> bytes:
    """An archive of one case: an array each, nothing where there is none."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as archive:
        for name, cell in cells.items():
            if cell is not None:
                with _entry(archive, name) as entry:
                    np.lib.format.write_array(entry, value(cell), allow_pickle=False)
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
