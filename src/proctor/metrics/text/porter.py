"""Porter stemming in the extended form that ROUGE scorers use.

The published numbers of `response_match_score` rest on NLTK's default Porter stemmer: Porter's algorithm of 1980
(M. F. Porter, "An algorithm for suffix stripping", Program 14(3)) with Porter's later corrections and a few
additions by NLTK (irregular words, short stems, `-fulli`, `-logi`). Snowball's "porter" differs on about one word in
eighty, so it cannot replace it. Here the word's letters are classified once (`v` vowel, `c` consonant), and every
condition of the algorithm is a test on that string.
"""

from __future__ import annotations

IRREGULAR = {
    "sky": "sky",
    "skies": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "news": "news",
    "innings": "inning",
    "inning": "inning",
    "outings": "outing",
    "outing": "outing",
    "cannings": "canning",
    "canning": "canning",
    "howe": "howe",
    "proceed": "proceed",
    "exceed": "exceed",
    "succeed": "succeed",
}

# Suffix -> replacement if the rest of the word has at least one vowel-consonant sequence (steps 2 and 3). The first
# matching suffix decides, even if its condition is not met, so longer suffixes come before their endings.
STEP_2 = (
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("fulli", "ful"),
)
STEP_3 = (
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
)
# Suffixes that are removed if the rest has at least two such sequences; `ion` only after s or t.
STEP_4 = ("al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize").split()

_LETTERS = {code: "v" if chr(code) in "aeiou" else "c" for code in range(128)}


def stem(word: str) -> str:
    """Return the stem of one lower-case word of ASCII letters and digits; words of one or two characters do not change."""
    if word in IRREGULAR:
        return IRREGULAR[word]
    if len(word) <= 2:
        return word
    word = _plurals(word)
    word = _past_and_progressive(word)
    word = _final_y(word)
    word = _step_2(word)
    word = _replace_first(word, STEP_3)
    word = _step_4(word)
    return _tidy_end(word)


def _shape(word: str) -> str:
    """Return one `v` or `c` per letter; `y` is a vowel after a consonant."""
    shape = word.translate(_LETTERS)
    if "y" not in word[1:]:
        return shape
    letters = list(shape)
    for index in range(1, len(word)):
        if word[index] == "y":
            letters[index] = "v" if letters[index - 1] == "c" else "c"
    return "".join(letters)


def _measure(stem_part: str) -> int:
    """Return Porter's m: how often a vowel run is followed by a consonant run."""
    return _shape(stem_part).count("vc")


def _ends_short(word: str) -> bool:
    """Test Porter's *o (consonant, vowel, consonant other than w, x, y), and NLTK's two-letter vowel-consonant words."""
    shape = _shape(word)
    return (shape.endswith("cvc") and word[-1] not in "wxy") or shape == "vc"


def _plurals(word: str) -> str:
    if not word.endswith("s") or word.endswith("ss"):
        return word
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    return word[:-2] if word.endswith("sses") else word[:-1]


def _past_and_progressive(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            # if `ed` matches without a vowel before it, `ing` cannot match either
            return _restore(rest) if "v" in _shape(rest) else word
    return word


def _restore(rest: str) -> str:
    """Repair a word without -ed or -ing: add an e, or remove half of a double consonant."""
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if len(rest) >= 2 and rest[-1] == rest[-2] and _shape(rest)[-1] == "c":
        return rest if rest[-1] in "lsz" else rest[:-1]
    return rest + "e" if _measure(rest) == 1 and _ends_short(rest) else rest


def _final_y(word: str) -> str:
    if word.endswith("y") and len(word) > 2 and _shape(word)[-2] == "c":
        return word[:-1] + "i"
    return word


def _step_2(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        return _step_2(word[:-2])
    if word.endswith("logi"):
        # the l belongs to the part that is measured
        return word[:-1] if _measure(word[:-3]) > 0 else word
    return _replace_first(word, STEP_2)


def _replace_first(word: str, rules: tuple[tuple[str, str], ...]) -> str:
    for suffix, replacement in rules:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            return rest + replacement if _measure(rest) > 0 else word
    return word


def _step_4(word: str) -> str:
    for suffix in STEP_4:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            fits = _measure(rest) > 1 and (suffix != "ion" or rest[-1] in "st")
            return rest if fits else word
    return word


def _tidy_end(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        measure = _measure(rest)
        if measure > 1 or (measure == 1 and not _ends_short(rest)):
            word = rest
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        word = word[:-1]
    return word
