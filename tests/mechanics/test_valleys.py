"""Searches without priors: they end at the bottom of curved valleys, and are not led away by what data hardly tell."""

import sys

import numpy as np
import pytest
import random_arms
from thinned import thinned

from kronbot.errors import ComputationError
from kronbot.mechanics.estimation import least_squares, valleys
from kronbot.mechanics.estimation.beliefs import Beliefs
from kronbot.mechanics.estimation.least_squares import fitted


def valley(p):
    """The floor y = x^2/2 of a steep valley, which falls by 1e-3 only up to x = 3; one error nobody can help."""
    x, y = p
    return np.array([1e5 * (y - x**2 / 2), 0.02 * (x - 3), 1.0])


def slopes(p):
    return np.array([[-1e5 * p[0], 1e5], [0.02, 0], [0, 0]])


def beliefs(start, **bounds):
    far = np.full(2, np.inf)
    parts = {"lower": -far, "upper": far} | bounds
    return Beliefs(np.array(start), parts["lower"], parts["upper"], far * np.nan, far * np.nan)


def test_the_floor_of_a_valley_is_followed_in_whole_steps(monkeypatch):
    found = fitted(valley, slopes, beliefs([0.2, 0.1]), "linear")
    assert found.converged and found.steps < 40
    np.testing.assert_allclose(found.values, [3, 4.5], atol=1e-3)
    for steps in range(found.steps - 4, found.steps):  # wherever they are used up, on the floor, too
        short = fitted(valley, slopes, beliefs([0.2, 0.1]), "linear", steps)
        assert not short.converged or short.steps < steps
    monkeypatch.setattr(least_squares, "followed", lambda errors, slope, x: (x, 0))
    crawling = fitted(valley, slopes, beliefs([0.2, 0.1]), "linear")
    assert not crawling.converged and crawling.values[0] < 0.5


def test_at_the_end_of_a_floor_nothing_is_tried():
    """One look at errors and slopes tells that there is nothing to gain but rounding."""
    looks = []

    def watched(p):
        looks.append(p)
        return valley(p)

    x, steps = valleys.followed(watched, slopes, np.array([3 + 1e-6, (3 + 1e-6) ** 2 / 2]))
    assert steps == 0 and len(looks) == 1 and x[0] == 3 + 1e-6


def test_steps_along_a_floor_stay_within_bounds():
    found = fitted(valley, slopes, beliefs([0.2, 0.1], upper=np.array([1.0, np.inf])), "linear")
    assert found.values[0] <= 1.0
    np.testing.assert_allclose(found.values[1], found.values[0] ** 2 / 2, atol=1e-6)


def test_a_floor_that_leads_where_nothing_is_computed_is_left():
    """Errors that are infinite make steps shorter, and where all are there is none."""

    def walled(p):
        return valley(p) if p[0] < 0.3 else np.full(3, np.inf)

    x, steps = valleys.followed(walled, slopes, np.array([0.2, 0.02]))
    assert 0.2 < x[0] < 0.3 and steps
    far = valleys.followed(valley, slopes, np.array([0.2, 0.3]))  # high above the floor
    assert far[1] == 0 and far[0].tolist() == [0.2, 0.3]


EVERY = [(seed, soft, off) for soft in (False, True) for off in (0.03, 0.1, 0.3) for seed in range(10)]
# Each distance, rigid and soft; the first of the last kind ends in another valley.
TRIED = [EVERY[i] for i in (0, 20, 40)]


@pytest.mark.parametrize(("seed", "soft", "off"), thinned(TRIED, [(0, False, 0.03)]))
def test_random_arms_are_calibrated_without_priors(seed, soft, off):
    """Lengths off by 9 mm, 3 cm or 9 cm, angles by as much in rad, stiffnesses by factors."""
    summary = random_arms.calibrated(seed, soft, off).summary
    assert summary["complete"]
    assert summary["chi_square"] < summary["degrees_of_freedom"] * (1 + 5 * np.sqrt(2 / summary["degrees_of_freedom"]))


def main():
    """All of them, and how many evaluations they take."""
    for seed, soft, off in EVERY:
        try:
            summary = random_arms.calibrated(seed, soft, off).summary
        except ComputationError as error:
            summary = error.partial.summary
        told = summary["chi_square"] / summary["degrees_of_freedom"]
        print(seed, soft, off, summary["evaluations"], summary["complete"], f"{told:.3g}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
