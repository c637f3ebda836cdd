"""What numbers in a robot file must satisfy, and what is allowed but looks wrong.

Only bound values are judged: one that depends on a free parameter is skipped.
"""

from __future__ import annotations

import math

from kronbot.description.checks.control import check_gains
from kronbot.description.checks.elements import check_element
from kronbot.description.checks.fits import check_numbers
from kronbot.description.checks.joints import check_joint, tilts_of
from kronbot.description.checks.judgements import part
from kronbot.description.checks.motions import check_in_time, check_motion
from kronbot.description.checks.report import View
from kronbot.description.checks.sizes import not_negative, positive, turned_angles
from kronbot.description.checks.tensors import positive_inertia, possible_inertia
from kronbot.description.expressions.expression import Number
from kronbot.description.joint import TILTS
from kronbot.description.names import is_fixed_frame
from kronbot.description.wording import written
from kronbot.description.yaml.nodes import Scalar

_TURNS = ("from", "to", "amplitude", "phase", "offset")
_ENTRIES = ("Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")

# An offset is the length of a beam to this share.
_ONE_LENGTH = 0.02


def check_quantities(root: View) -> None:
    """Report signs and sizes that are wrong; warn of those that are odd."""
    convention = root["convention"].text
    planar = _is_planar(root)
    # As far as it is known.
    gravity = math.hypot(*(entry.number() or 0.0 for entry in root["gravity"].items))
    for link in root["links"].items:
        check_joint(link["joint"])
        if "flexible" in link:
            _flexible(link, convention)
            if gravity:
                _sag(link, convention, gravity)
        for key in ("rigid", "hub", "payload"):
            _body(link[key], planar)
        _tilts(link)
    _body(root["base"]["rigid"], planar)
    for element in root["elements"].items:
        check_element(element)
    _offsets(root)
    for motion in root["motion"].entries:
        check_motion(motion)
    _turns(root)
    _simulate(root["simulate"])
    check_gains(root)
    _statics(root)
    if "damping" in root:
        _measured(root)
    check_numbers(root)


@part
def _tilts(link: View) -> None:
    turned_angles((link["dh"]["alpha"], link["dh"]["theta"], *link["pose"]["rpy"].items))


@part
def _turns(root: View) -> None:
    """Angles of motions, targets, springs and measurements: a joint may go round several times, but who means that
    writes it with pi."""
    joints = [link["joint"] for link in root["links"].items]
    revolute = {joint["name"].text for joint in joints if joint["type"].text == "revolute"}
    holders = (root["motion"], root["simulate"]["drive"], root["statics"]["calibration"], root["control"])
    turned_angles(filter(_is_plain, (joint["spring"]["rest"] for joint in joints if joint["type"].text == "revolute")))
    turned_angles(view for view in root["damping"]["at"].entries if view.path[-1] in revolute and _is_plain(view))
    for view in (entry for holder in holders for entry in holder.entries if entry.path[-1] in revolute):
        values = [motion[key] for motion in (view, view["motion"]) for key in _TURNS]
        values += [point[1] for motion in (view, view["motion"]) for point in motion["through"].items]
        turned_angles(value for value in (view, view["pd"]["target"], view["target"], *values) if _is_plain(value))


def _is_plain(view: View) -> bool:
    return isinstance(view.node, Scalar) and isinstance(view.node.value, Number)


def _is_planar(root: View) -> bool:
    """Whether every body turns about z of its frame alone: parallel joints, and beams that bend in their plane.

    The whole robot may be placed at any angle.
    """
    links = root["links"].items
    if root["base"]["type"].text == "floating":
        return False
    names = {link["name"].text or "" for link in links}
    on_ground = [
        i
        for i, link in enumerate(links)
        if (is_fixed_frame(link["parent"].text or "", names) if "parent" in link else not i)
    ]
    for i, link in enumerate(links):
        modes = link["flexible"]["modes"]
        if modes["w"].count or modes["torsion"].count:
            return False
        tilts = (link["dh"]["alpha"], *link["pose"]["rpy"].items[:2])
        # Of the first frame only a row of the standard convention has its tilt behind the joint.
        if on_ground == [i] and ("pose" in link or root["convention"].text == "modified"):
            continue
        if not all(_is_half_turns(tilt.number()) for tilt in tilts):
            return False
    return True


def _is_half_turns(angle: float | None) -> bool:
    return angle is not None and abs(math.sin(angle)) < 1e-12


@part
def _body(body: View, planar: bool) -> None:
    if body.node is None:  # as in most links; there may be very many
        return
    inertia = body["inertia"]
    not_negative(body["mass"], *(inertia[key] for key in _ENTRIES[:3]))
    mass = body["mass"].number()
    if planar and not any(inertia[key].number() != 0 for key in _ENTRIES if key != "Izz"):
        return
    if any(_tensor(inertia)) and mass == 0:
        inertia.warn("this body has inertia and no mass")
    elif _impossible(inertia):
        inertia.warn("no body can have this inertia: one principal moment is larger than the other two together")


def _tensor(inertia: View) -> list[float]:
    """The entries that have a value."""
    entries = [inertia[key].number() for key in _ENTRIES]
    return [entry for entry in entries if entry is not None]


def _impossible(inertia: View) -> bool:
    bound = _tensor(inertia)
    return len(bound) == len(_ENTRIES) and min(bound[:3]) >= 0 and not possible_inertia(*bound)


def _flexible(link: View, convention: str | None) -> None:
    beam = link["flexible"]
    stiffness, modes, damping = beam["EI"], beam["modes"], beam["damping"]
    positive(beam["mass"])
    not_negative(stiffness["y"], stiffness["z"], beam["GJ"], beam["polar_inertia"], beam["root"])
    not_negative(beam["tip"]["mass"], beam["tip"]["inertia"], damping["ratio"], damping["alpha"], damping["beta"])
    needs = (("v", stiffness["z"], "EI.z"), ("w", stiffness["y"], "EI.y"), ("torsion", beam["GJ"], "GJ"))
    for key, needed, name in needs:
        if modes[key].count:
            _stiff(needed, key, name)
    ratios = damping["ratio"].items
    total = sum(modes[key].count for key in ("v", "w", "torsion"))
    if damping["ratio"].is_list and len(ratios) != total:
        damping["ratio"].refuse(f"one ratio for each of the {total} modes is wanted here, not {len(ratios)}")
    for view in ratios or (damping["ratio"],):
        _ratio(view)
    if beam["shape"].text == "clamped-mass" and "tip" not in beam:
        _shaping(link["payload"]["inertia"])
    _length(link, convention)


@part
def _stiff(needed: View, key: str, name: str) -> None:
    if needed.number() == 0:
        what = name if needed.node is not None else f"missing key '{name}' in 'flexible', which"
        needed.refuse(f"{what} must be greater than 0, because '{key}' has modes")


@part
def _ratio(view: View) -> None:
    ratio = view.number()
    if ratio is not None and ratio < 0:
        view.refuse(f"a damping ratio must be at least 0, it is {written(ratio)}")
    elif ratio is not None and ratio > 1:
        view.warn(f"the damping ratio {written(ratio)} is beyond 1: is it in percent? (write {ratio / 100:.12g})")


@part
def _shaping(inertia: View) -> None:
    bound = _tensor(inertia)
    if len(bound) == len(_ENTRIES) and min(bound[:3]) >= 0 and not positive_inertia(*bound):
        inertia.refuse("the shapes 'clamped-mass' depend on this inertia, and no body can have it")


@part
def _offsets(root: View) -> None:
    """Warn of a child that stands off the tip of a beam by the beam's length: as from the root, where links begin."""
    links = root["links"].items
    by_name = {link["name"].text: link for link in reversed(links)}
    for before, link in zip((None, *links), links, strict=False):
        parent = by_name.get(link["parent"].text) if "parent" in link else before
        place = link["pose"]["xyz"]
        entries = [entry.number() for entry in place.items]
        if parent is None or "pose" not in parent or not entries or None in entries:
            continue
        length, offset = (
            parent["flexible"]["length"].number(None),
            math.hypot(*(each for each in entries if each is not None)),
        )
        if length is not None and length > 0 and abs(offset / length - 1) < _ONE_LENGTH:
            place.warn(
                f"this stands {offset:.4g} m off the tip of the beam, by the beam's length once more: a pose begins at "
                "the tip of its parent (kronbot explain convert)"
            )


@part
def _sag(link: View, convention: str | None, gravity: float) -> None:
    """Warn of a beam that its weight and payload, across it, bend by its own length: mostly units are mixed up there.

    By linear theory its tip sags by (m/8 + m_p/3) g l^3/(EI).
    """
    beam, length = link["flexible"], _beam_length(link, convention)
    mass, payload = beam["mass"].number(), link["payload"]["mass"].number()
    if length is None or mass is None or payload is None:
        return
    for key, axis in (("v", "z"), ("w", "y")):
        stiffness = beam["EI"][axis]
        EI = stiffness.number()
        if not beam["modes"][key].count or EI is None or EI <= 0:
            continue
        share = (mass / 8 + payload / 3) * gravity * length * length / EI
        if share > 1:
            many = f"{share:.3g}" if share < math.inf else "more than 1e300"
            stiffness.warn(
                f"its own weight, across it, would bend this beam by {many} times its length (linear theory): "
                "are EI (N m^2), length (m) and mass (kg) in SI units?"
            )
            return


@part
def _length(link: View, convention: str | None) -> None:
    beam = link["flexible"]
    if "dh" in link and convention == "standard":
        if "length" in beam:
            beam["length"].refuse_key("'length' has no meaning with standard DH: the beam's length is a - root")
        length, root = _beam_length(link, convention), beam["root"].number()
        if length is not None and length <= 0 and root is not None and root >= 0:
            link["dh"]["a"].refuse(f"the beam's length a - root must be greater than 0, it is {written(length)}")
    elif "length" in beam:
        positive(beam["length"])
    elif "pose" in link or convention == "modified":
        beam["length"].refuse("missing key 'length': only with standard DH it follows from a")


def _beam_length(link: View, convention: str | None) -> float | None:
    """Length of a link's beam, m; None where it is free or wrong."""
    beam = link["flexible"]
    if convention != "standard" or "dh" not in link:
        return beam["length"].number(None)
    a, root = link["dh"]["a"].number(None), beam["root"].number()
    return None if a is None or root is None else a - root


def _measured(root: View) -> None:
    """Refuse ratios that are none, and damping of parts, which was measured with the whole."""
    damping, links = root["damping"], root["links"].items
    if damping["ratios"].is_list and not damping["ratios"].items:
        damping["ratios"].refuse("at least one ratio is wanted here")
    for ratio in (*damping["ratios"].items, damping["ratios"]):
        _ratio(ratio)
    own = [link["flexible"]["damping"][key] for link in links for key in ("ratio", "alpha", "beta")]
    own += [view for each in own for view in each.items]
    for joint in (link["joint"] for link in links):
        own += [joint["bearing"]["damping"][axis] for axis in TILTS] + [joint["elastic"]["damping"]]
        own += [joint["damping"]] if damping["joints"].text == "free" else []
    for view in own:
        _demand_none(view)
    yielding = sum(link["flexible"]["modes"][key].count for link in links for key in ("v", "w", "torsion"))
    yielding += sum(("elastic" in link["joint"]) + ("spring" in link["joint"]) for link in links)
    yielding += sum(len(tilts_of(link["joint"])) for link in links)
    most = ""
    if root["elements"].items:  # which hold a base, and joints where these are free
        yielding += 6 * (root["base"]["type"].text == "floating")
        yielding += sum("name" in link["joint"] for link in links) if damping["joints"].text == "free" else 0
        most = "at most "
    if len(damping["ratios"].items) > yielding:
        damping["ratios"].refuse(
            f"{len(damping['ratios'].items)} ratios, but the robot has {most}{yielding} modes that swing"
        )


@part
def _demand_none(view: View) -> None:
    if view.number() not in (None, 0):
        view.refuse(
            "the damping of the whole robot, as measured, holds this one: leave it out here, or 'damping' there"
        )


@part
def _simulate(simulate: View) -> None:
    for key in ("duration", "step"):
        if key in simulate:
            positive(simulate[key])
    for drive in simulate["drive"].entries:
        check_motion(drive["motion"])
        not_negative(drive["pd"]["kp"], drive["pd"]["kd"])
        check_in_time(drive["torque"])
    for push in simulate["forces"].items:
        for key in ("force", "moment"):
            check_in_time(push[key])


@part
def _statics(root: View) -> None:
    statics, links = root["statics"], root["links"].items
    kinds = {link["joint"]["name"].text: link["joint"]["type"].text for link in links}
    for angles in statics["angles"].entries:
        if angles.is_list and not angles.items:
            angles.refuse("at least one angle is wanted here")
        if kinds.get(str(angles.path[-1])) == "revolute":
            turned_angles(angles.items)
    forces, moments = len(statics["forces"].items), len(statics["moments"].items)
    if forces != moments and min(forces, moments) > 1:
        statics["moments"].refuse(f"{moments} moments do not pair with {forces} forces: as many, or one of them")
    by_name = {link["name"].text: link for link in reversed(links)}
    for gauge in statics["gauges"].items:
        link, x = by_name.get(gauge["link"].text), gauge["x"].number(None)
        length = _beam_length(link, root["convention"].text) if link is not None else None
        if x is not None and length is not None and length > 0 and not 0 <= x <= length * (1 + 1e-12):
            gauge["x"].refuse(f"the gauge must be on the beam, between 0 and {written(length)}, it is at {written(x)}")
