"""Convert the answers of functions to events. Other types break the contract, and the message names the type.

| answer | read as |
|---|---|
| a text | one event with the text |
| `Content`, `Part`, `FunctionCall`, `FunctionResponse`, or google-genai's | one event with it |
| `Event`, or google-adk's | itself |
| `{"text": …}` or `{"response": …}`, also with `"tool_calls": […]` and `"state_delta": {…}` | calls, state, text |
| `{"parts": […]}` | a `Content` |
| `{"function_call": …}`, `{"function_response": …}` | a `Part` |
| `{"author": …, "content": …, …}` | an `Event`, also as google-adk writes it |

A tool call is `{"name", "args", "id", "response"}`; only the name is required. A response becomes a separate event
after the call. `author`, `usage_metadata` and `model_version` are allowed next to a text or calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_camel

from proctor.common.error_text import safe_repr, safe_str
from proctor.common.json_values import JsonObject
from proctor.common.limits import MAX_DEPTH
from proctor.errors import AgentError, did_you_mean
from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Content, FunctionCall, FunctionResponse, Part
from proctor.schema.format.wire_model import plain_data

ACCEPTED = (
    "a text, a Content, an Event, a dict ({'text': …, 'tool_calls': […]}, a Content or an Event as JSON), "
    "or an iterable of these"
)


_SCALARS = (str, int, float, bool, type(None))


def convert_answer(answer: object) -> list[Event]:
    """Convert one answer (not an iterable of answers) to events; see the table above.

    Raises:
        AgentError: its type is not accepted.
    """
    if isinstance(answer, str):
        return [Event.said(answer)]
    if isinstance(answer, Event):
        return [answer]
    if isinstance(answer, Content):
        return [Event(content=answer)]
    if isinstance(answer, Part | FunctionCall | FunctionResponse):
        return [_with_part(answer)]
    try:
        return _from_data(answer)
    except ValidationError as error:
        raise AgentError(f"the agent's answer does not fit: {first_problem(error)}") from None


def _with_part(answer: Part | FunctionCall | FunctionResponse) -> Event:
    if isinstance(answer, FunctionCall):
        answer = Part(function_call=answer)
    elif isinstance(answer, FunctionResponse):
        answer = Part(function_response=answer)
    return Event(content=Content(role="model", parts=[answer]))


def _from_data(answer: object) -> list[Event]:
    if isinstance(answer, BaseModel) and type(answer).__module__.startswith("google."):
        return _foreign(answer)
    if isinstance(answer, Mapping):
        _check_json(answer)
        return _from_dict(dict(answer))
    raise AgentError(f"the agent answered with {safe_repr(answer)}; expected {ACCEPTED}")


def _check_json(value: object, depth: int = 0) -> None:
    """Reject values that evidence cannot contain; models and bytes are allowed within a dict."""
    if depth > MAX_DEPTH:
        raise AgentError(f"the agent's answer is nested deeper than {MAX_DEPTH} levels, or contains itself")
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, _SCALARS):
                raise AgentError(f"the agent's answer has the key {safe_repr(key)}; expected a text")
            _check_json(item, depth + 1)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            _check_json(item, depth + 1)
    elif not isinstance(value, (*_SCALARS, bytes, BaseModel)):
        raise AgentError(f"the agent's answer contains {safe_repr(value)}, which is not JSON")


def _foreign(answer: BaseModel) -> list[Event]:
    """Convert objects of google-genai and google-adk by the names of their classes, without importing these libraries."""
    fields = plain_data(answer)
    for kind in (Content, Part, FunctionCall, FunctionResponse):
        if kind.__name__ == type(answer).__name__:
            return convert_answer(kind.model_validate(fields))
    return [Event.from_adk(fields)]


def _from_dict(answer: JsonObject) -> list[Event]:
    for applies, reader in _DICTS:
        if not applies.isdisjoint(answer):
            return reader(answer)
    keys = ", ".join(sorted(safe_repr(key, 40) for key in answer)) or "no keys"
    raise AgentError(f"the agent answered with a dict that has {keys}; expected {ACCEPTED}")


def _simple(answer: JsonObject) -> list[Event]:
    _check_keys(answer)
    events = [event for call in _calls(answer.get("tool_calls")) for event in _call_events(call)]
    if delta := answer.get("state_delta"):
        events.append(Event.model_validate({"state_delta": delta}))
    if (text := answer.get("text", answer.get("response"))) is not None:
        if not isinstance(text, str):
            raise AgentError(f"the text of the agent's answer is {safe_repr(text)}; expected a text")
        events.append(Event.said(text))
    if not events:
        raise AgentError("the agent's answer has neither a text nor a tool call")
    _set_metadata(events, {name: answer[name] for name in _ABOUT if answer.get(name) is not None})
    return events


def _check_keys(answer: JsonObject) -> None:
    unknown = next((key for key in answer if key not in _SIMPLE), None)
    if unknown is not None:
        raise AgentError(
            f"the agent's answer has the unknown key {unknown!r}.{did_you_mean(str(unknown), _SIMPLE)} "
            f"Known: {', '.join(sorted(_SIMPLE))}"
        )
    if "text" in answer and "response" in answer:
        raise AgentError("the agent's answer has both 'text' and 'response'; they mean the same: give one")


def _set_metadata(events: list[Event], metadata: JsonObject) -> None:
    """Set the author of all events of an answer, and the usage of the last one."""
    if not metadata:
        return
    described, last = Event.model_validate(metadata), events[-1]
    for event in events:
        event.author = described.author
    last.usage_metadata, last.model_version = described.usage_metadata, described.model_version


def _calls(calls: object) -> list[object]:
    if calls is None:
        return []
    if not isinstance(calls, list | tuple):
        raise AgentError(
            f"'tool_calls' of the agent's answer is {safe_repr(calls)}; expected a list of calls"
        )
    return list(calls)


def _call_events(call: object) -> list[Event]:
    if isinstance(call, FunctionCall):
        return [_with_part(call)]
    if not isinstance(call, Mapping):
        raise AgentError(
            f"a tool call of the agent's answer is {safe_repr(call)}; expected {{'name', 'args'}}"
        )
    fields = dict(call)
    responded, response = "response" in fields, fields.pop("response", None)
    function_call = FunctionCall.model_validate(fields)
    if not function_call.name:
        raise AgentError(f"a tool call of the agent's answer has no name: {safe_repr(call)}")
    events = [_with_part(function_call)]
    if responded:  # as google-adk does: a response that is not an object is under `result`
        answer = response if isinstance(response, dict) else {"result": response}
        events.append(Event.returned(function_call.name, answer, id=function_call.id))
    return events


def _content(answer: JsonObject) -> list[Event]:
    return [Event(content=Content.model_validate(answer))]


def _part(answer: JsonObject) -> list[Event]:
    return [_with_part(Part.model_validate(answer))]


def _event(answer: JsonObject) -> list[Event]:
    actions = answer.get("actions")
    if actions is not None and not isinstance(actions, dict):
        raise AgentError(f"'actions' of the agent's event is {safe_repr(actions)}; expected an object")
    return [Event.from_adk(answer)]


def _spellings(*names: str) -> frozenset[str]:
    return frozenset(names) | {to_camel(name) for name in names}


_ABOUT = frozenset({"author", "usage_metadata", "model_version"})
_SIMPLE = frozenset({"text", "response", "tool_calls", "state_delta"}) | _ABOUT
_DICTS: list[tuple[frozenset[str], Callable[[JsonObject], list[Event]]]] = [
    (frozenset({"parts"}), _content),
    (frozenset({"text", "response", "tool_calls"}), _simple),
    (_spellings("function_call", "function_response", "inline_data", "file_data"), _part),
    (_spellings(*Event.model_fields) | {"actions"}, _event),
]
"""The readers of a dict: the first line with one of its keys applies."""


def first_problem(error: ValidationError) -> str:
    """Return pydantic's first problem, with its location if it has one: `content.parts.0: Input should be …`."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(step) for step in first["loc"])
    return f"{place}: {first['msg']}" if place else safe_str(Exception(first["msg"]))
