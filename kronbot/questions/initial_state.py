"""Where a simulation starts: on the motion, with straight beams or with beams that lie in their sag."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import casadi
import numpy as np
from casadi import SX

from kronbot.compute.arrays import Scalar
from kronbot.compute.trace import Trace, traced
from kronbot.description import limits
from kronbot.errors import UsageError
from kronbot.floats import Array
from kronbot.mechanics.linear.regularity import demand_regular
from kronbot.mechanics.motion.equations import Equations
from kronbot.mechanics.motion.forces import forces as forces_of
from kronbot.mechanics.multibody.attitude import demand_no_gimbal_lock
from kronbot.mechanics.multibody.damping import damping_matrix
from kronbot.mechanics.multibody.elements import elements_at_rest, two_sided
from kronbot.mechanics.multibody.energy import gravity_energy
from kronbot.mechanics.multibody.kinematics import completed
from kronbot.mechanics.multibody.recursion import inverse_dynamics
from kronbot.mechanics.multibody.state import generalized_inertia_matrix, propagate
from kronbot.mechanics.multibody.stops import Contacts, stop_forces, without_contacts
from kronbot.model.beam import TIP
from kronbot.model.floating import hung
from kronbot.model.robot import Robot

PURPOSE = "simulate"
# Beams that gravity alone bends by more than this share of their largest deflection feel it as a step at t = 0.
STEP_OF_GRAVITY = 0.1
# Rates (rad/s, m/s) of a start beyond this are no mechanics: light is hardly faster.
FASTEST = 1e8
# Shares of its weight and of what gravity does at all, up to which a joint rests, and how far off (rad, m) it is where
# it should be: places are given in few digits.
AT_REST, ROUNDING = 1e-3, 1e-9
FALLING = "a floating base falls, and nothing holds it in an equilibrium: start straight"


def initial_state(
    robot: Robot, system: Equations, start: str, given_q: Mapping[int, float], given_qd: Mapping[int, float]
) -> Array:
    """The state x at t = 0: joints on their motion, or at 0, beams as ``start`` says, and what is given otherwise.

    Raises UsageError for values of joints that follow a motion exactly and of beams that start in their equilibrium,
    ComputationError where there is no equilibrium.
    """
    on_motion = {joint.driven: robot.motions[joint.name] for joint in robot.joints if joint.name in robot.motions}

    def motions() -> tuple[dict[str, SX], dict[str, SX]]:
        t = SX.sym("t")
        followed = on_motion | dict(system.drives.prescribed)
        return {"t": t}, {"t": t} | {str(place): casadi.vertcat(*m.derivatives(t)) for place, m in followed.items()}

    first = traced(robot, "first", PURPOSE, motions)(0.0)
    del first["t"]  # since nothing at all has no trace
    for place in (*given_q, *given_qd):
        if place not in system.free:
            raise UsageError(f"{robot.coordinates[place]} follows a prescribed motion; it takes no initial value")
    states = []
    for i, (word, given) in enumerate({"q": given_q, "qd": given_qd}.items()):
        known = {int(joint): float(at[i]) for joint, at in first.items()}
        known |= {place: value for place, value in robot.with_shafts(given).items() if place in system.free}
        states.append(completed(robot, known, word))
    q, qd = states
    demand_no_gimbal_lock(robot, q)
    if start == "equilibrium":
        links = [joint.index for joint in robot.joints]
        modal = next((place for place in given_q if place in robot.flexible and place not in links), None)
        if modal is not None:
            raise UsageError(
                f"{robot.coordinates[modal]} starts in the equilibrium; start straight to give it a value of its own"
            )
        if falls(robot):
            raise UsageError(FALLING)
        from kronbot.questions.statics import sag  # here, since few runs start there

        q = sag(robot, q)
    return np.concatenate([q[system.free], qd[system.free], np.zeros(system.x.numel() - 2 * len(system.free))])


def falls(robot: Robot) -> bool:
    """Whether no elements hold a floating base against gravity."""
    return bool(robot.base) and not hung(robot) and any(robot.parameters.evaluate_all(robot.gravity, PURPOSE))


def told_of_tendons(robot: Robot, system: Equations) -> list[str]:
    """A word on drives that know nothing of the tendons that alone hold a base, and the weight of the arm on it."""
    weighing = system.drives.along_motion or system.drives.controllers.weighs
    if not weighing or not hung(robot) or not falls(without_contacts(robot)):
        return []
    return [
        "tendons alone hold the base, and drives know none: torques of the rigid arm, and gravity compensation, are "
        "those of a base that falls, on which the arm weighs nothing; springs (type: spring) hold it for drives, too"
    ]


def step_of_gravity(
    robot: Robot,
    system: Equations,
    which: Hashable,
    report: Trace,
    x: Array,
    summary: Mapping[str, Scalar],
    given: Sequence[Array],
) -> list[str]:
    """A word on straight beams that gravity, with elements, bends much: by -K^-1 dV/dq_f at q_f = 0 (linear).

    ``which`` tells the equations apart from others of the robot.

    Where joints are let go it sets the arm falling, and beams in their sag would fly up: nothing is said then.
    """
    if robot.base:  # which falls with its beams
        return []
    modal = [i for link in robot.links if link.beam is not None for i in range(link.modal.start, link.modal.stop)]
    places = [system.free.index(i) for i in modal]
    if robot.gravity.is_zero() or not places or x[places].any():
        return []

    def sagging_forces() -> tuple[dict[str, SX], dict[str, SX]]:
        state, still = system.state, SX(robot.n, 1)
        q_f, pulled = system.x[places, :], elements_at_rest(state) + stop_forces(state.robot, state.q, still)
        pulled = pulled[modal, :]
        K = robot.stiffness[modal, modal] + casadi.jacobian(pulled, q_f)
        g = casadi.gradient(gravity_energy(system.state), q_f) + pulled
        return {"t": system.t, "x": system.x}, {"g": g, "K": K}

    values = traced(robot, "sag", PURPOSE, sagging_forces)(0.0, x)
    sagging = x.copy()
    sagging[places] = -np.linalg.solve(values["K"].reshape(len(places), -1), values["g"])
    tips = report(0.0, sagging, *given)

    def unrest(x: Array) -> float:
        return float(_unrest(robot, system, which)(0.0, x, *given)["unrest"].item())

    for link in robot.links:
        if link.beam is not None and link.modes:
            sag_of_tip = float(np.linalg.norm(tips[f"tip {link.name}"]))
            most = float(summary[f"peak_deflection.{link.name}"])
            if sag_of_tip > STEP_OF_GRAVITY * most and unrest(sagging) < unrest(x):
                what = "gravity with elements" if robot.elements else "gravity alone"
                return [
                    f"{what} bends {link.name} by {sag_of_tip:.3g} m, beside {most:.3g} m at most in this run, and "
                    "acts as a step on beams that start straight: start equilibrium (simulate: {start: equilibrium}) "
                    "begins at rest"
                ]
    return []


def told_of_letting_go(robot: Robot, system: Equations, given: Mapping[int, float], q: Array, size: float) -> list[str]:
    """A word on joints that nothing drives and that do not rest at q (n,), where a run starts with beams in their sag:
    these alone are moved to an equilibrium. Joints whose places are ``given`` are meant to be there.

    ``size`` (J) is that of what gravity does. Dry friction may hold a joint: nothing is said of such.
    """
    undriven = [each for each in robot.joints if each.name in system.drives.undriven and each.friction is None]
    loose = [each for each in undriven if each.driven not in given]
    if not loose:
        return []
    from kronbot.questions.pressed import pressed  # here, since few runs start there

    def parts() -> tuple[dict[str, SX], dict[str, SX]]:
        at, still = SX.sym("q", robot.n), SX(robot.n, 1)
        state = pressed(propagate(robot, at, still))
        forces = {"tau": inverse_dynamics(state, still), "weight": casadi.gradient(gravity_energy(state), at)}
        return {"q": at}, forces

    forces = traced(robot, "let go", PURPOSE, parts)(q)
    told, loads = [], " and what acts on frames here as loads" if forces_of(robot).constant.on_frames else ""
    for joint in loose:
        tau, weight = (float(forces[word].ravel()[joint.driven]) for word in ("tau", "weight"))
        if abs(tau) > max(AT_REST * abs(weight), ROUNDING * size):
            what = f"{joint.name} starts at {q[joint.driven]:.4g} {robot.units[joint.driven]}"
            told.append(
                f"{what}, where nothing holds it against {abs(tau):.3g} {'N m' if joint.revolute else 'N'}: beams "
                f"alone start in the equilibrium; statics with no torque there (tau){loads} tells where it rests, for q"
            )
    return told


def told_of_standing(robot: Robot, system: Equations, q: Array) -> list[str]:
    """A word on joints without a motion and off 0 at the start q (n,): torques of the rigid arm are not
    for them there."""
    if not system.drives.along_motion:
        return []
    elsewhere = [
        (joint.name, f"{q[joint.driven]:.4g}", robot.units[joint.driven])
        for joint in robot.joints
        if joint.name not in robot.motions and abs(q[joint.driven]) > AT_REST
    ]
    return [
        f"{name} starts at {place} {unit} and has no motion: torques of the rigid arm are those with {name} at 0; "
        f"motion: {{{name}: {place}}} has them where it starts"
        for name, place, unit in elsewhere
    ]


def _unrest(robot: Robot, system: Equations, which: Hashable) -> Trace:
    """qdd^T M qdd of the free coordinates."""

    def parts() -> tuple[dict[str, SX], dict[str, SX]]:
        M, qdd = (each[system.free, :] for each in (generalized_inertia_matrix(system.state), system.qdd))
        given = {"given": system.given} if system.given.numel() else {}
        return {"t": system.t, "x": system.row} | given, {"unrest": qdd.T @ M[:, system.free] @ qdd}

    return traced(robot, ("unrest", which), PURPOSE, parts)


def held(system: Equations) -> tuple[SX, SX]:
    """The stiffness and the damping (n x n) of stops that joints are in, and of tendons that are taut."""
    state = system.state
    contacts = Contacts.of(state.robot, state.q, state.qd)
    return contacts.stiffness, contacts.damping


def matrices(robot: Robot, system: Equations, x: Array) -> dict[str, Array]:
    """M, D and K of the free coordinates at the start x as a run tells it, K with the ``gains`` of drives, and tips.

    K is that of springs, beams, elements, stops that joints are in, and drives, and D that of the same and of joints,
    without dry friction, whose slope at rest holds for no swing; ``tips`` are the derivatives of the places of tips,
    one after the other, and of what torsion moves at the ends of levers as long as its beams.

    Raises UsageError where a coordinate starts so far off or so fast that integrators would only wear out,
    ComputationError, naming a coordinate, where M is singular.
    """
    count = len(system.free)
    for what, values, most in (("starts at", x, limits.LARGEST), ("starts with the rate", x[count:], FASTEST)):
        for place, value in zip(system.free, values[:count].tolist(), strict=True):
            if not abs(value) <= most:
                raise UsageError(f"{robot.coordinates[place]} {what} {value:.3g}; {most:g} is the limit (SI units)")

    def traced_matrices() -> tuple[dict[str, SX], dict[str, SX]]:
        free, state = system.free, system.state
        M = generalized_inertia_matrix(state)[free, free]
        x, rates = system.x[: len(free), :], system.x[len(free) : 2 * len(free), :]
        gains, of_rates = (casadi.jacobian(-system.tau[free, :], each) for each in (x, rates))
        stiff, damped = held(system)
        K = (robot.stiffness + stiff)[free, free] + gains
        K += casadi.jacobian(elements_at_rest(state)[free, :], x)
        dampers = sum((each.damping for each in two_sided(state.robot, state.q)), damped)
        D = (damping_matrix(robot, state.q) + dampers)[free, free] + of_rates
        beams = [(each, each.link.beam, state.q[each.link.modal, :]) for each in state.links if each.link.beam]
        tips = [beam.moved(TIP, each.tip.pose.r) for each, beam, _ in beams]
        levers = [beam.length * beam.twist(TIP, q_f) for _, beam, q_f in beams if beam.torsion.count]
        moved = casadi.vertcat(SX(0, 1), *tips, *(casadi.vertcat(each, 0, 0) for each in levers))
        found = {"M": M, "D": D, "K": K, "gains": gains, "tips": casadi.jacobian(moved, x)}
        return {"t": system.t, "x": system.row}, found

    found = traced(robot, "at the start", PURPOSE, traced_matrices)(0.0, x)
    demand_regular(found["M"].reshape(count, count), [robot.coordinates[place] for place in system.free])
    return found
