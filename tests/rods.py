"""Independent statics of slender rods: the elastica, Kirchhoff's rod and their buckling loads, from their equations.

Nothing here comes from the package under test, and nothing is expanded in shapes: the equilibrium equations are
integrated from the clamp, and the unknown root moment is found by shooting.

The internal force n and moment m at s are what the part beyond s does to the part before it. Loads are dead: their
direction stays in the base axes. Hence n(0), m(0) are the resultant of all loads at the root, and the reactions of the
clamp are -n(0), -m(0).

Sources: S. S. Antman, Nonlinear Problems of Elasticity, chapters IV and VIII; S. P. Timoshenko and J. M. Gere, Theory
of Elastic Stability, chapters 2 and 6; K. E. Bisshopp and D. C. Drucker, Large deflection of cantilever beams,
Quarterly of Applied Mathematics 3 (1945) 272-275; E. H. Dowell and J. J. Traybar, An experimental study of the
nonlinear stiffness of a rotor blade undergoing flap, lag and twist deformations, Princeton AMS reports 1194 and 1257
(1975).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import mpmath
import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from scipy.special import jv

# --------------------------------------------------------------------------------------------- shooting

_IMAGINARY = 1e-30  # step of derivatives by complex numbers: no difference is taken, so it may be as small as this
_RESIDUAL = 1e-11


def _flow(rates, start, rtol, dense=False):
    """Integrate y' = rates(s, y) from 0 to 1; y has one column for each start."""
    shape = start.shape
    done = solve_ivp(
        lambda s, y: rates(s, y.reshape(shape)).ravel(),
        (0.0, 1.0),
        start.ravel(),
        method="DOP853",
        rtol=rtol,
        atol=rtol / 100,
        dense_output=dense,
    )
    if not done.success:
        raise FloatingPointError(done.message)
    return done.sol if dense else done.y[:, -1].reshape(shape)


def _newton(rates, known, wanted, guess, rtol, residual):
    """Root values u of the last states that bring them to `wanted` at the tip, and the derivative of tip by root.

    The derivative comes out of the same integration, by a column for each unknown with an imaginary step in it.
    None if Newton does not settle within eight steps.
    """
    u = np.array(guess, dtype=float)
    n = len(u)
    for _ in range(8):
        start = np.vstack([np.tile(known, (n, 1)).T, u[:, None] + 1j * _IMAGINARY * np.eye(n)])
        try:
            tip = _flow(rates, start, rtol)[-n:]
            gap, tangent = tip[:, 0].real - wanted, tip.imag / _IMAGINARY
            if np.abs(gap).max() <= residual * (1 + np.abs(u).max()):
                return u, tangent
            u = u - np.linalg.solve(tangent, gap)
        except (FloatingPointError, np.linalg.LinAlgError):  # a guess too far off, or a singular point
            return None
    return None


def _shoot(rates, known, wanted, steps):
    """Root values under the full load, followed from the unloaded rod in at least `steps` steps.

    rates(load) is the right-hand side under that fraction of the load, `wanted` the tip values under the full load. A
    step is halved where Newton fails, where the root values are far from the tangent of the last step, or where the
    determinant of the tangent is negative: it is 1 without load and changes its sign at a singular point, so another
    branch is neither jumped to nor followed beyond one.
    """
    wanted = np.asarray(wanted, dtype=float)
    load, u, slope = 0.0, np.zeros(len(wanted)), np.zeros(len(wanted))
    width = 1e-6  # the first step only finds the slope
    while load < 1:
        ahead = min(load + width, 1.0)
        guess = u + slope * (ahead - load)
        # On the way the branch must only be kept: the last step asks for the full accuracy.
        accuracy = (1e-13, _RESIDUAL) if ahead == 1 else (1e-8, 1e-6)
        found = _newton(rates(ahead), known, ahead * wanted, guess, *accuracy)
        near = found is not None and np.abs(found[0] - guess).max() <= 0.2 * (1 + np.abs(found[0]).max())
        if not near or np.linalg.det(found[1]) <= 0:
            width /= 2
            if width < 1e-8:
                raise ValueError(f"no equilibrium found beyond {load:.6g} of the load")
            continue
        slope = (found[0] - u) / (ahead - load)
        width = 1 / steps if load == 0 else min(2 * width, 1 / steps)
        u, load = found[0], ahead
    return found


# --------------------------------------------------------------------------------------------- planar elastica


@dataclass(frozen=True)
class Elastica:
    """Equilibrium of a planar elastica: tip, resultants n(0) and m(0) at the root, and the whole curve.

    at(s) gives x, y, psi, kappa at arc length s, arrays for an array. tangent is d m(l) / d m(0) of the shooting
    problem (dimensionless): 1 without load, 0 where another equilibrium branches off.
    """

    x: float
    y: float
    psi: float
    root_force: np.ndarray
    root_moment: float
    tangent: float
    at: Callable


def planar_elastica(length, EI, force=(0.0, 0.0), moment=0.0, weight_per_length=(0.0, 0.0), steps=4):
    """Inextensible elastica, clamped at the origin along +x, with dead loads in its plane.

    x' = cos psi, y' = sin psi, EI psi' = m, m' = n_x sin psi - n_y cos psi, n = force + weight_per_length (l - s),
    psi(0) = x(0) = y(0) = 0, m(l) = moment: Euler's elastica with a tip force, a tip moment and a distributed load.
    N, m, N m2. The residual m(l) - moment is at most 1e-11 (EI/l + |m(0)|). The equilibrium is the one connected with
    the unloaded rod while all loads grow in proportion, and lies before the first singular point of that path.

    ValueError beyond it (a column under more than its buckling load), and for loads so large that shooting from the
    root is hopeless (l sqrt(force/EI) above about 10).
    """
    F = np.asarray(force, dtype=float) * length**2 / EI
    w = np.asarray(weight_per_length, dtype=float) * length**3 / EI

    def rates(load):
        def slope(s, y):
            n_x, n_y = load * (F + w * (1 - s))
            c, d = np.cos(y[2]), np.sin(y[2])
            return np.stack([c, d, y[3], n_x * d - n_y * c])

        return slope

    (m,), tangent = _shoot(rates, np.zeros(3), [moment * length / EI], steps)
    curve = _flow(rates(1.0), np.array([[0.0], [0.0], [0.0], [m]]), 1e-13, dense=True)

    def at(s):
        x, y, psi, kappa = curve(np.asarray(s, dtype=float) / length)
        return x * length, y * length, psi, kappa / length

    x, y, psi, _ = (float(value) for value in at(length))
    root_force = np.asarray(force, dtype=float) + np.asarray(weight_per_length, dtype=float) * length
    return Elastica(x, y, psi, root_force, float(m) * EI / length, float(tangent[0, 0]), at)


def elastica_by_elliptic_integrals(length, EI, force, angle=math.pi / 2):
    """Tip x, y, psi of the clamped elastica under a dead tip force by Legendre's integrals (30 digits, as floats).

    `angle` from the rod's axis to the force, 0 < angle <= pi; pi/2 is Bisshopp and Drucker's cantilever. With omega =
    psi + pi - angle the rod is a pendulum, omega'' = -lambda^2 sin omega, lambda = sqrt(force/EI), omega' = 0 at the
    tip; with k = sin(omega(l)/2) and sin phi = sin((pi - angle)/2)/k at the root, the first monotone branch has

        lambda l = K - F(phi),
        int cos omega ds = (2 (E - E(phi)) - lambda l)/lambda,   int sin omega ds = 2 k cos(phi)/lambda.

    For angle = pi it is the buckled rod; ValueError below Euler's load, where there is none, and for lambda l > 20.
    """
    with mpmath.workdps(30):
        away = mpmath.pi - angle if angle != math.pi else mpmath.mpf(0)
        rate = mpmath.sqrt(mpmath.mpf(force) / EI)
        low = mpmath.sin(away / 2) ** 2

        def reach(fraction):
            m = low + (1 - low) * fraction
            phi = mpmath.asin(mpmath.sqrt(low / m))
            return m, phi, mpmath.ellipk(m) - mpmath.ellipf(phi, m)

        def gap(fraction):
            return reach(fraction)[2] - rate * length

        ends = (mpmath.mpf(10) ** -20, 1 - mpmath.mpf(10) ** -20)
        if gap(ends[0]) > 0:
            raise ValueError("the force is below Euler's load: the rod stays straight")
        if rate * length > 20:
            raise ValueError("the force is too large for 30 digits")
        m, phi, _ = reach(mpmath.findroot(gap, ends, solver="anderson", tol=1e-40))
        along = (2 * (mpmath.ellipe(m) - mpmath.ellipe(phi, m)) - rate * length) / rate
        across = 2 * mpmath.sqrt(m) * mpmath.cos(phi) / rate
        c, s = mpmath.cos(away), mpmath.sin(away)
        psi = 2 * mpmath.asin(mpmath.sqrt(m)) - away
        return float(c * along + s * across), float(c * across - s * along), float(psi)


# --------------------------------------------------------------------------------------------- Kirchhoff's rod


@dataclass(frozen=True)
class Rod:
    """Equilibrium of a rod in space: tip r (3), R (3, 3), resultants n(0) and m(0) at the root, and the whole curve.

    Columns of R are the section's axes in base axes. at(s) gives r, R, kappa at arc length s (for an array: stacked on
    the first axis), kappa in the section's axes. tangent is d m(l) / d m(0) of the shooting problem (3, 3,
    dimensionless): the identity without load, singular where another equilibrium branches off.
    """

    r: np.ndarray
    R: np.ndarray
    root_force: np.ndarray
    root_moment: np.ndarray
    tangent: np.ndarray
    at: Callable


def kirchhoff_rod(length, EI_y, EI_z, GJ, force=(0, 0, 0), moment=(0, 0, 0), weight=(0, 0, 0), steps=4):
    """Inextensible, unshearable, initially straight rod, clamped at the origin with its section axes along the base's.

    R' = R skew(kappa), r' = R e1, n' = -weight, m' = -r' x n, R^T m = (GJ kappa_x, EI_y kappa_y, EI_z kappa_z), with
    r(0) = 0, R(0) = 1, n(l) = force, m(l) = moment: dead tip force and moment and a dead load per length, all in base
    axes. EI_y is the stiffness of bending about y, which moves the rod along z. The columns of R are the unknowns, so
    no rotation is singular; the equations themselves keep them orthonormal. The residual m(l) - moment is at most 1e-11
    (EI_y/l + |m(0)|). The equilibrium is the one connected with the unloaded rod while all loads grow in proportion.

    ValueError beyond the first simple singular point of that path, and for loads so large that shooting from the root
    is hopeless (l sqrt(force/EI) above about 10). A double singular point (a round column under pure compression) is
    passed by unseen.
    """
    stiffness = np.array([GJ, EI_y, EI_z])[:, None] / EI_y
    F = np.asarray(force, dtype=float) * length**2 / EI_y
    w = np.asarray(weight, dtype=float) * length**3 / EI_y

    def rates(load):
        def slope(s, y):
            e1, e2, e3, m = y[3:6], y[6:9], y[9:12], y[12:]
            n_x, n_y, n_z = load * (F + w * (1 - s))
            k_x, k_y, k_z = np.array([(e1 * m).sum(0), (e2 * m).sum(0), (e3 * m).sum(0)]) / stiffness
            moments = np.stack([n_y * e1[2] - n_z * e1[1], n_z * e1[0] - n_x * e1[2], n_x * e1[1] - n_y * e1[0]])
            return np.concatenate([e1, k_z * e2 - k_y * e3, k_x * e3 - k_z * e1, k_y * e1 - k_x * e2, moments])

        return slope

    known = np.concatenate([np.zeros(3), np.eye(3).ravel()])
    m, tangent = _shoot(rates, known, np.asarray(moment, dtype=float) * length / EI_y, steps)
    curve = _flow(rates(1.0), np.concatenate([known, m])[:, None], 1e-13, dense=True)

    def at(s):
        y = np.moveaxis(curve(np.asarray(s, dtype=float) / length), 0, -1)
        columns = y[..., 3:12].reshape(*y.shape[:-1], 3, 3)  # one row a column of R
        kappa = (columns @ y[..., 12:, None])[..., 0] / stiffness[:, 0]
        return y[..., :3] * length, np.swapaxes(columns, -1, -2), kappa / length

    r, R, _ = at(length)
    root_force = np.asarray(force, dtype=float) + np.asarray(weight, dtype=float) * length
    return Rod(r, R, root_force, m * EI_y / length, tangent, at)


# --------------------------------------------------------------------------------------------- Princeton beam


def rectangle_torsion_constant(a, b):
    """Saint-Venant's torsion constant J (m4) of a rectangle a x b (m).

    J = a b^3 (1/3 - 64/pi^5 (b/a) sum over odd n of tanh(n pi a/(2 b))/n^5), b the shorter side (Timoshenko and
    Goodier, Theory of Elasticity, torsion of rectangular bars).
    """
    a, b = max(a, b), min(a, b)
    series = math.fsum(math.tanh(n * math.pi * a / (2 * b)) / n**5 for n in range(1, 400, 2))
    return a * b**3 * (1 / 3 - 64 / math.pi**5 * b / a * series)


@dataclass(frozen=True)
class PrincetonBeam:
    """Tip of the Princeton beam: displacements (m), two measures of its twist (rad), and the rod behind them."""

    flapwise: float
    chordwise: float
    twist: float
    chord_angle: float
    rod: Rod


def princeton_section():
    """EI of chordwise bending, EI of flapwise bending and GJ (N m2) of the Princeton beam: 36.279, 2.4287, 3.1034.

    Aluminium 12.377 mm x 3.2024 mm, E = 71.7 GPa, nu = 0.31.
    """
    width, thickness, E, nu = 12.377e-3, 3.2024e-3, 71.7e9, 0.31
    J = rectangle_torsion_constant(width, thickness)
    return E * thickness * width**3 / 12, E * width * thickness**3 / 12, E / (2 * (1 + nu)) * J


def princeton_beam(load, angle, steps=4):
    """The massless Princeton beam, 0.508 m long, under a dead tip load (N) at a loading angle (rad).

    Dowell and Traybar turn the root; here, as in the multibody benchmark made of it (Bauchau and others, Multibody
    System Dynamics 34 (2015) 373-389), the load turns. At angle 0 it acts along the chord (the stiff direction, 12.377
    mm deep): chordwise or lag bending only. At pi/2 it acts along the thickness: flapwise bending only. In base axes (x
    along the beam, y along the thickness, z along the chord) it is load times (0, sin angle, cos angle).
    The experiment has loads of 4.448, 8.896 and 13.345 N.

    flapwise and chordwise are y and z of the tip. twist is the x component of the tip's rotation vector log(R), the
    same along the undeformed axis and along the tip's tangent. chord_angle is what is plotted as the twist phi: the
    angle about +x from the chord at the root to the chord of the tip, projected on the root's section (looking along
    the undeformed beam): atan2(-R[1, 2], R[2, 2]).
    """
    EI_chord, EI_flap, GJ = princeton_section()
    force = (0.0, load * math.sin(angle), load * math.cos(angle))
    rod = kirchhoff_rod(0.508, EI_y=EI_chord, EI_z=EI_flap, GJ=GJ, force=force, steps=steps)
    twist = float(Rotation.from_matrix(rod.R).as_rotvec()[0])
    chord_angle = math.atan2(-rod.R[1, 2], rod.R[2, 2])
    return PrincetonBeam(float(rod.r[1]), float(rod.r[2]), twist, chord_angle, rod)


# --------------------------------------------------------------------------------------------- buckling


def lateral_buckling_classical(length, EI_min, GJ):
    """Dead tip load that buckles a deep cantilever, infinitely stiff in its plane: 4.0126 sqrt(EI_min GJ)/l^2.

    beta'' + p^2 (1 - s)^2 beta = 0, beta(0) = 0, beta'(1) = 0 is solved by sqrt(1 - s) J_{1/4}(p (1 - s)^2/2) and the
    one with -1/4; p = P l^2/sqrt(EI_min GJ) is twice the first root of J_{-1/4} (Timoshenko and Gere, section 6.3).
    """
    return 2 * brentq(lambda z: jv(-0.25, z), 1.5, 2.5, xtol=1e-15) * math.sqrt(EI_min * GJ) / length**2


def lateral_buckling(length, EI_min, EI_max, GJ):
    """The same load for finite EI_max: where the planar elastica, a Kirchhoff rod, is singular for the first time.

    About the elastica in the x-y plane (psi, M, k = M/EI_max, tip load P along -y) a rotation theta in section axes
    changes the strains by theta' + kappa x theta and the moment by delta m. Out of the plane remain theta_1, theta_2,
    the lateral displacement z and delta m_x = mu:

        GJ (theta_1' - k theta_2) = -M theta_2 + mu cos psi,   EI_min (theta_2' + k theta_1) = M theta_1 - mu sin psi,
        z' = -theta_2,   mu' = P theta_2,   theta_1(0) = theta_2(0) = 0,   mu(l) = 0.

    One value is free at the root, so the determinant is mu(l) with mu(0) = 1; its first zero is looked for upwards from
    no load. EI_max = math.inf gives the classical load; with a finite one the beam, bent out of the line of the load,
    carries more. ValueError if there is no such load up to 25 sqrt(EI_min GJ)/l^2: with GJ = 1.5 EI_min a beam of
    EI_min/EI_max = 0.25 buckles at 11.3, one of 0.3 never.
    """
    unit = math.sqrt(EI_min * GJ)
    a, g, flexibility = EI_min / unit, GJ / unit, unit / EI_max
    guess = np.zeros(1)  # root moment under a unit load: the last one found is near the next

    def determinant(p):
        nonlocal guess

        def plane(_, y):
            return np.stack([flexibility * y[1], p * np.cos(y[0])])

        def whole(_, y):
            (psi,), (M,), (theta_1,), (theta_2,), (mu,) = y
            c, s, k = math.cos(psi), math.sin(psi), flexibility * M
            theta_1_rate = k * theta_2 + (mu * c - M * theta_2) / g
            theta_2_rate = -k * theta_1 + (M * theta_1 - mu * s) / a
            return np.array([[k], [p * c], [theta_1_rate], [theta_2_rate], [p * theta_2]])

        found = _newton(plane, np.zeros(1), np.zeros(1), p * guess, 1e-13, _RESIDUAL)
        if found is None:
            raise ValueError(f"the planar elastica was lost at {p:.6g} sqrt(EI_min GJ)/l^2")
        guess = found[0] / p
        return _flow(whole, np.array([[0.0], [found[0][0]], [0.0], [0.0], [1.0]]), 1e-13)[-1, 0]

    below = 0.5
    while determinant(below + 0.5) > 0:
        below += 0.5
        if below > 25:
            raise ValueError("no lateral buckling up to 25 sqrt(EI_min GJ)/l^2")
    return brentq(determinant, below, below + 0.5, xtol=1e-13, rtol=1e-13) * unit / length**2


def euler_column(length, EI):
    """Compressive dead tip load at which a cantilever buckles: pi^2 EI/(4 l^2)."""
    return math.pi**2 * EI / (4 * length**2)


def heavy_column(length, EI):
    """Weight per length at which a standing cantilever buckles under itself: 7.8373 EI/l^3.

    psi'' + q (1 - s) psi = 0, psi(0) = 0, psi'(1) = 0 is solved by Bessel functions of (2/3) sqrt(q) (1 - s)^(3/2); q
    is 9/4 of the square of the first root of J_{-1/3} (Timoshenko and Gere, section 2.12; Greenhill 1881).
    """
    return 2.25 * brentq(lambda z: jv(-1 / 3, z), 1.5, 2.2, xtol=1e-15) ** 2 * EI / length**3
