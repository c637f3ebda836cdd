"""DOP853: one step as a traced function, and how it follows a motion.

DOP853 (Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, section II.5) is Dormand and Prince's
explicit Runge-Kutta method of order 8. It takes no Jacobian, and of undamped vibrations it is stable up to
omega h = 5.96: those that are smaller than the tolerance cost two evaluations a radian of the fastest, no more, while
its order resolves the slower ones. Strong damping bounds its steps, too: to 6.39 by the largest rate of decay.
"""

from __future__ import annotations

from collections.abc import Mapping

import casadi
import numpy as np
from casadi import MX, SX

from kronbot.floats import Array
from kronbot.mechanics.motion.one_step import OneStep

# Coefficients of each stage, of the stages before it; those of the end; of error estimates of orders 3 and 5.
A: tuple[Mapping[int, float], ...] = (
    {},
    {0: 0.05260015195876773},
    {0: 0.0197250569845379, 1: 0.0591751709536137},
    {0: 0.02958758547680685, 2: 0.08876275643042054},
    {0: 0.2413651341592667, 2: -0.8845494793282861, 3: 0.924834003261792},
    {0: 0.037037037037037035, 3: 0.17082860872947386, 4: 0.12546768756682242},
    {0: 0.037109375, 3: 0.17025221101954405, 4: 0.06021653898045596, 5: -0.017578125},
    {
        0: 0.03709200011850479,
        3: 0.17038392571223998,
        4: 0.10726203044637328,
        5: -0.015319437748624402,
        6: 0.008273789163814023,
    },
    {
        0: 0.6241109587160757,
        3: -3.3608926294469414,
        4: -0.868219346841726,
        5: 27.59209969944671,
        6: 20.154067550477894,
        7: -43.48988418106996,
    },
    {
        0: 0.47766253643826434,
        3: -2.4881146199716677,
        4: -0.590290826836843,
        5: 21.230051448181193,
        6: 15.279233632882423,
        7: -33.28821096898486,
        8: -0.020331201708508627,
    },
    {
        0: -0.9371424300859873,
        3: 5.186372428844064,
        4: 1.0914373489967295,
        5: -8.149787010746927,
        6: -18.52006565999696,
        7: 22.739487099350505,
        8: 2.4936055526796523,
        9: -3.0467644718982196,
    },
    {
        0: 2.273310147516538,
        3: -10.53449546673725,
        4: -2.0008720582248625,
        5: -17.9589318631188,
        6: 27.94888452941996,
        7: -2.8589982771350235,
        8: -8.87285693353063,
        9: 12.360567175794303,
        10: 0.6433927460157636,
    },
)
B = {
    0: 0.054293734116568765,
    5: 4.450312892752409,
    6: 1.8915178993145003,
    7: -5.801203960010585,
    8: 0.3111643669578199,
    9: -0.1521609496625161,
    10: 0.20136540080403034,
    11: 0.04471061572777259,
}
# Of the method of order 3, whose difference to B is an estimate.
THIRD = {
    0: 0.244094488188976377952755905512,
    8: 0.733846688281611857341361741547,
    11: 0.0220588235294117647058823529412,
}
FIFTH = {
    0: 0.01312004499419488,
    5: -1.2251564463762044,
    6: -0.4957589496572502,
    7: 1.6643771824549864,
    8: -0.35032884874997366,
    9: 0.3341791187130175,
    10: 0.08192320648511571,
    11: -0.022355307863886294,
}
STAGES = len(A)
# Order of the error estimate.
ORDER = 7
# Of what is no error at all.
LITTLE = 1e-300


def step(t: SX, x: SX, rate: SX, symbols: SX) -> casadi.Function:
    """(t, x, h, values of the symbols, (rtol, atol)) -> (x at t + h, error by the tolerances, nothing).

    A step of an error up to 1 is good. It is made of calls alone, which lanes of code take over each for itself.
    """
    n = x.numel()
    rates = casadi.Function("rates", [t, x, symbols], [casadi.densify(rate)])
    h, tolerances, k = SX.sym("h"), SX.sym("tolerances", 2), [SX.sym("k", n) for _ in A]
    end = x + h * _sum(B, k)
    scale = tolerances[1] + tolerances[0] * casadi.fmax(casadi.fabs(x), casadi.fabs(end))
    third = casadi.sumsqr((_sum(B, k) - _sum(THIRD, k)) / scale)
    fifth = casadi.sumsqr(_sum(FIFTH, k) / scale)
    error = casadi.fabs(h) * fifth / casadi.sqrt(n * (fifth + 0.01 * third) + LITTLE)
    used = [k[j] for j in {**B, **THIRD, **FIFTH}]
    ended = casadi.Function("ended", [x, h, tolerances, *used], [end, error, SX(0, 1)])

    start, here, length = MX.sym("t"), MX.sym("x", n), MX.sym("h")
    bound, limits = MX.sym("p", symbols.numel()), MX.sym("tolerances", 2)
    slopes: list[MX] = []
    for weights in A:
        of = [t + sum(weights.values()) * h, x + h * _sum(weights, k)]
        at = casadi.Function("at", [t, x, h, *(k[j] for j in weights)], of)
        slopes.append(rates(*at(start, here, length, *(slopes[j] for j in weights)), bound))
    found = ended(here, length, limits, *(slopes[j] for j in {**B, **THIRD, **FIFTH}))
    return casadi.Function("step", [start, here, length, bound, limits], [*found])


class Dop853(OneStep):
    """Quick where vibrations are hardly damped, and where the tolerance is tight."""

    ORDER, STAGES = ORDER, STAGES
    # Where stability bounds the steps, lengths that follow the last error alone go up and down.
    GAINS = (0.5, 0.3)

    def traced(self) -> casadi.Function:
        """Evaluations of the rate alone."""
        return step(self.ode.t, self.ode.x, self.expression, self.symbols)

    def between(self, times: Array, steps: Array) -> Array:
        """By shorter steps from where the step began, as exact as it is: whatever else is asked for.

        The method's own interpolation takes four evaluations for all times in a step, and is less exact where
        stability bounds the steps: errors of tips become 5 to 40 times as large (Canadarm at 1e-4, Khang's arm at
        1e-6), energy_drift up to some thousand times.
        """
        every = np.repeat(steps, steps[:, 0].astype(int), axis=0)
        here, states = np.split(every[:, 4:], 2, axis=1)
        inside = times != every[:, 2]
        states[inside] = self.ends(every[inside, 1], here[inside], (times - every[:, 1])[inside])
        return states


def _sum(weights: Mapping[int, float], k: list[SX]) -> SX:
    return casadi.horzcat(*(k[j] for j in weights)) @ SX([*weights.values()]) if weights else SX(*k[0].shape)
