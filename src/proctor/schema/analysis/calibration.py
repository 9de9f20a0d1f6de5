"""How well a judge agreed with people, kept by what it holds for: one metric, one prompt, one model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pydantic import Field

from proctor.schema.analysis.label import Labelled
from proctor.schema.format.wire_model import WireModel
from proctor.schema.results.judged_by import JudgedBy
from proctor.schema.results.model_usage import Spent
from proctor.schema.results.outcome import Outcome
from proctor.stats.agreement import Confusion, CorrectedRate, Estimate


class Figure(WireModel):
    """A figure with its interval; without a value it is not defined."""

    value: float | None = None
    low: float = 0.0
    high: float = 1.0

    @classmethod
    def of(cls, estimate: Estimate) -> Figure:
        """Take an estimate."""
        return cls(value=estimate.value, low=estimate.low, high=estimate.high)

    def __str__(self) -> str:
        return str(Estimate(self.value, self.low, self.high))


class Agreement(WireModel):
    """How often a judge and people said what, and what that comes to."""

    both_pass: int = 0
    judge_fails: int = 0
    """People pass it, the judge does not."""
    judge_passes: int = 0
    """People fail it, the judge does not."""
    both_fail: int = 0
    accuracy: Figure = Field(default_factory=Figure)
    tpr: Figure = Field(default_factory=Figure)
    """Of what people pass, the share that the judge passes."""
    tnr: Figure = Field(default_factory=Figure)
    """Of what people fail, the share that the judge fails."""
    kappa: Figure = Field(default_factory=Figure)

    @property
    def confusion(self) -> Confusion:
        """The four counts."""
        return Confusion(self.both_pass, self.judge_fails, self.judge_passes, self.both_fail)

    @property
    def labels(self) -> int:
        """How many labels it rests on."""
        return self.confusion.total


class Calibration(WireModel):
    """What a judge was found to be worth, and for what that holds."""

    metric: str
    model: str
    prompt: str
    threshold: float | None = None
    """At which scores were told apart; of no account where rubrics were labelled."""
    unit: str = "trial"
    """What was labelled: `trial`, `turn` or `rubric`."""
    created_at: float = 0.0
    """Unix seconds."""
    run_id: str = ""
    confidence: float = 0.95
    held_out: float = 1.0
    """The share of the cases whose labels the figures rest on."""
    agreement: Agreement = Field(default_factory=Agreement)

    @property
    def badge(self) -> str:
        """In one line: `calibrated: kappa 0.81 [0.70, 0.90], 120 labels`."""
        count = self.agreement.labels
        return f"calibrated: kappa {self.agreement.kappa}, {count} label{'' if count == 1 else 's'}"

    def changed(self, by: JudgedBy, threshold: float | None) -> list[str]:
        """Return what is another one now, so that this says nothing of it; empty where it holds."""
        found = []
        if by.model != self.model:
            found.append(f"the model is {by.model}, it was {self.model}")
        if by.prompt != self.prompt:
            found.append("the prompt is another one")
        if self.unit != "rubric" and threshold != self.threshold:
            found.append(f"the threshold is {_number(threshold)}, it was {_number(self.threshold)}")
        return found


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:g}"


VOID = "calibration void"


def badge_of(known: list[Calibration], by: JudgedBy, threshold: float | None) -> str:
    """Return what is known of who gave a metric's verdicts: the badge, why it is void, or nothing.

    `known`: all calibrations of the metric, oldest first; the newest that holds counts.
    """
    of_metric = [one for one in known if one.metric == by.metric]
    for one in reversed(of_metric):
        if not one.changed(by, threshold):
            return one.badge
    if not of_metric:
        return ""
    return f"{VOID}: {', '.join(of_metric[-1].changed(by, threshold))}"


def badges_of(
    known: list[Calibration], judged_by: Iterable[JudgedBy], thresholds: Mapping[str, set[float | None]]
) -> dict[str, str]:
    """Return what is known of each metric's judge: of several judges or thresholds, first what does not hold."""
    found: dict[str, str] = {}
    for by in judged_by:
        for threshold in sorted(thresholds.get(by.metric, {None}), key=lambda one: one or 0.0):
            badge = badge_of(known, by, threshold)
            if badge and (by.metric not in found or badge.startswith(VOID)):
                found[by.metric] = badge
    return found


# --- what is found when a judge is held against people ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One thing of which the judge says something else than people."""

    label: Labelled
    judge_passes: bool
    reason: str
    """Why, as the judge says it."""
    asked: str
    """What the user said."""
    answered: str
    """What the agent said."""
    held_out: bool


@dataclass(slots=True)
class JudgedAgain:
    """What came of judging a run again: its verdicts now."""

    counts: dict[Outcome, int]
    """Cases by outcome."""
    spent: list[Spent]


@dataclass(slots=True, kw_only=True)
class CalibrationReport:
    """What a judge is worth, seen from the labels of one run."""

    calibration: Calibration
    """The figures, of the labels that were held out; kept in the store."""
    rest: Agreement | None = None
    """The same of the other labels, with which the judge may have been set up; `None` where there are none."""
    pass_rate: CorrectedRate
    """The share of the run's verdicts that pass, and what that says of the share that people would pass."""
    verdicts: int
    """How many verdicts that share is of."""
    without_verdict: int = 0
    """Things in the run of which the judge gave none; they are left out."""
    unjudged: list[Labelled] = field(default_factory=list)
    """Labels for which there is no verdict: they are left out."""
    unsaid: list[Labelled] = field(default_factory=list)
    """Labels of what the metric had nothing to do with (not applicable): they are left out."""
    judged: JudgedAgain | None = None
    """What came of it, where the run was judged again for this."""
    disagreements: list[Disagreement] = field(default_factory=list)
    void: list[str] = field(default_factory=list)
    """Why an earlier calibration of this metric does not hold here; empty where none is, or one does."""
