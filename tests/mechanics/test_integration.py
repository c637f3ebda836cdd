"""What integrators owe to a run: they stop at corners, look where they are asked to and step as they would anyway."""

import itertools
import math

import numpy as np
import pytest
from casadi import SX, vertcat
from robots_in_tests import columns, model, run, shipped_robot
from scipy.special import ellipj, ellipk
from thinned import rare, thinned

import kronbot
from kronbot.compute.native import policy
from kronbot.errors import ComputationError, UsageError
from kronbot.mechanics.motion import integrators, one_step
from kronbot.mechanics.motion.equations import UNSEEN
from kronbot.mechanics.motion.integration import APART, Ode, Tolerances, stops
from kronbot.mechanics.motion.integrators import INTEGRATORS, PIECES, Cvodes

ROTOR = """
kronbot: 1
name: rotor
convention: standard
gravity: [0, 0, 0]
links:
  - name: disc
    joint: {type: revolute, name: q1}
    dh: {a: 1, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 0, com: [0, 0, 0], inertia: {Ixx: 2, Iyy: 2, Izz: 2}}
"""
# Radau's steps are cheap where they are few.
LARGEST = "largest_energy", "energy_imbalance", "energy_drift", "peak_"
QUICK = ["cvodes", "rodas", "dop853"]
OFTEN = thinned([*INTEGRATORS], QUICK)
MOTIONS = [((4.105, 0.007522), (0, 0.3)), ((-1.7, 1.7123), (0, 0.3)), ((0, 0.3), (0.1, 0.2))]
BEAM = "    flexible: {mass: 1, EI: {z: 30}, modes: {v: 2}}\n"
PENDULUM = (
    ROTOR.replace("[0, 0, 0]\nlinks", "[0, -9.81, 0]\nlinks").replace("mass: 0,", "mass: 1,").replace(": 2", ": 0")
)


def driven(text, motion):
    """A robot with a motion."""
    return model(f"{text}motion: {motion}\n")


def with_table(folder, rows):
    """A rotor with a torque table."""
    (folder / "torque.csv").write_text("t,torque\n" + "".join(f"{t!r},{value!r}\n" for t, value in rows))
    (folder / "rotor.yaml").write_text(ROTOR + "simulate: {drive: {q1: {torque: {file: torque.csv}}}}\n")
    return kronbot.load(folder / "rotor.yaml")


@pytest.mark.parametrize("solver", INTEGRATORS)
@pytest.mark.parametrize(("rise", "duration"), [rare(0.1, 10.0), (1e-6, 1e6)])
def test_what_is_short_is_not_stepped_over(solver, rise, duration):
    """A spin-up to 1 rad/s: the angle of a rigid arm at the end is duration - rise / 2; its energy is I / 2."""
    robot = driven(ROTOR, f"{{q1: {{type: spin-up, rate: 1, duration: {rise}}}}}")
    answer = run(robot, duration=duration, step=duration / 10, solver=solver)
    assert answer.result.series["q1"][-1] == pytest.approx(duration - rise / 2, rel=1e-7)
    assert answer.result.summary["largest_energy"] == pytest.approx(1.0, rel=1e-6)
    assert answer.result.summary["energy_drift"] < 1e-6


@pytest.mark.parametrize("solver", OFTEN)
def test_a_pulse_in_a_table(solver, tmp_path):
    """A triangle of 3 N m within 2e-3 s: 3e-3 N m s. And a step in the slope that lies on no row."""
    robot = with_table(tmp_path, [(0.0, 0.0), (5.0, 0.0), (5.001, 3.0), (5.002, 0.0), (7.3, 0.0), (10.0, 2.7)])
    answer = robot.simulate(10.0, 5.0, solver=solver)
    gained = 3e-3 / 2  # by the inertia
    assert answer["q1_dot"][-1] == pytest.approx(gained + 2.7**2 / 2 / 2, rel=1e-7)
    assert answer["q1"][-1] == pytest.approx(gained * (10 - 5.001) + 2.7**3 / 6 / 2, rel=1e-7)
    assert answer.summary["energy_drift"] < 1e-6


@pytest.mark.parametrize("solver", OFTEN)
def test_a_jump_is_met_from_both_sides(solver):
    """The acceleration of a cubic jumps at its end: the rotor stands there, and stays."""
    robot = driven(ROTOR, "{q1: {type: polynomial, from: 0, to: 1, duration: 1/3, degree: 3}}")
    answer = run(robot, duration=1.0, step=0.25, solver=solver)
    assert answer.result.series["q1"][2:] == pytest.approx(1.0, abs=1e-6)
    assert np.abs(answer.result.series["q1_dot"][2:]).max() < 1e-6
    assert answer.result.summary["steps"] < (2500 if solver == "cvodes" else 300)


@pytest.mark.parametrize("solver", OFTEN)
def test_a_pendulum_swings_as_jacobi_says(solver):
    """From the horizontal, length 1 m: sin(q / 2) = k sn(K - w t, k), at times on no grid."""
    start = 2.0
    k, rate = np.sin(start / 2), np.sqrt(9.81)
    answer = run(model(PENDULUM), duration=1.7, step=0.0931, solver=solver, rtol=1e-10, q={"q1": start - np.pi / 2})
    t = answer.result.series["t"]
    wanted = 2 * np.arcsin(k * ellipj(ellipk(k**2) - rate * t, k**2)[0]) - np.pi / 2
    assert np.abs(answer.result.series["q1"] - wanted).max() < 1e-7
    assert answer.result.summary["energy_drift"] < 1e-8


@pytest.mark.parametrize("solver", OFTEN)
def test_steps_do_not_depend_on_rows(solver):
    """Rows of any step against each other: the same bytes at common times, the same summary but for largest values that
    more rows find. Two corners on the way."""
    text = PENDULUM.replace("rigid:", "flexible: {mass: 1, EI: {z: 30}, modes: {v: 2}}\n    payload:")
    robot = driven(text, "{q1: {type: polynomial, from: 0, to: 1, duration: 0.137, degree: 3}}")
    rng = np.random.default_rng(3)
    steps = [0.2, 0.05, float(rng.uniform(0.001, 0.02))]
    answers = [run(robot, duration=0.2, step=step, solver=solver, rtol=1e-6).result for step in steps]
    summaries = [dict(answer.summary) for answer in answers]
    for summary in summaries:
        summary.pop("rows_beyond_small_deflections", None)  # of the rows asked for
        largest = {name: summary.pop(name) for name in (*summary,) if name.startswith(LARGEST)}
        assert summary == summaries[0] and len(largest) >= 4
    for first in answers:
        for second in answers:
            _, i, j = np.intersect1d(first.series["t"], second.series["t"], return_indices=True)
            assert len(i) >= 2
            for name in first.series:
                assert first.series[name][i].tobytes() == second.series[name][j].tobytes(), name


X = SX.sym("x", 2)
SWING = Ode(SX.sym("t"), X, vertcat(X[1], -100 * X[0].sin() - 0.1 * X[1]), 1)


def ten_states(solver):
    solver.begin((0.0, 1.0))
    found = np.concatenate([block.states for block in solver.run(np.linspace(0.0, 1.0, 11)[1:], np.array([1.0, 0.0]))])
    solver.close()
    return found


def cvodes(choice):
    with policy.native(choice):
        return Cvodes(SWING, Tolerances(1e-9, 1e-11))


def test_large_robots_have_no_jacobian(monkeypatch):
    """Derivatives in directions lead to the same motion; native code takes the same steps."""
    found = []
    for most, choice in ((np.inf, "off"), (0, "off"), (0, "on")):
        monkeypatch.setattr(integrators, "MOST_OF_JACOBIAN", most)
        found.append(ten_states(cvodes(choice)))
    assert np.abs(found[1] - found[0]).max() < 1e-6
    assert found[1].tobytes() == found[2].tobytes() != found[0].tobytes()


def test_the_rate_or_its_jacobian_alone_may_be_native():
    """Steps are the same: CasADi sees the pattern of the Jacobian, and its numbers, whichever of them is compiled."""
    interpreted, native = cvodes("off"), cvodes("on")
    wanted, solvers = ten_states(interpreted), list[Cvodes]()
    for parts in (
        native.natives,
        (native.natives[0], interpreted.natives[1]),
        (interpreted.natives[0], native.natives[1]),
    ):
        solvers.append(cvodes("off"))
        solvers[-1].natives = parts
        assert ten_states(solvers[-1]).tobytes() == wanted.tobytes()
    assert {(each.steps, each.evaluations) for each in solvers} == {(interpreted.steps, interpreted.evaluations)}
    assert all(each.code() is not None for each in native.natives)


def test_what_is_to_come_is_told_by_the_family_that_goes_on(monkeypatch):
    """From a fifth of an even motion on within a third; the other family's trial counts among the evaluations."""
    monkeypatch.setattr(integrators, "TRIAL", 100)
    solver, told = cvodes("off"), []
    solver.natives[0].expect = lambda *counts, spent: told.append((solver.evaluations, counts[0]))
    solver.begin((0.0, 20.0))
    for _ in solver.run(np.array([20.0]), np.array([1.0, 0.0])):
        pass
    assert 50 < solver.tried < solver.evaluations / 4
    early = [(done, left) for done, left in told if done < solver.evaluations / 2]
    assert early and abs(early[-1][1] / (solver.evaluations - early[-1][0]) - 1) < 1 / 3


@pytest.mark.parametrize("solver", OFTEN)
@pytest.mark.parametrize("duration", [1e-8, 1.2e-6])
def test_runs_shorter_than_the_tolerances_know(solver, duration):
    """A pendulum falls by g t^2 / 2: right in three digits of what moves, and rows stand where they are said."""
    answer = run(model(PENDULUM), duration=duration, step=max(1e-8, duration / 100), solver=solver).result
    wanted = -9.81 * answer.series["t"] ** 2 / 2
    assert np.abs(answer.series["q1"] - wanted).max() <= 2e-3 * np.abs(wanted).max()


@pytest.mark.parametrize("solver", QUICK)
def test_the_energy_is_watched_between_rows(solver):
    """A swing out and back, of one row at its end: the energy that went through it is that of any rows."""
    robot = driven(ROTOR, "{q1: {type: sinusoid, amplitude: 1, frequency: pi, phase: -pi/2, offset: 1}}")
    summaries = [run(robot, duration=2.0, step=step, solver=solver).result.summary for step in (2.0, 0.013)]
    assert all(summaries[0][name] == summaries[1][name] for name in ("steps", "evaluations", "rms_torque.q1"))
    assert summaries[0]["largest_energy"] == pytest.approx(np.pi**2, rel=1e-3)  # I qd^2 / 2 on the way
    assert summaries[0]["energy_drift"] < 1e-6


def test_rodas_tells_what_it_has_damped():
    """A beam that vibrates: all its energy at loose tolerances, next to nothing at tight ones; CVODES keeps it."""
    robot = kronbot.loads(ROTOR.replace("rigid: {mass: 0,", "hub: {mass: 0,") + BEAM)
    start = {"disc.v2": 1e-3}
    loose = robot.simulate(2.0, q=start, solver="rodas", rtol=0.01, atol=0.01)
    tight = robot.simulate(2.0, q=start, solver="rodas", rtol=1e-6)
    kept = robot.simulate(2.0, q=start, rtol=1e-6)
    energy = kept["energy.elastic"][0]
    total = columns(loose, "energy.kinetic", "energy.elastic").sum(axis=1)
    assert loose.summary["energy_taken_by_solver"] == pytest.approx(energy - total[-1], abs=1e-9 * energy)
    assert loose.summary["energy_taken_by_solver"] > 0.5 * energy
    assert abs(tight.summary["energy_taken_by_solver"]) < 1e-3 * energy
    assert "energy_taken_by_solver" not in kept.summary


def test_absurd_starts_are_refused_at_once():
    """Faster than anything, and turned so often that the direction is lost."""
    for word, value, told in (("qd", 1e100, "q1 starts with the rate 1e"), ("q", 1e13, "q1 starts at 1e")):
        with pytest.raises(UsageError, match=told):
            run(model(ROTOR), duration=1.0, **{word: {"q1": value}})


@pytest.mark.parametrize("solver", INTEGRATORS)
def test_what_doubles_cannot_follow_is_refused(solver):
    """An angle of 1e13 rad has no direction. Told with the time, and what was right is kept."""
    answer = run(model(ROTOR), duration=1e5, solver=solver, qd={"q1": 1e8})
    assert isinstance(answer.error, ComputationError)
    assert "t = " in str(answer.error)
    assert answer.result.summary["complete"] is False
    assert np.abs(answer.result.series["q1"]).max() < 1e12


@pytest.mark.parametrize(
    ("rtol", "atol"), [(1e-14, 1e-6), (0.2, 1e-6), (0, 1e-6), (np.nan, 1e-6), (1e-6, 0), (1e-6, 2)]
)
def test_tolerances_have_bounds(rtol, atol):
    with pytest.raises(UsageError, match=r"rtol must be from 2\.5e-14 to 0\.1|atol must be above 0 and at most 1"):
        Tolerances(rtol, atol)


def test_stops():
    """Corners inside, in order, once."""
    assert stops(2.0, [1.0, 0.5, 3.0, -1.0, 0.0, 2.0, 0.5]) == (0.0, 0.5, 1.0, 2.0)
    close = 1.0 + APART / 2 * np.spacing(1.0)
    assert stops(2.0, [close, 1.0, 1e-12]) == (0.0, 1e-12, 1.0, 2.0)


SHAFTS = """
kronbot: 1
name: shafts
gravity: [0, 0, 0]
parameters: {s: 0, T: 1, S: 0, D: 1}
links:
  - name: a
    joint: {type: prismatic, name: q1, rotor_inertia: 1, elastic: {stiffness: 1e-6}}
    pose: {xyz: [0, 0, 0], rpy: [0, pi/2, 0]}
    rigid: {mass: 1}
  - name: b
    joint: {type: prismatic, name: q2, rotor_inertia: 1, elastic: {stiffness: 1e-6}}
    pose: {xyz: [0, 0, 0], rpy: [pi/2, 0, 0]}
    rigid: {mass: 1}
simulate:
  drive:
    q1: {motion: {type: polynomial, degree: 3, from: 0, to: 1, duration: T, start: s}}
    q2: {motion: {type: polynomial, degree: 3, from: 0, to: 1, duration: D, start: S}}
"""


@pytest.mark.parametrize(("motions", "solver"), [*itertools.product(MOTIONS, QUICK), rare(MOTIONS[0], "radau")])
def test_the_step_behind_a_corner_sees_nothing_of_before(motions, solver):
    """Motors of 1 kg, behind which springs are next to nothing, move 1 m by cubics: (6 - 12 u)/T^2 N at (t - s)/T = u.
    In doubles (4.105 + T) - 4.105 < T; from -1.7 s on a motion counts more coarsely than the run does; and 0.3 s and
    0.1 s + 0.2 s, a rounding apart, are one stop."""
    given = dict(zip("sTSD", np.ravel(motions).tolist(), strict=True))
    found = kronbot.loads(SHAFTS, parameters=given).simulate(5.0, solver=solver).summary
    for name, (start, T) in zip(("q1", "q2"), motions, strict=True):
        square = (6**3 - (12 * max(0, -start / T) - 6) ** 3) / 36 / T**3 / 5
        assert found[f"rms_torque.{name}"] == pytest.approx(np.sqrt(square), rel=1e-5)


@pytest.mark.parametrize("solver", INTEGRATORS)
def test_a_first_step_comes_from_the_equations(solver):
    """x'' = -w^2 x: as many times shorter as it is faster, whatever the end."""
    x, lengths = SX.sym("x", 2), []
    for w in (1.0, 1000.0):
        ode = Ode(SX.sym("t"), x, vertcat(x[1], -(w**2) * x[0]), 1)
        found = INTEGRATORS[solver](ode, Tolerances(1e-6, 1e-6))
        lengths.append(found.first_step(0.0, np.array([1.0 / w, 1.0]), 10.0))
    assert 10 < lengths[0] / lengths[1] < 3000
    assert lengths[0] < 0.2


@pytest.mark.parametrize("solver", OFTEN)
def test_accounts_that_are_unseen_change_no_step(solver):
    """x'' = -100 x from x = 1, and the integral of x^2 beside it: 1/2 + sin 20 / 40 after 1 s."""
    steps, x = [], SX.sym("x", 3)
    for size in (2, 3):
        rate = vertcat(x[1], -100 * x[0], UNSEEN * x[0] ** 2)[:size]
        found = INTEGRATORS[solver](Ode(SX.sym("t"), x[:size], rate, 1, unseen=size - 2), Tolerances(1e-7, 1e-7))
        found.begin((0.0, 1.0))
        *_, last = found.run(np.array([1.0]), np.eye(size)[0])
        steps.append((found.steps, found.evaluations))
    assert last.x[2] / UNSEEN == pytest.approx(0.5 + np.sin(20) / 40, rel=1e-5)
    assert steps[1] == pytest.approx(steps[0], rel=0.01)


@pytest.mark.parametrize("solver", QUICK)
def test_progress_is_even_whatever_the_rows(solver, monkeypatch):
    """One row at the end: the shares told go up in small steps."""
    monkeypatch.setattr(one_step, "PAUSE", 0.0)
    told = [0.0]
    shipped_robot("khang").simulate(0.5, 0.5, solver=solver, progress=told.append)
    assert told == sorted(told) and told[-1] == 1.0
    assert max(np.diff(told)) < 0.3


def test_the_pieces_of_a_long_run_are_short():
    """CVODES begins a run of 1e6 s with pieces that are lost without regret, and always cuts at the same places."""
    x = SX.sym("x", 2)
    ode = Ode(SX.sym("t"), x, vertcat(x[1], -1e4 * x[0]), 1)
    cuts = []
    for rows in (np.array([1e6]), np.linspace(0.0, 1e6, 1001)[1:]):
        solver, found = Cvodes(ode, Tolerances(1e-6, 1e-6)), []
        solver.begin((0.0, 1e6))
        solver.instructions = 100_000  # a dear robot
        for block in solver.run(rows, np.array([1.0, 0.0])):
            found.append((block.t, solver.evaluations))
            if len(found) == 8:
                break
        solver.close()  # a compiler at work keeps others of its lock waiting
        cuts.append(found)
    assert cuts[0] == cuts[1]
    counts = np.diff([0, *(evaluations for _, evaluations in found)])
    assert max(counts) < 10_000
    assert found[-1][0] < 1e6 / PIECES


@pytest.mark.parametrize("solver", thinned([*INTEGRATORS], ["cvodes", "rodas"]))
@pytest.mark.parametrize(("start", "duration"), [(2, 1e-8), rare(2, 1e-12), rare(0.3, 1e-9)])
def test_motions_between_neighbouring_times_are_given_up(solver, start, duration):
    """2 kg m2 by 1 rad in T: work begins as I (30 t^2 / T^3)^2 / 2, which at the first number after the start is
    3.5e-11 J and more, beyond a hundredth of atol: steps begin shorter than numbers are apart."""
    follows = f"{{type: polynomial, from: 0, to: 1, duration: {duration}, degree: 5, start: {start}}}"
    robot = model(ROTOR + f"simulate: {{duration: 3, step: 1, drive: {{q1: {{motion: {follows}}}}}}}\n")
    answer = run(robot, duration=3, step=1, solver=solver)
    assert f"gave up at t = {start:g} s" in str(answer.error)
    assert answer.result.summary["end"] == math.floor(start)
