"""What LLM judges cost is counted and capped: fault 27. A cap is kept to within one call, and nothing passes unjudged."""

from __future__ import annotations

import asyncio
import io
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.analysis.calibration.calibration_report import write_calibration
from proctor.engine.usage.costs import attempts_evidence, cost_of_case
from proctor.errors import SetupProblems
from proctor.models.base import Message, ModelOptions, Reply, Usage
from proctor.models.scripted import ScriptedModel
from proctor.reports.content.summary import dollars, run_cost_text
from proctor.schema.results.manifest import RunState
from proctor.schema.results.model_usage import Spent
from proctor.schema.results.run_result import Outcome
from proctor.schema.results.score import MODEL_CALLS
from tests.cli.project import in_this_process

CASES = 20
VOTES = 3
"""Calls for a case: the three of five votes that decide where they agree."""
CONFIG = {
    "criteria": {
        "final_response_match_v2": {"threshold": 0.5, "judge_model_options": {"num_samples": 5}},
        "response_match_score": 0.1,
    }
}
SET = {
    "eval_set_id": "trips",
    "eval_cases": [
        {
            "eval_id": f"case{i}",
            "conversation": [
                {
                    "user_content": {"role": "user", "parts": [{"text": f"question {i}"}]},
                    "final_response": {"role": "model", "parts": [{"text": "the answer is yes"}]},
                }
            ],
        }
        for i in range(CASES)
    ],
}
ANSWER = {"rationale": "it is the same", "verdict": "valid"}


class Judge(ScriptedModel):
    """Answer yes after a moment, at a price (`None`: unknown)."""

    def __init__(self, cost: float | None = 0.01) -> None:
        super().__init__(ANSWER, delay=0.002)
        self.cost = cost

    async def complete(self, messages: Sequence[Message], *, options: ModelOptions) -> Reply:
        """Answer yes."""
        reply = await super().complete(messages, options=options)
        return replace(
            reply, cost=self.cost, model="judge-1", usage=Usage(input_tokens=100, output_tokens=10)
        )

    @property
    def calls(self) -> int:
        return len(self.asked)


class Agent:
    """Answer, report the usage, and keep count."""

    def __init__(self, *, model: str = "", tokens: int = 0, seconds: float = 0.001) -> None:
        self.model, self.tokens, self.seconds, self.asked = model, tokens, seconds, 0

    async def answer(self, _message: Any, _session: Any) -> Any:
        self.asked += 1
        await asyncio.sleep(self.seconds)
        event = proctor.Event.said("the answer is yes")
        if self.tokens:
            usage = {"prompt_token_count": self.tokens, "candidates_token_count": 10}
            event = event.model_validate(
                {**event.model_dump(), "model_version": self.model, "usage_metadata": usage}
            )
        yield event


class Counted(Agent):
    """Report the usage of a model with a price."""

    def __init__(self) -> None:
        super().__init__(model="gpt-4o", tokens=1000)


class Failing(Counted):
    """Fail the first time that it is asked, before it reports usage."""

    async def answer(self, message: Any, session: Any) -> Any:
        if not self.asked:
            self.asked += 1
            raise ValueError("no answer")
        async for event in super().answer(message, session):
            yield event


class Unavailable(Failing):
    """Fail the first time with an error of the infrastructure."""

    async def answer(self, message: Any, session: Any) -> Any:
        if not self.asked:
            self.asked += 1
            raise ConnectionResetError("the service is down")
        async for event in super().answer(message, session):
            yield event


class Reticent(Counted):
    """Report usage only every other time."""

    async def answer(self, message: Any, session: Any) -> Any:
        async for event in super().answer(message, session):
            yield event if self.asked % 2 else proctor.Event.said("the answer is yes")


class Cached(Counted):
    """Answer every other time without a model, and report this `usage`."""

    def __init__(self, usage: dict[str, int]) -> None:
        super().__init__()
        self.usage = usage

    async def answer(self, message: Any, session: Any) -> Any:
        async for event in super().answer(message, session):
            free = proctor.Event.said("the answer is yes", usage_metadata=self.usage)
            yield event if self.asked % 2 else free


MATCH = {"criteria": {"response_match_score": 0.1}}
THREE_CASES = {**SET, "eval_cases": SET["eval_cases"][:3]}


def of_three_cases(agent: Any, store: Path, **options: Any) -> proctor.RunResult:
    """Run three cases without a judge."""
    return proctor.evaluate_sync(agent, THREE_CASES, config=MATCH, store=store, concurrency=1, **options)


def evaluated(judge: Any, agent: Any = None, **options: Any) -> proctor.RunResult:
    return proctor.evaluate_sync(agent or Agent(), SET, config=CONFIG, judge=judge, **options)


def of_judges(result: proctor.RunResult) -> Spent:
    (found,) = [one for one in result.spent if one.purpose == "judge" and one.model]
    return found


class TestCounting:
    def test_calls_tokens_and_dollars_are_reported_by_purpose_and_model(self) -> None:
        judge = Judge()
        spent = of_judges(evaluated(judge))
        assert judge.calls == CASES * VOTES == spent.calls
        assert (spent.input_tokens, spent.output_tokens) == (100 * spent.calls, 10 * spent.calls)
        assert spent.known_cost == pytest.approx(0.01 * spent.calls)

    def test_a_price_that_is_not_known_is_unknown_never_0(self) -> None:
        result = evaluated(Judge(cost=None))
        assert of_judges(result).unpriced == CASES * VOTES
        assert of_judges(result).known_cost is None
        assert result.cost is None

    def test_the_agent_is_priced_by_the_model_that_it_reports(self) -> None:
        pytest.importorskip("genai_prices")
        result = evaluated(Judge(), Agent(model="models/gemini-2.5-flash", tokens=1000))
        (agent,) = [one for one in result.spent if one.purpose == "agent"]
        assert (agent.calls, agent.input_tokens, agent.output_tokens) == (CASES, 1000 * CASES, 10 * CASES)
        assert agent.known_cost == pytest.approx(CASES * (1000 * 0.3e-6 + 10 * 2.5e-6))

    def test_agent_with_an_unknown_model_has_unknown_cost(self) -> None:
        result = evaluated(Judge(), Agent(model="our-own-7b", tokens=1000))
        assert result.cost is None

    def test_an_agent_that_reports_nothing_is_not_among_them(self) -> None:
        assert [one.purpose for one in evaluated(Judge()).spent] == ["judge"]

    def test_it_is_kept_with_the_run(self, tmp_path: Path) -> None:
        result = evaluated(Judge(), store=tmp_path / "s.db")
        kept = proctor.load_run(store=tmp_path / "s.db")
        assert kept.spent == result.spent
        assert kept.judged_by == result.judged_by != []
        assert proctor.list_runs(tmp_path / "s.db")[0].summary.spent == result.spent


class TestCapOnCalls:
    @pytest.mark.parametrize("most", [1, 7, 30, CASES * VOTES - 1])
    def test_not_one_call_more_is_made(self, most: int) -> None:
        judge = Judge()
        result = evaluated(judge, max_judge_calls=most)
        assert judge.calls == most
        assert result.counts.get(Outcome.PASSED, 0) <= most // VOTES
        assert result.outcome is Outcome.NOT_RUN
        assert result.exit_code == 3
        assert (
            result.stopped_by == f"max_judge_calls: judges were asked {most} time{'' if most == 1 else 's'}"
        )

    def test_of_several_agents_it_is_over_all_of_them(self) -> None:
        judge, agents = Judge(), [Agent(), Agent()]
        most = CASES * VOTES + VOTES
        runs = asyncio.run(
            proctor.evaluate_matrix(agents, SET, config=CONFIG, judge=judge, max_judge_calls=most)
        )
        assert judge.calls <= most
        assert [run.outcome for run in runs] == [Outcome.PASSED, Outcome.NOT_RUN]
        assert "max_judge_calls" in runs[1].stopped_by

    def test_an_agent_for_which_nothing_is_left_is_not_begun(self) -> None:
        judge, agents = Judge(), [Agent(), Agent()]
        runs = asyncio.run(
            proctor.evaluate_matrix(agents, SET, config=CONFIG, judge=judge, max_judge_calls=4)
        )
        assert judge.calls == 4
        assert [run.outcome for run in runs] == [Outcome.NOT_RUN, Outcome.NOT_RUN]
        assert agents[1].asked == 0
        assert all("max_judge_calls: judges were asked 4 times" in run.stopped_by for run in runs)

    def test_enough_is_enough(self) -> None:
        result = evaluated(Judge(), max_judge_calls=CASES * VOTES)
        assert result.passed
        assert result.stopped_by == ""

    def test_the_agent_is_not_asked_for_what_could_not_be_judged(self) -> None:
        agent = Agent(seconds=0.05)  # slower than its judge
        assert not evaluated(Judge(), agent, max_judge_calls=2 * VOTES, concurrency=1)
        assert agent.asked < CASES / 2

    @pytest.mark.parametrize("concurrency", [1, 8, 50])
    def test_unscored_cases_are_not_run_with_a_reason(self, concurrency: int) -> None:
        result = evaluated(Judge(), max_judge_calls=4, concurrency=concurrency)
        for case in result.cases:
            assert case.outcome in (Outcome.PASSED, Outcome.NOT_RUN)
            assert "error" not in case.reason


class TestCapOnDollars:
    @pytest.mark.parametrize("most", [0.005, 0.01, 0.255, 0.4])
    def test_it_is_passed_by_less_than_one_call(self, most: float) -> None:
        judge = Judge(cost=0.01)
        result = evaluated(judge, max_cost=most, concurrency=50)
        spent = 0.01 * judge.calls
        assert most <= spent < most + 0.01 + 1e-9
        assert result.stopped_by.startswith("max_cost: $")
        assert result.outcome is Outcome.NOT_RUN

    def test_a_judge_whose_price_is_not_known_is_asked_once(self) -> None:
        judge = Judge(cost=None)
        result = evaluated(judge, max_cost=5.0)
        assert judge.calls == 1
        assert "the price of judge-1 is not known" in result.stopped_by
        assert result.counts[Outcome.NOT_RUN] == CASES

    def test_what_the_agent_costs_counts(self) -> None:
        pytest.importorskip("genai_prices")
        agent = Agent(model="gemini-2.5-flash", tokens=1_000_000)  # 30 cents a call
        result = evaluated(Judge(cost=0.0), agent, max_cost=1.0, concurrency=1)
        assert agent.asked in (4, 5)
        assert result.stopped_by.startswith("max_cost: $1.2")

    @pytest.mark.parametrize("model", ["our-own-7b", ""])
    def test_an_agent_whose_price_is_not_known_ends_the_run_as_a_judge_does(self, model: str) -> None:
        agent = Agent(model=model, tokens=5)
        result = evaluated(Judge(), agent, max_cost=100.0, concurrency=1)
        assert agent.asked < CASES
        assert result.outcome is Outcome.NOT_RUN
        named = model or "a model without a name"
        assert result.stopped_by.startswith(
            f"max_cost: the price of {named}, which the agent uses, is not known"
        )

    def test_agent_without_usage_is_reported_at_once_and_in_the_report(self) -> None:
        warnings: list[str] = []

        class Following:
            def __getattr__(self, _name: str) -> Any:
                return lambda *_: None

            def warned(self, text: str) -> None:
                warnings.append(text)

        result = evaluated(Judge(), max_cost=100.0, progress=Following())
        assert result.passed
        assert result.warnings == warnings
        assert warnings[0].startswith("max_cost: the agent reports no token usage")

    def test_rescore_calls_no_agent_and_reports_no_agent_cost(self, tmp_path: Path) -> None:
        for agent in (Agent(), Agent(model="our-own-7b", tokens=5)):
            store = tmp_path / f"{agent.tokens}.db"
            assert evaluated(Judge(), agent, store=store)
            assert proctor.rescore_sync(store=store, judge=Judge(), max_cost=1.0).warnings == []


ROOT = Path(__file__).resolve().parents[3]
_DIES_AFTER_30_CALLS = """
import os, sys
from tests.scenarios.judges.test_costs import Judge, evaluated

class Dying(Judge):
    async def complete(self, messages, *, options):
        if self.calls == 30:
            os._exit(9)
        return await super().complete(messages, options=options)

evaluated(Dying(), store=sys.argv[1], concurrency=1)
"""
_DIES_AT_CALL_3 = """
import os, sys
from pathlib import Path
from tests.scenarios.judges.test_costs import Failing, of_three_cases

class Dying(Failing):
    async def answer(self, message, session):
        if self.asked == 2:
            os._exit(9)
        async for event in super().answer(message, session):
            yield event

of_three_cases(Dying(), Path(sys.argv[1]))
"""


class TestGoingOn:
    @pytest.mark.parametrize("limit", [{"max_judge_calls": 20}, {"max_cost": 0.195}])
    def test_a_resumed_run_pays_for_nothing_twice(self, tmp_path: Path, limit: dict[str, Any]) -> None:
        store, judge, agent = tmp_path / "s.db", Judge(), Agent()
        first = evaluated(judge, agent, store=store, **limit)
        assert judge.calls == 20
        assert proctor.list_runs(store)[0].state is RunState.UNFINISHED
        second = proctor.resume_sync(store=store, agent=agent, eval_sets=SET, judge=judge)
        assert second.passed
        assert second.run_id == first.run_id
        assert judge.calls == CASES * VOTES
        assert agent.asked == CASES
        assert of_judges(second).calls == CASES * VOTES

    def test_what_a_killed_process_spent_is_counted_by_the_votes(self, tmp_path: Path) -> None:
        store, judge = tmp_path / "s.db", Judge()
        died = subprocess.run([sys.executable, "-c", _DIES_AFTER_30_CALLS, str(store)], cwd=ROOT, check=False)
        assert died.returncode == 9
        result = proctor.resume_sync(store=store, agent=Agent(), eval_sets=SET, judge=judge)
        assert result.passed
        assert len(result.judged_by) == 1
        spent = of_judges(result)
        assert (
            CASES * VOTES - VOTES <= spent.calls <= CASES * VOTES
        )  # but for a case whose scores were not there yet
        assert spent.known_cost == pytest.approx(0.01 * spent.calls)

    @pytest.mark.slow
    @pytest.mark.parametrize("is_killed", [False, True])
    def test_an_attempt_that_failed_without_usage_leaves_the_cost_of_the_resumed_run_a_lower_limit(
        self, tmp_path: Path, is_killed: bool
    ) -> None:
        store = tmp_path / "s.db"
        if is_killed:  # there is no summary of the first process
            code = _DIES_AT_CALL_3
            died = subprocess.run([sys.executable, "-c", code, str(store)], cwd=ROOT, check=False)
            assert died.returncode == 9
        else:
            first = of_three_cases(Failing(), store)
            assert (first.cost, first.unreported) == (None, 1)
        (run,) = proctor.list_runs(store)
        second = proctor.resume_sync(
            run.run_id, store=store, agent=Counted(), eval_sets=THREE_CASES, retry_errors=True, force=True
        )
        assert second.passed
        assert (second.cost, second.unreported) == (None, 1)
        rescored = proctor.rescore_sync(store=store, config=MATCH)
        assert (rescored.cost, rescored.unreported) == (None, 1)
        (run,) = proctor.list_runs(store)
        assert (run.summary.attempts, run.summary.unreported) == (4, 1)
        assert run.summary.trial_cost == pytest.approx(run.summary.spent[0].cost / 3)

    def test_a_repeated_attempt_that_failed_without_usage_leaves_the_cost_a_lower_limit(
        self, tmp_path: Path
    ) -> None:
        store = tmp_path / "s.db"
        run = of_three_cases(Unavailable(), store, retry_errors=1)
        assert run.passed
        assert (run.cost, run.unreported) == (None, 1)
        assert "at least $" in run_cost_text(run)
        (stored,) = proctor.list_runs(store)
        assert (stored.summary.attempts, stored.summary.unreported) == (4, 1)
        row = proctor.plan_sync(run).measures[0].rows[0]
        assert row.cost == pytest.approx(row.total * run.spent[0].cost / 3)
        costs = [cost_of_case(case, attempts_evidence(case)) for case in run.cases]
        assert (sum(one.reported for one in costs), sum(one.unreported for one in costs)) == (3, 1)
        assert sum(one.cost or 0 for one in costs) == pytest.approx(run.spent[0].cost)
        assert [run_cost_text(one).startswith("at least") for one in costs].count(True) == 1

    @pytest.mark.parametrize(
        ("usage", "unreported"), [({"total_token_count": 0}, 0), ({"prompt_token_count": 0}, 0), ({}, 1)]
    )
    def test_an_answer_without_a_model_costs_nothing_if_it_reports_0_tokens(
        self, tmp_path: Path, usage: dict[str, int], unreported: int
    ) -> None:
        run = of_three_cases(Cached(usage), tmp_path / "s.db", max_cost=1.0)
        paid = next(one for one in run.spent if one.model == "gpt-4o")
        assert (run.unreported, sum(one.calls for one in run.spent), paid.calls) == (unreported, 2, 2)
        assert run.cost == (None if unreported else pytest.approx(paid.cost))
        assert any("max_cost" in one for one in run.warnings) == bool(unreported)

    def test_means_are_of_the_trials_that_reported_usage(self, tmp_path: Path) -> None:
        store = tmp_path / "s.db"
        run = of_three_cases(Reticent(), store, num_runs=4)
        assert (run.cost, run.unreported) == (None, 6)
        assert run_cost_text(run) == f"at least {dollars(run.spent[0].cost)}"
        (stored,) = proctor.list_runs(store)
        assert stored.summary.trial_cost == pytest.approx(run.spent[0].cost / 6)
        case = run.cases[0]
        values = [score.value for score in case.metrics[MODEL_CALLS].per_trial if score is not None]
        assert values == [1, 0, 1, 0]  # google-adk's number of a trial
        means = proctor.load_run(run.run_id, store).means
        assert (means[MODEL_CALLS].value, means[MODEL_CALLS].values) == (1, 6)
        assert (means["token_usage_v1"].value, means["token_usage_v1"].values) == (1010, 6)
        estimate = proctor.estimate_sync(Reticent(), THREE_CASES, config=MATCH, store=store)
        (part,) = estimate.parts
        assert part.tokens is not None
        assert part.tokens.value == 3 * 1010

    def test_a_run_that_is_judged_again_is_capped_as_well(self, tmp_path: Path) -> None:
        store = tmp_path / "s.db"
        evaluated(None, store=store, no_judge=True)
        judge = Judge()
        first = proctor.rescore_sync(store=store, judge=judge, max_judge_calls=10, config=CONFIG)
        assert judge.calls == 10
        assert first.outcome is Outcome.NOT_RUN
        assert proctor.load_run(store=store, scoring=1).passed
        second = proctor.rescore_sync(store=store, judge=judge, config=CONFIG)
        assert second.passed
        assert judge.calls == CASES * VOTES
        assert of_judges(second).calls == CASES * VOTES - 10
        assert sum(one.cached for one in second.spent) == 10

    def test_a_limit_that_is_reached_does_not_keep_known_answers_from_deciding(self, tmp_path: Path) -> None:
        store, judge = tmp_path / "s.db", Judge()
        others = {"trips": [f"case{i}" for i in range(1, CASES)]}
        assert evaluated(judge, store=store, only=others)
        assert evaluated(None, store=store, no_judge=True)
        again = proctor.rescore_sync(
            store=store, judge=judge, config=CONFIG, max_judge_calls=1, concurrency=1
        )
        assert again.counts == {Outcome.PASSED: CASES - 1, Outcome.NOT_RUN: 1}

    def test_answers_that_are_known_need_no_call(self, tmp_path: Path) -> None:
        store, judge = tmp_path / "s.db", Judge()
        evaluated(judge, store=store)
        again = proctor.rescore_sync(store=store, judge=judge, max_judge_calls=1)
        assert again.passed
        assert judge.calls == CASES * VOTES


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ({"max_cost": 0}, "max_cost must be a number of US dollars above 0, got 0"),
        ({"max_cost": "5"}, "max_cost must be a number of US dollars above 0, got '5'"),
        ({"max_judge_calls": 0}, "max_judge_calls must be at least 1, got 0"),
        ({"max_judge_calls": 1.5}, "max_judge_calls must be a whole number, got 1.5"),
    ],
)
def test_a_cap_that_is_none_is_refused(limit: dict[str, Any], message: str) -> None:
    with pytest.raises(SetupProblems, match=message):
        evaluated(Judge(), **limit)


class TestBadges:
    def test_later_scores_by_the_same_judge_show_what_it_is_worth(
        self, tmp_path: Path, labels: Callable[..., Path]
    ) -> None:
        store = tmp_path / "s.db"
        evaluated(Judge(), store=store)
        report = proctor.calibrate_sync("latest", labels(3), store=store, held_out=1.0)
        later = evaluated(Judge(), store=store)
        assert later.badges == {"final_response_match_v2": report.calibration.badge}
        assert proctor.load_run(store=store).badges == later.badges

    @pytest.mark.parametrize(
        ("config", "name", "badge"),
        [
            ({"threshold": 0.9}, "scripted", "the threshold is 0.9, it was 0.5"),
            ({"threshold": 0.5}, "other", "the model is other, it was scripted"),
        ],
    )
    def test_calibration_of_another_judge_is_void(
        self, tmp_path: Path, labels: Callable[..., Path], config: dict[str, Any], name: str, badge: str
    ) -> None:
        store = tmp_path / "s.db"
        evaluated(Judge(), store=store)
        proctor.calibrate_sync("latest", labels(3), store=store, held_out=1.0)
        judge = Judge()
        judge.name = name
        criteria = {"criteria": {"final_response_match_v2": config}}
        later = proctor.evaluate_sync(Agent(), SET, config=criteria, judge=judge, store=store)
        assert later.badges == {"final_response_match_v2": f"calibration void: {badge}"}

    def test_a_case_alone_shows_them_too(self, tmp_path: Path, labels: Callable[..., Path]) -> None:
        store = tmp_path / "s.db"
        evaluated(Judge(), store=store)
        report = proctor.calibrate_sync("latest", labels(3), store=store, held_out=1.0)
        shown = in_this_process("show", "latest", "case1", "--store", str(store)).stdout
        assert f"JUDGE  final_response_match_v2  {report.calibration.badge}" in shown.splitlines()
        output = in_this_process("show", "latest", "case1", "--json", "--store", str(store)).stdout
        assert json.loads(output)["calibrations"] == {"final_response_match_v2": report.calibration.badge}

    def test_rescore_for_one_metric_keeps_the_limits_and_is_reported(
        self, tmp_path: Path, labels: Callable[..., Path]
    ) -> None:
        store, other = tmp_path / "s.db", Judge()
        evaluated(Judge(), store=store)
        other.name = "other"
        again: Any = {"judge": other, "store": store, "held_out": 1.0}
        with pytest.raises(
            proctor.SetupError, match=r"not scored to the end \(max_judge_calls: .* 4 times\)"
        ):
            proctor.calibrate_sync("latest", labels(3), max_judge_calls=4, **again)
        assert other.calls == 4
        with closing(proctor.open_store(str(store))) as kept:
            assert kept.calibrations() == [], "not those of the judge before, either"
        report = proctor.calibrate_sync("latest", labels(3), **again)
        assert report.calibration.model == "other"
        assert report.judged is not None
        out = io.StringIO()
        write_calibration(report, out)
        summary = f"{CASES} passed; judges $0.560 (56 calls, 6,160 tokens, 4 known from before)"
        assert out.getvalue().splitlines()[0].endswith(f" was scored again: {summary}")

    def test_without_a_calibration_there_is_no_message(self, tmp_path: Path) -> None:
        assert evaluated(Judge(), store=tmp_path / "s.db").badges == {}


@pytest.fixture
def labels(tmp_path: Path) -> Callable[[int], Path]:
    """Writes labels of the first cases."""

    def write(count: int) -> Path:
        path = tmp_path / "labels.csv"
        path.write_text("eval_id,label\n" + "".join(f"case{i},pass\n" for i in range(count)))
        return path

    return write
