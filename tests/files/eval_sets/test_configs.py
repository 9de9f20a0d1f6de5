"""Configs, scenarios, session inputs and results."""

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import EvalFileError
from proctor.files.eval_sets import documents
from proctor.files.eval_sets.load import load_config, load_results, load_scenarios, load_session_input
from proctor.files.eval_sets.source import open_eval_set
from proctor.schema.format.wire_model import WireModel


def written(tmp_path: Path, document: Any, name: str = "f.json") -> Path:
    path = tmp_path / name
    path.write_text(
        document if isinstance(document, str) else json.dumps(document, indent=1), encoding="utf-8"
    )
    return path


def warnings(tmp_path: Path, document: Any) -> list[str]:
    path = written(tmp_path, document)
    return [
        str(warning).removeprefix(f"{path}:").replace(" warning:", "") for warning in load_config(path)[1]
    ]


@pytest.mark.parametrize(
    "document",
    [
        pytest.param({"criteria": {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}}, id="thresholds"),
        pytest.param({"criteria": {"tool_trajectory_avg_score": {"threshold": 1, "matchType": "IN_ORDER", "ignoreArgs": True}}}, id="camel case options"),
        pytest.param({"criteria": {"final_response_match_v2": {"threshold": 0.5, "judgeModelOptions": {"numSamples": 3}}}}, id="a judge"),
        pytest.param({"criteria": {"response_match_score": {"threshold": 0.5, "gate": False, "applies_to": "recorded"}}}, id="Proctor's own options"),
        pytest.param({"customMetrics": {"mine": {"codeConfig": {"name": "a.b"}}}, "criteria": {"mine": 7}}, id="a custom metric"),
        pytest.param({"_comment": "why", "description": "what", "criteria": {"response_match_score": 0.5}}, id="words for people"),
    ],
)  # fmt: skip
def test_a_sound_config_has_no_warnings(tmp_path: Path, document: Any) -> None:
    assert warnings(tmp_path, document) == []


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        pytest.param({"criteria": {"tool_trajectory_avg": 1}}, ["3:3: criteria.tool_trajectory_avg: unknown metric 'tool_trajectory_avg' (did you mean `tool_trajectory_avg_score`?)"], id="metric misspelt"),
        pytest.param({"criteria": {"politeness": 1}}, ["3:3: criteria.politeness: unknown metric 'politeness' (register a custom metric, or name it in `custom_metrics`)"], id="unknown metric"),
        pytest.param({"criteria": {"response_match_score": 7}}, ["3:27: criteria.response_match_score: the threshold 7 can never pass: scores are from 0 to 1"], id="cannot pass"),
        pytest.param({"criteria": {"response_evaluation_score": 0.5}}, ["3:32: criteria.response_evaluation_score: the threshold 0.5 can never fail: scores are from 1 to 5"], id="cannot fail"),
        pytest.param({"criteria": {"tool_trajectory_avg_score": {"threshold": 1, "match_typ": "ANY_ORDER"}}}, ["5:4: criteria.tool_trajectory_avg_score.match_typ: unknown option (did you mean `match_type`?)"], id="option misspelt"),
        pytest.param({"criteria": {"tool_trajectory_avg_score": {"threshold": 1, "match_type": "SOME"}}}, ["5:18: criteria.tool_trajectory_avg_score.match_type: expected EXACT, IN_ORDER or ANY_ORDER (or 0, 1, 2), got the text “SOME”"], id="option's value"),
        pytest.param({"criteria": {"tool_trajectory_avg_score": {"threshold": 1, "match_type": True}}}, ["5:18: criteria.tool_trajectory_avg_score.match_type: expected EXACT, IN_ORDER or ANY_ORDER (or 0, 1, 2), got true"], id="a bool for a number"),
        pytest.param({"criteria": {"token_usage_v1": 5}}, ["3:21: criteria.token_usage_v1: this metric is always reported and takes no threshold (ADK cannot evaluate it so)"], id="efficiency metric"),
        pytest.param({"criteria": {"response_match_score": 1}, "live_model_config": {}}, ["5:2: live_model_config: live mode is not supported: a run with this config is refused (remove `live_model_config` to run without live streaming)"], id="live mode"),
        pytest.param({"criteria": {"response_match_score": 1}, "userSimulatorConfig": {"type": "llm_audio"}}, ["6:11: userSimulatorConfig.type: simulated users with audio (llm_audio) are not supported: a scenario run with this config is refused (use `llm_backed`)"], id="speaking users"),
        pytest.param({"criteria": {}, "custom_metrics": {"mine": {"code_config": {"name": "a.b"}}}}, ["2:14: criteria: no criteria: this config names no metric, so only what a case states is scored (name a metric in `criteria`)", "4:3: custom_metrics.mine: this metric is not in `criteria`: it is not computed"], id="custom metric that nothing asks for"),
    ],
)  # fmt: skip
def test_what_would_silently_change_what_is_judged_is_warned_about(
    tmp_path: Path, document: Any, expected: list[str]
) -> None:
    assert sorted(warnings(tmp_path, document)) == expected


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"criteria": {"m": None}}, "3:8: error: criteria.m: expected a number"),
        ({"criteria": {"m": {"min_score": 1}}}, "there is `min_score`"),
        ({"criteria": {"m": {"treshold": 1}}}, "is `treshold` a misspelling of it?"),
        ({"criteria": [1]}, "2:14: error: criteria: expected an object, got a list"),
        ({"user_simulator_config": {"type": "other"}}, "llm_backed or llm_audio"),
        ({"criteria": {"m": 1, "n": "x"}, "custom_metrics": {"n": {}}}, "`code_config` is missing"),
        ({"eval_set_id": "s", "eval_cases": []}, "expected an eval config, but this is an eval set"),
        ([{"query": "q"}], "expected an eval config, but this is an old test file"),
        ([], "expected an eval config"),
        ('{"criteria": {"m": NaN}}', "1:20: error: criteria.m: JSON has no number NaN"),
        ("", "the file is empty"),
    ],
)
def test_invalid_config_is_refused(tmp_path: Path, document: Any, message: str) -> None:
    with pytest.raises(EvalFileError) as caught:
        load_config(written(tmp_path, document))
    assert message in str(caught.value)


def test_all_problems_of_a_config_are_reported_at_once(tmp_path: Path) -> None:
    document = {
        "criteria": {"m": None, "n": {}},
        "custom_metrics": {"o": {"code_config": {"name": 3, "x": 1}}},
    }
    with pytest.raises(EvalFileError) as caught:
        load_config(written(tmp_path, document))
    assert [problem.field for problem in caught.value.problems] == [
        "criteria.m", "criteria.n", "custom_metrics.o.code_config.name", "custom_metrics.o.code_config.x",
    ]  # fmt: skip


def test_scenarios_and_session_inputs_in_both_spellings(tmp_path: Path) -> None:
    scenario = {"startingPrompt": "hi", "conversation_plan": "p", "userPersona": "NOVICE"}
    (only,) = load_scenarios(written(tmp_path, {"scenarios": [scenario]})).scenarios
    assert only.user_persona is not None
    assert only.user_persona.id == "NOVICE"
    session = load_session_input(
        written(tmp_path, {"appName": "a", "user_id": "u", "state": {"k": [1]}, "more": 1})
    )
    assert (session.app_name, session.user_id, session.state, session.model_extra) == (
        "a",
        "u",
        {"k": [1]},
        {"more": 1},
    )


@pytest.mark.parametrize(
    ("load", "document", "message"),
    [
        (load_scenarios, {"scenarios": [{"starting_prompt": "a"}, {"starting_prompt": "b", "conversation_plan": "c", "user_persona": "EXPRT"}]}, "did you mean"),
        (load_scenarios, {"criteria": {}}, "this is an eval config"),
        (load_scenarios, {"senarios": []}, "is `senarios` meant to be `scenarios`?"),
        (load_session_input, {"app_name": "a"}, "`user_id` is missing"),
        (load_session_input, {"app_nme": "a", "user_id": "u"}, "is `app_nme` a misspelling of it?"),
        (load_results, {"eval_cases": []}, "this is an eval set"),
        (load_results, {"eval_set_result_id": "x"}, "`eval_set_id` is missing"),
    ],
)  # fmt: skip
def test_other_files_are_refused_by_what_is_wrong(
    tmp_path: Path, load: Any, document: Any, message: str
) -> None:
    with pytest.raises(EvalFileError) as caught:
        load(written(tmp_path, document))
    assert message in str(caught.value)


# --- results ---------------------------------------------------------------------------------------------------------


def full(model: WireModel) -> Any:
    return json.loads(model.model_dump_json())


def test_results_read_as_recorded(shared: Path, tmp_path: Path) -> None:
    vectors = json.loads((shared / "golden" / "result_reading.json").read_text(encoding="utf-8"))["vectors"]
    seen = {"equal": 0, "refused": 0, "more": 0}
    for vector in vectors:
        path = written(tmp_path, vector["text"])
        if "ok" in vector["result"]:
            assert full(load_results(path)) == vector["result"]["ok"]
            seen["equal"] += 1
        elif '"FAILED"' in vector["text"] or vector["text"].startswith('"\\"{'):
            # ADK takes statuses as numbers only, and one string around a result, not two
            assert load_results(path).eval_case_results
            seen["more"] += 1
        else:
            with pytest.raises(EvalFileError):
                load_results(path)
            seen["refused"] += 1
    assert seen == {"equal": 4, "refused": 4, "more": 2}


def test_places_inside_a_result_in_a_string_are_those_of_the_file(tmp_path: Path) -> None:
    inner = '{\n "eval_set_result_id": "é\\n😀",\n "eval_set_id": 3}'
    for ascii_ in (True, False):
        outer = json.dumps(inner, ensure_ascii=ascii_)
        with pytest.raises(EvalFileError) as caught:
            load_results(written(tmp_path, outer))
        (problem,) = caught.value.problems
        assert (problem.line, outer[problem.column - 1]) == (1, "3")


def test_result_files_that_adk_wrote_are_read_whole(shared: Path) -> None:
    paths = sorted((shared / "golden" / "files").glob("*.evalset_result.json"))
    assert len(paths) == 4
    for path in paths:
        assert full(load_results(path))["eval_case_results"]


def test_a_file_with_millions_of_keys_is_refused_before_it_is_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "MOST_KEYS", 1000)
    path = written(tmp_path, {f"k{i}": 0 for i in range(2000)})
    for load in (load_config, load_results, load_session_input):
        with pytest.raises(EvalFileError, match="more than 1,000 keys"):
            load(path)


def test_a_file_that_is_too_large_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "")
    with path.open("wb") as file:
        file.truncate(200 << 20)  # sparse: takes no space
    monkeypatch.setattr(Path, "read_bytes", lambda self: pytest.fail("it was read"))
    for load in (load_config, load_results):
        with pytest.raises(EvalFileError, match="the file has 200 MiB"):
            load(path)


def test_a_config_with_a_misspelled_key_is_not_usable(tmp_path: Path) -> None:
    path = tmp_path / "test_config.json"
    path.write_text('{\n "critera": {"response_match_score": 1}\n}', encoding="utf-8")
    with pytest.raises(EvalFileError, match=r":2:2: error: critera: .*did you mean `criteria`"):
        load_config(path)


def test_misspelled_key_of_an_expectation_is_reported_when_a_set_is_opened(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.evalset.json"
    turn = '{"user_content": {}, "intermediate_data": {"tool_use": []}, "expected_tool_use": []}'
    case = '{"eval_id": "a", "final_sesion_state": {"k": 1},\n"conversation": [\n' + turn + "]}"
    path.write_text('{"eval_set_id": "s", "eval_cases": [\n' + case + "]}", encoding="utf-8")
    warnings = [(warning.line, warning.hint) for warning in open_eval_set(path).misread]
    assert warnings == [
        (2, "did you mean `final_session_state`?"),
        (4, "calls are expected in `intermediate_data.tool_uses`"),
        (4, "did you mean `tool_uses`?"),
    ]


def test_duplicate_value_of_a_config_is_reported_when_it_is_loaded(tmp_path: Path) -> None:
    """The parser takes the later one: what the first asks for would be left out in silence."""
    path = tmp_path / "test_config.json"
    path.write_text(
        '{"criteria": {"response_match_score": 0.9},\n "criteria": {"tool_trajectory_avg_score": 0.1}}'
    )
    _, (warning,) = load_config(path)
    assert str(warning).startswith(f"{path}:2:2: warning: the key “criteria” appears twice in one object")
