"""Tapes as straight-line code: one assignment an operation, in the notation of a language."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field
from itertools import count
from typing import NamedTuple

import casadi

from kronbot.errors import ComputationError
from kronbot.kronecker.tape import instructions
from kronbot.records import dataclass

WIDTH = 110
# Variables are called w0, w1, ...
VARIABLE = "w"
# Entries of these arrays, of which none is written twice: what all lanes share, and sines and cosines of one angle.
SHARED, TURNED = "f", "t"

OPERATORS: Mapping[int, str] = {
    casadi.OP_NEG: "-{}",
    casadi.OP_SQ: "{0} * {0}",
    casadi.OP_TWICE: "2 * {}",
    casadi.OP_INV: "1 / {}",
    casadi.OP_ADD: "{} + {}",
    casadi.OP_SUB: "{} - {}",
    casadi.OP_MUL: "{} * {}",
    casadi.OP_DIV: "{} / {}",
    casadi.OP_LT: "{} < {}",
    casadi.OP_LE: "{} <= {}",
}
# Where a number that is too small for the type (what rounding has left of a zero) is as good as zero.
FORGIVING = (casadi.OP_ADD, casadi.OP_SUB, casadi.OP_MUL)
CALLS = {
    casadi.OP_SIN: "sin",
    casadi.OP_COS: "cos",
    casadi.OP_TAN: "tan",
    casadi.OP_SQRT: "sqrt",
    casadi.OP_EXP: "exp",
    casadi.OP_TANH: "tanh",
    casadi.OP_LOG: "log",
    casadi.OP_POW: "pow",
    casadi.OP_CONSTPOW: "pow",
    casadi.OP_FMAX: "fmax",
    casadi.OP_FMIN: "fmin",
    casadi.OP_FABS: "fabs",
}
# Of what there is on one side of a stop only, and of lengths along one line.
CHOICES = {
    casadi.OP_NOT: "!{}",
    casadi.OP_IF_ELSE_ZERO: "{} ? {} : 0",
    casadi.OP_SIGN: "{0} < 0 ? -1 : {0} > 0 ? 1 : {0}",
}


@dataclass(frozen=True)
class Notation:
    """How a language writes a number, the name of a mathematical function, and entry i of an input or output.

    Numbers whose size is at most ``lost`` are zero in its type. ``choices`` are operations that
    languages write in ways of their own, ``calls`` are those that are functions of the language.
    """

    number: Callable[[float], str]
    function: Callable[[str], str]
    entry: Callable[[str, int], str]
    lost: float = 0.0
    choices: Mapping[int, str] = field(default_factory=lambda: CHOICES)
    calls: Mapping[int, str] = field(default_factory=lambda: CALLS)


@dataclass(frozen=True)
class Lanes:
    """How operations on many points side by side are written; those on what all points share are as for one.

    ``shared`` are the inputs that do not differ. ``spread`` is what makes one number many, ``turned`` gives the sine
    of its first operand and puts the cosine into its second.
    """

    notation: Notation
    shared: Collection[str]
    spread: str
    turned: str


class Operand(NamedTuple):
    """What stands on either side of an assignment, as text; ``word`` is the input or output that it is an entry of.

    Of the variables w0, w1, ... the word is VARIABLE, of numbers it is empty. ``lost`` is a number that is zero in the
    type of the language.
    """

    text: str
    word: str
    lost: float = 0.0


class Assignment(NamedTuple):
    """``target`` gets the value of an expression in the ``operands``."""

    target: Operand
    expression: str
    operands: tuple[Operand, ...]


class Part(NamedTuple):
    """Assignments in a row, with the variables that they need from before, and those that they leave for later.

    ``words`` are the inputs and outputs in them, with VARIABLE where variables come in or go out.
    """

    assignments: Sequence[Assignment]
    loads: Sequence[str]
    stores: Sequence[str]
    words: frozenset[str]


def straight_line(
    tape: casadi.Function,
    inputs: Sequence[str],
    outputs: Sequence[str],
    notation: Notation,
    lanes: Lanes | None = None,
) -> list[Assignment]:
    """A tape as assignments to variables and to every entry of its outputs, with words for these and for its inputs.

    Numbers and inputs stand where they are used; a variable is used again where its value is not needed any more, so
    that a compiler without optimization takes little stack. With ``lanes`` variables hold many points side by side.
    What follows from shared inputs alone goes into entries of the array SHARED, sine and cosine of one angle into
    neighbours in the array TURNED.
    """
    work = [Operand("", "")] * tape.sz_w()
    assignments = []
    alike = {"", SHARED, *lanes.shared} if lanes else set()
    angles = _angles(tape) if lanes else {}
    turned, places = dict[int, list[Operand]](), count()
    for k, (code, read, write, number) in enumerate(instructions(tape)):
        operands = () if code == casadi.OP_INPUT else tuple(work[place] for place in read)
        apart = lanes if lanes and not alike.issuperset(each.word for each in operands) else None
        if code == casadi.OP_CONST:
            lost = number if 0 < abs(number) <= notation.lost else 0.0
            text = notation.number(0.0 if lost else number)
            work[write[0]] = Operand(f"({text})" if text.startswith("-") else text, "", lost)
        elif code == casadi.OP_INPUT:
            word = inputs[read[0]]
            work[write[0]] = Operand(notation.entry(word, read[1]), word)
        elif code == casadi.OP_OUTPUT:
            word, value = outputs[write[0]], operands[0].text
            text = lanes.spread.format(value) if lanes and not apart else value
            assignments.append(Assignment(Operand(notation.entry(word, write[1]), word), text, operands))
        elif apart and k in angles:
            if angles[k] not in turned:
                pair = [Operand(notation.entry(TURNED, 2 * len(turned) + i), TURNED) for i in (0, 1)]
                text = apart.turned.format(operands[0].text, pair[1].text)
                assignments.append(Assignment(pair[0], text, operands))
                turned[angles[k]] = pair
            work[write[0]] = turned[angles[k]][code == casadi.OP_COS]
        else:
            for operand in operands:
                if operand.lost and code not in FORGIVING:
                    notation.number(operand.lost)  # refuses it
            texts = [
                apart.spread.format(each.text) if apart and each.word in alike and code not in FORGIVING else each.text
                for each in operands
            ]
            target = Operand(f"{VARIABLE}{write[0]}", VARIABLE)
            if lanes and not apart:
                target = Operand(notation.entry(SHARED, next(places)), SHARED)
            text = _expression(code, texts, apart.notation if apart else notation)
            assignments.append(Assignment(target, text, operands))
            work[write[0]] = target
    return assignments


def _angles(tape: casadi.Function) -> dict[int, int]:
    """Numbers of the angles of which a tape takes both sine and cosine, by the numbers of these instructions."""
    writer: dict[int, int] = {}
    taken: dict[int, dict[int, list[int]]] = {}
    for k, (code, read, write, _) in enumerate(instructions(tape)):
        if code in {casadi.OP_SIN, casadi.OP_COS}:
            taken.setdefault(writer[read[0]], {}).setdefault(code, []).append(k)
        if code != casadi.OP_OUTPUT:
            writer[write[0]] = k
    both = [codes for codes in taken.values() if len(codes) > 1]
    return {k: angle for angle, codes in enumerate(both) for each in codes.values() for k in each}


def _expression(code: int, operands: list[str], notation: Notation) -> str:
    if code in notation.choices:
        return notation.choices[code].format(*operands)
    if code in OPERATORS:
        return OPERATORS[code].format(*operands)
    if code in notation.calls:
        return f"{notation.function(notation.calls[code])}({', '.join(operands)})"
    raise ComputationError("an operation of this robot has no code, only as .casadi")


def parts(assignments: Sequence[Assignment], size: int) -> list[Part]:
    """Assignments in parts of that size, each with the variables that come in and go out."""
    result: list[Part] = []
    needed: set[str] = set()
    for first in reversed(range(0, len(assignments), size)):
        chosen = assignments[first : first + size]
        written: set[str] = set()
        loads: set[str] = set()
        words = {""}
        for target, _, operands in chosen:
            for text, word, _ in operands:
                words.add(word)
                if word == VARIABLE and text not in written:
                    loads.add(text)
            words.add(target.word)
            if target.word == VARIABLE:
                written.add(target.text)
        stores = written & needed
        words -= {"", VARIABLE}
        handed = {VARIABLE} if loads or stores else set()
        result.append(Part(chosen, sorted(loads), sorted(stores), frozenset(words | handed)))
        needed = (needed - written) | loads
    return result[::-1]


def handed_on(sequence: Iterable[Part]) -> int:
    """The size of an array in which variables are handed on from part to part, each at its :func:`_place`."""
    return max((1 + _place(name) for part in sequence for name in part.stores), default=0)


def statements(part: Part, declare: str, handed: str) -> list[str]:
    """A part in a language like C; a variable is declared where it gets its first value.

    Those from before come from the array ``handed``, into which those for later go.
    """
    lines = [f"{declare} {name} = {handed}[{_place(name)}];" for name in part.loads]
    declared = set(part.loads)
    for target, expression, _ in part.assignments:
        new = target.word == VARIABLE and target.text not in declared
        declared.add(target.text)
        lines.append(f"{declare + ' ' if new else ''}{target.text} = {expression};")
    return lines + [f"{handed}[{_place(name)}] = {name};" for name in part.stores]


def _place(variable: str) -> int:
    return int(variable.removeprefix(VARIABLE))


def wrapped(before: str, items: Iterable[str], after: str, indent: str) -> list[str]:
    """Items separated by commas between two texts, on as many lines as they need."""
    first, *rest = list(items) or [""]
    lines = [f"{indent}{before}{first}"]
    for item in rest:
        if len(lines[-1]) + len(item) + len(after) < WIDTH:
            lines[-1] += f", {item}"
        else:
            lines[-1] += ","
            lines.append(f"{indent}    {item}")
    lines[-1] += after
    return lines
