"""Second-order systems in whole numbers whose poles are equal, defective or nearly so, and how many states of them are
reached and seen: ranks of Kalman's matrices in whole numbers modulo a prime."""

import numpy as np

PRIME = (1 << 61) - 1


def beside(*systems):
    """M, D, K of systems that do not meet."""
    n, found = sum(len(M) for M, _, _ in systems), []
    for k in range(3):
        A, at = np.zeros((n, n), dtype=int), 0
        for system in systems:
            size = len(system[k])
            A[at : at + size, at : at + size] = system[k]
            at += size
        found.append(A)
    return found


def oscillators(rng, kinds):
    """Some oscillators m, d, k, of which some are equal."""
    pool = []
    for kind in rng.choice(kinds, 2):
        m, d, a = (int(rng.integers(*each)) for each in ((1, 4), (5, 12), (1, 5)))
        k = int(rng.integers(1, max(2, d * d // (4 * m))))
        fast = int(rng.integers(3, 30))
        pool.append({"over": (m, d, k), "critical": (m, 2 * a * m, a * a * m), "swings": (m, d % 3, fast),
                     "free": (m, d % 4, 0)}[kind])  # fmt: skip
    chosen = [pool[i] for i in rng.integers(0, 2, int(rng.integers(2, 5)))]
    return [np.diag([each[k] for each in chosen]) for k in range(3)]


def symmetric_defective(rng):
    """det L(s) = (s^2 + p s + q)^2 of symmetric M, D, K: (s - a)(s - b) with complex whole a, b, and its conjugate."""
    while True:
        a, b = (complex(-int(rng.integers(0, 5)), int(rng.integers(-4, 5))) for _ in "ab")
        total, product = a + b, a * b
        D = np.array([[-2 * a.real, -total.imag], [-total.imag, -2 * b.real]])
        K = np.array([[abs(a) ** 2, product.imag], [product.imag, abs(b) ** 2]]).round()
        if np.linalg.matrix_rank(K) == 2 and (total.imag or product.imag):
            return np.eye(2, dtype=int), D.astype(int), K.astype(int)


def jordan(rng):
    """One oscillator again and again, each driving the one before."""
    n, m, d, k = (int(rng.integers(*each)) for each in ((2, 4), (1, 3), (0, 7), (1, 9)))
    above = np.diag(np.ones(n - 1, dtype=int), 1)
    return (
        m * np.eye(n, dtype=int),
        d * np.eye(n, dtype=int) + int(rng.integers(-2, 3)) * above,
        k * np.eye(n, dtype=int) + int(rng.integers(1, 3)) * above,
    )


def krein(rng):
    """Two poles that have met on the axis, by gyroscopic terms that just keep a hill from being one."""
    a = int(rng.integers(1, 4))
    turn = np.array([[0, 1], [-1, 0]])
    return np.eye(2, dtype=int), 2 * a * turn, -a * a * np.eye(2, dtype=int)


def spinning(rng):
    n = int(rng.integers(2, 4))
    B, G = rng.integers(-2, 3, (n, n)), rng.integers(-3, 4, (n, n))
    return np.diag(rng.integers(1, 5, n)), G - G.T, B.T @ B + np.eye(n, dtype=int)


def star(rng):
    """Equal arms on a hub."""
    arms, m, c, d = (int(rng.integers(*each)) for each in ((2, 5), (1, 4), (1, 3), (5, 12)))
    n, k = arms + 1, int(rng.choice([1, 2, 30]))
    M = m * np.eye(n, dtype=int)
    M[0, 1:] = M[1:, 0] = c
    M[0, 0] = arms * c * c + int(rng.integers(1, 40))
    D, K = d * np.eye(n, dtype=int), k * np.eye(n, dtype=int)
    D[0, 0], K[0, 0] = rng.integers(0, 3), int(rng.integers(0, 2) * rng.integers(0, 9))
    return M, D, K


def cyclic(rng):
    """Free coordinates that meet others by gyroscopic terms, by forces without a potential, by damping, or not."""
    n = int(rng.integers(2, 5))
    free = int(rng.integers(1, n))
    D, K = rng.integers(-2, 3, (n, n)), rng.integers(-3, 4, (n, n)) + 4 * np.eye(n, dtype=int)
    K[:, :free] = 0
    kind = rng.integers(4)
    if kind == 0:
        D[:, :free] *= rng.integers(0, 2, (n, free))
    elif kind == 1:
        D, K = D - D.T, np.tril(K) + np.tril(K, -1).T
        K[:free] = 0
    elif kind == 2:
        D[:free] = D[:, :free] = 0
        K[:free] *= rng.integers(0, 2, (free, n))
    return np.diag(rng.integers(1, 4, n)), D, K


def nearly_critical(rng):
    """Beside critical damping by 1e-14 to 1e-6."""
    made = [(1, 2 * a, a * a + int(rng.choice([-1, 1])) * 2 ** int(rng.integers(0, 20)))
            for a in rng.integers(2**10, 2**24, 2).tolist()]  # fmt: skip
    return [np.diag([each[k] for each in made]) for k in range(3)]


def _twice(rng, make):
    one = make(rng)
    return beside(one, one) if rng.random() < 0.4 else beside(one, oscillators(rng, ["over", "swings"]))


KINDS = {
    "overdamped": lambda rng: oscillators(rng, ["over"]),
    "critical": lambda rng: oscillators(rng, ["critical"]),
    "mixed": lambda rng: oscillators(rng, ["over", "critical", "swings", "free"]),
    "chains at zero": lambda rng: oscillators(rng, ["free", "over"]),
    "cyclic": cyclic,
    "star": star,
    "beside critical": nearly_critical,
    "symmetric, defective": lambda rng: _twice(rng, symmetric_defective),
    "defective": lambda rng: _twice(rng, jordan),
    "spinning": lambda rng: _twice(rng, spinning),
    "met on the axis": lambda rng: _twice(rng, krein),
}


def system(rng, kind):
    """M, D, K of a kind, inputs E and outputs C of [y; y'], in coordinates that mix those of its parts."""
    parts = KINDS[kind](rng)
    n = len(parts[0])
    T = np.eye(n, dtype=int)
    for _ in range(n):
        i, j = rng.permutation(n)[:2]
        T[i] += rng.integers(-1, 2) * T[j]
    E, *C = (rng.integers(-2, 3, (n, int(count))) for count in (rng.integers(1, 3), 2, 2))
    for signals in (E, *C):
        signals[rng.random(n) < rng.choice([0.0, 0.6])] = 0
    count = int(rng.integers(1, 3))
    C[1][:, : int(rng.integers(0, 3))] = 0
    return [*(T.T @ A @ T for A in parts), T.T @ E, np.hstack([(T.T @ part).T for part in C])[:count]]


def dimensions(M, D, K, E, C):
    """Of how many states are reached by E u, and seen by C [y; y']."""
    n = len(M)
    M, D, K, E, C = ([[int(x) for x in row] for row in A] for A in (M, D, K, E, C))
    down = _solved(M, [[-x for x in (*k, *d)] for k, d in zip(K, D, strict=True)])
    A = [[int(j == n + i) for j in range(2 * n)] for i in range(n)] + down
    B = [[0] * len(E[0]) for _ in M] + _solved(M, E)
    reached, seen = [], []
    for _ in range(2 * n):
        reached += list(zip(*B, strict=True))
        seen += C
        B, C = _product(A, B), _product(C, A)
    return _rank(reached), _rank(seen)


def _product(A, B):
    return [[sum(a * b for a, b in zip(row, column, strict=True)) % PRIME for column in zip(*B, strict=True)]
            for row in A]  # fmt: skip


def _solved(M, B):
    n, rows = len(M), [[*m, *b] for m, b in zip(M, B, strict=True)]
    _reduced(rows, n)
    return [row[n:] for row in rows]


def _rank(rows):
    return _reduced([list(row) for row in rows], len(rows[0]))


def _reduced(rows, columns):
    """Gauss and Jordan in place; the rank of the first columns."""
    rank = 0
    for c in range(columns):
        pivot = next((i for i in range(rank, len(rows)) if rows[i][c] % PRIME), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        inverse = pow(rows[rank][c], PRIME - 2, PRIME)
        rows[rank] = [x * inverse % PRIME for x in rows[rank]]
        for i, row in enumerate(rows):
            if i != rank and row[c]:
                rows[i] = [(x - row[c] * y) % PRIME for x, y in zip(row, rows[rank], strict=True)]
        rank += 1
    return rank
