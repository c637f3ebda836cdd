"""State feedback u = -K x of x' = A x + B u: gains that are best, or place poles, and how much they forgive.

Modes that no input reaches are taken out first, along their own directions: what is left of the state is where inputs
act, and gains see nothing of the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from kronbot.description.wording import listing
from kronbot.errors import ComputationError, UsageError
from kronbot.floats import Array, all_finite
from kronbot.mechanics.linear.deflation import DUST, SecondOrder
from kronbot.mechanics.linear.pole import Pole
from kronbot.records import dataclass

Complex = npt.NDArray[np.complex128]

# What may be left of the invariance of modes that are taken out, as a share of the matrices.
INVARIANT = 1e-7
# A share of a pole that its real part, and of a mode what weights see of it, is nothing beside.
STAYING = 1e-9
TANGLED = "modes that no torque reaches share poles with others: they cannot be taken out"
# Of a disk margin.
ACCURACY = 1e-9
# Share of a frequency by which rounding may take it off the imaginary axis, by far: more of them cost little.
BESIDE = 1e-3


@dataclass(frozen=True)
class Reached:
    """States z (r,) with x = N z + modes that no input reaches: z' = A z + B u, z = T x."""

    A: Array
    B: Array
    N: Array
    T: Array


def reached(system: SecondOrder, A: Array, B: Array, lost: Sequence[Pole], idle: Array) -> Reached:
    """The states that inputs reach, where swinging poles ``lost`` and free directions ``idle`` (n, k) are others.

    Raises ComputationError where these cannot be taken out: modes that share a pole with others.
    """
    n, zero = len(system.M), np.zeros(len(system.M))
    pairs: list[tuple[Complex | Array, Complex | Array]] = []
    for pole in lost:
        s, x, y = pole.value, pole.right, pole.left
        left = np.concatenate([y.conj() @ (s * system.M + system.D), y.conj() @ system.M]).conj()
        pairs.append((left, np.concatenate([x, s * x])))
    for y in idle.T:  # its momentum stays, and where nothing damps it its place moves on with that
        damped, by_mass = system.D.T @ y, system.M.T @ y
        pairs.append((np.concatenate([damped, by_mass]), np.concatenate([y, zero] if damped.any() else [zero, y])))
        pairs += [] if damped.any() else [(np.concatenate([by_mass, zero]), np.concatenate([y, zero]))]
    sides: tuple[list[Array], list[Array]] = [], []
    for pair in pairs:
        for side, vector in zip(sides, pair, strict=True):
            parts = [vector.real, vector.imag] if vector.imag.any() else [vector.real]
            side += [part / np.linalg.norm(part) for part in parts]
    W, U = (np.array(side).reshape(len(side), 2 * n).T for side in sides)
    if W.shape[1] != U.shape[1] or not W.shape[1]:
        if pairs:
            raise ComputationError(TANGLED)
        return Reached(A, B, np.eye(2 * n), np.eye(2 * n))
    N = np.asarray(np.linalg.svd(all_finite(W.T))[2][W.shape[1] :].T)
    gram = W.T @ U
    left_over = [np.abs(W.T @ A @ N).max() / np.abs(A).max(), np.abs(W.T @ B).max() / max(np.abs(B).max(), 1e-300)]
    if max(left_over) > INVARIANT or np.linalg.cond(all_finite(gram)) > 1 / INVARIANT:
        raise ComputationError(TANGLED)
    T = N.T @ (np.eye(2 * n) - U @ np.linalg.solve(gram, W.T))
    return Reached(T @ A @ N, T @ B, N, T)


def idle_directions(free: Sequence[Pole], E: Array) -> Array:
    """Free directions (n, k) that forces E u do not move: base coordinates of a robot that floats."""
    F = np.array([pole.right.real for pole in free]).reshape(len(free), len(E)).T
    if not F.shape[1]:
        return F
    sizes, directions = np.linalg.svd(all_finite(E.T @ F))[1:]
    rank = int((sizes > INVARIANT * sizes.max(initial=0.0)).sum()) if sizes.size else 0
    return np.asarray(F @ directions[rank:].T)


def costless(poles: Sequence[Pole], Q: Array) -> list[Pole]:
    """Those that swing on, or stay, without cost: s is imaginary and [v; s v] of the mode v has no part in Q."""
    found = []
    for pole in poles:
        x = np.concatenate([pole.right, pole.value * pole.right])
        cost, most = abs(x.conj() @ Q @ x), np.abs(Q).max(initial=0.0) * abs(x.conj() @ x)
        if abs(pole.value.real) <= STAYING * abs(pole.value) and cost <= STAYING**2 * most:
            found.append(pole)
    return found


def regulator(states: Reached, Q: Array, R: Array, modes: Sequence[str] = ()) -> tuple[Array, Array]:
    """K and the cost matrix P (in x) of the least integral of x' Q x + u' R u.

    Raises ComputationError where there is none: a mode that swings on without cost, as those of these names do.
    """
    from scipy.linalg import solve_continuous_are

    try:
        P = solve_continuous_are(states.A, states.B, states.N.T @ Q @ states.N, R)
    except (np.linalg.LinAlgError, ValueError):
        which = f", {listing(modes)}" if modes else ""
        why = f"a mode without damping costs nothing{which}; give it a weight, or other weights that are less far apart"
        raise ComputationError(f"there is no best feedback: {why}") from None
    K = np.linalg.solve(R, states.B.T @ P)
    return without_dust(K @ states.T), without_dust(states.T.T @ P @ states.T)


def without_dust(gains: Array) -> Array:
    """Gains, or a matrix of costs, 0 in the place of entries that are nothing beside the largest one: of that a Riccati
    equation is solved to rounding."""
    return np.asarray(np.where(np.abs(gains) <= DUST * np.abs(gains).max(initial=0.0), 0.0, gains))


def placed(states: Reached, poles: Sequence[complex]) -> Array:
    """K with those poles, the pair of each complex one among them, by Kautsky, Nichols and Van Dooren.

    Raises UsageError where there are not as many as states, ComputationError where one is asked for more often than
    there are inputs.
    """
    from scipy.signal import place_poles

    every = [each for pole in poles for each in ([pole, pole.conjugate()] if pole.imag else [complex(pole.real)])]
    if len(every) != len(states.A):
        raise UsageError(
            f"{len(states.A)} poles are wanted, one for each state that inputs reach; these are {len(every)}, "
            "with the pairs of complex ones"
        )
    try:
        found = place_poles(states.A, states.B, np.array(every), maxiter=100)
    except ValueError as error:
        raise ComputationError(f"these poles cannot be placed: {error}") from None
    return without_dust(found.gain_matrix @ states.T)


def observer(A: Array, C: Array, W: Array, V: Array) -> Array:
    """L of the Kalman filter x^' = A x^ + B u + L (z - C x^), for densities of process noise W and of sensors V.

    Raises ComputationError where there is none: a mode without damping that no sensor sees, or no noise moves.
    """
    from scipy.linalg import solve_continuous_are

    try:
        P = solve_continuous_are(A.T, C.T, W, V)
    except (np.linalg.LinAlgError, ValueError):
        why = "a mode without damping that no sensor sees, or that no noise moves"
        raise ComputationError(f"there is no Kalman filter: {why}") from None
    return without_dust(np.linalg.solve(V, C @ P).T)


def disk_margin(A: Array, B: Array, K: Array) -> tuple[float, float]:
    """How much each input may be multiplied by any f of its own with |f - 1| <= alpha |f + 1|/2, all at once; where.

    alpha = 1/max mu(S - 1/2) over the frequencies (rad/s), S = 1/(1 + K (s - A)^-1 B) (Seiler, Packard and Gahinet
    2020). mu is the least largest gain of D (S - 1/2) D^-1 over diagonal D, which is what it is up to three inputs and
    not less with more (Packard and Doyle 1993); so units of inputs do not matter. D is found where the gain under all D
    so far is largest, until these leave no frequency with more (Bruinsma and Steinbuch 1990). 0 where the loop is not
    stable.
    """
    loop = A - B @ K
    if np.linalg.eigvals(loop).real.max() >= 0:
        return 0.0, 0.0
    value, w = _peak(loop, B, K, 0.5, np.abs(np.linalg.eigvals(A)))
    return 1 / value, w


def sensitivity_peak(A: Array, B: Array, K: Array) -> float:
    """The largest mu(S) over the frequencies, of one input the largest |S|; infinite where the loop is not stable."""
    loop = A - B @ K
    return (
        _peak(loop, B, K, 1.0, np.abs(np.linalg.eigvals(A)))[0] if np.linalg.eigvals(loop).real.max() < 0 else math.inf
    )


def _peak(loop: Array, B: Array, K: Array, share: float, poles: Array) -> tuple[float, float]:
    """The largest mu(S - (1 - share)) over the frequencies of a stable loop, and where; those of its ``poles`` cut
    open are looked at first."""
    from scipy.optimize import minimize_scalar

    through = share * np.eye(B.shape[1])

    def sensitivity(w: float) -> Complex:
        return np.asarray(through - K @ np.linalg.solve(1j * w * np.eye(len(loop)) - loop, B.astype(complex)))

    scales = [np.ones(B.shape[1])]

    def least(G: Complex) -> float:
        return min(_gain(G, scale) for scale in scales)

    def highest(places: Sequence[float]) -> tuple[float, float]:
        """The peak beside the highest of these places, which may be off by what rounding does to a pencil."""
        heights = [least(sensitivity(w)) for w in places]
        i = int(np.argmax(heights))
        low, high = places[max(i - 1, 0)], places[i + 1] if i + 1 < len(places) else 2 * places[i]
        peak = minimize_scalar(lambda w: -least(sensitivity(w)), bounds=(low, high), method="bounded")
        return max((heights[i], places[i]), (-float(peak.fun), float(peak.x)))

    best, edges = (share, 0.0), np.abs([*np.linalg.eigvals(loop), *poles]).tolist()  # at high frequencies S is 1
    for turn in range(100):
        between = [0.0, *sorted(edges)]
        value, w = highest(sorted({*between, *((a + b) / 2 for a, b in pairwise(between))}))
        higher = value > best[0] * (1 + ACCURACY)
        if turn and not higher:
            break
        if len(through) > 1 and higher:
            scales.append(_balancing(sensitivity(w)))
            value = least(sensitivity(w))
        best = max(best, (value, w))
        level = best[0] * (1 + ACCURACY)
        edges = [w for d in scales for w in _crossings(loop, B / d, -(d[:, None] * K), through, level)]
    return best


def _gain(G: Complex, d: Array) -> float:
    return float(np.linalg.norm(all_finite(d[:, None] * G / d), 2))


def _balancing(G: Complex) -> Array:
    """The diagonal D with the least largest gain of D G D^-1, which is convex in log D."""
    from scipy.optimize import minimize

    def gain(x: Array) -> float:
        return _gain(G, np.exp(np.append(0.0, x)))

    found = np.zeros(len(G) - 1)
    for _ in range(2):  # by simplices, begun anew: where two gains are equal there is no slope
        found = minimize(gain, found, method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-10, "adaptive": True}).x
    return np.asarray(np.exp(np.append(0.0, found)))


def filtered(A: Array, B: Array, C: Array, K: Array, L: Array) -> tuple[Array, Array, Array]:
    """A, B, K of the loop, cut at its inputs, in which K acts on what the filter of gain L finds of C x.

    Its poles are those of A - B K and of A - L C; margins of a feedback of the state itself are not kept (Doyle 1978).
    """
    zero = np.zeros_like(A)
    whole = np.block([[A, zero], [L @ C, A - B @ K - L @ C]])
    return whole, np.vstack([B, np.zeros_like(B)]), np.hstack([np.zeros_like(K), K])


def _crossings(A: Array, B: Array, C: Array, D: Array, level: float) -> list[float]:
    """Frequencies at which a singular value of D + C (jw - A)^-1 B is the level: imaginary eigenvalues of a pencil.

    What inverts level^2 - D' D in its place (Boyd, Balakrishnan and Kabamba 1989) loses them where that is all but
    singular, as for sensitivities, whose peak is often that of high frequencies or little more (Benner, Sima and Voigt
    2012). Frequencies beside these are given, too, rather than none be lost to rounding.
    """
    from scipy.linalg import eigvals, matrix_balance

    A, T = matrix_balance(all_finite(A), permute=False)
    B, C, n, m = np.linalg.solve(T, B), C @ T, len(A), len(D)
    if not B.any() or not C.any():  # a loop that nothing closes
        return []
    even = np.sqrt(np.linalg.norm(C) / np.linalg.norm(B))
    B, C = even * B, C / even
    H, E = np.zeros((2, 2 * (n + m), 2 * (n + m)))
    x, p, u, v = np.split(np.arange(2 * (n + m)), [n, 2 * n, 2 * n + m])
    for rows, columns, block in (
        (x, x, A), (x, u, B), (p, p, -A.T), (p, v, -C.T),
        (u, x, C), (u, u, D), (u, v, -level * np.eye(m)), (v, p, B.T), (v, u, -level * np.eye(m)), (v, v, D.T),
    ):  # fmt: skip
        H[np.ix_(rows, columns)] = block
    E[: 2 * n, : 2 * n] = np.eye(2 * n)
    with np.errstate(all="ignore"):  # of those at infinity
        values = eigvals(all_finite(H), E)
    values = values[np.isfinite(values)]
    near = np.abs(values.real) <= BESIDE * np.abs(values)
    return sorted(float(each.imag) for each in values[near] if each.imag > 0)


def in_gain_and_phase(alpha: float) -> tuple[float, float, float]:
    """Factors of a gain between, and phase (rad) up to which, a loop with that disk margin stays stable."""
    low, high = (2 - alpha) / (2 + alpha), (2 + alpha) / (2 - alpha) if alpha < 2 else math.inf
    return low, high, 2 * math.atan(alpha / 2)
