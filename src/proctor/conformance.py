"""Conformance tests for authors of agent adapters. Each check is one test.

from proctor.conformance import AgentConformance

class TestMine(AgentConformance):
    agent = MyAdapter(...)          # or an AGENT string
    eval_set = "tests/mine.evalset.json"   # conversations with tool calls and state changes
    failing = "divide by zero"      # a message that makes it fail
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar
from unittest import SkipTest

from proctor.engine.execution.run_control import run_sync
from proctor.runs.arguments import sync_form
from proctor.runs.conformance.check_agent import (
    CHECKS,
    MESSAGES,
    Check,
    Finding,
    Fit,
    check_agent,
    conversations,
    run_check,
)

__all__ = ["CHECKS", "AgentConformance", "Check", "Finding", "Fit", "check_agent", "check_agent_sync"]


check_agent_sync = sync_form(check_agent)


class AgentConformance:
    """Base class with one test per check; a subclass whose name begins with `Test` sets the agent.

    pytest collects it, and so does any other runner that calls methods `test_…`.

    A check that does not apply is skipped with a reason.
    """

    agent: ClassVar[Any] = None
    """An AGENT string or an object of any supported kind. Alternatively, override `make_agent`."""
    messages: ClassVar[Sequence[str]] = MESSAGES
    eval_set: ClassVar[str | Path | None] = None
    failing: ClassVar[str | None] = None
    timeout: ClassVar[float] = 60.0

    def make_agent(self) -> Any:
        """Return the agent for one check."""
        agent = type(self).__dict__.get("agent", type(self).agent)
        return agent.__func__ if isinstance(agent, staticmethod) else agent


def _test_of(check: Check) -> Callable[[AgentConformance], None]:
    def test(self: AgentConformance) -> None:
        cases = conversations(self.messages, self.eval_set)
        finding = run_sync(
            lambda: run_check(check, self.make_agent(), cases, failing=self.failing, timeout=self.timeout)
        )
        if finding.fit is Fit.NOT_APPLICABLE:
            raise SkipTest(finding.evidence)
        if finding.fit is Fit.FAILED:
            raise AssertionError(f"{check.shows}: {finding.evidence}")

    test.__doc__ = check.shows[0].upper() + check.shows[1:] + "."
    return test


for _check in CHECKS:
    setattr(AgentConformance, f"test_{_check.name.replace('-', '_')}", _test_of(_check))
