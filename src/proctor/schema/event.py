"""What an agent emits while it answers: one `Event` at a time."""

from __future__ import annotations

from typing import Any

from proctor.schema.base import WireModel
from proctor.schema.content import Content, FunctionCall, FunctionResponse, Part, UsageMetadata
from proctor.schema.grounding import GroundingMetadata
from proctor.schema.making import defaults, maker


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
            return _event_of(_text_part({**_PART, "text": text}), "model", author)
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
            made = _call({**_CALL, "id": id, "args": given.copy(), "name": name})
            return _event_of(_call_part({**_PART, "function_call": made}), "model", author)
        call = {"id": id, "name": name, "args": given}
        return cls._of_part({"function_call": call}, "model", author=author, **fields)

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
            made = _answer({**_ANSWER, "id": id, "name": name, "response": response.copy()})
            return _event_of(_answer_part({**_PART, "function_response": made}), "user", author)
        answer = {"id": id, "name": name, "response": response}
        return cls._of_part({"function_response": answer}, "user", author=author, **fields)

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
_event, _content = maker(Event, "author", "content"), maker(Content, "role", "parts")
_text_part = maker(Part, "text")
_call_part, _call = maker(Part, "function_call"), maker(FunctionCall, "id", "name", "args")
_answer_part = maker(Part, "function_response")
_answer = maker(FunctionResponse, "id", "name", "response")


def _event_of(part: Part, role: str, author: str) -> Event:
    content = _content({"parts": [part], "role": role})
    return _event({**_EVENT, "author": author, "content": content})


def _are_plain(author: object, call_id: object, name: object, given: object) -> bool:
    """Texts that are texts, and a dict whose keys are texts."""
    if not (type(author) is type(name) is str and type(given) is dict):
        return False
    for key in given:  # a loop, not all(...): this runs for every call of every trial
        if type(key) is not str:
            return False
    return call_id is None or type(call_id) is str


_LIFTED = {
    "state_delta": "state_delta",
    "stateDelta": "state_delta",
    "skip_summarization": "skip_summarization",
    "skipSummarization": "skip_summarization",
}
