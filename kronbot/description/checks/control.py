"""What the controllers of a robot file must get right: their joints, what moves these besides, gains and limits."""

from __future__ import annotations

from collections.abc import Mapping, Set

from kronbot.description.checks.judgements import part
from kronbot.description.checks.report import View
from kronbot.description.checks.sizes import not_negative, positive
from kronbot.description.wording import quote, written

_KEYS = ("sample_time", "state_feedback")


def check_controllers(root: View, joints: Mapping[str, View], driven: Set[str]) -> None:
    """Report controllers of joints that are not there, or that are moved otherwise."""
    drive, control = root["simulate"]["drive"], root["control"]
    along = drive.text == "rigid-inverse-dynamics"
    if along and "state_feedback" in control:
        drive.refuse("gains of a state_feedback have torques of their own, along motions, too: leave 'drive' out")
    for view in control.entries:
        name = str(view.path[-1])
        if name in _KEYS:
            continue
        if name not in joints:
            view.refuse_key(f"unknown joint {quote(name)}{view.report.guess(name, (*joints, *_KEYS))}")
        elif name not in driven:
            view.refuse_key(f"{quote(name)} follows other joints: nothing moves it for itself")
        elif name in drive.keys:
            view.refuse_key(f"{quote(name)} has a drive, too (simulate: {{drive: ...}}): one of them is wanted")
        if along and view["gravity"].text not in (None, "none"):
            why = "the torques of the rigid arm along the motion (drive: rigid-inverse-dynamics) have its weight"
            view["gravity"].refuse(f"{why}: leave 'gravity' out here")
        if root["base"]["type"].text == "floating" and view["gravity"].text == "flexible":
            view["gravity"].refuse("an arm on a floating base has no sag: rigid or none is wanted here")
        if view["pid"]["side"].text == "link" and name in joints and "elastic" not in joints[name]:
            view["pid"]["side"].refuse(f"{quote(name)} is not elastic: motor and link are one, leave 'side' out")


def check_gains(root: View) -> None:
    """Report gains and limits that are wrong."""
    if "sample_time" in root["control"]:
        _sample_time(root["control"]["sample_time"])
    _noise(root["control"])
    for view in root["control"].entries:
        if view.is_mapping:
            _gains(view)


@part
def _sample_time(view: View) -> None:
    positive(view)


@part
def _noise(control: View) -> None:
    noise = control["state_feedback"]["noise"]
    for density in noise.entries:
        not_negative(density)
    for needed, where, why in (
        ("estimator", control["state_feedback"], "gains act on the state itself: sensors are those of an estimator"),
        ("sample_time", control, "noise is that of instants at which sensors are read"),
    ):
        if noise.entries and needed not in where:
            noise.refuse_key(f"'noise' wants '{needed}' beside it: {why}")


@part
def _gains(view: View) -> None:
    pid = view["pid"]
    not_negative(pid["kp"], pid["ki"], pid["kd"])
    ends = view["effort"].items
    if len(ends) == 2:
        low, high = ends[0].number(None), ends[1].number(None)
        if low is not None and high is not None and not low < high:
            view["effort"].refuse(f"the limits must ascend, they are {written(low)} and {written(high)}")
    if pid["ki"].number(0.0) and pid["kp"].number(None) == 0 and not pid["kd"].number(0.0):
        pid["ki"].refuse("'ki' wants 'kp' or 'kd' beside it: an integral alone never settles")
