"""Trials with a judge: only the dependent work waits for a judge, and a judge has a separate time limit."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

import proctor
from proctor.engine.execution.executor import LocalExecutor
from proctor.engine.trial.deadlines import TrialSlot
from proctor.models.base import ModelError, ModelFault, ModelOptions
from proctor.models.scripted import ScriptedModel
from proctor.schema.results.run_result import Outcome, RunResult
from tests.engine.scripted import case, eval_set, turn

MATCH, SAFE = "final_response_match_v2", "safety_v1"
VALID = {"rationale": "it does", "verdict": "valid"}


def cases(count: int) -> Any:
    return eval_set(*(case(f"c{n}", turn(f"q{n}", expect=f"the answer to q{n}")) for n in range(count)))


async def agent(text: str) -> str:
    return f"the answer to {text}"


def judged(
    judge: Any, count: int = 1, criteria: Any = None, *, samples: int = 1, **options: Any
) -> RunResult:
    how = {"threshold": 1.0, "judge_model_options": {"num_samples": samples}}
    config = {"criteria": criteria or {MATCH: how}}
    sets = options.pop("sets", None) or cases(count)
    return proctor.evaluate_sync(options.pop("agent", agent), sets, config=config, judge=judge, **options)


class Meeting:
    """A judge that answers when so many calls are under way, and a model of what was at most."""

    name, has_schemas = "meeting", True

    def __init__(self, wanted: int) -> None:
        self.wanted, self.there, self.most = wanted, 0, 0
        self.all_here = asyncio.Event()

    async def __call__(self, _messages: Any, options: ModelOptions) -> dict[str, Any]:
        self.there += 1
        self.most = max(self.most, self.there)
        if self.there >= self.wanted:
            self.all_here.set()
        await asyncio.wait_for(self.all_here.wait(), 60)
        self.there -= 1
        return {**options.echo, **VALID}


def test_a_trial_that_waits_for_its_judge_has_given_its_place_away() -> None:
    """With one agent at a time twelve answers are scored at once."""
    meeting = Meeting(12)
    result = judged(meeting, 12, concurrency=1)
    assert result.passed
    assert meeting.most == 12


def test_agents_at_work_stay_within_the_concurrency() -> None:
    at_work = most = 0

    async def counting(text: str) -> str:
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        await asyncio.sleep(0.005)
        at_work -= 1
        return text

    assert judged(Meeting(10), 10, concurrency=3, agent=counting).passed
    assert most <= 3


def test_so_many_wait_aside_and_no_more() -> None:
    begun: list[int] = []
    most = 0

    async def run() -> None:
        nonlocal most
        free = asyncio.Event()

        async def work(job: int, slot: TrialSlot) -> int:
            nonlocal most
            begun.append(job)
            executor.set_aside(slot)
            most = max(most, len(begun))
            if len(begun) == 6:
                asyncio.get_running_loop().call_later(0.05, free.set)
            await free.wait()
            return job

        executor: LocalExecutor[int, int] = LocalExecutor(
            work,
            abandoned=lambda job, _: job,
            on_done=done,
            concurrency=1,
            shortest_timeout=None,
            most_aside=5,
        )
        await executor.run(iter(range(12)))

    finished: list[int] = []

    def done(outcome: int) -> None:
        if not finished:
            assert len(begun) == 6  # five that wait aside, and one in the only place
        finished.append(outcome)

    asyncio.run(run())
    assert sorted(finished) == list(range(12))


def test_jobs_in_flight_are_at_most_those_in_parallel_while_others_wait_for_their_commit() -> None:
    in_flight: list[int] = []

    async def run() -> None:
        free, all_have_begun = asyncio.Event(), asyncio.Event()

        async def work(job: int, _: TrialSlot) -> int:
            if job == 5:
                all_have_begun.set()
            if job > 1:
                await free.wait()
            return job

        async def look() -> None:
            await all_have_begun.wait()
            in_flight.append(executor.in_flight)
            free.set()

        async def commit(_: int) -> None:
            await free.wait()

        executor: LocalExecutor[int, int] = LocalExecutor(
            work,
            abandoned=lambda job, _: job,
            on_done=lambda _: None,
            commit=commit,
            concurrency=4,
            shortest_timeout=None,
            commits_aside=2,
        )
        await asyncio.gather(executor.run(iter(range(6))), look())
        in_flight.append(executor.in_flight)

    asyncio.run(run())
    assert in_flight == [4, 0]  # six have begun, and two of them wait for their commit


def test_metrics_of_one_trial_ask_at_the_same_time() -> None:
    meeting = Meeting(2)
    one = {"threshold": 1.0, "judge_model_options": {"num_samples": 1}}

    async def judge_answer(messages: Any, options: ModelOptions) -> dict[str, Any]:
        await meeting(messages, options)
        fields = options.schema["properties"] if options.schema else {}
        return {
            **options.echo,
            **{name: _some(field) for name, field in fields.items() if name not in options.echo},
        }

    result = judged(judge_answer, 1, {MATCH: one, SAFE: one})
    assert [metric.outcome for metric in result.cases[0].metrics.values()][:2] == [Outcome.PASSED] * 2
    assert meeting.most == 2


def _some(field: Any) -> Any:
    good = (word for word in ("valid", "safe", "none", "yes") if word in field.get("enum", ()))
    return next(good, next(iter(field.get("enum", ())), [] if field.get("type") == "array" else "because"))


def test_a_metric_that_needs_the_scores_of_judges_waits_for_them() -> None:
    criteria = {
        "both": {"threshold": 0.5, "weights": {MATCH: 1.0, "response_match_score": 1.0}},
        MATCH: {"threshold": 0.1, "judge_model_options": {"num_samples": 1}},
        "response_match_score": 0.1,
    }
    config = {
        "criteria": criteria,
        "custom_metrics": {"both": {"code_config": {"name": "proctor.metrics.weighted.Weighted"}}},
    }
    result = proctor.evaluate_sync(
        agent, cases(1), config=config, judge=ScriptedModel({**VALID, "verdict": "invalid"})
    )
    metrics = result.cases[0].metrics
    overlap = metrics["response_match_score"].score
    assert overlap is not None
    assert metrics[MATCH].score == 0.0
    assert metrics["both"].score == pytest.approx(overlap / 2)


def test_the_time_limit_of_a_turn_is_not_the_judges() -> None:
    result = judged(ScriptedModel(VALID, delay=1.2), timeout=0.8, trial_timeout=0.9)
    assert result.passed


@pytest.mark.parametrize("sets", [1, 3])
def test_a_parallelism_limit_that_is_written_is_kept(sets: int) -> None:
    limits = {"num_samples": 5, "parallelism_limit": 2}
    at_once = most = 0

    async def judge_answer(_messages: Any, options: ModelOptions) -> dict[str, Any]:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0.002)
        at_once -= 1
        return {**options.echo, **VALID}

    several = [
        eval_set(case("c", turn(f"q{n}", expect=f"the answer to q{n}")), eval_set_id=f"s{n}")
        for n in range(sets)
    ]
    criteria = {MATCH: {"threshold": 1.0, "judge_model_options": limits}}
    assert judged(judge_answer, 8, criteria, sets=several if sets > 1 else None).passed
    assert most == 2


@pytest.mark.slow
def test_two_hundred_calls_are_under_way_at_once_and_no_more() -> None:
    meeting = Meeting(200)
    assert judged(meeting, 100, samples=5).passed
    assert meeting.most == 200


def test_fail_fast_starts_no_trial_before_the_previous_one_is_scored() -> None:
    asked: list[str] = []

    async def counting(text: str) -> str:
        asked.append(text)
        return text

    judge = ScriptedModel({**VALID, "verdict": "invalid"}, delay=0.02)
    assert judged(judge, 10, concurrency=1, fail_fast=True, agent=counting).counts[Outcome.NOT_RUN] == 9
    assert asked == ["q0"]


class Ended(BaseException):
    """What ends a process, in the wrong hands."""


BROKEN: dict[str, Any] = {
    "an exception": ValueError("oh"),
    "an exception that is none": Ended("oh"),
    "the end of the process": SystemExit(3),
    "a cancellation": asyncio.CancelledError(),
    "no memory": MemoryError(),
    "no answer": ModelError("no", fault=ModelFault.UNAVAILABLE),
}


@pytest.mark.parametrize("raised", BROKEN.values(), ids=BROKEN)
def test_a_judge_that_breaks_breaks_its_metric_alone(raised: BaseException) -> None:
    async def judge_answer(_messages: Any) -> str:
        raise raised

    criteria = {
        MATCH: {"threshold": 1.0, "judge_model_options": {"num_samples": 1}},
        "response_match_score": 0.1,
    }
    result = judged(judge_answer, 2, criteria)
    assert result.outcome is Outcome.ERROR
    for one in result.cases:
        assert one.metrics[MATCH].outcome is Outcome.ERROR
        assert one.metrics[MATCH].score is None
        assert one.metrics["response_match_score"].outcome is Outcome.PASSED


class Given:
    """A ChatModel of the user's own that does something else than answer."""

    name, has_schemas = "given", True

    def __init__(self, does: Any) -> None:
        self.does = does

    async def complete(self, messages: Any, *, options: Any) -> Any:
        if isinstance(self.does, BaseException):
            raise self.does
        return self.does


class UnspeakableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    "does",
    [SystemExit(3), KeyboardInterrupt(), UnspeakableError(), None, "yes", {"verdict": "valid"}],
    ids=["exit", "interrupt", "unspeakable", "nothing", "a text", "a mapping"],
)
def test_invalid_judge_object_breaks_only_its_metric(does: Any) -> None:
    criteria = {MATCH: 1.0, "response_match_score": 0.1}
    one = judged(Given(does), 1, criteria).cases[0]
    failure = one.metrics[MATCH].failure
    assert failure is not None
    assert failure.where == "judge"
    assert one.metrics["response_match_score"].outcome is Outcome.PASSED


def test_a_judge_that_ignores_its_end_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor.models.settings.PATIENCE", 0.1)
    monkeypatch.setattr("proctor.models.function._GRACE", 0.1)

    class Stubborn:
        name, has_schemas = "stubborn", True

        async def complete(self, messages: Any, *, options: Any) -> Any:
            for _ in range(20):
                try:
                    await asyncio.sleep(0.2)
                except asyncio.CancelledError:
                    continue

    result = judged(Stubborn())
    failure = result.cases[0].metrics[MATCH].failure
    assert failure is not None
    assert "did not answer within 0.1 s" in failure.message


def test_one_turn_without_verdict_makes_only_that_metric_an_error() -> None:
    def judge_answer(messages: Any, options: ModelOptions) -> dict[str, Any]:
        verdict = "perhaps" if "q1" in messages[1].text else "valid"
        return {**options.echo, "rationale": "because", "verdict": verdict}

    given = eval_set(case("c", *(turn(f"q{n}", expect=f"the answer to q{n}") for n in range(3))))
    result = proctor.evaluate_sync(agent, given, config={"criteria": {MATCH: 0.5}}, judge=judge_answer)
    metric = result.cases[0].metrics[MATCH]
    assert metric.outcome is Outcome.ERROR
    assert metric.score is None
    assert [one.score for one in metric.per_invocation] == [1.0, None, 1.0]
    answers = metric.per_invocation[1].details["ballot"]["votes"]  # type: ignore[index] # it has one
    assert sum(len(vote["answers"]) for vote in answers) == 15


def test_a_model_that_turns_everything_away_ends_the_run() -> None:
    calls: Iterator[int] = iter(range(100))

    async def refuse(_messages: Any) -> str:
        given_up = next(calls) > 5
        raise ModelError("401", fault=ModelFault.GIVEN_UP if given_up else ModelFault.UNAUTHORIZED)

    result = judged(refuse, 30, concurrency=1)
    assert "the judge refuse: 401" in result.stopped_by
    assert result.counts[Outcome.NOT_RUN] > 10
    assert result.outcome is Outcome.ERROR


def test_recorded_invocations_are_judged_too() -> None:
    actual = {"user_content": {"parts": [{"text": "q"}]}, "final_response": {"parts": [{"text": "a"}]}}
    scores = proctor.score_sync(actual, actual, criteria={MATCH: 1.0}, judge=ScriptedModel(VALID))
    assert scores[MATCH].score == 1.0
    assert scores[MATCH].per_invocation[0].reason == "it does"


@pytest.mark.slow
def test_run_without_judges_loads_no_judge_module() -> None:
    import subprocess
    import sys

    code = (
        "import sys, proctor\n"
        "async def agent(text): return text\n"
        "turn = {'user_content': {'parts': [{'text': 'q'}]}, 'final_response': {'parts': [{'text': 'q'}]}}\n"
        "given = {'eval_set_id': 's', 'eval_cases': [{'eval_id': 'c', 'conversation': [turn]}]}\n"
        "result = proctor.evaluate_sync(agent, given, config={'criteria': {'response_match_score': 1.0}})\n"
        "assert result.passed\n"
        "print([name for name in sys.modules if name.startswith(('proctor.judges', 'proctor.models'))])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_votes_that_would_never_end_are_refused() -> None:
    how = {"threshold": 1.0, "judge_model_options": {"num_samples": 100_000_000_000}}
    with pytest.raises(proctor.SetupError, match=r"num_samples: .* 1000, got 100000000000"):
        proctor.evaluate_sync(agent, cases(1), config={"criteria": {MATCH: how}}, judge=ScriptedModel(VALID))
