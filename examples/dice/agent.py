"""Dice and primes: rolls dice and finds prime numbers.

Every session has its own dice, seeded by its state, so that a session rolls the same numbers every time.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Generator, Iterator
from typing import Any

from proctor import Event, Session

State = dict[str, Any]
Numbers = Generator[Event, None, list[int]]
"""Yields what the agent does, returns numbers."""

_WORDS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
_DICE = re.compile(r"(?:(?P<count>\w+) )?(?:d(?P<short>\d+)|(?P<long>\d+)-sided (?:die|dice))", re.IGNORECASE)


def roll_die(state: State, sides: int) -> dict[str, Any]:
    """Roll one die; the rolls of a session are kept in its state."""
    rolls = state.setdefault("rolls", [])
    roll = random.Random(f"{state.get('seed', 0)}/{len(rolls)}").randint(1, sides)
    rolls.append(roll)
    return {"result": roll}


def check_prime(_state: State, nums: list[int]) -> dict[str, Any]:
    """Tell which of some numbers are prime."""
    return {"primes": [n for n in nums if n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))]}


def use(
    tool: Callable[..., dict[str, Any]], session: Session, **args: Any
) -> Generator[Event, None, dict[str, Any]]:
    """Call a tool and let Proctor see the call and its result."""
    yield Event.called(tool.__name__, args)
    result = tool(session.state, **args)
    yield Event.returned(tool.__name__, result)
    return result


def root_agent(text: str, session: Session) -> Iterator[Event | str]:
    """Roll what is asked for, then look for primes when that is asked for, too."""
    sentences: list[str] = []
    numbers: list[int] = []
    if re.search(r"\bso far\b", text, re.IGNORECASE):
        rolls = session.state.get("rolls", [])
        sentences.append(f"So far you rolled {_listed(rolls)}." if rolls else "You have not rolled yet.")
    elif re.search(r"\b(roll|throw)\b", text, re.IGNORECASE):
        numbers = yield from _roll(_dice(text, session), session)
        sentences.append(
            f"I rolled {_listed(numbers)}." if numbers else "How many sides should the die have?"
        )
    if re.search(r"\bprimes?\b", text, re.IGNORECASE):
        numbers = numbers or [int(n) for n in re.findall(r"\b\d+\b", text)] or session.memory.get("last", [])
        found = yield from use(check_prime, session, nums=numbers)
        sentences.append(_verdict(numbers, found["primes"]))
    yield " ".join(sentences) or "I roll dice and look for primes. Try: roll a 20-sided die."


def _dice(text: str, session: Session) -> list[int]:
    """Read the sides of each die to roll; "again" means those of the last roll."""
    dice: list[int] = []
    for match in _DICE.finditer(text):
        count = match["count"] or "1"
        times = int(count) if count.isdecimal() else _WORDS.get(count.lower(), 1)
        dice += [int(match["short"] or match["long"])] * times
    if not dice and re.search(r"\bagain\b", text, re.IGNORECASE):
        dice = session.memory.get("dice", [])
    session.memory["dice"] = dice
    return dice


def _roll(dice: list[int], session: Session) -> Numbers:
    numbers = []
    for sides in dice:
        rolled = yield from use(roll_die, session, sides=sides)
        numbers.append(rolled["result"])
    session.memory["last"] = numbers
    return numbers


def _verdict(numbers: list[int], primes: list[int]) -> str:
    if len(numbers) == 1:
        return f"{numbers[0]} is {'' if primes else 'not '}a prime number."
    if not primes:
        return "None of them is a prime number."
    return f"Of these, {_listed(primes)} {'is a prime number' if len(primes) == 1 else 'are prime numbers'}."


def _listed(numbers: list[int]) -> str:
    *first, last = [str(n) for n in numbers] or [""]
    return f"{', '.join(first)} and {last}" if first else last
