"""Numbers in tables: errors that hold, and small numbers that are no rounding of large ones."""

import numpy as np
import pytest

from kronbot.cli.output.tables import table
from kronbot.compute.arrays import NamedArray
from kronbot.questions.result import Result

# The error of a number, and a distance, which is no bound: 2.1 m are not 3 m.
SUMMARY = {"buckling_factor": 2.5, "buckling_factor_error": 1.01e-13, "position_error": 2.1018}


def shown(capsys, **arrays):
    """The lines of a table as lists of words, the heading left out."""
    table(Result("linearize", "arm", "2", arrays=arrays, at={}, series={}, summary=SUMMARY))
    return [line.split() for line in capsys.readouterr().out.splitlines()[2:] if line]


def test_errors_are_rounded_up_to_one_digit_and_0_only_where_exact(capsys):
    """However small beside others, and whatever stands in other columns."""
    values = np.array([[1e-6, 1e-30, 1e17, 1], [0.0, 1.5e-22, 2, 2], [2.001e-20, 3e-13, 1, 1]])
    columns = ["error", "growth_error", "condition", "count"]
    lines = shown(capsys, accuracy=NamedArray(values, ["1", "2", "3"], "1", columns))
    assert lines[2:] == [
        ["1", "1e-06", "1e-30", "1e+17", "1"],
        ["2", "0", "2e-22", "2", "2"],
        ["3", "3e-20", "3e-13", "1", "1"],
        ["buckling_factor", "2.5"],
        ["buckling_factor_error", "2e-13"],
        ["position_error", "2.1018"],
    ]
    errors = NamedArray(np.array([9.1e-13, 1e-300]), ["1", "2"], "1")
    assert shown(capsys, multiplier_errors=errors)[1:3] == [["1", "1e-12"], ["2", "1e-300"]]


def test_what_is_found_by_itself_is_no_rounding_of_others(capsys):
    """A slow pole beside fast ones, what dies out beside what stays; parts beside their own size are."""
    poles = np.array([-1e-13 + 0j, -2e-12 + 1e5j, -3 + 1e6j])
    lines = shown(capsys, poles=NamedArray(poles, ["1", "2", "3"], "rad/s"))
    assert lines[1:4] == [["1", "-1e-13+0i"], ["2", "0+100000i"], ["3", "-3+1e+06i"]]
    real = NamedArray(np.array([1.0, 2e-40]), ["1", "2"], "1")
    for name in ("multipliers", "damping_free"):
        assert shown(capsys, **{name: real})[1:3] == [["1", "1"], ["2", "2e-40"]]


@pytest.mark.parametrize(("weak", "word"), [(3e-6, "3e-06"), (-4e-9, "-4e-09")])
def test_a_weak_spring_beside_a_stiff_one_is_no_rounding(capsys, weak, word):
    """What is small beside its row or its column is."""
    K = np.array([[1e9, 1e-7, 0], [2e-6, weak, 0], [0, 0, 1e-5]])
    lines = shown(capsys, K_L=NamedArray(K, "abc", "1", list("abc")))
    assert lines[2:5] == [["a", "1e+09", "0", "0"], ["b", "0", word, "0"], ["c", "0", "0", "1e-05"]]
