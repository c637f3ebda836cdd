"""Responses of linear models, against python-control and closed forms."""

import warnings

import numpy as np
import pytest
from robots_in_tests import model

import kronbot
from kronbot.errors import ComputationError, UsageError
from kronbot.library.robot import Robot
from kronbot.mechanics.linear.responses import transfer
from kronbot.mechanics.linear.state_space import StateSpace
from kronbot.questions.linearize import outline

ARM = kronbot.load("canadarm-craig-bampton", order="1")
HELD = """
kronbot: 1
name: held
gravity: [0, 0, 0]
links:
  - name: block
    joint: {type: prismatic, name: q1}
    pose: {}
    rigid: {mass: 2}
control: {q1: {pid: {kp: 50, kd: 12}}}
"""


def test_responses_are_those_of_python_control():
    """Of every output to every input, over time and over frequency."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        control = pytest.importorskip("control")
    given = {
        "q": {"q1": 0.1, "q2": 0.5},
        "lock": "q3",
        "inputs": "torques,force",
        "outputs": "joints,endpoint,velocity:endpoint",
    }
    plain = ARM.linearize(**given)
    system = control.ss(*(plain[name] for name in "ABCD"))
    outputs, inputs = plain.arrays["C"].rows, plain.arrays["B"].columns
    for kind, ask in (("step", control.step_response), ("impulse", control.impulse_response)):
        found = ARM.linearize(**given, response=kind, duration=2)
        assert found["t"][-1] == pytest.approx(2, rel=1e-12) and len(found["t"]) >= 1001
        wanted = np.asarray(ask(system, found["t"], squeeze=False).outputs)
        for i, output in enumerate(outputs):
            for j, source in enumerate(inputs):
                scale = np.abs(wanted[i, j]).max()
                assert np.abs(found[f"{output}/{source}"] - wanted[i, j]).max() <= 1e-7 * scale + 1e-15
        assert list(found.series) == list(
            outline(ARM.model, {k: [v] for k, v in given.items()} | {"response": [kind]}).series
        )
    found = ARM.linearize(**given, response="frequency")
    wanted = np.asarray(system(1j * found["frequency"], squeeze=False))
    for i, output in enumerate(outputs):
        for j, source in enumerate(inputs):
            name = f"{output}/{source}"
            value = found[f"magnitude.{name}"] * np.exp(1j * np.radians(found[f"phase.{name}"]))
            assert np.abs(value - wanted[i, j]).max() <= 1e-6 * np.abs(wanted[i, j]).max()
    assert (found.summary["response"], found.units["frequency"]) == ("frequency", "rad/s")
    assert (found.units["magnitude.q1/torque.q1"], found.units["phase.q1/torque.q1"]) == ("rad/(N m)", "deg")


def test_a_block_that_a_controller_holds():
    """2 q'' + 12 q' + 50 q = f with zeta = 0.6: a step has the textbook's overshoot; without it f t^2/4."""
    robot = Robot(model(HELD))
    found = robot.linearize(closed_loop=True, response="step", duration=4)
    q = found["q1/torque.q1"]
    w, zeta = 5.0, 0.6
    wd = w * np.sqrt(1 - zeta**2)
    t = found["t"]
    decay = np.exp(-zeta * w * t)
    assert q == pytest.approx(0.02 * (1 - decay * (np.cos(wd * t) + zeta * w / wd * np.sin(wd * t))), abs=1e-12)
    assert found.units["q1/torque.q1"] == "m/N"
    assert robot.linearize(closed_loop=True, response="step")["t"][-1] == pytest.approx(2.51, abs=0.01)  # two periods
    free = robot.linearize(response="step", duration=3)
    assert free["q1/torque.q1"] == pytest.approx(free["t"] ** 2 / 4, abs=1e-12)
    hit = robot.linearize(response="impulse", outputs="joints,acceleration:q1")
    assert hit["q1/torque.q1"] == pytest.approx(hit["t"] / 2, abs=1e-12)
    assert hit.units["q1/torque.q1"] == "m/(N s)"
    assert any("left out at t = 0" in each for each in hit.warnings)
    seen = ["position:block", "velocity:block", "reaction:q1", "rate:q1", "power:q1"]
    told = robot.linearize(response="step", outputs=seen, inputs="force").units
    units = {"position.block.x": "m", "velocity.block.ry": "rad/s", "reaction.q1.fz": "N", "reaction.q1.mx": "N m"}
    units |= {"rate.q1": "m/s", "power.q1": "W"}
    assert {name: told[f"{name}/force.x"] for name in units} == {name: f"{unit}/N" for name, unit in units.items()}


@pytest.mark.parametrize("kind", ["step", "impulse"])
def test_rows_show_a_vibration_beside_what_dies_out_slowly(kind):
    """A block on a spring beside one that only a damper slows down: what follows is q = (1 - e^-bt cos wt + ...)/k."""
    beside = "{name: %s, joint: {type: prismatic, name: %s}, pose: {}, rigid: {mass: %s}}"
    slow = beside.replace("%s}, pose", "%s, damping: 0.1}, pose") % ("slow", "x", 2)
    head = "kronbot: 1\nname: two\ngravity: [0, 0, 0]\nparameters: {k: 5000}\nlinks:\n"
    swings = "{type: prismatic, name: y, damping: 0.2, spring: {stiffness: k}}, parent: world"
    fast = beside.replace("{type: prismatic, name: %s}", swings) % ("fast", 2)
    robot = kronbot.loads(f"{head}  - {slow}\n  - {fast}\nendpoint: {{link: slow}}\n")
    given = {"response": kind, "outputs": "joints", "inputs": "torques"}
    found, w = robot.linearize(**given), np.sqrt(2500 - 0.05**2)
    t, q = found["t"], found["y/torque.y"]
    assert t[-1] == pytest.approx(140, rel=1e-6) and len(t) > 10 * 50 * 140 / (2 * np.pi)
    decay = np.exp(-0.05 * t)
    right = decay * np.sin(w * t) / (2 * w)
    if kind == "step":
        right = (1 - decay * (np.cos(w * t) + 0.05 / w * np.sin(w * t))) / 5000
    assert q == pytest.approx(right, abs=1e-9 * np.abs(right).max()) and not found.warnings
    assert q.max() == pytest.approx(np.exp(-np.pi / 1000) / 2500 if kind == "step" else 0.01, rel=0.06)
    faster = robot.with_parameters(k=5e7)
    (warning,) = faster.linearize(**given).warnings
    assert "of about 796 Hz is too fast for rows that are 0.14 s apart: a duration of " in warning
    shorter = faster.linearize(**given, duration=float(warning.split(" of ")[-1].split(" s ")[0]))
    assert not shorter.warnings and shorter["t"][1] < 2 * np.pi / 5000 / 9


def test_responses_that_are_none_are_refused():
    for given, said in (
        ({"response": "stap"}, "response 'stap'; did you mean"),
        ({"duration": 1}, "duration goes with response"),
        ({"response": "frequency", "duration": 1}, "over time, not over frequency"),
        ({"response": "step", "q": {"q1": [0, 1]}}, "one point, not at rows"),
        ({"response": "step", "duration": -1}, "duration"),
    ):
        with pytest.raises(UsageError, match=said):
            ARM.linearize(**given)
    text = HELD.split("control")[0].replace("[0, 0, 0]", "[-9.81, 0, 0]").replace("prismatic", "revolute")
    inverted = Robot(model(text.replace("mass: 2", "mass: 2, com: [1, 0, 0]")))
    assert inverted.linearize(response="step")["t"][-1] == pytest.approx(7 / np.sqrt(9.81), rel=1e-9)
    with pytest.raises(ComputationError, match="overflows"):
        inverted.linearize(response="step", duration=1e4)
    still = ARM.linearize(lock="all", response="step", inputs="torques")
    assert not still["q1/torque.q1"].any()
    assert " more columns of zeros (" in str(still)
    assert "all responses are 0" in still.plot().get_suptitle()


def test_a_table_of_responses_tells_small_ones_with_units():
    """Magnitudes that fall by twenty decades, beside frequencies that grow by ten, are no rounding of anything."""
    stiff = HELD.replace("kd: 12", "kd: 2e9").replace("kp: 50", "kp: 5e-2")
    robot = Robot(model(stiff))
    found = robot.linearize(closed_loop=True, response="frequency", inputs="torques", outputs="joints")
    omega, size = found["frequency"], found["magnitude.q1/torque.q1"]
    assert size == pytest.approx(1 / np.abs(0.05 + 2e9j * omega - 2 * omega**2), rel=1e-9)
    head, units, *rows = [line.split() for line in str(found).partition("11 of ")[2].splitlines()[1:13]]
    assert head == ["frequency", "magnitude.q1/torque.q1", "phase.q1/torque.q1"]
    assert units == ["rad/s", "Hz", "m/N", "deg"]
    assert [float(row[2]) for row in rows][-1] == pytest.approx(size[-1], rel=1e-5) and size[-1] < 1e-19
    assert [float(row[1]) * 2 * np.pi for row in rows] == pytest.approx([float(row[0]) for row in rows], rel=1e-5)


def test_what_is_within_the_error_of_its_solution_is_no_response():
    """Two states in parallel that cancel: x' = -x + u/3 each, seen as a difference of ten times one and of the sum."""
    A, B = -np.diag([1.0, 1.0, 3.0]), np.array([[1 / 3], [0.1], [1.0]])
    C = np.array([[0.3, -1.0, 0.0], [0.0, 0.0, 1e-30]])
    values = transfer(StateSpace(A, B, C, np.zeros((2, 1))), np.array([0.1, 1.0, 1e9]))
    assert not values[:, 0].any()
    assert np.abs(values[:, 1, 0]) == pytest.approx(1e-30 / np.hypot(3, [0.1, 1, 1e9]), rel=1e-12)
