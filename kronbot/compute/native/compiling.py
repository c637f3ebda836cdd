"""Traced functions as native code: their C, compiled by the machine's compiler, kept in the cache.

Native and interpreted evaluation agree to the bit: both call the mathematics library of the system for sine and the
like (lanes where its answer is not certain), and the compiler may neither contract, reorder nor replace anything. What
is left to the C library: the sign of a NaN (seen by ``copysign`` only), and of the zero that ``fmin`` and ``fmax``
choose from two of different sign.

Compiling never raises: where there is no compiler, no private cache folder or no success, the answer is None, the
reason is a debug line of the logger ``kronbot``, and the caller goes on with the interpreted function.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import sys
from collections.abc import Callable
from contextlib import ExitStack, closing, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

import casadi

from kronbot.compute.native import elf, policy, trial
from kronbot.compute.native.cache import MAX_BYTES, Cache, folder
from kronbot.compute.native.cost import EFFORTS, Effort
from kronbot.compute.native.subjects import Functions, Subject
from kronbot.errors import said
from kronbot.records import dataclass
from kronbot.system import private
from kronbot.system.environment import search_path
from kronbot.system.platform import host
from kronbot.version import __version__

if TYPE_CHECKING:
    from kronbot.system.supervised import Supervised

Made = TypeVar("Made")
COMPILERS = ("cc", "gcc", "clang")
# -fno-builtin keeps sin, pow and their kind calls of the library that the interpreter calls; hidden symbols keep
# CasADi's helpers in one library apart from those in another. A function that no library has (CasADi writes erfinv)
# must fail here: called, it would end the process. -nostartfiles leaves out objects of the compiler that run when a
# library is loaded: with a user's -funsafe-math-optimizations one flushes the whole process's subnormal numbers to 0.
FLAGS = (
    *("-std=gnu99", "-fPIC", "-shared", "-nostartfiles", "-fno-builtin"),
    *("-ffp-contract=off", "-fno-fast-math", "-fno-unsafe-math-optimizations"),
    *("-fvisibility=hidden", "-DGCC_HASCLASSVISIBILITY"),
)
LIBRARIES = ("-lm",) if sys.platform == "darwin" else ("-lm", "-Wl,-z,defs")
# Of those that differ: time and memory of compiling stay under 25 s and 1 GB; 400,000 took 43 s and 1.5 GB.
MAX_INSTRUCTIONS = 200_000
TIMEOUT = 120.0
# A library is loaded and called once within this time (s), on a busy machine, too.
TRIAL = 20.0
# Characters of a compiler's command and of its messages that a reason repeats.
TOLD = 500


class _Unavailable(Exception):
    """Why there is no native code."""


@dataclass(frozen=True)
class _Compiler:
    """A C compiler: the command with its own arguments, and what tells it from another one or another version."""

    command: tuple[str, ...]
    identity: str


# Those that have once not come to an end: the other functions of the process do not wait for them again.
_hanging: set[_Compiler] = set()


@dataclass(frozen=True, eq=False)
class Code(Generic[Made]):
    """Native code: what it is for Python, the library that it is in, and how it was compiled."""

    function: Made
    library: Path
    effort: Effort


def too_large(statements: int) -> bool:
    """True for so many that no compiler is asked for them."""
    return statements > MAX_INSTRUCTIONS


def compiled(effort: Effort, *functions: casadi.Function) -> Code[casadi.Function] | None:
    """A traced function as native code, from the cache or compiled now; None where that is not possible.

    The result has the names, shapes and sparsities of the first of ``functions`` and its values to the bit, and serves
    as any other Function: in calls, ``map`` and ``buffer``, as a part of MX expressions. It knows no derivatives but
    those among its companions, which go into the same library, where CasADi finds them by name: ``jac_f`` with the
    signature of ``f.jacobian()`` for a function ``f``; ``daeF`` and ``jacF`` for the ``dae`` of an integrator.
    """
    return made(effort, Functions(*functions))


def made(effort: Effort, subject: Subject[Made]) -> Code[Made] | None:
    """A subject as native code, from the cache or compiled now; None where that is not possible."""
    with Compilation(effort, TIMEOUT, subject) as compilation:
        return compilation.code()


def cached(subject: Subject[Made]) -> Code[Made] | None:
    """What :func:`made` would return, compiled with the largest effort of those in the cache; compiles nothing.

    Costs about 1 us an instruction, most of it for the text of the function that the key is made from.
    """
    try:
        compiler = _compiler()
        with Cache(folder()) as cache:
            key = _key(subject, compiler)
            found = (_load(cache, key, subject, effort) for effort in EFFORTS)
            return next((code for code in found if code is not None), None)
    except FileNotFoundError:  # nothing was compiled yet
        return None
    except Exception as error:  # as in Compilation
        policy.noted(f"no native code: {said(error)}")
        return None


def _compiler() -> _Compiler:
    """$CC, else the first compiler on the path."""
    import shutil  # here, since few functions are looked for

    given = shlex.split(os.environ.get("CC", ""))
    for name, *arguments in [given] if given else [[each] for each in COMPILERS]:
        found = shutil.which(name, path=search_path())
        if found is not None:
            program = os.path.realpath(found)
            status = os.stat(program)
            # A path before links are followed is what is run: wrappers go by the name they are called.
            command = (os.path.abspath(found), *arguments)
            return _Compiler(command, repr((command, program, status.st_mtime_ns, status.st_size)))
    raise _Unavailable(f"no C compiler: {given[0] if given else ', '.join(COMPILERS)} not found")


def _key(subject: Subject[Made], compiler: _Compiler) -> Callable[[Effort], str]:
    """Digest of everything that the library depends on, by effort."""
    import platform  # here, since few functions are looked for

    about = (
        compiler.identity,
        FLAGS,
        subject.flags,
        LIBRARIES,
        casadi.CasadiMeta.version(),
        __version__,
        sys.platform,
        platform.machine(),
        sorted(host.processor_features()) if "native" in compiler.identity else (),
    )
    digest = hashlib.sha256(repr(about).encode())
    for each in subject.key():
        text = each.encode()
        digest.update(b"%d:" % len(text) + text)
    return lambda effort: hashlib.sha256(digest.digest() + effort.flag.encode()).hexdigest()


def _load(cache: Cache, key: Callable[[Effort], str], subject: Subject[Made], effort: Effort) -> Code[Made] | None:
    """What is in the library of a key, None where there is none that loads."""
    library = cache.find(key(effort))
    if library is None:
        return None
    try:
        return Code(subject.load(library), library, effort)
    except RuntimeError as error:  # evicted a moment ago, or made on another system that shares the folder
        policy.noted(f"compiled function does not load: {error}")
        return None


def _built(place: Path) -> bytes:
    """What the compiler has made in its folder. Raises what is wrong with it."""
    with closing(private.opened(place, False)) as folder:
        try:
            library = private.content("traced.so", folder, MAX_BYTES)
        except FileNotFoundError:
            raise _Unavailable("the compiler ended well and made nothing") from None
    if b"san_init" in library:
        raise _Unavailable("what the compiler made wants a sanitizer, which ends programs that have not begun with it")
    head = host.program_head(elf.HEADER)
    if head and not elf.plausible(library, head):
        raise _Unavailable("what the compiler made is no library for this machine")
    return library


class Compilation(Generic[Made]):
    """Native code in the making; the compiler works by itself until it is asked for.

    Waits for another process that compiles the same functions up to ``patience`` seconds. Leaving the context ends a
    compiler that is still at work. Nothing here raises; where there is no native code the reason is a debug line.
    """

    def __init__(self, effort: Effort, patience: float, subject: Subject[Made]) -> None:
        self._effort, self._subject = effort, subject
        self._held = ExitStack()
        self._found: Code[Made] | None = None
        self._finish: Callable[[], Code[Made]] | None = None
        self._process: Supervised | None = None
        try:
            self._begin(patience)
        except Exception as error:  # of whatever kind: interpretation does the same work
            self._give_up(error)
        except BaseException:
            self.cancel()
            raise

    def __enter__(self) -> Compilation[Made]:
        return self

    def __exit__(self, *stopped: object) -> None:
        self.cancel()

    @property
    def ready(self) -> bool:
        """True where :meth:`code` does not wait."""
        return self._process is None or self._process.ready

    def code(self) -> Code[Made] | None:
        """The native code, None where that is not possible. Waits for the compiler."""
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
        if self._process is not None:
            self._process.end()
        self._process = None
        self._held.close()

    def _begin(self, patience: float) -> None:
        compiler, subject = _compiler(), self._subject
        key = _key(subject, compiler)
        cache = self._held.enter_context(Cache(folder(), create=True))
        for turn in (nullcontext(), cache.turn(key(self._effort), patience)):
            self._held.enter_context(turn)  # whoever held the lock may have stored it meanwhile
            self._found = _load(cache, key, subject, self._effort)
            if self._found is not None:
                self._held.close()
                return
        if compiler in _hanging:
            raise _Unavailable(f"the compiler ({shlex.join(compiler.command)[:TOLD]}) has timed out before")
        if too_large(subject.statements(self._effort)):
            raise _Unavailable(f"more than {MAX_INSTRUCTIONS} instructions")
        place = self._held.enter_context(cache.build_folder(key(self._effort)))
        (place / "traced.c").write_text(subject.source(self._effort))
        flags = (*FLAGS, self._effort.flag, *subject.flags)
        command = [*compiler.command, *flags, "traced.c", "-o", "traced.so", *LIBRARIES]
        from kronbot.system.supervised import Supervised  # here, since most processes find what they need compiled

        self._process = Supervised(command, place)
        self._finish = partial(self._load_built, cache, key(self._effort), place, compiler, command)

    def _load_built(self, cache: Cache, key: str, place: Path, compiler: _Compiler, command: list[str]) -> Code[Made]:
        assert self._process is not None
        if not self._process.ends(policy.SILENT):
            policy.waited_for(f"the compiler ({shlex.join(compiler.command)[:TOLD]}), {TIMEOUT:g} s at most")
        try:
            done, told = self._process.wait(TIMEOUT)
        except TimeoutError:
            _hanging.add(compiler)
            raise
        if not done:
            raise _Unavailable(f"the compiler {told[:TOLD]} ({shlex.join(command)[:TOLD]})")
        loaded: list[Made] = []

        def tried(library: Path) -> None:
            self._try(library, compiler)
            loaded.append(self._subject.load(library))  # it stays usable whatever happens to its file
            if not self._subject.agrees(library):
                raise _Unavailable(f"what {shlex.join(command)[:TOLD]} made has other answers: look at CC and CPATH")

        library = cache.store(key, _built(place), place, trial=tried)
        cache.evict()
        return Code(loaded[0], library, self._effort)

    def _try(self, library: Path, compiler: _Compiler) -> None:
        """Load and call it in a process of its own. Raises what is wrong with a library that would end this one."""
        from kronbot.system.supervised import Supervised

        assert self._process is not None
        self._process.end()
        python = sys.executable or ""
        if not os.path.basename(python).lower().startswith("python"):
            return  # another program, which Python is a part of, would begin anew
        command = [python, "-I", "-S", trial.__file__, str(library), *self._subject.tried()]
        self._process = Supervised(command, library.parent)
        try:
            done, told = self._process.wait(TRIAL)
        except TimeoutError:
            _hanging.add(compiler)
            raise _Unavailable("what the compiler made comes to no end where it is tried") from None
        # Where nothing was said, there is no such Python.
        if trial.LOADING in told and not (done and trial.TRIED in told):
            status = told.partition(":")[0]
            raise _Unavailable(f"what the compiler made does harm: the process that tried it {status}")

    def _give_up(self, error: Exception) -> None:
        self.cancel()
        policy.interpreted(said(error))
