"""Models at a local server, with keys that open nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.models.loopback import ModelServer
from tests.models.loopback.server import Script
from tests.models.loopback.start import servers


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Script], ModelServer]]:
    """Start a server that answers by a script, and point every provider's variables at it."""
    pytest.importorskip("pydantic_ai", reason="the extra `judges` is not installed")
    with servers(monkeypatch) as start:
        yield start
