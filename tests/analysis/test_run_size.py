"""How large a run must be to see a drop: what it goes by, and that so large a run does see it."""

from random import Random

import pytest
from hypothesis import given, strategies as st
from scipy import stats as scipy_stats

from proctor.analysis.compare.compare import CompareOptions, compare_runs
from proctor.analysis.power.plan import Sample, SizeAsked, TrialTook, _at_least, size_for
from proctor.schema.analysis.comparison import Change
from proctor.schema.analysis.power_plan import MeasureSize
from tests.analysis.compare.comparisons import cases, side


def sized(*values: str | list[float], name: str = "passed", **asked: object) -> MeasureSize:
    """The size for cases that are their trials: letters (P passed, F failed), or scores."""
    listed = [[float(one == "P") for one in case] if isinstance(case, str) else case for case in values]
    how = {"detect": 0.05, "power": 0.8, "confidence": 0.95, "trials": (1, 5), **asked}
    return size_for(Sample(name, listed, 1.0, True, 0), SizeAsked(**how), TrialTook(0.5, 2.0))  # type: ignore[arg-type]  # as given


def cases_of(found: MeasureSize) -> list[int]:
    return [row.cases for row in found.rows]


def test_cost_and_time_are_those_of_one_run() -> None:
    for row in sized("PPFP", "PPPP").rows:
        assert (row.total, row.cost, row.seconds) == (
            row.cases * row.trials,
            0.5 * row.total,
            2.0 * row.total,
        )


def test_flaky_cases_take_more_and_more_trials_take_fewer_cases() -> None:
    steady, flaky = sized(*["PPPPP"] * 20), sized(*["PPFPF"] * 20)
    assert all(a < b for a, b in zip(cases_of(steady), cases_of(flaky), strict=True))
    assert cases_of(flaky)[1] < cases_of(flaky)[0]


@pytest.mark.parametrize(
    ("values", "name", "note"),
    [
        (["PPP", "PPP"], "passed", "no case was flaky"),
        (["P", "F", "P"], "passed", "with one trial a case, the variance"),
        (["P"], "passed", "with one trial a case, the variance"),
        ([[0.5, 0.5], [0.7, 0.7]], "score", "no trial scored differently"),
        ([[0.5], [0.7]], "score", "the whole variance over cases is assumed"),
        ([[0.5]], "score", "the most that there can be is assumed"),
        (["PF", "PP"], "passed", ""),
    ],
    ids=["all pass", "one trial", "one trial of one case", "scores alike", "one score a case", "one score", "enough"],
)  # fmt: skip
def test_assumptions_are_reported(values: list[str | list[float]], name: str, note: str) -> None:
    found = sized(*values, name=name)
    assert all(row.cases >= 6 for row in found.rows)
    assert [one for one in found.notes if note in one] if note else not found.notes


@given(st.lists(st.text("PF", min_size=1, max_size=6), min_size=1, max_size=30), st.floats(0.01, 1.0))
def test_drop_is_detected_if_and_only_if_it_reaches_the_detectable_one(
    values: list[str], detect: float
) -> None:
    trials = len(values[0])
    values = [value[:trials].ljust(trials, "P") for value in values]
    found = sized(*values, detect=detect, trials=(trials,))
    sees = found.rows[0].cases <= len(values)
    if found.detectable is None:
        assert not sees
    elif abs(found.detectable - detect) > 2e-4:
        assert sees == (detect > found.detectable)


@given(st.integers(1, 40), st.integers(1, 300), st.floats(0.001, 0.999))
def test_the_chance_that_enough_break_is_the_binomial_one(fewest: int, cases: int, share: float) -> None:
    if fewest <= cases:
        expected = scipy_stats.binom.sf(fewest - 1, cases, share)
        assert _at_least(fewest, cases, share) == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("rate", [1.0, 0.9, 0.6])
def test_a_run_of_that_size_finds_the_drop_as_often_as_promised(rate: float) -> None:
    random, found, times = Random(f"drop {rate}"), 0, 100
    drop = 0.2
    trials = ["".join("P" if random.random() < rate else "F" for _ in range(4)) for _ in range(200)]
    row = sized(*trials, detect=drop, trials=(3,)).rows[0]
    for _ in range(times):
        base, worse = (
            ["".join("FP"[random.random() < rate] for _ in range(3)) for _ in range(row.cases)]
            for _ in range(2)
        )
        worse = ["FFF" if random.random() < drop / rate else case for case in worse]
        outcome = compare_runs(side(cases(*base)), side(cases(*worse)), CompareOptions()).outcome
        found += outcome is Change.REGRESSION
    assert found / times >= 0.68  # 0.8 at least in truth
