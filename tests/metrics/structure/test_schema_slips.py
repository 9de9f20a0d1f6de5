"""Slips in a JSON Schema, which JSON Schema itself does not hear: found before anything runs."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.errors import CriterionError, MetricError
from proctor.metrics.structure import json_schema
from proctor.metrics.structure.json_schema import Schema, schema_of
from proctor.metrics.structure.response_schema import ResponseSchema
from proctor.schema.format.case import EvalCase
from proctor.schema.format.criterion import BaseCriterion

OLD = "http://json-schema.org/draft-07/schema#"
PERSON = {"$defs": {"person": {"type": "object"}}}

# fmt: off
SLIPS: list[tuple[dict[str, Any], str]] = [
    # --- keywords ---
    ({"requried": ["a"]}, "`requried` is not a keyword of JSON Schema. Did you mean 'required'?"),
    ({"properties": {"a": {"typ": "string"}}}, "`typ` at properties.a is not a keyword of JSON Schema. Did you mean 'type'?"),
    ({"items": {"minimun": 1}}, "`minimun` at items is not a keyword"),
    ({"anyOf": [{}, {"Type": "string"}]}, "`Type` at anyOf.1 is not a keyword of JSON Schema. Did you mean 'type'?"),
    ({"$defs": {"a": {"enmu": []}}}, "`enmu` at $defs.a is not a keyword of JSON Schema. Did you mean 'enum'?"),
    ({"not": {"additional_properties": False}}, "Did you mean 'additionalProperties'?"),
    ({"min": 3}, "Did you mean 'minimum'?"),
    ({"type": "string", "nullable": True}, "it belongs to OpenAPI; write the type as a list"),
    ({"properties": {"a": {"optional": True}}}, "a key that is not listed in `required` is optional"),
    ({"dependencies": {"a": ["b"]}}, "has no effect in https://json-schema.org/draft/2020-12/schema: write `dependentRequired`"),
    ({"additionalItems": False}, "write `items`"),
    ({"$schema": OLD, "unevaluatedProperties": False}, "has no effect in http://json-schema.org/draft-07/schema: name the intended draft with `$schema`"),
    ({"$schema": OLD, "$ref": "#/definitions/a", "minimum": 5, "definitions": {"a": {}}}, "in this draft all other keywords next to it are ignored, also `minimum`"),
    ({"then": {"minimum": 1}}, "`then` has no effect without `if`"),
    ({"type": "strng"}, 'at type: unknown type "strng". Did you mean \'string\'?'),
    ({"properties": {"a": {"type": "int"}}}, 'at properties.a.type: unknown type "int". Did you mean'),
    ({"$schema": "https://json-schema.org/draft-07/schema#"}, "`$schema` is not a known draft"),
    ({"$schema": 7}, "`$schema` is not a known draft: 7"),
    ({"pattern": "("}, "it is not a JSON Schema at pattern"),
    ({"patternProperties": {"(": {}}}, "it is not a JSON Schema"),
    # --- references ---
    ({"$ref": "#/$defs/persn", **PERSON}, 'it refers to "#/$defs/persn", which is not in it. Did you mean \'#/$defs/person\'?'),
    ({"properties": {"a": {"$ref": "#/$defs/Person"}}, **PERSON}, "Did you mean '#/$defs/person'?"),
    ({"$ref": "#/definitions/person", **PERSON}, "which is not in it"),
    ({"$ref": "#person", **PERSON}, "which is not in it"),
    ({"$ref": "person.json"}, "which is not in it"),
    ({"$ref": "#/$defs", **PERSON}, 'it refers to "#/$defs", which is not a schema. Did you mean \'#/$defs/person\'?'),
    ({"$ref": "https://example.org/a.json"}, "nothing is fetched: put that schema under `$defs`"),
    ({"$ref": "#"}, 'its reference "#" refers to itself without end'),
    ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}, "without end"),
    ({"properties": {"x": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}}, "without end"),
    ({"anyOf": [{"type": "string"}, {"$ref": "#"}]}, "without end"),
    ({"if": {"$ref": "#"}}, "without end"),
    ({"not": {"$ref": "#"}}, "without end"),
    ({"dependentSchemas": {"a": {"$ref": "#"}}}, "without end"),
    ({"$dynamicRef": "#n", "$dynamicAnchor": "n"}, "without end"),
]

FINE: list[dict[str, Any]] = [
    {},
    {"properties": {"requried": {"type": "string"}, "$ref": {"type": "string"}}},  # names, not keywords
    {"const": {"$ref": "https://example.org", "requried": 1}},  # a value
    {"enum": [{"typ": 1}], "default": {"typ": 1}, "examples": [{"typ": 1}]},
    {"properties": {"kids": {"type": "array", "items": {"$ref": "#"}}}},  # a tree ends with its value
    {"type": "object", "additionalProperties": {"$ref": "#"}},
    {"$ref": "#/$defs/person", "minimum": 1, **PERSON},
    {"$ref": "#p", "$defs": {"x": {"$anchor": "p"}}},
    {"$id": "https://example.org/s", "properties": {"a": {"$ref": "https://example.org/s#/$defs/x"}}, "$defs": {"x": {}}},
    {"$ref": "https://json-schema.org/draft/2020-12/schema"},
    {"$schema": OLD, "definitions": {"a": {}}, "dependencies": {"a": ["b"]}, "additionalItems": False},
    {"title": "T", "description": "d", "$comment": "c", "deprecated": True, "readOnly": True, "x-mine": 1, "example": 2},
    {"if": {"minimum": 1}, "then": {}, "else": {}, "contains": {}, "minContains": 2, "contentEncoding": "base64"},
    {"properties": {"a": True, "b": False}},
    {"$schema": "http://json-schema.org/draft-03/schema#", "properties": {"a": {"type": "string", "required": True}}},
    {"$schema": "http://json-schema.org/draft-04/schema#", "id": "s", "maximum": 3, "exclusiveMaximum": True},
    {"$ref": "#/$defs/a%20b", "$defs": {"a b": {}}},
    {"$ref": "#/$defs/a~1b", "$defs": {"a/b": {}}},
    {"format": "made-up"},  # not asked to be checked
]

UNKNOWN = [
    ({"colour": "red"}, ["`colour` is not a keyword of JSON Schema, so it is not checked"]),
    ({"properties": {"a": {"foo": 1, "bar": 2}}}, ["`foo` at properties.a is no", "`bar` at properties.a is no"]),
]

FORMATS = [
    ("emial", "is not a format. Did you mean 'email'?"),
    ("date-time", "cannot be checked without further packages"),
    ("made-up", '"made-up" is not a format'),
]
# fmt: on


@pytest.mark.parametrize(("document", "problem"), SLIPS, ids=repr)
def test_a_slip_is_a_set_up_error(document: dict[str, Any], problem: str) -> None:
    with pytest.raises(CriterionError) as caught:
        ResponseSchema(BaseCriterion(threshold=1, schema=document))
    assert str(caught.value).startswith("The criterion of 'response_schema' does not fit: schema: ")
    assert problem in str(caught.value)
    case = EvalCase.model_validate({"eval_id": "c", "conversation": [], "response_schema": document})
    (message,) = ResponseSchema().check(case)
    assert problem.rstrip(".") in message


@pytest.mark.parametrize("document", FINE, ids=repr)
def test_correct_schema_is_accepted(document: dict[str, Any]) -> None:
    assert not Schema(document, strict=True).unknown


@pytest.mark.parametrize(("document", "warnings"), UNKNOWN, ids=repr)
def test_unknown_keywords_are_a_warning_before_the_run(document: dict[str, Any], warnings: list[str]) -> None:
    survey = ResponseSchema(BaseCriterion(threshold=1, schema=document)).survey()
    assert survey is not None
    messages = [*survey.warnings()]
    assert all(
        each.startswith(f"schema: {warning}") for each, warning in zip(messages, warnings, strict=True)
    )
    own = ResponseSchema().survey()
    assert own is not None
    own.add_case(EvalCase.model_validate({"eval_id": "c", "conversation": [], "response_schema": document}))
    assert [each.partition(": ")[0] for each in own.warnings()] == ["response_schema of case 'c'"] * len(
        warnings
    )
    assert not [*own.problems()]


@pytest.mark.parametrize(("name", "problem"), FORMATS)
def test_a_format_that_would_not_be_checked_is_refused_where_formats_are(name: str, problem: str) -> None:
    document = {"properties": {"when": {"type": "string", "format": name}}}
    with pytest.raises(CriterionError) as caught:
        ResponseSchema(BaseCriterion(threshold=1, schema=document, formats=True))
    assert f'`format` at properties.when: "{name}"' in str(caught.value)
    assert problem in str(caught.value)
    ResponseSchema(BaseCriterion(threshold=1, schema=document))


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_schema_outside_json_is_refused(number: float) -> None:
    with pytest.raises(CriterionError, match="contains values that are not JSON"):
        schema_of({"minimum": number})


def test_all_slips_come_at_once() -> None:
    document = {"requried": [], "properties": {"a": {"typ": "x", "$ref": "#/$defs/b"}}}
    with pytest.raises(CriterionError) as caught:
        Schema(document, strict=True)
    assert all(each in str(caught.value) for each in ("requried", "typ", "#/$defs/b"))


def test_a_schema_that_is_nested_too_deeply_is_refused() -> None:
    document: dict[str, Any] = {}
    for _ in range(5000):
        document = {"not": document}
    with pytest.raises(CriterionError, match=r"nested too deeply|contains values that are not JSON"):
        schema_of(document, strict=True)


KEYWORDS = st.sampled_from(
    ["type", "typ", "properties", "items", "$ref", "$defs", "allOf", "foo", "enum", "not"]
)
DOCUMENTS = st.recursive(
    st.sampled_from([{}, True, "#", "#/$defs/a", "string", 7, [], {"$ref": "#"}]),
    lambda inner: st.dictionaries(KEYWORDS | st.just("a"), inner, max_size=3) | st.lists(inner, max_size=2),
    max_leaves=8,
)


@given(DOCUMENTS)
def test_any_document_is_taken_or_refused(document: Any) -> None:
    """What is taken checks any value: no reference leads nowhere, none goes round for ever."""
    if not isinstance(document, dict):
        return
    try:
        schema = Schema(document)
    except CriterionError:
        return
    values: list[Any] = [None, {}, {"a": {"a": []}}, [[1]], "x"]
    for value in values:
        schema.fits(value)
        schema.mistakes(value)


@pytest.mark.parametrize("keyword", ["patternProperties", "additionalProperties", "unevaluatedProperties"])
def test_pattern_for_keys_that_exceeds_its_time_is_an_error(
    keyword: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_schema, "SECONDS", 0.2)
    document = {"patternProperties": {"^(a+)+$": {"type": "integer"}}, keyword: {"^(a+)+$": {}}}
    if keyword != "patternProperties":
        document[keyword] = False
    schema = Schema(document)
    assert schema.fits({"aaa": 1})
    with pytest.raises(MetricError, match=r"`\^\(a\+\)\+\$` took longer"):
        schema.fits({"a" * 40 + "!": 1})


@pytest.mark.parametrize(
    ("step", "value", "fits"),
    [(0.1, 0.3, True), (0.01, 19.99, True), (0.1, 0.35, False), (1, 2.0, True), (2, 3, False), (0.5, -1.5, True),
     (0.1, 10**30, True), (3, 10**30, False), (0.1, 1e300, True), (7, True, True), (7, "x", True), (1e-7, 0.3, True)],
)  # fmt: skip
def test_multiples_are_those_of_decimals(step: float, value: Any, fits: bool) -> None:
    assert Schema({"multipleOf": step}).fits(value) is fits
