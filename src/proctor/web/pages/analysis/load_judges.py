"""Which judges gave verdicts, over all runs, and what is known of them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from proctor.schema.analysis.calibration import Calibration
from proctor.schema.results.judged_by import JudgedBy
from proctor.schema.results.manifest import RunRecord
from proctor.stores.base import Store
from proctor.web.pages.analysis.judges import JudgeUse, KnownJudgesPage, known_judges_page

LIMIT = 500
"""Runs that are looked at, the newest."""


def known_judges(store: Store, *, limit: int = LIMIT) -> KnownJudgesPage:
    """Return the judges of the newest runs, the one used last first; then those that only a calibration names."""
    runs = list(islice(store.runs(), limit))
    uses = _uses(runs)
    calibrations = store.calibrations()
    for use in uses.values():
        use.labels = _labels(store, use)
    return known_judges_page([*uses.values(), *_unused(uses, calibrations)], calibrations, runs=len(runs))


def _uses(runs: Iterable[RunRecord]) -> dict[JudgedBy, JudgeUse]:
    uses: dict[JudgedBy, JudgeUse] = {}
    for run in runs:
        for by in run.summary.judged_by:
            use = uses.setdefault(by, JudgeUse(by, last=run))
            use.runs += 1
    return uses


def _labels(store: Store, use: JudgeUse) -> int:
    if use.last is None:
        return 0
    return sum(label.metric in {"", use.by.metric} for label in store.labels(use.last.run_id))


def _unused(uses: dict[JudgedBy, JudgeUse], calibrations: Iterable[Calibration]) -> list[JudgeUse]:
    named = [JudgedBy(one.metric, one.model, one.prompt) for one in calibrations]
    return [JudgeUse(by) for by in dict.fromkeys(named) if by not in uses]
