"""Orders 1 and 2 beyond what they are made for: every question says so, by one measure, and names the exact order."""

import json

import numpy as np
import pytest
from robots_in_tests import model
from thinned import rare, thinned

from kronbot.cli.main import run
from kronbot.mechanics.static.small import beyond_small

pytestmark = pytest.mark.usefixtures("interpreted", "unmeasured")

ARM = """
kronbot: 1
name: arm
convention: standard
gravity: [0, -9.81, 0]
links:
  - name: upper
    joint: {type: revolute, name: q1, damping: 1}
    dh: {a: 1, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 0.1, EI: {z: 6}, modes: {v: 1}, shape: craig-bampton, damping: {ratio: 0.3}}
    payload: {mass: PAYLOAD}
simulate: {duration: 0.4, step: 0.1, drive: {q1: {pd: {kp: 900, kd: 60, target: 0}}}}
"""
QUESTIONS = {
    "statics": ["--q", "0", "--forces", "0,0,0"],
    "simulate": [],
    "linearize": ["--equilibrium"],
}


@pytest.fixture
def asked(tmp_path, capsys):
    """The summary of an answer and what is said on stderr."""

    def ask(question, payload, *options):
        path = tmp_path / "arm.yaml"
        path.write_text(ARM.replace("PAYLOAD", payload))
        assert run([question, str(path), *QUESTIONS[question], "--format", "json", *options]) == 0
        output, said = capsys.readouterr()
        return json.loads(output)["summary"], said

    return ask


@pytest.mark.parametrize("question", thinned([*QUESTIONS], ["linearize", "statics"]))
@pytest.mark.parametrize("order", [rare("1"), "2"])
def test_every_question_warns_beyond_a_tenth_of_the_length(question, order, asked):
    """The tip hangs down by some 0.2 m of 1 m under 0.35 kg, by 0.02 m under nothing."""
    summary, said = asked(question, "0.35", "--order", order)
    assert any(name.endswith("beyond_small_deflections") for name in summary)
    assert "which orders 1 and 2 are not made for: order exact holds" in said
    summary, said = asked(question, "0", "--order", order)
    assert not any(name.endswith("beyond_small_deflections") for name in summary)
    assert "made for" not in said


def test_an_arm_as_small_as_errors_that_are_allowed_is_told(tmp_path, capsys):
    """A nanometre long, and a metre: gravity and EI are scaled so that angles are the same."""
    scaled = ARM.replace("PAYLOAD", "0.1")
    for size, told in ((1, False), (1e-9, True)):
        file = tmp_path / "arm.yaml"
        small = {"-9.81": f"{-9.81 * size}", "a: 1,": f"a: {size},", "{z: 6}": f"{{z: {6 * size**3}}}"}
        small |= {
            "damping: 1}": "damping: 0}",
            "step: 0.1, drive: {q1: {pd: {kp: 900, kd: 60, target: 0}}}": "step: 0.1",
        }
        text = scaled
        for word, other in small.items():
            text = text.replace(word, other)
        file.write_text(text)
        assert run(["simulate", str(file), "--solver", "dop853"]) == 0
        assert ("may be off by 1e-10 (atol), and the arm reaches 1e-09 m" in capsys.readouterr().err) == told


TROUGH = """
kronbot: 1
name: trough
gravity: [0, 0, 0]
links:
  - name: trough
    joint: {type: prismatic, name: x, spring: {stiffness: 4e4}}
    pose: {rpy: [0, pi/2, 0]}
    rigid: {mass: 40}
  - name: motor
    joint: {type: revolute, name: a}
    pose: {xyz: [0, -SIZE, 0]}
    rigid: {mass: 5, inertia: {Izz: 1}}
endpoint: {link: trough}
simulate: {duration: 0.2, step: 0.1, drive: {x: {torque: 4e-8}}}
"""


@pytest.mark.parametrize(("size", "told"), [(0.2, False), (1e-9, True)])
def test_an_endpoint_in_the_origin_makes_no_arm_small(size, told, tmp_path, capsys):
    """The endpoint goes 2e-12 m at most, 4e-8 N by 4e4 N/m twice; a motor stands a size off it."""
    file = tmp_path / "trough.yaml"
    file.write_text(TROUGH.replace("SIZE", f"{size:g}"))
    assert run(["simulate", str(file)]) == 0
    said = capsys.readouterr().err
    assert ("the arm reaches 1e-09 m" in said) == ("may be off by 1e-10 (atol)" in said) == told


@pytest.mark.slow
def test_all_orders_side_by_side_warn_of_theirs(asked):
    summary, said = asked("statics", "0.35", "--order", "all")
    assert [summary.get(f"cases_beyond_small_deflections.{order}") for order in "012"] == [None, 1, 1]
    assert "1 case of order 1, 1 case of order 2: a beam bends" in said and "order exact holds for any" in said
    assert "made for" not in asked("statics", "0", "--order", "all")[1]


@pytest.mark.parametrize("question", thinned(list(QUESTIONS), ["linearize"]))
def test_the_exact_order_has_no_such_end_and_quiet_keeps_quiet(question, asked):
    summary, said = asked(question, "0.35", "--order", "exact")
    assert "made for" not in said
    assert not any(name.endswith("beyond_small_deflections") for name in summary)
    _, said = asked(question, "0.35", "--quiet")
    assert said == ""


def test_the_measure():
    """A tenth of the length by one clamped-free shape, 0.3 rad by the twist of a shaft; order 1 moves by v itself."""
    text = ARM.replace("PAYLOAD", "0").replace("v: 1", "v: 1, torsion: 1").replace("mass: 0.1,", "mass: 0.1, GJ: 1,")
    robot = model(text.replace("EI: {z: 6}", "polar_inertia: 0.01, EI: {z: 6}"), "1")
    rows = np.array([[0, 0.099, 0], [0, 0.101, 0], [0, 0, -0.299], [0, 0, -0.301], [2, 0, 0]])
    assert beyond_small(robot, rows, "a test").tolist() == [False, True, False, True, False]
    assert not beyond_small(model(text, "0"), np.zeros((2, 1)), "a test").any()
