"""Text features for the rules: words, sentences, questions, failures. For English texts; a judge scores the others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain

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
"""Caches the features of a line: the rules evaluate all earlier lines again in every turn."""


def words(text: str) -> list[str]:
    """Return the words of a text, in lower case."""
    return list(chain.from_iterable(map(_words, text.split("\n"))))


@by_line
def _words(line: str) -> tuple[str, ...]:
    return tuple(word.replace("’", "'") for word in _WORD.findall(line.casefold()))


def sentences(text: str) -> list[str]:
    """Return the sentences of a text; each line is at least one sentence."""
    return [part for piece in _SENTENCE_END.split(text) if (part := piece.strip(" \t*-•\"'"))]


def content_words(text: str) -> frozenset[str]:
    """Return the words of a text without common words and words of fewer than three letters."""
    return frozenset().union(*map(_content_words, text.split("\n")))


@by_line
def _content_words(line: str) -> frozenset[str]:
    return frozenset(word for word in _words(line) if len(word) > 2 and word not in _COMMON)


def shares_word(these: Iterable[str], those: Iterable[str]) -> bool:
    """Return whether the two texts share a word, ignoring endings."""
    left, right = set(these), set(those)
    return bool(left & right) or any(_is_same(one, other) for one in left for other in right)


def _is_same(one: str, other: str) -> bool:
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    if long.startswith(short) and len(short) >= 3:
        return True
    return len(short) >= 4 and one[:4] == other[:4]


def is_english(text: str) -> bool:
    """Return whether a text is English: the word lists of this module apply only then."""
    counts = [_marks_of_english(line) for line in text.split("\n")]
    marks, total = sum(marks for marks, _ in counts), sum(total for _, total in counts)
    return marks >= 2 or (marks >= 1 and total < 12)


@by_line
def _marks_of_english(line: str) -> tuple[int, int]:
    """Return the number of English function words in a line, and of all words."""
    line_words = _words(line)
    return sum(word in _MARKS_OF_ENGLISH for word in line_words), len(line_words)


def is_failing(answer: str) -> bool:
    """Return whether an agent's answer reports a failure or hands over: the user may then try again or give up."""
    return not answer.strip() or _FAILING.search(answer) is not None


def is_giving_up(answer: str) -> bool:
    """Return whether the statements of an answer report a failure. Questions and expressions of sympathy do not count."""
    statements = " ".join(sentence for sentence in sentences(answer) if not sentence.endswith("?"))
    return not answer.strip() or is_failing(_IN_SYMPATHY.sub(" ", statements) or ".")


def asks_to_wait(answer: str) -> bool:
    """Return whether an answer asks the user to wait."""
    return _PUTS_OFF.search(answer) is not None


def questions(text: str) -> list[str]:
    """Return the sentences of a text that ask for something."""
    return [
        sentence
        for sentence in sentences(text)
        if sentence.rstrip("\"')] ").endswith(("?", "？", "؟")) or _ASKS.match(sentence)
    ]


def are_similar(one: str, other: str, least: float) -> bool:
    """Return whether two texts share at least the fraction `least` of their content words."""
    these, those = content_words(one), content_words(other)
    return bool(these and those) and len(these & those) >= least * len(these | those)


def normalize(text: str) -> str:
    """Return only the letters and digits of a text, in lower case, to compare values in different notations."""
    return "".join(map(_normalize_line, text.split("\n")))


@by_line
def _normalize_line(line: str) -> str:
    return "".join(char for char in line.casefold() if char.isalnum())


# --- The steps and conditions of a conversation plan, sentence by sentence --------------------------------------------


_ABOUT_AGENT = re.compile(
    r"\b(?:agent|assistant|(?:chat)?bot|(?:the|this) system)\b[^.?!]{0,40}\b(?:should|must|shall|will|has to|is (?:expected|supposed) to|"
    r"ought to)\b|\b(?:expected|correct|right|reference) (?:answer|result|outcome|reply|response|value|total|state)\b|"
    r"\bthe answer (?:is|should|must|will)\b",
    re.IGNORECASE,
)
_LEAD = (
    r"(?:(?:first|second|third|then|next|finally|lastly|afterwards?|after that|also|once (?:that|this|it)['’]?s? (?:is )?\w+|"
    r"in the end|and|you (?:also )?(?:want to|would like to|need to|should|must|are to|will)|your goal is to|the user "
    r"(?:wants to|should|must|will))[, ]+)*"
)
_VERB = (
    r"(?:ask|book|request|cancel|change|order|buy|return|exchange|find out|inquire|add|remove|replace|update|move|check|report|"
    r"rent|reserve|schedule|arrange|reschedule|upgrade|renew|pay|complain|apply|enrol|register|switch|compare|demand|get|have)"
)
_STEP = re.compile(rf"^{_LEAD}(?P<step>{_VERB}\b.*)", re.IGNORECASE)
_DEPENDS = re.compile(
    r"\b(if|unless|when|whenever|only|in case|otherwise|should (?:the|they|it|this|that)|optional\w*|depending|maybe|prefer\w*|"
    r"do not|don['’]t|never|without)\b",
    re.IGNORECASE,
)
_WHETHER = re.compile(
    r"(?<=\b)(?:ask|check|see|know|find out|inquire|enquire|confirm|verify)(?: \w+){0,2} if\b", re.IGNORECASE
)
_ENDS = re.compile(
    r"\b(?:end|stop|leave|quit|hang up|finish|give up|walk away|abort|break off|say goodbye|conclude|be done)\b",
    re.IGNORECASE,
)
_JOINT = re.compile(
    r";|,? (?:and )?then |, and (?:also )?(?=(?:ask|book|request|cancel|change|order|return|add|find out)\b)",
    re.IGNORECASE,
)


def about_the_agent(plan: str) -> list[str]:
    """Return the sentences of a plan about what the agent should do. The user knows them and must not reveal them."""
    return [sentence for sentence in sentences(plan) if _ABOUT_AGENT.search(sentence)]


def steps(plan: str) -> Iterator[str]:
    """Yield the steps that the user must take unconditionally."""
    agents = about_the_agent(plan)
    for sentence in sentences(plan):
        if sentence in agents or depends(sentence):
            continue
        for part in _JOINT.split(sentence):
            match = _STEP.match(re.sub(r"^\d+[.)]\s*", "", part.strip()))
            if match is not None:
                yield match["step"]


def depends(sentence: str) -> bool:
    """Return whether a sentence of a plan is conditional or a prohibition."""
    return _DEPENDS.search(_WHETHER.sub(" ", sentence)) is not None


def may_end_early(plan: str) -> bool:
    """Return whether a plan allows the user to end the conversation before all steps are done."""
    return any(_ENDS.search(sentence) and depends(sentence) for sentence in sentences(plan))
