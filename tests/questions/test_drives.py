"""Drives of the joints: torque tables, their range, and what a run says when it cannot start."""

import numpy as np
import pytest
from robots_in_tests import model, run
from scipy.interpolate import CubicSpline
from thinned import rare

import kronbot
from kronbot.cli.main import run as command_line
from kronbot.errors import ComputationError, DescriptionError, UsageError
from kronbot.mechanics.motion.drives import drives
from kronbot.questions.commanded import commanded, motion_end

pytestmark = pytest.mark.usefixtures("interpreted", "unmeasured")

SLIDER = """
kronbot: 1
name: slider
convention: standard
gravity: [0, 0, 0]
links:
  - name: block
    joint: {type: prismatic, name: NAME}
    dh: {a: 0, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 2}
simulate: {duration: 10, step: 0.5, drive: {NAME: DRIVE}}
"""


def slider(tmp_path, drive, name="q1", **tables):
    """A block of 2 kg on a rail; tables are rows of time and value by file name."""
    for table, rows in tables.items():
        (tmp_path / f"{table}.csv").write_text("".join(f"{t},{value}\n" for t, value in rows))
    file = tmp_path / "slider.yaml"
    file.write_text(SLIDER.replace("NAME", name).replace("DRIVE", drive))
    return kronbot.load(str(file))


@pytest.mark.parametrize(
    ("solver", "width"),
    [("cvodes", 0.001), rare("cvodes", 0.1), rare("rodas", 0.01), ("dop853", 0.1), rare("radau", 0.2)],
)
def test_a_short_pulse_of_a_table_is_not_stepped_over(solver, width, tmp_path):
    """Momentum gained is the area of the trapezoid, however long the steps of the integrator would like to be."""
    pulse = [
        (0, 0),
        (5.55, 0),
        (5.55 + width / 10, 3 / width),
        (5.55 + width, 3 / width),
        (5.55 + 1.1 * width, 0),
        (10, 0),
    ]
    robot = slider(tmp_path, "{torque: {file: pulse.csv}}", pulse=pulse)
    series = run(robot, solver=solver).result.series
    assert series["q1_dot"][-1] == pytest.approx(1.5, rel=1e-5)
    assert series["energy.work"][-1] == pytest.approx(series["energy.kinetic"][-1], rel=1e-5)


def test_tables_are_not_extrapolated(tmp_path):
    """One that starts late or ends early is refused, in torques and in motions; one that nothing follows is not."""
    rows = [(1, 0), (2, 1), (3, 0), (4, 0), (20, 0)]
    for drive in ("{torque: {file: late.csv}}", "{motion: {type: table, file: late.csv}}"):
        with pytest.raises(UsageError, match="from t = 1 s"):
            run(slider(tmp_path, drive, late=rows))
    early = [(0, 0), (1, 1), (2, 0), (3, 0)]
    short = slider(tmp_path, "{torque: {file: early.csv}}", early=early)
    with pytest.raises(UsageError, match=r"the table of the torque of q1, 'early.csv', goes from t = 0 s to 3 s"):
        run(short)
    assert short.check().summary["simulate"].startswith("refused: the table of the torque of q1, 'early.csv'")
    text = (
        (tmp_path / "slider.yaml").read_text().replace("{torque: {file: early.csv}}", "{pd: {kp: 1, kd: 1, target: 1}}")
    )
    (tmp_path / "slider.yaml").write_text(text + "motion: {q1: {type: table, file: early.csv}}\n")
    summary = run(kronbot.load(str(tmp_path / "slider.yaml")), qd={"q1": 0.0}).result.summary
    assert summary["complete"] is True
    assert "peak_deviation.q1" not in summary


def test_a_joint_without_inertia_is_named():
    """The mass matrix is singular at the start: a point mass on its own axis, a last link without mass."""
    text = SLIDER.replace("NAME", "q1").replace("DRIVE", "{torque: 0}")
    turning = text.replace("prismatic", "revolute")
    for robot in (turning, text.replace("    rigid: {mass: 2}\n", "")):
        with pytest.raises(ComputationError, match="q1 moves no inertia"):
            run(model(robot))


def test_what_overflows_is_cut_off_and_told():
    """Energies beyond floats: the sound rows are kept, or the run is refused at its start."""
    robot = kronbot.load("canadarm", parameters={"EI": 1e305})
    with pytest.raises(ComputationError, match="overflows at its very start"):
        run(robot, duration=0.1, q={"upper.v1": 1e3})


def test_orders_are_checked():
    """The library refuses what the command line refuses."""
    for order in (3, "7", "all", None):
        with pytest.raises(UsageError, match="^order"):
            kronbot.load("canadarm", order=order)
    assert kronbot.load("canadarm", parameters={"EI": 2e5}).description.values["EI"] == 2e5


@pytest.mark.parametrize("name", ["file", "summary", "allow_pickle"])
def test_any_joint_name_goes_into_an_archive(name, tmp_path, capsys):
    """NumPy archives do not trip over names that their writer uses itself."""
    slider(tmp_path, "{torque: 1}", name=name)
    target = tmp_path / "run.npz"
    code = command_line(["simulate", str(tmp_path / "slider.yaml"), "-o", str(target)])
    assert code == 0, capsys.readouterr().err
    assert np.load(target)[name][-1] == pytest.approx(25)


def test_joints_without_a_motion_stray_from_zero():
    """Torques of the rigid arm hold them there, and PD without a target: the summary says how well."""
    text = (
        SLIDER.replace("NAME", "q1")
        .replace(
            "simulate:", "  - {name: top, joint: {type: prismatic, name: q2}, pose: {}, rigid: {mass: 1}}\nsimulate:"
        )
        .replace("duration: 10", "duration: 1")
    )
    moving = "motion: {q1: {type: sinusoid, amplitude: 0.1, frequency: 2}}\n"
    for drive in ("rigid-inverse-dynamics", "{q2: {pd: {kp: 1, kd: 0}}}"):
        outcome = run(model(text.replace("{q1: DRIVE}", drive) + moving), qd={"q2": 0.5}).result
        strayed = np.abs(outcome.series["q2"]).max()
        assert outcome.summary["peak_deviation.q2"] == strayed > 0.1


def test_what_drives_want_is_known_by_joint():
    """Motions that they look at, targets, prescribed motions, and 0 where there is no motion."""
    names = ("q1", "q2", "q3", "q4")
    link = "  - {{name: l{0}, joint: {{type: prismatic, name: {0}}}, pose: {{}}, rigid: {{mass: 1}}}}\n"
    swing = "{type: sinusoid, amplitude: 0.1, frequency: 2}"
    drive = f"{{q1: {{pd: {{kp: 1, kd: 0}}}}, q2: {{pd: {{kp: 1, kd: 0, target: 3}}}}, q3: {{motion: {swing}}}}}"
    text = f"kronbot: 1\nname: four\ngravity: [0, 0, 0]\nlinks:\n{''.join(map(link.format, names))}"
    times = np.array([0.0, 0.3])
    for more in ("", f"motion: {{q1: {swing}}}\n"):
        wanted = commanded(model(f"{text}simulate: {{drive: {drive}}}\n{more}"), times)
        assert list(wanted) == ["q1", "q2", "q3"]
        moved = pytest.approx(0.1 * np.sin(2 * times))
        assert wanted["q1"] == (moved if more else pytest.approx(0))
        assert (wanted["q2"] == 3).all() and wanted["q3"] == moved
    free = commanded(model(text), times)
    assert free == {}
    assert list(commanded(model(f"{text}motion: {{q4: {swing}}}\n"), times)) == list(names)


@pytest.mark.parametrize(
    ("solver", "width"), [("cvodes", 1e-3), rare("cvodes", 0.1), rare("rodas", 0.01), ("dop853", 0.1)]
)
def test_torques_in_steps(solver, width, tmp_path):
    """Held from row to row: momentum is exact however short a pulse is; at a row stands what holds from there."""
    rows = [(0, 0), (2.5, 3 / width), (2.5 + width, -1), (7, 0), (10, 9)]
    robot = slider(tmp_path, "{torque: {file: pulse.csv, steps: true}}", pulse=rows)
    series = run(robot, solver=solver).result.series
    assert series["q1_dot"][-1] == pytest.approx((3 - (4.5 - width)) / 2, rel=1e-9)
    assert series["energy.balance"][-1] == pytest.approx(0, abs=1e-7)
    torques = dict(zip(series["t"].tolist(), series["torque.q1"].tolist(), strict=True))
    assert [torques[t] for t in (0, 2, 2.5, 3, 6.5, 7, 9.5, 10)] == [0, 0, 3 / width, -1, -1, 0, 0, 9]


def test_steps_are_marked(tmp_path):
    """Without a mark tables are linear, and a time must not stand twice."""
    rows = [(0, 0), (5, 2), (10, 2)]
    for mark, rate in (("", 7.5), (", steps: true", 5.0), (", steps: false", 7.5)):
        robot = slider(tmp_path, f"{{torque: {{file: t.csv{mark}}}}}", t=rows)
        assert run(robot).result.series["q1_dot"][-1] == pytest.approx(rate)
    with pytest.raises(DescriptionError, match="true or false is wanted here, not 'yes'"):
        slider(tmp_path, "{torque: {file: t.csv, steps: yes}}", t=rows)
    with pytest.raises(DescriptionError, match="does not come after"):
        slider(tmp_path, "{torque: {file: t.csv, steps: true}}", t=[(0, 0), (5, 2), (5, 0)])
    with pytest.raises(DescriptionError, match="unknown key 'steps'"):
        slider(tmp_path, "{motion: {type: table, file: t.csv, steps: true}}", t=[*rows, (11, 0)])


TRAPEZOID = "{type: trapezoid, from: 0, to: 1, rate: 4, acceleration: 50, start: 7.3}"
THROUGH = "{type: via-points, through: [[2, 0], [2.2, 1], [2.3, 0.5], [2.4, 1]], start: 5.3}"


@pytest.mark.parametrize(
    ("motion", "solver"),
    [
        (TRAPEZOID, "cvodes"),
        rare(THROUGH, "rodas"),
    ],
)
def test_a_short_motion_late_in_a_run_is_not_stepped_over(solver, motion, tmp_path, unmeasured):
    """It is where it goes, the forces it takes are those of its acceleration, and energy balances."""
    robot = slider(tmp_path, f"{{motion: {motion}}}")
    answer = robot.simulate(10, 0.025, solver=solver)
    late = answer["t"] > 8
    assert answer["q1"][late] == pytest.approx(1, rel=1e-12)
    assert answer["energy.work"][-1] == pytest.approx(0, abs=1e-6)
    assert np.abs(answer["torque.q1"]).max() > 90
    assert answer.summary["energy_imbalance"] < 1e-6
    follower = slider(tmp_path, "{pd: {kp: 2000, kd: 120}}").with_motion(f"q1: {motion}")
    assert follower.simulate(10, 0.05, solver=solver)["q1"][-1] == pytest.approx(1, abs=1e-3)
    driven = "simulate: {duration: 10, step: 0.5}\n" + f"motion: {{q1: {motion}}}\n"
    text = SLIDER[: SLIDER.index("simulate")].replace("NAME", "q1") + driven
    assert kronbot.loads(text).simulate(solver=solver)["q1"][-1] == pytest.approx(1, abs=1e-4)


def test_a_motion_that_begins_with_a_rate_at_once(tmp_path):
    """No joint follows it exactly; torques along it leave the joint behind, which is told; a controller may."""
    swing = "{type: sinusoid, amplitude: 0.5, frequency: 2, start: 1.5PHASE}"
    prescribed = slider(tmp_path, f"{{motion: {swing}}}".replace("PHASE", ""))
    with pytest.raises(UsageError, match=r"at t = 1.5 s with a rate of 1 m/s at once, which no joint can follow"):
        prescribed.simulate()
    prescribed.simulate(1.0)  # before it begins
    slider(tmp_path, f"{{motion: {swing}}}".replace("PHASE", ", phase: pi/2")).simulate(2.0)
    text = SLIDER[: SLIDER.index("simulate")].replace("NAME", "q1") + "simulate: {duration: 3, step: 0.5}\n"
    answer = kronbot.loads(text + f"motion: {{q1: {swing}}}\n".replace("PHASE", "")).simulate()
    (told,) = answer.warnings
    assert told == (
        "the motion of q1 begins at t = 1.5 s with a rate of 1 m/s at once: torques do not give the joint that rate, "
        "and it stays behind the motion"
    )
    assert answer.summary["peak_deviation.q1"] == pytest.approx(1.5, rel=1e-6)
    controlled = slider(tmp_path, "{pd: {kp: 100, kd: 20}}").with_motion(f"q1: {swing}".replace("PHASE", ""))
    assert list(controlled.simulate(3.0).warnings) == []


def test_tables_of_motions_that_begin_later(tmp_path):
    """They are held before, so that they need no row there, and end as much later."""
    rows = [(0, 0), (1, 1), (2, 0), (3, 0)]
    drive = "{motion: {type: table, file: t.csv, start: 7}}"
    at_rest = [(0, 0.0), (0.5, 0.0), (1, 0.2), (2, 0.1), (3, 0.0)]
    assert slider(tmp_path, drive, t=at_rest).check().summary.get("simulate") is None
    with pytest.raises(UsageError, match="motion of q1, 't.csv', goes to t = 9 s, but the run from 0 to 10"):
        slider(tmp_path, drive.replace("7", "6"), t=rows).simulate()
    with pytest.raises(UsageError, match="goes from t = 8 s to 10 s"):
        slider(tmp_path, drive, t=[(1, 0), (2, 0), (2.5, 0), (3, 0)]).simulate()


def test_tables_whose_splines_swing_beyond_their_rows_are_told(tmp_path):
    """Rows much nearer to each other than others: the spline goes through them, and far out between the others."""
    rows = [(0, 0), (1, 0), (1.0001, 1), (2, 1), (3, 1)]
    drive = "{motion: {type: table, file: t.csv}}"
    uneven = slider(tmp_path, drive, t=rows).with_motion("q1: {type: table, file: t.csv}")
    expected = CubicSpline(*np.transpose(rows))
    answer = uneven.simulate(3.0, 0.5, outputs=[])
    assert answer["q1"] == pytest.approx(expected(answer["t"]), abs=1e-6 * np.abs(expected(answer["t"])).max())
    for told in (
        answer.warnings,
        [uneven.check().summary["motion"]],
        uneven.linearize_along(duration=3.0, step=0.5).warnings,
    ):
        (words,) = (each for each in told if "swings" in each)
        assert words.startswith("between the rows of 't.csv' at 0 s and 1 s the spline of q1 swings 5.")
    even = slider(tmp_path, drive, t=[(0, 0), (1, 0), (2, 0), (3, 1), (4, 1), (5, 1)])
    assert not even.simulate(3.0, 0.5).warnings and "motion" not in even.check().summary


@pytest.mark.parametrize("rows", [[(0, 0), (5, 1), (np.nextafter(5, 9), 0), (10, 0)], [(0, 4), (5e-324, 0), (10, 0)]])
def test_steps_as_short_as_rounding_are_none(rows, tmp_path):
    """What holds from one number to the next gives no momentum; before, nothing went on."""
    robot = slider(tmp_path, "{torque: {file: t.csv, steps: true}}", t=rows)
    assert robot.simulate(10.0, 5.0)["q1_dot"] == pytest.approx(0.0, abs=1e-9)


def test_a_table_ends_to_change_at_its_row(tmp_path):
    """The spline behind it swings by rounding: where that is seen depends on the times that a run is watched at."""
    t = np.linspace(0, 6, 601)
    s = np.minimum(t / 3, 1)
    rows = np.column_stack([t, 2 * s**3 * (10 - 15 * s + 6 * s**2)])
    robot = slider(tmp_path, "{motion: {type: table, file: t.csv}}", t=rows.tolist())
    for duration, count in ((4.0, 401), (5.0, 2000), (6.0, 601), (6.0, 31), (5.3, 12)):
        end = motion_end(robot.model, drives(robot.model), np.linspace(0, duration, count))
        assert end == pytest.approx(3.0, abs=0.011)


def test_splines_are_told_by_the_table_that_is_followed(tmp_path):
    """Also of a robot that was asked about its other one before."""
    rows = [(0, 0), (1, 0), (1.0001, 1), (2, 1), (3, 1)]
    even = [(0, 0), (1, 0), (2, 1), (3, 1)]
    robot = slider(tmp_path, "{motion: {type: table, file: even.csv}}", t=rows, even=even)
    robot = robot.with_motion("q1: {type: table, file: t.csv}")
    (told,) = (each for each in robot.linearize_along(duration=3.0, step=0.5).warnings if "swings" in each)
    assert "'t.csv'" in told and not any("swings" in each for each in robot.simulate(3.0, 0.5).warnings)
