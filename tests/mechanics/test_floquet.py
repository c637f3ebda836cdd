"""Periodic rigid motions: Mathieu's equation, its tongues, flexible versions, cyclic coordinates, shapes of answers."""

import re
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from oracles import Lagrangian
from robots_in_tests import loaded, model, shipped_robot
from scipy.integrate import quad, solve_ivp
from scipy.linalg import eigh, expm
from scipy.optimize import brentq
from scipy.special import mathieu_a, mathieu_b
from thinned import rare
from yaml import safe_load

import kronbot
from kronbot.errors import UsageError
from kronbot.mechanics.linear.monodromy import _exponentials, monodromy
from kronbot.mechanics.linear.multipliers import _definite
from kronbot.mechanics.linear.multipliers import multipliers as _multipliers
from kronbot.questions.linearize_along import linearize_along

G, LENGTH, MASS, INERTIA = 9.81, 0.7, 1.3, 0.08
LEVER = MASS * LENGTH / (INERTIA + MASS * LENGTH**2)  # 1/m: theta'' + LEVER (g + z'') theta = 0

# x points along the pendulum, which hangs at 0 (theta -pi/2) or stands (pi/2); the support moves along the vertical.
PENDULUM = """
kronbot: 1
name: pendulum
convention: standard
gravity: [0, 0, -9.81]
parameters: {A: AMPLITUDE, w: FREQUENCY}
links:
  - name: support
    joint: {type: prismatic, name: z}
    dh: {a: 0, d: 0, alpha: pi/2, theta: 0}
    rigid: {mass: 2}
  - name: rod
    joint: {type: revolute, name: swing, damping: DAMPING}
    dh: {a: 0.7, d: 0, alpha: 0, theta: SIDE*pi/2}
    BODY
motion:
  z: {type: sinusoid, amplitude: A, frequency: w}
"""
RIGID = "rigid: {mass: 1.3, inertia: {Izz: 0.08}}"
FLEXIBLE = "flexible: {mass: 1.3, EI: {z: 40}, modes: {v: 1}}"


def pendulum(amplitude, frequency, *, side=-1, body=RIGID, damping=0):
    text = PENDULUM.replace("AMPLITUDE", repr(float(amplitude))).replace("FREQUENCY", repr(float(frequency)))
    return text.replace("SIDE", str(side)).replace("BODY", body).replace("DAMPING", repr(float(damping)))


def along(text, order=2, lock=None):
    """Robots that differ in amplitude and frequency alone are traced once."""
    if shaken := re.search(r"parameters: ({A: .*, w: .*})", text):
        alike = loaded(text.replace(shaken[1], "{A: 0.1, w: 3}"), str(order))
        robot = alike.with_parameters(**safe_load(shaken[1])).model
    else:
        robot = model(text, str(order))
    locked = None if lock is None else frozenset(joint.index for joint in robot.joints if joint.name in lock)
    return linearize_along(robot, locked, None, None, None, lambda share: None)


def multipliers(result):
    return result.arrays["multipliers"].values


def mathieu(a, q, damping=0.0):
    """Multipliers over pi of y'' + damping y' + (a - 2 q cos 2 t) y = 0."""

    def rate(t, y):
        y = y.reshape(2, 2)
        return np.array([y[1], -damping * y[1] - (a - 2 * q * np.cos(2 * t)) * y[0]]).ravel()

    done = solve_ivp(rate, (0, np.pi), np.eye(2).ravel(), method="DOP853", rtol=1e-12, atol=1e-13)
    return np.linalg.eigvals(done.y[:, -1].reshape(2, 2)).astype(complex)


def physical(a, q, side=-1):
    """Amplitude and frequency of the support for Mathieu's a and q: a = -+4 LEVER g / frequency^2, q = 2 LEVER A."""
    return q / (2 * LEVER), np.sqrt(-side * 4 * LEVER * G / a)


def apart(ours, theirs):
    """Largest distance from a multiplier of one set to the nearest of the other."""
    distances = np.abs(np.subtract.outer(ours, theirs))
    return max(distances.min(axis=0).max(), distances.min(axis=1).max())


@pytest.mark.parametrize(("a", "q"), [(0.5, 0.2), rare(1.05, 0.2), rare(2.3, 0.7), (4.05, 0.9)])
def test_a_pendulum_on_a_shaken_support_is_mathieus_equation(a, q):
    """Multipliers equal those of y'' + (a - 2 q cos 2t) y = 0, integrated apart; both are good to 1e-10 or so."""
    found = along(pendulum(*physical(a, q)))
    assert apart(multipliers(found), mathieu(a, q)) < 1e-8
    assert found.summary["period"] == pytest.approx(2 * np.pi / physical(a, q)[1], rel=1e-14)
    assert found.summary["largest_h_L"] < 1e-12
    assert np.prod(multipliers(found)) == pytest.approx(1, abs=1e-8)


@pytest.mark.parametrize(("tongue", "q"), [rare(1, 0.1), rare(1, 0.3), rare(2, 0.1), (2, 0.3)])
def test_the_tongues_are_where_theory_has_them(tongue, q):
    """Unstable for b_m(q) < a < a_m(q) only: verdicts 1 % of the tongue's width outside and inside of its edges."""
    low, high = mathieu_b(tongue, q), mathieu_a(tongue, q)
    margin = 0.01 * (high - low)
    for a, word in (
        (low - margin, "stable, undamped"),
        (low + margin, "unstable"),
        (high - margin, "unstable"),
        (high + margin, "stable, undamped"),
    ):
        found = along(pendulum(*physical(a, q)))
        assert found.summary["verdict"].startswith(f"{word} (")
        size = found.summary["largest_multiplier"]
        assert size == pytest.approx(np.abs(mathieu(a, q)).max(), abs=1e-8)


def test_a_standing_pendulum_is_held_up_by_fast_shaking():
    """Kapitza: a < 0 is stable just above a_0(q) (about -q^2/2) and not just below."""
    q = 0.4
    edge = mathieu_a(0, q)
    for share, word in ((0.98, "stable, undamped"), (1.02, "unstable")):
        found = along(pendulum(*physical(share * edge, q, side=1), side=1))
        assert found.summary["verdict"].startswith(f"{word} (order 2, 0 modes, joints free swing and locked z;")


def test_damping_closes_the_tip_of_the_tongue():
    """Viscous friction shrinks both multipliers alike, their product to exp(-c T), until the tongue is left."""
    a, q = 1.0, 0.05
    amplitude, frequency = physical(a, q)
    J = INERTIA + MASS * LENGTH**2
    for share, word in ((0.9, "unstable"), (1.1, "asymptotically stable")):
        rate = share * q * frequency / 2  # first order: growth of Mathieu's tongue is q/2, damping takes rate/frequency
        found = along(pendulum(amplitude, frequency, damping=rate * J))
        assert found.summary["verdict"].startswith(f"{word} (")
        assert np.prod(multipliers(found)) == pytest.approx(np.exp(-rate * 2 * np.pi / frequency), rel=1e-8)
        assert apart(multipliers(found), mathieu(a, q, damping=2 * rate / frequency)) < 1e-8


COLUMN = """
kronbot: 1
name: column
convention: standard
gravity: [0, 0, -9.81]
parameters: {A: AMPLITUDE, w: FREQUENCY}
links:
  - name: support
    joint: {type: prismatic, name: z}
    dh: {a: 0, d: 0, alpha: pi/2, theta: 0}
    rigid: {mass: 2}
  - name: column
    joint: {type: fixed}
    dh: {a: 0.9, d: 0, alpha: 0, theta: pi/2}
    flexible: {mass: 0.3, EI: {z: 1.5}, modes: {v: MODES}, shape: clamped-free}
    payload: {mass: 0.1}
motion:
  z: {type: sinusoid, amplitude: A, frequency: w}
"""


def column(modes, amplitude, frequency):
    text = COLUMN.replace("MODES", str(modes)).replace("AMPLITUDE", repr(float(amplitude)))
    return text.replace("FREQUENCY", repr(float(frequency)))


def column_numbers():
    """Modal mass, stiffness and foreshortening weight of the column's first mode, by quadrature of its shape."""
    length, density, tip, b = 0.9, 0.3 / 0.9, 0.1, 1.8751040687119612 / 0.9
    sigma = (np.cos(b * length) + np.cosh(b * length)) / (np.sin(b * length) + np.sinh(b * length))

    def shape(x):
        return np.cosh(b * x) - np.cos(b * x) - sigma * (np.sinh(b * x) - np.sin(b * x))

    def slope(x):
        return b * (np.sinh(b * x) + np.sin(b * x) - sigma * (np.cosh(b * x) - np.cos(b * x)))

    def curvature(x):
        return b**2 * (np.cosh(b * x) + np.cos(b * x) - sigma * (np.sinh(b * x) + np.sin(b * x)))

    end = shape(length)
    mass = density * quad(lambda x: shape(x) ** 2, 0, length)[0] / end**2 + tip
    stiffness = 1.5 * quad(lambda x: curvature(x) ** 2, 0, length)[0] / end**2
    weight = quad(lambda x: (density * (length - x) + tip) * slope(x) ** 2, 0, length)[0] / end**2
    return mass, stiffness, weight


def test_a_column_on_a_shaken_base_bends_in_mathieus_tongue():
    """One mode, order 2: m w'' + (k - c (g + z'')) w = 0 with the foreshortening weight c; order 1 knows no tongue."""
    mass, stiffness, weight = column_numbers()
    q = 0.2
    for edge, side in ((mathieu_b(1, q), 1), (mathieu_a(1, q), -1)):
        for share, word in ((-1, "stable, undamped"), (1, "unstable")):
            a = edge + side * share * 0.004
            frequency = np.sqrt(4 * (stiffness - weight * G) / mass / a)
            amplitude = q * mass / (2 * weight)
            found = along(column(1, amplitude, frequency))
            # sign and phase of the drive do not move multipliers
            assert apart(multipliers(found), mathieu(a, q)) < 1e-8
            assert found.summary["verdict"].startswith(f"{word} (order 2, 1 mode, joints locked z;")
        first = along(column(1, amplitude, frequency), order=1).summary
        assert first["verdict"].startswith("stable, undamped (order 1, 1 mode, joints locked z;")


def by_the_oracle(text, order):
    """Multipliers of everything but z: M, D, K of the brute-force Lagrangian by differences along the drive."""
    oracle = Lagrangian(safe_load(text), order)
    A, w = safe_load(text)["parameters"].values()
    place = oracle.coordinates.index("z")
    free = [i for i in range(oracle.n) if i != place]
    z = np.eye(oracle.n)[place]
    h = 1e-4

    def state_matrix(t):
        q, qd, qdd = A * np.sin(w * t) * z, A * w * np.cos(w * t) * z, -A * w**2 * np.sin(w * t) * z
        M = oracle.mass_matrix(q)[np.ix_(free, free)]
        K, D = np.empty((2, len(free), len(free)))
        for column, i in enumerate(free):
            e = h * np.eye(oracle.n)[i]
            bend = oracle.inverse_dynamics(q + e, qd, qdd) - oracle.inverse_dynamics(q - e, qd, qdd)
            move = oracle.inverse_dynamics(q, qd + e, qdd) - oracle.inverse_dynamics(q, qd - e, qdd)
            K[:, column], D[:, column] = bend[free] / (2 * h), move[free] / (2 * h)
        n = len(free)
        return np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, np.hstack([K, D]))]])

    n = 2 * len(free)
    # Everything is a first harmonic in z'': three points give A(t) = A_0 + A_1 sin(w t), checked at a fourth.
    zero, quarter, three = (state_matrix(share * 2 * np.pi / w) for share in (0, 0.25, 0.75))
    swing = (quarter - three) / 2
    middle = state_matrix(0.11 * 2 * np.pi / w)
    assert np.abs(zero + swing * np.sin(0.22 * np.pi) - middle).max() < 1e-6 * np.abs(zero).max()
    done = solve_ivp(
        lambda t, x: ((zero + swing * np.sin(w * t)) @ x.reshape(n, n)).ravel(),
        (0, 2 * np.pi / w),
        np.eye(n).ravel(),
        method="DOP853",
        rtol=1e-11,
        atol=1e-12,
    )
    return np.linalg.eigvals(done.y[:, -1].reshape(n, n))


@pytest.mark.slow
def test_a_flexible_pendulum_agrees_with_the_brute_force_lagrangian():
    """Free swing and a bending mode on a shaken support: four multipliers, of product 1; differences leave 1e-6."""
    text = pendulum(0.03, 9.0, body=FLEXIBLE)
    found = along(text)
    # step 1e-4: truncation h^2 and rounding 1e-16 |K| / h on stiffnesses of 1e4 are both some 1e-8
    assert apart(multipliers(found), by_the_oracle(text, 2)) < 1e-5
    assert np.prod(multipliers(found)) == pytest.approx(1, abs=1e-7)
    assert "order 2, 1 mode, joints free swing and locked z" in found.summary["verdict"]


@pytest.mark.slow
def test_multipliers_of_undamped_systems_come_in_reciprocal_pairs():
    """The monodromy matrix is symplectic up to scaling: with mu also 1/mu, inside a tongue too."""
    mass, stiffness, weight = column_numbers()
    for frequency in (1.0, 1.3):
        drive = 2 * np.sqrt((stiffness - weight * G) / mass) * frequency
        values = multipliers(along(column(2, 0.2 * mass / (2 * weight), drive)))
        assert len(values) == 4
        assert apart(values, 1 / values) < 1e-7
        assert np.prod(values) == pytest.approx(1, abs=1e-7)


CYCLIC = """
kronbot: 1
name: cart
convention: standard
gravity: [0, 0, -9.81]
links:
  - name: cart
    joint: {type: prismatic, name: x}
    pose: {rpy: [0, pi/2, 0]}
    rigid: {mass: 3}
  - name: support
    joint: {type: prismatic, name: z}
    pose: {rpy: [0, -pi/2, 0]}
    rigid: {mass: 1}
  - name: rod
    joint: {type: revolute, name: swing}
    pose: {rpy: [pi/2, 0, 0]}
    BODY
motion:
  z: {type: sinusoid, amplitude: 0.02, frequency: 7}
"""


def test_free_cyclic_coordinates_are_counted_and_left_out():
    """A cart that may roll adds a double multiplier at +1; the verdict is that of the pendulum it carries."""
    rod = "rigid: {mass: 1.3, com: [0, -0.7, 0], inertia: {Izz: 0.08}}"
    found = along(CYCLIC.replace("BODY", rod))
    summary = found.summary
    assert summary["multipliers_at_one"] == 2
    assert np.sum(np.abs(multipliers(found) - 1) < 1e-6) == 2
    assert summary["verdict"].startswith("stable, undamped (order 2, 0 modes, joints free x, swing and locked z;")
    # cart and support take part: the free pendulum's inertia is J - (m l)^2 / (sum of masses)
    J = INERTIA + MASS * LENGTH**2 - (MASS * LENGTH) ** 2 / (4 + MASS)
    lever = MASS * LENGTH / J
    others = multipliers(found)[np.abs(multipliers(found) - 1) > 1e-6]
    assert apart(others, mathieu(4 * lever * G / 49, 2 * lever * 0.02)) < 1e-8


def test_a_damped_cyclic_coordinate_has_one_multiplier_at_one():
    """A cart that rolls with friction stays where it is left: one multiplier at +1, the rest decays."""
    rod = "rigid: {mass: 1.3, com: [0, -0.7, 0], inertia: {Izz: 0.08}}"
    damped = CYCLIC.replace("BODY", rod).replace("name: x}", "name: x, damping: 0.8}")
    found = along(damped.replace("name: swing}", "name: swing, damping: 0.3}"))
    assert found.summary["multipliers_at_one"] == 1
    assert found.summary["verdict"].startswith("asymptotically stable")


COAXIAL = """
kronbot: 1
name: coaxial
gravity: [0, -9.81, 0]
links:
  - name: support
    joint: {type: prismatic, name: x}
    pose: {rpy: [-pi/2, 0, 0]}
    rigid: {mass: 1}
  - name: shaft
    joint: {type: revolute, name: q1}
    pose: {rpy: [pi/2, 0, 0]}
    rigid: {mass: 1, inertia: {Izz: 0.05}}
  - name: disk
    joint: {type: revolute, name: q2, damping: DAMPING}
    pose: {rpy: [0, 0, 0.4]}
    rigid: {mass: 1, inertia: {Izz: 0.15}}
  - name: bob
    joint: {type: revolute, name: q3, damping: DAMPING}
    pose: {rpy: [0, 0, -pi/2 - 0.4]}
    rigid: {mass: 1.3, com: [0.7, 0, 0], inertia: {Izz: 0.08}}
motion:
  x: {type: sinusoid, amplitude: 0.02, frequency: 9}
"""


@pytest.mark.slow
@pytest.mark.parametrize(("damping", "at_one", "word"), [(0, 4, "stable, undamped"), (0.1, 2, "asymptotically stable")])
def test_joints_on_one_axis_turn_freely_whatever_shakes_them(damping, at_one, word):
    """Three of them see one angle: two directions are free, and their momenta are conserved where nothing damps.

    Undamped, the bob is the pendulum of Mathieu's equation.
    """
    found = along(COAXIAL.replace("DAMPING", repr(damping)))
    assert found.summary["multipliers_at_one"] == at_one
    assert found.summary["verdict"].startswith(f"{word} (")
    assert (found.arrays["multiplier_errors"].values < 1e-9).all()
    if not damping:
        others = multipliers(found)[np.abs(multipliers(found) - 1) > 1e-6]
        assert apart(others, mathieu(4 * LEVER * G / 81, 2 * LEVER * 0.02)) < 1e-8


def test_joints_with_a_motion_are_locked_by_default_and_lock_all_leaves_nothing():
    """--lock z is the default; with all joints locked the rigid pendulum has no coordinate and no multiplier."""
    text = pendulum(0.03, 9.0)
    assert np.array_equal(multipliers(along(text)), multipliers(along(text, lock=["z"])))
    nothing = along(text, lock=["z", "swing"])
    assert nothing.summary["multipliers"] == "none: all coordinates are locked"
    assert "multipliers" not in nothing.arrays
    assert "verdict" not in nothing.summary


def test_the_matrices_follow_the_motion():
    """M_L, D_L, K_L, h_L on the grid: stiffness MASS LENGTH (g + z''), the rest constant or zero."""
    amplitude, frequency = 0.05, 6.0
    found = along(pendulum(amplitude, frequency))
    times = np.array(found.arrays["K_L"].axis[1])
    stiffness = MASS * LENGTH * (G - amplitude * frequency**2 * np.sin(frequency * times))
    place = list(found.arrays["K_L"].rows).index("swing")
    assert found.arrays["K_L"].values[:, place, place] == pytest.approx(stiffness, rel=1e-12)
    inertia = INERTIA + MASS * LENGTH**2
    assert found.arrays["M_L"].values[:, place, place] == pytest.approx(np.full(len(times), inertia), rel=1e-13)
    assert np.abs(found.arrays["D_L"].values).max() < 1e-14
    assert np.abs(found.arrays["h_L"].values).max() < 1e-12


def test_a_wrong_period_is_refused_and_a_multiple_is_taken():
    """Over two periods the multipliers are the squares; over two thirds of one the matrices do not repeat."""
    robot = model(pendulum(0.03, 9.0))
    period, shares = 2 * np.pi / 9, []
    once = linearize_along(robot, None, None, None, None, shares.append)
    twice = linearize_along(robot, None, None, None, 2 * period, shares.append)
    assert apart(multipliers(twice), multipliers(once) ** 2) < 1e-8
    assert (min(shares), max(shares)) == (0.0, pytest.approx(1.0))
    with pytest.raises(UsageError, match="do not repeat"):
        linearize_along(robot, None, None, None, period / 1.5, shares.append)


SHAKER = """
kronbot: 1
name: shaker
convention: standard
gravity: [0, 0, -9.81]
links:
  - name: rotor
    joint: {type: revolute, name: spin, damping: FRICTION}
    pose: {}
    rigid: {mass: 1, inertia: {Izz: 0.1}}
  - name: shaker
    parent: base
    joint: {type: prismatic, name: z}
    pose: {}
    rigid: {mass: 2}
  - name: rod
    parent: base
    joint: {type: revolute, name: swing, damping: 15}
    pose: {rpy: [pi/2, 0, 0]}
    rigid: {mass: 1, com: [0, 0.5, 0], inertia: {Izz: 0.1}}
motion:
  z: {type: sinusoid, amplitude: 1e-3, frequency: 3000}
"""


@pytest.mark.parametrize(("friction", "at_one"), [("0.1", 1), ("0", 2)])
def test_a_slow_fall_beside_a_fast_shaker_is_unstable(friction, at_one):
    """A multiplier within 1e-3 of one counts: exp(p T) with J p^2 + d p - m g l = 0; so does the rotor's, with damping.

    The rotor's own multipliers are 1 and exp(-d T/J); without friction its momentum is conserved and both are left out.
    """
    found = along(SHAKER.replace("FRICTION", friction))
    period, J, d, weight = 2 * np.pi / 3000, 0.1 + 0.25, 15, 9.81 * 0.5
    fall = np.exp(period * (-d + np.sqrt(d**2 + 4 * J * weight)) / (2 * J))
    assert 1 < fall < 1.001
    assert found.summary["verdict"].startswith("unstable (")
    assert found.summary["largest_multiplier"] == pytest.approx(fall, abs=1e-11)
    assert found.summary["multipliers_at_one"] == at_one
    assert np.abs(multipliers(found) - np.exp(-float(friction) * period / 0.1)).min() < 1e-11


@pytest.mark.parametrize("frequency", [2.0, rare(0.6), rare(0.1)])
def test_a_slow_drive_has_huge_multipliers(frequency):
    """Up to 1e96: the trace of the monodromy matrix, integrated apart, is the large one; their product is one."""
    found = along(pendulum(0.05, frequency, side=1))

    def rate(t, y):
        y = y.reshape(2, 2)
        return np.array([y[1], LEVER * (G - 0.05 * frequency**2 * np.sin(frequency * t)) * y[0]]).ravel()

    done = solve_ivp(rate, (0, 2 * np.pi / frequency), np.eye(2).ravel(), method="DOP853", rtol=1e-13, atol=1e-13)
    trace = done.y[0, -1] + done.y[3, -1]
    assert found.summary["verdict"].startswith("unstable (")
    (large, small), errors = multipliers(found), found.arrays["multiplier_errors"].values
    assert large == pytest.approx(trace - 1 / trace, rel=1e-9)  # of the integration
    assert abs(small - 1 / large) <= errors[1] + errors[0] / large.real**2 < 1e-4 * abs(small)


def by_hills_determinant(a, q, terms=8_000):
    """Mathieu's multipliers: cos(pi nu) = 1 - Delta (1 - cos(pi sqrt(a))), to q^2/(24 terms^3)."""
    with mpmath.workdps(25):
        weights = [mpmath.mpf(q) / ((2 * n) ** 2 - mpmath.mpf(a)) for n in range(-terms, terms + 1)]
        before, now = mpmath.mpf(1), mpmath.mpf(1)
        for left, right in pairwise(weights):
            before, now = now, now - left * right * before
        half = 1 - now * (1 - mpmath.cos(mpmath.pi * mpmath.sqrt(a)))
        root = mpmath.sqrt(half * half - 1)
        return np.array([complex(half + root), complex(half - root)])


@pytest.mark.slow
def test_multipliers_are_as_far_off_as_their_errors_say():
    """By Hill's determinant, right to 1e-13; and the errors are no larger than 1e-9."""
    for a, q in ((0.5, 0.2), (2.3, 0.7), (4.05, 0.9)):
        found = along(pendulum(*physical(a, q)))
        errors = found.arrays["multiplier_errors"].values
        distance = np.abs(np.subtract.outer(multipliers(found), by_hills_determinant(a, q))).min(axis=1)
        assert (distance <= errors).all()
        assert errors.max() < 1e-9


def by_taylor(M, K0, K1, frequency, steps=24, terms=34):
    """Multipliers of M y'' + (K0 + K1 sin(frequency t)) y = 0 in 50 digits."""
    with mpmath.workdps(50):
        n, w = len(M), mpmath.mpf(frequency)
        h, inverse = 2 * mpmath.pi / w / steps, mpmath.inverse(mpmath.matrix(M.tolist()))
        A0, A1 = (np.array((-inverse * mpmath.matrix(K.tolist())).tolist()) for K in (K0, K1))  # of its own numbers
        place, rate = np.split(np.array(mpmath.eye(2 * n).tolist()), 2)
        for k in range(steps):
            sine = [w**j / mpmath.factorial(j) * mpmath.sin(w * k * h + j * mpmath.pi / 2) for j in range(terms)]
            x = [place, rate]
            for j in range(terms):
                driven = sum(x[j - i] * sine[i] for i in range(j + 1))  # mpmath prints the arrays that it multiplies
                x.append((A0 @ x[j] + A1 @ driven) / ((j + 1) * (j + 2)))
            place = sum(x[j] * h**j for j in range(len(x)))
            rate = sum(j * x[j] * h ** (j - 1) for j in range(1, len(x)))
        whole = mpmath.matrix(np.vstack([place, rate]).tolist())
        return np.array([complex(value) for value in mpmath.eig(whole, left=False, right=False)])


@pytest.mark.slow
def test_errors_are_near_what_rounding_does_where_pieces_swing_and_inertia_is_uneven():
    """Two hinged bodies on a shaker, a light one at the tip: multipliers from 1e3 to 1e-4, each right to 1e-10."""
    gravity = 9.81
    M = np.array([[9.4, -0.33], [-0.33, 0.024]]) + 470 * np.outer([0.75, -0.19], [0.75, -0.19])
    weight = np.array([[-0.18 * 0.85 - 470 * 0.75, 470 * 0.19], [470 * 0.19, -470 * 0.19]])
    lift, w = 0.068 * 27.0**2, 27.0

    def coefficients(times):
        K = -(gravity - lift * np.sin(w * times))[:, None, None] * weight
        return np.repeat(M[None], len(times), axis=0), np.zeros_like(K), K

    found = _multipliers(monodromy(coefficients, last_digits(coefficients), 2 * np.pi / w, [], lambda share: None))
    exact = by_taylor(M, -gravity * weight, lift * weight, w)
    distance = np.abs(found.values[:, None] - exact)
    assert sorted(distance.argmin(axis=1)) == [0, 1, 2, 3]
    assert (distance.min(axis=1) <= found.errors).all()
    assert (found.errors <= 1e-10 * np.abs(found.values)).all() and found.word == "unstable"


@pytest.mark.parametrize("seed", [0, 1, rare(2), rare(3)])
def test_what_decays_keeps_its_digits_beside_what_stays(seed):
    """Constant coefficients, damped beyond critical: multipliers exp(s T) from 1 to 1e-40, s by 60 digits."""
    rng = np.random.default_rng(seed)
    n = 2 + seed % 2
    Q, S = np.linalg.qr(rng.standard_normal((2, n, n)))[0]
    M = Q @ np.diag(10.0 ** rng.uniform(-1, 1, n)) @ Q.T
    K = S @ np.diag(10.0 ** rng.uniform(-2, 2, n)) @ S.T
    D = 3 * (Q + S) @ (Q + S).T + rng.uniform(1, 9) * K
    M, K, D = ((A + A.T) / 2 for A in (M, K, D))
    with mpmath.workdps(60):
        A = mpmath.zeros(2 * n)
        A[:n, n:] = mpmath.eye(n)
        A[n:, :n], A[n:, n:] = (-mpmath.inverse(mpmath.matrix(M)) * mpmath.matrix(B) for B in (K, D))
        poles = mpmath.eig(A, left=False, right=False)
        period = float(-90 / min(mpmath.re(s) for s in poles))
        exact = np.array([complex(mpmath.exp(s * period)) for s in poles])

    def coefficients(times):
        return tuple(np.repeat(B[None], len(times), axis=0) for B in (M, D, K))

    found = _multipliers(monodromy(coefficients, last_digits(coefficients), period, [], lambda share: None))
    nearest = np.abs(np.log(found.values[:, None] / exact)).argmin(axis=1)
    assert sorted(nearest) == list(range(2 * n))
    assert (np.abs(found.values - exact[nearest]) <= found.errors).all()
    assert (found.errors <= 1e-8 * np.abs(found.values)).all()
    assert np.abs(exact).min() < 1e-38


@pytest.mark.parametrize("damping", [1e5, 1e7])
def test_what_decays_beyond_all_numbers_is_zero_within_its_error(damping):
    """exp(-1e5) is no number; what is slow beside it keeps its digits."""
    M, D, K = np.eye(2), np.diag([damping, 0.1]) + 3 * (1 - np.eye(2)), np.array([[2.0, 1.0], [1.0, 3.0]])

    def coefficients(times):
        return tuple(np.repeat(B[None], len(times), axis=0) for B in (M, D, K))

    found = _multipliers(monodromy(coefficients, last_digits(coefficients), 1.0, [], lambda share: None))
    poles = np.linalg.eigvals(np.block([[np.zeros((2, 2)), M], [-K, -D]]))
    slow = np.exp(poles[np.abs(poles).argsort()][:3])
    assert np.abs(np.subtract.outer(found.values[:3], slow)).min(axis=1).max() < 1e-7
    assert 0 < found.errors[3] < 1e-200 and np.abs(found.values[3]) <= found.errors[3]
    assert found.word == "asymptotically stable"


def test_the_edge_of_a_tongue_is_undecided():
    """There two multipliers meet at -1 with one eigenvector: deviations grow or stay by what no digit tells."""
    for q in (0.1, 0.3):
        found = along(pendulum(*physical(mathieu_b(1, q), q)))
        assert found.summary["verdict"].startswith("undecided (")
        assert found.summary["verdict"].endswith("meet on the unit circle as far as their errors tell")


def test_corners_of_motions_are_ends_of_pieces():
    """y'' + K y = 0, K a triangle: across its corner, steps of any order miss by their length cubed."""
    top, period, asked = 0.37, 1.0, []

    def stiffness(t):
        return 9 + 40 * np.where(t < top, t / top, (period - t) / (period - top))

    def coefficients(times):
        asked.extend(times)
        one = np.ones((len(times), 1, 1))
        return one, 0 * one, stiffness(times)[:, None, None] * one

    answer = _multipliers(monodromy(coefficients, last_digits(coefficients), period, [top], lambda share: None))
    assert len(asked) < 2000
    X = np.eye(2)
    for span in ((0, top), (top, period)):
        slope = lambda t, x: (np.array([[0, 1], [-stiffness(t), 0]]) @ x.reshape(2, 2)).ravel()  # noqa: E731
        X = solve_ivp(slope, span, X.ravel(), method="DOP853", rtol=1e-13, atol=1e-15).y[:, -1].reshape(2, 2)
    wanted = np.linalg.eigvals(X)
    assert np.abs(np.sort_complex(answer.values) - np.sort_complex(wanted)).max() < 1e-11
    assert answer.errors.max() < 1e-10


# A slider on a shaken one, tied to the ground by a rope; the sum of their ways is that of the slider.
TIED = """
kronbot: 1
name: tied
gravity: [0, 0, 0]
parameters: {k: 400, c: 8, rest: 2.1}
links:
  - {name: a, joint: {type: prismatic, name: x}, pose: {rpy: [0, pi/2, 0]}, rigid: {mass: 1}}
  - {name: b, joint: {type: prismatic, name: y, damping: 0.1, spring: {stiffness: 20}}, pose: {}, rigid: {mass: 1}}
elements:
  - {name: rope, type: tendon, between: [world, b], points: [[-2, 0, 0], [0, 0, 0]], stiffness: k, rest: rest,
     damping: c}
motion: {x: {type: sinusoid, amplitude: 0.5, frequency: 3}, y: {type: sinusoid, amplitude: 0, frequency: 3}}
"""


@pytest.mark.parametrize(("c", "rest"), [rare(0.0, 2.1), (8.0, 2.1), rare(8.0, 2.0)])
def test_ropes_that_become_taut_and_slack_along_a_motion(c, rest):
    """Multipliers by differences of runs that go from contact to contact, whose instants deviations move."""
    w, begin, step = 3.0, 0.3, 1e-5
    end = begin + 2 * np.pi / w

    def ways(t, z):
        depth, rate = 2 + 0.5 * np.sin(w * t) + z[0] - rest, 1.5 * np.cos(w * t) + z[1]
        return np.array([depth, 400 * depth + c * rate])

    def pulls(t):
        return bool((ways(t, (0, 0)) > 0).all())

    def ran(z):
        """Taut until the force is zero, then loose until it is long again; what holds the motion jumps at corners."""
        t, taut = begin, True
        while t < end:
            stop = min(each for each in (*corners, end) if each > t + 1e-12)
            held = pulls((t + stop) / 2)

            def slope(t, z, taut=taut, held=held):
                pull = taut * ways(t, z)[1] - held * ways(t, (0, 0))[1]
                return [z[1], -20 * z[0] - 0.1 * z[1] - pull]

            def turns(t, z, taut=taut):
                return ways(t, z)[int(taut)]

            turns.terminal, turns.direction = True, -1 if taut else 1
            run = solve_ivp(slope, (t, stop), z, method="DOP853", rtol=1e-12, atol=1e-15, events=turns)
            t, z, taut = run.t[-1], run.y[:, -1], taut ^ (run.status == 1)
        return z

    grid = np.linspace(begin, end, 4001)
    turning = [(a, b, int(pulls(a))) for a, b in pairwise(grid) if pulls(a) != pulls(b)]
    corners = [brentq(lambda t, part=part: ways(t, (0, 0))[part], a, b, xtol=1e-15) for a, b, part in turning]
    moved = [(ran(step * each) - ran(-step * each)) / (2 * step) for each in np.eye(2)]
    wanted = np.sort_complex(np.linalg.eigvals(np.column_stack(moved)))
    answer = loaded(TIED).with_parameters(c=c, rest=rest).linearize_along(lock="x")
    assert np.sort_complex(answer["multipliers"]) == pytest.approx(wanted, abs=2e-6)
    assert answer["multiplier_errors"].max() < 1e-10
    assert any(told.startswith("tendon rope is taut at") for told in answer.warnings)


# A link behind a shaft, whose motor swings: deviations of the link alone, alike but for the times in its stop.
STOPPED = """
kronbot: 1
name: stopped
convention: standard
gravity: [0, 0, 0]
links:
  - name: a
    joint: {type: revolute, name: q1, rotor_inertia: 0.1, elastic: {stiffness: 50, damping: 0.3},
            limits: [-2, END], stops: {stiffness: 100, damping: DAMPING}}
    dh: {a: 0.9, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 1, com: [-0.4, 0, 0], inertia: {Izz: 0.1}}
motion: {q1: {type: sinusoid, amplitude: 1, frequency: 2}}
"""


@pytest.mark.parametrize(("end", "damping"), [(0.6, 3), rare(1.5, 3), (1.5, 0)])
def test_a_stop_that_is_met_or_not(end, damping):
    """Exponentials of each piece, and a jump where a damped one begins; no contact at all is the ordinary case."""
    J, k, c, w = 0.35, 50, 0.3, 2

    def passed(dt, k, c):
        return expm(np.array([[0, 1], [-k / J, -c / J]]) * dt)

    wanted = passed(2 * np.pi / w, k, c)
    if end < 1:
        begin, top = np.arcsin(end) / w, np.pi / 2 / w
        until = brentq(lambda t: 100 * (np.sin(w * t) - end) + damping * w * np.cos(w * t), top, 3 * top, xtol=1e-15)
        met = np.array([[1, 0], [-damping / J, 1]]) @ passed(begin, k, c)
        wanted = passed(2 * np.pi / w - until, k, c) @ passed(until - begin, k + 100, c + damping) @ met
    answer = kronbot.loads(STOPPED.replace("END", str(end)).replace("DAMPING", str(damping))).linearize_along()
    assert np.sort_complex(answer["multipliers"]) == pytest.approx(
        np.sort_complex(np.linalg.eigvals(wanted)), abs=1e-12
    )


@pytest.mark.slow
@pytest.mark.parametrize(("smoothing", "static", "phase"), [(1e-5, 3, 1.3), (1e-3, 5, 0.4)])
def test_no_step_goes_over_a_reversal_with_friction(smoothing, static, phase):
    """Where the slider turns back its friction is a damping for a millisecond: y'' + D(t) y' + 20 y = 0."""
    text = f"""
kronbot: 1
name: reversal
gravity: [0, 0, 0]
links:
  - name: a
    joint: {{type: prismatic, name: x, spring: {{stiffness: 20}},
            friction: {{coulomb: 3, static: {static}, stribeck_rate: 0.02, smoothing: {smoothing}}}}}
    pose: {{}}
    rigid: {{mass: 1}}
motion: {{x: {{type: sinusoid, amplitude: 0.5, frequency: 3, phase: {phase}}}}}
"""

    def damping(t):
        rate = 1.5 * np.cos(3 * t + phase)
        more, u = (static - 3) * np.exp(-((rate / 0.02) ** 2)), min(abs(rate) / smoothing, 300)
        return (3 + more) / smoothing / np.cosh(u) ** 2 - 2 * rate / 0.02**2 * more * np.tanh(rate / smoothing)

    def slope(t, x):
        return (np.array([[0, 1], [-20, -damping(t)]]) @ x.reshape(2, 2)).ravel()

    period = 2 * np.pi / 3
    turns = [(turn - phase) / 3 % period for turn in (np.pi / 2, 3 * np.pi / 2)]
    wide = [s * share for share in (0.02, 0.005, 40 * smoothing / 4.5, 8 * smoothing / 4.5) for s in (-1, 1)]
    ends = sorted({0.0, period, *turns, *(t + by for t in turns for by in wide)})
    X = np.eye(2)
    for span in pairwise(ends):
        X = solve_ivp(slope, span, X.ravel(), method="Radau", rtol=1e-9, atol=1e-12).y[:, -1].reshape(2, 2)
    answer = kronbot.loads(text).linearize_along(lock=[])
    assert np.sort_complex(answer["multipliers"]) == pytest.approx(np.sort_complex(np.linalg.eigvals(X)), abs=1e-6)
    assert answer["multiplier_errors"].max() < 1e-8


@pytest.mark.slow
def test_equal_vibrations_are_stable_though_their_multipliers_coincide():
    """A round column bends alike in y and z: pairs of one signature stay on the circle (Krein)."""
    text = column(1, 0.01, 9.0).replace("modes: {v: 1}", "modes: {v: 1, w: 1}").replace("{z: 1.5}", "{y: 1.5, z: 1.5}")
    found = along(text)
    values = multipliers(found)
    assert all(np.sum(np.abs(values - value) < 1e-8) == 2 for value in values)
    assert found.summary["verdict"].startswith("stable, undamped (")


@pytest.mark.slow
def test_a_stiff_damped_beam_hides_no_slow_instability():
    """In Mathieu's tongue, with vibrations up to 1e5 rad/s that die within a period."""
    body = "flexible: {mass: 1.3, EI: {z: 4e3}, modes: {v: 3}, damping: {ratio: 0.02}}"
    lever = 1.5 / 0.7  # of a slender rod
    found = along(pendulum(0.1, 2 * np.sqrt(lever * G), body=body))
    assert found.summary["verdict"].startswith("unstable (")
    assert found.summary["largest_multiplier"] == pytest.approx(np.abs(mathieu(1.0, 2 * lever * 0.1)).max(), rel=1e-3)


TWO_SHAKERS = """
kronbot: 1
name: two
convention: standard
gravity: [0, 0, -9.81]
links:
  - name: coarse
    joint: {type: prismatic, name: z}
    pose: {}
  - name: fine
    joint: {type: prismatic, name: y}
    pose: {}
    rigid: {mass: 2}
  - name: rod
    joint: {type: revolute, name: swing}
    pose: {rpy: [pi/2, 0, 0]}
    rigid: {mass: 1.3, com: [0, -0.7, 0], inertia: {Izz: 0.08}}
motion:
  z: {type: sinusoid, amplitude: 0.02, frequency: FIRST}
  y: {type: sinusoid, amplitude: 0.02, frequency: SECOND}
"""


@pytest.mark.parametrize(
    ("first", "second", "periods"), [rare("6", "9", 2), ("9", "6", 3), rare("4", "4", 1), rare("5", "10", 1)]
)
def test_the_period_of_two_motions_is_their_least_common_multiple(first, second, periods):
    """Not the longer one; the multipliers are those of theta'' + LEVER (g + z'' + y'') theta = 0 over all of it."""
    text = TWO_SHAKERS.replace("FIRST", "A").replace("SECOND", "w")
    found = along(text.replace("links:", f"parameters: {{A: {first}, w: {second}}}\nlinks:", 1))
    period = periods * 2 * np.pi / float(first)
    assert found.summary["period"] == pytest.approx(period, rel=1e-14)

    def rate(t, y):
        y = y.reshape(2, 2)
        shaken = sum(0.02 * w**2 * np.sin(w * t) for w in (float(first), float(second)))
        return np.array([y[1], -LEVER * (G - shaken) * y[0]]).ravel()

    done = solve_ivp(rate, (0, period), np.eye(2).ravel(), method="DOP853", rtol=1e-12, atol=1e-13)
    assert apart(multipliers(found), np.linalg.eigvals(done.y[:, -1].reshape(2, 2))) < 1e-8


@pytest.mark.slow
def test_a_motion_that_begins_later_repeats_only_where_it_has_begun_before():
    """From then on it is as ever; before the run it is a phase."""
    text = TWO_SHAKERS.replace("FIRST", "6").replace("frequency: SECOND}", "frequency: 9, start: s}")
    text += "parameters: {s: -0.2}\n"
    late = loaded(text).with_parameters(s=0.2).model
    summary = linearize_along(late, None, 1.0, None, None, lambda share: None).summary
    assert summary["multipliers"] == "none: the motion of y does not repeat: it begins at t = 0.2 s"
    phase = text.replace("start: s", "phase: 1.8")
    before = linearize_along(loaded(text).model, None, None, None, None, lambda share: None)
    assert apart(multipliers(before), multipliers(along(phase))) < 1e-10


def test_why_there_are_no_multipliers_is_said():
    """Motions without a common period, without any, and robots that do not come back."""
    text = TWO_SHAKERS.replace("FIRST", "6").replace("SECOND", "6*sqrt(2)")
    robot = model(text)
    summary = linearize_along(robot, None, 1.0, None, None, lambda share: None).summary
    assert summary["multipliers"] == "none: the motions have no common period"
    still = model(text.replace("frequency: 6", "frequency: 0"))
    with pytest.raises(UsageError, match="give duration"):
        linearize_along(still, None, None, None, None, lambda share: None)
    summary = linearize_along(still, None, 1.0, None, None, lambda share: None).summary
    assert summary["multipliers"] == "none: M_L, D_L, K_L do not change along the motion"
    summary = linearize_along(
        kronbot.load("spin-up", order="1").model, None, 1.0, None, None, lambda share: None
    ).summary
    assert summary["multipliers"] == "none: the motion of q1 does not repeat"


def test_exponentials_are_those_of_40_digits():
    """Of motions that swing and die out, of steps that are small and of some that are squared many times."""
    swing = np.random.default_rng(0).standard_normal((2, 5, 5))
    swing -= swing.transpose(0, 2, 1)
    for size in (1e-3, 0.49, 0.5, 1.0, 100.0):
        exponents = size * (swing / np.linalg.norm(swing, axis=(1, 2))[:, None, None] - 0.01 * np.diag(np.arange(5)))
        halves, wholes = _exponentials(exponents)
        for exponent, half, whole in zip(exponents, halves, wholes, strict=True):
            with mpmath.workdps(40):
                right = [
                    np.array(mpmath.expm(mpmath.matrix((exponent / k).tolist())).tolist(), dtype=float) for k in (2, 1)
                ]
            assert np.abs([half - right[0], whole - right[1]]).max() < 4e-16 * max(1, size)


def test_what_is_partly_damped_is_not_judged_as_conservative():
    """One pendulum of two is damped: the multipliers of the other lie on the circle, and nothing keeps them there."""
    text = """
kronbot: 1
name: pair
convention: standard
gravity: [0, -9.81, 0]
links:
  - {name: cart, joint: {type: prismatic, name: s}, pose: {xyz: [0, 0, 0], rpy: [-pi/2, 0, 0]}, rigid: {mass: 1}}
  - {name: a, joint: {type: revolute, name: q1, damping: DAMPING}, pose: {xyz: [0, 0, 0], rpy: [pi/2, 0, 0]},
     rigid: {mass: 1, com: [0, -1, 0]}}
  - {name: b, parent: cart, joint: {type: revolute, name: q2}, pose: {xyz: [0, 0, 0], rpy: [pi/2, 0, 0]},
     rigid: {mass: 1, com: [0, -0.5, 0]}}
motion: {s: {type: sinusoid, amplitude: 0.01, frequency: 20}}
"""
    undamped, damped = (kronbot.loads(text.replace("DAMPING", each)).linearize_along() for each in ("0", "0.3"))
    assert undamped.summary["verdict"].startswith("stable, undamped")
    assert np.sort(np.abs(damped.arrays["multipliers"].values))[-2:] == pytest.approx(1, abs=1e-9)
    assert damped.summary["verdict"].startswith("undecided")


def test_multipliers_that_meet_stay_on_the_circle_where_their_signature_is_one():
    """Krein: two oscillators of positive energy may have one multiplier, one of either sign may leave the circle."""
    form = np.kron(np.eye(2), [[0.0, 1.0], [-1.0, 0.0]])
    first = np.array([1, 1j, 0, 0])
    alike, opposed = (np.column_stack([first, [0, 0, 1, side * 1j]]) for side in (1, -1))
    assert _definite(alike, form)
    assert not _definite(opposed, form)


def test_the_form_is_conserved_with_gyroscopic_forces():
    """Of L = y'.M y'/2 + y'.B y - y.C y/2, all periodic: y1.p2 - y2.p1 of any two deviations."""
    rng = np.random.default_rng(3)
    M0, M1, C0, C1, B = rng.standard_normal((5, 3, 3))
    M0, M1, C0, C1 = M0 @ M0.T + 3 * np.eye(3), 0.1 * (M1 + M1.T), C0 @ C0.T + np.eye(3), 0.2 * (C1 + C1.T)

    def coefficients(times):
        c, s = np.cos(2 * times)[:, None, None], np.sin(2 * times)[:, None, None]
        return M0 + c * M1, -2 * s * M1 + (1 + 0.5 * c) * (B - B.T), C0 + s * C1 - s * B

    found = monodromy(coefficients, last_digits(coefficients), np.pi, [], lambda share: None)
    P = np.linalg.multi_dot([*found.pieces][::-1])
    assert np.abs(found.form[:3, :3]).max() > 0.05 * np.abs(found.form).max()  # what is gyroscopic counts
    np.testing.assert_allclose(P.T @ found.form @ P, found.form, atol=1e-10 * np.linalg.norm(found.form), rtol=0)
    assert _multipliers(found).word == "stable, undamped"


@pytest.mark.parametrize(
    "still",
    [
        rare("{type: sinusoid, amplitude: 0, frequency: 3}"),
        rare("{type: sinusoid, amplitude: 0, frequency: 3, offset: 0.2}"),
        rare("{type: sinusoid, amplitude: 0.3, frequency: 0, offset: 0.2}"),
        rare("{type: cycloidal, rate: 0, half_period: 1}"),
        "{type: cycloidal, from: 0.1, to: 0.1, duration: 1}",
        rare("{type: polynomial, from: 0, to: 0, duration: 1, degree: 5}"),
        rare("{type: spin-up, rate: 0, duration: 1}"),
    ],
)
def test_a_motion_that_stands_still_is_a_motion(still):
    """A literal zero folds away in the trace; the matrices are those about the point at which the joint stands."""
    robot = shipped_robot("khang").with_motion(f"qa: {still}")
    along = robot.linearize_along(duration=1, step=0.5)
    start = robot.linearize(q={"qa": 0.2 if "0.2" in still else 0.1 if "0.1" in still else 0})
    for name in ("M_L", "D_L", "K_L"):
        assert along.arrays[name].values == pytest.approx(np.array([start[name]] * 3), abs=1e-12)


@pytest.mark.parametrize("period", [30.0, rare(100.0), rare(200.0), rare(300.0)])
def test_constant_undamped_systems_are_stable_over_any_period(period):
    """Multipliers exp(+-i w T) within their errors, and no verdict that rounding makes, whatever the inertia."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n = 1 + seed % 3
        Q, S = rng.standard_normal((2, n, n))
        M, K = Q @ Q.T + 10.0 ** -(seed % 4) * np.eye(n), S @ S.T + 0.1 * np.eye(n)
        found = _multipliers(monodromy(*constant(M, K), period, [], lambda share: None))
        rates = np.sqrt(eigh(K, M, eigvals_only=True))
        exact = np.exp(1j * period * np.concatenate([rates, -rates]))
        assert found.word == "stable, undamped"
        assert (np.abs(found.values[:, None] - exact).min(axis=1) <= found.errors).all()
        assert (found.errors < 1e-6).all()


def test_free_directions_of_uneven_inertia_are_all_cyclic():
    """Three rotors on one axis, the middle one heavy: two directions are free, the third is a pendulum."""
    M, v = np.diag([1.0, 61.0, 2.0]), np.ones(3)
    found = _multipliers(monodromy(*constant(M, 9.81 * np.outer(v, v)), 1.0, [], lambda share: None))
    rate = np.sqrt(9.81 * v @ np.linalg.solve(M, v))
    assert found.at_one == 4 and found.word == "stable, undamped"
    assert apart(found.values, np.exp(1j * np.array([rate, -rate, 0, 0, 0, 0]))) < 1e-12


def constant(M, K):
    def coefficients(times):
        return tuple(np.repeat(A[None], len(times), axis=0) for A in (M, 0 * M, K))

    return coefficients, last_digits(coefficients)


def last_digits(coefficients):
    return lambda times: tuple(2.0**-52 * np.abs(A) for A in coefficients(times))


def test_a_period_beyond_the_end_of_a_table_is_refused(tmp_path):
    """Coefficients may be constant there; the motion is not known, whatever the grid."""
    (tmp_path / "t.csv").write_text("t,q1\n" + "".join(f"{t},{t**2}\n" for t in range(6)))
    text = COAXIAL.replace("DAMPING", "0")
    text = text[: text.index("motion:")] + "motion: {q1: {type: table, file: t.csv}}\n"
    (tmp_path / "r.yaml").write_text(text)
    robot = kronbot.load(tmp_path / "r.yaml")
    with pytest.raises(UsageError, match="a table goes from t = 0 s to 5 s, the period to 20 s"):
        robot.linearize_along(duration=1, period=20)


@pytest.mark.parametrize("side", [0, 1])
def test_where_all_deviations_are_explained_by_symmetry(side):
    """Without gravity a sliding and a turning body drift: momenta alone, all multipliers at 1."""
    text = pendulum(0, 3).replace("gravity: [0, 0, -9.81]", "gravity: [0, 0, 0]").replace("-1*pi/2", "side")
    result = along(text.replace("side", str(side)), lock=[])
    assert result.summary["multipliers_at_one"] == 4
    assert np.array_equal(multipliers(result), np.ones(4))


@pytest.mark.parametrize(
    ("first", "second", "at_one"),
    [*(rare(*each, 0) for each in (("1.3", "1.3"), ("A", "1.3"), ("2*B", "2*B"))), ("A", "B", 0), ("A", "A", 2)],
)
def test_a_balance_of_equal_numbers_is_cyclic_only_where_a_name_says_so(first, second, at_one):
    """A shaken wheel with two weights: (m1 - m2) (g + z'') r is zero, by chance or by what the file states."""
    text = """
kronbot: 1
name: wheel
gravity: [0, 0, -9.81]
parameters: {A: 1.3, B: 1.3, R: 0.4}
links:
  - {name: support, joint: {type: prismatic, name: z}, pose: {}, rigid: {mass: 2}}
  - name: wheel
    joint: {type: revolute, name: swing}
    pose: {rpy: [pi/2, 0, 0]}
    rigid: {mass: FIRST, com: [0, R, 0]}
  - {name: weight, joint: {type: fixed}, pose: {}, rigid: {mass: SECOND, com: [0, -R, 0]}}
motion:
  z: {type: sinusoid, amplitude: 0.1, frequency: 20}
"""
    said = along(text.replace("FIRST", first).replace("SECOND", second)).summary
    assert said["multipliers_at_one"] == at_one
    assert at_one or said["verdict"].startswith("undecided")
