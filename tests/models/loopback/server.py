"""The server: HTTP/1.1 over asyncio in a separate thread, so that it also serves other processes."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from http import HTTPStatus
from typing import Any

from tests.models.loopback.answers import Answer, Breaks, Completion, ModelRequest, Status
from tests.models.loopback.protocols import protocol_of, read_request, write_answer, write_error

Script = Answer | Sequence[Answer] | Callable[[ModelRequest], Answer]

_FOREVER = 3600.0
_TOKEN = b'{"access_token": "token-of-the-project", "expires_in": 3600, "token_type": "Bearer"}'

_PHRASES = {one.value: one.phrase for one in HTTPStatus}


class ModelServer:
    """A running server; made by `serve_models`."""

    def __init__(self, script: Script) -> None:
        """Take what it answers."""
        self.script = script
        """May be changed while it runs."""
        self.requests: list[ModelRequest] = []
        """In the order of arrival, for any answer."""
        self.most_at_once = 0
        """How many requests were under way at one time, at most."""
        self.strangers: list[str] = []
        """Paths that no protocol knows: a client spoke to the wrong address."""
        self.tokens = 0
        """How often Google Cloud's credentials were exchanged for a token (at `/token`)."""
        self.connections = 0
        self.port = 0
        self._under_way = 0
        self._counting = threading.Lock()

    @property
    def count(self) -> int:
        """How many requests have arrived."""
        return len(self.requests)

    @property
    def openai_url(self) -> str:
        """What OPENAI_BASE_URL would be."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def url(self) -> str:
        """What the base URL of Gemini or Anthropic would be."""
        return f"http://127.0.0.1:{self.port}"

    def name(self, model: str) -> str:
        """Return a model's name as users write it for a provider at another address."""
        if model.startswith("openai") or ":" not in model:
            prefixed = model if ":" in model else f"openai:{model}"
            return f"{prefixed}@{self.openai_url}"
        return f"{model}@{self.url}"

    def environment(self) -> dict[str, str]:
        """Return variables that bring every provider here, with keys that open nothing."""
        return {
            "OPENAI_BASE_URL": self.openai_url,
            "OPENAI_API_KEY": "test-key-of-openai",
            "GOOGLE_GEMINI_BASE_URL": self.url,
            "GOOGLE_API_KEY": "test-key-of-google",
            "AWS_REGION": "us-east-1",
            "AWS_BEARER_TOKEN_BEDROCK": "test-key-of-bedrock",
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": self.url,
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": "test-key-of-anthropic",
            "OLLAMA_BASE_URL": self.url,
        }

    # --- one connection ------------------------------------------------------------------------------------------------

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer what comes on one connection, one request after the other."""
        self.connections += 1
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while await self._one(reader, writer):
                pass
        with suppress(Exception):  # it may have been reset: that is the point
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        first = await reader.readexactly(1)
        if first == b"\x16":  # a client that speaks TLS to a server that does not
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            await writer.drain()
            return False
        head = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        _, path, _ = head[0].split(" ")
        headers = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in head[1:] if line)
        }
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        if path == "/token":
            self.tokens += 1
            await _send(writer, 200, {}, _TOKEN)
            return True
        if protocol_of(path) is None:
            self.strangers.append(path)
            await _send(writer, 404, {}, b'{"error": {"message": "no such path", "code": 404}}')
            return True
        with self._counting:
            self._under_way += 1
            self.most_at_once = max(self.most_at_once, self._under_way)
            asked = read_request(len(self.requests), path, headers, json.loads(body), time.monotonic())
            self.requests.append(asked)
        try:
            return await self._answer(asked, writer)
        finally:
            with self._counting:
                self._under_way -= 1

    async def _answer(self, asked: ModelRequest, writer: asyncio.StreamWriter) -> bool:
        answer = self._next(asked)
        if answer.delay:
            await asyncio.sleep(answer.delay)
        if isinstance(answer, Breaks):
            return await _break(answer, asked, writer)
        if isinstance(answer, Status):
            body = answer.body
            if body is None:
                body = json.dumps(write_error(asked.protocol, answer)).encode()
            await _send(writer, answer.code, answer.headers, body)
        else:
            await _send(writer, 200, answer.headers, json.dumps(write_answer(asked, answer)).encode())
        return True

    def _next(self, asked: ModelRequest) -> Answer:
        if callable(self.script):
            return self.script(asked)
        if isinstance(self.script, Sequence):
            if asked.number < len(self.script):
                return self.script[asked.number]
            return Status(code=418, message=f"the script has {len(self.script)} answers, and no more")
        return self.script


async def _send(writer: asyncio.StreamWriter, code: int, headers: Mapping[str, str], body: bytes) -> None:
    writer.write(_head(code, headers, len(body)) + body)
    await writer.drain()


def _head(code: int, headers: Mapping[str, str], length: int) -> bytes:
    phrase = _PHRASES.get(code, "Scripted")
    fields = {"Content-Type": "application/json", "Content-Length": str(length), **headers}
    lines = [f"HTTP/1.1 {code} {phrase}", *(f"{name}: {value}" for name, value in fields.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


_BODIES: dict[str, tuple[bytes, str]] = {
    "html": (b"<html><body>Sign in to this network</body></html>", "text/html"),
    "garbage": (b"\x00\xff\xfe garbage \x80", "application/json"),
    "other_json": (b'{"hello": ["world"]}', "application/json"),
    "nothing": (b"", "application/json"),
}


async def _break(breaks: Breaks, asked: ModelRequest, writer: asyncio.StreamWriter) -> bool:
    body = json.dumps(
        write_answer(asked, Completion(text="an answer that is longer than the part that is sent"))
    ).encode()
    match breaks.how:
        case "reset":
            _reset(writer)
            return False
        case "closed":
            return False
        case "truncated":
            writer.write(_head(200, {}, len(body)) + body[: len(body) // 2])
            await writer.drain()
            return False
        case "half_json":
            await _send(writer, 200, {}, body[: len(body) // 2])
        case "hangs":
            await asyncio.sleep(_FOREVER)
        case "trickles":
            writer.write(_head(200, {}, len(body)))
            for byte in body:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(1)
        case how:
            content, kind = _BODIES[how]
            await _send(writer, 200, {"Content-Type": kind}, content)
    return True


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close with RST instead of FIN."""
    sock: Any = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


@contextmanager
def serve_models(script: Script) -> Iterator[ModelServer]:
    """Run a server that answers by `script` until the block ends."""
    server = ModelServer(script)
    ready = threading.Event()
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=_run, args=(server, loop, ready), daemon=True, name="loopback-models")
    thread.start()
    assert ready.wait(60)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(60)


def _run(server: ModelServer, loop: asyncio.AbstractEventLoop, ready: threading.Event) -> None:
    asyncio.set_event_loop(loop)
    listening = loop.run_until_complete(asyncio.start_server(server.serve, "127.0.0.1", 0, backlog=1024))
    server.port = listening.sockets[0].getsockname()[1]
    loop.call_soon(ready.set)
    loop.run_forever()
    listening.close()
    for task in (tasks := asyncio.all_tasks(loop)):
        task.cancel()
    loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
