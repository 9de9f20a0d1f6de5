"""The plan of a run: everything that can be known to be wrong is said now, before the first agent call."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from proctor.engine.planning.assertions import Assertions, assertion_warnings, remedies_for, skip_notes
from proctor.engine.planning.bound_metric import BoundMetric
from proctor.engine.planning.case_checks import checks_of, problems_of, reader_of, unread
from proctor.engine.planning.case_problems import first_names, in_case
from proctor.engine.planning.criteria import bind
from proctor.engine.planning.criterion_checks import Surveys
from proctor.engine.planning.hooks import check_hook
from proctor.engine.planning.opening_turns import on_opening
from proctor.engine.planning.run_options import RunOptions
from proctor.engine.planning.sharding import parse_shard, share
from proctor.engine.planning.trial_counts import loose_rate, problems_of_trials, runs_of, too_few_trials
from proctor.engine.planning.undecided_cases import NO_GATE, cannot_run, left_out
from proctor.engine.trial.played_conversation import Unplayed
from proctor.errors import NothingToRunError, SetupError, SetupProblems, did_you_mean
from proctor.schema.evidence.serialize import HASH_BYTES, case_hash
from proctor.schema.format.case import EvalCase
from proctor.schema.format.config import EvalConfig
from proctor.schema.results.repeats import TrialRule
from proctor.schema.results.run_result import SetSummary


class CaseSource(Protocol):
    """An eval set whose cases are read one at a time, so that a large one is never in memory whole."""

    @property
    def eval_set_id(self) -> str:
        """The id of the set."""
        ...

    @property
    def label(self) -> str | None:
        """What to print for where it came from (a path); `None` for a set made in Python."""
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
    """Trials of each case, where that is settled (they were made already); else what options or config say."""


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
    """The hashes of the contents of these cases, 16 bytes each; empty where nothing is kept."""
    elsewhere: int = 0
    """Cases that other shards run."""
    assertions: Assertions | None = None
    """What its cases assert; `None` where a plan is made of recorded evidence alone."""
    unread: dict[str, int] = field(default_factory=dict)
    """Keys by which so many cases expect something that no metric looks at."""
    doubts: Sequence[SetupError] = ()  # what a person should know about the criteria
    rule: TrialRule | None = field(init=False)
    """What share of a case's trials must pass; `None`: every metric's mean over them decides."""
    asks_judges: bool = field(init=False)
    """Whether any metric asks a language model."""
    _without_state: list[BoundMetric] = field(init=False)

    def __post_init__(self) -> None:
        """Work out once what is asked for every case."""
        self.rule = self.config.rule_for(self.num_runs)
        self.asks_judges = any(metric.judge for metric in self.metrics)
        self._without_state = [one for one in self.metrics if "expected_state" not in one.facts.needs]

    def metrics_for(self, case: EvalCase) -> list[BoundMetric]:
        """Return the metrics that have something to do with `case`."""
        return on_opening(self.metrics if case.final_session_state else self._without_state, case)

    def content_hash(self, ordinal: int) -> str:
        """Return the hash of the content of the case number `ordinal` of those to run, in hex."""
        return self.hashes[HASH_BYTES * ordinal : HASH_BYTES * (ordinal + 1)].hex()

    def skip_reason(self, index: int) -> str:
        """Return why the case at `index` is skipped; empty where its metrics decide."""
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
    """Trials of a case; where sets differ (`SetPlan.num_runs`), the most."""
    warnings: list[str] = field(default_factory=list)
    """What a person should know before the run."""
    doubts: list[SetupError] = field(default_factory=list)
    """Of these, what is about the criteria, with its place."""
    shares: list[str] = field(default_factory=list)
    """Which share of the cases this run has, where other shards have the rest."""
    skips: list[str] = field(default_factory=list)
    """Which cases are skipped, and why."""

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
        SetupProblems: all that is wrong, `problems` (found while loading) first.
        NothingToRunError: nothing is wrong, and the shard holds no case.
    """
    found = [*problems, *options.problems()]
    found += check_hook(options.setup, "setup") + check_hook(options.teardown, "teardown")
    surveys = Surveys()
    plans = [_plan_set(entry, options.usable(), found, surveys, hashed=hashed) for entry in wanted]
    if not found:  # else a set may have lost what a criterion is about
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
    """What the rules of these sets cannot tell with so few trials, and what nothing reads; each thing once."""
    found = (
        f"{plan.summary.config_source}: {doubt}"
        for plan in plans
        if plan.rule
        for doubt in filter(None, (say(plan.rule, plan.num_runs) for say in (too_few_trials, loose_rate)))
    )
    return list(dict.fromkeys([*found, *_unread(plans), *assertion_warnings(plans)]))


def _unread(plans: Iterable[SetPlan]) -> Iterator[str]:
    for plan in plans:
        for key, count in plan.unread.items():
            yield (
                f"{plan.summary.config_source}: {count} case(s) state `{key}`, which nothing reads: name "
                f"`{reader_of(key)}` in the criteria"
            )


def _once(problems: list[SetupError]) -> list[SetupError]:
    """The same config may judge several sets: its mistakes are said once."""
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
    found += _unsupported(entry)
    num_runs = entry.num_runs or runs_of(entry.config, options)
    found += [_in_config(problem, entry) for problem in problems_of_trials(entry.config, num_runs)]
    summary = SetSummary(
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
    plan = SetPlan(entry.source, summary, bound.metrics, entry.config, num_runs=num_runs, doubts=bound.doubts)
    plan.assertions = assertions = Assertions(bound, options.allow_unasserted)
    found += _unknown_ids(entry)
    unplayed = Unplayed(options.users, entry.config)
    checks = checks_of(bound.metrics)
    is_partial = _is_partial(entry, options)
    looks = surveys.of(entry.config, entry.config_source, bound.metrics, is_partial=is_partial)
    undecided: list[int] = []
    for index, case in _chosen(entry, options, plan):
        plan.cases.append(index)
        for look in looks:
            look.see(case)
        if hashed:
            plan.hashes += case_hash(case)
        problems = problems_of(case, checks)
        unplayed.see(index, case)
        problem = cannot_run(case)
        if not (problem or problems or bound.problems):  # else it may state what could not be read
            problem = assertions.see(index, case)
        if problem is NO_GATE:  # of the config, not of the case: it is said once
            undecided.append(index)
        elif problem:
            problems.append(problem)
        found += [in_case(problem, entry.source, index) for problem in problems]
        for key in unread(case, bound.metrics, bound.skipped):
            plan.unread[key] = plan.unread.get(key, 0) + 1
    found += _without_gate(entry, undecided, bound.skipped)
    found += _unplayed(entry, unplayed)
    plan.doubts = [*plan.doubts, *unplayed.doubts(entry.config_source)]
    summary.cases = len(plan.cases)
    return plan


def _is_partial(entry: PlannedSet, options: RunOptions) -> bool:
    """Whether cases of a set are left out on purpose, or were when the run was made."""
    made = entry.num_runs is not None
    return made or bool(entry.only or options.tags or options.limit or options.shard)


def _in_config(problem: SetupError, entry: PlannedSet) -> SetupError:
    """A problem of the config, with where that came from."""
    error = type(problem)(f"{entry.config_source}: {problem}")
    error.file, error.path = entry.config_source, problem.path
    error.parts, error.is_mistake = problem.parts or [str(problem)], problem.is_mistake
    return error


def _unsupported(entry: PlannedSet) -> Iterator[SetupError]:
    config, said = entry.config, []
    if config.live_model_config is not None:
        said.append("live_model_config (live audio) is not supported")
    if getattr(config.user_simulator_config, "type", None) == "llm_audio":
        said.append("the user simulator 'llm_audio' is not supported; use 'llm_backed'")
    for each in said:
        problem = SetupError(each)
        problem.is_mistake = False
        yield _in_config(problem, entry)


def _unknown_ids(entry: PlannedSet) -> list[SetupError]:
    known = entry.source.ids()
    if not known:
        return [SetupError(f"{entry.source.label or entry.source.eval_set_id}: the eval set has no cases")]
    there = set(known) if entry.only else ()
    return [
        SetupError(
            f"{entry.source.label or entry.source.eval_set_id}: no case {eval_id!r}."
            f"{did_you_mean(eval_id, known)} Cases: {first_names(known)}."
        )
        for eval_id in entry.only
        if eval_id not in there
    ]


def _chosen(entry: PlannedSet, options: RunOptions, plan: SetPlan) -> Iterator[tuple[int, EvalCase]]:
    """Return the cases to run, with their indexes; of the others, none is read but to see its tags."""
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
    """Say once for a whole set that its criteria decide nothing."""
    if not undecided:
        return
    first, source = undecided[0], entry.source
    others = len(undecided) - 1
    more = f" (and {others} more of {source.eval_set_id})" if others else ""
    yield in_case(f"{NO_GATE}{left_out(skipped)}: see {entry.config_source}", source, first, more)


def _unplayed(entry: PlannedSet, unplayed: Unplayed) -> Iterator[SetupError]:
    """Say once for a whole set why its users cannot be played."""
    for problem, first, count in unplayed.problems():
        more = f" (and {count - 1} more of {entry.source.eval_set_id})" if count > 1 else ""
        error = in_case(str(problem), entry.source, first, more)
        error.is_mistake = problem.is_mistake
        yield error
