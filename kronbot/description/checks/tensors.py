"""Which tensors of inertia there can be."""

from __future__ import annotations

# Rods and plates stand exactly on the border of what a body can have; decimals of a table must not push them over it.
_INERTIA_TOLERANCE = 1e-9


def possible_inertia(Ixx: float, Iyy: float, Izz: float, Ixy: float, Ixz: float, Iyz: float) -> bool:
    """Whether some distribution of mass has this tensor, kg m^2.

    It has where tr(I)/2 E - I, the second moments of the mass, is positive semidefinite; rounded border cases pass.
    """
    half = (Ixx + Iyy + Izz) / 2
    return _semidefinite(half - Ixx, half - Iyy, half - Izz, -Ixy, -Ixz, -Iyz, 2 * half)


def positive_inertia(Ixx: float, Iyy: float, Izz: float, Ixy: float, Ixz: float, Iyz: float) -> bool:
    """Whether it is at least 0 about every axis: also that of a planar robot, Izz alone, which no body has."""
    return _semidefinite(Ixx, Iyy, Izz, Ixy, Ixz, Iyz, Ixx + Iyy + Izz)


def _semidefinite(xx: float, yy: float, zz: float, xy: float, xz: float, yz: float, size: float) -> bool:
    """Whether a symmetric matrix is, but for a small part of a size, by the pivots of an elimination."""
    size = max(size, abs(xy), abs(xz), abs(yz))
    if size == 0:
        return True
    a, d, f = (each / size + _INERTIA_TOLERANCE for each in (xx, yy, zz))
    b, c, e = xy / size, xz / size, yz / size
    if a <= 0:
        return False
    d, e, f = d - b * b / a, e - b * c / a, f - c * c / a
    return d > 0 and f - e * e / d > 0
