"""The lines between this process and a worker process: each answer reaches its trial, and a line that is no answer ends the worker."""

import asyncio
import json
import shlex
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from proctor.agents.process.child_process import Guardian
from proctor.engine.execution.worker_engine import WorkerLostError
from proctor.runs.setup.workers import processes
from proctor.runs.setup.workers.processes import ProcessWorker
from proctor.schema.evidence.trial import Failure, FailureKind, Trial
from proctor.schema.serialize import kept_json

pytestmark = pytest.mark.slow  # processes

PROGRAM = """
import json, os, sys
job = json.loads(sys.stdin.buffer.readline())
os.write(1, b'{"facts": {}}\\n')
requests = [sys.stdin.buffer.readline() for _ in range(job["requests"])]
data = job["written"].encode() if "written" in job else b"".join(requests[place] for place in job["order"])
while data:
    data = data[os.write(1, data[:job.get("piece")]):]
if signal := job.get("signal"):
    os.kill(os.getpid(), signal)
if not job.get("ends"):
    sys.stdin.buffer.readline()
"""
"""A worker that reads its requests, then repeats them in an order and in pieces, or writes a text in place of answers."""

Start = Callable[[], ProcessWorker]


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Return what makes workers whose process runs `PROGRAM`."""
    folder = tmp_path_factory.mktemp("worker")
    program, executable = folder / "program.py", folder / "python"
    program.write_text(PROGRAM)
    executable.write_text(
        f"#!/bin/sh\nexec {shlex.quote(sys.executable)} -I -S {shlex.quote(str(program))}\n"
    )
    executable.chmod(0o700)
    guardian = Guardian()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processes, "sys", SimpleNamespace(executable=str(executable)))
        yield partial(ProcessWorker, guardian, [])
    guardian.dismiss()


def opened(
    start: Start, job: dict[str, Any], use: Callable[[ProcessWorker], Coroutine[Any, Any, Any]]
) -> Any:
    """Open a worker, use it, and end it."""

    async def story() -> Any:
        worker = start()
        try:
            assert await worker.open(json.dumps(job).encode()) == {}
            return await asyncio.wait_for(use(worker), 20)
        finally:
            worker.kill()

    return asyncio.run(story())


async def run_all(trials: Sequence[bytes], worker: ProcessWorker) -> list[bytes | BaseException]:
    return await asyncio.gather(*map(worker.run, trials), return_exceptions=True)


def evidence(message: str) -> bytes:
    """Return the evidence of a trial with a text in it."""
    failure = Failure(where="agent", kind=FailureKind.CRASHED, message=message)
    return kept_json(Trial(eval_set_id=message, eval_id="case", number=0, failure=failure))


TEXTS = st.text(
    st.characters(categories=None) | st.sampled_from("\n\r\0\x85\u2028\ud800\udfff 1{"), max_size=30
)
"""Texts of all characters, with halves of characters and whatever may end a line."""


@settings(max_examples=settings().max_examples // 3)  # each starts a process
@given(
    st.lists(TEXTS, min_size=1, max_size=6).flatmap(
        lambda texts: st.tuples(st.just(texts), st.permutations(range(len(texts))))
    ),
    st.integers(1, 200),
)
def test_each_answer_reaches_its_trial(
    start: Start, texts_and_order: tuple[list[str], list[int]], piece: int
) -> None:
    texts, order = texts_and_order
    trials = [*map(evidence, texts)]
    job = {"requests": len(trials), "order": order, "piece": piece}
    assert opened(start, job, partial(run_all, trials)) == trials
    assert [Trial.model_validate_json(one).eval_set_id for one in trials] == [
        "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text) for text in texts
    ]


def test_large_trials_wait_for_a_worker_that_reads_late(start: Start) -> None:
    trials = [b'{"text":"%s"}' % (b"x" * size) for size in (1, 10_000_000)]
    assert opened(start, {"requests": 2, "order": [1, 0]}, partial(run_all, trials)) == trials


def test_the_answer_of_a_cancelled_trial_reaches_no_other(start: Start) -> None:
    async def cancel_first(worker: ProcessWorker) -> bytes:
        first = asyncio.create_task(worker.run(b"first"))
        await asyncio.sleep(0)
        first.cancel()
        return await worker.run(b"second")

    assert opened(start, {"requests": 2, "order": [0, 1]}, cancel_first) == b"second"


@pytest.mark.parametrize(
    ("job", "message"),
    [
        ({"written": "Loading the model\n"}, "a worker wrote str 'Loading the model'"),
        (
            {"written": '{"id": 1, "evidence": "{}"}\n'},
            'a worker wrote str \'{"id": 1,',
        ),
        ({"written": "3 {}\n"}, "a worker wrote str '3 {}'"),
        ({"written": "1 {}\n1 {}\n"}, "a worker wrote str '1 {}'"),
        ({"written": '2 {"turns', "ends": True}, "ended (exit code 0) in the middle of str '2 {\"turns'"),
        (
            {"written": '2 {"turns', "signal": signal.SIGKILL},
            "out of memory, perhaps) in the middle of str '2 {",
        ),
        ({"written": '2 {"turns', "signal": signal.SIGSEGV}, "crashed (SIGSEGV) in the middle of str '2 {"),
    ],
    ids=["print", "older protocol", "unknown number", "twice", "half a line", "killed", "crashed"],
)
def test_a_line_that_is_no_answer_ends_the_worker(start: Start, job: dict[str, Any], message: str) -> None:
    *_, error = opened(start, {"requests": 2, **job}, partial(run_all, [b"{}", b"{}"]))
    assert isinstance(error, WorkerLostError)
    assert message in str(error)
    assert error.is_crash == (message.startswith(("ended", "crashed")))
