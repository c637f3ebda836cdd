"""``kronbot statics``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from kronbot.cli.input import completion, options
from kronbot.cli.input.options import Output, Subject
from kronbot.description import choices
from kronbot.errors import UsageError

if TYPE_CHECKING:
    from kronbot.questions.result import Result


@click.command(short_help="Equilibria under gravity and dead loads: torques, deflections, curvatures, compliance.")
@options.subject_at_every_order
@options.q_option
@click.option(
    "--angles",
    multiple=True,
    shell_complete=completion.joint,
    metavar="JOINT=VALUES",
    help="Sweep a joint: q1=0,0.1 or q1=-90*deg:90*deg:5*deg.",
)
@click.option("--forces", metavar="X,Y,Z;...", help="Forces on the endpoint, N, base frame; default: the file's.")
@click.option(
    "--moments", metavar="X,Y,Z;...", help="Moments on the endpoint, N m, base frame; paired with the forces."
)
@click.option(
    "--load",
    "loads",
    multiple=True,
    shell_complete=completion.frame_load,
    metavar="FRAME=FX,FY,FZ[,MX,MY,MZ]",
    help="Dead load on a frame, in every case.",
)
@click.option(
    "--distributed",
    multiple=True,
    shell_complete=completion.beam_load,
    metavar="LINK=FX,FY,FZ",
    help="Dead load along a beam, N/m, in every case.",
)
@click.option(
    "--tau",
    metavar="VALUES",
    shell_complete=completion.joint_values,
    help="Torques of some joints by name: their angles are solved for, starting at --q.",
)
@click.option(
    "--calibration",
    metavar="VALUES",
    shell_complete=completion.joint_values,
    help="Joints where gauges read zero, without loads: adds curvature_relative.",
)
@click.option(
    "--solver",
    type=click.Choice(choices.STATIC_SOLVERS),
    default="newton",
    show_default=True,
    help="Full equilibrium, or Piedboeuf's: first order in deflections.",
)
@click.option(
    "--buckling",
    is_flag=True,
    help="Also the smallest multiple of the loads that makes the stiffness singular (one case).",
)
@options.output_options(plot=True)
def statics(
    subject: Subject,
    q: str | None,
    angles: tuple[str, ...],
    forces: str | None,
    moments: str | None,
    loads: tuple[str, ...],
    distributed: tuple[str, ...],
    tau: str | None,
    calibration: str | None,
    solver: str,
    buckling: bool,
    out: Output,
) -> None:
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
    out.check(arrays=("compliance", "stiffness"))
    every = subject.order == "all"
    robot = (replace(subject, order="2") if every else subject).load(out)

    from kronbot.cli.input import sweeps
    from kronbot.cli.input.points import all_rows, of_joints
    from kronbot.library.answering import complete
    from kronbot.library.statics import ask

    if every and buckling:
        raise UsageError("--buckling goes with one order")
    asked = ask(
        robot.model,
        all_rows(robot.model, {"q": q})["q"],
        sweeps.angles_by_joint(robot.model, angles),
        sweeps.vectors(forces, "--forces"),
        sweeps.vectors(moments, "--moments"),
        sweeps.loads(loads, "--load", "FRAME=fx,fy,fz or FRAME=fx,fy,fz,mx,my,mz", (3, 6)),
        sweeps.loads(distributed, "--distributed", "LINK=fx,fy,fz", (3,)),
        of_joints(robot.model, tau, "--tau"),
        of_joints(robot.model, calibration, "--calibration"),
        solver,
    )

    def answer(progress: Callable[[float], None]) -> Result:
        if every:
            return complete(asked.side_by_side(progress))
        return complete(asked.with_buckling(progress) if buckling else asked.answer(progress))

    out.answer(f"statics of {robot.name}", answer)
