"""Metrics that are functions of users, from a config, a decorator or an entry point.

A function has one of two forms, recognised by its parameters (see `signature`), and may be plain or async. A plain
function runs in the event loop: one that waits (for a network, a database) delays all running trials
and should be async.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, TypeVar, overload

from proctor.common.async_tools import settle
from proctor.common.registry import METRICS
from proctor.errors import CriterionError, MetricError, SetupError, did_you_mean
from proctor.metrics.base import CaseView, Metric, MetricFacts, paired
from proctor.metrics.builtin import METRICS as BUILT_IN
from proctor.metrics.criterion_check import check_criterion
from proctor.metrics.custom.adk_functions import uses_adk_classes
from proctor.metrics.custom.scoring_function import (
    Signature,
    check_agreement,
    read_adk_signature,
    read_answer,
    read_signature,
    read_turn,
)
from proctor.metrics.reason_text import show_text
from proctor.schema.format.config import CustomMetricConfig
from proctor.schema.format.content import text_of
from proctor.schema.format.criterion import BaseCriterion, EvalMetric
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.rubric import Rubric
from proctor.schema.results.score import MetricScore, mean_score

Function = Callable[..., Any]
F = TypeVar("F", bound=Function)


class FunctionMetric:
    """A metric computed by a function, bound to its criterion."""

    def __init__(
        self,
        facts: MetricFacts,
        function: Function,
        signature: Signature,
        criterion: BaseCriterion,
        path: str,
    ) -> None:
        self.facts = facts
        self.function = function
        self._signature = signature
        self._criterion = criterion
        self._path = path
        self._takes_adk_objects = uses_adk_classes(function)

    async def score(self, case: CaseView) -> MetricScore:
        """Call the function; its exceptions are not caught.

        Raises:
            MetricError: it returned something that is not a score.
        """
        case = _own_copy(case)
        if self._signature.whole:
            # as ADK passes it; the threshold is only in the criterion
            eval_metric = EvalMetric(
                metric_name=self.facts.name,
                criterion=self._criterion,
                custom_function_path=self._path or None,
            )
            answer = await self._call(
                actual=case.actual,
                expected=case.expected,
                scenario=case.scenario,
                eval_metric=eval_metric,
            )
            score = read_answer(self.facts, answer, len(case.actual))
            if self.facts.gates:
                check_agreement(answer, score, self._criterion.threshold)
            return score
        expected_turns = (
            [each for _, each in paired(case)] if case.expected is not None else [None] * len(case.actual)
        )
        scores = []
        for index, (actual, expected) in enumerate(zip(case.actual, expected_turns, strict=True)):
            try:
                answer = await self._call(actual=actual, expected=expected)
                scores.append(read_turn(self.facts, answer, index))
            except Exception as error:
                error.add_note(_turn_note(actual, index, is_named=isinstance(error, MetricError)))
                raise
        return mean_score(scores)

    async def _call(self, **values: object) -> Any:
        """Call the function: with google-adk's objects, if it is written against google-adk's classes."""
        arguments = self._signature.arguments({**values, "criterion": self._criterion})
        if self._takes_adk_objects:
            from proctor.metrics.custom.adk_functions import to_adk

            arguments = {name: to_adk(value) for name, value in arguments.items()}
        return await settle(self.function(**arguments))


def _turn_note(invocation: Invocation, index: int, *, is_named: bool) -> str:
    """Return the turn at which a function failed, unless the message names it, and the agent's answer in that turn."""
    answer = text_of(invocation.final_response, thoughts=False)
    answered = f"the agent answered {show_text(answer)}" if answer else "the agent gave no answer"
    return answered if is_named else f"turn {index + 1}, in which {answered}"


def _own_copy(case: CaseView) -> CaseView:
    """Return the case with copied invocations, so that a function cannot change the evidence or another score.

    As in google-adk, the actual invocations have the rubrics of the case and of the expected invocation.
    """
    expected = None if case.expected is None else [each.model_copy(deep=True) for each in case.expected]
    actual = [each.model_copy(deep=True) for each in case.actual]
    for index, invocation in enumerate(actual):
        rubrics = [*case.rubrics, *_rubrics_of_turn(expected or [], index)]
        if invocation.rubrics is None and rubrics:
            invocation.rubrics = [rubric.model_copy(deep=True) for rubric in rubrics]
    return replace(case, actual=actual, expected=expected)


def _rubrics_of_turn(expected: Sequence[Invocation], index: int) -> list[Rubric]:
    return (expected[index].rubrics or []) if index < len(expected) else []


@dataclass(frozen=True, slots=True)
class FunctionMetricFactory:
    """Builds a function's metric from a criterion; the registry holds it like the class of a built-in metric."""

    facts: MetricFacts
    function: Function
    signature: Signature
    path: str = ""

    def __call__(self, criterion: BaseCriterion | None = None) -> FunctionMetric:
        """Build the metric.

        Raises:
            CriterionError: the threshold cannot fail, or cannot pass, within the metric's range.
        """
        checked = check_criterion(self.facts, criterion, BaseCriterion)
        return FunctionMetric(self.facts, self.function, self.signature, checked, self.path)


@overload
def metric(name: F, /) -> F: ...


@overload
def metric(
    name: str | None = None,
    /,
    *,
    threshold: float | None = None,
    description: str = "",
    minimum: float | None = None,
    maximum: float | None = None,
) -> Callable[[F], F]: ...


def metric(
    name: Any = None,
    /,
    *,
    threshold: float | None = None,
    description: str = "",
    minimum: float | None = None,
    maximum: float | None = None,
) -> Any:
    """Register a function as a metric of this process: `@proctor.metric("politeness", threshold=0.8)`.

    Its name can then be used in criteria. Without a name it has the name of the function, which is returned unchanged.
    Scores range from 0 to 1, or from `minimum` to `maximum` (`math.inf`: no upper limit); a score outside is an error.

    Raises:
        CriterionError: the function's parameters fit neither form, the name is that of a built-in metric, or
            minimum is not below maximum.
    """
    if callable(name):
        return metric()(name)

    def register(function: F) -> F:
        called = name or function.__name__
        if called in BUILT_IN:
            raise CriterionError(f"{called!r} is the name of a built-in metric; give yours another name.")
        facts = _facts(called, function, description)
        facts = with_range(replace(facts, default_threshold=threshold), minimum, maximum)
        METRICS.add(called, _factory(facts, function))
        return function

    return register


def from_config(name: str, custom: CustomMetricConfig, criterion: BaseCriterion | None = None) -> Metric:
    """Build the metric `custom_metrics[name]` of a config, which has a dotted path.

    Raises:
        CriterionError: the path does not exist, or is not a scoring function; the import failed; the
            criterion does not fit.
    """
    path = custom.code_config.name
    plugin = _import(name, path)
    if hasattr(plugin, "facts"):  # a metric class
        return _build(name, plugin, criterion)
    facts = _declared_facts(name, plugin, custom.description)
    interval = custom.metric_info.metric_value_info.interval if custom.metric_info else None
    if interval is not None:
        facts = with_range(facts, interval.min_value, interval.max_value)
    return _factory(facts, plugin, path)(criterion)


def _build(name: str, plugin: Function, criterion: BaseCriterion | None) -> Metric:
    try:
        metric: Metric = plugin(criterion)
    except SetupError:
        raise
    except (Exception, SystemExit) as error:
        raise CriterionError(
            f"The custom metric {name!r}: creating it with its criterion raised {type(error).__name__}: {error}"
        ) from error
    return metric


def as_factory(name: str, plugin: Any) -> Any:
    """Return what is registered under `name` as an object with facts that builds a metric from a criterion.

    Metric classes are returned unchanged; a plain function (of an entry point) is wrapped.
    """
    return plugin if hasattr(plugin, "facts") else _factory(_facts(name, plugin, ""), plugin)


def _declared_facts(name: str, function: object, description: str) -> MetricFacts:
    """Return the facts of a function that a config names: those that `@metric` declares, if it is decorated."""
    for factory in METRICS.added():
        if isinstance(factory, FunctionMetricFactory) and factory.function is function:
            return replace(factory.facts, name=name, description=description or factory.facts.description)
    return _facts(name, function, description)


def _facts(name: str, function: object, description: str) -> MetricFacts:
    first_line = (inspect.getdoc(function) or "").partition("\n")[0]
    return MetricFacts(
        name=name,
        description=description or first_line,
        kind="custom",
        source="your own function",
    )


def with_range(facts: MetricFacts, minimum: float | None, maximum: float | None) -> MetricFacts:
    """Return the facts with a range; the defaults are 0 and 1, as in google-adk.

    Raises:
        CriterionError: minimum is not below maximum.
    """
    low, high = 0.0 if minimum is None else minimum, 1.0 if maximum is None else maximum
    if not low < high:
        raise CriterionError(
            f"The metric {facts.name!r} has the range from {low:g} to {high:g}: `minimum` must be below `maximum` "
            "(the defaults are 0 and 1)."
        )
    return replace(facts, minimum=low, maximum=high)


def _factory(facts: MetricFacts, function: Function, path: str = "") -> FunctionMetricFactory:
    if not callable(function):
        raise CriterionError(
            f"The custom metric {facts.name!r} is of type {type(function).__name__}, not a function."
        )
    try:
        signature = read_signature(facts.name, function)
    except CriterionError:
        by_position = read_adk_signature(function) if uses_adk_classes(function) else None
        if by_position is None:
            raise
        signature = by_position
    if signature.needs_expected:
        facts = replace(facts, needs=frozenset({"expected"}))
    return FunctionMetricFactory(facts, function, signature, path)


def read_path(name: str, path: str) -> tuple[str, str]:
    """Return the module and the attribute that a dotted path names.

    Raises:
        CriterionError: it is not a dotted path.
    """
    module_name, _, attribute = path.replace(":", ".").rpartition(".")
    if not module_name or not attribute:
        raise CriterionError(
            f"The custom metric {name!r}: code_config.name must be a dotted path to a function "
            f"(package.module.function), got {path!r}."
        )
    return module_name, attribute


def _import(name: str, path: str) -> Any:
    module_name, attribute = read_path(name, path)
    try:
        module = import_module(module_name)
    except (Exception, SystemExit) as error:
        raise CriterionError(
            f"The custom metric {name!r}: importing {module_name!r} failed: {type(error).__name__}: {error}"
        ) from error
    try:
        return getattr(module, attribute)
    except AttributeError:
        known = [each for each in vars(module) if not each.startswith("_")]
        hint = did_you_mean(attribute, known)
        raise CriterionError(
            f"The custom metric {name!r}: {module_name!r} has no {attribute!r}.{hint}"
        ) from None
