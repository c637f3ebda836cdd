"""What a value is, by its type alone.

``isinstance`` asks the value for its ``__class__`` as well, and what a caller hands over may raise there. So may its
metaclass: then it is of no kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["has", "is_a", "kind_of"]

_NAME = vars(type)["__name__"]

if TYPE_CHECKING:  # a checker of types narrows by it as by isinstance
    from builtins import isinstance as is_a
else:

    def is_a(value, kinds):
        """Whether the type of a value is one of some kinds, a class, a union or a tuple of them."""
        try:
            return issubclass(type(value), kinds)
        except Exception:
            return False


def has(value: object, *names: str) -> bool:
    """Whether the type of a value has attributes of all these names."""
    try:
        return all(hasattr(type(value), name) for name in names)
    except Exception:
        return False


def kind_of(value: object) -> str:
    """The name of a value's type."""
    name: str = _NAME.__get__(type(value))
    return name
