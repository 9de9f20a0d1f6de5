"""Words of any script, for metrics that count words.

google-adk's tokenizer (`proctor.metrics.text.rouge`) joins Thai with the following text, splits Thai SARA AM in two, takes a
run of ideographs outside the common block for one word, and ignores emoji and digits of other scripts. This one
follows Unicode, with these rules:

* Plain ASCII text: exactly rouge-score's tokens.
* Case is folded. Text that is canonically the same is the same (NFC), and so are full-width, half-width and
  presentation forms, ligatures, and digits of all scripts.
* Ideographs (all extensions), kana, Hangul syllables, Yi, Tangut: one token each. A prolonged sound mark stays with its kana.
* Thai, Lao, Khmer, Myanmar and other scripts without spaces: one token per cluster (leading vowel, consonant with what
  is stacked below it, vowels, tones, final killed consonant). Clusters are not words, but they need no dictionary.
* Scripts with spaces: letters, marks and digits up to the next other character. Optional points of Arabic and Hebrew,
kashida, soft hyphens, and invisible format characters are left out.
* Emoji are tokens; a sequence (skin tone, family, flag) is one. Other symbols and punctuation separate words.
"""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import category, decimal, decomposition, normalize

from proctor.metrics.text import rouge

REMEMBERED = 50_000
"""The number of characters with cached folding and kind; more than any text uses, fewer than there are."""

ZERO_WIDTH_JOINER = "\u200d"
COMPATIBLE = {"<wide>", "<narrow>", "<initial>", "<medial>", "<final>", "<isolated>", "<compat>", "<square>"}
"""Kinds of characters that only look different. Not superscripts and fractions: x² is not x2."""

SARA_AM = "\u0e33\u0eb3"
"""Thai and Lao: one letter for writers, though it has a decomposition, which is undone after normalisation."""

# Points that Arabic and Hebrew texts may omit, and the kashida, which only stretches a word.
OPTIONAL = (
    range(0x0591, 0x05BE),
    range(0x05BF, 0x05C8),
    range(0x064B, 0x0653),
    range(0x0670, 0x0671),
    range(0x0640, 0x0641),
)

SEPARATE = (
    range(0x3005, 0x3008), range(0x3021, 0x302A), range(0x3038, 0x303C), range(0x3041, 0x3097), range(0x309D, 0x30A0),
    range(0x30A1, 0x30FB), range(0x30FD, 0x3130), range(0x31A0, 0x31C0), range(0x31F0, 0x3200), range(0x3400, 0x4DC0),
    range(0x4E00, 0xA48D), range(0xAC00, 0xD7A4), range(0xF900, 0xFB00), range(0x16FE0, 0x18E00),
    range(0x1AFF0, 0x1B300), range(0x20000, 0x40000),
)  # fmt: skip
"""Each character is a word. Whole planes, so that ideographs unknown to this Python count, too."""

CLUSTERED = (
    range(0x0E01, 0x0EE0), range(0x1000, 0x10A0), range(0x1780, 0x1800), range(0x1950, 0x19E0), range(0x1A20, 0x1AB0),
    range(0xA9E0, 0xAA00), range(0xAA60, 0xAAE0),
)  # fmt: skip
"""Thai and Lao, Myanmar, Khmer, Tai Le and New Tai Lue, Tai Tham, Myanmar extended, Tai Viet."""

LEADING = {
    *map(
        ord,
        "\u0e40\u0e41\u0e42\u0e43\u0e44\u0ec0\u0ec1\u0ec2\u0ec3\u0ec4\u19b5\u19b6\u19b7\u19ba\uaab5\uaab6\uaab9\uaabb\uaabc",
    )
}
"""Vowels that are written before their consonant (Unicode's Logical_Order_Exception)."""
FOLLOWING = {
    *map(ord, "\u0e30\u0e32\u0e33\u0e45\u0eb0\u0eb2\u0eb3\u0ebd\uaab1\uaaba\uaabd"),
    *range(0x19B0, 0x19B5), 0x19B8, 0x19B9, *range(0x19BB, 0x19CA),
}  # fmt: skip
"""Vowels, finals and tones that are letters to Unicode and belong to the consonant before them."""
ALONE = {0x0E2F, 0x0EAF}
"""Signs of abbreviation, not consonants."""
STACKING = {0x1039, 0x17D2, 0x1A60}
"""Marks that put the next consonant below the one before."""
KILLING = {0x103A}
"""Marks that make a consonant the end of the syllable before it."""

EMOJI = (
    range(0x1F000, 0x1FB00), range(0x2600, 0x27C0), range(0x231A, 0x231C), range(0x23E9, 0x23FB), range(0x2B05, 0x2B56)
)  # fmt: skip
REGIONAL = range(0x1F1E6, 0x1F200)
MODIFIERS = (range(0x1F3FB, 0x1F400), range(0xE0020, 0xE0080))
"""Skin tones, and the tags that name a region's flag."""

HEBREW_LETTERS = range(0x05D0, 0x05F3)
QUOTES_IN_HEBREW = {*map(ord, "\u05f3\u05f4'\"")}
"""Within a Hebrew word they mark an abbreviation."""

TOKEN = re.compile(
    r"[lhd][lhdmz]*(?:(?<=h)qh[lhdmz]*)*"  # a word
    r"|c[moz]*"  # an ideograph, a kana
    r"|p{0,2}t(?:[mfkz]|vt)*(?:tm*k(?!v)m*)*|[pf]m*"  # a cluster: consonant, what hangs on it, a killed consonant
    r"|e[xm]*(?:ze[xm]*)*|rr?"  # an emoji, a flag
)
"""Over the kinds of a text's characters, one letter each: see `_kind`."""


def unicode_words(text: str, *, ignore_accents: bool = False) -> list[str]:
    """Return the words of `text`, folded by the rules above; as many as `unicode_tokens` returns."""
    if text.isascii():
        return rouge.words(text)
    text = _fold_text(text)
    if ignore_accents:
        text = without_accents(text)
    return [_plain(text[match.start() : match.end()]) for match in TOKEN.finditer(kinds(text))]


def unicode_tokens(text: str, *, ignore_accents: bool = False, stem: bool = True) -> list[str]:
    """Return the words of `text` as they are counted: ASCII words of more than three letters by their stems."""
    words = unicode_words(text, ignore_accents=ignore_accents)
    return rouge.stems(words) if stem else words


def without_accents(text: str) -> str:
    """Return `text` without the accents of Latin, Greek and Cyrillic letters; vowel signs of other scripts stay."""
    return normalize("NFC", ACCENTS.sub("", normalize("NFD", text)))


def kinds(text: str) -> str:
    """Return one letter per character of `text`: its kind for the tokenizer; a blank for what separates words."""
    return "".join(map(_kind, text))


ACCENTS = re.compile("[\u0300-\u036f]+")


def _fold_text(text: str) -> str:
    text = "".join(map(_fold, normalize("NFC", text))).casefold()
    for letter in SARA_AM:
        text = text.replace(normalize("NFKD", letter), letter)
    return normalize("NFC", text)


def _plain(word: str) -> str:
    """Remove characters that only join or abbreviate; an emoji keeps its joiners."""
    if word.isalnum() or kinds(word[0]) == "e":
        return word
    return normalize("NFC", word.translate(_JOINERS))


_JOINERS = {ord(ZERO_WIDTH_JOINER): None, **dict.fromkeys(QUOTES_IN_HEBREW)}


@lru_cache(REMEMBERED)
def _fold(character: str) -> str:
    code = ord(character)
    if any(code in points for points in OPTIONAL) or 0xFE00 <= code < 0xFE10:
        return ""
    kind = category(character)
    if kind == "Nd":
        return str(decimal(character))
    if kind == "Cf":
        return _format_character(code)
    if character == "İ":  # its folding would leave a separate dot
        return "i"
    if character not in SARA_AM and decomposition(character).partition(" ")[0] in COMPATIBLE:
        return "".join(_fold(each) for each in normalize("NFKC", character))
    return character


def _format_character(code: int) -> str:
    """Remove invisible characters, except the zero-width space and characters that join an emoji."""
    if code == 0x200B:
        return " "
    return chr(code) if code == ord(ZERO_WIDTH_JOINER) or code in MODIFIERS[1] else ""


@lru_cache(REMEMBERED)
def _kind(character: str) -> str:
    """Return the letter of one folded character in the terms of `TOKEN`.

    l letter, h Hebrew letter, d digit, m mark, c separate character, o prolonged sound, e emoji, x its modifier,
    r regional indicator, z joiner, q quote within Hebrew; t consonant of a cluster, p and f vowels before and after it,
    v what stacks consonants, k what kills one.
    """
    code = ord(character)
    if code < 0x80:
        return (
            "d" if character.isdigit() else "l" if character.isalpha() else "q" if character in "'\"" else " "
        )
    if code in _SINGLE:
        return _SINGLE[code]
    if letter := next((letter for letter, blocks in _BLOCKS if any(code in block for block in blocks)), ""):
        return letter
    return _kind_of_word(code, category(character))


def _kind_of_word(code: int, kind: str) -> str:
    if kind.startswith("M"):
        return "m"
    if any(code in block for block in CLUSTERED):
        return _kind_in_cluster(code, kind)
    if any(code in block for block in SEPARATE):
        return "c" if kind[0] in "LNC" else " "
    if kind.startswith("N"):
        return "d"
    return ("h" if code in HEBREW_LETTERS else "l") if kind.startswith("L") else " "


_BLOCKS = (("r", (REGIONAL,)), ("x", MODIFIERS), ("e", EMOJI))
_SINGLE = {
    0x30FC: "o", ord(ZERO_WIDTH_JOINER): "z", **dict.fromkeys(QUOTES_IN_HEBREW, "q"), **dict.fromkeys(FOLLOWING, "f"),
    **dict.fromkeys(STACKING, "v"), **dict.fromkeys(KILLING, "k"),
}  # fmt: skip


def _kind_in_cluster(code: int, kind: str) -> str:
    if code in LEADING:
        return "p"
    if kind == "Lm" or code in ALONE:
        return "c"
    return "t" if kind == "Lo" else "d" if kind.startswith("N") else " "
