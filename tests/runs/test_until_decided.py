"""Runs whose trials are added until it is decided: each case by its config's `trials`, or how the run compares."""

import asyncio
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

import proctor
from proctor.engine.scoring.verdict import decide_trials, trials_reason
from proctor.schema.analysis.comparison import Change
from proctor.schema.results.run_result import CaseResult
from proctor.schema.results.score import TrialRule

pytestmark = pytest.mark.slow  # hundreds of trials

RATES = {"always": 1.0, "often": 0.95, "about": 0.8, "seldom": 0.4, "never": 0.0}
TRIALS = {"num_runs": 100, "min_pass_rate": 0.8, "confidence": 0.95, "until_decided": True}
CONFIG: dict[str, Any] = {"criteria": {"response_match_score": 0.8}, "trials": TRIALS}
MEANS: dict[str, Any] = {"criteria": {"response_match_score": 0.8}}


def eval_set(*ids: str) -> dict[str, Any]:
    return {
        "eval_set_id": "greetings",
        "eval_cases": [
            {
                "eval_id": eval_id,
                "conversation": [
                    {
                        "user_content": {"role": "user", "parts": [{"text": eval_id}]},
                        "final_response": {"role": "model", "parts": [{"text": f"Hello {eval_id}"}]},
                    }
                ],
            }
            for eval_id in ids
        ],
    }


class Greeter:
    """Greet as often as in `rates`, deterministic for a seed."""

    def __init__(self, rates: dict[str, float], seed: int = 1, *, stop_after: int | None = None) -> None:
        self.rates, self.asked = rates, Counter[str]()
        self._random = {name: Random(f"{name} {seed}") for name in rates}
        self.request = proctor.StopRequest() if stop_after else None
        self._stop_after = stop_after

    def __call__(self, text: str) -> str:
        self.asked[text] += 1
        if self.request and self.asked.total() == self._stop_after:
            self.request("enough")
        return f"Hello {text}" if self._random[text].random() < self.rates[text] else "What?"


def run(agent: Greeter, store: Path | None = None, **options: Any) -> proctor.RunResult:
    options = {"config": CONFIG, "concurrency": 30, "stop": agent.request, **options}
    given = options.pop("given", eval_set(*agent.rates))
    return proctor.evaluate_sync(agent, given, store=store, **options)


def trial_counts(case: CaseResult) -> tuple[str, int, int]:
    return case.outcome.value, case.trials_passed, len(case.trials)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "runs.sqlite3"


@pytest.mark.parametrize("kept", [False, True], ids=["in memory", "in a store"])
@pytest.mark.parametrize("concurrency", [1, 8])
def test_trials_are_added_until_each_case_is_decided(store: Path, kept: bool, concurrency: int) -> None:
    agent = Greeter(RATES)
    result = run(agent, store if kept else None, concurrency=concurrency)
    outcomes = {case.eval_id: case.outcome.value for case in result.cases}
    assert outcomes["always"] == outcomes["often"] == "passed"
    assert outcomes["never"] == outcomes["seldom"] == "failed"
    assert agent.asked == {case.eval_id: len(case.trials) for case in result.cases}
    assert agent.asked["never"] < agent.asked["seldom"] < agent.asked["about"] <= 100
    assert agent.asked["always"] < 40
    assert (result.at_most, result.num_runs) == (500, 100)


def test_undecided_case_is_inconclusive_with_a_message() -> None:
    result = run(Greeter({"about": 0.8}, seed=4))
    case = result.case("about")
    assert (result.exit_code, case.outcome.value) == (4, "inconclusive")
    made = len(case.trials)
    assert 40 < made < 95
    assert case.reason.endswith(
        f"0.8 asked for at 95 %: undecided, and the {100 - made} trials that are left would hardly decide it (a chance "
        "below 5 %)"
    )


@pytest.mark.parametrize(
    ("passed", "failed", "message"),
    [
        (16, 4, "not decided within 20 trials"),
        (15, 4, "undecided, and the 1 trial that is left would hardly decide it (a chance below 5 %)"),
        (6, 2, "undecided, and up to 12 more trials could be made"),
    ],
)
def test_message_about_an_undecided_case_estimates_the_rest(passed: int, failed: int, message: str) -> None:
    rule = TrialRule(0.8, confidence=0.95, at_most=20)
    trials = [proctor.Outcome.PASSED] * passed + [proctor.Outcome.FAILED] * failed
    outcome = decide_trials(rule, trials)
    assert outcome is proctor.Outcome.INCONCLUSIVE
    assert trials_reason(rule, outcome, trials, "").endswith(f"0.8 asked for at 95 %: {message}")


def test_an_error_is_not_mended_by_more_trials() -> None:
    calls = Counter[str]()

    def fails(text: str) -> str:
        calls[text] += 1
        if calls[text] == 3:
            raise RuntimeError("down")
        return f"Hello {text}"

    result = proctor.evaluate_sync(fails, eval_set("a"), config=CONFIG, concurrency=1)
    assert result.cases[0].outcome is proctor.Outcome.ERROR
    assert calls["a"] < 20


def test_judged_again_the_same_trials_decide_the_same(store: Path) -> None:
    first = run(Greeter(RATES), store)
    before = [trial_counts(case) for case in first.cases]
    again = proctor.rescore_sync(first, store=store)
    assert [trial_counts(case) for case in again.cases] == before
    plain = {"criteria": CONFIG["criteria"], "trials": {"min_pass_rate": 0.8, "confidence": 0.95}}
    assert [
        trial_counts(case) for case in proctor.rescore_sync(first, store=store, config=plain).cases
    ] == before
    stricter = {**plain, "trials": {"min_pass_rate": 0.9, "confidence": 0.95}}
    judged = proctor.rescore_sync(first, store=store, config=stricter)
    assert judged.case("always").outcome.value == "inconclusive"  # too few trials for a decision
    assert judged.case("never").outcome.value == "failed"


@pytest.mark.parametrize("stop_after", [1, 7, 20])
def test_stopped_run_resumes_to_the_same_end(store: Path, stop_after: int) -> None:
    rates = {"always": 1.0, "never": 0.0, "seldom": 0.4}
    whole = run(Greeter(rates))
    agent = Greeter(rates, stop_after=stop_after)
    stopped = run(agent, store)
    assert stopped.interrupted, stopped
    agent.request = None
    result = proctor.resume_sync(store=store, agent=agent, eval_sets=eval_set(*rates))
    assert [case.outcome for case in result.cases] == [case.outcome for case in whole.cases]
    assert agent.asked.total() == sum(len(case.trials) for case in result.cases)
    assert result.case("always").trials_passed == whole.case("always").trials_passed


def test_reports_name_the_smaller_number_of_trials(store: Path) -> None:
    result = proctor.load_run(run(Greeter({"always": 1.0, "never": 0.0}), store).run_id, store)
    made = sum(len(case.trials) for case in result.cases)
    assert (result.at_most, result.repeats.trials) == (200, made)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"config": MEANS, "num_runs": 9},
            "expected a `min_pass_rate` and a `confidence` in addition to `until_decided`",
        ),
        ({"num_runs": 1}, "1 trial a case can decide nothing"),
        ({"config": MEANS, "min_pass_rate": 0.9}, "and a `confidence` in addition to `until_decided`"),
        ({"margin": 0.1}, "margin needs against"),
        ({"against": "x", "until_decided": False}, "needs until_decided"),
        ({"config": MEANS, "against": "x", "num_runs": 1}, "num_runs (--num-runs N) must be at least 2"),
        ({"against": "nothing", "num_runs": 5, "config": MEANS}, "nothing"),
        ({"against": "latest", "num_runs": 5, "margin": 2.0}, "margin must be above 0 and below 1"),
    ],
    ids=str,
)
def test_what_cannot_be_decided_is_refused_before_the_first_call(
    store: Path, options: dict[str, Any], message: str
) -> None:
    run(Greeter({"always": 1.0}), store, config=MEANS)
    agent = Greeter({"always": 1.0})
    with pytest.raises(proctor.ProctorError) as refused:
        run(agent, store, **{"until_decided": True, **options})
    assert message in str(refused.value)
    assert not agent.asked


def test_a_number_of_trials_that_can_only_fail_is_warned_of() -> None:
    result = run(Greeter({"always": 1.0}), num_runs=10)
    assert "no case can pass with 10 trials" in result.warnings[0]
    assert "it takes at least 17" in result.warnings[0]


# --- against another run -------------------------------------------------------------------------------------------------

FORTY = {f"c{number}": rate for number, rate in enumerate([1.0, 0.9, 0.7, 0.97] * 10)}
BROKEN = {**FORTY, **{f"c{number}": 0.0 for number in range(12)}}


def against(store: Path, agent: Greeter, **options: Any) -> tuple[proctor.RunResult, proctor.Comparison]:
    how = {"config": MEANS, "num_runs": 10, "until_decided": True, "against": "previous", **options}
    base = proctor.list_runs(store)[-1].run_id
    result = run(agent, store, **{**how, "against": base})
    return result, proctor.compare_sync(base, result.run_id, store=store)


def test_a_run_is_made_until_the_comparison_is_decided(store: Path) -> None:
    run(Greeter(FORTY), store, config=MEANS, num_runs=10)
    agent = Greeter(BROKEN, seed=2)
    result, found = against(store, agent)
    assert found.outcome is Change.REGRESSION
    assert found.look is not None
    made = found.candidate.num_runs
    assert 1 < made < 10
    assert {*agent.asked.values()} == {made}
    assert f"decided after {40 * made} of 400 trials" in found.sentence
    assert (result.at_most, result.against) == (400, found.base.run_id)
    assert not found.warnings


def test_equal_build_is_not_a_regression_with_fewer_trials(store: Path) -> None:
    run(Greeter(FORTY), store, config=MEANS, num_runs=10)
    _, found = against(store, Greeter(FORTY, seed=3), margin=0.15)
    assert found.outcome is Change.NO_REGRESSION
    assert found.candidate.num_runs < 10


def test_looks_ask_for_more_than_a_comparison_that_is_made_once(store: Path) -> None:
    run(Greeter(FORTY), store, config=MEANS, num_runs=10)
    _, found = against(store, Greeter(BROKEN, seed=2))
    assert found.look is not None
    assert found.look.two_sided < 0.05
    assert found.measure("passed").p_value <= 0.8 * found.look.one_sided


def test_run_that_will_not_be_decided_is_stopped_with_a_message(store: Path) -> None:
    ten = {f"c{number}": 1.0 for number in range(10)}
    run(Greeter(ten), store, config=MEANS, num_runs=10)
    agent = Greeter(ten, seed=2)
    result, found = against(store, agent)
    assert (found.outcome, found.exit_code, found.futile) == (Change.NO_DIFFERENCE, 0, True)
    made = max(agent.asked.values())
    assert {*agent.asked.values()} == {made}
    assert (
        f"; by 10 cases, after {10 * made} of 100 trials ({100 - 10 * made} % fewer), look {made} of 10"
        in found.sentence
    )
    assert found.sentence.endswith("; the others would hardly decide it (a chance below 20 %)")
    again = proctor.resume_sync(result.run_id, store=store, agent=agent, eval_sets=eval_set(*ten))
    assert len(again.cases[0].trials) == made


def test_comparison_with_another_run_is_a_warning(store: Path) -> None:
    run(Greeter(FORTY), store, config=MEANS, num_runs=10)
    result, interim = against(store, Greeter(BROKEN, seed=2))
    assert interim.look is not None
    other = run(Greeter(FORTY, seed=7), store, config=MEANS, num_runs=10)
    found = proctor.compare_sync(other.run_id, result.run_id, store=store)
    assert found.look is None
    assert any(
        "trials of the candidate were added until it was decided against run" in one for one in found.warnings
    )


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize("stop_after", [1, 39, 40, 100])
def test_stopped_run_resumes_as_if_uninterrupted(store: Path, stop_after: int) -> None:
    base = run(Greeter(FORTY), store, config=MEANS, num_runs=10).run_id
    whole, expected = against(store, Greeter(BROKEN, seed=2))
    agent = Greeter(BROKEN, seed=2, stop_after=stop_after)
    stopped = run(agent, store, config=MEANS, num_runs=10, until_decided=True, against=base)
    assert stopped.exit_code == 3
    agent.request = None
    result = proctor.resume_sync(stopped.run_id, store=store, agent=agent, eval_sets=eval_set(*BROKEN))
    found = proctor.compare_sync(base, result.run_id, store=store)
    assert [trial_counts(case)[2] for case in result.cases] == [trial_counts(case)[2] for case in whole.cases]
    assert (found.outcome, found.look) == (expected.outcome, expected.look)
    assert agent.asked.total() == sum(len(case.trials) for case in result.cases)


def test_a_base_of_which_nothing_could_be_judged_is_refused(store: Path) -> None:
    def fails(text: str) -> str:
        raise RuntimeError("down")

    proctor.evaluate_sync(fails, eval_set(*FORTY), config=MEANS, store=store)
    agent = Greeter(FORTY)
    with pytest.raises(proctor.SetupError, match="no case of it could be scored"):
        against(store, agent)
    assert not agent.asked


def test_judged_again_a_run_against_another_has_the_trials_that_it_has(store: Path) -> None:
    base = run(Greeter(FORTY), store, config=MEANS, num_runs=10).run_id
    result, found = against(store, Greeter(BROKEN, seed=2))
    again = proctor.rescore_sync(result, store=store)
    assert not again.counts.get(proctor.Outcome.NOT_RUN)
    assert proctor.compare_sync(base, again.run_id, store=store).sentence == found.sentence


def test_errors_that_are_run_again_add_no_trials_to_what_was_decided(store: Path) -> None:
    base = run(Greeter(FORTY), store, config=MEANS, num_runs=10).run_id
    calls = Counter[str]()

    def fails_once(text: str) -> str:
        calls[text] += 1
        if text == "c3" and calls[text] == 1:
            raise RuntimeError("down")
        return f"Hello {text}"

    given = eval_set(*FORTY)
    how: dict[str, Any] = {"config": MEANS, "num_runs": 10, "until_decided": True, "against": base}
    result = proctor.evaluate_sync(fails_once, given, store=store, **how)
    before = proctor.compare_sync(base, result.run_id, store=store)
    assert (before.outcome, before.missing_candidate) == (Change.NO_REGRESSION, 1)
    made = before.candidate.num_runs
    again = proctor.resume_sync(
        result.run_id, store=store, agent=fails_once, eval_sets=given, retry_errors=True
    )
    assert {len(case.trials) for case in again.cases} == {made}
    assert (calls["c3"], calls["c4"]) == (made + 1, made)
    found = proctor.compare_sync(base, result.run_id, store=store)
    assert (found.exit_code, found.missing_candidate, found.look) == (0, 0, before.look)


def test_errored_trial_of_a_failed_case_is_rerun_for_a_comparison(
    store: Path,
) -> None:
    """The case failed for either result of that trial, but its verdict is missing in the comparison until it is known."""
    base = run(Greeter(FORTY), store, config=MEANS, num_runs=10).run_id
    calls = Counter[str]()

    def fails_the_second_time(text: str) -> str:
        calls[text] += 1
        if text == "c3" and calls[text] == 2:
            raise RuntimeError("down")
        return f"Hello {text}" if text not in {"c3", "c4"} else "What?"

    given = eval_set(*FORTY)
    how: dict[str, Any] = {"config": MEANS, "num_runs": 10, "until_decided": True, "against": base}
    result = proctor.evaluate_sync(fails_the_second_time, given, store=store, **how)
    before = proctor.compare_sync(base, result.run_id, store=store)
    made = before.candidate.num_runs
    assert trial_counts(result.cases[3]) == ("failed", 0, made)
    assert before.missing_candidate == 1
    again = proctor.resume_sync(
        result.run_id, store=store, agent=fails_the_second_time, eval_sets=given, retry_errors=True
    )
    assert (calls["c3"], calls["c4"]) == (made + 1, made)
    assert {trial.outcome.value for trial in again.cases[3].trials} == {"failed"}
    assert again.counts == {proctor.Outcome.PASSED: 38, proctor.Outcome.FAILED: 2}
    found = proctor.compare_sync(base, result.run_id, store=store)
    assert (found.pairs, found.missing_candidate) == (40, 0)
    proctor.resume_sync(
        result.run_id, store=store, agent=fails_the_second_time, eval_sets=given, retry_errors=True
    )
    assert calls["c3"] == made + 1


def test_case_without_a_verdict_counts_as_failed_until_it_is_decided(store: Path) -> None:
    run(Greeter(FORTY), store, config=MEANS, num_runs=10)
    calls = Counter[str]()

    def fails(text: str) -> str:
        calls[text] += 1
        if text == "c0":
            raise RuntimeError("down")
        return f"Hello {text}"

    base = proctor.list_runs(store)[-1].run_id
    result = asyncio.run(
        proctor.evaluate(
            fails, eval_set(*FORTY), config=MEANS, num_runs=10, until_decided=True, against=base, store=store
        )
    )
    found = proctor.compare_sync(base, result.run_id, store=store)
    assert found.outcome is Change.NO_REGRESSION
    assert {*calls.values()} == {found.candidate.num_runs}
    assert found.missing_candidate == found.candidate.num_runs
