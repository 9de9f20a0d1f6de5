"""A server on this machine that speaks the batch protocols of OpenAI (files and batches) and of Anthropic (message batches)."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.models.loopback.answers import Completion, ModelRequest, Status
from tests.models.loopback.protocols import read_request, write_answer, write_error

Script = Callable[[ModelRequest], "Completion | Status | str"]
"""The result of each request: an answer, an error, or `expired`; `missing`: the results leave it out."""


@dataclass(slots=True)
class ServedBatch:
    """One batch as the server keeps it."""

    id: str
    requests: list[tuple[str, Mapping[str, Any]]]
    """The custom id and the body of each request."""
    metadata: Mapping[str, str] = field(default_factory=dict)
    created_at: float = field(default_factory=time.time)


class BatchServer:
    """A running server; made by `serve_batches`."""

    def __init__(self, script: Script) -> None:
        """Take what it answers."""
        self.script = script
        self.batches: list[ServedBatch] = []
        """In the order of their creation."""
        self.requests: list[str] = []
        """Method and path of each request."""
        self.is_held = False
        """Whether batches stay in progress."""
        self.refusals: dict[str, list[Status]] = {}
        """What the next requests with this method and path are refused with; the batch is created before `after`."""
        self.is_created_before_refusal = False
        self.delay = 0.0
        """Seconds before the response to a request that created a batch."""
        self.port = 0
        self._files: dict[str, bytes] = {}

    @property
    def asked(self) -> int:
        """How many requests all batches have."""
        return sum(len(batch.requests) for batch in self.batches)

    def environment(self) -> dict[str, str]:
        """Return variables that bring both providers here."""
        url = f"http://127.0.0.1:{self.port}"
        return {
            "OPENAI_BASE_URL": f"{url}/v1",
            "OPENAI_API_KEY": "test-key-of-openai",
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "test-key-of-anthropic",
        }

    def answer(self, method: str, path: str, content_type: str, body: bytes) -> tuple[int, Any]:
        """Return the status and the JSON (or the bytes) of a response."""
        path = path.partition("?")[0]
        self.requests.append(f"{method} {path}")
        refusals = self.refusals.get(f"{method} {path}", [])
        if refusals:
            if self.is_created_before_refusal:
                self._answer(method, path, content_type, body)
            refusal = refusals.pop(0)
            return refusal.code, {"error": {"message": refusal.message, "type": "invalid_request_error"}}
        return self._answer(method, path, content_type, body)

    def _answer(self, method: str, path: str, content_type: str, body: bytes) -> tuple[int, Any]:
        match method, path.removeprefix("/v1").strip("/").split("/"):
            case "POST", ["files"]:
                file = f"file-{len(self._files) + 1}"
                self._files[file] = _uploaded(content_type, body)
                return 200, {
                    "id": file,
                    "object": "file",
                    "bytes": 1,
                    "created_at": 1,
                    "filename": "f",
                    "purpose": "batch",
                }
            case "GET", ["files", file, "content"]:
                return 200, self._files[file]
            case "POST", ["batches"]:
                return 200, self._openai(self._create_from_file(json.loads(body)))
            case "GET", ["batches"]:
                return 200, {
                    "object": "list",
                    "data": [*map(self._openai, self.batches[::-1])],
                    "has_more": False,
                }
            case "GET", ["batches", name] if batch := self._batch(name):
                return 200, self._openai(batch)
            case "POST", ["messages", "batches"]:
                found = [(each["custom_id"], each["params"]) for each in json.loads(body)["requests"]]
                return 200, self._anthropic(self._create(found))
            case "GET", ["messages", "batches"]:
                return 200, {
                    "data": [*map(self._anthropic, self.batches[::-1])],
                    "has_more": False,
                    "first_id": None,
                    "last_id": None,
                }
            case "GET", ["messages", "batches", name] if batch := self._batch(name):
                return 200, self._anthropic(batch)
            case "GET", ["messages", "batches", name, "results"] if batch := self._batch(name):
                return 200, b"".join(_json_line(line) for line in self._results_of_anthropic(batch))
        return 404, {"error": {"message": f"no such batch: {path}", "type": "not_found_error"}}

    def _batch(self, name: str) -> ServedBatch | None:
        return next((batch for batch in self.batches if batch.id == name), None)

    def _create(
        self, requests: list[tuple[str, Any]], metadata: Mapping[str, str] | None = None
    ) -> ServedBatch:
        batch = ServedBatch(f"batch_{len(self.batches) + 1}", requests, metadata or {})
        self.batches.append(batch)
        return batch

    def _create_from_file(self, wanted: Mapping[str, Any]) -> ServedBatch:
        assert (wanted["endpoint"], wanted["completion_window"]) == ("/v1/responses", "24h")
        lines = [json.loads(line) for line in self._files[wanted["input_file_id"]].splitlines()]
        assert {(line["method"], line["url"]) for line in lines} == {("POST", "/v1/responses")}
        return self._create([(line["custom_id"], line["body"]) for line in lines], wanted.get("metadata"))

    def _outcomes(
        self, batch: ServedBatch, path: str
    ) -> Iterator[tuple[str, ModelRequest, Completion | Status | str]]:
        for number, (custom_id, body) in enumerate(batch.requests):
            asked = read_request(number, path, {}, body, 0.0)
            yield custom_id, asked, self.script(asked)

    # --- OpenAI -------------------------------------------------------------------------------------------------------

    def _openai(self, batch: ServedBatch) -> dict[str, Any]:
        total = len(batch.requests)
        answer = {
            "id": batch.id,
            "object": "batch",
            "endpoint": "/v1/responses",
            "input_file_id": "file-1",
            "completion_window": "24h",
            "status": "in_progress",
            "created_at": int(batch.created_at),
            "metadata": batch.metadata,
            "request_counts": {"total": total, "completed": 0, "failed": 0},
        }
        if not self.is_held:
            output, errors = self._write_files(batch)
            answer |= {"status": "completed", "output_file_id": output, "error_file_id": errors}
        return answer

    def _write_files(self, batch: ServedBatch) -> tuple[str, str]:
        good, bad = b"", b""
        for custom_id, asked, outcome in self._outcomes(batch, "/v1/responses"):
            line: dict[str, Any] = {"id": "r", "custom_id": custom_id, "response": None, "error": None}
            if outcome == "missing":
                continue
            if outcome == "expired":
                line["error"] = {"code": "batch_expired", "message": "This request could not be executed"}
            elif isinstance(outcome, Status):
                line["response"] = {
                    "status_code": outcome.code,
                    "body": write_error("openai-responses", outcome),
                }
            elif isinstance(outcome, Completion):
                line["response"] = {"status_code": 200, "body": write_answer(asked, outcome)}
                good += _json_line(line)
                continue
            bad += _json_line(line)
        names = f"{batch.id}-output", f"{batch.id}-errors"
        self._files.update(zip(names, (good, bad), strict=True))
        return names

    # --- Anthropic ----------------------------------------------------------------------------------------------------

    def _anthropic(self, batch: ServedBatch) -> dict[str, Any]:
        created, total = datetime.fromtimestamp(batch.created_at, UTC).isoformat(), len(batch.requests)
        counts = {"succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}
        url = f"http://127.0.0.1:{self.port}/v1/messages/batches/{batch.id}/results"
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "in_progress" if self.is_held else "ended",
            "request_counts": {**counts, "processing": total} if self.is_held else {**counts, "succeeded": total, "processing": 0},
            "created_at": created,
            "expires_at": created,
            "ended_at": None if self.is_held else created,
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": None if self.is_held else url,
        }  # fmt: skip

    def _results_of_anthropic(self, batch: ServedBatch) -> Iterator[dict[str, Any]]:
        for custom_id, asked, outcome in self._outcomes(batch, "/v1/messages"):
            if isinstance(outcome, Completion):
                result: dict[str, Any] = {"type": "succeeded", "message": write_answer(asked, outcome)}
            elif isinstance(outcome, Status):
                error = {"type": "invalid_request_error", "message": outcome.message}
                result = {"type": "errored", "error": {"type": "error", "error": error, "request_id": None}}
            else:
                result = {"type": outcome}
            if outcome != "missing":
                yield {"custom_id": custom_id, "result": result}


def _json_line(value: object) -> bytes:
    return json.dumps(value).encode() + b"\n"


def _uploaded(content_type: str, body: bytes) -> bytes:
    """Return the content of the file in a form."""
    boundary = re.search(r"boundary=\"?([^\";]+)", content_type)
    assert boundary is not None
    parts = body.split(b"--" + boundary[1].encode())
    (file,) = [part for part in parts if b'name="file"' in part]
    return file.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n")


@contextmanager
def serve_batches(script: Script) -> Iterator[BatchServer]:
    """Run a server that answers by `script` until the block ends."""
    served = BatchServer(script)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _handle(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            code, found = served.answer(self.command, self.path, self.headers.get("Content-Type", ""), body)
            if self.command == "POST" and "batches" in self.path:
                time.sleep(served.delay)
            content = found if isinstance(found, bytes) else json.dumps(found).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_DELETE = _handle  # noqa: N815 - the names that the server calls

        def log_message(self, *_: object) -> None:
            """Do not log."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    served.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join(60)
