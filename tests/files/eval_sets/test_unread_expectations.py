"""Keys that state an expectation and that nothing reads: no verdict is given over them, in any generation of the format."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.files.eval_sets.convert import convert
from proctor.files.eval_sets.source import load_eval_set, open_eval_set
from proctor.files.keys.key_findings import keys_of_set
from proctor.schema.format.invocation import IntermediateData
from proctor.schema.format.wire_model import to_camel
from tests.files.sample_sets import case, content, eval_set, turn

CALL = {"name": "f", "args": {"a": 1}}
EVENT = {"author": "agent", "content": content("hello", "model")}


def in_case(key: str, value: Any) -> Any:
    return eval_set(case("a", **{key: value}))


def in_turn(key: str, value: Any) -> Any:
    return eval_set(case("a", conversation=[turn(**{key: value})]))


def in_opening(key: str, value: Any) -> Any:
    scenario = {"starting_prompt": "hi", "conversation_plan": "talk"}
    return eval_set({"eval_id": "a", "conversation_scenario": scenario, "opening": [turn(**{key: value})]})


def in_data(key: str, value: Any) -> Any:
    return in_turn("intermediate_data", {"tool_uses": [CALL], key: value})


def in_call(key: str, value: Any) -> Any:
    return in_turn("intermediate_data", {"tool_uses": [{"name": "f", key: value}]})


def in_answer(key: str, value: Any) -> Any:
    return in_turn("final_response", {"role": "model", key: value})


def in_part(key: str, value: Any) -> Any:
    return in_turn("final_response", {"parts": [{key: value}]})


def in_event(key: str, value: Any) -> Any:
    return in_turn("intermediate_data", {"invocation_events": [{**EVENT, key: value}]})


def in_call_of_event(key: str, value: Any) -> Any:
    return in_part_of_event("function_call", {"name": "f", key: value})


def in_part_of_event(key: str, value: Any) -> Any:
    event = {"author": "agent", "content": {"parts": [{key: value}]}}
    return in_turn("intermediate_data", {"invocation_events": [event]})


def in_session(key: str, value: Any) -> Any:
    return in_case("session_input", {"app_name": "a", "user_id": "u", key: value})


def in_rubric(key: str, value: Any) -> Any:
    return in_case("rubrics", [{"rubric_id": "r", "rubric_content": {"text_property": "x"}, key: value}])


def in_set(key: str, value: Any) -> Any:
    return eval_set(**{key: value})


def in_old_turn(key: str, value: Any) -> Any:
    return [{"query": "hi", key: value}]


def in_old_call(key: str, value: Any) -> Any:
    return [{"query": "hi", "expected_tool_use": [{"tool_name": "f", key: value}]}]


def in_old_case(key: str, value: Any) -> Any:
    return [{"name": "a", "data": [{"query": "hi", "reference": "hello"}], key: value}]


def in_turn_of_old_case(key: str, value: Any) -> Any:
    return [{"name": "a", "data": [{"query": "hi", key: value}]}]


def in_row(key: str, value: Any) -> Any:
    return {"eval_cases": [{"eval_case_id": "a", "prompt": "hi", key: value}]}


Where = Callable[[str, Any], Any]

TEXT, STATE, NAMES = "hello", {"k": 1}, ["f"]
CALLS_HERE = "calls are expected in `intermediate_data.tool_uses`"
ANSWER_HERE = "the expected answer is `final_response`"

REFUSED: list[tuple[Where, str, Any, str]] = [
    # a key near a known one
    (in_turn, "final_respone", content(TEXT), "did you mean `final_response`?"),
    (in_turn, "intermediate_dat", {}, "did you mean `intermediate_data`?"),
    (in_opening, "final_respone", content(TEXT), "did you mean `final_response`?"),
    (in_case, "final_sesion_state", STATE, "did you mean `final_session_state`?"),
    (in_case, "expectation", {"calls": NAMES}, "did you mean `expectations`?"),
    (in_case, "rubrcis", [], "did you mean `rubrics`?"),
    (in_data, "tool_use", [CALL], "did you mean `tool_uses`?"),
    (in_call, "arg", {"a": 1}, "did you mean `args`?"),
    (in_part_of_event, "function_cal", CALL, "did you mean `function_call`?"),
    (in_event, "contents", content(TEXT), "did you mean `content`?"),
    (in_rubric, "rubric_contents", {"text_property": "x"}, "did you mean `rubric_content`?"),
    (in_session, "stat", STATE, "did you mean `state`?"),
    (in_old_turn, "referenc", TEXT, "did you mean `reference`?"),
    (in_old_turn, "expected_tool_uses", [CALL], "did you mean `expected_tool_use`?"),
    (in_turn_of_old_case, "referenc", TEXT, "did you mean `reference`?"),
    (in_old_call, "param", {"a": 1}, "args"),
    (in_row, "refrence", TEXT, "did you mean `reference`?"),
    # a misplaced key
    (in_turn, "final_session_state", STATE, "it belongs to the case"),
    (in_turn, "expectations", {"calls": NAMES}, "it belongs to the case, or to its `session_input`"),
    (in_turn, "tool_uses", [CALL], CALLS_HERE),
    (in_turn, "tool_calls", [CALL], CALLS_HERE),
    (in_turn, "trajectory_rules", [], "it belongs to the case"),
    (in_session, "final_session_state", STATE, "it belongs to the case"),
    (in_session, "conversation", [], "it belongs to the case"),
    (in_case, "tool_uses", [CALL], CALLS_HERE),
    (in_case, "final_response", content(TEXT), "it belongs to a turn"),
    (in_case, "intermediate_data", {}, "it belongs to a turn"),
    (in_data, "final_response", content(TEXT), "it belongs to a turn"),
    (in_event, "function_call", CALL, "it belongs to a part"),
    (in_set, "criteria", {"response_match_score": 1}, "read from a config"),
    (in_set, "final_session_state", STATE, "it belongs to the case"),
    (in_set, "test_cases", [], "the cases of a set are `eval_cases`"),
    (in_set, "tools", NAMES, f"{CALLS_HERE} of a turn"),
    (in_set, "tool_calls", [CALL], f"{CALLS_HERE} of a turn"),
    (in_set, "answer", TEXT, f"{ANSWER_HERE} of a turn"),
    (in_set, "output", TEXT, f"{ANSWER_HERE} of a turn"),
    (in_set, "response", TEXT, f"{ANSWER_HERE} of a turn"),
    (in_set, "final_state", STATE, "`final_session_state` of a case"),
    (in_set, "session_state", STATE, "`session_input.state` of a case"),
    (in_set, "limits", {"f": 1}, "it belongs to `expectations`"),
    (in_set, "metrics", {"response_match_score": 0.8}, "this is read from a config"),
    (in_old_case, "final_sesion_state", STATE, "did you mean `final_session_state`?"),
    (in_old_turn, "final_session_state", STATE, "it belongs to the case"),
    # another tool's word for an expectation
    (in_case, "expected_tools", NAMES, CALLS_HERE),
    (in_case, "expected_output", TEXT, ANSWER_HERE),
    (in_case, "expected-tools", NAMES, CALLS_HERE),
    (in_case, "Expected Tools", NAMES, CALLS_HERE),
    (in_case, "EXPECTED_TOOLS", NAMES, CALLS_HERE),
    (in_turn, "expectedresponse", TEXT, ANSWER_HERE),
    (in_case, "ground_truth", TEXT, ANSWER_HERE),
    (in_case, "assert", [{"type": "contains", "value": "x"}], "no metric reads it"),
    (in_case, "reference_outputs", {"answer": TEXT}, ANSWER_HERE),
    (in_case, "reference_tool_calls", [CALL], CALLS_HERE),
    (in_case, "expected_final_state", STATE, "`final_session_state`"),
    (in_case, "must_contain", [TEXT], "no metric reads it"),
    (in_turn, "expected_tool_use", [CALL], CALLS_HERE),
    (in_turn, "expected_keywords", [TEXT], "no metric reads it"),
    (in_turn, "reference", TEXT, ANSWER_HERE),
    (in_turn, "expected", TEXT, ANSWER_HERE),
    (in_turn, "answer", TEXT, ANSWER_HERE),
    (in_data, "expected_tools", NAMES, "calls are `tool_uses`"),
    (in_call, "expected_args", {"a": 1}, "no metric reads it"),
    (in_old_turn, "expected_keywords", [TEXT], "no metric reads it"),
    (in_case, "limits", {"f": 1}, "it belongs to `expectations`"),
    (in_case, "never", NAMES, "rules over the calls are `trajectory_rules`"),
    (in_turn, "metrics", {"response_match_score": 0.8}, "this is read from a config"),
    (in_case, "thresholds", {"response_match_score": 0.8}, "this is read from a config"),
    (in_row, "target", TEXT, "the expected answer is `reference` in a row"),
    (in_case, "target", TEXT, ANSWER_HERE),
    (in_case, "golden", TEXT, ANSWER_HERE),
    (in_old_case, "answer_schema", {"type": "object"}, "a schema of the answer is `response_schema`"),
    (in_old_turn, "tool_trajectory", NAMES, "calls are expected in `expected_tool_use`"),
    (in_row, "expected_tools", NAMES, "expected a list of calls"),
    (in_row, "expected_response_contains", [TEXT], "no metric reads it"),
    # a slip in another tool's word: singular for plural, a separator, a letter
    (in_case, "tool_call", [CALL], CALLS_HERE),
    (in_turn, "tool_call", CALL, CALLS_HERE),
    (in_turn, "toolcalls", [CALL], CALLS_HERE),
    (in_turn, "tool_cals", [CALL], CALLS_HERE),
    (in_turn, "tool", "f", CALLS_HERE),
    (in_turn, "arg", {"a": 1}, CALLS_HERE),
    (in_case, "args", {"a": 1}, CALLS_HERE),
    (in_turn, "trajectories", NAMES, CALLS_HERE),
    (in_case, "golden", TEXT, ANSWER_HERE),
    (in_turn, "goldens", [TEXT], ANSWER_HERE),
    (in_turn, "golden_answer", TEXT, ANSWER_HERE),
    (in_turn, "goldn_answer", TEXT, ANSWER_HERE),
    (in_turn, "answr", TEXT, ANSWER_HERE),
    (in_turn, "expcted_output", TEXT, ANSWER_HERE),
    (in_case, "expeced_tools", NAMES, CALLS_HERE),
    (in_case, "ground_thruth", TEXT, ANSWER_HERE),
    (in_case, "refrences", TEXT, ANSWER_HERE),
    (in_case, "contain", [TEXT], "no metric reads it"),
    (in_row, "tool_call", [CALL], "calls are expected in `reference_trajectory`"),
    (in_old_turn, "golden", TEXT, "the expected answer is `reference`"),
    (in_old_turn, "tool_call", [CALL], "calls are expected in `expected_tool_use`"),
    (in_old_case, "tool_call", [CALL], "calls are expected in `expected_tool_use`"),
    (in_old_case, "answer", TEXT, "the expected answer is `reference`"),
    # arguments of a call under a word that is not read; empty ones state that there are none
    *[(where, key, value, "the arguments of a call are `args`")
      for where in (in_call, in_call_of_event, in_old_call)
      for key in ("tool_args", "tool_arguments", "argument", "params", "input")
      for value in ({}, {"a": 1})],
    *[(where, "function", value, "of an object `function`, `name` and `arguments` are read")
      for where in (in_call, in_call_of_event, in_old_call)
      for value in ({"name": "f", "parameters": {"a": 1}}, {"name": "f", "input": {}}, {"name": "g", "arguments": {}})],
    (in_call, "function", "f", "the tool of a call is `name`"),
    (in_call, "parameters", {}, "the arguments of a call are `args`"),
    (in_call, "arg", {}, "did you mean `args`?"),
    # content that states nothing in this form
    (in_answer, "text", TEXT, 'a text is `"parts"'),
    (in_answer, "content", TEXT, 'a text is `"parts"'),
    (in_part, "txt", TEXT, "a text is `text`"),
    (in_part, "speech", TEXT, "this part has no key that is read"),
    (in_part, "inline_data", {"mime_type": "image/png", "data": "AAAA"}, "give the expected text"),
    (in_part, "function_call", CALL, "give the expected text"),
]  # fmt: skip


def written(tmp_path: Path, document: Any, name: str = "s.json") -> Path:
    path = tmp_path / name
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")
    return path


def refused(path: Path, *, allow_unknown_keys: bool = False) -> list[str]:
    errors, _ = open_eval_set(path).split_warnings(allow_unknown_keys=allow_unknown_keys)
    return [str(one) for one in errors]


@pytest.mark.nightly(check=125)
@pytest.mark.parametrize("spelling", ["snake", "camel"])
@pytest.mark.parametrize(
    ("where", "key", "value", "hint"), REFUSED, ids=[f"{row[0].__name__}-{row[1]}" for row in REFUSED]
)
def test_no_verdict_is_given_over_it(
    tmp_path: Path, where: Where, key: str, value: Any, hint: str, spelling: str
) -> None:
    name = to_camel(key) if spelling == "camel" else key
    path = written(tmp_path, where(name, value))
    (message,) = refused(path)
    file, line, column, rest = message.split(":", 3)
    assert file == str(path)
    assert ": error: " in f":{rest}"
    assert hint in message
    text = path.read_text().splitlines()[int(line) - 1][int(column) - 1 :]
    assert text.startswith((f'"{name}"', "{")), text
    assert refused(path, allow_unknown_keys=True) == []


@pytest.mark.parametrize(
    ("where", "key", "value", "hint"), REFUSED[::4], ids=lambda value: getattr(value, "__name__", "")
)
def test_reading_and_converting_keep_it(
    tmp_path: Path, where: Where, key: str, value: Any, hint: str
) -> None:
    del hint
    path = written(tmp_path, where(key, value))
    loaded = load_eval_set(path)
    assert key in loaded.model_dump_json()
    convert(path, tmp_path / "new.evalset.json")
    assert f'"{key}"' in (tmp_path / "new.evalset.json").read_text()


HARMLESS = (
    "name description title tags metadata notes note comment category difficulty priority owner source id version "
    "conversation_id session_id user_context created_at keywords _comment reference_url mood target_audience "
    "assets score grade context call_id response_id trajectory_id"
).split()  # fmt: skip


@pytest.mark.nightly(check=72)
@pytest.mark.parametrize("where", [in_case, in_turn, in_session, in_set, in_old_turn, in_old_case, in_row])
@pytest.mark.parametrize("key", HARMLESS)
def test_a_key_that_describes_is_a_warning_at_most(tmp_path: Path, where: Where, key: str) -> None:
    if where is in_old_case and key == "name":
        return  # the id of the case
    assert refused(written(tmp_path, where(key, "x"))) == []


@pytest.mark.parametrize("where", [in_case, in_turn, in_opening, in_set])
@pytest.mark.parametrize("key", ["foo_bar", "prompt", "contextMessages"])
def test_another_unknown_key_is_a_warning(tmp_path: Path, where: Where, key: str) -> None:
    opened = open_eval_set(written(tmp_path, where(key, "x")))
    _, (warning,) = opened.split_warnings(allow_unknown_keys=False)
    assert warning.field.endswith(key)
    assert "unknown key" in warning.message
    misread, unknown_keys = keys_of_set(load_eval_set(opened.label))
    assert (misread, len(unknown_keys)) == ([], 1)


@pytest.mark.parametrize(
    "key", ["category", "tags", "notes", "_mine", "$schema", "expectations", "testCaseId"]
)
def test_a_case_may_have_keys_that_describe_it(tmp_path: Path, key: str) -> None:
    opened = open_eval_set(written(tmp_path, in_case(key, {})))
    assert opened.split_warnings(allow_unknown_keys=False) == ([], [])


@pytest.mark.parametrize("where", [in_case, in_turn, in_set, in_old_turn, in_row, in_call])
@pytest.mark.parametrize("key", [":", "", "_", "s", "é", "-_-"])
def test_a_key_without_a_word_is_a_warning_at_most(tmp_path: Path, where: Where, key: str) -> None:
    assert refused(written(tmp_path, where(key, "x"))) == []


@pytest.mark.parametrize("where", [in_case, in_turn, in_set, in_old_turn])
def test_a_key_without_a_value_states_nothing(tmp_path: Path, where: Where) -> None:
    assert refused(written(tmp_path, where("expected_output", None))) == []


@pytest.mark.parametrize("where", [in_case, in_turn, in_old_turn, in_row])
def test_a_flag_of_golden_cases_states_no_answer(tmp_path: Path, where: Where) -> None:
    assert refused(written(tmp_path, where("golden", True))) == []


@pytest.mark.parametrize("key", ["arguments", "args"])
@pytest.mark.parametrize("value", [{"a": 1}, '{"a": 1}'])
def test_a_call_as_openai_writes_it_is_read(tmp_path: Path, key: str, value: Any) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "f", key: value}}
    path = written(tmp_path, in_turn("intermediate_data", {"tool_uses": [call]}))
    assert refused(path) == []
    turns = load_eval_set(path).eval_cases[0].conversation or []
    (read,) = IntermediateData.model_validate(turns[0].intermediate_data).tool_uses
    assert (read.id, read.name, read.args) == ("1", "f", {"a": 1})


def test_all_of_a_file_is_reported_at_once(tmp_path: Path) -> None:
    first = case("a", expected_tools=["f"], conversation=[turn(final_respone=content("x"), answer="y")])
    path = written(tmp_path, eval_set(first, case("b", ground_truth="x"), criteria={}))
    assert len(refused(path)) == 5


WORDS = [key for _, key, _, _ in REFUSED]
KEYS = st.dictionaries(st.sampled_from([*WORDS, *map(to_camel, WORDS)]), st.just("x"), min_size=1, max_size=4)


@pytest.mark.slow
@given(words=KEYS)
def test_a_free_map_may_have_any_key(words: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    free = copy.deepcopy(words)
    data = {
        "tool_uses": [{"name": "f", "args": free}],
        "tool_responses": [{"name": "f", "response": free}],
    }
    events = [{"author": "a", "content": {"parts": [{"function_call": {"name": "f", "args": free}}]}}]
    one = case(
        "a",
        conversation=[turn(intermediate_data=data), turn(intermediate_data={"invocation_events": events})],
        session_input={"app_name": "a", "user_id": "u", "state": free},
        final_session_state=free,
        metadata=free,
        notes=[free],
    )
    old = [{"query": "hi", "reference": "x", "expected_tool_use": [{"tool_name": "f", "tool_input": free}]}]
    folder = tmp_path_factory.mktemp("free")
    assert refused(written(folder, eval_set(one, metadata=free))) == []
    assert refused(written(folder, old, "old.test.json")) == []


def test_extra_of_yaml_is_free(tmp_path: Path) -> None:
    path = tmp_path / "s.evalset.yaml"
    path.write_text(
        "cases:\n- case: a\n  turns:\n  - ask: hi\n    expect: hello\n    extra: {expected_tools: [f]}\n"
        "  extra: {ground_truth: x, final_sesion_state: {k: 1}}\nextra: {criteria: {}}\n"
    )
    assert refused(path) == []


def test_a_document_of_the_format_in_yaml_is_checked_as_json(tmp_path: Path) -> None:
    path = tmp_path / "s.evalset.yaml"
    path.write_text(json.dumps(in_turn("final_respone", content("x"))))
    (message,) = refused(path)
    assert "did you mean `final_response`?" in message


class TestRows:
    def test_calls_with_arguments_are_read(self, tmp_path: Path) -> None:
        calls = [{"tool_name": "f", "tool_input": {"a": 1}}, {"name": "g", "args": {}}]
        path = written(tmp_path, in_row("expected_tools", calls))
        assert refused(path) == []
        (turn_read,) = load_eval_set(path).eval_cases[0].conversation or []
        data: Any = turn_read.intermediate_data
        assert [(call.name, call.args) for call in data.tool_uses] == [("f", {"a": 1}), ("g", {})]

    def test_no_calls_are_read(self, tmp_path: Path) -> None:
        path = written(tmp_path, in_row("expected_tools", []))
        assert refused(path) == []
        (turn_read,) = load_eval_set(path).eval_cases[0].conversation or []
        data: Any = turn_read.intermediate_data
        assert data.tool_uses == []

    def test_a_slip_inside_a_reference_has_its_place(self, tmp_path: Path) -> None:
        path = written(tmp_path, in_row("reference", {"response": {"parts": [{"txt": "x"}]}}))
        (message,) = refused(path)
        line, column = map(int, message.removeprefix(f"{path}:").split(":")[:2])
        assert path.read_text().splitlines()[line - 1][column - 1 :].startswith('"txt"')


class TestDuplicateKeys:
    """The later one is read; the intended one is unknown."""

    @pytest.mark.parametrize(
        ("text", "key"),
        [
            ('{"eval_set_id": "s", "eval_cases": [], "eval_cases": [CASE]}', "eval_cases"),
            ('{"eval_set_id": "s", "eval_set_id": "t", "eval_cases": [CASE]}', "eval_set_id"),
            (('{"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": [{"user_content": {"parts": []}, '
             '"final_response": {"parts": [{"text": "x"}]}, "final_response": null}]}]}'), "final_response"),
            ('[{"query": "hi", "reference": "x", "reference": "y"}]', "reference"),
            ('// mine\n{"eval_set_id": "s", "eval_set_id": "t", "eval_cases": [CASE]}', "eval_set_id"),
            (('{"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "expectations": {"calls": ["f"], "calls": []}, '
             '"conversation": []}]}'), "calls"),
        ],
    )  # fmt: skip
    def test_in_an_object_of_the_format(self, tmp_path: Path, text: str, key: str) -> None:
        path = tmp_path / "s.json"
        path.write_text(text.replace("CASE", json.dumps(case("a"))))
        (message,) = refused(path, allow_unknown_keys=True)
        assert f"error: the key “{key}” appears twice in one object" in message
        load_eval_set(path)

    def test_in_a_free_map_it_is_a_warning(self, tmp_path: Path) -> None:
        path = tmp_path / "s.json"
        state = '"session_input": {"app_name": "a", "user_id": "u", "state": {"k": 1, "k": 2}}'
        path.write_text(f'{{"eval_set_id": "s", "eval_cases": [{json.dumps(case("a"))[:-1]}, {state}}}]}}')
        opened = open_eval_set(path)
        assert refused(path) == []
        assert any("appears twice" in warning.message for warning in opened.warnings)

    def test_in_json_lines(self, tmp_path: Path) -> None:
        path = tmp_path / "s.evalset.jsonl"
        path.write_text(json.dumps(case("a"))[:-1] + ', "eval_id": "b"}\n')
        (message,) = refused(path)
        assert f"{path}:1:" in message

    def test_in_a_large_set(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from proctor.files.keys import key_findings

        monkeypatch.setattr(key_findings, "QUICK", 100)
        path = tmp_path / "s.json"
        text = json.dumps(eval_set(*(case(f"c{i}") for i in range(20))))
        path.write_text(text.replace('"eval_id": "c7"', '"eval_id": "x", "eval_id": "c7"'))
        (message,) = refused(path)
        column = text.index('"eval_id": "c7') + len('"eval_id": "x", ') + 1
        assert f":{column}: " in message
