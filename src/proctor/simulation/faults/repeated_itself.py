"""The user says again what it said, and nothing the agent answered is a reason to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from proctor.schema.user_fault import FaultKind, UserFault
from proctor.simulation.faults.base import Heard, fault
from proctor.simulation.faults.reading import is_english, is_failing, is_like, questions, words

__all__ = ["repeated_itself"]

_SHORTEST = 4
"""Words; shorter messages (`yes, please`) are the same on different occasions."""
_MEANT = re.compile(
    r"\b(again|twice|repeat\w*|insist\w*|persist\w*|keep (?:asking|saying|on)|same (?:question|message|thing))\b",
    re.IGNORECASE,
)


def repeated_itself(heard: Heard) -> Iterator[UserFault]:
    """Find messages that are, word for word, ones of before.

    Excused is a message that answers an agent which asked again, which failed, or which said again what it had said
    (once more each), and a plan that wants it. In a text that is not English nothing excuses or accuses but the number:
    the third time, with other answers in between.
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
        for place, turn in enumerate(turns[1:], 1):
            if turn in own and _is_fault(heard, turns[place - 1], turn, times=place + 1):
                why = f"it said the same in turn {turns[place - 1] + 1}, and what was answered is no reason to say it again"
                yield fault(FaultKind.REPEATED_ITSELF, turn, own[turn], why)
                break


def _is_fault(heard: Heard, before: int, turn: int, *, times: int) -> bool:
    answer, last = heard.answers[before], heard.answer_before(turn)
    if turn != before + 1 and (is_failing(last) or questions(last)):
        return False
    alike = any(is_like(answer, each, 0.9) for each in heard.answers[:before])
    if not is_english(answer) or is_failing(answer) or questions(answer) or alike:
        return times > 2 and not alike and not is_failing(last)
    return True
