"""Runge-Kutta of fourth order with fixed steps around a traced rate, compiled in single or double precision."""

import ctypes

import casadi
import numpy as np
from bench.building import library, pointers

# Neither may fuse or reorder: the two precisions and the two algorithms get the same operations.
FLAGS = ["-O2", "-ffp-contract=off", "-fno-fast-math", "-lm"]
DRIVER = """
typedef casadi_real real;

/* From x at time 0 in `every` steps of h to each of `count` rows (count x n); work is 6 n + w numbers. */
CASADI_SYMBOL_EXPORT void run(long n, long count, long every, real h, const real *p, real *x, real *rows, real *work)
{
  real *k[4] = {work, work + n, work + 2 * n, work + 3 * n}, *y = work + 4 * n;
  const real part[4] = {0, (real)0.5, (real)0.5, 1};
  casadi_int iw[rate_SZ_IW + 1];
  real t;
  long i, j, s;
  for (i = 0; i < count * every; ++i) {
    for (s = 0; s < 4; ++s) {
      for (j = 0; j < n; ++j) y[j] = s ? x[j] + part[s] * h * k[s - 1][j] : x[j];
      t = (real)((double)h * ((double)i + (double)part[s]));
      const real *in[3] = {&t, y, p};
      real *out[1] = {k[s]};
      rate(in, out, iw, work + 6 * n, 0);
    }
    for (j = 0; j < n; ++j) x[j] += h / 6 * (k[0][j] + 2 * (k[1][j] + k[2][j]) + k[3][j]);
    if ((i + 1) % every == 0) for (j = 0; j < n; ++j) rows[(i + 1) / every * n - n + j] = x[j];
  }
}
"""
TYPES = {"single": ("float", np.float32, ctypes.c_float), "double": ("double", np.float64, ctypes.c_double)}


class FixedStep:
    """x' = rate(t, x) with parameters p, in one precision."""

    def __init__(self, t, x, rate, symbols, bound, precision):
        function = casadi.Function("rate", [t, x, symbols], [casadi.densify(rate)])
        word, self.kind, self.scalar = TYPES[precision]
        generator = casadi.CodeGenerator("rate.c", {"casadi_real": word})
        generator.add(function)
        sizes = f"#define rate_SZ_IW {function.sz_iw()}\n"
        self.library = library(["cc", "gcc", "clang"], generator.dump() + sizes + DRIVER, FLAGS, ".c")
        self.n, self.bound = function.size1_in(1), np.asarray(bound, dtype=self.kind)
        self.work = np.zeros(6 * self.n + function.sz_w() + 1, dtype=self.kind)

    def run(self, start, duration, step, interval):
        """States (count + 1, n) at multiples of an interval that is a multiple of the step."""
        every, count = round(interval / step), round(duration / interval)
        x, rows = np.array(start, dtype=self.kind), np.zeros((count, self.n), dtype=self.kind)
        sizes = [ctypes.c_long(value) for value in (self.n, count, every)]
        self.library.run(*sizes, self.scalar(step), *pointers(self.bound, x, rows, self.work))
        return np.vstack([np.array(start, dtype=self.kind), rows]).astype(float)
