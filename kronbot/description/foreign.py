"""Words of other programs that a robot file does not know, and what says the same in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final


def _said(cure: str, words: str) -> dict[str, str]:
    """What follows "unknown key 'density'", by the words in small letters."""
    return dict.fromkeys(words.split(), f": {cure}")


_MATERIAL = "density rho mass_density linear_density mass_per_length rhoa mu material section cross_section geometry "
_MATERIAL += "shape area a volume size width height thickness diameter radius"
_ELASTIC = "e g i j iy iz ip iyy izz ixx eix eiy eiz ei_y ei_z young youngs_modulus young_modulus elastic_modulus "
_ELASTIC += "elasticity modulus shear_modulus poisson nu second_moment stiffness polar_moment"
_CENTRE = "cog cg center_of_mass centre_of_mass center centre origin"
_BODIES = "hub payload"
_SOLVER, _SOLVERS = (
    "simulate is asked for solver, rtol and atol, not the file",
    "solver integrator method rtol atol tolerance",
)

ROBOT: Final[Mapping[str, str]] = {
    **_said("numbers are in SI units, angles in radians", "unit units"),
    **_said("there are none; numbers that are used often may be 'parameters'", "material materials section sections"),
    **_said("the acceleration is gravity: [x, y, z] (m/s^2)", "g gravity_vector"),
    **_said("joints stand in their links", "joint joints actuators motors"),
    **_said("rows stand in their links as 'dh'", "dh dh_table dh_parameters"),
    **_said("the point of the robot is endpoint: {link: , position: }", "tool tcp ee end_effector tip flange"),
    **_said(_SOLVER, _SOLVERS),
}
LINK: Final[Mapping[str, str]] = {
    **_said("the mass of a link (kg) stands in its 'rigid' or 'flexible'", _MATERIAL),
    **_said("a joint is placed by pose: {xyz: [x, y, z], rpy: [roll, pitch, yaw]}", "origin placement transform"),
    **_said("a rigid body is rigid: {mass: , com: [x, y, z], inertia: {Ixx: , ...}}", "inertial body"),
    **_said("robots are drawn without them", "visual collision mesh meshes color colour"),
    **_said("a joint turns about z of its frame, or slides along it; pose: {rpy: } turns the frame", "axis"),
}
JOINT: Final[Mapping[str, str]] = {
    **_said("a joint turns about z of its frame, or slides along it; pose: {rpy: } turns the frame", "axis"),
    **_said("it is limits: [LOWER, UPPER]", "limit lower upper min max range qlim"),
    **_said("they are 'damping' (N m s) and friction: {coulomb: }", "dynamics"),
    **_said("a motor is rotor_inertia and gear", "motor actuator motor_inertia jm"),
    **_said("where joints are is asked as q, or follows from 'motion'", "initial q0 home position offset value"),
    **_said("no torque is limited here; 'control' has effort: [LOWER, UPPER]", "effort max_torque torque_limit"),
}
SHAFT: Final[Mapping[str, str]] = {
    **_said("a motor is rotor_inertia and gear of the joint", "motor inertia rotor rotor_inertia gear"),
}
FRICTION: Final[Mapping[str, str]] = {
    **_said("it is called coulomb here (N m or N)", "f_c fc dry kinetic dynamic torque mu"),
    **_said("viscous friction is 'damping' of the joint, beside 'friction'", "viscous damping f_v fv b"),
    **_said("it is called static here, with stribeck_rate", "f_s fs stiction breakaway break_away"),
    **_said("it is called smoothing here (rad/s or m/s)", "width eps epsilon regularization regularisation"),
}
MODES: Final[Mapping[str, str]] = {
    **_said("it is called torsion here", "t theta twist torsional phi rx"),
    **_said("bending is v (along y) and w (along z)", "bending y z x_y x_z flexural"),
    **_said("beams are inextensible here", "u x axial extension longitudinal"),
}
DH_ROW: Final[Mapping[str, str]] = {
    **_said("add it to theta, or to d of a joint that slides", "offset"),
    **_said("it is called a here", "r l length"),
}
SIMULATE: Final[Mapping[str, str]] = {
    **_said("it is called duration here (s)", "t_end tend t_final tfinal tf time stop end t"),
    **_said("it is called step here (s, between rows)", "dt timestep time_step sample_time ts h"),
    **_said(_SOLVER, _SOLVERS),
    **_said("it is drive: {q1: {pd: {kp: , kd: }}}, or 'control' beside 'simulate'", "controller controllers control"),
    **_said("it is asked as q and qd, or follows from 'motion'", "initial x0 q0 initial_state"),
}
DRIVE: Final[Mapping[str, str]] = {
    **_said("PID controllers stand in control: {JOINT: {pid: {kp: , ki: , kd: }}}, beside 'simulate'", "pid pi ki"),
    **_said("it is torque: 3, in N m or N", "force effort"),
}
_BOUNDS = "bounds bound limits lower upper min max range"
_PRIOR = "prior priors mean std deviation"
_VALUES = "values stand in the file's 'parameters', beside this block"
_BEHIND = "it is asked behind the command, not in the file"
FIT: Final[Mapping[str, str]] = {
    **_said(
        "what is fitted stands in parameters: {EI: , L: {from: 0, to: 1}}", "estimate estimates unknowns vary free"
    ),
    **_said("bounds stand in parameters: {EI: {from: 5, to: 30}}", f"{_BOUNDS} from to"),
    **_said("it stands in parameters: {EI: {prior: [MEAN, DEVIATION]}}", _PRIOR),
    **_said(_VALUES, "set start values guess"),
    **_said(_BEHIND, "order native plan candidates synthetic plot panels view report output format array"),
}
ESTIMATED: Final[Mapping[str, str]] = {
    **_said("bounds are from: 5 and to: 30 here", _BOUNDS),
    **_said("it is prior: [MEAN, DEVIATION]", "priors mean std deviation sigma"),
    **_said("the search begins at the value in the file's 'parameters'", "start value initial guess set"),
}
_ASKED = (
    "order q qd qdd tau force frame axes in inverse of terms generalized convergence lock inputs outputs closed_loop "
)
_ASKED += (
    "equilibrium motion duration step period response angles forces moments load loads distributed calibration solver "
)
_ASKED += (
    "buckling start algorithm rtol atol band lqr poles shaper weights effort noise deviation to shortest drive least "
)
_ASKED += "effort_limits limits robust after through follow seconds starts delta"
SWEEP: Final[Mapping[str, str]] = {
    **_said("options of the question stand in options: {order: 1}, each as it is written behind the command", _ASKED),
    **_said(_VALUES, "set"),
    **_said("what varies stands in over: {EI: 5:30:6}", "vary range ranges grid values parameters"),
    **_said("it is sample: 1024, of distributions in 'over'", "draws samples n"),
    **_said(_BEHIND, "native workers scheduler strict resume overwrite plot panels view output format array"),
}
BEAM: Final[Mapping[str, str]] = {
    **_said(
        "a beam has no material and no section, but mass (kg, rho*A*l), EI: {y: E*Iy, z: E*Iz} and GJ: G*J (N m^2)",
        f"{_MATERIAL} {_ELASTIC}",
    ),
    **_said("it belongs in the link, beside 'flexible'", _BODIES),
}
BODY: Final[Mapping[str, str]] = {
    **_said("a body has no material and no shape, but mass (kg), com (m) and inertia (kg m^2)", _MATERIAL),
    **_said("the centre of mass is com: [x, y, z] (m)", _CENTRE),
    **_said("it is called mass here (kg)", "m"),
    **_said("it is inertia: {Ixx: , Iyy: , Izz: } (kg m^2, at the centre of mass)", "i j inertia_tensor tensor moi"),
    **_said("it belongs in the link, beside the body", _BODIES),
}

# Values that have another name here.
VALUES: Final[Mapping[str, str]] = {
    word: ours
    for ours, words in {
        "revolute": "continuous r rotary rotational rotation hinge",
        "prismatic": "p linear slider sliding translational",
        "fixed": "rigid weld",
        "sinusoid": "sin sine cos cosine harmonic sinusoidal",
        "polynomial": "cubic quintic poly minimum-jerk",
        "trapezoid": "trapezoidal lspb",
        "via-points": "spline waypoints viapoints",
        "standard": "dh sdh classic classical distal",
        "modified": "mdh craig proximal",
    }.items()
    for word in words.split()
}
# What to write where a key of the file is missing.
NEEDED: Final[Mapping[str, str]] = {
    "kronbot": "a robot file begins with kronbot: 1",
    "gravity": "write gravity: [0, 0, -9.81] where z points up (m/s^2), [0, 0, 0] in space",
}
