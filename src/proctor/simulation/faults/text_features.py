"""What rules read out of texts: words, sentences, questions, excuses. English; what reads otherwise is left to a judge."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain

__all__ = [
    "by_line", "content_words", "is_english", "is_failing", "is_giving_up", "is_like", "puts_off", "questions", "sentences",
    "shares_word", "squashed", "words",
]  # fmt: skip

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_SENTENCE_END = re.compile(r"(?<=[.!?。？！؟])[\"')\]]*\s+|\n+")
_COMMON = frozenset(
    "a about actually after again all also am an and any anything are as ask at be because been before but by can could "
    "did do does doing don done for from get give go going good got had has have he hello help her here hi him his how "
    "i if in into is it its just know let like ll look looking make may me might more much must my need no not now of ok "
    "okay on one only or other our out over please really right s said say see she should so some something still sure t "
    "tell than thank thanks that the their them then there these they thing things think this those to too try two up us "
    "use very want wants was way we well were what when where whether which while who why will with would yes yet you your "
    "being though although however there's somebody someone anybody user agent first next finally second third i'd i'm i've "
    "it's don't can't you're that's let's what's".split()
)
_MARKS_OF_ENGLISH = frozenset(
    "the you your to and of is for that what with my it this have please not are will want should would could which these "
    "those there how when where does did been about from they them our we who why its than".split()
)
_FAILING = re.compile(
    r"\b(sorry|apolog\w+|unfortunately|unable|afraid|cannot|can['’]?t|can not|could ?n['’]?o?t|fail\w*|error|problem with|"
    r"went wrong|try (?:that |it )?again|did ?n['’]?o?t (?:understand|catch|get|find|work)|do ?n['’]?o?t (?:understand|have)|"
    r"not (?:able|possible|available|found|allowed|clear|sure what)|no (?:record|results?|such|longer|matching)|transfer\w*|"
    r"human (?:agent|colleague)|specialist|colleague|rephrase|repeat (?:that|it|your)|refuse\w*|declin\w+|"
    r"out of (?:stock|service)|sold out|won['’]?t be able)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"^(?:(?:ok(?:ay)?|sure|great|thanks?|thank you|certainly|of course|happy to help|got it|alright|and)[,.! -]+)*"
    r"(?:(?:please|kindly)"
    r"(?! (?:allow|note|enjoy|contact|come|feel|find|keep|remember|visit|rest|accept|be|see|do ?n['’]?o?t)\b)|"
    r"(?:just )?(?:provide|tell me|give me|share|enter|send me|let me know|confirm|specify)|"
    r"(?:i(?:['’]ll| will)? (?:also )?need|i require|may i have|i(?:['’]ll| will) just need) (?:your|the|a|to know|you))\b",
    re.IGNORECASE,
)
_PUTS_OFF = re.compile(
    r"\b(let me|look(?:ing)? into|check|moment|get back|hold on|wait|second|see what)\b", re.IGNORECASE
)
_IN_SYMPATHY = re.compile(
    r"\b(?:so |very |really )?sorry (?:to hear|about (?:that|it|this)|for (?:the|any|your))\b", re.IGNORECASE
)


by_line = lru_cache(maxsize=8192)
"""Remembers what was read of a line: rules ask of every turn what all lines before it say, and a conversation only grows."""


def words(text: str) -> list[str]:
    """Return the words of a text, in small letters."""
    return list(chain.from_iterable(map(_words, text.split("\n"))))


@by_line
def _words(line: str) -> tuple[str, ...]:
    return tuple(found.replace("’", "'") for found in _WORD.findall(line.casefold()))


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, its lines taken apart."""
    return [part for one in _SENTENCE_END.split(text) if (part := one.strip(" \t*-•\"'"))]


def content_words(text: str) -> frozenset[str]:
    """Return the words that say what a text is about: no common ones, none that is shorter than three letters."""
    return frozenset().union(*map(_content_words, text.split("\n")))


@by_line
def _content_words(line: str) -> frozenset[str]:
    return frozenset(word for word in _words(line) if len(word) > 2 and word not in _COMMON)


def shares_word(these: Iterable[str], those: Iterable[str]) -> bool:
    """Tell whether any word of one is, but for its ending, a word of the other."""
    these, others = set(these), set(those)
    return bool(these & others) or any(_is_same(one, other) for one in these for other in others)


def _is_same(one: str, other: str) -> bool:
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    if long.startswith(short) and len(short) >= 3:
        return True
    return len(short) >= 4 and one[:4] == other[:4]


def is_english(text: str) -> bool:
    """Tell whether a text reads as English, so that the word lists of this module mean something."""
    counts = [_marks_of_english(line) for line in text.split("\n")]
    marks, found = sum(marks for marks, _ in counts), sum(found for _, found in counts)
    return marks >= 2 or (marks >= 1 and found < 12)


@by_line
def _marks_of_english(line: str) -> tuple[int, int]:
    """Count the marks of English in a line, and its words."""
    found = _words(line)
    return sum(word in _MARKS_OF_ENGLISH for word in found), len(found)


def is_failing(answer: str) -> bool:
    """Tell whether an agent's answer says that something did not work, or hands over: a reason to try again or to give up."""
    return not answer.strip() or _FAILING.search(answer) is not None


def is_giving_up(answer: str) -> bool:
    """Tell whether an answer says that something did not work, in what it states: an error asked about is none, nor is sympathy."""
    stated = " ".join(one for one in sentences(answer) if not one.endswith("?"))
    return not answer.strip() or is_failing(_IN_SYMPATHY.sub(" ", stated) or ".")


def puts_off(answer: str) -> bool:
    """Tell whether an answer only asks to wait."""
    return _PUTS_OFF.search(answer) is not None


def questions(text: str) -> list[str]:
    """Return the sentences of a text that ask for something."""
    return [
        one for one in sentences(text) if one.rstrip("\"')] ").endswith(("?", "？", "؟")) or _ASKS.match(one)
    ]


def is_like(one: str, other: str, least: float) -> bool:
    """Tell whether two texts have at least so large a share of their content words in common, both ways."""
    these, those = content_words(one), content_words(other)
    return bool(these and those) and len(these & those) >= least * len(these | those)


def squashed(text: str) -> str:
    """Return the letters and digits of a text alone, in small letters: how a value is written does not matter then."""
    return "".join(map(_squashed, text.split("\n")))


@by_line
def _squashed(line: str) -> str:
    return "".join(char for char in line.casefold() if char.isalnum())
