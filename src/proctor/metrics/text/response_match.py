"""The metric `response_match_score`: how many words the agent's answer shares with the reference answer."""

from __future__ import annotations

from proctor.metrics.base import CaseView, MetricFacts, expected_turns, no_recording_score, reference_answers
from proctor.metrics.text.answer import AnswerMetric, Expected
from proctor.metrics.text.rouge import Rouge, rouge_1, tokenize, words
from proctor.metrics.text.visible_text import is_blank, is_identical
from proctor.metrics.text.word_overlap import (
    IDENTICAL,
    NO_ANSWER,
    SAME_WORDS,
    Counted,
    explain_shared_words,
    other_signs,
)
from proctor.schema.format.case import EvalCase
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.results.score import Explanation, MetricScore, Score, mean_score

NO_WORDS = "the reference has no words that ROUGE counts, so only an identical answer can match it"
OTHER_ORDER = "all words are the same but their order differs; ROUGE-1 does not compare the order"


class ResponseMatch(AnswerMetric[BaseCriterion]):
    """ROUGE-1 F-measure of the final answer against the reference, per invocation; overall the mean.

    Differences from ADK, which `compat: "adk"` reverts: thoughts are not part of an answer; a turn without reference text
    is not applicable (ADK: 0); an answer identical to its reference scores 1 even without words (an emoji; ADK: 0).
    """

    facts = MetricFacts(
        name="response_match_score",
        description="The overlap in words (ROUGE-1 F-measure) of the final answer with the reference answer.",
        default_threshold=0.8,
        needs=frozenset({"expected"}),
        statement=reference_answers,
        source="C.-Y. Lin, ROUGE (2004), ROUGE-1 with Porter stems, tokenized as in google-adk",
    )

    kind = BaseCriterion

    def applies(self, case: EvalCase) -> bool:
        """Return whether any turn of the case has a reference answer."""
        return self.as_in_adk or super().applies(case)

    def parse_reference(self, reference: str) -> Expected:
        """Return the reference; ADK also compares with an empty one."""
        return [reference] if self.as_in_adk or not is_blank(reference) else []

    def score(self, case: CaseView) -> MetricScore:
        """Compare turn by turn; without recorded conversation it is not applicable (ADK: an error)."""
        if case.expected is None and not self.as_in_adk:
            return no_recording_score(case)
        return mean_score([self._turn(case, index) for index, _ in enumerate(expected_turns(case))])

    def compare(self, expected: Expected, answer: str) -> Score:
        """Return the F-measure; a warning if it is 1 and the texts still differ."""
        (reference,) = expected
        if not self.as_in_adk and is_identical(reference, answer):
            return Score(1.0)
        value = rouge_1(reference, answer).fmeasure
        return Score(value, warning=_explain(reference, answer).warning if value == 1.0 else "")

    def explain_answer(self, expected: Expected, answer: str) -> Explanation:
        """Return precision and recall, the missing words and the additional ones."""
        (reference,) = expected
        if not self.as_in_adk and is_identical(reference, answer):
            return Explanation(IDENTICAL, _details(reference, answer, Rouge(1.0, 1.0, 1.0)))
        return _explain(reference, answer)


def _explain(reference: str, answer: str) -> Explanation:
    figures = rouge_1(reference, answer)
    expected, actual = _count_words(reference), _count_words(answer)
    reason, differing = explain_shared_words(expected, actual)
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
