"""Dataclasses that are made in a thirtieth of the time.

``dataclasses`` compiles six functions for each, half a millisecond: of the two hundred that a first answer needs a
quarter of its time. Here they are closures, initializers, which are asked most, one code for all classes of a size, and
entries are taken as they stand, where ``dataclasses`` reads every annotation as text. What is made is a dataclass for
``fields``, ``replace`` and all others.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Sequence
from functools import cache
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, eq=True, repr=True, order=False, slots=False):
        """The decorator of ``dataclasses``. Those of slots that are not frozen are made there: instances of these are
        made a little faster, and where there are so many that slots tell, so does that.
        """
        if slots and not frozen:
            return dataclasses.dataclass(cls, eq=eq, repr=repr, order=order, slots=True)

        def decorate(cls):
            return _made(cls, frozen, eq, repr, order, slots)

        return decorate if cls is None else decorate(cls)


@dataclasses.dataclass(init=False, eq=False, repr=False)
class _Alike:
    """One of those of ``dataclasses``, for what all of them have alike, and all entries."""

    entry: object


_OF_CLASS = [(name, vars(_Alike)[name]) for name in ("__dataclass_params__", "__replace__") if name in vars(_Alike)]
_OF_INSTANCE = dataclasses.fields(_Alike)[0]._field_type  # type: ignore[attr-defined]


def _with_entries(cls: Any) -> Any:
    """A class with its entries as ``dataclasses`` has them, those of its bases first."""
    entries: dict[str, Any] = {}
    for base in reversed(cls.__mro__[1:]):
        entries |= vars(base).get("__dataclass_fields__", {})
    for name, kind in cls.__annotations__.items():
        if str(kind).partition("[")[0].endswith("ClassVar"):
            continue
        entry = vars(cls).get(name, dataclasses.MISSING)
        if not isinstance(entry, dataclasses.Field):
            entry = dataclasses.field(default=entry)
        elif entry.default is dataclasses.MISSING:
            delattr(cls, name)
        else:
            setattr(cls, name, entry.default)
        entry.name, entry.type, entry.kw_only, entry._field_type = name, kind, False, _OF_INSTANCE
        entries[name] = entry
    cls.__dataclass_fields__ = entries
    cls.__match_args__ = tuple(name for name, entry in entries.items() if entry.init)  # type: ignore[misc]
    for name, value in _OF_CLASS:
        setattr(cls, name, value)
    return cls


def _made(cls: type, frozen: bool, eq: bool, repr: bool, order: bool, slots: bool) -> type:
    own = set(vars(cls))
    plain = dataclasses.dataclass(init=False, eq=False, repr=False, slots=True) if slots else _with_entries
    made: Any = plain(cls)
    entries = dataclasses.fields(made)
    if slots:
        names = [entry.name for entry in entries]
        _put(made, own, "__getstate__", lambda self: tuple([getattr(self, name) for name in names]))
        _put(made, own, "__setstate__", _restorer(names))
    made.__init__ = _initializer(made, entries)
    if frozen:
        made.__setattr__ = made.__delattr__ = _refused
    compared = [entry for entry in entries if entry.compare]
    for comparison in ("eq",) * eq + ("lt", "le", "gt", "ge") * order:
        compare = _comparison(getattr(operator, comparison), _key([entry.name for entry in compared]))
        _put(made, own, f"__{comparison}__", compare)
    if eq and ("__hash__" not in own or ("__eq__" in own and vars(cls)["__hash__"] is None)):
        kept = [entry.name for entry in compared if entry.hash is not False]
        made.__hash__ = _hash(_key(kept)) if frozen else None
    if repr:
        _put(made, own, "__repr__", _shown([entry.name for entry in entries if entry.repr]))
    return made  # type: ignore[no-any-return]


def _put(made: type, own: set[str], name: str, function: Callable[..., object]) -> None:
    if name not in own:
        setattr(made, name, function)


def _initializer(made: Any, entries: tuple[dataclasses.Field[Any], ...]) -> Callable[..., None]:
    given = [entry for entry in entries if entry.init]
    names, nothing = [entry.name for entry in given], dataclasses.MISSING
    made_anew = [(entry.name, entry.default_factory) for entry in given if entry.default_factory is not nothing]
    ends: Callable[[object], None] | None = getattr(made, "__post_init__", None)
    if made_anew:
        ends = _filling(made_anew, ends)
    code = _code(len(names), ends is not None)
    called = dict(zip(code.co_varnames, ["self", *names], strict=True))
    code = code.replace(
        co_varnames=tuple(called.values()), co_consts=tuple(called.get(each, each) for each in code.co_consts)
    )
    usual = [_NOTHING if entry.default is nothing else entry.default for entry in given if _may_be_left_out(entry)]
    made_init = FunctionType(code, {"put": object.__setattr__, "ends": ends}, "__init__", tuple(usual))
    made_init.__qualname__ = f"{made.__qualname__}.__init__"
    return made_init


def _may_be_left_out(entry: dataclasses.Field[Any]) -> bool:
    return entry.default is not dataclasses.MISSING or entry.default_factory is not dataclasses.MISSING


# Stands for an entry that is made anew for each instance.
_NOTHING = object()


def _filling(made_anew: Sequence[tuple[str, Any]], ends: Callable[[object], None] | None) -> Callable[[object], None]:
    """What follows in an initializer where entries are made anew, if nothing is given for them."""

    def fill(self: object) -> None:
        for name, make in made_anew:
            if getattr(self, name) is _NOTHING:
                object.__setattr__(self, name, make())
        if ends is not None:
            ends(self)

    return fill


@cache
def _code(count: int, ends: bool) -> CodeType:
    """That of initializers of so many entries, which are still to be named: compiled once for all classes of a size.

    Entries are put one by one, since instances with a dictionary are slow to read.
    """
    names = [f"_{i}" for i in range(count)]
    steps = [*(f"put(self, {name!r}, {name})" for name in names), *["ends(self)"] * ends, "return"]
    whole = compile(f"def __init__({', '.join(['self', *names])}): {'; '.join(steps)}", __file__, "exec")
    return next(each for each in whole.co_consts if isinstance(each, CodeType))


def _restorer(names: list[str]) -> Callable[[object, Sequence[object]], None]:
    def __setstate__(self: object, state: Sequence[object]) -> None:
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)

    return __setstate__


def _refused(self: object, name: str, *value: object) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"{type(self).__qualname__} is frozen: {name!r} stays")


def _key(names: list[str]) -> Callable[[Any], tuple[object, ...]]:
    if len(names) > 1:
        return operator.attrgetter(*names)
    return lambda self: tuple([getattr(self, name) for name in names])


def _comparison(
    compare: Callable[[Any, Any], bool], key: Callable[[object], tuple[object, ...]]
) -> Callable[[object, object], Any]:
    return lambda self, other: compare(key(self), key(other)) if other.__class__ is self.__class__ else NotImplemented


def _hash(key: Callable[[object], tuple[object, ...]]) -> Callable[[object], int]:
    return lambda self: hash(key(self))


def _shown(names: list[str]) -> Callable[[object], str]:
    def __repr__(self: object) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return __repr__
