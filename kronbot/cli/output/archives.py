"""Answers as archives: NumPy and MATLAB."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

import numpy as np

from kronbot.compute.arrays import plain
from kronbot.questions.result import Result

# savemat writes the time of day into its first 116 bytes; equal answers have equal bytes.
MAT_HEADER = b"MATLAB 5.0 MAT-file, written by kronbot".ljust(116)


def as_npz(result: Result) -> bytes:
    """NumPy archive: columns of the series, arrays and their axes by name.

    ``summary.json``, ``units.json`` and ``names.json``, of rows and columns, hold JSON text.
    """
    import json
    import zipfile  # here, since few answers are archives

    entries = dict(result.series) | _values(result) | _axes(result)
    for word, content in (("summary", _summary(result)), ("units", _units(result)), ("names", _names(result))):
        if content or word == "summary":
            entries[f"{word}.json"] = np.array(json.dumps(content))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, values in entries.items():
            # Written by hand, since savez takes names as keywords of its own; an entry has no time stamp.
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asarray(values, dtype=_plain_type(values)), allow_pickle=False)
    return buffer.getvalue()


def _plain_type(values: np.ndarray) -> str | None:
    """Text of fixed width for formulas, which NumPy writes without pickling."""
    return "U" if values.dtype.kind == "O" else None


def as_mat(result: Result) -> bytes:
    """MATLAB 5 file: structs ``series``, ``arrays``, ``axes`` of arrays, ``units``, ``summary``, ``at``, ``names``.

    Names of rows and columns, and their units, are cells. A, B, C, D of a state space stand at the top as well.
    Dots and other signs in names become underscores.
    """
    from scipy.io import savemat

    arrays = _values(result)
    units = {name: unit if isinstance(unit, str) else _cells(unit) for name, unit in _units(result).items()}
    groups: dict[str, Mapping[str, object]] = {"series": result.series, "units": units, "arrays": arrays}
    groups |= {"axes": _axes(result), "summary": _summary(result)}
    content: dict[str, object] = {"robot": result.robot, "order": result.order}
    content |= {group: _identifiers(entries) for group, entries in groups.items() if entries}
    if result.at:
        content["at"] = _identifiers({word: _identifiers(point) for word, point in result.at.items()})
    if {"A", "B", "C", "D"} <= arrays.keys():
        content |= {name: arrays[name] for name in "ABCD"}  # where ss(A, B, C, D) looks for them
    names = {name: _cells(each) for name, each in _names(result).items()}
    if names:
        content["names"] = _identifiers(names)

    buffer = io.BytesIO()
    savemat(buffer, content, long_field_names=True, oned_as="column")
    return MAT_HEADER + buffer.getvalue()[len(MAT_HEADER) :]


def _cells(sides: Mapping[str, Sequence[str]]) -> dict[str, object]:
    """Texts of rows and of columns as MATLAB cells."""
    return {side: np.array([*texts, None], dtype=object)[:-1] for side, texts in sides.items()}


def _values(result: Result) -> dict[str, np.ndarray]:
    return {name: array.values for name, array in result.arrays.items()}


def _axes(result: Result) -> dict[str, np.ndarray]:
    """The axes of stacks by name, one for all that share it and none that the series has; NAME.t where that differs."""
    found: dict[str, np.ndarray] = {}
    for name, array in result.arrays.items():
        if array.axis is not None:
            axis, values = array.axis[0], np.asarray(array.axis[1])
            known = {**result.series, **found}.get(axis)
            if known is None or not np.array_equal(known, values):
                found[axis if known is None else f"{name}.{axis}"] = values
    return found


def _units(result: Result) -> dict[str, str | dict[str, list[str]]]:
    return dict(result.units) | {name: array.plain_units for name, array in result.arrays.items()}


def _names(result: Result) -> dict[str, dict[str, list[str]]]:
    """Of the rows and columns of arrays; a vector has none of these."""
    return {
        name: {"rows": list(array.rows), "columns": list(array.columns or ())} for name, array in result.arrays.items()
    }


def _summary(result: Result) -> dict[str, object]:
    return {name: plain(value) for name, value in result.summary.items()}


def _identifiers(entries: Mapping[str, object]) -> dict[str, object]:
    """Names that MATLAB accepts; two that would meet are told apart by a number."""
    result: dict[str, object] = {}
    for name, value in entries.items():
        plain_name = "".join(sign if sign.isascii() and sign.isalnum() else "_" for sign in name)
        plain_name = plain_name if plain_name[:1].isalpha() else f"x_{plain_name}"
        unique, count = plain_name[:60], 1
        while unique in result:
            count += 1
            unique = f"{plain_name[:60]}_{count}"
        result[unique] = value
    return result
