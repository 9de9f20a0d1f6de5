"""Find messages that break the role, that the plan forbids, or that ask for something unrelated to the plan."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial

from proctor.schema.evidence.simulated_user import FaultKind, UserFault
from proctor.simulation.faults.conversation import UserConversation, new_fault
from proctor.simulation.faults.invented_fact import KnownFacts
from proctor.simulation.faults.text_features import (
    content_words,
    is_english,
    normalize,
    sentences,
    shares_word,
)
from proctor.simulation.faults.values import numbers_in, references

_OUT_OF_ROLE = {
    "speaks as a model": (
        r"\bas an? (?:ai|artificial|(?:large )?language model|llm|virtual assistant|chat ?bot)\b",
        r"\bi(?:['’]m| am) (?:just |only )?(?:an? )?(?:ai\b|(?:large )?language model|chat ?bot|simulat\w+|played user)",
    ),
    "speaks as the agent": (
        r"\bhow (?:can|may) i (?:help|assist) you\b",
        r"\banything else (?:that )?i can (?:help|assist|do)\b",
        r"\bi(?:['’]d| would|['’]ll| will) be (?:happy|glad) to (?:help|assist) you\b",
        r"\bi(?:['’]ve| have) (?:now |just )?(?:processed|booked|issued|scheduled|updated|cancell?ed)\b[^.?!]{0,40}\byour?\b",
    ),
    "speaks of its instructions": (
        r"\b(?:conversation|user) plan\b",
        r"\b(?:system prompt|test case|user simulat\w+|simulated user|stop signal|role[- ]?play\w*)\b",
        r"\baccording to (?:the|my) (?:plan|script|scenario|instructions|persona)\b",
        r"\bmy (?:instructions|persona|script) (?:say|says|tell|tells|state|states|is|are)\b",
        r"\bthe (?:plan|scenario|script) (?:says|tells|states|requires)\b",
        r"\bthe agent (?:should|must|needs to|has to|is supposed to)\b",
    ),
    "garbles the signal that ends the conversation": (r"</?\s*finish(?!ed>)\w*|<finished>",),
}
"""What the user does, and the patterns that show it."""
_PATTERNS = [
    (re.compile(pattern, re.IGNORECASE), why)
    for why, patterns in _OUT_OF_ROLE.items()
    for pattern in patterns
]
_PLACEHOLDER = re.compile(
    r"[\[<{]+\s*(?:your|insert|enter|my|user|customer|order|full|first|last|name|date|e-?mail|phone|number|address|city|"
    r"account|booking|x{2,})\b[^\]>}\n]{0,40}[\]>}]+",
    re.IGNORECASE,
)
_AGENT_LINE = re.compile(
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
_CONTINUES = re.compile(
    r"\b(?:it|its|they|them|(?<!before )(?<!after )that|those|ones)\b|\b(?:hurry|quick\w*|faster|wait\w*|rush|"
    r"patience|minutes?)\b",
    re.IGNORECASE,
)
"""Words that refer to the current subject, or only urge the agent to hurry."""
_FILLERS = frozenset(
    "great long until chance bit back possible perfect soon thing things lot little kind exactly anyway".split()
)
"""Words that do not describe what the user asks for."""
_FEWEST_WORDS = 4
"""Content words; a shorter request may paraphrase the plan."""


def left_plan(conversation: UserConversation) -> Iterator[UserFault]:
    """Find messages that do not fit the user's role or plan."""
    known = KnownFacts(conversation)
    for turn, text in conversation.own_turns():
        so_far = partial(conversation.known_before, turn)
        why = (
            _out_of_role(text, so_far)
            or _forbidden(text, conversation)
            or _off_script_reason(text, known.before(turn))
        )
        if why:
            yield new_fault(FaultKind.LEFT_PLAN, turn, text, why)


def _out_of_role(text: str, known: Callable[[], str]) -> str:
    for pattern, why in _PATTERNS:
        match = pattern.search(text)
        if match is not None and not _may_name_subject(match[0], known()):
            return f"it {why}: {match[0]!r}"
    if (match := _PLACEHOLDER.search(text)) is not None and match[0] not in known():
        return f"it left a placeholder in its message: {match[0]!r}"
    if (match := _AGENT_LINE.search(text)) is not None and match[0] not in known():
        return "it writes a message of the agent"
    if _is_code(text) and not _CODE.search(known()):
        return "it writes data instead of a message"
    return ""


def _may_name_subject(phrase: str, known: str) -> bool:
    """Whether the phrase may belong to the subject of the plan, such as a phone plan or a script."""
    if normalize(phrase) in normalize(known):
        return True
    ambiguous = {"plan", "script", "scenario", "instructions", "persona", "role", "chatbot", "bot"}
    return any(
        word in ambiguous and re.search(rf"\b{word}s?\b", known, re.IGNORECASE)
        for word in re.findall(r"\w+", phrase.casefold())
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


def _forbidden(text: str, conversation: UserConversation) -> str:
    """Return why the plan forbids a message; empty if it does not. Conditional prohibitions are ignored."""
    for sentence in sentences(conversation.plan):
        for match in _FORBIDS.finditer(sentence):
            what = match["what"]
            if _UNLESS.search(sentence):
                continue
            for value in (*re.findall(r"[\"“]([^\"”]{3,60})[\"”]", what), *references(what)):
                if normalize(value) in normalize(text):
                    return f"the plan forbids {value!r}"
    return ""


def _off_script_reason(text: str, known: KnownFacts) -> str:
    """Return why a request is off script: it shares no word with anything that the user knows. Empty if it is not."""
    if not (known.is_english and is_english(text)):
        return ""
    for sentence in sentences(text):
        request_words = content_words(sentence) - _FILLERS
        if len(request_words) < _FEWEST_WORDS or not _WANTS.search(sentence) or _CONTINUES.search(sentence):
            continue
        if not (shares_word(request_words, known.content) or numbers_in(sentence) & known.numbers):
            return "neither the plan nor the conversation mentions that"
    return ""
