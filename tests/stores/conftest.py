"""A store of each kind, empty."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from proctor.stores.open import open_store_url
from proctor.stores.sql.store import SqlStore
from tests.stores.postgres.server import PostgresServer, binaries, postgres_server
from tests.stores.sample_runs import OPEN


@pytest.fixture(autouse=True)
def _stores_are_closed() -> Iterator[None]:
    yield
    while OPEN:
        OPEN.pop().close()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """Return a running PostgreSQL server."""
    pytest.importorskip("psycopg", reason="psycopg is not installed: the extra `postgres`")
    programs = binaries()
    if programs is None:
        pytest.skip("PostgreSQL is not installed: Debian's package postgresql")
    with postgres_server(programs) as server:
        yield server


@pytest.fixture(params=["sqlite", "memory", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of a store that does not exist yet, of each kind."""
    if request.param == "postgres":
        server: PostgresServer = request.getfixturevalue("postgres")
        return server.new_url()
    return f"sqlite:{tmp_path / 'runs.db'}" if request.param == "sqlite" else f"memory:{secrets.token_hex(8)}"


@pytest.fixture
def store(url: str) -> Iterator[SqlStore]:
    made = open_store_url(url)
    assert isinstance(made, SqlStore)
    yield made
    made.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"
