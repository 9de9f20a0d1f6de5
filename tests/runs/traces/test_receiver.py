"""The OTLP/HTTP endpoint: exported data is complete in the file; invalid or excessive data is refused."""

from __future__ import annotations

import gzip
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.files.traces.conversations import read_conversations
from proctor.runs.traces.receiver import MOST_BODY, TraceReceiver
from proctor.runs.traces.receiver_http import OtlpHandler
from tests.runs.traces.otlp import agent, brief, chat, request

JSON = {"Content-Type": "application/json"}
TRACE = json.dumps(request(agent("root", chat("hi", "Hello.")))).encode()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "traces.jsonl"


@pytest.fixture
def receiver(file: Path) -> Iterator[TraceReceiver]:
    with TraceReceiver(file, "127.0.0.1:0") as made:
        yield made


def post(
    receiver: TraceReceiver, body: bytes, headers: Mapping[str, str] = JSON, path: str = "/v1/traces"
) -> tuple[int, str]:
    """Send one request to a receiver; returns the status and the text of the answer."""
    return send(int(receiver.url.rpartition(":")[2]), body, headers, path)


def send(
    port: int, body: bytes, headers: Mapping[str, str] = JSON, path: str = "/v1/traces"
) -> tuple[int, str]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.request("POST", path, body, dict(headers))
        response = connection.getresponse()
        return response.status, response.read().decode()


def test_what_is_sent_is_in_the_file(receiver: TraceReceiver, file: Path) -> None:
    assert post(receiver, TRACE) == (200, "{}")
    packed = gzip.compress(TRACE.replace(b"hi", b"ho").replace(b'"a1"', b'"a2"'))
    assert post(receiver, packed, {**JSON, "Content-Encoding": "gzip"}) == (200, "{}")
    assert receiver.wait(count=2, seconds=5).requests == 2
    extra = read_conversations([file]).conversations
    assert [[turn.text for turn in one.turns] for one in extra] == [["hi"], ["ho"]]
    assert receiver.received.spans == 4


def test_what_comes_in_chunks_is_in_the_file(receiver: TraceReceiver, file: Path) -> None:
    address = receiver.url.removeprefix("http://")
    with socket.create_connection((address.split(":")[0], int(address.split(":")[1])), timeout=10) as plug:
        head = f"POST /v1/traces HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        plug.sendall(head.encode())
        for piece in (TRACE[:100], TRACE[100:]):
            plug.sendall(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        plug.sendall(b"0\r\n\r\n")
        assert plug.recv(100).startswith(b"HTTP/1.1 200")
    assert brief(read_conversations([file]).conversations[0].turns[0]) == [("root", "Hello.")]


def test_a_file_is_appended_to(file: Path) -> None:
    for _ in range(2):
        with TraceReceiver(file, "127.0.0.1:0") as made:
            assert post(made, TRACE)[0] == 200
    assert len(file.read_bytes().splitlines()) == 2


def test_headers_and_other_attributes_are_not_written(receiver: TraceReceiver, file: Path) -> None:
    spans = agent(
        "root",
        chat("hi", "Hello."),
        extra={"http.request.header.x-api-key": "hunter2", "db.statement": "hunter2"},
    )
    body = json.dumps(
        request(spans, resource={"process.command_line": "x --password hunter2", "service.name": "s"})
    )
    assert post(receiver, body.encode(), {**JSON, "Authorization": "Bearer hunter2"})[0] == 200
    assert b"hunter2" not in file.read_bytes()
    assert b"service.name" in file.read_bytes()


REFUSED: list[Any] = [
    pytest.param(b"{", JSON, "/v1/traces", 400, id="no JSON"),
    pytest.param(b"[]", JSON, "/v1/traces", 400, id="a list"),
    pytest.param(b'{"resourceSpans": 1}', JSON, "/v1/traces", 400, id="spans that are a number"),
    pytest.param(b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "x"}]}]}]}', JSON, "/v1/traces", 400, id="a span without ids"),
    pytest.param(b"[" * 100_000, JSON, "/v1/traces", 400, id="very deep"),
    pytest.param(TRACE, {"Content-Type": "text/plain"}, "/v1/traces", 415, id="text, as a page in a browser could send"),
    pytest.param(TRACE, {**JSON, "Content-Encoding": "br"}, "/v1/traces", 415, id="packed in another way"),
    pytest.param(TRACE, {**JSON, "Content-Encoding": "gzip"}, "/v1/traces", 400, id="not packed at all"),
    pytest.param(gzip.compress(TRACE)[:-4], {**JSON, "Content-Encoding": "gzip"}, "/v1/traces", 400, id="packed and cut off"),
    pytest.param(gzip.compress(b" " * (MOST_BODY + 1)), {**JSON, "Content-Encoding": "gzip"}, "/v1/traces", 413, id="a bomb"),
    pytest.param(TRACE, {**JSON, "Content-Length": str(MOST_BODY + 1)}, "/v1/traces", 413, id="too large by its length"),
    pytest.param(TRACE, {**JSON, "Content-Length": "9" * 40}, "/v1/traces", 413, id="a length beyond numbers"),
    pytest.param(TRACE, {**JSON, "Content-Length": "-5"}, "/v1/traces", 411, id="a length below 0"),
    pytest.param(TRACE, JSON, "/v1/metrics", 404, id="another signal"),
    pytest.param(gzip.compress(TRACE) * 2, {**JSON, "Content-Encoding": "gzip"}, "/v1/traces", 400, id="packed twice, one behind the other"),
    pytest.param(TRACE, {**JSON, "Host": "["}, "/v1/traces", 403, id="a host that is none"),
    pytest.param(TRACE, {**JSON, "Origin": "http://["}, "/v1/traces", 403, id="an origin that is none"),
    pytest.param(TRACE, {**JSON, "Host": "evil.example"}, "/v1/traces", 403, id="another host's name"),
    pytest.param(TRACE, {**JSON, "Origin": "https://evil.example"}, "/v1/traces", 403, id="a page of another origin"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "headers", "path", "status"), REFUSED)
def test_invalid_or_excessive_data_is_refused(
    body: bytes, headers: dict[str, str], path: str, status: int, receiver: TraceReceiver, file: Path
) -> None:
    assert post(receiver, body, headers, path)[0] == status
    assert file.read_bytes() == b""
    assert receiver.received.refused == len(receiver.reasons) == 1
    assert post(receiver, TRACE)[0] == 200  # and it still serves


def test_protobuf_without_its_package_gives_the_remedy(receiver: TraceReceiver) -> None:
    try:
        import opentelemetry.proto  # noqa: F401 - where it is there, test_real_agents sends protobuf
    except ImportError:
        status, message = post(receiver, b"x", {"Content-Type": "application/x-protobuf"})
        assert status == 415
        assert "proctor[traces]" in message
        assert "OTEL_EXPORTER_OTLP_PROTOCOL=http/json" in message


def test_a_client_that_takes_for_ever_is_let_go(
    receiver: TraceReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OtlpHandler, "most_seconds", 0.3)
    with socket.create_connection(("127.0.0.1", int(receiver.url.rpartition(":")[2])), timeout=10) as plug:
        head = "POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n"
        plug.sendall(head.encode() + b'{"')
        assert b"the body ended before its length" in plug.recv(500) + plug.recv(500)
    assert post(receiver, TRACE)[0] == 200


def test_a_client_whose_headers_never_end_is_let_go(
    receiver: TraceReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OtlpHandler, "most_seconds", 0.3)
    with socket.create_connection(("127.0.0.1", int(receiver.url.rpartition(":")[2])), timeout=60) as plug:
        plug.sendall(b"POST /v1/traces HTTP/1.1\r\n")
        lines = 0
        with suppress(OSError):
            for lines in range(1000):  # noqa: B007 - the last one counts; each alone is in time
                time.sleep(0.05)
                plug.sendall(b"X-More: 1\r\n")
        assert lines < 999
    assert post(receiver, TRACE)[0] == 200


def test_connections_that_only_wait_are_not_without_end(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor.runs.traces.receiver.MOST_CONNECTIONS", 8)
    with TraceReceiver(file, "127.0.0.1:0") as receiver:
        _wait_in_numbers(receiver, 8)


def _wait_in_numbers(receiver: TraceReceiver, most: int) -> None:
    address = "127.0.0.1", int(receiver.url.rpartition(":")[2])
    before = threading.active_count()
    waiting = [socket.create_connection(address, timeout=60) for _ in range(most + 20)]
    try:
        assert all(one.recv(1) == b"" for one in waiting[-20:])  # closed at once
        assert threading.active_count() - before <= 2 * most
    finally:
        for one in waiting:
            one.close()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with suppress(OSError, http.client.HTTPException):
            if post(receiver, TRACE)[0] == 200:
                return
    raise AssertionError("it takes nothing any more")


def test_many_parallel_requests_are_accepted_or_asked_to_retry(receiver: TraceReceiver, file: Path) -> None:
    answers: list[int] = []
    threads = [threading.Thread(target=lambda: answers.append(post(receiver, TRACE)[0])) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(answers) <= {200, 503}
    assert len(file.read_bytes().splitlines()) == answers.count(200) == receiver.received.requests


def test_elsewhere_a_token_is_needed(file: Path) -> None:
    with pytest.raises(proctor.SetupError, match="PROCTOR_TRACE_TOKEN"):
        TraceReceiver(file, "0.0.0.0:0")
    with TraceReceiver(file, "127.0.0.1:0", token="t-1") as made:
        assert post(made, TRACE)[0] == 401
        assert post(made, TRACE, {**JSON, "Authorization": "Bearer t-1"})[0] == 200


@pytest.mark.parametrize("listen", ["nowhere", "127.0.0.1:http", "127.0.0.1:99999", "http://127.0.0.1:4318"])
def test_an_address_that_is_none_is_refused(listen: str, file: Path) -> None:
    with pytest.raises(proctor.SetupError, match="HOST:PORT"):
        TraceReceiver(file, listen)


def test_an_address_that_is_taken_is_refused(receiver: TraceReceiver, file: Path) -> None:
    with pytest.raises(proctor.SetupError, match="another receiver"):
        TraceReceiver(file, receiver.url.removeprefix("http://"))


def test_a_file_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(proctor.SetupError, match="is a folder"):
        TraceReceiver(tmp_path, "127.0.0.1:0")


def test_it_ends_by_time(file: Path) -> None:
    assert proctor.receive_traces(file, listen="127.0.0.1:0", seconds=0.05).requests == 0


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_the_command_in_order(number: signal.Signals, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "proctor", "trace", "receive", "t.jsonl", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        output = process.stderr.readline()
        port = int(output.partition(";")[0].rpartition(":")[2])
        assert send(port, TRACE) == (200, "{}")
        assert send(port, b"[]")[0] == 400
        os.kill(process.pid, number)
        out, rest = process.communicate(timeout=20)
    assert (process.returncode, out) == (0, "t.jsonl: 2 span(s) in 1 request(s); 1 refused\n")
    assert rest == "refused: expected an object with `resourceSpans` (or `resourceLogs`)\n"


@pytest.mark.slow
def test_the_command_ends_after_so_many_requests(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "proctor",
        "trace",
        "receive",
        "t.jsonl",
        "--listen",
        "127.0.0.1:0",
        "--count",
        "1",
    ]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        port = int(process.stderr.readline().partition(";")[0].rpartition(":")[2])
        assert send(port, TRACE) == (200, "{}")
        assert process.wait(60) == 0
