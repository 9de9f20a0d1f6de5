"""The toy as a plain Python function."""

from collections.abc import Iterator
from typing import Any

from proctor import Event
from tests.frameworks.behaviour import MODEL, TOKENS_IN, TOKENS_OUT, Say, whole_turn


def root_agent(text: str, state: dict[str, Any]) -> Iterator[Event]:
    """Tells the weather, converts units and remembers things."""
    usage = {"prompt_token_count": TOKENS_IN, "candidates_token_count": TOKENS_OUT}
    answered: dict[str, Any] = {"usage_metadata": usage, "model_version": MODEL}
    for number, step in enumerate(whole_turn(text, state)):
        if isinstance(step, Say):
            yield Event.said(step.text, author=step.author, **answered)
            return
        call, response = step
        yield Event.called(call.name, call.args, id=f"c{number}", author=call.author, **answered)
        yield Event.returned(call.name, response or {}, id=f"c{number}", author=call.author)
