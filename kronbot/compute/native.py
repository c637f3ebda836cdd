"""Traced functions as native code: their C, compiled by the machine's compiler, kept in the cache.

Native and interpreted evaluation agree to the bit: both call the mathematics library of the system for sine and the
like, and the compiler may neither contract, reorder nor replace anything. What is left to the C library: the sign of a
NaN (seen by ``copysign`` only), and of the zero that ``fmin`` and ``fmax`` choose from two of different sign.

Compiling never raises: where there is no compiler, no private cache folder or no success, the answer is None, the
reason is a debug line of the logger ``kronbot``, and the caller goes on with the interpreted function.
"""

from __future__ import annotations

import hashlib
import logging
import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import casadi

from kronbot import __version__
from kronbot.compute import policy
from kronbot.compute.cache import Cache, folder
from kronbot.compute.cost import INTERPRETED, NATIVE, instructions
from kronbot.compute.kernel import Kernel

LOG = logging.getLogger("kronbot")

COMPILERS = ("cc", "gcc", "clang")
# -O1 runs as fast as -O2 and -O3 (0.20 ns an instruction) and compiles in half the time or less (31,000 instructions:
# 5 s against 9 s and 10 s; 124,000: 9 s against 147 s). -fno-builtin keeps sin, pow and their kind calls of the
# library that the interpreter calls; hidden symbols keep CasADi's helpers in one library apart from those in another.
# A function that no library has (CasADi writes erfinv) must fail here: called, it would end the process.
FLAGS = (
    *("-std=gnu99", "-O1", "-fPIC", "-shared", "-ffp-contract=off", "-fno-fast-math", "-fno-builtin"),
    *("-fvisibility=hidden", "-DGCC_HASCLASSVISIBILITY"),
)
LIBRARIES = ("-lm",) if sys.platform == "darwin" else ("-lm", "-Wl,-z,defs")
# Time and memory of compiling stay under 20 s and 1 GB; 400,000 took 43 s and 1.5 GB.
MAX_INSTRUCTIONS = 200_000
TIMEOUT = 120.0

# Measured as in cost.py (see `gain`):
COMPILING = 200e-6  # s an instruction: 70 to 220, most between 8,000 and 60,000 instructions
STARTING = 0.1  # s a compilation, however small
# An expected saving must be this many times the time to compile: both are estimates.
MARGIN = 2.0


class _Unavailable(Exception):
    """Why there is no native code."""


@dataclass(frozen=True)
class _Compiler:
    """A C compiler: the command with its own arguments, and what tells it from another one or another version."""

    command: tuple[str, ...]
    identity: str


@dataclass(frozen=True)
class Code:
    """Native code of a function, as CasADi calls it, and the library that it is in."""

    function: casadi.Function
    library: Path


def compiled(function: casadi.Function, *companions: casadi.Function) -> casadi.Function | None:
    """A traced function as native code, from the cache or compiled now; None where that is not possible.

    The result has the names, shapes and sparsities of ``function`` and its values to the bit, and serves as any other
    Function: in calls, ``map`` and ``buffer``, as a part of MX expressions. It knows no derivatives but those among
    the ``companions``, which go into the same library, where CasADi finds them by name: ``jac_f`` with the signature of
    ``f.jacobian()`` for a function ``f``; ``daeF`` and ``jacF`` for the ``dae`` of an integrator.
    """
    return _function(_compiled(function, *companions))


def cached(function: casadi.Function, *companions: casadi.Function) -> casadi.Function | None:
    """What :func:`compiled` would return, if it is in the cache; compiles nothing.

    Costs about 1 us an instruction, most of it for the text of the function that the key is made from.
    """
    return _function(_cached(function, *companions))


def _function(code: Code | None) -> casadi.Function | None:
    return None if code is None else code.function


def _compiled(*functions: casadi.Function) -> Code | None:
    with Compilation(TIMEOUT, *functions) as compilation:
        return compilation.code()


def _cached(*functions: casadi.Function) -> Code | None:
    name = functions[0].name()
    try:
        cache = Cache(folder())
        cache.demand_private()
        return _load(cache, _key(functions, _compiler()), name)
    except Exception as error:  # as in Compilation
        LOG.debug("no native code for %s in the cache: %s", name, error)
        return None


def gain(function: casadi.Function, evaluations: int) -> float:
    """Time (s) that compiling a function for so many evaluations is expected to save, beyond MARGIN times its cost.

    saving = evaluations x instructions x (INTERPRETED - NATIVE); cost = STARTING + instructions x COMPILING. Gains of
    functions compiled together add up. To measure the constants anew: time ``function.map(64).buffer()`` with 64
    points, ``compiled(function)`` on an empty cache, and the same buffer of what that returns. An embedded function
    counts once, however often it is called.
    """
    size = instructions(function)
    saving = evaluations * size * (INTERPRETED - NATIVE)
    return saving - MARGIN * (STARTING + size * COMPILING)


def pays(function: casadi.Function, evaluations: int) -> bool:
    """True where compiling a function for so many evaluations is worth its time: from about 110,000 on."""
    return instructions(function) <= MAX_INSTRUCTIONS and gain(function, evaluations) > 0


def _compiler() -> _Compiler:
    """$CC, else the first compiler on the path."""
    given = shlex.split(os.environ.get("CC", ""))
    for name, *arguments in [given] if given else [[each] for each in COMPILERS]:
        found = shutil.which(name)
        if found is not None:
            program = os.path.realpath(found)
            status = os.stat(program)
            # A path before links are followed is what is run: wrappers go by the name they are called.
            command = (os.path.abspath(found), *arguments)
            return _Compiler(command, repr((command, program, status.st_mtime_ns, status.st_size)))
    raise _Unavailable(f"no C compiler: {given[0] if given else ', '.join(COMPILERS)} not found")


def _key(functions: tuple[casadi.Function, ...], compiler: _Compiler) -> str:
    """Digest of everything that the library depends on.

    The serialized function stands for its C text: as deterministic (derivatives and maps made meanwhile leave no trace
    in it), and made in less than half the time.
    """
    about = (
        compiler.identity,
        FLAGS,
        LIBRARIES,
        casadi.CasadiMeta.version(),
        __version__,
        sys.platform,
        platform.machine(),
    )
    digest = hashlib.sha256(repr(about).encode())
    for each in functions:
        text = _text(each).encode()
        digest.update(b"%d:" % len(text) + text)
    return digest.hexdigest()


def _text(function: casadi.Function) -> str:
    """What tells a function from every other; of a map what it maps and its shapes, since its own text is as long as
    there are points."""
    if function.is_a("Map"):
        (mapped,) = function.find_functions(0)
        return f"{function} {mapped.serialize()}"
    return str(function.serialize())


def _load(cache: Cache, key: str, name: str) -> Code | None:
    """The function of that name in the library of a key, None where there is none that loads."""
    library = cache.find(key)
    if library is None:
        return None
    try:
        return Code(casadi.external(name, str(library)), library)
    except RuntimeError as error:  # evicted a moment ago, or made on another system that shares the folder
        LOG.debug("compiled function does not load: %s", error)
        return None


class Compilation:
    """Native code in the making; the compiler works by itself until it is asked for.

    Waits for another process that compiles the same functions up to ``patience`` seconds. Leaving the context ends a
    compiler that is still at work. Nothing here raises; where there is no native code the reason is a debug line.
    """

    def __init__(self, patience: float, *functions: casadi.Function) -> None:
        self._name = functions[0].name()
        self._held = ExitStack()
        self._found: Code | None = None
        self._finish: Callable[[], Code] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self._begin(patience, functions)
        except Exception as error:  # of whatever kind: interpretation does the same work
            self._give_up(error)
        except BaseException:
            self.cancel()
            raise

    def __enter__(self) -> Compilation:
        return self

    def __exit__(self, *stopped: object) -> None:
        self.cancel()

    @property
    def ready(self) -> bool:
        """True where :meth:`code` does not wait."""
        return self._process is None or self._process.poll() is not None

    def code(self) -> Code | None:
        """That of the first function, None where that is not possible. Waits for the compiler."""
        if self._finish is not None:
            try:
                self._found = self._finish()
            except Exception as error:  # as above
                self._give_up(error)
            finally:
                self.cancel()
        return self._found

    def cancel(self) -> None:
        """End the compiler with all its processes, and give back lock and folder."""
        self._finish = None
        if self._process is not None and self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._process = None
        self._held.close()

    def _begin(self, patience: float, functions: tuple[casadi.Function, ...]) -> None:
        compiler = _compiler()
        size = sum(map(instructions, functions))
        if size > MAX_INSTRUCTIONS:
            raise _Unavailable(f"{size} instructions, more than {MAX_INSTRUCTIONS}")
        cache = Cache(folder())
        cache.create()
        cache.demand_private()
        key = _key(functions, compiler)
        self._found = _load(cache, key, self._name)
        if self._found is not None:
            return
        self._held.enter_context(cache.turn(key, patience))
        # A fresh look: whoever held the lock may have stored it.
        self._found = _load(cache, key, self._name)
        if self._found is not None:
            self._held.close()
            return
        place = self._held.enter_context(cache.build_folder())
        generator = casadi.CodeGenerator("traced.c")
        for each in functions:
            generator.add(each)
        (place / "traced.c").write_text(generator.dump())
        command = [*compiler.command, *FLAGS, "traced.c", "-o", "traced.so", *LIBRARIES]
        with (place / "messages").open("wb") as messages:
            self._process = subprocess.Popen(
                command,
                cwd=place,
                env=os.environ | {"TMPDIR": str(place)},
                stdin=subprocess.DEVNULL,
                stdout=messages,
                stderr=messages,
                start_new_session=True,  # so that all of it can be ended, and Ctrl-C does not reach it
            )
        self._finish = partial(self._load_built, cache, key, place, command)

    def _load_built(self, cache: Cache, key: str, place: Path, command: list[str]) -> Code:
        assert self._process is not None
        status = self._process.wait(TIMEOUT)
        if status != 0:
            said = (place / "messages").read_text(errors="replace")
            raise _Unavailable(f"{shlex.join(command)} ended with {status}: {said.strip()[:500]}")
        library = cache.store(key, place / "traced.so")
        # Loaded first: it stays usable whatever happens to its file.
        code = Code(casadi.external(self._name, str(library)), library)
        cache.evict()
        return code

    def _give_up(self, error: Exception) -> None:
        LOG.debug("no native code for %s: %s", self._name, error)
        self.cancel()


def at_once(function: casadi.Function, evaluations: int) -> Kernel | None:
    """Native code for so many evaluations that are due now, as the policy in force wants it; None: interpret."""
    choice = policy.choice()
    if choice == "off":
        return None
    code = _compiled(function) if choice == "on" or pays(function, evaluations) else _cached(function)
    try:
        return None if code is None else Kernel(function.name(), code.library)
    except OSError as error:  # evicted a moment ago
        LOG.debug("no native code for %s: %s", function.name(), error)
        return None


class Native:
    """Native code for functions that are evaluated for a while, as the policy in force wants it.

    ``auto`` looks into the cache at once, and compiles beside the interpreted evaluation as soon as what is expected of
    it pays; ``on`` compiles first, ``off`` never.
    """

    def __init__(self, *functions: casadi.Function) -> None:
        self._functions = functions
        self._compilation: Compilation | None = None
        self._found: casadi.Function | None = None
        self._choice = policy.choice()
        if self._choice == "on":
            self._found = compiled(*functions)
        elif self._choice == "auto":
            self._found = cached(*functions)

    def expect(self, *evaluations: int) -> None:
        """So many evaluations of each function are still to come."""
        if self._choice != "auto" or self._found is not None or self._compilation is not None:
            return
        if sum(map(gain, self._functions, evaluations)) > 0:
            self._compilation = Compilation(0.0, *self._functions)

    def function(self) -> casadi.Function | None:
        """The first function as native code, None where the interpreted one is to be used."""
        if self._compilation is not None and self._compilation.ready:
            self._found = self._found or _function(self._compilation.code())
        return self._found

    def close(self) -> None:
        """End a compiler that is still at work."""
        if self._compilation is not None:
            self._compilation.cancel()
