"""`response_schema`: the final answer validated against a JSON Schema."""

import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, ClassVar

import pytest

from proctor.common.registry import METRICS
from proctor.errors import CriterionError, MetricError, MissingExtraError
from proctor.metrics.base import CaseView
from proctor.metrics.structure.json_schema import _schema_of_text as schema_of_text, schema_of
from proctor.schema.format.case import EvalCase
from proctor.schema.format.criterion import BaseCriterion
from tests.metrics.structure.structure_scores import ask, turn

WEATHER = {
    "type": "object",
    "required": ["city", "celsius"],
    "properties": {
        "city": {"type": "string"},
        "celsius": {"type": "number", "minimum": -90},
        "days": {"type": "array", "maxItems": 2, "uniqueItems": True, "items": {"$ref": "#/$defs/day"}},
    },
    "$defs": {"day": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
    "additionalProperties": False,
}
GOOD = '{"city": "Paris", "celsius": 21}'


@pytest.mark.parametrize(
    "answer",
    [GOOD, f"```json\n{GOOD}\n```", f"\n {GOOD} ", '{"celsius": 2e1, "city": "", "days": ["Mo", null]}'],
)
def test_answers_that_the_schema_allows(answer: str) -> None:
    score, (why,) = ask("response_schema", [turn(answer)], schema=WEATHER)
    assert (score.value, why.reason) == (1.0, "the answer is JSON that fits the schema")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("It is sunny.", "the answer is not JSON: "),
        ("", "the agent gave no answer"),
        (None, "the agent gave no answer"),
        (f"Here: {GOOD}", "it contains JSON, which counts with `anywhere`"),
        ("[]", "the answer is [], expected an object"),
        ('{"city": "Paris"}', "celsius is missing, expected a number"),
        ('{"city": 1, "celsius": "x"}', 'celsius is "x", expected a number; city is 1, expected text'),
        ('{"city": "Paris", "celsius": -100}', "celsius is -100, expected at least -90"),
        ('{"city": "Paris", "celsius": true}', "celsius is true, expected a number"),
        (
            '{"city": "P", "celsius": 1, "citty": "x"}',
            "citty is \"x\", and no such key is declared (known: city, celsius, days). Did you mean 'city'?",
        ),
        ('{"city": "P", "celsius": 1, "days": [1]}', "days[0] is 1, expected text or null"),
        ('{"city": "P", "celsius": 1, "days": ["a", "a"]}', "expected items that are all different"),
        ('{"city": "P", "celsius": 1, "days": ["a", "b", "c"]}', "expected at most 2 items"),
        ('{"city": "P", "city": "P", "celsius": 1}', 'an object has the key "city" twice'),
    ],
)
def test_answers_that_it_does_not_allow_and_why(answer: str | None, reason: str) -> None:
    score, (why,) = ask("response_schema", [turn(answer)], schema=WEATHER)
    assert score.value == 0.0
    assert reason in why.reason


def test_json_anywhere_in_the_answer() -> None:
    bad = '{"city": 1}'
    score, (good, wrong) = ask(
        "response_schema",
        [turn(f"First {bad}, then {GOOD}."), turn(f"Only {bad}.")],
        schema=WEATHER,
        anywhere=True,
    )
    assert [each.value for each in score.per_invocation] == [1.0, 0.0]
    assert good.reason == "the answer is JSON that fits the schema"
    assert "celsius is missing" in wrong.reason
    assert [each["keyword"] for each in (wrong.details or {})["mistakes"]] == ["required", "type"]


def test_only_the_last_turn_where_that_is_asked() -> None:
    score, _ = ask("response_schema", [turn("Which city?"), turn(GOOD)], schema=WEATHER, turns="last")
    assert (score.value, score.per_invocation[0].not_applicable) == (1.0, True)


@pytest.mark.parametrize(("formats", "value"), [(False, 1.0), (True, 0.0)])
def test_formats_are_checked_where_that_is_asked(formats: bool, value: float) -> None:
    schema = {"type": "string", "format": "date"}
    assert ask("response_schema", [turn('"next week"')], schema=schema, formats=formats)[0].value == value


@pytest.mark.parametrize(("draft", "value"), [("04", 0.0), ("07", 1.0)])
def test_the_draft_that_a_schema_names_is_the_one_it_is_read_by(draft: str, value: float) -> None:
    of_draft = {"$schema": f"http://json-schema.org/draft-{draft}/schema#"}
    schema = {**of_draft, "type": "integer"}  # 8.0 is none to draft 4
    assert ask("response_schema", [turn("8.0")], schema=schema)[0].value == value


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"schema": None}, "expected a JSON Schema .an object., got NoneType"),
        ({"schema": True}, "expected a JSON Schema .an object., got bool"),
        ({"schema": "schema.json"}, "got str. Write the schema itself, not its path"),
        (
            {"schema": {"type": "objekt"}},
            "it is not a JSON Schema at type: unknown type \"objekt\". Did you mean 'object'",
        ),
        (
            {"schema": {"properties": {"a": {"minimum": "1"}}}},
            "it is not a JSON Schema at properties.a.minimum",
        ),
        ({"schema": {"pattern": "("}, "formats": True}, "it is not a JSON Schema at pattern"),
        ({"schema": {"$ref": "https://example.org/a.json"}}, "nothing is fetched: put that schema under"),
        ({"schema": {"items": [{"$ref": "file:///etc/passwd"}]}}, "it"),
        ({"shema": {}}, "Did you mean 'schema'"),
        ({"schema": {}, "turns": "first"}, "turns"),
    ],
)
def test_mistakes_of_the_criterion(options: dict[str, Any], message: str) -> None:
    with pytest.raises(CriterionError, match=message):
        METRICS.get("response_schema")(BaseCriterion(threshold=1.0, **options))


# --- schemas of the case --------------------------------------------------------------------------------------------------

LIST = {"type": "array"}


def of_case(stated: Any, answers: list[str], **options: Any) -> list[float | None]:
    metric = METRICS.get("response_schema")(BaseCriterion(threshold=1.0, **options))
    case = CaseView(
        eval_id="c", actual=[turn(answer) for answer in answers], extra={"response_schema": stated}
    )
    return [each.value for each in metric.score(case).per_invocation]


@pytest.mark.parametrize(
    ("schema", "options", "values"),
    [
        pytest.param(LIST, {}, [1.0, 0.0], id="for every turn"),
        pytest.param(LIST, {"turns": "last"}, [None, 0.0], id="for those that the criterion asks about"),
        pytest.param(LIST, {"schema": {"type": "object"}}, [1.0, 0.0], id="before the criterion's"),
        pytest.param([{"turn": 2, "schema": LIST}], {}, [None, 0.0], id="for one turn"),
        pytest.param([{"turn": 2, "schema": LIST}], {"schema": {"type": "object"}}, [0.0, 0.0], id="the criterion's elsewhere"),
        pytest.param([{"turn": 1, "schema": LIST}], {"turns": "last"}, [1.0, None], id="a turn that is named is asked"),
        pytest.param([{"turn": 1, "schema": LIST}, {"turn": 2, "schema": {}}], {}, [1.0, 1.0], id="a schema for each turn"),
    ],
)  # fmt: skip
def test_a_case_states_its_own_schema(
    schema: Any, options: dict[str, Any], values: list[float | None]
) -> None:
    assert of_case(schema, ["[]", "{}"], **options) == values


def test_reason_names_the_requirement_of_the_schema() -> None:
    metric = METRICS.get("response_schema")()
    case = CaseView(eval_id="c", actual=[turn("{}")], extra={"response_schema": LIST})
    assert metric.explain(case, metric.score(case), 0).reason == "the answer is {}, expected a list"


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ("schema.json", "response_schema: expected a JSON Schema (an object), got str"),
        (True, "response_schema: expected a JSON Schema (an object), got bool"),
        ({"type": "objekt"}, "response_schema: it is not a JSON Schema at type"),
        ({"$ref": "https://example.org/a.json"}, "response_schema: it refers to"),
        ([], "response_schema: the list is empty"),
        ([LIST], "response_schema[0]: expected a turn and its schema"),
        ([{"turn": 0, "schema": {}}], "response_schema[0].turn: turns are counted from 1, got 0"),
        ([{"turn": 3, "schema": {}}], "response_schema[0].turn: the case has 2 turn(s), got 3"),
        (
            [{"turn": 1, "schema": {}}, {"turn": 1, "schema": {}}],
            "response_schema[1].turn: turn 1 has a schema",
        ),
        ([{"turn": 1, "schema": {"type": 1}}], "response_schema[0].schema: it is not a JSON Schema"),
        ([{"turn": 1, "schema": {}, "scema": {}}], "Did you mean 'schema'?"),
    ],
    ids=str,
)
def test_mistakes_of_a_case(schema: Any, problem: str) -> None:
    turns = [{"user_content": {"parts": [{"text": "q"}]}}] * 2
    case = EvalCase.model_validate({"eval_id": "c", "conversation": turns, "response_schema": schema})
    (message,) = METRICS.get("response_schema")().check(case)
    assert problem in message
    with pytest.raises(MetricError, match="the case's schema cannot be read"):
        of_case(schema, ["[]", "[]"])


def test_without_any_schema_it_does_not_apply() -> None:
    score, _ = ask("response_schema", [turn("{}")])
    assert score.not_applicable
    assert (
        score.per_invocation[0].reason == "neither the case nor the criterion states a schema for this turn"
    )


DRAFT_7 = "http://json-schema.org/draft-07/schema#"
REFERENCES: list[tuple[Any, str]] = [
    ({"items": {"$ref": "#"}}, ""),
    ({"properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"items": {"$ref": "#"}}}}, ""),
    ({"$anchor": "a", "items": {"$ref": "#a"}}, ""),
    ({"$schema": DRAFT_7, "definitions": {"a": {"$id": "#b"}}, "items": {"$ref": "#b"}}, ""),
    (
        {
            "$id": "urn:a",
            "$defs": {"b": {"$id": "urn:b", "$defs": {"c": {}}, "$ref": "#/$defs/c"}},
            "$ref": "urn:b",
        },
        "",
    ),
    ({"$ref": "https://json-schema.org/draft/2020-12/schema"}, ""),
    ({"const": {"$ref": "#/nowhere"}, "properties": {"$ref": {"type": "string"}}}, ""),
    ({"$ref": "#/$defs/nowhere"}, '"#/$defs/nowhere"'),
    ({"$ref": "other.json"}, '"other.json"'),
    ({"$dynamicRef": "#a"}, '"#a"'),
    ({"properties": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}}, "$defs": {"c": {}}}, '"#/$defs/b"'),
    ({"$schema": DRAFT_7, "items": {"$ref": "#/definitions/a"}}, '"#/definitions/a"'),
    ({"$id": "urn:a", "$defs": {"b": {"$id": "urn:b", "$ref": "#/$defs/b"}}}, '"#/$defs/b"'),
]


@pytest.mark.parametrize(("schema", "dangling"), REFERENCES, ids=str)
def test_a_reference_that_leads_nowhere_is_refused_before_anything_runs(schema: Any, dangling: str) -> None:
    of_criterion = BaseCriterion(threshold=1.0, schema=schema)
    case = EvalCase.model_validate({"eval_id": "c", "conversation": [], "response_schema": schema})
    messages = METRICS.get("response_schema")().check(case)
    assert bool(messages) == bool(dangling)
    if not dangling:
        METRICS.get("response_schema")(of_criterion)
        return
    assert dangling in messages[0]
    with pytest.raises(CriterionError, match=re.escape(dangling)):
        METRICS.get("response_schema")(of_criterion)


class Schemas(BaseHTTPRequestHandler):
    """Serves a schema that allows everything, and remembers that it was asked."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")


def test_nothing_is_fetched_not_even_a_file_in_the_folder_of_the_schema() -> None:
    with HTTPServer(("127.0.0.1", 0), Schemas) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        here = f"http://127.0.0.1:{server.server_port}/schema.json"
        with pytest.raises(CriterionError, match=re.escape("other.json")):
            ask("response_schema", [turn("{}")], schema={"$id": here, "$ref": "other.json"})
        server.shutdown()
    assert Schemas.asked == []


def test_deep_nesting_is_an_error_and_no_crash() -> None:
    schema: dict[str, Any] = {"$ref": "#/$defs/list", "$defs": {"list": {"items": {"$ref": "#/$defs/list"}}}}
    answer = "[" * 400 + "]" * 400
    with pytest.raises(Exception, match="nested too deeply"):
        ask("response_schema", [turn(answer)], schema=schema)


@pytest.mark.parametrize("name", ["response_schema", "tool_schema"])
def test_missing_package_names_the_package_to_install(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    schema_of_text.cache_clear()
    options = {"schema": {"title": "new"}} if name == "response_schema" else {}
    with pytest.raises(MissingExtraError, match=r"pip install 'proctor\[jsonschema\]'"):
        METRICS.get(name)(BaseCriterion(threshold=1.0, **options))


def test_a_pattern_that_would_never_end_is_an_error_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor.metrics.structure.json_schema.SECONDS", 0.5)
    schema = schema_of({"type": "string", "pattern": "^(a+)+$"})
    assert schema.fits("aaaa")
    assert not schema.fits("b")
    with pytest.raises(MetricError, match="took longer than"):
        schema.fits("a" * 40 + "b")
