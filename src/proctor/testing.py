"""Checks for authors of metrics: `check_metric` runs a metric on conversations that expose typical mistakes.

from proctor.testing import check_metric

def test_my_metric():
    check_metric(my_metric)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import fields
from typing import Any

from proctor.common.async_tools import settle
from proctor.common.registry import METRICS
from proctor.engine.execution.run_control import run_sync
from proctor.metrics.base import CaseView, Metric, MetricFacts
from proctor.metrics.custom.function_metric import as_factory
from proctor.runs.setup.judge_and_user import JudgesOnDemand
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.format.invocation import Invocation
from proctor.schema.results.score import MetricScore, Score, is_score

__all__ = ["check_metric", "sample_views"]

Criterion = BaseCriterion | Mapping[str, Any] | float | None


def check_metric(
    metric: Any,
    criterion: Criterion = None,
    *,
    views: Mapping[str, CaseView] | None = None,
    deterministic: bool = True,
    judge: Any = None,
) -> dict[str, MetricScore]:
    """Run a metric on sample conversations and on your own `views`; return its scores by the name of the conversation.

    `metric` is a scoring function, a metric class, a metric, or the name of a registered metric. `criterion` is a threshold or
    an object with options; without one, the metric's own example or default is used. `judge` is the model for a metric
    that needs one, as in `proctor.evaluate`: a scripted model keeps the test offline.

    It checks the metric's facts; that each score is a number within the range, or has a reason if there is none; that there is
    one score per turn, or none; that a second call gives the same scores after other cases were scored (unless
    `deterministic` is false, as for metrics that call a model); that the case is not changed; and that reasons are text and
    details are JSON.

    Raises:
        AssertionError: the metric has problems, listed one per line.
        SetupError: the metric cannot be built with this criterion.
    """
    instance = _built(metric, criterion)
    cases = {**sample_views(instance.facts), **(views or {})}
    trials = _Trials(instance, judge)
    scores = {name: trials.of(name, view) for name, view in cases.items()}
    if deterministic:
        for name in reversed(cases):
            trials.again(name, cases[name], scores[name])
    problems = [*_problems_of_facts(instance.facts), *dict.fromkeys(trials.problems)]
    if problems:
        what = "\n".join(f"  - {problem}" for problem in problems)
        raise AssertionError(f"The metric {instance.facts.name!r} is not as it should be:\n{what}")
    return {name: score for name, score in scores.items() if score is not None}


def _built(metric: Any, criterion: Criterion) -> Metric:
    if callable(getattr(metric, "score", None)) and not isinstance(metric, type):
        instance: Metric = metric
        return instance
    plugin = METRICS.get(metric) if isinstance(metric, str) else metric
    name = metric if isinstance(metric, str) else getattr(metric, "__name__", type(metric).__name__)
    factory: Callable[..., Metric] = as_factory(name, plugin)
    facts: MetricFacts = factory.facts  # type: ignore[attr-defined]  # as_factory gives nothing without facts
    if criterion is None:
        criterion = facts.example.get(facts.name)
    if criterion is None:
        return factory()
    if isinstance(criterion, int | float):
        criterion = {"threshold": criterion}
    return factory(BaseCriterion.model_validate(criterion))


class _Trials:
    """Score many cases with one metric, and collect the problems of its results."""

    def __init__(self, metric: Metric, judge: Any) -> None:
        self.metric, self._judge = metric, judge
        self.problems: list[str] = []

    def of(self, name: str, view: CaseView) -> MetricScore | None:
        """Return the score of one case, after checking it and its explanations."""
        before = _content(view)
        score = self._call_metric(name, view)
        if score is not None:
            self._note(name, _problems_of_score(self.metric.facts, score, len(view.actual)))
            self._note(name, self._explained(view, score))
        if _content(view) != before:
            self._note(name, ["it changed what it was given; score a copy"])
        return score

    def again(self, name: str, view: CaseView, first: MetricScore | None) -> None:
        """Score a case a second time, after all other cases."""
        if first is None:
            return
        second = self._call_metric(name, view)
        if second is not None and _values(second) != _values(first):
            self._note(name, [f"it gave {_values(first)}, and {_values(second)} when it was asked again"])

    def _note(self, name: str, problems: Iterable[str]) -> None:
        self.problems += [f"{name}: {problem}" for problem in problems]

    def _call_metric(self, name: str, view: CaseView) -> MetricScore | None:
        try:
            score = run_sync(lambda: _score_of(self.metric, view, self._judge))
        except Exception as error:  # noqa: BLE001 - any exception of a metric is a finding
            self._note(name, [f"it raised {type(error).__name__}: {error}"])
            return None
        if isinstance(score, MetricScore):
            return score
        self._note(name, [f"it returned {type(score).__name__}, not a MetricScore"])
        return None

    def _explained(self, view: CaseView, score: MetricScore) -> Iterator[str]:
        explain = getattr(self.metric, "explain", None)
        if explain is None or score.failure is not None:
            return
        values = _values(score)
        for index, turn in enumerate(score.per_invocation):
            try:
                explanation = explain(view, score, index)
            except Exception as error:  # noqa: BLE001 - as above
                yield f"explaining turn {index + 1} raised {type(error).__name__}: {error}"
                continue
            if not explanation.reason and turn.value is not None:
                yield f"the explanation of turn {index + 1} gives no reason"
            yield from _not_json(explanation.details, f"the explanation of turn {index + 1}")
        if _values(score) != values:
            yield "explaining changed the score"


async def _score_of(metric: Metric, view: CaseView, judge: Any) -> object:
    """Return the metric's result, which may violate its contract."""
    if hasattr(metric, "use"):
        metric.use(JudgesOnDemand(judge))
    return await settle(metric.score(view))


def _values(score: MetricScore) -> tuple[float | None, list[float | None]]:
    return score.value, [each.value for each in score.per_invocation]


def _content(view: CaseView) -> Any:
    """Return the data of a view, without what the view computes itself."""
    data = {each.name: getattr(view, each.name) for each in fields(view) if each.init}
    turns = [[one.model_dump() for one in data.pop(name) or ()] for name in ("actual", "expected")]
    return turns, deepcopy(data)


# --- checks -----------------------------------------------------------------------------------------------------------


def _problems_of_facts(facts: MetricFacts) -> Iterator[str]:
    if not facts.name:
        yield "facts: the name is empty"
    if not facts.description:
        yield "facts: state in one sentence what it measures (`description`, or the docstring of a function)"
    threshold, low, high = facts.default_threshold, facts.minimum, facts.maximum
    if high is not None and low >= high:
        yield f"facts: the lowest score ({low:g}) is not below the highest ({high:g})"
    if threshold is not None and (threshold <= low or (high is not None and threshold > high)):
        yield f"facts: the default threshold {threshold:g} decides nothing within the range"


def _problems_of_score(facts: MetricFacts, score: MetricScore, turns: int) -> Iterator[str]:
    if score.failure is not None:
        yield f"it could not be computed: {score.failure.cause}"
        return
    yield from _problems_of_value(facts, score, "it")
    if len(score.per_invocation) not in {0, turns}:
        yield f"it gave {len(score.per_invocation)} scores for {turns} turns"
    for number, turn in enumerate(score.per_invocation, 1):
        yield from _problems_of_value(facts, turn, f"turn {number}")


def _problems_of_value(facts: MetricFacts, score: MetricScore | Score, what: str) -> Iterator[str]:
    value = score.value
    yield from _not_json(score.details, what)
    if value is None:
        if not score.not_applicable:
            yield f"{what}: there is no score; use `not_applicable=True` with a reason"
        elif not score.reason:
            yield f"{what}: it does not apply, and gives no reason"
    elif not is_score(value):
        yield f"{what}: {value!r} is not a score"
    elif value < facts.minimum or (facts.maximum is not None and value > facts.maximum):
        high = "any number" if facts.maximum is None else f"{facts.maximum:g}"
        yield f"{what}: {value:g} is outside its range of {facts.minimum:g} to {high}"


def _not_json(details: Any, what: str) -> Iterator[str]:
    try:
        json.dumps(details, allow_nan=False)
    except (TypeError, ValueError) as error:
        yield f"{what}: its details are no JSON ({error})"


# --- sample conversations ---------------------------------------------------------------------------------------------


def sample_views(facts: MetricFacts) -> dict[str, CaseView]:
    """Return conversations that expose typical mistakes, by name; without a reference only for metrics that need none."""
    sunny = _turn("It is sunny in Paris, 21 degrees.", [_call({"city": "Paris"})])
    other = _turn("No idea.", [_call({"city": "Lyon", "days": 3}), _call(None, "search")])
    silent, empty = _turn(None), _turn("")
    odd = _turn(
        "e\u0301 \U0001f326\ufe0f \u0e44\u0e17\u0e22 \u0661\u0662 \u202eabc\u202c \x1b[31mred\x00 \u00b2\u2167"
    )
    pairs: dict[str, tuple[Sequence[Invocation], Sequence[Invocation]]] = {
        "as expected": ([sunny], [sunny]),
        "another answer and other calls": ([other], [sunny]),
        "no turns": ([], []),
        "no answer": ([silent], [sunny]),
        "an answer without text": ([empty], [sunny]),
        "no reference": ([sunny], [silent]),
        "an empty reference": ([sunny], [empty]),
        "neither answer nor reference": ([silent], [silent]),
        "several turns": ([sunny, silent, other], [sunny, sunny, empty]),
        "odd characters": ([odd], [odd]),
        "odd characters, expected": ([sunny], [odd]),
        "a long answer": ([_turn("sunny and 21 degrees " * 500)], [sunny]),
        "events": ([_with_events(sunny)], [sunny]),
    }
    views = {name: _view(actual, expected) for name, (actual, expected) in pairs.items()}
    if "expected" not in facts.needs:
        views["nothing recorded"] = _view([sunny, silent], None)
    return views


def _view(actual: Sequence[Invocation], expected: Sequence[Invocation] | None) -> CaseView:
    def copied(turns: Sequence[Invocation]) -> list[Invocation]:
        return [one.model_copy(deep=True) for one in turns]

    return CaseView(
        eval_id="sample",
        actual=copied(actual),
        expected=None if expected is None else copied(expected),
        expected_state={"city": "Paris"},
        actual_state={"city": "Paris", "asked": 1},
    )


_TOOLS = [
    {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}},
    {"name": "search"},
]


def _turn(answer: str | None, calls: Sequence[dict[str, Any]] | None = None) -> Invocation:
    return Invocation.model_validate(
        {
            "user_content": {"role": "user", "parts": [{"text": "How is the weather?"}]},
            "final_response": None if answer is None else {"role": "model", "parts": [{"text": answer}]},
            "intermediate_data": None if calls is None else {"tool_uses": [*calls]},
            "app_details": {"agent_details": {"helper": {"name": "helper", "tool_declarations": _TOOLS}}},
        }
    )


def _call(args: dict[str, Any] | None, name: str = "get_weather") -> dict[str, Any]:
    return {"name": name, "args": args}


def _with_events(turn: Invocation) -> Invocation:
    """Return the turn in the form in which a run records it: events with authors."""
    messages = [{"text": "Let me see."}], [{"function_call": _call({"city": "Paris"})}]
    events = [{"author": "helper", "content": {"role": "model", "parts": parts}} for parts in messages]
    return Invocation.model_validate(
        {**turn.model_dump(), "intermediate_data": {"invocation_events": events}}
    )
