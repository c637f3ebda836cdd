"""Pictures of sweeps: what is drawn for what varies, and frequencies that cross."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import kronbot
from kronbot.errors import UsageError
from kronbot.plots import curves
from kronbot.plots.followed import followed
from kronbot.plots.pictures import draw

pytest.importorskip("matplotlib")
pytestmark = pytest.mark.usefixtures("swept_here")
# Bending about z does not know EIy: the two families cross where both are 20.
BEAM = """
kronbot: 1
name: crossing
gravity: [0, 0, 0]
parameters: {EIy: 20, EIz: 20}
convention: standard
links:
  - name: arm
    joint: {type: revolute, name: q1, rotor_inertia: 0.5}
    dh: {a: 1, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 1, EI: {y: EIy, z: EIz}, modes: {v: 1, w: 1}}
"""

LUFF = """
kronbot: 1
name: luffing
gravity: [0, -9.81, 0]
links:
  - name: boom
    joint: {type: revolute, name: luff, damping: 0.3}
    pose: {}
    rigid: {mass: 2, com: [0.5, 0, 0], inertia: {Izz: 0.1}}
"""

HUNG = """
  - name: hook
    joint: {type: revolute, name: sway}
    pose: {xyz: [1, 0, 0]}
    rigid: {mass: 1, com: [0.4, 0, 0], inertia: {Izz: 0.1}}
"""


@pytest.fixture(scope="module")
def beam(tmp_path_factory):
    file = tmp_path_factory.mktemp("sweep") / "crossing.yaml"
    file.write_text(BEAM)
    return kronbot.load(file)


def pictured(robot, question, over, **given):
    return draw(robot.sweep(question, over=over, workers=1, plot=True, **given).result())


def lines(axis):
    return {line.get_label(): line.get_xydata() for line in axis.get_lines()}


def test_frequencies_cross_as_their_shapes_do(beam):
    swept = beam.sweep("modes", {"EIy": "5:60:12"}, keep="frequencies_locked[1:2]", workers=1, plot=True)
    result = swept.result()
    low, high = (result[f"frequencies_locked[{k}]"] for k in (1, 2))
    assert (low <= high).all()  # the table numbers as single commands do
    (axis,) = draw(result).values()
    rising, level = (points[:, 1] for points in lines(axis).values())
    assert np.allclose(level, level[0], rtol=1e-12)
    assert np.allclose(rising / rising[0], np.sqrt(np.linspace(5, 60, 12) / 5), rtol=1e-9)


@pytest.mark.slow
def test_frequencies_have_a_scale_in_hertz_and_whole_arrays_are_named(beam):
    picture = pictured(beam, "modes", {"EIy": "5:60:3"}, keep="frequencies_locked[1],frequencies_free")
    (axis,) = picture.values()
    (hertz,) = axis.child_axes
    picture.content(".png")  # which draws the scale
    assert hertz.get_ylabel() == "[Hz]"
    assert np.allclose(np.array(axis.get_ylim()) / (2 * np.pi), hertz.get_ylim(), rtol=1e-12)
    assert picture.figure.get_suptitle().endswith("; without frequencies_free")
    swept = beam.sweep("modes", {"EIy": "5:60:3"}, keep="frequencies_free", workers=1)
    with pytest.raises(UsageError, match=r"a picture shows single numbers: keep frequencies_free\[1:"):
        draw(swept.result())


ROTOR = """
kronbot: 1
name: rotor
gravity: [0, 0, 0]
links:
  - {name: spindle, joint: {type: revolute, name: spin}, pose: {xyz: [0, 0, 0]}}
  - name: shaft
    joint: {type: fixed}
    pose: {rpy: [0, -pi/2, 0]}
    flexible: {length: 0.5, mass: 0.001, EI: {y: 400, z: 400}, modes: {v: 2, w: 2}, shape: craig-bampton}
    payload: {mass: 4, inertia: {Ixx: 0.04, Iyy: 0.02, Izz: 0.02}}
"""


@pytest.mark.slow
def test_modes_that_one_case_has_alone_hide_none_of_the_others(tmp_path):
    """A spindle is free where it stands, so that each whirl has one column more there: all four are drawn, and it is
    said where the fifth is. What is counted takes half of a row's height."""
    file = tmp_path / "rotor.yaml"
    file.write_text(ROTOR)
    swept = kronbot.load(file).sweep("modes", {"spin_dot": "0:300:7"}, workers=1, plot=True).result()
    assert "some cases have 4 and others 5 of frequencies_free: a column is not the same mode in all" in swept.warnings
    picture = draw(swept)
    free, locked = (
        next(axis for axis in picture.values() if axis.get_title(loc="left").startswith(f"frequencies_{case}"))
        for case in ("free", "locked")
    )
    assert free.get_title(loc="left").replace("\n", " ") == "frequencies_free; 1 only at 0"
    assert sorted(lines(free)) == ["2", "3", "4", "5"]
    ends = [sorted(points[-1, 1] for points in lines(axis).values()) for axis in (free, locked)]
    assert np.allclose(*ends, rtol=1e-9)
    assert picture.heights[-1] == picture.heights[0] / 2
    ticks = picture["free_coordinates_free 2"].get_yticks()
    assert ticks.tolist() == ticks.round().tolist()


def test_what_takes_the_place_of_a_mode_that_ends_is_drawn():
    """Two real poles become a pair, of frequency sqrt(k/m), that goes on from the faster one, which is not kept."""
    mass = kronbot.loads(
        "kronbot: 1\nname: mass\ngravity: [0, 0, 0]\nparameters: {k: 1}\nlinks:\n  - name: mass\n"
        "    joint: {type: prismatic, name: x, damping: 2.2, spring: {stiffness: k}}\n"
        "    pose: {}\n    rigid: {mass: 1}\n"
    )
    picture = pictured(mass, "modes", {"k": "0.5:6:12"}, keep="frequencies_free[1]")
    (axis,) = picture.values()
    drawn = {name: points[np.isfinite(points).all(axis=1)] for name, points in lines(axis).items()}
    assert sorted(drawn) == ["1", "1 at 1.5"]
    (few, slow), (many, swings) = drawn["1"].T, drawn["1 at 1.5"].T
    assert few.tolist() == [0.5, 1] and slow == pytest.approx(1.1 - np.sqrt(1.21 - few))
    assert many.tolist() == np.linspace(1.5, 6, 10).tolist() and swings == pytest.approx(np.sqrt(many))


@pytest.mark.slow
def test_maps_and_histograms_of_frequencies_have_it_too(beam, monkeypatch):
    monkeypatch.setattr(Figure, "savefig", lambda figure, *a, **k: figure.draw_without_rendering())
    over = {"EIy": "5:60:7", "q1": "0:1:7"}
    mapped = pictured(beam, "modes", over, keep="frequencies_locked[1]")
    drawn = pictured(beam, "modes", {"EIy": "uniform(5,60)"}, sample=8, keep="frequencies_locked[1]")
    for picture, which in ((mapped, "y"), (drawn, "x")):
        picture.content(".png")  # which lays the scale out
        axis, hertz = next((each, own) for each in picture.figure.axes for own in each.child_axes)
        assert getattr(hertz, f"get_{which}label")() == "[Hz]"
        limits = (np.array(getattr(each, f"get_{which}lim")()) for each in (axis, hertz))
        assert np.allclose(next(limits) / (2 * np.pi), next(limits), rtol=1e-12)


def test_a_plain_table_has_no_shapes(beam):
    swept = beam.sweep("modes", {"EIy": "5:60:3"}, keep="frequencies_locked[1:2]", workers=1)
    assert swept.result().asked.beside == {}
    assert [len(row) for row in swept] == [5] * 3


def test_following_knows_gaps_and_modes_that_end():
    e = np.eye(3)
    swapped = e[[1, 0, 2]]
    found, _ = followed([[1, 2, 3], None, [1.5, 2.5, 3.5], [1, 2]], [*shapes(e, None, swapped, e[:, :2])])
    assert np.isnan(found[1]).all()
    assert found[2].tolist() == [2.5, 1.5, 3.5]
    assert found[3, :2].tolist() == [1, 2] and np.isnan(found[3, 2])
    # What comes later, as two real poles where there was a pair, goes on as a curve of its own.
    other = e[:, [0, 2, 1]]
    found, begun = followed([[1, 5], [0.5, 2, 5.5], [6], [0.4, 3, 6]], [*shapes(e[:, :2], other, e[:, 1:2], other)])
    assert np.array_equal(found, [[1, 5, np.nan], [0.5, 5.5, 2], [np.nan, 6, np.nan], [0.4, 6, 3]], equal_nan=True)
    assert begun == [(0, 0), (0, 1), (1, 1)]
    # Shapes of what does not swing say nothing.
    found, _ = followed([[0, 0, 5], [0, 0, 6]], [*shapes(e, e[:, ::-1])])
    assert found[1].tolist() == [0, 0, 6]
    assert followed([None], [None])[0].shape == (1, 0)


def test_modes_go_on_where_a_motor_is_held():
    """A tower that swings alike to both sides, whirling where its rotor spins, and a rotor on an elastic shaft whose
    motor is held then: that against the motor is a mode of its own, and so are those of both."""
    rows = ["motor", "x", "rotor", "y"]
    free = np.array([[1, 0, 0, 1], [0, 1, 0, 0], [1, 0, 0, -2], [0, 0, 1, 0]])
    held = np.array([[1, 1, 0], [0, 0, 1], [1j, -1j, 0]]) * np.exp(0.7j)
    at = [*shapes(held, rows=["x", "rotor", "y"]), *shapes(free, rows=rows), *shapes(held, rows=["x", "rotor", "y"])]
    found, begun = followed([[3, 3.5, 4], [0.02, 3.3, 3.3, 6], [3.1, 3.6, 4.1]], at)
    none = np.nan
    apart = [[3, 3.5, 4, none, none], [3.3, 3.3, none, 0.02, 6], [3.1, 3.6, 4.1, none, none]]
    assert np.array_equal(found, apart, equal_nan=True)
    assert begun == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 3)]


@pytest.mark.slow
def test_modes_that_begin_later_are_drawn():
    """A rotor on an elastic shaft, whose motor is held where it spins."""
    text = BEAM.replace("rotor_inertia: 0.5", "rotor_inertia: 0.5, elastic: {stiffness: 50}")
    swept = kronbot.loads(text).sweep("modes", {"q1_dot": "0:2:3"}, keep="frequencies_free[1:4]", workers=1, plot=True)
    picture = draw(swept.result())
    axis = next(each for name, each in picture.items() if name.startswith("frequencies"))
    drawn = {name: np.isfinite(points[:, 1]).tolist() for name, points in lines(axis).items()}
    assert drawn == {"3": [True] * 3, "4": [True] * 3, "1 at 1": [False, True, True]}
    assert axis.get_title(loc="left").replace("\n", " ") == "frequencies_free; 1 only at 0, 2 only at 0"


def shapes(*values, rows=None):
    """Shapes as sweeps keep them."""
    for each in values:
        yield (
            each
            if each is None
            else {"rows": rows or [*map(str, range(len(each)))], "real": each.real.tolist(), "imag": each.imag.tolist()}
        )


def test_pairs_that_become_real_are_drawn_where_they_are(tmp_path):
    """A pendulum with a damper that is swung over the top: where it falls there are two real poles in place of a pair,
    one of which goes on as a curve that begins there."""
    file = tmp_path / "luff.yaml"
    file.write_text(LUFF)
    picture = pictured(
        kronbot.load(file), "linearize", {"luff": "-1.5:1.5:7"}, keep="frequencies[1:2]", equilibrium=True
    )
    (axis,) = picture.values()
    assert axis.get_title(loc="left") == "frequencies"
    whole, later = (points[:, 1] for points in lines(axis).values())
    assert np.isfinite(whole).all() and np.isfinite(later).tolist() == [False] * 3 + [True] * 4
    # One point between gaps is a point.
    drawn = curves.Curve("a", "m", np.array([np.nan, 1, np.nan, 2, 3, 4, 5, np.nan]))
    curves.draw(axis, curves.Curve("x", "", np.arange(8.0)), curves.Diagram("", [drawn]))
    assert axis.get_lines()[-1].get_marker() == "o" and axis.get_lines()[-1].get_markevery() == [1]


@pytest.mark.slow
def test_two_values_are_maps_or_families(beam):
    grid = pictured(beam, "modes", {"EIy": "10:30:7", "EIz": "10:40:8"}, keep="frequencies_locked[1]")
    (axis,) = grid.values()
    (mesh, *_) = axis.collections
    assert mesh.get_array().shape == (7, 8)
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("EIz", "EIy")
    family = pictured(beam, "check", {"order": ["1", "exact"], "EIz": "10:40:4"}, keep="first_frequency_locked")
    (axis,) = family.values()
    assert list(lines(axis)) == ["order 1", "order exact"]
    assert "order 2" not in family.figure.get_suptitle()


def test_draws_are_histograms_and_indices_bars(beam, monkeypatch):
    monkeypatch.setattr("kronbot.sweeps.indices.RESAMPLES", 20)
    over = {"EIy": "uniform(10,30)", "EIz": "normal(20,1)"}
    drawn = pictured(beam, "check", over, sample=8, keep="first_frequency_locked,total_mass")
    (axis,) = drawn.values()  # the mass is the same in all
    assert sum(patch.get_height() for patch in axis.patches) == 8
    bars = pictured(beam, "check", over, sample=4, indices=True, keep="first_frequency_locked")
    (axis,) = bars.values()
    assert [text.get_text() for text in axis.get_legend().get_texts()] == ["first order", "total"]
    assert [label.get_text() for label in axis.get_xticklabels()] == ["EIy", "EIz"]


@pytest.mark.slow
def test_words_and_single_cases_and_failures(beam):
    words = pictured(beam, "check", {"order": ["1", "2", "exact"], "EIz": [10]}, keep="first_frequency_locked")
    (axis,) = words.values()
    assert [label.get_text() for label in axis.get_xticklabels()] == ["1", "2", "exact"]
    assert list(pictured(beam, "modes", {"EIy": [10]}))
    broken = pictured(beam, "modes", {"EIy": [-1, 5, 10, 15]}, keep="frequencies_locked[1]")
    assert "1 of 4 cases have failed" in broken.figure.get_suptitle()


def test_what_is_the_same_in_all_cases_is_told(beam):
    """Where somebody has asked for it, and there is something else to draw."""
    picture = pictured(beam, "check", {"EIz": "10:40:3"}, keep="first_frequency_locked,total_mass")
    assert len(picture) == 1 and picture.figure.get_suptitle().endswith("; the same in all cases: total_mass")
    assert pictured(beam, "check", {"EIz": "10:40:3"}, keep="total_mass").figure.get_suptitle().endswith("over EIz")
    assert "same" not in pictured(beam, "check", {"EIz": "10:40:3"}).figure.get_suptitle()


@pytest.mark.slow
def test_whole_numbers_have_whole_ticks(beam):
    counts = pictured(beam, "modes", {"convergence": [1, 2, 3]}, keep="frequencies_locked[1]")
    (axis,) = counts.values()
    assert axis.get_xticks().tolist() == axis.get_xticks().round().tolist()
    texts = pictured(beam, "modes", {"q1": ["0", "pi/4", "pi/2"]}, keep="frequencies_locked[1]")
    (axis,) = texts.values()
    assert axis.get_xlabel() == "q1 [deg]"


def test_loads_and_angles_of_a_case_are_sides():
    keep = "angle.theta,force.y,endpoint.y"
    given = {"angles": {"theta": [0.0, 0.5]}, "forces": [[0, 0, 0], [0, -1, 0], [0, -2, 0]]}
    picture = pictured(kronbot.load("piedboeuf"), "statics", {"order": ["1", "2"]}, keep=keep, **given)
    (axis,) = picture.values()
    assert len(lines(axis)) == 4 and axis.get_xlabel() == "force.y [N]"
    assert "order 1, theta 0 deg" in lines(axis)


@pytest.mark.slow
def test_equal_sweeps_have_equal_pictures(beam):
    one, two = (pictured(beam, "modes", {"EIy": "5:30:4"}).content(".png") for _ in range(2))
    assert one == two


def test_units_of_numbers_and_counts_that_nobody_asked_for(beam):
    """What people look at comes first, in its unit."""
    picture = pictured(beam, "simulate", {"EIy": "5:60:3"}, duration=0.5, solver="rodas", qd={"arm.w1": 1})
    labels = {axis.get_title(loc="left"): axis.get_ylabel() for axis in picture.values()}
    assert labels["energy_imbalance"].endswith("J]") and labels["peak_deflection.arm"] in ("[m]", "[mm]")
    assert list(labels)[-2:] == ["steps", "evaluations"]
    picture = pictured(beam, "check", {"EIy": "5:60:3"}, keep="first_frequency_locked,total_mass")
    labels = {axis.get_title(loc="left"): axis.get_ylabel() for axis in picture.values()}
    assert labels["first_frequency_locked"] == "[rad/s]"


NAMES = """
kronbot: 1
name: names
gravity: [0, -9.81, 0]
parameters: {tip: 0.2, EI: 6}
links:
  - name: flap
    joint: {type: revolute, name: q1}
    pose: {}
    flexible: {mass: 0.25, length: 0.8, EI: {z: EI}, modes: {v: 1}, shape: craig-bampton}
    payload: {mass: tip}
"""


def test_nobody_knows_units_of_parameters_whatever_they_are_called():
    robot = kronbot.loads(NAMES)
    picture = pictured(robot, "modes", {"tip": [0.1, 0.2]}, keep="frequencies_locked[1]")
    assert [axis.get_xlabel() for axis in picture.values()] == ["tip"]
    drawn = pictured(robot, "modes", {"q1": [0.1, 0.2]}, keep="frequencies_locked[1]")
    assert [axis.get_xlabel() for axis in drawn.values()] == ["q1 [deg]"]


@pytest.mark.slow
def test_draws_are_told_apart_by_what_else_varies():
    robot = kronbot.loads(NAMES)
    over = {"tip": "uniform(0.1,0.2)", "EI": [3, 6]}
    swept = robot.sweep("check", over, sample=4, keep="first_frequency_locked", workers=1, plot=True)
    result = swept.result()
    picture = draw(result)
    assert picture.figure.get_suptitle() == "sweep check names, order 2: 4 draws for each of 2 values of EI"
    (axis,) = picture.values()
    values = {EI: result["first_frequency_locked"][result["EI"] == EI] for EI in (3, 6)}
    assert [text.get_text() for text in axis.get_legend().get_texts()] == [
        f"EI {EI}: {each.mean():.4g} ± {each.std():.3g}" for EI, each in values.items()
    ]
    picture.content(".png")
    (hertz,) = axis.child_axes
    assert hertz.get_window_extent().y1 < axis.get_window_extent().y0  # above is the legend


def test_draws_that_have_all_failed_leave_those_that_have_not():
    """Of many values the one that is left is drawn, wherever it stands."""
    robot = kronbot.loads(NAMES)
    over = {"tip": "uniform(0.1,0.2)", "EI": [*range(-12, 0), 6]}
    (axis,) = pictured(robot, "check", over, sample=2, keep="first_frequency_locked").values()
    assert axis.get_title(loc="left").replace("\n", " ").endswith("mean ± std. deviation, 1 of 13")
    (entry,) = axis.get_legend().get_texts()
    assert entry.get_text().startswith("EI 6: ")


def test_cases_of_statics_are_no_draws():
    """A histogram of all angles together would be one of the sweep."""
    given = {"angles": {"theta": [0.0, 0.5, 1.0]}, "keep": "endpoint.y", "sample": 4}
    picture = pictured(kronbot.load("piedboeuf"), "statics", {"force.y": "uniform(-2,-1)"}, **given)
    assert picture.figure.get_suptitle().endswith("4 draws for each of 3 values of angle.theta")


def test_angles_that_are_found_are_answers():
    """Of joints whose torques are given: curves over what was given, in pictures of sweeps and of statics."""
    robot = kronbot.loads(LUFF.replace("damping: 0.3", "elastic: {stiffness: 20}, rotor_inertia: 1") + HUNG)
    given = {"q": {"luff": -1.0}, "tau": {"luff": 0.0}, "keep": ["angle.luff", "endpoint.y"]}
    swept = robot.sweep("statics", over={"sway": "-1:1:3"}, workers=1, **given).result()
    (found, _) = draw(swept).values()
    assert found.get_title(loc="left") == "angle.luff" and found.get_lines()[0].get_xydata()[:, 1] == pytest.approx(
        np.degrees(swept["angle.luff"])
    )
    case = robot.statics(q={"luff": -1.0, "sway": [-1, 0, 1]}, tau={"luff": 0.0})
    panels = [axis for axis in draw(case).figure.get_axes() if axis.get_xlabel() == "sway [deg]"]
    assert panels and not [axis for axis in draw(case).figure.get_axes() if "luff" in axis.get_xlabel()]
