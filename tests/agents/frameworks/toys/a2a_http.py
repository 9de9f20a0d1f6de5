"""The toy of google-adk behind google-adk's own A2A server, in a separate process."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.agents.frameworks.toys.adk_http import serving


@contextmanager
def serve() -> Iterator[str]:
    """Serve the toy, and give its AGENT string."""
    with serving("tests.agents.frameworks.toys.google_adk:root_agent", "a2a_adk_server.py") as url:
        yield f"a2a+http:{url}"
