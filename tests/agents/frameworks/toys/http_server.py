"""The common part of the toys behind HTTP: a server of the standard library, in a separate process."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[4]

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
    """Serve one function, on a free port."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer


@contextmanager
def serving(toy: str) -> Iterator[str]:
    """Serve `answer` of a module of toys in a separate process, and give the URL; it is ended at the end."""
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    command = [sys.executable, "-m", __name__, toy]
    with subprocess.Popen(command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            port = process.stdout.readline().strip()
            assert port.isdigit(), f"the server did not start: {port!r}"
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


if __name__ == "__main__":
    with Server(import_module(f"tests.agents.frameworks.toys.{sys.argv[1]}").answer) as server:
        print(server.server_address[1], flush=True)
        server.serve_forever()
