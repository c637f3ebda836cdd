"""Jacobians and Hessians of frames, and how those of relative motions compose: Tuan (77)-(91) in exact matrix form.

A frame (b) that moves relative to a frame (a) has a position d and a rotation A_b^(a), both in (a); its Jacobians are
J_T = dd/dq and J_R with skew(J_R qd) = Adot A^T, its Hessians their Khang derivatives H_T, H_R (3 x n^2), Tuan (51),
(60). Going on to a frame (c) that moves relative to (b), Tuan states (86) and (88)-(91) as quadratic forms in qd; the
matrix equalities used here need the commutation matrix K, which leaves qd (x) qd as it is:

* J_Tc = J_Tb - d~ J_Rb + A J_T',  J_Rc = J_Rb + A J_R'                                                     (77), (78)
* H_Tc = H_Tb - d~ H_Rb + A H_T' + S (A J_T' (x) E)(1 + K) + S (S (x) E)(d (x) E_nn) K                             (86)
* H_Rc = H_Rb + A H_R' + S (A J_R' (x) E)                                                                         (87)

with A = A_b^(a), d = A d', S = bsk(J_Rb), and a prime for (c) relative to (b), in (b). The last term of (86) is
S (-d~ J_Rb (x) E) K, since S (d (x) E) = -d~ J_Rb (18).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import reduce
from itertools import groupby

import casadi
from casadi import SX

from kronbot.cached import cached_property
from kronbot.kronecker.calculus import khang_derivative, kron, skew
from kronbot.model.pose import Pose
from kronbot.records import dataclass


@dataclass(frozen=True)
class RelativeMotion:
    """A frame seen from another one: its pose, and J_T, J_R (3 x n), H_T, H_R (3 x n^2) in the axes of that one.

    ``chain`` are the steps that lead there, each with the motion before it: derivatives are composed when asked for.
    """

    pose: Pose
    n: int
    chain: tuple[tuple[RelativeMotion, Step], ...]

    @staticmethod
    def rest(n: int) -> RelativeMotion:
        """The frame itself, for n coordinates."""
        return RelativeMotion(Pose.identity(), n, ())

    def then(self, step: Step) -> RelativeMotion:
        """The motion of the frame that a step leads to."""
        return RelativeMotion(self.pose @ step.pose, self.n, (*self.chain, (self, step)))

    @property
    def way(self) -> SX:
        """The length of the way there from frame to frame, m."""
        return sum((casadi.norm_2(step.pose.r) for _, step in self.chain), SX(0))

    @cached_property
    def J_T(self) -> SX:
        """Translational Jacobian, (77) summed up: each step turns all that follows it, so that cost is linear."""
        J_T = SX(3, self.n)
        for (before, step), beyond in zip(self.chain, self._beyond, strict=True):
            local_T, local_R = before._turned(step)
            J_T = J_T + local_T - skew(beyond) @ local_R
        return J_T

    @cached_property
    def _beyond(self) -> list[SX]:
        """Where the end is from the end of every step, in the axes of the first frame."""
        found, beyond = [], SX(3, 1)
        for before, step in reversed(self.chain):
            found.append(beyond)
            beyond = beyond + before.pose.R @ step.pose.r
        return found[::-1]

    @cached_property
    def J_R(self) -> SX:
        """Rotational Jacobian (78)."""
        return sum((before._turned(step)[1] for before, step in self.chain), SX(3, self.n))

    @cached_property
    def hessians(self) -> tuple[SX, SX]:
        """H_T and H_R, (86) and (87) summed up: each step adds the pairs that it is the last of, to the end at once."""
        n = self.n
        H_T, H_R, turning = [SX(3, n * n)], [SX(3, n * n)], SX(3, n)  # turning is J_R of the frame so far
        for (before, step), beyond in zip(self.chain, self._beyond, strict=True):
            J_T, J_R = before._turned(step)
            inner_T, inner_R = (before.pose.R @ inner for inner in step.hessians(n))
            lever = -(skew(beyond) @ J_R)
            full = J_T + lever  # columns of J_T at the end
            own = inner_T - skew(beyond) @ inner_R + swapped(J_R, lever)
            H_T.append(own + swept(turning, full) + swapped(turning, full))
            H_R.append(inner_R + swept(turning, J_R))
            turning = turning + J_R
        return _sum(H_T), _sum(H_R)

    @property
    def H_T(self) -> SX:
        """Translational Hessian (51)."""
        return self.hessians[0]

    @property
    def H_R(self) -> SX:
        """Rotational Hessian (60)."""
        return self.hessians[1]

    @property
    def H_T_star(self) -> SX:
        """A^T H_T (3 x n^2), Tuan (58): acceleration in body axes is J^(b) qdd + H* (qd (x) qd)."""
        return self.pose.R.T @ self.H_T

    def in_body(self) -> BodyMotion:
        """The same motion in the axes of the moving frame."""
        return BodyMotion(self)

    def _turned(self, step: Step) -> tuple[SX, SX]:
        """A J_T' and A J_R' of a step from here, 3 x n each."""
        J_T, J_R = step.jacobians(self.n)
        return self.pose.R @ J_T, self.pose.R @ J_R


@dataclass(frozen=True)
class BodyMotion:
    """A relative motion in the axes of the moving frame: J^(b) = A^T J, and their own Khang derivatives (53), (61)."""

    outer: RelativeMotion

    @property
    def pose(self) -> Pose:
        """The pose of the moving frame in the other one."""
        return self.outer.pose

    @property
    def J_T(self) -> SX:
        """A^T J_T (3 x n)."""
        return self.outer.pose.R.T @ self.outer.J_T

    @property
    def J_R(self) -> SX:
        """A^T J_R (3 x n)."""
        return self.outer.pose.R.T @ self.outer.J_R

    @property
    def H_T(self) -> SX:
        """A^T (H_T - bsk(J_R)(J_T (x) E)), the exact form of (57)."""
        return self.outer.pose.R.T @ (self.outer.H_T - swept(self.outer.J_R, self.outer.J_T))

    @property
    def H_R(self) -> SX:
        """A^T (H_R - bsk(J_R)(J_R (x) E)), the exact form of (65)."""
        return self.outer.pose.R.T @ (self.outer.H_R - swept(self.outer.J_R, self.outer.J_R))


@dataclass(frozen=True)
class Step:
    """One link of a chain of frames: a pose in the frame before, with local Jacobians by a few of the coordinates.

    ``places`` are those coordinates' places in q, ``variables`` their symbols, J_T and J_R (3 x len(places)) are in the
    axes of the frame before.
    """

    pose: Pose
    places: tuple[int, ...]
    variables: SX
    J_T: SX
    J_R: SX

    def reversed(self) -> Step:
        """The frame before seen from the frame after."""
        R_T = self.pose.R.T
        return Step(
            pose=Pose(-(R_T @ self.pose.r), R_T),
            places=self.places,
            variables=self.variables,
            J_T=-(R_T @ (self.J_T + skew(self.pose.r) @ self.J_R)),
            J_R=-(R_T @ self.J_R),
        )

    def jacobians(self, n: int) -> tuple[SX, SX]:
        """J_T and J_R by all n coordinates (3 x n)."""
        J_T, J_R = SX(3, n), SX(3, n)
        if self.places:
            J_T[:, list(self.places)], J_R[:, list(self.places)] = self.J_T, self.J_R
        return J_T, J_R

    def hessians(self, n: int) -> tuple[SX, SX]:
        """Khang derivatives of J_T and J_R by all n coordinates (3 x n^2)."""
        H_T, H_R = SX(3, n * n), SX(3, n * n)
        if self.places:
            pairs = [j * n + k for j in self.places for k in self.places]
            H_T[:, pairs] = khang_derivative(self.J_T, self.variables)
            H_R[:, pairs] = khang_derivative(self.J_R, self.variables)
        return H_T, H_R


def swept(J_R: SX, X: SX) -> SX:
    """bsk(J_R)(X (x) E), 3 x n^2: column (j, k) is J_R,k x X_j, made without the large factors."""
    return _crossed(J_R, X, lambda r, x: kron(x, r))


def swapped(J_R: SX, X: SX) -> SX:
    """bsk(J_R)(X (x) E) K, 3 x n^2: column (j, k) is J_R,j x X_k."""
    return _crossed(J_R, X, kron)


def _crossed(J_R: SX, X: SX, product: Callable[[SX, SX], SX]) -> SX:
    """Cross products of the columns of two 3 x n matrices, in the order that ``product`` of their rows gives."""
    r, x = casadi.vertsplit(J_R), casadi.vertsplit(X)
    rows = [product(r[a], x[b]) - product(r[b], x[a]) for a, b in ((1, 2), (2, 0), (0, 1))]
    return casadi.vertcat(*rows)


def _sum(matrices: list[SX]) -> SX:
    """The sum, by halves: what is added to a large matrix again and again costs its size each time."""
    while len(matrices) > 1:
        matrices = [sum(matrices[i + 1 : i + 2], start=matrices[i]) for i in range(0, len(matrices), 2)]
    return matrices[0]


def along(steps: Iterable[Step], n: int) -> RelativeMotion:
    """The relative motion at the end of a chain of steps: the recursion over the frames.

    Neighbours without coordinates, as the frames of fixed joints have none, are one step.
    """
    motion = RelativeMotion.rest(n)
    for moving, group in groupby(steps, lambda step: bool(step.places)):
        found = list(group)
        if not moving:
            found = [replace(found[0], pose=reduce(Pose.__matmul__, (step.pose for step in found)))]
        for step in found:
            motion = motion.then(step)
    return motion
