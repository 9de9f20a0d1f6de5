"""A Python agent in a separate process: `python -m proctor.agents.process.worker AGENT`, started by `--isolate`.

It speaks the protocol of docs/reference/agent-protocol.md with the extensions of `worker_protocol`. Output of the agent goes to
standard error, because standard output belongs to the protocol.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import locale
import os
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import aclosing, nullcontext, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from proctor.agents.base import Agent, AgentInfo, Session
from proctor.agents.import_user_code import set_import_path
from proctor.agents.json_protocol import TOLD_AT_END
from proctor.agents.load import describe_ref, load_agent
from proctor.agents.process.line_reader import Lines
from proctor.agents.process.worker_agent import PATH_VARIABLE, error_data, event_data, json_value
from proctor.common.async_tools import forget_cancellation, settle
from proctor.common.error_text import safe_str
from proctor.common.json_values import JsonObject
from proctor.common.process_exit import contained_exits
from proctor.errors import AgentError, AgentLoadError, ProctorError
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import Content

Request = dict[str, Any]
"""A request of the parent process, which is Proctor, too."""


class Channel:
    """The pipes to the parent process, protected from the agent's use of the standard streams."""

    def __init__(self) -> None:
        """Take the pipes; in their places come nothing to read, and standard error to write to."""
        self._in, self._out = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        os.close(nothing)
        self._lines = Lines()

    async def connect(self) -> None:
        """Begin to read."""
        pipe = os.fdopen(self._in, "rb", 0)
        await asyncio.get_running_loop().connect_read_pipe(lambda: self._lines, pipe)

    async def receive(self) -> Request | None:
        """Return the next request; `None` when there will be none."""
        line = await self.receive_line()
        return None if line is None else json.loads(line)

    async def receive_line(self) -> bytes | None:
        """Return the next line; `None` when there will be none."""
        return await self._lines.next()

    def send(self, data: Mapping[str, object]) -> None:
        """Write an answer; wait until the pipe accepts it."""
        self.send_line(json.dumps(data).encode())

    def send_line(self, line: bytes) -> None:
        """Write one line, which has no line feed; wait until the pipe accepts it."""
        left = memoryview(line + b"\n")
        while left:
            left = left[os.write(self._out, left) :]


class AgentWorker:
    """One agent and the conversation that it is in."""

    def __init__(self, agent: Agent, channel: Channel) -> None:
        """Take the agent, loaded and open."""
        self._agent, self._channel = agent, channel
        self._session = Session("", "", "")
        self._before = ProcessState.now()

    async def serve(self) -> None:
        """Serve requests until the input ends."""
        tasks = {
            "begin": self._begin,
            "turn": self._turn,
            "final_state": self._final_state,
            "end": self._end,
            "close": self._close,
        }
        while (request := await self._channel.receive()) is not None:
            task = tasks.get(str(request.get("type")))
            if task is None:
                continue
            try:
                with contained_exits():
                    answer = await task(request)
            except BaseException as error:  # noqa: BLE001 - everything that an agent raises is evidence
                forget_cancellation()
                answer = error_data(error)
            self._channel.send(answer)

    async def _begin(self, request: Request) -> JsonObject:
        self._session = Session(**request["session"])
        begin = getattr(self._agent, "begin", None)
        if begin is not None:
            await settle(begin(self._session, EvalCase.model_validate(request["case"])))
        return {"type": "done"}

    async def _turn(self, request: Request) -> JsonObject:
        session = self._session
        for name in TOLD_AT_END:
            session.memory.pop(name, None)
        events: object = self._agent.answer(Content.model_validate(request["message"]), session)
        if not hasattr(events, "__aiter__"):
            raise AgentError(
                f"answer() returned {type(events).__name__}; it must be an async generator (use `yield` in an `async def`)"
            )
        async with aclosing(events) if hasattr(events, "aclose") else nullcontext():
            async for event in events:
                data = event_data(event)
                if isinstance(delta := json_value(event.state_delta), dict):
                    session.state.update(delta)
                self._channel.send(data)
        fields = {name: session.memory.get(name) for name in TOLD_AT_END}
        return {
            "type": "done",
            **{name: json_value(value) for name, value in fields.items() if value is not None},
        }

    async def _final_state(self, _request: Request) -> JsonObject:
        ask = getattr(self._agent, "final_state", None)
        state = self._session.state if ask is None else await settle(ask(self._session))
        return {"type": "done", "final_state": json_value(state)}

    async def _end(self, _request: Request) -> JsonObject:
        end = getattr(self._agent, "end", None)
        try:
            if end is not None:
                await settle(end(self._session))
        finally:
            self._session = Session("", "", "")
            is_clean = self._before.restore()
        return {"type": "done", "is_clean": is_clean}

    async def _close(self, _request: Request) -> JsonObject:
        if (close := getattr(self._agent, "close", None)) is not None:
            await settle(close())
        return {"type": "done"}


async def work(reference: str, agent_name: str | None, channel: Channel) -> int:
    """Load the agent and serve; returns the exit code."""
    await channel.connect()
    try:
        agent = load_agent(reference, agent_name=agent_name)
        info = await _open_agent(agent)
    except BaseException as error:  # noqa: BLE001 - the process that started this reports it to the user
        is_memory = isinstance(error, MemoryError) or isinstance(error.__cause__, MemoryError)
        channel.send({"type": "error", "message": _reason(error, reference), "memory": is_memory})
        return 2
    begins = getattr(agent, "begin", None) is not None
    channel.send(
        {"type": "ready", "begins": begins, "info": None if info is None else json_value(asdict(info))}
    )
    await AgentWorker(agent, channel).serve()
    return 0


async def _open_agent(agent: Agent) -> AgentInfo | None:
    if (opener := getattr(agent, "open", None)) is not None:
        await settle(opener())
    describe = getattr(agent, "describe", None)
    return None if describe is None else await settle(describe())


def _reason(error: BaseException, reference: str) -> str:
    if isinstance(error, ProctorError):
        return str(error)
    return (
        f"the agent {describe_ref(reference)} could not be opened: {type(error).__name__}: {safe_str(error)}"
    )


def limit_memory(most: int) -> None:
    """Limit the memory of this process: larger allocations fail.

    Raises:
        AgentLoadError: this system has no such limit.
    """
    try:
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    except (ImportError, ValueError, OSError) as error:
        raise AgentLoadError(f"this system cannot limit the memory of a process: {error}") from error


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a worker; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m proctor.agents.process.worker")
    parser.add_argument("agent")
    parser.add_argument("--agent-name")
    parser.add_argument("--memory", type=int)
    options = parser.parse_args(arguments)
    channel = Channel()
    set_import_path(json.loads(os.environ.get(PATH_VARIABLE, "null")) or [str(Path.cwd()), *sys.path[1:]])
    if options.memory is not None:
        try:
            limit_memory(options.memory)
        except AgentLoadError as error:
            channel.send({"type": "error", "message": str(error)})
            return 2
    return asyncio.run(work(options.agent, options.agent_name, channel))


# --- State that a trial leaves in its process, reset before the next one: folder, environment, signals, locale, mask --------


MOST_LEFT = 50
"""Threads or tasks that a trial may leave (clients keep some) before its process is not reused."""


@dataclass(frozen=True, slots=True)
class ProcessState:
    """The state of a process that code may change for all that comes after it."""

    folder: str
    environment: dict[str, str]
    mask: int
    locale: str
    signals: Mapping[signal.Signals, signal._HANDLER]
    threads: int
    tasks: int

    @classmethod
    def now(cls) -> ProcessState:
        """Look around."""
        mask = os.umask(0o077)
        os.umask(mask)
        signals = {number: signal.getsignal(number) for number in signal.valid_signals()}
        return cls(
            folder=os.getcwd(),  # noqa: PTH109 - text, as chdir takes it
            environment=dict(os.environ),
            mask=mask,
            locale=locale.setlocale(locale.LC_ALL),
            signals=signals,
            threads=threading.active_count(),
            tasks=len(asyncio.all_tasks()),
        )

    def restore(self) -> bool:
        """Reset what can be reset; return whether that was everything."""
        with suppress(FileNotFoundError):
            if os.getcwd() == self.folder and os.environ == self.environment:  # noqa: PTH109 - as above
                return self._restore_the_rest()
        try:
            os.chdir(self.folder)
        except OSError:
            return False
        os.environ.clear()
        os.environ.update(self.environment)
        return self._restore_the_rest()

    def _restore_the_rest(self) -> bool:
        os.umask(self.mask)
        if locale.setlocale(locale.LC_ALL) != self.locale:
            locale.setlocale(locale.LC_ALL, self.locale)
        for number, handler in self.signals.items():
            if handler is not None and signal.getsignal(number) is not handler:
                with suppress(OSError, ValueError, TypeError):
                    signal.signal(number, handler)
        left = (threading.active_count() - self.threads, len(asyncio.all_tasks()) - self.tasks)
        return max(left) <= MOST_LEFT


if __name__ == "__main__":
    with suppress(KeyboardInterrupt, BrokenPipeError):
        code = main()
        sys.stdout.flush()
        os._exit(code)  # remaining threads of the agent must not delay the end
