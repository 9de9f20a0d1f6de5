"""How often comparisons of two builds are wrong: null comparisons, real drops, and what the intervals hold.

python -m benchmarks.false_alarms [COMPARISONS]      10,000 by default; the same figures every time

Two builds are drawn as cases with trials, from models of how agents behave: cases of mixed difficulty, flaky ones,
trials that resemble each other, scores; and whole runs with several metrics, compared as `proctor compare` does.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import sqrt
from random import Random

from proctor.analysis.compare.compare import CompareOptions, Side, compare_runs
from proctor.schema.analysis.comparison import Change, ComparedRun, Measured
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, TrialResult
from proctor.stats.bootstrap import mean_difference
from proctor.stats.intervals import wilson
from proctor.stats.paired_tests import sign_flip_test
from proctor.stats.power import cases_needed, expected_deviation

LEVEL = 0.05
DROP = 0.05

Draw = Callable[[Random, float], float]
"""The difference of one case, candidate less base, where the candidate is worse by so much on the mean."""


@dataclass(frozen=True, slots=True)
class Model:
    """How the cases of two builds come about."""

    name: str
    cases: int
    draw: Draw
    reach: float | None = 1.0
    """As in `mean_difference`."""


def flaky(trials: int) -> Draw:
    """Cases of mixed difficulty, most of them flaky; a drop breaks so many of them wholly."""

    def draw(random: Random, drop: float) -> float:
        rate = random.betavariate(1.5, 0.7)
        broken = random.random() < drop / (1.5 / 2.2)
        base = sum(random.random() < rate for _ in range(trials))
        candidate = 0 if broken else sum(random.random() < rate for _ in range(trials))
        return (candidate - base) / trials

    return draw


def steady(random: Random, drop: float) -> float:
    """Nine cases of ten pass, and pass again; few change by themselves."""
    base = random.random() < 0.9
    candidate = base if random.random() > 0.1 else random.random() < 0.9
    if random.random() < drop / 0.9:
        candidate = False
    return float(candidate) - float(base)


def clustered(random: Random, drop: float) -> float:
    """Five trials of a case that mostly agree within a run, but not between runs, for example with a failed tool."""
    return (_alike(random, drop) - _alike(random, 0.0)) / 5


def _alike(random: Random, drop: float) -> float:
    mood = random.random() < 0.7 - drop
    return sum(mood if random.random() < 0.9 else random.random() < 0.7 - drop for _ in range(5))


def scores(random: Random, drop: float) -> float:
    """Scores from 0 to 1, skewed, that differ more in hard cases."""
    spread = random.uniform(0.02, 0.3)
    return random.gauss(0.0, spread) * random.expovariate(1.0) - drop


MODELS = (
    Model("pass or fail, 1 trial, flaky, 10 cases", 10, flaky(1)),
    Model("pass or fail, 1 trial, flaky, 50 cases", 50, flaky(1)),
    Model("pass or fail, 1 trial, flaky, 300 cases", 300, flaky(1)),
    Model("pass or fail, 1 trial, steady, 100 cases", 100, steady),
    Model("pass or fail, 5 trials, flaky, 30 cases", 30, flaky(5)),
    Model("pass or fail, 5 trials, clustered, 40 cases", 40, clustered),
    Model("scores, 12 cases", 12, scores, None),
    Model("scores, 60 cases", 60, scores, None),
)


@dataclass(frozen=True, slots=True)
class Rates:
    """The results of so many comparisons: shares from 0 to 1."""

    comparisons: int
    alarms: float
    """p <= 0.05 where nothing differs."""
    covered: float
    """The 95 % interval held the difference, where the candidate is worse by `DROP`."""
    wrongly_fine: float
    """"Not worse by more than the margin", where it is worse by exactly the margin."""


def simulate(model: Model, comparisons: int, seed: int = 1) -> Rates:
    """Draw so many comparisons of builds that do the same, and of builds of which one is worse by `DROP`."""
    random = Random(f"{model.name} {seed}")
    alarms = covered = fine = 0
    for _ in range(comparisons):
        same = [model.draw(random, 0.0) for _ in range(model.cases)]
        alarms += sign_flip_test(same, resamples=999, seed=random.getrandbits(32)) <= LEVEL
        worse = [model.draw(random, DROP) for _ in range(model.cases)]
        whole = mean_difference(worse, reach=model.reach)
        covered += whole.low <= -DROP <= whole.high
        fine += mean_difference(worse, confidence=1 - 2 * LEVEL, reach=model.reach).low >= -DROP
    return Rates(comparisons, alarms / comparisons, covered / comparisons, fine / comparisons)


# --- the outcome of a comparison over all its metrics ----------------------------------------------------------

METRICS = ("trajectory", "answer", "tone")
"""An additional metric to pass and fail; the last one is unrelated to it."""


@dataclass(frozen=True, slots=True)
class Build:
    """How runs come about whose trials pass where two of their metrics are high enough."""

    name: str
    cases: int
    trials: int
    trials_now: int = 0
    """Of the candidate, where they are not as many."""
    easy: float | None = None
    """How many trials pass where all cases are alike; `None`: they are of mixed difficulty."""

    def rate(self, random: Random) -> float:
        """How many of a case's trials pass."""
        return random.betavariate(4, 1.5) if self.easy is None else self.easy


BUILDS = (
    Build("20 cases, 1 trial, 3 metrics", 20, 1),
    Build("40 cases, 3 trials, 3 metrics", 40, 3),
    Build("100 cases, 1 trial, 3 metrics", 100, 1),
    Build("20 cases, 10 trials, then 1, 3 metrics", 20, 10, 1),
    Build("20 flaky cases, 10 trials, then 1", 20, 10, 1, 0.9),
    Build("20 flaky cases, 1 trial, then 10", 20, 1, 10, 0.9),
)


def outcomes(build: Build, comparisons: int, drop: float = 0.0, seed: int = 1) -> dict[Change, float]:
    """Draw so many comparisons by what whole runs come to, and return the share of each outcome.

    The candidate's pass rate is lower by `drop`: so many of the cases that pass break wholly.
    """
    random = Random(f"{build.name} {drop} {seed}")
    found = dict.fromkeys(Change, 0)
    for _ in range(comparisons):
        easy = [build.rate(random) for _ in range(build.cases)]
        base = [_case(random, number, rate, build.trials) for number, rate in enumerate(easy)]
        broken = [0.0 if random.random() < drop / (build.easy or _PASSES) else rate for rate in easy]
        trials = build.trials_now or build.trials
        now = [_case(random, number, rate, trials) for number, rate in enumerate(broken)]
        before, after = (
            Side(ComparedRun("", "drawn", build.cases, build.trials), cases) for cases in (base, now)
        )
        ranges = dict.fromkeys(METRICS, (0.0, 1.0))
        found[compare_runs(before, after, CompareOptions(ranges=ranges)).outcome] += 1
    return {one: count / comparisons for one, count in found.items()}


_PASSES = 4 / 5.5
"""Share of the trials that pass where cases are of mixed difficulty."""


def _case(random: Random, number: int, rate: float, trials: int) -> tuple[str, CaseResult]:
    passes = [random.random() < rate for _ in range(trials)]
    scores = {
        "trajectory": [1.0 if one else random.choice((0.0, 0.5, 1.0)) for one in passes],
        "answer": [min(1.0, max(0.0, random.gauss(0.85 if one else 0.5, 0.15))) for one in passes],
        "tone": [min(1.0, max(0.0, random.gauss(0.7, 0.2))) for _ in passes],
    }
    metrics = {
        name: MetricVerdict(name, Outcome.PASSED, sum(values) / trials, 0.5)
        for name, values in scores.items()
    }
    outcome = Outcome.PASSED if all(passes) else Outcome.FAILED
    return "", CaseResult("set", str(number), outcome, metrics=metrics, trials=[_ENDS[one] for one in passes])


_ENDS = {
    True: TrialResult(0, Outcome.PASSED, evidence=None),
    False: TrialResult(0, Outcome.FAILED, evidence=None),
}


# --- on these cases: fixed rates, and verdicts that are missing -----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FixedCases:
    """A fixed set of cases, of which each has its own pass rate in the base."""

    name: str
    rates: tuple[float, ...]
    trials: int
    trials_now: int = 0
    resemblance: float = 0.0
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
    FixedCases("50 flaky cases x 5", _spread(50, 0.2, 1.0), 5),
    FixedCases("100 cases x 4 of even odds", (0.5,) * 100, 4),
    FixedCases("100 cases x 1", _spread(100, 0.5, 1.0), 1),
    FixedCases("20 flaky cases, 10 trials, then 1", (0.9,) * 20, 10, 1),
    FixedCases("20 flaky cases, 1 trial, then 10", (0.9,) * 20, 1, 10),
    FixedCases("40 cases x 5, half of the trials alike", _spread(40, 0.4, 1.0), 5, resemblance=0.5),
)


@dataclass(frozen=True, slots=True)
class OnTheseCases:
    """Shares of comparisons of two builds on fixed cases."""

    outcomes: dict[Change, float]
    covered: float
    """The interval of the pass rate contained the true difference."""
    contradictions: int
    """Comparisons in which the interval, the p-value and the verdict of a measure disagree."""


def on_these_cases(
    fixed: FixedCases, comparisons: int, drop: float = 0.0, *, broken: int = 0, missing: float = 0.0,
    where_wrong: bool = False, seed: int = 1,
) -> OnTheseCases:  # fmt: skip
    """Draw comparisons: the candidate's rates are lower by `drop`, and of the first `broken` cases every trial fails.

    `missing` is the share of the candidate's verdicts that are missing: at random, or of its failed trials (`where_wrong`).
    """
    random = Random(f"{fixed.name} {drop} {broken} {missing} {where_wrong} {seed}")
    found, covered, contradictions = dict.fromkeys(Change, 0), 0, 0
    now = [0.0 if place < broken else max(0.0, rate - drop) for place, rate in enumerate(fixed.rates)]
    truth = sum(now) / len(now) - sum(fixed.rates) / len(now)
    for _ in range(comparisons):
        sides: list[Side] = []
        for rates, trials in ((fixed.rates, fixed.trials), (now, fixed.trials_now or fixed.trials)):
            drawn = [_trials(random, rate, trials, fixed.resemblance) for rate in rates]
            share = missing if sides else 0.0
            cases = [
                _with_missing(random, n, one, share, where_wrong=where_wrong) for n, one in enumerate(drawn)
            ]
            sides.append(Side(ComparedRun("", "drawn", len(rates), trials), cases))
        comparison = compare_runs(sides[0], sides[1], CompareOptions())
        passed = comparison.measure("passed")
        found[comparison.outcome] += 1
        covered += passed.low - 1e-9 <= truth <= passed.high + 1e-9
        contradictions += any(map(_contradicts, comparison.measures))
    shares = {one: count / comparisons for one, count in found.items()}
    return OnTheseCases(shares, covered / comparisons, contradictions)


def _trials(random: Random, rate: float, trials: int, resemblance: float) -> list[bool]:
    mood = random.random() < rate
    return [mood if random.random() < resemblance else random.random() < rate for _ in range(trials)]


def _with_missing(
    random: Random, number: int, passes: list[bool], share: float, *, where_wrong: bool
) -> tuple[str, CaseResult]:
    ends = []
    for one in passes:
        is_missing = random.random() < share and not (where_wrong and one)
        ends.append(_MISSING if is_missing else _ENDS[one])
    outcomes = {end.outcome for end in ends}
    verdicts = (Outcome.FAILED, Outcome.ERROR, Outcome.PASSED)
    outcome = next(each for each in verdicts if each in outcomes)
    return "", CaseResult("set", str(number), outcome, trials=ends)


_MISSING = TrialResult(0, Outcome.ERROR, evidence=None)


def _contradicts(one: Measured) -> bool:
    is_outside = not one.low <= 0 <= one.high
    return not (is_outside == bool(one.verdict) == (one.p_value <= 1 - one.confidence + 1e-9))


def power(draw: Draw, deviation: float, comparisons: int, seed: int = 1) -> tuple[int, float]:
    """Return how many cases were planned for finding `DROP` with a power of 0.8, and how often they did."""
    random = Random(seed)
    cases = cases_needed(DROP, deviation, power=0.8)
    found = 0
    for _ in range(comparisons):
        worse = [draw(random, DROP) for _ in range(cases)]
        found += sum(worse) < 0 and sign_flip_test(worse, resamples=999, seed=random.getrandbits(32)) <= LEVEL
    return cases, found / comparisons


def plans() -> Iterator[tuple[str, Draw, float]]:
    """Builds to plan for: what they are, how they differ, and the deviation that a plan goes by."""
    for trials in (1, 5):
        rate, other = 1.5 / 2.2, 2.2 + 1
        within = rate * (1 - rate) * 2.2 / other  # the mean of p * (1 - p) over such cases
        yield f"flaky, {trials} trial(s)", flaky(trials), expected_deviation(DROP, within, trials)
    yield "scores", scores, sqrt(2 * (0.02**2 + 0.02 * 0.3 + 0.3**2) / 3)


def _print_fixed(comparisons: int) -> None:
    few = max(100, comparisons // 10)
    print(
        f"\n{'on these cases':42} {'regression':>10} {'improved':>9} {'contains':>9} {'one breaks':>11} {'-15 points':>11}"
    )
    for fixed in FIXED:
        same, breaks = on_these_cases(fixed, comparisons), on_these_cases(fixed, few, broken=1)
        falls = on_these_cases(fixed, few, 0.15)
        print(
            f"{fixed.name:42} {same.outcomes[Change.REGRESSION]:10.1%} {same.outcomes[Change.IMPROVEMENT]:9.1%} "
            f"{same.covered:9.1%} {breaks.outcomes[Change.REGRESSION]:11.1%} {falls.outcomes[Change.REGRESSION]:11.1%}",
            flush=True,
        )
    print(
        f"\n{'verdicts missing':42} {'at random':>10} {'where wrong':>12}   wrongly no difference or no regression"
    )
    for fixed in FIXED:
        broken = max(1, len(fixed.rates) * 2 // 5)
        shares = [
            on_these_cases(fixed, few, broken=broken, missing=share, where_wrong=wrong)
            for share, wrong in ((0.4, False), (1.0, True))
        ]
        green = [one.outcomes[Change.NO_DIFFERENCE] + one.outcomes[Change.NO_REGRESSION] for one in shares]
        print(f"{fixed.name:42} {green[0]:10.1%} {green[1]:12.1%}", flush=True)


def main(comparisons: int) -> None:
    """Print the tables."""
    low, high = (100 * share for share in wilson(round(LEVEL * comparisons), comparisons))
    print(f"{comparisons:,} comparisons each; 5 % would show as {low:.1f} to {high:.1f} %\n")
    print(f"{'model':46} {'false alarms':>12} {'95 % holds':>11} {'wrongly fine':>13}")
    for model in MODELS:
        found = simulate(model, comparisons)
        print(
            f"{model.name:46} {found.alarms:12.1%} {found.covered:11.1%} {found.wrongly_fine:13.1%}",
            flush=True,
        )
    print(
        f"\n{'whole runs, pass and fail and 3 metrics':46} {'regression':>12} {'improvement':>11} {'wrongly fine':>13}"
    )
    for build in BUILDS:
        same, worse = outcomes(build, comparisons), outcomes(build, max(100, comparisons // 10), DROP)
        print(
            f"{build.name:46} {same[Change.REGRESSION]:12.1%} {same[Change.IMPROVEMENT]:11.1%} "
            f"{worse[Change.NO_REGRESSION] + worse[Change.IMPROVEMENT]:13.1%}",
            flush=True,
        )
    _print_fixed(comparisons)
    print(f"\n{'a drop of 5 points':46} {'cases':>12} {'found':>11}")
    for name, draw, deviation in plans():
        cases, share = power(draw, deviation, max(100, comparisons // 10))
        print(f"{name:46} {cases:12,} {share:11.1%}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
