"""The user asks again what the agent has answered, or does not answer what the agent asked although its plan tells it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from proctor.schema.evidence.simulator_fault import FaultKind, UserFault
from proctor.simulation.faults.base import Heard, fault
from proctor.simulation.faults.plan_steps import depends
from proctor.simulation.faults.text_features import (
    content_words,
    is_english,
    is_failing,
    puts_off,
    questions,
    sentences,
    shares_word,
    squashed,
    words,
)
from proctor.simulation.faults.values import addresses, references

__all__ = ["ignored_question"]

_YES_OR_NO = re.compile(r"(?:yes|no|yep|nope|sure|certainly)\b", re.IGNORECASE)
_ASKS_YES_OR_NO = re.compile(
    r"^(?:\w+[,!] )?(?:shall|should|is|are|was|were|do|does|did|has|have|would|will|may i (?!have)|can i (?!have|get))\b",
    re.IGNORECASE,
)
_ASKS_WHEN = re.compile(r"\b(?:when|what (?:time|date|day))\b", re.IGNORECASE)
_ASKS_COUNT = re.compile(r"\bhow (?:many|much|old|big|long)\b", re.IGNORECASE)
_TIME = re.compile(
    r"\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:today|tomorrow|tonight|now|soon\w*|asap|noon|midnight|mornings?|"
    r"afternoons?|evenings?|nights?|week\w*|months?|days?|hours?|early|later?|time|january|february|march|april|june|july|august|"
    r"september|october|november|december|spring|summer|autumn|fall|winter|o['’]clock|flexible|possible)\b",
    re.IGNORECASE,
)
_COUNT = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|twenty|thirty|forty|fifty|sixty|seventy|"
    r"eighty|ninety|hundred|thousand|half|couple|few|several|both|alone|just me|none|most|least|more|less|much|budget)\b",
    re.IGNORECASE,
)
_ASK_AGAIN = re.compile(
    r"\b(again|twice|repeat\w*|double[- ]check\w*|confirm\w*|insist\w*|persist\w*|keep (?:asking|pressing)|verify)\b",
    re.IGNORECASE,
)
_RELUCTANT = re.compile(
    r"\b(do ?n['’]?o?t (?:know|have|remember|recall|want|care|mind|see|understand)|not sure|no (?:idea|preference)|unsure|rather not|"
    r"already|whichever|whatever|any|either|doesn['’]?t matter|up to you|you (?:choose|decide)|first|before that|wrong|"
    r"nothing to do|(?:off|stay on) topic|irrelevant|what has that|excuse me|"
    r"not what|no|nope|never mind|forget|skip|why|actually|wait|hold on|prefer not|keep|withhold|vague)\b",
    re.IGNORECASE,
)
_KEEPS_BACK = re.compile(
    r"\b(?:(?:do not|don['’]t|never|not|without|only|refuse to|avoid) (?:ever )?(?:giv\w+|tell\w*|answer\w*|reveal\w*|shar\w+|say\w*|"
    r"provid\w+|disclos\w+)|reluctant\w*|unwilling|withhold|keep back|evasive\w*|vague\w*|dodge\w*|ignore\w*|"
    r"change the subject)\b",
    re.IGNORECASE,
)
_SLOT = re.compile(
    r"\b(?:order|booking|reservation|confirmation|ticket|account|customer|member\w*|reference|tracking|invoice|policy|case|"
    r"contract|serial|licen[cs]e|patient|employee|student|card|flight|loyalty|phone|telephone|mobile|user|room)?\s*(?:id|number|"
    r"no\.|code|reference|pin|e-?mail(?: address)?|zip(?: code)?|postal code|postcode|digits)\b",
    re.IGNORECASE,
)


def ignored_question(heard: Heard) -> Iterator[UserFault]:
    """Find questions that were asked again after their answer, and questions of the agent that were passed over.

    A plan in which the user asks again, or keeps something back, excuses that. Only English is read.
    """
    if not is_english(heard.plan):
        return
    if not _ASK_AGAIN.search(heard.plan):
        yield from _asked_again(heard)
    if not _KEEPS_BACK.search(f"{heard.plan}\n{heard.briefing}"):
        yield from _passed_over(heard)


class _Asking:
    """A message that asks something, read once: it is held against all that come later."""

    def __init__(self, turn: int, text: str) -> None:
        self.turn = turn
        self.said = " ".join(words(text))
        self.about = content_words(text)
        asked = [one for one in sentences(text) if one.endswith("?")]
        self.questions = [(one, content_words(one)) for one in asked]


def _asked_again(heard: Heard) -> Iterator[UserFault]:
    asking = [_Asking(turn, text) for turn, text in enumerate(heard.said) if "?" in text]
    own = dict(heard.own_turns())
    for place, now in enumerate(asking):
        for before in asking[:place] if now.turn in own else ():
            if now.said == before.said:
                continue  # word for word: it repeats itself
            asked = _same_question(before, now, own[now.turn])
            if asked and all(_is_answer(asked, heard.answers[at]) for at in {before.turn, now.turn - 1}):
                why = f"it had asked that in turn {before.turn + 1}, and the agent had answered"
                yield fault(FaultKind.IGNORED_QUESTION, now.turn, asked, why)
                break


def _same_question(before: _Asking, now: _Asking, text: str) -> str:
    """The question of a message that an earlier one had asked in nearly the same words, or with the same ones around it."""
    if len(now.about) > 2 and _are_like(now.about, before.about):
        return text
    for asked, about in now.questions:
        if len(about) < 2:
            continue
        is_told_before = len(about & before.about) >= _LIKE * len(about)
        for _, other in before.questions:
            if (other and other <= about and is_told_before) or _are_like(about, other):
                return asked
    return ""


_LIKE = 0.75


def _are_like(these: frozenset[str], those: frozenset[str]) -> bool:
    return bool(these and those) and len(these & those) >= _LIKE * len(these | those)


def _is_answer(asked: str, answer: str) -> bool:
    """Whether an answer says yes or no, or is about the question; a failure is none, nor is a question in turn."""
    if is_failing(answer):
        return False
    if _YES_OR_NO.match(answer.strip()):
        return True
    stated = content_words("\n".join(one for one in sentences(answer) if one not in questions(answer)))
    return shares_word(content_words(asked), stated) or (len(stated) > 2 and not puts_off(answer))


def _passed_over(heard: Heard) -> Iterator[UserFault]:
    facts = [one for one in sentences(heard.plan) if not depends(one)]
    for turn, text in heard.own_turns():
        asked = [one for one in questions(heard.answer_before(turn)) if is_english(one) or _SLOT.search(one)]
        if not asked or _RELUCTANT.search(text) or _answers_any(text, asked[:-1]):
            continue
        known = _known(asked[-1], facts)
        if known and _is_passed_over(asked[-1], known, text, heard.said[:turn]):
            why = f"the agent asked {asked[-1]!r}; the plan tells: {known!r}"
            yield fault(FaultKind.IGNORED_QUESTION, turn, text, why)


def _answers_any(text: str, asked: list[str]) -> bool:
    """Whether a message may well answer one of several questions."""
    said = content_words(text)
    return any(len(said) < 4 or shares_word(said, content_words(one)) for one in asked)


def _known(asked: str, facts: list[str]) -> str:
    """The sentence of the plan that answers a question; empty where none does."""
    if _ASKS_YES_OR_NO.match(asked):
        return ""
    for asks, kind in ((_ASKS_WHEN, _TIME), (_ASKS_COUNT, _COUNT)):
        if asks.search(asked):
            return next((fact for fact in facts if kind.search(fact)), "")
    about = content_words(asked)
    slot = _SLOT.search(asked)
    if slot is not None:
        named = content_words(slot[0]) | {word for word in words(slot[0]) if word in ("id", "pin", "zip")}
        for fact in facts:
            if _values(fact) and shares_word(named, content_words(fact) | set(words(fact))):
                return fact
        return ""
    return next((fact for fact in facts if len(about) > 1 and len(_common(about, fact)) > 1), "")


def _common(about: frozenset[str], fact: str) -> list[str]:
    there = content_words(fact)
    return [word for word in about if shares_word([word], there)]


def _values(text: str) -> list[str]:
    return [*addresses(text), *references(text)]


def _is_passed_over(asked: str, known: str, text: str, before: Sequence[str]) -> bool:
    """Whether a message has neither what the plan tells nor anything else that could be an answer."""
    for asks, kind in ((_ASKS_WHEN, _TIME), (_ASKS_COUNT, _COUNT)):
        if asks.search(asked):
            told = any(kind.search(one) for one in before[-1:])
            return not (told or kind.search(text) or "?" in text) and len(content_words(text)) > 3
    if _SLOT.search(asked):
        values = _values(known)
        given = "\n".join(before)
        if any(squashed(value) in squashed(given) for value in values):
            return False
        return not (
            _values(text) or "?" in text or any(squashed(value) in squashed(text) for value in values)
        )
    said = content_words(text)
    return len(said) > 3 and not shares_word(said, content_words(asked) | content_words(known))
