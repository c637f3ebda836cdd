"""What a robot file may say: frozen dataclasses, whose types the validator reads.

Numbers stay exact expressions. SI units, angles in radians. Shape and type are judged here; references, names, signs
and physics in ``rules``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, ClassVar, Literal, TypeVar

from kronbot.description import foreign, scalars
from kronbot.description.choices import Start
from kronbot.description.controlling import Control
from kronbot.description.element import Element
from kronbot.description.entries import ZERO, ZEROS, Count, Definition, Name, Prose, Quantity, Text, Vector
from kronbot.description.fitting import Fit
from kronbot.description.forcing import Push
from kronbot.description.in_time import InTime
from kronbot.description.joint import Joint
from kronbot.description.marks import LIST_OR_VALUE, MAPPING_OR_VALUE, Check, Field, Tag
from kronbot.description.moving import Motion
from kronbot.description.sweeping import Sweep
from kronbot.description.wording import Entries
from kronbot.records import dataclass

T = TypeVar("T")

Angles = dict[str, tuple[Quantity, ...]]
ByJoint = dict[str, Quantity]

ShapeName = Literal["clamped-free", "clamped-mass", "polynomial", "legendre", "craig-bampton"]
Ratio = Annotated[Annotated[Quantity, Tag("<value>")] | Annotated[tuple[Quantity, ...], Tag("<list>")], LIST_OR_VALUE]


@dataclass(frozen=True)
class DH:
    """One Denavit-Hartenberg row; the joint coordinate adds to theta (revolute) or d (prismatic)."""

    a: Annotated[Quantity, Field(description="length along x, m")]
    d: Annotated[Quantity, Field(description="offset along z, m")]
    alpha: Annotated[Quantity, Field(description="twist about x, rad")]
    theta: Annotated[Quantity, Field(description="angle about z, rad")]
    foreign: ClassVar[Mapping[str, str]] = foreign.DH_ROW


@dataclass(frozen=True)
class Placement:
    """A pose in the parent's tip frame: translation, then Rz(yaw) Ry(pitch) Rx(roll)."""

    xyz: Annotated[Vector, Field(description="translation, m")] = ZEROS
    rpy: Annotated[Vector, Field(description="roll, pitch, yaw, rad")] = ZEROS


@dataclass(frozen=True)
class Inertia:
    """Entries of the inertia tensor at the centre of mass (Ixy is the entry itself, not negated)."""

    Ixx: Annotated[Quantity, Field(description="kg m^2")] = ZERO
    Iyy: Annotated[Quantity, Field(description="kg m^2")] = ZERO
    Izz: Annotated[Quantity, Field(description="kg m^2")] = ZERO
    Ixy: Annotated[Quantity, Field(description="kg m^2")] = ZERO
    Ixz: Annotated[Quantity, Field(description="kg m^2")] = ZERO
    Iyz: Annotated[Quantity, Field(description="kg m^2")] = ZERO


@dataclass(frozen=True)
class Body:
    """A rigid body in the frame of the key that holds it (rigid: the row's frame, hub: root, payload: tip)."""

    mass: Annotated[Quantity, Field(description="mass, kg")] = ZERO
    com: Annotated[Vector, Field(description="centre of mass, m")] = ZEROS
    inertia: Annotated[Inertia, Field(description="tensor at the centre of mass, kg m^2")] = Inertia()
    foreign: ClassVar[Mapping[str, str]] = foreign.BODY


@dataclass(frozen=True)
class Base:
    """What links without a parent stand on: the frame that does not move, or a body that floats free in space."""

    type: Annotated[Literal["fixed", "floating"], Field(description="kind of base")]
    rigid: Annotated[Body | None, Field(description="the body of a floating base, in its frame")] = None

    @property
    def floats(self) -> bool:
        """Whether it moves: its position and its three angles are coordinates."""
        return self.type == "floating"


@dataclass(frozen=True)
class BendingStiffness:
    """Bending stiffness about the beam's own axes: z for v (deflection along y), y for w (along z)."""

    y: Annotated[Quantity, Field(description="E I_y, N m^2")] = ZERO
    z: Annotated[Quantity, Field(description="E I_z, N m^2")] = ZERO


@dataclass(frozen=True)
class Modes:
    """How many modes each deformation has."""

    v: Annotated[Count, Field(description="bending along y")] = 0
    w: Annotated[Count, Field(description="bending along z")] = 0
    torsion: Annotated[Count, Field(description="twist about x")] = 0
    foreign: ClassVar[Mapping[str, str]] = foreign.MODES


@dataclass(frozen=True)
class Tip:
    """The mass that shapes of ``clamped-mass`` carry at their end."""

    mass: Annotated[Quantity, Field(description="mass, kg")] = ZERO
    inertia: Annotated[Quantity, Field(description="moment of inertia about the bending axis, kg m^2")] = ZERO


@dataclass(frozen=True)
class TableFile:
    """A CSV file with the shapes of a beam, x, v1, ..., w1, ..., t1, ..."""

    file: Annotated[Text, Field(description="path relative to the robot file")]


Shape = Annotated[Annotated[ShapeName, Tag("<value>")] | Annotated[TableFile, Tag("<mapping>")], MAPPING_OR_VALUE]


@dataclass(frozen=True)
class StructuralDamping:
    """Modal damping by ratio, or Rayleigh damping alpha M + beta K; not both."""

    ratio: Annotated[Ratio | None, Field(description="of all modes, or a list in the order v, w, torsion")] = None
    alpha: Annotated[Quantity, Field(description="Rayleigh factor of mass, 1/s")] = ZERO
    beta: Annotated[Quantity, Field(description="Rayleigh factor of stiffness, s")] = ZERO


@dataclass(frozen=True)
class RobotDamping:
    """Damping that was measured on the whole robot, in place of that of its parts."""

    ratios: Annotated[Ratio, Field(description="of its modes by ascending frequency; the last holds for all further")]
    joints: Annotated[Literal["locked", "free"], Field(description="how they were in the measurement")] = "locked"
    at: Annotated[ByJoint, Field(description="where they were, rad or m; others at 0")] = field(default_factory=Entries)


@dataclass(frozen=True)
class Flexible:
    """A slender beam along x of the link's root frame."""

    mass: Annotated[Quantity, Field(description="mass of the beam, kg")] = ZERO
    EI: Annotated[BendingStiffness, Field(description="bending stiffness, N m^2")] = BendingStiffness()
    GJ: Annotated[Quantity, Field(description="torsional stiffness, N m^2")] = ZERO
    modes: Annotated[Modes, Field(description="number of modes")] = Modes()
    shape: Annotated[Shape, Field(description="family of shape functions, or a table of them")] = "clamped-free"
    polar_inertia: Annotated[Quantity, Field(description="polar mass moment per length, kg m")] = ZERO
    root: Annotated[Quantity, Field(description="rigid massless length before the beam, m")] = ZERO
    damping: Annotated[StructuralDamping, Field(description="structural damping")] = StructuralDamping()
    length: Annotated[Quantity | None, Field(description="of the beam, m; with standard DH it is a - root")] = None
    tip: Annotated[Tip | None, Field(description="tip mass of clamped-mass shapes; default: the payload")] = None
    foreign: ClassVar[Mapping[str, str]] = foreign.BEAM


@dataclass(frozen=True)
class Link:
    """One joint and what it carries."""

    name: Annotated[Text, Field(description="name of the link")]
    joint: Annotated[Joint, Field(description="joint between the parent and this link")]
    parent: Annotated[
        Text | None, Field(description="link, or world, the frame that does not move; default: the link before")
    ] = None
    dh: Annotated[DH | None, Field(description="Denavit-Hartenberg row; this or pose")] = None
    pose: Annotated[Placement | None, Field(description="placement of the joint; this or dh")] = None
    rigid: Annotated[Body | None, Field(description="the link as a rigid body")] = None
    flexible: Annotated[Flexible | None, Field(description="the link as a beam")] = None
    hub: Annotated[Body | None, Field(description="body in the root frame")] = None
    payload: Annotated[Body | None, Field(description="body in the tip frame")] = None
    foreign: ClassVar[Mapping[str, str]] = foreign.LINK


@dataclass(frozen=True)
class Endpoint:
    """The point and frame that commands speak of by default."""

    link: Annotated[Text | None, Field(description="link that carries it; default: the last")] = None
    position: Annotated[Vector, Field(description="position in the link's tip frame, m")] = ZEROS


@dataclass(frozen=True)
class PD:
    """Torque kp (target - q) + kd (rate of the target - qd), plus the rigid arm's gravity torque."""

    kp: Annotated[Quantity, Field(description="stiffness, N m/rad or N/m")]
    kd: Annotated[Quantity, Field(description="damping, N m s/rad or N s/m")]
    target: Annotated[Quantity | None, Field(description="rad or m; default: the joint's motion")] = None


@dataclass(frozen=True)
class JointDrive:
    """What moves one joint; exactly one of the three."""

    torque: Annotated[InTime | None, Field(description="torque or force, N m or N, or how it changes in time")] = None
    motion: Annotated[Motion | None, Field(description="the joint follows it exactly, the torque is an output")] = None
    pd: Annotated[PD | None, Field(description="a PD controller with gravity compensation")] = None
    foreign: ClassVar[Mapping[str, str]] = foreign.DRIVE


Drive = Annotated[
    Annotated[Literal["rigid-inverse-dynamics"], Tag("<value>")] | Annotated[dict[str, JointDrive], Tag("<mapping>")],
    MAPPING_OR_VALUE,
]


@dataclass(frozen=True)
class Simulate:
    """How ``simulate`` runs unless told otherwise."""

    duration: Annotated[Quantity | None, Field(description="s")] = None
    step: Annotated[Quantity | None, Field(description="time between rows of output, s")] = None
    drive: Annotated[Drive | None, Field(description="rigid arm's torques along the motion, or by joint")] = None
    forces: Annotated[tuple[Push, ...], Field(description="from outside, in time")] = ()
    start: Annotated[Start, Field(description="beams at first: straight, or at rest in their sag under gravity")] = (
        "straight"
    )
    foreign: ClassVar[Mapping[str, str]] = foreign.SIMULATE

    @property
    def by_joint(self) -> Mapping[str, JointDrive]:
        """The drives of single joints, where it is these that move the robot."""
        return self.drive if isinstance(self.drive, dict) else {}


@dataclass(frozen=True)
class Gauge:
    """A place on a beam where curvature is reported."""

    name: Annotated[Text, Field(description="name of the gauge")]
    link: Annotated[Text, Field(description="flexible link it sits on")]
    x: Annotated[Quantity, Field(description="distance from the beam's root, m")]


@dataclass(frozen=True)
class Load:
    """A dead load on a frame: it keeps its direction in the base frame."""

    frame: Annotated[Text, Field(description="endpoint, LINK (its tip frame), LINK:root or com:LINK")]
    force: Annotated[Vector, Field(description="base frame, N")] = ZEROS
    moment: Annotated[Vector, Field(description="base frame, N m")] = ZEROS


@dataclass(frozen=True)
class DistributedLoad:
    """A dead load along a beam."""

    link: Annotated[Text, Field(description="flexible link it acts on")]
    force: Annotated[Vector, Field(description="force per length, base frame, N/m")]


@dataclass(frozen=True)
class Statics:
    """The sweep: every combination of angles with every load; ``loads`` and ``distributed`` act in every case."""

    angles: Annotated[Angles, Field(description="by joint, rad or m")] = field(default_factory=Entries)
    forces: Annotated[tuple[Vector, ...], Field(description="at the endpoint, base frame, N")] = ()
    moments: Annotated[tuple[Vector, ...], Field(description="at the endpoint, base frame, N m")] = ()
    loads: Annotated[tuple[Load, ...], Field(description="further dead loads on frames")] = ()
    distributed: Annotated[tuple[DistributedLoad, ...], Field(description="dead loads along beams")] = ()
    gauges: Annotated[tuple[Gauge, ...], Field(description="where curvature is reported")] = ()
    calibration: Annotated[ByJoint | None, Field(description="where gauges read zero, without loads")] = None


@dataclass(frozen=True)
class RobotFile:
    """A whole robot file."""

    kronbot: Annotated[int, Check(scalars.version), Field(description="version of the format: 1")]
    name: Annotated[Name, Field(description="name of the robot")]
    gravity: Annotated[Vector, Field(description="acceleration in the base frame, m/s^2")]
    links: Annotated[tuple[Link, ...], Field(description="links, in the order of the coordinates")]
    base: Annotated[Base, Field(description="what the first link stands on; default: the frame that does not move")] = (
        Base("fixed")
    )
    convention: Annotated[
        Literal["standard", "modified"] | None,
        Field(description="of Denavit-Hartenberg rows; needed where there are any"),
    ] = None
    description: Annotated[Prose | None, Field(description="free text")] = None
    source: Annotated[Prose | None, Field(description="where the numbers come from")] = None
    parameters: Annotated[dict[str, Definition | None], Field(description="names; without a value: a free symbol")] = (
        field(default_factory=Entries)
    )
    elements: Annotated[tuple[Element, ...], Field(description="massless springs, dampers, actuators")] = ()
    endpoint: Annotated[Endpoint, Field(description="default: the tip frame of the last link")] = Endpoint()
    damping: Annotated[RobotDamping | None, Field(description="of the robot's modes, as measured")] = None
    motion: Annotated[dict[str, Motion], Field(description="by joint")] = field(default_factory=Entries)
    statics: Annotated[Statics, Field(description="sweep of the statics command")] = Statics()
    simulate: Annotated[Simulate, Field(description="settings of the simulate command")] = Simulate()
    control: Annotated[Control, Field(description="controllers of joints")] = Control()
    sweep: Annotated[Sweep | None, Field(description="what the sweep command asks")] = None
    fit: Annotated[Fit | None, Field(description="what the fit command asks")] = None
    foreign: ClassVar[Mapping[str, str]] = foreign.ROBOT
