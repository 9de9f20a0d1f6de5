"""`proctor web` as people start and end it, and what its connections bear."""

import contextlib
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, WebSocket
from websockets.sync.client import connect

from proctor.web.server import launch
from proctor.web.server.app import create_app
from proctor.web.server.context import ServerContext, read_token
from proctor.web.server.launch import login_file
from tests.cli.project import in_this_process

TOKEN = "a-token-of-some-length"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "proctor.toml").write_text("")
    monkeypatch.chdir(tmp_path)


# --- it does not start -----------------------------------------------------------------------------------------------

OPEN_TO_OTHERS = {
    "0.0.0.0": "0.0.0.0", "::": "::", "0": "0.0.0.0", "0x0": "0.0.0.0", "::ffff:0.0.0.0": "::ffff:0.0.0.0",
    "::ffff:127.0.0.1": "::ffff:127.0.0.1", "192.0.2.1": "192.0.2.1", "2001:db8::1": "2001:db8::1", "fe80::1%lo": "fe80::1%lo",
    "box.example": "192.0.2.7",
}  # fmt: skip


@pytest.fixture
def _names(monkeypatch: pytest.MonkeyPatch) -> None:
    """What hosts mean, as this system reads them (tests may not ask it about hosts elsewhere)."""
    real = socket.getaddrinfo

    def answered(host: Any, port: Any, *rest: Any, **more: Any) -> Any:
        if host == "no such host":
            raise socket.gaierror(socket.EAI_NONAME, "not known")
        if host not in OPEN_TO_OTHERS:
            return real(host, port, *rest, **more)
        ip = OPEN_TO_OTHERS[host]
        if ":" in ip:
            return [(socket.AF_INET6, socket.SOCK_STREAM, 6, "", (ip, port, 0, 1))]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port))]

    monkeypatch.setattr(socket, "getaddrinfo", answered)


@pytest.mark.usefixtures("_names")
@pytest.mark.parametrize("host", OPEN_TO_OTHERS)
def test_it_does_not_listen_for_others_without_a_token(host: str) -> None:
    done = in_this_process("web", "--port", "0", "--host", host)
    assert done.returncode == 2
    assert f"--host {host}: other machines could reach the server there" in done.stderr


def test_a_port_that_is_taken_is_reported() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = in_this_process("web", "--port", str(port))
    assert done.returncode == 2
    assert f"port {port} of 127.0.0.1 is taken" in done.stderr
    assert "Traceback" not in done.stderr


MISTAKES: dict[str, tuple[list[str], str]] = {
    "a short token": (["--token", "secret"], "--token: a token of 6 characters can be guessed"),
    "a token with a space": (["--token", "a b c d e f g h i j k"], "no spaces"),
    "a token beyond ASCII": (["--token", "ä" * 20], "ASCII"),
    "two tokens": (["--token", TOKEN, "--token-file", "x"], "give one of them"),
    "a file that is not there": (["--token-file", "nothing"], "--token-file nothing: cannot be read"),
    "an empty file": (["--token-file", "proctor.toml"], "a token of 0 characters"),
    "no such folder": (["nowhere"], "'nowhere'"),
    "no such port": (["--port", "70000"], "70000"),
    "a host that is none": (["--host", "no such host"], "--host no such host: not an address"),
    "an address of another machine": (
        ["--host", "192.0.2.1", "--token", TOKEN],
        "192.0.2.1 is not an address of this machine",
    ),
    "a name that is none": (["--allow-host", "a/b"], "--allow-host a/b: expected the name"),
    "a target that is none": (["--allow-target", "http://x"], "--allow-target http://x: expected the name"),
    "a port of a name that is none": (["--allow-host", "a:99999"], "--allow-host a:99999: expected"),
}


@pytest.mark.usefixtures("_names")
@pytest.mark.parametrize(("arguments", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_message(arguments: list[str], message: str) -> None:
    done = in_this_process("web", "--port", "0", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert TOKEN not in done.stderr


def test_no_process_of_the_servers_has_the_token_in_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_WEB_TOKEN", TOKEN)
    assert read_token(None, None) == TOKEN
    assert "PROCTOR_WEB_TOKEN" not in os.environ


def test_the_environment_gives_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_WEB_TOKEN", "short")
    done = in_this_process("web", "--port", "0")
    assert (done.returncode, "PROCTOR_WEB_TOKEN: a token of 5" in done.stderr) == (2, True)


@pytest.mark.parametrize("module", ["fastapi", "uvicorn"])
def test_a_missing_package_is_reported_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    done = in_this_process("web")
    assert (done.returncode, "pip install 'proctor[web]'" in done.stderr) == (2, True)


# --- it starts, and ends ---------------------------------------------------------------------------------------------


@contextlib.contextmanager
def started(folder: Path, *arguments: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`proctor web` on a free port, and its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "proctor", "web", "--port", "0", *arguments],
        cwd=folder, env={**os.environ, **environment}, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found, (line, process.poll())
        yield process, found[0]
    finally:
        process.kill()
        process.communicate()


def fetched(url: str, **headers: str) -> tuple[int, bytes]:
    request = urllib.request.Request(url, headers=headers)
    for _ in range(1000):
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()
        except urllib.error.URLError:
            time.sleep(0.05)
    raise AssertionError(f"no answer at {url}")


@pytest.mark.nightly(check=1)
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_it_shows_where_it_is_and_ends_fast_with_clients_that_listen(
    tmp_path: Path, number: signal.Signals
) -> None:
    with started(tmp_path) as (process, url):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", url)
        assert fetched(f"{url}api/about")[0] == 200
        port = int(url.rpartition(":")[2].strip("/"))
        clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
        clients[0].sendall(f"GET /api/about HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        clients[1].sendall(b"GET /api/abo")  # never ends
        began = time.monotonic()
        process.send_signal(number)
        output = process.communicate(timeout=60)[1]
        assert time.monotonic() - began < launch.HEADERS_WITHIN
        assert process.returncode == 0
        assert output == "" or "make ui" in output  # in a checkout without a built page
        assert "Traceback" not in output
        for client in clients:
            client.close()


@pytest.mark.slow
def test_a_redirected_log_has_no_token_and_names_a_file_that_only_the_user_can_read(tmp_path: Path) -> None:
    with started(tmp_path, PROCTOR_WEB_TOKEN=TOKEN) as (process, url):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", url)
        assert process.stdout is not None
        line = process.stdout.readline()
        file = tmp_path / ".proctor" / f"web-{url.rpartition(':')[2].strip('/')}.url"
        assert str(file) in line
        assert file.read_text() == f"{url}login#token={TOKEN}\n"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert fetched(f"{url}api/about")[0] == 401
        assert fetched(f"{url}api/about", Authorization=f"Bearer {TOKEN}")[0] == 200
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
    assert TOKEN not in line + out + err
    assert not file.exists()


@pytest.mark.parametrize("place", ["a link", "a file that others can read", "a folder that is a file"])
def test_the_file_with_the_token_is_always_a_new_one(tmp_path: Path, place: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("kept")
    file = tmp_path / ".proctor" / "web-8000.url"
    if place == "a folder that is a file":
        file.parent.write_text("")
    else:
        file.parent.mkdir()
        file.symlink_to(elsewhere) if place == "a link" else file.write_text("old")
    with login_file(tmp_path, 8000, "http://127.0.0.1:8000/login#token=x") as path:
        assert (path is None) == (place == "a folder that is a file")
        if path is not None:
            assert (path.is_symlink(), stat.S_IMODE(path.stat().st_mode)) == (False, 0o600)
    assert elsewhere.read_text() == "kept"
    assert not file.exists()


@pytest.mark.nightly
@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_a_terminal_is_shown_the_address_with_the_token(tmp_path: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "proctor", "web", "--port", "0"],
        cwd=tmp_path, env={**os.environ, "PROCTOR_WEB_TOKEN": TOKEN}, stdout=theirs, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        os.close(theirs)
        shown = b""
        while b"Ctrl-C" not in shown:
            shown += os.read(ours, 4096)
        assert f"login#token={TOKEN}" in shown.decode()
        assert not list(tmp_path.glob(".proctor/*.url"))
    finally:
        process.kill()
        process.wait()
        os.close(ours)


@pytest.mark.slow
def test_without_a_built_page_it_shows_how_to_build_it_and_the_api_works(tmp_path: Path) -> None:
    with started(tmp_path, PROCTOR_PAGE_DIR=str(tmp_path / "nothing")) as (process, url):
        assert fetched(f"{url}api/runs")[0] == 200
        status, page = fetched(url, Accept="text/html")
        assert (status, b"make ui" in page) == (404, True)
        process.send_signal(signal.SIGINT)
        assert "make ui" in process.communicate(timeout=60)[1]


# --- what a connection bears -----------------------------------------------------------------------------------------

SHORT = 0.5
"""Seconds for headers."""
Send = Callable[[bytes], bytes]


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A server in its own thread, with short times."""
    folder = tmp_path_factory.mktemp("served")
    with served(create_app(ServerContext(root=folder, store_url=folder / "store.sqlite3"))) as port:
        yield port


@contextlib.contextmanager
def served(app: FastAPI) -> Iterator[int]:
    """The port at which an application is served, with short times."""
    before = launch.HEADERS_WITHIN
    launch.HEADERS_WITHIN = SHORT
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    server = launch.server_of(app)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield listening.getsockname()[1]
    server.should_exit = True
    thread.join(20)
    launch.HEADERS_WITHIN = before


def response_to(port: int, request: bytes, *, seconds: float = 30.0) -> bytes:
    """Send, and return what comes until the other side ends, or nothing comes any more."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as client:
        parts = []
        with contextlib.suppress(OSError):
            client.sendall(request)
        with contextlib.suppress(OSError):
            while part := client.recv(65_536):
                parts.append(part)
        return b"".join(parts)


def asked(port: int, *headers: str, line: str = "GET /api/about HTTP/1.1") -> bytes:
    reported = [line, f"Host: 127.0.0.1:{port}", "Connection: close", *headers]
    return ("\r\n".join(reported) + "\r\n\r\n").encode("latin-1")


def test_a_request_is_answered(port: int) -> None:
    assert response_to(port, asked(port)).startswith(b"HTTP/1.1 200 ")


RAW: dict[str, tuple[Callable[[int], bytes], bytes]] = {
    "ten thousand headers": (lambda port: asked(port, *[f"X-{n}: y" for n in range(10_000)]), b"HTTP/1.1 4"),
    "one very long header": (lambda port: asked(port, "X: " + "y" * 200_000), b"HTTP/1.1 4"),
    "a very long address": (lambda port: asked(port, line=f"GET /{'a' * 200_000} HTTP/1.1"), b"HTTP/1.1 4"),
    "no Host": (lambda port: b"GET /api/about HTTP/1.1\r\n\r\n", b"HTTP/1.1 4"),
    "no Host, as of old": (lambda port: b"GET /api/about HTTP/1.0\r\n\r\n", b"HTTP/1.1 4"),
    "two Hosts": (lambda port: asked(port, "Host: evil.example"), b"HTTP/1.1 4"),
    "no HTTP": (lambda port: b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20, b"HTTP/1.1 4"),
    "two lengths": (lambda port: asked(port, "Content-Length: 1", "Content-Length: 2"), b"HTTP/1.1 4"),
    "a length below nothing": (lambda port: asked(port, "Content-Length: -1"), b"HTTP/1.1 4"),
    "a length and pieces": (
        lambda port: asked(port, "Content-Length: 1", "Transfer-Encoding: chunked", line="POST /api/runs HTTP/1.1"),
        b"HTTP/1.1 4",
    ),
    "a body that is too long, by its length": (
        lambda port: asked(port, "Content-Type: application/json", "Content-Length: 99999999999", line="POST /api/runs HTTP/1.1"),
        b"HTTP/1.1 413",
    ),
    "a packed bomb": (
        lambda port: asked(
            port, "Content-Type: application/json", "Content-Encoding: gzip", "Content-Length: 10", line="POST /api/runs HTTP/1.1"
        ) + b"\x1f\x8b\x08\x00" + b"\0" * 6,
        b"HTTP/1.1 415",
    ),
    "a name of another site": (lambda port: b"GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", b"HTTP/1.1 421"),
}  # fmt: skip


@pytest.mark.parametrize(("request_", "begins"), RAW.values(), ids=RAW)
def test_an_invalid_request_is_refused_on_the_wire(
    port: int, request_: Callable[[int], bytes], begins: bytes
) -> None:
    assert response_to(port, request_(port))[: len(begins)] == begins
    assert response_to(port, asked(port)).startswith(b"HTTP/1.1 200 ")


@pytest.mark.slow  # waits
def test_a_web_socket_may_be_silent_for_longer_than_headers_may_take() -> None:
    app = FastAPI()

    @app.websocket("/echo")
    async def echo(waiting: WebSocket) -> None:
        await waiting.accept()
        await waiting.send_text(await waiting.receive_text())

    with served(app) as port, connect(f"ws://127.0.0.1:{port}/echo") as client:
        time.sleep(3 * SHORT)
        client.send("still here")
        assert client.recv(30) == "still here"


SLOW: dict[str, Callable[[int], bytes]] = {
    "sends nothing": lambda port: b"",
    "stops in its first line": lambda port: b"GET /api/ab",
    "stops in its headers": lambda port: asked(port)[:-2],
    "stops in its second request": lambda port: (
        f"GET /api/about HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\nGET /api/ab".encode()
    ),
}


@pytest.mark.parametrize("request_", SLOW.values(), ids=SLOW)
def test_a_client_that_does_not_go_on_is_let_go(port: int, request_: Callable[[int], bytes]) -> None:
    began = time.monotonic()
    response_to(port, request_(port))
    assert time.monotonic() - began < launch.HEADERS_WITHIN + 20
