"""Make the plan of a run, and report every configuration error before the first call of the agent."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from proctor.engine.planning.bound_metric import BoundMetric
from proctor.engine.planning.case_checks import (
    NO_GATE,
    Assertions,
    Check,
    assertion_warnings,
    cannot_run,
    checks_of,
    find_unread_keys,
    first_names,
    in_case,
    left_out_text,
    problems_of,
    reader_of,
    remedies_for,
    skip_notes,
)
from proctor.engine.planning.criteria import Bound, Surveys, bind
from proctor.engine.planning.hooks import check_hook
from proctor.engine.planning.opening_turns import on_opening
from proctor.engine.planning.sharding import parse_shard, share
from proctor.engine.planning.trial_counts import loose_rate, problems_of_trials, runs_of, too_few_trials
from proctor.engine.run_options import RunOptions
from proctor.engine.trial.played_conversation import UserProblems
from proctor.errors import NothingToRunError, SetupError, SetupProblems, did_you_mean
from proctor.schema.format.case import EvalCase, EvalSet
from proctor.schema.format.config import EvalConfig
from proctor.schema.results.case_statistics import TrialRule
from proctor.schema.results.run_result import SetSummary
from proctor.schema.serialize import HASH_BYTES, case_hash


class CaseSource(Protocol):
    """An eval set whose cases are read one at a time, so that a large one is never in memory whole."""

    @property
    def eval_set_id(self) -> str:
        """The id of the set."""
        ...

    @property
    def label(self) -> str | None:
        """The path to print; `None` for a set made in Python."""
        ...

    def ids(self) -> Sequence[str]:
        """The ids of all cases, in order."""
        ...

    def case(self, index: int) -> EvalCase:
        """Read one case."""
        ...

    def where(self, index: int) -> str:
        """`file:line` of a case; empty for a set made in Python."""
        ...

    def __iter__(self) -> Iterator[EvalCase]:
        """Read every case once, in order."""
        ...


@dataclass(slots=True)
class PlannedSet:
    """One set as the caller wants it run."""

    source: CaseSource
    config: EvalConfig
    config_source: str
    only: Collection[str] = ()
    """Case ids; empty for all."""
    num_runs: int | None = None
    """Trials of each case if they exist already; `None`: options or config determine their number."""


@dataclass(slots=True)
class SetPlan:
    """One set, ready to run."""

    source: CaseSource
    summary: SetSummary
    metrics: list[BoundMetric]
    config: EvalConfig
    cases: list[int] = field(default_factory=list)
    """Indexes of the cases to run, in order."""
    num_runs: int = 1
    """Trials of each case."""
    hashes: bytearray = field(default_factory=bytearray)
    """The hashes of the contents of these cases, 16 bytes each; empty without a store."""
    elsewhere: int = 0
    """Cases that other shards run."""
    assertions: Assertions | None = None
    """What its cases assert; `None` in a plan that is made of recorded evidence alone."""
    unread: Counter[str] = field(default_factory=Counter)
    """Key that no metric reads -> how many cases state it."""
    doubts: Sequence[SetupError] = ()
    """Warnings about the criteria."""
    rule: TrialRule | None = field(init=False)
    """What share of a case's trials must pass; `None`: every metric's mean over them decides."""
    asks_judges: bool = field(init=False)
    """Whether any metric asks a language model."""
    _without_state: list[BoundMetric] = field(init=False)

    def __post_init__(self) -> None:
        """Compute the properties that every case reads."""
        self.rule = self.config.rule_for(self.num_runs)
        self.asks_judges = any(metric.judge for metric in self.metrics)
        self._without_state = [bound for bound in self.metrics if "expected_state" not in bound.facts.needs]

    def metrics_for(self, case: EvalCase) -> list[BoundMetric]:
        """Return the metrics that apply to `case`."""
        return on_opening(self.metrics if case.final_session_state else self._without_state, case)

    def content_hash(self, ordinal: int) -> str:
        """Return the hash of the content of the case number `ordinal` of those to run, in hex."""
        return self.hashes[HASH_BYTES * ordinal : HASH_BYTES * (ordinal + 1)].hex()

    def skip_reason(self, index: int) -> str:
        """Return why the case at `index` is skipped; empty if its metrics decide."""
        return self.assertions.skipped.get(index, "") if self.assertions is not None else ""

    @property
    def trials(self) -> int:
        """How many trials will be run."""
        return len(self.cases) * self.num_runs


@dataclass(slots=True)
class Plan:
    """A run, ready to start."""

    sets: list[SetPlan]
    num_runs: int
    """Trials of a case; the largest number if sets differ (`SetPlan.num_runs`)."""
    warnings: list[str] = field(default_factory=list)
    doubts: list[SetupError] = field(default_factory=list)
    """The warnings that concern the criteria, with their places; they are in `warnings`, too."""
    shares: list[str] = field(default_factory=list)
    """The share of the cases that this run has, if other shards have the rest."""
    skips: list[str] = field(default_factory=list)
    """The cases that are skipped, with the reasons."""

    @property
    def asks_judges(self) -> bool:
        """Whether any metric asks a language model."""
        return any(chosen.asks_judges for chosen in self.sets)

    @property
    def trials(self) -> int:
        """How many trials will be run."""
        return sum(chosen.trials for chosen in self.sets)


def make_plan(
    wanted: Sequence[PlannedSet],
    options: RunOptions,
    problems: Sequence[SetupError] = (),
    *,
    hashed: bool = False,
) -> Plan:
    """Check everything and return what to run; `hashed` takes the hash of each case, for a store.

    Raises:
        SetupProblems: all configuration errors; `problems` (found while loading) first.
        NothingToRunError: there is no error, but the shard holds no case.
    """
    found = [*problems, *options.problems()]
    found += check_hook(options.setup, "setup") + check_hook(options.teardown, "teardown")
    surveys = Surveys()
    plans = [_plan_set(entry, options.usable(), found, surveys, hashed=hashed) for entry in wanted]
    if not found:  # otherwise the set with the case that a criterion needs may be missing
        found += surveys.problems()
    found += remedies_for(plans)
    here, elsewhere = sum(len(plan.cases) for plan in plans), sum(plan.elsewhere for plan in plans)
    shared = [share(options.shard, here, elsewhere)] if options.shard and elsewhere else []
    if not found and not here:
        if shared:
            raise NothingToRunError(shared[0])
        found.append(SetupError(_nothing_left(options)))
    if found:
        raise SetupProblems(_once(found))
    most = max((plan.num_runs for plan in plans), default=options.num_runs or 1)
    doubts = _once([*(doubt for plan in plans for doubt in plan.doubts), *surveys.doubts()])
    return Plan(plans, most, [*_doubts(plans), *map(str, doubts)], doubts, shared, [*skip_notes(plans)])


def _doubts(plans: Sequence[SetPlan]) -> list[str]:
    """Return the warnings about rules, about keys that no metric reads and about assertions, each once."""
    of_rules = (
        f"{plan.summary.config_source}: {doubt}"
        for plan in plans
        if plan.rule
        for doubt in filter(None, (check(plan.rule, plan.num_runs) for check in (too_few_trials, loose_rate)))
    )
    return list(dict.fromkeys([*of_rules, *_unread(plans), *assertion_warnings(plans)]))


def _unread(plans: Iterable[SetPlan]) -> Iterator[str]:
    for plan in plans:
        for key, count in plan.unread.items():
            yield (
                f"{plan.summary.config_source}: {count} case(s) state `{key}`, which nothing reads: name "
                f"`{reader_of(key)}` in the criteria"
            )


def _once(problems: list[SetupError]) -> list[SetupError]:
    """Drop repeated problems: several sets may share a config."""
    return list({str(problem): problem for problem in problems}.values())


def _nothing_left(options: RunOptions) -> str:
    if options.tags:
        return f"no case carries the tag {' or '.join(sorted(options.tags))}; nothing to run"
    return "no cases to run"


def _plan_set(
    entry: PlannedSet, options: RunOptions, found: list[SetupError], surveys: Surveys, *, hashed: bool
) -> SetPlan:
    bound = bind(entry.config, options)
    found += [_in_config(problem, entry) for problem in bound.problems]
    found += _find_unsupported(entry)
    num_runs = entry.num_runs or runs_of(entry.config, options)
    found += [_in_config(problem, entry) for problem in problems_of_trials(entry.config, num_runs)]
    summary = _summary(entry, bound, num_runs)
    plan = SetPlan(entry.source, summary, bound.metrics, entry.config, num_runs=num_runs, doubts=bound.doubts)
    plan.assertions = assertions = Assertions(bound, options.allow_unasserted)
    found += _unknown_ids(entry)
    unplayed = UserProblems(options.users, entry.config)
    checks = checks_of(bound.metrics)
    is_partial = _is_partial(entry, options)
    looks = surveys.of(entry.config, entry.config_source, bound.metrics, is_partial=is_partial)
    undecided: list[int] = []
    for index, case in _choose_cases(entry, options, plan):
        plan.cases.append(index)
        for look in looks:
            look.see(case)
        if hashed:
            plan.hashes += case_hash(case)
        unplayed.see(index, case)
        plan.unread.update(find_unread_keys(case, bound.metrics, bound.skipped))
        problems = _case_problems(index, case, checks, assertions)
        if problems == [NO_GATE]:  # a problem of the config, reported once
            undecided.append(index)
        else:
            found += [in_case(problem, entry.source, index) for problem in problems]
    found += _without_gate(entry, undecided, bound.skipped)
    found += _user_problems(entry, unplayed)
    plan.doubts = [*plan.doubts, *unplayed.doubts(entry.config_source)]
    summary.cases = len(plan.cases)
    return plan


def _summary(entry: PlannedSet, bound: Bound, num_runs: int) -> SetSummary:
    return SetSummary(
        eval_set_id=entry.source.eval_set_id,
        path=entry.source.label,
        config_source=entry.config_source,
        cases=0,
        metrics=[metric.name for metric in bound.metrics],
        skipped_metrics=bound.skipped,
        num_runs=num_runs,
        rule=entry.config.rule_for(num_runs),
        criteria=entry.config.model_dump(mode="json", include={"criteria"}, exclude_none=True)["criteria"],
    )


def _case_problems(index: int, case: EvalCase, checks: Sequence[Check], assertions: Assertions) -> list[str]:
    problems = problems_of(case, checks)
    problem = cannot_run(case)
    if not (problem or problems or assertions.bound.problems):  # otherwise its statements may be unreadable
        problem = assertions.see(index, case)
    return [*problems, problem] if problem else problems


def _is_partial(entry: PlannedSet, options: RunOptions) -> bool:
    """Whether options leave out cases of a set, or did when the run was made."""
    made = entry.num_runs is not None
    return made or bool(entry.only or options.tags or options.limit or options.shard)


def _in_config(problem: SetupError, entry: PlannedSet) -> SetupError:
    """Return a problem of the config with the source of the config."""
    error = type(problem)(f"{entry.config_source}: {problem}")
    error.file, error.path = entry.config_source, problem.path
    error.parts, error.is_mistake = problem.parts or [str(problem)], problem.is_mistake
    return error


def _find_unsupported(entry: PlannedSet) -> Iterator[SetupError]:
    config, messages = entry.config, []
    if config.live_model_config is not None:
        messages.append("live_model_config (live audio) is not supported")
    if getattr(config.user_simulator_config, "type", None) == "llm_audio":
        messages.append("the user simulator 'llm_audio' is not supported; use 'llm_backed'")
    for message in messages:
        problem = SetupError(message)
        problem.is_mistake = False
        yield _in_config(problem, entry)


def _unknown_ids(entry: PlannedSet) -> list[SetupError]:
    known = entry.source.ids()
    if not known:
        return [SetupError(f"{entry.source.label or entry.source.eval_set_id}: the eval set has no cases")]
    known_ids = set(known) if entry.only else ()
    return [
        SetupError(
            f"{entry.source.label or entry.source.eval_set_id}: no case {eval_id!r}."
            f"{did_you_mean(eval_id, known)} Cases: {first_names(known)}."
        )
        for eval_id in entry.only
        if eval_id not in known_ids
    ]


def _choose_cases(entry: PlannedSet, options: RunOptions, plan: SetPlan) -> Iterator[tuple[int, EvalCase]]:
    """Yield the cases to run, with their indexes; other cases are read only if options choose by tag."""
    only, limit, tags = set(entry.only), options.limit, set(options.tags)
    shard = parse_shard(options.shard) if options.shard is not None else None
    found = 0
    for index, eval_id in enumerate(entry.source.ids()):
        if limit is not None and found >= limit:
            return
        if only and eval_id not in only:
            continue
        case = entry.source.case(index) if tags else None
        if case is not None and not tags & set(_tags(case)):
            continue
        found += 1
        if shard is not None and not shard.holds(entry.source.eval_set_id, eval_id):
            plan.elsewhere += 1
            continue
        yield index, case if case is not None else entry.source.case(index)


def _tags(case: EvalCase) -> list[str]:
    tags = (case.model_extra or {}).get("tags") or []
    return [tags] if isinstance(tags, str) else [str(tag) for tag in tags]


def _without_gate(
    entry: PlannedSet, undecided: Sequence[int], skipped: dict[str, str]
) -> Iterator[SetupError]:
    """Report once for a whole set that its criteria decide nothing."""
    if not undecided:
        return
    first, source = undecided[0], entry.source
    others = len(undecided) - 1
    more = f" (and {others} more of {source.eval_set_id})" if others else ""
    yield in_case(f"{NO_GATE}{left_out_text(skipped)}: see {entry.config_source}", source, first, more)


def _user_problems(entry: PlannedSet, unplayed: UserProblems) -> Iterator[SetupError]:
    """Report once for a whole set why its users cannot be simulated."""
    for problem, first, count in unplayed.problems():
        more = f" (and {count - 1} more of {entry.source.eval_set_id})" if count > 1 else ""
        error = in_case(str(problem), entry.source, first, more)
        error.is_mistake = problem.is_mistake
        yield error


# --- Duplicate names in one run: reports, `show` and `compare` identify a case by its set and its id ------------------


def find_duplicate_names(plans: Iterable[SetPlan]) -> Iterator[str]:
    """Report sets with the same id that have cases with the same id; at most one message for each id."""
    by_name: dict[str, list[SetPlan]] = defaultdict(list)
    for plan in plans:
        by_name[plan.source.eval_set_id].append(plan)
    for name, same_name in by_name.items():
        seen: dict[str, SetPlan] = {}
        for plan in same_name if len(same_name) > 1 else ():
            ids = _ids(plan)
            if both := [case_id for case_id in ids if case_id in seen]:
                more = f" (and {len(both) - 1} more)" if len(both) > 1 else ""
                yield (
                    f"{_label(seen[both[0]])} and {_label(plan)} are both called {name!r}, and each has a case "
                    f"{both[0]!r}{more}: reports, `show` and `compare` cannot tell these apart; give one of the sets "
                    "another `eval_set_id`"
                )
                break
            seen.update(dict.fromkeys(ids, plan))


def _ids(plan: SetPlan) -> list[str]:
    ids = plan.source.ids()
    return [ids[index] for index in plan.cases]


def _label(plan: SetPlan) -> str:
    return plan.source.label or "a set made in Python"


# --- Eval sets in memory as sources of cases --------------------------------------------------------------------------


class GivenSet:
    """The source of cases of an `EvalSet` made in Python.

    Raises:
        SetupError: two cases share an id.
    """

    label: str | None = None

    def __init__(self, eval_set: EvalSet, *, warnings: Sequence[str] = ()) -> None:
        """Keep the set without copying its cases, and the warnings about the data that it was read from."""
        self.warnings = warnings
        self._cases = eval_set.eval_cases
        self._ids = [case.eval_id for case in self._cases]
        self.eval_set_id = eval_set.eval_set_id
        seen: dict[str, int] = {}
        for index, eval_id in enumerate(self._ids):
            if eval_id in seen:
                raise SetupError(
                    f"eval set {self.eval_set_id!r}: duplicate case id {eval_id!r} (cases {seen[eval_id]} and {index})"
                )
            seen[eval_id] = index

    def ids(self) -> Sequence[str]:
        """The ids of all cases, in order."""
        return self._ids

    def case(self, index: int) -> EvalCase:
        """Return one case."""
        return self._cases[index]

    def where(self, index: int) -> str:
        """Return an empty text: the case has no file."""
        return ""

    def __iter__(self) -> Iterator[EvalCase]:
        return iter(self._cases)
