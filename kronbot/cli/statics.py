"""``kronbot statics``."""

from __future__ import annotations

from dataclasses import replace

import click

from kronbot.cli import options
from kronbot.cli.options import Output, Subject
from kronbot.cli.plots.style import check_picture
from kronbot.errors import UsageError


@click.command(short_help="Equilibria under gravity and dead loads: torques, deflections, curvatures, compliance.")
@options.subject_at_every_order
@options.q_option
@click.option(
    "--angles", multiple=True, metavar="JOINT=VALUES", help="Sweep a joint: q1=0,0.1 or q1=-90*deg:90*deg:5*deg."
)
@click.option("--forces", metavar="X,Y,Z;...", help="Forces on the endpoint, N, base frame; default: the file's.")
@click.option(
    "--moments", metavar="X,Y,Z;...", help="Moments on the endpoint, N m, base frame; paired with the forces."
)
@click.option(
    "--load", "loads", multiple=True, metavar="FRAME=FX,FY,FZ[,MX,MY,MZ]", help="Dead load on a frame, in every case."
)
@click.option(
    "--distributed", multiple=True, metavar="LINK=FX,FY,FZ", help="Dead load along a beam, N/m, in every case."
)
@click.option(
    "--tau", metavar="VALUES", help="Torques of some joints by name: their angles are solved for, starting at --q."
)
@click.option(
    "--calibration", metavar="VALUES", help="Joints where gauges read zero, without loads: adds curvature_relative."
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
      kronbot statics canadarm --load forearm=0,100,0 --buckling --format json | jq .summary
    """
    out.check()
    check_picture(plot, out.overwrite)
    every = subject.order == "all"
    robot = (replace(subject, order="2") if every else subject).load(out)

    from kronbot.cli import sweeps
    from kronbot.cli.points import joint_values
    from kronbot.cli.progress import progress_bar
    from kronbot.description import schema
    from kronbot.mechanics import statics as question
    from kronbot.mechanics.buckling import buckling as buckling_factor
    from kronbot.mechanics.comparison import side_by_side
    from kronbot.mechanics.load_cases import Sweep

    given = options.coordinate_values(robot, q, "--q")
    torques = options.coordinate_values(robot, tau, "--tau")
    joints = {joint.index: joint.name for joint in robot.joints}
    if set(torques) - set(joints):
        raise UsageError(f"--tau is by joint: {', '.join(joints.values())}")
    if torques and solver == "linear":
        raise UsageError("--solver linear is about given angles: leave out --tau, or take --solver newton")
    of_file = Sweep.of_file(robot)
    swept = sweeps.angles_by_joint(robot, angles)
    named = {joints[place] for place in given if place in joints}
    kept = {name: values for name, values in of_file.angles.items() if name not in named and not swept}
    forced, turned = sweeps.vectors(forces, "--forces"), sweeps.vectors(moments, "--moments")
    if forced is None and turned is None:
        forced, turned = of_file.forces, of_file.moments
    sweep = Sweep(kept | swept, forced or [], turned or [])
    entry = robot.file.statics or schema.Statics()
    entry = replace(
        entry,
        loads=entry.loads + sweeps.frame_loads(loads),
        distributed=entry.distributed + sweeps.distributed_loads(robot, distributed),
    )
    zero = joint_values(robot, calibration, "--calibration")
    if zero is None and entry.calibration is not None:
        zero = question.calibration_angles(robot, entry.calibration)
    inquiry = question.Inquiry(sweep.cases(robot, sweeps.start_of(robot, given), torques), solver, zero)
    with progress_bar(f"statics of {robot.name}", out.quiet) as progress:
        if every:
            if buckling:
                raise UsageError("--buckling goes with one order")
            outcome = side_by_side(question.at_orders(robot, entry, inquiry, options.ORDERS, progress))
        else:
            outcome = question.statics(robot, entry, inquiry, progress)
            if buckling and outcome.error is None:
                if len(inquiry.cases) != 1:
                    raise UsageError(f"--buckling is for one case, not {len(inquiry.cases)}: give --q and --forces")
                borne = buckling_factor(question.Equilibria(robot, entry), inquiry.cases[0], solver)
                outcome = replace(outcome, result=replace(outcome.result, summary={**outcome.result.summary, **borne}))
    if plot is not None and outcome.error is None:
        from kronbot.cli.plots.statics import draw
        from kronbot.mechanics.outline import Outline

        asked = "2" if every else subject.order
        results = {asked: outcome.result}
        if len(inquiry.cases) > 1:
            orders = [asked, *(order for order in ("1", "0") if order < asked)]
            found = question.at_orders(robot, entry, inquiry, orders, lambda share: None)
            results = {order: each.result for order, each in found.items()}
        draw(plot, robot, results, Outline.of(robot).at)
    out.render(outcome.result)
    if outcome.error is not None:
        raise outcome.error
