"""Trials: isolated, in order, for any behaviour of the agent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from proctor.agents.base import AgentInfo, Session
from proctor.engine.execution.run_control import run_sync
from proctor.errors import AgentLoadError
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import FailureKind
from proctor.schema.format.case import EvalCase
from proctor.schema.format.config import EvalConfig
from proctor.schema.format.content import Content
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult
from tests.engine.scripted import EXACT, Scripted, case, eval_set, plan_of, run, text_of, turn


def raising(error: BaseException) -> Callable[[Session], AsyncIterator[Event]]:
    async def act(_: Session) -> AsyncIterator[Event]:
        yield Event.said("almost")
        raise error

    return act


class UnprintableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text for you")


@pytest.mark.parametrize(
    "error",
    [
        ValueError("bad"),
        SystemExit(3),
        KeyboardInterrupt(),
        asyncio.CancelledError(),
        GeneratorExit(),
        StopAsyncIteration(),
        BaseExceptionGroup("several", [ValueError("one"), KeyboardInterrupt()]),
        UnprintableError(),
        RecursionError("deep"),
        MemoryError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_exception_of_the_agent_is_an_error_of_that_case_alone(error: BaseException) -> None:
    given = eval_set(case("before"), case("bad"), case("after"))
    result = run_sync(lambda: run(Scripted({"bad": raising(error)}), given))
    assert [c.outcome for c in result.cases] == [Outcome.PASSED, Outcome.ERROR, Outcome.PASSED]
    failure = result.case("bad").trials[0].failure
    assert failure is not None
    assert failure.where == "agent"
    assert failure.turn == 0
    assert result.exit_code == 3


def test_results_keep_the_order_of_the_set() -> None:
    async def slow(_: Session) -> AsyncIterator[Event]:
        await others_are_done.wait()
        yield Event.said("ok")

    given = eval_set(case("slow"), case("b"), case("c"))
    finished: list[str] = []
    others_are_done = asyncio.Event()

    class Watch:
        def run_started(self, run: RunResult, trials: int) -> None: ...
        def trial_finished(self, eval_set_id: str, eval_id: str, outcome: Outcome) -> None: ...
        def case_finished(self, result: CaseResult) -> None:
            finished.append(result.eval_id)
            if len(finished) == 2:
                others_are_done.set()

        def run_finished(self, run: RunResult) -> None: ...

    result = run_sync(lambda: run(Scripted({"slow": slow}), given, progress=Watch()))
    assert [c.eval_id for c in result.cases] == ["slow", "b", "c"]
    assert finished[-1] == "slow"


def test_each_trial_has_its_own_session_and_a_copy_of_the_state() -> None:
    seen: list[tuple[str, Any]] = []

    async def count(session: Session) -> AsyncIterator[Event]:
        session.state["list"].append(1)
        seen.append((session.id, list(session.state["list"])))
        await asyncio.sleep(0)
        yield Event.said("ok")

    given = eval_set(case("c", session_input={"app_name": "a", "user_id": "u", "state": {"list": []}}))
    result = run_sync(lambda: run(Scripted({"c": count}), given, num_runs=20))
    assert result.passed
    assert len({session_id for session_id, _ in seen}) == 20
    assert all(state == [1] for _, state in seen)
    assert given.eval_cases[0].session_input is not None
    assert given.eval_cases[0].session_input.state == {"list": []}


@pytest.mark.slow
def test_no_session_sees_another_ones_state() -> None:
    async def whisper(message: Content, session: Session) -> AsyncIterator[Event]:
        session.state["secret"] = text_of(message)
        for _ in range(5):
            await asyncio.sleep(0)
        yield Event.said(session.state["secret"])

    class Agent:
        answer = staticmethod(whisper)

    cases = [case(f"c{n}", turn(f"word{n}", expect=f"word{n}")) for n in range(200)]
    result = run_sync(lambda: run(Agent(), eval_set(*cases), concurrency=200))
    assert result.passed
    for done in result.cases:
        trial = done.trials[0].trial
        assert trial is not None
        assert trial.final_state == {"secret": f"word{done.eval_id[1:]}"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        pytest.param("text", "str 'text'", id="text"),
        pytest.param(None, "NoneType None", id="None"),
        pytest.param(b"x", "bytes", id="bytes"),
    ],
)
def test_what_is_not_an_event_is_a_broken_contract(given: object, message: str) -> None:
    async def act(_: Session) -> AsyncIterator[Any]:
        yield given

    result = run_sync(lambda: run(Scripted({"c": act}), eval_set(case("c"))))
    failure = result.cases[0].trials[0].failure
    assert failure is not None
    assert failure.kind is FailureKind.BROKE_CONTRACT
    assert message in failure.message


def circular() -> dict[str, Any]:
    knot: dict[str, Any] = {}
    knot["self"] = knot
    return knot


@pytest.mark.parametrize(
    ("args", "message"),
    [
        pytest.param({"x": object()}, "not JSON", id="an object"),
        pytest.param(circular(), "nested deeper", id="a circle"),
        pytest.param({"x": 10**4_200}, "more than 4000 digits", id="a very long number"),
    ],
)
def test_arguments_that_are_not_json_are_a_broken_contract(args: dict[str, Any], message: str) -> None:
    async def act(_: Session) -> AsyncIterator[Event]:
        yield Event.called("tool", args)

    result = run_sync(lambda: run(Scripted({"c": act}), eval_set(case("c"))))
    failure = result.cases[0].trials[0].failure
    assert failure is not None
    assert message in failure.message


def test_evidence_does_not_change_when_the_agent_changes_its_objects() -> None:
    args = {"city": "Paris", "days": [1]}

    async def act(_: Session) -> AsyncIterator[Event]:
        yield Event.called("tool", args)
        args["city"] = "Rome"
        args["days"].append(2)  # type: ignore[attr-defined]  # its values are of several kinds
        yield Event.said("ok")

    result = run_sync(lambda: run(Scripted({"c": act}), eval_set(case("c", turn("c", calls=("tool",))))))
    trial = result.cases[0].trials[0].trial
    assert trial is not None
    content = trial.turns[0].events[0].content
    assert content is not None
    assert content.parts is not None
    assert content.parts[0].function_call is not None
    assert content.parts[0].function_call.args == {"city": "Paris", "days": [1]}


def test_an_agent_that_never_ends_its_turn_is_stopped_by_count() -> None:
    async def endless(_: Session) -> AsyncIterator[Event]:
        while True:
            yield Event.said("more")

    result = run_sync(lambda: run(Scripted({"c": endless}), eval_set(case("c"), case("d"))))
    assert [c.outcome for c in result.cases] == [Outcome.ERROR, Outcome.PASSED]
    assert "10000 events" in result.cases[0].reason


def test_infrastructure_errors_are_tried_again_and_every_attempt_is_kept() -> None:
    left = [2]

    async def flaky(_: Session) -> AsyncIterator[Event]:
        if left[0]:
            left[0] -= 1
            raise ConnectionResetError("peer went away")
        yield Event.said("ok")

    result = run_sync(lambda: run(Scripted({"c": flaky}), eval_set(case("c")), retry_errors=2))
    assert result.passed
    trial = result.cases[0].trials[0].trial
    assert trial is not None
    assert ["peer went away" in (a.failure.message if a.failure else "") for a in trial.attempts] == [
        True,
        True,
    ]
    (warning,) = result.warnings
    assert warning.startswith(
        "1 trial was tried again after infrastructure errors: set/c, agent raised in turn 1"
    )
    assert warning.endswith(": ConnectionResetError: peer went away")


def test_the_agents_own_mistakes_are_not_tried_again() -> None:
    calls = [0]

    async def wrong(_: Session) -> AsyncIterator[Event]:
        calls[0] += 1
        raise KeyError("city")
        yield Event.said("")

    result = run_sync(lambda: run(Scripted({"c": wrong}), eval_set(case("c")), retry_errors=5))
    assert result.outcome is Outcome.ERROR
    assert calls == [1]


def test_fail_fast_starts_no_further_case_and_names_the_rest() -> None:
    given = eval_set(case("bad", turn("bad", calls=("tool",))), *(case(f"c{n}") for n in range(50)))
    result = run_sync(lambda: run(Scripted(), given, fail_fast=True, concurrency=1))
    assert result.outcome is Outcome.FAILED
    assert [c.outcome for c in result.cases[1:]] == [Outcome.NOT_RUN] * 50


def test_hooks_wrap_every_trial_even_one_that_raises() -> None:
    calls: list[str] = []

    def setup(case: EvalCase, session: Session) -> None:
        session.state["db"] = case.eval_id
        calls.append(f"+{case.eval_id}")

    async def teardown(session: Session) -> None:
        calls.append(f"-{session.state['db']}")

    agent = Scripted({"bad": raising(ValueError("x"))})
    result = run_sync(
        lambda: run(agent, eval_set(case("a"), case("bad")), setup=setup, teardown=teardown, concurrency=1)
    )
    assert calls == ["+a", "-a", "+bad", "-bad"]
    assert [c.outcome for c in result.cases] == [Outcome.PASSED, Outcome.ERROR]


@pytest.mark.parametrize("where", ["setup", "teardown"])
def test_a_hook_that_raises_is_an_error_of_the_hook_not_of_the_agent(where: str) -> None:
    def raises() -> None:
        raise OSError("no database")

    options: dict[str, Any] = {where: raises}
    (bad,) = run_sync(lambda: run(Scripted(), eval_set(case("a")), **options)).cases
    failure = bad.trials[0].failure
    assert failure is not None
    assert (failure.where, failure.kind) == (where, FailureKind.HOOK)
    assert bad.reason == f"{where} hook: OSError: no database"


def test_agent_that_cannot_be_opened_stops_the_run_before_the_first_trial() -> None:
    class Shut(Scripted):
        def open(self) -> None:
            raise OSError("no such model")

    with pytest.raises(AgentLoadError, match="no such model"):
        run_sync(lambda: run(Shut(), eval_set(case("a"))))


def test_an_agent_is_opened_once_and_closed_at_the_end() -> None:
    calls: list[str] = []

    class Polite(Scripted):
        async def open(self) -> None:
            calls.append("open")

        def describe(self) -> AgentInfo:
            return AgentInfo("polite", app_details={"agent_details": {"polite": {"name": "polite"}}})

        async def close(self) -> None:
            calls.append("close")

    result = run_sync(lambda: run(Polite(), eval_set(case("a"), case("b"))))
    assert result.passed
    assert calls == ["open", "close"]


def test_cancelled_run_reports_its_results_and_raises_the_cancellation() -> None:
    ended: list[RunResult] = []
    finished: list[str] = []
    others_are_done = asyncio.Event()

    class Watch:
        def run_started(self, run: RunResult, trials: int) -> None: ...
        def trial_finished(self, eval_set_id: str, eval_id: str, outcome: Outcome) -> None: ...
        def case_finished(self, result: CaseResult) -> None:
            finished.append(result.eval_id)
            if len(finished) == 2:
                others_are_done.set()

        def run_finished(self, run: RunResult) -> None:
            ended.append(run)

    async def hang(_: Session) -> AsyncIterator[Event]:
        await asyncio.sleep(60)
        yield Event.said("never")

    async def main() -> None:
        task = asyncio.create_task(
            run(Scripted({"hang": hang}), eval_set(case("a"), case("hang"), case("b")), progress=Watch())
        )
        await others_are_done.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run_sync(main)
    assert ended[0].interrupted
    assert [c.outcome for c in ended[0].cases] == [Outcome.PASSED, Outcome.NOT_RUN, Outcome.PASSED]


def test_evidence_of_passing_cases_can_be_dropped() -> None:
    given = eval_set(case("good"), case("bad", turn("bad", calls=("tool",))))
    result = run_sync(lambda: run(Scripted(), given, keep_evidence="failures"))
    assert result.case("good").trials[0].trial is None
    assert result.case("bad").trials[0].trial is not None


def test_reasons_are_worked_out_for_what_failed_and_on_request_for_all() -> None:
    given = eval_set(case("good"), case("bad", turn("bad", calls=("tool",))))
    plan_of(given, EXACT)
    brief = run_sync(lambda: run(Scripted(), given))
    full = run_sync(lambda: run(Scripted(), given, explain="all"))
    name = "tool_trajectory_avg_score"
    assert "tool" in brief.case("bad").metrics[name].per_invocation[0].reason
    assert brief.case("good").metrics[name].per_invocation[0].reason == ""
    assert full.case("good").metrics[name].per_invocation[0].reason


def test_an_agent_knows_which_trial_it_is_in() -> None:
    seen: list[int] = []

    async def number(session: Session) -> AsyncIterator[Event]:
        seen.append(session.trial)
        yield Event.said("ok")

    run_sync(lambda: run(Scripted({"a": number}), eval_set(case("a")), num_runs=4, concurrency=4))
    assert sorted(seen) == [0, 1, 2, 3]


@pytest.mark.parametrize("keep", ["failures", "all"])
def test_passed_case_has_a_verdict_of_every_metric_and_scores_if_they_are_kept(keep: Any) -> None:
    config = EvalConfig(criteria={"response_match_score": 0.5, "tool_trajectory_avg_score": 1.0})
    result = run_sync(lambda: run(Scripted(), eval_set(case("one")), config, keep_evidence=keep))
    metrics = result.cases[0].metrics
    assert result.passed
    assert {name: (metric.outcome.value, metric.score) for name, metric in metrics.items()} == {
        "response_match_score": ("passed", 1.0),
        "tool_trajectory_avg_score": ("passed", 1.0),
        "tool_call_count_v1": ("informational", 0.0),
        "inference_call_count_v1": ("informational", 0.0),
        "token_usage_v1": ("informational", None),
        "invocation_duration_v1": ("informational", metrics["invocation_duration_v1"].score),
    }
    assert list(metrics)[:2] == ["response_match_score", "tool_trajectory_avg_score"]
    assert [len(metric.per_trial) for metric in metrics.values()] == [int(keep == "all")] * 6
    assert metrics["token_usage_v1"].reason == "no token usage was reported"
