"""Users of scenarios by google-adk's names: its modules, a provider of one's own, and the evaluators that play them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from proctor.compat.adk.evaluation.agent_evaluator import AgentEvaluator
from proctor.compat.adk.evaluation.base_eval_service import InferenceRequest, InferenceResult, InferenceStatus
from proctor.compat.adk.evaluation.conversation_scenarios import ConversationScenario
from proctor.compat.adk.evaluation.eval_case import EvalCase
from proctor.compat.adk.evaluation.eval_config import EvalConfig
from proctor.compat.adk.evaluation.eval_set import EvalSet
from proctor.compat.adk.evaluation.in_memory_eval_sets_manager import InMemoryEvalSetsManager
from proctor.compat.adk.evaluation.local_eval_service import LocalEvalService
from proctor.compat.adk.evaluation.simulation.llm_backed_user_simulator import (
    LlmBackedUserSimulator,
    LlmBackedUserSimulatorConfig,
)
from proctor.compat.adk.evaluation.simulation.static_user_simulator import StaticUserSimulator
from proctor.compat.adk.evaluation.simulation.user_simulator import (
    BaseUserSimulatorConfig,
    NextUserMessage,
    Status,
    UserSimulator,
    register_user_simulator,
)
from proctor.compat.adk.evaluation.simulation.user_simulator_provider import UserSimulatorProvider
from proctor.schema.evidence.event import Event
from proctor.schema.format.content import text_of, user_text

SCENARIO = {"starting_prompt": "I want to travel.", "conversation_plan": "Book a journey to Rome."}
RECORDED = {
    "eval_id": "r",
    "conversation": [
        {"user_content": {"parts": [{"text": "Rome"}]}},
        {"user_content": {"parts": [{"text": "Bye"}]}},
    ],
}


def played(**fields: Any) -> dict[str, Any]:
    return {
        "eval_id": "s",
        "conversation_scenario": SCENARIO,
        "final_session_state": {"booked": "Rome"},
        **fields,
    }


def agent(message: str, session: Any) -> str:
    if "Rome" in message:
        session.state["booked"] = "Rome"
        return "Booked."
    return "Where to?"


@pytest.fixture
def script(tmp_path: Path) -> str:
    """A model that wants to go to Rome, and is then content."""
    file = tmp_path / "user.json"
    file.write_text(
        json.dumps(
            [
                {"when": ["agent: Booked."], "say": "</finished>"},
                {"when": ["Book a journey"], "say": "To Rome."},
            ]
        )
    )
    return f"scripted:{file}"


class OfOnesOwn(UserSimulator):
    """Send what a function returns."""

    def __init__(self, function: Callable[[Sequence[Event]], Any]) -> None:
        super().__init__(BaseUserSimulatorConfig(), config_type=BaseUserSimulatorConfig)
        self.function = function
        self.heard: list[list[str]] = []

    async def get_next_user_message(self, events: Sequence[Event]) -> NextUserMessage:
        self.heard.append([f"{event.author}: {text_of(event.content)}" for event in events])
        answer = self.function(events)
        if answer is None:
            return NextUserMessage(status=Status.STOP_SIGNAL_DETECTED)
        return (
            answer
            if not isinstance(answer, str)
            else NextUserMessage(status=Status.SUCCESS, user_message=user_text(answer))
        )


class Provider:
    """Gives one simulator."""

    def __init__(self, function: Callable[[Sequence[Event]], Any]) -> None:
        self.made = OfOnesOwn(function)

    def provide(self, eval_case: EvalCase) -> OfOnesOwn:
        return self.made


def infer(provider: Any, *cases: dict[str, Any]) -> list[InferenceResult]:
    manager = InMemoryEvalSetsManager()
    manager.create_eval_set("app", "set")
    for case in cases or (played(),):
        manager.add_eval_case("app", "set", EvalCase.model_validate(case))

    async def run() -> list[InferenceResult]:
        service = LocalEvalService(agent, manager, user_simulator_provider=provider)
        return [
            one
            async for one in service.perform_inference(InferenceRequest(app_name="app", eval_set_id="set"))
        ]

    return asyncio.run(run())


def user_messages(inference: InferenceResult) -> list[str]:
    return [text_of(turn.user_content) for turn in inference.inferences or ()]


# --- LocalEvalService ------------------------------------------------------------------------------------------------


def test_config_of_a_provider_chooses_the_simulated_user(script: str) -> None:
    provider = UserSimulatorProvider(LlmBackedUserSimulatorConfig(model=script))
    one, other = infer(provider, RECORDED, played())
    assert {one.eval_case_id: user_messages(one), other.eval_case_id: user_messages(other)} == {
        "r": ["Rome", "Bye"],
        "s": ["I want to travel.", "To Rome."],
    }


def test_a_provider_of_ones_own_plays_and_hears_the_conversation() -> None:
    lines = iter(["Hello", "To Rome", None])
    provider = Provider(lambda events: next(lines))
    (found,) = infer(provider)
    assert user_messages(found) == ["Hello", "To Rome"]
    hello = ["user: Hello", "agent: Where to?"]
    assert provider.made.heard == [[], hello, [*hello, "user: To Rome", "agent: Booked."]]


def test_what_is_recorded_comes_first() -> None:
    lines = iter(["To Rome", None])
    (found,) = infer(Provider(lambda events: next(lines)), played(opening=["Good morning"]))
    assert user_messages(found) == ["Good morning", "To Rome"]


def raises(_events: Any) -> Any:
    raise RuntimeError("no idea")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        pytest.param(raises, "no idea", id="raises"),
        pytest.param(
            lambda _: NextUserMessage(status=Status.NO_MESSAGE_GENERATED),
            "generated no message",
            id="nothing",
        ),
        pytest.param(lambda _: object(), "invalid NextUserMessage", id="something else"),
    ],
)
def test_its_failure_is_not_the_agents(function: Any, message: str) -> None:
    (found,) = infer(Provider(function))
    assert found.status is InferenceStatus.FAILURE
    assert message in (found.error_message or "")


def test_provider_without_a_simulator_is_refused_before_the_run() -> None:
    class NoSimulator:
        def provide(self, eval_case: EvalCase) -> None:
            return None

    with pytest.raises(ValueError, match=r"case 's': user_simulator_provider: provide\(\) returned NoneType"):
        infer(NoSimulator())
    with pytest.raises(ValueError, match="expected a UserSimulatorProvider, got int"):
        infer(5)


class MyConfig(BaseUserSimulatorConfig):
    """The configuration of a simulator that is registered."""

    word: str = "Rome"


class Mine(UserSimulator):
    """Send one word, once."""

    def __init__(self, *, config: MyConfig, conversation_scenario: ConversationScenario) -> None:
        super().__init__(config, config_type=MyConfig)
        self._words = [conversation_scenario.starting_prompt, config.word]

    async def get_next_user_message(self, events: Sequence[Event]) -> NextUserMessage:
        if not self._words:
            return NextUserMessage(status=Status.TURN_LIMIT_REACHED)
        return NextUserMessage(status=Status.SUCCESS, user_message=user_text(self._words.pop(0)))


def test_a_registered_simulator_is_made_for_its_config() -> None:
    class Unknown(BaseUserSimulatorConfig):
        pass

    register_user_simulator(MyConfig, Mine)
    (found,) = infer(UserSimulatorProvider(MyConfig(word="To Rome")))
    assert user_messages(found) == ["I want to travel.", "To Rome"]
    with pytest.raises(ValueError, match="no user simulator is registered for configs of the type Unknown"):
        infer(UserSimulatorProvider(Unknown()))
    with pytest.raises(ValueError, match="expected the config of a user simulator, got int"):
        UserSimulatorProvider(5)


# --- by themselves ---------------------------------------------------------------------------------------------------


def test_static_simulator_sends_the_recorded_messages() -> None:
    simulator = UserSimulatorProvider().provide(EvalCase.model_validate(RECORDED))
    assert isinstance(simulator, StaticUserSimulator)

    async def all_of_it() -> list[NextUserMessage]:
        return [await simulator.get_next_user_message([]) for _ in range(3)]

    found = asyncio.run(all_of_it())
    assert [text_of(one.user_message) for one in found] == ["Rome", "Bye", ""]
    assert [one.status for one in found] == [Status.SUCCESS, Status.SUCCESS, Status.STOP_SIGNAL_DETECTED]


def test_a_model_plays_by_itself(script: str) -> None:
    simulator = LlmBackedUserSimulator(
        config=LlmBackedUserSimulatorConfig(model=script),
        conversation_scenario=ConversationScenario.model_validate(SCENARIO),
    )
    events: list[Event] = []

    async def talk() -> list[str]:
        messages = []
        while (found := await simulator.get_next_user_message(events)).status is Status.SUCCESS:
            messages.append(text_of(found.user_message))
            events.append(Event(author="user", content=found.user_message))
            events.append(Event.said("Booked." if "Rome" in messages[-1] else "Where to?"))
        return [*messages, found.status.value]

    assert asyncio.run(talk()) == ["I want to travel.", "To Rome.", "stop_signal_detected"]


def test_a_message_is_there_if_and_only_if_the_status_is_success() -> None:
    for wrong in ({"status": "success"}, {"status": "turn_limit_reached", "user_message": user_text("x")}):
        with pytest.raises(ValueError, match="if and only if"):
            NextUserMessage.model_validate(wrong)


# --- AgentEvaluator --------------------------------------------------------------------------------------------------


def a_config(script: str) -> EvalConfig:
    return EvalConfig.model_validate(
        {"criteria": {"response_match_score": 0.1}, "user_simulator_config": {"model": script}}
    )


def test_a_set_of_scenarios(script: str) -> None:
    eval_set = EvalSet.model_validate({"eval_set_id": "set", "eval_cases": [played()]})
    result = AgentEvaluator.evaluate_eval_set(
        agent, eval_set, eval_config=a_config(script), num_runs=2, print_detailed_results=False
    )
    assert [len(one.trial.turns) for one in result.cases[0].trials if one.trial] == [2, 2]
    wrong = EvalSet.model_validate(
        {"eval_set_id": "set", "eval_cases": [played(final_session_state={"booked": "Oslo"})]}
    )
    with pytest.raises(AssertionError, match="final_session_state"):
        AgentEvaluator.evaluate_eval_set(
            agent, wrong, eval_config=a_config(script), print_detailed_results=False
        )


def test_a_file_of_scenarios(script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trip.test.json").write_text(json.dumps({"eval_set_id": "set", "eval_cases": [played()]}))
    config = {"criteria": {"response_match_score": 0.1}, "user_simulator_config": {"model": script}}
    (tmp_path / "test_config.json").write_text(json.dumps(config))
    result = AgentEvaluator.evaluate(agent, str(tmp_path), num_runs=1)
    assert result.passed
