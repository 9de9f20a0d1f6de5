"""Everything the command line can do, from Python. The other doors go through here."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from pydantic import ValidationError

from proctor.engine.options import RunOptions
from proctor.engine.plan import CaseSource, Plan, PlannedSet, make_plan
from proctor.engine.progress import Progress, Silent
from proctor.errors import EvalFileError, SetupError, SetupProblems
from proctor.metrics.base import CaseView
from proctor.schema.config import EvalConfig
from proctor.schema.eval_set import EvalSet
from proctor.schema.invocation import Invocation
from proctor.schema.scenario import ConversationScenario
from proctor.schema.trial import Failure, FailureKind
from proctor.schema.verdict import MetricVerdict, RunResult, SetSummary

if TYPE_CHECKING:
    from proctor.agents.base import Agent

AgentLike = Any
"""An AGENT string, or an object of any recognised kind: see `proctor.load_agent`."""

EvalSetLike = str | Path | EvalSet | Mapping[str, Any]
"""A path or selector (`file.json:case_1,case_2`, a folder, the id of a set in the agent's folder), a set, or a dict."""

ConfigLike = str | Path | EvalConfig | Mapping[str, Any] | None
"""A path, a config, a dict; `None` finds `test_config.json` beside the set or above it, else ADK's defaults."""


class EvaluateOptions(TypedDict, total=False):
    """The keyword arguments that `evaluate`, `evaluate_sync` and `evaluate_matrix` share."""

    config: ConfigLike
    num_runs: int
    concurrency: int
    timeout: float | None
    trial_timeout: float | None
    metrics: Sequence[str] | None
    no_judge: bool
    limit: int | None
    tags: Sequence[str]
    only: Mapping[str, Sequence[str]] | None
    retry_errors: int
    fail_fast: bool
    keep_going: bool
    allow_duplicate_ids: bool
    compat: str | None
    agent_name: str | None
    setup: Callable[..., Any] | None
    teardown: Callable[..., Any] | None
    judge: Any
    store: str | None
    keep_evidence: Literal["all", "failures"]
    explain: Literal["all", "failures"]
    progress: Progress | None


async def evaluate(
    agent: AgentLike, eval_sets: EvalSetLike | Sequence[EvalSetLike], **options: Unpack[EvaluateOptions]
) -> RunResult:
    """Run every case of `eval_sets` against `agent` and judge what it did.

    `agent` is an AGENT string or an object: a function, a coroutine function, an object with `answer`, an agent of
    google-adk. `eval_sets` is one set or several.

    Keyword arguments: `config` (found beside each set when not given), `num_runs` (trials per case, 1),
    `concurrency` (trials at once, 8), `timeout` (seconds per turn, 300; `None`: no limit), `trial_timeout`,
    `metrics` (only these of the config), `no_judge`, `limit` (cases per set), `tags`, `only` (case ids by set id; other sets are left out),
    `retry_errors` (further attempts after infrastructure errors), `fail_fast`, `keep_going` (a set that cannot be
    read is an error of its own, the others run), `allow_duplicate_ids`, `compat="adk"`, `agent_name` (a sub-agent),
    `setup` / `teardown` (around each trial), `judge`, `store`, `keep_evidence` (`"failures"` keeps memory flat),
    `explain` (`"all"` gives reasons for passes, too), `progress`.

    Whatever happens inside a case is in the result: check `result.passed`, `result.outcome`, `result.exit_code`.

    Raises:
        SetupProblems: all that is wrong with the set-up, before the first agent call.
    """
    from proctor.engine.run import Run

    prepared = prepare(agent, eval_sets, options)
    run = Run(
        plan=prepared.plan,
        agent=prepared.agent,
        agent_label=prepared.agent_label,
        options=prepared.options,
        progress=options.get("progress") or Silent(),
        warnings=prepared.warnings,
        unreadable=prepared.unreadable,
    )
    return await run()


def evaluate_sync(
    agent: AgentLike, eval_sets: EvalSetLike | Sequence[EvalSetLike], **options: Unpack[EvaluateOptions]
) -> RunResult:
    """Do what `evaluate` does, from code that is not asynchronous."""
    from proctor.engine.loop import run_sync

    return run_sync(lambda: evaluate(agent, eval_sets, **options))


async def evaluate_matrix(
    agents: Sequence[AgentLike],
    eval_sets: EvalSetLike | Sequence[EvalSetLike],
    **options: Unpack[EvaluateOptions],
) -> list[RunResult]:
    """Evaluate several agents on the same sets, one after the other; the results are in the order of `agents`.

    Raises:
        SetupProblems: all that is wrong with any of them, before the first agent call.
    """
    problems: list[SetupError] = []
    for agent in agents:
        try:
            prepare(agent, eval_sets, options)
        except SetupProblems as found:
            problems += found.problems
    if problems:
        raise SetupProblems(list({str(problem): problem for problem in problems}.values()))
    return [await evaluate(agent, eval_sets, **options) for agent in agents]


@dataclass(slots=True)
class Prepared:
    """Agent and sets loaded, everything checked."""

    agent: Agent
    agent_label: str
    plan: Plan
    options: RunOptions
    warnings: list[str] = field(default_factory=list)
    unreadable: list[SetSummary] = field(default_factory=list)
    """Sets that could not be read (`keep_going`)."""


_RUN_OPTIONS = frozenset(RunOptions.__dataclass_fields__)


def prepare(
    agent: AgentLike, eval_sets: EvalSetLike | Sequence[EvalSetLike], options: EvaluateOptions
) -> Prepared:
    """Load the agent and the sets, find the configs, and plan: everything that can be wrong is said at once.

    Raises:
        SetupProblems: what is wrong.
    """
    problems: list[SetupError] = _not_yet(options)
    given = {name: value for name, value in options.items() if name in _RUN_OPTIONS}
    run_options = RunOptions(**given)  # type: ignore[arg-type]  # names and types are those of EvaluateOptions
    loading = _Loading(agent, options, problems)
    loaded = loading.agent()
    wanted = loading.sets(eval_sets)
    if not wanted and not problems and not loading.unreadable:
        problems.append(SetupError("no eval set given"))
    if problems or wanted:
        plan = make_plan(wanted, run_options, problems)
    else:
        plan = Plan([], run_options.num_runs)
    if loaded is None:
        raise SetupProblems([SetupError("no agent given")])
    return Prepared(loaded, loading.label, plan, run_options, loading.warnings, loading.unreadable)


def _not_yet(options: EvaluateOptions) -> list[SetupError]:
    problems = []
    if options.get("store") not in (None, "memory:"):
        problems.append(SetupError(f"store {options.get('store')!r}: only 'memory:' is in this version"))
    return problems


class _Loading:
    """Loads what a run names, collecting every problem instead of stopping at the first."""

    def __init__(self, agent: AgentLike, options: EvaluateOptions, problems: list[SetupError]) -> None:
        self._ref, self._options, self._problems = agent, options, problems
        self.warnings: list[str] = []
        self.unreadable: list[SetSummary] = []
        self.label = ""
        self._configs: dict[str, EvalConfig | None] = {}

    def agent(self) -> Agent | None:
        """Load the agent; `None` when that is among the problems."""
        from proctor.agents.load import describe_ref, load_agent

        self.label = describe_ref(self._ref)
        try:
            return load_agent(self._ref, agent_name=self._options.get("agent_name"))
        except SetupError as problem:
            self._problems.append(problem)
            return None

    def sets(self, eval_sets: EvalSetLike | Sequence[EvalSetLike]) -> list[PlannedSet]:
        """Open every set that is named, each with its config."""
        wanted = _merged(planned for entry in _listed(eval_sets) for planned in self._entry(entry))
        only = self._options.get("only")
        if only is None:
            return wanted
        for planned in wanted:
            planned.only = [*planned.only, *only.get(planned.source.eval_set_id, ())]
        return [planned for planned in wanted if planned.source.eval_set_id in only]

    def _entry(self, entry: EvalSetLike) -> list[PlannedSet]:
        if isinstance(entry, str | Path):
            return self._files(str(entry))
        try:
            source = given_set(entry)
        except SetupError as problem:
            self._problems.append(problem)
            return []
        config, origin = self._config(None)
        return [PlannedSet(source, config, origin)] if config else []

    def _files(self, selector: str) -> list[PlannedSet]:
        from proctor.agents.load import agent_folder
        from proctor.files.find import find_sets

        try:
            found = find_sets([selector], agent_folder=agent_folder(self._ref))
        except SetupProblems as problems:
            self._problems += problems.problems
            return []
        opened = [self._file(one.path, one.label, one.case_ids) for one in found]
        return [planned for planned in opened if planned is not None]

    def _file(self, path: Path, label: str, case_ids: list[str]) -> PlannedSet | None:
        from proctor.files.eval_sets import open_eval_set

        duplicates = self._options.get("allow_duplicate_ids", False)
        try:
            source = open_eval_set(path, allow_duplicate_ids=duplicates, label=label)
        except EvalFileError as problem:
            self._not_readable(label, problem)
            return None
        self.warnings += [str(warning) for warning in source.warnings]
        config, origin = self._config(path)
        return PlannedSet(source, config, origin, case_ids) if config else None

    def _not_readable(self, label: str, problem: EvalFileError) -> None:
        if not self._options.get("keep_going"):
            self._problems.append(problem)
            return
        failure = Failure(where="file", kind=FailureKind.NOT_LOADED, message=str(problem))
        self.unreadable.append(SetSummary(label, label, "not judged", 0, failure=failure))

    def _config(self, set_path: Path | None) -> tuple[EvalConfig | None, str]:
        """The config that judges a set, and where it came from; `None` when that is among the problems."""
        given = self._options.get("config")
        if isinstance(given, EvalConfig):
            return given, "the config given"
        if isinstance(given, Mapping):
            return self._checked_config(given), "the config given"
        path = Path(given) if given is not None else _config_beside(set_path)
        if path is None:
            return EvalConfig.default(), "ADK's defaults (no test_config.json found)"
        return self._read_config(path), str(path)

    def _read_config(self, path: Path) -> EvalConfig | None:
        from proctor.files.load import load_config

        key = str(path)
        if key not in self._configs:
            try:
                self._configs[key], doubts = load_config(path)
                slips = [doubt for doubt in doubts if "did you mean" in doubt.hint and "." not in doubt.field]
                self._problems += [
                    SetupError(str(slip).replace(": warning: ", ": error: ", 1)) for slip in slips
                ]
                self.warnings += [str(doubt) for doubt in doubts if doubt not in slips]
            except SetupError as problem:
                self._configs[key] = None
                self._problems.append(problem)
        return self._configs[key]

    def _checked_config(self, given: Mapping[str, Any]) -> EvalConfig | None:
        try:
            return EvalConfig.model_validate(given)
        except ValidationError as error:
            self._problems += [SetupError(f"the config given: {line}") for line in _lines_of(error)]
            return None


def _config_beside(set_path: Path | None) -> Path | None:
    from proctor.files.find import find_config

    return find_config(set_path) if set_path is not None else None


def _merged(wanted: Iterable[PlannedSet]) -> list[PlannedSet]:
    """A file that is named twice comes once, with the cases of both; all cases and a list is the list, as in ADK."""
    merged: dict[object, PlannedSet] = {}
    for planned in wanted:
        label = planned.source.label
        first = merged.setdefault(os.path.realpath(label) if label else id(planned), planned)
        if first is not planned:
            first.only = list(dict.fromkeys([*first.only, *planned.only]))
    return list(merged.values())


def _listed(eval_sets: EvalSetLike | Sequence[EvalSetLike]) -> list[EvalSetLike]:
    if isinstance(eval_sets, str | Path | EvalSet | Mapping):
        return [eval_sets]
    return list(eval_sets)


def _lines_of(error: ValidationError) -> list[str]:
    return [f"{'.'.join(map(str, one['loc'])) or 'document'}: {one['msg']}" for one in error.errors()]


def given_set(entry: EvalSet | Mapping[str, Any]) -> CaseSource:
    """Take an eval set made in Python: a model, or a dict in any form that a file may have.

    Raises:
        EvalFileError: the dict is no eval set.
        SetupError: two cases share an id.
    """
    from proctor.engine.sources import GivenSet
    from proctor.files.eval_sets import load_eval_set_text

    if not isinstance(entry, EvalSet):
        entry = load_eval_set_text(json.dumps(entry, default=_plain), "<eval set>")
    return GivenSet(entry)


def _plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_unset=True)
    raise EvalFileError(f"<eval set>: {type(value).__name__} is not JSON and no model")


# --- scoring without an agent ------------------------------------------------------------------------------------------

InvocationLike = Invocation | Mapping[str, Any]


async def score(
    actual: InvocationLike | Sequence[InvocationLike],
    expected: InvocationLike | Sequence[InvocationLike] | None,
    *,
    criteria: ConfigLike,
    scenario: Any = None,
    judge: Any = None,  # noqa: ARG001 - for metrics that ask a model, which come with the judges
) -> dict[str, MetricVerdict]:
    """Score recorded invocations, without an agent.

    `actual` and `expected` are one invocation or a list of them, as models or plain dicts; `criteria` is a dict from
    metric name to threshold or criterion, an `EvalConfig`, or the path of one. The answer has, per metric name,
    `.score`, `.status`, `.outcome`, `.reason` and `.per_invocation[i]` with the same four.

    Raises:
        SetupProblems: a metric that does not exist, a criterion that does not fit, an invocation that cannot be read.
    """
    from proctor.engine.criteria import bind
    from proctor.engine.scoring import explain, score_trial
    from proctor.engine.verdict import decide_metric

    config = _criteria(criteria)
    bound = bind(config, RunOptions())
    if bound.problems:
        raise SetupProblems(bound.problems)
    metrics = [metric for metric in bound.metrics if metric.name in config.criteria]
    view = CaseView(
        eval_id="",
        actual=_invocations(actual, "actual"),
        expected=None if expected is None else _invocations(expected, "expected"),
        scenario=ConversationScenario.model_validate(scenario) if scenario is not None else None,
    )
    scores = await score_trial(metrics, view)
    for metric, scored in zip(metrics, scores, strict=True):
        explain(metric, view, scored, everything=True)
    return {
        metric.name: decide_metric(metric, [scored]) for metric, scored in zip(metrics, scores, strict=True)
    }


def score_sync(
    actual: InvocationLike | Sequence[InvocationLike],
    expected: InvocationLike | Sequence[InvocationLike] | None,
    *,
    criteria: ConfigLike,
    scenario: Any = None,
    judge: Any = None,
) -> dict[str, MetricVerdict]:
    """Do what `score` does, from code that is not asynchronous."""
    from proctor.engine.loop import run_sync

    return run_sync(lambda: score(actual, expected, criteria=criteria, scenario=scenario, judge=judge))


def _criteria(criteria: ConfigLike) -> EvalConfig:
    if isinstance(criteria, EvalConfig):
        return criteria
    if isinstance(criteria, str | Path):
        return load_config(criteria)
    if criteria is None:
        return EvalConfig.default()
    named = {str(getattr(name, "value", name)): value for name, value in criteria.items()}
    document = named if isinstance(named.get("criteria"), Mapping) else {"criteria": named}
    try:
        return EvalConfig.model_validate(document)
    except ValidationError as error:
        raise SetupProblems([SetupError(f"criteria: {line}") for line in _lines_of(error)]) from None


def _invocations(given: InvocationLike | Sequence[InvocationLike], what: str) -> list[Invocation]:
    several = [given] if isinstance(given, Invocation | Mapping) or hasattr(given, "model_fields") else given
    try:
        return [Invocation.model_validate(one) for one in several]
    except ValidationError as error:
        raise SetupProblems([SetupError(f"{what}: {line}") for line in _lines_of(error)]) from None


# --- reading -----------------------------------------------------------------------------------------------------------


def load_eval_set(path: str | Path, *, allow_duplicate_ids: bool = False) -> EvalSet:
    """Read an eval set of any generation of the format, JSON or YAML, whole.

    Raises:
        EvalFileError: every problem of the file with its place.
    """
    from proctor.files.eval_sets import load_eval_set as load

    return load(path, allow_duplicate_ids=allow_duplicate_ids)


def load_config(path: str | Path) -> EvalConfig:
    """Read a `test_config.json`.

    Raises:
        EvalFileError: it is missing, or no config; every problem with its place.
    """
    from proctor.files.load import load_config as load

    return load(path)[0]


def load_agent(ref: AgentLike, *, agent_name: str | None = None) -> Agent:
    """Load an agent under test from an AGENT string or an object of any recognised kind.

    Raises:
        AgentLoadError: it cannot be loaded; the message has the cause.
        MissingExtraError: it needs an optional package.
    """
    from proctor.agents.load import load_agent as load

    return load(ref, agent_name=agent_name)
