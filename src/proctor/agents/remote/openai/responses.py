"""The Responses API of OpenAI, read as the messages of a chat completion: its answer is a list of items."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from proctor.agents.remote.openai.chat_completions import Completion, Message, told_error, usage_of
from proctor.common.error_text import safe_repr
from proctor.errors import AgentError
from proctor.schema.format.content import UsageMetadata

__all__ = ["items_for_next_request", "read_response"]

Data = Mapping[str, Any]


def read_response(data: object) -> Completion:
    """Convert a whole response: texts, calls, and the results of tools that the server ran.

    Raises:
        AgentError: it is none.
        AgentRaisedError: it has failed.
    """
    output = data.get("output") if isinstance(data, Mapping) else None
    if isinstance(data, Mapping) and (error := told_error(data)) is not None:
        raise error
    if not isinstance(data, Mapping) or not isinstance(output, list):
        raise AgentError(f"the agent's answer is {safe_repr(data, 200)}; expected a response with its output")
    completion = Completion(usage=_usage(data.get("usage")))
    completion.model = data["model"] if isinstance(data.get("model"), str) else None
    for item in output:
        if not isinstance(item, Mapping):
            raise AgentError(f"an item of the agent's response is {safe_repr(item)}; expected an object")
        completion.messages += _messages(item)
    completion.finish = _finish(data)
    if isinstance(data.get("state_delta"), dict):
        completion.state_delta = data["state_delta"]
    return completion


def items_for_next_request(data: Data, not_run: str) -> list[Any]:
    """Return the items of a response as the next request repeats them, with `not_run` for each call left open."""
    items = list(data["output"])
    answered = [item.get("call_id") for item in items if item.get("type") == "function_call_output"]
    return items + [
        {"type": "function_call_output", "call_id": item.get("call_id", ""), "output": not_run}
        for item in items
        if item.get("type") == "function_call" and item.get("call_id") not in answered
    ]


def _messages(item: Data) -> list[Message]:
    kind = str(item.get("type", "message"))
    if kind == "message":
        return [_message(item)]
    if kind == "function_call_output":
        return [
            _message({"tool_call_id": item.get("call_id"), "content": _as_text(item.get("output"))}, "tool")
        ]
    if not kind.endswith("_call"):
        return []  # reasoning, lists of tools
    call_id = item.get("call_id") or item.get("id")
    name = item.get("name") or kind.removesuffix("_call")  # web_search_call and similar types have no name
    arguments = item.get("arguments", item.get("action", {}))
    call = {"id": call_id, "function": {"name": name, "arguments": arguments}}
    messages = [_message({"tool_calls": [call]})]
    given = item.get("error") or item.get("output")
    if kind == "mcp_call" and given is not None:
        messages.append(_message({"tool_call_id": call_id, "content": _as_text(given)}, "tool"))
    return messages


def _message(piece: Data, role: str = "assistant") -> Message:
    message = Message(role=role)
    message.add(piece)
    return message


def _as_text(output: object) -> str:
    return output if isinstance(output, str) else json.dumps(output)


def _finish(data: Data) -> str:
    """Return the finish reason by the names of chat completions; any other end than `completed` is returned unchanged."""
    details = data.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, Mapping) else None
    items = [item.get("status") for item in data["output"] if item.get("type", "message") == "message"]
    if "incomplete" in (data.get("status"), *items):
        return "content_filter" if reason == "content_filter" else "length"
    return str(data.get("status") or "stop")


def _usage(usage: object) -> UsageMetadata | None:
    if not isinstance(usage, Mapping):
        return None
    return usage_of(
        {
            "prompt_tokens": usage.get("input_tokens"),
            "completion_tokens": usage.get("output_tokens"),
            "total_tokens": usage.get("total_tokens"),
            "prompt_tokens_details": usage.get("input_tokens_details"),
            "completion_tokens_details": usage.get("output_tokens_details"),
        }
    )
