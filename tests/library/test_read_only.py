"""Nothing that a robot holds or answers can be changed."""

import ast
import copy
import dataclasses
import json
import pickle
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from pathlib import PurePath

import casadi
import numpy as np
import pytest

import kronbot
from kronbot.cached import cached_property
from kronbot.compute.deferred import Deferred
from kronbot.description.wording import Entries
from kronbot.errors import UnknownName
from kronbot.questions.result import Result

# Of all that a file may say something that holds others: tables, controllers, a fit, a sweep, elements, shafts, gauges.
FULL = """
kronbot: 1
name: full
convention: standard
parameters: {EI: 100, c: 0.01, free: null}
gravity: [0, -9.81, 0]
links:
  - name: upper
    joint:
      type: revolute
      name: q1
      elastic: {stiffness: 1e3}
      bearing: {stiffness: {x: 2e4}}
    dh: {a: 1, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 2, EI: {z: EI, y: EI}, GJ: 50, polar_inertia: 0.01, modes: {v: 2, torsion: 1}}
  - name: lower
    joint: {type: revolute, name: q2, limits: [-1, 1], stops: {stiffness: 1e3}}
    dh: {a: 1, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 1, com: [-0.5, 0, 0]}
elements: [{name: e, type: spring, between: [base, lower], stiffness: 10, rest: 1}]
motion: {q1: {type: cycloidal, from: 0, to: 1, duration: 2}, q2: {type: table, file: t.csv}}
control: {q1: {pid: {kp: 9, kd: 1}, target: motion}}
simulate: {duration: 1, drive: {q2: {motion: {type: sinusoid, amplitude: 1, frequency: 1}}}}
statics: {angles: {q1: [0, 1]}, gauges: [{name: g, link: upper, x: 0.5}], calibration: {q2: 0.1}}
fit: {question: statics, data: d.csv, parameters: {EI: {from: 1, to: 1e3}}, sigma: {endpoint: 1e-3}}
sweep: {question: modes, options: {order: [1, 2]}, over: {EI: "1:2:3"}}
"""
ATOMS = (str, int, float, bool, type(None), Fraction, PurePath, range, slice, partial)
# What Python and CasADi have in no other way: syntax and expressions.
FOREIGN = (ast.AST, casadi.SX, casadi.Function)


def held(value: object, path: str, seen: dict[int, object]) -> Iterator[str]:
    """Paths to what can be changed of all that a value holds under public names."""
    if isinstance(value, ATOMS + FOREIGN) or callable(value) or id(value) in seen:
        return
    seen[id(value)] = value
    if isinstance(value, np.ndarray):
        if value.flags.writeable:
            yield path
    elif isinstance(value, Entries | tuple | frozenset):
        for name, each in value.items() if isinstance(value, Entries) else enumerate(value):
            yield from held(each, f"{path}[{name!r}]", seen)
    elif not type(value).__module__.startswith("kronbot."):
        yield f"{path}: {type(value).__name__}"
    if type(value).__module__.startswith("kronbot.") and not isinstance(value, Entries):
        slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
        for name in {*getattr(value, "__dict__", ()), *slots}:
            if not name.startswith("_"):
                yield from held(getattr(value, name), f"{path}.{name}", seen)


def test_nothing_that_a_robot_holds_can_be_changed(tmp_path):
    rows = "\n".join(f"{i / 4},{i * i / 16}" for i in range(9))
    (tmp_path / "t.csv").write_text(rows)
    (tmp_path / "full.yaml").write_text(FULL)
    robot = kronbot.load(tmp_path / "full.yaml").with_parameters(EI=200)
    for part in (robot.description, robot.model):  # with all that it finds out when it is asked
        for name in (name for name, each in vars(type(part)).items() if isinstance(each, cached_property)):
            getattr(part, name)
    seen: dict[int, object] = {}
    assert [*held(robot.description, "description", seen), *held(robot.model, "model", seen)] == []
    assert len(seen) > 100 and robot.model.motions.keys() == {"q1", "q2"}
    file = robot.description.robot
    for mapping in (file.parameters, file.motion, file.control.joints, file.statics.angles, robot.model.motions):
        with pytest.raises(TypeError, match="makes a copy"):
            mapping.clear()
    for again in (pickle.loads(pickle.dumps(robot)), copy.copy(robot), copy.deepcopy(robot)):
        assert again == robot and again.description.robot == file and again.with_parameters(c=1) != robot


def test_what_is_made_of_an_array_of_an_answer_stays_with_who_made_it():
    answer = kronbot.load("khang").dynamics([0.1])
    moved = Result("c", "r", "1", series={"t": np.array([0.0, 1.0]), "q": np.array([2.0, 3.0])})
    content = answer.to_dict(), moved.to_dict()
    given = [answer["M"], answer.arrays["M"].values, np.asarray(answer.arrays["M"]), answer["C_star"], moved["t"]]
    series = moved.series
    ways = [
        series.values,
        series.copy,
        lambda: dict(series),
        lambda: {**series},
        lambda: series | {},
        lambda: {} | series,
    ]
    for found in (way() for way in ways):
        given += found.values() if isinstance(found, dict) else found
    given += [series["t"], series.get("t"), *(each for _, each in series.items())]
    for array in given:
        array.shape = (-1,)
        array.dtype = np.int64
        array.shape = (1, -1, 1)
    assert (answer.to_dict(), moved.to_dict()) == content and answer["M"].shape == (2, 2)
    again = dataclasses.replace(moved, command="d"), dataclasses.asdict(moved)
    assert all(np.array_equal(series["q"], each["q"]) for each in (again[0].series, again[1]["series"]))
    assert series.get("x") is None and "x" not in series and len(series.items()) == len(series)


def test_a_summary_that_comes_later_is_a_mapping_as_all_others():
    answer = kronbot.load("khang").statics([0.1])
    assert type(vars(answer)["summary"]) is Deferred
    summary = answer.summary
    assert json.loads(json.dumps(summary)) == summary == summary.copy() == summary | {} and summary
    assert [*reversed(summary)] == [*summary][::-1] and type(summary.copy()) is dict
    with pytest.raises(AttributeError):
        summary.other = 1
    with pytest.raises(UnknownName):
        _ = summary["other"]


def test_robots_take_nothing_on():
    robot, other = kronbot.load("khang"), kronbot.load("canadarm")
    for name in ("gravity", "_model", "model"):
        with pytest.raises(AttributeError, match="a robot never changes"):
            setattr(robot, name, other.model)
    robot.__init__(other.model)
    assert robot == kronbot.load("khang") and robot.name == "khang"


def test_entries_are_not_filled_again():
    answer = kronbot.load("khang").kinematics([0.1])
    for mapping in (answer.source, answer.summary, answer.at):
        before = dict(mapping)
        mapping.__init__({"a": 1}, b=2)
        assert mapping == before
    assert Entries({"a": 1}, b=2) == Entries([("a", 1), ("b", 2)]) == {"a": 1, "b": 2}
