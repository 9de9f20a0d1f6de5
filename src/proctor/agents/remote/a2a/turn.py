"""One turn of A2A, read into events: a message, or a task with its updates, from a stream or in one piece."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from proctor.agents.adk.events import event_of_json
from proctor.agents.function_results import first_problem
from proctor.agents.remote.a2a.versions import adk_metadata, either, kind_of, part_of, state_of
from proctor.agents.remote.http.client import Reply
from proctor.common.error_text import safe_repr
from proctor.errors import AgentError, AgentRaisedError
from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Content, Part

_UNDER_WAY = ("submitted", "working")
_ANSWERED = ("completed", "input-required")
_FAILED = ("failed", "rejected", "canceled", "auth-required")


class A2ATurn:
    """Receives the results for one message, and returns their events.

    The answer is the content of the task's artifacts; without artifacts, the agent's last message. google-adk's servers
    send each event of the agent as a separate message or artifact, with calls, author and tokens in metadata.
    """

    def __init__(self, name: str, message_id: str) -> None:
        """Take the agent's name, and the id of the message that is answered."""
        self._name = name
        self._message_id = message_id
        self._reply: Reply | None = None
        self._seen: set[str] = set()
        self._held: dict[str, list[Any]] = {}
        self._last_parts: list[Part] = []
        self._error = ""
        self.context_id = ""
        self.task_id = ""
        self.state = ""
        """The state of the task by the names of 0.3; `message` if a message was the whole answer."""

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come for this message."""
        return self.state not in ("", *_UNDER_WAY)

    def take(self, answer: Any, reply: Reply) -> Iterator[Event]:
        """Read one JSON-RPC response.

        Raises:
            AgentError: it is invalid, or reports a failure of the agent.
        """
        self._reply = reply
        result = result_of(answer, reply)
        kind, thing = kind_of(result) if isinstance(result, Mapping) else ("", None)
        if not isinstance(thing, Mapping):
            raise reply.broke(f"sent {safe_repr(result)} where a task, a message or an update was expected")
        read = {"message": self._direct, "task": self._task, "status-update": self._status}.get(kind)
        if read is None and kind != "artifact-update":
            raise reply.broke(f"sent an object of the unknown kind {kind!r}")
        try:
            yield from (read or self._artifact_update)(thing)
        except ValidationError as error:
            raise reply.broke(f"sent something that does not fit: {first_problem(error)}") from None

    # --- results

    def _direct(self, message: Mapping[str, Any]) -> Iterator[Event]:
        self._note_ids(message)
        yield from self._message(message, {})
        self.state = "message"

    def _task(self, task: Mapping[str, Any]) -> Iterator[Event]:
        self._note_ids({**task, "taskId": task.get("id")})
        since = self._new_messages(task.get("history"))
        last = len(since) - 1
        for number, message in enumerate(since):
            yield from self._message(message, task if number == last else {})
        for artifact in _objects(task.get("artifacts")):
            self._held[str(either(artifact, "artifact_id"))] = list(artifact.get("parts") or ())
        yield from self._end(task.get("status"), {})

    def _new_messages(self, history: Any) -> list[Mapping[str, Any]]:
        """Return the agent's messages after the answered one; a continued task has older ones."""
        messages = _objects(history)
        ids = [either(one, "message_id") for one in messages]
        if self._message_id in ids:
            messages = messages[ids.index(self._message_id) + 1 :]
        return [one for one in messages if not str(one.get("role", "")).lower().endswith("user")]

    def _status(self, update: Mapping[str, Any]) -> Iterator[Event]:
        self._note_ids(update)
        yield from self._end(update.get("status"), update)

    def _artifact_update(self, update: Mapping[str, Any]) -> Iterator[Event]:
        self._note_ids(update)
        artifact = update.get("artifact")
        if not isinstance(artifact, Mapping):
            return
        parts = list(artifact.get("parts") or ())
        metadata = adk_metadata(update)
        its_id = str(either(artifact, "artifact_id"))
        is_last = bool(either(update, "last_chunk"))
        if "event_id" in metadata and is_last:  # a complete event of google-adk; its pieces came before
            self._held.pop(its_id, None)
            yield from self._event(parts, update)
            return
        self._held[its_id] = [*self._held.get(its_id, ()), *parts] if update.get("append") else parts
        if not is_last:
            yield from self._event(parts, update, is_piece=True)

    def _end(self, status: Any, update: Mapping[str, Any]) -> Iterator[Event]:
        """Process a status: its message and, if it ends the turn, the pending messages."""
        state = state_of(status)
        message = status.get("message") if isinstance(status, Mapping) else None
        if state in _FAILED:
            raise self._failure(state, message)
        if isinstance(message, Mapping):
            yield from self._message(message, update)
        if state in _ANSWERED:
            held = [part for parts in self._held.values() for part in parts]
            self._held = {}
            yield from self._event(held, {})
        elif state not in _UNDER_WAY and self._reply is not None:
            raise self._reply.broke(f"reports the unknown state {state!r} of the task")
        self.state = state

    # --- into events

    def _message(self, message: Mapping[str, Any], update: Mapping[str, Any]) -> Iterator[Event]:
        message_id = str(either(message, "message_id") or "")
        if message_id and message_id in self._seen:
            return
        self._seen.add(message_id)
        about = update if adk_metadata(update) else message
        yield from self._event(list(message.get("parts") or ()), about)

    def _event(
        self, raw_parts: list[Any], about: Mapping[str, Any], *, is_piece: bool = False
    ) -> Iterator[Event]:
        metadata = adk_metadata(about)
        converted = [part_of(each) for each in raw_parts]
        parts = [part for part, _ in converted if part is not None]
        if not is_piece and parts and parts == self._last_parts:
            return  # the same message again, as an artifact
        if not (parts or metadata.get("actions") or metadata.get("error_code")):
            return
        waiting = [
            part.function_call.id for part, waits in converted if waits and part and part.function_call
        ]
        event = event_of_json(
            {
                **self._event_fields(parts, metadata),
                "author": metadata.get("author") or self._name,
                "long_running_tool_ids": waiting or None,
                "partial": True if is_piece else None,
            }
        )
        if not is_piece and parts:
            self._last_parts = parts
        yield event

    def _event_fields(self, parts: list[Part], metadata: Mapping[str, Any]) -> dict[str, Any]:
        """Return google-adk's fields of an event, and its content or its error."""
        fields: dict[str, Any] = {name: metadata[name] for name in _KEPT if name in metadata}
        if metadata.get("error_code"):
            self._error = str(metadata["error_code"])
            fields["error_message"] = "\n".join(part.text for part in parts if part.text)
        elif parts:
            content = Content(role="model", parts=parts)
            fields["content"] = content.model_dump(mode="json", exclude_none=True)
        return fields

    def _failure(self, state: str, message: Any) -> AgentError:
        parts = (
            [part_of(one)[0] for one in message.get("parts") or ()] if isinstance(message, Mapping) else []
        )
        text = "\n".join(part.text for part in parts if part and part.text)
        if isinstance(message, Mapping):
            self._error = str(adk_metadata(message).get("error_code") or self._error)
        self.state = state
        return AgentRaisedError(text or f"its task ended as {state}", type=self._error or state)

    def _note_ids(self, given: Mapping[str, Any]) -> None:
        self.context_id = str(either(given, "context_id") or self.context_id)
        self.task_id = str(either(given, "task_id") or self.task_id)


_KEPT = ("usage_metadata", "grounding_metadata", "error_code", "actions", "model_version")
_REFUSALS = range(-32602, -32599)
"""JSON-RPC's own errors about the request; those of A2A are -32001 and below."""


def result_of(answer: Any, reply: Reply) -> Any:
    """Return the result of a JSON-RPC response.

    Raises:
        AgentRaisedError: it is an internal error of the server.
        AgentError: it rejects the request, or is not a response.
    """
    if not isinstance(answer, Mapping) or not ({"result", "error"} & answer.keys()):
        raise reply.broke(f"sent {safe_repr(answer)} where a JSON-RPC response was expected")
    error = answer.get("error")
    if error is None:
        return answer.get("result")
    told = error if isinstance(error, Mapping) else {"message": error}
    code, said = told.get("code"), str(told.get("message") or "no message")
    if isinstance(code, int) and (code in _REFUSALS or -32099 <= code <= -32001):
        raise reply.broke(f"refuses the message: {said} (code {code})")
    raise AgentRaisedError(said, type="" if code is None else str(code))


def _objects(found: Any) -> list[Mapping[str, Any]]:
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []
