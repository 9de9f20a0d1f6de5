"""A run as JSON Lines: one line a trial, each complete in itself, for pandas, DuckDB, jq and the like (docs/exports.md).

Nothing is left out in silence: a case without a trial (skipped, not reached), a set that could not be run and a run
that could not go on have a line, too, whose `trial` is null.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, TextIO

from proctor.common.safe_text import clean
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.evidence.case_evidence import reason_of
from proctor.reports.formats.json_data import (
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
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult, TrialResult


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
                for line in lines_of(case, place):
                    _write(write, line, whose)
            for one in run.sets:
                if one.failure is not None:
                    _write(write, _broken(one.eval_set_id, one.failure), whose)
            if run.failure is not None:
                _write(write, _broken(None, run.failure), whose)


def _totals(run: RunResult) -> dict[str, Any]:
    """Return the data about the whole run that every line has, so that each line shows if the file is incomplete."""
    counts = {outcome.value: count for outcome, count in sorted(run.counts.items())}
    return {"outcome": run.outcome.value, "cases": sum(counts.values()), "counts": counts}


def lines_of(case: CaseResult, place: int) -> Iterator[dict[str, Any]]:
    """Return the lines of the case at `place` in its run: one for each trial, or a single one where it has none."""
    verdict = _case(case, place)
    for index, trial in enumerate(case.trials):
        yield _trial_line(case, index, trial, verdict)
    if not case.trials:
        yield _line(case.eval_set_id, case.eval_id, case.outcome, case=verdict)


def _write(write: Write, line: dict[str, Any], whose: dict[str, Any]) -> None:
    text, notes = json_line({**line, **whose})
    write(f'{text[:-1]}, "notes": {json_list(notes)}}}\n')


def _trial_line(case: CaseResult, index: int, trial: TrialResult, verdict: dict[str, Any]) -> dict[str, Any]:
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
    eval_set_id: str | None, eval_id: str | None, outcome: Outcome, *, case: dict[str, Any] | None
) -> dict[str, Any]:
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


def _scores(case: CaseResult, index: int) -> dict[str, Any]:
    """What each metric found in one trial; one that found nothing to score there is left out."""
    found = {}
    for name, metric in case.metrics.items():
        score = metric.per_trial[index] if index < len(metric.per_trial) else None
        if score is not None:
            head = {
                "outcome": metric.outcome_in(index).value,
                "threshold": metric.threshold,
                "gate": metric.gate,
            }
            found[name] = head | score_data(metric, score)
    return found


def _case(case: CaseResult, place: int) -> dict[str, Any]:
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


def _broken(eval_set_id: str | None, failure: Failure) -> dict[str, Any]:
    """The line of a set that could not be run, or of a run that could not go on."""
    return _line(eval_set_id, None, Outcome.ERROR, case=None) | {"failure": failure_data(failure)}
