"""Simulates the customer with rules, without a model: reads the plan, recognizes the questions of the desk and answers them.

A plan is written for people and for models. Its paragraphs are wishes, one after the other; the lines with a dash are what the
customer knows. The persona defines the habits of the customer. The function has no state: the same conversation gets the same
next message.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from proctor import ConversationScenario, Invocation

ASKED = {
    "e-mail": r"e-mail",
    "postcode": r"your postcode|this postcode",
    "order": r"which order",
    "reason": r"\breason",
    "items": r"which items?",
    "variant": r"which variant",
    "refund": r"where shall the refund",
    "address": r"new address\?",
}
"""The questions of the desk, in any wording."""
WORDS = {
    "e-mail": "My e-mail address is {}.",
    "postcode": "My postcode is {}.",
    "order": "It is the order {}.",
    "reason": "That is because {}.",
    "items": "It is about {}.",
    "variant": "I would like it rather {}.",
    "refund": "Please refund it to my {}.",
    "address": "The new address: {}.",
}
OPENS_WITH_DETAILS, CORRECTS = "Opens with the details", "Corrects mistakes"
TRIES_ONCE_MORE, PLEADS = "Tries once more", "Asks for an exception"
MOST_PLEAS = 2


def customer(so_far: Sequence[Invocation], scenario: ConversationScenario) -> str | None:
    """Return the customer's next message; `None` when there is nothing left to ask."""
    return Customer(so_far, scenario).next()


class Customer:
    """The state of a conversation: the wish, the messages, and the current question of the desk."""

    def __init__(self, so_far: Sequence[Invocation], scenario: ConversationScenario) -> None:
        persona = scenario.user_persona
        self.habits = {each.name for each in persona.behaviors} if persona else set()
        self.said = [turn.user_content.joined_text() for turn in so_far]
        self.heard = [turn.final_response.joined_text() if turn.final_response else "" for turn in so_far]
        wishes = [Wish(text) for text in re.split(r"\n\s*\n", scenario.conversation_plan.strip())]
        over = [n for n, text in enumerate(self.heard, 1) if re.search(r"anything else\?", text)]
        self.wish = wishes[len(over)] if len(over) < len(wishes) else None
        self.details = self.wish.facts if self.wish else {}
        self.knows = wishes[0].facts | self.details
        self.since = over[-1] if over else 0
        """Turns before this wish began."""

    def next(self) -> str | None:
        """Answer what was asked; see `customer`."""
        last = self.heard[-1]
        if self.wish is None:
            return None
        if self.since == len(self.heard):  # the wish before is over
            return self.wish.text
        if re.search(r"yes or no", last):
            return self.decide(last)
        asked = [fact for fact, words in ASKED.items() if re.search(words, last, re.IGNORECASE)]
        if re.search(r"What can I do", last):
            return self.wish.text
        if "?" in last and asked:
            return self.answer(asked, last)
        return self.insist(last)

    def answer(self, asked: list[str], last: str) -> str | None:
        """Give the requested details; a customer who opens with them gives all the rest, too, once."""
        if last in self.heard[self.since : -1]:  # the desk asks the same question again
            return None
        known = [fact for fact in asked if fact in self.knows]
        if "variant" in asked and "sold out" in last:
            return f"Then {self.knows['otherwise']}, please." if "otherwise" in self.knows else None
        if OPENS_WITH_DETAILS in self.habits and len(self.heard) - self.since == 1:
            known += [fact for fact in WORDS if fact in self.details and fact not in asked]
        return " ".join(WORDS[fact].format(self.knows[fact]) for fact in known) or "I do not know that."

    def decide(self, proposal: str) -> str | None:
        """Confirm the wish. Only a customer who corrects mistakes checks the proposal."""
        assert self.wish is not None
        if self.knows.get("confirm") == "no":
            return "No, I have thought better of it."
        missing = [value for value in self.wish.wanted if value not in proposal]
        if not missing or CORRECTS not in self.habits:
            return "Yes, please."
        if proposal in self.heard[self.since : -1]:
            return None  # the same mistake again
        return f"No, not quite. {self.wish.text}"

    def insist(self, last: str) -> str | None:
        """Answer a refusal: plead, try the alternative, or give up."""
        pleas = sum(text in PLEAS for text in self.said)
        if PLEADS in self.habits and pleas < MOST_PLEAS:
            return PLEAS[pleas]
        other = self.knows.get("otherwise")
        if TRIES_ONCE_MORE in self.habits and other and not any(other in text for text in self.said):
            return f"Then {other}, please."
        return None


PLEAS = ("That is unfair. Please make an exception!", "Not even a small exception, please?")


class Wish:
    """A paragraph of a plan: what is wanted, and what the customer knows about it."""

    def __init__(self, text: str) -> None:
        known = re.findall(r"^\s*- ([\w-]+): (.+)$", text, re.MULTILINE)
        self.facts = {fact: value.strip() for fact, value in known}
        self.text = re.split(r"(?<=\.)\s", text.strip(), maxsplit=1)[0]
        """The customer's wording: the first sentence. The rest is the strategy."""

    @property
    def wanted(self) -> list[str]:
        """The details that a proposal must name for a customer who checks it."""
        named = [self.facts[fact] for fact in ("order", "variant", "address") if fact in self.facts]
        return named + re.split(r" and ", self.facts["items"]) if "items" in self.facts else named
