"""What belongs to the whole program is as it was after questions in threads, which keep nothing from each other."""

import io
import locale
import logging
import os
import signal
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import casadi
import numpy as np
import pytest
from waiting import PATIENCE

import kronbot
from kronbot.system.environment import for_now
from kronbot.system.silence import unheard, unlogged, unwarned

QUESTIONS = {
    "cvodes": lambda robot, k: robot.simulate(0.02 * (1 + k % 3), 0.01, solver="cvodes"),
    "dop853": lambda robot, k: robot.simulate(0.02 * (1 + k % 3), 0.01, solver="dop853"),
    "rodas": lambda robot, k: robot.simulate(0.02, 0.01, solver="rodas"),
    "radau": lambda robot, k: robot.simulate(0.002, 0.001, solver="radau", rtol=1e-3),
    "lqr": lambda robot, k: robot.design(lqr=True),
    "poles": lambda robot, k: robot.design(poles=[-1, -2, -3, -4]),
    "modes": lambda robot, k: robot.modes([0.1 * k]),
    "statics": lambda robot, k: robot.statics([0.1], forces=[[0, -k, 0]]),
    "draws": lambda robot, k: list(robot.sweep("modes", over={"EI": "uniform(900, 1100)"}, sample=5, workers=1)),
    "picture": lambda robot, k: robot._repr_html_(),
}


@pytest.fixture
def switching():
    """Threads take turns oftener than usual."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(5e-4)
    yield
    sys.setswitchinterval(before)


@contextmanager
def told():
    """A stream of errors inside, still in its place afterwards; pytest puts in its own between fixtures and tests."""
    stream, before = io.StringIO(), sys.stderr
    sys.stderr = stream
    try:
        yield stream
        assert sys.stderr is stream
    finally:
        sys.stderr = before


def of_the_program():
    """What all threads share, each with its identity where it has one."""
    handlers = {number: signal.getsignal(number) for number in signal.valid_signals()}
    logs = {name: (log.disabled, [*log.filters]) for name in LOGS if (log := logging.getLogger(name))}
    streams = [sys.stdin, sys.stdout, sys.stderr, sys.excepthook, sys.unraisablehook, sys.modules["__main__"]]
    others = [np.geterr(), locale.setlocale(locale.LC_ALL), os.getcwd(), dict(os.environ), handlers, logs]
    return [*map(id, streams), id(warnings.filters), [*warnings.filters], warnings.showwarning, *others]


LOGS = ("kronbot", "matplotlib", "matplotlib.font_manager", "distributed.client")


def nothing_left(words, threads, turns):
    """Ask so many times, while another thread prints: what it has printed arrives, and nothing is changed."""
    robot, over, lines = kronbot.load("khang", order="1"), threading.Event(), []
    for word in words:  # what is imported for it may have filters of its own
        QUESTIONS[word](robot, 0)

    def tell():
        while not over.wait(1e-3):
            lines.append(f"LOG {len(lines)}\n")
            sys.stderr.write(lines[-1])

    with told() as stream:
        before, teller = of_the_program(), threading.Thread(target=tell)
        teller.start()
        try:
            with ThreadPoolExecutor(threads) as pool:
                asked = [pool.submit(QUESTIONS[word], robot, k) for k in range(turns) for word in words]
        finally:
            over.set()
            teller.join(PATIENCE)
        assert [each.exception() for each in asked] == [None] * len(asked)
        assert lines
        assert stream.getvalue() == "".join(lines)
        assert of_the_program() == before


def test_runs_in_threads_leave_the_program_as_it_was(switching):
    nothing_left(["cvodes", "dop853"], 3, 3)


@pytest.mark.slow
def test_questions_in_threads_leave_the_program_as_it_was(switching, interpreted, swept_here):
    nothing_left([*QUESTIONS], 10, 1)


class Late(Exception):
    pass


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="alarms")
@pytest.mark.parametrize("raises", [Late, KeyboardInterrupt])
def test_what_casadi_prints_of_a_signal_is_lost(raises):
    """Of what it prints otherwise; what the handler prints arrives."""
    x = casadi.SX.sym("x", 2)
    problem = {"x": x, "ode": casadi.vertcat(x[1], -x[0])}
    run = casadi.integrator(
        "run", "cvodes", problem, 0.0, 1e7, {"max_num_steps": 10**8, "disable_internal_warnings": 1}
    )

    def handler(*_):
        print("heard", file=sys.stderr)
        raise raises

    def ended(call):
        with told() as stream:
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with suppress(Late, RuntimeError, KeyboardInterrupt):
                call()
                pytest.fail("it ends by the signal")
            return stream.getvalue()

    before = signal.signal(signal.SIGALRM, handler)
    try:
        assert "failed: KeyboardInterrupt" in ended(lambda: run(x0=[1, 0]))
        assert ended(lambda: unheard(run, x0=[1, 0])) == "heard\n"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def overlapping(inside):
    """``inside`` is begun in two threads, and the first one leaves before the second one: a step of each call."""
    within, go = [threading.Event(), threading.Event()], [threading.Event(), threading.Event()]

    def wait(k):
        within[k].set()
        assert go[k].wait(PATIENCE)

    threads = [threading.Thread(target=inside, args=(k, lambda k=k: wait(k))) for k in range(2)]
    for thread, begun in zip(threads, within, strict=True):
        thread.start()
        assert begun.wait(PATIENCE)
    for thread, on in zip(threads, go, strict=True):
        yield
        on.set()
        thread.join(PATIENCE)
    yield


def test_streams_stay_where_threads_overlap():
    with told() as stream:
        for _ in overlapping(lambda k, wait: unheard(wait)):
            print("arrives", file=sys.stderr)
            assert sys.stderr.getvalue() == stream.getvalue()
    assert stream.getvalue() == "arrives\n" * 3


@pytest.mark.parametrize("left", [0, 1])
def test_a_stream_of_somebody_else_stays(left):
    """Put there while calls are under way. What he found there and puts back at last goes with the next call."""
    with told() as stream:
        other = io.StringIO()
        for step, _ in enumerate(overlapping(lambda k, wait: unheard(wait))):
            if step == left:
                held, sys.stderr = sys.stderr, other
        assert sys.stderr is other
        sys.stderr = held
        print("arrives", file=sys.stderr)
        with pytest.raises(ZeroDivisionError):
            unheard(lambda: 1 / 0)
    assert stream.getvalue() == "arrives\n"


def test_no_stream(monkeypatch):
    """As in programs without a terminal."""
    monkeypatch.setattr(sys, "stderr", None)
    assert unheard(lambda: sys.stderr) is None


def warned(text):
    """Whether a warning is shown."""
    try:
        warnings.warn(text, RuntimeWarning, stacklevel=2)
    except RuntimeWarning:
        return True
    return False


def test_warnings_of_others_are_shown_where_threads_overlap():
    found = []

    def inside(k, wait):
        with unwarned("mine"):
            found.append((warned("mine"), warned("other")))
            wait()
            found.append((warned("mine"), warned("other")))
        found.append((warned("mine"), warned("other")))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        before, filters = warnings.filters, [*warnings.filters]
        for _ in overlapping(inside):
            assert warned("mine")
        assert warnings.filters is before
        assert warnings.filters == filters
    assert found == [(False, True)] * 2 + [(False, True), (True, True)] * 2


def test_filters_of_somebody_else_stay():
    """Put in while warnings are ignored, or put back after it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with unwarned():
            warnings.filterwarnings("ignore", "new")
            catching = warnings.catch_warnings()
            catching.__enter__()
            assert not warned("mine")
        assert not warned("new")
        assert warned("mine")
        catching.__exit__()
        assert not warned("new")
        assert warned("mine")


def test_variables_are_restored_where_threads_overlap(monkeypatch):
    monkeypatch.setenv("KRONBOT_A", "before")
    monkeypatch.delenv("KRONBOT_B", raising=False)
    values, seen = [{"KRONBOT_A": "0", "KRONBOT_B": "0"}, {"KRONBOT_A": "1"}], []

    def inside(k, wait):
        with for_now(values[k]):
            wait()

    for _ in overlapping(inside):
        seen.append((os.environ["KRONBOT_A"], os.environ.get("KRONBOT_B")))
    assert seen == [("1", "0"), ("1", None), ("before", None)]


def test_loggers_speak_again_where_threads_overlap(caplog):
    log = logging.getLogger("kronbot.test")

    def inside(k, wait):
        with unlogged("kronbot.test"):
            wait()

    for _ in overlapping(inside):
        log.warning("said")
    assert caplog.messages == ["said"]
