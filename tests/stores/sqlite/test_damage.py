"""A power cut and bit flips: a store opens with all commits up to some moment, or reports that it is damaged."""

import random
import sqlite3
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

from proctor.errors import StoreError
from proctor.schema.results.manifest import RunState, RunSummary
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, TrialResult
from proctor.schema.results.score import MetricScore, Score
from proctor.stores.base import Record, ScoreRecord, TrialRecord, VerdictRecord
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
    scoring,
    shown,
    trials_of,
    write_run,
)

CASES = 120


def _case(position: int) -> CaseResult:
    """A case of which every part depends on its position."""
    value = position / 1000
    score = MetricScore(value, [Score(value, f"reason {position}")])
    verdict = MetricVerdict(
        METRIC, Outcome.FAILED, value, 0.5, reason=f"because {position}", per_trial=[score]
    )
    trial = TrialResult(0, Outcome.FAILED, evidence=evidence(position, size=position * 7 % 3000))
    where = f"basics.evalset.json:{position + 1}"
    return CaseResult(
        "basics", f"case_{position}", Outcome.FAILED, f"why {position}", {METRIC: verdict}, [trial], where
    )


def _records(position: int) -> list[Record]:
    case = _case(position)
    shown_bytes = evidence(position, size=position * 7 % 3000)
    (score,) = case.metrics[METRIC].per_trial
    assert score is not None
    return [
        TrialRecord(position, 0, 0, shown_bytes, failed=False, case=case_json(position)),
        ScoreRecord(position, 0, 0, {METRIC: score}),
        VerdictRecord(position, case),
    ]


@dataclass(frozen=True)
class Copy:
    """The files of a store at some moment, how many cases had been acknowledged before, and how many put by then."""

    database: bytes
    log: bytes
    acknowledged: int
    put: int


class _Copier(threading.Thread):
    """Copies a store's files, again and again, while they are written."""

    def __init__(self, path: Path, heard: Heard, put: list[int]) -> None:
        super().__init__()
        self.path, self.heard, self.put = path, heard, put
        self.copies: list[Copy] = []
        self.stopped = threading.Event()

    def run(self) -> None:
        log = self.path.with_name(self.path.name + "-wal")
        while not self.stopped.is_set():
            acknowledged, generation = len(self.heard.tokens), log.read_bytes()[:32]
            # as on a disk that loses power: the writes of a checkpoint are still in the log
            database, logged = self.path.read_bytes(), log.read_bytes()
            if logged[:32] == generation:  # else the log was restarted in between
                self.copies.append(Copy(database, logged, acknowledged, len(self.put)))
            self.stopped.wait(0.003)


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> list[Copy]:
    """Copies of a store, taken while a run was written with a commit for one case or for a few."""
    path = tmp_path_factory.mktemp("damage") / "runs.db"
    heard, put = Heard(), list[int]()
    store = open_sqlite_store(str(path))
    writer = begun(store, cases=CASES, heard=heard)
    copier = _Copier(path, heard, put)
    copier.start()
    for position in range(CASES):
        put.append(position)
        writer.put(_records(position), position)
        if position % 3 == 0:
            heard.wait_for(position + 1)
    heard.wait_for(CASES)
    copier.stopped.set()
    copier.join()
    writer.finish(RunSummary(outcome=Outcome.FAILED, counts={"failed": CASES}), complete=True)
    store.close()
    finished = Copy(path.read_bytes(), b"", CASES, CASES)
    assert len(copier.copies) > 10
    assert {0, CASES} < {copy.acknowledged for copy in copier.copies} | {0, CASES}
    return [*copier.copies, *[finished] * (len(copier.copies) // 3)]


def _cases_in(folder: Path, database: bytes, log: bytes, *, read_only: bool) -> int | None:
    """How many cases a store has, all of which are right and before all that it has not; `None`: it has no run.

    Raises:
        StoreError: it reports the damage.
    """
    path = folder / "runs.db"
    for suffix, content in (("", database), ("-wal", log), ("-shm", b"")):
        file = path.with_name(path.name + suffix)
        file.unlink(missing_ok=True)
        if content:
            file.write_bytes(content)
    store = open_sqlite_store(str(path), read_only=read_only)
    try:
        return _right_cases(store)
    finally:
        store.close()


def _right_cases(store: SqlStore) -> int | None:
    if not (lines := list(store.runs())):
        return None
    assert [line.run_id for line in lines] == [store.find("latest")] == ["run1"]
    assert store.manifest("run1") == manifest(cases=CASES)
    (judged,) = store.scorings("run1")
    assert judged.model_copy(update={"finished": False}) == scoring()
    assert judged.finished is (lines[0].state is RunState.FINISHED)
    assert list(store.planned("run1")) == planned(CASES)
    run = store.load("run1")
    done = [i for i, case in enumerate(run.cases) if case.outcome is not Outcome.NOT_RUN]
    assert done == list(range(len(done))), "cases are missing in between"
    for position, case in enumerate(run.cases[: len(done)]):
        assert shown(case) == shown(_case(position))
        assert case_of(store, "run1", position) == case_json(position)
    assert run.counts.get(Outcome.FAILED, 0) == len(done) == len(store.outcomes("run1", 1))
    assert (lines[0].state is RunState.FINISHED) <= (len(done) == CASES)
    return len(done)


@pytest.mark.nightly(check=16)
@pytest.mark.parametrize(
    "change",
    [
        "UPDATE runs SET agent = 'another agent'",
        "UPDATE runs SET created_at = created_at + 1",
        "UPDATE runs SET manifest = REPLACE(manifest, 'c0ffee', 'c0ffef')",
        "UPDATE runs SET complete = 0",
        "UPDATE runs SET cases = 2",
        "UPDATE runs SET trials = 2",
        "UPDATE runs SET holder_pid = 1, lease_until = 'soon'",
        "UPDATE judgings SET judging = REPLACE(judging, '0.5', '0.6')",
        "UPDATE judgings SET summary = REPLACE(summary, '3', '2')",
        "UPDATE judgings SET summary = NULL",
        "UPDATE judgings SET counts = '{\"passed\":2}'",
        "UPDATE judgings SET counts = 7",
        "UPDATE planned SET eval_id = 'case_7' WHERE position = 1",
        "UPDATE planned SET place = x'00' WHERE position = 1",
        "UPDATE planned SET position = 7 WHERE position = 1",
        "UPDATE documents SET body = REPLACE(body, 'case_1', 'case_7')",
        "UPDATE trials SET evidence = CAST(REPLACE(evidence, 'case_1', 'case_7') AS BLOB) WHERE position = 1",
        "UPDATE trials SET evidence = CAST(evidence AS TEXT) WHERE position = 1",
        "UPDATE trials SET failed = 1 WHERE position = 1",
        "UPDATE trials SET number = 1 WHERE position = 1",
        "UPDATE trials SET position = 7 WHERE position = 1",
        "UPDATE scores SET scores = CAST(REPLACE(scores, '1.0', '0.9') AS BLOB) WHERE position = 1",
        "UPDATE scores SET attempt = 1 WHERE position = 1",
        "UPDATE verdicts SET outcome = 'failed' WHERE position = 1",
        "UPDATE verdicts SET verdict = REPLACE(verdict, 'why', 'hwy') WHERE position = 1",
        "UPDATE verdicts SET position = 7 WHERE position = 1",
        "DELETE FROM runs",
        "DELETE FROM judgings",
        "DELETE FROM planned WHERE position = 1",
        "DELETE FROM planned WHERE position = 2",
        "DELETE FROM documents",
        "DELETE FROM trials WHERE position = 1",
        "DELETE FROM scores WHERE position = 1",
        "DELETE FROM verdicts WHERE position = 1",
        "DROP TABLE verdicts",
    ],
)
def test_any_changed_or_missing_byte_is_detected(path: Path, change: str) -> None:
    store = opened(path)
    write_run(store)
    _read_everything(store)
    store.close()
    connection = sqlite3.connect(path)
    assert connection.execute(change).rowcount != 0
    connection.commit()
    connection.close()
    store = opened(path)
    with pytest.raises(StoreError) as raised:
        _read_everything(store)
    assert str(path) in str(raised.value)


def _read_everything(store: SqlStore) -> None:
    for line in store.runs():
        store.manifest(line.run_id)
        store.scorings(line.run_id)
        run = store.load(line.run_id)
        list(store.planned(line.run_id))
        for position, case in enumerate(run.cases):
            assert case.trials[0].trial is not None
            assert case_of(store, line.run_id, position) == case_json(position)
            assert trials_of(store, line.run_id, position, 1)[0].scores == case_scores(case)


def case_scores(case: CaseResult) -> dict[str, MetricScore | None]:
    return {name: metric.per_trial[0] for name, metric in case.metrics.items()}


MANY = [25, pytest.param(1000, marks=pytest.mark.nightly)]


@pytest.mark.slow
def test_every_moment_of_a_run_has_at_least_what_was_acknowledged(copies: list[Copy], tmp_path: Path) -> None:
    for copy in copies:
        found = _cases_in(tmp_path, copy.database, copy.log, read_only=False)
        assert found is not None
        assert copy.acknowledged <= found <= copy.put


@pytest.mark.slow
@pytest.mark.parametrize("rounds", MANY)
def test_a_log_that_is_cut_anywhere_gives_what_was_committed_up_to_there(
    copies: list[Copy], tmp_path: Path, rounds: int
) -> None:
    chance, found = random.Random(10), list[int]()
    logged = [copy for copy in copies if copy.log]
    for _ in range(rounds):
        copy = chance.choice(logged)
        cut = copy.log[: chance.randrange(len(copy.log))]
        found.append(_cases_in(tmp_path, copy.database, cut, read_only=chance.random() < 0.3) or 0)
        assert found[-1] <= copy.put
    assert len(set(found)) > 5


@pytest.mark.slow
@pytest.mark.parametrize("rounds", MANY)
def test_flipped_bits_are_never_taken_for_results(copies: list[Copy], tmp_path: Path, rounds: int) -> None:
    chance = random.Random(11)
    sound = damaged = 0
    for number in range(rounds):
        copy = chance.choice(copies)
        in_log = bool(copy.log) and chance.random() < 0.3
        hit = bytearray(copy.log if in_log else copy.database)
        places = [
            (chance.randrange(len(hit)), 1 << chance.randrange(8))
            for _ in range(chance.choice([1, 1, 2, 20]))
        ]
        for place, bit in places:
            hit[place] ^= bit
        database, log = (copy.database, bytes(hit)) if in_log else (bytes(hit), copy.log)
        try:
            found = _cases_in(tmp_path, database, log, read_only=chance.random() < 0.3)
        except StoreError as error:
            damaged += str(tmp_path) in str(error)
            continue
        except Exception as error:
            error.add_note(f"round {number}, in the {'log' if in_log else 'file'}: {places}")
            raise
        if not in_log:
            assert found is not None, f"round {number}: {places}"
            assert copy.acknowledged <= found <= copy.put, f"round {number}: {places}"
        sound += 1
    assert damaged + sound == rounds, "a message about damage names no path"
    print(f"{rounds} rounds: {damaged} reported as damaged, {sound} with sound content")
    assert damaged
    assert sound


@pytest.mark.slow
@pytest.mark.parametrize("rounds", MANY)
def test_file_that_is_cut_or_partly_overwritten_gives_no_results(
    copies: list[Copy], tmp_path: Path, rounds: int
) -> None:
    chance, finished = random.Random(12), copies[-1].database
    for number in range(rounds):
        hit = bytearray(finished)
        place, length = chance.randrange(len(hit)), chance.choice([100, 512, 4096, 16384])
        if chance.random() < 0.3:
            del hit[place:]
        else:
            hit[place : place + length] = chance.choice([bytes(length), chance.randbytes(length)])[
                : len(hit) - place
            ]
        try:
            found = _cases_in(tmp_path, bytes(hit), b"", read_only=chance.random() < 0.3)
        except StoreError:
            continue
        except Exception as error:
            error.add_note(f"round {number}: {place}, {length}")
            raise
        assert found == CASES, f"round {number}: {place}, {length}"
