"""Properties computed once, by one thread for all, with no lock that a forked process could wait for."""

import os
import signal
import subprocess
import sys
import threading

import pytest
from waiting import PATIENCE

from kronbot.cached import cached_property


class Slow:
    """Its property waits for an event, and counts how often it is computed."""

    def __init__(self):
        self.began, self.go, self.count = threading.Event(), threading.Event(), 0

    @cached_property
    def value(self):
        """Documented."""
        self.count += 1
        self.began.set()
        self.go.wait(PATIENCE)
        return object()


def test_once():
    slow = Slow()
    slow.go.set()
    assert slow.value is slow.value
    assert slow.count == 1
    assert Slow.value.__doc__ == "Documented."


def test_threads_get_the_same():
    """Both may compute; one of the values is everybody's."""
    slow, found = Slow(), []
    threads = [threading.Thread(target=lambda: found.append(slow.value)) for _ in range(4)]
    for thread in threads:
        thread.start()
    slow.began.wait(PATIENCE)
    slow.go.set()
    for thread in threads:
        thread.join()
    assert len(set(map(id, found))) == 1


FORKED = """
import os, sys, threading
from kronbot.model.robot import Robot
import kronbot
robot, other = kronbot.load("canadarm").model, kronbot.load("stacker-numeric").model
began, go = threading.Event(), threading.Event()
class Parts(tuple):
    def __iter__(self):
        began.set()
        go.wait(60)
        return super().__iter__()
object.__setattr__(robot, "links", Parts(robot.links))
thread = threading.Thread(target=lambda: robot.joints)
thread.start()
began.wait(60)
child = os.fork()
if child == 0:
    other.joints
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
go.set()
thread.join()
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_forked_while_another_thread_computes():
    """The same property of another robot, in the child."""
    process = subprocess.Popen(
        [sys.executable, "-c", FORKED], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert process.communicate(timeout=PATIENCE)[0] == "7\n"
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
