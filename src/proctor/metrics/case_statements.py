"""What a case states for a metric: the readers that `MetricFacts.statement` names.

A case asserts something if a gating metric finds a statement in it. A statement is *negative* if an agent that does
nothing satisfies it: an explicit `tool_uses: []`, a forbidden text, an upper limit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from proctor.metrics.text.visible_text import is_blank
from proctor.schema.format.case import EvalCase, Statement
from proctor.schema.format.content import text_of
from proctor.schema.format.invocation import IntermediateData

__all__ = [
    "StatementReader",
    "always",
    "expected_calls",
    "limits_of_calls",
    "prohibition",
    "reference_answers",
    "supplied",
]


StatementReader = Callable[[EvalCase], Statement]


def always(_case: EvalCase) -> Statement:
    """Return a statement for every case: the criterion supplies it, or the metric needs none of the case."""
    return Statement.POSITIVE


def prohibition(_case: EvalCase) -> Statement:
    """Return a negative statement for every case: the metric only looks for something that must not happen."""
    return Statement.NEGATIVE


def reference_answers(case: EvalCase) -> Statement:
    """Find a reference text with visible characters in any turn."""
    texts = (text_of(turn.final_response, thoughts=False) for turn in case.conversation or ())
    return Statement.NONE if all(map(is_blank, texts)) else Statement.POSITIVE


def expected_calls(case: EvalCase) -> Statement:
    """Find an expected call in any turn, or else an explicit empty list of calls, which is negative."""
    turns = case.conversation or ()
    if any(turn.tool_calls for turn in turns):
        return Statement.POSITIVE
    data = (turn.intermediate_data for turn in turns)
    states_none = any(isinstance(each, IntermediateData) and each.states_calls for each in data)
    return Statement.NEGATIVE if states_none else Statement.NONE


def limits_of_calls(case: EvalCase) -> Statement:
    """Find the same as `expected_calls`, for a metric that an agent without calls always meets."""
    return min(expected_calls(case), Statement.NEGATIVE)


def supplied(values: Sequence[object]) -> StatementReader:
    """Return the reader for a criterion that supplies the expected values; a blank value accepts an agent without answer."""
    is_negative = not values or any(isinstance(value, str) and is_blank(value) for value in values)
    return prohibition if is_negative else always


def by_needs(needs: frozenset[str], case: EvalCase) -> Statement:
    """Find a statement unless the case lacks something that the metric needs; for metrics that name no reader."""
    statement = Statement.POSITIVE
    if "expected" in needs:
        statement = max(reference_answers(case), expected_calls(case))
    if "expected_state" in needs and not case.final_session_state:
        statement = Statement.NONE
    turns = case.conversation or case.opening or ()
    if "rubrics" in needs and not (case.rubrics or any(turn.rubrics for turn in turns)):
        statement = Statement.NONE
    return statement
