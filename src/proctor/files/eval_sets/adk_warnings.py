"""Values that Proctor reads and ADK refuses. (`keys.unknown_keys` reports the keys.)"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from enum import IntEnum
from typing import Any

from pydantic import BaseModel
from pydantic.alias_generators import to_snake

from proctor.files.text.problems import Path_
from proctor.files.text.validation_messages import Finding
from proctor.schema.format.case import EvalCase, SessionInput
from proctor.schema.format.content import FunctionCall
from proctor.schema.format.persona import UserBehavior, UserPersona
from proctor.schema.format.wire_model import to_camel

_REFUSED = "ADK refuses this file"
_CALL_WORDS = {
    "tool_name": "name", "toolName": "name", "tool_input": "args", "toolInput": "args", "arguments": "args",
    "function": "name` and `args",
}  # fmt: skip
_NOT_IN_ADK = frozenset({"opening"})  # ADK keeps these keys unread


def adk_refusals(model: BaseModel, value: Any, path: Path_ = ()) -> Iterator[Finding]:
    """Report the values for which ADK refuses `value`, from which `model` was read, except for unknown keys."""
    if not isinstance(value, dict):
        return  # a short form, such as the name of a persona
    yield from _other_keys(model, value, path)
    for name in type(model).model_fields:
        key = name if name in value else to_camel(name)
        if key in value and name not in _NOT_IN_ADK:
            yield from _in_value(getattr(model, name), value[key], (*path, key))


def adk_time_refusals(value: Any, path: Path_) -> Iterator[Finding]:
    """Report a time for which ADK refuses the file."""
    if value is None:
        yield Finding(path, f"null is read as not stated; {_REFUSED}", "leave the key out")
    elif isinstance(value, str) and not _is_number(value):
        yield Finding(path, f"a time as text; {_REFUSED}", "ADK reads seconds since 1970")


def _in_value(read: Any, given: Any, path: Path_) -> Iterator[Finding]:
    if given is None and read is not None:
        yield Finding(path, f"null is read as not stated; {_REFUSED}", "leave the key out")
    elif isinstance(read, BaseModel):
        yield from adk_refusals(read, given, path)
    elif isinstance(read, IntEnum) and isinstance(given, str):
        yield Finding(path, f"a status by its name; {_REFUSED}", f"ADK reads {read.value}")
    elif isinstance(read, float) and isinstance(given, str):
        yield from adk_time_refusals(given, path)
    elif isinstance(read, list) and isinstance(given, list):
        for index, (item, given_item) in enumerate(zip(read, given, strict=False)):
            yield from _in_value(item, given_item, (*path, index))
    elif isinstance(read, tuple):
        yield from _in_pair(read, given, path)
    elif isinstance(read, dict):
        yield from _in_dict(read, given, path)


def _in_pair(read: tuple[Any, ...], given: Any, path: Path_) -> Iterator[Finding]:
    if isinstance(given, dict):
        yield Finding(path, f"an object; {_REFUSED}", "ADK reads a pair `[author, parts]`")
    elif len(given) == 2:
        yield from _in_value(read[1], given[1], (*path, 1))


def _in_dict(read: dict[str, Any], given: Any, path: Path_) -> Iterator[Finding]:
    if isinstance(given, str):
        yield Finding(path, f"arguments as JSON text; {_REFUSED}", "ADK reads an object")
        return
    for key, item in read.items():
        if isinstance(item, BaseModel):
            yield from adk_refusals(item, given.get(key), (*path, key))


def _other_keys(model: BaseModel, value: dict[str, Any], path: Path_) -> Iterator[Finding]:
    """Report keys that only Proctor accepts for a key of the format."""
    if isinstance(model, EvalCase) and "id" in value and not {"eval_id", "evalId"} & value.keys():
        yield Finding((*path, "id"), f"read as `eval_id`; {_REFUSED}", at_key=True)
    elif isinstance(model, SessionInput):
        for name in ("app_name", "user_id"):
            if name not in value and to_camel(name) not in value:
                hint = "Proctor uses its defaults; write the key for ADK"
                yield Finding(path, f"`{name}` is missing; {_REFUSED}", hint)
    elif isinstance(model, FunctionCall):
        for key in _CALL_WORDS.keys() & value.keys() - (model.model_extra or {}).keys():
            yield Finding((*path, key), f"read as `{_CALL_WORDS[key]}`; {_REFUSED}", at_key=True)
    elif isinstance(model, UserPersona | UserBehavior):
        for key in value:
            if (name := to_snake(key)) != key and name in type(model).model_fields:
                yield Finding(
                    (*path, key), f"ADK reads only `{name}` here and refuses this file", at_key=True
                )


def _is_number(text: str) -> bool:
    with suppress(ValueError):
        float(text)
        return True
    return False
