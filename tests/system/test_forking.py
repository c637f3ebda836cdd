"""Processes forked beside threads that use the library: they answer, or say at once that they cannot."""

import os
import signal
import subprocess
import sys

import pytest
from waiting import PATIENCE

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
# Whether children of a process with a thread at work end, and how.
FORKED = """
import os, sys, threading, kronbot
from kronbot.errors import KronbotError
from kronbot.system import forking
forking.PATIENCE = {patience}
began, go = threading.Event(), threading.Event()

def work():
{work}

def child():
    try:
        kronbot.load("khang").jacobian(q=[0.1])
        return 7
    except KronbotError as error:
        return 5 if "forked while another thread" in str(error) else 1

threading.Thread(target=work, daemon=True).start()
began.wait(60)
for _ in range({count}):
    if not (pid := os.fork()):
        os._exit(child())
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
go.set()
kronbot.load("khang").jacobian(q=[0.1])
"""
# What threads do that leaves locks shut in most children: modules imported, symbols made.
BUSY = """
    for k in range(10**6):
        began.set()
        robot = kronbot.load("khang", parameters={"EI": 10 + k})
        robot.jacobian()
        robot.statics()
"""
# One question that does not end, and tells nothing in between.
STUCK = """
    from kronbot.library import arguments
    robot = kronbot.load("khang")
    class Slow(dict):
        def items(self):
            began.set()
            go.wait(60)
            return super().items()
    robot.jacobian(q=Slow(qa=0.1))
"""


@pytest.mark.slow
@pytest.mark.parametrize(("work", "patience", "count", "code"), [(BUSY, 60, 5, "7"), (STUCK, 0.05, 2, "5")])
def test_children_answer_or_say_at_once_that_they_cannot(work, patience, count, code):
    script = FORKED.format(work=work, patience=patience, count=count)
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=PATIENCE)
        assert (out.split(), err) == ([code] * count, "")
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


# Another thread is within the import of a module, which it looks for for a while. Python itself complains where
# logging, which has hooks of its own for forks, is imported first meanwhile.
INTERRUPTED = """
import os, signal, sys, threading, time, kronbot
from kronbot.system import forking
forking.PATIENCE = 1.0
began, go = threading.Event(), threading.Event()

def work():
{work}

threading.Thread(target=work, daemon=True).start()
began.wait(60)
threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    if not (pid := os.fork()):
        os._exit(7)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    time.sleep(60)
except KeyboardInterrupt:
    print("interrupted")
go.set()
"""


def test_a_ctrl_c_while_a_fork_waits_is_told_after_it():
    """Python drops what its hooks raise; the child is none of who is interrupted."""
    script = INTERRUPTED.format(work=STUCK)
    words = [sys.executable, "-W", "ignore", "-c", script]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.stdout, done.stderr) == ("7\ninterrupted\n", "")


IMPORTING = """
import logging, os, sys, threading, time
import kronbot
from kronbot.system import forking
forking.PATIENCE = 60.0  # on a busy machine imports take longer than a fork waits for
answer = kronbot.load("khang").modes()
begun = threading.Event()
class Finder:
    def find_spec(self, name, *_):
        if name == sys.argv[1]:
            sys.meta_path.remove(self)
            begun.set()
            time.sleep(0.5)
sys.meta_path.insert(0, Finder())
other = threading.Thread(target=lambda: eval(sys.argv[2]), daemon=True)
other.start()
begun.wait(60)
if not (pid := os.fork()):
    eval(sys.argv[2])
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
other.join()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "asked"),
    [
        ("matplotlib.rcsetup", "answer.plot()"),
        ("sympy.core", "kronbot.load('khang').symbolic().jacobian()"),
        ("kronbot.questions.taylor", "kronbot.load('khang').taylor('M', 1)"),
    ],
)
def test_a_fork_waits_for_what_another_thread_imports(module, asked):
    """The child would wait for the lock of the module, which nobody opens there."""
    words = [sys.executable, "-W", "ignore", "-c", IMPORTING, module, asked]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.stdout, done.stderr) == ("7\n", "")
