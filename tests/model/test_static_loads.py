"""What shapes miss of the loads that a chain puts on a beam, against closed forms of cantilever and shaft."""

import re

import numpy as np
import pytest
from thinned import rare

import kronbot
from kronbot.cli.commands.explain import text
from kronbot.model import shape_functions
from kronbot.model.beam_integrals import gram, integral

FAMILIES = {
    "clamped-free": shape_functions.clamped_free,
    "clamped-mass": lambda m: shape_functions.clamped_mass(m, 1.0, 0.1),
    "craig-bampton": shape_functions.craig_bampton,
    "polynomial": shape_functions.polynomial,
    "legendre": shape_functions.legendre,
}
# Over F l^3/EI, M l/EI, q l^4/EI and T l/GJ.
FORCE, MOMENT, DISTRIBUTED, TORQUE = 1 / 3, 1.0, 1 / 8, 1.0


def missed(family, m):
    """Errors (%) of the tip: deflection by a force, turn by a moment, deflection by a distributed load, twist."""
    bending, torsion = FAMILIES[family](m), shape_functions.TORSION[family](m)
    K, K_t = gram(bending, 2), gram(torsion, 1)
    tip, slope, twist = bending.values(1.0)[:, 0], bending.values(1.0, 1)[:, 0], torsion.values(1.0)[:, 0]
    found = (
        tip @ np.linalg.solve(K, tip) / FORCE,
        slope @ np.linalg.solve(K, slope) / MOMENT,
        tip @ np.linalg.solve(K, integral(bending)) / DISTRIBUTED,
        twist @ np.linalg.solve(K_t, twist) / TORQUE,
    )
    return 100 * (np.array(found) - 1)


def told():
    """The table of ``explain shapes``: by family the errors with 1 to 4 shapes, load by load."""
    table = {}
    for line in text("shapes").splitlines():
        entries = re.fullmatch(r"([a-z-]+) +((?:-?[\d.]+ +){15}-?[\d.]+)", line)
        if entries:
            table[entries[1]] = np.array([float(value) for value in entries[2].split()]).reshape(4, 4)
    return table


@pytest.mark.parametrize("family", FAMILIES)
def test_the_table_of_errors(family):
    """Every number, to the digits printed."""
    computed = np.array([missed(family, m) for m in (1, 2, 3, 4)]).T
    assert np.abs(computed - told()[family]).max() < 0.051


SHAFT = """
kronbot: 1
name: shaft
convention: standard
gravity: [0, 0, 0]
links:
  - name: shaft
    joint: {type: fixed}
    dh: {a: 0.8, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 1, EI: {y: 30, z: 30}, GJ: 7, modes: {v: 2, torsion: COUNT}, shape: craig-bampton,
               polar_inertia: 1e-6}
    payload: {mass: 1e-3, inertia: {Ixx: 0.02}}
"""


@pytest.mark.parametrize("count", [1, rare(3)])
def test_a_shaft_twists_under_a_torque_and_swings_with_its_payload(count, tmp_path):
    """Twist T l/GJ with one shape; omega^2 = GJ/(l (J + J_shaft/3)) where the payload's J is far above the shaft's."""
    path = tmp_path / "shaft.yaml"
    path.write_text(SHAFT.replace("COUNT", str(count)))
    robot = kronbot.load(path)
    twisted = robot.statics(moments=[[0.5, 0, 0]])
    assert twisted["tip.shaft.rx"][0] == pytest.approx(0.5 * 0.8 / 7, rel=1e-12)
    frequencies = np.asarray(robot.modes()["frequencies_locked"])
    exact = np.sqrt(7 / (0.8 * (0.02 + 0.8e-6 / 3)))
    assert np.abs(frequencies / exact - 1).min() < 1e-9
