"""What is said of numbers."""

from decimal import Decimal

import numpy as np

from kronbot.floats import within


def test_an_error_in_words_holds_what_is_known():
    """Both ends of the interval lie in the one that is told, which is wider by two digits at most."""
    rng = np.random.default_rng(0)
    for size, share in 10 ** rng.uniform([-300, -3], [300, 3], (500, 2)):
        value, error = rng.choice([-1, 1]) * size, size * share
        said, bound = map(Decimal, within(value, error).split(" +- "))
        off = abs(said - Decimal(value)) + Decimal(error)
        assert off * (1 - Decimal("1e-15")) <= bound <= off * Decimal("1.1001")
    assert within(0.0, 0.0) == "0 +- 0"
