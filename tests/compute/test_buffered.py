"""Functions on memory laid out once."""

import casadi
import numpy as np
from casadi import SX

from kronbot.compute.buffered import Buffered


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
