"""The library: the same answers as the command line, from values as Python has them."""

import copy
import dataclasses
import doctest
import inspect
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from robots_in_tests import shipped_robot
from thinned import rare, thinned

import kronbot
from kronbot.cli.main import run
from kronbot.errors import ComputationError, FreeParameters, UnknownName, UsageError
from kronbot.library import robot as robot_module
from kronbot.questions import jacobian

ARM = """
kronbot: 1
name: arm
convention: standard
gravity: [0, -9.81, 0]
parameters: {EI: 20, l: 0.9}
links:
  - name: upper
    joint: {type: revolute, name: q1}
    dh: {a: l, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 0.3, EI: {z: EI}, modes: {v: 2}}
  - name: fore
    joint: {type: revolute, name: q2}
    dh: {a: 0.4, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 0.2, inertia: {Izz: 0.01}}
statics: {gauges: [{name: g1, link: upper, x: 0.1}]}
simulate: {duration: 0.2, step: 0.1}
"""


GANTRY = """
kronbot: 1
name: gantry
gravity: [0, -9.81, 0]
links:
  - {name: slide, joint: {type: prismatic, name: slide}, pose: {}, rigid: {mass: 1}}
  - {name: turn, joint: {type: revolute, name: turn}, pose: {}, hub: {mass: 1, com: [1, 0, 0]}}
"""


@pytest.fixture(scope="module")
def arm():
    return kronbot.loads(ARM, order="1")


PLACED = {
    **dict.fromkeys(("kinematics", "jacobian", "hessian", "dynamics", "taylor", "linearize", "modes"), ("q", {})),
    "statics": ("q", {}),
    "simulate": ("q", {"duration": 0.1}),
    "design": ("q", {"poles": [-1, -2]}),
    "plan": ("q", {"to": {"turn": 1}, "duration": 1}),
    "plan to": ("to", {"duration": 1}),
    "statics calibration": ("calibration", {}),
    "kinematics inverse": ("q", {"inverse": {"x": 1}}),
}


@pytest.mark.parametrize("asked", PLACED)
def test_places_of_which_digits_are_lost_are_refused(asked):
    """K of a pendulum at 1e15 rad was lost in its errors, and it was told to be stable. Joints that slide likewise."""
    robot, (word, more) = kronbot.loads(GANTRY), PLACED[asked]
    question = getattr(robot, asked.partition(" ")[0])
    with pytest.raises(UsageError, match=rf"^{word}: turn = 1e\+15 rad; 1e\+12 is the limit, .* whole turns leave"):
        question(**{word: {"turn": 1e15}}, **more)
    with pytest.raises(UsageError, match=rf"^{word}: slide = -2e\+12 m; 1e\+12 is the limit, [^:]*$"):
        question(**{word: {"slide": -2e12}}, **more)


def test_rows_and_angles_of_which_digits_are_lost_are_refused():
    """In rows, in sweeps of statics and in those of the file; rates may be what they are, places as far as that."""
    robot = kronbot.loads(GANTRY)
    for ask in (
        lambda: robot.modes(q=np.array([[0, 0], [0, 1e13]])),
        lambda: robot.statics(angles={"turn": [0, 1e13]}),
        lambda: robot.plan({"turn": 1}, duration=1, through={"t": [0.5], "turn": [1e13]}),
        lambda: kronbot.loads(GANTRY + "statics: {angles: {turn: [1e13]}}").statics(),
        lambda: kronbot.loads(GANTRY + "statics: {calibration: {turn: 1e13}, gauges: []}").statics(),
    ):
        with pytest.raises(UsageError, match=r"turn = 1e\+13 rad; 1e\+12 is the limit"):
            ask()
    assert robot.kinematics(q={"slide": 1e12})["pose"][0][2] == 1e12
    assert np.isfinite(robot.dynamics(qd={"turn": 1e13})["g"]).all()


DOCUMENTED = {
    each.name: each
    for module in (kronbot, robot_module)
    for each in doctest.DocTestFinder().find(module)
    if each.examples
}
LONG = {f"{robot_module.__name__}.Robot.{name}" for name in ("design", "fit", "plan")}


@pytest.mark.parametrize("name", thinned(list(DOCUMENTED), DOCUMENTED.keys() - LONG))
def test_docstrings(name):
    """Their examples hold."""
    assert doctest.DocTestRunner().run(DOCUMENTED[name]).failed == 0


def test_answers_share_names_and_units(arm):
    """They are the question's, made once and read-only."""
    first, second = (arm.dynamics(q, qd=[1, 0]) for q in ([0.1, 0.2], [0.3, 0.4]))
    for name, array in first.arrays.items():
        other = second.arrays[name]
        assert array.rows is other.rows
        assert array.columns is other.columns
        assert array.units is other.units
    with pytest.raises(TypeError):
        first.arrays["M"].units["rows"] = ()


def test_importing_costs_nothing():
    """Neither NumPy nor CasADi before the first robot."""
    script = (
        "import sys, kronbot; print([name for name in ('numpy', 'casadi', 'sympy', 'click') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_first_answers_import_what_they_use():
    """Masked arrays, which much of NumPy brings at its first call, are a twentieth of the time to a first answer."""
    heavy = ("numpy.ma", "scipy", "sympy", "pandas", "matplotlib")
    script = (
        "import sys, kronbot; robot = kronbot.load('khang'); robot.linearize(); robot.simulate(0.01, 0.01); "
        f"robot.jacobian(q=[0.1]); print([name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_command_line_hears_a_ctrl_c_before_anything_else_is_imported():
    """Until its first statements have run Python answers with tracebacks: they import a handful or what is built in."""
    folder = os.fspath(Path(kronbot.__file__).parents[1])
    code = f"import os, signal, sys; sys.path.append({folder!r}); known = {{*sys.modules}}; import kronbot.__main__; "
    code += "print(*{*sys.modules} - known)"
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True)
    known = {"__future__", "kronbot", "kronbot.version", "kronbot.__main__"}
    assert {*done.stdout.split()} <= known | {*sys.builtin_module_names}, done.stdout
    assert kronbot.errors.KronbotError and "errors" in dir(kronbot)
    with pytest.raises(AttributeError, match="nothing"):
        _ = kronbot.nothing


COMMANDS = {
    "check canadarm": lambda r: r.check(),
    "jacobian canadarm --q 0.1,pi/4,0 --frame wrist --in body": lambda r: r.jacobian(
        {"q1": 0.1, "q2": "pi/4"}, frame="wrist", axes="body"
    ),
    "hessian canadarm --q upper.v1=0.1 --qd q1=1": lambda r: r.hessian({"upper.v1": 0.1}, {"q1": 1}),
    "dynamics canadarm --q 0.1,0.2,0.3 --qdd q3=1": lambda r: r.dynamics([0.1, 0.2, 0.3], qdd={"q3": 1.0}),
    "taylor canadarm --of J_T --terms 1 --delta q2=0.1": lambda r: r.taylor("J_T", 1, delta={"q2": 0.1}),
    "linearize canadarm --lock q1 --force 1,0,0 --tau q2=3": lambda r: r.linearize(
        lock=["q1"], force=[1, 0, 0], tau={"q2": 3}
    ),
    "linearize canadarm --motion --lock all --duration 1 --step 0.5": lambda r: r.linearize_along(
        lock=["q1", "q2", "q3"], duration=1, step=0.5
    ),
    "modes canadarm --qd q1=0.1": lambda r: r.modes(qd={"q1": 0.1}),
    "statics canadarm --angles q1=0,0.1 --load wrist=0,1,0 --distributed upper=0,1,0": lambda r: r.statics(
        angles={"q1": [0, 0.1]}, loads={"wrist": [0, 1, 0]}, distributed={"upper": [0, 1, 0]}
    ),
    "simulate canadarm --duration 0.02 --step 0.01 --solver rodas": lambda r: r.simulate(0.02, 0.01, solver="rodas"),
}

USUAL = [line for line in COMMANDS if line.split()[0] in ("check", "statics", "simulate")]


@pytest.mark.parametrize("line", thinned(list(COMMANDS), USUAL))
def test_same_answers_as_the_command_line(capsys, line):
    """To the last digit: there is one implementation."""
    assert run([*line.split(), "--order", "1", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    answer = COMMANDS[line](shipped_robot("canadarm", "1")).to_dict()
    assert json.loads(json.dumps(answer)) == told


def test_values_by_name_by_number_and_as_rows(arm):
    """One meaning, however they are written; joints alone leave the modes at 0."""
    one = arm.jacobian({"q1": 0.1, "q2": "l/3"})["J_T"]
    assert np.array_equal(arm.jacobian([0.1, 0.3])["J_T"], one)
    assert np.array_equal(arm.jacobian([0.1, 0, 0, "l/3"])["J_T"], one)
    rows = arm.jacobian(np.array([[0.0, 0.0], [0.1, 0.3]]))
    assert rows["J_T"].shape == (2, 3, 4)
    assert np.array_equal(rows["J_T"][1], one)
    assert np.array_equal(arm.jacobian([[0.0, 0.0], [0.1, 0.3]])["J_T"], rows["J_T"])
    columns = arm.jacobian({"q1": [0.0, 0.1], "q2": np.array([0.0, 0.3])})
    assert np.array_equal(columns["J_T"], rows["J_T"])
    mixed = arm.hessian({"q1": [0.0, 0.1]}, qd={"q2": 1.0})  # one value for all rows
    assert mixed["a"].shape == (2, 3)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda r: r.jacobian({"q3": 1}), "no coordinate 'q3'"),
        (lambda r: r.jacobian([1, 2, 3]), "got 3 values; the robot has 4 coordinates"),
        (lambda r: r.jacobian("0.1,0.2"), "not the text"),
        (lambda r: r.jacobian({"q1": "x"}), "'x' is not a number"),
        (lambda r: r.jacobian({"q1": float("nan")}), "q: nan is not a finite number"),
        (lambda r: r.jacobian({"q1": [0.0, float("inf")]}), "inf is not a finite number"),
        (lambda r: r.jacobian({"q1": object()}), "q: a value of type object is not a number"),
        (lambda r: r.jacobian({"q1": []}), "shape"),
        (lambda r: r.jacobian([[0.1, 0.2], [0.1]]), "equally many"),
        (lambda r: r.hessian({"q1": [0, 1]}, qd={"q1": [0, 1, 2]}), "q has 2, qd has 3"),
        (lambda r: r.taylor(q={"q1": [0.0, 0.1]}), "one point"),
        (lambda r: r.jacobian(frame="elbow"), "elbow"),
        (lambda r: r.jacobian(axes="tool"), "axes 'tool'"),
        (lambda r: r.taylor("N"), "of 'N'"),
        (lambda r: r.taylor(terms=13), "0 to 12"),
        (lambda r: r.linearize(lock=["q"]), "lock: no joint 'q'"),
        (lambda r: r.linearize(inputs=["motor"]), "inputs: no input 'motor'; there are torques, force"),
        (lambda r: r.linearize(equilibrium=True, tau={"q1": 1}), "leave out tau"),
        (lambda r: r.linearize(force=[1, 2]), "force: 3 numbers"),
        (lambda r: r.linearize(tau={"upper.v1": 1}), "tau is by joint"),
        (lambda r: r.statics(solver="exact"), "solver 'exact'"),
        (lambda r: r.statics(angles={"q9": [0]}), "angles: no joint 'q9'"),
        (lambda r: r.statics(loads={"upper": [1, 2]}), "3 or 6 numbers"),
        (lambda r: r.statics(distributed={"fore": [0, 1, 0]}), "no flexible link 'fore'"),
        (lambda r: r.statics(forces=[[0, 0, 0], [0, 1, 0]], buckling=True), "one case, not 2"),
        (lambda r: r.simulate(solver="euler"), "solver 'euler'"),
        (lambda r: r.symbolic("html"), "style 'html'"),
        (lambda r: r.at_order("3"), "'3'"),
        (lambda r: r.statics(forces=[]), "forces: none is no case; "),
        (lambda r: r.with_motion("q1: {type: circle}"), "circle"),
        (lambda r: r.with_motion("moves.yaml"), "text in YAML is wanted, not the path or name 'moves.yaml': give what"),
        (lambda r: kronbot.loads("canadarm"), "'canadarm': kronbot.load takes those"),
        (lambda r: kronbot.loads("my robots/arm.yml"), "kronbot.load takes those"),
        (lambda r: r.description.values["EJ"], "no parameter 'EJ'; there are EI, l"),
        (lambda r: r.check()["J_T"], "no entry 'J_T'; there are"),
        (lambda r: r.check()["total_mass"], "it is a number of the summary: answer.summary"),
    ],
)
def test_what_does_not_fit_is_refused(arm, ask, message):
    """UsageError, with what would fit."""
    with pytest.raises(UsageError, match=message.replace("(", r"\(")):
        ask(arm)


def test_free_parameters_are_named():
    with pytest.raises(FreeParameters, match="a3"):
        kronbot.load("stacker").jacobian()
    bound = kronbot.load("stacker", parameters={"a3": np.float64(2.0), "d2": "a3/2"}).jacobian()
    assert np.isfinite(bound["J_T"]).all()


def test_a_stopped_computation_leaves_what_it_has(arm):
    """Nothing is lost with the error."""

    def stop(share):
        if share > 0.4:
            raise KeyboardInterrupt

    with pytest.raises(kronbot.errors.Interrupted) as stopped:
        arm.simulate(1.0, 0.1, progress=stop)
    assert stopped.value.partial.summary["complete"] is False
    assert 0.4 <= stopped.value.partial["t"][-1] < 1.0
    with pytest.raises(ComputationError) as lost:
        arm.at_order("2").statics(q={"q1": 0}, forces=[[0, 0, 0], [-1e4, -1, 0]])
    assert lost.value.partial.summary["cases"] == 1


@pytest.mark.slow
def test_other_orders_and_motions(arm):
    """The same file, the same parameters."""
    bent = kronbot.loads(ARM, order="1", parameters={"EI": 5})
    assert bent.at_order("0").coordinates == ("q1", "q2")
    swinging = bent.with_motion("q1: {type: sinusoid, amplitude: 0.1, frequency: 3}")
    assert swinging.description.values["EI"] == 5.0
    assert swinging.linearize_along(lock=["q1", "q2"]).arrays["K_L"].axis[0] == "t"


def test_formulas(arm):
    """Text in the arrays, functions in the source."""
    answer = arm.at_order("0").symbolic("python").dynamics()
    assert answer["g"].dtype == object
    assert "def " in answer.source["M"]
    with pytest.raises(UsageError, match="no formulas"):
        arm.at_order("exact").symbolic().jacobian()


@pytest.mark.parametrize("style", ["text", "latex", "python"])
def test_formulas_of_nothing_are_empty_and_a_warning_says_so(arm, style):
    """Where no coordinate is left: the shapes of the numbers, whichever style, and functions that run."""
    still = kronbot.loads("""
        kronbot: 1
        name: still
        gravity: [0, 0, 0]
        links: [{name: b, joint: {type: fixed}, pose: {}, rigid: {mass: 1}}]
        """)
    rigid = arm.at_order("0")
    asked = [
        ("linearize", rigid, {"lock": "all"}),
        *((name, still, {}) for name in ("linearize", "dynamics", "jacobian")),
    ]
    for question, robot, given in asked:
        formulas, numbers = (getattr(each, question)(**given) for each in (robot.symbolic(style, shared=True), robot))
        for name, array in formulas.arrays.items():
            assert name not in numbers or array.values.shape == numbers[name].shape
            assert 0 in array.values.shape
            if style == "python":
                exec(formulas.source[name], held := {})
                assert np.size(held[name](*[0.0] * held[name].__code__.co_argcount)) == 0
        assert "simplified" not in formulas.summary
        assert formulas.warnings == (f"nothing is left that moves: {', '.join(formulas)} have no entries",)


def test_nothing_in_an_answer_can_be_changed(arm):
    """Neither mappings nor numbers, by whatever name; answers can be put into sets."""
    answer, run = arm.jacobian(q=[0.1, 0.2]), arm.simulate(0.1, 0.05, solver="rodas")
    mappings = [answer.summary, answer.at, answer.at["q"], answer.arrays, run.series, run.units, arm.modes().summary]
    mappings += [arm.dynamics().arrays["M"].units, arm.description.values]
    for mapping in mappings:
        for write in (
            lambda held: held.__setitem__("x", 1), lambda held: held.__delitem__("x"), lambda held: held.__ior__({}),
            lambda held: held.update(x=1), lambda held: held.pop("x", None), lambda held: held.popitem(),
            lambda held: held.setdefault("x", 1), lambda held: held.clear(),
        ):  # fmt: skip
            with pytest.raises((TypeError, AttributeError)):
                write(mapping)
        for own in (pickle.loads(pickle.dumps(mapping)), copy.copy(mapping), copy.deepcopy(mapping)):
            assert type(own) is dict
            assert list(own) == list(mapping)
    for values in (answer["J_T"], answer.arrays["J_T"].values, run["t"], run.series["t"]):
        with pytest.raises(ValueError, match="cannot set WRITEABLE"):
            values.setflags(write=True)
        with pytest.raises(ValueError, match="read-only"):
            values[...] = 0
    assert len({answer, run, answer}) == 2


def test_what_a_file_says_cannot_be_changed(arm):
    told = arm.description
    for held in (told.values, told.overrides, told.tables, arm.with_parameters(EI=3).description.values):
        with pytest.raises(TypeError, match="does not support item assignment"):
            held["EI"] = 1.0


def test_an_answer_is_a_collection_of_names(arm):
    """Arrays, then columns."""
    assert "J_T" in arm.jacobian()
    assert "K_T" not in arm.jacobian()
    assert list(arm.jacobian()) == ["J_T", "J_R"]
    assert list(arm.simulate(0.1, 0.05, solver="rodas"))[0] == "t"


def test_entries_that_are_not_there(arm):
    """An error of kronbot's, with what there is, that is a KeyError; asking first costs none. Pickles do the same."""
    answer, run = arm.jacobian(q=[0.1, 0.2]), arm.simulate(0.1, 0.05, solver="rodas")
    for held in (answer, run, *pickle.loads(pickle.dumps((answer, run)))):
        mappings = (held.at, *held.at.values(), held.arrays, held.series, held.summary, held.units, held.source, held)
        for mapping in mappings:
            with pytest.raises(UnknownName, match=r"^no entry 'nome'; (there are|did)") as unknown:
                mapping["nome"]
            assert isinstance(unknown.value, KeyError)
            assert (unknown.value.name, list(unknown.value.known)) == ("nome", list(mapping))
            assert "nome" not in mapping
            with pytest.raises(UnknownName, match="have names"):
                mapping[1]
        assert [mapping.get("nome", 7) for mapping in mappings[:-1]] == [7] * (len(mappings) - 1)
    with pytest.raises(UnknownName, match="did you mean 'J_T'"):
        answer.arrays["J_t"]


def test_answers_can_be_pickled(arm):
    """For processes; they come back read-only, and equal: as many as there are are in a set of them and theirs."""
    answers = [arm.jacobian(q=[0.1, 0.2]), arm.simulate(0.1, 0.05, solver="rodas"), arm.symbolic().jacobian()]
    assert answers[0] == arm.jacobian(q=[0.1, 0.2]) and answers[0] != arm.jacobian(q=[0.1, np.nextafter(0.2, 1)])
    assert len({*answers, *pickle.loads(pickle.dumps(answers))}) == len(answers)
    for answer in answers:
        again = pickle.loads(pickle.dumps(answer))
        assert again.to_dict() == answer.to_dict()
        with pytest.raises(TypeError):
            again.summary["x"] = 1


@pytest.mark.parametrize(
    "copied", [rare(copy.copy), rare(copy.deepcopy), lambda each: pickle.loads(pickle.dumps(each))]
)
def test_what_robots_give_can_be_copied_and_compares_by_what_it_is(arm, copied):
    """Symbols of CasADi are those of one process, and no part of what is said: they are made anew."""
    other = arm.with_parameters(EI=30)
    for made, others in (
        (arm.description, [other.description]),
        (arm.symbolic(), [arm.symbolic(short=True), other.symbolic()]),
        (
            arm.export("jacobian"),
            [arm.export("jacobian", axes="body"), arm.export("mass_matrix"), other.export("jacobian")],
        ),
    ):
        again = copied(made)
        assert again == made and hash(again) == hash(made) and repr(again) == repr(made)
        assert not {made} & {*others} and made not in others
    assert copied(arm.symbolic()).jacobian() == arm.symbolic().jacobian()
    assert copied(arm.export("jacobian")).c() == arm.export("jacobian").c()
    assert hash(arm.model) and copied(arm.model).coordinates == arm.coordinates


def test_answers_are_frozen_and_tell_what_they_hold(arm):
    answer = arm.dynamics()
    with pytest.raises(dataclasses.FrozenInstanceError):
        answer.order = "2"
    assert repr(answer).startswith("<dynamics of arm, order 1; arrays: M, ")
    held = (arm, arm.model, arm.description, arm.symbolic(), arm.export("jacobian"), arm.sweep("check", {"order": [1]}))
    for each in held:  # who looks at something in a shell reads a line, no page
        assert repr(each).startswith("<") and "arm" in repr(each) and len(repr(each)) < 300
    assert np.linalg.eigvalsh(answer.arrays["M"]).min() > 0  # an Array is what NumPy takes
    copied = np.array(answer.arrays["M"], copy=True)
    assert copied is not answer["M"]


def test_values_of_pandas(arm):
    """A table has columns by name, a Series a value by name; without names, or with others, they are refused."""
    pandas = pytest.importorskip("pandas")
    rows = {"q2": [0.1, 0.3], "q1": [0.0, 0.2]}
    table = pandas.DataFrame(rows, index=[7, 5])
    assert np.array_equal(arm.hessian(table, qd=table)["a"], arm.hessian(rows, qd=rows)["a"])
    one = pandas.Series({"q2": 0.3, "q1": 0.2})
    assert np.array_equal(arm.jacobian(one)["J_T"], arm.jacobian({"q1": 0.2, "q2": 0.3})["J_T"])
    assert np.array_equal(arm.linearize(q=one, tau=one)["K_L"], arm.linearize(q=dict(one), tau=dict(one))["K_L"])
    for wrong, message in (
        (table.rename(columns={"q1": "q3"}), "no coordinate 'q3'"),
        (pandas.Series([0.1, 0.2]), "a name in q: text is wanted, not"),
        (pandas.DataFrame([[0.1, 0.2]]), "a name in q: text is wanted, not"),
        (pandas.DataFrame([[0.1, 0.2]], columns=["q1", "q1"]), "'q1' is given twice"),
        (pandas.Series({"q1": None}, dtype=float), "q: "),
    ):
        with pytest.raises(UsageError, match=message):
            arm.jacobian(wrong)
    with pytest.raises(UsageError, match="both place q1"):
        arm.statics(q=one, angles={"q1": [0, 1]})


def test_views_of_pandas(arm):
    pandas = pytest.importorskip("pandas")
    answer = arm.dynamics(qd={"q1": 1.0})
    assert answer.arrays["M"].to_pandas().loc["q1", "upper.v1"] == answer["M"][0, 1]
    assert isinstance(answer.arrays["tau"].to_pandas(), pandas.Series)
    stack = arm.jacobian({"q1": [0.0, 0.1]}).arrays["J_T"].to_pandas()
    assert stack.loc[(2, "x"), "q1"] == arm.jacobian({"q1": 0.1})["J_T"][0, 0]
    series = arm.simulate(solver="rodas").to_pandas()
    assert list(series.columns[:2]) == ["t", "q1"]
    with pytest.raises(UsageError, match="has no series"):
        answer.to_pandas()


def test_views_of_xarray(arm):
    pytest.importorskip("xarray")
    answer = arm.jacobian({"q1": [0.0, 0.1]}).to_xarray()
    assert answer["J_T"].sel({"case": 1, "J_T.row": "x", "J_T.column": "upper.v1"}) == 0.0
    assert answer.attrs == {"robot": "arm", "order": "1"}
    assert arm.jacobian().arrays["J_T"].to_xarray().attrs["units"]["rows"] == ["m", "m", "m"]
    assert arm.simulate(solver="rodas").to_xarray()["q1"].dims == ("t",)


def test_views_need_their_library(arm, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match="pip install pandas"):
        arm.simulate(solver="rodas").to_pandas()


def test_joints_to_lock_in_words(arm):
    """As on the command line."""
    every = list(arm.joints)
    for lock in ("all", ",".join(every), " , ".join(every), every):
        assert arm.linearize(lock=lock)["M_L"].shape == (arm.n - len(every),) * 2
    for lock, count in (("", 0), (",", 0), (f"{every[0]},", 1)):
        assert arm.linearize(lock=lock)["M_L"].shape == (arm.n - count,) * 2
    with pytest.raises(UsageError, match="no joint 'q1x'"):
        arm.linearize(lock="q1x")


def test_export(arm, tmp_path):
    """The same functions in three languages, equal to the method's answer."""
    exported = arm.export("mass_matrix", "pose")
    assert exported.functions == ("mass_matrix", "pose")
    q = np.linspace(0.1, 0.2, arm.n)
    M = arm.dynamics(q=q)["M"]
    module = {}
    exec(compile(exported.python(), "arm", "exec"), module)
    assert np.allclose(module["mass_matrix"](q.tolist()), M, rtol=1e-13)
    function = exported.casadi()["mass_matrix"]
    assert function.name() == "mass_matrix"
    source, header = exported.c("arm.h", prefix="my_arm", real="float")
    assert '#include "arm.h"' in source
    assert "my_arm_mass_matrix(const float" in header
    assert set(arm.export().functions) > {"forward_dynamics", "jacobian"}
    for wrong in (lambda: arm.export("nothing"), lambda: exported.c(prefix="1"), lambda: exported.c(real="long")):
        with pytest.raises(UsageError):
            wrong()


def test_complexity(arm):
    """As the command counts them."""
    answer = arm.complexity("inverse", links=[2, 3])
    assert list(answer.arrays["operations"].rows) == ["inverse"]
    assert answer["links"].tolist() == [2, 3]
    assert answer["modes"].tolist() == [2, 2]
    with pytest.raises(UsageError, match="function"):
        arm.complexity("everything")
    with pytest.raises(UsageError, match="links must be 1 to 128"):
        arm.complexity(links=[129])


def test_parameters_that_are_none(tmp_path):
    """Neither numbers nor text: told, by name."""
    with pytest.raises(UsageError, match="parameter EI: None"):
        kronbot.load("canadarm", parameters={"EI": None})


def test_a_urdf_becomes_a_robot(tmp_path):
    """Its text is a robot file."""
    mass = '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    joint = '<joint name="q" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>'
    (tmp_path / "r.urdf").write_text(f'<robot name="r"><link name="a"/><link name="b">{mass}</link>{joint}</robot>')
    translation = kronbot.convert(tmp_path / "r.urdf")
    assert kronbot.loads(translation.text).dynamics()["M"].tolist() == [[1.0]]
    with pytest.raises(UsageError):
        kronbot.convert(tmp_path / "none.urdf")


def test_arrays_of_numpy_are_taken_and_stay_writeable(arm):
    """Of any kind of number, wherever numbers are wanted; what is frozen is the answer."""
    q, rows = np.zeros(arm.n), np.zeros((2, arm.n))
    forces, angles = np.array([[0, -1, 0]]), np.array([0, 1])
    for answer in (
        arm.jacobian(q),
        arm.jacobian(rows),
        arm.dynamics(rows, qd=rows),
        arm.taylor(q=q, delta=q),
        arm.linearize(q, force=forces[0]),
        arm.statics(angles={arm.joints[0]: angles}, forces=forces),
        arm.simulate(np.float32(0.1), np.float64(0.05), q=q, solver="rodas"),
    ):
        assert len(list(answer)) > 0
    assert all(array.flags.writeable for array in (q, rows, forces, angles))
    assert kronbot.load("canadarm", parameters={"EI": np.int64(200_000)}).description.values["EI"] == 200_000


def test_a_summary_that_few_look_at_is_computed_when_it_is_looked_at(arm, monkeypatch):
    """Then and when it travels, the same numbers; what is not finite is refused there."""
    asked, dexterity = [], jacobian.dexterity
    monkeypatch.setattr(jacobian, "dexterity", lambda arrays: asked.append(1) or dexterity(arrays))
    answer = arm.jacobian([0.1, 0.2])
    assert not asked
    assert answer.summary["singular_value.T.1"] == pytest.approx(np.linalg.norm(answer["J_T"], 2))
    assert dict(pickle.loads(pickle.dumps(answer)).summary) == answer.summary
    assert len(asked) == 1
    with pytest.raises(TypeError):
        answer.summary["x"] = 1
    monkeypatch.setattr(jacobian, "dexterity", lambda arrays: {"condition": float("inf")})
    with pytest.raises(ComputationError, match="^condition is not finite"):
        arm.jacobian([0.1, 0.2]).to_dict()


@pytest.mark.slow
def test_statics_of_another_order():
    piedboeuf = kronbot.load("piedboeuf")
    first = piedboeuf.statics(q={"theta": 0.3}, order="1").to_dict()
    assert first == kronbot.load("piedboeuf", order=1).statics(q={"theta": 0.3}).to_dict()
    with pytest.raises(UsageError, match="order must be one of"):
        piedboeuf.statics(order="al")
    with pytest.raises(kronbot.errors.UsageError, match="a path is wanted"):
        piedboeuf.statics(q={"theta": 0.3}).plot(5)


def test_pickles_that_were_changed_are_refused():
    """Every byte of the content counts: of numbers of a file, of its values and order, of an answer's arrays."""
    robot = kronbot.load("khang", order="1", parameters={"EI": "25"})
    answer = robot.jacobian(q={"qa": 0.25})
    number = (np.float64(value).tobytes()[::-1] for value in (0.25, 0.75))  # as pickles have it
    changes = [
        (robot, b"l: 0.9", b"l: 0.8"), (robot, b"\x8c\x0225", b"\x8c\x0235"), (robot, b"\x8c\x011", b"\x8c\x012"),
        (answer, *number), (answer, b"1/rad", b"1/deg"),
    ]  # fmt: skip
    for thing, old, new in changes:
        written = pickle.dumps(thing)
        assert type(pickle.loads(written)) is type(thing)
        assert written.count(old), old
        with pytest.raises(UsageError, match=r"this pickle of (a robot|an answer) is not as it was written"):
            pickle.loads(written.replace(old, new))


@pytest.mark.parametrize("name", ["\x1b[2J\n\ud800", "x" * 10**6])
def test_names_of_a_caller_do_not_write_to_the_terminal(arm, name):
    data = {"q1": [0.1, 0.2], "endpoint.y": [0.1, 0.2]}
    for ask in (
        lambda: arm.fit({name: 1}),
        lambda: arm.fit(data, validate={name: 1}),
        lambda: arm.fit(data, sigma={name: "?"}),
        lambda: arm.fit(data, delay={name: "?"}),
        lambda: arm.sweep("modes", cases={name: 1}),
        lambda: arm.design(lqr=True, deviation={name: "?"}),
    ):
        with pytest.raises(UsageError) as refused:
            ask()
        assert str(refused.value).isprintable() and len(str(refused.value)) < 500


def test_names_of_arguments_that_are_none_are_told():
    """By every public function and method, whatever is behind it."""
    robot = kronbot.load("khang")
    answer, exported, formulas = robot.jacobian(), robot.export("jacobian"), robot.symbolic()
    objects = [answer, exported, formulas, robot.view(), robot.sweep("jacobian", over={"qa": [0, 1]}, keep="J_T[x,qa]")]
    methods = [
        getattr(each, name)
        for each in (robot, *objects)
        for name, member in vars(type(each)).items()
        if callable(member) and not name.startswith("_") and "**" not in str(inspect.signature(member))
    ]
    assert len(methods) > 40
    for called in (kronbot.load, kronbot.loads, kronbot.convert, *methods):
        with pytest.raises(UsageError, match="'nonsense'"):
            called(nonsense=1)


@pytest.mark.parametrize("ask", ["load('khang')", "load('khang').modes()", "load('khang').statics()"])
def test_who_calls_from_too_many_calls_is_told(ask):
    """In a process of its own, first, when all is imported, too: the answer, or an error of kronbot's; and the same
    question has its answer afterwards."""
    program = f"""
import sys, kronbot
from kronbot.errors import ComputationError
def deep(n):
    return deep(n - 1) if n else kronbot.{ask}
told = 0
for left in range(260, 20, -8):
    try:
        deep(sys.getrecursionlimit() - left)
    except ComputationError as error:
        told += "calls are nested too deep" in str(error)
assert told, "never"
kronbot.{ask}
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=100)
