"""A routine as JavaScript that needs nothing else: for pages that compute where a robot is."""

from __future__ import annotations

import casadi

from kronbot.compute.code.routine import Routine
from kronbot.compute.code.straight_line import CHOICES, VARIABLE, Notation, Part, parts, straight_line

NOTATION = Notation(repr, "Math.{}".format, "{}[{}]".format, choices=CHOICES | {casadi.OP_FMAX: "Math.max({}, {})"})
# The longest function, in statements: compilers of browsers leave longer ones uncompiled.
LONGEST = 500
# Variables that functions hand on are entries of this array.
HANDED = "w"


def function(routine: Routine) -> str:
    """An expression, whose value is a function of arrays: the inputs, then the outputs, which it fills.

    Matrices are filled row by row. Raises ComputationError where the routine is too long.
    """
    sequence = parts(straight_line(routine, NOTATION), LONGEST)
    words = ", ".join([*routine.inputs, *routine.outputs])
    size = 1 + max((_place(name) for part in sequence for name in part.stores), default=-1)
    lines = ["(() => {", '"use strict";', f"const {HANDED} = new Float64Array({size});"]
    lines += [f"const parts = [{','.join(_part(part, words) for part in sequence)}];"]
    lines += [f"return ({words}) => {{ for (const part of parts) part({words}); }};", "})()"]
    return "\n".join(lines)


def _part(part: Part, words: str) -> str:
    """A part of the routine as a function; a variable is declared where it gets its first value."""
    lines = [f"({words}) => {{"]
    lines += [f"let {name} = {HANDED}[{_place(name)}];" for name in part.loads]
    declared = set(part.loads)
    for target, expression, _ in part.assignments:
        new = target.word == VARIABLE and target.text not in declared
        declared.add(target.text)
        lines.append(f"{'let ' if new else ''}{target.text} = {expression};")
    lines += [f"{HANDED}[{_place(name)}] = {name};" for name in part.stores]
    return "\n".join([*lines, "}"])


def _place(variable: str) -> int:
    return int(variable.removeprefix(VARIABLE))
