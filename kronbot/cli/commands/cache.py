"""``kronbot cache``."""

from __future__ import annotations

import json
from contextlib import suppress

import click

from kronbot.cli.input import options
from kronbot.version import __version__


@click.command(short_help="Compiled functions: where they are kept, how many there are, and how to remove them.")
@click.option("--clear", is_flag=True, help="Remove all compiled functions.")
@options.style_option("Form.", ["table", "json"])
def cache(clear: bool, style: str) -> None:
    """Show the folder of compiled functions, or empty it.

    Native code is kept between runs in $KRONBOT_CACHE, else in the user's cache folder. Removing it is always safe:
    what is needed again is compiled again. When the folder is full, the least recently used functions go by
    themselves.

    \b
    Examples:
      kronbot cache
      kronbot cache --clear
      kronbot cache --format json | jq .summary.bytes
    """
    from kronbot.compute.native import cache as compiled_functions

    path, count = compiled_functions.folder(), 0
    entries: list[compiled_functions.Entry] = []
    with suppress(FileNotFoundError), compiled_functions.Cache(path) as kept:
        if clear:
            count = kept.clear()
        entries = kept.entries()
    if clear:
        click.echo(f"removed {count} compiled function{'' if count == 1 else 's'}", err=True)
    size = sum(entry.size for entry in entries)
    if style == "json":
        summary = {"folder": str(path), "entries": len(entries), "bytes": size}
        click.echo(json.dumps({"kronbot": __version__, "command": "cache", "summary": summary}, ensure_ascii=False))
        return
    click.echo(f"folder   {path}")
    click.echo(f"entries  {len(entries)}")
    click.echo(f"size     {size / 1e6:.1f} MB of at most {compiled_functions.MAX_BYTES / 1e6:.0f} MB")
