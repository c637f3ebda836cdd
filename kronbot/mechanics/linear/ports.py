"""Where inputs enter a linear model, and what is seen of it: signals as derivatives of the equations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import casadi
import numpy as np
from casadi import SX

from kronbot.floats import Array
from kronbot.mechanics.linear.linear_model import LinearModel
from kronbot.mechanics.multibody.carried import carried, loaded
from kronbot.mechanics.multibody.elements import stretched
from kronbot.mechanics.multibody.inertia import turned
from kronbot.mechanics.multibody.outputs import Instant
from kronbot.mechanics.multibody.recursion import inverse_dynamics
from kronbot.mechanics.multibody.rotations import rotation_vectors
from kronbot.mechanics.multibody.state import State
from kronbot.model.gauge import gauge_place
from kronbot.model.pose import left_jacobian
from kronbot.model.robot import Robot


def entering(linear: LinearModel, inputs: Sequence[str]) -> SX:
    """E (n x inputs) with forces E u, of joint ``torques``, the endpoint ``force``, the forces of ``elements``, and
    those that the file has from ``outside`` in simulations."""
    robot = linear.robot
    pushes = (each.push for each in stretched(robot, linear.q) if each.element.driven)
    sides = {
        "torques": SX.eye(robot.n)[:, list(robot.rigid)],
        "force": linear.J_T.T,
        "elements": casadi.horzcat(SX(robot.n, 0), *pushes),
        "outside": _from_outside(linear) if "outside" in inputs else SX(robot.n, 0),
    }
    return casadi.horzcat(SX(robot.n, 0), *(side for word, side in sides.items() if word in inputs))


def _from_outside(linear: LinearModel) -> SX:
    """Columns (n x components) of the forces from outside, by the rates with which their points move and turn."""
    robot, columns = linear.robot, SX(linear.robot.n, 0)
    if robot.file.simulate.forces:
        for push in robot.file.simulate.forces:
            at = carried(linear.state, push.frame, robot.parameters.vector(push.at))
            twist = turned(at.pose.R.T, at.twist) if push.axes == "body" else at.twist
            columns = casadi.horzcat(columns, casadi.jacobian(twist, linear.qd)[push.given, :].T)
    return columns


def _acting(state: State, pressed: SX) -> State:
    """The robot with components (components x 1) of the forces from outside acting on it, if any."""
    robot, start = state.robot, 0
    for push in robot.file.simulate.forces if pressed.numel() else ():
        at, wrench = carried(state, push.frame, robot.parameters.vector(push.at)), SX(6, 1)
        wrench[push.given, :] = pressed[start : start + len(push.given), :]
        wrench = turned(at.pose.R, wrench) if push.axes == "body" else wrench
        state, start = loaded(state, [(at.link, at.on_link(wrench[:3], wrench[3:]))]), start + len(push.given)
    return state


def places_seen(linear: LinearModel, words: Sequence[str]) -> SX:
    """P (outputs x n) of what sensors in joints see, of the endpoint's position, and of curvatures v'' at gauges."""
    robot = linear.robot
    sides = [SX(0, robot.n)]
    sides += [SX.eye(robot.n)[measured(robot), :]] if "joints" in words else []
    sides += [linear.J_T] if "endpoint" in words else []
    if "gauges" in words:
        for link, beam, xi in (gauge_place(robot, gauge) for gauge in robot.file.statics.gauges):
            row = SX(1, robot.n)
            row[0, slice(link.modal.start, link.modal.start + beam.v.count)] = beam.row(beam.v, xi, 2)
            sides.append(row)
    return casadi.vertcat(*sides)


def measured(robot: Robot) -> list[int]:
    """Places of what sensors in joints see: their angles or ways, and those of motors behind shafts."""
    return sorted(place for joint in (*robot.joints, *robot.followers) for place in joint.places)


def instant(linear: LinearModel, locked: frozenset[int], pushes: SX, pressed: SX) -> Instant:
    """The basic motion, with the force on the endpoint; torques of locked joints are what these need.

    ``pushes`` come on top of the forces of elements that have one, and ``pressed`` from outside.
    """
    more = iter(casadi.vertsplit(pushes))
    elements = (replace(each, force=each.force + next(more)) if each.driven else each for each in linear.robot.elements)
    robot = replace(linear.robot, elements=tuple(elements))
    state = replace(linear.state, robot=robot)
    at = carried(state, "endpoint")
    state = _acting(loaded(state, [(at.link, at.on_link(linear.force, SX(3, 1)))]), pressed)
    tau, needed = SX(robot.n, 1), inverse_dynamics(state, linear.qdd)
    for i, joint in enumerate(robot.joints):
        tau[joint.driven] = needed[joint.driven] if joint.driven in locked else linear.tau[i]
    return Instant(state, linear.qdd, tau)


def seen(
    linear: LinearModel, asked: Sequence[tuple[str, str]], inputs: Sequence[str], locked: frozenset[int]
) -> dict[str, SX]:
    """Derivatives of outputs, by kind and name: "by q", "by qd" and "by qdd" (outputs x n), "by u" (outputs x inputs).

    Those of a rotation are of its angular velocity by qd, :func:`turning` makes them derivatives of its vector; it is
    there as R (3 x 3) by ``KIND:NAME``.
    """
    pushes = SX.sym("pushes", sum(element.driven for element in linear.robot.elements))
    outside = linear.robot.file.simulate.forces if "outside" in inputs else ()
    pressed = SX.sym("pressed", sum(len(push.given) for push in outside))
    at = instant(linear, locked, pushes, pressed)
    values = [at.of(kind, name) for kind, name in asked]
    signals = {"torques": linear.tau, "force": linear.force, "elements": pushes, "outside": pressed}
    motion = {"by q": linear.q, "by qd": linear.qd, "by qdd": linear.qdd}
    motion["by u"] = casadi.vertcat(SX(0, 1), *(each for word, each in signals.items() if word in inputs))
    turns = {(kind, name): at.frame(name).twist[3:] for kind, name in asked if kind == "rotation"}
    parts = {}
    for word, symbols in motion.items():
        rows = [SX(0, symbols.rows())]
        for pair, value in zip(asked, values, strict=True):
            if pair in turns:
                rows.append(casadi.jacobian(turns[pair], linear.qd) if word == "by q" else SX(3, symbols.rows()))
            else:
                rows.append(casadi.jacobian(value, symbols))
        added = casadi.vertcat(pushes, pressed)
        parts[word] = casadi.substitute(casadi.vertcat(*rows), added, SX.zeros(added.shape))
    return parts | {f"{kind}:{name}": R for (kind, name), R in zip(asked, values, strict=True) if kind == "rotation"}


def turning(R: Array) -> Array:
    """The derivative (3 x 3) of the rotation vector of R by its turning, the inverse of the left Jacobian."""
    V = casadi.evalf(left_jacobian(SX(rotation_vectors(R))))
    return np.asarray(np.linalg.inv(np.asarray(V)))
