"""A conversation with an agent, had from the page: what is said goes into a list of entries that anybody may read."""

from __future__ import annotations

import asyncio
import secrets
import time
from bisect import bisect_right
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from proctor.common.safe_text import clean
from proctor.engine.trial.live_conversation import Conversation
from proctor.errors import ProctorError
from proctor.runs.load import load_agent
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import Failure, FailureKind
from proctor.schema.format.content import Content
from proctor.schema.format.session import SessionInput
from proctor.web.pages.chat import ChatEntry, ChatPage, ChatSummary, chat_entry, entries_of

MOST_ENTRIES = 2_000
"""Entries of one answer that are shown."""
MOST_SHOWN = 4 * 2**20
"""Characters of one conversation that are shown."""
IDLE = 30 * 60.0
"""Seconds after which a conversation that nobody goes on with is closed."""
CLOSING = 15.0
"""Seconds that stopping an answer may take, and as many that the end of the agent may."""
_SESSION_IS_LOST = {
    FailureKind.TIMED_OUT,
    FailureKind.CRASHED,
    FailureKind.BROKE_CONTRACT,
    FailureKind.TRUNCATED,
    FailureKind.CANCELLED,
}
"""The agent's process was left in the middle of something, and is ended."""


class BusyError(ProctorError):
    """It cannot be done now: too many conversations, or an answer is under way."""


class Chat:
    """One conversation. Its methods that are coroutines run on the loop of all conversations."""

    def __init__(
        self, agent: str, reference: str, session_input: SessionInput | None, memory: Any, timeout: float
    ) -> None:
        """Take the agent's name and its AGENT string, and the session to start in."""
        self.id = secrets.token_urlsafe(12)
        self.agent, self.reference = agent, reference
        self.state = "ready"
        self.touched = time.monotonic()
        self.entries: list[ChatEntry] = []
        self.session_state: dict[str, Any] = dict(session_input.state) if session_input else {}
        self.talk = Conversation(
            load_agent(reference, isolate=True, isolate_memory=memory),
            session_input=session_input,
            timeout=timeout,
        )
        self._number, self._exchange, self._shown, self._in_exchange = 0, -1, 0, 0
        self._began = 0.0
        self._said: list[Content] = []
        """What the user said in the turns that are kept; it outlives a session that is lost."""
        self._task: asyncio.Task[None] | None = None

    # --- reading, from any thread ---

    def page(self) -> ChatPage:
        """Return all of it."""
        session = self.talk.session_input
        return ChatPage(
            id=self.id,
            agent=self.agent,
            state=self.state,
            turns=len(self.talk.turns),
            entries=list(self.entries),
            session_state=self.session_state,
            initial_state=dict(session.state) if session else {},
            idle_seconds=IDLE,
        )

    def summary(self) -> ChatSummary:
        """Return what a list of conversations shows."""
        first = next((one.text for one in self.entries if one.kind == "user"), "")
        return ChatSummary(
            id=self.id, agent=self.agent, state=self.state, turns=len(self.talk.turns), begins=first[:80]
        )

    def since(self, number: int) -> list[ChatEntry]:
        """Return the entries behind the one of this number."""
        entries = self.entries
        return entries[bisect_right(entries, number, key=lambda one: one.number) :]

    # --- talking, on the loop ---

    async def begin(self, message: Content) -> int:
        """Send a message; what comes is put into `entries`. Returns the number of the last entry before it."""
        self._require("ready")
        before = self._number
        self._new_exchange(message)
        self._start(self._answer(lambda: self.talk.say(message, self._hear)))
        return before

    async def replay(self, *, without_last: bool) -> int:
        """Say everything again in a new session, without the last turn where it is to be taken back."""
        if self.state == "answering":
            self._require("ready")
        before = self._number
        self._said = self._said[:-1] if without_last else self._said
        said = list(self._said)
        self._exchange += 1
        many = f"{len(said)} earlier messages are" if len(said) > 1 else "1 earlier message is"
        told = f"; {many} said again" if said else ""
        self._add_entry(
            "note", text=f"{'the last turn is taken back' if without_last else 'a new session'}{told}"
        )
        self._start(self._answer(lambda: self.talk.again(self._hear, said)))
        return before

    async def stop(self) -> None:
        """End the answer that is under way; its turn is not kept."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task], timeout=CLOSING)

    async def close(self) -> None:
        """End the conversation, and the agent's process."""
        await self.stop()
        with suppress(Exception, TimeoutError):
            async with asyncio.timeout(CLOSING):
                await self.talk.close()

    def _require(self, state: str) -> None:
        if self.state != state:
            raise BusyError(
                "the agent is still answering: wait, or stop it"
                if self.state == "answering"
                else "the agent has lost its session: say the earlier messages again, or begin a new conversation"
            )

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        self.state, self.touched = "answering", time.monotonic()
        self._began, self._in_exchange = time.perf_counter(), 0
        self._task = asyncio.get_running_loop().create_task(work)

    async def _answer(self, work: Callable[[], Coroutine[Any, Any, Failure | None]]) -> None:
        failure: Failure | None = None
        stopped = False
        try:
            failure = await work()
        except asyncio.CancelledError:
            stopped = True
        except Exception as error:  # noqa: BLE001 - a session that does not begin again is the agent's, too
            failure = Failure(where="agent", type=type(error).__name__, message=str(error))
        await self._end(failure, stopped=stopped)

    async def _end(self, failure: Failure | None, *, stopped: bool) -> None:
        if stopped:
            self._add_entry("note", text="stopped; this turn is not kept")
        elif failure is not None:
            self._add_entry("failure", text=f"{clean(failure.cause, lines=True)}; this turn is not kept")
        else:
            self._said = [turn.user_content for turn in self.talk.turns]
            await self._take_state()
        for note in self.talk.notes:
            self._add_entry("note", text=note)
        self.talk.notes.clear()
        self._drop_pieces()
        self.touched = time.monotonic()
        lost = stopped or (failure is not None and failure.kind in _SESSION_IS_LOST)
        self.state = "broken" if lost else "ready"
        self._add_entry("end", value={"state": self.state, "turns": len(self.talk.turns)})

    async def _take_state(self) -> None:
        try:
            async with asyncio.timeout(CLOSING):
                self.session_state = await self.talk.final_state()
        except Exception as error:  # noqa: BLE001 - it does not say its state, and that is said
            self._add_entry(
                "note", text=f"the agent does not tell its state: {type(error).__name__}: {error}"
            )
            return
        self._add_entry("session", value=self.session_state)

    # --- entries ---

    def _new_exchange(self, message: Content) -> None:
        self._exchange += 1
        self._began = time.perf_counter()
        for part in message.parts or ():
            if part.function_response is not None:
                answer = part.function_response
                self._add_entry(
                    "user", name=answer.name or "", call_id=answer.id or "", value=answer.response
                )
            else:
                self._add_entry("user", text=part.text or "")

    def _hear(self, event: Event) -> None:
        for found in entries_of(event):
            self._in_exchange += 1
            if self._in_exchange < MOST_ENTRIES:
                self._add_entry(**found)
            elif self._in_exchange == MOST_ENTRIES:
                self._add_entry(
                    "note", text=f"more than {MOST_ENTRIES:,} events in one answer: the rest is not shown"
                )

    def _add_entry(self, kind: str, **more: Any) -> None:
        self._number += 1
        seconds = round(time.perf_counter() - self._began, 3)
        entry = chat_entry(self._number, max(self._exchange, 0), kind, seconds=seconds, **more)
        self._shown += len(entry.text) + len(str(entry.value))
        if self._shown > MOST_SHOWN and kind not in {"end", "failure", "note"}:
            entry = chat_entry(
                self._number,
                entry.exchange,
                "note",
                text="too long to be shown, as all that follows; it is kept",
            )
            self._shown += len(entry.text)
        self.entries.append(entry)

    def _drop_pieces(self) -> None:
        """What was streamed in pieces has come as a whole, too."""
        self.entries = [one for one in self.entries if not one.partial]
