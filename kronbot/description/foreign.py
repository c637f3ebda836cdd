"""Words of other programs that a robot file does not know, and what says the same in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final


def _said(cure: str, words: str) -> dict[str, str]:
    """What follows "unknown key 'density'", by the words in small letters."""
    return dict.fromkeys(words.split(), f": {cure}")


_MATERIAL = "density rho mass_density linear_density mass_per_length rhoa mu material section cross_section geometry "
_MATERIAL += "shape area a volume size width height thickness diameter radius"
_ELASTIC = "e g i j iy iz ip iyy izz ixx eix eiy eiz ei_y ei_z young youngs_modulus young_modulus elastic_modulus "
_ELASTIC += "elasticity modulus shear_modulus poisson nu second_moment stiffness polar_moment"
_CENTRE = "cog cg center_of_mass centre_of_mass center centre origin"
_BODIES = "hub payload"

ROBOT: Final[Mapping[str, str]] = {
    **_said("numbers are in SI units, angles in radians", "unit units"),
    **_said("there are none; numbers that are used often may be 'parameters'", "material materials section sections"),
}
LINK: Final = _said("the mass of a link (kg) stands in its 'rigid' or 'flexible'", _MATERIAL)
BEAM: Final[Mapping[str, str]] = {
    **_said(
        "a beam has no material and no section, but mass (kg, rho*A*l), EI: {y: E*Iy, z: E*Iz} and GJ: G*J (N m^2)",
        f"{_MATERIAL} {_ELASTIC}",
    ),
    **_said("it belongs in the link, beside 'flexible'", _BODIES),
}
BODY: Final[Mapping[str, str]] = {
    **_said("a body has no material and no shape, but mass (kg), com (m) and inertia (kg m^2)", _MATERIAL),
    **_said("the centre of mass is com: [x, y, z] (m)", _CENTRE),
    **_said("it belongs in the link, beside the body", _BODIES),
}

# What to write where a key of the file is missing.
NEEDED: Final[Mapping[str, str]] = {
    "kronbot": "a robot file begins with kronbot: 1",
    "gravity": "write gravity: [0, 0, -9.81] where z points up (m/s^2), [0, 0, 0] in space",
}
