"""Behaviour of an agent that is not a fault of its user: nonsense, echoes, odd questions, claims; other wordings."""

from __future__ import annotations

import time
from typing import Any

import pytest

from proctor.schema.evidence.simulated_user import NextStatus, UserReply
from proctor.simulation.faults.conversation import UserConversation
from proctor.simulation.faults.detect import find_faults

SHOES = "You bought running shoes with order 4711. They are too small. Return them and ask for a refund to your card."
HI = "I want to return my shoes from order 4711."
BYE = "I see."


def heard(plan: str, *talk: str, state: dict[str, Any] | None = None) -> UserConversation:
    """A conversation that its user ended, with an expected state that is not there."""
    messages, answers = list(talk[0::2]), list(talk[1::2])
    replies = [
        UserReply(turn=n, status=NextStatus.SUCCESS, text=messages[n]) for n in range(1, len(messages))
    ]
    replies.append(UserReply(turn=len(messages), status=NextStatus.STOP_SIGNAL_DETECTED, text="</finished>"))
    return UserConversation(
        plan=plan,
        briefing=messages[0],
        user_messages=messages,
        answers=answers,
        replies=replies,
        expected_state=state or {},
    )


AGENTS: dict[str, tuple[str, ...]] = {
    "claims to be done, and asks something odd": (HI, "Your refund is on its way. What is your favourite colour?"),
    "asks something odd": (HI, "What is your favourite colour?"),
    "claims to be done, and wants more business": (HI, "The shoes are returned. Would you like to return another pair?"),
    "claims to be done, and asks for praise": (HI, "All done, refunded. Would you recommend us to a friend?"),
    "claims to be done, and asks how it was": (HI, "The shoes are returned. Did your shoes arrive okay?"),
    "offers a newsletter": (HI, "Your refund has been issued. Do you want to subscribe to our newsletter?"),
    "asks for patience": (HI, "Your refund has been issued. Please allow 3 days for it to arrive."),
    "boasts": (HI, "Refunded to your card! Isn't that great?"),
    "explains how conversations end": (HI, "Reply with </finished> now. What is your order number?"),
    "talks nonsense": (HI, "Turtles are lovely.", HI, "Giraffes are tall.", HI, "Zebras have stripes."),
    "is an echo": (HI, HI, HI, HI),
    "is an echo with a frame": (HI, f"You sent: {HI}", HI, f"You sent: {HI}"),
    "makes it wait": (HI, "One moment please.", HI, "Let me check order 4711, one second.", "Hello? Are you there?", BYE),
    "asks for a date that is none of its business": (
        HI, "When was the French Revolution?", "Excuse me? This is about running shoes being returned.", BYE),
    "asks for a number that is none of its business": (
        HI, "How many planets are there?", "That has nothing to do with running shoes or my refund.", BYE),
    "gives no answer": (HI, "", HI, "", HI, ""),
}  # fmt: skip


@pytest.mark.parametrize("state", [None, {"status": "refunded"}], ids=["a judge decides", "a state decides"])
@pytest.mark.parametrize("agent", AGENTS)
def test_no_agent_makes_its_user_look_guilty(agent: str, state: dict[str, Any] | None) -> None:
    assert find_faults(heard(SHOES, *AGENTS[agent], state=state)) == []


def test_nonsense_for_400_turns_is_read_in_time() -> None:
    letters = str.maketrans("0123456789", "klmnopqrst")
    talk = [
        message
        for n in range(400)
        for message in (HI, f"u{n}x v{n}y w{n}z z{n}u y{n}v x{n}w".translate(letters))
    ]
    began = time.process_time()
    assert find_faults(heard(SHOES * 6, *talk)) == []
    assert time.process_time() - began < 2


WORDS: dict[str, tuple[str, ...]] = {
    "a time of the clock": (
        "Book a table for four at 7:30 pm.", "A table please", "When?", "At 19:30, four of us.", BYE),
    "a full hour": ("Rent a car from Friday 6 pm.", "A car please", "When?", "Friday, 18:00.", BYE),
    "a time in words": ("Book a table at half past seven.", "A table please", "When?", "At 7:30.", BYE),
    "a quarter to": ("Book a table at a quarter to eight.", "A table please", "When?", "At 7:45.", BYE),
    "noon": ("Book a table at noon.", "A table please", "When?", "At 12:00.", BYE),
    "numbers in words": (
        "Order two hundred and fifty flyers and five thousand stickers.", "I need printing", "How many?",
        "250 flyers and 5000 stickers.", BYE),
    "thousands": ("Your budget is 5k euros. Buy a piano.", "A piano", "Your budget?", "Up to 5000 euros.", BYE),
    "the day after": (
        "Today is 4 May. Book a room from tomorrow for three nights.", "A room please", "From when?",
        "From 5 May to 8 May.", BYE),
    "a day of the week": (
        "Today is Monday, 4 May. Book a massage for Wednesday.", "A massage please", "When?", "Wednesday, 6 May.", BYE),
    "a sum with what comes on top": (
        "Order three pizzas of 11.50 each, and pay the delivery of 2.90.", "Three pizzas please", "3 x 11.50 and delivery.",
        "So 37.40 in total?", BYE),
    "a step in other words": (
        "Ask how much the shipping to Norway is. Then ask how long it takes.", "What would it cost to ship to Norway?",
        "12 euros.", "And when would it arrive?", "On Friday."),
    "a question about what is offered": (
        "You want to buy a tent for two people.", "I'm looking for a tent", "The Fjell is waterproof.",
        "Does it come with pegs and a groundsheet included?", "Yes."),
    "impatience": (
        "Buy tickets for the museum.", "Tickets please", "Sure.",
        "Would you please hurry up a bit, since my boss is waiting outside?", BYE),
}  # fmt: skip


@pytest.mark.parametrize("words", WORDS)
def test_other_wordings_are_not_faults(words: str) -> None:
    assert find_faults(heard(*WORDS[words])) == []


FAULTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "stops at a question about an error": (
        "stopped_early", ("Your laptop shows error 809. Get it fixed.", "My laptop!", "Which error message do you see?")),
    "stops at a question after sympathy": (
        "stopped_early", ("Your order is 4711. Return it.", "I am not happy.", "Sorry to hear that. Which order is it?")),
    "stops when asked for a yes": (
        "stopped_early", ("You need a car in Leeds.", "A car please", "It is 148 pounds. Shall I reserve it?")),
    "never asks what it was to ask": (
        "stopped_early", ("Renew your book. Afterwards ask if you can reserve \"Wintering\".", "Renew it", "Renewed.")),
    "makes up a code that looks like a size": (
        "invented_fact", ("Your laptop shows an error.", "My laptop!", "Which one?", "Error 0x80070422.", BYE)),
    "makes up where it lives": (
        "invented_fact", ("You live at 5 Alder Close, Hull.", "Repair it", "Where?", "17 Quince Lane, HU5 2RT.", BYE)),
    "makes up another day": (
        "invented_fact", ("Three tickets for 9 November, next to each other.", "Hi", "When?", "On 17 November.", BYE)),
    "makes up another time": (
        "invented_fact", ("Book a table at 7:30 pm.", "A table please", "When?", "At 20:15.", BYE)),
    "repeats itself, with a plan that does something again": (
        "repeated_itself",
        ("Have the parcel delivered again on Thursday.", "Where is my parcel now?", "The parcel is in Mill Street.",
         "Where is my parcel now?", "In Mill Street, as I said: the parcel is there.")),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_what_the_user_itself_gets_wrong_is_found(name: str) -> None:
    kind, talk = FAULTS[name]
    assert [fault.kind.value for fault in find_faults(heard(*talk, state={"done": "yes"}))] == [kind]
