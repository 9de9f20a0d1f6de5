"""How large a run must be to see a drop: by the variance of a run that is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from proctor.errors import SetupError, SetupProblems, UnknownNameError, did_you_mean
from proctor.runs.arguments import is_open
from proctor.runs.storage.failed_attempts import find_current_run
from proctor.runs.storage.queries import StoreLike, open_runs
from proctor.schema.analysis.power_plan import RunSize
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult

if TYPE_CHECKING:
    from proctor.analysis.power.required_size import Sample, TrialTook
    from proctor.stores.base import Store

TRIALS = (1, 2, 3, 5, 10)
"""The default numbers of trials of a case."""
_MOST_TRIALS = 10_000
PASSED = "passed"


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

    Source: see `proctor.stats.power`.

    Raises:
        SetupProblems: a number is out of range, there is no such metric, or the run has nothing to go by.
        UnknownNameError: the run is unknown.
        StoreError: the store does not exist, or it cannot be read.
    """
    asked = _Asked(detect, power, confidence, tuple(trials), tuple(dict.fromkeys(metrics)))
    if problems := list(_problems(asked)):
        raise SetupProblems(problems)
    if isinstance(run, RunResult):
        return _run_size(run, _took(run, None), asked)
    if not is_open(store):
        with closing(open_runs(store, read_only=True)) as opened:
            return _of_kept(opened, run, asked)
    return _of_kept(store, run, asked)


@dataclass(frozen=True, slots=True)
class _Asked:
    detect: float
    power: float
    confidence: float
    trials: Sequence[int]
    metrics: Sequence[str]


def _problems(asked: _Asked) -> Iterator[SetupError]:
    if not (isfinite(asked.detect) and asked.detect > 0):
        yield SetupError(
            f"detect must be above 0: a drop that is to be seen, such as 0.05; got {asked.detect}"
        )
    if not 0 < asked.power < 1:
        yield SetupError(f"power must be above 0 and below 1, got {asked.power}")
    if not 0.5 < asked.confidence < 1:
        yield SetupError(f"confidence must be above 0.5 and below 1, got {asked.confidence}")
    if not asked.trials or not all(1 <= count <= _MOST_TRIALS for count in asked.trials):
        given = ", ".join(map(str, asked.trials)) or "none"
        yield SetupError(f"trials must be numbers from 1 to {_MOST_TRIALS:,}, got {given}")


def _of_kept(store: Store, name: str, asked: _Asked) -> RunSize:
    run = store.load(find_current_run(store, name))
    return _run_size(run, _took(run, store), asked)


def _took(run: RunResult, store: Store | None) -> TrialTook:
    """What a trial of the run took, judging included; imported runs took no time here."""
    from proctor.analysis.power.required_size import TrialTook

    briefly = run.cases if store is None else (case for _, case in store.verdicts(run.run_id))
    made = sum(len(case.trials) for case in briefly)
    if not made:
        return TrialTook()
    cost = run.cost if run.spent else None
    return TrialTook(None if cost is None else cost / made, run.duration / made if run.duration else None)


def _run_size(run: RunResult, took: TrialTook, asked: _Asked) -> RunSize:
    from proctor.analysis.power.required_size import SizeAsked, sentence_of, size_for

    seen = _Seen(run.cases)
    if not seen.values[PASSED]:
        raise SetupProblems([SetupError(_nothing(run, seen))])
    how = SizeAsked(
        detect=asked.detect, power=asked.power, confidence=asked.confidence, trials=sorted({*asked.trials})
    )
    samples = list(seen.samples(asked))
    measures = [size_for(sample, how, took) for sample in samples]
    counts = [len(case) for case in samples[0].cases]
    cases, trials = len(counts), max(1, round(sum(counts) / len(counts)))
    sentence = ". ".join(sentence_of(one, cases, trials, asked.power) for one in measures)
    return RunSize(
        run.run_id, run.agent, cases, seen.left_out, trials, asked.power, asked.confidence, measures, sentence
    )


def _nothing(run: RunResult, seen: _Seen) -> str:
    name = f"run {run.run_id}" if run.run_id else "the run"
    if seen.left_out:
        count = "its only case has" if seen.left_out == 1 else f"all of its {seen.left_out:,} cases have"
        return f"{name} has nothing to go by: {count} a trial that could not be judged. see `proctor show`"
    return f"{name} has nothing to go by: no case of it was run. `proctor resume` continues an unfinished one"


class _Seen:
    """The values of the cases of a run, by measure."""

    def __init__(self, cases: Iterable[CaseResult]) -> None:
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
            scores = [one.value for one in metric.per_trial if one is not None and one.value is not None]
            known = [float(value) for value in scores if isfinite(value)]
            if known and metric.outcome is not Outcome.ERROR:
                self.values.setdefault(name, []).append(known)

    def samples(self, asked: _Asked) -> Iterator[Sample]:
        """What is to be planned for: pass and fail, or the metrics that were asked for."""
        from proctor.analysis.power.required_size import Sample

        problems: list[SetupError] = []
        others = sum(self.gating.values())
        for name in asked.metrics or (PASSED,):
            if not (values := self.values.get(name)):
                problems.append(self._unknown(name))
                continue
            reach, doubts = self._reach(name)
            if problem := self._impossible(name, asked.detect, reach):
                problems.append(SetupError(problem))
                continue
            decides = name == PASSED or self.gating.get(name, False)
            yield Sample(name, values, reach, decides, others, doubts)
        if problems:
            raise SetupProblems(problems)

    def _unknown(self, name: str) -> SetupError:
        if name in self.gating:
            return SetupError(f"metric {name} has no score in this run: nothing is known of its variance")
        known = [one for one in self.values if one != PASSED]
        listed = f" It has {', '.join(known)}." if known else ""
        return UnknownNameError(f"the run has no metric {name!r}.{did_you_mean(name, known)}{listed}")

    def _reach(self, name: str) -> tuple[float, list[str]]:
        from proctor.analysis.compare.compare_runs import reaches

        if name == PASSED:
            return 1.0, []
        if (known := reaches([name]).get(name)) is not None:
            return known, []
        flat = [value for case in self.values[name] for value in case]
        seen = max(flat) - min(flat)
        reach = seen or max(map(abs, flat)) or 1.0
        basis = "as observed here" if seen else "the size of its score, because all scores are equal"
        return reach, [f"the metric does not define its score range: {reach:g} is assumed, {basis}"]

    def _impossible(self, name: str, detect: float, reach: float) -> str:
        """Return why such a drop is impossible; empty if it is possible."""
        if name == PASSED:
            values = self.values[name]
            rate = sum(sum(case) / len(case) for case in values) / len(values)
            if detect > rate:
                return (
                    f"detect {detect:g}: the pass rate of the run is {100 * rate:.1f} %, and cannot fall by "
                    f"{100 * detect:g} points. Give less (0.05 is 5 points)"
                )
        elif detect > reach:
            return f"detect {detect:g}: scores of {name} lie at most {reach:g} apart, so give less"
        return ""
