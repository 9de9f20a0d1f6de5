"""A process that works on a store, for tests of several at once: `python -m tests.stores.worker PATH WHAT …`.

fill RUN CASES      write a separate run, a commit a case; print how many were acknowledged
share RUN CASES     take up RUN again and again until all of its cases are done; print those done here
hold RUN SECONDS    begin RUN, acknowledge a case, report it, then wait for a line and write on
die RUN             begin RUN, acknowledge a case, report it, and wait to be killed
make -              report it, then make the store, and a run in it
migrate -           report it, then bring the store up to a further version of many tables
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from unittest import mock

from proctor.errors import StoreError
from proctor.schema.results.manifest import RunSummary
from proctor.schema.results.run_result import Outcome
from proctor.stores.sql import database, leases
from proctor.stores.sql.store import SqlStore
from proctor.stores.sqlite.file import open_sqlite_store
from tests.stores.sample_runs import Heard, begun, records, write_run


def _fill(store: SqlStore, run_id: str, cases: int) -> None:
    heard = Heard()
    writer = begun(store, run_id, cases=cases, heard=heard)
    for position in range(cases):
        writer.put(records(position), position)
        heard.wait_for(position + 1, seconds=120)
    writer.finish(RunSummary(outcome=Outcome.PASSED), complete=True)
    print(len(heard.tokens))


def _share(store: SqlStore, run_id: str, cases: int) -> None:
    """A few cases at a time, so that others come to it, too."""
    done: list[int] = []
    while len(outcomes := store.outcomes(run_id, 1)) < cases:
        heard = Heard()
        try:
            writer = store.resume(run_id, heard)
        except StoreError as error:
            if "is being worked on" not in str(error):
                raise
            time.sleep(0.002)
            continue
        outcomes = store.outcomes(run_id, 1)
        mine = [position for position in range(cases) if position not in outcomes][:5]
        for position in mine:
            writer.put(records(position), position)
        writer.finish(RunSummary(), complete=len(outcomes) + len(mine) == cases)
        done += [int(str(token)) for token in heard.tokens]
    print(*done)


def _hold(store: SqlStore, run_id: str, seconds: float) -> None:
    leases.LEASE_SECONDS, leases.LEASE_RENEWED_EVERY = seconds, seconds / 4
    heard = Heard()
    writer = begun(store, run_id, heard=heard)
    writer.put(records(0), "first")
    heard.wait_for(1)
    print("holding", flush=True)
    sys.stdin.readline()
    writer.put(records(1), "late")
    heard.wait_for(2)
    try:
        writer.finish(RunSummary(outcome=Outcome.PASSED), complete=True)
    except StoreError as error:
        print("StoreError:", error)
    print("acknowledged:", *heard.tokens)


TABLES = 60
"""Made by `migrate`."""


def _migrate(path: str) -> None:
    first = database.schema_files()
    tables = "\n".join(f"CREATE TABLE later_{i} (id INTEGER PRIMARY KEY, text TEXT);" for i in range(TABLES))
    later = (*first, (len(first) + 1, tables))  # as a later Proctor would have it
    with mock.patch.object(database, "schema_files", return_value=later):
        print("going", flush=True)
        open_sqlite_store(path).close()


def main(words: list[str]) -> None:
    """Run the command."""
    path, what, run_id, *others = words
    if what == "migrate":
        _migrate(path)
        return
    if what == "make":
        database.schema_files()
        print("going", flush=True)
    store = open_sqlite_store(str(Path(path)))
    match what:
        case "fill":
            _fill(store, run_id, int(others[0]))
        case "share":
            _share(store, run_id, int(others[0]))
        case "hold":
            _hold(store, run_id, float(others[0]))
        case "die":
            _hold(store, run_id, 60.0)
        case "make":
            write_run(store)
        case _:
            sys.exit(__doc__)
    store.close()


if __name__ == "__main__":
    main(sys.argv[1:])
