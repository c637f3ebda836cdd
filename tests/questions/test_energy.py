"""Masses and energies of a robot: hubs count, what drives and dampers do is in the balance."""

import numpy as np
import pytest
from oracles import Lagrangian
from scipy.integrate import solve_ivp
from yaml import safe_load

from kronbot import load, loads
from kronbot.questions.momenta import changes
from kronbot.questions.simulate import highlights

BEAM = """
kronbot: 1
name: beam
convention: standard
gravity: [0, 0, 0]
links:
  - name: b
    joint: {type: fixed}
    dh: {a: 1.3, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 1.2, EI: {y: 10, z: 7}, modes: {v: 1}, damping: {ratio: 0.03}}
"""


def test_hubs_payloads_beams_and_bodies_have_mass():
    text = BEAM.replace("damping: {ratio: 0.03}}", "}\n    hub: {mass: 0.5, com: [0, 0, 1]}\n    payload: {mass: 0.25}")
    rigid = (
        "  - {name: r, joint: {type: fixed}, dh: {a: 1, d: 0, alpha: 0, theta: 0}, rigid: {mass: 4}, hub: {mass: 8}}"
    )
    summary = loads(text + rigid).check().summary
    assert summary["total_mass"] == 1.2 + 0.5 + 0.25 + 4 + 8
    assert summary["length.b"] == 1.3


def test_modal_damping_takes_energy_at_its_rate():
    """One mode at order 1: q'' + 2 z w q' + w^2 q = 0; E(0) - E(t) is what the account calls dissipated."""
    robot = loads(BEAM, order="1")
    ratio, omega = 0.03, 1.8751040687**2 * np.sqrt(7 / (1.2 * 1.3**3))
    damped = omega * np.sqrt(1 - ratio**2)
    series = robot.simulate(duration=2.0, step=0.1, q={"b.v1": 0.02}, rtol=1e-10, atol=1e-13).series
    t = series["t"]
    decay, c, s = np.exp(-ratio * omega * t), np.cos(damped * t), np.sin(damped * t)
    q = 0.02 * decay * (c + ratio * omega / damped * s)
    rate = -0.02 * decay * omega**2 / damped * s
    assert series["b.v1"] == pytest.approx(q, abs=1e-8)
    mass = 1.2 / 4  # int phi^2 of a clamped-free mode with phi(l) = 1 is l/4
    energy = mass * (rate**2 + omega**2 * q**2) / 2
    assert series["energy.kinetic"] + series["energy.elastic"] == pytest.approx(energy, rel=1e-6)
    assert series["energy.dissipated"] == pytest.approx(energy[0] - energy, abs=1e-7 * energy[0])
    assert series["energy.dissipated"][-1] > 0.4 * energy[0]
    assert np.abs(series["energy.balance"]).max() < 1e-7 * energy[0]


ARM = """
kronbot: 1
name: arm
convention: standard
gravity: [0, -9.81, 0]
links:
  - name: upper
    joint: {type: revolute, name: q1, damping: 0.4}
    dh: {a: 1.1, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 2, EI: {y: 90, z: 70}, modes: {v: 2}, damping: {ratio: [0.02, 0.05]}, shape: legendre}
    hub: {mass: 0.5, com: [0.1, 0.2, 0]}
  - name: fore
    joint: {type: revolute, name: q2, damping: 0.1}
    dh: {a: 0.8, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 0.7, com: [-0.3, 0, 0]}
simulate: {drive: {q1: {torque: 12}}}
"""


def test_energies_are_those_of_particles():
    """Kinetic, elastic and gravity by the oracle at every row; work and losses as integrals of the oracle's powers."""
    robot = loads(ARM)
    series = robot.simulate(duration=0.8, step=0.001, q={"q2": 0.4}, rtol=1e-9, atol=1e-11).series
    oracle = Lagrangian(safe_load(ARM), 2)
    q = np.column_stack([series[name] for name in robot.coordinates])
    qd = np.column_stack([series[f"{name}_dot"] for name in robot.coordinates])
    for i in (0, 400, 800):
        assert series["energy.kinetic"][i] == pytest.approx(oracle.kinetic_energy(q[i], qd[i]), rel=1e-10, abs=1e-14)
        assert series["energy.elastic"][i] == pytest.approx(oracle.elastic_energy(q[i]), rel=1e-10, abs=1e-14)
        assert series["energy.gravity"][i] == pytest.approx(oracle.gravity_energy(q[i]), rel=1e-10, abs=1e-14)
    weights = np.full(len(q), 0.001 / 3) * np.where(np.arange(len(q)) % 2, 4, 2)  # Simpson's rule
    weights[[0, -1]] /= 2
    lost = weights @ np.einsum("ti,ij,tj->t", qd, oracle.damping, qd)
    beams = oracle.damping.copy()
    beams[[0, 3]] = 0
    assert weights @ np.einsum("ti,ij,tj->t", qd, beams, qd) > 1e-3 * lost
    assert series["energy.dissipated"][-1] == pytest.approx(lost, rel=1e-6)  # the rule's error on the second mode
    assert series["energy.work"][-1] == pytest.approx(12 * (q[-1, 0] - q[0, 0]), rel=1e-8)
    assert np.abs(series["energy.balance"]).max() < 1e-6


PD = """
kronbot: 1
name: slider
convention: standard
gravity: [0, 0, 0]
links:
  - name: block
    joint: {type: prismatic, name: s}
    dh: {a: 0, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 2}
motion: {s: {type: sinusoid, amplitude: 0.3, frequency: 4, phase: 0.5, offset: 0.1}}
simulate: {drive: {s: {pd: {kp: 50, kd: 7}}}}
"""


def test_pd_control_knows_the_rate_of_its_target():
    """m s'' = kp (target - s) + kd (target' - s'), integrated apart; it starts on the target with its rate."""
    series = loads(PD).simulate(duration=3.0, step=0.25, rtol=1e-10, atol=1e-12).series

    def target(t):
        return 0.1 + 0.3 * np.sin(4 * t + 0.5), 1.2 * np.cos(4 * t + 0.5)

    def force(t, s, rate):
        wanted, wanted_rate = target(t)
        return 50 * (wanted - s) + 7 * (wanted_rate - rate)

    done = solve_ivp(
        lambda t, y: [y[1], force(t, *y) / 2], (0, 3), target(0), t_eval=series["t"], rtol=1e-11, atol=1e-13
    )
    assert series["s"] == pytest.approx(done.y[0], abs=1e-8)
    assert series["s_dot"] == pytest.approx(done.y[1], abs=1e-7)
    assert series["torque.s"] == pytest.approx(force(series["t"], *done.y), abs=1e-6)


def test_a_robot_at_rest_does_not_drift():
    """Energy that is held counts: the balance of a pendulum that its drive holds is rounding of 4.65 J."""
    robot = loads("""
kronbot: 1
name: held
convention: standard
gravity: [0, -9.81, 0]
links:
  - {name: arm, joint: {type: revolute, name: q}, dh: {a: 1, d: 0, alpha: 0, theta: 0}, rigid: {mass: 2.386}}
motion:
  q: {type: cycloidal, from: 0.2, to: 0.2, duration: 1}
""")
    summary = robot.simulate(1, 0.1).summary
    assert summary["largest_energy"] == pytest.approx(2.386 * 9.81 * np.sin(0.2), rel=1e-9)
    assert summary["energy_drift"] < 1e-14


@pytest.mark.slow
def test_what_energy_drifts_by_at_the_defaults(interpreted, unmeasured):
    """What ``explain integration`` tells of khang, the one of the shipped robots whose default run is above 1e-8."""
    robot = load("khang")
    default, fine = robot.simulate().summary, robot.simulate(rtol=1e-9, atol=1e-11).summary
    assert 1e-8 < default["energy_drift"] < 2e-7
    assert fine["energy_drift"] < 1e-8
    assert 1.1 < fine["evaluations"] / default["evaluations"] < 1.25
    assert load("piedboeuf").simulate().summary["energy_drift"] < 1e-8


def test_rounding_of_a_robot_that_rests_is_no_drift():
    """Its energy is the rounding of a height of 0, of which nothing is a share."""
    series = {f"energy.{kind}": np.zeros(3) for kind in ("kinetic", "elastic", "work")}
    series |= {"t": np.arange(3.0), "energy.gravity": np.full(3, 3e-17), "energy.balance": np.array([0, 1e-17, 3e-17])}
    link = "{name: a, joint: {type: revolute, name: q}, pose: {}, rigid: {mass: 1}}"
    model = loads(f"kronbot: 1\nname: one\ngravity: [0, -9.81, 0]\nlinks: [{link}]\n").model
    assert highlights(model, series, "cvodes", 1e-15)["energy_drift"] == 0
    assert highlights(model, series, "cvodes", 1e-18)["energy_drift"] == 1


WHEEL = """
kronbot: 1
name: wheel
gravity: [0, 0, 0]
base: {type: floating, rigid: {mass: 10, inertia: {Ixx: 1, Iyy: 1, Izz: 1}}}
links:
  - {name: a, joint: {type: revolute, name: q1}, pose: {rpy: [0.3, 0.2, 0]},
     rigid: {mass: 1, com: [0, 0, 0.1], inertia: {Ixx: 0.1, Iyy: 0.1, Izz: 0.1}}}
simulate: {duration: 1, step: 0.5, drive: {q1: {torque: 1}}}
"""


@pytest.mark.parametrize("mass", ["mass: 1, com: [0, 0, 0.1], ", ""])
def test_momenta_that_are_zero_throughout_do_not_change(mass):
    """A wheel that turns on its axis: what its parts move is rounding, of which a share says nothing. Without a mass it
    has its angular momentum."""
    robot = loads(WHEEL.replace("mass: 1, com: [0, 0, 0.1], ", mass))
    run = robot.simulate(rtol=1e-10, atol=1e-12)
    assert run["energy.kinetic"].max() > 1
    assert run.summary["momentum_change"] < 1e-9 and run.summary["angular_momentum_change"] < 1e-9
    still = {name: np.full(2, 1e-30) for name in run.series}
    bounds = {"link_kinetic": np.full((2, 1, 1), 1e-30), "link_masses": np.ones((2, 2, 1))}
    assert set(changes(still, bounds, 1e-28).values()) == {0.0}


def test_rounding_of_a_rotor_is_no_change_of_what_links_could_have():
    """A beam about its own axis, which weighs nothing there, behind a rotor: a share of no motion says nothing."""
    robot = loads(
        "kronbot: 1\nname: spinner\ngravity: [0, 0, 0]\n"
        "base: {type: floating, rigid: {mass: 200, inertia: {Ixx: 40, Iyy: 40, Izz: 60}}}\nlinks:\n"
        "  - {name: panel, joint: {type: revolute, name: q1, damping: 0.5, rotor_inertia: 1e-4, gear: 50}, "
        "pose: {xyz: [0, 0.5, 0], rpy: [-pi/2, 0, 0]}}\n"
        "  - {name: beam, joint: {type: fixed}, pose: {rpy: [0, -pi/2, 0]}, "
        "flexible: {mass: 8, length: 3, EI: {y: 300, z: 1e4}, modes: {w: 2}}}\n"
        "simulate: {duration: 2, step: 0.02, drive: {q1: {motion: "
        "{type: polynomial, from: 0, to: 1, degree: 5, duration: 1}}}}\n"
    )
    run = robot.simulate()
    assert run["energy.kinetic"].max() > 0.1
    assert run.summary["momentum_change"] < 1e-9 and run.summary["angular_momentum_change"] < 1e-9
