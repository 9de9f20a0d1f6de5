"""Simulated users that hang: they are stopped, the trial is a simulator error, and the run continues."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

import proctor
from proctor.schema.evidence.trial import FailureKind
from proctor.schema.results.run_result import Outcome
from proctor.simulation import user_models

CASES = [
    {
        "eval_id": eval_id,
        "conversation_scenario": {"starting_prompt": eval_id, "conversation_plan": "Wait."},
        "final_session_state": {"asked": 1},
    }
    for eval_id in ("hangs", "fine")
]


def agent(message: str, session: Any) -> str:
    """Remember that it was asked."""
    session.state["asked"] = 1
    return "Hm."


def hung(so_far: Any) -> bool:
    return bool(so_far[0].user_content.joined_text() == "hangs")


async def waits(so_far: Any) -> None:
    if hung(so_far):
        await asyncio.sleep(60)


async def blocks(so_far: Any) -> None:
    if hung(so_far):
        time.sleep(60)  # noqa: ASYNC251 - that is the fault


async def ignores_cancellation(so_far: Any) -> None:
    ends = time.monotonic() + 6
    while hung(so_far) and time.monotonic() < ends:
        try:
            await asyncio.sleep(1)
        except asyncio.CancelledError:
            continue


@pytest.mark.slow  # they wait
@pytest.mark.parametrize(
    ("user", "message"),
    [
        (waits, "waits did not answer within 0.3 s"),
        (blocks, "blocked the event loop"),
        (ignores_cancellation, "left behind"),
    ],
)
def test_a_user_that_does_not_come_back_costs_its_own_trial_only(
    user: Any, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_models, "PATIENCE", 0.3)
    monkeypatch.setattr(user_models, "_GRACE", 0.2)
    given = {"eval_set_id": "set", "eval_cases": CASES}
    run = proctor.evaluate_sync(agent, given, config={"criteria": {}}, user=user, timeout=2)
    failure = run.case("hangs").trials[0].failure
    assert failure is not None
    assert (failure.where, failure.kind, failure.turn) == ("simulator", FailureKind.TIMED_OUT, 1)
    assert message in failure.message
    assert run.case("fine").outcome is Outcome.PASSED
