"""The same desk as a worse build: it sometimes makes one of six mistakes, each with a separate probability, and once.

The dice are seeded with the case and the number of the conversation, so a run can be repeated, and resumed with the same mistakes.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from .agent import RetailAgent, Slips

SEED = 90_653
CHANCES = {
    "does not verify the customer": 0.1,
    "does not wait for consent": 0.15,
    "treats a no as consent": 0.5,
    "handles only the first item": 0.25,
    "takes a similar variant": 0.3,
    "grants an exception": 0.35,
}


def rolled(conversation: str) -> Slips:
    """Roll the dice for one conversation."""
    return making(
        mistake
        for mistake, chance in CHANCES.items()
        if Random(f"{SEED} {conversation} {mistake}").random() < chance
    )


def making(mistakes: Iterable[str]) -> Slips:
    """Make each of these mistakes, where there is an opportunity, once."""
    left = set(mistakes)

    def slips(mistake: str) -> bool:
        made = mistake in left
        left.discard(mistake)
        return made

    return slips


root_agent = RetailAgent(rolled)
