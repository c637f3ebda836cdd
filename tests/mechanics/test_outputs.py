"""Outputs beside the coordinates: frames against Jacobians and Hessians, reactions against momentum and weight."""

import casadi
import numpy as np
import pytest
from casadi import SX, cross
from hypothesis import strategies as st
from mechanics.test_recursion import random_state
from random_robots import SPATIAL_ARM, robots, thin
from robots_in_tests import model, moving, traced
from thinned import drawn

from kronbot.description.names import WORLD, moving_frames
from kronbot.mechanics.multibody.carried import along_beam, carried, loaded
from kronbot.mechanics.multibody.inertia import mass_moment
from kronbot.mechanics.multibody.kinematics import frame, relative_motion
from kronbot.mechanics.multibody.outputs import Instant
from kronbot.mechanics.multibody.recursion import ALGORITHMS, inverse_dynamics
from kronbot.mechanics.multibody.state import propagate
from kronbot.mechanics.static import loads

SAME = 1e-10
FORCE, MOMENT = SX([3.0, -2.0, 5.0]), SX([-0.7, 1.1, 0.4])


def frames_of(robot, built):
    """All frames that move; a massless link has no centre of mass."""
    bare = {link["name"] for link in robot["links"] if not {"rigid", "hub", "payload", "flexible"} & link.keys()}
    names = moving_frames(link.name for link in built.file.links)
    return [name for name in names if name.removeprefix("com:") not in bare or not name.startswith("com:")]


def check_frames(robot, order, seed, names=()):
    """r, R, J_T qd, J_R qd, J_T qdd + H_T (qd x qd), and that of J_R, of these frames, or of every frame."""
    built = model(robot, order)
    names = names or frames_of(robot, built)

    def ours(state, x):
        at = Instant(state, x, SX(built.n, 1))
        kinds = ("position", "rotation", "velocity", "acceleration")
        return casadi.veccat(*(at.of(kind, name) for name in names for kind in kinds))

    def theirs(q, qd, x):
        found, pairs = [], casadi.kron(qd, qd)
        for name in names:
            of = relative_motion(built, q, frame(built, name), frame(built, WORLD))
            found += [of.pose.r, of.pose.R, of.J_T @ qd, of.J_R @ qd]
            found += [of.J_T @ x + of.H_T @ pairs, of.J_R @ x + of.H_R @ pairs]
        return casadi.veccat(*found)

    at = random_state(robot, order, seed)
    found, wanted = moving(built, of=ours)(*at)["of"], traced(built, of=theirs)(*at)["of"]
    assert found == pytest.approx(wanted, rel=SAME, abs=SAME * np.abs(wanted).max())


@drawn(1, 2, robots(max_links=3, max_coordinates=5, yielding=True), st.sampled_from(["1", "2"]), st.integers(0, 10**6))
def test_frames_move_by_their_jacobians_and_hessians(robot, order, seed):
    check_frames(robot, order, seed)


@pytest.mark.slow
def test_frames_of_the_exact_rod():
    check_frames(thin(SPATIAL_ARM), "exact", 4)


def pushed(state, name):
    """A wrench on a frame and, on a beam, a force along it: the robot with them, and what they are."""
    at = carried(state, name, SX([0.1, -0.2, 0.3]))
    actions, beams = [(at.link, at.on_link(FORCE, MOMENT))], [at.link for at in state.links if at.link.beam is not None]
    applied = [(at.link, at.pose.r, FORCE, MOMENT)]
    for link in beams:
        place, action = along_beam(state, link.name, FORCE / 2)
        whole = loads.along_beam(state, link.name, FORCE / 2)
        actions.append((place, action))
        applied.append((place, SX(3, 1), whole.force, whole.moment))
    return loaded(state, actions), applied


def below(robot, place):
    """Links that a link carries, and itself."""
    return [place, *(i for child in robot.children[place] for i in below(robot, child))]


@drawn(2, 3, robots(max_links=3, max_coordinates=5, yielding=True), st.sampled_from(["1", "2"]), st.integers(0, 10**6))
def test_reactions_are_what_momentum_weight_and_loads_leave(robot, order, seed):
    """Of every joint: d/dt of the momentum of all that hangs on it, less weight and what acts from outside, about its
    origin; the momentum from the mass matrices, differentiated here.
    """
    built = model(robot, order)
    name = frames_of(robot, built)[seed % 3]
    entries = [(link.joint.name or link.name, link.name) for link in built.file.links]
    places = {link.name: i for i, link in enumerate(built.links)}

    def ours(state, x):
        at = Instant(pushed(state, name)[0], x, SX(built.n, 1))
        return casadi.vertcat(*(at.of("reaction", joint) for joint, _ in entries))

    def theirs(q, qd, x):
        state, found = propagate(built, q, qd), []
        _, applied = pushed(state, name)
        for _, link in entries:
            root, carries = state.links[places[link]], below(built, places[link])
            momentum, outer = SX(6, 1), SX(6, 1)
            for at in (state.links[i] for i in carries):
                local = (at.M @ at.twist)[:6]
                linear = at.pose.R @ local[:3]
                momentum += casadi.vertcat(linear, at.pose.R @ local[3:] + cross(at.pose.r, linear))
                mass, moment = mass_moment(at.M)
                first = mass * at.pose.r + at.pose.R @ moment
                outer += casadi.vertcat(mass * built.gravity, cross(first, built.gravity))
            for place, r, force, turning in applied:
                if place in carries:
                    outer += casadi.vertcat(force, turning + cross(r, force))
            motion, rates = casadi.vertcat(q, qd), casadi.vertcat(qd, x)
            force, about_base = casadi.vertsplit(casadi.jtimes(momentum, motion, rates) - outer, 3)
            about_root = about_base - cross(root.pose.r, force)
            found += [root.pose.R.T @ force, root.pose.R.T @ about_root]
        return casadi.vertcat(*found)

    at = random_state(robot, order, seed)
    found, wanted = moving(built, of=ours)(*at)["of"], traced(built, of=theirs)(*at)["of"]
    assert found == pytest.approx(wanted, rel=SAME, abs=SAME * np.abs(wanted).max())


@drawn(2, 3, robots(max_links=3, max_coordinates=5, yielding=True), st.sampled_from(["1", "2"]), st.integers(0, 10**6))
def test_what_acts_on_links_enters_the_dynamics_by_virtual_work(robot, order, seed):
    """Inverse dynamics less J_T^T f + J_R^T m and less the gradient of the potential; both forward dynamics undo it."""
    built = model(robot, order)
    name = frames_of(robot, built)[seed % 3]

    def work(state, x):
        bare = inverse_dynamics(state, x)
        at = carried(state, name, SX([0.1, -0.2, 0.3]))
        bare -= casadi.jacobian(at.twist, state.qd).T @ casadi.vertcat(FORCE, MOMENT)
        for link in (at.link for at in state.links):
            if link.beam is not None:
                bare -= loads.along_beam(state, link.name, FORCE / 2).generalized
        return bare

    def forward(algorithm):
        return lambda state, x: ALGORITHMS[algorithm](pushed(state, name)[0], x, {})

    functions = moving(
        built, tau=lambda state, x: inverse_dynamics(pushed(state, name)[0], x), work=work,
        recursive=forward("recursive"), composite=forward("composite"),
    )  # fmt: skip
    q, qd, qdd = random_state(robot, order, seed)
    found = functions(q, qd, qdd)
    assert found["tau"] == pytest.approx(found["work"], rel=SAME, abs=SAME * np.abs(found["work"]).max())
    back = functions(q, qd, found["tau"])
    for algorithm in ("recursive", "composite"):
        again = functions(q, qd, back[algorithm])["tau"]
        assert again == pytest.approx(found["tau"], rel=1e-8, abs=1e-8 * np.abs(found["tau"]).max())
