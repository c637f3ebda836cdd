"""``kronbot check``."""

from __future__ import annotations

import click

from kronbot.cli.input import options
from kronbot.cli.input.options import Subject
from kronbot.cli.output.answers import Output


@click.command(short_help="What the file describes: masses, lengths, coordinates, natural frequencies, warnings.")
@options.subject_options
@options.output_options()
def check(subject: Subject, out: Output) -> None:
    """Check the file of ROBOT and say what it describes.

    Every mistake is reported as file:line:column: message, and warnings likewise. Natural frequencies are those at
    q = 0 without gravity, with joints locked and with joints free.

    \b
    Examples:
      kronbot check canadarm
      kronbot check arm.yaml --format json | jq .summary.total_mass
    """
    out.check()
    out.render(subject.load(out, judged=True).check())
