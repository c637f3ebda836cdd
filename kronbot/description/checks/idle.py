"""Keys that do nothing where they stand: who wrote them meant something, and is told."""

from __future__ import annotations

from kronbot.description.checks.joints import tilts_of
from kronbot.description.checks.report import View
from kronbot.description.joint import TILTS


def tell_of_idle_keys(root: View) -> None:
    """Warn of every one."""
    for link in root["links"].items:
        joint, beam = link["joint"], link["flexible"]
        if joint["type"].text == "fixed":
            for key in ("damping", "limits", "rotor_inertia", "gear"):
                _idle(joint[key], f"a fixed joint does not move: '{key}' does nothing")
        else:
            if "rotor_inertia" not in joint:
                _idle(joint["gear"], "'gear' is that of a rotor's inertia: without 'rotor_inertia' it does nothing")
            for axis in (axis for axis in TILTS if axis not in tilts_of(joint)):
                why = f"the bearing is rigid about {axis}: this does nothing without a stiffness or compliance there"
                _idle(joint["bearing"]["damping"][axis], why)
        if beam["shape"].text != "clamped-mass":
            _idle(beam["tip"], "'tip' is what the shapes clamped-mass are made for, and no load: here it does nothing")
    if "gauges" not in root["statics"]:
        _idle(root["statics"]["calibration"], "there are no 'gauges' that would read zero here: this does nothing")
    control = root["control"]
    if not {*control.keys} - {"sample_time"}:
        _idle(control["sample_time"], "there is no controller that would be sampled: this does nothing")
    if "noise" not in control["state_feedback"]:
        _idle(control["state_feedback"]["seed"], "there is no 'noise' that would begin with it: this does nothing")
    for controller in control.entries:
        if "effort" not in controller:
            _idle(controller["anti_windup"], "without 'effort' no torque is at a limit: this does nothing")


def _idle(view: View, why: str) -> None:
    if view.node is not None:
        view.warn(why)
