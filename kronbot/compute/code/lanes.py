"""A traced function as C that evaluates many points: as many side by side as the processor's registers hold numbers.

The tape's operations are done on vectors of the compiler's (GCC, Clang), one point a lane; each lane gives the bits of
one point alone. Where a compiler has no vectors there is one lane.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import casadi

from kronbot.compute.code.straight_line import (
    CALLS,
    CHOICES,
    SHARED,
    TURNED,
    VARIABLE,
    Assignment,
    Lanes,
    Notation,
    handed_on,
    parts,
    statements,
    straight_line,
    wrapped,
)

# The name of the function: void rows(const double *const *in, double *const *out, double *room, long long count), and
# of the number of doubles that it wants room for, aligned to so many bytes.
NAME, ROOM, ALIGNED = "rows", "room_for_rows", 64
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
NAMES = sorted({*FUNCTIONS.values()})
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
# Lanes come from rows; of the last rows the very last fills the lanes that are left.
HEAD = """
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
static lanes turned(lanes x, lanes *y)
{
    double *s = (double *)&x, *c = (double *)y;
    for (int l = 0; l < LANES; l++) {
#ifdef __GLIBC__
        sincos(s[l], &s[l], &c[l]);
#else
        c[l] = cos(s[l]);
        s[l] = sin(s[l]);
#endif
    }
    return x;
}
static void gather(lanes *to, const double *from, int size, int rows)
{
    for (int l = 0; l < LANES; l++) {
        const double *row = from + (long long)size * (l < rows ? l : rows - 1);
        for (int i = 0; i < size; i++) ((double *)to)[LANES * i + l] = row[i];
    }
}
""".strip()


def _entry(word: str, place: int) -> str:
    return f"{word}[{place}]"


def _number(value: float) -> str:
    return repr(value) if math.isfinite(value) else f"({value:+})".replace("inf", "INFINITY").replace("nan", "NAN")


ONE = Notation(_number, lambda name: name, _entry, choices=CHOICES | ALONE, calls=FUNCTIONS)
MANY = Notation(_number, lambda name: f"all_{name}", _entry, choices=ABREAST, calls=FUNCTIONS)


def source(function: casadi.Function, shared: Collection[int], width: int) -> str:
    """The C of a function whose outputs are dense columns, for ``width`` lanes; inputs of the numbers ``shared`` are
    the same at all points. Raises ComputationError for operations that C does not have.
    """
    inputs = {f"x{i}": function.nnz_in(i) for i in range(function.n_in())}
    outputs = {f"y{i}": function.nnz_out(i) for i in range(function.n_out())}
    alike = [f"x{i}" for i in shared]
    assignments = straight_line(
        function, list(inputs), list(outputs), ONE, Lanes(MANY, alike, "spread({})", "turned({}, &{})")
    )
    # Results that are numbers are written where they go; what all points share once, before the loop.
    ends = [each for each in assignments if each.target.word in outputs and not each.operands[0].word]
    numbers = {target.text: operands[0].text for target, _, operands in ends}
    constant = {"", SHARED, *alike}
    once = [
        each
        for each in assignments
        if constant.issuperset(operand.word for operand in each.operands) and each.target.text not in numbers
    ]
    always = [each for each in assignments if not constant.issuperset(operand.word for operand in each.operands)]
    before, within = parts(once, LONGEST), parts(always, LONGEST)
    sizes = {word: size for word, size in inputs.items() if word not in alike} | outputs
    sizes |= {TURNED: 2 * _size(always, TURNED), VARIABLE: handed_on(within), SHARED: _size(once, SHARED)}
    kinds = {word: "const double" if word in {SHARED, *alike} else "lanes" for word in (*inputs, *sizes)}
    lines = [f"#define LANES {width}", HEAD, *(f"UNARY({name})" for name in NAMES if name not in PAIRS)]
    lines += [f"BINARY({name})" for name in sorted(PAIRS)]
    calls: list[list[str]] = []
    for name, sequence, own in (("before", before, {SHARED: "double"}), ("within", within, {})):
        calls.append([])
        for k, part in enumerate(sequence):
            words = [word for word in kinds if word in part.words]
            parameters = [f"{(kinds | own)[word]} *restrict {word}" for word in words]
            lines += [*wrapped(f"static void {name}_{k}(", parameters, ")", ""), "{"]
            lines += [*(f"    {line}" for line in statements(part, "lanes", VARIABLE)), "}"]
            calls[-1] += wrapped(f"{name}_{k}(", words, ");", "")
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
    lines += [f"    {line}" for line in calls[0]]
    lines += ["    for (long long k = 0; k < count; k += LANES) {"]
    lines += ["        int rows = count - k < LANES ? count - k : LANES;"]
    for i, (word, size) in enumerate(inputs.items()):
        if word not in alike:
            lines += [f"        gather({word}, in[{i}] + {size} * k, {size}, rows);"]
    lines += [f"        {line}" for line in calls[1]]
    for i, (word, size) in enumerate(outputs.items()):
        lines += [f"        put_{word}_{k}(out[{i}] + {size} * k, {word}, rows);" for k in range(0, size, LONGEST)]
    return "\n".join([*lines, "    }", "}", ""])


def _size(assignments: Sequence[Assignment], word: str) -> int:
    """Entries of an array that assignments write."""
    return sum(each.target.word == word for each in assignments)
