"""Find conversations that the user ends while the agent waits for an answer, or before all steps of the plan were raised."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from proctor.schema.evidence.simulated_user import FaultKind, UserFault
from proctor.simulation.faults.conversation import UserConversation, new_fault
from proctor.simulation.faults.text_features import (
    are_similar,
    content_words,
    is_english,
    is_giving_up,
    may_end_early,
    questions,
    sentences,
    shares_word,
    steps,
    words,
)
from proctor.simulation.user_models import STOP_SIGNAL

_SIGNAL = re.compile(re.escape(STOP_SIGNAL), re.IGNORECASE)
_COURTESY = re.compile(
    r"\b(anything else|something else|any(?:thing| other| more| further)|another|else (?:i|we) can|other questions|help you with|"
    r"have a (?:nice|great|good)|how was|rate|feedback|satisfied)\b",
    re.IGNORECASE,
)
_OFFER = re.compile(
    r"^(?:\w+[,!] )?(?:would you like|do you want|do you need|shall i|should i|may i|can i|want me to)\b",
    re.IGNORECASE,
)
_IS_DONE = re.compile(
    r"\b(?:done|all set|completed|taken care of|on (?:its|their|the) way|(?:has|have) (?:now |just )?been|"
    r"(?:is|are) (?:now |all )?(?:booked|cancell?ed|returned|refunded|ordered|reserved|placed|confirmed|sent|updated|changed))\b",
    re.IGNORECASE,
)
_ASKS_WHAT = re.compile(
    r"^(?:\w+[,!] )?(?:and |but |now )?(?:what|which|when|where|how|who|please|may i have|could you|can you|to which)\b",
    re.IGNORECASE,
)
_ASKS_YES_OR_WHO = re.compile(
    r"\b(?:shall|should|may|can|want me to|like me to) (?:i |we )?(?:\w+ ){1,2}(?:it|that|this|them|those|these|one|you)\b|"
    r"\byour (?:full |last |first )?(?:name|address|e-?mail|phone|order|booking|account|customer|date of birth)\b",
    re.IGNORECASE,
)
_CONFIRMS = frozenset(
    "shall ahead proceed confirm confirmed correct continue agree okay acceptable work works suit suits fine option sound sounds "
    "details go does".split()
)
_SAME = (
    frozenset(
        "cost costs price prices pricing fee fees charge charges charged much pay expensive euros dollars pounds".split()
    ),
    frozenset("long time duration take takes when soon days weeks hours minutes months arrive until".split()),
)
"""Groups of words that ask for the same thing."""


def stopped_early(conversation: UserConversation) -> Iterator[UserFault]:
    """Find a premature end.

    An end is never premature if the state is as expected, if the agent failed, handed over or repeats itself, or if the plan
    allows an early end.
    """
    end = conversation.end
    if end is None or not conversation.answers or _may_end(conversation):
        return
    fault = _open_question(conversation) or _missing_step(conversation)
    if fault is not None:
        evidence, why = fault
        yield new_fault(FaultKind.STOPPED_EARLY, end.turn, evidence, why)


def _may_end(conversation: UserConversation) -> bool:
    *earlier, last = conversation.answers
    return (
        conversation.has_expected_state is True
        or is_giving_up(last)
        or _SIGNAL.search(last) is not None
        or may_end_early(conversation.plan)
        or not is_english(conversation.plan)
        or any(are_similar(last, answer, 0.8) for answer in earlier)
    )


def _open_question(conversation: UserConversation) -> tuple[str, str] | None:
    last = conversation.answers[-1]
    known = content_words("\n".join([conversation.plan, conversation.briefing, *conversation.user_messages]))
    agent_questions = questions(last)
    is_done = any(
        _IS_DONE.search(sentence) for sentence in sentences(last) if sentence not in agent_questions
    )
    ignored = (_COURTESY, _OFFER) if conversation.has_expected_state is None else (_COURTESY,)
    is_open = [
        question
        for question in agent_questions
        if not any(pattern.search(question) for pattern in ignored)
        and _needs_answer(question, known, is_done=is_done)
    ]
    if not is_open or not is_english(last):
        return None
    return is_open[-1], "it ended the conversation without answering this question of the agent"


def _needs_answer(question: str, known: Collection[str], *, is_done: bool) -> bool:
    """Whether a question asks for a confirmation, for the user's identity, or for something in the plan or the conversation.

    The user may leave without answering other questions, or a request to confirm something that is done already.
    """
    if is_done and not _ASKS_WHAT.match(question):
        return False
    about = content_words(question) - _CONFIRMS
    if not about or shares_word(about, known):
        return True
    return not is_done and _ASKS_YES_OR_WHO.search(question) is not None


def _missing_step(conversation: UserConversation) -> tuple[str, str] | None:
    """Return a step of the plan that neither side raised. The first step is the goal, which users paraphrase, so it is skipped."""
    transcript = "\n".join([*conversation.user_messages, *conversation.answers])
    raised, spoken_words = content_words(transcript), frozenset(words(transcript))
    for step in [*steps(conversation.plan)][1:]:
        about = content_words(step)
        if any(not group.isdisjoint(words(step)) and group & spoken_words for group in _SAME):
            continue
        if (len(about) > 1 or any(len(word) > 6 for word in about)) and not shares_word(about, raised):
            return step, "it ended the conversation before it raised this step of its plan"
    return None
