"""Tickets from a seeded generator: up to two words of the topic, and five words that any ticket may contain."""

from __future__ import annotations

from random import Random

import proctor

from .agent import TOPICS

OTHER_WORDS = (
    "please today monday friday order customer hello thanks blue red kitchen lamp chair garden morning evening twice phone"
    " store london paris my your we again maybe quickly question help family gift new old two three since week march"
).split()


def tickets(count: int, seed: int) -> proctor.EvalSet:
    """Return so many tickets, each with the queue to which it belongs. A quarter has no word of its topic."""
    random = Random(seed)
    cases = []
    for number in range(count):
        queue = random.choice([*TOPICS])
        words = random.sample(TOPICS[queue], random.choice((0, 1, 1, 2))) + random.sample(OTHER_WORDS, 5)
        random.shuffle(words)
        turn = {
            "user_content": {"parts": [{"text": " ".join(words)}]},
            "final_response": {"parts": [{"text": queue}]},
        }
        cases.append({"eval_id": f"ticket_{number}", "conversation": [turn]})
    return proctor.EvalSet.model_validate({"eval_set_id": "tickets", "eval_cases": cases})
