"""Many points at once: the same bytes however the work is shared, and nothing left behind."""

import _thread
import ctypes
import os
import threading
import time

import casadi
import numpy as np
import pytest
from waiting import demand_dead, soon

import kronbot
from kronbot.compute import batch, sharing
from kronbot.compute.native import compiling, subjects
from kronbot.compute.native import use as native
from kronbot.compute.native.compiling import compiled
from kronbot.compute.native.cost import FULL, INTERPRETED
from kronbot.compute.native.policy import native as using
from kronbot.compute.trace import Trace
from kronbot.errors import UsageError

compiler = pytest.mark.skipif(compiled(FULL, casadi.Function("f", [], [])) is None, reason="no C compiler")


@pytest.fixture(scope="module")
def robot():
    return kronbot.load("puma560")


@pytest.fixture
def eager(monkeypatch):
    """Threads are worth the smallest work."""
    monkeypatch.setattr(sharing, "SPELLS", 1e-9)
    monkeypatch.setattr(sharing, "THREAD", 1e-9)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1, 2, 3, 4})


@pytest.fixture
def empty_cache(monkeypatch, tmp_path):
    """Nothing is compiled already, whatever was asked before."""
    monkeypatch.setenv("KRONBOT_CACHE", str(tmp_path / "cache"))


def rows(count):
    return np.random.default_rng(1).uniform(-3, 3, (count, 6))


@pytest.mark.parametrize("count", [1, 2, 3, 511, 513, 2000])
def test_sharing_changes_nothing(robot, monkeypatch, eager, count):
    """Row by row the bytes of single points, whichever thread did them."""
    shared = robot.jacobian(rows(count))["J_T"]
    monkeypatch.setattr(sharing, "SPELLS", 1e9)
    alone = robot.jacobian(rows(count))["J_T"]
    assert shared.tobytes() == alone.tobytes()
    assert np.array_equal(shared[-1], robot.jacobian(rows(count)[-1])["J_T"])


@pytest.mark.parametrize("count", [2, 700])
def test_arguments_of_nothing_have_no_place_in_memory(count):
    """CasADi takes one that lies within what it works with for a mistake."""
    x, none, p = casadi.SX.sym("x", 2), casadi.SX.sym("none", 0), casadi.SX.sym("p", 1)
    f = casadi.Function("f", [x, none, p], [p * casadi.sumsqr(x)])
    places = []

    class Watched:
        def buffer(self):
            return self, list

        def set_arg(self, place, values):
            places.append((place, len(values)))

        def set_res(self, place, values):
            assert (place, len(values)) == (0, count)

    batch._fill_evenly(Watched(), [np.ones((count, 2)), np.ones((count, 0))], np.ones(1), [np.empty((count, 1))],
                       range(0, count, count))  # fmt: skip
    assert places == [(2, count), (0, count)]
    (found,) = batch.evaluate(f, [np.ones((count, 2)), np.ones((count, 0))], np.full(1, 3.0), [1])
    assert (found == 6).all()


@pytest.mark.parametrize("count", [1, 4, 5, 100, 2003, 100_000])
def test_interpreted_work_is_cut_small(eager, count):
    """Five threads of CasADi's, and calls that a Ctrl-C need not wait for."""
    x = casadi.SX.sym("x")
    function = casadi.Function("f", [x], [casadi.sin(x)])
    for seconds in (1e-9, 1e-6, 1e-3, 1.0):
        threads = min(5, count)
        many, chunk = batch._interpreted(function, count, int(count * seconds / INTERPRETED), threads)
        assert (many.class_name() == "ThreadMap") == (threads > 1)
        assert chunk % threads == 0
        assert chunk == threads or chunk * seconds / threads <= batch.SPELL * 1.001
        assert many.size2_in(0) == chunk <= count


def test_interruption_of_interpreted_work(robot, eager):
    """Is heard within a second."""
    many = rows(1_000_000)
    robot.hessian(many[:1])  # CasADi may swallow an exception while it traces
    timer = threading.Timer(0.2, _thread.interrupt_main)
    begun = time.process_time()
    with using("off"), pytest.raises(KeyboardInterrupt):
        timer.start()
        robot.hessian(many)
    # Of all threads; on a busy machine it is less.
    assert time.process_time() - begun < 1.2 * os.cpu_count()


@compiler
@pytest.mark.parametrize("count", [1, 7, 511, 512, 513, 1024, 30_001])
def test_threads_change_nothing(robot, eager, count):
    """Native code by five threads in turn; the bytes of interpretation."""
    answers = []
    for choice in ("on", "off"):
        with using(choice):
            answers.append(robot.jacobian(rows(count))["J_T"].tobytes())
    assert answers[0] == answers[1]


@compiler
def test_threads_really_share(robot, monkeypatch, eager):
    """Five of them, of which this is one, and none left afterwards."""
    begun, start = [], threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", lambda self: begun.append(self) or start(self))
    with using("on"):
        robot.jacobian(rows(100_000))
    assert len(begun) == 4
    assert not any(thread.is_alive() for thread in begun)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, MemoryError])
def test_what_stops_one_thread_stops_all(stop):
    """No part is begun after it, and whoever asked is told."""
    done = []

    def fill(part):
        time.sleep(0.01)
        done.append(part)
        if len(done) >= 3:
            raise stop

    with pytest.raises(stop):
        sharing.by_threads(fill, 1000, 4)
    assert 3 <= len(done) < 100  # each thread may be at one more


def test_every_part_is_done_once():
    """By one thread or more than there are parts."""
    for workers in (1, 3, 20):
        done = []
        sharing.by_threads(done.append, 10, workers)
        assert sorted(done) == list(range(10))


@compiler
def test_a_library_that_has_gone_is_done_without(robot, monkeypatch):
    """Evicted between finding and loading it."""
    monkeypatch.setattr(subjects, "Loop", lambda library: ctypes.CDLL("/nowhere/gone.so"))
    with using("on"):
        found = robot.jacobian(rows(600))["J_T"]
    assert np.array_equal(found, robot.jacobian(rows(600))["J_T"])


def test_nothing_in_nothing_out(robot):
    """A function without instructions has no work to share."""
    constant = casadi.Function("f", [casadi.SX.sym("x", 1), casadi.SX.sym("p", 0)], [casadi.SX.ones(2)])
    (ones,) = batch.evaluate(constant, [np.zeros((3, 1))], np.zeros(0), [2])
    assert np.array_equal(ones, np.ones((3, 2)))


@pytest.mark.parametrize("policy", ["off", "on"])
def test_no_rows_at_all(robot, policy):
    """Whatever has no instants, no contacts or no cases: arrays of their shapes without rows."""
    q, t = casadi.SX.sym("q", 3), casadi.SX.sym("t")
    trace = Trace(robot.model.parameters, {"q": q, "t": t}, {"A": q @ q.T, "y": t * q, "none": casadi.SX(0, 1)}, "test")
    with using(policy):
        found = trace.rows(np.zeros((0, 3)), np.zeros(0))
        moved = trace.beside([np.zeros((0, 3)), np.zeros((0, 1))], 1e-9, 2)
    assert {name: each.shape for name, each in found.items()} == {"A": (0, 3, 3), "y": (0, 3), "none": (0, 0)}
    assert moved.shape == (5, 0, 12)


@compiler
@pytest.mark.slow
def test_native_answers_are_the_same():
    """To the last bit."""
    arm = kronbot.load("khang", order="1")
    points = np.random.default_rng(2).uniform(-1, 1, (1000, arm.n))
    answers = {}
    for choice in ("off", "on"):
        with using(choice):
            answers[choice] = arm.hessian(points)["H_T"].tobytes()
    assert answers["on"] == answers["off"]


@pytest.mark.slow
@compiler
@pytest.mark.parametrize("drive", ["torque: {file: t.csv}", "motion: {type: table, file: t.csv}"])
def test_tables_are_the_same(tmp_path, drive):
    """Interpolation too."""
    (tmp_path / "t.csv").write_text("t,q1\n" + "".join(f"{i / 7},{(i * 37) % 11 / 30}\n" for i in range(12)))
    head = "kronbot: 1\nname: a\nconvention: standard\ngravity: [0, -9.81, 0]\nlinks:\n"
    link = "  - {name: l, joint: {type: revolute, name: q1}, dh: {a: 1, d: 0, alpha: 0, theta: 0}, "
    body = "rigid: {mass: 1, com: [-0.4, 0, 0], inertia: {Izz: 0.02}}}\n"
    (tmp_path / "r.yaml").write_text(f"{head}{link}{body}simulate: {{duration: 1, drive: {{q1: {{{drive}}}}}}}\n")
    answers = []
    for choice in ("off", "on"):
        with using(choice):
            answers.append(kronbot.load(tmp_path / "r.yaml").simulate(1.0, 0.1).to_dict())
    assert answers[0] == answers[1]


@compiler
def test_long_runs_compile_beside_their_work(monkeypatch, empty_cache):
    """Started after the first stretch, used as soon as it is there, in the cache afterwards; never waited for."""
    arm = kronbot.load("khang", order="1")
    with using("off"):
        expected = arm.simulate(0.4, 0.01).to_dict()
    monkeypatch.setattr(native, "BESIDE", 0.0)  # anything pays
    begun, begin = [], compiling.Compilation._begin
    monkeypatch.setattr(compiling.Compilation, "_begin", lambda *held: begun.append(held) or begin(*held))

    def wait(share):
        """The first half of the run takes as long as the compiler does."""
        if share > 0.5:
            soon(lambda: all(each.ready for each, *_ in begun))

    assert arm.simulate(0.4, 0.01, progress=wait).to_dict() == expected
    assert len(begun) == 3  # the rate, its Jacobian, and the squares of torques
    assert arm.simulate(0.4, 0.01).to_dict() == expected
    assert len(begun) == 3  # found


@compiler
def test_a_run_that_is_over_leaves_no_compiler(monkeypatch, tmp_path, empty_cache):
    """The compiler of a run that ends before it is killed with all its processes."""
    slow = tmp_path / "slow-cc"
    slow.write_text(f"#!/bin/sh\ncd {tmp_path}\nsleep 600 &\necho $! $$ > part\nmv part pids\nwait\n")
    slow.chmod(0o755)
    monkeypatch.setenv("CC", str(slow))
    monkeypatch.setattr(native, "BESIDE", 0.0)
    begun = tmp_path / "pids"

    def wait(share):
        if share > 0.5:
            soon(begun.exists)

    assert kronbot.load("khang", order="1").simulate(0.2, 0.01, progress=wait).summary["complete"]
    demand_dead(*map(int, begun.read_text().split()))


@compiler
def test_little_work_looks_for_nothing(robot, monkeypatch):
    """No compiler, no cache, no serialization for a single point."""
    monkeypatch.setattr(native, "cached", lambda *functions: pytest.fail("looked"))
    monkeypatch.setattr(native, "compiled", lambda *functions: pytest.fail("compiled"))
    robot.jacobian()
    robot.jacobian(rows(100))


def test_policies_are_few():
    with pytest.raises(UsageError, match="auto, on, off"), using("perhaps"):
        pass


def test_limits_of_threads(robot, monkeypatch, eager):
    """The work is done all the same, by those there are."""
    expected = robot.jacobian(rows(2000))["J_T"]

    def refuse_thread(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(sharing.Thread, "start", refuse_thread)
    monkeypatch.setattr(casadi.Function, "map", lambda *given, known=casadi.Function.map: known(*given[:2]))
    assert np.array_equal(robot.jacobian(rows(2000))["J_T"], expected)
    done = []
    sharing.by_threads(done.append, 4, 3)
    assert done == [0, 1, 2, 3]
