"""Structural damping: constant matrices on modal coordinates, no effect on rigid motion."""

from __future__ import annotations

import casadi
import numpy as np
from casadi import SX

from kronbot.model.beam import Beam, Direction
from kronbot.model.beam_integrals import gram


def modal_damping(beam: Beam, ratios: tuple[SX, ...]) -> SX:
    """D_f = M_f Phi diag(2 zeta omega) Phi^T M_f (n x n), M_f and K_f of the bare clamped beam at q_f = 0.

    Phi are its M_f-normalized eigenvectors. The directions of a bare beam do not couple, so that the ratios go by
    direction in the order of the coordinates (v, w, torsion), ascending frequency in each. Frequencies of a uniform
    beam are numbers times sqrt(EI / (rho l^4)) (torsion: sqrt(GJ / (Ip l^2))): length, mass and stiffness stay symbols.
    """
    blocks, first = [], 0
    for direction in beam.directions:
        blocks.append(_modal_block(beam, direction, ratios[first : first + direction.count]))
        first += direction.count
    return casadi.diagcat(*blocks)


def rayleigh_damping(beam: Beam, alpha: SX, beta: SX) -> SX:
    """D_f = alpha M_f + beta K_f (n x n), M_f and K_f of the bare clamped beam at q_f = 0."""
    mass = casadi.diagcat(*(_inertia(beam, d) * beam.modal_matrix("m", d, 0) for d in beam.directions))
    return alpha * mass + beta * beam.stiffness_matrix()


def _inertia(beam: Beam, direction: Direction) -> SX:
    """Inertia per length against the direction: polar in torsion, mass in bending."""
    return beam.polar_inertia if direction.strain == 1 else beam.mass / beam.length


def _modal_block(beam: Beam, direction: Direction, ratios: tuple[SX, ...]) -> SX:
    if not direction.count:
        return SX(0, 0)
    L = np.linalg.cholesky(gram(direction.shapes, 0))
    half = np.linalg.solve(L, gram(direction.shapes, direction.strain))
    eigenvalues, vectors = np.linalg.eigh(np.linalg.solve(L, half.T))
    # M = rho l M^, K = EI / l^3 K^: D = sqrt(rho EI) / l (M^ Phi) diag(2 zeta sqrt(lambda)) (M^ Phi)^T, M^ Phi = L V.
    unit = casadi.sqrt(_inertia(beam, direction) * direction.stiffness) / beam.power(direction.strain - 1)
    powers = casadi.vertcat(*(beam.power(power) for power in direction.shapes.powers))
    result = SX(direction.count, direction.count)
    for ratio, eigenvalue, column in zip(ratios, eigenvalues, (L @ vectors).T, strict=True):
        shape = powers * SX(column)
        result += 2 * ratio * float(np.sqrt(eigenvalue)) * unit * (shape @ shape.T)
    return result
