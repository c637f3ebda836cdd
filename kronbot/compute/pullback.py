"""Exact derivatives of answers by parameters, at many points: one sweep back through the trace for each answer."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from itertools import pairwise

import casadi
import numpy as np
import numpy.typing as npt
from casadi import SX

from kronbot.compute.trace import Trace, Traced
from kronbot.floats import Array
from kronbot.model.robot import Robot
from kronbot.model.variation import Variation
from kronbot.records import dataclass

# Numbers of a block of gradients, before they are those of few parameters.
BLOCK = 2_000_000


@dataclass(frozen=True)
class Pullback:
    """The gradient of weighted sums of traced quantities, weights . e, by the parameters of a variation.

    ``moved`` are the places of the symbols that it is a gradient by, among all symbols.
    """

    variation: Variation
    traced: Traced
    moved: npt.NDArray[np.intp]

    @staticmethod
    def of(
        variation: Variation,
        what: Hashable,
        purpose: str,
        make: Callable[[], tuple[Mapping[str, SX], SX]],
    ) -> Pullback:
        """That of what ``make`` gives, inputs by word and a column e, made once for all robots of a structure."""
        parameters = variation.robot.parameters

        def make_both() -> tuple[Traced, npt.NDArray[np.intp]]:
            inputs, e = make()
            weights, extent = SX.sym("weights", e.numel()), parameters.extent
            moved = variation.moved(extent)
            gradient = casadi.gradient(casadi.dot(weights, e), parameters.symbols(extent)[moved.tolist()])
            made = Traced(parameters, {**inputs, "weights": weights}, {"gradient": gradient}, purpose)
            assert made.extent == extent, "the gradient brings no numbers of its own"
            return made, moved

        key = ("pullback", variation.names, purpose, what)
        return Pullback(variation, *variation.robot.kept(key, make_both))

    def derivatives(self, robot: Robot, values: Array, points: Mapping[str, Array], weights: Array) -> Array:
        """Derivatives (N, k) by the parameters of weights (N, e) . e at points (N, size) of every input by word.

        ``robot`` is that at the ``values`` (k,) of the parameters.
        """
        trace = Trace.of(self.traced, robot.parameters)
        slopes = self.variation.slopes(values, self.traced.extent)[self.moved]
        size = max(1, BLOCK // max(len(self.moved) + weights.shape[1], 1))
        parts = []
        for start, stop in pairwise([*range(0, len(weights), size), len(weights)]):
            rows = [each[start:stop] for each in points.values()]
            parts.append(trace.rows(*rows, weights[start:stop])["gradient"] @ slopes)
        return np.concatenate([np.zeros((0, len(values))), *parts])
