"""What Proctor wrote beside ADK's own keys, where ADK's form has no place for it: read back where it still fits them."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from proctor.files.results.report_format import RuleForm
from proctor.schema.evidence.trial import Failure
from proctor.schema.format.result import EvalCaseResult
from proctor.schema.results.outcome import Outcome
from proctor.schema.results.repeats import TrialRule


def ours(entry: EvalCaseResult) -> dict[str, Any]:
    """What Proctor wrote beside ADK's keys, if it still fits them; a file that was edited is read as ADK's."""
    extra = entry.model_extra or {}
    found, outcome = extra.get("proctor"), extra.get("proctor_outcome")
    if not isinstance(found, dict) or outcome not in set(Outcome):
        return {}
    if Outcome(outcome).status is not entry.final_eval_status:
        return {}
    case = found.get("case")
    if not isinstance(case, dict) or case.get("outcome") not in set(Outcome):
        return {}
    return {**found, "outcome": outcome}


def is_trial(extra: dict[str, Any]) -> bool:
    """Whether the entry is a trial: one that we wrote for a case without any is not."""
    return not extra or extra.get("trial") is not None


def of_metric(extra: dict[str, Any], name: str) -> dict[str, Any]:
    """What is said of one metric; empty where nothing is."""
    metrics = extra.get("metrics")
    found = metrics.get(name) if isinstance(metrics, dict) else None
    return found if isinstance(found, dict) else {}


def rule_of(given: Any) -> TrialRule | None:
    """The share of the trials that had to pass, where one was asked for."""
    try:
        return RuleForm.model_validate(given).rule() if given is not None else None
    except ValidationError:
        return None


def failure_of(given: Any) -> Failure | None:
    """A failure, where there was one."""
    try:
        return Failure.model_validate(given) if given is not None else None
    except ValidationError:
        return None
