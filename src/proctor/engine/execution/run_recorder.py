"""A run that is written to a store while it is executed: a trial is reported after its commit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from proctor.agents.base import AgentInfo
from proctor.schema.results.run_result import CaseResult, Outcome
from proctor.stores.base import (
    Allotment,
    Amounts,
    AnswerRecord,
    Caps,
    Committed,
    Record,
    RunWriter,
    Store,
    StoredTrial,
)

if TYPE_CHECKING:
    from proctor.engine.run_options import RunOptions
    from proctor.schema.results.manifest import RunSummary

Opener = Callable[[AgentInfo | None, Committed], RunWriter]
"""Receives the agent's description of itself; begins a run, resumes one, or begins another scoring of one."""


def cases_in_error(store: Store, run_id: str, scoring: int) -> set[int]:
    """Return the positions of the cases of a run that `resume --retry-errors` runs again.

    They are the cases in error. If the run is compared with another one, failed cases with a trial in error are among
    them: their verdict is certain, but no figure of the comparison counts them.
    """
    positions = {at for at, outcome in store.outcomes(run_id, scoring).items() if outcome is Outcome.ERROR}
    if store.manifest(run_id).against:
        for at, (_, case) in enumerate(store.verdicts(run_id, scoring)):
            if any(trial.outcome is Outcome.ERROR for trial in case.trials):
                positions.add(at)
    return positions


class ScoringRecord:
    """One scoring of one run, and the store that it is written to."""

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
        """Keep the store and the way to begin.

        `positions` are the positions of the plan's cases in the run (default: 0, 1, 2 …), `gone` the positions of cases
        that only the run has. `resumed`: the store may have evidence already. `retry_errors`: trials that ended in an
        error are run again.
        """
        self.store = store
        self.resumed = resumed
        self.retry_errors = retry_errors
        self._opener = opener
        self._positions = positions
        self._gone = gone
        self._writer: RunWriter | None = None
        self._allotment: Allotment | None = None
        self._outcomes: dict[int, Outcome] = {}
        self.outcomes_of_gone: list[Outcome] = []
        """The outcomes of the cases that only the run has, not the plan."""
        self.earlier: RunSummary | None = None
        """The summary that an earlier process wrote, if the run is resumed."""
        self.attempts_made = 0
        """Stored attempts at trials when the run is resumed."""
        self.tokens: Callable[[], int] = lambda: 0
        """Returns the tokens that the agent has used in this process; set by the run."""

    @property
    def writer(self) -> RunWriter:
        """The writer of the run, once the run has begun."""
        if self._writer is None:
            raise RuntimeError("the stored run has not begun")
        return self._writer

    async def meet(self, info: AgentInfo | None) -> None:
        """Wait until the run can begin; only a run of several processes waits for the others.

        Raises:
            SetupError: it cannot begin; no trial was run.
        """

    def begin(self, info: AgentInfo | None) -> None:
        """Begin the run, or take it over from an earlier process.

        Raises:
            StoreError: the store cannot be written, or another process is at work on the run.
        """
        self._writer = self._opener(info, Commits(asyncio.get_running_loop()))
        if self.resumed:
            run_id, scoring = self._writer.run_id, self._writer.scoring
            self.earlier = self.store.summary(run_id, 1)  # also of a run that is scored again
            self.attempts_made = self.store.standing(run_id).trials
            self._outcomes = self.store.outcomes(run_id, scoring)
            self.outcomes_of_gone = [self._outcomes.pop(at, Outcome.NOT_RUN) for at in self._gone]
            if self.retry_errors:
                again = cases_in_error(self.store, run_id, scoring)
                self._outcomes = {at: outcome for at, outcome in self._outcomes.items() if at not in again}

    def share_budget(self, options: RunOptions) -> None:
        """Spend from the allotment of the run: its caps hold for all members, and for the process that resumes it after a kill."""
        budget = options.budget
        if budget is None and options.max_tokens is None:
            return
        self._allotment = allotment = self.open_allotment(Caps.of(options))
        if allotment is None:
            return
        before = allotment.spent()
        if budget is not None:
            budget.share(allotment, lambda: self.commit(()))

        def spent() -> Amounts:
            tokens = before.tokens + self.tokens()
            return (
                before._replace(tokens=tokens)
                if budget is None
                else Amounts(budget.micros, budget.calls, tokens)
            )

        allotment.spent = spent
        self.put()  # what earlier runs of the same command have spent

    def open_allotment(self, caps: Caps) -> Allotment | None:
        """Return what this process may spend; `None` if there are no caps, or the store keeps none."""
        limit = getattr(self.store, "limit", None)
        if limit is None or self.writer.scoring != 1:  # each further scoring has its own caps
            return None
        allotment: Allotment | None = limit(self.writer, caps)
        return allotment

    @property
    def is_open(self) -> bool:
        """Whether the run has begun."""
        return self._writer is not None

    def earlier_outcomes(self) -> Iterable[Outcome]:
        """Return the outcome of each case that an earlier process decided."""
        return self._outcomes.values()

    def attempts(self) -> Iterator[tuple[int, int, bytes]]:
        """Return position, number and evidence of every stored attempt."""
        return self.store.attempts(self.writer.run_id)

    def position(self, ordinal: int) -> int:
        """Return the position in the run of the plan's case number `ordinal`."""
        return self._positions[ordinal] if self._positions is not None else ordinal

    def outcome(self, position: int) -> Outcome | None:
        """Return the outcome of a case that an earlier process decided; `None` for others."""
        return self._outcomes.get(position)

    def trials(self, positions: Sequence[int]) -> Iterator[tuple[int, list[StoredTrial]]]:
        """Yield the stored trials of each of these cases that has any, with the position of the case."""
        if not self.resumed:
            return iter(())
        return self.store.trials(self.writer.run_id, positions, self.writer.scoring)

    def put(self, *records: Record) -> None:
        """Write records, without waiting for the disk."""
        self.writer.put(records)

    async def commit(self, records: Sequence[Record]) -> None:
        """Write records, and return when they and all records before them are on disk.

        Raises:
            StoreError: they could not be written.
        """
        token = asyncio.get_running_loop().create_future()
        self.writer.put(records, token)
        await token

    def cases(self) -> Sequence[CaseResult]:
        """Return the cases of the run, read from the store when they are asked for."""
        return self.store.cases(self.writer.run_id, self.writer.scoring)

    def badges(self) -> dict[str, str]:
        """Return the calibration of each metric's judge, according to the store."""
        return self.store.load(self.writer.run_id, self.writer.scoring).badges

    def finish(self, summary: RunSummary, *, complete: bool) -> None:
        """Write the remaining records and the summary of the run.

        Raises:
            StoreError: it could not be written.
        """
        self.writer.finish(summary, complete=complete)

    @property
    def completes_run(self) -> bool:
        """Whether this was the last part of a run of several processes."""
        return False

    def tokens_used(self, now: int) -> int:
        """Return the tokens that count for `max_tokens`; `now`: those of this process."""
        return (
            now if self._allotment is None else self._allotment.spent().tokens + self._allotment.others.tokens
        )

    def close(self) -> None:
        """Release the run after an error."""
        if self._writer is not None:
            self._writer.close()


_NEWEST = 1000


class Answers:
    """The cache of judges' answers in the store of a run (see `AnswerCache`)."""

    def __init__(self, stored: ScoringRecord) -> None:
        self._stored = stored
        self._newest: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        """Return a judge's answer of this run or another one, and record that this run uses it."""
        if key in self._newest:
            return self._newest[key]
        answer = self._stored.store.answer(key)
        if answer is not None:
            self._stored.writer.put([AnswerRecord(key, b"")])
        return answer

    def put(self, key: str, answer: bytes) -> None:
        """Store an answer, without waiting for the disk; the newest answers stay in memory until they are written."""
        while len(self._newest) >= _NEWEST:
            del self._newest[next(iter(self._newest))]
        self._newest[key] = answer
        self._stored.writer.put([AnswerRecord(key, answer)])


class Commits:
    """Wakes the trials that wait for a commit, from the writer's thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def __call__(self, tokens: Sequence[object], error: Exception | None) -> None:
        """Wake those that wait for `tokens`."""
        try:
            self._loop.call_soon_threadsafe(self._settle, tokens, error)
        except RuntimeError:  # the loop is closed: no trial waits any more
            return

    @staticmethod
    def _settle(tokens: Sequence[object], error: Exception | None) -> None:
        for token in tokens:
            if not isinstance(token, asyncio.Future) or token.done():
                continue
            if error is None:
                token.set_result(None)
            else:
                token.set_exception(error)
