"""``kronbot init``."""

from __future__ import annotations

from pathlib import Path

import click

from kronbot.cli.files import check_place, shown, write_atomically
from kronbot.errors import UsageError

SUFFIXES = (".yaml", ".yml")


@click.command(short_help="A commented robot file to start from.")
@click.argument("file", metavar="[FILE]", required=False)
@click.option("--overwrite", is_flag=True, help="Replace FILE where it is there.")
@click.option("-q", "--quiet", is_flag=True, help="No messages on stderr but errors.")
# main.py looks for --debug itself, since errors are its business.
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
def init(file: str | None, overwrite: bool, quiet: bool) -> None:
    """Write a robot file that explains itself to FILE (.yaml or .yml), or to stdout.

    An arm of two links, the first one flexible, that answers every command at once; comments say what each key means
    and its units. "kronbot robots NAME" gives a shipped robot to start from instead.

    \b
    Examples:
      kronbot init arm.yaml
      kronbot init | kronbot check -
    """
    from kronbot.description.shipped import starter

    if file is None or file == "-":
        click.echo(starter(), nl=False)
        return
    if Path(file).suffix not in SUFFIXES:
        raise UsageError(f"init {shown(file)}: a robot file ends in {' or '.join(SUFFIXES)}")
    check_place("init", file, overwrite)
    write_atomically(Path(file), starter().encode())
    if not quiet:
        click.echo(f"wrote {shown(file)}; kronbot check {shown(file)} says what it describes", err=True)
