"""Poles of M y'' + D y' + K y = 0: all 2n of them, each with error bounds of its own.

Poles at zero are taken out of the quadratic eigenvalue problem L(s) = M s^2 + D s + K exactly (deflation), the others
start as eigenvalues of companion matrices, the fast ones of the problem itself, the slow ones of the reversed problem,
and are refined one by one (matrix_polynomial). Without damping and gyroscopic terms the problem is linear in s^2.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kronbot.errors import ComputationError
from kronbot.mechanics.linear.deflation import Deflated, Refined, SecondOrder, deflated, equilibrium
from kronbot.mechanics.linear.eigenvalues import Eigenvalue, eigenvalues
from kronbot.mechanics.linear.matrix_polynomial import ROUNDING, Polynomial

Array = npt.NDArray[np.float64]
Complex = npt.NDArray[np.complex128]


@dataclass(frozen=True, eq=False)
class Pole:
    """A pole s of the upper half plane, with vectors in coordinates: L(s) x = 0, y^H L(s) = 0.

    ``error`` bounds |ds|, ``growth_error`` the error of its real part, to first order in the errors of the entries;
    ``backward_error`` and ``condition`` are for componentwise changes. ``count`` is how many of the 2n poles it stands
    for (a pair: 2; a free coordinate: 1 or 2), ``group`` numbers those that cannot be told apart.
    """

    value: complex
    right: Complex
    left: Complex
    count: int
    group: int
    error: float = 0.0
    growth_error: float = 0.0
    backward_error: float = 0.0
    condition: float = 0.0
    refined: Refined | None = None

    @property
    def free(self) -> bool:
        """Whether it is the pole at zero of a direction without stiffness."""
        return self.refined is None

    def right_error(self, rows: Array) -> Array:
        """Bounds (k,) of what the errors of the entries change in ``rows`` (k x n) times x."""
        return np.zeros(len(rows)) if self.refined is None else self.refined.right_error(rows)

    def left_error(self, columns: Array) -> Array:
        """Bounds (k,) of what they change in y^H times ``columns`` (n x k)."""
        return np.zeros(columns.shape[1]) if self.refined is None else self.refined.left_error(columns)


# Added to the number of a group for the other root of a square.
APART = 1_000_000


def poles(system: SecondOrder) -> list[Pole]:
    """All poles, those at zero first, then by their size. Raises ComputationError where they are not 2n."""
    n = len(system.M)
    if not n:
        return []
    degree = 1 if not system.D.any() and not system.dD.any() else 2
    if system.symmetric:
        K, dK = (system.K + system.K.T) / 2, np.maximum(system.dK, system.dK.T) + np.abs(system.K - system.K.T) / 2
        system = SecondOrder(system.M, system.D, K, system.dM, system.dD, dK, system.free)
    reduced = deflated(system, degree)
    rest = n * degree - int(reduced.counts.sum())
    found = eigenvalues(reduced.polynomial, _starts(system, reduced.polynomial, degree, rest)) if rest else []
    if degree == 1 and system.symmetric:
        found = [real for e in found for real in _real(e)]
    many = Counter(e.group for e in found)
    if degree == 1:
        made = [pole for e in found for pole in _of_square(e, reduced, system.symmetric, many[e.group] == 1)]
    else:
        made = [_of(e, reduced) for e in found]
    if degree == 2 and system.symmetric:
        made = [_with_growth(pole, system) for pole in made]
        if system.gyroscopic:
            made = _on_axis(made)
    every = _zeros(system, reduced, 2 // degree) + sorted(made, key=lambda pole: (abs(pole.value), pole.value.real))
    if sum(pole.count for pole in every) != 2 * n:
        raise ComputationError("the poles cannot be told apart: numbers of the robot are too far apart")
    return every


def _real(e: Eigenvalue) -> list[Eigenvalue]:
    """Real eigenvalues, as those of s^2 are where forces have a potential: a pair is two that rounding has mixed."""
    if not e.value.imag:
        return [e]
    parts = zip((e.right.real, e.right.imag), (e.left.real, e.left.imag), strict=True)
    error = e.error + e.value.imag
    return [
        replace(e, value=complex(e.value.real), right=x.astype(complex), left=y.astype(complex), error=error)
        for x, y in parts
    ]


def _zeros(system: SecondOrder, reduced: Deflated, power: int) -> list[Pole]:
    """The poles at zero, one for every free direction."""
    places = np.flatnonzero(reduced.columns)
    right = reduced.T[:, places].astype(complex)
    left = right if system.symmetric else np.linalg.svd(system.K)[0][:, len(system.K) - len(places) :]
    counts = power * reduced.counts[places]
    return [Pole(0j, right[:, k], left[:, k], int(counts[k]), -1) for k in range(len(places))]


def _starts(system: SecondOrder, polynomial: Polynomial, degree: int, count: int) -> Complex:
    """Rough eigenvalues: fast ones of the companion matrix, slow ones of the reversed, cut in the geometric middle."""
    scale = 1 / np.sqrt(np.diag(system.M))
    M, D, K = (scale[:, None] * A * scale for A in (system.M, system.D, system.K))
    lower = [K, D] if degree == 2 else [K]
    fast = _roots(M, lower)
    fast = fast[np.argsort(-np.abs(fast), kind="stable")][:count]
    try:
        slow = _roots(polynomial.matrices[0], list(polynomial.matrices[:0:-1]))
    except np.linalg.LinAlgError:
        return _paired(fast)
    slow = slow[np.argsort(-np.abs(slow), kind="stable")][:count]
    slow = 1 / slow[np.isfinite(slow) & (np.abs(slow) > np.finfo(float).tiny)]
    if not len(slow):
        return _paired(fast)
    middle = np.sqrt(np.abs(slow).min() * np.abs(fast).max())
    taken = int((np.abs(slow) < middle).sum())
    if (
        0 < taken < len(slow)
        and slow[taken - 1].imag
        and np.isclose(slow[taken - 1].conjugate(), slow[taken], rtol=1e-12)
    ):
        taken += 1  # a pair is taken whole
    return _paired(np.concatenate([slow[:taken], fast[: count - taken]]))


def _roots(leading: Array, lower: list[Array]) -> Complex:
    """Eigenvalues of s^d leading + ... + lower[0], by its companion matrix."""
    n, d = len(leading), len(lower)
    companion = np.zeros((n * d, n * d))
    companion[: n * (d - 1), n:] = np.eye(n * (d - 1))
    rows, columns = equilibrium(leading)
    half = np.linalg.solve(rows[:, None] * leading * columns, rows[:, None] * np.hstack(lower))
    companion[n * (d - 1) :] = -columns[:, None] * half
    return np.asarray(np.linalg.eigvals(companion)).astype(complex)


def _paired(values: Complex) -> Complex:
    """The same number of values with as many below the real axis as above."""
    upper, lower = int((values.imag > 0).sum()), int((values.imag < 0).sum())
    if upper == lower:
        return values
    # Half a pair was cut off: what is left of it becomes real.
    side = values.imag > 0 if upper > lower else values.imag < 0
    places = np.flatnonzero(side)
    others = values[values.imag < 0] if upper > lower else values[values.imag > 0]
    gaps = [np.abs(others - values[i].conjugate()).min(initial=np.inf) for i in places]
    values = values.copy()
    for i in places[np.argsort(gaps)[::-1][: abs(upper - lower)]]:
        values[i] = values[i].real or -abs(values[i])
    return values


def _of(e: Eigenvalue, reduced: Deflated) -> Pole:
    """An eigenvalue as a pole."""
    p, z, refined = reduced.polynomial, np.array([e.value]), reduced.refined(e)
    size = np.abs(e.left) @ p.size(z)[0] @ np.abs(e.right)
    residual = np.abs(e.left) @ np.abs(p.residual(z, e.right[:, None])[:, 0]).astype(float)
    slope = abs(e.left.conj() @ p.at(z, 1)[0] @ e.right * e.value)
    if not size:  # at a zero that nothing takes out, whatever changes moves it
        size, residual = 1.0, 0.0
    condition = size / max(slope, ROUNDING * size)
    right, left = refined.lift_right @ e.right, refined.lift_left @ e.left
    count = 2 if e.value.imag > 0 else 1
    return Pole(
        e.value, right, left, count, e.group, e.error, e.error, float(residual / size), float(condition), refined
    )


def _of_square(e: Eigenvalue, reduced: Deflated, symmetric: bool, alone: bool) -> list[Pole]:
    """The poles of an eigenvalue s^2: a pair on an axis where forces have a potential, else four."""
    square = e.value
    root = complex(np.sqrt(square))  # in the right half plane
    error = float(min(e.error / abs(root), np.sqrt(e.error))) if root else float(np.sqrt(e.error))
    pole = _of(e, reduced)
    pole = replace(pole, error=error, condition=pole.condition / 2)
    real = square.imag == 0 or symmetric
    if real and square.real <= 0:
        certain = square.real < -e.error and (symmetric or alone)
        growth = 0.0 if certain else error
        return [replace(pole, value=1j * abs(root), count=2, growth_error=growth)]
    pole = replace(pole, growth_error=error)
    # Of one group only where no error tells them apart.
    other = pole.group if abs(root) <= error else pole.group + APART
    if real:
        size = complex(abs(root))
        return [replace(pole, value=-size, count=1), replace(pole, value=size, count=1, group=other)]
    mirrored = replace(pole, value=-root.conjugate(), right=pole.right.conj(), left=pole.left.conj(), group=other)
    return [replace(each, count=2) for each in (replace(pole, value=root), mirrored)]


def _with_growth(pole: Pole, system: SecondOrder) -> Pole:
    """A pole that swings, with the growth rate that its damping gives, where that is known better.

    x^H L(s) x = m s^2 + (d + i g) s + k has real m, d, g, k where K is symmetric, so that
    Re s = -d Im s / (2 m Im s + g), and d is a small number with small errors where D leaves out most of x. What
    rounding leaves of K that is not symmetric meets the real part of x with the imaginary one only.
    """
    assert pole.refined is not None
    if not pole.value.imag or abs(pole.value.real) > 1e-3 * abs(pole.value):
        return pole
    x, omega = pole.right, pole.value.imag
    damping, dD = (system.D + system.D.T) / 2, (system.dD + system.dD.T) / 2
    m, d = (float((x.conj() @ A @ x).real) for A in (system.M, damping))
    g = float((x.conj() @ system.D @ x).imag)
    below = 2 * m * omega + g
    if not below > 1e-3 * m * omega:
        return pole
    root = np.sqrt(np.diag(system.M))
    moved = pole.right_error(np.eye(len(x))) + 4 * ROUNDING * (np.abs(x) * root).max() / root
    through = 2 * np.abs(damping @ x) @ moved + moved @ np.abs(damping) @ moved
    turned = x * np.exp(-0.5j * np.angle(x @ (np.diag(system.M) * x)))
    skew = 2 * np.abs(turned.real) @ system.dK @ np.abs(turned.imag)
    error = float(((np.abs(x) @ dD @ np.abs(x) + through) * omega + skew) / below)
    if error >= pole.growth_error:
        return pole
    return replace(pole, value=complex(-d * omega / below, omega), growth_error=error)


def _on_axis(made: list[Pole]) -> list[Pole]:
    """Poles of a conservative gyroscopic system lie symmetric to the imaginary axis: one whose error holds the axis,
    and no other one, is on it."""
    values, errors = np.array([pole.value for pole in made]), np.array([pole.error for pole in made])
    alone = (np.abs(values[:, None] - values) <= errors[:, None] + errors).sum(axis=1) == 1
    return [
        replace(pole, value=1j * pole.value.imag, growth_error=0.0)
        if single and pole.value.imag > pole.error and abs(pole.value.real) <= pole.error
        else pole
        for pole, single in zip(made, alone, strict=True)
    ]
