"""Long functions in blocks have the bits of the interpreter, and text of what repeats itself once."""

import shutil

import casadi
import numpy as np
import pytest
from casadi import SX
from tapes import SPECIAL, random_function, same_bits

from kronbot.compute.native import blocks, compiling, subjects
from kronbot.compute.native.awaited import Native
from kronbot.compute.native.cost import FULL, INTERPRETED, QUICK, instructions
from kronbot.compute.native.use import STARTING, worthwhile

compiler = pytest.mark.skipif(not any(map(shutil.which, compiling.COMPILERS)), reason="native code needs a C compiler")


def chain(links):
    """Numbers that go from link to link and back, with an input and an output of each, and one of all."""
    p, x = SX.sym("p", 2), SX.sym("x", links)
    before, found = SX([0.3, 0.7]), []
    for each in casadi.vertsplit(x):
        a, b = casadi.sin(before[0] + each), casadi.cos(before[1] * each)
        before = casadi.vertcat(a * p[0] + b * b * 0.1, a / (2 + b) - p[1] * before[0])
        found.append(before)
    for k in reversed(range(links - 1)):
        found[k] = found[k] + casadi.tanh(found[k + 1] * p[0] + 0.3) * casadi.exp(-found[k + 1])
    rows = casadi.vertcat(*(each[1] for each in found))
    return casadi.Function("trace", [x, SX.sym("unused"), p], [rows, casadi.sum1(rows)])


def text(*functions):
    generator = casadi.CodeGenerator("traced.c")
    for each in functions:
        generator.add(each)
    return str(generator.dump())


def test_what_repeats_itself_is_there_once(monkeypatch):
    """What does not repeat itself stays as it is, but where it is so long that compilers take minutes."""
    whole = text(chain(300))
    assert blocks.in_blocks(whole).count("\n") < 0.5 * whole.count("\n")
    once = text(random_function(np.random.default_rng(0), 600))
    assert blocks.in_blocks(once) == once
    monkeypatch.setattr(blocks, "LONG", 500)
    assert "block_1" in blocks.in_blocks(once) != once


def test_repeated_functions_pay_sooner(monkeypatch):
    """The compiler sees what differs where it tries hard; it is looked at where that may pay, and not otherwise."""
    function = chain(200)
    subject, sizes = subjects.Functions(function), [instructions(function)]
    assert subject.statements(FULL) == sizes[0] <= subjects.FEW and not subject.looking
    monkeypatch.setattr(compiling, "MAX_INSTRUCTIONS", int(0.8 * sizes[0]))
    assert worthwhile(sizes, [10**9], 1.0, None, subject) is None
    monkeypatch.setattr(subjects, "FEW", 100)
    other = subjects.Functions(function)
    assert other.statements(FULL) < 0.7 * sizes[0] == 0.7 * other.statements(QUICK)
    assert "block_" in other.source(FULL) and "block_" not in other.source(QUICK)
    pays = (STARTING + 0.7 * sizes[0] * FULL.compiling) / (sizes[0] * (INTERPRETED - FULL.running))
    assert [worthwhile(sizes, [int(pays * much)], 1.0, None, other) for much in (0.3, 2)] == [None, FULL]
    unseen = subjects.Functions(function)
    worthwhile(sizes, [int(pays * 0.3)], 1.0, None, unseen)
    assert "_blocks" not in vars(unseen)


def test_work_waits_for_no_look_that_takes_longer(tmp_path, monkeypatch):
    """Than it is expected to save, nor, where that is forecast by a run, than the run has taken."""
    monkeypatch.setenv("KRONBOT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(subjects, "FEW", 100)
    function = chain(200)
    subject, size = subjects.Functions(function), instructions(function)
    takes = subject.looking
    assert takes == size * subjects.LOOKING
    few = int((STARTING + 0.3 * size * QUICK.compiling) / (size * (INTERPRETED - QUICK.running)))
    assert worthwhile([size], [few], 1.0, None, subject) is None and subject.looking == takes
    assert worthwhile([size], [few * 10], 1.0, None, subject) is not None and subject.looking == 0
    monkeypatch.setattr(compiling, "MAX_INSTRUCTIONS", size // 2)  # so that what is looked at is not compiled
    monkeypatch.setattr(blocks, "in_blocks", lambda text: text)
    native = Native(function)
    for spent, looked in ((0.9 * takes, False), (1.1 * takes, True)):
        native.expect(10 * few, spent=spent)
        assert (native._subject.looking == 0) == looked


@compiler
def test_the_bits_of_the_interpreter(tmp_path, monkeypatch):
    """Of all operations, of what is called, and where results are not wanted."""
    monkeypatch.setenv("KRONBOT_CACHE", str(tmp_path / "cache"))
    for word, value in {"SHORT": 0, "WORTH": np.inf, "LONGEST": 40}.items():
        monkeypatch.setattr(blocks, word, value)
    monkeypatch.setattr(subjects, "FEW", 0)
    rng, links = np.random.default_rng(1), chain(40)
    every, x = random_function(rng, 60), casadi.MX.sym("x", 6)
    twice = casadi.Function("twice", [x], [every(every(x)[:6]), every(x)])
    code = compiling.compiled(FULL, twice, links)
    assert "block_" in subjects.Functions(twice).source(FULL)
    for column in np.hstack([rng.normal(size=(6, 10)), rng.choice(SPECIAL, size=(6, 10))]).T:
        pairs = zip(twice.call([column]), code.function.call([column]), strict=True)
        assert all(same_bits(one, other) for one, other in pairs)
    results = []
    for each in (links, casadi.external("trace", str(code.library))):
        buffer, evaluate = each.buffer()
        given, sums = np.linspace(0, 1, 40), np.zeros(1)
        buffer.set_arg(0, memoryview(given))  # p is 0 where nobody gives it
        buffer.set_res(1, memoryview(sums))
        evaluate()
        results.append(sums.tobytes())
    assert results[0] == results[1] != bytes(8)
