"""What a scoring function takes and returns.

It has one of two forms, recognised by the names of its parameters. Any return value that is not a score is an error, never
a 0 or a pass.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

from proctor.common.error_text import safe_repr
from proctor.errors import CriterionError, MetricError, did_you_mean
from proctor.metrics.base import MetricFacts, beyond_range
from proctor.schema.format.result import EvalStatus
from proctor.schema.format.wire_model import to_camel
from proctor.schema.results.score import EXPECTED_SCORE, MetricScore, Score, is_score, mean_score

SIGNATURES = (
    "(eval_metric, actual_invocations, expected_invocations, conversation_scenario): the whole conversation, as in ADK",
    "(actual_invocation, expected_invocation, criterion): one turn at a time; `actual` and `expected` are short for them",
)

WHOLE = {
    "eval_metric": "eval_metric",
    "actual_invocations": "actual",
    "expected_invocations": "expected",
    "conversation_scenario": "scenario",
}
TURN = {
    "actual_invocation": "actual",
    "actual": "actual",
    "expected_invocation": "expected",
    "expected": "expected",
}
EITHER = {"criterion": "criterion"}


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a scoring function."""

    whole: bool
    """True: called once with all invocations; False: once per turn."""
    parameters: Mapping[str, str]
    """Parameter -> the value it gets: `actual`, `expected`, `criterion`, `eval_metric` or `scenario`."""
    needs_expected: bool
    """True if it cannot work without an expected invocation."""

    def arguments(self, values: Mapping[str, object]) -> dict[str, object]:
        """Return the keyword arguments of a call, selected from `values`."""
        return {parameter: values[value] for parameter, value in self.parameters.items()}


def read_signature(name: str, function: Callable[..., Any]) -> Signature:
    """Return the form of `function`, the scoring function of the metric `name`.

    A function may omit parameters, have them in any order and with a leading underscore; others need a default.

    Raises:
        CriterionError: it has neither form; the message shows both.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        raise _misfit(name, f"its parameters cannot be inspected ({error})") from error
    known = {**WHOLE, **TURN, **EITHER}
    keys_by_parameter: dict[str, str] = {}
    for parameter in parameters:
        if parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
            continue
        if parameter.kind is not parameter.POSITIONAL_ONLY and _plain(parameter) in known:
            keys_by_parameter[parameter.name] = _plain(parameter)
        elif parameter.default is parameter.empty:
            if parameter.kind is parameter.POSITIONAL_ONLY:
                raise _misfit(
                    name,
                    f"its parameter {parameter.name!r} is positional-only (before `/`), but all are passed by name",
                )
            hint = did_you_mean(_plain(parameter), known)
            raise _misfit(name, f"unknown parameter {parameter.name!r}.{hint}")
    return _decide(name, keys_by_parameter, [each for each in parameters if each.name in keys_by_parameter])


def read_adk_signature(function: Callable[..., Any]) -> Signature | None:
    """Return the form of a function that google-adk calls: four parameters by position, with any names.

    `None` if it does not accept four by position and by name, or needs more.
    """
    parameters = list(inspect.signature(function).parameters.values())
    first, others = parameters[: len(WHOLE)], parameters[len(WHOLE) :]
    if len(first) < len(WHOLE) or any(each.kind is not each.POSITIONAL_OR_KEYWORD for each in first):
        return None
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    if any(each.default is each.empty and each.kind not in variable for each in others):
        return None
    values = zip((each.name for each in first), WHOLE.values(), strict=True)
    return Signature(whole=True, parameters=dict(values), needs_expected=False)


def _plain(parameter: inspect.Parameter) -> str:
    return parameter.name.lstrip("_")


def _decide(
    name: str, keys_by_parameter: Mapping[str, str], parameters: list[inspect.Parameter]
) -> Signature:
    known = {**_form(name, keys_by_parameter.values()), **EITHER}
    values = {parameter: known[key] for parameter, key in keys_by_parameter.items()}
    if "actual" not in values.values():
        raise _misfit(name, "it takes no actual invocation")
    whole = "eval_metric" in known
    required = (each.name for each in parameters if not _may_be_none(each))
    needs_expected = not whole and any(values[each] == "expected" for each in required)
    return Signature(whole, values, needs_expected)


def _form(name: str, parameters: Collection[str]) -> Mapping[str, str]:
    """Return the form that has these parameters."""
    whole = [each for each in parameters if each in WHOLE]
    turn = [each for each in parameters if each in TURN]
    if whole and turn:
        raise _misfit(name, f"it mixes both forms ({', '.join(whole)} with {', '.join(turn)})")
    return WHOLE if whole else TURN


def _may_be_none(parameter: inspect.Parameter) -> bool:
    annotation = str(parameter.annotation)
    return parameter.default is not parameter.empty or "None" in annotation or "Optional" in annotation


def _misfit(name: str, what: str) -> CriterionError:
    forms = "\n".join(f"  {each}" for each in SIGNATURES)
    return CriterionError(
        f"The custom metric {name!r} cannot be called: {what}\nIts function may have these parameters\n{forms}"
    )


# --- Returned values ---


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
        if len(answer) != turns:
            raise MetricError(f"returned {len(answer)} scores for {turns} turn(s)")
        return mean_score([read_turn(facts, each, index) for index, each in enumerate(answer)])
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
        answer_text = "None" if answer is None else f"a {safe_repr(answer)}"
        raise MetricError(
            f"returned {answer_text}{where}; expected a number, true or false, or a Score "
            "(with a reason if it has no value)"
        )
    number = float(answer)
    if not is_score(number):
        raise MetricError(f"returned {number}{where}, which is not a score; {EXPECTED_SCORE}")
    if problem := beyond_range(facts, number):
        raise MetricError(f"returned {_exact(number)}{where}, {problem}")
    return number


def _exact(number: float) -> str:
    """Return the short form if it is exact: 2, but not 1 for 1.0000000000000002."""
    short = f"{number:g}"
    return short if float(short) == number else repr(number)


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
        (name in answer or to_camel(name) in answer) if isinstance(answer, Mapping) else hasattr(answer, name)
    )


def _get(answer: object, name: str) -> Any:
    if isinstance(answer, Mapping):
        return answer.get(name, answer.get(to_camel(name)))
    return getattr(answer, name, None)
