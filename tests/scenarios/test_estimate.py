"""An estimate before a run: by what cases took before, with its spread; nothing is asked, nothing is written."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

import proctor
from proctor.schema.results.model_usage import Estimate, Forecast, PurposeEstimate, total_cost
from tests.cli.project import in_this_process
from tests.scenarios.judges.test_costs import (
    CONFIG,
    MATCH,
    THREE_CASES,
    Agent,
    Cached,
    Counted,
    Failing,
    Judge,
    of_three_cases,
)

CASES = 60


def a_set(cases: int = CASES) -> dict[str, Any]:
    """A set of cases with one turn each."""
    return {
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
            for i in range(cases)
        ],
    }


def ran(store: Path, judge: Any, **options: Any) -> proctor.RunResult:
    return proctor.evaluate_sync(Agent(), a_set(), config=CONFIG, judge=judge, store=store, **options)


def estimated(store: Path, judge: Any, **options: Any) -> Estimate:
    return proctor.estimate_sync(Agent(), a_set(), config=CONFIG, judge=judge, store=store, **options)


def part_of(found: Estimate, purpose: str = "judge") -> PurposeEstimate:
    (part,) = [one for one in found.parts if one.purpose == purpose]
    return part


class Uneven(Judge):
    """Takes more tokens for some than for others."""

    def __init__(self) -> None:
        super().__init__()
        self._random = Random(3)

    async def complete(self, messages: Any, *, options: Any) -> Any:
        reply = await super().complete(messages, options=options)
        return replace(reply, cost=self._random.uniform(0.01, 0.03))


def test_cost_of_a_run_is_estimated_from_a_part_of_it(tmp_path: Path) -> None:
    judge = Judge()
    assert ran(tmp_path / "s.db", judge, limit=10)
    asked = judge.calls
    found = estimated(tmp_path / "s.db", judge)
    assert judge.calls == asked
    assert (found.cases, found.trials, found.seen) == (CASES, CASES, 10)
    assert part_of(found).calls == Forecast(value=3 * CASES, low=3 * CASES, high=3 * CASES)
    tokens, cost = part_of(found).tokens, part_of(found).cost
    assert tokens is not None
    assert cost is not None
    assert tokens.value == 3 * CASES * 110
    assert cost.value == pytest.approx(3 * CASES * 0.01)
    assert (found.cost, found.known_cost) == (None, cost), "the agent reports no usage"


@pytest.mark.slow
def test_estimate_uses_the_agent_of_the_run_and_reports_where_it_cannot(tmp_path: Path) -> None:
    def other(text: str) -> str:
        return f"no answer to {text}"

    first = ran(tmp_path / "s.db", Judge(), limit=10)
    proctor.evaluate_sync(other, a_set(), config=CONFIG, judge=Judge(), store=tmp_path / "s.db", limit=20)
    found = estimated(tmp_path / "s.db", Judge())
    assert (found.run_id, found.seen) == (first.run_id, 10), "the newer run is of another agent"
    assert not [note for note in found.notes if "that run was of" in note]
    found = proctor.estimate_sync(third, a_set(), config=CONFIG, judge=Judge(), store=tmp_path / "s.db")
    assert found.seen == 20, "of agents that all are others, the newest run"
    assert "that run was of other: third may take more, or less" in found.notes


def third(text: str) -> str:
    """Answer, as an agent that never ran."""
    return f"perhaps {text}"


@pytest.mark.slow
def test_different_cases_give_the_estimate_a_range_around_the_run(tmp_path: Path) -> None:
    judge = Uneven()
    assert ran(tmp_path / "s.db", judge, limit=12)
    cost = part_of(estimated(tmp_path / "s.db", judge)).cost
    assert cost is not None
    assert cost.low is not None
    assert cost.high is not None
    assert cost.low < cost.value < cost.high
    again = Uneven()
    again._random.random()  # not the same prices
    assert cost.low <= (total_cost(ran(tmp_path / "t.db", again).spent) or 0.0) <= cost.high


def test_a_trial_that_failed_without_usage_is_not_in_the_estimate(tmp_path: Path) -> None:
    of_three_cases(Failing(), tmp_path / "s.db", num_runs=2)
    found = proctor.estimate_sync(Counted(), THREE_CASES, config=MATCH, store=tmp_path / "s.db", num_runs=2)
    assert part_of(found, "agent").calls == Forecast(value=6, low=6, high=6)


def test_cases_that_reported_usage_are_named_if_others_did_not(tmp_path: Path) -> None:
    for agent, reported in ((Failing(), 2), (Counted(), None)):
        of_three_cases(agent, tmp_path / f"{reported}.db")
        found = proctor.estimate_sync(Counted(), THREE_CASES, config=MATCH, store=tmp_path / f"{reported}.db")
        note = f"the agent's calls, tokens and cost are by the {reported} cases that reported usage"
        assert found.seen == 3
        assert [one for one in found.notes if "reported usage" in one] == ([note] if reported else [])


def test_more_trials_take_more(tmp_path: Path) -> None:
    judge = Judge()
    assert ran(tmp_path / "s.db", judge, limit=5)
    cost = estimated(tmp_path / "s.db", judge, num_runs=4).known_cost
    assert cost is not None
    assert cost.value == pytest.approx(4 * 3 * CASES * 0.01)


def test_one_case_gives_no_range(tmp_path: Path) -> None:
    judge = Judge()
    assert ran(tmp_path / "s.db", judge, limit=1)
    cost = part_of(estimated(tmp_path / "s.db", judge)).cost
    assert cost is not None
    assert (cost.low, cost.high) == (None, None)


def test_a_price_that_is_not_known_is_unknown(tmp_path: Path) -> None:
    judge = Judge(cost=None)
    assert ran(tmp_path / "s.db", judge, limit=5)
    found = estimated(tmp_path / "s.db", judge)
    assert found.cost is part_of(found).cost is None
    assert part_of(found).calls is not None


@pytest.mark.slow
def test_cached_answers_are_estimated_at_the_price_of_the_paid_ones(tmp_path: Path) -> None:
    judge = Judge()
    assert ran(tmp_path / "s.db", judge, limit=5)
    assert total_cost(ran(tmp_path / "s.db", judge, limit=10).spent) == pytest.approx(15 * 0.01), (
        "15 of 30 were known"
    )
    found = estimated(tmp_path / "s.db", judge)
    assert found.known_cost is not None
    assert found.known_cost.value == pytest.approx(3 * CASES * 0.01)
    assert any("15 of its 30 votes came from the cache" in note for note in found.notes)


@pytest.mark.slow
def test_free_run_gives_no_estimate_in_dollars(tmp_path: Path) -> None:
    judge = Judge()
    assert ran(tmp_path / "s.db", judge, limit=5)
    assert total_cost(ran(tmp_path / "s.db", judge, limit=5).spent) == 0
    found = estimated(tmp_path / "s.db", judge)
    assert part_of(found).calls == Forecast(value=3 * CASES, low=3 * CASES, high=3 * CASES)
    assert found.known_cost is None


def test_another_judge_has_another_price(tmp_path: Path) -> None:
    judge, dearer = Judge(), Judge()
    dearer.name = "dearer"
    assert ran(tmp_path / "s.db", judge, limit=5)
    found = estimated(tmp_path / "s.db", dearer)
    assert found.cost is None
    assert part_of(found).calls is not None
    assert any(f"was scored by {judge.name}: what dearer costs is not known" in note for note in found.notes)


def test_without_a_run_a_metric_that_asks_once_is_counted_once(tmp_path: Path) -> None:
    found = proctor.estimate_sync(
        Agent(),
        a_set(),
        config={"criteria": {"hallucinations_v1": 0.8}},
        judge=Judge(),
        store=tmp_path / "s.db",
    )
    assert part_of(found).calls == Forecast(value=CASES, low=CASES, high=CASES)


def test_without_a_run_to_go_by_calls_are_counted_and_the_rest_is_unknown(tmp_path: Path) -> None:
    found = estimated(tmp_path / "s.db", Judge())
    assert part_of(found).calls == Forecast(value=3 * CASES, low=3 * CASES, high=5 * CASES)
    assert found.cost is None
    assert "run one case first (--limit 1)" in found.notes[0]
    assert not (tmp_path / "s.db").exists()


@pytest.mark.slow
def test_run_of_another_set_gives_no_estimate(tmp_path: Path) -> None:
    judge = Judge()
    other = {**a_set(), "eval_set_id": "others"}
    proctor.evaluate_sync(Agent(), other, config=CONFIG, judge=judge, store=tmp_path / "s.db").exit_code  # noqa: B018 - the access computes it
    assert estimated(tmp_path / "s.db", judge).run_id == ""


@pytest.mark.slow
def test_later_runs_of_other_sets_do_not_hide_the_evidence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proctor.runs.estimate._MOST_RUNS", 2)
    run = ran(store := tmp_path / "runs.sqlite3", Judge(), limit=3)
    other = {**a_set(1), "eval_set_id": "others"}
    for _ in range(3):
        proctor.evaluate_sync(Agent(), other, config=CONFIG, judge=Judge(), store=store).exit_code  # noqa: B018 - the access computes it
    assert estimated(store, Judge(), limit=3).run_id == run.run_id


@pytest.mark.slow
def test_run_of_all_cases_is_better_evidence_than_a_later_one_of_some(tmp_path: Path) -> None:
    run = ran(store := tmp_path / "runs.sqlite3", Judge(), limit=4)
    ran(store, Judge(), limit=2)
    assert estimated(store, Judge(), limit=4).run_id == run.run_id


def test_configuration_error_is_reported(tmp_path: Path) -> None:
    with pytest.raises(proctor.SetupProblems, match="max_cost must be a number"):
        estimated(tmp_path / "s.db", Judge(), max_cost=-1)


@pytest.mark.slow
def test_long_run_prints_its_estimate_before_it_begins(tmp_path: Path) -> None:
    estimates: list[Estimate] = []

    class Following:
        def __getattr__(self, _name: str) -> Any:
            return lambda *_: None

        def estimated(self, found: Estimate) -> None:
            estimates.append(found)

    judge, following = Judge(), Following()
    assert ran(tmp_path / "s.db", judge, limit=10, progress=following)
    assert estimates == []
    assert ran(tmp_path / "s.db", judge, progress=following)
    assert [found.seen for found in estimates] == [10]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent_of_money.py").write_text(
        "import proctor\n"
        "async def root_agent(text):\n"
        "    event = proctor.Event.said('the answer is yes')\n"
        "    usage = {'prompt_token_count': 1000, 'candidates_token_count': 10}\n"
        "    yield event.model_validate({**event.model_dump(), 'model_version': 'our-7b', 'usage_metadata': usage})\n"
    )
    (tmp_path / "trips.evalset.json").write_text(json.dumps(a_set(8)))
    (tmp_path / "test_config.json").write_text(json.dumps({"criteria": {"response_match_score": 0.1}}))
    return tmp_path


@pytest.mark.slow
def test_command_line_prints_the_estimate_and_runs_nothing(project: Path) -> None:
    words = ["eval", "agent_of_money.py", "trips.evalset.json"]
    before = in_this_process(*words, "--estimate")
    assert before.returncode == 0
    assert before.stdout.splitlines()[0] == "8 trials of 8 cases"
    assert not (project / ".proctor").exists()
    assert in_this_process(*words, "--limit", "2").returncode == 0
    after = in_this_process(*words, "--estimate")
    assert "8 trials of 8 cases; by 2 cases of run " in after.stdout
    assert "agent  8 calls, 8,080 tokens, cost unknown" in after.stdout
    estimate = json.loads(in_this_process(*words, "--estimate", "--json").stdout)
    assert estimate["purposes"]["agent"]["cost"] is estimate["cost"] is None
    assert len(proctor.list_runs()) == 1


@pytest.mark.slow
def test_nothing_to_run_takes_nothing(project: Path) -> None:
    words = ["eval", "agent_of_money.py", "trips.evalset.json"]
    assert in_this_process(*words).returncode == 0
    done = in_this_process(*words, "--failed", "latest", "--estimate")
    assert (done.returncode, done.stdout) == (0, "")
    assert "nothing to run: every case passed" in done.stderr
    (project / "trips.evalset.json").write_text(json.dumps(a_set(1)))
    shards = [in_this_process(*words, "--shard", f"{i}/2", "--estimate") for i in (1, 2)]
    assert [done.returncode for done in shards] == [0, 0]
    assert sum("nothing to run" in done.stderr for done in shards) == 1


def test_error_is_reported_by_the_command_line(project: Path) -> None:
    done = in_this_process("eval", "agent_of_money.py", "none.evalset.json", "--estimate")
    assert done.returncode == 2
    assert "none.evalset.json" in done.stderr


def test_agent_that_reports_0_tokens_calls_no_model_and_costs_nothing(tmp_path: Path) -> None:
    class Free(Cached):
        async def answer(self, message: Any, session: Any) -> Any:
            self.asked = 1  # each answer is the one without a model
            async for event in super().answer(message, session):
                yield event

    agent = Free({"total_token_count": 0})
    of_three_cases(agent, tmp_path / "s.db")
    found = proctor.estimate_sync(agent, THREE_CASES, config=MATCH, store=tmp_path / "s.db")
    part = part_of(found, "agent")
    assert [one and one.value for one in (part.calls, part.tokens, part.cost)] == [0, 0, 0]
    assert not any("reports no token usage" in note for note in found.notes)
