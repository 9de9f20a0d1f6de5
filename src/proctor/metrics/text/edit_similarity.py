"""The metric `edit_similarity`: how few characters (or words) must change to turn the answer into the reference."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Literal

from proctor.common.optional_packages import import_extra
from proctor.metrics.base import comparison_facts
from proctor.metrics.text.answer import EXPECTED, TURNS, AnswerMetric, Expected
from proctor.metrics.text.normal_form import IGNORING, LooseTextCriterion, comparable
from proctor.metrics.text.unicode_words import unicode_words
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.results.score import Explanation, Score


class EditCriterion(LooseTextCriterion):
    """The unit of changes: characters or words."""

    unit: Literal["characters", "words"] = "characters"


class EditSimilarity(AnswerMetric[EditCriterion]):
    """1 − d / n: d the fewest insertions, deletions and replacements (Levenshtein), n the length of the longer text.

    White space and invisible characters at both ends are ignored, and canonically equal texts are equal; the best of
    several expected texts counts. Characters are Unicode's code points. If a text has no words, or the options ignore
    all its characters, the characters are compared unchanged.
    """

    facts = comparison_facts(
        "edit_similarity",
        "How little must change to turn the final answer into the reference answer.",
        "V. I. Levenshtein, Binary codes capable of correcting deletions, insertions, and reversals (1966)",
        threshold=0.8,
        example={"threshold": 0.6, "unit": "words"},
        options={
            "unit": "words (changes of words, ignoring case and punctuation) or characters (the default)",
            **IGNORING,
            **EXPECTED,
            **TURNS,
        },
    )
    kind = EditCriterion

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        super().__init__(criterion)
        feature = "The metric 'edit_similarity'"
        module = import_extra("rapidfuzz.distance.Levenshtein", extra="rapidfuzz", feature=feature)
        self._distance: Callable[[Sequence[Hashable], Sequence[Hashable]], int] = module.distance

    def compare(self, expected: Expected, answer: str) -> Score:
        """Return the similarity to the nearest expected text."""
        return Score(max(self._similarity(text, answer) for text in expected))

    def explain_answer(self, expected: Expected, answer: str) -> Explanation:
        """Return the number of changes."""
        nearest = max(expected, key=lambda text: self._similarity(text, answer))
        what, expected_units, answer_units = self._units(nearest, answer)
        changes, longer = (
            self._distance(expected_units, answer_units),
            max(len(expected_units), len(answer_units)),
        )
        reason = (
            f"{changes} of {longer} {what} must change to make the answer the expected text"
            if changes
            else "the answer is the expected text"
        )
        details = {"text": {"expected": nearest, "actual": answer}, "changes": changes, "length": longer}
        return Explanation(reason, details)

    def _similarity(self, reference: str, answer: str) -> float:
        _, expected_units, answer_units = self._units(reference, answer)
        longer = max(len(expected_units), len(answer_units))
        return 1 - self._distance(expected_units, answer_units) / longer if longer else 1.0

    def _units(self, reference: str, answer: str) -> tuple[str, Sequence[Hashable], Sequence[Hashable]]:
        """Return the units of both texts; characters if the reference has no words."""
        texts = comparable(reference, self.criterion), comparable(answer, self.criterion)
        if self.criterion.unit == "words" and (words := unicode_words(texts[0])):
            return "words", words, unicode_words(texts[1])
        return "characters", *texts
