"""A traced function as C that evaluates many points: as many side by side as the processor's registers hold numbers.

The tape's operations are done on vectors of the compiler's (GCC, Clang), one point a lane; each lane gives the bits of
one point alone. Where a compiler has no vectors there is one lane.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence

import casadi

from kronbot.compute.code import sines
from kronbot.compute.code.straight_line import (
    CALLS,
    CHOICES,
    SHARED,
    TURNED,
    VARIABLE,
    Assignment,
    Lanes,
    Notation,
    Part,
    handed_on,
    parts,
    statements,
    straight_line,
    wrapped,
)
from kronbot.errors import ComputationError

# The name of the function: void rows(const double *const *in, double *const *out, double *room, long long count), and
# of the number of doubles that it wants room for, aligned as registers are.
NAME, ROOM = "rows", "room_for_rows"
# As in C for users.
LONGEST = 500
# Functions of one and of two numbers; of all lanes they are called ``all_sin`` and the like.
UNARY = {
    casadi.OP_ASIN: "asin",
    casadi.OP_ACOS: "acos",
    casadi.OP_ATAN: "atan",
    casadi.OP_SINH: "sinh",
    casadi.OP_COSH: "cosh",
    casadi.OP_ASINH: "asinh",
    casadi.OP_ACOSH: "acosh",
    casadi.OP_ATANH: "atanh",
    casadi.OP_EXPM1: "expm1",
    casadi.OP_LOG1P: "log1p",
    casadi.OP_ERF: "erf",
    casadi.OP_FLOOR: "floor",
    casadi.OP_CEIL: "ceil",
    casadi.OP_FABS: "fabs",
    casadi.OP_SIGN: "sign",
}
BINARY = {
    casadi.OP_FMIN: "fmin",
    casadi.OP_FMOD: "fmod",
    casadi.OP_REMAINDER: "remainder",
    casadi.OP_COPYSIGN: "copysign",
    casadi.OP_ATAN2: "atan2",
    casadi.OP_HYPOT: "hypot",
}
PAIRS = {"pow", "fmax", *BINARY.values()}
FUNCTIONS = CALLS | UNARY | BINARY
NAMES = sorted({*FUNCTIONS.values()} - {"sin", "cos"})
ALONE = {
    casadi.OP_EQ: "{} == {}",
    casadi.OP_NE: "{} != {}",
    casadi.OP_AND: "{} && {}",
    casadi.OP_OR: "{} || {}",
}
ABREAST = {
    casadi.OP_LT: "true({} < {})",
    casadi.OP_LE: "true({} <= {})",
    casadi.OP_EQ: "true({} == {})",
    casadi.OP_NE: "true({} != {})",
    casadi.OP_NOT: "true({} == 0)",
    casadi.OP_AND: "true(({} != 0) & ({} != 0))",
    casadi.OP_OR: "true(({} != 0) | ({} != 0))",
    casadi.OP_IF_ELSE_ZERO: "where({} != 0, {})",
}
VECTORS = """
#define _GNU_SOURCE
#include <math.h>
#if (defined(__clang__) || __GNUC__ >= 5) && !defined(__TINYC__)
typedef double lanes __attribute__((vector_size(8 * LANES), may_alias));
typedef long long mask __attribute__((vector_size(8 * LANES), may_alias));
#define spread(x) ((x) - (lanes){0})
#define true(x) where(x, spread(1.0))
#define where(x, y) ((lanes)((mask)(x) & (mask)(y)))
#else
#undef LANES
#define LANES 1
typedef double lanes;
#define spread(x) (x)
#define true(x) ((x) ? 1.0 : 0.0)
#define where(x, y) ((x) ? (y) : 0.0)
#endif
#define UNARY(name) static lanes all_##name(lanes x) { double *a = (double *)&x; \\
    for (int l = 0; l < LANES; l++) a[l] = name(a[l]); return x; }
#define BINARY(name) static lanes all_##name(lanes x, lanes y) { double *a = (double *)&x, *b = (double *)&y; \\
    for (int l = 0; l < LANES; l++) a[l] = name(a[l], b[l]); return x; }
static double sign(double x) { return x < 0 ? -1 : x > 0 ? 1 : x; }
""".strip()
# Lanes come from rows; of the last rows the very last fills the lanes that are left.
GATHER = """
static void gather(lanes *to, const double *from, int size, int rows)
{
    for (int l = 0; l < LANES; l++) {
        const double *row = from + (long long)size * (l < rows ? l : rows - 1);
        for (int i = 0; i < size; i++) ((double *)to)[LANES * i + l] = row[i];
    }
}
""".strip()
HEAD = "\n".join([VECTORS, sines.TEXT, GATHER])


def _entry(word: str, place: int) -> str:
    return f"{word}[{place}]"


def _number(value: float) -> str:
    return repr(value) if math.isfinite(value) else f"({value:+})".replace("inf", "INFINITY").replace("nan", "NAN")


ONE = Notation(_number, lambda name: name, _entry, choices=CHOICES | ALONE, calls=FUNCTIONS)
MANY = Notation(_number, lambda name: f"all_{name}", _entry, choices=ABREAST, calls=FUNCTIONS)


class _Tape:
    """The parts of a function on lanes: ``once`` what all points share, ``angles`` sines and cosines of entries of
    inputs, which are computed together, ``always`` the rest.

    Words for its arrays are x0, x1, ... and y0, y1, ..., and those of straight lines; ``numbers`` are entries of
    outputs that are numbers, as text, and are left out where somebody else writes them.
    """

    def __init__(self, function: casadi.Function, shared: Collection[int], name: str, whole: bool) -> None:
        self.name, inputs = name, {f"x{i}": function.nnz_in(i) for i in range(function.n_in())}
        outputs = {f"y{i}": function.nnz_out(i) for i in range(function.n_out())}
        alike = [f"x{i}" for i in shared]
        assignments = straight_line(
            function, list(inputs), list(outputs), ONE, Lanes(MANY, alike, "spread({})", "turned({}, &{})")
        )
        ends = [each for each in assignments if whole and each.target.word in outputs and not each.operands[0].word]
        self.numbers = {target.text: operands[0].text for target, _, operands in ends}
        constant = {"", SHARED, *alike}
        once, angles, always = list[Assignment](), list[Assignment](), list[Assignment]()
        for each in assignments:
            if each.target.word == TURNED and each.operands[0].word in inputs:
                angles.append(each)
            elif not constant.issuperset(operand.word for operand in each.operands):
                always.append(each)
            elif each.target.text not in self.numbers:
                (once if whole else always).append(each)
        self.once, self.angles, self.always = (parts(each, LONGEST) for each in (once, angles, always))
        self.scratch = {
            TURNED: 2 * _size(angles + always, TURNED),
            VARIABLE: handed_on(self.always),
            SHARED: _size(once, SHARED),
        }
        self.kinds = dict.fromkeys((*inputs, *outputs, *self.scratch), "lanes")
        self.kinds |= dict.fromkeys((SHARED, *alike), "const double")

    def functions(self) -> Iterator[str]:
        """A function of C a part."""
        for name, sequence in (("before", self.once), ("angles", self.angles), ("within", self.always)):
            kinds = self.kinds | ({SHARED: "double"} if name == "before" else {})
            for k, part in enumerate(sequence):
                parameters = [f"{kinds[word]} *restrict {word}" for word in self._words(part)]
                yield from (*wrapped(f"static void {self.name}{name}_{k}(", parameters, ")", ""), "{")
                lines = _turns(part) if name == "angles" else statements(part, "lanes", VARIABLE)
                yield from (*(f"    {line}" for line in lines), "}")

    def before(self) -> Iterator[str]:
        """Calls of what is done once."""
        return self._calls("before", self.once, {})

    def within(self, arrays: Mapping[str, str]) -> Iterator[str]:
        """Calls of what is done at every point, with arrays in the place of the words for them."""
        yield from self._calls("angles", self.angles, arrays)
        yield from self._calls("within", self.always, arrays)

    def _calls(self, name: str, sequence: Sequence[Part], arrays: Mapping[str, str]) -> Iterator[str]:
        for k, part in enumerate(sequence):
            given = [arrays.get(word, word) for word in self._words(part)]
            yield from wrapped(f"{self.name}{name}_{k}(", given, ");", "")

    def _words(self, part: Part) -> list[str]:
        return [word for word in self.kinds if word in part.words]


def source(function: casadi.Function, shared: Collection[int], width: int) -> str:
    """The C of a function whose outputs are dense columns, for ``width`` lanes; inputs of the numbers ``shared`` are
    the same at all points. It is a tape, or calls of tapes, each of which is there once. Raises ComputationError for
    operations that C does not have.
    """
    inputs = {f"x{i}": function.nnz_in(i) for i in range(function.n_in())}
    outputs = {f"y{i}": function.nnz_out(i) for i in range(function.n_out())}
    alike = [f"x{i}" for i in shared]
    lines = [f"#define LANES {width}", HEAD, *(f"UNARY({name})" for name in NAMES if name not in PAIRS)]
    lines += [f"BINARY({name})" for name in sorted(PAIRS)]
    before, numbers = list[str](), dict[str, str]()
    sizes = {word: size for word, size in inputs.items() if word not in alike} | outputs
    if function.is_a("SXFunction"):
        # Results that are numbers are written where they go; what all points share once, before the loop.
        tape = _Tape(function, shared, "", True)
        lines += tape.functions()
        before, within = list(tape.before()), list(tape.within({}))
        numbers, scratch = tape.numbers, tape.scratch
    else:
        functions, within, scratch = _called(function, alike)
        lines += functions
        sizes |= {f"spread_{word}": inputs[word] for word in alike}
        for word in alike:
            before += [f"for (int i = 0; i < {inputs[word]}; i++) spread_{word}[i] = spread({word}[i]);"]
    sizes |= scratch
    for word, size in outputs.items():
        for k in range(0, size, LONGEST):
            lines += [f"static void put_{word}_{k}(double *restrict to, const lanes *restrict from, int rows)", "{"]
            lines += [
                f"    for (int l = 0; l < rows; l++, to += {size}) {{",
                "        const double *lane = (double *)from + l;",
            ]
            entries = {i: _entry(word, i) for i in range(k, min(k + LONGEST, size))}
            lines += [f"        to[{i}] = {numbers.get(each, f'lane[{i} * LANES]')};" for i, each in entries.items()]
            lines += ["    }", "}"]
    room = " + ".join(f"{size}" for size in sizes.values())
    lines += ["#pragma GCC visibility push(default)", f"const long long {ROOM} = LANES * ({room});"]
    lines += [f"void {NAME}(const double *const *in, double *const *out, double *room, long long count)", "{"]
    lines += [f"    const double *{word} = in[{i}];" for i, word in enumerate(inputs) if word in alike]
    at = "room"
    for word, size in sizes.items():
        kind = "double" if word == SHARED else "lanes"
        lines += [f"    {kind} *{word} = ({kind} *)({at});"]
        at = f"(double *){word} + LANES * {size}"
    lines += [f"    {line}" for line in before]
    lines += ["    for (long long k = 0; k < count; k += LANES) {"]
    lines += ["        int rows = count - k < LANES ? count - k : LANES;"]
    for i, (word, size) in enumerate(inputs.items()):
        if word not in alike:
            lines += [f"        gather({word}, in[{i}] + {size} * k, {size}, rows);"]
    lines += [f"        {line}" for line in within]
    for i, (word, size) in enumerate(outputs.items()):
        lines += [f"        put_{word}_{k}(out[{i}] + {size} * k, {word}, rows);" for k in range(0, size, LONGEST)]
    return "\n".join([*lines, "    }", "}", ""])


def _called(function: casadi.Function, shared: Collection[str]) -> tuple[list[str], list[str], dict[str, int]]:
    """Of calls of tapes: the functions of these, the calls, and the arrays that they want by their sizes.

    Places of the work that hold results are the arrays a0, a1, ...
    """
    tapes, lines, within, sizes = dict[int, _Tape](), list[str](), list[str](), dict[str, int]()
    places: dict[int, str] = {}
    for k in range(function.n_instructions()):
        code, read, write = function.instruction_id(k), function.instruction_input(k), function.instruction_output(k)
        if code == casadi.OP_INPUT:
            places[write[0]] = f"x{read[0]}" if f"x{read[0]}" not in shared else f"spread_x{read[0]}"
        elif code == casadi.OP_OUTPUT:
            within += [f"for (int i = 0; i < {function.nnz_out(write[0])}; i++) y{write[0]}[i] = {places[read[0]]}[i];"]
        elif code == casadi.OP_CALL:
            one = function.instruction_MX(k).which_function()
            if hash(one) not in tapes:
                tape = tapes[hash(one)] = _Tape(one, (), f"tape_{len(tapes)}_", False)
                lines += tape.functions()
                for word, size in tape.scratch.items():
                    sizes[word] = max(size, sizes.get(word, 0))
            arrays = {f"x{i}": places[place] for i, place in enumerate(read)}
            for i, place in enumerate(write):
                array = arrays[f"y{i}"] = places[place] = f"a{place}" if place >= 0 else f"unused{i}"
                sizes[array] = max(one.nnz_out(i), sizes.get(array, 0))
            within += tapes[hash(one)].within(arrays)
        else:
            raise ComputationError("an operation between calls has no code")
    return lines, within, sizes


def _turns(part: Part) -> Iterator[str]:
    """Of what :func:`sines.TEXT` has, in the place of the part's own statements."""
    angles = [f"&{each.operands[0].text}" for each in part.assignments]
    yield from wrapped("const lanes *const x[] = {", angles, "};", "")
    yield from wrapped("lanes *const y[] = {", (f"&{each.target.text}" for each in part.assignments), "};", "")
    yield f"turn(x, y, {len(angles)});"


def _size(assignments: Sequence[Assignment], word: str) -> int:
    """Entries of an array that assignments write."""
    return sum(each.target.word == word for each in assignments)
