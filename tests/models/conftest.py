"""Models at a server of ours, with keys that open nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.models.loopback import ModelServer, serve_models
from tests.models.loopback.server import Script


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Script], ModelServer]]:
    """Start a server that answers by a script, and point every provider's variables at it."""
    pytest.importorskip("pydantic_ai", reason="the extra `judges` is not installed")
    running = []

    def start(script: Script) -> ModelServer:
        context = serve_models(script)
        server = context.__enter__()
        running.append(context)
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        return server

    yield start
    for context in running:
        context.__exit__(None, None, None)
