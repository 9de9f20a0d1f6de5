"""Make the plan of a run, and report every configuration error before the first call of the agent."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from math import ceil, log

from proctor.common.safe_text import count_text
from proctor.engine.planning.case_checks import (
    Check,
    Surveys,
    UserProblems,
    cannot_run,
    case_problems,
    checks_of,
    classify,
    find_unread_keys,
    left_out_text,
    reader_of,
)
from proctor.engine.planning.criteria import Bound, bind
from proctor.engine.planning.set_plan import (
    NO_GATE,
    Assertions,
    SetPlan,
    SetRequest,
    assertion_warnings,
    in_case,
    parse_shard,
    remedies_for,
    shard_text,
    skip_notes,
    unknown_ids,
)
from proctor.engine.run_options import OPTIONS, WORKERS, RunOptions
from proctor.engine.scoring.verdict import bounds_of, decide_share
from proctor.engine.trial.conversation import check_hook
from proctor.errors import NothingToRunError, SetupError, SetupProblems
from proctor.schema.format.case import EvalCase, tags_of
from proctor.schema.format.config import EvalConfig
from proctor.schema.results.run_result import SetSummary
from proctor.schema.results.score import Outcome, TrialRule
from proctor.schema.serialize import case_hash
from proctor.stats.intervals import more_trials


@dataclass(slots=True)
class Plan:
    """A run, ready to start."""

    sets: list[SetPlan]
    num_runs: int
    """Trials of a case; the largest number if sets differ (`SetPlan.num_runs`)."""
    warnings: list[str] = field(default_factory=list)
    criteria_warnings: list[SetupError] = field(default_factory=list)
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
    requests: Sequence[SetRequest],
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
    errors = [*problems, *options.problems(), *_sharing_problems(options)]
    for name, hook in (("setup", options.setup), ("teardown", options.teardown)):
        errors += check_hook(hook, name) if hook is not None else []
    surveys, usable = Surveys(), options.usable()
    plans = [_plan_set(entry, usable, errors, surveys, hashed=hashed) for entry in requests]
    if not errors:  # otherwise the set with the case that a criterion needs may be missing
        errors += surveys.problems()
    errors += remedies_for(plans)
    shared = _share_notes(plans, options)
    if not errors and not any(plan.cases for plan in plans):
        if shared:
            raise NothingToRunError(shared[0])
        errors.append(SetupError(_nothing_left(options)))
    if errors:
        raise SetupProblems(_without_duplicates(errors))
    most = max((plan.num_runs for plan in plans), default=options.num_runs or 1)
    criteria_warnings = _without_duplicates(
        [*itertools.chain.from_iterable(plan.warnings for plan in plans), *surveys.warnings()]
    )
    return Plan(
        plans,
        most,
        [*_texts_of_warnings(plans), *map(str, criteria_warnings)],
        criteria_warnings,
        shared,
        [*skip_notes(plans)],
    )


_NEEDS_ONE_DECIDER = ("until_decided", "against", "fail_fast", "max_failures")
"""Options that cannot be kept by processes that each see a part of the run."""


def _sharing_problems(options: RunOptions) -> list[SetupError]:
    """Return the problems of options that a run of several processes lacks, or cannot have."""
    problems = [
        f"{name} (--{name.replace('_', '-')}) needs on (--on): it is about the workers of a run"
        for name in WORKERS[1:]
        if options.on is None and getattr(options, name)
    ]
    if options.on == "processes" and options.worker_cpu is not None:
        problems.append(
            "worker_cpu (--worker-cpu) is for a cluster of Ray: processes of one machine share its cores (--workers limits them)"
        )
    if options.join is None:
        if options.join_timeout != OPTIONS["join_timeout"].default:
            problems.append(
                "join_timeout (--join-timeout) needs join (--join RUN): it is the wait for its other parts"
            )
        return [*map(SetupError, problems)]
    if options.shard is None:
        problems.append("join needs shard (--shard I/N): the part of the run that this process runs")
    if options.store is None:
        problems.append(
            "join needs a store that all members use (--store): postgresql://USER@HOST/DATABASE, or a SQLite file on one machine"
        )
    problems += [
        f"{name} cannot be combined with join: the members of a run each decide their own cases, and none decides for all"
        for name in _NEEDS_ONE_DECIDER
        if getattr(options, name)
    ]
    return [*map(SetupError, problems)]


def _share_notes(plans: Sequence[SetPlan], options: RunOptions) -> list[str]:
    here, elsewhere = sum(len(plan.cases) for plan in plans), sum(plan.elsewhere for plan in plans)
    return [shard_text(options.shard, here, elsewhere)] if options.shard and elsewhere else []


def _texts_of_warnings(plans: Sequence[SetPlan]) -> list[str]:
    """Return the warnings about rules, about keys that no metric reads and about assertions, each once."""
    of_rules = (
        f"{plan.summary.config_source}: {warning}"
        for plan in plans
        if plan.rule
        for warning in filter(
            None, (check(plan.rule, plan.num_runs) for check in (too_few_trials, loose_rate))
        )
    )
    return list(dict.fromkeys([*of_rules, *_unread(plans), *assertion_warnings(plans)]))


def _unread(plans: Iterable[SetPlan]) -> Iterator[str]:
    for plan in plans:
        for key, count in plan.unread.items():
            yield (
                f"{plan.summary.config_source}: {count} case(s) state `{key}`, which nothing reads: name "
                f"`{reader_of(key)}` in the criteria"
            )


def _without_duplicates(problems: list[SetupError]) -> list[SetupError]:
    """Drop repeated problems: several sets may share a config."""
    return list({str(problem): problem for problem in problems}.values())


def _nothing_left(options: RunOptions) -> str:
    if options.tags:
        return f"no case carries the tag {' or '.join(sorted(options.tags))}; nothing to run"
    return "no cases to run"


def _plan_set(
    entry: SetRequest, options: RunOptions, errors: list[SetupError], surveys: Surveys, *, hashed: bool
) -> SetPlan:
    bound = bind(entry.config, options)
    errors += [_in_config(problem, entry) for problem in bound.problems]
    errors += _find_unsupported(entry)
    num_runs = entry.num_runs or trials_per_case(entry.config, options)
    summary = _summary(entry, bound, num_runs)
    plan = SetPlan(
        entry.source, summary, bound.metrics, entry.config, num_runs=num_runs, warnings=bound.warnings
    )
    summary.rule = plan.rule
    errors += [
        _in_config(problem, entry) for problem in problems_of_trials(entry.config, plan.rule, num_runs)
    ]
    plan.assertions = assertions = Assertions(options.allow_unasserted)
    errors += unknown_ids(entry)
    unplayed = UserProblems(options.users, entry.config)
    checks = checks_of(bound.metrics)
    is_partial = _is_partial(entry, options)
    looks = surveys.of(entry.config, entry.config_source, bound.metrics, is_partial=is_partial)
    undecided: list[int] = []
    for index, case in _choose_cases(entry, options, plan):
        plan.cases.append(index)
        for look in looks:
            look.add_case(case)
        if hashed:
            plan.hashes += case_hash(case)
        unplayed.add_case(index, case)
        plan.unread.update(find_unread_keys(case, bound.metrics, bound.skipped))
        problems = _case_problems(index, case, checks, bound, assertions)
        if problems == [NO_GATE]:  # a problem of the config, reported once
            undecided.append(index)
        else:
            errors += [in_case(problem, entry.source, index) for problem in problems]
    errors += _without_gate(entry, undecided, bound.skipped)
    errors += _user_problems(entry, unplayed)
    plan.warnings = [*plan.warnings, *unplayed.warnings(entry.config_source)]
    summary.cases = len(plan.cases)
    return plan


def _summary(entry: SetRequest, bound: Bound, num_runs: int) -> SetSummary:
    return SetSummary(
        eval_set_id=entry.source.eval_set_id,
        path=entry.source.label,
        config_source=entry.config_source,
        cases=0,
        metrics=[metric.name for metric in bound.metrics],
        score_ranges={one.name: one.facts.score_limits for one in bound.metrics},
        skipped_metrics=bound.skipped,
        num_runs=num_runs,
        criteria=entry.config.model_dump(mode="json", include={"criteria"}, exclude_none=True)["criteria"],
    )


def _case_problems(
    index: int, case: EvalCase, checks: Sequence[Check], bound: Bound, assertions: Assertions
) -> list[str]:
    problems = case_problems(case, checks)
    problem = cannot_run(case)
    if not (problem or problems or bound.problems):  # otherwise its statements may be unreadable
        problem = classify(case, index, bound, assertions)
    return [*problems, problem] if problem else problems


def _is_partial(entry: SetRequest, options: RunOptions) -> bool:
    """Whether options leave out cases of a set, or did when the run was made."""
    has_run = entry.num_runs is not None
    return has_run or bool(entry.only or options.tags or options.limit or options.shard)


def _in_config(problem: SetupError, entry: SetRequest) -> SetupError:
    """Return a problem of the config with the source of the config."""
    error = copy(problem)
    error.args = (f"{entry.config_source}: {problem}",)
    error.file, error.parts = entry.config_source, problem.parts or [str(problem)]
    return error


def _find_unsupported(entry: SetRequest) -> Iterator[SetupError]:
    config, messages = entry.config, []
    if config.live_model_config is not None:
        messages.append("live_model_config (live audio) is not supported")
    if getattr(config.user_simulator_config, "type", None) == "llm_audio":
        messages.append("the user simulator 'llm_audio' is not supported; use 'llm_backed'")
    for message in messages:
        problem = SetupError(message)
        problem.is_mistake = False
        yield _in_config(problem, entry)


def _choose_cases(entry: SetRequest, options: RunOptions, plan: SetPlan) -> Iterator[tuple[int, EvalCase]]:
    """Yield the cases to run, with their indexes; other cases are read only to choose by tag, and none after the limit."""
    # with `join` the plan is that of the whole run: the members compare it
    shard = parse_shard(options.shard) if options.shard is not None and options.join is None else None
    places = itertools.count() if options.limit is None else range(options.limit)
    for _, (index, eval_id, case) in zip(places, _matching_cases(entry, set(options.tags)), strict=False):
        if shard is None or shard.holds(entry.source.eval_set_id, eval_id):
            yield index, case if case is not None else entry.source.case(index)
        else:
            plan.elsewhere += 1


def _matching_cases(entry: SetRequest, tags: set[str]) -> Iterator[tuple[int, str, EvalCase | None]]:
    """Yield the cases that ids and tags choose: index, id, and the case itself if its tags are read."""
    only = set(entry.only)
    for index, eval_id in enumerate(entry.source.ids()):
        if only and eval_id not in only:
            continue
        case = entry.source.case(index) if tags else None
        if case is None or tags & set(tags_of(case)):
            yield index, eval_id, case


def _without_gate(
    entry: SetRequest, undecided: Sequence[int], skipped: dict[str, str]
) -> Iterator[SetupError]:
    """Report once for a whole set that its criteria decide nothing."""
    if not undecided:
        return
    first, source = undecided[0], entry.source
    others = len(undecided) - 1
    more = f" (and {others} more of {source.eval_set_id})" if others else ""
    yield in_case(f"{NO_GATE}{left_out_text(skipped)}: see {entry.config_source}", source, first, more)


def _user_problems(entry: SetRequest, unplayed: UserProblems) -> Iterator[SetupError]:
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
        plan_by_id: dict[str, SetPlan] = {}
        for plan in same_name if len(same_name) > 1 else ():
            ids = _ids(plan)
            if both := [case_id for case_id in ids if case_id in plan_by_id]:
                more = f" (and {len(both) - 1} more)" if len(both) > 1 else ""
                yield (
                    f"{_label(plan_by_id[both[0]])} and {_label(plan)} are both called {name!r}, and each has a case "
                    f"{both[0]!r}{more}: reports, `show` and `compare` cannot distinguish these; give one of the sets "
                    "another `eval_set_id`"
                )
                break
            plan_by_id.update(dict.fromkeys(ids, plan))


def _ids(plan: SetPlan) -> list[str]:
    ids = plan.source.ids()
    return [ids[index] for index in plan.cases]


def _label(plan: SetPlan) -> str:
    return plan.source.label or "a set made in Python"


# --- How many trials a case gets, and whether so many trials can decide a config's `trials` rule ----------------------


_HALF = 0.5
"""With a single trial every rate requires that it passes; a rate below this is probably a mistake."""


def trials_per_case(config: EvalConfig, options: RunOptions) -> int:
    """Return how many trials each case gets: the option `num_runs`, or the config's number, or 1."""
    num_runs = config.trials.num_runs if config.trials is not None else None
    return options.num_runs or num_runs or 1


def problems_of_trials(config: EvalConfig, rule: TrialRule | None, num_runs: int) -> list[SetupError]:
    """Return the problems of a config's `trials`, which state `rule`, for so many trials a case."""
    if not (message := undecidable(rule, num_runs)):
        return []
    problem = SetupError(message)
    problem.path, problem.parts = ("trials",), [message.removeprefix("trials: ")]
    problem.is_mistake = (
        config.trials is not None and config.trials.num_runs is not None
    )  # else --num-runs helps
    return [problem]


def undecidable(rule: TrialRule | None, num_runs: int) -> str:
    """Explain why so many trials can decide nothing under `rule`; empty if they can decide something."""
    if rule is None:
        return ""
    if rule.confidence is None:
        if rule.pass_k <= num_runs:
            return ""
        return f"trials: pass_k is {rule.pass_k}, and a case has {count_text(num_runs, 'trial')}: it takes at least {rule.pass_k}"
    if _can_pass(rule, num_runs) or _can_fail(rule, num_runs):
        return ""
    return (
        f"trials: {count_text(num_runs, 'trial')} a case can decide nothing at a confidence of "
        f"{rule.confidence:g}: from {least_to_pass(rule)} trials on a case can pass"
    )


def too_few_trials(rule: TrialRule, num_runs: int) -> str:
    """Explain which verdict so many trials cannot reach; empty if both passed and failed are possible."""
    if rule.confidence is None or undecidable(rule, num_runs):
        return ""
    requirement = f"{rule.min_pass_rate:g} at a confidence of {rule.confidence:g}"
    if not _can_pass(rule, num_runs):
        return (
            f"trials: no case can pass with {count_text(num_runs, 'trial')}: even if all pass, that does not show {requirement}; "
            f"it takes at least {least_to_pass(rule)}"
        )
    if not _can_fail(rule, num_runs):
        return f"trials: no case can fail with {count_text(num_runs, 'trial')}: even if none passes, {requirement} is not ruled out"
    return ""


def loose_rate(rule: TrialRule, num_runs: int) -> str:
    """Warn about a rate below one trial, which a case that fails all trials but one still meets; empty for others.

    With a confidence one trial that passes is not enough, and `too_few_trials` reports what is out of reach.
    """
    trials = rule.at_most or num_runs
    is_strict = rule.confidence is not None or rule.rate * trials >= 1
    if is_strict or (trials == 1 and rule.rate >= _HALF):
        return ""
    return (
        f"trials: min_pass_rate {rule.min_pass_rate:g} is below one of {count_text(trials, 'trial')}: a case passes if a single trial "
        "passes. State a rate such as 0.8"
    )


def _can_pass(rule: TrialRule, num_runs: int) -> bool:
    if rule.at_most is not None:
        return any(most <= count for count, most in enumerate(bounds_of(rule).above) if count)
    return decide_share(rule, num_runs, num_runs) is Outcome.PASSED


def _can_fail(rule: TrialRule, num_runs: int) -> bool:
    if rule.at_most is not None:
        return any(most >= 0 for most in bounds_of(rule).below)
    return decide_share(rule, 0, num_runs) is Outcome.FAILED


def least_to_pass(rule: TrialRule) -> int:
    """Return how many trials it takes at least, all of them passing, for a case to pass."""
    if rule.confidence is None:
        return rule.pass_k
    if rule.at_most is not None:  # exact, unlike the interval: all trials may be needed
        each = (1 - rule.confidence) / 2
        return ceil(log(each) / log(rule.rate))
    return 1 + (more_trials(1, 1, rule.rate, confidence=rule.confidence) or 0)
