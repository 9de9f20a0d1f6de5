"""Replay: any recorded case is reproduced exactly; each applicable fault makes a specific difference."""

import asyncio
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, strategies as st
from pydantic import BaseModel

from proctor.agents.replay import FAULTS, ReplayAgent, applies
from proctor.errors import AgentError, AgentLoadError
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import text_of
from proctor.schema.format.invocation import Invocation
from tests.agents.conftest import ask, new_session, read

Calls = list[tuple[str | None, dict[str, Any]]]


def replayed(case: EvalCase, *faults: str) -> tuple[list[Invocation], dict[str, Any]]:
    """The invocations that replay makes of a case, and the state it ends with."""

    async def main() -> tuple[list[Invocation], dict[str, Any]]:
        agent, session, found = ReplayAgent(faults), new_session(), []
        agent.begin(session, case)
        for turn in case.conversation or []:
            events = await ask(agent, turn.user_content, session)
            for event in events:
                session.state.update(event.state_delta or {})
            found.append(read(events))
        return found, session.state

    return asyncio.run(main())


def calls(invocation: Invocation) -> Calls:
    return [(call.name, call.args or {}) for call in invocation.tool_calls]


def responses(invocation: Invocation) -> list[Any]:
    return [(one.id, one.name, one.response) for one in invocation.tool_responses]


def text(invocation: Invocation) -> str:
    return text_of(invocation.final_response)


# --- any recorded case ------------------------------------------------------------------------------------------------

TEXTS = st.text(alphabet="abc ÄÖ", max_size=6) | st.sampled_from(["Umbrella", "Quartz zebra", "zq0"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
NAMES = st.sampled_from(["f", "g"])
IDS = st.none() | st.sampled_from(["1", "2"])
CALLS = st.fixed_dictionaries(
    {"name": NAMES, "id": IDS, "args": st.none() | st.dictionaries(TEXTS, JSON, max_size=2)}
)
RESPONSES = st.fixed_dictionaries(
    {"name": NAMES, "id": IDS, "response": st.dictionaries(TEXTS, JSON, max_size=2)}
)
PARTS = (
    TEXTS.map(lambda text: {"text": text})
    | TEXTS.map(lambda text: {"text": text, "thought": True})
    | CALLS.map(lambda call: {"function_call": call})
    | RESPONSES.map(lambda response: {"function_response": response})
    | st.just({"code_execution_result": {"outcome": "OUTCOME_OK", "output": "1"}})
    | st.just({"inline_data": {"mime_type": "image/png", "data": "AAEC"}})
)
PART_LISTS = st.lists(PARTS, max_size=3)
CONTENTS = st.fixed_dictionaries({"role": st.sampled_from(["model", "user", None]), "parts": PART_LISTS})
EVENTS = st.fixed_dictionaries(
    {"author": st.sampled_from(["root", "sub", "user", ""]), "content": st.none() | CONTENTS}
)
OLDER = st.fixed_dictionaries(
    {
        "tool_uses": st.lists(CALLS, max_size=3),
        "tool_responses": st.lists(RESPONSES, max_size=3),
        "intermediate_responses": st.lists(st.tuples(st.just("root"), PART_LISTS), max_size=1),
    }
)
TURNS = st.fixed_dictionaries(
    {
        "user_content": st.just({"parts": [{"text": "hi"}]}),
        "final_response": st.none() | CONTENTS,
        "intermediate_data": st.none()
        | OLDER
        | st.fixed_dictionaries({"invocation_events": st.lists(EVENTS, max_size=4)}),
    }
)
CASES = st.builds(
    lambda turns, state: EvalCase.model_validate(
        {"eval_id": "case", "conversation": turns, "final_session_state": state}
    ),
    st.lists(TURNS, min_size=1, max_size=2),
    st.dictionaries(TEXTS, JSON, max_size=2),
)


def _expected_calls(turn: Invocation) -> Calls:
    """Additional records of the older form (calls within texts on the way) are not part of the trajectory."""
    return calls(turn)


def _comparable(case: EvalCase) -> bool:
    """Calls and responses written into `intermediate_responses` have no reading: no file has them."""
    for turn in case.conversation or []:
        for _, parts in getattr(turn.intermediate_data, "intermediate_responses", []):
            if any(part.function_call or part.function_response for part in parts):
                return False
    return True


@given(CASES.filter(_comparable))
def test_any_recorded_case_is_reproduced(case: EvalCase) -> None:
    found, state = replayed(case)
    assert state == case.final_session_state
    for actual, expected in zip(found, case.conversation or [], strict=True):
        assert calls(actual) == _expected_calls(expected)
        assert sorted(map(repr, responses(actual))) == sorted(map(repr, responses(expected)))
        assert text(actual) == text(expected)


@pytest.mark.slow
@pytest.mark.nightly(check=2)
@pytest.mark.parametrize("fault", FAULTS)
@given(case=CASES.filter(_comparable))
def test_applicable_fault_differs_and_any_other_changes_nothing(fault: str, case: EvalCase) -> None:
    plain, state = replayed(case)
    flawed, flawed_state = replayed(case, fault)
    assert state == flawed_state
    differs = [
        (calls(one), text(one)) != (calls(other), text(other))
        for one, other in zip(plain, flawed, strict=True)
    ]
    assert any(differs) is applies(fault, case)


@pytest.mark.slow
@given(case=CASES)
def test_it_shares_nothing_with_the_case(case: EvalCase) -> None:
    async def main() -> list[Any]:
        agent, session = ReplayAgent(), new_session()
        agent.begin(session, case)
        return [
            event
            for turn in case.conversation or []
            for event in await ask(agent, turn.user_content, session)
        ]

    theirs = {id(one) for one in _mutable(case)}
    assert not [one for one in _mutable(asyncio.run(main())) if id(one) in theirs]


def _mutable(value: Any) -> Iterator[Any]:
    if isinstance(value, BaseModel):
        yield value
        for name in type(value).model_fields:
            yield from _mutable(getattr(value, name))
        yield from _mutable(value.model_extra)
    elif isinstance(value, dict):
        yield value
        for item in value.values():
            yield from _mutable(item)
    elif isinstance(value, list):
        yield value
        for item in value:
            yield from _mutable(item)


# --- one case, by hand ------------------------------------------------------------------------------------------------


def _case(**more: Any) -> EvalCase:
    turn = {
        "user_content": {"parts": [{"text": "What is the weather?"}]},
        "intermediate_data": {
            "tool_uses": [
                {"id": "1", "name": "locate", "args": {}},
                {"id": "2", "name": "get_weather", "args": {"city": "Paris", "days": 3}},
            ],
            "tool_responses": [
                {"id": "2", "name": "get_weather", "response": {"temp": 21}},
                {"id": "1", "name": "locate", "response": {"city": "Paris"}},
            ],
        },
        "final_response": {"role": "model", "parts": [{"text": "Sunny in Paris."}]},
    }
    return EvalCase.model_validate({"eval_id": "weather", "conversation": [turn], **more})


def test_each_call_is_followed_by_its_response() -> None:
    found, _ = replayed(_case())
    names = [(pair[0].name, pair[1] and pair[1].response) for pair in found[0].calls_with_responses]
    assert names == [("locate", {"city": "Paris"}), ("get_weather", {"temp": 21})]


@pytest.mark.parametrize(
    ("fault", "expected", "final"),
    [
        ("drop-call", [("get_weather", {"city": "Paris", "days": 3})], "Sunny in Paris."),
        (
            "add-call",
            [("locate", {}), ("get_weather", {"city": "Paris", "days": 3}), ("call_added_by_replay", {})],
            "Sunny in Paris.",
        ),
        ("swap-calls", [("get_weather", {"city": "Paris", "days": 3}), ("locate", {})], "Sunny in Paris."),
        (
            "change-arg",
            [("locate", {}), ("get_weather", {"city": "Paris (changed by replay)", "days": 3})],
            "Sunny in Paris.",
        ),
        ("other-text", [("locate", {}), ("get_weather", {"city": "Paris", "days": 3})], "Umbrella!"),
    ],
)
def test_what_each_fault_does(fault: str, expected: Calls, final: str) -> None:
    found, _ = replayed(_case(), fault)
    assert calls(found[0]) == expected
    assert text(found[0]) == final


def test_a_dropped_call_takes_its_response_with_it() -> None:
    found, _ = replayed(_case(), "drop-call")
    assert [response.name for response in found[0].tool_responses] == ["get_weather"]


def test_faults_combine() -> None:
    found, _ = replayed(_case(), "drop-call", "other-text")
    assert (len(calls(found[0])), text(found[0])) == (1, "Umbrella!")


@pytest.mark.parametrize(
    ("uses", "fault", "does"),
    [
        ([], "drop-call", False),
        ([], "change-arg", False),
        ([], "swap-calls", False),
        ([], "add-call", True),
        ([{"name": "f"}], "drop-call", True),
        ([{"name": "f"}], "change-arg", True),
        ([{"name": "f"}], "swap-calls", False),
        ([{"name": "f"}, {"name": "f", "args": {}}], "swap-calls", False),
        ([{"name": "f"}, {"name": "f", "args": {"a": 1}}], "swap-calls", True),
    ],
)
def test_where_a_fault_applies(uses: list[Any], fault: str, does: bool) -> None:
    turn = {"user_content": {"parts": []}, "intermediate_data": {"tool_uses": uses}}
    assert applies(fault, EvalCase.model_validate({"eval_id": "x", "conversation": [turn]})) is does


@pytest.mark.parametrize("value", ["x", "", 0, 3, -1, 0.0, 1.5, True, False, None, [], [1], {}, {"a": 1}])
def test_a_changed_argument_is_another_value_of_the_same_type(value: Any) -> None:
    turn = {"user_content": {}, "intermediate_data": {"tool_uses": [{"name": "f", "args": {"a": value}}]}}
    found, _ = replayed(EvalCase.model_validate({"eval_id": "x", "conversation": [turn]}), "change-arg")
    changed = calls(found[0])[0][1]["a"]
    assert changed != value
    assert value is None or type(changed) is type(value)


@given(TEXTS.filter(bool))
def test_the_other_text_shares_no_token(answer: str) -> None:
    turn = {"user_content": {}, "final_response": {"parts": [{"text": answer}]}}
    found, _ = replayed(EvalCase.model_validate({"eval_id": "x", "conversation": [turn]}), "other-text")
    tokens = [set(re.findall(r"\w+", one.lower())) for one in (answer, text(found[0]))]
    assert tokens[1]
    assert not tokens[0] & tokens[1]


def test_it_ends_with_the_state_that_is_expected() -> None:
    assert replayed(_case(final_session_state={"city": "Paris"}))[1] == {"city": "Paris"}
    assert replayed(_case(final_session_state={}))[1] == {}


CODE_RESULT = {"code_execution_result": {"outcome": "OUTCOME_OK", "output": "1"}}
CALL = {"function_call": {"name": "f", "args": {"a": 1}}}


@pytest.mark.parametrize(
    "turn",
    [
        pytest.param(
            {"intermediate_data": {"invocation_events": [{"author": "user", "content": {"parts": [CALL]}}]}},
            id="a call under the user's name",
        ),
        pytest.param(
            {"final_response": {"parts": [{"text": "one"}, CODE_RESULT]}},
            id="an answer that ends in a code result",
        ),
        pytest.param(
            {
                "final_response": {"parts": [CALL, {"text": "one"}]},
                "intermediate_data": {"tool_uses": [CALL["function_call"]]},
            },
            id="an answer that repeats the call",
        ),
        pytest.param(
            {
                "intermediate_data": {
                    "invocation_events": [{"author": "bot", "content": {"parts": [{"text": "on the way"}]}}]
                }
            },
            id="a text on the way and no answer",
        ),
        pytest.param(
            {"intermediate_data": {"intermediate_responses": [["bot", [{"text": "on the way"}]]]}},
            id="a text on the way and no answer, older form",
        ),
    ],
)
def test_odd_recordings(turn: dict[str, Any]) -> None:
    case = EvalCase.model_validate({"eval_id": "x", "conversation": [{"user_content": {}, **turn}]})
    (found,), _ = replayed(case)
    (expected,) = case.conversation or []
    assert (calls(found), text(found)) == (calls(expected), text(expected))
    (other,), _ = replayed(case, "other-text")
    assert (text(other) != text(expected)) is bool(text(expected))
    if text(expected):
        assert text(other) == "Umbrella!"


def test_usage_and_model_of_the_final_event_are_kept() -> None:
    turn = {
        "user_content": {},
        "final_response": {"parts": [{"text": "hello"}]},
        "intermediate_data": {
            "invocation_events": [
                {"author": "bot", "usage_metadata": {"total_token_count": 5}, "model_version": "m"}
            ]
        },
    }
    found, _ = replayed(EvalCase.model_validate({"eval_id": "x", "conversation": [turn]}))
    assert [usage.total_token_count for usage in found[0].usage_metadata] == [5]


# --- what it cannot do ------------------------------------------------------------------------------------------------


def test_a_scenario_cannot_be_replayed() -> None:
    scenario = {"starting_prompt": "hi", "conversation_plan": "say bye"}
    case = EvalCase.model_validate({"eval_id": "s", "conversation_scenario": scenario})
    with pytest.raises(AgentError, match="'s' is a scenario"):
        ReplayAgent().begin(new_session(), case)
    assert applies("drop-call", case) is False


def test_a_turn_that_is_not_recorded_is_an_error() -> None:
    agent, session, case = ReplayAgent(), new_session(), _case()
    agent.begin(session, case)
    asyncio.run(ask(agent, "first", session))
    with pytest.raises(AgentError, match="turn 2 of a case that has 1"):
        asyncio.run(ask(agent, "second", session))


def test_an_unknown_fault_is_refused() -> None:
    with pytest.raises(AgentLoadError, match=r"'swap-call'\. Did you mean 'swap-calls'\? Known: drop-call, "):
        ReplayAgent(["swap-call"])
