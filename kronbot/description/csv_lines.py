"""Lines of CSV files: cells between commas, in quotes or not, each with its place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import accumulate

from kronbot.cached import cached_property
from kronbot.errors import Mistake

_CELL = re.compile(r'(?:^|(?<=,))(?:\s*"(?:[^"]|"")*"\s*(?=,|$)|[^,]*)')
_QUOTED = re.compile(r'"(?:[^"]|"")*"')


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

    def mistake(self, message: str, cell: int = 0) -> Mistake:
        """Something is wrong with the line, or with one of its cells."""
        return Mistake(self.number, self.starts[cell], message, self.file, self.text)
