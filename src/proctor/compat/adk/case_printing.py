"""The result of a case on standard output, with the lines that `adk eval --print_detailed_results` prints."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

import click

from proctor.common.safe_text import clean
from proctor.reports.evidence.trajectory_diff import call_text
from proctor.schema.format.content import text_of
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.result import (
    EvalCaseResult,
    EvalMetricResult,
    EvalMetricResultPerInvocation,
    EvalStatus,
)

__all__ = ["print_case_result"]

_RULE = "-" * 69
_VALUE_COLUMN = 30
_VALUE_WIDTH = 80
_PARTS = {
    "token_usage_details": ("Token breakdown:", "_tokens", ""),
    "duration_details": ("Duration breakdown:", "_seconds", "s"),
}
"""Of a metric's details: the heading, what the names end with, and the unit."""


def print_case_result(result: EvalCaseResult) -> None:
    """Print the verdict, each metric, and each invocation with its texts, calls and scores."""
    for line in _lines(result):
        click.echo(clean(line))


def _lines(result: EvalCaseResult) -> Iterator[str]:
    yield f"Eval Set Id: {result.eval_set_id}"
    yield f"Eval Id: {result.eval_id}"
    yield f"Overall Eval Status: {result.final_eval_status.name}"
    for metric in result.overall_eval_metric_results:
        yield _RULE
        yield (
            f"Metric: {metric.metric_name}, Status: {metric.eval_status.name}, "
            f"Score: {metric.score}, Threshold: {metric.threshold}"
        )
        yield from _details(metric)
    invocations = result.eval_metric_result_per_invocation
    if invocations:
        yield _RULE
        yield "Invocation Details:"
    for number, invocation in enumerate(invocations, 1):
        yield ""
        yield f"Invocation {number} of {len(invocations)}"
        for label, value in _fields(invocation):
            yield from _field(label, value)


def _details(metric: EvalMetricResult) -> Iterator[str]:
    for name, (heading, ending, unit) in _PARTS.items():
        part = getattr(metric.details, name)
        if part is None:
            continue
        yield heading
        for field in type(part).model_fields:
            value = getattr(part, field)
            label = f"  {field.removesuffix(ending)}:"
            yield f"{label:<20}{'n/a' if value is None else f'{value:g}{unit}'}"
    if metric.details.rubric_scores:
        yield "Rubric Scores:"
        for text, score, rationale in _rubrics(metric):
            yield f"Rubric: {text}, Score: {score}, Reasoning: {rationale}"


def _rubrics(metric: EvalMetricResult) -> Iterator[tuple[str, float | None, str | None]]:
    texts: dict[str, str | None] = {}
    for rubric in getattr(metric.criterion, "rubrics", None) or ():
        content: Any = getattr(rubric, "rubric_content", None)
        texts[getattr(rubric, "rubric_id", "")] = getattr(content, "text_property", None)
    for one in metric.details.rubric_scores or ():
        yield texts.get(one.rubric_id) or one.rubric_id, one.score, one.rationale


def _fields(result: EvalMetricResultPerInvocation) -> Iterator[tuple[str, str]]:
    actual, expected = result.actual_invocation, result.expected_invocation
    yield "prompt", text_of(actual.user_content)
    if expected is not None:
        yield "expected_response", text_of(expected.final_response)
    yield "actual_response", text_of(actual.final_response)
    if expected is not None:
        yield "expected_tool_calls", _calls(expected)
    yield "actual_tool_calls", _calls(actual)
    for metric in result.eval_metric_results:
        yield metric.metric_name, _cell(metric)
        for text, score, rationale in _rubrics(metric):
            yield "rubric", f"{text}\nScore: {score}, Reasoning: {rationale}"


def _calls(invocation: Invocation) -> str:
    return "\n".join(call_text(call.name or "", call.args) for call in invocation.tool_calls)


def _cell(metric: EvalMetricResult) -> str:
    if metric.eval_status is not EvalStatus.INFORMATIONAL:
        return f"{metric.eval_status.name} ({metric.score})"
    return "n/a" if metric.score is None else f"{metric.score:g}"


def _field(label: str, value: str) -> Iterator[str]:
    """Return a label with its value; a long or multi-line value continues on the next lines."""
    lines = [
        part
        for line in value.splitlines() or ["(none)"]
        for part in textwrap.wrap(line, _VALUE_WIDTH) or [""]
    ]
    prefix = f"  {label}: ".ljust(_VALUE_COLUMN)
    yield f"{prefix}{lines[0]}"
    yield from (" " * len(prefix) + line for line in lines[1:])
