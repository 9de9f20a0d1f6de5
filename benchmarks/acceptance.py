"""How often the gate for searches accepts a candidate that is not better, and which improvements it finds.

python -m benchmarks.acceptance [SEARCHES]      1,000 by default; the same figures every time

A search tests as many candidates on one held-out set as its budget has looks. The cases are drawn from a population, in which no
candidate is better than its baseline; a search is wrong if any of them is accepted.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from proctor.analysis.acceptance.accept_candidate import is_proven
from proctor.analysis.compare.compare_cases import CompareOptions, compare_cases
from proctor.analysis.compare.measures import PairedScore, by_case
from proctor.analysis.compare.sides import Side, side_cases
from proctor.schema.analysis.comparison import ComparedRun
from proctor.schema.results.run_result import CaseResult, Outcome, TrialResult
from proctor.stats.intervals import wilson

ALPHA, BUDGET = 0.05, 20
"""The defaults of `accept_candidate`."""

Passes = Sequence[int]
"""The number of trials that passed, by case."""
Look = tuple[Passes, Passes]
"""Baseline and candidate."""


@dataclass(frozen=True, slots=True)
class Search:
    """A search on a held-out set of so many cases, with so many trials each."""

    name: str
    cases: int
    trials: int
    looks: Callable[[Search, Random, int], Iterator[Look]]
    """The looks of one search, of which no candidate is better in the population."""


def flaky(search: Search, random: Random, budget: int) -> Iterator[Look]:
    """Candidates that do the same as the baseline; most cases are flaky."""
    rates = [random.betavariate(1.5, 0.7) for _ in range(search.cases)]
    for _ in range(budget):
        yield _trials(random, rates, search.trials), _trials(random, rates, search.trials)


def changing(share: float) -> Callable[[Search, Random, int], Iterator[Look]]:
    """Candidates that answer a share of the cases otherwise, half of these better; always alike in all trials."""

    def looks(search: Search, random: Random, budget: int) -> Iterator[Look]:
        before = [random.random() < 0.5 for _ in range(search.cases)]
        for _ in range(budget):
            now = [passes ^ (random.random() < share) for passes in before]
            yield [search.trials * one for one in before], [search.trials * one for one in now]

    return looks


def breaking_few(search: Search, random: Random, budget: int) -> Iterator[Look]:
    """Candidates that improve most cases by a little and break 7 % of them."""
    for _ in range(budget):
        broken = [random.random() < 0.07 for _ in range(search.cases)]
        rates = [0.0 if one else 0.7 + 0.7 * 0.07 / 0.93 for one in broken]
        yield _trials(random, [0.7] * search.cases, search.trials), _trials(random, rates, search.trials)


def adopting(search: Search, random: Random, budget: int) -> Iterator[Look]:
    """Half of the candidates repair 40 % of the failing cases, and are adopted if they are accepted.

    The other half, which alone is counted, changes cases so that the pass rate of the population stays. The search receives
    only whether a candidate was accepted.
    """
    rate = 0.3
    before = [random.random() < rate for _ in range(search.cases)]
    for look in range(budget):
        if look % 2:
            repaired = [one or random.random() < 0.4 for one in before]
            if _is_accepted(before, repaired, search.trials):
                before, rate = repaired, rate + 0.4 * (1 - rate)
        else:
            chances = 0.4 * rate, 1 - 0.4 * (1 - rate)  # of a case that failed, and of one that passed
            yield before, [random.random() < chances[one] for one in before]


SEARCHES = (
    Search("30 cases x 3, flaky, equal candidates", 30, 3, flaky),
    Search("30 cases x 1, a fifth changes", 30, 1, changing(0.2)),
    Search("30 cases x 1, half changes", 30, 1, changing(0.5)),
    Search("100 cases x 1, a fifth changes", 100, 1, changing(0.2)),
    Search("30 cases x 5, most better, few broken", 30, 5, breaking_few),
    Search("100 cases x 5, most better, few broken", 100, 5, breaking_few),
    Search("60 cases x 1, adopts what is accepted", 60, 1, adopting),
)


def wrong_searches(
    search: Search, searches: int, *, alpha: float = ALPHA, budget: int = BUDGET, seed: int = 1
) -> int:
    """Return how many searches accept a candidate that is not better."""
    wrong = 0
    for number in range(searches):
        looks = search.looks(search, Random(f"{search.name} {seed} {number}"), BUDGET)
        wrong += any(_is_accepted(*look, search.trials, alpha / budget) for look in looks)
    return wrong


def accepted_share(cases: int, gain: float, looks: int, budget: int = BUDGET, seed: int = 1) -> float:
    """Return how often one look accepts a candidate that is better by `gain`: it repairs so many more cases than the 2 % that it breaks."""
    random, accepted = Random(f"{cases} {gain} {seed}"), 0
    for _ in range(looks):
        changes = random.choices((1, -1, 0), (gain + 0.02, 0.02, 0.96 - gain), k=cases)
        before = [int(one < 0 or (not one and random.random() < 0.5)) for one in changes]
        now = [each + one for each, one in zip(before, changes, strict=True)]
        accepted += _is_accepted(before, now, 1, ALPHA / budget)
    return accepted / looks


def _is_accepted(before: Passes, now: Passes, trials: int, level: float = ALPHA / BUDGET) -> bool:
    rates = [
        PairedScore(was / trials, is_now / trials, trials, trials)
        for was, is_now in zip(before, now, strict=True)
    ]
    if (
        sum(now) <= sum(before) or by_case(rates, level, 1.0).low <= 0
    ):  # the part of the comparison that decides most looks
        return False
    sides = [
        Side(
            ComparedRun("", "drawn", len(passes), trials),
            [*side_cases(_case(*one, trials) for one in enumerate(passes))],
        )
        for passes in (before, now)
    ]
    return is_proven(compare_cases(sides[0], sides[1], CompareOptions(confidence=1 - level)))


def _case(number: int, passed: int, trials: int) -> tuple[str, CaseResult]:
    outcome = Outcome.PASSED if passed == trials else Outcome.FAILED
    return "", CaseResult(
        "set", str(number), outcome, trials=[_PASSED] * passed + [_FAILED] * (trials - passed)
    )


_PASSED = TrialResult(0, Outcome.PASSED, evidence=None)
_FAILED = TrialResult(0, Outcome.FAILED, evidence=None)


def _trials(random: Random, rates: Sequence[float], trials: int) -> Passes:
    return [sum(random.random() < rate for _ in range(trials)) for rate in rates]


def main(searches: int) -> None:
    """Print the tables."""
    low, high = (100 * share for share in wilson(round(ALPHA * searches), searches))
    print(f"{searches:,} searches of {BUDGET} looks each; 5 % would show as {low:.1f} to {high:.1f} %\n")
    print(f"{'searches that accept what is not better':44} {'with the gate':>14} {'each look at 5 %':>17}")
    for search in SEARCHES:
        gated, single = (wrong_searches(search, searches, budget=budget) / searches for budget in (BUDGET, 1))
        print(f"{search.name:44} {gated:14.1%} {single:17.1%}", flush=True)
    gains = (0.1, 0.2, 0.3, 0.4)
    print(
        f"\n{'accepted at one look, by the true gain':44}"
        + "".join(f"{100 * gain:>8.0f} pts" for gain in gains)
    )
    for cases in (20, 30, 50, 100, 200):
        shares = [accepted_share(cases, gain, max(100, searches // 5)) for gain in gains]
        print(
            f"{f'{cases} held-out cases x 1':44}" + "".join(f"{share:12.0%}" for share in shares), flush=True
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)
