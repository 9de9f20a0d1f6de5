"""A store of each kind, empty."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from proctor.stores.sqlite.store import SqliteStore, open_store
from tests.stores.sample_runs import OPEN


@pytest.fixture(autouse=True)
def _stores_are_closed() -> Iterator[None]:
    yield
    while OPEN:
        OPEN.pop().close()


@pytest.fixture(params=["sqlite", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqliteStore]:
    url = f"sqlite:{tmp_path / 'runs.db'}" if request.param == "sqlite" else f"memory:{secrets.token_hex(8)}"
    made = open_store(url)
    yield made
    made.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"
