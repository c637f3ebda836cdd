"""Robots and errors in many threads, in other processes, in containers."""

import contextlib
import copy
import dis
import json
import os
import pickle
import pkgutil
import signal
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import casadi
import numpy as np
import pytest
from thinned import rare
from waiting import PATIENCE

import kronbot
from kronbot.cli.main import run
from kronbot.description import limits
from kronbot.errors import (
    ComputationError,
    DescriptionError,
    FreeParameters,
    Interrupted,
    KronbotError,
    Mistake,
    MotionError,
    ShapeError,
    UsageError,
)
from kronbot.system import forking
from kronbot.system.forking import Aside, AtWork
from kronbot.system.handlers import OwnErrors
from kronbot.system.interruption import MET, interruptions

THREADS = 4
TURNING = "qa: {type: cycloidal, rate: 1, half_period: 1}"


@pytest.fixture
def switching():
    """Threads take turns a hundred times as often as usual."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(5e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.slow
def test_pictures_of_one_answer_in_many_threads(switching, tmp_path):
    """As files and as notebooks show them: one at a time, with the bytes of one alone, whose ticks hold formulas."""
    answer = kronbot.load("khang").simulate(0.02, 0.01)
    alone, beside = tmp_path / "alone.svg", tmp_path / "beside.svg"
    figure = answer.plot(alone, panels="energy")
    wanted = figure._repr_png_()
    with ThreadPoolExecutor(2) as pool:
        drawn = pool.submit(answer.plot, beside, panels="energy")
        assert pool.submit(figure._repr_png_).result() == wanted
        drawn.result()
    assert beside.read_bytes() == alone.read_bytes()


@pytest.mark.slow
def test_one_robot_in_many_threads(switching):
    """Questions that are traced and answered at the same time have the bytes of one after another."""
    asks = {
        "jacobian": lambda robot, k: robot.jacobian([0.1 * k]),
        "check": lambda robot, k: robot.check(),
        "rows": lambda robot, k: robot.hessian(np.full((50, 1), 0.1 * k)),
        "simulate": lambda robot, k: robot.simulate(0.02, 0.01, q={"arm.v1": 0.01 * k}),
        "statics": lambda robot, k: robot.statics([0.1], forces=[[0, -k, 0]]),
        "modes": lambda robot, k: robot.modes([0.1 * k]),
    }
    alone = kronbot.load("khang", order="1")
    wanted = {(word, k): json.dumps(ask(alone, k).to_dict()) for word, ask in asks.items() for k in range(THREADS)}
    shared, found, together = kronbot.load("khang", order="1"), {}, threading.Barrier(THREADS)

    def work(k):
        together.wait()
        for word, ask in asks.items():
            found[word, k] = json.dumps(ask(shared, k).to_dict())

    threads = [threading.Thread(target=work, args=(k,)) for k in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == wanted


def test_a_robot_that_was_asked_can_be_copied():
    robot = kronbot.load("khang")
    robot.check()
    again = copy.deepcopy(robot)
    assert again.dynamics().to_dict() == robot.dynamics().to_dict()


@pytest.mark.parametrize(
    "copied", [rare(copy.copy), copy.deepcopy, rare(lambda robot: pickle.loads(pickle.dumps(robot)))]
)
def test_a_robot_travels_as_its_description(copied):
    """With its parameters, order and motion, asked before or not."""
    robot = kronbot.load("khang", order="1").with_motion("qa: {type: sinusoid, amplitude: 0.1, frequency: 2}")
    fresh = copied(robot)
    wanted = robot.simulate(0.02, 0.01, solver="rodas").to_dict()
    for each in (fresh, copied(robot)):
        assert (type(each), each.order) == (kronbot.library.robot.Robot, "1")
        assert each.simulate(0.02, 0.01, solver="rodas").to_dict() == wanted
    stacker = kronbot.load("stacker", parameters={"a3": "1/3"})
    assert copied(stacker).description.values["a3"] == 1 / 3


@pytest.mark.parametrize("wrong", [lambda: None, lambda a, b: None, lambda *, share: None])
def test_progress_takes_one_number(wrong):
    robot = kronbot.load("khang")
    with pytest.raises(UsageError, match="^progress: a function of the share that is done, one number"):
        robot.simulate(0.02, 0.01, progress=wrong)
    for right in (print, [].append, lambda *all: None, lambda share, more=1: None):
        assert kronbot.library.arguments.progress(right) is right


def test_who_watches_may_wait_for_another_thread():
    """One that asks the same robot, whose own watcher waits for the first one; their answers are those of one alone."""
    robot, met = kronbot.load("khang"), threading.Barrier(2, timeout=PATIENCE)
    angles, found = [[0.1], [0.2]], {}
    wanted = [pickle.dumps(kronbot.load("khang").statics(q=angles, forces=[[0, -k, 0]])) for k in range(2)]

    def asking(k):
        found[k] = pickle.dumps(robot.statics(q=angles, forces=[[0, -k, 0]], progress=lambda share: met.wait()))

    other = threading.Thread(target=asking, args=(1,), daemon=True)
    other.start()
    asking(0)
    other.join(PATIENCE)
    assert [found[k] for k in range(2)] == wanted


def test_who_watches_may_ask():
    """The same robot, within the watcher of another question within the first one, and from another thread after it."""
    robot, found = kronbot.load("khang"), []

    def watch(share):
        robot.modes(q=[[0.1]], progress=lambda share: found.append(robot.jacobian([0.1])["J_T"]))

    robot.statics(q=[[0.1]], forces=[[0, -1, 0]], progress=watch)
    thread = threading.Thread(target=lambda: found.append(robot.jacobian([0.1])["J_T"]), daemon=True)
    thread.start()
    thread.join(PATIENCE)
    assert len(found) == 2
    np.testing.assert_array_equal(*found)


@cache
def asked_before():
    """One for all who watch: what they raise leaves nothing behind."""
    return kronbot.load("khang")


@pytest.mark.parametrize("kind", [MemoryError, np.linalg.LinAlgError, ComputationError, Interrupted, RuntimeError])
@pytest.mark.parametrize(
    "ask",
    [
        lambda robot, watch: robot.simulate(0.02, 0.01, progress=watch),
        lambda robot, watch: robot.statics(q=[[0.1], [0.2]], progress=watch),
        lambda robot, watch: robot.modes(q=[[0.1], [0.2]], progress=watch),
    ],
    ids=["simulate", "statics", "modes"],
)
def test_errors_of_who_watches_are_theirs(ask, kind):
    """None is taken for one of the computation."""
    mine = kind("mine")

    def watch(share):
        raise mine

    with pytest.raises(kind) as caught:
        ask(asked_before(), watch)
    assert caught.value is mine
    assert (mine.__cause__, mine.__context__, mine.args) == (None, None, ("mine",))


FORKED = """
import os, threading, kronbot
robot, began, go = kronbot.load("khang"), threading.Event(), threading.Event()
def watch(share):
    began.set()
    go.wait(60)
thread = threading.Thread(target=lambda: robot.simulate(0.02, 0.01, progress=watch))
thread.start()
began.wait(60)
child = os.fork()
if child == 0:
    robot.jacobian(q=[0.1])
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
go.set()
thread.join()
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_forked_while_another_thread_asks():
    """The same robot, in the child, which has not the thread whose turn it was."""
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", FORKED], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert process.communicate(timeout=PATIENCE)[0] == "7\n"
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


class TimedOut(RuntimeError):
    pass


@pytest.fixture
def limit():
    """A handler of SIGALRM that raises, as those who limit time have it; found in its place afterwards."""

    def handler(*_):
        raise TimedOut("mine")

    before = signal.signal(signal.SIGALRM, handler)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert signal.signal(signal.SIGALRM, before) is handler


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["cvodes", "dop853"])
def test_a_time_limit_within_a_run(limit, solver):
    """CasADi makes an error of its own of it, which the integrator takes for the end of the motion."""
    robot = kronbot.load("canadarm")
    with pytest.raises(TimedOut, match="^mine$"):
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        robot.simulate(2000.0, 1.0, solver=solver)
    assert kronbot.load("khang").jacobian([0.1]).arrays  # nothing is left of it


def test_a_program_that_handles_ctrl_c_does():
    """By a note of its own, or an error: neither is put aside by a question that keeps what there is."""
    robot, met = kronbot.load("khang"), []

    def stops(number, frame):
        raise TimedOut("mine")

    def asked():
        return robot.simulate(0.02, 0.01, progress=lambda share: share and not met and signal.raise_signal(2))

    before = signal.signal(signal.SIGINT, lambda *_: met.append(1))
    try:
        assert asked().summary["complete"] and met == [1]
        met.clear()
        signal.signal(signal.SIGINT, stops)
        with pytest.raises(TimedOut, match="^mine$"):
            asked()
        assert signal.getsignal(signal.SIGINT) is stops
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with pytest.raises(Interrupted):
            asked()
    finally:
        signal.signal(signal.SIGINT, before)


def test_what_a_handler_raises_comes_through(limit):
    """Whatever is made of it: another error, nothing, an end of one piece of the work."""
    with pytest.raises(TimedOut), OwnErrors(), OwnErrors(), contextlib.suppress(RuntimeError):
        signal.raise_signal(signal.SIGALRM)
    with pytest.raises(TimedOut), OwnErrors():
        try:
            signal.raise_signal(signal.SIGALRM)
        except RuntimeError:
            raise ComputationError("gave up") from None
    with pytest.raises(TimedOut), OwnErrors(), interruptions() as met:
        with met.heard(), contextlib.suppress(RuntimeError):
            signal.raise_signal(signal.SIGALRM)
        pytest.fail("it goes on")
    with OwnErrors():
        pass


def test_who_has_told_the_progress_is_at_work_as_before():
    """From where the question began, not from who was told: that has ended when the next one within it does."""
    me = threading.get_ident()

    def tell():
        with Aside():
            assert me not in forking._gate.depths

    with AtWork():
        before = forking._gate.depths[me]
        tell()
        with AtWork():
            pass
        assert forking._gate.depths[me] == before
    assert me not in forking._gate.depths


def test_a_ctrl_c_as_a_question_begins_or_ends_hides_no_later_one(monkeypatch):
    """Wherever Python looks for signals in that, as functions begin, loops turn and calls have returned: afterwards
    another one, which the work loses, is KeyboardInterrupt, and other threads go on."""
    looks, place, before_it = 0, 0, {}
    monkeypatch.setattr(MET, "raised", [])

    def at_place(frame, event, _):
        nonlocal looks
        if event == "call":
            frame.f_trace_lines, frame.f_trace_opcodes = False, True
            return at_place if frame.f_code.co_filename != __file__ else None
        if event == "opcode":
            name = dis.opname[frame.f_code.co_code[frame.f_lasti]]
            looked = name in ("RESUME", "JUMP_BACKWARD") or before_it.get(frame, "").startswith("CALL")
            before_it[frame] = name
            looks += looked
            if looked and looks == place:
                signal.raise_signal(signal.SIGINT)
        return at_place

    def work():
        with AtWork():
            pass

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        while place <= looks:
            looks, place = 0, place + 1
            before_it.clear()
            tracing = sys.gettrace()
            sys.settrace(at_place)
            try:
                work()
            except KeyboardInterrupt:
                pass
            finally:
                sys.settrace(tracing)
            with pytest.raises(KeyboardInterrupt), AtWork(), contextlib.suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
            work()
    finally:
        signal.signal(signal.SIGINT, before)
    assert place > 20
    other = threading.Thread(target=work, daemon=True)
    other.start()
    other.join(5)
    assert not other.is_alive()  # no lock is shut for ever


@pytest.mark.parametrize(
    ("place", "ask"),
    [
        ("kronbot.model.build.build", lambda robot: kronbot.load("khang", parameters={"EI": 7.25e5})),
        ("kronbot.model.build.anew_at_order", lambda robot: robot.at_order(1)),
        ("kronbot.model.build.with_values", lambda robot: robot.with_parameters(EI=2e5)),
        (
            "kronbot.model.build.build",
            lambda robot: robot.with_motion(TURNING),
        ),
        ("kronbot.compute.code.c_code.source", lambda robot: robot.export("jacobian").c()),
        ("kronbot.plots.page.pages.page", lambda robot: robot.kinematics().view()),
        ("kronbot.plots.notebook.of_robot", lambda robot: robot._repr_html_()),
        ("kronbot.model.build.build", lambda robot: pickle.loads(pickle.dumps(robot))),
        ("kronbot.questions.result.build", lambda robot: pickle.loads(pickle.dumps(robot.modes())).model),
    ],
)
def test_a_ctrl_c_that_is_swallowed_is_none_the_less(place, ask, monkeypatch):
    """CasADi's conversions of types clear what a handler raises within them, wherever robots are built or asked."""
    robot = kronbot.load("khang")
    ask(robot)  # whatever is imported for it
    owner, name = place.rsplit(".", 1)
    owner = pkgutil.resolve_name(owner)
    real, met = getattr(owner, name), []

    def swallowing(*given, **named):
        with contextlib.suppress(KeyboardInterrupt):
            met.append(name)
            signal.raise_signal(signal.SIGINT)
        return real(*given, **named)

    monkeypatch.setattr(owner, name, swallowing)
    with pytest.raises(KeyboardInterrupt):
        ask(robot)
    assert met


@pytest.mark.parametrize("ask", ["modes", rare("linearize"), rare("statics"), rare("dynamics")])
def test_an_interruption_leaves_no_number_in_another_ones_place(ask, monkeypatch):
    """Wherever it comes while symbols are made: asked again, also with other values, a robot is like a fresh one."""
    real, others = casadi.SX.sym, {"EI": 9.2e4}
    fresh = kronbot.load("canadarm", order="1")
    wanted = [getattr(each, ask)() for each in (fresh, fresh.with_parameters(**others))]
    left, met = [0], []

    def sym(*given):
        left[0] -= 1
        if left[0] == 0:
            met.append(given[0])
            raise KeyboardInterrupt
        return real(*given)

    monkeypatch.setattr(casadi.SX, "sym", staticmethod(sym))
    for first in (1, 2, 3, 5, 8, 13, 21, 34):
        robot = kronbot.load("canadarm", order="1")
        left[0] = first
        with contextlib.suppress(KeyboardInterrupt):
            getattr(robot, ask)()
        left[0] = 0
        for each, right in zip((robot, robot.with_parameters(**others)), wanted, strict=True):
            found = getattr(each, ask)()
            for name, array in right.arrays.items():
                np.testing.assert_array_equal(found.arrays[name].values, array.values)
    assert any(name.startswith("number") for name in met) or ask != "modes"


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory are others elsewhere")
@pytest.mark.parametrize("spare", [2, 4, 6, 8, 10, 12])
def test_want_of_memory_in_a_first_answer_is_an_error(spare):
    """Of the library: the first exception of C++ wants memory itself, without which the process had ended."""
    script = f"""
import resource, kronbot
robot = kronbot.load("torso")
with open("/proc/self/status") as file:
    (size,) = (int(line.split()[1]) << 10 for line in file if line.startswith("VmSize"))
resource.setrlimit(resource.RLIMIT_AS, (size + ({spare} << 20), -1))
try:
    robot.linearize()
except kronbot.errors.Starved as error:
    print("starved")
"""
    told = {"OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=os.environ | told, timeout=PATIENCE
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "starved\n", "")


def test_the_current_folder_may_go(tmp_path, monkeypatch):
    """Of a robot from a relative path, too: it knows where it was read."""
    (tmp_path / "gone").mkdir()
    (tmp_path / "khang.yaml").write_text(kronbot.load("khang").description.source.text)
    monkeypatch.chdir(tmp_path)
    robot = kronbot.load("khang.yaml")
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert pickle.loads(pickle.dumps(robot)) == copy.deepcopy(robot) == robot
    assert pickle.loads(pickle.dumps(robot.modes())).summary == robot.modes().summary
    with pytest.raises(KronbotError, match="is the current folder gone"):
        list(robot.sweep("modes", over={"EI": "1e5:2e5:3"}, workers=2))


def test_numbers_that_overflow_are_no_warnings():
    """They are an answer or an error, also where warnings are errors."""
    robot, lost = kronbot.load("puma560"), 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for size in (1e308, 1e154, 5e-324):
            for word in ("qd", "tau"):
                try:
                    assert np.isfinite(robot.linearize(**{word: [size] * 6})["A"]).all()
                except ComputationError:
                    lost += 1
    assert lost == 2  # squares of the rates that overflow


MISTAKES = (Mistake(3, 5, "wrong", "arm.yaml", "  a: 1"), Mistake(1, 1, "bad", "arm.yaml"))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
@pytest.mark.parametrize("kind", [KronbotError, ComputationError, Interrupted, UsageError, FreeParameters, ShapeError])
def test_errors_keep_their_words(copied, kind):
    """With the arguments that they name, and what they hold."""
    error = kind("take ", kronbot.errors.Argument("order", "exact"), " for it")
    error.partial = kronbot.load("khang").check()
    again = copied(error)
    assert type(again) is kind
    assert str(again) == str(error) == "take order exact for it"
    assert again.args == error.args
    assert again.partial.to_dict() == error.partial.to_dict()


@pytest.mark.parametrize("kind", [DescriptionError, MotionError])
def test_errors_keep_their_mistakes(kind):
    again = pickle.loads(pickle.dumps(kind(MISTAKES)))
    assert again.mistakes == kind(MISTAKES).mistakes
    assert [mistake.text for mistake in again.mistakes] == [None, "  a: 1"]
    assert str(again) == "arm.yaml:1:1: bad\narm.yaml:3:5: wrong"


def test_one_error_in_the_words_of_each_face(capsys):
    """An argument in the library, an option on the command line."""
    with pytest.raises(UsageError) as refused:
        kronbot.load("stacker").jacobian()
    assert "give parameters a3=..." in str(refused.value)
    assert run(["jacobian", "stacker"]) == 2
    assert "give --set a3=..." in capsys.readouterr().err
    with pytest.raises(UsageError, match="^how long\\? give duration, or"):
        kronbot.load("stacker").simulate()
    assert run(["simulate", "stacker"]) == 2
    assert "how long? give --duration, or" in capsys.readouterr().err
    assert run(["modes", "khang", "--array", "frequ"]) == 2
    assert "did you mean 'frequencies_locked'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("\0", "U+0000"),
        ("name: \ud800", "U+D800"),
        ("a" * (limits.TEXT_BYTES + 1), "longer than"),
        ("[" * 1000, "nested"),
        ("&a [*a]", "<text>:1:1"),
        ("<robot/>", "XML"),
        ("kronbot: 2", "<text>:1:10"),
    ],
)
def test_text_that_is_no_robot(text, words):
    """Each with its place in the text."""
    with pytest.raises(DescriptionError) as refused:
        kronbot.loads(text)
    assert words in str(refused.value)
    with pytest.raises(KronbotError):
        kronbot.load("khang").with_motion(text)


def test_paths(tmp_path):
    """Text, Path or bytes; a folder, nothing, and names that no file can have."""
    file = tmp_path / "k.yaml"
    file.write_text(Path(kronbot.description.shipped_robots()["khang"]).read_text())
    assert [kronbot.load(each).name for each in (file, str(file), bytes(file))] == ["khang"] * 3
    for wrong in (tmp_path, tmp_path / "none.yaml", "", "a\0b", "x" * 3000, "x" * 5000, "a/" * 1500, "\ud800"):
        for read in (kronbot.load, kronbot.convert):
            with pytest.raises(KronbotError) as refused:
                read(wrong)
            assert len(str(refused.value)) < 1000


@pytest.mark.parametrize("text", ["kronbot: 1\nname: a\n", "{kronbot: 1}", "# a comment\n" * 300, "<robot>\n</robot>"])
def test_text_where_a_file_is_wanted(text):
    """What takes text is named, and the text is not repeated."""
    with pytest.raises(UsageError, match=r"not the text of one: '.{,70}; kronbot.loads takes text"):
        kronbot.load(text)
    if "<" in text:
        with pytest.raises(UsageError, match="write it to a file"):
            kronbot.convert(text)
