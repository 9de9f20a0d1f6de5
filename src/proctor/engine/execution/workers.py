"""Trials on workers: other processes, on this machine or others, run the conversations (`--on`).

A trial is a function from JSON (case, number) to JSON (its evidence), and a worker runs that function. This process decides
what is run, scores it, asks all judges and writes the store: so limits, rates and verdicts are those of a run without workers.
An engine (`worker_engine.py`, `runs/setup/workers`) starts workers and reports those that are lost.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import TypeAdapter

from proctor.agents.base import AgentInfo
from proctor.common.error_text import safe_str
from proctor.engine.execution.user_messages import QUESTION, TrialUsers
from proctor.engine.execution.worker_engine import (
    Admission,
    Engine,
    EngineError,
    Facts,
    Worker,
    WorkerLostError,
)
from proctor.engine.trial.failure_attribution import failure_from
from proctor.errors import AgentCrashedError, AgentLoadError, SetupError, SetupProblems
from proctor.schema.evidence.trial import Attempt, Failure, Trial
from proctor.schema.serialize import kept_json

if TYPE_CHECKING:
    from proctor.agents.base import Session
    from proctor.engine.trial.conversation import Play
    from proctor.engine.trial.deadlines import TrialSlot
    from proctor.schema.evidence.event import Event
    from proctor.schema.format.case import EvalCase
    from proctor.schema.format.content import Content

MOST_ATTEMPTS = 3
"""Workers that one trial may lose. The last attempt has a worker for itself, so that no other trial is to blame.

If the process of a worker exits or crashes while it runs a single trial, that trial is to blame at once, as with `--isolate`.
"""
_MOST_STARTS = 3
"""Attempts to replace a worker. If the last worker cannot be replaced, the run ends."""
_CLOSING = 10.0
"""Seconds that workers get to close their agents."""
_SILENT_SECONDS = 600.0
"""Seconds without an answer after which a worker is named in a warning: it may be stopped."""
_SPARE_SECONDS = 60.0
"""Seconds in addition to all deadlines of a trial after which a silent worker counts as lost."""


class ReceivedEvidence(Protocol):
    """Holds the evidence of a trial, and the JSON that a worker sent."""

    trial: Trial | None
    received: bytes


@dataclass(slots=True, eq=False)
class _Seat:
    """One worker of the pool, and the trials that it runs."""

    worker: Worker
    busy: int = 0
    is_reserved: bool = False
    """Whether one trial waits for the worker, or has it, for itself."""
    suspects: int = 0
    """Trials that it ran when it was lost; 0: it is not lost."""
    heard_at: float = field(default_factory=time.monotonic)
    """When it received or answered something last."""

    @property
    def is_lost(self) -> bool:
        return self.suspects > 0


@dataclass(slots=True, eq=False)
class WorkerPool:
    """The workers of one run. It takes the place of the agent, which only workers load."""

    engine: Engine
    job: Mapping[str, object]
    """What a worker opens, as JSON (see `runs/setup/workers`)."""
    workers: int
    per_worker: int
    """Trials that a worker runs at a time."""
    compare: Callable[[Sequence[tuple[str, Facts]]], Sequence[str]]
    """Returns the differences between this process and the facts of workers (each with the name of the worker)."""
    seconds: Callable[[int], float | None]
    """Returns the seconds after which a trial of so many turns has passed all its deadlines; `None`: it has none."""
    admission: Admission
    warn: Callable[[str], None] = lambda _: None
    """Receives what the user should know while the run is executed."""
    lost_workers: int = 0
    lost_attempts: int = 0
    _keys: Iterator[int] = field(default_factory=itertools.count)
    _seats: list[_Seat] = field(default_factory=list)
    _silent: list[_Seat] = field(default_factory=list)
    _taken: dict[TrialSlot, tuple[_Seat, bool]] = field(default_factory=dict)
    """The seat of each trial under way, and whether it has it for itself."""
    _newest_case: tuple[EvalCase, str, bytes] | None = None
    """The case of the newest trial, its set, and the beginning of its requests."""
    _info: AgentInfo | None = None
    _first: list[tuple[str, Facts]] = field(default_factory=list)
    """The first worker and its facts, with which later ones are compared."""
    _replacing: int = 0
    _broken: str = ""
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _waiting: list[asyncio.Future[None]] = field(default_factory=list)
    """Trials that wait for a place, or for their worker to be without other trials."""
    _waits: set[asyncio.Timeout] = field(default_factory=set)
    """The waits for answers of workers, which the loss of the engine ends."""

    # --- the agent of the run ----------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Start all workers and compare them with this process; no trial is run before that.

        Raises:
            SetupProblems: workers differ from this process; each difference is named.
            SetupError: the engine cannot be used, or a worker cannot open the agent.
        """
        await self.engine.open()
        self.engine.on_lost(self._break)
        try:
            facts = await self._start_all()
        except WorkerLostError as error:
            raise AgentLoadError(f"a worker did not start: {error}") from None
        if difference := self.compare(facts):
            await self.close()
            raise SetupProblems([SetupError(text) for text in difference])
        self._first, self._info = facts[:1], _info_of(facts[0][1])
        self._start_task(self._watch_silence())

    def describe(self) -> AgentInfo | None:
        """Return the description of the agent, as a worker has it."""
        return self._info

    def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        """Refuse: workers have the conversations."""
        raise NotImplementedError("the agent runs on workers")

    async def close(self) -> None:
        """Close the agent in every worker, and end all workers."""
        for task in self._tasks:
            task.cancel()
        seats, self._seats = self._seats, []
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(_CLOSING):
                    await asyncio.gather(*(seat.worker.close() for seat in seats), return_exceptions=True)
        finally:
            for seat in seats:
                seat.worker.kill()
            await self.engine.close()

    def warnings(self) -> list[str]:
        """Return what the user should know after the run: which workers were silent, and what was lost."""
        once = f"once answered nothing for {_SILENT_SECONDS:g} s"
        warnings = [f"{seat.worker.name} {once}" for seat in self._silent]
        if self.lost_workers:
            workers = f"{self.lost_workers} workers were" if self.lost_workers > 1 else "1 worker was"
            attempts = f"attempts at trials that were under way there: {self.lost_attempts}"
            used = "What these attempts used is not counted"
            warnings.append(f"{workers} lost and replaced; {attempts}. {used}")
        return warnings

    # --- trials ------------------------------------------------------------------------------------------------------

    async def record(
        self,
        case: EvalCase,
        eval_set_id: str,
        number: int,
        slot: TrialSlot,
        holder: ReceivedEvidence | None = None,
        play: Play | None = None,
    ) -> Trial:
        """Run a trial on a worker, and again if the worker is lost; return its evidence.

        Raises:
            EngineError: no worker is left, and none can be started.
        """
        request = b'%b, "number": %d' % (self._case_request(case, eval_set_id), number)
        turns = len(case.conversation or ())
        lost: list[Attempt] = []
        evidence, trial, alone = b"", None, False
        while trial is None:
            users = None if play is None else TrialUsers(play)
            seat = await self._place(slot, alone=alone)
            try:
                evidence = await self._converse(seat, request, turns, users, slot)
                trial = _trial_of(evidence, seat, case, eval_set_id, number)
            except WorkerLostError as error:
                self._lose(seat)
                self.lost_attempts += 1
                alone = error.is_crash or len(lost) == MOST_ATTEMPTS - 2
                if blame := _blame(error, seat, len(lost) + 1):
                    trial = Trial(eval_set_id=eval_set_id, eval_id=case.eval_id, number=number)
                    trial.failure = _crash(f"{blame}: {error}")
                else:
                    user_record = None if users is None else users.record
                    lost.append(Attempt(failure=_crash(str(error)), played_user=user_record))
            finally:
                self.release(slot)
        trial.attempts = [*lost, *trial.attempts]  # a trial that ended its workers did not pass at once
        if holder is not None:
            holder.trial, holder.received = trial, b"" if lost else evidence
        return trial

    async def _converse(
        self, seat: _Seat, request: bytes, turns: int, users: TrialUsers | None, slot: TrialSlot
    ) -> bytes:
        """Return the evidence of a trial; the worker asks for the messages of a simulated user one by one."""
        key = next(self._keys)
        begin = b'%b, "key": %d' % (request, key)
        if users is None:
            return await self._run(seat, begin + b"}", self.seconds(turns))
        user = json.dumps(users.request()).encode()
        answer = await self._run(seat, begin + b", " + user[1:], self.seconds(1))
        while answer.startswith(QUESTION):
            reply = {"key": key, **await users.reply(json.loads(answer), slot)}
            answer = await self._run(seat, json.dumps(reply).encode(), self.seconds(1))
        return answer

    async def _run(self, seat: _Seat, request: bytes, seconds: float | None) -> bytes:
        """Return the answer of a worker; it counts as lost if it is silent long after all deadlines of the trial.

        Raises:
            EngineError: the engine is gone.
            WorkerLostError: the worker is.
        """
        limit = asyncio.timeout(None if seconds is None else seconds + _SPARE_SECONDS)
        try:
            async with limit:
                self._waits.add(limit)
                seat.heard_at = time.monotonic()
                return await seat.worker.run(request)
        except TimeoutError:
            self._check()
            seat.worker.kill()
            raise WorkerLostError(f"{seat.worker.name} has not answered for {seconds:g} s") from None
        finally:
            self._waits.discard(limit)
            seat.heard_at = time.monotonic()

    async def _watch_silence(self) -> None:
        """Name workers that do not answer, once: they may compute, and only the user knows how long that may take."""
        while True:
            await asyncio.sleep(_SILENT_SECONDS / 10)
            now = time.monotonic()
            for seat in self._seats:
                if seat.busy and now - seat.heard_at > _SILENT_SECONDS and seat not in self._silent:
                    self._silent.append(seat)
                    self.warn(
                        f"{seat.worker.name} has answered nothing for {_SILENT_SECONDS / 60:g} minutes. If it is stopped or "
                        "hangs, end its process (kill -KILL): its trials are run again"
                    )

    def _case_request(self, case: EvalCase, eval_set_id: str) -> bytes:
        """Return the beginning of the requests for the trials of a case, which mostly follow each other."""
        newest = self._newest_case
        if newest is None or newest[0] is not case or newest[1] != eval_set_id:
            request = json.dumps({"case": kept_json(case).decode(), "eval_set_id": eval_set_id})
            self._newest_case = newest = case, eval_set_id, request.encode()[:-1]
        return newest[2]

    async def _place(self, slot: TrialSlot, *, alone: bool) -> _Seat:
        """Wait for a place on a worker; `alone`: for a worker without any other trial."""
        seat = await (self._acquire_alone() if alone else self._acquire_worker())
        self._taken[slot] = seat, alone
        return seat

    def release(self, slot: TrialSlot) -> None:
        """Give the place of a trial that ended, or that ignored its cancellation, to the next one."""
        seat, alone = self._taken.pop(slot, (None, False))
        if seat is None:  # its trial was left behind before
            return
        seat.busy -= 1
        if alone:
            seat.is_reserved = False
        self._wake_up()

    async def _acquire_worker(self) -> _Seat:
        while True:
            self._check()
            free = [one for one in self._seats if one.busy < self.per_worker and not one.is_reserved]
            if free:
                seat = min(free, key=lambda one: one.busy)
                seat.busy += 1
                return seat
            await self._change()

    async def _acquire_alone(self) -> _Seat:
        while True:
            self._check()
            free = [one for one in self._seats if not one.is_reserved]
            if not free:
                await self._change()
                continue
            seat = min(free, key=lambda one: one.busy)
            seat.is_reserved = True
            try:
                while seat.busy and not seat.is_lost:
                    await self._change()
            except BaseException:
                seat.is_reserved = False
                self._wake_up()
                raise
            if not seat.is_lost:
                seat.busy += 1
                return seat

    def _check(self) -> None:
        if self._broken:
            raise EngineError(self._broken)

    # --- the life of workers -----------------------------------------------------------------------------------------

    async def _start_all(self) -> list[tuple[str, Facts]]:
        """Start the workers of the run; if one does not start, the others end, and none starts later."""
        starts = [asyncio.create_task(self._start()) for _ in range(self.workers)]
        try:
            return await asyncio.gather(*starts)
        except BaseException:
            for start in starts:
                start.cancel()
            await asyncio.wait(starts)
            await self.close()
            raise

    async def _start(self, *, compares: bool = False) -> tuple[str, Facts]:
        """Start a worker and open the agent there; return its name and its facts.

        Raises:
            WorkerLostError: it did not start, or ended.
            AgentLoadError: it could not open the agent; or it `compares`, and differs from this process.
        """
        async with self.admission:
            worker = await self.engine.start()
            try:
                facts = await worker.open(json.dumps(self.job).encode())
            except BaseException:
                worker.kill()
                raise
        try:
            if error := facts.get("error"):
                raise AgentLoadError(f"{worker.name}: {error}")
            if compares and (differences := self.compare([*self._first, (worker.name, facts)])):
                raise AgentLoadError("; ".join(differences))
        except BaseException:
            worker.kill()
            raise
        self._seats.append(_Seat(worker))
        return worker.name, facts

    def _lose(self, seat: _Seat) -> None:
        """Replace a worker that is lost; the first of its trials to notice it does that."""
        if seat.is_lost:
            return
        seat.suspects = seat.busy
        seat.worker.kill()
        self.lost_workers += 1
        if seat in self._seats:
            self._seats.remove(seat)
        self._start_task(self._replace())

    def _start_task(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _replace(self) -> None:
        why = ""
        self._replacing += 1
        try:
            for _ in range(_MOST_STARTS):
                try:
                    await self._start(compares=True)
                    break
                except Exception as error:  # noqa: BLE001 - an engine may raise anything: no trial must wait for ever
                    why = safe_str(error)
        finally:
            self._replacing -= 1
        if not self._seats and not self._replacing:
            self._break(f"no worker is left, and none can be started: {why}")
        self._wake_up()

    async def _change(self) -> None:
        """Wait until a place is given back, or a worker starts or is lost."""
        change = asyncio.get_running_loop().create_future()
        self._waiting.append(change)
        await change

    def _wake_up(self) -> None:
        waiting, self._waiting = self._waiting, []
        for change in waiting:
            if not change.done():
                change.set_result(None)

    def _break(self, why: str) -> None:
        """End every trial with an error of the engine."""
        if self._broken:
            return
        self._broken = why
        for limit in self._waits:
            if not limit.expired():
                limit.reschedule(0.0)
        self._wake_up()


def _info_of(facts: Facts) -> AgentInfo | None:
    info = facts.get("info")
    return None if info is None else TypeAdapter(AgentInfo).validate_python(info)


def _trial_of(evidence: bytes, seat: _Seat, case: EvalCase, eval_set_id: str, number: int) -> Trial:
    """Return the evidence of a worker.

    Raises:
        WorkerLostError: it is none, or that of another trial: the worker cannot be trusted.
    """
    try:
        trial = Trial.model_validate_json(evidence)
    except ValueError as error:
        raise WorkerLostError(f"{seat.worker.name} answered no evidence: {error}") from None
    if (trial.eval_set_id, trial.eval_id, trial.number) != (eval_set_id, case.eval_id, number):
        raise WorkerLostError(f"{seat.worker.name} answered the evidence of another trial")
    return trial


def _blame(error: WorkerLostError, seat: _Seat, attempts: int) -> str:
    """Return why a trial is to blame for the loss of its worker; empty if something else may be."""
    if error.is_crash and seat.suspects == 1:
        return "the process of its worker ended while it ran no other trial"
    if attempts == MOST_ATTEMPTS:
        return f"{attempts} workers ended while they ran this trial, the last one with no other trial"
    return ""


def _crash(message: str) -> Failure:
    return failure_from(AgentCrashedError(message), where="agent")
