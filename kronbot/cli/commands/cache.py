"""``kronbot cache``."""

from __future__ import annotations

import json
from contextlib import suppress

import click

from kronbot.cli.input import options
from kronbot.cli.input.option import option
from kronbot.cli.output.files import tell
from kronbot.version import __version__


@click.command(short_help="Compiled functions and known robots: where they are kept, and how to remove them.")
@option("--clear", is_flag=True, help="Remove all that is kept.")
@options.style_option("Form.", ["table", "json"])
def cache(clear: bool, style: str) -> None:
    """Show the folder of compiled functions and known robots, or empty it.

    Native code, and what was traced of robots, are kept between runs in $KRONBOT_CACHE, else in the user's cache
    folder. Removing them is always safe: what is needed again is made again. When the folder is full, what was least
    recently used goes by itself.

    \b
    Examples:
      kronbot cache
      kronbot cache --clear
      kronbot cache --format json | jq .summary.bytes
    """
    from kronbot.compute.native import cache as compiled_functions

    path = compiled_functions.folder()
    entries: list[compiled_functions.Entry] = []
    removed: list[compiled_functions.Entry] = []
    with suppress(FileNotFoundError), compiled_functions.Cache(path) as kept:
        if clear:
            removed = kept.entries()
            kept.clear()
        entries = kept.entries()
    if clear:
        robots = sum(entry.is_robot for entry in removed)
        told = ((len(removed) - robots, "compiled function", True), (robots, "known robot", robots > 0))
        parts = (f"{count} {what}{'' if count == 1 else 's'}" for count, what, wanted in told if wanted)
        tell(f"removed {', '.join(parts)}")
    size = sum(entry.size for entry in entries)
    if style == "json":
        summary = {"folder": str(path), "entries": len(entries), "bytes": size}
        click.echo(json.dumps({"kronbot": __version__, "command": "cache", "summary": summary}, ensure_ascii=False))
        return
    click.echo(f"folder   {path}")
    click.echo(f"entries  {len(entries)}")
    click.echo(f"size     {size / 1e6:.1f} MB of at most {compiled_functions.MAX_BYTES / 1e6:.0f} MB")
