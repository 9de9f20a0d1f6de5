"""Cases that nothing would decide."""

from __future__ import annotations

from collections.abc import Mapping

from proctor.engine.planning.bound_metric import FINAL_STATE, BoundMetric
from proctor.engine.planning.criteria import Bound
from proctor.metrics.base import needs_of
from proctor.schema.format.case import EvalCase

__all__ = ["NO_GATE", "can_score", "cannot_decide", "cannot_run", "is_about_agent", "left_out"]

NO_GATE = "nothing decides it: the criteria have no gating metric, and the case states no final session state"


def cannot_decide(case: EvalCase, bound: Bound) -> str:
    """Say why nothing could decide this case; empty when something can."""
    if any(metric.gate and can_score(metric, case) and is_about_agent(metric) for metric in bound.metrics):
        return ""
    gating = [metric for metric in bound.metrics if metric.gate and metric.name != FINAL_STATE]
    if not gating:
        return NO_GATE
    return f"nothing decides it: {'; '.join(f'{metric.name}: {_why_not(metric, case)}' for metric in gating)}"


def is_about_agent(metric: BoundMetric) -> bool:
    """Whether a metric judges the agent, not the simulated user."""
    return bool(getattr(metric.metric, "judges_agent", True))


def left_out(skipped: Mapping[str, str]) -> str:
    """Say which metrics would have decided, had they not been left out by hand."""
    by: dict[str, list[str]] = {}
    for name, why in skipped.items():
        by.setdefault(why, []).append(name)
    told = "; ".join(f"{why} leaves out {', '.join(names)}" for why, names in by.items())
    return f" ({told})" if told else ""


def _why_not(metric: BoundMetric, case: EvalCase) -> str:
    """Why a metric has nothing to do with a case."""
    if not metric.covers(scenario=case.conversation is None):
        return _OTHER_KIND if case.conversation is None else "it does not score recorded cases"
    if metric.parts:
        return f"none of {', '.join(part.name for part in metric.parts)} applies"
    tell = getattr(metric.metric, "why_not", None)
    return str(tell(case)) if tell else f"it does not apply (it needs {needs_of(metric.facts)})"


_OTHER_KIND = (
    "the case is a scenario, and it needs a recorded conversation (rubrics, trajectory rules, `hallucinations_v1`, "
    "`safety_v1`, `multi_turn_task_success_v1` and an expected final session state decide scenarios)"
)


def cannot_run(case: EvalCase) -> str:
    """Say why there is nothing in this case that an agent could be asked; empty when there is."""
    if case.conversation_scenario is not None:
        return ""
    return "" if case.conversation else "its conversation has no turns"


def can_score(metric: BoundMetric, case: EvalCase) -> bool:
    """Whether a metric applies to a case."""
    if not metric.covers(scenario=case.conversation is None):
        return False
    if "expected_state" in metric.facts.needs and not case.final_session_state:
        return False
    if metric.parts:
        return any(can_score(part, case) for part in metric.parts)
    applies = getattr(metric.metric, "applies", None)
    return applies is None or bool(applies(case))
