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
from kronbot.mechanics.control.stationary import stationary
from kronbot.mechanics.linear.deflation import SecondOrder
from kronbot.mechanics.linear.matrix_polynomial import Numbers, eigen
from kronbot.mechanics.linear.pole import Pole
from kronbot.records import dataclass
from kronbot.system.importing import whole_imports
from kronbot.system.silence import unwarned

Complex = npt.NDArray[np.complex128]

# What may be left of the invariance of modes that are taken out, as a share of the matrices.
INVARIANT = 1e-7
# A share of a pole that its real part, and of a mode what weights see of it, is nothing beside.
STAYING = 1e-9
# Sums are nothing but rounding below this share of their terms.
DUST = 1e-13
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
            side += [_without_dust(part / np.linalg.norm(part), np.ones(2 * n)) for part in parts]
    W, U = (np.array(side).reshape(len(side), 2 * n).T for side in sides)
    if W.shape[1] != U.shape[1] or not W.shape[1]:
        if pairs:
            raise ComputationError(TANGLED)
        return Reached(A, B, np.eye(2 * n), np.eye(2 * n))
    N = _without_dust(np.linalg.svd(all_finite(W.T))[2][W.shape[1] :].T, np.ones((2 * n, 1)))
    gram = W.T @ U
    left_over = [np.abs(W.T @ A @ N).max() / np.abs(A).max(), np.abs(W.T @ B).max() / max(np.abs(B).max(), 1e-300)]
    if max(left_over) > INVARIANT or np.linalg.cond(all_finite(gram)) > 1 / INVARIANT:
        raise ComputationError(TANGLED)
    within = np.linalg.solve(gram, W.T)
    T = N.T @ (np.eye(2 * n) - U @ within)
    T = _without_dust(T, np.abs(N.T) @ (np.eye(2 * n) + np.abs(U) @ np.abs(within)))
    return Reached(T @ A @ N, T @ B, N, T)


def stirred(
    system: SecondOrder, A: Array, B: Array, still: Sequence[Pole], lost: Sequence[Pole], idle: Array
) -> Reached:
    """The states that noise through inputs reaches, where swinging poles ``still`` are others, those of them that are
    ``lost`` to all inputs, and free directions ``idle``.

    What inputs move and nothing damps, and modes that cannot be told from others, are left in.
    """
    gone = [p for p in still if -p.value.real > STAYING * abs(p.value) or any(p is other for other in lost)]
    try:
        return reached(system, A, B, gone, idle)
    except ComputationError:
        return reached(system, A, B, [], idle[:, :0])


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
    try:
        P, K = stationary(states.A, states.B, states.N.T @ Q @ states.N, R)
    except ComputationError as error:
        what = f"a mode without damping costs nothing, {listing(modes)}" if modes else error
        why = "give what nothing damps a weight, or weights and efforts that are less far apart"
        raise ComputationError(f"there is no best feedback: {what}; {why}") from None
    return _seen(states, K), states.T.T @ P @ states.T


def placed(states: Reached, poles: Sequence[complex]) -> Array:
    """K with those poles, the pair of each complex one among them, by Kautsky, Nichols and Van Dooren.

    Raises UsageError where there are not as many as states, ComputationError where one is asked for more often than
    there are inputs.
    """
    with whole_imports():
        from scipy.signal import place_poles

    every = [each for pole in poles for each in ([pole, pole.conjugate()] if pole.imag else [complex(pole.real)])]
    if len(every) != len(states.A):
        raise UsageError(
            f"{len(states.A)} poles are wanted, one for each state that inputs reach; these are {len(every)}, "
            "with the pairs of complex ones"
        )
    try:
        with unwarned("Convergence was not reached"):  # gains that could be more robust place poles, too
            found = place_poles(states.A, states.B, np.array(every), maxiter=100)
    except ValueError as error:
        raise ComputationError(f"these poles cannot be placed: {error}") from None
    return _seen(states, np.asarray(found.gain_matrix))


def _seen(states: Reached, K: Array) -> Array:
    """Gains of x from those of z."""
    return _without_dust(K @ states.T, np.abs(K) @ np.abs(states.T))


def _without_dust(A: Array, terms: Array) -> Array:
    """Sums of terms of those sizes, 0 where they are their rounding: what gains see of modes that no input reaches."""
    return np.where(np.abs(A) <= DUST * terms, 0.0, A)


def observer(states: Reached, C: Array, W: Array, V: Array) -> Array:
    """L of the Kalman filter x^' = A x^ + B u + L (z - C x^), for densities W of the inputs' noise and V of sensors'.

    ``states`` are those that this noise reaches: others stay where their damping has led them. Raises ComputationError
    where there is none: a mode without damping that no sensor sees, or no noise moves.
    """
    try:
        L = stationary(states.A.T, (C @ states.N).T, states.B @ W @ states.B.T, V)[1].T
    except ComputationError as error:
        why = "a mode without damping wants a sensor that sees it, and noise that moves it"
        raise ComputationError(f"there is no Kalman filter: {error}; {why}") from None
    return _without_dust(states.N @ L, np.abs(states.N) @ np.abs(L))


def disk_margin(A: Array, B: Array, K: Array, poles: Complex | None = None) -> tuple[float, float]:
    """How much each input may be multiplied by any f of its own with |f - 1| <= alpha |f + 1|/2, all at once; where.

    alpha = 1/max mu(S - 1/2) over the frequencies (rad/s), S = 1/(1 + K (s - A)^-1 B) (Seiler, Packard and Gahinet
    2020). mu is the least largest gain of D (S - 1/2) D^-1 over diagonal D, which is what it is up to three inputs and
    not less with more (Packard and Doyle 1993); so units of inputs do not matter. D is found where the gain under all D
    so far is largest, until these leave no frequency with more (Bruinsma and Steinbuch 1990). 2 is the most there is,
    at high frequencies, told as 0. 0 where the loop, of ``poles`` that are those of A - B K where they are not known
    better, is not stable.
    """
    found = eigen(A - B @ K)[0] if poles is None else poles
    if found.real.max() >= 0:
        return 0.0, 0.0
    value, w = _peak(A, B, K, 0.5, found)
    return 1 / value, w


def sensitivity_peak(A: Array, B: Array, K: Array) -> float:
    """The largest mu(S) over the frequencies, of one input the largest |S|; infinite where the loop is not stable."""
    poles = eigen(A - B @ K)[0]
    return _peak(A, B, K, 1.0, poles)[0] if poles.real.max() < 0 else math.inf


def _peak(A: Array, B: Array, K: Array, share: float, poles: Numbers) -> tuple[float, float]:
    """The largest mu(S - (1 - share)) over the frequencies of a loop with stable ``poles``, and where.

    A - B K is nowhere summed up: large gains leave no digit of A in it.
    """
    from scipy.optimize import minimize_scalar

    n, m = B.shape
    loop, into = np.block([[A, B], [-K, -np.eye(m)]]), np.vstack([np.zeros((n, m)), np.eye(m)])
    moving = np.append(np.ones(n), np.zeros(m))
    size = np.abs(loop).max(axis=0)
    units = 1 / np.where(size > 0, size, 1.0)
    wide = loop.astype(np.longdouble)

    def sensitivity(w: float) -> Complex:
        whole = 1j * w * np.diag(moving) - loop
        rows = 1 / np.abs(whole * units).max(axis=1, keepdims=True)
        inverse = units[:, None] * np.linalg.inv(rows * whole * units) * rows.T
        found = inverse @ into
        inside = found.astype(np.clongdouble)
        found = found + inverse @ (into + wide @ inside - 1j * w * moving[:, None] * inside).astype(complex)
        return np.asarray(found[n:] - (1 - share) * np.eye(m))

    scales = [np.ones(m)]

    def least(G: Complex) -> float:
        return min(_gain(G, scale) for scale in scales)

    def highest(places: Sequence[float]) -> tuple[float, float]:
        """The peak beside the highest of these places, which may be off by what rounding does to a pencil."""
        heights = [least(sensitivity(w)) for w in places]
        i = int(np.argmax(heights))
        low, high = places[max(i - 1, 0)], places[i + 1] if i + 1 < len(places) else 2 * places[i]
        peak = minimize_scalar(lambda w: -least(sensitivity(w)), bounds=(low, high), method="bounded")
        return max((heights[i], places[i]), (-float(peak.fun), float(peak.x)))

    best, edges = (share, 0.0), np.abs([*poles, *eigen(A)[0]]).tolist()  # at high frequencies S is 1
    for turn in range(100):
        between = [0.0, *sorted(edges)]
        value, w = highest(sorted({*between, *((a + b) / 2 for a, b in pairwise(between))}))
        higher = value > best[0] * (1 + ACCURACY)
        if turn and not higher:
            break
        if m > 1 and higher:
            scales.append(_balancing(sensitivity(w)))
            value = least(sensitivity(w))
        best = (value, w) if value > best[0] * (1 + ACCURACY) else best
        level = best[0] * (1 + ACCURACY)
        edges = [w for d in scales for w in _crossings(loop, moving, into / d, into.T * d[:, None], share - 1, level)]
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


def filtered(states: Reached, C: Array, K: Array, L: Array) -> tuple[Array, Array, Array]:
    """A, B, K of the loop, cut at its inputs, in which K acts on what the filter of gain L finds of C x; of the states
    that inputs reach, which is all that comes back.

    Its poles are those of A - B K and of A - L C; margins of a feedback of the state itself are not kept (Doyle 1978).
    """
    A, B, C, K, L = states.A, states.B, C @ states.N, K @ states.N, states.T @ L
    zero = np.zeros_like(A)
    whole = np.block([[A, zero], [L @ C, A - B @ K - L @ C]])
    return whole, np.vstack([B, np.zeros_like(B)]), np.hstack([np.zeros_like(K), K])


def _crossings(A: Array, E: Array, B: Array, C: Array, D: float, level: float) -> list[float]:
    """Frequencies at which a singular value of D + C (jw E - A)^-1 B, E diagonal, is the level: imaginary eigenvalues
    of a pencil.

    What inverts level^2 - D' D in its place (Boyd, Balakrishnan and Kabamba 1989) loses them where that is all but
    singular, as for sensitivities, whose peak is often that of high frequencies or little more (Benner, Sima and Voigt
    2012). Frequencies beside these are given, too, rather than none be lost to rounding.
    """
    from scipy.linalg import eigvals, matrix_balance

    A, T = matrix_balance(all_finite(A), permute=False)
    (n, m), units = B.shape, np.diag(T)
    B, C = B / units[:, None], C * units
    even = np.sqrt(np.linalg.norm(C) / np.linalg.norm(B))
    B, C = even * B, C / even
    H, whole = np.zeros((2, 2 * (n + m), 2 * (n + m)))
    x, p, u, v = np.split(np.arange(2 * (n + m)), [n, 2 * n, 2 * n + m])
    for rows, columns, block in (
        (x, x, A), (x, u, B), (p, p, -A.T), (p, v, -C.T),
        (u, x, C), (u, u, D * np.eye(m)), (u, v, -level * np.eye(m)), (v, p, B.T), (v, u, -level * np.eye(m)),
        (v, v, D * np.eye(m)),
    ):  # fmt: skip
        H[np.ix_(rows, columns)] = block
    whole[np.diag_indices(2 * n)] = np.tile(E, 2)
    with np.errstate(all="ignore"):  # of those at infinity
        values = eigvals(all_finite(H), whole)
    values = values[np.isfinite(values)]
    near = np.abs(values.real) <= BESIDE * np.abs(values)
    return sorted(float(each.imag) for each in values[near] if each.imag > 0)


def in_gain_and_phase(alpha: float) -> tuple[float, float, float]:
    """Factors of a gain between, and phase (rad) up to which, a loop with that disk margin stays stable."""
    low, high = (2 - alpha) / (2 + alpha), (2 + alpha) / (2 - alpha) if alpha < 2 else math.inf
    return low, high, 2 * math.atan(alpha / 2)
