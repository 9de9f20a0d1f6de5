"""What the rubric metrics share: whose rubrics count, one question a turn, and the scores that the votes come to."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import ClassVar

from proctor.common.prompts import read_prompt
from proctor.errors import MetricError
from proctor.judges.base import Passage, Question
from proctor.metrics.base import CaseView, Survey
from proctor.metrics.criterion_check import misfit
from proctor.metrics.judged.base import Asked, JudgedMetric
from proctor.metrics.judged.checklist import Checked, agreed, checklist_form, checklist_settled, tallied
from proctor.metrics.judged.passages import numbered
from proctor.metrics.judged.rubrics.checks import RubricSurvey
from proctor.metrics.judged.rubrics.lists import Placed, for_turn, lists_of_case, placed, problems_of_list
from proctor.metrics.judged.rubrics.scores import (
    Found,
    by_id,
    details_of,
    found_for,
    pooled,
    reason_of,
    share,
)
from proctor.metrics.judged.votes import concluded
from proctor.schema.format.case import EvalCase
from proctor.schema.format.criterion import BaseCriterion, RubricsBasedCriterion
from proctor.schema.format.rubric import Rubric
from proctor.schema.format.statement import Statement
from proctor.schema.results.score import MetricScore, Score

__all__ = ["OPTIONS", "SOURCE", "RubricMetric"]

OPTIONS = {
    "rubrics": "properties that must hold, for every case: `rubric_id`, `rubric_content.text_property`; or `criterion`, "
    "with `points` as its weight; or the text alone"
}
SOURCE = "google-adk's metric of this name; prompt, answers and votes are Proctor's"
NO_TURNS = "the conversation has no turns"
NO_RUBRICS = "no rubric is about this turn"


class RubricMetric(JudgedMetric[RubricsBasedCriterion]):
    """The share of rubrics that hold, by points. A turn's score is about its own list; a case's about all of them."""

    kind = RubricsBasedCriterion
    rubric_type: ClassVar[str]
    """The `type` of those rubrics of cases and turns that are for this metric."""

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        super().__init__(criterion)
        self._common = placed(self._criterion.rubrics, "rubrics")
        self._prompt = read_prompt("proctor.metrics.judged.prompts", f"{self.facts.name}.md")
        if problems := [*problems_of_list(self._common)]:
            raise misfit(self.facts.name, problems)
        self.facts = replace(self.facts, statement=self._statement)

    # --- before anything runs ---

    def check(self, case: EvalCase) -> list[str]:
        """What is wrong with the rubrics that a case is judged by."""
        lists = self._lists(case)
        problems = dict.fromkeys(problem for each in lists for problem in problems_of_list(each))
        return [*problems] or ([] if any(lists) else [self._missing(case)])

    def survey(self) -> Survey:
        """Look for thresholds that were rounded, and for rubrics that nothing reads."""
        return RubricSurvey(self._criterion.threshold, self.rubric_type, self._lists)

    def _statement(self, case: EvalCase) -> Statement:
        """Find a rubric that this metric reads."""
        return Statement.POSITIVE if any(self._lists(case)) else Statement.NONE

    def _lists(self, case: EvalCase) -> list[list[Placed]]:
        in_criterion = [Placed(each.rubric, f"criterion.{each.where}") for each in self._common]
        return [*lists_of_case(case, in_criterion, self.rubric_type)]

    def _missing(self, case: EvalCase) -> str:
        turns = case.conversation or case.opening or ()
        others = [*(case.rubrics or ()), *(rubric for turn in turns for rubric in turn.rubrics or ())]
        kinds = ", ".join(sorted({each.type or "none" for each in others}))
        count = f"there are {len(others)}" if len(others) > 1 else "there is one"
        but = f"; {count}, of type {kinds}" if others else ""
        return (
            f"{self.facts.name} has no rubrics to judge it by: state some in the criterion, or in the case or its turns "
            f'with "type": "{self.rubric_type}"{but}'
        )

    # --- scoring ---

    async def score(self, case: CaseView) -> MetricScore:
        """Ask about each turn that has rubrics; a turn without any is not applicable."""
        if not case.actual:
            return MetricScore(reason=NO_TURNS, not_applicable=True)
        lists = [self._of_turn(case, index) for index in range(len(case.actual))]
        if not any(lists):
            raise MetricError(f"there are no rubrics of type {self.rubric_type} for any turn")
        about = [index for index, rubrics in enumerate(lists) if rubrics]
        asked = await self._ask(
            [self._question(case, index, lists[index]) for index in about], checklist_settled
        )
        by_turn = dict(zip(about, asked, strict=True))
        found = {index: _found(lists[index], each) for index, each in by_turn.items()}
        scores = [
            _scored(by_turn[index], found[index])
            if index in by_turn
            else Score(reason=NO_RUBRICS, not_applicable=True)
            for index in range(len(lists))
        ]
        score = concluded(scores, [each.failure for each in asked], value=pooled(found.values()))
        score.details = {"overall_rubrics": by_id(found.values())}
        return score

    @abstractmethod
    def _passages(self, case: CaseView, index: int) -> Iterable[Passage]:
        """What the judge looks at, but for the rubrics."""

    def _of_turn(self, case: CaseView, index: int) -> list[Placed]:
        """The list of a turn: those of the criterion, the case, and the turn as recorded and as made."""
        own: dict[tuple[str, str | None], Rubric] = {}
        for turns in (case.expected or case.opening, case.actual):
            for rubric in (turns[index].rubrics or ()) if index < len(turns) else ():
                own.setdefault((rubric.rubric_id, rubric.rubric_content.text_property), rubric)
        where = "opening" if index < len(case.opening) else "conversation"
        of_turn = placed(own.values(), f"{where}[{index}].rubrics")
        rubrics = for_turn(self._common, placed(case.rubrics, "case.rubrics"), of_turn, self.rubric_type)
        if problems := [*problems_of_list(rubrics)]:
            raise MetricError("; ".join(problems))
        return rubrics

    def _question(self, case: CaseView, index: int, rubrics: Sequence[Placed]) -> Question[Checked]:
        return Question(
            metric=self.facts.name,
            prompt=self._prompt,
            passages=[*self._passages(case, index), *numbered("rubric", (each.text for each in rubrics))],
            form=checklist_form("rubric_verdicts", len(rubrics)),
            turn=index,
        )


def _found(rubrics: Sequence[Placed], asked: Asked[Checked]) -> list[Found]:
    return found_for(rubrics, tallied(asked.votes, len(rubrics)))


def _scored(asked: Asked[Checked], found: Sequence[Found]) -> Score:
    same = agreed([each.tally for each in found])
    return asked.score(share(found), reason_of(found), same, rubrics=details_of(found))
