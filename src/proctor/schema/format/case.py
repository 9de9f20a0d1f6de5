"""One case of an eval set: a recorded conversation to repeat, or a scenario to play."""

from typing import Annotated, Any, Self

from pydantic import AliasChoices, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from proctor.schema.format.invocation import Invocation
from proctor.schema.format.rubric import Rubric
from proctor.schema.format.scenario import ConversationScenario
from proctor.schema.format.session import SessionInput
from proctor.schema.format.wire_model import Timestamp, WireModel


def _text_as_turn(value: Any) -> Any:
    """Take a text for a turn in which the user says it, and of which nothing else is stated."""
    return {"user_content": {"role": "user", "parts": [{"text": value}]}} if isinstance(value, str) else value


def _fill_session(value: Any) -> Any:
    """Complete a session that names no app or user, as adk-rs writes it; an empty text means the usual one."""
    if not isinstance(value, dict):
        return value
    spellings = {"app_name": "appName", "user_id": "userId"}
    missing = {
        name: "" for name, camel in spellings.items() if value.get(name) is None and value.get(camel) is None
    }
    if not missing:
        return value
    absent = {*missing, *map(spellings.__getitem__, missing)}
    return {**{key: item for key, item in value.items() if key not in absent}, **missing}


def _is_none(value: object) -> bool:
    return value is None  # and then it is not written, not even in full: the format does not have it


class EvalCase(WireModel):
    """A conversation (or a scenario), the session it starts in, and what must hold at its end.

    `rubrics` apply to every invocation. `final_session_state`: every key that is stated must be there and equal.
    `opening` (an extra of Proctor's: the format's own readers keep it, and play the scenario without it) are turns that
    come before a scenario: the user says them word for word, whatever the agent answers. A text is a turn that states
    no more than what the user says. `id` is read for `eval_id`.
    """

    eval_id: Annotated[
        str, Field(validation_alias=AliasChoices("eval_id", "evalId", "id"), serialization_alias="evalId")
    ]
    conversation: list[Invocation] | None = None
    conversation_scenario: ConversationScenario | None = None
    session_input: Annotated[SessionInput | None, BeforeValidator(_fill_session)] = None
    creation_timestamp: Timestamp = 0.0
    rubrics: list[Rubric] | None = None
    final_session_state: dict[str, Any] | None = {}
    opening: Annotated[
        list[Annotated[Invocation, BeforeValidator(_text_as_turn)]] | None, Field(exclude_if=_is_none)
    ] = None

    @model_validator(mode="after")
    def _needs_one_conversation(self) -> Self:
        if (self.conversation is None) == (self.conversation_scenario is None):
            came = "neither" if self.conversation is None else "both"
            raise PydanticCustomError(
                "conversation_or_scenario",
                "expected exactly one of `conversation` and `conversation_scenario`, got {came}",
                {"came": came},
            )
        if self.opening and self.conversation is not None:
            raise PydanticCustomError(
                "opening_of_recorded",
                "`opening` stands before a `conversation_scenario`; a recorded case has all its turns in `conversation`",
            )
        return self
