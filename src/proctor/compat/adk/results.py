"""Results in google-adk's form: one `EvalCaseResult` for each run of a case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proctor.schema.adk_results import CaseContext, case_results
from proctor.schema.case import EvalCase
from proctor.schema.result import EvalCaseResult
from proctor.schema.verdict import CaseResult


def case_results_of(
    result: CaseResult, case: EvalCase | None = None, criteria: Mapping[str, Any] | None = None
) -> list[EvalCaseResult]:
    """Return the results of each run of a case; `case` is what was expected, `criteria` what judged it, where known."""
    expected = tuple(case.conversation) if case is not None and case.conversation is not None else None
    context = CaseContext(expected, criteria or {})
    return [EvalCaseResult.model_validate(one) for one in case_results(result, context)]
