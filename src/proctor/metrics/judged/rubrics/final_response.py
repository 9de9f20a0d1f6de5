"""The metric `rubric_based_final_response_quality_v1`: the rubrics that the final answers fulfil."""

from __future__ import annotations

from collections.abc import Iterator

from proctor.judges.base import Passage
from proctor.metrics.base import CaseView, MetricFacts
from proctor.metrics.judged.passages import (
    agents_of,
    answer_text,
    earlier_turns,
    final_answer,
    step_passages,
    user_message,
)
from proctor.metrics.judged.rubrics.base import RubricMetric, rubric_facts


class RubricFinalResponse(RubricMetric):
    """The share of rubrics that the final answer of a turn fulfils."""

    facts: MetricFacts = rubric_facts(
        "rubric_based_final_response_quality_v1",
        "The share of rubrics that the final answers fulfil, by a judge model.",
        rubric_id="names_the_city",
        text="The answer names the city that was asked about.",
    )
    rubric_type = "FINAL_RESPONSE_QUALITY"

    def _passages(self, case: CaseView, index: int) -> Iterator[Passage]:
        turn = case.actual[index]
        yield from agents_of([turn])
        yield from earlier_turns(case.actual[:index], with_steps=False)
        yield user_message(turn)
        yield from step_passages(turn)
        yield final_answer(
            answer_text(
                turn, thoughts=self._adk, with_steps=self._criterion.include_intermediate_responses_in_final
            )
        )
