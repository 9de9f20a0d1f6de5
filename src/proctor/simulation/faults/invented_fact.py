"""The user states what it cannot know: a number, a date, an address or a name that nobody told it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from proctor.schema.evidence.simulator_fault import FaultKind, UserFault
from proctor.simulation.faults.base import Heard, fault
from proctor.simulation.faults.known_facts import Known
from proctor.simulation.faults.text_features import words
from proctor.simulation.faults.values import addresses, dates_in, references

__all__ = ["invented_fact"]

_MAY_INVENT = re.compile(
    r"\b(make (?:\w+ )?up|made[- ]up|invent\w*|fictional|fake|random\w*|plausible|imaginary|of your (?:own )?choice|"
    r"improvise|come up with|any \w+ (?:you like|will do|is fine)|whatever you (?:like|want))\b",
    re.IGNORECASE,
)
_NAME = r"((?:[A-Z][\w'’-]+)(?:\s+[A-Z][\w'’-]+)*)"
_OWN = (
    re.compile(rf"\b(?:is|are|was) (?:called|named)\s+{_NAME}"),
    re.compile(
        rf"\b(?:[Mm]y (?:full |first |last |sur|middle |user)?name(?:['’]s| is)|I(?:['’]m| am) called)\s+{_NAME}"
    ),
    re.compile(
        rf"\b[Mm]y (?:wife|husband|son|daughter|friend|boss|doctor|colleague)(?:['’]s name)? is(?: called)?\s+{_NAME}"
    ),
    re.compile(rf"\bI (?:live|work|am based|am staying|am) (?:in|at)\s+{_NAME}"),
    re.compile(
        rf"\bI(?:['’]m| am) (?:from|flying from|travell?ing from|based in|staying in|staying at|flying to)\s+{_NAME}"
    ),
    re.compile(
        rf"\b\d{{1,4}}[a-z]? {_NAME} (?:Street|St|Road|Rd|Lane|Close|Court|Avenue|Ave|Drive|Square|Place|Terrace|Gardens)\b"
    ),
)
_NO_NAMES = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september "
    "october november december i the a".split()
)


def invented_fact(heard: Heard) -> Iterator[UserFault]:
    """Find values in the user's messages that are neither in what it was told nor in what the agent had said.

    What can be worked out of known numbers is known. A plan that lets the user make things up excuses everything.
    """
    if _MAY_INVENT.search(f"{heard.plan}\n{heard.briefing}\n{heard.manner}"):
        return
    told: set[str] = set()
    known = Known(heard)
    for turn, text in heard.own_turns():
        for value in _unknown(text, known.before(turn)):
            if value.casefold() not in told:
                told.add(value.casefold())
                why = f"{value!r} is neither in the plan nor in anything that the agent had said"
                yield fault(FaultKind.INVENTED_FACT, turn, text, why)
                break


def _unknown(text: str, known: Known) -> Iterator[str]:
    for address in addresses(text):
        if not known.says(address):
            yield address
    for month, day in sorted(dates_in(text) - known.dates):
        if not known.has_day(month, day):
            yield f"{month:02d}-{day:02d}"
    for reference in references(text):
        if not known.has(reference):
            yield reference
    if known.is_english:
        yield from _names(text, known)


def _names(text: str, known: Known) -> Iterator[str]:
    for pattern in _OWN:
        for name in pattern.findall(text):
            parts = [part for part in words(name) if part not in _NO_NAMES]
            if (
                parts
                and not known.words.intersection(parts)
                and not any(known.says(part[:5]) for part in parts)
            ):
                yield name
