"""How much loops forgive, against oscillators under control, whose peaks are formulas."""

import numpy as np
import pytest
from thinned import rare

from kronbot.mechanics.control.feedback import disk_margin, sensitivity_peak


@pytest.mark.parametrize("seed", [*range(3), *map(rare, range(3, 12))])
def test_margins_of_oscillators_in_other_coordinates(seed):
    """S = s^2/(s^2 + 2 z w s + w^2) peaks at 1/(2 z sqrt(1 - z^2)), S - 1/2 at sqrt(1 + z^2)/(2 z); of several loops
    that do not meet the largest counts. Peaks may be hardly higher than S = 1 at high frequencies.
    """
    rng = np.random.default_rng(seed)
    count = 1 + seed % 4
    w, z = 10 ** rng.uniform(-1, 4, count), np.sqrt(0.5) - 10 ** rng.uniform(-3, -0.2, count)
    A, B, K = np.zeros((2 * count, 2 * count)), np.zeros((2 * count, count)), np.zeros((count, 2 * count))
    for i in range(count):
        A[2 * i, 2 * i + 1] = B[2 * i + 1, i] = 1
        K[i, 2 * i : 2 * i + 2] = w[i] ** 2, 2 * z[i] * w[i]
    turn, units = np.linalg.qr(rng.standard_normal(A.shape))[0], 10 ** rng.uniform(-2, 2, count)
    loop = turn @ A @ turn.T, turn @ B * units, K @ turn.T / units[:, None]
    assert sensitivity_peak(*loop) == pytest.approx((1 / (2 * z * np.sqrt(1 - z * z))).max(), rel=1e-6)
    margin, frequency = disk_margin(*loop)
    least = np.argmin(z)
    assert margin == pytest.approx(2 * z[least] / np.hypot(1, z[least]), rel=1e-6)
    assert frequency == pytest.approx(w[least], rel=1e-2)


def test_a_loop_that_nothing_closes():
    """Without gains S is 1 everywhere, and any factor of them is allowed."""
    A, B, K = -np.eye(2), np.eye(2), np.zeros((2, 2))
    assert (sensitivity_peak(A, B, K), *disk_margin(A, B, K)) == (1, 2, 0)
