"""Runs that no command makes in a second, written straight into a store: enormous ones, and such as strangers write."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import Failure, FailureKind, Trial
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.content import Content, Part, user_text
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
from proctor.schema.serialize import kept_json
from proctor.stores.base import Record, ScoreRecord, TrialRecord, VerdictRecord
from proctor.stores.sqlite.file import open_sqlite_store


@dataclass
class Made:
    """One case as it is stored."""

    eval_id: str
    trials: Sequence[Trial]
    scores: Sequence[MetricScore]
    """One for each trial."""
    metric: str = "tool_trajectory_avg_score"
    eval_set_id: str = "made"
    case: dict[str, Any] = field(default_factory=dict)
    """What the eval set shows; by default a recorded conversation of nothing."""
    place: str = "made.evalset.json:1"
    reason: str = ""

    def records(self, position: int) -> list[Record]:
        """All that a run leaves of it."""
        output = {
            "conversation": [{"user_content": {"parts": [{"text": "?"}]}}],
            **self.case,
            "eval_id": self.eval_id,
        }
        records: list[Record] = []
        for number, (trial, score) in enumerate(zip(self.trials, self.scores, strict=True)):
            kept, failed = kept_json(trial), trial.failure is not None
            case = json.dumps(output).encode()
            records.append(TrialRecord(position, number, 0, kept, failed=failed, case=case))
            records.append(ScoreRecord(position, number, 0, {self.metric: score}))
        return [*records, VerdictRecord(position, self._verdict())]

    def _verdict(self) -> CaseResult:
        outcomes = [
            Outcome.ERROR if trial.failure else Outcome.PASSED if score.value == 1 else Outcome.FAILED
            for trial, score in zip(self.trials, self.scores, strict=True)
        ]
        outcome = next((one for one in (Outcome.FAILED, Outcome.ERROR) if one in outcomes), Outcome.PASSED)
        values = [score.value for score in self.scores if score.value is not None]
        mean = sum(values) / len(values) if values else None
        metric = MetricVerdict(
            self.metric, outcome, mean, 1.0, reason=self.reason, per_trial=list(self.scores)
        )
        trials = [
            TrialResult(number, outcomes[number], evidence=b"", failure=trial.failure)
            for number, trial in enumerate(self.trials)
        ]
        return CaseResult(
            self.eval_set_id, self.eval_id, outcome, self.reason, {self.metric: metric}, trials, self.place
        )


def write_made(path: Path, cases: Sequence[Made], *, run_id: str = "made", agent: str = "agent") -> None:
    """Write a finished run into the store at `path`."""
    store = open_sqlite_store(f"sqlite:///{path}")
    sets = list(dict.fromkeys(case.eval_set_id for case in cases))
    most = max(len(case.trials) for case in cases)
    manifest = Manifest(
        run_id=run_id,
        created_at=1.7e9,
        agent=AgentManifest(label=agent),
        sets=[
            SetManifest(eval_set_id=name, cases=sum(one.eval_set_id == name for one in cases), num_runs=most)
            for name in sets
        ],
        num_runs=most,
    )
    metrics = [
        MetricManifest(name=name, definition="d", threshold=1.0) for name in {case.metric for case in cases}
    ]
    scoring = ScoringManifest(sets=[JudgedSet(eval_set_id=name, metrics=metrics) for name in sets])
    planned = [
        PlannedCase(place, case.eval_set_id, case.eval_id, f"hash-{place}", case.place)
        for place, case in enumerate(cases)
    ]
    writer = store.begin(manifest, planned, scoring, lambda _tokens, _error: None)
    for position, case in enumerate(cases):
        writer.put(case.records(position))
    writer.finish(RunSummary(), complete=True)
    store.close()


def turn(output: str, answer: str, *events: Event, **more: Any) -> Turn:
    """A turn with a message, events and an answer."""
    return Turn(user_content=user_text(output), events=[*events, Event.said(answer)], **more)


def called(name: str, args: dict[str, Any], response: dict[str, Any], **more: Any) -> list[Event]:
    """A call with its answer."""
    return [Event.called(name, args, id=name, **more), Event.returned(name, response, id=name, **more)]


def long_talk(turns: int) -> Made:
    """A conversation of many turns, in one of which (the 700th, or the last) a call differs."""
    at = min(699, turns - 1)
    trial = Trial(eval_set_id="made", eval_id="long")
    conversation, scores = [], []
    for index in range(turns):
        asked, args = f"question {index + 1}", {"number": index, "of": "all"}
        made = {**args, "of": "none"} if index == at else args
        trial.turns.append(turn(asked, f"answer {index + 1}", *called("look", made, {"found": index})))
        conversation.append(
            {
                "user_content": {"parts": [{"text": asked}]},
                "final_response": {"parts": [{"text": f"answer {index + 1}"}]},
                "intermediate_data": {"tool_uses": [{"name": "look", "args": args}]},
            }
        )
        scores.append(Score(0.0 if index == at else 1.0))
    return Made("long", [trial], [MetricScore(1 - 1 / turns, scores)], case={"conversation": conversation})


def big_answer(size: int) -> Made:
    """A tool that answers with so many characters, and an agent that repeats them."""
    text = "0123456789" * (size // 10)
    trial = Trial(eval_set_id="made", eval_id="big")
    trial.turns.append(turn("read it", text, *called("read", {"all": text}, {"text": text})))
    conversation = [
        {
            "user_content": {"parts": [{"text": "read it"}]},
            "final_response": {"parts": [{"text": text[:-10] + "another end"}]},
            "intermediate_data": {"tool_uses": [{"name": "read", "args": {"all": text[:-1]}}]},
        }
    ]
    return Made(
        "big", [trial], [MetricScore(0.0, [Score(0.0, "it differs")])], case={"conversation": conversation}
    )


def many_trials(count: int) -> Made:
    """A case of so many trials, of which every third fails."""
    trials = [
        Trial(eval_set_id="made", eval_id="many", number=n, turns=[turn("hi", "hello")]) for n in range(count)
    ]
    scores = [
        MetricScore(float(n % 3 > 0), [Score(float(n % 3 > 0), f"trial {n + 1}")]) for n in range(count)
    ]
    return Made("many", trials, scores)


def hostile_case(texts: Sequence[str]) -> Made:
    """A case in which every text there is comes from a stranger: a turn for each, ids and names of the first one."""
    text = texts[0]
    failure = Failure(
        where="agent", kind=FailureKind.RAISED, type=f"T{text}", message=f"m{text}", turn=0,
        traceback=f'Traceback:\n  File "app{text}.py", line 1, in f{text}\n    call({text})\n',
    )  # fmt: skip
    trial = Trial(
        eval_set_id=f"s{text}", eval_id=f"c{text}", turns=[_hostile_turn(one) for one in texts],
        notes=[f"note {one}" for one in texts], failure=failure,
        final_state={f"k{one}": one for one in texts},
        app_details={"agent_details": {f"a{one}": {"name": f"a{one}", "instructions": f"do {one}"} for one in texts}},
    )  # fmt: skip
    scores = [Score(0.0, f"why {one}", _hostile_details(one), warning=f"warns {one}") for one in texts]
    metric = MetricScore(0.0, scores, reason=f"why {text}", details=_hostile_details(text))
    return Made(
        f"c{text}", [trial], [metric], metric=f"x{text}", eval_set_id=f"s{text}", place=f"p{text}:1",
        reason=f"reason {text}",
    )  # fmt: skip


def _hostile_turn(text: str) -> Turn:
    events = [
        Event(author=f"a{text}", content=Content(parts=[Part(text=f"thinks {text}", thought=True)])),
        Event.called(f"n{text}", {text or "x": text}, id="1", author=f"a{text}"),
        Event.returned(f"n{text}", {"r": text}, id="1", author=f"a{text}"),
        Event(author=f"b{text}", content=Content(parts=[Part(text=text)]), model_version=f"v{text}"),
    ]
    return Turn(user_content=Content(role="user", parts=[Part(text=text)]), events=events)


def _hostile_details(text: str) -> dict[str, Any]:
    call = {"index": 0, "name": f"n{text}", "args": {"x": text}}
    vote = {"verdict": False, "rationale": f"because {text}", "answers": [text], "problem": None}
    return {
        "alignment": [{"kind": "differs", "expected": {**call, "args": {"x": f"{text}2"}}, "actual": call}],
        "text": {"expected": f"one {text}", "actual": f"two {text}"},
        "state": [{"key": f"k{text}", "kind": "differs", "expected": text, "actual": {text or "x": 1}}],
        "rubrics": [{"rubric_id": f"r{text}", "text": text, "score": 0, "rationale": text}],
        "ballot": {"model": f"m{text}", "prompt": "abc", "votes": [vote], "planned": 3, "agreement": 1.0},
        "note": f"left out {text}",
    }
