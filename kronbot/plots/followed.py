"""Frequencies over a sweep, each followed by its mode shape: curves of modes that cross do cross."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.complex128]
Followed: TypeAlias = tuple[Vector, list[tuple[int, int]]]
# A share of the largest frequency below which a mode does not swing: its shape is any of a space.
STILL = 1e-9
# What the distance of two frequencies counts against the likeness of their shapes, where these say nothing.
NEARNESS = 1e-3
# Where others are held than before: the share of a shape in what is held, and the MAC, that make it another mode.
# Shapes of two or three blades alone are alike by a half or a third to those of all together.
HELD, ALIKE = 0.25, 0.3


def followed(frequencies: Sequence[Any], shapes: Sequence[Any]) -> Followed:
    """Frequencies (cases, branches), branch k going on with mode k of the first case, NaN where a case has none; and
    where each begins, the case and the place in it.

    Modes that a later case has besides, as where a pair of poles becomes two that are real, are further branches.

    ``frequencies`` and ``shapes`` (``rows``: the coordinates, ``real`` and ``imag``: (rows, modes)) are those of the
    cases in the order of the curve, None where a case has failed. Modes of one case and the next belong together where
    the sum of the MAC, |a* b|^2 / (|a|^2 |b|^2), is largest. Coordinates have units of their own: each is measured by
    its mean square over all shapes that have it, and is 0 where a case holds it. Where a case holds others than the one
    before, modes that are unlike do not go on.
    """
    there = {i: each for i, each in enumerate(zip(frequencies, shapes, strict=True)) if all(each)}
    names = list(dict.fromkeys(name for _, shape in there.values() for name in shape["rows"]))
    forms = {i: _form(shape, names) for i, (_, shape) in there.items()}
    scale = np.ones((len(names), 1))
    for k, row in enumerate(zip(*forms.values(), strict=True)):
        scale[k] = np.sqrt(np.nanmean(np.abs(np.concatenate(row)) ** 2)) or 1.0
    at, begun, found = np.zeros(0), list[tuple[int, int]](), dict[tuple[int, int], float]()
    now, held = np.zeros((len(names), 0), dtype=complex), np.zeros((len(names), 0), dtype=bool)
    for i, form in forms.items():
        value, still = np.asarray(frequencies[i], dtype=float), np.isnan(form)
        unit = np.where(still, 0.0, form / scale)
        unit /= np.maximum(np.linalg.norm(unit, axis=0), np.finfo(float).tiny)
        moved = held.T @ np.abs(unit) ** 2 + np.abs(now.T) ** 2 @ still
        likeness = _likeness(now, at, unit, value) - 2.0 * (moved > HELD)
        pairs = [(k, j) for k, j in _matched(likeness) if likeness[k, j] > ALIKE or (held[:, k] == still[:, j]).all()]
        new = sorted({*range(len(value))} - {place for _, place in pairs})
        pairs += enumerate(new, len(at))
        begun += [(i, place) for place in new]
        at, now, held = np.append(at, value[new]), np.hstack([now, unit[:, new]]), np.hstack([held, still[:, new]])
        for k, place in pairs:
            found[i, k] = at[k] = value[place]
            now[:, k], held[:, k] = unit[:, place], still[:, place]
    table = np.full((len(frequencies), len(begun)), np.nan)
    for where, frequency in found.items():
        table[where] = frequency
    return table, begun


def _likeness(now: Matrix, at: Vector, unit: Matrix, value: Vector) -> Vector:
    """Of branches and modes: the MAC of shapes, less a little for their distance, and 2 where one does not swing."""
    size = max(at.max(initial=0.0), value.max(initial=0.0)) or 1.0
    still = (at <= STILL * size)[:, None] ^ (value <= STILL * size)
    return np.asarray(np.abs(now.conj().T @ unit) ** 2 - NEARNESS * np.abs(at[:, None] - value) / size - 2.0 * still)


def _matched(likeness: Vector) -> list[tuple[int, int]]:
    """Branches that go on, and the places of their modes in the next case."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(likeness, maximize=True)
    return list(zip(rows.tolist(), columns.tolist(), strict=True))


def _form(shape: Mapping[str, Any], names: Sequence[str]) -> Matrix:
    """Shapes over all coordinates, NaN where a case holds one."""
    real = np.asarray(shape["real"], dtype=float)
    form = np.full((len(names), real.shape[1]), np.nan, dtype=complex)
    form[[names.index(name) for name in shape["rows"]]] = real + 1j * np.asarray(shape["imag"])
    return form
