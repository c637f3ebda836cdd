"""Shapes ``clamped-mass`` of a beam with an offset, turned payload, against the transcendental equation."""

import math

import numpy as np
import pytest
from oracles import Lagrangian
from scipy.linalg import eigh
from scipy.optimize import brentq
from thinned import rare
from yaml import safe_load

from kronbot import loads
from kronbot.errors import DescriptionError

LENGTH, MASS, EI_Y, EI_Z = 1.3, 1.2, 10.0, 7.0
TIP, ABOUT, OFFSET = 0.6, {"Ixx": 0.2, "Iyy": 0.24, "Izz": 0.05}, 0.3
BEAM = f"""
kronbot: 1
name: beam
convention: standard
gravity: [0, 0, 0]
links:
  - name: b
    joint: {{type: fixed}}
    dh: {{a: {LENGTH}, d: 0, alpha: ALPHA, theta: 0}}
    flexible: {{mass: {MASS}, EI: {{y: {EI_Y}, z: {EI_Z}}}, modes: MODES, shape: SHAPE}}
    payload: {{mass: {TIP}, com: COM, inertia: {{Ixx: 0.2, Iyy: 0.24, Izz: 0.05}}}}
"""


def beam(modes, com, alpha="0", shape="clamped-mass"):
    text = BEAM.replace("MODES", modes).replace("COM", com).replace("ALPHA", alpha)
    return text.replace("SHAPE", shape)


def frequency(EI, inertia):
    """The lowest of a cantilever with a tip mass and a rotary inertia about its tip, both by the ends' conditions."""
    mu, iota = TIP / MASS, inertia / (MASS * LENGTH**2)

    def determinant(b):
        c, s, ch, sh = math.cos(b), math.sin(b), math.cosh(b), math.sinh(b)
        # phi = A (cosh - cos) + B (sinh - sin): phi'' = iota b^4 phi', phi''' = -mu b^4 phi at the tip
        moment = [ch + c - iota * b**3 * (sh + s), sh + s - iota * b**3 * (ch - c)]
        force = [sh - s + mu * b * (ch - c), ch + c + mu * b * (sh - s)]
        return moment[0] * force[1] - moment[1] * force[0]

    return brentq(determinant, 0.1, 1.87) ** 2 * math.sqrt(EI / (MASS * LENGTH**3))


@pytest.mark.parametrize(
    ("modes", "com", "alpha", "EI", "own"),
    [
        # A com beside the axis adds its parallel axis in the plane that it lies in, and nothing in the other.
        ("{v: 1}", f"[0, {OFFSET}, 0]", "0", EI_Z, ABOUT["Izz"] + TIP * OFFSET**2),
        rare("{w: 1}", f"[0, 0, -{OFFSET}]", "0", EI_Y, ABOUT["Iyy"] + TIP * OFFSET**2),
        rare("{v: 1}", f"[0, 0, {OFFSET}]", "0", EI_Z, ABOUT["Izz"]),
        # The tip frame is turned by Rx(90 deg): its z lies along -y of the beam, its y along z.
        rare("{v: 1}", f"[0, 0, {OFFSET}]", "pi/2", EI_Z, ABOUT["Iyy"] + TIP * OFFSET**2),
        ("{w: 1}", f"[0, {OFFSET}, 0]", "pi/2", EI_Y, ABOUT["Izz"] + TIP * OFFSET**2),
    ],
)
def test_one_shape_of_the_loaded_beam_is_exact(modes, com, alpha, EI, own):
    """Where the shape is the eigenfunction, one coordinate has its frequency; a Ritz quotient of others is above."""
    check = loads(beam(modes, com, alpha)).check()
    assert check.summary["first_frequency_locked"] == pytest.approx(frequency(EI, own), rel=1e-9)
    assert loads(beam(modes, com, alpha, "clamped-free")).check().summary["first_frequency_locked"] > 1.01 * frequency(
        EI, own
    )


@pytest.mark.parametrize("alpha", [rare("0"), "0.7", rare("-pi/2")])
def test_an_offset_payload_moves_with_the_section_it_sits_on(alpha):
    """M and K at rest are those of the oracle's particles, for shapes of every family; so are their frequencies."""
    com = "[0.05, 0.3, -0.2]"
    entry = safe_load(beam("{v: 2, w: 2}", com, alpha, "legendre"))
    oracle = Lagrangian(entry, 2)
    M, K = oracle.mass_matrix(np.zeros(4)), oracle.stiffness
    robot = loads(beam("{v: 2, w: 2}", com, alpha, "legendre"))
    assert robot.dynamics()["M"] == pytest.approx(M, rel=1e-10, abs=1e-12)
    wanted = np.sqrt(eigh(K, M, eigvals_only=True))
    assert robot.check()["frequency_locked"] == pytest.approx(wanted, rel=1e-8)
    # Many shapes of any family span the same motions: the lowest frequency is one and the same, from above.
    fine = loads(beam("{v: 6, w: 6}", com, alpha, "legendre")).check().summary["first_frequency_locked"]
    loaded = loads(beam("{v: 4, w: 4}", com, alpha)).check().summary["first_frequency_locked"]
    assert fine <= loaded * (1 + 1e-9) and loaded == pytest.approx(fine, rel=1e-4)


def test_a_planar_payload_has_an_inertia_about_z_alone():
    """As of any planar robot; what is below 0 about some axis stays refused."""
    whole = beam("{v: 2}", "[0, 0, 0]")
    planar = whole.replace("Ixx: 0.2, Iyy: 0.24, ", "")
    wanted = loads(whole).modes()["frequencies_locked"]
    assert loads(planar).modes()["frequencies_locked"] == pytest.approx(wanted, rel=1e-12)
    with pytest.raises(DescriptionError, match="no body can have it"):
        loads(planar.replace("Izz: 0.05", "Izz: 0.05, Iyz: 0.1"))


@pytest.mark.parametrize(
    ("mass", "inertia", "published"),
    [(1.6, 0.0083 + 0.1 + 0.0005 + 0.1 * 0.5**2, (38.79, 513.37)), (0.1, 0.0005, (536.09, 20792.09))],
)
def test_the_links_of_de_luca_and_siciliano(mass, inertia, published):
    """m omega^2 of both links of their planar arm (1991): l = 0.5 m, rho = 1 kg/m, EI = 10 N m^2.

    The first one carries what is behind it, straight: hub, link and payload.
    """
    arm = loads(
        "kronbot: 1\nname: arm\nconvention: standard\ngravity: [0, 0, 0]\nlinks:\n"
        "  - name: link\n    joint: {type: revolute, name: q1}\n    dh: {a: 0.5, d: 0, alpha: 0, theta: 0}\n"
        "    flexible: {mass: 0.5, EI: {z: 10}, modes: {v: 2}, shape: clamped-mass}\n"
        f"    payload: {{mass: {mass}, inertia: {{Izz: {inertia}}}}}\n"
    )
    assert 0.5 * arm.check()["frequency_locked"] ** 2 == pytest.approx(published, rel=1e-4)
