"""Comparisons on a fixed set of cases: false regressions, coverage, missing verdicts, and what is found.

Its tables are printed by `python -m benchmarks.false_alarms`. The rates of the cases are fixed; only the trials are drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from proctor.analysis.compare.compare_cases import CompareOptions, compare_cases
from proctor.analysis.compare.sides import Side, side_cases
from proctor.schema.analysis.comparison import Change, ComparedRun, Comparison
from proctor.schema.results.run_result import CaseResult, Outcome, TrialResult
from proctor.stats.paired_tests import sign_flip_test

GREEN = (Change.NO_DIFFERENCE, Change.NO_REGRESSION, Change.IMPROVEMENT)
"""The outcomes with exit code 0."""
Trials = Sequence[bool]


@dataclass(frozen=True, slots=True)
class FixedCases:
    """A fixed set of cases, of which each has its own pass rate in the base."""

    name: str
    rates: tuple[float, ...]
    trials: int
    trials_now: int = 0
    alike_share: float = 0.0
    """The share of a case's trials that go the same way within a run."""


def _spread(count: int, low: float, high: float) -> tuple[float, ...]:
    return tuple(low + (high - low) * (place + 0.5) / count for place in range(count))


FIXED = (
    FixedCases("7 steady cases x 5", (1.0,) * 7, 5),
    FixedCases("7 cases x 5, two of them flaky", (1.0,) * 5 + (0.5, 0.8), 5),
    FixedCases("7 flaky cases x 5", _spread(7, 0.2, 1.0), 5),
    FixedCases("20 flaky cases x 1", _spread(20, 0.4, 1.0), 1),
    FixedCases("20 flaky cases x 3", _spread(20, 0.4, 1.0), 3),
    FixedCases("30 cases x 4, skewed: most pass", (0.98,) * 27 + (0.3, 0.5, 0.7), 4),
    FixedCases("30 cases x 5, zero-inflated: most fail", (0.0,) * 24 + _spread(6, 0.2, 1.0), 5),
    FixedCases("50 flaky cases x 5", _spread(50, 0.2, 1.0), 5),
    FixedCases("100 cases x 4 of even odds", (0.5,) * 100, 4),
    FixedCases("100 cases x 1", _spread(100, 0.5, 1.0), 1),
    FixedCases("20 flaky cases, 10 trials, then 1", (0.9,) * 20, 10, 1),
    FixedCases("20 flaky cases, 1 trial, then 10", (0.9,) * 20, 1, 10),
    FixedCases("7 cases x 5, a quarter of the trials alike", _spread(7, 0.4, 1.0), 5, alike_share=0.25),
    FixedCases("7 cases x 5, half of the trials alike", _spread(7, 0.4, 1.0), 5, alike_share=0.5),
    FixedCases("7 cases x 10, half of the trials alike", _spread(7, 0.4, 1.0), 10, alike_share=0.5),
    FixedCases("20 cases x 5, half of the trials alike", _spread(20, 0.4, 1.0), 5, alike_share=0.5),
    FixedCases("20 cases x 10, half of the trials alike", _spread(20, 0.4, 1.0), 10, alike_share=0.5),
    FixedCases("40 cases x 5, half of the trials alike", _spread(40, 0.4, 1.0), 5, alike_share=0.5),
)


@dataclass(slots=True)
class Tally:
    """Counts over the comparisons of one design."""

    comparisons: int = 0
    outcomes: dict[Change, int] = field(default_factory=lambda: dict.fromkeys(Change, 0))
    covered: int = 0
    """The interval of the pass rate contained the true difference."""
    same: int = 0
    """The outcome was that of the same comparison without missing verdicts."""
    by_signs: int = 0
    """The paired test of the cases' differences, two-sided at 5 %, found the candidate worse."""

    def share(self, *outcomes: Change) -> float:
        """Return the share of comparisons with one of these outcomes."""
        return sum(self.outcomes[one] for one in outcomes) / self.comparisons


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """How the candidate differs from the base, and which of its verdicts are missing."""

    drop: float = 0.0
    """How much lower each case's pass rate is."""
    rates: Mapping[int, float] = field(default_factory=dict)
    """The pass rates of single cases."""
    missing: float = 0.0
    """The share of its verdicts that are missing: at random, or of its failed trials (`where_wrong`)."""
    where_wrong: bool = False
    exactly: bool = False
    """Whether exactly so many are missing (rounded down, and at least one), not each with this probability."""

    def rate(self, place: int, base: float) -> float:
        """Return the pass rate of a case."""
        return self.rates.get(place, max(0.0, base - self.drop))


def simulate(
    fixed: FixedCases,
    comparisons: int,
    candidate: Candidate,
    *,
    options: CompareOptions | None = None,
    seed: int = 1,
) -> Tally:
    """Draw so many comparisons of the base with such a candidate."""
    random = Random(f"{fixed.name} {candidate} {seed}")
    asked, tally = options or CompareOptions(), Tally(comparisons)
    now = [candidate.rate(place, rate) for place, rate in enumerate(fixed.rates)]
    truth = (sum(now) - sum(fixed.rates)) / len(now)
    trials = fixed.trials, fixed.trials_now or fixed.trials
    for _ in range(comparisons):
        base, drawn = (
            [_draw_trials(random, rate, count, fixed.alike_share) for rate in rates]
            for rates, count in zip((fixed.rates, now), trials, strict=True)
        )
        gone = _draw_missing(random, drawn, candidate)
        found = _compare(base, drawn, gone, asked)
        passed = found.measure("passed")
        tally.outcomes[found.outcome] += 1
        tally.covered += passed.low - 1e-9 <= truth <= passed.high + 1e-9
        tally.same += not gone or found.outcome is _compare(base, drawn, set(), asked).outcome
        tally.by_signs += _is_worse_by_signs(base, drawn)
    return tally


def _draw_trials(random: Random, rate: float, trials: int, alike_share: float) -> Trials:
    mood = random.random() < rate
    return [mood if random.random() < alike_share else random.random() < rate for _ in range(trials)]


def _draw_missing(random: Random, drawn: Sequence[Trials], candidate: Candidate) -> set[tuple[int, int]]:
    """Draw the missing verdicts: pairs of case and trial."""
    places = [(case, trial) for case, trials in enumerate(drawn) for trial in range(len(trials))]
    if candidate.exactly:
        return {*random.sample(places, max(1, int(candidate.missing * len(places))))}
    return {
        (case, trial)
        for case, trial in places
        if candidate.missing
        and random.random() < candidate.missing
        and not (candidate.where_wrong and drawn[case][trial])
    }


def _compare(
    base: Sequence[Trials], drawn: Sequence[Trials], gone: set[tuple[int, int]], options: CompareOptions
) -> Comparison:
    sides = [
        Side(
            ComparedRun("", "drawn", len(cases), len(cases[0])),
            [*side_cases(_case(n, one, missing) for n, one in enumerate(cases))],
        )
        for cases, missing in ((base, set[tuple[int, int]]()), (drawn, gone))
    ]
    return compare_cases(sides[0], sides[1], options)


_ENDS = {one: TrialResult(0, one, evidence=None) for one in (Outcome.PASSED, Outcome.FAILED, Outcome.ERROR)}


def _case(number: int, passes: Trials, gone: set[tuple[int, int]]) -> tuple[str, CaseResult]:
    """Return a case that passes if all of its trials do."""
    ends = [
        Outcome.ERROR if (number, place) in gone else Outcome.PASSED if one else Outcome.FAILED
        for place, one in enumerate(passes)
    ]
    outcome = next(each for each in (Outcome.FAILED, Outcome.ERROR, Outcome.PASSED) if each in ends)
    return "", CaseResult("set", str(number), outcome, trials=[_ENDS[one] for one in ends])


def _is_worse_by_signs(base: Sequence[Trials], drawn: Sequence[Trials]) -> bool:
    rates = [[sum(one) / len(one) for one in cases] for cases in (base, drawn)]
    differences = [round(now - before, 12) for before, now in zip(*rates, strict=True)]
    return sum(differences) < 0 and sign_flip_test(differences) <= 0.05


# --- the tables ------------------------------------------------------------------------------------------------------


def print_level(comparisons: int) -> None:
    """Print how often an equal build is called a regression, and what the intervals contain."""
    print(
        f"{'on these cases':44} {'regression':>10} {'improvement':>12} {'--generalize':>13} {'contains 0':>11} {'contains -15':>13}"
    )
    for fixed in FIXED:
        same = simulate(fixed, comparisons, Candidate())
        general = simulate(fixed, comparisons, Candidate(), options=CompareOptions(generalize=True))
        lower = simulate(fixed, comparisons, Candidate(drop=0.15))
        print(
            f"{fixed.name:44} {same.share(Change.REGRESSION):10.1%} {same.share(Change.IMPROVEMENT):12.1%} "
            f"{general.share(Change.REGRESSION):13.1%} {same.covered / comparisons:11.1%} {lower.covered / comparisons:13.1%}",
            flush=True,
        )


def print_missing(comparisons: int) -> None:
    """Print how often a candidate that breaks two of five cases gets exit code 0, if verdicts of it are missing."""
    print(
        f"{'2 of 5 cases break; verdicts missing':44} {'none':>8} {'40 %':>8} {'40 %, where wrong':>18} {'all, where wrong':>18}"
        "   exit code 0"
    )
    for fixed in FIXED:
        easiest = sorted(range(len(fixed.rates)), key=lambda place: -fixed.rates[place])
        broken = dict.fromkeys(easiest[: max(1, len(fixed.rates) * 2 // 5)], 0.0)
        kinds = [
            Candidate(rates=broken, missing=share, where_wrong=wrong)
            for share, wrong in ((0.0, False), (0.4, False), (0.4, True), (1.0, True))
        ]
        shares = [simulate(fixed, comparisons, one).share(*GREEN) for one in kinds]
        print(
            f"{fixed.name:44} {shares[0]:8.1%} {shares[1]:8.1%} {shares[2]:18.1%} {shares[3]:18.1%}",
            flush=True,
        )


def print_alike(comparisons: int) -> None:
    """Print how often an equal build is called a regression if half of the trials of each case are alike."""
    print(f"{'half of the trials alike':44} {'regression':>10}")
    for cases, trials in ALIKE:
        fixed = half_alike(cases, trials)
        share = simulate(fixed, comparisons, Candidate()).share(Change.REGRESSION)
        print(f"{fixed.name:44} {share:10.1%}", flush=True)


def half_alike(cases: int, trials: int) -> FixedCases:
    """Return cases of mixed difficulty of which half of the trials go the same way within a run."""
    return FixedCases(f"{cases} cases x {trials}, alike", _spread(cases, 0.4, 1.0), trials, alike_share=0.5)


ALIKE = (
    (1, 10), (2, 5), (2, 10), (2, 20), (3, 5), (3, 10), (3, 20), (4, 4), (4, 5), (4, 10), (5, 4), (5, 5), (5, 10), (5, 20),
    (7, 5), (7, 10), (7, 20), (20, 5), (20, 10),
)  # fmt: skip
"""Numbers of cases and trials."""


def print_one_case(comparisons: int) -> None:
    """Print how often a regression is found if a single case, the easiest one, passes fewer trials."""
    print(f"{'regression found; one case drops':44} {'to 0 %':>8} {'to 30 %':>8}")
    for trials in (5, 10, 20):
        for name, rates in _ONE_CASE.items():
            fixed = FixedCases(f"{name} x {trials}", rates, trials)
            shares = [
                simulate(fixed, comparisons, Candidate(rates={0: rate})).share(Change.REGRESSION)
                for rate in (0.0, 0.3)
            ]
            print(f"{fixed.name:44} {shares[0]:8.1%} {shares[1]:8.1%}", flush=True)


_ONE_CASE = {
    "7 steady cases": (1.0,) * 7,
    "7 cases, one of them flaky": (1.0,) * 6 + (0.75,),
    "7 cases, two of them flaky": (1.0,) * 5 + (0.5, 0.8),
    "7 flaky cases": _spread(7, 0.4, 1.0)[::-1],
    "20 cases, eight of them flaky": (1.0,) * 12 + _spread(8, 0.5, 1.0),
}

FEW_MISSING = (
    *FIXED,
    FixedCases("30 steady cases x 5", (1.0,) * 30, 5),
    FixedCases("50 steady cases x 1", (1.0,) * 50, 1),
    FixedCases("200 steady cases x 1", (1.0,) * 200, 1),
)


def print_few_missing(comparisons: int) -> None:
    """Print how many outcomes stay the same if 2 % of the verdicts are missing."""
    print(
        f"{'2 % of the verdicts missing (at least one)':44} {'equal build':>12} {'15 points lower':>16}   same outcome"
    )
    for fixed in FEW_MISSING:
        few = Candidate(missing=0.02, exactly=True)
        found = [simulate(fixed, comparisons, one) for one in (few, replace(few, drop=0.15))]
        shares = [one.same / comparisons for one in found]
        print(f"{fixed.name:44} {shares[0]:12.1%} {shares[1]:16.1%}", flush=True)


def print_power(comparisons: int) -> None:
    """Print how often a regression is found, by today's tests and by the paired test of the cases' differences alone."""
    print(
        f"{'regression found (paired test of cases)':40} {'a case breaks':>20} {'2 cases break':>20} {'-20 points':>20}"
    )
    for cases in (5, 7, 10, 20, 50):
        rates = (1.0,) * (cases - cases * 2 // 5) + _spread(cases * 2 // 5, 0.5, 1.0)
        for trials in (3, 5, 10):
            fixed = FixedCases(f"{cases} cases x {trials}", rates, trials)
            kinds = Candidate(rates={0: 0.0}), Candidate(rates={0: 0.0, 1: 0.0}), Candidate(drop=0.2)
            found = [simulate(fixed, comparisons, one) for one in kinds]
            texts = [
                f"{one.share(Change.REGRESSION):10.0%} ({one.by_signs / comparisons:7.0%})" for one in found
            ]
            print(f"{fixed.name:40} {' '.join(texts)}", flush=True)


def print_small_sets(comparisons: int) -> None:
    """Print what a team with 7 cases x 5 trials sees."""
    print(f"{'7 cases x 5 trials':44} {'regression':>10} {'inconclusive':>13} {'exit code 0':>12}")
    sets = {
        "all steady": (1.0,) * 7,
        "two others flaky": (1.0,) * 5 + (0.5, 0.8),
    }
    kinds = {
        **{
            f"one case from 100 to {100 * rate:.0f} %": Candidate(rates={0: rate})
            for rate in (0.8, 0.6, 0.4, 0.2, 0.0)
        },
        "two cases from 100 to 40 %": Candidate(rates={0: 0.4, 1: 0.4}),
        **{
            f"each case {100 * drop:.0f} points lower": Candidate(drop=drop) for drop in (0.05, 0.1, 0.2, 0.3)
        },
    }
    for name, rates in sets.items():
        for change, candidate in kinds.items():
            found = simulate(FixedCases(name, rates, 5), comparisons, candidate)
            print(
                f"{f'{change}, {name}':44} {found.share(Change.REGRESSION):10.1%} "
                f"{found.share(Change.INCONCLUSIVE):13.1%} {found.share(*GREEN):12.1%}",
                flush=True,
            )
