"""Names that lead to each other in circles: parents of links, parameters defined by each other."""

from __future__ import annotations

from collections.abc import Mapping


def circles(leads_to: Mapping[str, str]) -> list[list[str]]:
    """The circles that names run into, each with its names in order; iterative, for chains of thousands."""
    found: list[list[str]] = []
    done: set[str] = set()
    for name in leads_to:
        path: dict[str, None] = {}
        while name in leads_to and name not in done and name not in path:
            path[name] = None
            name = leads_to[name]
        if name in path:
            found.append(list(path)[list(path).index(name) :])
        done.update(path)
    return found


def beginning_with(first: str, circle: list[str]) -> list[str]:
    """The same circle from another of its names on."""
    place = circle.index(first)
    return circle[place:] + circle[:place]
