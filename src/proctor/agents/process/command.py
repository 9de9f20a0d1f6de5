"""`cmd:COMMAND`: any program that speaks the JSON lines of docs/agent-protocol.md on standard input and output."""

from __future__ import annotations

import os
import shlex

from proctor.agents.base import AgentInfo
from proctor.agents.process.child_process import Child
from proctor.agents.process.guardian_client import Guardian
from proctor.agents.process.process_agent import BEFORE, ProcessAgent
from proctor.common.secrets import redact_text, secrets_in
from proctor.errors import AgentLoadError

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
        child = await self._pool.take()
        ended = await child.ended_within(_AT_ONCE)
        wrong = await child.end_error(BEFORE) if ended else child.unexpected_output(BEFORE)
        if wrong is not None:
            raise AgentLoadError(f"The agent cannot be started: {wrong}")
        self._pool.give_back(child)

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
