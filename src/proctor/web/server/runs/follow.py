"""Following runs: one look at the store for all who watch a run, whichever process is at work on it.

What has happened is a log of positions in the order in which their cases were decided. Whoever listens has a place in
the log, and nothing else: there is no queue that could fill up, and whoever comes back names the place. Rows are made
when they are sent; those of the newest cases are kept for the others.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from starlette.concurrency import run_in_threadpool

from proctor.errors import ProctorError
from proctor.schema.results.manifest import RunState
from proctor.stores.base import Standing, Store
from proctor.web.pages.runs.case_table import CaseRow
from proctor.web.pages.runs.run_events import LiveEnd, LiveProgress

PAUSE = 0.25
"""Seconds between two looks at a run under way."""
TELL_AT_LEAST_EVERY = 1.0
"""Seconds after which progress is told although nothing has happened: time goes on."""
LINGER = 60.0
"""Seconds that a log outlives its last listener, so that one that comes back finds its place."""
NEWEST = 2_000
"""Rows that are kept for the others who listen."""
AT_ONCE = 250
"""Rows that are made with one look, and sent with one event loop's turn."""
_WINDOW = 30.0
"""Seconds over which the rate is taken."""

RowsOf = Callable[[Store, str, int, Sequence[int]], Sequence[CaseRow]]
"""Makes the rows of some cases: store, run, judging, positions."""


Ours = Callable[[str, Standing], bool]
"""Tells whether the process at work on a run is one of this server's."""


@dataclass(slots=True)
class _Update:
    """What one look at the store found."""

    standing: Standing
    decided: list[int] = field(default_factory=list)
    """Positions whose verdict is new, in order."""
    rows: Sequence[CaseRow] = ()
    """Of cases whose cost was not known yet."""
    end: LiveEnd | None = None


class Rate:
    """Trials a second over a sliding window."""

    def __init__(self, window: float = _WINDOW) -> None:
        """Take the window in seconds."""
        self._window = window
        self._marks: deque[tuple[float, int]] = deque()
        self._latest = (0.0, 0)

    def see(self, now: float, trials: int) -> None:
        """Note how many trials there are at `now` (seconds, from any start)."""
        self._latest = now, trials
        if not self._marks or now - self._marks[-1][0] >= self._window / 60:
            self._marks.append(self._latest)
        while len(self._marks) > 1 and now - self._marks[0][0] > self._window:
            self._marks.popleft()

    def now(self) -> float | None:
        """Return trials a second; `None` while nothing was seen to happen."""
        if not self._marks:
            return None
        (since, before), (now, trials) = self._marks[0], self._latest
        return (trials - before) / (now - since) if trials > before and now > since else None


class Follower:
    """Follows one judging of one run. Used on the event loop; it looks at the store in threads."""

    def __init__(
        self,
        open_store: Callable[[], Store],
        run_id: str,
        judging: int,
        *,
        rows_of: RowsOf,
        ours: Ours,
    ) -> None:
        """Take the run by its whole id; `ours` tells whether this server began it."""
        self.run_id, self.judging = run_id, judging
        self.epoch = secrets.token_hex(4)
        """Names this log: places in another one mean nothing here."""
        self.log: list[int] = []
        self.progress: LiveProgress | None = None
        self.end: LiveEnd | None = None
        self.error: str = ""
        """Why the store can no longer be read; then nothing more comes."""
        self.listeners = 0
        self.left_at = time.monotonic()
        self._open_store, self._rows_of, self._ours = open_store, rows_of, ours
        self._store: Store | None = None
        self._known: dict[int, str] = {}
        self._planned = 0
        self._last: Standing | None = None
        self._costs: dict[int, float | None] = {}
        self._newest: OrderedDict[int, bytes] = OrderedDict()
        self._rate = Rate()
        self._told_at = 0.0
        self.version = 0
        """Counts what was told: who has seen this one has nothing new to look at."""
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    # --- whoever listens ---------------------------------------------------------------------------------------------

    def add_listener(self) -> None:
        """Count one more who listens."""
        self.listeners += 1

    def remove_listener(self) -> None:
        """Count one less, and note when it was."""
        self.listeners -= 1
        self.left_at = time.monotonic()

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come."""
        return self.end is not None or bool(self.error)

    async def has_resumed(self) -> bool:
        """Tell whether the run has gone on since it came to its end here."""
        if self.end is None or self._store is None:
            return False
        standing = await run_in_threadpool(self._store.standing, self.run_id, self.judging)
        return bool(standing != self._last)

    async def ready(self) -> None:
        """Return when the run was looked at once."""
        if self._task is None:
            self._task = asyncio.create_task(self._follow(), name=f"following {self.run_id}")
        while self.progress is None and not self.error:
            await self.news(self.version, TELL_AT_LEAST_EVERY)

    async def news(self, seen: int, seconds: float) -> bool:
        """Return when something has changed since version `seen`: false when nothing did for so long."""
        if self.version != seen:
            return True
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            return False
        return True

    async def rows(self, positions: Sequence[int]) -> list[bytes]:
        """Return the rows of cases as JSON, in order; those that nobody has asked for yet are read."""
        missing = [position for position in dict.fromkeys(positions) if position not in self._newest]
        made = {position: self._newest[position] for position in positions if position in self._newest}
        if missing and self._store is not None:
            rows = await run_in_threadpool(self._read_rows, self._store, missing)
            made |= {row.position: _keep(self._newest, row) for row in rows}
        return [made[position] for position in positions if position in made]  # none once this is closed

    # --- looking -----------------------------------------------------------------------------------------------------

    async def _follow(self) -> None:
        try:
            while True:
                began = time.monotonic()
                self._take(await run_in_threadpool(self._look))
                if self.is_over or self._may_go(time.monotonic()):
                    return
                took = time.monotonic() - began
                await asyncio.sleep(max(PAUSE, 2 * took))  # a store that is slow is not asked all the time
        except ProctorError as error:
            self.error = str(error)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - it would be lost with the task, and all would wait forever
            self.error = f"{type(error).__name__}: {error}"
        finally:
            self._tell()

    def _may_go(self, now: float) -> bool:
        return not self.listeners and now - self.left_at > LINGER

    def _look(self) -> _Update:
        """Look at the store, in a thread."""
        if self._store is None:
            self._store = self._open_store()
            manifest = self._store.manifest(self.run_id)
            self._planned = sum(one.cases * one.num_runs for one in manifest.sets if one.failure is None)
        store = self._store
        seen = _Update(store.standing(self.run_id, self.judging))
        before = self._last.counts if self._last is not None else None
        if seen.standing.counts != before or self._is_over(seen.standing):
            found = store.outcomes(self.run_id, self.judging)
            seen.decided = [at for at, outcome in found.items() if self._known.get(at) != outcome]
            self._known.update({at: str(found[at]) for at in seen.decided})
        without_cost = len(self._costs) < len(self._known)
        wanted = [at for at in (*seen.decided, *self.log) if at not in self._costs] if without_cost else []
        seen.rows = self._read_rows(store, wanted[:AT_ONCE])
        if self._is_over(seen.standing):
            seen.end = self._end_event(store, seen.standing)
        return seen

    def _is_over(self, standing: Standing) -> bool:
        return standing.state is not RunState.RUNNING

    def _end_event(self, store: Store, standing: Standing) -> LiveEnd:
        summary = store.summary(self.run_id, self.judging)
        return LiveEnd(
            run_id=self.run_id,
            state=standing.state,
            outcome=str(summary.outcome) if summary.outcome is not None and standing.complete else None,
            stopped_by=summary.stopped_by,
            failure=summary.failure.message if summary.failure is not None else "",
        )

    def _read_rows(self, store: Store, positions: Sequence[int]) -> Sequence[CaseRow]:
        return self._rows_of(store, self.run_id, self.judging, positions)

    # --- on the event loop -------------------------------------------------------------------------------------------

    def _take(self, seen: _Update) -> None:
        for at in seen.decided:
            self._newest.pop(at, None)  # decided again: the old row is stale
        for row in seen.rows:
            self._costs[row.position] = row.cost
            _keep(self._newest, row)
        self.log += seen.decided
        now = time.monotonic()
        self._rate.see(now, seen.standing.trials)
        moved = self._last != seen.standing or seen.rows or seen.end is not None
        if moved or now - self._told_at >= TELL_AT_LEAST_EVERY:
            self.progress, self.end = self._progress(seen.standing), seen.end
            self._told_at, self._last = now, seen.standing
            self._tell()

    def _progress(self, standing: Standing) -> LiveProgress:
        rate = self._rate.now()
        left = max(0, self._planned - standing.trials)
        known = [cost for cost in self._costs.values() if cost is not None]
        running = standing.state is RunState.RUNNING
        return LiveProgress(
            run_id=self.run_id,
            state=standing.state,
            cases=standing.cases,
            done=sum(standing.counts.values()),
            counts=standing.counts,
            trials=standing.trials,
            trials_planned=max(self._planned, standing.trials),
            rate=rate if running else None,
            seconds_left=left / rate if rate and running else None,
            seconds=standing.seconds,
            spent=sum(known) if known else None,
            spent_of=len(known),
            worker=standing.worker,
            ours=self._ours(self.run_id, standing),
        )

    def _tell(self) -> None:
        self.version += 1
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def close(self) -> None:
        """Stop following; whoever listens hears of it."""
        self.error = self.error or "the server stops following this run"
        self._tell()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        if self._store is not None:
            await run_in_threadpool(self._store.close)
            self._store = None


def _keep(newest: OrderedDict[int, bytes], row: CaseRow) -> bytes:
    """Keep a row as JSON, and let go of the oldest one."""
    document = row.model_dump_json().encode()
    newest[row.position] = document
    newest.move_to_end(row.position)
    while len(newest) > NEWEST:
        newest.popitem(last=False)
    return document


class Followers:
    """Those who follow, a run and a judging each."""

    def __init__(self, open_store: Callable[[], Store], *, rows_of: RowsOf, ours: Ours) -> None:
        """Take how to open the store for reading, how rows are made, and which runs this server began."""
        self._open_store, self._rows_of, self._ours = open_store, rows_of, ours
        self._followers: dict[tuple[str, int], Follower] = {}

    async def follower(self, run_id: str, judging: int) -> Follower:
        """Return who follows a run; one that came to its end is looked at anew when the run has gone on since."""
        await self._let_go()
        found = self._followers.get((run_id, judging))
        if found is not None and (found.error or await found.has_resumed()):
            del self._followers[run_id, judging]
            await found.close()
            found = None
        if found is None:
            found = Follower(self._open_store, run_id, judging, rows_of=self._rows_of, ours=self._ours)
            self._followers[run_id, judging] = found
        await found.ready()
        return found

    def __len__(self) -> int:
        return len(self._followers)

    def all(self) -> Iterable[Follower]:
        """Return all of them."""
        return list(self._followers.values())

    async def _let_go(self) -> None:
        now = time.monotonic()
        for key, follower in list(self._followers.items()):
            if not follower.listeners and now - follower.left_at > LINGER:
                del self._followers[key]
                await follower.close()

    async def close(self) -> None:
        """Let go of all; whoever listens hears that the server stops."""
        followers = [*self._followers.values()]
        self._followers.clear()
        for follower in followers:
            await follower.close()
