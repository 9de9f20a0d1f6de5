"""The pool of workers: placing trials, losing workers, comparing them. The engine is one of this process."""

import asyncio
from collections import Counter
from collections.abc import Coroutine, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from proctor.engine.execution import worker_engine, workers
from proctor.engine.execution.worker_engine import Admission, EngineError, Facts
from proctor.engine.trial.conversation import Play
from proctor.engine.trial.deadlines import TrialSlot
from proctor.errors import AgentLoadError, SetupProblems
from proctor.schema.evidence.simulated_user import NextStatus, SimulatedUser, UserFault
from proctor.schema.evidence.trial import FailureKind, Trial
from proctor.schema.format.case import EvalCase
from proctor.schema.format.config import EvalConfig
from proctor.schema.format.invocation import Invocation
from proctor.schema.serialize import kept_json
from proctor.simulation.base import NextUserMessage
from tests.runs.setup.workers.in_process_engine import (
    FACTS,
    Engine,
    Holder,
    InProcessWorker,
    pool,
    record,
    text_of,
)


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(work, 20))


def answers(trials: list[Trial]) -> list[str]:
    return [
        text_of(trial.turns[0].events[0].content) if trial.failure is None else "failed" for trial in trials
    ]


async def record_all(engine: Engine, *messages: str, **settings: Any) -> list[Trial]:
    made = pool(engine, **settings)
    await made.open()
    try:
        return await asyncio.gather(*(record(made, text, number) for number, text in enumerate(messages)))
    finally:
        await made.close()


@pytest.mark.parametrize(("message", "is_kept"), [("hello", True), ("poison", False)])
def test_the_json_of_a_worker_is_stored_as_it_came_unless_attempts_were_lost(
    message: str, is_kept: bool
) -> None:
    async def story() -> Holder:
        made, holder = pool(Engine()), Holder()
        await made.open()
        await record(made, message, holder=holder)
        await made.close()
        return holder

    holder = run(story())
    assert holder.trial is not None
    assert holder.received == (kept_json(holder.trial) if is_kept else b"")


def test_trials_are_spread_over_the_workers_and_each_runs_no_more_than_its_number() -> None:
    engine = Engine()
    trials = run(record_all(engine, *["wait"] * 10))
    assert answers(trials) == ["wait"] * 10
    assert [trial.number for trial in trials] == list(range(10))
    assert [worker.most_under_way for worker in engine.started] == [2, 2]
    assert engine.is_closed
    assert all(worker.is_dead for worker in engine.started)


def test_the_trials_of_a_lost_worker_are_run_again_and_finished_ones_are_not() -> None:
    async def story() -> tuple[list[Trial], list[str]]:
        made = pool(engine, workers=2, per_worker=1)
        await made.open()
        finished = [await record(made, "hello", number) for number in range(4)]
        under_way = [asyncio.create_task(record(made, "wait", number)) for number in range(2)]
        engine.called.clear()
        await engine.called.wait()
        engine.started[0].kill()
        trials = finished + await asyncio.gather(*under_way)
        await made.close()
        return trials, made.warnings()

    engine = Engine()
    trials, warnings = run(story())
    assert answers(trials) == ["hello"] * 4 + ["wait"] * 2
    assert Counter(text for _, text in engine.calls) == {"hello": 4, "wait": 3}
    assert len(engine.started) == 3
    lost = "1 worker was lost and replaced; attempts at trials that were under way there: 1"
    assert warnings == [f"{lost}. What these attempts used is not counted"]


def test_a_trial_that_ends_every_worker_is_an_error_and_no_other_trial_is_blamed() -> None:
    engine = Engine()
    trials = run(record_all(engine, "poison", *["wait"] * 9))
    assert answers(trials) == ["failed", *["wait"] * 9]
    failure = trials[0].failure
    assert failure is not None
    assert (failure.where, failure.kind) == ("agent", FailureKind.CRASHED)
    assert failure.message.startswith(
        "3 workers ended while they ran this trial, the last one with no other trial: "
    )
    assert engine.calls.count(("w1", "poison")) == 1
    assert sum(text == "poison" for _, text in engine.calls) == 3
    assert len(set(engine.answered)) == len(engine.answered) == 9  # no conversation was finished twice


def test_a_trial_that_crashes_its_worker_without_other_trials_is_an_error_at_once() -> None:
    engine = Engine()
    (trial,) = run(record_all(engine, "crash"))
    assert trial.failure is not None
    assert trial.failure.kind is FailureKind.CRASHED
    assert trial.failure.message == "the process of its worker ended while it ran no other trial: w1 is gone"
    assert trial.attempts == []


def test_after_a_crash_with_several_trials_each_is_run_alone_and_only_the_culprit_is_an_error() -> None:
    engine = Engine()
    trials = run(record_all(engine, "crash", *["wait"] * 3, workers=1, per_worker=4))
    assert answers(trials) == ["failed", *["wait"] * 3]
    assert [len(trial.attempts) for trial in trials] == [1, 1, 1, 1]  # the lost attempts are shown
    assert sum(text == "crash" for _, text in engine.calls) == 2
    assert all(worker.most_under_way == 1 for worker in engine.started[1:])


def test_several_poisoned_trials_do_not_wait_for_each_other() -> None:
    engine = Engine()
    trials = run(record_all(engine, *["poison"] * 3, *["wait"] * 4, workers=1))
    assert answers(trials) == ["failed"] * 3 + ["wait"] * 4


def changed(**facts: Any) -> Facts:
    return {**FACTS, **facts}


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        (changed(versions={"python": "3.12.1"}), "w2 has python 3.12.1, and this process has 3.11.7"),
        (changed(source_hash="a2"), "w2: the source of the agent differs from this process"),
        (changed(modules={"shop.py": "b2"}), "w2: a module of the agent differs from this process: shop.py"),
        (changed(info={"name": "other"}), "w2: the agent describes itself differently from w1 (instructions or tools)"),
    ],
    ids=["version", "source", "module", "description"],
)  # fmt: skip
def test_workers_that_differ_are_refused_before_the_first_trial(facts: Facts, message: str) -> None:
    engine = Engine(FACTS, facts)
    with pytest.raises(SetupProblems) as problems:
        run(record_all(engine, "hello"))
    assert [str(one) for one in problems.value.problems] == [message]
    assert engine.calls == []
    assert all(worker.is_dead for worker in engine.started)


def test_versions_that_only_workers_know_are_compared_between_them() -> None:
    first = changed(versions={"python": "3.11.7", "langgraph": "1.0"})
    engine = Engine(first, changed(versions={"python": "3.11.7", "langgraph": "1.1"}))
    with pytest.raises(SetupProblems, match=r"w2 has langgraph 1\.1, and w1 has 1\.0"):
        run(record_all(engine, "hello"))


def test_a_worker_that_cannot_open_the_agent_is_a_configuration_error() -> None:
    engine = Engine()
    with pytest.raises(AgentLoadError, match="w1: no module named shop"):
        run(record_all(engine, "hello", error="no module named shop"))
    assert engine.is_closed


def test_too_few_workers_are_a_configuration_error() -> None:
    engine = Engine()
    engine.most_starts = 1
    with pytest.raises(AgentLoadError, match="a worker did not start: no machine is free"):
        run(record_all(engine, "hello"))
    assert engine.is_closed


class BrokenUser:
    """Ends the conversation at once; its faults cannot be found."""

    patience = None

    def __init__(self) -> None:
        self.simulated_user = SimulatedUser(simulator="broken")

    async def next_message(self, so_far: Sequence[Invocation]) -> NextUserMessage:
        return NextUserMessage(None, NextStatus.STOP_SIGNAL_DETECTED)

    async def find_faults(self, conversation: Sequence[Invocation], final_state: Any) -> list[UserFault]:
        raise RecursionError("too deep")


def test_an_error_in_the_search_for_faults_of_a_user_is_one_of_its_trial() -> None:
    scenario = {"starting_prompt": "hi", "conversation_plan": "ask"}
    case = EvalCase.model_validate({"eval_id": "s", "conversation_scenario": scenario})
    play = Play(lambda *_: BrokenUser(), case, EvalConfig())

    async def story() -> Trial:
        made = pool(Engine())
        await made.open()
        trial = await made.record(case, "set", 0, TrialSlot(), play=play)
        await made.close()
        return trial

    failure = run(story()).failure
    assert (failure.where, failure.type, failure.message) == ("simulator", "RecursionError", "too deep")


def test_a_trial_that_is_left_behind_gives_its_place_to_the_next_one_once() -> None:
    async def story() -> list[Trial]:
        made, slot = pool(engine, workers=1, per_worker=1, seconds=60.0), TrialSlot()
        await made.open()
        stuck = asyncio.create_task(record(made, "silent", slot=slot))
        await engine.called.wait()
        made.release(slot)
        first = await record(made, "hello")
        stuck.cancel()
        await asyncio.wait([stuck])
        engine.started[0].under_way = engine.started[0].most_under_way = 0
        trials = await asyncio.gather(*(record(made, "wait", number) for number in range(3)))
        await made.close()
        return [first, *trials]

    engine = Engine()
    assert answers(run(story())) == ["hello", "wait", "wait", "wait"]
    assert engine.started[0].most_under_way == 1


def test_a_cancelled_trial_does_not_keep_the_worker_that_it_waited_for() -> None:
    async def story() -> list[Trial]:
        made, slot = pool(engine, workers=1, per_worker=2, seconds=60.0), TrialSlot()
        await made.open()
        silent = asyncio.create_task(record(made, "silent", slot=slot))
        await engine.called.wait()
        alone = asyncio.create_task(made._acquire_alone())
        await asyncio.sleep(0)
        alone.cancel()
        await asyncio.wait([alone])
        trial = await record(made, "hello")
        silent.cancel()
        await made.close()
        return [trial]

    engine = Engine()
    assert answers(run(story())) == ["hello"]


def test_a_silent_worker_is_named_once_and_can_be_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(workers, "_SILENT_SECONDS", 0.05)
    warnings: list[str] = []

    async def story() -> tuple[Trial, list[str]]:
        warned = asyncio.Event()

        def warn(text: str) -> None:
            warnings.append(text)
            warned.set()

        made = pool(engine, workers=1, seconds=60.0)
        made.warn = warn
        await made.open()
        trial = asyncio.create_task(record(made, "late"))
        await warned.wait()
        await asyncio.sleep(0.1)  # it is not named again
        engine.late.clear()
        engine.started[0].kill()
        answered = await trial
        await made.close()
        return answered, made.warnings()

    engine = Engine()
    trial, in_result = run(story())
    assert answers([trial]) == ["late"]
    assert [text.split(".")[0] for text in warnings] == ["w1 has answered nothing for 0"]
    assert in_result[0] == "w1 once answered nothing for 0.05 s"


def test_after_a_failed_start_no_other_worker_starts() -> None:
    async def story() -> None:
        made = pool(engine, workers=3, admission=Admission(per_minute=6), error="no module named shop")
        tasks = asyncio.all_tasks()
        with pytest.raises(AgentLoadError):
            await made.open()
        assert asyncio.all_tasks() == tasks  # none waits to start another worker

    engine = Engine()
    run(story())
    assert len(engine.started) == 1
    assert all(worker.is_dead for worker in engine.started)


@pytest.mark.parametrize(("most", "seen"), [(None, 6), (2, 2)], ids=["no limit", "two"])
def test_so_many_workers_start_at_a_time(most: int | None, seen: int) -> None:
    engine = Engine()
    run(record_all(engine, "hello", workers=6, admission=Admission(most)))
    assert len(engine.started) == 6
    assert engine.most_starting == seen


def test_workers_start_one_after_the_other_by_the_ramp(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    clock = 1_000.0

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(worker_engine, "time", SimpleNamespace(monotonic=lambda: clock))

    async def story() -> None:
        admission = Admission(per_minute=20)
        monkeypatch.setattr(asyncio, "sleep", sleep)
        for _ in range(3):
            async with admission:
                pass

    run(story())
    assert waits == [3.0, 6.0]


def test_a_run_continues_with_fewer_workers_and_ends_without_any() -> None:
    async def story() -> None:
        made = pool(engine)
        await made.open()
        assert answers([await record(made, "poison", 0)]) == ["failed"]

    engine = Engine()
    engine.most_starts = 2
    with pytest.raises(EngineError, match="no worker is left, and none can be started: no machine is free"):
        run(story())


def test_a_replacement_that_differs_is_not_used() -> None:
    async def story() -> None:
        made = pool(engine, workers=1)
        await made.open()
        await record(made, "poison")

    engine = Engine(FACTS, changed(source_hash="a2"))
    with pytest.raises(EngineError, match="w4: the source of the agent differs from this process"):
        run(story())
    assert [name for name, _ in engine.calls] == ["w1"]


def test_trials_end_when_the_engine_is_lost() -> None:
    async def story() -> list[Trial | BaseException]:
        made = pool(engine, workers=1, per_worker=1)
        await made.open()
        under_way = [asyncio.create_task(record(made, "silent", number)) for number in range(3)]
        await engine.called.wait()
        engine.report_lost("the head of the cluster is gone")
        ends = await asyncio.gather(*under_way, return_exceptions=True)
        await made.close()
        return ends

    engine = Engine()
    ends = run(story())
    assert [(type(end), str(end)) for end in ends] == [(EngineError, "the head of the cluster is gone")] * 3


def test_a_worker_that_is_silent_after_all_deadlines_of_its_trial_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(workers, "_SPARE_SECONDS", 0.0)
    engine = Engine()
    (trial,) = run(record_all(engine, "silent", workers=1))
    assert trial.failure is not None
    assert trial.failure.message.endswith("w3 has not answered for 0.1 s")
    assert [worker.is_dead for worker in engine.started] == [True, True, True, True]


async def lose_and_replace(engine: Engine) -> list[Trial]:
    made = pool(engine, workers=1, per_worker=1)
    await made.open()
    try:
        engine.started[0].kill()
        return [await record(made, "hello")]
    finally:
        await made.close()


def test_a_worker_in_place_of_another_must_have_the_facts_of_the_first() -> None:
    described = {**FACTS, "info": {"name": "shop"}}
    with pytest.raises(EngineError, match="none can be started"):
        run(lose_and_replace(Engine(described, {**FACTS, "info": {"name": "bank"}})))


@pytest.mark.parametrize(
    "evidence",
    [b"no JSON", Trial(eval_set_id="set", eval_id="other", number=0).model_dump_json().encode()],
    ids=["no evidence", "evidence of another trial"],
)
def test_an_answer_that_is_not_the_evidence_of_the_trial_counts_as_a_lost_worker(
    evidence: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = InProcessWorker.run

    async def first_is_wrong(worker: InProcessWorker, trial: bytes) -> bytes:
        return evidence if worker.name == "w1" else await answered(worker, trial)

    monkeypatch.setattr(InProcessWorker, "run", first_is_wrong)
    (trial,) = run(record_all(Engine(), "hello", workers=1))
    assert answers([trial]) == ["hello"]
    assert [attempt.failure.kind for attempt in trial.attempts] == [FailureKind.CRASHED]
