"""The metric `contains`: whether the answer contains the expected texts, and no forbidden ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from proctor.errors import CriterionError
from proctor.metrics.base import comparison_facts
from proctor.metrics.reason_text import shown_texts
from proctor.metrics.text.answer import TURNS, AnswerMetric, Expected, Texts
from proctor.metrics.text.normal_form import (
    IGNORING,
    LooseTextCriterion,
    is_whole_word,
    normal_form,
)
from proctor.metrics.text.visible_text import (
    folded,
    is_blank,
    is_whole_character,
    visible_form,
    with_flags_apart,
    without_invisible,
)
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.results.score import Explanation, Score

NO_TEXT_TO_SEARCH = "the agent gave no answer text, so it cannot contain a forbidden text"


class ContainsCriterion(LooseTextCriterion):
    """Texts that an answer must contain, how many of them, and texts that it must not contain."""

    require: Literal["all", "any"] = "all"
    whole_words: bool = False
    forbidden: Texts | None = None


class Contains(AnswerMetric[ContainsCriterion]):
    """The share of the expected texts that are in the final answer; with `require: "any"` 1.0 if one is.

    A forbidden text in it makes the score 0. An expected text that comes from the case is its whole reference answer.
    Texts are compared as a person sees them: characters without width hide nothing, and half a character (a letter
    without its accent or vowel sign, one of a family of emoji) is not found.
    """

    facts = comparison_facts(
        "contains",
        "Whether the expected texts are in the final answer, and forbidden ones are not.",
        "substring search",
        example={"threshold": 1.0, "expected": ["sunny"], "ignore_case": True},
        options={
            "require": "any (one of the expected texts is enough) or all (the default: the score is the share found)",
            "whole_words": "true: art is not in party (scripts without spaces have no words)",
            "forbidden": "a text, or a list of texts, that must not be in the answer: the score is 0 if one is",
            **IGNORING,
            "expected": "the text, or a list of texts, that must be in the answer, instead of the case's",
            **TURNS,
        },
    )
    kind = ContainsCriterion

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        super().__init__(criterion)
        self._forbidden = self.criterion.forbidden or []
        for option in ("expected", "forbidden"):
            if any(is_blank(self._form(text)) for text in getattr(self.criterion, option) or []):
                raise CriterionError(
                    f"The criterion of 'contains' does not fit: {option}: a text without characters to search for."
                )

    def expected_by_criterion(self) -> Expected | None:
        """Return the expected texts; none are required if the criterion only has forbidden ones."""
        expected = super().expected_by_criterion()
        return () if expected is None and self.criterion.forbidden else expected

    def asks(self, expected: Expected) -> bool:
        """Return whether there is a text to search for, required or forbidden."""
        return bool(expected or self._forbidden)

    def parse_reference(self, reference: str) -> Expected:
        """Return the reference answer, without the white space around it."""
        return [] if is_blank(self._form(reference)) else [reference.strip()]

    def compare(self, expected: Expected, answer: str) -> Score:
        """Return the share of the texts that are in the answer; 0 with a forbidden text."""
        matches = self._matches(expected, answer)
        forbidden = self._matches(self._forbidden, answer, visible=folded)
        if any(forbidden):
            return Score(0.0)
        if not matches:
            return Score(1.0, warning="" if not is_blank(answer) else NO_TEXT_TO_SEARCH)
        if self.criterion.require == "any":
            return Score(1.0 if any(matches) else 0.0)
        return Score(sum(matches) / len(matches))

    def explain_answer(self, expected: Expected, answer: str) -> Explanation:
        """Return which texts are missing, and which forbidden ones are in the answer."""
        matches = self._matches(expected, answer)
        forbidden = self._matches(self._forbidden, answer, visible=folded)
        checks = [
            *_checks(expected, matches, forbidden=False),
            *_checks(self._forbidden, forbidden, forbidden=True),
        ]
        missing = [text for text, here in zip(expected, matches, strict=True) if not here]
        present = [text for text, here in zip(self._forbidden, forbidden, strict=True) if here]
        sentences = [f"forbidden text in the answer: {shown_texts(present)}"] if present else []
        if missing and not (self.criterion.require == "any" and any(matches)):
            sentences.append(f"not in the answer: {shown_texts(missing)}")
        reason = "; ".join(sentences) or "the answer contains the expected texts and no forbidden ones"
        return Explanation(reason, {"checks": checks})

    def _matches(
        self, texts: Expected, answer: str, visible: Callable[[str], str] = visible_form
    ) -> list[bool]:
        """Return for each text whether it is in the answer: unchanged, without invisible characters, or as `visible` returns it."""
        views = [_unchanged_text] if answer.isascii() else [_unchanged_text, without_invisible, visible]
        forms = [(view, self._form(view(answer))) for view in views]
        return [any(self._is_found(text, view, answer_form) for view, answer_form in forms) for text in texts]

    def _is_found(self, text: str, view: Callable[[str], str], answer_form: str) -> bool:
        return self._is_in(self._form(text if text.isascii() else view(text)), answer_form) or (
            not text.isascii()
            and answer_form.isascii()
            and self._is_in(self._form(visible_form(text)), answer_form)
        )

    def _form(self, text: str) -> str:
        """Normalise a text; white space at the ends of a searched text counts, unless it is ignored."""
        text = with_flags_apart(normal_form(text, self.criterion))
        return text.strip() if self.criterion.ignore_whitespace or self.criterion.ignore_punctuation else text

    def _is_in(self, part: str, text: str) -> bool:
        start = text.find(part)
        while start >= 0 and not self._is_apart(part, text, start):
            start = text.find(part, start + 1)
        return start >= 0

    def _is_apart(self, part: str, text: str, start: int) -> bool:
        alone = not self.criterion.whole_words or is_whole_word(part, text, start)
        return alone and (text.isascii() or is_whole_character(part, text, start))


def _unchanged_text(text: str) -> str:
    return text


def _checks(texts: Expected, matches: Sequence[bool], *, forbidden: bool) -> Iterator[dict[str, object]]:
    for text, here in zip(texts, matches, strict=True):
        yield {"expected": text, "found": here, "forbidden": forbidden}
