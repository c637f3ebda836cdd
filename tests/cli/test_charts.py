"""The small chart of text in the table of a series."""

import io
import sys
from dataclasses import replace

import numpy as np
import pytest
from robots_in_tests import model

from kronbot.cli.output import tables
from kronbot.cli.output.charts import chart, curve
from kronbot.questions.result import Result

T = np.linspace(0, 1, 21)


def run(columns):
    """An answer of simulate with these columns; those with a torque are joints."""
    joints = {name.partition("torque.")[2]: 0.0 for name in columns if name.startswith("torque.")}
    units = {name: "m" for name in columns if name.startswith("tip.")}
    return Result("simulate", "arm", "2", at={"q": joints}, series={"t": T, **columns}, units=units)


RUN = run({"q1": T**2, "torque.q1": T, "tip.arm.x": 0 * T, "tip.arm.y": 0.1 * np.sin(2 * np.pi * T)})


def test_dots():
    assert chart(RUN, 44, ascii_only=False) == [
        "over t = 0 ... 1 s (SI units, angles in rad)",
        "q1                         ⣀⣀⡤⠤⠖⠒⠋  max 1",
        "           ⣀⣀⣀⣀⣀⣀⡤⠤⠤⠤⠴⠒⠒⠚⠉⠉⠁        min 0",
        "tip.arm.y  ⣀⡤⠖⠚⠉⠉⠉⠙⠒⠦⣄⣀             max 0.1",
        "  [m]                 ⠈⠙⠲⠤⣄⣀⣀⣀⡤⠴⠚⠉  min -0.1",
    ]


def test_ascii():
    assert chart(RUN, 44, ascii_only=True)[1:] == [
        "q1                         ...|-|'  max 1",
        "           .......|----|''''        min 0",
        "tip.arm.y  .|-|''''||..             max 0.1",
        "  [m]                 ''||....|-|'  min -0.1",
    ]


def test_no_oscillation_is_lost():
    """Faster than the signs: a full band, not the beat of its samples; and a jump between two rows of one time."""
    x = np.linspace(0, 1, 10_001)
    assert curve(x, np.sin(1000 * np.pi * x), 20, ascii_only=True) == ["|" * 20] * 2
    assert curve(x, np.sin(1000 * np.pi * x), 20, ascii_only=False) == ["⣿" * 20] * 2
    assert curve(np.array([0, 1.1, 1.1, 2]), np.array([0, 0, 1, 1.0]), 4, ascii_only=True) == ["  |'", "..| "]
    # The difference of these is no number any more.
    huge, small = (curve(np.array([0, 1.0]), np.array([-size, size]), 6, ascii_only=True) for size in (1.7e308, 1))
    assert huge == small == ["  ..||", "||'   "]


def test_what_moves_most_is_shown():
    """Two joints and two tips of many, in the order of the series; all four of one kind where there is no other."""
    joints = {f"q{i}": size * T for i, size in enumerate((0.1, 3, 0, 2, 1e-15))}
    torques = {f"torque.{name}": T for name in joints}
    tips = {f"tip.{link}.{axis}": size * T for link, size in (("a", 0.1), ("b", 0.3), ("c", 0.2)) for axis in "xyz"}

    def names(columns):
        return [text.split()[0] for text in chart(run(columns), 100, ascii_only=True)[1::2]]

    assert names(joints | torques | tips) == ["q1", "q3", "tip.b.x", "tip.c.x"]
    (heading, *_) = chart(run(joints | torques | tips), 100, ascii_only=True)
    assert "(4 of 12 curves, --plot FILE draws more; SI units" in heading
    assert names(joints | torques) == ["q0", "q1", "q3"]
    assert "curves" not in chart(run(joints | torques), 100, ascii_only=True)[0]
    assert names({name: values for name, values in tips.items() if "a" in name}) == ["tip.a.x"]
    assert chart(run({"q1": 0 * T, "torque.q1": T}), 100, ascii_only=True) == []


@pytest.mark.parametrize("width", [30, 50, 80, 120, 400])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_charts_stay_small(width, ascii_only):
    columns = {f"a-long-name-{i}": np.sin(i * T) for i in range(9)}
    lines = chart(run(columns | {f"torque.{name}": T for name in columns}), width, ascii_only)
    assert len(lines) in (0, 9) and (lines or width < 50)
    assert all(len(line) <= width for line in lines)
    assert not ascii_only or all(line.isascii() for line in lines)
    assert lines == chart(run(columns | {f"torque.{name}": T for name in columns}), width, ascii_only)


def sweep(angles, loads, orders=("2",)):
    """An answer of statics: every angle with every load at every order, as its commands write it."""
    rows = [(order, angle, load) for order in orders for angle in angles for load in loads]
    order, angle, load = (np.array(column) for column in zip(*rows, strict=True))
    series = {"order": order} if len(orders) > 1 else {}
    series |= {"angle.q": angle, "force.x": 0 * load, "force.y": load, "torque.q": load * np.cos(angle)}
    arm = "{name: a, joint: {type: revolute, name: q}, pose: {}, rigid: {mass: 1}}"
    robot = model(f"kronbot: 1\nname: arm\ngravity: [0, 0, 0]\nlinks: [{arm}]\n", "2")
    return Result("statics", "arm", "all" if len(orders) > 1 else orders[0], series=series, about=robot)


def test_a_sweep_is_drawn_over_its_angle_at_the_last_load():
    """Rows in another order, several orders in a column of text, loads alone, too few values."""
    lines = chart(sweep([-1.0, 1.0, 0.0, 0.5], [1.0, -2.0]), 80, ascii_only=True)
    assert lines[0] == "over angle.q = -1 ... 1 at force.y = -2 (SI units, angles in rad)"
    assert lines[1].startswith("torque.q") and lines[1].endswith("max -1.081") and lines[2].endswith("min -2")
    lines = chart(sweep([-1.0, 0.0, 0.5, 1.0], [1.0, -2.0], ("0", "exact")), 80, ascii_only=True)
    assert lines[0] == "over angle.q = -1 ... 1 at order = exact, force.y = -2 (SI units, angles in rad)"
    assert chart(sweep([0.3], [0.0, 1.0, 2.0, 3.0]), 80, ascii_only=True)[0].startswith("over force.y = 0 ... 3 (SI")
    assert chart(sweep([-1.0, 1.0], [1.0, -2.0]), 80, ascii_only=True) == []
    assert chart(Result("check", "arm", "2"), 80, ascii_only=True) == []
    few = {name: values[:3] for name, values in RUN.series.items()}
    assert chart(replace(RUN, series=few), 80, ascii_only=True) == []


@pytest.mark.parametrize(("encoding", "sign"), [("utf-8", "⣀"), ("latin-1", ".")])
def test_the_chart_stands_in_the_table(encoding, sign, monkeypatch):
    """Between rows and summary, as text and never as markup, in what the reader's encoding has; 120 signs in a pipe."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    tables.table(replace(RUN, summary={"complete": True}))
    stream.flush()
    text = stream.buffer.getvalue().decode(encoding)
    expected = chart(RUN, 120, ascii_only=encoding != "utf-8")
    assert "\n".join(expected) in text and "  [m]" in text and sign in expected[2]
    assert text.index("over t = 0") > text.index("11 of 21 rows") and text.rstrip().endswith("yes")
