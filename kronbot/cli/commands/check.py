"""``kronbot check``."""

from __future__ import annotations

import click

from kronbot.cli.input import options
from kronbot.cli.input.options import Subject
from kronbot.cli.output.answers import Output
from kronbot.cli.output.messages import show_doubts, show_warnings


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
    robot = subject.load(out, judged=True)
    answer = robot.check()
    out.render(answer)
    if not out.quiet:
        from kronbot.library.of_file import told_of_sweep
        from kronbot.questions.inertia import told_of_inertia

        placed = *told_of_inertia(robot.model), *told_of_sweep(robot.model, robot)
        show_warnings(placed)
        # The others with places were told when the file was read.
        told = {str(each) for each in (*robot.description.warnings, *robot.description.useless, *placed)}
        show_doubts(each for each in answer.warnings if each not in told)
