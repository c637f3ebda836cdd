"""Pictures of sweeps: what is drawn for what varies, and frequencies that cross."""

import numpy as np
import pytest

import kronbot
from kronbot.errors import UsageError
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


def test_a_plain_table_has_no_shapes(beam):
    swept = beam.sweep("modes", {"EIy": "5:60:3"}, keep="frequencies_locked[1:2]", workers=1)
    assert swept.result().asked.beside == {}
    assert [len(row) for row in swept] == [5] * 3


def test_following_knows_gaps_and_modes_that_end():
    e = np.eye(3).tolist()
    swapped = [e[1], e[0], e[2]]
    found = followed([[1, 2, 3], None, [1.5, 2.5, 3.5], [1, 2]], [e, None, swapped, [row[:2] for row in e]])
    assert np.isnan(found[1]).all()
    assert found[2].tolist() == [2.5, 1.5, 3.5]
    assert found[3, :2].tolist() == [1, 2] and np.isnan(found[3, 2])
    # Shapes of what does not swing say nothing.
    found = followed([[0, 0, 5], [0, 0, 6]], [e, [e[2], e[1], e[0]]])
    assert found[1].tolist() == [0, 0, 6]


def test_two_values_are_maps_or_families(beam):
    grid = pictured(beam, "modes", {"EIy": "10:30:7", "EIz": "10:40:8"}, keep="frequencies_locked[1]")
    (axis,) = grid.values()
    (mesh, *_) = axis.collections
    assert mesh.get_array().shape == (7, 8)
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("EIz", "EIy")
    assert grid.content(".svg") == grid.content(".svg")
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


def test_words_and_single_cases_and_failures(beam):
    words = pictured(beam, "check", {"order": ["1", "2", "exact"], "EIz": [10]}, keep="first_frequency_locked")
    (axis,) = words.values()
    assert [label.get_text() for label in axis.get_xticklabels()] == ["1", "2", "exact"]
    assert list(pictured(beam, "modes", {"EIy": [10]}))
    broken = pictured(beam, "modes", {"EIy": [-1, 5, 10, 15]}, keep="frequencies_locked[1]")
    assert "1 of 4 cases have failed" in broken.figure.get_suptitle()


def test_loads_and_angles_of_a_case_are_sides():
    keep = "angle.theta,force.y,endpoint.y"
    given = {"angles": {"theta": [0.0, 0.5]}, "forces": [[0, 0, 0], [0, -1, 0], [0, -2, 0]]}
    picture = pictured(kronbot.load("piedboeuf"), "statics", {"order": ["1", "2"]}, keep=keep, **given)
    (axis,) = picture.values()
    assert len(lines(axis)) == 4 and axis.get_xlabel() == "force.y [N]"
    assert "order 1, theta 0 deg" in lines(axis)


def test_equal_sweeps_have_equal_pictures(beam):
    one, two = (pictured(beam, "modes", {"EIy": "5:30:4"}).content(".png") for _ in range(2))
    assert one == two


def test_units_of_numbers_and_counts_that_nobody_asked_for(beam):
    """What people look at comes first, in its unit."""
    picture = pictured(beam, "simulate", {"EIy": "5:60:3"}, duration=0.5, qd={"arm.w1": 1})
    labels = {axis.get_title(loc="left"): axis.get_ylabel() for axis in picture.values()}
    assert labels["energy_imbalance"].endswith("J]") and labels["peak_deflection.arm"] in ("[m]", "[mm]")
    assert list(labels)[-2:] == ["steps", "evaluations"]
    picture = pictured(beam, "check", {"EIy": "5:60:3"}, keep="first_frequency_locked,total_mass")
    labels = {axis.get_title(loc="left"): axis.get_ylabel() for axis in picture.values()}
    assert labels["first_frequency_locked"] == "[rad/s]"
