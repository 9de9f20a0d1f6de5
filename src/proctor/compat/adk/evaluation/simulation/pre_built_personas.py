"""As `google.adk.evaluation.simulation.pre_built_personas`: those that a file may name by their ids."""

from __future__ import annotations

from enum import Enum

from proctor.compat.adk.errors.not_found_error import NotFoundError
from proctor.compat.adk.evaluation.simulation.user_simulator_personas import UserPersonaRegistry
from proctor.schema.format.persona import (
    BEHAVIORS,
    UnknownPersonaError,
    UserBehavior,
    UserPersona,
    find_persona,
    persona_ids,
    register_persona,
)

__all__ = ["PreBuiltBehaviors", "get_default_persona_registry"]


class PreBuiltBehaviors(Enum):
    """Behaviors to make personas of, in Proctor's words; `.value` is the `UserBehavior`."""

    ADVANCE_DETAIL_ORIENTED = UserBehavior.model_validate(BEHAVIORS["ADVANCE_DETAIL_ORIENTED"])
    ADVANCE_GOAL_ORIENTED = UserBehavior.model_validate(BEHAVIORS["ADVANCE_GOAL_ORIENTED"])
    ANSWER_RELEVANT_ONLY = UserBehavior.model_validate(BEHAVIORS["ANSWER_RELEVANT_ONLY"])
    ANSWER_ALL = UserBehavior.model_validate(BEHAVIORS["ANSWER_ALL"])
    CORRECT_AGENT = UserBehavior.model_validate(BEHAVIORS["CORRECT_AGENT"])
    DO_NOT_CORRECT_AGENT = UserBehavior.model_validate(BEHAVIORS["DO_NOT_CORRECT_AGENT"])
    TROUBLESHOOT_ONCE = UserBehavior.model_validate(BEHAVIORS["TROUBLESHOOT_ONCE"])
    END_LIMITED_TROUBLESHOOTING = UserBehavior.model_validate(BEHAVIORS["END_LIMITED_TROUBLESHOOTING"])
    END_NO_TROUBLESHOOTING = UserBehavior.model_validate(BEHAVIORS["END_NO_TROUBLESHOOTING"])
    TONE_PROFESSIONAL = UserBehavior.model_validate(BEHAVIORS["TONE_PROFESSIONAL"])
    TONE_CONVERSATIONAL = UserBehavior.model_validate(BEHAVIORS["TONE_CONVERSATIONAL"])


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
