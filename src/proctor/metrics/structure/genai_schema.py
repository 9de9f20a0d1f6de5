"""Schemas as Gemini takes them (`google.genai.types.Schema`, OpenAPI 3.0's) as JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["to_json_schema"]

_KEYWORDS = {
    "additional_properties": "additionalProperties",
    "all_of": "allOf",
    "any_of": "anyOf",
    "defs": "$defs",
    "exclusive_maximum": "exclusiveMaximum",
    "exclusive_minimum": "exclusiveMinimum",
    "max_items": "maxItems",
    "max_length": "maxLength",
    "max_properties": "maxProperties",
    "min_items": "minItems",
    "min_length": "minLength",
    "min_properties": "minProperties",
    "multiple_of": "multipleOf",
    "one_of": "oneOf",
    "pattern_properties": "patternProperties",
    "prefix_items": "prefixItems",
    "ref": "$ref",
    "unique_items": "uniqueItems",
}
_LEFT_OUT = frozenset({"example", "property_ordering", "propertyOrdering", "nullable"})
_COUNTS = frozenset(
    {"maxItems", "minItems", "maxLength", "minLength", "maxProperties", "minProperties"}
)  # 64-bit numbers, which JSON of protocol buffers writes as text
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_LISTED = frozenset({"anyOf", "allOf", "oneOf", "prefixItems"})
_SINGLE = frozenset({"items", "additionalProperties", "not", "contains", "propertyNames"})


def to_json_schema(schema: Any) -> Any:
    """The same schema in the words of JSON Schema; what is JSON Schema already stays as it is.

    Types in capitals become small, `nullable` a type, keys their camelCase; keys that are null are left out.
    """
    if isinstance(schema, list):
        return [to_json_schema(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    made: dict[str, Any] = {}
    for key, value in dict[str, Any](schema).items():
        keyword: str = _KEYWORDS.get(key, key)
        if value is not None and keyword not in _LEFT_OUT:
            made[keyword] = _value(keyword, value)
    if made.get("type") == "type_unspecified":
        del made["type"]
    return _with_null(made) if schema.get("nullable") else made


def _value(keyword: str, value: Any) -> Any:
    if keyword == "type":
        return [str(each).lower() for each in value] if isinstance(value, list) else str(value).lower()
    if keyword in _NAMED and isinstance(value, Mapping):
        return {name: to_json_schema(each) for name, each in value.items()}
    if keyword in _LISTED or keyword in _SINGLE:
        return to_json_schema(value)
    if keyword in _COUNTS and isinstance(value, str) and value.isdecimal():
        return int(value)
    return value


def _with_null(made: dict[str, Any]) -> dict[str, Any]:
    """The same schema, and null."""
    if isinstance(made.get("type"), str):
        made["type"] = [made["type"], "null"]
    if "enum" in made:
        made["enum"] = [*made["enum"], None]
    if "anyOf" in made:
        made["anyOf"] = [*made["anyOf"], {"type": "null"}]
    return made
