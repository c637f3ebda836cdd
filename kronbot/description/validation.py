"""Validators of frozen dataclasses, read off their types.

The work is done by the core of pydantic, which needs a description of the types. Reading it off them here takes a
hundredth of a second; pydantic itself, which does it for any type there is, takes a tenth to import and do it.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Annotated, Any, Generic, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from pydantic_core import CoreSchema, SchemaValidator, ValidationError, core_schema

T = TypeVar("T")


@dataclass(frozen=True)
class Field:
    """What a key means, and its name in the file where that is no name in Python."""

    description: str
    alias: str = ""


@dataclass(frozen=True)
class Check:
    """A value is what ``function(value, parameters)`` makes of it; where it is wrong that raises ValueError."""

    function: Callable[[Any, Mapping[str, float | None]], object]


@dataclass(frozen=True)
class Tag:
    """The name of one member of a union."""

    name: str


@dataclass(frozen=True)
class Choice:
    """Which member of a union is meant: the tag that ``by`` finds for the value, or the content of the key ``by``."""

    by: str | Callable[[Any], str]


class Validator(Generic[T]):
    """Makes instances of a dataclass out of plain mappings, lists and scalars."""

    def __init__(self, made: type[T]) -> None:
        self._core = SchemaValidator(_of_dataclass(made, {}))

    def __call__(
        self, data: object, parameters: Mapping[str, float | None]
    ) -> tuple[T | None, tuple[Mapping[str, Any], ...]]:
        """The instance, or None and every fault of shape and type: where (``loc``), of which ``type``, and its ``ctx``.

        ``parameters`` is handed to every Check.
        """
        try:
            return self._core.validate_python(data, context=parameters), ()
        except ValidationError as error:
            faults = error.errors(include_url=False, include_input=False)
            return None, cast("tuple[Mapping[str, Any], ...]", tuple(faults))


def _of_dataclass(made: type, known: dict[type, CoreSchema]) -> CoreSchema:
    if made not in known:
        hints = get_type_hints(made, include_extras=True)
        entries = []
        for entry in fields(made):
            schema = _of(hints[entry.name], known)
            if entry.default is not MISSING:
                schema = core_schema.with_default_schema(schema, default=entry.default)
            elif entry.default_factory is not MISSING:
                schema = core_schema.with_default_schema(schema, default_factory=entry.default_factory)
            field = next((said for said in hints[entry.name].__metadata__ if isinstance(said, Field)), Field(""))
            entries.append(core_schema.dataclass_field(entry.name, schema, validation_alias=field.alias or None))
        known[made] = core_schema.dataclass_schema(
            made,
            core_schema.dataclass_args_schema(made.__name__, entries),
            [entry.name for entry in fields(made)],
            config=core_schema.CoreConfig(extra_fields_behavior="forbid"),
        )
    return known[made]


def _of(hint: Any, known: dict[type, CoreSchema]) -> CoreSchema:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        for said in hint.__metadata__:
            if isinstance(said, Check):
                return _checked(said)
            if isinstance(said, Choice):
                return _union(said, get_args(arguments[0]), known)
        return _of(arguments[0], known)
    if origin in (Union, types.UnionType):
        one, none = arguments
        assert none is types.NoneType, "a union needs a Choice"
        return core_schema.nullable_schema(_of(one, known))
    if origin is Literal:
        return core_schema.literal_schema(list(arguments))
    if origin is dict:
        return core_schema.dict_schema(core_schema.str_schema(), _of(arguments[1], known))
    if origin is tuple and arguments[-1] is Ellipsis:
        return core_schema.tuple_schema([_of(arguments[0], known)], variadic_item_index=0)
    if origin is tuple:
        return core_schema.tuple_schema([_of(each, known) for each in arguments])
    assert is_dataclass(hint), f"no validator for {hint!r}"
    return _of_dataclass(cast("type", hint), known)


def _checked(check: Check) -> CoreSchema:
    return core_schema.with_info_plain_validator_function(lambda value, info: check.function(value, info.context))


def _union(choice: Choice, members: tuple[Any, ...], known: dict[type, CoreSchema]) -> CoreSchema:
    choices = {tag: _of(member, known) for member in members for tag in _tags(choice, member)}
    return core_schema.tagged_union_schema(choices, choice.by)


def _tags(choice: Choice, member: Any) -> tuple[str, ...]:
    """The tag of a member, or what the key that chooses it may hold."""
    if isinstance(choice.by, str):
        return cast("tuple[str, ...]", get_args(get_args(get_type_hints(member, include_extras=True)[choice.by])[0]))
    return tuple(said.name for said in member.__metadata__ if isinstance(said, Tag))
