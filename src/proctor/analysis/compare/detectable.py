"""Which drop a comparison on these cases would have noticed, and what would decide an inconclusive one."""

from __future__ import annotations

import json
import shlex
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING

from proctor.analysis.compare.case_pairing import LEFT_OUT
from proctor.analysis.compare.measures import interval_of_trials
from proctor.analysis.compare.resemblance import exceeds, likely_excesses
from proctor.common.safe_text import count_text
from proctor.engine.planning.bound_metric import FINAL_STATE
from proctor.engine.run_options import OPTIONS
from proctor.runs.setup.judge_and_user import AN_OBJECT
from proctor.schema.analysis.comparison import PASSED, CaseChange, Change, ChangedCase, Comparison
from proctor.stats.intervals import at_most, exactly
from proctor.stats.paired_tests import tarone_holm
from proctor.stats.power import pass_rate_size, smallest_drop
from proctor.stats.unequal_counts import TwoCounts, case_test, dealt_out_test

if TYPE_CHECKING:
    from proctor.schema.results.manifest import AgentManifest, JudgedSet, Judging, Manifest


@dataclass(frozen=True, slots=True)
class ErrorBudget:
    """How the probability of a false regression is divided over the tests that can cause one: their one-sided levels.

    2 % are for single cases, 2 % for the pass rate of the set, 1 % for the metrics. If a drop in general is a regression, too
    (`--generalize`), it gets 2 %, and cases and set get 1 % each. By Bonferroni's inequality the probability that any of
    them is wrong is at most the sum. The same levels hold for improvements.
    """

    cases: float
    """Of all single cases together."""
    overall: float
    """Of the pass rate over the set."""
    metrics: float
    """Of all metrics that decide, together."""
    general: float
    """Of the pass rate in general; 0: it does not decide."""


_SHARES = ErrorBudget(cases=0.4, overall=0.4, metrics=0.2, general=0.0)
_SHARES_IF_GENERAL = ErrorBudget(cases=0.2, overall=0.2, metrics=0.2, general=0.4)


def divide_error(error: float, *, generalize: bool = False) -> ErrorBudget:
    """Divide the probability `error` of a false regression over the tests."""
    shares = _SHARES_IF_GENERAL if generalize else _SHARES
    return ErrorBudget(
        shares.cases * error, shares.overall * error, shares.metrics * error, shares.general * error
    )


POWER = 0.8
_STEPS = 100


@dataclass(frozen=True, slots=True)
class Detectable:
    """The drops that are noticed with a probability of 80 %."""

    case_rate: float | None
    """The pass rate to which one case may drop from 100 % and still be noticed by itself; `None`: no such drop is."""
    overall: float | None
    """The drop of the pass rate over the set; `None`: no drop is noticed."""


def detectable_drop(counts: Sequence[TwoCounts], *, case_level: float, overall_level: float) -> Detectable:
    """Return which drops would be noticed on these cases, with these numbers of trials, at the one-sided levels.

    The set: every trial fails additionally with the same probability, as in a plan (`PassRateSize`).
    """
    return Detectable(
        detectable_case_rate(counts, level=case_level, power=POWER), _overall_drop(counts, overall_level)
    )


def detectable_case_rate(counts: Sequence[TwoCounts], *, level: float, power: float) -> float | None:
    """Return the pass rate to which a case may drop from 100 % and be noticed with the probability `power`; `None`: no such drop is.

    It is tested with correction for those of the other cases that are flaky, and must exceed what these are likely to vary
    (`resemblance`). If none of them is flaky, the pass rate over the set may notice it, too.
    """
    trials = min(
        ((one.trials_before, one.trials_now) for one in counts), key=lambda both: case_power_key(*both)
    )
    flaky = [one for one in counts if 0 < one.before + one.now < one.trials_before + one.trials_now]
    others = [case_test(one)[1] for one in flaky[len(flaky) == len(counts) :]]
    before, now = trials
    significant = [
        case
        for passed in range(now)
        if _is_significant(case := TwoCounts(before, before, passed, now), level, others)
    ]
    if len(counts) == 1:
        return _case_rate(now, [len(significant) - 1], power)
    by_set = [] if others else [one.now for one in significant if _falls_with_set(one, level)]
    return _case_rate(
        now,
        [
            max((*by_set, *(one.now for one in significant if exceeds(one, each, len(others)))), default=-1)
            for each in likely_excesses(len(others))
        ],
        power,
    )


def case_power_key(before: int, now: int) -> float:
    """Return the harmonic size of two numbers of trials: the smaller, the less is noticed."""
    return before * now / (before + now)


def _falls_with_set(case: TwoCounts, level: float) -> bool:
    """Return whether the pass rate over a set falls significantly if this is the only case that does."""
    steady = TwoCounts(case.trials_before, case.trials_before, case.trials_now, case.trials_now)
    difference = (case.now / case.trials_now - case.before / case.trials_before) / 2
    return interval_of_trials([case, steady], difference, 2 * level)[1] < 0


def _case_rate(trials: int, mosts: Sequence[float], power: float) -> float | None:
    """Return the pass rate to which a case may drop; with one of `mosts` passes or fewer it is noticed, each equally likely."""

    def is_noticed(step: int) -> bool:
        shares = [at_most(int(most), trials, step / _STEPS) for most in mosts]
        return fsum(shares) / len(shares) >= power - 1e-9

    if not is_noticed(0):
        return None
    steps = range(
        1, _STEPS + 1
    )  # a case that always fails is noticed, and less and less of one that passes more often
    return bisect_left(steps, True, key=lambda step: not is_noticed(step)) / _STEPS


def _is_significant(case: TwoCounts, level: float, others: Sequence[float]) -> bool:
    p_value, least = case_test(case)
    return tarone_holm([p_value, *[1.0] * len(others)], [least, *others], level)[0] <= level


def _overall_drop(counts: Sequence[TwoCounts], level: float) -> float | None:
    sides = [side for one in counts for side in ((one.before, one.trials_before), (one.now, one.trials_now))]
    trials = [[1.0] * round(passed) + [0.0] * round(trial_count - passed) for passed, trial_count in sides]
    size = pass_rate_size(trials, level=2 * level, power=POWER)
    each = len(sides) / fsum(1 / trial_count for _, trial_count in sides)
    drop = smallest_drop(size, len(counts), max(1, round(each)))
    rate = fsum(one.before / one.trials_before for one in counts) / len(counts)
    if drop is None or drop <= rate:
        return drop
    # no drop is larger than the pass rate: then every trial fails
    fallen = [TwoCounts(one.before, one.trials_before, 0, one.trials_now) for one in counts]
    return rate if dealt_out_test(fallen) <= 2 * level else None


# --- What would decide an inconclusive comparison: new trials of the cases that moved, not new cases ------------------

if TYPE_CHECKING:
    from proctor.schema.results.manifest import AgentManifest, JudgedSet, Judging, Manifest

    Conditions = tuple[Manifest, Judging]

FEWEST_TRIALS = 5
"""New trials of a case that moved: the fewest that can show a change of one case."""
MOST_TRIALS = 50
"""New trials beyond which none are proposed: the change of the case is too small to be shown at a sensible price."""
_ENOUGH_IN_BASE = 4
"""Trials of a case in a base that need not be run again to show that the case broke."""
_MOST_CASES = 20
"""Cases that a command names; if more moved, the whole set is run again."""


def next_steps(found: Comparison, base: Manifest, candidate: Manifest, case_level: float) -> Iterator[str]:
    """Yield what would decide, as sentences with commands; nothing for another outcome."""
    if found.outcome not in (Change.INCONCLUSIVE, Change.ERROR) or found.look is not None:
        return
    yield from _missing_verdicts(found)
    if found.outcome is Change.ERROR or _is_apart(found):
        return
    moved = found.changed(CaseChange.NOW_FAILS) or found.changed(CaseChange.FEWER_TRIALS)
    if moved:
        yield from _new_trials(found, moved, trials_to_show(moved, case_level), base, candidate)
    if found.more_cases and (
        not moved or found.pairs > len(moved)
    ):  # cases that were chosen because they fell are no sample
        yield f"for cases like these: {_more_text(found)} would show whether they get worse"


def _missing_verdicts(found: Comparison) -> Iterator[str]:
    left_out = sum(one.reason == LEFT_OUT for one in found.changed(CaseChange.MISSING))
    if left_out:
        cases = count_text(left_out, "case")
        yield f"run the candidate on all cases: it left out {cases} (--limit, --tag, --failed, --changed-since or --shard)"
    if found.missing_candidate > left_out * max(1, found.candidate.num_runs) and found.candidate.run_id:
        yield f"get the missing verdicts: proctor resume {found.candidate.run_id} --retry-errors"


_LONGEST_CONFIG = 600
"""Characters of criteria that a message shows."""


def rescore_step(found: Comparison, base: Judging, candidate: Judging, *, is_baseline: bool) -> str:
    """Return the command that scores one run by the criteria of the other; empty if that is not possible.

    It is the base that is scored, or the candidate if the base is a baseline, whose scores do not change. The criteria are shown
    because they may be in no file: ADK's defaults. A config applies to all sets of a run.
    """
    run, word, other, model = found.base, "base", "candidate", candidate
    if is_baseline:
        run, word, other, model = found.candidate, "candidate", "base", base
    criteria = {(json.dumps(_config(one), ensure_ascii=False), _chosen_metrics(one)) for one in model.sets}
    if not run.run_id or not _is_apart(found) or len(criteria) != 1:
        return ""
    ((config, metrics),) = criteria
    content = config if len(config) <= _LONGEST_CONFIG else f"the config of the {other}"
    command = f"proctor score {run.run_id} --config FILE{metrics}"
    return f"score the {word} by the criteria of the {other}, with {content} in FILE: {command}"


def _is_apart(found: Comparison) -> bool:
    """Return whether pass and fail were not scored alike, so that no trial decides."""
    return any(one.name == PASSED and one.apart for one in found.measures)


def _chosen_metrics(judged: JudgedSet) -> str:
    """Return the option that leaves out the metrics that a run left out (`--metrics`, `--no-judge`); empty if it left out none."""
    configured = [*(judged.config.get("criteria") or {}), FINAL_STATE]
    computed = {one.name for one in judged.metrics}
    names = [name for name in configured if name in computed]
    return f" --metrics={','.join(names)}" if names and len(names) < len(configured) else ""


def _config(judged: JudgedSet) -> dict[str, object]:
    """Return the config of a set without its empty parts."""
    return {name: value for name, value in judged.config.items() if value or name == "criteria"}


def _more_text(found: Comparison) -> str:
    more = f"about {found.more_cases:,} more cases"
    if not found.more_trials or found.futile:
        return more
    return f"{more}, or about {count_text(found.more_trials, 'more trial')} of each,"


def _new_trials(
    found: Comparison, moved: Sequence[ChangedCase], trials: int | None, base: Manifest, candidate: Manifest
) -> Iterator[str]:
    cases, rates = (
        ("this case", "it passes") if len(moved) == 1 else (f"these {len(moved):,} cases", "they pass")
    )
    if trials is None:
        yield f"the change is too small for new trials of {cases}: {MOST_TRIALS} with each build would probably not show it"
        return
    before, now = (_command(one, moved, trials) for one in (base, candidate))
    both = "; then `proctor compare previous latest`:" if before and now else ""
    yield (
        f"{trials} new trials of {cases} with each build would show a change with a probability of "
        f"{100 * POWER:.0f} %, if {rates} as often as now{both}"
    )
    if before and now:
        yield f"base{_checkout(base.agent, candidate.agent, is_same=before == now)}: {before}"
        yield f"candidate: {now}"
    if found.base.num_runs < _ENOUGH_IN_BASE:
        yield "if the base cannot be run again: store baselines with at least four trials of each case (--trials=4)"
    elif now and not before:
        yield f"if the base cannot be run again, compare new trials of the candidate with it: {now}"


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

    befores = [count for count in range(trials + 1) if exactly(count, trials, base) > 1e-6]
    powers = []
    for before in befores:
        limit = bisect_left(range(trials + 1), True, key=lambda passed: p_value(passed, before) > level)
        powers.append(exactly(before, trials, base) * at_most(limit - 1, trials, now))
    return fsum(powers)


def _command(manifest: Manifest, moved: Sequence[ChangedCase], trials: int) -> str:
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
    return shlex.join(command)


def _checkout(base: AgentManifest, candidate: AgentManifest, *, is_same: bool) -> str:
    """Return what to do before the command of the base; the same command runs the candidate unless the source is the old one."""
    is_other_commit = base.commit is not None and base.commit != candidate.commit
    commit = (base.commit or "").removesuffix("+")
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

    New trials are compared only if both builds are scored alike. The options are those of the base if only the candidate was
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
