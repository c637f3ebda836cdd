"""Poles that cannot be told apart, semisimple or defective: bars that hold in 100 digits, counts of whole numbers."""

import mpmath as mp
import numpy as np
import pytest
from exact_poles import poles as in_many_digits
from scipy.optimize import linear_sum_assignment
from thinned import rare
from whole_numbers import KINDS, dimensions, system

from kronbot.mechanics.linear.deflation import SecondOrder
from kronbot.mechanics.linear.null_spaces import null_space
from kronbot.mechanics.linear.spectrum import poles
from kronbot.mechanics.linear.state_space import margins


def within(found, exact):
    """Whether exact poles can be given to those found, each to one whose errors hold it and its growth."""
    rows = [
        (value, pole)
        for pole in found
        for value in ([0j] * pole.count if pole.free else (pole.value, pole.value.conjugate())[: pole.count])
    ]
    assert len(rows) == len(exact)
    off = np.array([
        [abs(s - z) > pole.error + 1e-20 * abs(s) + 1e-20 or abs(s.real - z.real) > pole.growth_error + 1e-20
         for s in exact]
        for z, pole in rows
    ])  # fmt: skip
    return not off[linear_sum_assignment(off)].any()


@pytest.mark.parametrize("seeds", [range(1), rare(range(1, 2))])
@pytest.mark.parametrize("kind", KINDS)
def test_bars_hold_and_counts_are_right_where_poles_are_equal(kind, seeds):
    for seed in seeds:
        rng = np.random.default_rng([seed, list(KINDS).index(kind)])
        M, D, K, E, C = system(rng, kind)
        wanted = dimensions(M, D, K, E, C)
        matrices, zero = [A.astype(float) for A in (M, D, K)], np.zeros(K.shape)
        exactly = SecondOrder(*matrices, zero, zero, zero, null_space(matrices[2], zero))
        with mp.workdps(100):
            left = in_many_digits(*(mp.matrix(A.tolist()) for A in (M, D, K)))
            for each in (SecondOrder.exact(*matrices), exactly):
                found = poles(each)
                assert within(found, left)
                # As wide as a fourth root of rounding, where four have met; a zero of chance has no size of its own.
                widest = max(abs(pole.value) for pole in found)
                assert all(pole.error <= max(1e-2 * abs(pole.value), 1e-12 * widest) for pole in found)
                counts = margins(matrices[0], E.astype(float), C.astype(float), found).counts
                assert (counts["controllable"], counts["observable"]) == wanted
