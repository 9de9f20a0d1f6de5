"""The user ends the conversation while the agent waits for its answer, or before it has raised all of its plan."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from proctor.schema.evidence.simulator_fault import FaultKind, UserFault
from proctor.simulation.faults.base import Heard, fault
from proctor.simulation.faults.plan_steps import may_end_early, steps
from proctor.simulation.faults.text_features import (
    content_words,
    is_english,
    is_giving_up,
    is_like,
    questions,
    sentences,
    shares_word,
    words,
)
from proctor.simulation.user_models import STOP_SIGNAL

__all__ = ["stopped_early"]

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
_THANKS = re.compile(
    r"\b(thanks?|thank you|bye|goodbye|great|perfect|appreciate|that['’]?s all|cheers|have a|no)\b",
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
"""Words by which people ask for the same."""


def stopped_early(heard: Heard) -> Iterator[UserFault]:
    """Find an end that came too early.

    Nothing is found where the state is as expected, where the agent had failed, handed over or was going in circles, or
    where the plan itself says when to break off.
    """
    end = heard.end
    if end is None or not heard.answers or heard.is_reached:
        return
    last = heard.answers[-1]
    if is_giving_up(last) or _SIGNAL.search(last) or may_end_early(heard.plan) or not is_english(heard.plan):
        return
    if any(is_like(last, each, 0.8) for each in heard.answers[:-1]):
        return
    why = _open_question(heard, last) or _said_and_gone(end.text, heard) or _step_left(heard)
    if why:
        yield fault(FaultKind.STOPPED_EARLY, end.turn, why[0], why[1])


def _open_question(heard: Heard, last: str) -> tuple[str, str] | None:
    known = content_words("\n".join([heard.plan, heard.briefing, *heard.said]))
    asked = questions(last)
    is_done = any(_IS_DONE.search(one) for one in sentences(last) if one not in asked)
    asked = [
        one for one in asked if not _COURTESY.search(one) and _is_to_the_point(one, known, is_done=is_done)
    ]
    if heard.is_reached is None:
        asked = [one for one in asked if not _OFFER.search(one)]
    if not asked or not is_english(last):
        return None
    return asked[-1], "it ended the conversation with this question of the agent open"


def _is_to_the_point(asked: str, known: Collection[str], *, is_done: bool) -> bool:
    """Whether a question asks for a yes, for who the user is, or for something that the plan or the user had spoken of.

    Whatever else an agent asks, nobody who plays by a plan has to stay for it; nor for a yes to what the agent says is done.
    """
    if is_done and not _ASKS_WHAT.match(asked):
        return False
    about = content_words(asked) - _CONFIRMS
    if not about or shares_word(about, known):
        return True
    return not is_done and _ASKS_YES_OR_WHO.search(asked) is not None


def _said_and_gone(text: str, heard: Heard) -> tuple[str, str] | None:
    """A reply that asks for something, and ends the conversation in the same breath: the agent never hears it."""
    rest = _SIGNAL.sub(" ", text).strip()
    asked = [one for one in sentences(rest) if one.endswith("?") and not _THANKS.search(one)]
    if not asked or not shares_word(content_words(asked[0]), content_words(heard.plan)):
        return None
    return rest, "it asked for something and ended the conversation with the same message"


def _step_left(heard: Heard) -> tuple[str, str] | None:
    """A step of the plan of which nobody had said a word; the first one is the goal, which people put in words of their own."""
    spoken = "\n".join([*heard.said, *heard.answers])
    raised, spoken_words = content_words(spoken), frozenset(words(spoken))
    for step in [*steps(heard.plan)][1:]:
        about = content_words(step)
        if any(not group.isdisjoint(words(step)) and group & spoken_words for group in _SAME):
            continue
        if (len(about) > 1 or any(len(word) > 6 for word in about)) and not shares_word(about, raised):
            return step, "it ended the conversation without having raised this step of its plan"
    return None
