"""The description of a robot: from YAML text to frozen dataclasses, every mistake with its place."""

from __future__ import annotations

from kronbot.description.composing import compose, compose_leniently
from kronbot.description.loading import Description, load
from kronbot.description.shipped import shipped_robots
from kronbot.description.source import Source, read
from kronbot.description.table import read_table

__all__ = [
    "Description",
    "Source",
    "compose",
    "compose_leniently",
    "load",
    "read",
    "read_table",
    "shipped_robots",
]
