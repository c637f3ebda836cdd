"""What is traced once and had again is what tracing it anew would make."""

import pickle

import casadi
import numpy as np
import pytest
import robots_in_tests
from casadi import SX
from thinned import rare

from kronbot.mechanics.multibody.inertia import Inertia, Rigid, _flexible, _mass_line, _rotor
from kronbot.mechanics.multibody.recursion import inverse_dynamics
from kronbot.mechanics.multibody.state import propagate
from kronbot.model.build import build
from kronbot.model.tapes import Tapes


def test_a_tape_is_made_once_for_inputs_of_the_same_structure():
    """Free symbols stay what they are; what is structurally zero makes a tape of its own."""
    a, calls = SX.sym("a"), []

    def made(x, y):
        calls.append(y.nnz())
        return x @ y.T + a, x[0] * y

    tapes = Tapes()
    for _ in range(2):
        x, y = SX.sym("x", 2), SX.sym("y", 3)
        product, scaled = tapes.play(made, x, y)
        found = casadi.Function("found", [x, y, a], [product, scaled])([1, 2], [3, 4, 5], 6)
        assert np.array(found[0]) == pytest.approx(np.outer([1, 2], [3, 4, 5]) + 6, abs=0)
        assert np.array(found[1]).ravel() == pytest.approx([3, 4, 5], abs=0)
    y[1] = 0
    assert tapes.play(made, x, casadi.sparsify(y))[1].nnz() == 2
    assert calls == [3, 2]


def test_a_pickle_has_no_tapes():
    tapes = Tapes()
    tapes.play(lambda x: [x + 1], SX.sym("x"))
    assert vars(pickle.loads(pickle.dumps(tapes))) == vars(Tapes())


@pytest.mark.parametrize("order", ["1", rare("2"), rare("exact")])
def test_a_beam_that_moves_again_has_the_inertia_of_one_traced_anew(order):
    """Section by section, with their positions; at other symbols, at rest, and with a hub."""
    (link,) = robots_in_tests.model(
        robots_in_tests.BOOM.replace("{v: 2}", "{v: 1, w: 1, torsion: 1}").replace(
            "{z: 10}", "{y: 8, z: 10}, GJ: 5, polar_inertia: 0.1"
        ),
        order,
    ).links
    parameters = link.beam.parameters
    for still in (False, True):
        q_f, hub = SX.sym("q_f", 3), Rigid.of(link.hub)
        omega, qd_f = (SX(3, 1) if still else SX.sym(word, 3) for word in ("omega", "qd_f"))
        anew = _mass_line(link.beam, hub, omega, q_f, qd_f)
        nodes, weights = link.beam.nodes
        for at, weight in zip(link.beam.cross_sections(nodes.tolist(), q_f), weights, strict=True):
            anew += Inertia(*_rotor(link.beam, at, weight, omega, q_f, qd_f))
        for _ in range(2):
            again = _flexible(link.beam, hub, omega, q_f, qd_f)
            assert again.M.sparsity() == anew.M.sparsity()
            values = [numbers(each, [q_f, omega, qd_f], parameters) for each in (anew, again)]
            for one, other in zip(*values, strict=True):
                assert one == pytest.approx(other, rel=1e-14, abs=1e-16)
            assert np.ptp(values[0][0]) > 0


def test_a_robot_that_moves_again_has_the_dynamics_of_one_built_anew():
    model = robots_in_tests.model(robots_in_tests.BOOM)
    x = SX.sym("q", model.n), SX.sym("qd", model.n), SX.sym("qdd", model.n)
    found = []
    for robot in (model, model, build(model.description, "2")):
        forces = inverse_dynamics(propagate(robot, *x[:2]), x[2])
        parameters = robot.parameters
        function = casadi.Function("forces", [*x, parameters.symbols(parameters.extent)], [forces])
        points = 0.3 * np.random.default_rng(1).standard_normal((3, model.n))
        found.append(np.array(function(*points, parameters.bound(parameters.extent))))
    assert np.ptp(found[0]) > 0
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def numbers(inertia: Inertia, symbols, parameters):
    inputs = [casadi.vertcat(*casadi.symvar(each)) for each in symbols]
    given = [*inputs, parameters.symbols(parameters.extent)]
    function = casadi.Function("numbers", given, [inertia.M, inertia.gamma])
    state = np.random.default_rng(2)
    return [
        np.array(each)
        for each in function(
            *(state.uniform(-1, 1, each.rows()) for each in inputs), parameters.bound(parameters.extent)
        )
    ]
