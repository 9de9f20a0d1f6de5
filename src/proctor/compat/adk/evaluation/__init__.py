"""As `google.adk.evaluation`."""

from proctor.compat.adk.evaluation.agent_evaluator import AgentEvaluator

__all__ = ["AgentEvaluator"]
