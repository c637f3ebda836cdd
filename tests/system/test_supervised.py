"""Programs beside this one: ended with it, bounded in what they say, whatever becomes of SIGCHLD."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from waiting import PATIENCE, demand_dead, soon

from kronbot.system.interruption import UNFINISHED
from kronbot.system.supervised import SAID, Supervised

HANGS = "sleep 300 & echo $! > pids.part; echo $$ >> pids.part; mv pids.part pids; wait"


@pytest.fixture
def started(tmp_path):
    """Starts shell scripts in a folder of the test's own; ends them."""
    running = []

    def start(text):
        running.append(Supervised(["/bin/sh", "-c", text], tmp_path))
        return running[-1]

    yield start
    for each in running:
        each.end()


def pids(place):
    soon((place / "pids").exists)
    return [int(line) for line in (place / "pids").read_text().split()]


def test_a_full_disk_is_named(started, monkeypatch):
    """Of which nothing else can be told: messages are on it, too."""
    monkeypatch.setattr(os, "statvfs", lambda path: SimpleNamespace(f_bavail=0))
    assert started("exit 3").wait(PATIENCE)[1] == "ended with 3: no space is left where it writes"
    assert started("echo why; exit 3").wait(PATIENCE)[1] == "ended with 3: why"


def test_success_and_failure(started):
    assert started("echo fine >&2; echo well").wait(PATIENCE) == (True, "ended with 0: fine\nwell")
    assert started("exit 3").wait(PATIENCE) == (False, "ended with 3: no message")
    assert started("kill -KILL $$").wait(PATIENCE)[0] is False


@pytest.mark.slow
def test_what_is_left_behind_is_not_waited_for(started, tmp_path):
    """It holds the output, in a session of its own, where it is not ended."""
    left = started("setsid sh -c 'echo $$ >pid.part; mv pid.part pid; exec sleep 600' & echo said; exit 0")
    try:
        assert left.wait(PATIENCE)[0] is True
    finally:
        soon((tmp_path / "pid").exists)
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


def test_sigchld_ignored(started):
    """Nobody is told how a child has ended; the file tells."""
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert started("exit 3").wait(PATIENCE)[1] == "ended with 3: no message"
        assert started("true").wait(PATIENCE)[0] is True
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_many_messages(started, tmp_path):
    """The first are kept, the others let go; the program goes on."""
    done, said = started("head -c 50000000 /dev/zero | tr '\\0' x; touch end").wait(PATIENCE)
    assert done
    assert len(said) < SAID + 100
    assert (tmp_path / "end").exists()
    assert max(path.stat().st_size for path in tmp_path.iterdir()) <= SAID


def test_what_takes_too_long(started, tmp_path):
    """Ended with what it has started."""
    program = started(HANGS)
    everybody = pids(tmp_path)
    with pytest.raises(TimeoutError, match="timed out after 0.1 s"):
        program.wait(0.1)
    assert not program.ready
    program.end()
    assert program.ready
    demand_dead(*everybody)


def test_nothing_outlives_success(started, tmp_path):
    """What the program leaves in the background goes, too."""
    assert started("sleep 300 >/dev/null 2>&1 & echo $! > pids").wait(PATIENCE)[0]
    demand_dead(*pids(tmp_path))


CHILD = """
import sys, time
from pathlib import Path
from types import SimpleNamespace
from kronbot.system.interruption import UNFINISHED
from kronbot.system.supervised import Supervised
Supervised(["/bin/sh", "-c", sys.argv[2]], Path(sys.argv[1]))
time.sleep(300)
"""


def test_dies_with_its_parent(tmp_path):
    """Also where that is killed without a word."""
    parent = subprocess.Popen([sys.executable, "-c", CHILD, str(tmp_path), HANGS])
    everybody = pids(tmp_path)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    demand_dead(*everybody)


def test_the_shell_itself_cannot_start(tmp_path, monkeypatch):
    """The limit of processes is named."""

    def refuse(*words, **options):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    with pytest.raises(OSError, match="ulimit -u"):
        Supervised(["true"], Path(tmp_path))


def test_the_end_of_the_process_ends_it(started, tmp_path):
    """By a signal, without the folder; one that has ended is forgotten."""
    before = dict(UNFINISHED)
    process = started(HANGS)
    (end,) = (UNFINISHED[name] for name in UNFINISHED.keys() - before.keys())
    found = pids(tmp_path)
    end()
    demand_dead(*found)
    process.end()
    assert before == UNFINISHED
    end()
