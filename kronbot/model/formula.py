"""Functions of time as expressions."""

from __future__ import annotations

from collections.abc import Callable

import casadi
from casadi import SX

from kronbot.records import dataclass


@dataclass(frozen=True, eq=False)
class Formula:
    """A function of time as what it is at a symbol: unlike the function that wrote it, it pickles."""

    t: SX
    value: SX

    @classmethod
    def of(cls, function: Callable[[SX], SX]) -> Formula:
        """The formula of a function."""
        t = SX.sym("t")
        return function if isinstance(function, cls) else cls(t, SX(function(t)))

    def __call__(self, t: SX) -> SX:
        """Its value at another time."""
        return casadi.substitute(self.value, self.t, t)
