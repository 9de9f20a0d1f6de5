"""What an agent emits while it answers: one `Event` at a time."""

from __future__ import annotations

from typing import Any

from proctor.schema.base import WireModel
from proctor.schema.content import Content, FunctionCall, FunctionResponse, Part, UsageMetadata
from proctor.schema.grounding import GroundingMetadata
from proctor.schema.making import count_as_given, defaults, put_fields, put_unknown


class Event(WireModel):
    """One thing that an agent emitted: text, a tool call, a tool response, a state change, usage.

    The fields are those of google-adk's events that matter to an evaluation; anything else is kept as it came.
    `Event.said`, `.called`, `.returned` and `.changed` build the common ones.
    """

    author: str = "agent"
    content: Content | None = None
    partial: bool | None = None
    """True for a piece of a streamed answer; the whole follows in an event of its own."""
    state_delta: dict[str, Any] | None = None
    """Session state keys that this event sets."""
    usage_metadata: UsageMetadata | None = None
    model_version: str | None = None
    grounding_metadata: GroundingMetadata | None = None
    error_code: str | None = None
    error_message: str | None = None
    long_running_tool_ids: list[str] | None = None
    skip_summarization: bool | None = None
    invocation_id: str = ""
    timestamp: float | None = None

    @classmethod
    def said(cls, text: str, *, author: str = "agent", **fields: Any) -> Event:
        """Return an event in which the agent says `text`."""
        if cls is Event and not fields and type(text) is type(author) is str:
            return _event_of("text", text, "model", author)
        return cls._of_part({"text": text}, "model", author=author, **fields)

    @classmethod
    def called(
        cls,
        name: str,
        args: dict[str, Any] | None = None,
        *,
        id: str | None = None,  # noqa: A002 - the format's own word
        author: str = "agent",
        **fields: Any,
    ) -> Event:
        """Return an event in which the agent calls the tool `name` with `args`."""
        given = {} if args is None else args
        if cls is Event and not fields and _are_plain(author, id, name, given):
            stated = _CALL.copy()
            stated["id"], stated["args"], stated["name"] = id, given.copy(), name
            call = _new(FunctionCall)
            put_fields(call, stated)
            put_unknown(call, {})
            return _event_of("function_call", call, "model", author)
        given = {"id": id, "name": name, "args": given}
        return cls._of_part({"function_call": given}, "model", author=author, **fields)

    @classmethod
    def returned(
        cls,
        name: str,
        response: dict[str, Any],
        *,
        id: str | None = None,  # noqa: A002 - the format's own word
        author: str = "agent",
        **fields: Any,
    ) -> Event:
        """Return an event in which the tool `name` answers with `response`."""
        if cls is Event and not fields and _are_plain(author, id, name, response):
            stated = _ANSWER.copy()
            stated["id"], stated["name"], stated["response"] = id, name, response.copy()
            answer = _new(FunctionResponse)
            put_fields(answer, stated)
            put_unknown(answer, {})
            return _event_of("function_response", answer, "user", author)
        given = {"id": id, "name": name, "response": response}
        return cls._of_part({"function_response": given}, "user", author=author, **fields)

    @classmethod
    def changed(cls, state_delta: dict[str, Any], *, author: str = "agent", **fields: Any) -> Event:
        """Return an event that sets session state keys."""
        return cls(author=author, state_delta=state_delta, **fields)

    @classmethod
    def _of_part(cls, part: dict[str, Any], role: str, **fields: Any) -> Event:
        # one call of the validator for all that is nested: agents make events by the thousand
        event = {**fields, "content": {"role": role, "parts": [part]}}
        made: Event = cls.__pydantic_validator__.validate_python(event)
        return made

    @classmethod
    def from_adk(cls, event: dict[str, Any]) -> Event:
        """Read google-adk's event JSON, where state changes and flags stand under `actions`.

        Raises:
            pydantic.ValidationError: a field has the wrong type.
        """
        actions = event.get("actions")
        if not isinstance(actions, dict):
            return cls.model_validate(event)
        lifted = {name: actions[key] for key, name in _LIFTED.items() if actions.get(key)}
        return cls.model_validate({**event, **lifted})

    def is_final_response(self) -> bool:
        """Tell whether this event ends the agent's turn, by google-adk's rule.

        True with long-running tool ids or skipped summarisation, or an error code (not partial, no function
        calls); else true without function calls and responses, not partial, and not ending in a code result.
        """
        if self.skip_summarization or self.long_running_tool_ids:
            return True
        if self.partial:
            return False
        parts = (self.content and self.content.parts) or ()
        responded = False
        for part in parts:  # a loop, not any(...): this runs for every event of every trial
            if part.function_call:
                return False
            responded = responded or part.function_response is not None
        if self.error_code:
            return True
        return not responded and not (parts and parts[-1].code_execution_result)


# Agents make events by the thousand: where everything given is plainly valid, the validator has nothing to add.
# Whatever is not goes through it, and gets its message.

_EVENT, _PART = defaults(Event), defaults(Part)
_CALL, _ANSWER = defaults(FunctionCall), defaults(FunctionResponse)
_new = object.__new__
_TEXT = frozenset({str})
count_as_given(Event, ("author", "content"))
count_as_given(Content, ("role", "parts"))
count_as_given(Part, ())
count_as_given(FunctionCall, ("id", "name", "args"))
count_as_given(FunctionResponse, ("id", "name", "response"))


def _event_of(field: str, value: object, role: str, author: str) -> Event:
    """Return an event whose content has one part, of which one field is given: three models at once."""
    fields = _PART.copy()
    fields[field] = value
    part = _new(Part)
    put_fields(part, fields)
    put_unknown(part, {})
    content = _new(Content)
    put_fields(content, {"parts": [part], "role": role})
    put_unknown(content, {})
    fields = _EVENT.copy()
    fields["author"] = author
    fields["content"] = content
    event = _new(Event)
    put_fields(event, fields)
    put_unknown(event, {})
    return event


def _are_plain(author: object, call_id: object, name: object, given: object) -> bool:
    """Texts that are texts, and a dict whose keys are texts."""
    if not (type(author) is type(name) is str and type(given) is dict):
        return False
    return (call_id is None or type(call_id) is str) and _TEXT.issuperset(map(type, given))


_LIFTED = {
    "state_delta": "state_delta",
    "stateDelta": "state_delta",
    "skip_summarization": "skip_summarization",
    "skipSummarization": "skip_summarization",
}
