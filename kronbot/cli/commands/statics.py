"""``kronbot statics``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from kronbot.cli.input import completion, options
from kronbot.cli.input.option import option
from kronbot.cli.input.options import Subject
from kronbot.cli.output.answers import Output
from kronbot.description import choices
from kronbot.errors import UsageError

if TYPE_CHECKING:
    from kronbot.model.robot import Robot


@click.command(short_help="Equilibria under gravity and dead loads: torques, deflections, curvatures, compliance.")
@options.subject_at_every_order
@options.q_option
@option(
    "--angles",
    multiple=True,
    shell_complete=completion.joint,
    metavar="JOINT=VALUES",
    help="Sweep a joint: q1=0,0.1 or q1=-90*deg:90*deg:5*deg.",
)
@option("--forces", metavar="X,Y,Z;...", help="Forces on the endpoint, N, base frame; default: the file's.")
@option("--moments", metavar="X,Y,Z;...", help="Moments on the endpoint, N m, base frame; paired with the forces.")
@options.load_option("Dead load on a frame, in every case.")
@option(
    "--distributed",
    multiple=True,
    shell_complete=completion.beam_load,
    metavar="LINK=FX,FY,FZ",
    help="Dead load along a beam, N/m, in every case.",
)
@options.values_option(
    "--tau", "Torques of some joints by name: their angles are solved for, starting at --q.", completion.joint_values
)
@options.values_option(
    "--calibration", "Joints where gauges read zero, without loads: adds curvature_relative.", completion.joint_values
)
@options.choice_option(
    "--solver", choices.STATIC_SOLVERS, "newton", "Full equilibrium, or Piedboeuf's: first order in deflections."
)
@options.outputs_option("Columns more: KIND:NAME,... like reaction:q1 (kronbot explain outputs).")
@option(
    "--buckling",
    is_flag=True,
    help="Also the smallest multiple of the loads that makes the stiffness singular (one case).",
)
@options.output_options(plot=True)
def statics(subject: Subject, out: Output, **asked: Any) -> None:
    """Equilibria of ROBOT at given joint angles: the sweep of its file, or of --angles, --forces and --moments.

    Loads are dead: they keep their direction in the base frame. A row holds joint torques, tip deflections and
    rotations, curvature and twist at gauges, endpoint, reaction of the base and elastic energy; a single case also the
    endpoint's compliance and stiffness. With --tau the torques of joints are given and their angles found.

    \b
    Examples:
      kronbot statics piedboeuf
      kronbot statics piedboeuf --plot figures.pdf
      kronbot statics piedboeuf --order all --solver linear -o sweep.csv
      kronbot statics piedboeuf --q theta=30*deg --forces 0,-5.4,0 --order exact
      kronbot statics canadarm --q @postures.csv --forces 0,-10,0 -o sag.csv
      kronbot statics canadarm --load forearm=0,100,0 --buckling --format json | jq .summary
    """
    out.check(arrays=("difference",) if subject.order == "all" else ("compliance", "stiffness"))
    robot = (replace(subject, order="2") if subject.order == "all" else subject).load(out)

    from kronbot.cli.input.given import arguments
    from kronbot.model.build import compliant

    model = compliant(robot.model)
    given = arguments(model, asked, rows=True)
    if out.array in ("compliance", "stiffness"):
        _demand_one_case(model, given, out.array)
    out.answer(
        f"statics of {robot.name}",
        lambda progress: robot.statics(**given, order=subject.order, progress=progress),
    )


def _demand_one_case(robot: Robot, given: dict[str, Any], array: str) -> None:
    """Raise UsageError, before they are computed, where there are cases of which none has the array."""
    from kronbot.library.statics import inquiry
    from kronbot.questions.load_cases import one_case

    cases = inquiry(robot, **{name: value for name, value in given.items() if name != "buckling"}).cases
    if len(cases) > 1:
        raise UsageError(f"--array {array} is about one case, here are {len(cases)}: ", *one_case(robot, cases))
