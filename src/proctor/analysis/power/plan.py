"""How large a run must be to notice a drop, by the variance of a stored run."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from math import ceil, fsum, isfinite
from typing import TYPE_CHECKING

from proctor.analysis.compare.compare_runs import score_ranges
from proctor.analysis.compare.error_rates import detectable_case_rate, divide_error
from proctor.common.safe_text import count_text
from proctor.errors import SetupError, SetupProblems, UnknownNameError, did_you_mean
from proctor.reports.content.summary import percent, rounded
from proctor.runs.attempts import find_current_run
from proctor.runs.run_differences import manifest_of_result
from proctor.runs.storage.open import StoreLike, is_open, open_runs
from proctor.schema.analysis.comparison import PASSED
from proctor.schema.analysis.power_plan import MeasureSize, RunSize, SizeRow
from proctor.schema.results.manifest import ScoringManifest, counting
from proctor.schema.results.model_usage import trial_cost
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, RunResult
from proctor.schema.results.score import is_score
from proctor.stats.power import (
    ScoreSize,
    Size,
    pass_rate_size,
    smallest_drop,
    trials_for,
    variance_of_passes,
    variance_within,
)
from proctor.stats.unequal_counts import TwoCounts

if TYPE_CHECKING:
    from proctor.stores.base import Store


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
    warnings: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSizeRequest:
    """What is to be seen, and how surely."""

    detect: float
    power: float
    confidence: float
    trials: Sequence[int]
    """The numbers of trials of a case to plan for."""


@dataclass(frozen=True, slots=True)
class TrialFigures:
    """What one trial of the run took, on the mean; `None`: not known."""

    cost: float | None = None
    seconds: float | None = None


def _level(sample: Sample, confidence: float) -> float:
    """Return the two-sided level at which a comparison tests the measure: the set's pass rate, or a metric with correction."""
    budget = divide_error(1 - confidence)
    if not sample.decides:
        return 1 - confidence
    return 2 * (budget.overall if sample.name == PASSED else budget.metrics / max(1, sample.others))


def size_for(sample: Sample, request: RunSizeRequest, took: TrialFigures) -> MeasureSize:
    """Return what it takes to notice a drop of `asked.detect` with the power asked for.

    Two runs of the same cases are paired, so that how cases differ from one another does not matter; what matters is how
    the trials of one case differ. The tests and levels are those of the outcome of a comparison. The pass rate is that of
    these cases (`PassRateSize`), a metric that of cases like these (`ScoreSize`).
    """
    level = _level(sample, request.confidence)
    within, notes = _within(sample)
    means = [fsum(values) / len(values) for values in sample.cases]
    mean = fsum(means) / len(means)
    spread = fsum((each - mean) ** 2 for each in means) / max(1, len(means) - 1)
    trials = max(1, round(fsum(map(len, sample.cases)) / len(means)))
    between = max(0.0, spread - within / trials)
    is_rate = sample.name == PASSED
    size: Size = ScoreSize(within, sample.reach, level, request.power)
    if is_rate:
        size = pass_rate_size(sample.cases, level=level, power=request.power)
    return MeasureSize(
        sample.name, mean, request.detect, within, between, level,
        [_row(size, request.detect, count, took) for count in request.trials],
        detectable=smallest_drop(size, len(means), trials),
        more_trials=next(trials_for(size, request.detect, len(means)), None),
        notes=[*sample.warnings, *notes],
        more_cases=size.cases(request.detect, trials),
        case_rate=_case_rate(sample.cases, trials, request) if is_rate else None,
    )  # fmt: skip


def _case_rate(cases: Sequence[Sequence[float]], trials: int, request: RunSizeRequest) -> float | None:
    """Return the pass rate to which one case may drop from 100 % and be noticed by itself.

    It is tested with correction for the others that are flaky: any of these could fall completely by chance.
    """
    steady, fallen = TwoCounts(trials, trials, trials, trials), TwoCounts(trials, trials, 0, trials)
    others = [fallen if 0 < sum(case) < len(case) else steady for case in cases[1:]]
    return detectable_case_rate(
        [steady, *others], level=divide_error(1 - request.confidence).cases, power=request.power
    )


def _row(size: Size, detect: float, trials: int, took: TrialFigures) -> SizeRow:
    cases = size.cases(detect, trials)
    total = cases * trials
    cost = None if took.cost is None else took.cost * total
    return SizeRow(trials, cases, total, cost, None if took.seconds is None else took.seconds * total)


def _within(sample: Sample) -> tuple[float, list[str]]:
    """The variance of trials of one case, and what had to be assumed."""
    values = [value for case in sample.cases for value in case]
    variance = variance_within(sample.cases)
    if sample.name == PASSED:
        return variance_of_passes(sample.cases), _notes_on_passes(variance)
    if variance is not None:
        note = "no trial scored differently from another of its case: the plan assumes that none ever will"
        return variance, [note] if not variance else []
    mean = fsum(values) / len(values)
    whole = fsum((value - mean) ** 2 for value in values) / max(1, len(values) - 1)
    if len(values) == 1:
        return sample.reach**2 / 4, [
            f"{_ONE_TRIAL}, and one case nothing else: the most that there can be is assumed"
        ]
    return whole, [f"{_ONE_TRIAL}: the whole variance over cases is assumed, which is likely to be more"]


_ONE_TRIAL = "with one trial a case, the variance of its trials is unknown"


def _notes_on_passes(variance: float | None) -> list[str]:
    if variance is None:
        return [f"{_ONE_TRIAL}: all cases are taken for alike, which is the most that there can be"]
    note = "no case was flaky: the plan assumes that one more pair of trials would have differed"
    return [note] if not variance else []


def measure_sentence(one: MeasureSize, cases: int, trials: int, power: float) -> str:
    """Return what a comparison of two such runs notices, and what it takes to notice the drop that was asked for."""
    run = f"with {_run_text(cases, trials)}"
    sure = f"in {100 * power:.3g} % of comparisons"
    overall = one.detectable
    drops = []
    if one.case_rate is not None:
        drops.append(f"a case that drops from 100 % to {percent(one.case_rate)} %")
    if overall is not None:
        drops.append(_drop_text(one.name, overall))
    if not drops:
        notices = f"{run} you will notice no drop, however large"
    else:
        notices = f"{run} you will notice {', and '.join(drops)} ({sure})"
    if overall is not None and overall <= one.detect:
        return f"{notices}: enough for {_size_text(one.name, one.detect)}"
    ways = [f"{one.more_trials:,} trials of each of these cases"] if one.more_trials is not None else []
    ways.append(_run_text(one.more_cases, trials))
    return f"{notices}; to notice {_size_text(one.name, one.detect)} you need {' or '.join(ways)}"


def _run_text(cases: int, trials: int) -> str:
    return f"{count_text(cases, 'case')} x {count_text(trials, 'trial')}"


def _drop_text(name: str, size: float) -> str:
    if name == PASSED:
        return f"an overall drop of {_size_text(name, ceil(100 * size) / 100)}"
    return f"a drop of {_size_text(name, size)}"


def _size_text(name: str, size: float) -> str:
    """Return a drop in words: `5 points`, `0.1 in response_match_score`."""
    if name == PASSED:
        points = f"{100 * size:.3g}"
        return f"{points} point{'' if points == '1' else 's'}"
    return f"{rounded(size, 2)} in {name}"


TRIALS = (1, 2, 3, 5, 10)
"""The default numbers of trials of a case."""
_MOST_TRIALS = 10_000


async def plan(
    run: str | RunResult = "latest",
    *,
    detect: float = 0.05,
    power: float = 0.8,
    confidence: float = 0.95,
    trials: Sequence[int] = TRIALS,
    metrics: Sequence[str] = (),
    store: StoreLike = None,
) -> RunSize:
    """Compute how many cases and trials detect a drop; `plan_sync` documents the arguments."""
    return await asyncio.to_thread(
        plan_sync,
        run,
        detect=detect,
        power=power,
        confidence=confidence,
        trials=trials,
        metrics=metrics,
        store=store,
    )


def plan_sync(
    run: str | RunResult = "latest",
    *,
    detect: float = 0.05,
    power: float = 0.8,
    confidence: float = 0.95,
    trials: Sequence[int] = TRIALS,
    metrics: Sequence[str] = (),
    store: StoreLike = None,
) -> RunSize:
    """Compute how many cases, each with how many trials, detect a drop between two runs, by the variance of one run.

    `run` is a result, or the name of a run in `store` as `compare` takes it. `detect` is the drop in the pass rate (0.05:
    5 points), or of each of `metrics` in its own units; `power` the probability of finding it, `confidence` that with
    which two builds that do the same are not called worse. `trials` are the numbers of trials of a case to plan for.

    Sources: see `proctor.stats.power`.

    Raises:
        SetupProblems: a number is out of range, there is no such metric, or the run has no data for a plan.
        UnknownNameError: the run is unknown.
        StoreError: the store does not exist, or it cannot be read.
    """
    request = _Request(detect, power, confidence, tuple(trials), tuple(dict.fromkeys(metrics)))
    if problems := list(_problems(request)):
        raise SetupProblems(problems)
    if isinstance(run, RunResult):
        results = [result for case in run.cases for result in case.trials]
        evidence = [one.trial for result in results for one in (*result.earlier, result)]
        attempts = sum(1 + (len(one.attempts) if one is not None else 0) for one in evidence)
        took = _took(run, len(results), trial_cost(run.spent, attempts, run.unreported))
        return _run_size(run, took, manifest_of_result(run)[1], request)
    if not is_open(store):
        with closing(open_runs(store, read_only=True)) as opened:
            return _size_of_stored_run(opened, run, request)
    return _size_of_stored_run(store, run, request)


@dataclass(frozen=True, slots=True)
class _Request:
    detect: float
    power: float
    confidence: float
    trials: Sequence[int]
    metrics: Sequence[str]


def _problems(request: _Request) -> Iterator[SetupError]:
    if not (isfinite(request.detect) and request.detect > 0):
        yield SetupError(
            f"detect must be above 0: a drop that is to be seen, such as 0.05; got {request.detect}"
        )
    if not 0 < request.power < 1:
        yield SetupError(f"power must be above 0 and below 1, got {request.power}")
    if not 0.5 < request.confidence < 1:
        yield SetupError(f"confidence must be above 0.5 and below 1, got {request.confidence}")
    if not request.trials or not all(1 <= count <= _MOST_TRIALS for count in request.trials):
        numbers = ", ".join(map(str, request.trials)) or "none"
        yield SetupError(f"trials must be numbers from 1 to {_MOST_TRIALS:,}, got {numbers}")


def _size_of_stored_run(store: Store, name: str, request: _Request) -> RunSize:
    run = store.load(find_current_run(store, name))
    trials = sum(len(case.trials) for _, case in store.verdicts(run.run_id))
    took = _took(run, trials, store.record(run.run_id).summary.trial_cost)
    return _run_size(run, took, counting(store.scorings(run.run_id)), request)


def _took(run: RunResult, trials: int, cost: float | None) -> TrialFigures:
    """Return the cost and the duration of a trial of the run, scoring included; an imported run has no duration."""
    return TrialFigures(cost, run.duration / trials if run.duration and trials else None)


def _run_size(run: RunResult, took: TrialFigures, scoring: ScoringManifest, request: _Request) -> RunSize:
    scores = _RunScores(run.cases, score_ranges(scoring.sets))
    if not scores.values[PASSED]:
        raise SetupProblems([SetupError(_no_data_text(run, scores))])
    how = RunSizeRequest(
        detect=request.detect,
        power=request.power,
        confidence=request.confidence,
        trials=sorted({*request.trials}),
    )
    samples = list(scores.samples(request))
    measures = [size_for(sample, how, took) for sample in samples]
    counts = [len(case) for case in samples[0].cases]
    cases, trials = len(counts), max(1, round(sum(counts) / len(counts)))
    sentence = ". ".join(measure_sentence(one, cases, trials, request.power) for one in measures)
    return RunSize(
        run.run_id,
        run.agent,
        cases,
        scores.left_out,
        trials,
        request.power,
        request.confidence,
        measures,
        sentence,
    )


def _no_data_text(run: RunResult, scores: _RunScores) -> str:
    name = f"run {run.run_id}" if run.run_id else "the run"
    if scores.left_out:
        count = "its only case has" if scores.left_out == 1 else f"all of its {scores.left_out:,} cases have"
        return f"{name} has no data for a plan: {count} a trial that could not be scored. see `proctor show`"
    return (
        f"{name} has no data for a plan: no case of it was run. `proctor resume` continues an unfinished one"
    )


def _scores(metric: MetricVerdict) -> list[float]:
    return [float(one.value) for one in metric.per_trial if one is not None and is_score(one.value)]


class _RunScores:
    """The values of the cases of a run, by measure."""

    def __init__(self, cases: Iterable[CaseResult], ranges: Mapping[str, tuple[float, float]]) -> None:
        self._ranges = ranges
        self.values: dict[str, list[list[float]]] = {PASSED: []}
        self.gating: dict[str, bool] = {}
        self.left_out = 0
        for case in cases:
            if case.outcome is not Outcome.SKIPPED and case.trials:
                self._add(case)

    def _add(self, case: CaseResult) -> None:
        if case.trials_passed + case.trials_failed == len(case.trials):
            self.values[PASSED].append([float(one.outcome is Outcome.PASSED) for one in case.trials])
        else:
            self.left_out += 1
        for name, metric in case.metrics.items():
            self.gating[name] = self.gating.get(name, False) or metric.gate
            values = _scores(metric)
            if values and metric.outcome is not Outcome.ERROR:
                self.values.setdefault(name, []).append(values)

    def samples(self, request: _Request) -> Iterator[Sample]:
        """What is to be planned for: pass and fail, or the metrics that were asked for."""
        problems: list[SetupError] = []
        others = sum(self.gating.values())
        for name in request.metrics or (PASSED,):
            if not (values := self.values.get(name)):
                problems.append(self._unknown(name))
                continue
            reach, warnings = self._reach(name)
            if problem := self._impossible(name, request.detect, reach):
                problems.append(SetupError(problem))
                continue
            decides = name == PASSED or self.gating.get(name, False)
            yield Sample(name, values, reach, decides, others, warnings)
        if problems:
            raise SetupProblems(problems)

    def _unknown(self, name: str) -> SetupError:
        if name in self.gating:
            return SetupError(f"metric {name} has no score in this run: nothing is known of its variance")
        known = [one for one in self.values if one != PASSED]
        hint = f" It has {', '.join(known)}." if known else ""
        return UnknownNameError(f"the run has no metric {name!r}.{did_you_mean(name, known)}{hint}")

    def _reach(self, name: str) -> tuple[float, list[str]]:
        if name == PASSED:
            return 1.0, []
        if (known := self._ranges.get(name)) is not None:
            return known[1] - known[0], []
        flat = [value for case in self.values[name] for value in case]
        score_range = max(flat) - min(flat)
        reach = score_range or max(map(abs, flat)) or 1.0
        basis = "as observed here" if score_range else "the size of its score, because all scores are equal"
        return reach, [f"the metric does not define its score range: {reach:g} is assumed, {basis}"]

    def _impossible(self, name: str, detect: float, reach: float) -> str:
        """Return why such a drop is impossible; empty if it is possible."""
        if name == PASSED:
            values = self.values[name]
            rate = sum(sum(case) / len(case) for case in values) / len(values)
            if detect > rate:
                return (
                    f"detect {detect:g}: the pass rate of the run is {percent(rate)} %, and cannot fall by "
                    f"{100 * detect:g} points. Give less (0.05 is 5 points)"
                )
        elif detect > reach:
            return f"detect {detect:g}: scores of {name} differ by at most {reach:g}. Give less"
        return ""
