"""Fits: exact derivatives against extrapolated differences, parameters that come back, noise that is what it was."""

import math
import signal
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from differences import demand_derivatives
from scipy.spatial.transform import Rotation
from thinned import rare

import kronbot
from kronbot.description.expressions.expression import parse
from kronbot.errors import ComputationError, DescriptionError, Interrupted, MeasurementError, UsageError
from kronbot.library import fit as library_fit
from kronbot.library.fit import fitted
from kronbot.mechanics.estimation import knowledge
from kronbot.mechanics.estimation.knowledge import Combination, Knowledge
from kronbot.mechanics.estimation.losses import TUNING
from kronbot.model.variation import Variation
from kronbot.questions.fitting import parts
from kronbot.questions.fitting.attitude import matrices
from kronbot.questions.fitting.data import Columns, Named, sheet
from kronbot.questions.fitting.noise import Noise
from kronbot.questions.fitting.statics import StaticAnswers
from kronbot.questions.fitting.units import doubts
from kronbot.questions.fitting.words import below_one, correlated, leaning, sum_of, uncertain
from kronbot.questions.tables import columns_shown, shown

# Camera frame, elastic joint and bearing, beams, a payload, a folded angle with an error, a follower, gravity.
ARM = """
kronbot: 1
name: arm
convention: standard
gravity: [gx, -9.81, 0.2]
parameters:
  {gx: 0.1, cx: 0, roll: 0, l: 1, da: 0, off: 0, k: 50, kb: 90, EI: 30, EIy: 2*EI, GJ: 50, m: 0.5, mp: 0.3, dx: 0.1,
   spring: 4, rest: 0.1}
links:
  - name: camera
    joint: {type: fixed}
    pose: {xyz: [cx, 0.1, 0.2], rpy: [roll, 0, 0]}
  - name: a
    joint: {type: revolute, name: q1, elastic: {stiffness: k}, bearing: {stiffness: {x: kb, y: kb}}}
    dh: {a: l, d: 0, alpha: pi/2 + da, theta: off}
    flexible: {mass: m, EI: {y: EIy, z: EI}, GJ: GJ, modes: {v: 1, w: 1, torsion: 1}, polar_inertia: 1e-3}
  - name: b
    joint: {type: revolute, name: q2, spring: {stiffness: spring, rest: rest}}
    dh: {a: 0.7, d: 0.1, alpha: 0, theta: 0}
    flexible: {mass: 0.2, EI: {z: 20}, modes: {v: 1}}
    payload: {mass: mp, com: [0, dx, 0]}
statics: {gauges: [{name: g1, link: b, x: 0.1}], loads: [{frame: a, force: [0.1, 0, 0]}]}
"""
TRUE = {
    "cx": 0.04, "roll": -0.02, "l": 1.02, "da": 0.03, "off": 0.02, "k": 60.0, "kb": 80.0, "EI": 33.0, "m": 0.55,
    "mp": 0.35, "dx": 0.11,
}  # fmt: skip
SIGMA = {"position": 1e-4, "rotation": 1e-4, "torque": 1e-3, "curvature": 1e-4}


def rows(robot, count, seed=0):
    """Measurements without noise, by statics and kinematics."""
    rng = np.random.default_rng(seed)
    q, force = rng.uniform(-1.5, 1.5, (count, 2)), rng.normal(size=(count, 3))
    told = []
    for angles, load in zip(q, force, strict=True):
        at = robot.statics(q=angles, forces=[load])
        full = {name: float(at[name][0]) for name in robot.coordinates if name in at}
        pose = robot.kinematics(q={**full, "q1.motor": angles[0], "q2": angles[1]}, frame="b")["T"]
        turn = Rotation.from_matrix(pose[:3, :3]).as_rotvec()
        told.append([*pose[:3, 3], *turn, at["torque.q1"][0], at["torque.q2"][0], at["curvature.g1"][0]])
    names = [f"{word}.b.{axis}" for word in ("position", "rotation") for axis in "xyz"]
    columns = dict(zip([*names, "torque.q1", "torque.q2", "curvature.g1"], np.array(told).T, strict=True))
    given = {"q1": q[:, 0], "angle.q2": q[:, 1], **{f"force.{axis}": force[:, i] for i, axis in enumerate("xyz")}}
    return given, columns


@pytest.fixture(scope="module")
def arm():
    return kronbot.loads(ARM)


@pytest.fixture(scope="module")
def measured(arm):
    given, columns = rows(arm.with_parameters(**TRUE), 25)
    return {**given, **columns}


@pytest.mark.parametrize("order", ["0", rare("2"), rare("exact")])
def test_derivatives_are_exact_for_every_kind_of_parameter(arm, order):
    robot = arm.at_order(order).model
    names = [name for name in robot.parameters.definitions if name != "EIy"]
    names = ["gx", "l", "EI", "GJ", "m"] if order == "exact" else names  # the others stand where they do in order 2
    rng = np.random.default_rng(5)
    what = [f"position.b.{axis}" for axis in "xyz"] + [f"rotation.b.{axis}" for axis in "xyz"]
    what += ["torque.q1", "torque.q2", "endpoint.y", "q1", "q1.x", "position.com:a.z", "position.base-to:camera,b.x"]
    what += ["displacement.z", "displacement_hub.y", "tip.a.z", "reaction.mx", "energy.elastic", "tip.a.ry"]
    what += ["tip.a.rx", "tip.a.rz", "reaction.q2.mz", "spring.q1.x"]
    what += ["curvature.g1", "twist.g1", "a.w1"] if order != "0" else []
    table = {"angle.q1": rng.normal(size=3), "q2": rng.normal(size=3), "force.z": rng.normal(size=3)}
    table |= {"load.a.mx": rng.normal(size=3), **{name: 0.3 * rng.normal(size=3) for name in what}}
    answers, _ = StaticAnswers.read(Variation.of(robot, names), Named(Columns(table), {}), ())
    at = np.array([robot.parameters.values[name] for name in names])
    demand_derivatives(answers.errors, at, answers.jacobian(at), names)


def test_measured_rotations_are_compared_whole():
    rng = np.random.default_rng(2)
    vectors = rng.normal(size=(20, 3))
    vectors[0], vectors[1] = 0, [np.pi, 0, 0]
    np.testing.assert_allclose(matrices(vectors), Rotation.from_rotvec(vectors).as_matrix(), atol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("way", [rare("quaternion"), "rpy"])
def test_rotations_may_be_quaternions_or_angles(arm, measured, way):
    """Of either sign and any length; the fit is that of rotation vectors, row by row where they are missing."""
    frame = next(name.split(".")[1] for name in measured if name.startswith("rotation."))
    turns = Rotation.from_rotvec(np.array([measured[f"rotation.{frame}.{axis}"] for axis in "xyz"]).T)
    if way == "quaternion":
        scale = np.resize([2.0, -0.7, 1.0], len(turns))
        columns = dict(zip("xyzw", turns.as_quat().T * scale, strict=True))
    else:
        columns = dict(zip(("yaw", "pitch", "roll"), turns.as_euler("ZYX").T, strict=True))
    columns = {f"{way}.{frame}.{end}": values.copy() for end, values in columns.items()}
    columns[next(iter(columns))][3] = np.nan
    others = {name: each for name, each in measured.items() if not name.startswith("rotation.")}
    known = {name: each.copy() for name, each in measured.items()}
    known[f"rotation.{frame}.y"][3] = np.nan
    asked = {"estimate": ["l", "da"], "only": f"rotation.{frame}", "sigma": {"rotation": 1e-3}}
    found, wanted = arm.fit({**others, **columns}, **asked), arm.fit(known, **asked)
    assert found.summary["measurements"] == wanted.summary["measurements"]
    for name, value in wanted.at["parameters"].items():
        assert found.at["parameters"][name] == pytest.approx(value, rel=1e-9)
    short = {name: each for name, each in columns.items() if name != next(iter(columns))}
    with pytest.raises(UsageError, match=f"{way}.{frame} is measured whole: .* is missing"):
        arm.fit({**others, **short}, **asked)
    with pytest.raises(UsageError, match="is there twice"):
        arm.fit({**measured, **columns}, **asked)
    if way == "quaternion":
        with pytest.raises(UsageError, match="is 0 in row 1; leave the cells empty"):
            arm.fit({**others, **{name: 0 * each for name, each in columns.items()}}, **asked)


def test_parameters_come_back_from_exact_measurements(arm, measured):
    answer = arm.fit(measured, estimate=list(TRUE), sigma=SIGMA)
    assert answer.at["parameters"].keys() == TRUE.keys()
    for name, value in answer.at["parameters"].items():
        assert abs(value - TRUE[name]) <= 1e-8 * max(abs(TRUE[name]), 1), name
    assert answer.summary["rank"] == len(TRUE) and answer.summary["complete"] is True
    assert answer["residuals"][:, answer.arrays["residuals"].columns.index("largest")].max() < 1e-12
    # The same from sigmas that are to be found.
    again = arm.fit(measured, estimate=list(TRUE))
    np.testing.assert_allclose(
        list(again.at["parameters"].values()), [TRUE[name] for name in TRUE], rtol=1e-7, atol=1e-8
    )


@pytest.mark.slow
def test_links_may_be_measured_where_motors_are_given(arm):
    true = arm.with_parameters(k=70)
    q = np.linspace(-1, 1, 8)
    at = [true.statics(q=[x, 0.3]) for x in q]
    data = {"q1.motor": q, "q2": np.full(8, 0.3), "q1": [each["q1"][0] for each in at]}
    assert arm.fit(data, estimate="k").at["parameters"]["k"] == pytest.approx(70, rel=1e-8)


SMALL = """
kronbot: 1
name: small
convention: standard
gravity: [0, -9.81, 0]
parameters: {l: 0.5, k: 40, mp: 1, off: 0}
links:
  - name: a
    joint: {type: revolute, name: q1, elastic: {stiffness: k}}
    dh: {a: l, d: 0, alpha: 0, theta: off}
    payload: {mass: mp}
"""


@pytest.mark.slow
def test_noise_is_what_it_was():
    """Over draws of noise the errors of the estimates are as often beyond theirs as they should be (chi-square)."""
    true, names = {"l": 0.52, "k": 44.0, "mp": 1.1, "off": 0.02}, ["l", "k", "mp", "off"]
    robot, rng = kronbot.loads(SMALL), np.random.default_rng(11)
    q = np.linspace(-2, 2, 9)
    at = robot.with_parameters(**true).statics(q=q[:, None])
    exact = {name: at[name] for name in ("endpoint.x", "endpoint.y", "torque.q1")}
    sigma = {"endpoint": 1e-3, "torque": 5e-2}
    squares, count = [], 20
    for _ in range(count):
        noisy = {name: each + rng.normal(size=9) * sigma[name.partition(".")[0]] for name, each in exact.items()}
        answer = robot.fit({"q1": q, **noisy}, sigma=sigma)
        assert answer.arrays["standard_errors"].rows == tuple(names)
        off = np.array([answer.at["parameters"][name] - true[name] for name in names])
        errors = answer["standard_errors"]
        squares.append(off @ np.linalg.solve(answer["correlations"] * np.outer(errors, errors), off))
    # A sum of chi-squares of 4 degrees of freedom: within 3 of its standard deviations.
    assert abs(sum(squares) - 4 * count) < 3 * np.sqrt(2 * 4 * count)


@pytest.mark.slow
def test_an_experiment_is_tried_before_it_is_run():
    """Bias and spread of fits to draws of noise, beside the errors that theory predicts; a plan of rows."""
    robot, q = kronbot.loads(SMALL), np.linspace(-2, 2, 9)
    rows = {"q1": q, "endpoint.x": 0 * q, "endpoint.y": 0 * q, "torque.q1": np.where(q > 0, 1.0, np.nan)}
    sigma = {"endpoint": 1e-3, "torque": 5e-2}
    answer = robot.fit(rows, sigma=sigma, synthetic=60, seed=2)
    value, bias, spread, predicted = answer["synthetic"].T
    assert value.tolist() == [0.5, 40, 1, 0] and answer.summary["not_converged"] == 0
    assert (np.abs(bias) < 4 * predicted / np.sqrt(60)).all()
    assert ((spread / predicted > 0.7) & (spread / predicted < 1.35)).all()
    first, again = (robot.fit(rows, sigma=sigma, synthetic=3, seed=2)["synthetic"] for _ in range(2))
    assert (again == first).all()
    plan = robot.fit(plan=4, candidates=rows, sigma=sigma)
    assert len(plan["row"]) == 4 and 0 < plan.summary["efficiency"] < 1
    places = plan["row"].astype(int) - 1
    some = robot.fit({name: each[places] for name, each in rows.items()}, sigma=sigma, synthetic=2)
    np.testing.assert_allclose(plan["standard_errors"], some["standard_errors"], rtol=1e-9)
    with pytest.raises(ComputationError, match="1 of these rows do not determine the parameters: these data tell"):
        robot.fit(plan=1, candidates={name: each[:4] for name, each in rows.items()}, sigma=sigma, only="endpoint")
    for bad, words in [
        ({"candidates": rows, "sigma": {"endpoint": 1}}, "has no sigma: torque.q1"),
        ({}, "give them to candidates"),
        ({"candidates": rows, "plan": 10}, "10 of 9 candidates"),
        ({"candidates": rows, "synthetic": 3}, "a plan fits nothing"),
    ]:
        with pytest.raises(UsageError, match=words):
            robot.fit(**{"plan": 2, "sigma": sigma, **bad})


@pytest.mark.slow
def test_synthetic_rotations_are_turned(arm, measured):
    table = {name: measured[name][:6] for name in measured if not name.startswith(("torque", "curvature"))}
    answer = arm.fit(table, estimate=["roll", "off"], sigma={"position": 1e-4, "rotation": 1e-3}, synthetic=20)
    _, _, spread, predicted = answer["synthetic"].T
    assert ((spread / predicted > 0.5) & (spread / predicted < 1.6)).all()


def test_sigmas_that_nobody_gave_are_those_of_the_noise(arm, measured):
    rng = np.random.default_rng(4)
    noise = {"position": 2e-3, "rotation": 1e-4, "torque": 3e-2, "curvature": 1e-3}
    noisy = {name: each + rng.normal(size=25) * noise.get(name.partition(".")[0], 0) for name, each in measured.items()}
    answer = arm.fit(noisy, estimate=["l", "EI", "k", "kb", "mp", "cx", "roll", "da", "off", "m", "dx"])
    told = dict(zip(answer.arrays["residuals"].rows, answer["residuals"][:, -1], strict=True))
    for name, sigma in told.items():
        assert 0.6 < sigma / noise[name.partition(".")[0]] < 1.5, name
    errors = zip(answer.arrays["standard_errors"].rows, answer["standard_errors"], strict=True)
    off = [abs(answer.at["parameters"][name] - TRUE[name]) / error for name, error in errors]
    assert max(off) < 4


def test_what_the_data_cannot_tell_is_said(arm, measured):
    data = {name: each for name, each in measured.items() if not name.startswith("torque")}
    sigma = {name: each for name, each in SIGMA.items() if name != "torque"}
    answer = arm.fit(data, estimate=["spring", "rest", "l", "cx"], sigma=sigma)
    assert any("these data tell nothing of spring" in each for each in answer.warnings)
    assert any("these data tell nothing of rest" in each for each in answer.warnings)
    for name in ("spring", "rest"):  # stay where they were, not where rounding leads
        assert answer.at["parameters"][name] == arm.model.parameters.values[name]
    assert list(answer.arrays["standard_errors"].rows) == ["cx", "l"] and answer.summary["rank"] == 2
    # Torque of a spring on a joint: k (q - r) at one posture is one number.
    one = {
        name: np.full(4, each[0]) for name, each in measured.items() if name.startswith(("q1", "angle", "torque.q2"))
    }
    told = " ".join(arm.fit(one, estimate=["spring", "rest"], sigma={"torque": 1}).warnings)
    assert "these data tell rest and spring only as" in told or "these data tell spring and rest only as" in told


def test_shares_that_are_all_but_one_are_not_written():
    assert sum_of(Combination((0, 2), (0.999999, -1e-4)), ["a", "b", "c"]) == "a - 0.0001 c"
    assert sum_of(Combination((1, 2), (-0.6, 0.8)), ["a", "b", "c"]) == "-0.6 b + 0.8 c"


def test_correlations_are_not_rounded_to_one():
    """With as many digits as that takes, at most 9; what to do is said once, where they are hardly below."""
    given = (0.95, 0.99995, 0.99996, -0.999993, 1 - 1e-5, 1 - 1e-12, -1.0)
    told = ["0.9500", "0.99995", "0.99996", "-0.999993", "0.99999", "0.999999999", "-0.999999999"]
    assert [below_one(each) for each in given] == told
    for share, cures in ((0.99, 0), (0.99999, 1)):
        J = np.linalg.cholesky(np.linalg.inv(np.full((3, 3), share) + np.diag(np.full(3, 1 - share)))).T
        said = [*correlated(Knowledge(J, np.ones(3), np.full(3, np.nan)), "abc")]
        assert len(said) == 3 and sum("; hold one of them" in each for each in said) == cures


def test_rows_that_are_not_fitted_judge(arm, measured):
    answer = arm.fit(measured, estimate=list(TRUE), sigma=SIGMA, validate=0.2, seed=3)
    assert answer.summary["rows"] == 20 and answer.summary["validation_rows"] == 5
    assert answer.summary["validation_noise_factor"] < 1e-6
    again = arm.fit(measured, estimate=list(TRUE), sigma=SIGMA, validate=0.2, seed=3)
    assert (answer["row"] == again["row"]).all() and (answer["fitted"] == 0).sum() == 5 * 9
    other = arm.fit(measured, estimate=["l"], sigma=SIGMA, validate=measured)
    assert other.summary["validation_rows"] == 25
    quality = [other.arrays[name].values for name in ("residuals", "validation")]
    np.testing.assert_allclose(*quality, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("apart", [0.0, 1e-4, 0.5])
def test_estimates_beside_a_bound_that_data_do_not_tell_apart_are_told(apart):
    """Of a column and its double, but for a part, one is what the bound of the other makes of it."""
    x, other, alone = np.linalg.qr(np.random.default_rng(3).normal(size=(9, 3)))[0].T
    J = np.column_stack([x, 2 * x + apart * other, alone])
    found = Knowledge(J, np.ones(3), np.full(3, np.nan), frozenset({0}))
    told = [*leaning(found, ["a", "b", "c"])]
    assert len(told) == (apart < 0.1) and all(each.startswith("these data tell b only beside a:") for each in told)
    assert not [*leaning(replace(found, held=frozenset()), ["a", "b", "c"])]


@pytest.mark.slow
def test_robust_losses_leave_out_what_is_wrong(arm, measured):
    rng = np.random.default_rng(8)
    data = {name: each + (1e-4 * rng.normal(size=25) if name.startswith("position") else 0)
            for name, each in measured.items()
            if not name.startswith(("rotation", "torque", "curvature"))}  # fmt: skip
    data["position.b.y"] = data["position.b.y"].copy()
    data["position.b.y"][[3, 17]] += 0.05
    names = ["l", "cx", "off"]
    robot = arm.with_parameters(**{name: value for name, value in TRUE.items() if name not in names})
    plain = robot.fit(data, estimate=names, sigma={"position": 1e-4})
    robust = robot.fit(data, estimate=names, sigma={"position": 1e-4}, loss="cauchy")
    off = {each: max(abs(answer.at["parameters"][name] - TRUE[name]) for name in names)
           for each, answer in (("plain", plain), ("robust", robust))}  # fmt: skip
    assert off["robust"] < 2e-4 < 1e-3 < off["plain"]
    assert any("outlying rows: 4, 18" in each for each in robust.warnings)
    huber = robot.fit(data, estimate=names, sigma={"position": 1e-4}, loss="huber")
    for answer in (huber, robust):  # outliers are no noise
        assert 0.75 < answer.summary["noise_factor"] < 1.25


def test_bounds_priors_and_fixed_ones(arm, measured):
    answer = arm.fit(measured, estimate={"EI": (None, 31), "l": None}, sigma=SIGMA)
    assert answer.at["parameters"]["EI"] == pytest.approx(31) and any(
        "at a bound: EI" in each for each in answer.warnings
    )
    assert not any("only beside" in each for each in answer.warnings)  # which tell l, wherever EI is
    held = arm.fit(measured, estimate=["EI", "l"], prior={"EI": (30, 1e-9)}, sigma=SIGMA)
    assert held.at["parameters"]["EI"] == pytest.approx(30, abs=1e-6)
    assert list(arm.fit(measured, estimate=["EI", "l"], fix="EI", sigma=SIGMA).at["parameters"]) == ["l"]


def test_no_convergence_is_an_error_with_the_best_so_far(arm, measured):
    with pytest.raises(ComputationError, match="no convergence") as stopped:
        arm.fit(measured, estimate=list(TRUE), sigma=SIGMA, steps=2)
    assert stopped.value.partial.summary["complete"] is False
    assert stopped.value.partial.at["parameters"]["l"] != 1


def test_no_convergence_names_what_is_alike():
    """A length and a place of the base in rows that hardly turn the arm."""
    base = "links:\n  - {name: shift, joint: {type: fixed}, pose: {xyz: [bx, 0, 0]}}"
    robot = kronbot.loads(SMALL.replace("off: 0", "off: 0, bx: 0").replace("k: 40", "k: 4e6").replace("links:", base))
    q = np.linspace(-0.01, 0.01, 9)
    at = robot.with_parameters(l=0.6, bx=0.1).statics(q=q[:, None])
    data = {"q1": q, **{name: at[name] for name in ("endpoint.x", "endpoint.y")}}
    with pytest.raises(ComputationError, match="after 3 evaluations, .* hardly tell l and bx apart: hold one with fix"):
        robot.fit(data, estimate=["l", "bx"], sigma={"endpoint": 1e-4}, steps=1)


@pytest.mark.slow
def test_millimetres_are_asked_about_and_made_metres(arm, measured):
    millimetres = {**measured, **{f"position.b.{axis}": 1000 * measured[f"position.b.{axis}"] for axis in "xyz"}}
    told = arm.fit(millimetres, estimate=["l"], only="position", sigma=SIGMA).warnings
    assert any("is it in mm?" in each for each in told)
    expressions = {f"position.b.{axis}": f"{axis}_mm*1e-3" for axis in "xyz"}
    renamed = {**measured, **{f"{axis}_mm": 1000 * measured[f"position.b.{axis}"] for axis in "xyz"}}
    renamed = {name: each for name, each in renamed.items() if not name.startswith("position")}
    assert arm.fit(renamed, estimate=["l"], columns=expressions, only="position", sigma=SIGMA).summary["rows"] == 25


def test_sensors_of_rounding_are_not_asked_about():
    """A torque that is 0 is computed with what is rounding of another one."""
    columns = [SimpleNamespace(name=f"torque.{name}", kind="torque", unit="N m", place=0) for name in "ab"]
    measured = np.column_stack([np.zeros(9), np.linspace(1, 2, 9)])
    told = SimpleNamespace(columns=columns, measured=measured, inputs={})
    robot = SimpleNamespace(coordinates=(), units=(), joints=())
    dust = np.column_stack([1e-17 * np.arange(9), np.zeros(9)])
    assert not [*doubts(robot, told, dust)]
    assert "does its sensor work" in " ".join(doubts(robot, told, 1e10 * dust))


def test_hostile_measurements(arm, measured, tmp_path):
    short = {"q1": [0.1, None, 0.3], "q2": [0.0, 0.0, 0.0], "torque.q2": [1.0, 2.0, float("nan")]}
    answer = arm.fit(short, estimate=["mp"], sigma={"torque": 1})
    assert answer.summary["rows"] == 1 and answer.summary["degrees_of_freedom"] == 0
    assert any("rows without all that is given, left out: 2" in each for each in answer.warnings)
    assert any("leave nothing to judge by" in each for each in answer.warnings)
    small, q = kronbot.loads(SMALL), np.linspace(-2, 2, 9)
    told = {"q1": q, "endpoint.x": 0.5 * np.cos(q), "endpoint.y": np.full(9, 0.3), "torque.q1": q * np.nan}
    answer = small.fit(told, estimate="l", sigma={"endpoint": 1e-3})
    assert "endpoint.y is 0.3 in every row, what is computed is not: does its sensor work?" in answer.warnings
    assert "torque.q1 is empty in every row" in answer.warnings
    told = {"q1": np.degrees(q), "endpoint.x": 0.5 * np.cos(q)}
    assert "q1 reaches 114.6 rad: is it in degrees?" in " ".join(small.fit(told, estimate="l").warnings)
    degrees = small.fit(told, estimate="l", columns={"q1": "q1*deg"}).at["parameters"]["l"]
    assert degrees == small.fit({**told, "q1": q}, estimate="l").at["parameters"]["l"]
    for change, words in [
        ({"postion.b.x": [1.0]}, "did you mean 'position.b.x'"),
        ({"rotation.b.x": [1.0]}, "is measured whole"),
        ({"unknown": [1.0]}, "no column is an answer"),
        ({"torque.q1": [float("inf")]}, "not a finite"),
        ({"angle.q2": [0.0], "torque.q1": [1.0]}, "say the same"),
    ]:
        with pytest.raises(UsageError, match=words):
            arm.fit({"q1": [0.1], "q2": [0.2], **change}, estimate="mp")
    for bad, words in [
        ({"estimate": "EIy"}, "EIy is 2\\*EI; fit EI instead"),
        ({"estimate": "EJ"}, "no parameter .EJ."),
        ({"estimate": "EI=50:60"}, "give bounds by name, {'EI': \\(least, most\\)}, not the text"),
        ({"estimate": {"EI": (50, 60)}}, "outside the bounds"),
        ({"sigma": {"position.c": 1}}, "nothing is called"),
        ({"only": "torques"}, "did you mean"),
        ({"columns": {"position.b.x": "nothing*2"}}, "has no column 'nothing'"),
        ({"prior": {"EI": (1, -1)}}, "must be positive"),
        ({"validate": 1.5}, "a share between 0 and 1"),
    ]:
        with pytest.raises(UsageError, match=words):
            arm.fit(measured, **bad)
    sheet = tmp_path / "data.csv"
    sheet.write_text("q1,q2,torque.q2,note\n0.1,0,1,a\n0.2,x,,b\n0.3,0,inf,c\n0.4,0\n")
    with pytest.raises(MeasurementError) as wrong:
        arm.fit(sheet, estimate="mp")
    assert [(each.line, each.column) for each in wrong.value.mistakes] == [(3, 5), (4, 7), (5, 1)]
    sheet.write_text("q1,q_2,torqe.q2,other,torque.q1\n0.1,0,1,a,2\n")
    with pytest.raises(MeasurementError, match="'q_2'; did you mean 'q2'.*'#q_2'\n.*'torque.q2'") as wrong:
        arm.fit(sheet, estimate="mp")
    assert [(each.line, each.column) for each in wrong.value.mistakes] == [(1, 4), (1, 8)]
    with pytest.raises(UsageError, match="'q_2'.*\n.*'torqe.q2'"):
        arm.fit({"q1": [0.1], "q_2": [0.1], "torqe.q2": [0.1]}, estimate="mp")
    sheet.write_text("q1,q2,quaternion.bb.w,quaternion.bb.x,quaternion.bb.y,quaternion.bb.z\n0,0,1,0,0,0\n")
    with pytest.raises(MeasurementError, match="rotation.bb.z.; did you mean 'rotation.b.z'") as wrong:
        arm.fit(sheet, estimate="mp")
    assert [(each.line, each.column) for each in wrong.value.mistakes] == [(1, 7)]
    for sign, name in {";": "semicolons", "\t": "tabs"}.items():
        sheet.write_text(sign.join(["q1", "q2", "position.base-to:a,b.x"]) + "\n0,0,0\n")
        with pytest.raises(MeasurementError, match=f"1:1: columns are separated by commas, not by {name}"):
            arm.fit(sheet, estimate="mp")
    sheet.write_text("q1,q2,torque.q2,note\n0.1,0,1,a\n\n0.2,pi/2,,b\n0.3,0,NaN,c\n0.4,0,2,\n")
    answer = arm.fit(sheet, estimate="mp", sigma={"torque": 1})
    assert answer["row"].tolist() == [1, 4] and any("not used: note" in each for each in answer.warnings)


CAMERA = """
kronbot: 1
name: seen
convention: standard
gravity: [0, -9.81, 0]
parameters: {x: 0, y: 0, turn: 0, l: 0.5, zero: 0, m: 2}
links:
  - {name: camera, joint: {type: fixed}, pose: {xyz: [x, y, 0], rpy: [0, 0, turn]}}
  - name: a
    joint: {type: revolute, name: q1}
    dh: {a: 0.4, d: 0, alpha: 0, theta: zero}
    rigid: {mass: m}
  - {name: b, joint: {type: revolute, name: q2}, dh: {a: l, d: 0, alpha: 0, theta: 0}}
  - {name: c, joint: {type: prismatic, name: d3}, dh: {a: 0, d: 0, alpha: 0, theta: 0}, rigid: {mass: 1}}
"""


def test_other_units_are_told_by_the_errors_they_leave():
    """A camera that nobody knows hides no millimetres, and small angles no degrees; right units ask nothing."""
    robot, rng = kronbot.loads(CAMERA), np.random.default_rng(8)
    angles = {"q1": rng.uniform(-3, 3, 20), "q2": rng.uniform(-2, 2, 20), "d3": rng.uniform(0, 0.1, 20)}

    def seen(length, x, y, turn):
        z = x + 1j * y + np.exp(1j * (turn + angles["q1"])) * (0.4 + length * np.exp(1j * angles["q2"]))
        return {"position.b.x": z.real, "position.b.y": z.imag, "position.b.z": 0 * z.real}

    def asked(data, question="statics"):
        sigma = {"position": 1e-3} if "position.b.x" in data else {}
        told = robot.fit(data, question=question, estimate=["l", "m"], sigma=sigma).warnings
        return [each for each in told if " in mm" in each or " in degrees" in each]

    far = seen(0.55, 2, -1, 2.5)
    assert asked({**angles, **far}) == []
    (told,) = asked({**angles, **{name: 1e3 * each for name, each in far.items()}})
    assert told.startswith("position.b moves about 1000 times as far as is computed: is it in mm?")
    angles |= {name: 0.05 * angles[name] for name in ("q1", "q2")}
    near = seen(0.52, 0, 0, 0)
    small = {**angles, "q1": np.degrees(angles["q1"]), "q2": np.degrees(angles["q2"])}
    (told,) = asked({**small, **near})
    assert "times smaller were q1, q2 in degrees: columns: {q1: " in told
    (told,) = asked({**angles, "d3": 1e3 * angles["d3"], "position.c.z": angles["d3"] + 1e-3 * rng.normal(size=20)})
    assert "times smaller were d3 in mm: columns: {d3: " in told
    angle = {"q1": angles["q1"], "rotation.b.x": np.zeros(20), "rotation.b.y": np.zeros(20)}
    (told,) = asked({**angle, "rotation.b.z": np.full(20, 90.0)})
    assert told == 'rotation.b reaches 90 rad: is it in degrees? columns: {rotation.b.x: "...*deg"} and so on'


HALF = {"q1": np.linspace(-2, 2, 9), "endpoint.x": np.cos(np.linspace(-2, 2, 9))}


def test_what_arguments_say_of_columns_that_are_not_measured_is_refused():
    robot = kronbot.loads(SMALL)
    for word in ("sigma", "offset"):
        with pytest.raises(UsageError, match=f"^{word}: no measured column 'endpoint.y'; did you mean 'endpoint.x'"):
            robot.fit(HALF, **{word: {"endpoint.x": 1e-3, "endpoint.y": 1e-3}})
    with pytest.raises(UsageError, match="^sigma: no measured column 'torque'; there are endpoint, endpoint.x"):
        robot.fit(HALF, sigma={"endpoint": 1, "torque": 1}, synthetic=2)


@pytest.mark.slow
def test_what_is_said_of_columns_that_are_not_measured_is_told_of_a_file():
    """It may serve other data. Data and candidates count together, and so do columns that are left out by only."""
    robot, other, sigma = (
        kronbot.loads(SMALL),
        {"q1": [0.0, 1.0], "torque.q1": [1.0, 0.5]},
        {"endpoint": 1, "torque": 1},
    )
    both = {"q1": [0.0, 1.0], "endpoint.x": [0.5, 0.4], "torque.q1": [1.0, 0.5]}
    assert robot.fit(both, sigma=sigma, estimate="l", only="endpoint").summary["measurements"] == 2
    assert robot.fit(other, plan=2, candidates=HALF, sigma=sigma, estimate="l").warnings == ()
    with pytest.raises(UsageError, match="sigma: no measured column 'torque'"):
        robot.fit(plan=2, candidates=HALF, sigma=sigma, estimate="l")
    filed = kronbot.loads(SMALL + "fit: {sigma: {endpoint.x: 1, torque: 0.1}, offset: {endpoint.y: 1e-3}}\n")
    for asked in ({"data": HALF}, {"data": HALF, "synthetic": 2}, {"plan": 2, "candidates": HALF}):
        warnings = filed.fit(**asked, estimate="l").warnings
        for told in ("sigma of torque", "offset of endpoint.y"):
            assert f"the file's {told} changes nothing: no such column is measured in these data" in warnings


def test_what_is_named_to_be_estimated_is_not_fixed_by_the_file():
    robot = kronbot.loads(SMALL + "fit: {data: rows.csv, fix: [l, k, mp, off]}\n")
    for asked, left in ((("l", None), ["l"]), ((["k", "l"], "k"), ["l"]), ((None, ["mp", "off"]), ["l", "k"])):
        assert fitted(robot.model, *asked)[0] == left
    with pytest.raises(UsageError, match="left to fit: the file's fix holds l, k, mp, off; name one in estimate"):
        robot.fit()
    with pytest.raises(UsageError, match="left to fit: fix holds k; leave it out, or name others in estimate"):
        robot.fit(estimate="k", fix="k")


def test_units_are_no_question_where_a_fit_ends_well():
    """A stiffness far off is as good as degrees at first."""
    robot, q = kronbot.load("khang"), np.linspace(-1, 1, 9)
    at = robot.with_parameters(EI=1100).statics(q=q[:, None])
    names = ["tip.arm.y", "endpoint.x", "endpoint.y", "torque.qa"]
    asked = {"question": "statics", "estimate": "EI", "sigma": dict.fromkeys(names, 1e-6)}
    table = {"qa": q, **{name: at[name] for name in names}}
    answer = robot.fit(table, **asked)
    assert answer.at["parameters"]["EI"] == pytest.approx(1100, rel=1e-8)
    assert not any("degrees" in each for each in answer.warnings)
    wrong = robot.fit({**table, "qa": np.degrees(q)}, **asked)
    assert any("were qa in degrees" in each or "is it in degrees" in each for each in wrong.warnings)


CLAMPED = ARM.replace("modes: {v: 1}}", "modes: {v: 1}, shape: clamped-mass}")
TURNED = {"q1": [0.0, 1.0], "q2": [0.0, 1.0], "torque.q2": [1.0, 2.0]}


def test_what_shapes_a_trace_is_refused():
    """By the parameters that do."""
    with pytest.raises(UsageError, match="made for these values of mp alone .*clamped-mass.*; leave it out with fix"):
        kronbot.loads(CLAMPED).fit(TURNED, estimate="k,mp")
    probe = (
        "kronbot: 1\nname: probe\ngravity: [0, -9.81, 0]\nparameters: {m: 0.3}\nlinks:\n"
        "  - {name: rod, joint: {type: revolute, name: q1}, pose: {}, payload: {mass: m},\n"
        "     flexible: {mass: 0.4, length: 1.2, EI: {z: 12}, modes: {v: 1}, shape: clamped-mass}}\n"
    )
    for question, times in (("simulate", {"t": [0.0, 0.1]}), ("statics", {})):
        table = {"q1": [0.0, 0.01], "tip.rod.y": [0.0, 0.01], **times}
        with pytest.raises(UsageError, match="values of m alone .*clamped-mass.*; leave it out with fix"):
            kronbot.loads(probe).fit(table, question=question, estimate="m")
    belt = (
        "kronbot: 1\nname: belt\ngravity: [0, -9.81, 0]\nparameters: {n: 2, k: 60, off: 0.1}\nlinks:\n"
        "  - {name: a, joint: {type: revolute, name: q1}, pose: {}, rigid: {mass: 1, inertia: {Izz: 1}}}\n"
        "  - {name: b, joint: {type: revolute, name: q2, follows: n*q1 + off, elastic: {stiffness: k}},\n"
        "     pose: {xyz: [1, 0, 0]}, rigid: {mass: 1, inertia: {Izz: 1}}}\n"
    )
    with pytest.raises(UsageError, match=r"n, off alone \(how q2 follows q1, where q2 follows\); leave them out"):
        kronbot.loads(belt).fit({"q1": [0.0, 1.0], "q2": [0.1, 2.1]}, estimate="n,k,off")


@pytest.mark.slow
def test_what_shapes_a_trace_through_others_is_refused():
    """Without all that do the rest is fitted."""
    robot = kronbot.loads(
        CLAMPED.replace("mp: ", "share: 1, mp: share*", 1).replace("mass: mp,", "mass: mp + rest/100,")
    )
    with pytest.raises(UsageError, match="of share, rest alone .*clamped-mass.*; leave them out with fix"):
        robot.fit(TURNED, estimate="k,rest,share")
    assert robot.fit(TURNED, estimate="k,rest,share", fix="share,rest").at["parameters"].keys() == {"k"}


def test_what_gauges_need_is_no_matter_without_them():
    """The length of a gauge's beam can be fitted to all else, before and after somebody has asked for the gauge."""
    robot = kronbot.load("piedboeuf")
    data = {"theta": [0.0, 0.5], "endpoint.x": [0.7, 0.6], "endpoint.y": [-0.1, 0.3]}
    answer = robot.fit(data, estimate="l", sigma={"endpoint": 1})
    with pytest.raises(UsageError, match="gauge 'g1'"):
        robot.fit({**data, "curvature.g1": [0.1, 0.2]}, estimate="l")
    assert robot.fit(data, estimate="l", sigma={"endpoint": 1}).at == answer.at


def test_a_second_fit_traces_nothing_anew(arm, measured):
    arm.fit(measured, estimate=["l", "EI"], sigma=SIGMA)
    structure = arm.model.parameters._structure
    known = set(structure.kept)
    arm.with_parameters(EI=40, l=1.1).fit(measured, estimate=["l", "EI"], sigma=SIGMA)
    assert set(structure.kept) == known


@pytest.mark.slow
def test_springs_between_frames_are_fitted():
    """Their stiffness, rest length and points, exactly as all else."""
    text = ARM.replace("spring: 4,", "spring: 4, ks: 20, rest2: 0.3, px: 0.1,") + (
        "elements: [{name: s, type: spring, between: [base, b], points: [[0.3, px, 0], [0.1, 0, 0]], "
        "stiffness: ks, rest: rest2}]\n"
    )
    robot, names = kronbot.loads(text).model, ["ks", "rest2", "px", "EI", "l"]
    rng = np.random.default_rng(7)
    table = {name: rng.normal(size=2) for name in ("q1", "q2", "position.b.x", "torque.q1", "curvature.g1")}
    answers, _ = StaticAnswers.read(Variation.of(robot, names), Named(Columns(table), {}), ())
    at = np.array([robot.parameters.values[name] for name in names])
    demand_derivatives(answers.errors, at, answers.jacobian(at), names)


TABLE = """
kronbot: 1
name: table
gravity: [0, 0, -9.81]
base: {type: floating, rigid: {mass: 5, inertia: {Ixx: 0.1, Iyy: 0.1, Izz: 0.2}}}
parameters: {k: 20000, m: 1, EI: 40, l: 0.4}
links:
  - name: a
    joint: {type: revolute, name: q1}
    pose: {xyz: [0.1, 0, 0.1], rpy: [0.4, 0, 0]}
    flexible: {length: l, mass: m, EI: {z: EI}, modes: {v: 1}}
elements:
""" + "".join(
    f"  - {{name: {axis}{i}, type: spring, between: [world, base], points: [[{x + a}, {y + b}, {-c}], [{x}, {y}, 0]], "
    "stiffness: k, rest: 0.3}\n"
    for i, (x, y) in enumerate([(0.3, 0.3), (-0.3, 0.3), (0.3, -0.3), (-0.3, -0.3)])
    for axis, a, b, c in [("x", 0.3, 0, 0), ("y", 0, 0.3, 0), ("z", 0, 0, 0.3)]
    if axis == "z" or i % 2 == (axis == "y")  # eight of twelve do
)


@pytest.mark.slow
def test_a_base_that_springs_hold_gives_way():
    """Where statics has it, with exact derivatives; one that nothing holds is refused under its weight."""
    robot, q = kronbot.loads(TABLE, order="1"), np.array([0.3, -1.0, 2.0])
    true = robot.with_parameters(k=18000, EI=44)
    what = ["endpoint.x", "endpoint.z", "base.z", "base.ry", "torque.q1", "tension.z1", "tip.a.rz"]
    told = [true.statics(q=[angle]) for angle in q]
    table = {"q1": q, **{name: np.array([each[name][0] for each in told]) for name in what}}
    answer = robot.fit(table, estimate=["k", "EI"], sigma=dict.fromkeys(what, 1e-05))
    assert answer.at["parameters"] == pytest.approx({"k": 18000, "EI": 44}, rel=1e-8)
    names = ["k", "m", "EI", "l"]
    answers, _ = StaticAnswers.read(Variation.of(robot.model, names), Named(Columns(table), {}), ())
    at = np.array([robot.description.values[name] for name in names])
    demand_derivatives(answers.errors, at, answers.jacobian(at), names)
    with pytest.raises(UsageError, match="a floating base has no supports"):
        loose = {name: table[name] for name in ("q1", "endpoint.x")}
        kronbot.loads(TABLE.partition("elements")[0]).fit(loose, estimate=["EI"])


def test_every_column_of_statics_is_compared_or_told(arm):
    """Those of files, too; angles and loads are given."""
    robot = kronbot.load("piedboeuf")
    run = robot.statics()
    table = {name: np.asarray(each) for name, each in run.series.items()}
    answer = robot.fit(table, question="statics", estimate=["EI"], sigma={"endpoint": 1e-3})
    compared = set(answer.arrays["residuals"].rows)
    told = [each for each in answer.warnings if "not compared" in each]
    assert len(told) == 1 and "curvature_relative.g1" in told[0] and "offset has what a gauge reads" in told[0]
    left = {name for name in table if name not in compared and name not in told[0]}
    assert left == {name for name in table if name.startswith(("angle.", "force.", "moment."))}
    with pytest.raises(UsageError, match=r"columns: velocity.b.x is not compared: 0 in statics"):
        arm.fit({"q1": np.zeros(3), "v": np.ones(3)}, columns={"velocity.b.x": "v"}, estimate=["l"])


@pytest.mark.slow
def test_how_the_tip_of_an_exact_beam_turns_is_measured_whole():
    """As the rotation vector that statics tells, which is compared as a turn."""
    text = ARM.replace("EI: {y: EIy, z: EI}, GJ: GJ", "EI: {y: EI/9, z: EI}, GJ: GJ")
    robot = kronbot.loads(text, order="exact")
    run = [robot.with_parameters(EI=8).statics(q=[0.3, each], forces=[[0, 0, 9]]) for each in (0.2, 0.9)]
    names = [f"tip.a.r{axis}" for axis in "xyz"]
    table = {"q1": np.array([0.3, 0.3]), "q2": np.array([0.2, 0.9]), "force.z": np.array([9.0, 9.0])}
    table |= {name: np.array([each[name][0] for each in run]) for name in names}
    answer = robot.fit(table, estimate=["EI"], sigma={"tip": 1e-4})
    assert answer.at["parameters"]["EI"] == pytest.approx(8, rel=1e-8)
    with pytest.raises(UsageError, match="tip.a is measured whole: columns rx, ry and rz of a rotation vector"):
        robot.fit({name: each for name, each in table.items() if name != "tip.a.rx"}, estimate=["EI"])


@pytest.mark.slow
def test_very_many_rows_are_asked_for_in_parts(arm, measured, monkeypatch):
    """With the same answer, to rounding: estimates, errors, leverages, rows that validate, offsets of sensors."""
    known = kronbot.loads(ARM.replace("rest: 0.1}", "rest: 0.1, zero: 0}"))
    table = {**measured, "torque.q2": measured["torque.q2"] + 0.01}
    table["position.b.x"] = np.where(np.arange(25) % 5 == 1, np.nan, table["position.b.x"])
    asked = {"estimate": ["l", "EI", "zero"], "sigma": SIGMA, "validate": 0.2, "offset": {"torque.q2": "zero"}}
    whole = known.fit(table, **asked)
    monkeypatch.setattr(parts, "MANY", 10)
    monkeypatch.setattr(parts, "PART", 7)
    monkeypatch.setattr(knowledge, "BLOCK", 11)
    found = known.fit(table, **asked)
    for name, value in whole.at["parameters"].items():
        assert found.at["parameters"][name] == pytest.approx(value, rel=1e-9)
    np.testing.assert_allclose(found["standard_errors"], whole["standard_errors"], rtol=1e-6)
    np.testing.assert_allclose(found["leverage"], whole["leverage"], rtol=1e-6, atol=1e-12)
    assert found["row"].tolist() == whole["row"].tolist() and found["column"].tolist() == whole["column"].tolist()
    hopeless = {**table, "q1": np.where(np.arange(25) == 9, 1e30, table["q1"])}
    with pytest.raises(ComputationError, match="no answer with the first values of the parameters in row 10"):
        known.fit(hopeless, **asked)


def test_who_interrupts_gets_the_best_so_far(arm, measured):
    def stop(share):
        if share > 0.15:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(Interrupted, match="the best so far is told") as stopped:
        arm.fit(measured, estimate=list(TRUE), sigma=SIGMA, progress=stop)
    partial = stopped.value.partial
    assert partial.summary["complete"] is False and partial.summary["evaluations"] < 6
    assert list(partial.at["parameters"]) == list(partial.arrays["estimates"].rows)


@pytest.mark.parametrize(("loss", "again"), [rare("linear", False), rare("linear", True), ("cauchy", False)])
def test_sigmas_and_weights_are_those_of_the_best_so_far(monkeypatch, loss, again):
    """In the midst of the first search, or as a second one begins; Cauchy's weights are 1/(1 + z/c^2)."""
    seen, followed, follow = [], [], Noise.follow
    monkeypatch.setattr(Noise, "follow", lambda *given: followed.append(1) or follow(*given))

    def stop(share):
        seen.append(share)
        if followed or (len(seen) > 2 and not again):
            signal.raise_signal(signal.SIGINT)

    robot, q, rng = kronbot.loads(SMALL), np.linspace(-1, 1, 15), np.random.default_rng(3)
    at = robot.with_parameters(l=0.6, k=30).statics(q=q[:, None])
    names = ["endpoint.x", "torque.q1"]
    data = {"q1": q, **{name: at[name] + 1e-3 * rng.normal(size=15) for name in names}}
    with pytest.raises(Interrupted, match="the best so far is told") as stopped:
        robot.fit(data, estimate=["l", "k"], loss=loss, progress=stop)
    partial = stopped.value.partial
    sigmas = dict(zip(partial.arrays["residuals"].rows, np.asarray(partial["residuals"])[:, -1], strict=True))
    for name in names:
        own = partial["column"] == name
        errors, share = partial["residual"][own], 15 / (15 - partial["leverage"][own].sum())
        size = np.sqrt(np.mean(errors**2)) if loss == "linear" else 1.4826 * np.median(np.abs(errors))
        assert sigmas[name] == pytest.approx(size * np.sqrt(share), rel=2e-3)
    squares = partial["standardized"] ** 2
    weights = 1 / (1 + squares / TUNING["cauchy"] ** 2) if loss == "cauchy" else 1.0
    assert partial.summary["chi_square"] == pytest.approx((weights * squares).sum(), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("draws", [1, rare(3)])
def test_who_interrupts_gets_the_draws_before(arm, measured, draws):
    """Of fits to noise, where there are enough for a spread: those of as many."""
    asked = {"data": measured, "estimate": ["l", "k"], "sigma": SIGMA, "seed": 3}

    def stop(share):
        if share * 8 > draws - 0.5:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(Interrupted, match=f"interrupted after {draws} of 8 draws") as stopped:
        arm.fit(**asked, synthetic=8, progress=stop)
    if draws == 1:
        assert stopped.value.partial is None
        return
    partial, whole = stopped.value.partial, arm.fit(**asked, synthetic=draws)
    assert partial.summary == {"complete": False, **whole.summary}
    assert (partial["synthetic"] == whole["synthetic"]).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["canadarm-craig-bampton", "torso"])
def test_shipped_robots_come_back(name):
    """From exact measurements of the endpoint and the torques, as far as these can tell."""
    robot, rng = kronbot.load(name), np.random.default_rng(9)
    values, definitions = robot.description.values, robot.model.parameters.definitions
    names = [each for each, one in definitions.items() if one is not None and one.constant]
    true = robot.with_parameters(**{each: values[each] * rng.uniform(0.97, 1.03) for each in names})
    q = rng.uniform(-0.6, 0.6, (8, len(robot.joints)))
    force = np.array([robot.statics(q=q[0], forces=[[0, 0, 0]])["energy.elastic"][0] + 1.0, 2.0, 0.5])
    at = true.statics(q=q, forces=[force])
    columns = [f"endpoint.{axis}" for axis in "xyz"] + [f"torque.{joint}" for joint in robot.joints]
    data = {**dict(zip(robot.joints, q.T, strict=True)), **{each: at[each] for each in columns}}
    data |= {f"force.{axis}": at[f"force.{axis}"] for axis in "xyz"}
    answer = robot.fit(data, estimate=names, sigma={"endpoint": 1e-6, "torque": 1e-6})
    known = answer.arrays["standard_errors"].rows
    assert known or "combined" in answer
    for each in known:
        assert answer.at["parameters"][each] == pytest.approx(true.description.values[each], rel=1e-8), each


def test_numbers_whose_squares_are_too_large_are_those_of_the_data():
    """At their place in a file, by name in columns; the robot is not blamed."""
    rows = b"q1,far\n0.1,2\n0.2,-1e308\n"
    with pytest.raises(MeasurementError, match=r"^a.csv:3:5: 'far': -1e\+308 in row 2 is too large for its square"):
        Named(sheet("a.csv", rows), {}).numbers(["q1", "far"])
    with pytest.raises(UsageError, match=r"'q1': 1e\+160 in row 1 is too large.*\n.*'torque.q1': 1e\+160 in row 1"):
        kronbot.load("canadarm").fit({"q1": [1e160], "torque.q1": [1e160]}, question="dynamics", estimate="EI")
    assert Named(sheet("a.csv", rows), {"x": parse("far/1e200")}).numbers(["x"])["x"].tolist() == [2e-200, -1e108]


def test_what_data_hardly_tell_is_said():
    """A standard error beyond estimate and start; where the truth is 0 beside a start of 1 nothing is said."""
    angles = np.linspace(-1, 1, 9)
    assert [*uncertain(np.ones(2), np.array([1e7, 0.01]), np.array([1e13, 0.1]), ("k", "c"))] == [
        "these data hardly tell k: 1e+07 with a standard error of 1e+13"
    ]
    stiff = "kronbot: 1\nname: stiff\nconvention: standard\ngravity: [0, -9.81, 0]\nparameters: {k: 1e4}\nlinks:\n" + (
        "  - {name: a, joint: {type: revolute, name: q1, elastic: {stiffness: k}}, "
        "dh: {a: 1, d: 0, alpha: 0, theta: 0}, rigid: {mass: 1, com: [-0.5, 0, 0]}}\n"
    )
    robot, noise = kronbot.loads(stiff), np.random.default_rng(1).normal(0, 0.1, 9)
    torque = robot.statics(q=angles[:, None])["torque.q1"] + noise
    found = robot.fit({"q1": angles, "torque.q1": torque}, estimate="k", sigma={"torque": 0.1})
    assert [each for each in found.warnings if "hardly tell k" in each]


LINK = """
kronbot: 1
name: link
convention: standard
gravity: [0, -9.81, 0]
parameters: {zero: 6.123e-17, l: 0.9, m: 1e-14, I: 0.1}
links:
  - name: a
    joint: {type: revolute, name: q1}
    dh: {a: l, d: 0, alpha: 0, theta: zero}
    rigid: {mass: m, com: [-0.4, 0, 0], inertia: {Ixx: 0.01, Iyy: 0.1, Izz: I}}
"""


@pytest.mark.parametrize("prior", [None, {"zero": (0.1, 1e12)}, {"l": (1, 1e14)}])
def test_what_is_all_but_0_and_what_is_all_but_no_prior_are_none(prior):
    """In searches, in draws of noise, and where one least squares is the answer."""
    link, q = kronbot.loads(LINK), np.array([0, 0.3, 0.8, 1.2])
    rows = {"q1": q, "endpoint.x": 0.91 * np.cos(q + 0.02), "endpoint.y": 0.91 * np.sin(q + 0.02)}
    asked = {"estimate": ["zero", "l"], "sigma": {"endpoint": 1e-4}, "prior": prior}
    found = link.fit(rows, **asked)
    assert found["estimates"][:, 1] == pytest.approx([0.02, 0.91], rel=1e-6) and found.summary["rank"] == 2
    drawn = link.fit(rows, **asked, synthetic=6)
    assert drawn["synthetic"][:, 2] == pytest.approx(drawn["synthetic"][:, 3], rel=0.9)
    link, qdd = kronbot.loads(LINK, parameters={"l": 0.91, "zero": 0.02}), np.array([0, 1.0, -2, 3])
    torque = (0.3 + 2 * 0.51**2) * qdd + 2 * 9.81 * 0.51 * np.cos(q + 0.02)
    rows = {"q1": q, "q1_dot": 0 * q, "q1_ddot": qdd, "torque.q1": torque}
    found = link.fit(rows, question="dynamics", estimate=["m", "I"], prior={"m": (1, 1e14)} if prior else None)
    assert found["estimates"][:, 1] == pytest.approx([2, 0.3], rel=1e-9) and found.summary["rank"] == 2


@pytest.mark.parametrize("m", [1e12, 1e140])
def test_what_is_linear_has_no_start(m):
    """Neither estimates nor what is told of them, with sigma and without; beyond there is no number for a square."""
    q, qdd = np.array([0, 0.3, 0.8, 1.2]), np.array([0, 1.0, -2, 3])
    torque = (0.3 + 2 * 0.5**2) * qdd + 2 * 9.81 * 0.5 * np.cos(q) + np.array([1e-3, -1e-3, 1e-3, 0])
    rows = {"q1": q, "q1_dot": 0 * q, "q1_ddot": qdd, "torque.q1": torque}
    for sigma in ({"torque": 1e-3}, None):
        near, far = (
            kronbot.loads(LINK, parameters={"zero": 0, "m": each}).fit(
                rows, question="dynamics", estimate=["m", "I"], sigma=sigma
            )
            for each in (1, m)
        )
        assert far["estimates"][:, 1] == pytest.approx(near["estimates"][:, 1], rel=1e-9)
        assert far["standard_errors"] == pytest.approx(near["standard_errors"], rel=1e-6) and near.summary["rank"] == 2
    with pytest.raises(ComputationError, match="too small for sums of squares: give parameters values that are nearer"):
        kronbot.loads(LINK, parameters={"m": 1e160}).fit(rows, question="dynamics", estimate=["m", "I"])
    with pytest.raises(ComputationError, match="too small for sums of squares: give smaller ones to sigma"):
        kronbot.loads(LINK).fit(rows, question="dynamics", estimate=["m", "I"], sigma={"torque": 1e200})


def test_a_start_without_an_answer_leaves_those_after_it_alone():
    """A stiffness of 1e299 may end in a posture whose squares are no numbers: it is none to go on from."""
    arm = (
        "kronbot: 1\nname: arm\ngravity: [0, -9.81, 0]\nparameters: {E: 12.0, l: 0.9}\nlinks:\n"
        "  - {name: a, joint: {type: revolute, name: q1}, pose: {}, payload: {mass: 0.25},\n"
        "     flexible: {length: l, mass: 0.3, EI: {z: E}, modes: {v: 2}, shape: craig-bampton}}\n"
    )
    robot, q = kronbot.loads(arm), np.linspace(-1, 1, 8)
    answer = robot.with_parameters(E=15, l=1).statics(angles={"q1": q})
    rows = {"q1": q, **{name: answer[name] for name in ("endpoint.x", "endpoint.y")}}
    answers, _ = StaticAnswers.read(Variation.of(robot.model, ["E", "l"]), Named(Columns(rows), {}), ())
    at, far = np.array([15.0, 1.0]), np.array([4.5e299, 0.75])
    J = answers.jacobian(at)
    for ask in (answers.jacobian, answers.errors):
        answers.errors(far)
        answers._found.q[2, 1:] = 9e251
        assert not np.isfinite(ask(far)).all()
        assert answers.errors(at) == pytest.approx(0, abs=1e-9) and answers.jacobian(at) == pytest.approx(J, rel=1e-6)


def test_sigmas_of_few_measurements_are_told():
    """Found from errors, of fewer than two and a half degrees of freedom; those given are believed."""
    errors, leverages = np.array([[1.0, 2.0], [0.1, np.nan], [0.2, 0.3]]), np.array([[0.5, 0.5], [0.5, 0], [0.5, 0.5]])
    noise = Noise(np.ones(2), {("torque.q1", "N m"): [0], ("tip", "m"): [1]}, np.ones(2), False)
    assert [*noise.doubtful(errors, leverages)] == [("torque.q1", 3, 1.5), ("tip", 2, 1.0)]
    assert not [*replace(noise, groups={}).doubtful(errors, leverages)]
    assert not [*noise.doubtful(np.tile(errors, (6, 1)), np.tile(leverages / 6, (6, 1)))]


@pytest.mark.parametrize("far", [1e3, 1e8])
def test_a_row_far_larger_than_the_others_leaves_sigma_that_of_errors(far):
    """A mass, a damper and a spring are linear least squares: errors of estimates are rows of R^-1 times the noise."""
    robot = kronbot.loads(
        "kronbot: 1\nname: p\ngravity: [0, 0, 0]\nparameters: {I: 1, d: 1, k: 1}\nlinks:\n"
        "  - {name: a, joint: {type: prismatic, name: x, damping: d, spring: {stiffness: k}}, pose: {},\n"
        "     rigid: {mass: I}}\n"
    )
    rng = np.random.default_rng(3)
    A = rng.normal(size=(12, 3))
    A[0] *= far
    torque = A @ [2, 3, 4] + 0.01 * rng.normal(size=12)
    data = dict(zip(("x_ddot", "x_dot", "x", "torque.x"), (*A.T, torque), strict=True))
    found = robot.fit(data, question="dynamics", estimate=["I", "d", "k"])
    Q, R = np.linalg.qr(A)
    noise = np.linalg.norm(torque - Q @ (Q.T @ torque)) / 3
    expected = noise * np.linalg.norm(np.linalg.inv(R), axis=1)
    np.testing.assert_allclose(found["standard_errors"], expected, rtol=1e-5)
    assert found.summary["noise_factor"] == pytest.approx(1)


def test_a_column_of_zeros_says_nothing_of_its_neighbours():
    """A gripper of millimetres whose tip was exported as x, y, z: their sigma is that of their errors, not 1e-9 m."""
    text = (
        "kronbot: 1\nname: g\nconvention: standard\ngravity: [0, 0, 0]\nparameters: {EI: 1e-8}\nlinks:\n"
        "  - {name: f, joint: {type: revolute, name: q}, dh: {a: 2e-3, d: 0, alpha: 0, theta: 0},\n"
        "     flexible: {mass: 1e-9, EI: {z: EI}, modes: {v: 1}, shape: craig-bampton}}\n"
    )
    robot, forces = kronbot.loads(text), np.linspace(1e-4, 1e-3, 8)
    noise = 1e-12 * np.array([1, -2, 0.5, 1, -1, 2, -0.5, -1])
    tips = [robot.statics(forces=[[0, force, 0]], q={"q": 0})["tip.f.y"][0] for force in forces]
    data = {"angle.q": [0.0] * 8, "force.y": forces, "tip.f.y": tips + noise}
    alone, beside = robot.fit(data=data), robot.fit(data=data | {"tip.f.z": [0.0] * 8})
    for found in (alone, beside):
        sigmas = dict(zip(found.arrays["residuals"].rows, found["residuals"][:, 5], strict=True))
        assert 1e-13 < sigmas["tip.f.y"] < 3e-12
        # People see them, too, beside angles and counts that are many times as large.
        assert (shown("residuals", found.arrays["residuals"]) == found["residuals"]).all()
        assert (columns_shown(found)["residual"] == found["residual"]).all()
    assert found["estimates"][0][0] == pytest.approx(1e-8, rel=1e-6)


def test_one_measurement_is_its_own_mean():
    robot = kronbot.loads(ONE_MEASUREMENT)
    measured = robot.modes()["frequencies_locked"][0]
    found = robot.fit(question="modes", data={"frequencies_locked[1]": [measured * (1 + 1e-13)]}, estimate=["EI"])
    (row,) = found["residuals"]
    assert row[list(found.arrays["residuals"].columns).index("R2")] == pytest.approx(1)
    assert not any("is judged by" in told for told in found.warnings)


ONE_MEASUREMENT = """
kronbot: 1
name: g
convention: standard
gravity: [0, 0, 0]
parameters: {EI: 3}
links:
  - {name: f, joint: {type: revolute, name: q}, dh: {a: 1, d: 0, alpha: 0, theta: 0},
     flexible: {mass: 1, EI: {z: EI}, modes: {v: 1}}}
"""


@pytest.mark.slow
def test_what_nothing_depends_on_is_not_fitted(monkeypatch):
    """But by name, or where a sensor adds it; more than can be fitted are refused."""
    more = "".join(f", idle{i}: {'2*idle2' if i == 1 else i}" for i in range(30))
    lever = kronbot.loads(f"""
kronbot: 1
name: lever
convention: standard
gravity: [0, -9.81, 0]
parameters: {{m: 1, l: 1{more}}}
links:
  - name: a
    joint: {{type: revolute, name: q1}}
    dh: {{a: l, d: 0, alpha: 0, theta: 0}}
    rigid: {{mass: m}}
""")
    rows = {"q1": [0.0, 0.5, 1.0], "torque.q1": [11.0, 9.7, 6.0]}
    answer = lever.fit(rows, fix=["l", "idle7"])
    assert answer.arrays["estimates"].rows == ("m",)
    assert [each for each in answer.warnings if "not fitted" in each] == [
        f"idle0, {', '.join(f'idle{i}' for i in range(2, 21))}, ... (29 in all) are not fitted: "
        "nothing in the file depends on them"
    ]
    sensor = {"torque.q1": "idle1"}
    assert lever.fit(rows, fix=["l", "m"], offset=sensor).arrays["estimates"].rows == ("idle2",)
    assert lever.fit(rows, estimate=["m", "idle5"]).arrays["estimates"].rows == ("m", "idle5")
    with pytest.raises(UsageError, match=r"no parameter is left to fit: fix holds m, l; leave it out"):
        lever.fit(rows, fix=["l", "m"])
    monkeypatch.setattr(library_fit, "MOST_FITTED", 30)
    with pytest.raises(UsageError, match="31 parameters are too many to fit, 30 is the limit: name those that"):
        lever.fit(rows, estimate=[name for name in lever.description.values if name != "idle1"])


HYPHENS = """
kronbot: 1
name: h
gravity: [0, 0, -9.81]
parameters: {a: 1}
links:
  - {name: l, joint: {type: revolute, name: j-1}, pose: {}}
  - {name: m, joint: {type: fixed}, pose: {xyz: [a, 0, 0]}}
"""


def test_columns_of_any_name_make_others():
    """One by its name as it is, some in expressions in quotes; names with dots need none."""
    robot, q = kronbot.loads(HYPHENS), np.array([0.1, 0.5, 1.2])
    x = 1.25 * np.cos(q)

    def found(data, columns):
        return robot.fit(data, columns=columns, estimate="a").at["parameters"]["a"]

    for name in ("raw-1", "raw 1", "it's", "[1]", "deg", "sin", "if", "endpoint.q"):
        ways = [name, *(f"{sign}{name}{sign}/1" for sign in "'\"" if "'" not in name)]
        for way in ways:
            named = Named.of(Columns({name: q}), {"j-1": way})
            assert (named.numbers(["j-1"])["j-1"] == q).all() and named.spent == {name}
    wanted = pytest.approx(1.25, rel=1e-12)
    assert found({"raw-1": q, "endpoint.x": x}, {"j-1": "raw-1"}) == wanted
    assert found({"raw-1": 2 * q, "endpoint.x": x}, {"j-1": "'raw-1'/2"}) == wanted
    assert found({"j-1": q, "endpoint.x": 1e3 * x}, {"endpoint.x": "endpoint.x*1e-3"}) == wanted
    # Of the data, where another expression has the name of one.
    both = {"j-1": "'j-1'*deg", "endpoint.x": "cos('j-1'*deg)*long"}
    assert found({"j-1": np.degrees(q), "long": np.full(3, 1.25)}, both) == wanted


def test_what_is_said_of_names_of_columns_helps(tmp_path):
    robot, q = kronbot.loads(HYPHENS), np.array([0.1, 0.5])
    for columns, said in (
        (
            {"j-1": "raw-1*2"},
            r"columns j-1: data has no column 'raw'; did you mean 'raw-1'\? \(such a name stands in quo",
        ),
        ({"j-1": "other*2"}, r"there are raw-1, deg, endpoint.x \(such a name stands in quotes in an expression\)$"),
        (
            {"j-1": "deg*2"},
            "deg is a number, and a column of data: the column stands in quotes, 'deg', and .* is pi/180$",
        ),
        ({"endpoint.x": "endpoint.y*2"}, r"no column 'endpoint.y'; did you mean 'endpoint.x'\?$"),
    ):
        with pytest.raises(UsageError, match=said):
            robot.fit({"raw-1": q, "deg": q, "endpoint.x": np.cos(q)}, columns=columns, estimate="a")
    file = f"{HYPHENS}fit: {{columns: {{j-1: X, endpoint.x: endpoint.x*1e-3}}}}\n"
    assert not kronbot.loads(file.replace("X", "\"'raw-1'*deg\"")).description.warnings
    with pytest.raises(
        DescriptionError, match="an expression of columns, of which names of other signs stand in quotes"
    ):
        kronbot.loads(file.replace("X", "'raw 1*deg'"))
    sheet = tmp_path / "rows.csv"
    for header, name in (("deg,endpoint.x", "deg"), ("pi,endpoint.x", "pi"), ("pi,deg,endpoint.x", "deg")):
        sheet.write_text(f"{header}\n" + "".join(f"{'0.1,' * header.count(',')}{math.cos(0.1)}\n" for _ in "123"))
        assert robot.fit(sheet, columns={"j-1": name}, estimate="a").at["parameters"]["a"] == pytest.approx(1)
    for header, said in (("pi,0.2", "1:4: .* below it; '0.2' is a number"), ("pi-1,a", "1:1: .*; 'pi-1' is a number"),
                         ("NaN,a", "1:1: .* 'NaN' stands for what was not measured")):  # fmt: skip
        sheet.write_text(f"{header}\n1,2\n")
        with pytest.raises(MeasurementError, match=said):
            robot.fit(sheet, columns={"j-1": "a"}, estimate="a")


def test_what_has_no_real_value_in_a_row_is_told_and_not_left_out(tmp_path):
    """At its cell in a file; where a used cell is empty nothing was measured, whatever the expression makes of it."""
    robot, q = kronbot.loads(HYPHENS), np.array([0.1, 0.5, 0.9, 1.2])
    v, sheet = np.array([1.1, 0.9, -0.6, np.nan]), tmp_path / "rows.csv"
    rows = zip(q.tolist(), ("1.1", "0.9", "-0.6", ""), strict=True)
    sheet.write_text("j-1,endpoint.y,v\n" + "\n".join(f"{a},{math.sin(a)},{b}" for a, b in rows))
    data = {"j-1": q, "endpoint.y": np.sin(q), "v": v}
    for name in ("endpoint.x", "j-1"):  # measured, and given
        for text in ("sqrt(v)", "exp(v*0)/(v-v)*0", "0*v/0", "(0*v)/(v+0.6)", "v**0.5"):
            row = 1 if "v-v" in text or text == "0*v/0" else 3
            said = f"{name}: no real number in row {row}; leave the cell empty"
            with pytest.raises(MeasurementError, match=rf"rows\.csv:{row + 1}:\d+: .*{said}") as told:
                robot.fit(sheet, columns={name: text}, estimate="a")
            assert told.value.mistakes[0].column == len(sheet.read_text().splitlines()[row].rpartition(",")[0]) + 2
            with pytest.raises(UsageError, match=said):
                robot.fit(data, columns={name: text}, estimate="a")
    with pytest.raises(UsageError, match="no finite number in row 3; leave"):
        Named.of(Columns(data), {"x": "1/(v + 0.6)"}).numbers(["x"])
    for text in ("v**0", "0*v/v**0", "v*1e200*1e200"):
        assert np.isnan(Named.of(Columns({"v": v[3:]}), {"x": text}).numbers(["x"])["x"]).all()
    assert np.isnan(Named.of(Columns(data), {"x": "v**0"}).numbers(["x"])["x"]).tolist() == [False] * 3 + [True]
