"""`evaluate` is called plainly in a `def`, awaited in an `async def`, and never forgotten in silence."""

import asyncio
import gc
import subprocess
import sys
import threading
import unittest
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from proctor.compat.adk.evaluation.agent_evaluator import AgentEvaluator
from proctor.compat.adk.sync_or_async import Evaluation, ForgottenAwaitError, unawaited_messages
from proctor.schema.results.run_result import RunResult

CONFIG = {"criteria": {"response_match_score": 0.8}}
asked: list[str] = []


@pytest.fixture(autouse=True)
def _no_calls() -> None:
    asked.clear()


@pytest.fixture
def forgetting(request: pytest.FixtureRequest) -> None:
    """For tests that forget on purpose: pytest's plug-in is not to hear of it."""
    test = request.function

    def silently(*args: Any, **named: Any) -> None:
        try:
            test(*args, **named)
        finally:
            unawaited_messages()

    request.node.obj = silently


def agent(text: str) -> str:
    asked.append(text)
    return "hello"


def a_set(answer: str) -> dict[str, Any]:
    turn = {"user_content": {"parts": [{"text": "hi"}]}, "final_response": {"parts": [{"text": answer}]}}
    return {"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": [turn]}]}


def evaluate(answer: str = "hello") -> Evaluation[RunResult]:
    return AgentEvaluator.evaluate_eval_set(
        agent, a_set(answer), eval_config=CONFIG, num_runs=1, print_detailed_results=False
    )


# --- plain ------------------------------------------------------------------------------------------------------------


def test_called_plainly_it_is_done_when_it_returns() -> None:
    result = evaluate()
    assert asked == ["hi"]
    assert result.passed
    assert result.result.cases[0].eval_id == "a"


def test_missing_await_raises_at_the_call() -> None:
    with pytest.raises(AssertionError, match="response_match_score for agent Failed"):
        evaluate("something else")


def _until_complete(evaluation: Evaluation[RunResult]) -> RunResult:
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(evaluation)
    finally:
        loop.close()


@pytest.mark.parametrize("run", [asyncio.run, _until_complete])
def test_what_was_done_plainly_can_be_awaited_all_the_same(run: Callable[[Any], RunResult]) -> None:
    """`asyncio.run(AgentEvaluator.evaluate(...))`, as scripts have it."""
    assert run(evaluate()).passed
    assert asked == ["hi"]


# --- awaited ----------------------------------------------------------------------------------------------------------


def test_awaited_it_gives_the_result() -> None:
    async def test() -> RunResult:
        return await evaluate()

    assert asyncio.run(test()).passed
    assert asked == ["hi"]


def test_awaited_again_it_gives_the_same_result_again() -> None:
    async def test() -> tuple[RunResult, RunResult]:
        evaluation = evaluate()
        return await evaluation, await evaluation

    first, second = asyncio.run(test())
    assert first is second
    assert asked == ["hi"]


def test_awaited_it_raises() -> None:
    async def test() -> None:
        await evaluate("something else")

    with pytest.raises(AssertionError, match="response_match_score for agent Failed"):
        asyncio.run(test())


async def _in_a_task() -> list[RunResult]:
    return [await asyncio.create_task(evaluate())]


async def _gathered() -> list[RunResult]:
    return list(await asyncio.gather(evaluate(), evaluate()))


async def _with_a_limit() -> list[RunResult]:
    return [await asyncio.wait_for(evaluate(), 30)]


async def _later() -> list[RunResult]:
    evaluation = evaluate()
    await asyncio.sleep(0)
    return [await evaluation]


async def _in_another_task() -> list[RunResult]:
    evaluation = evaluate()

    async def other() -> RunResult:
        return await evaluation

    return [await asyncio.create_task(other())]


@pytest.mark.parametrize("wait", [_in_a_task, _gathered, _with_a_limit, _later, _in_another_task])
def test_every_way_to_wait_for_it(wait: Callable[[], Coroutine[Any, Any, list[RunResult]]]) -> None:
    assert all(result.passed for result in asyncio.run(wait()))


def test_it_may_be_left_undone_on_purpose() -> None:
    async def test() -> str:
        evaluate().close()
        await asyncio.sleep(0)
        return "continued"

    assert asyncio.run(test()) == "continued"
    assert asked == []


# --- forgotten --------------------------------------------------------------------------------------------------------


async def _as_last_statement() -> None:
    evaluate()


async def _before_other_awaits() -> None:
    evaluate()
    await asyncio.sleep(0)


async def _in_a_variable() -> None:
    _ = evaluate()


async def _below() -> None:
    def check() -> None:
        evaluate()

    check()


async def _after_an_awaited_one() -> None:
    await evaluate()
    evaluate()


async def _under_a_timeout() -> None:
    async with asyncio.timeout(30):
        evaluate()
        await asyncio.sleep(0)


async def _caught_broadly() -> None:
    try:
        evaluate()
        await asyncio.sleep(0)
    except Exception:  # noqa: BLE001 - as tests sometimes do
        return


async def _in_a_circle() -> None:
    evaluation: Any = evaluate()
    evaluation.itself = evaluation
    del evaluation
    gc.collect()


FORGOTTEN = [
    _as_last_statement,
    _before_other_awaits,
    _in_a_variable,
    _below,
    _after_an_awaited_one,
    _under_a_timeout,
    _caught_broadly,
    _in_a_circle,
]


@pytest.mark.nightly(check=3)
@pytest.mark.usefixtures("forgetting")
@pytest.mark.parametrize("test", FORGOTTEN)
def test_a_forgotten_await_is_never_green(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    with pytest.raises(asyncio.CancelledError, match=r"not awaited: nothing was evaluated\. Write: await"):
        asyncio.run(test())


@pytest.mark.usefixtures("forgetting")
@pytest.mark.parametrize("test", FORGOTTEN)
def test_nor_in_the_tests_of_the_standard_library(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    class Forgetful(unittest.IsolatedAsyncioTestCase):
        async def test(self) -> None:
            await test()

    result = unittest.TestResult()
    Forgetful("test").run(result)
    assert not result.wasSuccessful()


def test_its_result_is_not_there_before_it_is_awaited() -> None:
    async def test(use: Callable[[Evaluation[RunResult]], object]) -> None:
        evaluation = evaluate()
        try:
            use(evaluation)
        finally:
            evaluation.close()

    asyncio.run(test(lambda one: repr(one).index("not awaited: write `await")))
    for use in (lambda one: one.passed, lambda one: one.result, bool):
        with pytest.raises(ForgottenAwaitError, match="not awaited"):
            asyncio.run(test(use))


def test_evaluation_kept_beyond_its_test_is_reported_by_the_test_runner() -> None:
    held: list[object] = []

    async def test() -> None:
        held.append(evaluate())

    unawaited_messages()
    asyncio.run(test())
    (message,) = unawaited_messages()
    assert "Write: await AgentEvaluator.evaluate_eval_set(...)" in message
    assert unawaited_messages() == []


def test_one_that_was_awaited_is_not() -> None:
    async def test() -> object:
        return await evaluate()

    unawaited_messages()
    held = asyncio.run(test())
    assert held
    assert unawaited_messages() == []


@pytest.mark.usefixtures("forgetting")
def test_only_the_task_that_forgot_is_cancelled() -> None:
    async def forgetful() -> None:
        evaluate()

    async def test() -> list[object]:
        return list(await asyncio.gather(forgetful(), asyncio.sleep(0.01, "fine"), return_exceptions=True))

    failed, fine = asyncio.run(test())
    assert isinstance(failed, asyncio.CancelledError)
    assert fine == "fine"


@pytest.mark.usefixtures("forgetting")
def test_one_that_is_collected_in_another_thread_cancels_all_the_same() -> None:
    async def test() -> None:
        held = [evaluate()]
        thread = threading.Thread(target=held.clear)
        thread.start()
        thread.join()
        await asyncio.sleep(1)

    with pytest.raises(asyncio.CancelledError, match="not awaited"):
        asyncio.run(test())


SCRIPT = """
import asyncio
from proctor.compat.adk.evaluation.agent_evaluator import AgentEvaluator

async def main():
    AgentEvaluator.evaluate(agent_module="my_agent", eval_dataset_file_path_or_dir="tests")

asyncio.run(main())
"""


@pytest.mark.slow
def test_a_script_that_forgets_ends_in_an_error(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "Write: await AgentEvaluator.evaluate(...)" in done.stderr
