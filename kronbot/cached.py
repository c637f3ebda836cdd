"""Properties that are computed once, without a lock.

That of ``functools`` in Python 3.11 holds one for all instances of a class while it computes: threads wait for each
other's robots, and a process forked meanwhile waits for ever.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class cached_property(Generic[T]):
    """A property that is computed when it is first asked for. Where threads meet, all get what one of them computed."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> cached_property[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> cached_property[T] | T:
        if instance is None:
            return self
        value: T = vars(instance).setdefault(self._name, self._compute(instance))
        return value
