"""Bind the metrics of a config to their criteria; report every mistake in the config before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from proctor.common.registry import METRICS, load_object
from proctor.engine.planning.bound_metric import FINAL_STATE, BoundMetric, bind_metric
from proctor.engine.run_options import RunOptions
from proctor.errors import (
    CriterionError,
    SetupError,
    UnknownNameError,
    did_you_mean,
    suggest_names,
    unknown_name,
)
from proctor.metrics.base import CaseView, Metric, MetricFacts, idle_options
from proctor.schema.format.config import EvalConfig
from proctor.schema.format.criterion import BaseCriterion, JudgeModelOptions
from proctor.schema.results.manifest import UNKNOWN_MODULES
from proctor.schema.results.score import MetricScore
from proctor.schema.serialize import content_hash

if TYPE_CHECKING:
    from proctor.judges.base import AnswerCache, Judge, Judges
    from proctor.schema.results.model_usage import Spent

EFFICIENCY = ("tool_call_count_v1", "inference_call_count_v1", "token_usage_v1", "invocation_duration_v1")


@dataclass(slots=True)
class Bound:
    """The metrics of one config: those that run, those left out by options, and the problems."""

    metrics: list[BoundMetric]
    skipped: dict[str, str]
    problems: list[SetupError]
    warnings: list[SetupError] = field(default_factory=list)
    """Warnings about the criteria; the run begins anyway."""
    left_out: list[BoundMetric] = field(default_factory=list)
    """The metrics of `skipped`. Only their facts are read: whether a case asserts something for one of them."""


def bind(config: EvalConfig, options: RunOptions) -> Bound:
    """Build every metric that `config` names, then the final-state check and the efficiency metrics."""
    bound = Bound([], {}, [])
    if options.metrics is not None:
        bound.problems += _unknown_metrics(options.metrics, [*config.criteria, *EFFICIENCY, FINAL_STATE])
    bound.problems += _name_clashes(config)
    for name in config.criteria:
        _bind_one(name, config, options, bound)
    if FINAL_STATE not in config.criteria and options.compat != "adk":
        _append(FINAL_STATE, BaseCriterion(threshold=1.0), options, bound)
    for name in EFFICIENCY:
        if name not in config.criteria:
            _append(name, None, options, bound)
    bound.problems = _join_missing_judges(bound.problems)
    _combine(config, bound)
    by_name = {metric.name: metric for metric in (*bound.metrics, *bound.left_out)}
    for metric in bound.left_out:
        metric.parts = _parts_of(metric, by_name)
    return bound


def _combined_names(metric: BoundMetric) -> tuple[str, ...]:
    return tuple(getattr(metric.metric, "combines", ()))


def _parts_of(metric: BoundMetric, by_name: Mapping[str, BoundMetric]) -> list[BoundMetric]:
    """Return those of the metrics that a metric combines."""
    return [by_name[name] for name in _combined_names(metric) if name in by_name]


def _name_clashes(config: EvalConfig) -> list[SetupError]:
    """Return the custom metrics that would replace a built-in one."""
    problems: list[SetupError] = []
    for name in config.custom_metrics or {}:
        if METRICS.is_built_in(name):
            message = f"{name!r} is the name of a built-in metric; give the custom metric another name"
            problem = CriterionError(f"custom_metrics: {message}")
            problem.path, problem.parts = ("custom_metrics", name), [message]
            problems.append(problem)
    return problems


def _combine(config: EvalConfig, bound: Bound) -> None:
    """Put metrics that combine others after those, and pass them the facts of those."""
    by_name = {metric.name: metric for metric in bound.metrics}
    combines = {name: _combined_names(metric) for name, metric in by_name.items()}
    if not any(combines.values()):
        return
    bound_or_skipped = {*by_name, *bound.skipped}
    broken = [name for name in config.criteria if name not in bound_or_skipped]
    order = order_of(combines, skipped=bound.skipped, broken=broken)
    bound.problems += order.problems
    bound.skipped.update(order.skipped)
    if bound.problems:
        return
    bound.metrics = [by_name[name] for name in order.names]
    bound.left_out += [by_name[name] for name in order.skipped]
    for metric in bound.metrics:
        metric.parts = _parts_of(metric, by_name)
        _introduce_parts(metric, bound.problems)


def _introduce_parts(metric: BoundMetric, problems: list[SetupError]) -> None:
    """Pass a metric the facts of its parts; add the problem of a metric that refuses them."""
    if metric.parts and hasattr(metric.metric, "meet"):
        try:
            metric.metric.meet({part.name: part.facts for part in metric.parts})
        except CriterionError as problem:
            problem.path = ("criteria", metric.name)
            problems.append(problem)


def _unknown_metrics(names: Collection[str], known_names: Collection[str]) -> list[SetupError]:
    return [
        UnknownNameError(
            f"metrics: the criteria do not have {name!r}.{suggest_names(name, known_names)} -v lists the names.",
            known_names,
        )
        for name in names
        if name not in known_names
    ]


def _bind_one(name: str, config: EvalConfig, options: RunOptions, bound: Bound) -> None:
    criterion = config.criterion_for(name)
    if criterion is not None and options.compat is not None:
        criterion = criterion.model_copy(update={"compat": options.compat})
    _append(name, criterion, options, bound, custom=(config.custom_metrics or {}).get(name))


def _append(
    name: str, criterion: BaseCriterion | None, options: RunOptions, bound: Bound, *, custom: Any = None
) -> None:
    """Build one metric and add it to the metrics that run or to those left out."""
    if options.metrics is not None and name not in options.metrics and name not in EFFICIENCY:
        bound.skipped[name] = "--metrics"
        if options.metrics:  # an empty list is a mistake that is reported elsewhere
            bound.left_out.append(_only_facts(name, criterion, custom))
        return
    try:
        metric = _build(name, criterion, options, custom)
        if metric is None:
            bound.skipped[name] = "--no-judge"
            bound.left_out.append(_only_facts(name, criterion, custom))
            return
        bound_metric = bind_metric(name, metric, criterion)
        if "judge" in metric.facts.needs:
            _set_judge(bound_metric, options, bound)
        bound.metrics.append(bound_metric)
        if criterion is not None:
            bound.warnings += [_warning(name, text) for text in idle_options(metric.facts, criterion)]
    except SetupError as problem:
        problem.path = ("criteria", name)
        bound.problems.append(problem)


def _join_missing_judges(problems: Iterable[SetupError]) -> list[SetupError]:
    """Return the problems; those of one judge that cannot be asked are one problem that names all of its metrics."""
    joined: list[SetupError] = []
    names: dict[str, list[str]] = {}
    for problem in problems:
        is_judge = (
            type(problem) is SetupError and not problem.is_mistake and problem.path[:1] == ("criteria",)
        )
        if not is_judge:
            joined.append(problem)
        elif (others := names.get(str(problem))) is not None:
            others.append(str(problem.path[-1]))
        else:
            names[str(problem)] = [str(problem.path[-1])]
            joined.append(problem)
    return [
        _missing_judge(problem, names[str(problem)]) if str(problem) in names else problem
        for problem in joined
    ]


def _missing_judge(problem: SetupError, metrics: Sequence[str]) -> SetupError:
    error = SetupError(f"{problem}, `--no-judge` (of an audit: no `--judge`) leaves out {', '.join(metrics)}")
    error.path, error.is_mistake = problem.path, False
    return error


def _only_facts(name: str, criterion: BaseCriterion | None, custom: Any) -> BoundMetric:
    """Bind a metric that is left out: only its facts are read, and user code is not loaded."""
    try:
        built = None if custom is not None else _build(name, criterion, RunOptions(), None)
        if built is not None:
            return bind_metric(name, built, criterion)
    except SetupError:  # mistakes in a metric that does not run are not reported
        pass
    return BoundMetric(OmittedMetric(MetricFacts(name=name, description="left out")), None, gate=True)


@dataclass(frozen=True, slots=True)
class OmittedMetric:
    """Placeholder of a metric that is left out and not loaded."""

    facts: MetricFacts

    def score(self, case: CaseView) -> MetricScore:
        """Refuse: a metric that is left out is never asked."""
        raise NotImplementedError(case.eval_id)


def _warning(name: str, text: str) -> SetupError:
    warning = CriterionError(f"{name}: {text}")
    warning.path, warning.parts = ("criteria", name), [text]
    return warning


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


def _set_judge(metric: BoundMetric, options: RunOptions, bound: Bound) -> None:
    choice = choose_judges(metric.metric, options.judges)
    metric.judge, metric.judge_code = choice.model, choice.code
    bound.warnings += [_warning(metric.name, note) for note in choice.notes]


# --- The order of metrics that need the scores of others --------------------------------------------------------------


@dataclass(slots=True)
class Order:
    """The order in which metrics are asked, the metrics left out with one that they need, and the problems."""

    names: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    """Name -> the option that leaves it out."""
    problems: list[SetupError] = field(default_factory=list)


def order_of(
    combines: Mapping[str, Collection[str]],
    *,
    skipped: Mapping[str, str],
    broken: Collection[str] = (),
) -> Order:
    """Put each metric after those that it combines; keep the order of all others.

    `combines`: name -> names that it needs (most need none), in the order of the config. `skipped`: metrics that options leave
    out, and which option. `broken`: metrics of the config that could not be built, which is reported elsewhere.
    """
    order = Order()
    for name, problem in _problems(combines, skipped, broken):
        problem.path = ("criteria", name)
        order.problems.append(problem)
    waiting = dict(combines)
    while waiting:
        left_out = {**skipped, **order.skipped}
        for name, needed in waiting.items():
            if without := next((part for part in needed if part in left_out), None):
                order.skipped[name] = left_out[without]
                break
            if all(part in order.names or part not in combines for part in needed):
                order.names.append(name)
                break
        else:
            order.problems.append(_circle(waiting))
            return order
        del waiting[name]
    return order


def _problems(
    combines: Mapping[str, Collection[str]], skipped: Mapping[str, str], broken: Collection[str]
) -> Iterable[tuple[str, SetupError]]:
    """Yield each problem with the name of its metric."""
    for name, needed in combines.items():
        for part in needed:
            if part in combines or part in broken:
                continue
            if skipped.get(part) == "--metrics":
                left_out = f"{name!r} combines {part!r}, which --metrics leaves out. Name it there, too."
                yield name, CriterionError(left_out)
            elif part not in skipped:
                others = [other for other in combines if other != name]
                yield (
                    name,
                    CriterionError(
                        f"{name!r} combines {part!r}, which the criteria do not have.{did_you_mean(part, others)} "
                        f"They have: {', '.join(others) or 'no others'}."
                    ),
                )


def _circle(waiting: Mapping[str, Collection[str]]) -> CriterionError:
    """Return the error for metrics that need each other: follow their needs until a metric is met again."""
    path = [next(iter(waiting))]
    while path[-1] not in path[:-1]:
        path.append(next(part for part in waiting[path[-1]] if part in waiting))
    circle = " → ".join(map(repr, path[path.index(path[-1]) :]))
    problem = CriterionError(f"metrics combine each other in a circle: {circle}.")
    problem.path = ("criteria", path[-1])
    return problem


@dataclass(frozen=True, slots=True)
class JudgeChoice:
    """The judges that a metric asks."""

    model: str
    """The models as users name them."""
    code: str
    """Hash of their code, as `MetricManifest.judge_code` has it."""
    notes: list[str]


def choose_judges(metric: Any, judges: Judges | None) -> JudgeChoice:
    """Pass a metric the judges of the run; return which of them it asks.

    Raises:
        SetupError: the run has no judges, or the judge that the metric names cannot be asked.
    """
    if judges is None:
        raise CriterionError(
            f"The metric {metric.facts.name!r} asks a language model, and none may be asked here."
        )
    noting = _RecordingJudges(judges)
    try:
        metric.use(noting)
    except SetupError as problem:
        if type(problem) is not SetupError:
            raise
        other = "`judge_model` in the config" if noting.is_stated else "`--judge`"
        missing = SetupError(f"{str(problem).removesuffix('.')}. {other} names another model")
        missing.is_mistake = False  # a missing API key is not a mistake in the config
        raise missing from problem
    model = " ".join(dict.fromkeys(noting.models)) or "?"
    return JudgeChoice(model, noting.code(), list(dict.fromkeys(noting.notes)))


class _RecordingJudges:
    """Judges that record which of them a metric requested."""

    def __init__(self, judges: Judges) -> None:
        self._judges = judges
        self.models: list[str] = []
        self.codes: list[str | None] = []
        self.notes: list[str] = []
        self.is_stated = False

    def judge(self, metric: str, options: JudgeModelOptions, *, stated: bool) -> Judge:
        self.is_stated = stated
        judge = self._judges.judge(metric, options, stated=stated)
        self.models.append(judge.model)
        self.codes.append(getattr(judge, "code", ""))
        self.notes += judge.notes
        return judge

    def code(self) -> str:
        """Return one hash for the code of all recorded judges."""
        if None in self.codes:
            return UNKNOWN_MODULES
        known = [code for code in dict.fromkeys(self.codes) if code]
        return content_hash("\0".join(known).encode()) if known else ""

    def remember(self, cache: AnswerCache) -> None:
        self._judges.remember(cache)

    def spending(self) -> list[Spent]:
        return self._judges.spending()

    def listen(self, notify: Callable[[str], None]) -> None:
        self._judges.listen(notify)

    async def close(self) -> None:
        await self._judges.close()
