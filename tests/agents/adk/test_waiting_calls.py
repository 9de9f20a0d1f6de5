"""Calls that wait for an answer from outside: the next turn's message answers them, by name."""

import asyncio
from importlib import import_module
from typing import Any

import pytest

from proctor.agents.adk.agent import AdkAgent
from proctor.agents.frameworks.long_running_calls import PendingCalls
from proctor.errors import AgentError
from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Content, FunctionResponse, Part
from tests.agents.conftest import ask, new_session, read

pytestmark = [pytest.mark.needs_adk, pytest.mark.filterwarnings("ignore")]  # google-adk warns about itself


def pay(amount: int) -> dict[str, Any]:
    """Pays."""
    return {"paid": amount}


def approve(what: str) -> dict[str, Any]:
    """Ask a person."""
    return {"status": "pending"}


def answer(name: str, response: dict[str, Any], call_id: str | None = None) -> Content:
    """Return a user's message as in an eval set: the id is not known in advance."""
    return Content(
        role="user",
        parts=[Part(function_response=FunctionResponse(id=call_id, name=name, response=response))],
    )


def talk(agent: Any, *messages: str | Content) -> list[list[Event]]:
    async def main() -> list[list[Event]]:
        session = new_session()
        return [await ask(agent, message, session) for message in messages]

    return asyncio.run(main())


def patient() -> tuple[AdkAgent, Any]:
    """An agent with a tool that takes long, and its model."""
    from google.adk.tools import LongRunningFunctionTool

    from tests.agents.adk.adk_script import call, scripted_agent, text

    steps = (call("approve", what="trip"), text("I wait."), text("Approved."))
    made = scripted_agent(*steps, tools=[LongRunningFunctionTool(approve)])
    return AdkAgent(made), made.model


@pytest.mark.parametrize("call_id", [None, "an id of when it was recorded"])
def test_the_answer_reaches_the_call_that_waits(call_id: str | None) -> None:
    agent, model = patient()
    first, second = talk(agent, "hi", answer("approve", {"status": "yes"}, call_id))
    (called,) = read(first).tool_calls
    assert called.id
    given = model.asked[-1].contents[-1].parts[0].function_response
    assert given.response == {"status": "yes"}
    assert read(second).final_response.joined_text() == "Approved."  # type: ignore[union-attr]  # that it is there is tested


@pytest.mark.parametrize(
    ("before", "message"),
    [
        ([], "answers a call of 'approve', which the agent has not made .* wait for an answer: none"),
        (["hi"], "answers a call of 'aprove'.*wait for an answer: approve"),
    ],
)
def test_answer_to_an_unknown_call_is_reported(before: list[str], message: str) -> None:
    """google-adk drops such an answer silently, and the conversation continues as if it had arrived."""
    name = "aprove" if before else "approve"
    with pytest.raises(AgentError, match=message):
        talk(patient()[0], *before, answer(name, {"status": "yes"}))


def test_it_may_be_answered_again() -> None:
    agent, model = patient()
    talk(agent, "hi", answer("approve", {"status": "soon"}), answer("approve", {"status": "yes"}))
    assert model.asked[-1].contents[-1].parts[0].function_response.response == {"status": "yes"}


@pytest.mark.parametrize(
    ("confirmed", "returned"), [(True, {"paid": 5}), (False, {"error": "This tool call is rejected."})]
)
def test_a_call_that_must_be_confirmed(confirmed: bool, returned: dict[str, Any]) -> None:
    from google.adk.tools import FunctionTool

    from tests.agents.adk.adk_script import call, scripted_agent, text

    tool = FunctionTool(pay, require_confirmation=True)
    agent = AdkAgent(scripted_agent(call("pay", amount=5), text("Done."), tools=[tool]))
    asked, done = talk(agent, "pay", answer("adk_request_confirmation", {"confirmed": confirmed}))
    assert [one.name for one in read(asked).tool_calls] == ["pay", "adk_request_confirmation"]
    assert [one.response for one in read(done).tool_responses] == [returned]
    assert read(done).tool_calls == []


def test_a_credential_is_asked_for_and_its_secrets_are_kept_nowhere() -> None:
    """The real tool asks; what the app is registered with does not become evidence."""
    from google.adk.auth import AuthConfig, AuthCredential, AuthCredentialTypes, OAuth2Auth
    from google.adk.tools import ToolContext

    from tests.agents.adk.adk_script import call, scripted_agent, text

    models = import_module("fastapi.openapi.models")
    flow = models.OAuthFlowAuthorizationCode(
        authorizationUrl="https://x/a", tokenUrl="https://x/t", scopes={"r": "read"}
    )
    config = AuthConfig(
        auth_scheme=models.OAuth2(flows=models.OAuthFlows(authorizationCode=flow)),
        raw_auth_credential=AuthCredential(
            auth_type=AuthCredentialTypes.OAUTH2, oauth2=OAuth2Auth(client_id="me", client_secret="hush")
        ),
    )

    def mail(tool_context: ToolContext) -> dict[str, Any]:
        """Reads mail."""
        tool_context.request_credential(config)
        return {"status": "asked"}

    mail.__annotations__["tool_context"] = ToolContext
    (events,) = talk(AdkAgent(scripted_agent(call("mail"), text("Wait."), tools=[mail])), "hi")
    asked = [one for one in read(events).tool_calls if one.name == "adk_request_credential"]
    assert len(asked) == 1
    assert any(event.long_running_tool_ids for event in events)
    assert "hush" not in "".join(event.model_dump_json() for event in events)


def test_two_that_wait_are_answered_in_order() -> None:
    pending = PendingCalls()
    for call_id in "ab":
        parts = [{"function_call": {"id": call_id, "name": "approve"}}]
        event = {"content": {"parts": parts}, "long_running_tool_ids": [call_id]}
        pending.note(Event.model_validate(event))
    assert [answered(pending, None) for _ in range(3)] == ["a", "b", "b"]
    assert answered(pending, "a") == "a"


def answered(pending: PendingCalls, call_id: str | None) -> str | None:
    parts = pending.with_call_ids(answer("approve", {}, call_id)).parts
    assert parts is not None
    assert parts[0].function_response is not None
    return parts[0].function_response.id
