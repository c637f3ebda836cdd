"""Derivatives of programs that call a function often, against CasADi's own of the whole."""

import casadi
import numpy as np
from casadi import MX, SX

from kronbot.mechanics.control.repeated import Call, Repeated, derivatives, inlined

N = 4


def test_derivatives_are_those_of_the_whole_program():
    """Places of calls are bilinear in the unknowns, as with a free end time; answers enter squared."""
    s = SX.sym("s", 2)
    y = casadi.vertcat(casadi.sin(s[0]) * s[1] ** 2, s[0], casadi.exp(s[0] * s[1]))
    function = Repeated(casadi.Function("f", [s], [y]))
    X, T = MX.sym("X", 2, N), MX.sym("T")
    x = casadi.veccat(X, T)
    calls = [Call(function, T * X), Call(function, X[:, ::-1] + casadi.repmat(X[:, :1], 1, N))]
    first, second = (call.answer for call in calls)
    f = casadi.sumsqr(first) * T + casadi.dot(second, first)
    g = casadi.vertcat(casadi.vec(first * second), casadi.vec(X[0, :] * second[1, :]), T)
    found = derivatives(x, f, g, calls, lambda: None)
    whole_f, whole_g = inlined(f, calls), inlined(g, calls)
    lam = MX.sym("lam", g.numel())
    J = casadi.Function("J", [x], [casadi.jacobian(whole_g, x)])
    H = casadi.Function("H", [x, lam], [casadi.triu(casadi.hessian(3 * whole_f + casadi.dot(lam, whole_g), x)[0])])
    rng = np.random.default_rng(5)
    at, multipliers = rng.normal(size=2 * N + 1), rng.normal(size=g.numel())
    value, jacobian = found["jac_g"](at, [])
    np.testing.assert_allclose(value, casadi.Function("g", [x], [whole_g])(at), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(np.array(jacobian), np.array(J(at)), rtol=1e-12, atol=1e-12)
    wanted = np.array(H(at, multipliers))
    np.testing.assert_allclose(np.array(found["hess_lag"](at, [], 3, multipliers)), wanted, rtol=1e-11, atol=1e-11)
    assert np.abs(wanted).max() > 1
