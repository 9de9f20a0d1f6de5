"""The user says again what it said, and nothing the agent answered is a reason to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from proctor.schema.evidence.simulator_fault import FaultKind, UserFault
from proctor.simulation.faults.base import Heard, fault
from proctor.simulation.faults.text_features import (
    content_words,
    is_english,
    is_failing,
    is_like,
    puts_off,
    questions,
    shares_word,
    squashed,
    words,
)

__all__ = ["repeated_itself"]

_SHORTEST = 4
"""Words; shorter messages (`yes, please`) are the same on different occasions."""
_ASKS_NUMBER = re.compile(
    r"\b(when|what (?:date|day|time)|number|code|id|how (?:many|much|old|long)|which|where|address)\b",
    re.IGNORECASE,
)
_MEANT = re.compile(
    r"\b((?:ask|say|tell|try|write|demand|request|mention|state)\w*\b[^.;!?]{0,60}\b(?:again|twice|times)|"
    r"repeat\w*|insist\w*|persist\w*|keep (?:asking|saying|on)|same (?:question|message|thing))\b",
    re.IGNORECASE,
)


def repeated_itself(heard: Heard) -> Iterator[UserFault]:
    """Find messages that are, word for word, ones of before.

    Excused is what is said again to an agent that failed, goes in circles, or never came to it (a nonsense, an echo, a
    request to wait), what may well answer its last question, and a plan that wants it. The third time is one too many. With
    a plan that is not English only that is told.
    """
    if _MEANT.search(heard.plan):
        return
    seen: dict[str, list[int]] = {}
    for turn, text in enumerate(heard.said):
        said = " ".join(words(text))
        seen.setdefault(said, []).append(turn)
    own = dict(heard.own_turns())
    for said, turns in seen.items():
        if len(said.split()) < _SHORTEST:
            continue
        met = _met(heard, turns)
        for place, turn in enumerate(turns[1:], 1):
            if turn in own and met < turn and _is_fault(heard, turn, times=place + 1):
                why = f"it said the same in turn {turns[place - 1] + 1}, and what was answered is no reason to say it again"
                yield fault(FaultKind.REPEATED_ITSELF, turn, own[turn], why)
                break


def _is_fault(heard: Heard, turn: int, *, times: int) -> bool:
    last, text = heard.answer_before(turn), heard.said[turn]
    goes_in_circles = any(is_like(last, each, 0.9) for each in heard.answers[: turn - 1])
    if is_failing(last) or goes_in_circles:
        return False
    if times > 2:
        return True
    if not is_english(heard.plan):
        return False
    asked = "\n".join(questions(last))
    if not asked:
        return True
    may_answer = _ASKS_NUMBER.search(asked) and any(char.isdigit() for char in text)
    return not (may_answer or shares_word(content_words(text), content_words(asked)))


def _met(heard: Heard, turns: list[int]) -> int:
    """The first turn whose answer came to what was said in all of `turns`; the last of them where none did."""
    first, last = turns[0], turns[-1]
    text = heard.said[first]
    return next(
        (turn for turn in range(first, last) if _is_about(heard.answers[turn], text, heard.plan)), last
    )


def _is_about(answer: str, text: str, plan: str) -> bool:
    """Whether an answer came to what the user had said, or to anything else it wants: in words of its own, or with a number."""
    if is_like(answer, text, 0.8) or squashed(text) in squashed(answer):
        return False
    if not is_english(plan):
        return True  # nobody can tell
    if puts_off(answer):
        return False
    if any(char.isdigit() for char in answer):
        return True
    return shares_word(content_words(f"{text}\n{plan}"), content_words(answer))
