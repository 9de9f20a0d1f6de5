"""Scenarios in a run: planned, played, scored; the attribution of failures; messages and usage are evidence."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.agents.base import Session
from proctor.errors import SetupProblems
from proctor.models.base import ModelError, ModelFault, ModelOptions, Reply, Usage
from proctor.models.scripted import ScriptedModel
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.simulated_user import NextStatus
from proctor.schema.evidence.trial import Trial
from proctor.schema.results.run_result import Outcome, RunResult
from proctor.simulation.pool import ScenarioUser

STATE = {"final_session_state": {"booked": "Rome"}}
TEXT = {"criteria": {"response_match_score": 0.5}}
NOTHING: dict[str, Any] = {"criteria": {}}


def agent(message: str, session: Session) -> str:
    """Book the city that the user names."""
    if "Rome" in message:
        session.state["booked"] = "Rome"
        return "Booked Rome."
    return "Where to?"


def scenario(eval_id: str = "s", **fields: Any) -> dict[str, Any]:
    played = {"starting_prompt": "I want to travel", "conversation_plan": "Book a journey to Rome."}
    return {"eval_id": eval_id, "conversation_scenario": played, **STATE, **fields}


def recorded(eval_id: str = "r") -> dict[str, Any]:
    return {
        "eval_id": eval_id,
        "conversation": [
            {
                "user_content": {"parts": [{"text": "hi"}]},
                "final_response": {"parts": [{"text": "Where to?"}]},
            }
        ],
    }


def evaluated(*cases: dict[str, Any], user: Any = None, config: Any = NOTHING, **options: Any) -> RunResult:
    given = {"eval_set_id": "set", "eval_cases": list(cases)}
    return proctor.evaluate_sync(options.pop("agent", agent), given, config=config, user=user, **options)


def user_of_rome(so_far: Any) -> str | None:
    return "Rome" if len(so_far) == 1 else None


def trial_of(run: RunResult, case: int = 0, number: int = 0) -> Trial:
    trial = run.cases[case].trials[number].trial
    assert trial is not None
    return trial


# --- verdicts ---------------------------------------------------------------------------------------------------------


def test_a_scenario_is_played_and_judged_by_its_final_state() -> None:
    run = evaluated(scenario(), user=user_of_rome)
    assert (run.outcome, len(trial_of(run).turns)) == (Outcome.PASSED, 2)
    assert evaluated(scenario(), user=user_of_rome, agent=lambda _: "Booked.").outcome is Outcome.FAILED


def test_in_a_mixed_set_reference_metrics_judge_the_recorded_ones() -> None:
    run = evaluated(recorded(), scenario(), user=user_of_rome, config=TEXT)
    one, other = run.cases
    assert (one.outcome, other.outcome) == (Outcome.PASSED, Outcome.PASSED)
    assert one.metrics["response_match_score"].score == 1.0
    assert other.metrics["response_match_score"].score is None


def test_the_same_script_gives_the_same_conversation() -> None:
    prompt = []
    for _ in range(2):
        model = ScriptedModel(["To Rome", "</finished>"])
        run = evaluated(scenario(), user=model)
        assert run.passed
        prompt.append([asked.text for asked in model.asked])
    assert prompt[0] == prompt[1]


def seeded(messages: Any, options: ModelOptions) -> str:
    """Derive the answer from the seed and the earlier messages, as a model with a fixed seed does."""
    dice = random.Random(f"{options.settings.get('seed')} {messages[-1].text}")
    return dice.choice(["To Rome", "Wait", "Hm", "By train", "</finished>"])


def with_seed(seed: int | None) -> dict[str, Any]:
    settings = {} if seed is None else {"seed": seed}
    return {
        **NOTHING,
        "user_simulator_config": {"model_configuration": settings, "max_allowed_invocations": 6},
    }


@pytest.mark.slow
def test_the_same_seed_gives_the_same_conversation() -> None:
    def conversation(seed: int) -> list[str]:
        run = evaluated(scenario(), user=ScriptedModel(seeded), config=with_seed(seed))
        return [turn.user_content.joined_text() for turn in trial_of(run).turns]

    assert all(conversation(seed) == conversation(seed) for seed in range(5))
    assert len({tuple(conversation(seed)) for seed in range(10)}) > 5  # and others others


def test_seed_reaches_every_call_of_the_model_and_the_manifest(tmp_path: Path) -> None:
    model = ScriptedModel(["Hm", "Rome", "</finished>"])
    run = evaluated(scenario(), user=model, config=with_seed(7), store=tmp_path / "runs.sqlite")
    assert [asked.options.settings.get("seed") for asked in model.asked] == [7, 7, 7]
    with closing(proctor.open_store(tmp_path / "runs.sqlite")) as store:
        config = store.scorings(run.run_id)[0].sets[0].config
    assert config["user_simulator_config"]["model_configuration"]["seed"] == 7


# --- refused before anything runs -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("case", "config", "message"),
    [
        (
            scenario(final_session_state={}),
            TEXT,
            "the case is a scenario, and this needs a recorded conversation",
        ),
        (scenario(final_session_state={}), NOTHING, "nothing decides it"),
        (
            scenario(),
            {**NOTHING, "user_simulator_config": {"max_allowed_invocations": 0}},
            "max_allowed_invocations 0",
        ),
        (
            scenario(),
            {**NOTHING, "user_simulator_config": {"type": "llm_audio"}},
            "'llm_audio' is not supported",
        ),
        (
            scenario(),
            {
                **NOTHING,
                "user_simulator_config": {
                    "model": "scripted:nowhere.json",
                    "custom_instructions": "{{ stop_signal }} {{ conversation_plan }} {{ conversation_history }} {{ x }}",
                },
            },
            "nowhere.json",
        ),
    ],
)
def test_unplayable_scenario_is_reported_before_the_first_call(
    case: dict[str, Any], config: Any, message: str
) -> None:
    asked: list[str] = []
    with pytest.raises(SetupProblems, match=message.replace("{", "\\{")):
        evaluated(case, config=config, agent=asked.append)
    assert not asked


def test_missing_key_is_reported_once_for_all_scenarios(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pydantic_ai")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    config = {**NOTHING, "user_simulator_config": {"model": "openai/gpt-4o"}}
    with pytest.raises(SetupProblems) as refused:
        evaluated(*(scenario(f"s{n}") for n in range(5)), config=config)
    (problem,) = refused.value.problems
    assert "and 4 more of set" in str(problem)


def test_simulated_user_needs_a_model_or_a_function() -> None:
    with pytest.raises(SetupProblems, match="user: expected a model's name"):
        evaluated(recorded(), user=3, config=TEXT)


# --- whose fault ------------------------------------------------------------------------------------------------------


def test_a_user_that_fails_is_not_the_agents_failure() -> None:
    run = evaluated(scenario(), user=ScriptedModel([""]))
    (case,) = run.cases
    assert case.outcome is Outcome.ERROR
    failure = case.trials[0].failure
    assert failure is not None
    assert (failure.where, failure.turn) == ("simulator", 1)
    assert failure.cause.startswith("user simulator empty in turn 2")
    assert len(trial_of(run).turns) == 1


def test_failing_agent_in_a_simulated_conversation_is_an_agent_error() -> None:
    def broken(message: str) -> str:
        raise ValueError(message)

    failure = evaluated(scenario(), user=user_of_rome, agent=broken).cases[0].trials[0].failure
    assert failure is not None
    assert (failure.where, failure.turn) == ("agent", 0)


def test_a_trial_that_the_user_spoiled_is_repeated_where_that_is_asked_for() -> None:
    model = ScriptedModel(["", "Rome", "</finished>"])
    run = evaluated(scenario(), user=model, retry_errors=1)
    assert run.passed
    (attempt,) = trial_of(run).attempts
    assert attempt.failure is not None
    assert attempt.failure.where == "simulator"
    assert attempt.played_user is not None
    assert [reply.status for reply in attempt.played_user.replies] == [NextStatus.NO_MESSAGE_GENERATED]


def test_simulated_user_has_a_separate_time_limit() -> None:
    async def slow(so_far: Any) -> str | None:
        await asyncio.sleep(0.7)
        return user_of_rome(so_far)

    run = evaluated(scenario(), user=slow, timeout=0.6, trial_timeout=0.6)
    assert run.passed, run.cases[0].reason


def test_time_to_find_faults_of_the_user_is_not_that_of_the_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    async def slow(*_: Any) -> list[Any]:
        await asyncio.sleep(0.3)
        return []

    monkeypatch.setattr(ScenarioUser, "find_faults", slow)
    run = evaluated(scenario(), user=user_of_rome, trial_timeout=0.2)
    assert run.passed, run.cases[0].reason


def test_an_agent_that_is_slow_between_slow_messages_is_still_stopped() -> None:
    async def slow(message: str) -> str:
        await asyncio.sleep(0.01 if message != "Rome" else 30)
        return "ok"

    failure = evaluated(scenario(), user=user_of_rome, agent=slow, timeout=0.3).cases[0].trials[0].failure
    assert failure is not None
    assert (failure.where, failure.kind.value, failure.turn) == ("agent", "timed_out", 1)


# --- evidence and money -----------------------------------------------------------------------------------------------


def test_prompts_and_messages_of_the_simulated_user_are_evidence() -> None:
    trial = trial_of(evaluated(scenario(), user=ScriptedModel(["To Rome", "bye </finished>"])))
    played = trial.played_user
    assert played is not None
    assert "Book a journey to Rome." in played.instructions
    assert played.instructions.endswith("{{ conversation_history }}")
    assert [(one.turn, one.text, one.status) for one in played.replies] == [
        (1, "To Rome", NextStatus.SUCCESS),
        (2, "bye </finished>", NextStatus.STOP_SIGNAL_DETECTED),
    ]
    assert trial_of(evaluated(recorded(), config=TEXT)).played_user is None


def test_what_the_user_took_is_counted_as_the_users() -> None:
    took = Usage(input_tokens=10, output_tokens=2)
    model = ScriptedModel(
        [Reply(text=text, model="m", usage=took, cost=0.25) for text in ("Rome", "</finished>")], name="m"
    )
    (spent,) = evaluated(scenario(), user=model).spent
    assert (spent.purpose, spent.model, spent.calls, spent.input_tokens, spent.cost) == (
        "user",
        "m",
        2,
        20,
        0.5,
    )


def test_cost_limit_interrupts_a_conversation_and_resume_restarts_it(tmp_path: Path) -> None:
    def model() -> ScriptedModel:
        return ScriptedModel(lambda _: Reply(text="on to Oslo", cost=0.6), name="m")

    store = tmp_path / "runs.sqlite"
    run = evaluated(scenario(), user=model(), store=store, max_cost=1.0)
    assert run.cases[0].outcome is Outcome.NOT_RUN
    assert run.stopped_by.startswith("max_cost")
    given = {"eval_set_id": "set", "eval_cases": [scenario()]}
    done = proctor.resume_sync(store=store, agent=agent, eval_sets=given, user=user_of_rome, force=True)
    assert done.cases[0].outcome is Outcome.PASSED


@pytest.mark.slow
def test_what_a_conversation_took_that_was_broken_off_stays_spent(tmp_path: Path) -> None:
    def model(*message: str) -> ScriptedModel:
        script: list[Any] = [
            Reply(text=text, model="m", usage=Usage(input_tokens=10, output_tokens=2), cost=0.6)
            for text in message
        ]
        return ScriptedModel(script, name="m")

    store = tmp_path / "runs.sqlite"
    first = evaluated(scenario(), user=model("to Oslo", "to Oslo"), store=store, max_cost=1.0)
    assert [(one.calls, one.cost) for one in first.spent] == [(2, 1.2)]
    given = {"eval_set_id": "set", "eval_cases": [scenario()]}
    how: Any = {"store": store, "agent": agent, "eval_sets": given, "force": True}
    again = proctor.resume_sync(user=model("to Oslo", "to Oslo"), max_cost=1.0, **how)
    assert [(one.calls, one.input_tokens) for one in again.spent] == [(4, 40)]
    done = proctor.resume_sync(user=model("Rome", "</finished>"), **how)
    (spent,) = done.spent
    assert (spent.purpose, spent.model, spent.calls) == ("user", "m", 6)
    assert spent.cost == pytest.approx(3.6)
    assert proctor.load_run(store=store).spent == done.spent


def test_a_conversation_that_is_finished_is_never_played_again(tmp_path: Path) -> None:
    asked = 0

    def user(so_far: Any) -> str | None:
        nonlocal asked
        asked += 1
        return user_of_rome(so_far)

    store = tmp_path / "runs.sqlite"
    cases = [scenario("a"), scenario("b")]
    first = evaluated(*cases, user=user, store=store, max_failures=1, concurrency=1, agent=lambda _: "no")
    assert [case.outcome for case in first.cases] == [Outcome.FAILED, Outcome.NOT_RUN]
    assert asked == 2
    given = {"eval_set_id": "set", "eval_cases": cases}
    done = proctor.resume_sync(store=store, agent=agent, eval_sets=given, user=user, force=True)
    assert [case.outcome for case in done.cases] == [Outcome.FAILED, Outcome.PASSED]
    assert asked == 4


def test_each_trial_of_a_scenario_is_a_separate_conversation() -> None:
    run = evaluated(scenario(), user=user_of_rome, num_runs=3)
    assert [trial.outcome for trial in run.cases[0].trials] == [Outcome.PASSED] * 3
    assert {len(trial_of(run, number=n).turns) for n in range(3)} == {2}


def test_events_of_a_streaming_agent_are_heard_by_the_user() -> None:
    heard: list[str] = []

    class Streaming:
        async def answer(self, message: Any, session: Session) -> AsyncIterator[Event]:
            yield Event.said("first")
            yield Event.said("second")

    def user(messages: Any) -> str:
        heard.append(messages[-1].text)
        return "</finished>"

    assert not evaluated(scenario(), user=ScriptedModel(user), agent=Streaming()).passed
    assert heard[0].endswith("user: I want to travel\n\nagent: first\n\nagent: second")


def test_unreachable_model_is_reported_as_such() -> None:
    gone = ModelError("no route", fault=ModelFault.UNAVAILABLE)
    failure = evaluated(scenario(), user=ScriptedModel([gone])).cases[0].trials[0].failure
    assert failure is not None
    assert (failure.where, failure.infrastructure, failure.message) == ("simulator", True, "no route")
