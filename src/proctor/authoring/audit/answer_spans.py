"""Find the parts of an answer whose change surely changes its meaning: sentences that state something, outside of links and code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

LETTER = "[^\\W\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]"
"""The pattern of a character of words that spaces separate: no Chinese, Japanese or Korean character, next to which a number may be."""
_SENTENCE = re.compile(r"[^\n]+?(?:[.!?]+(?=[\s*_)\"']|$)|(?=\n)|$)", re.MULTILINE)
_PROTECTED = re.compile(r"```.*?```|`[^`\n]*`|https?://\S+|www\.\S+|\S+@\S+\.\w+|\]\([^)]*\)", re.DOTALL)
_BULLET = re.compile(r"^\s*(?:[-*•>#]+|\d+[.)])\s+")
_POLITE = re.compile(
    r"(?:hi\b|hello|hey\b|dear\b|welcome|good (?:morning|afternoon|evening)|thank|thanks|you'?re welcome|great|sure|of course"
    r"|certainly|absolutely|no problem|let me know|feel free|please|is there|are there|would you|do you|can i|could you"
    r"|may i|how can|how may|what else|have a|enjoy|i hope|hope\b|happy to|glad to|i['’]?m glad|i am glad|i'?d be|i'?m here|i am here|if you"
    r"|here (?:is|are)|here's|here’s|i can\b|i could|we can\b|i see\b)",
    re.IGNORECASE,
)
FEWEST_WORDS = 5
"""The fewest words of statements that have content."""
_QUOTED = re.compile(r"[\"“”«»]")


class TextRange(NamedTuple):
    """A part of a text."""

    start: int
    end: int

    def meets(self, others: Sequence[TextRange]) -> bool:
        """Return whether it shares a character with any of `others`."""
        return any(self.start < other.end and other.start < self.end for other in others)


@lru_cache(64)  # each operator reads the same answers
def protected_spans(text: str) -> list[TextRange]:
    """Return links, addresses and code, in which nothing is changed."""
    return [TextRange(*match.span()) for match in _PROTECTED.finditer(text)]


def sentence_spans(text: str) -> Iterator[TextRange]:
    """Yield the sentences and lines of a text, without the mark of a list item."""
    for match in _SENTENCE.finditer(text):
        start, end = match.span()
        bullet = _BULLET.match(text[start:end])
        start += bullet.end() if bullet else 0
        start += len(text[start:end]) - len(text[start:end].lstrip())
        if start < end:
            yield TextRange(start, end)


@lru_cache(64)
def statement_spans(text: str) -> list[TextRange]:
    """Return the sentences that state something: no question, greeting, thanks, offer or request, and no quotation."""
    return [span for span in sentence_spans(text) if is_statement(text[span.start : span.end])]


def states_something(text: str) -> bool:
    """Return whether the statements of a text have as many words as a sentence with content."""
    return sum(len(text[span.start : span.end].split()) for span in statement_spans(text)) >= FEWEST_WORDS


def is_statement(sentence: str) -> bool:
    """Return whether a sentence states something."""
    bare = sentence.strip(" *_")
    return not (bare.endswith(("?", "？", "؟")) or _POLITE.match(bare) or _QUOTED.search(bare))


def occurs_in(value: str, text: str) -> bool:
    """Return whether a value occurs in a text (in lower case) as a whole word, or as a part of one that `_` separates."""
    value = value.lower()
    # most values do not occur at all: no pattern is compiled for them
    return value in text and re.search(rf"(?<!{_PART}){re.escape(value)}(?!{_PART})", text) is not None


_PART = f"(?!_){LETTER}"


def replace_word(text: str, old: str, new: str) -> str:
    """Replace a value wherever it occurs as a whole word: one that is changed once contradicts itself instead."""
    result, begin, at = "", 0, text.find(old)
    while at >= 0:  # no pattern: to compile one for each value takes longer
        end = at + len(old)
        if not (_IN_WORD.match(text, at - 1, at) or _WORD_FOLLOWS.match(text, end)):
            result += text[begin:at] + new
            begin = end
        at = text.find(old, max(begin, at + 1))
    return result + text[begin:]


_IN_WORD = re.compile(rf"{LETTER}|[.,]")
_WORD_FOLLOWS = re.compile(rf"{LETTER}|[.,]\d")
