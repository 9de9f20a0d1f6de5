"""What must be read of a run to filter its cases: tags, tools, costs, texts of the conversations, and complete reasons."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from proctor.common.inline_code import code_parts
from proctor.common.json_values import JsonObject
from proctor.engine.usage.costs import attempts_evidence, cost_of_case
from proctor.reports.content.case_digest import deciding, reason_of
from proctor.reports.content.summary import run_cost_text
from proctor.schema.format.wire_model import PageModel
from proctor.schema.results.model_usage import CaseCost
from proctor.schema.results.run_result import CaseResult
from proctor.web.pages.runs.tool_usage import ToolFigures, ToolUsage

if TYPE_CHECKING:
    from proctor.stores.base import Store


class CaseExtras(PageModel):
    """Tags, tools and costs of the cases of a run; the page requests them after the table."""

    tags: dict[str, list[int]]
    """The positions of the cases, by tag."""
    tools: dict[str, list[int]]
    """The positions of the cases, by the tools that the agent called in any of their trials."""
    tool_figures: list[ToolFigures]
    """How often each tool was called, how long, and with which errors; the most frequent first."""
    costs: list[float | None]
    """US dollars by position; null: unknown. Empty if the run reported no usage, as the next two are."""
    cost_texts: list[str]
    """The same as text (see `CaseRow`)."""
    attempts: list[int]
    """The attempts at trials that the costs cover, by position: those that reported usage."""


class TextMatch(PageModel):
    """The cases whose conversations or reasons contain a text."""

    text: str
    positions: list[int]


class TextMatches(PageModel):
    """What a search in a run found."""

    items: list[TextMatch]


def case_extras(store: Store, run_id: str, scoring: int) -> CaseExtras:
    """Return tags, tools and costs of all cases of a run, by position; all evidence is read."""
    run, usage = store.load(run_id, scoring), ToolUsage()
    costs = list[CaseCost]()
    if run.spent:
        for position, case in enumerate(run.cases):
            evidence = attempts_evidence(case)
            costs.append(cost_of_case(case, evidence))
            for trial in evidence:
                usage.add(position, trial)
    else:  # without costs the scores need not be read
        for position, _, document in store.attempts(run_id):
            if b'"function_call"' in document:
                usage.add(position, json.loads(document))
    return CaseExtras(
        tags=_positions_by_tag(store, run_id, len(run.cases)),
        tools=usage.positions(),
        tool_figures=usage.figures(),
        costs=[one.cost for one in costs],
        cost_texts=[run_cost_text(one) for one in costs],
        attempts=[one.reported for one in costs],
    )


def _positions_by_tag(store: Store, run_id: str, cases: int) -> dict[str, list[int]]:
    tags: dict[str, list[int]] = {}
    for position, document in store.case_documents(run_id, range(cases)):
        for tag in tags_of(document):
            tags.setdefault(tag, []).append(position)
    return tags


def tags_of(document: bytes) -> list[str]:
    """Return the tags of a case, given its JSON."""
    if b'"tags"' not in document:
        return []
    case: JsonObject = json.loads(document)
    tags = case.get("tags") or []
    return [str(tag) for tag in tags] if isinstance(tags, list) else [tags] if isinstance(tags, str) else []


def find_texts(store: Store, run_id: str, texts: Sequence[str]) -> TextMatches:
    """Return for each text the cases in which the user or the agent wrote it, in any case of letters."""
    matches: dict[str, dict[int, None]] = {text: {} for text in texts}
    folded = {text: text.casefold() for text in matches}
    for position, _, evidence in store.attempts(run_id):
        messages: str | None = None
        for text, positions in matches.items():
            if position not in positions:
                messages = messages if messages is not None else messages_of(evidence)
                if folded[text] in messages:
                    positions[position] = None
    return TextMatches(items=[TextMatch(text=text, positions=[*one]) for text, one in matches.items()])


def find_reasons(store: Store, run_id: str, scoring: int, texts: Sequence[str]) -> TextMatches:
    """Return for each text the cases whose complete reason, or that of a metric they missed, contains it, in any case of letters.

    The rows of the table have only the beginning of a long reason.
    """
    matches = {text: TextMatch(text=text, positions=[]) for text in texts}
    for position, case in enumerate(store.load(run_id, scoring).cases):
        reasons = _reasons_of(case)
        for text, match in matches.items():
            if text.casefold() in reasons:
                match.positions.append(position)
    return TextMatches(items=list(matches.values()))


def _reasons_of(case: CaseResult) -> str:
    """Return the reasons of a case in small letters, as they are stored, and without the marks of code."""
    reasons = [reason_of(case) or case.missed, *(metric.reason for metric in deciding(case))]
    return "\n".join(f"{one}\n{''.join(part for part, _ in code_parts(one))}" for one in reasons).casefold()


def messages_of(evidence: bytes) -> str:
    """Return the texts of a conversation in small letters, given the JSON of a trial."""
    texts = (part.get("text") for part in _parts(json.loads(evidence)) if not part.get("thought"))
    return "\n".join(text for text in texts if isinstance(text, str)).casefold()


def _parts(trial: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for turn in trial.get("turns") or ():
        for content in (
            turn.get("user_content"),
            *(event.get("content") for event in turn.get("events") or ()),
        ):
            yield from (content or {}).get("parts") or ()
