"""What a state of the Puma takes in lanes of native code, and what of that nothing can take away.

The C of the loop is compiled as it is, without sines (halves in their place), and without writing its answers. Beside
stand libm's ``sincos`` of the six angles, whose bits no function of vectors has, and a copy of as many bytes as the
answers have. An AVX-512 Xeon, 10,000 states, one thread, ns a state:

                                whole    without sines    without writing    sincos alone    copy alone
    forward dynamics              124               43                117              89             1
    inverse dynamics              104               30                102              85             1
    its derivatives (linearize)   260              159                179              89            66
    derivatives of forward d.     384              232                241              90            67
    Jacobian                      102               21                 89              89            20
    Hessian                       170               78                 90              88           138

So a Jacobian is sines and little else, a Hessian sines and memory; Pinocchio's take 2.3 and 2.7 times as long as these.
Half of a sine are branches that random angles make the processor guess wrong. Tried, and no better: lanes turned to
rows in the registers; stores past the cache (Hessians 1.7 times as fast from 40,000 on, any answer slower that is read
next); -O2; functions of 4,000 statements (4 to 6 % less, compiled for a third longer).
"""

import re
from ctypes import c_long
from functools import partial

import numpy as np
from bench import kronbot_side, puma, puma_model
from bench.building import NoLibrary, library, pointers
from bench.timing import interleaved

from kronbot.compute.code import lanes
from kronbot.compute.native.compiling import COMPILERS, FLAGS
from kronbot.compute.native.kernel import Loop
from kronbot.compute.native.subjects import Rows

SINES, WRITING = r"(static void turn\(.*\n{\n)", r"\n *put_y.*rows\);"
HALVES = "for (int i = 0; i < count; i++) y[i][0] = y[i][1] = *x[i] / 2;\n    return;"
VARIANTS = {
    "whole": lambda text: text,
    "without sines": lambda text: re.sub(SINES, rf"\1    {HALVES}\n", text),
    "without writing": lambda text: re.sub(WRITING, "", text),
}
SINCOS = """
#define _GNU_SOURCE
#include <math.h>
void angles(const double *x, double *s, double *c, long n) { for (long i = 0; i < n; i++) sincos(x[i], s + i, c + i); }
"""


def loops(trace, states, answers):
    """Calls of the loop over rows of states, by variant of its text."""
    shared = (len(states),)
    made, given = Rows(trace.function, shared), [*map(np.ascontiguousarray, states), trace.bound]
    flags, text = [*FLAGS, made.efforts[0].flag, *made.flags, "-lm"], lanes.source(trace.function, shared, made.width)
    for name, variant in VARIANTS.items():
        path = library(COMPILERS, variant(text), flags, ".c")._name
        yield name, Loop(path).prepared(given, answers, len(states[0]))


def compare(count=10_000, rounds=9):
    """Entries of the report: ns a state of each task, and what is missing."""
    traced, states, entries = kronbot_side.traces(puma_model.robot()), puma.states(puma_model.JOINTS, count), []
    q, (s, c) = np.ascontiguousarray(states["q"]), np.empty((2, *states["q"].shape))
    try:
        sincos = library(COMPILERS, SINCOS, ["-O1", "-fno-builtin", "-lm"], ".c").angles
        addresses = pointers(q, s, c)
        for task in puma.TASKS:
            answers = [np.empty((count, rows * columns)) for rows, columns in traced[task]._traced.shapes]
            size = sum(each.shape[1] for each in answers)
            actions = dict(loops(traced[task], puma.rows(task, states, count), answers))
            actions["sincos alone"] = lambda: sincos(*addresses, c_long(q.size))
            actions["copy alone"] = partial(np.copyto, *np.ones((2, count * size)))
            best = {name: 1e9 / count * each.best for name, each in interleaved(actions, rounds).items()}
            entries.append({"part": "shares", "task": task, "bytes": 8 * size} | best)
    except NoLibrary as reason:
        return entries, {"shares": str(reason)}
    return entries, {}
