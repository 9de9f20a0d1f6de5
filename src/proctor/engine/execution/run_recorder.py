"""A run that is written to a store while it happens: nothing is reported before it is on disk."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from proctor.agents.base import AgentInfo
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult
from proctor.stores.base import AnswerRecord, Committed, Record, RunWriter, Store, StoredTrial

if TYPE_CHECKING:
    from proctor.schema.results.manifest import RunSummary

Opener = Callable[[AgentInfo | None, Committed], RunWriter]
"""Takes what the agent says about itself; begins a run, takes an unfinished one up, or begins another judging."""


def cases_in_error(store: Store, run_id: str, judging: int) -> set[int]:
    """Return the places of the cases of a run that `resume --retry-errors` does again.

    They are those in error. Of a run that is held against another one, those that failed beside a trial in error, too: their
    verdict is sure, but they are in no figure of the comparison.
    """
    found = {at for at, outcome in store.outcomes(run_id, judging).items() if outcome is Outcome.ERROR}
    if store.manifest(run_id).against:
        for at, (_, case) in enumerate(store.verdicts(run_id, judging)):
            if any(trial.outcome is Outcome.ERROR for trial in case.trials):
                found.add(at)
    return found


class StoredRun:
    """One judging of one run, and the store that it is written to."""

    def __init__(
        self,
        store: Store,
        opener: Opener,
        *,
        positions: Sequence[int] | None = None,
        gone: Sequence[int] = (),
        resumed: bool = False,
        retry_errors: bool = False,
    ) -> None:
        """Take the store and how to begin.

        `positions` are the places that the plan's cases have in the run (default: 0, 1, 2 …), `gone` those of cases
        that the run has and the plan has not; `resumed` says that there may be evidence already; `retry_errors` that
        what ended in an error is to be done again.
        """
        self.store = store
        self.resumed = resumed
        self.retry_errors = retry_errors
        self._opener = opener
        self._positions = positions
        self._gone = gone
        self._writer: RunWriter | None = None
        self._outcomes: dict[int, Outcome] = {}
        self.outcomes_of_gone: list[Outcome] = []
        """What the cases came to that the plan has not, a case each."""
        self.earlier: RunSummary | None = None
        """What came of the run before, where it is gone on with."""

    @property
    def writer(self) -> RunWriter:
        """What is written through, once the run has begun."""
        if self._writer is None:
            raise RuntimeError("the stored run has not begun")
        return self._writer

    def begin(self, info: AgentInfo | None) -> None:
        """Take hold of the run.

        Raises:
            StoreError: the store cannot be written, or another process is at work on the run.
        """
        self._writer = self._opener(info, _Commits(asyncio.get_running_loop()))
        if self.resumed:
            run_id, judging = self._writer.run_id, self._writer.judging
            self.earlier = self.store.summary(run_id, 1)  # also where it is judged again
            self._outcomes = self.store.outcomes(run_id, judging)
            self.outcomes_of_gone = [self._outcomes.pop(at, Outcome.NOT_RUN) for at in self._gone]
            if self.retry_errors:
                again = cases_in_error(self.store, run_id, judging)
                self._outcomes = {at: found for at, found in self._outcomes.items() if at not in again}

    @property
    def is_open(self) -> bool:
        """Whether the run was begun."""
        return self._writer is not None

    def earlier_outcomes(self) -> Iterable[Outcome]:
        """Return what was decided before, a case each."""
        return self._outcomes.values()

    def attempts(self) -> Iterator[tuple[int, int, bytes]]:
        """Return position, number and evidence of every attempt that is there."""
        return self.store.attempts(self.writer.run_id)

    def position(self, ordinal: int) -> int:
        """Return the place in the run of the plan's case number `ordinal`."""
        return self._positions[ordinal] if self._positions is not None else ordinal

    def outcome(self, position: int) -> Outcome | None:
        """Return what a case came to, where that was decided before."""
        return self._outcomes.get(position)

    def trials(self, position: int) -> list[StoredTrial]:
        """Return what there is of a case already."""
        return self.store.trials(self.writer.run_id, position, self.writer.judging) if self.resumed else []

    def put(self, *records: Record) -> None:
        """Write records down, without waiting for the disk."""
        self.writer.put(records)

    async def commit(self, records: Sequence[Record]) -> None:
        """Write records down, and return when they, and all before them, are on disk.

        Raises:
            StoreError: they could not be written.
        """
        token = asyncio.get_running_loop().create_future()
        self.writer.put(records, token)
        await token

    def results(self) -> Sequence[CaseResult]:
        """Return the cases of the run, read from the store when they are asked for."""
        return self.load().cases

    def load(self) -> RunResult:
        """Return the run as the store has it."""
        return self.store.load(self.writer.run_id, self.writer.judging)

    def finish(self, summary: RunSummary, *, complete: bool) -> None:
        """Write what is left and what came of it.

        Raises:
            StoreError: it could not be written.
        """
        self.writer.finish(summary, complete=complete)

    def close(self) -> None:
        """Let go of the run after something went wrong."""
        if self._writer is not None:
            self._writer.close()


_NEWEST = 1000


class Answers:
    """What judges answered, in the store of a run (see `AnswerCache`)."""

    def __init__(self, stored: StoredRun) -> None:
        self._stored = stored
        self._newest: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        """Return what a judge answered, in this run or another; this one rests on it, too, from now on."""
        if key in self._newest:
            return self._newest[key]
        found = self._stored.store.answer(key)
        if found is not None:
            self._stored.writer.put([AnswerRecord(key, b"")])
        return found

    def put(self, key: str, answer: bytes) -> None:
        """Keep an answer, without waiting for the disk; until it is there the newest ones are at hand."""
        while len(self._newest) >= _NEWEST:
            del self._newest[next(iter(self._newest))]
        self._newest[key] = answer
        self._stored.writer.put([AnswerRecord(key, answer)])


class _Commits:
    """Carries word of commits from the writer's thread to the trials that wait for it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def __call__(self, tokens: Sequence[object], error: Exception | None) -> None:
        try:
            self._loop.call_soon_threadsafe(self._tell, tokens, error)
        except RuntimeError:  # the loop is closed: nobody waits any more
            return

    @staticmethod
    def _tell(tokens: Sequence[object], error: Exception | None) -> None:
        for token in tokens:
            if not isinstance(token, asyncio.Future) or token.done():
                continue
            if error is None:
                token.set_result(None)
            else:
                token.set_exception(error)
