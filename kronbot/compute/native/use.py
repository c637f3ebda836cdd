"""When native code is used: where what it is expected to save is worth what compiling takes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Generic, TypeVar

import casadi

from kronbot.compute.native import policy
from kronbot.compute.native.compiling import Code, cached, compiled, made, too_large
from kronbot.compute.native.cost import EFFORTS, FULL, INTERPRETED, Effort, instructions
from kronbot.compute.native.kernel import Kernel, Loop
from kronbot.compute.native.subjects import Calls, Rows, Subject
from kronbot.records import dataclass

STARTING = 0.1  # s a compilation, however small
# An expected saving must be this many times the time to compile, since both are estimates:
WAITING = 2.0  # where that is waited for
BESIDE = 1.0  # where it goes on beside the work, which is done then before the work is; the next run finds it
# So often long functions may repeat themselves; the Jacobian of eight beams in space does nearly three times.
REPEATED = 5
# Functions of which a process remembers whether there is native code: to look takes as long as to read their texts.
MOST = 64
# By what CasADi tells functions apart by, as long as these are held, and by the inputs that all points share.
_known: dict[Hashable, _Known[Any]] = {}
Made = TypeVar("Made")


@dataclass
class _Known(Generic[Made]):
    """What can be compiled, its native code if there is any, how often it was asked for, and whether no compiler makes
    any. The function is held."""

    function: casadi.Function
    subject: Subject[Made]
    code: Code[Made] | None
    asked: int = 0
    hopeless: bool = False


def gain(
    sizes: Sequence[int],
    evaluations: Sequence[int],
    effort: Effort,
    margin: float,
    found: Code[Any] | None = None,
    statements: int | None = None,
) -> float:
    """Time (s) that compiling functions of so many instructions is expected to save, beyond ``margin`` times its cost.

    ``evaluations`` says how often each is still to be evaluated, ``found`` is the native code that there is already,
    the compiler sees so many ``statements``, by default as many as there are instructions.
    saving = evaluations x instructions x (time of one now - time of one then); cost = STARTING + statements x
    compiling. To measure the constants anew: time ``function.map(64).buffer()`` with 64 points, ``compiled(function)``
    on an empty cache, and the same buffer of what that returns. An embedded function counts once, however often it is
    called.
    """
    now = INTERPRETED if found is None else found.effort.running
    saving = sum(size * count for size, count in zip(sizes, evaluations, strict=True)) * (now - effort.running)
    seen = sum(sizes) if statements is None else statements
    return saving - margin * (STARTING + seen * effort.compiling)


def worthwhile(
    sizes: Sequence[int],
    evaluations: Sequence[int],
    margin: float,
    found: Code[Any] | None = None,
    subject: Subject[Any] | None = None,
) -> Effort | None:
    """The effort with the largest :func:`gain`, None where compiling does not pay; of a ``subject`` with its efforts
    and statements."""

    # Where all that is to come takes less than to begin a compiler, none pays: rows of short runs ask again and again.
    due = sum(size * count for size, count in zip(sizes, evaluations, strict=True))
    if due * INTERPRETED <= margin * STARTING:
        return None

    def saved(effort: Effort, statements: int) -> float:
        return 0.0 if too_large(statements) else gain(sizes, evaluations, effort, margin, found, statements)

    efforts = EFFORTS if subject is None else subject.efforts
    gains = {effort: saved(effort, sum(sizes)) for effort in efforts}
    # How often they repeat themselves is looked at where that may save more than the look takes, for which work waits.
    if subject is not None:
        for effort in efforts:
            if saved(effort, sum(sizes) // REPEATED) - subject.looking > max(*gains.values(), 0.0):
                gains[effort] = saved(effort, subject.statements(effort))
    largest = max(efforts, key=lambda effort: gains[effort])
    return largest if gains[largest] > 0 else None


def rows_at_once(function: casadi.Function, shared: Sequence[int], points: int) -> Loop | None:
    """Native code for so many points that are due now, as the policy in force wants it; None: interpret.

    ``shared`` are the numbers of inputs that are the same at all of them.
    """
    return _at_once((hash(function), *shared), function, lambda: Rows(function, shared), points)


def calls_at_once(function: casadi.Function, calls: int) -> Kernel | None:
    """The same for so many calls in a row."""
    return _at_once(hash(function), function, lambda: Calls(function), calls)


def _at_once(
    key: Hashable, function: casadi.Function, make: Callable[[], Subject[Made]], evaluations: int
) -> Made | None:
    """Who has asked often asks again: as many evaluations as there were are expected beside those that are due."""
    choice, size = policy.choice(), [instructions(function)]
    if choice == "off" or (choice == "auto" and too_large(sum(size))):
        return None
    known: _Known[Made] | None = _known.get(key)
    if known is None:
        while len(_known) >= MOST:
            _known.pop(next(iter(_known)), None)
        subject = make()
        known = _known[key] = _Known(function, subject, cached(subject) if choice == "auto" else None)
    if (known.code is None and choice == "on") or (choice == "auto" and not known.hopeless):
        due = [evaluations + known.asked]
        effort = FULL if choice == "on" else worthwhile(size, due, WAITING, known.code, known.subject)
        if effort is not None:
            compiled_now = made(effort, known.subject)
            known.hopeless, known.code = compiled_now is None, compiled_now or known.code
    known.asked += evaluations
    return None if known.code is None else known.code.function


def in_any_case(function: casadi.Function) -> casadi.Function | None:
    """It as native code, None where there can be none."""
    code = compiled(FULL, function)
    return None if code is None else code.function


def rows_in_any_case(function: casadi.Function, shared: Sequence[int]) -> Loop | None:
    """Its loop over points that share some inputs."""
    code = made(FULL, Rows(function, shared))
    return None if code is None else code.function
