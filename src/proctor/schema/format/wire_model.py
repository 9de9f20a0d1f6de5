"""The bases of Proctor's models: of the file format (`WireModel`) and of pages (`PageModel`).

A wire model is lenient in reading (snake_case or camelCase, unknown keys preserved in order, models of other libraries
accepted) and strict in writing (snake_case, the same omissions as the format's own writer).
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, TypeVar, get_args

from pydantic import (
    AliasGenerator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetCoreSchemaHandler,
    ValidationError,
    ValidationInfo,
)
from pydantic_core import PydanticCustomError, core_schema

_MILLISECONDS_FROM = 1e11  # as seconds this is the year 5138, as milliseconds March 1973
_MILLISECONDS_TO = 1e14  # in seconds below the line above, so that a converted value reads the same again
_TO_STANDARD_ALPHABET = str.maketrans("-_", "+/")

Path = tuple[str | int, ...]
Field = TypeVar("Field")


def to_camel(name: str) -> str:
    """Return the camelCase of a field's name, as pydantic's function does for simple names, in a quarter of the time."""
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def either(fields: Mapping[str, Field], name: str) -> Field | None:
    """Return a field by its camelCase or its snake_case name."""
    field = fields.get(to_camel(name))
    return fields.get(name) if field is None else field


WRITTEN_IN_SNAKE_CASE = AliasGenerator(validation_alias=to_camel, serialization_alias=str)
"""For models whose keys are written in snake_case by alias, too (EvalSet, personas); both spellings are read."""


class PathError(ValueError):
    """An error in a document with its location: `path` is the keys and indices that lead to it, for files to map to a line.

    `also`: the other errors of the same document.
    """

    def __init__(self, message: str, path: Path, *, also: tuple[PathError, ...] = ()) -> None:
        super().__init__(f"{'.'.join(map(str, path)) or 'document'}: {message}")
        self.path = path
        self.message = message
        self.also = also


class UnknownKeys(set[tuple[type[BaseModel], str]]):
    """The validation context that collects each unknown key with its model: walking through the models would cost far more.

    A union branch that did not match may have contributed some, too.
    """


def _unknown_key(model: type[BaseModel]) -> core_schema.CoreSchema:
    """Return the schema of an unknown key: it rejects a field that is already set in the other spelling, as writing would lose it."""
    fields = {spelling: name for name in model.model_fields for spelling in (name, to_camel(name))}

    def check(key: str, info: ValidationInfo) -> str:
        if isinstance(info.context, UnknownKeys):
            info.context.add((model, key))
        if key in fields:
            name = fields[key]
            raise PydanticCustomError(
                "given_twice",
                "expected {field} once, got it in both spellings ({field} and {camel})",
                {"field": name, "camel": to_camel(name)},
            )
        return key

    return core_schema.with_info_after_validator_function(check, core_schema.str_schema())


class WireModel(BaseModel):
    """Base of every model that is read from or written to a file of the format.

    Both spellings of each field are accepted at every level; keys that the model does not know are kept in order in
    `model_extra` and written back. Objects of other pydantic libraries with the same fields (`google.genai.types`,
    google-adk's own models) are accepted wherever ours are and are copied.
    """

    model_config = ConfigDict(
        extra="allow",
        alias_generator=to_camel,
        populate_by_name=True,
        protected_namespaces=(),
        allow_inf_nan=False,
        ser_json_bytes="base64",
        val_json_bytes="base64",
        defer_build=True,
    )
    before_first_object: ClassVar[list[Callable[[], None]]] = []
    """Functions that are called once, before the first object of the class or of a subclass is read."""

    def __init__(self, /, **data: Any) -> None:
        try:
            self.__pydantic_validator__.validate_python(data, self_instance=self)
            return
        except ValidationError:
            plain = plain_data(data)
            if plain is data:  # no foreign objects in it: the error is the caller's
                raise
        self.__pydantic_validator__.validate_python(plain, self_instance=self)

    # pydantic checks for this mark: it may fill nested models itself instead of calling this method for each of them
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]  # functions take attributes; mypy does not know this one

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        """Add a check of unknown keys; without unknown keys it costs nothing."""
        while cls.before_first_object:
            cls.before_first_object.pop()()
        schema = handler(source)
        inner: Any = handler.resolve_ref_schema(schema)
        while inner["type"] != "model-fields":
            inner = inner["schema"]
        if cls.model_config.get("extra") == "allow":
            inner["extras_keys_schema"] = _unknown_key(cls)
        return schema

    @classmethod
    def model_validate(cls, obj: Any, **options: Any) -> Self:
        """Validate as pydantic does; `obj` may also be, or contain, objects of other pydantic libraries."""
        if not isinstance(obj, WireModel):
            try:
                return super().model_validate(obj, **options)
            except ValidationError:
                plain = plain_data(obj)
                if plain is obj:
                    raise
            return super().model_validate(plain, **options)
        return super().model_validate(obj, **options)

    if not TYPE_CHECKING:  # otherwise a type checker would assume that every attribute exists

        def __getattr__(self, name: str) -> Any:
            """Compute on first access what `maker` leaves empty, because it is rarely read."""
            if name == "__pydantic_fields_set__":
                value = _stated_when_made(self)
            elif name == "__pydantic_private__":
                value = None
            else:
                return super().__getattr__(name)
            object.__setattr__(self, name, value)
            return value

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Return only non-null fields: most fields of most objects are null."""
        for name, value in super().__repr_args__():
            if value is not None:
                yield name, value


ALWAYS_STATED: dict[type[WireModel], frozenset[str]] = {}
"""The fields of unvalidated models that count as set, even with their default."""


def _stated_when_made(model: WireModel) -> set[str]:
    always, fields = ALWAYS_STATED.get(type(model), frozenset()), type(model).model_fields
    return {
        name
        for name, value in model.__dict__.items()
        if name in always or (value is not None and value != fields[name].default)
    }


def plain_data(value: Any) -> Any:
    """Return `value` with every pydantic object that is not a WireModel replaced by a dict of its content.

    Returns the identical object if there is nothing to replace. Enum members become their values.
    """
    if isinstance(value, BaseModel):
        return value if isinstance(value, WireModel) else _stated_fields(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        converted = {key: plain_data(item) for key, item in value.items()}
        return converted if any(converted[key] is not value[key] for key in value) else value
    if isinstance(value, list | tuple):
        items = [plain_data(item) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    return value


def _stated_fields(model: BaseModel) -> dict[str, Any]:
    names = model.model_fields_set
    fields = {
        name: value
        for name in type(model).model_fields
        if (value := getattr(model, name)) is not None or name in names
    }
    fields.update(model.model_extra or {})
    return {name: plain_data(value) for name, value in fields.items()}


def unknown_keys(model: BaseModel, path: Path = ()) -> Iterator[tuple[Path, BaseModel]]:
    """Yield every key below `model` that its model does not define: (path to the key, its model), in file order.

    Paths use field names in snake_case as the models have them.
    """
    for key in model.model_extra or ():
        yield (*path, key), model
    values = model.__dict__
    for name in _fields_with_models(type(model)):
        if values.get(name) is not None:
            yield from _unknown_below(values[name], (*path, name))


@lru_cache(maxsize=1000)
def _fields_with_models(model: type[BaseModel]) -> tuple[str, ...]:
    """Return the fields of a model that may contain models; most contain texts and numbers."""
    return tuple(name for name, field in model.model_fields.items() if _may_hold_models(field.annotation))


def _may_hold_models(annotation: Any) -> bool:
    if isinstance(annotation, type) and not get_args(annotation):
        return annotation is object or issubclass(annotation, BaseModel)
    inner = get_args(annotation)
    return (
        any(_may_hold_models(one) for one in inner if one is not Any)
        if inner
        else not isinstance(annotation, type)
    )


def _unknown_below(value: Any, path: Path) -> Iterator[tuple[Path, BaseModel]]:
    if isinstance(value, BaseModel):
        yield from unknown_keys(value, path)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _unknown_below(item, (*path, index))
    elif isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, BaseModel):
                yield from unknown_keys(item, (*path, str(key)))


def _read_bytes(value: Any) -> bytes:
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    if not isinstance(value, str):
        raise PydanticCustomError("bytes_type", "expected bytes as base64 text")
    text = value.translate(_TO_STANDARD_ALPHABET).rstrip("=")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise PydanticCustomError(
            "bytes_base64", "expected bytes as base64 text (either alphabet, padding optional)"
        ) from None


def _read_timestamp(value: Any) -> Any:
    if value is None:
        return 0.0
    if isinstance(value, str):
        return _read_time_text(value)
    if isinstance(value, int | float) and _MILLISECONDS_FROM <= abs(value) < _MILLISECONDS_TO:
        return value / 1000
    return value


def _read_time_text(text: str) -> float:
    try:
        return float(_read_timestamp(float(text)))
    except ValueError:
        pass
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        raise PydanticCustomError(
            "timestamp",
            "expected a time as seconds since 1970, milliseconds, or text such as 2026-01-31T12:00:00Z",
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=dt.UTC)
    return moment.timestamp()


def _read_ratio(value: Any) -> Any:
    match = re.fullmatch(r"\s*(\d{1,6})\s*/\s*(\d{1,6})\s*", value) if isinstance(value, str) else None
    return int(match[1]) / int(match[2]) if match and int(match[2]) else value


def _null_is_empty(kind: type) -> BeforeValidator:
    return BeforeValidator(lambda value: kind() if value is None else value)


Base64Bytes = Annotated[bytes, BeforeValidator(_read_bytes)]
"""Bytes; in text: base64 in either alphabet, padded or not; written URL-safe with padding."""

Timestamp = Annotated[float, BeforeValidator(_read_timestamp)]
"""Seconds since 1970; milliseconds (1e11 and more) and RFC 3339 text are read too (no zone: UTC); null is 0."""

Ratio = Annotated[float, BeforeValidator(_read_ratio)]
"""A number, or the text of a fraction such as `"2/3"`, which rounding to 0.67 would change."""

NULL_IS_EMPTY_LIST = _null_is_empty(list)
NULL_IS_EMPTY_DICT = _null_is_empty(dict)


# --- Construction without validation: a fifth of the cost, only for valid values and for objects of which every trial has many ---

Model = TypeVar("Model", bound=WireModel)

# The four slots of a model. Writing to them through their descriptors is the fastest way around pydantic's `__setattr__`.
# `event` uses two of them as well; the other two may stay empty.
put_fields = BaseModel.__dict__["__dict__"].__set__
WAITING_ROOM: Any = BaseModel.__dict__["__pydantic_fields_set__"]
"""A slot that may stay empty: a lazy event stores its recipe there."""
_put_stated = WAITING_ROOM.__set__
put_unknown = BaseModel.__dict__["__pydantic_extra__"].__set__
_new = object.__new__


def maker(model: type[Model], *set_fields: str) -> Callable[[dict[str, Any]], Model]:
    """Return a function that builds a `model` from a dict with a value for each of its fields, in their order.

    `set_fields` are the fields that count as set, even with their default (all fields if none is named); any other field
    counts as set if its value is not its default. The model takes ownership of the dict. Two of a model's four slots
    stay empty until first access (see `WireModel.__getattr__`), which saves a third.
    """
    count_as_given(model, set_fields or model.model_fields)
    new = model.__new__

    def make(fields: dict[str, Any]) -> Model:
        instance = new(model)
        put_fields(instance, fields)
        put_unknown(instance, {})
        return instance

    return make


def count_as_given(model: type[WireModel], set_fields: Iterable[str]) -> None:
    """Make fields count as set in models that are built here, even with their default; see `maker`."""
    names = frozenset(set_fields)
    ALWAYS_STATED[model] = names & ALWAYS_STATED.get(model, names)


def twin(model: Model, **changes: Any) -> Model:
    """Return a shallow copy with other values of some fields, which are not validated: setting a field of one does not change the other.

    The set of fields that count as set is computed on access, as for `maker`; with unknown fields it is copied.
    """
    copy = _new(type(model))
    put_fields(copy, {**model.__dict__, **changes})
    if unknown := model.__pydantic_extra__:
        put_unknown(copy, unknown.copy())
        _put_stated(copy, {*model.__pydantic_fields_set__, *changes})
    else:
        put_unknown(copy, {})
    return copy


def defaults(model: type[WireModel]) -> dict[str, Any]:
    """Return every field of `model` with its default, in order; copy and complete the dict for `maker`.

    A default that is created for each object (a list) is null here.
    """
    return {name: field.get_default() for name, field in model.model_fields.items()}


# --- Pages -----------------------------------------------------------------------------------------------------------


class PageModel(BaseModel):
    """Base of every part of a page and of `--json`. Every field is always present; an unknown value is null."""

    model_config = ConfigDict(extra="forbid", json_schema_serialization_defaults_required=True)
