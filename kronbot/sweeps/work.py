"""The work of a sweep as workers get it: a robot, a question, cases and what to keep; rows come back as text."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import platform
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple, Protocol

from kronbot.cached import cached_property
from kronbot.compute.native import policy
from kronbot.description.wording import Entries
from kronbot.errors import KronbotError, Starved, UsageError
from kronbot.model.robot import Robot
from kronbot.questions.columns import unit_of_kept
from kronbot.questions.doubts import Doubt, Doubts, kind
from kronbot.questions.keeping import SO_FAR
from kronbot.questions.reservations import reservations
from kronbot.questions.result import Result
from kronbot.records import dataclass
from kronbot.sweeps.cases import Cases
from kronbot.sweeps.kept import Kept
from kronbot.sweeps.names import Meaning, placed
from kronbot.version import __version__

_encoded = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
# Simulations that pay for the best native code, whose compilation takes as long as some of them.
RUNS = 20
# What numbers depend on.
LIBRARIES = ("casadi", "numpy", "scipy")


class Case(NamedTuple):
    """One robot and one question: values of parameters by name, and arguments of the question by those of the library.

    Values are numbers or expressions, as everywhere in the library.
    """

    parameters: Mapping[str, object]
    arguments: Mapping[str, object]


class Subject(Protocol):
    """A robot that answers a question in many cases, in their order: as each alone would be answered, bit for bit."""

    @property
    def model(self) -> Robot:
        """Its model."""

    def answers(self, question: str, cases: Sequence[Case]) -> Iterator[Result | KronbotError]:
        """The answers, or the errors in their place."""


class Done(NamedTuple):
    """A chunk of cases that is computed: its rows as lines of JSON, how many cases failed, how long (s) it took.

    ``refused`` is what a UsageError said of its first case, ``interpreted`` why there was no native code, ``doubts``
    are the warnings of its cases, each kind once. ``starved`` has cases that failed of the machine, not of the robot.
    """

    start: int
    stop: int
    text: bytes
    failed: int
    seconds: float = 0.0
    refused: tuple[object, ...] | None = None
    interpreted: str | None = None
    doubts: tuple[Doubt, ...] = ()
    starved: bool = False


@dataclass(frozen=True)
class Task:
    """A sweep: what is asked of which robot, and what is kept of the answers; errors in the words of whoever asks."""

    robot: Subject
    question: str
    arguments: Mapping[str, object]
    cases: Cases
    meanings: Sequence[Meaning]
    kept: Kept
    words: Callable[[KronbotError], str] = str

    @property
    def key(self) -> dict[str, object]:
        """What tells this sweep from others, part by part, as JSON has it: not who computes it, nor where it goes."""
        robot = self.robot.model
        told = robot.description
        tables = sorted((name, table.text) for name, table in told.tables.items())
        content = [told.source.text, told.motion, tables, sorted(told.overrides.items()), robot.order]
        parts = {
            "robot": hashlib.sha256(json.dumps(content).encode()).hexdigest(),
            "question": self.question,
            "options": dict(self.arguments),
            "cases": self.cases.key,
            "columns": self.kept.header,
            "versions": versions(),
        }
        found: dict[str, object] = json.loads(json.dumps(parts))
        return found

    @staticmethod
    def columns_told(key: object) -> list[str]:
        """The columns of the sweep that a key, read from somewhere, tells of, whichever version of kronbot has
        written it; none where it is no key."""
        match key:
            case {
                "robot": str(robot),
                "question": str(),
                "options": dict(),
                "cases": list(),
                "columns": [*columns],
                "versions": {"kronbot": str()},
            } if re.fullmatch("[0-9a-f]{64}", robot) and all(isinstance(name, str) for name in columns):
                return columns
        return []

    @cached_property
    def units(self) -> Mapping[str, str]:
        """Those of columns, as far as they are known: nobody knows those of parameters, whatever these are called."""
        own = {name for name, of in zip(self.cases.names, self.meanings, strict=True) if of.argument is None}
        numbers = {column.name for column in self.kept.columns if column.kind == "number"}
        names = (name for name in self.kept.header if name not in own)
        found = {name: unit for name in names if (unit := unit_of_kept(self.robot.model, name, name in numbers))}
        return Entries(found | dict(self.kept.units))

    def asked(self, start: int, stop: int) -> list[Case]:
        """Cases start ... stop - 1 (from 0)."""
        return [Case(*placed(self.arguments, self.meanings, row)) for row in self.cases.rows(start, stop)]

    def done(self, start: int, stop: int) -> Done:
        """The rows of cases start ... stop - 1 (from 0)."""
        begun = time.perf_counter()
        values, cases = self.cases.rows(start, stop), self.asked(start, stop)
        lines: list[str] = []
        failed, refused, doubts, starved = 0, None, Doubts(self._told), False
        answers = self.robot.answers(self.question, cases)
        for i, (row, answer) in enumerate(zip(values, answers, strict=True), start):
            try:
                if isinstance(answer, KronbotError):
                    raise answer
                unseen = self.kept.beside(answer)
                found = [line([i + 1, *row, *cells, None, *unseen]) for cells in self.kept.cells(answer)]
                doubts.of_case(i + 1, _doubts(answer))
            except (KronbotError, ValueError) as error:  # a number that is not finite is no JSON
                failed += 1
                starved |= isinstance(error, Starved)
                if i == start and isinstance(error, UsageError):
                    refused = error.args
                told = self.words(error).partition(SO_FAR)[0] if isinstance(error, KronbotError) else str(error)
                found = [self.failed(i, told, row)]
            lines += found
        seconds, text = time.perf_counter() - begun, "".join(lines).encode()
        return Done(start, stop, text, failed, seconds, refused, doubts=tuple(doubts.kinds.values()), starved=starved)

    @cached_property
    def _told(self) -> frozenset[str]:
        """Kinds of warnings about the file, which whoever has read it knows."""
        return frozenset(kind(str(each)) for each in self.robot.model.description.warnings)

    def failed(self, place: int, message: str, values: Sequence[object] | None = None) -> str:
        """The row of a case (from 0) without an answer."""
        own = self.cases.rows(place, place + 1)[0] if values is None else values
        return line([place + 1, *own, *[None] * len(self.kept.columns), " ".join(message.split())])


def _doubts(answer: Result) -> Iterator[str]:
    """What a single command would have said of its robot and its answer."""
    if isinstance(answer.about, Robot):
        yield from map(str, answer.about.description.warnings)
    yield from answer.warnings
    yield from reservations(answer)


def line(row: list[object]) -> str:
    """A row as text."""
    return _encoded(row) + "\n"


def versions() -> dict[str, str]:
    """Of all that numbers depend on."""
    return {"python": platform.python_version(), "kronbot": __version__} | {name: _version(name) for name in LIBRARIES}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        # Folders that cannot be listed for want of descriptors are taken for empty ones: then this fails, too.
        os.close(os.dup(1))
        raise


@dataclass(frozen=True)
class Parcel:
    """A task on its way to workers: bytes, which those take apart alone whose versions are the same.

    They use native code as whoever packs it has chosen, and in any case where so many runs are to come that the best
    there is pays; the first of them compiles it, the others find it.
    """

    versions: Mapping[str, str]
    digest: str
    content: bytes
    native: str
    many_runs: bool = False

    @classmethod
    def of(cls, task: Task) -> Parcel:
        """The task, packed."""
        content = pickle.dumps(task)
        many_runs = task.question == "simulate" and task.cases.count >= RUNS
        return cls(versions(), hashlib.sha256(content).hexdigest(), content, policy.choice(), many_runs)

    def done(self, start: int, stop: int) -> Done:
        """The rows of cases start ... stop - 1 (from 0), where a worker is."""
        why: list[str] = []
        with policy.native("on" if self.many_runs and self.native == "auto" else self.native, why.append):
            done = self.task().done(start, stop)
        return done._replace(interpreted=why[0]) if why and self.native == "on" else done

    def task(self) -> Task:
        """The task, unpacked once in a process. Raises UsageError that names both versions where they differ."""
        found = _unpacked.get(self.digest)
        if found is None:
            own = versions()
            if own != dict(self.versions):
                different = [
                    f"{name} {self.versions.get(name)} here and {own.get(name)} there"
                    for name in own
                    if own[name] != self.versions.get(name)
                ]
                raise UsageError(f"a worker has other versions: {', '.join(different)}")
            _unpacked.clear()  # threads of a cluster may be at one each
            found = _unpacked[self.digest] = pickle.loads(self.content)
        return found


_unpacked: dict[str, Task] = {}
