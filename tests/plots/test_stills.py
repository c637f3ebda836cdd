"""Robots in space: what their lines and ribbons are, how far they are magnified, and which pictures have them."""

import itertools
from functools import cache

import numpy as np
import pytest

pytest.importorskip("matplotlib")

import robots_in_tests
from thinned import rare, thinned

import kronbot
from kronbot.library.robot import Robot
from kronbot.mechanics.multibody import drawing
from kronbot.plots import arms, space, stills, style
from kronbot.plots.modes import SHOWN
from kronbot.plots.pictures import draw
from kronbot.plots.style import COLOURS, SPATIAL

BEAM = """
kronbot: 1
name: beam
convention: standard
gravity: [0, {down}9.81, 0]
links:
  - {{name: arm, joint: {{type: fixed}}, dh: {{a: 1.5, d: 0, alpha: 0, theta: 0}},
      flexible: {{mass: 1, EI: {{y: 20, z: 10}}, GJ: 5, polar_inertia: 0.01, modes: {modes}}}}}
"""


@cache
def beam(modes="{v: 1, w: 1, torsion: 1}", down="-"):
    """A beam along x, 1.5 m long."""
    return Robot(robots_in_tests.model(BEAM.format(modes=modes, down=down), "1"))


def spatial(picture):
    return [axis for axis in picture.values() if axis.name == SPATIAL]


def blue(axis):
    """What is drawn in the first colour: lines of the robot, and one edge of every ribbon."""
    return [np.array(line.get_data_3d()) for line in axis.lines if line.get_color() == COLOURS[0]]


@pytest.mark.parametrize("order", ["1", "2", rare("exact")])
def test_sections_lie_on_the_lines_and_turn_with_the_torsion(order):
    """Of a bent and twisted arm; where it is twisted alone, by the angles of its twist."""
    robot = kronbot.load("spatial", order=order).model
    q = np.where(np.isin(np.arange(robot.n), robot.flexible), 0.02, 0.4)
    beams = [i for i, link in enumerate(robot.links) if link.beam is not None]
    for place, section in zip(beams, drawing.sections(robot)(q), strict=True):
        line = drawing.lines(robot)(q)[place]
        assert section[:3] == pytest.approx(line[:, -len(drawing.PLACES) :], abs=1e-12)
        assert np.linalg.norm(section[3:], axis=0) == pytest.approx(1, abs=1e-3 if order != "exact" else 1e-12)
    straight = drawing.sections(robot)(np.zeros(robot.n))
    for k, place in enumerate(arms.twisting(robot)):  # one of each beam
        twist = 0.3 * np.eye(robot.n)[place]
        angles = np.abs(list(drawing.twists(robot, twist).values())[k])
        sines = np.linalg.norm(np.cross(straight[k][3:].T, drawing.sections(robot)(twist)[k][3:].T), axis=1)
        assert angles.max() == pytest.approx(0.3)
        assert sines == pytest.approx(np.sin(angles), abs=1e-9)


@pytest.mark.slow
def test_bodies_and_elements_swing_with_a_mode():
    """To where the line of the robot goes; the first panel names them."""
    text = BEAM.format(modes="{v: 1, w: 1, torsion: 1}", down="-") + (
        "      payload: {mass: 1}}\nelements:\n"
        "  - {name: stay, type: spring, between: [world, arm], points: [[0, -1, 0], [0, 0, 0]],\n"
        "     stiffness: 9, rest: 1}\n"
    )
    text = text.replace("modes: {v: 1, w: 1, torsion: 1}}}\n", "modes: {v: 1, w: 1, torsion: 1}},\n")
    picture = draw(kronbot.loads(text, order="1").modes())
    panels = spatial(picture)
    assert [each.get_text() for each in panels[0].get_legend().get_texts()] == ["element", "payload"]
    for axis in panels:
        assert axis is panels[0] or axis.get_legend() is None
        data = {line.get_marker(): np.array(line.get_data_3d()) for line in axis.lines}
        (payload,) = data["D"].T
        stay = [np.array(line.get_data_3d()) for line in axis.lines if line.get_color() == arms.ELEMENT["color"]]
        solid = [each for each in blue(axis) if each.shape[1] != len(drawing.PLACES)]
        ends = [each[:, -1] for each in solid]
        assert min(np.linalg.norm(end - payload) for end in ends) < 1e-3
        assert stay[0][:, 1] == pytest.approx(payload, abs=1e-3)


def test_modes_bend_and_twist_in_proportion():
    """A torsional mode of a beam turns its tip by the angle that is drawn at the most, and as sin(pi xi / 2)."""
    picture = draw(beam().modes())
    titles = {axis.get_title(loc="left"): axis for name, axis in picture.items() if name.startswith("locked")}
    (twisted,) = (axis for title, axis in titles.items() if title.endswith("torsion"))
    *_, edge = (each for each in blue(twisted) if each.shape == (3, len(drawing.PLACES)))
    # Tangents, since shapes are magnified linearly.
    slope = edge[2] / np.hypot(edge[1], edge[2])
    wanted = np.arctan(stills.TWISTED * np.sin(np.pi * edge[0] / 3))
    assert np.abs(slope) == pytest.approx(np.sin(wanted), abs=1e-9)
    bending = [axis for title, axis in titles.items() if "torsion" not in title]
    assert len(bending) == 2
    for axis in bending:
        most = max(
            np.linalg.norm(each[1:], axis=0).max() for each in blue(axis) if each.shape[1] != len(drawing.PLACES)
        )
        assert most == pytest.approx(stills.DEFLECTED * 1.5, rel=1e-6)


def test_a_planar_robot_that_twists_is_drawn_in_space():
    assert spatial(draw(beam("{v: 1, torsion: 1}").modes()))
    assert not spatial(draw(beam("{v: 1}").modes()))


@pytest.mark.slow
def test_no_panel_of_modes_is_empty():
    """Also where there are fewer modes with joints locked; all of them where all are wanted."""
    answer = kronbot.load("piedboeuf", order="1").modes()
    found = {case: int((answer[f"frequencies_{case}"] > 0).sum()) for case in ("locked", "free")}
    for chosen, most in ((None, SHOWN), ("all", 60)):
        picture = draw(answer, chosen=chosen)
        assert all(axis.lines for axis in picture.values())
        for case, count in found.items():
            assert sum(key.startswith(case) for key in picture) <= min(count, most)
    locked = draw(answer, chosen="all,locked")
    assert "(all " in locked.title
    assert all(name.startswith("locked") for name in locked)


def test_deflections_are_magnified_by_round_numbers():
    assert [stills.magnification(share, 0) for share in (0.9, 0.5, 0.3, 0.13, 0.1, 0.0021)] == [1, 2, 2, 5, 10, 200]
    assert stills.magnification(1e-3, 0.3) == 2
    assert stills.magnification(0.0, 0.0) == 1


@pytest.mark.slow
def test_a_loaded_arm_is_magnified_beside_the_undeformed_one():
    """To so many times the way from it, which the title says."""
    robot = kronbot.load("spatial")
    answer = robot.statics(q=[0.4, 0.5, 0, 0.6], forces=[[0, 0, -100]])
    (axis,) = spatial(draw(answer))
    factor = float(axis.get_title(loc="left").partition(" x")[2].partition(";")[0].partition(",")[0])
    assert factor > 1
    names = [name if name in answer.series else f"angle.{name}" for name in robot.coordinates]
    q = np.array([answer[name][0] for name in names])
    lines = drawing.lines(robot.model)
    for drawn, line, rest in zip(blue(axis), lines(q), lines(robot.model.undeformed(q)), strict=False):
        assert drawn == pytest.approx(rest + factor * (line - rest), abs=1e-9)


def test_gravity_points_down():
    """What falls is lower, whichever way gravity points."""
    for down in "+-":
        (axis, *_) = spatial(draw(beam(down=down).modes()))
        axis.figure.canvas.draw()
        fallen = [np.array([0.5, 0, 0]), np.array([0.5, float(f"{down}0.3"), 0])]
        heights = [project(axis, point)[1] for point in fallen]
        assert heights[1] < heights[0]


@pytest.mark.parametrize(("name", "across", "deep"), [("spatial", 0, 1), ("stacker-numeric", 0, 2)])
def test_what_is_long_lies_across(name, across, deep):
    """Also where gravity does not act along z."""
    picture = draw(kronbot.load(name).kinematics())
    (axis,) = spatial(picture)
    axis.figure.canvas.draw()
    origin = np.array(project(axis, np.zeros(3)))
    ways = [abs(np.array(project(axis, 1e-3 * np.eye(3)[i])) - origin) for i in (across, deep)]
    assert ways[0][0] > 1.5 * ways[1][0]
    # Scales are equal: seen from far away, two directions on paper are as long, and at right angles.
    axis.set_proj_type("ortho")
    plane = axis.get_proj()[:2, :3]
    assert plane @ plane.T == pytest.approx((plane @ plane.T)[0, 0] * np.eye(2), rel=1e-9, abs=1e-12)


TOWER = """
kronbot: 1
name: tower
convention: standard
gravity: GRAVITY
links:
  - {name: mast, joint: {type: revolute, name: q1}, pose: {}}
  - {name: arm, joint: {type: revolute, name: q2}, pose: {xyz: [0, 0.05, 1], rpy: [pi/2, 0, 0]}}
  - {name: hand, joint: {type: revolute, name: q3}, pose: {xyz: [0.2, 0, 0.1], rpy: [0, pi/2, 0]}}
"""
LONG = TOWER.replace("[0, 0.05, 1]", "[0.6, 5, 0]")


GRAVITIES = ("[0, 0, -9.81]", "[0, 9.81, 0]", "[-9.81, 0, 0]")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gravity", "text"),
    thinned(
        [(GRAVITIES[0], TOWER), (GRAVITIES[1], LONG), (GRAVITIES[2], TOWER)],
        [(GRAVITIES[0], TOWER)],
    ),
)
def test_labels_of_a_panel_in_space_lie_apart_and_within_it(text, gravity):
    """Wide and narrow panels, whichever way is down; and the panel is as before when it is written."""
    picture = draw(kronbot.loads(text.replace("GRAVITY", gravity)).kinematics(q={"q1": 0.7, "q3": 0.4}))
    (axis,) = spatial(picture)
    figure = picture.figure
    scales = [axis.xaxis, axis.yaxis, axis.zaxis]
    before = [(scale.get_major_locator(), scale.labelpad, scale.get_tick_params()["pad"]) for scale in scales]
    with style.look(), style._settled(figure):
        figure.draw_without_rendering()
        numbers = [[tick.label1.get_window_extent() for tick in space._ticks(scale)] for scale in scales]
        every = [*itertools.chain(*numbers), *(scale.label.get_window_extent() for scale in scales)]
        assert all(numbers)
        assert not any(one.overlaps(other) for one, other in itertools.combinations(every, 2))
        (title,) = [words for words in figure.texts if words.get_text() == "in space"]
        page, top = figure.bbox, title.get_window_extent().y0
        for box in every:
            assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= top
        for scale, boxes in zip(scales, numbers, strict=True):
            line = scale.line.get_path().transformed(scale.line.get_transform())
            assert not any(map(line.intersects_bbox, boxes))
    after = [(scale.get_major_locator(), scale.labelpad, scale.get_tick_params()["pad"]) for scale in scales]
    assert after == before and axis.get_axes_locator() is None
    assert not [words for words in figure.texts if words.get_text() == "in space"]


def project(axis, point):
    from mpl_toolkits.mplot3d import proj3d

    return proj3d.proj_transform(*point, axis.get_proj())[:2]


@pytest.mark.parametrize("name", ["khang", rare("canadarm")])
def test_phases_are_ticked_at_multiples_of_45_degrees(name):
    axis = draw(kronbot.load(name).linearize(equilibrium=True))["phase"]
    ticks = axis.get_yticks()
    assert np.array_equal(ticks % 45, 0 * ticks)
    assert len(set(np.diff(ticks))) == 1
    assert 2 < len(ticks) <= 8


TWISTER = """
kronbot: 1
name: twister
gravity: [0, 0, 0]
links:
  - name: bar
    joint: {type: revolute, name: q1}
    pose: {}
    flexible: {mass: 1, length: 1, EI: {y: 100, z: 100}, GJ: 50, polar_inertia: 0.01, modes: {v: 1, torsion: 1}}
elements:
  - {name: cord, type: spring, between: [world, bar], points: [[0, 1, 0], [0, 0, 0]], stiffness: 1, rest: 1}
"""


@pytest.mark.slow
def test_twists_of_statics_have_a_panel_and_a_number_and_elements_one_entry():
    robot = kronbot.loads(TWISTER)
    result = robot.statics(moments=[[0, 0, 0], [5, 0, 0], [10, 0, 0]])
    picture = draw(result)
    most = np.degrees(result["tip.bar.rx"][-1])
    axis = picture["twist 0"]
    assert axis.get_title(loc="left").startswith("turn of the tip of bar, rx") and axis.get_ylabel() == "[deg]"
    assert axis.lines[0].get_ydata()[-1] == pytest.approx(most) and most > 5
    (solid,) = spatial(picture)
    assert f"twists up to {most:.3g} deg" in solid.get_title(loc="left").replace("\n", " ")
    assert picture["robot 0"].get_legend_handles_labels()[1].count("element") == 1


SLIDING = """
kronbot: 1
name: sliding
gravity: [0, 0, 0]
links:
  - {name: arm, joint: {type: revolute, name: q1}, pose: {}, rigid: {mass: 1, com: [0.2, 0, 0]}}
  - {name: slide, joint: {type: prismatic, name: q2}, pose: {xyz: [0.4, 0.1, 0], rpy: [pi/2, 0, 0]}, rigid: {mass: 1}}
"""


def test_lines_lead_by_where_a_slide_begins():
    """Not from where it is straight to the joint before: the arm is where its mass is."""
    line = drawing.lines(kronbot.loads(SLIDING).model)(np.array([0, 0.3]))[1]
    assert pytest.approx(np.array([[0, 0, 0], [0.4, 0.1, 0], [0.4, -0.2, 0], [0.4, -0.2, 0]]), abs=1e-15) == line.T
