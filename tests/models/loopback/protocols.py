"""How each protocol words a request, an answer and an error."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote

from tests.models.loopback.answers import Completion, ModelRequest, Protocol, Status

_GEMINI = re.compile(r".*/models/(?P<model>[^/:]+):generateContent")
_BEDROCK = re.compile(r".*/model/(?P<model>[^/]+)/converse")
_PATHS: dict[str, Protocol] = {
    "/chat/completions": "openai-chat",
    "/responses": "openai-responses",
    "/messages": "anthropic",
}


def protocol_of(path: str) -> Protocol | None:
    """Return the protocol that a path belongs to."""
    path = path.partition("?")[0]
    if _GEMINI.fullmatch(path):
        return "gemini"
    if _BEDROCK.fullmatch(path):
        return "bedrock"
    return next((protocol for ending, protocol in _PATHS.items() if path.endswith(ending)), None)


def read_request(
    number: int, path: str, headers: Mapping[str, str], body: Mapping[str, Any], at: float
) -> ModelRequest:
    """Return a request as a test sees it."""
    protocol = protocol_of(path)
    assert protocol is not None
    schema, tool = _wanted(protocol, body)
    found = _GEMINI.fullmatch(path.partition("?")[0]) or _BEDROCK.fullmatch(path)
    return ModelRequest(
        number=number,
        protocol=protocol,
        path=path,
        headers=headers,
        body=body,
        model=unquote(found["model"]) if found else str(body.get("model", "")),
        text="\n".join(_texts(body)),
        schema=schema,
        tool=tool,
        at=at,
    )


def _texts(body: Any) -> Iterator[str]:
    """Yield the messages to the model: strings under the keys that hold speech, at any depth."""
    if isinstance(body, list):
        for item in body:
            yield from _texts(item)
    elif isinstance(body, dict):
        for key in (
            "instructions",
            "system",
            "systemInstruction",
            "messages",
            "input",
            "contents",
            "content",
        ):
            if isinstance(body.get(key), str):
                yield body[key]
            else:
                yield from _texts(body.get(key))
        yield from _texts(body.get("parts"))
        if isinstance(body.get("text"), str):
            yield body["text"]


def _wanted(protocol: Protocol, body: Mapping[str, Any]) -> tuple[Mapping[str, Any] | None, str | None]:
    schema: Any = None
    if protocol == "openai-chat":
        schema = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
    elif protocol == "openai-responses":
        schema = (body.get("text") or {}).get("format", {}).get("schema")
    elif protocol == "gemini":
        config = body.get("generationConfig") or {}
        schema = config.get("responseJsonSchema") or config.get("responseSchema")
    else:
        given = body.get("output_format") or (body.get("output_config") or {}).get("format") or {}
        schema = given.get("schema")
    if schema is not None:
        return schema, None
    if protocol == "bedrock":
        return _wanted_of_bedrock(body)
    for tool in body.get("tools") or []:
        for declared in tool.get("functionDeclarations", [tool.get("function", tool)]):
            keys = ("parameters", "parametersJsonSchema", "input_schema")
            return next((declared[key] for key in keys if key in declared), None), declared.get("name")
    return None, None


def _wanted_of_bedrock(body: Mapping[str, Any]) -> tuple[Mapping[str, Any] | None, str | None]:
    form = (body.get("outputConfig") or {}).get("textFormat", {}).get("structure", {}).get("jsonSchema", {})
    if form:
        return json.loads(form["schema"]), None
    for tool in (body.get("toolConfig") or {}).get("tools") or []:
        return tool["toolSpec"]["inputSchema"]["json"], tool["toolSpec"]["name"]
    return None, None


# --- answers ----------------------------------------------------------------------------------------------------------


def write_answer(asked: ModelRequest, completion: Completion) -> dict[str, Any]:
    """Return the JSON of an answer, as the protocol of the request has it."""
    writer = {
        "openai-chat": _chat,
        "openai-responses": _responses,
        "gemini": _gemini,
        "anthropic": _anthropic,
        "bedrock": _bedrock,
    }[asked.protocol]
    return writer(asked, completion, completion.model or asked.model)


def _answer_text(completion: Completion) -> str:
    return completion.text if completion.data is None else json.dumps(completion.data)


def _chat(asked: ModelRequest, completion: Completion, model: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": _answer_text(completion), "refusal": None}
    finish = {"refusal": "stop", "blocked": "content_filter"}.get(completion.finish, completion.finish)
    if completion.finish == "refusal":
        message |= {"content": None, "refusal": completion.text or "I cannot help with that."}
    elif asked.tool and completion.data is not None:
        call = {
            "id": "call_1",
            "type": "function",
            "function": {"name": asked.tool, "arguments": _answer_text(completion)},
        }
        message |= {"content": None, "tool_calls": [call]}
        finish = "tool_calls"
    answer: dict[str, Any] = {
        "id": f"chatcmpl-{asked.number}",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }
    if completion.tokens:
        spent, output = completion.tokens
        answer["usage"] = {
            "prompt_tokens": spent,
            "completion_tokens": output,
            "total_tokens": spent + output,
            "prompt_tokens_details": {"cached_tokens": completion.cached_tokens},
        }
    return answer


def _responses(asked: ModelRequest, completion: Completion, model: str) -> dict[str, Any]:
    content: dict[str, Any] = {"type": "output_text", "text": _answer_text(completion), "annotations": []}
    if completion.finish == "refusal":
        content = {"type": "refusal", "refusal": completion.text or "I cannot help with that."}
    output: dict[str, Any] = {
        "id": f"msg_{asked.number}",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [content],
    }
    if asked.tool and completion.data is not None:
        output = {
            "id": f"fc_{asked.number}",
            "type": "function_call",
            "call_id": "call_1",
            "name": asked.tool,
            "arguments": _answer_text(completion),
            "status": "completed",
        }
    cut = {"length": "max_output_tokens", "content_filter": "content_filter", "blocked": "content_filter"}
    answer: dict[str, Any] = {
        "id": f"resp_{asked.number}",
        "object": "response",
        "created_at": 1_790_000_000,
        "model": model,
        "status": "incomplete" if completion.finish in cut else "completed",
        "incomplete_details": {"reason": cut[completion.finish]} if completion.finish in cut else None,
        "output": [] if completion.finish == "blocked" else [output],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "instructions": None,
        "metadata": {},
        "temperature": None,
        "top_p": None,
    }
    if completion.tokens:
        spent, produced = completion.tokens
        answer["usage"] = {
            "input_tokens": spent,
            "output_tokens": produced,
            "total_tokens": spent + produced,
            "input_tokens_details": {"cached_tokens": completion.cached_tokens},
            "output_tokens_details": {"reasoning_tokens": 0},
        }
    return answer


def _gemini(asked: ModelRequest, completion: Completion, model: str) -> dict[str, Any]:
    part: dict[str, Any] = {"text": _answer_text(completion)}
    if asked.tool and completion.data is not None:
        part = {"functionCall": {"name": asked.tool, "args": completion.data}}
    reason = {"length": "MAX_TOKENS", "content_filter": "SAFETY", "refusal": "PROHIBITED_CONTENT"}.get(
        completion.finish, "STOP"
    )
    candidate: dict[str, Any] = {"index": 0, "finishReason": reason}
    if completion.finish not in {"content_filter", "refusal"} and (
        completion.text or completion.data is not None
    ):
        candidate["content"] = {"role": "model", "parts": [part]}
    answer: dict[str, Any] = {"modelVersion": model, "responseId": f"gemini-{asked.number}"}
    if completion.finish == "blocked":
        answer["promptFeedback"] = {"blockReason": "SAFETY"}
    else:
        answer["candidates"] = [candidate]
    if completion.tokens:
        spent, output = completion.tokens
        answer["usageMetadata"] = {
            "promptTokenCount": spent,
            "candidatesTokenCount": output,
            "totalTokenCount": spent + output,
        }
        if completion.cached_tokens:
            answer["usageMetadata"]["cachedContentTokenCount"] = completion.cached_tokens
    return answer


def _anthropic(asked: ModelRequest, completion: Completion, model: str) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": _answer_text(completion)}]
    reason = {"length": "max_tokens", "stop": "end_turn"}.get(completion.finish, "refusal")
    if asked.tool and completion.data is not None:
        content = [{"type": "tool_use", "id": "toolu_1", "name": asked.tool, "input": completion.data}]
        reason = "tool_use"
    elif not (completion.text or completion.data is not None):
        content = []
    spent, output = completion.tokens or (0, 0)
    return {
        "id": f"msg_{asked.number}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {
            "input_tokens": spent - completion.cached_tokens,
            "output_tokens": output,
            "cache_read_input_tokens": completion.cached_tokens,
        },
    }


def _bedrock(asked: ModelRequest, completion: Completion, model: str) -> dict[str, Any]:
    content: list[dict[str, Any]] = (
        [{"text": _answer_text(completion)}] if completion.text or completion.data is not None else []
    )
    reasons = {"length": "max_tokens", "stop": "end_turn", "content_filter": "content_filtered"}
    reason = reasons.get(completion.finish, "guardrail_intervened")
    if asked.tool and completion.data is not None:
        content = [{"toolUse": {"toolUseId": "tool_1", "name": asked.tool, "input": completion.data}}]
        reason = "tool_use"
    spent, output = completion.tokens or (0, 0)
    return {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": reason,
        "usage": {"inputTokens": spent, "outputTokens": output, "totalTokens": spent + output},
        "metrics": {"latencyMs": 1},
    }


# --- errors -----------------------------------------------------------------------------------------------------------

_GRPC = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
         429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED"}  # fmt: skip


def write_error(protocol: Protocol, status: Status) -> dict[str, Any]:
    """Return the JSON of an error, as the protocol has it."""
    name = {one.value: one.name.lower() for one in HTTPStatus}.get(status.code, "overloaded")
    if protocol == "gemini":
        grpc = status.error or _GRPC.get(status.code, "UNKNOWN")
        return {"error": {"code": status.code, "message": status.message, "status": grpc}}
    if protocol == "bedrock":
        return {"message": status.message, "__type": status.error or f"{name}Exception"}
    if protocol == "anthropic":
        return {
            "type": "error",
            "error": {"type": status.error or f"{name}_error", "message": status.message},
        }
    return {
        "error": {
            "message": status.message,
            "type": status.error or name,
            "param": None,
            "code": status.error,
        }
    }
