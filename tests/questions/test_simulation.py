"""Simulation against independent runs, conservation laws and published behaviour."""

import json
import signal
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from oracles import Lagrangian
from random_robots import SPATIAL_ARM
from robots_in_tests import columns, model, run, shipped_robot
from thinned import rare

import kronbot
from kronbot.compute.native import policy
from kronbot.description import shipped_robots
from kronbot.errors import ComputationError, Interrupted, UsageError
from kronbot.mechanics.motion import one_step
from kronbot.mechanics.motion.integrators import INTEGRATORS, Cvodes
from kronbot.questions import grids

REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "canadarm.json").read_text())
JOINTS = ("q1", "q2", "q3")
TIPS = ("tip.upper.y", "tip.forearm.y", "tip.wrist.y")
COMPARED = ("t", "theta", "tip_deflection", "endpoint_xy", "torque")


@pytest.mark.parametrize(
    ("order", "algorithm", "seconds"),
    [("1", "composite", 4), rare("2", "recursive", 10)],
)
def test_canadarm_follows_the_independent_run(order, algorithm, seconds):
    """Angles and tip deflections each second within 1e-6 (the reference has 12 digits)."""
    with policy.native("off"):  # what a compiler takes is more than the run
        robot = shipped_robot("canadarm", order=order).model
        answer = run(robot, duration=seconds, step=1.0, rtol=1e-10, algorithm=algorithm)
    series, reference = answer.result.series, REFERENCE[{"1": "reference_m2_exact", "2": "reference_m2_second"}[order]]
    wanted = {name: np.array(rows)[: seconds + 1] for name, rows in (REFERENCE | reference).items() if name in COMPARED}
    assert np.abs(series["t"] - wanted["t"]).max() == 0
    assert np.abs(columns(series, *JOINTS) - wanted["theta"]).max() < 1e-6
    assert np.abs(columns(series, *TIPS) - wanted["tip_deflection"]).max() < 1e-6
    assert np.abs(columns(series, "endpoint.x", "endpoint.y") - wanted["endpoint_xy"]).max() < 1e-5
    torques = columns(series, "torque.q1", "torque.q2", "torque.q3")
    assert np.abs(torques - wanted["torque"]).max() < 1e-6  # given to 12 digits of up to 1000 N m
    assert answer.result.summary["energy_drift"] < 1e-9
    assert answer.result.summary["complete"] is True
    if seconds == 10:
        assert peaks(answer.result.summary) == PEAKS["2 clamped-free"]


# Peaks of the canadarm's motion at order 2, as `explain accuracy` tells them: m, m, mm, rad, rad, rad.
PEAKS = {
    "2 clamped-free": [0.1519, 0.0897, 0.606, 0.0212, 0.0347, 0.0125],
    "4 clamped-free": [0.1543, 0.0900, 0.616, 0.0213, 0.0382, 0.0135],
    "2 craig-bampton": [0.1551, 0.0905, 0.608, 0.0214, 0.0417, 0.0139],
}


def peaks(summary):
    tips = [summary[f"peak_deflection.{link}"] for link in ("upper", "forearm", "wrist")]
    turns = [summary[f"peak_deviation.{joint}"] for joint in JOINTS]
    return [*(round(each, 4) for each in tips[:2]), round(1e3 * tips[2], 3), *(round(each, 4) for each in turns)]


@pytest.mark.slow
def test_four_clamped_free_shapes_are_what_the_readme_says(unmeasured):
    text = shipped_robots()["canadarm"].read_text()
    four = kronbot.loads(text.replace("modes: {v: 2}", "modes: {v: 4}"))
    with policy.native("off"):
        summary = four.simulate(step=1.0, rtol=1e-6, atol=1e-8).summary  # within 2e-8 m and rad of those at 1e-8
    assert peaks(summary) == PEAKS["4 clamped-free"]


@pytest.mark.slow
def test_craig_bampton_shapes_come_close_to_a_fine_beam():
    """Two coordinates a link: peaks within 1 % of 16 finite elements, link 3 within 2.5 %, angles within 1.5 %."""
    with policy.native("off"):
        summary = run(kronbot.load("canadarm-craig-bampton").model, step=0.05).result.summary
    assert peaks(summary) == PEAKS["2 craig-bampton"]
    fine = REFERENCE["exudyn_fine_beam"]
    for link, peak, share in zip(("upper", "forearm", "wrist"), fine["peak_tip"], (0.01, 0.01, 0.025), strict=True):
        assert summary[f"peak_deflection.{link}"] == pytest.approx(peak, rel=share)
    for joint, peak in zip(JOINTS, fine["peak_dev_theta"], strict=True):
        assert summary[f"peak_deviation.{joint}"] == pytest.approx(peak, rel=0.015)


@pytest.mark.parametrize(("solver", "duration"), [rare("rodas", 0.1), ("dop853", 0.5)])
def test_other_integrators_agree_with_cvodes(solver, duration):
    """Under gravity and control: all integrators converge to the same motion."""
    robot = shipped_robot("khang", order="1").model
    asked = {"duration": duration, "step": 0.1, "rtol": 1e-9}
    series = [run(robot, solver=name, **asked).result.series for name in ("cvodes", solver)]
    assert np.abs(columns(series[0], *robot.coordinates) - columns(series[1], *robot.coordinates)).max() < 1e-7


@pytest.mark.slow
def test_a_free_spatial_arm_keeps_its_energy_and_momentum():
    """No gravity, damping or torque, at rtol 1e-10; the first axis is fixed, its momentum constant."""
    free = SPATIAL_ARM | {"gravity": [0, 0, 0]}
    robot, oracle = model(free, "2"), Lagrangian(free, 2)
    rates = dict(zip(robot.coordinates, (0.5, 0.3, *[0.05] * robot.n), strict=False))
    answer = run(robot, duration=1.0, step=0.25, rtol=1e-10, qd=rates)
    assert answer.result.summary["complete"] is True
    assert answer.result.summary["energy_drift"] < 1e-8
    series = answer.result.series
    q = columns(series, *robot.coordinates)
    qd = columns(series, *(f"{name}_dot" for name in robot.coordinates))
    momentum = np.array([(oracle.mass_matrix(a) @ b)[0] for a, b in zip(q, qd, strict=True)])
    about_axis = np.array([oracle.angular_momentum(a, b)[2] for a, b in zip(q, qd, strict=True)])
    rotors = np.array([link["joint"].get("rotor_inertia", 0) for link in free["links"]])
    assert not rotors.any()  # else the rotor's momentum would have to be added
    assert np.abs(momentum - momentum[0]).max() < 1e-9 * np.abs(momentum[0])
    assert np.abs(momentum - about_axis).max() < 1e-9 * np.abs(momentum[0])


def test_spin_up_runs_away_at_order_1_and_stiffens_at_order_2():
    """4 rad/s within 15 s: order 1 loses its stiffness, order 2 bends back and ends near zero."""
    first = run(kronbot.load("spin-up", order="1").model, duration=15.0, step=0.05)
    second = run(kronbot.load("spin-up", order="2").model, step=0.05)
    gone = first.result.series["tip.beam.y"]
    assert first.error is not None or np.abs(gone).max() > 8.0  # more than the beam is long
    tip, t = second.result.series["tip.beam.y"], second.result.series["t"]
    assert second.error is None
    assert -tip.min() == pytest.approx(0.53, abs=0.005)  # published with geometric stiffening: a little over 0.5 m
    assert np.abs(tip[t > 15]).max() == pytest.approx(0.008, abs=0.0005)  # the README's 8 mm


def test_prescribed_motion_is_followed_exactly_and_its_torque_reported():
    """A rigid pendulum forced to swing: the torque is I qdd + m g c cos q."""
    text = """
kronbot: 1
name: pendulum
convention: standard
gravity: [0, -9.81, 0]
links:
  - name: rod
    joint: {type: revolute, name: q1, damping: 0.3, rotor_inertia: 1e-3, gear: 10}
    dh: {a: 1, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 2, com: [-0.4, 0, 0], inertia: {Ixx: 0.05, Iyy: 0.1, Izz: 0.1}}
simulate:
  duration: 3
  drive: {q1: {motion: {type: sinusoid, amplitude: 0.7, frequency: 2, phase: 0.5, offset: 0.1}}}
"""
    series = run(model(text)).result.series
    t = series["t"]
    q, qd = 0.7 * np.sin(2 * t + 0.5) + 0.1, 1.4 * np.cos(2 * t + 0.5)
    inertia = 0.1 + 2 * 0.6**2 + 1e-3 * 100
    torque = inertia * -2.8 * np.sin(2 * t + 0.5) + 2 * 9.81 * 0.6 * np.cos(q) + 0.3 * qd
    assert np.allclose(series["q1"], q, atol=1e-14)
    assert np.allclose(series["q1_dot"], qd, atol=1e-14)
    assert np.allclose(series["torque.q1"], torque, atol=1e-12)
    assert np.abs(series["energy.balance"]).max() < 1e-5  # rtol 1e-8 of some 10 J, over 3 s


def test_pd_control_holds_a_rigid_arm_at_its_target():
    """Gravity compensation is exact for a rigid arm: no sag is left."""
    robot = kronbot.load("khang", order="0").model
    series = run(robot, duration=20.0).result.series
    assert series["qa"][-1] == pytest.approx(np.pi / 4, abs=1e-6)


@pytest.mark.parametrize(
    ("error", "kind"), [(KeyboardInterrupt, Interrupted), rare(ComputationError("x"), ComputationError)]
)
def test_what_there_is_when_a_run_stops_is_kept(error, kind, monkeypatch):
    """Ctrl-C and an integrator that gives up: the rows so far, marked incomplete."""
    follow = Cvodes.follow

    def stopping(self, *arguments):
        for number, block in enumerate(follow(self, *arguments)):
            if number == 20:
                raise error
            yield block

    robot = shipped_robot("canadarm", order="1").model
    whole = run(robot, duration=1.0, step=0.01).result.series
    monkeypatch.setattr(Cvodes, "follow", stopping)
    answer = run(robot, duration=1.0, step=0.01)
    assert isinstance(answer.error, kind)
    assert answer.result.summary["complete"] is False
    count = len(answer.result.series["t"])
    assert 40 <= count < 60
    assert answer.result.summary["end"] == whole["t"][count - 1]
    assert np.array_equal(answer.result.series["q1"], whole["q1"][:count])


MADE = [SystemError, RuntimeError, ValueError, ComputationError, None]


@pytest.mark.parametrize(
    ("solver", "becomes"),
    # Whatever it is called, an error is met above the integrators.
    [
        *(("cvodes", becomes) for becomes in MADE),
        *((solver, None) for solver in ("rodas", "dop853")),
        *(rare(solver, SystemError) for solver in ("rodas", "dop853", "radau")),
        rare("radau", None),
    ],
)
def test_a_ctrl_c_that_a_library_makes_something_of(solver, becomes, monkeypatch):
    """CasADi makes errors of many names of it, and destructors nothing: the rows so far are kept."""
    kind = INTEGRATORS[solver]
    follow = kind.follow

    def interrupted(self, *arguments):
        for block in follow(self, *arguments):
            if block.t >= 0.1:
                with suppress(KeyboardInterrupt):
                    signal.raise_signal(signal.SIGINT)
                if becomes is not None:
                    raise becomes("whatever")
            yield block

    monkeypatch.setattr(kind, "follow", interrupted)
    monkeypatch.setattr(one_step, "PAUSE", 0.0)
    answer = run(shipped_robot("khang").model, duration=1.0, step=0.001, solver=solver)
    assert isinstance(answer.error, Interrupted)
    assert answer.result.summary["complete"] is False
    assert 0.05 <= answer.result.series["t"][-1] < 0.2


def test_the_grid_ends_where_the_run_ends():
    """A duration that is no multiple of the step, and one that is only so in decimal."""
    assert grids.grid(1.0, 0.3).tolist() == pytest.approx([0, 0.3, 0.6, 0.9, 1.0])
    assert len(grids.grid(0.3, 0.1)) == 4
    assert len(grids.grid(10.0, 0.05)) == 201


def test_bad_questions_are_refused():
    """No duration anywhere, too many rows, a free parameter, an initial value of a prescribed joint."""
    with pytest.raises(UsageError, match="give duration"):
        run(kronbot.load("stacker").model)
    with pytest.raises(UsageError, match="rows"):
        run(shipped_robot("canadarm").model, step=1e-6)
    with pytest.raises(UsageError, match="m1.*parameters"):
        run(kronbot.load("stacker").model, duration=1.0)
    with pytest.raises(UsageError, match="waist"):
        run(kronbot.load("torso", order="0").model, duration=0.1, q={"waist": 0.3})


@pytest.mark.slow
def test_the_family_of_an_integrator_is_chosen_by_its_cost(monkeypatch):
    """Adams for an undamped arm, BDF for one with overdamped modes; the answers agree."""
    text = shipped_robots()["canadarm"].read_text()
    stiff = kronbot.loads(text.replace("shape: clamped-free", "damping: {ratio: 2}"), order="1").model
    made = []
    create = Cvodes.__init__
    monkeypatch.setattr(Cvodes, "__init__", lambda self, *held: made.append(self) or create(self, *held))
    for robot, family in ((kronbot.load("canadarm", order="1").model, "adams"), (stiff, "bdf")):
        run(robot, duration=2.0, step=0.05)
        assert list(made[-1].costs) == [family]


@pytest.mark.parametrize(("word", "value"), [("qd", 1e300), ("qd", 1e9), ("q", 1e13)])
def test_absurd_starts_are_refused_at_once(word, value):
    """Integrators would wear out on them for half a minute."""
    with pytest.raises(UsageError, match="q1 (starts|=) .* is the limit"):
        shipped_robot("canadarm").simulate(0.1, **{word: {"q1": value}})
