"""`proctor.score` returns for any custom metric, and names the one without an answer."""

import asyncio
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from types import ModuleType
from typing import Any

import pytest

import proctor
from proctor.errors import SetupProblems

TURN = {"user_content": {"parts": [{"text": "hi"}]}, "final_response": {"parts": [{"text": "hello"}]}}


async def waits(actual: Any) -> float:
    await asyncio.Event().wait()
    return 1.0


async def ignores_its_cancellation(actual: Any) -> float:
    while True:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()


def blocks(actual: Any) -> float:
    threading.Event().wait(600)
    return 1.0


def is_fine(actual: Any) -> float:
    return 1.0


@pytest.fixture(autouse=True)
def module(monkeypatch: pytest.MonkeyPatch) -> None:
    made = ModuleType("slow_metrics")
    for function in (waits, ignores_its_cancellation, blocks, is_fine):
        setattr(made, function.__name__, function)
    monkeypatch.setitem(sys.modules, "slow_metrics", made)


def config(*functions: Callable[..., Any]) -> dict[str, Any]:
    named = {one.__name__: {"code_config": {"name": f"slow_metrics.{one.__name__}"}} for one in functions}
    return {"criteria": dict.fromkeys(named, 0.5), "custom_metrics": named}


@pytest.mark.parametrize("function", [waits, ignores_its_cancellation, blocks])
def test_a_metric_that_never_answers_is_an_error(function: Callable[..., Any]) -> None:
    verdict = proctor.score_sync(TURN, TURN, criteria=config(function), timeout=0.2)[function.__name__]
    assert (verdict.outcome, verdict.score) == ("error", None)
    assert "timed out" in verdict.reason
    assert "(0.2 s)" in verdict.reason


def test_the_same_within_a_running_loop() -> None:
    async def main() -> Any:
        return await proctor.score(TURN, TURN, criteria=config(waits), timeout=0.2)

    assert asyncio.run(main())["waits"].outcome == "error"


def test_metrics_after_a_blocked_one_give_the_reason() -> None:
    found = proctor.score_sync(TURN, TURN, criteria=config(ignores_its_cancellation, is_fine), timeout=0.2)
    assert "it was left behind" in found["ignores_its_cancellation"].reason
    assert "was not asked: ignores_its_cancellation before it did not end" in found["is_fine"].reason


def test_cancellation_of_the_scoring_is_raised() -> None:
    begun = asyncio.Event()

    async def signals_its_start(actual: Any) -> float:
        begun.set()
        await asyncio.Event().wait()
        return 1.0

    async def main() -> None:
        sys.modules["slow_metrics"].waits = signals_its_start  # type: ignore[attr-defined]  # a module made above
        scoring = asyncio.ensure_future(proctor.score(TURN, TURN, criteria=config(waits), timeout=None))
        await begun.wait()
        scoring.cancel()
        with pytest.raises(asyncio.CancelledError):
            await scoring

    asyncio.run(main())


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), "300", True])
def test_a_time_that_is_none_is_refused(timeout: Any) -> None:
    with pytest.raises(SetupProblems, match="timeout must be a number of seconds above 0"):
        proctor.score_sync(TURN, TURN, criteria={"response_match_score": 0.5}, timeout=timeout)


def test_without_a_limit_it_is_waited_for() -> None:
    assert proctor.score_sync(TURN, TURN, criteria=config(is_fine), timeout=None)["is_fine"].score == 1.0
