"""Runs to be stored: small, made of numbers, and easy to compare."""

import json
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from proctor.schema.results.manifest import (
    AgentManifest,
    JudgedSet,
    Manifest,
    MetricManifest,
    PlannedCase,
    RunSummary,
    ScoringManifest,
    SetManifest,
)
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, TrialResult
from proctor.schema.results.score import MetricScore, Score
from proctor.stores.base import (
    Record,
    RunWriter,
    ScoreRecord,
    Store,
    StoredTrial,
    TrialRecord,
    VerdictRecord,
)
from proctor.stores.sql.store import SqlStore
from proctor.stores.sqlite.file import open_sqlite_store

METRIC = "exactness"
FIRST = b"SQLite format 3\x00"


def manifest(run_id: str = "run1", *, cases: int = 3, created_at: float = 1_700_000_000.25) -> Manifest:
    return Manifest(
        run_id=run_id,
        created_at=created_at,
        agent=AgentManifest(reference="my.agent", label="my agent", commit="c0ffee+"),
        sets=[SetManifest(eval_set_id="basics", path="basics.evalset.json", cases=cases)],
        options={"concurrency": 4},
        versions={"python": "3.11"},
    )


def scoring(threshold: float = 0.5) -> ScoringManifest:
    metrics = [
        MetricManifest(name="latency", definition="d1", gate=False),
        MetricManifest(name=METRIC, definition="d2", threshold=threshold),
    ]
    return ScoringManifest(
        created_at=1_700_000_001.0,
        sets=[JudgedSet(eval_set_id="basics", config_source="test_config.json", metrics=metrics)],
    )


def case_json(position: int) -> bytes:
    return json.dumps({"eval_id": f"case_{position}", "conversation": []}).encode()


def planned(cases: int, *, first: int = 0) -> list[PlannedCase]:
    return [
        PlannedCase(i, "basics", f"case_{i}", f"hash-{i}", f"basics.evalset.json:{i + 1}")
        for i in range(first, first + cases)
    ]


def evidence(position: int, number: int = 0, *, attempt: int = 0, size: int = 0) -> bytes:
    trial = {"eval_set_id": "basics", "eval_id": f"case_{position}", "number": number, "turns": []}
    if attempt or size:
        trial["notes"] = [f"attempt {attempt}", "x" * size]
    return json.dumps(trial).encode()


def score(value: float | None = 1.0, reason: str = "") -> MetricScore:
    return MetricScore(value, [Score(value, reason)])


def verdict(position: int, scores: Sequence[MetricScore | None], outcome: Outcome) -> CaseResult:
    """What the engine makes of the scores of a case's trials."""
    trials = [
        TrialResult(number, Outcome.ERROR if one is None else outcome, evidence=evidence(position, number))
        for number, one in enumerate(scores)
    ]
    metric = MetricVerdict(METRIC, outcome, 0.5, 0.5, reason="why", per_trial=list(scores))
    where = f"basics.evalset.json:{position + 1}"
    return CaseResult("basics", f"case_{position}", outcome, "why", {METRIC: metric}, trials, where)


def records(
    position: int, *, value: float = 1.0, outcome: Outcome = Outcome.PASSED, attempt: int = 0, size: int = 0
) -> list[Record]:
    """All that is written of a case of one trial."""
    one = score(value)
    shown = evidence(position, attempt=attempt, size=size)
    return [
        TrialRecord(position, 0, attempt, shown, failed=False, case=case_json(position)),
        ScoreRecord(position, 0, attempt, {METRIC: one}),
        VerdictRecord(position, verdict(position, [one], outcome)),
    ]


class Heard:
    """The committed tokens that a writer reports, and the thread that it reports from."""

    def __init__(self) -> None:
        self.calls: list[tuple[list[object], Exception | None]] = []
        self.threads: set[int] = set()
        self._changed = threading.Condition()

    def __call__(self, tokens: Sequence[object], error: Exception | None) -> None:
        with self._changed:
            self.calls.append((list(tokens), error))
            self.threads.add(threading.get_ident())
            self._changed.notify_all()

    @property
    def tokens(self) -> list[object]:
        """Those that are on disk."""
        return [token for tokens, error in self.calls if error is None for token in tokens]

    @property
    def failed(self) -> list[object]:
        """Those that are not."""
        return [token for tokens, error in self.calls if error is not None for token in tokens]

    def wait_for(self, count: int, *, seconds: float = 30.0) -> None:
        """Wait until so many tokens were heard of."""
        with self._changed:
            heard = self._changed.wait_for(
                lambda: sum(len(tokens) for tokens, _ in self.calls) >= count, seconds
            )
        assert heard, f"heard of {self.calls}, not of {count} tokens"


def begun(
    store: Store, run_id: str = "run1", *, cases: int = 3, heard: Heard | None = None, **facts: Any
) -> RunWriter:
    return store.begin(manifest(run_id, cases=cases, **facts), planned(cases), scoring(), heard or Heard())


def write_run(
    store: Store, run_id: str = "run1", *, cases: int = 3, done: Iterable[int] | None = None
) -> None:
    """A run of which some cases (by default all) were done; complete when all were."""
    positions = list(range(cases)) if done is None else list(done)
    writer = begun(store, run_id, cases=cases)
    for position in positions:
        writer.put(records(position))
    summary = RunSummary(outcome=Outcome.PASSED, counts={"passed": len(positions)}, duration=1.5)
    writer.finish(summary, complete=len(positions) == cases)


OPEN: list[SqlStore] = []
"""Stores that are closed when a test ends."""


def opened(path: Path, *, read_only: bool = False) -> SqlStore:
    OPEN.append(open_sqlite_store(str(path), read_only=read_only))
    return OPEN[-1]


def case_of(store: Store, run_id: str, position: int) -> bytes | None:
    """The JSON of one case, if a trial brought it."""
    return dict(store.case_documents(run_id, [position])).get(position)


def trials_of(store: Store, run_id: str, position: int, scoring: int) -> list[StoredTrial]:
    """The trials of one case."""
    return dict(store.trials(run_id, [position], scoring)).get(position, [])


def shown(case: CaseResult) -> dict[str, Any]:
    """Everything about a case, to be compared."""
    return {
        "id": (case.eval_set_id, case.eval_id, case.place),
        "outcome": case.outcome,
        "reason": (case.reason, case.missed, case.rule),
        "metrics": case.metrics,
        "trials": [(one.number, one.outcome, one.failure, one.trial) for one in case.trials],
    }
