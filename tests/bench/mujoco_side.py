"""MuJoCo's side: everything that the task does not need is switched off; in a loop of C, and called from Python."""

import ctypes
from pathlib import Path

import numpy as np
from bench.building import NoLibrary, library, pointers

SOURCE = Path(__file__).with_name("mujoco_loop.c")
OFF = ("CONSTRAINT", "CONTACT", "SENSOR", "ACTUATION", "SPRING", "DAMPER", "LIMIT", "WARMSTART", "EULERDAMP")
LOOPS = {"forward dynamics": ("forward", "n"), "inverse dynamics": ("inverse", "n"), "Jacobian": ("jacobian", "6n")}


def compiled_model(mujoco, arm):
    """The arm as a chain of bodies.

    Its compiler refuses two tensors of the Puma that no body can have, and a body without mass; it gets round numbers,
    and the right ones are written into the model that it made.
    """

    def quaternion(R):
        out = np.zeros(4)
        mujoco.mju_mat2Quat(out, np.ascontiguousarray(R).ravel())
        return out

    spec = mujoco.MjSpec()
    spec.option.gravity = arm.gravity
    for word in OFF:
        spec.option.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{word}", 0))
    body = spec.worldbody
    for i, at in enumerate(arm.links):
        body = body.add_body(name=f"link{i + 1}", pos=at.p, quat=quaternion(at.R))
        body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1], armature=at.rotor, name=f"joint{i + 1}")
        body.explicitinertial, body.mass, body.inertia = True, 1.0, [1.0, 1.0, 1.0]
    R, p = arm.endpoint
    body.add_site(name="endpoint", pos=p, quat=quaternion(R))
    model = spec.compile()
    for i, at in enumerate(arm.links, 1):
        principal, axes = np.diag(at.inertia), np.eye(3)
        if not np.array_equal(at.inertia, np.diag(principal)):
            principal, axes = np.linalg.eigh(at.inertia)
            axes[:, 0] *= np.linalg.det(axes)
        model.body_mass[i], model.body_inertia[i] = at.mass, principal
        model.body_ipos[i], model.body_iquat[i] = at.com, quaternion(axes)
        # What the compiler concluded from the round numbers.
        model.body_sameframe[i] = model.body_simple[i] = 0
    data = mujoco.MjData(model)
    mujoco.mj_setConst(model, data)
    return model, data


class InPython:
    """Calls of the Python package."""

    def __init__(self, arm):
        import mujoco

        self.n, self.mujoco = arm.n, mujoco
        self.model, self.data = compiled_model(mujoco, arm)

    def batch(self, task, states):
        return None

    def single(self, task, states):
        mujoco, model, data, state = self.mujoco, self.model, self.data, [rows[0].copy() for rows in states]

        def forward():
            data.qpos[:], data.qvel[:], data.qfrc_applied[:] = state
            mujoco.mj_forward(model, data)

        def inverse():
            data.qpos[:], data.qvel[:], data.qacc[:] = state
            mujoco.mj_inverse(model, data)

        J = np.zeros((6, self.n))

        def jacobian():
            data.qpos[:] = state[0]
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            mujoco.mj_jacSite(model, data, J[:3], J[3:], 0)

        return {"forward dynamics": forward, "inverse dynamics": inverse, "Jacobian": jacobian}.get(task)


class InC(InPython):
    """Loops over all states in C."""

    def __init__(self, arm):
        super().__init__(arm)
        folder = Path(self.mujoco.__file__).parent
        shared = next(iter(sorted(folder.glob("libmujoco.so*"))), None)
        if shared is None:
            raise RuntimeError("its library is not where it is expected")
        flags = ["-O2", f"-I{folder / 'include'}", str(shared), f"-Wl,-rpath,{folder}"]
        try:
            self.library = library(["cc", "gcc", "clang"], SOURCE.read_text(), flags, ".c")
        except NoLibrary as reason:
            raise RuntimeError(f"the loop in C does not compile: {reason}") from None

    def batch(self, task, states):
        if task not in LOOPS:
            return None
        name, letters = LOOPS[task]
        function = getattr(self.library, name)
        function.restype = None
        states = [np.ascontiguousarray(rows) for rows in states]
        out = np.zeros((len(states[0]), *({"n": self.n}.get(letter) or int(letter) for letter in letters)))
        handles = [ctypes.c_void_p(each._address) for each in (self.model, self.data)]
        arguments = [*handles, ctypes.c_long(len(out)), *pointers(*states, out)]
        return (lambda: function(*arguments)), lambda: out

    def single(self, task, states):
        return None
