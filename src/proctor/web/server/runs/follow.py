"""Watching runs: one reader of the store serves all clients that watch a run, independent of the process that executes it.

The log of a run contains the positions of its cases in the order of their verdicts, and, if cases have several trials, those of
undecided cases with a new trial. A client has a place in the log and no
queue that could fill up; a client that reconnects names its place. Rows are made when they are sent; those of the newest
cases are cached for the other clients.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from starlette.concurrency import run_in_threadpool

from proctor.engine.usage.costs import attempts_evidence, cost_of_case
from proctor.errors import ProctorError
from proctor.reports.content.failure_causes import cause_of
from proctor.reports.content.summary import run_cost_text
from proctor.runs.storage.open import open_runs
from proctor.schema.format.wire_model import PageModel
from proctor.schema.results.manifest import RunState
from proctor.stores.base import ScoringProgress, Store
from proctor.web.pages.base import copy_fields
from proctor.web.pages.runs.case_table import CaseRow, case_row, recorded_trials
from proctor.web.server.context import ServerContext


class LiveProgress(PageModel):
    """The progress of a run: event `progress`."""

    run_id: str
    state: RunState
    cases: int
    """Planned."""
    done: int
    """Cases with a verdict."""
    counts: dict[str, int]
    """Cases with a verdict, by outcome."""
    trials: int
    """Trials whose evidence is stored."""
    trials_planned: int
    rate: float | None
    """Recent trials per second; unknown until two have finished."""
    seconds_left: float | None
    """At that rate."""
    seconds: float
    """The time that processes have spent on it."""
    in_flight: int
    """Trials that run now: at most those in parallel, without those that wait for a judge or their commit."""
    lost_workers: str
    """The workers that were lost so far, with the attempts at trials; empty if none was."""
    spent: float | None
    """The cost of the decided cases in US dollars, as far as prices are known; null: none is known."""
    spent_of: int
    """The number of decided cases with a known cost."""
    worker: str
    """The process that executes it; empty if there is none."""
    ours: bool
    """Whether this server started it, so that it can be cancelled here."""


class LiveEnd(PageModel):
    """No process executes the run any more: event `finished`."""

    run_id: str
    state: RunState
    outcome: str | None
    """The outcome; null if the run is incomplete."""
    stopped_by: str
    """Why the run stopped early; empty if it is complete or its process died."""
    failure: str
    """The failure that ended the run itself."""

    @staticmethod
    def broken(run_id: str, why: str) -> LiveEnd:
        """Return the end of an event stream whose run may continue: the store can no longer be read."""
        return LiveEnd(run_id=run_id, state=RunState.UNFINISHED, outcome=None, stopped_by="", failure=why)


class LiveEvents(PageModel):
    """The data of each event of a run, by its name."""

    progress: LiveProgress
    case: CaseRow
    """A case, as soon as its verdict is stored; an undecided one, if it has several trials, after each of them."""
    finished: LiveEnd
    broken: LiveEnd
    """The store can no longer be read."""


class Cancelled(PageModel):
    """A run that was interrupted."""

    run_id: str


PAUSE = 0.25
"""Seconds between two reads of a running run."""
TELL_AT_LEAST_EVERY = 1.0
"""Seconds after which progress is sent even if nothing has changed, because time has passed."""
LINGER = 60.0
"""Seconds that a log outlives its last listener, so that a client can reconnect."""
NEWEST = 2_000
"""The rows that are cached for other listeners."""
AT_ONCE = 250
"""The most rows that are read and sent at once."""
_MOST_UNDECIDED = 1_000
"""The undecided cases, in order, whose recorded trials are read."""
_WINDOW = 30.0
"""The sliding window of the rate in seconds."""

Ours = Callable[[str, ScoringProgress], bool]
"""Returns whether this server started the process that executes a run."""


@dataclass(slots=True)
class _Update:
    """The news of one read of the store."""

    standing: ScoringProgress
    decided: list[int] = field(default_factory=list)
    """The positions with a new verdict, in order."""
    strips: dict[int, str] = field(default_factory=dict)
    """The recorded trials of undecided cases that have new ones."""
    rows: Sequence[CaseRow] = ()
    """The rows of cases whose cost was unknown."""
    end: LiveEnd | None = None


class Throughput:
    """Trials per second over a sliding window."""

    def __init__(self, window: float = _WINDOW) -> None:
        """`window`: in seconds."""
        self._window = window
        self._marks: deque[tuple[float, int]] = deque()
        self._latest = (0.0, 0)

    def see(self, now: float, trials: int) -> None:
        """Record the number of trials at `now` (seconds from any start)."""
        self._latest = now, trials
        if not self._marks or now - self._marks[-1][0] >= self._window / 60:
            self._marks.append(self._latest)
        while len(self._marks) > 1 and now - self._marks[0][0] > self._window:
            self._marks.popleft()

    def now(self) -> float | None:
        """Return trials per second; `None` until the number has changed."""
        if not self._marks:
            return None
        (since, before), (now, trials) = self._marks[0], self._latest
        return (trials - before) / (now - since) if trials > before and now > since else None


class Follower:
    """Follows one scoring of one run. It is used on the event loop, and reads the store in threads."""

    def __init__(self, context: ServerContext, run_id: str, scoring: int, ours: Ours) -> None:
        """`run_id`: the complete id."""
        self.run_id, self.scoring = run_id, scoring
        self.epoch = secrets.token_hex(4)
        """The id of this log: places of other logs are invalid here."""
        self.log: list[int] = []
        self.progress: LiveProgress | None = None
        self.end: LiveEnd | None = None
        self.error: str = ""
        """Why the store can no longer be read; then no more events follow."""
        self.listeners = 0
        self.left_at = time.monotonic()
        self._context, self._ours = context, ours
        self._store: Store | None = None
        self._known: dict[int, str] = {}
        self._strips: dict[int, str] = {}
        self._planned, self._has_repeats = 0, False
        self._last: ScoringProgress | None = None
        self._costs: dict[int, float | None] = {}
        self._newest: OrderedDict[int, bytes] = OrderedDict()
        self._rate = Throughput()
        self._notified_at = 0.0
        self.version = 0
        """Counts the updates, so that a listener can wait for the next one."""
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    # --- listeners ---------------------------------------------------------------------------------------------

    def add_listener(self) -> None:
        """Add a listener."""
        self.listeners += 1

    def remove_listener(self) -> None:
        """Remove a listener, and record the time."""
        self.listeners -= 1
        self.left_at = time.monotonic()

    @property
    def is_over(self) -> bool:
        """Whether no more events follow."""
        return self.end is not None or bool(self.error)

    async def has_resumed(self) -> bool:
        """Return whether the run was resumed after its end."""
        if self.end is None or self._store is None:
            return False
        standing = await run_in_threadpool(self._store.standing, self.run_id, self.scoring)
        return bool(standing != self._last)

    async def ready(self) -> None:
        """Wait until the run was read once."""
        if self._task is None:
            self._task = asyncio.create_task(self._follow(), name=f"following {self.run_id}")
        while self.progress is None and not self.error:
            await self.news(self.version, TELL_AT_LEAST_EVERY)

    async def news(self, version: int, seconds: float) -> bool:
        """Wait for a change after version `version`; return false if there is none within `seconds`."""
        if self.version != version:
            return True
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            return False
        return True

    async def rows(self, positions: Sequence[int]) -> list[bytes]:
        """Return the rows of cases as JSON, in order; rows that are not cached are read."""
        missing = [position for position in dict.fromkeys(positions) if position not in self._newest]
        documents = {position: self._newest[position] for position in positions if position in self._newest}
        if missing and self._store is not None:
            rows = await run_in_threadpool(self._read_rows, self._store, missing)
            documents |= {row.position: _store_row(self._newest, row) for row in rows}
        return [documents[position] for position in positions if position in documents]  # empty after `close`

    # --- reading -----------------------------------------------------------------------------------------------------

    async def _follow(self) -> None:
        try:
            while True:
                began = time.monotonic()
                self._apply(await run_in_threadpool(self._read))
                if self.is_over or self._is_expired(time.monotonic()):
                    return
                took = time.monotonic() - began
                await asyncio.sleep(max(PAUSE, 2 * took))  # do not overload a slow store
        except ProctorError as error:
            self.error = str(error)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - it would be lost with the task, and the listeners would wait forever
            self.error = f"{type(error).__name__}: {error}"
        finally:
            self._notify()

    def _is_expired(self, now: float) -> bool:
        return not self.listeners and now - self.left_at > LINGER

    def _read(self) -> _Update:
        """Read the store, in a thread."""
        store = self._store or self._open()
        update = _Update(store.standing(self.run_id, self.scoring))
        has_ended = update.standing.state is not RunState.RUNNING
        before = self._last.counts if self._last is not None else None
        if update.standing.counts != before or has_ended:
            update.decided = self._new_verdicts(store)
        if self._has_repeats:
            update.strips = self._new_strips(store, update.standing)
        update.rows = self._read_rows(store, self._positions_without_cost(update.decided)[:AT_ONCE])
        if has_ended:
            update.end = self._end_event(store, update.standing)
        return update

    def _open(self) -> Store:
        self._store = open_runs(self._context.store_url, read_only=True)
        manifest = self._store.manifest(self.run_id)
        self._planned = sum(one.cases * one.num_runs for one in manifest.sets if one.failure is None)
        self._has_repeats = any(one.num_runs > 1 for one in manifest.sets)
        return self._store

    def _new_verdicts(self, store: Store) -> list[int]:
        outcomes = store.outcomes(self.run_id, self.scoring)
        decided = [at for at, outcome in outcomes.items() if self._known.get(at) != outcome]
        self._known.update({at: str(outcomes[at]) for at in decided})
        return decided

    def _new_strips(self, store: Store, standing: ScoringProgress) -> dict[int, str]:
        if standing.trials == (self._last.trials if self._last is not None else 0):
            return {}
        undecided = [*islice((at for at in range(standing.cases) if at not in self._known), _MOST_UNDECIDED)]
        recorded = recorded_trials(store, self.run_id, self.scoring, undecided)
        return {at: row["strip"] for at, row in recorded if row["strip"] != self._strips.get(at)}

    def _positions_without_cost(self, decided: Sequence[int]) -> list[int]:
        if len(self._costs) >= len(self._known):
            return []
        return [at for at in dict.fromkeys((*decided, *self._known)) if at not in self._costs]

    def _end_event(self, store: Store, standing: ScoringProgress) -> LiveEnd:
        summary = store.summary(self.run_id, self.scoring)
        return LiveEnd(
            run_id=self.run_id,
            state=standing.state,
            outcome=str(summary.outcome) if summary.outcome is not None and standing.complete else None,
            stopped_by=summary.stopped_by,
            failure=summary.failure.message if summary.failure is not None else "",
        )

    def _read_rows(self, store: Store, positions: Sequence[int]) -> list[CaseRow]:
        """Return the rows of some cases with their costs, for which their evidence is read."""
        cases = store.load(self.run_id, self.scoring).cases
        rows = []
        for part in _ranges(positions):
            for position, case in zip(part, cases[part.start : part.stop], strict=True):
                row = case_row(position, case, cause_of(case))
                cost = cost_of_case(case, attempts_evidence(case))
                row.cost, row.cost_text = cost.cost, run_cost_text(cost)
                rows.append(row)
        return rows

    # --- on the event loop -------------------------------------------------------------------------------------------

    def _apply(self, update: _Update) -> None:
        changed = [*update.decided, *update.strips]
        for at in changed:
            self._newest.pop(at, None)  # an older row of the case is stale
        self._strips |= update.strips
        for row in update.rows:
            self._costs[row.position] = row.cost
            _store_row(self._newest, row)
        self.log += changed
        now = time.monotonic()
        self._rate.see(now, update.standing.trials)
        moved = self._last != update.standing or update.rows or update.end is not None
        if moved or now - self._notified_at >= TELL_AT_LEAST_EVERY:
            self.progress, self.end = self._progress(update.standing), update.end
            self._notified_at, self._last = now, update.standing
            self._notify()

    def _progress(self, standing: ScoringProgress) -> LiveProgress:
        rate = self._rate.now()
        left = max(0, self._planned - standing.trials)
        known = [cost for cost in self._costs.values() if cost is not None]
        running = standing.state is RunState.RUNNING
        return copy_fields(
            LiveProgress,
            standing,
            run_id=self.run_id,
            done=sum(standing.counts.values()),
            trials_planned=max(self._planned, standing.trials),
            in_flight=min(standing.in_flight, left),  # a trial has its place until its commit is reported
            rate=rate if running else None,
            seconds_left=left / rate if rate and running else None,
            spent=sum(known) if known else None,
            spent_of=len(known),
            ours=self._ours(self.run_id, standing),
        )

    def _notify(self) -> None:
        self.version += 1
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def close(self) -> None:
        """Stop following; the listeners receive the last event."""
        self.error = self.error or "the server stops following this run"
        self._notify()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        if self._store is not None:
            await run_in_threadpool(self._store.close)
            self._store = None


def _ranges(positions: Sequence[int]) -> list[range]:
    """Group positions into ranges of consecutive ones, so that the store is queried once per range."""
    ranges: list[range] = []
    for position in sorted(positions):
        if ranges and ranges[-1].stop == position:
            ranges[-1] = range(ranges[-1].start, position + 1)
        else:
            ranges.append(range(position, position + 1))
    return ranges


def _store_row(newest: OrderedDict[int, bytes], row: CaseRow) -> bytes:
    """Cache a row as JSON, and remove the oldest ones beyond the limit."""
    document = row.model_dump_json().encode()
    newest[row.position] = document
    newest.move_to_end(row.position)
    while len(newest) > NEWEST:
        newest.popitem(last=False)
    return document


class Followers:
    """The followers of a server, one per run and scoring."""

    def __init__(self, context: ServerContext, ours: Ours) -> None:
        self._context, self._ours = context, ours
        self._followers: dict[tuple[str, int], Follower] = {}

    async def follower(self, run_id: str, scoring: int) -> Follower:
        """Return the follower of a run; replace one that has ended if the run was resumed since."""
        await self._close_idle()
        follower = self._followers.get((run_id, scoring))
        if follower is not None and (follower.error or await follower.has_resumed()):
            del self._followers[run_id, scoring]
            await follower.close()
            follower = None
        if follower is None:
            follower = Follower(self._context, run_id, scoring, self._ours)
            self._followers[run_id, scoring] = follower
        await follower.ready()
        return follower

    def __len__(self) -> int:
        return len(self._followers)

    def all(self) -> Iterable[Follower]:
        """Return all followers."""
        return list(self._followers.values())

    async def _close_idle(self) -> None:
        now = time.monotonic()
        for key, follower in list(self._followers.items()):
            if not follower.listeners and now - follower.left_at > LINGER:
                del self._followers[key]
                await follower.close()

    async def close(self) -> None:
        """Close all followers; the listeners receive the last event."""
        followers = [*self._followers.values()]
        self._followers.clear()
        for follower in followers:
            await follower.close()
