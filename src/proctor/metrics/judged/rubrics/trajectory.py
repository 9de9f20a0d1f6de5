"""The metric `rubric_based_multi_turn_trajectory_quality_v1`: the rubrics that the whole conversation fulfils."""

from __future__ import annotations

from collections.abc import Iterator

from proctor.judges.base import Passage
from proctor.metrics.base import CaseView, MetricFacts
from proctor.metrics.judged.passages import agents_of, turns_of
from proctor.metrics.judged.rubrics.base import LocatedRubric, RubricMetric, rubric_facts
from proctor.schema.format.case import EvalCase


class RubricTrajectory(RubricMetric):
    """The share of rubrics that a conversation fulfils, judged once, at its last turn.

    The rubrics are those of the last turn. The judge sees calls from either form of recorded data (google-adk leaves those of
    the older form out).
    """

    facts: MetricFacts = rubric_facts(
        "rubric_based_multi_turn_trajectory_quality_v1",
        "The share of rubrics that the whole conversation fulfils, by a judge model.",
        rubric_id="looks_before_it_speaks",
        text="The agent looks the weather up before it answers.",
    )
    rubric_type = "TRAJECTORY_QUALITY"

    def _lists(self, case: EvalCase) -> list[list[LocatedRubric]]:
        return super()._lists(case)[-1:]

    def _rubrics_of_turn(self, case: CaseView, index: int) -> list[LocatedRubric]:
        return super()._rubrics_of_turn(case, index) if index == len(case.actual) - 1 else []

    def _passages(self, case: CaseView, index: int) -> Iterator[Passage]:
        yield from agents_of(case.actual)
        yield from turns_of(case.actual)
