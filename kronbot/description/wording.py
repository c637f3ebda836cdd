"""How a message quotes what a user wrote, how it guesses what was meant, and which lines and how many are shown."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from kronbot.description import limits
from kronbot.errors import Mistake, Mistaken

_QUOTED_LENGTH = 60
_GUESSED_LENGTH = 64


def quote(text: str) -> str:
    """``text`` in single quotes, clipped, control characters escaped (a file must not write to the terminal)."""
    clipped = text if len(text) <= _QUOTED_LENGTH else text[: _QUOTED_LENGTH - 3] + "..."
    return "'" + "".join(c if c.isprintable() else repr(c)[1:-1] for c in clipped) + "'"


def did_you_mean(word: str, options: Iterable[str]) -> str:
    """``"; did you mean 'x'?"`` for the option nearest to ``word``, or an empty string."""
    if len(word) > _GUESSED_LENGTH:
        return ""
    by_case = {option.casefold(): option for option in options}
    near = difflib.get_close_matches(word.casefold(), by_case, n=1)
    return f"; did you mean {quote(by_case[near[0]])}?" if near else ""


def listing(options: Iterable[str]) -> str:
    """The options one after the other, for "known are ..."; long lists are cut."""
    names = list(options)
    shown = ", ".join(names[:20])
    return f"{shown}, ... ({len(names)} in all)" if len(names) > 20 else shown


def first_of(mistakes: Iterable[Mistake]) -> list[Mistake]:
    """The mistakes in the order of the file; of very many the first, and how many more there are."""
    ordered = sorted(mistakes)
    rest = ordered[limits.MISTAKES :]
    if rest:
        count = f"and {len(rest)} more mistake{'s' if len(rest) > 1 else ''}"
        return [*ordered[: limits.MISTAKES], Mistake(rest[-1].line, rest[-1].column, count, rest[-1].file, text="")]
    return ordered


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
