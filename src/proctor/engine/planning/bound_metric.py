"""A metric that is bound to its criterion: what every trial of a run asks of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

from proctor.engine.scoring.score_range import within_range
from proctor.engine.scoring.turn_aggregation import EVERY_INVOCATION, MEAN, aggregating
from proctor.metrics.base import RECORDED, SCENARIO, CaseView, Metric, MetricFacts
from proctor.schema.results.score import MetricScore

FINAL_STATE = "final_session_state"


@dataclass(slots=True)
class BoundMetric:
    """A metric built from its criterion, and how it takes part in the verdict."""

    metric: Metric
    threshold: float | None
    gate: bool
    """Whether it decides; False for informational metrics and for `gate: false`."""
    applies_to: str | None = None
    """`recorded` or `scenario`, where the criterion limits it to cases of that kind."""
    aggregate: str = MEAN
    """What makes the score of a case of those of its turns: see `aggregating`."""
    called: str = ""
    """Its name in the config, where that is another than its own."""
    parts: list[BoundMetric] = field(default_factory=list)
    """Those whose scores it needs; they are asked before it."""
    judge: str = ""
    """The model that it asks, as users name it; empty for one that asks none."""
    judge_code: str = ""
    """Hash of the code of that model, as `MetricManifest.judge_code` has it."""
    as_in_adk: bool = False
    """Whether its criterion asks for another implementation's verdict (`compat`, `reading`), also on a case that asserts
    nothing."""
    facts: MetricFacts = field(init=False)
    name: str = field(init=False)
    gates: bool = field(init=False)
    """Whether it can decide at all."""
    score: Callable[[CaseView], MetricScore | Awaitable[MetricScore]] = field(init=False)
    is_quick: bool = field(init=False)
    """Whether it surely takes no time to speak of: one of ours that only computes."""
    only_counts: bool = field(init=False)
    """Whether it is one of ours that only counts: its scores decide nothing, carry no warning, and wait to be looked at."""
    covered: tuple[bool, bool] = field(init=False)
    """Whether it scores recorded cases, and scenarios, at all."""

    def __post_init__(self) -> None:
        """Keep at hand what is asked for every trial."""
        self.facts = self.metric.facts
        if self.called and self.called != self.facts.name:
            self.facts = replace(self.facts, name=self.called)
        self.name, self.gates, self.score = self.facts.name, self.facts.gates, self.metric.score
        ours = type(self.metric).__module__.startswith("proctor.metrics.")
        if not ours:  # those check what they return
            self.score = within_range(self.score, self.facts)
        if self.aggregate != MEAN and self.threshold is not None:
            self.score = aggregating(self.score, self.aggregate, self.threshold)
        if self.aggregate == EVERY_INVOCATION:
            self.facts = replace(self.facts, every_trial=True)
        self.is_quick = ours and self.facts.kind == "deterministic"
        self.only_counts = self.is_quick and not self.gates
        needs = {"expected": RECORDED, "scenario": SCENARIO}
        limits = {kind for need, kind in needs.items() if need in self.facts.needs} | {self.applies_to} - {
            None
        }
        self.covered = limits <= {RECORDED}, limits <= {SCENARIO}

    def is_missed_by(self, score: MetricScore) -> bool:
        """Tell whether a trial's score is below the threshold."""
        return score.value is not None and self.threshold is not None and score.value < self.threshold

    def covers(self, *, scenario: bool) -> bool:
        """Tell whether the metric scores cases of this kind at all."""
        return self.covered[scenario]
