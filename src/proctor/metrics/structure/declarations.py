"""What tools an agent declares: read from the evidence, in every form in which frameworks write declarations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.errors import did_you_mean
from proctor.metrics.base import CaseView
from proctor.schema.format.invocation import AgentDetails, AppDetails

__all__ = [
    "FRAMEWORK_CALLS",
    "Declaration",
    "Tools",
    "is_open",
    "misspelled",
    "read_declarations",
    "to_json_schema",
    "tools_in",
    "tools_of",
    "tools_of_trial",
]

FRAMEWORK_CALLS = frozenset({"adk_request_confirmation", "adk_request_credential", "adk_request_input"})
"""Calls that google-adk makes up to ask the user something: no model chose them, and no agent declares them."""
OF_FRAMEWORKS = FRAMEWORK_CALLS | {"set_model_response", "transfer_to_agent"}
"""Tools that google-adk gives to a model by itself; no agent declares them before it runs."""
OPEN = frozenset(
    {"$ref", "additionalProperties", "allOf", "anyOf", "dependentSchemas", "if", "oneOf", "patternProperties", "unevaluatedProperties"}
)  # fmt: skip
"""Keywords beside `properties` by which a schema itself says something about further ones."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """One tool that an agent has."""

    name: str
    schema: Any = None
    """JSON Schema of its arguments, an object; `None` where the declaration says nothing about them."""
    agent: str = ""
    """The agent that has it; empty where that is not said."""


@dataclass(frozen=True, slots=True)
class Tools:
    """All tools that are declared, by name; one name may be declared by several agents."""

    by_name: Mapping[str, Sequence[Declaration]]

    @property
    def names(self) -> list[str]:
        """Every name, as declared."""
        return [*self.by_name]

    def of(self, name: str | None, author: str) -> Sequence[Declaration]:
        """The declarations of a tool: that of the agent which called it, or else those of all agents."""
        found = self.by_name.get(name or "", ())
        own = [each for each in found if author and each.agent == author]
        return own or found


def tools_of(case: CaseView, index: int, given: Sequence[Declaration]) -> Tools | None:
    """The tools that were there in turn `index`; `None` where nobody says which there are.

    From `app_details` of the turn, then of the trial (the agent's `describe()`), and `given` by the criterion.
    """
    found, is_told = [*given], bool(given)
    recorded = case.trial.app_details if case.trial is not None else None
    for details in (case.actual[index].app_details, recorded):
        if details is None:
            continue
        agents = AppDetails.model_validate(details).agent_details
        is_told = is_told or bool(agents)
        found += _declared(agents)
    return _by_name(found) if is_told else None


def tools_of_trial(case: CaseView, given: Iterable[Declaration] = ()) -> Tools:
    """All tools that are declared in any turn of a trial, and those `given`; none where nobody declares any."""
    recorded = case.trial.app_details if case.trial is not None else None
    told = [details for turn in case.actual if (details := turn.app_details) is not None]
    return tools_in([recorded, *told] if recorded is not None else told, given)


def tools_in(details: Iterable[AppDetails | Mapping[str, Any]], given: Iterable[Declaration] = ()) -> Tools:
    """All tools that some descriptions of agents declare, and those `given`."""
    found = [*given]
    for each in details:
        found += _declared(AppDetails.model_validate(each).agent_details)
    return _by_name(found)


def _declared(agents: Mapping[str, AgentDetails]) -> Iterator[Declaration]:
    for name, agent in agents.items():
        yield from read_declarations(agent.tool_declarations, agent=agent.name or name)


def is_open(schema: Mapping[str, Any]) -> bool:
    """Whether an object under this schema may have keys beside those that it declares, or nobody can tell."""
    return "properties" not in schema or any(
        keyword in schema and not (keyword == "additionalProperties" and schema[keyword] is False)
        for keyword in OPEN
    )


def _by_name(found: Iterable[Declaration]) -> Tools:
    """The first declaration of an agent's tool that says something about arguments counts."""
    by_name: dict[str, list[Declaration]] = {}
    for each in found:
        same = by_name.setdefault(each.name, [])
        place = next((at for at, other in enumerate(same) if other.agent == each.agent), None)
        if place is None:
            same.append(each)
        elif same[place].schema is None:
            same[place] = each
    return Tools(by_name)


def read_declarations(written: Iterable[Any], *, agent: str = "") -> Iterator[Declaration]:
    """The tools that a list of declarations names.

    Read are `{"function_declarations": [...]}` (Gemini), `{"type": "function", "function": {...}}` (OpenAI), single
    declarations `{"name", "parameters" | "parameters_json_schema" | "input_schema" | "inputSchema"}` (Anthropic, MCP),
    objects of pydantic models of these, and bare names. What has no name (a tool of the model's own) is left out.
    """
    for each in written:
        entry = each.model_dump(mode="json", exclude_none=True) if hasattr(each, "model_dump") else each
        if isinstance(entry, str):
            yield Declaration(entry, agent=agent)
        elif isinstance(entry, Mapping):
            listed = entry.get("function_declarations") or entry.get("functionDeclarations")
            if isinstance(listed, list):
                yield from read_declarations(listed, agent=agent)
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


def misspelled(entry: Any) -> Iterator[str]:
    """What in a declaration that somebody wrote would not be heard; nothing for objects of models."""
    if not isinstance(entry, Mapping):
        return
    for key in ("function_declarations", "functionDeclarations"):
        for index, each in enumerate(entry[key] if isinstance(entry.get(key), list) else ()):
            yield from (f"{key}[{index}]: {slip}" for slip in misspelled(each))
    if isinstance(entry.get("function"), Mapping):
        yield from (f"function: {slip}" for slip in misspelled(entry["function"]))
    if any(isinstance(entry.get(key), Mapping | list) for key in _AROUND):
        return
    known = _OF_ANY_FORM | {*_AROUND}
    has_schema = any(entry.get(key) is not None for key in (*_JSON_SCHEMA, "parameters"))
    for key in entry:
        meant = did_you_mean(str(key), known) if key not in known else ""
        if key not in known and (meant or not has_schema):
            yield f"unknown key {str(key)!r}.{meant} A tool has `name` and `parameters` (or `input_schema`)"
    if not isinstance(entry.get("name"), str) or not entry["name"]:
        yield "expected the tool's `name`, a text"


_JSON_SCHEMA = ("parameters_json_schema", "parametersJsonSchema", "input_schema", "inputSchema")


def _schema(declaration: Mapping[str, Any]) -> Any:
    for key in _JSON_SCHEMA:
        if declaration.get(key) is not None:
            return declaration[key]
    parameters = declaration.get("parameters")
    return None if parameters is None else to_json_schema(parameters)


# --- Schemas as Gemini takes them (`google.genai.types.Schema`, OpenAPI 3.0's) as JSON Schema -------------------------


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
