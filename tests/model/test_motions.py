"""Motions: the formulas of the design, their continuity, tables."""

import casadi
import numpy as np
import pytest
from robots_in_tests import model
from scipy.interpolate import CubicSpline

import kronbot
from kronbot.errors import ComputationError, UsageError
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


UNEVEN = [  # rows nearer to each other than others by up to a hundred orders of magnitude
    ((0.0, 1e-5, 2e-5, 3.0), (0.0, 1e-5, 3e-5, 1.0)),
    ((0.0, 1.0, 1.00000001, 2.0, 3.0), (0.0, 0.0, 1.0, 1.0, 1.0)),
    ((0.0, 1e4, 10000.001, 10000.002, 10000.003, 2e4), (0.0, 1.0, 1.001, 1.002, 1.0025, 0.0)),
    ((0.0, 1e-100, 2e-100, 3.0), (0.0, 1.0, 0.0, 1.0)),
]


@pytest.mark.parametrize(("times", "values"), UNEVEN)
def test_splines_of_uneven_tables_are_solved_for(times, values):
    """To rounding of where they swing to, through every row: an iteration stops far from there."""
    motion, reference = motions.spline(times, values), CubicSpline(times, values)
    inside = np.concatenate([times, np.linspace(times[0], times[-1], 57)])
    expected = reference(inside)
    assert np.abs(evaluated(motion, inside)[0] - expected).max() < 1e-7 * np.abs(expected).max()
    found = evaluated(motion, np.array(times))[0]
    assert np.abs(found - values).max() <= 1e-15 * np.abs(expected).max() + 1e-15


@pytest.mark.parametrize("made", [motions.held, motions.periodic_spline])
def test_rows_of_uneven_tables_that_stand_or_repeat_are_passed(made):
    times, values = np.array([0.0, 1.0, 1.00000001, 2.0, 3.0]), np.array([0.0, 0.0, 1.0, 1.0, 0.0])
    found = evaluated(made(tuple(times), tuple(values)), times)[0]
    assert np.abs(found - values).max() < 1e-7


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
    assert motion.known(None, "test") == (-np.inf, np.inf)
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


def trapezoid(way, **told):
    told = {word: casadi.SX(value) for word, value in told.items()}
    return motions.trapezoid(casadi.SX(1), casadi.SX(1 + way), *motions.ramp(casadi.SX(abs(way)), **told))


@pytest.mark.parametrize("way", [3.0, -3.0])
def test_a_trapezoid_has_the_rate_of_one(way):
    """Told in any of its four ways: from 1 over 3 within 6, ramps of 2, the rate 0.75 between them."""
    times = np.array([-1, 0, 0.5, 1.9, 2.0, 3.7, 4.1, 5.2, 6.0, 7.0])
    rates = np.interp(times, [0, 2, 4, 6], [0, 0.75, 0.75, 0]) * np.sign(way)
    told = [
        {"duration": 6},
        {"duration": 6, "rate": 0.75},
        {"duration": 6, "acceleration": 0.375},
        {"rate": 0.75, "acceleration": 0.375},
    ]
    for each in told:
        q, qd, qdd = evaluated(trapezoid(way, **each), times)
        assert np.allclose(qd, rates, rtol=0, atol=1e-14)
        assert np.allclose(qdd, np.sign(way) * np.array([0, 1, 1, 1, 0, 0, -1, -1, 0, 0]) * 0.375, rtol=0, atol=1e-14)
        fine = np.linspace(0, 6, 60001)
        travelled = np.interp(fine, [0, 2, 4, 6], [0, 0.75, 0.75, 0]) * np.sign(way)
        wanted = 1 + np.concatenate([[0], np.cumsum(np.diff(fine) * (travelled[1:] + travelled[:-1]) / 2)])
        assert np.allclose(q, np.interp(times, fine, wanted), rtol=0, atol=1e-9)
        assert q[-1] == 1 + way and q[0] == 1


def test_a_short_way_does_not_reach_the_rate():
    """As fast as the acceleration allows: up and down, in 2 sqrt(way/a); no way is no motion."""
    q, qd, _ = evaluated(trapezoid(0.02, rate=5, acceleration=2), [0.05, 0.1, 0.15, 0.2, 1])
    assert qd == pytest.approx([0.1, 0.2, 0.1, 0, 0])
    assert q[1:] == pytest.approx([1.01, 1.0175, 1.02, 1.02])
    for told in ({"rate": 5, "acceleration": 2}, {"duration": 2}, {"duration": 2, "acceleration": 1}):
        assert (evaluated(trapezoid(0.0, **told), [-1, 0, 0.5, 1, 3]) == [[1], [0], [0]] * np.ones((3, 5))).all()


def test_via_points_are_joined_by_the_clamped_cubic_spline():
    """C2, at rest at both ends, held outside; of two points a cubic."""
    times, values = [0.5, 1.0, 1.1, 2.0, 3.5], [0.2, 0.3, -0.2, 0.5, 0.1]
    reference = CubicSpline(times, values, bc_type="clamped")
    motion = motions.through(numbers(*times), numbers(*values))
    inside, outside = np.linspace(0.5, 3.5, 61), np.array([-1, 0, 0.4999, 3.5001, 9])
    for derivative, found in enumerate(evaluated(motion, inside[:-1])):
        assert np.allclose(found, reference(inside[:-1], derivative), rtol=0, atol=1e-11)
    q, qd, qdd = evaluated(motion, outside)
    assert (q == [0.2, 0.2, 0.2, 0.1, 0.1]).all() and not qd.any() and not qdd.any()
    two, cubic = motions.through(numbers(0, 2), numbers(1, -2)), motions.polynomial(*numbers(1, -2, 2), 3)
    assert np.allclose(evaluated(two, inside), evaluated(cubic, inside), rtol=0, atol=1e-12)


def test_a_table_that_is_held_is_the_clamped_cubic_spline():
    """As SciPy has it, through rows far and near, few and many."""
    for count in (4, 100):
        times = np.cumsum(np.random.default_rng(count).uniform(0.1, 1, count))
        values = np.random.default_rng(1).normal(size=count)
        reference = CubicSpline(times, values, bc_type="clamped")
        motion, inside = motions.held((*times.tolist(),), (*values.tolist(),)), np.linspace(times[0], times[-1], 301)
        for derivative, found in enumerate(evaluated(motion, inside[:-1])):
            assert np.allclose(found, reference(inside[:-1], derivative), rtol=0, atol=1e-10)
        q, qd, qdd = evaluated(motion, [times[0] - 1, times[-1] + 1])
        assert (q == values[[0, -1]]).all() and not qd.any() and not qdd.any()
    t = np.linspace(0, 2, 401)
    for form, corners in ((np.cos(np.pi * t), (0, 2)), (t**3 * (10 - 15 * t / 2 + 1.5 * t**2), ())):
        assert motions.held((*(t + 1).tolist(),), (*form.tolist(),)).corners(None, 5, "test") == tuple(
            1.0 + each for each in corners
        )


KINDS = {
    "cycloidal": "{type: cycloidal, from: 0.3, to: 1, duration: 2START}",
    "for ever": "{type: cycloidal, rate: 1, half_period: 2START}",
    "spin-up": "{type: spin-up, rate: 2, duration: 1START}",
    "polynomial": "{type: polynomial, from: 0.1, to: 2, duration: 1.5, degree: 3START}",
    "trapezoid": "{type: trapezoid, from: 0.1, to: 2, duration: 1.5, rate: 2START}",
    "via-points": "{type: via-points, through: [[0, 0.1], [1, 2], [1.5, 1]]START}",
    "sinusoid": "{type: sinusoid, amplitude: 0.1, frequency: 5, phase: 1START}",
    "table": "{type: table, file: t.csvSTART}",
    "periodic table": "{type: table, file: p.csv, periodic: trueSTART}",
}


@pytest.fixture
def moved(tmp_path):
    """The motion of a kind in a file, with a start."""
    (tmp_path / "t.csv").write_text("".join(f"{t},{np.sin(3 * t)}\n" for t in np.linspace(-0.5, 4, 19)))
    (tmp_path / "p.csv").write_text("".join(f"{t},{np.sin(t * np.pi):.9f}\n" for t in np.linspace(0, 2, 9)))

    def motion_of(kind, start="", **parameters):
        text = SLIDER[: SLIDER.index("motion")] + f"parameters: {{s: 0.7}}\nmotion: {{q1: {KINDS[kind]}}}\n"
        (tmp_path / "slider.yaml").write_text(text.replace("START", start and f", start: {start}"))
        robot = kronbot.load(tmp_path / "slider.yaml").with_parameters(**parameters).model
        return robot.motions["q1"], robot.parameters

    return motion_of


@pytest.mark.parametrize("kind", KINDS)
def test_a_motion_may_begin_later(kind, moved):
    """The same after its start, before it at rest where it begins; its corners are later, too, and its start is one."""
    plain, numbers = moved(kind)
    late, bound = moved(kind, "2*s")
    for start in (1.4, -0.4):
        if start < 0:
            late, bound = moved(kind, "s", s=start)
        t = casadi.SX.sym("t")
        found = casadi.Function("late", [t, bound.symbols()], [casadi.vertcat(*late.derivatives(t))])
        first = casadi.Function("plain", [t, numbers.symbols()], [casadi.vertcat(*plain.derivatives(t))])
        after = np.linspace(max(start, 0) + 0.01, start + 3, 30)
        wanted = np.array(first(after[None] - start, numbers.bound()))
        np.testing.assert_allclose(np.array(found(after[None], bound.bound())), wanted, rtol=0, atol=1e-12)
        before = np.array(found(np.array([[start - 1, start - 1e-9]]), bound.bound()))
        rest = np.array(first(0, numbers.bound()))
        np.testing.assert_allclose(before, np.array([[rest[0, 0]] * 2, [0, 0], [0, 0]]), rtol=0, atol=0)
        own = [each for each in plain.corners(numbers, 5, "test") if "table" not in kind or each >= -start]
        assert late.corners(bound, start + 5, "test") == pytest.approx([start, *(start + each for each in own)])
        known = plain.known(numbers, "test")
        assert late.known(bound, "test") == pytest.approx((-np.inf, known[1] + start))
    assert plain.known(numbers, "test") == ((-0.5, 4.0) if kind == "table" else (-np.inf, np.inf))


def test_a_start_of_zero_changes_nothing(moved):
    """No branch is traced, and what repeats repeats."""
    late, _ = moved("sinusoid", "0")
    assert late.start is None and late.period is not None


def test_a_table_that_begins_late_is_not_known_before(moved, tmp_path):
    """Where its own time 0 is, it stands before its start: it must have a row there, or before."""
    (tmp_path / "t.csv").write_text("1,0\n2,1\n3,2\n4,3\n")
    late, bound = moved("table", "s")
    assert late.known(bound, "test") == (1.7, 4.7)


def test_other_values_of_a_motion_trace_nothing_anew():
    """Points, times, rates and starts are values; the answer is that of a fresh robot."""
    text = (
        SLIDER[: SLIDER.index("motion")].replace("name: q1", "name: q1, damping: 1")
        + "parameters: {a: 1, t1: 0.3, v: 2, s: 0.1}\nsimulate: {duration: 1, step: 0.05}\n"
        + "motion: {q1: {type: MOTION, start: s}}\n"
    )
    for kind in (
        "via-points, through: [[0, 0], [t1, a], [0.8, 0]]",
        "trapezoid, from: 0, to: a, rate: v, acceleration: 20",
    ):
        robot = kronbot.loads(text.replace("MOTION", kind))
        robot.simulate(solver="rodas")
        kept = len(robot.model.parameters._structure.kept)
        for values in ({"t1": 0.4, "v": 1.5, "a": -1.0}, {"s": -0.1}):
            found = robot.with_parameters(**values).simulate(solver="rodas")
            assert (
                found.to_dict()
                == kronbot.loads(text.replace("MOTION", kind), parameters=values).simulate(solver="rodas").to_dict()
            )
        assert len(robot.model.parameters._structure.kept) == kept


def test_a_number_is_where_a_joint_stands():
    """As a polynomial from there to there, in whatever uses motions; its value is a value."""
    text = (
        SLIDER[: SLIDER.index("motion")].replace("name: q1", "name: q1, damping: 1")
        + "parameters: {a: 0.4}\nsimulate: {duration: 0.2, step: 0.1DRIVE}\nmotion: {q1: MOTION}\n"
    )
    for drive in ("", ", drive: {q1: {pd: {kp: 100, kd: 5}}}", ", drive: {q1: {motion: 2*a}}"):
        made = text.replace("DRIVE", drive)
        stands = kronbot.loads(made.replace("MOTION", "a/2"))
        there = kronbot.loads(made.replace("MOTION", "{type: polynomial, from: a/2, to: a/2, duration: 1, degree: 3}"))
        for robot, same in ((stands, there), (stands.with_parameters(a=-1), there.with_parameters(a=-1))):
            run, wanted = robot.simulate(), same.simulate()
            np.testing.assert_allclose(run["q1"], wanted["q1"], rtol=0, atol=1e-12)
            along, other = (each.linearize_along(duration=0.2) for each in (robot, same))
            assert (along["K_L"] == other["K_L"]).all() and along.summary["multipliers"].startswith("none")
        assert run["q1"][0] == (-2 if "motion" in drive else -0.5)


PIECES = {
    "cycloidal": "{type: cycloidal, from: 0, to: 1, duration: T, start: s}",
    "spin-up": "{type: spin-up, rate: 2, duration: T, start: s}",
    "cubic": "{type: polynomial, degree: 3, from: 0, to: 2, duration: T, start: s}",
    "quintic": "{type: polynomial, degree: 5, from: 0, to: 2, duration: T, start: s}",
    "trapezoid": "{type: trapezoid, from: 0, to: 2, duration: T, start: s}",
    "limits": "{type: trapezoid, from: 0, to: T, rate: 0.9, acceleration: 3, start: s}",
    "via-points": "{type: via-points, through: [[0, 0.1], [T/7, 1], [T, 2]], start: s}",
    "shaped": "{type: trapezoid, from: 0, to: 2, duration: T, start: s, shaper: {type: zvd, frequency: 10/T}}",
    "shaped twice": "{type: cycloidal, from: 0, to: 2, duration: T, start: s, "
    "shaper: [{type: ei, frequency: 10/T}, {type: mzv, frequency: 17/T, damping: 0.1}]}",
    "held table": "{type: table, file: t.csv, held: true, start: s}",
}


@pytest.mark.parametrize("kind", PIECES)
def test_at_a_corner_the_piece_behind_holds(kind, tmp_path):
    """In doubles, whatever the start, also one long ago: there (start + duration) - start may be below the duration. At
    the time before the other piece holds. Accelerations, or derivatives of them, are those a little further on that
    side; inside a spline accelerations are the same on both."""
    (tmp_path / "t.csv").write_text("".join(f"{t},{1 - np.cos(np.pi * t)}\n" for t in np.arange(11) / 10))
    text = SLIDER[: SLIDER.index("motion")] + f"parameters: {{s: 0.7, T: 1}}\nmotion: {{q1: {PIECES[kind]}}}\n"
    (tmp_path / "slider.yaml").write_text(text)
    robot, t, rng, told = kronbot.load(tmp_path / "slider.yaml"), casadi.SX.sym("t"), np.random.default_rng(5), 0
    motion = robot.model.motions["q1"]
    a = motion.derivatives(t)[2]
    jerk = casadi.jacobian(a, t)
    curves = casadi.vertcat(a, jerk, casadi.jacobian(jerk, t))
    function = casadi.Function("curves", [t, robot.model.parameters.symbols()], [curves])
    for _ in range(100):
        T = rng.uniform(0.003, 2)
        bound = robot.with_parameters(s=rng.uniform(-1.1 * T, 10), T=T).model.parameters
        corners = np.array(motion.corners(bound, 99, "test"))[:, None]
        beside = np.hstack([corners - 1e-7 * T, np.nextafter(corners, -np.inf), corners, corners + 1e-7 * T])
        rows = np.array(function(beside.reshape(1, -1), bound.bound())).reshape(3, -1, 4)
        rows = rows[:1] if motion.times else rows * np.array([1, T, T**2])[:, None, None]
        jumps = np.abs(rows[..., 3] - rows[..., 0])
        jumping = jumps > 1e-3 * np.abs(rows).max()
        assert (np.abs(rows[..., 2] - rows[..., 3]) < 1e-3 * jumps)[jumping].all()
        assert (np.abs(rows[..., 1] - rows[..., 0]) < 1e-3 * jumps)[jumping].all()
        told += jumping.sum()
    assert told >= 100


def test_rows_that_no_number_tells_apart_are_named():
    """Three within rounding of one cubic: no equation of its own is left to each. At clamped ends there are knots."""
    times, values = (0.0, 2.0, 2.0 + 1e-12, 2.0 + 2e-12, 4.0), (1.0, 1.0, 2.0, 1.0, 1.0)
    with pytest.raises(ComputationError, match=r"rows at t = 2.0 s and 2.00000000000\d* s: they are too near"):
        motions.spline(times, values)
    assert evaluated(motions.held(times, values), np.array(times))[0] == pytest.approx(values, abs=1e-3)
