"""URDF to robot files: against a kinematics of the URDF written down independently, against Pinocchio, and refusals."""

import importlib.metadata
import io
import itertools
import math
import re
import sys
from decimal import Context, Inexact, localcontext
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

import casadi
import numpy as np
import pytest
import yaml
from any_text import any_text
from hypothesis import assume, given
from hypothesis import strategies as st
from robots_in_tests import model, traced
from thinned import drawn, rare

import kronbot
from kronbot import description
from kronbot.description import limits
from kronbot.description.expressions.expression import evaluate, parse
from kronbot.description.urdf import elements
from kronbot.description.urdf.elements import ELEMENTS, parse_xml, read_xml
from kronbot.description.urdf.reading import URDF_BYTES, parse_urdf
from kronbot.description.urdf.rotations import as_meant, from_rpy, to_rpy, turn_to
from kronbot.description.urdf.translation import translate
from kronbot.errors import DescriptionError, UsageError
from kronbot.mechanics.multibody.damping import dissipative_forces
from kronbot.mechanics.multibody.kinematics import tip_frame
from kronbot.mechanics.multibody.recursion import inverse_dynamics
from kronbot.mechanics.multibody.state import propagate
from kronbot.questions.dynamics import Equations

# Sums of some hundred products of numbers of their own size, each rounded to 1e-16.
ROUNDING = 1e-13
# Angles within 1e-12 of a multiple of pi/2 are written as that multiple.
SNAPPED = 1e-12

# Every kind of joint, no axis along z but one, none of length 1, turned origins, turned and displaced bodies, and a
# tree that does not stand in the order of the document.
ODD = """<?xml version="1.0"?>
<robot name="odd">
  <link name="tool"/>
  <joint name="slide" type="prismatic">
    <parent link="upper"/><child link="carriage"/>
    <origin xyz="0.1 -0.2 0.3" rpy="0.3 -1.2 2.5"/><axis xyz="-3 0.2 1"/>
    <limit lower="-0.5" upper="1.5" effort="10" velocity="1"/><dynamics damping="2.5" friction="0.1"/>
  </joint>
  <link name="pedestal">
    <inertial><mass value="20"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="upper">
    <inertial>
      <origin xyz="0.1 0.2 -0.3" rpy="0.4 0.5 0.6"/><mass value="3"/>
      <inertia ixx="0.03" iyy="0.05" izz="0.04" ixy="0.001" ixz="-0.002" iyz="0.003"/>
    </inertial>
  </link>
  <link name="carriage">
    <inertial>
      <origin xyz="-0.1 0 0.02"/><mass value="1.5"/>
      <inertia ixx="0.01" iyy="0.02" izz="0.015" ixy="0" ixz="0.001" iyz="0"/>
    </inertial>
  </link>
  <link name="bracket">
    <inertial>
      <origin xyz="0 0.05 0" rpy="1.5707963267948966 0 0"/><mass value="0.5"/>
      <inertia ixx="0.001" iyy="0.002" izz="0.0015" ixy="0.0001" ixz="0.0002" iyz="0.0003"/>
    </inertial>
  </link>
  <link name="wrist">
    <inertial>
      <origin xyz="0.01 0.02 0.03" rpy="-1 0.5 3"/><mass value="0.8"/>
      <inertia ixx="0.002" iyy="0.003" izz="0.004" ixy="0" ixz="0" iyz="0.0005"/>
    </inertial>
  </link>
  <link name="finger">
    <inertial><origin xyz="0 0 0.1"/><mass value="0.1"/>
      <inertia ixx="1e-4" iyy="1e-4" izz="1e-5" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="pedestal"/><child link="upper"/>
    <origin xyz="0 0 1" rpy="0 1.5707963267948966 0"/><axis xyz="0.5 -0.25 -2"/>
    <limit lower="-1.5707963267948966" upper="2" effort="10" velocity="1"/>
  </joint>
  <joint name="mount" type="fixed">
    <parent link="carriage"/><child link="bracket"/><origin xyz="0.3 0 0" rpy="0 0 0.7"/>
  </joint>
  <joint name="roll" type="continuous">
    <parent link="bracket"/><child link="wrist"/><origin xyz="0 0.1 0" rpy="0 -1.5707963267948966 0.2"/>
    <axis xyz="0 -1 0"/>
  </joint>
  <joint name="spin" type="continuous"><parent link="upper"/><child link="finger"/><axis xyz="0 0 2"/></joint>
  <joint name="flange" type="fixed">
    <parent link="wrist"/><child link="tool"/><origin xyz="0 0 0.12" rpy="0.1 0.2 0.3"/>
  </joint>
</robot>
"""


def converted(text, tip=None):
    return translate(parse_urdf(description.Source("arm.urdf", text, None)), tip)


def loaded(text, tip=None):
    """The description of a converted robot; kronbot finds no mistake in it."""
    return description.load(description.Source("arm.yaml", converted(text, tip).text, None)).robot


def answers(text, tip=None):
    """The converted robot, and mass matrix, gravity forces and frames of all links as a function of q."""
    robot = model(converted(text, tip).text, "0")

    def frames(q, qd, x):
        tips = [tip_frame(link) for link in propagate(robot, q, qd * 0).links]
        return casadi.horzcat(*(casadi.vertcat(casadi.horzcat(tip.R, tip.r)) for tip in tips))

    trace = traced(
        robot, M=lambda q, qd, x: Equations(robot, q).M, g=lambda q, qd, x: Equations(robot, q).g, frames=frames
    )

    def at(q):
        result = trace(q, np.zeros(robot.n), np.zeros(robot.n))
        names = [link.name for link in robot.links]
        return result["M"], result["g"], dict(zip(names, np.split(result["frames"], len(names), axis=1), strict=True))

    return robot, at


# ------------------------------------------------------------------------------- an independent reading of URDF


def turned(axis, angle):
    """Rodrigues' formula."""
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * K @ K


def floats(element, key, default):
    return np.array((default if element is None else element.get(key, default)).split(), dtype=float)


def origin(holder):
    element = holder.find("origin")
    roll, pitch, yaw = floats(element, "rpy", "0 0 0")
    R = turned((0, 0, 1), yaw) @ turned((0, 1, 0), pitch) @ turned((1, 0, 0), roll)
    return floats(element, "xyz", "0 0 0"), R


class Urdf:
    """Frames, mass matrix and gravity forces of a URDF by the geometric Jacobian of every body; joints by name."""

    def __init__(self, text, names):
        root = ElementTree.fromstring(text)
        self.names = list(names)
        self.links = {link.get("name"): link for link in root.findall("link")}
        self.leading = {joint.find("child").get("link"): joint for joint in root.findall("joint")}

    def axis(self, joint):
        axis = floats(joint.find("axis"), "xyz", "1 0 0")
        return axis / np.linalg.norm(axis)

    def frame(self, link, q):
        """Position, rotation, and the joints on the way as (number, type, axis, point on it), all in the base."""
        joint = self.leading.get(link)
        if joint is None:
            return np.zeros(3), np.eye(3), []
        r, R, way = self.frame(joint.find("parent").get("link"), q)
        p, turn = origin(joint)
        r, R = r + R @ p, R @ turn
        kind = joint.get("type")
        if kind == "fixed":
            return r, R, way
        number = self.names.index(joint.get("name"))
        axis = self.axis(joint)
        way = [*way, (number, kind, R @ axis, r)]
        if kind == "prismatic":
            return r + R @ axis * q[number], R, way
        return r, R @ turned(axis, q[number]), way

    def dynamics(self, q):
        M, g = np.zeros((len(q), len(q))), np.zeros(len(q))
        for name, link in self.links.items():
            inertial = link.find("inertial")
            if inertial is None:
                continue
            r, R, way = self.frame(name, q)
            com, turn = origin(inertial)
            c, axes = r + R @ com, R @ turn
            J_T, J_R = np.zeros((3, len(q))), np.zeros((3, len(q)))
            for number, kind, axis, point in way:
                J_T[:, number] = axis if kind == "prismatic" else np.cross(axis, c - point)
                J_R[:, number] = 0 if kind == "prismatic" else axis
            m = float(inertial.find("mass").get("value"))
            entry = {key: float(value) for key, value in inertial.find("inertia").items()}
            tensor = np.array([[entry["i" + "".join(sorted(a + b))] for b in "xyz"] for a in "xyz"])
            M += m * J_T.T @ J_T + J_R.T @ axes @ tensor @ axes.T @ J_R
            g += m * 9.81 * J_T[2]
        return M, g


def close(value, wanted, tolerance):
    """To a part of the largest entry (of frames, which hold a rotation: at least 1)."""
    np.testing.assert_allclose(value, wanted, rtol=0, atol=tolerance * np.abs(wanted).max())


def agree(text, seed, tolerance):
    """Mass matrix, gravity forces and every frame, the frame up to the turn that takes z to the axis."""
    robot, at = answers(text)
    urdf = Urdf(text, robot.coordinates)
    rng = np.random.default_rng(seed)
    for _ in range(3):
        q = rng.uniform(-3, 3, robot.n)
        M, g, frames = at(q)
        wanted_M, wanted_g = urdf.dynamics(q)
        close(M, wanted_M, tolerance)
        close(g, wanted_g, tolerance)
        for name, frame in frames.items():
            r, R, _ = urdf.frame(name, q)
            joint = urdf.leading.get(name)
            if joint is None or joint.get("type") == "fixed":
                close(frame, np.column_stack([R, r]), tolerance)
            else:
                close(frame[:, 2:], np.column_stack([R @ urdf.axis(joint), r]), tolerance)


def random_urdf(seed):
    """A tree of ten links: any joints, axes of the coordinates and between, also next to -z, turned bodies."""
    rng = np.random.default_rng(seed)
    axes = [(1, 0, 0), (0, -1, 0), (0, 0, -1), (1e-9, 0, -1), (0, 1, 6.1e-17)]

    def row(values):
        return " ".join(repr(float(value)) for value in values)

    def place():
        rpy = rng.choice([0, math.pi / 2, -math.pi / 2, math.pi], 3) if rng.random() < 0.4 else rng.uniform(-3, 3, 3)
        return f'<origin xyz="{row(rng.uniform(-1, 1, 3))}" rpy="{row(rpy)}"/>'

    lines = []
    for i in range(10):
        A = rng.uniform(-1, 1, (3, 3))
        I = A @ A.T  # noqa: E741
        entries = " ".join(f'i{"xyz"[j]}{"xyz"[k]}="{float(I[j, k])!r}"' for j in range(3) for k in range(j, 3))
        lines.append(f'<link name="l{i}"><inertial>{place()}<mass value="{float(rng.uniform(0.1, 5))!r}"/>')
        lines.append(f"<inertia {entries}/></inertial></link>")
        if i == 0:
            continue
        kind = rng.choice(["revolute", "continuous", "prismatic", "fixed"], p=[0.4, 0.2, 0.2, 0.2])
        axis = axes[rng.integers(len(axes))] if rng.random() < 0.5 else rng.uniform(-2, 2, 3)
        lines.append(f'<joint name="q{i}" type="{kind}"><parent link="l{rng.integers(i)}"/><child link="l{i}"/>')
        lines.append(f'{place()}<axis xyz="{row(axis)}"/></joint>')
    return f'<robot name="random">{"".join(lines)}</robot>'


def test_odd_axes_and_turned_bodies_against_an_independent_reading():
    agree(ODD, 1, ROUNDING)


@pytest.mark.parametrize("seed", [0, *map(rare, range(1, 4))])
def test_random_trees_against_an_independent_reading(seed):
    agree(random_urdf(seed), seed, ROUNDING)


# ---------------------------------------------------------------------------------------------- Pinocchio


# Where the test extra has Pinocchio and robots of others, their absence is a failure and not a skip.
others = pytest.mark.skipif(
    sys.platform != "linux" or sys.version_info >= (3, 14), reason="Pinocchio is for Linux, up to Python 3.13"
)


def shipped_urdf(name):
    files = importlib.metadata.distribution("example-robot-data").files or []
    return next(file for file in files if file.name == f"{name}.urdf").locate().read_text()


def exact(text):
    """The same document where angles that are multiples of pi/2 to their digits have all digits."""

    def angles(found):
        return f'rpy="{" ".join(repr(as_meant(float(each))) for each in found[1].split())}"'

    return re.sub(r'rpy="([^"$]*)"', angles, text)  # a plug-in's may be no numbers


def agrees_with_pinocchio(text, seed, tip):
    import pinocchio as pin

    other = pin.buildModelFromXML(exact(text))
    data = other.createData()
    robot, at = answers(text, tip)
    joints = [other.joints[other.getJointId(name)] for name in robot.coordinates]
    places = [joint.idx_v for joint in joints]
    assert sorted(places) == list(range(other.nv))
    leading = Urdf(text, robot.coordinates).leading
    moving = [link for link, joint in leading.items() if joint.get("type") != "fixed"]
    rng = np.random.default_rng(seed)
    for _ in range(3):
        q = rng.uniform(-3, 3, robot.n)
        state = pin.neutral(other)
        for joint, value in zip(joints, q, strict=True):
            # Continuous joints have the cosine and the sine there.
            state[joint.idx_q : joint.idx_q + joint.nq] = [value] if joint.nq == 1 else [np.cos(value), np.sin(value)]
        upper = np.triu(pin.crba(other, data, state))
        wanted_M = (upper + np.triu(upper, 1).T)[np.ix_(places, places)]
        wanted_g = pin.computeGeneralizedGravity(other, data, state)[places]
        pin.framesForwardKinematics(other, data, state)
        M, g, frames = at(q)
        close(M, wanted_M, SNAPPED)
        close(g, wanted_g, SNAPPED)
        link = robot.links[robot.endpoint.link].name
        assert link not in moving, "the endpoint's frame would be turned"
        close(frames[link], data.oMf[other.getFrameId(link, pin.FrameType.BODY)].homogeneous[:3], SNAPPED)


@others
@pytest.mark.parametrize("seed", [0, *map(rare, range(1, 3))])
def test_a_hand_written_arm_against_pinocchio(seed):
    # Pinocchio's reader demands limits where the format does.
    agrees_with_pinocchio(ODD, seed, None)


@others
@pytest.mark.parametrize(
    ("name", "tip"),
    [
        rare("ur5_robot", "tool0"),
        rare("talos_left_arm", None),
        ("kinova", "j2s6s200_end_effector"),  # continuous joints
        rare("tiago_no_hand", None),
        rare("anymal-kinova", None),
        rare("icub", None),
    ],
)
def test_robots_of_others_against_pinocchio(name, tip):
    agrees_with_pinocchio(shipped_urdf(name), 0, tip)


def mimicked(text, other, names):
    """S (nv x n) and s (nv) of the joints of a model of Pinocchio by those called so: what the file's mimics say."""
    says = {}
    for joint in ElementTree.fromstring(text).findall("joint"):
        mimic = joint.find("mimic")
        if mimic is not None and joint.get("type") != "fixed":
            multiplier, offset = (float(mimic.get(key, default)) for key, default in (("multiplier", 1), ("offset", 0)))
            says[joint.get("name")] = mimic.get("joint"), multiplier, offset

    def of(name):
        if name in names:
            return np.eye(len(names))[names.index(name)], 0.0
        other, multiplier, offset = says[name]
        row, shift = of(other)
        return multiplier * row, multiplier * shift + offset

    S, s = np.zeros((other.nv, len(names))), np.zeros(other.nv)
    for name, joint in zip(other.names[1:], other.joints[1:], strict=True):
        S[joint.idx_v], s[joint.idx_v] = of(name)
    return S, s


@others
@pytest.mark.parametrize(
    ("name", "native"),
    [("panda", True), rare("pr2", True), rare("romeo", False)],
)
def test_mimic_joints_against_pinocchio(name, native):
    """Torques of motions; by Pinocchio's own mimic joints where it can read them, else reduced by hand."""
    import pinocchio as pin

    text = shipped_urdf(name)
    robot = model(converted(text).text, "0")
    trace = traced(
        robot,
        tau=lambda q, qd, x: (
            inverse_dynamics(propagate(robot, q, qd), x) - robot.stiffness @ q - dissipative_forces(robot, q, qd)
        ),
    )
    assert robot.followers
    other = pin.buildModelFromXML(text, mimic=native)
    data = other.createData()
    names = list(robot.coordinates)
    if native:
        S, s = np.zeros((other.nv, robot.n)), np.zeros(other.nv)
        for i, joint in enumerate(names):
            S[other.joints[other.getJointId(joint)].idx_v, i] = 1
    else:
        S, s = mimicked(text, other, names)
    rng = np.random.default_rng(1)
    for _ in range(2):
        q, qd, qdd = rng.uniform(-2, 2, (3, robot.n))
        angles, state = S @ q + s, pin.neutral(other)
        for joint in other.joints[1:]:
            if joint.nv and joint.nq:
                angle = angles[joint.idx_v]
                state[joint.idx_q : joint.idx_q + joint.nq] = (
                    [angle] if joint.nq == 1 else [np.cos(angle), np.sin(angle)]
                )
        wanted = S.T @ pin.rnea(other, data, state, S @ qd, S @ qdd)
        close(trace(q, qd, qdd)["tau"], wanted, SNAPPED)


MIMIC = """<robot name="m"><link name="a"/><link name="b"/><link name="c"/><link name="d"/>
<joint name="left-hip" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>{}</joint>
<joint name="pi" type="revolute"><parent link="a"/><child link="c"/><axis xyz="0 0 1"/>{}</joint>
<joint name="Hüfte" type="prismatic"><parent link="a"/><child link="d"/><axis xyz="0 0 1"/>{}</joint></robot>"""


@pytest.mark.parametrize(
    ("second", "third", "wanted"),
    [
        ('<mimic joint="left-hip"/>', '<mimic joint="pi" multiplier="-1"/>', (0.3, -0.3)),
        ('<mimic joint="Hüfte" multiplier="0.5" offset="-1.5707963267948966"/>', "", (0.15 - math.pi / 2, 0.3)),
        ("", '<mimic joint="left-hip" multiplier="-2" offset="0.25"/>', (0.3, -0.35)),
    ],
)
def test_joints_of_any_name_are_followed(second, third, wanted):
    """Names that are no words of expressions stand in quotes, in a parameter's company too."""
    text = converted(MIMIC.format("", second, third)).text + "parameters: {left: 1, hip: 2}\n"
    robot = kronbot.loads(text)
    poses = [robot.kinematics(q=[0.3] * len(robot.coordinates), frame=link).arrays["T"].values for link in "cd"]
    assert math.atan2(poses[0][1, 0], poses[0][0, 0]) == pytest.approx(wanted[0], abs=1e-14)
    assert poses[1][2, 3] == pytest.approx(wanted[1], abs=1e-14)


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        ('<mimic joint="lefthip"/>', "", "2:94: unknown joint 'lefthip'; did you mean 'left-hip'?"),
        ('<mimic joint="pi"/>', '<mimic joint="left-hip"/>',
         "2:94: the joints mimic each other in a circle: 'left-hip' -> 'pi' -> 'left-hip'"),
        ('<mimic multiplier="2"/>', "", "2:94: missing attribute 'joint' of <mimic>"),
        ('<mimic joint="pi" multiplyer="2"/>', "",
         "2:94: unknown attribute 'multiplyer' of <mimic>; did you mean 'multiplier'?"),
    ],
)  # fmt: skip
def test_mimics_that_cannot_be(first, second, wanted):
    assert refusals(MIMIC.format(first, second, "")) == [f"arm.urdf:{wanted}"]


def test_a_mimic_of_what_does_not_move_is_told():
    text = MIMIC.format('<mimic joint="pi"/>', "", "").replace('"pi" type="revolute"', '"pi" type="fixed"')
    assert (
        "mimic of a joint that does not move is dropped: the joint moves freely (1: 'left-hip')"
        in converted(text).notes
    )


# ----------------------------------------------------------------------------------------------- the turns


@pytest.mark.parametrize(
    ("axis", "rpy"),
    [
        ("0 0 1", None),
        ("1 0 0", "[0, pi/2, 0]"),
        ("-1 0 0", "[0, -pi/2, 0]"),
        ("0 1 0", "[-pi/2, 0, 0]"),
        ("0 -1 0", "[pi/2, 0, 0]"),
        ("0 0 -1", "[pi, 0, 0]"),
        ("0 0 -7", "[pi, 0, 0]"),
        ("0 1 6.12323e-17", "[-pi/2, 0, 0]"),
    ],
)
def test_coordinate_axes_get_simple_turns(axis, rpy):
    text = f"""<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous">
        <parent link="a"/><child link="b"/><axis xyz="{axis}"/></joint></robot>"""
    pose = "xyz: [0, 0, 0]" if rpy is None else f"xyz: [0, 0, 0], rpy: {rpy}"
    result = converted(text)
    assert f"    pose: {{{pose}}}\n" in result.text
    assert any("turned" in note and "'b'" in note for note in result.notes) == (rpy is not None)


def test_the_default_axis_is_x():
    text = '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="prismatic">{}</joint></robot>'
    ends = '<parent link="a"/><child link="b"/>'
    assert converted(text.format(ends)).text == converted(text.format(ends + '<axis xyz="1 0 0"/>')).text


@given(st.tuples(*[st.sampled_from([0, 1e-9, -1e-300, 1, -1, 0.3, -2.5, 1e90])] * 3).filter(any))
def test_a_turn_takes_z_to_the_axis(axis):
    A = np.array(turn_to(axis), dtype=float)
    scaled = np.array(axis) / np.abs(axis).max()
    # A few roundings; near -z the components are divided by 0.1 at the least.
    close(A @ A.T, np.eye(3), 1e-14)
    assert np.linalg.det(A) > 0
    close(A[:, 2], scaled / np.linalg.norm(scaled), 1e-15)


@given(st.tuples(*[st.sampled_from([0, 1, -1, 2, 0.7, 1 - 1e-7, 1 + 1e-9, 1e-14]).map(lambda x: x * math.pi / 2)] * 3))
def test_angles_give_their_rotation_back(rpy):
    """Also next to a pitch of pi/2, where roll and yaw are hardly determined."""
    back = to_rpy(from_rpy(rpy))
    close(*(np.array(from_rpy(each), dtype=float) for each in (back, rpy)), 2 * SNAPPED)
    assert abs(back[1]) <= math.pi / 2 + 1e-15


# ------------------------------------------------------------------------------------------------ the text


def test_the_text_of_a_small_arm():
    text = """<robot name="two parts">
  <link name="world"/>
  <link name="arm">
    <inertial><origin xyz="0.5 0 0"/><mass value="2"/>
      <inertia ixx="0.1" iyy="0.2" izz="0.3" ixy="0.01" ixz="0" iyz="0"/></inertial>
    <visual name="v"/><collision/><visual/>
  </link>
  <link name="hand"/>
  <joint name="q1" type="revolute">
    <parent link="world"/><child link="arm"/><origin xyz="0 0 0.4" rpy="0 0 0.1"/><axis xyz="0 1 0"/>
    <limit lower="-3.141592653589793" upper="2.5" effort="100" velocity="3"/><dynamics damping="0.25" friction="0.5"/>
    <mimic joint="q2" multiplier="-2" offset="0.5"/>
  </joint>
  <joint name="q2" type="prismatic">
    <parent link="arm"/><child link="hand"/><origin xyz="1 0 0"/><axis xyz="0 1 0"/><limit effort="1"/>
  </joint>
  <gazebo reference="arm"><material>Red</material></gazebo>
</robot>"""
    wanted = """# Converted from the URDF 'arm.urdf'.
# - endpoint: 'hand', the only leaf
# - not carried: settings of Gazebo (1)
# - not carried: visuals (2: 'arm')
# - not carried: collisions (1: 'arm')
# - not carried: effort limits (2: 'q1', 'q2')
# - not carried: velocity limits (1: 'q1')
# - frames turned against the URDF's, so that z is the joint's axis (2: 'arm', 'hand')
# - the massless root link 'world' is the base
kronbot: 1
name: "two parts"
source: "converted from arm.urdf"
gravity: [0, 0, -9.81]  # not in the URDF
links:
  - name: arm
    joint: {type: revolute, name: q1, follows: "-2*q2 + 0.5", damping: 0.25, friction: {coulomb: 0.5},
            limits: [-pi, 2.5]}
    pose: {xyz: [0, 0, 0.4], rpy: [-pi/2, 0, 0.1]}
    rigid: {mass: 2, com: [0.5, 0, 0], inertia: {Ixx: 0.1, Iyy: 0.3, Izz: 0.2, Ixz: 0.01}}
  - name: hand
    joint: {type: prismatic, name: q2}
    pose: {xyz: [1, 0, 0]}
endpoint: {link: hand}
"""
    result = converted(text)
    assert result.text == wanted
    assert [f"# - {note}" for note in result.notes] == wanted.splitlines()[1:9]


def test_short_decimals_beside_quarter_turns_are_kept():
    """To the last bit; what is another number stays, as an eighth of a turn, or one whose last digit is."""
    angles = [0.2 - math.pi / 2, 0.0125 + math.pi, -3 * math.pi / 2 - 1, math.pi / 4, 0.2 - math.pi / 2 + 2e-15, 1.3707]
    joints = "".join(
        f"""<link name="l{k}"/><joint name="j{k}" type="fixed"><parent link="a"/><child link="l{k}"/>
        <origin rpy="0 {angle!r} 0"/></joint>"""
        for k, angle in enumerate(angles)
    )
    text = converted(f'<robot name="r"><link name="a"/>{joints}</robot>', "l0").text
    written = [link["pose"]["rpy"][1] for link in yaml.safe_load(text)["links"] if link["name"] != "a"]
    assert [str(each) for each in written] == [
        "-pi/2 + 0.2", "pi + 0.0125", "-3*pi/2 - 1", "0.7853981633974483", str(angles[4]), "1.3707",
    ]  # fmt: skip
    assert [evaluate(parse(str(each)), {}) for each in written] == angles


def test_numbers_are_carried_to_the_last_digit():
    """Joints about z and fixed ones leave every number as it stands."""
    text = """<robot name="r"><link name="a"><inertial><origin xyz="1e-05 -0.1234567890123456 3"/>
        <mass value="0.30000000000000004"/><inertia ixx="1e-7" iyy="2.2250738585072014e-308" izz="1" ixy="-.5" ixz="+2."
        iyz="3e+20"/></inertial></link><link name="b"/><joint name="j" type="fixed"><parent link="a"/><child link="b"/>
        <origin rpy="1.5708 1.570796326794 -4.71238898038469"/></joint></robot>"""
    robot = yaml.safe_load(converted(text).text)
    body = robot["links"][0]["rigid"]
    assert [float(value) for value in body["com"]] == [1e-05, -0.1234567890123456, 3]
    assert body["mass"] == 0.30000000000000004
    entries = {"Ixx": 1e-7, "Iyy": 2.2250738585072014e-308, "Izz": 1, "Ixy": -0.5, "Ixz": 2, "Iyz": 3e20}
    assert {key: float(value) for key, value in body["inertia"].items()} == entries
    assert robot["links"][1]["pose"]["rpy"] == [1.5708, "pi/2", "-3*pi/2"]


@pytest.mark.parametrize(
    ("rpy", "wanted", "told"),
    [
        ("-1.5707963 0 3.141593", ["-pi/2", 0, "pi"], "taken for these (1: 'j')"),
        ("1.570796 -3.1415926 1.57079637", ["pi/2", "-pi", "pi/2"], "taken for these (1: 'j')"),
        ("1.570797 0 0", [1.570797, 0, 0], "kept as they are written (1: 'j')"),
        ("1.5708 0.0000001 0", [1.5708, 1e-7, 0], "kept as they are written (1: 'j')"),
        ("1.570796326794 0.7853982 1.6", ["pi/2", 0.7853982, 1.6], None),
    ],
)
def test_quarter_turns_to_their_own_digits(rpy, wanted, told):
    """What no digit contradicts is a quarter turn, and no axis is left with 3e-8 of another one; it is said."""
    text = f"""<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous"><parent link="a"/>
        <child link="b"/><origin rpy="{rpy}"/><axis xyz="0 0 1"/></joint></robot>"""
    result = converted(text)
    found = yaml.safe_load(result.text)["links"][-1]["pose"]["rpy"]
    assert [float(each) if str(each)[0].isdecimal() else each for each in found] == wanted
    assert [note for note in result.notes if "angles" in note] == (
        [] if told is None else [note for note in result.notes if note.endswith(told)]
    )
    assert told is None or any(note.endswith(told) for note in result.notes)


def test_lines_stay_short_and_equal_files_give_equal_texts():
    text = random_urdf(0)
    assert max(map(len, converted(text).text.splitlines())) <= 120
    assert converted(text) == converted(text)


def test_where_the_endpoint_is():
    def joint(name, parent, child):
        return f'<joint name="{name}" type="fixed"><parent link="{parent}"/><child link="{child}"/></joint>'

    links = "".join(f'<link name="{name}"/>' for name in "abcde")
    tree = joint("1", "a", "b") + joint("2", "a", "c") + joint("3", "c", "e") + joint("4", "c", "d")
    text = f'<robot name="r">{links}{tree}</robot>'
    assert converted(text).text.endswith("endpoint: {link: d}\n")  # d stands before e, both deeper than b
    told = "endpoint: 'd', the deepest of 3 leaves, since no tip is named (kronbot explain convert)"
    assert converted(text).notes[0] == told
    assert converted(text, "b").text.endswith("endpoint: {link: b}\n")
    assert [link.name for link in loaded(text).links] == ["b", "c", "e", "d"]
    assert [link.parent for link in loaded(text).links] == [None, "base", None, "c"]
    assert [link.name for link in loaded(text, "a").links] == ["a", "b", "c", "e", "d"]
    with pytest.raises(UsageError, match=r"^tip: no link 'bb'; did you mean 'b'\?"):
        converted(text, "bb")


def test_a_robot_of_one_massless_link():
    assert [link.name for link in loaded('<robot name="r"><link name="only"/></robot>').links] == ["only"]


def test_limits_that_kronbot_cannot_hold():
    joint = """<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="{}"><parent link="a"/>
        <child link="b"/><limit {}/></joint></robot>"""
    for kind, attributes, note in (
        ("revolute", 'lower="1" upper="1"', "limits that do not ascend (1: 'j')"),
        ("prismatic", 'lower="1"', "limits that do not ascend (1: 'j')"),
        ("continuous", 'lower="-1" upper="1"', "limits of continuous joints (1: 'j')"),
        ("revolute", "", None),
    ):
        text = joint.format(kind, attributes)
        assert loaded(text).links[0].joint.limits is None
        assert [n for n in converted(text).notes if "limits" in n] == ([f"not carried: {note}"] if note else [])
    # Both are pi/2 to its tolerance, and still ascend.
    assert loaded(joint.format("revolute", 'lower="1.5707963267948" upper="1.5707963267949"')).links[0].joint.limits


def printed(names):
    """Those that are, each once."""
    return list(dict.fromkeys(name.strip() for name in names if name.strip() and name.isprintable()))


def check_names(names, robot):
    """Those that kronbot allows stay as they are; all are different."""
    links = [f"<link name={quoteattr(name)}/>" for name in names]
    joints = [
        f'<joint name={quoteattr(child)} type="continuous"><parent link={quoteattr(parent)}/>'
        f"<child link={quoteattr(child)}/></joint>"
        for parent, child in itertools.pairwise(names)
    ]
    text = f"<robot name={quoteattr(robot, {chr(10): '&#10;'})}>{''.join(links + joints)}</robot>"
    got = loaded(text)
    assert got.name == robot.strip()[: limits.ROBOT_NAME_LENGTH].replace("\n", "_")
    assert len(got.links) == len(names) - 1
    for link, name in zip(got.links, names[1:], strict=True):
        if name.isascii() and name.isalpha() and len(name) < 60 and name not in ("world", "endpoint", "t", "order"):
            assert (link.name, link.joint.name) == (name, name)


@drawn(8, 19, st.lists(any_text(1, 12, printable=True), min_size=2, max_size=6), any_text(1, 12, printable=True))
def test_any_names_make_a_robot_that_loads(names, robot):
    names = printed(names)
    assume(len(names) > 1 and robot.strip() and robot.replace("\n", "").isprintable())
    check_names(names, robot)


@pytest.mark.parametrize(
    ("names", "robot"),
    [
        (["base", "base_link", "endpoint", "t", "order", "t_joint"], "null"),
        (["null", "True", "yes", "1e5", "-", "é"], 'a "b" \\ c'),
        (["q", "q_dot", "q_ddot", "q-2", "q_dot_dot", "Q"], "x" * 1000),
        (["a b", "a/b", "a_b", "a_b-2", "x" * 70, "x" * 71], "links: []"),
        (["a\u2028links: []", "b #", "c'", "{d", "e: f", "& g"], "\U0001f916\n\nlinks: []"),
    ],
    ids=range(5),
)
def test_odd_names_make_a_robot_that_loads(names, robot):
    check_names(printed(names), robot)


# ------------------------------------------------------------------------------------------------- refusals


def refusals(text):
    with pytest.raises(DescriptionError) as caught:
        converted(text)
    return [str(mistake) for mistake in caught.value.mistakes]


LAUGHS = """<!DOCTYPE robot [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;"><!ENTITY c "&b;&b;&b;">]>
<robot name="&c;"><link name="a"/></robot>"""
TWO_LINKS = '<robot name="r">\n<link name="a"/>\n<link name="b"/>\n{}</robot>'
ENDS = '<parent link="a"/><child link="b"/>'
JOINT = TWO_LINKS.format('<joint name="j" type="revolute">' + ENDS + "\n{}</joint>")
BODY = '<robot name="r"><link name="a"><inertial>\n{}</inertial></link></robot>'
TENSOR = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (LAUGHS, "1:17: a document type"),
        ('<!DOCTYPE robot SYSTEM "/etc/hostname">\n<robot name="r"/>', "1:39: a document type"),
        ('<robot name="&c;"/>', "1:1: this is not XML: undefined entity"),
        ('<robot name="r">\n  <link name="a">\n</robot>', "3:3: this is not XML: mismatched tag"),
        ('<robot name="r"/><robot name="s"/>', "1:18: this is not XML: junk after document element"),
        ('<robot name="r" name="s"/>', "1:17: this is not XML: duplicate attribute"),
        ("kronbot: 1", "1:1: this is not XML: syntax error; a URDF begins with <?xml ...> or <robot name=...>"),
        ('<sdf version="1.6"/>', "1:1: this is no URDF: the outermost element is 'sdf', not 'robot'"),
        (
            "<robot name='r'><xacro:include/></robot>",
            "1:17: 'xacro:include' is an instruction to xacro: run xacro first",
        ),
        (
            "<robot name='r' xmlns:x='http://www.ros.org/wiki/xacro'>\n <x:arm/></robot>",
            "2:2: 'x:arm' is an instruction to xacro: run xacro first",
        ),
        ("<robot name='r'><link name='${p}a'/></robot>", "1:17: '${p}a' is an instruction to xacro: run xacro first"),
        ("<a>" * limits.DEPTH + "\n<a>", f"2:1: nested deeper than {limits.DEPTH} levels"),
        ("<a>" + "<a/>" * ELEMENTS, f"1:{4 * ELEMENTS}: more than {ELEMENTS} elements"),
        ("<robot><link name='a'/></robot>", "1:1: missing attribute 'name' of <robot>"),
        ("<robot name='r'><link/></robot>", "1:17: missing attribute 'name' of <link>"),
        ("<robot name='r'>\n</robot>", "1:1: the robot has no link"),
        (
            '<robot name="r">\n<link name="a"/>\n<link name="a"/></robot>',
            "3:1: the name 'a' is given to two links, first on line 2",
        ),
        (TWO_LINKS.format(""), "3:1: more than one root: no joint leads to 'a' and 'b'"),
        (
            TWO_LINKS.format(
                f'<link name="c"/><joint name="j" type="fixed">{ENDS}</joint>\n'
                '<joint name="j" type="fixed"><parent link="a"/><child link="c"/></joint>'
            ),
            "5:1: the name 'j' is given to two joints, first on line 4",
        ),
        (
            TWO_LINKS.format("".join(f'<joint name="{n}" type="fixed">{ENDS}</joint>' for n in "jk")),
            "3:1: two joints lead to the link 'b': 'j' and 'k'",
        ),
        (
            TWO_LINKS.format('<joint name="j" type="fixed"><parent link="a"/>\n<child link="bb"/></joint>'),
            "5:1: unknown link 'bb'; did you mean 'b'?",
        ),
        (
            TWO_LINKS.format('<joint name="j" type="fixed"><child link="b"/></joint>'),
            "4:1: missing element <parent> in <joint> 'j'",
        ),
        (
            TWO_LINKS.format(
                f'<joint name="j" type="fixed">{ENDS}</joint>'
                '<joint name="k" type="fixed"><parent link="b"/><child link="a"/></joint>'
            ),
            "3:1: the links are each other's parents in a circle: 'b' -> 'a' -> 'b'",
        ),
        (
            TWO_LINKS.format(
                f'<joint name="j" type="fixed">{ENDS}</joint>'
                '<joint name="k" type="fixed"><parent link="a"/><child link="a"/></joint>'
            ),
            "2:1: the links are each other's parents in a circle: 'a' -> 'a'",
        ),
        (JOINT.format("").replace("revolute", "revolut"), "4:1: the joint 'j' has the unknown type 'revolut'; did you"),
        (JOINT.format('<axis xyz="0 0 0"/>'), "5:1: the axis of the joint 'j' is zero"),
        (JOINT.format('<axis xyz="0 0 nan"/>'), "5:1: 'xyz' of <axis> must be 3 numbers up to 1e+100, not '0 0 nan'"),
        (JOINT.format('<origin xyz="0 0"/>'), "5:1: 'xyz' of <origin> must be 3 numbers up to 1e+100, not '0 0'"),
        (JOINT.format('<origin rpy="0 0 1e999"/>'), "5:1: 'rpy' of <origin> must be 3 numbers"),
        (JOINT.format('<origin rpy="0 0 1_0"/>'), "5:1: 'rpy' of <origin> must be 3 numbers"),
        (
            JOINT.format('<origin rpy="0 0 ${pi/2}"/>'),
            "5:1: 'rpy' of <origin> must be 3 numbers up to 1e+100, not '0 0",
        ),
        (JOINT.format('<origin quat_xyzw="0 0 0 1"/>'), "5:1: quaternions are not read: write 'rpy'"),
        (JOINT.format("<origin/><origin/>"), "5:10: a second <origin> in one <joint>"),
        (JOINT.format('<limit lower="inf"/>'), "5:1: 'lower' of <limit> must be a number up to 1e+100, not 'inf'"),
        (JOINT.format('<dynamics damping="-1"/>'), "5:1: 'damping' of <dynamics> must be at least 0, it is -1"),
        (BODY.format(TENSOR), "1:32: missing element <mass> in <inertial>"),
        (BODY.format('<mass value="1"/>'), "1:32: missing element <inertia> in <inertial>"),
        (BODY.format(TENSOR + "<mass/>"), "2:59: missing attribute 'value' of <mass>"),
        (BODY.format(TENSOR + '<mass value="-1"/>'), "2:59: 'value' of <mass> must be at least 0, it is -1"),
        (
            BODY.format('<mass value="1"/>\n' + TENSOR.replace('iyy="1"', 'iyy="-1e-3"')),
            "3:1: 'iyy' of <inertia> must be at least 0, it is -0.001",
        ),
        (
            BODY.format('<origin rpy="0 0 0.7"/><mass value="1"/>' + TENSOR.replace('ixy="0"', 'ixy="2"')),
            "1:32: the link 'a' has an inertia that no body can have: it is negative about some axis",
        ),
    ],
)
def test_what_is_refused(text, wanted):
    """One line with the place, and nothing that follows from it."""
    (message,) = refusals(text)
    assert message.startswith(f"arm.urdf:{wanted}")


def test_every_mistake_at_once():
    text = """<robot name="r">
<link name="a"><inertial><mass value="x"/><inertia ixx="1"/></inertial></link>
<link name="b"/>
<joint name="j" type="ball"><parent link="a"/><child link="c"/><origin xyz="1 2"/></joint>
</robot>"""
    messages = refusals(text)
    assert len(messages) == 9  # mass, five entries, type, child, origin
    assert [int(message.split(":")[1]) for message in messages] == [2] * 6 + [4] * 3


@pytest.mark.slow
def test_too_many_links():
    """A massless root is the base and does not count."""

    def chain(count):
        links = "".join(f'<link name="l{i}"/>' for i in range(count))
        joints = "".join(
            f'<joint name="j{i}" type="fixed"><parent link="l{i}"/><child link="l{i + 1}"/></joint>'
            for i in range(count - 1)
        )
        return f'<robot name="r">{links}{joints}</robot>'

    turning = chain(limits.MOVING + 2).replace('type="fixed"', 'type="continuous"')
    (message,) = refusals(turning)
    assert f"links with coordinates, at most {limits.MOVING} are allowed" in message
    assert len(loaded(chain(limits.LINKS + 1)).links) == limits.LINKS
    heavy = f'<link name="l0"><inertial><mass value="1"/>{TENSOR}</inertial></link>'
    for text in (chain(limits.LINKS + 2), chain(limits.LINKS + 1).replace('<link name="l0"/>', heavy)):
        (message,) = refusals(text)
        assert f"links, at most {limits.LINKS} are allowed" in message
    # What would be written is what can be read.
    inertial = re.sub("<link.*?><", "<", heavy).removesuffix("</link>")
    (message,) = refusals(re.sub(r"(<link name=.l\d+.)/>", rf"\1>{inertial}</link>", chain(limits.LINKS - 1)))
    assert "the robot file is too large: join links that do not move (more than 20000 values)" in message


def test_what_is_turned_has_no_more_digits_than_it_was_written_with():
    """A body alike about its joint's axis, whatever this is; and what is turned back."""
    joint = '<joint name="j" type="continuous"><parent link="w"/><child link="a"/>{}<axis xyz="{}"/></joint>'
    body = '<link name="w"/><link name="a"><inertial>{}<mass value="1"/>{}</inertial></link>'
    tensor = '<inertia ixx="1e-5" ixy="0" ixz="0" iyy="2e-5" iyz="0" izz="2e-5"/>'
    text = '<robot name="r">' + body.format("", tensor) + joint.format("", "0 1 1") + "</robot>"
    assert "rpy: [-0.7853981633974483, 0, 0]" in converted(text).text
    assert yaml.safe_load(converted(text).text)["links"][0]["rigid"] == {
        "mass": 1, "inertia": {"Ixx": "1e-05", "Iyy": "2e-05", "Izz": "2e-05"}
    }  # fmt: skip
    back = joint.format('<origin xyz="0.1 0.2 0.3" rpy="0.1 0.2 0.3"/>', "1 2 3")
    ball = tensor.replace("1e-5", "2e-5")
    for place in ('<origin xyz="0.1 0.2 0.3" rpy="0.3 0.7 -0.2"/>', '<origin xyz="0.1 0.2 0.3"/>'):
        (link,) = yaml.safe_load(converted('<robot name="r">' + body.format(place, ball) + back + "</robot>").text)[
            "links"
        ]
        assert link["rigid"]["inertia"] == {"Ixx": "2e-05", "Iyy": "2e-05", "Izz": "2e-05"}
        assert link["pose"]["xyz"] == [0.1, 0.2, 0.3]
    with localcontext(Context(prec=2, traps=[Inexact])):  # whatever decimals a caller is used to
        again = converted('<robot name="r">' + body.format(place, ball) + back + "</robot>").text
    assert yaml.safe_load(again)["links"] == [link]


def test_noise_of_cad_programs_is_no_negative_inertia():
    noise = TENSOR.replace('ixx="1"', 'ixx="-5.4e-20"')
    text = BODY.format('<mass value="1"/>' + noise)
    assert yaml.safe_load(converted(text).text)["links"][0]["rigid"]["inertia"] == {"Iyy": 1, "Izz": 1}
    assert "not carried: moments of inertia between -1e-15 and 0 (1: 'a')" in converted(text).notes


def test_rounding_is_no_negative_inertia():
    """A thin rod at an angle of 1 rad in axes that are turned back by it: its moment comes out as -1e-16."""
    c, s = math.cos(1), math.sin(1)
    tensor = f'<inertia ixx="{s * s!r}" iyy="{c * c!r}" izz="1" ixy="{-c * s!r}" ixz="0" iyz="0"/>'
    inertia = loaded(BODY.format(f'<origin rpy="0 0 -1"/><mass value="1"/>{tensor}')).links[0].rigid.inertia
    assert inertia.Ixx.text == "0"
    assert float(inertia.Iyy.text) == pytest.approx(1, rel=ROUNDING)


def test_names_that_change_are_listed():
    text = """<robot name="r"><link name="root"/><link name="world"/><link name="a b"/>
        <joint name="t" type="continuous"><parent link="root"/><child link="world"/></joint>
        <joint name="1" type="continuous"><parent link="world"/><child link="a b"/></joint></robot>"""
    notes = converted(text).notes
    assert "renamed links: 'world' to 'world_link', 'a b' to 'a_b'" in notes
    assert "renamed joints: 't' to 't_joint', '1' to '_1'" in notes
    assert [(link.name, link.joint.name) for link in loaded(text).links] == [("world_link", "t_joint"), ("a_b", "_1")]


def test_a_link_called_base_keeps_its_name():
    """And what hangs on the massless root beside it hangs on the world."""
    text = """<robot name="r"><link name="root"/><link name="base"/><link name="b"/><joint name="q1" type="continuous">
        <parent link="root"/><child link="base"/></joint><joint name="q2" type="continuous"><parent link="root"/>
        <child link="b"/></joint></robot>"""
    assert "the massless root link 'root' is the world" in converted(text).notes
    assert [(link.name, link.parent) for link in loaded(text).links] == [("base", None), ("b", "world")]


def test_very_many_kinds_are_counted():
    others = "".join(f"<other{i}/>" for i in range(50))
    notes = converted(f'<robot name="r"><link name="a"/>{others}</robot>').notes
    assert "not carried: elements 'other0' of 'robot' (1)" in notes
    assert "not carried: 30 more kinds of elements and attributes" in notes


def test_attributes_that_are_not_known_are_listed():
    text = JOINT.format('<axis xyz="0 0 1" rpy="0 0 0"/><dynamics damping="1" spring="3"/>')
    notes = converted(text).notes
    assert "not carried: attribute 'rpy' of 'axis' (1: 'j')" in notes
    assert "not carried: attribute 'spring' of 'dynamics' (1: 'j')" in notes


# -------------------------------------------------------------------------------------------------- reading


def test_reading_is_bounded(tmp_path, monkeypatch):
    file = tmp_path / "arm.urdf"
    file.write_text(ODD)
    assert read_xml(str(file), URDF_BYTES).text == ODD
    with pytest.raises(DescriptionError, match="1:1: larger than 1 kB"):
        read_xml(str(file), 1024)
    for content, terminal, wanted in ((b"<a/>", True, UsageError), (b"<a/>" * 300, False, DescriptionError)):
        stdin = io.TextIOWrapper(io.BytesIO(content))
        monkeypatch.setattr(stdin, "isatty", lambda terminal=terminal: terminal, raising=False)
        monkeypatch.setattr(sys, "stdin", stdin)
        with pytest.raises(wanted):
            read_xml("-", 1024)
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(UsageError, match="standard input is closed"):
        read_xml("-", 1024)


@pytest.mark.parametrize("argument", ["", "nosuch.urdf", "a\0b", "canadarm"])
def test_files_that_are_not_there(argument):
    with pytest.raises(UsageError, match="no file"):
        read_xml(argument, URDF_BYTES)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty: a URDF"),
        (b" \n", "empty: a URDF"),
        (b"<a/>\n\xff", "2:1: not UTF-8"),
        (b"<a>\x01", "1:4: the char"),
    ],
)
def test_files_that_are_no_text(tmp_path, content, message):
    file = tmp_path / "arm.urdf"
    file.write_bytes(content)
    with pytest.raises(DescriptionError, match=message):
        read_xml(str(file), URDF_BYTES)
    with pytest.raises(DescriptionError, match="a directory"):
        read_xml(str(tmp_path), URDF_BYTES)


def test_very_long_numbers_end_soon(monkeypatch):
    """They are refused by their length; float() would take minutes for the longest a file can hold."""
    monkeypatch.setattr(elements, "float", lambda text: pytest.fail("converted"), raising=False)
    (message,) = refusals(JOINT.format(f'<axis xyz="0 0 {"1" * 1000}"/>'))
    assert "must be 3 numbers" in message


@pytest.mark.parametrize("text", ["1e-400", "-.05e-0400", "0." + "0" * 40 + "7E-999", "9e-" + "9" * 50])
def test_numbers_too_small_for_doubles_are_refused(text):
    """As in robot files: what somebody has written is not 0."""
    (message,) = refusals(JOINT.format(f'<axis xyz="0 {text} 1"/>'))
    assert f"'xyz' of <axis>: '{text}' is too small for a floating point number" in message
    assert loaded(JOINT.format('<axis xyz="-0.0e-400 0e9 1"/><limit effort="0" velocity="0" lower="-1" upper="1"/>'))


def test_places_count_characters():
    root = parse_xml(description.Source("r.urdf", "<é>\n<a/> ü <b/></é>", None))
    assert [child.place for child in root.children] == [(2, 1), (2, 8)]


DECLARED = '<?xml version="1.0" encoding="{}"?><robot name="é"><link name="ü"/></robot>'


@pytest.mark.parametrize(
    "encoding",
    ["UTF-16", "utf-8", "UTF8", "us-ascii", "ASCII", "latin-1", "ISO-8859-1", "windows-1252", "Shift_JIS", "koi8-r"],
)
def test_a_declared_encoding_does_not_matter(encoding):
    """The text is decoded already."""
    assert loaded(DECLARED.format(encoding)).links[0].name == "ü"


@pytest.mark.parametrize(
    "encoding",
    ["zlib", "idna", "IDNA", "punycode", "unicode_escape", "raw-unicode-escape", "undefined", "charmap", "hex", "rot13",
     "klingon", "os.path"],
)  # fmt: skip
def test_an_encoding_that_no_file_has(encoding):
    """Unknown, or what Python alone calls one: packed bytes, names of hosts, letters in place of others."""
    assert refusals(DECLARED.format(encoding)) == [
        f"arm.urdf:1:1: unknown encoding '{encoding}': save the file as UTF-8, and write encoding=\"utf-8\""
    ]


# ---------------------------------------------------------------------------------------------------- slips

MASS = f'<mass value="1"/>{TENSOR}'


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (f'<robot name="r"><link name="a"><inertail>{MASS}</inertail></link></robot>',
         ["1:32: unknown element 'inertail' in <link>; did you mean 'inertial'?"]),
        (f'<robot name="r"><link name="a"><Inertial>{MASS}</Inertial></link></robot>',
         ["1:32: unknown element 'Inertial' in <link>; did you mean 'inertial'?"]),
        (f'<robot name="r"><link name="a"><inertia>{MASS}</inertia></link></robot>',
         ["1:32: unknown element 'inertia' in <link>; did you mean 'inertial'?"]),
        # What stands in it is read, and nobody says that it is missing.
        ('<robot name="r"><link name="a"><inertail><mas value="x"/></inertail></link></robot>',
         ["1:32: missing element <inertia> in <inertial>",
          "1:32: unknown element 'inertail' in <link>; did you mean 'inertial'?",
          "1:42: 'value' of <mass> must be a number up to 1e+100, not 'x'",
          "1:42: unknown element 'mas' in <inertial>; did you mean 'mass'?"]),
        (TWO_LINKS.format(f'<jiont name="j" type="fixed">{ENDS}<orgin xyz="1 2 3"/></jiont>'),
         ["4:1: unknown element 'jiont' in <robot>; did you mean 'joint'?",
          "4:65: unknown element 'orgin' in <joint>; did you mean 'origin'?"]),
        (JOINT.format('<origin xzy="1 2 3"/><limit lowr="1" upper="2"/>'),
         ["5:1: unknown attribute 'xzy' of <origin>; did you mean 'xyz'?",
          "5:22: unknown attribute 'lowr' of <limit>; did you mean 'lower'?"]),
        (JOINT.format("<limits/>"), ["5:1: unknown element 'limits' in <joint>; did you mean 'limit'?"]),
    ],
)  # fmt: skip
def test_misspelt_words_lose_nothing_in_silence(text, wanted):
    assert refusals(text) == [f"arm.urdf:{each}" for each in wanted]


def test_misspelt_words_that_are_not_carried_anyway():
    text = JOINT.format("<transmision/><safety_controler/>").replace(
        '<link name="a"/>', '<link name="a"><visuall/></link>'
    )
    notes = converted(text).notes
    assert "not carried: elements 'visuall' of 'link'; did you mean 'visual'? (1: 'a')" in notes
    assert "not carried: elements 'safety_controler' of 'joint'; did you mean 'safety_controller'? (1: 'j')" in notes


def test_words_of_dialects_are_no_slips():
    text = JOINT.format('<drake:joint/><limit lower="1" upper="2" gear_velocity="1" loweer="0"/>')
    notes = converted(text.replace("</robot>", '<loop_joint name="l"/></robot>')).notes
    assert "not carried: elements 'loop_joint' of 'robot' (1: 'l')" in notes
    assert "not carried: elements 'drake:joint' of 'joint' (1: 'j')" in notes
    assert "not carried: attribute 'gear_velocity' of 'limit' (1: 'j')" in notes


def test_a_document_type_that_is_but_a_name():
    """Nothing is declared by it, and no other file is meant; an entity stays unknown."""
    plain = '<robot name="r"><link name="a"/></robot>'
    assert loaded(f"<!DOCTYPE robot>\n{plain}") == loaded(plain)
    assert refusals('<!DOCTYPE robot>\n<robot name="&c;"/>') == ["arm.urdf:2:1: this is not XML: undefined entity"]
    for more in ("[]", 'SYSTEM "x.dtd"', 'PUBLIC "a" "x.dtd"', '[<!ENTITY c "d">]', '[<!ENTITY % c SYSTEM "d"> %c;]'):
        (refusal,) = refusals(f"<!DOCTYPE robot {more}>\n{plain}")
        assert "a document type (DOCTYPE) with declarations or another file is not allowed" in refusal


def test_a_file_of_another_name(tmp_path):
    (tmp_path / "arm.urdf").write_text("x")
    with pytest.raises(UsageError, match=r"did you mean '(.*[/\\])?arm\.urdf'\?"):
        read_xml(str(tmp_path / "arn.urdf"), URDF_BYTES)


# ------------------------------------------------------------------------------- joints that move in several ways

HEAVY = (
    '<inertial><origin xyz="0.1 -0.2 0.3" rpy="0.1 0.2 0.3"/><mass value="{}"/>'
    '<inertia ixx="0.3" iyy="0.4" izz="0.5" ixy="0.01" ixz="0.02" iyz="0.03"/></inertial>'
)
ARM_AND_HAND = f"""
<link name="trunk">{HEAVY.format(3)}</link>
<link name="arm">{HEAVY.format(2)}</link><link name="hand">{HEAVY.format(1)}</link>
<joint name="shoulder" type="continuous"><parent link="trunk"/><child link="arm"/>
<origin xyz="0 0.3 1" rpy="1 0.2 0"/><axis xyz="0 1 0"/></joint>
<joint name="wrist" type="prismatic"><parent link="arm"/><child link="hand"/>
<origin xyz="0.4 0 0"/><axis xyz="1 2 2"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
"""
SEVERAL = """<robot name="r"><link name="world">{}</link>{}
<joint name="free" type="{}"><parent link="world"/><child link="trunk"/>{}</joint></robot>"""


def equations_of_both(text, order, twist, names):
    """M and forces of weight of ours and of Pinocchio's, by our coordinates: ``twist`` (q) is what our rates of the
    first joint are in Pinocchio's, ``order`` their configuration."""
    import pinocchio as pin

    other = pin.buildModelFromXML(text)
    data = other.createData()
    robot = answers(text)[0]
    assert list(robot.coordinates) == names
    rng = np.random.default_rng(4)
    q = rng.uniform(-1, 1, robot.n)
    state, T = pin.neutral(other), np.eye(robot.n)
    first = other.joints[other.getJointId("free")]
    state[first.idx_q : first.idx_q + first.nq] = order(q)
    T[: first.nv, : first.nv] = twist(q)
    for name, value in zip(names[first.nv :], q[first.nv :], strict=True):
        joint = other.joints[other.getJointId(name)]
        state[joint.idx_q : joint.idx_q + joint.nq] = [value] if joint.nq == 1 else [np.cos(value), np.sin(value)]
    upper = np.triu(pin.crba(other, data, state))
    M = upper + np.triu(upper, 1).T
    g = pin.computeGeneralizedGravity(other, data, state)
    ours = answers(text)[1](q)
    close(ours[0], T.T @ M @ T, SNAPPED)
    close(ours[1], T.T @ g, SNAPPED)


def attitude(q):
    (cx, cy, cz), (sx, sy, sz) = np.cos(q[3:6]), np.sin(q[3:6])
    x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    return z @ y @ x, np.array([[1, 0, -sy], [0, cx, sx * cy], [0, -sx, cx * cy]])


@others
def test_a_floating_joint_in_the_root_makes_a_floating_base():
    import pinocchio as pin

    text = SEVERAL.format("", ARM_AND_HAND, "floating", "")
    base = [f"base.{word}" for word in ("x", "y", "z", "rx", "ry", "rz")]

    def twist(q):
        R, B = attitude(q)
        return np.block([[R.T, np.zeros((3, 3))], [np.zeros((3, 3)), B]])

    equations_of_both(
        text,
        lambda q: np.concatenate([q[:3], pin.Quaternion(attitude(q)[0]).coeffs()]),
        twist,
        [*base, "shoulder", "wrist"],
    )
    written = converted(text)
    assert "type: floating" in written.text
    assert any("'trunk' to 'base'" in note for note in written.notes)
    assert not any("origins" in note for note in written.notes)
    moved = converted(SEVERAL.format("", ARM_AND_HAND, "floating", '<origin xyz="0 0 1"/><dynamics damping="1"/>'))
    assert any("not carried: origins of a floating base" in note for note in moved.notes)
    assert any("elements 'dynamics' of planar and floating joints (1: 'free')" in note for note in moved.notes)


@pytest.mark.slow
@others
def test_a_floating_joint_elsewhere_is_six_joints():
    """On a root that has a mass of its own."""
    import pinocchio as pin

    text = SEVERAL.format(HEAVY.format(7), ARM_AND_HAND, "floating", '<origin xyz="1 2 3" rpy="0.3 0.2 0.1"/>')
    # Ours go by the chain: x, y, z, then about z, y, x.
    names = [f"free_{word}" for word in ("x", "y", "z", "rz", "ry", "rx")]
    swap = np.eye(6)[[0, 1, 2, 5, 4, 3]]

    def placed(q):
        return np.concatenate([q[:3], pin.Quaternion(attitude(swap @ q[:6])[0]).coeffs()])

    def twist(q):
        R, B = attitude(swap @ q[:6])
        return np.block([[R.T, np.zeros((3, 3))], [np.zeros((3, 3)), B]]) @ swap

    equations_of_both(text, placed, twist, [*names, "shoulder", "wrist"])


@others
def test_a_planar_joint_is_two_that_slide_and_one_that_turns():
    text = SEVERAL.format("", ARM_AND_HAND, "planar", '<origin xyz="1 2 3" rpy="0.3 0.2 0.1"/><axis xyz="0 0 1"/>')

    def twist(q):
        c, s = np.cos(q[2]), np.sin(q[2])
        return np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])

    names = ["free_x", "free_y", "free_rz", "shoulder", "wrist"]
    equations_of_both(text, lambda q: [q[0], q[1], np.cos(q[2]), np.sin(q[2])], twist, names)
    # In a plane across any axis: nothing moves along it.
    robot = answers(text.replace("0 0 1", "1 2 2"))[0]
    assert robot.coordinates == tuple(names)


def test_what_mimics_a_joint_of_several_ways_is_refused():
    mimic = '<axis xyz="0 1 0"/><mimic joint="free"/>'
    text = SEVERAL.format("", ARM_AND_HAND.replace('<axis xyz="0 1 0"/>', mimic), "planar", "")
    with pytest.raises(DescriptionError, match="'shoulder' mimics 'free', which moves in more ways than one"):
        converted(text)
