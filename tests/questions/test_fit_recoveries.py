"""Shipped robots come back from what they answer with, with each question that fits them."""

import numpy as np
import pytest
import recoveries
from thinned import thinned

# Robots of each kind, each once or twice; all of them take minutes: python tests/recoveries.py
EVERY = [
    *((name, "statics") for name in ("spatial", "spin-up")),
    *((name, "modes") for name in ("floating-canadarm", "khang")),
    *((name, "dynamics") for name in ("stacker", "stacker-numeric")),
    *((name, "simulate") for name in ("khang", "puma560")),
]


@pytest.mark.parametrize(
    ("name", "question"),
    thinned(EVERY, [("khang", "modes"), ("spin-up", "statics"), ("stacker-numeric", "dynamics")]),
)
def test_what_data_tell_comes_back(name, question):
    """To 1e-8 from measurements without noise, also where most parameters are seen as sums only, or not at all.

    Of motions that tell all parameters to rounding: steps follow from where a search ends, not from where it begins.
    """
    _, off, _ = recoveries.exact(recoveries.of(name, question))
    assert off <= (1e-12 if (name, question) == ("khang", "simulate") else 1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "question"), [("khang", "statics"), ("khang", "modes"), ("khang", "simulate"), ("puma560", "dynamics")]
)
def test_errors_are_as_large_as_they_say(name, question):
    """True values drawn from the priors: a sum of chi-squares lies within 4 of its standard deviations, and within one
    of what the same draws would make of it were all linear.
    """
    total, freedom, chance = recoveries.chi_square(recoveries.of(name, question), 3)
    assert abs(total - freedom) < 4 * np.sqrt(2 * freedom)
    assert abs(total - chance) < np.sqrt(2 * freedom)
