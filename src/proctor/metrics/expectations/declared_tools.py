"""Whether a call pattern can match any call, according to the agent's tool declarations.

Only certain contradictions are reported: none for schemas with alternatives or references, or objects with further keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from proctor.common.json_values import equal_json
from proctor.errors import did_you_mean
from proctor.metrics.expectations.call_patterns import ANY_TOOL, CallPattern
from proctor.metrics.matchers.base import ABSENT
from proctor.metrics.matchers.dates import SameMoment
from proctor.metrics.matchers.kinds import Exact, Json, Number, Pattern, SameSet, Subset, Text
from proctor.metrics.matchers.templates import Items, Matched, OneOf, Plain, Shape, Template
from proctor.metrics.reason_text import TYPE_WORDS, and_more, show_name, show_value
from proctor.metrics.structure.declarations import OF_FRAMEWORKS, Declaration, Tools, is_open

__all__ = ["declared_arguments", "undeclared_tools", "unmet_arguments"]

_CLASSES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int, float),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list, tuple),
    "null": (type(None),),
}
_UNSURE = frozenset({"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if"})
"""Keywords under which a value is not checked."""


def undeclared_tools(pattern: CallPattern, tools: Tools, known: Iterable[str] = ()) -> list[str]:
    """Return the tools of a pattern that are not declared, each with a hint; `known` tools exist as well."""
    existing = {*tools.names, *known}
    return [
        f"{name!r} ({hint})" if (hint := did_you_mean(name, existing).strip()) else repr(name)
        for name in pattern.tools
        if name != ANY_TOOL and name not in existing and name not in OF_FRAMEWORKS
    ]


def declared_arguments(tools: Tools, names: Iterable[str]) -> set[str]:
    """Return the names of all arguments that some tools declare."""
    schemas = (each.schema for name in names for each in tools.of(name, ""))
    properties = (schema.get("properties") for schema in schemas if isinstance(schema, Mapping))
    return {name for each in properties if isinstance(each, Mapping) for name in each}


def unmet_arguments(required: Mapping[str, Template], tools: Tools, names: Iterable[str]) -> str:
    """Return why no call of these tools can have the required arguments; empty if one of the tools can, or it is unknown."""
    problems = [_of_tool(each, required) for name in names for each in tools.of(name, "")]
    return problems[0] if problems and all(problems) else ""


def _of_tool(declared: Declaration, args: Mapping[str, Template]) -> str:
    for name, template in args.items():
        if problem := _of_key(declared.schema, name, template, ()):
            return f"{show_name(declared.name)} {problem}"
    return ""


def _of_key(schema: Any, name: str, template: Template, path: tuple[str, ...]) -> str:
    """Return what is wrong with one key of an object under `schema`."""
    if not isinstance(schema, Mapping) or not isinstance(schema.get("properties", {}), Mapping):
        return ""
    known = schema.get("properties", {})
    if name in known:
        return _of_value(known[name], template, (*path, name))
    if is_open(schema) or template.fits(ABSENT):
        return ""
    return f"declares no argument `{_place((*path, name))}`.{did_you_mean(name, known)}"


def _of_value(schema: Any, template: Template, path: tuple[str, ...]) -> str:
    if not isinstance(schema, Mapping) or schema.keys() & _UNSURE:
        return ""
    if isinstance(template, OneOf):
        problems = [_of_value(schema, each, path) for each in template.options]
        return problems[0] if all(problems) else ""
    if isinstance(template, Shape):
        return _of_type(schema, ("object",), "an object", path) or _of_keys(schema, template.keys, path)
    if isinstance(template, Items):
        return _of_type(schema, ("array",), "a list", path)
    if isinstance(template, Matched):
        return _of_matcher(schema, template, path)
    return _of_plain(schema, template.source, path)


def _of_matcher(schema: Mapping[str, Any], template: Matched, path: tuple[str, ...]) -> str:
    matcher = template.matcher
    if isinstance(matcher, Exact | Subset) or (isinstance(matcher, Json) and not matcher.parse):
        return _of_plain(schema, template.value, path)
    types: tuple[str, ...] = ()
    if isinstance(matcher, Pattern | Text | SameMoment):
        types = ("string",)
    elif isinstance(matcher, Number):
        types = ("integer", "number", *(["string"] if matcher.read_text else []))
    elif isinstance(matcher, SameSet):
        types = ("array",)
    return _of_type(schema, types, template.tell(), path) if types else ""


def _of_plain(schema: Any, value: Any, path: tuple[str, ...]) -> str:
    if not isinstance(schema, Mapping) or schema.keys() & _UNSURE:
        return ""
    types = [name for name in _CLASSES if _is(value, name)]
    if problem := _of_type(schema, types, show_value(value), path):
        return problem
    allowed = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if isinstance(allowed, list) and not any(equal_json(each, value) for each in allowed):
        hint = (
            did_you_mean(value, [each for each in allowed if isinstance(each, str)])
            if isinstance(value, str)
            else ""
        )
        choices = ", ".join(and_more([show_value(each) for each in allowed], 6))
        return f"declares `{_place(path)}` as one of {choices}, not {show_value(value)}.{hint}"
    if isinstance(value, Mapping):
        return _of_keys(schema, {name: Plain(each) for name, each in value.items()}, path)
    if isinstance(value, list | tuple) and "items" in schema:
        return next((problem for each in value if (problem := _of_plain(schema["items"], each, path))), "")
    return ""


def _of_keys(schema: Mapping[str, Any], keys: Mapping[str, Template], path: tuple[str, ...]) -> str:
    problems = (_of_key(schema, name, template, path) for name, template in keys.items())
    return next(filter(None, problems), "")


def _of_type(schema: Mapping[str, Any], types: Iterable[str], expected: str, path: tuple[str, ...]) -> str:
    """Return a problem if only values of these types fit, and none of the types is declared."""
    declared = schema.get("type")
    allowed = [declared] if isinstance(declared, str) else declared
    if not isinstance(allowed, list) or not {*allowed} <= _CLASSES.keys() or {*types} & {*allowed}:
        return ""
    words = " or ".join(TYPE_WORDS[each] for each in allowed)
    return f"declares `{_place(path)}` as {words}, not {expected}"


def _is(value: Any, name: str) -> bool:
    if isinstance(value, bool) and name != "boolean":
        return False
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _CLASSES[name])


def _place(path: Iterable[str]) -> str:
    return ".".join(map(show_name, path))
