"""Poles of M y'' + D y' + K y = 0: all 2n of them, each with error bounds of its own.

Poles at zero are taken out of the quadratic eigenvalue problem L(s) = M s^2 + D s + K exactly (deflation), the others
start as eigenvalues of companion matrices, the fast ones of the problem itself, the slow ones of the reversed problem,
and are refined one by one (matrix_polynomial). Without damping and gyroscopic terms the problem is linear in s^2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kronbot.cached import cached_property
from kronbot.errors import ComputationError
from kronbot.floats import Array
from kronbot.mechanics.linear.apart import Apart, apart, measured
from kronbot.mechanics.linear.deflation import Deflated, Refined, SecondOrder, deflated, equilibrium
from kronbot.mechanics.linear.eigenvalues import Eigenvalue, eigenvalues
from kronbot.mechanics.linear.matrix_polynomial import ROUNDING, Polynomial
from kronbot.mechanics.linear.regularity import demand_regular, regular
from kronbot.mechanics.linear.rounding import Entries

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
    found = plain_poles([system])[0]
    return _poles(system) if found is None else found


def plain_poles(systems: Sequence[SecondOrder]) -> list[list[Pole] | None]:
    """The same for many systems, None for those whose poles are not simple and clearly apart from each other."""
    found: list[list[Pole] | None] = [None if len(system.M) else [] for system in systems]
    for degree in (1, 2):
        places = [i for i, each in enumerate(systems) if len(each.M) and each.symmetric and _degree(each) == degree]
        plain = [_with_symmetric_stiffness(systems[i]) for i in places]
        for i, system, answer in zip(places, plain, apart(plain, degree), strict=True):
            if answer is not None:
                found[i] = _of_apart(answer, system, degree)
    return found


@dataclass(frozen=True)
class Solution:
    """A linear model of the coordinates ``names``, and its poles where they were found with those of others."""

    system: SecondOrder
    names: Sequence[str]
    regular: bool
    plain: list[Pole] | None

    @cached_property
    def poles(self) -> list[Pole]:
        """All of them. Raises ComputationError where M is singular."""
        if not self.regular:
            demand_regular(self.system.M, self.names)
        return _poles(self.system) if self.plain is None else self.plain


def solutions(entries: Entries, coordinates: Sequence[str], locked: frozenset[int]) -> list[Solution]:
    """The models of the coordinates that are not locked (by place), at every point."""
    kept = [place for place in range(len(coordinates)) if place not in locked]
    names, systems = [coordinates[place] for place in kept], entries.systems(kept)
    sound = regular(entries.matrices[0][:, kept][:, :, kept]).tolist()
    return [Solution(*each) for each in zip(systems, [names] * len(systems), sound, plain_poles(systems), strict=True)]


def _degree(system: SecondOrder) -> int:
    """1 where the problem is linear in s^2."""
    return 1 if not system.D.any() and not system.dD.any() else 2


def _with_symmetric_stiffness(system: SecondOrder) -> SecondOrder:
    K, dK = (system.K + system.K.T) / 2, np.maximum(system.dK, system.dK.T) + np.abs(system.K - system.K.T) / 2
    return SecondOrder(system.M, system.D, K, system.dM, system.dD, dK, system.free)


def _of_apart(found: Apart, system: SecondOrder, degree: int) -> list[Pole]:
    n = len(system.M)
    same, unit = np.eye(n, dtype=complex), np.eye(n, dtype=complex)
    made = []
    for i, s in enumerate(found.values.tolist()):
        e = Eigenvalue(s, found.right[i], found.left[i], found.rest[i], float(found.errors[i]), group=i)
        measures = float(found.backward[i]), float(found.condition[i])
        count = 2 if s.imag > 0 else 1
        refined = Refined(e, found.polynomial, same, same)
        made.append(Pole(s, e.right, e.left, count, i, e.error, e.error, *measures, refined))
    if degree == 1:
        made = [each for pole in made for each in _of_square(pole, True, True)]
    zeros = [Pole(0j, unit[j], unit[j], count, -1) for j, count in zip(found.free, found.counts, strict=True)]
    return _whole(zeros, made, system, degree)


def _whole(zeros: list[Pole], made: list[Pole], system: SecondOrder, degree: int) -> list[Pole]:
    """All poles, in order."""
    if degree == 2 and system.symmetric:
        made = [_with_growth(pole, system) for pole in made]
        if system.gyroscopic:
            made = _on_axis(made)
    every = zeros + sorted(made, key=lambda pole: (abs(pole.value), pole.value.real))
    if sum(pole.count for pole in every) != 2 * len(system.M):
        raise ComputationError("the poles cannot be told apart: numbers of the robot are too far apart")
    return every


def _poles(system: SecondOrder) -> list[Pole]:
    """The poles of whatever system."""
    n, degree = len(system.M), _degree(system)
    if system.symmetric:
        system = _with_symmetric_stiffness(system)
    reduced = deflated(system, degree)
    rest = n * degree - int(reduced.counts.sum())
    found = eigenvalues(reduced.polynomial, _starts(system, reduced.polynomial, degree, rest)) if rest else []
    if degree == 1 and system.symmetric:
        found = [real for e in found for real in _real(e)]
    many = Counter(e.group for e in found)
    made = [_of(e, reduced) for e in found]
    if degree == 1:
        made = [each for pole in made for each in _of_square(pole, system.symmetric, many[pole.group] == 1)]
    return _whole(_zeros(system, reduced, 2 // degree), made, system, degree)


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
    refined = reduced.refined(e)
    p, s = reduced.polynomial, np.array([e.value])
    residual = p.residual(s, e.right[:, None]).T.astype(complex)
    backward, condition = measured(p, s, e.right[None], e.left[None], residual)
    right, left = refined.lift_right @ e.right, refined.lift_left @ e.left
    count = 2 if e.value.imag > 0 else 1
    return Pole(e.value, right, left, count, e.group, e.error, e.error, backward[0], condition[0], refined)


def _of_square(pole: Pole, symmetric: bool, alone: bool) -> list[Pole]:
    """The poles of a pole's value s^2: a pair on an axis where forces have a potential, else four."""
    square = pole.value
    root = complex(np.sqrt(square))  # in the right half plane
    error = float(min(pole.error / abs(root), np.sqrt(pole.error))) if root else float(np.sqrt(pole.error))
    certain = square.real < -pole.error and (symmetric or alone)
    real, condition = square.imag == 0 or symmetric, pole.condition / 2
    if real and square.real <= 0:
        growth = 0.0 if certain else error
        swings = 1j * abs(root)
        return [replace(pole, value=swings, count=2, error=error, growth_error=growth, condition=condition)]
    pole = replace(pole, error=error, growth_error=error, condition=condition)
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
