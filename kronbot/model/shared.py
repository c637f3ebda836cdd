"""What robots have in common that differ in values of their parameters only."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace
from typing import Generic, TypeVar

from kronbot.cached import cached_property
from kronbot.description import Description
from kronbot.model.parameters import Parameters

# What is found out once for all of them.
OF_STRUCTURE = {
    "_kind", "joints", "followers", "coordinates", "units", "flexible", "base", "rigid", "children", "outward",
}  # fmt: skip
# Structures of one file that are remembered: what was traced for them comes back with their values.
MOST_STRUCTURES = 8
Kept = TypeVar("Kept")
Held = TypeVar("Held")
Same = TypeVar("Same", bound="Shared")


class Kind:
    """Robots that are the same but for values, and no others: nothing but itself."""


class Relatives(Generic[Held]):
    """Robots of one file and order whose values make other structures, the latest first; all of them have these."""

    def __init__(self) -> None:
        self._held: tuple[Held, ...] = ()

    def __iter__(self) -> Iterator[Held]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def add(self, first: Held, other: Held) -> None:
        """One more, beside the first; those that came longest ago are forgotten."""
        self._held = (other, *(self._held or (first,)))[:MOST_STRUCTURES]


class Shared:
    """A robot, whose parts are those of its parameters' structure."""

    parameters: Parameters

    @cached_property
    def _kind(self) -> Kind:
        """Another one wherever a part was replaced: nothing that was traced of a robot is taken for its relative's."""
        return Kind()

    def kept(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """What ``make`` returned when this was first asked for the key, by this robot or one of other values.

        It must not depend on values.
        """
        return self.parameters.kept((self._kind, key), make)

    def own(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """The same for what depends on the values of this one."""
        return self.parameters.own((self._kind, key), make)

    def of_values(self: Same, description: Description, parameters: Parameters) -> Same:
        """The same with other values of its parameters; what is kept of this one is kept of it."""
        other, _ = replace(self, description=description, parameters=parameters), self._kind  # type: ignore[type-var]
        vars(other).update((name, found) for name, found in vars(self).items() if name in OF_STRUCTURE)
        return other
