"""How strongly an output of a linear model answers to an input, over the frequency."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kronbot.compute.arrays import NamedArray
from kronbot.description.wording import unknown
from kronbot.errors import Argument, UsageError
from kronbot.kinds import is_a
from kronbot.mechanics.linear.responses import frequencies, transfer
from kronbot.mechanics.linear.state_space import StateSpace
from kronbot.questions.responses import phase
from kronbot.records import dataclass

# Shares of the strongest response of an input: what is smaller is rounding.
NO_RESPONSE = 1e-12


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
        return phase(self.values)


def pair_of(arrays: Mapping[str, NamedArray], poles: np.ndarray, wanted: tuple[str, str] | None) -> Pair | None:
    """The pair (output, input) of that name; by default the first input with the first output that answers to it.

    None where no output answers to any input. Raises UsageError that lists the names where one is unknown.
    """
    outputs, inputs = list(arrays["C"].rows), list(arrays["B"].columns or ())
    if wanted is not None:
        demand_pair(wanted, outputs, inputs)
        return Pair(*wanted, outputs.index(wanted[0]), inputs.index(wanted[1]))
    # Any frequency tells which pairs answer; between the poles none is at a zero by accident.
    size = float(np.abs(poles).max(initial=0.0)) or 1.0
    strengths = np.abs(transfer(_model(arrays), np.array([0.6180339887 * size]))[0])
    for column, name in enumerate(inputs):
        answering = np.flatnonzero(strengths[:, column] > NO_RESPONSE * strengths[:, column].max(initial=0.0))
        if len(answering):
            return Pair(outputs[answering[0]], name, int(answering[0]), column)
    return None


def pair_named(pair: object) -> tuple[str, str]:
    """Two names, those of an output and an input, or a text of both as columns of responses have them, or with a comma.

    Raises UsageError for what is none.
    """
    names: list[object] = []
    if is_a(pair, tuple | list):
        # Whatever a subclass of them does.
        names = [*(tuple.__iter__(pair) if is_a(pair, tuple) else list.__iter__(pair))]
    elif is_a(pair, str):
        text = str.__str__(pair)
        names = [part.strip() for part in text.split("," if "," in text else "/")]
    plain = [str.__str__(name) for name in names if is_a(name, str)]
    if len(names) != 2 or len(plain) != 2 or not all(plain):
        wanted = ": the names of an output and an input are wanted, as in endpoint.y,torque.q1"
        raise UsageError(Argument("pair"), wanted)
    return plain[0], plain[1]


def demand_pair(wanted: tuple[str, str], outputs: Sequence[str], inputs: Sequence[str]) -> None:
    """Raise UsageError, which lists the names, where an output or an input of a state space is none of these."""
    for word, name, known in (("output", wanted[0], outputs), ("input", wanted[1], inputs)):
        if name not in known:
            raise unknown(name, known, Argument("pair"), f": no {word} ", behind=" in the state space")


def response(arrays: Mapping[str, NamedArray], poles: np.ndarray, pair: Pair) -> Response:
    """C (i omega - A)^-1 B + D of a pair, on a logarithmic grid around the poles that is dense where they are near."""
    grid = frequencies(poles, len(arrays["A"].rows))
    return Response(grid, transfer(_model(arrays, pair), grid)[:, 0, 0])


def _model(arrays: Mapping[str, NamedArray], pair: Pair | None = None) -> StateSpace:
    """The state space, of a pair alone where one is given."""
    rows = slice(None) if pair is None else slice(pair.row, pair.row + 1)
    columns = slice(None) if pair is None else slice(pair.column, pair.column + 1)
    A, B, C, D = (arrays[name].values for name in "ABCD")
    return StateSpace(A, B[:, columns], C[rows], D[rows, columns])
