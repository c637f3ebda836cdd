"""DeNOC recursion = composite algorithm = brute-force Lagrangian, on random trees."""

import casadi
import numpy as np
import pytest
from casadi import SX, skew
from hypothesis import strategies as st
from oracles import Lagrangian
from random_robots import SHAPES, SPATIAL_ARM, coordinates, robots, thin
from robots_in_tests import model, moving, shipped, turning
from thinned import drawn, rare

from kronbot.errors import ComputationError
from kronbot.mechanics.multibody.energy import elastic_energy, gravity_energy, kinetic_energy
from kronbot.mechanics.multibody.inertia import Inertia, Rigid, carried, section
from kronbot.mechanics.multibody.kinematics import tip_frame
from kronbot.mechanics.multibody.recursion import ALGORITHMS, forward_dynamics, inverse_dynamics
from kronbot.mechanics.multibody.state import generalized_inertia_matrix
from kronbot.model.pose import angular_motion, exponential, left_jacobian

# Both sides work in double precision on well-scaled robots; 1e-9 is asked for, rounding gives 1e-13.
SAME = 1e-11


def equations(robot):
    """Inverse dynamics of x = qdd, inertia matrix, both forward dynamics of x = tau, energies."""
    return moving(
        robot,
        tau=inverse_dynamics,
        M=lambda state, x: generalized_inertia_matrix(state),
        recursive=lambda state, x: ALGORITHMS["recursive"](state, x, {}),
        composite=lambda state, x: ALGORITHMS["composite"](state, x, {}),
        kinetic=lambda state, x: kinetic_energy(state),
        elastic=lambda state, x: elastic_energy(state),
        gravity=lambda state, x: gravity_energy(state),
    )


def random_state(robot, order, seed):
    """q, qd, qdd of moderate size with no entry at 0: what hypothesis draws is zero too often to show a lost term."""
    scale = np.array([scale for _, _, scale in coordinates(robot, order)])
    return np.random.default_rng(seed).uniform(0.3, 1, (3, len(scale))) * scale


def check_against_lagrangian(robot, order, seed, same=SAME):
    """Torques, inertia matrix, accelerations and energies of one robot at one state."""
    q, qd, qdd = random_state(robot, order, seed)
    oracle, functions = Lagrangian(robot, order), equations(model(robot, str(order)))
    M = oracle.mass_matrix(q)
    tau = oracle.inverse_dynamics(q, qd, qdd)
    force = np.abs(tau).max() + np.abs(M).max()  # what cancels in a torque is as large as this
    ours = functions(q, qd, qdd)
    size = np.sqrt(np.diag(M))
    assert np.abs(ours["tau"] - tau).max() < same * force
    assert np.abs((ours["M"].reshape(M.shape) - M) / np.outer(size, size)).max() < same
    energies = (oracle.kinetic_energy(q, qd), oracle.elastic_energy(q), oracle.gravity_energy(q))
    for name, energy in zip(("kinetic", "elastic", "gravity"), energies, strict=True):
        assert ours[name][0] == pytest.approx(energy, rel=SAME, abs=same * force)
    # Accelerations lose what the condition of M takes; the forces they stand for do not.
    back = functions(q, qd, tau)
    for algorithm in ("recursive", "composite"):
        residual = M @ (back[algorithm] - qdd)
        assert np.abs(residual).max() < same * (force + np.abs(M).max() * np.abs(back[algorithm]).max())


@pytest.mark.slow
def test_sections_of_few_gentle_shapes_spin_to_rounding():
    """Their rotations are no polynomials: the nodes that powers of one shape need leave 2e-9 here."""
    robot = {
        "kronbot": 1, "name": "one", "convention": "standard", "gravity": [0, 0, 0],
        "links": [{
            "name": "a", "joint": {"type": "revolute", "name": "q"}, "dh": {"a": 0.5, "d": 0, "alpha": 0, "theta": 0},
            "flexible": {"mass": 1.2, "EI": {"y": 200, "z": 400}, "GJ": 65, "modes": {"v": 1, "w": 1, "torsion": 2},
                         "shape": "legendre", "polar_inertia": 0.05},
        }],
    }  # fmt: skip
    q = np.array([0.7, 0.12, 0.07, 0.1, 0.14])
    for order in (1, 2):
        M = Lagrangian(robot, order).mass_matrix(q)
        found = equations(model(robot, str(order)))(q, q, q)["M"].reshape(M.shape)
        assert np.abs((found - M) / np.sqrt(np.outer(np.diag(M), np.diag(M)))).max() < 1e-12


@drawn(2, 3, robots(max_coordinates=10), st.sampled_from([0, 1, 2]), st.integers(0, 10**6))
def test_recursion_composite_and_lagrangian_agree(robot, order, seed):
    """Random trees of revolute, prismatic and fixed joints, rigid and flexible links, all shapes, gravity, damping."""
    check_against_lagrangian(robot, order, seed)


@pytest.mark.parametrize(
    ("name", "order"),
    [
        rare("canadarm", 2),
        ("torso", 0),
        rare("puma560", 0),
        rare("arm in space", 2),
    ],
)
def test_shipped_robots_agree_with_the_lagrangian(name, order):
    """The same on robots that have everything at once: bending in both planes, torsion, damping, rotors, trees."""
    robot = SPATIAL_ARM if name == "arm in space" else shipped(name)
    check_against_lagrangian(robot, order, seed=order)


@pytest.mark.parametrize("name", [rare("arm in space"), "piedboeuf"])
def test_the_exact_order_agrees_with_the_lagrangian(name):
    """Two integrations of the rod with steps of different lengths: tips bent by a third of a radian, right to 1e-8."""
    check_against_lagrangian(thin(SPATIAL_ARM) if name == "arm in space" else shipped(name), "exact", seed=3, same=1e-8)


@drawn(2, 3, st.data(), st.sampled_from([1, 2]))
def test_prescribed_joints_get_the_torque_of_inverse_dynamics(data, order):
    """Hybrid recursion: with some joint accelerations given, forward then inverse dynamics returns the free forces."""
    robot = model(data.draw(robots(max_coordinates=8)), str(order))
    joints = [joint.index for joint in robot.joints]
    held = data.draw(st.sets(st.sampled_from(joints), min_size=1))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    q, qd, x = 0.05 * rng.standard_normal((3, robot.n))

    def hybrid(algorithm):
        def tau_back(state, x):
            given = {place: x[place] for place in held}
            return inverse_dynamics(state, ALGORITHMS[algorithm](state, x, given))

        return tau_back

    functions = moving(robot, recursive=hybrid("recursive"), composite=hybrid("composite"))
    answers = functions(q, qd, x)
    free = [place for place in range(robot.n) if place not in held]
    # The torques of accelerations that are solved for: rounding, seen against the largest torque.
    scale = max(np.abs(answers["composite"]).max(), 1.0)
    assert np.abs(answers["recursive"][free] - x[free]).max(initial=0.0) < 1e-10 * scale
    assert np.abs(answers["recursive"] - answers["composite"]).max() < 1e-10 * scale


@pytest.mark.parametrize("order", [0, 1, 2])
def test_frames_agree_with_homogeneous_transforms(order):
    """Root and tip frames of a spatial flexible arm."""
    robot, oracle = model(SPATIAL_ARM, str(order)), Lagrangian(SPATIAL_ARM, order)
    q = 0.3 * np.sin(np.arange(robot.n) + 1)
    ways = {"root": lambda link: link.pose, "tip": tip_frame}
    outputs = {}
    for i, link in enumerate(robot.links):
        for which, way in ways.items():
            outputs[f"{link.name}.{which}.r"] = lambda state, x, i=i, way=way: way(state.links[i]).r
            outputs[f"{link.name}.{which}.R"] = lambda state, x, i=i, way=way: way(state.links[i]).R
    frames = moving(robot, **outputs)(q, q, q)
    for link in robot.links:
        for which in ways:
            r, R = oracle.frame(q, link.name, which)
            assert np.allclose(frames[f"{link.name}.{which}.r"], np.ravel(r), atol=1e-13)
            assert np.allclose(frames[f"{link.name}.{which}.R"], R, atol=1e-13)


def test_torsion_without_inertia_is_refused_by_name():
    """The mass matrix is singular: the message names the link and the cure."""
    robot = model(turning("flexible: {mass: 1, EI: {z: 10}, GJ: 5, modes: {v: 1, torsion: 1}}"))
    with pytest.raises(ComputationError, match="arm.*polar_inertia"):
        moving(robot, qdd=lambda state, x: forward_dynamics(state, x, {}))


def numbers(expression):
    """An expression without symbols as an array."""
    return np.array(casadi.evalf(expression))


def test_bodies_are_moved_by_congruence():
    """Structure saves operations, not terms: T^T M T and T^T gamma with T written out, for any body and a rigid one."""
    rng = np.random.default_rng(5)
    root, r, com = rng.standard_normal((6, 6)), SX(rng.standard_normal(3)), SX(rng.standard_normal(3))
    R = exponential(SX(rng.standard_normal(3)))
    body = Inertia(SX(root @ root.T), SX(rng.standard_normal(6)))
    at_com = Rigid(SX(1.7), SX(3, 1), SX(np.diag([0.3, 0.4, 0.5])))
    shift, turn = SX.eye(6), casadi.diagcat(R.T, R.T)
    shift[:3, 3:] = -skew(r)
    for T, moved in ((shift, "shifted"), (turn, "turned")):
        by = r if moved == "shifted" else R
        new, rigid = getattr(body, moved)(by), getattr(at_com.shifted(com), moved)(by)
        assert np.allclose(numbers(new.M), numbers(T.T @ body.M @ T), atol=1e-13)
        assert np.allclose(numbers(new.gamma), numbers(T.T @ body.gamma), atol=1e-13)
        assert np.allclose(numbers(rigid.M), numbers(T.T @ at_com.shifted(com).M @ T), atol=1e-13)
        again = Rigid.within(rigid.M)
        assert np.allclose(numbers(again.M), numbers(rigid.M), atol=0)


def test_bodies_are_carried_by_the_section_they_sit_on():
    """J^T M J with J = [1, -r~, J_T; 0, 1, J_R] from columns of twists."""
    robot = model(SPATIAL_ARM)
    link, n = robot.links[1], robot.links[1].modes
    rng = np.random.default_rng(6)
    root = rng.standard_normal((6, 6))
    body = Inertia(SX(root @ root.T), SX(6, 1))
    q_f = SX.sym("q_f", n)
    tip = section(link.tip(q_f), q_f, SX(n, 1))
    J = casadi.horzcat(*(tip.acceleration(SX.eye(6 + n)[:, i]) for i in range(6 + n)))
    outputs = [carried(body, tip), J.T @ body.M @ J, tip.on_link(body.M), J.T @ body.M]
    function = casadi.Function("carried", [q_f, robot.parameters.symbols()], outputs)
    ours, wanted, columns, wanted_columns = map(
        np.array, function(0.1 * rng.standard_normal(n), robot.parameters.bound())
    )
    assert np.allclose(ours, wanted, atol=1e-12)
    assert np.allclose(columns, wanted_columns, atol=1e-12)


@pytest.mark.parametrize("theta", [(0, 0, 0), (0.3, -0.5, 0.2), (0, 1.1, -0.7), (1.5, 2, -1)])
def test_angular_motion_is_that_of_the_rotation(theta):
    """V thetadot, and its derivative along a motion, which the series' own derivative must give too."""
    t = SX.sym("t")
    first, second = (0.4, -0.9, 1.3), (0.2, 0.6, -0.1)
    moving = casadi.vertcat(*(a + b * t + c * t**2 / 2 for a, b, c in zip(theta, first, second, strict=True)))
    rate = casadi.jacobian(moving, t)
    omega, alpha = angular_motion(moving, rate, casadi.jacobian(rate, t))
    wanted = left_jacobian(moving) @ rate
    outputs = casadi.horzcat(omega, alpha, wanted, casadi.jacobian(wanted, t))
    at = np.array(casadi.Function("motion", [t], [outputs])(0.0))
    assert np.allclose(at[:, :2], at[:, 2:], atol=1e-14)


@pytest.mark.parametrize("shape", [SHAPES[0], *map(rare, SHAPES[1:])])
def test_the_mass_of_order_2_is_that_of_the_nodes(shape):
    """Moments of mass and modal masses from functions along the beam, against their sums over its sections.

    The nodes are exact or converged to 1e-12 for what is summed.
    """
    flexible = {"mass": 2, "EI": {"y": 50, "z": 60}, "GJ": 40, "polar_inertia": 0.02, "root": 0.2, "shape": shape}
    flexible["modes"] = {"v": 2, "w": 1, "torsion": 1}
    link = {"name": "arm", "joint": {"type": "revolute", "name": "q1"}, "flexible": flexible}
    link["dh"] = {"a": 1.6, "d": 0, "alpha": 0, "theta": 0}
    robot = model({"kronbot": 1, "name": "b", "convention": "standard", "gravity": [0, 0, 0], "links": [link]})
    beam = robot.links[0].beam
    q_f = SX.sym("q_f", beam.n)
    line = beam.mass_line(q_f)
    xi, weights = beam.nodes
    places = beam.cross_sections(xi.tolist(), q_f)
    r = casadi.horzcat(*(at.pose.r for at in places))
    masses = 2 * SX(weights)
    slopes = [casadi.reshape(line.slopes[:, i], line.points.shape) for i in range(beam.n)]
    by_node = [casadi.horzcat(*(at.J_T[:, i] for at in places)) for i in range(beam.n)]
    ours = [line.points @ line.first, line.points @ line.gram @ line.points.T]
    wanted = [r @ masses, r @ casadi.diag(masses) @ r.T]
    ours += [left @ line.gram @ right.T for left in slopes for right in slopes]
    wanted += [left @ casadi.diag(masses) @ right.T for left in by_node for right in by_node]
    parameters = robot.parameters
    function = casadi.Function("m", [q_f, parameters.symbols()], [casadi.veccat(*ours), casadi.veccat(*wanted)])
    a, b = map(np.array, function(0.1 * np.random.default_rng(1).standard_normal(beam.n), parameters.bound()))
    assert np.abs(a - b).max() < 1e-11 * np.abs(b).max()
