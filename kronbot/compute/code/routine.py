"""Questions as routines that stand alone: functions of their inputs and of the robot's own parameters, nothing else."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter

import casadi
from casadi import SX

from kronbot.cached import cached_property
from kronbot.compute.code.straight_line import Assignment, Notation, straight_line
from kronbot.compute.question import Quantity, Question
from kronbot.description.expressions.expression import evaluate
from kronbot.errors import Argument, ComputationError
from kronbot.kronecker.tape import instructions
from kronbot.model.parameters import FUNCTIONS, Parameters
from kronbot.records import dataclass

# Longer functions take compilers minutes: 300,000 operations took gcc -O1 35 s, and Python 6 s and 0.7 GB.
MOST_OPERATIONS = 400_000
# Instructions that compute nothing.
PASSIVE = (casadi.OP_CONST, casadi.OP_INPUT, casadi.OP_OUTPUT)
# The name of the vector of parameters among the inputs.
P = "p"


@dataclass(frozen=True)
class Routine:
    """One traced question as a function that needs no robot.

    ``inputs`` are sizes by word, the parameters ``p`` last where the robot has any; ``function`` takes them as columns
    and returns ``outputs`` as matrices with their structural zeros. ``meaning`` is a sentence.
    """

    name: str
    meaning: str
    inputs: Mapping[str, int]
    outputs: Mapping[str, Quantity]
    function: casadi.Function

    @cached_property
    def tape(self) -> casadi.Function:
        """The same with every output as one dense column, row after row."""
        inputs = self.function.sx_in()
        rows = [casadi.densify(casadi.vec(matrix.T)) for matrix in self.function.call(inputs)]
        return casadi.Function(self.name, inputs, rows)

    @cached_property
    def operations(self) -> int:
        """Arithmetic operations and calls of mathematical functions in one evaluation."""
        return sum(each.code not in PASSIVE for each in instructions(self.tape))

    def straight_line(self, notation: Notation) -> list[Assignment]:
        """Assignments in a language's notation, to the entries of outputs row after row.

        Raises ComputationError where there are more than MOST_OPERATIONS.
        """
        if self.tape.n_instructions() > MOST_OPERATIONS and self.operations > MOST_OPERATIONS:
            raise ComputationError(
                f"{self.name} takes {self.operations} operations, more than the {MOST_OPERATIONS} that compilers "
                "digest: leave it out of ",
                Argument("functions"),
                ", take a lower ",
                Argument("order"),
                " or fewer modes, or write a .casadi file",
            )
        return straight_line(self.tape, list(self.inputs), list(self.outputs), notation)


def saved(routine: Routine) -> bytes:
    """The routine as a file for ``casadi.Function.load``."""
    serializer = casadi.StringSerializer()
    serializer.pack(routine.function)
    return str(serializer.encode()).encode()


@dataclass(frozen=True)
class Binding:
    """How the numbers of a robot get into routines.

    ``p`` are the symbols of the parameters that stay inputs, ``defaults`` their values by name, None where the file
    gives none; ``fixed`` are values that are not to be changed, ``known`` is every parameter in terms of ``p``.
    """

    p: SX
    defaults: Mapping[str, float | None]
    fixed: Mapping[str, float]
    known: Mapping[str, SX]

    @staticmethod
    def of(parameters: Parameters, shaping: set[str]) -> Binding:
        """The binding that leaves every independent parameter an input.

        Those that the file defines by others are computed from them; ``shaping`` are names whose values have shaped
        the trace already, so that they, and what they are computed from, are fixed.
        """
        definitions = parameters.definitions
        independent = [name for name, definition in definitions.items() if definition is None or definition.constant]
        bases = _bases(parameters, shaping)
        free = [name for name in independent if name not in bases]
        p = SX.sym(P, len(free))
        known = dict(zip(free, casadi.vertsplit(p), strict=True)) if free else {}
        values = {name: parameters.values[name] for name in independent if name in bases}
        fixed = {name: value for name, value in values.items() if value is not None}
        known |= {name: SX(value) for name, value in fixed.items()}
        needs = {name: () if definition is None else definition.names for name, definition in definitions.items()}
        for name in TopologicalSorter(needs).static_order():
            definition = definitions[name]
            if name not in known and definition is not None:
                known[name] = SX(definition.fold_constants(lambda e: SX(evaluate(e, {})), known, FUNCTIONS))
        return Binding(p, {name: parameters.values[name] for name in free}, fixed, known)

    def routine(self, name: str, meaning: str, question: Question) -> Routine:
        """A question as a routine. Raises ComputationError where an entry of it is never finite."""
        parameters = question.parameters
        named = casadi.vertcat(*(self.known[name] for name in parameters.named))
        literals = casadi.DM([evaluate(expression, {}) for _, expression in parameters.literals.values()])
        numbers = SX(casadi.vertcat(named, literals))  # without named ones they are a DM, which has no symbols
        symbols = parameters.symbols()
        modal = casadi.vertcat(*(value for _, value in parameters.modal.values()))
        values = casadi.Function("modal", [symbols[: numbers.rows(), :]], [modal])(numbers)
        # What follows from fixed numbers is one, also where an algorithm gives it, which no code holds.
        each = (value if casadi.symvar(value) else SX(casadi.evalf(value)) for value in casadi.vertsplit(values))
        values = casadi.vertcat(SX(0, 1), *each)
        outputs = [quantity.expression for quantity in question.quantities.values()]
        columns = list(question.inputs.values())
        traced = casadi.Function("traced", [*columns, symbols], outputs)
        bound = casadi.cse(traced.call([*columns, casadi.vertcat(numbers, values)]))
        words = [*question.inputs, P] if self.defaults else list(question.inputs)
        arguments = [*columns, self.p] if self.defaults else columns
        function = casadi.Function(name, arguments, bound, words, list(question.quantities))
        _demand_finite(function)
        sizes = {word: column.rows() for word, column in zip(words, arguments, strict=True)}
        return Routine(name, meaning, sizes, question.quantities, function)


@dataclass(frozen=True)
class Package:
    """Routines of one robot, and what holds for all of them. Units are those of coordinates and of their forces.

    What they leave out of the robot is ``told`` in words.
    """

    robot: str
    order: str
    coordinates: Sequence[str]
    units: Sequence[str]
    force_units: Sequence[str]
    parameters: Mapping[str, float | None]
    fixed: Mapping[str, float]
    routines: Sequence[Routine]
    told: Sequence[str] = ()


def _bases(parameters: Parameters, names: set[str]) -> set[str]:
    """The names, and those that they are computed from."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            definition = parameters.definitions[name]
            waiting += () if definition is None else definition.names
    return found


def _demand_finite(function: casadi.Function) -> None:
    """Raise ComputationError where the function holds a number that is none: a division by a structural zero."""
    if not all(math.isfinite(each.constant) for each in instructions(function)):
        raise ComputationError(
            f"{function.name()} is never finite: some coordinate moves no inertia; give its link some"
        )
