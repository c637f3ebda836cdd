"""The linear model of a robot with its controllers: M y'' + D y' + K y with their gains, and what they remember beside.

An integral I is the rate of a coordinate z, I = z', so that z'' = I' = ki (target - y) is an equation of second order
like the others, and poles are found by the same means; an estimate e is, too, e' = F e + B u + L y. z itself is a free
coordinate: its pole at zero is none of the loop. Its equation is multiplied by an inertia that goes with the units of
the others, so that no margin, which is told in the metric of M, depends on units.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

import casadi
import numpy as np
from casadi import SX

from kronbot.floats import Array
from kronbot.mechanics.control.controllers import Controllers
from kronbot.mechanics.linear.deflation import SecondOrder
from kronbot.mechanics.linear.linear_model import LinearModel
from kronbot.mechanics.linear.matrix_polynomial import ROUNDING
from kronbot.mechanics.linear.modal import of_first_order
from kronbot.mechanics.linear.null_spaces import lasting, null_space
from kronbot.mechanics.linear.pole import Pole
from kronbot.mechanics.linear.rounding import FED
from kronbot.mechanics.linear.spectrum import poles as poles_of
from kronbot.mechanics.linear.state_space import Seen, StateSpace, errors_of
from kronbot.mechanics.motion.drives import drives


def closed(linear: LinearModel, parts: Mapping[str, SX]) -> dict[str, SX]:
    """M, D, K of a linear model with the gains of its robot's controllers, of coordinates and integrals; E beside them,
    and the gains (joints x all that is fed back); of state feedback its part in K and D, too. Of what is remembered of
    samples how it goes on from one to the next (m x all that is fed back).

    Limits of efforts are left out, and targets stay where they are.
    """
    driven = drives(linear.robot)
    control = _unlimited(driven.controllers)
    n, m = linear.robot.n, len(control.remembered)
    integrals, rest = SX.sym("integrals", m), {joint.name: (SX(0), SX(0)) for joint in control.joints}
    weight = driven.weight(linear.q) if control.weighs else None
    here = SX.sym("here", n)
    fed = None if control.feedback is None else control.feedback.near(here)
    law = control.law(linear.q, linear.qd, integrals, rest, weight, SX(n, 1), fed)
    tau = control.spread(law.asked)
    by_q, by_qd, by_I = (casadi.jacobian(tau, symbols) for symbols in (linear.q, linear.qd, integrals))
    of_q, of_qd, of_I = (casadi.jacobian(law.rates, symbols) for symbols in (linear.q, linear.qd, integrals))
    own = casadi.jacobian(law.asked, casadi.vertcat(linear.q, linear.qd, integrals))
    onward = integrals
    if driven.sample_time is not None:
        drawn = SX(control.draws, 1)
        onward, _ = control.sampled(law, integrals, linear.q, linear.qd, fed, driven.sample_time, drawn)
    later = casadi.jacobian(onward, casadi.vertcat(linear.q, linear.qd, integrals))
    gains = [by_q, by_qd, by_I, of_q, of_qd, of_I, own, later]
    by_q, by_qd, by_I, of_q, of_qd, of_I, own, later = casadi.substitute(gains, [here], [linear.q])
    inertia = casadi.diag(_inertia(control, parts["M"], parts["K"], by_I))
    M = casadi.diagcat(parts["M"], inertia)
    D = casadi.blockcat([[parts["D"] - by_qd, -by_I], [-inertia @ of_qd, -inertia @ of_I]])
    K = casadi.blockcat([[parts["K"] - by_q, SX(n, m)], [-inertia @ of_q, SX(m, m)]])
    E = casadi.vertcat(parts["E"], SX(m, parts["E"].columns()))
    found = {**parts, "M": M, "D": D, "K": K, "E": E, "gains": casadi.densify(own), "onward": casadi.densify(later)}
    fed_back = {} if fed is None else {FED: casadi.densify(-casadi.horzcat(by_q, by_qd))}
    return found | fed_back


def with_feedback(system: SecondOrder, E: Array, dE: Array, K: Array) -> SecondOrder:
    """M y'' + D y' + K y = E u with u = -K [y; y'], whose entries have the errors of a rounding of every gain, too.

    Directions are free that are so with other numbers of the robot: stiff shafts hide what gains add.
    """
    n, size = len(system.M), np.abs(E) @ np.abs(K)
    errors = dE @ np.abs(K) + ROUNDING * (1 + E.shape[1]) * size
    (stiff, damped), (dK, dD) = (np.split(part, [n], axis=1) for part in (E @ K, errors))
    stiff, damped = system.K + stiff, system.D + damped
    dK, dD = system.dK + dK + ROUNDING * np.abs(stiff), system.dD + dD + ROUNDING * np.abs(damped)

    @cache
    def others() -> list[SecondOrder]:
        return [with_feedback(each, E, dE, K) for each in system.others()]

    free = null_space(stiff, dK)
    free = lasting(free, [(each.K, each.dK) for each in others()]) if free.size else free
    return SecondOrder(system.M, damped, stiff, system.dM, dD, dK, free, others)


def estimated(system: SecondOrder, A: Array, L: Array, C: Array) -> list[Pole]:
    """Poles of e' = (A - L C) e, A being that of a system: those of z'' = (A - L C) z' that are not z's own at zero."""
    n, zero = len(A), np.zeros_like(A)
    none, through = np.zeros((n // 2, n // 2)), np.zeros((n // 2, 1))
    seen = Seen(none, none, none, through)

    def errors_of_states(system: SecondOrder, A: Array) -> SecondOrder:
        errors = errors_of(StateSpace(A, np.zeros((n, 1)), zero, through), system, seen, seen, through, through).A
        errors = errors + 2 * ROUNDING * (np.abs(A) + np.abs(L) @ np.abs(C))
        return SecondOrder(np.eye(n), L @ C - A, zero, zero, errors, zero, np.eye(n))

    def others() -> list[SecondOrder]:
        return [errors_of_states(each, of_first_order(each.M, each.D, each.K, through)[0]) for each in system.others()]

    found = poles_of(replace(errors_of_states(system, A), others=others))
    return [pole for pole in found if not pole.free]


def sampled(A: Array, B: Array, gains: Array, onward: Array, T: float) -> Array:
    """What takes states x and what is remembered z from one sample to the next, T (s) later: (n + m, n + m).

    x' = A x + B u, with torques u = ``gains`` [x; z] that are held meanwhile, and z goes on as ``onward`` [x; z]
    (m, n + m): Astroem and Wittenmark, Computer-Controlled Systems.
    """
    from scipy.linalg import expm

    n, k = B.shape
    flow = expm(T * np.block([[A, B], [np.zeros((k, n + k))]]))[:n]
    return np.vstack([np.hstack([flow[:, :n], np.zeros((n, len(onward)))]) + flow[:, n:] @ gains, onward])


def _inertia(control: Controllers, M: SX, K: SX, by_I: SX) -> SX:
    """Those (m x 1) of what is remembered: of an integral with its gain k_i of a joint with the inertia M, (k_i^2
    M)^(-1/3); of the estimate of a coordinate its stiffness, or of its rate its inertia.
    """
    robot, places = control.robot, {joint.name: joint.driven for joint in control.robot.joints}
    (rates,) = robot.derivative_names(["qd"]).values()
    known = {name: place for place, name in enumerate((*robot.coordinates, *rates))}
    found = []
    for k, word in enumerate(control.remembered):
        kind, _, name = word.partition(".")
        if kind == "integral":
            size = robot.parameters.number(control.by_joint[name].pid.ki) ** 2 * M[places[name], places[name]]
            found.append(casadi.if_else(size > 0, size, 1) ** (-1 / 3))
        elif known[name] < robot.n:
            place = known[name]
            stiffness = casadi.fabs(K[place, place]) + casadi.fabs(by_I[place, k])
            found.append(casadi.if_else(stiffness > 0, stiffness, M[place, place]))
        else:
            found.append(M[known[name] - robot.n, known[name] - robot.n])
    return casadi.vertcat(SX(0, 1), *found)


def _unlimited(control: Controllers) -> Controllers:
    return replace(control, by_joint={name: replace(each, effort=None) for name, each in control.by_joint.items()})


def of_loop(poles: Sequence[Pole], count: int) -> list[Pole]:
    """The poles of a model with so many coordinates, without those that integrals have at zero."""
    return [pole for pole in poles if not pole.free or pole.right[:count].any()]


def seen_beside(seen: Seen, integrals: int) -> Seen:
    """Outputs of coordinates as outputs of coordinates and integrals, which are not seen."""
    if not integrals:
        return seen
    q, qd, qdd = (np.pad(part, ((0, 0), (0, integrals))) for part in (seen.q, seen.qd, seen.qdd))
    return replace(seen, q=q, qd=qd, qdd=qdd)


def in_states(space: StateSpace, count: int, integrals: int) -> StateSpace:
    """The state space of so many coordinates: [y; y'; I], without what integrals are rates of."""
    if not integrals:
        return space
    kept = np.delete(np.arange(2 * (count + integrals)), np.arange(count, count + integrals))
    A: Array = space.A[np.ix_(kept, kept)]
    return StateSpace(A, space.B[kept], space.C[:, kept], space.D)
