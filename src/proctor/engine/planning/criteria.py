"""From a config to metrics that can score: every mistake in it found before anything runs."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from proctor.common.registry import METRICS, load_object
from proctor.engine.planning.bound_metric import FINAL_STATE, BoundMetric
from proctor.engine.planning.metric_order import order_of
from proctor.engine.planning.run_options import RunOptions
from proctor.engine.scoring.judge_scheduling import given_judge
from proctor.engine.scoring.turn_aggregation import AGGREGATES, MEAN
from proctor.errors import CriterionError, SetupError, did_you_mean, unknown_name
from proctor.metrics.base import RECORDED, SCENARIO, CaseView, Metric, MetricFacts, idle_options
from proctor.schema.format.config import EvalConfig
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.results.score import MetricScore

EFFICIENCY = ("tool_call_count_v1", "inference_call_count_v1", "token_usage_v1", "invocation_duration_v1")


@dataclass(slots=True)
class Bound:
    """The metrics of one config: those that run, those left out on purpose, and what is wrong."""

    metrics: list[BoundMetric]
    skipped: dict[str, str]
    problems: list[SetupError]
    doubts: list[SetupError] = field(default_factory=list)
    """What a person should know about the criteria; no reason not to run."""
    left_out: list[BoundMetric] = field(default_factory=list)
    """The metrics of `skipped`, of which only the facts count: whether a case asserts something for one of them."""


def bind(config: EvalConfig, options: RunOptions) -> Bound:
    """Build every metric that `config` names, then the final-state check and the efficiency metrics."""
    bound = Bound([], {}, [])
    if options.metrics is not None:
        bound.problems += _unlisted(options.metrics, [*config.criteria, *EFFICIENCY, FINAL_STATE])
    bound.problems += _name_clashes(config)
    for name in config.criteria:
        _bind_one(name, config, options, bound)
    if FINAL_STATE not in config.criteria and options.compat != "adk":
        _append(FINAL_STATE, BaseCriterion(threshold=1.0), options, bound)
    for name in EFFICIENCY:
        if name not in config.criteria:
            _append(name, None, options, bound)
    _combine(config, bound)
    by_name = {metric.name: metric for metric in (*bound.metrics, *bound.left_out)}
    for metric in bound.left_out:
        metric.parts = [by_name[name] for name in getattr(metric.metric, "combines", ()) if name in by_name]
    return bound


def _name_clashes(config: EvalConfig) -> list[SetupError]:
    """Return the custom metrics that would replace a built-in one."""
    problems: list[SetupError] = []
    for name in config.custom_metrics or {}:
        if METRICS.is_built_in(name):
            said = f"{name!r} is the name of a built-in metric; give the custom metric another name"
            problem = CriterionError(f"custom_metrics: {said}")
            problem.path, problem.parts = ("custom_metrics", name), [said]
            problems.append(problem)
    return problems


def _combine(config: EvalConfig, bound: Bound) -> None:
    """Put metrics that need the scores of others after those, and give them what they need to know of them."""
    by_name = {metric.name: metric for metric in bound.metrics}
    combines = {name: tuple(getattr(metric.metric, "combines", ())) for name, metric in by_name.items()}
    if not any(combines.values()):
        return
    broken = [name for name in config.criteria if name not in by_name and name not in bound.skipped]
    order = order_of(combines, skipped=bound.skipped, broken=broken)
    bound.problems += order.problems
    bound.skipped.update(order.skipped)
    if bound.problems:
        return
    bound.metrics = [by_name[name] for name in order.names]
    bound.left_out += [by_name[name] for name in order.skipped]
    for metric in bound.metrics:
        metric.parts = [by_name[name] for name in combines[metric.name]]
        if metric.parts and hasattr(metric.metric, "meet"):
            try:
                metric.metric.meet({part.name: part.facts for part in metric.parts})
            except CriterionError as problem:
                problem.path = ("criteria", metric.name)
                bound.problems.append(problem)


def _unlisted(asked: Collection[str], listed: Collection[str]) -> list[SetupError]:
    return [
        SetupError(
            f"--metrics names {name!r}, which the criteria do not have.{did_you_mean(name, listed)} "
            f"They have: {', '.join(listed)}."
        )
        for name in asked
        if name not in listed
    ]


def _bind_one(name: str, config: EvalConfig, options: RunOptions, bound: Bound) -> None:
    criterion = config.criterion_for(name)
    if criterion is not None and options.compat is not None:
        criterion = criterion.model_copy(update={"compat": options.compat})
    _append(name, criterion, options, bound, custom=(config.custom_metrics or {}).get(name))


def _append(
    name: str, criterion: BaseCriterion | None, options: RunOptions, bound: Bound, *, custom: Any = None
) -> None:
    """Build one metric and put it where it belongs."""
    if options.metrics is not None and name not in options.metrics and name not in EFFICIENCY:
        bound.skipped[name] = "--metrics"
        if options.metrics:  # an empty list is a slip
            bound.left_out.append(_only_facts(name, criterion, custom))
        return
    try:
        metric = _build(name, criterion, options, custom)
        if metric is None:
            bound.skipped[name] = "--no-judge"
            bound.left_out.append(_only_facts(name, criterion, custom))
            return
        found = _bound(name, metric, criterion)
        if "judge" in metric.facts.needs:
            given = given_judge(metric, options.judges)
            found.judge, found.judge_code = given.model, given.code
            bound.doubts += [_doubt(name, said) for said in given.notes]
        bound.metrics.append(found)
        bound.doubts += [_doubt(name, said) for said in idle_options(metric.facts, criterion)]
    except SetupError as problem:
        problem.path = ("criteria", name)
        bound.problems.append(problem)


def _only_facts(name: str, criterion: BaseCriterion | None, custom: Any) -> BoundMetric:
    """Bind a metric that is left out: nothing is asked of it but its facts, and code of the user's is not loaded."""
    try:
        built = None if custom is not None else _build(name, criterion, RunOptions(), None)
        if built is not None:
            return _bound(name, built, criterion)
    except SetupError:  # it takes no part in the run, and neither do its mistakes
        pass
    return BoundMetric(LeftOut(MetricFacts(name=name, description="left out")), None, gate=True)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A metric that is left out and not loaded."""

    facts: MetricFacts

    def score(self, case: CaseView) -> MetricScore:
        """Refuse: it is never asked."""
        raise NotImplementedError(case.eval_id)


def _doubt(name: str, said: str) -> SetupError:
    doubt = CriterionError(f"{name}: {said}")
    doubt.path, doubt.parts = ("criteria", name), [said]
    return doubt


def _build(name: str, criterion: BaseCriterion | None, options: RunOptions, custom: Any) -> Metric | None:
    """Return the metric, or `None` for one that asks a model when judges are left out."""
    METRICS.check_clash(name)
    if custom is not None:
        built: Metric = load_object("proctor.metrics.custom.function_metric:from_config")(
            name, custom, criterion
        )
        return built
    if name not in METRICS:
        raise unknown_name("metric", name, METRICS.names())
    factory = METRICS.get(name)
    if not hasattr(factory, "facts"):  # a plain function of an entry point
        factory = load_object("proctor.metrics.custom.function_metric:as_factory")(name, factory)
    facts: MetricFacts = factory.facts
    if options.no_judge and "judge" in facts.needs:
        return None
    metric: Metric = factory(criterion) if criterion is not None else factory()
    return metric


def _bound(name: str, metric: Metric, criterion: BaseCriterion | None) -> BoundMetric:
    facts = metric.facts
    extra: dict[str, Any] = (criterion.model_extra or {}) if criterion is not None else {}
    gate, applies_to = extra.get("gate", True), extra.get("applies_to")
    aggregate = extra.get("aggregate", MEAN)
    if not isinstance(gate, bool):
        raise CriterionError(f"{facts.name}: `gate` must be true or false, got {gate!r}")
    if applies_to not in (None, RECORDED, SCENARIO):
        raise CriterionError(
            f"{facts.name}: `applies_to` must be 'recorded' or 'scenario', got {applies_to!r}"
        )
    if aggregate not in AGGREGATES:
        raise CriterionError(
            f"{facts.name}: `aggregate` must be {', '.join(map(repr, AGGREGATES))}, got {aggregate!r}."
            f"{did_you_mean(str(aggregate), AGGREGATES)}"
        )
    threshold = criterion.threshold if criterion is not None and facts.gates else None
    compat = extra.get("compat") is not None or extra.get("reading") in ("adk-rs", "adk-ts")
    return BoundMetric(metric, threshold, gate and facts.gates, applies_to, aggregate, name, as_in_adk=compat)
