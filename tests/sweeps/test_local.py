"""Processes: the same bytes from any number of them, whatever ends them, and the driver."""

import multiprocessing
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from multiprocessing.context import SpawnProcess
from pathlib import Path
from threading import Thread

import pytest
from lines import demand_same
from sweeps.cheap import Cheap, swept
from thinned import rare
from waiting import PATIENCE, demand_dead, soon

import kronbot
from kronbot.compute.native import policy
from kronbot.errors import ComputationError
from kronbot.sweeps.engines.local import Local
from kronbot.sweeps.journal import Journal
from kronbot.sweeps.place import Place
from kronbot.sweeps.work import Parcel
from kronbot.system import interruption
from kronbot.system.saving import Target

HERE = Path(__file__).parents[1]


def text(sweep):
    return b"".join(done.text for done in sweep.chunks())


@pytest.fixture(scope="module")
def expected():
    return swept(Cheap(), {"EI": "-1:9:3001"}).task.done(0, 3001).text


@pytest.mark.parametrize("workers", [rare(1), 2])
def test_any_number_of_processes(expected, workers):
    sweep = swept(Cheap(), {"EI": "-1:9:3001"}, workers)
    demand_same(text(sweep), expected)
    assert sweep.failed == 300


@pytest.mark.slow
def test_a_killed_process_costs_nothing(expected, tmp_path):
    """As if somebody had sent it SIGKILL in the middle."""
    demand_same(text(swept(Cheap(deadly=(5.0,), once=str(tmp_path / "once")), {"EI": "-1:9:3001"})), expected)


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="processes cannot be stopped here")
def test_what_hears_nothing_ends_with_the_driver():
    """Stopped, as in native code that lets no other thread run, where the process of the driver ends at once."""
    with Local(Parcel.of(swept(Cheap(), {"EI": [1]}).task), 1, 1) as engine:
        worker = engine._workers[0].process
        os.kill(worker.pid, signal.SIGSTOP)
        interruption.end_unfinished()
        demand_dead(worker.pid)
    assert not interruption.UNFINISHED


@pytest.mark.slow
def test_nobody_is_told_of_ends(expected, tmp_path):
    """SIGCHLD is ignored, as below cron: processes end and are killed all the same."""
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        demand_same(text(swept(Cheap(deadly=(5.0,), once=str(tmp_path / "once")), {"EI": "-1:9:3001"})), expected)
    finally:
        signal.signal(signal.SIGCHLD, before)


@pytest.mark.slow
def test_a_case_that_kills_is_a_row(expected, tmp_path):
    log = tmp_path / "log"
    rows = text(swept(Cheap(str(log), deadly=(5.0,)), {"EI": "-1:9:3001"})).splitlines()
    others = expected.splitlines()
    assert [i for i in range(3001) if rows[i] != others[i]] == [1800]
    assert rows[1800].startswith(b"[1801,5.0,null,") and b"three times" in rows[1800]
    assert sum(line.startswith("5.0 ") for line in log.read_text().splitlines()) >= 3


@pytest.mark.slow
def test_scripts_need_no_guard(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import kronbot\n"
        "print('once')\n"
        "for row in kronbot.load('khang').sweep('check', {'EI': [20, 30]}, workers=1): print(row['total_mass'])\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == "once" and len(done.stdout.splitlines()) == 3
    assert done.stderr == ""


DRIVER = """
import sys
sys.path.insert(0, sys.argv[1])
from sweeps.cheap import Cheap, swept
from waiting import PATIENCE
from kronbot.sweeps.place import Place
robot = Cheap(sys.argv[3], pause=float(sys.argv[4]))
sweep = swept(robot, {"EI": "-1:9:3001"}, place=Place.named(sys.argv[2], resume=True))
for done in sweep.chunks():
    pass
"""


def started(tmp_path, pause):
    command = [sys.executable, "-c", DRIVER, str(HERE), str(tmp_path / "out.csv"), str(tmp_path / "log"), str(pause)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def logged(tmp_path):
    with suppress(FileNotFoundError):
        return [(float(a), int(b)) for a, b in (line.split() for line in (tmp_path / "log").read_text().splitlines())]
    return []


def journalled(tmp_path):
    """Values of the cases that a journal holds."""
    sweep = swept(Cheap(), {"EI": "-1:9:3001"}, place=Place.named(str(tmp_path / "out.csv"), resume=True))
    journal = Journal.beside(Target.at(str(tmp_path / "out.csv"), False), sweep.task.key, 3001, True, False)
    journal.close()
    return {row[0] for start, stop in journal.spans for row in sweep.task.cases.rows(start, stop)}


def wanted(tmp_path):
    """What an undisturbed sweep writes."""
    file = tmp_path / "wanted.csv"
    text(swept(Cheap(), {"EI": "-1:9:3001"}, place=Place.named(str(file))))
    return file.read_text()


@pytest.mark.slow
def test_a_driver_that_is_killed_goes_on(tmp_path):
    """Its processes end with it; what was finished is not computed again."""
    chance = random.Random(2)
    for _ in range(2):
        before = journalled(tmp_path) if (tmp_path / "out.csv.part").exists() else set()
        known = len(logged(tmp_path))
        driver = started(tmp_path, 0.1)  # so that on a busy machine, too, it does not come to its end meanwhile
        soon(lambda many=known + 20: len(logged(tmp_path)) >= many)
        time.sleep(chance.random() * 0.3)
        driver.kill()
        driver.communicate()
        assert not (tmp_path / "out.csv").exists()
        new = logged(tmp_path)[known:]
        assert before.isdisjoint(value for value, _ in new)
        demand_dead(*{process for _, process in new})
    before, known = journalled(tmp_path), len(logged(tmp_path))
    driver = started(tmp_path, 0)
    assert driver.communicate()[1] == "" and driver.returncode == 0
    again = [value for value, _ in logged(tmp_path)[known:]]
    assert len(again) == len(set(again)) == 3001 - len(before)
    assert before.isdisjoint(again)
    demand_same((tmp_path / "out.csv").read_text(), wanted(tmp_path))
    assert not (tmp_path / "out.csv.part").exists()


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_computed(tmp_path):
    driver = started(tmp_path, 0.01)
    soon(lambda: len(logged(tmp_path)) >= 100)
    driver.send_signal(signal.SIGINT)
    told = driver.communicate(timeout=PATIENCE)[1]
    assert re.search(r"Interrupted: interrupted after \d+ of 3001 cases; resume goes on with what is computed", told)
    assert journalled(tmp_path)


@pytest.mark.slow
def test_a_process_that_ends_while_it_waits_costs_nothing():
    """As if somebody had sent SIGKILL to one that is ready and has no chunk."""
    with Local(Parcel.of(swept(Cheap(), {"EI": [1, 2, 3]}).task), 2, 3) as engine:
        engine.submit((0, 1))
        engine.submit((1, 2))
        found = []
        while len(found) < 2:
            found += engine.results()
        idle = engine._workers[1].process
        idle.kill()
        idle.join()
        engine.submit((2, 3))
        found += engine.results()
    assert sorted(done.start for done in found) == [0, 1, 2]


def test_a_process_leaves_at_once():
    """Told by signals, of which a Ctrl-C is the driver's affair, or by the driver's end; while it waits for a chunk."""
    script = """
import os, signal, time
from multiprocessing import Pipe
from kronbot.sweeps.engines.worker import work

class Silent:
    def __init__(self, meanwhile):
        self.meanwhile = meanwhile
    def recv(self):
        self.meanwhile()
        time.sleep(60)
        os._exit(1)

def code(*numbers):
    child = os.fork()
    if not child:
        held, lease = Pipe(False)
        work(Silent(lambda: [os.kill(os.getpid(), each) for each in numbers] or lease.close()), held)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

for number in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)
print(code(signal.SIGTERM), code(signal.SIGINT, signal.SIGHUP), code())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE)
    assert (done.stdout, done.stderr) == ("143 129 0\n", "")


def test_a_process_that_gets_no_thread_says_so():
    """And no traceback, which multiprocessing would print."""
    script = """
import threading
from multiprocessing import Pipe
from kronbot.sweeps.engines.worker import work

class Told:
    def send(self, error):
        print(error)

def start(thread):
    raise RuntimeError("can't start new thread")

threading.Thread.start = start
work(Told(), Pipe(False)[0])
"""
    done = subprocess.run([sys.executable, "-uc", script], capture_output=True, text=True, timeout=PATIENCE)
    told = "a process of the sweep cannot compute: can't start new thread (ulimit -u)\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, told, "")


def test_a_sweep_that_is_let_go_ends_its_processes():
    before = {*multiprocessing.active_children()}  # of sweeps that another test has not let go yet
    sweep = swept(Cheap(pause=0.001), {"EI": "0:9:3001"})
    for _ in sweep:
        break
    own = {*multiprocessing.active_children()} - before
    assert len(own) == 2
    del sweep
    assert not own & {*multiprocessing.active_children()}


def test_processes_of_a_pool_have_none_of_their_own(monkeypatch):
    """As multiprocessing has it; those of concurrent.futures may."""
    monkeypatch.setitem(multiprocessing.current_process()._config, "daemon", True)
    with pytest.raises(ComputationError, match="call it from the program itself, or from a concurrent.futures"):
        text(swept(Cheap(), {"EI": [1, 2]}, 1))


class Broken(Cheap):
    """Ends what unpickles it."""

    def __reduce__(self):
        return os._exit, (3,)


@pytest.mark.slow
def test_processes_that_do_not_start_are_not_started_for_ever():
    with pytest.raises(ComputationError, match="do not start: they end with code 3"):
        text(swept(Broken(), {"EI": [1, 2]}, 1))


DURING_A_START = """
import os, signal, sys, time
from multiprocessing import util
sys.path.insert(0, sys.argv[1])
from sweeps.cheap import Cheap, swept
from waiting import PATIENCE

class Large(Cheap):
    "No pipe holds it."
    def __getstate__(self):
        return self.__dict__ | {"ballast": "x" * 3_000_000}

start = util.spawnv_passfds
def stopped(*command):
    process = start(*command)
    if any("spawn_main" in str(word) for word in command[1]):
        os.kill(process, signal.SIGSTOP)  # it reads nothing before all is over
        if sys.argv[2] == "interrupted":
            signal.raise_signal(signal.SIGINT)
            os.kill(process, signal.SIGCONT)
        elif not os.fork():
            time.sleep(0.3)
            os.kill(os.getppid(), signal.SIGKILL)
            os.kill(process, signal.SIGCONT)
            os._exit(0)
    return process
util.spawnv_passfds = stopped
for done in swept(Large(), {"EI": [1, 2]}, 1).chunks():
    pass
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGCONT"), reason="signals of POSIX")
@pytest.mark.parametrize("how", ["interrupted", "killed"])
def test_a_driver_that_ends_while_a_process_starts(how):
    """The process has not got its task: it ends without a word."""
    command = [sys.executable, "-c", DURING_A_START, str(HERE), how]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    said = done.stderr.replace("Traceback (most recent call last)", "", 1) if how == "interrupted" else done.stderr
    assert "Traceback" not in said
    assert done.returncode != 0


HEARING = """
import os, signal, sys, time
from multiprocessing.context import SpawnProcess
sys.path.insert(0, sys.argv[1])
from sweeps.cheap import Cheap, swept
start, begun = SpawnProcess.start, []

def started(process):
    start(process)
    begun.append(process)
    for _ in range(30):
        time.sleep(0.01)
        os.kill(process.pid, signal.SIGINT)

SpawnProcess.start = started
rows = b"".join(done.text for done in swept(Cheap(), {"EI": [1, 2]}, 2).chunks()).splitlines()
print(len(rows), "rows by", len(begun))
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals of POSIX")
def test_no_process_hears_a_ctrl_c_while_it_starts():
    """The first neither, with which a process of multiprocessing's own begins: the driver alone tells of it."""
    command = [sys.executable, "-c", HEARING, str(HERE)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "2 rows by 2\n", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_forked_process_leaves_the_sweep_to_its_parent(tmp_path):
    """Which goes on with the processes that it has; the child is told, and ends none of them."""
    coming = swept(Cheap(), {"EI": "1:9:3001"}, 2).chunks()
    first = next(coming)
    if not (child := os.fork()):
        said = "nothing"
        try:
            list(coming)
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        coming.close()
        (tmp_path / "said").write_text(said)
        os._exit(0)
    os.waitpid(child, 0)
    assert (tmp_path / "said").read_text().startswith("ComputationError: a sweep goes on in the process")
    assert sum(done.stop - done.start for done in coming) == 3001 - (first.stop - first.start)


@pytest.mark.slow
def test_sweeps_of_several_threads_leave_the_program_as_it_is(monkeypatch):
    """What processes begin with is that of the whole program, and comes back as it was."""
    main, before, start = sys.modules["__main__"], dict(os.environ), SpawnProcess.start

    def slow(process):
        assert sys.modules["__main__"] is not main
        time.sleep(0.05)
        start(process)

    monkeypatch.setattr(SpawnProcess, "start", slow)
    found = []
    asked = [swept(Cheap(), {"EI": [1, 2, 3]}, 1) for _ in range(3)]
    threads = [Thread(target=lambda sweep=sweep: found.append(text(sweep))) for sweep in asked]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3 and len(set(found)) == 1
    assert sys.modules["__main__"] is main
    assert dict(os.environ) == before


@pytest.mark.slow
def test_nothing_is_imported_from_the_folder_one_is_in(tmp_path):
    """Python started with a command would look there first, also for its own modules: anybody may have laid one."""
    hostile, script = tmp_path / "hostile", tmp_path / "script.py"
    hostile.mkdir()
    for name in ("multiprocessing", "pickle", "signal", "numpy", "kronbot"):
        (hostile / f"{name}.py").write_text(f"print('{name} is taken from here', flush=True)\nraise SystemExit(7)\n")
    script.write_text("from kronbot.__main__ import main\nmain()\n")
    command = [sys.executable, script, "sweep", "check", "khang", "--over", "EI=20,30", "--workers", "1"]
    command += ["--format", "csv"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    environment["PYTHONPATH"] = str(Path(kronbot.__file__).parents[1])
    done = subprocess.run(command, capture_output=True, text=True, cwd=hostile, env=environment, check=False)
    assert "taken from here" not in done.stdout + done.stderr
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 3)


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
def test_native_code_is_compiled_once(tmp_path, monkeypatch):
    """By whichever process comes first; the others find it, and the bytes are those of interpreted cases."""
    compiler, log, cache = tmp_path / "cc", tmp_path / "log", tmp_path / "cache"
    compiler.write_text(f'#!/bin/sh\necho "$@" >> {log}\nexec cc "$@"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    monkeypatch.setenv("KRONBOT_CACHE", str(cache))

    def asked():
        return kronbot.load("khang").sweep("jacobian", {"EI": "20:40:200"}, keep="J_T[x,qa]", workers=2)

    with policy.native("off"):
        interpreted = asked().task.done(0, 200).text
    assert not log.exists()
    with policy.native("on"):
        assert text(asked()) == interpreted
        runs = len(log.read_text().splitlines())
        assert runs == len(list(cache.glob("*.so"))) > 0
        assert text(asked()) == interpreted and len(log.read_text().splitlines()) == runs


@pytest.mark.slow
def test_why_there_is_no_native_code_is_told_once(tmp_path, monkeypatch):
    monkeypatch.setenv("CC", str(tmp_path / "none"))
    monkeypatch.setenv("KRONBOT_CACHE", str(tmp_path / "cache"))
    told = []
    with policy.native("on", told.append):
        assert kronbot.load("khang").sweep("jacobian", {"EI": "20:40:50"}, keep="J_T[x,qa]", workers=2).failed == 0
    assert len(told) == 1 and "no C compiler" in told[0]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["SIGINT", "SIGHUP to all", "SIGKILL"])
def test_nothing_is_left_of_what_processes_compile(how, tmp_path):
    """By a signal: neither compilers nor what they work in."""
    compiler, cache = tmp_path / "cc", tmp_path / "cache"
    compiler.write_text(f"#!/bin/sh\necho $$ >> {tmp_path}/pid\nexec sleep 300\n")
    compiler.chmod(0o755)
    command = ["sweep", "jacobian", "khang", "--over", "EI=20:40:200", "--workers", "2", "--native", "on", "-q"]
    driver = subprocess.Popen(
        [sys.executable, "-m", "kronbot", *command],
        env=os.environ | {"CC": str(compiler), "KRONBOT_CACHE": str(cache)},
        start_new_session=True,
    )
    soon(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
    number, _, everybody = how.partition(" ")
    (os.killpg if everybody else os.kill)(driver.pid, getattr(signal, number))
    driver.wait(PATIENCE)
    demand_dead(*map(int, (tmp_path / "pid").read_text().split()))
    soon(lambda: not [name for name in os.listdir(cache) if name.startswith("build") or name.endswith(".lock")])


@pytest.mark.slow
@pytest.mark.parametrize("most", [220, 300])
def test_a_limit_of_memory_that_processes_meet_ends_the_sweep(most):
    """As it ends a single question: SciPy's BLAS ends a process, waits for ever, or cannot be loaded."""
    bytes_ = most * 1024**2
    done = subprocess.run(
        [sys.executable, "-m", "kronbot", "sweep", "design", "khang", "--lqr", "--over", "weights.qa=1,2"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (bytes_, bytes_)),
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "(ulimit -v)" in done.stderr.splitlines()[-1]
