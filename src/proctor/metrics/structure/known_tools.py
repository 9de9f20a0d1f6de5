"""The metric `known_tools`: whether the agent called only tools that exist."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from proctor.metrics.base import MetricFacts
from proctor.metrics.case_statements import prohibition
from proctor.metrics.structure.declarations import Declaration, Tools
from proctor.metrics.structure.tool_calls import ToolCallMetric, unknown_tool
from proctor.schema.format.content import FunctionCall
from proctor.schema.format.criterion import BaseCriterion

__all__ = ["KnownTools"]


class KnownToolsCriterion(BaseCriterion):
    """Names of tools in addition to those that the agent declares."""

    tools: list[str] = []  # noqa: RUF012 - pydantic copies a model's mutable defaults


class KnownTools(ToolCallMetric[KnownToolsCriterion]):
    """The share of calls whose tool is declared by some agent of the app; overall the mean over turns with calls."""

    facts = MetricFacts(
        name="known_tools",
        description="The share of the calls that name an existing tool.",
        default_threshold=1.0,
        needs=frozenset({"tools"}),
        statement=prohibition,
        options={"tools": "names of existing tools in addition to those that the agent declares"},
        source="Proctor",
        example={"known_tools": {"threshold": 1.0, "tools": ["get_weather"]}},
    )
    kind = KnownToolsCriterion

    def own_declarations(self) -> Sequence[Declaration]:
        """Return the names of the criterion."""
        return [Declaration(name) for name in self.criterion.tools]

    def is_right(self, call: FunctionCall, author: str, tools: Tools) -> bool:
        """Return whether the tool exists."""
        return bool(tools.of(call.name, author))

    def mistakes(self, call: FunctionCall, author: str, tools: Tools) -> list[dict[str, Any]]:
        """Return the message for an unknown tool, with the name that was probably intended."""
        return [] if self.is_right(call, author, tools) else [{"message": unknown_tool(call.name, tools)}]

    def all_is_well(self, calls: int) -> str:
        """Return the reason if every tool exists."""
        return f"the tool of {'the call exists' if calls == 1 else f'each of {calls} calls exists'}"
