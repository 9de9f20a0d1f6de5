"""Find values that the user cannot know: numbers, dates, addresses and names that appear nowhere before."""

from __future__ import annotations

import re
from collections.abc import Iterator

from proctor.schema.evidence.simulated_user import FaultKind, UserFault
from proctor.simulation.faults.conversation import UserConversation, new_fault
from proctor.simulation.faults.known_facts import KnownFacts
from proctor.simulation.faults.text_features import words
from proctor.simulation.faults.values import addresses, dates_in, references

__all__ = ["invented_fact"]

_MAY_INVENT = re.compile(
    r"\b(make (?:\w+ )?up|made[- ]up|invent\w*|fictional|fake|random\w*|plausible|imaginary|of your (?:own )?choice|"
    r"improvise|come up with|any \w+ (?:you like|will do|is fine)|whatever you (?:like|want))\b",
    re.IGNORECASE,
)
_NAME = r"((?:[A-Z][\w'’-]+)(?:\s+[A-Z][\w'’-]+)*)"
_STATED_NAMES = (
    re.compile(rf"\b(?:is|are|was) (?:called|named)\s+{_NAME}"),
    re.compile(
        rf"\b(?:[Mm]y (?:full |first |last |sur|middle |user)?name(?:['’]s| is)|I(?:['’]m| am) called)\s+{_NAME}"
    ),
    re.compile(rf"\bI (?:live|work|am based|am staying|am) (?:in|at)\s+{_NAME}"),
    re.compile(
        rf"\b\d{{1,4}}[a-z]? {_NAME} (?:Street|St|Road|Rd|Lane|Close|Court|Avenue|Ave|Drive|Square|Place|Terrace|Gardens)\b"
    ),
)
_NO_NAMES = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september "
    "october november december i the a".split()
)


def invented_fact(conversation: UserConversation) -> Iterator[UserFault]:
    """Find values in the user's messages that are neither in its instructions nor in an earlier answer of the agent.

    Numbers that can be computed from known numbers are known. A plan that allows invented values permits all of them.
    """
    if _MAY_INVENT.search(f"{conversation.plan}\n{conversation.briefing}\n{conversation.behavior}"):
        return
    reported: set[str] = set()
    known = KnownFacts(conversation)
    for turn, text in conversation.own_turns():
        for value in _unknown_values(text, known.before(turn)):
            if value.casefold() not in reported:
                reported.add(value.casefold())
                why = f"{value!r} appears neither in the plan nor in an earlier answer of the agent"
                yield new_fault(FaultKind.INVENTED_FACT, turn, text, why)
                break


def _unknown_values(text: str, known: KnownFacts) -> Iterator[str]:
    for address in addresses(text):
        if not known.contains(address):
            yield address
    for month, day in sorted(dates_in(text) - known.dates):
        if not known.has_day(month, day):
            yield f"{month:02d}-{day:02d}"
    for reference in references(text):
        if not known.has(reference):
            yield reference
    if known.is_english:
        yield from _names(text, known)


def _names(text: str, known: KnownFacts) -> Iterator[str]:
    for pattern in _STATED_NAMES:
        for name in pattern.findall(text):
            parts = [part for part in words(name) if part not in _NO_NAMES]
            is_known = known.words.intersection(parts) or any(known.contains(part[:5]) for part in parts)
            if parts and not is_known:
                yield name
