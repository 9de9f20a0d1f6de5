"""Progress of a run: the few numbers that an observer polls."""

import os
import time

import pytest

from proctor.errors import UnknownNameError
from proctor.schema.results.manifest import RunState
from proctor.schema.results.run_result import Outcome
from proctor.stores.base import RunWriter, ScoreRecord, TrialRecord, VerdictRecord
from proctor.stores.sql.store import SqlStore
from tests.stores.sample_runs import (
    METRIC,
    Heard,
    begun,
    case_json,
    evidence,
    manifest,
    planned,
    records,
    score,
    scoring,
    verdict,
    write_run,
)


def test_running_run_reports_its_progress_and_its_worker(store: SqlStore) -> None:
    heard = Heard()
    writer = begun(store, heard=heard)
    before = store.standing("run1")
    assert (before.state, before.cases, before.trials, before.counts) == (RunState.RUNNING, 3, 0, {})
    assert before.worker_pid == os.getpid()
    assert str(os.getpid()) in before.worker
    assert (before.in_flight, before.lost_workers) == (0, "")
    writer.live_figures = lambda: {"in_flight": 4, "lost_workers": 1, "lost_attempts": 2}
    writer.put([TrialRecord(1, 0, 0, evidence(1), failed=False, case=case_json(1))], "evidence")
    heard.wait_for(1)
    assert (store.standing("run1").trials, store.standing("run1").counts) == (1, {})
    assert store.record("run1").trials == 1
    writer.put(
        [
            ScoreRecord(1, 0, 0, {METRIC: score()}),
            VerdictRecord(1, verdict(1, [score()], Outcome.FAILED)),
        ],
        "verdict",
    )
    heard.wait_for(2)
    after = store.standing("run1")
    assert (after.counts, after.complete) == ({"failed": 1}, False)
    assert after.seconds > 0
    assert (after.in_flight, after.lost_workers) == (4, "1 worker lost with 2 attempts at trials")
    writer.close()
    left = store.standing("run1")
    assert (left.in_flight, left.lost_workers) == (0, after.lost_workers)
    assert (store.summary("run1").in_flight, store.summary("run1").lost_attempts) == (0, 2)


@pytest.mark.slow  # it waits for a second
def test_trials_in_flight_are_known_before_the_first_one_ends(store: SqlStore) -> None:
    writer = begun(store)
    writer.live_figures = lambda: {"in_flight": 4}
    until = time.monotonic() + 10
    while not store.standing("run1").in_flight and time.monotonic() < until:
        time.sleep(0.05)
    assert store.standing("run1").in_flight == 4
    assert store.record("run1").trials == 0
    writer.close()


def leave(writer: RunWriter, heard: Heard) -> None:
    """End a writer without a summary while the agent runs four trials, as a process that is killed."""
    writer.live_figures = lambda: {"in_flight": 4}
    writer.put(records(0), "case")
    heard.wait_for(1)
    writer.close()


@pytest.mark.parametrize("again", ["resume", "score"])
def test_trials_of_a_dead_process_are_not_in_flight_when_another_one_takes_the_run(
    store: SqlStore, again: str
) -> None:
    heard = Heard()
    leave(begun(store, heard=heard), heard)
    writer = (
        store.resume("run1", Heard())
        if again == "resume"
        else store.begin_scoring("run1", scoring(), Heard())
    )
    try:
        assert store.record("run1").state is RunState.RUNNING
        assert (store.standing("run1").in_flight, store.summary("run1", 1).in_flight) == (0, 0)
    finally:
        writer.close()


def test_trials_of_a_dead_member_are_not_in_flight_when_its_part_is_started_again(store: SqlStore) -> None:
    heard = Heard()
    whole = manifest("run1", cases=3), planned(3), scoring()
    member = store.join(*whole, part=1, parts=1)
    member.set_ready()
    leave(member.writer([0, 1, 2], heard), heard)
    store.join(*whole, part=1, parts=1)
    assert (store.standing("run1").state, store.standing("run1").in_flight) == (RunState.RUNNING, 0)


def test_run_without_a_worker_names_none(store: SqlStore) -> None:
    begun(store).close()
    left = store.standing("run1")
    assert (left.state, left.worker, left.worker_pid) == (RunState.UNFINISHED, "", None)


def test_a_finished_run_is_complete(store: SqlStore) -> None:
    write_run(store, cases=3)
    found = store.standing("run1")
    assert (found.state, found.trials, found.counts, found.complete) == (
        RunState.FINISHED,
        3,
        {"passed": 3},
        True,
    )


@pytest.mark.parametrize(("run", "scoring"), [("another", 1), ("run1", 2), ("run1", 0)])
def test_missing_run_has_no_progress(store: SqlStore, run: str, scoring: int) -> None:
    write_run(store, cases=1)
    with pytest.raises(UnknownNameError, match=r"No scoring"):
        store.standing(run, scoring)
