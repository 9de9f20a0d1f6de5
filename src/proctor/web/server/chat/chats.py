"""All conversations of a server: each has its own worker process; they share one event loop in a separate thread.

No code of an agent runs in the server: an agent that blocks, crashes or floods harms only its own conversation.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Coroutine
from typing import TypeVar

from proctor.common.secrets import hide_secrets
from proctor.errors import ProctorError, SetupError, UnknownNameError, did_you_mean
from proctor.runs.setup.settings import load_settings, prepare_process
from proctor.schema.format.case import SessionInput
from proctor.web.server.agent_loop import AgentLoop
from proctor.web.server.chat.conversation import CLOSING, IDLE, BusyError, Chat
from proctor.web.server.context import ServerContext
from proctor.web.server.runs.run_command import agents_of_page
from proctor.web.server.security.allowed_names import guard_targets_now

MOST_CHATS = 8
ONE_TURN = 300.0
"""The time limit of an answer in seconds."""

_Found = TypeVar("_Found")


class Chats:
    """All conversations of one server."""

    def __init__(self, context: ServerContext, *, idle: float = IDLE, timeout: float = ONE_TURN) -> None:
        """`idle`, `timeout`: the seconds after which conversations and answers end."""
        self._context, self._idle, self._timeout = context, idle, timeout
        self._open: dict[str, Chat] = {}
        self._opening = 0
        self._lock = threading.Lock()
        self._loop = AgentLoop("proctor-chats", last_seconds=2 * CLOSING)
        self._sweeping: asyncio.Task[None] | None = None
        self._closing: set[asyncio.Task[None]] = set()

    def all(self) -> list[Chat]:
        """Return the open conversations, oldest first."""
        return list(self._open.values())

    def find(self, chat_id: str) -> Chat:
        """Return a conversation.

        Raises:
            UnknownNameError: there is no open conversation with this id.
        """
        if (conversation := self._open.get(chat_id)) is None:
            raise UnknownNameError(
                f"there is no open conversation {chat_id!r}: a person closed it, or it was idle for too long"
            )
        return conversation

    async def open(self, agent: str, session_input: SessionInput | None) -> Chat:
        """Start a conversation: the agent is loaded in a separate process.

        Raises:
            SetupError: there is no agent of this name, or it cannot be loaded.
            BusyError: there are too many conversations.
        """
        known = agents_of_page(self._context)
        if agent not in known:
            available = (
                f" There is: {', '.join(known)}"
                if known
                else " The server has no agents: start it with a folder of agents"
            )
            raise UnknownNameError(
                f"there is no agent {agent!r} to talk to.{did_you_mean(agent, known)}{available}"
            )
        with self._lock:
            if len(self._open) + self._opening >= MOST_CHATS:
                raise BusyError(f"{MOST_CHATS} conversations are open, which is the maximum: close one first")
            self._opening += 1
        try:
            chat = await self.on_loop(self._begin(agent, known[agent], session_input))
            self._open[chat.id] = chat
        finally:
            self._opening -= 1
        return chat

    async def _begin(self, agent: str, reference: str, session_input: SessionInput | None) -> Chat:
        self._sweeping = self._sweeping or asyncio.get_running_loop().create_task(self._sweep())
        settings = load_settings(self._context.root)
        prepare_process(settings)
        guard_targets_now(self._context)
        chat = Chat(agent, reference, session_input, settings.options.get("isolate_memory"), self._timeout)
        try:
            await chat.conversation.open()
        except BaseException as error:
            await chat.close()
            if isinstance(error, ProctorError | asyncio.CancelledError):
                raise
            raise SetupError(
                f"the agent {agent} cannot start a conversation: {type(error).__name__}: {hide_secrets(str(error))}"
            ) from error
        return chat

    async def close(self, chat: Chat) -> None:
        """End a conversation."""
        if self._open.pop(chat.id, None) is not None:
            await self.on_loop(self._close(chat))

    async def _close(self, chat: Chat) -> None:
        """End a conversation, on the loop; the end continues if the caller is cancelled."""
        closing = asyncio.get_running_loop().create_task(chat.close())
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)
        await asyncio.shield(closing)

    async def close_all(self) -> None:
        """End all conversations, including those that are closing already, and the loop."""
        await asyncio.to_thread(self._loop.close, self._end)

    async def _end(self) -> None:
        if self._sweeping is not None:
            self._sweeping.cancel()
        chats = self.all()
        self._open.clear()
        await asyncio.gather(*map(self._close, chats), *self._closing, return_exceptions=True)

    async def on_loop(self, work: Coroutine[object, object, _Found]) -> _Found:
        """Run a coroutine on the loop of the conversations, and return its result."""
        return await self._loop.run(work)

    async def _sweep(self) -> None:
        """Close idle conversations."""
        while True:
            await asyncio.sleep(min(10.0, self._idle / 4))
            for chat in self.all():
                if chat.state != "answering" and time.monotonic() - chat.touched > self._idle:
                    self._open.pop(chat.id, None)
                    await self._close(chat)
