"""Values that google-adk would refuse, as reported by `check`: all refusals of readable files, and no other."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from proctor.files.eval_sets.file_problems import check_file

USER = {"user_content": {"parts": [{"text": "hi"}]}}


def a_set(*, case: Any = None, turn: Any = None, **keys: Any) -> dict[str, Any]:
    base = {"eval_id": "a", "conversation": [{**USER, **(turn or {})}]}
    return {"eval_set_id": "s", "eval_cases": [{**base, **(case or {})}], **keys}


def calling(**call: Any) -> dict[str, Any]:
    return a_set(turn={"intermediate_data": {"tool_uses": [call]}})


def played(**keys: Any) -> dict[str, Any]:
    habit = {"name": "n", "description": "d", "violation_rubrics": [], **keys.pop("habit")}
    scenario: dict[str, Any] = {"starting_prompt": "a", "conversation_plan": "b"}
    scenario["user_persona"] = {"id": "p", "description": "d", "behaviors": [habit], **keys}
    return a_set(case={"conversation": None, "conversation_scenario": scenario})


INSTRUCTED: dict[str, Any] = {"behavior_instructions": []}

REFUSED = [
    pytest.param(a_set(case={"session_input": {"app_name": "a", "user_id": "u", "state": None}}), "session_input.state: null is read as not stated", id="a null state"),
    pytest.param(a_set(case={"session_input": {}}), "session_input: `app_name` is missing; ADK refuses", id="an empty session"),
    pytest.param(a_set(case={"sessionInput": {"appName": "a", "state": {"x": 1}}}), "sessionInput: `user_id` is missing; ADK refuses", id="a session without a user"),
    pytest.param(a_set(case={"session_input": {"app_name": None, "user_id": "u"}}), "session_input.app_name: null is read as not stated", id="a null app"),
    pytest.param(a_set(turn={"intermediate_data": {"tool_uses": None}}), "tool_uses: null is read as not stated", id="null calls"),
    pytest.param(a_set(turn={"intermediateData": {"invocationEvents": None}}), "intermediateData.invocationEvents: null is read as not stated", id="null events, in camelCase"),
    pytest.param(a_set(turn={"app_details": {"agent_details": None}}), "agent_details: null is read as not stated", id="null details"),
    pytest.param(a_set(turn={"app_details": {"agent_details": {"x": {"name": "x", "tool_declarations": None}}}}), "agent_details.x.tool_declarations: null is read as not stated", id="null tools"),
    pytest.param(a_set(turn={"creation_timestamp": None}), "creation_timestamp: null is read as not stated", id="a null time of a turn"),
    pytest.param(a_set(creation_timestamp=None), "creation_timestamp: null is read as not stated", id="a null time of a set"),
    pytest.param(a_set(creation_timestamp="2026-01-31T12:00:00Z"), "creation_timestamp: a time as text", id="a set's time as text"),
    pytest.param(a_set(case={"creation_timestamp": "2026-01-31"}), "eval_cases[0].creation_timestamp: a time as text", id="a case's time as text"),
    pytest.param(calling(tool_name="f", tool_input={}), "tool_name: read as `name`", id="a call of the old format"),
    pytest.param(calling(name="f", arguments={}), "arguments: read as `args`", id="arguments"),
    pytest.param(calling(function={"name": "f", "arguments": "{}"}), "function: read as `name` and `args`", id="a call of OpenAI's"),
    pytest.param(calling(name="f", args='{"a": 1}'), "args: arguments as JSON text", id="arguments as text"),
    pytest.param(a_set(turn={"intermediate_data": {"intermediate_responses": [{"author": "x", "parts": []}]}}), "intermediate_responses[0]: an object", id="an answer as object"),
    pytest.param(a_set(turn={"intermediate_data": {"intermediate_responses": [["x", None]]}}), "intermediate_responses[0][1]: null is read as not stated", id="an answer without parts"),
    pytest.param({"eval_set_id": "s", "eval_cases": [{"id": "a", "conversation": [USER]}]}, "eval_cases[0].id: read as `eval_id`", id="the id of adk-rs"),
    pytest.param(played(habit={"behaviorInstructions": []}), "ADK reads only `behavior_instructions` here and refuses this file", id="a persona in camelCase"),
    pytest.param({"id": "s", "eval_cases": []}, "id: read as `eval_set_id`", id="a set's id of adk-rs"),
]  # fmt: skip

TAKEN = [
    pytest.param(a_set(turn={"final_response": None, "intermediate_data": None, "duration": None, "rubrics": None}), id="nulls it takes"),
    pytest.param(a_set(case={"session_input": None, "final_session_state": None, "rubrics": None}), id="nulls of a case"),
    pytest.param(a_set(creation_timestamp="12.5", case={"creation_timestamp": 1}), id="times that are numbers"),
    pytest.param(calling(name="f", args=None, id=None), id="null arguments"),
    pytest.param(a_set(turn={"intermediateData": {"toolUses": [{"name": "f"}]}}), id="camelCase below the set"),
    pytest.param(a_set(case={"id": "mine", "tags": ["x"], "creationTimestamp": 1}), id="keys of a case of one's own"),
    pytest.param(a_set(id="mine"), id="an id in addition to the set's id"),
    pytest.param(a_set(creationTimestamp=1), id="a key of the set that it drops"),
    pytest.param(played(habit=INSTRUCTED, mood="good"), id="a key of a persona that it drops"),
    pytest.param(a_set(case={"conversation": None, "conversation_scenario": {"starting_prompt": "a", "conversation_plan": "b", "user_persona": "EXPERT"}}), id="a persona by its name"),
]  # fmt: skip


def refusals(path: Path, document: Any) -> list[str]:
    path.write_text(json.dumps(document), encoding="utf-8")
    report = check_file(path)
    assert report.readable
    return [str(problem) for problem in report.problems if "refuses" in problem.message + problem.hint]


@pytest.mark.parametrize(("document", "message"), REFUSED)
def test_value_that_google_adk_refuses_is_reported_with_its_location(
    tmp_path: Path, document: Any, message: str
) -> None:
    lines = refusals(tmp_path / "s.evalset.json", document)
    assert message in lines[0]
    assert ": warning: " in lines[0]


@pytest.mark.parametrize("document", TAKEN)
def test_value_that_google_adk_accepts_is_not_reported(tmp_path: Path, document: Any) -> None:
    assert refusals(tmp_path / "s.evalset.json", document) == []


def test_of_yaml_google_adk_reads_only_what_it_is_converted_to(tmp_path: Path) -> None:
    path = tmp_path / "s.evalset.yaml"
    path.write_text(yaml.safe_dump(a_set(turn={"creation_timestamp": "2026-01-31"})), encoding="utf-8")
    assert check_file(path).problems == []


@pytest.mark.needs_adk
@pytest.mark.parametrize("document", [row.values[0] for row in (*REFUSED, *TAKEN)])
def test_google_adk_decides_so(tmp_path: Path, document: Any) -> None:
    from google.adk.evaluation.eval_set import EvalSet
    from pydantic import ValidationError

    try:
        EvalSet.model_validate_json(json.dumps(document))
    except ValidationError:
        assert refusals(tmp_path / "s.evalset.json", document)
    else:
        assert refusals(tmp_path / "s.evalset.json", document) == []
