"""The scripted work that every contestant does: the cases, what the agent answers, how a contestant reports.

Standard library only, because peers run it in their own environments. In each turn the agent makes one tool call,
gets its response and answers a text; every tenth case expects another city, so it must fail and no contestant wins by skipping
work. Everything follows from the numbers of the case and the turn.
"""

from __future__ import annotations

import json
import random
import re
import sys
import time
from pathlib import Path
from typing import Any

TOOL = "get_weather"
RESPONSE = {"temperature": 21, "sky": "clear"}
ASK = "What is the weather in "
WORDS_IN_ANSWER = 80
FAIL_EVERY = 10

_KNOWN = 300
_SYLLABLES = ("lo", "ren", "tak", "mi", "sun", "dar", "vel", "os", "ing", "ment", "ation", "ly")


def _phrases() -> list[str]:
    chance = random.Random(7)
    words = ["".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(_KNOWN)]
    return [" ".join(chance.choices(words, k=WORDS_IN_ANSWER)) for _ in range(97)]


_PHRASES = _phrases()


def city(case: int, turn: int) -> str:
    """Where the user of this turn is."""
    return f"Town {case} {turn}"


def asked_city(text: str) -> str:
    """What the agent makes of the user's message."""
    return text[len(ASK) :]


def arguments(place: str) -> dict[str, Any]:
    """What the agent calls its tool with."""
    return {"city": place, "unit": "C", "days": 2}


def answer_text(place: str) -> str:
    """The agent's answer: a distinct text for each place."""
    return f"In {place} it is 21 degrees. {_PHRASES[len(place) * 31 % 97]}"


def eval_set(cases: int, turns: int = 2, *, app: str = "") -> dict[str, Any]:
    """The cases in ADK's format; for an `app`, as google-adk's own page writes them, each names its session."""
    session = {"session_input": {"app_name": app, "user_id": "user", "state": {}}} if app else {}
    made = [
        {"eval_id": f"case_{case}", "conversation": [_turn(case, turn) for turn in range(turns)], **session}
        for case in range(cases)
    ]
    return {"eval_set_id": "scripted", "name": "scripted", "eval_cases": made}


def _turn(case: int, turn: int) -> dict[str, Any]:
    place = city(case, turn)
    wanted = place if case % FAIL_EVERY else f"Elsewhere {case}"
    answer = answer_text(place) if case % FAIL_EVERY else "I do not know that town."
    call = {"name": TOOL, "args": arguments(wanted)}
    return {
        "invocation_id": f"{case}-{turn}",
        "user_content": {"role": "user", "parts": [{"text": ASK + place}]},
        "final_response": {"role": "model", "parts": [{"text": answer}]},
        "intermediate_data": {"tool_uses": [call], "tool_responses": [], "intermediate_responses": []},
        "creation_timestamp": 0.0,
    }


def expected_failures(cases: int) -> int:
    """How many of the cases must fail."""
    return -(-cases // FAIL_EVERY)


class Stopwatch:
    """Wall-clock and processor time of one stretch of work."""

    def __init__(self) -> None:
        """Start."""
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def stop(self) -> dict[str, float]:
        """Return both in seconds."""
        return {"wall": time.perf_counter() - self._wall, "cpu": time.process_time() - self._cpu}


def peak_memory() -> float:
    """The most memory that this process held so far, in MB."""
    status = Path("/proc/self/status")
    if status.exists():  # not `getrusage`, which counts the process that started this one
        found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text())
        if found:
            return int(found[1]) / 1000
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / (1e6 if sys.platform == "darwin" else 1e3)


def report(**found: Any) -> None:
    """Print the measurements, as the last line of standard output."""
    print(json.dumps({"peak": peak_memory(), **found}))
