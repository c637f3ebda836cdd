"""Plans against closed forms: bang-bang motions, least effort of a mass, and what is left of vibration."""

import json
import signal
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from bench import plans
from robots_in_tests import model
from scipy.integrate import simpson, solve_ivp
from scipy.interpolate import CubicSpline, make_interp_spline
from scipy.linalg import eigh, expm, solve
from scipy.optimize import minimize
from thinned import thinned

import kronbot
from kronbot.cli.main import run
from kronbot.errors import ComputationError, Interrupted, MeasurementError, UsageError
from kronbot.floats import percent
from kronbot.library.robot import Robot
from kronbot.mechanics.control import collocation
from kronbot.mechanics.motion.integration import Tolerances
from kronbot.questions import judgement, keeping, posed, searching
from kronbot.questions.plan import _told_of_holding, outline
from kronbot.system.platform import host

pytestmark = pytest.mark.usefixtures("interpreted")

TWO = """
kronbot: 1
name: two
gravity: [0, 0, 0]
links:
  - name: block
    joint: {type: prismatic, name: q1, rotor_inertia: 1ELASTIC}
    pose: {}
    rigid: {mass: 1}
"""
SPRING = ", elastic: {stiffness: 1}"
CRANE = """
kronbot: 1
name: crane
gravity: [0, -9.81, 0]
links:
  - name: cart
    joint: {type: prismatic, name: x, damping: 1}
    pose: {rpy: [0, pi/2, 0]}
    rigid: {mass: 4}
  - name: load
    joint: {type: revolute, name: swing}
    pose: {rpy: [0, -pi/2, 0]}
    rigid: {mass: 1, com: [0, -1, 0]}
"""


# Watches before the first iteration of a search for one arm: of its beginning, of its problem.
BEGUN = 4 + 10


def two(elastic=SPRING):
    return Robot(model(TWO.replace("ELASTIC", elastic)))


def ending(monkeypatch):
    """So many watches are left of the time of a search that has some."""
    left = [0]

    def over(deadline):
        left[0] -= 1
        if deadline.seconds is not None and left[0] < 0:
            raise Interrupted(f"{deadline.seconds:g} s were over")

    monkeypatch.setattr(keeping.Deadline, "demand", over)
    return left


def test_two_masses_and_a_spring_in_the_shortest_time():
    """k = m1 = m2 = 1, |u| <= 1, 0 to 1: switches at 1.003, 2.109, 3.215 s, end at 4.218 s."""
    found = two().plan({"q1": 1}, shortest=True, effort_limits={"q1": 1})
    assert found.summary["duration"] == pytest.approx(4.218, abs=4e-3)
    assert found["t"][-1] == pytest.approx(found.summary["duration"], rel=1e-12) and len(found["t"]) > 200
    u, t = found["torque.q1"], found["t"]
    assert np.abs(u).max() <= 1 + 1e-6
    switches = t[1:][np.diff(np.sign(np.round(u, 1))) != 0]
    for wanted in (1.003, 2.109, 3.215):
        assert np.abs(switches - wanted).min() < found.summary["duration"] / found.summary["intervals"]
    assert found["q1"][-1] == pytest.approx(1, abs=1e-5) and found["q1.motor"][-1] == pytest.approx(1, abs=1e-5)
    assert found.summary["end_error"] <= 1e-5
    assert found.summary["residual_amplitude"] < 1e-4
    assert set(found.summary) <= set(outline(two().model, {}).all)


def test_a_rigid_joint_in_the_shortest_time():
    """2 sqrt(distance / a), a = 3/2; and slower one way than the other with limits that differ."""
    found = two("").plan({"q1": 2}, q={"q1": 0.5}, shortest=True, effort_limits={"q1": 3})
    assert found.summary["duration"] == pytest.approx(2 * np.sqrt(1.5 / 1.5), rel=1e-6)
    found = two("").plan({"q1": 1}, shortest=True, effort_limits={"q1": [-1, 4]})
    up, down = 4 / 2, 1 / 2  # accelerations: v = sqrt(2 d up down/(up + down)), t = v/up + v/down
    v = np.sqrt(2 * up * down / (up + down))
    assert found.summary["duration"] == pytest.approx(v / up + v / down, rel=2e-3)


@pytest.mark.slow
def test_least_effort_of_a_linear_arm_is_that_of_its_gramian(unjudged):
    """Torques in N steps: x_N = sum A^(N-1-k) B u_k, the least sum of squares is x' W^-1 x, W the sum of squares."""
    T, whole = 3.0, np.zeros((5, 5))
    whole[:2, 2:4], whole[2:4, :2], whole[3, 4] = np.eye(2), [[-1, 1], [1, -1]], 1  # link and motor
    found = two().plan({"q1": 1}, duration=T)
    N = found.summary["intervals"]
    step = expm(whole * T / N)
    A, B, W = step[:4, :4], step[:4, 4:], np.zeros((4, 4))
    for _ in range(N):
        W = A @ W @ A.T + B @ B.T
    x = np.array([1.0, 1, 0, 0])
    assert found.summary["rms_torque.q1"] ** 2 * N == pytest.approx(x @ solve(W, x), rel=1e-5)


@pytest.mark.slow
def test_torques_nearest_to_those_of_a_motion_have_the_impulses_of_its_steps(monkeypatch):
    """Nothing but the torque changes the momentum of two masses; a twelfth of second differences is left out."""
    motions, held = [], searching.held

    def heard(*given):
        motions.append(given)
        return held(*given)

    monkeypatch.setattr(searching, "held", heard)
    found = two().plan({"q1": 1}, duration=3, least="nearest")
    steps = found.summary["intervals"]
    assert found.summary["least"] == "nearest" and found.summary["end_error"] < 2e-6 and steps == searching.STEPS[0]
    _, times, _, rates, *_ = motions[0]
    impulses = np.diff(CubicSpline(times, rates.sum(axis=1))(np.linspace(0, 3, steps + 1)))
    impulses -= np.diff([impulses[0], *impulses, impulses[-1]], 2) / 12
    torques = found["torque.q1"][:-1].reshape(steps, -1)
    assert np.ptp(torques, axis=1).max() == 0
    assert torques[:, 0] * 3 / steps == pytest.approx(impulses, abs=1e-7 * impulses.max())


@pytest.mark.slow
def test_torques_of_an_arm_without_damping_keep_limits(tmp_path, unjudged):
    """A beam on a turning hub: rates are held in, which rise within the steps, at a third of them, too."""
    within = {"effort_limits": {"q1": 7}, "limits": {"q1_dot": 2.0}}
    found = Robot(model(ARM.replace("-9.81", "0"))).plan({"q1": 1}, duration=1, least="nearest", **within)
    assert found.summary["complete"] and found.summary["end_error"] < 1e-5
    assert 1.99 < found["q1_dot"].max() < 2.0 * (1 + 1e-5)
    assert np.abs(found["torque.q1"]).max() <= 7
    write(found, tmp_path / "plan.csv")
    drive = "simulate: {drive: {q1: {torque: {file: plan.csv, steps: true}}}}"
    (tmp_path / "arm.yaml").write_text(ARM.replace("-9.81", "0") + drive)
    run = kronbot.load(tmp_path / "arm.yaml").simulate(1, 1 / 960, solver="rodas", rtol=1e-7, atol=1e-9)
    assert np.abs(run["q1_dot"]).max() < 2.0 * (1 + 2e-5)


@pytest.mark.slow
def test_where_the_least_effort_is_lost_the_nearest_to_a_motion_is_told(monkeypatch, coarse):
    monkeypatch.setitem(collocation.SOON, "effort", 0)
    arm = two()
    found = arm.plan({"q1": 1}, duration=3)
    assert found.summary["complete"] and found.summary["least"] == "nearest" and found.summary["end_error"] < 1e-5
    assert any("least effort has not been found (maximum" in told for told in found.warnings)
    monkeypatch.setattr(judgement, "judged", lambda *given: signal.raise_signal(signal.SIGINT))
    with pytest.raises(Interrupted, match="^interrupted; the best so far is told$") as error:
        arm.plan({"q1": 1}, duration=3)
    assert error.value.partial.summary["least"] == "nearest" and error.value.partial.summary["end_error"] < 1e-5
    monkeypatch.undo()

    def simulate(robot, run, *given):
        raise Interrupted("interrupted at t = 4 s of 6 s")

    monkeypatch.setattr(judgement, "_driven", simulate)  # of the finer model alone
    with pytest.raises(Interrupted, match="4 s of 6 s; the best so far is told$") as error:
        arm.plan({"q1": 1}, duration=3, drive="motion")
    assert error.value.partial.summary["complete"] is False
    assert not any("finer model" in told for told in error.value.partial.warnings)
    with pytest.raises(UsageError, match="least nearest goes with drive torque"):
        arm.plan({"q1": 1}, duration=3, drive="motion", least="nearest")


@pytest.mark.slow
def test_least_effort_falls_where_that_is_less(unjudged):
    """The rigid arm of the example of the help: it swings up behind; from a smooth motion alone the best nearby takes
    3.34 N m."""
    found = kronbot.load("khang", order="0").plan({"qa": 0.5}, duration=2)
    assert found.summary["complete"] and found.summary["least"] == "effort"
    assert 0.9 * 0.81 < found.summary["rms_torque.qa"] < 0.81
    assert found["qa"].min() < -2.9


@pytest.mark.slow
def test_what_a_short_plan_leaves_is_what_it_leaves_for_long(monkeypatch, coarse):
    """A swing and less is watched, or many: what beam modes (polynomials, by Ritz) have of the motion of their root,
    the integral of qdd exp(i w t). Two periods are watched without --after, and less than half of one is told."""
    text = kronbot.load("khang").description.source.text.partition("\nsimulate:")[0].replace("g: 9.81", "g: 0")
    robot, wish, searched = Robot(model(text)), {"duration": 0.45, "drive": "motion"}, []
    collocated = searching.collocated

    def once(*given):  # of all runs one motion
        searched.extend([] if searched else [collocated(*given)])
        return searched[0]

    monkeypatch.setattr(searching, "collocated", once)
    runs = [robot.plan({"qa": 0.05}, **wish, **after) for after in ({}, {"after": 2}, {"after": 0.2})]
    left = [run.summary["residual_amplitude"] for run in runs]
    assert left[0] == pytest.approx(left[1], rel=5e-3) and left[2] < left[1]
    assert ["slowest vibration swings once in 0.52 s" in "".join(run.warnings) for run in runs] == [False, False, True]

    L, mu, EI, tip = 0.9, 2700 * 0.03 * 0.004, 7e10 * 0.03 * 0.004**3 / 12, 0.25
    powers = np.arange(2, 6)
    a, b = np.meshgrid(powers, powers)
    M = mu * L / (a + b + 1) + tip  # of (x/L)^a
    K = EI / L**3 * a * (a - 1) * b * (b - 1) / (a + b - 3)
    turned = mu * L**2 / (powers + 2) + tip * L
    squares, shapes = eigh(K, M)
    t = np.linspace(0, 0.45, 20001)
    rate = CubicSpline(runs[0]["t"], runs[0]["qa_dot"])(t)
    w = np.sqrt(squares)
    moved = [abs(simpson(rate * np.exp(1j * each * t), x=t)) for each in w]  # by parts: w times that is all of qdd
    swings = np.abs(shapes.sum(axis=0) * (turned @ shapes)) * moved
    assert left[1] == pytest.approx(swings[0], rel=0.05) and swings[1:].sum() < 0.02 * swings[0]


@pytest.mark.slow
def test_places_are_passed_whenever_it_is_best(unjudged):
    """There and back: of two masses' sum, a force of 2 takes 2 s to the turn, sqrt(2) s back; the least effort is that
    of cubic splines with the best instants and rates between, by another search."""
    soon = two("").plan({"q1": 0.5}, shortest=True, effort_limits={"q1": 2}, through={"q1": [1.0]})
    assert soon["through"] == pytest.approx([2.0], rel=2e-3)
    assert soon.summary["duration"] == pytest.approx(2 + np.sqrt(2), rel=2e-3)
    assert soon["q1"].max() == pytest.approx(1, abs=1e-3)
    found = two("").plan({"q1": 0}, duration=3, through={"q1": [1.0, -0.5]})
    places = np.array([0, 1, -0.5, 0])

    def effort(x):
        t, v = np.diff([0, x[0], x[1], 3]), np.array([0, x[2], x[3], 0])
        d, a, b = np.diff(places), v[:-1], v[1:]
        return np.sum(4 / t**3 * (3 * d**2 - 3 * d * t * (a + b) + t**2 * (a**2 + a * b + b**2)))

    best = minimize(effort, [1, 2, 0, 0], tol=1e-12)
    assert found["through"] == pytest.approx(best.x[:2], rel=1e-3)
    assert found.summary["rms_torque.q1"] == pytest.approx(2 * np.sqrt(best.fun / 3), rel=4e-3)
    assert np.interp(found["through"], found["t"], found["q1"]) == pytest.approx([1, -0.5], abs=1e-3)
    assert set(found.summary) | {"through"} <= set(outline(two("").model, {"through": [object()]}).all)


@pytest.mark.slow
def test_a_flexible_arm_passes_a_place_in_the_shortest_time(tmp_path, unjudged):
    """The file of the plan, by another integrator, is at the place at the instant told, and rests at the end."""
    found = Robot(model(ARM)).plan({"q1": 0.4}, shortest=True, effort_limits={"q1": 30}, through={"q1": [1.0]})
    write(found, tmp_path / "plan.csv")
    drive = "simulate: {start: equilibrium, drive: {q1: {torque: {file: plan.csv, steps: true}}}}"
    (tmp_path / "arm.yaml").write_text(ARM + drive)
    T, (instant,) = found.summary["duration"], found["through"]
    run = kronbot.load(tmp_path / "arm.yaml").simulate(T, T / 400, solver="rodas", rtol=1e-8, atol=1e-10)
    assert CubicSpline(run["t"], run["q1"])(instant) == pytest.approx(1.0, abs=2e-5)
    for name, value in found.at["goal"].items():
        assert run[name][-1] == pytest.approx(value, abs=2e-5)
    assert np.abs(found["torque.q1"]).max() <= 30 * (1 + 1e-9)


@pytest.mark.slow
def test_a_search_that_has_so_many_seconds_keeps_the_best_so_far(monkeypatch, tmp_path, capsys):
    """It ends where a clock says so: before the first step, after some, in the simulation that judges."""
    left = ending(monkeypatch)
    asked = {"shortest": True, "effort_limits": {"q1": 1}}
    for steps in (0, 9):
        left[0] = BEGUN + steps
        with pytest.raises(Interrupted, match=f"60 s were over after {steps} iterations on 40 intervals") as error:
            two().plan({"q1": 1}, **asked, seconds=60)
    assert error.value.partial.summary["complete"] is False and error.value.partial.summary["iterations"] == 9
    left[0], file = 10**3, tmp_path / "two.yaml"
    file.write_text(TWO.replace("ELASTIC", SPRING))

    def late(*given):
        left[0] = 0

    monkeypatch.setattr(judgement, "under", lambda *given: (late(), given[-1]()))
    given = ["plan", str(file), "--to", "q1=1", "--shortest", "--effort-limits", "q1=1", "--seconds", "60"]
    picture = tmp_path / "plan.svg"
    assert run([*given, "-o", str(tmp_path / "plan.json"), "--plot", str(picture)]) == Interrupted.exit_code
    assert "60 s were over; the best so far is told" in capsys.readouterr().err
    assert json.loads((tmp_path / "plan.json").read_text())["summary"]["complete"] is False and picture.exists()
    with pytest.raises(UsageError, match="seconds must be positive"):
        two().plan({"q1": 1}, **asked, seconds=0)


def test_an_iteration_whose_intervals_last_no_time_is_no_answer(monkeypatch):
    """Bounds of the unknown lengths may be missed on the way."""
    robot, one, left = model(TWO.replace("ELASTIC", "")), np.ones(1), [10 + 37 + 1]
    through = [(np.nan, each * one) for each in 3 * [3, -3]]
    wish = judgement.Wish(0 * one, one, -one, one, None, "time", through=through, whenever=True)
    arm = posed.arm(robot, wish)
    wanted = replace(posed.wanted(robot, wish, arm), whenever=True)

    def watch():
        left[0] -= 1
        if not left[0]:
            raise Interrupted("over")

    with pytest.raises(Interrupted, match="over after 37 iterations on 40 intervals") as stopped:
        collocation.plan([arm], wanted, 40, None, watch)
    assert stopped.value.partial is None
    ending(monkeypatch)[0] = 0
    monkeypatch.setattr(collocation.casadi.Opti, "solve", lambda opti: pytest.fail("begun"))
    with pytest.raises(Interrupted, match="60 s were over, before there was any answer: more seconds"):
        two("").plan({"q1": 1}, duration=1, through={"q1": [3, -3]}, seconds=60)


def test_a_search_that_is_stopped_early_has_an_answer_or_says_what_to_do(monkeypatch, tmp_path, capsys):
    """In the search for the motion whose torques come first, and in the simulation that judges that."""
    left, file, rows = ending(monkeypatch), tmp_path / "two.yaml", tmp_path / "plan.json"
    file.write_text(TWO.replace("ELASTIC", ""))
    given = ["plan", str(file), "--to", "q1=1", "--duration", "1", "--seconds", "60", "-o", str(rows), "--overwrite"]
    left[0] = BEGUN
    assert run(given) == Interrupted.exit_code and not rows.exists()
    told = "60 s were over after 0 iterations on 40 intervals, before there was any answer: more --seconds\n"
    assert told in capsys.readouterr().err
    monkeypatch.setattr(judgement, "under", lambda *given: given[-1]())
    for steps, why in ((1, " after 1 iterations on 40 intervals"), (2, "")):
        left[0] = BEGUN + steps
        assert run(given) == Interrupted.exit_code
        said, found = capsys.readouterr().err, json.loads(rows.read_text())
        assert f"60 s were over{why}; the best so far is told" in said and "torques in steps are not found yet" in said
        assert found["summary"]["complete"] is False and found["summary"]["least"] == "change"
        assert np.ravel(found["series"]["q1"])[-1] == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(("seconds", "last", "told"), [(9.9, 9, "nearly over"), (10.1, 11, "over")])
def test_a_piece_of_work_that_would_end_long_after_a_deadline_is_not_begun(seconds, last, told, monkeypatch):
    """Pieces of 2 s after one of 1 s: at 9 s another one would end at 11 s, which is nearer or not."""
    clock = iter([0, *range(1, 100, 2)])
    monkeypatch.setattr(keeping.time, "monotonic", lambda: next(clock))
    deadline = keeping.Deadline(seconds)
    with pytest.raises(Interrupted, match=f"{seconds:g} s were {told}$"):
        while True:
            deadline.demand()
    assert deadline.last == last
    assert deadline.met


@pytest.mark.slow
def test_what_a_search_has_found_outlasts_later_ones(monkeypatch, coarse):
    """Motions, torques nearest to theirs, torques of least effort: no later step of the search loses what there is."""
    left, robot, found = ending(monkeypatch), two(), list[str]()
    steps = 1
    while not found or found[-1] != "effort":
        steps = 9 * steps
        left[0] = BEGUN + steps
        try:
            found.append(robot.plan({"q1": 1}, duration=1, seconds=60).summary["least"])
        except Interrupted as error:
            found.append(error.partial.summary["least"])
            assert ("torque.q1" in error.partial.series) >= (found[-1] == "nearest")
    assert sorted(found, key=["change", "nearest", "effort"].index) == found and len(set(found)) == 3


@pytest.mark.slow
def test_a_search_for_the_least_time_that_was_stopped_says_so(monkeypatch):
    left = ending(monkeypatch)
    left[0] = BEGUN + 30
    with pytest.raises(Interrupted) as error:
        two().plan({"q1": 1}, shortest=True, effort_limits={"q1": 1}, seconds=60)
    told = error.value.partial
    assert told.summary["least"] == "time" and not told.summary["complete"]
    assert "the search for the least time did not end: much less may do (duration)" in told.warnings


@pytest.mark.slow
def test_what_failed_is_the_best_so_far_of_a_search_that_goes_on(monkeypatch):
    """Torques nearest to a motion's that miss the goal, where those of least effort are not found in time."""
    monkeypatch.setattr(searching, "STEPS", (2,))
    left, judged = ending(monkeypatch), judgement.under
    left[0] = 10**6

    def last(robot, best, wish, *given):
        answer = judged(robot, best, wish, *given)
        left[0] = left[0] if wish.follows else 0
        return answer

    monkeypatch.setattr(judgement, "under", last)
    with pytest.raises(Interrupted, match="60 s were over.*; the best so far is told") as error:
        two("").plan({"q1": 1}, duration=1, seconds=60)
    assert error.value.partial.summary["least"] == "nearest" and error.value.partial.summary["end_error"] > 0


@pytest.mark.slow
def test_where_the_least_time_is_lost_a_smooth_motion_takes_little_more(monkeypatch, unjudged):
    """Within the limits; torques of a smooth motion want a third more than switches, 4.218 s."""
    monkeypatch.setitem(collocation.SOON, "time", 15)
    found = two().plan({"q1": 1}, shortest=True, effort_limits={"q1": 1})
    assert found.summary["complete"] and found.summary["end_error"] < 1e-5
    assert found.summary["least"] == "nearest"
    assert 4.218 < found.summary["duration"] < 6.5 and np.abs(found["torque.q1"]).max() < 1 + 2e-5
    assert any("least time has not been found (maximum" in told for told in found.warnings)


@pytest.mark.slow
def test_a_motion_in_the_place_of_the_fastest_takes_up_its_limits(monkeypatch, unjudged):
    """However slow the one is that the search has seen; what it leaves of them is told, and is what columns say."""
    monkeypatch.setitem(collocation.SOON, "time", 15)
    monkeypatch.setattr(searching, "SLOWER", (3.0,))

    def planned():
        found = two().plan({"q1": 1}, shortest=True, effort_limits={"q1": 1}, drive="motion")
        assert found.summary["complete"] and found.summary["least"] == "change" and found.summary["end_error"] < 1e-5
        (told,) = (told for told in found.warnings if "least time has not been found" in told)
        peak = np.abs(found["torque.q1"]).max()
        assert f"a smooth motion that reaches {percent(peak)} % of its limits at most (torque.q1)" in told
        assert ("less time may do" in told) == (peak < 0.95)
        return found.summary["duration"], peak

    (soon, most), _ = planned(), monkeypatch.setattr(searching, "HASTENED", 0)
    late, least = planned()
    assert 4.218 < soon < 6.5 < 12 < late and 0.8 < most < 1 + 2e-5 and least < 0.3


def test_a_search_without_memory_for_it_is_not_begun(monkeypatch):
    """IPOPT's BLAS would wait for ever."""
    monkeypatch.setattr(host, "memory_left", lambda: 150 << 20)
    with pytest.raises(ComputationError, match="more memory than there is"):
        two().plan({"q1": 1}, duration=3)


@pytest.mark.slow
def test_damping_gravity_and_limits_have_their_part(unjudged):
    """A heavy damped block, lifted: the work of a plan is what the simulation says, its ends are held by its weight."""
    text = TWO.replace("ELASTIC", ", damping: 0.5").replace("[0, 0, 0]", "[0, 0, -9.81]")
    found = Robot(model(text)).plan({"q1": 0.3}, duration=2, effort_limits={"q1": [-1, 12]})
    assert found["q1"][-1] == pytest.approx(0.3, abs=1e-5)
    assert found["torque.q1"].min() > 0 and found["torque.q1"].max() <= 12 + 1e-6


@pytest.mark.slow
def test_options_of_the_search_that_somebody_has_laid_into_the_folder_are_not_read(tmp_path, monkeypatch, unjudged):
    """They name files to write, and libraries to load."""
    wanted = two("").plan({"q1": 1}, duration=1, drive="motion")
    (tmp_path / "ipopt.opt").write_text(f"output_file {tmp_path}/log\nfile_print_level 5\nmax_iter 1\n")
    monkeypatch.chdir(tmp_path)
    found = two("").plan({"q1": 1}, duration=1, drive="motion")
    assert [file.name for file in tmp_path.iterdir()] == ["ipopt.opt"] and found.to_dict() == wanted.to_dict()


class Mine(str):
    """Text that compares itself in its own way."""

    __hash__ = str.__hash__

    def __eq__(self, other):
        raise ValueError("mine")


@pytest.mark.parametrize("word", ["drive", "least", "to"])
def test_words_beside_a_path_are_made_plain_before_they_are_compared(word):
    path = {"t": [0, 1], "endpoint.x": [0, 1]}
    with pytest.raises(UsageError, match=f"leave out {word}"):
        two("").plan(follow=path, **{word: Mine("motion")})


@pytest.mark.slow
def test_constant_forces_are_part_of_a_plan_and_others_are_told(unjudged):
    """Least effort from rest to rest goes the same way under a force, which torques take on top."""
    acting = "simulate: {forces: [{frame: endpoint, force: [1, 0, -3], axes: body}, SWINGING]}\n"
    acting = acting.replace("SWINGING", "{frame: block, force: {type: sinusoid, amplitude: [0, 0, 1], frequency: 3}}")
    text = TWO.replace("ELASTIC", "")
    free, found = (Robot(model(each)).plan({"q1": 1}, duration=2) for each in (text, text + acting))
    assert found["torque.q1"] == pytest.approx(free["torque.q1"] + 3, abs=1e-9)
    assert found["q1"] == pytest.approx(free["q1"], abs=1e-9)
    assert not free.warnings
    assert found.warnings == ("what acts on block in simulate changes in time: plans have constant forces only",)
    pushed = "elements: [{name: p, type: actuator, between: [world, block], points: [[0, 0, 1], [0, 0, 0]], FORCE}]\n"
    pushed = text + pushed.replace("FORCE", "force: {type: step, value: 1}")
    for given in ({"to": {"q1": 1}, "duration": 2}, {"follow": {"t": np.arange(8), "q1": np.tanh(np.arange(8))}}):
        with pytest.raises(UsageError, match="the force of 'p' changes in time: along a motion only constant forces"):
            Robot(model(pushed)).plan(**given)


@pytest.mark.slow
def test_plans_under_constant_forces_hold_in_an_independent_simulation(tmp_path, unjudged):
    """A beam with a force beside its tip and one that turns with it: from rest to rest, seen with these forces."""
    pushes = "{frame: boom, force: [2, -6, 0], at: [0.1, 0.2, 0]}, "
    pushes += "{frame: endpoint, force: [0, 3, 0], moment: [0, 0, 1], axes: body}"
    found = kronbot.loads(f"{ARM}simulate: {{forces: [{pushes}]}}\n").plan({"q1": 1}, duration=1, drive="motion")
    write(found, tmp_path / "plan.csv")
    drive = "drive: {q1: {motion: {type: table, file: plan.csv, held: true}}}"
    (tmp_path / "arm.yaml").write_text(f"{ARM}simulate: {{forces: [{pushes}], {drive}}}\n")
    robot, start = kronbot.load(tmp_path / "arm.yaml"), {"boom.v1": found["boom.v1"][0]}
    run = robot.simulate(2, 0.01, q=start, solver="dop853", rtol=1e-9, atol=1e-11)
    rest, way = run["boom.v1"][run["t"] > 1], abs(found["boom.v1"][-1] - found["boom.v1"][0])
    assert np.ptp(rest) < 1e-4 * way and rest[-1] == pytest.approx(found["boom.v1"][-1], abs=1e-4 * way)
    assert run["torque.q1"][0] == pytest.approx(found["torque.q1"][0], rel=1e-3)


DRIVEN = CRANE + "simulate: {duration: 1, step: 1, drive: {x: {pd: {kp: 9, kd: 9}}}}\n"


def test_joints_that_end_where_they_begin_and_go_far_are_named():
    """With a limit that keeps them near; not those that go less than a tenth, have limits or places to pass."""
    robot = kronbot.loads(CRANE).model
    wish = judgement.Wish(
        np.array([0.0, 0.1]), np.array([2.0, 0.1]), *np.array([[-np.inf] * 2, [np.inf] * 2]), 2.0, "effort"
    )
    series = {"x": np.linspace(0, 2, 5), "swing": np.array([0.1, 0.5, -0.4, 0.2, 0.1])}
    (told,) = posed.told_of_detours(robot, wish, series)
    assert told == (
        "swing ends where it begins, and is up to 0.5 rad away between: a limit keeps it near, "
        "swing=0.05:0.15 say (limits)"
    )
    for meant in (
        replace(wish, limits={"swing": (-1.0, 1.0)}),
        replace(wish, through=[(1.0, np.array([np.nan, 0.5]))]),
        replace(wish, goal=np.array([2.0, 0.2])),
    ):
        assert not [*posed.told_of_detours(robot, meant, series)]
    assert not [*posed.told_of_detours(robot, wish, series | {"swing": 0.1 + 0.1 * (series["swing"] - 0.1)})]
    assert not [*posed.told_of_detours(kronbot.loads(DRIVEN).model, wish, series)]  # it swings, since nothing drives it


def test_joints_that_the_file_does_not_drive_are_named():
    """A crane's pendulum: plans drive it, which is told, unless a limit says so, or nothing is driven."""
    robot = kronbot.loads(DRIVEN)
    peaks = {"peak_torque.x": 50.0, "peak_torque.swing": 12051.2}
    hangs = {name: np.zeros(2) for name in robot.coordinates}
    (told,) = posed.told_of_passive(robot.model, [], peaks, hangs)
    assert told.startswith("swing has no drive in the file, where others have one: the plan drives it")
    assert "within a small limit of effort, 10 say, a plan" in told
    for rest in ({}, {"peak_torque.swing": 0.0}, {"peak_torque.x": 50.0, "peak_torque.swing": 1e-12}):
        (unsized,) = posed.told_of_passive(robot.model, [], rest, hangs)
        assert "within a small limit of effort a plan" in unsized
    for ends in ([1.0, 0], [0, 1.0]):  # gravity asks for more than any small limit
        small = dict.fromkeys(peaks, 50.0)
        (loaded,) = posed.told_of_passive(robot.model, [], small, hangs | {"swing": np.array(ends)})
        assert loaded.endswith("holds it at rest where it would not stay by itself")
    assert not posed.told_of_passive(robot.model, ["swing"], peaks, hangs)
    assert not posed.told_of_passive(kronbot.loads(CRANE).model, [], peaks, hangs)
    assert not posed.told_of_passive(
        kronbot.loads(CRANE + "motion: {x: {type: cycloidal, from: 0, to: 1, duration: 1}}\n").model, [], {}, hangs
    )
    t = np.linspace(0, 4, 41)
    followed = robot.plan(follow={"t": t, "x": np.sin(np.pi * t / 8) ** 6, "swing": 0 * t})
    size = float(str(followed.warnings).partition("limit of effort, ")[2].partition(" say")[0])
    assert size == pytest.approx(1e-3 * followed.summary["peak_torque.swing"], rel=0.5)
    for none in (0, [0, 0]):
        with pytest.raises(UsageError, match="swing.*: a small one, 1e-3 of its peak_torque without a limit, leaves"):
            robot.plan({"x": 1}, duration=4, effort_limits={"swing": none})


@pytest.mark.slow
def test_a_small_limit_leaves_a_pendulum_alone(coarse):
    """A crane moves its load by the cart, and it hangs still at the end; without a limit that is told. What its plan
    leaves of vibration, of a mast beside it, is not what motors would: where all joints are driven it is told."""
    beam = "{length: 1, mass: 1, EI: {z: 10}, modes: {v: 1}}"
    mast = f"  - {{name: mast, parent: world, joint: {{type: fixed}}, pose: {{}}, flexible: {beam}}}\n"
    robot = kronbot.loads(DRIVEN.replace("simulate:", f"{mast}endpoint: {{link: load}}\nsimulate:"))
    alone = robot.plan({"x": 1}, duration=4, effort_limits={"swing": 1e-3})
    assert np.abs(alone["torque.swing"]).max() <= 1e-3 * (1 + 1e-5) and alone.summary["end_error"] <= 1e-5
    assert not [each for each in alone.warnings if "no drive" in each]
    driven = robot.plan({"x": 1}, duration=4, least="nearest")
    assert sum("swing has no drive" in each for each in driven.warnings) == len(driven.warnings) == 1
    assert "residual_amplitude" not in alone.summary and driven.summary["residual_amplitude"] < 1e-6
    assert [each for each in alone.warnings if "swing is left alone" in each]


def test_a_joint_that_vibrates_fast_is_not_left_alone_unless_it_is_limited():
    """Torques are small beside what accelerates it then, and a motor follows it all the same."""
    robot, t = two("").model, np.linspace(0, 1, 2001)
    shaken = 1e-2 * np.sin(200 * t)
    series = {"t": t, "q1": shaken, "q1_dot": 2 * np.cos(200 * t), "torque.q1": 0 * t + 1}
    for most, alone in ((np.inf, []), (1.0, ["q1"])):
        limit = np.array([most])
        wish = judgement.Wish(np.zeros(1), np.ones(1), -limit, limit, 1.0, "effort")
        assert judgement.left_alone(posed.arm(robot, wish), robot, SimpleNamespace(series=series), wish) == alone


@pytest.mark.slow
def test_motions_tell_of_pendulums_that_they_drive_and_of_limits_that_leave_them_alone(coarse):
    """The load on a cart that moves as planned, by its own equation: l s'' = -g sin s - x'' cos s. Splines of a motion
    keep no limit that is tiny, which is told with what they do keep, on a finer mesh if need be."""
    robot = kronbot.loads(DRIVEN)

    def swung(plan):
        x, still = make_interp_spline(plan["t"], plan["x"], 5), (0.0, 0.0)
        moving = solve_ivp(
            lambda t, s: [s[1], -9.81 * np.sin(s[0]) - x(t, 2) * np.cos(s[0])], (0, 4), still, rtol=1e-9, atol=1e-12
        )
        angle, rate = moving.y[:, -1]
        return np.hypot(angle, rate / np.sqrt(9.81))

    driven = robot.plan({"x": 1}, duration=4, drive="motion")
    (told,) = (each for each in driven.warnings if each.startswith("swing has no drive in the file"))
    small = float(told.partition("limit of effort, ")[2].partition(" say")[0])
    assert small == pytest.approx(1e-3 * driven.summary["peak_torque.swing"], rel=0.5)
    alone = robot.plan({"x": 1}, duration=4, drive="motion", effort_limits={"swing": small})
    assert not alone.warnings and np.abs(alone["torque.swing"]).max() <= small * (1 + 1e-5)
    assert swung(alone) < 1e-2 * swung(driven)
    said = "in 4 s torque.swing goes beyond its limits -1e-06 and 1e-06 by .* or so: .*wider limits, or torques"
    with pytest.raises(ComputationError, match=said) as lost:
        robot.plan({"x": 1}, duration=4, drive="motion", effort_limits={"swing": 1e-6})
    kept = 1.5 * float(str(lost.value).partition(" by ")[2].partition(" or so")[0])
    assert kept < 0.5 * small
    finer = robot.plan({"x": 1}, duration=4, drive="motion", effort_limits={"swing": kept})
    assert not finer.warnings and np.abs(finer["torque.swing"]).max() <= kept * (1 + 1e-5)


def test_torques_that_hold_an_arm_where_it_ends_are_told_where_they_are_its_largest(unjudged):
    """Against a spring, as of a lid that is opened by what its inertia carries. A motor that follows a motion holds it
    within it, and what weighs less than it takes to move it needs no word."""
    lid = "kronbot: 1\nname: lid\ngravity: [{}, 0, 0]\nlinks:\n  - {{name: lid, joint: {{type: revolute, name: q, "
    lid += "damping: 0.1, spring: {{stiffness: {}}}}}, pose: {{}}, "
    lid += "rigid: {{mass: 1, com: [0, 0.5, 0], inertia: {{Izz: 10}}}}}}\n"
    closed = kronbot.loads(lid.format(0, 100))
    plan = closed.plan(to={"q": 1}, duration=3)
    assert plan.summary["peak_torque.q"] < 30
    (told,) = [each for each in plan.warnings if "needed to stay there" in each]
    assert told == "at the goal torque.q = 100 is needed to stay there, more than the peak of the motion"
    back = closed.plan(q={"q": 1}, to={"q": 0}, duration=3)
    assert [each for each in back.warnings if "at the start torque.q = 100 " in each]
    followed = closed.plan(to={"q": 1}, duration=3, drive="motion")
    assert followed.summary["peak_torque.q"] == pytest.approx(100, rel=0.2)
    assert not [each for each in followed.warnings if "to stay there" in each]
    hung = kronbot.loads(lid.format(9.81, 1e-9)).plan(to={"q": 1}, duration=1)
    assert not [each for each in hung.warnings if "to stay there" in each]


@pytest.mark.parametrize(("needed", "told"), [(1e-15, 0), (1e-3, 2)])
def test_rounding_holds_no_arm(needed, told):
    """Beside the torques of another joint, where a search has found exactly none for one that weighs nothing."""
    robot = model(DRIVEN)
    arm = SimpleNamespace(start=np.zeros(2), goal=np.zeros(2), forces=lambda *given: np.array([0.5, needed]))
    peaks = {"peak_torque.x": 1.0, "peak_torque.swing": 0.0}
    assert len([*_told_of_holding(robot, arm, peaks)]) == told


def test_a_search_tells_that_it_goes_on(unjudged):
    """Before it has found anything, too; what somebody raises meanwhile is not taken for an interruption."""
    shares = []
    two().plan({"q1": 1}, duration=3, progress=shares.append)
    assert shares == sorted(shares) and shares[-1] == 1
    assert sum(share < 0.2 for share in shares) > 10

    def wrong(share):
        if share > 0.1:
            raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        two().plan({"q1": 1}, duration=3, progress=wrong)


def test_what_cannot_be_planned_is_refused():
    robot = two()
    with pytest.raises(ComputationError, match="no plan is found"):
        robot.plan({"q1": 1}, duration=1, effort_limits={"q1": 1})
    # The switch of a mass of 2 wants a force of 2 (4 d/T^2) = 8.
    with pytest.raises(
        ComputationError, match="in 1 s torque.q1 goes beyond its limits -1 and 1 by 7 or so: more time"
    ):
        two("").plan({"q1": 1}, duration=1, effort_limits={"q1": 1})
    for given, said in (
        ({"to": {"q1": 1}}, "one of duration and shortest"),
        ({"to": {"q1": 1}, "shortest": True}, "limits of torque: effort_limits of q1"),
        ({"to": {"q1": 0}, "duration": 1}, "stands already"),
        ({"to": {"q1": 1}, "duration": 1, "effort_limits": {"q9": 1}}, "no joint"),
        ({"to": {"q1": 1}, "duration": 1, "effort_limits": {"q1": [1, 2]}}, "either side of 0"),
    ):
        with pytest.raises(UsageError, match=said):
            robot.plan(**given)


def test_a_goal_where_nothing_rests_is_told_with_cures_of_a_plan():
    """A beam that its weight bends too far: a plan has no start to leave straight."""
    beam = "{mass: 0.1, length: 0.9, EI: {z: 0.05, y: 2}, modes: {v: 2}}"
    text = "kronbot: 1\nname: soft\ngravity: [0, -9.81, 0]\nlinks:\n  - {name: rod, joint: {type: revolute, name: a}, "
    with pytest.raises(
        ComputationError, match="^no equilibrium to rest in: a = 1.571: .*; another place, or a stiffer"
    ):
        kronbot.loads(text + f"pose: {{}}, flexible: {beam}}}\n").plan({"a": np.pi / 2}, duration=1)


def test_a_start_or_goal_in_a_stop_is_told():
    """A plan pushes into it, as the simulation that judges it does, and no limit is passed there."""
    text = TWO.replace("1ELASTIC", "1, limits: [-3, 0.5], stops: {stiffness: 100}")
    for start, goal, told in (
        (
            0.6,
            0.7,
            [
                f"at the {end} q1 is beyond its limit of 0.5 m by {more} m"
                for end, more in (("start", 0.1), ("goal", 0.2))
            ],
        ),
        (0, 0.4, []),
    ):
        found = Robot(model(text)).plan({"q1": goal}, duration=1, drive="motion", q={"q1": start})
        assert list(found.warnings) == told


def test_torques_are_columns_that_limits_keep(unjudged):
    """As limits of efforts do: 2 kg go 1 m under 8 N at most, speeding up and slowing down by 4 m/s2, in 1 s."""
    block, asked = two(""), {"to": {"q1": 1}, "shortest": True}
    found, same = (block.plan(**asked, **each) for each in ({"limits": {"torque.q1": 8}}, {"effort_limits": {"q1": 8}}))
    assert found.summary["duration"] == same.summary["duration"] == pytest.approx(1, rel=1e-3)
    assert found["torque.q1"].tolist() == same["torque.q1"].tolist()
    for limits, said in (
        ({"torque.q1": [1, 8]}, r"limits torque\.q1: limits on either side of 0 are wanted, not 1 and 8"),
        ({"torque.q2": 8}, r"limits: no column 'torque\.q2'; did you mean 'torque\.q1'"),
    ):
        with pytest.raises(UsageError, match=said):
            block.plan(**asked, limits=limits)
    with pytest.raises(UsageError, match=r"limits torque\.q1: effort_limits q1 limits it already"):
        block.plan(**asked, limits={"torque.q1": 8}, effort_limits={"q1": 8})


def test_a_goal_beyond_limits_is_named_where_there_is_no_plan():
    """Limits of joints are told and no wall, but whoever sees no plan looks for why."""
    robot = Robot(model(CRANE.replace("damping: 1}", "damping: 1, limits: [-3, 3]}")))
    with pytest.raises(Interrupted, match=r"more seconds; at the goal x is beyond its limit of 3 m by 2 m"):
        robot.plan({"x": 5}, duration=1, seconds=1e-9)


@pytest.mark.parametrize("after", thinned([40.1, 1e12, 2**63, 1e300], [1e300]))
def test_vibrations_are_looked_for_within_reason(after):
    """Before anything is searched for where the duration is known, else instead of being judged."""
    with pytest.raises(UsageError, match=r"^after: .* 40 times its duration at most, 40 s, not"):
        two().plan({"q1": 1}, duration=1, after=after)
    rest, torque, told = np.zeros(1), np.ones(1), []
    wish = judgement.Wish(rest, rest + 1, -torque, torque, None, "time", after=after)
    arm = kronbot.load("khang")
    given = posed.arm(arm.model, wish), arm.model, arm.simulate(0.02, 0.01), wish, 1.0, told, lambda: None
    assert judgement.judged(*given) == {}
    assert told == ["no finer model has judged the plan: vibrations are looked for 40 times its duration at most"]


@pytest.mark.slow
def test_a_rigid_joint_that_follows_the_smoothest_motion(unjudged):
    """The least integral of the squares of the rate of the jerk, at rest with both zero: of degree seven."""
    found = two("").plan({"q1": 1}, duration=2, drive="motion")
    s = found["t"] / 2
    assert found["q1"] == pytest.approx(s**4 * (35 - 84 * s + 70 * s**2 - 20 * s**3), abs=5e-4)
    assert found.summary["least"] == "change" and len(found["t"]) > 1000
    assert found["q1"][0] == 0  # no rounding of the spline that the motor follows
    slow = two("").plan({"q1": 1}, duration=2, drive="motion", limits={"q1_dot": 0.7, "acceleration.q1": [-3, 2]})
    rate = slow["q1_dot"]
    assert 0.699 < rate.max() < 0.7 * (1 + 1e-5) and slow["acceleration.q1"].max() < 2 * (1 + 1e-5)
    assert np.abs(np.gradient(rate, slow["t"]) - slow["acceleration.q1"])[5:-5].max() < 1e-3
    effort = two("").plan({"q1": 1}, duration=2, drive="motion", least="effort")
    # Without the zeros at the ends a force 12 (T/2 - t)/T^3 m would do, of mean square 12 (m/T^2)^2.
    assert 1 < effort.summary["rms_torque.q1"] / (np.sqrt(12) * 2 / 4) < 1.08
    assert found.summary["rms_torque.q1"] > 1.2 * effort.summary["rms_torque.q1"]


@pytest.mark.slow
def test_arms_of_a_range_come_to_rest_under_one_motion(tmp_path, coarse):
    """Of a motor that follows plan.csv; links at the ends of the range, and nearly so between."""
    text = TWO.replace("ELASTIC", SPRING).replace("links:", "parameters: {m: 1}\nlinks:").replace("mass: 1", "mass: m")
    found = Robot(model(text)).plan({"q1": 1}, duration=8, drive="motion", robust={"m": [0.7, 1.4]})
    alone = Robot(model(text)).plan({"q1": 1}, duration=8, drive="motion")
    assert "between_error" not in alone.summary
    left, errors = {}, {}
    for name, plan in (("robust", found), ("alone", alone)):
        write(plan, tmp_path / f"{name}.csv")
        motion = f"simulate: {{drive: {{q1: {{motion: {{type: table, file: {name}.csv, held: true}}}}}}}}"
        (tmp_path / f"{name}.yaml").write_text(text + motion)
        robot = kronbot.load(tmp_path / f"{name}.yaml")
        for m in (0.7, 0.85, 1.0, 1.2, 1.4) if name == "robust" else (0.7, 1.0):
            run = robot.with_parameters(m=m).simulate(duration=16, step=0.01, rtol=1e-8, atol=1e-10)
            assert run["q1.motor"][-1] == pytest.approx(1, abs=1e-9)
            left[name, m] = np.abs(run["q1"][run["t"] > 8] - 1).max()
            row, moving = np.searchsorted(run["t"], 8 - 1e-9), np.hypot(np.sqrt(m) * run["q1_dot"], run["q1.motor_dot"])
            errors[name, m] = max(abs(run["q1"][row] - 1), moving[row] / moving.max())
    assert max(left["robust", m] for m in (0.7, 1.0, 1.4)) < 2e-5
    between = max(errors["robust", m] for m in (0.85, 1.2))
    assert found.summary["between_error"] == pytest.approx(between, rel=1e-2) and between > 20 * errors["robust", 1.4]
    assert left["alone", 1.0] < 2e-5 < 50 * left["robust", 0.7] < left["alone", 0.7]


def write(plan, file):
    columns = plan.series
    rows = zip(*(columns[name].tolist() for name in columns), strict=True)
    file.write_text("\n".join([",".join(columns), *(",".join(map(repr, row)) for row in rows)]) + "\n")


ARM = """
kronbot: 1
name: arm
gravity: [0, -9.81, 0]
links:
  - name: boom
    joint: {type: revolute, name: q1}
    pose: {}
    flexible: {mass: 1, length: 1, EI: {z: 100}, modes: {v: 1}, shape: craig-bampton}
    payload: {mass: 0.5}
"""


@pytest.mark.slow
def test_deflections_and_torques_keep_their_limits_between_the_stages(unjudged):
    """A beam in its weight: both ends are equilibria, sagging; each of two limits is met and not passed."""
    robot = Robot(model(ARM))
    free = robot.plan({"q1": 1}, duration=1, drive="motion", limits={"tip.boom.y": [-9, 9]})
    low = free["tip.boom.y"].min()
    limit = low + 0.05 * (free["tip.boom.y"][0] - low)
    held = robot.plan({"q1": 1}, duration=1, drive="motion", limits={"tip.boom.y": [limit, None]})
    assert held["tip.boom.y"].min() == pytest.approx(limit, rel=2e-3)
    assert held["tip.boom.y"].min() > limit - 1e-5 * abs(limit)
    most = 0.97 * free["torque.q1"].max()
    weak = robot.plan({"q1": 1}, duration=1, drive="motion", effort_limits={"q1": most})
    assert most * 0.995 < weak["torque.q1"].max() < most * (1 + 1e-5)
    with pytest.raises(ComputationError, match=r"no plan is found: the arm starts with torque.q1 = 9.8"):
        robot.plan({"q1": 1}, duration=1, drive="motion", effort_limits={"q1": 0.5})
    with pytest.raises(ComputationError, match="the arm ends with q1 = 1, beyond its limits -0.5 and 0.5"):
        robot.plan({"q1": 1}, duration=1, drive="motion", limits={"q1": 0.5})
    with pytest.raises(ComputationError, match="in 1 s q1_dot goes beyond its limits -0.9 and 0.9 by 0.19 or so: more"):
        robot.plan({"q1": 1}, duration=1, drive="motion", limits={"q1_dot": 0.9})


@pytest.mark.slow
def test_the_canadarm_stands_after_a_plan(tmp_path, unjudged):
    """Its first two links, from straight to (0.5, 0.5) in 10 s, by two shapes each; what three leave in the 3 s after.

    Within 0.9 of the largest torques of the cycloidal motion, which leaves 6.5 mm: tests/bench/plans.py compares all.
    """
    text, peaks = (
        kronbot.load(plans.ARM).description.source.text.partition("  - name: wrist")[0],
        {"q1": 552, "q2": 190},
    )
    goal = dict.fromkeys(peaks, 0.5)
    found = kronbot.loads(text).plan(goal, duration=10, drive="motion", effort_limits=peaks)
    assert found.summary["peak_torque.q2"] > 0.99 * peaks["q2"]
    write(found, tmp_path / "plan.csv")
    drive = ", ".join(f"{name}: {{motion: {{type: table, file: plan.csv, held: true}}}}" for name in goal)
    (tmp_path / "judge.yaml").write_text(text.replace("v: 2", "v: 3") + f"simulate: {{drive: {{{drive}}}}}\n")
    judge = kronbot.load(tmp_path / "judge.yaml")
    run = judge.simulate(13, 0.02, rtol=1e-6)
    stands = np.array([run["endpoint.x"], run["endpoint.y"]]).T[run["t"] >= 10]
    assert np.linalg.norm(stands - judge.kinematics(q=goal)["pose"][0, :2], axis=1).max() < 3e-4
    assert all(np.abs(run[f"torque.{joint}"]).max() < 1.01 * peaks[joint] for joint in peaks)


@pytest.mark.parametrize("at", thinned(["_start", "collocated", "under", "judged"], ["_start", "under"]))
def test_a_plan_that_is_interrupted_is_the_best_so_far(at, monkeypatch, capfd):
    """An iterate of the search, which says how far it is off, or the plan of a mesh; nothing before the first step."""
    search, steps = searching.collocated, 0 if at == "_start" else 10 + 9

    def counted(*given):
        left = steps

        def watch():
            nonlocal left
            left -= 1
            if left < 0:
                signal.raise_signal(signal.SIGINT)
            given[-1]()

        return search(*given[:-1], watch)

    def ring(*given):
        signal.raise_signal(signal.SIGINT)

    if at in ("_start", "collocated"):
        monkeypatch.setattr(searching, "collocated", counted)
    else:
        monkeypatch.setattr(judgement, at, ring)
    with pytest.raises(KeyboardInterrupt if at == "_start" else Interrupted) as error:
        two().plan({"q1": 1}, shortest=True, effort_limits={"q1": 1})
    if at == "_start":
        return
    found = error.value.partial
    assert found.summary["complete"] is False and set(found.summary) <= set(outline(two().model, {}).all)
    assert ("end_error" in found.summary) == (at == "judged")
    assert any("no simulation has judged" in told for told in found.warnings) == (at != "judged")
    assert found["q1"][0] == pytest.approx(0, abs=1e-5) and found["q1"][-1] == pytest.approx(1, abs=1e-5)
    if at == "collocated":
        assert str(error.value) == "interrupted after 9 iterations on 40 intervals; the best so far is told"
        assert found.summary["iterations"] == 9
    assert capfd.readouterr().err == ""  # CasADi would write a traceback


@pytest.mark.slow
def test_a_search_that_runs_out_of_iterations_keeps_the_best_so_far(monkeypatch, tmp_path, capsys):
    """On the first intervals there is no simulation of it yet."""
    monkeypatch.setattr(collocation, "ITERATIONS", 1)
    file = tmp_path / "two.yaml"
    file.write_text(TWO.replace("ELASTIC", SPRING))
    rows = tmp_path / "plan.json"
    assert run(["plan", str(file), "--to", "q1=1", "--shortest", "--effort-limits", "q1=1", "-o", str(rows)]) == 1
    said = capsys.readouterr().err
    assert "(maximum iterations exceeded)" in said and "the best so far is told" in said
    found = json.loads(rows.read_text())
    assert found["summary"]["complete"] is False and found["summary"]["iterations"] == 1
    assert len(found["series"]["q1"]) == searching.INTERVALS + 1
    assert any("no simulation has judged this plan" in told for told in found["warnings"])


def test_what_a_simulation_says_against_a_plan_is_told():
    """How far it misses its goal, and limits that it does not keep, the worst first; nothing within what is allowed."""
    found = searching.Candidate(None, None, missed=6.12, passed={"q1_dot": 0.02, "torque.q2": 1e-6, "torque.q1": 0.3})
    assert found.shortcomings == [
        "misses its goal by 6.1 of its way",
        "has torque.q1 0.3 of its limits beyond them",
        "has q1_dot 0.02 of its limits beyond them",
    ]
    assert not replace(found, missed=1e-6, passed={"torque.q1": 1e-6}).shortcomings


RUBBING = """
kronbot: 1
name: f1
gravity: [0, 0, -9.81]
links:
  - name: boom
    joint: {type: revolute, name: lift, damping: 0.5, friction: {coulomb: 0.2}}
    pose: {rpy: [pi/2, 0, 0]}
    rigid: {mass: 2, com: [0.5, 0, 0], inertia: {Izz: 0.2}}
"""


def test_what_is_too_fast_for_a_search_is_what_the_robot_has():
    """Vibrations of beams and shafts, friction, or neither, each with the cures that it has."""
    beams, rubbing = kronbot.load("khang").model, kronbot.loads(RUBBING).model
    assert posed.too_fast(beams, False).startswith(
        "vibrations are too fast beside the motion; fewer modes a link, damping"
    )
    told = (
        "friction that turns over is too fast beside the motion; more smoothing of friction, damping, a shorter motion"
    )
    assert posed.too_fast(rubbing, True) == f"{told} want fewer intervals"
    assert "modes" not in posed.too_fast(rubbing, False) and "drive motion" in posed.too_fast(rubbing, False)


@pytest.mark.slow
def test_a_plan_that_misses_its_goal_is_kept_with_its_run(monkeypatch, unjudged):
    """And warned of, with the numbers of its own search; its picture says so."""
    monkeypatch.setattr(searching, "MESHES", 1)
    monkeypatch.setattr(searching, "ARRIVED", 1e-12)
    with pytest.raises(ComputationError, match="misses its goal .* the best so far is told") as error:
        two().plan({"q1": 1}, shortest=True, effort_limits={"q1": 1})
    found = error.value.partial
    assert found.summary["complete"] is False and 1e-12 < found.summary["end_error"] < 1e-3
    assert found["q1"][-1] == pytest.approx(1, abs=1e-3) and len(found["t"]) > 200
    iterations, intervals, missed = (found.summary[name] for name in ("iterations", "intervals", "end_error"))
    made = f"under this plan, of {iterations} iterations on {intervals} intervals"
    assert f"{made}, the arm misses its goal by {missed:.2g} of its way" in found.warnings[-1]
    assert f"the best so far, end_error {missed:.2g}" in found.plot().get_suptitle()


@pytest.mark.parametrize("given", [{"duration": 5e-324}, {"duration": 1e300}])
def test_numbers_at_the_ends_of_double_precision_are_told(given):
    with pytest.raises(ComputationError, match="no plan is found"):
        two().plan({"q1": 1}, **given)


@pytest.mark.slow
def test_torques_stand_at_the_rows_where_their_steps_begin(tmp_path, unjudged):
    """Rows that are a rounding before a step have its torque, too: a plan that is read again moves the arm like it."""
    found = two("").plan({"q1": 0.7}, duration=1.9)
    steps = found.summary["intervals"]
    u = found["torque.q1"][:-1].reshape(steps, -1)
    assert np.ptp(u, axis=1).max() == 0 and np.ptp(u) > 1
    write(found, tmp_path / "plan.csv")
    drive = "simulate: {drive: {q1: {torque: {file: plan.csv, steps: true}}}}"
    (tmp_path / "arm.yaml").write_text(TWO.replace("ELASTIC", "") + drive)
    run = kronbot.load(tmp_path / "arm.yaml").simulate(duration=1.9, solver="rodas")
    assert run["q1"][-1] == pytest.approx(0.7, abs=1e-9) and abs(run["q1_dot"][-1]) < 1e-9


def test_limits_are_not_drawn_in_beyond_each_other():
    """However far an arm on too few intervals goes astray."""
    low, high = np.array([-1.0, 0.9, -np.inf]), np.array([1.0, 1.0, 2.0])
    least, most = searching.drawn_in(low, high, np.array([1e-3, 5.0, 7.0]))
    assert least == pytest.approx([-0.999, 0.91, -np.inf]) and most == pytest.approx([0.999, 0.99, -5.0])


def random_arm(seed):
    """The text of an arm of one to three joints, links rigid or flexible, joints elastic or not; its goal and time."""
    rng = np.random.default_rng(seed)
    n = 1 + seed % 3

    def number(low, high):
        return round(float(rng.uniform(low, high)), 3)

    lines = [f"gravity: [0, {-9.81 if rng.random() < 0.5 else 0}, 0]", "convention: standard", "links:"]
    for i in range(n):
        length, alpha = number(0.5, 1.2), ("0", "pi/2", "-pi/2")[rng.integers(3)]
        shaft = f", elastic: {{stiffness: {number(500, 3000)}}}, rotor_inertia: 0.1" if rng.random() < 0.3 else ""
        lines.append(f"  - name: l{i}\n    joint: {{type: revolute, name: q{i}, damping: {number(0, 0.5)}{shaft}}}")
        lines.append(f"    dh: {{a: {length}, d: 0, alpha: {alpha}, theta: 0}}")
        inertia = "inertia: {Ixx: 0.02, Iyy: 0.05, Izz: 0.05}"
        if rng.random() < 0.6:
            stiff = f"EI: {{y: {number(100, 400)}, z: {number(100, 400)}}}, modes: {{v: 1, w: {rng.integers(2)}}}"
            lines.append(f"    flexible: {{mass: {number(0.5, 2)}, {stiff}, shape: craig-bampton}}")
            lines.append(f"    payload: {{mass: {number(0.2, 1)}, {inertia}}}")
        else:
            lines.append(f"    rigid: {{mass: {number(0.5, 2)}, com: [{-length / 2}, 0, 0.1], {inertia}}}")
    text = "\n".join(["kronbot: 1", "name: random", *lines, ""])
    return text, {f"q{i}": number(-0.6, 0.6) for i in range(n)}, number(1.5, 3)


@pytest.fixture
def coarse(monkeypatch):
    """Plans that are wanted to 1e-5 are simulated to less than by default."""
    monkeypatch.setattr(judgement, "FINE", Tolerances(1e-8, 1e-10))


@pytest.fixture
def unjudged(coarse, unmeasured, monkeypatch):
    """What a finer model makes of a plan takes most of its time, and is looked at elsewhere."""
    monkeypatch.setattr(judgement, "judged", lambda *given: {})


def test_plans_of_random_arms_hold_in_an_independent_simulation(tmp_path, unjudged):
    """What the file of a plan makes of the arm, by another integrator: it arrives, within its limits."""
    text, goal, duration = random_arm(0)
    robot = kronbot.loads(text)
    limit = round(2.3 * abs(goal["q0"]) / duration, 3)
    found = robot.plan(goal, duration=duration, drive="motion", limits={"q0_dot": limit})
    write(found, tmp_path / "plan.csv")
    drives = ", ".join(f"{joint}: {{motion: {{type: table, file: plan.csv, held: true}}}}" for joint in goal)
    (tmp_path / "arm.yaml").write_text(f"{text}simulate: {{start: equilibrium, drive: {{{drives}}}}}\n")
    run = kronbot.load(tmp_path / "arm.yaml").simulate(duration, duration / 200, solver="rodas", rtol=1e-7, atol=1e-9)
    end = robot.linearize(q=goal, equilibrium=True).at["q"]
    way = max(abs(end[name] - found[name][0]) for name in end)
    assert max(abs(run[name][-1] - end[name]) for name in end) < 2e-5 * way
    assert np.abs(run["q0_dot"]).max() < limit * (1 + 2e-5)


@pytest.mark.slow
def test_a_joint_passes_through_a_place_on_the_way(unjudged):
    """In the least effort of N steps, the least solution of three equations in them."""
    T, s = 2.0, 0.63
    found = two("").plan({"q1": 1}, duration=T, through={"t": [s], "q1": [0.6]})
    N = found.summary["intervals"]
    t = np.arange(N + 1) * T / N
    moved = [np.diff(-(np.maximum(time - t, 0) ** 2)) / 2 for time in (s, T)]  # 2 kg, twice integrated
    steps = np.linalg.pinv(np.array([*moved, np.full(N, T / N)]) / 2) @ [0.6, 1, 0]
    assert found["torque.q1"][:-1].reshape(N, -1)[:, 0] == pytest.approx(steps, abs=1e-6 * np.abs(steps).max())


def with_fore(folder):
    """A flexible arm of two joints, beside the file of places that they pass."""
    fore = "  - {name: fore, joint: {type: revolute, name: q2}, pose: {}, rigid: {mass: 0.5, com: [0.4, 0, 0]}}"
    (folder / "via.csv").write_text("t,q1,q2\n0.5,0.7,\n1.1,0.9,0.8\n")
    return Robot(model(f"{ARM}{fore}\n")), {"to": {"q1": 1, "q2": 0.4}, "through": str(folder / "via.csv")}


@pytest.mark.slow
def test_motors_of_a_flexible_arm_pass_through_places_on_the_way(tmp_path, unjudged):
    """They follow a motion, one of two joints free at one of the times."""
    arm, given = with_fore(tmp_path)
    found = arm.plan(**given, duration=1.6, drive="motion")
    for time, name, value in ((0.5, "q1", 0.7), (1.1, "q1", 0.9), (1.1, "q2", 0.8)):
        assert np.interp(time, found["t"], found[name]) == pytest.approx(value, abs=3e-5)
    assert found["q2"][-1] == pytest.approx(0.4, abs=1e-5)


def test_places_that_cannot_be_passed_are_refused(tmp_path):
    arm, places = with_fore(tmp_path)
    for given, said in (
        ({"shortest": True, "effort_limits": {"q1": 9, "q2": 9}}, "through tells times: leave t out, or shortest"),
        ({"duration": 1}, "times between 0 and 1 s"),
        ({"duration": 3, "through": {"t": [1], "q9": [1]}}, "no joint 'q9'"),
        ({"duration": 3, "through": {"t": [1]}}, "columns of joints are wanted"),
        ({"duration": 3, "through": {"t": [1, 2], "q1": [1, None]}}, "row 2 has no place of any joint"),
        ({"duration": 3, "through": {"q1": range(101)}}, "100 places on the way at most are wanted, not 101"),
        ({"duration": 3, "through": {"q1": [1, 0, 0], "q2": [1, None, None]}}, "row 3 is the place of row 2 again"),
    ):
        with pytest.raises(UsageError, match=said):
            arm.plan(**{**places, **given})
    (tmp_path / "row.csv").write_text("q1,q2\n0.1,0.2\n\n,\n")
    with pytest.raises(MeasurementError, match=r"row.csv:4:1: row 2 has no place of any joint"):
        arm.plan(**{**places, "duration": 3, "through": tmp_path / "row.csv"})


@pytest.mark.slow
def test_accelerations_keep_their_limits_on_either_side_of_a_step_of_torque(unjudged):
    """Where a torque jumps accelerations do: by the dynamics of the arm, between rows and within."""
    robot, limit = kronbot.load("khang", order="1"), 2
    found = robot.plan({"qa": 0.5}, duration=2, least="effort", limits={"acceleration.qa": limit})
    assert found.summary["least"] == "effort" and found.summary["end_error"] <= 1e-5
    q, qd = (np.column_stack([found[f"{name}{dot}"] for name in robot.coordinates]) for dot in ("", "_dot"))
    there = robot.dynamics(q=q, qd=qd)
    sides = [found["torque.qa"], np.append(found["torque.qa"][0], found["torque.qa"][:-1])]  # after a row, and before
    for tau in sides:
        qdd = np.linalg.solve(there["M"], (np.outer(tau, [1, 0]) - there["tau"])[:, :, None])[:, 0, 0]
        assert 0.85 * limit < np.abs(qdd).max() <= limit * (1 + 1e-5)


def test_beams_on_a_floating_base_are_promised_no_rest():
    """The plan of the held arm has no part in what hangs on the base."""
    afloat = kronbot.load("floating-canadarm", order="1")
    with pytest.raises(UsageError, match="beams that joints carry, .* what hangs on the base itself swings"):
        afloat.plan({"q1": 0.5}, duration=20)
    hung = kronbot.loads(
        "kronbot: 1\nname: f\ngravity: [0, 0, -9.81]\nbase: {type: floating, rigid: {mass: 2, inertia: {Izz: 0.01}}}\n"
        "links:\n  - {name: pan, joint: {type: revolute, name: pan}, pose: {}, rigid: {mass: 0.1, com: [0.05, 0, 0]}}\n"
        "elements:\n"
        "  - {name: s, type: spring, between: [world, base], points: [[0, 0, 0.3], [0, 0, 0]], stiffness: 400}\n"
    )
    with pytest.raises(UsageError, match="Leave base out of the file, with the elements that end on it, plan with"):
        hung.plan({"pan": 1}, duration=1)


@pytest.mark.slow
def test_an_arm_on_a_floating_base_moves_by_the_plan_of_one_that_is_held(tmp_path, unjudged):
    """As the refusal says: joints arrive, and the base is at rest with them."""
    afloat = kronbot.load("floating-canadarm", order="1")
    with pytest.raises(UsageError, match="floating base cannot be planned for: .* Leave base out of the file"):
        afloat.plan({"q1": 0.5}, duration=20)
    text = afloat.description.source.text.replace("modes: {v: 2, w: 1}", "modes: {v: 1}")
    base, links, motion = (text.index(f"\n{word}:") for word in ("base", "links", "motion"))
    goal = {"q1": 0.5, "q2": 0.3, "q3": 0.2}
    held = Robot(model(text[:base] + text[links:motion], order="1"))
    write(held.plan(goal, duration=20, drive="motion"), tmp_path / "plan.csv")
    follow = ", ".join(f"{name}: {{motion: {{type: table, file: plan.csv, held: true}}}}" for name in goal)
    (tmp_path / "afloat.yaml").write_text(f"{text[:motion]}\nsimulate: {{drive: {{{follow}}}}}\n")
    run = kronbot.load(tmp_path / "afloat.yaml", order="1").simulate(24, 0.1, rtol=1e-6)
    assert [run[name][-1] for name in goal] == pytest.approx([*goal.values()], abs=1e-9)
    after = run["t"] > 20.05
    assert (
        abs(run["base.y"][-1]) > 1e-2
        and np.abs(run["base.y_dot"][after]).max() < 5e-3 * np.abs(run["base.y_dot"]).max()
    )


SLIDER = """
kronbot: 1
name: slider
gravity: [0, 0, 0]
parameters: {L: 1, M: 1, T: 1}
links:
  - name: stage
    joint: {type: prismatic, name: x, damping: 0.1*M/T}
    pose: {rpy: [0, pi/2, 0]}
    rigid: {mass: 5*M}
  - name: finger
    joint: {type: revolute, name: q, spring: {stiffness: 0.2*M*L**2/T**2}}
    pose: {rpy: [0, -pi/2, 0]}
    flexible: {mass: M, length: L, EI: {z: 2e3*M*L**3/T**2}, modes: {v: 1}, damping: {ratio: 0.01}}
"""


@pytest.mark.slow
def test_a_plan_in_other_units_is_the_same_and_takes_as_many_iterations(unjudged):
    """One robot in millimetres, micrograms and milliseconds, and in kilometres, kilotonnes and hundreds of seconds."""
    found = []
    for L, M, T in ((1e-3, 1e-9, 1e-3), (1e3, 1e6, 1e2)):
        robot, limits = kronbot.loads(SLIDER).with_parameters(L=L, M=M, T=T), {"x_dot": 0.26 * L / T}
        plan = robot.plan({"x": 0.2 * L, "q": 0.4}, duration=1.5 * T, drive="motion", limits=limits)
        energy = M * L**2 / T**2
        units = {"t": T, "x": L, "q": 1, "finger.v1": L, "torque.q": energy, "torque.x": energy / L}
        found.append((plan.summary["iterations"], {name: plan[name] / unit for name, unit in units.items()}))
    (few, small), (many, large) = found
    assert abs(few - many) <= 2
    for name, values in small.items():
        assert np.abs(large[name] - values).max() < 1e-5 * np.abs(values).max(), name


@pytest.mark.slow
def test_a_motion_at_which_a_search_gives_up_is_judged_and_told(monkeypatch, unjudged):
    """It meets all equations, after so few iterations already, and simulations say that it arrives."""
    robot = kronbot.loads(SLIDER)
    monkeypatch.setattr(collocation, "ITERATIONS", 5)
    found = robot.plan({"q": 0.4}, duration=1.5, drive="motion")
    assert found.summary["complete"] and found.summary["iterations"] == 5 and found.summary["end_error"] < 1e-5
    assert any("gave up after 5 iterations: this is a motion, but not the best" in told for told in found.warnings)
    monkeypatch.setattr(collocation, "ITERATIONS", 0)
    with pytest.raises(ComputationError, match=r"try a goal that is nearer; the best so far is told$"):
        robot.plan({"q": 0.4}, duration=1.5, drive="motion")
    with pytest.raises(ComputationError, match=r"try more time, wider limits, or a goal that is nearer; the best"):
        robot.plan({"q": 0.4}, duration=1.5, drive="motion", limits={"q_dot": 1})


def test_rows_that_no_simulation_has_judged_tell_of_limits_on_the_way(monkeypatch):
    """As those of a simulation do: a search that is stopped is soon beyond them."""
    limited = two().description.source.text.replace("name: q1", "name: q1, limits: [-0.01, 1]")
    stopped = searching.collocated

    def collocated(*given):
        found = stopped(*given)
        found.q[3, 0] = -0.2
        raise with_partial(Interrupted("stopped"), found)

    def with_partial(error, found):
        error.partial = found
        return error

    monkeypatch.setattr(searching, "collocated", collocated)
    with pytest.raises(Interrupted) as error:
        Robot(model(limited)).plan({"q1": 0.9}, duration=3, drive="motion")
    told = [each for each in error.value.partial.warnings if "beyond its limit of -0.01" in each]
    assert told and "no simulation has judged" in " ".join(error.value.partial.warnings)


@pytest.mark.slow
def test_the_shortest_time_uses_what_rates_allow():
    """Limits that a coarse mesh passes by much are not drawn in as far for finer ones."""
    robot = kronbot.loads("""
kronbot: 1
name: wave-flap
gravity: [0, -9.81, 0]
links:
  - name: flap
    joint: {type: revolute, name: hinge, damping: 120, spring: {stiffness: 4000, rest: 0}}
    pose: {rpy: [0, 0, pi/2]}
    flexible: {mass: 60, length: 2, EI: {z: 1e3}, modes: {v: 1}, shape: clamped-free, damping: {ratio: 0.02}}
    payload: {mass: 5}
""")
    given = {"shortest": True, "effort_limits": {"hinge": (-900, 900)}, "limits": {"hinge_dot": (-1, 1)}}
    plan = robot.plan({"hinge": 0.2}, **given)
    assert 0.98 < np.abs(plan["hinge_dot"]).max() <= 1 + 1e-5
