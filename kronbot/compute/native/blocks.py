"""Long functions in CasADi's C as sequences of blocks, each of which is there once, however often it occurs.

The tape of a robot repeats itself: link after link, column after column of a derivative does the same with other
numbers. It is cut where its last operations have a certain fingerprint (as archives are that hold equal parts of files
once), so that what is alike is cut alike wherever it stands. Blocks that do the same are one function in C, which a
table tells where its numbers are. Operations and their order are those of the tape, and so are the bits. Compilers,
whose time grows faster than the length of a function, see short ones, and few of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

# Statements of a function that is left as it is, and share of lines above which blocks are not worth their tables; of
# so many statements a compiler takes up to minutes at once and seconds in blocks, whatever their lines (RODAS with
# sensitivities and 2,000 registers: 65,000 in 100 s, or 16 s; such that repeat themselves in 18 to 29 s either way).
SHORT, WORTH, LONG = 500, 0.7, 20_000
# Statements that a fingerprint is of; a cut is where it is below, as one in so many is; statements of a block.
WINDOW, RARE, LEAST, LONGEST = 6, 2**32 // 96, 16, 300
MIXING = 0x9E3779B97F4A7C15
# Statements after which a fingerprint no longer tells where an operand comes from.
NEAR = 8
HEAD = re.compile(r"static int casadi_(f\d+)\(const casadi_real\*\* arg, .*\) \{")
STATEMENT = re.compile(r"  (?:a(\d+)|if \(res\[(\d+)\]!=0\) res\[\2\]\[(\d+)\])=(.*);")
INPUT = re.compile(r"arg\[(\d+)\]\? arg\[\1\]\[(\d+)\] : 0")
REGISTER = re.compile(r"\ba(\d+)\b")
DECLARATION, END = "  casadi_real a", ["  return 0;", "}"]
IN = "  for (int k = 0; k < {size}; k++) v[{place} + k] = arg[{i}] ? arg[{i}][k] : 0;"
OUT = "  if (res[{i}]) for (int k = 0; k < {size}; k++) res[{i}][k] = v[{place} + k];"


# Of registers the number, of inputs and outputs "x" or "y", the number, and that of the entry.
_Entry = tuple[str, int, int]
_Place = int | _Entry


class _Statement(NamedTuple):
    """What is made of operands by an ``expression`` with gaps goes to a ``place``. An operand is the number of the
    statement that made it, or the place of an input."""

    place: _Place
    expression: str
    operands: tuple[int | _Entry, ...]


class _Block(NamedTuple):
    """The body of a function in C, and the places of what it reads and writes."""

    body: str
    places: list[_Place]


def in_blocks(text: str) -> str:
    """C of CasADi's with its long functions in blocks."""
    lines, result, known = text.split("\n"), list[str](), dict[str, str]()
    k = 0
    while k < len(lines):
        head = HEAD.fullmatch(lines[k])
        last = lines.index("}", k) if head else k
        statements = _statements(lines[k + 1 : last + 1]) if head and last - k > SHORT else None
        if head is None or statements is None:
            result += lines[k : last + 1]
        else:
            blocks = [*_blocks(statements)]
            new = {body for body, _ in blocks} - known.keys()
            fewer = sum(body.count("\n") for body in new) < WORTH * len(statements)
            worth = fewer or len(statements) > LONG
            result += _rewritten(head, blocks, known) if worth else lines[k : last + 1]
        k = last + 1
    return "\n".join(result)


def _rewritten(head: re.Match[str], blocks: Sequence[_Block], known: dict[str, str]) -> Iterator[str]:
    """A function that goes through its blocks, with those that are not known yet."""
    name = head[1]
    for body, _ in blocks:
        if body not in known:
            known[body] = f"block_{len(known)}"
            yield f"static void {known[body]}(double *restrict v, const int *restrict at) {{\n{body}}}"
    registers, sizes = 0, dict[tuple[str, int], int]()
    for place in (place for each in blocks for place in each.places):
        if isinstance(place, int):
            registers = max(registers, place + 1)
        else:
            side = place[:2]
            sizes[side] = max(sizes.get(side, 0), place[2] + 1)
    starts = dict(zip(sizes, accumulate(sizes.values(), initial=registers), strict=False))
    yield f"static void (*const {name}_blocks[])(double *restrict, const int *restrict) = {{"
    yield from (f"{known[body]}," for body, _ in blocks)
    yield f"}};\nstatic const int {name}_at[] = {{"
    for _, places in blocks:
        yield "".join(f"{each if isinstance(each, int) else starts[each[:2]] + each[2]}," for each in places) + "0,"
    yield f"}};\nstatic const int {name}_sizes[] = {{{','.join(str(len(places) + 1) for _, places in blocks)}}};"
    yield head[0]
    yield f"  double v[{registers + sum(sizes.values())}];\n  const int *at = {name}_at;"
    yield from (IN.format(size=size, place=starts[side, i], i=i) for (side, i), size in sizes.items() if side == "x")
    yield f"  for (int k = 0; k < {len(blocks)}; at += {name}_sizes[k++]) {name}_blocks[k](v, at);"
    yield from (OUT.format(size=size, place=starts[side, i], i=i) for (side, i), size in sizes.items() if side == "y")
    yield from END


def _statements(lines: Sequence[str]) -> list[_Statement] | None:
    """Those of a function's body; None where there are others. Inputs stand where they are used."""
    holding: dict[str, int | _Entry] = {}
    found: list[_Statement] = []
    for line in lines:
        given = STATEMENT.fullmatch(line)
        if given is None:
            if not line.startswith(DECLARATION) and line not in END:
                return None
            continue
        register, i, entry, expression = given.groups()
        read = INPUT.fullmatch(expression)
        if read is not None:
            holding[register] = "x", int(read[1]), int(read[2])
            continue
        operands = tuple(holding[each] for each in REGISTER.findall(expression))
        if register is None:
            place: _Place = "y", int(i), int(entry)
        else:
            place, holding[register] = int(register), len(found)
        found.append(_Statement(place, REGISTER.sub("{}", expression), operands))
    return found


def _blocks(statements: Sequence[_Statement]) -> Iterator[_Block]:
    """Statements cut by their fingerprints."""
    last = list(range(len(statements)))  # where each is used last
    for k, each in enumerate(statements):
        for operand in each.operands:
            if isinstance(operand, int):
                last[operand] = k
    first, marks = 0, [*_fingerprints(statements)]
    while first < len(marks):
        most = min(first + LONGEST, len(marks))
        end = next((k + 1 for k in range(first + LEAST, most) if marks[k] < RARE), most)
        if end == most < len(marks):  # where it would be cut as well a period later
            end = 1 + min(range(most - LONGEST // 2, most), key=lambda k: (marks[k], -k))
        yield _block(statements, first, end, last)
        first = end


def _fingerprints(statements: Sequence[_Statement]) -> Iterator[int]:
    """Of the last WINDOW statements each, from 0 to 2^32."""
    kinds: dict[tuple[object, ...], int] = {}
    recent = [0] * WINDOW
    for k, (_, expression, operands) in enumerate(statements):
        near = (k - each if isinstance(each, int) and k - each < NEAR else 0 for each in operands)
        recent = [*recent[1:], kinds.setdefault((expression, *near), len(kinds))]
        mixed = 0
        for each in recent:
            mixed = (mixed ^ each + 1) * MIXING % 2**61
        yield mixed >> 29


def _block(statements: Sequence[_Statement], first: int, end: int, last: Sequence[int]) -> _Block:
    """Those from the first to the end, of which others need what is used later."""
    reads: dict[int | _Entry, str] = {}
    lines, writes, places = list[str](), list[str](), list[_Place]()
    for k in range(first, end):
        place, expression, operands = statements[k]
        names = list[str]()
        for each in operands:
            if isinstance(each, int) and each >= first:
                names.append(f"t{each - first}")
            else:
                names.append(reads.setdefault(each, f"x{len(reads)}"))
        lines.append(f"const double t{k - first} = {expression.format(*names)};")
        if not isinstance(place, int) or last[k] >= end:
            writes.append(f"t{k - first}")
            places.append(place)
    before = [statements[each].place if isinstance(each, int) else each for each in reads]
    loads = [f"const double {name} = v[at[{i}]];" for i, name in enumerate(reads.values())]
    stores = [f"v[at[{i}]] = {name};" for i, name in enumerate(writes, len(reads))]
    return _Block("\n".join([*loads, *lines, *stores, ""]), [*before, *places])
