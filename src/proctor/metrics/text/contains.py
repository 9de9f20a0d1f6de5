"""`contains`: does the answer say what it must, and nothing that it must not?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from proctor.errors import CriterionError
from proctor.metrics.base import MetricFacts
from proctor.metrics.reason_text import and_more, show_text
from proctor.metrics.statements import reference_answers
from proctor.metrics.text.answer import TURNS, AnswerMetric, Expected, Texts
from proctor.metrics.text.normal_form import (
    IGNORING,
    LooseTextCriterion,
    normal_form,
    stands_alone,
)
from proctor.metrics.text.visible import (
    as_seen,
    folded,
    is_blank,
    stands_whole,
    with_flags_apart,
    without_invisible,
)
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.results.score import Explanation, Score

__all__ = ["Contains"]

NOTHING_SAID = "the agent gave no answer text, so nothing that is forbidden could stand in it"


class ContainsCriterion(LooseTextCriterion):
    """What must stand in an answer, how many of it, and what must not."""

    require: Literal["all", "any"] = "all"
    whole_words: bool = False
    forbidden: Texts | None = None


class Contains(AnswerMetric[ContainsCriterion]):
    """The share of the expected texts that stand in the final answer; with `require: "any"` 1.0 where one does.

    A forbidden text in it makes the score 0. An expected text that comes from the case is its whole reference answer.
    A text stands there as a person sees it: characters without width hide nothing, and half a character (a letter
    without its accent or vowel sign, one of a family of emoji) is not found.
    """

    facts = MetricFacts(
        name="contains",
        description="Whether the expected texts stand in the final answer, and forbidden ones do not.",
        default_threshold=1.0,
        example={"contains": {"threshold": 1.0, "expected": ["sunny"], "ignore_case": True}},
        needs=frozenset({"expected"}),
        statement=reference_answers,
        options={
            "require": "any (one of the expected texts is enough) or all (the default: the score is the share found)",
            "whole_words": "true: art does not stand in party (scripts without spaces have no words to look at)",
            "forbidden": "a text, or a list of texts, that must not stand in the answer: the score is 0 if one does",
            **IGNORING,
            "expected": "the text, or a list of texts, that must stand in the answer, instead of the case's",
            **TURNS,
        },
        source="substring search",
    )
    kind = ContainsCriterion

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        super().__init__(criterion)
        self._forbidden = self.criterion.forbidden or []
        for option in ("expected", "forbidden"):
            if any(is_blank(self._form(text)) for text in getattr(self.criterion, option) or []):
                raise CriterionError(
                    f"The criterion of 'contains' does not fit: {option}: a text with nothing to look for in it."
                )

    def given(self) -> Expected | None:
        """What is expected; where only something is forbidden, nothing else is asked."""
        expected = super().given()
        return () if expected is None and self.criterion.forbidden else expected

    def asks(self, expected: Expected) -> bool:
        """A forbidden text alone is something to look for."""
        return bool(expected or self._forbidden)

    def read(self, reference: str) -> Expected:
        """The reference answer, without the white space around it."""
        return [] if is_blank(self._form(reference)) else [reference.strip()]

    def compare(self, expected: Expected, answer: str) -> Score:
        """The share found, 0 with a forbidden text."""
        found, forbidden = self._found(expected, answer), self._found(self._forbidden, answer, seen=folded)
        if any(forbidden):
            return Score(0.0)
        if not found:
            return Score(1.0, warning="" if not is_blank(answer) else NOTHING_SAID)
        if self.criterion.require == "any":
            return Score(1.0 if any(found) else 0.0)
        return Score(sum(found) / len(found))

    def tell(self, expected: Expected, answer: str) -> Explanation:
        """Which texts are missing, and which stand there though they are forbidden."""
        found, forbidden = self._found(expected, answer), self._found(self._forbidden, answer, seen=folded)
        checks = [
            {"expected": text, "found": here, "forbidden": is_forbidden}
            for texts, places, is_forbidden in ((expected, found, False), (self._forbidden, forbidden, True))
            for text, here in zip(texts, places, strict=True)
        ]
        missing = [text for text, here in zip(expected, found, strict=True) if not here]
        present = [text for text, here in zip(self._forbidden, forbidden, strict=True) if here]
        sentences = [f"forbidden, and in the answer: {_list(present)}"] if present else []
        if missing and not (self.criterion.require == "any" and any(found)):
            sentences.append(f"not in the answer: {_list(missing)}")
        reason = "; ".join(sentences) or "the answer has what it must and nothing that it must not"
        return Explanation(reason, {"checks": checks})

    def _found(self, texts: Expected, answer: str, seen: Callable[[str], str] = as_seen) -> list[bool]:
        """Which texts stand in the answer as it is, without invisible characters, or as it is `seen`."""
        views = [_as_it_is] if answer.isascii() else [_as_it_is, without_invisible, seen]
        shown = [(view, self._form(view(answer))) for view in views]
        return [any(self._is_found(text, view, made) for view, made in shown) for text in texts]

    def _is_found(self, text: str, view: Callable[[str], str], made: str) -> bool:
        return self._stands_in(self._form(text if text.isascii() else view(text)), made) or (
            not text.isascii() and made.isascii() and self._stands_in(self._form(as_seen(text)), made)
        )

    def _form(self, text: str) -> str:
        """White space at the ends of what is looked for counts, unless it is ignored."""
        text = with_flags_apart(normal_form(text, self.criterion))
        return text.strip() if self.criterion.ignore_whitespace or self.criterion.ignore_punctuation else text

    def _stands_in(self, part: str, text: str) -> bool:
        start = text.find(part)
        while start >= 0 and not self._is_apart(part, text, start):
            start = text.find(part, start + 1)
        return start >= 0

    def _is_apart(self, part: str, text: str, start: int) -> bool:
        alone = not self.criterion.whole_words or stands_alone(part, text, start)
        return alone and (text.isascii() or stands_whole(part, text, start))


def _as_it_is(text: str) -> str:
    return text


def _list(texts: list[str]) -> str:
    return ", ".join(and_more([show_text(text) for text in texts]))
