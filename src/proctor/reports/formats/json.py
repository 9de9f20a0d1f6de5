"""A run as JSON: everything that is known, in a documented, versioned form (docs/reference/results/json.md).

Written piece by piece: one line for each trial and each case's verdict, so that no run is held in memory as text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import ClassVar, TextIO

from proctor.common.safe_text import clean
from proctor.common.version import __version__
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content.case_digest import reason_of
from proctor.reports.content.summary import exit_code_of_runs, fault_data, rate_of_run, spent_data
from proctor.reports.formats.json_text import (
    Write,
    earlier_data,
    failure_data,
    json_line,
    json_list,
    json_writer,
    rate_data,
    rule_data,
    score_data,
)
from proctor.schema.evidence.trial import Failure
from proctor.schema.results.case_result import FaultRates, Repeats, ScoreRanges
from proctor.schema.results.run_result import (
    CaseResult,
    MetricVerdict,
    Outcome,
    RunResult,
    SetSummary,
    TrialResult,
    worst,
)
from proctor.stats.intervals import Mean

VERSION = 1
"""Raised when a key changes its meaning or goes away; new keys may come at any time."""


class JsonReport:
    """The whole result: verdicts, scores with their details, and the evidence of every trial."""

    needs_evidence: ClassVar[bool] = True

    def write(self, runs: Sequence[RunResult], out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
        """Write `runs` to `out` as one JSON object, a case and a trial at a time."""
        write = json_writer(out)
        write(f'{{"proctor_report": {VERSION},\n')
        write(f'"proctor_version": {json.dumps(__version__)},\n')
        outcome = Outcome.NOT_RUN if options.note else worst(run.outcome for run in runs)
        write(f'"outcome": "{outcome}",\n')
        if options.note:
            write(f'"note": {json.dumps(clean(options.note))},\n')
        write(
            f'"exit_code": {exit_code_of_runs(runs) if options.exit_code is None else options.exit_code},\n"runs": ['
        )
        for index, run in enumerate(runs):
            write(",\n" if index else "\n")
            _write_run(write, run)
        write("\n]}\n")


def _write_run(write: Write, run: RunResult) -> None:
    head, notes = json_line(_run_head(run))
    write(head[:-1])
    write(f', "notes": {json_list(notes)},\n"cases": [')
    repeats, whose_fault = Repeats(), FaultRates()
    for index, case in enumerate(run.cases):
        write(",\n" if index else "\n")
        _write_case(write, case)
        repeats.add(case)
        whose_fault.add(case)
    text, _ = json_line(
        {"repeats": _repeats(repeats, run.score_ranges), "at_fault": fault_data(whose_fault)}
    )  # a mean of NaN is null, as the scores that made it
    write(f"\n],\n{text[1:]}")


def _run_head(run: RunResult) -> dict[str, object]:
    return {
        "run_id": run.run_id or None,
        "agent": run.agent,
        "outcome": run.outcome.value,
        "exit_code": run.exit_code,
        "counts": {outcome.value: count for outcome, count in sorted(run.counts.items())},
        "pass_rate": _pass_rate(run),
        "num_runs": run.num_runs,
        "at_most": run.at_most or None,
        "against": run.against or None,
        "started_at": run.started_at,
        "duration": run.duration,
        "judging_duration": run.scoring_duration,
        "interrupted": run.interrupted,
        "stopped_by": run.stopped_by or None,
        "failure": failure_data(run.failure),
        "warnings": run.warnings,
        **spent_data(run),
        "sets": [_set_data(one) for one in run.sets],
    }


def _pass_rate(run: RunResult) -> dict[str, object]:
    cases = rate_of_run(run)
    low, high = cases.interval if cases.rate is not None else (None, None)
    return {"passed": cases.passed, "of": cases.of, "rate": cases.rate, "low": low, "high": high}


def _set_data(one: SetSummary) -> dict[str, object]:
    return {
        "eval_set_id": one.eval_set_id,
        "path": one.path,
        "config_source": one.config_source,
        "cases": one.cases,
        "metrics": one.metrics,
        "skipped_metrics": one.skipped_metrics,
        "num_runs": one.num_runs,
        "rule": rule_data(one.rule),
        "failure": failure_data(one.failure),
    }


def _write_case(write: Write, case: CaseResult) -> None:
    head = {
        "eval_set_id": case.eval_set_id,
        "eval_id": case.eval_id,
        "outcome": case.outcome.value,
        "reason": reason_of(case),
        "place": case.place,
        "missed": case.missed,
        "played": case.is_played,
        "rule": rule_data(case.rule),
        "pass_rate": rate_data(case),
        "metrics": {name: _metric(metric) for name, metric in case.metrics.items()},
    }
    text, notes = json_line(head)
    write(text[:-1])
    write(f', "notes": {json_list(notes)},\n "trials": [')
    for index, trial in enumerate(case.trials):
        write(",\n  " if index else "\n  ")
        text, notes = json_line(_trial(trial))
        write(f'{text[:-1]}, "notes": {json_list(notes)}}}')
    write("]}")


def _metric(metric: MetricVerdict) -> dict[str, object]:
    return {
        "outcome": metric.outcome.value,
        "score": metric.score,
        "threshold": metric.threshold,
        "gate": metric.gate,
        "reason": metric.reason,
        "failure": failure_data(metric.failure),
        "trials": [None if score is None else score_data(metric, score) for score in metric.per_trial],
    }


_MOST = 10


def _repeats(repeats: Repeats, ranges: ScoreRanges) -> dict[str, object] | None:
    """Return the statistics over the trials of all cases; `None` if no case has several trials."""
    if repeats.most_trials < 2:
        return None
    by_set = repeats.by_set if len(repeats.by_set) > 1 else {}
    return {
        **_in_a_row(repeats, ranges),
        "sets": {name: _in_a_row(one, ranges) for name, one in by_set.items()},
    }


def _in_a_row(repeats: Repeats, ranges: ScoreRanges) -> dict[str, object]:
    most = repeats.most_trials
    ks = [*range(1, min(most, _MOST) + 1), *([most] if most > _MOST else [])]
    return {
        "cases": repeats.cases,
        "flaky": repeats.flaky,
        "trials": repeats.trials,
        "trials_passed": repeats.trials_passed,
        "pass_hat": {str(k): _mean(repeats.pass_hat(k)) for k in ks},
        "pass_at": {str(k): _mean(repeats.pass_at(k)) for k in ks},
        "means": {name: _mean(mean) for name, mean in repeats.means(ranges).items()},
    }


def _mean(mean: Mean | None) -> dict[str, object] | None:
    return asdict(mean) if mean is not None else None


def _trial(result: TrialResult) -> dict[str, object]:
    return {
        "number": result.number,
        "attempt": result.attempt,
        "outcome": result.outcome.value,
        "failure": failure_data(result.failure),
        "evidence": result.evidence_data(),
        "earlier_attempts": earlier_data(result),
    }


# --- JSON Lines -------------------------------------------------------------------------------------------------------


class JsonlReport:
    """The trials of a run, a line each: outcome, scores, evidence, and the verdict on the case they belong to."""

    needs_evidence: ClassVar[bool] = True

    def write(self, runs: Sequence[RunResult], out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
        """Write `runs` to `out`, a line at a time."""
        write = json_writer(out)
        if options.note:
            totals = {"outcome": Outcome.NOT_RUN.value, "cases": 0, "counts": {}}
            line = {"proctor_note": clean(options.note), **_line(None, None, Outcome.NOT_RUN, case=None)}
            _write(write, line, {"agent": "", "run_id": None, "run": totals})
        for run in runs:
            whose = {"agent": run.agent, "run_id": run.run_id or None, "run": _totals(run)}
            for place, case in enumerate(run.cases):
                for line in case_lines(case, place):
                    _write(write, line, whose)
            for name, failure in run.unread_sets.items():
                _write(write, _broken(name, failure), whose)
            if run.failure is not None:
                _write(write, _broken(None, run.failure), whose)


def _totals(run: RunResult) -> dict[str, object]:
    """Return the data about the whole run that every line has, so that each line shows if the file is incomplete."""
    counts = {outcome.value: count for outcome, count in sorted(run.counts.items())}
    return {"outcome": run.outcome.value, "cases": sum(counts.values()), "counts": counts}


def case_lines(case: CaseResult, place: int) -> Iterator[dict[str, object]]:
    """Return the lines of the case at `place` in its run: one for each trial, or a single one where it has none."""
    verdict = _case(case, place)
    for index, trial in enumerate(case.trials):
        yield _trial_line(case, index, trial, verdict)
    if not case.trials:
        yield _line(case.eval_set_id, case.eval_id, case.outcome, case=verdict)


def _write(write: Write, line: dict[str, object], whose: Mapping[str, object]) -> None:
    text, notes = json_line({**line, **whose})
    write(f'{text[:-1]}, "notes": {json_list(notes)}}}\n')


def _trial_line(
    case: CaseResult, index: int, trial: TrialResult, verdict: dict[str, object]
) -> dict[str, object]:
    evidence = trial.evidence_data()
    line = _line(case.eval_set_id, case.eval_id, trial.outcome, case=verdict)
    line["trial"], line["attempt"] = trial.number, trial.attempt
    line["failure"] = failure_data(trial.failure)
    line["scores"] = _scores(case, index)
    line["started_at"] = evidence.get("started_at") if evidence else None
    line["duration"] = evidence.get("duration") if evidence else None
    line["evidence"], line["earlier_attempts"] = evidence, earlier_data(trial)
    return line


def _line(
    eval_set_id: str | None, eval_id: str | None, outcome: Outcome, *, case: dict[str, object] | None
) -> dict[str, object]:
    """Return a line with every key that lines have, in their order."""
    return {
        "eval_set_id": eval_set_id,
        "eval_id": eval_id,
        "trial": None,
        "attempt": None,
        "outcome": outcome.value,
        "scores": {},
        "failure": None,
        "started_at": None,
        "duration": None,
        "case": case,
        "evidence": None,
        "earlier_attempts": [],
    }


def _scores(case: CaseResult, index: int) -> dict[str, object]:
    """What each metric found in one trial; one that found nothing to score there is left out."""
    scores: dict[str, object] = {}
    for name, metric in case.metrics.items():
        score = metric.per_trial[index] if index < len(metric.per_trial) else None
        if score is not None:
            head = {
                "outcome": metric.outcome_in(index).value,
                "threshold": metric.threshold,
                "gate": metric.gate,
            }
            scores[name] = head | score_data(metric, score)
    return scores


def _case(case: CaseResult, place: int) -> dict[str, object]:
    """Return the verdict over all trials of the case, and its location."""
    return {
        "number": place,
        "trials": len(case.trials),
        "outcome": case.outcome.value,
        "reason": reason_of(case),
        "place": case.place,
        "missed": case.missed,
        "played": case.is_played,
        "rule": rule_data(case.rule),
        "pass_rate": rate_data(case),
        "metrics": {
            name: {
                "outcome": metric.outcome.value,
                "score": metric.score,
                "threshold": metric.threshold,
                "gate": metric.gate,
                "reason": metric.reason,
                "failure": failure_data(metric.failure),
            }
            for name, metric in case.metrics.items()
        },
    }


def _broken(eval_set_id: str | None, failure: Failure) -> dict[str, object]:
    """The line of a set that could not be run, or of a run that could not continue."""
    return _line(eval_set_id, None, Outcome.ERROR, case=None) | {"failure": failure_data(failure)}
