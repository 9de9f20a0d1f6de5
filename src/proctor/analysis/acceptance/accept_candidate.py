"""The gate for searches: a candidate is accepted if held-out cases prove that it is better, within a budget of looks.

A search that tests many candidates finds one that is better by chance. The gate therefore tests each candidate at the level
alpha / looks (Bonferroni), and stores each look before the runs begin, so that neither a crash nor a second
process gives a look back.

The question is that of cases like these (`Comparison.general`): the held-out cases are a sample. Tests on fixed cases account only
for the chance of trials. An agent that answers the same question always alike would pass them as soon as it is better by one
case, and among twenty candidates that are no better on other cases, some are.

The level is two-sided although only one side accepts: the other half of it covers the error of the interval for few and skewed cases
(simulated in `benchmarks/acceptance.py`).

Without an acceptance, a search that receives only `accepted` learns nothing of the cases: its candidates are as if they were fixed
in advance, and by Bonferroni's inequality the probability of a wrong acceptance is at most alpha. Source of this argument: A. Blum and
M. Hardt, "The Ladder: A Reliable Leaderboard for Machine Learning Competitions" (2015), arXiv:1502.04585, section 2.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from math import floor
from typing import TYPE_CHECKING

from proctor.analysis.acceptance.held_out_set import input_hash, is_share
from proctor.analysis.compare.compare_runs import compare
from proctor.analysis.compare.measures import PairedScore, by_case
from proctor.common.option_kinds import number_problem
from proctor.common.safe_text import count_text
from proctor.errors import NoLooksLeftError, SetupError
from proctor.reports.content.summary import points
from proctor.runs.arguments import AgentLike, ConfigLike, EvalSetLike, EvaluateOptions, sync_form
from proctor.runs.attempts import recorded_attempt
from proctor.runs.storage.open import StoreLike, is_open, open_store
from proctor.schema.analysis.acceptance import Acceptance
from proctor.schema.analysis.comparison import Change, Comparison
from proctor.stores.labels import StoredLook

if TYPE_CHECKING:
    from proctor.schema.format.case import EvalSet
    from proctor.stores.base import Store

_MOST_ALPHA = 0.25
_LEAST_LEVEL = 2e-4
"""The smallest level of a look: drawn permutations resolve no smaller p-values."""
_MOST_TRIALS = 1000
_MOST_CASES_NEEDED = 200
OPTIONS = frozenset(
    "concurrency isolate isolate_memory timeout trial_timeout max_text max_events user setup teardown judge retry_errors"
    " max_time max_tokens max_cost max_judge_calls stop progress explain".split()
)
"""The options of `evaluate` that `options` may contain: they change neither the cases and trials nor how these are scored."""


async def accept_candidate(  # noqa: PLR0913 - one call with all that decides
    candidate: AgentLike,
    baseline: AgentLike,
    held_out: EvalSetLike,
    *,
    config: ConfigLike,
    trials: int,
    store: StoreLike,
    alpha: float = 0.05,
    budget_of_looks: int = 20,
    options: EvaluateOptions | None = None,
) -> Acceptance:
    """Run a candidate of a search and its baseline on held-out cases, and accept the candidate if it is proven to be better.

    Accepted means: cases like the held-out ones pass more often with the candidate, significantly at the level
    `alpha` / `budget_of_looks`, whatever the missing verdicts are; and no case, pass rate or metric is significantly worse. The
    probability that a search accepts any candidate that is not better is at most `alpha` over the whole budget, if the search
    cannot read the held-out cases and receives nothing but `accepted`.

    * `candidate`, `baseline`: agents as for `evaluate`. After an acceptance, the candidate is the next baseline.
    * `held_out`: the cases, as from `split`. They must be a random sample of the cases that matter.
    * `config`: the criteria, as for `evaluate`. `trials`: the trials of each case, for both agents.
    * `store`: where the runs and the looks are stored. `None`: the project's store.
    * `alpha`: above 0 and below 0.25. `budget_of_looks`: the number of looks that share it.
    * `options`: more options of `evaluate`, such as `concurrency`, `judge`, `user` or `max_cost`.

    A look is used up when the runs begin, even if they are killed. It counts for every held-out set that contains a case
    with the same input, whatever its id, its expectations, its file, the config or the seed of the split are. The looks at
    one held-out set must have the same `alpha` and `budget_of_looks`. Another store has another budget.

    Raises:
        NoLooksLeftError: the budget of these cases is used up.
        SetupError: an argument is not valid, earlier looks had another alpha or budget, or so few cases cannot prove anything.
        SetupProblems: configuration errors of the runs. No look is used.
        StoreError: the store cannot be used.
        AgentLoadError: the baseline could not start. The look is used.
    """
    from proctor.runs.evaluate import carry_out_in_turn
    from proctor.runs.load import load_eval_set
    from proctor.runs.setup.prepare import prepare_agents

    with recorded_attempt(store, "accept_candidate(…)", in_project=True):
        level = _level_of_look(alpha, budget_of_looks, trials)
        run_options = _run_options(options)
        cases = load_eval_set(held_out)
        _check_size(len(cases.eval_cases), trials, level)
        with nullcontext(store) if is_open(store) else closing(open_store(store)) as opened:
            every = EvaluateOptions(**{**run_options, "config": config, "num_runs": trials, "store": opened})
            prepared = prepare_agents([baseline, candidate], cases, every)
            looks = _use_look(opened, cases, alpha, budget_of_looks)
            before, now = await carry_out_in_turn(prepared, run_options.get("progress"))
            comparison = await compare(before.run_id, now.run_id, store=opened, confidence=1 - level)
    accepted = is_proven(comparison)
    sentence = f"{_decision(comparison, accepted=accepted)}; look {looks} of {budget_of_looks}"
    return Acceptance(accepted, comparison, level, alpha, budget_of_looks, looks, sentence)


accept_candidate_sync = sync_form(accept_candidate)


def is_proven(comparison: Comparison) -> bool:
    """Return whether a comparison proves, at its level, that the candidate is better in general and worse in nothing."""
    is_worse = comparison.outcome in (Change.REGRESSION, Change.ERROR)
    return comparison.general is not None and comparison.general.low > 0 and not is_worse


# --- arguments ---------------------------------------------------------------------------------------------------------


def _level_of_look(alpha: float, budget: int, trials: int) -> float:
    """Return the level of a look; refuse numbers that are out of range."""
    for name, value, most in (("trials", trials, _MOST_TRIALS), ("budget_of_looks", budget, 10**9)):
        if problem := number_problem(value, 1, most):
            raise SetupError(f"{name}: expected {problem}")
    if not is_share(alpha) or alpha >= _MOST_ALPHA:
        raise SetupError(f"alpha: expected a probability above 0 and below {_MOST_ALPHA}, got {alpha!r}")
    if alpha / budget < _LEAST_LEVEL * (1 - 1e-9):
        raise SetupError(
            f"budget_of_looks: alpha {alpha:g} allows at most {floor(alpha / _LEAST_LEVEL + 1e-9)} looks, got {budget}. Each look is "
            f"tested at the level alpha / budget_of_looks, which must be at least {_LEAST_LEVEL:g}"
        )
    return alpha / budget


def _run_options(options: EvaluateOptions | None) -> EvaluateOptions:
    run_options = options or EvaluateOptions()
    if unknown := sorted(set(run_options) - OPTIONS):
        raise SetupError(
            f"options: {', '.join(unknown)} cannot be given here, because cases, trials and criteria must be the same at every "
            f"look. Possible: {', '.join(sorted(OPTIONS))}"
        )
    return run_options


def _check_size(cases: int, trials: int, level: float) -> None:
    """Refuse a held-out set of which even a candidate that repairs every case would not be accepted."""
    if cases and not _can_be_proven(cases, trials, level):
        needed = next((n for n in range(cases, _MOST_CASES_NEEDED) if _can_be_proven(n, trials, level)), None)
        raise SetupError(
            f"held_out: {count_text(cases, 'case')} cannot prove an improvement at the level {level:g} of a look "
            f"(alpha / budget_of_looks), even if all of them failed before and pass now. At least {needed} cases are needed, and "
            "some dozens for a usual improvement; a smaller budget_of_looks needs fewer"
        )


def _can_be_proven(cases: int, trials: int, level: float) -> bool:
    return by_case([PairedScore(0.0, 1.0, trials, trials)] * cases, level, 1.0).low > 0


# --- the budget --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Budget:
    """Counts the earlier looks that share a case with the next one, and refuses it if none is left."""

    look: StoredLook
    used: int = 0

    def check(self, earlier: Sequence[StoredLook]) -> None:
        """Count the earlier looks.

        Raises:
            SetupError: one of them had another alpha or budget.
            NoLooksLeftError: there are as many as the budget has.
        """
        cases = {*self.look.cases}
        shared = [one for one in earlier if not cases.isdisjoint(one.cases)]
        for one in shared:
            if (one.alpha, one.budget) != (self.look.alpha, self.look.budget):
                raise SetupError(
                    f"alpha {self.look.alpha:g} and budget_of_looks {self.look.budget} cannot be chosen again: earlier looks at "
                    f"these held-out cases had alpha {one.alpha:g} and budget_of_looks {one.budget}. Use these, or cases that "
                    "were in no look"
                )
        self.used = len(shared)
        if self.used >= self.look.budget:
            count = len(cases.intersection(case for one in shared for case in one.cases))
            raise NoLooksLeftError(
                f"all {self.look.budget} looks at these held-out cases are used up ({count} of {len(cases)} cases were in earlier "
                f"looks): at alpha {self.look.alpha:g}, another look could accept a candidate by chance. Hold out cases that "
                "were in no look"
            )


def _use_look(store: Store, held_out: EvalSet, alpha: float, budget: int) -> int:
    """Store a look, and return how many there are with it."""
    hashes = tuple(sorted({input_hash(case) for case in held_out.eval_cases}))
    look = StoredLook(cases=hashes, alpha=float(alpha), budget=budget, began_at=time.time())
    counted = _Budget(look)
    store.record_look(look, counted.check)
    return counted.used + 1


# --- the sentence ------------------------------------------------------------------------------------------------------


def _decision(comparison: Comparison, *, accepted: bool) -> str:
    """Return the decision with its basis, without the name of any case."""
    general = comparison.general
    if general is None:
        return "not accepted: no held-out case has a verdict in both runs"
    level = f"{100 * general.confidence:.6g} % CI"
    change = f"{points(general.difference)} points for cases like these ({level}: {points(general.low)} to {points(general.high)})"
    if accepted:
        return f"accepted: {change}"
    if comparison.outcome is Change.REGRESSION:
        return f"not accepted: a case, the pass rate or a metric is significantly worse; {change}"
    missing = comparison.missing_candidate + comparison.missing_base
    if missing:
        return f"not accepted: an improvement is not proven, and {missing} verdicts are missing; {change}"
    return f"not accepted: an improvement is not proven; {change}"
