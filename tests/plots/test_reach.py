"""Places too far away, and numbers too large, for pictures and pages: told, with a cure, by whatever draws them."""

import numpy as np
import pytest

import kronbot
from kronbot.errors import ComputationError
from kronbot.plots.page.document import document
from kronbot.plots.reach import LARGEST_IN_PAGES, reach

SLIDER = """
kronbot: 1
name: slider
convention: standard
gravity: [0, 0, 0]
links: [{name: a, joint: {type: prismatic, name: s}, dh: {a: 0, d: 0, alpha: 0, theta: 0}, rigid: {mass: 1}}]
simulate: {duration: 0.1, step: 0.05, drive: {s: {torque: 1e300}}}
"""


@pytest.fixture(scope="module")
def slider():
    return kronbot.loads(SLIDER)


def away(far):
    """The same with a link that is so long."""
    return kronbot.loads(SLIDER.replace("dh: {a: 0", f"dh: {{a: {far!r}"))


@pytest.mark.parametrize("far", [1e200, 1.7e308])
def test_places_that_are_too_far_away(far):
    there = away(far).kinematics({"s": 1})
    for show in (there.plot, there.view, lambda: away(far).view({"s": 1})):
        with pytest.raises(ComputationError, match=r"a part of the robot is 1[.0-9]*e\+\d+ m away"):
            show()


@pytest.mark.slow
def test_what_is_hardly_near_enough_is_drawn():
    assert away(1e149).kinematics({"s": 1}).plot().content(".svg")
    assert away(0.9 * LARGEST_IN_PAGES).kinematics({"s": 1}).view()


def test_places_that_overflow():
    with pytest.raises(ComputationError, match="so far away that it overflows"):
        reach(np.array([[0, np.nan], [0, 0], [0, 0]]))
    assert reach(np.zeros((3, 0))) == reach(np.zeros((3, 2))) == 1


def test_numbers_that_no_scale_holds(slider):
    with pytest.raises(ComputationError, match="the motion is faster") as stopped:
        slider.simulate()
    with pytest.raises(ComputationError, match=r"numbers up to 1e\+300: no scale holds them"):
        stopped.value.partial.plot()
    with pytest.raises(ComputationError, match="numbers that overflow: no page holds them"):
        document("title", {"force": float("inf")}, "() => 0")
