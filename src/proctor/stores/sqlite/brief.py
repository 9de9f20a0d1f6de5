"""Verdicts in short, for looking back over many runs: of hundreds of thousands only what that takes is read."""

from __future__ import annotations

from typing import Any

from proctor.schema.results.run_result import Outcome
from proctor.stores.base import BriefVerdict
from proctor.stores.sqlite.encoding import OUTCOMES, loaded

_ALONE: dict[str, tuple[Outcome, ...]] = {outcome.value: (outcome,) for outcome in Outcome}
"""The trials of a case that has one."""
_NO_METRICS: dict[str, dict[str, Any]] = {}


def brief_verdict(texts: tuple[str, str, str, str], verdict: tuple[str, str] | None) -> BriefVerdict:
    """Return what `verdict_row` wrote of a case (its set, id, content hash and place); `None`: it was not decided."""
    if verdict is None:
        return BriefVerdict(*texts, Outcome.NOT_RUN, (), "", _NO_METRICS)
    row = loaded(verdict[1])
    trials = row["trials"]
    if len(trials) == 1:
        ended = _ALONE[trials[0]["outcome"]]
    else:
        ended = tuple([OUTCOMES[trial["outcome"]] for trial in trials])
    reason = row.get("reason") or row.get("missed", "")
    return BriefVerdict(*texts, OUTCOMES[verdict[0]], ended, reason, row["metrics"])
