"""The LLM judges of the stored runs, and how well they agree with the labels of people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from proctor.schema.analysis.calibration import Calibration
from proctor.schema.format.wire_model import PageModel
from proctor.schema.results.manifest import RunRecord
from proctor.schema.results.score import JudgedBy
from proctor.stores.base import Store
from proctor.web.pages.base import copy_fields

Standing = Literal["calibrated", "chance", "void", "unknown"]


class FigurePart(PageModel):
    """A figure with its confidence interval; all null if it is not defined."""

    value: float | None
    low: float | None
    high: float | None


class CalibrationPart(PageModel):
    """The calibration of a judge: its agreement with labels of people."""

    created_at: float
    """Unix seconds."""
    run_id: str
    unit: str
    """The labelled unit: `trial`, `turn` or `rubric`."""
    confidence: float
    labels: int
    both_pass: int
    judge_fails: int
    """False negatives: people pass it, the judge fails it."""
    judge_passes: int
    """False positives: people fail it, the judge passes it."""
    both_fail: int
    accuracy: FigurePart
    tpr: FigurePart
    """The true positive rate: the share of the passing labels that the judge passes, too."""
    tnr: FigurePart
    """The true negative rate: the share of the failing labels that the judge fails, too."""
    kappa: FigurePart


class JudgeRow(PageModel):
    """One judge: a metric, a model and a prompt."""

    metric: str
    model: str
    prompt: str
    """The hash of the prompt."""
    standing: Standing
    """`chance`: the agreement with people may be due to chance (the interval of kappa includes 0, or kappa is not
    defined). `void`: the metric was calibrated with another model or prompt."""
    void: list[str]
    """Why the metric's calibration does not apply to this judge."""
    calibration: CalibrationPart | None
    """The newest calibration that applies, else the newest of the metric."""
    runs: int
    """The number of examined runs with its verdicts."""
    last_run: str | None
    """The newest of them."""
    last_at: float | None
    """The start of that run, in Unix seconds."""
    last_agent: str
    labels: int
    """The number of verdicts in that run that people labelled for this metric, by one person or several."""


class KnownJudgesPage(PageModel):
    """All known judges."""

    items: list[JudgeRow]
    runs: int
    """The number of examined runs, which are the newest."""


@dataclass(slots=True)
class JudgeUse:
    """The runs in which a judge gave verdicts."""

    by: JudgedBy
    runs: int = 0
    last: RunRecord | None = None
    labels: int = 0


def known_judges_page(
    uses: Sequence[JudgeUse], calibrations: Sequence[Calibration], *, runs: int
) -> KnownJudgesPage:
    """Return the page; `calibrations` are oldest first."""
    return KnownJudgesPage(items=[_row(use, calibrations) for use in uses], runs=runs)


def _row(use: JudgeUse, calibrations: Sequence[Calibration]) -> JudgeRow:
    newest_first = [one for one in reversed(calibrations) if one.metric == use.by.metric]
    newest = next(iter(newest_first), None)
    valid = next((one for one in newest_first if not _differences(one, use.by)), None)
    run = use.last
    last = (run.run_id, run.created_at, run.agent) if run is not None else (None, None, "")
    return JudgeRow(
        metric=use.by.metric,
        model=use.by.model,
        prompt=use.by.prompt,
        standing=_standing(valid, newest),
        void=_differences(newest, use.by) if newest and not valid else [],
        calibration=calibration_part(latest) if (latest := valid or newest) is not None else None,
        runs=use.runs,
        last_run=last[0],
        last_at=last[1],
        last_agent=last[2],
        labels=use.labels,
    )


def calibration_part(one: Calibration) -> CalibrationPart:
    """Return the page's model of a calibration."""
    return copy_fields(
        CalibrationPart, one.agreement,
        created_at=one.created_at, run_id=one.run_id, unit=one.unit, confidence=one.confidence,
    )  # fmt: skip


def _standing(holds: Calibration | None, newest: Calibration | None) -> Standing:
    if holds is None:
        return "void" if newest else "unknown"
    kappa = holds.agreement.kappa
    return "calibrated" if kappa.low is not None and kappa.low > 0 else "chance"


def _differences(one: Calibration, by: JudgedBy) -> list[str]:
    return one.changed(by, one.threshold)  # thresholds belong to runs, and this row covers several


# --- read from a store --------------------------------------------------------------------------------------------------


RUN_LIMIT = 500
"""The number of runs to examine, the newest."""


def known_judges(store: Store, *, limit: int = RUN_LIMIT) -> KnownJudgesPage:
    """Return the judges of the newest runs, the last used first; then those that only a calibration names."""
    runs = list(islice(store.runs(), limit))
    uses = _uses(runs)
    calibrations = store.calibrations()
    for use in uses.values():
        use.labels = _labels(store, use)
    return known_judges_page(
        [*uses.values(), *_calibrated_only(uses, calibrations)], calibrations, runs=len(runs)
    )


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
    labels = [label for label in store.labels(use.last.run_id) if label.metric in {"", use.by.metric}]
    return len({(label.position, label.number, label.turn, label.rubric_id) for label in labels})


def _calibrated_only(uses: dict[JudgedBy, JudgeUse], calibrations: Iterable[Calibration]) -> list[JudgeUse]:
    calibrated = [JudgedBy(one.metric, one.model, one.prompt) for one in calibrations]
    return [JudgeUse(by) for by in dict.fromkeys(calibrated) if by not in uses]
