"""Answers as text and files: table, JSON and CSV."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

import click
import numpy as np

from kronbot.cli.output.archives import as_mat, as_npz
from kronbot.cli.output.files import heard, save, tell
from kronbot.cli.output.tables import table
from kronbot.compute.arrays import NamedArray, plain
from kronbot.description.wording import listing
from kronbot.errors import UsageError
from kronbot.questions.keeping import gathered, kept
from kronbot.questions.reservations import reservations
from kronbot.questions.result import Outcome, Result, demand_array, joined
from kronbot.questions.tables import summary
from kronbot.system.interruption import Interruptions, interruptions

# What every Python function of a closed form begins with, needed once in a module.
PYTHON_HEAD = "import math\n"
# Numbers that the JSON encoder is given at a time (0.1 s).
PIECE = 50_000
# Those of rows that are one answer, in memory, several times while it is written: 8 bytes each.
NUMBERS = 50_000_000


class TooMuch(UsageError):
    """Rows make more numbers than one answer holds."""


def render(result: Result, style: str, output: str | None, array: str | None) -> None:
    """Print the answer in a style, or write it to a file whose suffix decides."""
    _render(only(result, array), style, output)


def _render(result: Result, style: str, output: str | None) -> None:
    with interruptions() as met, met.telling():
        if output is None:
            with met.saving():
                text = _text(result, style)
            met.hurry()  # nobody may be there who reads
            with heard():
                if text is None:
                    table(result)
                else:
                    click.echo(text, nl=False)
        else:
            with met.saving():
                save(output, WRITERS[Path(output).suffix](result))
                if Path(output).suffix == ".csv" and result.summary:
                    tell(summary(result))  # for which csv has no place
        for reservation in reservations(result):
            tell(f"warning: {reservation}")


def _text(result: Result, style: str) -> str | None:
    """What is printed in a style; None for a table, which is printed as it is made."""
    if style != "table":
        return WRITERS["." + style](result).decode()
    return document(result) if result.source else None


def only(result: Result, array: str | None) -> Result:
    """The answer with that array alone, if one is asked for. Raises UsageError where there is none of that name."""
    if array is None:
        return result
    demand_array(array, result.arrays)
    source = {name: text for name, text in result.source.items() if name == array}
    return replace(result, arrays={array: result.arrays[array]}, series={}, units={}, source=source)


def render_blocks(answers: Iterator[Result], style: str, output: str | None, array: str | None) -> None:
    """The same for an answer in blocks of cases: csv is written block by block, other forms when all is there."""
    first = next(answers)
    if "cases" not in first.summary:
        render(first, style, output, array)
        return
    blocks = (only(block, array) for block in chain([first], answers))
    if style != "csv" if output is None else Path(output).suffix != ".csv":
        outcome = kept(lambda met: _together(met, blocks))
        _render(outcome.result, style, output)
        if outcome.error is not None:
            raise outcome.error
        return
    pieces = _csv_blocks(blocks)
    if output is None:
        with heard():  # of further rows nothing is asked any more
            for piece in pieces:
                click.echo(piece.decode(), nl=False)
        return
    save(output, pieces)


def _together(met: Interruptions, blocks: Iterator[Result]) -> Outcome:
    """The blocks that there are as one answer."""

    def told(found: list[Result]) -> str:
        return f"interrupted after {sum(int(block.summary['cases']) for block in found)} cases"

    found, error = gathered(met, _bounded(blocks), told)
    if isinstance(error, TooMuch):
        raise error
    result = joined(found)
    return Outcome(result if error is None else replace(result, summary={"complete": False, **result.summary}), error)


def _bounded(blocks: Iterable[Result]) -> Iterator[Result]:
    """Raises TooMuch: rows may come from a pipe that never ends."""
    count = 0
    for block in blocks:
        count += sum(array.values.size for array in block.arrays.values())
        if count > NUMBERS:
            cure = "--format csv or -o FILE.csv with --array writes rows as they come"
            raise TooMuch(f"an answer of more than {NUMBERS} numbers does not fit into one piece: {cure}")
        yield block


def _csv_blocks(blocks: Iterator[Result]) -> Iterator[bytes]:
    """The header once, the cases numbered through."""
    done = 0
    for block in blocks:
        shifted = {
            name: replace(each, axis=("case", range(done + 1, done + len(each.values) + 1)))
            for name, each in block.arrays.items()
        }
        text = as_csv(replace(block, arrays=shifted))
        yield text if not done else text.partition(b"\n")[2]
        done += int(block.summary["cases"])


def as_json(result: Result) -> bytes:
    """The JSON contract; one object, strictly JSON."""
    return ("".join(_json(result.to_dict())) + "\n").encode()


def _json(value: object) -> Iterator[str]:
    """JSON text piece by piece, because nothing hears Ctrl-C while the encoder works on one."""
    import json  # here, since tables do without

    if isinstance(value, dict) and value:
        for i, (key, entry) in enumerate(value.items()):
            yield f"{', ' if i else '{'}{json.dumps(key, ensure_ascii=False)}: "
            yield from _json(entry)
        yield "}"
    elif isinstance(value, list) and (size := _entries(value)) > PIECE:
        some = PIECE * len(value) // size  # none where a single one is larger
        for i in range(0, len(value), some or 1):
            yield ", " if i else "["
            if some:
                yield json.dumps(value[i : i + some], allow_nan=False, ensure_ascii=False)[1:-1]
            else:
                yield from _json(value[i])
        yield "]"
    else:
        yield json.dumps(value, allow_nan=False, ensure_ascii=False)


def _entries(value: object) -> int:
    """How many numbers or texts lists hold, all of one shape."""
    return len(value) * _entries(value[0]) if isinstance(value, list) and value else 1


def as_csv(result: Result) -> bytes:
    """The series with a header, or one array: its rows with a first column of their names."""
    import csv

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if result.series:
        writer.writerow(result.series)
        for row in zip(*(column.tolist() for column in map(_clean, result.series.values())), strict=True):
            writer.writerow(row)  # one by one: nothing hears Ctrl-C in one call for all of them
    else:
        if not result.arrays:
            raise UsageError("csv holds a series or an array, and this answer has neither: take --format json")
        demand_one(result.arrays)
        (name,) = result.arrays
        array = result.arrays[name]
        writer.writerows(_csv_rows(name, _parted(array) if np.iscomplexobj(array.values) else array))
    return text.getvalue().encode()


def demand_one(arrays: Iterable[str]) -> None:
    """Raise UsageError where an answer without a series has several arrays, of which csv holds one."""
    names = list(arrays)
    if len(names) > 1:
        raise UsageError(f"csv holds one array: give --array with one of {listing(names)}")


def _parted(array: NamedArray) -> NamedArray:
    """A complex array with a column for each part."""
    parts = np.stack([array.values.real, array.values.imag], axis=-1)
    if array.columns is None:
        return replace(array, values=parts, columns=("real", "imag"))
    columns = tuple(f"{column}.{part}" for column in array.columns for part in ("real", "imag"))
    return replace(array, values=parts.reshape(*parts.shape[:-2], -1), columns=columns)


def _csv_rows(name: str, array: NamedArray) -> Iterator[list[object]]:
    """A matrix with the names of its rows in front; a stack as one row a case, columns NAME[row,column]."""
    values = plain(array.values)
    assert isinstance(values, list)
    if array.axis is None:
        yield ["", *(["value"] if array.columns is None else array.columns)]
        for row, entries in zip(array.rows, values, strict=True):
            yield [row, *(entries if array.columns is not None else [entries])]
        return
    columns = [None] if array.columns is None else array.columns
    yield [array.axis[0], *(f"{name}[{row}{'' if c is None else f',{c}'}]" for row in array.rows for c in columns)]
    for case, entries in zip(array.axis[1], array.values.reshape(len(values), -1), strict=True):
        yield [case, *_clean(entries).tolist()]


def as_tex(result: Result) -> bytes:
    """Closed forms as LaTeX. Raises UsageError where the answer has none."""
    if result.language != "latex":
        raise UsageError("-o FILE.tex is for formulas: add --latex")
    return document(result).encode()


def as_python(result: Result) -> bytes:
    """Closed forms as a Python module. Raises UsageError where the answer has none."""
    if result.language != "python":
        raise UsageError("-o FILE.py is for formulas: add --symbolic python")
    return document(result).encode()


def document(result: Result) -> str:
    """Formulas as one LaTeX display a quantity, or as one Python module."""
    if result.language == "python":
        functions = [text.removeprefix(PYTHON_HEAD).strip("\n") for text in result.source.values()]
        return "\n\n\n".join([PYTHON_HEAD.strip(), *functions]) + "\n"
    where = [
        f"{name.removeprefix('where.')} = {meaning}"
        for name, meaning in result.summary.items()
        if name.startswith("where.")
    ]
    displays = [f"{_tex_name(name)} = {text}" for name, text in result.source.items()] + where
    return "".join(f"\\[\n{display}\n\\]\n" for display in displays)


# Letters that have a command, and derivatives, as a paper writes them.
_SYMBOLS = {name: rf"\{name}" for name in ("alpha", "omega", "tau")} | {"dM": r"\partial M", "dq": r"\partial q"}


def _tex_name(name: str) -> str:
    """J_T as J_{T}, H_T_star as H_{T}^{*}, dM_dq as a fraction of differentials."""
    head, *parts = (_SYMBOLS.get(part, part) for part in name.split("_"))
    if parts == [_SYMBOLS["dq"]]:
        return rf"\frac{{{head}}}{{{parts[0]}}}"
    star = parts[-1:] == ["star"]
    below = ", ".join(
        part if len(part) == 1 else rf"\mathrm{{{part.capitalize()}}}" for part in parts[: len(parts) - star]
    )
    head = head if len(head) == 1 or head.startswith("\\") else rf"\mathrm{{{head}}}"
    return head + (f"_{{{below}}}" if below else "") + ("^{*}" if star else "")


WRITERS: dict[str, Callable[[Result], bytes]] = {
    ".json": as_json,
    ".csv": as_csv,
    ".npz": as_npz,
    ".mat": as_mat,
    ".tex": as_tex,
    ".py": as_python,
}


def _clean(values: np.ndarray) -> np.ndarray:
    return values if values.dtype.kind in "iuUO" else np.asarray(values + 0.0)
