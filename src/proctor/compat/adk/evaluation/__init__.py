"""As `google.adk.evaluation`."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proctor.compat.adk.evaluation.agent_evaluator import AgentEvaluator

__all__ = ["AgentEvaluator"]


def __getattr__(name: str) -> Any:
    if name != "AgentEvaluator":  # loaded on first use: the other modules of this package are light
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from proctor.compat.adk.evaluation.agent_evaluator import AgentEvaluator

    return AgentEvaluator
