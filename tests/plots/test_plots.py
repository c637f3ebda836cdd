"""Pictures: what stands in them is read back from their figures; that they are fine to look at, people have seen."""

import errno
import json
import math
import os
import pickle
import warnings
from dataclasses import replace
from functools import cache
from itertools import pairwise

import casadi
import numpy as np
import pytest
import robots_in_tests
from thinned import rare

mpl = pytest.importorskip("matplotlib")

from matplotlib.figure import Figure  # noqa: E402
from matplotlib.text import Text  # noqa: E402
from matplotlib.textpath import TextPath  # noqa: E402
from scipy.linalg import eigh  # noqa: E402

import kronbot  # noqa: E402
from kronbot import description  # noqa: E402
from kronbot.cli.main import run  # noqa: E402
from kronbot.compute.arrays import NamedArray  # noqa: E402
from kronbot.compute.trace import Trace  # noqa: E402
from kronbot.description import choices  # noqa: E402
from kronbot.errors import ComputationError, KronbotError, UsageError  # noqa: E402
from kronbot.library.robot import Robot  # noqa: E402
from kronbot.mechanics.motion.integration import Tolerances  # noqa: E402
from kronbot.mechanics.multibody import drawing, kinematics  # noqa: E402
from kronbot.model.build import build  # noqa: E402
from kronbot.plots import (  # noqa: E402
    arms,
    curves,
    design,
    jacobian,
    lettering,
    linearize,
    loads,
    modes,
    moving,
    plan,
    statics,
    style,
)
from kronbot.plots import poles as poles_in_plane  # noqa: E402
from kronbot.plots import simulate as simulation  # noqa: E402
from kronbot.plots.curves import Curve, without_still  # noqa: E402
from kronbot.plots.frequency_response import Response  # noqa: E402
from kronbot.plots.modes import swinging  # noqa: E402
from kronbot.plots.page.robot import Shown  # noqa: E402
from kronbot.plots.panels import WORDS, kind  # noqa: E402
from kronbot.questions import jacobian as jacobians  # noqa: E402
from kronbot.questions import judgement  # noqa: E402
from kronbot.questions import linearize as linearization  # noqa: E402
from kronbot.questions import linearize_along as floquet  # noqa: E402
from kronbot.questions import modes as vibration  # noqa: E402
from kronbot.questions import statics as static_question  # noqa: E402
from kronbot.questions.columns import places_in_statics  # noqa: E402
from kronbot.questions.comparison import side_by_side  # noqa: E402
from kronbot.questions.load_cases import Sweep  # noqa: E402
from kronbot.questions.result import Result  # noqa: E402
from kronbot.questions.static_report import Inquiry  # noqa: E402

UPRIGHT = """
kronbot: 1
name: upright
gravity: [0, -9.81, 0]
links:
  - name: rod
    joint: {type: revolute, name: q1, damping: 0.3, spring: {stiffness: 9.81, rest: pi/2}}
    pose: {}
    rigid: {mass: 2, com: [0.5, 0, 0], inertia: {Izz: 0.1}}
"""
# A picture or two a robot: in a plane and in space, with one link and many.
PICTURES = {
    "khang": ("modes",),
    "spatial": ("linearize",),
    "stacker-numeric": ("jacobian",),
    "torso": ("jacobian", "modes"),
}
BEAM = """
kronbot: 1
name: {name}
convention: standard
gravity: [0, 0, 0]
links:
  - {{name: {link}, joint: {{type: fixed}}, dh: {{a: 1.5, d: 0, alpha: 0, theta: 0}},
      flexible: {{mass: 1, EI: {{y: 20, z: 10}}, GJ: 5, polar_inertia: 0.01, modes: {{v: 1, w: 1, torsion: 1}}}}}}
"""
ARM = """
kronbot: 1
name: arm
convention: standard
gravity: [0, -9.81, 0]
parameters: {{l: {length}}}
links:
  - {{name: {name}a, joint: {{type: revolute, name: {name}1}}, dh: {{a: l, d: 0, alpha: 0, theta: 0}},
      flexible: {{mass: 250*l, EI: {{z: 6e4*l**3}}, modes: {{v: 1}}, damping: {{ratio: 0.01}}}}}}
  - {{name: {name}b, joint: {{type: revolute, name: {name}2}}, dh: {{a: l, d: 0, alpha: 0, theta: 0}},
      flexible: {{mass: 250*l, EI: {{z: 6e4*l**3}}, modes: {{v: 1}}, damping: {{ratio: 0.01}}}}}}
"""
LIFT = """
kronbot: 1
name: lift
convention: standard
gravity: [0, 0, -9.81]
links:
  - {name: car, joint: {type: prismatic, name: d}, dh: {a: 0, d: 0, alpha: 0, theta: 0}, rigid: {mass: 2}}
"""


@cache
def shipped(name, order="2"):
    return build(description.load(description.read(name)), order)


@cache
def beam(name="beam", link="arm"):
    """A beam without a joint, along x."""
    return robots_in_tests.model(BEAM.format(name=name, link=link), "1")


@cache
def arm(length, name):
    """Two flexible links under gravity that bend alike at every length."""
    return robots_in_tests.model(ARM.format(length=length, name=name), "1")


@cache
def moved(name, duration=0.2, order="2"):
    """A short run."""
    return robots_in_tests.run(shipped(name, order), duration=duration, step=duration / 20, rtol=1e-6).result


def point(robot, **values):
    q = np.zeros(robot.n)
    for name, value in values.items():
        q[robot.coordinates.index(name)] = value
    return q


def test_bodies_are_dots_at_their_centres_of_mass(picture):
    """Where the Jacobian's frames com:LINK say they are; the area of a dot by the mass; none without a mass."""
    robot = kronbot.load("puma560").model
    q = np.array([0.3, 0.5, 0.2, 0, 0.4, 0])
    there = drawing.bodies(robot, q)
    found = sorted(zip(there.masses, there.centres.T.tolist(), strict=True))
    wanted = []
    symbols = casadi.SX.sym("q", robot.n)
    for link in robot.links:
        for body in (link.hub, *link.bodies):
            mass = 0.0 if body is None else robot.parameters.evaluate(body.mass, "test")
            if mass > 0:
                ends = (kinematics.frame(robot, name) for name in (f"com:{link.name}", "world"))
                motion = kinematics.relative_motion(robot, symbols, *ends)
                trace = Trace(robot.parameters, {"q": symbols}, {"r": motion.pose.r}, "test")
                wanted.append((mass, trace(q)["r"].tolist()))
    assert [mass for mass, _ in found] == sorted(mass for mass, _ in wanted)
    assert np.allclose([place for _, place in found], [place for _, place in sorted(wanted)], atol=1e-12)
    figure = picture(jacobian.draw, jacobian_at(robot, q))
    dots = [line for line in figure.axes[0].lines if line.get_marker() == "o" and line.get_color() == style.GREY]
    assert len(dots) == len(wanted)
    sizes = sorted(dot.get_markersize() for dot in dots)
    assert sizes[-1] == arms.LARGEST_BODY
    stacker = kronbot.load("stacker").model
    assert drawing.bodies(stacker, np.zeros(stacker.n)).masses.size == 0


@pytest.mark.slow
def test_payloads_are_marked_as_such_on_a_line_from_their_tip(picture):
    """At their centre of mass, off the tip, in all pictures of the arm; in the legend once."""
    text = """
kronbot: 1
name: laden
gravity: [0, 0, 0]
links:
  - name: a
    joint: {type: revolute, name: q1}
    pose: {}
    hub: {mass: 1}
    flexible: {length: 1, mass: 1, EI: {z: 10}, modes: {v: 1}}
    payload: {mass: 4, com: [0, 0.25, 0]}
  - {name: b, joint: {type: fixed}, pose: {}, rigid: {mass: 1, com: [0.5, 0, 0]}}
"""
    robot = robots_in_tests.model(text)
    still = np.zeros(2)
    figures = [
        picture(jacobian.draw, jacobian_at(robot, still)),
        picture(modes.draw, vibration.vibration(robot, still, still, None)),
        picture(linearize.draw, linear(robot)),
    ]
    for figure in figures:
        shown = [axis for axis in figure.axes if axis.get_ylabel() == "y [m]"]
        assert [axis.get_legend() is not None for axis in shown] == [axis is shown[0] for axis in shown]
        assert [text.get_text() for text in shown[0].get_legend().get_texts()] == ["payload", "rigid body"]
        for axis in shown:
            (mark,) = [each for each in axis.lines if each.get_marker() == "D"]
            assert mark.get_xydata().tolist() == [[1, 0.25]] and mark.get_markersize() == arms.LARGEST_BODY
            assert any(each.get_xydata().tolist() == [[1, 0], [1, 0.25]] for each in axis.lines)
            dots = [each.get_xydata().tolist() for each in axis.lines if each.get_color() == arms.BODY[1]]
            assert all([place] in dots for place in ([0, 0], [1.5, 0]))


def jacobian_at(robot, q, frame="endpoint", axes="base"):
    q = np.asarray(q)
    seen = jacobians.view(robot, frame, axes)
    arrays = jacobians.jacobian(robot, seen, rates=False).at(q)
    at = {"q": dict(zip(robot.coordinates, q.tolist(), strict=True))}
    return Result("jacobian", robot.name, robot.order, at=at, arrays=arrays, about=robot, asked=seen)


def alone(result):
    """An answer whose picture has no lower orders in it."""
    return replace(result, asked=None)


def linear(robot, q=None, inputs=choices.INPUTS, outputs=("joints", "endpoint"), locked=()):
    rest = np.zeros(robot.n)
    at = linearization.Point(rest if q is None else q, rest, rest, None, np.zeros(3))
    choice = linearization.Choice(frozenset(locked), inputs, outputs)
    return linearization.Linearization(robot, choice, False).at(at)


def sweep(robot, angles, forces, *orders):
    """Equilibria at some orders, by order."""
    cases = Sweep(angles, forces, []).cases(robot, np.zeros((1, robot.n)), {})
    inquiry = Inquiry(cases, "newton", None)
    return static_question.at_orders(robot, inquiry, orders, lambda share: None)


@pytest.fixture
def picture(monkeypatch):
    """Draw with a function: the figure; ``settle`` lays it out as in a file, but paints nothing, which takes long."""
    monkeypatch.setattr(Figure, "savefig", lambda figure, *a, **k: figure.draw_without_rendering())

    def draw(function, *arguments):
        made = function(*arguments)
        known = WORDS.get(function.__module__.rpartition(".")[2])
        assert known is None or {kind(name) for name in made} <= {*known}
        made.figure.settle = lambda: made.content(".png")
        return made.figure

    return draw


def panels(figure):
    """Panels by their titles; of those with one title the first."""
    found = {}
    for axis in figure.axes:
        if axis.axison:
            found.setdefault(axis.get_title(loc="left").replace("\n", " "), axis)
    return found


def starting(figure, words):
    return next(axis for title, axis in panels(figure).items() if title.startswith(words))


def line(axis, label):
    return next(each for each in axis.lines if each.get_label() == label)


def head(axis):
    """The title of a panel as what is drawn."""
    title = axis.get_title(loc="left")
    return next(each for each in axis.get_children() if isinstance(each, Text) and each.get_text() == title)


def demand_sound(figure):
    """Titles and units everywhere, something in every panel, all words on the paper and in nobody's way."""
    figure.settle()
    paper = figure.bbox
    words = [*figure.texts, *figure.legends]
    for axis in (axis for axis in figure.axes if axis.axison):
        title = axis.get_title(loc="left")
        assert title and "[" in axis.get_xlabel() and axis.get_xlabel().endswith("]"), title
        assert axis.get_ylabel().endswith("]") or title.startswith("poles, all real"), title
        drawn = [np.asarray(each.get_ydata(), dtype=float) for each in axis.lines]
        assert any(np.isfinite(values).any() for values in drawn), title
        demand_readable_ticks(axis, paper)
        panel, above = axis.get_window_extent(), head(axis).get_window_extent()
        # Not over the panel to the right; hinted type is wider than to scale by a few pixels.
        assert above.x1 <= panel.x1 + 4, title
        if legend := axis.get_legend():
            box = legend.get_window_extent()
            assert panel.y1 - 1 <= box.y0 and box.y1 <= above.y0 + 1, title
            words.append(legend)
        words += [head(axis), axis.xaxis.label, axis.yaxis.label, *axis.texts]
    assert [each for each in words if not within(each.get_window_extent(), paper)] == []


def within(box, paper):
    return paper.x0 <= box.x0 and box.x1 <= paper.x1 and paper.y0 <= box.y0 and box.y1 <= paper.y1


def tick_boxes(each):
    """Where the labels of the ticks in sight are, in their order."""
    low, high = sorted(each.get_view_interval())
    along = "xy".index(each.axis_name)
    labels = [label for label in each.get_majorticklabels() if low <= label.get_position()[along] <= high]
    return sorted((label.get_window_extent() for label in labels if label.get_text()), key=lambda box: box.min[along])


def demand_readable_ticks(axis, paper):
    """Two points of type between labels beside each other, none over another, no factor in a corner."""
    beside, above = tick_boxes(axis.xaxis), tick_boxes(axis.yaxis)
    for before, after in pairwise(beside):
        assert after.x0 - before.x1 > 2 * axis.figure.dpi / 72, axis.get_title(loc="left")
    for before, after in pairwise(above):
        assert after.y0 > before.y1, axis.get_title(loc="left")
    assert all(paper.x0 <= box.x0 and box.x1 <= paper.x1 for box in beside + above)
    assert not axis.xaxis.get_offset_text().get_text() and not axis.yaxis.get_offset_text().get_text()


def demand_clear_guides(axis):
    """Labels of lines of equal damping are within the axes, and on no pole, line or other label."""
    marks = np.vstack([each.get_xydata() for each in axis.lines if each.get_marker() in ("x", "o")])
    half = 3 * axis.figure.dpi / 72  # of a mark of 6 points
    taken = [mpl.transforms.Bbox([xy - half, xy + half]) for xy in axis.transData.transform(marks)]
    lines = [axis.transData.transform_path(each.get_path()) for each in axis.lines if each.get_color() == style.GREY]
    frame = axis.get_window_extent()
    for label in axis.texts:
        box = label.get_window_extent()
        assert frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1, label
        assert not any(box.overlaps(other) for other in taken), label
        assert not any(path.intersects_bbox(box, filled=False) for path in lines), label
        taken.append(box)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "asked"), PICTURES.items())
def test_pictures_of_robots_that_ship(name, asked, picture):
    """Sound, and titles are of one size."""
    # Orders that take little time to differentiate.
    order = "0" if name == "torso" else "1"
    robot = shipped(name, order)
    q = np.where(np.isin(np.arange(robot.n), robot.flexible), 0.0, 0.3)
    q = point(robot, q1=0.4, q2=0.5, q3=1.9) if name == "spatial" else q  # with titles of two lines
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if "jacobian" in asked:
            demand_sound(picture(jacobian.draw, jacobian_at(robot, q)))
        if "modes" in asked:
            demand_sound(picture(modes.draw, vibration.vibration(robot, q, 0 * q, None)))
        if "linearize" in asked:
            figure = picture(linearize.draw, linear(robot, q))
            demand_sound(figure)
            demand_clear_guides(starting(figure, "poles"))
            titles = [axis.title if axis.get_title() else axis._left_title for axis in figure.axes]
            assert name != "spatial" or any("\n" in title.get_text() for title in titles)
            assert len({round(float(title.get_fontsize()), 6) for title in titles}) == 1


@pytest.mark.slow
@pytest.mark.parametrize("periodic", [True, False])
def test_pictures_along_a_motion(periodic, picture):
    turning = f"{robots_in_tests.BOOM}motion: {{q1: {{type: sinusoid, amplitude: 0.3, frequency: 3}}}}\n"
    robot = robots_in_tests.model(turning, "1") if periodic else shipped("spin-up")
    result = floquet.linearize_along(robot, None, None if periodic else 2.0, None, None, lambda share: None)
    figure = picture(linearize.draw, result)
    demand_sound(figure)
    assert ("Floquet multipliers" in " ".join(panels(figure))) == periodic


@pytest.mark.parametrize(("suffix", "head"), [rare("png", b"\x89PNG"), ("svg", b"<?xml"), rare("pdf", b"%PDF")])
def test_equal_answers_have_equal_bytes(suffix, head):
    """Also where a user has a taste of his own."""
    robot, contents = shipped("khang"), []
    for width in (1.0, 9.0):
        with mpl.rc_context({"lines.linewidth": width, "font.size": 20.0}):
            contents.append(jacobian.draw(jacobian_at(robot, [0.3, 0])).content(f".{suffix}"))
    assert contents[0] == contents[1] and contents[0].startswith(head)


@pytest.mark.slow
def test_an_svg_holds_its_text_as_text(unsettled):
    """That of the fullest picture."""
    text = simulation.draw(moved("khang")).content(".svg").decode()
    assert all(word in text for word in ("simulate khang, order 2", "joint torques", "[N m]", "t [s]", "x [m]"))


@pytest.mark.slow
def test_outputs_of_a_run_have_diagrams(picture):
    """One for each kind and unit, of those that are asked for alone."""
    robot = kronbot.load("canadarm")
    outputs = "reaction:q1,velocity:endpoint,power:q2"
    plain, more = (
        panels(picture(simulation.draw, robot.simulate(0.2, 0.05, outputs=asked, solver="rodas")))
        for asked in ((), outputs)
    )
    kinds = [title.partition("; ") for title in more if title not in plain]
    assert list(dict.fromkeys(kind for kind, _, _ in kinds)) == ["reaction", "velocity", "power"]
    lines = more["velocity; 0: endpoint z"].lines
    assert [line.get_label() for line in lines] == ["endpoint y"]  # x is far smaller, and apart


SHAFTS = """
kronbot: 1
name: shafts
gravity: [0, 0, 0]
links:
  - name: cart
    joint: {type: prismatic, name: s, rotor_inertia: 2, elastic: {stiffness: 9e3}}
    pose: {}
    rigid: {mass: 8}
  - {name: fork, joint: {type: prismatic, name: f, follows: s/2, elastic: {stiffness: 5e3}}, pose: {}, rigid: {mass: 2}}
  - name: wrist
    joint: {type: revolute, name: w, follows: 2*s, elastic: {stiffness: 60}}
    pose: {}
    rigid: {mass: 1, inertia: {Izz: 1e-2}}
simulate:
  duration: 0.2
  step: 0.02
  drive: {s: {motion: {type: polynomial, from: 0, to: 0.1, duration: 0.2, degree: 5}}}
"""


@pytest.mark.slow
def test_joints_behind_shafts_are_in_panels_of_joints(picture, monkeypatch):
    """Those that follow others, too: how they move, and how far they are ahead of what they follow."""
    monkeypatch.setattr(judgement, "judged", lambda *given: {})
    robot = kronbot.loads(SHAFTS)
    run = robot.simulate()
    figure = picture(simulation.draw, run)
    slides, stretch = starting(figure, "sliding joints"), starting(figure, "stretch of shafts")
    assert {each.get_label() for each in slides.lines} >= {"s", "f"}
    ahead = run["f"] - run["s.motor"] / 2
    assert line(stretch, "f").get_ydata() == pytest.approx(1000 * ahead, abs=1e-9) and np.abs(ahead).max() > 1e-4
    assert line(starting(figure, "joint angles"), "w") and line(starting(figure, "twist of shafts"), "w")
    planned = picture(plan.draw, robot.plan({"s": 0.1}, duration=0.2))
    labels = {
        each.get_label() for axis in planned.axes if axis.get_title(loc="left") == "joints" for each in axis.lines
    }
    assert labels >= {"s", "s.motor", "f", "w"}
    assert not any(title.startswith("bending") for title in panels(planned))


def test_a_run_over_time(picture):
    """Angles in degrees with what was commanded, deflections in mm, energies, the imbalance on decades."""
    series = moved("khang", 2.0).series
    figure = picture(simulation.draw, moved("khang", 2.0))
    angle = starting(figure, "joint angles")
    assert line(angle, "qa").get_ydata() == pytest.approx(np.degrees(series["qa"]), abs=1e-12)
    assert angle.lines[0].get_ydata() == pytest.approx(45)  # the target of the file, behind
    tip = starting(figure, "deflection")
    assert tip.get_ylabel() == "[mm]"
    assert line(tip, "arm y").get_ydata() == pytest.approx(1000 * series["tip.arm.y"], abs=1e-12)
    energy = starting(figure, "energies")
    weight = series["energy.gravity"] - series["energy.gravity"][0]
    assert line(energy, "gravity, change").get_ydata() == pytest.approx(weight, abs=1e-15)
    imbalance = starting(figure, "imbalance of energy")
    assert imbalance.get_yscale() == "log" and imbalance.get_ylabel() == "[J]"
    assert np.nanmax(imbalance.lines[0].get_ydata()) == np.abs(series["energy.balance"]).max()
    low, high = np.log10(imbalance.get_ylim())
    assert low == round(low) and high == round(high)
    assert figure.get_suptitle() == "simulate khang, order 2"


@pytest.mark.slow
def test_deviations_are_from_what_drives_look_at(picture):
    """Of the canadarm from its motion; not of a joint that is held to it, nor from a target that stands still."""
    robot, series = shipped("canadarm"), moved("canadarm").series
    wanted = simulation.commanded(robot, series["t"])
    k, T, t = 0.075, 10, series["t"]
    # Equation (44) of Mohan and Saha.
    assert wanted["q1"] == pytest.approx(k * (t - T / np.pi * np.sin(np.pi * t / T)), abs=1e-15)
    axis = starting(picture(simulation.draw, moved("canadarm")), "deviation")
    scale = line(axis, "q1").get_ydata()[-1] / (series["q1"] - wanted["q1"])[-1]
    assert scale in (pytest.approx(1e3), pytest.approx(1e6), pytest.approx(180 / np.pi))  # mrad, µrad or degrees
    for name in ("spin-up", "khang"):
        assert simulation.commanded(shipped(name), np.zeros(3))
        assert "deviation" not in " ".join(panels(picture(simulation.draw, moved(name))))


def test_deviations_of_elastic_joints_are_those_of_their_motors(picture):
    """As in the summary: what is commanded is the motor, whose shaft twists under the weight of the link."""
    links = "{name: arm, joint: {type: revolute, name: j, rotor_inertia: 1, elastic: {stiffness: 1000}}, "
    links += "pose: {}, rigid: {mass: 1, com: [1, 0, 0]}}"
    motion = "motion: {j: {type: trapezoid, from: 0, to: 1, duration: 1}}"
    robot = kronbot.loads(f"kronbot: 1\nname: arm\ngravity: [0, -9.81, 0]\nlinks: [{links}]\n{motion}\n")
    result = robot.simulate(duration=0.2, step=0.01, solver="rodas")
    figure = picture(simulation.draw, result)
    drawn = np.abs(line(starting(figure, "deviation"), "j.motor").get_ydata()).max()
    peak = result.summary["peak_deviation.j"]
    assert drawn / peak in (pytest.approx(1e3), pytest.approx(1e6), pytest.approx(180 / np.pi))
    assert starting(figure, "joint angles").get_title(loc="left") == "joint angles, grey: motors as commanded"


@pytest.mark.slow
def test_deviations_are_not_drawn_twice(picture):
    """Joints held at one target deviate as they move; beside others, who starts away from a target is told."""
    links = "".join(
        f"{{name: l{name}, joint: {{type: {kind}, name: {name}}}, pose: {{}}, rigid: {{mass: 1, com: [0, 1, 0]}}}}, "
        for name, kind in (("s", "prismatic"), ("a", "revolute"), ("b", "revolute"))
    )
    gains, given = "pd: {kp: 50, kd: 9}", "kronbot: 1\nname: cart\ngravity: [0, 0, -1]\n"
    drive = "simulate: {drive: {" + "".join(f"{name}: {{{gains}}}, " for name in "sab") + "}}\n"

    def titles(motion, **q):
        robot = kronbot.loads(f"{given}links: [{links}]\n{drive}motion: {{{motion}}}\n")
        return " ".join(panels(picture(simulation.draw, robot.simulate(q=q, qd={"s": 1.0}, duration=0.2, step=0.02))))

    assert "deviation" not in titles("", b=0.1)  # s goes beyond its target, as its own panel shows
    moved = titles("a: {type: polynomial, degree: 5, from: 0, to: 1, duration: 1}, b: 2", b=0.1)
    assert "deviation from the commanded motion; b, s: see above" in moved


def test_deviations_of_what_is_small_beside_other_columns(picture):
    """A cart that follows its motion exactly, before a stone a world away: 0 in the panel beside it, not in this."""
    cart = "{name: cart, joint: {type: prismatic, name: s}, pose: {}, rigid: {mass: 1}}"
    stone = "{name: stone, parent: world, joint: {type: prismatic, name: far}, pose: {}, rigid: {mass: 1}}"
    drive = "simulate: {drive: {s: {motion: {type: polynomial, degree: 5, from: 0, to: 1e-3, duration: 1}}}}"
    robot = kronbot.loads(f"kronbot: 1\nname: cart\ngravity: [0, 0, 0]\nlinks: [{cart}, {stone}]\n{drive}\n")
    result = robot.simulate(q={"far": 1e7}, duration=0.2, step=0.02)
    assert 0 < result["s"][1] < simulation.curves.ROUNDING * 1e7
    assert "deviation" not in " ".join(panels(picture(simulation.draw, result)))


@pytest.mark.slow
def test_twists_of_what_is_small_beside_other_columns(picture):
    """Of a shaft that twists gently, before a stone a world away: the difference that there is."""
    arm = "{name: arm, joint: {type: revolute, name: j, rotor_inertia: 1, elastic: {stiffness: 1000}}, pose: {}, "
    arm += "rigid: {mass: 1, com: [1, 0, 0]}}"
    stone = "{name: stone, parent: world, joint: {type: prismatic, name: far}, pose: {}, rigid: {mass: 1}}"
    motion = "motion: {j: {type: polynomial, degree: 5, from: 0, to: 1e-3, duration: 1}}"
    robot = kronbot.loads(f"kronbot: 1\nname: arm\ngravity: [0, 0, 0]\nlinks: [{arm}, {stone}]\n{motion}\n")
    result = robot.simulate(q={"far": 1e7}, duration=0.2, step=0.02)
    twist = result["j"] - result["j.motor"]
    drawn = line(starting(picture(simulation.draw, result), "twist of shafts"), "j").get_ydata()
    assert drawn / drawn[-1] == pytest.approx(twist / twist[-1], abs=1e-12)
    # Beside a joint that has turned for ever these are rounding.
    turned = {name: each + 1e9 if name in ("j", "j.motor") else each for name, each in result.series.items()}
    assert "twist" not in " ".join(panels(picture(simulation.draw, replace(result, series=turned))))


def test_snapshots_are_of_what_moves_where_a_robot_rests_most_of_the_time():
    """A joint that goes on its way late, and a beam that is bent on it alone, among rows that are one place."""
    t = np.linspace(0, 10, 1001)
    way = np.clip(t - 8, 0, 1)
    late = np.column_stack([3 * way**2 * (3 - 2 * way), 1e-3 * np.sin(2 * np.pi * way), np.zeros_like(t)])
    for states, begin, end in ((late, 8, 9), (late[::-1], 1, 2)):
        seen = t[moving.snapshots(states)]
        assert len(seen) == moving.SNAPSHOTS and np.ptp(np.diff(seen)) < 0.02
        assert begin <= seen[0] < begin + 0.1 and end - 0.1 < seen[-1] <= end
        bent = np.abs(states[moving.snapshots(states), 1])
        assert bent.max() > 0.9e-3 and bent[[0, -1]].max() < 0.1e-3
    for states in (late[780:920], late[:1], late[:2], np.zeros((1001, 2)), np.zeros((50, 0))):  # as ever
        rows = np.linspace(0, len(states) - 1, min(len(states), moving.SNAPSHOTS)).round()
        assert moving.snapshots(states).tolist() == rows.tolist()


@pytest.mark.slow
def test_snapshots_are_the_robot_to_scale(picture):
    robot, series = shipped("canadarm"), moved("canadarm").series
    axis = starting(picture(simulation.draw, moved("canadarm")), "at t = 0")
    assert axis.get_aspect() == 1 and (axis.get_xlabel(), axis.get_ylabel()) == ("x [m]", "y [m]")
    path, *rest = axis.lines
    assert path.get_xdata() == pytest.approx(series["endpoint.x"], abs=0)
    arms_drawn = [each for each in rest if len(each.get_xdata()) > 1 and each.get_linestyle() == "-"]
    links = len(robot.links) + 1
    assert len(arms_drawn) == moving.SNAPSHOTS * links
    for place, row in ((links - 1, 0), (-1, -1)):
        end = [values[-1] for values in arms_drawn[place].get_data()]
        assert end == pytest.approx([series["endpoint.x"][row], series["endpoint.y"][row]], abs=1e-12)
    shades = [np.mean(mpl.colors.to_rgb(arms_drawn[k * links].get_color())) for k in range(moving.SNAPSHOTS)]
    assert shades == sorted(shades, reverse=True) and len(set(shades)) == moving.SNAPSHOTS
    # Below every diagram marks in the same shades say when they are.
    for title in ("joint angles", "energies"):
        (marks,) = starting(axis.figure, title).collections
        rows = np.linspace(0, len(series["t"]) - 1, moving.SNAPSHOTS).round().astype(int)
        assert np.array(marks.get_offsets())[:, 0] == pytest.approx(series["t"][rows])
        drawn = [mpl.colors.to_rgb(arms_drawn[k * links].get_color()) for k in range(moving.SNAPSHOTS)]
        assert marks.get_facecolor()[:, :3] == pytest.approx(np.array(drawn))


@pytest.mark.slow
def test_a_run_that_stopped_early(picture):
    """With the least that there can be."""
    whole, rows = moved("khang"), 1
    summary = {**whole.summary, "complete": False, "end": float(whole.series["t"][rows - 1])}
    part = replace(whole, series={name: values[:rows] for name, values in whole.series.items()}, summary=summary)
    figure = picture(simulation.draw, part)
    demand_sound(figure)
    assert f"incomplete, stopped at t = {summary['end']:g} s" in figure.get_suptitle()


@pytest.mark.slow
def test_many_joints_and_strange_names(picture):
    """As many curves as can be told apart; signs that matplotlib takes for formulas; letters that no font has."""
    links = "\n".join(
        f"  - {{name: l{i}, joint: {{type: revolute, name: {'j' * 60}{i}}}, dh: {{a: 0.2, d: 0, alpha: 0, theta: 0}}, "
        "rigid: {mass: 1, inertia: {Izz: 0.01}}}"
        for i in range(9)
    )
    head = "kronbot: 1\nname: 'a $x^$ ${'\nconvention: standard\ngravity: [0, -9.81, 0]\nlinks:\n"
    robot = robots_in_tests.model(head + links)
    figure = picture(simulation.draw, robots_in_tests.run(robot, duration=0.2, step=0.05, rtol=1e-5).result)
    demand_sound(figure)
    assert figure.get_suptitle() == "simulate a $x^$ ${, order 2; 0: joint torques"
    angles = starting(figure, "joint angles")
    assert angles.get_title(loc="left") == "joint angles, 8 of 9" and len(angles.lines) == curves.CURVES


def test_letters_that_no_font_has_are_no_warning(tmp_path):
    robot = beam("柱", "梁")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        modes.draw(vibration.vibration(robot, np.zeros(3), np.zeros(3), None))


def test_curves_of_unlike_size_do_not_hide_each_other():
    t = np.linspace(0, 1, 5)
    given = [("big", "m", 1.0), ("other", "rad", 3.0), ("near", "m", 0.1), ("small", "m", 1e-3), ("noise", "m", 1e-14)]
    found = curves.diagrams("x", [Curve(name, unit, size * t) for name, unit, size in given])
    assert [[curve.label for curve in diagram.curves] for diagram in found] == [["big", "near"], ["small"], ["other"]]


def test_very_many_rows_are_thinned_to_what_paper_shows(picture):
    """Neither a peak nor the ends nor a gap is lost."""
    t = np.linspace(0, 1, 500_001)
    values = np.sin(5000 * t)
    values[123_456], values[-1], values[:10_000] = 7, -5, np.nan
    x, y = curves.thinned(t, values)
    assert len(x) <= 2 * curves.STEPS + 2 and (np.diff(x) > 0).all()
    assert (np.nanmax(y), x[np.nanargmax(y)]) == (7, t[123_456]) and (x[-1], y[-1]) == (1, -5) and np.isnan(y[0])
    long = moved("khang")
    rows = np.linspace(0, len(long.series["t"]) - 1, 50_001).astype(int)
    series = {name: column[rows] for name, column in long.series.items()} | {"t": np.linspace(0, 1, 50_001)}
    figure = picture(simulation.draw, replace(long, series=series))
    assert max(len(each.get_xdata()) for axis in figure.axes for each in axis.lines) <= moving.ROWS


@pytest.mark.parametrize(
    ("peak", "unit", "factor", "shown"),
    [
        (1.0, "rad", 180 / np.pi, "deg"), (1e-3, "rad", 1e3, "mrad"), (0.15, "m", 1e3, "mm"), (0.5, "m", 1, "m"),
        (7e4, "N m", 1e-3, "kN m"), (2e-7, "J", 1e9, "nJ"), (5.0, "1/m", 1, "1/m"), (0.0, "m", 1, "m"),
        (7e9, "N m", 1e-9, "GN m"), (5e-12, "J", 1e12, "pJ"),
        (1e30, "J", 1, "J"),
    ],
)  # fmt: skip
def test_readable_units(peak, unit, factor, shown):
    assert style.readable(peak, unit) == (pytest.approx(factor), shown)


def test_planes_that_show_the_robot():
    """A straight planar arm in the plane of its motion, a spatial one from two sides, gravity pointing down."""
    for name, seen in {"canadarm": ["xy"], "piedboeuf": ["xy"], "spatial": ["xz", "xy"]}.items():
        robot = shipped(name, "1")
        found = arms.views(robot, np.zeros((1, robot.n)))
        assert ["xyz"[view.x] + "xyz"[view.y] for view in found] == seen
        assert not any(view.down for view in found)
    robot = shipped("stacker-numeric")  # its y-axis points down
    found = arms.views(robot, np.full((1, 3), 0.3), most=3)
    assert {("xyz"[view.x] + "xyz"[view.y], view.down) for view in found} == {("xy", True), ("zy", True), ("xz", False)}
    assert [view.along for view in found if not view.down] == ["y"]


PENDULUM = """
kronbot: 1
name: pendulum
gravity: [0, -9.81, 0]
links:
  - name: bob
    joint: {type: revolute, name: q}
    pose: {xyz: [0, 0, 0]}
    rigid: {mass: 1, com: [0.5, 0, 0], inertia: {Izz: 0.01}}
endpoint: {position: [0, 0, 0]}
"""


@pytest.mark.parametrize(("modes", "flat"), [("v: 2", True), ("v: 1, w: 1", False), ("v: 1, torsion: 1", True)])
def test_modes_that_leave_the_plane_are_seen_in_space(modes, flat):
    """Where the robot rests in it; twist alone moves no point."""
    beam = f"{{length: 1.2, mass: 4, EI: {{y: 300, z: 300}}, GJ: 9, polar_inertia: 0.1, modes: {{{modes}}}}}"
    head = "kronbot: 1\nname: oop\ngravity: [0, 0, 0]\nlinks:\n"
    robot = kronbot.loads(f"{head}  - {{name: a, joint: {{type: revolute, name: s}}, pose: {{}}, flexible: {beam}}}\n")
    shapes = [each.direction for each in swinging(robot.modes(), "_locked")]
    assert Shown(robot.model).seen(np.zeros((1, robot.model.n)), shapes)["flat"] is flat
    assert f'"flat":{str(flat).lower()}' in robot.modes().view().html


def test_a_link_that_has_nothing_but_a_body_is_seen_in_the_plane_of_its_motion(picture):
    """At every instant: a line leads to its centre of mass. Beside a line to an endpoint there is none."""
    robot = kronbot.loads(PENDULUM)
    axis = starting(picture(simulation.draw, robot.simulate(duration=2, step=0.1)), "at t = ")
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("x [m]", "y [m]")
    links = [line.get_xydata() for line in axis.lines if line.get_solid_capstyle() == "round"]
    lengths = [length for ends in links if (length := np.linalg.norm(ends[-1] - ends[0])) > 0]
    assert lengths == pytest.approx([0.5] * moving.SNAPSHOTS)
    assert Shown(robot.model).seen(np.zeros((1, 1)))["eye"] == pytest.approx([0, 0, 1], abs=1e-3)
    q = np.array([0.3])
    for text, count in ((PENDULUM, 3), (PENDULUM.replace("endpoint: {position: [0,", "endpoint: {position: [1,"), 2)):
        assert len(drawing.lines(kronbot.loads(text).model)(q)) == count


ROPE = "elements: [{name: s, between: [world, bob], points: [[0, 2, 0], [0.5, 0, 0]], type: spring, stiffness: 1}]"


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        (PENDULUM, ["xy"]),
        (PENDULUM.replace("xyz: [0, 0, 0]", "xyz: [0, 0, 1]"), ["xz", "zy"]),
        (PENDULUM.replace("com: [0.5, 0, 0], ", "") + ROPE, ["xy"]),
    ],
)
def test_planes_show_bodies_and_elements(text, seen):
    """Those of a mast that turns about itself, and what holds a link without any extent."""
    robot = kronbot.loads(text).model
    found = arms.views(robot, np.array([[0.3]]))
    assert ["xyz"[view.x] + "xyz"[view.y] for view in found] == seen


@pytest.mark.slow
def test_poles_and_frequency_response(picture):
    """The response is that of the second-order model, P (K + i w D - w^2 M)^-1 E."""
    robot = shipped("spatial", "1")
    result = linear(robot, point(robot, q2=0.5, q4=0.3))
    figure = picture(linearize.draw, result, ("endpoint.z", "torque.q2"))
    axis = starting(figure, "poles")
    poles = result.arrays["poles"].values
    found = {complex(x, y) for each in axis.lines if each.get_marker() == "x" for x, y in each.get_xydata()}
    assert found == {complex(pole.real, pole.imag) for pole in poles if pole != 0}
    assert line(axis, "1 at 0: free coordinates").get_xydata().tolist() == [[0, 0]]
    magnitude, phase = starting(figure, "magnitude of endpoint.z by torque.q2"), starting(figure, "phase")
    assert magnitude.get_ylabel() == "[m/(N m)]" and phase.get_ylabel() == "[deg]"
    frequencies, sizes = magnitude.lines[0].get_data()
    M, D, K = (result.arrays[name].values for name in ("M_L", "D_L", "K_L"))
    P = result.arrays["C"].values[result.arrays["C"].rows.index("endpoint.z"), : robot.n]
    E = np.eye(robot.n)[robot.coordinates.index("q2")]
    expected = np.array([P @ np.linalg.solve(K + 1j * w * D - w**2 * M, E) for w in frequencies])
    # Two ways to solve a system with a condition number around 1e8.
    assert sizes == pytest.approx(np.abs(expected), rel=1e-6)
    turned = phase.lines[0].get_ydata() - np.degrees(np.angle(expected))
    assert turned / 360 == pytest.approx(np.round(turned / 360), abs=1e-6)
    assert frequencies[0] == pytest.approx(np.abs(poles[poles != 0]).min() / 10)


def test_a_pole_that_is_lost_in_rounding_is_no_free_coordinate(picture):
    """A joint spring as strong as the weight pulls over: the two cancel but for rounding, and the pole is undecided."""
    robot = kronbot.loads(UPRIGHT)
    answer = robot.linearize(q={"q1": np.pi / 2})
    assert answer.summary["free_coordinates"] == 0
    axis = starting(picture(linearize.draw, answer), "poles")
    assert line(axis, "1 at 0").get_xydata().tolist() == [[0, 0]]


def test_response_of_a_free_joint_and_of_an_undamped_arm(picture):
    """One free coordinate: 1/(J w^2), phase -180 all along; an undamped arm has phases 0 and -180 only."""
    robot = shipped("stacker-numeric")
    result = linear(robot, inputs=("torques",))
    figure = picture(linearize.draw, result, ("q3", "torque.q3"))
    frequencies, sizes = starting(figure, "magnitude").lines[0].get_data()
    inertia = 1 / np.linalg.inv(result.arrays["M_L"].values)[2, 2]
    assert sizes == pytest.approx(1 / (inertia * frequencies**2), rel=1e-9)
    assert set(starting(figure, "phase").lines[0].get_ydata()) == {-180.0}
    figure = picture(linearize.draw, linear(shipped("canadarm")))
    assert set(starting(figure, "phase of q1 by torque.q1").lines[0].get_ydata()) == {-180.0, 0.0}


@pytest.mark.slow
def test_the_pair_that_is_drawn(picture):
    """By default the first that answers: a beam along x gives no answer to a force along it."""
    robot = beam()
    result = linear(robot)
    pairs = len(result.arrays["C"].rows) * len(result.arrays["B"].columns)
    assert f"magnitude of endpoint.y by force.y, 1 of {pairs} pairs" in panels(picture(linearize.draw, result))
    figure = picture(linearize.draw, result, ("endpoint.z", "force.z"))
    assert starting(figure, "magnitude of endpoint.z").get_ylabel() == "[m/N]"
    for pair, words in ((("endpoint.w", "force.z"), "no output 'endpoint.w'"), (("endpoint.z", "f"), "no input 'f'")):
        with pytest.raises(UsageError, match=words):
            linearize.draw(result, pair)
    silent = linear(robot, inputs=())
    assert not any("magnitude" in title for title in panels(picture(linearize.draw, silent)))
    along = along_a_motion(shipped("torso"), [0.0, 1.0], np.eye(1), np.eye(1))
    with pytest.raises(UsageError, match="not for one along a motion"):
        linearize.draw(along, ("q1", "torque.q1"))
    with pytest.raises(UsageError, match="locked"):
        linearize.draw(linear(robot, locked=range(3)))
    with pytest.raises(UsageError, match="all coordinates are locked: along the motion"):
        linearize.draw(along_a_motion(shipped("torso"), [0.0, 1.0], np.zeros((0, 0)), np.zeros((0, 0))))


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (["--pair", "a,torque.qa"], "--pair: no output 'a'"),
        (["--pair", "qa,b"], "--pair: no input 'b'"),
        (["--pair", "qa/b"], "--pair: no input 'b'"),
        (["--pair", "qa"], "--pair: the names of an output and an input are wanted, as in endpoint.y,torque.q1"),
        (["--motion", "--pair", "qa,torque.qa"], "--pair is for a model about a point"),
        (["--panels", "multiplier"], "no panel 'multiplier'"),
        (["--response", "step", "--panels", "phase"], "no panel 'phase'"),
        (["--motion", "--panels", "pole"], "no panel 'pole'"),
    ],
)
def test_what_no_picture_has_is_told_before_anything_is_computed(asked, told, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(Robot, "linearize", None)
    monkeypatch.setattr(Robot, "linearize_along", None)
    assert run(["linearize", "khang", *asked, "--plot", str(tmp_path / "x.png")]) == 2
    printed = capsys.readouterr()
    assert told in printed.err and not printed.out


def test_stiffness_and_frequencies_along_a_motion(picture):
    """A beam that is spun up stiffens; frequencies are those of M_L and K_L at the instant."""
    robot = shipped("spin-up")
    result = floquet.linearize_along(robot, None, 20.0, 1.0, None, lambda share: None)
    figure = picture(linearize.draw, result)
    M, K = result.arrays["M_L"].values, result.arrays["K_L"].values
    change = line(starting(figure, "K_L(i,i) of modes"), "beam.v1")
    assert change.get_ydata() == pytest.approx(100 * (1 - K[0, 1, 1] / K[:, 1, 1]) * K[:, 1, 1] / K[-1, 1, 1])
    assert change.get_ydata()[-1] > 20
    drawn = starting(figure, "frequencies, M_L and K_L frozen, joints locked q1")
    assert result.arrays["K_L"].rows[0] == "q1"
    for row in (0, -1):
        squares = eigh(K[row, 1:, 1:], M[row, 1:, 1:], eigvals_only=True)
        found = [each.get_ydata()[row] for each in drawn.lines]
        assert found == pytest.approx(np.sqrt(squares[squares > 1e-9 * squares[-1]]), rel=1e-9)


def along_a_motion(robot, times, M, K, **others):
    """An answer of a model along a motion with one M_L and one K_L at all times."""
    names = list(robot.coordinates)[: len(M)]
    units = {"rows": ["N m"] * len(M), "columns": ["1/(rad)"] * len(M)}
    stacks = {key: np.array([value] * len(times)) for key, value in (("M_L", M), ("K_L", K))}
    arrays = {key: NamedArray(stack, names, units, names, ("t", times)) for key, stack in stacks.items()}
    return Result("linearize", robot.name, "2", arrays=arrays | others, summary={"period": 2.0}, about=robot)


def test_stiffness_of_a_joint_that_is_rounding_is_no_curve(picture):
    """Terms beside it are of other sizes; what is small but there is drawn."""
    robot = shipped("stacker-numeric")
    for small, count in ((1e-10, 2), (1e-3, 3)):
        K = np.diag([small, 2e3, 3e3]) + 1e6 * np.eye(3)[::-1] * [1, 0, 1]
        figure = picture(linearize.draw, along_a_motion(robot, [0.0, 1.0], np.eye(3), K))
        drawn = [axis for axis in figure.axes if axis.get_title(loc="left").startswith("K_L(i,i)")]
        assert sum(len(axis.lines) for axis in drawn) == count


def test_nothing_along_a_motion_is_left_out_unsaid(picture):
    """Small changes have a diagram of their own; what does not change at all, and frequencies too many, are counted."""
    names = [f"upper.v{i + 1}" for i in range(10)]
    share = np.array([0, 0.1, 0.2])[:, None] * np.array([1, 1e-3, *[0] * 8])
    K = (1 + share)[:, :, None] * np.diag(np.arange(1.0, 11) ** 2)
    units = {"rows": ["N"] * 10, "columns": ["m"] * 10}
    stacks = {"K_L": K, "M_L": np.tile(np.eye(10), (3, 1, 1))}
    arrays = {name: NamedArray(values, names, units, names, ("t", [0.0, 1.0, 2.0])) for name, values in stacks.items()}
    robot = robots_in_tests.model(
        "kronbot: 1\nname: r\ngravity: [0, 0, 0]\nlinks:\n  - name: upper\n    joint: {type: fixed}\n    pose: {}\n"
        "    flexible: {length: 1, mass: 1, EI: {z: 1}, modes: {v: 10}}\n"
    )
    figure = picture(linearize.draw, Result("linearize", "r", "2", arrays=arrays, summary={}, about=robot))
    found = [(axis.get_title(loc="left"), len(axis.lines)) for axis in figure.axes]
    assert found == [
        ("K_L(i,i) of modes, change, 2 of 10 that change", 1),
        ("K_L(i,i) of modes, change, 2 of 10 that change", 1),
        ("frequencies, M_L and K_L frozen, the slowest 8 of 10", 8),
    ]


def test_a_light_payload_and_a_joint_in_one_place_are_both_seen(picture):
    """Neither the joint's circle nor a heavier body's hides a body's colour."""
    text = """
kronbot: 1
name: light
gravity: [0, 0, 0]
links:
  - {name: a, joint: {type: revolute, name: q1}, pose: {}, rigid: {mass: 500, com: [0.5, 0, 0]}}
  - name: b
    joint: {type: revolute, name: q2}
    pose: {xyz: [1, 0, 0]}
    hub: {mass: 0.2}
    payload: {mass: 0.2}
"""
    robot = robots_in_tests.model(text)
    figure = picture(jacobian.draw, jacobian_at(robot, np.zeros(2)))
    there = [line for line in figure.axes[0].lines if line.get_xydata().tolist() == [[1.0, 0.0]]]
    marks = sorted((line for line in there if line.get_zorder() > 2), key=lambda line: line.get_zorder())
    looks = [(line.get_marker(), line.get_markerfacecolor()) for line in marks]
    assert looks == [("D", arms.PAYLOAD[1]), ("o", style.GREY), ("o", "white")]
    payload, hub, joint = (line.get_markersize() for line in marks)
    edges = [line.get_markeredgewidth() for line in marks]
    assert joint + edges[2] < hub - edges[1] and hub + edges[1] < math.sqrt(2) * payload - edges[0]


@pytest.mark.slow
def test_statics_tells_orders_that_agree(picture):
    """A rigid arm is the same in every order; what is nowhere anything has no panel, and no order stands beside it."""
    puma = shipped("puma560")
    (result,) = (each.result for each in sweep(puma, {"q2": [0.1, 0.6]}, [[1, 2, 3]], "2").values())
    figure = picture(statics.draw, result)
    assert next(title for title in panels(figure) if "of q2" in title).startswith(
        "torque of q2, order 2 (the same in 1 and 0)"
    )
    assert figure.get_suptitle() == "statics of puma560, order 2, newton solver"
    canadarm = shipped("canadarm")
    (still,) = (each.result for each in sweep(canadarm, {"q1": [0.1, 0.6]}, [[0, 0, 0]], "2").values())
    assert picture(statics.draw, still).get_suptitle() == "statics of canadarm, order 2, newton solver"


def test_curves_that_are_zero_are_told():
    """By their names where they are few, else by their number, once for each unit."""
    drawn, level = curves.Curve("a", "m", np.array([1.0, 2.0])), np.zeros(2)
    still = [curves.Curve(name, "m", level) for name in "bcd"]
    assert [each.title for each in curves.diagrams("tips", [drawn, *still[:2]])] == ["tips; 0: b and c"]
    assert [each.title for each in curves.diagrams("tips", [drawn, *still])] == ["tips; 3 more are 0"]
    small = replace(drawn, label="e", values=1e-3 * drawn.values)
    assert [each.title for each in curves.diagrams("tips", [drawn, small, still[0]])] == ["tips; 0: b", "tips"]
    assert curves.diagrams("tips", still) == []
    unknown = replace(drawn, label="f", values=np.full(2, np.nan))
    assert [each.title for each in curves.diagrams("tips", [drawn, unknown])] == ["tips"]
    assert curves.diagrams("tips", [unknown]) == []


@pytest.mark.slow
def test_statics_of_a_branched_robot_draws_all_tips(picture):
    """And all gauges, and how far the endpoint is from where it would be undeformed."""
    beams = "".join(
        f"  - {{name: b{i}, parent: {parent}, joint: {{type: revolute, name: q{i}}}, pose: {{}}, "
        "flexible: {length: 1, mass: 1, EI: {z: 100}, modes: {v: 1}}}\n"
        for i, parent in enumerate(["world", "b0", "b0", "b2"])
    )
    gauges = ", ".join(f"{{name: g{i}, link: b{i}, x: 0.1}}" for i in range(2))
    text = f"kronbot: 1\nname: tree\ngravity: [0, -9.81, 0]\nlinks:\n{beams}statics: {{gauges: [{gauges}]}}\n"
    robot = robots_in_tests.model(text)
    (result,) = (each.result for each in sweep(robot, {"q0": [0.0, 0.5]}, [[0, 0, 0]], "2").values())
    titles = list(panels(picture(statics.draw, alone(result))))
    assert [title for title in titles if title.startswith("deflection")] == [
        f"deflection of the tip of b{i}, y, order 2" for i in (3, 2, 1, 0)
    ]
    assert [title for title in titles if title.startswith("curvature")] == [
        f"curvature at g{i}, order 2" for i in range(2)
    ]
    sag = starting(picture(statics.draw, alone(result)), "displacement of the endpoint, y").lines[0].get_ydata()
    states = np.column_stack([result.series[name] for name in places_in_statics(robot)])
    ends = [Robot(robot).kinematics(list(q))["T"][:3, 3] for q in (*states, *robot.undeformed(states))]
    (factor,) = {round(value / (end - rest)[1]) for value, end, rest in zip(sag, ends[:2], ends[2:], strict=True)}
    assert sag == pytest.approx(factor * (np.array(ends[:2]) - ends[2:])[:, 1], rel=1e-9)
    assert factor in (1, 1000)


def test_slow_frequencies_are_drawn_beside_fast_ones(picture):
    """Ten decades apart, and coupled; a direction that nothing holds has none."""
    M = np.array([[1, 0.1, 0], [0.1, 1, 0.1], [0, 0.1, 1]])
    K = np.diag([0, 1e-10, 1e10])
    drawn = starting(picture(linearize.draw, along_a_motion(shipped("torso"), [0.0, 1.0], M, K)), "frequencies").lines
    slow, fast = (each.get_ydata()[0] for each in drawn)
    assert slow == pytest.approx(1e-5 * np.sqrt(np.linalg.inv(M[:2, :2])[1, 1]), rel=1e-9)  # the fast one stays put
    assert fast == pytest.approx(1e5 * np.sqrt(np.linalg.inv(M)[2, 2]), rel=1e-9)


def test_floquet_multipliers_and_the_unit_circle(picture):
    """Those that grow are marked otherwise."""
    found = {"multipliers": [1.5, 0.6 + 0.8j, 0.6 - 0.8j, 0.1], "multiplier_errors": [1e-9] * 4}
    arrays = {key: NamedArray(np.array(values), list("1234"), "1") for key, values in found.items()}
    answer = along_a_motion(shipped("torso"), [0.0, 1.0, 2.0], np.eye(1), np.eye(1), **arrays)
    figure = picture(linearize.draw, answer)
    axis = starting(figure, "Floquet multipliers, period 2 s")
    assert axis.get_aspect() == 1
    assert line(axis, "of deviations that grow").get_xydata().tolist() == [[1.5, 0]]
    assert len(line(axis, "of deviations that stay or fade").get_xdata()) == 3
    circle = line(axis, "unit circle").get_xydata()
    assert np.hypot(*circle.T) == pytest.approx(1)


def test_mode_shapes_on_the_arm(picture):
    """Both sides, a tenth of the arm, locked and free side by side, frequencies in the titles."""
    robot = shipped("canadarm")
    result = vibration.vibration(robot, np.zeros(robot.n), np.zeros(robot.n), None)
    figure = picture(modes.draw, result)
    first = result.arrays["frequencies_locked"].values[0]
    axis = panels(figure)[f"locked: {first:.4g} rad/s, {first / 2 / np.pi:.3g} Hz"]
    links = len(robot.links) + 1
    drawn = [each for each in axis.lines if each.get_marker() == "None" and each.get_color() != "black"]
    rest, left, right = (drawn[k * links : (k + 1) * links] for k in range(3))
    assert {each.get_color() for each in rest} == {style.GREY}
    heights = [np.concatenate([each.get_ydata() for each in group]) for group in (rest, left, right)]
    assert heights[0] == pytest.approx(0) and heights[1] == pytest.approx(-heights[2])
    assert np.abs(heights[2]).max() == pytest.approx(modes.SHARE * 15)
    titles = list(panels(figure))
    assert [title.split(":")[0] for title in titles] == ["locked", "free"] * modes.SHOWN
    assert titles[1].startswith(f"free: {result.arrays['frequencies_free'].values[3]:.4g} rad/s")


def test_shapes_that_lines_do_not_show(picture):
    """A rigid robot, where nothing swings."""
    rigid = shipped("stacker-numeric")
    figure = picture(modes.draw, vibration.vibration(rigid, np.zeros(3), np.zeros(3), None))
    assert list(panels(figure)) == ["no mode swings"]
    assert figure.get_suptitle().endswith("joints locked (none) and free (none)")


def test_long_titles_keep_their_size_in_some_lines():
    """Behind semicolons, commas and colons, as many as they need; a name that has none is in smaller type."""
    loads = "main-boom-of…ane-in-steel 5 kN, endpoint 100 N m, jib 5 kN, 3 more"
    title = f"the case to scale (order exact), grey: undeformed; not drawn: {loads}"
    with style.look():
        made = style.Picture(f"statics of a crane, {title}", [["a", "b"]], [2.3])
        style.head(made["a"], title)
        style.head(made["b"], "n" * 60)
    whole, name = head(made["a"]), head(made["b"])
    assert whole.get_fontsize() == style.TITLE and whole.get_text().replace("\n", " ") == title
    assert name.get_fontsize() < style.TITLE / 1.4 and name.get_text() == "n" * 60
    (above,) = made.figure.texts
    assert above.get_fontsize() == style.HEAD and above.get_text().count("\n") == 1
    assert all(style.TITLE * lettering.width(line) < 72 * style.WIDTH / 2 for line in whole.get_text().split("\n"))


def test_modes_that_fall_over_are_said_not_to_be_drawn(picture):
    """Upside down a pendulum falls or creeps by two real poles, and a heavily damped one creeps."""
    text = (
        "kronbot: 1\nname: inverted\ngravity: [0, -9.81, 0]\nlinks:\n  - name: rod\n"
        "    joint: {type: revolute, name: q1, damping: DAMPING}\n    pose: {}\n"
        "    rigid: {mass: 1, com: [1, 0, 0], inertia: {Izz: 0.1}}\n"
    )
    for damping, posture, told in (
        (0.01, np.pi / 2, "free (none that swing; 1 falls over, not drawn)"),
        (50, -np.pi / 2, "free (none that swing)"),
        (0.01, -np.pi / 2, "free (all 1); grey: at rest, dotted: back"),
    ):
        result = kronbot.loads(text.replace("DAMPING", str(damping))).modes(q={"q1": posture})
        assert picture(modes.draw, result).get_suptitle().replace("\n", " ").endswith(told)


@pytest.mark.slow
def test_what_is_left_out_is_said_and_convergence_is_drawn(picture):
    robot = shipped("canadarm")
    result = vibration.vibration(robot, np.zeros(robot.n), np.zeros(robot.n), 3)
    figure = picture(modes.draw, result)
    assert figure.get_suptitle().endswith("locked (5 of 6) and free (5 of 6); grey: at rest, dotted: back")
    axis = starting(figure, "locked: frequencies above those with 3 modes")
    table = result.arrays["convergence_locked"].values
    first = axis.lines[0]
    assert first.get_xdata().tolist() == [1, 2]
    assert first.get_ydata() == pytest.approx(100 * (table[:2, 0] / table[2, 0] - 1))
    assert first.get_label() == f"{table[2, 0] / 2 / np.pi:.4g} Hz"
    model = linear(shipped("canadarm"))
    assert (
        picture(linearize.draw, model).get_suptitle().endswith("4 of 6 modes that swing; grey: at rest, dotted: back")
    )


@pytest.mark.slow
def test_pictures_of_sweeps_have_their_orders(monkeypatch, capsys):
    """Of a sweep those below, and order 2 where it is there; those that are known are not solved again."""
    solved = []
    solve = static_question.statics

    def noted(robot, *given):
        solved.append(robot.order)
        return solve(robot, *given)

    monkeypatch.setattr(static_question, "statics", noted)
    (two,) = (each.result for each in sweep(shipped("piedboeuf"), {"theta": [0, 0.5]}, [[0, 0, 0]], "2").values())
    assert list(statics.by_order(two)) == ["2", "1", "0"] and solved == ["2", "1", "0"]
    orders = sweep(shipped("piedboeuf"), {"theta": [0, 0.5]}, [[0, 0, 0]], "0", "1", "2", "exact")
    found = statics.by_order(side_by_side(orders).result)
    assert list(found) == ["exact", "2", "1", "0"] and len(solved) == 7
    for order, result in found.items():
        for name, column in orders[order].result.series.items():
            assert (result.series[name] == column).all()


@pytest.mark.slow
def test_postures_with_nothing_in_common_stand_over_their_case(picture):
    """And the title names the orders that are drawn."""
    robot = shipped("canadarm")
    q = np.array([point(robot, q2=0.1), point(robot, q1=0.3, q2=1.0)])
    cases = Sweep({}, [[0, -10, 0]], []).cases(robot, q, {})
    inquiry = Inquiry(cases, "newton", None)
    result = static_question.at_orders(robot, inquiry, ("2",), lambda share: None)["2"].result
    figure = picture(statics.draw, result)
    assert figure.get_suptitle() == "statics of canadarm, order 2, newton solver"
    axis = starting(figure, "torque of q1")
    assert axis.get_xlabel() == "case"
    assert axis.lines[0].get_xdata().tolist() == [1, 2]


def rim(axis, colour):
    """Points (2, K) of the outline of an ellipse."""
    curve = next(each for each in axis.lines if each.get_color() == colour and len(each.get_xdata()) > 100)
    return curve.get_xydata().T


def test_velocity_ellipses(picture):
    """All velocities J u with |u| = 1 lie in it: x^T (J J^T)^-1 x = 1 on its rim, in one plane or in projections."""
    for name, q in (("canadarm", {"q1": 0.3, "q2": 0.8, "q3": 0.5}), ("puma560", {"q1": 0.5, "q2": 0.6, "q3": -1.2})):
        robot = shipped(name)
        result = jacobian_at(robot, point(robot, **q))
        figure = picture(jacobian.draw, result)
        J = result.arrays["J_T"].values[:, [joint.index for joint in robot.joints]]
        size = arms.size(drawing.lines(robot)(point(robot, **q)))
        sizes = np.linalg.svd(J, compute_uv=False)
        shown = starting(figure, "velocity: semi-axes")
        assert f"{sizes[0]:.3g}, {sizes[1]:.3g}" in shown.get_title(loc="left")
        for axis in [each for each in figure.axes if each.lines[-2].get_color() == style.COLOURS[0]]:
            plane = ["xyz".index(text()[0]) for text in (axis.get_xlabel, axis.get_ylabel)]
            points = rim(axis, style.COLOURS[0])
            centre = points[:, :-1].mean(axis=1)
            x = (points - centre[:, None]) * sizes[0] / (jacobian.SHARE * size)
            inverse = np.linalg.inv((J @ J.T)[np.ix_(plane, plane)])
            assert np.einsum("ik,ij,jk->k", x, inverse, x) == pytest.approx(1, rel=1e-9)
    assert len(figure.axes) == 4  # of the spatial robot also the angular velocities


def test_flat_ellipses_are_segments(picture):
    """A stretched arm cannot move along itself; a frame that does not move has none."""
    robot = shipped("canadarm")
    axis = starting(picture(jacobian.draw, jacobian_at(robot, np.zeros(robot.n))), "velocity: semi-axis 17.6")
    points = rim(axis, style.COLOURS[0])
    assert points[0] == pytest.approx(15) and np.ptp(points[1]) == pytest.approx(2 * jacobian.SHARE * 15, rel=1e-3)
    fixed = beam()
    assert "velocity: none" in panels(picture(jacobian.draw, jacobian_at(fixed, np.zeros(3))))


@pytest.mark.slow
def test_ellipses_do_not_depend_on_the_axes_of_a_jacobian(picture):
    robot = shipped("spatial", "1")
    q = point(robot, q1=0.4, q2=0.5, q3=0.1, q4=0.3)
    for frame in ("endpoint", "base-to:boom,forearm"):
        drawn = [picture(jacobian.draw, jacobian_at(robot, q, frame, axes)) for axes in ("base", "body")]
        for base, body in zip(*(figure.axes for figure in drawn), strict=True):
            (colour,) = {each.get_color() for each in base.lines} & set(style.COLOURS[:2])
            points = [np.sort(np.hypot(*(rim(axis, colour) - [[1], [2]]))) for axis in (base, body)]
            # The same curve, begun at the other end of an axis perhaps.
            assert points[0] == pytest.approx(points[1], abs=1e-9)
    assert "forearm relative to boom" in drawn[0].get_suptitle()


def test_pictures_refuse_formulas_and_rows():
    robot = shipped("canadarm")
    result = jacobian_at(robot, np.zeros(robot.n))
    J = result.arrays["J_T"]
    formulas = replace(result, arrays={**result.arrays, "J_T": replace(J, values=J.values.astype(str))})
    rows = replace(result, arrays={**result.arrays, "J_T": replace(J, values=J.values[None], axis=("case", [1.0]))})
    for wrong, words in ((formulas, "not formulas"), (rows, "one point")):
        with pytest.raises(UsageError, match=words):
            wrong.plot()


@pytest.mark.slow
def test_statics_in_two_views_and_at_all_orders(picture):
    """A spatial robot from two sides beside each other; a column of text among the numbers; lower orders below."""
    robot = shipped("spatial", "0")
    (result,) = (each.result for each in sweep(robot, {"q2": [0.1, 0.6, 1.1]}, [[0, 0, 0]], "0").values())
    figure = picture(statics.draw, result)
    demand_sound(figure)
    assert list(panels(figure))[:2] == ["all 3 cases to scale, grey: undeformed", "the same, seen along z"]
    torque = panels(figure)["torque of q2, order 0"]
    assert torque.lines[0].get_ydata() == pytest.approx(result.series["torque.q2"], abs=0)
    robot = shipped("piedboeuf")
    every = side_by_side(sweep(robot, {"theta": [0.3]}, [[0, -5, 0]], "0", "1", "2", "exact")).result
    assert every.series["order"].dtype.kind == "U"
    figure = picture(statics.draw, every)
    demand_sound(figure)
    assert list(panels(figure)) == ["the case to scale, grey: undeformed"]
    assert figure.get_suptitle() == "statics of piedboeuf, order exact beside 2, 1, 0, newton solver"
    assert "statics of piedboeuf, order exact (of all orders this one is shown)" in every.view().html
    axis = panels(figure)["the case to scale, grey: undeformed"]
    assert [text.get_text() for text in axis.get_legend().get_texts()][:4] == [
        "order 0", "order 1", "order 2", "order exact"
    ]  # fmt: skip
    looks = [style.stroke(i) for i in (3, 2, 1, 0)]
    tips = [
        [line.get_ydata()[-1] for line in axis.lines if _is(line, look) and len(line.get_xdata())] for look in looks
    ]
    assert len({min(tip) for tip in tips}) == 4
    assert max(map(min, tips)) == min(tips[0])  # what is straight hangs down by nothing


def _is(line, look):
    return (line.get_color(), line.get_linestyle()) == (look["color"], look["linestyle"])


@pytest.mark.slow
def test_statics_says_which_order_stands_in_space(picture):
    found = sweep(shipped("spatial", "1"), {"q2": [0.3]}, [[0, -50, 0]], "0", "1")
    figure = picture(statics.draw, side_by_side(found).result)
    titles = [axis.get_title(loc="left") for axis in figure.axes]
    assert [title.partition(",")[0] for title in titles if "in space" in title] == ["in space (order 1)"]


def test_statics_says_which_orders_have_other_cases(picture):
    """Those that ended early beside the highest that has any."""
    found = sweep(shipped("piedboeuf"), {"theta": [0.3]}, [[0, -5, 0]], "1", "2")
    (more,) = sweep(shipped("piedboeuf"), {"theta": [0.3, 0.4]}, [[0, -5, 0]], "0").values()
    figure = picture(statics.draw, side_by_side({"0": more} | found).result)
    assert "order 2 beside 1 (without exact, 0, of other cases)" in figure.get_suptitle()


def test_statics_is_undeformed_where_motors_hold_it(picture):
    """Grey links of an elastic joint turn with their motors; in space it says by how much shafts are magnified."""
    links = "{name: arm, joint: {type: revolute, name: j, rotor_inertia: 1, elastic: {stiffness: 1000}}, "
    links += "pose: {rpy: [pi/2, 0, 0]}, rigid: {mass: 2, com: [0.5, 0, 0]}}"
    text = f"kronbot: 1\nname: one\ngravity: [0, 0, -9.81]\nlinks: [{links}]\n"
    robot = kronbot.loads(text + "endpoint: {link: arm, position: [1, 0, 0]}\n")
    figure = picture(statics.draw, robot.statics(q={"j": 1}))
    grey = [line.get_xydata()[-1] for line in figure.axes[0].lines if line.get_color() == statics.GREY]
    assert grey[1] == pytest.approx([math.cos(1), math.sin(1)], abs=1e-12)


@pytest.mark.slow
def test_statics_draws_what_is_not_zero_in_space(picture):
    """Sag in z and torques of joints that are not swept; of many torques it says how many, the swept one first."""
    robot = shipped("spatial", "1")
    (result,) = (each.result for each in sweep(robot, {"q2": [0.1, 0.6]}, [[0, 0, 0]], "1").values())
    figure = picture(statics.draw, alone(result))
    last = [link.name for link in robot.links if link.beam is not None and link.modes][-1]
    sag = starting(figure, f"deflection of the tip of {last}, z, order 1").lines[0].get_ydata()
    series = result.series[f"tip.{last}.z"]
    assert series.any() and sag / sag[0] == pytest.approx(series / series[0], rel=1e-12)
    puma = shipped("puma560")
    (result,) = (each.result for each in sweep(puma, {"q2": [0.1, 0.6]}, [[1, 2, 3]], "2").values())
    torques = [title for title in panels(picture(statics.draw, alone(result))) if "of q" in title]
    assert len(torques) == 3 and torques[0].startswith("torque of q2, order 2; 3 of ")


# Links of mm and of half a kilometre; the widest of letters.
SIZES = [(0.004, "q"), (400, "W" * 40 + "_")]


@pytest.mark.slow
@pytest.mark.parametrize(("length", "name"), SIZES[1:])
def test_statics_of_robots_of_any_size(length, name, picture):
    """Everything on paper: names, numbers, and what tells the curves apart."""
    robot = arm(length, name)
    weight = 250 * length
    forces = [[0, 0, 0], [0, -weight, 0], [weight, -weight, 0]]
    (result,) = (
        each.result
        for each in sweep(robot, {f"{name}1": [0, 0.5, 1.0], f"{name}2": [0, np.pi / 6]}, forces, "1").values()
    )
    figure = picture(statics.draw, result)
    demand_sound(figure)
    (legend,) = figure.legends
    words = [text.get_text() for text in legend.get_texts()]
    assert len(words) == 6 and all(" deg," in each for each in words) and " = 30 deg," in words[-1]
    deflection = starting(figure, "deflection")
    peak = np.abs(result.series[f"tip.{name}b.y"]).max()
    factor, unit = style.readable(peak, "m")
    assert deflection.get_ylabel() == f"[{unit}]"
    assert max(np.abs(each.get_ydata()).max() for each in deflection.lines) == pytest.approx(factor * peak)


@pytest.mark.slow
def test_a_legend_has_as_many_columns_as_fit(picture):
    robot = shipped("piedboeuf")
    (result,) = (each.result for each in sweep(robot, {"theta": [0, 1]}, [[0, -k, 0] for k in range(6)], "2").values())
    figure = picture(statics.draw, alone(result))
    demand_sound(figure)
    (legend,) = figure.legends
    words = legend.get_texts()
    assert len({round(text.get_window_extent().x0) for text in words}) == 6 and words[1].get_text() == "force.y = -1 N"
    # A seventh would be beyond the edge.
    assert figure.bbox.width * 6 / 7 < legend.get_window_extent().width < figure.bbox.width
    assert style.columns(["a" * 500], 500) == 1


def test_a_font_that_cannot_be_read_is_told_as_what_it_is(monkeypatch):
    """Where none could be opened when they were listed: the first one, again."""
    from matplotlib.font_manager import fontManager

    def refuse(path):
        raise OSError(errno.EMFILE, "Too many open files", os.fspath(path))

    monkeypatch.setattr(fontManager, "ttflist", [])
    with style.look():
        assert [font.name for font in fontManager.ttflist] == ["DejaVu Sans"]
    monkeypatch.setattr(fontManager, "ttflist", [])
    monkeypatch.setattr(fontManager, "addfont", refuse)
    with pytest.raises(OSError, match=r"Too many open files: .*DejaVuSans\.ttf"), style.look():
        pass


@pytest.mark.parametrize("words", ["Simulate jQ_@&%3.2e-5, 12 of 14", "W" * 40, "äöü ∂ Ω …", "I", "漢字"])
def test_widths_are_those_of_outlines(words):
    """As matplotlib finds them, arc by arc; what has no ink takes the room of a letter."""
    with style.look():
        outline = TextPath((0, 0), words, size=100).get_extents()
        assert lettering.width(words) == lettering.width(f" {words} ") == pytest.approx(outline.width / 100, rel=1e-12)
        assert lettering.width("") == lettering.width(" ") == lettering.width("\u200b") == 1


def test_long_labels_break_into_lines():
    lines = style.wrapped(["word = 1"] * 30, 400).split("\n")
    assert len(lines) > 2 and ", ".join(line.rstrip(",") for line in lines) == ", ".join(["word = 1"] * 30)
    assert all(style.SAMPLE + style.ENTRY * lettering.width(line.rstrip(",")) <= 400 for line in lines)


@pytest.mark.slow
def test_many_loads(picture):
    """Said how many are drawn; strokes that come again have other marks."""
    robot = shipped("piedboeuf")
    (result,) = (each.result for each in sweep(robot, {"theta": [0, 1]}, [[0, -k, 0] for k in range(14)], "2").values())
    axis = panels(picture(statics.draw, alone(result)))["torque of theta, order 2, 12 of 14"]
    assert len({(each.get_linestyle(), each.get_marker()) for each in axis.lines}) == statics.CURVES == 12


@pytest.mark.slow
def test_statics_over_loads_alone(picture):
    """One curve over the first component that varies where others grow with it."""
    forces = [[k, -2 * k, 0.5 * k] for k in range(4)]
    robot = shipped("piedboeuf")
    (result,) = (each.result for each in sweep(robot, {"theta": [0.3]}, forces, "2").values())
    figure = picture(statics.draw, alone(result))
    demand_sound(figure)
    axis = panels(figure)["torque of theta, order 2"]
    (curve,) = axis.lines
    assert axis.get_xlabel() == "force.x [N]" and not figure.legends
    assert np.array_equal(curve.get_xdata(), result.series["force.x"])
    assert np.array_equal(curve.get_ydata(), result.series["torque.theta"])


def test_loads_that_vary_apart_are_curves_for_each():
    robot = shipped("piedboeuf")
    paired = [[x, y, 0] for x in (1, 2) for y in (1, 2, 3)]
    (result,) = (each.result for each in sweep(robot, {"theta": [0.3]}, paired, "2").values())
    assert [curve.label for curve in statics._curves(robot, result, "force.y")] == ["force.x = 1 N", "force.x = 2 N"]
    assert statics._swept(robot, result) == "force.y"


@pytest.mark.slow
def test_statics_of_a_sliding_joint(picture):
    """A force, over mm where it slides little; level curves are on a scale that does not show their rounding."""
    robot = robots_in_tests.model(LIFT)
    (result,) = (each.result for each in sweep(robot, {"d": [0, 0.001, 0.002]}, [[0, 0, 0]], "2").values())
    noisy = result.series["torque.d"] * (1 + 1e-14 * np.arange(3))
    noisy_result = replace(result, series={**result.series, "torque.d": noisy})
    figure = picture(statics.draw, alone(noisy_result))
    demand_sound(figure)
    axis = panels(figure)["force of d, order 2"]
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("d [mm]", "[N]")
    assert np.diff(axis.get_ylim()) > 1


@pytest.mark.slow
@pytest.mark.parametrize(("length", "name"), SIZES[:1])
def test_models_of_robots_of_any_size(length, name, picture):
    """Arms in mm where they are small; titles and ticks on paper."""
    robot = arm(length, name)
    q = np.zeros(robot.n)
    unit = "mm" if length < 0.1 else "m"
    for figure in (
        picture(modes.draw, vibration.vibration(robot, q, q, None)),
        picture(jacobian.draw, jacobian_at(robot, q)),
        picture(linearize.draw, linear(robot, q), (f"{name}2", f"torque.{name}1")),
    ):
        demand_sound(figure)
        arm_view = figure.axes[-1]
        assert (arm_view.get_xlabel(), arm_view.get_ylabel()) == (f"x [{unit}]", f"y [{unit}]")
    ends = max(np.abs(each.get_xdata()).max() for each in arm_view.lines)
    assert 1.9 * length < ends / (1000 if unit == "mm" else 1) < 2.3 * length


@pytest.mark.parametrize(("start", "end"), [(1234.5, 1234.6), rare(-123456.0, 654321.0)])
def test_ticks_keep_apart(start, end, picture):
    """Long numbers in a narrow panel."""
    t = np.linspace(start, end, 50)

    @style.drawn
    def draw():
        axes = style.Picture("title", [["a", "b", "c"]], [style.HEIGHT])
        for axis in axes.values():
            curves.draw(axis, Curve("t", "s", t), curves.Diagram("x", [Curve("y", "1/m", 1e-5 * np.sin(t))]))
        return axes

    figure = picture(draw)
    demand_sound(figure)
    assert all(len(tick_boxes(axis.xaxis)) > 1 for axis in figure.axes)


@pytest.mark.slow
def test_a_level_signal_shows_no_rounding(picture):
    t = np.linspace(0, 1, 50)

    @style.drawn
    def draw():
        axes = style.Picture("title", [["a", "b"]], [style.HEIGHT])
        level = Curve("torque", "N m", 40 + 1e-13 * np.sin(99 * t))
        curves.draw(axes["a"], Curve("t", "s", t), curves.Diagram("level", [level]))
        decade = Curve("energy", "J", np.full(50, 1e-3))
        curves.draw_logarithmic(axes["b"], Curve("t", "s", t), curves.Diagram("decade", [decade]))
        return axes

    figure = picture(draw)
    demand_sound(figure)
    assert panels(figure)["level"].get_ylim() == pytest.approx((38, 42))
    # Not on the frame, from where it could not be told.
    assert panels(figure)["decade"].get_ylim() == pytest.approx((1e-4, 1e-2))


@pytest.mark.slow
@pytest.mark.parametrize(("degrees", "trifle"), [(-180.0, 0.01), (0.0, 0.0)])
def test_a_constant_phase_is_off_the_frame(degrees, trifle, picture, monkeypatch):
    """Exactly constant, or with a trifle that would make the frame's ends -180 and -90."""
    result = linear(robots_in_tests.model(LIFT))
    found = Response(np.geomspace(1, 100, 9), np.exp(1j * np.radians(degrees + trifle * np.linspace(0, 1, 9))))
    monkeypatch.setattr(linearize, "response", lambda *given: found)
    figure = picture(linearize.draw, result)
    demand_sound(figure)
    axis = starting(figure, "phase")
    y = axis.transAxes.inverted().transform(axis.transData.transform([[10, degrees]]))[0, 1]
    assert 0.03 < y < 0.97


@pytest.mark.slow
def test_labels_of_damping_keep_off_the_poles(picture):
    """Poles all over the corner where the labels would be, and where each line leaves the axes."""
    for seed in range(2):
        rng = np.random.default_rng(seed)
        sizes, ratios = rng.uniform(50, 100, 25), rng.uniform(0.02, 0.3, 25)
        poles = sizes * (-ratios + 1j * np.sqrt(1 - ratios**2))

        @style.drawn
        def draw(poles=poles):
            axes = style.Picture("title", [["a", "b"]], [2 * style.HEIGHT])
            poles_in_plane.draw_poles(axes["a"], poles)
            axes["b"].set_axis_off()
            return axes

        figure = picture(draw)
        figure.settle()
        assert figure.axes[0].texts
        demand_clear_guides(figure.axes[0])


def test_double_poles_are_real_but_for_rounding(picture):
    """No logarithmic scale down to 1e-13 for what is zero."""
    result = linear(shipped("canadarm"))
    poles = result.arrays["poles"]
    values = np.array(poles.values)
    values[np.argsort(np.abs(values.imag))[:2]] = -3 + 1e-13j, -3 - 1e-13j
    assert values.imag.max() > 1
    result = replace(result, arrays={**result.arrays, "poles": replace(poles, values=values)})
    axis = starting(picture(linearize.draw, result), "poles")
    drawn = np.concatenate([each.get_ydata() for each in axis.lines if each.get_marker() == "x"])
    assert drawn[drawn != 0].min() > 0.1


@pytest.mark.slow
@pytest.mark.parametrize(("length", "name"), SIZES[1:])
def test_runs_of_robots_of_any_size(length, name, picture, unmeasured):
    robot = arm(length, name)
    result = robots_in_tests.run(robot, duration=0.02 * length**0.5, step=0.004 * length**0.5, rtol=1e-4).result
    figure = picture(simulation.draw, result)
    demand_sound(figure)
    assert starting(figure, "at t = 0").get_xlabel() == ("x [mm]" if length < 0.1 else "x [m]")


@pytest.mark.parametrize("told", [["jacobian", "khang"], ["linearize", "khang", "--order", "0", "--equilibrium"]])
def test_a_picture_that_fails_leaves_the_answer(told, monkeypatch, capsys, tmp_path):
    """It is told before it is drawn."""

    def failing(*given):
        raise ComputationError("no picture")

    monkeypatch.setattr("kronbot.plots.pictures.draw", failing)
    assert run([*told, "--format", "json", "--plot", str(tmp_path / "x.png")]) == 1
    assert json.loads(capsys.readouterr().out)["command"] == told[0]


def test_no_picture_and_no_page_replaces_what_it_comes_from(tmp_path):
    """By whatever name, also after a pickle."""
    text = description.shipped_robots()["khang"].read_text()
    for name in ("arm.svg", "arm.html"):
        (tmp_path / name).write_text(text)
    os.symlink("arm.svg", tmp_path / "link.svg")
    robot, other = kronbot.load(tmp_path / "arm.svg"), kronbot.load(tmp_path / "arm.html")
    answer, swept = robot.jacobian(), robot.sweep("check", {"EI": [20]}, workers=1)
    page, again = other.kinematics(), pickle.loads(pickle.dumps(answer))
    for write, file in (
        (answer.plot, "arm.svg"),
        (again.plot, "link.svg"),
        (swept.plot, "arm.svg"),
        (page.view, "arm.html"),
        (other.view, "arm.html"),
    ):
        with pytest.raises(UsageError, match="that is the robot file itself"):
            write(file=str(tmp_path / file), overwrite=True)
    assert [(tmp_path / name).read_text() for name in ("arm.svg", "arm.html")] == [text, text]


@pytest.mark.slow
def test_an_answer_draws_itself(tmp_path, unsettled):
    """A figure, and a file that replaces none unanswered; also after a pickle, and of a robot of other values."""
    robot = kronbot.load("khang").with_parameters(l=0.7)
    for answer in (
        robot.jacobian({"qa": 0.3}, frame="arm:root"),
        robot.modes(),
    ):
        file = tmp_path / f"{answer.command}.svg"
        figure = answer.plot(file)
        written = file.read_bytes()
        assert figure.get_suptitle() in written.decode()
        again = pickle.loads(pickle.dumps(answer))
        again.plot(str(file), overwrite=True)
        assert file.read_bytes() == written, answer.command
        assert again.model.description.values["l"] == 0.7
        if answer.command == "jacobian":  # the same way for all
            with pytest.raises(UsageError, match="there already; overwrite replaces it"):
                again.plot(file)
            assert file.read_bytes() == written
    linear_model = robot.linearize()
    for pair in (("endpoint.x", "torque.qa"), "endpoint.x/torque.qa"):
        assert "endpoint.x by torque.qa" in linear_model.plot(pair=pair).axes[1].get_title(loc="left")
    formulas = kronbot.load("stacker").symbolic().jacobian()
    for answer, given, words in (
        (robot.modes(), {"pair": ("a", "b")}, "pair is for"),
        (robot.modes(), {"file": "x.gif"}, "plot 'x.gif': the suffix decides"),
        (robot.modes({"qa": [0.1, 0.2]}), {}, "one point, not rows"),
        (robot.jacobian([[0.1], [0.2]]), {}, "one point, not rows"),
        (robot.dynamics(), {}, "dynamics has no picture"),
        (formulas, {}, "not formulas"),
        (Result("modes", "a", "2"), {}, "no robot"),
    ):
        with pytest.raises(UsageError, match=words):
            answer.plot(**given)
    with pytest.raises(KronbotError, match="cannot write .*nowhere/x.png: No such file or directory$"):
        robot.modes().plot(tmp_path / "nowhere" / "x.png")


HUNG = """
kronbot: 1
name: hung
gravity: [0, 0, -9.81]
base: {type: floating, rigid: {mass: 4, inertia: {Ixx: 1, Iyy: 1, Izz: 1}}}
links:
  - {name: arm, joint: {type: revolute, name: q1}, pose: {xyz: [0.5, 0, 0], rpy: [pi/2, 0, 0]},
     rigid: {mass: 1, com: [0.5, 0, 0]}}
endpoint: {link: arm, position: [1, 0, 0]}
elements:
  - {name: rope, type: spring, between: [world, base], points: [[0, 0, 2], [0, 0, 0.2]], stiffness: 60, rest: 1}
  - {name: stay, type: damper, between: [base, endpoint], points: [[0, 0, 0.4], [0, 0, 0]], damping: 2}
"""


@pytest.mark.slow
def test_a_base_that_floats_and_elements_are_seen(picture):
    """Where the base goes and turns, how long elements are and what pulls them, and the elements on the robot."""
    robot = kronbot.loads(HUNG)
    run = robot.simulate(0.4, 0.1, q={"q1": 0.3}, solver="rodas")
    figure = picture(simulation.draw, run)
    moved = [each for each in figure.axes if each.get_title(loc="left").startswith("floating base")]
    # In the plane: x and z in metres, ry in degrees.
    assert sorted(each.get_label() for axis in moved for each in axis.lines) == ["base.ry", "base.x", "base.z"]
    assert [each.get_label() for each in starting(figure, "lengths of elements").lines] == ["rope", "stay"]
    pulls = [each for each in figure.axes if each.get_title(loc="left") == "tensions of elements"]
    (stay,) = [each for axis in pulls for each in axis.lines if each.get_label() == "stay"]
    assert run["tension.stay"][1:] == pytest.approx(stay.get_ydata()[1:])
    last = {name: run[name][-1] for name in robot.coordinates}
    place = robot.kinematics(q=last, frame=["base", "endpoint"])["T"]
    rope = np.array([[0, 0, 2], place[0:3] @ [0, 0, 0.2, 1]])
    stay = np.array([place[0:3] @ [0, 0, 0.4, 1], place[4:7, 3]])
    (view,) = [each for each in figure.axes if each.get_title(loc="left").startswith("at t")]
    dashed = [each.get_xydata() for each in view.lines if each.is_dashed() and len(each.get_xdata()) == 2]
    assert dashed == [pytest.approx(ends[:, [0, 2]], abs=1e-12) for ends in (rope, stay)]


HELD = """kronbot: 1
name: held
gravity: [0, 0, 0]
links:
  - {name: arm, joint: {type: revolute, name: q1, spring: {stiffness: 1}}, pose: {}, rigid: {mass: 1, com: [1, 0, 0]}}
endpoint: {link: arm, position: [1, 0, 0]}
elements:
  - {name: stay, type: tendon, between: [world, endpoint], points: [[0, 1, 0], [0, 0, 0]], stiffness: 9, rest: 1.4}
"""


def named_loads(axis):
    """The marks in a panel's legend of loads at the endpoint, by their words."""
    words = {each.get_label(): each.get_marker() for each in axis.lines}
    return {word: mark for word, mark in words.items() if word.startswith(("force", "moment"))}


def test_loads_are_arrows_and_marks_with_names():
    """To the endpoint, in every case, to one scale, moments across the view as turns; words for what is not drawn."""
    robot = kronbot.load("piedboeuf")
    more = {"loads": {"arm": [0, 2, 0, 0, 0, 3]}, "distributed": {"arm": [0, -3, 0]}}
    asked = {"forces": [[0, -5, 0], [0, -2, 0]], "moments": [[0, 0, 0.02], [0, 0, -0.02]], **more}
    answer = robot.statics(angles={"theta": [0]}, **asked)

    axis = Figure().subplots()
    axis.plot([0, 1], [0, 1])
    assert loads.draw(axis, answer, [0, 1], arms.View(0, 1, False)) == ["force", "moment"]
    places = zip(answer["endpoint.x"], answer["endpoint.y"], strict=True)
    assert [each.xy for each in axis.texts] == [pytest.approx(place) for place in places]
    assert all(each.xyann[0] == each.xy[0] for each in axis.texts)
    long = np.array([each.xyann[1] - each.xy[1] for each in axis.texts])
    np.testing.assert_allclose(long / long.max(), -answer["force.y"] / 5)
    away, towards = loads.ACROSS["moment"]
    turns = [each.get_marker() for each in axis.lines if each.get_marker() in (away, towards)]
    assert turns == [towards if moment > 0 else away for moment in answer["moment.z"]]
    assert named_loads(axis) == {"force 2 to 5 N": "None", "moment 20 mN m": turns[0]}

    axis = Figure().subplots()
    axis.plot([0, 1], [0, 1])
    assert loads.draw(axis, answer, [0], arms.View(0, 2, False)) == ["force"]
    assert named_loads(axis) == {"force 2 to 5 N": loads.ACROSS["force"][int(answer["force.y"][0] < 0)]}
    left = "; not drawn: moment 20 mN m, arm 2 N, arm 3 N m, 1 more"
    assert loads.unmarked(answer, ["force"]) == left


@pytest.mark.slow
def test_titles_tell_loads_without_a_mark(picture):
    more = {"loads": {"arm": [0, 2, 0, 0, 0, 3]}, "distributed": {"arm": [0, -3, 0]}}
    answer = kronbot.load("piedboeuf").statics(angles={"theta": [0]}, forces=[[0, -5.4, 0]], **more)
    figure = picture(statics.draw, answer)
    (axis,) = [each for each in figure.axes if each.texts]
    assert axis.get_title(loc="left").endswith("; not drawn: arm 2 N, arm 3 N m, arm 3 N/m")
    assert named_loads(axis) == {"force 5.4 N": "None"}


@pytest.mark.parametrize(("x", "y", "towards"), [(0, 1, 2), (1, 2, 0), (2, 0, 1)])
def test_what_acts_across_a_view(x, y, towards):
    """Towards who looks is to the right times upwards, both as they are on paper."""
    unit = np.eye(3)[towards][:, None]
    assert arms.View(x, y, False).towards(unit) == arms.View(y, x, True).towards(unit) == [1.0]
    assert arms.View(x, y, True).towards(unit) == arms.View(y, x, False).towards(unit) == [-1.0]


def test_slack_tendons_are_called_so():
    """One that is shorter than its rest; where this has no value nobody knows."""
    robot = kronbot.loads(HELD).model
    assert [arms.elements(robot, np.array([q]))[0][0] for q in (0.0, 0.5)] == ["element", "slack tendon"]
    free = kronbot.loads(HELD.replace("rest: 1.4", "rest: L").replace("links:", "parameters: {L: }\nlinks:")).model
    assert arms.elements(free, np.array([0.5]))[0][0] == "element"


@pytest.mark.slow
def test_slack_tendons_are_drawn_apart_and_loads_that_are_zero_are_told(picture):
    """Dotted where it holds nothing, broken where it does."""
    robot = kronbot.loads(HELD)
    for q1, word in ((0.0, "element"), (0.5, "slack tendon")):
        figure = picture(modes.draw, robot.modes(q=[q1]))
        assert word in figure.axes[0].get_legend_handles_labels()[1]
    loose = picture(simulation.draw, robot.simulate(0.2, 0.1, q=[0.5]))
    assert loose.get_suptitle() == "simulate held, order 2; 0: joint torques and tensions of elements"


@pytest.mark.slow
def test_plans_are_drawn_with_what_they_keep(picture, monkeypatch):
    """The arm, its joints, rates, torques and bending; the columns of limits, or those that follow a path."""
    monkeypatch.setattr(judgement, "judged", lambda *given: {})  # which takes most of the time and is not drawn
    monkeypatch.setattr(judgement, "FINE", Tolerances(1e-7, 1e-9))
    robot = Robot(robots_in_tests.model(robots_in_tests.BOOM.replace("{v: 2}", "{v: 1}"), "1"))
    rested = robot.plan({"q1": 0.5}, duration=1, drive="motion", limits={"tip.boom.y": 1})
    s = np.linspace(0, 1, 51)
    followed = robot.plan(follow={"t": s, "endpoint.y": 0.1 * s**4 * (35 - 84 * s + 70 * s**2 - 20 * s**3)})
    for answer, column, word in ((rested, "tip.boom.y", "least change"), (followed, "endpoint.y", "following a path")):
        figure = picture(plan.draw, answer)
        assert figure.get_suptitle().endswith(word)
        kept = line(starting(figure, "columns that are kept"), column).get_ydata()
        assert np.ptp(kept) == pytest.approx(1e3 * np.ptp(answer[column]), rel=1e-9)  # mm
        torque = line(starting(figure, "torques of the plan"), "q1").get_ydata()
        assert torque == pytest.approx(answer["torque.q1"], abs=1e-12)
    demand_sound(figure)
    # What stands but for errors of a search has no panel of its own.
    still = replace(rested, series={**rested.series, "q1_dot": 1e-11 * rested["q1_dot"]})
    assert any(title.startswith("rates of joints") for title in panels(picture(plan.draw, rested)))
    assert not any(title.startswith("rates of joints") for title in panels(picture(plan.draw, still)))


@pytest.mark.slow
def test_plans_draw_torsion_apart_from_bending(picture):
    """A beam that is bent and twisted by what sits beside its axis."""
    beam = "EI: {y: 10, z: 10}, GJ: 5, polar_inertia: 0.1, modes: {v: 1, torsion: 1}"
    text = robots_in_tests.BOOM.replace("EI: {z: 10}, modes: {v: 2}", beam)
    assert text != robots_in_tests.BOOM
    text = text.replace("payload: {mass: 0.5}", "payload: {mass: 0.5, com: [0, 0, 0.2]}")
    robot = Robot(robots_in_tests.model(text, "1"))
    moved = robot.simulate(0.02, 0.01, qd={"q1": 1}, solver="rodas")  # the picture asks nothing more of a plan
    figure = picture(plan.draw, replace(moved, summary={"complete": True}))
    demand_sound(figure)
    for title, name in (("bending, modal coordinates", "boom.v1"), ("torsion, modal coordinates", "boom.t1")):
        assert line(starting(figure, title), name) is not None


@pytest.mark.slow
def test_designs_are_drawn(picture, unpaid):
    """Poles of the loop, and of a filter where there is one; impulses of a shaper."""
    robot = Robot(robots_in_tests.model(robots_in_tests.BOOM.replace("{v: 2}", "{v: 1}"), "1"))
    loop = robot.design(lqr=True)
    assert len(design.draw(loop)) == 1
    figure = picture(design.draw, robot.design(lqr=True, noise={"q1": 1e-3}))
    demand_sound(figure)
    assert len(figure.axes) == 2
    drawn = starting(figure, "poles").lines[1]
    found = drawn.get_xdata() + 1j * drawn.get_ydata()
    assert np.sort_complex(found) == pytest.approx(np.sort_complex(loop["poles"]), rel=1e-9)
    along = robot.with_motion("q1: {type: cycloidal, from: 0, to: 1, duration: 1}").design(lqr=True, motion=True)
    figure = picture(design.draw, along)
    demand_sound(figure)
    drawn = starting(figure, "gains of torque.q1 by rates").lines[0].get_ydata()
    assert drawn == pytest.approx(along["K"][:, 0, len(along.arrays["K"].columns) // 2])
    shaper = robot.design(shaper="zvd")
    figure = picture(design.draw, shaper)
    demand_sound(figure)
    times, sizes = figure.axes[0].lines[0].get_data()
    assert np.column_stack([times, sizes]) == pytest.approx(shaper["impulses"])


def test_curves_that_are_no_rounding_are_drawn_with_all_their_numbers():
    """A small one beside a large one: near its zeros nothing is cut off. What is rounding all along is 0."""
    t = np.linspace(0, 1, 101)
    series = {"t": t, "q1": np.cos(t), "q2": 1e-10 * np.sin(9 * t) ** 4, "q3": 1e-13 * t}
    found = without_still(series, ["q1", "q2", "q3"])
    np.testing.assert_array_equal(found["q2"], series["q2"])
    assert not found["q3"].any() and (found["q1"] == series["q1"]).all()
