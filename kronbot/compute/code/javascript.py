"""A routine as JavaScript that needs nothing else: for pages that compute where a robot is."""

from __future__ import annotations

import casadi

from kronbot.compute.code.routine import Routine
from kronbot.compute.code.straight_line import CHOICES, Notation, handed_on, parts, statements

OWN = {casadi.OP_FMAX: "Math.max({}, {})", casadi.OP_FMIN: "Math.min({}, {})", casadi.OP_FABS: "Math.abs({})"}
NOTATION = Notation(repr, "Math.{}".format, "{}[{}]".format, choices=CHOICES | OWN)
# The longest function, in statements: compilers of browsers leave longer ones uncompiled.
LONGEST = 500
# Variables that functions hand on are entries of this array.
HANDED = "w"


def function(routine: Routine) -> str:
    """An expression, whose value is a function of arrays: the inputs, then the outputs, which it fills.

    Matrices are filled row by row. Raises ComputationError where the routine is too long.
    """
    sequence = parts(routine.straight_line(NOTATION), LONGEST)
    words = ", ".join([*routine.inputs, *routine.outputs])
    lines = ["(() => {", '"use strict";', f"const {HANDED} = new Float64Array({handed_on(sequence)});"]
    bodies = ("\n".join([f"({words}) => {{", *statements(part, "let", HANDED), "}"]) for part in sequence)
    lines += [f"const parts = [{','.join(bodies)}];"]
    lines += [f"return ({words}) => {{ for (const part of parts) part({words}); }};", "})()"]
    return "\n".join(lines)
