"""``kronbot simulate``."""

from __future__ import annotations

import click

from kronbot.cli.input import completion, options
from kronbot.cli.input.options import Output, Quantity, Subject
from kronbot.description import choices


@click.command(short_help="Motion of the driven robot in time, with its energy balance.")
@options.subject_options
@click.option("--duration", type=Quantity(), help="How long, s; default: the file's simulate.duration.")
@click.option("--step", type=Quantity(), help="Time between rows of output, s; default: the file's, else 200 rows.")
@click.option(
    "--q",
    "q",
    metavar="VALUES",
    shell_complete=completion.coordinates,
    help="First coordinates: 0.1,pi/2,0 or by name q1=0.1,upper.v1=0.02; default: of the motion.",
)
@options.qd_option
@click.option(
    "--start",
    type=click.Choice(choices.STARTS),
    help="Beams at t = 0: straight, or at rest in their sag under gravity; default: the file's, else straight.",
)
@click.option(
    "--algorithm",
    type=click.Choice(choices.ALGORITHMS),
    default="recursive",
    show_default=True,
    help="Forward dynamics: recursive DeNOC, or the whole inertia matrix and its factorization.",
)
@click.option(
    "--solver",
    type=click.Choice(choices.INTEGRATORS),
    default="cvodes",
    show_default=True,
    help="Integrator.",
)
@click.option("--rtol", type=Quantity(), default=1e-8, show_default=True, help="Relative tolerance of the integrator.")
@click.option("--atol", type=Quantity(), default=1e-10, show_default=True, help="Absolute tolerance of the integrator.")
@options.output_options(plot=True)
def simulate(
    subject: Subject,
    duration: float | None,
    step: float | None,
    q: str | None,
    qd: str | None,
    start: str | None,
    algorithm: str,
    solver: str,
    rtol: float,
    atol: float,
    out: Output,
) -> None:
    """Simulate the motion of ROBOT under the drives of its file, and account for its energy.

    Torques of the rigid arm along the motion, PD controllers, constant or tabulated torques, or prescribed motions:
    the file's "simulate" says which. A run that stops early keeps what it has, marked incomplete.

    \b
    Examples:
      kronbot simulate canadarm
      kronbot simulate canadarm --duration 2 -o run.csv --plot run.pdf
      kronbot simulate arm.yaml --q q1=0.5 --format json | jq .summary
    """
    out.check(arrays=())
    robot = subject.load(out)

    from kronbot.cli.input.points import values

    at = {"q": values(robot.model, q, "--q"), "qd": values(robot.model, qd, "--qd")}
    out.answer(
        f"simulating {robot.name}",
        lambda progress: robot.simulate(
            duration,
            step,
            **at,
            start=start,
            algorithm=algorithm,
            solver=solver,
            rtol=rtol,
            atol=atol,
            progress=progress,
        ),
    )
