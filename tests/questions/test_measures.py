"""What a run is judged by, against closed forms: a mass on a controller, a beam's tip after a motion."""

import itertools
import math
from itertools import product

import numpy as np
import pytest
from robots_in_tests import model
from scipy.integrate import simpson, solve_ivp
from scipy.optimize import brentq
from thinned import rare, thinned

import kronbot
from kronbot.errors import Interrupted, UsageError
from kronbot.library.robot import Robot
from kronbot.mechanics.motion.integrators import INTEGRATORS
from kronbot.mechanics.motion.settling import residual, settling_time, vibrations
from kronbot.questions import grids
from kronbot.questions.simulate import outline

BLOCK = """
kronbot: 1
name: block
gravity: [0, 0, 0]
links:
  - name: block
    joint: {type: prismatic, name: q1}
    pose: {}
    rigid: {mass: 2}
simulate: {duration: 12, step: 3, drive: {q1: {pd: {kp: 8, kd: 1.6, target: 0.5}}}}
"""
ARM = """
kronbot: 1
name: arm
convention: standard
gravity: [0, 0, 0]
links:
  - name: arm
    joint: {type: revolute, name: q1}
    dh: {a: 1.2, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 0.5, EI: {z: 8}, modes: {v: 2}, shape: craig-bampton}
    payload: {mass: 0.3}
simulate:
  duration: 6
  step: 0.5
  drive: {q1: {motion: {type: polynomial, degree: 5, from: 0, to: 0.02, duration: 0.5, shaper: SHAPER}}}
"""
BESIDE = """
kronbot: 1
name: beside
gravity: [0, -9.81, 0]
links:
  - name: upper
    joint: {type: revolute, name: q1}
    pose: {}
    rigid: {mass: 2, com: [0.3, 0, 0], inertia: {Izz: 0.1}}
  - name: lower
    joint: {type: revolute, name: q2}
    pose: {xyz: [0.6, 0, 0]}
    rigid: {mass: 1, com: [0.2, 0, 0], inertia: {Izz: 0.05}}
motion: {q1: {type: polynomial, degree: 5, from: 0, to: 1, duration: 0.8}}
control: {q2: {pid: {kp: 40, kd: 2}, target: 0.5}}
"""
# What is told of behind a motion, and of all of a run, but for largest values.
BEHIND = ("motion_end", "settling_time", "residual", "rms_torque", "steps", "evaluations")


def left(times, values):
    """What is left of values (N, k) at even times, about which place."""
    return residual(values, vibrations(times, values))


def test_a_mass_on_a_controller_is_the_textbook():
    """m q'' + kd q' + kp q = kp target: omega = 2, zeta = 0.2."""
    robot = Robot(model(BLOCK))
    found = robot.simulate().summary
    zeta, omega = 0.2, 2.0
    damped = omega * math.sqrt(1 - zeta**2)
    assert found["overshoot.q1"] == pytest.approx(math.exp(-math.pi * zeta / math.sqrt(1 - zeta**2)), rel=1e-4)

    def error(t):
        return math.exp(-zeta * omega * t) * (math.cos(damped * t) + zeta * omega / damped * math.sin(damped * t))

    t = found["settling_time.q1"]
    assert abs(error(t)) == pytest.approx(0.02, rel=1e-2)
    assert all(abs(error(after)) <= 0.02 * (1 + 1e-6) for after in np.linspace(t * 1.001, 12, 4000))
    assert found["motion_end"] == 0
    # Torque kp (target - q) - kd q': largest at once.
    assert found["peak_torque.q1"] == pytest.approx(4)
    for band, cure in ((2, ": 2 % is 0.02"), (1, ": 1 % is 0.01"), (1e3, "")):
        with pytest.raises(UsageError, match=rf"^band is a share, between 0 and 1, not {band:g}{cure}$"):
            robot.simulate(band=band)
    wider = robot.simulate(band=0.1).summary
    assert abs(error(wider["settling_time.q1"])) == pytest.approx(0.1, rel=1e-2)


BEHIND_A_SHAFT = """
kronbot: 1
name: behind
convention: standard
gravity: [0, -9.81, 0]
links:
  - name: A
    joint: {type: revolute, name: q1, damping: 1, rotor_inertia: 0.1, elastic: {stiffness: 100, damping: 4}}
    dh: {a: 0.8, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 1, inertia: {Izz: 0.05}}
control: {q1: {pid: {kp: 100, kd: 20, side: SIDE}, gravity: flexible}}
motion: {q1: {type: polynomial, from: 0.5, to: 0.6, duration: 0.5, degree: 5}}
simulate: {duration: 12, step: 0.01}
"""


@pytest.mark.parametrize(("side", "column"), [("link", "q1"), ("motor", "q1.motor")])
def test_a_joint_is_judged_by_what_its_controller_sees(side, column):
    """Behind a shaft that winds up under its weight the motor stands elsewhere, and is not what is wanted there."""
    start = {"q1": 0.5, "q1.motor": 0.5724} if side == "link" else {"q1": 0.4216, "q1.motor": 0.5}
    run = kronbot.loads(BEHIND_A_SHAFT.replace("SIDE", side)).simulate(q=start)
    s = np.clip(run["t"] / 0.5, 0, 1)
    strays = run[column] - (0.5 + 0.1 * s**3 * (10 - 15 * s + 6 * s**2))
    after = run["t"] >= 0.5
    assert run.summary["peak_deviation.q1"] == pytest.approx(np.abs(strays).max(), rel=1e-3)
    way = 0.6 - run[column][0]
    assert run.summary["overshoot.q1"] == pytest.approx(max(0.0, (strays[after] / way).max()), abs=1e-3)
    last = run["t"][after][np.abs(strays[after]) > 0.02 * abs(way)][-1]
    assert run.summary["settling_time.q1"] == pytest.approx(last - 0.5, abs=0.011)


def test_a_small_way_beside_a_large_vibration_settles_once_this_has_died_out():
    """The place is known of the later part, to a share of the band, which is small beside what vibrates at first."""
    text = (
        "kronbot: 1\nname: st\nconvention: standard\ngravity: [0, -9.81, 0]\nlinks:\n  - name: A\n"
        "    joint: {type: revolute, name: q1}\n    dh: {a: 0.8, d: 0, alpha: 0, theta: 0}\n"
        "    flexible: {mass: 0.8, EI: {z: 20}, modes: {v: 2}, shape: craig-bampton, damping: {ratio: 0.2}}\n"
        "    payload: {mass: 0.8}\ncontrol: {q1: {pid: {kp: 100, kd: 60}, target: 0.6}}\n"
    )
    run = kronbot.loads(text).simulate(q={"q1": 0.5}, duration=20, step=0.01)
    r = np.column_stack([run[f"endpoint.{axis}"] for axis in "xyz"])
    off, way = np.linalg.norm(r - r[-1], axis=1), np.linalg.norm(r[0] - r[-1])
    assert off.max() > 10 * way
    assert run.summary["settling_time"] == pytest.approx(run["t"][off > 0.02 * way][-1], abs=0.01)


def test_what_creeps_is_judged_by_where_it_will_come_to_rest():
    """The endpoint of one joint is that joint: 2 q'' + 12 q' + 8 q = 4, as long as a run is."""
    robot = Robot(model(BLOCK.replace("kd: 1.6", "kd: 12")))
    slow, fast = (-12 + math.sqrt(80)) / 4, (-12 - math.sqrt(80)) / 4
    t = np.linspace(0, 20, 200001)
    away = (fast * np.exp(slow * t) - slow * np.exp(fast * t)) / (fast - slow)
    settled = t[np.flatnonzero(np.abs(away) > 0.02)[-1]]
    for duration in (6, 10, 20):
        found = robot.simulate(duration=duration).summary
        assert found["settling_time"] == pytest.approx(settled, rel=1e-4)
        assert found["settling_time.q1"] == pytest.approx(settled, rel=1e-4)
        assert found["residual_amplitude"] == pytest.approx(0.5, rel=1e-6)
    short = robot.simulate(duration=3).summary
    assert "settling_time" not in short and short["residual_amplitude"] == pytest.approx(0.5, rel=1e-6)


def test_what_vibrates_for_ever_never_settles():
    """Though it is within the band, on its way through, when the run ends."""
    text = BLOCK.replace("name: q1}", "name: q1, rotor_inertia: 1, elastic: {stiffness: 200}}")
    driven = "{q1: {motion: {type: cycloidal, from: 0, to: 0.5, duration: 0.9}}}"
    robot = Robot(model(text.replace("{q1: {pd: {kp: 8, kd: 1.6, target: 0.5}}}", driven)))
    for duration in np.arange(9, 9.7, 0.26):
        found = robot.simulate(duration=float(duration), rtol=1e-5).summary
        assert found["residual_frequency.1"] == pytest.approx(10, rel=1e-3) and found["residual_amplitude"] > 0.05
        assert not any(name.startswith("settling_time") for name in found)


def test_root_mean_squares_of_torques():
    """A block under a force that is what it is."""
    robot = Robot(model(BLOCK.replace("{pd: {kp: 8, kd: 1.6, target: 0.5}}", "{torque: 3}")))
    found = robot.simulate().summary
    assert found["rms_torque.q1"] == pytest.approx(3)
    assert "motion_end" not in found and "residual_amplitude" not in found


@pytest.mark.parametrize("solver", thinned([*INTEGRATORS], ["cvodes", "rodas", "dop853"]))
def test_root_mean_squares_of_what_is_soon_over(solver, unmeasured):
    """2 q'' + 80 q' + 800 q = 800: critically damped, tau = 800 (1 - 20 t) e^(-20 t) up to the target, whose square has
    the integral 800^2 / 80. It is over within the first of 200 parts of a minute."""
    robot = Robot(model(BLOCK.replace("kp: 8, kd: 1.6, target: 0.5", "kp: 800, kd: 80, target: 1")))
    found = robot.simulate(60, solver=solver, rtol=1e-6, atol=1e-8).summary
    assert found["rms_torque.q1"] ** 2 * 60 == pytest.approx(8000, rel=1e-5)
    assert found["peak_torque.q1"] == pytest.approx(800)


@pytest.mark.parametrize("solver", ["cvodes", "rodas", "dop853"])
def test_root_mean_squares_of_what_moves_nothing(solver):
    """A block that is held under a force that swings 50 times: no number of its state tells a solver of that."""
    push = "{frame: endpoint, force: {type: sinusoid, amplitude: [0, 0, 3], frequency: 10*pi}}"
    text = BLOCK.replace("{pd: {kp: 8, kd: 1.6, target: 0.5}}", "{motion: 0.5}")
    robot = Robot(model(text.replace("duration: 12", f"duration: 10, forces: [{push}]")))
    found = robot.simulate(solver=solver, rtol=1e-5, atol=1e-7).summary
    assert found["rms_torque.q1"] == pytest.approx(3 / math.sqrt(2), rel=1e-4)


FOLLOWED = """
kronbot: 1
name: followed
gravity: [0, 0, 0]
base: {type: floating, rigid: {mass: 50, inertia: {Ixx: 5, Iyy: 5, Izz: 4}}}
links:
  - name: arm
    joint: {type: revolute, name: q1}
    pose: {}
    rigid: {mass: 2, com: [1, 0, 0], inertia: {Ixx: 0.1, Iyy: 0.1, Izz: 0.1}}
  - name: hand
    joint: {type: revolute, name: q2}
    pose: {xyz: [1, 0, 0]}
    rigid: {mass: 1, com: [0.5, 0, 0], inertia: {Ixx: 0.1, Iyy: 0.1, Izz: 0.1}}
simulate:
  drive: {q1: {motion: {type: sinusoid, amplitude: 0.5, frequency: 6}}, q2: {pd: {kp: 10, kd: 1}}}
"""


@pytest.mark.parametrize(
    ("text", "solver"),
    thinned(
        list(product([BESIDE, FOLLOWED], ["cvodes", "rodas", "dop853"])), [(BESIDE, "rodas"), (FOLLOWED, "cvodes")]
    ),
)
def test_root_mean_squares_are_those_of_fine_rows(text, solver):
    """By Simpson's rule, of a joint that follows a motion beside another one on a controller, and on a base that gives
    way, whatever the sizes of these squares in the solver's equations."""
    found = Robot(model(text)).simulate(0.8, 1e-3, solver=solver, rtol=1e-7, atol=1e-9)
    for name in ("q1", "q2"):
        mean = simpson(np.asarray(found[f"torque.{name}"]) ** 2, dx=1e-3) / 0.8
        assert found.summary[f"rms_torque.{name}"] ** 2 == pytest.approx(mean, rel=1e-6)


@pytest.mark.parametrize(
    "values", [{"k1": 1e5, "k2": 4, "T": 0.2}, {"k1": 30, "k2": 14, "D": 8}, {"c": 1.0}, {"k2": 90, "c": 0.3, "T": 0.1}]
)
def test_frequencies_of_a_linear_chain_are_those_of_its_poles(values):
    """Of two masses on shafts whose motors stand, damped or not: all the digits that are told of what is told."""
    moved = "motion: {type: polynomial, from: 0, to: %s, duration: T, degree: 5}"
    shaft = "joint: {type: prismatic, name: %s, rotor_inertia: 1, elastic: {stiffness: %s, damping: c}}"
    robot = kronbot.loads(
        "kronbot: 1\nname: chain\ngravity: [0, 0, 0]\nparameters: {k1: 100, k2: 20, c: 0, D: 4, T: 0.5}\nlinks:\n"
        f"  - {{name: a, {shaft % ('s1', 'k1')}, pose: {{}}, rigid: {{mass: 1}}}}\n"
        f"  - {{name: b, {shaft % ('s2', 'k2')}, pose: {{}}, rigid: {{mass: 0.2}}}}\n"
        f"simulate: {{duration: D, step: 0.01, drive: {{s1: {{{moved % 0.3}}}, s2: {{{moved % 0.1}}}}}}}\n",
        parameters=values,
    )
    first, second, c = (({"k1": 100, "k2": 20, "c": 0} | values)[name] for name in ("k1", "k2", "c"))
    K, C = np.array([[first + second, -second], [-second, second]]), c * np.array([[2, -1], [-1, 1]])
    M = np.diag([1, 0.2])
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(M, K), -np.linalg.solve(M, C)]])
    poles = np.abs(np.linalg.eigvals(A).imag)
    summary = robot.simulate(rtol=1e-9, atol=1e-12).summary
    told = [value for name, value in summary.items() if name.startswith("residual_frequency.")]
    assert told
    for frequency in told:
        assert np.abs(poles / frequency - 1).min() < 1e-5


LEVER = """
kronbot: 1
name: lever
gravity: [0, -9.81, 0]
parameters: {d: 0.02, A: 1.5}
links:
  - name: a
    joint: {type: revolute, name: q1, rotor_inertia: 0.1, elastic: {stiffness: 30, damping: d}}
    pose: {}
    rigid: {mass: 1, com: [1, 0, 0], inertia: {Izz: 0.1}}
endpoint: {link: a, position: [1.2, 0, 0]}
simulate: {duration: 5, start: equilibrium, drive: {q1: {motion: {type: cycloidal, from: -1.5, to: A, duration: 0.4}}}}
"""


@pytest.mark.parametrize(
    ("damping", "end"), thinned([(0.03, 1.2), (0.15, 1.2), (0.02, 0.3), (0.08, 1.5)], [(0.15, 1.2)])
)
def test_large_swings_are_told_with_their_fundamental(damping, end):
    """Of a lever in its weight that swings by more than a radian, whose harmonics are a fundamental apart: against the
    Fourier series of the first swing behind the motion, by SciPy's integrator."""

    def rate(t, x):
        s = min(t / 0.4, 1.0)
        motor = -1.5 + (end + 1.5) * (s - np.sin(2 * np.pi * s) / (2 * np.pi))
        speed = (end + 1.5) / 0.4 * (1 - np.cos(2 * np.pi * s))
        return [x[1], (30 * (motor - x[0]) + damping * (speed - x[1]) - 9.81 * np.cos(x[0])) / 1.1]

    begin = brentq(lambda q: 30 * (q + 1.5) + 9.81 * np.cos(q), -3, 0)
    t = np.linspace(0.4, 3, 26001)
    q, qd = solve_ivp(rate, (0, 3), [begin, 0], "DOP853", t, rtol=1e-10, atol=1e-12, max_step=0.02).y
    turns = t[1:][(qd[:-1] > 0) & (qd[1:] <= 0)]
    within = (t >= turns[0]) & (t < turns[1])
    tip = 1.2 * np.exp(1j * q[within])
    summary = kronbot.loads(LEVER, parameters={"d": damping, "A": end}).simulate().summary
    told = {
        value: summary[name.replace("frequency", "amplitude")]
        for name, value in summary.items()
        if name.startswith("residual_frequency.")
    }
    for harmonic in (1, 2):
        angle = harmonic * 2 * np.pi / (turns[1] - turns[0])
        parts = [2 * (part * np.exp(-1j * angle * t[within])).mean() for part in (tip.real, tip.imag)]
        nearest = min(told, key=lambda frequency: abs(frequency / angle - 1))
        assert nearest == pytest.approx(angle, rel=0.02)
        assert told[nearest] == pytest.approx(np.linalg.norm(parts), rel=0.15)  # they fall within the swing, too


def test_the_mean_of_a_large_swing_is_no_place_of_rest():
    """Hardly damped it swings about a mean that is 1.4 m from where it comes to rest in the end."""
    run = kronbot.loads(LEVER, parameters={"d": 5e-4, "A": 1.5}).simulate()
    assert "residual_amplitude" not in run.summary and "residual_frequency.3" in run.summary
    assert [each for each in run.warnings if each.startswith("residual_amplitude is left out: 4.6 s behind the motion")]
    small = kronbot.loads(LEVER, parameters={"d": 5e-4, "A": -1.4}).simulate().summary
    assert small["residual_amplitude"] == pytest.approx(small["residual_amplitude.1"], rel=0.02)


def test_a_table_of_many_rows_ends_at_the_last(tmp_path):
    """Though it has no corner there, however long the run is."""
    t = np.linspace(0, 2, 101)
    rows = "".join(f"{time!r},{0.5 * (time / 2) ** 3 * (10 - 7.5 * time + 1.5 * time**2)!r}\n" for time in t.tolist())
    (tmp_path / "t.csv").write_text(rows)
    moved = "{motion: {type: table, file: t.csv, held: true}}"
    (tmp_path / "r.yaml").write_text(BLOCK.replace("{pd: {kp: 8, kd: 1.6, target: 0.5}}", moved))
    robot = kronbot.load(tmp_path / "r.yaml")
    for duration in (2.5, 3, 3.6):
        assert robot.simulate(duration=duration).summary["motion_end"] == 2


def test_a_joint_that_stands_but_for_rounding_moves_at_no_time(tmp_path):
    """Rows whose last bits differ, beside a joint that moves until 2 s. Splines ring on behind a corner by 2 - sqrt(3)
    of it from row to row: 16 rows to 1e-9."""
    t = np.linspace(0, 3, 601)
    s = np.minimum(t / 2, 1)
    rounding = 2.0**-52 * np.random.default_rng(1).integers(0, 3, 601)
    ways = {"q1": s**3 * (10 - 15 * s + 6 * s**2), "q2": 1 + rounding}
    drives = list[str]()
    for name, way in ways.items():
        rows = zip(t.tolist(), way.tolist(), strict=True)
        (tmp_path / f"{name}.csv").write_text("".join(f"{time!r},{q!r}\n" for time, q in rows))
        drives.append(f"{name}: {{motion: {{type: table, file: {name}.csv}}}}")
    (tmp_path / "r.yaml").write_text(f"{BESIDE.partition('motion:')[0]}simulate: {{drive: {{{', '.join(drives)}}}}}\n")
    found = kronbot.load(tmp_path / "r.yaml").simulate(duration=3, step=0.01).summary
    assert found["motion_end"] == pytest.approx(2, abs=16 * t[1])


@pytest.mark.slow
def test_what_vibrates_after_a_motion_has_the_locked_frequencies():
    """Of a small motion; a shaper takes the first one out."""
    small = ARM.replace("to: 0.02", "to: 0.001")
    robot = Robot(model(small.replace(", shaper: SHAPER", "")))
    first, second = robot.modes(q={"q1": 0.001})["frequencies_locked"][:2]
    found = robot.simulate(rtol=1e-9, atol=1e-12).summary
    assert found["motion_end"] == 0.5
    assert found["residual_frequency.1"] == pytest.approx(first, rel=1e-6)
    assert found["residual_amplitude.1"] == pytest.approx(found["residual_amplitude"], rel=0.05)
    shaped = Robot(model(small.replace("SHAPER", f"{{type: zv, frequency: {float(first)!r}}}"))).simulate().summary
    assert shaped["residual_amplitude"] < 0.05 * found["residual_amplitude"]
    assert shaped["motion_end"] == pytest.approx(0.5 + math.pi / first)
    assert shaped["residual_frequency.1"] == pytest.approx(second, rel=1e-3)


@pytest.mark.parametrize("swings", [1.7, 5.3, 24.6, 60.2, 300.0])
@pytest.mark.parametrize("zeta", [0.0, 0.004])
def test_what_goes_around_an_ellipse_swings_by_its_larger_half_axis(swings, zeta):
    """In space: neither the diagonal of the box around it nor one of its sides. A circle's is its radius."""
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
    t = np.linspace(0, 2 * np.pi * swings, 1025)
    for narrow in (1.0, 0.5, 0.0):
        path = np.exp(-zeta * t)[:, None] * np.column_stack([np.cos(t), narrow * np.sin(t), 0 * t])
        values = path @ turn.T + [0.3, -2, 1]
        (line, *more) = residual(values, vibrations(t, values)).lines
        assert not more
        assert line.frequency == pytest.approx(1, rel=2e-3)
        assert line.size == pytest.approx(1, rel=0.02)


def test_lines_of_known_vibrations():
    """Frequencies, amplitudes and the place of three cosines on two axes, one near another's skirt."""
    t = np.linspace(3, 23, 1025)
    x = 1 + 0.3 * np.cos(2.1 * t + 0.4) + 0.02 * np.cos(9.3 * t)
    y = -2 + 0.4 * np.cos(2.1 * t + 0.4) + 0.1 * np.sin(4.7 * t)
    found = left(t, np.column_stack([x, y, 0 * t]))
    assert found.place == pytest.approx([1, -2, 0], abs=2e-3)
    assert [w for w, *_ in found.lines] == pytest.approx([2.1, 4.7, 9.3], rel=2e-3)
    assert [a for _, a, _ in found.lines] == pytest.approx([0.5, 0.1, 0.02], rel=0.02)
    still = left(t, np.ones((len(t), 3)))
    assert still.amplitude < 1e-12
    rounding = 1 + 1e-16 * np.sin(4.7 * t)
    assert not left(t, np.column_stack([rounding, 0.1 * rounding])).lines


@pytest.mark.parametrize("zeta", [0, 0.05, 0.4])
def test_a_few_swings_tell_their_place(zeta):
    """From most of one on, whatever its phase, beside smaller ones, what creeps and errors; of less, too, or how fast
    it is."""
    t = np.linspace(2, 5, 1025)
    small = 1e-2 * np.cos(17.4 * t) + 1e-6 * np.cos(3e4 * t**2)
    for swings, phase in itertools.product((0.2, 0.6, 0.85, 1, 1.5, 1.9, 2.3), (0, 0.7, 1.6, 2.9)):
        w = 2 * math.pi * swings / 3
        swinging = np.exp(-zeta * w * (t - 2)) * np.cos(w * (t - 2) + phase) + small
        found = left(t, np.column_stack([3 + swinging, 0.5 * swinging, 1 + 0 * t]))
        if swings < 0.8 and not found.known:
            assert found.slow == pytest.approx(w, rel=1e-2)
            continue
        assert found.known and found.slow == 0 and found.lines[0][0] == pytest.approx(w, rel=2e-2)
        assert found.amplitude == pytest.approx(math.hypot(1, 0.5) * np.abs(swinging).max(), rel=3e-2)
    # With what creeps away meanwhile.
    found = left(t, (np.cos(2.5 * t) + 0.3 * np.exp(-2 * t))[:, None])
    assert found.place == pytest.approx([0], abs=2e-3) and found.lines[0][:2] == pytest.approx((2.5, 1), rel=2e-3)


@pytest.mark.parametrize("rate", [0.1, 1, 3, 8, 20])
def test_what_creeps_and_errors_of_a_run_are_no_vibrations(rate):
    """Neither side lobes of what dies out slowly nor an error of 1e-8 that swings; 1e-3 that swing so beside it are."""
    t = np.linspace(0, 1, 1025)
    creeping = np.exp(-rate * t)
    assert not left(t, (creeping + 1e-8 * np.sin(600 * t))[:, None]).lines
    (told,) = left(t, (creeping + 1e-3 * np.sin(600 * t))[:, None]).lines
    assert told[:2] == pytest.approx((600, 1e-3), rel=1e-2)


@pytest.mark.parametrize("rate", [0.02, 0.1, 0.5, 2])
def test_small_vibrations_are_told_beside_a_long_way(rate):
    """Of 0.3 m that are crept, or drifted, meanwhile: the largest first, one that dies out, too."""
    t = np.linspace(0, 10, 1025)
    small = 1.7e-5 * np.cos(20 * t + 1) + 5e-6 * np.cos(103 * t) + 1e-6 * np.sin(205 * t)
    for way in (0.3 * np.exp(-rate * t), 0.03 * t * rate, 0.3 * (1 - (t / 10) ** 2)):
        told = left(t, np.column_stack([way + small, 0.1 * way])).lines
        assert [w for w, *_ in told] == pytest.approx([20, 103, 205], rel=1e-3)
        assert [a for _, a, _ in told] == pytest.approx([1.7e-5, 5e-6, 1e-6], rel=0.02)
        dying = left(t, (way + 1.7e-5 * np.exp(-0.1 * t) * np.cos(20 * t))[:, None]).lines
        assert [w for w, *_ in dying] == pytest.approx([20], rel=1e-3)


@pytest.mark.parametrize("between", [0.1, 0.35])
def test_jolts_are_no_vibrations(between):
    """What two of them leave of one another in the spectrum stands at even distances, and vibrates nowhere."""
    t = np.linspace(0, 1, 1025)
    since = [np.maximum(t - start, 0) for start in (0.3, 0.3 + between)]
    jolted = sum(1 - (1 + 9 * s) * np.exp(-9 * s) for s in since)
    assert not left(t, (jolted + np.exp(-3 * t))[:, None]).lines
    (told,) = left(t, (jolted + 0.05 * np.exp(-3 * t) * np.cos(150 * t))[:, None]).lines
    assert told[0] == pytest.approx(150, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("zeta", [0.05, 1.0])
def test_pushes_are_waited_for(zeta):
    """A block on a controller that somebody pushes from 4 to 6 s: what it does alone, and whether that vibrates."""
    push = "{frame: endpoint, force: {type: step, value: [1, 0, 0], start: 4, end: 6}, axes: body}"
    text = BLOCK.replace("kd: 1.6", f"kd: {8 * zeta}").replace("duration: 12", f"duration: 20, forces: [{push}]")
    found = Robot(model(text)).simulate().summary
    told = [found[name] for name in found if name.startswith("residual_frequency")]
    assert told == ([pytest.approx(2 * math.sqrt(1 - zeta**2), rel=1e-3)] if zeta < 1 else [])
    assert found["motion_end"] == 0
    for end in (19.95, 19.99):  # with a few samples behind it
        held = Robot(model(text.replace("end: 6", f"end: {end}"))).simulate().summary
        assert "motion_end" in held and not any(name.startswith("residual") for name in held)


@pytest.mark.parametrize(("solver", "duration"), [rare("cvodes", 20), ("rodas", 60), rare("dop853", 8)])
def test_peaks_behind_a_start_are_found(solver, duration, unmeasured):
    """A beam that is let go swings within the first of 200 parts of the time, as rows that are fine tell; and no
    largest value is below that of the rows."""
    damped = ARM.replace("v: 2}", "v: 2}, damping: {ratio: 0.05}").partition("  drive:")[0]
    robot = Robot(model(damped + "  drive: {q1: {pd: {kp: 60, kd: 5, target: 0.3}}}\n"))
    coarse, fine = (
        robot.simulate(duration, step, solver=solver, rtol=1e-5, atol=1e-7) for step in (duration / 2, 0.01)
    )
    tip = np.linalg.norm([fine[f"tip.arm.{axis}"] for axis in "xyz"], axis=0)
    rows = {"peak_deflection.arm": tip, "peak_torque.q1": fine["torque.q1"], "largest_energy": fine["energy.kinetic"]}
    for name, values in rows.items():
        most = float(np.abs(values).max())
        assert fine.summary[name] >= most and coarse.summary[name] > 0.97 * most
    assert coarse.summary["rms_torque.q1"] == fine.summary["rms_torque.q1"]


SHORT = "{type: polynomial, degree: 5, from: 0, to: 0.1, duration: T, start: 0.1}"


@pytest.mark.parametrize(("within", "short"), [(10, 0.01), (10, 0.02), rare(10, 0.7), rare(1000, 0.003)])
def test_peaks_between_corners_are_found(within, short):
    """The accelerations of 6 s^5 - 15 s^4 + 10 s^3 are 10/sqrt(3) at most, and zero at both ends and halfway."""
    driven = "{q1: {motion: " + SHORT.replace("T", str(short)) + "}}"
    found = Robot(model(BLOCK.replace("{q1: {pd: {kp: 8, kd: 1.6, target: 0.5}}}", driven))).simulate(within)
    assert found.summary["peak_torque.q1"] == pytest.approx(2 * 0.1 * 10 / math.sqrt(3) / short**2, rel=1e-3)
    # The mean square of these accelerations is 120/7.
    wanted = 2 * 0.1 / short**2 * math.sqrt(120 / 7 * short / within)
    assert found.summary["rms_torque.q1"] == pytest.approx(wanted, rel=1e-4)
    assert not any("peak_torque" in told for told in found.warnings)


def test_what_is_looked_at_between_corners_is_bounded():
    for count in (1, 3, 50, 150, 1000, 30000):
        corners = tuple(np.linspace(0, 10, count + 1).tolist())
        times = grids.followed(corners)
        assert len(times) <= grids.CLOSER + grids.ROWS and np.all((times > 0) & (times < 10))


def test_peaks_that_nobody_looked_at_are_told(tmp_path):
    """A smooth table has no corners: its way of 10 ms is between the times, and its torques' mean square is not."""
    s = np.linspace(0, 1, 401)
    t = np.concatenate([np.linspace(0, 4.99, 200), 5.007 + 0.01 * s, np.linspace(5.03, 10, 200)])
    inside = np.clip((t - 5.007) / 0.01, 0, 1)
    rows = zip(t, 0.256 * (inside * (1 - inside)) ** 4, strict=True)
    (tmp_path / "way.csv").write_text("t,q1\n" + "".join(f"{at:.9g},{q:.9g}\n" for at, q in rows))
    text = BLOCK.replace("{q1: {pd: {kp: 8, kd: 1.6, target: 0.5}}}", "{q1: {motion: {type: table, file: way.csv}}}")
    (tmp_path / "block.yaml").write_text(text)
    robot = kronbot.load(str(tmp_path / "block.yaml"))
    for step, missed in ((0.05, True), (1e-4, False)):
        found = robot.simulate(10, step)
        peak, mean = (found.summary[f"{word}_torque.q1"] for word in ("peak", "rms"))
        assert (peak < mean) == missed
        assert len([told for told in found.warnings if "peak_torque of q1 is below" in told]) == missed


def test_measures_do_not_depend_on_rows_and_are_told_before(swept_here):
    robot = Robot(model(ARM.replace(", shaper: SHAPER", "").replace("duration: 6", "duration: 4")))
    runs = [robot.simulate(step=step).summary for step in (0.5, 0.01)]
    same = [{name: run[name] for name in run if name.startswith(BEHIND)} for run in runs]
    assert same[0] == same[1] and len(same[0]) > 4
    assert set(runs[0]) <= {*outline(robot.model, {}).all, "complete"}
    assert "residual_amplitude" not in robot.simulate(duration=0.5).summary
    # Of 1.4 swings, and of a third of one.
    soon, sooner = (robot.simulate(duration=duration) for duration in (2, 0.9))
    for name in ("residual_amplitude", "residual_frequency.1", "residual_amplitude.1"):
        assert soon.summary[name] == pytest.approx(runs[0][name], rel=2e-2)
    assert not [name for name in sooner.summary if name.startswith("residual")] and not soon.warnings
    period = 2 * math.pi / runs[0]["residual_frequency.1"]
    (told,) = sooner.warnings
    assert f"swings once in about {period:.2g} s, and 0.4 s do not tell how far; a duration of" in told
    swept = robot.sweep("simulate", over={"band": [0.02]}, keep=["residual_amplitude", "rms_torque.q1"])
    (row,) = swept
    assert row["residual_amplitude"] == runs[0]["residual_amplitude"]


def test_free_joints_have_efforts_alone():
    """What nothing holds does not settle."""
    found = kronbot.load("khang").simulate(duration=0.05).summary
    assert "settling_time" not in found
    assert any(name.startswith("rms_torque.") for name in found)


SPRUNG = BLOCK.replace("name: q1}", "name: q1, rotor_inertia: 1, elastic: {stiffness: 800, damping: c}}").replace(
    "duration: 12, step: 3, drive: {q1: {pd: {kp: 8, kd: 1.6, target: 0.5}}}",
    "duration: 12, step: 3, drive: {q1: {motion: {type: cycloidal, from: 0, to: 0.1, duration: T}}}",
)


def sprung(c, T):
    """2 x'' = 800 (u - x) + c (u' - x'): a robot, and how far x swings from T on, as x - u = Re a e^(s (t - T))."""
    robot = Robot(model(SPRUNG.replace("gravity", f"parameters: {{c: {c}, T: {T}}}\ngravity", 1)))
    s = complex(-c / 4, math.sqrt(400 - (c / 4) ** 2))
    t = np.linspace(0, T, 20001)
    pushed = 0.1 * 2 * np.pi / T**2 * np.sin(2 * np.pi * t / T)  # u''
    return robot, abs(simpson(pushed * np.exp(s * (T - t)), x=t) / s.imag), s


def settled_after(amplitude, s, band):
    """About when A e^(s t) is within a band for good: at the last extreme outside."""
    return math.log(amplitude / band) / -s.real


@pytest.mark.parametrize("duration", thinned([161.562, 200, 322.409438], [161.562, 322.409438]))
def test_long_runs_have_as_many_samples_as_what_vibrates_needs(duration):
    """Of 1024 samples in 512 or 1024 swings all were alike, and what swings out of its band was settled."""
    robot, amplitude, _ = sprung(0, 0.71)
    answer = robot.simulate(duration)
    found = answer.summary
    assert found["residual_frequency.1"] == pytest.approx(20, rel=1e-6)
    assert found["residual_amplitude.1"] == pytest.approx(amplitude, rel=1e-3)
    assert found["residual_amplitude"] == pytest.approx(amplitude, rel=5e-3)
    assert amplitude > 0.02 * 0.1 and "settling_time" not in found
    assert not any("left out" in told for told in answer.warnings)


def test_what_no_samples_show_is_left_out(monkeypatch):
    """With the duration of a run that is told."""
    monkeypatch.setattr("kronbot.questions.simulate.SAMPLES_AT_MOST", 2048)
    robot, amplitude, _ = sprung(0, 0.71)
    answer = robot.simulate(160)
    (told,) = (each for each in answer.warnings if "left out" in each)
    assert told.startswith("residual_amplitude, settling_time are left out: 2048 samples do not show")
    assert not any("residual" in name or "settling" in name for name in answer.summary)
    enough = float(told.partition("a duration of ")[2].partition(" s ")[0])
    found = robot.simulate(enough).summary
    assert found["residual_amplitude"] == pytest.approx(amplitude, rel=2e-2)


@pytest.mark.parametrize("duration", thinned([3, 6, 12, 60, 160], [3, 60]))
def test_a_damped_vibration_is_as_large_as_at_its_beginning(duration):
    """However long the run is, and it settles when it does."""
    robot, amplitude, s = sprung(0.8, 0.5)
    found = robot.simulate(duration).summary
    assert found["residual_frequency.1"] == pytest.approx(s.imag, rel=1e-4)
    assert found["residual_amplitude.1"] == pytest.approx(amplitude, rel=1e-2)
    assert found["residual_amplitude"] == pytest.approx(amplitude, rel=2e-2)
    if duration > 12:
        within = np.pi / s.imag  # of half a swing
        assert found["settling_time"] == pytest.approx(settled_after(amplitude, s, 0.002), abs=within)


@pytest.mark.parametrize("duration", thinned([3, 30, 300], [3, 300]))
def test_an_overshoot_is_that_of_short_and_long_runs(duration):
    """2 q'' + 8 q' + 800 (q - 0.5) = 0, whose first swing is over in a hundredth of a long one's samples."""
    robot = Robot(model(BLOCK.replace("kp: 8, kd: 1.6", "kp: 800, kd: 8")))
    zeta = 8 / (2 * math.sqrt(2 * 800))
    found = robot.simulate(duration).summary
    assert found["overshoot.q1"] == pytest.approx(math.exp(-np.pi * zeta / math.sqrt(1 - zeta**2)), rel=2e-3)
    assert found["settling_time.q1"] == pytest.approx(robot.simulate(2.5).summary["settling_time.q1"], rel=1e-3)


@pytest.mark.parametrize("kd", [6, 40])
def test_where_what_creeps_comes_to_rest_is_known_or_nothing_is_told(kd):
    """An integral part whose pole is at -0.05/s, while what is left of the motion seems to have settled. It comes to
    rest where it is wanted."""
    text = BLOCK.replace("gravity: [0, 0, 0]", "gravity: [-9.81, 0, 0]").replace(
        "pose: {}", "pose: {rpy: [0, pi/2, 0]}"
    )
    motion = "motion: {q1: {type: cycloidal, from: 0, to: 0.3, duration: 0.5}}"
    control = f"control: {{q1: {{pid: {{kp: 400, kd: {kd}, ki: 20}}, gravity: none}}}}"
    robot = Robot(model(f"{text.split('simulate:')[0]}{motion}\n{control}\nsimulate: {{duration: 5, step: 0.05}}"))
    run, known = robot.simulate(5, step=1e-3), 0
    farthest = np.abs(run["q1"][run["t"] >= 0.5] - 0.3).max()
    for duration in (1, 5, 14):
        answer = robot.simulate(duration)
        assert not {"settling_time", "settling_time.q1"} & {*answer.summary}
        if "residual_amplitude" in answer.summary:
            assert answer.summary["residual_amplitude"] == pytest.approx(farthest, rel=2e-2)
            known += 1
        else:
            assert [told for told in answer.warnings if "residual_amplitude is left out" in told]
    assert known


CREEPING = """
kronbot: 1
name: creeping
gravity: [0, 0, g]
parameters: {g: 0, m: 1, J: 0.5, k: 200, d: 0.1, kp: 50, kd: 60, A: 0.2, T: 1, t0: 0}
links:
  - name: a
    joint: {type: prismatic, name: q1, rotor_inertia: J, elastic: {stiffness: k, damping: d}}
    pose: {}
    rigid: {mass: m}
motion:
  q1: {type: trapezoid, from: 0, to: A, duration: T, start: t0}
control:
  q1: {pid: {kp: kp, kd: kd}, gravity: none}
"""


@pytest.mark.parametrize(
    ("values", "duration"),
    [
        ({"g": -9.81, "J": 1, "k": 350, "kp": 130, "T": 0.5, "d": 0.2, "kd": 108}, 1.4),
        ({"g": -9.81, "J": 1, "k": 350, "kp": 130, "T": 0.5, "d": 0.2, "kd": 108}, 1.5),
        ({"g": -9.81, "J": 2.8, "k": 59, "kp": 17, "T": 1.4, "d": 0.08, "kd": 19}, 3.5),
        ({"J": 1.4, "k": 745, "kp": 132, "T": 1, "d": 16, "kd": 92}, 1.9),
        ({"g": -9.81, "J": 0.3728, "k": 183.23, "kp": 101.77, "T": 0.22174, "d": 0.13536, "kd": 171.33}, 2.6254),
        ({"g": -9.81, "J": 0.80855, "k": 1669.3, "kp": 291.56, "T": 0.98237, "d": 0.40857, "kd": 97.789}, 1.3818),
        ({"J": 2.7286, "k": 2560.4, "kp": 391.83, "T": 1.0731, "t0": 0.33, "d": 30.36, "kd": 278.26}, 2.1),
        ({"J": 2.0243, "k": 185.13, "kp": 101.85, "T": 1.4093, "d": 1.3606, "kd": 41.57}, 2.4498),
    ],
)
def test_what_creeps_beside_a_vibration_does_not_hide_where_it_rests(values, duration):
    """A controller with much damping and a shaft that swings: the place is that of statics, the way from there the
    exponential of a matrix, and each vibration that of its poles."""
    robot = Robot(model(CREEPING)).with_parameters(**values)
    values = {"g": 0, "A": 0.2, "t0": 0, "m": 1} | values
    g, m, J, k, d, kp, kd = (values[name] for name in ("g", "m", "J", "k", "d", "kp", "kd"))
    end = values["t0"] + values["T"]
    before, found = (robot.simulate(each, start="equilibrium", rtol=1e-8, atol=1e-10) for each in (end, duration))
    # Of the link and the motor from rest, with their rates.
    A = np.array(
        [[0, 0, 1, 0], [0, 0, 0, 1], [-k / m, k / m, -d / m, d / m], [k / J, -(k + kp) / J, d / J, -(d + kd) / J]]
    )
    motor = values["A"] + m * g / kp
    x = [before[name][-1] for name in ("q1", "q1.motor", "q1_dot", "q1.motor_dot")]
    x -= np.array([motor + m * g / k, motor, 0, 0])
    poles, shapes = np.linalg.eig(A)
    shares = np.linalg.solve(shapes, x) * shapes[0]
    times = np.linspace(0, duration - end, 20001)
    away = np.abs((np.exp(np.outer(times, poles)) @ shares).real)
    assert found.summary["residual_amplitude"] == pytest.approx(away.max(), rel=2e-2)
    outside = times[np.flatnonzero(away > 0.02 * abs(before["q1"][0] - motor - m * g / k))]
    settled = float(outside[-1]) if len(outside) else 0.0
    if settled < times[-1] - np.pi / np.abs(poles.imag).max():
        assert found.summary["settling_time"] == pytest.approx(settled, rel=2e-2, abs=1e-3)
    if "residual_amplitude.1" in found.summary:
        swinging = np.argmax(np.where(poles.imag > 0, np.abs(shares), 0))
        assert found.summary["residual_frequency.1"] == pytest.approx(poles[swinging].imag, rel=3e-2)
        assert found.summary["residual_amplitude.1"] == pytest.approx(2 * abs(shares[swinging]), rel=5e-2)


def test_a_ctrl_c_while_more_samples_are_taken_keeps_the_rows():
    robot, *_ = sprung(0, 0.71)
    shares = [0.0]

    def progress(share):
        if share < shares[-1] < 1.1 and shares[-1] == 1:
            raise KeyboardInterrupt
        shares.append(share)

    with pytest.raises(Interrupted, match="more samples behind the motion .* all rows are told$") as met:
        robot.simulate(200, step=50, progress=progress)
    assert list(met.value.partial["t"]) == [0, 50, 100, 150, 200]


def test_what_beats_is_settled_in_no_lull():
    """Both together leave the band for ever, and stay in it for a part of each beat, which is longer than a swing."""
    lulls = 0
    for end in np.linspace(19, 20, 41):
        times = np.linspace(0, end, 1025)
        values = (0.0024 * np.cos(20 * times) + 0.0025 * np.cos(13 * times + 1))[:, None]
        away = np.abs(values[:, 0])
        assert settling_time(times, away, 0.002, vibrations(times, values).swing(0.002)) is None
        lulls += settling_time(times, away, 0.002, np.pi / 13) is not None
    assert lulls


@pytest.mark.parametrize(("c", "duration"), [(12, 3), rare(12, 9), rare(20, 2), (36, 5), rare(36, 1.5)])
def test_what_dies_out_in_a_few_swings_is_as_large_as_at_its_beginning(c, duration):
    """A mean over the run is a ten-thousandth of it."""
    robot, amplitude, s = sprung(c, 0.5)
    found = robot.simulate(duration).summary
    assert found["residual_amplitude.1"] == pytest.approx(amplitude, rel=3e-2)
    assert found["residual_frequency.1"] == pytest.approx(s.imag, rel=2e-2)


def test_a_part_of_a_swing_invents_no_place_of_rest():
    """Of three modes, for a third of a swing of the slowest to three: the place is known, or nothing is told, but for
    one of a hundred that two modes together look like."""
    rng, told, wrong = np.random.default_rng(7), 0, 0
    for _ in range(150):
        frequencies, sizes = np.cumprod(rng.uniform(1.5, 3.5, 3)), np.cumprod([1, *rng.uniform(0.02, 0.4, 2)])
        times = np.linspace(0, rng.uniform(0.3, 3) * 2 * np.pi / frequencies[0], 1025)
        phases = rng.uniform(0, 2 * np.pi, 3)
        values = 0.4 + (sizes * np.cos(np.outer(times, frequencies) + phases)).sum(axis=1)
        found = left(times, values[:, None])
        if found.known and not found.slow:
            told += 1
            wrong += abs(found.place[0] - 0.4) > 0.05 or abs(found.amplitude / np.abs(values - 0.4).max() - 1) > 0.05
    assert told > 100 and wrong <= told / 100


def test_places_of_rest_of_what_creeps_and_vibrates():
    """One or two of each, faster and slower, for a part of their times to many, beside small errors."""
    rng, told = np.random.default_rng(11), 0
    for _ in range(200):
        creeps, vibrations = rng.integers(1, 3, 2)
        rates = [*-(10 ** rng.uniform(-1, 1, creeps)), *((-(10 ** rng.uniform(-2.5, -0.2, vibrations)) + 1j) * 7)]
        rates *= np.append(np.ones(creeps), 10 ** rng.uniform(0, 0.7, vibrations))
        shares = 10 ** rng.uniform(-1.5, 0, len(rates)) * np.exp(1j * rng.uniform(0, 6, len(rates)))
        times = np.linspace(0, 10 ** rng.uniform(-0.3, 1.3), 1025)
        away = (np.exp(np.outer(times, rates)) @ shares).real
        found = left(times, (0.4 + away + 1e-7 * np.sin(300 * times**2))[:, None])
        if found.known:
            told += 1
            assert found.amplitude == pytest.approx(np.abs(away).max(), rel=4e-2)
    assert told > 120


SATURATED = """
kronbot: 1
name: saturated
convention: standard
gravity: [0, 0, 0]
links:
  - name: l1
    joint: {type: revolute, name: q1, damping: 0.332, rotor_inertia: 0.09, elastic: {stiffness: 118, damping: 1.7}}
    dh: {a: 0.724, d: 0, alpha: 0, theta: 0}
    payload: {mass: 2.01}
motion: {q1: {type: cycloidal, from: -0.744, to: 1.162, duration: 0.72}}
control: {q1: {pid: {kp: 32.4, kd: 1.92}, gravity: none, effort: [-0.828, 0.828]}}
"""


@pytest.mark.parametrize("duration", [16, 20.303, 25])
def test_what_is_linear_near_its_rest_alone_is_judged_by_where_it_stands_then(duration):
    """Under limited torques the swing is none of exponentials, until it is small: the arm ends where it is wanted."""
    robot = Robot(model(SATURATED))
    run = robot.simulate(duration, step=duration / 5000)
    there = 0.724 * np.array([math.cos(1.162), math.sin(1.162)])
    away = np.hypot(run["endpoint.x"] - there[0], run["endpoint.y"] - there[1])
    behind, way = run["t"] >= 0.72, 2 * 0.724 * math.sin((1.162 + 0.744) / 2)
    assert run.summary["residual_amplitude"] == pytest.approx(away[behind].max(), rel=1e-3)
    outside = run["t"][away > 0.02 * way][-1] - 0.72
    assert run.summary["settling_time"] == pytest.approx(outside, abs=duration / 5000)
    for name, value in run.summary.items():
        assert not name.startswith("residual_amplitude.") or value < away[behind].max()


@pytest.mark.parametrize(
    ("gains", "limit", "duration"), [("kp: 20, ki: 580, kd: 18", 0.5, 40), ("kp: 20, ki: 60, kd: 2", 20, 14)]
)
def test_what_swings_for_ever_under_limited_forces_is_no_larger_than_it_is(gains, limit, duration):
    """By no one frequency, and by one."""
    motion = "motion: {q1: {type: cycloidal, from: 0, to: 0.35, duration: 0.32}}"
    control = f"control: {{q1: {{pid: {{{gains}}}, gravity: none, effort: [-{limit}, {limit}]}}}}"
    run = Robot(model(f"{BLOCK.split('simulate:')[0]}{motion}\n{control}\n")).simulate(duration, step=0.01)
    swung = np.ptp(run["q1"][run["t"] > 0.32])
    for name, value in run.summary.items():
        assert not name.startswith("residual_amplitude") or 0.2 * swung < value < 0.7 * swung
        assert not name.startswith("settling_time")


def test_large_swings_that_no_exponentials_meet_have_no_place_of_rest():
    """Of cos(q) and sin(q), q a large angle that swings: told as nothing, or as it is."""
    for duration in np.linspace(2, 30, 15):
        times = np.linspace(0, duration, 1025)
        q = 1.2 * np.exp(-0.05 * times) * np.cos(5.8 * times) - 0.9
        found = left(times, np.column_stack([np.cos(q), np.sin(q)]))
        truth = np.hypot(np.cos(q) - math.cos(0.9), np.sin(q) + math.sin(0.9)).max()
        assert not found.known or found.amplitude == pytest.approx(truth, rel=3e-2)


@pytest.mark.parametrize("first", [0.09, 0.02])
def test_of_two_vibrations_near_one_another_the_largest_is_told_first(first):
    """However few swings there are, the larger one damped or hardly: frequencies whose ratio is 1.56."""
    poles = [complex(-zeta * w, w * math.sqrt(1 - zeta**2)) for w, zeta in ((4.9, first), (7.66, 0.005))]
    for duration in np.linspace(2.2, 19, 13):
        times = np.linspace(0, duration, 1025)
        slow, fast = (size * np.exp(pole * times) for size, pole in zip((0.0115, 0.0064j), poles, strict=True))
        values = 0.4 + np.column_stack([slow.real, fast.real / 3, fast.real])
        found = left(times, values + 1e-8 * np.cos(400 * times**2)[:, None])
        told = [(line.frequency, line.size) for line in found.lines]
        assert [w for w, _ in told] == pytest.approx([pole.imag for pole in poles], rel=1e-2)
        assert [a for _, a in told] == pytest.approx([0.0115, 0.0064 * math.hypot(1, 1 / 3)], rel=3e-2)
