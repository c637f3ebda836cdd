"""Parameters from a record of 10 s: kronbot's fit and mujoco.sysid (Gauss-Newton by finite differences over rollouts).

A planar arm of three links whose masses, inertias, rotors, dampers and spring are found from measured angles with noise
and given torques, 12 numbers. Friction is left out: MuJoCo's is a constraint, another model. MuJoCo takes steps of
order 4 with the torques in their middle; mujoco.sysid compares at every step, with straight lines between measurements,
so that estimates differ by a standard error or two.
"""

import numpy as np
from bench.timing import interleaved

NAMES = ("m1", "m2", "m3", "I1", "I2", "I3", "b1", "b2", "b3", "j2", "j3", "k1")
START = (3, 2, 1, 0.05, 0.03, 0.01, 0.5, 0.4, 0.2, 0.05, 0.03, 5)
TRUE = (3.3, 1.8, 1.2, 0.06, 0.025, 0.013, 0.6, 0.35, 0.25, 0.06, 0.025, 6)
NOISE, DURATION, STEP = 1e-3, 10.0, 0.01
JOINTS = ("q1", "q2", "q3")
# s, of MuJoCo: with four times that its estimates are further off, 4 standard errors.
TIMESTEP = 0.0025
ARM = """
kronbot: 1
name: swing
convention: modified
gravity: [9.81, 0, 0]
parameters: {NUMBERS}
links:
  - name: a
    joint: {type: revolute, name: q1, damping: b1, spring: {stiffness: k1}}
    dh: {a: 0, d: 0, alpha: 0, theta: 0}
    rigid: {mass: m1, com: [0.2, 0, 0], inertia: {Izz: I1}}
  - name: b
    joint: {type: revolute, name: q2, damping: b2, rotor_inertia: j2}
    dh: {a: 0.4, d: 0, alpha: 0, theta: 0}
    rigid: {mass: m2, com: [0.15, 0, 0], inertia: {Izz: I2}}
  - name: c
    joint: {type: revolute, name: q3, damping: b3, rotor_inertia: j3}
    dh: {a: 0.3, d: 0, alpha: 0, theta: 0}
    rigid: {mass: m3, com: [0.1, 0, 0], inertia: {Izz: I3}}
""".replace("NUMBERS", ", ".join(f"{name}: {value}" for name, value in zip(NAMES, START, strict=True)))
MJCF = """
<mujoco>
  <option timestep="TIMESTEP" integrator="RK4" gravity="9.81 0 0">
    <flag contact="disable" constraint="disable" limit="disable"/>
  </option>
  <compiler balanceinertia="true"/>
  <worldbody>
    <body name="a">
      <inertial pos="0.2 0 0" mass="3" diaginertia="1 1 0.05"/>
      <joint name="q1" axis="0 0 1" damping="0.5" stiffness="5"/>
      <body name="b" pos="0.4 0 0">
        <inertial pos="0.15 0 0" mass="2" diaginertia="1 1 0.03"/>
        <joint name="q2" axis="0 0 1" damping="0.4" armature="0.05"/>
        <body name="c" pos="0.3 0 0">
          <inertial pos="0.1 0 0" mass="1" diaginertia="1 1 0.01"/>
          <joint name="q3" axis="0 0 1" damping="0.2" armature="0.03"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator><motor name="u1" joint="q1"/><motor name="u2" joint="q2"/><motor name="u3" joint="q3"/></actuator>
  <sensor><jointpos name="s1" joint="q1"/><jointpos name="s2" joint="q2"/><jointpos name="s3" joint="q3"/></sensor>
</mujoco>
""".replace("TIMESTEP", f"{TIMESTEP:g}")  # fmt: skip


def torques(t):
    """Of the three joints (N, 3)."""
    first = 5 * np.sin(2.1 * t) + 3 * np.sin(5.3 * t + 1)
    second = 3 * np.sin(2.9 * t + 0.5) + 2 * np.sin(7.7 * t)
    return np.stack([first, second, np.sin(3.7 * t + 1) + 0.7 * np.sin(9.1 * t)], axis=1)


def record(robot):
    """Times, given torques, and angles with noise (N, 3): the true arm's, as the fit computes them."""
    from kronbot.model.variation import Variation
    from kronbot.questions.fitting.data import Columns, Named
    from kronbot.questions.fitting.simulate import SimulatedAnswers

    t = STEP * np.arange(round(DURATION / STEP) + 1)
    u = torques(t)
    table = {"t": t, **{f"torque.{name}": u[:, i] for i, name in enumerate(JOINTS)}}
    table |= dict.fromkeys(JOINTS, np.zeros(len(t)))
    variation = Variation.of(robot.model, NAMES)
    answers, _ = SimulatedAnswers.read(variation, Named(Columns(table), {}), (), "file")
    angles = answers.computed(np.array(TRUE, dtype=float))
    angles[1:] += NOISE * np.random.default_rng(0).standard_normal(angles[1:].shape)
    return t, u, angles


class Kronbot:
    """The fit of the library: data checked, errors of estimates and what cannot be known told."""

    def __init__(self):
        import kronbot

        self.robot = kronbot.loads(ARM)
        self.t, self.u, self.angles = record(self.robot)
        self.table = {"t": self.t, **{f"torque.{name}": self.u[:, i] for i, name in enumerate(JOINTS)}}
        self.table |= {name: self.angles[:, i] for i, name in enumerate(JOINTS)}

    def __call__(self):
        sigma = dict.fromkeys(JOINTS, NOISE)
        self.answer = self.robot.fit(self.table, question="simulate", sigma=sigma, initial="file")

    @property
    def found(self):
        return np.array([self.answer.at["parameters"][name] for name in NAMES])

    @property
    def errors(self):
        return np.asarray(self.answer["standard_errors"])


class Sysid:
    """mujoco.sysid.optimize with one of its optimizers."""

    def __init__(self, t, angles, optimizer):
        import mujoco
        from mujoco import sysid

        self.sysid, self.optimizer = sysid, optimizer
        spec = mujoco.MjSpec.from_string(MJCF)
        model = spec.compile()
        data = mujoco.MjData(model)
        start = sysid.create_initial_state(model, data.qpos, data.qvel, data.act)
        steps = TIMESTEP * np.arange(round(DURATION / TIMESTEP) + 1)
        middle = np.array([np.interp(steps + TIMESTEP / 2, t, column) for column in torques(t).T]).T
        control = sysid.TimeSeries(steps, middle)
        # What a step tells of its sensors, with the time of its end, is how the state was before it.
        measured = sysid.TimeSeries.from_names(t[:-1] + TIMESTEP, angles[:-1], model)
        sequences = sysid.ModelSequences("swing", spec, "record", start, control, measured)
        self.residual = sysid.build_residual_fn(models_sequences=[sequences])

    def parameters(self):
        sysid, params = self.sysid, self.sysid.ParameterDict()
        for name, value in zip(NAMES, START, strict=True):
            kind, number = name[0], int(name[1]) - 1
            body, joint = "abc"[number], JOINTS[number]

            def modify(spec, p, kind=kind, body=body, joint=joint):
                x = float(p.value[0])
                if kind == "m":
                    spec.body(body).mass = x
                elif kind == "I":
                    spec.body(body).inertia = [1.0, 1.0, x]
                elif kind == "b":
                    spec.joint(joint).damping = [x, 0.0, 0.0]
                elif kind == "j":
                    spec.joint(joint).armature = x
                else:
                    spec.joint(joint).stiffness = [x, 0.0, 0.0]

            params.add(sysid.Parameter(name, value, value / 5, 5 * value, modifier=modify))
        return params

    def __call__(self):
        found, _ = self.sysid.optimize(self.parameters(), self.residual, optimizer=self.optimizer, verbose=False)
        self.found = np.array([float(found[name].value[0]) for name in NAMES])


def compare(rounds):
    """Entries of both, and what is missing."""
    mine = Kronbot()
    programs, missing = {"kronbot": mine}, {}
    try:
        for optimizer in ("mujoco", "scipy_parallel_fd"):
            programs[f"mujoco.sysid, {optimizer}"] = Sysid(mine.t, mine.angles, optimizer)
    except (ImportError, AttributeError) as error:
        missing["mujoco.sysid"] = f"{error}; pip install 'mujoco[sysid]'"
    times = interleaved(programs, rounds)
    entries = []
    for name, program in programs.items():
        off = np.abs(program.found - mine.found) / mine.errors
        row = {"part": "identification", "who": name, "median_s": times[name].median, "best_s": times[name].best}
        over = times[name].over(times["kronbot"])
        entries.append(row | {"ratio": over["median"], "quartiles": over["quartiles"], "off": float(off.max())})
    return entries, missing
