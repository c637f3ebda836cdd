"""Everything kronbot can refuse or fail at, each with the exit code that the command line documents."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Sequence
from dataclasses import field

from kronbot.records import dataclass

# How the shell calls the limits of a process that system calls fail at; of memory there are several.
LIMITS = {errno.EMFILE: " (ulimit -n)", errno.ENOMEM: "", errno.EFBIG: " (ulimit -f)"}
_OF_MEMORY = {"RLIMIT_AS": "-v", "RLIMIT_DATA": "-d"}
# Characters of a file's name that a message repeats.
LONGEST_NAME = 200
# How the system's loader says of a library that there is no memory for it, and no descriptor.
_LOADING = {
    "failed to map segment": errno.ENOMEM,
    "Cannot allocate memory": errno.ENOMEM,
    "Too many open files": errno.EMFILE,
}


def not_loaded(error: BaseException) -> str | None:
    """The limit of the process because of which a library could not be loaded; None for another error."""
    words = str(error) if isinstance(error, ImportError) else ""
    met = next((number for sign, number in _LOADING.items() if sign in words), None)
    return None if met is None else said(MemoryError() if met == errno.ENOMEM else OSError(met, os.strerror(met)))


def out_of_memory(error: BaseException) -> bool:
    """Whether there was no memory, as Python says it, or C++ beneath CasADi: in a RuntimeError, wherever it was."""
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and "std::bad_alloc" in str(error))


def said(error: BaseException, place: bool = True) -> str:
    """What an error says, never nothing, the file unless that is told, and the limit of the process that it met."""
    if out_of_memory(error):
        return f"this takes more memory than there is{memory_limits()}"
    if isinstance(error, OSError) and error.strerror:
        file = f": {_cut(error.filename)}" if place and error.filename else ""
        limit = memory_limits() if error.errno == errno.ENOMEM else LIMITS.get(error.errno or 0, "")
        return error.strerror + file + limit
    return str(error) or type(error).__name__


def memory_limits() -> str:
    """Those of memory that are set, as the shell calls them; nothing where there are none, or none are known."""
    try:
        import resource  # not on Windows
    except ImportError:
        return ""
    known = {flag: resource.getrlimit(getattr(resource, name))[0] for name, flag in _OF_MEMORY.items()}
    met = [flag for flag, most in known.items() if most != resource.RLIM_INFINITY]
    return f" (ulimit {', '.join(met)})" if met else ""


def _cut(name: object) -> str:
    """A name in quotes; of a very long one its beginning."""
    text = repr(os.fspath(name) if isinstance(name, os.PathLike) else name)
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 4] + "..." + text[-1]


@dataclass(frozen=True)
class Argument:
    """An argument of a question as a part of a message, with the value to give it; each face has its own words for it.

    Here those of the library: ``order exact``. The command line says ``--order exact``. A name may hold one that a
    caller made, which must not write to the terminal either: signs that do not print are escaped, and long ones cut.
    """

    name: str
    value: str = ""

    def __post_init__(self) -> None:
        name = self.name if len(self.name) <= LONGEST_NAME else self.name[: LONGEST_NAME - 3] + "..."
        object.__setattr__(self, "name", "".join(c if c.isprintable() else repr(c)[1:-1] for c in name))

    def __str__(self) -> str:
        return f"{self.name} {self.value}".rstrip()


class KronbotError(Exception):
    """Root of all errors a user can cause or meet; ``exit_code`` is what the command line ends with.

    Its message is all its parts in a row, text and :class:`Argument`. ``partial`` is the answer so far, a Result, where
    a computation stopped early and left one.
    """

    exit_code = 1
    partial: object = None

    def __str__(self) -> str:
        return "".join(map(str, self.args))


class Failure(KronbotError):
    """Everything but an interruption: to be told or passed over, where one would be somebody's wish that is lost."""


class ComputationError(Failure):
    """The mathematics did not come through: singular, no equilibrium, the integrator gave up."""


def too_deep() -> ComputationError:
    """That a function is called from so many others that they leave it no room."""
    return ComputationError(
        "calls are nested too deep where this is asked: ask it from fewer, or raise the limit of Python"
    )


class Starved(ComputationError):
    """There was no memory for it, which may be otherwise at another time."""


class Interrupted(KronbotError):
    """The user asked to stop (Ctrl-C)."""

    exit_code = 130


class UsageError(Failure):
    """The question is wrong, not the robot: an unknown name, a wrong number of values, an option that does not fit."""

    exit_code = 2


class UnknownName(UsageError, KeyError):
    """There is nothing of that name: ``name`` is what was given, ``known`` what there is."""

    name: object = None
    known: Sequence[str] = ()


class StrangeValues(UsageError):
    """Values of a list, or of rows of cases, can be none of their names: ``values`` has the row of each, from 1, its
    name, and what is wrong."""

    values: Sequence[tuple[int, str, str]] = ()


class ShapeError(UsageError, ValueError):
    """Matrices whose shapes do not fit, or what is no matrix where one is wanted."""


class FreeParameters(UsageError):
    """Numbers are wanted, and parameters have no value."""


@dataclass(frozen=True, order=True)
class Mistake:
    """One mistake (or warning) in a robot file, at a place a person can go to.

    ``line`` and ``column`` count from 1, ``text`` is the line itself (None: not known, empty: none to show); ``str()``
    gives ``file:line:column: message``.
    """

    line: int
    column: int
    message: str
    file: str
    text: str | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.message}"


class Mistaken(Failure):
    """A text is wrong. ``mistakes`` holds every mistake found, in the order of the text."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(sorted(mistakes))
        super().__init__("\n".join(str(mistake) for mistake in self.mistakes))

    def __reduce__(self) -> tuple[object, ...]:
        """For pickle and copy: made again from its mistakes, not from their words."""
        return type(self), (self.mistakes,), self.__dict__


class DescriptionError(Mistaken):
    """The robot file, or a table that it names, is wrong."""

    exit_code = 3


class MeasurementError(Mistaken, UsageError):
    """A file of measurements is wrong."""


class CasesError(Mistaken, UsageError):
    """A file of cases is wrong."""


class MotionError(Mistaken, UsageError):
    """A motion that takes the place of the file's is wrong."""
