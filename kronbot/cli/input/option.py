"""One option of a command, and what it means that it is given twice."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from kronbot.errors import UsageError

if TYPE_CHECKING:
    from click.core import ParameterSource


_PARTED = re.compile(r",(?=[^,=]*=)")
# What may be a name whose value has been forgotten, and no part of a number with a comma.
_BARE = re.compile(r"\s*([^\W\d][\w.-]*)\s*")


class Listed(click.ParamType[str]):
    """Entries with commas between them, of which several options have some each."""

    name = "text"

    def countable(self, texts: Sequence[str]) -> bool:
        """Whether entries of several options are entries of one list."""
        return True


class Valued(Listed):
    """Values by name, or a whole row of them, or ``@file.csv``; a row or a file stands alone."""

    def countable(self, texts: Sequence[str]) -> bool:
        """Whether all have names."""
        return all("=" in text and not text.startswith("@") for text in texts)


class Whole(click.IntRange):
    """A whole number within a range in the digits 0 to 9; int() would read 1_0 and digits of any script."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number."""
        if isinstance(value, str) and not re.fullmatch(r"\s*[+-]?[0-9]{1,20}\s*", value):
            self.fail(f"{value!r} is not a whole number", param, ctx)
        return super().convert(value, param, ctx)


LISTED, VALUED = Listed(), Valued()


class Option(click.Option):
    """Holds one thing, and refuses a second instead of forgetting the first; those of lists count together."""

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Have the parser keep all that is given."""
        if self.is_flag or self.multiple:
            super().add_to_parser(parser, ctx)
        else:
            parser.add_option(self, self.opts, self.name, "append")

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> tuple[Any, ParameterSource]:
        """What is given, as if it had been given once."""
        given = opts.get(self.name)
        if isinstance(given, list) and not ctx.resilient_parsing:
            self._demand_values(given, ctx.command)
        if isinstance(given, list) and not self.multiple:
            opts = {**opts, self.name: given[-1] if len(given) == 1 or ctx.resilient_parsing else self._together(given)}
        return super().consume_value(ctx, opts)

    def _demand_values(self, given: Sequence[object], command: click.Command) -> None:
        """Raise UsageError where the next option stands in the place of a value."""
        options = {word for each in command.params if isinstance(each, click.Option) for word in each.opts}
        words = (text.partition("=")[0] for text in given if isinstance(text, str))
        if met := next((word for word in words if word in options), None):
            form = f" ({self.metavar})" if self.metavar else ""
            raise UsageError(f"{self.opts[0]} wants a value{form}, and the option {met} follows in its place")

    def _together(self, given: Sequence[str]) -> str:
        name = self.opts[0]
        if not isinstance(self.type, Listed):
            several = (
                f"several are written as one, {';'.join(given)!r}" if ";" in (self.metavar or "") else "leave one out"
            )
            raise UsageError(f"{name} is given twice: {several}")
        if not self.type.countable(given):
            raise UsageError(f"{name} is given twice: only values by name, NAME=VALUE, count together; leave one out")
        return ",".join(given)


def each_pair(texts: Sequence[str]) -> Iterator[str]:
    """``NAME=TEXT`` one by one, of options that may be repeated and of lists: a comma parts two of them where a name
    and = follow it, and what is before it has a text."""
    for text in texts:
        whole = ""
        for piece in _PARTED.split(text):
            if "=" in whole:
                yield whole
                whole = piece
            else:
                whole = f"{whole},{piece}" if whole else piece
        yield whole


def pairs(texts: Sequence[str], option: str, form: str) -> dict[str, str]:
    """``NAME=TEXT``, repeated or with commas between them, by name."""
    found: dict[str, str] = {}
    for text in each_pair(texts):
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name or not value:
            raise UsageError(f"{option} {text!r} should read {form}")
        # What stands between commas beside what the form has.
        beside = [*name.split(",")[:-1], *value.split(",")[1 + form.count(",") :]] if "[" not in name else []
        if forgotten := next(filter(None, map(_BARE.fullmatch, beside)), None):
            raise UsageError(f"{option}: {forgotten[1]!r} should read {form} like the others")
        if name in found:
            raise UsageError(f"{option}: {name} is given twice")
        found[name] = value
    return found


option = partial(click.option, cls=Option)
