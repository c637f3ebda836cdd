"""``kronbot linearize``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from kronbot.cli.input import asking as questions
from kronbot.cli.input import completion, options
from kronbot.cli.input.asking import POINTS, Formulas
from kronbot.cli.input.option import LISTED, option
from kronbot.cli.input.options import Quantity, Subject
from kronbot.cli.output.answers import Output
from kronbot.cli.output.messages import show_warnings
from kronbot.description import choices
from kronbot.errors import Argument, UsageError

if TYPE_CHECKING:
    from kronbot.library.robot import Robot
    from kronbot.questions.result import Result

# Arrays of answers to rows alone.
OF_ROWS = ("q", "tau")
OF_MOTION = ("duration", "step", "period")
ABOUT_A_POINT = (*POINTS, "tau", "force", "equilibrium", "closed_loop", "inputs", "outputs", "response")
NOT_SYMBOLIC = ("tau", "force", "equilibrium", "closed_loop", "inputs", "outputs", "response", *OF_MOTION)
# Panels of pictures.
ALONG = ("multiplier", "stiffness", "frequency")


class Moving(click.Command):
    """A command whose ``--motion`` may stand without a value, and before ROBOT."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """What follows ``--motion`` is its value where it reads as a mapping, or ROBOT stands before."""
        for place in [i for i, word in enumerate(args) if word == "--motion"]:
            following = args[place + 1] if place + 1 < len(args) else ""
            mapping = "{" in following or ": " in following or following.endswith(":")
            if not mapping and args[0].startswith("-"):
                args[place] = "--motion="
        return super().parse_args(ctx, args)


@click.command(
    cls=Moving, short_help="Linear model about a point, an equilibrium or a motion: matrices, state space, modes."
)
@options.subject_options
@options.q_option
@options.qd_option
@options.qdd_option
@options.values_option("--tau", "Joint torques in h_L; default: those of the rigid arm.", completion.joint_values)
@option("--force", metavar="X,Y,Z", help="Dead force at the endpoint, N, base frame.")
@option("--equilibrium", is_flag=True, help="Solve for deflections and holding torques at the joints of --q.")
@option("--closed-loop", is_flag=True, help="With the file's controllers (kronbot explain control).")
@option(
    "--motion",
    is_flag=False,
    flag_value="",
    metavar="[MOTION]",
    help="Along the file's motion, or along the one given, written as in a file; Floquet multipliers if periodic.",
)
@option(
    "--duration",
    type=Quantity(),
    help="With --motion or --response: how long, s; default: a period, simulate's, the motion's; as poles want.",
)
@option("--step", type=Quantity(), help="With --motion: step of the grid, s.")
@option("--period", type=Quantity(), help="With --motion: its period, s; default: found from the motions.")
@option(
    "--lock",
    type=LISTED,
    metavar="JOINTS",
    shell_complete=completion.joints,
    help="Joints that follow the basic motion exactly: q1,q2 or all.",
)
@option(
    "--inputs",
    type=LISTED,
    default="torques,force,elements,outside",
    show_default=True,
    help="Of the state space: torques, force, elements, outside.",
)
@options.outputs_option("joints, endpoint, gauges, or KIND:NAME (kronbot explain outputs).", "joints,endpoint")
@option(
    "--response",
    type=click.Choice(choices.RESPONSES),
    help="Columns OUTPUT/INPUT: how outputs answer to a step, an impulse, or over the frequency.",
)
@questions.symbolic_options
@options.output_options(formulas=True, plot=True, pair=True)
def linearize(subject: Subject, formulas: Formulas, out: Output, **asked: Any) -> None:
    """Linear model M_L y'' + D_L y' + K_L y = h_L of ROBOT, y being the deviation from the basic motion.

    About a point (--q, --qd, --qdd; torques of the rigid arm unless --tau), about an --equilibrium, or along the file's
    --motion. With it come the state space A, B, C, D, natural frequencies, damping ratios, mode shapes and a verdict
    about stability that names the model it holds for. --symbolic gives the matrices about a rigid motion as formulas.

    \b
    Examples:
      kronbot linearize canadarm
      kronbot linearize khang --equilibrium --q qa=pi/4 -o khang.mat --plot khang.pdf
      kronbot linearize canadarm --equilibrium --q @postures.csv -o models.npz
      kronbot linearize khang --equilibrium --lock all --response step --duration 2 -o steps.csv
      kronbot linearize khang --order 1 --symbolic
      kronbot linearize torso --motion --lock all --format json
      kronbot linearize khang --motion 'qa: {type: sinusoid, amplitude: 0.2, frequency: 5}'
    """
    out.check()
    over_time = asked["response"] in ("step", "impulse")
    about = ("pole", *(("response",) if over_time else ("magnitude", "phase")), "mode")
    out.demand_panels(about if asked["motion"] is None else ALONG)
    if asked["motion"] is not None and out.view is not None:
        raise UsageError("pages show the modes about a point: leave out --motion, or --view")
    at = {word: asked[word] for word in POINTS}
    formulas.check(at, out.output)
    formulas.check_picture(out.drawn)
    if formulas.style is not None and asked["motion"] is not None:
        raise UsageError("formulas hold at a point: leave out --motion, or --symbolic")
    if formulas.style is not None:
        _demand_none(asked, NOT_SYMBOLIC, "formulas of M_L, D_L, K_L and h_L hold for any torques, without load")
    robot, question, put = along_or_at(subject.load(out), asked)

    from kronbot.cli.input.given import arguments
    from kronbot.cli.input.points import demand_point_to_draw

    def ask(progress: Callable[[float], None]) -> Result:
        def numeric() -> Result:
            found: Result = getattr(robot, question)(**arguments(robot.model, put, rows=True), progress=progress)
            return found

        lock = asked["lock"] or ()
        return next(questions.answer(robot, {}, formulas, numeric, lambda forms: forms.linearize(lock), out))

    demand_point_to_draw(out.drawn, at)
    if formulas.style is None:
        out.demand_held(robot, question, questions.given(put), OF_ROWS)
    out.answer(f"linear models of {robot.name}", ask)


def _demand_none(asked: Mapping[str, Any], words: Sequence[str], why: str) -> None:
    """Raise UsageError for options of those words that say something."""
    usual = {parameter.name: parameter.default for parameter in linearize.params}
    if given := [Argument(word) for word in words if asked[word] and asked[word] != usual[word]]:
        raise UsageError(f"{why}: leave out ", given[0], *(part for each in given[1:] for part in (" and ", each)))


def along_or_at(robot: Robot, asked: Mapping[str, Any]) -> tuple[Robot, str, dict[str, Any]]:
    """The robot that is asked, the question of the library that is meant, and the options that it has.

    Raises UsageError for options that do not go together.
    """
    motion = asked["motion"]
    others = {word: value for word, value in asked.items() if word != "motion"}
    if motion is None:
        alone = [word for word in OF_MOTION if asked[word] and not (word == "duration" and asked["response"])]
        for word in alone:
            raise UsageError(f"--{word} goes with --motion{' or --response' * (word == 'duration')}")
        return robot, "linearize", {word: value for word, value in others.items() if word not in OF_MOTION[1:]}
    _demand_none(asked, ABOUT_A_POINT, "--motion takes its points from the file, and has no state space")
    if motion:
        before, robot = robot.description.warnings, robot.with_motion(motion)
        options.keep_files_apart(robot.description)
        show_warnings(each for each in robot.description.warnings if each not in before)
    return robot, "linearize_along", {word: others[word] for word in ("lock", *OF_MOTION)}
