"""How strongly an output of a linear model answers to an input, over the frequency."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kronbot.compute.arrays import NamedArray
from kronbot.description.wording import unknown
from kronbot.errors import Argument
from kronbot.records import dataclass

# Points of the grid; fewer where the model is large, since each costs the solution of a system of its size.
POINTS, FEWEST, WORK = 600, 60, 3e9
# The grid goes on by this factor below the slowest pole and above the fastest, and closes in on each by these shares.
MARGIN = 10.0
CLOSER = np.logspace(-4, -1, 13)
# A share of the pole: nearer to an undamped one nothing can be solved.
ON_THE_POLE = 1e-9
# Shares of the strongest response of an input: what is smaller is rounding.
NO_RESPONSE = 1e-12
# Phases whose sine is smaller are 0 or 180 degrees but for rounding.
STRAIGHT = 1e-9


@dataclass(frozen=True)
class Pair:
    """An output and an input of a state space, each by name and place."""

    output: str
    input: str
    row: int
    column: int


@dataclass(frozen=True)
class Response:
    """The transfer function (N,) of a pair at frequencies (N,), rad/s."""

    frequencies: np.ndarray
    values: np.ndarray

    @property
    def phase(self) -> np.ndarray:
        """Phase (N,) in degrees without jumps of a turn; -180 where it lies on the negative axis but for rounding."""
        real = np.abs(self.values.imag) <= STRAIGHT * np.abs(self.values)
        angle = np.angle(self.values)
        angle = np.where(real, np.where(self.values.real < 0, -np.pi, 0.0), angle)
        return np.asarray(np.degrees(np.unwrap(angle)))


def pair_of(arrays: Mapping[str, NamedArray], poles: np.ndarray, wanted: tuple[str, str] | None) -> Pair | None:
    """The pair (output, input) of that name; by default the first input with the first output that answers to it.

    None where no output answers to any input. Raises UsageError that lists the names where one is unknown.
    """
    outputs, inputs = list(arrays["C"].rows), list(arrays["B"].columns or ())
    if wanted is not None:
        for word, name, known in (("output", wanted[0], outputs), ("input", wanted[1], inputs)):
            if name not in known:
                raise unknown(name, known, Argument("pair"), f": no {word} ", behind=" in the state space")
        return Pair(*wanted, outputs.index(wanted[0]), inputs.index(wanted[1]))
    # Any frequency tells which pairs answer; between the poles none is at a zero by accident.
    size = float(np.abs(poles).max(initial=0.0)) or 1.0
    strengths = np.abs(_transfer(arrays, np.array([0.6180339887 * size]), slice(None), slice(None))[0])
    for column, name in enumerate(inputs):
        answering = np.flatnonzero(strengths[:, column] > NO_RESPONSE * strengths[:, column].max(initial=0.0))
        if len(answering):
            return Pair(outputs[answering[0]], name, int(answering[0]), column)
    return None


def response(arrays: Mapping[str, NamedArray], poles: np.ndarray, pair: Pair) -> Response:
    """C (i omega - A)^-1 B + D of a pair, on a logarithmic grid around the poles that is dense where they are near."""
    sizes = np.abs(poles[poles != 0])
    low, high = (sizes.min(), sizes.max()) if sizes.size else (1.0, 1.0)
    count = int(np.clip(WORK / max(1, len(arrays["A"].rows)) ** 3, FEWEST, POINTS))
    near = np.concatenate([1 - CLOSER, 1 + CLOSER])
    swinging = np.unique(np.abs(poles[poles.imag > 0]))
    grid = np.concatenate([np.geomspace(low / MARGIN, high * MARGIN, count), np.outer(swinging, near).ravel()])
    grid = np.unique(grid)
    for pole in swinging:
        grid = grid[np.abs(grid - pole) > ON_THE_POLE * pole]
    values = _transfer(arrays, grid, slice(pair.row, pair.row + 1), slice(pair.column, pair.column + 1))
    return Response(grid, values[:, 0, 0])


def _transfer(arrays: Mapping[str, NamedArray], frequencies: np.ndarray, rows: slice, columns: slice) -> np.ndarray:
    """Some of the transfer matrix (N, outputs, inputs)."""
    A, B, C, D = (arrays[name].values for name in "ABCD")
    unit = np.eye(len(A))
    solved = [np.linalg.solve(1j * omega * unit - A, B[:, columns]) for omega in frequencies]
    return np.array([C[rows] @ states + D[rows, columns] for states in solved])
