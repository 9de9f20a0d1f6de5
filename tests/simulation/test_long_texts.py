"""Limits of the text that rules read: an agent's answer may be a megabyte, and a run must not wait for rules."""

from __future__ import annotations

import pytest

from proctor.schema.evidence.event import Event
from proctor.schema.evidence.simulated_user import SimulatedUser
from proctor.simulation.faults.conversation import user_conversation
from tests.simulation.conversations import scenario_case, turn


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("short", "short"),
        ("see " + "x" * 299 + " there", "see " + "x" * 299 + " there"),
        ("see " + "x" * 1_000_000 + " there", "see   there"),
        ("a7 " * 6_000, "a7 " * 6_000),
    ],
    ids=["short", "a long word", "no word", "long"],
)
def test_rules_read_words(text: str, read: str) -> None:
    case = scenario_case()
    assert case.conversation_scenario is not None
    turns = [turn(text, Event.said(text))]
    heard = user_conversation(
        case, case.conversation_scenario, SimulatedUser(simulator="function"), turns, None, with_calls=False
    )
    assert (heard.user_messages[0].strip(), heard.answers[0].strip()) == (read.strip(), read.strip())


def test_of_very_long_texts_rules_read_the_beginning_and_the_end() -> None:
    case = scenario_case()
    assert case.conversation_scenario is not None
    turns = [turn("first " + "a 7 b " * 100_000 + "last")]
    played = SimulatedUser(simulator="function")
    (text,) = user_conversation(
        case, case.conversation_scenario, played, turns, None, with_calls=False
    ).user_messages
    assert len(text) <= 20_001
    assert text.startswith("first ")
    assert text.endswith("last")
