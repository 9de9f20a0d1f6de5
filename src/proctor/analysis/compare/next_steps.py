"""What would decide an inconclusive comparison, the cheapest first: new trials of the cases that moved, not new cases."""

from __future__ import annotations

import json
import shlex
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from math import fsum
from typing import TYPE_CHECKING

from proctor.analysis.compare.absent_cases import LEFT_OUT, unread_text
from proctor.analysis.compare.error_rates import POWER
from proctor.common.safe_text import count_text
from proctor.engine.planning.bound_metric import FINAL_STATE
from proctor.engine.run_options import OPTIONS
from proctor.runs.setup.judge_and_user import AN_OBJECT
from proctor.schema.analysis.comparison import (
    PASSED,
    CaseChange,
    Change,
    ChangedCase,
    ComparedRun,
    Comparison,
)
from proctor.stats.intervals import at_most, binomial_probability
from proctor.stats.unequal_counts import TwoCounts, case_test

if TYPE_CHECKING:
    from proctor.schema.results.manifest import AgentManifest, JudgedSet, Manifest, ScoringManifest

    Conditions = tuple[Manifest, ScoringManifest]

FEWEST_TRIALS = 5
"""New trials of a case that moved: the fewest that can show a change of one case."""
MOST_TRIALS = 50
"""New trials beyond which none are proposed: the change of the case is too small to be shown at a sensible price."""
_ENOUGH_IN_BASE = 4
"""Trials of a case in a baseline that need not be run again to show that the case broke."""
_MOST_CASES = 20
"""Cases that a command names; if more moved, the whole set is run again."""


def next_steps(
    comparison: Comparison,
    base: Manifest,
    candidate: Manifest,
    case_level: float,
    *,
    is_baseline: bool = False,
    shared: Collection[str] = (),
    store: str = "",
) -> Iterator[str]:
    """Yield what would decide, as sentences with commands; nothing for another outcome.

    `shared` has the ids of the runs that several processes write and that are not complete. `store` is the option that ends
    each command, if the runs are not in the project's store.
    """

    def resume(run_id: str) -> str:
        """Return the command that gets missing verdicts; errors of a run of several parts are repeated after it is complete."""
        return f"proctor resume {run_id}{'' if run_id in shared else ' --retry-errors'}{store}"

    if comparison.outcome not in (Change.INCONCLUSIVE, Change.ERROR) or comparison.look is not None:
        return
    yield from _missing_verdicts(comparison, resume(comparison.candidate.run_id))
    yield from _missing_in_base(
        comparison, base.agent, candidate.agent, resume(comparison.base.run_id), is_baseline=is_baseline
    )
    if comparison.outcome is Change.ERROR or _is_apart(comparison):
        return
    moved = comparison.changed(CaseChange.NOW_FAILS) or comparison.cases_with_fewer_passes
    if moved:
        yield from _new_trials(comparison, moved, trials_to_show(moved, case_level), (base, candidate), store)
    # cases that were chosen because they fell are not a sample
    is_sample = not moved or comparison.pairs > len(moved)
    if comparison.more_cases and is_sample:
        yield f"for cases like these: {_more_text(comparison)} would show whether they get worse"


def _missing_verdicts(comparison: Comparison, resume: str) -> Iterator[str]:
    if comparison.unknown_sets:
        yield f"correct {', '.join(comparison.unknown_sets)}, and run the baseline and the candidate again"
    left_out = comparison.left_out[1]
    absent = [one.reason for one in comparison.changed(CaseChange.MISSING) if not one.candidate.total]
    if step := _run_all("candidate", comparison.candidate, left_out, absent, comparison.unknown_sets):
        yield step
    if (
        comparison.missing_candidate > left_out * max(1, comparison.candidate.num_runs)
        and comparison.candidate.run_id
    ):
        yield f"get the missing verdicts: {resume}"


def _missing_in_base(
    comparison: Comparison, base: AgentManifest, candidate: AgentManifest, resume: str, *, is_baseline: bool
) -> Iterator[str]:
    absent = [one.before for one in comparison.changed(CaseChange.MISSING) if not one.base.total]
    run, left_out = comparison.base, comparison.left_out[0]
    if step := _run_all("baseline", run, left_out, absent, comparison.unknown_sets):
        yield step
    elif (
        comparison.missing_base > left_out * max(1, run.num_runs)
        and run.run_id
        and base.reference is not None
    ):
        source = _checkout(base, candidate, is_same=base.reference == candidate.reference)
        again = ", then store the baseline again" if is_baseline else ""
        yield f"get the missing verdicts of the baseline{source}{again}: {resume}"


def _run_all(
    side: str, run: ComparedRun, left_out: int, absent: Sequence[str], unknown_sets: Collection[str]
) -> str:
    """Return how to get the verdicts of cases that a run left out; empty if that is not necessary.

    It is if a case of `absent` may have fallen (each is the reason why a case was not run), or if the set of one could not be run:
    then no other command helps.
    `unknown_sets`: the sets that the other run does not have either.
    """
    unread = unread_text(run.unread_sets)
    causes = {LEFT_OUT: "--limit, --tag, --failed, --changed-since or --shard", unread: unread}
    reasons = [*dict.fromkeys(causes[reason] for reason in absent if reason in causes)]
    if not reasons and left_out and run.unread_sets.keys() - {*unknown_sets}:
        reasons = [unread]
    if not reasons:
        return ""
    correct = f"correct {', '.join(run.unread_sets)}, and " if unread in reasons else ""
    return f"{correct}run the {side} on all cases: it left out {count_text(left_out, 'case')} ({'; '.join(reasons)})"


_LONGEST_CONFIG = 600
"""Characters of criteria that a message shows."""


def rescore_step(
    comparison: Comparison,
    base: ScoringManifest,
    candidate: ScoringManifest,
    *,
    is_baseline: bool,
    store: str = "",
) -> str:
    """Return the command that scores one run by the criteria of the other; empty if that is not possible.

    It is the baseline that is scored, or the candidate if the baseline is a stored one, whose scores do not change. The criteria are shown
    because they may be in no file: ADK's defaults. A config applies to all sets of a run.
    """
    run, word, other, model = comparison.base, "baseline", "candidate", candidate
    if is_baseline:
        run, word, other, model = comparison.candidate, "candidate", "baseline", base
    criteria = {(json.dumps(_config(one), ensure_ascii=False), _chosen_metrics(one)) for one in model.sets}
    if not run.run_id or not _is_apart(comparison) or len(criteria) != 1:
        return ""
    ((config, metrics),) = criteria
    content = config if len(config) <= _LONGEST_CONFIG else f"the config of the {other}"
    command = f"proctor score {run.run_id} --config FILE{metrics}{store}"
    return f"score the {word} by the criteria of the {other}, with {content} in FILE: {command}"


def _is_apart(comparison: Comparison) -> bool:
    """Return whether pass and fail were not scored alike, so that no trial decides."""
    return any(one.name == PASSED and one.apart for one in comparison.measures)


def _chosen_metrics(judged: JudgedSet) -> str:
    """Return the option that leaves out the metrics that a run left out (`--metrics`, `--no-judge`); empty if it left out none."""
    configured = [*(judged.config.get("criteria") or {}), FINAL_STATE]
    computed = {one.name for one in judged.metrics}
    names = [name for name in configured if name in computed]
    return f" --metrics={','.join(names)}" if names and len(names) < len(configured) else ""


def _config(judged: JudgedSet) -> dict[str, object]:
    """Return the config of a set without its empty parts."""
    return {name: value for name, value in judged.config.items() if value or name == "criteria"}


def _more_text(comparison: Comparison) -> str:
    more = f"about {comparison.more_cases:,} more cases"
    if not comparison.more_trials or comparison.futile:
        return more
    return f"{more}, or about {count_text(comparison.more_trials, 'more trial')} of each,"


def _new_trials(
    comparison: Comparison,
    moved: Sequence[ChangedCase],
    trials: int | None,
    manifests: tuple[Manifest, Manifest],
    store: str,
) -> Iterator[str]:
    base, candidate = manifests
    cases, rates = (
        ("this case", "it passes") if len(moved) == 1 else (f"these {len(moved):,} cases", "they pass")
    )
    if trials is None:
        yield f"the change is too small for new trials of {cases}: {MOST_TRIALS} with each build would probably not show it"
        return
    before, now = (_command(one, moved, trials, store) for one in manifests)
    both = f"; then `proctor compare previous latest{store}`:" if before and now else ""
    yield (
        f"{trials} new trials of {cases} with each build would show a change with a probability of "
        f"{100 * POWER:.0f} %, if {rates} as often as now{both}"
    )
    if before and now:
        yield f"baseline{_checkout(base.agent, candidate.agent, is_same=before == now)}: {before}"
        yield f"candidate: {now}"
    yield from _without_base(comparison, before, now)


def _without_base(comparison: Comparison, before: str, now: str) -> Iterator[str]:
    """Yield what to do if the baseline cannot be run again."""
    if comparison.base.num_runs < _ENOUGH_IN_BASE:
        yield "if the baseline cannot be run again: store baselines with at least four trials of each case (--trials=4)"
    elif now and not before:
        yield f"if the baseline cannot be run again, compare new trials of the candidate with it: {now}"


def trials_to_show(moved: Sequence[ChangedCase], level: float) -> int | None:
    """Return how many new trials of each case in both builds show with a probability of 80 % that one of them is worse.

    `level` is the one-sided level of all cases together (0 to 1). The pass rates of the case that fell most are taken as its
    true ones. `None`: more than 50 trials would be necessary.
    """
    rates = [(one.base.rate, one.candidate.rate) for one in moved]
    known = [(base, now) for base, now in rates if base is not None and now is not None]
    base, now = max(known, key=lambda pair: pair[0] - pair[1], default=(1.0, 0.0))
    each = level / len(moved)
    numbers = range(FEWEST_TRIALS, MOST_TRIALS + 1)
    return next((trials for trials in numbers if _power(trials, base, now, each) >= POWER), None)


def _power(trials: int, base: float, now: float, level: float) -> float:
    """Return the probability that Fisher's exact test of one case is significant."""

    def p_value(passed: int, before: int) -> float:
        return case_test(TwoCounts(before, trials, passed, trials))[0]

    befores = [count for count in range(trials + 1) if binomial_probability(count, trials, base) > 1e-6]
    powers = []
    for before in befores:
        limit = bisect_left(range(trials + 1), True, key=lambda passed: p_value(passed, before) > level)
        powers.append(binomial_probability(before, trials, base) * at_most(limit - 1, trials, now))
    return fsum(powers)


def _command(manifest: Manifest, moved: Sequence[ChangedCase], trials: int, store: str) -> str:
    """Return the command that runs new trials of the cases that moved; empty if no command can run what was run."""
    paths = {one.eval_set_id: one.path for one in manifest.sets}
    sets: defaultdict[str, list[str]] = defaultdict(list)
    for case in moved:
        sets[paths.get(case.eval_set_id) or ""].append(case.eval_id)
    options = _same_options(manifest.options)
    if manifest.agent.reference is None or "" in sets or options is None:
        return ""
    words = [path if len(moved) > _MOST_CASES else f"{path}:{','.join(ids)}" for path, ids in sets.items()]
    command = ["proctor", "eval", manifest.agent.reference, *words, "--trials", str(trials), *options]
    return shlex.join(command) + store


def _checkout(base: AgentManifest, candidate: AgentManifest, *, is_same: bool) -> str:
    """Return what to do before the command of the baseline; the same command runs the candidate unless the source is the old one."""
    is_other_commit = base.commit is not None and base.commit != candidate.commit
    commit = (base.commit or "").removesuffix("+")[:12]
    changes = " and its uncommitted changes" if (base.commit or "").endswith("+") else ""
    if not is_same:
        return f" (at commit {commit}{changes})" if is_other_commit else ""
    if is_other_commit:
        return f" (first check out commit {commit}{changes})"
    if base.source_hash is not None and base.source_hash == candidate.source_hash:
        return ""
    return " (first check out the old source)"


_RUN = (
    "agent_name", "min_pass_rate", "isolate", "isolate_memory", "timeout", "trial_timeout", "max_text", "max_events",
    "user", "setup", "teardown", "allow_duplicate_ids", "allow_unknown_keys", "allow_unasserted",
)  # fmt: skip
"""The options of a run that decide what is run and what is an error."""
_SCORING = ("config", "default_config", "metrics", "no_judge", "judge", "compat")
"""The options of a run that decide how it is scored."""


def as_scored(base: Conditions, candidate: Conditions) -> tuple[Manifest, Manifest]:
    """Return both manifests with the scoring options of one run, by which the other one was re-scored to compare them.

    New trials are compared only if both builds are scored alike. The options are those of the baseline if only the candidate was
    re-scored, else those of the candidate.
    """
    (before, base_scoring), (now, candidate_scoring) = base, candidate
    is_base = candidate_scoring.number > 1 >= base_scoring.number and before.agent.reference is not None
    scoring = {
        name: value for name, value in (before if is_base else now).options.items() if name in _SCORING
    }

    def scored(manifest: Manifest) -> Manifest:
        others = {name: value for name, value in manifest.options.items() if name not in _SCORING}
        return manifest.model_copy(update={"options": others | scoring})

    return scored(before), scored(now)


def _same_options(options: Mapping[str, object]) -> list[str] | None:
    """Return these options of a run as words of a command; `None` if one is an object that only Python code can give."""
    words = []
    for name in (*_RUN, *_SCORING):
        option, value = OPTIONS[name], options.get(name)
        if value == AN_OBJECT or isinstance(value, Mapping):
            return None
        if name in options and value != option.default:
            words += option.kind.command_words(option.flags[0], value)
    return words
