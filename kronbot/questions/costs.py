"""What it costs a robot to come back from a deviation, by its rows, and what is told where somebody stops that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np

from kronbot.compute.arrays import Scalar
from kronbot.errors import Interrupted
from kronbot.floats import Array
from kronbot.system.interruption import interruptions

Priced = TypeVar("Priced")


def cost(times: Array, x: Array, u: Array, Q: Array, R: Array) -> float:
    """The integral of x' Q x + u' R u over rows."""
    running = np.einsum("ij,jk,ik->i", x, Q, x) + np.einsum("ij,jk,ik->i", u, R, u)
    return float((np.diff(times) * (running[1:] + running[:-1])).sum() / 2)


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
            why = error.args
        raise Interrupted(*why, ", in the simulation of the cost; the gains are there")
