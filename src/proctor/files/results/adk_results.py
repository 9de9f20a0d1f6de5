"""Read ADK's result files as runs.

A metric that ADK did not evaluate is an *error*, even if ADK counted the case as passed. The evidence comes from the actual
invocations; if the file also contains the session and both agree, the session's events are used, because they contain
more (state changes, error codes, times).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import TypeAdapter, ValidationError

from proctor.files.results.report_format import RecordedCase
from proctor.schema.evidence.convert_events import events_of, invocation_of
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import Failure, FailureKind, Trial
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.result import EvalCaseResult, EvalMetricResult, EvalSetResult, EvalStatus
from proctor.schema.results.run_result import CaseResult, MetricVerdict, RunResult, SetSummary, TrialResult
from proctor.schema.results.score import MetricScore, Outcome, Score, TrialRule, mean, worst

_OUTCOMES = {
    EvalStatus.PASSED: Outcome.PASSED,
    EvalStatus.FAILED: Outcome.FAILED,
    EvalStatus.NOT_EVALUATED: Outcome.ERROR,
    EvalStatus.INFORMATIONAL: Outcome.INFORMATIONAL,
}

_NOT_EVALUATED = Failure(
    where="metric", kind=FailureKind.UNUSABLE_ANSWER, message="recorded as NOT_EVALUATED, without a score"
)


def adk_run(recorded: EvalSetResult, cases: Sequence[CaseResult]) -> RunResult:
    """Return the run of a result file, without its cases."""
    metrics = dict.fromkeys(name for case in cases for name in case.metrics)
    trials = max((len(case.trials) for case in cases), default=1) or 1
    summary = SetSummary(
        recorded.eval_set_id, None, "as recorded", len(cases), list(metrics), num_runs=trials
    )
    return RunResult(
        _app_name(recorded), sets=[summary], num_runs=trials, started_at=recorded.creation_timestamp
    )


def adk_criteria(recorded: EvalSetResult) -> dict[str, dict[str, Any]]:
    """Return the criteria by set and metric."""
    criteria: dict[str, dict[str, Any]] = {}
    for entry in recorded.eval_case_results:
        of_set = criteria.setdefault(entry.eval_set_id or recorded.eval_set_id, {})
        for metric in entry.overall_eval_metric_results:
            if metric.criterion is not None:
                of_set.setdefault(metric.metric_name, metric.criterion.model_dump(mode="json"))
    return criteria


def _app_name(recorded: EvalSetResult) -> str:
    """Return the agent's name: the part of the result's id before the id of the set."""
    match = re.fullmatch(rf"(.+)_{re.escape(recorded.eval_set_id)}_[\d.e+]+", recorded.eval_set_result_id)
    sessions = (case.session_details for case in recorded.eval_case_results)
    app_name = next((session.app_name for session in sessions if session and session.app_name), None)
    return match[1] if match else app_name or "adk"


def adk_cases(recorded: EvalSetResult) -> Iterator[RecordedCase]:
    """Return each case of a result file with its entries as trials, and its expected invocations if the file has them."""
    entries: dict[tuple[str, str], list[EvalCaseResult]] = {}
    for entry in recorded.eval_case_results:
        set_id = entry.eval_set_id or recorded.eval_set_id
        entries.setdefault((set_id, entry.eval_id), []).append(entry)
    for (set_id, eval_id), of_case in entries.items():
        extras = [proctor_data(entry) for entry in of_case]
        case = _case(set_id, eval_id, of_case, extras)
        # only data that Proctor wrote contains how the verdict was decided
        yield RecordedCase(case, _expected_turns(of_case), trials=len(case.trials) if all(extras) else None)


def _expected_turns(entries: list[EvalCaseResult]) -> list[Invocation] | None:
    """Return the longest conversation with which the trials were compared."""
    conversations = [
        [
            turn.expected_invocation
            for turn in entry.eval_metric_result_per_invocation
            if turn.expected_invocation
        ]
        for entry in entries
    ]
    return max(conversations, key=len, default=None) or None


def _case(
    set_id: str, eval_id: str, entries: list[EvalCaseResult], extras: list[dict[str, object]]
) -> CaseResult:
    result = CaseResult(set_id, eval_id, Outcome.ERROR)
    trials = [(entry, extra) for entry, extra in zip(entries, extras, strict=True) if is_trial(extra)]
    for number, (entry, extra) in enumerate(trials):
        result.trials.append(_trial_result(entry, extra, set_id, number))
    names = dict.fromkeys(m.metric_name for entry in entries for m in entry.overall_eval_metric_results)
    for name in names:
        result.metrics[name] = _metric(name, trials)
    _set_verdict(result, entries, extras)
    return result


def _set_verdict(result: CaseResult, entries: list[EvalCaseResult], extras: list[dict[str, object]]) -> None:
    """Set the verdict that Proctor wrote; otherwise the worst of the recorded ones."""
    written = extras[0].get("case")
    if isinstance(written, dict) and all(extras):
        result.outcome, result.reason = Outcome(written["outcome"]), str(written.get("reason", ""))
        result.place, result.rule = str(written.get("place", "")), rule_of(written.get("rule"))
        return
    recorded = [_OUTCOMES[entry.final_eval_status] for entry in entries]
    gates = [metric for metric in result.metrics.values() if metric.gate]
    missed = [gate.outcome for gate in gates if gate.outcome in {Outcome.ERROR, Outcome.FAILED}]
    result.outcome = worst([*recorded, *missed])
    missing, failed = (_names(gates, outcome) for outcome in (Outcome.ERROR, Outcome.FAILED))
    result.reason = _reason(result, worst(recorded), missing, failed)


def _names(metrics: list[MetricVerdict], outcome: Outcome) -> list[str]:
    return [metric.name for metric in metrics if metric.outcome is outcome]


def _reason(result: CaseResult, recorded: Outcome, missing: list[str], failed: list[str]) -> str:
    """Return why a case has its outcome, where the file alone does not explain it."""
    if failed and recorded is Outcome.PASSED:
        return f"{', '.join(failed)}: recorded as FAILED, in a case that is recorded as PASSED"
    if result.outcome is Outcome.ERROR and missing:
        note = "; google-adk counted the case as passed without it" if recorded is Outcome.PASSED else ""
        return f"{', '.join(missing)}: recorded as NOT_EVALUATED{note}"
    if result.outcome is Outcome.ERROR:
        return "recorded as NOT_EVALUATED"
    has_failed_metric = any(metric.outcome is Outcome.FAILED for metric in result.metrics.values())
    if result.outcome is Outcome.FAILED and not has_failed_metric:
        return "recorded as FAILED without a failed metric; google-adk does so if the agent raises"
    return result.reason


# --- trials -----------------------------------------------------------------------------------------------------------


def _trial_result(entry: EvalCaseResult, extra: dict[str, Any], set_id: str, number: int) -> TrialResult:
    outcome = Outcome(extra["outcome"]) if extra else _trial_outcome(entry)
    failure = failure_of(extra.get("failure"))
    number = extra.get("trial", number)
    return TrialResult(number, outcome, evidence=_evidence(entry, set_id, number, failure), failure=failure)


def _trial_outcome(entry: EvalCaseResult) -> Outcome:
    statuses = {m.eval_status for m in entry.overall_eval_metric_results}
    missed = [
        _OUTCOMES[status] for status in (EvalStatus.FAILED, EvalStatus.NOT_EVALUATED) if status in statuses
    ]
    return worst([_OUTCOMES[entry.final_eval_status], *missed])


def _evidence(entry: EvalCaseResult, set_id: str, number: int, failure: Failure | None) -> Trial:
    session = entry.session_details
    actual = [turn.actual_invocation for turn in entry.eval_metric_result_per_invocation]
    by_session = _turns_of_session(session.events if session else None, actual)
    turns = by_session or [_with_timings(each, events_of(each)) for each in actual]
    return Trial(
        eval_set_id=set_id,
        eval_id=entry.eval_id,
        number=number,
        session_id=entry.session_id,
        app_name=(session and session.app_name) or "",
        user_id=entry.user_id or "",
        turns=turns,
        final_state=session.state if session else None,
        failure=failure,
        started_at=actual[0].creation_timestamp if actual else 0.0,
        duration=round(sum(turn.duration or 0 for turn in turns), 3),
        notes=["imported from a result file of google-adk"],
    )


def _with_timings(actual: Invocation, events: list[Event]) -> Turn:
    return Turn(
        user_content=actual.user_content,
        events=events,
        started_at=actual.creation_timestamp,
        duration=actual.duration,
        model_duration=actual.model_duration,
        tool_duration=actual.tool_duration,
        app_details=actual.app_details.model_dump(exclude_none=True) if actual.app_details else None,
    )


def _turns_of_session(events: list[object] | None, actual: list[Invocation]) -> list[Turn] | None:
    """Return the turns with the session's own events; `None` if there are none, or they contradict the invocations."""
    groups: dict[str, list[Event]] = {}
    for recorded in events or ():
        event = _event(recorded)
        if event is None:
            return None
        if event.author.lower() != "user":
            groups.setdefault(event.invocation_id, []).append(event)
    turns = [_with_timings(each, groups.get(each.invocation_id, [])) for each in actual]
    same = all(_agrees(turn, each) for turn, each in zip(turns, actual, strict=True))
    return turns if groups and same else None


def _event(recorded: object) -> Event | None:
    if not isinstance(recorded, dict):
        return None
    fields = {key: value for key, value in recorded.items() if value is not None}
    actions = fields.get("actions")
    if isinstance(actions, dict):
        fields["actions"] = {key: value for key, value in actions.items() if value}
        if not fields["actions"]:
            del fields["actions"]
    try:
        return Event.from_adk(fields)
    except ValidationError:
        return None


def _agrees(turn: Turn, actual: Invocation) -> bool:
    derived = invocation_of(turn, invocation_id="")
    return (
        derived.final_response == actual.final_response
        and derived.tool_calls == actual.tool_calls
        and derived.tool_responses == actual.tool_responses
    )


# --- metrics ----------------------------------------------------------------------------------------------------------


def _metric(name: str, trials: list[tuple[EvalCaseResult, dict[str, object]]]) -> MetricVerdict:
    results = [_metric_result(entry.overall_eval_metric_results, name) for entry, _ in trials]
    extras = [of_metric(extra, name) for _, extra in trials]
    outcomes = [_metric_outcome(*pair) for pair in zip(results, extras, strict=True)]
    per_trial = [
        _score(result, entry, extra)
        for result, (entry, _), extra in zip(results, trials, extras, strict=True)
    ]
    scores = [score for score in per_trial if score is not None]
    verdict = MetricVerdict(
        name,
        _combine(outcomes),
        _mean_value(scores),
        _threshold(results),
        any(outcome is not Outcome.INFORMATIONAL for outcome in outcomes),
        per_trial=per_trial,
        failure=next((score.failure for score in scores if score.failure), None),
    )
    _set_written_verdict(verdict, extras)
    return verdict


def _mean_value(scores: list[MetricScore]) -> float | None:
    values = [score.value for score in scores if score.value is not None]
    return mean(values) if values else None


def _set_written_verdict(verdict: MetricVerdict, extras: list[dict[str, object]]) -> None:
    """Set the verdict over all trials that Proctor wrote, if there is one."""
    written = extras[0].get("case") if extras and all(extras) else None
    if isinstance(written, dict) and written.get("outcome") in set(Outcome):
        verdict.outcome, verdict.reason = Outcome(written["outcome"]), str(written.get("reason", ""))
        verdict.gate = extras[0].get("gate") is not False


def _metric_result(results: list[EvalMetricResult], name: str) -> EvalMetricResult | None:
    return next((result for result in results if result.metric_name == name), None)


def _threshold(results: list[EvalMetricResult | None]) -> float | None:
    """Return the threshold of the first trial that has a result."""
    first_result = next((result for result in results if result is not None), None)
    if first_result is None:
        return None
    return first_result.criterion.threshold if first_result.criterion else first_result.threshold


def _metric_outcome(result: EvalMetricResult | None, extra: dict[str, Any]) -> Outcome:
    if result is None:
        return Outcome.ERROR
    written = extra.get("outcome")
    if written in set(Outcome) and Outcome(written).status is result.eval_status:
        return Outcome(written)
    return _OUTCOMES[result.eval_status]


def _combine(outcomes: list[Outcome]) -> Outcome:
    if outcomes and all(outcome is outcomes[0] for outcome in outcomes):
        return outcomes[0]
    decisive = [o for o in outcomes if o not in {Outcome.NOT_APPLICABLE, Outcome.INFORMATIONAL}]
    return worst(decisive)


def _score(
    result: EvalMetricResult | None, entry: EvalCaseResult, extra: dict[str, object]
) -> MetricScore | None:
    """Return the recorded score of one trial; `None` if there is none, or Proctor recorded so."""
    if result is None or (extra and extra.get("outcome") is None):
        return None
    outcome = _metric_outcome(result, extra)
    failure = failure_of(extra.get("failure"))
    if outcome is Outcome.ERROR and result.score is None and failure is None:
        failure = _NOT_EVALUATED
    return MetricScore(
        value=result.score,
        per_invocation=_turn_scores(entry, result.metric_name),
        reason=str(extra.get("reason") or ""),
        details=_details(result),
        not_applicable=result.score is None and failure is None,
        failure=failure,
    )


def _turn_scores(entry: EvalCaseResult, name: str) -> list[Score]:
    results = (
        _metric_result(turn.eval_metric_results, name) for turn in entry.eval_metric_result_per_invocation
    )
    return [
        Score(result.score, details=_details(result), not_applicable=result.score is None)
        for result in results
        if result is not None
    ]


def _details(result: EvalMetricResult) -> dict[str, object] | None:
    fields = result.details.model_dump(mode="json")
    return {name: value for name, value in fields.items() if value is not None} or None


# --- data that Proctor wrote in addition to ADK's keys ----------------------------------------------------------------


def proctor_data(entry: EvalCaseResult) -> dict[str, Any]:
    """Return the data that Proctor wrote in addition to ADK's keys; empty if it contradicts them in an edited file."""
    extra = entry.model_extra or {}
    data, outcome = extra.get("proctor"), extra.get("proctor_outcome")
    if not isinstance(data, dict) or outcome not in set(Outcome):
        return {}
    if Outcome(outcome).status is not entry.final_eval_status:
        return {}
    case = data.get("case")
    if not isinstance(case, dict) or case.get("outcome") not in set(Outcome):
        return {}
    return {**data, "outcome": outcome}


def is_trial(extra: dict[str, object]) -> bool:
    """Whether the entry is a trial; Proctor also writes an entry for a case without trials."""
    return not extra or extra.get("trial") is not None


def of_metric(extra: dict[str, object], name: str) -> dict[str, Any]:
    """Return the data of one metric; empty if there is none."""
    metrics = extra.get("metrics")
    data = metrics.get(name) if isinstance(metrics, dict) else None
    return data if isinstance(data, dict) else {}


def rule_of(data: object) -> TrialRule | None:
    """Return the required share of passed trials, if there is one."""
    try:
        return _RULE.validate_python(data) if data is not None else None
    except ValidationError:
        return None


_RULE = TypeAdapter(TrialRule)


def failure_of(data: object) -> Failure | None:
    """Return the failure, if there is one."""
    try:
        return Failure.model_validate(data) if data is not None else None
    except ValidationError:
        return None
