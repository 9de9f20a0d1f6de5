"""An invocation, one turn of a conversation: the user's message and the agent's activity, in either of the format's two forms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import (
    BeforeValidator,
    Discriminator,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    Tag,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from proctor.schema.format.content import Content, FunctionCall, FunctionResponse, Part, UsageMetadata
from proctor.schema.format.rubric import Rubric
from proctor.schema.format.wire_model import (
    NULL_IS_EMPTY_DICT,
    NULL_IS_EMPTY_LIST,
    Base64Bytes,
    Timestamp,
    WireModel,
)


class GroundingChunkWeb(WireModel):
    """A web page."""

    domain: str | None = None
    title: str | None = None
    uri: str | None = None


class GroundingChunk(WireModel):
    """One source."""

    image: Any = None
    maps: Any = None
    retrieved_context: Any = None
    web: GroundingChunkWeb | None = None


class Segment(WireModel):
    """A segment of the answer; byte offsets within a part."""

    start_index: int | None = None
    end_index: int | None = None
    part_index: int | None = None
    text: str | None = None


class GroundingSupport(WireModel):
    """The sources that support a segment of the answer."""

    confidence_scores: list[float] | None = None
    grounding_chunk_indices: list[int] | None = None
    segment: Segment | None = None
    rendered_parts: list[int] | None = None


class RetrievalMetadata(WireModel):
    """Metadata of the retrieval decision."""

    google_search_dynamic_retrieval_score: float | None = None


class SearchEntryPoint(WireModel):
    """The search widget that a page with the answer must display."""

    rendered_content: str | None = None
    sdk_blob: Base64Bytes | None = None


class GroundingMetadata(WireModel):
    """The sources of an answer."""

    image_search_queries: list[str] | None = None
    grounding_chunks: list[GroundingChunk] | None = None
    grounding_supports: list[GroundingSupport] | None = None
    retrieval_metadata: RetrievalMetadata | None = None
    search_entry_point: SearchEntryPoint | None = None
    web_search_queries: list[str] | None = None
    google_maps_widget_context_token: str | None = None
    retrieval_queries: list[str] | None = None
    source_flagging_uris: Any = None


CallWithResponse = tuple[FunctionCall, FunctionResponse | None]


def _read_intermediate_response(value: Any) -> Any:
    """Convert objects `{author, parts | text | content}` and contents `{role, parts}` to the pair `[author, parts]`."""
    if isinstance(value, Content):
        return value.role or "", value.parts or []
    if not isinstance(value, dict):
        return value
    content = value.get("content")
    inner = content if isinstance(content, dict) else value
    author = value.get("author") or inner.get("role") or ""
    if inner.get("parts") is not None:
        return author, inner["parts"]
    if isinstance(value.get("text"), str):
        return author, [{"text": value["text"]}]
    raise PydanticCustomError(
        "intermediate_response",
        "expected a pair [author, parts], or an object with `author` and `parts` or `text`",
    )


IntermediateResponse = Annotated[
    tuple[str, Annotated[list[Part], NULL_IS_EMPTY_LIST]], BeforeValidator(_read_intermediate_response)
]


KEEP_WRITTEN: Mapping[str, str] = {"tool_uses": "as written"}
"""The serialization context that preserves the difference between a written `tool_uses: []` and an absent one.

ADK's own writer omits the written one, so that the case no longer asserts anything.
"""
_CALL_KEYS = frozenset({"tool_uses", "toolUses"})


class IntermediateData(WireModel):
    """The agent's activity before its final response, the older form: calls, responses and texts in separate lists.

    A written `tool_uses: []` asserts that no tool is called; an absent or null one asserts nothing. Metrics treat them
    alike, and reading and writing preserve both.
    """

    tool_uses: Annotated[list[FunctionCall], NULL_IS_EMPTY_LIST] = []
    tool_responses: Annotated[list[FunctionResponse], NULL_IS_EMPTY_LIST] = []
    intermediate_responses: Annotated[list[IntermediateResponse], NULL_IS_EMPTY_LIST] = []

    @property
    def states_calls(self) -> bool:
        """Return whether the calls are written, even as an empty list."""
        return bool(self.tool_uses) or "tool_uses" in self.model_fields_set

    @model_validator(mode="before")
    @classmethod
    def _null_is_not_written(cls, value: Any) -> Any:
        """Read `tool_uses: null` as an absent key."""
        if not isinstance(value, dict) or len(_CALL_KEYS & value.keys()) != 1:
            return value
        return {key: item for key, item in value.items() if item is not None or key not in _CALL_KEYS}

    @model_serializer(mode="wrap")
    def _keep_what_is_written(self, write: SerializerFunctionWrapHandler, info: SerializationInfo) -> Any:
        """With the context `KEEP_WRITTEN`, write an empty list of calls exactly if it was written; else as ADK does."""
        data: dict[str, Any] = write(self)
        if info.context is not KEEP_WRITTEN or self.tool_uses:
            return data
        rest = {key: value for key, value in data.items() if key not in _CALL_KEYS}
        return {"toolUses" if info.by_alias else "tool_uses": [], **rest} if self.states_calls else rest


class InvocationEvent(WireModel):
    """One event of a turn: author, content, and usage."""

    author: str
    content: Content | None = None
    grounding_metadata: GroundingMetadata | None = None
    usage_metadata: UsageMetadata | None = None
    model_version: str | None = None


class InvocationEvents(WireModel):
    """The agent's activity, the current form: events in order."""

    invocation_events: Annotated[list[InvocationEvent], NULL_IS_EMPTY_LIST] = []


_OLDER_KEYS = (
    "tool_uses",
    "toolUses",
    "tool_responses",
    "toolResponses",
    "intermediate_responses",
    "intermediateResponses",
)


def _intermediate_kind(value: Any) -> str | None:
    """Return which of the two forms `value` has; None for a mixture of both. A null key does not count."""
    if isinstance(value, dict):
        has_events = "invocation_events" in value or "invocationEvents" in value
        if not has_events:
            return "intermediate_data"
        if len(value) == 1 or all(value.get(key) is None for key in _OLDER_KEYS):
            return "invocation_events"
        no_events = value.get("invocation_events") is None and value.get("invocationEvents") is None
        return "intermediate_data" if no_events else None
    return "invocation_events" if isinstance(value, InvocationEvents) else "intermediate_data"


AnyIntermediateData = Annotated[
    Annotated[IntermediateData, Tag("intermediate_data")]
    | Annotated[InvocationEvents, Tag("invocation_events")],
    Discriminator(
        _intermediate_kind,
        custom_error_type="intermediate_data_mixed",
        custom_error_message=(
            "expected either `invocation_events` or `tool_uses`, `tool_responses`, `intermediate_responses`, not both"
        ),
    ),
]


class AgentDetails(WireModel):
    """An agent's configuration at run time. `tool_declarations` as sent to the model: `{"function_declarations": [...]}`."""

    name: str
    instructions: str = ""
    tool_declarations: Annotated[list[Any], NULL_IS_EMPTY_LIST] = []


class AppDetails(WireModel):
    """The agents of an app by name."""

    agent_details: Annotated[dict[str, AgentDetails], NULL_IS_EMPTY_DICT] = {}

    def developer_instructions(self, agent_name: str) -> str:
        """Return the instructions of one agent. Raises ValueError for an unknown agent."""
        details = self.agent_details.get(agent_name)
        if details is None:
            known = ", ".join(self.agent_details) or "none"
            raise ValueError(f"there is no agent {agent_name!r} in app_details (agents: {known})")
        return details.instructions

    def get_developer_instructions(self, agent_name: str) -> str:
        """Return `developer_instructions`, by google-adk's name."""
        return self.developer_instructions(agent_name)

    def get_tools_by_agent_name(self) -> dict[str, list[Any]]:
        """Return the tool declarations of each agent, by its name."""
        return {name: details.tool_declarations for name, details in self.agent_details.items()}


class Invocation(WireModel):
    """One user turn with the agent's activity: expected (from a file) or actual (recorded).

    `duration`, `model_duration`, `tool_duration`: seconds; only for turns that were run.
    `rubrics`: for this turn only.
    """

    invocation_id: str = ""
    user_content: Content
    final_response: Content | None = None
    intermediate_data: AnyIntermediateData | None = None
    creation_timestamp: Timestamp = 0.0
    duration: float | None = None
    model_duration: float | None = None
    tool_duration: float | None = None
    rubrics: list[Rubric] | None = None
    app_details: AppDetails | None = None

    @property
    def tool_calls(self) -> list[FunctionCall]:
        """All tool calls in order."""
        return tool_calls_of(self.__dict__["intermediate_data"])

    @property
    def tool_responses(self) -> list[FunctionResponse]:
        """All tool responses in order."""
        return tool_responses_of(self.intermediate_data)

    @property
    def calls_with_responses(self) -> list[CallWithResponse]:
        """Return each call with the response of the same id (the last of several); without id: the last response without id."""
        responses = {response.id: response for response in self.tool_responses}
        return [(call, responses.get(call.id)) for call in self.tool_calls]

    @property
    def usage_metadata(self) -> list[UsageMetadata]:
        """The usage of every event that reported one; the older form of intermediate data has none."""
        data = self.intermediate_data
        if not isinstance(data, InvocationEvents):
            return []
        return [event.usage_metadata for event in data.invocation_events if event.usage_metadata is not None]


def _event_parts(events: Iterable[InvocationEvent]) -> Iterable[Part]:
    for event in events:
        if event.content is not None and event.content.parts:
            yield from event.content.parts


def tool_calls_of(data: IntermediateData | InvocationEvents | None) -> list[FunctionCall]:
    """Return all tool calls in order; none for null."""
    if data is None:
        return []
    if isinstance(data, IntermediateData):
        return data.tool_uses
    return [
        part.function_call
        for event in data.invocation_events
        if event.content is not None and event.content.parts
        for part in event.content.parts
        if part.function_call is not None
    ]


def tool_responses_of(data: IntermediateData | InvocationEvents | None) -> list[FunctionResponse]:
    """Return all tool responses in order; none for null."""
    if data is None:
        return []
    if isinstance(data, IntermediateData):
        return data.tool_responses
    parts = _event_parts(data.invocation_events)
    return [part.function_response for part in parts if part.function_response is not None]


def states_silence(expected: Invocation) -> bool:
    """Return whether a turn expects no answer: its `final_response` has one empty text and nothing else."""
    parts = expected.final_response.parts if expected.final_response is not None else None
    return parts is not None and len(parts) == 1 and parts[0].text == ""
