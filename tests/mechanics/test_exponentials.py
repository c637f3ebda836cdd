"""Exponentials of matrices against numbers of many digits, and against closed forms."""

import mpmath
import numpy as np
import pytest

from kronbot.mechanics.linear.exponentials import exponentials


def exactly(A):
    """With fifty digits."""
    with mpmath.workdps(50):
        return np.array(mpmath.expm(mpmath.matrix(A.tolist())).tolist(), dtype=float)


def test_digits_of_a_stack_of_all_sizes():
    """A rounding of the largest entry for each doubling, whatever else is in the stack."""
    rng = np.random.default_rng(2)
    sizes = [0.0, 1e-300, 1e-9, 0.1, 0.49, 0.51, 1.0, 7.0, 60.0]
    A = np.array([size * rng.normal(size=(4, 4)) / 4 for size in sizes])
    A[3:] -= A[3:].swapaxes(1, 2) / 2
    together = exponentials(A)
    for size, each, found in zip(sizes, A, together, strict=True):
        wanted = exactly(each)
        assert found == pytest.approx(wanted, rel=0, abs=8e-16 * max(1.0, size) * np.abs(wanted).max())
        assert (exponentials(each) == found).all()


def test_closed_forms():
    """Turns, also by many radians, what has no inverse, and vibrations of 1 to 1e4 rad/s beside each other."""
    angles = np.array([0.3, 3.0, 300.0])
    turns = exponentials(angles[:, None, None] * np.array([[0.0, -1], [1, 0]]))
    assert turns[:, 0, 0] == pytest.approx(np.cos(angles), abs=1e-13)
    assert turns[:, 1, 0] == pytest.approx(np.sin(angles), abs=1e-13)
    shift = np.diag(np.ones(4), 1)
    assert exponentials(shift)[0] == pytest.approx([1, 1, 1 / 2, 1 / 6, 1 / 24], rel=1e-15)
    rates, t = np.array([1.0, 30.0, 1e4]), 0.01
    A = np.block([[np.zeros((3, 3)), np.diag(rates)], [-np.diag(rates), np.zeros((3, 3))]])
    assert np.diag(exponentials(A * t))[:3] == pytest.approx(np.cos(rates * t), abs=1e-13)


def test_what_overflows_is_not_finite():
    """Beside what is, which is right."""
    found = exponentials(np.array([[[1e4]], [[1.0]], [[np.inf]], [[np.nan]], [[-1e4]]]))[:, 0, 0]
    assert found[0] == np.inf and np.isnan(found[2:4]).all()
    assert found[[1, 4]] == pytest.approx([np.e, 0.0], rel=1e-15)
