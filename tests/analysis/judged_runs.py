"""Runs with the verdicts of a judge, in a store: the content of a judged run, without a model call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import Failure, Trial
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.content import user_text
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
from proctor.schema.results.score import JudgedBy, MetricScore, Score
from proctor.schema.serialize import kept_json
from proctor.stores.base import Record, ScoreRecord, TrialRecord, VerdictRecord
from proctor.stores.sql.store import SqlStore
from proctor.stores.sqlite.file import open_sqlite_store

_CASE = b'{"eval_id": "x", "conversation": [{"user_content": {"parts": [{"text": "?"}]}}]}'
METRIC = "final_response_match_v2"
MODEL, PROMPT = "gemini-2.5-flash", "0123456789ab"


@dataclass(frozen=True)
class Judged:
    """A case as the judge left it: a verdict for each turn (`None`: it gave none), of each trial."""

    eval_id: str
    trials: Sequence[Sequence[bool | None]] = ((True,),)
    eval_set_id: str = "trips"
    metric: str = METRIC
    model: str = MODEL
    prompt: str = PROMPT
    threshold: float = 0.5
    rubrics: Mapping[str, float | None] | None = None
    ballots: bool = True


def judged_run(path: Path, cases: Sequence[Judged], *, run_id: str = "run1") -> SqlStore:
    """Write a finished run into the store at `path`, and return the store."""
    store = open_sqlite_store(f"sqlite:///{path}")
    sets = list(dict.fromkeys(case.eval_set_id for case in cases))
    metrics = list(dict.fromkeys((case.metric, case.threshold) for case in cases))
    manifest = Manifest(
        run_id=run_id,
        created_at=1.7e9,
        agent=AgentManifest(label="agent"),
        sets=[SetManifest(eval_set_id=name, cases=len(cases)) for name in sets],
    )
    judged = [MetricManifest(name=name, definition="d", threshold=at) for name, at in metrics]
    scoring = ScoringManifest(sets=[JudgedSet(eval_set_id=name, metrics=judged) for name in sets])
    planned = [
        PlannedCase(i, case.eval_set_id, case.eval_id, f"hash-{i}", "") for i, case in enumerate(cases)
    ]
    writer = store.begin(manifest, planned, scoring, lambda _tokens, _error: None)
    for position, case in enumerate(cases):
        writer.put(_records(position, case))
    judges = dict.fromkeys(JudgedBy(case.metric, case.model, case.prompt) for case in cases if case.ballots)
    writer.finish(RunSummary(judged_by=list(judges)), complete=True)
    return store


def _records(position: int, case: Judged) -> list[Record]:
    records: list[Record] = []
    scores = [_score(case, verdicts) for verdicts in case.trials]
    for number, verdicts in enumerate(case.trials):
        evidence = kept_json(_trial(case, number, len(verdicts)))
        records.append(TrialRecord(position, number, 0, evidence, failed=False, case=_CASE))
        records.append(ScoreRecord(position, number, 0, {case.metric: scores[number]}))
    verdict = MetricVerdict(case.metric, _outcome(case, scores), 0.5, case.threshold, per_trial=list(scores))
    trials = [TrialResult(number, verdict.outcome, evidence=b"") for number in range(len(scores))]
    result = CaseResult(case.eval_set_id, case.eval_id, verdict.outcome, "", {case.metric: verdict}, trials)
    return [*records, VerdictRecord(position, result)]


def _trial(case: Judged, number: int, turns: int) -> Trial:
    made = [
        Turn(
            user_content=user_text(f"question {turn + 1} of {case.eval_id}"),
            events=[Event(author="agent", content=user_text(f"answer {turn + 1}"))],
        )
        for turn in range(turns)
    ]
    return Trial(eval_set_id=case.eval_set_id, eval_id=case.eval_id, number=number, turns=made)


def _score(case: Judged, verdicts: Sequence[bool | None]) -> MetricScore:
    turns = [Score(None if one is None else float(one), details=_details(case, one)) for one in verdicts]
    if None in verdicts:
        return MetricScore(None, turns, failure=Failure(where="judge", message="no usable answer"))
    return MetricScore(sum(bool(one) for one in verdicts) / len(verdicts), turns)


def _details(case: Judged, verdict: bool | None) -> dict[str, Any]:
    votes = [
        {"verdict": verdict, "rationale": f"because it is {verdict}"},
        {"verdict": not verdict, "rationale": "no"},
    ]
    details: dict[str, Any] = {}
    if case.ballots:
        details["ballot"] = {"model": case.model, "prompt": case.prompt, "votes": votes[::-1]}
    if case.rubrics is not None:
        details["rubrics"] = [
            {"rubric_id": name, "text": name, "score": score, "rationale": f"{name} {score}"}
            for name, score in case.rubrics.items()
        ]
    return details


def _outcome(case: Judged, scores: Sequence[MetricScore]) -> Outcome:
    values = [score.value for score in scores if score.value is not None]
    if len(values) < len(scores):
        return Outcome.ERROR
    return Outcome.PASSED if sum(values) / len(values) >= case.threshold else Outcome.FAILED
