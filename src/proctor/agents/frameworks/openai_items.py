"""What models answer in the OpenAI Agents SDK, item by item, as events."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from proctor.agents.frameworks.framework_events import (
    as_json,
    as_response,
    call_part,
    reasoning_part,
    response_told,
    spoken,
    tokens,
)
from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Part, UsageMetadata

TRANSFER = "transfer_to_agent"
"""What a hand-over is called in eval sets, as google-adk calls it; the SDK has a tool for each agent."""


def answer_events(agent: Any, response: Any, handovers: Mapping[str, str]) -> Iterator[Event]:
    """Return the events of one model answer: calls of the provider's own tools, then texts and calls.

    `handovers` are the names of the tools that hand over, and of the agents that they hand over to.
    """
    parts: list[Part] = []
    for item in response.output:
        fields = item if isinstance(item, Mapping) else item.model_dump(exclude_none=True)
        kind = fields.get("type", "")
        if kind == "message":
            parts += _texts(fields)
        elif kind == "reasoning":
            parts += [reasoning_part(one["text"]) for one in fields.get("summary") or () if one.get("text")]
        elif kind == "function_call":
            parts.append(_call(fields, handovers))
        elif kind.endswith("_call"):
            yield from _hosted_call_events(agent.name, kind, fields)
    yield spoken(agent.name, parts, usage=_usage_of(response.usage), model=_model_of(agent))


def tool_response(
    name: str, result: Any, call_id: str, author: str, *, usage: tuple[int, int] = (0, 0)
) -> Event:
    """Return the result of a tool; `usage` are the tokens (in, out) of agents that the tool called."""
    spent = tokens(*usage)
    fields: dict[str, Any] = {} if spent is None else {"usage_metadata": spent}
    return Event.returned(name, response_told(result), id=call_id, author=author, **fields)


def _texts(message: Mapping[str, Any]) -> Iterable[Part]:
    for piece in message.get("content") or ():
        text = piece.get("text") or piece.get("refusal")
        if text:
            yield Part(text=text)


def _call(fields: Mapping[str, Any], handovers: Mapping[str, str]) -> Part:
    name, call_id = fields["name"], fields["call_id"]
    args = _arguments(fields.get("arguments"))
    if name in handovers:
        given = args if isinstance(args, dict) else {}
        return call_part(TRANSFER, {"agent_name": handovers[name], **given}, call_id)
    return call_part(name, args, call_id)


def _arguments(text: Any) -> Any:
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text or "{}")
    except (
        ValueError
    ):  # the model's arguments are not JSON: the SDK reports it to the model, evidence keeps the text
        return text


def _hosted_call_events(author: str, kind: str, fields: Mapping[str, Any]) -> Iterator[Event]:
    """Return a call of a tool that the provider runs (a search, code, an MCP server), with its response if it is reported."""
    call_id = fields.get("call_id") or fields.get("id")
    name = fields.get("name") if kind == "mcp_call" else kind.removesuffix("_call")
    plain = as_json({key: value for key, value in fields.items() if key not in _NOT_ARGUMENTS})
    args = _arguments(fields.get("arguments")) if kind == "mcp_call" else plain
    yield spoken(author, [call_part(str(name), args, call_id)])
    output = next(
        (fields[key] for key in ("output", "results", "outputs") if fields.get(key) is not None), None
    )
    if output is not None:
        yield Event.returned(str(name), as_response(output), id=call_id, author=author)


_NOT_ARGUMENTS = frozenset({"id", "call_id", "type", "status", "output", "outputs", "results"})


def _usage_of(used: Any) -> UsageMetadata | None:
    return tokens(
        used.input_tokens,
        used.output_tokens,
        total=used.total_tokens,
        cached=getattr(used.input_tokens_details, "cached_tokens", None),
        thoughts=getattr(used.output_tokens_details, "reasoning_tokens", None),
    )


def _model_of(agent: Any) -> str | None:
    model = agent.model
    named = model if isinstance(model, str) else getattr(model, "model", None)
    return named if isinstance(named, str) else None
