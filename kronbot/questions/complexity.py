"""What a trace costs: its operations, of a robot and of generated chains, beside the formulas of Mohan-Saha, Table 1.

Counted is what is evaluated: the instructions of the function after common subexpressions were merged, with all
parameters bound as constants, so that products of parameters alone are not there. Doubling and negation count as
additions. Trigonometric calls and whatever else a library computes are ``functions``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, fields

import casadi
import numpy as np
from casadi import SX

from kronbot import description
from kronbot.compute.arrays import NamedArray, Scalar
from kronbot.description.names import WORLD
from kronbot.errors import Argument, UsageError
from kronbot.kronecker.tape import instructions
from kronbot.mechanics.multibody.kinematics import frame, relative_motion
from kronbot.mechanics.multibody.recursion import ALGORITHMS, algorithm_of, inverse_dynamics
from kronbot.mechanics.multibody.state import generalized_inertia_matrix, propagate
from kronbot.model.build import build
from kronbot.model.robot import Robot
from kronbot.questions.result import Result
from kronbot.records import dataclass

# Instructions by kind; all others are functions.
KIND = {
    **dict.fromkeys((casadi.OP_MUL, casadi.OP_SQ), "multiplications"),
    **dict.fromkeys((casadi.OP_DIV, casadi.OP_INV), "divisions"),
    **dict.fromkeys((casadi.OP_ADD, casadi.OP_SUB, casadi.OP_NEG, casadi.OP_TWICE), "additions"),
    casadi.OP_SQRT: "square_roots",
    **dict.fromkeys((casadi.OP_CONST, casadi.OP_INPUT, casadi.OP_OUTPUT), "data"),
}
# The dense factorization of the composite algorithm has n^3/6 operations: minutes and gigabytes beyond.
DENSE, DENSE_LIMIT = ("forward_composite", "inertia"), 200


@dataclass(frozen=True)
class Operations:
    """Numbers of operations."""

    multiplications: int
    divisions: int
    additions: int
    square_roots: int
    functions: int


KINDS = tuple(field.name for field in fields(Operations))


def operations(function: casadi.Function) -> Operations:
    """What one evaluation of a function of scalars (an SX function) takes."""
    kinds = Counter(KIND.get(each.code, "functions") for each in instructions(function))
    return Operations(**{kind: kinds[kind] for kind in KINDS})


def bound_function(robot: Robot, inputs: Sequence[SX], expression: SX) -> casadi.Function:
    """An expression as a function of the inputs in which every parameter that has a value is that number."""
    extent = robot.parameters.extent
    symbols, values = robot.parameters.symbols(extent), robot.parameters.bound(extent)
    known = np.flatnonzero(np.isfinite(values)).tolist()
    numbers = casadi.substitute(casadi.densify(casadi.vec(expression)), symbols[known], SX(values[known]))
    return casadi.Function("bound", [*inputs, symbols], [casadi.cse(numbers)])


Q = tuple[SX, SX, SX]
"""Symbols q, qd and what a function asks for besides: qdd or tau."""


def _forward(algorithm: str) -> Callable[[Robot, Q], SX]:
    return lambda robot, s: ALGORITHMS[algorithm](propagate(robot, s[0], s[1]), s[2], {})


def _inertia(robot: Robot, s: Q) -> SX:
    M = generalized_inertia_matrix(propagate(robot, s[0], SX(robot.n, 1)))
    return casadi.vertcat(SX(0, 1), *(M[i, : i + 1].T for i in range(robot.n)))


def _jacobian(robot: Robot, s: Q) -> SX:
    motion = relative_motion(robot, s[0], frame(robot, "endpoint"), frame(robot, WORLD))
    return casadi.vertcat(motion.J_T, motion.J_R)


FUNCTIONS: Mapping[str, Callable[[Robot, Q], SX]] = {
    "forward_recursive": _forward("recursive"),
    "forward_composite": _forward("composite"),
    "inverse": lambda robot, s: inverse_dynamics(propagate(robot, s[0], s[1]), s[2]),
    "inertia": _inertia,
    "jacobian": _jacobian,
}
"""What is counted: forward dynamics by both algorithms, inverse dynamics, half of M, J_T and J_R of the endpoint."""


def count(robot: Robot, function: str) -> Operations:
    """Operations of one of FUNCTIONS for a robot.

    Raises UsageError for a dense function of more than DENSE_LIMIT coordinates, ComputationError where accelerations
    are asked for and torsion modes have no polar inertia.
    """
    _demand_countable(function, robot.n)
    q, qd, third = (SX.sym(name, robot.n) for name in ("q", "qd", "x"))
    return operations(bound_function(robot, [q, qd, third], FUNCTIONS[function](robot, (q, qd, third))))


def _demand_countable(function: str, n: int) -> None:
    if function in DENSE and n > DENSE_LIMIT:
        others = ",".join(name for name in FUNCTIONS if name not in DENSE)
        raise UsageError(
            f"{function} is counted up to {DENSE_LIMIT} coordinates, not {n}; ask for ", Argument("functions", others)
        )


# The link of Table 1: bending in two planes, the rotor's tensor and an offset with mass at the hub, a point mass at the
# tip, general angles and lengths. No number is 0 or 1, so that none makes an operation vanish.
LINK = """
  - name: link{0}
    joint: {{type: revolute, name: q{0}}}
    dh: {{a: 1.3, d: 0.2, alpha: 0.7, theta: 0}}
    flexible: {{mass: 2.1, EI: {{y: 130, z: 170}}, modes: {{v: {1}, w: {1}}}, shape: clamped-free}}
    hub:
      mass: 0.6
      com: [0, 0, -0.1]
      inertia: {{Ixx: 0.02, Iyy: 0.03, Izz: 0.04, Ixy: 0.003, Ixz: 0.004, Iyz: 0.005}}
    payload: {{mass: 0.4}}"""


def chain(links: int, modes: int, order: str) -> Robot:
    """A chain of equal links, with so many clamped-free modes in each of the two directions of bending."""
    head = "kronbot: 1\nname: chain\nconvention: standard\ngravity: [2.1, 3.2, -8.7]\nlinks:"
    text = head + "".join(LINK.format(i + 1, modes) for i in range(links)) + "\n"
    return build(description.load(description.Source("chain", text, None)), order)


def table1(n: int, m: int) -> dict[str, dict[str, float]]:
    """Table 1 of Mohan-Saha: multiplications and additions of forward dynamics, n links with m modes a direction.

    A_3c of Cyril has + 251 m/3 in the place of - 251 m/6: with it the printed 12683 at n = 8, m = 2 comes out.
    """
    h = 1 + 2 * m
    proposed = (
        (2 * m**2 + 180 * m + 299 + h**3 / 6 + (2 * m + 15 / 2) * h**2 + (2 * m**2 + 15 * m + 100 / 3) * h) * n
        - (124 * m + 229 + (2 * m**2 + 13 * m + 27) * h),
        (6 * m**2 + 122 * m + 220 + h**3 / 6 + h**2 / 2 + (6 * m**2 + 27 * m + 82 / 3) * h) * n
        - (94 * m + 192 + (2 * m**2 + 13 * m + 27) * h),
    )
    few = n < 7  # the printed branches n <= 7 and n >= 7 do not meet; the printed example at 8 is the second
    jain_rodriguez = (
        n * (5 * m**3 / 6 + 27 * m**2 / 2 + 893 * m / 3 + 281 if few else 13 * m**2 + 298 * m + 673),
        n * (5 * m**3 / 6 + 23 * m**2 / 2 + 677 * m / 3 + 256 if few else 14 * m**2 + 225 * m + 537),
    )
    cubic = h**3 / 6 + h**2 * (1 - m / 2) + h * (m**2 / 2 - 2 * m) - m**3 / 6 + m**2
    common = 5 * h**2 + m**3 / 6 + 53 * m**2 / 6
    cyril = (
        cubic * n**3
        + (-3 * h**2 / 2 + h * (3 * m + 33 / 2) - 3 * m**2 / 2 - 15 * m / 2 + 12) * n**2
        + (common - h * (10 * m + 109 / 6) + 233 * m / 3 + 246) * n
        - 123,
        cubic * n**3
        + (-3 * h**2 / 2 + h * (3 * m + 13) - 3 * m**2 / 2 - 17 * m / 2 + 9) * n**2
        + (common - h * (10 * m + 85 / 6) + 251 * m / 3 + 228) * n
        - 102,
    )
    authors = {"mohan_saha": proposed, "jain_rodriguez": jain_rodriguez, "cyril": cyril}
    return {name: dict(zip(("multiplications", "additions"), pair, strict=True)) for name, pair in authors.items()}


@dataclass(frozen=True)
class Chains:
    """Generated chains to count: all pairs of these numbers of links and of modes a direction."""

    links: Sequence[int]
    modes: Sequence[int]

    @staticmethod
    def of(links: Sequence[int] | None, modes: Sequence[int] | None) -> Chains:
        """Where only one is given the other is that of the example of Table 1: 8 links, 2 modes."""
        return Chains(range(8, 9) if links is None else links, range(2, 3) if modes is None else modes)


def complexity(
    robot: Robot, functions: Sequence[str], chains: Chains | None, progress: Callable[[float], None]
) -> Result:
    """Operations of some of FUNCTIONS: of the robot in the array ``operations``, of chains as series beside Table 1.

    ``progress`` is told the share that is done. Errors as of :func:`count`.
    """
    sizes = [] if chains is None else [(links, modes) for modes in chains.modes for links in chains.links]
    for links, modes in sizes:
        for function in functions:
            _demand_countable(function, links * (1 if robot.order == "0" else 1 + 2 * modes))
    counted = [astuple(count(robot, function)) for function in functions]
    array = NamedArray(np.array(counted), list(functions), "1", list(KINDS))
    rows: list[dict[str, float]] = []
    for links, modes in sizes:
        rows.append({"links": links, "modes": modes})
        example = chain(links, modes, robot.order)
        for function in functions:
            found = count(example, function)
            rows[-1] |= {f"{function}.{kind}": value for kind, value in zip(KINDS, astuple(found), strict=True)}
        for name, formula in table1(links, modes).items():
            rows[-1] |= {f"table1.{name}.{kind}": value for kind, value in formula.items()}
        progress(len(rows) / len(sizes))
    series = {name: np.array([row[name] for row in rows]) for name in (rows[0] if rows else {})}
    summary: dict[str, Scalar] = {"links": len(robot.file.links), "coordinates": robot.n}
    told = []
    if "forward_recursive" in functions and algorithm_of(robot, "recursive") != "recursive":
        told.append(
            "joints that follow others couple what the recursion takes apart: forward_recursive is forward_composite"
        )
    return Result("complexity", robot.name, robot.order, {}, {"operations": array}, series, summary, told, about=robot)
