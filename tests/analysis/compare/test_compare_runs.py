"""Comparing runs that are kept, and results in memory: names, what is refused, and what makes runs unlike."""

import asyncio
import json
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.analysis.compare.compare_runs import score_ranges
from proctor.analysis.compare.outcome_text import change_text
from proctor.analysis.compare.sides import figures_of_case
from proctor.common.registry import METRICS
from proctor.metrics.base import CaseView, MetricFacts
from proctor.schema import text_of
from proctor.schema.analysis.comparison import Change
from proctor.schema.evidence.trial import Trial
from proctor.schema.evidence.turn import Turn
from proctor.schema.results.manifest import JudgedSet
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, TrialResult
from proctor.schema.results.score import MetricScore, Score, mean_score

SET = {
    "eval_set_id": "greetings",
    "eval_cases": [
        {
            "eval_id": name,
            "conversation": [
                {
                    "user_content": {"role": "user", "parts": [{"text": name}]},
                    "final_response": {"role": "model", "parts": [{"text": f"Hello {name}"}]},
                }
            ],
        }
        for name in ("ann", "bob", "cem")
    ],
}
CONFIG: dict[str, Any] = {"criteria": {"response_match_score": {"threshold": 0.8}}}


def polite(text: str) -> str:
    return f"Hello {text}"


def rude(text: str) -> str:
    return "Hello there you"


def unavailable(text: str) -> str:
    raise RuntimeError(text)


def changed_set(**words: str) -> dict[str, Any]:
    """The set with other words in it."""
    text = json.dumps(SET)
    for old, new in words.items():
        text = text.replace(f'"text": "{old}"', f'"text": "{new}"')
    return json.loads(text)  # type: ignore[no-any-return]  # what SET is


def run(store: Path, agent: Any = polite, **options: Any) -> proctor.RunResult:
    options = {"config": CONFIG, **options}
    return proctor.evaluate_sync(agent, options.pop("given", SET), store=store, **options)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "runs.sqlite3"


@pytest.mark.parametrize(
    ("location", "option"),
    [
        pytest.param("old runs.sqlite3", " --store='old runs.sqlite3'", id="another store"),
        pytest.param(".proctor/store.sqlite3", "", id="the store of the project"),
    ],
)
def test_proposed_commands_name_the_store_of_the_runs(
    location: str, option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for agent in (polite, unavailable):
        run(Path(location), agent)

    for opened in (location, tmp_path / location, proctor.open_store(location)):
        (step,) = proctor.compare_sync(store=opened).next_steps
        assert step.endswith(f" --retry-errors{option}")


@pytest.mark.slow
def test_runs_go_by_name(store: Path) -> None:
    first, second = run(store), run(store, rude)
    for names in (("previous", "latest"), ("latest~1", "latest~0"), (first.run_id[:6], second.run_id)):
        found = proctor.compare_sync(*names, store=store)
        assert (found.base.run_id, found.candidate.run_id) == (first.run_id, second.run_id)
    assert proctor.compare_sync(store=store).base.run_id == first.run_id


async def twin(store: Path) -> proctor.Comparison:
    return await proctor.compare(store=store)


def test_asynchronous_twin_gives_the_same(store: Path) -> None:
    import asyncio

    run(store), run(store, rude)
    assert asyncio.run(twin(store)).sentence == proctor.compare_sync(store=store).sentence


def test_missing_run_is_reported(store: Path) -> None:
    run(store)
    with pytest.raises(proctor.UnknownNameError, match=r"No run 'latest~4': the store .* has 1 run"):
        proctor.compare_sync("latest~4", store=store)


def test_results_in_memory_compare_by_their_ids() -> None:
    before = proctor.evaluate_sync(polite, SET, config=CONFIG)
    found = proctor.compare_sync(before, proctor.evaluate_sync(rude, SET, config=CONFIG))
    assert [one.eval_id for one in found.cases] == ["ann", "bob", "cem"]
    assert found.pairs == 3


def test_store_and_memory_give_the_same(store: Path) -> None:
    before, now = run(store, num_runs=2), run(store, rude, num_runs=2)
    kept = proctor.compare_sync(before.run_id, now.run_id, store=store)
    held = proctor.compare_sync(before, now)
    assert kept.measure("passed") == held.measure("passed")
    assert (kept.outcome, kept.cases) == (held.outcome, held.cases)


@pytest.mark.parametrize(
    "options", [{"margin": 0}, {"margin": 1.5}, {"confidence": 1}, {"confidence": 0.4}], ids=str
)
def test_numbers_out_of_range_are_refused(store: Path, options: dict[str, float]) -> None:
    (name,) = options
    with pytest.raises(proctor.SetupError, match=f"{name} must be above"):
        proctor.compare_sync(store=store, **options)  # type: ignore[arg-type]  # floats by name


def test_runs_of_other_cases_are_refused(store: Path) -> None:
    run(store), run(store, given={**SET, "eval_set_id": "others"})
    with pytest.raises(proctor.SetupError, match="no case in common"):
        proctor.compare_sync(store=store)


# --- like with like --------------------------------------------------------------------------------------------------

JUDGED = {"criteria": {"final_response_match_v2": {"threshold": 0.5}}}


@pytest.mark.parametrize(
    ("change", "what", "text"),
    [
        pytest.param(
            {"given": changed_set(ann="anna")}, "case", "1 case is changed (left out): greetings/ann", id="case"
        ),
        pytest.param(
            {"config": {"criteria": {"response_match_score": {"threshold": 0.7}}}},
            "threshold", "the threshold of response_match_score was 0.8 and is 0.7", id="threshold",
        ),
        pytest.param(
            {"config": {"criteria": {"response_match_score": {"threshold": 0.8, "aggregate": "min"}}}},
            "option", "the option aggregate of response_match_score was not given and is min", id="metric option",
        ),
        pytest.param(
            {"config": {"criteria": {**CONFIG["criteria"], "tool_trajectory_avg_score": 1.0}}},
            "metric", "the metric tool_trajectory_avg_score is new", id="metric",
        ),
        pytest.param({"num_runs": 3}, "trials", "the cases of greetings had 1 trial and have 3 trials", id="trials"),
        pytest.param(
            {"config": {**CONFIG, "trials": {"min_pass_rate": 0.9}}},
            "config", "min_pass_rate of the config's trials was not given and is 0.9", id="rule of the trials",
        ),
    ],
)  # fmt: skip
def test_what_differs_is_named_and_nothing_else(store: Path, change: Any, what: str, text: str) -> None:
    run(store), run(store, **change)
    found = proctor.compare_sync(store=store)
    assert [(one.what, one.text) for one in found.unlike] == [(what, text)]
    with pytest.raises(proctor.SetupError, match="as --strict asks"):
        proctor.compare_sync(store=store, strict=True)


@pytest.mark.slow
def test_another_judge_is_named(store: Path, tmp_path: Path) -> None:
    for name in ("first", "second"):
        script = tmp_path / f"{name}.json"
        script.write_text(
            '[{"when": "a", "say": {"is_the_agent_response_valid": "valid", "reasoning": "so"}}]'
        )
        run(store, config=JUDGED, judge=f"scripted:{script}")
    (found,) = proctor.compare_sync(store=store).unlike
    assert found.what == "judge"
    assert found.text.startswith("the judge of final_response_match_v2 was scripted:")


def test_another_agent_is_reported_without_a_warning(store: Path) -> None:
    run(store), run(store, rude)
    found = proctor.compare_sync(store=store, strict=True)
    assert [(one.what, one.expected) for one in found.unlike] == [("agent", True)]
    assert found.warnings == []


def test_an_edited_case_is_paired_where_that_is_asked(store: Path) -> None:
    run(store), run(store, given=changed_set(ann="anna"))
    assert proctor.compare_sync(store=store).pairs == 2
    assert proctor.compare_sync(store=store, keep_changed_cases=True).pairs == 3


def test_nothing_but_edited_cases_is_refused(store: Path) -> None:
    run(store), run(store, given=changed_set(ann="a", bob="b", cem="c"))
    with pytest.raises(proctor.SetupError, match="keep_changed_cases=True"):
        proctor.compare_sync(store=store)


def test_what_was_judged_again_counts(store: Path) -> None:
    run(store), run(store, rude)
    assert proctor.compare_sync(store=store).measure("passed").candidate == 0.0
    proctor.rescore_sync("latest", store=store, config={"criteria": {"response_match_score": 0.3}})
    found = proctor.compare_sync(store=store)
    assert found.outcome is Change.INCONCLUSIVE
    assert [one.what for one in found.unlike if not one.expected] == ["threshold"]


# --- metrics of a user -------------------------------------------------------------------------------------------------


def warmth(actual: proctor.Invocation, expected: proctor.Invocation) -> float:
    """From 0 to 1, as every function is unless it declares another range."""
    return 1.0 if text_of(actual.final_response).startswith("Hello") else 0.5


class Revenue:
    """Any number."""

    facts = MetricFacts(
        name="revenue", description="In dollars.", minimum=-inf, maximum=None, default_threshold=1.0
    )

    def __init__(self, criterion: object = None) -> None: ...

    def score(self, case: CaseView) -> MetricScore:
        return mean_score([Score(1_000.0 + 100 * len(text_of(one.user_content))) for one in case.actual])


class Boundless(Revenue):
    """Almost the largest number that there is."""

    def score(self, case: CaseView) -> MetricScore:
        return MetricScore(-1.7e308)


class Margin(Revenue):
    """At most 10 000."""

    facts = replace(Revenue.facts, name="margin", maximum=10_000.0)


OWN: dict[str, Any] = {
    "criteria": {"warmth": 0.4, "revenue": 1.0},
    "custom_metrics": {
        "warmth": {"code_config": {"name": f"{__name__}.warmth"}},
        "revenue": {"code_config": {"name": f"{__name__}.Revenue"}},
    },
}


def mute(text: str) -> str:
    if text == "bob":
        raise RuntimeError("down")
    return polite(text)


def test_a_stored_run_keeps_the_only_limit_of_a_metric(store: Path) -> None:
    own = {"margin": {"code_config": {"name": f"{__name__}.Margin"}}}
    fresh = run(store, config={"criteria": {"margin": 1.0}, "custom_metrics": own})
    stored = proctor.load_run(fresh.run_id, store=store)
    assert fresh.score_ranges == stored.score_ranges
    assert stored.score_ranges["margin"] == (-inf, 10_000.0)


def test_a_range_up_to_the_largest_score_is_none(store: Path) -> None:
    interval = {"min_value": 0, "max_value": 1e100}
    info = {"metric_name": "warmth", "metric_value_info": {"interval": interval}}
    own = {"code_config": {"name": f"{__name__}.warmth"}, "metric_info": info}
    for agent in (polite, rude):
        run(store, agent, config={"criteria": {"warmth": 0.4}, "custom_metrics": {"warmth": own}})
    measured = proctor.compare_sync(store=store).measure("warmth")
    assert -10 < measured.low <= measured.high < 10
    planned = proctor.plan_sync("previous", metrics=["warmth"], store=store).measures[0]
    assert any("does not define its score range" in note for note in planned.notes)


@pytest.mark.slow
def test_missing_scores_of_a_users_metric_are_within_its_range(store: Path) -> None:
    run(store, config=OWN), run(store, mute, config=OWN)
    measured = proctor.compare_sync(store=store).measure("warmth")
    assert (measured.pairs, measured.missing) == (3, 1)
    assert -1 <= measured.low < -1 / 3 < 0 <= measured.high <= 1
    baseline = proctor.set_baseline("main", "previous", store=store)
    assert score_ranges(proctor.load_baseline(baseline.name, store).judging.sets)["warmth"] == (0.0, 1.0)
    planned = proctor.plan_sync("previous", metrics=["warmth"], store=store).measures[0]
    assert not any("does not define its score range" in note for note in planned.notes)


def test_metrics_of_older_runs_without_a_recorded_range_have_that_of_the_registry(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(METRICS._added, "plain", warmth)
    names = ["response_match_score", "plain", "unknown"]
    judged = JudgedSet(eval_set_id="s", config={"criteria": dict.fromkeys(names, 0.5)})
    assert score_ranges([judged]) == {"response_match_score": (0.0, 1.0)}


def test_score_whose_sums_would_overflow_is_an_error_and_in_no_statistics() -> None:
    config = {
        "criteria": {"revenue": 1.0},
        "custom_metrics": {"revenue": {"code_config": {"name": f"{__name__}.Boundless"}}},
    }
    result = proctor.evaluate_sync(polite, SET, config=config)
    assert result.outcome is Outcome.ERROR
    assert "returned -1.7e+308 as its score; expected a number of at most 1e+100" in result.cases[0].reason
    recorded = CaseResult(
        "greetings", "ann", Outcome.PASSED, "",
        {"revenue": MetricVerdict("revenue", Outcome.PASSED, 1.7e308, 1.0, per_trial=[MetricScore(1.7e308)])},
        [TrialResult(0, Outcome.PASSED, evidence=None)],
    )  # fmt: skip
    imported = replace(result, cases=[recorded])
    assert imported.means == {}
    with pytest.raises(proctor.SetupError, match="metric revenue has no score in this run"):
        proctor.plan_sync(imported, metrics=["revenue"])


@pytest.mark.slow
def test_equal_scores_of_a_metric_without_a_range_have_an_interval_of_their_size(store: Path) -> None:
    for agent in (polite, rude):
        run(store, agent, config=OWN)
    found = proctor.compare_sync(store=store)
    revenue = found.measure("revenue")
    assert (revenue.base, revenue.candidate, revenue.difference) == (1_300.0, 1_300.0, 0.0)
    assert 100 < revenue.high == -revenue.low <= 1_300
    assert change_text(replace(revenue, candidate=1_150.25, difference=-149.75, low=-300.0, high=-40.4)) == (
        "revenue fell from 1,300 to 1,150 (-150, 99 % CI: -300 to -40)"
    )


# --- what trials took ------------------------------------------------------------------------------------------------


class Paid:
    """Greets, and reports what a model would have used for it."""

    def __init__(self, tokens: int, model: str = "models/gemini-2.5-flash") -> None:
        self.tokens, self.model = tokens, model

    async def __call__(self, text: str) -> Any:
        """Answer, a little later."""
        await asyncio.sleep(self.tokens / 5_000)
        event = proctor.Event.said(f"Hello {text}")
        usage = {"prompt_token_count": self.tokens, "candidates_token_count": 10}
        return event.model_validate(
            {**event.model_dump(), "model_version": self.model, "usage_metadata": usage}
        )


@pytest.mark.slow
def test_seconds_and_dollars_of_a_trial_are_paired_by_case(store: Path) -> None:
    pytest.importorskip("genai_prices")
    base = run(store, Paid(1_000), num_runs=2)
    candidate = run(store, Paid(4_000), num_runs=2)
    found = proctor.compare_sync(store=store)
    cost, seconds = found.measure("trial_cost"), found.measure("trial_seconds")
    assert (cost.base, cost.candidate) == pytest.approx((1_000 * 0.3e-6 + 25e-6, 4_000 * 0.3e-6 + 25e-6))
    assert (cost.pairs, cost.decides, cost.lower_is_better) == (3, False, True)
    assert seconds.candidate > seconds.base >= 0.2
    in_memory = proctor.compare_sync(base, candidate)
    assert in_memory.measure("trial_cost").candidate == pytest.approx(cost.candidate)


class PaidAtFirst(Paid):
    """Reports usage in the first trial of a case only."""

    def __init__(self, tokens: int) -> None:
        super().__init__(tokens)
        self.answered = set[str]()

    async def __call__(self, text: str) -> Any:
        """Answer, with the usage of the first answer to a text."""
        if text in self.answered:
            return polite(text)
        self.answered.add(text)
        return await super().__call__(text)


@pytest.mark.slow
def test_cost_of_a_trial_is_the_mean_of_the_trials_that_reported_usage(store: Path) -> None:
    pytest.importorskip("genai_prices")
    base, candidate = (run(store, PaidAtFirst(tokens), num_runs=2) for tokens in (1_000, 4_000))
    for found in (proctor.compare_sync(store=store), proctor.compare_sync(base, candidate)):
        cost = found.measure("trial_cost")
        assert (cost.base, cost.candidate) == pytest.approx((1_000 * 0.3e-6 + 25e-6, 4_000 * 0.3e-6 + 25e-6))
        assert cost.pairs == 3


def test_usage_that_one_agent_does_not_report_is_unknown_and_not_less(store: Path) -> None:
    """google-adk's metric counts 0 model calls of an agent that reports none."""
    base, candidate = run(store, Paid(100, "our-own-7b")), run(store)
    assert candidate.cases[0].metrics["inference_call_count_v1"].score == 0.0
    assert "inference_call_count_v1" in base.means
    assert "inference_call_count_v1" not in candidate.means
    for found in (proctor.compare_sync(store=store), proctor.compare_sync(base, candidate)):
        assert [one.name for one in found.measures if one.name.endswith("_v1")] == ["invocation_duration_v1"]


def test_cost_of_a_trial_is_absent_without_a_price(store: Path) -> None:
    run(store, Paid(1_000, "our-own-7b")), run(store, Paid(1_000, "our-own-7b"))
    names = [one.name for one in proctor.compare_sync(store=store).measures]
    assert "trial_seconds" in names
    assert "trial_cost" not in names


def test_duration_of_less_than_a_millisecond_is_known(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    candidate = run(store)
    with monkeypatch.context() as patched:
        for module in ("conversation", "event_recorder"):
            patched.setattr(f"proctor.engine.trial.{module}.seconds_since", lambda _: 0.0)
        base = run(store)
    for found in (
        proctor.compare_sync("latest", "previous", store=store),
        proctor.compare_sync(base, candidate),
    ):
        seconds = found.measure("trial_seconds")
        assert (seconds.base, seconds.pairs) == (0.0, 3)
        assert seconds.candidate > 0


def test_trials_without_recorded_durations_give_no_duration_of_a_trial() -> None:
    turn = Turn(user_content=proctor.Content(parts=[proctor.Part(text="ann")]))
    for durations, known in (([None, None], {}), ([None, 0.0], {"trial_seconds": 0.0})):
        turns = [turn.model_copy(update={"duration": one}) for one in durations]
        trial = TrialResult(
            0, Outcome.PASSED, evidence=Trial(eval_set_id="greetings", eval_id="ann", turns=turns)
        )
        case = CaseResult("greetings", "ann", Outcome.PASSED, trials=[trial])
        assert figures_of_case(case, priced=False) == known


def test_failed_trials_give_no_duration_or_cost_of_a_trial(store: Path) -> None:
    def fails(text: str) -> str:
        if text == "bob":
            raise RuntimeError("down")
        return polite(text)

    async def slow(text: str) -> str:
        await asyncio.sleep(0.01)
        return polite(text)

    run(store, slow), run(store, fails)
    found = proctor.compare_sync(store=store)
    assert all(one.pairs <= 2 for one in found.measures if one.name == "trial_seconds")
