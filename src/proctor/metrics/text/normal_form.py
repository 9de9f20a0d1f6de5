"""Differences of texts that a criterion may ignore: case, white space, punctuation, accents."""

from __future__ import annotations

import re
from unicodedata import category, normalize

from proctor.metrics.text.answer import TextCriterion
from proctor.metrics.text.unicode_words import kinds, without_accents
from proctor.metrics.text.visible_text import trimmed

IGNORING = {
    "ignore_case": "true: PARIS is Paris",
    "ignore_whitespace": "true: any run of blanks and line breaks counts as one blank",
    "ignore_punctuation": 'true: punctuation counts as a blank ("Paris." is "Paris", and "well-known" is "well known")',
    "ignore_accents": "true: café is cafe (Latin, Greek and Cyrillic letters)",
}

BLANKS = re.compile("[\\s\u200b\u2060\ufeff]+")
"""White space, and invisible characters of zero width that models and web pages leave between words."""


class LooseTextCriterion(TextCriterion):
    """A text criterion with the differences to ignore."""

    ignore_case: bool = False
    ignore_whitespace: bool = False
    ignore_punctuation: bool = False
    ignore_accents: bool = False


def normal_form(text: str, criterion: LooseTextCriterion) -> str:
    """Return `text` without the differences that the criterion ignores; canonically equal texts become equal (NFC)."""
    if not text.isascii():
        text = normalize("NFC", text)
        if criterion.ignore_accents:
            text = without_accents(text)
    if criterion.ignore_case:
        text = normalize("NFC", text.casefold())
    if criterion.ignore_punctuation:
        text = "".join(" " if category(each).startswith("P") else each for each in text)
    if criterion.ignore_whitespace or criterion.ignore_punctuation:
        text = BLANKS.sub(" ", text)
    return text


def comparable(text: str, criterion: LooseTextCriterion) -> str:
    """Return the trimmed normal form; the text itself if the options would ignore all of it ("!!!")."""
    form = trimmed(normal_form(text, criterion))
    return form or trimmed(normalize("NFC", text))


def is_whole_word(part: str, text: str, start: int) -> bool:
    """Return whether `part`, found in `text` at `start`, is not part of a longer word.

    Scripts without spaces have no longer words.
    """
    end = start + len(part)
    return not (_joins(text[start - 1 : start + 1]) if start else False) and not _joins(
        text[end - 1 : end + 1]
    )


def _joins(pair: str) -> bool:
    """Return whether two neighbouring characters belong to one word."""
    return len(pair) == 2 and all(kind in "lhdm" for kind in kinds(pair))
