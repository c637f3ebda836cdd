"""Answers for people on stdout: the table of an answer, with a chart of its series."""

from __future__ import annotations

import sys

import click

from kronbot.cli.output.messages import colourful
from kronbot.questions.result import Result
from kronbot.questions.tables import WIDTH, Table, summary

# Where numbers are that a table has no room for.
REST = "all with --format csv"
REST_OF_ARRAYS = "all with --format json|csv or -o"


def table(result: Result) -> None:
    """Print the whole answer, as wide as the terminal (a pipe has a fixed width)."""
    width = WIDTH
    if sys.stdout.isatty():
        import shutil  # here, since a pipe does without

        width = shutil.get_terminal_size().columns
    for line in (*Table(result, width, REST_OF_ARRAYS).arrays(), *Table(result, width, REST).series()):
        click.secho(line.text, bold=line.heading and colourful(sys.stdout))
    if result.series:
        from kronbot.cli.output.charts import chart  # here, since most answers have none

        ascii_only = not (sys.stdout.encoding or "").lower().startswith("utf")
        lines = chart(result, width, ascii_only)
        click.echo("".join(f"{line}\n" for line in ["", *lines] if lines), nl=False)
    if result.summary:
        click.echo()
        click.echo(summary(result))
