"""What is known of the judges that gave verdicts: which they are, and what they are worth by labels of people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from proctor.schema.analysis.calibration import Calibration, Figure
from proctor.schema.results.judged_by import JudgedBy
from proctor.schema.results.manifest import RunRecord
from proctor.schema.results.page_model import PageModel

Standing = Literal["calibrated", "chance", "void", "unknown"]


class FigurePart(PageModel):
    """A figure with its interval; null where it is not defined."""

    value: float | None
    low: float
    high: float


class CalibrationPart(PageModel):
    """How a judge was held against labels of people."""

    created_at: float
    """Unix seconds."""
    run_id: str
    unit: str
    """What was labelled: `trial`, `turn` or `rubric`."""
    confidence: float
    labels: int
    both_pass: int
    judge_fails: int
    """People pass it, the judge does not."""
    judge_passes: int
    """People fail it, the judge does not."""
    both_fail: int
    accuracy: FigurePart
    tpr: FigurePart
    """Of what people pass, the share that the judge passes."""
    tnr: FigurePart
    """Of what people fail, the share that the judge fails."""
    kappa: FigurePart


class JudgeRow(PageModel):
    """One judge: a metric, a model, and what it is told."""

    metric: str
    model: str
    prompt: str
    """The hash of what it is told."""
    standing: Standing
    """`chance`: it was held against people, and may agree with them by chance only (the interval of kappa reaches 0, or
    kappa is not defined). `void`: there is a calibration of the metric, and it is of another model or prompt."""
    void: list[str]
    """Why what is known of the metric says nothing of this judge."""
    calibration: CalibrationPart | None
    """The newest that holds; where none does, the newest of the metric."""
    runs: int
    """Runs with its verdicts, of those that were looked at."""
    last_run: str | None
    """The newest of them."""
    last_at: float | None
    """When that began, in Unix seconds."""
    last_agent: str
    labels: int
    """Labels of people in that run that count for this metric."""


class KnownJudgesPage(PageModel):
    """All judges that are known."""

    items: list[JudgeRow]
    runs: int
    """The newest runs that were looked at."""


@dataclass(slots=True)
class JudgeUse:
    """Where a judge gave verdicts."""

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
    known = [one for one in calibrations if one.metric == use.by.metric]
    found = next((one for one in reversed(known) if not _changed(one, use.by)), None)
    newest = known[-1] if known else None
    shown = found or newest
    return JudgeRow(
        metric=use.by.metric,
        model=use.by.model,
        prompt=use.by.prompt,
        standing=_standing(found, newest),
        void=_changed(newest, use.by) if newest and not found else [],
        calibration=_calibration(shown) if shown else None,
        runs=use.runs,
        last_run=use.last.run_id if use.last is not None else None,
        last_at=use.last.created_at if use.last is not None else None,
        last_agent=use.last.agent if use.last is not None else "",
        labels=use.labels,
    )


def _standing(holds: Calibration | None, newest: Calibration | None) -> Standing:
    if holds is None:
        return "void" if newest else "unknown"
    kappa = holds.agreement.kappa
    return "calibrated" if kappa.value is not None and kappa.low > 0 else "chance"


def _changed(one: Calibration, by: JudgedBy) -> list[str]:
    return one.changed(
        by, one.threshold
    )  # thresholds are those of runs, and this is of the judge in all of them


def _calibration(one: Calibration) -> CalibrationPart:
    agreement = one.agreement
    return CalibrationPart(
        created_at=one.created_at,
        run_id=one.run_id,
        unit=one.unit,
        confidence=one.confidence,
        labels=agreement.labels,
        both_pass=agreement.both_pass,
        judge_fails=agreement.judge_fails,
        judge_passes=agreement.judge_passes,
        both_fail=agreement.both_fail,
        accuracy=_figure(agreement.accuracy),
        tpr=_figure(agreement.tpr),
        tnr=_figure(agreement.tnr),
        kappa=_figure(agreement.kappa),
    )


def _figure(figure: Figure) -> FigurePart:
    return FigurePart(value=figure.value, low=figure.low, high=figure.high)
