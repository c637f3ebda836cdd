"""When native code is used: where what it is expected to save is worth what compiling takes."""

from __future__ import annotations

from collections.abc import Sequence

import casadi

from kronbot.compute.native import policy
from kronbot.compute.native.compiling import EFFORTS, FULL, Code, Compilation, Effort, cached, compiled, too_large
from kronbot.compute.native.cost import INTERPRETED, instructions
from kronbot.compute.native.kernel import Kernel
from kronbot.errors import said
from kronbot.records import dataclass

STARTING = 0.1  # s a compilation, however small
# An expected saving must be this many times the time to compile, since both are estimates:
WAITING = 2.0  # where that is waited for
BESIDE = 1.0  # where it goes on beside the work, which is done then before the work is; the next run finds it
# Functions of which a process remembers whether there is native code: to look takes as long as to read their texts.
MOST = 64
# By what CasADi tells functions apart by, as long as these are held.
_known: dict[int, _Known] = {}


@dataclass
class _Known:
    """A function, its native code if there is any, how often it was asked for, and whether no compiler makes any."""

    function: casadi.Function
    code: Code | None
    kernel: Kernel | None = None
    asked: int = 0
    hopeless: bool = False


def gain(
    sizes: Sequence[int], evaluations: Sequence[int], effort: Effort, margin: float, found: Code | None = None
) -> float:
    """Time (s) that compiling functions of so many instructions is expected to save, beyond ``margin`` times its cost.

    ``evaluations`` says how often each is still to be evaluated, ``found`` is the native code that there is already.
    saving = evaluations x instructions x (time of one now - time of one then); cost = STARTING + instructions x
    compiling. To measure the constants anew: time ``function.map(64).buffer()`` with 64 points, ``compiled(function)``
    on an empty cache, and the same buffer of what that returns. An embedded function counts once, however often it is
    called.
    """
    now = INTERPRETED if found is None else found.effort.running
    saving = sum(size * count for size, count in zip(sizes, evaluations, strict=True)) * (now - effort.running)
    return saving - margin * (STARTING + sum(sizes) * effort.compiling)


def worthwhile(
    sizes: Sequence[int], evaluations: Sequence[int], margin: float, found: Code | None = None
) -> Effort | None:
    """The effort with the largest :func:`gain`, None where compiling does not pay."""
    if too_large(sizes):
        return None
    gains = {effort: gain(sizes, evaluations, effort, margin, found) for effort in EFFORTS}
    best = max(EFFORTS, key=lambda effort: gains[effort])
    return best if gains[best] > 0 else None


def at_once(function: casadi.Function, evaluations: int) -> Kernel | None:
    """Native code for so many evaluations that are due now, as the policy in force wants it; None: interpret.

    Who has asked often asks again: as many evaluations as there were are expected beside those that are due.
    """
    choice, size = policy.choice(), [instructions(function)]
    if choice == "off" or (choice == "auto" and too_large(size)):
        return None
    known = _known.get(hash(function))
    if known is None:
        while len(_known) >= MOST:
            _known.pop(next(iter(_known)), None)
        known = _known[hash(function)] = _Known(function, cached(function) if choice == "auto" else None)
    if (known.kernel is None and choice == "on") or (choice == "auto" and not known.hopeless):
        found = None if known.kernel is None else known.code
        effort = FULL if choice == "on" else worthwhile(size, [evaluations + known.asked], WAITING, known.code)
        if effort is not None:
            made = compiled(effort, function)
            known.hopeless, known.code = made is None, made or known.code
        if known.code is not None and known.code is not found:
            try:
                known.kernel = Kernel(function.name(), known.code.library)
            except (OSError, AttributeError) as error:  # evicted a moment ago
                known.code = None
                policy.interpreted(said(error))
        known.asked += evaluations
    return known.kernel


def in_any_case(function: casadi.Function) -> casadi.Function | None:
    """It as native code, None where there can be none."""
    code = compiled(FULL, function)
    return None if code is None else code.function


class Native:
    """Native code for functions that are evaluated for a while, as the policy in force wants it.

    ``auto`` looks into the cache at once, and compiles beside the evaluation as soon as what is expected of it pays;
    ``on`` compiles first, ``off`` never.
    """

    def __init__(self, *functions: casadi.Function) -> None:
        self._functions = functions
        self._sizes = [instructions(function) for function in functions]
        self._compilation: Compilation | None = None
        self._tried: set[Effort] = set()
        self._code: Code | None = None
        self._choice = policy.choice()
        if self._choice == "on":
            self._code = compiled(FULL, *functions)
        elif self._choice == "auto":
            self._code = cached(*functions)

    def expect(self, *evaluations: int) -> None:
        """So many evaluations of each function are still to come."""
        if self._choice != "auto" or self._compilation is not None:
            return
        effort = worthwhile(self._sizes, evaluations, BESIDE, self._code)
        if effort is not None and effort not in self._tried:
            self._tried.add(effort)
            self._compilation = Compilation(effort, 0.0, *self._functions)

    def code(self) -> Code | None:
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
