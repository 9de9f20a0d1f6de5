"""As `google.adk.evaluation.simulation.user_simulator_personas`."""

from proctor.schema.persona import UserBehavior, UserPersona

__all__ = ["UserBehavior", "UserPersona"]
