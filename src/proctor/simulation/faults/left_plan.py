"""The user falls out of its role, says what the plan forbids, or asks for something that the plan knows nothing of."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial

from proctor.schema.evidence.simulator_fault import FaultKind, UserFault
from proctor.simulation.faults.base import Heard, fault
from proctor.simulation.faults.known_facts import Known
from proctor.simulation.faults.text_features import (
    content_words,
    is_english,
    sentences,
    shares_word,
    squashed,
)
from proctor.simulation.faults.values import numbers_in, references

__all__ = ["left_plan"]

_OUT_OF_ROLE = (
    (
        r"\bas an? (?:ai|artificial|(?:large )?language model|llm|virtual assistant|chat ?bot)\b",
        "speaks as a model",
    ),
    (
        r"\bi(?:['’]m| am) (?:just |only )?(?:an? )?(?:ai\b|(?:large )?language model|chat ?bot|simulat\w+|played user)",
        "speaks as a model",
    ),
    (r"\bhow (?:can|may) i (?:help|assist) you\b", "speaks as the agent"),
    (r"\banything else (?:that )?i can (?:help|assist|do)\b", "speaks as the agent"),
    (r"\bi(?:['’]d| would|['’]ll| will) be (?:happy|glad) to (?:help|assist) you\b", "speaks as the agent"),
    (r"\bi(?:['’]m| am) here to (?:help|assist)\b", "speaks as the agent"),
    (
        r"\bi(?:['’]ve| have) (?:now |just )?(?:processed|booked|issued|scheduled|updated|cancell?ed)\b[^.?!]{0,40}\byour?\b",
        "speaks as the agent",
    ),
    (
        r"\byour (?:\w+ )?(?:request|order|booking|refund|ticket|appointment) has been\b",
        "speaks as the agent",
    ),
    (r"\b(?:conversation|user) plan\b", "speaks of its instructions"),
    (
        r"\b(?:system prompt|test case|user simulat\w+|simulated user|stop signal|role[- ]?play\w*)\b",
        "speaks of its instructions",
    ),
    (
        r"\baccording to (?:the|my) (?:plan|script|scenario|instructions|persona)\b",
        "speaks of its instructions",
    ),
    (
        r"\bmy (?:instructions|persona|script) (?:say|says|tell|tells|state|states|is|are)\b",
        "speaks of its instructions",
    ),
    (r"\bthe (?:plan|scenario|script) (?:says|tells|states|requires)\b", "speaks of its instructions"),
    (r"\bthe agent (?:should|must|needs to|has to|is supposed to)\b", "speaks of its instructions"),
    (r"</?\s*finish(?!ed>)\w*|<finished>", "garbles the signal that ends the conversation"),
)
_PATTERNS = [(re.compile(pattern, re.IGNORECASE), why) for pattern, why in _OUT_OF_ROLE]
_PLACEHOLDER = re.compile(
    r"[\[<{]+\s*(?:your|insert|enter|my|user|customer|order|full|first|last|name|date|e-?mail|phone|number|address|city|"
    r"account|booking|x{2,})\b[^\]>}\n]{0,40}[\]>}]+",
    re.IGNORECASE,
)
_OTHERS_LINE = re.compile(
    r"^\s*\**(?:agent|assistant|bot|ai|chatbot|support|system|representative)\**\s*:",
    re.IGNORECASE | re.MULTILINE,
)
_CODE = re.compile(
    r"\b(json|source code|script|query|sql|payload|paste\w*|snippet|logs|log file)\b", re.IGNORECASE
)
_FORBIDS = re.compile(
    r"\b(?:do not|don['’]t|never|must not|without) (?:ever )?(?:mention\w*|say\w*|tell\w*|reveal\w*|disclos\w+|give|giving|"
    r"shar\w+|ask\w*|bring\w*|accept\w*|agree\w*|offer\w*|request\w*|order\w*|talk\w*)\b(?P<what>[^.;!?]*)",
    re.IGNORECASE,
)
_UNLESS = re.compile(r"\b(unless|until|before|if|except|only when|when)\b", re.IGNORECASE)
_WANTS = re.compile(
    r"\?|\b(?:can|could|would|will) you\b|\bi(?:['’]d| would) (?:also )?(?:like|love)\b|\bi (?:also )?(?:want|need)\b|\bplease\b|"
    r"\b(?:tell|show|give|find|help|recommend) me\b|\blet['’]s\b",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"\b(?:it|its|they|them|(?<!before )(?<!after )that|those|ones)\b|\b(?:hurry|quick\w*|faster|wait\w*|rush|"
    r"patience|minutes?)\b",
    re.IGNORECASE,
)
"""What is about the thing at hand, or says no more than that somebody is in a hurry."""
_IDLE = frozenset(
    "great long until chance bit back possible perfect soon thing things lot little kind exactly anyway".split()
)
"""Words that say nothing about what is asked for."""
_FEW = 4
"""Content words; a request of fewer may be put in other words than the plan's."""


def left_plan(heard: Heard) -> Iterator[UserFault]:
    """Find messages of somebody who does not play this user."""
    known = Known(heard)
    for turn, text in heard.own_turns():
        so_far = partial(heard.known_before, turn)
        why = _out_of_role(text, so_far) or _forbidden(text, heard) or _off_plan(text, known.before(turn))
        if why:
            yield fault(FaultKind.LEFT_PLAN, turn, text, why)


def _out_of_role(text: str, known: Callable[[], str]) -> str:
    for pattern, why in _PATTERNS:
        found = pattern.search(text)
        if found is not None and not _in_plan(found[0], known()):
            return f"it {why}: {found[0]!r}"
    if (found := _PLACEHOLDER.search(text)) is not None and found[0] not in known():
        return f"it left a placeholder in its message: {found[0]!r}"
    if (found := _OTHERS_LINE.search(text)) is not None and found[0] not in known():
        return "it writes what the agent is to say"
    if _is_code(text) and not _CODE.search(known()):
        return "it writes data, not words"
    return ""


def _in_plan(found: str, known: str) -> bool:
    """Whether a plan is about such things (a phone plan, a script): then the word says nothing."""
    if squashed(found) in squashed(known):
        return True
    telling = {"plan", "script", "scenario", "instructions", "persona", "role", "chatbot", "bot"}
    return any(
        word in telling and re.search(rf"\b{word}s?\b", known, re.IGNORECASE)
        for word in re.findall(r"\w+", found.casefold())
    )


def _is_code(text: str) -> bool:
    stripped = text.strip()
    if stripped.startswith("```"):
        return True
    if not (stripped.startswith(("{", "[")) and stripped.endswith(("}", "]"))):
        return False
    try:
        return isinstance(json.loads(stripped), dict | list)
    except ValueError:
        return False


def _forbidden(text: str, heard: Heard) -> str:
    """What the plan says that the user must not say, unless it depends on something."""
    for sentence in sentences(heard.plan):
        for found in _FORBIDS.finditer(sentence):
            what = found["what"]
            if _UNLESS.search(sentence):
                continue
            for value in (*re.findall(r"[\"“]([^\"”]{3,60})[\"”]", what), *references(what)):
                if squashed(value) in squashed(text):
                    return f"the plan forbids to say {value!r}"
    return ""


def _off_plan(text: str, known: Known) -> str:
    """A request that has not one word in common with all that the user was told and had heard."""
    if not (known.is_english and is_english(text)):
        return ""
    for sentence in sentences(text):
        asked = content_words(sentence) - _IDLE
        if len(asked) < _FEW or not _WANTS.search(sentence) or _GOES_ON.search(sentence):
            continue
        if not (shares_word(asked, known.content) or numbers_in(sentence) & known.numbers):
            return "nothing in the plan or in the conversation is about that"
    return ""
