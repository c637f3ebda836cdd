"""The period of the linear model: of several motions their least common multiple, of those alone that matter."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from thinned import rare

from kronbot import load, loads
from kronbot.errors import KronbotError, UsageError

G, LENGTH, MASS, INERTIA = 9.81, 0.7, 1.3, 0.08
LEVER = MASS * LENGTH / (INERTIA + MASS * LENGTH**2)  # 1/m: theta'' + LEVER (g + z'') theta = 0
HEAD = """
kronbot: 1
name: shaken
convention: standard
gravity: [0, 0, -9.81]
links:
"""
STAGE = """
  - name: stage{i}
    joint: {{type: prismatic, name: z{i}}}
    dh: {{a: 0, d: 0, alpha: {alpha}, theta: 0}}
    rigid: {{mass: 2}}
"""
ROD = """
  - name: rod
    joint: {type: revolute, name: swing, damping: 0.05}
    dh: {a: 0.7, d: 0, alpha: 0, theta: -pi/2}
    rigid: {mass: 1.3, inertia: {Izz: 0.08}}
motion:
"""


def shaken(*motions):
    """A pendulum below stages on top of each other that all move along the vertical."""
    count = len(motions)
    text = HEAD + "".join(STAGE.format(i=i, alpha="pi/2" if i == count - 1 else 0) for i in range(count)) + ROD
    return loads(text + "".join(f"  z{i}: {motion}\n" for i, motion in enumerate(motions)))


def sinusoid(amplitude, frequency):
    return f"{{type: sinusoid, amplitude: {amplitude}, frequency: {frequency}}}"


def multipliers(period, acceleration, rows=(), begin=0.0):
    """Of theta'' + c theta' + LEVER (g + z'') theta = 0 over a period, from row to row."""
    damping = 0.05 / (INERTIA + MASS * LENGTH**2)

    def rate(t, y):
        y = y.reshape(2, 2)
        return np.array([y[1], -damping * y[1] - LEVER * (G + acceleration(t)) * y[0]]).ravel()

    y, ends = np.eye(2).ravel(), np.unique([begin, *rows, begin + period])
    for span in pairwise(ends):
        y = solve_ivp(rate, span, y, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    return np.linalg.eigvals(y.reshape(2, 2)).astype(complex)


def apart(ours, theirs):
    return np.abs(np.subtract.outer(ours, theirs)).min(axis=1)


@pytest.mark.parametrize(
    ("frequencies", "turns"),
    [
        rare((4, 6), 1 / 2),  # half a turn of 2 pi: 2 and 3 periods, neither is the longest
        rare((2.5, 1.5), 2),
        rare((4, 6, 10), 1 / 2),
        rare((3, 4, 6), 1),  # the first and the second meet before the third does, or the other way round
        ((6, 3), 1 / 3),  # here the longest is the one
    ],
)
def test_the_period_of_sinusoids_is_where_all_of_them_meet(frequencies, turns):
    amplitudes = [0.05 / (i + 1) for i in range(len(frequencies))]
    found = shaken(*map(sinusoid, amplitudes, frequencies)).linearize_along()
    assert found.summary["period"] == pytest.approx(2 * np.pi * turns, rel=1e-12)

    def acceleration(t):
        return sum(-a * f**2 * np.sin(f * t) for a, f in zip(amplitudes, frequencies, strict=True))

    ours, theirs = found["multipliers"], multipliers(2 * np.pi * turns, acceleration)
    assert np.abs(np.subtract.outer(ours, theirs)).min(axis=0).max() < 1e-8
    assert found.summary["verdict"].split()[0] == ("asymptotically" if np.abs(theirs).max() < 1 else "unstable")


@pytest.mark.slow
def test_a_cycloid_repeats_after_twice_its_half_period():
    """Its rate does, its place does not; with a sinusoid of two thirds of that they meet after 4 half periods."""
    cycloid = "{type: cycloidal, rate: 0.1, half_period: 0.6}"
    found = shaken(cycloid).linearize_along()
    assert found.summary["period"] == pytest.approx(1.2, rel=1e-12)
    both = shaken(cycloid, sinusoid(0.02, f"{2 * np.pi / 0.8!r}")).linearize_along()
    assert both.summary["period"] == pytest.approx(2.4, rel=1e-12)

    def acceleration(t):
        turn, other = np.pi / 0.6, 2 * np.pi / 0.8
        return 0.1 * turn * np.sin(turn * t) - 0.02 * other**2 * np.sin(other * t)

    ours, theirs = both["multipliers"], multipliers(2.4, acceleration)
    assert np.abs(np.subtract.outer(ours, theirs)).min(axis=0).max() < 1e-8


def test_motions_that_never_meet_have_no_multipliers():
    found = shaken(sinusoid(0.02, 3), sinusoid(0.02, "3*sqrt(2)")).linearize_along(duration=1)
    assert "period" not in found.summary and "multipliers" not in found


SPINDLE = """
kronbot: 1
name: spindle
gravity: [0, GRAVITY, 0]
links:
  - name: stage
    joint: {type: prismatic, name: x}
    pose: {rpy: [0, pi/2, 0]}
    rigid: {mass: 3}
  - name: spindle
    joint: {type: revolute, name: q}
    pose: {rpy: [0, -pi/2, 0]}
    rigid: {mass: 2, com: [0.1, 0, 0], inertia: {Ixx: 0.1, Iyy: 0.1, Izz: 0.1}}
  - name: rod
    joint: {type: revolute, name: swing, damping: 0.05}
    pose: {xyz: [0.4, 0, 0]}
    rigid: {mass: 1.3, com: [0.7, 0, 0], inertia: {Ixx: 0.08, Iyy: 0.08, Izz: 0.08}}
motion: {q: {type: cycloidal, rate: RATE, half_period: 0.6}}
"""
DRIVEN = 0.4  # m, from the spindle's axis to the rod's hinge


def spindle(travel, gravity=0.0):
    """A rod hinged to a spindle that goes on by ``travel`` (rad) within 1.2 s, on a stage across its axis."""
    return loads(SPINDLE.replace("RATE", f"({travel})/1.2").replace("GRAVITY", str(-gravity)))


def of_the_rod(travel, gravity, periods):
    """Multipliers of J y'' + c y' + m l (a q'^2 - g sin q) y = 0."""
    J, k, turn = INERTIA + MASS * LENGTH**2, travel / 1.2, np.pi / 0.6

    def rate(t, y):
        q, qd = k * (t - np.sin(turn * t) / turn), k * (1 - np.cos(turn * t))
        stiffness = MASS * LENGTH * (DRIVEN * qd**2 - gravity * np.sin(q))
        y = y.reshape(2, 2)
        return np.array([y[1], -(0.05 * y[1] + stiffness * y[0]) / J]).ravel()

    done = solve_ivp(rate, (0, 1.2 * periods), np.eye(2).ravel(), method="DOP853", rtol=1e-13, atol=1e-14)
    return np.linalg.eigvals(done.y[:, -1].reshape(2, 2)).astype(complex)


@pytest.mark.parametrize(
    ("travel", "value", "gravity", "periods"),
    [
        ("1", 1.0, 0, 1),  # no gravity: nothing knows the spindle's angle
        rare("2*pi", 2 * np.pi, 9.81, 1),
        rare("2*pi/3", 2 * np.pi / 3, 9.81, 3),
        rare("-4*pi*3/4", -3 * np.pi, 9.81, 2),
    ],
)
def test_what_turns_on_repeats_after_whole_turns_unless_its_angle_does_not_matter(travel, value, gravity, periods):
    """The stage is locked and stands still: its rows, which turn with the spindle, do not matter."""
    found = spindle(travel, gravity).linearize_along(lock=["x", "q"])
    assert found.summary["period"] == pytest.approx(1.2 * periods, rel=1e-12)
    assert found.arrays["M_L"].axis[1][-1] == pytest.approx(1.2 * periods)
    distance = apart(found["multipliers"], of_the_rod(value, gravity, periods))
    assert (distance <= found["multiplier_errors"] + 1e-11).all()


def test_what_turns_on_by_no_share_of_a_turn_is_told_with_the_entry_that_shows_it():
    """The duration is that of the motion then."""
    found = spindle("1", 9.81).linearize_along(lock=["x", "q"])
    assert found.summary["multipliers"].startswith(
        "none: M_L, D_L, K_L do not repeat after 1.2 s: K_L[swing,swing] is off by 0."
    )
    assert found.summary["multipliers"].endswith("of its largest value; q goes on by 1 rad")
    assert found.arrays["M_L"].axis[1][-1] == pytest.approx(1.2)


TWO_ARMS = """
  - name: other
    parent: base
    joint: {type: prismatic, name: side}
    pose: {rpy: [0, pi/2, 0]}
    rigid: {mass: 2}
"""


@pytest.mark.parametrize(
    ("name", "motion"),
    [
        ("side", "{type: polynomial, from: 0, to: 1, duration: 3, degree: 5}"),
        rare("side", "{type: sinusoid, amplitude: 1, frequency: sqrt(2)}"),
        ("z1", "{type: polynomial, from: 0.3, to: 0.3, duration: 3, degree: 5}"),
        rare("z1", "{type: sinusoid, amplitude: 0, frequency: sqrt(2)}"),
    ],
)
def test_motions_that_do_not_matter_need_not_repeat(name, motion):
    """Those of another arm, and those that stand still."""
    robot = shaken(sinusoid(0.05, 4), sinusoid(0, 4))
    text = robot.description.source.text.replace("motion:\n", TWO_ARMS[1:] + "motion:\n")
    plain = loads(text.replace(f"  z1: {sinusoid(0, 4)}\n", f"  {name}: {motion}\n"))
    found = plain.linearize_along(lock=["z0", "z1", "side"])
    assert found.summary["period"] == pytest.approx(np.pi / 2, rel=1e-12)
    wanted = multipliers(np.pi / 2, lambda t: -0.05 * 16 * np.sin(4 * t))
    assert apart(found["multipliers"], wanted).max() < 1e-9


def sampled(folder, name, count, periods=1, digits=9):
    """A sine of period 1.1 s as a file of ``count`` rows a period and one."""
    t, whole = 1.1 * periods * np.linspace(0, 1, count * periods + 1), 2 * np.pi * np.arange(count * periods + 1)
    rows = "".join(f"{a!r},{0.05 * np.sin(b / count):.{digits}f}\n" for a, b in zip(t.tolist(), whole, strict=True))
    (folder / f"{name}.csv").write_text("t,z\n" + rows)
    return t, np.round(0.05 * np.sin(whole / count), digits)


def tabulated(folder, name, more=""):
    text = shaken(sinusoid(1, 1)).description.source.text.replace(
        sinusoid(1, 1), f"{{type: table, file: {name}.csv{more}}}"
    )
    (folder / "r.yaml").write_text(text)
    return load(folder / "r.yaml")


@pytest.mark.parametrize("count", [7, 40])
def test_a_periodic_table_repeats(tmp_path, count):
    """Multipliers are those of the periodic spline, integrated from row to row, within their errors."""
    rows, values = sampled(tmp_path, "sine", count)
    found = tabulated(tmp_path, "sine", ", periodic: true").linearize_along()
    assert found.summary["period"] == pytest.approx(1.1, rel=1e-12)
    acceleration = CubicSpline(rows, values, bc_type="periodic").derivative(2)
    distance = apart(found["multipliers"], multipliers(1.1, acceleration, rows))
    assert (distance <= found["multiplier_errors"] + 1e-11).all()
    assert found["multiplier_errors"].max() < 1e-10


def test_a_table_that_ends_is_told_how_to_repeat(tmp_path):
    """A sine of three whole periods: its spline ends freely, and shows by how much."""
    sampled(tmp_path, "sine", 40, periods=3)
    robot = tabulated(tmp_path, "sine")
    told = robot.linearize_along().summary["multipliers"]
    assert told == "none: the table 'sine.csv' is not said to be periodic: the motion of z0 does not repeat"
    said = (
        r"period 1.1: M_L, D_L, K_L do not repeat after it, K_L\[swing,swing\] is off by 0.00034 of its largest value; "
        "the spline of 'sine.csv' repeats where it is periodic: true"
    )
    with pytest.raises(UsageError, match=said):
        robot.linearize_along(period=1.1)
    with pytest.raises(KronbotError):
        load("canadarm").linearize_along(duration=0.05, step=0.02, period=1e308)


@pytest.mark.slow
def test_errors_hold_what_a_period_is_not_the_same_as_the_next():
    """A period that is off by 1e-10: the multipliers of the second one are within the errors of the first."""
    drive = 2 * np.pi / 1.1
    robot = shaken(sinusoid(0.05, f"{drive!r}"))
    found, exact = robot.linearize_along(period=1.1 * (1 + 2e-10)), robot.linearize_along()
    assert 100 * exact["multiplier_errors"].max() < found["multiplier_errors"].min() < 1e-7
    period = found.summary["period"]
    second = multipliers(period, lambda t: -0.05 * drive**2 * np.sin(drive * t), begin=period)
    assert (apart(found["multipliers"], second) <= found["multiplier_errors"]).all()


FOLLOWED = """
kronbot: 1
name: geared
gravity: [0, -9.81, 0]
links:
  - {name: a, joint: {type: revolute, name: q}, pose: {}, rigid: {mass: 1, inertia: {Ixx: 1, Iyy: 1, Izz: 1}}}
  - name: b
    parent: base
    joint: {type: revolute, name: slow, follows: q/3}
    pose: {xyz: [2, 0, 0]}
    rigid: {mass: 1, inertia: {Ixx: 1, Iyy: 1, Izz: 1}}
  - name: rod
    joint: {type: revolute, name: swing, damping: 0.05}
    pose: {xyz: [0.4, 0, 0]}
    rigid: {mass: 1.3, com: [0.7, 0, 0], inertia: {Ixx: 0.08, Iyy: 0.08, Izz: 0.08}}
motion: {q: {type: cycloidal, rate: 2*pi/1.2, half_period: 0.6}}
"""


@pytest.mark.slow
def test_what_follows_at_a_third_of_the_turns_takes_three_of_them():
    found = loads(FOLLOWED).linearize_along()
    assert found.summary["period"] == pytest.approx(3.6, rel=1e-12)
    distance = apart(found["multipliers"], of_the_rod(2 * np.pi / 3, 9.81, 3))
    assert (distance <= found["multiplier_errors"] + 1e-11).all()
