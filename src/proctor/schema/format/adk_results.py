"""Results as google-adk writes them: one EvalSetResult for each eval set, one EvalCaseResult for each trial.

docs/reference/results/exports.md documents how outcomes map to ADK's EvalStatus. Data without a place in ADK's form is under `proctor_outcome`
and `proctor` of a case; ADK ignores unknown keys there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_json

from proctor.common.ascending_lookup import AscendingLookup
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import Trial
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.case import EvalCase
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.wire_model import unknown_keys
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, RunResult, TrialResult

SUFFIX = ".evalset_result.json"
HISTORY = (".adk", "eval_history")
"""The folder in which ADK stores results, below the folder of an app."""

LONGEST_NAME = 200
"""The maximum length of a result's name in bytes; file systems limit the whole file name to 255."""

_IN_NO_NAME = re.compile(r'[\x00-\x1f\x7f/\\<>:"|?*\ud800-\udfff]')


@dataclass(frozen=True, slots=True)
class ResultHeader:
    """The fields of an EvalSetResult other than its cases."""

    app_name: str
    eval_set_id: str
    timestamp: float
    """Unix seconds; part of the name."""

    @property
    def result_id(self) -> str:
        """The id, as ADK makes it."""
        return f"{self.app_name}_{self.eval_set_id}_{self.timestamp!r}"

    @property
    def name(self) -> str:
        """The id as the stem of a file: characters that are invalid in file names become `_`, and a long name ends in its hash."""
        name = _IN_NO_NAME.sub("_", self.result_id)
        if len(name.encode()) <= LONGEST_NAME:
            return name
        digest = blake2b(self.result_id.encode(errors="replace"), digest_size=8).hexdigest()
        room = LONGEST_NAME - len(digest) - 1
        return f"{name.encode()[:room].decode(errors='ignore')}_{digest}"


@dataclass(frozen=True, slots=True)
class CaseContext:
    """The context of a case that its result does not contain."""

    expected: tuple[Invocation, ...] | None = None
    """Its expected conversation; `None` for a scenario, or if the case is not available."""
    criteria: Mapping[str, Any] = field(default_factory=dict)
    """The criteria by metric as in the config: numbers or objects."""


NOTHING_KNOWN = CaseContext()


def app_name_of(run: RunResult) -> str:
    """Return the agent's name in ADK: the name of its folder, made a valid app name."""
    last = re.split(r"[/\\]", run.agent.partition(":")[0])[-1]
    return re.sub(r"[^\w.-]", "_", last).strip(".") or "agent"


def with_context(
    run: RunResult, places: Iterable[range] | None = None
) -> Iterator[tuple[CaseResult, CaseContext]]:
    """Return the cases of a run (those at `places`) with their context; for a stored run including the expected conversation."""
    criteria = {one.eval_set_id: one.criteria for one in run.sets}
    ranges = [range(len(run.cases))] if places is None else [*places]
    read_documents = getattr(run.cases, "documents", None)
    positions = [at for place in ranges for at in place] if read_documents is not None else []
    documents = AscendingLookup[bytes](read_documents(positions) if read_documents is not None else iter(()))
    for index, case in _at(run.cases, ranges) if places is not None else enumerate(run.cases):
        expected = _expected_conversation(documents.get(index))
        yield case, CaseContext(expected, criteria.get(case.eval_set_id, {}))


def _at(cases: Sequence[CaseResult], places: Iterable[range]) -> Iterator[tuple[int, CaseResult]]:
    """Return the cases at the given positions, in batches."""
    for place in places:
        for first in range(place.start, place.stop, _AT_ONCE):
            yield from enumerate(cases[first : min(place.stop, first + _AT_ONCE)], first)


_AT_ONCE = 100


def _expected_conversation(document: bytes | None) -> tuple[Invocation, ...] | None:
    conversation = EvalCase.model_validate_json(document).conversation if document else None
    return tuple(conversation) if conversation is not None else None


def result_text(header: ResultHeader, cases: Iterable[tuple[CaseResult, CaseContext]]) -> Iterator[str]:
    """Return the text of an EvalSetResult as ADK writes it (indented by two, every field), a trial at a time."""
    head = {
        "eval_set_result_id": header.result_id,
        "eval_set_result_name": header.name,
        "eval_set_id": header.eval_set_id,
    }
    yield _to_json(head)[:-2] + ',\n  "eval_case_results": ['
    separator = "\n    "
    for case, context in cases:
        for result in case_results(case, context):
            yield separator + _to_json(result).replace("\n", "\n    ")
            separator = ",\n    "
    end = "]" if separator == "\n    " else "\n  ]"
    yield f'{end},\n  "creation_timestamp": {_to_json(header.timestamp)}\n}}'


_HALF = re.compile("[\ud800-\udfff]")


def _to_json(value: Any) -> str:
    try:
        return to_json(value, indent=2, inf_nan_mode="null").decode()
    except PydanticSerializationError:  # an unpaired surrogate, which UTF-8 cannot encode
        return _HALF.sub("\ufffd", json.dumps(value, indent=2, ensure_ascii=False))


def case_results(case: CaseResult, context: CaseContext = NOTHING_KNOWN) -> Iterator[dict[str, Any]]:
    """Return an EvalCaseResult for each trial; a case without trials (skipped, not reached) gets one, too."""
    for index, result in enumerate(case.trials):
        yield _case_result(case, context, index, result)
    if not case.trials:
        yield _case_result(case, context, 0, None)


def _case_result(
    case: CaseResult, context: CaseContext, index: int, result: TrialResult | None
) -> dict[str, Any]:
    trial = result.trial if result is not None else None
    outcome = result.outcome if result is not None else case.outcome
    return {
        "eval_set_file": case.eval_set_id,
        "eval_set_id": case.eval_set_id,
        "eval_id": case.eval_id,
        "final_eval_status": outcome.status.value,
        "eval_metric_results": None,
        "overall_eval_metric_results": _overall(case, context, index) if result is not None else [],
        "eval_metric_result_per_invocation": _per_invocation(case, context, index, trial),
        "session_id": trial.session_id if trial else "",
        "session_details": session_details(trial) if trial else None,
        "user_id": trial.user_id or None if trial else None,
        "proctor_outcome": outcome.value,
        "proctor": _proctor_data(case, index, result),
    }


def _overall(case: CaseResult, context: CaseContext, index: int) -> list[dict[str, Any]]:
    results = []
    for metric in case.metrics.values():
        score = metric.per_trial[index] if index < len(metric.per_trial) else None
        outcome = metric.outcome_in(index) if score is not None else Outcome.ERROR
        value, details = (score.value, score.details) if score is not None else (None, None)
        results.append(_metric_result(metric, context, outcome, value, details))
    return results


def _per_invocation(
    case: CaseResult, context: CaseContext, index: int, trial: Trial | None
) -> list[dict[str, Any]]:
    """Return for each turn the actual and the expected invocation and the metrics' results."""
    results = []
    for turn, actual in enumerate(trial.invocations if trial else ()):
        expected = context.expected[turn] if context.expected and turn < len(context.expected) else None
        results.append(
            {
                "actual_invocation": plain(actual),
                "expected_invocation": plain(expected) if expected else None,
                "eval_metric_results": _invocation_results(case, context, index, turn),
            }
        )
    return results


def _invocation_results(
    case: CaseResult, context: CaseContext, index: int, turn: int
) -> list[dict[str, Any]]:
    results = []
    for metric in case.metrics.values():
        score = metric.per_trial[index] if index < len(metric.per_trial) else None
        if score is not None and turn < len(score.per_invocation):
            verdict = metric.judge(score.per_invocation[turn])
            results.append(_metric_result(metric, context, verdict.outcome, verdict.score, verdict.details))
    return results


def _metric_result(
    metric: MetricVerdict,
    context: CaseContext,
    outcome: Outcome,
    score: float | None,
    details: Mapping[str, Any] | None,
) -> dict[str, Any]:
    return {
        "metric_name": metric.name,
        "threshold": metric.threshold,
        "criterion": _criterion(metric, context.criteria.get(metric.name)),
        "custom_function_path": None,
        "score": score,
        "eval_status": outcome.status.value,
        "details": _details(details or {}),
    }


def _criterion(metric: MetricVerdict, criterion: Any) -> dict[str, Any] | None:
    if metric.threshold is None:
        return None
    options = criterion if isinstance(criterion, Mapping) else {}
    known = {"threshold": metric.threshold, "include_intermediate_responses_in_final": False}
    return {**known, **options, "threshold": metric.threshold}


_TOKENS = (
    "total_tokens",
    "input_tokens",
    "prompt_tokens",
    "cached_tokens",
    "tool_use_tokens",
    "output_tokens",
    "candidates_tokens",
    "reasoning_tokens",
)
_SECONDS = ("total_seconds", "model_seconds", "tool_seconds", "framework_seconds")


_RUBRICS = ("rubric_scores", "overall_rubrics", "rubrics")
"""The keys of rubric scores in details: of custom metrics and ADK's results, of Proctor over all turns, and in a turn."""


def _details(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return the three kinds of details in ADK's model, which rejects any other key."""
    return {
        "rubric_scores": rubric_scores(details),
        "token_usage_details": _figures(details.get("token_usage_details"), _TOKENS),
        "duration_details": _figures(details.get("duration_details"), _SECONDS),
    }


def _figures(figures: Any, names: tuple[str, ...]) -> dict[str, Any] | None:
    return {name: figures.get(name) for name in names} if isinstance(figures, Mapping) else None


def rubric_scores(details: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Return the rubric scores in the details of a score in ADK's form: `rubric_id`, `rationale`, `score`."""
    entries = next((value for key in _RUBRICS if (value := details.get(key))), None)
    if not isinstance(entries, list):
        return None
    scores = (one for one in entries if isinstance(one, Mapping) and isinstance(one.get("rubric_id"), str))
    return [{name: one.get(name) for name in ("rubric_id", "rationale", "score")} for one in scores]


def _proctor_data(case: CaseResult, index: int, result: TrialResult | None) -> dict[str, Any]:
    """Return the data that has no place in ADK's form."""
    return {
        "trial": result.number if result is not None else None,
        "failure": result.failure.model_dump(mode="json") if result is not None and result.failure else None,
        "metrics": {name: _metric_data(metric, index) for name, metric in case.metrics.items()},
        "case": {
            "outcome": case.outcome.value,
            "reason": case.reason,
            "place": case.place,
            "rule": case.rule.as_data() if case.rule else None,
        },
    }


def _metric_data(metric: MetricVerdict, index: int) -> dict[str, Any]:
    score = metric.per_trial[index] if index < len(metric.per_trial) else None
    return {
        "outcome": metric.outcome_in(index).value if score is not None else None,
        "reason": score.reason if score is not None else "",
        "gate": metric.gate,
        "failure": score.failure.model_dump(mode="json") if score is not None and score.failure else None,
        "case": {"outcome": metric.outcome.value, "score": metric.score, "reason": metric.reason},
    }


# --- Evidence as google-adk's sessions, and models as plain data for ADK's strict models ------------------------------


def plain(model: BaseModel) -> dict[str, Any]:
    """Return every field of `model` as JSON data, without unknown keys, which ADK rejects."""
    document: dict[str, Any] = model.model_dump(mode="json")
    for path, _ in unknown_keys(model):
        place: Any = document
        for step in path[:-1]:
            place = place[step]
        place.pop(path[-1], None)
    return document


def session_details(trial: Trial) -> dict[str, Any]:
    """Return the trial as the session that ADK would have stored."""
    events = [event for index, turn in enumerate(trial.turns) for event in _events(turn, index)]
    for number, event in enumerate(events):
        event["id"] = f"{trial.session_id or trial.eval_id}-{number}"
    return {
        "id": trial.session_id or trial.eval_id,
        "app_name": trial.app_name,
        "user_id": trial.user_id,
        "state": trial.final_state or {},
        "events": events,
        "last_update_time": trial.started_at + trial.duration,
    }


def _events(turn: Turn, index: int) -> Iterator[dict[str, Any]]:
    invocation_id = f"e-{index}"
    yield {
        "content": plain(turn.user_content),
        "invocation_id": invocation_id,
        "author": "user",
        "actions": {},
        "timestamp": turn.started_at,
    }
    for event in turn.events:
        if not event.partial:  # ADK's sessions contain complete answers only
            yield _event(event, invocation_id, turn.started_at)


def _event(event: Event, invocation_id: str, started_at: float) -> dict[str, Any]:
    fields = {name: value for name, value in plain(event).items() if value is not None}
    actions = {name: fields.pop(name) for name in ("state_delta", "skip_summarization") if name in fields}
    timestamp = event.timestamp if event.timestamp is not None else started_at
    return {**fields, "invocation_id": invocation_id, "actions": actions, "timestamp": timestamp}
