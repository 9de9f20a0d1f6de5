"""The example in the facts of each metric is a config that runs, and gives a score."""

from collections.abc import Iterator
from typing import Any

import pytest

import proctor
from proctor import Event
from proctor.common.registry import load_object
from proctor.metrics.base import MetricFacts, example_of
from proctor.metrics.builtin import METRICS
from proctor.schema.results.score import Outcome
from tests.metrics.judged.judges import agreeing

ANSWER = 'It is sunny in Paris, 21 degrees: {"city": "Paris", "celsius": 21}'
CALL = {"name": "get_weather", "args": {"city": "Paris"}, "id": "1"}
CASE = {
    "eval_id": "weather",
    "conversation": [
        {
            "user_content": {"role": "user", "parts": [{"text": "What is the weather in Paris?"}]},
            "final_response": {"role": "model", "parts": [{"text": ANSWER}]},
            "intermediate_data": {
                "invocation_events": [
                    {"author": "scout", "content": {"parts": [{"text": "I look it up."}]}},
                    {"author": "scout", "content": {"parts": [{"function_call": CALL}]}},
                    {"author": "weather"},
                ]
            },
        }
    ],
    "session_input": {"app_name": "weather", "user_id": "u"},
    "final_session_state": {"asked": 1},
}

AVAILABLE: list[MetricFacts] = [
    facts for path in METRICS.values() if (facts := load_object(path).facts).gates
]
RECORDED = [facts for facts in AVAILABLE if "scenario" not in facts.needs]


def agent(text: str, session: proctor.Session) -> Iterator[Any]:
    session.state["asked"] = 1
    yield _event("scout", {"text": "I look it up."})
    yield _event("scout", {"function_call": CALL})
    response = {"id": "1", "name": "get_weather", "response": {"celsius": 21}}
    yield _event("scout", {"function_response": response})
    yield _event("weather", {"text": ANSWER})


def _event(author: str, part: dict[str, Any]) -> Event:
    return Event.model_validate({"author": author, "content": {"role": "model", "parts": [part]}})


@pytest.mark.parametrize("facts", RECORDED, ids=lambda facts: facts.name)
def test_the_example_runs(facts: MetricFacts) -> None:
    config = {"criteria": example_of(facts)}
    result = proctor.evaluate_sync(
        agent, {"eval_set_id": "s", "eval_cases": [CASE]}, config=config, judge=agreeing
    )
    found = result.cases[0].metrics[facts.name]
    assert (found.outcome, found.failure) == (Outcome.PASSED, None), found.reason
    assert found.score is not None


@pytest.mark.parametrize("facts", AVAILABLE, ids=lambda facts: facts.name)
def test_the_example_uses_the_metric_and_its_own_options(facts: MetricFacts) -> None:
    criterion = example_of(facts)[facts.name]
    options = {*criterion} - {"threshold"} if isinstance(criterion, dict) else set()
    assert options <= {*facts.options}
    assert not isinstance(criterion, dict) or options, "a threshold alone is written as a number"
