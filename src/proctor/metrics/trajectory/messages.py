"""Which calls the model made at once: the messages of a turn, as far as its record tells them apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from proctor.metrics.trajectory.match_rules import Call
from proctor.schema.format.invocation import Invocation, InvocationEvents

__all__ = ["Message", "cut", "messages_of", "steps_of"]


@dataclass(frozen=True, slots=True)
class Message:
    """Whose message it is, and the calls in it (none: text, or a tool's answer)."""

    role: str
    calls: Sequence[Call]


def messages_of(invocation: Invocation) -> list[Message] | None:
    """The messages before the final answer; `None` where calls are recorded without the events that they stood in."""
    data = invocation.intermediate_data
    if not isinstance(data, InvocationEvents):
        return None
    contents = [event.content for event in data.invocation_events if event.content is not None]
    return [
        Message(
            content.role or "", [part.function_call for part in content.parts or () if part.function_call]
        )
        for content in contents
    ]


def steps_of(invocation: Invocation) -> list[Sequence[Call]] | None:
    """The calls of each message that has any."""
    messages = messages_of(invocation)
    return None if messages is None else [message.calls for message in messages if message.calls]


def cut(calls: Sequence[Call], like: Sequence[Sequence[Call]]) -> list[Sequence[Call]]:
    """Cut calls, of which is not known what belongs together, into steps as long as those of `like`."""
    ends = [0, *accumulate(map(len, like))]
    steps = [calls[start:end] for start, end in pairwise(ends)]
    return [step for step in [*steps, calls[ends[-1] :]] if step]
