"""The tape of a casadi SX Function played with any objects that know arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

import casadi

from kronbot.errors import Argument, ComputationError

T = TypeVar("T")


class Arithmetic(Generic[T]):
    """What the instructions of a tape do: operations by their casadi code, and numbers."""

    def __init__(
        self,
        constant: Callable[[float], T],
        unary: Mapping[int, Callable[[T], T]],
        binary: Mapping[int, Callable[[T, T], T]],
    ) -> None:
        self.constant = constant
        self.unary = unary
        self.binary = binary


def replay(tape: casadi.Function, arguments: Sequence[Sequence[T]], arithmetic: Arithmetic[T]) -> list[T]:
    """The one output of a tape, a dense column, for objects in the place of its inputs.

    Raises ComputationError at an instruction that the arithmetic does not have.
    """
    zero = arithmetic.constant(0.0)
    work, result = [zero] * tape.sz_w(), [zero] * tape.nnz_out(0)
    for k in range(tape.n_instructions()):
        code, read, write = tape.instruction_id(k), tape.instruction_input(k), tape.instruction_output(k)
        if code == casadi.OP_CONST:
            work[write[0]] = arithmetic.constant(tape.instruction_constant(k))
        elif code == casadi.OP_INPUT:
            work[write[0]] = arguments[read[0]][read[1]]
        elif code == casadi.OP_OUTPUT:
            result[write[1]] = work[read[0]]
        elif code in arithmetic.unary:
            work[write[0]] = arithmetic.unary[code](work[read[0]])
        elif code in arithmetic.binary:
            work[write[0]] = arithmetic.binary[code](work[read[0]], work[read[1]])
        else:
            raise ComputationError(
                "there is no closed form: a table in it has no formula; ask for numbers (", Argument("q"), ")"
            )
    return result
