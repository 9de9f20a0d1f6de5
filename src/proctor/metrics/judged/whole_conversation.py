"""The base class of metrics that judge a whole conversation, point by point, at its last turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from proctor.common.prompts import read_prompt
from proctor.judges.base import Passage, Question
from proctor.metrics.base import CaseView
from proctor.metrics.judged.base import Asked, JudgedMetric
from proctor.metrics.judged.checklist import (
    Checked,
    Tally,
    agreement_of,
    checklist_form,
    checklist_is_final,
    tally_items,
)
from proctor.metrics.judged.passages import agents_of, turns_of
from proctor.metrics.judged.votes import case_score
from proctor.schema.format.criterion import BaseCriterion, LlmAsAJudgeCriterion
from proctor.schema.results.score import MetricScore, Score

__all__ = ["ConversationMetric", "points_data"]

AT_THE_END = "the conversation is judged as a whole, at its last turn"
NO_TURNS = "the conversation has no turns"


class ConversationMetric(JudgedMetric[LlmAsAJudgeCriterion]):
    """The share of points that hold for the whole conversation; each is decided by the majority of the votes."""

    points: ClassVar[Sequence[str]]
    """The names of the points in the prompt, in its order."""

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        super().__init__(criterion)
        self._prompt = read_prompt("proctor.metrics.judged.prompts", f"{self.facts.name}.md")

    async def score(self, case: CaseView) -> MetricScore:
        """Ask once about the whole conversation."""
        if not case.actual:
            return MetricScore(reason=NO_TURNS, not_applicable=True)
        [asked] = await self._ask([self._question(case)], checklist_is_final)
        return self._case_score(case, asked)

    def _question(self, case: CaseView) -> Question[Checked]:
        return Question(
            metric=self.facts.name,
            prompt=self._prompt,
            passages=[*agents_of(case.actual), *_plan(case), *turns_of(case.actual)],
            form=checklist_form("points", len(self.points), "point"),
            turn=len(case.actual) - 1,
        )

    def _case_score(self, case: CaseView, asked: Asked[Checked]) -> MetricScore:
        """Return the score of the case, which is that of its last turn."""
        tallies = tally_items(asked.votes, len(self.points))
        data = points_data(self.points, tallies)
        missed = [each for each in data if each["score"] == 0]
        reasons = "; ".join(f"{each['rubric_id']}: {each['rationale']}" for each in missed)
        last = asked.score(
            (len(data) - len(missed)) / len(data),
            reasons or f"all {len(data)} points hold",
            agreement_of(tallies),
            rubrics=data,
        )
        earlier = [Score(reason=AT_THE_END, not_applicable=True) for _ in case.actual[:-1]]
        result = case_score([*earlier, last], [asked.failure])
        result.details = {"overall_rubrics": data}
        return result


def _plan(case: CaseView) -> list[Passage]:
    """Return the goal of a simulated user; in a recorded conversation it is only known from the messages."""
    return [Passage("plan of the user", case.scenario.conversation_plan)] if case.scenario else []


def points_data(points: Sequence[str], tallies: Sequence[Tally]) -> list[dict[str, Any]]:
    """Return the verdict on each point of a prompt, in the form of rubrics."""
    return [
        {
            "rubric_id": name,
            "text": name.replace("_", " "),
            "score": None if tally.met is None else float(tally.met),
            "rationale": tally.rationale,
            "agreement": tally.agreement,
        }
        for name, tally in zip(points, tallies, strict=True)
    ]
