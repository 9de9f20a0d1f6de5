"""W9, the server's side: what a page of a run of many cases waits for, how much memory that takes, and many who watch.

    python -m benchmarks.web FOLDER CASES       asks `proctor web` for two runs of so many cases in FOLDER, and prints what it took

The first paint of a run is its page and the first rows of its table (`brief`), from a process that has loaded nothing yet; the
page then takes the whole page and all rows (filters are its own work). Figures are of the wire: asked over HTTP, unpacked.
"""

from __future__ import annotations

import gzip
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# the scripts are one package, wherever they start
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import compare
from benchmarks.measuring import Found, alternate
from benchmarks.table import OURS, Budget, Row

FIRST_ROWS = 200
_TICKS = os.sysconf("SC_CLK_TCK")


def rows(folder: Path, repeats: int, cases: int = 10_000, watching: int = 500) -> Iterator[Row]:
    """Measure, one row after the other."""
    store = compare.keep(folder, cases)
    found = alternate({OURS: lambda: measured(store, watching)}, repeats)[OURS]
    store.unlink()
    run = f"a run of {cases:,} cases"
    for what, column, unit, budget in (
        (
            f"first answers of {run}, {FIRST_ROWS} rows among them, new process",
            "first",
            "s",
            Budget(1.0, size="1 s"),
        ),
        (f"the whole page and all rows of {run}", "rows", "s", Budget(1.0, size="1 s")),
        (f"two runs of {cases:,} cases compared", "compared", "s", Budget(2.0, size="2 s")),
        ("the server's memory after that", "memory", "MB", None),
        (f"the server's memory with {watching} who watch", "memory_watched", "MB", None),
    ):
        wall = {OURS: found[f"{column}_wall"]} if f"{column}_wall" in found else {}
        yield Row("W9", what, unit, {OURS: found[column]}, [budget] if budget else [], wall)


def measured(store: Path, watching: int) -> Found:
    """Start a server, ask it as the page does, and return what that took."""
    with _served(store) as (process, port):
        asked = {
            "first": ["/api/runs/latest?brief=true", f"/api/runs/latest/cases?brief=true&limit={FIRST_ROWS}"],
            "rows": ["/api/runs/latest", "/api/runs/latest/cases"],
            "compared": ["/api/compare?base=latest~1&candidate=latest"],
        }
        took: Found = {}
        for name, paths in asked.items():
            cpu, began = _cpu(process.pid), time.perf_counter()
            for path in paths:
                _get(port, path)
            took[f"{name}_wall"] = time.perf_counter() - began
            took[name] = max(_cpu(process.pid) - cpu, 1 / _TICKS)  # what is less is not measured
        took["memory"] = took["peak"] = _memory(process.pid)
        clients = [_watch(port) for _ in range(watching)]
        time.sleep(min(3.0, watching / 100))
        took["memory_watched"] = _memory(process.pid)
        for client in clients:
            client.close()
        return {**took, "wall": took["first_wall"], "cpu": took["first"]}


@contextmanager
def _served(store: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "proctor", "web", "--port", "0", "--store", str(store)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=store.parent,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline().split()[3].rstrip("/").rpartition(":")[2])
        _get(port, "/api/about")  # it answers now; nothing was loaded
        yield process, port
    finally:
        process.terminate()
        process.communicate()


def _cpu(pid: int) -> float:
    """Seconds that a process has worked."""
    user, system = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / _TICKS


def _get(port: int, path: str) -> object:
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"Accept-Encoding": "gzip"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        body = answer.read()
    return json.loads(gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body)


def _watch(port: int) -> socket.socket:
    """Follow the run and read nothing more."""
    client = socket.create_connection(("127.0.0.1", port))
    client.sendall(f"GET /api/runs/latest/events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
    return client


def _memory(pid: int) -> float:
    """Resident megabytes of a process."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1000


if __name__ == "__main__":
    match sys.argv[1:]:
        case [folder, cases]:
            for row in rows(Path(folder), 1, int(cases)):
                print(
                    row.what,
                    {name: round(value, 3) for name, value in row.figures.items()},
                    row.unit,
                    row.verdict,
                )
        case _:
            sys.exit(__doc__)
