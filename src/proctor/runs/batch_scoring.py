"""Ask the judges of a scoring in batches of their providers, at half the price.

The scoring is rehearsed: the requests that the cache of answers does not know are collected, recorded in the store, submitted
and waited for, until a rehearsal finds every answer in the cache. The scoring itself then makes no request.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from proctor.common.async_tools import gather_all
from proctor.common.safe_text import count_text
from proctor.engine.execution.run import Run
from proctor.engine.execution.run_control import NoProgress, Notes, Progress, WaitObserver
from proctor.engine.execution.run_recorder import Commits, ScoringRecord
from proctor.engine.planning.plan import Plan
from proctor.engine.usage.budget import JUDGE
from proctor.errors import ProctorError, SetupError
from proctor.judges.batch import Chunk, JudgeBatch, request_id
from proctor.models.base import ModelError, ModelFault, Reply
from proctor.models.batch_endpoint import endpoint_of, wait_for_turn
from proctor.stores.judge_batches import StoredBatch

if TYPE_CHECKING:
    from proctor.agents.base import AgentInfo
    from proctor.judges.pool import RunJudges
    from proctor.models.batch_endpoint import BatchProgress
    from proctor.runs.setup.prepare import Prepared
    from proctor.schema.results.manifest import RunSummary
    from proctor.schema.results.run_result import CaseResult
    from proctor.stores.base import AnswerRecord, Committed, Record, RunWriter, Store
    from proctor.stores.judge_batches import BatchStore

_KEPT = 30 * 24 * 3600.0
"""Seconds for which providers keep the results of a batch."""
_SUBMISSIONS = 3
"""Attempts to submit a batch while the provider cannot be reached."""
_NOTE_EVERY = 60.0
_IF_INTERRUPTED = "interrupted: nothing was scored yet; the provider continues batches that were submitted, and the same command waits for them"
_WAITING = "waiting for the provider, at most 24 hours; after Ctrl-C the same command continues to wait for the same batch"
_BYTES_OF_TOKEN = 4
"""Bytes of a token of the input, for the estimate; half of it for the most that a request may cost."""


@dataclass(slots=True)
class BatchScoring:
    """The batches of one scoring of a run."""

    store: Store
    batches: BatchStore
    """The same store."""
    run_id: str
    prepared: Prepared
    judges: RunJudges
    positions: Sequence[int]
    """The positions in the run of the cases whose sets ask judges."""
    progress: Progress
    batch: JudgeBatch = field(init=False)
    _rows: dict[str, StoredBatch] = field(default_factory=dict)
    _submitted: list[tuple[StoredBatch, Chunk]] = field(default_factory=list)
    _error: Exception | None = None

    def __post_init__(self) -> None:
        self.batch = JudgeBatch(secrets.token_hex(16), self._submit_full)

    async def answer_all(self) -> None:
        """Return when the cache has an answer to every request of the scoring, or there is none to be had.

        Raises:
            SetupError: a model has no batch endpoint, or its provider refused a batch.
        """
        for model in [self.judges.only] if self.judges.only is not None else self.judges.models():
            await endpoint_of(model)
        self.judges.batch = self.batch
        if isinstance(self.progress, WaitObserver):
            self.progress.waiting(_IF_INTERRUPTED)
        try:
            while await self._run_round():
                pass
        except ModelError as error:
            raise SetupError(
                f"{error}. Answers that arrived are kept: the same command asks for the others"
            ) from error
        self.batch.is_collecting = False

    async def _run_round(self) -> bool:
        """Collect what has no answer, and wait for the answers; return whether there was anything to ask."""
        self._submitted = []
        self._read_rows()
        self.batch.begin_pass((row.id, row.secret, row.keys) for row in self._rows.values())
        await self._rehearse()
        if self._error is not None:
            raise self._error
        earlier, new = dict(self.batch.submitted), list(self.batch.new.values())
        continued = [await self._continue(self._rows[name], chunk) for name, chunk in earlier.items()]
        for chunk in new:
            if chunk.requests:
                await self._submit(chunk)
        await gather_all([self._collect(*each) for each in [*self._submitted, *filter(None, continued)]])
        return bool(self.batch.collected)

    def _read_rows(self) -> None:
        """Read the recorded batches; those whose results no provider keeps any more are deleted."""
        rows = self.batches.judge_batches()
        for row in rows:
            if time.time() - row.created_at > _KEPT:
                self.batches.update_judge_batch(replace(row, keys=()))
        self._rows = {row.id: row for row in rows if time.time() - row.created_at <= _KEPT}

    async def _rehearse(self) -> None:
        """Score with the metrics that ask judges, and keep nothing of it but the requests."""
        prepared = self.prepared
        sets = [
            replace(chosen, metrics=[bound for bound in chosen.metrics if bound.judge])
            for chosen in prepared.plan.sets
            if chosen.asks_judges
        ]
        run = Run(
            plan=Plan(sets, prepared.plan.num_runs),
            agent=None,
            agent_label=prepared.agent_label,
            options=replace(prepared.options, stop=None),
            progress=NoProgress(),
            stored=_Rehearsal(self.store, self.run_id, self.positions),
        )
        await run()

    # --- submission ---------------------------------------------------------------------------------------------------

    async def _submit_full(self, chunk: Chunk) -> None:
        """Submit a chunk during the rehearsal, in which an error would become that of a metric."""
        if self._error is None:
            try:
                await self._submit(chunk)
            except ProctorError as error:
                self._error = error

    async def _submit(self, chunk: Chunk) -> None:
        """Record a batch and submit it, as far as the limits of the run allow."""
        self._keep_within_limits(chunk)
        if not chunk.requests or not (row := self._record(chunk)):
            return
        row = await self._confirm(row, chunk)
        chunk.release_bodies()
        self._note(
            f"batch {row.reference}: {count_text(len(chunk.requests), 'request')} to {row.model}{_price_of(chunk)}"
        )
        self._submitted.append((row, chunk))

    def _keep_within_limits(self, chunk: Chunk) -> None:
        budget = self.prepared.options.budget
        if budget is None:
            return
        requests = list(chunk.requests.values())
        admitted = budget.admit_batch(_most_costs(chunk))
        if not admitted and budget.refused:  # otherwise they are left to the next round
            self.batch.refuse(requests, budget.refused)
        for waiting in requests[admitted:]:
            del chunk.requests[waiting.key]

    def _record(self, chunk: Chunk) -> StoredBatch | None:
        """Record a batch, without the requests that another process has recorded meanwhile; `None` if nothing is left."""
        while chunk.requests:
            row = StoredBatch(
                id=secrets.token_hex(8),
                model=chunk.model.name,
                group=chunk.group,
                created_at=time.time(),
                secret=self.batch.secret,
                keys=tuple(chunk.requests),
            )
            if self.batches.add_judge_batch(row, self._rows):
                self._rows[row.id] = row
                return row
            known = set(self._rows)
            self._read_rows()
            keys = {key for name in self._rows.keys() - known for key in self._rows[name].keys}
            self._leave_out(chunk, keys & chunk.requests.keys())
        return None

    def _leave_out(self, chunk: Chunk, keys: Collection[str]) -> None:
        """Leave requests to the next round, and withdraw them from the limits of the run."""
        for key in keys:
            del chunk.requests[key]
        if (budget := self.prepared.options.budget) is not None:
            budget.begin(JUDGE, -len(keys))

    async def _confirm(self, row: StoredBatch, chunk: Chunk) -> StoredBatch:
        """Submit a recorded batch, and record the provider's id of it."""
        attempt = 0
        while not row.reference:
            try:
                row = replace(row, reference=await self._find_or_submit(row, chunk, attempt))
            except ModelError as error:
                if not error.infrastructure:
                    self.batches.update_judge_batch(replace(row, keys=()))
                attempt += 1
                if not error.infrastructure or attempt == _SUBMISSIONS:
                    raise
        self.batches.update_judge_batch(row)
        return row

    async def _find_or_submit(self, row: StoredBatch, chunk: Chunk, attempt: int) -> str:
        """Submit a batch, unless the provider received an earlier attempt whose confirmation was lost."""
        if attempt:
            await wait_for_turn(attempt)
            batch = await chunk.endpoint.find(row.id, _ids(row), row.created_at)
            if batch is not None:
                return batch
        return await chunk.endpoint.submit(row.id, [each.encoded for each in chunk.requests.values()])

    async def _continue(self, row: StoredBatch, chunk: Chunk) -> tuple[StoredBatch, Chunk] | None:
        """Return a batch of an earlier command with its requests; `None` if it was never submitted."""
        turn = 0
        while row.is_being_submitted:
            await wait_for_turn(turn)
            turn += 1
            self._read_rows()
            if (now := self._rows.get(row.id)) is None:
                return None
            row = now
        if not row.reference:
            reference = await chunk.endpoint.find(row.id, _ids(row), row.created_at)
            if reference is None:
                self.batches.update_judge_batch(replace(row, keys=()))
                return None
            row = replace(row, reference=reference)
            self.batches.update_judge_batch(row)
        if (budget := self.prepared.options.budget) is not None:
            budget.continue_batch(_most_costs(chunk))
        self._note(
            f"batch {row.reference}: {count_text(len(chunk.requests), 'request')} of an earlier command; not submitted again"
        )
        return row, chunk

    # --- answers ------------------------------------------------------------------------------------------------------

    async def _collect(self, row: StoredBatch, chunk: Chunk) -> None:
        """Wait until a batch has ended, and put its answers into the cache."""
        await self._wait(row, chunk)
        encoded = {waiting.encoded.id: waiting.encoded for waiting in chunk.requests.values()}
        replies = await chunk.endpoint.results(row.reference, encoded, row.group)
        entries: dict[str, bytes] = {}
        for waiting in chunk.requests.values():
            reply = replies.get(waiting.encoded.id) or _missing(chunk)
            self._count(chunk, reply)
            if (entry := self.batch.receive(waiting, reply)) is not None:
                entries[waiting.key] = entry
        self.batches.keep_answers(self.run_id, entries)
        left = tuple(key for key in row.keys if key not in chunk.requests and self.store.answer(key) is None)
        self.batches.update_judge_batch(replace(row, keys=left))
        self._note(
            f"batch {row.reference}: {len(entries):,} of {count_text(len(chunk.requests), 'request')} answered"
        )

    async def _wait(self, row: StoredBatch, chunk: Chunk) -> None:
        began = noted = time.monotonic()
        turn = failures = 0
        while True:
            state = await self._state(row, chunk, is_first_failure=not failures)
            if state is not None and state.has_ended:
                return
            failures = 0 if state is not None else failures + 1
            if not turn:
                self._note(_WAITING)
            if state is not None and time.monotonic() - noted > _NOTE_EVERY:
                noted = time.monotonic()
                count = f"{state.answered:,} of {state.total:,}"
                self._note(f"batch {row.reference}: {count} answered after {(noted - began) / 60:.0f} min")
            await wait_for_turn(turn)
            turn += 1

    async def _state(self, row: StoredBatch, chunk: Chunk, *, is_first_failure: bool) -> BatchProgress | None:
        """Return how far the provider is with a batch; `None` if it cannot be reached at the moment."""
        try:
            return await chunk.endpoint.progress(row.reference)
        except ModelError as error:
            if error.fault is ModelFault.NOT_FOUND:  # so that the same command submits it again
                self.batches.update_judge_batch(replace(row, keys=()))
            if not error.infrastructure:
                raise
            if is_first_failure:
                self._note(f"{error}; Proctor continues to wait for batch {row.reference}")
            return None

    def _count(self, chunk: Chunk, reply: Reply | ModelError) -> None:
        """Count a reply as the usage of a call."""
        answered = None if isinstance(reply, ModelError) else reply
        self.judges.count(chunk.model.name, answered)
        if (budget := self.prepared.options.budget) is not None:
            budget.settle(JUDGE, answered)

    def _note(self, text: str) -> None:
        if isinstance(self.progress, Notes):
            self.progress.noted(text)


def _ids(row: StoredBatch) -> frozenset[str]:
    """Return the ids of the requests of a batch."""
    return frozenset(request_id(row.secret, key) for key in row.keys)


def _most_costs(chunk: Chunk) -> list[float | None]:
    """Return the most that each request may cost, in dollars; `None` if the price is unknown."""
    encoded = (waiting.encoded for waiting in chunk.requests.values())
    return [chunk.endpoint.most_cost(one.size * 2 // _BYTES_OF_TOKEN, one.most_output) for one in encoded]


def _price_of(chunk: Chunk) -> str:
    """Return the estimated price of the input of a batch, as a part of a sentence."""
    size = sum(waiting.encoded.size for waiting in chunk.requests.values())
    price = chunk.endpoint.most_cost(size // _BYTES_OF_TOKEN, 0)
    return "" if price is None else f", input about ${price:.2g} (half of the usual price)"


def _missing(chunk: Chunk) -> ModelError:
    message = f"{chunk.model.name}: the results of the batch have no answer to this request"
    return ModelError(message, fault=ModelFault.BROKE_PROTOCOL)


# --- The rehearsal of a scoring: everything is scored, and nothing is written ------------------------------------------


class _Rehearsal(ScoringRecord):
    """A scoring of stored evidence that is not recorded."""

    def __init__(self, store: Store, run_id: str, positions: Sequence[int]) -> None:
        super().__init__(store, _no_opener, positions=positions, resumed=True)
        self._run_id = run_id

    def begin(self, info: AgentInfo | None) -> None:
        """Begin, with a writer that discards everything."""
        self._writer = _NoWriter(self._run_id, Commits(asyncio.get_running_loop()))

    def cases(self) -> Sequence[CaseResult]:
        """Return nothing: there is no result."""
        return []

    def badges(self) -> dict[str, str]:
        """Return nothing: there is no result."""
        return {}


class _NoWriter:
    """Implements `RunWriter`, and writes nothing."""

    scoring = 0
    created_at = 0.0

    def __init__(self, run_id: str, committed: Committed) -> None:
        self.run_id = run_id
        self.live_figures: Callable[[], Mapping[str, int]] = dict
        self._committed = committed

    def put(self, records: Sequence[Record | AnswerRecord], token: object = None) -> None:
        """Report that the records are written."""
        if token is not None:
            self._committed([token], None)

    def finish(self, summary: RunSummary, *, complete: bool) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


def _no_opener(info: AgentInfo | None, committed: Committed) -> RunWriter:
    raise NotImplementedError
