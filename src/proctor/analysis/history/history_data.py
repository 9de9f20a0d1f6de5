"""A history as plain data; docs/schemas/history.schema.json has its form."""

from __future__ import annotations

from dataclasses import asdict

from proctor.analysis.history.text import case_history_sentence, strip_of_runs
from proctor.common.json_values import JsonObject
from proctor.reports.content.case_words import LETTERS
from proctor.schema.analysis.history import (
    CaseHistory,
    CasePoint,
    HistoryRun,
    RunChange,
    RunHistory,
    VerdictChange,
)

VERSION = 2


def history_data(history: RunHistory, metric: str = "") -> JsonObject:
    """Return a history as plain data."""
    metrics = {name: points for name, points in history.metrics.items() if metric in {"", name}}
    return {
        "version": VERSION,
        "case": history.case or None,
        "runs": [_run(run) for run in history.runs],
        "older": history.older,
        "counts": {course.value: count for course, count in history.counts().items()},
        "cases": [_case(history, case, metric) for case in history.cases],
        "metrics": {
            name: [{"run_id": run_id, **asdict(point)} for run_id, point in points.items()]
            for name, points in metrics.items()
        },
        "changes": [_change(one) for one in history.changes],
    }


def _run(run: HistoryRun) -> JsonObject:
    return {
        "run_id": run.run_id,
        "started_at": run.started_at,
        "agent": run.agent,
        "commit": run.commit,
        "version": run.version,
        "build": run.build or None,
        "models": list(run.models),
        "outcome": run.outcome.value if run.outcome is not None else None,
        "cases": run.cases,
        "num_runs": run.num_runs,
        "unread_sets": list(run.unread_sets),
    }


def _case(history: RunHistory, case: CaseHistory, metric: str) -> JsonObject:
    letters = [
        LETTERS.get(point.outcome, "-") if point is not None else "-"
        for point in strip_of_runs(case, history.runs)
    ]
    return {
        "agent": case.agent or None,
        "eval_set_id": case.eval_set_id,
        "eval_id": case.eval_id,
        "course": case.course.value,
        "sentence": case_history_sentence(case, history.older),
        "strip": "".join(letters),
        "decided": case.decided,
        "failed": case.failed,
        "flips": case.flips,
        "unexplained": case.unexplained,
        "mixed": case.mixed,
        "turn": _turn(case.turn) if case.turn else None,
        "points": [_point(point, metric) for point in case.points] if history.case else None,
    }


def _change(one: RunChange) -> JsonObject:
    return {
        "agent": one.agent or None,
        "eval_set_id": one.eval_set_id,
        "before": one.before.run_id,
        "first": one.first.run_id,
        "changed_by": one.changed_by.value,
        "differences": [asdict(each) for each in one.differences],
        "p_value": one.p_value,
    }


def _turn(turn: VerdictChange) -> JsonObject:
    return {
        "first": turn.first.run_id,
        "before": turn.before.run_id if turn.before is not None else None,
        "known": turn.known,
        "changed": [asdict(one) for one in turn.changed],
    }


def _point(point: CasePoint, metric: str) -> JsonObject:
    return {
        "run_id": point.run.run_id,
        "outcome": point.outcome.value,
        "trials": [one.value for one in point.trials],
        "reason": point.reason,
        "metrics": {name: asdict(one) for name, one in point.metrics.items() if metric in {"", name}},
        "changed": [asdict(one) for one in point.changed],
    }
