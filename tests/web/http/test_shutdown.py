"""The end of a server: with runs under way, and with agents that do not want to end."""

import http.client
import json
import signal
import socket
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.web.http.test_serve import started
from tests.web.live_project import ASKED, make_project

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not Path("/proc/self/stat").exists(), reason="this system has no such list of processes"
    ),
]

STUBBORN = """
import asyncio


async def root_agent(text):
    while True:
        try:
            await asyncio.sleep(5)
        except BaseException:
            pass
"""


def _asked(port: int, path: str, body: Any) -> Any:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        assert answer.status in {200, 201}, answer.read()
        return json.loads(answer.read())


def _lives(pid: int) -> bool:
    """Whether a process is there; one that is dead and not buried, because no one is left who asks for it, is not."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


def _listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5):
        return True
    return False


@pytest.mark.nightly
def test_ctrl_c_twice_ends_the_runs_of_a_server_at_once(tmp_path: Path) -> None:
    folder = make_project(tmp_path, 3)  # its agent answers nothing
    with started(folder) as (process, url):
        run = _asked(_port(url), "/api/runs", ASKED)["run_id"]
        pid = json.loads((folder / ".proctor" / "page" / f"{run}.json").read_text())["pid"]
        with closing(socket.create_connection(("127.0.0.1", _port(url)))) as watching:
            watching.sendall(
                f"GET /api/runs/{run}/events HTTP/1.1\r\nHost: 127.0.0.1:{_port(url)}\r\n\r\n".encode()
            )
            assert watching.recv(1)
            process.send_signal(signal.SIGINT)
            while _listens(_port(url)):  # of two signals that are pending a process sees one
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            output = process.communicate(timeout=60)[1]
    assert "Traceback" not in output
    until = time.monotonic() + 8  # after one Ctrl-C it has ten seconds to finish what is under way
    while _lives(pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert not _lives(pid)


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("path", ["/run", "/run_sse"])
def test_an_agent_that_does_not_notice_that_it_is_to_end_keeps_no_server(tmp_path: Path, path: str) -> None:
    folder = tmp_path / "agents" / "stubborn"
    folder.mkdir(parents=True)
    (folder / "agent.py").write_text(STUBBORN)
    with started(tmp_path, "agents") as (process, url):
        _asked(_port(url), "/apps/stubborn/users/u/sessions/s", {})
        body = json.dumps(
            {
                "appName": "stubborn",
                "userId": "u",
                "sessionId": "s",
                "newMessage": {"parts": [{"text": "x"}]},
            }
        )
        with closing(socket.create_connection(("127.0.0.1", _port(url)))) as asking:
            head = (
                f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{_port(url)}\r\nContent-Type: application/json\r\n"
            )
            asking.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
            time.sleep(0.5)  # until the agent is at it
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
    assert process.returncode == 0


def _port(url: str) -> int:
    return int(url.rpartition(":")[2].strip("/"))
