"""The words that arguments and options choose from; importing them costs nothing, so that help and completion may."""

from typing import Final, Literal, get_args

Start = Literal["straight", "equilibrium"]
ShaperType = Literal["zv", "mzv", "zvd", "ei", "2hump_ei"]
Swept = Literal[
    "check", "kinematics", "jacobian", "hessian", "dynamics", "taylor", "linearize", "modes", "statics", "simulate",
    "design", "plan",
]  # fmt: skip

Fitted = Literal["statics", "simulate", "modes", "dynamics"]
Initial = Literal["rows", "file", "fitted"]
Loss = Literal["linear", "huber", "cauchy"]

ORDERS: Final = ("0", "1", "2", "exact")
AXES: Final = ("base", "body")
ALGORITHMS: Final = ("recursive", "composite")
INTEGRATORS: Final = ("cvodes", "rodas", "dop853", "radau")
STATIC_SOLVERS: Final = ("newton", "linear")
STARTS: Final = get_args(Start)
SWEPT: Final = get_args(Swept)
FITTED: Final = get_args(Fitted)
INITIALS: Final = get_args(Initial)
LOSSES: Final = get_args(Loss)
SHAPERS: Final = get_args(ShaperType)
INPUTS: Final = ("torques", "force", "elements", "outside")
PLANNED: Final = ("torque", "motion")
RESPONSES: Final = ("step", "impulse", "frequency")
LEAST: Final = ("effort", "change", "residual", "nearest")
EXPANDED: Final = ("M", "C_star", "g", "J_T", "J_R", "position")
# Of these, what is of a frame, and what is in axes that may turn with it.
SEEN: Final = ("J_T", "J_R", "position")
TURNED: Final = ("J_T", "J_R")
XYZ: Final = ("x", "y", "z")
RPY: Final = ("roll", "pitch", "yaw")
QUATERNION: Final = ("qx", "qy", "qz", "qw")
POSE: Final = (*XYZ, *RPY, *QUATERNION)
STYLES: Final = ("text", "latex", "python")
REALS: Final = ("double", "float")
TERMS: Final = 12
