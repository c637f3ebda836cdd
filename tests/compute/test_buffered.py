"""Functions on memory laid out once."""

import casadi
import numpy as np
import pytest
from casadi import SX

import kronbot
from kronbot.compute import batch, trace
from kronbot.compute.buffered import Buffered
from kronbot.compute.native import policy


def test_a_call_reads_and_writes_its_memory():
    """Column by column, as often as it is called."""
    A, x = SX.sym("A", 2, 3), SX.sym("x", 3)
    at = Buffered(casadi.Function("f", [A, x], [A @ x, A.T]))
    for seed in range(3):
        matrix, vector = np.random.default_rng(seed).random((2, 3)), np.arange(3.0)
        at.arguments[0][:], at.arguments[1][:] = matrix.T.ravel(), vector
        at()
        assert np.allclose(at.results[0], matrix @ vector, rtol=1e-15)
        assert np.array_equal(at.results[1], matrix.ravel())


def test_functions_may_share_memory():
    """What one writes the next reads."""
    x = SX.sym("x", 2)
    value, image = np.array([1.0, 2.0]), np.zeros(2)
    double = Buffered(casadi.Function("double", [x], [2 * x]), [value], [image])
    back = Buffered(casadi.Function("back", [x], [x + 1]), [image], [value])
    double()
    back()
    double()
    assert image.tolist() == [6.0, 10.0]


@pytest.mark.parametrize("choice", ["off", "on"])
def test_some_rows_are_one_call_on_memory_that_is_kept(choice, monkeypatch):
    """The same bits as in chunks, row by row; memory of the latest numbers of rows alone; answers are not in it."""
    monkeypatch.setattr(trace, "MOST_COUNTS", 2)
    x, A = SX.sym("x", 3), SX.sym("A", 2, 2)
    parameters = kronbot.load("khang").model.parameters
    made = trace.Trace(parameters, {"x": x, "A": A}, {"y": casadi.sin(A @ x[:2]), "B": A / x[2]}, "test")
    state = np.random.default_rng(0)
    with policy.native(choice):
        for count in (1, 2, 3, 2, 5, 1):
            points = state.uniform(1, 2, (count, 3)), state.uniform(1, 2, (count, 4))
            found = made.rows(*points)
            again = made.rows(*(np.tile(rows, (3, 1)) for rows in points))
            sizes = [rows * columns for rows, columns in made._traced.shapes]
            y, B = batch.evaluate(made.function, points, made.bound, sizes)
            assert found["y"].tobytes() == again["y"][:count].tobytes() == y.tobytes()
            assert np.array_equal(found["B"], B.reshape(-1, 2, 2).swapaxes(1, 2))
            assert np.array_equal(found["B"][-1], made(*(rows[-1] for rows in points))["B"])
            assert len(made._traced._memory.buffered) <= 2
