"""Asks one metric about one answer, as a run would."""

import asyncio
import inspect
from collections.abc import Sequence
from typing import Any

from proctor.common.registry import METRICS
from proctor.metrics.base import CaseView
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.results.score import Explanation, MetricScore
from tests.metrics.invocations import turn, view

TEXT_METRICS = [
    "rouge_1",
    "rouge_2",
    "rouge_l",
    "final_response_match_v1",
    "token_set_f1",
    "exact_match",
    "contains",
    "regex_match",
    "json_equal",
    "numeric_match",
    "edit_similarity",
]


def metric(name: str, **options: Any) -> Any:
    return METRICS.get(name)(BaseCriterion.model_validate({"threshold": 0.5, **options}))


def scored(measure: Any, case: CaseView) -> MetricScore:
    """The score, awaited where that takes waiting."""
    score = measure.score(case)
    if inspect.isawaitable(score):

        async def wait() -> Any:
            return await score

        score = asyncio.run(wait())
    assert isinstance(score, MetricScore)
    return score


def case_of(reference: str | None, answer: str | None) -> CaseView:
    return view([turn(answer)], [turn(reference)])


def value(name: str, reference: str | None, answer: str | None, **options: Any) -> float | None:
    """The score of one answer; without reference text what the options expect is all there is."""
    return scored(metric(name, **options), case_of(reference, answer)).value


def explanation(name: str, reference: str | None, answer: str | None, **options: Any) -> Explanation:
    measure, case = metric(name, **options), case_of(reference, answer)
    found = measure.explain(case, scored(measure, case), 0)
    assert isinstance(found, Explanation)
    return found


def reason(name: str, reference: str | None, answer: str | None, **options: Any) -> str:
    return explanation(name, reference, answer, **options).reason


def conversation(references: Sequence[str | None], answers: Sequence[str | None]) -> CaseView:
    return view([turn(answer) for answer in answers], [turn(reference) for reference in references])
