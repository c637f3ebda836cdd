"""Names of arguments that a function does not have: refused with what may have been meant, as those of options are."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import wraps
from inspect import Parameter, signature
from types import FunctionType
from typing import ParamSpec, TypeVar

from kronbot.description.wording import quote, unknown
from kronbot.errors import UsageError, too_deep

Given = ParamSpec("Given")
Answer = TypeVar("Answer")
Class = TypeVar("Class", bound=type)

# Where the library has what is no argument of a question, though an option of its command.
_ELSEWHERE = {
    **dict.fromkeys(("motion", "step", "period"), "linearize_along() is about a motion, the file's or with_motion()'s"),
    **dict.fromkeys(
        ("symbolic", "style", "short", "shared", "cse", "seconds"),
        "symbolic() has formulas, by the same questions: symbolic().jacobian()",
    ),
    **dict.fromkeys(("plot", "panels", "pair", "view", "open"), "plot() and view() are those of the answer"),
    **dict.fromkeys(("order", "parameters", "set"), "load() has these"),
    **dict.fromkeys(("real", "prefix", "header"), "c() of what is exported has these"),
}


def demand_arguments(function: Callable[..., object], places: int, named: Collection[str]) -> None:
    """Raise UsageError for arguments by names that a function does not have, or that so many ``places`` hold."""
    known = signature(function).parameters
    for name in [*known][:places]:
        if name in named and known[name].kind is not Parameter.POSITIONAL_ONLY:
            raise UsageError(f"{function.__name__} has {quote(name)} twice: by its place and by its name")
    for name in named if all(each.kind is not each.VAR_KEYWORD for each in known.values()) else ():
        if name not in known:
            there = [each for each in known if each != "self"]
            what = f"{function.__name__} has no argument "
            if name in _ELSEWHERE:
                raise UsageError(f"{what}{quote(name)}: {_ELSEWHERE[name]}")
            raise unknown(name, there, what)


def known_arguments(function: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """A function that raises UsageError for the name of an argument that it does not have, and ComputationError where
    the stack of calls has no room for it."""

    @wraps(function)
    def called(*given: Given.args, **named: Given.kwargs) -> Answer:
        try:
            return function(*given, **named)
        except TypeError:
            demand_arguments(function, len(given), named)
            raise
        except RecursionError:
            full = too_deep()
        raise full

    return called


def called_by_name(of: Class) -> Class:
    """A class whose public methods have :func:`known_arguments`, as far as they have none of their own."""
    for name, member in [*vars(of).items()]:
        if isinstance(member, FunctionType) and not name.startswith("_") and not hasattr(member, "__wrapped__"):
            setattr(of, name, known_arguments(member))
    return of
