"""The benchmarks compare equal things: their robots, their references and their own small tools. Nothing is timed."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
from bench import (
    accuracy,
    campaigns,
    canadarm,
    derivation,
    exudyn_arm,
    kronbot_side,
    precision,
    puma,
    puma_model,
    questions,
    rods,
    scaling,
    shares,
    sweeps,
)
from bench.chains import Chain
from bench.fixed_step import FixedStep
from bench.timing import Times, quartiles
from casadi import SX, vertcat

import kronbot
from kronbot.compute.code import lanes
from kronbot.compute.native import policy
from kronbot.questions.load_cases import Sweep

COUNT = 5


@pytest.fixture(scope="module")
def arm():
    robot = puma_model.robot()
    return puma_model.numeric(robot), kronbot_side.Side(kronbot_side.traces(robot), compiled=False)


def answer(side, task, states):
    run, result = side.batch(task, states)
    run()
    return result()


@pytest.mark.slow
def test_pinocchio_gets_the_same_puma(arm):
    """Forward and inverse dynamics by its batches, derivatives and kinematics by its calls."""
    pytest.importorskip("pinocchio")
    from bench import pinocchio_side

    numbers, ours = arm
    theirs = pinocchio_side.InPython(numbers)
    given = puma.states(6, COUNT)
    for task in ("forward dynamics", "inverse dynamics"):
        states = puma.rows(task, given, COUNT)
        assert puma.difference(answer(theirs, task, states), answer(ours, task, states)) <= puma.EQUAL
    for task in ("forward dynamics derivatives", "linearization", "Jacobian", "Hessian"):
        states = puma.rows(task, given, 1)
        found = theirs.single(task, states)()
        if task in ("forward dynamics derivatives", "linearization"):
            # Its symmetric matrix may be filled in its upper half only.
            found = np.array([*found[:2], np.triu(found[2]) + np.triu(found[2], 1).T])
        if task == "Hessian":
            found = found.transpose(2, 1, 0)  # its tensors reach Python with their axes reversed
        assert puma.difference(np.array(found)[None], answer(ours, task, states)) <= puma.EQUAL


@pytest.mark.slow
def test_shares_are_of_what_is_left_out(arm):
    """The sines of all lanes, wherever they come from, and every answer; nothing else is lost."""
    _, ours = arm
    for task in ("Jacobian", "linearization"):
        function = ours.traces[task].function
        text = lanes.source(function, (function.n_in() - 1,), 4)
        left = {name: variant(text).splitlines() for name, variant in shares.VARIANTS.items()}
        gone = {name: [line.strip() for line in left["whole"] if line not in kept] for name, kept in left.items()}
        assert gone["without sines"] == []
        assert left["without sines"].count(f"    {shares.HALVES.splitlines()[0]}") == 2  # with and without vectors
        calls = [line.strip() for line in left["whole"] if "put_y" in line and "static" not in line]
        assert gone["without writing"] == calls and len(calls) == function.n_out()


def test_forward_undoes_inverse_dynamics(arm):
    _, ours = arm
    given = puma.states(6, COUNT)
    tau = answer(ours, "inverse dynamics", puma.rows("inverse dynamics", given, COUNT))
    qdd = answer(ours, "forward dynamics", [given["q"], given["qd"], tau])
    # Rounding times the condition of M (about 100).
    assert puma.difference(qdd, given["qdd"]) < 1e-12


def test_a_difference_is_seen_in_the_smallest_matrix():
    """Differences are relative to each matrix, not to the largest of all."""
    expected = np.ones((2, 3, 4, 4))
    expected[:, 1] *= 1e-9
    wrong = expected.copy()
    wrong[1, 1, 2, 2] *= 1.5
    assert puma.difference(wrong, expected) == pytest.approx(0.5)
    assert puma.difference(expected[0, 0], expected[0, 0] + 1.0) == pytest.approx(0.5)


def test_exudyn_gets_the_torques_of_the_robot_file():
    """Its own rigid inverse dynamics of slender rods, against kronbot's."""
    motion = canadarm.Choice("clamped-free", 2, "1", 1e-6).motion("off")
    motion.times = motion.times[::20]
    motion.states = [motion.start] * len(motion.times)
    expected = motion.rows()["tau"][:, [joint.index for joint in motion.robot.joints]].T
    found = exudyn_arm.torques(motion.times)
    assert np.abs(found - expected).max() < 1e-10 * np.abs(expected).max()


def test_the_reference_is_the_canadarm():
    """A coarse model of the first second is as near to it as the table of `explain speed` says."""
    choice = replace(canadarm.MODES[1], order="1")
    motion = kronbot_side.motion(choice.robot(), 1e-6, 1e-8, duration=1.0, choice="off")
    motion.run()
    tips, angles = canadarm.histories(motion)
    count = len(motion.times)
    expected = [values[:, :count] for values in canadarm.truth()]
    # Two shapes a link are off by 3 % of the largest deflection and 2e-3 rad in ten seconds.
    assert 1e-4 < canadarm.error(tips, expected[0]) < 0.03
    assert np.abs(angles - expected[1]).max() < 2e-3


def test_exact_arithmetic_and_single_precision():
    entry = accuracy.errors(Chain(links=2, modes=1), count=2)
    assert entry["exact_difference"] < 1e-40  # sixty digits less the condition of M
    for name in ("recursive", "composite"):
        assert 0 < entry[f"double {name}"] < 1e-12 < 1e-7 < entry[f"single {name}"] < 1e-2


def test_rounding_to_double_is_what_casadi_does():
    robot = Chain(links=2, modes=1).robot()
    trace = scaling.traces(robot)["recursive"]
    states = accuracy.states(robot, 3)
    rows = [*states, np.tile(trace.bound, (3, 1))]
    # To the last bits: sines of NumPy and of the C library may differ by one.
    np.testing.assert_allclose(
        precision.rounded(trace.function, rows, np.float64), trace.rows(*states)["qdd"], rtol=1e-12
    )


@pytest.mark.skipif(not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="no C compiler")
@pytest.mark.parametrize(("kind", "least", "most"), [("double", 1e-9, 1e-8), ("single", 2e-8, 1e-5)])
def test_fixed_steps_integrate_an_oscillator(kind, least, most, tmp_path, monkeypatch):
    """x'' = -p x + sin t with p = 4, from (1, 0): x = cos 2t - sin(2t)/6 + sin(t)/3."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    t, x, p = SX.sym("t"), SX.sym("x", 2), SX.sym("p")
    loop = FixedStep(t, x, vertcat(x[1], -p * x[0] + t.sin()), p, [4.0], kind)
    states = loop.run([1.0, 0.0], 2.0, 0.01, 0.5)
    times = 0.5 * np.arange(5)
    exact = np.cos(2 * times) - np.sin(2 * times) / 6 + np.sin(times) / 3
    # Its error is about (h omega)^4 omega t / 120 = 5e-9; single precision adds rounding (6e-8) of two hundred steps.
    assert least < np.abs(states[:, 0] - exact).max() < most


@pytest.mark.slow
@pytest.mark.skipif(not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="no C compiler")
def test_large_robots_move():
    """A small one: it is bent and turns, and everything has taken some time."""
    (entry,) = scaling.large({"one": Chain(links=1, modes=1, spatial=True)})
    assert entry["coordinates"] == 3 and entry["cvodes steps"] > entry["dop853 steps"] > 0
    assert entry["linearize_s"] > entry["trace_s"] > 0
    assert entry["dop853 differ"] == entry["dop853 instructions"] > entry["nodes"]


@pytest.mark.slow
def test_sympy_derives_the_same_equations():
    at, rates = np.array([0.3, -0.7]), np.array([0.5, 1.1])
    own = derivation.question(2).at(at, rates)
    M, h = derivation.numbers(*derivation.lagrange(2), at, rates)
    np.testing.assert_allclose(M, own["M"].values, rtol=derivation.EQUAL)
    np.testing.assert_allclose(h.ravel(), own["h"].values, rtol=derivation.EQUAL)


def test_ratios_are_taken_round_by_round():
    """A round in which everything is slow changes no ratio."""
    slow, fast = Times((2.0, 20.0, 2.0, 2.0, 4.0)), Times((1.0, 10.0, 1.0, 1.0, 1.0))
    assert slow.over(fast) == {"median": 2.0, "quartiles": [2.0, 2.0]}
    assert (slow.best, slow.median) == (2.0, 2.0)
    assert quartiles([3.0, 1.0, 2.0]) == [1.0, 3.0]


def test_files_of_the_questions(tmp_path):
    """Twenty-four links in space, twenty, sixty rigid ones."""
    questions.models(tmp_path)
    sweep = kronbot.load(tmp_path / "sweep.yaml").model
    assert len(Sweep.of_file(sweep).cases(sweep, np.zeros((1, sweep.n)), {})) == 10_000
    assert kronbot.load(tmp_path / "boom.yaml").n == 18
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == 1001
    with policy.native("auto"):  # which the questions leave out for good
        assert set(questions.GOALS) == set(questions.questions())
    assert set(questions.PROCESS_GOALS) | set(questions.LONG) <= set(questions.PROCESSES)


def test_what_a_case_of_a_sweep_costs(tmp_path, monkeypatch):
    """Each step does what it says for so many cases."""
    for word in ("CASES", "ALONE", "VALUES"):
        monkeypatch.setattr(sweeps, word, 3)
    assert {count for count, _ in sweeps.steps(sweeps.arm(tmp_path)).values()} == {3}
    assert [entry["who"] for entry in sweeps.compare()] == list(sweeps.steps(sweeps.arm(tmp_path)))


@pytest.mark.slow
def test_whole_sweeps_are_what_they_say(tmp_path):
    """Commands and choices of a campaign; nothing is timed."""
    sweeps.arm(tmp_path)
    robot, out = tmp_path / "planar.yaml", tmp_path / "out.csv"
    seconds, memory = campaigns.process(campaigns.swept(robot, 3, out, "--workers", "1"))
    assert seconds > 0 and memory > 10
    assert out.read_text().splitlines()[0] == f"case,EI,{campaigns.KEPT},error" and out.read_text().count("\n") == 4
    assert {each.solver for each in campaigns.OURS} == {"cvodes", "dop853", "rodas"}
    told = campaigns.entry("this", 3, [np.float64(1.5)], 2.0)
    assert told == {"part": "campaigns", "who": "this", "cases": 3, "ratios": [1.5], "ms": 2.0, "MB": None}


@pytest.mark.slow
def test_exudyn_gets_the_same_falling_cantilever():
    """Sixteen elements and four shapes leave 2 mm of a fall of 0.8 m, those of both kinds of its beams."""
    pytest.importorskip("exudyn")
    tip = rods.moved(*rods.ours("cvodes", 4, 1e-5, "off"))
    assert tip[:, 1].min() < -0.75
    for kind in ("ANCF", "exact"):
        assert rods.error(rods.moved(*rods.theirs(kind, 16, 2e-3)), tip) < 2e-3


@pytest.mark.slow
def test_order_exact_costs_a_few_times_order_2(monkeypatch):
    """Of an arm in a plane."""
    monkeypatch.delitem(rods.RATIOS, "spatial")
    (entry,) = rods.operations()
    assert entry["second"] < entry["exact"] <= entry["goal"] * entry["second"]
