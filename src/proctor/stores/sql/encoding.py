"""How scores and verdicts are written, and evidence without its media."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from proctor.schema.evidence.trial import Failure
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, TrialResult, TrialRule
from proctor.schema.results.score import MetricScore, Score
from proctor.stores.sql.database import PACKED_FROM, StoredBytes, compact, load_json, pack, unpack

# --- scores ----------------------------------------------------------------------------------------------------------


def scores_json(scores: dict[str, MetricScore]) -> bytes:
    """Return the scores of one attempt by metric, as JSON without what is at its default."""
    return compact({name: _score_row(score) for name, score in scores.items()}).encode()


def scores_row(scores: dict[str, MetricScore]) -> bytes:
    """Return the scores of one attempt by metric as they are stored."""
    return pack(scores_json(scores), PACKED_FROM)


def merged_scores(earlier: bytes, later: bytes) -> bytes:
    """Return the scores of two rows in one; of a metric that is in both, the later ones."""
    both = {**read_scores(earlier), **read_scores(later)}
    return pack(compact(both).encode(), PACKED_FROM)


def read_scores(row: bytes) -> dict[str, dict[str, Any]]:
    """Return what `scores_row` or `scores_json` wrote, by metric, each to be read with `read_score`."""
    scores: dict[str, dict[str, Any]] = load_json(unpack(row))
    return scores


def _score_row(score: MetricScore) -> dict[str, Any]:
    row = _value_row(score)
    if score.per_invocation:
        row["per_invocation"] = [_score_entry(one) for one in score.per_invocation]
    if score.failure is not None:
        row["failure"] = _failure_row(score.failure)
    return row


def _score_entry(score: Score) -> dict[str, Any]:
    row = _value_row(score)
    if score.warning:
        row["warning"] = score.warning
    return row


def _value_row(score: MetricScore | Score) -> dict[str, Any]:
    row: dict[str, Any] = {}
    if score.value is not None:
        row["value"] = _numeric(score.value)
    if score.reason:
        row["reason"] = score.reason
    if score.details is not None:
        row["details"] = score.details
    if score.not_applicable:
        row["not_applicable"] = True
    return row


def _numeric(value: Any) -> Any:
    """A number of another library as one that JSON has."""
    return value if type(value) in {float, int, bool} else float(value)


def read_score(row: dict[str, Any]) -> MetricScore:
    """Return one score."""
    value, per_invocation = row.get("value"), row.get("per_invocation", ())
    if type(value) is float and len(row) == 1 + bool(per_invocation):  # most are just numbers
        return MetricScore(value, [_read_score_entry(one) for one in per_invocation])
    score = MetricScore(**row)
    score.per_invocation = [_read_score_entry(one) for one in per_invocation]
    if isinstance(score.value, str):
        score.value = number(score.value)
    if score.failure is not None:
        score.failure = _read_failure(row["failure"])
    return score


def _read_score_entry(row: dict[str, Any]) -> Score:
    value = row.get("value")
    if type(value) is float and len(row) == 1:
        return Score(value)
    score = Score(**row)
    if isinstance(score.value, str):
        score.value = number(score.value)
    return score


def number(value: Any) -> Any:
    """A number that JSON cannot hold was written as its name."""
    return float(value) if isinstance(value, str) else value


def _failure_row(failure: Failure) -> dict[str, Any]:
    return failure.model_dump(exclude_none=True)


def _read_failure(row: dict[str, Any] | None) -> Failure | None:
    return None if row is None else Failure.model_validate(row)


# --- verdicts --------------------------------------------------------------------------------------------------------


def verdict_row(result: CaseResult, attempts: dict[int, int]) -> str:
    """Return a verdict as JSON, without the scores and the evidence that it rests on.

    `attempts`: by trial the attempt that it rests on, where that is not the first.
    """
    row: dict[str, Any] = {}
    if result.reason:
        row["reason"] = result.reason
    if result.missed:
        row["missed"] = result.missed
    if result.is_played:
        row["played"] = True
    if result.rule is not None:
        row["rule"] = result.rule.as_data()
    trials = result.trials
    row["trials"] = [_trial_row(i, trial, attempts) for i, trial in enumerate(trials)]
    row["metrics"] = {name: _metric_row(verdict, len(trials)) for name, verdict in result.metrics.items()}
    return compact(row)


def _trial_row(index: int, trial: TrialResult, attempts: dict[int, int]) -> dict[str, Any]:
    row: dict[str, Any] = {"outcome": trial.outcome.value}
    if trial.number != index:
        row["number"] = trial.number
    if (attempt := attempts.get(trial.number)) is not None:
        row["attempt"] = attempt
    if trial.failure is not None:
        row["failure"] = _failure_row(trial.failure)
    return row


def _metric_row(verdict: MetricVerdict, trials: int) -> dict[str, Any]:
    row: dict[str, Any] = {"outcome": verdict.outcome.value}
    if verdict.score is not None:
        row["score"] = verdict.score
    if verdict.threshold is not None:
        row["threshold"] = verdict.threshold
    if not verdict.gate:
        row["gate"] = False
    if verdict.reason:
        row["reason"] = verdict.reason
    if verdict.failure is not None:
        row["failure"] = _failure_row(verdict.failure)
    if trials and not verdict.per_trial:  # dropped to save memory; what is written is complete
        row["scored"] = "?" * trials
    elif len(verdict.per_trial) != trials or None in verdict.per_trial:
        row["scored"] = "".join("0" if score is None else "1" for score in verdict.per_trial)
    if trials > 1 or len(verdict.per_trial) != trials:
        _add_counts(row, verdict, trials)
    return row


def _add_counts(row: dict[str, Any], verdict: MetricVerdict, trials: int) -> None:
    """Add the counts of a metric that do not follow from its score: the trials differ."""
    scored, met = verdict.counts
    uniform = _uniform_counts(verdict.score, verdict.threshold, trials)
    if scored != uniform[0]:
        row["values"] = scored
    if met != uniform[1]:
        row["met"] = met


def _uniform_counts(score: float | None, threshold: float | None, trials: int) -> tuple[int, int]:
    """In how many trials there is a score, and meets its threshold, if all are alike."""
    scored = trials if score is not None else 0
    return scored, scored if score is not None and threshold is not None and score >= threshold else 0


OUTCOMES = {outcome.value: outcome for outcome in Outcome}

Evidence = dict[tuple[int, int], StoredBytes]
"""Evidence of a case by number and attempt, either stored or decompressed: `unpack` accepts both."""
Scores = dict[tuple[int, int], bytes]
"""Scores of a case by number and attempt, to be read with `read_scores`."""


def read_verdict(
    result: CaseResult,
    outcome: str,
    text: str,
    evidence: Mapping[tuple[int, int], StoredBytes],
    scores: Scores,
) -> None:
    """Fill in what `verdict_row` wrote, with the evidence and the scores that it rests on.

    Raises:
        KeyError: one of them is missing.
    """
    row = load_json(text)
    result.outcome, result.reason = OUTCOMES[outcome], row.get("reason", "")
    result.missed, result.is_played = row.get("missed", ""), row.get("played", False)
    result.rule = TrialRule(**row["rule"]) if "rule" in row else None
    keys = [(trial.get("number", i), trial.get("attempt", 0)) for i, trial in enumerate(row["trials"])]
    result.trials = [
        TrialResult(
            key[0],
            OUTCOMES[trial["outcome"]],
            evidence=partial(unpack, evidence[key]),
            failure=_read_failure(trial.get("failure")),
            attempt=key[1],
        )
        for key, trial in zip(keys, row["trials"], strict=True)
    ]
    rows = [read_scores(scores[key]) if key in scores else _NOTHING for key in keys]
    result.metrics = {name: _read_metric(name, one, rows) for name, one in row["metrics"].items()}


def read_briefly(result: CaseResult, outcome: str, text: str) -> None:
    """Fill in what `verdict_row` wrote, without scores of trials and without evidence."""
    row = load_json(text)
    result.outcome, result.reason = OUTCOMES[outcome], row.get("reason", "")
    result.missed, result.is_played = row.get("missed", ""), row.get("played", False)
    result.rule = TrialRule(**row["rule"]) if "rule" in row else None
    result.trials = [
        TrialResult(
            trial.get("number", i),
            OUTCOMES[trial["outcome"]],
            evidence=None,
            failure=None if result.reason else _read_failure(trial.get("failure")),
        )
        for i, trial in enumerate(row["trials"])
    ]
    result.metrics = {
        name: _read_metric_briefly(name, one, len(result.trials)) for name, one in row["metrics"].items()
    }


def _read_metric_briefly(name: str, row: dict[str, Any], trials: int) -> MetricVerdict:
    get = row.get
    score, threshold = number(get("score")), number(get("threshold"))
    scored, met = _uniform_counts(score, threshold, trials)
    return MetricVerdict(
        name,
        OUTCOMES[row["outcome"]],
        score,
        threshold,
        get("gate", True),
        get("reason", ""),
        counted=(get("values", scored), get("met", met)),
    )


_NOTHING: dict[str, dict[str, Any]] = {}


def _read_metric(name: str, row: dict[str, Any], scores: list[dict[str, dict[str, Any]]]) -> MetricVerdict:
    get = row.get
    if (scored := get("scored")) is None:
        per_trial: list[MetricScore | None] = [read_score(of_trial[name]) for of_trial in scores]
    else:
        per_trial = [
            _read_trial_score(of_trial, name, there) for of_trial, there in zip(scores, scored, strict=False)
        ]
    return MetricVerdict(
        name,
        OUTCOMES[row["outcome"]],
        number(get("score")),
        number(get("threshold")),
        get("gate", True),
        get("reason", ""),
        per_trial,
        _read_failure(get("failure")),
    )


def _read_trial_score(scores: dict[str, dict[str, Any]], name: str, there: str) -> MetricScore | None:
    if there == "1":
        return read_score(scores[name])
    row = scores.get(name) if there == "?" else None
    return None if row is None else read_score(row)


# --- Images, sounds and files within evidence: taken out, kept once, and put back byte for byte -----------------------


# A quote within a JSON text is escaped, so this never matches text of a message.
_PLACE = re.compile(rb'"inline_data":\{"data":"([A-Za-z0-9_-]{1366,}={0,2})"')
_MARK = b'"inline_data":{"data":"'


def extract_media(body: bytes) -> tuple[bytes, str | None, dict[str, bytes]]:
    """Return `body` without its media, where they were (JSON; `None` without any), and the media by hash."""
    if _MARK not in body:
        return body, None, {}
    pieces, places, media, end, length = [], [], {}, 0, 0
    for match in _PLACE.finditer(body):
        if (data := _decode(match[1])) is None:
            continue
        pieces.append(body[end : match.start(1)])
        length += len(pieces[-1])
        name = hashlib.sha256(data).hexdigest()
        places.append([length, name])
        media[name] = data
        end = match.end(1)
    if not places:
        return body, None, {}
    return b"".join([*pieces, body[end:]]), json.dumps(places, separators=(",", ":")), media


def restore_media(body: bytes, places: str, read_media: Callable[[str], bytes]) -> bytes:
    """Return the body that `extract_media` received; `read_media` returns media by their hash."""
    pieces, end = [], 0
    for place, name in json.loads(places):
        pieces += [body[end:place], base64.urlsafe_b64encode(read_media(name))]
        end = place
    return b"".join([*pieces, body[end:]])


def _decode(text: bytes) -> bytes | None:
    """The bytes of a base64 text; `None` where encoding them again would give another text."""
    try:
        data = base64.b64decode(text, b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if base64.urlsafe_b64encode(data) == text else None
