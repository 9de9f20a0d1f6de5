"""What a sentence was found to be: borne out by the context or not; what votes come to; whether quotations stand there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from proctor.judges.base import AnswerForm, Passage
from proctor.judges.votes import is_majority_settled, majority
from proctor.metrics.judged.answer_fields import each_numbered, list_of, object_of, text_field, word_field

__all__ = [
    "LABELS", "Finding", "SentenceVerdict", "Sentences", "findings", "grounded_share", "is_grounded", "not_quoted",
    "sentence_form", "sentences_settled",
]  # fmt: skip

LABELS = ("supported", "unsupported", "contradictory", "disputed", "not_applicable")
_GROUNDED = frozenset({"supported", "not_applicable"})


class SentenceVerdict(TypedDict):
    """What one vote says about one sentence."""

    number: int
    label: str
    rationale: str
    supporting_excerpt: str
    contradicting_excerpt: str


Sentences = list[SentenceVerdict]
"""What one vote says about all sentences that it was asked about, in their order."""

_TEXTS = {
    "supporting_excerpt": "The words of the context that bear it out, copied; empty if there are none.",
    "contradicting_excerpt": "The words of the context that speak against it, copied; empty if there are none.",
    "rationale": "Why, in one or two sentences.",
}


def sentence_form(count: int) -> AnswerForm[Sentences]:
    """The form of an answer about `count` sentences: all of them, once, in any order."""
    item = object_of(
        number={"type": "integer", "description": "The number of the sentence."},
        **{name: text_field(meaning) for name, meaning in _TEXTS.items()},
        label=word_field(*LABELS),
    )

    def read(data: Any) -> Sentences:
        items = each_numbered(data["sentences"], count, "sentence")
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


def is_grounded(label: str) -> bool:
    """Whether a sentence counts for the answer: borne out, or nothing that could be."""
    return label in _GROUNDED


def grounded_share(labels: Sequence[str]) -> float | None:
    """The share of sentences that are borne out, or are nothing that could be; `None` without sentences."""
    return sum(map(is_grounded, labels)) / len(labels) if labels else None


def _sides(verdicts: Iterable[SentenceVerdict]) -> list[bool]:
    return [is_grounded(each["label"]) for each in verdicts]


def sentences_settled(votes: Sequence[Sentences], left: int) -> bool:
    """Whether `left` more votes could not change on which side any sentence is."""
    return bool(votes) and all(is_majority_settled(_sides(each), left) for each in zip(*votes, strict=True))


@dataclass(frozen=True, slots=True)
class Finding:
    """What the votes come to for one sentence."""

    sentence: str
    label: str
    verdict: SentenceVerdict
    """The first vote with this label."""
    agreement: float
    """The share of the votes that are on this side."""

    def as_data(self) -> dict[str, Any]:
        """Return it as reports draw it; an empty excerpt is null."""
        found = self.verdict
        return {
            "sentence": self.sentence,
            "label": self.label,
            "rationale": found["rationale"],
            "supporting_excerpt": found["supporting_excerpt"] or None,
            "contradicting_excerpt": found["contradicting_excerpt"] or None,
            "agreement": self.agreement,
        }


def findings(texts: Sequence[str], votes: Sequence[Sentences]) -> list[Finding]:
    """What votes come to: the side of the majority, a tie counting against the sentence; of its labels the most frequent."""
    return (
        [_finding(text, each) for text, each in zip(texts, zip(*votes, strict=True), strict=True)]
        if votes
        else []
    )


def _finding(text: str, about: Sequence[SentenceVerdict]) -> Finding:
    grounded = majority(_sides(about))
    side = [each for each in about if is_grounded(each["label"]) is grounded]
    [(label, _)] = Counter(each["label"] for each in side).most_common(1)
    first = next(each for each in side if each["label"] == label)
    return Finding(text, label, first, len(side) / len(about))


def not_quoted(found: Iterable[Finding], context: Iterable[Passage]) -> int:
    """How many sentences rest on quotations that the context does not have, letters and digits compared."""
    there = _bare(" ".join(passage.text for passage in context))
    return sum(
        not _stands(each.verdict["supporting_excerpt"], there) for each in found if each.label == "supported"
    )


def _stands(excerpt: str, there: str) -> bool:
    return all(_bare(piece) in there for piece in re.split(r"\.\.\.|…|\[…\]", excerpt))


def _bare(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())
