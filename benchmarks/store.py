"""W7: keeping runs. Write 10,000 case results as they come, read everything back, list and summarise; bytes a case.

    python -m benchmarks.store ours|bare FOLDER CASES

Every contestant is handed what an evaluation of the same work gave it (see `workload.py`): google-adk its case results,
we and the bare limit the JSON of cases and trials, and scores and verdicts as objects. Reading back ends with objects
again (the bare limit: trials; scores and verdicts stay plain). The bare limit inserts a row a case, unchanged, and commits
every hundred.

The budgets of performance.md are parts of what google-adk took, and what the bare limit took in the same run; both are kept.
"""

from __future__ import annotations

import gc
import sqlite3
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

# the scripts are one package, wherever they start
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import workload
from benchmarks.measuring import Found, alternate, module
from benchmarks.table import BARE, OURS, Budget, Row

METRICS = ("tool_trajectory_avg_score", "response_match_score")


def rows(folder: Path, peers: Mapping[str, Path], repeats: int, *, cases: int = 10_000) -> Iterator[Row]:
    """Measure, one row after the other."""
    contestants = {
        OURS: module("store", "ours", folder / "ours", cases),
        BARE: module("store", "bare", folder / "bare", cases),
    }
    if "adk" in peers:
        contestants["adk"] = module("peer_adk", "store", folder / "adk", cases, python=peers["adk"])
    found = alternate(contestants, repeats)
    write = [Budget(5.1 / 12 / 0.11, BARE), Budget(1 / 12, "adk")]
    read = [Budget(30 / 15 / 1.2, BARE), Budget(1 / 15, "adk")]
    yield _row(f"write {cases:,} case results", "s", found, "write", *write)
    yield _row("read everything back", "s", found, "read", *read)
    yield _row("list the runs and summarise this one", "ms", found, "list", Budget(20, size="20 ms"))
    yield _row("bytes a case on disk", "B", found, "bytes", Budget(5000, size="5 kB"))
    yield _row("peak memory, the results to be written included", "MB", found, "peak")


def _row(what: str, unit: str, found: dict[str, Found], column: str, *budgets: Budget) -> Row:
    figures = {name: one[column] for name, one in found.items() if column in one}
    wall = {name: one[f"{column}_wall"] for name, one in found.items() if f"{column}_wall" in one}
    return Row("W7", what, unit, figures, list(budgets), wall)


# --- the work ------------------------------------------------------------------------------------------------------------


def trials(cases: int) -> list[bytes]:
    """The actions of the scripted agent in each case, as stored."""
    from proctor.schema.evidence.event import Event
    from proctor.schema.evidence.trial import Trial
    from proctor.schema.evidence.turn import Turn
    from proctor.schema.format.content import user_text
    from proctor.schema.serialize import kept_json

    def turn(place: str) -> Turn:
        events = [
            Event.called(workload.TOOL, workload.arguments(place), id="1"),
            Event.returned(workload.TOOL, dict(workload.RESPONSE), id="1"),
            Event.said(workload.answer_text(place)),
        ]
        message = user_text(workload.ASK + place)
        return Turn(user_content=message, events=events, started_at=1.7e9 + 0.125, duration=0.001)

    return [
        kept_json(
            Trial(
                eval_set_id="scripted",
                eval_id=f"case_{case}",
                session_id=f"session-{case:024x}",
                user_id="test_user_id",
                app_name="scripted",
                turns=[turn(workload.city(case, number)) for number in range(2)],
                final_state={},
                started_at=1.7e9 + case / 7,
                duration=0.002,
            )
        )
        for case in range(cases)
    ]


def scored(case: int) -> tuple[Any, Any]:
    """The scores of a case by two metrics, and its verdict."""
    from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, TrialResult
    from proctor.schema.results.score import MetricScore, Score

    if case % workload.FAIL_EVERY:
        outcome, why, details = Outcome.PASSED, "", None
    else:
        outcome = Outcome.FAILED
        why = f'{workload.TOOL} was called with city "{workload.city(case, 0)}", expected "Elsewhere {case}"'
        details = {"alignment": [{"kind": "differs", "expected": workload.arguments(f"Elsewhere {case}")}]}
    value = float(outcome is Outcome.PASSED)
    scores = {
        name: MetricScore(value, [Score(value, why, details), Score(value, why, details)]) for name in METRICS
    }
    result = CaseResult("scripted", f"case_{case}", outcome, why and f"{METRICS[0]} 0.00 < 1: {why}")
    for name, score in scores.items():
        result.metrics[name] = MetricVerdict(name, outcome, value, 0.8, reason=why, per_trial=[score])
    result.trials = [TrialResult(0, outcome, evidence=None)]
    return scores, result


def cases_json(cases: int) -> list[bytes]:
    """Each case as stored."""
    from pydantic_core import to_json

    return [to_json(case) for case in workload.eval_set(cases, app="scripted")["eval_cases"]]


# --- contestants ---------------------------------------------------------------------------------------------------------


def ours(folder: Path, cases: int) -> None:
    """Through the store: evidence first, then scores and the verdict, a few on their way at a time as in a run."""
    from proctor.stores.open import open_store_url

    folder.mkdir(exist_ok=True)
    path = folder / f"{time.time_ns()}.db"
    warm = folder / f"warm-{time.time_ns()}.db"
    _write(warm, 20)
    store = open_store_url(str(warm))
    _read(store, next(store.runs()).run_id)  # validators are built on first use
    store.close()
    found = _write(path, cases)
    watch = workload.Stopwatch()
    store = open_store_url(str(path), read_only=True)
    lines = list(store.runs())
    summary = store.summary(lines[0].run_id)
    listed = watch.stop()
    watch = workload.Stopwatch()
    seen = _read(store, lines[0].run_id)
    read = watch.stop()
    if seen != cases or summary.counts["failed"] != workload.expected_failures(cases):
        sys.exit(f"{seen} of {cases} cases were read")
    store.close()
    found["bytes"] = path.stat().st_size / cases
    path.unlink()
    _report(found, read, listed)


def _read(store: Any, run_id: str) -> int:
    """Everything there is of a run, as objects; returns how many trials that were."""
    return sum(
        1
        for case in store.load(run_id).cases
        for trial in case.trials
        if trial.trial and all(metric.per_trial[0] is not None for metric in case.metrics.values())
    )


def _write(path: Path, cases: int) -> dict[str, float]:
    from proctor.schema.results.manifest import RunSummary
    from proctor.schema.serialize import content_hash
    from proctor.stores.base import ScoreRecord, TrialRecord, VerdictRecord
    from proctor.stores.open import open_store_url

    documents, done = cases_json(cases), trials(cases)
    verdicts = [scored(case) for case in range(cases)]
    store = open_store_url(str(path))
    gc.freeze()  # what is handed in is not looked through again and again
    watch = workload.Stopwatch()
    plan = _planned([content_hash(document) for document in documents])
    writer = store.begin(*plan, lambda _tokens, _error: None)
    for case, (document, trial, (scores, result)) in enumerate(zip(documents, done, verdicts, strict=True)):
        writer.put([TrialRecord(case, 0, 0, trial, failed=False, case=document)], case)
        writer.put([ScoreRecord(case, 0, 0, scores), VerdictRecord(case, result)], case)
    failed = workload.expected_failures(cases)
    counts = {"passed": cases - failed, "failed": failed}
    writer.finish(RunSummary(outcome=verdicts[0][1].outcome, counts=counts), complete=True)
    store.close()
    found = watch.stop()
    return {"write": found["cpu"], "write_wall": found["wall"]}


def _planned(hashes: list[str]) -> tuple[Any, Any, Any]:
    from proctor.schema.results.manifest import (
        AgentManifest,
        JudgedSet,
        Manifest,
        MetricManifest,
        PlannedCase,
        ScoringManifest,
        SetManifest,
    )

    cases = len(hashes)
    manifest = Manifest(
        run_id="scripted",
        created_at=time.time(),
        agent=AgentManifest(label="scripted"),
        sets=[SetManifest(eval_set_id="scripted", path="scripted.evalset.json", cases=cases)],
    )
    planned = (
        PlannedCase(case, "scripted", f"case_{case}", name, f"scripted.evalset.json:{case * 60 + 4}")
        for case, name in enumerate(hashes)
    )
    metrics = [MetricManifest(name=name, definition="definition", threshold=0.8) for name in METRICS]
    return manifest, planned, ScoringManifest(sets=[JudgedSet(eval_set_id="scripted", metrics=metrics)])


def bare(folder: Path, cases: int) -> None:
    """One table, a row a case: the case, what was done, the score and the outcome."""
    from pydantic_core import from_json, to_json

    from proctor.schema.evidence.trial import Trial

    Trial.model_validate_json(trials(1)[0])  # validators are built on first use
    folder.mkdir(exist_ok=True)
    path = folder / f"{time.time_ns()}.db"
    documents, done = cases_json(cases), trials(cases)
    verdicts = [scored(case)[1] for case in range(cases)]
    gc.freeze()
    watch = workload.Stopwatch()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(
        "CREATE TABLE results (id INTEGER PRIMARY KEY, outcome TEXT, document, evidence, verdict)"
    )
    for first in range(0, cases, 100):
        connection.execute("BEGIN")
        connection.executemany(
            "INSERT INTO results VALUES (?, ?, ?, ?, ?)",
            [
                (
                    case,
                    verdicts[case].outcome.value,
                    documents[case],
                    done[case],
                    to_json(verdicts[case].metrics),
                )
                for case in range(first, min(cases, first + 100))
            ],
        )
        connection.execute("COMMIT")
    connection.close()
    found = watch.stop()
    watch = workload.Stopwatch()
    connection = sqlite3.connect(path)
    connection.execute("SELECT outcome, COUNT(*) FROM results GROUP BY outcome").fetchall()
    listed = watch.stop()
    watch = workload.Stopwatch()
    for row in connection.execute("SELECT evidence, verdict FROM results"):
        Trial.model_validate_json(row[0])
        from_json(row[1])
    read = watch.stop()
    connection.close()
    size = path.stat().st_size / cases
    path.unlink()
    _report({"write": found["cpu"], "write_wall": found["wall"], "bytes": size}, read, listed)


def _report(found: dict[str, float], read: dict[str, float], listed: dict[str, float]) -> None:
    times = {"read": read["cpu"], "read_wall": read["wall"], "list": listed["wall"] * 1000}
    workload.report(**found, **times)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["ours", folder, cases]:
            ours(Path(folder), int(cases))
        case ["bare", folder, cases]:
            bare(Path(folder), int(cases))
        case _:
            sys.exit(__doc__)
