"""One case of an eval set: a recorded conversation to repeat, or a scenario to play."""

from typing import Annotated, Any, Self

from pydantic import AliasChoices, Field, model_validator
from pydantic_core import PydanticCustomError

from proctor.schema.base import Timestamp, WireModel
from proctor.schema.invocation import Invocation
from proctor.schema.rubric import Rubric
from proctor.schema.scenario import ConversationScenario
from proctor.schema.session import SessionInput


class EvalCase(WireModel):
    """A conversation (or a scenario), the session it starts in, and what must hold at its end.

    `rubrics` apply to every invocation. `final_session_state`: every key that is stated must be there and equal.
    `id` is read for `eval_id`.
    """

    eval_id: Annotated[
        str, Field(validation_alias=AliasChoices("eval_id", "evalId", "id"), serialization_alias="evalId")
    ]
    conversation: list[Invocation] | None = None
    conversation_scenario: ConversationScenario | None = None
    session_input: SessionInput | None = None
    creation_timestamp: Timestamp = 0.0
    rubrics: list[Rubric] | None = None
    final_session_state: dict[str, Any] | None = {}

    @model_validator(mode="after")
    def _needs_one_conversation(self) -> Self:
        if (self.conversation is None) == (self.conversation_scenario is None):
            came = "neither" if self.conversation is None else "both"
            raise PydanticCustomError(
                "conversation_or_scenario",
                "expected exactly one of `conversation` and `conversation_scenario`, got {came}",
                {"came": came},
            )
        return self
