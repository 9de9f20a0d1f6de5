"""Whether runs of the size that `proctor plan` recommends find the drop as often as promised.

python -m benchmarks.planned_power [COMPARISONS]     400 a setting by default; the same figures every time

A run is drawn, the plan is made from it as from any run, and so many pairs of runs of that size are drawn and compared by
the code that compares runs: the base unchanged, the candidate worse by just the drop.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from proctor.analysis.compare.compare_cases import CompareOptions, compare_cases
from proctor.analysis.compare.sides import Side, side_cases
from proctor.analysis.power.plan import RunSizeRequest, Sample, TrialFigures, size_for
from proctor.schema.analysis.comparison import PASSED, Change, ComparedRun
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, TrialResult
from proctor.stats.intervals import wilson

SCORE = "score"


@dataclass(frozen=True, slots=True)
class Cases:
    """What cases are drawn: how probable it is that a trial of one passes, or what it scores on the mean."""

    draw: Callable[[Random], float]
    mean: float


MIXED = Cases(lambda random: random.betavariate(1.5, 0.7), 1.5 / 2.2)
FLAKY = Cases(lambda _: 0.7, 0.7)
STEADY = Cases(lambda random: float(random.random() < 0.9), 0.9)
NEARLY = Cases(lambda _: 0.97, 0.97)
ALWAYS = Cases(lambda _: 1.0, 1.0)
SCORED = Cases(lambda random: random.uniform(0.4, 0.9), 0.65)


@dataclass(frozen=True, slots=True)
class Setting:
    """What is planned for, and from what."""

    name: str
    drawn: Cases
    detect: float = 0.1
    trials: int = 1
    """Of a case, in the runs that are planned."""
    pilot: tuple[int, int] = (60, 4)
    """Cases and trials of the run that the plan is made from."""
    power: float = 0.8
    confidence: float = 0.95
    others: int = 0
    """Additional metrics that decide."""
    spread: float | None = None
    """Of a score: how far trials of one case lie apart; `None`: it is pass and fail."""
    everywhere: bool = False
    """Whether a drop of a score is a little of every case; else it breaks a few wholly. That of a pass rate is everywhere."""


SETTINGS = (
    Setting("mixed, 1 trial", MIXED),
    Setting("mixed, 5 trials", MIXED, trials=5),
    Setting("mixed, 3 trials, 20 points", MIXED, 0.2, 3),
    Setting("mixed, 3 trials, 5 points", MIXED, 0.05, 3),
    Setting("mixed, 1 trial, from 1 trial", MIXED, pilot=(60, 1)),
    Setting("mixed, 3 trials, from 10 cases x 2", MIXED, trials=3, pilot=(10, 2)),
    Setting("mixed, 3 trials, power 90 %", MIXED, trials=3, power=0.9),
    Setting("mixed, 3 trials, power 50 %", MIXED, trials=3, power=0.5),
    Setting("mixed, 3 trials, 99 % sure", MIXED, trials=3, confidence=0.99),
    Setting("mixed, 3 trials, 2 more metrics", MIXED, trials=3, others=2),
    Setting("flaky, 1 trial", FLAKY),
    Setting("flaky, 10 trials", FLAKY, trials=10),
    Setting("flaky, 3 trials, 30 points", FLAKY, 0.3, 3),
    Setting("steady, 1 trial", STEADY),
    Setting("steady, 3 trials, 5 points", STEADY, 0.05, 3),
    Setting("nearly always pass, 1 trial, 5 points", NEARLY, 0.05),
    Setting("nearly always pass, 5 trials", NEARLY, 0.1, 5),
    Setting("always pass, 1 trial, from 20 x 1", ALWAYS, 0.1, 1, (20, 1)),
    Setting("always pass, 5 trials, from 7 x 5", ALWAYS, 0.1, 5, (7, 5)),
    Setting("always pass, 5 trials, 20 points, from 7 x 5", ALWAYS, 0.2, 5, (7, 5)),
    Setting("scores, 1 trial", SCORED, 0.1, 1, spread=0.15),
    Setting("scores, 5 trials, 5 points", SCORED, 0.05, 5, spread=0.15),
    Setting("scores, 3 trials, everywhere", SCORED, 0.1, 3, spread=0.25, everywhere=True),
    Setting("scores, 1 trial, from 1 trial", SCORED, 0.1, 1, (60, 1), spread=0.15),
    Setting("scores that hardly differ, 3 trials", SCORED, 0.1, 3, spread=0.01),
)


def planned(setting: Setting, random: Random) -> int:
    """Return how many cases the plan asks for, from a run that is drawn."""
    cases, trials = setting.pilot
    drawn = [_trials(setting, setting.drawn.draw(random), trials, random) for _ in range(cases)]
    name = PASSED if setting.spread is None else SCORE
    others = setting.others + (setting.spread is not None)
    asked = RunSizeRequest(
        detect=setting.detect, power=setting.power, confidence=setting.confidence, trials=(setting.trials,)
    )
    return size_for(Sample(name, drawn, 1.0, True, others), asked, TrialFigures()).rows[0].cases


def found(setting: Setting, cases: int, random: Random) -> bool:
    """Draw two runs of so many cases, and return whether the drop was found."""
    rates = [setting.drawn.draw(random) for _ in range(cases)]
    worse = [_worse(setting, rate, random) for rate in rates]
    base, candidate = (
        [_case(setting, number, rate, random) for number, rate in enumerate(each)] for each in (rates, worse)
    )
    run = ComparedRun("", "drawn", cases, setting.trials)
    options = CompareOptions(confidence=setting.confidence, ranges={SCORE: (0.0, 1.0)})
    compared = compare_cases(Side(run, [*side_cases(base)]), Side(run, [*side_cases(candidate)]), options)
    if setting.spread is None:
        return compared.outcome is Change.REGRESSION
    return compared.measure(SCORE).verdict == "worse"


def _worse(setting: Setting, rate: float, random: Random) -> float:
    """The pass rates of cases in a worse candidate: the whole rate is lost in a few, or a part of it in each."""
    share = setting.detect / setting.drawn.mean
    if setting.everywhere or setting.spread is None:
        return rate * (1 - share)
    return 0.0 if random.random() < share else rate


def _trials(setting: Setting, rate: float, trials: int, random: Random) -> list[float]:
    if setting.spread is None or not rate:
        return [float(random.random() < rate) for _ in range(trials)]
    return [min(1.0, max(0.0, random.gauss(rate, setting.spread))) for _ in range(trials)]


def _case(setting: Setting, number: int, rate: float, random: Random) -> tuple[str, CaseResult]:
    values = _trials(setting, rate, setting.trials, random)
    others = [f"other {each}" for each in range(setting.others)]
    metrics = {name: MetricVerdict(name, Outcome.PASSED, random.random(), 0.5) for name in others}
    if setting.spread is not None:
        metrics[SCORE] = MetricVerdict(SCORE, Outcome.PASSED, sum(values) / len(values), 0.5)
        values = [1.0] * len(values)
    return "", CaseResult(
        "set", str(number), Outcome.PASSED, metrics=metrics, trials=[_ENDS[value] for value in values]
    )


_ENDS = {
    1.0: TrialResult(0, Outcome.PASSED, evidence=None),
    0.0: TrialResult(0, Outcome.FAILED, evidence=None),
}


@dataclass(frozen=True, slots=True)
class Power:
    """The result of a setting: planned cases (the mean of the plans), and the share of drops found."""

    cases: float
    share: float


def power(setting: Setting, comparisons: int, seed: int = 1) -> Power:
    """Make a plan for every ten comparisons, each from another run, and return how often the drop is found."""
    random = Random(f"{setting.name} {seed}")
    sizes = [planned(setting, random) for _ in range(max(1, comparisons // 10))]
    hits = sum(found(setting, size, random) for size in sizes for _ in range(10))
    return Power(sum(sizes) / len(sizes), hits / (10 * len(sizes)))


def main(comparisons: int) -> None:
    """Print the table."""
    print(f"{comparisons:,} comparisons each\n")
    print(f"{'setting':42} {'drop':>6} {'cases':>8} {'promised':>9} {'found':>8}")
    for setting in SETTINGS:
        one = power(setting, comparisons)
        low, high = wilson(round(one.share * comparisons), comparisons)
        note = "" if high >= setting.power else "  missed"
        print(
            f"{setting.name:42} {setting.detect:6.2f} {one.cases:8,.0f} {setting.power:9.0%} {one.share:8.1%}"
            f" ({low:.0%} to {high:.0%}){note}",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
