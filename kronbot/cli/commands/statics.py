"""``kronbot statics``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from kronbot.cli.input import completion, options
from kronbot.cli.input.options import Output, Subject
from kronbot.cli.output.pictures import check_picture, write
from kronbot.errors import ComputationError, UsageError

if TYPE_CHECKING:
    from kronbot.library.statics import Asked
    from kronbot.questions.result import Outcome, Result


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
    type=click.Choice(["newton", "linear"]),
    default="newton",
    show_default=True,
    help="Full equilibrium, or Piedboeuf's: first order in deflections.",
)
@click.option(
    "--buckling",
    is_flag=True,
    help="Also the smallest multiple of the loads that makes the stiffness singular (one case).",
)
@options.plot_option
@options.output_options
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
    plot: str | None,
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
    check_picture(plot, out.overwrite)
    every = subject.order == "all"
    robot = (replace(subject, order="2") if every else subject).load(out)

    from kronbot.cli.input import sweeps
    from kronbot.cli.input.points import all_rows, of_joints
    from kronbot.cli.output.progress import progress_bar
    from kronbot.library.answering import complete
    from kronbot.library.statics import ask
    from kronbot.questions.comparison import side_by_side

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

    def answer() -> Result:
        with progress_bar(f"statics of {robot.name}", out.quiet) as progress:
            if every:
                solved.update(asked.at_orders(options.ORDERS, progress))
                return complete(side_by_side(solved))
            outcome = asked.with_buckling(progress) if buckling else asked.answer(progress)
        solved[subject.order] = outcome
        return complete(outcome)

    def picture(result: Result) -> None:
        if plot is not None and not result.summary["cases"]:
            raise ComputationError("there is no equilibrium under the whole load to draw")
        if plot is not None and result.summary["complete"]:
            draw_sweep(plot, asked, "exact" if every else subject.order, solved)

    solved: dict[str, Outcome] = {}
    out.render_all_there_is(answer, picture)


def draw_sweep(plot: str, asked: Asked, order: str, known: Mapping[str, Outcome]) -> None:
    """The picture of a sweep; of several cases with the lower orders that it is compared with, and those known."""
    from kronbot.library.answering import complete
    from kronbot.mechanics.multibody.outline import Outline
    from kronbot.model.build import build
    from kronbot.plots.statics import draw

    robot = asked.robot if order == asked.robot.order else build(asked.robot.description, order)
    compared = [order]
    if len(asked.inquiry.cases) > 1:
        compared += [each for each in ("2", "1", "0") if each < order and (each < "2" or each in known)]
    missing = [each for each in compared if each not in known]
    found = {**known, **asked.at_orders(missing, lambda share: None)}
    there = [each for each in compared if each in found and not isinstance(found[each].error, ComputationError)]
    write(plot, draw(robot, {each: complete(found[each]) for each in there}, Outline.of(robot).at))
