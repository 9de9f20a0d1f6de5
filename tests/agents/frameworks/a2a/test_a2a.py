"""`a2a+http:` against servers of the A2A SDK and of google-adk, in separate processes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from proctor.agents.base import Session
from proctor.agents.load import load_agent
from proctor.errors import AgentError, AgentRaisedError
from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Content, Part, user_text
from tests.agents.conftest import read
from tests.agents.frameworks.toys.adk_http import serving


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with serving("", "a2a_sdk_server.py") as url:
        yield url


@pytest.fixture(params=["/v1", "/v1?via=send", "/plain", "/old", "/old?via=send"])
def agent(server: str, request: pytest.FixtureRequest) -> str:
    return f"a2a+http:{server}{request.param}"


def conversation(agent: str, *messages: str | Content, **given: Any) -> list[list[Event]]:
    """The events of each turn of one trial."""

    async def main() -> list[list[Event]]:
        loaded: Any = load_agent(agent)
        session = Session(**{"id": "adk-eval-session-1", "app_name": "shop", "user_id": "ann", **given})
        await loaded.open()
        try:
            return [await _all(loaded.answer(_as_content(one), session)) for one in messages]
        finally:
            await loaded.end(session)
            await loaded.close()

    return asyncio.run(main())


async def _all(turn: AsyncIterator[Event]) -> list[Event]:
    return [event async for event in turn]


def _as_content(message: str | Content) -> Content:
    return user_text(message) if isinstance(message, str) else message


def answer(events: list[Event]) -> str:
    final = read(events).final_response
    return final.joined_text() if final else "nothing"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("direct", "Hello."),
        ("said it", "You sent said it"),
        ("artifact", "The \nanswer."),
        ("chunks", "Piece \nby \npiece."),
        ("twice", "Forty-two."),
        ("data", '{"total": 3, "half": 0.5}'),
    ],
)
def test_what_an_agent_answers(agent: str, text: str, expected: str) -> None:
    (events,) = conversation(agent, text)
    answered = answer(events)
    assert json.loads(answered) == json.loads(expected) if text == "data" else answered == expected
    assert {event.author for event in events} == {"obedient"}


def test_text_that_was_streamed_and_sent_is_one_event(agent: str) -> None:
    (events,) = conversation(agent, "twice")
    whole = [event for event in events if not event.partial]
    assert len(whole) == 1


def test_pieces_of_an_artifact_are_there_as_pieces(server: str) -> None:
    (events,) = conversation(f"a2a+http:{server}/v1", "chunks")
    assert [event.content.joined_text() for event in events if event.partial and event.content] == [
        "Piece ",
        "by ",
        "piece.",
    ][:2]


def test_image_is_returned_unchanged(agent: str) -> None:
    (events,) = conversation(agent, "image")
    (part,) = events[-1].content.parts  # type: ignore[union-attr, misc]  # they are there
    assert part.inline_data is not None
    assert (part.inline_data.mime_type, part.inline_data.data) == ("image/png", b"\x00\x01")


def test_question_is_an_answer_and_the_next_turn_continues_its_task(agent: str) -> None:
    first, second, third = conversation(agent, "ask", "Rome", "said more")
    assert answer(first) == "Which city?"
    assert answer(second) == "So Rome it is."
    assert answer(third) == "You sent said more"


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("fail", "failed", "the model is away"),
        ("reject", "rejected", "not for you"),
        ("auth", "auth-required", "sign in first"),
    ],
)
def test_a_task_that_fails_is_an_error(agent: str, text: str, kind: str, message: str) -> None:
    with pytest.raises(AgentRaisedError, match=message) as caught:
        conversation(agent, text)
    assert caught.value.type == kind


def test_an_agent_that_raises_is_an_error(agent: str) -> None:
    with pytest.raises(AgentError, match=r"no such thing|Internal error"):
        conversation(agent, "crash")


def test_state_user_and_app_go_along_and_every_part_arrives(agent: str) -> None:
    parts = [
        Part(text="told"),
        Part.model_validate({"inline_data": {"mime_type": "image/png", "data": "AAEC"}}),
        Part.model_validate({"file_data": {"file_uri": "https://x/y.pdf", "mime_type": "application/pdf"}}),
    ]
    (events,) = conversation(agent, Content(role="user", parts=parts), state={"n": 1}, id="pinned")
    came = json.loads(answer(events))
    metadata = {"app_name": "shop", "user_id": "ann", "session_id": "pinned", "state": {"n": 1}}
    assert came["metadata"]["proctor"] == metadata
    assert came["parts"] == ["text", "raw", "url"]


def test_content_without_a_form_in_the_protocol_is_reported(agent: str) -> None:
    part = Part.model_validate({"executable_code": {"code": "1+1"}})
    with pytest.raises(AgentError, match="a part with executable_code, for which A2A has no form"):
        conversation(agent, Content(role="user", parts=[part]))


@pytest.mark.parametrize("path", ["/v1", "/old"])
def test_a_task_that_is_left_is_cancelled(server: str, path: str) -> None:
    agent = f"a2a+http:{server}{path}"

    async def main() -> None:
        loaded: Any = load_agent(agent)
        session = Session("adk-eval-session-2", "a", "u")
        await loaded.open()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(_all(loaded.answer(user_text("wait"), session)), 2.5)
        await loaded.end(session)
        await loaded.close()

    before = answer(conversation(agent, "cancelled")[0]).count("yes")
    asyncio.run(main())
    assert answer(conversation(agent, "cancelled")[0]).count("yes") == before + 1


def test_fifty_at_once_do_not_mix(server: str) -> None:
    async def one(loaded: Any, number: int) -> str:
        session = Session(f"adk-eval-session-{number}", "a", "u", {"n": number})
        first = answer(await _all(loaded.answer(user_text("ask"), session)))
        return first + answer(await _all(loaded.answer(user_text(f"city{number}"), session)))

    async def main() -> list[str]:
        loaded: Any = load_agent(f"a2a+http:{server}/v1")
        await loaded.open()
        try:
            return list(await asyncio.gather(*(one(loaded, number) for number in range(50))))
        finally:
            await loaded.close()

    assert asyncio.run(main()) == [f"Which city?So city{number} it is." for number in range(50)]


def test_card_describes_the_agent(agent: str) -> None:
    loaded: Any = load_agent(agent)
    asyncio.run(loaded.open())
    info = loaded.describe()
    assert (info.name, info.description, info.version) == ("obedient", "Follows the message.", "7")


# --- google-adk's own server ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def adk() -> Iterator[str]:
    with serving("tests.agents.frameworks.toys.google_adk:root_agent", "a2a_adk_server.py") as url:
        yield url


@pytest.mark.parametrize("via", ["", "?via=send"])
def test_calls_of_google_adk_come_through(adk: str, via: str) -> None:
    (events,) = conversation(f"a2a+http:{adk}{via}", "convert 10 km")
    found = read(events)
    assert [(pair[0].name, pair[0].args) for pair in found.calls_with_responses] == [
        ("transfer_to_agent", {"agent_name": "units"}),
        ("convert", {"amount": 10, "unit": "km"}),
    ]
    assert found.calls_with_responses[1][1].response == {"amount": 6, "unit": "miles"}  # type: ignore[union-attr]  # it is there
    assert answer(events) == "10 km are 6.0 miles."
    if not via:  # one message in all, with one author
        assert [event.author for event in events][-1] == "units"
        assert sum(event.usage_metadata is not None for event in events) == 3


def test_exception_of_the_model_is_reported_by_its_name(adk: str) -> None:
    with pytest.raises(AgentRaisedError, match="the model is away") as caught:
        conversation(f"a2a+http:{adk}", "crash")
    assert caught.value.type == "ModelAwayError"


def test_a_long_running_call_is_answered_by_the_next_turn() -> None:
    with serving("tests.agents.frameworks.a2a.waiting_agent:root_agent", "a2a_adk_server.py") as url:
        response = {"function_response": {"name": "approve", "response": {"status": "yes"}}}
        reply = Content.model_validate({"role": "user", "parts": [response]})
        first, second = conversation(f"a2a+http:{url}", "call approve what=trip", reply)
    assert [call.name for call in read(first).tool_calls] == ["approve"]
    assert any(event.long_running_tool_ids for event in first)
    assert answer(second) == "done: {'status': 'yes'}"
