"""Robots that were asked before: their models, and all that was traced of them, kept from process to process.

An entry is found by the text of the robot file, the values that took the place of the file's, and the order; by the
versions of kronbot and of all that computes, down to the processor, whose kind decides last bits. It is trusted as
compiled functions are, and stands beside them (:mod:`kronbot.compute.native.cache`): a pickle may be any program. What
is not what was stored, or is of another kronbot, is as if there was none. Answers have the same bytes without it.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import sys
from collections.abc import Iterator, Mapping, Sequence
from copyreg import __newobj__ as made_of  # type: ignore[attr-defined]
from dataclasses import fields, replace
from functools import cache
from importlib.util import find_spec
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kronbot.compute.closures import reduced
from kronbot.compute.native import policy
from kronbot.errors import said
from kronbot.records import dataclass
from kronbot.version import __version__

if TYPE_CHECKING:
    from kronbot.description import Description, Source
    from kronbot.model.robot import Robot

SUFFIX = "robot"
# Nodes of all expressions and instructions of all functions of a robot that is kept: to read more takes longer than a
# short command of it, whatever that asks (1 us each; to keep them takes as long).
MOST_NODES = 100_000
# Whose classes and functions entries are made of.
OURS = ("kronbot", "numpy", "ast", "_ast")
OTHERS = {
    *(("builtins", name) for name in ("set", "frozenset", "slice", "range", "complex", "object")),
    *(
        ("functools", "partial"),
        ("functools", "cache"),
        ("fractions", "Fraction"),
        ("pathlib", "PosixPath"),
        ("copyreg", "_reconstructor"),
    ),
}
# What decides how NumPy computes.
SETTINGS = ("OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NPY_DISABLE_CPU_FEATURES")


@dataclass
class Memory:
    """What a process knows of robots that were asked before, and has learnt of those that it asks; only the command
    line has one, and begins it: a process that does nothing else, and ends."""

    begun: bool = False

    def __post_init__(self) -> None:
        self._met: list[tuple[str, Robot, int]] = []

    def recall(self, source: Source, settings: Mapping[str, str], order: str) -> Robot | None:
        """The model of a robot as an earlier process has left it, None where none has."""
        if not self.begun or policy.choice() == "off":
            return None
        for key, changed in _keys(source, settings, order):
            robot = _read(key)
            if robot is not None and robot.description.source == source:
                self._met.append((key, robot, _made()))
                if not changed:
                    return robot
                from kronbot.description.described import with_overrides
                from kronbot.model.build import with_values

                return with_values(robot, with_overrides(robot.description, changed))
        return None

    def built(self, described: Description, settings: Mapping[str, str], order: str) -> Robot:
        """The model of a robot that was just read, by way of one whose file differs in values of parameters, comments
        and layout only, where one is known; to be kept, but where the file names others, which may change."""
        from kronbot.model.build import build, with_values

        if not self.begun or policy.choice() == "off" or described.tables:
            return build(described, order)
        known = _read(_structure_key(described, order))
        robot = build(described, order) if known is None else with_values(known, described)
        self._met.append((next(_keys(described.source, settings, order))[0], robot, -1))
        return robot

    def keep(self) -> None:
        """Keep what is new for later processes. Never raises: where it cannot be kept, it is traced again."""
        for key, robot, before in self._met:
            if _made() == before:
                continue
            try:
                _write((key, _structure_key(robot.description, robot.order)), robot)
            except Exception as error:  # of whatever kind: the answer is there already
                policy.noted(f"robot not remembered: {said(error)}")


def _made() -> int:
    from kronbot.model.structure import Structure

    return Structure.made


def _structure_key(described: Description, order: str) -> str:
    """The same for robots whose files differ in values of parameters, comments and layout only."""
    robot = replace(described.robot, parameters=dict.fromkeys(described.robot.parameters))
    return hashlib.sha256(repr((_versions(), order, robot)).encode(errors="surrogatepass")).hexdigest()


def _keys(source: Source, settings: Mapping[str, str], order: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    """By which a robot is found, with the values that it still has to get: with them, and without any."""
    about = repr((_versions(), source.name, source.folder and source.folder.absolute(), order))
    for known, changed in (dict(settings), {}), ({}, settings):
        text = f"{about}\n{sorted(known.items())}\n{source.text}"
        yield hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest(), changed
        if not settings:
            return


@cache
def _versions() -> tuple[object, ...]:
    """Of all that makes a model: programs by their files, since those of a kronbot at work change between releases."""
    package = Path(__file__).parents[1]
    system = getattr(os, "uname", lambda: sys.platform)()
    found: list[object] = [__version__, sys.version, system, [os.environ.get(name) for name in SETTINGS]]
    found.append((str(package), *_stamps(str(package))))
    for name in ("casadi", "numpy"):
        spec = find_spec(name)
        origin = spec and spec.origin
        found.append((origin, origin and _stamp(os.stat(origin)), origin and _stamp(os.stat(os.path.dirname(origin)))))
    try:
        with open("/proc/cpuinfo", "rb", buffering=0) as file:
            lines = file.read(8192).splitlines()
    except OSError:  # as on macOS
        lines = []
    kinds = (b"model name", b"flags", b"Features", b"CPU part")
    found.append([line for line in lines if line.startswith(kinds)][: len(kinds)])
    return tuple(found)


def _stamps(folder: str) -> Iterator[tuple[str, int, int]]:
    """Of all modules in a folder."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.name.endswith(".py"):
            yield (entry.name, *_stamp(entry.stat()))
        elif entry.name != "__pycache__" and entry.is_dir():
            yield from _stamps(entry.path)


def _stamp(found: os.stat_result) -> tuple[int, int]:
    return found.st_mtime_ns, found.st_size


def _read(key: str) -> Robot | None:
    from kronbot.compute.native.cache import Cache, folder

    try:
        with Cache(folder()) as stored:
            content = stored.content(key, SUFFIX)
        return None if content is None else _model(content)
    except FileNotFoundError:  # nothing was ever kept
        return None
    except Exception as error:  # of whatever kind: it is built anew
        policy.noted(f"remembered robot passed over: {said(error)}")
        return None


def _write(keys: Sequence[str], robot: Robot) -> None:
    from kronbot.compute.native.cache import Cache, folder

    content = _content(robot)
    if content is None:
        return
    with Cache(folder(), create=True) as stored:
        for key in keys:
            with stored.turn(key, 0.0), stored.build_folder(key) as place:
                stored.store(key, content, place, SUFFIX)
        stored.evict()


def _content(robot: Robot) -> bytes | None:
    """A robot as bytes, None where it is too large."""
    import casadi

    from kronbot.compute.native.cost import instructions

    stream = io.BytesIO()
    writer = _Writer(stream)
    writer.dump(robot)
    nodes = casadi.n_nodes(casadi.veccat(*writer.expressions)) + sum(map(instructions, writer.functions))
    if nodes > MOST_NODES:
        return None
    pack = casadi.StringSerializer()
    pack.pack(writer.expressions)
    texts = [pack.encode(), *(each.serialize() for each in writer.functions)]
    return _joined([stream.getvalue(), *(text.encode() for text in texts)])


def _model(content: bytes) -> Robot:
    import casadi

    from kronbot.model.robot import Robot

    tree, expressions, *functions = _parts(content)
    found = _Reader(
        io.BytesIO(tree),
        casadi.StringDeserializer(expressions.decode()).unpack(),
        [casadi.Function.deserialize(text.decode()) for text in functions],
    ).load()
    if not isinstance(found, Robot):
        raise pickle.UnpicklingError("no robot")
    return found


def _joined(parts: Sequence[bytes]) -> bytes:
    return b" ".join(b"%d" % len(part) for part in parts) + b"\n" + b"".join(parts)


def _parts(content: bytes) -> Iterator[bytes]:
    """What was joined. Raises ValueError where it cannot be."""
    sizes, _, rest = content.partition(b"\n")
    ends = list(accumulate(map(int, sizes.split()), initial=0))
    if ends[-1] != len(rest):
        raise ValueError("not as long as it says")
    return (rest[start:end] for start, end in pairwise(ends))


class _Writer(pickle.Pickler):
    """Leaves expressions, whose symbols are one in all of them, and functions to CasADi."""

    def __init__(self, stream: io.BytesIO) -> None:
        from casadi import SX, Function

        from kronbot.description import Description
        from kronbot.description.wording import Entries
        from kronbot.model.robot import Robot
        from kronbot.model.shared import Relatives

        super().__init__(stream, pickle.HIGHEST_PROTOCOL)
        self.expressions: list[SX] = []
        self.functions: list[Function] = []
        self._kinds: tuple[tuple[type, str, list[Any]], ...] = (
            (SX, "expression", self.expressions),
            (Function, "function", self.functions),
        )
        self._places: dict[int, tuple[str, int]] = {}
        self._description, self._robot, self._entries, self._relatives = Description, Robot, Entries, Relatives

    def persistent_id(self, value: Any) -> tuple[str, int] | None:
        """The place of an expression or a function among those of its kind."""
        for kind, word, held in self._kinds:
            if isinstance(value, kind):
                if id(value) not in self._places:
                    self._places[id(value)] = word, len(held)
                    held.append(value)
                return self._places[id(value)]
        return None

    def reducer_override(self, value: Any) -> Any:
        """Descriptions and models as they are, and their entries, which nobody can change; functions within others."""
        if isinstance(value, self._entries):
            return type(value), ({**value},)
        if isinstance(value, self._description):
            state = {each.name: getattr(value, each.name) for each in fields(value)}
            return made_of, (type(value),), state
        if isinstance(value, self._robot):
            return made_of, (type(value),), {**vars(value), "relatives": self._relatives()}
        return reduced(value)


class _Reader(pickle.Unpickler):
    def __init__(self, stream: io.BytesIO, expressions: list[object], functions: list[object]) -> None:
        super().__init__(stream)
        self._held = {"expression": expressions, "function": functions}

    def persistent_load(self, place: tuple[str, int]) -> object:
        """The expression or function of that place."""
        return self._held[place[0]][place[1]]

    def find_class(self, module: str, name: str) -> Any:
        """What entries are made of, and nothing else."""
        if module.partition(".")[0] not in OURS and (module, name) not in OTHERS:
            raise pickle.UnpicklingError(f"{module}.{name} is no part of a robot")
        return super().find_class(module, name)


MEMORY = Memory()
