"""Frequencies over a sweep, each followed by its mode shape: curves of modes that cross do cross."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.complex128]
# A share of the largest frequency below which a mode does not swing: its shape is any of a space.
STILL = 1e-9
# What the distance of two frequencies counts against the likeness of their shapes, where these say nothing.
NEARNESS = 1e-3


def followed(frequencies: Sequence[Any], shapes: Sequence[Any]) -> npt.NDArray[np.float64]:
    """Frequencies (cases, modes), column k going on with mode k of the first case; NaN where a case has none.

    Modes that a later case has besides, as where a pair of poles becomes two that are real, are further columns.

    ``frequencies`` and ``shapes`` (rows: coordinates) are those of the cases in the order of the curve, None where a
    case has failed. Modes of one case and the next belong together where the sum of the MAC, |a* b|^2 / (|a|^2 |b|^2),
    is largest. Coordinates have units of their own: each is measured by its mean square over all shapes.
    """
    there: dict[int, tuple[Vector, Matrix]] = {}
    for i, (value, form) in enumerate(zip(frequencies, shapes, strict=True)):
        if value and form:
            there[i] = np.asarray(value, dtype=float), _complex(form)
    if not there:
        return np.full((len(frequencies), 0), np.nan)
    forms = [form for _, form in there.values()]
    if len({len(form) for form in forms}) > 1:  # other coordinates from case to case: by nearness alone
        forms = [np.zeros((1, form.shape[1]), dtype=complex) for form in forms]
    scale = np.sqrt(np.mean(np.abs(np.hstack(forms)) ** 2, axis=1, keepdims=True))
    scale[scale == 0] = 1.0
    at, now = np.zeros(0), np.zeros((len(scale), 0), dtype=complex)
    found = np.full((len(frequencies), max(len(value) for value, _ in there.values())), np.nan)
    for (i, (value, _)), form in zip(there.items(), forms, strict=True):
        unit = form / scale
        unit = unit / np.maximum(np.linalg.norm(unit, axis=0), np.finfo(float).tiny)
        pairs = _matched(now, at, unit, value)
        new = sorted({*range(len(value))} - {place for _, place in pairs})
        pairs += enumerate(new, len(at))
        at, now = np.append(at, value[new]), np.hstack([now, unit[:, new]])
        for k, place in pairs:
            found[i, k] = at[k] = value[place]
            now[:, k] = unit[:, place]
    return found


def _matched(now: Matrix, at: Vector, unit: Matrix, value: Vector) -> list[tuple[int, int]]:
    """Modes that go on, and their places in the next case."""
    from scipy.optimize import linear_sum_assignment

    size = max(at.max(initial=0.0), value.max(initial=0.0)) or 1.0
    likeness = np.abs(now.conj().T @ unit) ** 2 - NEARNESS * np.abs(at[:, None] - value) / size
    still = (at <= STILL * size)[:, None] ^ (value <= STILL * size)
    rows, columns = linear_sum_assignment(likeness - 2.0 * still, maximize=True)
    return list(zip(rows.tolist(), columns.tolist(), strict=True))


def _complex(values: object) -> Matrix:
    if isinstance(values, dict):
        return np.asarray(values["real"]) + 1j * np.asarray(values["imag"])
    return np.asarray(values, dtype=complex)
