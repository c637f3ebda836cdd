"""Native code of functions that are at work meanwhile. Light to import: few runs are so long that it pays."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import casadi

from kronbot.compute.native import policy
from kronbot.compute.native.cost import FULL, Effort, instructions

if TYPE_CHECKING:
    from kronbot.compute.native.compiling import Code, Compilation
    from kronbot.compute.native.subjects import Functions


class Native:
    """Native code for functions that are evaluated for a while, as the policy in force wants it.

    ``auto`` looks into the cache as soon as something is expected, since to look takes as long as some hundred
    evaluations, and compiles beside the evaluation where that pays; ``on`` compiles first, ``off`` never.
    """

    def __init__(self, *functions: casadi.Function) -> None:
        self.functions = functions
        self._sizes = [instructions(function) for function in functions]
        self._compilation: Compilation[casadi.Function] | None = None
        self._tried: set[Effort] = set()
        self._code: Code[casadi.Function] | None = None
        self._choice = policy.choice()
        self._subject: Functions | None = None
        if self._choice == "on":
            from kronbot.compute.native.compiling import compiled

            self._code = compiled(FULL, *functions)

    def expect(self, *evaluations: int, spent: float = math.inf) -> None:
        """So many evaluations of each function are still to come.

        Forecasts of runs, which begin in short steps, are too large by far: where evaluations have taken so long (s), a
        look at long functions may take as long, no longer.
        """
        if self._choice != "auto" or self._compilation is not None:
            return
        from kronbot.compute.native.compiling import Compilation, cached
        from kronbot.compute.native.subjects import Functions
        from kronbot.compute.native.use import BESIDE, worthwhile

        if self._subject is None:
            self._subject = Functions(*self.functions)
            self._code = cached(self._subject)
        if self._subject.looking > spent:
            return
        effort = worthwhile(self._sizes, evaluations, BESIDE, self._code, self._subject)
        if effort is not None and effort not in self._tried:
            self._tried.add(effort)
            self._compilation = Compilation(effort, 0.0, self._subject)

    def code(self) -> Code[casadi.Function] | None:
        """That of the first function, None where the interpreted one is to be used."""
        if self._compilation is not None and self._compilation.ready:
            self._code = self._compilation.code() or self._code
            self._compilation = None
        return self._code

    def close(self) -> None:
        """End a compiler that is still at work; another may begin when more is expected."""
        if self._compilation is not None:
            self._compilation.cancel()
            self._compilation = None
            self._tried.clear()
