"""From Python as from the command line: nothing is green by accident, and nothing that was asked for is passed over."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.errors import SetupError, SetupProblems
from proctor.schema.results.run_result import Outcome, RunResult

INVOCATION = {
    "user_content": {"parts": [{"text": "hi"}]},
    "final_response": {"parts": [{"text": "hello"}]},
}
SET = {"eval_set_id": "greetings", "eval_cases": [{"eval_id": "hi", "conversation": [INVOCATION]}]}


MISPLACED = proctor.EvalConfig.model_validate(
    {"criteria": {"response_match_score": 0.8}, "custom_metric": {}}
)


class Counting:
    """Answers rightly, and counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, text: str) -> str:
        self.asked += 1
        return "hello"


def evaluate(agent: Any, sets: Any = SET, **options: Any) -> RunResult:
    result: RunResult = proctor.evaluate_sync(agent, sets, **options)
    return result


def test_without_a_fault_it_passes() -> None:
    agent = Counting()
    assert evaluate(agent).passed
    assert agent.asked == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_run": 5}, "there is no option 'num_run'. Did you mean 'num_runs'?"),
        ({"trials": 3}, "there is no option 'trials'. Did you mean 'num_runs'?"),
        (
            {"criteria": {"response_match_score": 0.8}},
            "there is no option 'criteria'. Did you mean 'config'?",
        ),
        ({"config_file_path": "x.json"}, "there is no option 'config_file_path'. Did you mean 'config'?"),
        ({"parallelism": 2}, "there is no option 'parallelism'. Did you mean 'concurrency'?"),
        ({"tag": ["smoke"]}, "there is no option 'tag'. Did you mean 'tags'?"),
        ({"metric": ["response_match_score"]}, "there is no option 'metric'. Did you mean 'metrics'?"),
        ({"num_runs": 0}, "num_runs must be at least 1, got 0"),
        ({"num_runs": True}, "num_runs must be a whole number, got True"),
        ({"num_runs": 1.5}, "num_runs must be a whole number, got 1.5"),
        ({"concurrency": "8"}, "concurrency must be a whole number, got '8'"),
        ({"limit": 0}, "limit must be at least 1, got 0"),
        ({"limit": "all"}, "limit must be a whole number, got 'all'"),
        ({"timeout": "300"}, "timeout must be a number of seconds above 0, got '300'"),
        ({"timeout": float("nan")}, "timeout must be a number of seconds above 0, got nan"),
        ({"fail_fast": "no"}, "fail_fast must be True or False, got 'no'"),
        ({"keep_going": 1}, "keep_going must be True or False, got 1"),
        ({"no_judge": "false"}, "no_judge must be True or False, got 'false'"),
        ({"config": 3}, "config: expected a path, an EvalConfig or a dict, got int"),
        ({"progress": print}, "has no `run_started`, `trial_finished`, `case_finished`, `run_finished`"),
        ({"stop": print}, "has no `listen`"),
        ({"keep_evidence": "none"}, "keep_evidence must be 'all' or 'failures', got 'none'"),
        ({"explain": True}, "explain must be 'all' or 'failures', got True"),
        ({"compat": "ADK"}, "compat knows only 'adk', got 'ADK'"),
        ({"judge": 7}, "judge: A model is a name, an object with `complete`, or a function"),
        (
            {"judge": "gemini-2.5 flash"},
            "judge: No model is called 'gemini-2.5 flash'. Did you mean 'gemini-2.5-flash'?",
        ),
        ({"config": {"criteria": {"safety_v1": 1.0}}, "judge": "xai:grok-9"}, "The model xai:grok-9 "),
        (
            {"only": {"greeting": ["hi"]}},
            "what is asked for (`only`, --failed) names 'greeting'; the sets to run are 'greetings'",
        ),
        (
            {"only": {}},
            "what is asked for (`only`, --failed) names no set; the sets to run are 'greetings'",
        ),
        ({"only": {"greetings": ["hi", "ho"]}}, "no case 'ho'"),
        ({"tags": "smoke"}, "no case carries the tag smoke"),
        ({"metrics": []}, "'hi': nothing decides it"),
        ({"metrics": "respons_match_score"}, "metrics: the criteria do not have 'respons_match_score'"),
        ({"config": {}}, "'hi': nothing decides it"),
        ({"config": {"criteria": {}}}, "'hi': nothing decides it"),
        ({"config": {"critera": {"response_match_score": 0.8}}}, "did you mean `criteria`?"),
        ({"config": MISPLACED}, "a config object in Python: custom_metric: unknown key"),
        ({"config": {"response_match_score": 0.8}}, "put it into `criteria`"),
        ({"config": {"criteria": {"response_match_scor": 0.8}}}, "Did you mean 'response_match_score'?"),
        ({"config": "nowhere.json"}, "nowhere.json"),
        ({"agent_name": "helper"}, "helper"),
    ],
    ids=str,
)
def test_a_mistake_in_the_options_stops_before_the_first_call(options: dict[str, Any], message: str) -> None:
    agent = Counting()
    with pytest.raises(SetupProblems) as caught:
        evaluate(agent, **options)
    assert message in str(caught.value)
    assert agent.asked == 0


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ([], "no eval set given"),
        (None, "expected an eval set"),
        (7, "expected an eval set"),
        ({"eval_set_id": "s", "eval_cases": []}, "no cases"),
        ({"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": []}]}, "no turns"),
        ({"eval_cases": 3}, "<eval set>:1:"),
        ([SET, "gone.evalset.json"], "gone.evalset.json"),
        ({**SET, "eval_cases": SET["eval_cases"] * 2}, "the id 'hi' is already used by the case at 1:"),  # type: ignore[operator]  # it is a list
        ({"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": [{}]}]}, "user_content"),
    ],
    ids=lambda given: str(given)[:60],
)
def test_a_mistake_in_the_sets_stops_before_the_first_call(sets: Any, message: str) -> None:
    agent = Counting()
    with pytest.raises(SetupProblems) as caught:
        evaluate(agent, sets)
    assert message in str(caught.value)
    assert agent.asked == 0


@pytest.mark.parametrize("as_model", [False, True], ids=["dict", "model"])
def test_cases_of_one_id_run_under_distinct_ids_when_that_is_asked_for(as_model: bool) -> None:
    document = {**SET, "eval_cases": [SET["eval_cases"][0]] * 3}
    sets = proctor.EvalSet.model_validate(document) if as_model else document
    with pytest.raises(SetupProblems, match="'hi'"):
        evaluate(Counting(), sets)
    result = evaluate(Counting(), sets, allow_duplicate_ids=True)
    assert [(case.eval_id, case.outcome) for case in result.cases] == [
        (name, Outcome.PASSED) for name in ("hi", "hi#2", "hi#3")
    ]


def test_all_mistakes_are_reported_at_once() -> None:
    with pytest.raises(SetupProblems) as caught:
        evaluate(
            "no/such/agent.py", [SET, "gone.json"], num_runs=0, comcurrency=3, config={"criteria": {"x": 1}}
        )
    wanted = ["no/such/agent.py", "gone.json", "num_runs", "comcurrency", "'x'"]
    assert [words for words in wanted if words not in str(caught.value)] == []


def test_config_for_names_only_is_reported() -> None:
    result = evaluate(Counting(), only={"greetings": ["hi"], "farewells": ["bye"]})
    assert result.passed
    assert result.warnings == [
        "what is asked for (`only`, --failed) names 'farewells', which is not among the sets to run"
    ]


def test_none_is_the_default() -> None:
    options = dict.fromkeys(
        ("num_runs", "concurrency", "limit", "trial_timeout", "metrics", "tags", "compat")
    )
    assert evaluate(Counting(), **options).passed


def test_empty_list_of_agents_is_refused() -> None:
    import asyncio

    with pytest.raises(SetupProblems, match="no agent given"):
        asyncio.run(proctor.evaluate_matrix([], SET))


Score = Callable[[], Any]


def score(actual: Any = INVOCATION, expected: Any = INVOCATION, criteria: Any = None, **more: Any) -> Any:
    return proctor.score_sync(actual, expected, criteria=criteria or {"response_match_score": 0.8}, **more)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: proctor.score_sync(INVOCATION, INVOCATION, criteria={}), "criteria: none are given"),
        (lambda: score(criteria={"criteria": {}}), "criteria: none are given"),
        (lambda: score(criteria=["response_match_score"]), "criteria: expected a dict"),
        (lambda: score(criteria={"response_match": 1}), "Did you mean 'response_match_score'"),
        (lambda: score(criteria={"response_match_score": "high"}), "got 'high'"),
        (lambda: score(criteria={"response_match_score": 0}), "cannot fail"),
        (lambda: score(criteria={"tool_call_count_v1": 1}), "informational"),
        (lambda: score(actual="hello"), "actual: expected invocations or a list of tool names, got str"),
        (lambda: score(actual=None), "actual: expected invocations or a list of tool names, got NoneType"),
        (lambda: score(actual=[{"final_response": {}}]), "actual[0]: "),
        (lambda: score(expected=3), "expected: expected invocations or a list of tool names, got int"),
        (lambda: score(scenario={"plan": "none"}), "scenario: "),
    ],
    ids=range(12),
)
def test_scoring_refuses_what_it_cannot_score(call: Score, message: str) -> None:
    with pytest.raises(SetupError) as caught:
        call()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("actual", "expected", "outcome"),
    [
        (INVOCATION, INVOCATION, Outcome.PASSED),
        (INVOCATION, None, Outcome.NOT_APPLICABLE),
        ([], [], Outcome.NOT_APPLICABLE),
        ([INVOCATION], [INVOCATION, INVOCATION], Outcome.ERROR),
        ([INVOCATION, INVOCATION], [INVOCATION], Outcome.ERROR),
        (INVOCATION, {"user_content": {"parts": []}}, Outcome.NOT_APPLICABLE),
        ({"user_content": {"parts": []}}, INVOCATION, Outcome.FAILED),
    ],
)
def test_scoring_passes_only_what_was_compared(actual: Any, expected: Any, outcome: Outcome) -> None:
    verdict = score(actual, expected)["response_match_score"]
    assert verdict.outcome is outcome
    assert verdict.reason or outcome is Outcome.PASSED
    assert (verdict.status.name == "PASSED") is (outcome is Outcome.PASSED)


def test_a_metric_cannot_change_what_the_others_see(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that empties both sides comes first; the answer is wrong, and is still seen to be."""
    (tmp_path / "vandal.py").write_text(
        "def wipe(actual_invocations, expected_invocations):\n"
        "    for one in [*actual_invocations, *expected_invocations]:\n"
        "        one.final_response = None\n"
        "    return 1.0\n\n\n"
        "def wipe_turn(actual, expected):\n"
        "    expected.final_response.parts.clear()\n"
        "    return 1.0\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    for function in ("wipe", "wipe_turn"):
        config = {
            "criteria": {"vandal": 0.5, "response_match_score": 0.8},
            "custom_metrics": {"vandal": {"code_config": {"name": f"vandal.{function}"}}},
        }
        result = evaluate(lambda text: "something else", config=config)
        assert result.outcome is Outcome.FAILED
        assert result.cases[0].metrics["response_match_score"].score == 0


@pytest.mark.parametrize(
    ("call", "option", "meant"),
    [
        (proctor.rescore_sync, "confg", "config"),
        (proctor.resume_sync, "stor", "store"),
        (proctor.calibrate_sync, "heldout", "held_out"),
        (proctor.compare_sync, "margins", "margin"),
        (proctor.score_trace_sync, "max_costs", "max_cost"),
    ],
    ids=lambda one: getattr(one, "__name__", one),
)
def test_a_misspelled_option_is_refused_before_anything_is_read(call: Any, option: str, meant: str) -> None:
    with pytest.raises(
        proctor.SetupProblems, match=f"there is no option '{option}'. Did you mean '{meant}'?"
    ):
        call("latest", **{option: 1})
