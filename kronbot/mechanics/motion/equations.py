"""The equations of motion of a driven robot as a first-order system, which an integrator takes."""

from __future__ import annotations

from dataclasses import replace

import casadi
import numpy as np
from casadi import SX

from kronbot.mechanics.motion.charts import charted, own_rates
from kronbot.mechanics.motion.contacts import Switch
from kronbot.mechanics.motion.drives import Drives, drives
from kronbot.mechanics.motion.forces import Forces, at_time, forces
from kronbot.mechanics.motion.integration import Ode
from kronbot.mechanics.multibody.carried import carried, loaded
from kronbot.mechanics.multibody.damping import dissipative_forces
from kronbot.mechanics.multibody.elements import element_power
from kronbot.mechanics.multibody.recursion import ALGORITHMS, inverse_dynamics
from kronbot.mechanics.multibody.state import State, propagate
from kronbot.mechanics.multibody.stops import Contacts, one_sided, without_contacts
from kronbot.model.parameters import Parameters
from kronbot.model.robot import Robot
from kronbot.records import dataclass

# What squares of torques are integrated times where something moves freely, whose steps are those of the run: so little
# that no estimate of errors sees them. A power of two rounds nothing.
UNSEEN = 2.0**-200


@dataclass(frozen=True)
class Equations:
    """The equations of motion of a driven robot as a first-order system: those of all robots of one structure.

    The state is x = [free q, free qd, what controllers remember, work of drives, elements and forces, energy
    dissipated or held by stops, integrals of the squares of joint torques as ``efforts`` tells]; joints with a
    prescribed motion are no states, they are where the motion says, exactly. ``tau`` (n x 1) includes the torques those
    joints need, ``qdd`` (n x 1) are the accelerations of all. ``symbols`` are those of the robot's numbers, and of the
    chart of a floating base, ``extent`` how many numbers there were, ``parameters`` the names that the rate depends on.
    ``given`` are dead force (N) and moment (N m) on each of some frames, whatever the file has. ``memory`` is what
    controllers remember, ``sampled`` what they do from each instant on.
    """

    drives: Drives
    forces: Forces
    t: SX
    x: SX
    rate: SX
    state: State
    qdd: SX
    tau: SX
    free: list[int]
    symbols: SX
    extent: tuple[int, int]
    parameters: set[str]
    told: SX
    given: SX
    switch: Switch
    memory: SX
    sampled: SX

    @property
    def row(self) -> SX:
        """The state as a run tells it: x, of a floating base also its chart and its angles in the robot's own."""
        return casadi.vertcat(self.x, self.told)

    @property
    def accounts(self) -> SX:
        """Work and what is dissipated or held."""
        return self.x[self._first_account : self._first_account + 2, :]

    @property
    def efforts(self) -> SX:
        """The integral of tau^2 of each joint."""
        return self.x[self._first_account + 2 :, :] / _weight_of_efforts(self.free)

    @property
    def _first_account(self) -> int:
        return 2 * len(self.free) + self.memory.numel()

    @property
    def coordinates(self) -> tuple[SX, SX]:
        """The robot's own q and qd."""
        q, qd, base = SX(self.state.q), SX(self.state.qd), self.state.robot.base
        if base:
            turning, angles, omega = list(base[3:]), self.told[1:], self.state.links[len(base)].twist[3:6]
            q[turning], qd[turning] = angles, own_rates(angles, omega)
        return q, qd

    def corners(self, parameters: Parameters, end: float, wanted_for: str) -> list[float]:
        """Times (s) up to an end at which the equations, or a derivative of them, jump; in no order."""
        of_forces = (t for t in self.forces.corners(parameters, wanted_for) if 0 < t < end)
        return [*self.drives.corners(parameters, end, wanted_for), *of_forces]

    @property
    def ode(self) -> Ode:
        """What an integrator takes."""
        sampled, count, held = self.x, 2 * len(self.free), np.zeros(self.x.numel(), dtype=bool)
        if self.sampled.numel():
            sampled = casadi.vertcat(self.x[:count], self.sampled, self.x[count + self.sampled.numel() :])
            first, control = count + len(self.drives.controllers.remembered), self.drives.controllers
            held[first : first + len(control.joints)] = True
        parts = self.t, self.x, self.rate, len(self.free), self.symbols, self.switch, self.memory.numel()
        return Ode(*parts, sampled, held, self.efforts.numel() if self.free else 0)


def _weight_of_efforts(free: list[int]) -> float:
    return UNSEEN if free else 1.0


def equations(robot: Robot, algorithm: str, frames: tuple[str, ...] = ()) -> Equations:
    """The equations of a robot with the drives of its file, and loads on frames; the accelerations by ``recursive`` or
    ``composite``.
    """
    key = "equations", algorithm, frames
    return robot.kept(key, lambda: equations_of(robot, drives(robot), algorithm, frames))


def equations_of(robot: Robot, driven: Drives, algorithm: str, frames: tuple[str, ...] = ()) -> Equations:
    """The same with other drives than those of its file, traced anew."""
    driven_at = [joint.driven for joint in robot.joints]
    t, account, efforts = SX.sym("t"), SX.sym("account", 2), SX.sym("efforts", len(driven_at))
    free_q, free_qd = SX.sym("q", robot.n), SX.sym("qd", robot.n)
    q, qd, given = SX(free_q), SX(free_qd), {}
    moving, told = at_time(robot, t), SX(0, 1)
    if robot.base:
        told = SX.sym("told", 4)
        moving = charted(moving, told[0])
    driven = replace(driven, robot=moving)
    for place, motion in driven.prescribed.items():
        q[place], qd[place], given[place] = motion.derivatives(t)
    free = robot.others(given)
    outer, loads = forces(robot), SX.sym("given", 6, len(frames))
    state, outer_power = outer.on(propagate(without_contacts(moving), q, qd), t)
    for name, wrench in zip(frames, casadi.horzsplit(loads), strict=True):
        at = carried(state, name)
        state = loaded(state, [(at.link, at.on_link(wrench[:3], wrench[3:]))])
        outer_power += casadi.dot(wrench, at.twist)
    # Whether stops push and tendons pull changes at events, which the integration finds: in between forces are smooth.
    contacts, touching = Contacts.of(moving, q, qd), SX.sym("touching", one_sided(robot))
    pushing = touching * contacts.forces
    held = contacts.taken(pushing)
    memory = SX.sym("memory", driven.states)
    tau, memory_rate, sampled = driven.torques(t, q, qd, memory)
    qdd = ALGORITHMS[algorithm](state, tau - held, given)
    if given:
        needed = inverse_dynamics(state, qdd) + held
        for place in given:
            tau[place] = needed[place]
    pushed, taken = casadi.vertsplit(element_power(state))
    power = casadi.dot(tau, qd) + pushed + outer_power
    loss = casadi.dot(qd, dissipative_forces(robot, q, qd)) + taken + contacts.power(pushing)
    x = casadi.vertcat(free_q[free, :], free_qd[free, :], memory, account, efforts)
    rates = qd[free, :], qdd[free, :], memory_rate, power, loss, _weight_of_efforts(free) * tau[driven_at, :] ** 2
    rate = casadi.densify(casadi.vertcat(*rates))
    numbers = robot.parameters
    used = numbers.used_in(casadi.vertcat(rate, sampled))
    state = replace(state, robot=moving)
    switch = Switch(touching, casadi.vertcat(contacts.depths, contacts.forces, contacts.rates))
    rate = casadi.cse(rate)
    if touching.numel():  # at an instant it is told by the state
        holding = casadi.logic_and(contacts.depths > 0, contacts.forces > 0)
        active = casadi.if_else(holding, 1, SX.zeros(touching.shape))
        qdd, tau = casadi.substitute([qdd, tau], [touching], [active])
    symbols, extent = casadi.vertcat(numbers.symbols(), casadi.vec(loads), *casadi.vertsplit(told)[:1]), numbers.extent
    wrenches = casadi.vec(loads)
    parts = driven, outer, t, x, rate, state, qdd, tau, free, symbols, extent, used, told, wrenches, switch
    return Equations(*parts, memory, sampled)
