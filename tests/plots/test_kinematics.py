"""The picture of poses: what stands in it is read back from its figure."""

import numpy as np
import pytest
from thinned import rare

pytest.importorskip("matplotlib")

import kronbot
from kronbot.errors import ComputationError
from kronbot.plots import arms, style

POSTURE = [0.3, 0.5, 0.2, -0.7, 0.4, 1.1]


def drawn_axes(axis):
    """The lines of frames' axes (2, 2), by colour."""
    colours = [colour for colour, _ in arms.AXES]
    found = {colour: [] for colour in colours}
    for line in axis.lines:
        if line.get_color() in found and len(line.get_xdata()) == 2:
            found[line.get_color()].append(np.array(line.get_xydata()))
    return list(found.values())


@pytest.mark.parametrize("frames", [rare("link3"), ["link3", "link6"], "base-to:link2,link6"])
def test_axes_of_frames_stand_where_they_are(frames):
    """Each begins at the origin and points along its axis, seen from both sides; relative frames stand there, too."""
    robot = kronbot.load("puma560")
    figure = robot.kinematics(POSTURE, frame=frames).plot()
    there = ["link6"] if frames == "base-to:link2,link6" else frames
    T = robot.kinematics(POSTURE, frame=there)["T"].reshape(-1, 4, 4)
    for axis in figure.axes[:2]:
        plane = ["xyz".index(text()[0]) for text in (axis.get_xlabel, axis.get_ylabel)]
        factor = 1e3 if axis.get_xlabel().endswith("[mm]") else 1.0
        for k, lines in enumerate(drawn_axes(axis)):
            assert len(lines) == len(T)
            for line, matrix in zip(lines, T, strict=True):
                start, end = line / factor
                np.testing.assert_allclose(start, matrix[plane, 3], rtol=0, atol=1e-12)
                length = (end - start) @ matrix[plane, k] / (matrix[plane, k] @ matrix[plane, k])
                np.testing.assert_allclose(end - start, length * matrix[plane, k], rtol=0, atol=1e-12)
                assert length > 0.01
    (space,) = figure.axes[2:]
    factor = 1e3 if space.get_xlabel().endswith("[mm]") else 1.0
    lines = [np.array(line.get_data_3d()).T / factor for line in space.lines if line.get_linewidth() == 1.6]
    columns = [(matrix[:3, 3], matrix[:3, k]) for matrix in T for k in range(3)]
    for (start, end), (origin, column) in zip(lines, columns, strict=True):
        np.testing.assert_allclose(start, origin, rtol=0, atol=1e-12)
        np.testing.assert_allclose((end - start) / np.linalg.norm(end - start), column, rtol=0, atol=1e-12)
    assert figure.get_suptitle() == f"kinematics puma560, order 2: {name(frames)}"


def name(frames):
    return frames if isinstance(frames, str) else f"{len(frames)} frames"


def test_an_inverse_shows_other_solutions_and_what_was_wanted():
    """Also where it is not reached, and as seen from another frame."""
    robot = kronbot.load("stacker-numeric")
    for frame in ("endpoint", "base-to:tower:root,boom"):
        T = robot.kinematics([0.5, 0.2, 0.3], frame=frame)["T"]
        answer = robot.kinematics([1.0, 0.1, 0.1], frame=frame, inverse=T)
        axis = answer.plot().axes[0]
        pale = [line for line in axis.lines if line.get_color() == style.GREY and line.get_linewidth() == 0.8]
        assert len(pale) == (len(answer["solutions"]) - 1) * 4
        (cross,) = [line for line in axis.lines if line.get_marker() == "x"]
        there = robot.kinematics(answer.at["q"], frame=frame.rpartition(",")[2])["T"]
        plane = ["xyz".index(text()[0]) for text in (axis.get_xlabel, axis.get_ylabel)]
        assert cross.get_xydata()[0] == pytest.approx(there[plane, 3])
    with pytest.raises(ComputationError) as refused:
        robot.kinematics(inverse=[20, 0, 0])
    assert refused.value.partial.plot().axes[0].get_legend_handles_labels()[1][-1] == "wanted"


@pytest.mark.slow
def test_the_legend_stands_below_the_title():
    """Where its room is, and not on the arm."""
    axis = kronbot.load("puma560").kinematics(POSTURE).plot().axes[0]
    axis.figure.draw_without_rendering()
    assert axis.get_legend().get_window_extent().y0 >= axis.get_window_extent().y1
