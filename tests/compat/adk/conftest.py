"""The agent of the recorded runs: played again, and google-adk's own."""

from tests.compat.golden.conftest import agent

__all__ = ["agent"]
