"""Agents that run in workers and in this process alike, so that the evidence of both is compared."""

import asyncio
import os
import signal
import subprocess
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from proctor import Content, Event, Session
from proctor.agents.base import AgentInfo


def plain(text: str) -> str:
    """Repeat the message."""
    print("this goes to standard error in a worker")
    return f"You said: {text}"


async def waits(text: str) -> dict[str, Any]:
    await asyncio.sleep(0.001)
    calls = [
        {"name": "f", "args": {"a": [1, 2.5, None, "ä"]}, "id": "1", "response": {"b": 2}},
        {"name": "g"},
    ]
    return {"text": text, "tool_calls": calls, "author": "units", "usage_metadata": {"total_token_count": 3}}


def yields(text: str, state: dict[str, Any]) -> Iterator[Any]:
    state["direct"] = state.get("direct", 0) + 1
    yield Event.changed({"told": [text], "nested": {"a": {"b": None}}})
    yield Event.said("par", partial=True)
    yield Content.model_validate(
        {"role": "model", "parts": [{"inline_data": {"data": "AAEC", "mime_type": "x/y"}}]}
    )
    yield {
        "author": "a",
        "content": {"parts": [{"text": "hm", "thought": True, "thought_signature": "AA=="}]},
        "new_field": [1],
    }
    yield f"told {state['told']}"


def odd(text: str) -> Iterator[Any]:
    yield Event.called(
        "f", {"nan": float("nan"), "set": {1}, "tuple": (1, 2), "none": None, "half": "\ud800", "nul": "\0"}
    )
    yield Event.model_validate({"content": None, "error_code": "SAFETY", "error_message": "no"})


def raises(text: str) -> str:
    errors: dict[str, BaseException] = {
        "value": ValueError("no such thing"),
        "exit": SystemExit(3),
        "interrupt": KeyboardInterrupt(),
        "cancelled": asyncio.CancelledError(),
        "group": ExceptionGroup("several", [ValueError("a"), KeyError("b")]),
        "hostile": _HostileError(),
        "rate": RateLimitError("slow down"),
        "refused": ConnectionRefusedError(111, "refused"),
    }
    raise errors[text]


async def raises_in_a_task(text: str) -> str:
    async def inner() -> None:
        await asyncio.sleep(0)
        raises(text)

    await asyncio.create_task(inner())
    return ""


async def raises_late(text: str) -> AsyncIterator[str]:
    yield "so far so good"
    raises(text)


class RateLimitError(Exception):
    pass


class _HostileError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def garbage(text: str) -> Any:
    circle: list[Any] = []
    circle.append(circle)
    return {
        "none": None,
        "bytes": b"x",
        "object": object(),
        "unknown": {"txt": 1},
        "circle": {"tool_calls": [{"name": "f", "args": {"c": circle}}]},
        "number": {"tool_calls": [{"name": "f", "args": {"n": 10**5000}}]},
        "list": ["a", 7],
    }[text]


class NotJson:
    """A custom agent whose events contain a value outside JSON."""

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        yield Event.called("f", {"o": object(), "b": b"x"})


not_json = NotJson()


class Whole:
    """Every optional method, and what each was asked."""

    def __init__(self) -> None:
        self.is_open = False

    async def open(self) -> None:
        self.is_open = True

    def describe(self) -> AgentInfo:
        details = {
            "agent_details": {"root": {"name": "root", "instructions": "Be kind.", "tool_declarations": []}}
        }
        return AgentInfo("whole", "does it all", "1.2", details, has_more_tools=True)

    def begin(self, session: Session, case: Any) -> None:
        session.memory["expected"] = case.conversation[0].final_response.parts[0].text

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        session.memory["durations"] = {"model": 0.5, "tool": 0.25}
        session.memory["app_details"] = {"agent_details": {}}
        session.memory["turns"] = session.memory.get("turns", 0) + 1
        yield Event.said(f"{session.memory['expected']} {session.user_id} {session.app_name} {session.state}")

    async def end(self, session: Session) -> None:
        if session.state.get("fail") == "end":
            raise ValueError("no end")

    async def close(self) -> None:
        if os.environ.get("FAIL_AT_CLOSE"):
            raise ValueError("no close")
        if file := os.environ.get("NOTE_OF_CLOSE"):
            await asyncio.sleep(1.2)
            Path(file).touch()  # noqa: ASYNC240 - as agents do

    def final_state(self, session: Session) -> Any:
        if session.state.get("fail") == "state":
            raise ValueError("no state")
        return (
            [1]
            if session.state.get("fail") == "list"
            else {"turns": session.memory["turns"], "is_open": self.is_open}
        )


whole = Whole()


async def get_agent_async() -> Any:
    return plain


class Blocks:
    """Harm the process as the user requests."""

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        text = message.joined_text()
        if harm := HARM.get(text.partition(" ")[0]):
            await harm()
        yield Event.said(f"{text} {session.state.get('id', '')}")


async def _never() -> None:
    await asyncio.Event().wait()


async def _sleep() -> None:
    time.sleep(60)  # noqa: ASYNC251 - this is the fault


async def _swallow() -> None:
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            continue


async def _c_loop() -> None:
    sum(iter(int, 1))


async def _exit() -> None:
    os._exit(7)


async def _segfault() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


async def _memory() -> None:
    kept = []
    while True:
        kept.append(bytearray(2**24))


async def _streams() -> None:
    print("{not json")
    os.write(1, b'{"type": "done"}\n')
    os.close(1)
    os.close(0)


async def _close_all() -> None:
    os.closerange(0, 256)


async def _surroundings() -> None:
    os.chdir("/")
    os.environ["HOME"] = "/nowhere"
    os.umask(0o777)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR2):
        signal.signal(number, signal.SIG_IGN)


async def _look() -> None:
    assert Path.cwd() != Path("/")
    assert os.environ.get("HOME") != "/nowhere"
    assert os.umask(0o022) != 0o777
    assert signal.getsignal(signal.SIGTERM) is not signal.SIG_IGN


async def _threads() -> None:
    gate = threading.Event()
    for _ in range(1000):
        threading.Thread(target=gate.wait, daemon=True).start()


async def _tasks() -> None:
    KEPT.extend(asyncio.create_task(asyncio.sleep(3600)) for _ in range(1000))


async def _fork() -> None:
    started = subprocess.Popen(["sleep", "3600"])  # noqa: ASYNC220 - as agents do
    Path(os.environ["PIDS_OF_TEST"], str(started.pid)).touch()  # noqa: ASYNC240 - as agents do
    os._exit(1)


async def _stop_loop() -> None:
    asyncio.get_running_loop().stop()
    await asyncio.sleep(0)


async def _large() -> None:
    raise ValueError("x" * 10_000_000)


KEPT: list[Any] = []
HARM: dict[str, Any] = {
    "never": _never,
    "sleep": _sleep,
    "swallow": _swallow,
    "c-loop": _c_loop,
    "exit": _exit,
    "segfault": _segfault,
    "memory": _memory,
    "streams": _streams,
    "close-all": _close_all,
    "surroundings": _surroundings,
    "look": _look,
    "threads": _threads,
    "tasks": _tasks,
    "fork": _fork,
    "stop-loop": _stop_loop,
    "large": _large,
}
blocks = Blocks()
