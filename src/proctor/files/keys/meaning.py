"""What an unknown key of the format's objects probably means: a slip, a misplaced key, another tool's word, or nothing."""

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
from proctor.schema.format.case import EvalCase
from proctor.schema.format.case_extensions import BEYOND
from proctor.schema.format.content import Content, FunctionCall, FunctionResponse, Part
from proctor.schema.format.eval_set import EvalSet
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
from proctor.schema.format.scenario import ConversationScenario, ConversationScenarios
from proctor.schema.format.session import SessionInput
from proctor.schema.format.wire_model import to_camel

__all__ = ["KeyMeaning", "Place", "is_silent_in_case", "known_keys", "meaning_of", "near_word", "place_of"]


class Place(StrEnum):
    """An object of the format that has keys of its own."""

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
    """An object that only slips are looked for in."""


class KeyMeaning(NamedTuple):
    """What is known of an unknown key."""

    hint: str = ""
    is_misread: bool = False
    """Whether its writer probably states something that a verdict rests on, and that nothing reads."""


_PLACES: dict[type[BaseModel], Place] = {
    EvalSet: Place.SET,
    EvalCase: Place.CASE,
    Invocation: Place.TURN,
    Content: Place.CONTENT,
    Part: Place.PART,
    FunctionCall: Place.CALL,
    IntermediateData: Place.DATA,
    InvocationEvents: Place.DATA,
    SessionInput: Place.SESSION,
    Rubric: Place.RUBRIC,
    RubricContent: Place.RUBRIC_CONTENT,
    ConversationScenario: Place.SCENARIO,
    **dict.fromkeys(
        (InvocationEvent, FunctionResponse, ConversationScenarios, UserPersona, UserBehavior, AppDetails, AgentDetails),
        Place.OTHER,
    ),
}  # fmt: skip
"""Models whose keys decide verdicts. What only records carry (usage, grounding, media) has keys of other versions."""

_OLD_TURN_KEYS = ("query", "reference", "expected_tool_use", "expected_intermediate_agent_responses")
_KNOWN: Mapping[Place, tuple[str, ...]] = {
    Place.CASE: (*EvalCase.model_fields, *BEYOND, "tags"),
    Place.ROW: (*EvalCase.model_fields, *BEYOND, "tags", *ROW_KEYS),
    Place.SESSION: (*SessionInput.model_fields, *BEYOND),
    Place.OLD_TURN: (*_OLD_TURN_KEYS, *Invocation.model_fields),
    Place.OLD_CASE: ("name", "data", "initial_session", *EvalCase.model_fields, *BEYOND, "tags"),
}

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


def place_of(owner: BaseModel | type[BaseModel]) -> Place | None:
    """Return what a model is as an object of the format; `None`: keys that it does not know decide nothing."""
    return _PLACES.get(owner if isinstance(owner, type) else type(owner))


def known_keys(place: Place, owner: type[BaseModel] | None = None) -> tuple[str, ...]:
    """Return the keys that mean something in an object."""
    if place in _KNOWN:
        return _KNOWN[place]
    return tuple(owner.model_fields) if owner is not None else ()


@lru_cache(maxsize=4096)
def meaning_of(place: Place | None, owner: type[BaseModel] | None, key: str) -> KeyMeaning:
    """Return what an unknown `key` in an object of the format probably means.

    `place` is what the object is, `owner` the model that it was read as, if there is one. `None` as the place: nothing
    that a verdict rests on is stated there, and only slips are named.
    """
    known = known_keys(place or Place.OTHER, owner)
    name = re.sub(r"\W+", "_", to_snake(key.strip()))
    if place is None:
        near = _near(key, known)
        return KeyMeaning(f"did you mean `{near}`?" if near else "")
    if word := OWN_WORDS.get(place, {}).get(name):
        return KeyMeaning(_hint(place, word), is_misread=True)
    if key.startswith(("_", "$")) or any(key in {one, to_camel(one)} for one in known):
        return KeyMeaning()
    if name in HARMLESS:
        near = _near(key, known)
        return KeyMeaning(f"did you mean `{near}`?" if near else "")
    if name in NO_EXPECTATION:
        return KeyMeaning(NO_EXPECTATION[name])
    if name in OTHER_WORDS:
        return KeyMeaning(_hint(place, OTHER_WORDS[name]), is_misread=True)
    if name in MISPLACED and name not in known:
        return KeyMeaning(MISPLACED[name], is_misread=True)
    return _by_likeness(place, key, name, known)


def is_silent_in_case(key: str) -> bool:
    """Whether a case may have a key that its model lacks: it describes the case, or it states more than ADK's format."""
    is_known = any(key in {one, to_camel(one)} for one in _KNOWN[Place.CASE])
    name = re.sub(r"\W+", "_", to_snake(key.strip()))
    return is_known or key.startswith(("_", "$")) or name in HARMLESS


def _by_likeness(place: Place, key: str, name: str, known: tuple[str, ...]) -> KeyMeaning:
    """Tell by what a key resembles: a known key here, another tool's word, a key that is known elsewhere."""
    near = _near(key, known)
    if near and not _is_longer_form(name, near):
        return KeyMeaning(f"did you mean `{near}`?", is_misread=place is Place.CALL or near not in INERT)
    if EXPECTS.match(name):
        return KeyMeaning(_hint(place, kind_of_expectation(name)), is_misread=True)
    if (word := near_word(OWN_WORDS.get(place, {}), name)) is not None:
        return KeyMeaning(_hint(place, word), is_misread=True)
    long_names = tuple(known_name for known_name in MISPLACED if len(known_name) > _LONG)
    elsewhere = _near(key, long_names)
    if elsewhere and not _is_longer_form(name, elsewhere) and _is_slip(name, elsewhere):
        where = MISPLACED[elsewhere]
        return KeyMeaning(f"did you mean `{elsewhere}`? {where[0].upper()}{where[1:]}", is_misread=True)
    return KeyMeaning(f"did you mean `{near}`?" if near else "")


_LONG = 9
"""Letters above which a likeness to a key that is known elsewhere is no coincidence."""
_ALIKE = 0.9


def _near(key: str, known: tuple[str, ...]) -> str:
    near = near_key(key, known)
    return near if near and key not in {near, to_camel(near)} else ""


def _is_longer_form(name: str, known: str) -> bool:
    """Whether a key is a known one with a word more: a key of its own, such as `conversation_id`."""
    return name.startswith(f"{known}_") or name.endswith(f"_{known}")


def _is_slip(name: str, known: str) -> bool:
    """Whether two long names differ by a letter or two."""
    return SequenceMatcher(None, name, known).ratio() >= _ALIKE


def _hint(place: Place, word: str) -> str:
    """Return the sentence for a word; one that is none of the four kinds is its own."""
    words = {
        Place.SET: _SET_WORDS,
        Place.ROW: _ROW_WORDS,
        Place.OLD_TURN: _OLD_WORDS,
        Place.OLD_CASE: _OLD_WORDS,
    }.get(place, _NEW_WORDS)
    return (
        words.get(word, word)
        or "no metric reads it; an `expectations` entry, a rubric or a criterion can state it"
    )


# --- Find the word of another tool that an unknown key is a slip of: singular for plural, or a spelling mistake -------


_SHORT = 5
"""Letters up to which a likeness in spelling is a coincidence."""
_LIKENESS = 0.87


def near_word(own: Mapping[str, str], name: str) -> str | None:
    """Return the meaning of the word that `name` is a slip of, as in `OTHER_WORDS`; `None` if it resembles none.

    `own`: the words that mean something in the object that has the key, and only there.
    """
    words = {word: kind for word, kind in {**OTHER_WORDS, **own}.items() if kind in EXPECTATIONS}
    plain = _plain(name)
    for word, kind in words.items():
        if plain == _plain(word):
            return kind
    for word, kind in words.items():
        is_longer = name.startswith(f"{word}_") or name.endswith(f"_{word}")
        if not is_longer and _is_misspelled(name.replace("_", ""), word.replace("_", "")):
            return kind
    return _near_expectation(name)


def _near_expectation(name: str) -> str | None:
    """Find a slip in the word that a key begins with, such as `expcted_output`."""
    first, _, rest = name.partition("_")
    for word in FIRST_WORDS:
        if _is_misspelled(first, word) and not first.startswith(word):
            meant = f"{word}_{rest}" if rest else word
            if meant in OTHER_WORDS or EXPECTS.match(meant):
                return OTHER_WORDS.get(meant, kind_of_expectation(meant))
    return None


def _plain(name: str) -> str:
    """Return a name in the singular, without separators."""
    return re.sub(r"(?:ies|y)(?=_|$)|s(?=_|$)|_", "", name)


def _is_misspelled(name: str, word: str) -> bool:
    if len(word) <= _SHORT or name[:1] != word[0]:
        return False
    return SequenceMatcher(None, name, word).ratio() >= _LIKENESS
