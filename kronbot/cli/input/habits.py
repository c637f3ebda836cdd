"""What people write who come from other programs, and what it is called here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from string import digits
from typing import TYPE_CHECKING, Final

import click

from kronbot.description.wording import listing, quote
from kronbot.errors import UsageError

if TYPE_CHECKING:
    from kronbot.model.robot import Robot

_COMMANDS: Final = {
    "--help": "help",
    "--version": "version",
    "robots": "list ls examples",
    "init": "new create template",
    "check": "info show validate lint inspect describe verify mass",
    "kinematics": "fk forward fkine tform pose poses",
    "kinematics ROBOT --inverse x,y,z": "ik inverse ikine",
    "jacobian": "jac jacob0 jacobe",
    "dynamics": "id rnea rne inverse-dynamics inertia crba eom equations mass-matrix gravload",
    "linearize": "ss linmod lin transfer bode tf",
    "modes": "eig eigen eigs modal frequencies frequency vibration damp",
    "statics": "equilibrium buckling deflection trim",
    "simulate": "run sim forward-dynamics fd lsim rollout animate ode integrate step",
    "simulate ROBOT --plot FILE": "plot draw",
    "design": "lqr place control pid kalman",
    "plan": "trajectory traj jtraj optimize ocp",
    "fit": "identify calibrate calibration estimate identification",
    "view": "visualize visualise gui display viewer open viz",
    "convert": "urdf import load xacro",
    "export": "codegen compile generate code casadi",
    "explain": "docs doc man theory",
}
_OPTIONS: Final = {
    "--format json": "--json",
    "--format csv": "--csv",
    "-o FILE": "--out --file --save --to-file --csv-file",
    "--duration": "--tf --t-final --tfinal --time --tend --t-end --tspan --stop-time --until -T -t",
    "--step": "--dt --ts --timestep --time-step --sample-time --rate",
    "--q": "--joints --joint --config --configuration --theta --angles --posture --position --x0 --q0 --initial --at",
    "--qd": "--velocity --velocities --dq --qdot --v --qd0 --speed --rates",
    "--qdd": "--acceleration --ddq --qddot --accel",
    "--frame": "--link --body --ee --ee-frame --end-effector --tcp --tip --site",
    "--in": "--axes --expressed-in --reference --reference-frame",
    "--set NAME=VALUE": "--param --params --parameter --parameters -p -P -D --define",
    "--inverse": "--target --ik --goal",
    "--load FRAME=FX,FY,FZ": "--wrench --fext --external",
    "--forces": "--force",
    "--plot FILE": "--figure --fig --show --png --image",
    "--view FILE": "--animate --animation --html --gui --3d",
    "--overwrite": "-f --clobber",
    "--debug": "-v --verbose --traceback",
    "--solver": "--method --integrator --ode",
    "--rtol": "--tol --tolerance --reltol",
    "--atol": "--abstol",
    "--symbolic": "--sympy --formula --formulas --symbols",
    "--latex": "--tex",
    "--workers": "-j --jobs --parallel --processes --cores",
}


def _by_word(known: Mapping[str, str]) -> Mapping[str, str]:
    return {word: ours for ours, words in known.items() for word in words.split()}


COMMANDS, OPTIONS = _by_word(_COMMANDS), _by_word(_OPTIONS)
_ROBOT: Final = ("--robot", "--model", "--urdf", "--yaml", "--input", "-i")
# So many commands are named that have an option.
MOST = 5
_FILE = re.compile(r".*\.(ya?ml|urdf|xacro|xml)$")
_NUMBER = re.compile(r"[-+.]*\d[-+\d.e,]*")
_JOINED = " Values of one option are joined by commas: --q 0.1,-0.2"
# Two numbers without a sign between them.
_BLANKS = re.compile(r"[\d.] +[\d.]")
_EXTRA = re.compile(r"Got unexpected extra arguments? \((.*)\)")


def command(word: str) -> str | None:
    """What to write in place of a word that is no command, or None."""
    if meant := COMMANDS.get(word.lower()):
        return f"kronbot {meant}"
    if _FILE.fullmatch(word):
        return f"kronbot check {word}" if word.endswith(("yaml", "yml")) else f"kronbot convert {word} -o robot.yaml"
    from kronbot.description.shipped import shipped_robots

    return f"kronbot check {word}" if word in shipped_robots() else None


def demand_plain(text: str, option: str, signs: str = "[]{}:;") -> None:
    """Raise UsageError with the cure where numbers are written as a list of another language.

    In brackets, with colons, semicolons or blanks; those of ``signs`` mean nothing in this option.
    """
    blanks = _BLANKS.search(text) is not None
    if "=" in text or not (blanks or any(sign in text for sign in signs)):
        return
    plain = re.sub(r"['\"\[\]{}]", " ", text)
    plain = plain.replace(":", " = ").replace(";", ",") if ";" in signs else plain
    words = ",".join(plain.split()).replace(",=,", "=")
    cured = re.sub(",+", ",", words)
    raise UsageError(f"{option} {quote(text)} is not how values are written: {option} {cured}")


def cure(error: click.ClickException) -> None:
    """Add to an error of click what would have been right, where that is known."""
    if not isinstance(error, click.UsageError) or error.ctx is None:
        return
    if isinstance(error, click.NoSuchOption):
        _option(error, error.ctx.command, error.ctx.find_root().command)
    elif extra := _EXTRA.match(error.message):
        error.message = f"{error.message.rstrip('.')}."  # type: ignore[misc]
        if any(_NUMBER.fullmatch(word) for word in extra[1].split()):
            error.message += _JOINED  # type: ignore[misc]
        elif "=" in extra[1]:
            error.message += " Names and values are those of an option: --q q1=0.1, --set EI=2"  # type: ignore[misc]
        elif all(_FILE.fullmatch(word) for word in extra[1].split()):
            options = [each for each in error.ctx.command.params if isinstance(each, click.Option)]
            moving = any("--motion" in each.opts and not each.is_flag for each in options)
            told = ", and --motion takes YAML text, 'q1: {type: sinusoid, amplitude: 0.1, frequency: 2}', or nothing"
            error.message += f" There is one ROBOT{told if moving else ''}"  # type: ignore[misc]


def _option(error: click.NoSuchOption, asked: click.Command, whole: click.Command) -> None:
    name, ours = error.option_name, OPTIONS.get(error.option_name)
    own = {word for parameter in asked.params for word in parameter.opts}
    if name in _ROBOT:
        told = f" ROBOT stands alone: kronbot {asked.name} arm.yaml"
    elif name[1:2] in {*digits, "."}:
        told = _JOINED
    elif isinstance(asked, click.Group):
        told = f" Options come after a command: kronbot COMMAND ROBOT {ours or name}"
    elif ours is not None and ours.split()[0] in own:
        told = f" Did you mean {ours!r}?"
    elif holders := _holders(whole, (ours or name).split()[0]):
        told = f" {asked.name} has none, but {listing(holders)} {'have' if len(holders) > 1 else 'has'} {ours or name}"
    else:
        return
    error.message += told  # type: ignore[misc]
    error.possibilities = None  # type: ignore[misc]


def _holders(whole: click.Command, option: str) -> list[str]:
    """The commands that have an option, or the first of them."""
    commands = whole.commands.items() if isinstance(whole, click.Group) else ()
    found = [name for name, each in commands if any(option in known.opts for known in each.params)]
    return [] if option == "--format" else found if len(found) <= MOST else [*found[:MOST], "others"]


def angles(robot: Robot, option: str) -> list[int]:
    """Places of the coordinates that are angles; rates and torques are none."""
    wanted = option in ("--q", "--delta", "--calibration", "--to", "--limits", "--deviation")
    return [i for i, unit in enumerate(robot.units) if wanted and unit == "rad"]
