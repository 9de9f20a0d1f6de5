"""What a store promises, of every kind: runs go in as they happen, and come out again."""

import json
import secrets
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import StoreError, UnknownNameError
from proctor.schema.results.manifest import RunDetails, RunState, RunSummary
from proctor.schema.results.run_result import Outcome
from proctor.stores.base import ScoreRecord, TrialRecord, VerdictRecord
from proctor.stores.sql import writer
from proctor.stores.sql.store import SqlStore
from proctor.stores.sqlite.file import open_sqlite_store
from tests.stores.sample_runs import (
    METRIC,
    Heard,
    begun,
    case_json,
    case_of,
    evidence,
    manifest,
    opened,
    planned,
    records,
    score,
    scoring,
    shown,
    trials_of,
    verdict,
    write_run,
)


def test_what_was_written_comes_out_again(store: SqlStore) -> None:
    write_run(store, cases=3)
    run = store.load("run1")
    assert [shown(case) for case in run.cases] == [
        shown(verdict(i, [score()], Outcome.PASSED)) for i in range(3)
    ]
    assert (run.run_id, run.agent, run.num_runs, run.started_at, run.duration) == (
        "run1",
        "my agent",
        1,
        1_700_000_000.25,
        1.5,
    )
    assert run.counts == {Outcome.PASSED: 3}
    assert run.outcome is Outcome.PASSED
    assert [(one.eval_set_id, one.path, one.config_source, one.metrics) for one in run.sets] == [
        ("basics", "basics.evalset.json", "test_config.json", [METRIC, "latency"])
    ]


def test_manifest_scoring_plan_and_case_come_out_as_they_went_in(store: SqlStore) -> None:
    write_run(store, cases=3)
    assert store.manifest("run1") == manifest()
    assert store.scorings("run1") == [scoring().model_copy(update={"finished": True})]
    assert list(store.planned("run1")) == planned(3)
    for positions in ([], [2], [2, 0], range(1, 3)):
        assert list(store.planned("run1", positions)) == [planned(3)[position] for position in positions]
    assert case_of(store, "run1", 2) == case_json(2)
    assert trials_of(store, "run1", 1, 1)[0].evidence == evidence(1)


def test_trials_of_a_case_are_there_before_its_verdict(store: SqlStore) -> None:
    heard = Heard()
    writer = begun(store, heard=heard)
    writer.put([TrialRecord(1, 0, 0, evidence(1), failed=False, case=case_json(1))], "evidence")
    heard.wait_for(1)
    (trial,) = trials_of(store, "run1", 1, 1)
    assert (trial.number, trial.attempt, trial.failed, trial.scores) == (0, 0, False, {})
    writer.put([ScoreRecord(1, 0, 0, {METRIC: score(0.25, "close")})], "scores")
    heard.wait_for(2)
    assert trials_of(store, "run1", 1, 1)[0].scores == {METRIC: score(0.25, "close")}
    assert store.outcomes("run1", 1) == {}
    case = store.load("run1").cases[1]
    assert case.outcome is Outcome.NOT_RUN
    assert case.reason == "no verdict yet; 1 trial was recorded"
    assert case.trials[0].trial is not None
    writer.close()


def test_cases_that_were_not_reached_are_not_run(store: SqlStore) -> None:
    write_run(store, cases=5, done=[0, 3])
    run = store.load("run1")
    assert [case.outcome for case in run.cases] == [
        Outcome.PASSED,
        Outcome.NOT_RUN,
        Outcome.NOT_RUN,
        Outcome.PASSED,
        Outcome.NOT_RUN,
    ]
    assert run.counts == {Outcome.PASSED: 2, Outcome.NOT_RUN: 3}
    assert run.cases[1].place == "basics.evalset.json:2"
    assert case_of(store, "run1", 1) is None
    assert store.outcomes("run1", 1) == {0: Outcome.PASSED, 3: Outcome.PASSED}


def test_cases_are_a_sequence(store: SqlStore) -> None:
    write_run(store, cases=230)  # more than are read at once
    cases = store.load("run1").cases
    ids = [f"case_{i}" for i in range(230)]
    assert len(cases) == 230
    assert [case.eval_id for case in cases] == ids
    assert [case.eval_id for case in cases[3:220]] == ids[3:220]
    assert [case.eval_id for case in cases[200:10:-70]] == ids[200:10:-70]
    assert cases[-1].eval_id == "case_229"
    assert cases[5:5] == []
    with pytest.raises(IndexError):
        cases[230]


def test_a_case_is_found_by_its_id(store: SqlStore) -> None:
    write_run(store, cases=3)
    run = store.load("run1")
    assert run.case("case_2").place == "basics.evalset.json:3"
    assert run.case("case_2", "basics").eval_id == "case_2"
    with pytest.raises(KeyError):
        run.case("case_2", "another set")
    with pytest.raises(KeyError):
        run.case("case_77")


@pytest.mark.nightly(check=3)
@pytest.mark.parametrize(
    "positions",
    [
        pytest.param(range(230), id="all"),
        pytest.param(range(7, 219), id="a part"),
        pytest.param([0, 3, 4, 228], id="some"),
        pytest.param([-1, 5, 230], id="cases that the run does not have"),
        pytest.param([], id="none"),
    ],
)
def test_cases_and_trials_are_read_together(store: SqlStore, positions: Sequence[int]) -> None:
    write_run(store, "other", cases=230)
    write_run(store, cases=230)  # more than are read at once
    there = [position for position in positions if 0 <= position < 230]
    assert [*store.case_documents("run1", positions)] == [(at, case_json(at)) for at in there]
    trials = [*store.trials("run1", positions, 1)]
    assert [(at, [one.evidence for one in own]) for at, own in trials] == [
        (at, [evidence(at)]) for at in there
    ]
    assert all(one.scores == {METRIC: score()} for _, own in trials for one in own)


def test_every_attempt_at_a_trial_is_read_with_its_own_scores(store: SqlStore) -> None:
    writer = begun(store, cases=1)
    for attempt in range(2):
        again = evidence(0, attempt=attempt)
        writer.put([TrialRecord(0, 0, attempt, again, failed=not attempt, case=case_json(0))])
    writer.put([ScoreRecord(0, 0, 1, {METRIC: score(0.5)})])
    writer.close()
    ((_, trials),) = store.trials("run1", [0], 1, every_attempt=True)
    assert [(one.attempt, one.failed, one.scores) for one in trials] == [
        (0, True, {}),
        (1, False, {METRIC: score(0.5)}),
    ]


def test_cases_and_trials_of_an_unknown_run_are_an_error(store: SqlStore) -> None:
    for read in (lambda: store.case_documents("no run", [0]), lambda: store.trials("no run", [0], 1)):
        with pytest.raises(UnknownNameError, match="No run named 'no run'"):
            next(read())


def test_writer_reports_committed_tokens_on_its_own_thread(store: SqlStore) -> None:
    heard = Heard()
    writer = begun(store, cases=20, heard=heard)
    for position in range(20):
        writer.put(records(position), position)
    writer.put([], None)
    writer.finish(RunSummary(), complete=True)
    assert heard.tokens == list(range(20))
    assert threading.get_ident() not in heard.threads
    assert all(tokens for tokens, _ in heard.calls)


def test_later_changes_of_a_record_are_not_written(store: SqlStore) -> None:
    writer = begun(store, cases=1)
    one = score(1.0)
    decided = verdict(0, [one], Outcome.PASSED)
    writer.put([TrialRecord(0, 0, 0, evidence(0), failed=False), ScoreRecord(0, 0, 0, {METRIC: one})])
    writer.put([VerdictRecord(0, decided)])
    one.value, decided.metrics, decided.outcome = 0.0, {}, Outcome.FAILED
    writer.finish(RunSummary(), complete=True)
    assert shown(store.load("run1").cases[0]) == shown(verdict(0, [score(1.0)], Outcome.PASSED))


# --- several runs ----------------------------------------------------------------------------------------------------


def test_runs_are_listed_newest_first_by_creation_not_by_the_clock(store: SqlStore) -> None:
    for run_id, created_at in (("a", 3000.0), ("b", 1000.0), ("c", 2000.0)):  # the clock was set back an hour
        begun(store, run_id, created_at=created_at).close()
    assert [run.run_id for run in store.runs()] == ["c", "b", "a"]
    assert store.find("latest") == "c"


@pytest.mark.slow
@pytest.mark.nightly(check=2)
def test_more_runs_than_are_read_at_once_are_listed(store: SqlStore) -> None:
    for i in range(120):
        begun(store, f"run-{i:03}", cases=0).close()
    assert [run.run_id for run in store.runs()] == [f"run-{i:03}" for i in reversed(range(120))]


def test_summary_of_a_run_gives_its_progress(store: SqlStore) -> None:
    write_run(store, "finished", cases=2)
    write_run(store, "stopped", cases=3, done=[0])
    writer = begun(store, "going on", cases=4)
    lines = {run.run_id: run for run in store.runs()}
    assert {run_id: line.state for run_id, line in lines.items()} == {
        "finished": RunState.FINISHED,
        "stopped": RunState.UNFINISHED,
        "going on": RunState.RUNNING,
    }
    line = lines["finished"]
    assert (line.agent, line.sets, line.cases, line.scorings) == ("my agent", ("basics",), 2, 1)
    assert line.summary == RunSummary(outcome=Outcome.PASSED, counts={"passed": 2}, duration=1.5)
    assert lines["going on"].summary.counts == {"not_run": 4}
    assert lines["stopped"].summary.counts == {"passed": 1, "not_run": 2}
    writer.close()
    assert next(store.runs()).state is RunState.UNFINISHED


@pytest.mark.nightly(check=11)
@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("abcd1", "abcd1"),
        ("abcd", "abcd"),
        ("abce", "abce5"),
        ("latest", "abce5"),
        ("latest~0", "abce5"),
        ("latest~1", "b9"),
        ("previous", "b9"),
        ("latest~3", "abcd"),
        ("b", "b9"),
    ],
)
def test_run_is_found_by_id_by_unambiguous_prefix_or_as_the_latest(
    store: SqlStore, name: str, found: str
) -> None:
    for run_id in ("abcd", "abcd1", "b9", "abce5"):
        begun(store, run_id, cases=1).close()
    assert store.find(name) == found


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("abc", "'abc' is the beginning of 2 runs: abce5, abcd; give more of it"),
        ("xyz", "No run named 'xyz' in"),
        ("xyz", " The newest: abce5, abcd; `proctor runs` lists all"),
        ("latst", ". Did you mean 'latest'? The newest: "),
        ("", "No run named '' in"),
        ("%", "No run named '%' in"),
        ("ABCD", "No run named 'ABCD' in"),
        ("latest~2", "No run 'latest~2': the store "),
        ("latest~2", " has 2 runs. `proctor runs` lists them"),
        ("latest~", "No run named 'latest~' in"),
        ("latest~-1", "No run named 'latest~-1' in"),
        ("latest~1\n", "No run named 'latest~1\\n' in"),
        ("latest~٣", "No run named 'latest~٣' in"),
    ],
)
def test_what_names_no_single_run_is_refused(store: SqlStore, name: str, message: str) -> None:
    for run_id in ("abcd", "abce5"):
        begun(store, run_id, cases=1).close()
    with pytest.raises(UnknownNameError) as raised:
        store.find(name)
    assert message in str(raised.value)


def test_an_empty_store_has_no_latest(store: SqlStore) -> None:
    with pytest.raises(UnknownNameError, match="has no runs yet"):
        store.find("latest")
    assert list(store.runs()) == []


def test_a_name_is_given_to_one_run_only(store: SqlStore) -> None:
    write_run(store)
    with pytest.raises(StoreError, match="it already has a run named run1"):
        begun(store)
    assert len(list(store.runs())) == 1


@pytest.mark.parametrize(
    "asked",
    ["manifest", "scorings", "details", "summary", "load", "planned"],
)
def test_missing_run_is_an_error(store: SqlStore, asked: str) -> None:
    with pytest.raises(UnknownNameError, match="No run named 'gone'"):
        list(getattr(store, asked)("gone"))


# --- going on, and re-scoring ---------------------------------------------------------------------------------------


def test_unfinished_run_is_resumed(store: SqlStore) -> None:
    write_run(store, cases=3, done=[0])
    writer = store.resume("run1", Heard(), added=planned(1, first=3))
    assert (writer.run_id, writer.scoring) == ("run1", 1)
    assert next(store.runs()).state is RunState.RUNNING
    for position in (1, 2, 3):
        writer.put(records(position, outcome=Outcome.FAILED, value=0.0))
    writer.finish(RunSummary(outcome=Outcome.FAILED), complete=True)
    assert store.load("run1").counts == {Outcome.PASSED: 1, Outcome.FAILED: 3}
    assert next(store.runs()).state is RunState.FINISHED
    assert list(store.planned("run1")) == planned(4)


def test_final_records_of_a_resumed_run_are_replaced(
    store: SqlStore,
) -> None:
    write_run(store, cases=2, done=[0])
    writer = store.resume("run1", Heard())
    writer.put(records(1, outcome=Outcome.FAILED))
    writer.close()
    summary = store.summary("run1")
    assert (summary.outcome, summary.counts) == (None, {"passed": 1, "failed": 1})
    assert 1.5 < summary.duration < 60


def test_what_ends_without_a_word_has_taken_the_time_until_its_last_commit(store: SqlStore) -> None:
    taken = [0.0]
    for position in range(3):
        heard, began = Heard(), time.perf_counter()
        writer = store.resume("run1", heard) if position else begun(store, heard=heard)
        time.sleep(0.05)
        writer.put(records(position), position)
        heard.wait_for(1)
        until, there = time.perf_counter() - began, store.summary("run1").duration
        assert taken[-1] + 0.05 <= there <= taken[-1] + until
        writer.close()
        taken.append(there)
    assert store.load("run1").duration == taken[-1]
    assert store.summary("run1").counts == {"passed": 3}


def test_retried_trial_keeps_both_attempts_and_the_last_one_counts(store: SqlStore) -> None:
    writer = begun(store, cases=1)
    writer.put(
        [TrialRecord(0, 0, 0, evidence(0), failed=True), VerdictRecord(0, verdict(0, [None], Outcome.ERROR))]
    )
    writer.finish(RunSummary(outcome=Outcome.ERROR, counts={"error": 1}), complete=True)
    before = store.load("run1").cases[0]
    assert (before.outcome, before.metrics[METRIC].per_trial) == (Outcome.ERROR, [None])

    writer = store.resume("run1", Heard())
    again = evidence(0, attempt=1)
    writer.put([TrialRecord(0, 0, 1, again, failed=False)])
    writer.close()
    assert store.outcomes("run1", 1) == {}  # its verdict rested on the first attempt
    assert [(one.attempt, one.evidence) for one in trials_of(store, "run1", 0, 1)] == [(1, again)]

    writer = store.resume("run1", Heard())
    one = score(1.0)
    writer.put([ScoreRecord(0, 0, 1, {METRIC: one}), VerdictRecord(0, verdict(0, [one], Outcome.PASSED))])
    writer.finish(RunSummary(outcome=Outcome.PASSED), complete=True)
    case = store.load("run1").cases[0]
    assert case.metrics[METRIC].per_trial == [one]
    assert case.trials[0].trial is not None
    assert case.trials[0].trial.notes[0] == "attempt 1"


def test_replaced_scores_remove_their_verdict(store: SqlStore) -> None:
    write_run(store, cases=2)
    writer = store.resume("run1", Heard())
    writer.put([ScoreRecord(1, 0, 0, {METRIC: score(0.0)})])
    writer.close()
    assert store.outcomes("run1", 1) == {0: Outcome.PASSED}
    assert store.load("run1").counts == {Outcome.PASSED: 1, Outcome.NOT_RUN: 1}


def test_second_scoring_is_stored_with_the_first(store: SqlStore) -> None:
    write_run(store, cases=2)
    writer = store.begin_scoring("run1", scoring(0.9), Heard())
    assert (writer.run_id, writer.scoring) == ("run1", 2)
    for position in range(2):
        low = score(0.7)
        writer.put([ScoreRecord(position, 0, 0, {METRIC: low})])
        writer.put([VerdictRecord(position, verdict(position, [low], Outcome.FAILED))])
    assert store.load("run1").counts == {Outcome.PASSED: 2}  # until the new one is finished
    assert store.details("run1") == _read_one_by_one(store)
    writer.finish(RunSummary(outcome=Outcome.FAILED, counts={"failed": 2}), complete=True)
    assert store.details("run1") == _read_one_by_one(store)
    assert store.load("run1").counts == {Outcome.FAILED: 2}
    assert store.load("run1", 1).counts == {Outcome.PASSED: 2}
    assert [one.number for one in store.scorings("run1")] == [1, 2]
    assert store.summary("run1", 1).outcome is Outcome.PASSED
    assert store.summary("run1").outcome is Outcome.FAILED
    assert store.load("run1").cases[0].trials[0].trial is not None
    assert trials_of(store, "run1", 0, 1)[0].scores == {METRIC: score(1.0)}
    assert trials_of(store, "run1", 0, 2)[0].scores == {METRIC: score(0.7)}
    (line,) = store.runs()
    assert (line.scorings, line.summary.outcome, line.state) == (2, Outcome.FAILED, RunState.FINISHED)
    with pytest.raises(UnknownNameError, match="has no scoring 3: it has 2"):
        store.load("run1", 3)


def _read_one_by_one(store: SqlStore) -> RunDetails:
    return RunDetails(store.record("run1"), store.manifest("run1"), store.scorings("run1"))


def test_a_scoring_that_was_broken_off_does_not_hide_the_one_before(store: SqlStore) -> None:
    write_run(store, cases=2)
    store.begin_scoring("run1", scoring(0.9), Heard()).close()
    assert store.load("run1").counts == {Outcome.PASSED: 2}
    assert store.load("run1", 2).counts == {Outcome.NOT_RUN: 2}


# --- evidence is never changed -------------------------------------------------------------------------------------------


def test_the_same_evidence_twice_is_kept_once(store: SqlStore) -> None:
    heard = Heard()
    writer = begun(store, heard=heard)
    for token in range(3):
        writer.put(records(0), token)
        heard.wait_for(token + 1)
    writer.finish(RunSummary(), complete=False)
    assert heard.tokens == [0, 1, 2]
    assert len(trials_of(store, "run1", 0, 1)) == 1
    assert store.load("run1").counts == {Outcome.PASSED: 1, Outcome.NOT_RUN: 2}


def test_other_evidence_for_the_same_attempt_is_refused(store: SqlStore) -> None:
    heard = Heard()
    writer = begun(store, heard=heard)
    writer.put(records(0), "first")
    heard.wait_for(1)
    writer.put([*records(1), TrialRecord(0, 0, 0, evidence(0, size=5), failed=False)], "second")
    with pytest.raises(StoreError, match=r"trial 0 of case 0 has other evidence already .* never changed"):
        writer.finish(RunSummary(), complete=True)
    assert (heard.tokens, heard.failed) == (["first"], ["second"])
    assert trials_of(store, "run1", 0, 1)[0].evidence == evidence(0)
    assert store.load("run1").counts == {Outcome.PASSED: 1, Outcome.NOT_RUN: 2}


# --- forgetting ----------------------------------------------------------------------------------------------------------


def test_deleting_runs_frees_what_only_they_needed(store: SqlStore) -> None:
    for run_id, cases in (("small", 2), ("large", 3)):  # they share the cases 0 and 1
        write_run(store, run_id, cases=cases)
    store.delete(["large"])
    assert [run.run_id for run in store.runs()] == ["small"]
    assert case_of(store, "small", 1) == case_json(1)
    assert _rows(store, "documents") == 2
    store.delete(["small"])
    assert list(store.runs()) == []
    tables = ["documents", "trials", "scores", "verdicts", "planned", "judgings", "media", "media_uses"]
    assert {table: _rows(store, table) for table in tables} == dict.fromkeys(tables, 0)


@pytest.mark.parametrize("statement", writer._DELETE_USED_ONLY_HERE)
def test_deleting_a_run_reads_what_it_used_and_not_the_whole_store(path: Path, statement: str) -> None:
    steps = [row[3] for row in opened(path)._database.rows(f"EXPLAIN QUERY PLAN {statement}", (1, 1))]
    assert any(step.startswith("SEARCH") for step in steps)
    assert not [step for step in steps if step.startswith("SCAN")]


def test_deleting_a_run_makes_the_file_smaller(path: Path) -> None:
    store = opened(path)
    write_run(store, "kept")
    writer = begun(store, "large", cases=40)
    for position in range(40):
        noise = json.dumps({"notes": [secrets.token_hex(20_000)]}).encode()
        writer.put([TrialRecord(position, 0, 0, noise, failed=False)])
    writer.finish(RunSummary(), complete=False)
    store.close()
    before = path.stat().st_size
    store = opened(path)
    store.delete(["large"])
    assert store._database.rows("PRAGMA freelist_count") == [(0,)]
    incremental = 2  # no other commit takes the time to shorten the file
    assert store._database.rows("PRAGMA auto_vacuum") == [(incremental,)]
    store.close()
    assert path.stat().st_size < before - 500_000
    assert len(opened(path).load("kept").cases) == 3


def test_numbers_of_deleted_runs_are_not_used_again(store: SqlStore) -> None:
    for run_id in ("a", "b"):
        write_run(store, run_id)
        store.delete([run_id])
    write_run(store, "c")
    assert store._database.rows("SELECT seq FROM runs") == [(3,)]


def test_a_run_that_is_worked_on_is_not_deleted(store: SqlStore) -> None:
    write_run(store, "done")
    writer = begun(store, "going on")
    with pytest.raises(StoreError, match="run going on is being worked on by process"):
        store.delete(["done", "going on"])
    writer.close()
    assert len(list(store.runs())) == 2


def _rows(store: SqlStore, table: str) -> Any:
    return store._database.rows(f"SELECT COUNT(*) FROM {table}")[0][0]


# --- who may do what -----------------------------------------------------------------------------------------------------


def test_one_run_has_one_writer(store: SqlStore) -> None:
    writer = begun(store)
    busy = r"run run1 is being worked on by process \d+ on .* Wait"
    with pytest.raises(StoreError, match=busy):
        store.resume("run1", Heard())
    with pytest.raises(StoreError, match=busy):
        store.begin_scoring("run1", scoring(), Heard())
    writer.put(records(0))
    writer.close()
    store.resume("run1", Heard()).close()
    assert store.load("run1").counts == {Outcome.PASSED: 1, Outcome.NOT_RUN: 2}


@pytest.mark.slow
def test_a_store_is_read_from_any_thread_while_it_is_written(store: SqlStore) -> None:
    writer = begun(store, cases=300)
    wrong: list[object] = []

    def look() -> None:
        try:
            for _ in range(10):
                run = store.load("run1")
                if not all(case.outcome in {Outcome.PASSED, Outcome.NOT_RUN} for case in run.cases):
                    wrong.append(run.counts)
        except Exception as error:  # noqa: BLE001 - a thread's exception would be lost
            wrong.append(error)

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    for position in range(300):
        writer.put(records(position))
    for thread in threads:
        thread.join()
    writer.finish(RunSummary(), complete=True)
    assert wrong == []
    assert store.load("run1").counts == {Outcome.PASSED: 300}


def test_stores_in_memory_are_one_by_name() -> None:
    first, second = open_sqlite_store("memory:shared by name"), open_sqlite_store("memory:another name")
    write_run(first)
    first.close()
    assert open_sqlite_store("memory:shared by name").find("latest") == "run1"
    assert list(second.runs()) == []


def test_finishing_twice_and_closing_after_it_do_nothing(store: SqlStore) -> None:
    writer = begun(store)
    writer.finish(RunSummary(outcome=Outcome.ERROR, counts={"not_run": 3, "passed": 0}), complete=False)
    writer.finish(RunSummary(outcome=Outcome.PASSED), complete=True)
    writer.close()
    assert store.summary("run1").outcome is Outcome.ERROR


def test_a_run_that_is_added_while_the_list_is_read_is_no_damage(store: SqlStore) -> None:
    write_run(store)
    listed = store.runs()
    newest = next(listed)
    write_run(store, "run2")
    assert [newest.run_id, *(run.run_id for run in listed)] == ["run1"]
    assert [run.run_id for run in store.runs()] == ["run2", "run1"]
