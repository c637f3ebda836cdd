"""Random robots as the plain dicts of robot files, states for them, and their YAML text.

Every robot moves mass with each of its coordinates: a link with a joint carries a body with a full inertia or a beam
with mass, and torsion modes come with polar inertia, so that the mass matrix is positive definite. Values have three
decimals.
"""

import math

import numpy as np
import yaml
from hypothesis import strategies as st

SHAPES = ("clamped-free", "polynomial", "legendre", "craig-bampton")


def decimals(low, high):
    """A number with three decimals between low and high; shrinks towards 0 or low."""
    return st.integers(round(low * 1000), round(high * 1000)).map(lambda k: k / 1000)


def vectors(size):
    return st.lists(decimals(-size, size), min_size=3, max_size=3)


def angles():
    """Right angles as the expressions of a file, or any angle."""
    return st.sampled_from([0, "pi/2", "-pi/2", "pi", "pi/6"]) | decimals(-3, 3)


def turn(roll, pitch, yaw):
    """Rz(yaw) Ry(pitch) Rx(roll)."""
    (ca, cb, cc), (sa, sb, sc) = np.cos([roll, pitch, yaw]), np.sin([roll, pitch, yaw])
    x = np.array([[1, 0, 0], [0, ca, -sa], [0, sa, ca]])
    y = np.array([[cb, 0, sb], [0, 1, 0], [-sb, 0, cb]])
    z = np.array([[cc, -sc, 0], [sc, cc, 0], [0, 0, 1]])
    return z @ y @ x


@st.composite
def inertias(draw):
    """A tensor that a body can have: second moments of mass along three axes, turned."""
    moments = np.array([draw(decimals(0.02, 0.3)) for _ in range(3)])
    axes = turn(*draw(vectors(1.5)))
    tensor = axes @ np.diag(moments.sum() - moments) @ axes.T
    keys = {"Ixx": (0, 0), "Iyy": (1, 1), "Izz": (2, 2), "Ixy": (0, 1), "Ixz": (0, 2), "Iyz": (1, 2)}
    return {key: round(float(tensor[at]), 3) + 0.0 for key, at in keys.items()}


@st.composite
def bodies(draw, full=True):
    """A rigid body; without `full` perhaps a point mass."""
    body = {"mass": draw(decimals(0.5, 5)), "com": draw(vectors(0.4))}
    if full or draw(st.booleans()):
        body["inertia"] = draw(inertias())
    return body


@st.composite
def dampings(draw, count):
    match draw(st.sampled_from(["none", "ratio", "list", "rayleigh"])):
        case "ratio":
            return {"ratio": draw(decimals(0, 0.1))}
        case "list":
            return {"ratio": draw(st.lists(decimals(0, 0.1), min_size=count, max_size=count))}
        case "rayleigh":
            return {"alpha": draw(decimals(0, 0.5)), "beta": draw(decimals(0, 0.01))}
    return None


@st.composite
def beams(draw, torsion=True, root=0.0, length=None, max_modes=2):
    """The `flexible` entry; `length` is written for links whose row does not give it."""
    modes = {key: draw(st.integers(0, max_modes)) for key in ("v", "w")}
    modes["torsion"] = draw(st.integers(0, max_modes)) if torsion else 0
    data = {
        "mass": draw(decimals(0.5, 5)),
        "EI": {"y": draw(decimals(5, 500)), "z": draw(decimals(5, 500))},
        "GJ": draw(decimals(5, 500)),
        "modes": modes,
        "shape": draw(st.sampled_from(SHAPES)),
    }
    if modes["torsion"] or draw(st.booleans()):
        data["polar_inertia"] = draw(decimals(0.005, 0.05))
    if root:
        data["root"] = root
    if length is not None:
        data["length"] = length
    damping = draw(dampings(sum(modes.values())))
    if damping is not None:
        data["damping"] = damping
    return data


@st.composite
def joints(draw, number, kinds=("revolute", "prismatic", "fixed"), rotors=True, yielding=False):
    kind = draw(st.sampled_from(kinds))
    if kind == "fixed":
        return {"type": kind}
    joint = {"type": kind, "name": f"q{number}"}
    if draw(st.booleans()):
        joint["damping"] = draw(decimals(0, 2))
    if rotors and draw(st.booleans()):
        joint["rotor_inertia"] = draw(decimals(0, 0.02))
        joint["gear"] = draw(st.sampled_from([1, 2.5, 10, -5]))
    if yielding:
        joint |= draw(yieldings())
        if "elastic" in joint:
            joint["rotor_inertia"] = joint.get("rotor_inertia", 0) + 0.01
    return joint


@st.composite
def couplings(draw, links):
    """Let some joints follow others that stand before them, with a shaft between or without."""
    free = []
    for joint in (link["joint"] for link in links):
        if joint["type"] == "fixed":
            continue
        if free and draw(st.integers(0, 2)) == 0:
            joint["follows"] = f"{draw(decimals(-2, 2))}*{draw(st.sampled_from(free))} + {draw(decimals(-1, 1))}"
            joint["follows"] += f" - {draw(st.sampled_from(free))}/2" if draw(st.booleans()) else ""
            for key in ("rotor_inertia", "gear"):
                joint.pop(key, None)
        free.append(joint["name"])


@st.composite
def yieldings(draw):
    """What may yield in a joint: a shaft, a bearing about one axis or two, a spring, or nothing; and friction."""
    joint = {}
    if draw(st.booleans()):
        joint["elastic"] = {"stiffness": draw(decimals(5, 50)), "damping": draw(decimals(0, 1))}
    if draw(st.booleans()):
        axes = draw(st.sampled_from(["x", "y", "xy"]))
        joint["bearing"] = {"stiffness": {axis: draw(decimals(5, 50)) for axis in axes}}
        joint["bearing"]["damping"] = {axes[-1]: draw(decimals(0, 1))}
    if draw(st.booleans()):
        joint["spring"] = {"stiffness": draw(decimals(0, 20)), "rest": draw(decimals(-1, 1))}
    if draw(st.booleans()):
        coulomb = draw(decimals(0, 2))
        joint["friction"] = {"coulomb": coulomb, "smoothing": draw(decimals(0.1, 1))}
        if draw(st.booleans()):
            joint["friction"] |= {"static": round(coulomb + draw(decimals(0, 2)), 3), "stribeck_rate": 0.7}
    return joint


@st.composite
def links(
    draw,
    number,
    convention,
    allow_flexible=True,
    kinds=("revolute", "prismatic", "fixed"),
    max_modes=2,
    yielding=False,
):
    """A link without its parent."""
    link = {"name": f"link{number}", "joint": draw(joints(number, kinds, yielding=yielding))}
    moving = link["joint"]["type"] != "fixed"
    flexible = allow_flexible and draw(st.booleans())
    root = draw(st.sampled_from([0.0, 0.0, 0.1, 0.25])) if flexible else 0.0
    length = draw(decimals(0.3, 2))
    posed = draw(st.booleans())
    if posed:
        link["pose"] = {"xyz": draw(vectors(1)), "rpy": draw(st.lists(angles(), min_size=3, max_size=3))}
    else:
        beam_in_row = flexible and convention == "standard"
        link["dh"] = {
            "a": round(length + root, 3) if beam_in_row else draw(decimals(-1, 1)),
            "d": draw(decimals(-1, 1)),
            "alpha": draw(angles()),
            "theta": draw(angles()),
        }
    if flexible:
        in_row = not posed and convention == "standard"
        link["flexible"] = draw(beams(root=root, length=None if in_row else length, max_modes=max_modes))
        if draw(st.booleans()):
            link["hub"] = draw(bodies(full=False))
        if draw(st.booleans()):
            link["payload"] = draw(bodies(full=False))
        return link
    carrier = draw(st.sampled_from(["rigid", "hub", "payload"] if moving else ["massless", "rigid", "hub", "payload"]))
    if carrier != "massless":
        link[carrier] = draw(bodies(full=True))
    extra = draw(st.sampled_from([None, "hub", "payload"]))
    if extra and extra not in link:
        link[extra] = draw(bodies(full=False))
    return link


@st.composite
def robots(
    draw,
    max_links=4,
    flexible=True,
    max_coordinates=12,
    kinds=("revolute", "prismatic", "fixed"),
    conventions=("standard", "modified"),
    gravity=True,
    trees=True,
    max_modes=2,
    yielding=False,
    floating=False,
    joined=False,
    stopped=False,
):
    """A robot file: a tree of one to `max_links` links with a joint at least and `max_coordinates` coordinates at most.

    yielding: with shafts, bearings, springs and friction, their coordinates on top; floating: on a base that moves;
    joined: with elements between links; stopped: with joints that a state of `random_state` has in stops or not;
    flexible: False for rigid robots; kinds: the joint types to draw from; trees: False for a chain in file order.
    """
    convention = draw(st.sampled_from(conventions))
    count = draw(st.integers(1, max_links))
    made, used = [], 0
    for number in range(1, count + 1):
        # every link still to come may need a coordinate for its joint; modes only while they fit
        link = draw(links(number, convention, flexible, kinds, max_modes, yielding))
        modes = link["flexible"]["modes"] if "flexible" in link else {}
        room = max_coordinates - used - (count - number) - (number == 1 or link["joint"]["type"] != "fixed")
        for key in ("torsion", "w", "v"):
            while modes.get(key, 0) and sum(modes.values()) > room:
                modes[key] -= 1
        ratio = link.get("flexible", {}).get("damping", {}).get("ratio")
        if isinstance(ratio, list):
            del ratio[sum(modes.values()) :]
        link["parent"] = "base"
        if made:
            earlier = [other["name"] for other in made]
            link["parent"] = draw(st.sampled_from(["base", *earlier])) if trees else earlier[-1]
        made.append(link)
        used += sum(modes.values()) + (link["joint"]["type"] != "fixed")
    if all(link["joint"]["type"] == "fixed" for link in made):
        made[0]["joint"] = {"type": draw(st.sampled_from([k for k in kinds if k != "fixed"])), "name": "q1"}
        if "flexible" not in made[0]:
            made[0]["hub"] = draw(bodies(full=True))
    if yielding:
        draw(couplings(made))
    if stopped:
        for joint in (link["joint"] for link in made if link["joint"]["type"] != "fixed"):
            joint |= draw(stops(2.0 if joint["type"] == "revolute" else 0.7))
    if trees and draw(st.booleans()):
        made = draw(st.permutations(made))
    previous = "base"
    for link in made:
        if link["parent"] == previous and draw(st.booleans()):
            del link["parent"]
        previous = link["name"]
    robot = {
        "kronbot": 1,
        "name": "random",
        "convention": convention,
        "gravity": draw(vectors(10)) if gravity else [0, 0, 0],
        "links": [{"name": link["name"], **link} for link in made],
    }
    if floating:
        robot["base"] = {"type": "floating", "rigid": draw(bodies(full=True))}
    if joined:
        robot["elements"] = draw(elements([link["name"] for link in made]))
    if draw(st.booleans()):
        robot["endpoint"] = {"link": draw(st.sampled_from([k["name"] for k in made])), "position": draw(vectors(0.5))}
    return robot


def coordinates(robot, order=2):
    """(name, kind, scale) of each coordinate, in order; scale of a modal one: 0.1 m or 0.1 rad at the beam's tip."""
    out = []
    if "base" in robot:
        # Far from gimbal lock, where M is singular.
        sizes = {"x": 0.7, "y": 0.7, "z": 0.7, "rx": 2.0, "ry": 1.2, "rz": 2.0}
        out = [(f"base.{word}", "revolute" if word[0] == "r" else "prismatic", size) for word, size in sizes.items()]
    for link in robot["links"]:
        joint = link["joint"]
        if joint["type"] != "fixed":
            scale = 2.0 if joint["type"] == "revolute" else 0.7
            own = 1 + ("elastic" in joint) - ("follows" in joint)
            out += [(joint["name"], joint["type"], scale)] * own
            out += [("tilt", "revolute", 0.5)] * len(joint.get("bearing", {}).get("stiffness", {}))
        flexible = link.get("flexible")
        if not flexible or str(order) == "0":
            continue
        standard = "dh" in link and robot["convention"] == "standard"
        length = link["dh"]["a"] - flexible.get("root", 0) if standard else flexible["length"]
        polynomial = flexible.get("shape") == "polynomial"
        for key, letter in (("v", "v"), ("w", "w"), ("torsion", "t")):
            for i in range(1, flexible["modes"].get(key, 0) + 1):
                tip = 0.1 * (min(1.0, length) if key != "torsion" else 1.0) / i
                power = i if key == "torsion" else i + 1
                out.append((f"{link['name']}.{letter}{i}", key, tip / length**power if polynomial else tip))
    return out


@st.composite
def stops(draw, scale):
    """Limits of a joint that is beyond the upper one or the lower one where it is at 0.3 to 1 of its scale, or none."""
    low, high = {
        "above": (-9, draw(decimals(-0.5, 0.2))),
        "below": (scale + draw(decimals(0.1, 1)), 9),
        "between": (-9, 9),
    }[draw(st.sampled_from(["above", "above", "below", "between"]))]
    stiff = {"stiffness": draw(decimals(1, 50)), "damping": draw(decimals(0, 20))}
    return {"limits": [low, high], "stops": stiff}


@st.composite
def elements(draw, links):
    """One to three elements of all kinds, whose ends are far from each other."""
    frames = [*links, *(f"{link}:root" for link in links), "world"]
    found = []
    for number, kind in enumerate(
        draw(st.lists(st.sampled_from(["spring", "damper", "actuator", "tendon"]), min_size=1, max_size=3))
    ):
        first = draw(st.sampled_from(frames))
        second = draw(st.sampled_from([frame for frame in frames if frame != first]))
        points = [[x, y, z + 9.0 * end] for end, (x, y, z) in enumerate(draw(st.tuples(vectors(1), vectors(1))))]
        element = {"name": f"e{number}", "type": kind, "between": [first, second], "points": points}
        if draw(st.booleans()):  # between the ends, and far from them
            over = draw(st.lists(st.tuples(st.sampled_from(frames), vectors(1)), min_size=1, max_size=2))
            at = [[x, y, z + 4.0 + 60.0 * i] for i, (_, (x, y, z)) in enumerate(over)]
            element["via"] = [{"frame": name, "point": point} for (name, _), point in zip(over, at, strict=True)]
        if kind == "spring":
            element |= {"stiffness": draw(decimals(1, 100)), "rest": draw(st.just(0) | decimals(0.1, 3))}
        if kind == "tendon":  # taut or slack
            element |= {"stiffness": draw(decimals(1, 100)), "rest": draw(st.sampled_from([0.5, 8, 20, 90]))}
        if kind == "damper" or draw(st.booleans()):
            element["damping"] = draw(decimals(0, 5))
        if kind == "actuator" or (kind != "tendon" and draw(st.booleans())):
            element["force"] = draw(decimals(-20, 20))
        found.append(element)
    return found


@st.composite
def states(draw, robot, order=2):
    """q, qd, qdd of moderate size: tip deflections and twists of a mode up to 0.1 (over the mode's number)."""
    scales = [scale for *_, scale in coordinates(robot, order)]

    def array(factor):
        return np.array([round(draw(decimals(-1, 1)) * factor * scale, 4) for scale in scales])

    return array(1), array(2), array(5)


class _Dumper(yaml.SafeDumper):
    """Strict YAML 1.2: no aliases, floats as Python writes them (1e-05 gets its dot from PyYAML)."""

    def ignore_aliases(self, data):
        return True


def to_yaml(robot):
    """The text of the robot file."""
    return yaml.dump(robot, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None, width=120)


SPATIAL_ARM = {
    "kronbot": 1,
    "name": "spatial-arm",
    "convention": "standard",
    "gravity": [0, 0, -9.81],
    "links": [
        {
            "name": "column",
            "joint": {"type": "revolute", "name": "q1"},
            "dh": {"a": 0, "d": 0.5, "alpha": "pi/2", "theta": 0},
            "rigid": {"mass": 4, "com": [0, -0.2, 0], "inertia": {"Ixx": 0.2, "Iyy": 0.15, "Izz": 0.18, "Ixy": 0.01}},
        },
        {
            "name": "arm",
            "joint": {"type": "revolute", "name": "q2"},
            "dh": {"a": 1.1, "d": 0.1, "alpha": -0.4, "theta": 0.2},
            "flexible": {
                "mass": 1.5,
                "EI": {"y": 120, "z": 60},
                "GJ": 40,
                "modes": {"v": 2, "w": 1, "torsion": 1},
                "polar_inertia": 0.01,
                "root": 0.1,
            },
            "hub": {"mass": 0.8, "com": [0.02, 0, 0], "inertia": {"Ixx": 0.01, "Iyy": 0.012, "Izz": 0.009}},
        },
        {
            "name": "hand",
            "joint": {"type": "revolute", "name": "q3"},
            "dh": {"a": 0.6, "d": 0, "alpha": 0.7, "theta": -0.3},
            "rigid": {
                "mass": 1.2,
                "com": [-0.25, 0.03, 0.02],
                "inertia": {"Ixx": 0.02, "Iyy": 0.05, "Izz": 0.06, "Ixz": 0.004, "Iyz": -0.003},
            },
            "payload": {"mass": 0.5, "com": [0.05, 0, 0.04]},
        },
    ],
    "endpoint": {"link": "hand", "position": [0.1, 0, 0]},
}


def thin(robot):
    """The arm with one mode of each kind, for what takes long."""
    column, arm, *rest = robot["links"]
    arm = arm | {"flexible": arm["flexible"] | {"modes": {"v": 1, "w": 1, "torsion": 1}}}
    return robot | {"links": [column, arm, *rest]}


assert math.isclose(SPATIAL_ARM["links"][1]["dh"]["a"] - SPATIAL_ARM["links"][1]["flexible"]["root"], 1.0)
