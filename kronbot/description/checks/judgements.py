"""What the checks of numbers have found in a tree, part by part: of other values only what has read them is judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, NamedTuple

from kronbot.description.checks.report import Report, View
from kronbot.description.yaml.nodes import Node
from kronbot.errors import Mistake

Values = Mapping[str, float | None]


class _Part(NamedTuple):
    """A part of the checks: what it was called with, the parameters whose values it has read, what it has told."""

    judge: Callable[..., None]
    given: tuple[Any, ...]
    read: frozenset[str]
    told: list[Mistake]


class _Watched(dict[str, float | None]):
    """Values that know who has read them."""

    def __init__(self, values: Values) -> None:
        super().__init__(values)
        self.read: set[str] = set()
        self.parts: list[_Part] = []
        self.within = False

    def get(self, name: str, default: Any = None) -> float | None:
        self.read.add(name)
        return super().get(name, default)


def part(judge: Callable[..., None]) -> Callable[..., None]:
    """A part of the checks, which is done again by itself where a value has changed that it has read.

    It is given views, the first of all, and what depends on no value or is read outside of all parts.
    """

    @wraps(judge)
    def judged(*given: Any) -> None:
        report, values = given[0].report, given[0].values
        if not isinstance(values, _Watched) or values.within:
            judge(*given)
            return
        assert all(isinstance(each, View | str | float | bool | None) for each in given), judge
        outside, values.read, values.within, before = values.read, set(), True, len(report.warnings)
        judge(*given)
        values.parts.append(_Part(judge, given, frozenset(values.read), report.warnings[before:]))
        values.read, values.within = outside, False

    return judged


class Judgements:
    """What ``check`` says of a tree that is right at some values."""

    def __init__(self, check: Callable[[View], None], name: str, root: Node, values: Values) -> None:
        self._check, self._name, self._root = check, name, root
        report, watched = Report(name, root), _Watched(values)
        check(View(report, watched, (), root))
        self._values, self._parts = dict(values), watched.parts
        in_parts = [told for each in watched.parts for told in each.told]
        # What is told outside of the parts might have to be told again.
        self._outside = watched.read if in_parts == report.warnings else set(values)

    def at(self, values: Values) -> Report:
        """The same at other values: mistakes, perhaps without all that follow from the first, and warnings."""
        report = Report(self._name, self._root)
        changed = {name for name, value in values.items() if value != self._values[name]}
        if changed & self._outside:
            self._check(View(report, values, (), self._root))
            return report
        for judge, given, read, told in self._parts:
            if read.isdisjoint(changed):
                report.warnings += told
            else:
                views = (View(report, values, v.path, v.node) if isinstance(v, View) else v for v in given)
                judge(*views)
        return report
