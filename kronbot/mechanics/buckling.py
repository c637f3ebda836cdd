"""How many times its load a robot bears: the first multiple at which the tangent stiffness is singular.

The loads on endpoint, frames and beams are multiplied, gravity is not; gravity is where there is no other load.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from kronbot.compute.result import Scalar
from kronbot.errors import ComputationError
from kronbot.mechanics.equilibrium import Lost, Path, metric
from kronbot.mechanics.load_cases import Case
from kronbot.mechanics.static_model import PURPOSE
from kronbot.mechanics.statics import Equilibria

Array = npt.NDArray[np.float64]

GRAVITY, LOADS = np.array([1.0, 0.0]), np.array([0.0, 1.0])
# Steps to the multiple that the linear estimate gives, growing from one to the next, and where the search ends.
STEPS, GROWTH, FURTHEST = 16, 1.1, 100.0
ACCURACY = 1e-12
# Eigenvalues of the pencil beyond this share of the largest stand for "never".
NEVER = 1e-9


def buckling(equilibria: Equilibria, case: Case, solver: str) -> dict[str, Scalar]:
    """The factor for a case: along the path of equilibria (``newton``), or of the straight beams (``linear``).

    Raises ComputationError where the robot has buckled before, or nothing loads it.
    """
    modal = list(equilibria.robot.flexible)
    straight = equilibria.linear(case)
    straight[modal] = 0.0
    if not modal:
        return {"buckling": "none: all links are rigid"}
    multiplied = _multiplied(equilibria, case, straight)
    path = equilibria.path(case.wrench, modal, multiplied)
    if solver == "linear":
        factor = _of_pencil(path, straight)
        return {"buckling": "none"} if factor is None else {"buckling_factor": factor}
    try:
        before = equilibria.path(case.wrench, modal, lambda share: share * multiplied(0.0)).follow(straight, 0.0, 1.0)
    except Lost:
        raise ComputationError("the robot buckles under its weight before any load is on it") from None
    return _on_path(path, before, metric(equilibria.robot, modal, PURPOSE))


def _multiplied(equilibria: Equilibria, case: Case, q: Array) -> Callable[[float], Array]:
    """Shares of gravity and loads by the multiple."""

    def acts(shares: Array) -> bool:
        values = report(q, case.wrench, shares)
        return bool(values["forces"].any() or values["reaction"].any())

    report = equilibria.model.report()
    if acts(LOADS):
        return lambda multiple: GRAVITY + multiple * LOADS
    if acts(GRAVITY):
        return lambda multiple: multiple * GRAVITY
    raise ComputationError("nothing loads the robot: give --forces, --moments, --load or gravity")


def _of_pencil(path: Path, q: Array) -> float | None:
    """The smallest positive multiple with singular K_0 + multiple (K_1 - K_0) at q, or None."""
    from scipy.linalg import eigvals

    _, K = path.balance(q, 0.0)
    _, loaded = path.balance(q, 1.0)
    inverse = eigvals(K - loaded, K)
    scale = np.abs(inverse).max(initial=0.0)
    real = inverse.real[(np.abs(inverse.imag) <= NEVER * scale) & (inverse.real > NEVER * scale)]
    return float(1 / real.max()) if real.size else None


def _on_path(path: Path, q: Array, G: Array) -> dict[str, Scalar]:
    """Follow the equilibria from q at the multiple 0 to the first one with singular stiffness."""
    from scipy.linalg import eigvals
    from scipy.optimize import brentq

    def weakest(q: Array, multiple: float) -> float:
        _, K = path.balance(q, multiple)
        return float(eigvals(K, G).real.min())

    if weakest(q, 0.0) <= 0:
        raise ComputationError("the equilibrium without the load is unstable already")
    reached = 0.0
    estimate = _of_pencil(path, q) or 1.0
    step = estimate / STEPS
    while reached < FURTHEST * estimate:
        goal = reached + step
        try:
            after = path.follow(q, reached, goal)
        except Lost as lost:
            return {"buckling_factor": lost.share, "buckling": "limit point: the path of equilibria turns back there"}
        if weakest(after, goal) <= 0:
            start = (q, reached)

            def along(multiple: float, start: tuple[Array, float] = start) -> float:
                return weakest(path.follow(*start, multiple), multiple)

            factor = brentq(along, reached, goal, xtol=ACCURACY * goal, rtol=ACCURACY)
            return {"buckling_factor": float(factor), "buckling": "bifurcation: the stiffness is singular there"}
        q, reached, step = after, goal, GROWTH * step
    return {"buckling": f"none up to {reached:.3g} times the load"}
