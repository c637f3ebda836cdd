"""Other values of parameters make the robot that loading makes of them; robots are equal and travel."""

import copy
import multiprocessing
import operator
import pickle
import threading
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
from waiting import PATIENCE

import kronbot
from kronbot.errors import DescriptionError, FreeParameters, UsageError
from kronbot.library import arguments
from kronbot.model import build, shared

# An angle that may fold, a length that shapes what is traced, a free parameter, a limit, a gauge and a motion.
ARM = """
kronbot: 1
name: arm
convention: standard
gravity: [0, -9.81, 0]
parameters: {EI: 20, m: 0.2, a: 0, l: 0.9, c: , far: 2*l, rate: 1}
links:
  - name: upper
    joint: {type: revolute, name: q1, limits: [-1, l]}
    dh: {a: l, d: 0, alpha: a, theta: 0}
    flexible: {mass: 0.3, EI: {z: EI, y: 4*EI}, modes: {v: 1}, shape: clamped-mass}
    payload: {mass: m}
  - name: fore
    joint: {type: revolute, name: q2, damping: 1/(1 + c)}
    dh: {a: 0.4, d: 0, alpha: 0, theta: 3*a}
    rigid: {mass: 0.2, com: [-0.2, 0, 0], inertia: {Izz: 0.01}}
motion: {q1: {type: sinusoid, amplitude: 0.1, frequency: rate}}
statics: {gauges: [{name: g, link: upper, x: 0.1}]}
simulate: {duration: 0.02, step: 0.01}
"""
CHANGES = [
    {"EI": 30},
    {"EI": "EI_0"},
    {"m": 0.3},
    {"m": "0.1*l"},
    {"a": "pi/2"},
    {"a": "pi/6"},
    {"a": 0.1},
    {"a": 7.5},
    {"c": 2},
    {"c": 2, "EI": "far/c"},
    {"rate": "c"},
    {"m": -0.1},
    {"l": 0.05},
    {"EI": 0},
    {"c": -1},
    {"c": "1/(l - 0.9)"},
    {"l": "m", "m": "far"},
    {"l": "far"},
    {"x": 1},
    {"l": "c"},
    {"EI": 1e400},
    {"EI": "2 +"},
]


def told(ask):
    """All digits of an answer, or the kind and words of an error."""
    try:
        return repr(ask())
    except kronbot.errors.KronbotError as error:
        return type(error), str(error)


ASKS = [
    lambda robot: robot.jacobian([0.95, 0.2], qd={"q1": 1}).to_dict(),
    lambda robot: robot.dynamics([0.1, 0.2], qd={"q2": 1}).to_dict(),
    lambda robot: robot.check().to_dict(),
    lambda robot: robot.description.warnings,
]


@pytest.mark.slow
@pytest.mark.parametrize(("motion", "every"), [(None, 1), ("q1: {type: sinusoid, amplitude: 7*m, frequency: 1/c}", 6)])
def test_other_values_make_the_robot_that_loading_makes(motion, every):
    """To the last bit and in the same words, one change after another, back again, and all on top of each other."""
    first = kronbot.loads(ARM, order="1")
    first = first if motion is None else first.with_motion(motion)
    for ask in ASKS:
        told(lambda ask=ask: ask(first))
    found = []

    def loaded(changes):
        robot = kronbot.loads(ARM, parameters=changes, order="1")
        return robot if motion is None else robot.with_motion(motion)

    for changes in (*CHANGES[::every], {}, *CHANGES[4:6]):
        outcomes = []
        for make in (lambda c=changes: first.with_parameters(**c), lambda c=changes: loaded(c)):
            try:
                robot = make()
            except kronbot.errors.KronbotError as error:
                outcomes.append((type(error), str(error), [m.text for m in getattr(error, "mistakes", ())]))
            else:
                outcomes.append([told(lambda ask=ask, robot=robot: ask(robot)) for ask in ASKS])
        assert outcomes[0] == outcomes[1], changes
        found.append(outcomes[0])
    kinds = {outcome[0] for outcome in found if isinstance(outcome, tuple)}
    assert kinds >= {DescriptionError, UsageError}
    assert {each[0] for outcome in found for each in outcome if isinstance(each, tuple)} >= {FreeParameters}


def test_numbers_of_one_value_shape_a_trace_each():
    """The inertias of a payload about two axes, the same at first, of which one changes."""
    text = ARM.replace("parameters: {", "parameters: {Jy: 0.05, Jz: 0.05, ")
    text = text.replace("{mass: m}", "{mass: m, inertia: {Ixx: 0.05, Iyy: Jy, Izz: Jz}}").replace("c: ,", "c: 1,")
    robot = kronbot.loads(text)
    for changes in ({"Jy": 0.09}, {"Jz": 0.09}):
        changed, loaded = robot.with_parameters(**changes), kronbot.loads(text, parameters=changes)
        assert changed.modes().to_dict() == loaded.modes().to_dict()


def test_changes_add_up():
    robot = kronbot.loads(ARM).with_parameters(c=2).with_parameters(EI="far/c").with_parameters(l=0.8)
    fresh = kronbot.loads(ARM, parameters={"c": 2, "EI": "far/c", "l": 0.8})
    assert robot == fresh
    assert robot.description == fresh.description
    assert robot.dynamics([0.1, 0.2]).to_dict() == fresh.dynamics([0.1, 0.2]).to_dict()


@pytest.mark.slow
def test_structures_that_were_left_come_back(monkeypatch):
    """What shapes a trace, there and back: built once; and no more of them are remembered than a few."""
    robot, built, build_anew = kronbot.loads(ARM, parameters={"c": 1}), [], build.build
    monkeypatch.setattr(build, "build", lambda *given, **named: built.append(1) or build_anew(*given, **named))
    for _ in range(2):
        turned = robot.with_parameters(a="pi/2")
        straight = turned.with_parameters(a=0)
        assert turned.dynamics().to_dict() != straight.dynamics().to_dict()
        assert straight.model.links is robot.model.links
    assert len(built) == 1
    for k in range(2 * shared.MOST_STRUCTURES):
        robot = robot.with_parameters(m=0.1 + k / 100)
    assert len(robot.model.relatives) == shared.MOST_STRUCTURES


def test_a_second_value_reads_nothing(monkeypatch):
    robot = kronbot.loads(ARM).with_parameters(c=1)
    monkeypatch.setattr(kronbot.description.loading, "load", lambda *given: pytest.fail("loaded"))
    monkeypatch.setattr(kronbot.description.yaml.composing, "compose_leniently", lambda source: pytest.fail("composed"))
    assert robot.with_parameters(EI=40).description.values["EI"] == 40


def test_equal_robots(tmp_path):
    """By their text, tables, motion, order and values, however these were written; pi is no decimal number."""
    robot = kronbot.loads(ARM)
    for same in ({"EI": "20"}, {"EI": 20}, {"EI": "sqrt(400)"}, {"far": "1.8"}):
        other = robot.with_parameters(**same)
        assert other == robot
        assert {robot: 1}[other] == 1
    for different in (
        robot.with_parameters(EI=21),
        robot.with_parameters(c=1),
        robot.at_order(1),
        robot.with_motion("q1: {type: sinusoid, amplitude: 1, frequency: 1}"),
        robot.with_parameters(a="pi/2"),
        kronbot.loads(ARM + "# another text\n"),
    ):
        assert different != robot
    assert robot.with_parameters(a="pi/2") != robot.with_parameters(a=np.pi / 2)
    assert robot != "arm"
    text = ARM.replace("sinusoid, amplitude: 0.1, frequency: rate", "table, file: t.csv")
    robots = []
    for last in ("0.3", "0.3", "0.4"):
        (tmp_path / "t.csv").write_text(f"t,q1\n0,0\n1,0.1\n2,0.2\n3,{last}\n")
        (tmp_path / "arm.yaml").write_text(text)
        robots.append(kronbot.load(tmp_path / "arm.yaml"))
    assert robots[0] == robots[1] != robots[2]
    (tmp_path / "t.csv").unlink()
    assert pickle.loads(pickle.dumps(robots[2])) == robots[2]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda robot: pickle.loads(pickle.dumps(robot))])
def test_copies_are_equal(copied):
    robot = kronbot.loads(ARM, order="1").with_parameters(c=2).with_motion("q2: {type: spin-up, rate: c, duration: 1}")
    assert copied(robot) == robot
    assert hash(copied(robot)) == hash(robot)


@pytest.mark.slow
def test_a_pool_of_processes_that_are_spawned():
    """Robots go there and come back with answers, which have the bits of those here and stay read-only."""
    robots = [kronbot.loads(ARM, parameters={"c": 1}).with_parameters(m=0.1 + k) for k in range(3)]
    asked = [operator.methodcaller("jacobian", [0.1, 0.2]), operator.methodcaller("dynamics", [0.1, 0.2])]
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        assert list(pool.map(copy.copy, robots, timeout=PATIENCE)) == robots
        found = [list(pool.map(ask, robots, timeout=PATIENCE)) for ask in asked]
    for ask, answers in zip(asked, found, strict=True):
        assert [each.to_dict() for each in answers] == [ask(robot).to_dict() for robot in robots]
    with pytest.raises(ValueError, match="read-only"):
        found[0][0]["J_T"][0] = 1
    with pytest.raises(TypeError):
        found[0][0].summary["x"] = 1


@pytest.mark.slow
def test_a_robot_that_was_asked_never_changes():
    """Symbols and traces are those of the first time, whatever the values are that are asked with."""
    robot = kronbot.loads(ARM, parameters={"c": 1})
    parameters = robot.model.parameters

    def ask(k):
        robot.jacobian([0.1, k])
        robot.dynamics([0.1, k], qd=[1, k])
        robot.linearize([0.1, 0.2], force=[0, k, 0])
        robot.modes([0.1, k])
        robot.statics([0.1, 0.2], forces=[[0, -k, 0]])
        robot.simulate(0.01 + k / 1000, 0.01, q={"q1": 0.1 * k})
        robot.check()
        return parameters.extent, parameters.shaping, set(parameters._structure.kept)

    assert ask(1) == ask(2) == ask(3)


@pytest.mark.slow
def test_threads_with_values_of_their_own():
    """Eight at once, of one structure and of others, traced while the others ask: the bits of one after another."""
    values = [{"EI": 20 + k, "c": 1} if k % 2 else {"a": ("pi/2", "0.1")[k // 4], "c": k} for k in range(8)]
    asks = ASKS[:3]
    wanted = [[told(lambda a=a, v=v: a(kronbot.loads(ARM, parameters=v))) for a in asks] for v in values]
    shared, found, together = kronbot.loads(ARM), [None] * 8, threading.Barrier(8)

    def work(k):
        together.wait()
        found[k] = [told(lambda a=a: a(shared.with_parameters(**values[k]))) for a in asks]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == wanted


def test_a_file_without_parameters_is_written_again_as_it_is():
    puma = kronbot.load("puma560")
    assert puma.rewritten({}).endswith(kronbot.load("puma560").description.source.text)


@pytest.mark.parametrize("value", ["nan", "1e5:2e5:3", "1}\nfoo: {a", "1 # no"])
def test_what_is_no_value_is_not_written(value):
    with pytest.raises(UsageError, match="the value of parameter 'EI'"):
        kronbot.load("canadarm").rewritten({"EI": value})


@pytest.mark.parametrize("count", [10**15, 10**30])
def test_lists_that_know_their_length_are_not_counted(count, monkeypatch):
    monkeypatch.setattr(arguments, "islice", None)
    with pytest.raises(UsageError, match="more than"):
        kronbot.load("khang").dynamics(q=range(count))
