"""As `google.adk.evaluation.simulation.pre_built_personas`: those that a file may name by their ids."""

from __future__ import annotations

from proctor.compat.adk.errors.not_found_error import NotFoundError
from proctor.compat.adk.evaluation.simulation.user_simulator_personas import UserPersonaRegistry
from proctor.schema.persona import (
    UnknownPersonaError,
    UserPersona,
    find_persona,
    persona_ids,
    register_persona,
)

__all__ = ["get_default_persona_registry"]


class _Default(UserPersonaRegistry):
    """The personas that files name: what is registered here is known to the whole process."""

    def get_persona(self, persona_id: str) -> UserPersona:
        try:
            return find_persona(persona_id)
        except UnknownPersonaError as error:
            raise NotFoundError(str(error)) from None

    def register_persona(self, persona_id: str, user_persona: UserPersona) -> None:
        register_persona(user_persona.model_copy(update={"id": persona_id}))

    def get_registered_personas(self) -> list[UserPersona]:
        return [find_persona(persona_id) for persona_id in persona_ids()]


def get_default_persona_registry() -> UserPersonaRegistry:
    """Return the personas that are built in, and those that were registered since."""
    return _Default()
