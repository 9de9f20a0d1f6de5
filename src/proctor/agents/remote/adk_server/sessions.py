"""Sessions of an ADK server: created with a state, read at the end, deleted again."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import quote

from proctor.agents.base import Session
from proctor.agents.remote.http.client import HttpClient
from proctor.common.error_text import safe_repr
from proctor.common.json_values import Json, JsonObject
from proctor.errors import AgentError

_EXISTS = 409
_CLEANUP = 5.0
"""Seconds that deleting a session may take: no trial waits longer for it."""
_PLACE = "adk+http place"


@dataclass(slots=True)
class _Place:
    """An id of a session, and the trials that have it or wait for it."""

    lock: asyncio.Lock
    trials: int = 0


@dataclass(frozen=True, slots=True)
class RemoteSession:
    """A session that the server has."""

    id: str
    path: str
    is_ours: bool
    """Whether it was created here, so that it is deleted here."""


class Sessions:
    """The sessions of one app for the trials of one run."""

    def __init__(self, http: HttpClient, app: str) -> None:
        """Take the server and the app's name."""
        self._http = http
        self._app = quote(app, safe="")
        self._places: dict[tuple[str, str], _Place] = {}

    async def acquire(self, session: Session) -> None:
        """Keep a session's id for one trial; another trial of the same pinned id waits until it is given back."""
        place = self._places.setdefault((session.user_id, session.id), _Place(asyncio.Lock()))
        place.trials += 1
        try:
            await place.lock.acquire()
        except BaseException:
            place.trials -= 1
            raise
        session.memory[_PLACE] = place

    async def create(self, session: Session) -> RemoteSession:
        """Create a session with the state of the case; a pinned session that exists is continued unchanged.

        Servers differ in the form of the request. The created session is checked, and created in another form if id
        or state did not arrive.

        Raises:
            AgentError: none of the ways gave a session with this state.
        """
        base = f"apps/{self._app}/users/{quote(session.user_id, safe='')}/sessions"
        one = f"{base}/{quote(session.id, safe='')}"
        ways: list[tuple[str, Json]] = [
            (base, {"sessionId": session.id, "state": session.state}),
            (one, session.state),
            (one, {"state": session.state}),
        ]
        refusal: AgentError | None = None
        answer: Json = None
        for path, body in ways:
            try:
                status, answer = await self._post(path, body)
            except AgentError as error:
                if error.infrastructure:
                    raise
                refusal = refusal or error
                continue
            if status == _EXISTS:
                return RemoteSession(session.id, one, is_ours=False)
            fields = answer if isinstance(answer, dict) else {}
            if fields.get("id") == session.id and _has(fields.get("state"), session.state):
                return RemoteSession(session.id, one, is_ours=True)
            await self._delete_other(base, fields.get("id"))
        raise refusal or AgentError(
            f"the ADK server at {self._http.address.shown} made no session {session.id!r} with the state of the "
            f"case; what it made last: {safe_repr(answer, 200)}"
        )

    async def _delete_other(self, base: str, session_id: Json) -> None:
        """Delete a session that was created with another id or state than requested."""
        if isinstance(session_id, str):
            await self._delete(f"{base}/{quote(session_id, safe='')}")

    async def state(self, remote_session: RemoteSession) -> JsonObject | None:
        """Return the state of a session; empty if the server does not return it."""
        async with self._http.send(remote_session.path, allow=(404, 405, 501)) as reply:
            session = await reply.json() if reply.status == 200 else None
        state = session.get("state") if isinstance(session, Mapping) else None
        return state if isinstance(state, dict) else None

    async def release(self, session: Session, remote_session: RemoteSession | None) -> None:
        """Delete the session of a trial and release its id. A failure does not affect the verdict."""
        try:
            if remote_session is not None and remote_session.is_ours:
                await self._delete(remote_session.path)
        finally:
            self._release_id(session)

    def _release_id(self, session: Session) -> None:
        key = (session.user_id, session.id)
        place: _Place | None = session.memory.pop(_PLACE, None)
        if place is None:
            return
        place.trials -= 1
        place.lock.release()
        if not place.trials:
            self._places.pop(key, None)

    async def _post(self, path: str, body: Json) -> tuple[int, Json]:
        async with self._http.send(path, body, allow=(_EXISTS,)) as reply:
            return reply.status, await reply.json() if reply.status != _EXISTS else None

    async def _delete(self, path: str) -> None:
        with suppress(AgentError, TimeoutError):
            async with asyncio.timeout(_CLEANUP):
                await self._http.ask(path, method="DELETE")


def _has(state: Json, expected: Mapping[str, Json]) -> bool:
    """Whether a created session has the requested state (sessions do not keep `temp:`)."""
    if not isinstance(state, Mapping):
        return not expected
    return all(state.get(key) == value for key, value in expected.items() if not key.startswith("temp:"))
