"""Results in google-adk's form: one `EvalCaseResult` for each run of a case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from proctor.schema.format.adk_results import CaseContext, case_results
from proctor.schema.format.case import EvalCase
from proctor.schema.format.result import EvalCaseResult
from proctor.schema.results.run_result import CaseResult


def case_results_of(
    result: CaseResult, case: EvalCase | None = None, criteria: Mapping[str, Any] | None = None
) -> list[EvalCaseResult]:
    """Return the results of each run of a case; `case` is what was expected, `criteria` what scored it, where known."""
    expected = tuple(case.conversation) if case is not None and case.conversation is not None else None
    context = CaseContext(expected, criteria or {})
    return [EvalCaseResult.model_validate(one) for one in case_results(result, context)]


def as_taken_by(keeper: object, results: Sequence[EvalCaseResult]) -> list[Any]:
    """Return the results as models that a results manager takes: google-adk's own takes only its own."""
    if not any(cls.__module__.startswith("google.adk.") for cls in type(keeper).__mro__):
        return list(results)
    model = import_module("google.adk.evaluation.eval_result").EvalCaseResult
    return [model.model_validate(result.model_dump(mode="json")) for result in results]
