"""What a robot file must get right beyond shape and type: names, references, the tree, one of two keys.

Works on the node tree, so that it runs also where the schema found mistakes; it says nothing of places that are
reported already.
"""

from __future__ import annotations

import errno
import os
import stat
import unicodedata
from collections.abc import Container, Iterable, Mapping, Set
from pathlib import Path, PurePosixPath, PureWindowsPath

from kronbot.description import limits
from kronbot.description.checks.control import check_controllers
from kronbot.description.checks.elements import check_ends
from kronbot.description.checks.fits import check_names
from kronbot.description.checks.idle import tell_of_idle_keys
from kronbot.description.checks.joints import couplings, tilts_of
from kronbot.description.checks.motions import check_forms
from kronbot.description.checks.report import View
from kronbot.description.circles import beginning_with, circles
from kronbot.description.element import ELEMENT_WORDS
from kronbot.description.expressions.grammar import is_taken
from kronbot.description.names import (
    BASE,
    FREEDOMS,
    JOINT_WORDS,
    LINK_WORDS,
    MOTOR,
    WORLD,
    is_fixed_frame,
    moving_frames,
)
from kronbot.description.wording import named, quote
from kronbot.description.yaml.source import absent, near_file, realpath

_RATES = ("", "_dot", "_ddot")
FLOATING = "the body of the floating base"


def check_rules(root: View, folder: Path | None, tables: Container[str]) -> None:
    """Report every broken rule of names and references; ``folder`` is where files must be that are not in ``tables``,
    those that were read already."""
    links = root["links"]
    if links.is_list and not links.items:
        links.refuse("a robot has at least one link")
    if len(links.items) > limits.LINKS:
        links.refuse(f"{len(links.items)} links, at most {limits.LINKS} are allowed")
        return
    _parameters(root["parameters"], links.items)
    check_names(root)
    floating = root["base"]["type"].text == "floating"
    if root["base"]["type"].text == "fixed" and "rigid" in root["base"]:
        root["base"]["rigid"].refuse_key("a fixed base has no 'rigid': it does not move")
    link_names = _unique(links.items, "name", "link", LINK_WORDS | ({BASE: FLOATING} if floating else {}))
    joints = [link["joint"] for link in links.items if link["joint"].keys]
    joint_names = _unique(joints, "name", "joint", JOINT_WORDS)
    gauges = root["statics"]["gauges"].items
    _unique(gauges, "name", "gauge", {})
    elements = root["elements"].items
    _unique(elements, "name", "element", ELEMENT_WORDS)
    if len(elements) > limits.ELEMENTS:
        root["elements"].refuse(f"{len(elements)} elements, at most {limits.ELEMENTS} are allowed")
        return
    for link in links.items:
        _one_of_two(link)
    rows = [link["dh"] for link in links.items if "dh" in link]
    if "convention" not in root and rows:
        rows[0].refuse_key(
            "missing key 'convention' of the file: write 'convention: standard' beside 'links', or 'convention: "
            "modified' (Craig's rows)"
        )
    _tree(links.items, link_names)
    driven = couplings(joint_names, set(map(str, root["parameters"].keys)))
    _references(root, link_names, joint_names, driven, (BASE,) if floating else ())
    for element in elements:
        check_ends(element, (*((BASE,) if floating else ()), *link_names))
    check_forms(root)
    check_controllers(root, joint_names, driven)
    _generated_names(links.items, joints, gauges, root["base"]["type"] if floating else None)
    _coordinates(links, len(FREEDOMS) if floating else 0)
    _tables(root, folder, tables)
    tell_of_idle_keys(root)


def name_fault(name: str, reserved: Mapping[str, str]) -> str:
    """What is wrong with the name of a link, joint or gauge; an empty string for a good one."""
    if name in reserved:
        return f"the name {quote(name)} is reserved: it is {reserved[name]}"
    if len(name) > limits.NAME_LENGTH:
        return f"the name {quote(name)} is longer than {limits.NAME_LENGTH} characters"
    if not (name[:1].isalpha() or name[:1] == "_"):
        return f"the name {quote(name)} must begin with a letter or _"
    wrong = next((c for c in name if not (c.isalpha() or c.isdecimal() or c in "_-")), None)
    if wrong is not None:
        return f"the name {quote(name)} holds {named(wrong)}: letters, digits, _ and - are allowed"
    if unicodedata.normalize("NFC", name) != name:
        return f"the name {quote(name)} is not in Unicode normal form C"
    return ""


def _parameters(parameters: View, links: tuple[View, ...]) -> None:
    joints = {link["joint"]["name"].text for link in links}
    rates = {f"{joint}{end}": joint for joint in joints if joint for end in _RATES}
    for parameter in parameters.entries:
        name = str(parameter.path[-1])
        if is_taken(name):
            parameter.refuse_key(f"the parameter name {quote(name)} is reserved")
        elif not (name.isascii() and name.isidentifier()) or len(name) > limits.NAME_LENGTH:
            plain = name.replace("-", "_")
            cure = f"; write {plain}" if plain != name and plain.isascii() and plain.isidentifier() else ""
            parameter.refuse_key(
                f"the parameter name {quote(name)} must be ASCII letters, digits and _, not begin with a digit, and "
                f"have at most {limits.NAME_LENGTH} characters{cure if len(name) <= limits.NAME_LENGTH else ''}"
            )
        elif name in joints:
            parameter.refuse_key(f"the parameter name {quote(name)} is the name of a joint too")
        elif name in rates:
            parameter.refuse_key(
                f"the parameter name {quote(name)} is that of a rate of joint {quote(rates[name])} too"
            )


def _unique(holders: Iterable[View], key: str, what: str, reserved: Mapping[str, str]) -> dict[str, View]:
    """Holders by name; bad and repeated names are reported."""
    first: dict[str, View] = {}
    for holder in holders:
        view = holder[key]
        name = view.text
        if name is None:
            continue
        if name in first:
            line = first[name][key].place[0]
            view.refuse(f"the name {quote(name)} is given to two {what}s, first on line {line}")
            continue
        first[name] = holder
        fault = name_fault(name, reserved)
        if fault:
            view.refuse(fault)
    return first


def _one_of_two(link: View) -> None:
    if not link.is_mapping:
        return
    if "dh" in link and "pose" in link:
        link["pose"].refuse_key("'pose' and 'dh' exclude each other")
    elif "dh" not in link and "pose" not in link:
        link["dh"].refuse("a link needs 'dh' or 'pose' (pose: {} where its parent ends)")
    if "rigid" in link and "flexible" in link:
        later = max("rigid", "flexible", key=lambda key: link[key].place)
        link[later].refuse_key("'rigid' and 'flexible' exclude each other")
    joint = link["joint"]
    kind = joint["type"].text
    if kind == "fixed" and "name" in joint:
        joint["name"].refuse_key("a fixed joint has no name")
    for key in ("elastic", "bearing", "spring", "friction", "follows", "stops"):
        if kind == "fixed" and key in joint:
            joint[key].refuse_key(f"a fixed joint has no '{key}'")
    if kind in ("revolute", "prismatic") and "name" not in joint:
        joint["name"].refuse(f"missing key 'name': a {kind} joint has one")
    friction = joint["friction"]
    for key, other in (("static", "stribeck_rate"), ("stribeck_rate", "static")):
        if key in friction and other not in friction:
            friction[key].refuse_key(f"{quote(key)} goes with {quote(other)}")
    damping = link["flexible"]["damping"]
    for key in ("alpha", "beta"):
        if "ratio" in damping and key in damping:
            damping[key].refuse_key(f"{quote(key)} and 'ratio' exclude each other")


def _tree(links: tuple[View, ...], names: dict[str, View]) -> None:
    """Parents that are not there, and links that are their own ancestors."""
    parents: dict[str, str] = {}
    for index, link in enumerate(links):
        view, name = link["parent"], link["name"].text
        parent = view.text
        if view.node is None and index > 0:
            parent = links[index - 1]["name"].text
        if view.text is not None and view.text not in names and not is_fixed_frame(view.text, names):
            hint = view.report.guess(view.text, (*names, BASE, WORLD))
            view.refuse(f"unknown link {quote(view.text)}{hint}")
        elif name is not None and parent is not None and name in names and names[name].path == link.path:
            parents[name] = parent
    for circle in circles(parents):
        _report_circle(circle, names)


def _report_circle(circle: list[str], names: dict[str, View]) -> None:
    # A parent that is not written down (the link before) is no place to point at.
    members = sorted(circle, key=lambda member: names[member].place)
    written = next((m for m in members if "parent" in names[m]), members[0])
    if len(circle) == 1:
        cure = f"; {quote(WORLD)} is the frame that does not move" if written == BASE else ""
        names[written]["parent"].refuse(f"the link {quote(written)} is its own parent{cure}")
        return
    circle = beginning_with(written, circle)
    shown = " -> ".join(quote(member) for member in (*circle[:10], written))
    names[written]["parent"].refuse(f"the links are each other's parents in a circle: {shown}")


def _references(
    root: View, links: dict[str, View], joints: dict[str, View], driven: Set[str], base: tuple[str, ...]
) -> None:
    endpoint = root["endpoint"]["link"]
    statics = root["statics"]
    gauges = [gauge["link"] for gauge in statics["gauges"].items]
    distributed = [load["link"] for load in statics["distributed"].items]
    for view in (endpoint, *gauges, *distributed):
        if view.text is not None and view.text not in (*links, *(base if view is endpoint else ())):
            view.refuse(f"unknown link {quote(view.text)}{view.report.guess(view.text, links)}")
    for views, why in ((gauges, "a gauge sits on a beam"), (distributed, "this load acts along a beam")):
        for view in views:
            if view.text in links and "flexible" not in links[view.text]:
                view.refuse(f"the link {quote(view.text)} is not flexible: {why}")
    frames = moving_frames((*base, *links))
    pushes = root["simulate"]["forces"].items
    for view in (load["frame"] for load in (*statics["loads"].items, *pushes)):
        if view.text is not None and view.text not in frames:
            view.refuse(f"unknown frame {quote(view.text)}{view.report.guess(view.text, frames)}")
    drive = root["simulate"]["drive"]
    for push in pushes:
        if push.is_mapping and "force" not in push and "moment" not in push:
            push.refuse("force or moment is wanted here, or both")
    for by_joint in (root["motion"], statics["angles"], statics["calibration"], drive, root["damping"]["at"]):
        for view in by_joint.entries:
            name = str(view.path[-1])
            if name not in joints:
                view.refuse_key(f"unknown joint {quote(name)}{view.report.guess(name, joints)}")
            elif name not in driven:
                view.refuse_key(f"{quote(name)} follows other joints: nothing moves it for itself")
    for view in drive.entries:
        given = [key for key in ("torque", "motion", "pd") if key in view]
        meant = not given and any(view.report.knows((*view.path, key)) for key in view.keys)  # by a key that is unknown
        if view.is_mapping and len(given) != 1 and not meant:
            view.refuse(f"one of torque, motion, pd is wanted here, not {' and '.join(given) or 'none of them'}")


def _generated_names(
    links: tuple[View, ...], joints: list[View], gauges: tuple[View, ...], floating: View | None
) -> None:
    """Refuse names that give two columns of a result the same name, such as a joint ``q1_dot`` beside ``q1``."""
    taken: dict[str, View] = {}

    def claim(view: View, *generated: str) -> None:
        for name in generated:
            owner = taken.setdefault(name, view)
            if owner is not view and owner.text != view.text:
                later, other = (view, owner) if view.place > owner.place else (owner, view)
                later.refuse(f"results would hold the name {quote(name)} twice, because of {quote(other.text or '')}")

    if floating is not None:
        claim(floating, *(f"{BASE}.{word}{end}" for word in FREEDOMS for end in _RATES))
    for joint in joints:
        name = joint["name"].text
        if name is not None:
            claim(joint["name"], *(f"{name}{end}" for end in _RATES), f"torque.{name}", f"angle.{name}")
            own = [MOTOR] if "elastic" in joint and "follows" not in joint else []
            own += tilts_of(joint)
            claim(joint["name"], *(f"{name}.{word}{end}" for word in own for end in _RATES))
    for gauge in gauges:
        name = gauge["name"].text
        if name is not None:
            claim(gauge["name"], f"curvature.{name}", f"curvature_y.{name}", f"twist.{name}")
    for link in links:
        name, modes = link["name"].text, link["flexible"]["modes"]
        if name is not None:
            for key, letter in (("v", "v"), ("w", "w"), ("torsion", "t")):
                count = min(modes[key].count, limits.MODES)
                claim(link["name"], *(f"{name}.{letter}{i + 1}{end}" for i in range(count) for end in _RATES))


def _coordinates(links: View, of_base: int) -> None:
    joints = [link["joint"]["type"].text in ("revolute", "prismatic") for link in links.items]
    modes = [sum(link["flexible"]["modes"][key].count for key in ("v", "w", "torsion")) for link in links.items]
    moving = sum(joint or count > 0 for joint, count in zip(joints, modes, strict=True))
    if moving > limits.MOVING:
        links.refuse(f"{moving} links with coordinates, at most {limits.MOVING} are allowed")
    yielding = sum(
        ("elastic" in joint) - ("follows" in joint) + len(tilts_of(joint))
        for joint in (link["joint"] for link in links.items)
    )
    count = of_base + sum(joints) + yielding + sum(modes)
    if count > limits.COORDINATES:
        links.refuse(f"{count} generalized coordinates, at most {limits.COORDINATES} are allowed")


def _tables(root: View, folder: Path | None, known: Container[str]) -> None:
    drives = root["simulate"]["drive"].entries
    motions = (*root["motion"].entries, *(drive["motion"] for drive in drives))
    files = [motion["file"] for motion in motions if motion["type"].text == "table"]
    files += [drive["torque"]["file"] for drive in drives]
    files += [push[key]["file"] for push in root["simulate"]["forces"].items for key in ("force", "moment")]
    files += [element["force"]["file"] for element in root["elements"].items]
    files += [root["control"]["state_feedback"][word] for word in ("K", "estimator")]
    files += [link["flexible"]["shape"]["file"] for link in root["links"].items]
    for view in files:
        if view.text is not None and view.text not in known:
            fault = file_fault(view.text, folder)
            if fault:
                view.refuse(fault if view.report.full else fault + nearest_file(view.text, folder))


def nearest_file(name: str, folder: Path | None) -> str:
    """A guess at which file of the folder is meant where there is none of that name."""
    if folder is None:
        return ""
    try:
        # Nobody is told what stands in folders elsewhere.
        wanted = absent(folder / name) and realpath((folder / name).parent).is_relative_to(realpath(folder))
    except (OSError, ValueError):
        return ""
    return near_file(name, folder, (PurePosixPath(name).suffix or ".csv",)) if wanted else ""


def file_fault(name: str, folder: Path | None) -> str:
    """Why the file ``name`` beside the robot file cannot be used; an empty string for a good one."""
    if folder is None:
        return f"the file {quote(name)} cannot be used: a robot file on standard input has no folder"
    both = (PurePosixPath(name), PureWindowsPath(name))
    if any(path.is_absolute() or path.drive or path.root or ".." in path.parts for path in both):
        return f"the file {quote(name)} must be beside the robot file: no absolute path, no '..'"
    try:
        path = Path(os.path.realpath(folder / name, strict=True))
        if not path.is_relative_to(realpath(folder)):
            return f"the file {quote(name)} leads out of the folder of the robot file"
        if not stat.S_ISREG(os.stat(path).st_mode):
            return f"{quote(name)} is not a regular file"
        if os.access(path, os.R_OK):
            return ""
        os.stat(path)  # it may have gone meanwhile
        reason = os.strerror(errno.EACCES)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return f"there is no file {quote(name)} beside the robot file"
    except OSError as error:
        reason = error.strerror or str(error)
    return f"the file {quote(name)} beside the robot file cannot be read: {reason}"
