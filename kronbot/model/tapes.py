"""Expressions that are traced once and had again for other symbols, operation by operation as they were."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import casadi
from casadi import SX


class Tapes:
    """What was traced, by what makes it and where its inputs are zero by structure. A pickle has none of it, since all
    of it can be traced again."""

    def __init__(self) -> None:
        self._known: dict[Hashable, tuple[casadi.Function, SX]] = {}

    def __reduce__(self) -> tuple[type[Tapes], tuple[()]]:
        return Tapes, ()

    def play(self, make: Callable[..., Sequence[SX]], *given: SX) -> list[SX]:
        """What ``make`` makes of expressions, whose structural zeros are seen; it has to do the same at every call.

        Played anew a tape takes a twentieth of what it takes to write it line by line.
        """
        key = (make.__qualname__, *((each.shape, *each.sparsity().find()) for each in given))
        if key not in self._known:
            symbols = [SX.sym("given", each.sparsity()) for each in given]
            made = list(make(*symbols))
            others = casadi.vertcat(*casadi.Function("made", symbols, made, {"allow_free": True}).free_sx())
            self._known[key] = casadi.Function("tape", [*symbols, others], made), others
        tape, others = self._known[key]
        found: list[SX] = tape.call([*given, others], True, False)
        return found
