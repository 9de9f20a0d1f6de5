"""A run as JSON: everything that is known, in a documented, versioned form (docs/json-report.md).

Written piece by piece: one line for each trial and each case's verdict, so that no run is held in memory as text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from math import isfinite
from typing import Any, ClassVar, TextIO

from proctor.causes import safe_repr
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.evidence import reason_of
from proctor.reports.summary import exit_code
from proctor.sanitize import clean_json, has_lone_surrogate
from proctor.schema.score import MetricScore
from proctor.schema.trial import Failure
from proctor.schema.verdict import CaseResult, MetricVerdict, RunResult, SetSummary, TrialResult, worst
from proctor.stats import wilson

VERSION = 1
"""Raised when a key changes its meaning or goes away; new keys may come at any time."""

DEEPEST = 200
"""Levels of nesting that are written where a value is not plain JSON; readers have limits, too."""

Write = Callable[[str], object]


class JsonReport:
    """The whole result: verdicts, scores with their details, and the evidence of every trial."""

    needs_evidence: ClassVar[bool] = True

    def write(self, runs: Sequence[RunResult], out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
        """Write `runs` to `out` as one JSON object, a case and a trial at a time."""
        write = _writer(out)
        write(f'{{"proctor_report": {VERSION},\n')
        write(f'"proctor_version": {json.dumps(_version())},\n')
        write(f'"outcome": "{worst(run.outcome for run in runs)}",\n')
        write(f'"exit_code": {exit_code(runs)},\n"runs": [')
        for index, run in enumerate(runs):
            write(",\n" if index else "\n")
            _write_run(write, run)
        write("\n]}\n")


def _writer(out: TextIO) -> Write:
    """Write what every terminal and every encoding can take; JSON's own escapes keep the meaning."""
    encoding = (getattr(out, "encoding", None) or "utf-8").lower().replace("-", "").replace("_", "")

    def write(text: str) -> None:
        text = clean_json(text)
        out.write(text if encoding.startswith("utf") else _ascii(text))

    return write


def _ascii(text: str) -> str:
    return text if text.isascii() else "".join(c if c.isascii() else json.dumps(c)[1:-1] for c in text)


def _version() -> str:
    try:
        return version("proctor")
    except PackageNotFoundError:  # run from a folder that was never installed
        return "unknown"


def _write_run(write: Write, run: RunResult) -> None:
    head, notes = _json(_run_head(run))
    write(head[:-1])
    write(f', "notes": {_list(notes)},\n"cases": [')
    for index, case in enumerate(run.cases):
        write(",\n" if index else "\n")
        _write_case(write, case)
    write("\n]}")


def _run_head(run: RunResult) -> dict[str, Any]:
    return {
        "agent": run.agent,
        "outcome": run.outcome.value,
        "exit_code": run.exit_code,
        "counts": {outcome.value: count for outcome, count in sorted(run.counts.items())},
        "pass_rate": _pass_rate(run),
        "num_runs": run.num_runs,
        "started_at": run.started_at,
        "duration": run.duration,
        "interrupted": run.interrupted,
        "warnings": run.warnings,
        "sets": [_set(one) for one in run.sets],
    }


def _pass_rate(run: RunResult) -> dict[str, Any]:
    counts = {outcome.value: count for outcome, count in run.counts.items()}
    total, passed = len(run.cases) - counts.get("skipped", 0), counts.get("passed", 0)
    low, high = wilson(passed, total)
    return {
        "passed": passed,
        "of": total,
        "rate": passed / total if total else None,
        "low": low,
        "high": high,
    }


def _set(one: SetSummary) -> dict[str, Any]:
    return {
        "eval_set_id": one.eval_set_id,
        "path": one.path,
        "config_source": one.config_source,
        "cases": one.cases,
        "metrics": one.metrics,
        "skipped_metrics": one.skipped_metrics,
        "failure": _failure(one.failure),
    }


def _write_case(write: Write, case: CaseResult) -> None:
    head = {
        "eval_set_id": case.eval_set_id,
        "eval_id": case.eval_id,
        "outcome": case.outcome.value,
        "reason": reason_of(case),
        "place": case.place,
        "metrics": {name: _metric(metric) for name, metric in case.metrics.items()},
    }
    text, notes = _json(head)
    write(text[:-1])
    write(f', "notes": {_list(notes)},\n "trials": [')
    for index, trial in enumerate(case.trials):
        write(",\n  " if index else "\n  ")
        text, notes = _json(_trial(trial))
        write(f'{text[:-1]}, "notes": {_list(notes)}}}')
    write("]}")


def _metric(metric: MetricVerdict) -> dict[str, Any]:
    return {
        "outcome": metric.outcome.value,
        "score": metric.score,
        "threshold": metric.threshold,
        "gate": metric.gate,
        "reason": metric.reason,
        "failure": _failure(metric.failure),
        "trials": [score and _score(metric, score) for score in metric.per_trial],
    }


def _score(metric: MetricVerdict, score: MetricScore) -> dict[str, Any]:
    return {
        "score": score.value,
        "reason": score.reason,
        "not_applicable": score.not_applicable,
        "details": score.details,
        "failure": _failure(score.failure),
        "invocations": [
            {
                "outcome": verdict.outcome.value,
                "score": verdict.score,
                "reason": verdict.reason,
                "warning": verdict.warning,
                "details": verdict.details,
            }
            for verdict in map(metric.judge, score.per_invocation)
        ],
    }


def _trial(result: TrialResult) -> dict[str, Any]:
    evidence = result.trial
    return {
        "number": result.number,
        "outcome": result.outcome.value,
        "failure": _failure(result.failure),
        "evidence": evidence.model_dump(mode="json", exclude_none=True) if evidence is not None else None,
    }


def _failure(failure: Failure | None) -> dict[str, Any] | None:
    return failure.model_dump(mode="json") if failure is not None else None


# --- what JSON cannot say ------------------------------------------------------------------------------------------------


def _json(value: dict[str, Any]) -> tuple[str, list[str]]:
    """Return one line of JSON, and notes on what had to be said otherwise: NaN, infinity, half characters, objects."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        notes = [*_unwritable(value, "")]
        text = json.dumps(_writable(value), ensure_ascii=False, allow_nan=False)
    else:
        notes = []
    if has_lone_surrogate(text):
        notes.append("half a character (a lone surrogate) is written as U+FFFD")
    return text, notes


def _list(notes: list[str]) -> str:
    return json.dumps(notes, ensure_ascii=False)


def _writable(value: Any, depth: int = 0) -> Any:
    if depth > DEEPEST:
        return None
    if isinstance(value, dict):
        return {str(key): _writable(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_writable(item, depth + 1) for item in value]
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if value is None or isinstance(value, str | int | bool) else safe_repr(value)


def _unwritable(value: Any, place: str, depth: int = 0) -> Iterator[str]:
    if depth > DEEPEST:
        yield f"{place[:200]}… is nested too deeply: null stands for it"
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _unwritable(item, f"{place}/{key}", depth + 1)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _unwritable(item, f"{place}/{index}", depth + 1)
    elif isinstance(value, float) and not isfinite(value):
        yield f"{place} is {value}, which JSON cannot hold: null stands for it"
    elif not (value is None or isinstance(value, str | int | float | bool)):
        yield f"{place} is of type {type(value).__name__}: its text stands for it"
