"""Names of tools that nothing else knows are probably slips: a rule about them would hold whatever happens."""

from __future__ import annotations

from collections.abc import Iterable

from proctor.errors import did_you_mean
from proctor.metrics.base import CaseView
from proctor.metrics.expectations.made import known_tools
from proctor.metrics.expectations.patterns import ANY_TOOL, CallPattern

__all__ = ["unknown_tools"]


def unknown_tools(patterns: Iterable[CallPattern], case: CaseView) -> str:
    """Say which tools are named that are neither declared, nor expected in the conversation, nor called; usually empty."""
    names = {name: None for pattern in patterns for name in pattern.tools if name != ANY_TOOL}
    called = {call.name for turn in case.turns for call in turn.tool_calls}
    if names.keys() <= called:
        return ""
    known = known_tools(case)
    unknown = [f"{name!r}{did_you_mean(name, known)}" for name in names if name not in known]
    if not unknown:
        return ""
    return (
        f"neither declared by the agent, nor expected in the conversation, nor called: {', '.join(unknown)}"
    )
