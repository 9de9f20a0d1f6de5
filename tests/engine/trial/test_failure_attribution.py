"""Failures at the boundary of a remote agent are distinguished, and only some of them are retried."""

import pytest

from proctor.engine.trial.failure_attribution import failure_from, is_retryable
from proctor.errors import (
    AgentCrashedError,
    AgentError,
    AgentRaisedError,
    AgentTruncatedError,
    AgentUnreachableError,
)


@pytest.mark.parametrize(
    ("error", "cause", "again"),
    [
        pytest.param(
            AgentUnreachableError("connection refused on port 1"),
            "agent not connected in turn 1: connection refused on port 1",
            True,
            id="not connected",
        ),
        pytest.param(
            AgentTruncatedError("the stream broke off"),
            "agent truncated in turn 1: the stream broke off",
            True,
            id="broken off",
        ),
        pytest.param(
            AgentCrashedError("it ended with signal 9"),
            "agent crashed in turn 1: it ended with signal 9",
            False,
            id="its process died",
        ),
        pytest.param(
            AgentError("HTML instead of events"),
            "agent broke contract in turn 1: HTML instead of events",
            False,
            id="not an answer",
        ),
        pytest.param(
            AgentRaisedError("no such city", type="LookupError"),
            "agent raised in turn 1: LookupError: no such city",
            False,
            id="its own error",
        ),
        pytest.param(
            AgentRaisedError("slow down", type="429"),
            "agent raised in turn 1: 429: slow down",
            True,
            id="its own rate limit",
        ),
    ],
)
def test_failure_names_its_boundary(error: AgentError, cause: str, again: bool) -> None:
    failure = failure_from(error, where="agent", turn=0)
    assert (failure.cause, is_retryable(failure), failure.traceback) == (cause, again, None)
