"""A client that leaves in the middle of an answer stops the agent, over real connections."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import uvicorn

from proctor.web.server.app import create_app
from proctor.web.server.context import ServerContext

pytestmark = pytest.mark.slow
AGENT = """
import asyncio
from pathlib import Path
from proctor import Event

COUNT = Path(__file__).with_name("count.txt")


class Counts:
    async def answer(self, message, session):
        for number in range(200):
            COUNT.write_text(str(number))
            yield Event.said(str(number))
            await asyncio.sleep(0.05)


root_agent = Counts()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "agents" / "counts"
    folder.mkdir(parents=True)
    (folder / "agent.py").write_text(AGENT)
    return folder


@pytest.fixture
def address(tmp_path: Path, folder: Path) -> Iterator[str]:
    """A server on its own port, with a session."""
    context = ServerContext(root=tmp_path, store_url=tmp_path / "s.sqlite3", agents=folder.parent)
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(create_app(context), log_level="critical", ws="none"))
    running = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listening])), daemon=True)
    running.start()
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    httpx.post(f"{url}/apps/counts/users/u/sessions/s", timeout=20).raise_for_status()
    yield url
    server.should_exit = True
    running.join(10)


def _stops(folder: Path) -> bool:
    """Whether the agent ends long before it is done."""
    before = None
    for _ in range(20):
        time.sleep(0.25)
        now = (folder / "count.txt").read_text()
        if now and now == before:
            return int(now) < 150
        before = now
    return False


BODY = {"appName": "counts", "userId": "u", "sessionId": "s", "newMessage": {"parts": [{"text": "go"}]}}


def test_who_leaves_a_stream_stops_the_agent(address: str, folder: Path) -> None:
    with httpx.stream("POST", f"{address}/run_sse", json=BODY, timeout=20) as answer:
        assert '"0"' in next(answer.iter_lines())
    assert _stops(folder)


def test_who_leaves_a_request_stops_the_agent(address: str, folder: Path) -> None:
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{address}/run", json=BODY, timeout=httpx.Timeout(20, read=1.5))
    assert _stops(folder)
