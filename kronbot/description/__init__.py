"""The description of a robot: from YAML text to frozen dataclasses, every mistake with its place.

What is exported here is imported when it is first used: messages and help need a few words of this floor, and not its
schema, which takes a tenth of a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kronbot.system.importing import imported

if TYPE_CHECKING:
    from kronbot.description.described import Description as Description
    from kronbot.description.loading import load as load
    from kronbot.description.shipped import shipped_robots as shipped_robots
    from kronbot.description.yaml.composing import compose as compose
    from kronbot.description.yaml.composing import compose_leniently as compose_leniently
    from kronbot.description.yaml.source import Source as Source
    from kronbot.description.yaml.source import read as read

_HOMES = {
    "compose": "yaml.composing",
    "compose_leniently": "yaml.composing",
    "Description": "described",
    "load": "loading",
    "shipped_robots": "shipped",
    "Source": "yaml.source",
    "read": "yaml.source",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(imported(f"{__name__}.{_HOMES[name]}"), name)
