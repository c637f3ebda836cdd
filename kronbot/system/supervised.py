"""A program at work beside this one: bounded in what it says and writes, ended with all that it has started.

A shell stands between: it ends its process group, itself included, when the program is done or when this process is
gone, however it went (a pipe tells).
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from kronbot.system.environment import search_path
from kronbot.system.interruption import UNFINISHED
from kronbot.system.platform import host

# Bytes kept of what the program says; blocks (512 or 1024 bytes) that a file of its may have.
SAID, BLOCKS = 4000, 500_000
# Time (s) that what the program has left behind may keep its output open.
GRACE = 1
# The program's end is told by a file: where SIGCHLD is ignored, as below cron, the system tells nobody.
SCRIPT = f"""
umask 077
ulimit -f {BLOCKS} 2>/dev/null
exec 3<&0 </dev/null
{{ read -r _; kill -KILL 0; }} <&3 >/dev/null 2>&1 &
exec 3<&-
{{ "$@"; echo $? >status; {{ sleep {GRACE}; kill -KILL 0; }} >/dev/null 2>&1 & }} 2>&1 |
{{ head -c {SAID} >messages; cat >/dev/null; }}
kill -KILL 0
"""


class Supervised:
    """A command at work in a private folder of its own, where its temporary files go, too.

    Raises OSError where it cannot be started.
    """

    def __init__(self, command: Sequence[str], place: Path) -> None:
        self._place, self._begun = place, time.monotonic()
        try:
            for name in ("status", "messages"):  # of another command that was at work there before
                (place / name).unlink(missing_ok=True)
            with (place / "trouble").open("wb") as trouble:
                self._process = subprocess.Popen(
                    ["/bin/sh", "-c", SCRIPT, "sh", *command],
                    cwd=place,
                    env=os.environ | {"TMPDIR": str(place), "PATH": search_path()},
                    stdin=subprocess.PIPE,
                    stdout=trouble,
                    stderr=trouble,
                    start_new_session=True,  # so that all of it can be ended, and Ctrl-C does not reach it
                )
        except BlockingIOError:
            raise OSError("no further process can be started (ulimit -u)") from None
        UNFINISHED[str(place)] = self._kill

    @property
    def ready(self) -> bool:
        """True once it has ended."""
        return self._process.poll() is not None

    def ends(self, timeout: float) -> bool:
        """Whether it ends within ``timeout`` seconds of its beginning, waited for."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(max(0.0, self._begun + timeout - time.monotonic()))
        return self.ready

    def wait(self, timeout: float) -> tuple[bool, str]:
        """Whether it has ended with success, and what it said.

        Raises TimeoutError where it has not ended ``timeout`` seconds after it has begun.
        """
        if not self.ends(timeout):
            raise TimeoutError(f"timed out after {timeout:g} s")
        status, *said = (self._text(name) for name in ("status", "messages", "trouble"))
        left = os.statvfs(self._place).f_bavail
        silent = "no message" if left else "no space is left where it writes"
        return status == "0", f"ended with {status or 'no status'}: {' '.join(filter(None, said)) or silent}"

    def end(self) -> None:
        """End it with all its processes."""
        assert self._process.stdin is not None
        UNFINISHED.pop(str(self._place), None)
        self._process.stdin.close()
        if self._process.poll() is None:
            self._kill()
            self._process.wait()

    def _kill(self) -> None:
        if self._process.returncode is None:  # else its number may be another's
            with suppress(ProcessLookupError):
                host.end_group(self._process.pid)

    def _text(self, name: str) -> str:
        """Of a file that the shell has written."""
        try:
            handle = os.open(self._place / name, os.O_RDONLY | os.O_NONBLOCK)
            with open(handle, "rb") as file:
                return file.read(SAID).decode(errors="replace").strip()
        except OSError:
            return ""
