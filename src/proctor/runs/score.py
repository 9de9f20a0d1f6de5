"""Score recorded invocations, without an agent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from proctor.common.registry import METRICS
from proctor.engine.run_options import RunOptions
from proctor.errors import SetupError, SetupProblems
from proctor.metrics.base import CaseView
from proctor.runs.arguments import ConfigLike, sync_form, validation_lines
from proctor.runs.attempts import begun, ended
from proctor.runs.load import load_config
from proctor.runs.setup.judge_and_user import JudgesOnDemand
from proctor.schema.format.case import ConversationScenario
from proctor.schema.format.config import EvalConfig
from proctor.schema.format.content import Content, FunctionCall
from proctor.schema.format.invocation import IntermediateData, Invocation
from proctor.schema.results.score import MetricVerdict, MetricVerdicts

InvocationLike = Invocation | Mapping[str, object]
ToolNames = Sequence[str] | Sequence[Sequence[str]]
"""The names of the tools called in one turn, or in each of several turns."""


async def score(
    actual: InvocationLike | Sequence[InvocationLike] | ToolNames,
    expected: InvocationLike | Sequence[InvocationLike] | ToolNames | None,
    *,
    criteria: ConfigLike,
    scenario: Any = None,
    judge: Any = None,
    timeout: float | None = 300.0,  # noqa: ASYNC109 - for each metric, as in `evaluate`, not for the whole call
) -> dict[str, MetricVerdict]:
    """Score recorded invocations, without an agent.

    `actual` and `expected` are one invocation or a list of them, as models or plain dicts; `criteria` is a dict from
    metric name to threshold or criterion, an `EvalConfig`, or the path of one. Either side may be a list of tool
    names (`["search", "book"]`; a list of such lists for several turns): then only names are compared. The result has, for each metric name,
    `.score`, `.status`, `.outcome`, `.reason` and `.per_invocation[i]` with the same four.

    If a metric raises, its status is an error and its `.reason` has the exception. The same applies to a custom metric that takes more
    than `timeout` seconds (`None`: no limit).

    Raises:
        SetupProblems: no criteria, an unknown metric, an invalid criterion, or an invocation that
            cannot be read.
    """
    from proctor.engine.planning.criteria import bind
    from proctor.engine.scoring.score_trial import score_alone
    from proctor.engine.scoring.verdict import decide_metric

    begun()
    config = _criteria(criteria)
    judges = JudgesOnDemand(judge)
    options = RunOptions(judges=judges, timeout=timeout)
    names, expected_names = turns_of_names(actual, expected), turns_of_names(expected, actual)
    if names is not None or expected_names is not None:
        config = compare_names_only(config)
    bound = bind(config, options)
    if problems := [*options.problems(), *bound.problems]:
        raise SetupProblems(problems)
    metrics = [metric for metric in bound.metrics if metric.name in config.criteria]
    if not metrics:
        raise SetupProblems([SetupError("criteria: none are given, so there is nothing to score")])
    view = CaseView(
        eval_id="",
        actual=names or _invocations(actual, "actual"),
        expected=None if expected is None else expected_names or _invocations(expected, "expected"),
        scenario=None if scenario is None else _scenario(scenario),
    )
    try:
        scores = await score_alone(metrics, view, timeout)
    finally:
        await judges.close()
    verdicts = [decide_metric(metric, [scored]) for metric, scored in zip(metrics, scores, strict=True)]
    return ended(MetricVerdicts({verdict.name: verdict for verdict in verdicts}))


score_sync = sync_form(score)


def _criteria(criteria: ConfigLike) -> EvalConfig:
    if isinstance(criteria, EvalConfig):
        return criteria
    if isinstance(criteria, str | Path):
        return load_config(criteria)
    if criteria is None:
        return EvalConfig.default()
    if not isinstance(criteria, Mapping):
        expected = "expected a dict from metric name to threshold or criterion, an EvalConfig, or a path"
        raise SetupProblems([SetupError(f"criteria: {expected}, got {type(criteria).__name__}")])
    metrics = {str(getattr(name, "value", name)): value for name, value in criteria.items()}
    document = metrics if isinstance(metrics.get("criteria"), Mapping) else {"criteria": metrics}
    try:
        return EvalConfig.model_validate(document)
    except ValidationError as error:
        raise SetupProblems([SetupError(f"criteria: {line}") for line in validation_lines(error)]) from None


def _scenario(value: Any) -> ConversationScenario:
    try:
        return ConversationScenario.model_validate(value)
    except ValidationError as error:
        raise SetupProblems([SetupError(f"scenario: {line}") for line in validation_lines(error)]) from None


def _invocations(value: Any, what: str) -> list[Invocation]:
    is_one = isinstance(value, Invocation | Mapping) or hasattr(value, "model_fields")
    several = [value] if is_one else value
    if isinstance(several, str) or not isinstance(several, Iterable):
        expected = "expected invocations or a list of tool names"
        raise SetupProblems([SetupError(f"{what}: {expected}, got {type(several).__name__}")])
    several = list(several)
    if several and any(isinstance(one, str | list | tuple) for one in several):
        mixed = "expected a list of invocations, of tool names, or of lists of tool names; got a mixture"
        raise SetupProblems([SetupError(f"{what}: {mixed}")])
    results = [_invocation(one, what if is_one else f"{what}[{n}]") for n, one in enumerate(several)]
    if problems := [problem for _, problems_of_one in results for problem in problems_of_one]:
        raise SetupProblems(problems)
    return [one for one, _ in results if one is not None]


def _invocation(value: Any, place: str) -> tuple[Invocation | None, list[SetupError]]:
    """Return one invocation, or its problems."""
    if isinstance(value, Mapping) and (whole := next((key for key in _LARGER if key in value), None)):
        expected = "give the invocations in the `conversation` of a case"
        return None, [SetupError(f"{place}: that is {_LARGER[whole]}; {expected}")]
    try:
        return Invocation.model_validate(value), []
    except ValidationError as error:
        if error.errors()[0]["loc"] == ():
            expected = "expected an invocation (an object with `user_content` and what was done)"
            return None, [SetupError(f"{place}: {expected}, got {type(value).__name__}")]
        return None, [SetupError(f"{place}: {line}") for line in validation_lines(error)]


_LARGER = {
    "eval_cases": "an eval set",
    "evalCases": "an eval set",
    "conversation": "an eval case",
}


# --- trajectories as lists of tool names, as in the format's original documentation -----------------------------------


OPTION = "ignore_args"


def turns_of_names(value: Any, other: Any) -> list[Invocation] | None:
    """Read one side of a comparison as tool names; return `None` if it is something else.

    `["a", "b"]` is one turn, `[["a", "b"], []]` are two. An empty list is one turn without calls if the other side is a list of
    names. If the other side is invocations, lists of names or another empty list, it has no turn (`[[]]` has one without calls).
    """
    if not isinstance(value, list | tuple):
        return None
    if _are_names(value) or (not value and _are_names(other)):
        return [_turn(value)]
    if value and all(isinstance(one, list | tuple) and (not one or _are_names(one)) for one in value):
        return [_turn(one) for one in value]
    return None


def compare_names_only(config: EvalConfig) -> EvalConfig:
    """Make every metric that can compare names alone do so, unless its criterion sets that option."""
    criteria = dict(config.criteria)
    for name in criteria:
        facts = getattr(METRICS.get(name), "facts", None) if name in METRICS else None
        options = facts.options if facts is not None else {}
        criterion = config.criterion_for(name)
        if OPTION in options and criterion is not None and OPTION not in criterion.model_fields_set:
            criteria[name] = criterion.model_copy(update={OPTION: True})
    return config.model_copy(update={"criteria": criteria})


def _are_names(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(one, str) for one in value)


def _turn(names: Sequence[str]) -> Invocation:
    calls = [FunctionCall(name=name, args={}) for name in names]
    return Invocation(user_content=Content(parts=[]), intermediate_data=IntermediateData(tool_uses=calls))
