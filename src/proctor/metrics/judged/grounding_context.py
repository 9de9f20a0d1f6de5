"""Verdicts on sentences: supported by the context or not; their result over votes; and whether quotations are real."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from proctor.judges.base import AnswerForm, Passage
from proctor.judges.votes import is_majority_settled, majority
from proctor.metrics.judged.answer_fields import in_number_order, list_of, object_of, text_field, word_field

__all__ = [
    "LABELS",
    "Finding",
    "SentenceVerdict",
    "Sentences",
    "count_invented_quotes",
    "counts_for_answer",
    "findings",
    "grounded_share",
    "sentence_form",
    "sentences_are_final",
]  # fmt: skip

LABELS = ("supported", "unsupported", "contradictory", "disputed", "not_applicable")
_GROUNDED = frozenset({"supported", "not_applicable"})


class SentenceVerdict(TypedDict):
    """The verdict of one vote on one sentence."""

    number: int
    label: str
    rationale: str
    supporting_excerpt: str
    contradicting_excerpt: str


Sentences = list[SentenceVerdict]
"""The verdicts of one vote on all sentences of a question, in their order."""

_TEXTS = {
    "supporting_excerpt": "The words of the context that bear it out, copied; empty if there are none.",
    "contradicting_excerpt": "The words of the context that speak against it, copied; empty if there are none.",
    "rationale": "Why, in one or two sentences.",
}


def sentence_form(count: int) -> AnswerForm[Sentences]:
    """Return the form of an answer about `count` sentences: each once, in any order."""
    item = object_of(
        number={"type": "integer", "description": "The number of the sentence."},
        **{name: text_field(meaning) for name, meaning in _TEXTS.items()},
        label=word_field(*LABELS),
    )

    def read(data: Any) -> Sentences:
        items = in_number_order(data["sentences"], count, "sentence")
        return [_verdict(number, item) for number, item in enumerate(items, 1)]

    schema = object_of(sentences=list_of(item, f"One entry for each sentence: {count} in all."))
    return AnswerForm("sentence_labels", schema, read)


def _verdict(number: int, item: Mapping[str, str]) -> SentenceVerdict:
    return {
        "number": number,
        "label": item["label"],
        "rationale": item["rationale"].strip(),
        "supporting_excerpt": item["supporting_excerpt"].strip(),
        "contradicting_excerpt": item["contradicting_excerpt"].strip(),
    }


def counts_for_answer(label: str) -> bool:
    """Return whether a sentence counts in favour of the answer: it is supported, or makes no claim."""
    return label in _GROUNDED


def grounded_share(labels: Sequence[str]) -> float | None:
    """Return the share of sentences that are supported or make no claim; `None` without sentences."""
    return sum(map(counts_for_answer, labels)) / len(labels) if labels else None


def _sides(verdicts: Iterable[SentenceVerdict]) -> list[bool]:
    return [counts_for_answer(each["label"]) for each in verdicts]


def sentences_are_final(votes: Sequence[Sentences], left: int) -> bool:
    """Return whether `left` more votes cannot change the side of any sentence."""
    return bool(votes) and all(is_majority_settled(_sides(each), left) for each in zip(*votes, strict=True))


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of the votes on one sentence."""

    sentence: str
    label: str
    verdict: SentenceVerdict
    """The first vote with this label."""
    agreement: float
    """The share of the votes on the same side."""

    def as_data(self) -> dict[str, Any]:
        """Return the data for reports; an empty excerpt is null."""
        return {
            "sentence": self.sentence,
            "label": self.label,
            "rationale": self.verdict["rationale"],
            "supporting_excerpt": self.verdict["supporting_excerpt"] or None,
            "contradicting_excerpt": self.verdict["contradicting_excerpt"] or None,
            "agreement": self.agreement,
        }


def findings(texts: Sequence[str], votes: Sequence[Sentences]) -> list[Finding]:
    """Count votes per sentence: the side of the majority, a tie counting against the sentence; then its most frequent label."""
    return (
        [_finding(text, each) for text, each in zip(texts, zip(*votes, strict=True), strict=True)]
        if votes
        else []
    )


def _finding(text: str, about: Sequence[SentenceVerdict]) -> Finding:
    grounded = majority(_sides(about))
    side = [each for each in about if counts_for_answer(each["label"]) is grounded]
    [(label, _)] = Counter(each["label"] for each in side).most_common(1)
    first = next(each for each in side if each["label"] == label)
    return Finding(text, label, first, len(side) / len(about))


def count_invented_quotes(results: Iterable[Finding], context: Iterable[Passage]) -> int:
    """Return how many supported sentences have an excerpt that is not in the context, comparing letters and digits."""
    text = _alphanumeric(" ".join(passage.text for passage in context))
    return sum(
        not _is_quoted(each.verdict["supporting_excerpt"], text)
        for each in results
        if each.label == "supported"
    )


def _is_quoted(excerpt: str, text: str) -> bool:
    return all(_alphanumeric(piece) in text for piece in re.split(r"\.\.\.|…|\[…\]", excerpt))


def _alphanumeric(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())
