"""Ctrl-C, SIGTERM and SIGHUP at any moment of any command: exit code 130, 143, 129, 152, one line, no traceback."""

import ast
import csv
import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, suppress
from importlib import import_module

import casadi
import pytest
from lines import demand_same
from thinned import rare, thinned
from waiting import PATIENCE

import kronbot
from kronbot.cli import main
from kronbot.description.wording import shown_path
from kronbot.errors import ComputationError, Interrupted
from kronbot.questions import design_along, keeping
from kronbot.system import interruption, limits
from kronbot.system.interruption import SIGNALS, interruptions
from kronbot.system.platform import host

# Where kronbot is, for a Python that does not look for packages.
HERE = f"import sys; sys.path.append({os.path.dirname(os.path.dirname(kronbot.__file__))!r})\n"
# Says on stdout when the command line begins to import what it needs; before that Python itself answers a Ctrl-C.
READY = """
import os, sys

class Witness:
    seen = 0

    def find_spec(self, name, path=None, target=None):
        Witness.seen += name.startswith("kronbot.cli") or Witness.seen > 0
        if Witness.seen == 1:
            os.write(sys.stdout.fileno(), b".")
        if Witness.seen == {number}:
            os.kill(os.getpid(), 2)

sys.meta_path.insert(0, Witness())
from kronbot.__main__ import main
{more}
main()
"""
# However busy the machine is.
PATIENT = "from kronbot.system import interruption; interruption.PATIENCE = interruption.UNATTENDED = 60"
# A command that never hears: every exception is swallowed. It leaves a file behind if nobody tidies.
DEAF = """
import os, sys, time
import kronbot.cli.main
from kronbot.__main__ import main
from kronbot.system import interruption
from kronbot.system.interruption import UNFINISHED, interruptions

interruption.PATIENCE = {patience}

def deaf(arguments):
    UNFINISHED[arguments[0]] = lambda: os.unlink(arguments[0]) or ''
    open(arguments[0], "w").close()
    with interruptions() as met:
        ready = False
        while {condition}:
            try:
                # Ready within the try: a Ctrl-C that comes before it would be heard.
                ready = ready or os.write(sys.stdout.fileno(), b".")
                time.sleep(10)
            except KeyboardInterrupt:
                {answer}
    return 130

kronbot.cli.main.run = deaf
main()
"""
# Says on stdout that the first second is integrated; what follows takes as long as it takes.
RUNNING = """
import os, sys
from kronbot.mechanics.motion.integration import Integrator

def told(self, times, x, run=Integrator.run):
    ready = False
    for block in run(self, times, x):
        yield block
        ready = ready or (block.t > 1 and os.write(sys.stdout.fileno(), b"."))

Integrator.run = told
from kronbot.__main__ import main
from kronbot.system import interruption
interruption.PATIENCE = interruption.UNATTENDED = 60  # however busy the machine is
main()
"""
ROD = """
kronbot: 1
name: rod
gravity: [0, -9.81, 0]
links: [{name: rod, joint: {type: revolute, name: q1}, pose: {}, rigid: {mass: 2, com: [0.5, 0, 0]}}]
motion: {q1: {type: cycloidal, from: -0.2, to: 1.3, duration: 1.5}}
"""
# Says on stdout that the second block of a hundred rows is there, and waits.
BLOCKS = """
import os, sys, time
from kronbot.cli.input import points
from kronbot.library import answering

points.FEWEST = points.MOST = 100
blocks = []

def told(*given, known=answering.told_of_rows, **named):
    blocks.append(1)
    if len(blocks) == 3:
        os.write(sys.stdout.fileno(), b".")
        time.sleep(600)
    return known(*given, **named)

answering.told_of_rows = told
from kronbot.__main__ import main
main()
"""
LONG = {
    "simulate": ["canadarm", "--duration", "2000", "--solver", "radau"],
    "hessian": ["torso", "--symbolic", "--cse", "--seconds", "600"],
    "statics": ["spatial", "--order", "exact", "--angles", "q1=0:1:0.0001"],
    "taylor": ["spatial", "--of", "M", "--terms", "3"],
}


def starting(script, *arguments, answer=signal.SIG_DFL, **streams):
    """A process that will say on stdout when it is ready for a signal."""
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams},
        # A job in the background of a script has been told to ignore it.
        preexec_fn=lambda: [signal.signal(number, answer) for number in SIGNALS],
        start_new_session=True,
    )


def started(script, *arguments, **more):
    """One that has said so."""
    process = starting(script, *arguments, **more)
    assert process.stdout.read(1) == b"."
    return process


def demand_interrupted(process, words="interrupted", code=130):
    """It ends, with its code and one line on stderr."""
    try:
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == code, err
    (line,) = err.decode().splitlines()
    assert line.startswith("Error: ")
    assert words in line
    return out


def test_what_answers_a_ctrl_c_is_there_before_any_other_module():
    """But ``os``, with which Python begins."""
    shown = (
        "import os, sys; before = set(sys.modules); import kronbot.__main__; print(sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-S", "-c", shown], capture_output=True, text=True, check=True)
    assert set(ast.literal_eval(done.stdout)) <= {"__future__", "gc", "kronbot", "kronbot.__main__", "kronbot.version"}


FIRST = """
import os, runpy, sys

class Witness:
    def find_spec(self, name, path=None, target=None):
        if name == "gc":
            os.kill(os.getpid(), 2)

sys.meta_path.insert(0, Witness())
"""


@pytest.mark.parametrize(
    "script",
    [
        'sys.argv = ["-m"]; runpy.run_module("kronbot", run_name="__main__")',
        'sys.argv = ["/usr/bin/kronbot"]; from kronbot.__main__ import main',
        'os.close(2); sys.argv = ["/usr/bin/kronbot"]; from kronbot.__main__ import main',
    ],
    ids=["module", "script", "closed"],
)
def test_a_ctrl_c_is_answered_from_the_first_statements_on(script):
    """Before the entry point is called: by the module, and by the script, which does other things before."""
    done = subprocess.run(
        [sys.executable, "-S", "-c", HERE + FIRST + script], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (130, "" if "close" in script else "Error: interrupted\n")


SHORT = {"simulate": ["khang", "--solver", "radau"], "hessian": ["khang", "--symbolic"]}


@pytest.mark.parametrize(
    ("command", "number"),
    [
        ("simulate", 260),
        *(rare("simulate", number) for number in (5, 180)),
        *(rare("hessian", number) for number in (30, 450)),
    ],
)
def test_while_importing(command, number):
    """Some modules make an ImportError of it, or go on without what they were importing."""
    out = demand_interrupted(started(READY.format(number=number, more=""), command, *SHORT[command]))
    # The integrator is imported when the simulation has begun, which shows what it has.
    assert out == b"" or (command == "simulate" and re.search(rb"complete +no\n", out))


@pytest.mark.parametrize(
    ("command", "moment"),
    [
        ("hessian", 0.3),
        rare("statics", 1.5),
        rare("simulate", 0.3),
        *(rare("taylor", moment) for moment in (0.0, 0.3)),
    ],
)
def test_while_it_works(command, moment):
    """Seconds after the start: importing, tracing, differentiating, integrating, simplifying."""
    process = started(READY.format(number=-1, more=""), command, *LONG[command])
    time.sleep(moment)
    os.kill(process.pid, signal.SIGINT)
    demand_interrupted(process)


MOMENTS = {"simulate": 0.3, "hessian": 1.0, "statics": 0.0}


@pytest.mark.parametrize(
    ("number", "command"),
    [
        (signal.SIGTERM, "simulate"),
        rare(signal.SIGHUP, "hessian"),
        rare(signal.SIGXCPU, "simulate"),
    ],
)
def test_other_signals_while_it_works(number, command):
    """Those by which timeout, containers, batch systems, closing terminals and limits of time ask for an end."""
    moment, process = MOMENTS[command], started(READY.format(number=-1, more=""), command, *LONG[command])
    time.sleep(moment)
    os.kill(process.pid, number)
    demand_interrupted(process, code=128 + number)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("solver", "moment", "signals"),
    [
        ("cvodes", 0.0, [signal.SIGINT]),
        # timeout sends its signal to the process and at once to its group; shells and kernels do the like.
        ("radau", 0.1, [signal.SIGTERM] * 2),
        ("cvodes", 0.1, [signal.SIGHUP, signal.SIGTERM, signal.SIGHUP]),
    ],
)
def test_what_there_is_is_kept(solver, moment, signals, tmp_path):
    """The rows so far as valid JSON, marked incomplete."""
    file, rod = tmp_path / "run.json", tmp_path / "rod.yaml"
    rod.write_text(ROD[: ROD.index("motion")])
    command = ["simulate", str(rod), "-q", "--duration", "200000", "--step", "0.2", "--solver"]
    process = started(RUNNING, *command, solver, "-o", str(file))
    time.sleep(moment)
    for number in signals:
        os.kill(process.pid, number)
        time.sleep(0.01)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + signals[0], err
    assert re.fullmatch(rb"Error: interrupted at t = .* of 200000 s\n", err)
    answer = json.loads(file.read_text())
    assert answer["summary"]["complete"] is False
    assert 0.0 < answer["series"]["t"][-1] < 200000
    assert sorted(each.name for each in tmp_path.iterdir()) == ["rod.yaml", "run.json"]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, rare(signal.SIGINT)])
def test_rows_so_far_are_kept(number, tmp_path):
    """Of an answer that is written block by block, whole rows."""
    (tmp_path / "rows.csv").write_text("qa\n" + "".join(f"{i}e-5\n" for i in range(1000)))
    command = ["hessian", "khang", "--array", "H_T", "--q", f"@{tmp_path / 'rows.csv'}", "-o", str(tmp_path / "a.csv")]
    process = started(BLOCKS, *command)
    os.kill(process.pid, number)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + number, err
    assert err.decode() == f"wrote {shown_path(str(tmp_path / 'a.csv'))}, incomplete\nError: interrupted\n"
    assert (text := (tmp_path / "a.csv").read_text()).endswith("\n")
    head, *rows = csv.reader(text.splitlines())
    assert {len(row) for row in rows} == {len(head)}
    assert 0 < len(rows) < 1000
    assert not list(tmp_path.glob(".kronbot-*"))


@pytest.mark.slow
def test_what_is_being_written_gets_whole(tmp_path):
    """A signal that comes when all is computed waits for the file, a second one ends it."""
    script = """
import os, sys, time
from kronbot.cli.output import render
from kronbot.cli.main import run
from kronbot.system import interruption

interruption.PATIENCE = interruption.UNATTENDED = 2

def slow(result, known=render.WRITERS[".json"]):
    os.write(sys.stdout.fileno(), b".")
    while not interruption.MET:
        time.sleep(0.01)
    os.write(sys.stdout.fileno(), b"1")
    sys.stdin.read(1)
    return known(result)

render.WRITERS[".json"] = slow
from kronbot.__main__ import main
main()
"""
    processes, numbers = {}, (signal.SIGINT, signal.SIGTERM)
    for number, name in itertools.product(numbers, ("whole", "none")):
        command = ["simulate", "khang", "--duration", "0.1", "-q", "-o", str(tmp_path / f"{name}-{number}.json")]
        processes[number, name] = starting(script, *command, stdin=subprocess.PIPE)
    for (number, _), process in processes.items():
        assert process.stdout.read(1) == b"."
        os.kill(process.pid, number)
        assert process.stdout.read(1) == b"1"
    time.sleep(1.1)  # longer than two are one
    for (number, name), process in processes.items():
        if name == "none":
            os.kill(process.pid, number)
            demand_interrupted(process, code=128 + number)
    time.sleep(1.1)  # longer than there is patience
    for (number, name), process in processes.items():
        if name == "whole":
            process.stdin.write(b"\n")
            process.stdin.flush()
            demand_interrupted(process, code=128 + number)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(f"whole-{number}.json" for number in numbers)
    for path in tmp_path.iterdir():
        assert json.loads(path.read_text())["summary"]["complete"]


def demand_sound(processes):
    """Each ends by the signal that it is sent at its moment, or before it."""
    begun = time.monotonic()
    for moment, number, times, process in sorted(processes, key=lambda each: each[0]):
        time.sleep(max(0.0, begun + moment - time.monotonic()))
        for _ in range(times):
            process.send_signal(number)
    for _, number, _, process in processes:
        _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode in (128 + number, -number, 0), err
        assert b"Traceback" not in err


@pytest.mark.slow
def test_signals_at_random_moments(tmp_path):
    """No temporary file, no traceback, and what is there is whole or marked."""
    chance, processes = random.Random(8), []
    for i in range(4):
        command = ["simulate", "khang", "--duration", "20", "--step", "1e-3", "-o", str(tmp_path / f"{i}.json")]
        process = subprocess.Popen(
            [sys.executable, "-m", "kronbot", *command],
            stderr=subprocess.PIPE,
            preexec_fn=lambda: [signal.signal(number, signal.SIG_DFL) for number in SIGNALS],
        )
        # Before there is Python a Ctrl-C is answered by Python itself.
        processes.append((chance.random() * 3, chance.choice(SIGNALS[1:]), chance.choice((1, 2)), process))
    demand_sound(processes)
    for file in tmp_path.glob("*.json"):
        answer = json.loads(file.read_text())
        # All rows are there, too, where more samples behind the motion were still taken.
        assert not answer["summary"]["complete"] or answer["series"]["t"][-1] == 20
    assert not list(tmp_path.glob(".*"))


@pytest.mark.slow
def test_what_is_ignored_stays_ignored():
    """nohup, and jobs in the background of scripts."""
    process = started(
        READY.format(number=-1, more=""), "simulate", "khang", "--format", "json", "--quiet", answer=signal.SIG_IGN
    )
    for pause in (0.0, 0.3, 0.3):
        time.sleep(pause)
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
            os.kill(process.pid, number)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (0, b"")
    assert json.loads(out)["summary"]["complete"]


def test_signals_of_a_program_that_uses_the_library():
    """Belong to it, all but Ctrl-C."""
    before = [signal.getsignal(number) for number in SIGNALS]
    with interruptions():
        assert [signal.getsignal(number) == old for number, old in zip(SIGNALS, before, strict=True)] == [
            number != signal.SIGINT for number in SIGNALS
        ]
    assert [signal.getsignal(number) for number in SIGNALS] == before


@pytest.mark.slow
def test_while_it_reads():
    """A robot file that does not come to its end."""
    process = started(READY.format(number=-1, more=""), "check", "-", stdin=subprocess.PIPE)
    process.stdin.write(b"kronbot: 1\n")
    process.stdin.flush()
    time.sleep(0.5)
    os.kill(process.pid, signal.SIGINT)
    assert demand_interrupted(process) == b""


@pytest.mark.slow
def test_while_it_writes():
    """A pipe that nobody empties: neither the command nor the end of the interpreter waits for it."""
    command = ["simulate", "khang", "--duration", "1", "--step", "4e-4", "--format", "csv"]
    process = started(READY.format(number=-1, more=""), *command)
    assert process.stdout.read(2) == b"t,"
    os.kill(process.pid, signal.SIGINT)
    process.wait(timeout=PATIENCE)
    demand_interrupted(process)


@pytest.mark.slow
def test_who_reads_gets_all():
    """Of an answer that was there when the signal came."""
    command = ["simulate", "khang", "--duration", "1", "--step", "4e-4", "--format", "csv", "-q"]
    process = started(READY.format(number=-1, more=PATIENT), *command)
    assert process.stdout.read(2) == b"t,"
    os.kill(process.pid, signal.SIGINT)
    assert demand_interrupted(process).splitlines()[-1].startswith(b"1.0,")


@pytest.mark.slow
def test_when_nothing_else_helps(tmp_path):
    """What swallows every exception is ended, and its temporary files with it."""
    process = started(DEAF.format(condition="True", answer="pass", patience=0.8), str(tmp_path / "half"))
    os.kill(process.pid, signal.SIGINT)
    demand_interrupted(process)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_rows_are_kept_when_nothing_else_helps(tmp_path):
    """Those that are written, by the thread that ends the process."""
    script = """
import os, sys, time
import kronbot.cli.main
from kronbot.__main__ import main
from kronbot.cli.output.files import save

def pieces():
    yield b"a\\nb\\n"
    while True:
        try:
            os.write(sys.stdout.fileno(), b".")
            time.sleep(10)
        except KeyboardInterrupt:
            pass

kronbot.cli.main.run = lambda arguments: save(arguments[0], pieces())
main()
"""
    process = started(script, str(tmp_path / "rows.csv"))
    os.kill(process.pid, signal.SIGINT)
    demand_interrupted(process)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("rows.csv", "a\nb\n")]


@pytest.mark.slow
def test_in_a_destructor(tmp_path):
    """Python swallows the exception, and would print a traceback."""
    dying = 'type("Dying", (), {"__del__": lambda self: os.kill(os.getpid(), 2)})() and False'
    demand_interrupted(
        started(DEAF.format(condition=f"not met and {dying} or True", answer="pass", patience=0.8), str(tmp_path / "x"))
    )


def test_patience():
    """Ends within a second, the rest of which is for the end itself."""
    assert 0.5 <= interruption.PATIENCE <= 0.9


@pytest.mark.slow
def test_what_is_being_saved_is_waited_for(tmp_path):
    """Work that has asked for time gets it, until the next Ctrl-C."""
    saving = "met.take_time(); time.sleep(2.2); os.write(2, b'Error: saved\\n')"
    patient = started(DEAF.format(condition="not met", answer=saving, patience=2), str(tmp_path / "whole"))
    os.kill(patient.pid, signal.SIGINT)
    answer = "len(met) > 1 or met.take_time() or os.write(sys.stdout.fileno(), b'1')"
    process = started(DEAF.format(condition="True", answer=answer, patience=2), str(tmp_path / "half"))
    os.kill(process.pid, signal.SIGINT)
    assert process.stdout.read(1) == b"1"
    time.sleep(0.2)  # longer than two are one
    os.kill(process.pid, signal.SIGINT)
    demand_interrupted(process)
    demand_interrupted(patient, "saved")
    assert list(tmp_path.iterdir()) == [tmp_path / "whole"]


def interrupt(error):
    """Receive a Ctrl-C, and make an error of its exception, as libraries do."""
    with interruptions():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            if error is not None:
                raise error from None


@pytest.mark.parametrize(
    "error", [RuntimeError(), ImportError(), ComputationError("x"), OSError(), SystemError(), None]
)
def test_whatever_becomes_of_the_exception(error, monkeypatch, capsys):
    """A nameless error, an error of kronbot's own, or nothing at all: it was a Ctrl-C."""
    monkeypatch.setattr(main.kronbot, "invoke", lambda context: interrupt(error))
    assert main.run(["check", "khang"]) == 130
    assert capsys.readouterr().err == "Error: interrupted\n"


def test_casadi_makes_a_nameless_error_of_it():
    """The reason why what was met is remembered."""
    x = casadi.SX.sym("x")

    class Interrupting(casadi.Callback):
        def __init__(self):
            casadi.Callback.__init__(self)
            self.construct("interrupting", {})

        def eval(self, arguments):
            signal.raise_signal(signal.SIGINT)
            return arguments

    callback = Interrupting()
    with interruptions() as met, pytest.raises(RuntimeError):
        callback(casadi.Function("f", [x], [x])(1.0))
    assert met


def test_an_inner_piece_of_work_tells_the_outer_one():
    """And the handler of whoever uses the library comes back."""
    before = signal.getsignal(signal.SIGINT)
    with interruptions() as outer:
        with pytest.raises(KeyboardInterrupt), interruptions() as inner:
            signal.raise_signal(signal.SIGINT)
        assert outer is inner
        assert len(outer) == 1
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) == before
    with interruptions() as fresh:
        assert not fresh


def met_in(monkeypatch, place, number, call=1):
    """Let a signal come while a function is called for the n-th time."""
    module, name = place.rsplit(".", 1)
    within = import_module(module)
    known, calls = getattr(within, name), []

    def interrupted(*given, **named):
        calls.append(given)
        if len(calls) == call:
            signal.raise_signal(number)
        return known(*given, **named)

    monkeypatch.setattr(within, name, interrupted)


@pytest.mark.parametrize(
    ("command", "place", "number"),
    [
        ("statics khang --q @rows.csv", "kronbot.questions.static_report._series", signal.SIGINT),
        rare("simulate khang --duration 0.02 --step 0.01", "kronbot.questions.simulate.highlights", signal.SIGTERM),
        ("modes khang --q @rows.csv", "kronbot.questions.at_rows.stacked", signal.SIGINT),
        rare("linearize khang --q @rows.csv", "kronbot.questions.at_rows._together", signal.SIGHUP),
        ("jacobian khang --q @rows.csv", "kronbot.cli.output.render.joined", signal.SIGINT),
        rare("jacobian khang --q @rows.csv", "kronbot.cli.output.render.joined", signal.SIGTERM),
    ],
)
def test_all_is_kept_while_it_is_put_together(command, place, number, tmp_path, monkeypatch, capsys):
    """After the last solution no signal loses the answer, which is told and ends with the code of the signal."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("qa\n0.1\n0.2\n")
    asked = [*command.split(), "--format", "json", "-q"]
    assert main.run(asked) == 0
    whole = capsys.readouterr().out
    met_in(monkeypatch, place, number)
    assert main.run(asked) == 128 + number
    told = capsys.readouterr()
    assert told.err == "Error: interrupted; the answer is complete\n"
    demand_same(told.out, whole)


@pytest.mark.parametrize(
    "place", [rare("questions.static_report.Outcome"), "cli.output.render._text", rare("cli.output.render.only")]
)
def test_all_is_told_once_it_is_there(place, monkeypatch, capsys):
    """Between the end of an answer and its last byte, too."""
    asked = ["statics", "khang", "--forces", "0,0,0;0,-1,0", "--solver", "linear", "--format", "json", "-q"]
    assert main.run(asked) == 0
    whole = capsys.readouterr().out
    met_in(monkeypatch, f"kronbot.{place}", signal.SIGINT)
    assert main.run(asked) == 130
    told = capsys.readouterr()
    demand_same(told.out, whole)
    assert told.err.startswith("Error: interrupted")


def test_before_the_first_number_that_is_said(monkeypatch, capsys, tmp_path):
    """Where the work ends by itself, and where a thread ends the process."""
    words = "interrupted while the equations were prepared, before the first number of the answer"
    met_in(monkeypatch, "kronbot.questions.simulate.integrator", signal.SIGINT)
    assert main.run(["simulate", "khang", "--duration", "0.02", "-o", str(tmp_path / "a.csv")]) == 130
    assert capsys.readouterr().err.splitlines()[-1] == f"Error: {words}"
    assert list(tmp_path.iterdir()) == []
    told = []
    monkeypatch.setattr(interruption, "end", lambda words, code: told.append((words, code)))

    def pieces():
        interruption.leave(signal.SIGINT)
        yield 1
        interruption.leave(signal.SIGTERM)

    with interruption.interruptions() as met, met.at_work(lambda: words):
        keeping.gathered(met, pieces(), lambda found: f"interrupted after {len(found)} of 2")
        interruption.leave(signal.SIGHUP)
    slow = "in a step that did not end in time"
    assert told == [(words, 130), (f"interrupted after 1 of 2, {slow}", 143), (words, 129)]


def test_what_an_inner_run_has_kept_is_not_the_answer():
    """Work after it hears at once, though the answer will be told where it is."""
    with pytest.raises(KeyboardInterrupt), interruptions() as met, met.telling(), met.heard():
        with met.saving():
            pass
        signal.raise_signal(signal.SIGINT)
        pytest.fail("went on")


@pytest.mark.slow
@pytest.mark.parametrize("number", SIGNALS[:2])
def test_gains_along_a_motion_end_where_a_signal_comes(number, tmp_path, monkeypatch, capsys):
    """Before there are gains nothing goes on, after them they are told, also where their simulation is prepared."""
    (tmp_path / "rod.yaml").write_text(ROD)
    asked, gone_on = ["design", str(tmp_path / "rod.yaml"), "--lqr", "--motion", "--format", "json", "-q"], []
    with monkeypatch.context() as early:
        early.setattr("kronbot.questions.design_along._at_rest", lambda *given: gone_on.append(given))
        met_in(early, "kronbot.questions.design_along._plant", number)
        assert main.run(asked) == 128 + number
    assert capsys.readouterr() == ("", "Error: interrupted before there were gains\n")
    assert gone_on == []
    simulated = design_along._simulated

    def prepared(*given):  # however many integrators the motion itself has taken
        met_in(monkeypatch, "kronbot.questions.simulate.integrator", number)
        return simulated(*given)

    monkeypatch.setattr(design_along, "_simulated", prepared)
    assert main.run(asked) == 128 + number
    told = capsys.readouterr()
    assert told.err == "Error: interrupted, in the simulation of the cost; the gains are there\n"
    answer = json.loads(told.out)
    assert answer["summary"]["complete"] is False and "gains" in answer["arrays"]


@pytest.mark.parametrize("question", ["jacobian", "hessian", "dynamics"])
def test_blocks_of_rows_are_kept(question, tmp_path, monkeypatch, capsys):
    """Those before the one at which a signal comes, in every form, as of statics."""
    monkeypatch.chdir(tmp_path)
    for name in ("FEWEST", "MOST"):
        monkeypatch.setattr(f"kronbot.cli.input.points.{name}", 2)
    (tmp_path / "four.csv").write_text("qa\n" + "0.1\n0.2\n0.3\n0.4\n")
    (tmp_path / "rows.csv").write_text("qa\n" + "".join(f"{i / 10}\n" for i in range(1, 8)))
    assert main.run([question, "khang", "--q", "@four.csv", "-o", "four.json", "-q"]) == 0
    met_in(monkeypatch, "kronbot.library.answering.told_of_rows", signal.SIGTERM, call=3)
    assert main.run([question, "khang", "--q", "@rows.csv", "-o", "rows.json", "-q"]) == 143
    assert capsys.readouterr().err == "Error: interrupted after 4 cases\n"
    four, kept = (json.loads((tmp_path / name).read_text()) for name in ("four.json", "rows.json"))
    assert kept.pop("summary") == {"complete": False, **four.pop("summary")}
    assert kept == four


def test_orders_before_a_signal_are_kept(monkeypatch, capsys):
    asked = ["statics", "khang", "--q", "0.1", "--forces", "0,0,0;0,-1,0", "--order"]
    assert main.run([*asked, "0", "--format", "json"]) == 0
    rigid = json.loads(capsys.readouterr().out)["series"]
    met_in(monkeypatch, "kronbot.questions.statics._ends", signal.SIGINT, call=4)
    assert main.run([*asked, "all", "--format", "json"]) == 130
    told = capsys.readouterr()
    assert told.err == "Error: order 1: interrupted after 1 of 2 cases\n"
    answer = json.loads(told.out)
    assert answer["summary"]["complete"] is False
    assert answer["series"]["order"] == ["0", "0", "1"]
    assert answer["series"]["torque.qa"][:2] == rigid["torque.qa"]
    assert "arrays" not in answer  # no two orders to compare


LIBRARY = {
    "dynamics": lambda r: r.dynamics(q=[0.1, 0]).to_dict(),
    "linearize": lambda r: r.linearize(q=[0.1, 0]).to_dict(),
    "statics": lambda r: r.statics(q=[[0.1], [0.2]]).to_dict(),
    "modes": lambda r: r.modes(q=[[0.1], [0.2]]).to_dict(),
    "rows": lambda r: r.jacobian(q=[[0.1], [0.2]]).to_dict(),
    "simulate": lambda r: r.simulate(0.02, 0.01).to_dict(),
    "export": lambda r: r.export("inverse_dynamics").c(),
    "symbolic": lambda r: r.symbolic(short=True).jacobian().to_dict(),
}


@pytest.mark.parametrize("question", thinned(list(LIBRARY), ["linearize"]))
def test_in_the_library(question):
    """A Ctrl-C is KeyboardInterrupt, or Interrupted with what there is, and the robot answers as one that met none."""
    ask, chance = LIBRARY[question], random.Random(question)
    whole = ask(kronbot.load("khang"))
    begun = time.perf_counter()
    assert ask(kronbot.load("khang")) == whole
    took = time.perf_counter() - begun
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        robot = kronbot.load("khang")
        for _ in range(3):
            timer = threading.Timer(took * chance.random(), os.kill, (os.getpid(), signal.SIGINT))
            with suppress(KeyboardInterrupt, Interrupted):
                timer.start()
                ask(robot)
                timer.join()
                time.sleep(0.02)
            assert not timer.is_alive() or timer.join() is None
        assert ask(robot) == whole
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("name", limits.ROOM)
def test_nothing_is_loaded_that_would_not_get_its_memory(name, monkeypatch):
    """Looked at before it is, once; other modules are none of its business."""
    room, left = limits._Room(), [limits.ROOM[name] - 1]
    monkeypatch.setattr(limits.host, "memory_left", lambda: left[0])
    room.find_spec(f"{name}.linalg", None)
    with pytest.raises(ImportError) as raised:
        room.find_spec(name, None)
    assert limits.met(raised.value) == "cannot load a library: this takes more memory than there is"
    for left[0] in (limits.ROOM[name], 0):
        room.find_spec(name, None)


@pytest.mark.skipif(os.name != "posix", reason="descriptors are POSIX's")
def test_any_number_of_descriptors():
    """select() knows those below 1024 alone."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, before[1]), before[1]))
    try:
        with ExitStack() as opened:
            for _ in range(1030):
                opened.callback(os.close, os.open(os.devnull, os.O_RDONLY))
            channel = host.Channel()
            channel.tell(7)
            assert (channel.read(None), channel.read(0.0)) == (7, None)
            closed = os.dup(0)
            os.close(closed)
            with pytest.raises(OSError, match="Bad file descriptor"):
                host.takes_text(closed)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
