"""Steps in a row in C, round a step that is compiled: as in Python, without its time; of one run, or of
many in lanes side by side, each with steps of its own."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kronbot.compute.native.cost import FULL, Effort
from kronbot.floats import Array

if TYPE_CHECKING:
    from kronbot.compute.native.kernel import Kernel, Loop, Steps

Stride = Callable[[int], None]
# Errors at which C and Python must be of the same opinion.
ERRORS = (0.0, 1e-13, 3e-7, 0.02, 0.7, 1.0, 1.3, 400.0, 1e9, 1e300, float("inf"), float("nan"))
LOOP = """
#include <math.h>
typedef int function(const double **, double **, long long *, double *, int);
typedef void rows(const double *const *, double *const *, double *, long long);
double factor(double error, double before)
{
    double found;
    if (!(error - error == 0)) return LEAST;
    if (error > 1.0) found = SAFETY * pow(error, POWER);
    else found = SAFETY * pow(error < 1e-12 ? 1e-12 : error, NOW) * pow(before < SMALL ? SMALL : before, BEFORE);
    found = found > LEAST ? found : LEAST;
    return found < MOST ? found : MOST;
}
static double *copied(double *to, const double *from, long long size)
{
    for (long long i = 0; i < size; i++) to[i] = from[i];
    return to + size;
}
/* Whether a lane stops: state is its time, the length of its next step, what that may grow by, its end and the error of
   its last good step; counts are times that are asked for, steps, times that are done, rows that are kept, and whether
   it has given up. */
static int taken(double *state, long long *counts, const double *times, double h, const double *here,
    const double *there, double error, const double *within, double *kept, long long n, long long wide,
    long long most)
{
    double end = state[3], left = end - state[0], next = factor(error, state[4]);
    counts[1]++;
    if (error <= 1.0) {
        double goal = h == left ? end : state[0] + h;
        long long last = counts[2];
        while (last < counts[0] && times[last] <= goal) last++;
        if (last > counts[2]) {
            double *row = kept + counts[3]++ * (4 + 2 * n + wide);
            row[0] = last - counts[2];
            row[1] = state[0];
            row[2] = goal;
            row[3] = h;
            copied(copied(copied(row + 4, here, n), there, n), within, wide);
        }
        state[0] = goal;
        counts[2] = last;
        copied((double *)here, there, n);
        state[1] = h * (next < state[2] ? next : state[2]);
        state[2] = MOST;
        state[4] = error;
    } else if (state[0] + h * LEAST == state[0]) {
        counts[4] = 1;
    } else {
        state[1] = h * (next < 1.0 ? next : 1.0);
        state[2] = 1.0;
    }
    if (counts[1] > PATIENCE && end - state[0] > HOPELESS * state[1]) counts[4] = 1;
    return state[0] >= end || counts[4] || counts[3] == most;
}
void steps(function *step, rows *many, const double **arg, double **res, long long *iw, double *w, double *const *in,
    double *const *out, double *state, long long *counts, const double *const *times, double *kept, long long lanes,
    long long n, long long wide, long long most)
{
    int stopped = 0;
    for (long long tried = 0; tried < most && !stopped; tried++) {
        for (int l = 0; l < lanes; l++) {
            double *s = state + 5 * l, left = s[3] - s[0], half = left / 2, length = s[1];
            in[0][l] = s[0];
            in[2][l] = left <= length * (1 + 1e-9) ? left : half < length ? half : length;
        }
        if (many) many((const double *const *)in, out, w, lanes);
        else {
            for (int i = 0; i < 5; i++) arg[i] = in[i];
            for (int i = 0; i < 3; i++) res[i] = out[i];
            step(arg, res, iw, w, 0);
        }
        for (int l = 0; l < lanes; l++)
            stopped |= taken(state + 5 * l, counts + 5 * l, times[l], in[2][l], in[1] + n * l, out[0] + n * l,
                out[1][l], out[2] + wide * l, kept + most * (4 + 2 * n + wide) * l, n, wide, most);
    }
}
""".lstrip()


class Memory:
    """What steps work on: a row for each run, which is in a lane of its own.

    ``state`` and ``counts`` are as the loop has them, ``kept`` so many steps in which there is something to tell.
    ``sizes`` are those of a state, of what else is kept of a step, and of the values of symbols.
    """

    def __init__(self, lanes: int, sizes: tuple[int, int, int], limits: Array, most: int) -> None:
        size, wide, symbols = sizes
        self.t, self.h, self.error = (np.zeros((lanes, 1)) for _ in range(3))
        self.here, self.end, self.within = (np.zeros((lanes, width)) for width in (size, size, wide))
        self.bound, self.limits = np.zeros((lanes, symbols)), np.tile(limits, (lanes, 1))
        self.state, self.counts = np.zeros((lanes, 5)), np.zeros((lanes, 5), dtype=np.int64)
        self.times, self.kept = np.zeros(lanes, dtype=np.uintp), np.empty((lanes, most, 4 + 2 * size + wide))

    @property
    def sides(self) -> tuple[Sequence[Array], Sequence[Array]]:
        """What a step takes, and what it gives."""
        return (self.t, self.here, self.h, self.bound, self.limits), (self.end, self.error, self.within)

    def prepared(self, steps: Steps, step: Kernel | Loop) -> Stride:
        """Steps in a row of so many of the first lanes: until one of them stops, or as many as are kept."""
        return steps.prepared(step, *self.sides, (self.state, self.counts, self.times, self.kept))

    def stopped(self, lanes: int) -> list[int]:
        """Those of the first lanes that are at their end, have given up or cannot keep more; the last ones first."""
        state, counts = self.state[:lanes], self.counts[:lanes]
        found = (state[:, 0] >= state[:, 3]) | (counts[:, 4] != 0) | (counts[:, 3] == self.kept.shape[1])
        lanes_that_stop: list[int] = np.flatnonzero(found)[::-1].tolist()
        return lanes_that_stop

    def move(self, lane: int, to: int) -> None:
        """What goes on in a lane goes on in another one."""
        count = self.counts[lane, 3]
        self.kept[to, :count] = self.kept[lane, :count]
        for each in (self.here, self.bound, self.state, self.counts, self.times):
            each[to] = each[lane]


class Strides:
    """The loop as something to compile; ``constants`` by name, ``factor`` is what it must agree with in Python."""

    efforts: tuple[Effort, ...] = (FULL,)
    flags: tuple[str, ...] = ()
    instructions, looking = 0, 0.0

    def __init__(self, constants: dict[str, float], factor: Callable[[float, float], float]) -> None:
        heads = [f"#define {name} ({value!r})\n" for name, value in constants.items()]
        self._text, self._factor = "".join([*heads, "#pragma GCC visibility push(default)\n", LOOP]), factor

    def key(self) -> Iterator[str]:
        """The text itself."""
        yield self._text

    def statements(self, effort: Effort) -> int:
        """Too few to count."""
        return 0

    def source(self, effort: Effort) -> str:
        """The text."""
        return self._text

    def tried(self) -> list[str]:
        """How long the next step is."""
        from kronbot.compute.native import trial  # as in load

        return [trial.numbers("factor")]

    def load(self, library: Path) -> Steps:
        """The loop."""
        from kronbot.compute.native.kernel import Steps  # here, since most runs do without

        try:
            return Steps(library)
        except (OSError, AttributeError) as error:
            raise RuntimeError(str(error)) from None

    def agrees(self, library: Path) -> bool:
        """On how long the next step is."""
        factor = self.load(library).factor
        return all(factor(*each) == self._factor(*each) for each in itertools.product(ERRORS, ERRORS[:6]))
