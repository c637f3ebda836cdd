"""A robot file that is right, as it was read; what reads it is imported when it is read again."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, cast

from kronbot.cached import cached_property
from kronbot.description.expressions.expression import Expression, PiLinear, exact_values
from kronbot.description.schema import RobotFile
from kronbot.description.wording import Entries, listing
from kronbot.description.yaml.source import Source
from kronbot.errors import DescriptionError, Mistake
from kronbot.kinds import is_a
from kronbot.records import dataclass
from kronbot.system.sealed import seal

if TYPE_CHECKING:
    from kronbot.description.checks.judgements import Judgements
    from kronbot.description.table import Table
    from kronbot.description.yaml.nodes import Node, Path


# What reads files stands above what it has read, and is found by its name when one is read again.
READER = "kronbot.description.loading"
# What a fit reads, in words.
MEASURED, VALIDATING = "the file of measurements", "the file to validate with"


class _Values(Entries):
    __slots__ = ()
    what = "parameter"


@dataclass(frozen=True, repr=False, eq=False)
class Description:
    """A robot file that is right.

    ``values`` are the parameters' values, None for those that are free or depend on a free one; ``warnings`` are
    things that are allowed and look wrong; ``overrides`` are the expressions that took the place of the file's,
    ``motion`` is the text that took the place of the file's; ``tables`` are the CSV files that it names, by name.
    """

    robot: RobotFile
    values: Mapping[str, float | None]
    warnings: tuple[Mistake, ...]
    source: Source
    overrides: Mapping[str, str]
    motion: str | None = None
    tables: Mapping[str, Table] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Make its mappings read-only."""
        object.__setattr__(self, "values", _Values(self.values))
        for name in ("overrides", "tables"):
            object.__setattr__(self, name, Entries(getattr(self, name)))

    def __repr__(self) -> str:
        """Which robot, and where it is written."""
        return f"<description of {self.robot.name}, {self.source.name}>"

    @property
    def files(self) -> Iterator[tuple[PurePath, str]]:
        """Where what it was read from stands, in words: its file, its tables and measurements; nothing of a text."""
        place = self.source.place
        if place is not None:
            yield place / PurePath(self.source.name).name, "the robot file"
            yield from ((place / name, "a table of the robot") for name in self.tables)
            if self.robot.fit is not None:
                named = {self.robot.fit.data: MEASURED, self.robot.fit.validate: VALIDATING}
                yield from ((place / name, what) for name, what in named.items() if name is not None)

    @cached_property
    def useless(self) -> tuple[Mistake, ...]:
        """The warning that nothing in the file depends on some parameters, at the place of the first; else nothing."""
        if not (names := self.unused):
            return ()
        what = f"parameter{'s' if len(names) > 1 else ''} {listing(names)}"
        return placed(self, [(("parameters", names[0]), f"nothing in this file depends on the {what}", True)])

    @cached_property
    def identity(self) -> Hashable:
        """Equal for equal robots: text, motion, contents of tables, and values, with pi as what it is."""
        exact, _ = exact_values(self.robot.parameters)
        values = tuple(
            value.rational if isinstance(value, PiLinear) and not value.pi else value for value in exact.values()
        )
        tables = tuple(sorted((name, table.text) for name, table in self.tables.items()))
        return self.source.text, self.motion, tables, values

    def __eq__(self, other: object) -> bool:
        return self.identity == other.identity if is_a(other, Description) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.identity)

    def __reduce__(self) -> tuple[object, ...]:
        """For pickle: read again from the texts, which nothing is beside."""
        source = replace(self.source, folder=self.source.place or self.source.folder)
        return import_module(READER).again, (
            self.checksum,
            source,
            dict(self.overrides),
            self.motion,
            dict(self.tables),
        )

    @cached_property
    def checksum(self) -> str:
        """Of all that is read."""
        return checksum(self.source, self.overrides, self.motion, self.tables)

    @cached_property
    def tree(self) -> Node:
        """What the file says."""
        from kronbot.description.yaml.composing import compose_leniently

        return compose_leniently(self.source)[0]

    @cached_property
    def judgements(self) -> tuple[Judgements, ...]:
        """What the checks say of it, at last, and before that with the motion in the place of its own."""
        return cast("tuple[Judgements, ...]", import_module(READER).judgements_of(self))

    @cached_property
    def quantities(self) -> tuple[Expression, ...]:
        """What depends on parameters, but for their definitions."""
        return cast("tuple[Expression, ...]", import_module(READER).quantities_of(self))

    @cached_property
    def unused(self) -> tuple[str, ...]:
        """Parameters that nothing in the file depends on."""
        return cast("tuple[str, ...]", import_module(READER).unused_of(self))


# No methods: who uses the library reaches a description by its robot, and finds there what it holds.
def with_overrides(described: Description, changed: Mapping[str, str]) -> Description:
    """The same file with other expressions in some more of its parameters. Raises like :func:`load`.

    What was read is kept: parameters are resolved, and what depends on values is judged again. Where it is wrong,
    loading has the words.
    """
    return cast("Description", import_module(READER).overriding(described, changed))


def mistaken(described: Description, wrong: Iterable[tuple[Path, str, bool]]) -> DescriptionError:
    """What somebody finds wrong who uses the file: paths, what is wrong there, and whether it is the key."""
    return DescriptionError(placed(described, wrong))


def placed(described: Description, told: Iterable[tuple[Path, str, bool]]) -> tuple[Mistake, ...]:
    """What is said of places in the file: paths, what is said, and whether of the key; with lines, in order."""
    from kronbot.description.checks.report import Report
    from kronbot.description.mistakes import first_of, with_lines

    report = Report(described.source.name, described.tree)
    for path, message, of_key in told:
        (report.key if of_key else report.value)(path, message)
    return with_lines(first_of(report.found), described.source.text.splitlines())


def checksum(source: Source, overrides: Mapping[str, str], motion: str | None, tables: Mapping[str, Table]) -> str:
    """The sum over texts that make a description."""
    texts = {name: table.text for name, table in tables.items()}
    return seal(source.name, source.text, dict(overrides), motion, texts)
