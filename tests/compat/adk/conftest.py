"""The agent of the recorded runs: played again, and google-adk's own."""

from tests.wire.conftest import agent

__all__ = ["agent"]
