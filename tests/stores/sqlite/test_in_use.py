"""A store that this process has open keeps its locks, however often it is opened besides (howtocorrupt.html, 2.2)."""

import fcntl
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from proctor.errors import StoreError
from proctor.schema.results.manifest import RunState
from proctor.stores.sqlite.file import open_sqlite_store
from tests.stores.sample_runs import begun, write_run

# What is locked of a file can be asked for by another process only; SQLite's bytes begin at 1 GiB.
_ASK = """
import fcntl, struct, sys
with open(sys.argv[1], "rb+") as file:
    asked = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 1 << 30, 512, 0)
    kind = struct.unpack("hhqqi4x", fcntl.fcntl(file, fcntl.F_GETLK, asked))[0]
print(kind)
"""


def _is_locked(file: Path) -> bool:
    output = subprocess.run(
        [sys.executable, "-c", _ASK, str(file)], capture_output=True, check=True, timeout=30
    )
    return int(output.stdout) != fcntl.F_UNLCK


def test_the_question_that_is_asked_here_has_an_answer(tmp_path: Path) -> None:
    file = tmp_path / "plain"
    file.write_bytes(b"x")
    with file.open("rb+") as held:
        fcntl.fcntl(held, fcntl.F_SETLK, struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 1 << 30, 512, 0))
        assert _is_locked(file)
    assert not _is_locked(file)


@pytest.mark.slow
@pytest.mark.parametrize("read_only", [False, True])
def test_opening_it_once_more_takes_no_lock_away(tmp_path: Path, *, read_only: bool) -> None:
    file = tmp_path / "store.sqlite3"
    first = open_sqlite_store(str(file))
    write_run(first, cases=2)
    assert _is_locked(file)
    for _ in range(3):
        open_sqlite_store(str(file), read_only=read_only).close()
        assert _is_locked(file)
    first.close()
    assert not _is_locked(file)


@pytest.mark.slow
def test_reader_sees_later_writes_of_another_process(tmp_path: Path) -> None:
    file = tmp_path / "store.sqlite3"
    open_sqlite_store(str(file)).close()
    reader = open_sqlite_store(str(file), read_only=True)
    writes = (
        "import sys; from proctor.stores.sqlite.file import open_sqlite_store; from tests.stores.sample_runs import write_run\n"
        "store = open_sqlite_store(sys.argv[1]); write_run(store, sys.argv[2], cases=40); store.close()"
    )
    for number in range(4):
        run = f"run{number}"
        root = Path(__file__).parents[3]
        subprocess.run([sys.executable, "-c", writes, str(file), run], cwd=root, check=True, timeout=60)
        again = open_sqlite_store(str(file), read_only=True)
        for store in (reader, again):
            assert len(list(store.load(run).cases)) == 40
            assert store.standing(run).state is RunState.FINISHED
        again.close()
    reader.close()


def test_file_of_another_format_is_checked_when_no_process_has_it_open(tmp_path: Path) -> None:
    file = tmp_path / "store.sqlite3"
    store = open_sqlite_store(str(file))
    begun(store).close()
    store.close()
    file.write_bytes(b"something else, and more than a hundred bytes of it " * 3)
    with pytest.raises(StoreError, match="not a store"):
        open_sqlite_store(str(file))
