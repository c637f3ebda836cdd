"""Exact derivatives of a program that calls a few functions very often.

CasADi differentiates all calls in one direction after the other. Here every function has its own Jacobian and Hessian,
made once and called as often; the rest of the program is differentiated with their expansion to second order in place
of the calls, which has the same derivatives where it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

import casadi
import numpy as np
from casadi import MX, SX

from kronbot.cached import cached_property
from kronbot.floats import Array
from kronbot.records import dataclass


@dataclass(frozen=True, eq=False)
class Repeated:
    """A function s (n,) -> y (m,) of plain expressions, with its derivatives."""

    function: casadi.Function

    def __call__(self, *parts: Array) -> Array:
        """Y (m,) of numbers, s being the parts one after the other."""
        return np.asarray(self.function(np.concatenate(parts)))[:, 0]

    @cached_property
    def _traced(self) -> tuple[SX, SX]:
        s = SX.sym("s", self.function.numel_in(0))
        return s, self.function(s)

    @cached_property
    def jacobian(self) -> casadi.Function:
        """s (n,) -> dy/ds (m x n), sparse."""
        s, y = self._traced
        return casadi.Function("jacobian", [s], [casadi.jacobian(y, s)])

    @cached_property
    def hessian(self) -> casadi.Function:
        """s (n,), mu (m,) -> the second derivative of mu' y (n x n), sparse."""
        s, y = self._traced
        mu = SX.sym("mu", y.numel())
        return casadi.Function("hessian", [s, mu], [casadi.hessian(casadi.dot(mu, y), s)[0]])


class Call:
    """That of a function at the columns of ``given`` (n x N); ``answer`` (m x N) is a symbol for what it says."""

    def __init__(self, function: Repeated, given: MX) -> None:
        self.function, self.given, self.count = function, given, given.shape[1]
        self.answer = MX.sym("answer", function.function.numel_out(0), self.count)

    @property
    def value(self) -> MX:
        """What the function says."""
        return self.function.function.map(self.count)(self.given)


def inlined(expression: MX, calls: Sequence[Call]) -> MX:
    """An expression of answers as one of the unknowns alone."""
    return casadi.substitute([expression], [c.answer for c in calls], [c.value for c in calls])[0]


def derivatives(x: MX, f: MX, g: MX, calls: Sequence[Call], watch: Callable[[], None]) -> dict[str, casadi.Function]:
    """g with its Jacobian, and the upper triangle of the Hessian of lam_f f + lam_g' g, as ``nlpsol`` takes them.

    f and g are expressions of the unknowns x and of answers of calls, whose places are expressions of x alone.
    ``watch`` is called between pieces of the work; of a large arm one may take seconds.
    """
    p, lam_f, lam_g = MX.sym("p", 0), MX.sym("lam_f"), MX.sym("lam_g", g.numel())
    lagrangian = lam_f * f + casadi.dot(lam_g, g)
    answers, curved = [c.answer for c in calls], MX(0)
    expanded, symbols, slopes, curves = [], list[list[MX]](), [], []
    for call in calls:
        s, at = call.given, MX.sym("at", *call.given.shape)
        watch()
        step, (J, slope) = casadi.vec(s - at), _blocks(call.function.jacobian, call.count)
        watch()
        H, curve = _blocks(call.function.hessian, call.count)
        expanded.append(call.answer + casadi.reshape(J @ step, *call.answer.shape))
        curved += casadi.dot(step, H @ step) / 2
        symbols.append([call.answer, at, slope, curve])
        slopes.append(call.function.jacobian.map(call.count)(s).nz[:])
        pulled = casadi.gradient(lagrangian, call.answer)
        curves.append(call.function.hessian.map(call.count)(s, pulled).nz[:])
    watch()
    values = [c.value for c in calls]
    curves = casadi.substitute(curves, answers, values)
    known = [[value, c.given, *both] for value, c, *both in zip(values, calls, slopes, curves, strict=True)]
    g_near, near = casadi.substitute([g, lagrangian], answers, expanded)
    watch()
    J_of = casadi.Function("J_of", [x, *chain(*(each[:3] for each in symbols))], [casadi.jacobian(g_near, x)])
    watch()
    H_whole = casadi.triu(casadi.hessian(near + curved, x)[0])
    H_of = casadi.Function("H_of", [x, lam_f, lam_g, *chain(*symbols)], [H_whole])
    J, H = J_of(x, *chain(*(each[:3] for each in known))), H_of(x, lam_f, lam_g, *chain(*known))
    watch()
    words = ["x", "p", "lam_f", "lam_g"]
    return {
        "jac_g": casadi.Function("jac_g", [x, p], [inlined(g, calls), J], words[:2], ["g", "jac_g_x"]),
        "hess_lag": casadi.Function("hess_lag", [x, p, lam_f, lam_g], [H], words, ["hess_gamma_x_x"]),
    }


def _blocks(one: casadi.Function, count: int) -> tuple[MX, MX]:
    """A matrix with so many blocks on its diagonal, and the symbol of their entries, one block after the other."""
    pattern = casadi.diagcat(*[one.sparsity_out(0)] * count)
    entries = MX.sym("entries", pattern.nnz())
    return MX(pattern, entries), entries
