"""Scenarios by the models of every provider: asked by its protocol, answered in the form that was asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import proctor
from tests.models.loopback import Completion, ModelServer, Status

Serve = Callable[[Any], ModelServer]
SHOP = {"name": "shop", "instructions": "You sell shoes.", "tool_declarations": [{"name": "refund"}]}


class Shop:
    """An agent that describes itself."""

    def describe(self) -> proctor.AgentInfo:
        return proctor.AgentInfo(name="shop", app_details={"agent_details": {"shop": SHOP}})

    async def answer(self, message: Any, session: Any) -> Any:
        yield proctor.Event.said("ok")


def written(*prompts: str) -> dict[str, Any]:
    return {
        "scenarios": [
            {"starting_prompt": prompt, "conversation_plan": f"Say {prompt}.", "tools": ["refund"]}
            for prompt in prompts
        ]
    }


@pytest.mark.slow  # every provider
@pytest.mark.parametrize(
    "model",
    ["gemini-2.5-flash", "openai:gpt-4.1", "openai-responses:gpt-4.1", "claude-opus-4-8", "ollama/llama3.2"],
)
def test_a_model_of_every_protocol_writes(serve: Serve, model: str) -> None:
    server = serve(lambda asked: Completion(data=written("Money back", "Other size")))
    found = proctor.generate_scenarios_sync(Shop(), count=2, model=model)
    assert ([one.starting_prompt for one in found.scenarios], found.problem) == (
        ["Money back", "Other size"],
        "",
    )
    assert server.count == 1
    assert found.input_tokens > 0


def test_refusal_of_a_provider_is_reported_and_no_scenario_is_written(serve: Serve) -> None:
    serve(lambda asked: Status(code=401))
    found = proctor.generate_scenarios_sync(Shop(), count=2, model="openai:gpt-4.1")
    assert found.scenarios == []
    assert "401" in found.problem
