"""What is sampled evenly as a place and a few exponentials about it: what creeps, what vibrates, damped or not."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kronbot.floats import Array, all_finite

# Means over so many pieces are looked at, where there are as many samples.
PIECES = 128
# What is in them above such shares is no error: with more exponentials, and with few.
ABOVE = 1e-4, 1e-3
# What agrees where the place is known: fits to the time from a share of it to another one, above such shares.
FITS = (0.0, 1.0, (*ABOVE, 1e-5)), (0.0, 0.75, ABOVE), (0.25, 1.0, ABOVE)
# What turns by less than so much of a swing creeps; it has gone its way to within so many times what it has gone.
TURNED, LEFT = 0.5, 2
GROWN = 300.0  # exponents of what grows that are all there is
# Where later parts of the time begin, as a share of all, and by what share of it places are so sure that these are not
# looked at; what share of all has died out to nearly nothing, and by how much surer these have to be.
LATER, SURE, DIED, SURER = (0.5, 0.75, 0.875), 5e-3, 0.05, 0.1
# How many times as far off a place may be as values are from what is fitted to them.
MISSED = 10


class Exponentials(NamedTuple):
    """Values (N, k) as ``place`` (k,) + Re sum of parts exp(rate t), t in samples: ``rates`` (m,), of which those with
    an imaginary part vibrate, how large each is at first, ``sizes`` (m,), and by how much it is ``missed`` at most."""

    place: Array
    rates: Array
    sizes: Array
    missed: float


def exponentials(values: Array, shares: Sequence[float]) -> list[Exponentials]:
    """Of (N, k) values, what is larger than each of these shares of the largest.

    Means over pieces are sums of powers z^n of a few numbers, of which a fraction of a period tells z: they are the
    eigenvalues of what leads from one row to the next of the space that all stretches of their differences span (matrix
    pencil: Hua and Sarkar 1990). Least squares of the powers and a constant have the place.
    """
    pieces = min(PIECES, len(values))
    each = len(values) // pieces
    means = values[: each * pieces].reshape(pieces, each, -1).mean(axis=1)
    width = pieces // 3
    apart = np.diff(means, axis=0)
    apart /= np.abs(apart).max() or 1.0  # whose squares are numbers
    stretches = np.lib.stride_tricks.sliding_window_view(apart, width, axis=0).reshape(-1, width)
    squares, spanned = np.linalg.eigh(all_finite(stretches.T @ stretches))
    return [_fitted(means, spanned[:, squares > share**2 * squares[-1]], each) for share in shares]


def _fitted(means: Array, V: Array, each: int) -> Exponentials:
    """Means (pieces, k) over ``each`` so many samples, stretches of whose differences are in a space (width, m)."""
    pieces = len(means)
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
    parts = farthest(shares[1:]) * np.exp(-largest) * np.where(rates.imag == 0, 1, 2)  # conjugates: both
    return Exponentials(shares[0].real, rates, parts / np.maximum(first, np.finfo(float).tiny), missed)


def farthest(parts: npt.NDArray[np.complex128]) -> Array:
    """How far Re a exp(i phi) is from 0 at most, of rows a (..., k): the larger half axis of the ellipse that it is."""
    squares = (parts * parts.conj()).real.sum(axis=-1) + np.abs((parts * parts).sum(axis=-1))
    return np.asarray(np.sqrt(squares / 2))


def rest(values: Array, wanted: float = np.inf) -> tuple[Array, float]:
    """The place (k,) about which (N, k) values vibrate or to which they creep, and how far off it may be.

    By all of the time, or, of what is linear near its rest alone and where less is ``wanted``, by a later part in which
    nearly all has died out.
    """
    count, all_of_it = len(values), way(values)
    place, error = _rest(values)
    for start in LATER:
        later = values[round(start * count) :]
        if error > min(SURE * all_of_it, wanted) and way(later) < DIED * all_of_it:
            there, apart = _rest(later)
            if apart < SURER * error:
                place, error = there, apart
    return place, error


def way(values: Array) -> float:
    """How large is what (N, k) values are in."""
    return float(np.linalg.norm(np.ptp(values, axis=0)))


def _rest(values: Array) -> tuple[Array, float]:
    """That of one part of the time.

    It is known as far as all of this and parts of it, with few and with more exponentials, agree, and as they meet the
    values, and not where what creeps has gone less than a third of its way: two of them look like one at first.
    """
    count = len(values)
    parts = ((values[round(start * count) : round(end * count)], shares) for start, end, shares in FITS)
    found = [each for part in parts for each in exponentials(*part)]
    apart = float(max(np.linalg.norm(one.place - other.place) for one, other in combinations(found, 2)))
    place, rates, sizes, missed = found[0]
    creeps = np.abs(rates.imag) * count < 2 * np.pi * TURNED
    first, last = sizes[creeps], (sizes * np.exp(np.minimum(rates.real * count, GROWN)))[creeps]
    gone, left = float(np.maximum(first - last, 0).sum()), float(last.sum())
    return place, max(apart, MISSED * missed, left if left > LEFT * gone else 0.0)


def hann(count: int) -> Array:
    """Hann's window 1 - cos of so many samples, the sum of which is 1."""
    window = 1 - np.cos(2 * np.pi * np.arange(count) / (count - 1))
    window /= window.sum()
    return window
