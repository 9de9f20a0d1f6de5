"""The metric `exact_match`: whether the answer is the reference."""

from __future__ import annotations

from proctor.metrics.base import comparison_facts
from proctor.metrics.reason_text import show_pair
from proctor.metrics.text.answer import TURNS, AnswerMetric, Expected
from proctor.metrics.text.normal_form import IGNORING, LooseTextCriterion, comparable
from proctor.metrics.text.visible_text import visible_form
from proctor.schema.results.score import Explanation, Score


class ExactMatch(AnswerMetric[LooseTextCriterion]):
    """1.0 if the final answer is the expected text (or one of several), else 0.0; overall the mean.

    White space at both ends and invisible characters are ignored, letters and digits of another width or font equal the
    plain ones, and canonically equal texts are equal (é is é, with one character or two). All other differences count,
    unless an option ignores them; a text that the options would ignore completely ("!!!") is compared unchanged.
    """

    facts = comparison_facts(
        "exact_match",
        "Whether the final answer is the expected text.",
        "string equality, as the exact match of question answering",
        example={"threshold": 1.0, "ignore_case": True, "ignore_punctuation": True},
        options={
            **IGNORING,
            "expected": "the answer (or a list of answers, one of which it must be), instead of the case's",
            **TURNS,
        },
    )
    kind = LooseTextCriterion
    accepts_blank = True

    def compare(self, expected: Expected, answer: str) -> Score:
        """Return 1 for an answer that is one of the expected texts."""
        return Score(1.0 if self._matches(expected, answer, self.criterion) else 0.0)

    def explain_answer(self, expected: Expected, answer: str) -> Explanation:
        """Return where the texts begin to differ, and which options would make them equal."""
        if self._matches(expected, answer, self.criterion):
            return Explanation("the answer is the expected text")
        details = None
        if len(expected) > 1:
            reason = f"the answer is none of the {len(expected)} expected texts"
        else:
            expected_text, actual_text = show_pair(expected[0], answer)
            reason = f"the answer is {actual_text}, expected {expected_text}"
            details = {"text": {"expected": expected[0], "actual": answer}}
        if options := self._options_that_match(expected, answer):
            reason += f"; it would match with {' and '.join(options)}"
        return Explanation(reason, details)

    def _options_that_match(self, expected: Expected, answer: str) -> list[str]:
        """Return the smallest set of options that would make the texts equal; empty if there is none."""
        needed = dict.fromkeys(IGNORING, True)
        if not self._matches(expected, answer, self.criterion.model_copy(update=needed)):
            return []
        for option in IGNORING:
            fewer = {**needed, option: getattr(self.criterion, option)}
            if self._matches(expected, answer, self.criterion.model_copy(update=fewer)):
                needed = fewer
        return [option for option in IGNORING if needed[option] and not getattr(self.criterion, option)]

    def _matches(self, expected: Expected, answer: str, criterion: LooseTextCriterion) -> bool:
        answer_forms = comparable(answer, criterion), comparable(visible_form(answer), criterion)
        return any(
            answer_forms[0] == comparable(text, criterion)
            or answer_forms[1] == comparable(visible_form(text), criterion)
            for text in expected
        )
