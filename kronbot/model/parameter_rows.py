"""Values of many robots at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from casadi import SX

from kronbot.floats import Array
from kronbot.model.parameters import Parameters


class Rows(Parameters):
    """The parameters of many robots of one structure: what is bound to the symbols are rows, one a robot.

    Raises Parted where what is traced turns out to be shaped by values in which they differ.
    """

    def __init__(self, each: Sequence[Parameters]) -> None:
        vars(self).update(vars(each[0]))
        self._own = {}
        self._each = each

    def evaluate_all(self, column: SX, wanted_for: str) -> list[float]:
        """Numbers in which they do not differ."""
        first, *others = (one.evaluate_all(column, wanted_for) for one in self._each)
        if any(other != first for other in others):
            raise Parted
        return first

    def _parted(self) -> bool:
        if any(one._parted() or one._structure is not self._structure for one in self._each):
            raise Parted
        return False

    def _following(self, found: Array, share: float, power: float) -> Array:
        return np.array([one._following(row, share, power) for one, row in zip(self._each, found, strict=True)])

    def _bind(self, literals: int, modal: int) -> tuple[Array, Array]:
        rows = [one._bound_now(literals, modal) for one in self._each]
        base, data = zip(*rows, strict=True)
        return np.array(base), np.array(data)


class Parted(Exception):
    """Robots that were asked together have no trace in common."""
