"""One conversation with an agent on the page: its messages and events become a list of entries, which any thread may read."""

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
from proctor.schema.format.case import SessionInput
from proctor.schema.format.content import Content
from proctor.web.pages.base import copy_fields
from proctor.web.pages.chat import ChatEntry, ChatPage, ChatSummary, entries_of

MOST_ENTRIES = 2_000
"""The most entries of one answer."""
MOST_SHOWN = 4 * 2**20
"""The most characters of one conversation."""
IDLE = 30 * 60.0
"""Seconds after which an idle conversation is closed."""
CLOSING = 15.0
"""The time limit in seconds for stopping an answer, and for closing the agent."""
_SESSION_IS_LOST = {
    FailureKind.TIMED_OUT,
    FailureKind.CRASHED,
    FailureKind.BROKE_CONTRACT,
    FailureKind.TRUNCATED,
    FailureKind.CANCELLED,
}
"""Failures after which the agent's process has ended, so that its session is lost."""


_TOO_LONG = "the conversation is too long to show this entry and the following ones; they are saved anyway"


class BusyError(ProctorError):
    """The request is not possible now: there are too many conversations, or the agent is answering."""


class Chat:
    """One conversation. Its coroutines run on the loop of all conversations."""

    def __init__(
        self,
        agent: str,
        reference: str,
        session_input: SessionInput | None,
        memory: str | int | None,
        timeout: float,
    ) -> None:
        """`reference`: the AGENT string; `session_input`: the initial session."""
        self.id = secrets.token_urlsafe(12)
        self.agent, self.reference = agent, reference
        self.state = "ready"
        self._is_closed = False
        self.touched = time.monotonic()
        self.entries: list[ChatEntry] = []
        self.session_state: dict[str, Any] = dict(session_input.state) if session_input else {}
        self.conversation = Conversation(
            load_agent(reference, isolate=True, isolate_memory=memory),
            session_input=session_input,
            timeout=timeout,
        )
        self._number, self._exchange, self._shown, self._in_exchange = 0, -1, 0, 0
        self._began = 0.0
        self._messages: list[Content] = []
        """The user's messages of the complete turns; they remain if the session is lost."""
        self._task: asyncio.Task[None] | None = None

    # --- reading, from any thread ---

    def page(self) -> ChatPage:
        """Return the whole conversation."""
        session = self.conversation.session_input
        return copy_fields(
            ChatPage,
            self,
            turns=len(self.conversation.turns),
            entries=list(self.entries),
            initial_state=dict(session.state) if session else {},
            idle_seconds=IDLE,
        )

    def summary(self) -> ChatSummary:
        """Return the entry for the list of conversations."""
        first = next((one.text for one in self.entries if one.kind == "user"), "")
        return copy_fields(ChatSummary, self, turns=len(self.conversation.turns), begins=first[:80])

    def since(self, number: int) -> list[ChatEntry]:
        """Return the entries after the one with this number."""
        entries = self.entries
        return entries[bisect_right(entries, number, key=lambda one: one.number) :]

    # --- talking, on the loop ---

    async def begin(self, message: Content) -> int:
        """Send a message, whose results become entries. Return the number of the last entry before it."""
        self._require("ready")
        self._require_open()
        before = self._number
        self._new_exchange(message)
        self._start(self._answer(lambda: self.conversation.send(message, self._note_event)))
        return before

    async def replay(self, *, without_last: bool) -> int:
        """Send all messages again in a new session; `without_last`: undo the last turn."""
        self._require_open()
        if self.state == "answering":
            self._require("ready")
        before = self._number
        self._messages = self._messages[:-1] if without_last else self._messages
        messages = list(self._messages)
        self._exchange += 1
        count = f"{len(messages)} earlier messages are" if len(messages) > 1 else "1 earlier message is"
        replay = f"; {count} sent again" if messages else ""
        self._add_entry(
            "note", text=f"{'the last turn is undone' if without_last else 'a new session'}{replay}"
        )
        self._start(self._answer(lambda: self.conversation.again(self._note_event, messages)))
        return before

    async def stop(self) -> None:
        """Stop the present answer; its turn is discarded."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task], timeout=CLOSING)

    async def close(self) -> None:
        """End the conversation, and the agent's process."""
        self._is_closed = True
        await self.stop()
        with suppress(Exception, TimeoutError):
            async with asyncio.timeout(CLOSING):
                await self.conversation.close()

    def _require_open(self) -> None:
        """Refuse a message that arrives while the agent's process ends: nothing would answer it."""
        if self._is_closed:
            raise BusyError("the conversation is closed: a person closed it, or it was idle for too long")

    def _require(self, state: str) -> None:
        if self.state != state:
            raise BusyError(
                "the agent is still answering: wait, or stop it"
                if self.state == "answering"
                else "the agent has lost its session: send the earlier messages again, or start a new conversation"
            )

    def _start(self, work: Coroutine[object, object, None]) -> None:
        self.state, self.touched = "answering", time.monotonic()
        self._began, self._in_exchange = time.perf_counter(), 0
        self._task = asyncio.get_running_loop().create_task(work)

    async def _answer(self, work: Callable[[], Coroutine[object, object, Failure | None]]) -> None:
        failure: Failure | None = None
        stopped = False
        try:
            failure = await work()
        except asyncio.CancelledError:
            stopped = True
        except Exception as error:  # noqa: BLE001 - a session that cannot be restarted is a failure of the agent, too
            failure = Failure(where="agent", type=type(error).__name__, message=str(error))
        await self._end(failure, stopped=stopped)

    async def _end(self, failure: Failure | None, *, stopped: bool) -> None:
        if stopped:
            self._add_entry("note", text="stopped; this turn is discarded")
        elif failure is not None:
            self._add_entry("failure", text=f"{clean(failure.cause, lines=True)}; this turn is discarded")
        else:
            self._messages = [turn.user_content for turn in self.conversation.turns]
            await self._record_state()
        for note in self.conversation.notes:
            self._add_entry("note", text=note)
        self.conversation.notes.clear()
        self._drop_pieces()
        self.touched = time.monotonic()
        lost = stopped or (failure is not None and failure.kind in _SESSION_IS_LOST)
        self.state = "broken" if lost else "ready"
        self._add_entry("end", value={"state": self.state, "turns": len(self.conversation.turns)})

    async def _record_state(self) -> None:
        try:
            async with asyncio.timeout(CLOSING):
                self.session_state = await self.conversation.final_state()
        except Exception as error:  # noqa: BLE001 - a note reports that the agent does not return its state
            self._add_entry(
                "note", text=f"the agent does not return its state: {type(error).__name__}: {error}"
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

    def _note_event(self, event: Event) -> None:
        for fields in entries_of(event):
            self._in_exchange += 1
            if self._in_exchange < MOST_ENTRIES:
                self._add_entry(**fields)
            elif self._in_exchange == MOST_ENTRIES:
                self._add_entry(
                    "note", text=f"more than {MOST_ENTRIES:,} events in one answer: the rest is not shown"
                )

    def _add_entry(self, kind: str, **more: Any) -> None:
        self._number += 1
        seconds = round(time.perf_counter() - self._began, 3)
        place = {"number": self._number, "exchange": max(self._exchange, 0)}
        entry = ChatEntry(**place, kind=kind, seconds=seconds, **more)
        self._shown += len(entry.text) + len(str(entry.value))
        if self._shown > MOST_SHOWN and kind not in {"end", "failure", "note"}:
            entry = ChatEntry(**place, kind="note", text=_TOO_LONG)
            self._shown += len(entry.text)
        self.entries.append(entry)

    def _drop_pieces(self) -> None:
        """Remove partial texts, because the complete texts have arrived."""
        self.entries = [one for one in self.entries if not one.partial]
