"""One run that several processes write: how they join it, and how the last one completes it (see `SharedRunStore`)."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from proctor.errors import SetupError
from proctor.schema.results.manifest import Manifest, PlannedCase, ScoringManifest
from proctor.stores.base import Allotment, Caps, Committed
from proctor.stores.shared_runs import RunMember
from proctor.stores.sql import leases
from proctor.stores.sql.database import Database, StoreLocation, Transaction, compact
from proctor.stores.sql.labels import LabelledStore
from proctor.stores.sql.members import (
    Member,
    claim_member,
    is_begun,
    is_complete,
    members_of,
    members_within,
    summary_of_parts,
)
from proctor.stores.sql.reader import RunReader
from proctor.stores.sql.rows import DecidedOutcomes, Hold
from proctor.stores.sql.run_budget import (
    claim_allotment,
    delete_allotment,
    read_caps,
    reload_allotment,
    return_rest,
    settle,
    write_caps,
)
from proctor.stores.sql.run_state import (
    RunLine,
    RunProgress,
    ScoringState,
    run_line,
    stored_unread_sets,
)
from proctor.stores.sql.writer import (
    Writer,
    delete_runs,
    insert_planned_cases,
    insert_run,
    insert_scoring,
    last_attempts,
    new_run_number,
)


class SharedRunStore(LabelledStore):
    """The part of a store that has to do with runs that several processes write."""

    _place: StoreLocation
    name: str

    @abstractmethod
    def _prepare_writing(self) -> None:
        """Check that runs can be written, and open the place of their artefacts if the store has one.

        Raises:
            StoreError: the store cannot be written, or the place cannot be used.
        """

    def join(
        self,
        manifest: Manifest,
        cases: Iterable[PlannedCase],
        scoring: ScoringManifest,
        *,
        part: int,
        parts: int,
        caps: Caps | None = None,
    ) -> SqlMembership:
        """Take one part of a run; the first process creates the run, with `cases` of all parts and its `caps`.

        Raises:
            SetupError: the run has ended, is of one process, or has another number of parts.
            RunInUseError: another process runs this part.
        """
        self._prepare_writing()
        run_id = manifest.run_id
        with self._database.transaction(exclusive=True) as transaction:
            line = run_line(self._database, run_id)
            if line is not None and _is_abandoned(line.members):
                delete_runs(transaction, [line.seq])
                line = None
            if line is None:
                run = _begin(transaction, self.name, manifest, cases, scoring)
                write_caps(transaction, run, caps or Caps())
            else:
                _check_part(line, part, parts, self.name)
                run = line.seq
            member = claim_member(transaction, run, part, parts, self.name)
            allotment = claim_allotment(transaction, run, part, parts)
        return SqlMembership(self._place, self._database, run_id, manifest.created_at, member, allotment)

    def members(self, run_id: str) -> list[RunMember]:
        """Return the processes that write a run together and have joined it; none if one process writes it."""
        return [_shown(member) for member in self._line(run_id).members]

    def limit(self, writer: Writer, caps: Caps) -> Allotment | None:
        """Keep the caps of a run of one process, so that they hold for its successor if it is killed.

        Return what the process may spend; `None` without caps. What a predecessor that was killed has spent and reserved counts.
        """
        run = self._line(writer.run_id).seq
        with self._database.transaction() as transaction:
            write_caps(transaction, run, caps)
            allotment = claim_allotment(transaction, run, part=1, parts=1)
        writer.use_allotment(allotment)
        return allotment

    def caps(self, run_id: str) -> Caps:
        """Return the caps of a run that is not complete: of several processes, or of one that was killed."""
        return read_caps(self._database, self._line(run_id).seq)

    def set_caps(self, run_id: str, caps: Caps) -> None:
        """Replace the caps of a run; what was spent counts. Members that have joined keep theirs."""
        self._check_writable()
        with self._database.transaction() as transaction:
            write_caps(transaction, self._line(run_id).seq, caps)


def _begin(
    transaction: Transaction,
    name: str,
    manifest: Manifest,
    cases: Iterable[PlannedCase],
    scoring: ScoringManifest,
) -> int:
    """Write down a new run of several processes."""
    progress = RunProgress(new_run_number(transaction))
    insert_run(transaction, progress, manifest, name)
    progress.cases = insert_planned_cases(transaction, progress.run, cases)
    first = ScoringState(progress.run, scoring.number)
    insert_scoring(transaction, first, scoring)
    first.write(transaction)
    progress.write(transaction, leases.Lease(progress.run, manifest.run_id, 0))
    return progress.run


def _is_abandoned(members: Sequence[Member]) -> bool:
    """Return whether the run never began, and no process is left that waits for it."""
    return bool(members) and not is_begun(members) and all(member.holder is None for member in members)


def _check_part(line: RunLine, part: int, parts: int, name: str) -> None:
    run_id = line.run_id
    if not line.members:
        what = "has ended" if line.progress.complete else "is a run of one process"
        raise SetupError(
            f"{name}: run {run_id} {what}, so that no process can join it. `proctor show {run_id}` shows it; "
            "for a new run give --join another name"
        )
    if (there := line.members[0].parts) != parts:
        raise SetupError(
            f"{name}: run {run_id} has {there} parts, and --shard {part}/{parts} expects {parts}. "
            f"Give every member the same N, or --join another name"
        )
    for member in line.members:
        if member.part == part and member.holder is not None:
            raise leases.in_use_error(f"part {part}/{parts} of run {run_id}", name, member.holder)


def _shown(member: Member) -> RunMember:
    return RunMember(
        part=member.part,
        parts=member.parts,
        is_ready=bool(member.ready),
        refusal=member.refusal,
        is_complete=bool(member.complete),
        worker=str(member.holder or ""),
        trials=member.trials,
        summary=member.result,
    )


# --- One member -------------------------------------------------------------------------------------------------------


class SqlMembership:
    """The part of a run that this process has taken (see `SqlMembership` of `stores/shared_runs.py`)."""

    def __init__(
        self,
        place: StoreLocation,
        database: Database,
        run_id: str,
        created_at: float,
        member: Member,
        allotment: Allotment | None,
    ) -> None:
        self.run_id = run_id
        self.allotment = allotment
        self._place, self._database = place, database
        self._created_at = created_at
        self._member = member
        self._renewed = time.monotonic()

    def refuse(self, why: str) -> None:
        """Report to the other members why this one cannot be part of the run, and leave."""
        with self._database.transaction(exclusive=True) as transaction:
            if not is_begun(members_within(transaction, self._member.run, self._database.name)):
                self._member.refusal, self._member.ready = why, 0
                self._member.write(transaction)
            self._member.release(transaction)
            self._delete_if_abandoned(transaction)

    def set_ready(self) -> None:
        """Declare that this member can begin."""
        self._member.ready = 1
        self._write()

    def members(self) -> list[RunMember]:
        """Return all members that have joined; this process keeps its part meanwhile."""
        if time.monotonic() - self._renewed > leases.LEASE_RENEWED_EVERY:
            self._write()
        return [_shown(member) for member in members_of(self._database, self._member.run)]

    def leave(self) -> bool:
        """Leave the run before it begins; return `False` if it has begun, because all members are ready."""
        with self._database.transaction(exclusive=True) as transaction:
            if is_begun(members_within(transaction, self._member.run, self._database.name)):
                return False
            self._member.ready = 0
            self._member.write(transaction)
            self._member.release(transaction)
            self._delete_if_abandoned(transaction)
        return True

    def release(self) -> None:
        """Let another process take the part; what it has written stays."""
        with self._database.transaction() as transaction:
            self._member.release(transaction)

    def writer(self, positions: Sequence[int], committed: Committed) -> Writer:
        """Return the writer of this part: the cases at `positions`."""
        hold = MemberHold(
            leases.Lease(self._member.run, self.run_id, self._member.fence),
            RunProgress(self._member.run),
            ScoringState(self._member.run, 1),
            DecidedOutcomes(),
            last_attempts(self._database, self._member.run),
            self._member,
            frozenset(positions),
            self._database.name,
            allotment=self.allotment,
        )
        hold.take_progress(self._database)
        return Writer(self._place, hold, committed, self._created_at)

    def _write(self) -> None:
        with self._database.transaction(exclusive=True) as transaction:
            if not self._member.write(transaction):
                lease = leases.Lease(self._member.run, self.run_id, self._member.fence)
                raise leases.lost_lease_error(lease, self._database.name)
        self._renewed = time.monotonic()

    def _delete_if_abandoned(self, transaction: Transaction) -> None:
        """Delete a run that never began, with the last process that waited for it; a refusal remains until it was read."""
        members = members_within(transaction, self._member.run, self._database.name)
        if _is_abandoned(members):
            delete_runs(transaction, [self._member.run])


@dataclass(slots=True)
class MemberHold(Hold):
    """A part of a run that this process may write."""

    member: Member
    positions: frozenset[int]
    """The cases of the part."""
    name: str
    """The name of the store in messages."""
    is_over: bool = False
    """Whether the run was completed by a commit that was not acknowledged."""
    is_last: bool = False

    @property
    def completes_run(self) -> bool:
        """Whether this was the last part of the run."""
        return self.is_over or self.is_last

    def take_progress(self, database: Database) -> None:
        """Continue from what the part has written already."""
        member = self.member
        self.run.trials, self.run.trials_sum = member.trials, member.trials_sum
        scoring = self.scoring
        scoring.complete, scoring.counts, scoring.summary = member.complete, member.counts, member.summary
        scoring.verdicts_sum = member.verdicts_sum
        outcomes = RunReader(database, member.run, self.lease.run_id, 1).outcomes()
        self.decided = DecidedOutcomes(one for one in outcomes if one[0] in self.positions)

    def write(self, transaction: Transaction) -> bool:
        """Write what this member has done and renew its lease; the last member completes the run."""
        if self.is_over:
            return True
        member, scoring = self.member, self.scoring
        has_news = not member.complete or self.run.trials != member.trials
        if scoring.complete:
            # of two members that end at the same time, the second waits here until the first has ended
            transaction.execute("UPDATE runs SET cases = cases WHERE seq = ?", (member.run,))
        member.trials, member.trials_sum = self.run.trials, self.run.trials_sum
        member.complete, member.counts, member.summary = scoring.complete, scoring.counts, scoring.summary
        member.verdicts_sum = scoring.verdicts_sum
        is_held = member.write(transaction)
        if is_held and self.allotment is not None:
            settle(transaction, self.allotment, member.run, member.part, self.name)
        if is_held and member.complete:
            self.is_last = _complete_run(transaction, member.run, self.name)
        # a part that was complete before is not a part any more once the other members have completed the run
        return is_held or not (has_news or members_within(transaction, member.run, self.name))

    def release(self, transaction: Transaction) -> None:
        """Let another process take the part; what it has reserved and not spent returns."""
        if self.member.release(transaction) and self.allotment is not None:
            return_rest(transaction, self.member.run, self.member.part)

    def reload(self, database: Database) -> None:
        """Read what is stored: it is unknown whether the last transaction was committed."""
        line = run_line(database, self.lease.run_id)
        members = [one for one in line.members if one.part == self.member.part] if line is not None else []
        if members and members[0].fence == self.member.fence:
            self.member = members[0]
            self.take_progress(database)
            if self.allotment is not None:
                reload_allotment(database, self.allotment, self.member.run, self.member.part)
        self.is_over = line is not None and not line.members and bool(line.progress.complete)


# --- The end of the run -----------------------------------------------------------------------------------------------


def _complete_run(transaction: Transaction, run: int, name: str) -> bool:
    """If every part is complete, write the totals and the summary of the run: then it is like a run of one process.

    Return whether it was done.
    """
    members = members_within(transaction, run, name)
    if not is_complete(members):
        return False
    cases, scorings, manifest = transaction.execute(
        "SELECT cases, judgings, manifest FROM runs WHERE seq = ?", (run,)
    ).fetchone()
    progress = RunProgress(run, cases, complete=1, scorings=scorings)
    progress.add(members)
    transaction.execute(
        "UPDATE runs SET complete = 1, trials = ?, trials_sum = ?, state_crc = ? WHERE seq = ?",
        (progress.trials, progress.trials_sum, progress.crc, run),
    )
    scoring = ScoringState(run, 1, complete=1)
    scoring.add(members)
    set_missing = bool(stored_unread_sets(manifest))
    scoring.summary = compact(summary_of_parts(members, set_missing=set_missing).model_dump())
    scoring.write(transaction)
    transaction.execute("DELETE FROM members WHERE run = ?", (run,))
    delete_allotment(transaction, run)
    return True
