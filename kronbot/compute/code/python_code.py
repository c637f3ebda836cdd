"""Routines as a Python module that needs nothing but Python: ``math``, floats and lists."""

from __future__ import annotations

import casadi

from kronbot.compute.code.documents import about, notes
from kronbot.compute.code.routine import P, Package, Routine
from kronbot.compute.code.straight_line import Notation, wrapped

CHOICES = {
    casadi.OP_NOT: "not {}",
    casadi.OP_IF_ELSE_ZERO: "{1} if {0} else 0.0",
    casadi.OP_FMAX: "max({}, {})",
    casadi.OP_FMIN: "min({}, {})",
    casadi.OP_SIGN: "-1.0 if {0} < 0 else 1.0 if {0} > 0 else {0}",
}
NOTATION = Notation(repr, "math.{}".format, "{}{}".format, choices=CHOICES)
INTERFACE = (
    "Functions take sequences of numbers and return a list (a vector) or a list of rows (a matrix), a tuple of these",
    "where there are several outputs. What does not exist raises ValueError, ZeroDivisionError or OverflowError.",
)


def module(package: Package) -> str:
    """The source of the module. Raises ComputationError where a routine is too long."""
    lines = [f"# {line}".rstrip() for line in (*notes(package), "", *INTERFACE)]
    lines += ["", "import math", ""]
    lines += wrapped("COORDINATES = (", map(ascii, package.coordinates), ",)", "")
    values = ["math.nan" if value is None else repr(value) for value in package.parameters.values()]
    lines += wrapped("PARAMETERS = (", values, ",)" if values else ")", "")
    for routine in package.routines:
        lines += ["", "", *_function(routine, package)]
    return "\n".join([*lines, ""])


def _function(routine: Routine, package: Package) -> list[str]:
    known = None not in package.parameters.values()
    arguments = [f"{word}=PARAMETERS" if word == P and known else word for word in routine.inputs]
    first, *rest = about(routine)
    lines = [f"def {routine.name}({', '.join(arguments)}):", f'    """{first}', "", *(f"    {line}" for line in rest)]
    lines += ['    """']
    for word, size in routine.inputs.items():
        lines += wrapped("(", _entries(word, range(size)), f",) = {word}", "    ")
    for target, expression, _ in routine.straight_line(NOTATION):
        lines.append(f"    {target.text} = {expression}")
    return [*lines, *_results(routine)]


def _results(routine: Routine) -> list[str]:
    lines = []
    for word, quantity in routine.outputs.items():
        rows, columns = routine.function.size_out(word)
        if quantity.columns is None:
            lines += wrapped(f"{word} = [", _entries(word, range(rows)), "]", "    ")
            continue
        lines += [f"    {word} = ["]
        for row in range(rows):
            lines += wrapped("[", _entries(word, range(row * columns, (row + 1) * columns)), "],", "        ")
        lines += ["    ]"]
    return [*lines, f"    return {', '.join(routine.outputs)}"]


def _entries(word: str, places: range) -> list[str]:
    return [NOTATION.entry(word, place) for place in places]
