"""What the options of ``fit`` say of parameters and columns, as arguments of the library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kronbot.cli.input.option import pairs
from kronbot.description.wording import quote
from kronbot.errors import UsageError


def estimated(texts: Sequence[str]) -> dict[str, tuple[str | None, str | None] | None]:
    """``--estimate NAME`` or ``NAME=FROM:TO``, either of which may be left out; many between commas."""
    found: dict[str, tuple[str | None, str | None] | None] = {}
    for text in filter(None, (each.strip() for whole in texts for each in whole.split(","))):
        name, equals, ends = (part.strip() for part in text.partition("="))
        low, colon, high = (part.strip() for part in ends.partition(":"))
        if not name or equals and (not colon or not (low or high)):
            raise UsageError(f"--estimate {quote(text)} should read NAME, or NAME=FROM:TO")
        if name in found:
            raise UsageError(f"--estimate: {name} is given twice")
        found[name] = (low or None, high or None) if equals else None
    return found


def priors(texts: Sequence[str]) -> dict[str, list[str]]:
    """``--prior NAME=MEAN,DEVIATION``."""
    return {name: text.split(",") for name, text in pairs(texts, "--prior", "NAME=MEAN,DEVIATION").items()}


def share_or_file(text: str) -> float | str:
    """``--validate``: a share of the rows, or a file."""
    try:
        return float(text if text.isascii() else "a file")
    except ValueError:
        return text


def names(text: str) -> list[str]:
    """Names between commas."""
    return [name for name in (part.strip() for part in text.split(",")) if name]


CONVERTERS: Mapping[str, Callable[[Any], object]] = {
    "estimate": estimated,
    "prior": priors,
    "sigma": lambda texts: pairs(texts, "--sigma", "COLUMN=NUMBER"),
    "columns": lambda texts: pairs(texts, "--columns", "NAME=EXPRESSION"),
    "offset": lambda texts: pairs(texts, "--offset", "COLUMN=EXPRESSION"),
    "delay": lambda texts: pairs(texts, "--delay", "COLUMN=EXPRESSION"),
    "validate": share_or_file,
    "only": names,
    "fix": names,
}


def arguments(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that are given."""
    given = {name: value for name, value in asked.items() if value not in (None, ())}
    return {name: CONVERTERS[name](value) if name in CONVERTERS else value for name, value in given.items()}
