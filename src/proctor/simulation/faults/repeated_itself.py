"""Find messages that the user repeats although the agent's answer gives no reason to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from proctor.schema.evidence.simulated_user import FaultKind, UserFault
from proctor.simulation.faults.conversation import UserConversation, new_fault
from proctor.simulation.faults.text_features import (
    are_similar,
    asks_to_wait,
    content_words,
    is_english,
    is_failing,
    normalize,
    questions,
    shares_word,
    words,
)

_SHORTEST = 4
"""Words; shorter messages (`yes, please`) may be equal on different occasions."""
_ASKS_NUMBER = re.compile(
    r"\b(when|what (?:date|day|time)|number|code|id|how (?:many|much|old|long)|which|where|address)\b",
    re.IGNORECASE,
)
_WANTS_REPETITION = re.compile(
    r"\b((?:ask|say|tell|try|write|demand|request|mention|state)\w*\b[^.;!?]{0,60}\b(?:again|twice|times)|"
    r"repeat\w*|insist\w*|persist\w*|keep (?:asking|saying|on)|same (?:question|message|thing))\b",
    re.IGNORECASE,
)


def repeated_itself(conversation: UserConversation) -> Iterator[UserFault]:
    """Find messages that repeat an earlier one word for word.

    A repetition is permitted if the agent failed, repeats itself, or did not address the message (nonsense, an echo, a
    request to wait), if it may answer the agent's last question, or if the plan wants it. The third time is always a fault;
    with a plan that is not English it is the only one.
    """
    if _WANTS_REPETITION.search(conversation.plan):
        return
    turns_by_text: dict[str, list[int]] = {}
    for turn, text in enumerate(conversation.user_messages):
        turns_by_text.setdefault(" ".join(words(text)), []).append(turn)
    own = dict(conversation.own_turns())
    for message, turns in turns_by_text.items():
        if len(message.split()) < _SHORTEST:
            continue
        addressed = _first_addressed(conversation, turns)
        for place, turn in enumerate(turns[1:], 1):
            if turn in own and addressed < turn and _is_fault(conversation, turn, times=place + 1):
                why = f"it sent the same message in turn {turns[place - 1] + 1}, and the answer gives no reason to repeat it"
                yield new_fault(FaultKind.REPEATED_ITSELF, turn, own[turn], why)
                break


def _is_fault(conversation: UserConversation, turn: int, *, times: int) -> bool:
    last, text = conversation.answer_before(turn), conversation.user_messages[turn]
    agent_repeats = any(are_similar(last, each, 0.9) for each in conversation.answers[: turn - 1])
    if is_failing(last) or agent_repeats:
        return False
    if times > 2:
        return True
    if not is_english(conversation.plan):
        return False
    question_text = "\n".join(questions(last))
    if not question_text:
        return True
    may_answer = _ASKS_NUMBER.search(question_text) and any(char.isdigit() for char in text)
    return not (may_answer or shares_word(content_words(text), content_words(question_text)))


def _first_addressed(conversation: UserConversation, turns: list[int]) -> int:
    """Return the first turn whose answer addresses the message of `turns`; the last of them if none does."""
    first, last = turns[0], turns[-1]
    text = conversation.user_messages[first]
    return next(
        (
            turn
            for turn in range(first, last)
            if _is_about(conversation.answers[turn], text, conversation.plan)
        ),
        last,
    )


def _is_about(answer: str, text: str, plan: str) -> bool:
    """Whether an answer addresses the message or the plan, with new words or with a number."""
    if are_similar(answer, text, 0.8) or normalize(text) in normalize(answer):
        return False
    if not is_english(plan):
        return True  # the word lists apply to English only
    if asks_to_wait(answer):
        return False
    if any(char.isdigit() for char in answer):
        return True
    return shares_word(content_words(f"{text}\n{plan}"), content_words(answer))
