"""What generated code says about itself: who wrote it, the coordinates, the parameters, what each routine takes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from kronbot.compute.code.routine import Package, Routine
from kronbot.version import __version__

# Meanings of inputs and outputs; sizes and names of the coordinates are said elsewhere.
WORDS = {
    "q": "coordinates",
    "qd": "rates of the coordinates",
    "qdd": "second derivatives of the coordinates",
    "tau": "generalized forces on the coordinates",
    "force": "dead force at the endpoint, base frame, N",
    "p": "parameters",
    "bias": "forces that hold qdd = 0",
    "energy": "kinetic, elastic and gravity energy, J",
    "position": "x, y, z, m",
    "rotation": "its columns are the axes of the frame",
    "J_T": "rows x, y, z: velocity is J_T qd",
    "J_R": "rows x, y, z: angular velocity is J_R qd",
    "H_T": "column n j + k is column j of J_T derived by coordinate k of n",
    "H_R": "column n j + k is column j of J_R derived by coordinate k of n",
    "H_T_star": "acceleration is J_T qdd + H_T_star (qd x qd), x the Kronecker product",
    "M": "inertia",
    "M_L": "inertia",
    "D_L": "damping and gyroscopic forces: derivative of the needed forces by qd",
    "K_L": "stiffness: derivative of the needed forces by q, less that of J_T^T force",
    "h_L": "tau + J_T^T force, less the needed forces",
    "dqdd_dq": "row i is qdd[i] derived by q",
    "dqdd_dqd": "row i is qdd[i] derived by qd",
    "dqdd_dtau": "row i is qdd[i] derived by tau: the inverse of the inertia matrix",
}


def notes(package: Package) -> list[str]:
    """Lines about a package, plain ASCII."""
    lines = [
        f"Robot {plain(package.robot)}, order {package.order}. Written by kronbot {__version__}.",
        "",
        "SI units, angles in radians. Coordinates and their generalized forces:",
        *_aligned(
            (f"{i}", name, unit, force)
            for i, (name, unit, force) in enumerate(
                zip(package.coordinates, package.units, package.force_units, strict=True)
            )
        ),
    ]
    if package.parameters:
        lines += ["", "Parameters p and their default values:"]
        lines += _aligned((f"{i}", *_valued(name, value)) for i, (name, value) in enumerate(package.parameters.items()))
    if package.fixed:
        lines += ["", "Parameters whose values have shaped the code and cannot be changed in it:"]
        lines += _aligned(_valued(name, value) for name, value in package.fixed.items())
    if package.told:
        lines += ["", *map(plain, package.told)]
    return lines


def about(routine: Routine) -> list[str]:
    """Lines about a routine, plain ASCII: its meaning, its inputs and outputs."""
    sizes = {word: str(size) for word, size in routine.inputs.items()}
    shapes = {word: shape(routine, word) for word in routine.outputs}
    inputs = [("in", word, size, WORDS[word]) for word, size in sizes.items()]
    outputs = [("out", word, size, WORDS[word]) for word, size in shapes.items()]
    return [plain(routine.meaning), *_aligned([*inputs, *outputs])]


def shape(routine: Routine, output: str) -> str:
    """Size of an output: 9, or 3 x 9 for a matrix."""
    rows, columns = routine.function.size_out(output)
    return f"{rows}" if routine.outputs[output].columns is None else f"{rows} x {columns}"


def plain(text: str) -> str:
    """Text as it may stand in a comment of any language: signs that could end one are written as their numbers."""
    signs = r"[^A-Za-z0-9_ .,:;'()\[\]^=+/-]|/(?![A-Za-z0-9(])"  # a slash stays within a unit, as in J/(m^-1)
    return re.sub(signs, lambda match: f"<U+{ord(match[0]):04X}>", text)


def _valued(name: str, value: float | None) -> tuple[str, str]:
    return name, "no value, to be given" if value is None else repr(value)


def _aligned(rows: Iterable[Sequence[str]]) -> list[str]:
    """Rows of cells below each other, indented."""
    cells = [[plain(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in cells]
