"""What it costs a robot to come back from a deviation, by its rows, and what is told where somebody stops that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np

from kronbot.compute.arrays import Scalar
from kronbot.errors import Interrupted
from kronbot.floats import Array
from kronbot.questions.keeping import COMPLETE
from kronbot.system.interruption import interruptions

Priced = TypeVar("Priced")
# How many times the predicted cost is no longer that of the linear model.
DEAR = 2.0


def cost(times: Array, x: Array, u: Array, Q: Array, R: Array) -> float:
    """The integral of x' Q x + u' R u over rows."""
    running = np.einsum("ij,jk,ik->i", x, Q, x) + np.einsum("ij,jk,ik->i", u, R, u)
    return float((np.diff(times) * (running[1:] + running[:-1])).sum() / 2)


def told_of_cost(predicted: float, simulated: float) -> list[str]:
    """That the robot itself comes back otherwise than its linear model does, if at all, in words."""
    if not simulated > DEAR * predicted > 0:
        return []
    return [
        f"the robot itself pays {simulated / predicted:.2g} times what its linear model does to come back from this "
        "deviation, if it comes back at all: gains hold it nearer to where they are designed (simulate tells); see "
        "what a smaller deviation costs"
    ]


# What a summary has where the simulation of a cost was interrupted.
UNPAID: Mapping[str, Scalar] = {"complete": False}


def paid(simulation: Callable[[], Priced]) -> Priced:
    """What the simulation of a cost gives. Raises Interrupted for who interrupts it, also while it is prepared, since
    the gains are there."""
    with interruptions() as met:
        try:
            return simulation()
        except KeyboardInterrupt:
            met.take_time()
            why: tuple[object, ...] = ("interrupted",)
        except Interrupted as error:
            why = ("interrupted",) if COMPLETE in error.args else error.args  # it was stopped at its very end
        raise Interrupted(*why, ", in the simulation of the cost; the gains are there")
