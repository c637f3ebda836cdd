"""Functions that were made within others as pickles: by where they stand in a module, and by what they hold.

What reads such a pickle has to have the same modules: it finds the code there, and runs none that is not there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any

# What a decorator holds the function in that it has taken.
HELD = ("__func__", "__wrapped__", "_compute", "fget")
CACHED = type(cache(lambda: None))


def reduced(value: Any) -> Any:
    """How a pickler writes functions within others, methods of objects, and caches of the former; else NotImplemented.

    Raises LookupError or ValueError for a function that does not stand in its module.
    """
    if isinstance(value, MethodType):
        return method, (value.__func__, value.__self__)
    if isinstance(value, CACHED) and "<locals>" in value.__qualname__:
        return cache, (value.__wrapped__,)
    if isinstance(value, FunctionType) and "<locals>" in value.__qualname__:
        place = value.__module__, value.__qualname__
        found = list(_codes(*place))
        cells = tuple(cell.cell_contents for cell in value.__closure__ or ())
        return function, (*place, found.index(value.__code__), value.__defaults__, value.__kwdefaults__, cells)
    return NotImplemented


def method(function: Any, of: object) -> MethodType:
    """A function as that of an object."""
    return MethodType(function, of)


def function(module: str, name: str, number: int, defaults: Any, by_name: Any, held: tuple[object, ...]) -> Any:
    """The function of that qualified name, one of some in a module that is imported, with its defaults and cells."""
    code = list(_codes(module, name))[number]
    made = FunctionType(code, vars(sys.modules[module]), code.co_name, defaults, tuple(map(CellType, held)))
    made.__kwdefaults__, made.__qualname__, made.__module__ = by_name, name, module
    return made


def _codes(module: str, name: str) -> Iterator[CodeType]:
    """Those of a qualified name within a function, in the order in which they stand there."""
    outer: Any = sys.modules[module]
    for part in name.partition(".<locals>")[0].split("."):
        outer = vars(outer)[part]
    while not isinstance(outer, FunctionType):
        outer = next(getattr(outer, each) for each in HELD if hasattr(outer, each))
    inside = [outer.__code__]
    for code in inside:  # grows while it is walked
        parts = [each for each in code.co_consts if isinstance(each, CodeType)]
        yield from (each for each in parts if each.co_qualname == name)
        inside += parts
