"""A child process that exchanges JSON lines: started in its own process group, and ended with all its children."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from proctor.agents.json_protocol import MOST_SHOWN, parse_agent_json
from proctor.agents.process.line_reader import MOST_LINE, Lines, LineTooLongError, Tail
from proctor.common.error_text import safe_repr
from proctor.common.json_values import Json
from proctor.common.secrets import hide_in_value, redact_values
from proctor.errors import AgentCrashedError, AgentError, AgentLoadError, AgentTruncatedError

_TO_END = 3.0
"""Seconds for a process to end after its output ended; few processes need them, except on a busy machine."""
_A_MOMENT = 0.5
"""Seconds for the last output of a process to arrive if other processes keep its pipes open."""

_LAST_BYTES = 0.05
"""Seconds to read the output before the end of a process if other processes keep its pipes open."""


class Child:
    """A process, its output, and whether it can take another request."""

    def __init__(
        self, process: subprocess.Popen[bytes], name: str, guardian: Guardian, secrets: Sequence[str] = ()
    ) -> None:
        """Take the process, its name in messages, its guardian, and the secrets to hide in its output; see `start`."""
        self._process, self._guardian = process, guardian
        self._name = name
        self._secrets = secrets
        self._lines = Lines()
        self._tail = Tail(secrets)
        self._stdin: asyncio.WriteTransport | None = None
        self._loop = asyncio.get_running_loop()
        self._exit: asyncio.Future[None] = self._loop.create_future()
        self.is_busy = False
        """Whether a request is in progress."""

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
            raise AgentLoadError(_start_error(command, name, error)) from error
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
        """Run in a separate thread: it notices the end of the process even if its children keep its pipes open."""
        self._process.wait()
        with suppress(RuntimeError):  # the loop is closed already
            self._loop.call_soon_threadsafe(self._has_exited)

    def _has_exited(self) -> None:
        if not self._exit.done():
            self._exit.set_result(None)
        self._loop.call_later(_LAST_BYTES, self._lines.end)

    @property
    def pid(self) -> int:
        """The id of the process and of its group."""
        return self._process.pid

    @property
    def is_ready(self) -> bool:
        """Whether it runs, waits for a request, and wrote no unexpected output."""
        return not (self.is_busy or self._lines.has_ended or self._lines.unread)

    @property
    def is_gone(self) -> bool:
        """Whether it has ended."""
        return self._process.returncode is not None

    @property
    def has_crashed(self) -> bool:
        """Whether it exited, or ended by a signal other than a request to end: not killed from outside, nor for its memory."""
        code = self._process.returncode
        return code is not None and -code not in _ORDERS

    def send(self, data: Mapping[str, object]) -> None:
        """Write one object; unread data is buffered."""
        self.send_line(json.dumps(data).encode())

    def send_line(self, line: bytes) -> None:
        """Write one line, which has no line feed; unread data is buffered."""
        if self._stdin is not None and not self._stdin.is_closing():
            self._stdin.write(line + b"\n")

    def forget_its_words(self) -> None:
        """Begin a conversation and discard the earlier standard error output, which belongs to another one."""
        self._tail.forget()

    async def receive(self) -> Json:
        """Return the next object that it writes.

        Raises:
            AgentError: see `receive_line`; or the line is not JSON.
        """
        line = await self.receive_line()
        where = f"what {self._name} wrote to its standard output"
        try:
            data = parse_agent_json(line, where)
        except AgentError as error:
            raise AgentError(
                f"{self._not_json(line, where, error)}. {_BELONGS}{self._last_output()}"
            ) from None
        return hide_in_value(data, self._secrets) if self._secrets else data

    async def receive_line(self) -> bytes:
        """Return the next line that it writes, with any secrets in it.

        Raises:
            AgentCrashedError: it ended.
            AgentTruncatedError: it lives and has closed its output.
            AgentError: the line is too long, or incomplete.
        """
        try:
            line = await self._lines.next()
        except LineTooLongError as error:
            beginning = self._printable(error.beginning)
            raise self._broken(f"a line of more than {MOST_LINE:,} bytes: {beginning}") from None
        if line is None:
            raise await self.end_error()
        return line

    def _not_json(self, line: bytes, where: str, error: AgentError) -> str:
        """Return the problem of a line with its beginning; secrets are hidden before the text is cut."""
        if not self._secrets:
            return str(error)
        try:
            parse_agent_json(redact_values(line.decode("utf-8", "replace"), self._secrets), where)
        except AgentError as hidden:
            return str(hidden)
        return f"{where} is not JSON"

    def _printable(self, data: bytes) -> str:
        return safe_repr(redact_values(data.decode("utf-8", "replace"), self._secrets), MOST_SHOWN)

    def unexpected_output(self, when: str) -> AgentError | None:
        """Return the error message for unexpected output; empty if there was none."""
        if not self._lines.unread:
            return None
        return self._broken(f"{self._printable(self._lines.unread)} {when}")

    def unknown_line(self, line: bytes) -> AgentError:
        """Return the error message for a line that is no answer."""
        return self._broken(f"{self._printable(line)} to its standard output")

    def _broken(self, what: str) -> AgentError:
        return AgentError(f"{self._name} wrote {what}. {_BELONGS}{self._last_output()}")

    async def ends_within(self, seconds: float) -> bool:
        """Wait so long for its end; returns whether it has come."""
        await asyncio.wait([self._exit], timeout=seconds)
        return self.is_gone

    async def end_error(self, when: str = "before its answer was done") -> AgentError:
        """Return how it ended, with its last words."""
        unfinished = self._lines.unread
        ended = await self.ends_within(_TO_END)
        await asyncio.wait([self._tail.ended], timeout=_A_MOMENT if ended else 0)
        half = f" in the middle of {self._printable(unfinished)}" if unfinished else ""
        if not ended:
            return AgentTruncatedError(
                f"{self._name} closed its standard output{half} {when}{self._last_output()}"
            )
        how = _exit_text(self._process.returncode)
        return AgentCrashedError(f"{self._name} {how}{half} {when}{self._last_output()}")

    def _last_output(self) -> str:
        words = self._tail.text()
        return f"\nits standard error ends with:\n{words}" if words else ""

    def close_input(self) -> None:
        """Close the input: there are no further requests."""
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


_ORDERS = (1, 2, 9, 15)
"""SIGHUP, SIGINT, SIGKILL and SIGTERM: the kernel also sends SIGKILL if memory runs out."""
_BELONGS = "Its standard output belongs to the protocol, one JSON object a line; anything else goes to standard error"


def _exit_text(code: int | None) -> str:
    if code is None or code >= 0:
        return f"ended (exit code {code})"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"crashed ({name})" if name != "SIGKILL" else "was killed (SIGKILL: out of memory, perhaps)"


def _start_error(command: Sequence[str], name: str, error: Exception) -> str:
    program = command[0]
    if isinstance(error, FileNotFoundError):
        what = f"the program {program!r} does not exist"
        hint = "Check its name, or give its path."
    elif isinstance(error, PermissionError):
        what, hint = (
            f"{program!r} cannot be executed",
            f"Name what runs it (cmd:python {program}), or chmod +x it.",
        )
    else:
        what, hint = f"{type(error).__name__}: {error}", ""
    return f"The agent {name} cannot be started: {what}. {hint}".strip()


# --- Client of `guardian.py`, a separate process: registers the process groups that must not outlive this process -----


_PROGRAM = Path(__file__).with_name("guardian.py")


class Guardian:
    """One for all processes of an agent; started with the first, dismissed when the last has ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def watch(self, group: int) -> None:
        """Have a process group ended, should this process end without having done so."""
        if os.name != "posix":
            return
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_PROGRAM)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                bufsize=0,
            )
        self._write_line(f"+{group}\n")

    def forget(self, group: int) -> None:
        """Leave a group alone from now on: it has ended, and its number may be given to another."""
        self._write_line(f"-{group}\n")

    def dismiss(self) -> None:
        """End the registered groups and the guardian."""
        process, self._process = self._process, None
        if process is not None:
            process.communicate()

    def _write_line(self, line: str) -> None:
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.write(line.encode())
