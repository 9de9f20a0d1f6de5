"""Record, then decide: a stopped run resumes, and evidence is scored again without the agent."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor import Content, Event, Session, SetupError, SetupProblems
from proctor.engine.execution.run_control import NoProgress, StopRequest
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult

CONFIG = {"criteria": {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}}


def one_case(number: int) -> dict[str, Any]:
    turns = [
        {
            "invocation_id": f"i{turn}",
            "user_content": {"role": "user", "parts": [{"text": f"{number}.{turn}"}]},
            "final_response": {"role": "model", "parts": [{"text": f"the answer to {number}.{turn}"}]},
            "intermediate_data": {"tool_uses": [{"name": "look_up", "args": {"n": number}}]},
        }
        for turn in range(2)
    ]
    return {"eval_id": f"c{number}", "conversation": turns}


def a_set(cases: int = 12) -> dict[str, Any]:
    return {"eval_set_id": "numbers", "eval_cases": [one_case(number) for number in range(cases)]}


class Agent:
    """Answers rightly but for every third case; case 5 breaks; counts how often each question was asked."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.broken = True

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        question = (message.parts or [])[0].text or ""
        self.asked[question] += 1
        number = int(question.partition(".")[0])
        if number == 5 and self.broken:
            raise ConnectionError("the weather service is down")
        yield Event.called("look_up", {"n": number if number % 3 else -1}, id="1")
        yield Event.returned("look_up", {"found": True}, id="1")
        yield Event.said(f"the answer to {question}")


class StopAfter(NoProgress):
    """Asks the run to stop after so many trials."""

    def __init__(self, trials: int) -> None:
        self.left, self.stop = trials, StopRequest()

    def trial_finished(self, eval_set_id: str, eval_id: str, outcome: Outcome) -> None:
        self.left -= 1
        if self.left == 0:
            self.stop("enough for now")


def store_of(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/runs.sqlite3"


def run(tmp_path: Path, agent: Agent, **options: Any) -> RunResult:
    """Run the set and keep the run."""
    return proctor.evaluate_sync(agent, a_set(), config=CONFIG, store=store_of(tmp_path), **options)


def stop(tmp_path: Path, agent: Agent, *, after: int, **options: Any) -> RunResult:
    """Run the set, and stop after so many trials."""
    watch = StopAfter(after)
    return run(tmp_path, agent, **{"concurrency": 1, "progress": watch, "stop": watch.stop, **options})


def run_content(result: RunResult) -> list[Any]:
    """Return the whole content of a run's cases, but for times and ids."""
    return [_case_content(case) for case in result.cases]


def _case_content(case: CaseResult) -> Any:
    metrics = {
        name: (verdict.outcome, verdict.score, verdict.reason, verdict.threshold, verdict.gate)
        for name, verdict in case.metrics.items()
        if name != "invocation_duration_v1"
    }
    trials = [(trial.number, trial.outcome, _words(trial.trial)) for trial in case.trials]
    return case.eval_set_id, case.eval_id, case.outcome, case.reason, metrics, trials


def _words(trial: Any) -> Any:
    if trial is None:
        return None
    return (
        [(turn.user_content, turn.events) for turn in trial.turns],
        trial.final_state,
        trial.failure and trial.failure.message,
    )


@pytest.mark.slow
@pytest.mark.parametrize("num_runs", [1, 3])
@pytest.mark.parametrize("stop_after", [1, 4, 9])
def test_resumed_run_equals_the_undisturbed_one(tmp_path: Path, num_runs: int, stop_after: int) -> None:
    undisturbed = proctor.evaluate_sync(Agent(), a_set(), config=CONFIG, num_runs=num_runs)
    agent = Agent()
    stopped = stop(tmp_path, agent, after=stop_after, num_runs=num_runs, concurrency=2)
    assert stopped.interrupted
    assert stopped.counts[Outcome.NOT_RUN] > 0
    before = Counter(agent.asked)
    resumed = proctor.resume_sync(store=store_of(tmp_path), agent=agent, eval_sets=a_set())
    assert run_content(resumed) == run_content(undisturbed)
    assert resumed.counts == undisturbed.counts
    assert resumed.exit_code == undisturbed.exit_code
    assert resumed.run_id == stopped.run_id
    assert all(agent.asked[question] == num_runs for question in agent.asked)
    assert before <= agent.asked


@pytest.mark.slow
def test_limits_are_those_of_this_time_and_figures_those_of_the_whole_run(tmp_path: Path) -> None:
    agent = Agent()
    stopped = run(tmp_path, agent, concurrency=1, max_failures=2)
    assert stopped.stopped_by.startswith("max_failures")
    assert stopped.counts == {Outcome.FAILED: 2, Outcome.PASSED: 2, Outcome.NOT_RUN: 8}
    further = proctor.resume_sync(
        store=store_of(tmp_path), agent=agent, eval_sets=a_set(), concurrency=1, max_failures=2
    )
    assert further.counts == {Outcome.FAILED: 3, Outcome.ERROR: 1, Outcome.PASSED: 3, Outcome.NOT_RUN: 5}
    assert further.duration > stopped.duration
    finished = proctor.resume_sync(store=store_of(tmp_path), agent=agent, eval_sets=a_set())
    assert finished.counts == {Outcome.FAILED: 4, Outcome.ERROR: 1, Outcome.PASSED: 7}
    assert not finished.stopped_by


def test_a_finished_run_is_returned_and_nothing_is_run(tmp_path: Path) -> None:
    agent = Agent()
    result = run(tmp_path, agent)
    asked = Counter(agent.asked)
    again = proctor.resume_sync(result.run_id, store=store_of(tmp_path))
    assert run_content(again) == run_content(result)
    assert agent.asked == asked
    with pytest.raises(SetupError, match="nothing to resume"):
        proctor.resume_sync(store=store_of(tmp_path))


def test_errors_are_run_again_when_asked_and_both_attempts_are_kept(tmp_path: Path) -> None:
    agent = Agent()
    result = run(tmp_path, agent)
    assert result.case("c5").outcome is Outcome.ERROR
    agent.broken = False
    asked = Counter(agent.asked)
    again = proctor.resume_sync(
        result.run_id, store=store_of(tmp_path), agent=agent, eval_sets=a_set(), retry_errors=True
    )
    assert again.case("c5").outcome is Outcome.PASSED
    assert agent.asked - asked == Counter({"5.0": 1, "5.1": 1})
    assert Outcome.ERROR not in again.counts


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(
            {"eval_sets": {**a_set(), "eval_cases": a_set(13)["eval_cases"]}}, "new: c12", id="a case more"
        ),
        pytest.param({"eval_sets": a_set(11)}, "gone: c11", id="a case less"),
        pytest.param(
            {"eval_sets": json.loads(json.dumps(a_set()).replace("answer to 7", "answer for 7"))},
            "changed: c7",
            id="a case edited",
        ),
    ],
)
def test_another_set_is_refused_with_what_differs(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    agent = Agent()
    stop(tmp_path, agent, after=3)
    asked = Counter(agent.asked)
    given: dict[str, Any] = {"agent": agent, "eval_sets": a_set(), **change}
    with pytest.raises(SetupProblems) as refused:
        proctor.resume_sync(store=store_of(tmp_path), **given)
    assert message in str(refused.value)
    assert "--force" in str(refused.value)
    assert agent.asked == asked
    forced = proctor.resume_sync(store=store_of(tmp_path), force=True, **given)
    assert any(message in warning for warning in forced.warnings)
    assert all(agent.asked[question] == 1 for question in agent.asked)


def test_another_agent_is_refused(tmp_path: Path) -> None:
    stop(tmp_path, Agent(), after=3)

    async def another_agent(text: str) -> str:
        return "?"

    with pytest.raises(SetupProblems, match="the agent was Agent and is another_agent"):
        proctor.resume_sync(store=store_of(tmp_path), agent=another_agent, eval_sets=a_set())


@pytest.mark.slow
def test_rescore_with_the_same_config_gives_the_same_verdicts(tmp_path: Path) -> None:
    agent = Agent()
    result = run(tmp_path, agent, num_runs=2)
    asked = Counter(agent.asked)
    again = proctor.rescore_sync(result, store=store_of(tmp_path))
    assert run_content(again) == run_content(result)
    assert agent.asked == asked


@pytest.mark.slow
def test_rescore_with_another_config_gives_new_verdicts_and_keeps_the_old(tmp_path: Path) -> None:
    result = run(tmp_path, Agent())
    assert result.counts == {Outcome.FAILED: 4, Outcome.ERROR: 1, Outcome.PASSED: 7}
    mild = proctor.rescore_sync(
        result, store=store_of(tmp_path), config={"criteria": {"response_match_score": 0.8}}
    )
    assert mild.counts == {Outcome.ERROR: 1, Outcome.PASSED: 11}
    first = proctor.load_run(result.run_id, store_of(tmp_path), scoring=1)
    assert run_content(first) == run_content(result)
    assert run_content(proctor.load_run(result.run_id, store_of(tmp_path))) == run_content(mild)


@pytest.mark.slow
def test_resume_of_a_rescored_run_needs_force(tmp_path: Path) -> None:
    agent = Agent()
    stopped = stop(tmp_path, agent, after=4)
    proctor.rescore_sync(
        stopped, store=store_of(tmp_path), config={"criteria": {"response_match_score": 0.9}}
    )
    given: dict[str, Any] = {"agent": agent, "eval_sets": a_set()}
    with pytest.raises(SetupProblems, match="re-scored"):
        proctor.resume_sync(store=store_of(tmp_path), **given)
    forced = proctor.resume_sync(store=store_of(tmp_path), force=True, **given)
    assert any("re-scored" in warning for warning in forced.warnings)


def test_rescore_of_an_unfinished_run_keeps_cases_as_not_run(tmp_path: Path) -> None:
    stopped = stop(tmp_path, Agent(), after=4)
    again = proctor.rescore_sync(stopped, store=store_of(tmp_path))
    assert run_content(again) == run_content(stopped)
    assert again.counts[Outcome.NOT_RUN] == 8


@pytest.mark.slow
def test_error_in_the_new_config_is_reported_and_changes_nothing(tmp_path: Path) -> None:
    result = run(tmp_path, Agent())
    with pytest.raises(SetupProblems, match="response_match_score"):
        proctor.rescore_sync(
            result, store=store_of(tmp_path), config={"criteria": {"response_match_scor": 0.8}}
        )
    assert run_content(proctor.load_run(result.run_id, store_of(tmp_path))) == run_content(result)


def test_result_without_stored_evidence_is_reported() -> None:
    result = proctor.evaluate_sync(Agent(), a_set(), config=CONFIG)
    with pytest.raises(SetupError, match="not kept"):
        proctor.rescore_sync(result, store="memory:")
