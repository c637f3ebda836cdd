"""Joints with a compliance: against 1/k, the limit 0, which is rigid, derivatives there, fits that find 0."""

import json
import pickle

import jsonschema
import numpy as np
import pytest
from differences import demand_derivatives
from thinned import rare

import kronbot
from kronbot.description.json_schema import robot_file_schema
from kronbot.errors import ComputationError, DescriptionError
from kronbot.model.build import compliant
from kronbot.model.variation import Variation
from kronbot.questions.fitting.data import Columns, Named
from kronbot.questions.fitting.statics import StaticAnswers

ARM = """
kronbot: 1
name: arm
gravity: [0, 0, -9.81]
parameters: {c1: 1.1e-3, c2: 1.4e-3, cx: 2.5e-4, cy: 3.3e-4, c3: 2e-3}
links:
  - name: upper
    joint: {type: revolute, name: q1, rotor_inertia: 0.02, gear: 5, SHAFT1 BEARING damping: 0.1}
    pose: {rpy: [0.3, 0, 0]}
    flexible: {length: 1, mass: 2, EI: {z: 600}, modes: {v: 1}}
  - name: lower
    joint: {type: revolute, name: q2, rotor_inertia: 0.03, SHAFT2 spring: {stiffness: 20, rest: 0.1}}
    pose: {rpy: [1.2, 0, 0]}
    rigid: {mass: 3, com: [0.4, 0, 0.1], inertia: {Ixx: 0.1, Iyy: 0.7, Izz: 0.5}}
  - name: hand
    joint: {type: revolute, name: q3, SHAFT3 follows: q1 - q2/2 + 0.1}
    pose: {xyz: [0.5, 0, 0]}
    rigid: {mass: 1, com: [0.1, 0.2, 0], inertia: {Ixx: 0.1, Iyy: 0.1, Izz: 0.1}}
endpoint: {position: [0.3, 0.1, 0]}
"""


def arm(shaft="", bearing=""):
    """With what yields, for which {} is the parameter."""
    text = ARM
    for i in (1, 2, 3):
        text = text.replace(f"SHAFT{i}", f"elastic: {{{shaft.format(f'c{i}')}}}," if shaft else "")
    return kronbot.loads(text.replace("BEARING", f"bearing: {{{bearing}}}," if bearing else ""), order="1")


@pytest.fixture(scope="module")
def yielding():
    return arm("compliance: {}, damping: 2", "compliance: {x: cx}, stiffness: {y: 1/cy}, damping: {x: 1}")


@pytest.fixture(scope="module")
def stiff():
    return arm("stiffness: 1/{}, damping: 2", "stiffness: {x: 1/cx, y: 1/cy}, damping: {x: 1}")


POSTURE = {"q1": 0.3, "q2": -0.7}
ERRORS = ["margins", "accuracy", "accuracy_locked", "accuracy_free"]
LOADED = {"q": POSTURE, "forces": [[3, 4, -20]], "outputs": ["spring:q1", "spring:q2", "spring:q3", "reaction:q2"]}
COMPLIANCES = ("c1", "c2", "c3", "cx")


def close(one, other, but=(), tolerance=1e-9):
    """Whether two answers hold the same numbers."""
    assert set(other) <= set(one)
    for name in set(other).difference(but):
        np.testing.assert_allclose(one[name], other[name], rtol=tolerance, atol=1e-11, err_msg=name)
    for name in {name for name, each in other.summary.items() if isinstance(each, bool)}:
        assert one.summary[name] == other.summary[name], name


@pytest.mark.parametrize(
    "asked",
    [rare({"solver": "linear"}), {"buckling": True}, {"q": {"q1": 0.3, "q1.x": 0.1, "q2.motor": -0.7}}],
)
def test_statics_is_that_with_one_over_k(yielding, stiff, asked):
    """Every column, and the compliance of the endpoint. Torques of second order are those of what a motor carries."""
    but = [f"torque_quadratic.q{i}" for i in (1, 2)]
    close(yielding.statics(**LOADED | asked), stiff.statics(**LOADED | asked), but)


def test_joints_let_go_are_those_with_one_over_k(yielding, stiff):
    asked = {"q": {"q1": 0.3, "q2": 0.2}, "tau": {"q2": 12.0}}
    close(yielding.statics(**asked), stiff.statics(**asked))


@pytest.mark.slow
def test_every_other_question_has_one_over_k(yielding, stiff):
    asked = {
        "kinematics": {}, "jacobian": {}, "hessian": {}, "dynamics": {"qd": [0.1, 0.2]}, "modes": {"q": POSTURE},
        "linearize": {"q": POSTURE, "equilibrium": True},
        "simulate": {"duration": 0.05, "step": 0.05, "q": POSTURE, "start": "equilibrium", "solver": "dop853"},
    }  # fmt: skip
    for question, given in asked.items():
        close(getattr(yielding, question)(**given), getattr(stiff, question)(**given), ERRORS, 1e-7)
    assert yielding.complexity().summary == stiff.complexity().summary
    assert yielding.check().summary == stiff.check().summary


@pytest.mark.slow
def test_zero_is_the_rigid_joint(yielding):
    """To rounding in statics, where the coordinates stay; another structure elsewhere, without coordinates."""
    still = yielding.with_parameters(**dict.fromkeys(COMPLIANCES, 0))
    rigid = arm(bearing="stiffness: {y: 1/cy}")
    for asked in (LOADED | {"outputs": ["reaction:q2"]}, {"q": POSTURE, "solver": "linear"}, {"tau": {"q2": 12.0}}):
        found, wanted = still.statics(**asked), rigid.statics(**asked)
        close(found, wanted, ["stiffness"], 1e-12)
        for place in ("q1.x", "q2", "q3"):
            slack = {"q2": found["angle.q2"], "q3": found["angle.q1"] - found["angle.q2"] / 2 + 0.1, "q1.x": 0}[place]
            assert abs(found[place] - slack).max() < 1e-14
    assert still.coordinates == rigid.coordinates == ("q1", "q1.y", "upper.v1", "q2")
    close(still.modes(q=POSTURE), rigid.modes(q=POSTURE), ERRORS, 1e-13)
    close(
        still.simulate(0.05, 0.05, q=POSTURE, start="equilibrium", solver="dop853"),
        rigid.simulate(0.05, 0.05, q=POSTURE, start="equilibrium", solver="dop853"),
    )
    assert still.with_parameters(c1=1e-3).coordinates == ("q1", "q1.motor", "q1.y", "upper.v1", "q2")
    assert pickle.loads(pickle.dumps(still)) == still
    answer = pickle.loads(pickle.dumps(still.statics(**LOADED)))
    assert set(answer.model.coordinates) > set(still.coordinates)  # as pictures want it
    answer.plot(), answer.view()


def test_only_zero_is_another_structure(yielding):
    """Which a negative value is not; and a variation, a fit's, has zeros among its values."""
    models = [yielding.with_parameters(c1=c).model for c in (1e-3, 2e-3, -1e-5, 0)]
    structures = [compliant(model).parameters.structure for model in models]
    assert structures[0] == structures[1] == structures[2]
    assert models[3].parameters.structure != models[0].parameters.structure
    varied = Variation.of(compliant(models[0]), ["c1"])
    assert varied.at(np.zeros(1)).parameters.structure == varied.at(np.ones(1)).parameters.structure


@pytest.mark.parametrize("c", [0.0, rare(-2e-4), rare(1e-3)])
def test_derivatives_of_fits_are_exact_at_any_compliance(yielding, c):
    """By every compliance and others beside it, against extrapolated differences."""
    robot = compliant(yielding.with_parameters(**dict.fromkeys(COMPLIANCES, c)).model)
    names = [*COMPLIANCES, "cy"]
    what = ["torque.q1", "endpoint.y", "endpoint.z", "q1", "q1.x", "q3", "energy.elastic", "upper.v1", "reaction.mx"]
    rng = np.random.default_rng(5)
    table = {"angle.q1": rng.normal(size=3), "angle.q2": rng.normal(size=3), "force.z": 3 * rng.normal(size=3)}
    table |= {name: 0.3 * rng.normal(size=3) for name in what}
    answers, _ = StaticAnswers.read(Variation.of(robot, names), Named(Columns(table), {}), ())
    at = np.array([robot.parameters.values[name] for name in names])
    demand_derivatives(answers.errors, at, answers.jacobian(at), names, 1e-6, 1e-9)


@pytest.mark.slow
def test_a_fit_finds_what_does_not_yield(yielding):
    """Compliances that are 0 come back as 0 within their errors, on either side of it, others beside them."""
    true = yielding.with_parameters(c1=0, c3=0)
    rng = np.random.default_rng(8)
    q, force = rng.uniform(-1.5, 1.5, (24, 2)), 20 * rng.normal(size=(24, 3))
    poses = [
        true.statics(q=dict(zip(("q1", "q2"), row, strict=True)), forces=[each])
        for row, each in zip(q, force, strict=True)
    ]
    data = {"q1": q[:, 0], "q2": q[:, 1], **{f"force.{axis}": force[:, i] for i, axis in enumerate("xyz")}}
    data = {("angle." + name if name in ("q1", "q2") else name): each for name, each in data.items()}
    columns = {f"endpoint.{axis}": np.array([at[f"endpoint.{axis}"][0] for at in poses]) for axis in "xyz"}
    exact = yielding.fit({**data, **columns}, estimate=COMPLIANCES, sigma={"endpoint": 1e-4})
    for name, value in true.description.values.items():
        if name in COMPLIANCES:
            assert exact.at["parameters"][name] == pytest.approx(value, abs=1e-11)
    noisy = {name: each + 1e-4 * rng.normal(size=24) for name, each in columns.items()}
    answer = yielding.fit({**data, **noisy}, estimate=COMPLIANCES, sigma={"endpoint": 1e-4})
    errors = dict(zip(answer.arrays["standard_errors"].rows, answer["standard_errors"], strict=True))
    for name in COMPLIANCES:
        assert errors[name] < 1e-4
        assert abs(answer.at["parameters"][name] - true.description.values[name]) < 4 * errors[name]
    assert min(answer.at["parameters"].values()) < 0 < max(answer.at["parameters"].values())  # nothing holds them there
    again = kronbot.loads(yielding.rewritten(answer.at["parameters"]))
    assert again.statics(**LOADED).summary["stability"] == "undecided: a joint has a negative compliance"


@pytest.mark.slow
def test_a_negative_compliance_is_for_statics_alone(yielding, swept_here):
    wrong = yielding.with_parameters(c1=-1e-5, cx="-c2")
    line = next(i for i, each in enumerate(ARM.splitlines(), 1) if "name: q1" in each)
    for question in ("modes", "jacobian", "check", "linearize", "dynamics"):
        with pytest.raises(DescriptionError, match=rf":{line}:\d+: a negative 'compliance', -1e-05, is for statics"):
            getattr(wrong, question)()
    with pytest.raises(DescriptionError, match=r"(?s)-1e-05.*-0\.0014"):
        wrong.simulate(1, 0.1)
    with pytest.raises(DescriptionError, match="a negative 'compliance'"):
        wrong.fit({"q1": [0.0], "frequencies_locked[1]": [3.0]}, question="modes", estimate="c2")
    whole = {each: [*yielding.sweep(each, over={"c1": [-1e-4, 0, 1e-4]}, workers=1)] for each in ("statics", "modes")}
    assert [bool(row["error"]) for row in whole["statics"]] == [False] * 3
    assert ["a negative 'compliance'" in (row["error"] or "") for row in whole["modes"]] == [True, False, False]


LEVER = """
kronbot: 1
name: lever
gravity: [0, -9.81, 0]
parameters: {c: 1e-4, m: 5}
links:
  - name: lever
    joint: {type: revolute, name: q1, damping: 1, rotor_inertia: 0.1, elastic: {compliance: c, damping: 1}}
    pose: {}
    rigid: {mass: m, com: [0.5, 0, 0], inertia: {Izz: 0.1}}
endpoint: {link: lever, position: [1, 0, 0]}
motion: {q1: {type: cycloidal, from: 0, to: 1, duration: 1}}
simulate: {duration: 1, step: 0.01, start: equilibrium, drive: {q1: {pd: {kp: 1000, kd: 50}}}}
"""
RISING = {
    "q1": [0, 0.2, 0.5, -0.5],
    "endpoint.y": [0.0011, 0.1995, 0.4797, -0.4791],
    "torque.q1": [24.6, 24.1, 21.4, 21.6],
}
SIGMA = {"endpoint.y": 1e-3, "torque.q1": 0.1}
BOUNDED = {"c": (0, 1e-2), "m": (1, 10)}


def test_a_fit_that_ends_on_a_bound_ends_there_exactly(tmp_path):
    """The measured lever rises, as behind no shaft: residuals are those of the rigid one, and so is the file."""
    lever = kronbot.loads(LEVER)
    answer = lever.fit(RISING, estimate=BOUNDED, sigma=SIGMA)
    found = answer.at["parameters"]
    assert found["c"] == answer["estimates"][0, 1] == 0
    m = found["m"]
    residual, column = (np.asarray(answer[name]) for name in ("residual", "column"))
    q, y, torque = (np.array(RISING[name]) for name in ("q1", "endpoint.y", "torque.q1"))
    assert residual[column == "endpoint.y"] == pytest.approx(np.sin(q) - y, abs=1e-15)
    assert residual[column == "torque.q1"] == pytest.approx(m * 9.81 / 2 * np.cos(q) - torque, abs=1e-12)
    lifting = 9.81 / 2 * np.cos(q)  # the best m by hand
    assert m == pytest.approx(lifting @ torque / (lifting @ lifting), rel=1e-8)
    chi_square = ((np.sin(q) - y) ** 2).sum() / 1e-6 + ((m * lifting - torque) ** 2).sum() / 0.01
    assert answer.summary["chi_square"] == pytest.approx(chi_square, rel=1e-10)
    assert answer.warnings[0].startswith(
        "with a compliance of 0 all but statics have no q1.motor: leave out what names"
    )
    assert answer.warnings[1].startswith("at a bound: c;")
    (tmp_path / "fitted.yaml").write_text(lever.rewritten(found))
    again = kronbot.load(str(tmp_path / "fitted.yaml"))
    assert again.coordinates == ("q1",)
    short = {"duration": 0.1, "step": 0.05}
    assert again.simulate(**short)["q1"] == pytest.approx(lever.with_parameters(c=0, m=m).simulate(**short)["q1"])
    upper = lever.with_parameters(m=3).fit(RISING, estimate={"c": (0, 1e-2), "m": (1, 4)}, sigma=SIGMA)
    assert upper.at["parameters"]["m"] == 4


def test_what_data_tell_from_a_bound_is_not_on_it():
    """5e-12 is nearer to 0 than a share of 1e-7 of where the search begins, and these data know it to a thousandth."""
    true, angles = kronbot.loads(LEVER, parameters={"c": "5e-12"}), [0.0, 0.3, 0.8]
    heights = [true.statics(q={"q1": q})["endpoint.y"][0] for q in angles]
    rows, c = {"q1": angles, "endpoint.y": heights}, {"c": (0, 1e-2)}
    answer = kronbot.loads(LEVER).fit(rows, estimate=c, sigma={"endpoint.y": 1e-13})
    assert answer.at["parameters"]["c"] == pytest.approx(5e-12, rel=1e-3)
    assert 0 < answer["standard_errors"][0] < 1e-13 and not answer.warnings


@pytest.mark.slow
def test_a_fit_of_motions_ends_on_the_bound_of_another_structure():
    rigid = kronbot.loads(LEVER, parameters={"c": "0"}).simulate(duration=0.2, step=0.04)
    rows = {"t": rigid["t"], "q1": rigid["q1"] + 1e-5 * np.cos(7 * rigid["t"])}
    answer = kronbot.loads(LEVER).fit(rows, question="simulate", estimate=BOUNDED)
    assert answer.at["parameters"]["c"] == 0 and any("at a bound: c" in each for each in answer.warnings)


@pytest.mark.slow
def test_a_run_that_a_rigid_shaft_ends_names_it():
    stiff = kronbot.loads(LEVER, parameters={"c": "1e-24"})
    with pytest.raises(
        ComputationError, match=r"gave up .*; q1 yields so little that it would swing 5.2e\+11 times in"
    ):
        stiff.simulate(duration=1, step=0.5)


def test_what_a_file_says_twice_or_not_is_named():
    for shaft, said in (
        ("compliance: c1, stiffness: 3", "'stiffness' says it already"),
        ("damping: 1", "missing key 'stiffness' in 'elastic', which must be greater than 0"),
    ):
        with pytest.raises(DescriptionError, match=said):
            arm(shaft)
    for bearing, said in (
        ("damping: {x: 1}", "missing key 'stiffness' or 'compliance' in 'bearing'"),
        ("compliance: {x: 1}, stiffness: {x: 3}", "'stiffness' says it already"),
    ):
        with pytest.raises(DescriptionError, match=said):
            arm(bearing=bearing)


def test_the_schema_knows_either_of_the_two():
    said = {"type": "object", "$defs": robot_file_schema()["$defs"]}
    for name, file, right in (
        ("Shaft", {"compliance": 1e-4}, True),
        ("Shaft", {"compliance": 1e-4, "stiffness": 3}, False),
        ("Shaft", {"damping": 3}, False),
        ("Bearing", {"compliance": {"x": "c"}, "stiffness": {"y": 3}}, True),
        ("Bearing", {"damping": {"x": 3}}, False),
    ):
        validator = jsonschema.Draft7Validator(said | {"$ref": f"#/$defs/{name}"})
        assert validator.is_valid(json.loads(json.dumps(file))) is right
