"""A case of an eval set: a recorded conversation, or a scenario for the user simulator."""

from typing import Annotated, Any, Self

from pydantic import AliasChoices, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from proctor.schema.format.invocation import Invocation
from proctor.schema.format.rubric import Rubric
from proctor.schema.format.scenario import ConversationScenario
from proctor.schema.format.session import SessionInput
from proctor.schema.format.wire_model import Timestamp, WireModel


def _text_as_turn(value: Any) -> Any:
    """Convert a text to a turn with this user message and no expectations."""
    return {"user_content": {"role": "user", "parts": [{"text": value}]}} if isinstance(value, str) else value


def _fill_session(value: Any) -> Any:
    """Complete a session without an app or user name, as adk-rs writes it; an empty text means the default."""
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
    return value is None  # then it is not written, not even in full form: the format does not define it


class EvalCase(WireModel):
    """A conversation (or a scenario), the initial session, and the expected final state.

    `rubrics` apply to every invocation. `final_session_state`: every stated key must exist and be equal. `opening` is an
    extension of Proctor's (other readers of the format preserve it, and simulate the scenario without it): turns before a
    scenario, in which the user sends the messages verbatim, whatever the agent answers. A text is a turn with only a user
    message. `id` is an alias of `eval_id`.
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
