"""As `google.adk.evaluation.simulation.llm_backed_user_simulator`: its configuration."""

from proctor.schema.config import LlmBackedUserSimulatorConfig

__all__ = ["LlmBackedUserSimulatorConfig"]
