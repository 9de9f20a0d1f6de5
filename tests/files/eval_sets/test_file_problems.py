"""The report of `check` on a file: its kind, all errors, refusals of ADK, unread values."""

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.files.eval_sets import file_problems
from proctor.files.eval_sets.file_problems import FileCheck, check_file
from tests.files.sample_sets import case, content, eval_set, turn


def checked(tmp_path: Path, document: Any, name: str = "f.json", **options: Any) -> FileCheck:
    path = tmp_path / name
    path.write_text(
        document if isinstance(document, str) else json.dumps(document, indent=1), encoding="utf-8"
    )
    return check_file(path, **options)


def problems(report: FileCheck) -> list[str]:
    return [str(problem).removeprefix(f"{report.file}:") for problem in report.problems]


@pytest.mark.parametrize(
    ("document", "kind", "cases"),
    [
        (eval_set(case("a"), case("b")), "eval set", 2),
        (case("a"), "eval case", 1),
        ([{"query": "q", "reference": "r", "expected_tool_use": []}], "old test file (a list of turns)", 1),
        ([{"name": "a", "data": []}, {"name": "b", "data": []}], "old eval set (a list of cases)", 2),
        ({"criteria": {"response_match_score": 0.5}}, "eval config", 0),
        ({"scenarios": [{"starting_prompt": "a", "conversation_plan": "b"}]}, "conversation scenarios", 1),
        ({"app_name": "a", "user_id": "u"}, "session input", 0),
        ({"eval_set_result_id": "r", "eval_set_id": "s", "eval_case_results": []}, "eval set result", 0),
        (json.dumps(json.dumps({"eval_set_result_id": "r", "eval_set_id": "s"})), "eval set result", 0),
    ],
)
def test_a_sound_file_of_each_kind(tmp_path: Path, document: Any, kind: str, cases: int) -> None:
    report = checked(tmp_path, document)
    assert (report.kind, report.cases, problems(report), report.readable) == (kind, cases, [], True)


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        pytest.param('{"eval_set_id": "s", // mine\n "eval_cases": [],}', ["1:1: warning: no cases (a run of this set is refused)", "1:22: warning: comments are not JSON (ADK refuses this file; remove the comments)", "2:18: warning: a trailing comma is not JSON (ADK refuses this file; remove the comma)"], id="not JSON, but read"),
        pytest.param('{"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": [],\n "eval_id": "b"}]}', ["2:2: error: the key “eval_id” appears twice in one object; the first is at 1:38 (the later value is used; remove one of them)"], id="a key twice"),
        pytest.param({"evalSetId": "s", "evalCases": [case()], "creationTimestamp": 1, "owner": "me", "nmae": "x"}, ["2:2: warning: evalSetId: ADK reads only `eval_set_id` here and refuses this file", "3:2: warning: evalCases: ADK reads only `eval_cases` here and refuses this file", "20:2: warning: creationTimestamp: ADK reads only `creation_timestamp` here and drops this", "21:2: warning: owner: unknown key; nothing reads it (ADK drops it when it writes the file)", "22:2: warning: nmae: unknown key; nothing reads it (did you mean `name`?)"], id="keys of the set"),
        pytest.param({"id": "s", "eval_cases": [case()]}, ["2:2: warning: id: read as `eval_set_id`; ADK refuses this file"], id="id of another ADK"),
        pytest.param(eval_set(case("a", conversation=[turn(final_respons=content("x"), mood="good")])), ["16:6: error: eval_cases[0].conversation[0].final_respons: unknown key; ADK refuses this file (did you mean `final_response`?)", "24:6: warning: eval_cases[0].conversation[0].mood: unknown key; ADK refuses this file"], id="keys of a turn"),
        pytest.param(eval_set(case("a", tags=["x"], final_sesion_state={})), ["21:4: error: eval_cases[0].final_sesion_state: unknown key; nothing reads it (did you mean `final_session_state`?)"], id="ADK keeps unknown keys of a case; only typos are reported"),
        pytest.param(eval_set(case("a", conversation=[turn(expected_tool_use=[])])), ["16:6: error: eval_cases[0].conversation[0].expected_tool_use: unknown key; ADK refuses this file (calls are expected in `intermediate_data.tool_uses`)"], id="a key of the old format"),
        pytest.param(json.dumps(json.dumps(eval_set(case()))), ["1:2: warning: the document is inside a JSON string (ADK reads only results in this form)"], id="a set inside a string"),
        pytest.param([{"name": "a", "data": [{"query": "q", "expected_intermediate_agent_responses": ["x"]}]}], ["8:6: warning: [0].data[0].expected_intermediate_agent_responses[0]: an intermediate response without its author (ADK refuses this file)"], id="an old case reworded"),
        pytest.param([{"query": "q", "refrence": "x"}], ["2:2: warning: [0]: no `expected_tool_use` and `reference`: ADK's default metrics refuse this file (Proctor reads it as not stated)", "4:3: error: [0].refrence: unknown key; nothing reads it (did you mean `reference`?)"], id="keys of an old turn"),
        pytest.param([{"query": "q", "reference": "x", "expectedToolUse": [{"toolName": "f"}]}], ["5:3: warning: [0].expectedToolUse: ADK reads only `expected_tool_use` here"], id="an old turn in camelCase"),
        pytest.param(eval_set(case(conversation=[turn(invocation_id="i"), turn(invocation_id="i")])), ["6:20: warning: eval_cases[0].conversation: the invocation id 'i' appears twice (give each turn a different id)"], id="an invocation id twice"),
        pytest.param({"scenarios": []}, ["1:1: warning: no scenarios"], id="no scenarios"),
        pytest.param({"scenarios": [{"starting_prompt": "a", "conversation_plan": "b", "x": 1}], "_documentation": ""}, ["6:4: warning: scenarios[0].x: unknown key; ADK refuses this file", "9:2: warning: _documentation: unknown key; ADK refuses this file"], id="keys of scenarios"),
        pytest.param({"eval_set_result_id": "r", "eval_set_id": "s", "eval_case_results": [{"final_eval_status": 1, "overall_eval_metric_results": [{"metric_name": "m", "eval_status": 1, "judge_model_options": {}}], "eval_metric_result_per_invocation": [], "session_id": "x", "more": 1}]}, ["11:6: warning: eval_case_results[0].overall_eval_metric_results[0].judge_model_options: unknown key `judge_model_options`; ADK refuses this file (an older ADK wrote it; Proctor keeps the key)"], id="a result of an older ADK"),
    ],
)  # fmt: skip
def test_a_file_with_warnings_is_readable(tmp_path: Path, document: Any, expected: list[str]) -> None:
    report = checked(tmp_path, document)
    assert problems(report) == expected
    assert report.readable


@pytest.mark.parametrize(
    ("document", "kind", "message"),
    [
        ("", "unknown document", "1:1: error: the file is empty"),
        (
            {"a": 1},
            "unknown document",
            "1:1: error: expected an eval set, a config or a result, but this is an object with `a`",
        ),
        (eval_set(case("x"), case("x")), "eval set", "is already used by the case at"),
        (eval_set({"eval_id": "a"}), "eval set", "got neither"),
        ({"criteria": {"m": None}}, "eval config", "criteria.m: expected a number"),
        ([{"query": 3}], "old test file (a list of turns)", "[0].query"),
    ],
)
def test_unreadable_file_is_reported_with_its_kind(
    tmp_path: Path, document: Any, kind: str, message: str
) -> None:
    report = checked(tmp_path, document)
    assert (report.kind, report.readable) == (kind, False)
    assert message in "\n".join(problems(report))


def test_errors_come_with_the_warnings_of_the_same_file(tmp_path: Path) -> None:
    report = checked(tmp_path, '{"eval_set_id": "s", # c\n "eval_cases": [{"eval_id": "a"}]}')
    assert [(problem.severity, problem.line) for problem in report.problems] == [("warning", 1), ("error", 2)]


def test_duplicate_ids_are_warnings_where_they_are_allowed(tmp_path: Path) -> None:
    report = checked(tmp_path, eval_set(case("x"), case("x")), allow_duplicate_ids=True)
    assert report.readable
    assert "it runs as 'x#2'" in "\n".join(problems(report))


@pytest.mark.parametrize("name", ["test_config.json", "my_eval_config.json"])
def test_file_with_the_name_of_a_config_is_checked_as_one(tmp_path: Path, name: str) -> None:
    report = checked(tmp_path, {"metrics": []}, name)
    assert report.kind == "eval config"
    assert "a config of this format names its metrics in `criteria`" in "\n".join(problems(report))


def test_a_missing_file_is_a_problem_like_any_other(tmp_path: Path) -> None:
    report = check_file(tmp_path / "x.json")
    assert not report.readable
    assert "no such file" in problems(report)[0]


def test_a_set_too_large_to_be_read_whole_is_checked_as_a_stream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_problems, "WHOLE_LIMIT", 1000)
    cases = [case(f"c{i}") for i in range(50)]
    cases[40]["conversation"][0]["mood"] = "good"
    report = checked(tmp_path, eval_set(*cases))
    assert (report.kind, report.cases) == ("eval set", 50)
    (problem,) = report.problems
    assert problem.field == "eval_cases[40].conversation[0].mood"


def test_a_key_twice_in_a_streamed_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_problems, "WHOLE_LIMIT", 1000)
    text = json.dumps(eval_set(*(case(f"c{i}", note=f"n{i}") for i in range(50))), indent=1).replace(
        '"note": "n30"', '"note": "x", "note": "y"'
    )
    (problem,) = checked(tmp_path, text).problems
    assert "the key “note” appears twice" in problem.message
    assert text.split("\n")[problem.line - 1].index('"note": "y"') + 1 == problem.column


def test_a_result_larger_than_what_else_is_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_problems, "WHOLE_LIMIT", 100)
    document = {"eval_set_result_id": "r" * 200, "eval_set_id": "s", "eval_case_results": []}
    assert checked(tmp_path, document).readable


def test_warnings_end_somewhere(tmp_path: Path) -> None:
    report = checked(
        tmp_path, eval_set(*(case(f"c{i}", conversation=[turn(mood="x")] * 3) for i in range(200)))
    )
    assert len(report.problems) == 101
    assert any("not listed" in problem.message for problem in report.problems)


ONLY_WARNED = {"tag", "Tags", "state", "session_input.State"}
"""Slips of keys that change no verdict, and an empty state to start in, are warnings."""


@pytest.mark.parametrize(
    ("more", "field", "hint"),
    [
        ({"expectation": {}}, "expectation", "did you mean `expectations`?"),
        ({"trajectoryRule": []}, "trajectoryRule", "did you mean `trajectory_rules`?"),
        ({"rules": []}, "rules", "rules over the calls are `trajectory_rules` in JSON"),
        ({"respons_schema": {}}, "respons_schema", "did you mean `response_schema`?"),
        ({"tag": "smoke"}, "tag", "did you mean `tags`?"),
        (
            {"session_input": {"app_name": "a", "user_id": "u", "expectatons": {}}},
            "session_input.expectatons",
            "did you mean `expectations`?",
        ),
    ],
)
def test_typo_in_an_extension_of_a_case_is_reported(
    tmp_path: Path, more: dict[str, Any], field: str, hint: str
) -> None:
    (problem,) = checked(tmp_path, eval_set(case("a", **more))).problems
    severity = "warning" if field in ONLY_WARNED else "error"
    assert (problem.severity, problem.field, problem.hint) == (severity, f"eval_cases[0].{field}", hint)


@pytest.mark.parametrize("key", ["expectations", "trajectory_rules", "trajectoryRules", "responseSchema"])
def test_extension_of_a_case_is_not_a_typo(tmp_path: Path, key: str) -> None:
    session = {"app_name": "a", "user_id": "u", key: []}
    assert checked(tmp_path, eval_set(case("a", session_input=session, **{key: []}))).problems == []


STARTED = {"app_name": "a", "user_id": "u"}
CALL = {"tool_uses": [{"name": "f", "params": {}}]}


@pytest.mark.parametrize(
    ("more", "field", "hint"),
    [
        ({"FinalSessionState": {}}, "FinalSessionState", "did you mean `final_session_state`?"),
        ({"Tags": ["x"]}, "Tags", "did you mean `tags`?"),
        ({"RUBRICS": []}, "RUBRICS", "did you mean `rubrics`?"),
        ({"Expectations": {}}, "Expectations", "did you mean `expectations`?"),
        ({"session_input": {**STARTED, "State": {}}}, "session_input.State", "did you mean `state`?"),
        ({"final_state": {}}, "final_state", "the state at the end is expected in `final_session_state`"),
        ({"state": {}}, "state", "the state in which a case starts is `session_input.state`"),
        (
            {"conversation": [turn(tools=["f()"])]},
            "conversation[0].tools",
            "calls are expected in `intermediate_data.tool_uses`",
        ),
        ({"conversation": [turn(expect="x")]}, "conversation[0].expect", "the expected answer is `final_response`"),
        (
            {"conversation": [turn(final_response={"Parts": []})]},
            "conversation[0].final_response.Parts",
            "did you mean `parts`?",
        ),
        (
            {"conversation": [turn(intermediate_data={"tool_calls": []})]},
            "conversation[0].intermediate_data.tool_calls",
            "calls are `tool_uses`",
        ),
        (
            {"conversation": [turn(intermediate_data=CALL)]},
            "conversation[0].intermediate_data.tool_uses[0].params",
            "the arguments of a call are `args`",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_form_that_would_expect_nothing_is_reported(
    tmp_path: Path, more: dict[str, Any], field: str, hint: str
) -> None:
    """Keys in capitals, and the words of the YAML form and of other tools."""
    (problem,) = checked(tmp_path, eval_set(case("a", **more))).problems
    severity = "warning" if field in ONLY_WARNED else "error"
    assert (problem.severity, problem.field, problem.hint) == (severity, f"eval_cases[0].{field}", hint)
