"""Servers for one test, each started by its script."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest

from tests.models.loopback import ModelServer, serve_models
from tests.models.loopback.server import Script


@contextmanager
def servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Script], ModelServer]]:
    """Return what starts a server that answers by a script, and points every provider's variables at it."""
    with ExitStack() as running:

        def start(script: Script) -> ModelServer:
            server = running.enter_context(serve_models(script))
            for name, value in server.environment().items():
                monkeypatch.setenv(name, value)
            return server

        yield start
