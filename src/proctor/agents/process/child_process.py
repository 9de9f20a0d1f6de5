"""One process that speaks JSON lines: started as a group of its own, and ended with all that it started."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from proctor.agents.json_protocol import MOST_SHOWN, read_json
from proctor.agents.process.guardian_client import Guardian
from proctor.agents.process.line_reader import MOST_LINE, Lines, LineTooLongError, Tail
from proctor.common.error_text import safe_repr
from proctor.common.secrets import hide_in, hide_in_value
from proctor.errors import AgentCrashedError, AgentError, AgentLoadError, AgentTruncatedError

_TO_END = 3.0
"""Seconds that a process whose output ended has to end, too; few live on, and a busy machine takes its time."""
_A_MOMENT = 0.5
"""Seconds that the last words of a process have to arrive, where others hold its pipes open."""

_LAST_BYTES = 0.05
"""Seconds in which what a process wrote before its end is read, where others hold its pipes open."""


class Child:
    """A process, what it writes, and whether it can be asked again."""

    def __init__(
        self, process: subprocess.Popen[bytes], name: str, guardian: Guardian, secrets: Sequence[str] = ()
    ) -> None:
        """Take the process, its name in messages, who watches it, and what is hidden in all it writes; see `start`."""
        self._process, self._guardian = process, guardian
        self._name = name
        self._secrets = secrets
        self._lines = Lines()
        self._tail = Tail(secrets)
        self._stdin: asyncio.WriteTransport | None = None
        self._loop = asyncio.get_running_loop()
        self._exit: asyncio.Future[None] = self._loop.create_future()
        self.is_busy = False
        """Whether it was asked something and has not answered to the end."""

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        guardian: Guardian,
        *,
        name: str,
        env: Mapping[str, str],
        secrets: Sequence[str] = (),
    ) -> Child:
        """Start a command.

        Raises:
            AgentLoadError: it cannot be started.
        """
        try:
            process = subprocess.Popen(  # noqa: ASYNC220 - it takes a millisecond
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=env,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise AgentLoadError(_not_started(command, name, error)) from error
        guardian.watch(process.pid)
        child = cls(process, name, guardian, secrets)
        try:
            await child._connect()
        except BaseException:
            child.kill()
            raise
        return child

    async def _connect(self) -> None:
        threading.Thread(target=self._wait, daemon=True, name=f"proctor-wait-{self.pid}").start()
        await self._loop.connect_read_pipe(lambda: self._lines, self._process.stdout)
        await self._loop.connect_read_pipe(lambda: self._tail, self._process.stderr)
        self._stdin, _ = await self._loop.connect_write_pipe(asyncio.BaseProtocol, self._process.stdin)

    def _wait(self) -> None:
        """In a thread of its own: the end of the process is seen although what it started holds its pipes open."""
        self._process.wait()
        with suppress(RuntimeError):  # the loop is closed: nobody wants to know any more
            self._loop.call_soon_threadsafe(self._has_exited)

    def _has_exited(self) -> None:
        if not self._exit.done():
            self._exit.set_result(None)
        self._loop.call_later(_LAST_BYTES, self._lines.end)

    @property
    def pid(self) -> int:
        """Its id, which is that of its group."""
        return self._process.pid

    @property
    def can_be_asked(self) -> bool:
        """Whether it lives, waits for a request, and has said nothing that nobody asked for."""
        return not (self.is_busy or self._lines.has_ended or self._lines.unread)

    @property
    def is_gone(self) -> bool:
        """Whether it has ended."""
        return self._process.returncode is not None

    def send(self, data: Mapping[str, Any]) -> None:
        """Write one object; what it has not read yet is kept for it."""
        if self._stdin is not None and not self._stdin.is_closing():
            self._stdin.write(json.dumps(data).encode() + b"\n")

    def forget_its_words(self) -> None:
        """Begin a conversation: what it wrote to its standard error before is about another one."""
        self._tail.forget()

    async def receive(self) -> Any:
        """Return the next object that it writes.

        Raises:
            AgentCrashedError: it ended.
            AgentTruncatedError: it lives and has closed its output.
            AgentError: it wrote something that is no JSON, or no end of a line.
        """
        try:
            line = await self._lines.next()
        except LineTooLongError as error:
            beginning = self._shown(error.beginning)
            raise self._broken(f"a line of more than {MOST_LINE:,} bytes: {beginning}") from None
        if line is None:
            raise await self.why_it_ended()
        where = f"what {self._name} wrote to its standard output"
        try:
            data = read_json(line, where)
        except AgentError as error:
            raise AgentError(
                f"{self._not_json(line, where, error)}. {_BELONGS}{self._last_words()}"
            ) from None
        return hide_in_value(data, self._secrets) if self._secrets else data

    def _not_json(self, line: bytes, where: str, error: AgentError) -> str:
        """Return what is wrong with a line; the message shows its beginning, which is hidden before it is cut."""
        if not self._secrets:
            return str(error)
        try:
            read_json(hide_in(line.decode("utf-8", "replace"), self._secrets), where)
        except AgentError as hidden:
            return str(hidden)
        return f"{where} is not JSON"

    def _shown(self, data: bytes) -> str:
        return safe_repr(hide_in(data.decode("utf-8", "replace"), self._secrets), MOST_SHOWN)

    def unasked(self, when: str) -> AgentError | None:
        """Return what to say where it wrote something that nobody had asked for."""
        if not self._lines.unread:
            return None
        return self._broken(f"{self._shown(self._lines.unread)} {when}")

    def _broken(self, what: str) -> AgentError:
        return AgentError(f"{self._name} wrote {what}. {_BELONGS}{self._last_words()}")

    async def ended_within(self, seconds: float) -> bool:
        """Wait so long for its end; returns whether it has come."""
        await asyncio.wait([self._exit], timeout=seconds)
        return self.is_gone

    async def why_it_ended(self, when: str = "before its answer was done") -> AgentError:
        """Return how it ended, with its last words."""
        unfinished = self._lines.unread
        ended = await self.ended_within(_TO_END)
        await asyncio.wait([self._tail.ended], timeout=_A_MOMENT if ended else 0)
        half = f" in the middle of {self._shown(unfinished)}" if unfinished else ""
        if not ended:
            return AgentTruncatedError(
                f"{self._name} closed its standard output{half} {when}{self._last_words()}"
            )
        how = _how(self._process.returncode)
        return AgentCrashedError(f"{self._name} {how}{half} {when}{self._last_words()}")

    def _last_words(self) -> str:
        words = self._tail.text()
        return f"\nits standard error ends with:\n{words}" if words else ""

    def close_input(self) -> None:
        """Tell it that nothing will be asked any more."""
        if self._stdin is not None and not self._stdin.is_closing():
            self._stdin.close()

    def kill(self) -> None:
        """End it, with all that it started and that did not leave its group; at once."""
        with suppress(OSError):
            if os.name == "posix":
                os.killpg(self.pid, signal.SIGKILL)
            else:
                self._process.kill()
        self._guardian.forget(self.pid)
        self.is_busy = True
        if self._stdin is not None and not self._stdin.is_closing():
            self._stdin.abort()
        self._lines.close()
        self._tail.close()


_BELONGS = "Its standard output belongs to the protocol, one JSON object a line; anything else goes to standard error"


def _how(code: int | None) -> str:
    if code is None or code >= 0:
        return f"ended (exit code {code})"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"crashed ({name})" if name != "SIGKILL" else "was killed (SIGKILL: out of memory, perhaps)"


def _not_started(command: Sequence[str], name: str, error: Exception) -> str:
    program = command[0]
    if isinstance(error, FileNotFoundError):
        what = f"there is no program {program!r}"
        hint = "Check its name, or give its path."
    elif isinstance(error, PermissionError):
        what, hint = (
            f"{program!r} cannot be executed",
            f"Name what runs it (cmd:python {program}), or chmod +x it.",
        )
    else:
        what, hint = f"{type(error).__name__}: {error}", ""
    return f"The agent {name} cannot be started: {what}. {hint}".strip()
