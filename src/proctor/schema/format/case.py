"""Eval sets and their cases: recorded conversations, or scenarios for the user simulator; and extensions of the format."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Annotated, Any, NamedTuple, Self

from pydantic import AliasChoices, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from proctor.schema.format.invocation import Invocation
from proctor.schema.format.persona import UnknownPersonaError, UserPersona, find_persona
from proctor.schema.format.rubric import Rubric
from proctor.schema.format.wire_model import (
    NULL_IS_EMPTY_DICT,
    NULL_IS_EMPTY_LIST,
    WRITTEN_IN_SNAKE_CASE,
    Timestamp,
    WireModel,
)


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


class SessionInput(WireModel):
    """The initial session of a case. `session_id` pins the session: an existing one is used unchanged."""

    app_name: str
    user_id: str
    session_id: str | None = None
    state: Annotated[dict[str, Any], NULL_IS_EMPTY_DICT] = {}


class SessionDetails(WireModel):
    """A session as stored in a result. Events and all unknown keys are preserved unchanged."""

    id: str | None = None
    app_name: str | None = None
    user_id: str | None = None
    state: dict[str, Any] | None = None
    events: list[Any] | None = None
    last_update_time: float | None = None


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
    scenario, in which the user sends the messages verbatim, regardless of the agent's answers. A text is a turn with only a user
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
                "`opening` precedes a `conversation_scenario`; a recorded case has all its turns in `conversation`",
            )
        return self


class Statement(IntEnum):
    """The strongest statement that a metric finds in a case."""

    NONE = 0
    NEGATIVE = 1
    """An agent that does nothing satisfies it."""
    POSITIVE = 2


# --- Extensions: keys beyond the format, where google-adk's readers allow them: in the case, or in its session input --


EXTENSION_KEYS = {
    "expectations": ("expectations",),
    "trajectory_rules": ("trajectory_rules", "trajectoryRules"),
    "response_schema": ("response_schema", "responseSchema"),
}
"""The keys that Proctor's metrics read, each with its spellings."""
SESSION = "session_input"


class CaseExtension(NamedTuple):
    """The value of an extension key, and its location."""

    where: str
    """The key as written, with its parent object: `session_input.expectations`."""
    value: Any


def find_extension(case: EvalCase, key: str) -> CaseExtension | None:
    """Return the value of one of `EXTENSION_KEYS`: from the case itself, or else from its session input."""
    return next(find_extensions(case, key), None)


def find_extensions(case: EvalCase, key: str) -> Iterator[CaseExtension]:
    """Yield every location of `key` in a case, those of the case itself first."""
    session = case.session_input
    for inside, extra in (("", case.model_extra), (f"{SESSION}.", session and session.model_extra)):
        for name in EXTENSION_KEYS[key]:
            if extra and name in extra:
                yield CaseExtension(f"{inside}{name}", extra[name])


def tags_of(case: EvalCase) -> list[str]:
    """Return the tags of a case."""
    tags = (case.model_extra or {}).get("tags") or []
    return [tags] if isinstance(tags, str) else [str(tag) for tag in tags]


def contradictory_extensions(case: EvalCase) -> Iterator[str]:
    """Yield a message for each key that a case states in two locations with different values."""
    for key in EXTENSION_KEYS:
        places = [*find_extensions(case, key)]
        for other in places[1:]:
            if _text(places[0].value) != _text(other.value):
                yield f"{other.where}: `{places[0].where}` has another value; keep one of the two"


def all_extensions(case: EvalCase) -> Mapping[str, Any] | None:
    """Return all unknown keys of a case for metrics, with those of `EXTENSION_KEYS` in their standard spelling."""
    if not has_unknown_keys(case):
        return None
    extensions = {**(case.model_extra or {})}
    extensions |= {
        key: extension.value for key in EXTENSION_KEYS if (extension := find_extension(case, key)) is not None
    }
    return extensions


def has_unknown_keys(case: EvalCase) -> bool:
    """Return quickly whether there is any unknown key; most cases have none, and every trial calls this."""
    session: Any = case.__dict__["session_input"]
    return bool(case.__pydantic_extra__ or (session is not None and session.__pydantic_extra__))


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=repr)


class EvalSet(WireModel):
    """Cases under one id.

    Its own keys are always written in snake_case, by alias too (as ADK writes them and alone reads them);
    both spellings are read, and `id` for `eval_set_id`.
    """

    model_config = ConfigDict(alias_generator=WRITTEN_IN_SNAKE_CASE, populate_by_name=True)

    eval_set_id: Annotated[
        str,
        Field(
            validation_alias=AliasChoices("eval_set_id", "evalSetId", "id"), serialization_alias="eval_set_id"
        ),
    ]
    name: str | None = None
    description: str | None = None
    eval_cases: list[EvalCase]
    creation_timestamp: Timestamp = 0.0
