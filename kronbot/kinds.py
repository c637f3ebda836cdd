"""What a value is, by its type alone.

``isinstance`` asks the value for its ``__class__`` as well, and what a caller hands over may raise there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["is_a"]

if TYPE_CHECKING:  # a checker of types narrows by it as by isinstance
    from builtins import isinstance as is_a
else:

    def is_a(value, kinds):
        """Whether the type of a value is one of some kinds, a class, a union or a tuple of them."""
        return issubclass(type(value), kinds)
