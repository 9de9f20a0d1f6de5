"""`known_tools` and `tool_schema`: calls checked against the agents' declarations."""

from typing import Any

import pytest
from hypothesis import given, strategies as st
from jsonschema import Draft202012Validator

from proctor.common.registry import METRICS
from proctor.errors import CriterionError, MetricError
from proctor.metrics.base import CaseView
from proctor.metrics.structure.declarations import to_json_schema
from proctor.metrics.structure.tool_schema import ToolSchema
from proctor.schema.evidence.trial import Trial
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.format.invocation import Invocation
from tests.metrics.structure.structure_scores import ask, turn

BOOK = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "minLength": 1},
        "nights": {"type": "integer", "minimum": 1},
        "board": {"enum": ["none", "breakfast"]},
        "guests": {"type": "array", "items": {"type": "object", "required": ["name"]}},
    },
    "required": ["city"],
}
TOOLS = {"hotels": [{"function_declarations": [{"name": "book", "parameters_json_schema": BOOK}]}]}


def book(args: dict[str, Any] | None, name: str = "book") -> list[Invocation]:
    return [turn(calls=[("hotels", name, args)], tools=TOOLS)]


# --- tool_schema -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "args",
    [{"city": "Rome"}, {"city": "Rome", "nights": 2, "board": "none"}, {"city": "R", "nights": 2.0}],
)
def test_arguments_as_declared(args: dict[str, Any]) -> None:
    score, (why,) = ask("tool_schema", book(args))
    assert score.value == 1.0
    assert (why.reason, why.warning) == ("the arguments of the call are as declared", "")


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        ({}, "call 1, book: city is missing, expected text"),
        (None, "call 1, book: city is missing, expected text"),
        ({"city": 7}, "call 1, book: city is 7, expected text"),
        ({"city": None}, "call 1, book: city is null, expected text"),
        ({"city": ""}, 'call 1, book: city is "", expected at least 1 character'),
        ({"city": "Rome", "nights": "2"}, 'call 1, book: nights is "2", expected an integer'),
        ({"city": "Rome", "nights": 0}, "call 1, book: nights is 0, expected at least 1"),
        ({"city": "Rome", "nights": True}, "call 1, book: nights is true, expected an integer"),
        (
            {"city": "Rome", "board": "full"},
            'call 1, book: board is "full", expected one of "none", "breakfast"',
        ),
        (
            {"city": "Rome", "guests": [{"name": "A"}, {}]},
            "call 1, book: guests[1].name is missing, expected a value",
        ),
        (
            {"city": "Rome", "night": 2},
            (
                "call 1, book: night is 2, and no such key is declared (known: city, nights, board, guests). "
                "Did you mean 'nights'?"
            ),
        ),
    ],
)
def test_the_reason_names_call_argument_and_what_was_expected(
    args: dict[str, Any] | None, reason: str
) -> None:
    score, (why,) = ask("tool_schema", book(args))
    assert score.value == 0.0
    assert why.reason == reason


def test_score_is_the_share_of_valid_calls_averaged_over_turns_with_calls() -> None:
    calls = [
        ("hotels", "book", {"city": "Rome"}),
        ("hotels", "book", {}),
        ("hotels", "bok", {"city": "Rome"}),
    ]
    turns = [turn(calls=calls, tools=TOOLS), turn(tools=TOOLS), *book({"city": "Rome"})]
    score, (why, silent, _) = ask("tool_schema", turns)
    assert [each.value for each in score.per_invocation] == [pytest.approx(1 / 3), None, 1.0]
    assert score.value == pytest.approx(2 / 3)
    assert score.per_invocation[1].not_applicable
    assert silent.reason == "no tool was called in this turn"
    assert "call 3, bok: there is no tool of this name. Did you mean 'book'?" in why.reason
    listed = (why.details or {})["calls"]
    assert [len(call["mistakes"]) for call in listed] == [0, 1, 1]
    assert listed[1]["mistakes"][0]["path"] == ["city"]


@pytest.mark.parametrize("name", ["tool_schema", "known_tools"])
@pytest.mark.parametrize(
    ("expected", "made", "value"),
    [
        pytest.param("c", "-", 0.0, id="expected and not made"),
        pytest.param("cc", "c-", 0.5, id="made in one of two turns"),
        pytest.param("c-", "c-", 1.0, id="not expected and not made"),
        pytest.param("-", "-", None, id="none expected, none made"),
        pytest.param("", "-", None, id="a scenario"),
        pytest.param("f", "-", None, id="only a call of the framework expected"),
    ],
)
def test_a_turn_in_which_calls_are_expected_and_none_was_made_scores_0(
    name: str, expected: str, made: str, value: float | None
) -> None:
    tools = TOOLS if "c" in made else None  # an agent that makes no call need not declare its tools
    calls: dict[str, Any] = {
        "c": [("hotels", "book", {"city": "Rome"})],
        "f": [("hotels", "adk_request_confirmation", {})],
        "-": [],
    }
    actual = [turn(calls=calls[one], tools=tools) for one in made]
    wanted = [turn(calls=calls[one]) for one in expected] or None
    score, whys = ask(name, actual, wanted)
    assert score.value == value
    assert (whys[-1].reason == "tool calls are expected in this turn, and none was made") == (
        "c" in expected[-1:] and made[-1] == "-"
    )
    compatible, _ = ask(name, actual, wanted, compat="adk")
    assert compatible.value == (1.0 if "c" in made else None)


FORMS = {
    "gemini": {"function_declarations": [{"name": "f", "parameters_json_schema": {"required": ["x"]}}]},
    "gemini, camelCase": {
        "functionDeclarations": [{"name": "f", "parametersJsonSchema": {"required": ["x"]}}]
    },
    "gemini, OpenAPI": {"function_declarations": [{"name": "f", "parameters": {"required": ["x"]}}]},
    "openai": {"type": "function", "function": {"name": "f", "parameters": {"required": ["x"]}}},
    "anthropic": {"name": "f", "input_schema": {"required": ["x"]}},
    "mcp": {"name": "f", "inputSchema": {"required": ["x"]}},
    "plain": {"name": "f", "parameters": {"required": ["x"]}},
}


@pytest.mark.parametrize("declared", FORMS.values(), ids=FORMS.keys())
def test_declarations_of_every_form_are_read(declared: dict[str, Any]) -> None:
    calls = [("a", "f", {}), ("a", "f", {"x": 1})]
    score, (why,) = ask("tool_schema", [turn(calls=calls, tools={"a": [declared]})])
    assert score.value == 0.5
    assert why.reason == "call 1, f: x is missing, expected a value"


def test_tool_without_a_parameter_schema_is_not_checked_with_a_warning() -> None:
    score, (why,) = ask("tool_schema", [turn(calls=[("a", "f", {"x": 1})], tools={"a": ["f"]})])
    assert score.value == 1.0
    assert why.warning == "no arguments are declared, so none were checked: f"


def test_of_two_agents_with_a_tool_of_one_name_the_callers_counts() -> None:
    def taking(name: str) -> dict[str, Any]:
        return {"name": "f", "parameters": {"properties": {name: {}}}}

    tools: dict[str, list[Any]] = {"a": [taking("x")], "b": [taking("y")]}
    wrong = turn(calls=[("a", "f", {"y": 1})], tools=tools)
    right = turn(calls=[("b", "f", {"y": 1})], tools=tools)
    other = turn(calls=[("c", "f", {"y": 1})], tools=tools)
    score, _ = ask("tool_schema", [wrong, right, other])
    assert [each.value for each in score.per_invocation] == [0.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("schema", "valid"),
    [
        ({"properties": {"x": {}}}, False),
        ({"properties": {"x": {}}, "additionalProperties": True}, True),
        ({"properties": {"x": {}}, "additionalProperties": {"type": "integer"}}, True),
        ({"properties": {"x": {}}, "additionalProperties": {"type": "string"}}, False),
        ({"properties": {"x": {}}, "patternProperties": {"^y": {}}}, True),
        ({"allOf": [{"properties": {"x": {}}}]}, True),
        ({"type": "object"}, True),
        ({"type": "object", "properties": {}}, False),
        ({}, True),
    ],
)
def test_arguments_that_are_not_declared(schema: dict[str, Any], valid: bool) -> None:
    call = [turn(calls=[("a", "f", {"y": 1})], tools={"a": [{"name": "f", "input_schema": schema}]})]
    assert ask("tool_schema", call)[0].value == float(valid)
    if "string" not in str(schema):
        assert ask("tool_schema", call, allow_undeclared=True)[0].value == 1.0


def test_declaration_in_the_criterion_replaces_a_missing_description() -> None:
    calls = [turn(calls=[("a", "book", {"nights": 1})])]
    score, (why,) = ask("tool_schema", calls, declarations=[{"name": "book", "parameters": BOOK}])
    assert (score.value, why.reason) == (0.0, "call 1, book: city is missing, expected text")


def test_describe_applies_to_turns_without_declarations() -> None:
    details = {"agent_details": {"hotels": {"name": "hotels", "tool_declarations": TOOLS["hotels"]}}}
    trial = Trial(eval_set_id="s", eval_id="case", app_details=details)
    view = CaseView(eval_id="case", actual=[turn(calls=[("hotels", "book", {})])], trial=trial)
    assert ToolSchema().score(view).value == 0.0


def test_invalid_schema_in_a_declaration_is_an_error_that_names_the_tool() -> None:
    tools = {"a": [{"name": "f", "input_schema": {"type": "objekt"}}]}
    with pytest.raises(Exception, match="the tool 'f' of the agent 'a' declares no usable schema"):
        ask("tool_schema", [turn(calls=[("a", "f", {})], tools=tools)])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"declarations": [7]}, r"declarations\[0\]: expected .*, got int"),
        (
            {"declarations": [{"name": "f", "input_schema": {"type": 7}}]},
            "the schema of 'f': it is not a JSON Schema",
        ),
        ({"declaration": []}, "Did you mean 'declarations'"),
        (
            {"declarations": [{"name": "f", "paramters": {}}]},
            r"\[0\]: unknown key 'paramters'. Did you mean 'parameters'\?",
        ),
        ({"declarations": [{"name": "f", "inputschema": {}}]}, "Did you mean 'input_schema'"),
        ({"declarations": [{"name": "f", "arguments": {}}]}, "unknown key 'arguments'"),
        ({"declarations": [{"name": "f", "schema": {}}]}, "unknown key 'schema'"),
        (
            {"declarations": [{"nmae": "f", "parameters": {}}]},
            "'nmae'. Did you mean 'name'.*expected the tool's `name`",
        ),
        ({"declarations": [{"name": "", "parameters": {}}]}, "expected the tool's `name`"),
        ({"declarations": [{}]}, "expected the tool's `name`"),
        ({"declarations": [{"function_declaratons": []}]}, "Did you mean 'function_declarations'"),
        (
            {"declarations": [{"function_declarations": [{"name": "f", "parametes": {}}]}]},
            r"function_declarations\[0\]: .*'parameters'",
        ),
        (
            {"declarations": [{"type": "function", "function": {"name": "f", "paramters": {}}}]},
            "function: unknown key 'paramters'",
        ),
        ({"declarations": [{"name": "f", "input_schema": {}}, "f"]}, r"\[1\]: 'f' is declared twice"),
        (
            {"declarations": [{"name": "f", "input_schema": {"requird": ["a"]}}]},
            "`requird` is not a keyword of JSON Schema. Did you mean 'required'",
        ),
        (
            {"declarations": [{"name": "f", "input_schema": {"$ref": "#/$defs/a"}}]},
            "refers to .*, which is not in it",
        ),
        ({"declarations": [{"name": "f", "input_schema": {"$ref": "#"}}]}, "refers to itself without end"),
        (
            {"declarations": [{"name": "f", "paramters": {}}, {"name": "g", "input_schema": {"type": 7}}]},
            "'paramters'.*the schema of 'g'",
        ),
    ],
)
def test_mistakes_of_the_criterion(options: dict[str, Any], message: str) -> None:
    with pytest.raises(CriterionError, match=message):
        METRICS.get("tool_schema")(BaseCriterion(threshold=1.0, **options))


@pytest.mark.parametrize(
    "declared",
    [
        "f",
        {"name": "f"},
        {"name": "f", "description": "Does.", "parameters": {"type": "OBJECT", "propertyOrdering": ["a"], "nullable": True}},
        {"name": "f", "input_schema": {}, "cache_control": {"type": "ephemeral"}},
        {"name": "f", "inputSchema": {}, "annotations": {}, "outputSchema": {}, "origin": "x"},
        {"type": "function", "name": "f", "parameters": {}, "strict": True},
        {"type": "function", "function": {"name": "f", "parameters": {}, "strict": True}},
        {"functionDeclarations": [{"name": "f", "parametersJsonSchema": {}}]},
        {"function_declarations": [{"name": "f"}], "google_search": {}},
    ],
    ids=repr,
)  # fmt: skip
def test_declarations_as_frameworks_write_them_are_no_slips(declared: Any) -> None:
    metric = METRICS.get("tool_schema")(BaseCriterion(threshold=1.0, declarations=[declared]))
    score, _ = ask("tool_schema", [turn(calls=[("a", "f", {})])], declarations=[declared])
    assert (metric.survey() is None, score.value) == (False, 1.0)


def test_criterion_without_effect_is_reported_before_the_run() -> None:
    declarations = [
        "f",
        {"name": "g", "input_schema": {"properties": {"a": {"colour": "red"}}}},
        {"name": "h", "input_schema": {}},
        {"name": "i", "input_schema": {"type": "object", "description": "Anything."}},
        {"name": "j", "input_schema": {"type": "object", "properties": {}}},
    ]
    survey = METRICS.get("tool_schema")(BaseCriterion(threshold=1.0, declarations=declarations)).survey()
    first, second, *others = survey.warnings()
    assert [each.split(" declares nothing")[0] for each in others] == [
        "declarations: 'h'",
        "declarations: 'i'",
    ]
    assert first.startswith("declarations: 'f' declares nothing about its arguments, so none are checked.")
    assert (
        second
        == "declarations: the schema of 'g': `colour` at properties.a is not a keyword of JSON Schema, so it is not checked"
    )
    assert not [*survey.problems()]
    assert METRICS.get("tool_schema")().survey() is None


def test_slips_in_what_an_agent_declares_are_not_the_criterion_s() -> None:
    declared = {"name": "f", "input_schema": {"properties": {"a": {}}, "requird": ["a"]}}
    score, _ = ask("tool_schema", [turn(calls=[("a", "f", {"a": 1})], tools={"a": [declared]})])
    assert score.value == 1.0
    slip = "`requird` is not a keyword of JSON Schema. Did you mean 'required'?"
    assert score.per_invocation[0].warning == f"the agent's own schema of f: {slip}"
    for schema in ({"$ref": "#/$defs/a"}, {"$ref": "#"}):
        with pytest.raises(MetricError, match="the tool 'f' of the agent 'a' declares no usable schema"):
            ask(
                "tool_schema",
                [turn(calls=[("a", "f", {})], tools={"a": [{"name": "f", "input_schema": schema}]})],
            )


# --- known_tools -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("book", 1.0, "the tool of the call exists"),
        ("bok", 0.0, "call 1, bok: there is no tool of this name. Did you mean 'book'?"),
        ("weather", 0.0, "call 1, weather: there is no tool of this name. Declared: book."),
        ("Book", 0.0, "call 1, Book: there is no tool of this name. Did you mean 'book'?"),
        ("", 0.0, "call 1, (no name): it names no tool"),
    ],
)
def test_tools_that_do_not_exist(name: str, value: float, reason: str) -> None:
    score, (why,) = ask("known_tools", book({}, name))
    assert (score.value, why.reason) == (value, reason)


@pytest.mark.parametrize("metric", ["known_tools", "tool_schema"])
def test_agent_without_declared_tools_is_an_error(metric: str) -> None:
    score, _ = ask(metric, [turn(calls=[("a", "f", {})])])
    assert score.value is None
    assert score.failure is not None
    assert "the agent does not declare its tools" in score.failure.message


def test_an_agent_without_tools_calls_only_unknown_ones() -> None:
    assert ask("known_tools", [turn(calls=[("a", "f", {})], tools={"a": []})])[0].value == 0.0
    assert ask("known_tools", [turn(calls=[("a", "f", {})], tools={"a": []})], tools=["f"])[0].value == 1.0


@pytest.mark.parametrize("metric", ["known_tools", "tool_schema"])
def test_questions_that_the_framework_asks_are_no_calls_of_the_agent(metric: str) -> None:
    asked = turn(
        calls=[("hotels", "adk_request_confirmation", {}), ("hotels", "book", {"city": "R"})], tools=TOOLS
    )
    assert ask(metric, [asked])[0].value == 1.0


# --- Gemini's schemas ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"type": "OBJECT", "title": None}, {"type": "object"}),
        ({"type": "STRING", "nullable": True}, {"type": ["string", "null"]}),
        (
            {"type": "STRING", "enum": ["a"], "nullable": True},
            {"type": ["string", "null"], "enum": ["a", None]},
        ),
        ({"type": "TYPE_UNSPECIFIED"}, {}),
        (
            {"any_of": [{"type": "STRING"}, {"type": "NULL"}]},
            {"anyOf": [{"type": "string"}, {"type": "null"}]},
        ),
        ({"type": "ARRAY", "min_items": "2", "items": {"type": "INTEGER"}}, None),
        ({"type": "OBJECT", "properties": {"any_of": {"type": "STRING"}}}, None),
    ],
)
def test_a_schema_of_gemini_as_json_schema(given: dict[str, Any], expected: dict[str, Any] | None) -> None:
    made = to_json_schema(given)
    Draft202012Validator.check_schema(made)
    if expected is not None:
        assert made == expected


def test_names_of_properties_stay_as_they_are() -> None:
    assert to_json_schema({"properties": {"any_of": {"type": "STRING"}, "type": {"type": "OBJECT"}}}) == {
        "properties": {"any_of": {"type": "string"}, "type": {"type": "object"}}
    }


JSON_SCHEMAS = st.recursive(
    st.sampled_from([{"type": "string"}, {"type": "integer", "minimum": 0}, {"enum": ["a", 1]}, {}]),
    lambda inner: st.one_of(
        st.dictionaries(st.sampled_from(["a", "b"]), inner).map(
            lambda p: {"type": "object", "properties": p}
        ),
        inner.map(lambda each: {"type": "array", "items": each}),
        st.lists(inner, min_size=1, max_size=2).map(lambda each: {"anyOf": each}),
    ),
    max_leaves=6,
)


@given(JSON_SCHEMAS)
def test_json_schema_stays_unchanged(schema: dict[str, Any]) -> None:
    assert to_json_schema(schema) == schema


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["a", ""]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2)
    ),
    max_leaves=6,
)


@pytest.mark.slow
@given(JSON_SCHEMAS, VALUES)
def test_validity_agrees_with_jsonschema_and_an_invalid_call_has_reasons(schema: Any, value: Any) -> None:
    declared = {"name": "f", "input_schema": {"properties": {"x": schema}}}
    score, (why,) = ask("tool_schema", [turn(calls=[("a", "f", {"x": value})], tools={"a": [declared]})])
    assert score.value == float(Draft202012Validator(schema).is_valid(value))
    assert (why.reason == "the arguments of the call are as declared") == (score.value == 1.0)


@pytest.mark.parametrize(
    ("schema", "warning"),
    [
        ({"properties": {"city": {}}, "required": ["ctiy"]}, "`required` names \"ctiy\", which is not in `properties`. Did you mean 'city'?"),
        ({"properties": {"a": {"properties": {"b": {}}, "required": ["c"]}}}, "`required` at properties.a names \"c\", which is not in"),
        ({"properties": {"city": {"colour": 1}}}, "`colour` at properties.city is not a keyword of JSON Schema, so it is not checked"),
        ({"properties": {"city": {}}, "required": ["city"]}, ""),
        ({"required": ["city"]}, ""),
    ],
)  # fmt: skip
def test_typos_of_an_agent_are_shown_with_any_score(schema: dict[str, Any], warning: str) -> None:
    declared = {"name": "f", "input_schema": schema}
    score, (why,) = ask(
        "tool_schema", [turn(calls=[("a", "f", {"city": "x", "ctiy": 1})], tools={"a": [declared]})]
    )
    assert (warning in score.per_invocation[0].warning) if warning else not score.per_invocation[0].warning
    assert why.warning == score.per_invocation[0].warning


def test_invalid_type_is_an_error_with_a_message() -> None:
    declared = {"name": "f", "parameters": {"type": "OBJECT", "properties": {"city": {"type": "STRNG"}}}}
    with pytest.raises(
        MetricError, match=r"declares no usable schema: .*unknown type \"strng\". Did you mean 'string'"
    ):
        ask("tool_schema", [turn(calls=[("a", "f", {"city": "x"})], tools={"a": [declared]})])
