"""A store in PostgreSQL: what a server has and a file has not. The contract is tested with every kind of store."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import psycopg
import pytest

from proctor.errors import RunInUseError, SetupError, StoreError
from proctor.schema.results.run_result import Outcome
from proctor.stores.base import TrialRecord
from proctor.stores.open import open_store_url
from proctor.stores.postgres import server as module
from proctor.stores.sql import database, leases, writer
from proctor.stores.sql.store import SqlStore
from tests.stores.postgres.server import PASSWORD, PostgresServer, postgres_server
from tests.stores.sample_runs import Heard, begun, case_json, evidence, records, write_run


@pytest.fixture
def url(postgres: PostgresServer) -> str:
    return postgres.new_url()


@pytest.fixture
def own_server(postgres: PostgresServer) -> Iterator[PostgresServer]:
    """Return a server that a test may stop."""
    with postgres_server(postgres.programs) as server:
        yield server


def _trial(position: int) -> TrialRecord:
    return TrialRecord(position, 0, 0, evidence(position), failed=False, case=case_json(position))


# --- opening ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(("/postgres?", "/nothing?"), 'database "nothing" does not exist', id="database"),
        pytest.param(("tester:", "nobody:"), 'authentication failed for user "nobody"', id="user"),
        pytest.param(("p4ss", "wrong"), 'authentication failed for user "tester"', id="password"),
        pytest.param(("127.0.0.1:", "127.0.0.1:1"), "no connection to the server|cannot be read", id="port"),
        pytest.param(
            ("search_path%3D", "search_path%3Dnot_"), "no schema that its `search_path` names", id="schema"
        ),
    ],
)
def test_what_cannot_be_opened_has_one_message_without_the_password(
    url: str, change: tuple[str, str], message: str
) -> None:
    with pytest.raises(StoreError, match=message) as raised:
        open_store_url(url.replace(*change))
    assert "p4ss" not in str(raised.value)
    assert str(raised.value).startswith("postgresql://")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("bad", ["postgresql://u:p4ss@host:port/db?x=y", "postgresql://u:p4ss@[::1/db"])
def test_url_that_cannot_be_read_is_refused_without_showing_it(bad: str) -> None:
    with pytest.raises(SetupError, match="postgresql://USER@HOST:PORT/DATABASE") as raised:
        open_store_url(bad)
    assert "p4ss" not in str(raised.value)


def test_messages_name_the_store_without_its_password(url: str) -> None:
    store = open_store_url(url)
    with pytest.raises(Exception, match=r"postgresql://tester@127\.0\.0\.1:\d+/postgres") as raised:
        store.find("latest")
    assert PASSWORD not in str(raised.value)
    store.close()


def test_database_without_a_store_is_not_changed_by_reading(postgres: PostgresServer) -> None:
    schema = postgres.new_schema()
    with pytest.raises(StoreError, match="this database has no store"):
        open_store_url(postgres.url(schema), read_only=True)
    assert _value(postgres.url(schema), "SELECT to_regclass('schema_versions')::text") is None


def test_store_for_reading_refuses_every_change(url: str) -> None:
    store = open_store_url(url)
    write_run(store)
    store.close()
    reading = open_store_url(url, read_only=True)
    assert len(reading.load("run1").cases) == 3
    with pytest.raises(StoreError, match="opened for reading only"):
        reading.delete(["run1"])
    reading.close()


def test_store_of_a_newer_version_is_refused(url: str) -> None:
    open_store_url(url).close()
    _execute(url, f"INSERT INTO schema_versions VALUES ({database.newest_version() + 1}, 0)")
    with pytest.raises(StoreError, match="written by a newer Proctor"):
        open_store_url(url)


def test_store_of_an_older_version_is_updated(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    files = database.schema_files()
    with monkeypatch.context() as earlier:
        earlier.setattr(database, "schema_files", lambda: files[:2])
        old = open_store_url(url)
        write_run(old)
        old.close()
    store = open_store_url(url)
    assert len(store.load("run1").cases) == 3
    assert store.looks() == []
    assert _value(url, "SELECT MAX(version) FROM schema_versions") == database.newest_version()
    store.close()


def test_many_processes_create_the_tables_once(url: str) -> None:
    failures: list[BaseException] = []

    def open_it() -> None:
        try:
            open_store_url(url).close()
        except BaseException as error:  # noqa: BLE001 - reported by the main thread
            failures.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert _value(url, "SELECT COUNT(*) FROM schema_versions") == len(database.schema_files())


def test_user_with_the_documented_privileges_writes_and_a_reader_reads(postgres: PostgresServer) -> None:
    schema = postgres.new_schema()
    open_store_url(postgres.url(schema)).close()
    for user, rights in (("writer", "SELECT, INSERT, UPDATE, DELETE"), ("reader", "SELECT")):
        name = f"{schema}_{user}"
        postgres.execute(
            f"CREATE ROLE {name} LOGIN PASSWORD 'x'; GRANT USAGE ON SCHEMA {schema} TO {name}; "
            f"GRANT {rights} ON ALL TABLES IN SCHEMA {schema} TO {name}"
        )
    store = open_store_url(postgres.url(schema, user=f"{schema}_writer", password="x"))
    assert isinstance(store, SqlStore)
    assert store._database.identity().id.startswith("postgresql-")
    postgres.execute("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC")  # only artefacts need it
    write_run(store)
    store.delete(["run1"])
    postgres.execute("GRANT EXECUTE ON FUNCTION pg_control_system() TO PUBLIC")
    write_run(store, "run2")
    store.close()
    reading = open_store_url(postgres.url(schema, user=f"{schema}_reader", password="x"), read_only=True)
    assert len(reading.load("run2").cases) == 3
    reading.close()
    writing = open_store_url(postgres.url(schema, user=f"{schema}_reader", password="x"))
    with pytest.raises(StoreError, match="the user lacks a privilege"):
        writing.delete(["run2"])
    writing.close()


# --- several processes -----------------------------------------------------------------------------------------------


def test_run_is_written_by_one_connection_only(url: str) -> None:
    first, second = open_store_url(url), open_store_url(url)
    held = begun(first)
    with pytest.raises(RunInUseError, match="is being worked on by process"):
        second.resume("run1", lambda tokens, error: None)
    held.close()
    second.resume("run1", lambda tokens, error: None).close()
    first.close()
    second.close()


def test_of_two_that_take_the_same_run_at_once_one_is_refused(url: str) -> None:
    """The first has not committed yet when the second looks: its lease is not visible."""
    store, other = open_store_url(url), open_store_url(url)
    assert isinstance(store, SqlStore)
    begun(store).close()
    refused: list[Exception] = []
    with store._database.transaction() as transaction:
        leases.take_lease(transaction, 1, "run1", "store")

        def take() -> None:
            try:
                other.resume("run1", lambda tokens, error: None)
            except StoreError as error:
                refused.append(error)

        thread = threading.Thread(target=take)
        thread.start()
        time.sleep(0.3)  # it waits for the row
    thread.join(20)
    assert [type(error) for error in refused] == [RunInUseError]
    store.close()
    other.close()


def test_lease_is_measured_by_the_clock_of_the_server(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store_url(url)
    held = begun(store)
    monkeypatch.setattr(time, "time", lambda: 4_000_000_000.0)
    other = open_store_url(url)
    with pytest.raises(RunInUseError):
        other.resume("run1", lambda tokens, error: None)
    monkeypatch.undo()
    held.close()
    store.close()
    other.close()


def test_runs_that_share_documents_are_written_at_the_same_time(url: str) -> None:
    """Their rows are inserted in one order, so that neither waits for the other for ever."""
    stores = [open_store_url(url) for _ in range(4)]
    writers = [begun(store, f"run{i}", cases=40) for i, store in enumerate(stores)]
    for first in range(0, 40, 8):
        for turn, one in enumerate(writers):
            positions = list(range(first, first + 8))
            one.put([_trial(i) for i in (positions if turn % 2 else reversed(positions))])
    for one in writers:
        one.close()
    assert [len(list(stores[0].attempts(f"run{i}"))) for i in range(4)] == [40] * 4
    for store in stores:
        store.close()


# --- lost connections ------------------------------------------------------------------------------------------------


def test_reading_goes_on_after_a_lost_connection(url: str) -> None:
    store = open_store_url(url)
    write_run(store)
    _end_connections(url)
    assert len(store.load("run1").cases) == 3
    store.close()


@pytest.mark.parametrize("committed", [False, True], ids=["lost before the commit", "lost after the commit"])
def test_commit_that_failed_is_repeated_and_counted_once(
    url: str, monkeypatch: pytest.MonkeyPatch, *, committed: bool
) -> None:
    """Whether the server has committed is not known to a client whose connection breaks in COMMIT."""
    store = open_store_url(url)
    heard = Heard()
    held = begun(store, heard=heard)
    broken: list[str] = []

    class Breaking:
        def __init__(self, raw: psycopg.Connection[tuple[object, ...]]) -> None:
            self._raw = raw

        def __getattr__(self, name: str) -> object:
            return getattr(self._raw, name)

        def execute(self, sql: Any, *values: Any, **options: Any) -> object:
            if sql == "COMMIT" and not broken:
                broken.append("yes")
                if committed:
                    self._raw.execute("COMMIT")
                self._raw.close()
                raise psycopg.OperationalError("the connection was lost")
            return self._raw.execute(sql, *values, **options)

        @property
        def broken(self) -> bool:
            return self._raw.closed

    connect = module.PostgresDatabase._connect
    monkeypatch.setattr(module.PostgresDatabase, "_connect", lambda self: Breaking(connect(self)))
    held.put(records(0), "token")
    heard.wait_for(1)
    held.close()
    assert (heard.calls, broken) == ([(["token"], None)], ["yes"])
    monkeypatch.undo()
    assert [case.outcome for case in store.load("run1").cases] == [
        Outcome.PASSED,
        Outcome.NOT_RUN,
        Outcome.NOT_RUN,
    ]
    store.close()


@pytest.mark.slow
def test_run_waits_for_a_server_that_is_restarted(own_server: PostgresServer) -> None:
    store = open_store_url(own_server.new_url())
    heard = Heard()
    held = begun(store, heard=heard)
    held.put([_trial(0)], 0)
    heard.wait_for(1)
    own_server.stop("immediate")
    held.put([_trial(1)], 1)
    time.sleep(1)
    assert len(heard.calls) == 1, "nothing is reported as stored while the server is down"
    own_server.start()
    heard.wait_for(2)
    held.close()
    assert heard.tokens == [0, 1]
    assert [len(case.trials) for case in store.load("run1").cases] == [1, 1, 0]
    store.close()


@pytest.mark.slow
def test_run_gives_up_a_server_that_does_not_return(
    own_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "RECONNECT_SECONDS", 0.5)
    store = open_store_url(own_server.new_url())
    heard = Heard()
    held = begun(store, heard=heard)
    own_server.stop("immediate")
    held.put([_trial(0)], 0)
    heard.wait_for(1)
    ((_, error),) = heard.calls
    assert isinstance(error, StoreError)
    assert "no connection to the server" in str(error)
    held.close()
    own_server.start()
    store.close()


@pytest.mark.slow
def test_too_many_connections_are_reported(own_server: PostgresServer) -> None:
    url = own_server.new_url()
    open_store_url(url).close()
    with ExitStack() as taken:
        with pytest.raises(psycopg.OperationalError):  # noqa: PT012 - until there is no room
            for _ in range(60):
                taken.enter_context(psycopg.connect(url))
        with pytest.raises(
            StoreError, match=r"too many clients.*run fewer at a time, or raise max_connections"
        ):
            open_store_url(url)


# ---------------------------------------------------------------------------------------------------------------------


def _execute(url: str, sql: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.encode())


def _value(url: str, sql: str) -> object:
    with psycopg.connect(url) as connection:
        row = connection.execute(sql.encode()).fetchone()
        return row[0] if row else None


def _end_connections(url: str) -> None:
    _execute(url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'proctor'")
