"""The metric `rubric_based_tool_use_quality_v1`: the rubrics that the tool calls fulfil."""

from __future__ import annotations

from collections.abc import Iterator

from proctor.judges.base import Passage
from proctor.metrics.base import CaseView, MetricFacts
from proctor.metrics.judged.passages import agents_of, earlier_turns, step_passages, user_message
from proctor.metrics.judged.rubrics.base import RubricMetric, rubric_facts


class RubricToolUse(RubricMetric):
    """The share of rubrics that the tool calls of a turn fulfil; the final answer is not considered."""

    facts: MetricFacts = rubric_facts(
        "rubric_based_tool_use_quality_v1",
        "The share of rubrics that the tool calls fulfil, by a judge model.",
        rubric_id="asks_for_the_city",
        text="`get_weather` is called with the city that was asked about.",
    )
    rubric_type = "TOOL_USE_QUALITY"

    def _passages(self, case: CaseView, index: int) -> Iterator[Passage]:
        turn = case.actual[index]
        yield from agents_of([turn], instructions=False)
        yield from earlier_turns(case.actual[:index], with_steps=True)
        yield user_message(turn)
        yield from step_passages(turn)
