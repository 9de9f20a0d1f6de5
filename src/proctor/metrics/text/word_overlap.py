"""Describes which words two texts share, for every metric that counts words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from proctor.metrics.reason_text import and_more, show_text
from proctor.metrics.text.rouge import common_sequence

IDENTICAL = "the answer is the reference, word for word"
NO_ANSWER = "the agent gave no answer text"
SAME_WORDS = "the answer has the reference's words"


class Counted(NamedTuple):
    """The words of a text, as a person reads them and as they are compared."""

    shown: Sequence[str]
    tokens: Sequence[Hashable]


MOST_CELLS = 400_000_000
"""The largest table for a common sequence: 50 MB."""

WORDS = ("word", "words")
PAIRS = ("pair of words", "pairs of words")


SIGNS = re.compile(
    r"""(?<=\w)\s?([<>=≤≥≠]=?)\s?(?=[-+\w]) | (?<=[\w+])(\+) | (?<=[A-Z])(\#) | (?<=\d)\s?([*/^])\s?(?=\d) | ([±√∞×÷])
    | (?<=\d)\s?([%‰€£¥₹$]) | ([€£¥₹$])\s?(?=\d) | (?<![\w.)\]])([-−])(?=[$€£¥]?\d)""",
    re.VERBOSE,
)
"""Signs that are not words but may change the meaning: a minus before a number, C++, 5 < 6. Not those of Markdown."""


def other_signs(reference: str, answer: str) -> str:
    """Return a warning if two texts of the same words differ in such signs; empty otherwise."""
    reference_signs, answer_signs = (
        Counter(match[match.lastindex or 0].replace("−", "-") for match in SIGNS.finditer(text))
        for text in (reference, answer)
    )
    if reference_signs == answer_signs:
        return ""
    missing, more = (
        sorted((reference_signs - answer_signs).elements()),
        sorted((answer_signs - reference_signs).elements()),
    )
    return (
        f"the words are the same, but signs differ, which this metric ignores ({_differences(missing, more)})"
    )


def explain_shared_words(
    reference: Counted, answer: Counted, what: tuple[str, str] = WORDS, *, once: bool = False
) -> tuple[str, dict[str, list[str]]]:
    """Return how many of the reference's words (or pairs) the answer has, and the words that only one of them has.

    `once`: one occurrence in the answer covers all in the reference.
    """
    missing = _only_in(reference, answer.tokens, once=once)
    more = _only_in(answer, reference.tokens, once=once)
    details = {"missing_words": missing, "extra_words": more}
    if not missing and not more:
        return SAME_WORDS, details
    shared = len(reference.tokens) - len(missing)
    counts = f"{shared} of the reference's {_count(reference, what)} {_is(reference)} in the answer of {_count(answer, what)}"
    return f"{counts}; {_differences(missing, more)}", details


def explain_common_sequence(reference: Counted, answer: Counted) -> tuple[str, dict[str, list[str]]]:
    """Return the length of the longest common sequence, and the words outside it.

    For very long texts, the shared words in any order.
    """
    if len(reference.tokens) * len(answer.tokens) > MOST_CELLS:
        return explain_shared_words(reference, answer)
    common = common_sequence(reference.tokens, answer.tokens)
    missing = _without(reference.shown, {i for i, _ in common})
    more = _without(answer.shown, {j for _, j in common})
    details = {"missing_words": missing, "extra_words": more}
    if not missing and not more:
        return SAME_WORDS, details
    counts = (
        f"{len(common)} of the reference's {_count(reference)} {_is(reference)} in the same order "
        f"in the answer of {_count(answer)}"
    )
    return f"{counts}; {_differences(missing, more)}", details


def _differences(missing: list[str], more: list[str]) -> str:
    differences = [f"missing: {_show(missing)}"] if missing else []
    differences += [f"not in the reference: {_show(more)}"] if more else []
    return "; ".join(differences)


def _count(text: Counted, what: tuple[str, str] = WORDS) -> str:
    return f"{len(text.tokens)} {what[len(text.tokens) != 1]}"


def _is(reference: Counted) -> str:
    return "is" if len(reference.tokens) == 1 else "are"


def _only_in(text: Counted, others: Sequence[Hashable], *, once: bool) -> list[str]:
    """Return the shown words of `text` that `others` lacks (or has less often, unless `once`), in order."""
    left = Counter({token: len(text.tokens) for token in others} if once else others)
    missing = []
    for word, token in zip(text.shown, text.tokens, strict=True):
        if left[token] > 0:
            left[token] -= 1
        else:
            missing.append(word)
    return missing


def _without(words: Sequence[str], places: set[int]) -> list[str]:
    return [word for index, word in enumerate(words) if index not in places]


def _show(words: list[str]) -> str:
    return ", ".join(and_more([show_text(word, 30) for word in dict.fromkeys(words)], 8))
