"""Natural frequencies at rest and of a spinning beam."""

import json
import math
from functools import reduce
from pathlib import Path

import numpy as np
import pytest
from robots_in_tests import model, moving, turning
from scipy.linalg import eigh
from thinned import rare

import kronbot
from kronbot.errors import ComputationError
from kronbot.mechanics.linear import modal
from kronbot.mechanics.linear.modal import mass_and_stiffness, natural_frequencies
from kronbot.mechanics.multibody.recursion import inverse_dynamics
from kronbot.mechanics.multibody.state import generalized_inertia_matrix

REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "canadarm.json").read_text())
WRIGHT = [3.5160, 3.6816, 4.1373, 4.7973, 5.5850, 6.4495]


@pytest.mark.parametrize("order", ["1", "2"])
def test_canadarm_at_rest(order):
    """Joints locked and free to 1e-9 of the independent program; rigid motions are exact zeros."""
    locked, free, _ = natural_frequencies(kronbot.load("canadarm", order=order).model)
    wanted = REFERENCE["natural_frequencies_rad_s"]["m2"]
    assert locked == pytest.approx(wanted["joints_locked"], rel=1e-9)
    assert free[:3].tolist() == [0, 0, 0]
    assert free[3:] == pytest.approx(wanted["joints_free"][3:], rel=1e-9)


@pytest.mark.slow
def test_other_values_trace_nothing_anew(monkeypatch):
    """And have the bits of a robot that was just loaded."""
    made, propagate = [], modal.propagate
    monkeypatch.setattr(modal, "propagate", lambda *given: made.append(1) or propagate(*given))
    robot, values = kronbot.load("canadarm"), (2e5, 3e-4)
    found = [natural_frequencies(robot.with_parameters(EI=EI).model) for EI in values]
    assert len(made) == 1
    for EI, own in zip(values, found, strict=True):
        fresh = natural_frequencies(kronbot.load("canadarm", parameters={"EI": EI}).model)
        assert [each.tolist() for each in own[:2]] == [each.tolist() for each in fresh[:2]]


def test_a_cantilever_has_the_textbook_frequencies():
    """beta^2 sqrt(EI / (rho l^4)) in both planes, (2i - 1) pi/2 sqrt(GJ / (Ip l^2)) in torsion."""
    text = """
kronbot: 1
name: beam
convention: standard
gravity: [0, 0, 0]
links:
  - name: beam
    joint: {type: fixed}
    dh: {a: 2.5, d: 0, alpha: 0, theta: 0}
    flexible: {root: 0.5, mass: 3, EI: {y: 7, z: 90}, GJ: 11, polar_inertia: 0.02, modes: {v: 2, w: 2, torsion: 2}}
"""
    locked, free, _ = natural_frequencies(model(text))
    beta = np.array([1.8751040687119612, 4.694091132974175])
    bending = [beta**2 * np.sqrt(EI / (1.5 * 2.0**4)) for EI in (7, 90)]
    torsion = np.array([1, 3]) * np.pi / 2 * np.sqrt(11 / (0.02 * 4))
    assert locked == pytest.approx(np.sort(np.concatenate([*bending, torsion])), rel=1e-12)
    assert free == pytest.approx(locked, rel=1e-12)


@pytest.mark.parametrize(("shape", "modes"), [("legendre", 6), ("clamped-free", 5)])
def test_a_spinning_beam_stiffens_as_published(shape, modes):
    """First frequency out of plane of a beam spinning at Omega (hub radius 0): Wright's table to 0.1 %.

    The linear model comes from central differences of the recursion; all quantities dimensionless, EI = rho = l = 1.
    """
    robot = model(turning(f"flexible: {{mass: 1, EI: {{y: 1}}, modes: {{w: {modes}}}, shape: {shape}}}"))
    functions = moving(
        robot,
        tau=inverse_dynamics,
        M=lambda state, x: generalized_inertia_matrix(state),
    )
    rest, step = np.zeros(robot.n), 1e-5
    M = functions(rest, rest, rest)["M"][1:, 1:]
    for Omega, published in enumerate(WRIGHT):
        spin = np.eye(robot.n)[0] * Omega
        K = np.empty((modes, modes))
        for i in range(modes):
            bent = np.eye(robot.n)[i + 1] * step
            forces = [functions(sign * bent, spin, rest)["tau"][1:] for sign in (1, -1)]
            K[:, i] = (forces[0] - forces[1]) / (2 * step)
        assert np.abs(K - K.T).max() < 1e-6 * np.abs(K).max()  # differences of step 1e-5 leave 1e-10 / 1e-5
        first = np.sqrt(eigh(K, M, eigvals_only=True)[0])
        assert first == pytest.approx(published, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("tip", [rare(""), ", tip: {mass: 0.7, inertia: 0.03}"])
def test_clamped_mass_shapes_are_the_modes_of_the_loaded_beam(tip):
    """Each shape alone is an eigenfunction: its frequencies are those of ten polynomials, in both planes.

    The payload's inertia is given in the tip frame, which alpha turns against the axes of the beam.
    """
    payload = "{mass: 0.7, inertia: {Ixx: 0.03, Iyy: 0.03, Izz: 0.03}}"
    if not tip:
        payload = "{mass: 0.7, inertia: {Ixx: 0.02, Iyy: 0.05, Izz: 0.04, Iyz: 0.005}}"
    text = """
kronbot: 1
name: loaded
convention: standard
gravity: [0, 0, 0]
links:
  - name: beam
    joint: {type: fixed}
    dh: {a: 1.3, d: 0, alpha: ALPHA, theta: 0}
    flexible: {mass: 1.1, EI: {y: 30, z: 80}, modes: MODES, shape: SHAPE}
    payload: PAYLOAD
"""
    for plane in ("v", "w"):
        found = []
        for shape, count in (("clamped-mass" + tip, 2), ("legendre", 10)):
            modes = f"{{{plane}: {count}}}"
            filled = text.replace("MODES", modes).replace("SHAPE", shape).replace("PAYLOAD", payload)
            found.append(natural_frequencies(model(filled.replace("ALPHA", "0.7")))[0][:2])
        assert found[0] == pytest.approx(found[1], rel=1e-8)  # what ten polynomials reach for two modes


@pytest.mark.parametrize("name", ["canadarm", "piedboeuf"])
def test_mass_by_columns(name):
    """Forces of unit accelerations are the inertia matrix of the composite bodies, gravity or not, to rounding."""
    robot = kronbot.load(name, order="1").model
    M = moving(robot, M=lambda state, x: generalized_inertia_matrix(state))
    rest = np.zeros(robot.n)
    wanted = M(rest, rest, rest)["M"]
    assert mass_and_stiffness(robot)[0] == pytest.approx(wanted, rel=1e-12, abs=1e-14 * abs(wanted).max())


def test_shafts_and_tilts_are_no_modal_coordinates():
    text = """
kronbot: 1
name: yielding
gravity: [0, 0, 0]
links:
  - {name: a, joint: {type: revolute, name: q1, rotor_inertia: 1, elastic: {stiffness: 9},
     bearing: {stiffness: {x: 5}}}, pose: {}, flexible: {length: 1, mass: 1, EI: {y: 9, z: 9}, modes: {v: 2, w: 1}}}
"""
    found = kronbot.loads(text).check().summary
    assert (found["coordinates"], found["joints"], found["modal_coordinates"]) == (6, 1, 3)


CANTILEVER = """
kronbot: 1
name: beam
convention: standard
gravity: [0, 0, 0]
links:
  - name: beam
    joint: {type: fixed}
    dh: {a: LENGTH, d: 0, alpha: 0, theta: 0}
    flexible: {mass: MASS, EI: {z: STIFF}, modes: {v: 1}DAMPED}
"""


@pytest.mark.parametrize("damped", ["", ", damping: {ratio: 0.01}"])
@pytest.mark.parametrize(
    ("length", "mass", "stiff"),
    [(1e80, 1, 1), (1e-80, 1, 1), (1, 1, 1e-280), (1e97, 1, 1), (1e50, 1e-30, 1e-100),  # what doubles hold
     (1e103, 1, 1), (1e110, 1, 1), (1e102, 1, 1), (1, 1, 1e-310), (1, 1, 5e-324), (1, 1e200, 1e-200),
     (1e50, 1, 1e-200)],
)  # fmt: skip
def test_frequencies_whose_squares_underflow_are_refused(length, mass, stiff, damped):
    """3.516 sqrt(EI/(m l^3)), with an error that is none of zero, or one message: no frequency of 0."""
    numbers = (("LENGTH", length), ("MASS", mass), ("STIFF", stiff), ("DAMPED", damped))
    text = reduce(lambda text, pair: text.replace(pair[0], str(pair[1])), numbers, CANTILEVER)
    logarithm = math.log10(3.5160152685) + (math.log10(stiff) - math.log10(mass)) / 2 - 1.5 * math.log10(length)
    robot = kronbot.loads(text)
    if logarithm < -145.9:
        for ask in (robot.modes, robot.linearize):
            with pytest.raises(
                ComputationError, match="poles are too small for double precision: numbers of the robot"
            ):
                ask().settled()
        return
    answer = robot.modes()
    assert math.log10(answer["frequencies_locked"][0]) == pytest.approx(logarithm, abs=1e-8)
    assert 0 < answer["accuracy_locked"][0, 0] < 1e-12 * answer["frequencies_locked"][0]


@pytest.mark.parametrize("place", np.linspace(0.1, 0.6, 11).round(2).tolist())
@pytest.mark.parametrize("stiffness", [5e5, 1e7])
def test_a_stiff_shaft_leaves_no_rigid_motion_a_frequency(place, stiffness):
    """A wire holds one direction of two, whatever rounding the shaft leaves beside it: it pulls 4.5 kg across and 1 kg
    along, the shaft is between 4 kg and 0.5 kg, and the rest of the motion has no stiffness."""
    robot = kronbot.loads(
        "kronbot: 1\nname: shaft\ngravity: [0, 0, 0]\nlinks:\n  - name: car\n"
        f"    joint: {{type: prismatic, name: x, rotor_inertia: 0.5, elastic: {{stiffness: {stiffness}}}}}\n"
        "    pose: {rpy: [0, pi/2, 0]}\n    rigid: {mass: 3}\n  - name: slide\n    joint: {type: prismatic, name: z}\n"
        "    pose: {rpy: [0, -pi/2, 0]}\n    rigid: {mass: 1}\nelements:\n"
        "  - {name: wire, type: spring, between: [world, slide], stiffness: 50, rest: 0.2, "
        f"points: [[{place}, 0, 0.7], [0, 0, 0]]}}\n"
    )
    still, wire, shaft = robot.check()["frequency_free"]
    across, along = np.array([place, 0.7]) ** 2 / (place**2 + 0.7**2)  # of the wire's direction, squared
    # Each yields a little to the other, by the share of their stiffnesses, 1e-4.
    assert still == 0 and wire == pytest.approx(np.sqrt(50 * (across / 4.5 + along / 1)), rel=1e-3)
    assert shaft == pytest.approx(np.sqrt(stiffness * (1 / 4 + 1 / 0.5)), rel=1e-3)
