"""What the toys behind HTTP share: a server of the standard library, in threads of this process."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Answer = Callable[["Handler", dict[str, Any]], None]


class Handler(BaseHTTPRequestHandler):
    """Answers every POST by the server's own function."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # an answer leaves in one piece
    server: "Server"

    def do_POST(self) -> None:
        self.server.answer(self, json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def send(self, body: bytes, kind: str = "application/json", status: int = 200) -> None:
        """Answer."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        """Nothing."""


class Server(ThreadingHTTPServer):
    """Serves one function, on a port of its own."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer


@contextmanager
def serving(answer: Answer) -> Iterator[str]:
    """Serve, and give the URL."""
    with Server(answer) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
