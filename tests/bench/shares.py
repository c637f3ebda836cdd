"""What a state of the Puma takes in lanes of native code, and what of that nothing can take away.

The C of the loop is compiled as it is, without sines (halves in their place), and without writing its answers. Beside
stand libm's ``sincos`` of the six angles, and filling as many bytes as the answers have with a number. An AVX-512 Xeon
that others used, 10,000 states, one thread, ns a state (processor time):

                                whole    without sines    without writing    sincos alone    filling alone
    forward dynamics               66               45                 62             113                2
    inverse dynamics               48               28                 45             115                2
    its derivatives (linearize)   270              229                167             111               63
    derivatives of forward d.     355              328                231             114               59
    Jacobian                       41               17                 28             112               13
    Hessian                       211              155                 30             114              203

When all sines were libm's, on the same day, these took 154, 139, 375, 450, 144 and 327. Now six angles take 22 to 25 in
registers, a third of it for the one result in 30 that libm is asked for: some 30 ns each, most of them branches that
the processor guesses wrong. A Hessian is memory: Pinocchio's takes 6 times as long as filling alone. Tried, and no
better: lanes turned to rows in the registers; stores past the cache (Hessians 1.7 times as fast from 40,000 on, any
answer slower that is read next); -O2; functions of 4,000 statements (4 to 6 % less, compiled for a third longer).
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
            actions["filling alone"] = partial(np.ones(count * size).fill, 2.0)
            best = {name: 1e9 / count * each.best for name, each in interleaved(actions, rounds).items()}
            entries.append({"part": "shares", "task": task, "bytes": 8 * size} | best)
    except NoLibrary as reason:
        return entries, {"shares": str(reason)}
    return entries, {}
