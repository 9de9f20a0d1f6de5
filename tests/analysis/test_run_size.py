"""How large a run must be to see a drop: what it goes by, and that so large a run does see it."""

from random import Random

import pytest
from hypothesis import given, strategies as st

from proctor.analysis.compare.compare_cases import CompareOptions, compare_cases
from proctor.analysis.power.plan import RunSizeRequest, Sample, TrialFigures, measure_sentence, size_for
from proctor.schema.analysis.comparison import Change
from proctor.schema.analysis.power_plan import MeasureSize
from proctor.stats.power import ScoreSize
from tests.analysis.compare.comparisons import cases, side


def sized(*values: str | list[float], name: str = "passed", **asked: object) -> MeasureSize:
    """The size for cases that are their trials: letters (P passed, F failed), or scores."""
    listed = [[float(one == "P") for one in case] if isinstance(case, str) else case for case in values]
    how = {"detect": 0.05, "power": 0.8, "confidence": 0.95, "trials": (1, 5), **asked}
    return size_for(Sample(name, listed, 1.0, True, 0), RunSizeRequest(**how), TrialFigures(0.5, 2.0))  # type: ignore[arg-type]  # as given


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
    assert all(row.total >= 6 for row in found.rows)
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


@pytest.mark.parametrize("reach", [10.0, 1e30, 1e99])
def test_number_of_cases_is_computed_for_every_range(reach: float) -> None:
    needed = ScoreSize(0.0, reach, 0.05, 0.8).cases(0.1, 1)
    assert needed == pytest.approx(7.906 * reach / 0.1, rel=0.01)


SENTENCES = {
    "a case and the set": (
        ["PPPPP"] * 7,
        "a case that drops from 100 % to 4 %, and an overall drop of 28 points (in 80 % of comparisons)",
        "to notice 5 points you need 46 trials of each of these cases or 64 cases x 5 trials",
    ),
    "single trials": (
        ["P"] * 20,
        "an overall drop of 46 points (in 80 % of comparisons)",
        "to notice 5 points you need 25 trials of each of these cases or 492 cases x 1 trial",
    ),
    "nothing": (["P"], "no drop, however large", "to notice 5 points you need 1,692 cases x 1 trial"),
    "every case flaky": (
        ["PPPFP"] * 15,
        "an overall drop of 28 points (in 80 % of comparisons)",
        "to notice 5 points you need 262 cases x 5 trials",
    ),
    "one of seven cases is flaky": (
        ["P" * 10] * 6 + ["PPPPPFPPPF"],
        "a case that drops from 100 % to 8 %, and an overall drop of 23 points (in 80 % of comparisons)",
        "to notice 5 points you need 44 cases x 10 trials",
    ),
    "three of seven cases are flaky": (
        ["P" * 5] * 4 + ["PPFPF"] * 3,
        "a case that drops from 100 % to 0 %, and an overall drop of 50 points (in 80 % of comparisons)",
        "to notice 5 points you need 231 cases x 5 trials",
    ),
    "one case": (
        ["P" * 40],
        "a case that drops from 100 % to 80 % (in 80 % of comparisons)",
        "to notice 5 points you need 8 cases x 40 trials",
    ),
}


@pytest.mark.parametrize(("trials", "notices", "needs"), SENTENCES.values(), ids=SENTENCES)
def test_the_answer_names_the_drops_that_are_noticed(trials: list[str], notices: str, needs: str) -> None:
    head, _, last = measure_sentence(sized(*trials), len(trials), len(trials[0]), 0.8).partition("; ")
    assert (head.partition(" you will notice ")[2], last) == (notices, needs)


def test_a_run_that_is_large_enough_is_named() -> None:
    sentence = measure_sentence(sized(*["PPPPP"] * 50), 50, 5, 0.8)
    assert sentence.endswith("an overall drop of 5 points (in 80 % of comparisons): enough for 5 points")


def share_noticed(rates: list[float], worse: list[float], trials: int, times: int, seed: str) -> float:
    """The share of simulated comparisons whose outcome is a regression."""
    random, found = Random(seed), 0
    for _ in range(times):
        base, candidate = (
            ["".join("FP"[random.random() < rate] for _ in range(trials)) for rate in each]
            for each in (rates, worse)
        )
        outcome = compare_cases(side(cases(*base)), side(cases(*candidate)), CompareOptions()).outcome
        found += outcome is Change.REGRESSION
    return found / times


DESIGNS = {
    "steady, 7 x 5": ([1.0] * 7, 5),
    "steady, 10 x 8": ([1.0] * 10, 8),
    "steady, 12 x 3": ([1.0] * 12, 3),
    "steady, single trials": ([1.0] * 30, 1),
    "steady, some always fail, single trials": ([1.0] * 30 + [0.0] * 6, 1),
    "one flaky case in seven": ([1.0] * 6 + [0.6], 5),
    "four flaky cases in ten": ([1.0] * 6 + [0.5, 0.6, 0.7, 0.8], 10),
    "flaky": ([0.8] * 15, 5),
    "steady, 7 x 10": ([1.0] * 7, 10),
}
_TIMES = 200
_LEAST = 0.72
"""Of 200 comparisons, if 80 % are noticed in truth: fewer by chance less often than in 3 of 1,000."""


@pytest.mark.nightly(check=1)
@pytest.mark.slow
@pytest.mark.parametrize(("rates", "trials"), DESIGNS.values(), ids=DESIGNS)
def test_the_drops_that_are_named_are_noticed(rates: list[float], trials: int) -> None:
    random = Random(f"{rates} {trials}")
    pilot = ["".join("FP"[random.random() < rate] for _ in range(trials)) for rate in rates]
    found = sized(*pilot)
    assert found.detectable is not None
    lost = found.detectable / (sum(rates) / len(rates))
    overall = [rate * max(0.0, 1 - lost) for rate in rates]
    assert share_noticed(rates, overall, trials, _TIMES, "overall") >= _LEAST
    if found.case_rate is not None:
        before, now = [1.0, *rates[1:]], [found.case_rate, *rates[1:]]
        assert share_noticed(before, now, trials, _TIMES, "case") >= _LEAST


@pytest.mark.nightly(check=1)
@pytest.mark.slow
@pytest.mark.parametrize(("rate", "trials"), [(1.0, 1), (1.0, 5), (0.9, 1), (0.9, 3), (0.6, 3)], ids=str)
def test_a_run_of_that_size_finds_the_drop_as_often_as_promised(rate: float, trials: int) -> None:
    random = Random(f"drop {rate}")
    pilot = ["".join("FP"[random.random() < rate] for _ in range(max(2, trials))) for _ in range(200)]
    count = sized(*pilot, detect=0.2, trials=(trials,)).rows[0].cases
    assert share_noticed([rate] * count, [rate - 0.2] * count, trials, _TIMES, "size") >= _LEAST
