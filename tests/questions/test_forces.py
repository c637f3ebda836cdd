"""Forces from outside in simulations: closed forms, the balance of energy, equilibria, tables, mistakes."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from thinned import rare, thinned

import kronbot
from kronbot.compute.native import policy
from kronbot.description import Source, load
from kronbot.errors import DescriptionError, UsageError
from kronbot.library.robot import Robot
from kronbot.model.build import build

pytestmark = pytest.mark.usefixtures("interpreted", "unmeasured")

BLOCK = """
kronbot: 1
name: block
gravity: [0, 0, 0]
parameters: {F: 3, t0: 0.5}
links:
  - {name: block, joint: {type: prismatic, name: s}, pose: {}, rigid: {mass: 2}}
simulate: {forces: [{frame: block, force: FORCE}]}
"""
PISTON = (
    "elements: [{name: piston, type: actuator, between: [world, block], points: [[0, 0, -9], [0, 0, 0]], force: FORCE}]"
)
# As a force from outside, a torque of the drive, and the force of an element.
WAYS = {
    "outside": BLOCK,
    "drive": BLOCK.replace("forces: [{frame: block, force: FORCE}]", "drive: {s: {torque: FORCE}}"),
    "element": BLOCK[: BLOCK.index("simulate")] + PISTON,
}
ACCELERATED = {
    "F": lambda t: 1.5 * t**2 / 2,
    "{type: step, value: F, start: t0, end: 2*t0}": lambda t: (
        1.5 * np.where(t < 0.5, 0, np.where(t < 1, (t - 0.5) ** 2 / 2, 0.125 + 0.5 * (t - 1)))
    ),
    "{type: sinusoid, amplitude: F, frequency: 4, phase: pi/2, offset: 1}": lambda t: (
        0.5 * (3 * (1 - np.cos(4 * t)) / 16 + t**2 / 2)
    ),
    "{type: sinusoid, amplitude: F, frequency: 4, start: t0}": lambda t: np.where(
        t < 0.5, 0, 1.5 * ((t - 0.5) / 4 - np.sin(4 * (t - 0.5)) / 16)
    ),
}


def pushed(way, force):
    """The text of a block that a force in time pushes in one of the ways."""
    if way == "outside":
        force = "[7, 1, F]" if force == "F" else re.sub("(value|amplitude|offset): ([^,}]+)", r"\1: [3, 1, \2]", force)
    return WAYS[way].replace("FORCE", force)


PUSHED = [("outside", "cvodes"), ("outside", "rodas"), ("drive", "dop853"), ("element", "cvodes")]
CONSTANT, STEP, *SWINGING = ACCELERATED


@pytest.mark.parametrize(
    ("force", "way", "solver"),
    thinned(
        [(force, *how) for force in ACCELERATED for how in PUSHED],
        [
            *((STEP, *how) for how in PUSHED),
            *((force, *how) for force, how in zip((CONSTANT, *SWINGING), PUSHED[1:], strict=True)),
            *((force, *PUSHED[0]) for force in SWINGING),
        ],
    ),
)
def test_a_block_is_pushed(force, way, solver):
    """m s'' = F(t), steps where they are; the work is what it has."""
    run = kronbot.loads(pushed(way, force)).simulate(2, 0.1, solver=solver, outputs="acceleration:s")
    assert run["s"] == pytest.approx(ACCELERATED[force](run["t"]), abs=1e-7)
    assert run["energy.work"] == pytest.approx(run["s_dot"] ** 2, abs=1e-6)
    assert np.abs(run["energy.balance"]).max() < 1e-6
    if "step" in force:
        assert run["acceleration.s"] == pytest.approx(1.5 * ((run["t"] >= 0.5) & (run["t"] < 1)), abs=1e-12)
    if way == "element":
        assert run["tension.piston"] == pytest.approx(-2 * run["acceleration.s"], abs=1e-9)


@pytest.mark.parametrize("way", thinned([*WAYS], ["drive"]))
def test_other_values_trace_nothing_anew(way):
    robot = kronbot.loads(pushed(way, "{type: step, value: F, start: t0}"))
    values = ((2, 0), (4, 0.25), (-1, 0.75))
    ends = [robot.with_parameters(F=F, t0=t0).simulate(1, 0.1, rtol=1e-11)["s"][-1] for F, t0 in values]
    assert ends == pytest.approx([0.5, 0.5625, -0.015625], abs=1e-8)
    kept = robot.model.parameters._structure.kept
    assert len([key for key in kept if key[1][0] == "equations"]) == 1


@pytest.mark.slow
def test_commands_that_know_no_time_have_an_element_as_it_is_at_first(tmp_path):
    """Its weight at rest, an equilibrium, a formula; a run in equilibrium starts in that, and goes with the force."""
    (tmp_path / "f.csv").write_text("-1,2\n1,6\n3,-4\n")
    springy = WAYS["element"].replace("name: s}", "name: s, spring: {stiffness: 50, rest: 0}}")
    waving = "{type: sinusoid, amplitude: F, frequency: 4, phase: pi/2, offset: 1}"
    for force, at_once in (("{file: f.csv}", 4), ("{file: f.csv, steps: true}", 2), (waving, 4)):
        (tmp_path / "robot.yaml").write_text(springy.replace("FORCE", force))
        robot = kronbot.load(str(tmp_path / "robot.yaml"))
        assert robot.dynamics(q=[0])["g"] == pytest.approx([-at_once])
        (written,) = robot.symbolic("python").dynamics()["g"]
        known = {"s": 0.0, "F": 3.0, "sin": math.sin, "sqrt": math.sqrt, "Abs": abs, "pi": math.pi}
        assert eval(written, {}, known) == pytest.approx(-at_once)  # noqa: S307
        assert robot.linearize(equilibrium=True, q=[at_once / 50], inputs="elements")["B"][-1] == pytest.approx([0.5])
        told = ["the force of piston changes in time: here it is that at t = 0"]
        assert [*robot.dynamics().warnings] == [*robot.linearize().warnings] == [*robot.modes().warnings] == told
        assert [*robot.taylor("g", 1).warnings] == [*robot.statics(tau={"s": 0}).warnings] == told
        assert [*robot.dynamics(q=[[0], [0.1]]).warnings] == [*robot.modes(q=[[0], [0.1]]).warnings] == told
        assert not robot.jacobian().warnings and not robot.simulate(0.1).warnings and not robot.taylor("M", 1).warnings
        functions = robot.export("bias", "jacobian")
        assert [*functions.warnings] == told and (force != waving or told[0] in functions.c()[1])
        if force == waving:  # along one line, whose length is that of its one component
            made: dict = {}
            exec(robot.export("bias", "linear_model", "forward_dynamics_derivatives").python(), made)
            for s in (-0.3, 0.2, -20.0):  # on either side of its other end
                assert made["bias"]([s], [0]) == pytest.approx(robot.dynamics(q=[s], qd=[0])["tau"])
                ((stiffness,),) = made["linear_model"]([s], [0.0], [0.0], [0.0], [0.0, 0.0, 0.0])[2]
                ((slope,),) = made["forward_dynamics_derivatives"]([s], [0.0], [0.0])[1]
                assert stiffness == pytest.approx(robot.linearize(q=[s])["K_L"][0, 0]) and slope == pytest.approx(-25)
        assert not robot.export("mass_matrix", "jacobian", "energy").warnings
        run = robot.simulate(2, 0.01, q=[at_once / 50], outputs="acceleration:s", rtol=1e-10)
        assert run["acceleration.s"][0] == pytest.approx(0, abs=1e-12)
        assert np.abs(run["s"] - at_once / 50).max() > 0.01 and run.summary["energy_drift"] < 1e-8
        left = 2 * run["s_dot"] ** 2 / 2 + 50 * (run["s"] ** 2 - run["s"][0] ** 2) / 2
        assert run["energy.work"] == pytest.approx(left, abs=1e-8)


def test_what_is_wrong_about_the_force_of_an_element_is_told_with_its_place(tmp_path):
    robot = tmp_path / "robot.yaml"

    def refused(force, *told):
        robot.write_text(WAYS["element"].replace("FORCE", force))
        with pytest.raises(DescriptionError) as caught:
            kronbot.load(str(robot))
        for each in told:
            assert each in str(caught.value)

    (tmp_path / "late.csv").write_text("t,F\n1,2\n3,4\n")
    refused("{file: late.csv}", "late.csv:2:1", "the force at t = 0 is wanted too: the table goes from t = 1 s to 3 s")
    refused("{file: gone.csv}", "robot.yaml:8:", "there is no file 'gone.csv' beside the robot file")
    refused("{type: step, value: F, start: 2, end: 1}", "robot.yaml:8:", "'end' must come after 2")
    refused("{type: sinusoid, amplitude: [1, 2, 3], frequency: 1}", "a number or an expression")
    (tmp_path / "short.csv").write_text("0,2\n3,4\n")
    robot.write_text(WAYS["element"].replace("FORCE", "{file: short.csv}"))
    with pytest.raises(UsageError, match=r"the table of the force of piston, 'short.csv', goes from t = 0 s to 3 s"):
        kronbot.load(str(robot)).simulate(4)
    moved = WAYS["element"].replace("FORCE", "{type: step, value: F}")
    along = kronbot.loads(moved + "\nmotion: {s: {type: sinusoid, amplitude: 1, frequency: 2}}")
    for question in (along.linearize_along, lambda: along.design(lqr=True, motion=True)):
        with pytest.raises(UsageError, match="the force of 'piston' changes in time: along a motion"):
            question()


@pytest.mark.slow
def test_a_muscle_moves_what_floats_and_no_momentum():
    """Energy with a force in time, a damper, a stop and a base that moves."""
    afloat = Path(__file__).parents[1] / "data" / "afloat.yaml"
    with policy.native("off"):
        run = kronbot.load(str(afloat), order=1).simulate(0.5, 0.05, rtol=1e-10, atol=1e-12, solver="dop853")
    assert run.summary["energy_drift"] < 1e-8 and run.summary["stop_events"] > 0
    assert np.abs(run["q"]).max() > 0.1 and run.summary["angular_momentum_change"] < 1e-9


SPUN = """
kronbot: 1
name: spun
gravity: [0, 0, 0]
links:
  - name: rod
    joint: {type: revolute, name: q, damping: 0.1}
    pose: {}
    rigid: {mass: 2, com: [0.5, 0, 0], inertia: {Izz: 0.1}}
simulate: {forces: [{frame: FRAME, force: [0, 2, 0], axes: AXES, at: [1, 0, 0]}]}
"""


@pytest.mark.parametrize(("axes", "lever"), [("body", lambda q: 1.0), ("base", np.cos)])
@pytest.mark.parametrize("frame", [rare("rod"), rare("endpoint"), "com:rod"])
def test_axes_and_the_point(axes, lever, frame):
    """(Izz + m c^2) q'' = 2 times the lever, which turns with the rod or does not; from its end or from its centre."""
    text = SPUN.replace("AXES", axes).replace("FRAME", frame)
    robot = kronbot.loads(text.replace("at: [1,", "at: [0.5,") if frame == "com:rod" else text)
    run = robot.simulate(1, 0.1, rtol=1e-10, atol=1e-12)

    def rate(t, y):
        return [y[1], (2 * lever(y[0]) - 0.1 * y[1]) / 0.6]

    done = solve_ivp(rate, (0, 1), [0, 0], t_eval=run["t"], rtol=1e-11, atol=1e-13)
    assert run["q"] == pytest.approx(done.y[0], abs=1e-8)


ARM = """
kronbot: 1
name: arm
convention: standard
gravity: [0, -9.81, 0]
links:
  - name: upper
    joint: {type: revolute, name: q1, damping: 0.4}
    dh: {a: 1, d: 0, alpha: pi/2, theta: 0.1}
    flexible: {mass: 3, EI: {z: 700}, modes: {v: 1}}
  - name: fore
    joint: {type: revolute, name: q2, damping: 0.2}
    dh: {a: 0.8, d: 0.1, alpha: 0, theta: 0.2}
    flexible: {mass: 2, EI: {y: 200, z: 300}, GJ: 80, modes: {v: 1, w: 1, torsion: 1}, polar_inertia: 0.01}
    payload: {mass: 0.5, com: [0.1, 0, 0.05]}
simulate:
  forces:
    - {frame: endpoint, force: {file: f.csv}, moment: {file: m.csv, steps: true}}
    - frame: com:upper
      force: {type: sinusoid, amplitude: [3, 4, 5], frequency: 9, offset: [1, 0, 0]}
      moment: {type: step, value: [0.5, 0.2, -1], start: 0.1, end: 0.25}
      axes: body
      at: [0, 0.1, 0]
"""
FORCES = "t,x,y,z\n0,0,0,1\n0.11,5,-3,2\n0.3,0,10,0\n1,1,1,1\n"
MOMENTS = "0,0,1,0\n0.21,1,0,0.5\n1,0,0,0\n"


def beside(tmp_path, text, **tables):
    for name, table in tables.items():
        (tmp_path / f"{name}.csv").write_text(table)
    return load(Source("arm.yaml", text, tmp_path))


def test_forces_are_inputs_of_the_linear_model():
    """What a run feels of them at t = 0, at any rates: B u and D u; the first one is the force on the endpoint."""
    first, second = np.array([3.0, 4, 5, 0.5, 0.2, -1]), np.array([0.3, -0.4, 2])
    text = (
        ARM[: ARM.index("  forces:")]
        + f"""  forces:
    - {{frame: com:upper, force: {first[:3].tolist()}, moment: {first[3:].tolist()}, axes: body, at: [0, 0.1, 0]}}
    - {{frame: endpoint, moment: {second.tolist()}}}
    - {{frame: endpoint, force: [1, 0, 0]}}
"""
    )
    words = "acceleration:endpoint,acceleration:q1,acceleration:com:fore,reaction:q2,rotation:fore"
    start = {"q": {"q1": 0.3, "q2": -0.8, "upper.v1": 0.05, "fore.t1": 0.1}, "qd": {"q1": 1.2, "fore.w1": -0.4}}
    pushed, free = (kronbot.loads(each, order="1") for each in (text, text[: text.index("simulate:")]))
    runs = [each.simulate(1e-3, 1e-3, outputs=words, solver="dop853", **start) for each in (pushed, free)]
    linear = pushed.linearize(**start, inputs="outside,force", outputs=words)
    inputs, outputs = list(linear.arrays["D"].columns), linear.arrays["D"].rows
    assert inputs[:3] == [f"force.{axis}" for axis in "xyz"]
    names = [f"outside.1.{word}" for word in ("fx", "fy", "fz", "mx", "my", "mz")]
    names += ["outside.2.mx", "outside.2.my", "outside.2.mz", "outside.3.fx", "outside.3.fy", "outside.3.fz"]
    assert inputs[3:] == names
    u = np.array([0, 0, 0, *first, *second, 1, 0, 0])
    felt = np.array([runs[0][name][0] - runs[1][name][0] for name in outputs])
    assert np.abs(felt).max() > 10
    assert linear["D"] @ u == pytest.approx(felt, abs=1e-9)
    assert linear["B"][:, 12:] == pytest.approx(linear["B"][:, :3], abs=1e-12)
    joint = linear.arrays["B"].rows.index("q1_dot")
    assert linear["B"][joint] @ u == pytest.approx(felt[outputs.index("acceleration.q1")], abs=1e-9)
    assert pushed.linearize()["B"].shape[1] == 2 + 3 + 12


@pytest.mark.parametrize(
    ("algorithm", "solver", "order"),
    [
        ("composite", "radau", "0"),
        rare("recursive", "dop853", "1"),
    ],
)
def test_energy_counts_the_work_of_forces(tmp_path, algorithm, solver, order, unmeasured):
    """Also where it is known: twists of the frames from the outputs, forces from the file, by the rule of Simpson."""
    robot = Robot(build(beside(tmp_path, ARM, f=FORCES, m=MOMENTS), order))
    tight = {"algorithm": algorithm, "solver": solver, "rtol": 1e-9, "atol": 1e-11}
    run = robot.simulate(0.4, 0.0005, outputs="velocity:endpoint,reaction:q1,rotation:upper:root", **tight)
    assert run.summary["energy_drift"] < 1e-8
    assert np.abs(run["energy.work"]).max() > 0.1
    # one force alone, so that its power is told by the outputs
    alone = ARM.replace(ARM[ARM.index("    - frame: com") :], "").replace("moment: {file: m.csv, steps: true}", "")
    robot = Robot(build(beside(tmp_path, alone.replace(", }", "}"), f=FORCES), order))
    run = robot.simulate(0.4, 0.0005, outputs="velocity:endpoint", **tight)
    rows = np.array([[float(each) for each in line.split(",")] for line in FORCES.splitlines()[1:]])
    force = np.array([np.interp(run["t"], rows[:, 0], column) for column in rows[:, 1:].T])
    power = sum(part * run[f"velocity.endpoint.{axis}"] for part, axis in zip(force, "xyz", strict=True))
    weights = np.full(801, 0.0005 / 3) * np.where(np.arange(801) % 2, 4, 2)
    weights[[0, -1]] /= 2
    assert run["energy.work"][-1] == pytest.approx(weights @ power, rel=1e-6)


@pytest.mark.slow
def test_what_a_force_holds_in_balance_rests(tmp_path):
    """In the equilibrium of statics under a dead force and moment, with its torques, nothing moves."""
    still = ARM[: ARM.index("simulate:")]
    load = [3, 8, -2, 0.4, 0, -0.3]
    found = kronbot.loads(still).statics(q=[0.3, -0.2], loads={"com:fore": load}, outputs="reaction:q1")
    torques = [repr(float(found[f"torque.{joint}"][0])) for joint in ("q1", "q2")]
    drive = f"drive: {{q1: {{torque: {torques[0]}}}, q2: {{torque: {torques[1]}}}}}"
    push = f"forces: [{{frame: com:fore, force: {load[:3]}, moment: {load[3:]}}}]"
    robot = kronbot.loads(f"{still}simulate:\n  {drive}\n  {push}\n")
    start = {name: float(found[name][0]) for name in robot.coordinates if name in found}
    run = robot.simulate(0.2, 0.05, q={"q1": 0.3, "q2": -0.2} | start, outputs="reaction:q1")
    for name in robot.coordinates:
        assert run[name] == pytest.approx(run[name][0], abs=1e-9)
    for part in ("fx", "fy", "fz", "mx", "my", "mz"):
        assert run[f"reaction.q1.{part}"] == pytest.approx(found[f"reaction.q1.{part}"][0], abs=1e-6)


@pytest.mark.slow
def test_loads_beside_the_file_are_its_forces_and_values():
    """By the argument or in the file, bit for bit the same rows; other values trace nothing anew."""
    numbers = ([0.0, 0.0, 3.0], [0.1, 0.2, -0.5])
    said = "simulate:\n  forces: [{frame: com:upper, force: [0, 0, 3], moment: [0.1, 0.2, -0.5]}]\n"
    bare = kronbot.loads(ARM[: ARM.index("simulate:")], order="1")
    asked = {"q": {"q1": 0.2}, "outputs": "reaction:q1", "rtol": 1e-8, "atol": 1e-10}
    given = bare.simulate(0.2, 0.05, loads={"com:upper": [*numbers[0], *numbers[1]]}, **asked)
    written = kronbot.loads(ARM[: ARM.index("simulate:")] + said, order="1").simulate(0.2, 0.05, **asked)
    for name in given.series:
        assert given[name] == pytest.approx(written[name], abs=1e-8), name
    twice = bare.simulate(0.2, 0.05, loads=[("com:upper", [0, 0, 6])], **asked)
    kept = [key for key in bare.model.parameters._structure.kept if key[1][0] == "equations"]
    assert len(kept) == 1 and abs(twice["q1"][-1] - given["q1"][-1]) > 1e-3
    with pytest.raises(UsageError, match="'base' does not move"):
        bare.simulate(0.1, 0.05, loads={"base": [1, 0, 0]})


def test_mistakes_are_told_at_once(tmp_path):
    wrong = ARM.replace("endpoint, force: {file: f.csv}", "endpont, force: {file: gone.csv}").replace(
        "end: 0.25", "end: 0.05"
    )
    wrong += "    - {frame: upper}\n    - {frame: fore, force: {type: stepp, value: [1, 0, 0]}, axes: bdy}\n"
    wrong += "    - {frame: fore, moment: [1, 2]}\n"
    with pytest.raises(DescriptionError) as error:
        beside(tmp_path, wrong, m=MOMENTS)
    told = str(error.value)
    for part in (
        "unknown frame 'endpont'", "gone.csv", "'end' must come after 0.1", "force or moment is wanted here",
        "did you mean 'step'", "did you mean 'body'", "3 values are wanted here, not 2",
    ):  # fmt: skip
        assert part in told, part
    with pytest.raises(DescriptionError, match=r"f.csv:2:.*four columns \(time, x, y, z\) are wanted"):
        beside(tmp_path, ARM, f="t,x,y,z\n0,1,2\n1,1,2\n", m=MOMENTS)


def test_nothing_is_extrapolated(tmp_path):
    robot = Robot(build(beside(tmp_path, ARM, f=FORCES, m=MOMENTS), "1"))
    with pytest.raises(UsageError, match=r"table of the force on endpoint, 'f.csv', goes from t = 0 s to 1 s.*moment"):
        robot.simulate(2, 0.1)
    lasting = ARM.replace("  forces:", "  duration: 2\n  forces:")
    longer = Robot(build(beside(tmp_path, lasting, f=FORCES, m=MOMENTS), "1"))
    assert "force on endpoint" in longer.check().summary["simulate"]
