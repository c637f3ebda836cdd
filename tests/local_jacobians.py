"""Piedboeuf's local Jacobians of a flexible link as constant matrices: (23), (24) and Appendix C, (60)-(66).

They are the polynomials of degree 1 in q_f of what order 2 gives in full (``Beam.cross_sections``); matrices are
computed once and hold for every q_f. Signs and primes follow the errata: (23) is missing in the paper, and (24), (63),
(65) have misprints.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi
from casadi import SX

from kronbot.model.beam import TIP, Beam


@dataclass(frozen=True)
class LocalJacobians:
    """Local Jacobians of a section, J = J_0 + [q_f^T J_x; q_f^T J_y; q_f^T J_z], in the axes of the root frame.

    ``J_T0``, ``J_R0`` are 3 x n (62), (64); ``J_T1``, ``J_R1`` hold the three n x n matrices of (63) and (65).
    """

    J_T0: SX
    J_R0: SX
    J_T1: tuple[SX, SX, SX]
    J_R1: tuple[SX, SX, SX]

    def J_T(self, q_f: SX) -> SX:
        """Local Jacobian of translation to first order in q_f (3 x n), (24) and (61)."""
        return self.J_T0 + casadi.vertcat(*(q_f.T @ matrix for matrix in self.J_T1))

    def J_R(self, q_f: SX) -> SX:
        """Local Jacobian of rotation to first order in q_f (3 x n), (23) and (60)."""
        return self.J_R0 + casadi.vertcat(*(q_f.T @ matrix for matrix in self.J_R1))


def local_jacobians(beam: Beam, xi: float = TIP) -> LocalJacobians:
    """The constant matrices for the section at x = root + xi length, 0 <= xi <= 1; columns [v | w | torsion]."""
    v, w, a = beam.directions
    blocks = {"v": slice(0, v.count), "w": slice(v.count, v.count + w.count), "a": slice(v.count + w.count, beam.n)}
    by_letter = {"v": v, "w": w, "a": a}

    def once(first: str, d: int, second: str, e: int) -> SX:
        return beam.running(by_letter[first], d, by_letter[second], e, xi)

    def twice(first: str, d: int, second: str, e: int) -> SX:
        return beam.running_twice(by_letter[first], d, by_letter[second], e, xi)

    def matrix(entries: dict[str, SX]) -> SX:
        result = SX(beam.n, beam.n)
        for (row, column), block in ((tuple(key), block) for key, block in entries.items()):
            result[blocks[row], blocks[column]] = block
        return result

    J_T0, J_R0 = SX(3, beam.n), SX(3, beam.n)
    J_T0[1, blocks["v"]], J_T0[2, blocks["w"]] = beam.row(v, xi, 0), beam.row(w, xi, 0)
    J_R0[0, blocks["a"]] = beam.row(a, xi, 0)
    J_R0[1, blocks["w"]], J_R0[2, blocks["v"]] = -beam.row(w, xi, 1), beam.row(v, xi, 1)
    return LocalJacobians(
        J_T0,
        J_R0,
        J_T1=(
            matrix({"vv": -once("v", 1, "v", 1), "ww": -once("w", 1, "w", 1)}),
            matrix({"wa": -twice("w", 2, "a", 0), "aw": -twice("a", 0, "w", 2)}),
            matrix({"va": twice("v", 2, "a", 0), "av": twice("a", 0, "v", 2)}),
        ),
        J_R1=(
            matrix({"vw": once("v", 1, "w", 2), "wv": -once("w", 1, "v", 2)}),
            matrix({"va": once("v", 1, "a", 1), "av": -once("a", 0, "v", 2)}),
            matrix({"wa": once("w", 1, "a", 1), "aw": -once("a", 0, "w", 2)}),
        ),
    )
