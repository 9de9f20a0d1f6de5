"""Reads recorded behaviour of google-adk, and compares it with ours."""

import json
import math
from pathlib import Path
from typing import Any

from proctor.metrics.base import CaseView
from proctor.schema.format.invocation import Invocation
from proctor.schema.results.score import MetricScore


def vectors(shared: Path, name: str, count: int) -> list[dict[str, Any]]:
    """The vectors of one recorded file; `count` guards against a file that shrank."""
    found: list[dict[str, Any]] = json.loads((shared / "golden" / name).read_text("utf-8"))["vectors"]
    assert len(found) == count
    return found


def invocations(data: list[dict[str, Any]] | None) -> list[Invocation] | None:
    return None if data is None else [Invocation.model_validate(each) for each in data]


def view(vector: dict[str, Any]) -> CaseView:
    actual = invocations(vector["actual"])
    assert actual is not None
    return CaseView(eval_id="recorded", actual=actual, expected=invocations(vector.get("expected")))


def status(value: float | None, threshold: float) -> str:
    """The rule of every verdict, in ADK's words."""
    if value is None:
        return "NOT_EVALUATED"
    return "PASSED" if value >= threshold else "FAILED"


def as_recorded(score: MetricScore, threshold: float) -> dict[str, Any]:
    return {
        "overall_score": score.value,
        "overall_status": status(score.value, threshold),
        "per_invocation": [
            {"score": each.value, "status": status(each.value, threshold)} for each in score.per_invocation
        ],
    }


def equal(ours: Any, theirs: Any) -> bool:
    """Equal, floats to a relative 1e-9; null only equals null."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(equal(ours[key], theirs[key]) for key in ours)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(equal, ours, theirs))
    if isinstance(ours, int | float) and isinstance(theirs, int | float):
        return math.isclose(ours, theirs, rel_tol=1e-9)
    return bool(ours == theirs)
