"""A server with sample runs, asked as a browser on this machine would ask."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from proctor.web.server.app import create_app
from proctor.web.server.context import ServerContext


@pytest.fixture
def context(tmp_path: Path) -> ServerContext:
    """A project for one test."""
    return ServerContext(root=tmp_path, store_url=tmp_path / "store.sqlite3")


@pytest.fixture
def client(context: ServerContext) -> Iterator[TestClient]:
    """Asks the server."""
    with TestClient(
        create_app(context), base_url="http://127.0.0.1:8000", raise_server_exceptions=True
    ) as client:
        yield client
