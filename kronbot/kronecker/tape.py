"""The tape of a casadi SX Function: its instructions one by one, or played with any objects that know arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import casadi

T = TypeVar("T")


class Instruction(NamedTuple):
    """What is done by its casadi ``code``, the places that are read and written, and the value of a constant.

    The place of an input or output is its number and the entry, else it is one of ``sz_w()`` places of the work.
    """

    code: int
    read: list[int]
    write: list[int]
    constant: float = 0.0


def instructions(tape: casadi.Function) -> Iterator[Instruction]:
    """The instructions in their order."""
    for k in range(tape.n_instructions()):
        code = tape.instruction_id(k)
        constant = tape.instruction_constant(k) if code == casadi.OP_CONST else 0.0
        yield Instruction(code, tape.instruction_input(k), tape.instruction_output(k), constant)


def replay(
    tape: casadi.Function,
    arguments: Sequence[Sequence[T]],
    constant: Callable[[float], T],
    operation: Callable[[int, list[T]], T],
) -> list[T]:
    """The one output of a tape, a dense column, for objects in the place of the entries of its inputs.

    ``constant`` makes an object of a number, ``operation(code, operands)`` does one of casadi's operations.
    """
    zero = constant(0.0)
    work, result = [zero] * tape.sz_w(), [zero] * tape.nnz_out(0)
    for code, read, write, number in instructions(tape):
        if code == casadi.OP_INPUT:
            work[write[0]] = arguments[read[0]][read[1]]
        elif code == casadi.OP_OUTPUT:
            result[write[1]] = work[read[0]]
        elif code == casadi.OP_CONST:
            work[write[0]] = constant(number)
        else:
            work[write[0]] = operation(code, [work[place] for place in read])
    return result
