"""What callers hand over, made plain: every argument of the library passes here before anything is computed with it.

Out of here come floats, integers, bools, text, lists, mappings and arrays of Python and NumPy themselves, never a
subclass of them and never the caller's own object, so that nothing of what a caller writes is called later, changed,
or met by a library that trusts its types. What is none raises UsageError with the ``word`` of the argument.
"""

from __future__ import annotations

import cmath
import inspect
import math
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from decimal import Decimal
from itertools import islice
from numbers import Real
from typing import Any, NoReturn, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

from kronbot.description.choices import ORDERS
from kronbot.description.expressions.expression import ExpressionError, evaluate, parse
from kronbot.description.wording import listing, quote, unknown
from kronbot.errors import Argument, UsageError
from kronbot.floats import Array, is_finite
from kronbot.kinds import has, is_a, kind_of

NumberLike: TypeAlias = float | str
Known: TypeAlias = Mapping[str, float | None]
Progress: TypeAlias = Callable[[float], None]

# Entries of a list; a sequence that never ends is found out here.
ENTRY_LIMIT = 10_000_000
# Numbers of an array, which may take no memory however many it has, until it is copied.
NUMBER_LIMIT = 100_000_000
_FLOAT64 = np.dtype(np.float64)
_ONE_FLOAT = {id(float)}
_LISTS = (Sequence, np.ndarray)
_NO_LISTS = (str, bytes, bytearray, memoryview)


def unheeded(share: float) -> None:
    """Progress that nobody watches."""


def shown(value: object) -> str:
    """A value in a message: numbers and text as they are, of others the type, whose ``repr`` may do anything."""
    if is_a(value, str):
        return quote(str.__str__(value))
    # By identity: a metaclass may raise where it is asked what its class is equal to.
    plain = value is None or any(type(value) is kind for kind in (bool, float, complex))
    if plain or (type(value) is int and value.bit_length() < 200):
        return repr(value)
    if is_a(value, np.ndarray):
        return f"an array of shape {np.ndarray.shape.__get__(value)}"
    if type(value) is int:
        return "an integer of 60 digits or more"
    return f"a value of type {quote(kind_of(value))[1:-1]}"


@contextmanager
def asking(value: object, word: str) -> Iterator[None]:
    """What a caller's object raises while it is looked at is the caller's mistake, told as such."""
    try:
        yield
    except UsageError:
        raise
    except Exception as error:
        why = quote(kind_of(error))[1:-1]
        raise UsageError(Argument(word), f": {shown(value)} cannot be used, asking it raises {why}") from None


# ----------------------------------------------------------------------------------------------------------------------
# Text and names


def own(value: object) -> Any:
    """Text as str itself, whose methods are not the caller's; what is no text as it is."""
    return str.__str__(value) if is_a(value, str) else value


def text(value: object, word: str) -> str:
    """Text, as str itself."""
    if not is_a(value, str):
        raise UsageError(Argument(word), f": text is wanted, not {shown(value)}")
    return str.__str__(value)


def content(value: object, word: str, cure: str, known: Collection[str] = ()) -> str:
    """Text of YAML, which a known name or the path of a file is not; the ``cure`` says what to do with those."""
    found = text(value, word)
    if found in known or re.fullmatch(r"[^\n{}\[\]]*\.ya?ml", found, re.IGNORECASE):
        raise UsageError(Argument(word), f": text in YAML is wanted, not the path or name {quote(found)}: {cure}")
    return found


def texts(value: object, word: str, least: int = 0) -> list[str]:
    """Texts, or one by itself."""
    found = [text(each, word) for each in ([value] if is_a(value, str) else entries(value, word))]
    if len(found) < least:
        raise UsageError(Argument(word), ": name one at least")
    return found


def choice(value: object, known: Collection[str], word: str) -> str:
    """One of the words there are."""
    chosen = text(value, word)
    if chosen not in known:
        raise unknown(chosen, known, Argument(word), " ", there=": there are")
    return chosen


# What stands where nothing is said of it.
USUAL = {"frame": "endpoint", "axes": "base"}


def demand_heeded(given: Mapping[str, object], unheeded: Iterable[str], *subjects: str) -> None:
    """Raise UsageError for arguments that are not the usual ones, and change nothing of what is asked."""
    for word in unheeded:
        if text(given[word], word) != USUAL.get(word):
            raise UsageError(Argument(word), f" changes nothing of {listing(subjects)}: leave it out")


def names(value: object, known: Collection[str], word: str, what: str) -> list[str]:
    """Some of the names there are: a list, "q1,q2", or "all". ``what`` they are is for messages."""
    given = listed(value, known, word)
    for name in given:
        if name not in known:
            raise unknown(name, known, Argument(word), f": no {what} ")
    return list(dict.fromkeys(given))


def listed(value: object, every: Collection[str], word: str) -> list[str]:
    """Names, whichever there are: a list, "q1,q2", or "all" for those that are ``every``."""
    if is_a(value, str):
        given = [name.strip() for name in text(value, word).split(",") if name.strip()]
        return list(every) if given == ["all"] else given
    if is_a(value, Set):  # in an order that is the same every time
        return sorted(text(each, word) for each in _taken(value, word))
    if type(value) is tuple and not value:
        return []
    return [text(each, word) for each in entries(value, word)]


def order(value: object) -> str:
    """A kinematic order as text; which there are the model knows."""
    if is_a(value, str):
        return text(value, "order")
    try:
        return str(count(value, "order", 0, 2))
    except UsageError:
        words = ", ".join(map(repr, ORDERS))
        raise UsageError(Argument("order"), f" must be one of {words}, not {shown(value)}") from None


def path(value: object, word: str) -> str:
    """A path as text; bytes are decoded as the file system's."""
    with asking(value, word):
        if is_a(value, str):
            return str.__str__(value)
        if is_a(value, bytes | os.PathLike):
            return str.__str__(os.fsdecode(value))
    raise UsageError(Argument(word), f": a path or a name is wanted, not {shown(value)}")


def read(value: object, word: str, limit: int) -> tuple[str, bytes] | None:
    """The name of an open file and what comes from it, a byte more than ``limit`` at most; None of what is none."""
    if not has(value, "read"):
        return None
    with asking(value, word):
        content, name = map(own, (value.read(limit + 1), getattr(value, "name", None)))  # type: ignore[attr-defined]
    if not is_a(content, str | bytes):
        raise UsageError(Argument(word), f": {shown(value)} gives no text")
    held = content.encode("utf-8", "surrogatepass") if is_a(content, str) else bytes.__getitem__(content, slice(None))
    return name if is_a(name, str) else word, held


# ----------------------------------------------------------------------------------------------------------------------
# Switches, counts and functions


def flag(value: object, word: str) -> bool:
    """True or False."""
    if not is_a(value, bool | np.bool_):
        raise UsageError(Argument(word), f": True or False is wanted, not {shown(value)}")
    return bool(value)


def count(value: object, word: str, least: int, most: int) -> int:
    """An integer within bounds; no float, also where it is whole."""
    whole = is_a(value, int | np.integer) and not is_a(value, bool | np.timedelta64)
    if not whole:
        raise UsageError(Argument(word), f": an integer from {least} to {most} is wanted, not {shown(value)}")
    number = int.__index__(value) if is_a(value, int) else np.generic.item(value)  # type: ignore[call-overload]
    if not least <= number <= most:
        raise UsageError(Argument(word), f" must be {least} to {most}, not {shown(number)}")
    return int(number)


def counts(value: object, word: str, least: int, most: int) -> list[int]:
    """Integers within bounds."""
    return [count(each, word, least, most) for each in entries(value, word)]


def progress(value: object) -> Progress:
    """What is told the share that is done."""
    if value is unheeded:
        return unheeded
    if not callable(value):
        raise UsageError(f"progress: a function of the share that is done is wanted, not {shown(value)}")
    # Of what is not written in Python, nobody may know the signature.
    with asking(value, "progress"), suppress(ValueError):
        try:
            inspect.signature(value).bind(1.0)
        except TypeError as error:
            raise UsageError(
                f"progress: a function of the share that is done, one number, is wanted: {error}"
            ) from None
    return value


# ----------------------------------------------------------------------------------------------------------------------
# Lists and mappings


def is_list(value: object) -> bool:
    """Whether a value is one of several entries in their order: not text, bytes, a set or a mapping."""
    return is_a(value, _LISTS) and not is_a(value, _NO_LISTS)


def is_plain_list(value: object) -> TypeGuard[list[Any] | tuple[Any, ...]]:
    """Whether a value is a list or a tuple itself."""
    kind = type(value)
    return kind is list or kind is tuple


def are_floats(values: Iterable[object]) -> bool:
    """Whether values, one at least, are floats themselves."""
    return set(map(id, map(type, values))) == _ONE_FLOAT


def entries(value: object, word: str) -> list[object]:
    """The entries of a list, a tuple or an array; texts among them are our own."""
    if is_plain_list(value) and len(value) <= ENTRY_LIMIT:
        return [own(each) for each in value]
    if not is_list(value):
        raise UsageError(Argument(word), f": a list is wanted, not {shown(value)}")
    demand_room(value, word)
    value = _base(value, word) if is_a(value, np.ndarray) else value
    if is_a(value, np.ndarray) and not value.ndim:
        raise UsageError(Argument(word), f": a list is wanted, not {shown(value)}")
    kind = type(value)
    if (is_plain_list(value) or kind is range or kind is np.ndarray) and len(value[ENTRY_LIMIT : ENTRY_LIMIT + 1]):  # type: ignore[index]
        raise UsageError(Argument(word), f": more than {ENTRY_LIMIT} entries")
    return [own(each) for each in _taken(value, word)]


def _taken(value: object, word: str, ask: Callable[[Any], Iterable[object]] = iter) -> list[Any]:
    """What a caller's object gives one by one; what never ends is found out."""
    with asking(value, word):
        found = list(islice(ask(value), ENTRY_LIMIT + 1))
    if len(found) > ENTRY_LIMIT:
        raise UsageError(Argument(word), f": more than {ENTRY_LIMIT} entries")
    return found


def is_named(value: object) -> bool:
    """Whether a value has entries by name: a mapping, or what has keys and items as one (those of pandas)."""
    return is_a(value, Mapping) or has(value, "keys", "items")


def pairs(value: object, word: str) -> dict[str, object]:
    """The entries of a mapping by their names, the columns of a table; texts among them are our own."""
    if not is_named(value):
        raise UsageError(Argument(word), f": values by name are wanted, like {{'name': ...}}, not {shown(value)}")
    found: dict[str, object] = {}
    for key, entry in _taken(value, word, lambda held: ((name, each) for name, each in held.items())):
        name = text(key, f"a name in {word}")
        if name in found:
            raise UsageError(Argument(word), f": {quote(name)} is given twice")
        found[name] = own(entry)
    return found


def plain(value: object, word: str, depth: int = 3) -> Any:
    """Text, numbers, switches, and lists and mappings of them, as plain Python has them: what can be sent and compared.

    None stays None; numbers are finite.
    """
    demand_room(value, word, depth, ENTRY_LIMIT)
    return _plain(value, word, depth)


def _plain(value: object, word: str, depth: int) -> Any:
    if value is None or is_a(value, str):
        return value if value is None else text(value, word)
    if is_a(value, bool | np.bool_):
        return bool(value)
    if is_a(value, int) and int.bit_length(value) < 64:
        return int.__index__(value)
    if depth and is_named(value):
        return {name: _plain(each, word, depth - 1) for name, each in pairs(value, word).items()}
    if depth and is_list(value) and not (is_a(value, np.ndarray) and not _base(value, word).ndim):
        return [_plain(each, word, depth - 1) for each in entries(value, word)]
    return number(value, {}, word)


def plain_column(value: object, word: str) -> list[Any]:
    """The same of a list in many of whose entries the same words stand."""
    demand_room(value, word, 4, ENTRY_LIMIT)
    given = entries(value, word)
    words = dict.fromkeys(each for each in given if type(each) is str)
    known = {each: text(each, word) for each in words}
    return [known[each] if type(each) is str else _plain(each, word, 3) for each in given]


# ----------------------------------------------------------------------------------------------------------------------
# Numbers


def number(value: object, known: Known, word: str) -> float:
    """A finite number, or the value of an expression over parameters."""
    if type(value) is float and math.isfinite(value):
        return value + 0.0  # no -0.0
    if is_a(value, str):
        return _evaluated(str.__str__(value), known, word)
    if is_a(value, np.ndarray):
        held = _base(value, word)
        if held.ndim or is_a(held[()], np.ndarray):
            _refuse(value, word)
        return number(held[()], known, word)
    if is_a(value, np.generic) and np.generic.dtype.__get__(value).kind not in "iuf":
        _refuse(value, word)
    if is_a(value, bool) or not is_a(value, Real | Decimal):
        _refuse(value, word)
    try:
        with np.errstate(all="ignore"):
            made = _as_float(value)
    except OverflowError:
        made = math.inf
    except Exception:
        _refuse(value, word)
    if not math.isfinite(made):
        raise UsageError(Argument(word), f": {shown(value)} is not a finite number in double precision")
    return made + 0.0


def _refuse(value: object, word: str) -> NoReturn:
    raise UsageError(Argument(word), f": {shown(value)} is not a number") from None


def _base(value: npt.NDArray[Any], word: str) -> npt.NDArray[Any]:
    """An array without the ways of a subclass."""
    with asking(value, word):
        if type(value) is not np.ndarray and np.ma.is_masked(value):
            raise UsageError(Argument(word), ": masked entries have no value: fill them")
        return np.asarray(value)


def numbers_and_mask(value: object, word: str) -> tuple[object, npt.NDArray[np.bool_] | None]:
    """What an array holds, under its mask, too, and what the mask hides; None where it has none."""
    if not is_a(value, np.ma.MaskedArray):
        return value, None
    held = np.ndarray.view(value, np.ndarray)
    with asking(value, word):
        return held, np.broadcast_to(np.asarray(np.ma.getmask(value), dtype=bool), held.shape)


def complex_number(value: object, word: str) -> complex:
    """A finite number that may be complex."""
    if is_a(value, np.complexfloating):
        with np.errstate(all="ignore"):
            value = np.generic.astype(value, np.complex128)
    if not is_a(value, complex):
        return complex(number(value, {}, word))
    found = complex.__add__(value, 0j)
    if not cmath.isfinite(found):
        raise UsageError(Argument(word), f": {shown(found)} is not finite")
    return found


def _as_float(value: Real | Decimal) -> float:
    """By the types themselves where a subclass might answer otherwise."""
    if is_a(value, float):
        return float.__float__(value)
    return int.__float__(value) if is_a(value, int) else float(value)


def _evaluated(expression: str, known: Known, word: str) -> float:
    try:
        return evaluate(parse(expression), {name: bound for name, bound in known.items() if bound is not None})
    except ExpressionError as error:
        raise UsageError(Argument(word), f": {error.of(expression)}") from None


def expressions(value: object, word: str) -> dict[str, str]:
    """Numbers and expressions by name, as text."""
    found = {}
    for name, each in pairs(value, f"{word}s").items():
        of = f"{word} {quote(name)[1:-1]}"
        if not is_a(each, str | Real | Decimal | np.ndarray):
            raise UsageError(f"{of}: {shown(each)} is neither a number nor an expression")
        found[name] = text(each, of) if is_a(each, str) else repr(number(each, {}, of))
    return found


def positive(value: object, known: Known, word: str) -> float:
    """A number greater than 0."""
    found = number(value, known, word)
    if found <= 0:
        raise UsageError(Argument(word), f" must be positive, not {found:g}")
    return found


def share(value: object, known: Known, word: str) -> float:
    """A number between 0 and 1."""
    found = positive(value, known, word)
    if found >= 1:
        cure = f": {found:g} % is {found / 100:g}" if found < 100 else ""
        raise UsageError(Argument(word), f" is a share, between 0 and 1, not {found:g}{cure}")
    return found


def numbers(row: object, known: Known, word: str, sizes: tuple[int, ...]) -> list[float]:
    """So many numbers."""
    wanted = f": {' or '.join(map(str, sizes))} numbers are wanted, not"
    if not is_list(row):
        raise UsageError(Argument(word), f"{wanted} {shown(row)}")
    found = entries(row, word)
    if len(found) not in sizes:
        raise UsageError(Argument(word), f"{wanted} {len(found)}")
    return [float(each) for each in array(found, known, word, 1)]


def array(value: object, known: Known, word: str, depth: int = 2) -> Array:
    """A number, or equally long rows of them down to a depth, as an array of its own.

    Rows are lists, arrays or what else NumPy takes for an array. What is masked, complex or not finite is refused.
    """
    if (made := _of_floats(value, depth)) is not None:
        return made
    demand_room(value, word, depth)
    return _array(value, known, word, depth)


def _array(value: object, known: Known, word: str, depth: int) -> Array:
    if (made := _of_floats(value, depth)) is not None:
        return made
    plain = value if is_list(value) else array_like(value, word)
    if is_a(plain, np.ndarray):
        demand_room(plain, word)
        plain = _base(plain, word)
        if plain.ndim > depth:
            raise UsageError(Argument(word), f": numbers or columns of numbers are wanted, not {shown(plain)}")
        if plain.dtype.kind in "iuf":
            with np.errstate(all="ignore"):
                made = plain.astype(np.float64) + 0.0
            if not np.isfinite(made).all():
                raise UsageError(Argument(word), ": a value is not finite in double precision")
            return made
    if not is_list(plain) or (is_a(plain, np.ndarray) and not plain.ndim):
        return np.array(number(plain, known, word))
    if not depth:
        raise UsageError(Argument(word), ": numbers are wanted, not lists of them")
    rows = [_array(each, known, word, depth - 1) for each in entries(plain, word)]
    if len({row.shape for row in rows}) > 1:
        raise UsageError(Argument(word), ": rows of equally many numbers are wanted")
    return np.array(rows, dtype=np.float64)


def demand_room(value: object, word: str, depth: int = 0, most: int | None = None) -> None:
    """Raise UsageError for more numbers than are taken, ``most`` or NUMBER_LIMIT, before they are copied.

    Those of an array, and of rows of them down to a depth: neither it nor rows that are one row take any memory.
    """
    most = NUMBER_LIMIT if most is None else most
    if _extent(value, depth, most) > most:
        raise UsageError(Argument(word), f": {shown(value)} has more than {most} numbers")


def _extent(value: object, depth: int, most: int) -> int:
    """How many numbers a value has, at least 1; once there are more than ``most`` they are not counted any further."""
    if is_a(value, np.ndarray):
        size: int = np.ndarray.size.__get__(value)
        return max(1, size)
    kind = type(value)
    if not depth or not (is_plain_list(value) or kind is dict or kind is range):
        return 1
    rows: Collection[object] = value.values() if kind is dict else value  # type: ignore[attr-defined,assignment]
    if kind is range:
        return max(1, len(value[: most + 1]))  # type: ignore[index]
    if depth == 1:
        return max(1, len(rows))
    found = 0
    for each in rows:
        found += _extent(each, depth - 1, most)
        if found > most:
            break
    return max(1, found)


def _of_floats(value: object, depth: int) -> Array | None:
    """A float, or a list or an array of nothing else, as most values are; None where there is more to look at."""
    if type(value) is np.ndarray:
        if value.dtype is not _FLOAT64 or not 0 < value.ndim <= depth or value.size > NUMBER_LIMIT:
            return None
    elif type(value) is not float and not (
        depth and is_plain_list(value) and are_floats(value) and len(value) <= ENTRY_LIMIT
    ):
        return None
    made = np.array(value, dtype=np.float64) + 0.0
    return made if is_finite(made) else None


def array_like(value: object, word: str) -> object:
    """What says itself how it is an array (of pandas, of casadi, of an answer) as an array, all else as it is."""
    with asking(value, word):
        if is_a(value, np.generic | str | Mapping) or not hasattr(type(value), "__array__"):
            return value
        made = value if is_a(value, np.ndarray) else np.asarray(value)
    return _base(made, word)
