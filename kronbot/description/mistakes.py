"""What is wrong with a text: collected by place, cut where it is very much, raised with the lines it is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from kronbot.description import limits
from kronbot.description.wording import did_you_mean, meant_by, near
from kronbot.errors import DescriptionError, Mistake, Mistaken


class Mistakes:
    """Mistakes of one text, which messages call ``file``."""

    def __init__(self, file: str, found: Iterable[Mistake] = ()) -> None:
        self.file = file
        self.found = list(found)

    def refuse(self, place: tuple[int, int], message: str) -> None:
        """Something is wrong at a place: line and column, from 1."""
        self.found.append(Mistake(*place, message, self.file))

    @property
    def full(self) -> bool:
        """There are more mistakes than are shown: guesses cost too much to go on with them."""
        return len(self.found) >= limits.MISTAKES

    def guess(self, word: str, options: Iterable[str]) -> str:
        """``did_you_mean``, for the mistakes that are shown."""
        return "" if self.full else did_you_mean(word, options)

    def meant(self, name: str, known: Iterable[str]) -> str:
        """``meant_by``, for the mistakes that are shown."""
        return "" if self.full else meant_by(name, known)

    def near(self, word: str, options: Iterable[str]) -> list[str]:
        """``near``, for the mistakes that are shown."""
        return [] if self.full else near(word, options)

    def raise_mistakes(self) -> None:
        """Raise DescriptionError with the first mistakes in the order of the text, if there are any."""
        raise_all(self.found)


def raise_all(mistakes: Iterable[Mistake]) -> None:
    """Raise DescriptionError with the first of the mistakes in the order of the text, if there are any."""
    first = first_of(mistakes)
    if first:
        raise DescriptionError(first)


def first_of(mistakes: Iterable[Mistake], what: str = "mistake", counted: bool = True) -> list[Mistake]:
    """The mistakes in the order of the text; of very many the first, and how many more there are, if they are known."""
    ordered = sorted(mistakes)
    rest = ordered[limits.MISTAKES :]
    if not rest:
        return ordered
    count = f"and {len(rest)} more {what}{'s' if len(rest) > 1 else ''}" if counted else f"and more {what}s"
    return [*ordered[: limits.MISTAKES], replace(rest[-1], message=count, text="")]


def with_lines(mistakes: Iterable[Mistake], lines: Sequence[str]) -> tuple[Mistake, ...]:
    """The mistakes, in their order, with the lines of the text that they are about."""
    shown = dict(enumerate(lines, start=1))
    return tuple(m if m.text is not None else replace(m, text=shown.get(m.line, "")) for m in mistakes)


@contextmanager
def quoting(lines: Sequence[str]) -> Iterator[None]:
    """Mistakes that are raised inside get the lines of the text that they are about."""
    try:
        yield
    except Mistaken as error:
        error.mistakes = with_lines(error.mistakes, lines)
        raise
