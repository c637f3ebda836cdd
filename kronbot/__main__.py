"""Entry point of ``kronbot`` and ``python -m kronbot``."""

from __future__ import annotations

# Nothing more: until it is heard, Python answers a Ctrl-C with a traceback. ``signal`` takes ten times as long, for
# names of numbers.
import os
import sys
from _signal import SIG_IGN, SIGINT, getsignal, signal  # type: ignore[import-not-found]


def _leave_at_once(*_: object) -> None:
    """Before anything is there that could be left behind."""
    try:
        os.write(2, b"Error: interrupted\n")
    finally:  # also where stderr is closed
        os._exit(130)


def _hear() -> None:
    """Answer a Ctrl-C, unless the process was told to ignore it when it began."""
    if getsignal(SIGINT) != SIG_IGN:
        signal(SIGINT, _leave_at_once)


# Here, since the script ``kronbot`` does other things before it calls :func:`main`; who imports this module for its own
# ends has handlers of his own.
if __name__ == "__main__" or os.path.basename((sys.argv or [""])[0]).partition(".")[0] in ("kronbot", "kronbot-script"):
    _hear()

import gc  # noqa: E402

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


# New objects after which circles among them are looked for. Modules make so many that stay that to look as often as
# Python does by itself takes a twelfth of a short command.
BETWEEN_LOOKS = 100_000


def main() -> NoReturn:
    """Run the command line and exit with its code."""
    _hear()
    gc.set_threshold(BETWEEN_LOOKS)
    try:
        from kronbot.system import interruption
        from kronbot.system.interruption import ENDED, handle

        handle(interruption.leave)
        _mend_streams()
        interruption.leave_in_time()
        from kronbot.system.limits import tell_native_exits

        tell_native_exits(interruption.end)
        _spare_threads()
        from kronbot.cli.main import run
        from kronbot.compute.remembered import MEMORY
    except (OSError, ImportError, MemoryError, SystemError) as error:
        _refuse(error)
    MEMORY.begun = True
    try:
        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        interruption.leave_twice_interrupted()
    if code < ENDED:
        import atexit
        from contextlib import suppress

        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):
                stream.flush()
        if code == 0:
            # The answer is there, and nobody waits for more: a signal ends this, and nothing is lost.
            handle(lambda *_: interruption.leave_answered(code))
            MEMORY.keep()
    # Taking traces apart, node by node, would cost up to a tenth of the time, and a Ctrl-C meanwhile a traceback.
    os._exit(code)


def _refuse(error: Exception) -> NoReturn:
    """Where modules get no descriptors or no memory, the one that words errors may be out of reach, too."""
    said = getattr(error, "strerror", None) or str(error) or "no memory"
    limit = " (ulimit -n)" if "open files" in said else ""
    if "failed to map" in said or "memory" in said:
        limit = " (ulimit -v)"
        try:
            from kronbot.errors import memory_limits

            limit = memory_limits()
        except (ImportError, MemoryError):
            pass
    os.write(2, f"Error: kronbot cannot begin: {said}{limit}\n".encode(errors="backslashreplace"))
    os._exit(1)


def _spare_threads() -> None:
    """Matrices of robots are too small for threads, which take memory and time at every start; unless told otherwise.

    Where one cannot be started (ulimit -u), OpenBLAS sends a Ctrl-C.
    """
    if not any(os.environ.get(f"{name}_NUM_THREADS") for name in ("OPENBLAS", "GOTO", "OMP")):
        os.environ["OPENBLAS_NUM_THREADS"] = "1"


def _mend_streams() -> None:
    """Make stdout and stderr take what is written to them, whatever the process was started with."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # A closed one would be the next file that is opened, and what is printed would go there. An answer that
            # nobody gets is an error, a message that nobody gets is none.
            os.open(os.devnull, os.O_RDONLY if number == 1 else os.O_RDWR)
    # What native libraries print, of numbers that overflow for example, is no part of the answer.
    number = os.dup(1)
    os.dup2(2, 1)
    # Unbuffered (PYTHONUNBUFFERED), a stream drops without a word what a full disk does not take; a strict one fails
    # at names in other alphabets.
    encoding = sys.stdout.encoding if sys.stdout else "utf-8"
    sys.stdout = os.fdopen(number, "w", encoding=encoding, errors="backslashreplace", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)


if __name__ == "__main__":
    main()
