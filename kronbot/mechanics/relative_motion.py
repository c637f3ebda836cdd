"""Jacobians and Hessians of frames, and how those of relative motions compose: Tuan (77)-(91) in exact matrix form.

A frame (b) that moves relative to a frame (a) has a position d and a rotation A_b^(a), both in (a); its Jacobians are
J_T = dd/dq and J_R with skew(J_R qd) = Adot A^T, its Hessians their Khang derivatives H_T, H_R (3 x n^2), Tuan (51),
(60). Going on to a frame (c) that moves relative to (b), Tuan states (86) and (88)-(91) as quadratic forms in qd; the
matrix equalities used here need the commutation matrix K, which leaves qd (x) qd as it is:

* J_Tc = J_Tb - d~ J_Rb + A J_T',  J_Rc = J_Rb + A J_R'                                                     (77), (78)
* H_Tc = H_Tb - d~ H_Rb + A H_T' + S (A J_T' (x) E)(1 + K) + S (S (x) E)(d (x) E_nn) K                             (86)
* H_Rc = H_Rb + A H_R' + S (A J_R' (x) E)                                                                         (87)

with A = A_b^(a), d = A d', S = bsk(J_Rb), and a prime for (c) relative to (b), in (b).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from casadi import SX

from kronbot.kronecker.calculus import block_skew, commutation, khang_derivative, kron, skew
from kronbot.model.pose import Pose


@dataclass(frozen=True)
class RelativeMotion:
    """A frame seen from another one: its pose, and J_T, J_R (3 x n), H_T, H_R (3 x n^2) in the axes of that one."""

    pose: Pose
    J_T: SX
    J_R: SX
    H_T: SX
    H_R: SX

    @staticmethod
    def rest(n: int) -> RelativeMotion:
        """The frame itself, for n coordinates."""
        return RelativeMotion(Pose.identity(), SX(3, n), SX(3, n), SX(3, n * n), SX(3, n * n))

    def then(self, inner: RelativeMotion) -> RelativeMotion:
        """The motion of (c) relative to (a) from this one, of (b) relative to (a), and that of (c) relative to (b)."""
        A, d = self.pose.R, self.pose.R @ inner.pose.r
        n = self.J_T.columns()
        E, S, K = SX.eye(n), block_skew(self.J_R), commutation(n, n)
        J_T, J_R = A @ inner.J_T, A @ inner.J_R
        swept = S @ kron(J_T, E)
        lever = S @ kron(S, E) @ kron(d, SX.eye(n * n))
        return RelativeMotion(
            pose=self.pose @ inner.pose,
            J_T=self.J_T - skew(d) @ self.J_R + J_T,
            J_R=self.J_R + J_R,
            H_T=self.H_T - skew(d) @ self.H_R + A @ inner.H_T + swept + (swept + lever) @ K,
            H_R=self.H_R + A @ inner.H_R + S @ kron(J_R, E),
        )

    def point(self, p: SX) -> RelativeMotion:
        """The same frame with its origin at the fixed point p (3 x 1) of it, Tuan (79), (88)."""
        rest = RelativeMotion.rest(self.J_T.columns())
        return self.then(RelativeMotion(Pose(p, SX.eye(3)), rest.J_T, rest.J_R, rest.H_T, rest.H_R))

    def in_body(self) -> RelativeMotion:
        """Jacobians in the axes of the moving frame, J^(b) = A^T J, and their own Khang derivatives, Tuan (53), (61).

        H^(b) = A^T (H - bsk(J_R)(J (x) E)), the exact form of (57) and (65).
        """
        A_T, E, S = self.pose.R.T, SX.eye(self.J_T.columns()), block_skew(self.J_R)
        return RelativeMotion(
            pose=self.pose,
            J_T=A_T @ self.J_T,
            J_R=A_T @ self.J_R,
            H_T=A_T @ (self.H_T - S @ kron(self.J_T, E)),
            H_R=A_T @ (self.H_R - S @ kron(self.J_R, E)),
        )

    @cached_property
    def H_T_star(self) -> SX:
        """A^T H_T (3 x n^2), Tuan (58): acceleration in body axes is J^(b) qdd + H* (qd (x) qd)."""
        return self.pose.R.T @ self.H_T


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

    def motion(self, n: int) -> RelativeMotion:
        """The step as a relative motion by all n coordinates; its Hessians are the Khang derivatives of J_T and J_R."""
        J_T, J_R, H_T, H_R = SX(3, n), SX(3, n), SX(3, n * n), SX(3, n * n)
        if self.places:
            columns = list(self.places)
            pairs = [j * n + k for j in columns for k in columns]
            J_T[:, columns], J_R[:, columns] = self.J_T, self.J_R
            H_T[:, pairs] = khang_derivative(self.J_T, self.variables)
            H_R[:, pairs] = khang_derivative(self.J_R, self.variables)
        return RelativeMotion(self.pose, J_T, J_R, H_T, H_R)


def along(steps: Iterable[Step], n: int) -> RelativeMotion:
    """The relative motion at the end of a chain of steps: the recursion over the frames."""
    motion = RelativeMotion.rest(n)
    for step in steps:
        motion = motion.then(step.motion(n))
    return motion
