"""What users say and models answer, in pydantic-ai's parts and in Proctor's."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from proctor.agents.frameworks.framework_events import no_place_for, thought
from proctor.common.optional_packages import import_extra
from proctor.errors import AgentError
from proctor.schema.format.content import Blob, Content, FunctionResponse, Part


def words_of(parts: Iterable[Any]) -> Iterator[Part]:
    """Return what a model says, in its parts: texts, reasoning, files."""
    for part in parts:
        if part.part_kind == "text" and part.content:
            yield Part(text=part.content)
        elif part.part_kind == "thinking" and part.content:
            yield thought(part.content)
        elif part.part_kind == "file":
            yield Part(inline_data=Blob(data=part.content.data, mime_type=part.content.media_type))


def prompt_of(message: Content, approvals: Collection[str]) -> dict[str, Any]:
    """Return a user's message as arguments of a run; `approvals` are the calls that wait for a yes or a no.

    Raises:
        AgentError: it has something that pydantic-ai has no place for, or no clear answer to an approval.
    """
    answers = [part.function_response for part in message.parts or () if part.function_response]
    words = [_user_part(part) for part in message.parts or () if not part.function_response]
    prompt = words[0] if len(words) == 1 and isinstance(words[0], str) else words or None
    if not answers:
        return {"user_prompt": prompt if prompt is not None else ""}
    return {"user_prompt": prompt, "deferred_tool_results": _results(answers, approvals)}


def _results(answers: Sequence[FunctionResponse], approvals: Collection[str]) -> Any:
    tools = import_extra("pydantic_ai.tools", extra="pydantic-ai", feature="A deferred tool")
    results = tools.DeferredToolResults()
    for answer in answers:
        given = answer.response or {}
        if answer.id not in approvals:
            results.calls[answer.id] = given["result"] if set(given) == {"result"} else given
        elif given.get("confirmed") is True:
            results.approvals[answer.id] = True
        elif given.get("confirmed") is False:
            denied = given.get("message")
            results.approvals[answer.id] = tools.ToolDenied(str(denied)) if denied else False
        else:
            raise AgentError(
                f"the user's message answers the approval of {answer.name!r} with {given}; expected "
                '{"confirmed": true} or {"confirmed": false}'
            )
    return results


def _user_part(part: Part) -> Any:
    if part.text is not None:
        return part.text
    messages = import_extra("pydantic_ai.messages", extra="pydantic-ai", feature="Media in a message")
    if (blob := part.inline_data) is not None and blob.data is not None:
        return messages.BinaryContent(blob.data, media_type=blob.mime_type or "application/octet-stream")
    if (file := part.file_data) is not None and file.file_uri:
        kind = (file.mime_type or "").partition("/")[0]
        name = {"image": "ImageUrl", "audio": "AudioUrl", "video": "VideoUrl"}.get(kind, "DocumentUrl")
        return getattr(messages, name)(url=file.file_uri)
    raise no_place_for(part, "pydantic-ai")
