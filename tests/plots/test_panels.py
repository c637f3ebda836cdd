"""Panels that are chosen, and the pictures of the README, which their commands draw."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from thinned import rare

pytest.importorskip("matplotlib")

import kronbot
from kronbot.cli.main import run
from kronbot.errors import UsageError
from kronbot.library.robot import Robot
from kronbot.plots.panels import kind, words_of
from kronbot.plots.pictures import draw
from kronbot.plots.style import WIDTH

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "robots" / "pictures"
README = (ROOT / "README.md").read_text() if (ROOT / "README.md").exists() else ""
CAPTIONS = re.findall(r"^!\[[^]]+\]\(robots/pictures/([\w.]+)\)\n`kronbot ([^`]+)`$", README, re.M)
NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")


def paths(file):
    """The numbers of all curves and outlines, in points."""
    found = re.findall(r'<path d="([^"]*)"[^>]*clip-path', file.read_text())
    return [np.array(NUMBER.findall(path), dtype=float) for path in found]


@pytest.fixture(scope="module")
def moved():
    return kronbot.load("khang", order="1").simulate(duration=0.2, step=0.02)


@pytest.mark.parametrize(("name", "command"), [rare(*each) if each[0] != "load.svg" else each for each in CAPTIONS])
def test_pictures_of_the_readme_are_what_their_commands_draw(name, command, tmp_path, monkeypatch, swept_here):
    """To a thousandth of a point."""
    monkeypatch.chdir(tmp_path)
    assert run([*shlex.split(command), "--quiet"]) == 0
    now, kept = paths(tmp_path / name), paths(PICTURES / name)
    assert len(now) == len(kept) > 10
    for own, other in zip(now, kept, strict=True):
        np.testing.assert_allclose(own, other, rtol=0, atol=1e-3)


@pytest.mark.skipif(not README, reason="the tests do not stand in a checkout")
def test_pictures_are_few_and_small():
    shown = {name for name, _ in CAPTIONS}
    linked = set(re.findall(r"(?<!!)\[[^]]+\]\(robots/pictures/([\w.]+)\)", README))
    assert shown | linked == {file.name for file in PICTURES.iterdir()}
    assert (len(shown), linked) == (3, {"page.png"})
    assert all(file.stat().st_size < 100_000 for file in PICTURES.iterdir())


@pytest.mark.slow
def test_chosen_panels_hold_what_they_hold_in_the_whole_picture(moved):
    """In a smaller picture: one panel is half as wide."""
    whole, chosen = draw(moved), draw(moved, chosen="energy, motion")
    assert {kind(name) for name in chosen} == {"motion", "energy"}
    assert len(chosen.figure.axes) == len(chosen) < len(whole)
    for name, axis in chosen.items():
        for own, other in zip(axis.lines, whole[name].lines, strict=True):
            np.testing.assert_array_equal(own.get_xydata(), other.get_xydata())
    (alone,) = draw(moved, chosen=["balance"]).figure.axes
    assert alone.figure.get_figwidth() <= WIDTH
    motion = draw(moved, chosen=["motion"]).figure
    assert motion.get_figwidth() == WIDTH / 2
    assert motion.get_figheight() < whole.figure.get_figheight() / 2


def test_a_map_goes_with_its_bar(swept_here):
    over = {"q2": "0:1:8", "q3": "0:1:8"}
    result = kronbot.load("canadarm").sweep("jacobian", over=over, keep="J_T[x,q2],J_T[y,q2]", workers=1).result()
    assert len(draw(result).figure.axes) > len(draw(result, chosen="J_T[y,q2]").figure.axes) == 2


def test_curves_keep_their_names_where_the_panel_goes_that_has_them(swept_here):
    over = {"q2": "0:1:8", "q3": "0:1:2"}
    names = "'frequencies_locked[1]'", "'frequencies_locked[2]'"
    keep = [name.strip("'") for name in names]
    result = kronbot.load("canadarm").sweep("modes", over=over, keep=keep, workers=1, plot=True).result()
    whole, chosen = draw(result), draw(result, chosen=keep[1])
    (axis,) = chosen.values()
    named = next(iter(whole.values())).get_legend_handles_labels()[1]
    assert axis.get_legend_handles_labels()[1] == named != []
    assert axis.get_title(loc="left") == keep[1]


def test_words_stand_between_commas_outside_of_brackets():
    assert words_of("motion, max(abs(M[q1,q2])),g[q1]") == ["motion", "max(abs(M[q1,q2]))", "g[q1]"]


@pytest.mark.parametrize(
    ("panels", "words"),
    [
        ("bogus", "panels: no panel 'bogus'; there are motion, angle, "),
        rare("motion," * 100_000, "panels: more than 10000 characters"),
        rare("motoin", "did you mean 'motion'?"),
        rare("", "name one at least"),
        ([], "name one at least"),
        rare(3, "words are wanted"),
        ([3], "words are wanted"),
    ],
)
def test_words_that_no_panel_has_are_refused(moved, panels, words):
    with pytest.raises(UsageError) as refused:
        moved.plot(panels=panels)
    assert words in str(refused.value)


def test_panels_are_those_of_a_picture(capsys):
    assert run(["simulate", "canadarm", "--panels", "motion"]) == 2
    assert "--panels is about the picture: add --plot" in capsys.readouterr().err


def test_words_that_no_picture_of_a_command_has_are_refused_before_anything_is_computed(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(Robot, "simulate", None)
    line = ["simulate", "canadarm", "--plot", str(tmp_path / "a.png"), "--panels"]
    assert run([*line, "energie"]) == 2
    assert "--panels: no panel 'energie'; did you mean 'energy'?" in capsys.readouterr().err
    assert run([*line, "motion,foo"]) == 2
    assert "--panels: no panel 'foo'; simulate has motion, space, base" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "known"),
    [
        (["sweep", "modes", "khang", "--over", "EI=5,6", "--keep", "frequencies_free[1]"], "frequencies_free, freq"),
        (["design", "khang", "--lqr"], "pole, all"),
        (["design", "khang", "--lqr", "--noise", "qa=1e-4"], "pole, observer, all"),
        (["design", "khang", "--lqr", "--motion"], "torque.qa.q, torque.qa.qd, all"),
        (["design", "khang", "--shaper", "zv"], "impulse, all"),
    ],
)
def test_panels_of_columns_and_gains_are_refused_at_once(line, known, capsys, monkeypatch, tmp_path):
    """Where their names are told by the question."""
    for method in ("kronbot.library.robot.Robot.design", "kronbot.library.sweep.Sweep.__iter__"):
        monkeypatch.setattr(method, None)
    assert run([*line, "--plot", str(tmp_path / "a.png"), "--panels", "foo"]) == 2
    told = capsys.readouterr().err
    assert "--panels: no panel 'foo'; " in told and f" there are {known}" in told
