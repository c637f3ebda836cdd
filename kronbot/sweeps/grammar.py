"""How people write what varies: ``from:to:N``, lists, distributions, files of cases."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from kronbot.description import csv_lines
from kronbot.description.csv_lines import UNDECODED, Line
from kronbot.description.expressions.expression import FUNCTIONS, ExpressionError, evaluate, parse
from kronbot.description.mistakes import Mistakes, first_of
from kronbot.description.wording import quote
from kronbot.errors import Argument, CasesError, Mistake, UsageError
from kronbot.sweeps.cases import DISTRIBUTIONS, Cases, Distribution, Draws, Factor, Numbers, Range, Read, Table, Value

# Different texts of a file of cases: expressions, and words, which are few.
WORDS = 100_000
_WHOLE, _ZERO = re.compile(r"[-+]?[0-9]{1,15}"), re.compile(r"[-+]?[0.]+")
# A cell that holds such a sign is not empty.
_SAID = re.compile(r'[^\s,"]')
_DECIMALS = re.compile(r"[-+.eE0-9]*")
_CALL = re.compile(r"\s*([a-z]+)\s*\((.*)\)\s*")
# Frames whose names look like ranges.
_FRAME = re.compile(r"\s*(com:[^:,]+|[^:,]+:root)\s*")


def cases(
    over: Mapping[str, object],
    table: Mapping[str, Sequence[object]] | None,
    sample: int | None,
    seed: int,
    indices: bool,
) -> Cases:
    """All that is varied: the table slowest, then ranges and lists as they come, draws fastest."""
    factors: list[Factor] = []
    drawn: dict[str, Distribution] = {}
    if table is not None:
        columns = table.items()
        told = {name: v if isinstance(v, Numbers | Read) else _values(name, v) for name, v in columns}
        factors.append(Table.of(told))
    for name, given in over.items():
        each = factor(name, list(given) if isinstance(given, tuple | np.ndarray | range) else given)
        if isinstance(each, Distribution):
            if not each.finite:
                which = _of_logarithms(*each.numbers) if each.kind == "lognormal" else ""
                raise UsageError(f"{name}: {each.kind} of {_shown(each)} has values that are too large{which}")
            drawn[name] = each
        else:
            factors.append(each)
    if drawn and sample is None:
        raise UsageError(f"how many draws of {', '.join(drawn)}? give ", Argument("sample", "N"))
    if not drawn and (sample is not None or indices or seed):
        word = "sample" if sample is not None else "indices" if indices else "seed"
        cure = ", or give a distribution, like ", Argument("over", "EI~normal(1e5,1e4)")
        raise UsageError("nothing is drawn: leave out ", Argument(word), *cure)
    if indices and (factors or sample is None or sample & (sample - 1) or sample < 2):
        if factors:
            raise UsageError("indices are about draws alone: leave out ranges, lists and cases")
        raise UsageError(Argument("indices"), f" takes a power of 2 of draws, like 1024, not {sample}")
    if drawn:
        factors.append(Draws(drawn, int(sample or 0), seed, indices))
    order = [*(table or ()), *over]
    return Cases.of(order, factors)


def split(text: str) -> tuple[str, str]:
    """``NAME=VALUES`` or ``NAME~DISTRIBUTION`` as name and the rest. Raises UsageError."""
    name, *rest = re.split("[=~]", text, maxsplit=1)
    given = "".join(rest).strip()
    if not name.strip() or not given:
        raise UsageError(
            Argument("over", quote(text)),
            " should read NAME=FROM:TO:N, NAME=VALUE,... or NAME~normal(MEAN,SIGMA)",
        )
    return name.strip(), given


def factor(name: str, given: object) -> Factor | Distribution:
    """What a name varies over: ``from:to:N``, a list as text or as such, one value, or a distribution.

    Raises UsageError.
    """
    if isinstance(given, Distribution):
        return given
    if not isinstance(given, str):
        entries = given if isinstance(given, list) else [given]
        return Table.of({name: [_value(name, each) for each in entries]})
    if (called := _CALL.fullmatch(given)) and called[1] in DISTRIBUTIONS:
        return _distribution(name, called[1], called[2])
    if called and called[1] not in FUNCTIONS and ":" not in given:
        known = f"there are {', '.join(DISTRIBUTIONS)}, and {', '.join(FUNCTIONS)}"
        raise UsageError(f"{name}: no distribution and no function {quote(called[1])}; {known}")
    parts = given.split(":")
    if all(map(_FRAME.fullmatch, (part for part in given.split(",") if ":" in part))):
        return Table.of({name: [value(part) for part in _listed(name, given)]})
    if len(parts) != 3:
        raise UsageError(f"{name}: the range {quote(given)} should read FROM:TO:N, N values, both ends included")
    start, end, count = (_number(name, part) for part in parts)
    if count != int(count) or count < 1:
        raise UsageError(f"{name}: the range {quote(given)} should end with how many values it has, 1 or more")
    if not math.isfinite(max(abs(start), abs(end)) * count):
        raise UsageError(f"{name}: the range {quote(given)} has values that are too large")
    return Range(name, start, end, int(count))


def written(name: str, given: object) -> Iterator[tuple[float, str]]:
    """The numbers that :func:`factor` finds in what somebody has written, ends of ranges, those of lists, tables and
    distributions, each with its own text, which is empty where it is no expression."""
    if isinstance(given, Distribution):
        yield from ((number, "") for number in given.numbers if given.kind != "lognormal")
    elif isinstance(given, Numbers | Read):
        yield from ((each, given.texts.get(each, "")) for each in given if isinstance(each, float | int))
    else:
        parts = _parts(name, given) if isinstance(given, str) else given if isinstance(given, Iterable) else [given]
        for each in parts:
            if isinstance(number := _value(name, each), float | int):
                yield number, each if isinstance(each, str) else ""


def _parts(name: str, text: str) -> list[str]:
    """The numbers of a distribution, ends of a range, or entries of a list."""
    if (called := _CALL.fullmatch(text)) and called[1] in DISTRIBUTIONS:
        return [] if called[1] == "lognormal" else _listed(name, called[2])
    return text.split(":")[:2] if ":" in text else _listed(name, text)


def table(blocks: Iterable[list[str]], name: str) -> Table:
    """The cases of a CSV file, columns by its header, from its lines, many at a time. Raises UsageError: of rows that
    do not fit CasesError, with all of them and their places.

    Numbers need no more memory than they have digits.
    """
    header: list[str] = []
    parts: list[list[Sequence[Value]]] = []
    known: dict[str, Value] = {}  # the same words come in many rows
    count = read = 0
    wrong = Mistakes(name)
    for some in blocks:
        numbered = filled(some, read + 1, name)
        read += len(some)
        if not numbered:
            continue
        if not header:
            header = _header(_line(name, *numbered.pop(0)))
            parts = [[] for _ in header]
        columns = _columns(numbered, header, wrong)
        for column, cells in () if wrong.found else zip(parts, columns, strict=True):
            column.append(_plain_numbers(cells) or _words(cells, known, name))
        count += len(numbered)
        if wrong.full:
            break
    if wrong.found:
        raise CasesError(first_of(wrong.found, counted=False))
    if not count:
        raise CasesError([Mistake(1, 1, "a header of names is wanted here, and rows of values below it", name)])
    texts: dict[Value, str] = {number: text for text, number in known.items() if not isinstance(number, str)}
    return Table.of({each: _joined(column, texts) for each, column in zip(header, parts, strict=True)})


def filled(lines: Sequence[str], first: int, name: str) -> list[tuple[int, str]]:
    """The lines that hold something, with their numbers, of those from the number ``first`` on. Raises CasesError."""
    return [
        (i, line)
        for i, line in enumerate(lines, first)
        if line.strip(", \t") and ('"' not in line or _SAID.search(line) or any(_line(name, i, line).cells))
    ]


def _header(line: Line) -> list[str]:
    """Names of columns. Raises CasesError where there is but one that other signs part, or one that stands twice."""
    header = line.cells
    if len(header) == 1 and (wrong := line.separated):
        raise CasesError([wrong])
    first = {each: i for i, each in reversed([*enumerate(header)])}
    if twice := [i for i, each in enumerate(header) if first[each] < i]:
        wrong_names = (line.mistake(f"{quote(header[i])} stands twice in the header", i) for i in twice)
        raise CasesError(first_of(wrong_names))
    return header


def _columns(numbered: Sequence[tuple[int, str]], header: Sequence[str], wrong: Mistakes) -> list[list[str]]:
    """The cells of lines by column; what is wrong with them is told."""
    lines, width = [line for _, line in numbered], len(header)
    if not any('"' in line for line in lines) and all(line.count(",") == width - 1 for line in lines):
        found = [cell.strip() for cell in ",".join(lines).split(",")] if lines else []
        if all(found) and "".join(found).isprintable():
            return [found[i::width] for i in range(width)]
    rows, answered = [], ""
    if header[0] == "case" and header[-1] == "error":
        answered = "; a sweep has answered here: keep the columns that it varied alone"
    for number, text in numbered:
        line = _line(wrong.file, number, text)
        if (count := len(line.cells)) != width:
            column = line.starts[width] if count > width else len(text.rstrip()) + 1
            told = [(column, f"values in this row: {count}, names in the header: {width}")]
        else:
            empty = [k for k, cell in enumerate(line.cells) if not cell]
            told = [(line.starts[k], f"a value of {quote(header[k])} is missing{answered}") for k in empty]
            unsaid = [k for k, cell in enumerate(line.cells) if not cell.isprintable()]
            told += [(line.starts[k], f"{quote(line.cells[k])} is no text of printable characters") for k in unsaid]
        wrong.found += [Mistake(number, column, message, wrong.file, text) for column, message in told]
        rows.append(line.cells)
    return [] if wrong.found else list(map(list, zip(*rows, strict=True)))


def _line(name: str, number: int, text: str) -> Line:
    """Raises CasesError where a line is no text, or too long."""
    if len(text) > csv_lines.LINE_LIMIT:
        raise CasesError([Mistake(number, 1, f"a line of more than {csv_lines.LINE_LIMIT} characters", name)])
    if wrong := UNDECODED.search(text):
        message = "not UTF-8 text: save the file with the encoding UTF-8"
        raise CasesError([Mistake(number, wrong.start() + 1, message, name, text)])
    return Line(name, number, text)


def _plain_numbers(cells: Sequence[str]) -> Numbers | None:
    """Cells that are all finite decimal numbers, as :func:`value` has them one by one; None of others."""
    if not _DECIMALS.fullmatch("".join(cells)):
        return None
    try:
        values = np.array(list(map(float, cells))) + 0.0
    except ValueError:
        return None
    small = np.flatnonzero(values == 0).tolist()
    if not np.isfinite(values).all() or any(not _ZERO.fullmatch(cells[i]) for i in small):
        return None
    return Numbers(values, np.array([_WHOLE.fullmatch(cell) is not None for cell in cells], dtype=bool))


def _words(cells: Sequence[str], known: dict[str, Value], name: str) -> list[Value]:
    """Cells one by one. Raises UsageError where there are too many different ones: each takes memory, and time."""
    found = []
    for cell in cells:
        if cell in known or _DECIMALS.fullmatch(cell):
            found.append(known[cell] if cell in known else value(cell))
            continue
        if len(known) >= WORDS:
            raise UsageError(f"{quote(name)}: more than {WORDS} different texts: write numbers as decimals")
        found.append(known.setdefault(cell, value(cell)))
    return found


def _joined(parts: Sequence[Sequence[Value]], texts: Mapping[Value, str]) -> Sequence[Value]:
    numbers = [each for each in parts if isinstance(each, Numbers)]
    if len(numbers) == len(parts):
        return Numbers.joined(numbers)
    return Read((each for part in parts for each in part), texts)


def value(text: str) -> Value:
    """A number where a text is one, else the text. Raises UsageError for what cannot be written (bytes of a shell)."""
    stripped = text.strip()
    if not stripped.isprintable():
        raise UsageError(f"{quote(stripped)} is no text of printable characters")
    if _WHOLE.fullmatch(stripped):
        return int(stripped)
    try:
        expression = parse(stripped)
        return stripped if expression.names else evaluate(expression, {}) + 0.0
    except ExpressionError:
        return stripped


def _listed(name: str, text: str) -> list[str]:
    """What stands between commas that no bracket holds."""
    ends, depth = [-1], 0
    for found in re.finditer("[(),]", text):
        depth = max(0, depth + (found[0] == "(") - (found[0] == ")"))
        if found[0] == "," and not depth:
            ends.append(found.start())
    parts = [text[start + 1 : end].strip() for start, end in zip(ends, [*ends[1:], len(text)], strict=True)]
    if not all(parts):
        raise UsageError(f"{name}: a value is missing in {quote(text)}")
    return parts


def _values(name: str, given: Sequence[object]) -> list[Value]:
    """Those of a column, in many of whose rows the same words stand."""
    texts = dict.fromkeys(each for each in given if type(each) is str)
    words = {each: value(each) for each in texts}
    return [words[each] if type(each) is str else _value(name, each) for each in given]


def _value(name: str, given: object) -> Value:
    if isinstance(given, np.generic):
        given = given.item()
    if isinstance(given, str):
        return value(given)
    if not isinstance(given, bool | int | float) or not math.isfinite(given):
        raise UsageError(f"{name}: finite numbers and text can be varied, not {quote(repr(given))}")
    return given


def _number(name: str, text: str) -> float:
    try:
        return evaluate(parse(text.strip()), {}) + 0.0
    except ExpressionError as error:
        raise UsageError(f"{name}: {error.of(text.strip())}") from None


def _shown(each: Distribution) -> str:
    return ", ".join(f"{number:g}" for number in each.numbers)


def _of_logarithms(mean: float, deviation: float) -> str:
    """What the numbers of a lognormal are, of which somebody has given those of the values."""
    cure = f"; about {mean:g} it is lognormal({math.log(mean):.5g},{deviation:g})" if mean > 1 else ""
    return f": MU and SIGMA are those of the natural logarithm{cure}"


def _distribution(name: str, kind: str, text: str) -> Distribution:
    numbers = tuple(_number(name, part) for part in _listed(name, text))
    wanted = DISTRIBUTIONS[kind]
    if len(numbers) != (3 if kind == "triangular" else 2):
        raise UsageError(f"{name}: {kind}({wanted}) is wanted, not {len(numbers)} numbers")
    if kind in ("normal", "lognormal"):
        if numbers[1] <= 0:
            raise UsageError(f"{name}: the standard deviation must be positive, not {numbers[1]:g}")
    elif not (numbers[0] < numbers[-1] and list(numbers) == sorted(numbers)):
        raise UsageError(
            f"{name}: {kind}({wanted}) is wanted in this order, not {', '.join(f'{n:g}' for n in numbers)}"
        )
    return Distribution(kind, numbers)
