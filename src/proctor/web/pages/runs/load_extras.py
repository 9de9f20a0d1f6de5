"""What it takes a look at all evidence to know of each case of a run: its tags, and what it cost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from proctor.engine.usage.run_costs import cost_of_case
from proctor.web.pages.runs.case_table import CaseExtras

if TYPE_CHECKING:
    from proctor.stores.base import Store


def case_extras(store: Store, run_id: str, judging: int) -> CaseExtras:
    """Return tags and costs of all cases of a run, each in the order of positions."""
    run = store.load(run_id, judging)
    costs = bool(run.spent)
    found = CaseExtras(tags={}, costs=[])
    if costs:
        found.costs = [cost_of_case(case) for case in run.cases]
    for position in range(len(run.cases)):
        for tag in tags_of(store.case(run_id, position)):
            found.tags.setdefault(tag, []).append(position)
    if not any(cost is not None for cost in found.costs):
        found.costs = []
    return found


def tags_of(document: bytes | None) -> list[str]:
    """Return the tags of a case, by its JSON; none of one that was not run."""
    if document is None or b'"tags"' not in document:
        return []
    case: dict[str, Any] = json.loads(document)
    tags = case.get("tags") or []
    return [tags] if isinstance(tags, str) else [str(tag) for tag in tags]
