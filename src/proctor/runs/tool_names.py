"""Trajectories as bare lists of tool names, the form in which the original document of the format shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from proctor.registry import METRICS
from proctor.schema.format.config import EvalConfig
from proctor.schema.format.content import Content, FunctionCall
from proctor.schema.format.invocation import IntermediateData, Invocation

__all__ = ["by_name_only", "turns_of_names"]

OPTION = "ignore_args"


def turns_of_names(given: Any, other: Any) -> list[Invocation] | None:
    """Read one side of a comparison as tool names; `None` where it is something else.

    `["a", "b"]` is one turn, `[["a", "b"], []]` are two. An empty list is a turn without calls where the other side is a
    list of names; beside recorded turns, lists of lists, or another empty list it is no turn (`[[]]` is one without calls).
    """
    if not isinstance(given, list | tuple):
        return None
    if _are_names(given) or (not given and _are_names(other)):
        return [_turn(given)]
    if given and all(isinstance(one, list | tuple) and (not one or _are_names(one)) for one in given):
        return [_turn(one) for one in given]
    return None


def by_name_only(config: EvalConfig) -> EvalConfig:
    """Let every metric that can compare names alone do so, unless its criterion says otherwise."""
    criteria = dict(config.criteria)
    for name in criteria:
        options = METRICS.get(name).facts.options if _has_facts(name) else {}
        criterion = config.criterion_for(name)
        if OPTION in options and criterion is not None and OPTION not in criterion.model_fields_set:
            criteria[name] = criterion.model_copy(update={OPTION: True})
    return config.model_copy(update={"criteria": criteria})


def _are_names(given: Any) -> bool:
    return isinstance(given, list | tuple) and bool(given) and all(isinstance(one, str) for one in given)


def _turn(names: Sequence[str]) -> Invocation:
    calls = [FunctionCall(name=name, args={}) for name in names]
    return Invocation(user_content=Content(parts=[]), intermediate_data=IntermediateData(tool_uses=calls))


def _has_facts(name: str) -> bool:
    return name in METRICS and hasattr(METRICS.get(name), "facts")
