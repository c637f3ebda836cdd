"""Where the equations of a deviation, M(t) y'' + D(t) y' + K(t) y = 0, take it within a period: the monodromy matrix.

It is kept as a product of pieces. A product written out loses what decays beside what grows by more than 1e16, and
what the steps of a piece miss is known piece by piece.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise

import numpy as np
import numpy.typing as npt

from kronbot.errors import ComputationError
from kronbot.floats import Array, all_finite
from kronbot.mechanics.linear.null_spaces import echelon, lasting, null_space
from kronbot.mechanics.motion.integration import stops
from kronbot.model.shape_functions import gauss
from kronbot.records import dataclass

# M, D, K, each (times, n, n), at times (s); or bounds of the errors of their entries.
Coefficients = Callable[[Array], tuple[Array, Array, Array]]
# K with other numbers and bounds of the errors of its entries, both (some times, n, n), for each choice of numbers.
Others = Callable[[Array], Sequence[tuple[Array, Array]]]

PIECES = 32
# Steps are halved until that moves a piece by no more than this share; or by less than NEARLY, where rounding or
# their number is in the way.
CLOSE, NEARLY = 1e-12, 1e-8
MOST_STEPS = 1024
# No piece takes a deviation so far: its steps are too long for it.
LARGEST = 1e50
# An entry of the stiffness (by the inertia, 1/s2) below this share of the largest is rounding.
NO_STIFFNESS = 1e-15
# A momentum that a piece changes by no more than this share is conserved; only damping changes it, and by far more.
CONSERVED = 1e-9
# Coefficients of 1, x ... x^7 in the diagonal Pade approximant of exp(x).
PADE = (17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0)
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Monodromy:
    """x(T) = pieces[-1] ... pieces[0] x(0), x (m,) the deviations that no symmetry explains.

    ``errors`` bound the entries of what each piece is off by. ``at_one`` multipliers at +1 are taken out: one for every
    cyclic coordinate (it stays where it is put), one for every momentum that is conserved with it. ``form`` (m x m) is
    the skew form that the motion conserves where nothing damps it: y1 . p2 - y2 . p1, p the conjugate momenta.
    """

    pieces: Sequence[Array]
    errors: Sequence[Array]
    at_one: int
    form: Array


@dataclass(frozen=True)
class Scales:
    """Deviations of about equal energy: y = ``places`` z_1 for the coordinates ``seen``, y' = ``rates`` z_2.

    Seen are those that are not cyclic.
    """

    seen: Array
    places: Array
    rates: Array

    @staticmethod
    def of(M: Array, K: Array, period: float, seen: Array) -> Scales:
        """By mean inertia and stiffness (n x n): modes of unit mass, their deflection times their frequency."""
        frequencies, places = _modes(M[np.ix_(seen, seen)], K[np.ix_(seen, seen)])
        return Scales(seen, places / np.maximum(frequencies, 1 / period), _modes(M, K)[1])

    def rates_of(self, M: Array, D: Array, K: Array) -> Array:
        """A (times, m, m) with z' = A z."""
        count = len(self.seen)
        A = np.zeros((len(M), count + len(self.rates), count + len(self.rates)))
        A[:, :count, count:] = np.linalg.solve(self.places, self.rates[self.seen]) if count else 0.0
        forces = np.concatenate([K[:, :, self.seen] @ self.places, D @ self.rates], axis=2)
        A[:, count:] = -np.linalg.solve(self.rates.T @ M @ self.rates, self.rates.T @ forces)
        return A

    def rounding(self, M: Array, D: Array, K: Array, errors: tuple[Array, Array, Array]) -> Array:
        """Bounds (times, m, m) of the errors of A, from those of the entries of M, D, K and its own rounding."""
        count, A = len(self.seen), np.abs(self.rates_of(M, D, K))
        places, rates, own = np.abs(self.places), np.abs(self.rates), len(self.rates) * EPS
        dM, dD, dK = (E + own * np.abs(B) for E, B in zip(errors, (M, D, K), strict=True))
        forces = np.concatenate([dK[:, :, self.seen] @ places, dD @ rates], axis=2) + dM @ rates @ A[:, count:]
        dA = np.zeros_like(A)
        if count:
            dA[:, :count] = own * np.abs(np.linalg.inv(self.places)) @ places @ A[:, :count]
        dA[:, count:] = np.abs(np.linalg.inv(self.rates.T @ M @ self.rates)) @ (rates.T @ forces)
        return dA

    def jump(self, G: Array) -> Array:
        """What a jump of y' by -G y makes of z (m x m); cyclic coordinates meet none."""
        found = np.eye(len(self.seen) + len(self.rates))
        found[len(self.seen) :, : len(self.seen)] = -np.linalg.solve(self.rates, G[:, self.seen] @ self.places)
        return found

    def form(self, M: Array, D: Array) -> Array:
        """The skew form y1 . p2 - y2 . p1 of two deviations, with the gyroscopic part of D in the momenta."""
        G = (D - D.T) / 2
        corner = self.places.T @ G[np.ix_(self.seen, self.seen)] @ self.places
        side = self.places.T @ M[self.seen] @ self.rates
        return np.block([[corner, side], [-side.T, np.zeros((len(M), len(M)))]])

    def momentum(self, M: Array, D: Array, place: int) -> Array:
        """Change (m,) of the momentum of a cyclic coordinate by a deviation, dp = M_c y' + (dp/dq) y."""
        G = (D[place, self.seen] - D[self.seen, place]) / 2
        return np.concatenate([G @ self.places, M[place] @ self.rates])


def monodromy(
    coefficients: Coefficients,
    roundings: Coefficients,
    period: float,
    corners: Iterable[float],
    progress: Callable[[float], None],
    others: Others | None = None,
    jumps: Sequence[tuple[float, Array]] = (),
) -> Monodromy:
    """The monodromy matrix of the periodic coefficients, smooth but for ``corners`` (s), which are ends of pieces.

    ``roundings`` are the errors of their entries, ``others`` the stiffness with other numbers: what meets none
    there, either, is cyclic by structure. At ``jumps``, corners, y' jumps by -G y, with G (n x n).
    ``progress`` is told the share of the period that is done.
    """
    progress(0.0)
    times = _ends(period, corners)
    T, cyclic = _cyclic(*coefficients(times)[::2], [] if others is None else others(times))

    def turned(times: Array) -> tuple[Array, Array, Array]:
        M, D, K = (T.T @ A @ T for A in coefficients(times))
        return M, D, K

    M, D, K = turned(times)
    scales = Scales.of(M.mean(axis=0), K.mean(axis=0), period, np.setdiff1d(np.arange(len(T)), cyclic))
    size = np.abs(T.T)
    dM, dD, dK = (
        size @ (E + len(T) * EPS * np.abs(A)) @ size.T
        for E, A in zip(roundings(times), coefficients(times), strict=True)
    )
    local = scales.rounding(M, D, K, (dM, dD, dK))
    pieces, errors = [], []
    count = len(times) - 1
    for k in range(count):
        piece, error = _piece(turned, scales, times[k], times[k + 1], np.maximum(local[k], local[k + 1]))
        pieces.append(piece)
        errors.append(error)
        progress(times[k + 1] / period)
    for t, G in jumps:
        jump = scales.jump(np.asarray(np.linalg.solve(T, G @ T), dtype=float))
        last = int(np.abs(times - t).argmin()) - 1  # one at the beginning is at the end, too
        pieces[last], errors[last] = jump @ pieces[last], np.abs(jump) @ errors[last] + _rounded(jump, pieces[last])
    kept, damping = [], size @ np.abs(coefficients(times)[1]) @ size.T
    for place in cyclic.tolist():
        rows = [scales.momentum(M[k % count], D[k % count], place) for k in range(count + 1)]
        change = [np.linalg.norm(rows[k + 1] @ pieces[k] - rows[k]) for k in range(count)]
        # What damps it may be lost beside what damps a shaft.
        lost = np.linalg.norm(EPS * damping[:-1, place] @ np.abs(scales.rates), axis=1) * np.diff(times)
        if ((change + lost) / np.linalg.norm(rows[:-1], axis=1)).max() <= CONSERVED:
            kept.append(rows)
    form = scales.form(M[0], D[0])
    if kept:
        # Deviations that change no conserved momentum stay such deviations.
        bases = [_orthogonal_to(np.array(rows)) for rows in zip(*kept, strict=True)]
        sides = [*zip(bases[:-1], bases[1:], strict=True)]
        errors = [
            np.abs(after).T @ (E + 2 * len(E) * EPS * np.abs(piece)) @ np.abs(before)
            for piece, E, (before, after) in zip(pieces, errors, sides, strict=True)
        ]
        pieces = [after.T @ piece @ before for piece, (before, after) in zip(pieces, sides, strict=True)]
        form = bases[0].T @ form @ bases[0]
    return Monodromy(pieces, errors, len(cyclic) + len(kept), form)


def _rounded(A: Array, B: Array) -> Array:
    """A bound of what rounding makes of the entries of A B, those of A being right to a few units."""
    return np.asarray(4 * len(A) * EPS * np.abs(A) @ np.abs(B))


def _ends(period: float, corners: Iterable[float]) -> Array:
    """Ends of the pieces (s): corners, and as many between them as make PIECES of a period without."""
    stretches = pairwise(stops(period, corners))
    shares = [np.linspace(a, b, math.ceil(PIECES * ((b - a) / period)), endpoint=False) for a, b in stretches]
    return np.append(np.concatenate(shares), period)


def _cyclic(M: Array, K: Array, elsewhere: Sequence[tuple[Array, Array]]) -> tuple[Array, npt.NDArray[np.intp]]:
    """Coordinates z, y = T z, and which of them are cyclic, by inertia and stiffness at many times (times, n, n), and
    by stiffness with other numbers.

    Where no stiffness ever meets a direction it is a coordinate of its own, as the turn of joints on one axis.
    """
    size = np.sqrt(np.diagonal(M.mean(axis=0)))

    def rows(K: Array, errors: Array) -> tuple[Array, Array]:
        stiffness, wrong = ((A / np.outer(size, size)).reshape(-1, len(size)) for A in (K, errors))
        large = np.abs(stiffness) > NO_STIFFNESS * np.abs(stiffness).max(initial=0.0)
        stiffness = np.where(large, stiffness, 0.0)
        return stiffness, wrong + 4 * EPS * np.abs(stiffness)

    directions = null_space(*rows(K, np.zeros_like(K)))
    if directions.size:
        directions = lasting(directions, [rows(*each) for each in elsewhere])
    free, places = echelon(directions)
    T = np.diag(1 / size)
    T[:, places] = free / size[:, None]
    return T, places


def _modes(M: Array, K: Array) -> tuple[Array, Array]:
    """Size of the frequencies (n,) and shapes (n x n) of unit mass."""
    L = np.linalg.cholesky(M)
    half = np.linalg.solve(L, (K + K.T) / 2)
    values, vectors = np.linalg.eigh(np.linalg.solve(L, half.T))
    return np.sqrt(np.abs(values)), np.linalg.solve(L.T, vectors)


def _orthogonal_to(rows: Array) -> Array:
    """An orthonormal basis (m x (m - k)) of what is orthogonal to k independent rows (k x m)."""
    return np.linalg.svd(all_finite(rows))[2][len(rows) :].T


def _piece(
    coefficients: Coefficients, scales: Scales, start: float, end: float, rounding: Array
) -> tuple[Array, Array]:
    """The piece from start to end, with steps halved until nothing changes, and bounds of the errors of its entries.

    ``rounding`` bounds what A is off by.
    """
    steps, coarse, before = 1, None, math.inf
    while steps <= MOST_STEPS:
        exponents = _exponents(coefficients, scales, start, end, steps)
        with np.errstate(over="ignore", invalid="ignore"):  # of steps that are too long
            parts = _exponentials(exponents)
            reached = list(accumulate(parts[-1], lambda product, part: part @ product))
        fine = reached[-1]
        size = float(np.linalg.norm(fine)) if np.abs(fine).max() < LARGEST else math.inf  # infinite for NaN, too
        change = math.inf if coarse is None else float(np.linalg.norm(fine - coarse))
        slow = change <= NEARLY and (change > before / 2 or steps == MOST_STEPS)
        if coarse is not None and size < math.inf and (change <= CLOSE * max(1.0, size) or slow):
            # Steps half as long are off by a 64th, and by more where rounding or fast vibrations are in the way.
            left_over = min(1.0, 2 * max(1 / 64, change / before)) * np.abs(fine - coarse)
            return fine, left_over + _spread(exponents, parts, reached, (end - start) / steps * rounding)
        coarse, steps, before = None if size == math.inf else fine, 2 * steps, change
    raise ComputationError("the period is too long for vibrations so fast: take fewer modes, or lock stiff coordinates")


def _exponents(coefficients: Coefficients, scales: Scales, start: float, end: float, count: int) -> Array:
    """Those (count, m, m) of equal Magnus steps of order six, on Gauss nodes (Blanes, Casas, Oteo and Ros 2009)."""
    h = (end - start) / count
    times = (start + h * (np.arange(count)[:, None] + gauss(3)[0])).ravel()
    A = scales.rates_of(*coefficients(times))
    first, middle, last = A[0::3], A[1::3], A[2::3]
    a, b, c = h * middle, h * math.sqrt(15) / 3 * (last - first), h * 10 / 3 * (last - 2 * middle + first)
    ab = _commutator(a, b)
    inner = b - _commutator(a, 2 * c + ab) / 60
    return np.asarray(a + c / 12 + _commutator(-20 * a - c + ab, inner) / 240)


def _exponentials(exponents: Array) -> tuple[Array, Array]:
    """Halves of steps and whole ones, squared from exponents X below 1.

    exp(X) = I + 2 (V - U)^-1 U there, to rounding, with the even and odd parts V and U of the diagonal Pade approximant
    of degree 7 (Higham 2005, theta_7 = 0.95). All of them at once, in a fifth of the time of scipy's expm, which takes
    them one by one, begins at 5, and loses two digits.
    """
    halvings = _halvings(exponents)
    X = np.ldexp(exponents, -halvings)
    powers = np.eye(X.shape[-1]), (square := X @ X), (fourth := square @ square), fourth @ square
    V, U = (sum((b * power for b, power in zip(part, powers, strict=True)), 0.0) for part in (PADE[::2], PADE[1::2]))
    U = X @ U
    half = powers[0] + 2 * np.linalg.solve(V - U, U)
    for _ in range(halvings - 1):
        half = half @ half
    return half, half @ half


def _halvings(exponents: Array) -> int:
    return max(1, int(np.frexp(np.linalg.norm(exponents, axis=(1, 2)).max())[1]))


def _spread(exponents: Array, parts: tuple[Array, Array], reached: Sequence[Array], rounding: Array) -> Array:
    """Bounds of the errors of a product of exponentials, from those of exponents and from rounding, to first order.

    An error dX of an exponent X makes int exp((1 - s) X) dX exp(s X) ds, here its largest value at s = 0, 1/2, 1; all
    of it is taken on by what follows.
    """
    half, whole = (np.abs(part) for part in parts)
    m = len(rounding)
    own = m * EPS * (np.abs(exponents) + 2.0 ** _halvings(exponents) * np.eye(m)) + rounding
    errors = np.maximum(np.maximum(whole @ own, own @ whole), half @ own @ half)
    before = np.abs([np.eye(m), *reached[:-1]])
    after = np.abs(list(accumulate(parts[1][:0:-1], lambda product, part: product @ part, initial=np.eye(m)))[::-1])
    return np.asarray((after @ errors @ before).sum(axis=0))


def _commutator(A: Array, B: Array) -> Array:
    return A @ B - B @ A
