"""OTLP requests, made by hand: a span is a call of `span`, and is below its parent."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from proctor.files.traces.conversations import TracedConversation, TracedTurn, read_conversations

SECOND = 1_000_000_000
START = 1_700_000_000 * SECOND
_numbers = count(1)

Json = dict[str, Any]


def value(given: Any) -> Json:
    """An AnyValue."""
    if isinstance(given, bool):
        return {"boolValue": given}
    if isinstance(given, int):
        return {"intValue": str(given)}
    if isinstance(given, float):
        return {"doubleValue": given}
    if isinstance(given, Mapping):
        return {"kvlistValue": {"values": attributes(given)}}
    if isinstance(given, list):
        return {"arrayValue": {"values": [value(one) for one in given]}}
    return {"stringValue": given} if given is not None else {}


def attributes(given: Mapping[str, Any]) -> list[Json]:
    """Attributes as OTLP writes them."""
    return [{"key": key, "value": value(one)} for key, one in given.items()]


def span(
    name: str,
    extra: Mapping[str, Any],
    *inside: Json,
    trace: str = "a1",
    at: float = 0.0,
    took: float = 1.0,
    error: str | None = None,
    events: Sequence[tuple[str, Mapping[str, Any]]] = (),
) -> Json:
    """A span with the spans `inside` it; `at` and `took` are seconds, `at` from some start."""
    made: Json = {
        "traceId": trace,
        "spanId": f"b{next(_numbers)}",
        "name": name,
        "startTimeUnixNano": str(START + int(at * SECOND)),
        "endTimeUnixNano": str(START + int((at + took) * SECOND)),
        "attributes": attributes(extra),
        "events": [{"name": kind, "attributes": attributes(fields)} for kind, fields in events],
        "status": {} if error is None else {"code": 2, "message": error},
        "inside": list(inside),
    }
    for one in inside:
        one["parentSpanId"] = made["spanId"]
    for one in flat_in_place(inside):
        one["traceId"] = trace
    return made


def agent(name: str, *inside: Json, extra: Mapping[str, Any] | None = None, **where: Any) -> Json:
    """The run of an agent."""
    known = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
    return span(f"invoke_agent {name}", {**known, **(extra or {})}, *inside, **where)


def chat(
    asked: Any, answer: Any, *inside: Json, extra: Mapping[str, Any] | None = None, **where: Any
) -> Json:
    """A call of a model: messages as the conventions of today have them; `None` is not captured."""
    known: Json = {"gen_ai.operation.name": "chat", "gen_ai.response.model": "m-1"}
    known |= {"gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 5}
    if asked is not None:
        known["gen_ai.input.messages"] = json.dumps([user(asked)] if isinstance(asked, str) else asked)
    if answer is not None:
        known["gen_ai.output.messages"] = json.dumps([model(answer)] if isinstance(answer, str) else answer)
    return span("chat m-1", {**known, **(extra or {})}, *inside, **where)


def tool(
    name: str,
    args: Any,
    result: Any,
    *inside: Json,
    call: str | None = None,
    extra: Mapping[str, Any] | None = None,
    **where: Any,
) -> Json:
    """The execution of a tool."""
    known: Json = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
    stated = {"arguments": args, "result": result, "id": call}
    for key, given in stated.items():
        if given is not None:
            known[f"gen_ai.tool.call.{key}"] = given if isinstance(given, str) else json.dumps(given)
    return span(f"execute_tool {name}", {**known, **(extra or {})}, *inside, **where)


def user(text: str) -> Json:
    return {"role": "user", "parts": [{"type": "text", "content": text}]}


def model(*texts: Any) -> Json:
    """A message of the model: texts, and calls as (id, name, arguments)."""
    parts = [
        {"type": "text", "content": one}
        if isinstance(one, str)
        else {"type": "tool_call", "id": one[0], "name": one[1], "arguments": one[2]}
        for one in texts
    ]
    return {"role": "assistant", "parts": parts, "finish_reason": "stop"}


def answered(its_id: str, response: Any) -> Json:
    """Return the message that gives a model the answer of a tool."""
    return {"role": "tool", "parts": [{"type": "tool_call_response", "id": its_id, "response": response}]}


def flat_in_place(spans: Sequence[Json]) -> Iterator[Json]:
    """The spans themselves, and all inside of them."""
    for one in spans:
        yield one
        yield from flat_in_place(one["inside"])


def flat(spans: Sequence[Json]) -> Iterator[Json]:
    """The spans and all inside of them."""
    for one in spans:
        yield {key: given for key, given in one.items() if key != "inside"}
        yield from flat(one["inside"])


def request(*spans: Json, resource: Mapping[str, Any] | None = None, scope: str = "test") -> Json:
    """An ExportTraceServiceRequest."""
    scoped = [{"scope": {"name": scope}, "spans": list(flat(spans))}]
    return {"resourceSpans": [{"resource": {"attributes": attributes(resource or {})}, "scopeSpans": scoped}]}


def written(path: Path, *requests: Json) -> Path:
    """A file with a request a line."""
    path.write_text("".join(f"{json.dumps(one)}\n" for one in requests), encoding="utf-8")
    return path


def conversations_of(tmp_path: Path, *spans: Json) -> list[TracedConversation]:
    """Return the conversations in these spans."""
    return read_conversations([written(tmp_path / "t.jsonl", request(*spans))]).conversations


def one_turn(tmp_path: Path, *spans: Json) -> TracedTurn:
    """Return the only turn in these spans."""
    (conversation,) = conversations_of(tmp_path, *spans)
    (turn,) = conversation.turns
    return turn


def brief(turn: TracedTurn) -> list[Any]:
    """A turn's events in short: (author, text), (author, tool, arguments), (tool, response)."""
    found: list[Any] = []
    for event in turn.events:
        for part in (event.content and event.content.parts) or ():
            if part.function_call is not None:
                found.append((event.author, part.function_call.name, part.function_call.args))
            elif part.function_response is not None:
                found.append((part.function_response.name, part.function_response.response))
            elif part.text:
                found.append((event.author, part.text))
        if event.error_code:
            found.append((event.author, "error", event.error_code))
    return found
