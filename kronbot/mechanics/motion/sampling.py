"""Whether even samples show what moves, and what it does between them."""

from __future__ import annotations

import numpy as np

from kronbot.floats import Array

# Parts between two samples; what share of an amplitude is missed where the fifth power of a step tells, and how many
# times as many samples are no waste.
BETWEEN, FIFTH, MORE = 8, 0.5, 1.2


def missed(step: float, values: Array, rates: Array) -> float:
    """How far values (N, k) at even times go beside Simpson's rule of their rates, at most.

    Of A sin(w t + p) it is 2 A |sin(w h) - w h (2 + cos(w h)) / 3|, which is A (w h)^5 / 90 where w h is small, and
    nowhere nothing: what vibrates too fast for the samples is seen, too.
    """
    simpson = step / 3 * (rates[:-2] + 4 * rates[1:-1] + rates[2:])
    return float(np.linalg.norm(values[2:] - values[:-2] - simpson, axis=1).max(initial=0.0))


def finer(missed: float, allowed: float, amplitude: float) -> float:
    """How many times as many samples make as little as is ``allowed`` of what is :func:`missed` by them, at least, if
    it swings by no more than an amplitude: by the fifth power of the step, in steps beyond a period by the step."""
    share = missed / amplitude
    turned = max((90 * min(share, FIFTH)) ** 0.2, 0.75 * share)
    return MORE * max(1.0, float(turned / (90 * min(allowed / amplitude, FIFTH)) ** 0.2))


def between(step: float, values: Array, rates: Array) -> Array:
    """Values (N, k) at even times, and BETWEEN - 1 after each by cubics of values and rates (Hermite), which are beside
    a vibration by A (w h)^4 / 384."""
    u = np.arange(BETWEEN)[:, None, None] / BETWEEN
    first, last, slope, then = values[:-1], values[1:], step * rates[:-1], step * rates[1:]
    bend = 3 * (last - first) - 2 * slope - then
    cubic = first + u * (slope + u * (bend + u * (2 * (first - last) + slope + then)))
    return np.vstack([cubic.swapaxes(0, 1).reshape(-1, values.shape[1]), values[-1:]])
