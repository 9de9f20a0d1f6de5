"""The Python door: sets, configs and agents in every form it takes."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor import Event, Outcome, SetupProblems

TURN = {
    "user_content": {"parts": [{"text": "Weather in Paris?"}]},
    "final_response": {"parts": [{"text": "Sunny."}]},
    "intermediate_data": {"tool_uses": [{"name": "get_weather", "args": {"city": "Paris"}}]},
}
SET: dict[str, Any] = {"eval_set_id": "weather", "eval_cases": [{"eval_id": "paris", "conversation": [TURN]}]}
EXACT = {"criteria": {"tool_trajectory_avg_score": 1.0}}


async def weather(text: str) -> Any:
    """An agent that knows one city."""
    yield Event.called("get_weather", {"city": "Paris"})
    yield "Sunny."


async def silent(text: str) -> str:
    return "Sunny."


def write(folder: Path, name: str, document: object) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def camel() -> dict[str, Any]:
    return {"evalSetId": "weather", "evalCases": [{"evalId": "paris", "conversation": [TURN]}]}


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(SET, id="a dict"),
        pytest.param(camel(), id="a dict in camelCase"),
        pytest.param(SET["eval_cases"][0], id="a bare case"),
        pytest.param(proctor.EvalSet.model_validate(SET), id="an EvalSet"),
        pytest.param([SET, {**SET, "eval_set_id": "again"}], id="several"),
    ],
)
def test_eval_sets_come_in_many_forms(given: Any) -> None:
    result = proctor.evaluate_sync(weather, given, config=EXACT)
    assert result.passed
    assert result.cases[0].metrics["tool_trajectory_avg_score"].score == 1.0


@pytest.mark.parametrize("kind", [str, Path])
def test_a_path_may_be_text_or_a_path(tmp_path: Path, kind: Any) -> None:
    path = write(tmp_path, "weather.evalset.json", SET)
    result = proctor.evaluate_sync(weather, kind(path), config=EXACT)
    assert result.passed
    assert result.cases[0].place == f"{path}:1"


@pytest.mark.parametrize(
    "config",
    [
        pytest.param(EXACT, id="a dict"),
        pytest.param(proctor.EvalConfig(criteria={"tool_trajectory_avg_score": 1.0}), id="an EvalConfig"),
        pytest.param(
            {"criteria": {proctor.PrebuiltMetrics.TOOL_TRAJECTORY_AVG_SCORE: 1.0}},
            id="with a member as the key",
        ),
    ],
)
def test_configs_come_in_many_forms(config: Any) -> None:
    assert proctor.evaluate_sync(silent, SET, config=config).outcome is Outcome.FAILED


def test_config_in_the_folder_of_the_set_applies_and_is_named(tmp_path: Path) -> None:
    config = write(tmp_path, "test_config.json", EXACT)
    path = write(tmp_path, "weather.evalset.json", SET)
    result = proctor.evaluate_sync(weather, path)
    assert Path(result.sets[0].config_source) == config
    assert "response_match_score" not in result.cases[0].metrics


def test_without_a_config_adks_defaults_judge() -> None:
    result = proctor.evaluate_sync(weather, SET)
    assert {"tool_trajectory_avg_score", "response_match_score"} <= set(result.cases[0].metrics)
    assert "defaults" in result.sets[0].config_source


def test_evaluate_and_evaluate_sync_work_in_a_running_loop() -> None:
    async def main() -> None:
        assert (await proctor.evaluate(weather, SET, config=EXACT)).passed
        assert proctor.evaluate_sync(weather, SET, config=EXACT).passed

    asyncio.run(main())


def test_all_configuration_errors_are_reported_at_once_without_agent_calls(tmp_path: Path) -> None:
    called: list[str] = []

    def agent(text: str) -> str:
        called.append(text)
        return text

    broken = tmp_path / "broken.evalset.json"
    broken.write_text('{"eval_set_id": "b", "eval_cases": [', encoding="utf-8")
    with pytest.raises(SetupProblems) as caught:
        proctor.evaluate_sync(
            agent,
            [SET, str(broken), "nowhere.json"],
            config={"criteria": {"nope": 1}},
            num_runs=0,
            store="sqllite:///x",
        )
    text = str(caught.value)
    for part in (
        "broken.evalset.json:1:",
        "nowhere.json",
        "No metric named 'nope'",
        "num_runs",
        "sqllite",
    ):
        assert part in text
    assert called == []


def test_a_missing_config_is_never_replaced_by_the_defaults(tmp_path: Path) -> None:
    with pytest.raises(SetupProblems, match=r"nowhere\.json"):
        proctor.evaluate_sync(weather, SET, config=tmp_path / "nowhere.json")


def test_unreadable_set_has_a_distinct_error_on_request(tmp_path: Path) -> None:
    good = write(tmp_path, "good.evalset.json", SET)
    bad = tmp_path / "bad.evalset.json"
    bad.write_text("{", encoding="utf-8")
    result = proctor.evaluate_sync(weather, [str(bad), str(good)], config=EXACT, keep_going=True)
    assert result.cases[0].passed
    assert result.outcome is Outcome.ERROR
    assert result.exit_code == 3
    failure = next(summary.failure for summary in result.sets if summary.failure)
    assert "bad.evalset.json:1:" in failure.message


def test_a_missing_file_is_a_configuration_error_even_if_the_others_run_on_request(tmp_path: Path) -> None:
    good, missing = write(tmp_path, "good.evalset.json", SET), tmp_path / "missing.evalset.json"
    with pytest.raises(SetupProblems, match=r"missing\.evalset\.json: no such file"):
        proctor.evaluate_sync(weather, [str(good), str(missing)], config=EXACT, keep_going=True)


def test_only_sets_that_cannot_be_read_are_never_a_pass(tmp_path: Path) -> None:
    bad = tmp_path / "bad.evalset.json"
    bad.write_text("{", encoding="utf-8")
    result = proctor.evaluate_sync(weather, str(bad), config=EXACT, keep_going=True)
    assert (result.outcome, result.exit_code) == (Outcome.ERROR, 3)


def test_a_matrix_runs_each_agent_and_checks_all_before_any() -> None:
    async def main() -> list[proctor.RunResult]:
        return await proctor.evaluate_matrix([weather, silent], SET, config=EXACT)

    assert [run.outcome for run in asyncio.run(main())] == [Outcome.PASSED, Outcome.FAILED]
    called: list[str] = []

    def agent(text: str) -> str:
        called.append(text)
        return text

    async def broken() -> None:
        await proctor.evaluate_matrix([agent, "no.such.module"], SET, config=EXACT)

    with pytest.raises(SetupProblems, match=r"no\.such\.module"):
        asyncio.run(broken())
    assert called == []


def test_cases_of_a_run_are_found_by_id() -> None:
    result = proctor.evaluate_sync(silent, SET, config=EXACT)
    assert result.case("paris").outcome is Outcome.FAILED
    assert result.counts == {Outcome.FAILED: 1}
    with pytest.raises(KeyError):
        result.case("rome")


# --- score -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        pytest.param(TURN, TURN, id="dicts"),
        pytest.param([TURN], [TURN], id="lists of dicts"),
        pytest.param(proctor.Invocation.model_validate(TURN), [TURN], id="a model and a list"),
    ],
)
def test_score_takes_models_and_plain_dicts(actual: Any, expected: Any) -> None:
    scores = proctor.score_sync(
        actual, expected, criteria={"response_match_score": 0.8, "tool_trajectory_avg_score": 1}
    )
    assert set(scores) == {"response_match_score", "tool_trajectory_avg_score"}
    for verdict in scores.values():
        assert verdict.score == 1.0
        assert verdict.status is proctor.EvalStatus.PASSED
        assert verdict.per_invocation[0].status is proctor.EvalStatus.PASSED
        assert verdict.per_invocation[0].reason


def test_reason_of_a_failed_score_is_reported() -> None:
    other = {**TURN, "intermediate_data": {"tool_uses": [{"name": "get_weather", "args": {"city": "Rome"}}]}}
    verdict = proctor.score_sync(other, TURN, criteria=EXACT)["tool_trajectory_avg_score"]
    assert verdict.status is proctor.EvalStatus.FAILED
    assert "Rome" in verdict.reason
    assert "Paris" in verdict.reason


@pytest.mark.parametrize(
    ("criteria", "actual", "message"),
    [
        pytest.param({"nope": 1}, TURN, "No metric named 'nope'", id="a metric that does not exist"),
        pytest.param(
            {"response_match_score": "high"}, TURN, "criteria", id="a threshold that is not a number"
        ),
        pytest.param({"response_match_score": 0.5}, {"final_response": {}}, "actual", id="no user content"),
    ],
)
def test_score_refuses_what_it_cannot_read(criteria: Any, actual: Any, message: str) -> None:
    with pytest.raises(SetupProblems, match=message):
        proctor.score_sync(actual, TURN, criteria=criteria)


UNREADABLE: dict[str, tuple[Any, str]] = {
    "a number among them": ([TURN, 3], r"actual\[1\]: expected an invocation .*, got int"),
    "a slip in the second": ([TURN, {**TURN, "final_response": 3}], r"actual\[1\]: final_response: "),
    "an eval case": ({"eval_id": "a", "conversation": [TURN]}, "actual: that is an eval case; give"),
    "an eval set": ([{"eval_set_id": "s", "eval_cases": []}], r"actual\[0\]: that is an eval set; give"),
}


@pytest.mark.parametrize("given", UNREADABLE)
def test_unreadable_invocation_is_named_by_score(given: str) -> None:
    actual, message = UNREADABLE[given]
    with pytest.raises(SetupProblems, match=message):
        proctor.score_sync(actual, TURN, criteria={"response_match_score": 0.5})


def test_load_eval_set_reads_any_generation(tmp_path: Path) -> None:
    old = write(tmp_path, "old.test.json", [{"query": "hi", "reference": "hello"}])
    case = proctor.load_eval_set(old).eval_cases[0]
    assert case.conversation is not None
    assert proctor.load_eval_set(write(tmp_path, "new.evalset.json", SET)) == proctor.EvalSet.model_validate(
        SET
    )
