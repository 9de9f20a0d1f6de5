"""An agent of google-adk served to many users: by google-adk's own runner, sessions, artifacts and memory, in memory."""

from __future__ import annotations

import uuid
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from typing import Any

from pydantic import ValidationError

from proctor.agents.adk.declarations import sub_agents_of, tool_details
from proctor.agents.adk.events import without_secrets
from proctor.agents.adk.tracing import SpanCollection, capturing, gathering, hide_repeated_tracebacks
from proctor.agents.base import AgentInfo
from proctor.agents.chat_host import (
    MOST_SESSIONS,
    Artifacts,
    Json,
    NotPossibleError,
    SessionExistsError,
    TurnRequest,
    tools_of,
)
from proctor.common.optional_packages import import_extra
from proctor.schema.evidence.turn import Span

_FEATURE = "An agent of google-adk"
_INTERNAL = "__adk_internal_"
"""How keys of an event's custom metadata begin that only google-adk itself may write and read."""


class AdkHost:
    """Serves one app in google-adk's own JSON, without credentials."""

    def __init__(self, app: Any, app_name: str, describe: Callable[[], Awaitable[AgentInfo]]) -> None:
        """Take google-adk's App, its public name, and the function that describes it."""
        self._app_name, self._root, self.describe = app_name, app.root_agent, describe
        hide_repeated_tracebacks()
        self._sessions = _new_instance("sessions", "InMemorySessionService")
        self._memory = _new_instance("memory", "InMemoryMemoryService")
        self._kept = _new_instance("artifacts", "InMemoryArtifactService")
        self.artifacts: Artifacts | None = AdkArtifacts(self._kept, app_name)
        runners = import_extra("google.adk.runners", extra="adk", feature=_FEATURE)
        self._runner = runners.Runner(
            app=app,
            app_name=app_name,
            session_service=self._sessions,
            artifact_service=self._kept,
            memory_service=self._memory,
        )
        self._used: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._spans = KeptSpans()

    async def create(
        self, user_id: str, session_id: str | None, state: Json | None, events: Sequence[Json]
    ) -> Json:
        """Make a session."""
        exists = import_extra("google.adk.errors.already_exists_error", extra="adk", feature=_FEATURE)
        model = import_extra("google.adk.events", extra="adk", feature=_FEATURE).Event
        try:
            adk_events = [model.model_validate(_without_internals(event)) for event in events]
            adk_session = await self._sessions.create_session(
                app_name=self._app_name, user_id=user_id, state=state, session_id=session_id
            )
        except exists.AlreadyExistsError as error:
            raise SessionExistsError(session_id) from error
        except (ValueError, TypeError) as error:
            raise NotPossibleError(f"google-adk cannot make this session: {error}") from error
        for event in adk_events:
            await self._sessions.append_event(session=adk_session, event=event)
        while len(self._used) >= MOST_SESSIONS:
            await self.delete(*next(iter(self._used)))
        self._used[user_id, adk_session.id] = None
        return _json(adk_session)

    async def get(self, user_id: str, session_id: str) -> Json | None:
        """Return a session with its events."""
        session = await self._session(user_id, session_id)
        return None if session is None else _json(session)

    async def list(self, user_id: str) -> list[Json]:
        """Return a user's sessions, without their events."""
        listing = await self._sessions.list_sessions(app_name=self._app_name, user_id=user_id)
        return [_json(session) for session in listing.sessions]

    async def keys(self) -> Sequence[tuple[str, str]]:
        """Return user and id of each session."""
        return [*self._used]

    async def patch(self, user_id: str, session_id: str, delta: Json) -> Json | None:
        """Change the state of a session."""
        session = await self._session(user_id, session_id)
        if session is None:
            return None
        events = import_extra("google.adk.events", extra="adk", feature=_FEATURE)
        change = {"author": "user", "invocation_id": f"p-{uuid.uuid4()}", "actions": {"state_delta": delta}}
        await self._sessions.append_event(session=session, event=events.Event.model_validate(change))
        return _json(session)

    async def delete(self, user_id: str, session_id: str) -> None:
        """Forget a session."""
        self._used.pop((user_id, session_id), None)
        self._spans.forget(user_id, session_id)
        await self._sessions.delete_session(app_name=self._app_name, user_id=user_id, session_id=session_id)

    async def remember(self, user_id: str, session_id: str) -> None:
        """Put a session into the memory that the agent's tools search."""
        session = await self._session(user_id, session_id)
        if session is not None:
            await self._memory.add_session_to_memory(session)

    async def check(self, turn: TurnRequest) -> None:
        """Refuse a message that google-adk has no part for."""
        _message(turn)

    async def run(self, turn: TurnRequest) -> AsyncGenerator[Json, None]:
        """Yield the events of one turn."""
        self._used[turn.user_id, turn.session_id] = None
        self._used.move_to_end((turn.user_id, turn.session_id))
        invocation_id, collection = turn.invocation_id or "", SpanCollection()
        try:
            with gathering(collection):
                events = self._runner.run_async(
                    user_id=turn.user_id,
                    session_id=turn.session_id,
                    invocation_id=turn.invocation_id,
                    new_message=_message(turn),
                    state_delta=None if turn.state_delta is None else dict(turn.state_delta),
                    run_config=capturing(_config(turn)),
                )
                async with aclosing(events):
                    async for event in events:
                        invocation_id = event.invocation_id or invocation_id
                        yield _json(event)
        finally:
            self._spans.keep(turn.user_id, turn.session_id, invocation_id, collection.spans())

    async def spans(self, user_id: str, session_id: str) -> Mapping[str, Sequence[Span]]:
        """Return the spans of the last turns by invocation."""
        return self._spans.of_session(user_id, session_id)

    async def tree(self) -> Json:
        """Return the root agent with its sub-agents."""
        return _node(self._root)

    async def close(self) -> None:
        """Close the agent's toolsets and plug-ins."""
        await self._runner.close()

    async def _session(self, user_id: str, session_id: str) -> Any:
        if (user_id, session_id) in self._used:
            self._used.move_to_end((user_id, session_id))
        return await self._sessions.get_session(
            app_name=self._app_name, user_id=user_id, session_id=session_id
        )


class AdkArtifacts:
    """The artifacts of one app's sessions."""

    def __init__(self, service: Any, app_name: str) -> None:
        """Take google-adk's service."""
        self._service, self._app_name = service, app_name

    async def names(self, user_id: str, session_id: str) -> list[str]:
        """Return the names of a session's artifacts."""
        keys: list[str] = await self._service.list_artifact_keys(**self._session_args(user_id, session_id))
        return keys

    async def load(self, user_id: str, session_id: str, name: str, version: int | None) -> Json | None:
        """Return the requested or the last version of an artifact."""
        where = self._session_args(user_id, session_id, filename=name)
        with _possible():
            artifact = await self._service.load_artifact(**where, version=version)
        return None if artifact is None else _json(artifact)

    async def save(self, user_id: str, session_id: str, name: str, part: Json, metadata: Json | None) -> Json:
        """Save a further version and return its metadata. Raises NotPossibleError: it cannot be saved."""
        types = import_extra("google.genai.types", extra="adk", feature=_FEATURE)
        _require_name(name)
        where = self._session_args(user_id, session_id, filename=name)
        with _possible():
            artifact = types.Part.model_validate(part)
            version = await self._service.save_artifact(**where, artifact=artifact, custom_metadata=metadata)
            return _json(await self._service.get_artifact_version(**where, version=version))

    async def versions(self, user_id: str, session_id: str, name: str) -> list[int]:
        """Return the versions of one."""
        where = self._session_args(user_id, session_id, filename=name)
        with _possible():
            numbers: list[int] = await self._service.list_versions(**where)
        return numbers

    async def artifact_metadata(self, user_id: str, session_id: str, name: str) -> list[Json]:
        """Return the metadata of each version."""
        where = self._session_args(user_id, session_id, filename=name)
        with _possible():
            return [_json(one) for one in await self._service.list_artifact_versions(**where)]

    async def delete(self, user_id: str, session_id: str, name: str) -> None:
        """Forget one, with all its versions."""
        with _possible():
            await self._service.delete_artifact(**self._session_args(user_id, session_id, filename=name))

    def _session_args(self, user_id: str, session_id: str, **more: str) -> dict[str, str]:
        return {"app_name": self._app_name, "user_id": user_id, "session_id": session_id, **more}


def _require_name(name: str) -> None:
    """Reject names that no URL can contain, and names that lead outside the folder of artifacts."""
    parts = name.removeprefix("user:").replace("\\", "/").split("/")
    if not all(part.strip() and part not in {".", ".."} for part in parts):
        raise NotPossibleError(
            f"an artifact cannot be called {name!r}: expected a name, with / between its parts where it has several"
        )


@contextmanager
def _possible() -> Iterator[None]:
    """Convert rejections of google-adk (an invalid name, an invalid part) to NotPossibleError."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise NotPossibleError(f"google-adk refuses this artifact: {error}") from error


def _new_instance(module: str, name: str) -> Any:
    return getattr(import_extra(f"google.adk.{module}", extra="adk", feature=_FEATURE), name)()


def _json(model: Any) -> Json:
    document: Json = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    for event in document.get("events", ()):
        event.update(_public(event))
    return _public(document)


def _public(document: Json) -> Json:
    """Return a document without credentials and without google-adk's internal metadata."""
    result: Json = without_secrets(document)
    metadata = result.get("customMetadata")
    if isinstance(metadata, dict) and any(str(key).startswith(_INTERNAL) for key in metadata):
        result["customMetadata"] = {
            key: value for key, value in metadata.items() if not str(key).startswith(_INTERNAL)
        }
    return result


def _without_internals(event: Mapping[str, Any]) -> Json:
    """Return a client's event without the metadata that only google-adk may write."""
    return {
        key: {name: one for name, one in value.items() if not str(name).startswith(_INTERNAL)}
        if key in {"customMetadata", "custom_metadata"} and isinstance(value, dict)
        else value
        for key, value in event.items()
    }


def _message(turn: TurnRequest) -> Any:
    if turn.message is None:
        return None
    types = import_extra("google.genai.types", extra="adk", feature=_FEATURE)
    try:
        return types.Content.model_validate(turn.message.model_dump(mode="json", exclude_none=True))
    except ValueError as error:
        problems = error.errors() if isinstance(error, ValidationError) else ()
        message = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in problems)
        raise NotPossibleError(f"google-adk cannot read this message: {message or error}") from error


def _config(turn: TurnRequest) -> Any:
    run_config = import_extra("google.adk.agents.run_config", extra="adk", feature=_FEATURE)
    mode = run_config.StreamingMode.SSE if turn.streaming else run_config.StreamingMode.NONE
    metadata = {"custom_metadata": dict(turn.custom_metadata)} if turn.custom_metadata else {}
    return run_config.RunConfig(streaming_mode=mode, **metadata)


def _node(agent: Any) -> Json:
    details = tool_details(agent)
    return {
        "name": agent.name,
        "type": type(agent).__name__,
        "description": getattr(agent, "description", "") or "",
        "instruction": details["instructions"],
        "tools": list(tools_of(details)),
        "sub_agents": [_node(below) for below in sub_agents_of(agent)],
    }


# --- Spans of the last turns of all sessions of an app, up to a limit -------------------------------------------------


_MOST_CHARACTERS = 32 * 1024 * 1024
_OF_A_SPAN = 1_000
"""Characters that a span counts for besides its texts."""
_INVOCATION = "gcp.vertex.agent.invocation_id"

_Turn = tuple[str, str, str]
"""User, session, invocation."""


class KeptSpans:
    """What was traced, turn by turn; the oldest turns make room."""

    def __init__(self, most: int = _MOST_CHARACTERS) -> None:
        """Take how many characters the texts of all spans may have."""
        self._most, self._held = most, 0
        self._turns: OrderedDict[_Turn, list[Span]] = OrderedDict()

    def keep(self, user_id: str, session_id: str, invocation_id: str, spans: Sequence[Span]) -> None:
        """Store the spans of a turn after those of the same invocation. Without an id, the spans contain it."""
        invocation_id = invocation_id or next(
            (str(span.attributes[_INVOCATION]) for span in spans if _INVOCATION in span.attributes), ""
        )
        if not spans or not invocation_id:
            return
        turn = user_id, session_id, invocation_id
        whole = [*self._turns.pop(turn, ()), *spans]
        self._turns[turn] = whole
        self._held += _size(spans)
        while self._held > self._most:
            self._held -= _size(self._turns.popitem(last=False)[1])

    def of_session(self, user_id: str, session_id: str) -> dict[str, Sequence[Span]]:
        """Return the spans of a session's turns by their invocations."""
        return {
            invocation: spans
            for (user, session, invocation), spans in self._turns.items()
            if (user, session) == (user_id, session_id)
        }

    def forget(self, user_id: str, session_id: str) -> None:
        """Forget a session."""
        for invocation in self.of_session(user_id, session_id):
            self._held -= _size(self._turns.pop((user_id, session_id, invocation)))


def _size(spans: Sequence[Span]) -> int:
    return sum(
        _OF_A_SPAN
        + len(span.request or "")
        + len(span.response or "")
        + len(span.error or "")
        + sum(len(value) for value in span.attributes.values() if isinstance(value, str))
        for span in spans
    )
