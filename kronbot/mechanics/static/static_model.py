"""What holds a robot at rest in balance, and what is reported of it there: the traced side of ``statics``."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

import casadi
import numpy as np
from casadi import SX

from kronbot.cached import cached_property
from kronbot.compute.trace import SHARING_LIMIT, Trace, traced
from kronbot.description import schema
from kronbot.description.names import WORLD
from kronbot.mechanics.multibody.carried import along_beam as along_link
from kronbot.mechanics.multibody.carried import carried, loaded
from kronbot.mechanics.multibody.elements import lengths_and_tensions
from kronbot.mechanics.multibody.energy import elastic_energy
from kronbot.mechanics.multibody.kinematics import attached, endpoint, frame, relative_motion, truncated
from kronbot.mechanics.multibody.outputs import Instant
from kronbot.mechanics.multibody.recursion import inverse_dynamics
from kronbot.mechanics.multibody.state import LinkState, State, propagate
from kronbot.mechanics.static.compliances import Compliances, Scaling
from kronbot.mechanics.static.loads import Loads, along_beam, of_file, weight, wrench
from kronbot.model.beam import TIP
from kronbot.model.floating import hung
from kronbot.model.gauge import gauge_place
from kronbot.model.robot import BASE, Robot
from kronbot.records import dataclass

PURPOSE = "statics"


@dataclass(frozen=True)
class StaticModel:
    """A robot at rest under its loads, as functions of the symbols

    ``q`` (n x 1), ``given`` and ``shares`` (3 x 1) of gravity, of elements and of all other loads. ``given`` is force
    (N) and moment (N m) on the endpoint and then on each of ``frames``, and force along each of ``beams`` (N/m), in the
    base frame.
    ``statics`` holds the file's loads and gauges. ``about`` are the coordinates of a base that elements hold where
    linear statics has it before it moves.
    """

    robot: Robot
    statics: schema.Statics
    frames: Sequence[str] = ()
    beams: Sequence[str] = ()

    @cached_property
    def q(self) -> SX:
        """Coordinates (n x 1)."""
        return SX.sym("q", self.robot.n)

    @cached_property
    def given(self) -> SX:
        """What acts, one column."""
        return SX.sym("given", 6 * (1 + len(self.frames)) + 3 * len(self.beams))

    @cached_property
    def shares(self) -> SX:
        """Of gravity, of elements and of all other loads (3 x 1)."""
        return SX.sym("shares", 3)

    @cached_property
    def about(self) -> SX:
        """Where a base is before it moves."""
        return SX.sym("about", len(hung(self.robot)))

    @property
    def inputs(self) -> dict[str, SX]:
        """The symbols by word."""
        return {"q": self.q, "given": self.given, "shares": self.shares}

    @cached_property
    def state(self) -> State:
        """The robot at rest, its gravity and its elements scaled: without them nothing is deformed."""
        robot, (gravity, pull, _) = self.robot, casadi.vertsplit(self.shares)
        elements = tuple(element.times(pull) for element in robot.elements)
        weighted = replace(robot, gravity=gravity * robot.gravity, elements=elements)
        return propagate(weighted, self.q, SX(self.robot.n, 1))

    @cached_property
    def loads(self) -> Loads:
        """All loads but gravity and elements."""
        total, numbers = of_file(self.state, self.statics), iter(casadi.vertsplit(self.given, 3))
        for name in ("endpoint", *self.frames):
            total += wrench(self.robot, self.q, name, next(numbers), next(numbers))
        for name in self.beams:
            total += along_beam(self.state, name, next(numbers))
        return total.times(self.shares[2])

    @cached_property
    def forces(self) -> SX:
        """Generalized forces that joints and beams must bear (n x 1): zero on free coordinates, torques on joints.

        The gradient of the potential energy where all loads are forces, Piedboeuf (39)-(40).
        """
        return self.compliances.forces if self.compliances.own else self.compliances.F

    @cached_property
    def residual(self) -> SX:
        """The same (n x 1), but for coordinates that a compliance determines what is zero there without 1/c."""
        return self.compliances.residual if self.compliances.own else self.compliances.F

    @cached_property
    def compliances(self) -> Compliances:
        """Joints with a compliance, under all other forces."""
        others = inverse_dynamics(self.state, SX(self.robot.n, 1)) - self.loads.generalized
        return Compliances(self.robot, self.q, others)

    @cached_property
    def reaction(self) -> SX:
        """Force and moment about the base's origin (6 x 1) of the ground on the robot, by its base and by elements."""
        acting = weight(self.state) + self.loads
        return -casadi.vertcat(acting.force, acting.moment)

    @cached_property
    def instant(self) -> Instant:
        """What is seen of the robot, with the loads on its links."""
        statics, number = self.statics, self.robot.parameters.vector
        given = iter(casadi.vertsplit(self.given, 3))
        on_frames = [(load.frame, number(load.force), number(load.moment)) for load in statics.loads]
        on_frames += [(name, next(given), next(given)) for name in ("endpoint", *self.frames)]
        along = [(each.link, number(each.force)) for each in statics.distributed]
        along += [(name, next(given)) for name in self.beams]
        share, actions = self.shares[2], []
        for name, force, moment in on_frames:
            if frame(self.robot, name).way:
                at = carried(self.state, name)
                actions.append((at.link, at.on_link(share * force, share * moment)))
        actions += [along_link(self.state, name, share * force) for name, force in along]
        exerted = zip(self.compliances.springs, casadi.vertsplit(self.compliances.exerted), strict=True)
        borne = {(spring.joint, spring.word): torque for spring, torque in exerted}
        return Instant(loaded(self.state, actions), SX(self.robot.n, 1), self.forces, borne=borne)

    def outputs(self, asked: Sequence[tuple[str, str]], linear: bool) -> Trace:
        """What is seen of some kinds and names; as the linear statics sees it, but rotations, which stay matrices."""
        degrees = {"position": self._degree, "reaction": 1, "spring": 1} if linear else {}

        def outputs() -> dict[str, SX]:
            found = {f"{kind}:{name}": self.instant.of(kind, name) for kind, name in asked}
            cut = {word: degrees[word.partition(":")[0]] for word in found if word.partition(":")[0] in degrees}
            return found | {word: self._cut(found[word], cut[word]) for word in cut}

        return self._traced(("outputs", *asked, linear), outputs, linear=linear)

    def balance(self) -> Trace:
        """F and K = dF/dq as numbers; with compliances K = dR/dq instead, from which :meth:`scaling` has all else."""

        def outputs() -> dict[str, SX]:
            own = bool(self.compliances.own)
            slope = self.compliances.slope if own else casadi.jacobian(self.residual, self.q)
            return {"F": self.residual, "K": slope}

        return self._traced("balance", outputs, sharing=0)

    def scaling(self) -> Scaling | None:
        """What compliances make of K, None where there are none."""
        robot = self.robot
        still = Compliances(robot, self.q, SX(robot.n, 1))  # that forces need not be traced for
        own = still.own
        if not own:
            return None
        trace = traced(robot, "scaling", PURPOSE, lambda: ({"q": self.q}, still.constants))
        count = trace.bound.shape[:-1] or (1,)
        c, T, D = trace.rows(np.zeros((*count, robot.n))).values()
        shape = len(own), robot.n
        return Scaling(own, c.reshape(-1, shape[0]), T.reshape(-1, robot.n, robot.n), D.reshape(-1, *shape))

    def endpoint(self) -> Trace:
        """The endpoint Jacobian J, J_T over J_R (6 x n)."""

        def outputs() -> dict[str, SX]:
            at = relative_motion(self.robot, self.q, frame(self.robot, "endpoint"), frame(self.robot, WORLD))
            return {"J": casadi.vertcat(at.J_T, at.J_R)}

        return self._traced("endpoint", outputs)

    def report(self) -> Trace:
        """Everything that a row holds, at an equilibrium."""
        return self._traced("report", lambda: self.positions | self.bearing | self.strains)

    @property
    def bearing(self) -> dict[str, SX]:
        """Forces that joints and beams must bear, and what the base does."""
        return {"forces": self.forces, "reaction": self.reaction}

    def linear_report(self) -> Trace:
        """The same as the linear statics sees it: positions as polynomials of the order's degree, forces of degree 1.

        ``quadratic`` holds the forces with the terms of second order, which Piedboeuf (41) leaves out, at deflections
        of first order. Those of second order, -K^-1 ``second``, act on them by ``coupling``, where there is any.
        """
        return self._traced("linear report", self._truncated, linear=True)

    def _truncated(self) -> dict[str, SX]:
        cut = self._cut
        outputs = {name: cut(part, self._degree) for name, part in self.positions.items()}
        outputs |= {"forces": cut(self.forces, 1), "reaction": cut(self.reaction, 1), "quadratic": cut(self.forces, 2)}
        driven, free = [joint.driven for joint in self.robot.joints], sorted([*self.robot.flexible, *hung(self.robot)])
        coupling = cut(casadi.jacobian(self._standing[driven, :], self.q[free, :]), 0)
        if not coupling.is_zero():
            residual = self.residual[free, :]
            outputs |= {"coupling": coupling, "second": cut(residual, 2) - cut(residual, 1)}
        stored = elastic_energy(self.state)
        if self.compliances.own:
            stored += casadi.dot(self.compliances.c, cut(self.compliances.exerted, 1) ** 2) / 2
        return outputs | self.strains | {"elastic": stored}

    @property
    def _standing(self) -> SX:
        """Forces (n x 1) that are there while loads come to nothing, so that what they do with deflections of second
        order is of second order: those of springs, beams and elements, of a base that hangs on these also its weight.
        """
        if hung(self.robot):
            return self.forces
        bare = propagate(replace(self.robot, gravity=SX(3, 1)), self.q, SX(self.robot.n, 1))
        found = Compliances(self.robot, self.q, inverse_dynamics(bare, SX(self.robot.n, 1)))
        return found.forces if found.own else found.F

    def _cut(self, expression: SX, degree: int) -> SX:
        """The polynomial of a degree in what is deformed, and in how far a base is that elements hold."""
        return truncated(self.robot, self.q, expression, degree, list(hung(self.robot)), self.about)

    @property
    def _degree(self) -> int:
        """Of the polynomials that the linear statics has for positions."""
        return {"0": 1 if hung(self.robot) else 0, "1": 1}.get(self.robot.order, 2)

    def _traced(
        self,
        what: Hashable,
        outputs: Callable[[], dict[str, SX]],
        *,
        sharing: int = SHARING_LIMIT,
        linear: bool = False,
    ) -> Trace:
        asked = self.statics.loads, self.statics.distributed, self.statics.gauges, tuple(self.frames), tuple(self.beams)
        inputs = self.inputs | ({"about": self.about} if linear else {})
        return traced(self.robot, (what, *asked), PURPOSE, lambda: (inputs, outputs()), sharing=sharing)

    @cached_property
    def positions(self) -> dict[str, SX]:
        """Endpoint, its displacement from the rigid robot's, and for every beam its tip and how that has turned.

        Turns are rotation vectors; order exact has none, but the matrices along the beam that lead to them.
        """
        q_f, at = self.q[list(self.robot.flexible), :], endpoint(self.state)
        moved = at - casadi.substitute(at, q_f, *attached(self.robot, self.q))
        outputs = {"endpoint": at, "displacement": moved, "displacement_hub": self._hub.pose.R.T @ moved}
        for each in self.state.links:
            beam = each.link.beam
            if beam is not None:
                exact = beam.order == "exact"
                places = [*beam.nodes[0].tolist(), TIP] if exact else [TIP]
                sections = beam.cross_sections(places, self.q[each.link.modal, :])
                outputs[f"tip {each.link.name}"] = beam.moved(TIP, sections[-1].pose.r)
                turns = casadi.horzcat(*(section.pose.R for section in sections)) if exact else sections[-1].theta
                outputs[f"turns {each.link.name}"] = turns
        return outputs

    def turned(self, name: str) -> SX:
        """How the tip of a beam of order exact has turned against its root (3 x 3)."""
        return self.positions[f"turns {name}"][:, -3:]

    @property
    def _hub(self) -> LinkState:
        """The link on the base that carries the endpoint; a floating base stands behind a link for each coordinate.

        A bearing is none, which does not turn with the joint.
        """
        place, links = self.robot.endpoint.link, self.robot.links
        ground = {BASE, len(self.robot.base) or BASE}
        ground |= {i for i, link in enumerate(links) if link.tilts and link.parent in ground}
        while links[place].parent not in ground:
            place = links[place].parent
        return self.state.links[place]

    @cached_property
    def strains(self) -> dict[str, SX]:
        """Curvature and twist at the gauges, elastic energy: the same polynomials in every order."""
        stored = self.compliances.energy if self.compliances.own else SX(0)
        outputs = {"elastic": elastic_energy(self.state) + stored}
        outputs |= lengths_and_tensions(self.state)
        for gauge in self.statics.gauges:
            link, beam, xi = gauge_place(self.robot, gauge)
            outputs[f"gauge {gauge.name}"] = beam.curvature(xi, self.q[link.modal, :])
        return outputs
