"""Verdicts, scores and evidence as plain data, and the JSON text of it: what the reports for programs are made of."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from math import isfinite
from typing import Any, TextIO

from proctor.common.error_text import safe_repr
from proctor.common.safe_text import clean_json, has_lone_surrogate
from proctor.schema.evidence.trial import Failure
from proctor.schema.results.run_result import CaseResult, MetricVerdict, TrialResult, TrialRule
from proctor.schema.results.score import MetricScore

DEEPEST = 200
"""Levels of nesting that are written where a value is not plain JSON; readers have limits, too."""

Write = Callable[[str], object]


def is_unicode(out: TextIO) -> bool:
    """Return whether the encoding of a stream holds every character."""
    return (getattr(out, "encoding", None) or "utf-8").lower().startswith("utf")


def json_writer(out: TextIO) -> Write:
    """Write what every terminal and every encoding can take; JSON's own escapes keep the meaning."""
    escape = str if is_unicode(out) else _ascii
    return lambda text: out.write(escape(clean_json(text)))


def write_json(data: object, out: TextIO) -> None:
    """Write plain data as one indented JSON value."""
    json_writer(out)(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def _ascii(text: str) -> str:
    return text if text.isascii() else "".join(c if c.isascii() else json.dumps(c)[1:-1] for c in text)


def score_data(metric: MetricVerdict, score: MetricScore) -> dict[str, object]:
    """Return what a metric found in one trial, invocation by invocation."""
    return {
        "score": score.value,
        "reason": score.reason,
        "not_applicable": score.not_applicable,
        "details": score.details,
        "failure": failure_data(score.failure),
        "invocations": [
            {
                "outcome": verdict.outcome.value,
                "score": verdict.score,
                "reason": verdict.reason,
                "warning": verdict.warning,
                "not_applicable": each.not_applicable,
                "details": verdict.details,
            }
            for each in score.per_invocation
            for verdict in [metric.judge(each)]
        ],
    }


def failure_data(failure: Failure | None) -> dict[str, object] | None:
    """Return a failure as plain data."""
    return failure.model_dump(mode="json") if failure is not None else None


def rule_data(rule: TrialRule | None) -> dict[str, object] | None:
    """Return what share of the trials has to pass as plain data."""
    return rule.as_data() if rule is not None else None


def rate_data(case: CaseResult) -> dict[str, object] | None:
    """Return the share of a case's trials that passed, with its interval; `None` for fewer than two trials."""
    if len(case.trials) < 2:
        return None
    low, high = case.interval
    return {
        "passed": case.trials_passed,
        "of": len(case.trials),
        "rate": case.pass_rate,
        "low": low,
        "high": high,
        "confidence": case.confidence,
        "flaky": case.flaky,
    }


def earlier_data(result: TrialResult) -> list[dict[str, object]]:
    """Return the attempts before the one that counts, as plain data; they ended in an error, and have no scores."""
    return [
        {
            "attempt": attempt.attempt,
            "outcome": attempt.outcome.value,
            "failure": failure_data(attempt.failure),
            "evidence": attempt.evidence_data(),
        }
        for attempt in result.earlier
    ]


# --- values that JSON cannot hold ------------------------------------------------------------------------------------------------


def json_line(value: Mapping[str, object]) -> tuple[str, list[str]]:
    """Return one line of JSON, and notes on replaced values: NaN, infinity, lone surrogates, objects."""
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


def json_list(notes: list[str]) -> str:
    """Return notes as JSON."""
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
        yield f"{place[:200]}… is nested too deeply: replaced by null"
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _unwritable(item, f"{place}/{key}", depth + 1)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _unwritable(item, f"{place}/{index}", depth + 1)
    elif isinstance(value, float) and not isfinite(value):
        yield f"{place} is {value}, which JSON cannot hold: replaced by null"
    elif not (value is None or isinstance(value, str | int | float | bool)):
        yield f"{place} is of type {type(value).__name__}: replaced by its text"
