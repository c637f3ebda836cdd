"""Pinocchio's side: its algorithms in a loop of C++, as its users run them, and called from Python."""

import ctypes
from pathlib import Path

import casadi
import numpy as np
from bench.building import NoLibrary, library, pointers

SOURCE = Path(__file__).with_name("pinocchio_loop.cpp")
# CasADi brings its own.
EIGEN = ("/usr/include/eigen3", "/usr/local/include/eigen3", Path(casadi.__file__).parent / "include" / "eigen3")
# As Pinocchio's own build says.
DEFINITIONS = (
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
)
# Function of the loop, shape of one answer in its memory, axes of the arrangement that the tasks want.
LOOPS = {
    "forward dynamics": ("forward", "n", (0, 1)),
    "inverse dynamics": ("inverse", "n", (0, 1)),
    "forward dynamics derivatives": ("forward_derivatives", "3nn", (0, 1, 3, 2)),
    "linearization": ("inverse_derivatives", "3nn", (0, 1, 3, 2)),
    "Jacobian": ("jacobian", "n6", (0, 2, 1)),
    "Hessian": ("hessian", "nn6", (0, 3, 2, 1)),
}


def loops(whole):
    """The compiled loops, with the algorithms of the library as shipped, or with ``whole`` compiled here for this very
    processor (minutes). Raises RuntimeError where something that they need is missing.
    """
    import pinocchio

    found = (folder / "include" for folder in Path(pinocchio.__file__).parents)
    headers = next((folder for folder in found if (folder / "pinocchio").is_dir()), None)
    eigen = next((folder for folder in EIGEN if (Path(folder) / "Eigen").is_dir()), None)
    if headers is None or eigen is None:
        raise RuntimeError("the headers of Pinocchio or of Eigen are not there")
    libraries = headers.parent / "lib"
    flags = ["-std=c++17", "-DNDEBUG", f"-I{headers}", f"-I{eigen}", *DEFINITIONS]
    if whole:
        flags += ["-O3", "-march=native"]
    else:
        flags += ["-O2", "-DPINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION"]
        flags += [f"-L{libraries}", "-lpinocchio_default", f"-Wl,-rpath,{libraries}"]
    try:
        return library(["g++", "clang++"], SOURCE.read_text(), flags, ".cpp")
    except NoLibrary as reason:
        raise RuntimeError(f"the loop in C++ does not compile: {reason}") from None


def demand_same_frame(arm):
    """The Jacobians are those of the last joint's frame."""
    R, p = arm.endpoint
    assert np.array_equal(R, np.eye(3)) and not p.any(), "the endpoint is not the frame of the last joint"


class InCpp:
    """Loops over all states in C++."""

    def __init__(self, arm, whole=False):
        demand_same_frame(arm)
        self.n, self.library = arm.n, loops(whole)
        links = [
            np.concatenate([*map(np.ravel, (at.R, at.p, at.mass, at.com, at.inertia, at.rotor))]) for at in arm.links
        ]
        self.library.arm.restype = ctypes.c_void_p
        made = self.library.arm(arm.n, *pointers(np.array(links), np.ascontiguousarray(arm.gravity)))
        self.arm = ctypes.c_void_p(made)

    def batch(self, task, states):
        name, letters, axes = LOOPS[task]
        function = getattr(self.library, name)
        function.restype = None
        shape = tuple({"n": self.n}.get(letter) or int(letter) for letter in letters)
        states = [np.ascontiguousarray(rows) for rows in states]
        out = np.zeros((len(states[0]), *shape))
        arguments = [self.arm, ctypes.c_long(len(out)), *pointers(*states, out)]
        return (lambda: function(*arguments)), lambda: out.transpose(axes)

    def single(self, task, states):
        return None


class InPython:
    """Calls of the Python package, and the batches that it has itself: a loop in C++ over columns."""

    def __init__(self, arm):
        import pinocchio

        demand_same_frame(arm)
        self.pin = pinocchio
        self.model, parent = pinocchio.Model(), 0
        for i, at in enumerate(arm.links):
            placement = pinocchio.SE3(at.R, at.p)
            parent = self.model.addJoint(parent, pinocchio.JointModelRZ(), placement, f"joint{i + 1}")
            self.model.appendBodyToJoint(
                parent, pinocchio.Inertia(at.mass, at.com, at.inertia), pinocchio.SE3.Identity()
            )
        self.model.armature = np.array([at.rotor for at in arm.links])
        self.model.gravity.linear = arm.gravity
        self.data = self.model.createData()

    def batch(self, task, states):
        function = {"forward dynamics": "abaInParallel", "inverse dynamics": "rneaInParallel"}.get(task)
        if function is None:
            return None
        pool, columns = self.pin.ModelPool(self.model, 1), [np.asfortranarray(rows.T) for rows in states]
        out = np.zeros_like(columns[0])
        call = getattr(self.pin, function)
        return (lambda: call(1, pool, *columns, out)), lambda: out.T

    def single(self, task, states):
        pin, model, data, state = self.pin, self.model, self.data, [rows[0].copy() for rows in states]
        axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED

        def jacobian():
            pin.computeJointJacobians(model, data, *state)
            return pin.getJointJacobian(model, data, model.njoints - 1, axes)

        def hessian():
            pin.computeJointKinematicHessians(model, data, *state)
            return pin.getJointKinematicHessian(model, data, model.njoints - 1, axes)

        return {
            "forward dynamics": lambda: pin.aba(model, data, *state),
            "inverse dynamics": lambda: pin.rnea(model, data, *state),
            "forward dynamics derivatives": lambda: pin.computeABADerivatives(model, data, *state),
            "linearization": lambda: pin.computeRNEADerivatives(model, data, *state),
            "Jacobian": jacobian,
            "Hessian": hessian,
        }[task]
