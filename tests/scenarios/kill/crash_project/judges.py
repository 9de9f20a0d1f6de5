"""A metric that takes its time, and writes into the agent's ledger that it was asked."""

import asyncio
import os
import random

from ledger import note, text_of  # type: ignore[import-not-found]  # it is in the same folder in the project of a test

from proctor import Invocation

SECONDS = [float(each) for each in os.environ.get("CRASH_JUDGE_SECONDS", "0,0").split(",")]


async def patient(actual: Invocation, expected: Invocation) -> float:
    """Look at one turn, at leisure: half right where the number is even."""
    case = text_of(actual.user_content).partition(" ")[0]
    note("judge", case)
    await asyncio.sleep(random.uniform(*SECONDS))
    note("judged", case)
    return 1.0 if int(case.lstrip("abcdefghijklmnopqrstuvwxyz")) % 2 else 0.5
