"""Makes turns whose tools are declared, and asks structure metrics about them."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.common.registry import METRICS
from proctor.metrics.base import CaseView
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.format.invocation import Invocation
from proctor.schema.results.score import Explanation, MetricScore

Calls = Sequence[tuple[str, str, Mapping[str, Any] | None]]
"""Author, tool, arguments."""


def turn(
    answer: str | None = "Done.",
    calls: Calls | None = None,
    *,
    texts: list[tuple[str, str]] | None = None,
    tools: dict[str, list[Any]] | None = None,
) -> Invocation:
    """Return one turn: texts and calls of agents on the way, the answer, and the declared tools of each agent."""
    events = [_event(author, {"text": text}) for author, text in texts or ()]
    events += [_event(author, {"function_call": {"name": n, "args": a}}) for author, n, a in calls or ()]
    agents = {name: {"name": name, "tool_declarations": declared} for name, declared in (tools or {}).items()}
    return Invocation.model_validate(
        {
            "user_content": {"parts": [{"text": "q"}]},
            "final_response": None if answer is None else {"role": "model", "parts": [{"text": answer}]},
            "intermediate_data": {"invocation_events": events},
            "app_details": None if tools is None else {"agent_details": agents},
        }
    )


def _event(author: str, part: dict[str, Any]) -> dict[str, Any]:
    return {"author": author, "content": {"role": "model", "parts": [part]}}


def ask(
    name: str, actual: list[Invocation], expected: list[Invocation] | None = None, **options: Any
) -> tuple[MetricScore, list[Explanation]]:
    """The score of a case, and why each turn got its own."""
    metric = METRICS.get(name)(BaseCriterion(threshold=1.0, **options))
    view = CaseView(eval_id="case", actual=actual, expected=expected)
    score = metric.score(view)
    assert not asyncio.iscoroutine(score)
    return score, [metric.explain(view, score, index) for index in range(len(score.per_invocation))]
