"""What the options of a question say, as arguments of the library: the same for its command and for its sweeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from kronbot.cli.input import sweeps
from kronbot.cli.input.asking import POINTS
from kronbot.cli.input.points import all_rows, of_joints, pose, values, warn_of_degrees
from kronbot.cli.input.streams import table
from kronbot.description.wording import quote
from kronbot.errors import UsageError

if TYPE_CHECKING:
    from kronbot.model.robot import Robot


def _named_of(option: str) -> Callable[[Robot, Any], object]:
    return lambda robot, text: named(text, option)


Given = TypeVar("Given", bound="Mapping[str, str] | Mapping[str, str | list[str]]")
# Tables that options name, in words.
TABLES = {"through": "the file of places", "follow": "the path of the tip"}
_FRAME_LOAD = "FRAME=fx,fy,fz or FRAME=fx,fy,fz,mx,my,mz"
# From the robot and the text of an option, by its name; the others are what click makes of them.
CONVERTERS: dict[str, Callable[[Robot, Any], object]] = {
    "inverse": lambda robot, text: pose(robot, text, "--inverse"),
    "delta": lambda robot, text: values(robot, text, "--delta"),
    "tau": lambda robot, text: of_joints(robot, text, "--tau"),
    "calibration": lambda robot, text: of_joints(robot, text, "--calibration"),
    **{word: _named_of(f"--{word}") for word in ("weights", "effort", "noise")},
    "deviation": lambda robot, text: _judged(robot, named(text, "--deviation"), "--deviation"),
    "to": lambda robot, text: of_joints(robot, text, "--to"),
    "effort_limits": lambda robot, text: _ranges(text, "--effort-limits"),
    "limits": lambda robot, text: _judged(robot, _ranges(text, "--limits"), "--limits"),
    "robust": lambda robot, text: _ranges(text, "--robust"),
    "through": lambda robot, name: table(robot.description.source, name, "--through", TABLES["through"]),
    "follow": lambda robot, name: table(robot.description.source, name, "--follow", TABLES["follow"]),
    "force": lambda robot, text: text.split(","),
    "angles": sweeps.angles_by_joint,
    "forces": lambda robot, text: sweeps.vectors(text, "--forces"),
    "moments": lambda robot, text: sweeps.vectors(text, "--moments"),
    "loads": lambda robot, texts: sweeps.loads(texts, "--load", _FRAME_LOAD, (3, 6)),
    "distributed": lambda robot, texts: sweeps.loads(texts, "--distributed", "LINK=fx,fy,fz", (3,)),
}


def _ranges(text: str, option: str) -> dict[str, str | list[str]]:
    return {name: value.split(":") if ":" in value else value for name, value in named(text, option).items()}


def _judged(robot: Robot, given: Given, option: str) -> Given:
    """The same again, of columns or states, among which are angles that may be in degrees."""
    at = {name: i for i, name in enumerate(robot.coordinates)}
    ends = ((name, [each] if isinstance(each, str) else each) for name, each in given.items() if name in at)
    warn_of_degrees(robot, {at[name]: [*filter(None, pair)] for name, pair in ends}, option)
    return given


def named(text: str, option: str) -> dict[str, str]:
    """NAME=VALUE,... by name. Raises UsageError, which names the option, where that is not what stands there."""
    pairs = [part.partition("=") for part in text.split(",")]
    wrong = ["".join(pair).strip() for pair in pairs if not all(part.strip() for part in pair)]
    if wrong and len(wrong) < len(pairs):
        raise UsageError(f"{option}: {quote(wrong[0])} should read NAME=VALUE like the others")
    if wrong:
        raise UsageError(f"{option}: NAME=VALUE,... is wanted, not {quote(text)}")
    if len({name.strip() for name, _, _ in pairs}) < len(pairs):
        raise UsageError(f"{option}: a name stands twice in {quote(text)}")
    return {name.strip(): value.strip() for name, _, value in pairs}


def arguments(robot: Robot, options: Mapping[str, Any], rows: bool = False) -> dict[str, Any]:
    """The arguments that are given; with ``rows`` points may be files of rows. Raises UsageError for what is wrong."""
    texts = {word: options[word] for word in POINTS if word in options}
    at = all_rows(robot, texts) if rows else {word: values(robot, text, f"--{word}") for word, text in texts.items()}
    given = {name: value for name, value in options.items() if name not in texts and value not in (None, ())}
    others = {name: CONVERTERS[name](robot, value) if name in CONVERTERS else value for name, value in given.items()}
    return {word: point for word, point in at.items() if point is not None} | others
