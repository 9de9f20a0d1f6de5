"""Rules over a finished conversation: what is a fault of the simulated user, and above all what is none."""

from __future__ import annotations

import time
from typing import Any

import pytest

from proctor.schema.evidence.simulated_user import NextStatus, UserReply
from proctor.simulation.faults.conversation import UserConversation
from proctor.simulation.faults.detect import find_faults

PLAN = "You want to return the kettle from your order 4711. Ask for a refund to your card."


def heard(*talk: str, plan: str = PLAN, ended: bool = True, **fields: Any) -> UserConversation:
    """A conversation: the starting prompt, then agent and user in turn; the user ends it behind the last answer."""
    messages, answers = list(talk[0::2]), list(talk[1::2])
    replies = [
        UserReply(turn=n, status=NextStatus.SUCCESS, text=messages[n]) for n in range(1, len(messages))
    ]
    if ended:
        replies.append(
            UserReply(turn=len(messages), status=NextStatus.STOP_SIGNAL_DETECTED, text="</finished>")
        )
    given = {"replies": replies, "briefing": messages[0], **fields}
    return UserConversation(plan=plan, user_messages=messages, answers=answers, **given)


def kinds_in(conversation: UserConversation) -> list[str]:
    return [fault.kind.value for fault in find_faults(conversation)]


HI = "Hello, it's about an order."
DONE = "I have refunded the kettle to your card."


@pytest.mark.parametrize(
    "conversation",
    [
        pytest.param(heard(HI, "Which one?", "Order 4711, please refund the kettle.", DONE), id="as planned"),
        pytest.param(
            heard(HI, "Which one?", "Order 4711.", "Sorry, which one?", "Order 4711.", DONE),
            id="repeats a message for the agent",
        ),
        pytest.param(
            heard(HI, "Try again.", HI, "Try again.", HI, "Please try again."), id="the agent goes in circles"
        ),
        pytest.param(
            heard(HI, "Which one?", "Order 4711.", "I could not find it, I will transfer you."),
            id="gives up when the agent does",
        ),
        pytest.param(
            heard(HI, "Yes?", "Yes, please.", "And now?", "Yes, please.", DONE), id="short words, repeated"
        ),
        pytest.param(
            heard(HI, "It is 20 each, 3 of them.", "So 60 for order 4711?", DONE), id="works a sum out"
        ),
        pytest.param(
            heard(HI, "Your case is RX-99120.", "Thanks. Refund RX-99120, please.", DONE),
            id="a number of the agent",
        ),
        pytest.param(
            heard(HI, "Since when?", "Since 2019, 2nd floor, 10-minute walk, 50%.", DONE),
            id="years, ordinals, shares",
        ),
        pytest.param(
            heard(HI, "Which one?", "Bestellung 4711 bitte.", "Gern.", "Bestellung 4711 bitte.", DONE),
            id="the plan is English, the agent is not: repeated",
        ),
        pytest.param(
            heard(HI, "Your name?", "My name is Ada Quill.", DONE, plan=f"{PLAN} Make up a name."),
            id="a plan that lets it make things up",
        ),
        pytest.param(
            heard(HI, "Anything else?", plan=f"{PLAN} If the agent is rude, end the conversation."),
            id="a plan with a condition to stop",
        ),
        pytest.param(
            heard(HI, "What plan do you have?", "My plan is Gold, according to the plan page.", DONE,
                  plan=f"{PLAN} You have the phone plan Gold."),
            id="a plan about a plan",
        ),
        pytest.param(
            heard(HI, "Your order number?", "I don't have it here, sorry.", "Found it anyway. " + DONE),
            id="admits that it does not know",
        ),
        pytest.param(
            heard(HI, "Your order number?", "Where do I find it?", "On the bill.", "4711, refund please.", DONE),
            id="asks back",
        ),
        pytest.param(
            heard(HI, "What is the refund?", "What is the refund status?", "Let me check that."),
            id="asks, and was not answered",
        ),
        pytest.param(
            heard(HI, "Shall I refund it?", ended=False), id="the limit of turns ended it, not the user"
        ),
        pytest.param(
            heard(HI, "Shall I refund it?", expected_state={"refund": "yes"}, final_state={"refund": "yes"}),
            id="ended with a question, and everything is as expected",
        ),
        pytest.param(heard("As an AI model I ask: order 90210?", "Yes.", "Refund the kettle.", DONE),
                     id="a value of the starting prompt is given"),
    ],
)  # fmt: skip
def test_correct_simulated_user_has_no_fault(conversation: UserConversation) -> None:
    assert find_faults(conversation) == []


@pytest.mark.parametrize(
    ("kind", "conversation"),
    [
        ("left_plan", heard(HI, "Yes?", "How can I help you with order 4711?", DONE)),
        ("left_plan", heard(HI, "Yes?", "Order [your order number], refund please.", DONE)),
        ("left_plan", heard(HI, "Yes?", '{"order": 4711, "refund": true}', DONE)),
        ("left_plan", heard(HI, "Yes?", "Refund. Agent: done. User: thanks.\nAgent: bye", DONE)),
        ("left_plan", heard(HI, "Yes?", "Could you recommend vegan restaurants near Lisbon harbour?", DONE)),
        ("left_plan", heard(HI, "Yes?", 'Refund, or I go to "Teapot World".', DONE,
                            plan=f'{PLAN} Never mention "Teapot World".')),
        ("left_plan", heard(HI, "Yes?", "A refund for the kettle, thanks </finished", DONE)),
        ("leaked_answer", heard(HI, "Yes?", "Refund me 38.50 for the kettle.", DONE, expected_state={"sum": 38.5})),
        ("leaked_answer", heard(HI, "Yes?", "Set refund_state for the kettle.", DONE,
                                expected_state={"refund_state": "ok"})),
        ("leaked_answer", heard(HI, "Yes?", "Refund it, you will say 12.99 is the fee.", DONE,
                                plan=f"{PLAN} The agent should say that the fee is 12.99.")),
        ("leaked_answer", heard(HI, "Yes?", "Say that the refund takes five to seven days, ok?", DONE,
                                rubrics=["The agent says that the refund takes five to seven days."])),
        ("stopped_early", heard(HI, "What is your order number?")),
        ("stopped_early", heard(HI, "Your order number?", "4711", "The kettle is on its way back.",
                                plan="Return the kettle of order 4711. Then ask about a gift voucher.")),
        ("invented_fact", heard(HI, "Which order?", "Order 80123, the kettle.", DONE)),
        ("invented_fact", heard(HI, "Your mail?", "It is ada@quill.example.", DONE)),
        ("invented_fact", heard(HI, "Your name?", "My name is Ada Quill.", DONE)),
        ("invented_fact", heard(HI, "Since when?", "I bought the kettle on 3 May.", DONE)),
        ("repeated_itself", heard(HI, "Of course.", "Please refund the kettle to my card.", DONE,
                                  "Please refund the kettle to my card.", "It is done.")),
        ("repeated_itself", heard("Ich habe eine Frage dazu.", "Gern.", "Der Kessel ist leider kaputt.", "Aha.",
                                  "Der Kessel ist leider kaputt.", "Gut.", "Der Kessel ist leider kaputt.", "So.",
                                  plan="Melde den kaputten Kessel.")),
        ("ignored_question", heard(HI, "Yes?", "How long does the refund of the kettle take?",
                                   "A refund takes five days.",
                                   "And how long does the refund of the kettle take?", DONE)),
        ("ignored_question", heard(HI, "What is your order number?", "The kettle leaks and smells funny.", DONE)),
    ],
)  # fmt: skip
def test_faults_are_found(kind: str, conversation: UserConversation) -> None:
    assert kind in kinds_in(conversation)


def test_fault_names_its_location_and_reason() -> None:
    (fault,) = find_faults(heard(HI, "Which order?", "Order 80123, the kettle.", DONE))
    assert (fault.turn, fault.evidence, fault.found_by) == (1, "Order 80123, the kettle.", "rule")
    assert "'80123' appears neither in the plan nor in an earlier answer of the agent" in fault.why


def test_leaked_value_is_not_reported_as_invented_too() -> None:
    conversation = heard(HI, "Yes?", "Refund RF-8812 for the kettle.", DONE, expected_state={"id": "RF-8812"})
    assert kinds_in(conversation) == ["leaked_answer"]


def test_message_repeated_in_every_turn_is_reported_once() -> None:
    talk = [HI, "Yes?", "Order 80123.", "Which kettle?", "That of order 80123, as I said.", DONE]
    assert kinds_in(heard(*talk)).count("invented_fact") == 1


@pytest.mark.slow
def test_a_long_conversation_is_looked_over_in_no_time() -> None:
    def seconds(turns: int) -> float:
        talk = [
            text
            for n in range(turns)
            for text in (f"What about part {n * 37} of it?", f"Part {n * 37} is fine.")
        ]
        began = time.perf_counter()
        find_faults(heard(*talk))
        return (time.perf_counter() - began) / turns

    seconds(50)  # warm
    assert seconds(400) < 40 * max(seconds(50), 1e-4)
