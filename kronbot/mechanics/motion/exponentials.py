"""What is sampled evenly as a place and a few exponentials about it: what creeps, what vibrates, damped or not."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kronbot.floats import Array, all_finite

# Means over so many pieces are looked at, where there are as many samples.
PIECES = 128
# What is in them above these shares is no error; parts of the time, as shares of it from where to where.
ABOVE = 1e-4, 1e-3
PARTS = (0.0, 1.0), (0.0, 0.75), (0.25, 1.0)


class Exponentials(NamedTuple):
    """Values (N, k) as ``place`` (k,) + Re sum of parts exp(rate t), t in samples: ``rates`` (m,), of which those with
    an imaginary part vibrate, how large each is at first, ``sizes`` (m,), and by how much it is ``missed`` at most."""

    place: Array
    rates: Array
    sizes: Array
    missed: float


def exponentials(values: Array, above: float) -> Exponentials:
    """Of (N, k) values, what is larger than a share of the largest.

    Means over pieces are sums of powers z^n of a few numbers, of which a fraction of a period tells z: they are the
    eigenvalues of what leads from one row to the next of the space that all stretches of their differences span (matrix
    pencil: Hua and Sarkar 1990). Least squares of the powers and a constant have the place.
    """
    pieces = min(PIECES, len(values))
    each = len(values) // pieces
    means = values[: each * pieces].reshape(pieces, each, -1).mean(axis=1)
    width = pieces // 3
    stretches = np.lib.stride_tricks.sliding_window_view(np.diff(means, axis=0), width, axis=0).reshape(-1, width)
    _, sizes, spanned = np.linalg.svd(all_finite(stretches), full_matrices=False)
    V = spanned[sizes > above * sizes[0]].T
    z = np.linalg.eigvals(np.linalg.lstsq(all_finite(V[:-1]), all_finite(V[1:]), rcond=None)[0]).astype(complex)
    rates = np.log(z[z != 0])
    largest = np.maximum(rates.real, 0) * (pieces - 1)
    # Each power is 1 where it is largest.
    powers = np.exp(np.outer(np.arange(pieces), rates) - largest)
    powers = np.column_stack([np.ones(pieces), powers])
    shares = np.linalg.lstsq(all_finite(powers), all_finite(means.astype(complex)), rcond=None)[0]
    rates /= each
    missed = float(np.linalg.norm(means - powers @ shares, axis=1).max())
    first = np.abs(np.exp(np.outer(np.arange(each), rates)).mean(axis=0))  # the mean of what begins with 1
    parts = np.linalg.norm(shares[1:], axis=1) * np.exp(-largest) * np.where(rates.imag == 0, 1, 2)  # conjugates: both
    return Exponentials(shares[0].real, rates, parts / np.maximum(first, np.finfo(float).tiny), missed)


def rest(values: Array) -> tuple[Array, float]:
    """The place (k,) about which (N, k) values vibrate or to which they creep, and how far off it may be.

    It is known as far as all of the time and parts of it, with few and with more exponentials, agree, and not where they
    have gone less of the way there than they have still to go.
    """
    ends = [(round(low * len(values)), round(high * len(values))) for low, high in PARTS]
    places = np.array([exponentials(values[start:end], above).place for start, end in ends for above in ABOVE])
    low, high = values.min(axis=0), values.max(axis=0)
    aside = float(np.linalg.norm(places[0] - np.clip(places[0], low, high)))
    apart = float(np.linalg.norm(places[:, None] - places, axis=2).max())
    return places[0], max(apart, aside) if aside > np.linalg.norm(high - low) else apart


def hann(count: int) -> Array:
    """Hann's window 1 - cos of so many samples, the sum of which is 1."""
    window = 1 - np.cos(2 * np.pi * np.arange(count) / (count - 1))
    window /= window.sum()
    return window
