"""Links and joints may be called like words of columns: answers, tables, pages and pictures are those of any names."""

import json

import numpy as np
import pytest

import kronbot
from kronbot.cli.output.charts import chart
from kronbot.plots import simulate, statics
from kronbot.questions.columns import swings, unit_of_kept
from kronbot.questions.given_columns import given_columns
from kronbot.questions.noise import without_rounding
from kronbot.questions.tables import columns_shown, summarized

TEXT = """
kronbot: 1
name: names
convention: standard
gravity: [0, 0, -9.81]
links:
  - name: LINK1
    joint: {type: revolute, name: JOINT1, damping: 0.1}
    dh: {a: 0.5, d: 0.1, alpha: pi/2, theta: 0}
    rigid: {mass: 1, com: [-0.2, 0, 0], inertia: {Ixx: 0.1, Iyy: 0.1, Izz: 0.1}}
  - name: LINK2
    joint: {type: prismatic, name: JOINT2, damping: 0.1}
    dh: {a: 0.5, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 1, EI: {z: 40}, modes: {v: 1}}
  - name: LINK3
    joint: {type: revolute, name: JOINT3, damping: 0.1}
    dh: {a: 0.5, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 1, com: [-0.2, 0, 0], inertia: {Ixx: 0.1, Iyy: 0.1, Izz: 0.1}}
simulate: {duration: 0.02, step: 0.01}
statics:
  angles: {JOINT1: [0, 1], JOINT2: [0, 0.1]}
  forces: [[0, 0, 0], [0, 0, -1]]
  gauges: [{name: LINK1, link: LINK2, x: 0.1}]
"""
PLAIN = {"LINK": "body", "JOINT": "turn"}


def named(links, joints):
    """The robot whose later links and their joints have these names."""
    text = TEXT
    for number, (link, joint) in enumerate(zip(links, joints, strict=True), 2):
        text = text.replace(f"LINK{number}", link).replace(f"JOINT{number}", joint)
    return kronbot.loads(text.replace("LINK", "body").replace("JOINT", "turn"), order="1")


def page(answer):
    html = answer.view().html
    start = html.index('id="data">') + len('id="data">')
    curves = json.loads(html[start : html.index("</script>", start)])["curves"]
    return [[each[key] for key in ("unit", "small", "shown", "hertz", "values")] for each in curves["series"]]


def told(answer):
    """All that hangs on what columns are, by their places."""
    draw = {"simulate": simulate.draw, "statics": statics.draw}[answer.command]
    lines = chart(answer, 80, True)
    return {
        "units": [*answer.units.values()],
        "shown": [values.tolist() for values in columns_shown(answer).values()],
        "given": [[*answer.series].index(name) for name in given_columns(answer)],
        "summary": [text for _, text in summarized(answer)],
        "page": page(answer),
        "chart": [line.split()[-1] for line in lines[1:]],
        "panels": len(draw(answer)),
    }


def all_told(links, joints):
    """Of two questions, and how much the orders beside each other say."""
    robot = named(links, joints)
    every = robot.statics(q=[0] * robot.model.n, order="all")
    return [told(robot.simulate()), told(robot.statics()), len(every.summary), every["difference"].shape]


@pytest.mark.slow
def test_names_mean_nothing():
    strange = all_told(("tip", "force"), ("frequency", "angle"))
    assert strange == all_told(("body2", "body3"), ("turn2", "turn3"))


def test_rates_of_what_is_called_a_frequency_are_none():
    robot = named(["tip"], ["frequency"])
    kept = [unit_of_kept(robot.model, name) for name in ("frequency", "max(frequency_dot)", "frequencies_free[0]")]
    assert kept == ["m", "m/s", "rad/s"]
    assert swings("first_frequency_locked", "rad/s") and swings("max(frequencies_free[0])", "rad/s")
    for name in ("frequency_dot", "frequency.motor_dot", "velocity.frequency", "max(abs(frequency_dot))"):
        assert not swings(name, "rad/s")


def test_rounding_is_judged_by_what_columns_are():
    """A coordinate stands with the places, its rate with the rates, whatever the link is called."""
    series = {name: np.array([value]) for name, value in [("q", 1.0), ("torque.v1", 1e-12), ("frequency", 1e-20)]}
    series |= {"torque.q": np.array([1e6]), "q_dot": np.array([1e-3]), "torque.v1_dot": np.array([1e-12])}
    clean = without_rounding(series, places=["q", "torque.v1", "frequency"])
    assert {name: value.item() for name, value in clean.items() if not value} == {"frequency": 0}
