"""Very many pages that follow a run, most of which read nothing: the server answers the others, and does not grow."""

import socket
import time
from pathlib import Path

import pytest

from benchmarks.web import _get, _memory, _served, _watch
from proctor.stores.sqlite.file import open_sqlite_store
from tests.stores.sample_runs import begun, records

CASES = 400


@pytest.mark.nightly
@pytest.mark.parametrize("watching", [500])
def test_a_server_bears_clients_that_follow_and_read_nothing(tmp_path: Path, watching: int) -> None:
    store = open_sqlite_store(str(tmp_path / "store.sqlite3"))
    writer = begun(store, cases=CASES)
    (tmp_path / "proctor.toml").write_text("")
    clients: list[socket.socket] = []
    with _served(tmp_path / "store.sqlite3") as (process, port):
        _get(port, "/api/runs/latest")
        before = _memory(process.pid)
        clients += [_watch(port) for _ in range(watching)]
        for position in range(CASES):
            writer.put(records(position, size=2_000))
        time.sleep(5)
        began = time.monotonic()
        _get(port, "/api/runs/latest/cases")
        answered, grown = time.monotonic() - began, _memory(process.pid) - before
    for client in clients:
        client.close()
    writer.close()
    store.close()
    print(f"answered in {answered:.2f} s, {grown:.0f} MB more")
    assert answered < 10
    assert grown < watching * 0.4  # MB: what is under way to each, and what a connection takes
