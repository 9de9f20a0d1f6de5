"""Calls that wait for an external result: long-running tools, confirmations, credentials."""

from __future__ import annotations

from dataclasses import dataclass

from proctor.errors import AgentError
from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Content, FunctionResponse, Part


@dataclass(slots=True)
class _Call:
    id: str
    name: str
    is_answered: bool = False


class PendingCalls:
    """The long-running calls of one conversation, and the calls that a user's message answers.

    An eval set cannot know the ids that calls will have. A `function_response` in a user's message is therefore given
    the id of the oldest unanswered call of its name; if all are answered, of the last one, for a
    long-running tool may be answered more than once.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._calls: list[_Call] = []

    def note(self, event: Event) -> None:
        """Take in the calls of an event that are long-running."""
        if not event.long_running_tool_ids or event.content is None:
            return
        for part in event.content.parts or ():
            call = part.function_call
            if call is not None and call.id in event.long_running_tool_ids:
                self._calls.append(_Call(call.id or "", call.name or ""))

    def with_call_ids(self, message: Content) -> Content:
        """Return the user's message with the ids of the calls that it answers.

        Raises:
            AgentError: the message answers a call that the agent did not make.
        """
        if not any(part.function_response for part in message.parts or ()):
            return message
        parts = [
            _answering(part, self._call_id(part.function_response)) if part.function_response else part
            for part in message.parts or ()
        ]
        addressed = message.model_copy()
        addressed.parts = parts
        return addressed

    def _call_id(self, response: FunctionResponse) -> str:
        by_id = [call for call in self._calls if call.id == response.id]
        by_name = [call for call in self._calls if call.name == response.name]
        left = [call for call in by_name if not call.is_answered]
        if not (candidates := by_id or left[:1] or by_name[-1:]):
            raise AgentError(self._unknown_call_message(response))
        candidates[0].is_answered = True
        return candidates[0].id

    def _unknown_call_message(self, response: FunctionResponse) -> str:
        waiting = ", ".join(call.name for call in self._calls if not call.is_answered) or "none"
        return (
            f"the user's message answers a call of {response.name!r}, "
            f"which the agent has not made as a long-running call; calls that wait for an answer: {waiting}"
        )


def _answering(part: Part, call_id: str) -> Part:
    answer = part.model_copy()
    if part.function_response is not None:
        answer.function_response = part.function_response.model_copy()
        answer.function_response.id = call_id
    return answer
