"""A history as JSON, for programs; docs/schemas/history.schema.json has its form."""

from __future__ import annotations

import json
from typing import Any, TextIO

from proctor.analysis.history.text import LETTERS, sentence_of, strip_of_runs
from proctor.common.safe_text import clean_json
from proctor.schema.analysis.history import (
    CaseHistory,
    CasePoint,
    HistoryRun,
    MetricPoint,
    RunHistory,
    VerdictChange,
)

VERSION = 1


def write_json(found: RunHistory, out: TextIO, *, metric: str = "") -> None:
    """Write `found` as JSON; of `metric` only, where one is named."""
    text = json.dumps(as_data(found, metric), indent=2, ensure_ascii=False, allow_nan=False)
    encoding = (getattr(out, "encoding", None) or "utf-8").lower().replace("-", "")
    if encoding != "utf8":
        text = json.dumps(json.loads(text), indent=2)
    out.write(clean_json(text) + "\n")


def as_data(found: RunHistory, metric: str = "") -> dict[str, Any]:
    """Return a history as plain data."""
    metrics = {name: points for name, points in found.metrics.items() if metric in {"", name}}
    return {
        "version": VERSION,
        "case": found.case or None,
        "runs": [_run(run) for run in found.runs],
        "older": found.older,
        "counts": {course.value: count for course, count in found.counts().items()},
        "cases": [_case(found, case, metric) for case in found.cases],
        "metrics": {
            name: [{"run_id": run_id, **_metric(point)} for run_id, point in points.items()]
            for name, points in metrics.items()
        },
    }


def _run(run: HistoryRun) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "started_at": run.started_at,
        "agent": run.agent,
        "commit": run.commit,
        "version": run.version,
        "outcome": run.outcome.value if run.outcome is not None else None,
        "cases": run.cases,
        "num_runs": run.num_runs,
    }


def _case(found: RunHistory, case: CaseHistory, metric: str) -> dict[str, Any]:
    letters = [
        LETTERS.get(point.outcome, "-") if point is not None else "-"
        for point in strip_of_runs(case, found.runs)
    ]
    return {
        "eval_set_id": case.eval_set_id,
        "eval_id": case.eval_id,
        "course": case.course.value,
        "sentence": sentence_of(case, found.older),
        "strip": "".join(letters),
        "decided": case.decided,
        "failed": case.failed,
        "flips": case.flips,
        "unexplained": case.unexplained,
        "mixed": case.mixed,
        "turn": _turn(case.turn) if case.turn else None,
        "points": [_point(point, metric) for point in case.points] if found.case else None,
    }


def _turn(turn: VerdictChange) -> dict[str, Any]:
    return {
        "first": turn.first.run_id,
        "before": turn.before.run_id if turn.before is not None else None,
        "known": turn.known,
        "changed": [{"what": one.what, "text": one.text, "expected": one.expected} for one in turn.changed],
    }


def _point(point: CasePoint, metric: str) -> dict[str, Any]:
    return {
        "run_id": point.run.run_id,
        "outcome": point.outcome.value,
        "trials": [one.value for one in point.trials],
        "reason": point.reason,
        "metrics": {name: _metric(one) for name, one in point.metrics.items() if metric in {"", name}},
        "changed": [{"what": one.what, "text": one.text, "expected": one.expected} for one in point.changed],
    }


def _metric(point: MetricPoint) -> dict[str, Any]:
    return {
        "score": point.score,
        "low": point.low,
        "high": point.high,
        "threshold": point.threshold,
        "outcome": point.outcome.value,
        "gate": point.gate,
        "count": point.count,
    }
