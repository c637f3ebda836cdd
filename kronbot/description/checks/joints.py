"""What a joint of a robot file must get right: signs, sizes, and what it follows."""

from __future__ import annotations

import re
from collections.abc import Set
from graphlib import CycleError, TopologicalSorter

from kronbot.description.checks.judgements import part
from kronbot.description.checks.report import View
from kronbot.description.checks.sizes import not_negative, positive, turned_angles
from kronbot.description.coupling import Coupling
from kronbot.description.expressions.expression import ExpressionError, evaluate
from kronbot.description.joint import TILTS
from kronbot.description.wording import quote, written


@part
def check_joint(joint: View) -> None:
    """Report signs and sizes that are wrong; warn of those that are odd."""
    not_negative(joint["damping"], joint["rotor_inertia"], joint["elastic"]["damping"], joint["spring"]["stiffness"])
    if "stops" in joint:
        if "limits" not in joint and joint["type"].text != "fixed":
            joint["stops"].refuse_key("stops stand at the limits of a joint: give it 'limits'")
        positive(joint["stops"]["stiffness"])
        not_negative(joint["stops"]["damping"])
    _demand_finite(joint["follows"])
    elastic = joint["elastic"]
    if "compliance" in elastic and "stiffness" in elastic:
        elastic["compliance"].refuse_key("'stiffness' says it already: leave out one of the two")
    elif "elastic" in joint and "compliance" not in elastic:
        positive(elastic["stiffness"])
    friction = joint["friction"]
    not_negative(friction["coulomb"])
    for key in ("stribeck_rate", "smoothing"):
        if key in friction:
            positive(friction[key])
    coulomb, static = friction["coulomb"].number(None), friction["static"].number(None)
    if coulomb is not None and static is not None and static < coulomb:
        friction["static"].refuse(f"'static' must be at least 'coulomb', {written(coulomb)}, it is {written(static)}")
    bearing = joint["bearing"]
    if "bearing" in joint and not {"stiffness", "compliance"} & {*bearing.keys}:
        bearing.refuse("missing key 'stiffness' or 'compliance' in 'bearing'")
    elif bearing.is_mapping and not tilts_of(joint):
        empty = next(bearing[key] for key in ("stiffness", "compliance") if key in bearing)
        if empty.is_mapping:
            empty.refuse("an axis is wanted here about which the joint tilts, x or y: {x: 1e5}")
    for axis in TILTS:
        if axis in bearing["stiffness"]:
            positive(bearing["stiffness"][axis])
            if axis in bearing["compliance"]:
                bearing["compliance"][axis].refuse_key("'stiffness' says it already: leave out one of the two")
        not_negative(bearing["damping"][axis])
    if joint["gear"].number(1.0) == 0:
        joint["gear"].refuse("'gear' must not be 0")
    ends = joint["limits"].items
    if len(ends) == 2:
        low, high = ends[0].number(), ends[1].number()
        if low is not None and high is not None and low >= high:
            joint["limits"].refuse(f"the limits must ascend, they are {written(low)} and {written(high)}")
        if joint["type"].text == "revolute":
            turned_angles(ends)


def _demand_finite(follows: View) -> None:
    """Refuse factors and an offset that are no numbers, where all of their parameters have values."""
    if follows.text is None:
        return
    try:
        coupling = Coupling.of(follows.text)
        names = coupling.expression.names & follows.values.keys()
        values = {name: value for name in names if (value := follows.values.get(name)) is not None}
        still = dict.fromkeys(coupling.named(names), 0.0)
        for moved in ({}, *({name: 1.0} for name in still)) if len(values) == len(names) else ():
            evaluate(coupling.expression, {**values, **still, **moved})
    except ExpressionError as error:
        follows.refuse(str(error))


def tilts_of(joint: View) -> list[str]:
    """The axes about which its bearing yields, whatever they are called."""
    return [*dict.fromkeys((*joint["bearing"]["stiffness"].keys, *joint["bearing"]["compliance"].keys))]


def couplings(joints: dict[str, View], parameters: Set[str]) -> set[str]:
    """What joints follow that have no drive of their own; the names of those that have."""
    followed: dict[str, frozenset[str]] = {}
    for name, joint in joints.items():
        view = joint["follows"]
        for key in ("rotor_inertia", "gear"):
            if view.node is not None and key in joint:
                joint[key].refuse_key(f"{quote(name)} follows others and has no motor: take out {quote(key)}")
        if (text := view.text) is None:  # none any more once it is refused
            continue
        try:
            followed[name] = names = Coupling.of(text).joints(parameters)
        except ExpressionError:  # said by the schema
            continue
        if not names:
            view.refuse(f"{quote(text)} names no joint that {quote(name)} could follow")
        broken = [joint for joint in sorted(joints) if "-" in joint and joint in text and joint not in names]
        whole = "|".join(map(re.escape, sorted(broken, key=len, reverse=True)))
        # Those that YAML takes for its own around the whole are none of the text.
        cured = re.sub(whole, lambda found: f"'{found[0]}'", text)
        cure = f'; names with hyphens stand in quotes of their own: follows: "{cured}"' if broken else ""
        for other in sorted(names - joints.keys()):
            view.refuse(f"unknown joint {quote(other)}{cure or view.report.guess(other, joints)}")
    try:
        TopologicalSorter(followed).prepare()
    except CycleError as error:
        circle = error.args[1]
        shown = " -> ".join(quote(member) for member in reversed(circle[:10]))
        joints[circle[0]]["follows"].refuse(f"the joints follow each other in a circle: {shown}")
    return joints.keys() - {name for name, joint in joints.items() if joint["follows"].node is not None}
