"""Conversations with simulated users, broken off by a signal: what was finished is kept, and is not played again."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

import proctor

pytestmark = pytest.mark.slow  # runs are killed

CASES = 40
AGENT = '''
import asyncio, os
from proctor import Event


class Desk:
    """Notes each conversation that begins, in a file."""

    def begin(self, session, case):
        with open("ledger", "a") as ledger:
            ledger.write(case.eval_id + "\\n")

    async def answer(self, message, session):
        await asyncio.sleep(0.02)
        session.state["heard"] = session.state.get("heard", 0) + 1
        yield Event.said("All right.")


root_agent = Desk()
'''
USER = '''
import asyncio


async def user(so_far):
    """Send four messages, then stop."""
    await asyncio.sleep(0.02)
    words = ["one red apple", "two green pears", "three blue plums", "four black figs"]
    return f"I would like {words[len(so_far) - 1]}." if len(so_far) < 5 else None
'''


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    plan = "Ask for one red apple, two green pears, three blue plums and four black figs."
    cases = [
        {
            "eval_id": f"c{n}",
            "conversation_scenario": {"starting_prompt": "Hello", "conversation_plan": plan},
            "final_session_state": {"heard": 5},
        }
        for n in range(CASES)
    ]
    (tmp_path / "desk.py").write_text(AGENT)
    (tmp_path / "buyer.py").write_text(USER)
    (tmp_path / "set.evalset.json").write_text(json.dumps({"eval_set_id": "set", "eval_cases": cases}))
    return tmp_path


def begun(shop: Path) -> Counter[str]:
    ledger = shop / "ledger"
    return Counter(ledger.read_text().split() if ledger.exists() else [])


def proctor_in(shop: Path, *args: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "proctor", *args, "--store", "sqlite:///store.sqlite3"]
    return subprocess.Popen(command, cwd=shop, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("sent", "left"), [(signal.SIGKILL, -9), (signal.SIGINT, 130)], ids=["kill", "Ctrl-C"]
)
def test_no_finished_conversation_is_played_again(shop: Path, sent: signal.Signals, left: int) -> None:
    run = proctor_in(shop, "eval", "desk.py", "set.evalset.json", "--user", "buyer.py", "--concurrency", "3")
    ends = time.monotonic() + 60
    while len(begun(shop)) < 9 and time.monotonic() < ends:
        time.sleep(0.02)
    run.send_signal(sent)
    run.communicate(timeout=60)
    assert run.returncode == left

    store = f"sqlite:///{shop / 'store.sqlite3'}"
    kept = {case.eval_id for case in proctor.load_run("latest", store=store).cases if case.trials}
    before = begun(shop)
    assert 1 <= len(kept) < CASES

    resumed = proctor_in(shop, "resume", "latest")
    out, err = resumed.communicate(timeout=60)
    assert resumed.returncode == 0, (out, err)
    again = begun(shop) - before
    assert not again.keys() & kept
    assert again.keys() | kept == {f"c{n}" for n in range(CASES)}
    whole = proctor.load_run("latest", store=store)
    assert whole.passed
    assert [len(case.trials) for case in whole.cases] == [1] * CASES
