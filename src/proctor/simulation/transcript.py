"""The conversation so far as a played user reads it: who said what."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from proctor.schema.format.content import Content, text_of
from proctor.schema.format.invocation import Invocation, InvocationEvents

__all__ = ["paragraphs"]


def paragraphs(invocation: Invocation, *, with_calls: bool) -> Iterator[str]:
    """Return what was said in a turn, `author: text` each, thoughts left out; calls and responses where wanted.

    The further lines of a text are set in, so that none looks as if somebody else had said it.
    """
    yield _line("user", text_of(invocation.user_content, thoughts=False))
    final, is_said = invocation.final_response, invocation.final_response is None
    data = invocation.intermediate_data
    author = "agent"
    for step in data.invocation_events if isinstance(data, InvocationEvents) else ():
        author = step.author
        content = step.content
        if content is None and not is_said:
            content, is_said = final, True
        if content is not None:
            yield from _said(author, content, with_calls=with_calls)
    if final is not None and not is_said:
        yield from _said(author, final, with_calls=with_calls)


def _said(author: str, content: Content, *, with_calls: bool) -> Iterator[str]:
    if text := text_of(content, thoughts=False).strip():
        yield _line(author, text)
    for part in (content.parts or ()) if with_calls else ():
        if (call := part.function_call) is not None:
            yield _line(author, f"calls {call.name}({_json(call.args)})")
        if (response := part.function_response) is not None:
            yield _line("tool", f"{response.name} returns {_json(response.response)}")


def _line(author: str, text: str) -> str:
    return f"{author}: " + text.strip().replace("\n", "\n  ")


def _json(value: Any) -> str:
    return json.dumps(value or {}, ensure_ascii=False, default=str)
