"""Energies of a moving robot, J."""

from __future__ import annotations

import casadi
from casadi import SX

from kronbot.mechanics.multibody.elements import two_sided
from kronbot.mechanics.multibody.inertia import mass_moment
from kronbot.mechanics.multibody.state import State
from kronbot.mechanics.multibody.stops import Contacts
from kronbot.model.robot import Robot


def kinetic_energy(state: State) -> SX:
    """1/2 sum t_i^T M_i t_i plus the rotors (Mohan-Saha (17), (19))."""
    energy = SX(0)
    for at in state.links:
        energy += at.twist.T @ at.M @ at.twist / 2
    for joint in state.robot.joints:
        energy += joint.rotor_inertia * state.qd[joint.driven] ** 2 / 2
    return energy


def elastic_energy(state: State) -> SX:
    """1/2 q^T K q (20b) of beams, and that of springs, stops and elements, which is zero where they are slack."""
    energy = SX(0)
    for link in state.robot.links:
        if link.beam is not None:
            q_f = state.q[link.modal, :]
            energy += q_f.T @ link.beam.stiffness_matrix() @ q_f / 2
    for spring in state.robot.springs:
        stretch = state.robot.row(spring.stretch) @ state.q - spring.rest
        energy += spring.stiffness * stretch**2 / 2
    energy += Contacts.of(state.robot, state.q, state.qd).energy
    return energy + sum((each.energy for each in two_sided(state.robot, state.q)), SX(0))


def gravity_energy(state: State) -> SX:
    """-sum m g . r over all masses, zero where the centre of mass is at the base's origin."""
    energy = SX(0)
    for at in state.links:
        mass, moment = mass_moment(at.M)
        energy -= casadi.dot(state.robot.gravity, mass * at.pose.r + at.pose.R @ moment)
    return energy


def gravity_size(state: State) -> SX:
    """sum |g| |m r|: the parts that the energy of gravity is a sum of are as large, and so is their rounding."""
    largest = SX(0)
    for at in state.links:
        mass, moment = mass_moment(at.M)
        largest += casadi.norm_2(mass * at.pose.r + at.pose.R @ moment)
    return casadi.norm_2(state.robot.gravity) * largest


def total_mass(robot: Robot) -> SX:
    """Mass of all links, kg."""
    mass = SX(0)
    for link in robot.links:
        bodies = [*link.bodies, *([] if link.hub is None else [link.hub])]
        mass += sum((body.mass for body in bodies), SX(0)) + (SX(0) if link.beam is None else link.beam.mass)
    return mass
