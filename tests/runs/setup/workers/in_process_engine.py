"""An engine of the tests: its workers are objects of this process that run trials by the program of real workers.

It fulfils the contract of `engine/execution/workers.py` without processes, sockets or a cluster: the contract asks for no more.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from proctor.agents.base import Session
from proctor.engine.execution.worker_engine import Admission, Facts, Worker, WorkerLostError
from proctor.engine.execution.workers import WorkerPool
from proctor.engine.run_options import RunOptions
from proctor.engine.trial.deadlines import TrialSlot
from proctor.runs.setup.workers.make_pool import worker_differences
from proctor.runs.setup.workers.trial_server import TrialServer
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import Trial
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import Content, Part

FACTS: Facts = {
    "versions": {"python": "3.11.7"},
    "source_hash": "a1",
    "modules": {"shop.py": "b1"},
    "info": None,
}


class Engine:
    """Starts workers; `facts` are theirs, in the order of their start, and the last ones are those of all further workers."""

    def __init__(self, *facts: Facts) -> None:
        self.facts = list(facts) or [FACTS]
        self.started: list[InProcessWorker] = []
        self.calls: list[tuple[str, str]] = []
        """Worker and message of each call of the agent."""
        self.called = asyncio.Event()
        self.answered: list[str] = []
        self.killers = {"poison", "crash"}
        """Messages that end their worker; `crash` by a crash of its process, `poison` as if it were killed."""
        self.late = {"late"}
        """Messages whose answers take an hour; a test removes them."""
        self.most_starts = 100
        self.starting = self.most_starting = 0
        self.is_closed = False
        self.report_lost: Callable[[str], None] = lambda _: None

    async def open(self) -> None:
        """Do nothing."""

    async def start(self) -> Worker:
        if len(self.started) >= self.most_starts:
            raise WorkerLostError("no machine is free")
        facts = self.facts[min(len(self.started), len(self.facts) - 1)]
        self.started.append(InProcessWorker(self, f"w{len(self.started) + 1}", facts))
        return self.started[-1]

    def on_lost(self, notify: Callable[[str], None]) -> None:
        self.report_lost = notify

    async def close(self) -> None:
        self.is_closed = True


class InProcessWorker:
    """A worker whose agent repeats each message; `poison` ends the worker, `wait` and `silent` wait."""

    def __init__(self, engine: Engine, name: str, facts: Facts) -> None:
        self.name, self.engine, self._facts = name, engine, facts
        self.under_way = self.most_under_way = 0
        self.has_crashed = False
        self._death: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    @property
    def is_dead(self) -> bool:
        return self._death.done()

    async def open(self, job: bytes) -> Facts:
        if error := json.loads(job).get("error"):
            return {"error": error}
        self._server = TrialServer(self, RunOptions(), None)
        self.engine.starting += 1
        self.engine.most_starting = max(self.engine.most_starting, self.engine.starting)
        await asyncio.sleep(0)
        self.engine.starting -= 1
        return self._facts

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        text = text_of(message)
        self.engine.calls.append((self.name, text))
        self.engine.called.set()
        await asyncio.sleep(
            3600 if text == "silent" or text in self.engine.late else 0.05 if text == "wait" else 0
        )
        if text in self.engine.killers:
            self.has_crashed = text == "crash"
            self.kill()
        if self.is_dead:
            await asyncio.sleep(3600)
        self.engine.answered.append(session.id)
        yield Event(author="agent", content=Content(role="model", parts=[Part(text=text)]))

    async def run(self, trial: bytes) -> bytes:
        done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            self._server.receive(json.loads(trial), done.set_result)
            await asyncio.wait([done, self._death], return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.under_way -= 1
        if self.is_dead:
            raise WorkerLostError(f"{self.name} is gone", is_crash=self.has_crashed)
        answer: bytes = done.result()
        return answer

    async def close(self) -> None:
        self.kill()

    def kill(self) -> None:
        if not self._death.done():
            self._death.set_result(None)


def text_of(content: Content | None) -> str:
    parts = (content.parts if content is not None else None) or []
    return "".join(part.text or "" for part in parts)


def pool(
    engine: Engine,
    *,
    workers: int = 2,
    per_worker: int = 2,
    own: Facts = FACTS,
    admission: Admission | None = None,
    seconds: float = 0.1,
    **job: Any,
) -> WorkerPool:
    """Return a pool on the engine; a trial has so many `seconds`, and this process has the facts `own`."""

    def compare(facts: Sequence[tuple[str, Facts]]) -> list[str]:
        return list(worker_differences(own, facts))

    return WorkerPool(engine, job, workers, per_worker, compare, lambda _: seconds, admission or Admission())


class Holder:
    """Holds the evidence of one trial."""

    trial: Trial | None = None
    received: bytes = b""


async def record(
    pool: WorkerPool,
    message: str,
    number: int = 0,
    holder: Holder | None = None,
    slot: TrialSlot | None = None,
) -> Trial:
    """Run one trial with one message."""
    case = EvalCase.model_validate(
        {"eval_id": message, "conversation": [{"user_content": {"parts": [{"text": message}]}}]}
    )
    return await pool.record(case, "set", number, slot or TrialSlot(), holder)
