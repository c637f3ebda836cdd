"""Many cases of one question: each is answered as alone, bit for bit, whatever is answered with it."""

import copy
import errno
import pickle
import signal
from contextlib import suppress
from functools import partial

import pytest
from hypothesis import strategies as st
from random_robots import decimals, robots, states, to_yaml
from thinned import drawn, thinned

import kronbot
from kronbot.compute import trace
from kronbot.errors import (
    ComputationError,
    DescriptionError,
    Interrupted,
    KronbotError,
    Starved,
    UnknownName,
    UsageError,
)
from kronbot.library import cases as many
from kronbot.questions import check
from kronbot.sweeps.work import Case

QUESTIONS = ("jacobian", "hessian", "dynamics", "modes", "linearize", "statics")


def said(answer):
    """All of an answer or an error, to the last bit."""
    if answer is None:
        return None
    if isinstance(answer, KronbotError):
        return type(answer), answer.args, answer.partial and said(answer.partial)
    arrays = {name: (each.values.tobytes(), each.values.flags.c_contiguous) for name, each in answer.arrays.items()}
    series = {name: each.tobytes() for name, each in answer.series.items()}
    told = {name: type(value).__name__ for name, value in answer.summary.items()}
    return answer.to_dict(), arrays, series, told, pickle.dumps(answer.asked), answer.model.description.values


def alone(robot, question, case):
    """The answer as somebody asks for it who knows of no other case."""
    try:
        own = robot.with_parameters(**case.parameters) if case.parameters else robot
        arguments = dict(case.arguments)
        order = arguments.pop("order", None)
        return getattr(own if order is None else own.at_order(order), question)(**arguments)
    except KronbotError as error:
        return error
    except TypeError:  # of an argument that is not there
        return None


def with_parameters(data, robot):
    """The text of a robot some of whose numbers are parameters, and their values by name."""
    values, robot = {}, copy.deepcopy(robot)
    for link in robot["links"]:
        entries = [
            (link.get("dh"), ("a", "d", "theta")),
            (link.get("rigid"), ("mass",)),
            (link.get("payload"), ("mass",)),
        ]
        beam = link.get("flexible")
        entries += [(beam, ("mass",)), (beam and beam["EI"], ("y", "z"))]
        for holder, keys in entries:
            for key in keys:
                if holder and isinstance(holder.get(key), float) and data.draw(st.booleans()):
                    values[f"p{len(values)}"], holder[key] = holder[key], f"p{len(values)}"
    return to_yaml(robot | ({"parameters": values} if values else {})), values


@drawn(1, 2, st.data())
def test_cases_of_random_robots_are_answered_as_alone(tmp_path_factory, data):
    drawn = data.draw(robots(max_links=3))
    text, values = with_parameters(data, drawn)
    path = tmp_path_factory.mktemp("robot") / "robot.yaml"
    path.write_text(text)
    robot, question = kronbot.load(path), data.draw(st.sampled_from(QUESTIONS))
    cases = []
    for _ in range(data.draw(st.integers(2, 5))):
        factor = data.draw(st.sampled_from([1.0, 0.5, -1.0, 0.0]) | decimals(0.5, 2))
        arguments = {"order": data.draw(st.sampled_from(["0", "1", "2"]))} if data.draw(st.booleans()) else {}
        q, qd, _ = data.draw(states(drawn))
        joints = [joint.index for joint in robot.model.joints]
        if data.draw(st.booleans()):
            arguments["q"] = q[joints].tolist()
        if question != "statics" and data.draw(st.booleans()):
            arguments["qd"] = qd[joints].tolist()
        if question == "statics":
            arguments["solver"] = data.draw(st.sampled_from(["linear", "newton"]))
        cases.append(Case({name: value * factor for name, value in values.items()}, arguments))
    wanted = [said(alone(robot, question, case)) for case in cases]
    assert [said(answer) for answer in kronbot.load(path).answers(question, cases)] == wanted


ARM = """
kronbot: 1
name: arm
convention: standard
gravity: [0, -9.81, 0]
parameters: {EI: 200, m: 1, turn: 0.3}
links:
  - name: l1
    joint: {type: revolute, name: q1, limits: [-1, 1]}
    dh: {a: 1, d: 0, alpha: 0, theta: turn}
    flexible: {mass: 1, EI: {y: EI, z: EI}, modes: {v: 1, w: 0}}
    payload: {mass: m}
simulate: {duration: 0.02, step: 0.01}
"""
CASES = (
    Case({"EI": 100.0, "m": 0.5}, {"q": {"q1": 0.1}}),
    Case({"EI": "2*m", "m": 100}, {"q": {"q1": 2}, "qd": {"q1": 1}}),
    Case({"EI": -1.0}, {}),
    Case({"turn": "pi/2"}, {"q": {"q1": 0.1}}),
    Case({}, {"q": {"q7": 1}}),
    Case({"m": 3}, {"order": 0}),
    Case({"m": 4}, {"order": 0, "colour": "red"}),
    Case({"m": 5}, {"q": [[0.1], [0.2]]}),
    Case({"m": 6}, {"order": "all"}),
    Case({"m": 0.25}, {"q": {"q1": 0.2}}),
)


@pytest.fixture
def arm(tmp_path):
    (tmp_path / "arm.yaml").write_text(ARM)
    return kronbot.load(tmp_path / "arm.yaml")


@pytest.mark.parametrize("question", thinned(many.TOGETHER, ["dynamics"]))
def test_blocks_of_any_size_have_one_answer(arm, monkeypatch, question):
    """Errors stand in their place, other structures and orders are answered apart, limits are told."""
    rates = question not in ("kinematics", "statics")
    cases = CASES if rates else [Case(p, {word: a[word] for word in a if word != "qd"}) for p, a in CASES]
    wanted = [said(answer) for answer in map(partial(alone, arm, question), cases)]
    for size in (3, len(cases)) if question == "dynamics" else (3,):
        monkeypatch.setattr(many, "BLOCK", size)
        found = [said(answer) for answer in arm.answers(question, cases)]
        assert found[:5] + found[9:] == wanted[:5] + wanted[9:]
        assert found[5] == wanted[5] and found[7] == wanted[7]
        assert (
            found[6][0] is UnknownName
            and f"{question} takes no 'colour'" in "".join(found[6][1])
            and found[8][0] is UsageError
        )
    if question == "statics":  # under so much weight there is no equilibrium
        assert wanted[1][0] is ComputationError
    else:
        told = next(each for each in wanted[1][0]["warnings"] if "limit" in each)
        alone_at = "by up to 1.02 rad, first at t = 0 s" if question == "simulate" else "by 1 rad"
        assert told == f"q1 is beyond its limit of 1 rad {alone_at}"
    assert wanted[2][0] is DescriptionError and wanted[4][0] is UnknownName


@pytest.mark.parametrize("question", many.QUESTIONS)
def test_arguments_that_a_question_does_not_take_are_named(arm, question):
    """With what may have been meant; names of callers are escaped, the library's own words for itself are none."""
    wrong = [
        ({}, {"ordr": 1}, f"{question} takes no 'ordr'; did you mean 'order'?"),
        ({}, {"\x1b[2J": 1}, f"{question} takes no '\\x1b[2J'"),
        ({}, {"self": 1}, f"{question} takes no 'self'"),
        ({}, {1: 2}, "a name in arguments: text is wanted, not 1"),
        ({"self": 1}, {}, "unknown parameter 'self'"),
        ({1: 2}, {}, "a name in parameters: text is wanted, not 1"),
    ]
    for (*_, message), answer in zip(wrong, arm.answers(question, [Case(p, a) for p, a, _ in wrong]), strict=True):
        assert isinstance(answer, UsageError) and str(answer).startswith(message) and str(answer).isprintable()
    if question != "linearize_along":
        with pytest.raises(UnknownName, match=f"{question} takes no 'ordr'; did you mean 'order'"):
            arm.sweep(question, over={"EI": [100, 200]}, ordr=1)


def test_cases_are_evaluated_together(arm, monkeypatch):
    counts, buffered = [], trace.Traced.buffered
    monkeypatch.setattr(
        trace.Traced,
        "buffered",
        lambda traced, count=1, *given: counts.append(count) or buffered(traced, count, *given),
    )
    cases = [Case({"EI": 100.0 + i, "m": 1.0}, {"q": {"q1": 0.1 * i}}) for i in range(8)]
    for question in sorted({*many.TOGETHER} - {"simulate"}):
        assert len(list(arm.answers(question, cases))) == 8
        assert 8 in counts, question
        counts.clear()


def test_what_a_trace_is_shaped_by_is_found_out_while_it_is_made(arm):
    """Robots that differ in an angle alone have one structure until somebody traces what folds it."""
    cases = [Case({"turn": angle}, {}) for angle in ("pi/2", 0.2, "pi")]
    wanted = [said(alone(arm, "jacobian", case)) for case in cases]
    fresh = pickle.loads(pickle.dumps(arm))
    assert [said(answer) for answer in fresh.answers("jacobian", cases)] == wanted


GAUGED = (
    ARM.replace("parameters: {", "parameters: {zero: 0, up: 0.5, ")
    + """
statics:
  angles: {q1: [0, up, 1]}
  forces: [[0, 0, 0], [0, -m, 0]]
  loads: [{frame: l1, force: [m, 0, 0]}]
  gauges: [{name: g1, link: l1, x: 0.1}]
  calibration: {q1: zero}
"""
)
OF_STATICS = (
    ({}, {}),
    ({"up": 0.6, "zero": 1}, {}),
    ({"up": "pi/2 - turn", "m": 60}, {}),  # upright it buckles
    ({"m": 5000}, {}),  # where gauges are to be zero, too
    ({"m": 0}, {}),
    ({}, {"q": {"q1": 0.4}}),
    ({"EI": 30}, {"q": {"q1": 0.4, "l1.v1": 0.1}}),
    ({"EI": 20}, {"q": {"q1": 0.4}, "forces": [[1, 2, 3]]}),
    ({}, {"loads": {"l1": [0, 1, 0]}}),
    ({"EI": 20}, {"loads": {"l1": [0, -1, 0, 0, 0, 0.5]}, "q": {"q1": 1}}),
    ({}, {"tau": {"q1": 10}, "q": {"q1": -1.5}}),
    ({"EI": 50}, {"tau": {"q1": -10}, "q": {"q1": -1.5}}),
    ({}, {"buckling": True, "q": {"q1": 1.5}}),
    ({}, {"angles": {"q1": [k / 40 for k in range(40)]}}),
)


@pytest.mark.slow
@pytest.mark.parametrize(("solver", "order"), [("linear", "exact"), ("newton", "2")])
def test_inquiries_of_statics_are_answered_side_by_side(solver, order):
    """Also where some of their cases have no equilibrium; the others of these go on."""
    robot = kronbot.loads(GAUGED, order=order)
    some = OF_STATICS[:4] + OF_STATICS[5:12:2] + OF_STATICS[12:]
    rest = some if solver == "newton" else [each for each in OF_STATICS[1::2] if "tau" not in each[1]]
    cases = [Case({"EI": 100 + i} | p, a | {"solver": solver}) for p, a in rest for i in range(2)]
    wanted = [said(alone(robot, "statics", case)) for case in cases]
    found = [said(answer) for answer in kronbot.loads(GAUGED, order=order).answers("statics", cases)]
    assert found == wanted
    failed = [each for each in wanted if each[0] is ComputationError]
    assert (solver == "linear" and not failed) or [bool(each[2]) for each in failed] == [True, True, False, False]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lengths", "solver"),
    [([0.5, 0.7, 0.7], "newton"), ([1.0, 0.5, 1.0, 0.5], "linear")],
)
def test_places_that_shape_what_is_traced_are_those_of_each_robot(lengths, solver):
    """A gauge at a fixed place of a beam whose length differs: what is seen there is traced after the equilibria."""
    text = GAUGED.replace("a: 1,", "a: long,").replace("parameters: {", "parameters: {long: 1, ")
    text = text.replace("  calibration: {q1: zero}\n", "")  # for which one robot's gauges are looked at first
    cases = [Case({"long": a, "m": m}, {"solver": solver}) for m in (0.1, 0.2) for a in lengths]
    wanted = [said(alone(kronbot.loads(text), "statics", case)) for case in cases]
    assert [said(answer) for answer in kronbot.loads(text).answers("statics", cases)] == wanted
    assert all(each[0] is not ComputationError for each in wanted)


@pytest.mark.slow
def test_equilibria_of_linear_models_are_found_side_by_side():
    """Those that have none say so, as alone; rows of one robot keep those before."""
    over = [{"EI": 100 + i, "m": m} for i, m in enumerate((30, 1, 0.1, 2))]
    cases = [Case(p, {"equilibrium": True, "q": {"q1": q}, "force": [0, -0.1, 0]}) for p in over for q in (0.3, 0.8)]
    cases.append(Case({}, {"equilibrium": True, "qd": {"q1": 3}}))
    robot = kronbot.loads(ARM)
    wanted = [said(alone(robot, "linearize", case)) for case in cases]
    assert [said(answer) for answer in kronbot.loads(ARM).answers("linearize", cases)] == wanted
    assert sum(each[0] is ComputationError for each in wanted) == 1
    heavy = robot.with_parameters(m=30, EI=100)
    with pytest.raises(ComputationError, match="case 3: .*no stable path") as caught:
        heavy.linearize(equilibrium=True, q={"q1": [-0.3, 0, 0.8, 0.1]})
    found = caught.value.partial
    assert found.summary["cases"] == 2
    alone_there = heavy.linearize(equilibrium=True, q={"q1": 0})
    assert found["M_L"][1].tobytes() == alone_there["M_L"].tobytes()


def test_an_interruption_is_no_answer_of_a_case(arm, monkeypatch):
    """At Ctrl-C nothing is said of the cases that are left; the ``seconds`` of one case are its own."""

    def stopped(self, *, loud=False, **given):
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT) if loud else None
        raise Interrupted("interrupted")

    monkeypatch.setattr(type(arm), "check", stopped)
    assert [type(each) for each in arm.answers("check", [Case({}, {}), Case({"m": 2}, {})])] == [Interrupted] * 2
    with pytest.raises(Interrupted):
        next(arm.answers("check", [Case({}, {"loud": True})]))


def test_a_limit_of_the_process_is_no_answer_of_a_case(arm, monkeypatch):
    """All of them would meet it, and a sweep would keep that; want of memory may be of one that asks for much."""

    def starved(self, *, error):
        raise error

    monkeypatch.setattr(type(arm), "check", starved)
    library = ImportError("libscipy_openblas.so: failed to map segment from shared object")
    for error, told in (
        (library, "cannot load a library: this takes more memory than there is"),
        (OSError(errno.EMFILE, "Many"), "ulimit -n"),
    ):
        with pytest.raises(ComputationError, match=told):
            next(arm.answers("check", [Case({}, {"error": error})]))
    (found,) = arm.answers("check", [Case({}, {"error": MemoryError()})])
    assert "more memory than there is" in str(found) and isinstance(found, Starved)


def test_check_says_nothing_of_frequencies_that_somebody_interrupts(arm, monkeypatch):
    def stopped(robot):
        raise Interrupted("interrupted")

    monkeypatch.setattr(check, "natural_frequencies", stopped)
    with pytest.raises(Interrupted):
        arm.check()
