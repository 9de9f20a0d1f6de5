"""Turns in which the agent did nothing at all: an error of the agent, unless the case states silence."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.common.safe_text import is_visible
from proctor.engine.planning.plan import SetPlan
from proctor.metrics.base import is_adk_compatible
from proctor.schema.evidence.event import Event, WaitingEvent, recipe_of
from proctor.schema.evidence.trial import Failure, FailureKind, Trial
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import Content
from proctor.schema.format.invocation import Invocation, states_silence

__all__ = ["find_silence"]

SILENT = (
    "the agent gave no text, no tool call and no other event; where the case expects silence, state it: "
    '`final_response` with one empty text (YAML: `expect: ""`)'
)


def find_silence(trial: Trial, case: EvalCase, plan: SetPlan) -> Failure | None:
    """Return the failure of the first turn in which the agent did nothing and that the case does not expect to be silent.

    An agent that does nothing satisfies every prohibition. Where nothing is decided, or a gating criterion has `compat`,
    a silent turn is scored like any other.
    """
    for index, turn in enumerate(trial.turns):
        if not any(map(_shows_something, turn.events)) and not _expects_silence(_expected(case), index):
            silence = Failure(where="agent", kind=FailureKind.EMPTY, message=SILENT, turn=index)
            return silence if _decides_by_proctor(plan) else None
    return None


def _decides_by_proctor(plan: SetPlan) -> bool:
    gating = [metric.name for metric in plan.metrics if metric.gate]
    criteria = (plan.config.criterion_for(name) for name in gating)
    return bool(gating) and not any(each is not None and is_adk_compatible(each) for each in criteria)


def _expected(case: EvalCase) -> Sequence[Invocation]:
    return case.conversation or case.opening or ()


def _expects_silence(expected: Sequence[Invocation], index: int) -> bool:
    return index < len(expected) and states_silence(expected[index])


def _shows_something(event: Event) -> bool:
    """Whether an event has more than the usage of a model that answered nothing."""
    if type(event) is WaitingEvent and (recipe := recipe_of(event)) is not None:
        return recipe[0] != "text" or is_visible(recipe[3])
    if event.author.lower() == "user" and not _has_content(event.content):
        return False
    actions = (event.model_extra or {}).get("actions")
    return bool(
        event.state_delta
        or event.error_code
        or event.long_running_tool_ids
        or event.skip_summarization
        or event.grounding_metadata
        or _has_content(event.content)
        or (isinstance(actions, dict) and any(actions.values()))
    )


def _has_content(content: Content | None) -> bool:
    """Whether a content has a visible text, or a part of another kind."""
    return any(
        is_visible(part.text) if part.text is not None else bool(part.model_dump(exclude_none=True))
        for part in (content.parts if content is not None else None) or ()
    )
