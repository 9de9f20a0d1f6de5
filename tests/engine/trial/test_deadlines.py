"""Deadlines hold: for agents that hang, that swallow cancellation, that block."""

from __future__ import annotations

import asyncio
import contextlib
import enum
import inspect
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import pytest

from proctor.agents.base import Session
from proctor.engine.execution.run_control import run_sync
from proctor.engine.trial import deadlines
from proctor.engine.trial.event_recorder import record_turn
from proctor.engine.trial.evidence_limits import EvidenceLimiter, TurnCaps
from proctor.errors import AgentError
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import Attempt, FailureKind
from proctor.schema.evidence.turn import Turn
from proctor.schema.results.run_result import Outcome
from tests.engine.scripted import Scripted, case, eval_set, run, turn


async def sleeps(_: Session) -> AsyncIterator[Event]:
    await asyncio.sleep(60)
    yield Event.said("ok")


async def swallows(_: Session) -> AsyncIterator[Event]:
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            continue
    yield Event.said("ok")


async def blocks(_: Session) -> AsyncIterator[Event]:
    time.sleep(60)  # noqa: ASYNC251 - the fault under test
    yield Event.said("ok")


async def spins(_: Session) -> AsyncIterator[Event]:
    while True:
        pass
    yield Event.said("ok")


async def catches_all(_: Session) -> AsyncIterator[Event]:
    try:
        time.sleep(60)  # noqa: ASYNC251 - the fault under test
    except BaseException as error:
        raise ValueError("cleaned up") from error
    yield Event.said("ok")


async def never_waits(_: Session) -> AsyncIterator[Event]:
    """Nearly all of its time is spent in the engine, which is never interrupted."""
    event = Event.said("ok " * 2000)
    while True:
        yield event


async def never_waits_and_swallows(_: Session) -> AsyncIterator[Event]:
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.sleep(60)
    async for event in never_waits(_):
        yield event


FAULTS = [sleeps, swallows, blocks, spins, catches_all, never_waits, never_waits_and_swallows]


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.__name__)
def test_a_hanging_agent_is_timed_out_and_the_others_go_on(fault: object) -> None:
    agent = Scripted({"hang": fault})  # type: ignore[dict-item]  # parametrised as object
    given = eval_set(case("a"), case("hang"), *(case(f"c{n}") for n in range(20)))
    began = time.monotonic()
    result = run_sync(lambda: run(agent, given, timeout=0.4, max_events=10**9))
    took = time.monotonic() - began
    failure = result.case("hang").trials[0].failure
    assert failure is not None
    assert failure.kind is FailureKind.TIMED_OUT
    assert result.counts == {Outcome.PASSED: 21, Outcome.ERROR: 1}
    assert took < 30


@pytest.mark.parametrize(
    ("seconds", "swallowed", "ended_by"),
    [
        (-1.0, "", asyncio.CancelledError),
        (-1.0, "turn", TimeoutError),
        (600.0, "", AgentError),  # there is time: only the bound of events ends it
    ],
)
def test_an_agent_that_never_waits_lets_the_timer_end_it(
    seconds: float, swallowed: str, ended_by: type[BaseException]
) -> None:
    async def asked() -> None:
        slot, session = deadlines.TrialSlot(), Session("s", "app", "user")
        slot.begin_turn(seconds)
        slot.expired = swallowed
        answer = record_turn(
            never_waits(session),
            Turn(user_content={}),
            session,
            EvidenceLimiter(TurnCaps(max_events=2000), []),
            slot,
        )
        task = asyncio.create_task(answer)
        asyncio.get_running_loop().call_soon(task.cancel if not swallowed else lambda: None)
        await asyncio.wait([task])
        with pytest.raises(ended_by):
            task.result()

    asyncio.run(asked())


def test_the_limit_is_per_turn() -> None:
    async def slow(_: Session) -> AsyncIterator[Event]:
        await asyncio.sleep(0.25)
        yield Event.said("ok")

    given = eval_set(case("c", *(turn("c") for _ in range(6))))
    assert run_sync(lambda: run(Scripted({"c": slow}), given, timeout=1.2)).passed


def test_trial_has_a_separate_time_limit() -> None:
    async def hangs_in_the_third(session: Session) -> AsyncIterator[Event]:
        asked.append(session.id)
        if len(asked) == 3:
            await asyncio.sleep(60)
        yield Event.said("ok")

    asked: list[str] = []
    given = eval_set(case("c", turn("c"), turn("c"), turn("c"), turn("c")))
    agent = Scripted({"c": hangs_in_the_third})
    result = run_sync(lambda: run(agent, given, timeout=30, trial_timeout=1))
    assert "the trial took too long (1 s)" in result.cases[0].reason
    trial = result.cases[0].trials[0].trial
    assert trial is not None
    assert len(trial.turns) == 3


async def waits(_: Session) -> AsyncIterator[Event]:
    """In steps: only one of them is over while another task blocks."""
    for _step in range(10):
        await asyncio.sleep(0.1)
    yield Event.said("ok")


@pytest.mark.slow  # waits for a time limit
def test_time_that_one_agent_blocks_is_given_back_to_the_others() -> None:
    async def brief_block(_: Session) -> AsyncIterator[Event]:
        time.sleep(0.9)  # noqa: ASYNC251 - the fault under test
        yield Event.said("ok")

    given = eval_set(case("waits"), case("block"))
    result = run_sync(lambda: run(Scripted({"waits": waits, "block": brief_block}), given, timeout=1.4))
    assert result.passed


def test_no_limit_means_no_limit() -> None:
    async def slow(_: Session) -> AsyncIterator[Event]:
        await asyncio.sleep(0.2)
        yield Event.said("ok")

    assert run_sync(lambda: run(Scripted({"c": slow}), eval_set(case("c")), timeout=None)).passed


def test_no_deadline_counts_the_start_of_a_process() -> None:
    class InProcesses(Scripted):
        async def take_process(self, session: Session) -> None:
            await asyncio.sleep(1.3)
            session.memory["process"] = "has loaded its agent"

        async def begin(self, session: Session, case: object) -> None:
            assert session.memory["process"] == "has loaded its agent"

    result = run_sync(lambda: run(InProcesses(), eval_set(case("c")), timeout=1.0, trial_timeout=1.0))
    assert result.passed


def test_a_timed_out_turn_may_be_tried_again() -> None:
    tries = [0]

    async def slow_once(_: Session) -> AsyncIterator[Event]:
        tries[0] += 1
        await asyncio.sleep(60 if tries[0] == 1 else 0)
        yield Event.said("ok")

    result = run_sync(
        lambda: run(Scripted({"c": slow_once}), eval_set(case("c")), timeout=0.5, retry_errors=1)
    )
    assert result.passed
    trial = result.cases[0].trials[0].trial
    assert trial is not None
    assert len(trial.attempts) == 1


@pytest.mark.slow  # waits for a time limit
def test_time_that_an_agent_blocks_is_its_own() -> None:
    async def blocks_then_waits(_: Session) -> AsyncIterator[Event]:
        hold_the_interpreter(0.9)
        await asyncio.sleep(1.2)
        yield Event.said("ok")

    given = eval_set(case("waits"), case("block"))
    result = run_sync(lambda: run(Scripted({"waits": waits, "block": blocks_then_waits}), given, timeout=1.4))
    assert {done.eval_id: done.outcome for done in result.cases} == {
        "waits": Outcome.PASSED,
        "block": Outcome.ERROR,
    }


def hold_the_interpreter(seconds: float) -> None:
    """Run without letting any other thread run, as code in C does."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(60)
    try:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            pass
    finally:
        sys.setswitchinterval(before)


def test_only_called_code_is_interrupted_not_the_engine() -> None:
    engine = Path(deadlines.__file__).with_name("inference.py")

    def called_from(file: str, function: Callable[[], FrameType | None]) -> FrameType | None:
        scope: dict[str, Any] = {}
        exec(compile("def call(function): return function()", file, "exec"), scope)
        found: FrameType | None = scope["call"](function)
        return found

    def here() -> FrameType | None:
        return inspect.currentframe()

    def caller() -> FrameType | None:
        frame = inspect.currentframe()
        return frame.f_back if frame else None

    assert deadlines._is_ours(called_from(str(engine), caller))
    assert not deadlines._is_ours(called_from(str(engine), here))
    assert not deadlines._is_ours(called_from("/somewhere/agent.py", caller))
    assert not deadlines._is_ours(None)


PYDANTIC = "/venv/lib/python3.12/site-packages/pydantic/main.py"
LIBRARY = "/venv/lib/python3.12/site-packages/agents/loop.py"
ENGINE = str(Path(deadlines.__file__).with_name("inference.py"))
SCHEMA = str(Path(deadlines.__file__).parents[2] / "schema" / "format" / "wire_model.py")
METRIC = str(Path(deadlines.__file__).parents[2] / "metrics" / "custom" / "function_metric.py")


@pytest.mark.parametrize(
    ("files", "ours"),
    [
        ([ENGINE, SCHEMA, PYDANTIC, enum.__file__], True),
        ([ENGINE, PYDANTIC], True),
        ([ENGINE, asyncio.__file__], True),
        ([ENGINE, LIBRARY], False),
        ([ENGINE, LIBRARY, PYDANTIC], False),
        ([ENGINE, PYDANTIC.replace("pydantic", "pydantic_ai"), enum.__file__], False),
        ([ENGINE, "/somewhere/agent.py", PYDANTIC, enum.__file__], False),
        ([ENGINE, "/somewhere/agent.py", threading.__file__], False),
        ([ENGINE, METRIC], False),
        ([ENGINE, METRIC, threading.__file__], False),
    ],
)
def test_what_the_engine_makes_its_models_with_is_not_interrupted_either(
    files: list[str], ours: bool
) -> None:
    frame: Any = None
    for file in files:
        frame = SimpleNamespace(f_back=frame, f_code=SimpleNamespace(co_filename=file))
    assert deadlines._is_ours(frame) is ours


@pytest.mark.parametrize(("seconds_left", "interrupted"), [(-5.0, True), (60.0, False)])
def test_a_signal_that_comes_late_interrupts_nothing_that_has_time(
    seconds_left: float, interrupted: bool
) -> None:
    """The late trial has ended, and the same trial has begun its next turn."""

    async def signalled() -> None:
        slot = deadlines.TrialSlot(task=asyncio.current_task())
        slot.begin_turn(seconds_left)
        watchdog = deadlines._Watchdog(asyncio.get_running_loop(), {slot}, tick=1)
        watchdog._target = slot
        watchdog._interrupt(0, inspect.currentframe())
        assert not slot.expired

    if interrupted:
        with pytest.raises(deadlines.LoopBlocked):
            asyncio.run(signalled())
    else:
        asyncio.run(signalled())


def test_work_of_the_engine_after_a_deadline_is_not_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a machine is slow: what comes after the time-out takes longer than that."""

    def slow(**fields: Any) -> Attempt:
        until = time.monotonic() + 0.5
        while time.monotonic() < until:
            pass
        return Attempt(**fields)

    monkeypatch.setattr("proctor.engine.trial.conversation.Attempt", slow)
    result = run_sync(lambda: run(Scripted({"c": sleeps}), eval_set(case("c")), timeout=0.1, retry_errors=1))
    failure = result.cases[0].trials[0].failure
    assert failure is not None
    assert failure.kind is FailureKind.TIMED_OUT
    assert result.failure is None


@pytest.mark.nightly(check=1)
@pytest.mark.slow  # a separate process
@pytest.mark.parametrize("how", ["evaluate_sync", "eval"])
def test_agent_that_never_ends_does_not_delay_the_end_of_the_process(how: str, tmp_path: Path) -> None:
    (tmp_path / "stubborn.py").write_text(
        "import asyncio\n"
        "async def stubborn():\n"
        "    while True:\n"
        "        try:\n"
        "            await asyncio.sleep(60)\n"
        "        except:\n"
        "            pass\n"
        "class Agent:\n"
        "    async def answer(self, message, session):\n"
        "        await stubborn()\n"
        "        yield\n"
        "root_agent = Agent()\n"
    )
    (tmp_path / "set.evalset.json").write_text(eval_set(case("a")).model_dump_json())
    (tmp_path / "script.py").write_text(
        "import proctor, stubborn\n"
        "result = proctor.evaluate_sync(stubborn.root_agent, 'set.evalset.json', timeout=0.3)\n"
        "raise SystemExit(result.exit_code)\n"
    )
    by_command = ["-m", "proctor", "eval", "stubborn.py", "set.evalset.json", "--timeout", "0.3"]
    arguments = by_command if how == "eval" else ["script.py"]
    ended = subprocess.run(
        [sys.executable, *arguments], cwd=tmp_path, timeout=60, capture_output=True, check=False
    )
    assert ended.returncode == 3, ended.stderr
