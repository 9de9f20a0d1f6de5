"""The values that scoring functions may return. Anything else is an error, never a 0 or a pass."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

from proctor.errors import MetricError
from proctor.metrics.base import MetricFacts, beyond_range
from proctor.schema.format.result import EvalStatus
from proctor.schema.results.score import MetricScore, Score, mean_score

__all__ = ["check_agreement", "read_answer", "read_turn"]


def read_turn(facts: MetricFacts, answer: object, turn: int) -> Score:
    """Return the score of one turn (counted from 0) from a number, true or false, or a `Score`.

    Raises:
        MetricError: anything else, NaN, a number outside the metric's range, a `Score` without number and reason.
    """
    return _score(facts, answer, f" for turn {turn + 1}")


def read_answer(facts: MetricFacts, answer: object, turns: int) -> MetricScore:
    """Return the score of a conversation with `turns` turns.

    A number, true or false, a `Score` or `MetricScore`, a list with one of these per turn, or what ADK's functions
    return: an object or dict with `overall_score` and `per_invocation_results`.

    Raises:
        MetricError: anything else, or what `read_turn` refuses.
    """
    if isinstance(answer, MetricScore):
        return _check_metric_score(facts, answer)
    if isinstance(answer, list | tuple):
        return mean_score(_turns(facts, answer, turns))
    if _has(answer, "overall_score") or _has(answer, "per_invocation_results"):
        return _evaluation_result(facts, answer, turns)
    score = _score(facts, answer, "")
    return MetricScore(score.value, [], score.reason, score.details, not_applicable=score.not_applicable)


def check_agreement(answer: object, score: MetricScore, threshold: float) -> None:
    """Raise if an answer of ADK's form has a verdict that contradicts its score and the threshold.

    Raises:
        MetricError: it passes where the threshold fails, or the other way round (for example a count of mistakes, or
            another threshold in the function). Neither can be trusted.
    """
    status = _get(answer, "overall_eval_status")
    verdict = _STATUSES.get(getattr(status, "value", status))
    if verdict is None or score.value is None or (score.value >= threshold) is (verdict == "PASSED"):
        return
    raise MetricError(
        f"its own verdict is {verdict} for a score of {score.value:g} at the threshold {threshold:g}; "
        "a higher score must be better, and pass from the threshold on"
    )


_STATUSES = {
    form: status.name
    for status in (EvalStatus.PASSED, EvalStatus.FAILED)
    for form in (status.value, status.name, status.name.lower())
}


def _turns(facts: MetricFacts, answers: Sequence[object], turns: int) -> list[Score]:
    if len(answers) != turns:
        raise MetricError(f"returned {len(answers)} scores for {turns} turn(s)")
    return [read_turn(facts, answer, index) for index, answer in enumerate(answers)]


def _score(facts: MetricFacts, answer: object, where: str) -> Score:
    if isinstance(answer, Score):
        if answer.value is not None:
            answer.value = _number(facts, answer.value, where)
        elif not answer.reason:
            raise MetricError(f"returned a Score{where} with neither a value nor a reason")
        elif not answer.not_applicable:
            raise MetricError(f"gave no score{where}: {answer.reason}")
        return answer
    return Score(_number(facts, answer, where))


def _number(facts: MetricFacts, answer: object, where: str) -> float:
    if not isinstance(answer, Real):
        raise MetricError(
            f"returned {_show(answer)}{where}; expected a number, true or false, or a Score "
            "(with a reason if it has no value)"
        )
    number = float(answer)
    if not math.isfinite(number):
        raise MetricError(f"returned {number}{where}, which is not a score")
    if problem := beyond_range(facts, number):
        raise MetricError(f"returned {_exact(number)}{where}, {problem}")
    return number


def _exact(number: float) -> str:
    """Return the short form if it is exact: 2, but not 1 for 1.0000000000000002."""
    short = f"{number:g}"
    return short if float(short) == number else repr(number)


def _show(answer: object) -> str:
    """Return `None` or the type of an answer; its text may be anything."""
    return "None" if answer is None else f"a {type(answer).__name__}"


def _check_metric_score(facts: MetricFacts, answer: MetricScore) -> MetricScore:
    """Return a `MetricScore` after all its scores are checked."""
    for index, score in enumerate(answer.per_invocation):
        read_turn(facts, score, index)
    if answer.value is not None:
        answer.value = _number(facts, answer.value, "")
    elif answer.failure is None and not (answer.not_applicable and answer.reason):
        raise MetricError(
            f"gave no score: {answer.reason}"
            if answer.reason
            else "returned a MetricScore without value and reason"
        )
    return answer


def _evaluation_result(facts: MetricFacts, answer: object, turns: int) -> MetricScore:
    results = _get(answer, "per_invocation_results") or []
    if results and len(results) != turns:
        raise MetricError(f"returned {len(results)} per_invocation_results for {turns} turn(s)")
    scores = [_invocation_result(facts, result, index) for index, result in enumerate(results)]
    overall = _get(answer, "overall_score")
    if overall is not None:
        return MetricScore(_number(facts, overall, " as overall_score"), scores, details=_rubrics(answer))
    if not any(score.value is not None for score in scores):
        raise MetricError("returned no score: overall_score is null, and so is the score of every invocation")
    return mean_score(scores)


def _invocation_result(facts: MetricFacts, result: object, turn: int) -> Score:
    value = _get(result, "score")
    details = _rubrics(result)
    if value is None:
        return Score(reason="the metric gave no score here", details=details, not_applicable=True)
    return Score(_number(facts, value, f" for turn {turn + 1}"), _rationales(details), details)


def _rubrics(result: object) -> dict[str, Any] | None:
    scores = _get(result, "rubric_scores") or _get(result, "overall_rubric_scores")
    if not scores:
        return None
    fields = ("rubric_id", "score", "rationale")
    return {"rubric_scores": [{field: _get(score, field) for field in fields} for score in scores]}


def _rationales(details: dict[str, Any] | None) -> str:
    rationales = [
        score["rationale"] for score in (details or {}).get("rubric_scores", ()) if score["rationale"]
    ]
    return "; ".join(map(str, rationales))


def _has(answer: object, name: str) -> bool:
    return (
        (name in answer or _camel(name) in answer) if isinstance(answer, Mapping) else hasattr(answer, name)
    )


def _get(answer: object, name: str) -> Any:
    if isinstance(answer, Mapping):
        return answer.get(name, answer.get(_camel(name)))
    return getattr(answer, name, None)


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(other.title() for other in others)
