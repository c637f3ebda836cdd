"""Fits of motions: exact derivatives along them, parameters that come back, records and where they begin."""

from itertools import combinations

import numpy as np
import pytest
from differences import demand_derivatives
from questions.test_fit import TABLE
from questions.test_fit_motion import ARM, LATHE, PLANAR
from scipy.integrate import solve_ivp
from thinned import rare

import kronbot
from kronbot.compute.native.policy import native as using
from kronbot.description.expressions.expression import parse
from kronbot.description.shipped import shipped_robots
from kronbot.errors import ComputationError, UsageError
from kronbot.mechanics.motion.sensitivity import Flow
from kronbot.model.variation import Variation
from kronbot.questions.fitting import simulate
from kronbot.questions.fitting.data import Columns, Named
from kronbot.questions.fitting.search import Search
from kronbot.questions.fitting.simulate import SimulatedAnswers

pytestmark = pytest.mark.usefixtures("unmeasured")

PENDULUM = """
kronbot: 1
name: pendulum
convention: modified
gravity: [0, 0, -9.81]
parameters: {m: 2, d: 1.2}
links:
  - name: a
    joint: {type: revolute, name: q1, damping: d}
    dh: {a: 0, d: 0, alpha: pi/2, theta: 0}
    rigid: {mass: m, com: [0.4, 0, 0], inertia: {Ixx: 0.01, Iyy: 0.1, Izz: 0.1}}
endpoint: {link: a}
"""


def answers(robot, names, table, initial="rows"):
    return SimulatedAnswers.read(Variation.of(robot, names), Named(Columns(table), {}), (), initial)[0]


def demand_exact(found, at):
    names = [*found.variation.names, *found.beside]
    demand_derivatives(found.errors, at, found.jacobian(at), names)


@pytest.fixture
def same_steps(monkeypatch):
    """Steps stay as they are, however far parameters go."""
    monkeypatch.setattr(simulate, "STALE", np.inf)


@pytest.mark.parametrize("order", ["0", rare("1"), rare("exact")])
def test_derivatives_are_exact_for_every_kind_of_parameter(same_steps, order):
    """Of sagging beams, shafts and bearings at first, too, where a motion of the file drives a joint."""
    robot = kronbot.loads(LATHE).at_order(order).model
    # Of rods what bends them: the others stand where they stand in order 1.
    wanted = {"0": lambda name: name not in ("EI", "GJ", "zeta"), "exact": lambda name: name in ("EI", "GJ", "zeta")}
    names = [*filter(wanted.get(order, bool), robot.parameters.definitions)]
    rng = np.random.default_rng(5)
    what = ["torque.q1", "q1", "q2", "q2_dot", "q1.x", "endpoint.y", "position.com:b.z", "acceleration.b.x"]
    what += [f"rotation.b.{axis}" for axis in "xyz"] + ["velocity.a.ry", "reaction.q2.fx", "power.q2"]
    what += [] if order == "0" else ["curvature.g1", "twist.g1", "tip.a.y"]
    what = what[:4] + what[-2:] if order == "exact" else what  # what bends moves the others alike
    t = np.array([0, 0.01, 0.03])
    table = {"t": t, "torque.q2": rng.normal(size=3), **{name: 0.3 * rng.normal(size=3) for name in what}}
    table["q1"][0] = np.nan
    at = np.array([robot.parameters.values[name] for name in names])
    demand_exact(answers(robot, names, table), at)


def test_derivatives_by_delays_of_sensors(same_steps):
    """Of sensors of several delays along two records, one begins later; some tell of times before their record."""
    robot = kronbot.loads(PLANAR.replace("fc: 0.4", "fc: 0.4, d1: 0.013, d2: 0.021")).model
    names = ["m2", "b", "d1", "d2"]
    rng, t = np.random.default_rng(1), np.array([0, 0.03, 0.05, 0.08, 0.1])
    table = {"t": np.append(t, 1 + t), "record": np.repeat([3, 4], 5), "torque.q1": rng.normal(size=10)}
    table |= {name: 0.1 * rng.normal(size=10) for name in ("q1", "q2", "q1_dot", "endpoint.y", "acceleration.b.x")}
    late = {"q2": parse("d1"), "endpoint": parse("2*d1 + d2"), "acceleration.b.x": parse("0.004")}
    variation = Variation.of(robot, names)
    found, _ = SimulatedAnswers.read(variation, Named(Columns(table), {}), (), "fitted", late)
    at = np.array([robot.parameters.values[name] for name in names] + [*found.beside.values()])
    demand_exact(found, at)


@pytest.mark.slow
def test_delays_and_offsets_of_sensors_come_back(data):
    """An endpoint that is told late, and an encoder whose zero is not that of the joint."""
    arm = kronbot.loads(PLANAR.replace("fc: 0.4", "fc: 0.4, late: 0.01, zero: 0")).with_parameters(**TRUE)
    table = {name: values.copy() for name, values in data.items()}
    table["q2"][0] = np.nan
    names, late = ["b", "late", "zero"], {"endpoint": parse("late")}
    found, _ = SimulatedAnswers.read(Variation.of(arm.model, names), Named(Columns(table), {}), (), "rows", late)
    told = found.computed(np.array([TRUE["b"], 0.034, 0.05]))
    table |= {column.name: told[:, i] for i, column in enumerate(found.data.columns)}
    table["q2"] = table["q2"] + 0.05
    sigma = {"q1": 1e-3, "q2": 1e-3, "endpoint": 1e-3}
    answer = arm.fit(
        table, question="simulate", estimate=names, sigma=sigma, offset={"q2": "zero"}, delay={"endpoint": "late"}
    )
    for name, value in {"b": TRUE["b"], "late": 0.034, "zero": 0.05}.items():
        assert answer.at["parameters"][name] == pytest.approx(value, rel=1e-6), name
    with pytest.raises(UsageError, match="only motions have a time"):
        arm.fit({"q1": [0.1], "endpoint.x": [0.3]}, estimate="m1", delay={"endpoint": 0.1})
    with pytest.raises(UsageError, match="no parameter 'zro'.*zero"):
        arm.fit(table, question="simulate", offset={"q2": "zro"})
    with pytest.raises(UsageError, match="delay: no measured column 'endpoint.z'; did you mean"):
        arm.fit(table, question="simulate", estimate=names, delay={"endpoint.z": "late"})
    with pytest.raises(UsageError, match="nothing is called 'q9'"):
        arm.fit(table, question="simulate", offset={"q9": "zero"})


@pytest.mark.parametrize(("text", "other"), [(PLANAR, "q1_dot"), (ARM, "q2")])
def test_records_begin_where_their_first_row_says_less_what_sensors_add(same_steps, text, other):
    """Which may depend on parameters: of joints, of their rates, and of both sides of elastic ones."""
    added = "gy: -9.81, z1: 0.02, z2: -0.03" if text is ARM else "m1: 2, z1: 0.02, z2: -0.03"
    robot, names = kronbot.loads(text.replace(added.partition(",")[0], added, 1)).model, ["z1", "z2"]
    rng, t, at = np.random.default_rng(3), np.array([0, 0.01, 0.03]), np.array([0.02, -0.03])
    table = {"t": t, **{name: 0.1 * rng.normal(size=3) for name in dict.fromkeys(("q1", "q1_dot", "q2", other))}}
    zeros = {"q1": parse("2*z1"), other: parse("z1 + z2**2")}
    variation = Variation.of(robot, names)
    found, _ = SimulatedAnswers.read(variation, Named(Columns(table), {}), (), "rows", None, zeros)
    demand_exact(found, at)
    true = {**table, "q1": table["q1"] - 0.04, other: table[other] - 0.02 - 0.03**2}
    np.testing.assert_allclose(found.computed(at), answers(robot, names, true).computed(at), rtol=1e-12, atol=1e-14)


def test_records_begin_where_columns_say_that_are_not_compared(tmp_path):
    """All of the first row, less what sensors add, whichever columns are fitted; in a file as in the library."""
    robot = kronbot.loads(PENDULUM + "simulate: {drive: {q1: {torque: 0}}}\n")
    run = robot.simulate(1, 0.02, q={"q1": 0.4}, qd={"q1": 1.5})
    added = {"q1": 0.1, "q1_dot": -0.2}
    rows = {name: run[name] + added.get(name, 0) for name in ("t", "q1", "q1_dot")}
    lines = [",".join(rows), *(",".join(map(repr, row)) for row in np.array([*rows.values()]).T.tolist())]
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    for data in (rows, str(tmp_path / "rows.csv")):
        for only in ("q1", "q1_dot", None):
            asked = {"question": "simulate", "estimate": ["m", "d"], "offset": added, "only": only}
            found = robot.with_parameters(d=1, m=1.8).fit(data, **asked)
            assert found["estimates"][:, 1] == pytest.approx([2, 1.2], rel=1e-6)


def test_offsets_are_found_whatever_the_question():
    arm = kronbot.loads(PLANAR.replace("fc: 0.4", "fc: 0.4, zero: 0"))
    q = np.linspace(-1, 1, 9)
    x = arm.statics(q=np.column_stack([q, 0 * q]))["torque.q1"]
    answer = arm.fit({"q1": q, "torque.q1": x + 0.3}, estimate="zero", offset={"torque.q1": "2*zero"})
    assert answer.at["parameters"]["zero"] == pytest.approx(0.15, rel=1e-9)


@pytest.mark.slow
def test_derivatives_of_records_that_are_driven_by_motions(same_steps):
    """Two records, a measured motion, a torque, stiff friction, a follower; and where joints begin is found, too."""
    arm = kronbot.loads(ARM).model
    names = ["l", "m1", "EI", "jr", "k", "fc", "vs", "twist"]
    rng, t = np.random.default_rng(1), np.array([0, 0.03, 0.05, 0.08, 0.1, 0.14])
    table = {"t": np.append(t, 1 + t), "record": np.repeat([3, 4], 6), "motion.q1": 0.2 * np.sin(9 * np.append(t, t))}
    table |= {"torque.q2": rng.normal(size=12), "q2": 0.1 * rng.normal(size=12), "torque.q1": rng.normal(size=12)}
    table |= {"q2.motor": 0.1 * rng.normal(size=12)}
    found = answers(arm, names, table, "fitted")
    begun = ("q2.motor", "q2", "q2.motor_dot", "q2_dot")
    assert [*found.beside] == [f"start[{record}].{name}" for record in (3, 4) for name in begun]
    at = np.array([arm.parameters.values[name] for name in names] + [*found.beside.values()])
    demand_exact(found, at)


@pytest.fixture(scope="module")
def planar():
    return kronbot.loads(PLANAR)


TRUE = {"m1": 2.3, "jr": 0.02, "m2": 1.2, "I2": 0.13, "fc": 0.5, "b": 0.3}


def recorded(robot, true, t, torques, measured, q, folder):
    """A record: what simulate answers with where rows of torques drive the robot."""
    for name, values in torques.items():
        lines = [f"{a!r},{b!r}" for a, b in zip(t.tolist(), values.tolist(), strict=True)]
        (folder / f"{name}.csv").write_text("t,torque\n" + "\n".join(lines))
    drive = ", ".join(f"{name}: {{torque: {{file: {name}.csv}}}}" for name in torques)
    (folder / "robot.yaml").write_text(robot + f"simulate: {{drive: {{{drive}}}}}\n")
    driven = kronbot.load(folder / "robot.yaml", parameters=true)
    answer = driven.simulate(duration=float(t[-1]), step=float(t[1]), q=q, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(answer["t"], t, atol=1e-12)
    return {"t": t, **{f"torque.{name}": each for name, each in torques.items()}, **{m: answer[m] for m in measured}}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    t = np.linspace(0, 2, 101)
    torques = {"q1": 8 * np.cos(3 * t) + 6, "q2": 2 * np.sin(7 * t) + 1}
    return recorded(
        PLANAR, TRUE, t, torques, ["q1", "q2", "endpoint.x"], {"q1": 0.3, "q2": -0.2}, tmp_path_factory.mktemp("r")
    )


@pytest.mark.slow
def test_parameters_come_back_from_a_record(planar, data):
    answer = planar.fit(
        data, question="simulate", estimate=list(TRUE), sigma={"q1": 1e-3, "q2": 1e-3, "endpoint": 1e-3}
    )
    for name, value in TRUE.items():
        assert answer.at["parameters"][name] == pytest.approx(value, rel=1e-6), name
    assert np.abs(answer["residual"]).max() < 1e-7
    assert not any("begin exactly" in told for told in answer.warnings)
    # Where the record begins is found as well, from where the file has it.
    table = {name: values.copy() for name, values in data.items()}
    table["q2"][0] = np.nan
    answer = planar.fit(table, question="simulate", estimate=["fc", "b"], fix="b", initial="fitted",
                        sigma={"q1": 1e-3, "q2": 1e-3, "endpoint": 1e-3})  # fmt: skip
    assert answer.at["start"].keys() == {f"start[1].{name}" for name in ("q1", "q2", "q1_dot", "q2_dot")}
    # Noise of the first row is no error of parameters but there; who has it is told.
    noisy = data | {"q1": data["q1"] + 1e-3 * np.sin(1e4 * data["t"] + 1)}
    asked = {"question": "simulate", "estimate": "b", "sigma": {"q1": 1e-3, "q2": 1e-3, "endpoint": 1e-3}}
    told = {initial: planar.fit(noisy, **asked, initial=initial) for initial in ("rows", "fitted")}
    begun = {initial: [each for each in one.warnings if "begin exactly" in each] for initial, one in told.items()}
    assert begun["rows"][0].startswith("records begin exactly where their first row has q1, q2, though")
    assert not begun["fitted"]
    assert told["fitted"]["standard_errors"][0] > told["rows"]["standard_errors"][0]


@pytest.mark.slow
def test_where_validating_records_begin_is_found_from_them(planar, data, tmp_path):
    """Parameters are not, whether they have a file of their own or are drawn among records."""
    t = np.linspace(0, 0.5, 26)
    torques = {"q1": 8 * np.cos(3 * t) + 6, "q2": 2 * np.sin(7 * t) + 1}
    other = recorded(PLANAR, TRUE, t, torques, ["q1", "q2"], {"q1": -0.6, "q2": 0.4}, tmp_path)
    one = {name: data[name][:26] for name in other}
    for table in (other, one):
        table["q1"], table["q2"] = table["q1"] + 1e-4, table["q2"] + 2e-3 * (np.arange(26) == 0)  # no use as starts
    both = {name: np.concatenate([one[name], other[name]]) for name in one} | {"record": np.repeat([7, 9], 26)}
    true = planar.with_parameters(**TRUE)
    asked = {"question": "simulate", "estimate": "b", "initial": "fitted", "sigma": {"q1": 1e-3, "q2": 1e-3}}
    of_file = true.fit(one, validate=other, **asked)
    drawn = true.fit(both, validate=0.5, **asked)
    assert [name.split(".")[0] for name in of_file.at["start"]] == ["start[1]"] * 4
    assert len({name.split(".")[0] for name in drawn.at["start"]}) == 1
    for answer in (of_file, drawn):
        assert answer.summary["validation_rows"] == 26 and answer.summary["validation_noise_factor"] < 0.5
        assert "where records that validate begin was found from these" in answer.warnings
        assert not any("tell nothing of" in each for each in answer.warnings)
    rows = true.fit(one, validate=other, **(asked | {"initial": "rows"}))
    assert rows.summary["validation_noise_factor"] > 1
    within = true.fit(one, validate=0.3, **asked)
    assert not any("records that validate" in each for each in within.warnings)


@pytest.mark.slow
def test_joints_that_begin_in_degrees_are_asked_about(planar, data):
    """Nothing that is computed from there goes along with them."""
    asked = {"question": "simulate", "estimate": "b", "sigma": {"q1": 1e-3}, "only": "q1"}
    told = planar.fit({**data, "q1": np.degrees(data["q1"])}, **asked).warnings
    assert any("q1 reaches" in each and 'is it in degrees? columns: {q1: "...*deg"}' in each for each in told)
    assert not any("degrees" in each for each in planar.fit(data, **asked).warnings)


@pytest.mark.slow
def test_times_in_milliseconds_are_asked_about():
    """Errors would be a fraction of what they are were the record a thousandth as long."""
    robot = kronbot.loads(PENDULUM)
    true = robot.with_parameters(m=2.2, d=1.3).simulate(duration=1, step=0.04)
    data, asked = {"t": true["t"], "q1": true["q1"]}, {"question": "simulate", "sigma": {"q1": 1e-3}}
    told = robot.fit({**data, "t": 1e3 * data["t"]}, **asked).warnings
    assert any('smaller were t in ms: columns: {t: "...*1e-3"} makes it s' in each for each in told)
    assert not any(" ms" in each for each in robot.fit(data, **asked).warnings)


def test_drives_of_the_file_that_measured_torques_replace_are_told():
    robot, t = kronbot.load("khang"), np.array([0, 0.01, 0.02])  # with a controller
    table = {"t": t, "tip.arm.y": 1e-3 * t, "torque.qa": np.ones(3)}
    asked = {"question": "simulate", "estimate": "EI", "sigma": {"tip": 1.0}, "prior": {"EI": (11.2, 0.1)}}
    told = "torque.qa drives the robot, in place of what the file has under simulate.drive"
    assert told in robot.fit(table, **asked).warnings
    del table["torque.qa"]
    assert told not in robot.fit(table, **asked).warnings


@pytest.mark.slow
def test_a_second_fit_of_records_builds_no_steps_anew(planar, data, monkeypatch):
    """Native code is known by the steps: who asks often gets it."""
    told = {name: values[:5] for name, values in data.items()}
    asked = {"question": "simulate", "estimate": ["b"], "sigma": dict.fromkeys(("q1", "q2", "endpoint"), 1e-3)}
    first = planar.fit(told, **asked)
    monkeypatch.setattr(Flow, "_stepping", None)
    assert planar.fit(told, **asked).at == first.at
    with pytest.raises(TypeError):
        planar.fit(told, **(asked | {"estimate": ["m2"]}))


@pytest.mark.slow
def test_native_code_takes_the_same_steps(planar, data):
    told = {name: values[:20] for name, values in data.items() if name != "endpoint.x"}
    asked = {"question": "simulate", "estimate": ["b"], "sigma": {"q1": 1e-3, "q2": 1e-3}}
    with using("off"):
        interpreted = planar.fit(told, **asked)
    with using("on"):
        answer = planar.fit(told, **asked)
    assert answer.at == interpreted.at and answer["residual"].tobytes() == interpreted["residual"].tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("initial", ["rows", rare("fitted")])
def test_plans_choose_records_that_tell_most(planar, initial):
    """Of all pairs those with the largest determinant, also where it is unknown where records begin."""
    t = np.linspace(0, 0.5, 6)
    motions = [(0, 0), (3, 0), (0, 4), (9, 2), (0.1, 0.1)]
    table = {"t": np.tile(t, 5), "record": np.repeat(np.arange(5), 6), "q1": np.zeros(30), "q2": np.zeros(30)}
    table |= {f"torque.q{i + 1}": np.concatenate([m[i] * np.sin(9 * t) for m in motions]) for i in range(2)}
    asked = {"question": "simulate", "estimate": ["m2", "b"], "sigma": {"q1": 1e-3, "q2": 1e-3}, "initial": initial}
    answer = planar.fit(plan=2, candidates=table, **asked)
    sizes = {}
    for pair in combinations(range(5), 2):
        rows = np.isin(table["record"], pair)
        told = {name: values[rows] for name, values in table.items()}
        sizes[pair] = np.linalg.det(information(planar, told, initial)) ** -0.5
        found = planar.fit(plan=2, candidates=told, **asked)
        size = np.prod(found["standard_errors"]) * np.sqrt(np.linalg.det(found["correlations"]))
        assert size == pytest.approx(sizes[pair], rel=1e-6)
    assert tuple(answer["record"]) == min(sizes, key=sizes.get) and answer.summary["records"] == 2


def information(robot, table, initial):
    """The Fisher information of m2 and b, with what is known of where records begin taken out."""
    found = answers(robot.model, ("m2", "b"), table, initial)
    J = found.jacobian(np.array([robot.description.values[name] for name in ("m2", "b")] + [*found.beside.values()]))
    N = J.T @ J * 1e6
    rest = N[2:, 2:]
    return N[:2, :2] - (N[:2, 2:] @ np.linalg.solve(rest, N[2:, :2]) if len(rest) else 0)


HELD = """
kronbot: 1
name: held
convention: standard
gravity: [0, -9.81, 0]
parameters: {m: 1.5, EI: 30, kp: 40, kd: 4, ki: 20, late: 0.004, T: 0.01}
links:
  - name: a
    joint: {type: revolute, name: q1, damping: 0.1}
    dh: {a: 0.7, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 0.4, EI: {z: EI}, modes: {v: 1}, damping: {ratio: 0.02}}
    payload: {mass: m}
    hub: {inertia: {Izz: 0.4}}
motion: {q1: {type: polynomial, from: 0, to: 0.8, duration: 0.2, degree: 5}}
control: {q1: {pid: {kp: kp, ki: ki, kd: kd}, effort: [-60, 60]}, sample_time: T}
"""


@pytest.mark.slow
def test_records_under_sampled_controllers(same_steps):
    """What ``simulate`` answers with comes back, by another integrator, whether rows are instants or between them."""
    robot, true = kronbot.loads(HELD), {"m": 1.6, "EI": 33.0, "kp": 42.0, "ki": 22.0, "kd": 4.2}
    fixed = robot.with_parameters(**true)
    for step in (0.02, 0.017):
        run = fixed.simulate(duration=0.34, step=step, outputs=["acceleration:a"])
        table = {name: run[name] for name in ("t", "q1", "q1_dot", "tip.a.y", "acceleration.a.y")}
        answer = robot.fit(
            table, question="simulate", estimate=list(true), initial="file",
            sigma={"q1": 1e-4, "q1_dot": 1e-3, "tip": 1e-4, "acceleration": 1e-3},
        )  # fmt: skip
        for name, value in true.items():
            assert answer.at["parameters"][name] == pytest.approx(value, rel=2e-6)
        assert answer.summary["chi_square"] < 1e-2
    variation, named = Variation.of(robot.model, [*true, "late"]), Named(Columns(table), {})
    found = SimulatedAnswers.read(variation, named, ("q1", "tip"), "fitted", {"tip": parse("late")})[0]
    demand_exact(found, np.array([*true.values(), 0.0035, *found.beside.values()]))
    with pytest.raises(UsageError, match="or controllers look, depend on one of T; leave it out with"):
        robot.fit(table, question="simulate", estimate="T", initial="file")


def test_rows_of_records_that_make_no_sense_are_told(planar, data):
    def ask(**changes):
        table = {name: values[:5].copy() for name, values in data.items()} | changes
        planar.fit({k: v for k, v in table.items() if v is not None}, question="simulate", estimate="b")

    with pytest.raises(UsageError, match="a column t is wanted"):
        ask(t=None)
    with pytest.raises(UsageError, match="does not grow in row 3; a column record"):
        ask(t=[0, 0.1, 0.1, 0.2, 0.3])
    with pytest.raises(UsageError, match="does not grow in rows 2, 4$"):
        ask(t=[0, 0, 0.1, 0.1, 0.3], record=np.zeros(5))
    with pytest.raises(UsageError, match="do not stand together"):
        ask(record=[1, 1, 2, 2, 1], t=[0, 1, 0, 1, 0])
    with pytest.raises(UsageError, match="two rows make a record"):
        ask(record=[1, 1, 2, 3, 3], t=[0, 1, 0, 1, 2])


STUCK = """
kronbot: 1
name: held
gravity: [0, -9.81, 0]
parameters: {m: 1, c: 0.05}
links:
  - name: arm
    joint: {type: revolute, name: q, damping: 0.05, friction: {coulomb: c}}
    pose: {}
    flexible:
      {mass: 0.4, length: 0.4, EI: {z: 60}, modes: {v: 1}, shape: craig-bampton, damping: {ratio: 0.01}}
    payload: {mass: m}
motion:
  q: {type: cycloidal, from: 60*deg, to: 90*deg, duration: 1}
simulate: {start: equilibrium, drive: {q: {pd: {kp: 40, kd: 3}}}}
"""


@pytest.fixture(scope="module")
def held():
    """An arm that its friction all but holds, and what is measured of it with a payload of 1.2 kg."""
    robot = kronbot.loads(STUCK)
    run = robot.with_parameters(m=1.2).simulate(duration=0.1, step=0.01)
    return robot, {name: run[name] for name in ("t", "q", "torque.q", "arm.v1")}


@pytest.mark.slow
def test_friction_that_holds_a_light_root_is_followed_by_stable_steps(held, interpreted):
    """Explicit steps on the edge of stability hold for one run and not for the next one, which rounding parts."""
    robot, table = held
    found, at = answers(robot.model, ["m", "c"], table), np.array([1.2, 0.05])
    assert np.abs(found.errors(at)).max() < 1e-4  # torques are straight between rows
    assert [grid.stiff for grid in found._shared.grids.values()] == [True]
    J = found.jacobian(at)
    for i, h in enumerate([1e-5, 1e-6]):
        ahead, behind = (found.errors(at + side * h * np.eye(2)[i]) for side in (1, -1))
        assert ((ahead - behind) / (2 * h)).ravel() == pytest.approx(J[:, i], abs=1e-4 * np.abs(J[:, i]).max())
    fit = robot.fit(table, question="simulate", estimate="m", sigma={"q": 1e-4, "arm": 1e-5})
    assert fit.at["parameters"]["m"] == pytest.approx(1.2, abs=4 * fit["standard_errors"][0])


@pytest.mark.slow
def test_derivatives_that_disagree_with_answers_are_told(held, monkeypatch):
    """Of the wrong sign on purpose: no step is better, the answer is not complete."""
    robot, table = held
    right = SimulatedAnswers.jacobian
    monkeypatch.setattr(SimulatedAnswers, "jacobian", lambda self, values: -right(self, values))
    with pytest.raises(ComputationError, match="derivatives and answers disagree: by derivatives a step") as met:
        robot.fit(table, question="simulate", estimate="m", sigma={"q": 1e-3, "arm": 1e-5})
    assert met.value.partial.summary["complete"] is False and met.value.partial.at["parameters"]["m"] == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sigma", "again", "cure"),
    [
        (
            {},
            np.inf,
            "no answer at values where a search begins in rows 1, .*; give parameters values",
        ),
        ({}, 1e200, "too large for sums of squares at values where a search begins; give parameters values"),
        ({"q": 1e-3, "arm": 1e-3}, 1e200, "are too large: give larger ones to sigma$"),
    ],
)
def test_squares_that_overflow_are_told_with_the_cure_for_what_was_given(held, monkeypatch, sigma, again, cure):
    """Answers that are there when a fit looks first, and are no more, or huge, when it searches."""
    robot, table = held
    right, begin = SimulatedAnswers.errors, Search.run

    def run(search):
        monkeypatch.setattr(SimulatedAnswers, "errors", lambda self, values: right(self, values) * again)
        begin(search)

    monkeypatch.setattr(Search, "run", run)
    with np.errstate(all="ignore"), pytest.raises(ComputationError, match=cure):
        robot.fit(table, question="simulate", estimate="m", sigma=sigma)


def test_rows_beyond_a_contact_that_end_a_search_are_told():
    """A lid that a spring opens, searched for from a damper that keeps it from its stop: without these rows it ends."""
    robot = kronbot.loads("""
kronbot: 1
name: lid
gravity: [0, 0, 0]
parameters: {c: 6}
links:
  - name: lid
    joint: {type: revolute, name: h, damping: c, limits: [-1, 1], stops: {stiffness: 5e4},
            spring: {stiffness: 60, rest: 1.5}}
    pose: {}
    rigid: {mass: 9, com: [0.5, 0, 0], inertia: {Izz: 1}}
""")
    run = robot.simulate(duration=0.5, step=0.01)
    free = int(np.argmax(run["h"] > 1))
    table = {"t": run["t"][: free + 2], "h": run["h"][: free + 2]}
    slow = robot.with_parameters(c=9)
    with pytest.raises(ComputationError, match="are none, as in row.* stop.*; leave rows of a record out from"):
        slow.fit(table, question="simulate", estimate="c")
    found = slow.fit({name: each[:free] for name, each in table.items()}, question="simulate", estimate="c")
    assert found.at["parameters"]["c"] == pytest.approx(6, rel=1e-4)


def test_contacts_and_runaways_are_refused(planar):
    """All rows from the first contact of a record on, which leaving out helps in any case, other values in some."""
    robot = kronbot.loads(PLANAR.replace("name: q2}", "name: q2, limits: [-0.25, 0.25], stops: {stiffness: 1e4}}"))
    t = np.linspace(0, 1, 11)
    free = planar.simulate(duration=1, step=0.1, rtol=1e-9, atol=1e-10)["q2"]
    first = int(np.argmax(np.abs(free) > 0.25))
    assert 1 < first < 10 and (np.abs(free[first:]) < 0.25).any()  # it comes back, on a way that no stop has changed
    table = {"t": np.tile(t, 2), "record": np.repeat([1, 2], 11), "q2": np.zeros(22)}
    rows = ", ".join(str(row + record) for record in (1, 12) for row in range(first, 11))
    told = "; a stop or a tendon begins or ends to act there or before, .*; leave rows of a record out from the first "
    cure = "such one on, or, where what was measured is not so, give parameters values that are nearer$"
    with pytest.raises(ComputationError, match=f"parameters in rows {rows}{told}{cure}"):
        robot.fit(table, question="simulate", estimate="b")
    plain, replacing = robot.description.source.text, "; torque.q2 drives in place of the file's"
    control, drive = "control: {q2: {pid: {kp: 9, kd: 1}}}", "simulate: {drive: {q2: {pd: {kp: 9, kd: 1}}}}"
    for held, words in ((control, replacing), (drive, replacing), ("", "")):
        given = kronbot.loads(f"{plain}\n{held}\n")
        with pytest.raises(ComputationError, match=f"gimbal lock{words}") as met:
            given.fit({"t": t, "q2": 0 * t, "torque.q2": 9 + t}, question="simulate", estimate="b")
        assert words in str(met.value) and bool(words) == ("in place of" in str(met.value))
    left = {name: np.concatenate([each[:first], each[11 : 11 + first]]) for name, each in table.items()}
    assert robot.fit(left, question="simulate", estimate="b").summary["rows"] == 2 * first
    with pytest.raises(ComputationError, match="no answer with the first values"):
        planar.fit({"t": t, "q2": 0 * t, "torque.q1": 1e30 * t}, question="simulate", estimate="b")


ROPE = """
kronbot: 1
name: hung
convention: standard
gravity: [0, -9.81, 0]
parameters: {k: 5000, rest: 0.9, m: 5, c: 20}
links:
  - name: jib
    joint: {type: revolute, name: q1}
    dh: {a: 1.2, d: 0, alpha: 0, theta: 0}
    rigid: {mass: m, com: [-0.4, 0, 0], inertia: {Izz: 0.4}}
elements:
  - {name: rope, type: tendon, between: [world, jib], points: [[0.2, 0.9, 0], [0, 0, 0]], stiffness: k, rest: rest,
     damping: c}
"""


@pytest.mark.slow
def test_tendons_may_stay_taut(same_steps):
    """One that holds the robot all the time is a spring; where it becomes slack, or taut, motions are refused."""
    robot, t = kronbot.loads(ROPE), np.linspace(0, 1, 51)
    true, asked = robot.with_parameters(k=6000, m=5.5), {"question": "simulate", "estimate": ["k", "m"]}
    asked["sigma"] = {"q1": 1e-4, "tension": 1}

    def table(q1, rtol=1e-6):
        run = true.simulate(q=[q1], duration=1, step=0.02, rtol=rtol, atol=rtol / 10, solver="dop853")
        return run, {"t": t, "q1": run["q1"], "tension.rope": run["tension.rope"]}

    run, taut = table(0.5005, 1e-11)
    assert run["tension.rope"].min() > 10
    answer = robot.fit(taut, **asked)
    assert answer.at["parameters"] == pytest.approx({"k": 6000, "m": 5.5}, rel=1e-6)
    names = ["k", "rest", "m", "c"]
    whole = {**{name: each[:4] for name, each in taut.items()}, "acceleration.jib.y": np.ones(4)}
    demand_exact(answers(robot.model, names, whole), np.array([robot.description.values[name] for name in names]))
    for loose in (0.6, 0.44):
        run, slack = table(loose)
        assert run["tension.rope"].min() == 0
        with pytest.raises(ComputationError, match="a stop or a tendon begins or ends to act there"):
            robot.fit(slack, **asked)


PULLED = """
kronbot: 1
name: pulled
convention: standard
gravity: [0, 0, -9.81]
parameters: {m: 2, EI: 60, k: 90}
links:
  - name: a
    joint: {type: revolute, name: q1, damping: 0.3}
    dh: {a: 0.6, d: 0, alpha: pi/2, theta: 0}
    rigid: {mass: m, com: [-0.3, 0, 0], inertia: {Izz: 0.05, Iyy: 0.05}}
  - name: b
    joint: {type: revolute, name: q2, damping: 0.2}
    dh: {a: 0.5, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 0.7, EI: {z: EI}, modes: {v: 1}, damping: {ratio: 0.02}}
elements:
  - {name: rope, type: spring, between: [world, b], points: [[0.3, 0.4, 0], [0, 0, 0]], stiffness: k, rest: 0.4}
  - {name: pusher, type: actuator, between: [world, a], points: [[0.3, 0.4, 0], [0, 0, 0]], force: 0}
"""


@pytest.mark.slow
def test_parameters_come_back_where_measured_forces_drive_the_robot(tmp_path):
    """An actuator, a force on the endpoint, a force and a moment on a link: those that simulate has from tables."""
    t, rng = np.linspace(0, 0.6, 31), np.random.default_rng(2)
    columns = ["force.pusher", "force.x", "force.z", "load.a.fy", "load.a.mx"]
    table = {"t": t, **{name: 9 * rng.normal() * np.sin(t * rng.uniform(3, 20)) for name in columns}}

    def written(name, values):
        rows = np.column_stack([t, values])
        (tmp_path / name).write_text("\n".join(["t,x,y,z" if len(rows[0]) > 2 else "t,force", *map(told, rows)]))
        return f"{{file: {name}}}"

    def told(row):
        return ",".join(map(repr, row.tolist()))

    o = 0 * t
    pushes = [
        f"{{frame: endpoint, force: {written('tip.csv', np.column_stack([table['force.x'], o, table['force.z']]))}}}",
        f"{{frame: a, force: {written('a.csv', np.column_stack([o, table['load.a.fy'], o]))}, moment: "
        f"{written('m.csv', np.column_stack([table['load.a.mx'], o, o]))}}}",
    ]
    text = PULLED.replace("force: 0}", f"force: {written('pusher.csv', table['force.pusher'])}}}")
    (tmp_path / "robot.yaml").write_text(f"{text}simulate: {{forces: [{', '.join(pushes)}]}}\n")
    true = {"m": 2.3, "EI": 50, "k": 110}
    run = kronbot.load(tmp_path / "robot.yaml", parameters=true).simulate(
        duration=0.6, step=0.02, q={"q1": 0.2}, rtol=1e-11, atol=1e-12
    )
    measured = {name: run[name] for name in ("q1", "q2", "b.v1", "length.rope")}
    asked = {"question": "simulate", "sigma": dict.fromkeys(measured, 1e-3)}
    answer = kronbot.loads(PULLED).fit({**table, **measured}, **asked)
    assert np.abs(answer["residual"]).max() < 1e-7
    for name, value in true.items():
        assert answer.at["parameters"][name] == pytest.approx(value, rel=1e-6), name
    with pytest.raises(UsageError, match="'force.x' and 'load.endpoint.fx' say the same"):
        kronbot.loads(PULLED).fit({**table, **measured, "load.endpoint.fx": t}, **asked)


def test_derivatives_of_records_that_are_driven_by_forces(same_steps):
    robot = kronbot.loads(PULLED).model
    rng, t, names = np.random.default_rng(1), np.array([0, 0.02, 0.05]), ["m", "EI", "k"]
    what = ["force.pusher", "moment.y", "load.com:b.fz", "torque.q2", "q1", "b.v1", "acceleration.b.x", "tension.rope"]
    table = {"t": t, **{name: rng.normal(size=3) for name in what}}
    demand_exact(answers(robot, names, table), np.array([2.0, 60.0, 90.0]))


TUMBLING = """
kronbot: 1
name: tumbling
gravity: [0, 0, 0]
parameters: {m: 1}
base: {type: floating, rigid: {mass: 2, inertia: {Ixx: 0.2, Iyy: 0.3, Izz: 0.4}}}
links:
  - name: arm
    joint: {type: revolute, name: q1}
    pose: {xyz: [0.3, 0, 0], rpy: [pi/2, 0, 0]}
    rigid: {mass: m, com: [0.4, 0.1, 0]}
"""


@pytest.mark.slow
def test_a_floating_base_is_followed_until_its_angles_lock(tmp_path):
    """The arm's torque turns it about its second angle, to less than the 60 degrees of its chart, and to more."""
    robot, t, wanted = kronbot.loads(TUMBLING), np.linspace(0, 0.8, 9), ["base.x", "base.ry", "q1"]
    asked = {"question": "simulate", "estimate": "m", "sigma": dict.fromkeys(wanted, 1e-3)}
    near, far = (recorded(TUMBLING, {"m": 1.5}, t, {"q1": np.full(9, tau)}, wanted, {}, tmp_path) for tau in (0.4, 1.5))
    assert 0.2 < np.abs(near["base.ry"]).max() < 1.0 < np.pi / 3 < np.abs(far["base.ry"]).max() < np.pi / 2
    assert robot.fit(near, **asked).at["parameters"]["m"] == pytest.approx(1.5, rel=1e-6)
    with pytest.raises(ComputationError, match="or the base is near its gimbal lock"):
        robot.fit(far, **asked)


@pytest.mark.slow
def test_a_floating_base_begins_as_its_first_row_says():
    """Turned and turning; what the row leaves out is 0."""
    robot, t = kronbot.loads(TUMBLING), np.linspace(0, 1, 6)
    q, qd = {"base.y": 0.3, "base.rz": 0.4, "q1": 0.2}, {"base.x": -0.1, "base.rx": 0.7, "base.ry": 0.3, "q1": 0.5}
    run = robot.with_parameters(m=1.5).simulate(q=q, qd=qd, duration=1, step=0.2, rtol=1e-11, atol=1e-12)
    told = [*q, *(f"{name}_dot" for name in qd), "base.rx"]
    asked = {"question": "simulate", "estimate": "m", "sigma": dict.fromkeys(told, 1e-3)}
    answer = robot.fit({"t": t, **{name: run[name] for name in told}}, initial="rows", **asked)
    assert answer.at["parameters"]["m"] == pytest.approx(1.5, rel=1e-6)
    assert np.abs(answer["residual"]).max() < 1e-7


@pytest.mark.slow
def test_records_begin_where_springs_hold_a_sagging_base(same_steps):
    """Of a base in its equilibrium at first, whose joint moves: where that begins is found, and nothing else."""
    robot = kronbot.loads(TABLE + "simulate: {start: equilibrium}\n", order="1").model
    rng, t = np.random.default_rng(1), np.array([0, 0.01, 0.02])
    table = {"t": t, **{name: 1e-3 * rng.normal(size=3) for name in ("base.z", "base.ry", "a.v1", "endpoint.x")}}
    table |= {"q1": np.array([0.4, np.nan, 0.4]), "torque.q1": np.full(3, 0.1)}
    names = ["k", "m", "EI", "l"]
    found = answers(robot, names, table, "fitted")
    assert [*found.beside] == ["start[1].q1", "start[1].q1_dot"]
    demand_exact(found, np.array([robot.parameters.values[name] for name in names] + [*found.beside.values()]))


SHAKE = """
simulate: {step: 0.01, drive: {qa: {motion: {type: sinusoid, amplitude: 0.05, frequency: 11, phase: pi/2}}}}
statics: {gauges: [{name: g, link: arm, x: 0.1}]}
"""
DAMPED = "modes: {v: 2}, damping: {ratio: zeta}"


@pytest.mark.slow
def test_a_shaken_arm_its_sag_and_its_frequencies_tell_the_same():
    """EI and damping of a published arm from a gauge while it is shaken, from frequencies, and EI from its sag."""
    said = shipped_robots()["khang"].read_text().partition("\nfit:")[0].splitlines()
    text = "\n".join(line for line in said if not line.startswith("simulate:"))
    text = text.replace("modes: {v: 1}, shape: clamped-free", DAMPED)
    text = f"{text.replace('parameters: {', 'parameters: {zeta: 0.01, ')}\n{SHAKE}\n"
    arm, rng = kronbot.loads(text), np.random.default_rng(3)
    true = arm.with_parameters(zeta=0.02, EI=1.1 * arm.description.values["EI"])

    def found(question, given, measured, share):
        """Of measurements with noise, a share of their size."""
        sigma = {column: share * np.abs(values).max() for column, values in measured.items()}
        noisy = {name: each + sigma[name] * rng.standard_normal(len(each)) for name, each in measured.items()}
        estimate = ["EI"] if question == "statics" else ["EI", "zeta"]
        answer = arm.fit({**given, **noisy}, question=question, estimate=estimate, sigma=sigma)
        errors = dict(zip(answer.arrays["standard_errors"].rows, answer["standard_errors"], strict=True))
        return {name: (answer.at["parameters"][name], errors[name]) for name in estimate}

    run = true.simulate(duration=1.0, outputs=["gauge:g"], rtol=1e-10, atol=1e-12)
    q = np.linspace(-1, 1, 9)
    sag, modes = true.statics(q=q[:, None], forces=[[0, -1, 0]]), true.modes(q=q[:, None])
    first = {f"{word}_locked[1]": modes[f"{word}_locked"][:, 0] for word in ("frequencies", "damping")}
    ways = [
        found("simulate", {"t": run["t"]}, {"curvature.g": run["curvature.g"]}, 0.01),
        found("statics", {"qa": q, "force.y": np.full(9, -1.0)}, {"curvature.g": sag["curvature.g"]}, 0.01),
        found("modes", {"qa": q}, first, 0.01),
    ]
    for way in ways:
        for parameter, (value, error) in way.items():
            exact = true.description.values[parameter]
            assert abs(value - exact) < 4 * error and error < 0.1 * exact, (parameter, value, error)


SHAFT = """
kronbot: 1
name: shaft
gravity: [0, -9.81, 0]
convention: standard
parameters: {k: 200, c: 0.3, b: 0.3}
links:
  - name: a
    joint: {type: revolute, name: q1, elastic: {stiffness: k, damping: 0.2}, rotor_inertia: 1e-4, gear: 50, damping: b}
    dh: {a: 0.5, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 1.5, com: [-0.2, 0, 0], inertia: {Izz: c}}
"""


def of_shaft(t, k, c, b, link, motor, link_dot, motor_dot):
    """[link, motor] (rows, 2) of that arm by its equations, at a torque of 3 + 4 t."""

    def rate(t, x):
        twist = k * (x[1] - x[0]) + 0.2 * (x[3] - x[2])
        link = (twist - 1.5 * 9.81 * 0.3 * np.cos(x[0])) / (c + 1.5 * 0.3**2)
        return np.array([x[2], x[3], link, (3 + 4 * t - twist - b * x[3]) / 0.25])

    start = [link, motor, link_dot, motor_dot]
    return solve_ivp(rate, (0, t[-1]), start, "DOP853", t, rtol=1e-10, atol=1e-12).y[:2].T


def demand_best(answer, names, steps, errors):
    """Differences of the ``errors`` over their sigmas tell the standard errors, and that nothing near is better."""
    known = list(answer.arrays["standard_errors"].rows)
    assert sorted(known) == sorted(names)
    order = [known.index(name) for name in names]
    found, deviations = answer["estimates"][order, 1], answer["standard_errors"][order]
    J = [(errors(found + step) - errors(found - step)) / (2 * step.sum()) for step in np.diag(steps)]
    N = np.array(J) @ np.transpose(J)
    np.testing.assert_allclose(deviations, np.sqrt(np.diag(np.linalg.inv(N))), rtol=1e-3)
    assert np.abs(np.linalg.solve(N, J @ errors(found)) / deviations).max() < 1e-2


@pytest.mark.slow
@pytest.mark.parametrize("measured", ["motor", "both"])
def test_shafts_begin_where_the_fit_finds_them(measured):
    """Slack unless both sides are measured, whatever the noise of the first row: as least squares of its equations."""
    t, rng = np.linspace(0, 0.6, 31), np.random.default_rng(3)
    names, sigma = {"motor": ["q1.motor"], "both": ["q1", "q1.motor"]}[measured], 2e-3
    sides = [["q1", "q1.motor"].index(name) for name in names]
    true, start = [200, 0.3, 0.3], [-0.6] + [-0.58] * (measured == "both")
    start += [0.1] * len(start)

    def answers(theta):
        shafts = theta[3:].reshape(2, -1)
        return of_shaft(t, *theta[:3], *np.repeat(shafts, 3 - len(shafts[0]), axis=1).ravel())[:, sides]

    Y = answers(np.array(true + start)) + sigma * rng.normal(size=(len(t), len(sides)))
    Y[0] += 2 * sigma
    table = {"t": t, "torque.q1": 3 + 4 * t, **dict(zip(names, Y.T, strict=True))}
    asked = {"question": "simulate", "estimate": ["k", "c", "b"], "sigma": dict.fromkeys(names, sigma)}
    found = kronbot.loads(SHAFT).fit(table, initial="fitted", **asked)
    begun = [f"start[1].{name}" for name in ("q1", "q1.motor", "q1_dot", "q1.motor_dot")]
    begun = begun if measured == "both" else begun[1::2]
    steps = [0.1, 1e-4, 1e-4, *np.full(len(begun), 1e-4)]
    demand_best(found, ["k", "c", "b", *begun], steps, lambda theta: ((answers(theta) - Y) / sigma).ravel())
    (doubt,) = (each for each in kronbot.loads(SHAFT).fit(table, **asked).warnings if "begin exactly" in each)
    assert f"has {', '.join(names)}, though" in doubt


@pytest.mark.slow
def test_floating_bases_begin_where_the_fit_finds_them():
    """Where they are, how they are turned and how they move, as runs say that begin elsewhere."""
    robot, rng, sigma = kronbot.loads(TUMBLING), np.random.default_rng(2), 1e-3
    moving = ["q1", *(f"base.{word}" for word in ("x", "y", "z", "rx", "ry", "rz"))]
    true = np.array([1.5, 0.2, 0.1, 0.3, 0, 0.2, 0.3, -0.1, 0.5, -0.1, 0, 0.2, 0.7, 0.3, -0.2])

    def answers(theta):
        q, qd = (dict(zip(moving, each.tolist(), strict=True)) for each in theta[1:].reshape(2, -1))
        asked = {"duration": 1, "step": 0.1, "rtol": 1e-11, "atol": 1e-12, "solver": "dop853"}
        run = robot.with_parameters(m=float(theta[0])).simulate(q=q, qd=qd, **asked)
        return np.column_stack([run[name] for name in moving])

    Y = answers(true) + sigma * rng.normal(size=(11, 7))
    table = {"t": np.arange(11) / 10, **dict(zip(moving, Y.T, strict=True))}
    asked = {"question": "simulate", "estimate": "m", "sigma": dict.fromkeys(moving, sigma)}
    found = robot.fit(table, initial="fitted", **asked)
    begun = [f"start[1].{name}{word}" for word in ("", "_dot") for name in moving]
    demand_best(found, ["m", *begun], np.full(15, 1e-4), lambda theta: ((answers(theta) - Y) / sigma).ravel())
    (doubt,) = (each for each in robot.fit(table, **asked).warnings if "begin exactly" in each)
    assert f"has {', '.join(moving)}, though" in doubt


RATIOS = """
kronbot: 1
name: ratios
gravity: [0, -9.81, 0]
parameters: {EI: 30, z: 0.02, m: 0.3}
damping: {ratios: [z, 0.3], joints: locked, at: {q1: 0.3}}
links:
  - name: a
    joint: {type: revolute, name: q1}
    pose: {}
    flexible: {mass: 0.5, length: 0.5, EI: {z: EI}, modes: {v: 2}}
    payload: {mass: m}
"""
FREE = {f"base.{word}" for word in ("x", "y", "z", "rx", "ry", "rz")}


@pytest.mark.parametrize(
    ("text", "columns", "begun"),
    [
        (SHAFT, ("q1", "torque.q1"), {"q1.motor"}),
        rare(SHAFT, ("q1", "motion.q1"), {"q1"}),
        rare(SHAFT, ("q1_dot", "q1.motor", "torque.q1"), {"q1", "q1.motor"}),
        rare(SHAFT + "simulate: {start: equilibrium}", ("q1", "q1.motor", "torque.q1"), {"q1.motor"}),
        rare(TUMBLING, ("base.x", "base.rz_dot", "q1"), {"q1", *FREE}),
        rare(RATIOS, ("q1", "a.v1_dot", "torque.q1"), {"q1"}),
        rare(TUMBLING + "simulate: {start: equilibrium}\n", ("base.x", "q1"), {"q1", *FREE}),
    ],
)
def test_derivatives_by_where_records_begin(same_steps, text, columns, begun):
    """Links are found where their motors are known, too, bases unless they sag."""
    robot, rng, t = kronbot.loads(text).model, np.random.default_rng(1), np.array([0, 0.01, 0.03])
    table = {"t": t, **{name: 0.1 * rng.normal(size=3) for name in columns}}
    names = [name for name in ("k", "c", "b", "m", "EI", "z") if name in robot.parameters.definitions]
    found = answers(robot, names, table, "fitted")
    assert found.beside.keys() == {f"start[1].{name}{word}" for name in begun for word in ("", "_dot")}
    demand_exact(found, np.array([robot.parameters.values[name] for name in names] + [*found.beside.values()]))


def test_shafts_behind_motions_are_slack_at_first():
    """What is measured of a motor that is where its motion says stretches none; what is of the link does."""
    robot, t = kronbot.loads(SHAFT).model, np.array([0, 0.01, 0.02])
    table = {"t": t, "motion.q1": 0.3 + t, "q1.motor": 0.31 + t}
    assert answers(robot, ["k"], table).postures(np.array([200.0]))[0] == pytest.approx([0.3, 0.3])
    table["q1"] = 0.32 + t
    assert answers(robot, ["k"], table).postures(np.array([200.0]))[0] == pytest.approx([0.32, 0.3])


SWINGING = """
kronbot: 1
name: swinging
gravity: [0, 0, 0]
parameters: {k: 40}
links:
  - name: a
    pose: {}
    joint: {type: revolute, name: q1, spring: {stiffness: k, rest: 0}}
    rigid: {mass: 1, com: [0, 0, 0], inertia: {Ixx: 1, Iyy: 1, Izz: 0.1}}
"""


def swung(k, noise=0.0):
    """cos(sqrt(k/I) t), which no run has made."""
    t = np.arange(301) / 100
    return {"t": t, "q1": np.cos(np.sqrt(k / 0.1) * t) + noise}


def told_of_neighbours(answer):
    return [each for each in answer.warnings if "follow one another" in each]


@pytest.mark.slow
def test_errors_of_a_local_minimum_follow_one_another():
    """Told is how much, and what helps; nothing is told of the errors of a run, be they ever so smooth."""
    robot, asked = kronbot.loads(SWINGING), {"question": "simulate", "estimate": {"k": (10.0, 100.0)}}
    lost = robot.with_parameters(k=30.0).fit(swung(60.0), **asked)
    assert abs(lost.at["parameters"]["k"] - 60) > 10
    (told,) = told_of_neighbours(lost)
    e = lost["residual"]
    r = e[:-1] @ e[1:] / np.sqrt((e[:-1] @ e[:-1]) * (e[1:] @ e[1:]))
    assert float(told.split("correlation of ")[1].split(":")[0]) == pytest.approx(r, abs=1e-3)
    assert float(told.split("some ")[1].split(" times")[0]) == pytest.approx(np.sqrt((1 + r) / (1 - r)), rel=0.02)
    assert told.startswith("errors of q1 follow") and "several starts (starts: 8)" in told
    found = robot.with_parameters(k=58.0).fit(swung(60.0), **asked)
    assert found.at["parameters"]["k"] == pytest.approx(60, rel=1e-6) and not told_of_neighbours(found)
    assert abs(found["residual"]).max() < 1e-6
    # Where sigma says that they are too large this is told, and not twice.
    given = robot.with_parameters(k=30.0).fit(swung(60.0), **asked, sigma={"q1": 1e-2})
    assert any("times what sigma says" in each for each in given.warnings) and not told_of_neighbours(given)
    # Errors far below their sigmas are no matter.
    assert not told_of_neighbours(robot.with_parameters(k=30.0).fit(swung(60.0), **asked, sigma={"q1": 30}))


@pytest.mark.slow
def test_white_noise_follows_nothing_but_what_drifts_does():
    """Neither does what the noise of a first row leads to, which is told as that."""
    robot, rng = kronbot.loads(SWINGING), np.random.default_rng(4)
    asked = {"question": "simulate", "estimate": "k"}
    for initial in ("rows", "fitted"):
        for _ in range(10):
            white = 1e-2 * rng.normal(size=301)
            white[0] = 5e-2  # as all that follows it then is
            answer = robot.fit(swung(40.0, white), **asked, initial=initial)
            assert not told_of_neighbours(answer)
            assert any("begin exactly" in each for each in answer.warnings) == (initial == "rows")
    drift = np.convolve(rng.normal(size=301), 0.9 ** np.arange(301))[:301]
    drift[0] = 0
    for initial in ("rows", "fitted"):
        (told,) = told_of_neighbours(robot.fit(swung(40.0, 1e-2 * drift), **asked, initial=initial))
        assert float(told.split("some ")[1].split(" times")[0]) == pytest.approx(np.sqrt(1.9 / 0.1), rel=0.3)
    few = {name: values[:12] for name, values in swung(40.0, 1e-2 * drift).items()}
    assert not told_of_neighbours(robot.fit(few, **asked))
