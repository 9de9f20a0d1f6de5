"""The toy as a plain Python function."""

from collections.abc import Iterator
from typing import Any

from proctor import Event
from tests.agents.frameworks.behaviour import MODEL, TOKENS_IN, TOKENS_OUT, Answer, model_answers

USED: dict[str, Any] = {
    "usage_metadata": {"prompt_token_count": TOKENS_IN, "candidates_token_count": TOKENS_OUT},
    "model_version": MODEL,
}


def root_agent(text: str, state: dict[str, Any]) -> Iterator[Event]:
    """Report the weather, convert units and remember things."""
    for number, answer in enumerate(model_answers(text, state)):
        if isinstance(answer, Answer):
            yield Event.said(answer.text, author=answer.author, **USED)
            return
        for place, (call, _) in enumerate(answer):
            used = {} if place else USED
            yield Event.called(call.name, call.args, id=f"c{number}p{place}", author=call.author, **used)
        for place, (call, response) in enumerate(answer):
            yield Event.returned(call.name, response or {}, id=f"c{number}p{place}", author=call.author)
