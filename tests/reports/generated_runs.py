"""Runs of every shape, as the engine leaves them, for properties of what is written and read again."""

from typing import Any

from hypothesis import strategies as st

from proctor.engine.planning.bound_metric import BoundMetric
from proctor.engine.scoring.verdict import decide
from proctor.metrics.base import CaseView, MetricFacts
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import Failure, FailureKind, Trial
from proctor.schema.evidence.turn import Span, SpanKind, Turn, TurnTrace
from proctor.schema.format.content import Content, Part
from proctor.schema.results.run_result import (
    CaseResult,
    MetricVerdict,
    Outcome,
    RunResult,
    SetSummary,
    TrialResult,
    TrialRule,
)
from proctor.schema.results.score import MetricScore, Score

_SAFE = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
TEXT = st.text(_SAFE, max_size=12)
NAMES = st.text(_SAFE, min_size=1, max_size=8)
SECONDS = st.integers(0, 10_000_000).map(lambda n: n / 1000)
_SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT
ARGS = st.dictionaries(
    NAMES,
    _SCALARS | st.lists(_SCALARS, max_size=2) | st.dictionaries(NAMES, _SCALARS, max_size=2),
    max_size=3,
)
VALUES = st.integers(0, 100).map(lambda n: n / 100)
FAILURES = st.builds(
    Failure, where=st.sampled_from(["agent", "setup"]), kind=st.sampled_from(FailureKind), type=TEXT, message=TEXT,
    traceback=st.none() | TEXT, turn=st.none() | st.integers(0, 3), infrastructure=st.booleans(),
)  # fmt: skip
_DETAILS = st.none() | st.fixed_dictionaries(
    {"text": st.fixed_dictionaries({"expected": TEXT, "actual": TEXT})}
)
_DECIDED = st.sampled_from([Outcome.PASSED, Outcome.FAILED, Outcome.ERROR, Outcome.INCONCLUSIVE])


@st.composite
def _events(draw: st.DrawFn) -> list[Event]:
    events: list[Event] = []
    for number in range(draw(st.integers(0, 2))):
        name, args = draw(NAMES), draw(ARGS)
        events += [
            Event.called(name, args, id=f"c{number}"),
            Event.returned(name, {"result": draw(_SCALARS)}, id=f"c{number}"),
        ]
    usage = {"prompt_token_count": draw(st.integers(0, 99)), "total_token_count": 100}
    answer = Event.said(draw(NAMES), usage_metadata=usage, model_version=draw(st.none() | NAMES))
    return [*events, *draw(st.sampled_from([[], [answer], [answer]]))]


_SPANS = st.builds(
    Span, id=NAMES, parent_id=st.none() | NAMES, name=TEXT, kind=st.sampled_from(SpanKind), duration=st.none() | SECONDS,
    started_at=st.none() | SECONDS, error=st.none() | TEXT, request=st.none() | TEXT, response=st.none() | TEXT,
    input_tokens=st.none() | st.integers(0, 99), attributes=ARGS,
)  # fmt: skip
_TRACES = st.builds(
    TurnTrace,
    spans=st.lists(_SPANS, max_size=2),
    left_out=st.integers(0, 9),
    notes=st.lists(TEXT, max_size=1),
)


@st.composite
def _turns(draw: st.DrawFn) -> list[Turn]:
    return [
        Turn(
            user_content=Content(role="user", parts=[Part(text=draw(TEXT))]),
            events=draw(_events()),
            started_at=draw(SECONDS),
            duration=draw(st.none() | SECONDS),
            trace=draw(st.none() | _TRACES),
        )
        for _ in range(draw(st.integers(1, 3)))
    ]


@st.composite
def _trial(draw: st.DrawFn, set_id: str, eval_id: str, number: int) -> TrialResult:
    failure = draw(st.none() | st.none() | FAILURES)
    evidence = Trial(
        eval_set_id=set_id,
        eval_id=eval_id,
        number=number,
        session_id=draw(NAMES),
        app_name=draw(TEXT),
        user_id=draw(NAMES),
        turns=draw(_turns()),
        final_state=draw(ARGS),
        failure=failure,
        started_at=draw(SECONDS),
        duration=draw(SECONDS),
        notes=draw(st.lists(TEXT, max_size=1)),
    )
    outcome = Outcome.ERROR if failure else draw(st.sampled_from([Outcome.PASSED, Outcome.FAILED]))
    attempt = draw(st.integers(0, 2))
    result = TrialResult(number, outcome, evidence=evidence, failure=failure, attempt=attempt)
    earlier = draw(st.lists(FAILURES, min_size=attempt, max_size=attempt))
    result.earlier = [_broke_off(evidence, failed, attempt) for attempt, failed in enumerate(earlier)]
    return result


def _broke_off(evidence: Trial, failure: Failure, attempt: int) -> TrialResult:
    kept = evidence.model_copy(update={"failure": failure, "notes": [f"attempt {attempt}"]})
    return TrialResult(evidence.number, Outcome.ERROR, evidence=kept, failure=failure, attempt=attempt)


@st.composite
def _score(draw: st.DrawFn, turns: int) -> MetricScore:
    kind = draw(st.sampled_from(["value", "value", "not applicable", "failed"]))
    found = []
    for _ in range(turns):
        applies = draw(st.booleans())
        value = draw(VALUES) if applies else None
        found.append(Score(value, draw(TEXT), draw(_DETAILS), not_applicable=not applies, warning=draw(TEXT)))
    return MetricScore(
        draw(VALUES) if kind == "value" else None,
        found,
        draw(TEXT),
        draw(_DETAILS),
        not_applicable=kind == "not applicable",
        failure=Failure(where="metric", message=draw(TEXT)) if kind == "failed" else None,
    )


@st.composite
def _metric(draw: st.DrawFn, name: str, trials: list[TrialResult]) -> MetricVerdict:
    per_trial: list[MetricScore | None] = [
        None if each.failure else draw(_score(len(each.trial.turns) if each.trial else 0)) for each in trials
    ]
    gate = draw(st.booleans())
    values = [score.value for score in per_trial if score is not None and score.value is not None]
    if not gate:
        outcome = Outcome.INFORMATIONAL
    elif (
        not values
        and None not in per_trial
        and not any(score is not None and score.failure for score in per_trial)
    ):
        outcome = Outcome.NOT_APPLICABLE
    else:
        outcome = draw(_DECIDED)
    failure = next((score.failure for score in per_trial if score is not None and score.failure), None)
    return MetricVerdict(
        name,
        outcome,
        sum(values) / len(values) if values else None,
        draw(VALUES) if gate else None,
        gate,
        draw(TEXT),
        per_trial,
        failure,
    )


@st.composite
def _case(draw: st.DrawFn, set_id: str, eval_id: str, names: list[str]) -> CaseResult:
    count = draw(st.integers(0, 3))
    trials = [draw(_trial(set_id, eval_id, number)) for number in range(count)]
    if not trials:
        outcome = draw(st.sampled_from([Outcome.SKIPPED, Outcome.NOT_RUN]))
        return CaseResult(set_id, eval_id, outcome, draw(NAMES), place=draw(TEXT))
    if count == 1:
        outcome = trials[0].outcome
    else:
        outcome = draw(_DECIDED)
    reason = "" if outcome is Outcome.PASSED else draw(NAMES)
    metrics = {name: draw(_metric(name, trials)) for name in names}
    rule = draw(
        st.none() | st.builds(TrialRule, VALUES.filter(bool), st.integers(1, 3), st.none() | st.just(0.9))
    )
    return CaseResult(set_id, eval_id, outcome, reason, metrics, trials, draw(TEXT), rule, draw(TEXT))


@st.composite
def runs(draw: st.DrawFn, *, most_sets: int = 2) -> RunResult:
    """Draw one run: sets with cases, trials with scores, and any errors in them."""
    set_ids = draw(st.lists(NAMES, min_size=1, max_size=most_sets, unique=True))
    cases: list[CaseResult] = []
    sets: list[SetSummary] = []
    for set_id in set_ids:
        names = draw(st.lists(NAMES, max_size=2, unique=True))
        eval_ids = draw(st.lists(NAMES, min_size=1, max_size=2, unique=True))
        own = [draw(_case(set_id, eval_id, names)) for eval_id in eval_ids]
        cases += own
        sets.append(SetSummary(set_id, draw(st.none() | TEXT), "config", len(own), names))
    if draw(st.booleans()):
        sets.append(SetSummary("broken", "b.json", "", 0, failure=Failure(where="file", message=draw(TEXT))))
    failure = draw(st.none() | st.none() | st.none() | FAILURES)
    most = max([1, *(len(case.trials) for case in cases)])
    return RunResult(draw(NAMES), cases, sets, most, [], draw(SECONDS), draw(SECONDS), failure=failure)


@st.composite
def sound_runs(draw: st.DrawFn) -> RunResult:
    """The same with verdicts that follow from their scores, as the engine reaches them."""
    result = draw(runs())
    for case in result.cases:
        if case.outcome not in {Outcome.SKIPPED, Outcome.NOT_RUN}:
            _decide(case)
    return result


def _decide(case: CaseResult) -> None:
    names = [name for name, metric in case.metrics.items() if metric.gate]
    bound = [BoundMetric(_Known(name), case.metrics[name].threshold, gate=True) for name in names]
    failures = [trial.failure for trial in case.trials]
    columns = [case.metrics[name].per_trial for name in names]
    rows = [None if failure else [column[n] for column in columns] for n, failure in enumerate(failures)]
    found = decide(bound, rows, failures, case.rule)  # type: ignore[arg-type]  # a score each where none failed
    case.metrics |= found.metrics
    case.outcome, case.reason, case.missed = found.outcome, found.reason, found.missed
    for trial, outcome in zip(case.trials, found.trials, strict=True):
        trial.outcome = outcome


class _Known:
    """A metric whose scores are there already."""

    def __init__(self, name: str) -> None:
        self.facts = MetricFacts(name=name, description="known")

    async def score(self, case: CaseView) -> MetricScore:
        raise NotImplementedError(case.eval_id)


# --- what two runs have in common -------------------------------------------------------------------------------------


def verdicts(run: RunResult) -> list[Any]:
    """Outcomes, reasons and scores of a run, to be compared."""
    return [
        (c.eval_set_id, c.eval_id, c.outcome, c.reason, c.place, c.rule, c.missed, c.metrics,
         [(t.number, t.attempt, t.outcome, t.failure) for t in c.trials])
        for c in run.cases
    ]  # fmt: skip


def evidence(run: RunResult) -> list[Trial | None]:
    """The evidence of every attempt at every trial."""
    return [
        attempt.trial for case in run.cases for trial in case.trials for attempt in (*trial.earlier, trial)
    ]


def broken(run: RunResult) -> Any:
    """What could not be run."""
    return run.failure, [(one.eval_set_id, one.failure) for one in run.sets if one.failure], run.outcome
