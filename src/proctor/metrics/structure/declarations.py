"""The tools that an agent declares, read from the evidence in every form in which frameworks write declarations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from proctor.errors import did_you_mean
from proctor.metrics.base import CaseView
from proctor.schema.format.invocation import AppDetails

FRAMEWORK_CALLS = frozenset({"adk_request_confirmation", "adk_request_credential", "adk_request_input"})
"""Calls with which google-adk asks the user; no model makes them, and no agent declares them."""
OF_FRAMEWORKS = FRAMEWORK_CALLS | {"set_model_response", "transfer_to_agent"}
"""Tools that google-adk adds itself; no agent declares them before it runs."""
OPEN = frozenset(
    {"$ref", "additionalProperties", "allOf", "anyOf", "dependentSchemas", "if", "oneOf", "patternProperties", "unevaluatedProperties"}
)  # fmt: skip
"""Keywords besides `properties` that allow or restrict further ones."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """One tool of an agent."""

    name: str
    schema: object = None
    """The JSON Schema of its arguments, an object; `None` if the declaration has none."""
    agent: str = ""
    """The agent that has the tool; empty if unknown."""


@dataclass(frozen=True, slots=True)
class Tools:
    """All declared tools by name; several agents may declare the same name."""

    by_name: Mapping[str, Sequence[Declaration]]

    @property
    def names(self) -> list[str]:
        """Every name, as declared."""
        return [*self.by_name]

    def of(self, name: str | None, author: str) -> Sequence[Declaration]:
        """Return the declarations of a tool: that of the agent which called it, or else those of all agents."""
        of_all = self.by_name.get(name or "", ())
        own = [each for each in of_all if author and each.agent == author]
        return own or of_all


def tools_of(case: CaseView, index: int, declarations: Sequence[Declaration]) -> Tools | None:
    """Return the tools that existed in turn `index`; `None` if nothing declares them.

    They come from `app_details` of the turn, then of the trial (the agent's `describe()`), and from the criterion.
    """
    recorded = case.trial.app_details if case.trial is not None else None
    details = [AppDetails.model_validate(each) for each in (case.actual[index].app_details, recorded) if each]
    is_declared = bool(declarations) or any(each.agent_details for each in details)
    return tools_in(details, declarations) if is_declared else None


def tools_of_trial(case: CaseView, declarations: Iterable[Declaration] = ()) -> Tools:
    """Return all tools that are declared in any turn of a trial or in `declarations`."""
    recorded = case.trial.app_details if case.trial is not None else None
    return tools_in([recorded, *(turn.app_details for turn in case.actual)], declarations)


def tools_in(
    details: Iterable[AppDetails | Mapping[str, object] | None], declarations: Iterable[Declaration] = ()
) -> Tools:
    """Return all tools in descriptions of agents and in `declarations`."""
    tools = [*declarations]
    for each in filter(None, details):
        for name, agent in AppDetails.model_validate(each).agent_details.items():
            tools += read_declarations(agent.tool_declarations, agent=agent.name or name)
    return _group_by_name(tools)


def is_open(schema: Mapping[str, object]) -> bool:
    """Return whether an object under this schema may have undeclared keys, or the schema does not determine it."""
    return "properties" not in schema or any(
        keyword in schema and not (keyword == "additionalProperties" and schema[keyword] is False)
        for keyword in OPEN
    )


def _group_by_name(declarations: Iterable[Declaration]) -> Tools:
    """Group by name; of several declarations of an agent's tool, the first with a schema counts."""
    by_name: dict[str, list[Declaration]] = {}
    for each in declarations:
        same = by_name.setdefault(each.name, [])
        place = next((at for at, other in enumerate(same) if other.agent == each.agent), None)
        if place is None:
            same.append(each)
        elif same[place].schema is None:
            same[place] = each
    return Tools(by_name)


def read_declarations(entries: Iterable[object], *, agent: str = "") -> Iterator[Declaration]:
    """Yield the tools in a list of declarations.

    Accepted are `{"function_declarations": [...]}` (Gemini), `{"type": "function", "function": {...}}` (OpenAI), single
    declarations `{"name", "parameters" | "parameters_json_schema" | "input_schema" | "inputSchema"}` (Anthropic, MCP),
    pydantic models of these, and plain names. An entry without a name (a built-in tool of a model) is left out.
    """
    for each in entries:
        entry = each.model_dump(mode="json", exclude_none=True) if hasattr(each, "model_dump") else each
        if isinstance(entry, str):
            yield Declaration(entry, agent=agent)
        elif isinstance(entry, Mapping):
            nested = entry.get("function_declarations") or entry.get("functionDeclarations")
            if isinstance(nested, list):
                yield from read_declarations(nested, agent=agent)
            elif isinstance(entry.get("function"), Mapping):
                yield from read_declarations([entry["function"]], agent=agent)
            elif isinstance(entry.get("name"), str):
                yield Declaration(entry["name"], _schema(entry), agent)


_OF_ANY_FORM = frozenset(
    {
        "name", "title", "type", "description", "strict", "parameters", "parameters_json_schema", "parametersJsonSchema",
        "input_schema", "inputSchema", "response", "response_json_schema", "responseJsonSchema", "output_schema", "outputSchema",
        "behavior", "annotations", "icons", "_meta", "cache_control", "defer_loading", "input_examples",
    }
)  # fmt: skip
"""Keys of one declaration, in any of the forms."""
_AROUND = ("function_declarations", "functionDeclarations", "function", "type")


def declaration_problems(entry: object) -> Iterator[str]:
    """Yield the mistakes in a declaration in a criterion; none for objects of models."""
    if not isinstance(entry, Mapping):
        return
    for key in ("function_declarations", "functionDeclarations"):
        for index, each in enumerate(entry[key] if isinstance(entry.get(key), list) else ()):
            yield from (f"{key}[{index}]: {slip}" for slip in declaration_problems(each))
    yield from (f"function: {slip}" for slip in declaration_problems(entry.get("function")))
    if not any(isinstance(entry.get(key), Mapping | list) for key in _AROUND):
        yield from _misspelled_keys(entry)


def _misspelled_keys(declaration: Mapping[str, object]) -> Iterator[str]:
    known = _OF_ANY_FORM | {*_AROUND}
    has_schema = any(declaration.get(key) is not None for key in (*_JSON_SCHEMA, "parameters"))
    for key in (each for each in declaration if each not in known):
        hint = did_you_mean(str(key), known)
        if hint or not has_schema:
            yield f"unknown key {str(key)!r}.{hint} A tool has `name` and `parameters` (or `input_schema`)"
    if not isinstance(declaration.get("name"), str) or not declaration["name"]:
        yield "expected the tool's `name`, a text"


_JSON_SCHEMA = ("parameters_json_schema", "parametersJsonSchema", "input_schema", "inputSchema")


def _schema(declaration: Mapping[str, object]) -> object:
    for key in _JSON_SCHEMA:
        if declaration.get(key) is not None:
            return declaration[key]
    parameters = declaration.get("parameters")
    return None if parameters is None else to_json_schema(parameters)


# --- Schemas of Gemini (`google.genai.types.Schema`, OpenAPI 3.0) as JSON Schema ---


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
_NESTED = frozenset(
    {
        "anyOf",
        "allOf",
        "oneOf",
        "prefixItems",
        "items",
        "additionalProperties",
        "not",
        "contains",
        "propertyNames",
    }
)


def to_json_schema(schema: object) -> object:
    """Return a schema in the keywords of JSON Schema; a JSON Schema is returned unchanged.

    Types become lower case, `nullable` a type, keys camelCase; null values are left out.
    """
    if isinstance(schema, list):
        return [to_json_schema(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    converted: dict[str, object] = {}
    for key, value in dict[str, object](schema).items():
        keyword: str = _KEYWORDS.get(key, key)
        if value is not None and keyword not in _LEFT_OUT:
            converted[keyword] = _value(keyword, value)
    if converted.get("type") == "type_unspecified":
        del converted["type"]
    return _with_null(converted) if schema.get("nullable") else converted


def _value(keyword: str, value: object) -> object:
    if keyword == "type":
        return [str(each).lower() for each in value] if isinstance(value, list) else str(value).lower()
    if keyword in _NAMED and isinstance(value, Mapping):
        return {name: to_json_schema(each) for name, each in value.items()}
    if keyword in _NESTED:
        return to_json_schema(value)
    if keyword in _COUNTS and isinstance(value, str) and value.isdecimal():
        return int(value)
    return value


def _with_null(schema: dict[str, object]) -> dict[str, object]:
    """Add null to the types and values that a schema allows."""
    if isinstance(schema.get("type"), str):
        schema["type"] = [schema["type"], "null"]
    for keyword, null in (("enum", None), ("anyOf", {"type": "null"})):
        if isinstance(allowed := schema.get(keyword), list | tuple):
            schema[keyword] = [*allowed, null]
    return schema
