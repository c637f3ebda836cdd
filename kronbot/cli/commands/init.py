"""``kronbot init``."""

from __future__ import annotations

import click

from kronbot.cli.input import options
from kronbot.cli.output.files import check_robot_file, put, tell
from kronbot.description.wording import shown_path as shown


@click.command(short_help="A commented robot file to start from.")
@click.argument("file", metavar="[FILE]", required=False, callback=options.or_stdout)
@options.overwrite_option("Replace FILE where it is there.")
@options.message_options
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

    if file is not None:
        check_robot_file("init", file, overwrite)
    put(file, starter())
    if file is not None:
        tell(f"kronbot check {shown(file)} says what it describes")
