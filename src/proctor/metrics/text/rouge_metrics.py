"""The metrics `rouge_1`, `rouge_2` and `rouge_l`: how many words, pairs of words, or words in order two answers share."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator

from proctor.errors import CriterionError
from proctor.metrics.base import MetricFacts, comparison_facts
from proctor.metrics.text import rouge
from proctor.metrics.text.answer import EXPECTED, TURNS, AnswerMetric, Expected, TextCriterion
from proctor.metrics.text.rouge import Rouge
from proctor.metrics.text.unicode_words import unicode_words
from proctor.metrics.text.visible_text import is_identical
from proctor.metrics.text.word_overlap import (
    IDENTICAL,
    PAIRS,
    Counted,
    explain_common_sequence,
    explain_shared_words,
    other_signs,
)
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.results.score import Explanation, Score

TOO_SHORT = "the reference has {} that ROUGE counts, so only an identical answer can match it"
OTHER_ORDER = "all words are the same but their order differs; ROUGE-1 does not compare the order"

OPTIONS = {
    "measure": "recall (the share of the reference that the answer has), precision (the share of the answer that the "
    "reference has) or f (the default: their harmonic mean)",
    "tokenizer": "unicode (the default: all scripts, digits and emoji) or adk (as in response_match_score); the same "
    "for ASCII",
    "stem": "false: do not reduce English words to their stems",
    "ignore_accents": "true: café is cafe (Latin, Greek and Cyrillic letters)",
    **EXPECTED,
    **TURNS,
}


def _read_measure(value: object) -> object:
    known = {"f1": "f", "fmeasure": "f", "f_measure": "f"}
    return known.get(value.lower(), value.lower()) if isinstance(value, str) else value


class RougeCriterion(TextCriterion):
    """For the ROUGE metrics: the figure that is the score, and how texts are split into words."""

    measure: Annotated[Literal["f", "precision", "recall"], BeforeValidator(_read_measure)] = "f"
    tokenizer: Literal["unicode", "adk"] = "unicode"
    stem: bool = True
    ignore_accents: bool = False


def _facts(which: int | str, what: str) -> MetricFacts:
    return comparison_facts(
        f"rouge_{which}".lower(),
        f"The overlap in {what} of the final answer with the reference answer (ROUGE-{which}).",
        f"C.-Y. Lin, ROUGE (2004), ROUGE-{which} with Porter stems, as in rouge-score",
        threshold=0.8,
        example={"threshold": 0.5, "measure": "recall"},
        options=OPTIONS,
    )


def count_words(text: str, criterion: RougeCriterion) -> Counted:
    """Return the words of a text, as they are shown and as they are compared."""
    if criterion.tokenizer == "adk":
        words = rouge.words(text)
    else:
        words = unicode_words(text, ignore_accents=criterion.ignore_accents)
    return Counted(words, rouge.stems(words) if criterion.stem else words)


class RougeMetric(AnswerMetric[RougeCriterion]):
    """One of C.-Y. Lin's ROUGE measures (2004) of the final answer against the reference; the best of several.

    An answer identical to its reference scores 1, even where it has no words to count.
    """

    kind = RougeCriterion
    fewest: ClassVar[int] = 1
    """The number of words that a reference needs for this measure."""

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        super().__init__(criterion)
        if self.criterion.tokenizer == "adk" and self.criterion.ignore_accents:
            raise CriterionError(
                f"The criterion of {self.facts.name!r} does not fit: ignore_accents needs tokenizer 'unicode'; "
                "'adk' keeps accents as google-adk does."
            )
        self._field = "fmeasure" if self.criterion.measure == "f" else self.criterion.measure

    @abstractmethod
    def figures(self, reference: Counted, answer: Counted) -> Rouge:
        """Return the three figures of two texts."""

    @abstractmethod
    def explain_words(self, reference: Counted, answer: Counted) -> tuple[str, dict[str, list[str]]]:
        """Return which words the texts share and which not: a sentence and details."""

    def compare(self, expected: Expected, answer: str) -> Score:
        """Return the figure of the best reference; a warning if it is 1 and the texts still differ."""
        value = max(self._measure(self._figures(reference, answer)) for reference in expected)
        unseen = value == 1.0 and not any(is_identical(reference, answer) for reference in expected)
        return Score(value, warning=self.explain_answer(expected, answer).warning if unseen else "")

    def explain_answer(self, expected: Expected, answer: str) -> Explanation:
        """Return precision, recall and F, and the words that only one of the texts has, for the best reference."""
        reference = max(expected, key=lambda each: self._measure(self._figures(each, answer)))
        figures = self._figures(reference, answer)
        details = {"text": {"expected": reference, "actual": answer}, **figures._asdict()}
        if is_identical(reference, answer):
            return Explanation(IDENTICAL, details)
        reference_words, answer_words = (
            count_words(reference, self.criterion),
            count_words(answer, self.criterion),
        )
        if len(reference_words.tokens) < self.fewest:
            warning = TOO_SHORT.format("no words" if self.fewest == 1 else f"fewer than {self.fewest} words")
            return Explanation(warning, details, warning)
        reason, words = self.explain_words(reference_words, answer_words)
        same = Counter(reference_words.tokens) == Counter(answer_words.tokens)
        warning = self.warn(reference_words, answer_words) or (other_signs(reference, answer) if same else "")
        return Explanation(reason, {**details, **words}, warning)

    def warn(self, reference: Counted, answer: Counted) -> str:
        """Return a warning about differences that the measure ignores."""
        return ""

    def _figures(self, reference: str, answer: str) -> Rouge:
        if is_identical(reference, answer):
            return Rouge(1.0, 1.0, 1.0)
        return self.figures(count_words(reference, self.criterion), count_words(answer, self.criterion))

    def _measure(self, figures: Rouge) -> float:
        return float(getattr(figures, self._field))


class Rouge1(RougeMetric):
    """ROUGE-1: single words, in any order."""

    facts = _facts(1, "words")

    def figures(self, reference: Counted, answer: Counted) -> Rouge:
        """Compare single words."""
        return rouge.rouge_n(reference.tokens, answer.tokens, 1)

    def explain_words(self, reference: Counted, answer: Counted) -> tuple[str, dict[str, list[str]]]:
        """Return the missing and the additional words."""
        return explain_shared_words(reference, answer)

    def warn(self, reference: Counted, answer: Counted) -> str:
        """Warn if only the order differs."""
        reordered = reference.tokens != answer.tokens and Counter(reference.tokens) == Counter(answer.tokens)
        return OTHER_ORDER if reordered else ""


class Rouge2(RougeMetric):
    """ROUGE-2: pairs of neighbouring words."""

    facts = _facts(2, "pairs of neighbouring words")
    fewest = 2

    def figures(self, reference: Counted, answer: Counted) -> Rouge:
        """Compare pairs."""
        return rouge.rouge_n(reference.tokens, answer.tokens, 2)

    def explain_words(self, reference: Counted, answer: Counted) -> tuple[str, dict[str, list[str]]]:
        """Return the missing and the additional pairs."""
        return explain_shared_words(_pairs(reference), _pairs(answer), PAIRS)


class RougeL(RougeMetric):
    """ROUGE-L: the longest sequence of words that both texts have in the same order, with others in between."""

    facts = _facts("L", "words in the same order (the longest common subsequence)")

    def figures(self, reference: Counted, answer: Counted) -> Rouge:
        """Return the longest common sequence as a share of each text."""
        return rouge.rouge_l(reference.tokens, answer.tokens)

    def explain_words(self, reference: Counted, answer: Counted) -> tuple[str, dict[str, list[str]]]:
        """Return the words outside that sequence."""
        return explain_common_sequence(reference, answer)


def _pairs(text: Counted) -> Counted:
    return Counted([" ".join(pair) for pair in rouge.ngrams(text.shown, 2)], rouge.ngrams(text.tokens, 2))
