"""How large a run must be to see a drop of a given size, from the variance of a run that is there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, comb, fsum, log2

from proctor.analysis.compare.compare import share_of
from proctor.schema.analysis.comparison import PASSED
from proctor.schema.analysis.power_plan import MeasureSize, SizeRow
from proctor.stats.power import cases_needed, expected_deviation, variance_within

MOST_TRIALS = 50
"""Trials of a case beyond which more of them are not proposed."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What one run knows of one thing that is measured."""

    name: str
    cases: Sequence[Sequence[float]]
    """The values of the trials, case by case; no case without a trial."""
    reach: float
    """How far the values of two trials can lie apart."""
    decides: bool
    others: int
    """The number of metrics that decide in addition to pass and fail."""
    doubts: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeAsked:
    """What is to be seen, and how surely."""

    detect: float
    power: float
    confidence: float
    trials: Sequence[int]
    """The numbers of trials of a case to plan for."""


@dataclass(frozen=True, slots=True)
class TrialTook:
    """What one trial of the run took, on the mean; `None`: not known."""

    cost: float | None = None
    seconds: float | None = None


def size_for(sample: Sample, asked: SizeAsked, took: TrialTook) -> MeasureSize:
    """Return what it takes to see a drop of `asked.detect` with the power asked for.

    Two runs of the same cases are paired, so that how cases differ from one another does not matter; what matters is how
    the trials of one case differ, and that a drop hits some cases and not others (`expected_deviation`: it breaks a few
    wholly). The level is that which the outcome of a comparison gives the measure among all that decide.
    """
    level = (1 - asked.confidence) * (share_of(sample.name, sample.others) if sample.decides else 1.0)
    within, notes = _within(sample)
    means = [fsum(values) / len(values) for values in sample.cases]
    mean = fsum(means) / len(means)
    spread = fsum((each - mean) ** 2 for each in means) / max(1, len(means) - 1)
    trials = max(1, round(fsum(map(len, sample.cases)) / len(means)))
    need = _Need(within, sample.reach, level, asked.power)
    rows = [_row(need, asked.detect, count, took) for count in asked.trials]
    return MeasureSize(
        sample.name, mean, asked.detect, within, max(0.0, spread - within / trials), level, rows,
        detectable=need.smallest(len(means), trials),
        more_trials=next(need.trials_for(asked.detect, len(means)), None),
        notes=[*sample.doubts, *notes],
    )  # fmt: skip


def _row(need: _Need, detect: float, trials: int, took: TrialTook) -> SizeRow:
    cases = need.cases(detect, trials)
    total = cases * trials
    cost = None if took.cost is None else took.cost * total
    return SizeRow(trials, cases, total, cost, None if took.seconds is None else took.seconds * total)


@dataclass(frozen=True, slots=True)
class _Need:
    """What the size rests on."""

    within: float
    reach: float
    level: float
    power: float

    def cases(self, detect: float, trials: int) -> int:
        """How many cases it takes with so many trials of each."""
        deviation = expected_deviation(detect, self.within, trials, reach=self.reach)
        by_spread = cases_needed(detect, deviation, power=self.power, confidence=1 - self.level)
        return max(by_spread, self._enough_to_break(detect / self.reach))

    def _enough_to_break(self, share: float) -> int:
        """How many cases it takes so that enough of them break to be significant by themselves."""
        fewest = ceil(1 - log2(self.level))
        if share >= 1:
            return fewest
        low, high = fewest, 2 * fewest
        while _at_least(fewest, high, share) < self.power:
            low, high = high, 2 * high
        while low < high:
            middle = (low + high) // 2
            low, high = (
                (low, middle) if _at_least(fewest, middle, share) >= self.power else (middle + 1, high)
            )
        return low

    def smallest(self, cases: int, trials: int) -> float | None:
        """The smallest drop that so many cases find; `None` where not even the largest is found."""
        low, high = 0.0, self.reach
        if self.cases(high, trials) > cases:
            return None
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (low, middle) if self.cases(middle, trials) <= cases else (middle, high)
            if high - low < 1e-4 * self.reach:
                break
        return high

    def trials_for(self, detect: float, cases: int) -> Iterator[int]:
        """Trials of each of so many cases that find a drop, from the fewest on."""
        return (count for count in range(1, MOST_TRIALS + 1) if self.cases(detect, count) <= cases)


def _at_least(fewest: int, cases: int, share: float) -> float:
    """The probability that of so many cases, each broken with a probability of `share`, enough are."""
    return 1 - fsum(comb(cases, k) * share**k * (1 - share) ** (cases - k) for k in range(fewest))


def _within(sample: Sample) -> tuple[float, list[str]]:
    """The variance of trials of one case, and what had to be assumed."""
    values = [value for case in sample.cases for value in case]
    seen = variance_within(sample.cases)
    if sample.name == PASSED:
        return _within_of_passes(sample.cases, values, seen)
    if seen is not None:
        note = "no trial scored differently from another of its case: the plan assumes that none ever will"
        return seen, [note] if not seen else []
    mean = fsum(values) / len(values)
    whole = fsum((value - mean) ** 2 for value in values) / max(1, len(values) - 1)
    if len(values) == 1:
        return sample.reach**2 / 4, [
            f"{_ONE_TRIAL}, and one case nothing else: the most that there can be is assumed"
        ]
    return whole, [f"{_ONE_TRIAL}: the whole variance over cases is assumed, which is likely to be more"]


_ONE_TRIAL = "with one trial a case, the variance of its trials is unknown"


def _within_of_passes(
    cases: Sequence[Sequence[float]], values: Sequence[float], seen: float | None
) -> tuple[float, list[str]]:
    """Of pass and fail: as if one more pair of trials had differed, because trials that were equal so far may still differ."""
    degrees = sum(len(case) - 1 for case in cases)
    rate = (fsum(values) + 1) / (len(values) + 2)
    most = rate * (1 - rate)
    if seen is None:
        return most, [f"{_ONE_TRIAL}: all cases are taken for alike, which is the most that there can be"]
    within = min((seen * degrees + 0.5) / (degrees + 1), most)
    note = "no case was flaky: the plan assumes that one more pair of trials would have differed"
    return within, [note] if not seen else []


def how_much(name: str, size: float) -> str:
    """Return a drop in words: `5 points in the pass rate`, `0.1 in response_match_score`."""
    if name == PASSED:
        points = f"{100 * size:.3g}"
        return f"{points} point{'' if points == '1' else 's'} in the pass rate"
    return f"{size:.2g} in {name}"


def sentence_of(one: MeasureSize, cases: int, trials: int, power: float) -> str:
    """Return the drop that the run detects, and the sizes that detect more."""
    run = f"{cases:,} case{'' if cases == 1 else 's'} x {trials:,} trial{'' if trials == 1 else 's'}"
    sure = f"with a power of {100 * power:g} %"
    drop = how_much(one.name, one.detect)
    if one.detectable is not None and one.detectable <= one.detect:
        least = how_much(one.name, one.detectable).partition(" in ")[0]
        return f"{run} are enough: they find a drop of {drop} {sure} (from {least} on)"
    finds = (
        f"find a drop only from {how_much(one.name, one.detectable).partition(' in ')[0]} on"
        if one.detectable is not None
        else "find no drop, however large"
    )
    cheapest = min(one.rows, key=lambda row: (row.cases > cases, row.total, row.trials))
    if one.more_trials is not None:
        way = f"{one.more_trials:,} trials of each of these cases"
    else:
        way = f"{cheapest.cases:,} cases x {cheapest.trials:,} trial{'' if cheapest.trials == 1 else 's'}"
    return f"{run} {finds} {sure}; for a drop of {drop} it takes {way}"
