"""Scenarios: conversations in which a user simulator follows a plan."""

from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from proctor.schema.format.persona import UnknownPersonaError, UserPersona, find_persona
from proctor.schema.format.wire_model import NULL_IS_EMPTY_LIST, WireModel


def _expand_persona(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return find_persona(value)
    except UnknownPersonaError as error:
        raise PydanticCustomError("unknown_persona", "{reason}", {"reason": str(error)}) from None


class ConversationScenario(WireModel):
    """A simulated conversation: the first message verbatim, and a plan for the rest.

    `user_persona` may be given as the id of a registered persona; it is written back expanded.
    """

    starting_prompt: str
    conversation_plan: str
    user_persona: Annotated[UserPersona | None, BeforeValidator(_expand_persona)] = None


class ConversationScenarios(WireModel):
    """A file of scenarios."""

    scenarios: Annotated[list[ConversationScenario], NULL_IS_EMPTY_LIST] = []


class ConversationGenerationConfig(WireModel):
    """The config for generating scenarios with a model: how many, of what kind, by which model."""

    count: int
    generation_instruction: str | None = None
    environment_context: str | None = None
    model_name: str
