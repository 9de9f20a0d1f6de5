"""Failures inside google-adk's agents are attributed correctly, and the other cases continue (faults 17 to 22)."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

import proctor
from proctor.schema.results.run_result import Outcome

pytestmark = [pytest.mark.needs_adk, pytest.mark.filterwarnings("ignore")]  # google-adk warns about itself


class Hostile(Exception):  # noqa: N818 - it is what it is
    def __str__(self) -> str:
        raise RuntimeError("no text for you")


def case(
    eval_id: str, text: str, answer: str = "Done.", *, state: dict[str, Any] | None = None
) -> dict[str, Any]:
    return {
        "eval_id": eval_id,
        "session_input": {"app_name": "a", "user_id": "u", "state": state or {}},
        "conversation": [
            {
                "user_content": {"parts": [{"text": text}]},
                "final_response": {"parts": [{"text": answer}]},
            }
        ],
    }


def evaluate(agent: Any, *cases: dict[str, Any], **options: Any) -> Any:
    return proctor.evaluate_sync(
        agent,
        {"eval_set_id": "s", "eval_cases": list(cases)},
        config={"criteria": {"response_match_score": 1.0}},
        **options,
    )


def agent_of(**tools: Any) -> Any:
    """An agent whose user's text is the tool that its model calls; `well` calls none."""
    from google.adk.agents import LlmAgent
    from google.adk.models import LlmResponse
    from google.genai import types

    from tests.agents.adk.adk_script import Scripted, call, response, text

    class Model(Scripted):
        async def generate_content_async(self, request: Any, stream: bool = False) -> Any:
            last = request.contents[-1].parts[-1]
            if last.function_response is not None or last.text == "well":
                yield response(text("Done."))
            elif last.text in tools:
                yield response(call(last.text))
            else:
                yield LlmResponse(content=types.Content(role="model", parts=[text(last.text)]))

    made = []
    for name, tool in tools.items():
        tool.__name__ = name
        made.append(tool)
    return LlmAgent(name="bot", model=Model(steps=[]), tools=made)


def raising(error: BaseException) -> Any:
    async def tool() -> dict[str, Any]:
        """Raises."""
        raise error

    return tool


RAISED: dict[str, tuple[BaseException, str]] = {
    "an exception": (LookupError("no such thing"), "LookupError: no such thing"),
    "a group": (ExceptionGroup("two", [ValueError("a"), KeyError("b")]), "ValueError: a"),
    "without a text": (Hostile(), "no text for you"),
    "an exit": (SystemExit(3), "SystemExit(3)"),
    "Ctrl-C from inside": (KeyboardInterrupt(), "KeyboardInterrupt()"),
    "a cancellation": (asyncio.CancelledError(), "the tool 'bad' cancelled itself"),
    "a base": (type("Odd", (BaseException,), {})("odd"), "odd"),
}


@pytest.mark.parametrize("name", RAISED)
def test_what_a_tool_raises_is_an_error_and_the_others_go_on(name: str) -> None:
    error, expected = RAISED[name]
    found = evaluate(agent_of(bad=raising(error)), case("bad", "bad"), case("good", "well"))
    assert [one.outcome for one in found.cases] == [Outcome.ERROR, Outcome.PASSED], found.cases[0].reason
    assert expected in found.cases[0].reason


@pytest.mark.parametrize("name", RAISED)
def test_what_a_model_raises_is_an_error(name: str) -> None:
    from tests.agents.adk.adk_script import scripted_agent

    error, expected = RAISED[name]
    found = evaluate(scripted_agent(error), case("bad", "hi"))
    assert found.cases[0].outcome is Outcome.ERROR
    assert expected.replace("tool 'bad'", "model of 'bot'") in found.cases[0].reason


def test_model_without_output_is_an_error_and_a_fallback_answer_is_not() -> None:
    from google.adk.models import LlmResponse
    from google.genai import types

    from tests.agents.adk.adk_script import Scripted, scripted_agent, text

    class Silent(Scripted):
        async def generate_content_async(self, request: Any, stream: bool = False) -> Any:
            return
            yield

    def instead(callback_context: Any, llm_request: Any) -> Any:
        return LlmResponse(content=types.Content(role="model", parts=[text("Done.")]))

    silent = scripted_agent(text("x"))
    silent.model = Silent(steps=[])
    (found,) = evaluate(silent, case("c", "hi")).cases
    assert "gave no answer and no error" in found.reason
    silent.before_model_callback = instead
    assert evaluate(silent, case("c", "hi")).passed


async def never() -> dict[str, Any]:
    """Never returns."""
    await asyncio.Event().wait()
    return {}


async def stubborn() -> dict[str, Any]:
    """Swallows its cancellation once."""
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        await asyncio.sleep(0.01)
    return {}


@pytest.mark.slow  # waits for a time limit
@pytest.mark.parametrize("tool", [never, stubborn], ids=lambda tool: tool.__name__)
def test_what_hangs_is_timed_out_and_the_others_go_on(tool: Any) -> None:
    began = time.perf_counter()
    found = evaluate(agent_of(hang=tool), case("bad", "hang"), case("good", "well"), timeout=2)
    assert time.perf_counter() - began < 40
    bad, good = found.cases
    assert (bad.outcome, good.outcome) == (Outcome.ERROR, Outcome.PASSED), (bad.reason, good.reason)
    assert bad.trials[0].trial.failure.kind.value == "timed_out"


@pytest.mark.slow
def test_answer_of_many_megabytes_is_cut_with_a_note() -> None:
    found = evaluate(agent_of(), case("big", "x" * 3_000_000, "x"))
    assert found.cases[0].outcome is Outcome.ERROR
    assert "cut" in found.cases[0].reason


@pytest.mark.slow
def test_a_model_that_calls_for_ever_is_stopped() -> None:
    from google.adk.agents import RunConfig

    from proctor.agents.adk import AdkAgent
    from tests.agents.adk.adk_script import call, scripted_agent

    def again() -> dict[str, Any]:
        """Again."""
        return {}

    endless = AdkAgent(scripted_agent(call("again"), tools=[again]), run_config=RunConfig(max_llm_calls=20))
    found = evaluate(endless, case("c", "go"))
    assert found.cases[0].outcome is Outcome.ERROR
    assert "llm calls limit" in found.cases[0].reason


@pytest.mark.nightly
@pytest.mark.slow
def test_two_hundred_at_once_see_their_own_state() -> None:
    """Of one user and one app: neither session nor user nor app state crosses."""
    from google.adk.tools import ToolContext

    async def mine(tool_context: ToolContext) -> dict[str, Any]:
        """Report the image of the message."""
        before = {key: tool_context.state.get(key) for key in ("n", "user:n", "app:n", "user:seen")}
        tool_context.state["user:seen"] = before["n"]
        await asyncio.sleep(0.01)
        return before

    mine.__annotations__["tool_context"] = ToolContext
    states_of = [{"n": n, "user:n": n, "app:n": n} for n in range(200)]
    cases = [case(f"c{n}", "mine", state=state) for n, state in enumerate(states_of)]
    found = evaluate(agent_of(mine=mine), *cases, concurrency=50)
    seen = [one.trials[0].trial.invocations[0].tool_responses[0].response for one in found.cases]
    assert seen == [{"n": n, "user:n": n, "app:n": n, "user:seen": None} for n in range(200)]
    states = [one.trials[0].trial.final_state for one in found.cases]
    assert states == [{"n": n, "user:n": n, "app:n": n, "user:seen": n} for n in range(200)]
