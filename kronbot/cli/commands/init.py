"""``kronbot init``."""

from __future__ import annotations

import click

from kronbot.cli.output.files import check_robot_file, save, shown


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
    check_robot_file("init", file, overwrite)
    save(file, starter().encode())
    if not quiet:
        click.echo(f"kronbot check {shown(file)} says what it describes", err=True)
