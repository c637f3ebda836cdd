"""One option of a command, and what it means that it is given twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from kronbot.errors import UsageError

if TYPE_CHECKING:
    from click.core import ParameterSource


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
        if isinstance(given, list) and not self.multiple:
            opts = {**opts, self.name: given[-1] if len(given) == 1 or ctx.resilient_parsing else self._together(given)}
        return super().consume_value(ctx, opts)

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


option = partial(click.option, cls=Option)
