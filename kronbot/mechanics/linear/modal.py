"""Natural frequencies, damping and mode shapes of M y'' + D y' + K y = 0."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import NamedTuple

import casadi
import numpy as np
import numpy.typing as npt
from casadi import SX

from kronbot.cached import cached_property
from kronbot.compute.arrays import NamedArray, alike
from kronbot.compute.deferred import later, settled
from kronbot.compute.trace import traced
from kronbot.floats import Array
from kronbot.mechanics.linear.pole import Pole
from kronbot.mechanics.linear.regularity import idle
from kronbot.mechanics.multibody.elements import stretched
from kronbot.mechanics.multibody.recursion import inverse_dynamics
from kronbot.mechanics.multibody.state import propagate
from kronbot.model.build import build
from kronbot.model.robot import Robot
from kronbot.records import dataclass

# Eigenvalues of M relative to K below this share of the largest are those of coordinates without inertia.
MASSLESS = 1e-14
# A share of its own stiffness with which a coordinate is held by nothing but rounding.
SLACK = 1e-12
# And at most, where rounding of a shaft is as large as other stiffnesses.
MOST_SLACK = 1e-3
PURPOSE = "natural frequencies"


def mass_and_stiffness(robot: Robot) -> tuple[Array, Array]:
    """M and K (n x n) at q = 0, as :func:`stiffness` has it.

    The columns of M are the forces of unit accelerations from rest, by inverse dynamics (Walker and Orin's first
    method): its trace grows with the links, that of the inertia matrix with the square of the coordinates.
    """
    forces = traced(robot, "forces", PURPOSE, lambda: _forces_at_rest(robot))
    M = forces.rows(np.eye(robot.n))["forces"]
    return (M + M.T) / 2, stiffness(robot, np.zeros(robot.n))


def stiffness(robot: Robot, q: Array) -> Array:
    """K (n x n) at q (n,), without gravity and load, springs and elements there slack."""
    return traced(robot, "stiffness", PURPOSE, lambda: _stiffness_at_rest(robot))(q)["K"].reshape(robot.n, robot.n)


def _forces_at_rest(robot: Robot) -> tuple[dict[str, SX], dict[str, SX]]:
    """As a function of the accelerations."""
    if any(link.beam is not None and link.modes for link in robot.links):
        # Quadratic terms of the kinematics have no part in M at q_f = 0, and order 1 costs least.
        robot = build(robot.description, "1", robot.parameters)
    rest, q, qdd = SX(robot.n, 1), SX.sym("q", robot.n), SX.sym("qdd", robot.n)
    slack = tuple(replace(spring, rest=SX(0)) for spring in robot.springs)
    bare = replace(robot, gravity=SX(3, 1), springs=slack, elements=(), stops=())
    forces = inverse_dynamics(propagate(bare, q, rest), qdd)
    return {"qdd": qdd}, {"forces": casadi.substitute(forces, q, SX.zeros(robot.n))}


def _stiffness_at_rest(robot: Robot) -> tuple[dict[str, SX], dict[str, SX]]:
    """As a function of the coordinates."""
    q, none = SX.sym("q", robot.n), SX(robot.n, robot.n)
    return {"q": q}, {"K": robot.stiffness + sum((each.stiffness for each in stretched(robot, q)), none)}


class NaturalFrequencies(NamedTuple):
    """Angular frequencies (rad/s), ascending, and the names of joints that move no inertia of their own."""

    locked: Array
    free: Array
    idle: tuple[str, ...] = ()


def natural_frequencies(robot: Robot) -> NaturalFrequencies:
    """Angular frequencies (rad/s) at q = 0 without gravity, joints locked and joints free, ascending.

    Solved as 1/omega^2 of K^-1 M of joint values and deformations, which keeps the low frequencies accurate to
    rounding; free joints without a spring, and a floating base, enter by the Schur complement of their inertia, so that
    rigid motions are exact zeros instead of small numbers. Frequencies of coordinates without inertia (torsion without
    polar inertia) are infinite and left out. Joints that move no inertia of their own have no part in any motion and
    stay locked. Raises UsageError where a parameter has no value.
    """
    f, r, b = list(robot.flexible), list(robot.rigid), list(robot.base)
    if not f and not robot.springs and not robot.elements:  # nothing swings; M of a long chain would take seconds
        return NaturalFrequencies(np.zeros(len(b)), np.zeros(len(b) + len(r)))
    M, K = mass_and_stiffness(robot)
    T = np.eye(robot.n)
    T[:, r] = robot.undeformed_rates(np.eye(robot.n)[:, r].T).T
    # What rounding leaves where stiff shafts, which yield to none of it, cancel.
    noise = np.finfo(float).eps * (np.abs(T).T @ np.abs(K) @ np.abs(T))
    M, K = T.T @ M @ T, T.T @ K @ T
    still = [r[i] for i in idle(M[np.ix_(r, r)])]
    locked = _with_free(M, K, noise, f, b)
    free = _with_free(M, K, noise, f, [*b, *(place for place in r if place not in still)])
    return NaturalFrequencies(locked, free, tuple(robot.coordinates[place] for place in still))


def _with_free(M: Array, K: Array, noise: Array, f: list[int], r: list[int]) -> Array:
    """Those of coordinates f, while coordinates r move along: those of them without stiffness are zeros.

    ``noise`` (n x n) is what rounding leaves of K.
    """
    held = [place for place in r if K[place].any()]
    r, f = [place for place in r if place not in held], [*held, *f]
    turned, loose = _loose_first(K[np.ix_(f, f)], noise[np.ix_(held, held)])
    if loose:  # elements hold fewer directions than they have ends on
        T = np.eye(len(K))[:, [*r, *f]]
        T[:, len(r) :] = T[:, len(r) :] @ turned
        M, K = T.T @ M @ T, T.T @ K @ T
        r, f = list(range(len(r) + loose)), list(range(len(r) + loose, T.shape[1]))
    reduced = M[np.ix_(f, f)]
    if r:
        M_rf = M[np.ix_(r, f)]
        reduced = reduced - M_rf.T @ np.linalg.solve(M[np.ix_(r, r)], M_rf)
    return np.concatenate([np.zeros(len(r)), _frequencies(reduced, K[np.ix_(f, f)])])


def _loose_first(K: Array, noise: Array) -> tuple[Array, int]:
    """A basis of what K (k x k) is about, and how many of its first columns yield freely, others following slackly.

    Of the first coordinates, of whose stiffness rounding leaves ``noise`` (held x held); the others have one of their
    own.
    """
    held = len(noise)
    if not held:
        return np.eye(len(K)), 0
    following = np.vstack([np.eye(held), -np.linalg.solve(K[held:, held:], K[held:, :held])])
    left = following.T @ K @ following
    size = np.sqrt(np.diag(K)[:held])
    values, vectors = np.linalg.eigh((left + left.T) / 2 / np.outer(size, size))
    slack = max(SLACK, min(MOST_SLACK, float(np.linalg.norm(noise / np.outer(size, size)))))
    loose = int((values < slack).sum())
    turned = np.eye(len(K))
    turned[:held, :held] = vectors / size[:, None]
    turned[:, :loose] = following @ turned[:held, :loose]
    return turned, loose


def _frequencies(M: Array, K: Array) -> Array:
    """omega of M a + K q = 0, ascending, for positive definite K."""
    if not len(K):
        return np.zeros(0)
    L = np.linalg.cholesky(K)
    half = np.linalg.solve(L, M)
    flexibilities = np.linalg.eigvalsh(np.linalg.solve(L, half.T))
    return np.sort(1 / np.sqrt(flexibilities[flexibilities > MASSLESS * flexibilities.max()]))


# What is known of a pole, and in which units: bounds of |ds| and of its real part's error, backward error, condition
# number, how many cannot be told apart from it (of the upper half plane), how many of the 2n poles it stands for.
ACCURACY = {
    "error": "rad/s",
    "growth_error": "rad/s",
    "backward_error": "1",
    "condition": "1",
    "multiplicity": "1",
    "count": "1",
}

# Damping ratios of at least this are no vibrations.
CREEPING = 1 - 1e-9


@dataclass(frozen=True)
class Modes:
    """Modes of a linear model, one for every pair of poles or real pole: free coordinates first, then ascending.

    ``found`` are their poles; those at zero (free coordinates) are exact zeros.
    """

    found: Sequence[Pole]
    coordinates: int

    @cached_property
    def poles(self) -> npt.NDArray[np.complex128]:
        """Poles of the upper half plane (m,), rad/s."""
        return np.array([pole.value for pole in self.found], dtype=complex)

    @cached_property
    def frequencies(self) -> Array:
        """|pole| (m,), rad/s."""
        return np.abs(self.poles)

    @property
    def damping(self) -> Array:
        """-Re/|pole| (m,); 0 of a pole at zero."""
        # Adding zero makes a zero of -0.
        ratios = [-pole.value.real / abs(pole.value) + 0.0 if pole.value else 0.0 for pole in self.found]
        return np.array(ratios, dtype=float)

    @property
    def swinging(self) -> npt.NDArray[np.bool_]:
        """Which of them swing (m,): neither free coordinates nor poles that creep."""
        return np.asarray((self.frequencies > 0) & (np.abs(self.damping) < CREEPING))

    @property
    def shapes(self) -> npt.NDArray[np.complex128]:
        """Vectors (n, m), the largest entry 1."""
        rows = np.array([pole.right for pole in self.found], dtype=complex).reshape(len(self.found), self.coordinates)
        if not rows.size:
            return rows.T
        largest = rows[np.arange(len(rows)), np.abs(rows).argmax(axis=1)]
        return np.asarray((rows / largest[:, None]).T)

    @property
    def accuracy(self) -> Array:
        """Bounds and conditions (m, 6), columns of ``ACCURACY``."""
        together = Counter(pole.group for pole in self.found)
        rows = [
            [
                pole.error,
                pole.growth_error,
                pole.backward_error,
                pole.condition,
                pole.count if pole.free else together[pole.group],
                pole.count,
            ]
            for pole in self.found
        ]
        return np.array(rows, dtype=float).reshape(len(rows), len(ACCURACY))


@lru_cache(maxsize=128)
def _labels(count: int) -> dict[str, NamedArray]:
    """Arrays of so many modes, with names and units and without values."""
    numbers, none = tuple(map(str, range(1, count + 1))), np.zeros(0)
    units = {"rows": ("1",) * count, "columns": [*ACCURACY.values()]}
    return {
        "poles": NamedArray(none, numbers, "rad/s"),
        "frequencies": NamedArray(none, numbers, "rad/s"),
        "damping": NamedArray(none, numbers, "1"),
        "accuracy": NamedArray(none, numbers, units, tuple(ACCURACY)),
    }


def arrays(modes: Modes, names: Sequence[str], suffix: str = "") -> dict[str, NamedArray]:
    """The modes of coordinates as arrays of an answer, each name with a suffix."""
    labels = _labels(len(modes.found))
    found = {
        "poles": alike(labels["poles"], modes.poles),
        "frequencies": alike(labels["frequencies"], modes.frequencies),
        "damping": alike(labels["damping"], modes.damping),
        "shapes": later(f"shapes{suffix}", lambda: modes.shapes, names, "1", labels["poles"].rows),
        "accuracy": alike(labels["accuracy"], partial(settled, f"accuracy{suffix}", lambda: modes.accuracy)),
    }
    return {f"{name}{suffix}": array for name, array in found.items()}


def of_first_order(M: Array, D: Array, K: Array, E: Array) -> tuple[Array, Array]:
    """A (2n x 2n) and B of the state [y; y'] with forces E u: [0, 1; -M^-1 K, -M^-1 D] and [0; M^-1 E]."""
    n = len(M)
    solved = np.linalg.solve(M, np.hstack([K, D, E]))
    A, B = np.zeros((2 * n, 2 * n)), np.zeros((2 * n, E.shape[1]))
    A[:n, n:], A[n:], B[n:] = np.eye(n), -solved[:, : 2 * n], solved[:, 2 * n :]
    return A, B
