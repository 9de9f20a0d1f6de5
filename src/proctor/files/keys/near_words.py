"""Find the word of another tool that an unknown key is a slip of: singular for plural, or a spelling mistake."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import SequenceMatcher

from proctor.files.keys.other_tools import (
    EXPECTATIONS,
    EXPECTS,
    FIRST_WORDS,
    OTHER_WORDS,
    kind_of_expectation,
)

__all__ = ["near_word"]

_SHORT = 5
"""Letters up to which a likeness in spelling is a coincidence."""
_ALIKE = 0.87


def near_word(own: Mapping[str, str], name: str) -> str | None:
    """Return the meaning of the word that `name` is a slip of, as in `OTHER_WORDS`; `None` if it resembles none.

    `own`: the words that mean something in the object that has the key, and only there.
    """
    words = {word: kind for word, kind in {**OTHER_WORDS, **own}.items() if kind in EXPECTATIONS}
    plain = _plain(name)
    for word, kind in words.items():
        if plain == _plain(word):
            return kind
    for word, kind in words.items():
        is_longer = name.startswith(f"{word}_") or name.endswith(f"_{word}")
        if not is_longer and _is_misspelled(name.replace("_", ""), word.replace("_", "")):
            return kind
    return _near_expectation(name)


def _near_expectation(name: str) -> str | None:
    """Find a slip in the word that a key begins with, such as `expcted_output`."""
    first, _, rest = name.partition("_")
    for word in FIRST_WORDS:
        if _is_misspelled(first, word) and not first.startswith(word):
            meant = f"{word}_{rest}" if rest else word
            if meant in OTHER_WORDS or EXPECTS.match(meant):
                return OTHER_WORDS.get(meant, kind_of_expectation(meant))
    return None


def _plain(name: str) -> str:
    """Return a name in the singular, without separators."""
    return re.sub(r"(?:ies|y)(?=_|$)|s(?=_|$)|_", "", name)


def _is_misspelled(name: str, word: str) -> bool:
    if len(word) <= _SHORT or name[:1] != word[0]:
        return False
    return SequenceMatcher(None, name, word).ratio() >= _ALIKE
