"""The base class of metrics that ask one question about each final answer."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from proctor.common.prompts import read_prompt
from proctor.judges.base import AnswerForm, Question
from proctor.metrics.base import CaseView
from proctor.metrics.judged.base import Asked, JudgedMetric
from proctor.metrics.judged.passages import answer_text, earlier_turns, final_answer, user_message
from proctor.metrics.judged.votes import case_score
from proctor.schema.format.criterion import BaseCriterion, LlmAsAJudgeCriterion
from proctor.schema.results.score import MetricScore, Score

__all__ = ["AnswerMetric"]

NO_TEXT = "the agent gave no answer text"


class AnswerMetric(JudgedMetric[LlmAsAJudgeCriterion]):
    """Judges each final answer with the user's message and the turns before; for a case, the mean over its turns."""

    form: ClassVar[AnswerForm[Any]]

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        super().__init__(criterion)
        self._prompt = read_prompt("proctor.metrics.judged.prompts", f"{self.facts.name}.md")

    async def score(self, case: CaseView) -> MetricScore:
        """Ask about each final answer; a turn without answer text is not applicable."""
        with_steps = self._criterion.include_intermediate_responses_in_final
        texts = [answer_text(turn, thoughts=self._adk, with_steps=with_steps) for turn in case.actual]
        about = [index for index, text in enumerate(texts) if text.strip()]
        questions = [self._question(case, index, texts[index]) for index in about]
        asked = await self._ask(questions, self._is_final)
        scores = [Score(reason=NO_TEXT, not_applicable=True) for _ in texts]
        for index, each in zip(about, asked, strict=True):
            scores[index] = self._score(each)
        return case_score(scores, [each.failure for each in asked])

    def _question(self, case: CaseView, index: int, text: str) -> Question[Any]:
        turn = case.actual[index]
        before = earlier_turns(case.actual[:index], with_steps=False)
        passages = [*before, user_message(turn), final_answer(text)]
        return Question(
            metric=self.facts.name, prompt=self._prompt, passages=passages, form=self.form, turn=index
        )

    @staticmethod
    @abstractmethod
    def _is_final(votes: Sequence[Any], left: int) -> bool:
        """Return whether `left` more votes cannot change the outcome."""

    @abstractmethod
    def _score(self, asked: Asked[Any]) -> Score:
        """Return the score of one answer."""
