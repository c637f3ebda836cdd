"""How far the accelerations of either algorithm are from the exact ones: forward errors over chains of all kinds.

The truth is the traced function played with sixty digits at the same floats; the two algorithms' truths have to agree,
which checks both. An error is the largest difference of an acceleration by the largest acceleration.
"""

import mpmath
import numpy as np
from bench.precision import exactly, rounded
from bench.scaling import traces

DIGITS = 60
KINDS = {"double": np.float64, "single": np.float32}


def states(robot, count, seed=7):
    """Random states of single precision, the same for either arithmetic: angles anywhere, small deflections."""
    rng = np.random.default_rng(seed)
    q, qd, tau = (rng.uniform(-1, 1, (count, robot.n)) for _ in range(3))
    flexible, joints = list(robot.flexible), [joint.index for joint in robot.joints]
    q[:, flexible] *= 0.01
    qd[:, flexible] *= 0.1
    q[:, joints] *= np.pi
    tau[:, flexible] = 0.0
    tau[:, joints] *= 100.0
    return [values.astype(np.float32).astype(float) for values in (q, qd, tau)]


def errors(chain, count=8):
    """Entry of the report for one chain: condition of M, and by precision the error of either algorithm."""
    robot = chain.robot()
    made = traces(robot)
    given = states(robot, count)
    bound = next(iter(made.values())).bound.astype(np.float32).astype(float)
    rows = [*given, np.tile(bound, (count, 1))]
    exact = {}
    for name, trace in made.items():
        exact[name] = [exactly(trace.function, [each[i] for each in rows], DIGITS) for i in range(count)]
    agree = max(relative(a, b) for a, b in zip(*exact.values(), strict=True))
    assert agree < 1e-20, f"the algorithms disagree in exact arithmetic: {agree}"
    entry = {"chain": chain, "coordinates": robot.n, "exact_difference": agree}
    for precision, kind in KINDS.items():
        for name, trace in made.items():
            values = rounded(trace.function, rows, kind)
            wrong = [relative(value, truth) for value, truth in zip(values.tolist(), exact[name], strict=True)]
            entry[f"{precision} {name}"] = float(np.median(wrong))
    return entry


def relative(values, truth):
    """Largest difference by the largest entry; infinite where something is not finite."""
    with mpmath.workdps(DIGITS):
        largest = max(abs(each) for each in truth)
        wrong = [abs(mpmath.mpf(a) - b) for a, b in zip(values, truth, strict=True)]
        return float(max(wrong) / largest) if all(map(mpmath.isfinite, wrong)) else float("inf")
