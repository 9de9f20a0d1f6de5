"""The agent of runs that are killed. Keeps a ledger that knows nothing of any store: a line at start and end of each trial.

Its answer follows from the message (`c7 1/2`: case c7, turn 1 of 2), except for a unique name that each
attempt gets, so that evidence can be compared with the ledger.
"""

import asyncio
import os
import platform
import random
import time
from collections.abc import AsyncIterator
from pathlib import Path

from ledger import note, text_of  # type: ignore[import-not-found]  # it is in the same folder in the project of a test

from proctor import Content, Event, Session
from proctor.agents.base import AgentInfo

SECONDS = [float(each) for each in os.environ.get("CRASH_AGENT_SECONDS", "0.005,0.02").split(",")]
MENDED = Path("mended").exists()
JUMPS = [float(each) for each in os.environ.get("CRASH_CLOCK", "").split(",") if each]
"""By how much the clock jumps, after how many trials each time (see `_jump`)."""


class Agent:
    """Answer rightly but for every third case; every seventeenth breaks while the file `mended` is missing."""

    def __init__(self) -> None:
        self._random = random.Random()

    def describe(self) -> AgentInfo:
        """Return this version."""
        return AgentInfo(name="numbers", version=os.environ.get("CRASH_VERSION", "1"))

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        """Answer one turn."""
        case, _, place = text_of(message).partition(" ")
        turn, _, turns = place.partition("/")
        if turn == "1":
            session.memory["name"] = f"n-{os.urandom(8).hex()}"
            note("start", case, session.memory["name"])
            _jump()
        await asyncio.sleep(self._random.uniform(*SECONDS))
        number = int(case.lstrip("abcdefghijklmnopqrstuvwxyz"))
        yield Event.called("look_up", {"n": number if number % 3 else -1}, id="1")
        model = "model-odd" if number % 2 else "model-even"
        spent = {"total_token_count": 100}
        found = {"found": session.memory["name"]}
        yield Event.returned("look_up", found, id="1", usage_metadata=spent, model_version=model)
        if number % 17 == 5 and not MENDED:
            note("end", case, session.memory["name"])
            raise ConnectionError("the weather service is down")
        if turn == turns:
            note("end", case, session.memory["name"])
        yield Event.said(f"the answer to {case} {place}")


_trials = 0
_offset = float(os.environ.get("CRASH_CLOCK_BEGINS", "0"))


def _jump() -> None:
    """Let the wall clock jump every few trials, by CRASH_CLOCK; the monotonic clock continues."""
    global _trials, _offset  # noqa: PLW0603 - the clock of a process is a global thing
    _trials += 1
    if JUMPS and _trials % 5 == 0:
        _offset += JUMPS[_trials // 5 % len(JUMPS)]


if JUMPS or _offset:
    _true_time, _true_time_ns = time.time, time.time_ns
    time.time = lambda: _true_time() + _offset
    time.time_ns = lambda: _true_time_ns() + int(_offset * 1e9)

if "CRASH_PYTHON" in os.environ:
    platform.python_version = lambda: os.environ["CRASH_PYTHON"]

root_agent = Agent()
