"""``kronbot simulate``."""

from __future__ import annotations

from typing import Any

import click

from kronbot.cli.input import options
from kronbot.cli.input.option import option
from kronbot.cli.input.options import Quantity, Subject
from kronbot.cli.output.answers import Output
from kronbot.description import choices


@click.command(short_help="Motion of the driven robot in time, with its energy balance.")
@options.subject_options
@option("--duration", type=Quantity(), help="How long, s; default: the file's simulate.duration.")
@option("--step", type=Quantity(), help="Time between rows of output, s; default: the file's, else 200 rows.")
@options.q_of_start_option
@options.qd_option
@option(
    "--start",
    type=click.Choice(choices.STARTS),
    help="Beams at t = 0: straight, or at rest in their sag under gravity; default: the file's, else straight.",
)
@options.load_option("Dead load on a frame, all the time, beside the forces of the file.")
@options.outputs_option("Columns more: KIND:NAME,... like velocity:endpoint (kronbot explain outputs).")
@options.algorithm_option
@options.choice_option("--solver", choices.INTEGRATORS, "cvodes", "Integrator.")
@option("--rtol", type=Quantity(), default=1e-8, show_default=True, help="Relative tolerance of the integrator.")
@option("--atol", type=Quantity(), default=1e-10, show_default=True, help="Absolute tolerance of the integrator.")
@option("--band", type=Quantity(), default=0.02, show_default=True, help="Share of its way in which it has settled.")
@options.output_options(plot=True, arrays=False)
def simulate(subject: Subject, out: Output, **asked: Any) -> None:
    """Simulate the motion of ROBOT under the drives of its file, and account for its energy.

    Torques of the rigid arm along the motion, PD controllers, constant or tabulated torques, or prescribed motions:
    the file's "simulate" says which. A run that stops early keeps what it has, marked incomplete.

    \b
    Examples:
      kronbot simulate canadarm
      kronbot simulate canadarm --duration 2 -o run.csv --plot run.pdf
      kronbot simulate arm.yaml --q q1=0.5 --format json | jq .summary
    """
    out.check()
    robot = subject.load(out)

    from kronbot.cli.input.given import arguments

    given = arguments(robot.model, asked)
    out.answer(f"simulating {robot.name}", lambda progress: robot.simulate(**given, progress=progress))
