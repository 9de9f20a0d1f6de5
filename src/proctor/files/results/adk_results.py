"""ADK's result files as runs: what was recorded, and nothing better than that.

What ADK did not evaluate is an *error* here, also where ADK called the case passed without it. The evidence is that of
the actual invocations; where the file has the session, too, and both tell the same, the session's events are taken,
which know more (state changes, error codes, times).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import ValidationError

from proctor.files.results.report_format import RuleForm
from proctor.files.results.run_file import RecordedCase
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.to_events import events_of
from proctor.schema.evidence.to_invocations import invocation_of
from proctor.schema.evidence.trial import Failure, FailureKind, Trial, Turn
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.result import EvalCaseResult, EvalMetricResult, EvalSetResult, EvalStatus
from proctor.schema.results.outcome import Outcome, worst
from proctor.schema.results.repeats import TrialRule
from proctor.schema.results.run_result import CaseResult, MetricVerdict, RunResult, SetSummary, TrialResult
from proctor.schema.results.score import MetricScore, Score, mean

_OUTCOMES = {
    EvalStatus.PASSED: Outcome.PASSED,
    EvalStatus.FAILED: Outcome.FAILED,
    EvalStatus.NOT_EVALUATED: Outcome.ERROR,
    EvalStatus.INFORMATIONAL: Outcome.INFORMATIONAL,
}

_NOT_EVALUATED = Failure(
    where="metric", kind=FailureKind.UNUSABLE_ANSWER, message="recorded as NOT_EVALUATED, without a score"
)


def adk_head(recorded: EvalSetResult, cases: Sequence[CaseResult]) -> RunResult:
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
    found: dict[str, dict[str, Any]] = {}
    for entry in recorded.eval_case_results:
        of_set = found.setdefault(entry.eval_set_id or recorded.eval_set_id, {})
        for metric in entry.overall_eval_metric_results:
            if metric.criterion is not None:
                of_set.setdefault(metric.metric_name, metric.criterion.model_dump(mode="json"))
    return found


def _app_name(recorded: EvalSetResult) -> str:
    """The agent's name: what stands before the set's in the result's id."""
    found = re.fullmatch(rf"(.+)_{re.escape(recorded.eval_set_id)}_[\d.e+]+", recorded.eval_set_result_id)
    sessions = (case.session_details for case in recorded.eval_case_results)
    named = next((session.app_name for session in sessions if session and session.app_name), None)
    return found[1] if found else named or "adk"


def adk_cases(recorded: EvalSetResult) -> Iterator[RecordedCase]:
    """Return each case of a result file, its entries as trials, with what was expected where the file says it."""
    entries: dict[tuple[str, str], list[EvalCaseResult]] = {}
    for entry in recorded.eval_case_results:
        set_id = entry.eval_set_id or recorded.eval_set_id
        entries.setdefault((set_id, entry.eval_id), []).append(entry)
    for (set_id, eval_id), of_case in entries.items():
        extras = [ours(entry) for entry in of_case]
        case = _case(set_id, eval_id, of_case, extras)
        # of what we wrote ourselves it is known how its verdict was reached
        yield RecordedCase(case, _expected(of_case), trials=len(case.trials) if all(extras) else None)


def _expected(entries: list[EvalCaseResult]) -> list[Invocation] | None:
    """The longest conversation that the trials were compared with."""
    found = [
        [
            one.expected_invocation
            for one in entry.eval_metric_result_per_invocation
            if one.expected_invocation
        ]
        for entry in entries
    ]
    return max(found, key=len, default=None) or None


def _case(
    set_id: str, eval_id: str, entries: list[EvalCaseResult], extras: list[dict[str, Any]]
) -> CaseResult:
    result = CaseResult(set_id, eval_id, Outcome.ERROR)
    tried = [(entry, extra) for entry, extra in zip(entries, extras, strict=True) if is_trial(extra)]
    for number, (entry, extra) in enumerate(tried):
        result.trials.append(_trial_result(entry, extra, set_id, number))
    names = dict.fromkeys(m.metric_name for entry in entries for m in entry.overall_eval_metric_results)
    for name in names:
        result.metrics[name] = _metric(name, tried)
    _decide(result, entries, extras)
    return result


def _decide(result: CaseResult, entries: list[EvalCaseResult], extras: list[dict[str, Any]]) -> None:
    """Take the verdict that we wrote ourselves; else the worst of what was recorded."""
    written = extras[0].get("case")
    if isinstance(written, dict) and all(extras):
        result.outcome, result.reason = Outcome(written["outcome"]), str(written.get("reason", ""))
        result.place, result.rule = str(written.get("place", "")), rule_of(written.get("rule"))
        return
    missing = [m.name for m in result.metrics.values() if m.gate and m.outcome is Outcome.ERROR]
    recorded = [_OUTCOMES[entry.final_eval_status] for entry in entries]
    failed = [m.name for m in result.metrics.values() if m.gate and m.outcome is Outcome.FAILED]
    result.outcome = worst([*recorded, *(Outcome.ERROR for _ in missing), *(Outcome.FAILED for _ in failed)])
    if failed and worst(recorded) is Outcome.PASSED:
        result.reason = f"{', '.join(failed)}: recorded as FAILED, in a case that is recorded as PASSED"
    elif result.outcome is Outcome.ERROR and missing:
        result.reason = f"{', '.join(missing)}: recorded as NOT_EVALUATED"
        if worst(recorded) is Outcome.PASSED:
            result.reason += "; google-adk called the case passed without it"
    elif result.outcome is Outcome.ERROR:
        result.reason = "recorded as NOT_EVALUATED"
    elif result.outcome is Outcome.FAILED and not any(
        m.outcome is Outcome.FAILED for m in result.metrics.values()
    ):
        result.reason = (
            "recorded as FAILED without a metric that failed, as google-adk does when the agent breaks off"
        )


# --- trials -----------------------------------------------------------------------------------------------------------


def _trial_result(entry: EvalCaseResult, extra: dict[str, Any], set_id: str, number: int) -> TrialResult:
    outcome = Outcome(extra["outcome"]) if extra else _trial_outcome(entry)
    failure = failure_of(extra.get("failure"))
    number = extra.get("trial", number)
    return TrialResult(number, outcome, evidence=_evidence(entry, set_id, number, failure), failure=failure)


def _trial_outcome(entry: EvalCaseResult) -> Outcome:
    found = {m.eval_status for m in entry.overall_eval_metric_results}
    missed = [
        _OUTCOMES[status] for status in (EvalStatus.FAILED, EvalStatus.NOT_EVALUATED) if status in found
    ]
    return worst([_OUTCOMES[entry.final_eval_status], *missed])


def _evidence(entry: EvalCaseResult, set_id: str, number: int, failure: Failure | None) -> Trial:
    session = entry.session_details
    actual = [one.actual_invocation for one in entry.eval_metric_result_per_invocation]
    turns = [_turn(invocation) for invocation in actual]
    by_session = _turns_of_session(session.events if session else None, actual)
    durations = [turn.duration for turn in turns if turn.duration is not None]
    return Trial(
        eval_set_id=set_id,
        eval_id=entry.eval_id,
        number=number,
        session_id=entry.session_id,
        app_name=session.app_name or "" if session else "",
        user_id=entry.user_id or "",
        turns=by_session or turns,
        final_state=session.state if session else None,
        failure=failure,
        started_at=actual[0].creation_timestamp if actual else 0.0,
        duration=round(sum(durations), 3),
        notes=["imported from a result file of google-adk"],
    )


def _turn(actual: Invocation) -> Turn:
    return _with_timings(actual, events_of(actual))


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


def _turns_of_session(events: list[Any] | None, actual: list[Invocation]) -> list[Turn] | None:
    """The turns with the session's own events; `None` where these are absent, or do not tell the same."""
    groups: dict[str, list[Event]] = {}
    for given in events or ():
        event = _event(given)
        if event is None:
            return None
        if event.author.lower() != "user":
            groups.setdefault(event.invocation_id, []).append(event)
    turns = [_with_timings(each, groups.get(each.invocation_id, [])) for each in actual]
    same = all(_tells_the_same(turn, each) for turn, each in zip(turns, actual, strict=True))
    return turns if groups and same else None


def _event(given: Any) -> Event | None:
    if not isinstance(given, dict):
        return None
    stated = {key: value for key, value in given.items() if value is not None}
    actions = stated.get("actions")
    if isinstance(actions, dict) and not (kept := {k: v for k, v in actions.items() if v}):
        stated.pop("actions")
    elif isinstance(actions, dict):
        stated["actions"] = kept
    try:
        return Event.from_adk(stated)
    except ValidationError:
        return None


def _tells_the_same(turn: Turn, actual: Invocation) -> bool:
    derived = invocation_of(turn, invocation_id="")
    return (
        derived.final_response == actual.final_response
        and derived.tool_calls == actual.tool_calls
        and derived.tool_responses == actual.tool_responses
    )


# --- metrics ----------------------------------------------------------------------------------------------------------


def _metric(name: str, tried: list[tuple[EvalCaseResult, dict[str, Any]]]) -> MetricVerdict:
    found = [(_named(entry.overall_eval_metric_results, name), entry, extra) for entry, extra in tried]
    stated = [result for result, _, _ in found if result is not None]
    scores = [
        _score(result, entry, of_metric(extra, name)) if result is not None else None
        for result, entry, extra in found
    ]
    outcomes = [
        _metric_outcome(result, of_metric(extra, name)) if result is not None else Outcome.ERROR
        for result, _, extra in found
    ]
    threshold = _threshold(stated[0]) if stated else None
    values = [score.value for score in scores if score is not None and score.value is not None]
    verdict = MetricVerdict(
        name,
        _combined(outcomes),
        mean(values) if values else None,
        threshold,
        not all(outcome is Outcome.INFORMATIONAL for outcome in outcomes),
        per_trial=scores,
        failure=next((score.failure for score in scores if score is not None and score.failure), None),
    )
    _as_written(verdict, [of_metric(extra, name) for _, _, extra in found])
    return verdict


def _as_written(verdict: MetricVerdict, beside: list[dict[str, Any]]) -> None:
    """Take the verdict over all trials that we wrote ourselves."""
    written = beside[0].get("case") if beside and all(beside) else None
    if isinstance(written, dict) and written.get("outcome") in set(Outcome):
        verdict.outcome, verdict.reason = Outcome(written["outcome"]), str(written.get("reason", ""))
        verdict.gate = beside[0].get("gate") is not False


def _named(results: list[EvalMetricResult], name: str) -> EvalMetricResult | None:
    return next((one for one in results if one.metric_name == name), None)


def _threshold(result: EvalMetricResult) -> float | None:
    return result.criterion.threshold if result.criterion else result.threshold


def _metric_outcome(result: EvalMetricResult, beside: dict[str, Any]) -> Outcome:
    ours = beside.get("outcome")
    if ours in set(Outcome) and Outcome(ours).status is result.eval_status:
        return Outcome(ours)
    return _OUTCOMES[result.eval_status]


def _combined(outcomes: list[Outcome]) -> Outcome:
    if outcomes and all(outcome is outcomes[0] for outcome in outcomes):
        return outcomes[0]
    telling = [o for o in outcomes if o not in {Outcome.NOT_APPLICABLE, Outcome.INFORMATIONAL}]
    return worst(telling)


def _score(result: EvalMetricResult, entry: EvalCaseResult, beside: dict[str, Any]) -> MetricScore | None:
    """What a metric found in one trial, as far as the file says it; `None` where we wrote that there was nothing."""
    if beside and beside.get("outcome") is None:
        return None
    outcome = _metric_outcome(result, beside)
    failure = failure_of(beside.get("failure"))
    if outcome is Outcome.ERROR and result.score is None and failure is None:
        failure = _NOT_EVALUATED
    return MetricScore(
        value=result.score,
        per_invocation=[
            _of_turn(one)
            for turn in entry.eval_metric_result_per_invocation
            if (one := _named(turn.eval_metric_results, result.metric_name)) is not None
        ],
        reason=str(beside.get("reason") or ""),
        details=_details(result),
        not_applicable=result.score is None and failure is None,
        failure=failure,
    )


def _of_turn(result: EvalMetricResult) -> Score:
    return Score(result.score, details=_details(result), not_applicable=result.score is None)


def _details(result: EvalMetricResult) -> dict[str, Any] | None:
    stated = result.details.model_dump(mode="json")
    found = {name: value for name, value in stated.items() if value is not None}
    return found or None


# --- What Proctor wrote beside ADK's own keys, where ADK's form has no place for it: read back where it still fits them ---


def ours(entry: EvalCaseResult) -> dict[str, Any]:
    """What Proctor wrote beside ADK's keys, if it still fits them; a file that was edited is read as ADK's."""
    extra = entry.model_extra or {}
    found, outcome = extra.get("proctor"), extra.get("proctor_outcome")
    if not isinstance(found, dict) or outcome not in set(Outcome):
        return {}
    if Outcome(outcome).status is not entry.final_eval_status:
        return {}
    case = found.get("case")
    if not isinstance(case, dict) or case.get("outcome") not in set(Outcome):
        return {}
    return {**found, "outcome": outcome}


def is_trial(extra: dict[str, Any]) -> bool:
    """Whether the entry is a trial: one that we wrote for a case without any is not."""
    return not extra or extra.get("trial") is not None


def of_metric(extra: dict[str, Any], name: str) -> dict[str, Any]:
    """What is said of one metric; empty where nothing is."""
    metrics = extra.get("metrics")
    found = metrics.get(name) if isinstance(metrics, dict) else None
    return found if isinstance(found, dict) else {}


def rule_of(given: Any) -> TrialRule | None:
    """The share of the trials that had to pass, where one was asked for."""
    try:
        return RuleForm.model_validate(given).rule() if given is not None else None
    except ValidationError:
        return None


def failure_of(given: Any) -> Failure | None:
    """A failure, where there was one."""
    try:
        return Failure.model_validate(given) if given is not None else None
    except ValidationError:
        return None
