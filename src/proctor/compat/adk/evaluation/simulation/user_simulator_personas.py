"""As `google.adk.evaluation.simulation.user_simulator_personas`."""

from __future__ import annotations

from proctor.compat.adk.errors.not_found_error import NotFoundError
from proctor.schema.format.persona import UserBehavior, UserPersona

__all__ = ["UserBehavior", "UserPersona", "UserPersonaRegistry"]


class UserPersonaRegistry:
    """Personas by their ids."""

    def __init__(self) -> None:
        self._own: dict[str, UserPersona] = {}

    def get_persona(self, persona_id: str) -> UserPersona:
        """Return a persona. Raises NotFoundError: there is none of that id."""
        if persona_id not in self._own:
            raise NotFoundError(f"no persona {persona_id!r}")
        return self._own[persona_id]

    def register_persona(self, persona_id: str, user_persona: UserPersona) -> None:
        """Keep a persona under an id; a later one takes its place."""
        self._own[persona_id] = user_persona

    def get_registered_personas(self) -> list[UserPersona]:
        """Return all personas, in the order in which they were registered."""
        return list(self._own.values())
