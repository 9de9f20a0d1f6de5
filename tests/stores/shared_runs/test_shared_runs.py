"""One run that several processes write: joining, the barrier, tallies of members, and the end, in each kind of store."""

import secrets
from collections.abc import Callable
from typing import Any

import pytest

from proctor.errors import RunInUseError, SetupError, StoreError
from proctor.schema.results.manifest import RunState, RunSummary
from proctor.schema.results.model_usage import Spent
from proctor.schema.results.run_result import Outcome
from proctor.stores.open import open_store_url
from proctor.stores.shared_runs import Membership
from proctor.stores.sql import leases
from proctor.stores.sql.copy import copy_run
from proctor.stores.sql.database import Database, LostConnectionError
from proctor.stores.sql.leases import Holder
from proctor.stores.sql.rows import Rows
from proctor.stores.sql.store import SqlStore
from proctor.stores.sql.writer import Writer
from tests.stores.sample_runs import Heard, manifest, planned, records, scoring, shown, write_run

CASES = 4
ELSEWHERE = Holder("elsewhere", "another boot", 7, "7")


def joined(store: SqlStore, part: int, parts: int = 2, run_id: str = "run1") -> Membership:
    return store.join(manifest(run_id, cases=CASES), planned(CASES), scoring(), part=part, parts=parts)


def write_part(
    member: Membership, positions: list[int], *, done: int | None = None, outcome: Outcome = Outcome.PASSED
) -> None:
    """Write the cases of a part, or the first `done`, as a member does."""
    heard = Heard()
    writer = member.writer(positions, heard)
    some = positions[:done]
    for position in some:
        writer.put(records(position, outcome=outcome), position)
    heard.wait_for(len(some))
    counts = {outcome.value: len(some)}
    summary = RunSummary(
        outcome=outcome, counts=counts, duration=len(some), tokens=10 * len(some), attempts=len(some), unreported=1,
        models=["m"], warnings=["of all"], spent=[Spent(purpose="judge", model="j", calls=len(some))],
        lost_workers=1, lost_attempts=len(some),
    )  # fmt: skip
    writer.finish(summary, complete=len(some) == len(positions))


def both(store: SqlStore) -> tuple[Membership, Membership]:
    """Return the two members of a run that has begun."""
    one, two = joined(store, 1), joined(store, 2)
    one.set_ready()
    two.set_ready()
    return one, two


def test_the_last_member_completes_the_run(store: SqlStore) -> None:
    one, two = both(store)
    write_part(two, [1, 3], outcome=Outcome.FAILED)
    assert store.record("run1").state is RunState.RUNNING  # the other member lives
    assert store.standing("run1").counts == {"failed": 2}
    write_part(one, [0, 2])
    record = store.record("run1")
    assert (record.state, store.members("run1")) == (RunState.FINISHED, [])
    summary = store.summary("run1")
    assert (summary.outcome, summary.counts) == (Outcome.FAILED, {"passed": 2, "failed": 2})
    assert (summary.duration, summary.tokens, summary.attempts, summary.unreported) == (2.0, 40, 4, 2)
    assert summary.spent == [Spent(purpose="judge", model="j", calls=4)]
    assert (summary.models, summary.warnings) == (["m"], ["of all"])
    assert (summary.lost_workers, summary.lost_attempts) == (2, 4)


def test_a_complete_run_of_members_is_like_a_run_of_one_process(store: SqlStore) -> None:
    one, two = both(store)
    write_part(one, [0, 2])
    write_part(two, [1, 3])
    write_run(store, "run2", cases=CASES)
    alone, together = store.load("run2"), store.load("run1")
    assert [*map(shown, together.cases)] == [*map(shown, alone.cases)]
    store.begin_scoring("run1", scoring(0.9), Heard()).finish(
        RunSummary(outcome=Outcome.PASSED), complete=True
    )
    store.delete(["run1"])
    assert [entry.run_id for entry in store.index()] == ["run2"]


def test_totals_of_an_incomplete_run_are_sums_over_its_members(store: SqlStore) -> None:
    one, two = both(store)
    write_part(one, [0, 2], done=1)
    write_part(two, [1, 3])
    run, standing = store.load("run1"), store.standing("run1")
    assert (standing.trials, standing.counts, standing.complete) == (3, {"passed": 3}, False)
    assert standing.seconds == 2.0
    assert [case.outcome.value for case in run.cases] == ["passed", "passed", "not_run", "passed"]
    assert store.record("run1").state is RunState.UNFINISHED
    assert [(one.part, one.is_complete, one.trials) for one in store.members("run1")] == [
        (1, False, 1),
        (2, True, 2),
    ]


def test_a_part_is_continued_by_the_process_that_takes_it_next(store: SqlStore) -> None:
    one, two = both(store)
    write_part(one, [0, 2], done=1)
    again = joined(store, 1)
    assert all(member.is_ready for member in again.members())  # the run has begun: nobody waits again
    write_part(again, [0, 2])  # a record that is written twice is counted once
    write_part(two, [1, 3])
    assert store.summary("run1").counts["passed"] == 2 + 2
    assert store.standing("run1").trials == CASES


def test_a_process_that_lost_its_part_writes_nothing_more(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(leases, "this_process", lambda: ELSEWHERE)
        one, _ = both(store)
    writer = one.writer([0, 2], Heard())
    with monkeypatch.context() as patched:
        patched.setattr(leases, "held_by", lambda *_: None)
        patched.setattr("proctor.stores.sql.members.held_by", lambda *_: None)  # its time is over
        again = joined(store, 1)
    writer.put(records(0))
    with pytest.raises(StoreError, match=r"another process has taken over run run1.*clocks differ"):
        writer.finish(RunSummary(), complete=False)
    write_part(again, [0, 2])
    assert store.standing("run1").trials == 2


@pytest.mark.parametrize(
    ("prepare", "part", "parts", "error", "message"),
    [
        pytest.param(both, 1, 2, RunInUseError, "part 1/2 of run run1 is being worked on by", id="two of one part"),
        pytest.param(lambda store: joined(store, 1), 2, 3, SetupError, "has 2 parts, and --shard 2/3 expects 3", id="another N"),
        pytest.param(lambda store: write_run(store, cases=CASES), 1, 2, SetupError, "run run1 has ended", id="ended"),
        pytest.param(lambda store: write_run(store, cases=CASES, done=[0]), 1, 2, SetupError, "is a run of one process", id="of one process"),
    ],
)  # fmt: skip
def test_a_member_that_cannot_join_is_refused(
    store: SqlStore, prepare: Callable[[SqlStore], object], part: int, parts: int, error: type, message: str
) -> None:
    prepare(store)
    with pytest.raises(error, match=message):
        joined(store, part, parts)


def test_a_run_that_never_began_is_deleted_with_the_last_member_that_leaves(store: SqlStore) -> None:
    one, two = joined(store, 1), joined(store, 2)
    two.refuse("it runs other code")
    assert [member.refusal for member in one.members()] == ["", "it runs other code"]
    assert one.leave()
    assert list(store.runs()) == []


def test_a_member_cannot_leave_once_all_are_ready(store: SqlStore) -> None:
    one, two = both(store)
    assert not one.leave()
    two.refuse("too late")
    assert [member.refusal for member in one.members()] == ["", ""]


def test_a_new_attempt_replaces_a_run_whose_members_died_before_it_began(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = leases.this_process()
    with monkeypatch.context() as patched:
        dead = Holder(gone.host, gone.machine, 1 << 22, "1")
        patched.setattr(leases, "this_process", lambda: dead)
        joined(store, 1).set_ready()
    again = joined(store, 2, 3)
    assert [(member.part, member.parts) for member in again.members()] == [(2, 3)]


def test_other_processes_leave_a_run_alone_while_members_write_it(store: SqlStore) -> None:
    one, _ = both(store)
    not_complete = "run run1 is not complete: several processes write it"
    with pytest.raises(StoreError, match=not_complete):
        store.resume("run1", Heard())
    with pytest.raises(StoreError, match=not_complete):
        store.begin_scoring("run1", scoring(), Heard())
    with pytest.raises(RunInUseError):
        store.delete(["run1"])
    one.release()


def test_a_commit_that_was_not_acknowledged_is_not_counted_twice(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection is lost after each of the last two commits: one of evidence, one that completes the run."""
    one, two = both(store)
    write_part(two, [1, 3])
    heard = Heard()
    writer = one.writer([0, 2], heard)
    assert isinstance(writer, Writer)
    write, losses = writer._write, [1, 2]

    def broken(database: Database, rows: Rows, end: Any, *, is_wait: bool) -> None:
        write(database, rows, end, is_wait=is_wait)
        if losses:
            losses.pop()
            raise LostConnectionError("lost after the commit")

    monkeypatch.setattr(writer, "_write", broken)
    writer.put([*records(0), *records(2)], "both")
    heard.wait_for(1)
    writer.finish(RunSummary(outcome=Outcome.PASSED, counts={"passed": 2}), complete=True)
    assert store.record("run1").state is RunState.FINISHED
    assert [case.outcome for case in store.load("run1").cases] == [Outcome.PASSED] * CASES


def test_an_incomplete_run_is_copied_as_an_unfinished_run(store: SqlStore) -> None:
    one, two = both(store)
    write_part(one, [0, 2])
    two.release()
    other = open_store_url(f"memory:{secrets.token_hex(8)}")
    assert isinstance(other, SqlStore)
    assert copy_run(store._database, other._database, "run1")
    assert other.standing("run1").trials == 2
    assert [*map(shown, other.load("run1").cases)] == [*map(shown, store.load("run1").cases)]
    other.close()
