"""The transcript that a simulated user reads: one `author: text` line for each message."""

from __future__ import annotations

import json
from collections.abc import Iterator

from proctor.schema.format.content import Content, text_of
from proctor.schema.format.invocation import Invocation, InvocationEvents

__all__ = ["paragraphs"]


def paragraphs(invocation: Invocation, *, with_calls: bool) -> Iterator[str]:
    """Return the messages of a turn as `author: text`, without thoughts; tool calls and responses if `with_calls`.

    Further lines of a text are indented, so that none of them looks like a message of another author.
    """
    yield _line("user", text_of(invocation.user_content, thoughts=False))
    final, has_final = invocation.final_response, invocation.final_response is None
    data = invocation.intermediate_data
    author = "agent"
    for step in data.invocation_events if isinstance(data, InvocationEvents) else ():
        author = step.author
        content = step.content
        if content is None and not has_final:
            content, has_final = final, True
        if content is not None:
            yield from _content_lines(author, content, with_calls=with_calls)
    if final is not None and not has_final:
        yield from _content_lines(author, final, with_calls=with_calls)


def _content_lines(author: str, content: Content, *, with_calls: bool) -> Iterator[str]:
    if text := text_of(content, thoughts=False).strip():
        yield _line(author, text)
    for part in (content.parts or ()) if with_calls else ():
        if (call := part.function_call) is not None:
            yield _line(author, f"calls {call.name}({_json(call.args)})")
        if (response := part.function_response) is not None:
            yield _line("tool", f"{response.name} returns {_json(response.response)}")


def _line(author: str, text: str) -> str:
    return f"{author}: " + text.strip().replace("\n", "\n  ")


def _json(value: object) -> str:
    return json.dumps(value or {}, ensure_ascii=False, default=str)
