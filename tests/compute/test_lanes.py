"""Points side by side in a processor's registers have the bits that they have alone."""

import logging
import shutil

import casadi
import numpy as np
import pytest
from casadi import MX, SX
from tapes import BINARY, SPECIAL, UNARY, random_function, same_bits
from thinned import rare, thinned

import kronbot
from kronbot.compute.code import lanes
from kronbot.compute.native import compiling, subjects
from kronbot.compute.native.cost import FULL
from kronbot.compute.native.policy import native as using
from kronbot.system.platform import host

pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, compiling.COMPILERS)), reason="native code needs a C compiler on the path"
)
# Sets of registers of this machine, the smallest of every machine last.
REGISTERS = [words for words in subjects.REGISTERS if host.processor_features().issuperset(words)] + [("least",)]
OFTEN = [REGISTERS[0], *map(rare, REGISTERS[1:])]


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch):
    """An empty cache of the test's own."""
    monkeypatch.setenv("KRONBOT_CACHE", str(tmp_path / "cache"))


@pytest.fixture(params=OFTEN, ids=" ".join)
def registers(request, monkeypatch):
    """As if these were the largest that the processor has."""
    monkeypatch.setattr(host, "processor_features", lambda: frozenset(request.param))


def loop(function, shared=()):
    code = compiling.made(FULL, subjects.Rows(function, shared))
    return None if code is None else code.function


def asked(loop, function, inputs):
    """Columns of outputs."""
    count = max(len(each) for each in inputs if each.ndim == 2)
    outputs = [np.full((count, function.numel_out(i)), 7.0) for i in range(function.n_out())]
    loop(inputs, outputs)
    return np.hstack(outputs)


def interpreted(function, inputs):
    count = max(len(each) for each in inputs if each.ndim == 2)
    rows = [each if each.ndim == 2 else np.tile(each, (count, 1)) for each in inputs]
    return np.hstack([np.array(each).T for each in function.map(count).call([each.T for each in rows])])


def test_every_operation_has_the_same_bits(registers):
    """Alone, of ordinary and extreme numbers in all pairs; where one number is the same in all lanes, too."""
    a, b = SX.sym("a"), SX.sym("b")
    function = casadi.Function(
        "trace", [a, b], [casadi.vertcat(*(each(a) for each in UNARY), *(each(a, b) for each in BINARY))]
    )
    values = np.concatenate([SPECIAL, np.random.default_rng(1).normal(size=9), [1e5, -3e9, 1e200, 0.8, 2.4, 1e-9]])
    grid = [np.ascontiguousarray(side.reshape(-1, 1)) for side in np.meshgrid(values, values)]
    wanted = interpreted(function, grid)
    found = asked(loop(function), function, grid)
    assert [k for k in range(wanted.shape[1]) if not same_bits(wanted[:, k], found[:, k])] == []
    for place in (0, 1):
        with_one = loop(function, (place,))
        for value in values[:: 1 if place else 5]:
            points = [np.array([value]) if i == place else np.ascontiguousarray(values[:, None]) for i in (0, 1)]
            assert same_bits(interpreted(function, points), asked(with_one, function, points)), value


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "longest"), [(0, 7), (1, 500)])
def test_random_functions_have_the_same_bits(registers, seed, longest, monkeypatch):
    """Chains of operations in one part and in many, of numbers of which some are the same in all lanes."""
    monkeypatch.setattr(lanes, "LONGEST", longest)
    rng = np.random.default_rng(seed)
    outer, p, x = random_function(rng, 100 if seed else 60), SX.sym("p", 3), SX.sym("x", 3)
    function = casadi.Function("trace", [x, p], [outer(casadi.vertcat(x, p)), casadi.vertcat(p, casadi.exp(p), 0)])
    parts = rng.normal(size=(40, 3)), rng.uniform(0, 1, (40, 3)), rng.choice(SPECIAL, size=(43, 3))
    points, both = np.vstack(parts), loop(function)
    own = rng.normal(size=points.shape)
    wanted = interpreted(function, [points, own])
    assert np.isfinite(wanted).sum() > 1000  # something is compared
    assert same_bits(wanted, asked(both, function, [points, own]))
    assert same_bits(interpreted(function, [points, own[0]]), asked(loop(function, (1,)), function, [points, own[0]]))


def test_any_number_of_rows(registers):
    """What is left over fills some lanes only, and nothing beside its rows."""
    x, y = SX.sym("x", 11), SX.sym("y")
    function = casadi.Function("trace", [x, y], [casadi.vertcat(x * casadi.sin(y), casadi.cos(y), 3), casadi.sum1(x)])
    made, rng = loop(function), np.random.default_rng(0)
    for count in (*range(1, 18), 100):
        points = [rng.normal(size=(count, 11)), rng.normal(size=(count, 1))]
        around = [np.full((count + 2, size), -5.0) for size in (13, 1)]
        made(points, [each[1:-1] for each in around])
        assert same_bits(np.hstack([each[1:-1] for each in around]), interpreted(function, points))
        assert all((each[[0, -1]] == -5).all() for each in around)


def test_inputs_and_outputs_without_a_number():
    """As of a robot without parameters, or a run without a force."""
    x, none, flat = SX.sym("x", 2), SX.sym("none", 0, 1), SX.sym("flat", 3, 0)
    function = casadi.Function("trace", [x, none, flat], [casadi.sin(x), none, 2 * x[0]])
    found = [np.empty((5, 2)), np.empty((5, 0)), np.empty((5, 1))]
    made, points = loop(function), np.random.default_rng(0).normal(size=(5, 2))
    made([points, np.empty((5, 0)), np.empty((5, 0))], found)
    assert same_bits(found[0], np.sin(points)) and same_bits(found[2], 2 * points[:, :1])


def test_sines_and_cosines_of_many_angles_have_the_same_bits():
    """Both at once have the bits of each alone, whatever the size of the angle."""
    x = SX.sym("x")
    both = casadi.Function("both", [x], [casadi.vertcat(casadi.sin(x), casadi.cos(x))])
    rng = np.random.default_rng(5)
    sizes = np.repeat([1e-9, 1e-3, 0.2, 1.0, 3.0, 1e2, 1e6, 1e9, 1e15, 1e300], 20_000)
    angles = (sizes * rng.uniform(-1, 1, len(sizes)))[:, None]
    assert same_bits(asked(loop(both), both, [angles]), interpreted(both, [angles]))


def test_a_compiler_without_vectors(monkeypatch):
    """Has one lane."""
    compiler = next(filter(shutil.which, compiling.COMPILERS))
    monkeypatch.setenv("CC", f"{compiler} -D__TINYC__")
    function = random_function(np.random.default_rng(3), 60)
    points = np.random.default_rng(4).normal(size=(9, 6))
    assert same_bits(asked(loop(function), function, [points]), interpreted(function, [points]))


def test_operations_that_c_does_not_have(caplog):
    """No loop, and a reason."""
    caplog.set_level(logging.DEBUG, "kronbot")
    x = SX.sym("x")
    assert loop(casadi.Function("trace", [x], [casadi.erfinv(x)])) is None
    assert "has no code" in caplog.text


ROBOTS = thinned(["khang", "spatial", "stacker", "torso"], ["khang"])


@pytest.mark.parametrize("name", ROBOTS)
def test_robots_have_the_same_bits(name):
    """Whole questions, in batches."""
    free = [word for word, value in kronbot.load(name).model.parameters.values.items() if value is None]
    arm = kronbot.load(name, parameters=dict.fromkeys(free, 0.7))
    points = np.random.default_rng(2).uniform(-1, 1, (700, arm.n))
    answers = []
    for choice in ("off", "on"):
        with using(choice):
            answers.append(arm.jacobian(points)["J_T"].tobytes())
    assert answers[0] == answers[1]


@pytest.mark.parametrize("longest", [500, rare(7)])
def test_calls_of_functions_have_the_same_bits(registers, longest, monkeypatch):
    """Each is there once, with inputs and results that go on to others, are results at once, or that nobody wants."""
    monkeypatch.setattr(lanes, "LONGEST", longest)
    a, b = SX.sym("a", 2), SX.sym("b")
    first = casadi.Function("first", [a, b], [casadi.sin(a) * b, casadi.cos(a[0]) + 3, SX(7)])
    second = casadi.Function("second", [b, a], [casadi.vertcat(a[1] / b, casadi.fmin(a[0], b))])
    x, y, one = MX.sym("x", 2), MX.sym("y"), MX.sym("one")
    turned, size, seven = first(x, one)
    once = second(size, turned)
    again, other, _ = first(second(y, once), size)
    function = casadi.Function("calls", [x, y, one], [again, second(other, once), seven, x])
    assert function.is_a("MXFunction")
    state = np.random.default_rng(3)
    for shared in ((), (0, 2)) if longest == 7 else ((2,),):
        points = [
            state.normal(size=part.numel() if i in shared else (21, part.numel())) for i, part in enumerate((x, y, one))
        ]
        assert same_bits(interpreted(function, points), asked(loop(function, shared), function, points))
    assert loop(casadi.Function("between", [x, y], [casadi.fabs(x) * y])) is None
