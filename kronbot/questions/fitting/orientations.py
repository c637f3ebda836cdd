"""Measured rotations as trackers and cameras tell them, quaternions or roll, pitch and yaw, as rotation vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from kronbot.description.choices import XYZ
from kronbot.description.wording import listing
from kronbot.errors import UsageError
from kronbot.floats import Array
from kronbot.mechanics.multibody.rotations import rotation_vectors
from kronbot.questions.fitting.attitude import matrices
from kronbot.questions.fitting.data import NOWHERE, Named, Table
from kronbot.records import dataclass


def _of_quaternions(w: Array, x: Array, y: Array, z: Array) -> Array:
    """Rotation vectors (N, 3) of quaternions of any length and either sign."""
    vector = np.stack([x, y, z], axis=1) * np.where(w < 0, -1.0, 1.0)[:, None]
    sine = np.sqrt((vector**2).sum(axis=1))
    angle = 2 * np.arctan2(sine, np.abs(w))
    return np.asarray(vector * np.where(sine > 0, angle / np.where(sine > 0, sine, 1.0), 0.0)[:, None])


def _of_angles(roll: Array, pitch: Array, yaw: Array) -> Array:
    """Rotation vectors (N, 3) of R = Rz(yaw) Ry(pitch) Rx(roll), angles in rad."""
    parts = (matrices(angle[:, None] * np.eye(3)[i]) for i, angle in ((2, yaw), (1, pitch), (0, roll)))
    z, y, x = parts
    return rotation_vectors(z @ y @ x)


# By what columns begin with: how they end, and what makes rotation vectors of them.
WAYS: Mapping[str, tuple[tuple[str, ...], Callable[..., Array]]] = {
    "quaternion": (("w", "x", "y", "z"), _of_quaternions),
    "rpy": (("roll", "pitch", "yaw"), _of_angles),
}


@dataclass(frozen=True)
class Turned:
    """A table in which ``ways`` of frames are replaced by columns ``rotation.FRAME.x``, y and z: those of ``named``."""

    named: Named
    ways: Mapping[str, str]

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.named.table.name

    @property
    def header(self) -> Sequence[str]:
        """Names of the columns."""
        gone = {f"{way}.{frame}.{end}" for frame, way in self.ways.items() for end in WAYS[way][0]} | self.named.spent
        new = [f"rotation.{frame}.{axis}" for frame in self.ways for axis in XYZ]
        return [*(name for name in self.named.names if name not in gone), *new]

    def numbers(self, names: Iterable[str]) -> dict[str, Array]:
        """Some columns. Raises UsageError for quaternions of length 0."""
        wanted = list(names)
        turned = {name: name.split(".", 1)[1].rpartition(".") for name in wanted if name.startswith("rotation.")}
        turned = {name: parts for name, parts in turned.items() if parts[0] in self.ways}
        frames = dict.fromkeys(parts[0] for parts in turned.values())
        needed = [f"{self.ways[frame]}.{frame}.{end}" for frame in frames for end in WAYS[self.ways[frame]][0]]
        found = self.named.numbers([*(name for name in wanted if name not in turned), *needed])
        vectors = {frame: self._vectors(frame, found) for frame in frames}
        made = {name: vectors[frame][:, XYZ.index(axis)] for name, (frame, _, axis) in turned.items()}
        return {name: made[name] if name in made else found[name] for name in wanted}

    def mistaken(self, columns: Mapping[str, str], rows: Mapping[str, int] = NOWHERE) -> UsageError:
        """What is wrong with columns, by name, or in one of their rows; with a rotation where its first part stands."""

        def first(name: str) -> str:
            frame = name.removeprefix("rotation.").rpartition(".")[0]
            made = name.startswith("rotation.") and frame in self.ways
            return f"{self.ways[frame]}.{frame}.{WAYS[self.ways[frame]][0][0]}" if made else name

        told = {first(name): said for name, said in columns.items()}
        return self.named.table.mistaken(told, {first(name): row for name, row in rows.items()})

    def _vectors(self, frame: str, found: Mapping[str, Array]) -> Array:
        way = self.ways[frame]
        ends, of = WAYS[way]
        parts = np.array([found[f"{way}.{frame}.{end}"] for end in ends])
        vectors, there = np.full((parts.shape[1], 3), np.nan), ~np.isnan(parts).any(axis=0)
        if way == "quaternion" and (none := there & ~parts.any(axis=0)).any():
            row, first = int(none.argmax()), f"{way}.{frame}.{ends[0]}"
            told = f"{way}.{frame} is 0 in row {row + 1}; leave the cells empty"
            raise self.named.table.mistaken({first: told}, {first: row})
        vectors[there] = of(*parts[:, there])
        return vectors


def with_rotations(named: Named) -> Named:
    """The same measurements with rotation vectors in place of quaternions and of roll, pitch and yaw.

    Raises UsageError where a part of one is missing, or where a frame has two of them.
    """
    names, ways = named.names, dict[str, str]()
    for name in names:
        way, _, rest = name.partition(".")
        frame = rest.rpartition(".")[0]
        if way not in WAYS or not frame or ways.get(frame) == way:
            continue
        wanted = [f"{way}.{frame}.{end}" for end in WAYS[way][0]]
        if missing := [each for each in wanted if each not in names]:
            raise UsageError(f"{named.table.name}: {way}.{frame} is measured whole: {listing(missing)} is missing")
        if frame in ways or any(f"rotation.{frame}.{axis}" in names for axis in XYZ):
            raise UsageError(f"{named.table.name}: the rotation of {frame} is there twice")
        ways[frame] = way
    if not ways:
        return named
    table: Table = Turned(named, ways)
    return Named(table, {})
