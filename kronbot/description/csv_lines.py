"""Lines of CSV files: cells between commas, in quotes or not, each with its place."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from functools import partial
from itertools import accumulate
from typing import BinaryIO

from kronbot.cached import cached_property
from kronbot.description.expressions.grammar import DECIMAL
from kronbot.errors import Mistake
from kronbot.records import dataclass

# Characters that a line of a file may have: 200 for each of the most coordinates that a robot has.
LINE_LIMIT = 200_000
# Bytes that are read from a file at a time.
CHUNK = 1 << 18
# Bytes that are no UTF-8, as :func:`lines_of` leaves them.
UNDECODED = re.compile("[\udc80-\udcff]")
_CELL = re.compile(r'(?:^|(?<=,))(?:\s*"(?:[^"]|"")*"\s*(?=,|$)|[^,]*)')
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_SEPARATORS = {";": "semicolons", "\t": "tabs", " ": "spaces"}
NUMBER = re.compile(rf"[-+]?{DECIMAL}")
DECIMAL_COMMA = re.compile(r"[-+]?[0-9]+,[0-9]+([eE][-+]?[0-9]+)?", re.ASCII)


@dataclass(frozen=True)
class Line:
    """A line of a file, by its number from 1."""

    file: str
    number: int
    text: str

    @cached_property
    def _pieces(self) -> list[str]:
        """What stands between the commas that part cells."""
        return self.text.split(",") if '"' not in self.text else [piece[0] for piece in _CELL.finditer(self.text)]

    @cached_property
    def cells(self) -> list[str]:
        """What the cells say, without space around it, and without quotes."""
        bare = [piece.strip() for piece in self._pieces]
        return [cell[1:-1].replace('""', '"').strip() if _QUOTED.fullmatch(cell) else cell for cell in bare]

    @cached_property
    def starts(self) -> list[int]:
        """The columns, from 1, in which the cells begin."""
        places = accumulate((len(piece) + 1 for piece in self._pieces[:-1]), initial=1)
        return [place + piece.index(piece.strip()) for place, piece in zip(places, self._pieces, strict=True)]

    @property
    def separated(self) -> Mistake | None:
        """What is wrong where other signs part columns of names or numbers, or a comma stands for a decimal point."""
        for sign, name in _SEPARATORS.items():
            parts = [part.strip(' "') for part in self.text.split(sign) if part.strip(' "')]
            decimal = next(filter(DECIMAL_COMMA.fullmatch, parts), "")
            numbers = all(NUMBER.fullmatch(part.replace(",", ".", 1)) for part in parts)
            if len(parts) > 1 and ("," not in self.text or (decimal and numbers)):
                cure = f", and decimals have a point: {decimal.replace(',', '.')}" if decimal else ""
                return self.mistake(f"columns are separated by commas, not by {name}{cure}")
        places = (i for i, cell in enumerate(self.cells) if DECIMAL_COMMA.fullmatch(cell))
        i = next(places, None)
        return None if i is None else self.mistake(f"decimals have a point: {self.cells[i].replace(',', '.')}", i)

    def mistake(self, message: str, cell: int = 0) -> Mistake:
        """Something is wrong with the line, or with one of its cells."""
        return Mistake(self.number, self.starts[cell], message, self.file, self.text)


def lines_of(file: BinaryIO) -> Iterator[list[str]]:
    """Lines of a text without their ends, many at a time; one that is too long is the last, and not whole.

    Bytes that are no UTF-8 become lone surrogates, which have a place like any character. Raises OSError.
    """
    utf8 = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")
    decoder = io.IncrementalNewlineDecoder(utf8, translate=True)
    rest = ""
    for chunk in iter(partial(file.read, CHUNK), b""):
        if chunk is None:
            raise OSError("cannot be read: it does not wait for who writes into it")
        *lines, rest = (rest + decoder.decode(chunk)).split("\n")
        if len(rest) > LINE_LIMIT:
            yield [*lines, rest]
            return
        if lines:
            yield lines
    yield (rest + decoder.decode(b"", final=True)).split("\n")
