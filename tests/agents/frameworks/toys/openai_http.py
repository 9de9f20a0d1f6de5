"""The toy behind chat completions, with additional data outside the protocol: responses of tools, state, authors."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.agents.frameworks.behaviour import (
    MODEL,
    TOKENS_IN,
    TOKENS_OUT,
    Answer,
    ModelAwayError,
    model_answers,
)
from tests.agents.frameworks.toys.http_server import Handler, serving

_states: dict[str, dict[str, Any]] = {}
"""By conversation."""


def answer(handler: Handler, request: dict[str, Any]) -> None:
    """Answer the last message."""
    given = json.loads(request.get("metadata", {}).get("state", "{}"))
    state = _states.setdefault(handler.headers["X-Session-Id"], given)
    before = dict(state)
    try:
        turn = list(model_answers(request["messages"][-1]["content"], state))
    except ModelAwayError as error:
        failed = {"error": {"message": str(error), "type": "ModelAwayError"}}
        handler.send(json.dumps(failed).encode(), status=500)
        return
    *called, final = turn
    assert isinstance(final, Answer)
    messages = [message for number, step in enumerate(called) for message in _messages(step, f"c{number}")]
    body = {
        "model": MODEL,
        "messages": messages,
        "choices": [{"message": {"role": "assistant", "name": final.author, "content": final.text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": TOKENS_IN * len(turn), "completion_tokens": TOKENS_OUT * len(turn)},
        "state_delta": {key: value for key, value in state.items() if before.get(key) != value},
    }  # fmt: skip
    handler.send(json.dumps(body).encode())


def _messages(step: Any, prefix: str) -> list[dict[str, Any]]:
    """Return one answer's calls, and what their tools gave."""
    calls = [(f"{prefix}p{place}", call, response) for place, (call, response) in enumerate(step)]
    author = calls[0][1].author
    asked = [
        {"id": id_, "type": "function", "function": {"name": call.name, "arguments": json.dumps(call.args)}}
        for id_, call, _ in calls
    ]
    return [
        {"role": "assistant", "name": author, "tool_calls": asked},
        *(
            {"role": "tool", "name": author, "tool_call_id": id_, "content": json.dumps(response or {})}
            for id_, _, response in calls
        ),
    ]


@contextmanager
def serve() -> Iterator[str]:
    """Serve the toy, and give its AGENT string."""
    with serving("openai_http") as url:
        yield f"openai+http:{url}/v1?model={MODEL}"
