"""Agents in other processes, with one process for each conversation and one request for each turn.

`CommandAgent` is `cmd:COMMAND`: any program that exchanges the JSON lines of docs/reference/agent-protocol.md on standard input and output.
"""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from proctor.agents import json_protocol
from proctor.agents.base import AgentInfo, Session
from proctor.agents.process.child_process import Child, Guardian
from proctor.common.json_values import Json, JsonObject
from proctor.common.secrets import redact_text, secrets_in
from proctor.errors import AgentCrashedError, AgentLoadError
from proctor.schema.evidence.event import Event
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import Content

MEMORY = "process"
"""The key of the session's memory with its `ProcessConversation`."""

BEFORE, _BEHIND = "before it was asked anything", "behind the 'done' of its answer"


@dataclass(slots=True)
class ProcessConversation:
    """One trial's conversation, and the process that has it."""

    child: Child
    turns: int = 0


class ProcessAgent:
    """An agent with one process for each conversation; its subclasses differ in how they start one.

    A process that crashed, broke the protocol or did not finish an answer is ended with its whole group; the next conversation
    gets another one.
    """

    def __init__(self) -> None:
        self._pool = Pool(self._start)

    async def _start(self, guardian: Guardian) -> Child:
        raise NotImplementedError

    async def open(self) -> None:
        """Start the first process: a failed start is a configuration error.

        Raises:
            AgentLoadError: it does not start.
        """
        try:
            await self._open()
        except BaseException:
            await self.close()
            raise

    async def _open(self) -> None:
        """Start the first process."""
        self._pool.release(await self._pool.acquire())

    async def close(self) -> None:
        """End all processes."""
        await self._pool.close()

    async def take_process(self, session: Session) -> None:
        """Assign a process to the conversation. A run calls it before `begin`, so that no deadline includes the start.

        Raises:
            AgentCrashedError: it cannot be started, or does not load its agent in its own time.
        """
        await self._acquire_process(session)

    async def begin(self, session: Session, case: EvalCase) -> None:
        """Begin the conversation in its process; assign a process if there is none."""
        conversation: ProcessConversation | None = session.memory.get(MEMORY)
        await self._begin(conversation or await self._acquire_process(session), session, case)

    async def _acquire_process(self, session: Session) -> ProcessConversation:
        try:
            child = await self._pool.acquire()
        except AgentLoadError as error:  # the first one could be started
            raise AgentCrashedError(str(error)) from error
        child.forget_its_words()
        conversation = session.memory[MEMORY] = ProcessConversation(child)
        return conversation

    async def _begin(
        self, conversation: ProcessConversation, session: Session, case: EvalCase | None
    ) -> None:
        """Send the beginning of a conversation to a process."""
        conversation.child.send(json_protocol.notice("begin", session))

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        """Send one turn to the process, and yield its answers as they come.

        Raises:
            AgentCrashedError, AgentTruncatedError: it ended, or closed its output, before its answer was done.
            AgentRaisedError: the agent reported a failure.
            AgentError: it broke the protocol.
        """
        conversation: ProcessConversation | None = session.memory.get(MEMORY)
        if conversation is None:  # callers without trials
            conversation = await self._acquire_process(session)
            await self._begin(conversation, session, None)
        if (
            broken := conversation.child.unexpected_output(_BEHIND if conversation.turns else BEFORE)
        ) is not None:
            raise broken
        request = json_protocol.turn_request(message, session, conversation.turns)
        conversation.turns += 1
        async for answer in self._stream_answers(conversation.child, request):
            for event in answer.events:
                yield event
            if answer.done:
                answer.keep(session)

    async def _stream_answers(self, child: Child, request: JsonObject) -> AsyncIterator[json_protocol.Answer]:
        """Send a request and yield the answers, `done` last. Any other end makes the process unusable."""
        child.is_busy = True
        child.send(request)
        done = False
        while not done:
            data = await self._receive(child)
            child.is_busy = not (isinstance(data, dict) and data.get("type") == "error")
            answer = self._parse_answer(child, data)
            child.is_busy, done = not answer.done, answer.done
            yield answer

    async def _receive(self, child: Child) -> Json:
        return await child.receive()

    def _parse_answer(self, child: Child, data: Json) -> json_protocol.Answer:
        """Convert the output of a process."""
        return json_protocol.read_answer(data)

    async def end(self, session: Session) -> None:
        """End the conversation in the process, and reuse the process for the next one.

        Raises:
            AgentError: it wrote further output, so its answers cannot be assigned to turns.
        """
        conversation: ProcessConversation | None = session.memory.pop(MEMORY, None)
        if conversation is None:
            return
        try:
            if (
                not conversation.child.is_busy
                and (broken := conversation.child.unexpected_output(_BEHIND)) is not None
            ):
                raise broken
            if conversation.child.is_ready:
                await self._end(conversation.child, session)
        finally:
            self._pool.release(conversation.child)

    async def _end(self, child: Child, session: Session) -> None:
        """Send the end of a conversation to a process."""
        child.send(json_protocol.notice("end", session))


# --- The processes of a run: as many as conversations at once, each used for one after the other ----------------------


_PATIENCE = 1.0
"""Seconds that processes have to end when their input does."""


class Pool:
    """Lends processes, and ends them all with the run."""

    def __init__(self, start: Callable[[Guardian], Awaitable[Child]]) -> None:
        """Take the function that starts a process, which the given guardian then watches."""
        self._start = start
        self.idle: list[Child] = []
        """Those that wait for a conversation."""
        self._living: set[Child] = set()
        self._guardian = Guardian()

    async def acquire(self) -> Child:
        """Return a process that waits for a conversation; a new one if there is none.

        Raises:
            AgentLoadError: it cannot be started.
        """
        while self.idle:
            child = self.idle.pop()
            if child.is_ready:
                return child
            self.drop(child)
        child = await self._start(self._guardian)
        self._living.add(child)
        return child

    def release(self, child: Child) -> None:
        """Take a process back; end it if it cannot be reused."""
        if child.is_ready:
            self.idle.append(child)
        else:
            self.drop(child)

    def drop(self, child: Child) -> None:
        """End a process, at once."""
        child.kill()
        self._living.discard(child)

    async def close(self) -> None:
        """End all processes by the end of their input, and by force if necessary."""
        living, self.idle = list(self._living), []
        for child in living:
            child.close_input()
        try:
            await asyncio.gather(*(child.ends_within(_PATIENCE) for child in living))
        finally:
            for child in living:
                self.drop(child)
        await asyncio.gather(*(child.ends_within(_PATIENCE) for child in living))  # no zombie is left
        self._guardian.dismiss()


# --- `cmd:COMMAND`: any program that speaks the JSON lines of docs/reference/agent-protocol.md on standard input and output -----


_AT_ONCE = 0.3
"""Seconds within which the end of a process counts as a failed start. Other starts continue meanwhile."""


class CommandAgent(ProcessAgent):
    """A command, run without a shell, in this process's folder and environment."""

    def __init__(self, command: str) -> None:
        """Take the command as it would be typed.

        Raises:
            AgentLoadError: there is no command, or its quotes do not match.
        """
        super().__init__()
        self._name = redact_text(f"cmd:{command.strip()}")
        try:
            self._command = shlex.split(command)
        except ValueError as error:
            raise AgentLoadError(f"The agent {self._name} cannot be read: {error}.") from error
        if not self._command:
            raise AgentLoadError(
                "The agent cmd: names no command; write cmd:COMMAND, as in 'cmd:python agent.py'."
            )
        self._secrets = secrets_in(self._command)

    def describe(self) -> AgentInfo:
        """Return the command."""
        return AgentInfo(name=self._name)

    async def _open(self) -> None:
        child = await self._pool.acquire()
        ended = await child.ends_within(_AT_ONCE)
        wrong = await child.end_error(BEFORE) if ended else child.unexpected_output(BEFORE)
        if wrong is not None:
            raise AgentLoadError(f"The agent cannot be started: {wrong}")
        self._pool.release(child)

    async def _start(self, guardian: Guardian) -> Child:
        # the output of a Python agent arrives without explicit flushes
        return await Child.start(
            self._command,
            guardian,
            name=self._name,
            env={"PYTHONUNBUFFERED": "1", **os.environ},
            secrets=self._secrets,
        )


def command_agent(command: str) -> CommandAgent:
    """Make the agent of `cmd:COMMAND`."""
    return CommandAgent(command)
