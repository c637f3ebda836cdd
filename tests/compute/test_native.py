"""Native code is used by the stated rule."""

import casadi
import numpy as np
import pytest

import kronbot
from kronbot.compute.native import compiling
from kronbot.compute.native import use as native
from kronbot.compute.native.compiling import Code
from kronbot.compute.native.cost import EFFORTS, FULL, QUICK

SIZE = 2000  # instructions


def test_pays_by_the_stated_rule():
    """Never for a few evaluations, quick for many, with full effort for very many."""
    chosen = [native.worthwhile([SIZE], [count], native.WAITING) for count in (0, 1000, 10**5, 10**7)]
    assert chosen == [None, None, QUICK, FULL]
    # Where nobody waits it pays sooner.
    count = next(n for n in range(0, 10**5, 100) if native.worthwhile([SIZE], [n], native.BESIDE) is not None)
    assert native.worthwhile([SIZE], [count], native.WAITING) is None


@pytest.mark.parametrize("margin", [native.WAITING, native.BESIDE])
def test_a_look_at_what_is_to_come_decides_as_the_gains_do(margin):
    """By the rule of every effort, also of what would not pay a compiler that begins."""
    for size in (1, 10, SIZE):
        for count in np.geomspace(1, 1e9, 200).astype(int).tolist():
            gains = {effort: native.gain([size], [count], effort, margin) for effort in EFFORTS}
            best = max(EFFORTS, key=gains.__getitem__)
            assert native.worthwhile([size], [count], margin) == (best if gains[best] > 0 else None)


@pytest.mark.parametrize("effort", EFFORTS)
def test_gains_add_up(effort):
    """Linear in the evaluations, up to rounding; functions that are compiled together start one compiler."""
    gains = np.array([native.gain([SIZE], [n], effort, 1.0) for n in (0, 10**6, 2 * 10**6)])
    assert gains[0] < 0
    assert gains[2] - gains[1] == pytest.approx(gains[1] - gains[0], rel=1e-12)
    both = native.gain([SIZE, SIZE], [10**6, 10**6], effort, 1.0)
    assert both - native.STARTING == pytest.approx(2 * gains[1], rel=1e-12)


def test_what_is_there_already_counts():
    """Quick code gives way to better code for much more work, and that to nothing."""
    function = casadi.Function("trace", [], [])
    quick, full = (Code(function, compiling.Path("x.so"), effort) for effort in (QUICK, FULL))
    assert native.worthwhile([SIZE], [10**5], native.BESIDE, quick) is None
    assert native.worthwhile([SIZE], [10**7], native.BESIDE, quick) == FULL
    assert native.worthwhile([SIZE], [10**12], native.BESIDE, full) is None


def test_a_process_keeps_kernels_that_are_wanted_in_any_case(monkeypatch, tmp_path):
    """Of the same function the second time nothing is read, let alone compiled; of others it is."""
    monkeypatch.setenv("KRONBOT_CACHE", str(tmp_path))
    monkeypatch.setattr(native, "MOST", 2)
    monkeypatch.setattr(native, "_known", {})
    looked = []
    loop = object()
    monkeypatch.setattr(
        native, "made", lambda effort, rows: looked.append((effort, rows._function)) or Code(loop, None, FULL)
    )
    x = casadi.SX.sym("x")
    functions = [casadi.Function("trace", [x], [i * casadi.sin(x)]) for i in range(3)]
    with native.policy.native("on"):
        for function in (functions[0], functions[0], functions[1], functions[0], functions[2], functions[1]):
            assert native.rows_at_once(function, (), 1) is loop
        assert looked == [(FULL, each) for each in functions]
        assert native.rows_at_once(functions[0], (), 1) is loop and len(looked) == 4  # the oldest has gone
        assert native.rows_at_once(functions[0], (0,), 1) is loop and len(looked) == 5  # another loop
    with native.policy.native("off"):
        assert native.rows_at_once(functions[0], (), 1) is None


def test_who_asks_again_and_again_is_given_native_code(monkeypatch):
    """As often as a function was interpreted it is expected to be asked for again; where none compiles nobody tries."""
    x = casadi.SX.sym("x")
    function = casadi.Function("trace", [x], [sum(casadi.sin(i * x) for i in range(1, 1000))])
    count = native.WAITING * (native.STARTING / native.instructions(function) + QUICK.compiling)
    enough = count / (native.INTERPRETED - QUICK.running)
    made, looked = [], []
    monkeypatch.setattr(native, "cached", lambda calls: looked.append(calls))
    for code in (Code("calls", None, QUICK), None):
        monkeypatch.setattr(native, "_known", {})
        monkeypatch.setattr(native, "made", lambda *asked, code=code: made.append(asked[0]) or code)
        found = [native.calls_at_once(function, int(0.3 * enough)) for _ in range(5)]
        assert found == [None, None, None, *[code and "calls"] * 2]
    assert made == [QUICK] * 2 and len(looked) == 2


@pytest.mark.slow
def test_the_main_job_is_worth_quick_code(monkeypatch, tmp_path):
    """A second of integration starts the compiler, once, and is over without it."""
    monkeypatch.setenv("KRONBOT_CACHE", str(tmp_path / "empty"))
    begun = []

    class Endless:
        ready = False

        def __init__(self, effort, patience, *functions):
            begun.append((effort, patience))

        def cancel(self):
            begun.append("cancelled")

    monkeypatch.setattr(compiling, "Compilation", Endless)
    assert kronbot.load("canadarm").simulate().summary["complete"]
    assert begun == [(QUICK, 0.0), "cancelled"]
