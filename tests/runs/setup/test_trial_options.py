"""Trial options of a call take precedence over the `trials` of the config: one rule for both."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

import proctor
from proctor import CaseResult, Outcome, RunResult, SetupProblems

TURN = {"user_content": {"parts": [{"text": "hi"}]}, "final_response": {"parts": [{"text": "hello there"}]}}
SET: dict[str, Any] = {"eval_set_id": "greetings", "eval_cases": [{"eval_id": "hi", "conversation": [TURN]}]}
CONFIG: dict[str, Any] = {"criteria": {"response_match_score": 0.9}}


def _answers(*, right: int, of: int) -> Any:
    """An agent of which so many trials of so many are right, the first ones."""
    number = count()

    def agent(text: str) -> str:
        return "hello there" if next(number) % of < right else "go away"

    return agent


@pytest.mark.parametrize(
    ("asked", "stated", "outcome"),
    [
        pytest.param({}, {}, Outcome.FAILED, id="nothing asked: the mean decides"),
        pytest.param({"min_pass_rate": 0.8}, {}, Outcome.PASSED, id="a share that is reached"),
        pytest.param({"min_pass_rate": 0.9}, {}, Outcome.FAILED, id="a share that is missed"),
        pytest.param({"min_pass_rate": 0.8}, {"min_pass_rate": 1.0}, Outcome.PASSED, id="over the value of the config"),
        pytest.param({"pass_k": 2}, {"min_pass_rate": 0.5}, Outcome.PASSED, id="in addition to the config"),
        pytest.param({"min_pass_rate": 0.8, "confidence": 0.95}, {}, Outcome.INCONCLUSIVE, id="with a confidence"),
    ],
)  # fmt: skip
def test_what_is_asked_of_the_trials(asked: dict[str, Any], stated: dict[str, Any], outcome: Outcome) -> None:
    config = {**CONFIG, "trials": stated} if stated else CONFIG
    agent = _answers(right=4, of=5)
    result = proctor.evaluate_sync(agent, SET, config=config, num_runs=5, concurrency=1, **asked)
    assert result.outcome is outcome
    assert len(result.cases[0].trials) == 5


def test_the_number_of_runs_of_the_config_stays_where_none_is_asked_for() -> None:
    config = {**CONFIG, "trials": {"num_runs": 4}}
    result = proctor.evaluate_sync(
        _answers(right=3, of=4), SET, config=config, concurrency=1, min_pass_rate=0.75
    )
    assert result.outcome is Outcome.PASSED
    assert len(result.cases[0].trials) == 4


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        pytest.param({"min_pass_rate": 0}, "expected a share above 0", id="what can never fail"),
        pytest.param({"min_pass_rate": 1.5}, "expected a share of at most 1", id="what can never pass"),
        pytest.param({"confidence": 0.9}, "expected a `min_pass_rate` below 1", id="a confidence of nothing"),
        pytest.param({"pass_k": 3, "num_runs": 2}, "expected a `pass_k` of at most", id="more in a row than there are"),
    ],
)  # fmt: skip
def test_what_cannot_decide_is_refused_before_anything_runs(asked: dict[str, Any], message: str) -> None:
    calls = count()
    with pytest.raises(SetupProblems, match=message):
        proctor.evaluate_sync(lambda text: str(next(calls)), SET, config=CONFIG, **asked)
    assert next(calls) == 0


@pytest.mark.parametrize("outcome", Outcome)
def test_only_what_passed_is_true(outcome: Outcome) -> None:
    case = CaseResult("set", "case", outcome)
    assert bool(case) is case.passed is (outcome is Outcome.PASSED)
    run = RunResult("agent", cases=[case])
    assert bool(run) is run.passed is (outcome is Outcome.PASSED)


def test_a_run_without_cases_is_not_true() -> None:
    assert not RunResult("agent")
