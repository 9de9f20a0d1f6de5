"""A turn in which the agent does nothing at all is an error of the agent, unless the case states silence."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.agents.base import Session
from proctor.common.safe_text import is_visible
from proctor.engine.planning.plan import make_plan
from proctor.engine.planning.set_plan import EvalSetSource, SetRequest
from proctor.engine.run_options import RunOptions
from proctor.engine.trial.trial_runner import find_silence
from proctor.models.scripted import ScriptedModel
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import FailureKind, Trial
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import Content
from proctor.schema.results.run_result import Outcome
from tests.engine.scripted import EXACT, case, eval_set, turn

NO_CALLS = {"criteria": {"tool_trajectory_avg_score": 1.0}}
"""Without expected calls it is a prohibition: an agent that does nothing satisfies it."""
EMPTY = {"role": "model", "parts": [{"text": ""}]}

SILENT: dict[str, list[dict[str, Any]]] = {
    "no event": [],
    "an empty text": [{"content": {"parts": [{"text": ""}]}}],
    "white space and characters without width": [{"content": {"parts": [{"text": " \u200b\ufeff\u2060\n"}]}}],
    "an event without content": [{}],
    "a content without parts": [{"content": {"role": "model"}}, {"content": {"parts": []}}],
    "an empty part": [{"content": {"parts": [{}]}}],
    "the usage of a model that answered nothing": [{"usage_metadata": {"prompt_token_count": 5}, "model_version": "m"}],
    "google-adk's empty actions": [{"actions": {"stateDelta": {}, "artifactDelta": {}}}],
    "an empty change of state": [{"state_delta": {}}],
}  # fmt: skip
NOT_SILENT: dict[str, list[dict[str, Any]]] = {
    "a text": [{"content": {"parts": [{"text": "."}]}}],
    "a thought": [{"content": {"parts": [{"text": "hmm", "thought": True}]}}],
    "a piece of a streamed text": [{"partial": True, "content": {"parts": [{"text": "he"}]}}],
    "a call": [{"content": {"parts": [{"function_call": {"name": "f"}}]}}],
    "a call without a name": [{"content": {"parts": [{"function_call": {}}]}}],
    "a response": [{"author": "user", "content": {"parts": [{"function_response": {"name": "f"}}]}}],
    "an image": [{"content": {"parts": [{"inline_data": {"mime_type": "image/png", "data": "AA=="}}]}}],
    "a change of state": [{"state_delta": {"a": 1}}],
    "a transfer": [{"actions": {"transferToAgent": "other"}}],
    "an error": [{"error_code": "SAFETY"}],
    "something after nothing": [{}, {"content": {"parts": [{"text": "Hello"}]}}],
}


PLAN = make_plan([SetRequest(EvalSetSource(eval_set(case("a"))), EXACT, "")], RunOptions()).sets[0]


def trial_of(*turns: list[dict[str, Any]]) -> Trial:
    message = Content.model_validate({"parts": [{"text": "hi"}]})
    made = [
        Turn(user_content=message, events=[Event.model_validate(event) for event in events])
        for events in turns
    ]
    return Trial(eval_set_id="set", eval_id="a", turns=made)


@pytest.mark.parametrize("events", SILENT.values(), ids=SILENT)
def test_silence(events: list[dict[str, Any]]) -> None:
    found = find_silence(trial_of(events), EvalCase.model_validate(case("a")), PLAN)
    assert found is not None
    assert (found.where, found.kind, found.turn) == ("agent", FailureKind.EMPTY, 0)


@pytest.mark.parametrize("events", NOT_SILENT.values(), ids=NOT_SILENT)
def test_no_silence(events: list[dict[str, Any]]) -> None:
    assert find_silence(trial_of(events), EvalCase.model_validate(case("a")), PLAN) is None


STATED: dict[str, tuple[Any, bool]] = {
    "one empty text": (EMPTY, True),
    "no answer": (None, False),
    "an answer without parts": ({"role": "model"}, False),
    "an answer with no part": ({"parts": []}, False),
    "two empty texts": ({"parts": [{"text": ""}, {"text": ""}]}, False),
    "an empty part": ({"parts": [{}]}, False),
    "a text": ({"parts": [{"text": "Paris"}]}, False),
}


@pytest.mark.parametrize("key", ["conversation", "opening"])
@pytest.mark.parametrize(("answer", "is_silence"), STATED.values(), ids=STATED)
def test_silence_is_stated_by_one_empty_text(answer: Any, is_silence: bool, key: str) -> None:
    expected = [{"user_content": {"parts": [{"text": "hi"}]}, "final_response": answer}]
    fields: dict[str, Any] = {"eval_id": "a", "conversation": expected}
    if key == "opening":
        played = {"starting_prompt": "hi", "conversation_plan": "Say hi."}
        fields = {"eval_id": "a", "opening": expected, "conversation_scenario": played}
    assert (find_silence(trial_of([]), EvalCase.model_validate(fields), PLAN) is None) is is_silence


def test_the_turn_is_named() -> None:
    stated = EvalCase.model_validate(case("a", {**turn("x"), "final_response": EMPTY}, turn("y"), turn("z")))
    found = find_silence(trial_of([], [{"content": {"parts": [{"text": "y"}]}}], []), stated, PLAN)
    assert found is not None
    assert found.turn == 2
    assert found.cause.startswith(
        "agent empty in turn 3: the agent gave no text, no tool call and no other event"
    )


# --- in a run ---------------------------------------------------------------------------------------------------------


def empty(_message: str) -> str:
    return ""


async def no_event(message: Content, session: Session) -> AsyncIterator[Event]:
    return
    yield


def speaks(_message: str) -> str:
    return "hello"


@pytest.mark.parametrize("agent", [empty, no_event, "replay"], ids=["an empty text", "no event", "replay"])
@pytest.mark.parametrize("trials", [1, 3])
def test_an_agent_that_does_nothing_is_in_error(agent: Any, trials: int) -> None:
    given = eval_set(case("a", turn("hi", expect=None)))
    found = proctor.evaluate_sync(agent, given, config=NO_CALLS, num_runs=trials)
    assert found.outcome is Outcome.ERROR
    assert "agent empty in turn 1" in found.cases[0].reason


@pytest.mark.parametrize("agent", [empty, no_event, "replay"], ids=["an empty text", "no event", "replay"])
def test_where_silence_is_stated_it_passes(agent: Any) -> None:
    given = eval_set(case("a", {**turn("hi"), "final_response": EMPTY}))
    assert proctor.evaluate_sync(agent, given, config=NO_CALLS).outcome is Outcome.PASSED


@pytest.mark.parametrize("where", ["run", "criterion"])
def test_compat_keeps_the_verdict_of_google_adk(where: str) -> None:
    given = eval_set(case("a", turn("hi", expect=None)))
    criterion = {"threshold": 1.0, "compat": "adk"} if where == "criterion" else 1.0
    found = proctor.evaluate_sync(
        empty,
        given,
        config={"criteria": {"tool_trajectory_avg_score": criterion}},
        compat="adk" if where == "run" else None,
    )
    assert found.outcome is Outcome.PASSED


def test_a_silent_turn_of_a_scenario_is_an_error() -> None:
    played = {"starting_prompt": "Hi", "conversation_plan": "Say hello."}
    given = {"eval_set_id": "set", "eval_cases": [
        {"eval_id": "s", "conversation_scenario": played, "session_input": {"app_name": "a", "user_id": "u", "state": {"k": 1}},
         "final_session_state": {"k": 1}}]}  # fmt: skip
    config: dict[str, Any] = {"criteria": {}}
    for agent, outcome in ((empty, Outcome.ERROR), (speaks, Outcome.PASSED)):
        user = ScriptedModel(["</finished>"] * 3)
        assert proctor.evaluate_sync(agent, given, config=config, user=user).outcome is outcome


def test_a_silent_run_made_before_is_in_error_when_it_is_scored_again(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/s.sqlite3"
    given = eval_set(case("a", turn("hi", expect=None)))
    run = proctor.evaluate_sync(empty, given, config=NO_CALLS, compat="adk", store=store)
    assert run.outcome is Outcome.PASSED
    again = proctor.rescore_sync(run.run_id, config=NO_CALLS, store=store)
    assert again.outcome is Outcome.ERROR


@pytest.mark.parametrize(
    ("text", "visible"),
    [("", False), (" \n\t", False), ("\u200b", False), ("\u3164\u00ad\ufe0f", False), (".", True), ("\u200ba", True), ("🙂", True)],
)  # fmt: skip
def test_what_a_person_sees(text: str, visible: bool) -> None:
    assert is_visible(text) is visible
