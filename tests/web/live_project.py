"""A project whose agent answers when it is let, a real server for it, and a client that reads events as a browser does."""

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI

from proctor.web.server.app import create_app
from proctor.web.server.context import ServerContext

GATED = '''
"""Answers case N once the file `gate` has a number above N; every third answer is wrong."""
import asyncio
from pathlib import Path

GATE = Path(__file__).with_name("gate")

async def root_agent(text):
    number = int(text.split()[-1])
    while int(GATE.read_text() or 0) <= number:
        await asyncio.sleep(0.01)
    return "Hello!" if number % 3 else "Go away."
'''
WITHIN = 30.0
"""Seconds that anything here may take."""


def make_project(folder: Path, cases: int) -> Path:
    """A project with the gated agent and a set of so many cases; the gate is shut."""
    (folder / "gated.py").write_text(GATED, encoding="utf-8")
    (folder / "proctor.toml").write_text('agent = "gated.py:root_agent"\n', encoding="utf-8")
    listed = [_case(number) for number in range(cases)]
    (folder / "greetings.evalset.json").write_text(
        json.dumps({"eval_set_id": "greetings", "eval_cases": listed}), encoding="utf-8"
    )
    open_gate(folder, 0)
    return folder


def open_gate(folder: Path, cases: int) -> None:
    """Let the first so many cases be answered."""
    waiting = folder / "gate.new"
    waiting.write_text(str(cases), encoding="utf-8")
    waiting.replace(folder / "gate")


def _case(number: int) -> dict[str, Any]:
    turn = {
        "user_content": {"parts": [{"text": f"hello {number}"}]},
        "final_response": {"parts": [{"text": "Hello!"}]},
    }
    tags = ["even"] if number % 2 == 0 else ["odd", "rare"]
    return {"eval_id": f"case_{number}", "tags": tags, "conversation": [turn]}


ASKED: dict[str, Any] = {
    "agent": "gated.py:root_agent",
    "eval_sets": [{"path": "greetings.evalset.json"}],
    "concurrency": 2,
}


@dataclass
class Event:
    """One event, as sent."""

    id: str
    name: str
    data: Any


@dataclass
class Server:
    """A server under test."""

    folder: Path
    port: int
    events: list[Event] = field(default_factory=list)

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Return the status and the document."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=WITHIN)) as connection:
            sent = None if body is None else json.dumps(body)
            connection.request(
                method, path, sent, {"Content-Type": "application/json"} if sent is not None else {}
            )
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"null")

    def start(self, **more: Any) -> str:
        """Start the project's run; return its id."""
        status, document = self.ask("POST", "/api/runs", {**ASKED, **more})
        assert status == 201, document
        run_id: str = document["run_id"]
        return run_id

    def listen(self, run: str, *, last: str = "", query: str = "") -> Iterator[Event]:
        """Yield the events of a run until its stream ends; a client that stops early hangs up."""
        headers = {"Last-Event-ID": last} if last else {}
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=WITHIN)) as connection:
            connection.request("GET", f"/api/runs/{run}/events{query}", headers=headers)
            answer = connection.getresponse()
            assert answer.status == 200, answer.read()
            assert answer.headers["Content-Type"].startswith("text/event-stream")
            yield from _events(answer)

    def wait_for(self, run: str, *states: str) -> dict[str, Any]:
        """Return the run's page once it is in one of `states`."""
        until, status, page = time.monotonic() + WITHIN, 0, None
        while time.monotonic() < until:
            status, page = self.ask("GET", f"/api/runs/{run}")
            if status == 200 and page["state"] in states:
                found: dict[str, Any] = page
                return found
            time.sleep(0.05)
        raise AssertionError(f"run {run} is not {' or '.join(states)}: {status} {page}")


def _events(answer: http.client.HTTPResponse) -> Iterator[Event]:
    message: dict[str, str] = {}
    while line := answer.readline():
        name, colon, value = line.decode().rstrip("\n").partition(": ")
        if colon and name:
            message[name] = value
        elif not line.strip() and "event" in message:
            yield Event(message.get("id", ""), message["event"], json.loads(message["data"]))
            message = {}


@contextmanager
def serving(context: ServerContext) -> Iterator[Server]:
    """Serve a context on a free port, in a thread of this process."""
    app = create_app(context)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(1024)
        port = listening.getsockname()[1]
        config = uvicorn.Config(app, log_level="critical", lifespan="on", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        until = time.monotonic() + WITHIN
        while not server.started and time.monotonic() < until:
            time.sleep(0.01)
        try:
            yield Server(context.root, port)
        finally:
            if (context.root / "gate").exists():
                open_gate(context.root, 1_000_000)  # what is still under way may finish
            server.should_exit = True
            thread.join(WITHIN)
            _wait_for_runs(app)


def _wait_for_runs(app: FastAPI) -> None:
    live = getattr(app.state, "active_runs", None)
    until = time.monotonic() + WITHIN
    while live is not None and live.children.under_way() and time.monotonic() < until:
        time.sleep(0.05)
