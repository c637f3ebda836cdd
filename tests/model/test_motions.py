"""Motions: the formulas of the design, their continuity, tables."""

import casadi
import numpy as np
import pytest
from robots_in_tests import model
from scipy.interpolate import CubicSpline

from kronbot.errors import UsageError
from kronbot.model import motions


def evaluated(motion, times):
    """q, qd, qdd at many times, (3, N)."""
    t = casadi.SX.sym("t")
    function = casadi.Function("motion", [t], [casadi.vertcat(*motion.derivatives(t))])
    return np.array(function(np.asarray(times, dtype=float)[None, :]))


def numbers(*values):
    return [casadi.SX(value) for value in values]


TIMES = np.linspace(0, 30, 301)
SLIDER = """
kronbot: 1
name: slider
gravity: [0, 0, 0]
links:
  - {name: a, joint: {type: prismatic, name: q1}, pose: {}, rigid: {mass: 1}}
motion: {q1: {type: cycloidal, from: 0, to: 1, duration: 2/3}}
"""


def test_cycloidal_goes_on_for_ever():
    """Mohan-Saha (44): rate 2 k at T, back at rest at 2 T."""
    q, qd, qdd = evaluated(motions.cycloidal(*numbers(0.1, 5)), TIMES)
    assert np.allclose(q, 0.1 * (TIMES - 5 / np.pi * np.sin(np.pi * TIMES / 5)), atol=1e-14)
    assert qd[50] == pytest.approx(0.2)
    assert qd[100] == pytest.approx(0, abs=1e-15)
    assert qdd[25] == pytest.approx(0.1 * np.pi / 5)


def test_cycloidal_from_one_value_to_another():
    """At rest and unaccelerated at 0 and T = 12, held outside; inside it is (44) with half the time, its formula."""
    times = np.linspace(-3, 30, 331)
    q, qd, qdd = evaluated(motions.cycloidal_rise(*numbers(1, -2, 12)), times)
    inside = (times >= 0) & (times < 12)
    wanted = 1 - 3 * (times / 12 - np.sin(2 * np.pi * times / 12) / (2 * np.pi))
    assert np.allclose(q, np.where(inside, wanted, np.where(times < 0, 1, -2)), atol=1e-14)
    assert not qd[~inside].any()
    assert not qdd[~inside].any()
    assert np.abs(evaluated(motions.cycloidal_rise(*numbers(1, -2, 12)), [0, 12 - 1e-9])[1:]).max() < 1e-9
    printed = evaluated(motions.cycloidal(*numbers(-3 / 12, 6)), times[inside])
    assert np.allclose(np.array([q - 1, qd, qdd])[:, inside], printed, atol=1e-14)


def test_a_cycloidal_rise_has_a_corner_where_it_ends():
    """Where a simulation stops and goes on, as at the end of a polynomial."""
    robot = model(SLIDER)
    assert robot.motions["q1"].corners(robot.parameters, 9, "test") == (2 / 3,)


def test_spin_up_reaches_its_rate_smoothly():
    """Rate Omega (t/T - sin(2 pi t/T)/(2 pi)) up to T = 15, Omega after; the angle is its integral."""
    q, qd, qdd = evaluated(motions.spin_up(*numbers(4, 15)), TIMES)
    rising = TIMES < 15
    wanted = np.where(rising, 4 * (TIMES / 15 - np.sin(2 * np.pi * TIMES / 15) / (2 * np.pi)), 4)
    assert np.allclose(qd, wanted, atol=1e-13)
    assert q[0] == 0
    assert np.allclose(np.diff(q), np.diff(TIMES) * (qd[1:] + qd[:-1]) / 2, atol=1e-3)  # trapezoids
    assert q[-1] == pytest.approx(4 * (30 - 7.5))
    assert np.allclose(qdd[~rising], 0)


@pytest.mark.parametrize(("degree", "jump"), [(3, True), (5, False)])
def test_polynomial_starts_and_ends_at_rest_and_holds(degree, jump):
    """From 1 to -2 within 10 s; degree 5 also starts and ends without acceleration."""
    q, qd, qdd = evaluated(motions.polynomial(*numbers(1, -2, 10), degree), TIMES)
    assert (q[0], qd[0]) == (1, 0)
    assert np.allclose(q[TIMES >= 10], -2)
    assert np.allclose(qd[TIMES >= 10], 0)
    assert q[50] == pytest.approx(-0.5)
    assert (abs(qdd[0]) > 0.01) == jump
    assert np.abs(np.diff(q)).max() < 0.1  # no jump


def test_sinusoid():
    """offset + amplitude sin(frequency t + phase)."""
    q, qd, _ = evaluated(motions.sinusoid(*numbers(0.5, 3, 0.2, -1)), TIMES)
    assert np.allclose(q, -1 + 0.5 * np.sin(3 * TIMES + 0.2))
    assert np.allclose(qd, 1.5 * np.cos(3 * TIMES + 0.2))


def test_spline_of_a_table_is_the_not_a_knot_cubic():
    """C2 through every row; rate and acceleration are those of the cubic; the last time is known."""
    times, values = (0.0, 0.7, 1.1, 2.0, 3.5, 4.0), (0.0, 0.3, -0.2, 0.5, 0.1, 0.0)
    motion, reference = motions.spline(times, values), CubicSpline(times, values)
    inside = np.linspace(0, 4, 57)
    ours = evaluated(motion, inside)
    for derivative in range(3):
        assert np.allclose(ours[derivative], reference(inside, derivative), atol=1e-10)
    assert motion.times == times


@pytest.mark.parametrize("turns", [0, -2])
def test_a_periodic_table_is_the_periodic_spline(turns):
    """C2 everywhere, periods before 0 and far on too; where the last row is whole turns on, so is each period."""
    times, values = (-0.3, 0.7, 1.1, 2.0, 3.5, 4.0), np.array([0.1, 0.3, -0.2, 0.5, 0.3, 0.1])
    rise = 2 * np.pi * turns / 4.3
    steady = rise * (np.array(times) + 0.3)
    motion = motions.periodic_spline(times, tuple(values + steady))
    reference = CubicSpline(times, values, bc_type="periodic")
    at = np.linspace(-9, 90, 1801)
    ours = evaluated(motion, at)
    for derivative, drift in enumerate([rise * (at + 0.3), rise, 0.0]):
        assert np.allclose(ours[derivative], reference(at, derivative) + drift, atol=1e-10)
    assert motion.ends is None
    assert float(motion.period) == pytest.approx(4.3)
    assert float(motion.travel) == pytest.approx(2 * np.pi * turns)


def test_corners_of_a_periodic_table_are_those_of_all_its_periods():
    """Every row of a coarse one, its ends too, and none of a fine one."""
    for count in (9, 2001):
        t = np.linspace(0, 2, count)
        motion = motions.periodic_spline(tuple(t), (*np.cos(np.pi * t[:-1] + 0.3), np.cos(0.3)))
        every = np.arange(0, 7.1007, 2 / (count - 1))
        assert np.allclose(sorted(set(motion.meetings(None, 7.1007, "test"))), every, atol=1e-12)
        assert np.allclose(sorted(set(motion.corners(None, 7.1007, "test"))), every[1:] if count == 9 else [])
    with pytest.raises(UsageError, match="repeats 500000 times"):
        motion.meetings(None, 1e6, "test")


def test_corners_of_a_table_are_rows_where_accelerations_turn():
    """All inner rows of a coarse one but those of the not-a-knot ends, none of a fine one; where they jump, there."""
    for count, corners in ((9, 5), (2001, 0)):
        t = np.linspace(0, 2, count)
        found = motions.spline(tuple(t), tuple(np.sin(5 * t))).corners(None, 2, "test")
        assert len(found) == corners
        assert set(found) <= set(t[2:-2])
    kink = motions.spline(tuple(t), tuple(np.maximum(t - 1, 0.0) ** 2)).corners(None, 2, "test")
    assert kink and max(np.abs(np.array(kink) - 1)) < 0.02
