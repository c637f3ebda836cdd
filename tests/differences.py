"""Derivatives by differences that are extrapolated to none, to ten digits and more."""

import numpy as np

# Entries that are moved together.
TOGETHER = 5
STEPS = [2e-2 / 2**j for j in range(5)]


def extrapolated(function, at, direction):
    """The derivative along a direction, by differences extrapolated to none (Richardson)."""
    table = [(function(at + h * direction) - function(at - h * direction)) / (2 * h) for h in STEPS]
    for power in range(1, 5):
        table = [(4**power * b - a) / (4**power - 1) for a, b in zip(table, table[1:], strict=False)]
    return table[0]


def demand_derivatives(function, at, J, names, tolerance=1e-7, least=1e-11):
    """J (numbers that are there, entries) is the derivative: along mixtures of entries whose columns weigh alike.

    Differences know it to the rounding of the numbers over the shortest step, too.
    """
    least = least + np.finfo(float).eps * np.nanmax(np.abs(function(at))) / STEPS[-1]
    rng = np.random.default_rng(len(at))
    scale = np.where(at == 0, 0.1, np.abs(at))
    weight = np.abs(J).max(axis=0) * scale
    for places in np.array_split(np.argsort(weight), -(-len(at) // TOGETHER)):
        direction, most = np.zeros(len(at)), weight[places].max()
        alike = max(weight[places[0]], 0.03 * most) / np.maximum(weight[places], 0.03 * most) if most else 1.0
        direction[places] = scale[places] * alike * rng.uniform(0.5, 1, len(places)) * rng.choice([-1, 1], len(places))
        wanted = extrapolated(function, at, direction)
        wanted = wanted[~np.isnan(wanted)]
        error = np.abs(J @ direction - wanted).max()
        assert error <= tolerance * np.abs(wanted).max() + least, [names[place] for place in places]
