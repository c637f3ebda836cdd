"""What is said of numbers."""

import math
from decimal import Context, Decimal, Inexact, localcontext
from fractions import Fraction

import numpy as np
import pytest

from kronbot.floats import all_finite, decimals, known, percent, rounded, within
from kronbot.mechanics.static.compliance import yielding
from kronbot.model.beam_integrals import orthonormal
from kronbot.questions.grids import grid


def test_an_error_in_words_holds_what_is_known():
    """Both ends of the interval lie in the one that is told, which is wider by two digits at most."""
    rng = np.random.default_rng(0)
    for size, share in 10 ** rng.uniform([-300, -3], [300, 3], (500, 2)):
        value, error = rng.choice([-1, 1]) * size, size * share
        said, bound = map(Decimal, within(value, error).split(" +- "))
        off = abs(said - Decimal(value)) + Decimal(error)
        assert off * (1 - Decimal("1e-15")) <= bound <= off * Decimal("1.1001")
    assert within(0.0, 0.0) == "0 +- 0"


def test_of_a_value_no_more_digits_are_told_than_are_known():
    assert known(0.009999999999999997, 1e-17) == 0.01 != known(0.009999999999999997, 0)
    assert [known(math.pi, 10.0**-k) for k in (1, 8, 12)] == [3.14159, 3.14159265, 3.14159265359]
    for value in 10 ** np.random.default_rng(2).uniform(-300, 300, 50):
        assert known(value, 0) == value and abs(known(value, 1e-9 * value) - value) <= 1e-9 * value


def test_sums_of_decimals_are_rounded_once():
    (a, b), whole = decimals(0.1, 0.2)
    assert (a + b) / whole == 0.3 != 0.1 + 0.2
    (turn,), whole = decimals(math.pi / 2)
    assert [turn * k / (9 * whole) for k in range(10)] == [math.radians(10 * k) for k in range(10)]
    rng = np.random.default_rng(1)
    for start, end in rng.choice([-1, 1], (100, 2)) * 10 ** rng.uniform(-300, 300, (100, 2)):
        (a, b), whole = decimals(start, end)
        exact = float((2 * Fraction(float(start)) + Fraction(float(end))) / 3)
        assert math.isclose((2 * a + b) / (3 * whole), exact, rel_tol=2**-51)
        assert (a / whole, b / whole) == (start, end)


def test_decimals_of_a_caller_change_nothing():
    """Who works with money may have two digits, and may want to hear of every rounding."""
    wanted = within(0.123456, 1e-5), grid(0.3, 0.1).tolist()
    assert wanted[1] == [0.0, 0.1, 0.2, 0.3]
    with localcontext(Context(prec=2, traps=[Inexact])):
        assert (within(0.123456, 1e-5), grid(0.3, 0.1).tolist()) == wanted


@pytest.mark.parametrize(
    ("share", "said"),
    [(0.9956, "99.6"), (0.99996, "99.996"), (-0.985, "-98"), (0.0123, "1.2"), (1.0, "100"), (0.0, "0"), (3.456, "350")],
)
def test_shares_are_told_in_percent_and_none_as_the_whole(share, said):
    assert percent(share) == said


@pytest.mark.parametrize(("value", "digits", "said"), [(99.6, 2, "100"), (1234.5, 3, "1230"), (1.25e-7, 2, "1.2e-07")])
def test_rounded_numbers_are_written_in_full(value, digits, said):
    assert rounded(value, digits) == said


@pytest.mark.parametrize("strange", [math.inf, -math.inf, math.nan])
def test_lapack_is_asked_for_finite_matrices_alone(strange):
    """With one infinity it seeks singular values for ever, with more it writes to standard output, below an answer."""
    matrix = np.eye(3)
    assert all_finite(matrix) is matrix
    matrix[0, 1] = strange
    full = np.full((3, 3), strange)
    for ask in (
        lambda: all_finite(matrix),
        lambda: yielding(np.eye(3), np.full((6, 3), strange)),
        lambda: orthonormal([full[:, :, None]], np.ones(3)),
    ):
        with np.errstate(all="ignore"), pytest.raises(np.linalg.LinAlgError, match="not finite"):
            ask()
