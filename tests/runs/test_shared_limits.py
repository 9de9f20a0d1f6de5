"""Limits of money, calls and tokens hold for all members of a run together, and over their restarts."""

import asyncio
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor import Event
from proctor.engine.usage import shared_budget
from proctor.errors import SetupError
from proctor.models.base import Message, ModelOptions, Reply, Usage
from proctor.models.retries import Limiter
from proctor.models.scripted import ScriptedModel
from proctor.runs.storage import join_run
from proctor.runs.storage.join_run import wait_for_end
from proctor.schema.results.manifest import RunState
from proctor.schema.results.run_result import Outcome, RunResult
from proctor.stores.base import Caps
from proctor.stores.open import open_store_url
from tests.runs.test_joined_runs import eval_set, member, members, on_a_loop
from tests.stores.statements import executed_statements

CASES = 30
SETS = eval_set(CASES)
JUDGED = {
    "criteria": {
        "final_response_match_v2": {"threshold": 0.5, "judge_model_options": {"num_samples": 1}},
    }
}
TEXT = {"criteria": {"response_match_score": 0.1}}


@pytest.fixture(autouse=True)
def _members_look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(join_run, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(shared_budget, "WAIT_SECONDS", 0.01)


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:{tmp_path / 'runs.db'}"


class Judge(ScriptedModel):
    """Answers yes after a moment, at a price."""

    def __init__(self, cost: float = 0.01) -> None:
        super().__init__({"rationale": "the same", "verdict": "valid"}, delay=0.001)
        self.cost = cost
        self.under_way = self.most = 0

    async def complete(self, messages: Sequence[Message], *, options: ModelOptions) -> Reply:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        reply = await super().complete(messages, options=options)
        self.under_way -= 1
        return replace(reply, cost=self.cost, model="judge-1", usage=Usage(input_tokens=9, output_tokens=1))


class Agent:
    """Answers, and reports 100 tokens."""

    def __init__(self) -> None:
        self.calls = 0

    async def answer(self, message: Any, _session: Any) -> Any:
        self.calls += 1
        yield Event.model_validate(
            {
                "author": "agent",
                "content": {"parts": [{"text": f"answer to {message.joined_text()}"}]},
                "usage_metadata": {"prompt_token_count": 60, "candidates_token_count": 40, "total_token_count": 100},
            }
        )  # fmt: skip


AGENT = Agent()


def reasons(parts: Sequence[RunResult]) -> set[str]:
    return {part.stopped_by for part in parts}


@pytest.mark.slow
@on_a_loop
async def test_all_members_together_make_exactly_as_many_calls_of_judges_as_allowed(store: str) -> None:
    judge = Judge()
    parts = await members(store, sets=SETS, config=JUDGED, judge=judge, max_judge_calls=17, agent=AGENT)
    assert len(judge.asked) == 17
    assert reasons(parts) - {""} == {"max_judge_calls: judges were asked 17 times"}
    stopped = wait_for_end(open_store_url(store), "nightly", 60.0)
    assert "is not complete: stopped by max_judge_calls: judges were asked 17 times. " in stopped
    assert f"`proctor resume nightly --max-judge-calls N --store={store}` resumes it" in stopped
    whole = open_store_url(store).load("nightly")
    assert whole.counts == {Outcome.PASSED: 17, Outcome.NOT_RUN: CASES - 17}
    assert (whole.outcome, whole.stopped_by) == (
        Outcome.NOT_RUN,
        "max_judge_calls: judges were asked 17 times",
    )
    assert sum(one.calls for one in whole.spent if one.purpose == "judge") == 17


@on_a_loop
async def test_a_limit_of_tokens_starts_again_after_an_end_in_order(store: str) -> None:
    agent = Agent()
    options: dict[str, Any] = {"store": store, "max_tokens": 300, "concurrency": 1}
    await proctor.evaluate(agent, SETS, config=TEXT, **options)
    resumed = await proctor.resume(agent=agent, eval_sets=SETS, **options)
    assert (agent.calls, resumed.counts[Outcome.PASSED]) == (6, 6)


@on_a_loop
async def test_a_run_is_resumed_after_a_kill_within_its_limits_and_names_them_once(store: str) -> None:
    judge = Judge()
    session: dict[str, Any] = {"store": store, "judge": judge}
    run = await proctor.evaluate(AGENT, SETS, config=JUDGED, max_judge_calls=3, **session)
    killed: Any = open_store_url(store)
    with closing(killed):
        killed.set_caps(run.run_id, Caps(max_judge_calls=2, max_tokens=1_000_000))
    session |= {"agent": AGENT, "eval_sets": SETS}
    resumed = await proctor.resume(**session)
    note = "resumed after a kill within the limits of the whole run: max_judge_calls 2, max_tokens 1,000,000; what was spent counts"
    assert (len(judge.asked), resumed.warnings) == (5, [note])
    again = await proctor.resume(max_judge_calls=1, **session)
    assert (len(judge.asked), again.warnings) == (6, [note])


@on_a_loop
async def test_limits_of_several_agents_are_in_the_store_before_the_turn_of_each(store: str) -> None:
    """So they hold for a process that is killed before the first call of a judge for the second agent."""
    purses: list[list[Any]] = []

    class Watch(Agent):
        """Reads by run the limit of calls and the calls so far."""

        async def answer(self, message: Any, _session: Any) -> Any:
            await asyncio.sleep(0.1)
            opened: Any = open_store_url(store)
            with closing(opened):
                purses.append(opened._database.rows(PURSES))
            async for event in super().answer(message, _session):
                yield event

    options: dict[str, Any] = {"config": JUDGED, "judge": Judge(), "store": store, "max_judge_calls": 9}
    await proctor.evaluate_matrix([Watch(), Watch()], eval_set(1), **options)
    assert purses == [[(1, 9, 0), (2, 9, None)], [(2, 9, 1)]]


PURSES = "SELECT run, max_calls, calls FROM purses LEFT JOIN purse_parts USING (run) ORDER BY run"


@pytest.mark.slow
@on_a_loop
async def test_dollars_are_exceeded_by_less_than_one_call(store: str) -> None:
    judge = Judge(0.01)
    parts = await members(store, sets=SETS, config=JUDGED, judge=judge, max_cost=0.155)
    assert len(judge.asked) == 16
    assert reasons(parts) - {""} == {"max_cost: $0.16 of $0.155 are spent"}


@pytest.mark.slow
@on_a_loop
async def test_a_run_within_its_limits_is_complete(store: str) -> None:
    judge = Judge(0.01)
    limits: dict[str, Any] = {"max_cost": 0.31, "max_judge_calls": CASES, "max_tokens": 1_000_000}
    parts = await members(store, sets=SETS, config=JUDGED, judge=judge, **limits)
    assert (len(judge.asked), reasons(parts)) == (CASES, {""})
    assert [part.completes_run for part in parts].count(True) == 1
    assert open_store_url(store).load("nightly").passed


@pytest.mark.slow
@on_a_loop
async def test_no_member_begins_a_trial_once_all_have_used_the_tokens(store: str) -> None:
    agent = Agent()
    parts = await members(
        store, sets=SETS, config=TEXT, agent=agent, max_tokens=1_000, concurrency=1, parts=3
    )
    assert (
        10 <= agent.calls <= 10 + 2 * 3
    )  # the trials under way, and those that were just committed elsewhere
    stopped = reasons(parts) - {""}  # one may have come to the end of its part
    assert stopped
    assert all(reason.startswith("max_tokens: the agent has used 1,") for reason in stopped)


@pytest.mark.slow
@on_a_loop
async def test_resume_keeps_what_was_spent_and_may_raise_the_limit(store: str) -> None:
    judge = Judge()
    given: dict[str, Any] = {"sets": SETS, "config": JUDGED, "judge": judge, "agent": AGENT}
    await members(store, max_judge_calls=10, **given)
    again: dict[str, Any] = {"store": store, "agent": AGENT, "eval_sets": SETS, "judge": judge}
    stopped = await proctor.resume("nightly", **again)
    assert (len(judge.asked), stopped.stopped_by) == (10, "max_judge_calls: judges were asked 10 times")
    await proctor.resume("nightly", max_judge_calls=14, **again)
    assert len(judge.asked) == 14
    whole = await proctor.resume("nightly", max_judge_calls=CASES, **again)
    assert (len(judge.asked), whole.passed) == (CASES, True)
    assert open_store_url(store).record("nightly").state is RunState.FINISHED


@pytest.mark.slow
@on_a_loop
async def test_a_member_that_is_started_again_keeps_what_was_spent(store: str) -> None:
    judge = Judge()
    given: dict[str, Any] = {
        "sets": SETS,
        "config": JUDGED,
        "judge": judge,
        "agent": AGENT,
        "max_judge_calls": 10,
    }
    await members(store, **given)
    again = await member(store, 1, **given)
    assert (len(judge.asked), again.stopped_by) == (10, "max_judge_calls: judges were asked 10 times")


@pytest.mark.slow
@on_a_loop
async def test_members_with_different_limits_are_refused(store: str) -> None:
    limits = enumerate((1.0, 1.0, 2.0), 1)
    refused = await asyncio.gather(
        *(member(store, part, max_cost=cost) for part, cost in limits), return_exceptions=True
    )
    assert all(isinstance(error, SetupError) for error in refused)
    assert any("max_cost is" in str(error) for error in refused)


@pytest.mark.slow
@on_a_loop
async def test_a_reservation_is_one_of_many_calls(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    statements = executed_statements(monkeypatch)
    judge = Judge()
    sets = eval_set(200)
    await members(store, sets=sets, config=JUDGED, judge=judge, max_judge_calls=100_000, agent=AGENT)
    reserved = [one for one in statements if one.startswith("UPDATE purses")]
    assert len(judge.asked) == 200
    assert len(reserved) <= 200 / 20 + 3 * 2


@pytest.mark.slow
@on_a_loop
async def test_members_divide_the_requests_that_are_under_way_at_a_time(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Limiter.__init__, "__defaults__", (6,))
    judges = [Judge(), Judge(), Judge()]
    parts = (
        member(store, part, sets=SETS, config=JUDGED, judge=judge) for part, judge in enumerate(judges, 1)
    )
    await asyncio.gather(*parts)
    assert [judge.most for judge in judges] == [6 // 3] * 3
