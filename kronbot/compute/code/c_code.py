"""Routines as C99: a header and a source that need nothing but math.h, keep no state and allocate nothing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping

import numpy as np

from kronbot.compute.code.documents import about, notes
from kronbot.compute.code.routine import Package, Routine
from kronbot.compute.code.straight_line import (
    VARIABLE,
    Notation,
    Part,
    handed_on,
    parts,
    statements,
    wrapped,
)
from kronbot.errors import Argument, ComputationError
from kronbot.records import dataclass

# The longest prefix of names that is made from a robot's name.
LONGEST_PREFIX = 40
# The longest function, in statements: the time of compilers grows faster than its length. 29,000 statements took
# gcc -O1 18 s as two functions and 3 s in parts of 500, and ran as fast.
LONGEST = 500
INTERFACE = (
    "Outputs must not overlap inputs. Matrices are row-major: entry (i, j) of r x s is at [s * i + j]. Functions",
    "keep nothing between calls and may run in many threads at once. They return nothing: a result that does not",
    "exist (a parameter without value, a singular inertia matrix) is NaN or infinite.",
)


@dataclass(frozen=True)
class Style:
    """How names begin, what the header is called, and the type of numbers (a key of REALS)."""

    prefix: str
    header: str
    real: str


def prefix_of(name: str) -> str:
    """The beginning of C names for a robot.

    Lower case, letters without accents, an underscore for every run of other signs than ASCII letters and digits;
    ``robot`` where nothing is left, ``robot_`` before a digit.
    """
    letters = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    prefix = re.sub(r"[^a-z0-9]+", "_", letters).strip("_")[:LONGEST_PREFIX].strip("_")
    return prefix if prefix[:1].isalpha() else f"robot_{prefix}".strip("_")


def header(package: Package, style: Style) -> str:
    """The header: documentation, sizes, names, prototypes; for C and C++."""
    guard, upper = f"{style.prefix.upper()}_H", style.prefix.upper()
    lines = ["/*", *(f" * {line}".rstrip() for line in (*notes(package), "", *INTERFACE)), " */"]
    lines += [f"#ifndef {guard}", f"#define {guard}", ""]
    lines += [f"#define {upper}_COORDINATES {len(package.coordinates)}"]
    lines += [f"#define {upper}_PARAMETERS {len(package.parameters)}", ""]
    lines += ["#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    lines += [f"extern {declaration};" for declaration in _arrays(package, style)]
    for routine in package.routines:
        lines += ["", "/*", *(f" * {line}" for line in about(routine)), " */"]
        lines += _prototype(routine, style, ";")
    return "\n".join([*lines, "", "#ifdef __cplusplus", "}", "#endif", "", "#endif", ""])


def source(package: Package, style: Style) -> str:
    """The source. Raises ComputationError where a routine is too long, or a number too large for the type."""
    lines = [f'#include "{style.header}"', "", "#include <math.h>", ""]
    for declaration, values in _arrays(package, style).items():
        lines += wrapped(f"{declaration} = {{", values, "};", "")
    for routine in package.routines:
        lines += _definition(routine, style)
    return "\n".join([*lines, ""])


def _definition(routine: Routine, style: Style) -> list[str]:
    """A function; a long one as a sequence of parts that hand on variables in an array."""
    sequence = parts(routine.straight_line(REALS[style.real]), LONGEST)
    used = frozenset().union(*(part.words for part in sequence))
    head = [*_prototype(routine, style, ""), "{", *(f"    (void){w};" for w in routine.inputs if w not in used)]

    def body(part: Part) -> list[str]:
        return [f"    {line}" for line in statements(part, style.real, VARIABLE)]

    if len(sequence) == 1:
        return ["", *head, *body(sequence[0]), "}"]
    lines: list[str] = []
    calls: list[str] = []
    if size := handed_on(sequence):
        calls += [f"    {style.real} {VARIABLE}[{size}];"]
    parameters = _parameters(routine, style) | {VARIABLE: f"{style.real} *{VARIABLE}"}
    for k, part in enumerate(sequence):
        words, name = [word for word in parameters if word in part.words], f"{style.prefix}_{routine.name}_{k}"
        lines += ["", *wrapped(f"static void {name}(", [parameters[word] for word in words], ")", ""), "{"]
        lines += [*body(part), "}"]
        calls += wrapped(f"{name}(", words, ");", "    ")
    return [*lines, "", *head, *calls, "}"]


def _arrays(package: Package, style: Style) -> Mapping[str, Iterable[str]]:
    """Constant arrays by declaration, with their entries."""
    prefix, number = style.prefix, REALS[style.real].number
    count = len(package.parameters)
    names = f"const char *const {prefix}_coordinate_names[{len(package.coordinates)}]"
    arrays = {names: [_literal(name) for name in package.coordinates]}
    if package.parameters:
        arrays[f"const char *const {prefix}_parameter_names[{count}]"] = [_literal(name) for name in package.parameters]
        values = ["NAN" if value is None else number(value) for value in package.parameters.values()]
        arrays[f"const {style.real} {prefix}_parameters[{count}]"] = values
    return arrays


def _prototype(routine: Routine, style: Style, after: str) -> list[str]:
    return wrapped(f"void {style.prefix}_{routine.name}(", _parameters(routine, style).values(), f"){after}", "")


def _parameters(routine: Routine, style: Style) -> dict[str, str]:
    """What stands between the parentheses of a prototype, by word."""
    inputs = {word: f"const {style.real} {word}[{size}]" for word, size in routine.inputs.items()}
    sizes = {word: routine.function.numel_out(word) for word in routine.outputs}
    return inputs | {word: f"{style.real} {word}[{size}]" for word, size in sizes.items()}


def _literal(text: str) -> str:
    """Text as a C string, UTF-8 bytes beyond ASCII as octal numbers."""
    return '"' + "".join(chr(byte) if byte < 128 else f"\\{byte:03o}" for byte in text.encode()) + '"'


def _single(value: float) -> str:
    """A number as a float literal. Raises ComputationError where a float cannot hold it."""
    with np.errstate(over="ignore"):
        rounded = np.float32(value)
    if not np.isfinite(rounded) or (rounded == 0) != (value == 0):
        raise ComputationError(f"the number {value!r} does not fit into a float: take ", Argument("real", "double"))
    return f"{float(str(rounded))!r}f"


def _entry(word: str, place: int) -> str:
    return f"{word}[{place}]"


REALS = {
    "double": Notation(repr, lambda name: name, _entry),
    "float": Notation(_single, lambda name: f"{name}f", _entry, lost=2.0**-150),
}
