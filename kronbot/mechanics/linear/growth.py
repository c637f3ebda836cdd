"""Growth rates of poles that swing, from the damping of their vectors, where these are known better than the poles.

x^H L(s) x = m s^2 + (d + i g) s + k has real m, d, g, k where K is symmetric, so that Re s = -d Im s / (2 m Im s + g),
and d is a small number with small errors where D leaves out most of x. Poles that cannot be told apart may have any
vectors of their common space, and any rate that one of these has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kronbot.floats import Array
from kronbot.mechanics.linear.deflation import SecondOrder, symmetric_part
from kronbot.mechanics.linear.matrix_polynomial import ROUNDING, Numbers
from kronbot.mechanics.linear.pole import Pole

# Shares: poles that swing grow or decay by less of themselves, and are known to a better one; what is left of inertia.
SLOWLY, KNOWN, INERT = 1e-3, 0.1, 1e-3


def with_growth(poles: Sequence[Pole], system: SecondOrder) -> list[Pole]:
    """Poles of a system with symmetric K; some with the growth rates that their damping gives.

    What rounding leaves of K that is not symmetric meets the real part of a vector with its imaginary one only. Vectors
    of poles that cannot be told apart may meet in all of it, unless forces have a potential: then that is nothing.
    """
    groups: dict[int, list[Pole]] = {}
    for pole in poles:
        groups.setdefault(pole.group, []).append(pole)
    by_size: dict[int, list[list[Pole]]] = {}
    for group in groups.values():
        by_size.setdefault(len(group) if all(_swings(pole) for pole in group) else 0, []).append(group)
    found = [pole for group in by_size.pop(0, []) for pole in group]
    for alike in by_size.values():
        found += _of_damping(alike, system)
    return found


def _swings(pole: Pole) -> bool:
    size = abs(pole.value)
    return bool(pole.value.imag) and abs(pole.value.real) <= SLOWLY * size and pole.error <= KNOWN * size


def _of_damping(groups: Sequence[Sequence[Pole]], system: SecondOrder) -> list[Pole]:
    """Poles in groups of one size."""
    poles = [pole for group in groups for pole in group]
    (many, size), n = (len(groups), len(groups[0])), len(system.M)
    X = np.array([pole.right for pole in poles]).reshape(many, size, n).swapaxes(1, 2)
    swings = np.array([pole.value.imag for pole in poles]).reshape(many, size)
    omega, M, D, dD = swings[:, 0], system.M, (system.D + system.D.T) / 2, (system.dD + system.dD.T) / 2
    every = omega[:, None, None]
    # Z = X T are vectors of the same space for which 2 m Im s + g is the unit matrix.
    inertia, damping, turning = (_form(X, A) for A in (M, D, (system.D - D) / 1j))
    lengths, T = np.linalg.eigh(inertia)
    inert = lengths[:, 0] > ROUNDING * lengths[:, -1]
    T = np.asarray(T / np.sqrt(np.where(inert[:, None], lengths, 1.0))[:, None])
    below, V = np.linalg.eigh(2 * every * np.eye(size) + _form(T, turning))
    inert &= below[:, 0] > INERT * omega
    T = T @ (V / np.sqrt(np.where(inert[:, None], below, 1.0))[:, None])
    Z, root = X @ T, np.sqrt(np.diag(M))[:, None]
    moved = _errors(poles, n).reshape(many, size, n).swapaxes(1, 2) @ np.abs(T)
    moved = moved + 4 * ROUNDING * (np.abs(Z) * root).max(axis=1, keepdims=True) / root

    def error(A: Array, dA: Array) -> Array:
        """Of Z^H A Z (many,), by rows."""
        cross = np.abs(A @ Z).swapaxes(1, 2) @ moved
        own = _form(np.abs(Z), dA + n * ROUNDING * np.abs(A)) + _form(moved, np.abs(A))
        return _largest(own + cross + cross.swapaxes(1, 2))

    uneven, skew = symmetric_part(system.K, system.dK)[1], np.zeros((many, size, size))
    if size == 1:
        turned = Z * np.exp(-0.5j * np.angle(((Z * root) ** 2).sum(axis=1, keepdims=True)))
        skew = 2 * np.abs(turned.real).swapaxes(1, 2) @ uneven @ np.abs(turned.imag)
    elif not system.potential:
        skew = _form(np.abs(Z), uneven)
    among = np.linalg.eigvalsh(every * _form(T, damping))
    away = 2 * omega * error(M, system.dM) + error(system.D, system.dD) + np.ptp(swings, axis=1) / omega
    errors = omega * error(D, dD) + _largest(skew) + np.abs(among).max(axis=1) * away
    own = np.arange(size)
    with np.errstate(all="ignore"):  # vectors of a defective pole leave no inertia
        rates = (every * damping)[:, own, own].real / (2 * every * inertia + turning)[:, own, own].real
    errors = errors[:, None] + np.abs(among[:, None] - rates[:, :, None]).max(axis=2) * (size > 1)
    better = inert[:, None] & (errors < np.array([pole.growth_error for pole in poles]).reshape(many, size))
    found = zip(poles, rates.ravel().tolist(), errors.ravel().tolist(), better.ravel().tolist(), strict=True)
    return [
        replace(pole, value=complex(-rate, pole.value.imag), growth_error=known) if is_better else pole
        for pole, rate, known, is_better in found
    ]


def _errors(poles: Sequence[Pole], n: int) -> Array:
    """Bounds (m, n) of what the errors of the entries change in vectors."""
    refined = poles[0].refined
    assert refined is not None, "a pole that swings is none of a free coordinate"
    return refined.right_errors([pole.place for pole in poles], np.eye(n))


def _largest(errors: Array) -> Array:
    """Bounds of the norms of matrices (many, size, size)."""
    return np.asarray(errors.sum(axis=2).max(axis=1))


def _form(X: Numbers, A: Numbers) -> Numbers:
    """X^H A X."""
    return np.asarray(X.conj().swapaxes(1, 2) @ A @ X)
