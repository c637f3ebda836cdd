"""Waiting for other processes and threads: a guard against hanging, never a measure of how long something takes."""

import gc
import os
import time
from contextlib import contextmanager
from pathlib import Path

# What takes a moment on an idle machine has this long (s) on a busy one.
PATIENCE = 300.0


def soon(happens):
    """It happens, however busy the machine is."""
    end = time.monotonic() + PATIENCE
    while not happens():
        assert time.monotonic() < end, "waited for in vain"
        time.sleep(0.02)


def running(pid):
    """True while a process is there and not just waiting to be reaped."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "XZ"
    except ProcessLookupError:
        return False
    except FileNotFoundError:  # gone a moment ago, or a system without /proc
        return not Path("/proc/self").exists()


def demand_dead(*pids):
    """Killed processes go within moments."""
    for pid in pids:
        soon(lambda pid=pid: not running(pid))


@contextmanager
def bounded(seconds):
    """Takes no more than so much of a processor, which on a busy one is twice what it is: what would take minutes.

    Garbage of other tests is left where it is meanwhile.
    """
    gc.disable()
    begun = time.thread_time()
    try:
        yield
        assert time.thread_time() - begun < seconds
    finally:
        gc.enable()
