"""The functions that ``export`` writes: each a question about a robot with fixed names of inputs and outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import casadi
from casadi import SX

from kronbot.cached import cached_property
from kronbot.compute.code.routine import Binding, Package
from kronbot.compute.question import Quantity, Question
from kronbot.errors import UsageError
from kronbot.mechanics.linear.linear_model import LinearModel
from kronbot.mechanics.multibody.energy import elastic_energy, gravity_energy, kinetic_energy
from kronbot.mechanics.multibody.kinematics import relative_motion
from kronbot.mechanics.multibody.recursion import (
    ALGORITHMS,
    algorithm_of,
    demand_inertia,
    inverse_dynamics,
    solve_positive,
)
from kronbot.mechanics.multibody.state import State, generalized_inertia_matrix, propagate
from kronbot.model.build import build
from kronbot.model.parameters import Parameters
from kronbot.model.robot import Robot
from kronbot.questions import hessian as hessians
from kronbot.questions import jacobian as jacobians
from kronbot.questions.elements import told_of_time
from kronbot.questions.jacobian import AXES, FrameView
from kronbot.questions.outline import matrix_units
from kronbot.records import dataclass

PURPOSE = "export"


@dataclass(frozen=True)
class ExportOptions:
    """What the functions have in common: algorithm of forward dynamics, frame and axes ("base" or "body")."""

    algorithm: str
    frame: str
    axes: str


@dataclass(frozen=True)
class _Asked:
    """A robot, symbols for its coordinates and forces, and what was chosen."""

    robot: Robot
    q: SX
    qd: SX
    qdd: SX
    tau: SX
    algorithm: str
    view: FrameView

    @cached_property
    def state(self) -> State:
        """The moving robot."""
        return propagate(self.robot, self.q, self.qd)

    @cached_property
    def inertia(self) -> SX:
        """The generalized inertia matrix."""
        return generalized_inertia_matrix(propagate(self.robot, self.q, SX(self.robot.n, 1)))

    @cached_property
    def accelerations(self) -> SX:
        """qdd under tau. Raises ComputationError where torsion modes carry no inertia."""
        demand_inertia(self.robot)
        return ALGORITHMS[self.algorithm](self.state, self.tau, {})

    def question(self, words: str, quantities: dict[str, Quantity]) -> Question:
        """Quantities as functions of some of the symbols, named in one text."""
        inputs = {word: getattr(self, word) for word in words.split()}
        names = self.robot.derivative_names(["q", "qd", "qdd"]) | {"tau": list(self.robot.coordinates)}
        return Question(self.robot.parameters, inputs, names, quantities, PURPOSE)

    def vector(self, expression: SX, per: str = "") -> Quantity:
        """One entry a coordinate: forces, or second derivatives of the coordinates (``per`` is "s2")."""
        units = [f"{unit}/{per}" for unit in self.robot.units] if per else self.robot.force_units(range(self.robot.n))
        return Quantity(expression, self.robot.coordinates, None, {"rows": units})

    def square(self, expression: SX, rows: Sequence[str], columns: Sequence[str]) -> Quantity:
        """One row and one column a coordinate."""
        names = self.robot.coordinates
        return Quantity(expression, names, names, {"rows": list(rows), "columns": list(columns)})


def package(robot: Robot, names: Sequence[str], choice: ExportOptions) -> Package:
    """The functions of those names, keys of FUNCTIONS, as routines with the robot's numbers.

    Raises UsageError for an unknown frame and a robot without coordinates, ComputationError where forward dynamics is
    asked for and the inertia matrix is singular.
    """
    if not robot.n:
        raise UsageError("the robot has no coordinates, hence no functions of them")
    parameters = Parameters(robot.file.parameters, robot.description.values)
    robot = build(robot.description, robot.order, parameters)
    q, qd, qdd, tau = (SX.sym(word, robot.n) for word in ("q", "qd", "qdd", "tau"))
    asked = _Asked(robot, q, qd, qdd, tau, choice.algorithm, jacobians.view(robot, choice.frame, choice.axes))
    questions = {name: FUNCTIONS[name].question(asked) for name in names}
    binding = Binding.of(parameters, parameters.shaping)
    words = {"algorithm": algorithm_of(robot, choice.algorithm), "frame": choice.frame, "axes": choice.axes}
    return Package(
        robot=robot.name,
        order=robot.order,
        coordinates=robot.coordinates,
        units=robot.units,
        force_units=robot.force_units(range(robot.n)),
        parameters=binding.defaults,
        fixed=binding.fixed,
        routines=[
            binding.routine(name, FUNCTIONS[name].meaning.format(**words), question)
            for name, question in questions.items()
        ],
        told=told_of_time(robot) if any(FUNCTIONS[name].exerts for name in names) else [],
    )


def heeds(name: str, option: str) -> bool:
    """Whether a function has an option of :class:`ExportOptions`, which its meaning then tells."""
    return f"{{{option}}}" in FUNCTIONS[name].meaning


def _forward_dynamics(asked: _Asked) -> Question:
    return asked.question("q qd tau", {"qdd": asked.vector(asked.accelerations, "s2")})


def _forward_dynamics_derivatives(asked: _Asked) -> Question:
    """By the implicit function theorem, -M^-1 d tau/dq: a third of the operations of differentiating the recursion."""
    robot, n = asked.robot, asked.robot.n
    motion = casadi.vertcat(asked.q, asked.qd)
    needed = inverse_dynamics(asked.state, asked.qdd)
    slopes = casadi.substitute(casadi.jacobian(needed, motion), asked.qdd, asked.accelerations)
    inverse = solve_positive(asked.inertia, SX.eye(n))
    by_motion = -inverse @ slopes
    rows, forces = [f"{unit}/s2" for unit in robot.units], robot.force_units(range(n))
    quantities = {
        "qdd": asked.vector(asked.accelerations, "s2"),
        "dqdd_dq": asked.square(by_motion[:, :n], rows, [f"1/({unit})" for unit in robot.units]),
        "dqdd_dqd": asked.square(by_motion[:, n:], rows, [f"s/({unit})" for unit in robot.units]),
        "dqdd_dtau": asked.square(inverse, rows, [f"1/({unit})" for unit in forces]),
    }
    return asked.question("q qd tau", quantities)


def _inverse_dynamics(asked: _Asked) -> Question:
    return asked.question("q qd qdd", {"tau": asked.vector(inverse_dynamics(asked.state, asked.qdd))})


def _bias(asked: _Asked) -> Question:
    return asked.question("q qd", {"bias": asked.vector(inverse_dynamics(asked.state, SX(asked.robot.n, 1)))})


def _mass_matrix(asked: _Asked) -> Question:
    units = matrix_units(asked.robot, list(range(asked.robot.n)))[0]
    return asked.question("q", {"M": asked.square(asked.inertia, units["rows"], units["columns"])})


def _pose(asked: _Asked) -> Question:
    pose = relative_motion(asked.robot, asked.q, asked.view.of, asked.view.to).pose
    quantities = {"position": Quantity(pose.r, AXES, None, "m"), "rotation": Quantity(pose.R, AXES, AXES, "1")}
    return asked.question("q", quantities)


def _energy(asked: _Asked) -> Question:
    state = asked.state
    energies = casadi.vertcat(kinetic_energy(state), elastic_energy(state), gravity_energy(state))
    return asked.question("q qd", {"energy": Quantity(energies, ("kinetic", "elastic", "gravity"), None, "J")})


def _linear_model(asked: _Asked) -> Question:
    robot = asked.robot
    force = SX.sym("force", 3)
    linear = LinearModel(robot, asked.q, asked.qd, asked.qdd, SX(len(robot.joints), 1), force)
    units = matrix_units(robot, list(range(robot.n)))
    matrices = {"M_L": linear.M_L, "D_L": linear.D_L, "K_L": linear.K_L}
    quantities = {
        name: asked.square(matrix, unit["rows"], unit["columns"])
        for (name, matrix), unit in zip(matrices.items(), units, strict=True)
    }
    quantities["h_L"] = asked.vector(linear.h_L + asked.tau)
    question = asked.question("q qd qdd tau", quantities)
    inputs, names = {**question.inputs, "force": force}, {**question.names, "force": AXES}
    return Question(question.parameters, inputs, names, quantities, PURPOSE)


@dataclass(frozen=True)
class Exported:
    """A function: what it is in a sentence, which may name the choices, how it is traced, and whether forces on the
    robot, of its elements among them, act in it."""

    meaning: str
    question: Callable[[_Asked], Question]
    exerts: bool = False


FUNCTIONS = {
    "forward_dynamics": Exported(
        "Accelerations of a robot under forces ({algorithm} algorithm).", _forward_dynamics, exerts=True
    ),
    "forward_dynamics_derivatives": Exported(
        "Accelerations of a robot under forces ({algorithm} algorithm), and their derivatives.",
        _forward_dynamics_derivatives,
        exerts=True,
    ),
    "inverse_dynamics": Exported("Forces that a motion needs: M qdd + bias.", _inverse_dynamics, exerts=True),
    "bias": Exported(
        "Forces of a motion without accelerations: Coriolis, gravity, stiffness and damping.", _bias, exerts=True
    ),
    "mass_matrix": Exported("The generalized inertia matrix.", _mass_matrix),
    "pose": Exported("Position and rotation of frame {frame}, in the axes of the frame it is seen from.", _pose),
    "jacobian": Exported(
        "Jacobians of frame {frame}, {axes} axes.", lambda asked: jacobians.jacobian(asked.robot, asked.view, False)
    ),
    "hessian": Exported(
        "Hessians of frame {frame}, {axes} axes: the Khang derivatives of its Jacobians.",
        lambda asked: hessians.hessian(asked.robot, asked.view, False),
    ),
    "energy": Exported("Energies of a moving robot.", _energy),
    "linear_model": Exported(
        "Linear model M_L y'' + D_L y' + K_L y = h_L of the deviation y from a motion.", _linear_model, exerts=True
    ),
}
