"""Load the agent, the eval sets and the configs of a run, and plan it. All configuration errors are reported at once."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.common.registry import load_object
from proctor.engine.planning.plan import Plan, find_duplicate_names, make_plan
from proctor.engine.planning.set_plan import SetRequest
from proctor.engine.run_options import OPTIONS, RunOptions
from proctor.errors import EvalFileError, NothingToRunError, SetupError, SetupProblems
from proctor.runs.arguments import AgentLike, EvalSetLike, EvaluateOptions, unknown_options
from proctor.runs.load import Configs, as_list, read_python_set, trial_overrides, user_folder
from proctor.runs.setup.judge_and_user import JudgesOnDemand, UsersOnDemand, budget_of
from proctor.runs.storage.open import is_open
from proctor.schema.evidence.trial import Failure, FailureKind
from proctor.schema.results.run_result import NOT_JUDGED, SetSummary

if TYPE_CHECKING:
    from proctor.agents.base import Agent
    from proctor.engine.execution.run_control import StoppingRule
    from proctor.schema.results.manifest import Manifest
    from proctor.stores.base import Store


@dataclass(slots=True)
class Prepared:
    """The loaded agent and the plan of a run; everything is validated."""

    agent: Agent | None
    """`None` if recorded evidence is re-scored."""
    agent_label: str
    plan: Plan
    options: RunOptions
    warnings: list[str] = field(default_factory=list)
    scoring_warnings: list[str] = field(default_factory=list)
    """The warnings that are about the criteria."""
    notes: list[str] = field(default_factory=list)
    """The warnings that only inform, such as which share of the cases a shard has."""
    warnings_as_errors: bool = False
    """Whether any other warning is a configuration error."""
    unreadable: list[SetSummary] = field(default_factory=list)
    """Sets that could not be read (`keep_going`)."""
    store: Store | None = None
    """The store that the run is written to."""
    manifest: Manifest | None = None
    """The manifest of the run if there is a store, still without the agent's description of itself."""
    agent_ref: object = None
    """The AGENT argument, if there was one. The agent's code may import more modules while it runs."""


@user_folder()
def prepare(
    agent: AgentLike,
    eval_sets: EvalSetLike | Sequence[EvalSetLike],
    options: EvaluateOptions,
    *,
    plays: bool = True,
) -> Prepared:
    """Load the agent and the sets, find the configs, and plan: all configuration errors are reported at once.

    `plays`: whether scenarios need a simulated user. They need none if the conversations are recorded.

    Raises:
        SetupProblems: the configuration errors.
        NothingToRunError: without any error, the options select no case.
    """
    run_options = _run_options(options, plays=plays)
    problems = [*_provider_problems(run_options), *_comparison_problems(run_options)]
    if not options.keys() <= OPTIONS.keys():
        problems = [*unknown_options(options, OPTIONS), *problems]
    store = _store(run_options, problems)
    loading = _Loading(agent, run_options.usable(), problems)
    loaded = loading.agent()
    requests = loading.sets(eval_sets)
    if not requests and not problems and not loading.unreadable:
        problems.append(SetupError("no eval set given"))
    commit = loading.select_changed_cases(requests, run_options)
    loading.refuse_warnings()
    plan = _make_plan(requests, run_options, loading, hashed=store is not None)
    if loaded is None:
        raise SetupProblems([SetupError("no agent given")])
    looks = stopping_rule(options, plan, loading.unreadable, store)
    prepared = loading.prepared(loaded, plan, replace(run_options, looks=looks), store)
    refuse_warnings(prepared)
    if store is not None:
        from proctor.runs.setup.manifest import manifest_of

        prepared.manifest = manifest_of(
            plan,
            loading.unreadable,
            agent=agent,
            label=loading.label,
            eval_sets=as_list(eval_sets),
            options={**options, **commit, **(looks.manifest_options() if looks is not None else {})},
        )
    return prepared


@user_folder()
def prepare_agents(
    agents: Sequence[AgentLike], eval_sets: EvalSetLike | Sequence[EvalSetLike], options: EvaluateOptions
) -> list[Prepared]:
    """Prepare a run of each agent, and report the configuration errors of all of them at once.

    Raises:
        SetupProblems: the configuration errors.
        NothingToRunError: without any error, the options select no case for any agent.
    """
    problems: list[SetupError] = [] if agents else [SetupError("no agent given")]
    prepared: list[Prepared] = []
    idle: list[NothingToRunError] = []
    for agent in agents:
        try:
            prepared.append(prepare(agent, eval_sets, options))
        except SetupProblems as error:
            problems += error.problems
        except NothingToRunError as error:
            idle.append(error)
    if idle and not prepared and not problems:
        raise idle[0]
    if problems:
        raise SetupProblems(list({str(problem): problem for problem in problems}.values()))
    _number_equal_labels(prepared)
    return prepared


def _number_equal_labels(prepared: Sequence[Prepared]) -> None:
    """Number agents with the same label in reports: `bot`, `bot#2`. In a store each run has its own id."""
    times: Counter[str] = Counter()
    for one in prepared:
        label = one.agent_label
        times[label] += 1
        if times[label] > 1:
            one.agent_label = f"{label}#{times[label]}"


def _make_plan(requests: list[SetRequest], options: RunOptions, loading: _Loading, *, hashed: bool) -> Plan:
    """Plan the run. If all sets are unreadable and `keep_going` is set, the plan is empty."""
    empty = Plan([], options.num_runs or 1)
    if not requests and not loading.problems and not options.problems():
        return empty
    try:
        return make_plan(requests, options, loading.problems, hashed=hashed)
    except SetupProblems as error:
        from proctor.runs.load import locate_problems

        raise locate_problems(error) from None
    except NothingToRunError:
        if not loading.unreadable:
            raise
        return empty


def _store(options: RunOptions, problems: list[SetupError]) -> Store | None:
    """Open the store that the run is written to; `None` if there is none, or it cannot be opened."""
    from proctor.runs.storage.open import open_store

    store = options.store
    try:
        return store if store is None or is_open(store) else open_store(store)
    except SetupError as problem:
        problems.append(problem)
        return None


def _run_options(options: EvaluateOptions, *, plays: bool) -> RunOptions:
    """Return the options as the engine reads them; `None` is the default, a single name for a list of one."""
    # `timeout` is the one option for which None differs from the default
    values: dict[str, Any] = {
        name: value
        for name, value in options.items()
        if name in OPTIONS and (value is not None or name == "timeout")
    }
    for name in ("metrics", "tags"):
        if isinstance(values.get(name), str):
            values[name] = [values[name]]
    budget = budget_of(options)
    judges = JudgesOnDemand(options.get("judge"), budget=budget)
    users = UsersOnDemand(options.get("user"), budget=budget) if plays else None
    return RunOptions(**values, budget=budget, judges=judges, users=users)


def _provider_problems(options: RunOptions) -> list[SetupError]:
    """Return the problems of the given judge and simulated user."""
    judges, users = options.judges, options.users
    problems = judges.problems() if isinstance(judges, JudgesOnDemand) else []
    return problems + (users.value_problems() if isinstance(users, UsersOnDemand) else [])


def _comparison_problems(options: RunOptions) -> list[SetupError]:
    """Return an error for each option without the option that it refines."""
    problems = []
    if options.against is not None and not options.until_decided:
        problems.append(
            SetupError(
                f"against {options.against} needs until_decided (--until-decided): it decides when the run ends. "
                "`proctor compare` compares two runs that exist"
            )
        )
    if options.margin is not None and options.against is None:
        problems.append(
            SetupError("margin needs against (--against RUN): it is the margin of that comparison")
        )
    return problems


class _Loading:
    """Load the parts of a run, and collect every problem instead of stopping at the first."""

    def __init__(self, agent: AgentLike, options: RunOptions, problems: list[SetupError]) -> None:
        self._ref, self._options, self.problems = agent, options, problems
        self.warnings: list[str] = []
        self.scoring_warnings: list[str] = []
        self.notes: list[str] = []
        self.unreadable: list[SetSummary] = []
        self._unread_files: set[str] = set()
        self.label = ""
        self._configs = Configs(
            options.config,
            problems,
            self.scoring_warnings,
            trial_overrides(options),
            default=options.default_config,
        )

    def agent(self) -> Agent | None:
        """Load the agent; return `None` if this adds a problem."""
        from proctor.agents.load import describe_ref
        from proctor.runs.load import load_agent_of_run

        self.label = describe_ref(self._ref)
        try:
            return load_agent_of_run(self._ref, self._options)
        except SetupError as problem:
            self.problems.append(problem)
            return None

    def sets(self, eval_sets: EvalSetLike | Sequence[EvalSetLike]) -> list[SetRequest]:
        """Open every named set with its config."""
        requests = _merge_sets(planned for entry in as_list(eval_sets) for planned in self._entry(entry))
        only = self._options.only
        return requests if only is None else self._select(requests, only)

    def select_changed_cases(self, requests: list[SetRequest], run_options: RunOptions) -> dict[str, str]:
        """Narrow `requests` to the cases that have changed since a commit, if requested; return the commit as an option.

        Raises:
            NothingToRunError: nothing has changed, and no other problem exists.
        """
        ref = self._options.changed_since
        if ref is None or not requests:
            return {}
        from proctor.runs.setup.changed_since import select_changed

        renames = self._options.allow_duplicate_ids
        try:
            changed = select_changed(requests, ref, self._options.config, renames=renames)
        except NothingToRunError:
            self.problems += run_options.problems()
            if not self.problems and not self.unreadable:
                raise
            requests.clear()
            return {}
        except SetupError as problem:
            self.problems.append(problem)
            return {}
        self.notes += changed.notes
        requests[:] = changed.sets
        return {"changed_since": changed.commit}

    def refuse_warnings(self) -> None:
        """If warnings are errors, add those so far to the problems, so that all are reported at once."""
        if self._options.warnings_as_errors:
            self.problems += errors_from([*self.warnings, *self.scoring_warnings])

    def prepared(self, agent: Agent, plan: Plan, options: RunOptions, store: Store | None) -> Prepared:
        """Return the run with all warnings."""
        about_criteria = [*self.scoring_warnings, *plan.warnings, *plan.skips]
        notes = [*self.notes, *plan.shares]
        return Prepared(
            agent,
            self.label,
            plan,
            options,
            warnings=[*self.warnings, *notes, *find_duplicate_names(plan.sets), *about_criteria],
            scoring_warnings=about_criteria,
            notes=[*notes, *plan.skips],
            warnings_as_errors=options.warnings_as_errors,
            unreadable=self.unreadable,
            store=store,
            agent_ref=self._ref,
        )

    def _select(self, requests: list[SetRequest], only: Mapping[str, Sequence[str]]) -> list[SetRequest]:
        """Leave out the sets and cases that `only` does not name; report the names that match nothing."""
        self._check_set_ids({planned.source.eval_set_id for planned in requests}, only)
        matches = [planned for planned in requests if planned.source.eval_set_id in only]
        chosen = [planned for planned in matches if _narrow(planned, only[planned.source.eval_set_id])]
        if matches and not chosen:
            names = ", ".join(repr(name) for planned in matches for name in only[planned.source.eval_set_id])
            self.problems.append(
                SetupError(f"{_ONLY} names {names or 'no case'}, and none of it was picked: nothing to run")
            )
        return chosen

    def _check_set_ids(self, known: set[str], only: Mapping[str, Sequence[str]]) -> None:
        unknown = ", ".join(repr(name) for name in only if name not in known)
        if known and not known & only.keys():
            set_ids = ", ".join(map(repr, sorted(known)))
            message = f"{_ONLY} names {unknown or 'no set'}; the sets to run are {set_ids}"
            self.problems.append(SetupError(message))
        elif unknown:
            self.warnings.append(f"{_ONLY} names {unknown}, which is not among the sets to run")

    def _entry(self, entry: EvalSetLike) -> list[SetRequest]:
        if isinstance(entry, str | Path):
            return self._files(str(entry))
        try:
            source = read_python_set(
                entry,
                allow_duplicate_ids=self._options.allow_duplicate_ids,
                allow_unknown_keys=self._options.allow_unknown_keys,
            )
        except SetupError as problem:
            self.problems.append(problem)
            return []
        self.warnings += source.warnings
        config, origin = self._configs.of(None)
        return [SetRequest(source, config, origin)] if config else []

    def _files(self, selector: str) -> list[SetRequest]:
        from proctor.agents.load import agent_folder
        from proctor.files.eval_sets.selectors import find_sets

        try:
            selections = find_sets([selector], agent_folder=agent_folder(self._ref))
        except SetupProblems as problems:
            self.problems += problems.problems
            return []
        opened = [self._file(one.path, one.label, one.case_ids) for one in selections]
        return [planned for planned in opened if planned is not None]

    def _file(self, path: Path, label: str, case_ids: list[str]) -> SetRequest | None:
        from proctor.files.eval_sets.source import open_eval_set, refusal_of

        options = self._options
        try:
            source = open_eval_set(path, allow_duplicate_ids=options.allow_duplicate_ids, label=label)
        except EvalFileError as problem:
            self._not_readable(label, problem)
            return None
        errors, warnings = source.split_warnings(allow_unknown_keys=options.allow_unknown_keys)
        if errors:
            allows = bool(source.misread) and not options.allow_unknown_keys
            self._not_readable(label, refusal_of(errors, allows=allows))
        self.warnings += [warning.without_severity for warning in warnings]
        config, origin = self._configs.of(path)
        if errors and options.keep_going:
            return None
        return SetRequest(source, config, origin, case_ids) if config else None

    def _not_readable(self, label: str, problem: EvalFileError) -> None:
        if not self._options.keep_going:
            self.problems.append(problem)
            return
        file = os.path.realpath(label)
        if file in self._unread_files:  # named twice, for example with other cases
            return
        self._unread_files.add(file)
        failure = Failure(where="file", kind=FailureKind.NOT_LOADED, message=str(problem))
        self.unreadable.append(SetSummary(label, label, NOT_JUDGED, 0, failure=failure))


_ONLY = "what is asked for (`only`, --failed)"


def _narrow(planned: SetRequest, eval_ids: Sequence[str]) -> bool:
    """Keep the cases of `eval_ids` that were selected, if any were; unknown ids are kept, so that they are refused later."""
    there = set(planned.source.ids())
    unknown = [eval_id for eval_id in planned.only if eval_id not in there]
    planned.only = [eval_id for eval_id in eval_ids if not planned.only or eval_id in planned.only] + unknown
    return bool(planned.only)


def _merge_sets(requests: Iterable[SetRequest]) -> list[SetRequest]:
    """Merge sets that are named twice, with the cases of both. All cases and a list give the list, as in ADK."""
    merged: dict[object, SetRequest] = {}
    for planned in requests:
        label = planned.source.label
        first = merged.setdefault(os.path.realpath(label) if label else id(planned), planned)
        if first is not planned:
            first.only = list(dict.fromkeys([*first.only, *planned.only]))
    return list(merged.values())


# --- `warnings_as_errors`: every warning about the setup of a run becomes a configuration error -----------------------


_REASON = "a warning, refused because --warnings-as-errors is set"


def errors_from(warnings: Iterable[str]) -> list[SetupError]:
    """Return one configuration error per warning, each text once."""
    return [SetupError(f"{warning} ({_REASON})") for warning in dict.fromkeys(warnings)]


def refuse_warnings(prepared: Prepared) -> None:
    """Refuse a run that has warnings if it was prepared with `warnings_as_errors`; notes are not warnings.

    Raises:
        SetupProblems: one error per warning.
    """
    if not prepared.warnings_as_errors:
        return
    if problems := errors_from(each for each in prepared.warnings if each not in prepared.notes):
        raise SetupProblems(problems)


_STOP_WHEN_DECIDED = "proctor.analysis.compare.until_decided:looks_of"
"""The function that makes the stopping rule of `against`. It is loaded by name: `analysis` is a higher layer."""


def stopping_rule(
    options: EvaluateOptions, plan: Plan, unreadable: Sequence[SetSummary], store: Store | None
) -> StoppingRule | None:
    """Return the stopping rule that the options request; `None`: every case gets all its trials.

    Raises:
        SetupProblems: the other run does not exist or has nothing in common, or too few trials are allowed.
        StoreError: the store of that run does not exist or cannot be read.
    """
    if options.get("against") is None:
        return None
    rule: StoppingRule = load_object(_STOP_WHEN_DECIDED)(options, plan, unreadable, store)
    return rule
