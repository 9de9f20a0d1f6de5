"""The members of a run that several processes write: their rows, and the totals of the run as the sums of these rows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from proctor.schema.results.manifest import RunSummary
from proctor.schema.results.model_usage import sum_usage
from proctor.schema.results.run_result import Outcome
from proctor.schema.results.score import outcome_of_run
from proctor.stores.sql import leases
from proctor.stores.sql.database import Database, Row, Transaction, checksum, compact, has_version, sound
from proctor.stores.sql.leases import HOLDER_COLUMNS, Holder, held_by

_VERSION = 6
"""The version of the store that brought members."""
_VALUES = (
    "run, part, parts, ready, refusal, complete, trials, trials_sum, counts, verdicts_sum, summary, fence"
)
_READ = f"SELECT {_VALUES}, crc, {HOLDER_COLUMNS} FROM members WHERE run = ? ORDER BY part"  # noqa: S608 - our own columns
_WRITE = (
    "UPDATE members SET ready = ?, refusal = ?, complete = ?, trials = ?, trials_sum = ?, counts = ?, verdicts_sum = ?, "
    "summary = ?, crc = ?, lease_until = unix_now() + ? WHERE run = ? AND part = ? AND fence = ?"
)
_INSERT = (
    "INSERT INTO members (run, part, parts, ready, refusal, complete, trials, trials_sum, counts, verdicts_sum, crc, "
    "lease_until, fence) VALUES (?, ?, ?, 0, '', 0, 0, 0, '{}', 0, 0, 0, 0) ON CONFLICT (run, part) DO NOTHING"
)
_CLAIM = (
    "UPDATE members SET holder_host = ?, holder_machine = ?, holder_pid = ?, holder_started = ?, fence = fence + 1 "
    "WHERE run = ? AND part = ?"
)
_RELEASE = "UPDATE members SET lease_until = 0, holder_pid = NULL WHERE run = ? AND part = ? AND fence = ?"


@dataclass(slots=True)
class Member:
    """The row of one member."""

    run: int
    part: int
    """From 1."""
    parts: int
    ready: int = 0
    refusal: str = ""
    complete: int = 0
    trials: int = 0
    trials_sum: int = 0
    counts: str = "{}"
    """Verdicts by outcome, as JSON."""
    verdicts_sum: int = 0
    summary: str | None = None
    fence: int = 0
    holder: Holder | None = None
    """The process that runs the part now."""

    @property
    def result(self) -> RunSummary:
        """The summary of the part."""
        return RunSummary() if self.summary is None else RunSummary.model_validate(json.loads(self.summary))

    @property
    def crc(self) -> int:
        """The checksum of what the member has written."""
        head = f"{self.run}/{self.part}/{self.parts}/{self.ready}/{self.complete}/{self.trials}/{self.trials_sum}"
        return checksum(f"member/{head}/{self.counts}/{self.verdicts_sum}/{self.refusal}", self.summary or "")

    def write(self, transaction: Transaction) -> bool:
        """Write the row and renew the lease; return `False` if another process has taken over the part."""
        values = (
            self.ready,
            self.refusal,
            self.complete,
            self.trials,
            self.trials_sum,
            self.counts,
            self.verdicts_sum,
        )
        key = self.run, self.part, self.fence
        lease = leases.LEASE_SECONDS
        return transaction.execute(_WRITE, (*values, self.summary, self.crc, lease, *key)).rowcount == 1

    def release(self, transaction: Transaction) -> bool:
        """Let another process take the part; return `False` if one has taken it over already."""
        return transaction.execute(_RELEASE, (self.run, self.part, self.fence)).rowcount == 1


def members_of(database: Database, run: int) -> list[Member]:
    """Return the members of a run, in the order of their parts; none if one process writes it.

    Raises:
        StoreError: a row is damaged.
    """
    if not has_version(database, _VERSION):
        return []
    return _members(database.name, database.rows(_READ, (run,)))


def members_within(transaction: Transaction, run: int, name: str) -> list[Member]:
    """Do what `members_of` does, within a transaction; `name` is the store's, for messages."""
    return _members(name, transaction.execute(_READ, (run,)).fetchall())


def _members(name: str, rows: Iterable[Row]) -> list[Member]:
    with sound(name, "a member of a run"):
        return [_member(row) for row in rows]


def _member(row: Row) -> Member:
    *values, crc = row[:13]
    member = Member(*values)
    member.holder = held_by(*row[13:])
    if member.crc != crc:
        raise ValueError(crc)
    return member


def claim_member(transaction: Transaction, run: int, part: int, parts: int, name: str) -> Member:
    """Make this process the one that runs a part, within an exclusive transaction; what the part has written stays."""
    transaction.execute(_INSERT, (run, part, parts))
    me = leases.this_process()
    transaction.execute(_CLAIM, (me.host, me.machine, me.pid, me.started, run, part))
    ((*values, _crc),) = transaction.execute(
        f"SELECT {_VALUES}, crc FROM members WHERE run = ? AND part = ?",  # noqa: S608 - our own columns
        (run, part),
    ).fetchall()
    with sound(name, "a member of a run"):
        member = Member(*values)
    member.holder, member.refusal = me, ""
    if member.summary:  # the trials of a process that died do not run any more
        member.summary = compact({**json.loads(member.summary), "in_flight": 0})
    member.write(transaction)
    return member


# --- Totals: sums over members ----------------------------------------------------------------------------------------


def is_begun(members: Sequence[Member]) -> bool:
    """Return whether all members were ready at one time: then the agent may have been called."""
    return bool(members) and sum(member.ready for member in members) == members[0].parts


def is_complete(members: Sequence[Member]) -> bool:
    """Return whether every part is complete."""
    return bool(members) and sum(member.complete for member in members) == members[0].parts


def total_counts(texts: Iterable[str]) -> dict[str, int]:
    """Return the number of decided cases by outcome: the sum of counts, which are JSON."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(json.loads(text))
    return dict(counts)


def summary_so_far(members: Sequence[Member]) -> str | None:
    """Return the summary of an incomplete run, as JSON: of all parts if they have ended, otherwise figures so far."""
    if has_ended(members):
        return compact(summary_of_parts(members, set_missing=False).model_dump())
    if not any(member.summary for member in members):
        return None
    parts = [member.result for member in members]
    return compact(
        {
            "duration": max(part.duration for part in parts),  # the members run at the same time
            "in_flight": sum(member.result.in_flight for member in members if member.holder is not None),
            "lost_workers": sum(part.lost_workers for part in parts),
            "lost_attempts": sum(part.lost_attempts for part in parts),
        }
    )


def has_ended(members: Sequence[Member]) -> bool:
    """Return whether every part is complete, or was stopped in order."""
    return bool(members) and sum(map(_has_ended, members)) == members[0].parts


def _has_ended(member: Member) -> bool:
    return bool(member.complete) or (member.holder is None and member.result.outcome is not None)


def summary_of_parts(members: Sequence[Member], *, set_missing: bool) -> RunSummary:
    """Return the summary of a run whose parts have ended."""
    parts = [member.result for member in members]
    counts = total_counts(compact(part.counts) for part in parts)
    outcomes = [Outcome(name) for name, count in counts.items() if count]
    return RunSummary(
        outcome=outcome_of_run(outcomes, set_missing=set_missing, has_failure=False),
        counts=counts,
        duration=max(part.duration for part in parts),
        warnings=_without_repeats(text for part in parts for text in part.warnings),
        judging_warnings=_without_repeats(text for part in parts for text in part.judging_warnings),
        stopped_by=next((part.stopped_by for part in parts if part.stopped_by), ""),
        interrupted=any(part.interrupted for part in parts),
        models=sorted({model for part in parts for model in part.models}),
        tokens=sum(part.tokens for part in parts),
        spent=sum_usage(one for part in parts for one in part.spent),
        attempts=sum(part.attempts for part in parts),
        unreported=sum(part.unreported for part in parts),
        lost_workers=sum(part.lost_workers for part in parts),
        lost_attempts=sum(part.lost_attempts for part in parts),
        judged_by=list(
            {(one.metric, one.model, one.prompt): one for part in parts for one in part.judged_by}.values()
        ),
    )


def _without_repeats(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))
