"""W8: whether the time of a turn grows with the length of the conversation."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.measuring import alternate, module
from benchmarks.table import OURS, Budget, Row


def rows(repeats: int, *, turns: int = 200, cases: int = 10) -> Iterator[Row]:
    """Measure the turns of long conversations, and whole runs of long ones against short ones."""
    found = alternate(
        {
            "long": module("ours", "converse", turns, cases),
            "played": module("ours", "play", turns, cases),
            "played_short": module("ours", "play", 10, cases * turns // 10),
            "short": module("ours", "converse", 10, cases * turns // 10),
        },
        repeats,
    )
    long, short = found["long"], found["short"]
    flat = [Budget(1.2, size="1.2")]
    times = f"turn {turns} ({long['late'] * 1e6:.0f} µs) / turn 10 ({long['early'] * 1e6:.0f} µs)"
    yield Row("W8", f"time per turn, {times}", "×", {OURS: long["late"] / long["early"]}, flat)
    played = found["played"]
    times = f"turn {turns} ({played['late'] * 1e6:.0f} µs) / turn 10 ({played['early'] * 1e6:.0f} µs)"
    yield Row(
        "W8", f"the same with a simulated user, {times}", "×", {OURS: played["late"] / played["early"]}, flat
    )
    whole = f"per turn of played conversations, the look for their users' faults included, {turns} turns / 10 turns"
    short_played = found["played_short"]["per_turn"]
    yield Row("W8", whole, "×", {OURS: played["per_turn"] / short_played}, flat)
    whole = f"per turn with scoring, {turns} turns a case / 10 turns a case"
    yield Row("W8", whole, "×", {OURS: long["per_turn"] / short["per_turn"]}, flat)
