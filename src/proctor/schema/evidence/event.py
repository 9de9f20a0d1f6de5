"""Events that an agent emits while it answers."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from proctor.schema.format.content import Content, FunctionCall, FunctionResponse, Part, UsageMetadata
from proctor.schema.format.invocation import GroundingMetadata
from proctor.schema.format.wire_model import (
    WAITING_ROOM,
    WireModel,
    count_as_given,
    defaults,
    maker,
    put_fields,
    put_unknown,
)


class Event(WireModel):
    """One event of an agent: a text, tool calls or their responses, a change of state, usage.

    The fields are those of google-adk's events that matter to an evaluation; other keys are preserved unchanged.
    `Event.said`, `.called`, `.returned` and `.changed` build the common events.
    """

    author: str = "agent"
    content: Content | None = None
    partial: bool | None = None
    """True for a fragment of a streamed answer; a separate event with the complete answer follows."""
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
        """Return an event with the agent's message `text`."""
        if cls is Event and not fields and type(text) is str and (author == "agent" or _is_an_agent(author)):
            fits = text.isascii() and "\0" not in text and (author == "agent" or author.isidentifier())
            event = new_event(WaitingEvent)  # as `waiting_event`, without the call
            put_recipe(event, ("text", author, len(text) if fits else -1, text))
            return event
        return cls._event_of_part({"text": text}, "model", author=author, **fields)

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
        """Return an event with a call of the tool `name` with `args`."""
        call_args = {} if args is None else args
        if cls is Event and not fields and (size := _size_of_call(author, id, name, call_args)) is not None:
            event = new_event(WaitingEvent)  # as `waiting_event`, without the call
            put_recipe(event, ("function_call", author, size, name, id, call_args.copy()))
            return event
        call = {"id": id, "name": name, "args": call_args}
        return cls._event_of_part({"function_call": call}, "model", author=author, **fields)

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
        """Return an event with the response `response` of the tool `name`."""
        if cls is Event and not fields and (size := _size_of_call(author, id, name, response)) is not None:
            event = new_event(WaitingEvent)  # as `waiting_event`, without the call
            put_recipe(event, ("function_response", author, size, name, id, response.copy()))
            return event
        answer = {"id": id, "name": name, "response": response}
        return cls._event_of_part({"function_response": answer}, "user", author=author, **fields)

    @classmethod
    def changed(cls, state_delta: dict[str, Any], *, author: str = "agent", **fields: Any) -> Event:
        """Return an event that sets session state keys."""
        return cls(author=author, state_delta=state_delta, **fields)

    @classmethod
    def _event_of_part(cls, part: dict[str, Any], role: str, **fields: Any) -> Event:
        # one call of the validator for all nested values: agents emit thousands of events
        data = {**fields, "content": {"role": role, "parts": [part]}}
        event: Event = cls.__pydantic_validator__.validate_python(data)
        return event

    @classmethod
    def from_adk(cls, event: dict[str, Any]) -> Event:
        """Read google-adk's event JSON, which has state changes and flags under `actions`.

        Raises:
            pydantic.ValidationError: a field has the wrong type.
        """
        actions = event.get("actions")
        if not isinstance(actions, dict):
            return cls.model_validate(event)
        lifted = {name: actions[key] for key, name in _LIFTED.items() if actions.get(key)}
        return cls.model_validate({**event, **lifted})

    def is_final_response(self) -> bool:
        """Return whether this event ends the agent's turn, by google-adk's rule.

        True with long-running tool ids or skipped summarization, or an error code (not partial, no function
        calls); otherwise true without function calls and responses, not partial, and not ending in a code result.
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


# Agents emit thousands of events, and most of them are never read. If all arguments are plainly valid, validation adds
# nothing, and the models are built on first access. Other arguments go through the validator, which gives the message.

Recipe = tuple[Any, ...]
"""The arguments of a lazy event: `text`, its author, a size and the text; or `function_call` or `function_response`, its author,
a size, the tool, the id, and arguments or response, in a dict that is not shared (its values may be). The size is the number
of characters of values that can be stored unchanged, or -1 if they need a closer inspection."""


class WaitingEvent(Event):
    """A lazy event: it becomes an `Event` on first access. The engine reads its recipe instead.

    Set no attribute on it. Two threads may settle it at the same time: both compute the same. (It is a separate class
    because attribute access is slow for every object whose class has `__getattribute__`.)
    """

    __slots__ = ()

    def settle(self) -> None:
        """Become the complete event, unless another thread has just made it one."""
        if type(self) is not WaitingEvent:
            return
        if (recipe := recipe_of(self)) is not None:
            _fill(self, recipe)
        _class_of.__set__(self, Event)
        if recipe is not None:
            with suppress(AttributeError):  # another thread
                _drop_recipe(self)

    if not TYPE_CHECKING:

        def __getattribute__(self, name: str) -> Any:
            """Settle on any access: unlike `__getattr__`, this also handles methods and `__dict__`."""
            WaitingEvent.settle(self)
            return getattr(self, name)

        def __copy__(self) -> Event:
            WaitingEvent.settle(self)
            return self.__copy__()

        def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Event:
            WaitingEvent.settle(self)
            return self.__deepcopy__(memo)

    def __eq__(self, other: object) -> bool:
        WaitingEvent.settle(self)
        return self == other

    __hash__ = None  # type: ignore[assignment]  # as for any mutable object with `__eq__`

    def __repr__(self) -> str:
        WaitingEvent.settle(self)
        return repr(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        WaitingEvent.settle(self)
        return self.__reduce_ex__(protocol)


get_recipe, put_recipe = WAITING_ROOM.__get__, WAITING_ROOM.__set__
_drop_recipe = WAITING_ROOM.__delete__
_class_of: Any = object.__dict__["__class__"]
new_event = _new = object.__new__


def waiting_event(recipe: Recipe) -> Event:
    """Return a lazy event that is built from `recipe` on first access."""
    event = new_event(WaitingEvent)
    put_recipe(event, recipe)
    return event


def recipe_of(event: Event) -> Recipe | None:
    """Return the recipe of a lazy event; `None` if another thread has just settled it."""
    try:
        recipe: Recipe = get_recipe(event)
    except AttributeError:
        return None
    return recipe


def call_of(recipe: Recipe) -> FunctionCall:
    """Return the call of a lazy event."""
    _, _, _, name, call_id, args = recipe
    values = _CALL.copy()
    values["id"], values["args"], values["name"] = call_id, args, name
    call = _new(FunctionCall)
    put_fields(call, values)
    put_unknown(call, {})
    return call


_EVENT, _PART = defaults(Event), defaults(Part)
_CALL, _ANSWER = defaults(FunctionCall), defaults(FunctionResponse)
_answer = maker(FunctionResponse, "id", "name", "response")
_part, _content = maker(Part), maker(Content, "role", "parts")
count_as_given(Event, ("author", "content"))
count_as_given(Part, ())
count_as_given(FunctionCall, ("id", "name", "args"))


def _fill(event: Event, recipe: Recipe) -> None:
    """Set the models that the validator would have built from the recipe."""
    kind, value, role = recipe[0], recipe[3], "model"
    if kind == "function_call":  # with a separate dict: several events may be built from one recipe
        value = call_of((*recipe[:5], recipe[5].copy()))
    elif kind == "function_response":
        value = _answer({**_ANSWER, "id": recipe[4], "name": value, "response": recipe[5].copy()})
        role = "user"
    content = _content({"parts": [_part({**_PART, kind: value})], "role": role})
    put_fields(event, {**_EVENT, "author": recipe[1], "content": content})
    put_unknown(event, {})


# --- Evidence as plain data: lazy events are not settled for it --------------------------------------------------------


def plain_evidence(value: Any) -> Any:
    """Convert models to dicts without null values; `to_json` handles the rest."""
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind is list:
        return [plain_evidence(each) for each in value]
    if kind is WaitingEvent and (recipe := recipe_of(value)) is not None:
        return _plain_event(recipe)
    if not isinstance(value, WireModel):
        return value
    data = {  # one call less for most values: this runs for every trial
        name: each if type(each) in _ATOMS else plain_evidence(each)
        for name, each in value.__dict__.items()
        if each is not None
    }
    if extra := value.__pydantic_extra__:
        data |= {name: plain_evidence(each) for name, each in extra.items() if each is not None}
    return data


_ATOMS = frozenset({str, int, float, bool, dict, bytes})


def _plain_event(recipe: Recipe) -> dict[str, Any]:
    """Return the data of the event that `recipe` describes."""
    kind, author, _, part = recipe[:4]
    role = "user" if kind == "function_response" else "model"
    if kind != "text":
        _, _, _, name, its_id, inside = recipe
        if kind == "function_call":
            part = {"id": its_id, "args": inside, "name": name}
        else:
            part = {"id": its_id, "name": name, "response": inside}
        if its_id is None:
            del part["id"]
    content = {"parts": [{kind: part}], "role": role}
    return {"author": author, "content": content, "invocation_id": ""}


# --- Arguments that need no validation ----------------------------------------------------------------------------------


def _is_an_agent(author: object) -> bool:
    return type(author) is str and (author == "agent" or author.lower() != "user")


_LONG = 2**63
_MOST_ENTRIES = 64  # the entries of a larger dict are inspected one by one
_CONSTANTS = frozenset({bool, type(None)})


def flat_size(values: dict[Any, Any]) -> int:
    """Count the characters of plain values under plain keys; -1 for any others.

    Plain keys are short ASCII identifiers. Plain values are ASCII texts without NUL, whole numbers of 63 bits, finite
    floats, true, false and null: every store can hold them, and they are immutable.
    """
    if len(values) > _MOST_ENTRIES:
        return -1
    size = 0
    for key, item in values.items():  # one loop for all checks: this runs for every call of every trial
        if type(key) is not str or not key.isidentifier():
            return -1
        kind = type(item)
        if kind is str:
            if not item.isascii() or "\0" in item:
                return -1
            size += len(item)
        elif kind is int:
            if not -_LONG < item < _LONG:
                return -1
        elif not (kind in _CONSTANTS or (kind is float and math.isfinite(item))):
            return -1
        size += len(key)
    return size


def _size_of_call(author: object, call_id: object, name: object, data: object) -> int | None:
    """Return the size for a recipe if the texts are texts and the dict has text keys; `None` for anything else."""
    if not (type(name) is str and type(data) is dict and (author == "agent" or _is_an_agent(author))):
        return None
    if call_id is not None and type(call_id) is not str:
        return None
    size = flat_size(data)
    if size < 0:
        return None if any(type(key) is not str for key in data) else -1
    if not name.isidentifier() or (call_id and not call_id.isalnum()):
        return -1
    return size if author == "agent" or str(author).isidentifier() else -1


_LIFTED = {
    "state_delta": "state_delta",
    "stateDelta": "state_delta",
    "skip_summarization": "skip_summarization",
    "skipSummarization": "skip_summarization",
}


# The finish reasons of OpenAI's chat completions (`finish_reason`), Anthropic's messages (`stop_reason`) and Gemini's `FinishReason`.
_AT_ITS_LIMIT = ("length", "max_tokens", "max_output_tokens")
_HELD_BACK = ("content_filter", "safety", "recitation", "blocklist", "prohibited_content", "spii")
_CAUSES = {
    **dict.fromkeys(_AT_ITS_LIMIT, "the model's answer ends at its limit of tokens"),
    **dict.fromkeys(_HELD_BACK, "a content filter held the model's answer back"),
}


def incomplete_answer_reason(reason: str) -> str | None:
    """Return why an answer is incomplete; `None` if `reason` (in any case) does not mean that it was cut off."""
    cause = _CAUSES.get(reason.lower())
    return cause and f"{cause} (finish_reason: {reason})"
