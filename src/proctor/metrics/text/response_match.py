"""The metric `response_match_score`: how many words the agent's answer shares with the reference answer."""

from __future__ import annotations

from typing import ClassVar

from proctor.metrics.base import CaseView, MetricFacts, is_adk_compatible, nothing_recorded, paired
from proctor.metrics.case_statements import reference_answers
from proctor.metrics.criterion_check import check_criterion
from proctor.metrics.text.rouge import Rouge, rouge_1, tokenize, words
from proctor.metrics.text.visible_text import is_blank
from proctor.metrics.text.word_overlap import (
    IDENTICAL,
    NO_ANSWER,
    SAME_WORDS,
    Counted,
    is_identical,
    other_signs,
    tell_shared,
)
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import text_of
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.format.invocation import Invocation
from proctor.schema.results.score import Explanation, MetricScore, Score, mean_score

__all__ = ["ResponseMatch"]

NO_REFERENCE = "the case states no reference answer for this turn"
NO_WORDS = "the reference has no words that ROUGE counts, so only an identical answer can match it"
OTHER_ORDER = "all words are the same but their order differs; ROUGE-1 does not compare the order"


class ResponseMatch:
    """ROUGE-1 F-measure of the final answer against the reference, per invocation; overall the mean.

    Differences from ADK, which `compat: "adk"` reverts: thoughts are not part of an answer; a turn without reference text
    is not applicable (ADK: 0); an answer identical to its reference scores 1 even without words (an emoji; ADK: 0).
    """

    facts: ClassVar[MetricFacts] = MetricFacts(
        name="response_match_score",
        description="The overlap in words (ROUGE-1 F-measure) of the final answer with the reference answer.",
        default_threshold=0.8,
        needs=frozenset({"expected"}),
        statement=reference_answers,
        source="C.-Y. Lin, ROUGE (2004), ROUGE-1 with Porter stems, tokenized as in google-adk",
    )

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        self._adk = is_adk_compatible(check_criterion(self.facts, criterion, BaseCriterion))

    def applies(self, case: EvalCase) -> bool:
        """Return whether any turn of the case has a reference answer."""
        return self._adk or not all(is_blank(self._text(each)) for each in case.conversation or ())

    def why_not(self, case: EvalCase) -> str:
        """Return what the case lacks."""
        return "no turn of the case states a reference answer (`final_response`)"

    def score(self, case: CaseView) -> MetricScore:
        """Compare turn by turn; without recorded conversation it is not applicable (ADK: an error)."""
        if case.expected is None and not self._adk:
            return nothing_recorded(case)
        scores = [
            self._compare(self._text(expected), self._text(actual)) for actual, expected in paired(case)
        ]
        return mean_score(scores)

    def explain(self, case: CaseView, score: MetricScore, index: int) -> Explanation:
        """Return precision and recall, the missing words and the additional ones."""
        turn_score = score.per_invocation[index]
        if turn_score.not_applicable:
            return Explanation(turn_score.reason)
        reference, answer = self._text((case.expected or [])[index]), self._text(case.actual[index])
        if not self._adk and is_identical(reference, answer):
            return Explanation(IDENTICAL, _details(reference, answer, Rouge(1.0, 1.0, 1.0)))
        return _explain(reference, answer)

    def _text(self, invocation: Invocation) -> str:
        return text_of(invocation.final_response, thoughts=self._adk)

    def _compare(self, reference: str, answer: str) -> Score:
        if not self._adk:
            if is_blank(reference):
                return Score(reason=NO_REFERENCE, not_applicable=True)
            if is_identical(reference, answer):
                return Score(1.0)
        value = rouge_1(reference, answer).fmeasure
        return Score(value, warning=_explain(reference, answer).warning if value == 1.0 else "")


def _explain(reference: str, answer: str) -> Explanation:
    figures = rouge_1(reference, answer)
    expected, actual = _count_words(reference), _count_words(answer)
    reason, differing = tell_shared(expected, actual)
    details = {**_details(reference, answer, figures), **differing}
    if is_blank(answer):
        return Explanation(NO_ANSWER, details)
    if not expected.tokens:
        return Explanation(NO_WORDS, details, NO_WORDS)
    if reason != SAME_WORDS:
        return Explanation(reason, details)
    warning = OTHER_ORDER if expected.tokens != actual.tokens else other_signs(reference, answer)
    return Explanation(reason, details, warning)


def _count_words(text: str) -> Counted:
    return Counted(words(text), tokenize(text))


def _details(reference: str, answer: str, figures: Rouge) -> dict[str, object]:
    return {"text": {"expected": reference, "actual": answer}, **figures._asdict()}
