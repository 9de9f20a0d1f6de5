"""The toy behind a URL that speaks Proctor's own protocol: it keeps nothing, for each turn brings the state."""

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

USAGE = {
    "usage_metadata": {"prompt_token_count": TOKENS_IN, "candidates_token_count": TOKENS_OUT},
    "model_version": MODEL,
}


def answers(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Give one turn's answers."""
    before = request["session"]["state"]
    state = dict(before)
    try:
        turn = list(model_answers(request["text"], state))
    except ModelAwayError as error:
        yield {"type": "error", "code": "ModelAwayError", "message": str(error)}
        return
    for number, step in enumerate(turn):
        if isinstance(step, Answer):
            if state != before:
                changed = {key: value for key, value in state.items() if before.get(key) != value}
                yield {"state_delta": changed, "author": step.author}
            yield {"text": step.text, "author": step.author, **USAGE}
        else:
            called = [
                {"name": call.name, "args": call.args, "id": f"c{number}p{place}", "response": response or {}}
                for place, (call, response) in enumerate(step)
            ]
            yield {"tool_calls": called, "author": step[0][0].author, **USAGE}
    yield {"type": "done"}


def answer(handler: Handler, request: dict[str, Any]) -> None:
    """Answer with an event for each."""
    handler.send(
        "".join(f"data: {json.dumps(one)}\n\n" for one in answers(request)).encode(), "text/event-stream"
    )


@contextmanager
def serve() -> Iterator[str]:
    """Serve the toy, and give its AGENT string."""
    with serving("http_sse") as url:
        yield f"http+sse:{url}/chat"
