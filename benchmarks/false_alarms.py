"""How often comparisons of two builds are wrong: null comparisons, real drops, and what the intervals hold.

python -m benchmarks.false_alarms [COMPARISONS] [TABLE]...      2,000 comparisons and all tables by default; the same figures every time

Two builds are drawn as cases with trials, from models of how agents behave: cases of mixed difficulty, flaky ones,
trials that resemble each other, scores; and whole runs with several metrics, compared as `proctor compare` does.
The tables: general, exact, runs, plans (here), and level, alike, one_case, missing, few_missing, power,
small_sets (`fixed_cases`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from random import Random

from proctor.analysis.compare.compare_cases import CompareOptions, compare_cases
from proctor.analysis.compare.measures import PairedScore, by_case, lower_bound
from proctor.analysis.compare.sides import Side, side_cases
from proctor.schema.analysis.comparison import Change, ComparedRun
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, TrialResult
from proctor.stats.intervals import binomial_probability, wilson
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


def zero_inflated(random: Random, drop: float) -> float:
    """Scores of which nine in ten are the same in both runs, and the others are far apart; a drop takes all of a few cases."""
    change = random.gauss(0.0, 0.4) if random.random() < 0.1 else 0.0
    return -1.0 if random.random() < drop else change


MODELS = (
    Model("pass or fail, 1 trial, flaky, 10 cases", 10, flaky(1)),
    Model("pass or fail, 1 trial, flaky, 50 cases", 50, flaky(1)),
    Model("pass or fail, 1 trial, flaky, 300 cases", 300, flaky(1)),
    Model("pass or fail, 1 trial, steady, 100 cases", 100, steady),
    Model("pass or fail, 5 trials, flaky, 30 cases", 30, flaky(5)),
    Model("pass or fail, 10 trials, flaky, 30 cases", 30, flaky(10)),
    Model("pass or fail, 5 trials, clustered, 40 cases", 40, clustered),
    Model("scores, 12 cases", 12, scores, None),
    Model("scores, 60 cases", 60, scores, None),
    Model("scores, zero-inflated, 60 cases", 60, zero_inflated),
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
    """"Not worse by more than the margin", where it is worse by exactly the margin; 0 for scores, of which nothing such is said."""


def simulate(model: Model, comparisons: int, seed: int = 1) -> Rates:
    """Draw so many comparisons of builds that do the same, and of builds of which one is worse by `DROP`."""
    random = Random(f"{model.name} {seed}")
    alarms = covered = fine = 0
    for _ in range(comparisons):
        same = by_case(_drawn(model, random, 0.0), LEVEL, model.reach)
        alarms += same.high < 0 or same.low > 0
        worse = _drawn(model, random, DROP)
        found = by_case(worse, LEVEL, model.reach)
        covered += found.low <= -DROP <= found.high
        fine += model.reach is not None and lower_bound(worse, LEVEL, DROP) >= -DROP
    return Rates(comparisons, alarms / comparisons, covered / comparisons, fine / comparisons)


def _drawn(model: Model, random: Random, drop: float) -> list[PairedScore]:
    return [PairedScore(0.0, model.draw(random, drop), 1, 1) for _ in range(model.cases)]


def exactly_wrong(cases: int, gained: float, lost: float) -> float:
    """Return the probability of "no regression" for single trials, each case gained or lost with these probabilities."""
    chances = []
    for wins in range(cases + 1):
        most = min(
            cases - wins, int(wins + DROP * cases)
        )  # with more losses the difference is beyond the margin
        for losses in range(most + 1):
            chance = binomial_probability(wins, cases, gained) * binomial_probability(
                losses, cases - wins, lost / (1 - gained)
            )
            if chance > 1e-7 and _rules_out(wins, losses, cases - wins - losses):
                chances.append(chance)
    return fsum(chances)


def _rules_out(wins: int, losses: int, unchanged: int) -> bool:
    differences = [1.0] * wins + [-1.0] * losses + [0.0] * unchanged
    return lower_bound([PairedScore(0.0, one, 1, 1) for one in differences], LEVEL, DROP) >= -DROP


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
    scores: str = ""
    """How the scores of all metrics are distributed: `skewed`, `zero-inflated`; empty: by whether the trial passes."""

    def rate(self, random: Random) -> float:
        """How many of a case's trials pass."""
        return random.betavariate(4, 1.5) if self.easy is None else self.easy


BUILDS = (
    Build("20 cases, 1 trial, 3 metrics", 20, 1),
    Build("40 cases, 3 trials, 3 metrics", 40, 3),
    Build("100 cases, 1 trial, 3 metrics", 100, 1),
    Build("30 cases, 5 trials, 3 skewed metrics", 30, 5, scores="skewed"),
    Build("30 cases, 5 trials, 3 zero-inflated metrics", 30, 5, scores="zero-inflated"),
    Build("20 cases, 10 trials, then 1, 3 metrics", 20, 10, 1),
    Build("20 flaky cases, 10 trials, then 1", 20, 10, 1, 0.9),
    Build("20 flaky cases, 1 trial, then 10", 20, 1, 10, 0.9),
)


def outcomes(
    build: Build, comparisons: int, drop: float = 0.0, seed: int = 1, *, generalize: bool = False
) -> dict[Change, float]:
    """Draw so many comparisons by what whole runs come to, and return the share of each outcome.

    The candidate's pass rate is lower by `drop`: so many of the cases that pass break wholly.
    """
    random = Random(f"{build.name} {drop} {seed}")
    found = dict.fromkeys(Change, 0)
    for _ in range(comparisons):
        easy = [build.rate(random) for _ in range(build.cases)]
        base = [_case(random, number, rate, build.trials, build.scores) for number, rate in enumerate(easy)]
        broken = [0.0 if random.random() < drop / (build.easy or _PASSES) else rate for rate in easy]
        trials = build.trials_now or build.trials
        now = [_case(random, number, rate, trials, build.scores) for number, rate in enumerate(broken)]
        before, after = (
            Side(ComparedRun("", "drawn", build.cases, build.trials), [*side_cases(cases)])
            for cases in (base, now)
        )
        options = CompareOptions(ranges=dict.fromkeys(METRICS, (0.0, 1.0)), generalize=generalize)
        found[compare_cases(before, after, options).outcome] += 1
    return {one: count / comparisons for one, count in found.items()}


_PASSES = 4 / 5.5
"""Share of the trials that pass where cases are of mixed difficulty."""


def _case(random: Random, number: int, rate: float, trials: int, distribution: str) -> tuple[str, CaseResult]:
    passes = [random.random() < rate for _ in range(trials)]
    scores = {name: [_score(random, name, one, distribution) for one in passes] for name in METRICS}
    metrics = {
        name: MetricVerdict(name, Outcome.PASSED, sum(values) / trials, 0.5)
        for name, values in scores.items()
    }
    outcome = Outcome.PASSED if all(passes) else Outcome.FAILED
    return "", CaseResult("set", str(number), outcome, metrics=metrics, trials=[_ENDS[one] for one in passes])


def _score(random: Random, name: str, passes: bool, distribution: str) -> float:  # noqa: FBT001 - one trial's end
    if distribution == "skewed":
        return random.betavariate(5, 0.3) if passes else random.betavariate(0.5, 2)
    if distribution == "zero-inflated":
        return random.betavariate(2, 2) if random.random() < 0.1 else 0.0
    if name == "trajectory":
        return 1.0 if passes else random.choice((0.0, 0.5, 1.0))
    mean, spread = {"answer": (0.85 if passes else 0.5, 0.15)}.get(name, (0.7, 0.2))
    return min(1.0, max(0.0, random.gauss(mean, spread)))


_ENDS = {
    True: TrialResult(0, Outcome.PASSED, evidence=None),
    False: TrialResult(0, Outcome.FAILED, evidence=None),
}


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


def print_general(comparisons: int) -> None:
    """Print how often the answer in general is wrong."""
    print(f"{'in general':46} {'false alarms':>12} {'95 % holds':>11} {'wrongly fine':>13}")
    for model in MODELS:
        found = simulate(model, comparisons)
        print(
            f"{model.name:46} {found.alarms:12.1%} {found.covered:11.1%} {found.wrongly_fine:13.1%}",
            flush=True,
        )


def print_exact(_comparisons: int) -> None:
    """Print how often "no regression" is wrong with single trials of cases that gain, and are lost, with a fixed probability."""
    shares = (0.001, 0.0085, 0.02, 0.05, 0.1, 0.2)
    print(
        f"{'single trials, wrongly fine; gained in':46} {' '.join(f'{share:7.2%}' for share in shares)}   and equal builds"
    )
    for cases in (30, 60, 80, 100, 200, 300):
        rows = [(exactly_wrong(cases, one, one + DROP), exactly_wrong(cases, one, one)) for one in shares]
        texts = [" ".join(f"{row[place]:7.1%}" for row in rows) for place in (0, 1)]
        print(f"{f'{cases} cases':46} {texts[0]}   {texts[1]}", flush=True)


def print_runs(comparisons: int) -> None:
    """Print the outcomes of whole runs with metrics."""
    print(
        f"{'whole runs, pass and fail and 3 metrics':46} {'regression':>12} {'improvement':>11} {'--generalize':>13} {'wrongly fine':>13}"
    )
    for build in BUILDS:
        same, worse = outcomes(build, comparisons), outcomes(build, comparisons, DROP)
        general = outcomes(build, comparisons, generalize=True)
        print(
            f"{build.name:46} {same[Change.REGRESSION]:12.1%} {same[Change.IMPROVEMENT]:11.1%} {general[Change.REGRESSION]:13.1%} "
            f"{worse[Change.NO_REGRESSION] + worse[Change.IMPROVEMENT]:13.1%}",
            flush=True,
        )


def print_plans(comparisons: int) -> None:
    """Print how often a plan finds what it is for."""
    print(f"{'a drop of 5 points':46} {'cases':>12} {'found':>11}")
    for name, draw, deviation in plans():
        cases, share = power(draw, deviation, max(100, comparisons // 10))
        print(f"{name:46} {cases:12,} {share:11.1%}", flush=True)


def main(comparisons: int, names: Sequence[str]) -> None:
    """Print the tables."""
    from benchmarks import fixed_cases

    tables = {
        "general": print_general,
        "exact": print_exact,
        "runs": print_runs,
        "plans": print_plans,
        "level": fixed_cases.print_level,
        "alike": fixed_cases.print_alike,
        "one_case": fixed_cases.print_one_case,
        "missing": fixed_cases.print_missing,
        "few_missing": fixed_cases.print_few_missing,
        "power": fixed_cases.print_power,
        "small_sets": fixed_cases.print_small_sets,
    }
    low, high = (100 * share for share in wilson(round(LEVEL * comparisons), comparisons))
    print(f"{comparisons:,} comparisons each; 5 % would show as {low:.1f} to {high:.1f} %")
    for name in names or tables:
        print()
        tables[name](comparisons)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000, sys.argv[2:])
