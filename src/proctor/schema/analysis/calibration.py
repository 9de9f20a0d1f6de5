"""Judge calibration: human labels, and the agreement of one metric, prompt and model with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field

from pydantic import Field

from proctor.common.safe_text import count_text
from proctor.schema.format.wire_model import WireModel
from proctor.schema.results.model_usage import Spent
from proctor.schema.results.score import JudgedBy, Outcome
from proctor.stats.agreement import (
    Confusion,
    CorrectedRate,
    Estimate,
    accuracy,
    cohen_kappa,
    true_fail_rate,
    true_pass_rate,
)

Key = tuple[str, str, int, int, str]
"""An item with a verdict in a run: set, case, trial and turn (from 0; `WHOLE`: the trial), rubric."""
WHOLE = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanLabel:
    """A person's verdict on one trial, on one of its turns, or on one rubric in it."""

    eval_id: str
    passes: bool
    eval_set_id: str = ""
    """Empty: the only set of the run that has a case with this id."""
    trial: int | None = None
    """From 0; `None`: the only trial."""
    turn: int | None = None
    """From 0; `None`: the trial as a whole."""
    rubric_id: str = ""
    metric: str = ""
    """Empty: any metric."""
    note: str = ""
    """The person's reason."""
    labeller: str = ""
    """The name of the person; empty: a person without a name."""
    place: str = ""
    """`file:line:column`, if the label is from a file."""

    @property
    def unit(self) -> str:
        """The kind of the labelled item: `trial`, `turn` or `rubric`."""
        return "rubric" if self.rubric_id else "trial" if self.turn is None else "turn"


@dataclass(frozen=True, slots=True)
class Labelled:
    """A label with the item that it refers to."""

    key: Key
    passes: bool
    metric: str = ""
    note: str = ""
    where: str = ""
    """The source of the label: `file:line:column`, or `store`."""
    labeller: str = ""
    """The name of the person; empty: a person without a name."""
    labelled_at: float = 0.0
    """Unix seconds; 0 if it is not stored."""

    @property
    def unit(self) -> str:
        """The kind of the labelled item: `trial`, `turn` or `rubric`."""
        return "rubric" if self.key[4] else "trial" if self.key[3] == WHOLE else "turn"

    @property
    def title(self) -> str:
        """The item as text: `rome, trial 2, turn 1, rubric polite`."""
        _, eval_id, trial, turn, rubric = self.key
        parts = [eval_id, f"trial {trial + 1}" if trial else "", f"turn {turn + 1}" if turn != WHOLE else ""]
        return ", ".join(filter(None, [*parts, f"rubric {rubric}" if rubric else ""]))

    @property
    def told(self) -> str:
        """Earlier name of `title`."""
        return self.title


class Figure(WireModel):
    """An estimate with its confidence interval; without a value it is undefined, and has no interval."""

    value: float | None = None
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, estimate: Estimate) -> Figure:
        """Convert an estimate."""
        return cls() if estimate.value is None else cls(**asdict(estimate))

    def __str__(self) -> str:
        if self.value is None or self.low is None or self.high is None:
            return "unknown"
        return str(Estimate(self.value, self.low, self.high))


class Agreement(WireModel):
    """The confusion matrix of judge verdicts against human labels, and the figures computed from it."""

    both_pass: int = 0
    judge_fails: int = 0
    """False fails: human label pass, judge verdict fail."""
    judge_passes: int = 0
    """False passes: human label fail, judge verdict pass."""
    both_fail: int = 0
    accuracy: Figure = Field(default_factory=Figure)
    tpr: Figure = Field(default_factory=Figure)
    """The true positive rate: the share of human passes that the judge passes."""
    tnr: Figure = Field(default_factory=Figure)
    """The true negative rate: the share of human fails that the judge fails."""
    kappa: Figure = Field(default_factory=Figure)

    @classmethod
    def of(cls, pairs: Iterable[tuple[bool, bool]], *, confidence: float = 0.95) -> Agreement:
        """Compute the figures from pairs of (human label, judge verdict)."""
        confusion = Confusion.of(pairs)
        measures = {"accuracy": accuracy, "tpr": true_pass_rate, "tnr": true_fail_rate, "kappa": cohen_kappa}
        figures = {
            name: Figure.of(measure(confusion, confidence=confidence)) for name, measure in measures.items()
        }
        return cls(
            both_pass=confusion.both_pass,
            judge_fails=confusion.judge_fails,
            judge_passes=confusion.judge_passes,
            both_fail=confusion.both_fail,
            **figures,
        )

    @property
    def confusion(self) -> Confusion:
        """The four counts as a confusion matrix."""
        return Confusion(self.both_pass, self.judge_fails, self.judge_passes, self.both_fail)

    @property
    def labels(self) -> int:
        """The number of labels."""
        return self.confusion.total


class Calibration(WireModel):
    """The calibration of a judge, with the metric, prompt and model for which it is valid."""

    metric: str
    model: str
    prompt: str
    threshold: float | None = None
    """The score from which a trial or turn counted as passed; irrelevant for labelled rubrics."""
    unit: str = "trial"
    """The kind of the labelled items: `trial`, `turn` or `rubric`."""
    created_at: float = 0.0
    """Unix seconds."""
    run_id: str = ""
    confidence: float = 0.95
    held_out: float = 1.0
    """The share of cases whose labels the figures are computed from."""
    agreement: Agreement = Field(default_factory=Agreement)

    @property
    def badge(self) -> str:
        """A summary in one line: `calibrated: kappa 0.81 (95 % CI: 0.70 to 0.90), 120 labels`."""
        count = self.agreement.labels
        kappa = self.agreement.kappa
        text = "unknown"
        if kappa.value is not None:
            text = f"{kappa.value:.2f} (95 % CI: {kappa.low:.2f} to {kappa.high:.2f})"
        return f"calibrated: kappa {text}, {count_text(count, 'label')}"

    def changed(self, by: JudgedBy, threshold: float | None) -> list[str]:
        """Return the properties that have changed and make this calibration invalid; empty if it is valid."""
        changes = []
        if by.model != self.model:
            changes.append(f"the model is {by.model}, it was {self.model}")
        if by.prompt != self.prompt:
            changes.append("the prompt is another one")
        if self.unit != "rubric" and threshold != self.threshold:
            changes.append(f"the threshold is {_number(threshold)}, it was {_number(self.threshold)}")
        return changes


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:g}"


VOID = "calibration void"


def badge_of(known: list[Calibration], by: JudgedBy, threshold: float | None) -> str:
    """Return the summary of a metric's judge calibration: the badge, the reason why it is invalid, or an empty text.

    `known`: all calibrations of the metric, oldest first; the newest valid one counts.
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
    """Return the calibration summary of each metric; with several judges or thresholds, invalid calibrations come first."""
    badges: dict[str, str] = {}
    for by in judged_by:
        for threshold in sorted(thresholds.get(by.metric, {None}), key=lambda one: one or 0.0):
            badge = badge_of(known, by, threshold)
            if badge and (by.metric not in badges or badge.startswith(VOID)):
                badges[by.metric] = badge
    return badges


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An item on which the judge and the human label disagree."""

    label: Labelled
    judge_passes: bool
    reason: str
    """The judge's reason."""
    asked: str
    """The user's message."""
    answered: str
    """The agent's answer."""
    held_out: bool


@dataclass(frozen=True, slots=True)
class LabellerPair:
    """The agreement of two people on the items that both labelled."""

    first: str
    second: str
    """Their names; one may be empty."""
    confusion: Confusion
    """The labels of the first person against those of the second, who takes the place of the judge."""
    kappa: Figure
    """Cohen's kappa with its confidence interval."""


@dataclass(frozen=True, slots=True)
class LabelDispute:
    """An item that people label differently."""

    labels: list[Labelled]
    """One of each person, in the order of their names."""
    counted: Labelled | None
    """The label that counts: one of the majority; `None` if there is none."""
    asked: str
    """The user's message."""
    answered: str
    """The agent's answer."""


@dataclass(slots=True)
class Rescoring:
    """The verdicts after re-scoring the run."""

    counts: dict[Outcome, int]
    """Cases by outcome."""
    spent: list[Spent]


@dataclass(slots=True, kw_only=True)
class CalibrationReport:
    """The calibration of a judge by the human labels of one run."""

    calibration: Calibration
    """The figures over the held-out labels; saved in the store."""
    rest: Agreement | None = None
    """The same figures over the other labels, which may have been used to tune the judge; `None` if there are none."""
    pass_rate: CorrectedRate
    """The judge's pass rate in the run, and the corrected estimate of the share that humans would pass."""
    verdicts: int
    """The number of verdicts behind that pass rate."""
    without_verdict: int = 0
    """The number of items in the run without a verdict; they are excluded."""
    unjudged: list[Labelled] = field(default_factory=list)
    """Labels of items without a verdict; they are excluded."""
    unsaid: list[Labelled] = field(default_factory=list)
    """Labels of items to which the metric does not apply; they are excluded."""
    judged: Rescoring | None = None
    """The result of re-scoring, if the run was re-scored for the calibration."""
    disagreements: list[Disagreement] = field(default_factory=list)
    void: list[str] = field(default_factory=list)
    """Why an earlier calibration of the metric is invalid here; empty if there is none or one is valid."""
    labellers: list[LabellerPair] = field(default_factory=list)
    """The agreement of each two people who labelled the same items."""
    disputes: list[LabelDispute] = field(default_factory=list)
    """The items that people label differently; without a majority they are excluded."""
