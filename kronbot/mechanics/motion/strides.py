"""The steps of RODAS in a row in C, round a step that is compiled: as in Python, without its time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from kronbot.compute.native.cost import FULL, Effort
from kronbot.compute.native.kernel import Steps

# Errors at which C and Python must be of the same opinion.
ERRORS = (0.0, 1e-13, 3e-7, 0.02, 0.7, 1.0, 1.3, 400.0, 1e9, 1e300, float("inf"), float("nan"))
LOOP = """
#include <math.h>
typedef int function(const double **, double **, long long *, double *, int);
double factor(double error)
{
    double found;
    if (!(error - error == 0)) return LEAST;
    found = SAFETY * pow(error < 1e-12 ? 1e-12 : error, POWER);
    found = found > LEAST ? found : LEAST;
    return found < MOST ? found : MOST;
}
static double *copied(double *to, const double *from, long long size)
{
    for (long long i = 0; i < size; i++) to[i] = from[i];
    return to + size;
}
int steps(function *step, const double **arg, double **res, long long *iw, double *w, double *const *in,
    double *const *out, double *state, long long *counts, const double *times, double *kept, long long n,
    long long most)
{
    double *t = in[0], *here = in[1], *h = in[2], end = state[3];
    for (long long tried = 0; tried < most && state[0] < end; tried++) {
        double left = end - state[0], half = left / 2, length = state[1], next;
        *t = state[0];
        *h = left <= length * (1 + 1e-9) ? left : half < length ? half : length;
        for (int i = 0; i < 5; i++) arg[i] = in[i];
        for (int i = 0; i < 3; i++) res[i] = out[i];
        step(arg, res, iw, w, 0);
        next = factor(*out[1]);
        counts[1]++;
        if (*out[1] <= 1.0) {
            double goal = *h == left ? end : state[0] + *h;
            long long last = counts[2];
            while (last < counts[0] && times[last] <= goal) last++;
            if (last > counts[2]) {
                double *row = kept + counts[3]++ * (4 + 4 * n);
                row[0] = last - counts[2];
                row[1] = state[0];
                row[2] = goal;
                row[3] = *h;
                copied(copied(copied(row + 4, here, n), out[0], n), out[2], 2 * n);
            }
            state[0] = goal;
            counts[2] = last;
            copied(here, out[0], n);
            state[1] = *h * (next < state[2] ? next : state[2]);
            state[2] = MOST;
        } else if (state[0] + *h * LEAST == state[0]) {
            return 1;
        } else {
            state[1] = *h * (next < 1.0 ? next : 1.0);
            state[2] = 1.0;
        }
        if (counts[1] > PATIENCE && end - state[0] > HOPELESS * state[1]) return 1;
    }
    return 0;
}
""".lstrip()


class Strides:
    """The loop as something to compile; ``constants`` by name, ``factor`` is what it must agree with in Python."""

    efforts: tuple[Effort, ...] = (FULL,)
    flags: tuple[str, ...] = ()
    instructions = 0

    def __init__(self, constants: dict[str, float], factor: Callable[[float], float]) -> None:
        heads = [f"#define {name} ({value!r})\n" for name, value in constants.items()]
        self._text, self._factor = "".join([*heads, "#pragma GCC visibility push(default)\n", LOOP]), factor

    def key(self) -> Iterator[str]:
        """The text itself."""
        yield self._text

    def source(self) -> str:
        """The text."""
        return self._text

    def load(self, library: Path) -> Steps:
        """The loop."""
        try:
            return Steps(library)
        except (OSError, AttributeError) as error:
            raise RuntimeError(str(error)) from None

    def agrees(self, library: Path) -> bool:
        """On how long the next step is."""
        factor = self.load(library).factor
        return all(factor(each) == self._factor(each) for each in ERRORS)
