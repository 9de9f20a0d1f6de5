"""Count what a run spends on models, and which judges scored it, as trials end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from proctor.engine.trial.played_conversation import usage_of_user
from proctor.engine.usage.agent_usage import costs_of
from proctor.schema.evidence.trial import FailureKind
from proctor.schema.results.model_usage import Spent, sum_usage, total_cost, without
from proctor.schema.results.run_result import CaseResult

if TYPE_CHECKING:
    from proctor.engine.execution.run_recorder import StoredRun
    from proctor.engine.planning.bound_metric import BoundMetric
    from proctor.engine.run_options import RunOptions
    from proctor.engine.usage.agent_usage import AgentUsage
    from proctor.engine.usage.budget import RunBudget
    from proctor.schema.results.manifest import RunSummary
    from proctor.schema.results.score import JudgedBy, MetricScore


class RunCosts:
    """The costs of one run, and its judges."""

    __slots__ = ("_asks_judges", "_before", "_budget", "_judges", "_seen", "_spending")

    def __init__(self, options: RunOptions, spending: AgentUsage, *, asks_judges: bool) -> None:
        """Keep the limits, the judges, and the usage of the agent."""
        self._asks_judges = asks_judges
        self._budget, self._judges, self._spending = options.budget, options.judges, spending
        self._before: list[Spent] = []
        self._seen: dict[tuple[str, str, str], None] = {}

    def begin_with(self, stored: StoredRun, earlier: RunSummary, *, judged_anew: bool) -> None:
        """Add what earlier processes spent, except on agent and users: their stored evidence is counted again.

        The rest of their spending was for interrupted conversations, which are run again: it counts, too. A new scoring
        (`judged_anew`) does not add what earlier judges took. If the earlier process was killed, there is no summary,
        and the votes in the stored scores tell its spending.
        """
        past = {"agent", "user", "judge"} if judged_anew else {"agent", "user"}
        counted = [*self._spending.costs.spent(), *self._spending.users]
        broken_off = without([one for one in earlier.spent if one.purpose in {"agent", "user"}], counted)
        self._before = [*(one for one in earlier.spent if one.purpose not in past), *broken_off]
        if judged_anew:
            return
        self._seen = {(one.metric, one.model, one.prompt): None for one in earlier.judged_by}
        if self._asks_judges and earlier.outcome is None and not earlier.spent:
            self._recount(stored)

    def _recount(self, stored: StoredRun) -> None:
        found: list[Spent] = []
        for case in stored.store.planned(stored.writer.run_id):
            for trial in stored.trials(case.position):
                for name, score in trial.scores.items():
                    for details in all_details(score):
                        self._seen.update({(name, *by): None for by in _graders(details)})
                        found += spent_on(details)
        self._before = sum_usage([*self._before, *found])

    def trial_done(self, metrics: Sequence[BoundMetric], scores: Sequence[MetricScore] | None) -> None:
        """Record which judges scored a trial."""
        for bound, score in zip(metrics, scores or (), strict=False):
            if bound.judge:
                for details in all_details(score):
                    self._seen.update({(bound.name, *by): None for by in _graders(details)})

    def spent(self) -> list[Spent]:
        """Return the usage, by purpose and model."""
        judges = self._judges.spending() if self._judges is not None else []
        return sum_usage([*self._before, *self._spending.costs.spent(), *self._spending.users, *judges])

    def judged_by(self) -> list[JudgedBy]:
        """Return the judges of each metric."""
        from proctor.schema.results.score import JudgedBy

        return [JudgedBy(metric=metric, model=model, prompt=prompt) for metric, model, prompt in self._seen]

    def blind_spot(self) -> str:
        """Name the costs of the agent that a limit in dollars does not cover; empty if it covers all or there is none."""
        if self._budget is None or self._budget.max_cost is None or not self._spending.silent:
            return ""
        silent, trials = self._spending.silent, self._spending.trials
        who = "the agent reports no" if silent == trials else f"{silent:,} of {trials:,} trials reported no"
        return (
            f"max_cost: {who} token usage (`usage_metadata`): what the agent costs there is not in this limit"
        )


def metrics_not_asked(
    budget: RunBudget, metrics: Sequence[BoundMetric], scores: Sequence[MetricScore]
) -> frozenset[str]:
    """Return the metrics whose judge was not asked, or not to the end, because of a limit, and metrics that need them."""
    if not budget.refused:
        return frozenset()
    names = {
        bound.name
        for bound, score in zip(metrics, scores, strict=True)
        if bound.judge and score.failure is not None and _may_be_for_money(score)
    }
    for bound in metrics:
        if any(part.name in names for part in bound.parts):
            names.add(bound.name)
    return frozenset(names)


def _may_be_for_money(score: MetricScore) -> bool:
    """Return whether a limit may have caused a judge's failure; scoring one metric too many again does no harm."""
    failure = score.failure
    return failure is not None and (failure.kind is FailureKind.NOT_ASKED or failure.where == "judge")


def all_details(score: MetricScore) -> Iterator[Mapping[str, Any] | None]:
    """Yield the details of a score: of the case, then of each turn."""
    yield score.details
    for each in score.per_invocation:
        yield each.details


def spent_on(details: Mapping[str, Any] | None) -> Iterator[Spent]:
    """Return the usage of the votes that the details of a score list."""
    ballot = (details or {}).get("ballot")
    if not isinstance(ballot, dict):
        return
    for vote in ballot.get("votes") or ():
        answers, cost = len(vote.get("answers") or ()), vote.get("cost")
        if not answers or vote.get("cached"):
            continue
        asked, said = vote.get("input_tokens"), vote.get("output_tokens")
        yield Spent(
            purpose="judge",
            model=str(ballot.get("model")),
            calls=answers,
            input_tokens=asked or 0,
            output_tokens=said or 0,
            uncounted=answers if asked is None or said is None else 0,
            cost=cost or 0.0,
            unpriced=answers if cost is None else 0,
        )


def _graders(details: Mapping[str, Any] | None) -> Iterator[tuple[str, str]]:
    ballot = (details or {}).get("ballot")
    if isinstance(ballot, dict):
        yield str(ballot.get("model")), str(ballot.get("prompt"))


# --- What one case took on models: its trials, its played users and its judges, by the evidence that is kept ----------


def spent_on_case(case: CaseResult) -> list[Spent]:
    """Return what a case took, by purpose and model; attempts that were made again are in it. Reads its evidence."""
    return sum_usage(_all(case))


def cost_of_case(case: CaseResult) -> float | None:
    """Return the US dollars that a case took; `None` where a price is not known, or nothing was reported."""
    return total_cost(spent_on_case(case))


def _all(case: CaseResult) -> Iterator[Spent]:
    for trial in case.trials:
        for one in (*trial.earlier, trial):
            if (evidence := one.trial) is not None:
                yield from costs_of(evidence)
                if evidence.played_user is not None:
                    yield from usage_of_user(evidence.played_user)
    for metric in case.metrics.values():
        for score in metric.per_trial:
            for details in all_details(score) if score is not None else ():
                yield from spent_on(details)
