"""The probable meaning of an unknown key: a misspelling, a misplaced key, a key of another tool, or none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import SequenceMatcher
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from pydantic import BaseModel
from pydantic.alias_generators import to_snake

from proctor.files.eval_sets.variants import ROW_KEYS
from proctor.files.keys.other_tools import (
    ANSWER,
    CALLS,
    END,
    EXPECTATIONS,
    EXPECTS,
    FIRST_WORDS,
    HARMLESS,
    INERT,
    MISPLACED,
    NO_EXPECTATION,
    OTHER_WORDS,
    OWN_WORDS,
    START,
    kind_of_expectation,
)
from proctor.files.text.validation_messages import near_key
from proctor.schema.format.case import (
    EXTENSION_KEYS,
    ConversationScenario,
    ConversationScenarios,
    EvalCase,
    EvalSet,
    SessionInput,
)
from proctor.schema.format.content import Content, FunctionCall, FunctionResponse, Part
from proctor.schema.format.invocation import (
    AgentDetails,
    AppDetails,
    IntermediateData,
    Invocation,
    InvocationEvent,
    InvocationEvents,
)
from proctor.schema.format.persona import UserBehavior, UserPersona
from proctor.schema.format.rubric import Rubric, RubricContent
from proctor.schema.format.wire_model import to_camel


class FormatObject(StrEnum):
    """An object of the format that has its own keys."""

    SET = "set"
    CASE = "case"
    ROW = "row"
    TURN = "turn"
    OLD_CASE = "old case"
    OLD_TURN = "old turn"
    CONTENT = "content"
    PART = "part"
    CALL = "call"
    DATA = "intermediate data"
    SESSION = "session"
    RUBRIC = "rubric"
    RUBRIC_CONTENT = "rubric content"
    SCENARIO = "scenario"
    OTHER = "other"
    """An object in which only misspellings are reported."""


class KeyMeaning(NamedTuple):
    """The probable meaning of an unknown key."""

    hint: str = ""
    is_misread: bool = False
    """Whether the key probably states an expectation that nothing reads."""


_PLACES: dict[type[BaseModel], FormatObject] = {
    EvalSet: FormatObject.SET,
    EvalCase: FormatObject.CASE,
    Invocation: FormatObject.TURN,
    Content: FormatObject.CONTENT,
    Part: FormatObject.PART,
    FunctionCall: FormatObject.CALL,
    IntermediateData: FormatObject.DATA,
    InvocationEvents: FormatObject.DATA,
    SessionInput: FormatObject.SESSION,
    Rubric: FormatObject.RUBRIC,
    RubricContent: FormatObject.RUBRIC_CONTENT,
    ConversationScenario: FormatObject.SCENARIO,
    **dict.fromkeys(
        (InvocationEvent, FunctionResponse, ConversationScenarios, UserPersona, UserBehavior, AppDetails, AgentDetails),
        FormatObject.OTHER,
    ),
}  # fmt: skip
"""Models whose keys decide verdicts. Models of mere records (usage, grounding, media) have keys of other versions."""

_OLD_TURN_KEYS = ("query", "reference", "expected_tool_use", "expected_intermediate_agent_responses")
_KNOWN: Mapping[FormatObject, tuple[str, ...]] = {
    FormatObject.CASE: (*EvalCase.model_fields, *EXTENSION_KEYS, "tags"),
    FormatObject.ROW: (*EvalCase.model_fields, *EXTENSION_KEYS, "tags", *ROW_KEYS),
    FormatObject.SESSION: (*SessionInput.model_fields, *EXTENSION_KEYS),
    FormatObject.OLD_TURN: (*_OLD_TURN_KEYS, *Invocation.model_fields),
    FormatObject.OLD_CASE: (
        "name",
        "data",
        "initial_session",
        *EvalCase.model_fields,
        *EXTENSION_KEYS,
        "tags",
    ),
}
_CASE_KEYS = frozenset(spelling for key in _KNOWN[FormatObject.CASE] for spelling in (key, to_camel(key)))

_NEW_WORDS = {CALLS: "calls are expected in `intermediate_data.tool_uses`", ANSWER: "the expected answer is `final_response`",
              END: "the state at the end is expected in `final_session_state`",
              START: "the state in which a case starts is `session_input.state`"}  # fmt: skip
_OLD_WORDS = {
    **_NEW_WORDS,
    CALLS: "calls are expected in `expected_tool_use` in this format",
    ANSWER: "the expected answer is `reference` in this format",
    START: "the state in which a case starts is `initial_session.state` in this format",
}
_SET_WORDS = {
    word: f"{hint} of a {owner}"
    for (word, hint), owner in zip(_NEW_WORDS.items(), ("turn", "turn", "case", "case"), strict=True)
}
_ROW_WORDS = {
    **_NEW_WORDS,
    CALLS: "calls are expected in `reference_trajectory` in a row: `[{\"tool_name\": …, \"tool_input\": {…}}]`",
    ANSWER: "the expected answer is `reference` in a row",
}  # fmt: skip


def format_object_of(owner: BaseModel | type[BaseModel]) -> FormatObject | None:
    """Return which object of the format a model is; `None` if its unknown keys are irrelevant."""
    return _PLACES.get(owner if isinstance(owner, type) else type(owner))


def known_keys(place: FormatObject, owner: type[BaseModel] | None = None) -> tuple[str, ...]:
    """Return the keys that have a meaning in an object."""
    if place in _KNOWN:
        return _KNOWN[place]
    return tuple(owner.model_fields) if owner is not None else ()


@lru_cache(maxsize=4096)
def meaning_of(place: FormatObject | None, owner: type[BaseModel] | None, key: str) -> KeyMeaning:
    """Return the probable meaning of an unknown `key` in an object of the format.

    `owner` is the model that read the object, if there is one. If `place` is `None`, no verdict depends on the object, and
    only misspellings are reported.
    """
    known = known_keys(place or FormatObject.OTHER, owner)
    name = re.sub(r"\W+", "_", to_snake(key.strip()))
    if place is None:
        return _meaning_of_misspelling(_near(key, known))
    if word := OWN_WORDS.get(place, {}).get(name):
        return KeyMeaning(_hint(place, word), is_misread=True)
    if key.startswith(("_", "$")) or any(key in {each, to_camel(each)} for each in known):
        return KeyMeaning()
    if name in HARMLESS:
        return _meaning_of_misspelling(_near(key, known))
    return _meaning_by_name(place, name, known) or _meaning_by_similarity(place, key, name, known)


def _meaning_by_name(place: FormatObject, name: str, known: tuple[str, ...]) -> KeyMeaning | None:
    """Return the meaning of a key whose exact name other tools or other objects have."""
    if name in NO_EXPECTATION:
        return KeyMeaning(NO_EXPECTATION[name])
    if name in OTHER_WORDS:
        return KeyMeaning(_hint(place, OTHER_WORDS[name]), is_misread=True)
    if name in MISPLACED and name not in known:
        return KeyMeaning(MISPLACED[name], is_misread=True)
    return None


def _meaning_of_misspelling(near: str) -> KeyMeaning:
    return KeyMeaning(f"did you mean `{near}`?" if near else "")


def is_silent_in_case(key: str) -> bool:
    """Whether an unknown key of a case is reported nowhere: it describes the case, or extends ADK's format."""
    if key in _CASE_KEYS or key.startswith(("_", "$")):
        return True
    return re.sub(r"\W+", "_", to_snake(key.strip())) in HARMLESS


def _meaning_by_similarity(place: FormatObject, key: str, name: str, known: tuple[str, ...]) -> KeyMeaning:
    """Return the meaning by similarity: to a known key, to a key of another tool, to a key of another object."""
    near = _near(key, known)
    if near and not _is_longer_form(name, near):
        return KeyMeaning(
            f"did you mean `{near}`?", is_misread=place is FormatObject.CALL or near not in INERT
        )
    if EXPECTS.match(name):
        return KeyMeaning(_hint(place, kind_of_expectation(name)), is_misread=True)
    if (word := near_word(OWN_WORDS.get(place, {}), name)) is not None:
        return KeyMeaning(_hint(place, word), is_misread=True)
    return _meaning_in_other_object(key, name) or _meaning_of_misspelling(near)


def _meaning_in_other_object(key: str, name: str) -> KeyMeaning | None:
    """Return the meaning of a key that is similar to a key of another object."""
    long_names = tuple(known_name for known_name in MISPLACED if len(known_name) > _LONG)
    near = _near(key, long_names)
    if not near or _is_longer_form(name, near) or not _is_similar(name, near):
        return None
    where = MISPLACED[near]
    return KeyMeaning(f"did you mean `{near}`? {where[0].upper()}{where[1:]}", is_misread=True)


_LONG = 9
"""Names with more letters than this do not resemble a key of another object by coincidence."""
_MIN_SIMILARITY = 0.9


def _near(key: str, known: tuple[str, ...]) -> str:
    near = near_key(key, known)
    return near if near and key not in {near, to_camel(near)} else ""


def _is_longer_form(name: str, known: str) -> bool:
    """Whether a key is a known one with another word, such as `conversation_id`, and thus a different key."""
    return name.startswith(f"{known}_") or name.endswith(f"_{known}")


def _is_similar(name: str, known: str) -> bool:
    """Whether two long names differ by one or two letters."""
    return SequenceMatcher(None, name, known).ratio() >= _MIN_SIMILARITY


def _hint(place: FormatObject, word: str) -> str:
    """Return the hint for a kind of statement; any other `word` is a hint itself."""
    words = {
        FormatObject.SET: _SET_WORDS,
        FormatObject.ROW: _ROW_WORDS,
        FormatObject.OLD_TURN: _OLD_WORDS,
        FormatObject.OLD_CASE: _OLD_WORDS,
    }.get(place, _NEW_WORDS)
    return (
        words.get(word, word)
        or "no metric reads it; an `expectations` entry, a rubric or a criterion can state it"
    )


# --- misspelled keys of other tools: singular for plural, or a spelling mistake ----------------------------------------


_SHORT = 5
"""Names with at most this many letters may resemble each other by coincidence."""
_MIN_LIKENESS = 0.87


def near_word(own: Mapping[str, str], name: str) -> str | None:
    """Return the meaning of the key of another tool that `name` misspells, as in `OTHER_WORDS`; `None` if there is none.

    `own`: keys with a meaning only in the object that has the key.
    """
    words = {word: kind for word, kind in {**OTHER_WORDS, **own}.items() if kind in EXPECTATIONS}
    singular = _singular(name)
    for word, kind in words.items():
        if singular == _singular(word):
            return kind
    for word, kind in words.items():
        is_longer = name.startswith(f"{word}_") or name.endswith(f"_{word}")
        if not is_longer and _is_misspelled(name.replace("_", ""), word.replace("_", "")):
            return kind
    return _near_expectation(name)


def _near_expectation(name: str) -> str | None:
    """Find a misspelling in the word that a key begins with, such as `expcted_output`."""
    first, _, rest = name.partition("_")
    for word in FIRST_WORDS:
        if _is_misspelled(first, word) and not first.startswith(word):
            corrected = f"{word}_{rest}" if rest else word
            if corrected in OTHER_WORDS or EXPECTS.match(corrected):
                return OTHER_WORDS.get(corrected, kind_of_expectation(corrected))
    return None


def _singular(name: str) -> str:
    """Return a name in the singular, without separators."""
    return re.sub(r"(?:ies|y)(?=_|$)|s(?=_|$)|_", "", name)


def _is_misspelled(name: str, word: str) -> bool:
    if len(word) <= _SHORT or name[:1] != word[0]:
        return False
    return SequenceMatcher(None, name, word).ratio() >= _MIN_LIKENESS
