"""Random trees that follow the schema, so that a good part of them are robots.

A tree is text (a scalar as it is written in the file), a list, or ``Entries``.
"""

import types
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Annotated, Literal, Union, get_args, get_origin

from kronbot.description import schema
from kronbot.description.expressions.expression import Expression
from kronbot.description.validation import hints_of


class Entries(list):
    """A mapping as a list of [key, value], because a broken file may hold a key twice."""


@cache
def known_keys():
    """Every key of the format."""
    found = {}

    def walk(hint):
        if isinstance(hint, type) and is_dataclass(hint) and hint is not Expression and hint not in found:
            found[hint] = format_of(hint)
            for inner in found[hint].values():
                walk(inner)
        for argument in get_args(hint):
            walk(argument)

    walk(schema.RobotFile)
    return sorted({key for keys in found.values() for key in keys})


@cache
def format_of(described):
    """Types of a dataclass of the schema by the key in the file."""
    hints = hints_of(described)
    aliases = {
        name: next((entry.alias for entry in getattr(hint, "__metadata__", ()) if getattr(entry, "alias", None)), name)
        for name, hint in hints.items()
    }
    return {aliases[item.name]: hints[item.name] for item in fields(described)}


EXCLUSIVE = (("dh", "pose"), ("rigid", "flexible"), ("torque", "motion", "pd"), ("ratio", "alpha", "beta"))
USUAL = {schema.Flexible: {"mass", "EI", "GJ"}, schema.BendingStiffness: {"y", "z"}, schema.Joint: {"type"}}
TEXTS = {"file": ("table.csv", "table.csv", "nosuch.csv", "../table.csv"), "description": ("any text",)}
VALUES = ("1", "0.3", "2.5", "pi/6", "pi/2", "EI", "2*m", "1e-3", "12", "m/3 + 1")


class Grammar:
    """A random tree that follows the schema, so that a good part of them are robots."""

    def __init__(self, random):
        self.random = random
        self.names = {"Link": [], "Joint": [], "Gauge": []}

    def robot(self):
        """A whole file."""
        tree = dict(self.mapping(schema.RobotFile))
        tree["parameters"] = Entries([["EI", "12"], ["m", self.random.choice(("2", "EI/7", ""))]])
        for link in map(dict, tree["links"]):
            row, beam = dict(link.get("dh", [])), link.get("flexible")
            if beam and row and tree.get("convention") == "standard":
                beam[:] = [entry for entry in beam if entry[0] not in ("length", "root")]
                next(entry for entry in link["dh"] if entry[0] == "a")[1] = "1.5"
            elif beam and "length" not in dict(beam):
                beam.append(["length", "1.5"])
        return Entries(map(list, tree.items()))

    def mapping(self, described):
        """The entries of one dataclass of the schema: what is required, and some of the rest."""
        hints = format_of(described)
        items = zip(fields(described), hints, strict=True)
        needed = {key for item, key in items if item.default is item.default_factory}
        needed |= USUAL.get(described, set())
        rest = [key for key in hints if key not in needed | {"type"} and self.random.random() < 0.4]
        chosen = {*needed, *rest, *({"type"} & hints.keys())}
        if described is schema.Link:
            chosen |= {"dh", "flexible"} if self.random.random() < 0.6 else {"pose", "rigid"}
        for group in EXCLUSIVE:
            several = [key for key in group if key in chosen]
            chosen -= set(several) - {self.random.choice(several)} if len(several) > 1 else set()
        if described is schema.Joint:
            chosen -= {"name", "limits"}
        entries = {key: self.value(hint, described, key) for key, hint in hints.items() if key in chosen}
        if described is schema.Joint and entries["type"] != "fixed":
            entries["name"] = self.text("Joint", "name")
        return Entries(map(list, entries.items()))

    def value(self, hint, owner, key):
        """A value of a type of the schema."""
        origin = get_origin(hint)
        arguments = [argument for argument in get_args(hint) if argument is not types.NoneType]
        if origin is Annotated:
            return self.value(arguments[0], owner, key)
        if origin in (Union, types.UnionType):
            return self.value(self.random.choice(arguments), owner, key)
        if origin is Literal:
            return self.random.choice(arguments)
        if origin is tuple:
            size = len(arguments) if arguments[-1] is not ... else self.random.choice((1, 2, 3, 5))
            return [self.value(arguments[0], owner, key) for _ in range(size)]
        if origin is dict:
            names = self.names["Joint"]
            chosen = self.random.sample(names, self.random.randrange(len(names) + 1))
            return Entries([name, self.value(arguments[1], owner, key)] for name in chosen)
        if hint is Expression:
            return self.random.choice(VALUES)
        if hint is int:
            return {"kronbot": "1", "degree": "5"}.get(key) or self.random.choice("00112")
        return self.mapping(hint) if is_dataclass(hint) else self.text(owner.__name__, key)

    def text(self, owner, key):
        """A new name, or one that is there already where a reference is wanted."""
        if key == "name" and owner in self.names:
            self.names[owner].append(f"{owner[0].lower()}{len(self.names[owner]) + 1}")
            return self.names[owner][-1]
        links = self.names["Link"]
        if key == "parent":
            return self.random.choice(["base", *links[:-1]])
        if key in ("link", "frame"):
            return self.random.choice(links)
        return self.random.choice(TEXTS.get(key, ("text",)))
