"""The usage and the costs of a run: of the agent, of simulated users and of judges, counted as trials end."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from proctor.schema.evidence.event import WaitingEvent
from proctor.schema.evidence.simulated_user import SimulatedUser, UserReply
from proctor.schema.evidence.trial import Attempt, Failure, FailureKind, Trial
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.content import total_tokens
from proctor.schema.results.model_usage import CaseCost, Spent, sum_usage, without
from proctor.schema.results.run_result import CaseResult
from proctor.schema.results.score import MetricScore

if TYPE_CHECKING:
    from proctor.engine.execution.run_recorder import ScoringRecord
    from proctor.engine.planning.bound_metric import BoundMetric
    from proctor.engine.run_options import RunOptions
    from proctor.engine.usage.budget import RunBudget
    from proctor.schema.results.manifest import RunSummary
    from proctor.schema.results.score import JudgedBy, MetricScore


def usage_of_user(simulated_user: SimulatedUser | dict[str, Any]) -> list[Spent]:
    """Return the usage of a simulated user's replies, by model."""
    if isinstance(simulated_user, dict):
        simulated_user = SimulatedUser.model_validate(simulated_user)
    name = simulated_user.model
    return sum_usage(_usage_of_reply(name, reply) for reply in simulated_user.replies if reply.model)


def _usage_of_reply(model: str, reply: UserReply) -> Spent:
    input_tokens, output_tokens = reply.input_tokens, reply.output_tokens
    return Spent(
        purpose="user",
        model=model,
        calls=1,
        input_tokens=input_tokens or 0,
        output_tokens=output_tokens or 0,
        uncounted=int(input_tokens is None or output_tokens is None),
        cost=reply.cost or 0.0,
        unpriced=int(reply.cost is None),
    )


_TRIED_AGAIN = "tried again after "
_REASONS = {False: "infrastructure errors", True: "faults of the simulated user"}
"""Whether the simulated user was at fault -> why trials are retried."""
_MOST_NAMED = 3


class AgentUsage:
    """Tokens that the agent reported, the models that it named, and the trials that took more than one attempt."""

    __slots__ = (
        "_before",
        "_retried",
        "attempts",
        "costs",
        "models",
        "silent",
        "tokens",
        "trials",
        "unreported",
        "users",
    )

    def __init__(self) -> None:
        """Start with no usage."""
        self.tokens = self._before = 0
        self.attempts = 0
        """Attempts at trials that are counted, those that a trial repeated and those of earlier processes among them."""
        self.unreported = 0
        """Those of them in which the agent reported no usage."""
        self.trials = self.silent = 0
        """Complete trials of this process, and those of them that reported no tokens."""
        self.models: set[str] = set()
        self.costs = AgentCosts()
        self.users: list[Spent] = []
        """Usage of simulated users, by model."""
        self._retried: dict[tuple[int, int], tuple[bool, str]] = {}

    def start_from(self, stored: ScoringRecord, earlier: RunSummary) -> None:
        """Count the usage of earlier processes: by their summary, or by all evidence if the last one was killed.

        `RunCosts.start_from` adds the costs that the summary has. Retried trials are named again, by their evidence.
        """
        if earlier.attempts == stored.attempts_made and not any(map(is_about_retries, earlier.warnings)):
            self.attempts, self.unreported = earlier.attempts, earlier.unreported
            self.tokens = self._before = earlier.tokens
            self.models.update(earlier.models)
        else:
            self._count_evidence(stored.attempts())

    def _count_evidence(self, attempts: Iterable[tuple[int, int, bytes]]) -> None:
        for position, number, evidence in attempts:
            trial = json.loads(evidence)
            earlier = trial.get("attempts") or []
            for attempt in (trial, *earlier):
                self._add_attempt(attempt.get("turns") or (), attempt.get("played_user"))
            if earlier and (failure := earlier[-1].get("failure")):
                self._note(position, number, trial, Failure.model_validate(failure))
        self._before = self.tokens

    @property
    def tokens_now(self) -> int:
        """Tokens that this process used."""
        return self.tokens - self._before

    def add(self, position: int, trial: Trial) -> None:
        """Count one trial of the case at `position`, with all its attempts."""
        before = self.costs.reports
        attempts: list[Trial | Attempt] = [*trial.attempts, trial]
        for attempt in attempts:
            self._add_attempt(attempt.turns, attempt.played_user)
        if trial.failure is None:
            self.trials += 1
            self.silent += self.costs.reports == before
        if trial.attempts and (failure := trial.attempts[-1].failure) is not None:
            self._note(position, trial.number, trial.__dict__, failure)

    def warning(self) -> str:
        """Name the trials that were retried, as their pass rate may be too optimistic; empty if none was."""
        parts = []
        for is_user, reason in _REASONS.items():
            retried = [text for _, (by_user, text) in sorted(self._retried.items()) if by_user is is_user]
            if retried:
                trials = "1 trial was" if len(retried) == 1 else f"{len(retried)} trials were"
                more = " …" if len(retried) > _MOST_NAMED else ""
                parts.append(f"{trials} {_TRIED_AGAIN}{reason}: {'; '.join(retried[:_MOST_NAMED])}{more}")
        return "; and ".join(parts)

    def blind_spot(self) -> str:
        """Name the usage that a limit of tokens does not cover; empty if every trial reported its tokens."""
        if not self.silent:
            return ""
        if self.silent == self.trials:
            return "max_tokens: the agent reports no token usage (`usage_metadata`), so that this limit cannot act"
        return (
            f"max_tokens: {self.silent:,} of {self.trials:,} trials reported no token usage (`usage_metadata`): what they "
            "used is not in the limit"
        )

    def _add_attempt(
        self, turns: Sequence[AnyTurn], simulated_user: SimulatedUser | dict[str, Any] | None
    ) -> None:
        for model, usage in _reports(turns):
            self.tokens += total_tokens(usage or {}) or 0
            if model:
                self.models.add(model)
        self.attempts += 1
        self.unreported += not self.costs.add_attempt(turns)
        if simulated_user is not None:
            self.users = sum_usage([*self.users, *usage_of_user(simulated_user)])

    def _note(self, position: int, number: int, trial: dict[str, Any], failure: Failure) -> None:
        text = f"{trial['eval_set_id']}/{trial['eval_id']}, {failure.cause}"
        self._retried[position, number] = (failure.where == "simulator", text)


def is_about_retries(warning: str) -> bool:
    """Return whether a warning is about retries; a resumed run writes it again for all its trials."""
    return _TRIED_AGAIN in warning


# --- What the agent's own calls cost: counted as they are reported, priced on demand -------------------------


_TOKEN_COUNTS = (
    "prompt_token_count",
    "tool_use_prompt_token_count",
    "candidates_token_count",
    "thoughts_token_count",
    "total_token_count",
    "cached_content_token_count",
)
_MOST_UNLIKE = 2_000
"""Calls with different counts that are kept before they are priced: memory stays flat."""
_PRICES = "proctor.models.prices:price_of"

Call = tuple[str, int, int, int]
"""Model, input tokens, output tokens, and the input tokens that came from the provider's cache."""


AnyTurn = Turn | Mapping[str, Any]
"""A turn, or its JSON: validating the models of a stored one would take ten times as long."""


def _reports(turns: Iterable[AnyTurn]) -> Iterator[tuple[str | None, Mapping[str, Any] | None]]:
    """Yield the model and the usage that each event of turns reports."""
    for turn in turns:
        if not isinstance(turn, Turn):
            for event in turn.get("events") or ():
                yield event.get("model_version"), event.get("usage_metadata")
            continue
        for event in turn.events:
            if type(event) is not WaitingEvent:  # it has neither usage nor a model
                usage = event.usage_metadata
                yield event.model_version, None if usage is None else usage.__dict__


class AgentCosts:
    """The calls of models that an agent reported."""

    __slots__ = ("_calls", "_spent", "reports")

    def __init__(self) -> None:
        """Start with no usage."""
        self.reports = 0
        """The number of calls, and of reports of 0 tokens."""
        self._calls: Counter[Call] = Counter()
        self._spent: dict[str, Spent] = {}

    def add(self, model: str | None, usage: Mapping[str, Any]) -> None:
        """Count one call: the usage as google-adk's events have it. One without any number of tokens is not reported."""
        if total_tokens(usage) is None:
            return
        prompt, tool, answer, thoughts, total, cached = (usage.get(key) or 0 for key in _TOKEN_COUNTS)
        input_tokens = prompt + tool
        output_tokens = answer + thoughts or max(0, total - input_tokens)
        self._calls[model or "", input_tokens, output_tokens, cached] += 1
        self.reports += 1
        if len(self._calls) >= _MOST_UNLIKE:
            self._price()

    def add_attempt(self, turns: Iterable[AnyTurn]) -> bool:
        """Count the calls of one attempt at a trial; return whether it reported any. If not, what it took is unknown."""
        before = self.reports
        for model, usage in _reports(turns):
            if usage is not None:
                self.add(model, usage)
        return self.reports > before

    def spent(self) -> list[Spent]:
        """Return what they took so far, by model."""
        self._price()
        return [one.model_copy() for one in self._spent.values()]

    def _price(self) -> None:
        if not self._calls:
            return
        from proctor.common.registry import load_object

        price_of = load_object(_PRICES)
        for (model, input_tokens, output_tokens, cached), times in self._calls.items():
            one = self._spent.setdefault(model, Spent(purpose="agent", model=model))
            price: float | None = 0.0
            if input_tokens or output_tokens:  # else no model was called
                one.calls += times
                one.input_tokens += times * input_tokens
                one.output_tokens += times * output_tokens
                price = (
                    price_of(
                        model, input_tokens=input_tokens, output_tokens=output_tokens, cached_tokens=cached
                    )
                    if model
                    else None
                )
            if price is None:
                one.unpriced += times
            else:
                one.cost += times * price
        self._calls.clear()


def costs_of(trial: Trial) -> list[Spent]:
    """Return what the agent spent in one trial, its earlier attempts included, by model."""
    costs = AgentCosts()
    for turns in (trial.turns, *(attempt.turns for attempt in trial.attempts)):
        costs.add_attempt(turns)
    return costs.spent()


class RunCosts:
    """The costs of one run, and its judges."""

    __slots__ = ("_asks_judges", "_before", "_budget", "_judges", "_seen", "_spending")

    def __init__(self, options: RunOptions, spending: AgentUsage, *, asks_judges: bool) -> None:
        """Keep the limits, the judges, and the usage of the agent."""
        self._asks_judges = asks_judges
        self._budget, self._judges, self._spending = options.budget, options.judges, spending
        self._before: list[Spent] = []
        self._seen: dict[tuple[str, str, str], None] = {}

    def start_from(self, stored: ScoringRecord, earlier: RunSummary, *, judged_anew: bool) -> None:
        """Add what earlier processes spent, except on agent and users: their stored evidence is counted again.

        The rest of their spending was for interrupted conversations, which are run again: it counts, too. A new scoring
        (`judged_anew`) does not add what earlier judges took. If the earlier process was killed, there is no summary,
        and the votes in the stored scores contain its spending.
        """
        past = {"agent", "user", "judge"} if judged_anew else {"agent", "user"}
        counted = [*self._spending.costs.spent(), *self._spending.users]
        broken_off = without([one for one in earlier.spent if one.purpose in {"agent", "user"}], counted)
        self._before = [*(one for one in earlier.spent if one.purpose not in past), *broken_off]
        if not judged_anew:
            self._add_judges(stored, earlier)

    def _add_judges(self, stored: ScoringRecord, earlier: RunSummary) -> None:
        """Add the judges of earlier processes, and their votes if no summary has their usage."""
        self._seen = {(one.metric, one.model, one.prompt): None for one in earlier.judged_by}
        if self._asks_judges and earlier.outcome is None and not earlier.spent:
            self._recount(stored)

    def _recount(self, stored: ScoringRecord) -> None:
        spent: list[Spent] = []
        planned = [case.position for case in stored.store.planned(stored.writer.run_id)]
        for _, trials in stored.trials(planned):
            for trial in trials:
                for name, score in trial.scores.items():
                    for details in all_details(score):
                        self._seen.update({(name, *by): None for by in _graders(details)})
                        spent += spent_on(details)
        self._before = sum_usage([*self._before, *spent])

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
        if vote.get("answers") and not vote.get("cached"):
            yield _usage_of_vote(str(ballot.get("model")), vote)


def _usage_of_vote(model: str, vote: Mapping[str, Any]) -> Spent:
    calls, cost = len(vote["answers"]), vote.get("cost")
    input_tokens, output_tokens = vote.get("input_tokens"), vote.get("output_tokens")
    return Spent(
        purpose="judge",
        model=model,
        calls=calls,
        input_tokens=input_tokens or 0,
        output_tokens=output_tokens or 0,
        uncounted=calls if input_tokens is None or output_tokens is None else 0,
        cost=cost or 0.0,
        unpriced=calls if cost is None else 0,
    )


def _graders(details: Mapping[str, Any] | None) -> Iterator[tuple[str, str]]:
    ballot = (details or {}).get("ballot")
    if isinstance(ballot, dict):
        yield str(ballot.get("model")), str(ballot.get("prompt"))


# --- What one case took on models: its trials, its simulated users and its judges, by the evidence that is kept ----------


def attempts_evidence(case: CaseResult) -> list[dict[str, Any]]:
    """Return the evidence of all attempts at the trials of a case as plain data. Reads the store."""
    attempts = (one for trial in case.trials for one in (*trial.earlier, trial))
    return [data for one in attempts if (data := one.evidence_data()) is not None]


def cost_of_case(case: CaseResult, evidence: Iterable[Mapping[str, Any]]) -> CaseCost:
    """Return the usage of a case, given its evidence."""
    costs, spent, attempts, reported = AgentCosts(), list[Spent](), 0, 0
    for trial in evidence:
        for attempt in (trial, *(trial.get("attempts") or ())):
            attempts += 1
            reported += costs.add_attempt(attempt.get("turns") or ())
            if user := attempt.get("played_user"):
                spent += usage_of_user(user)
    return CaseCost([*costs.spent(), *spent, *_spent_on_judges(case)], reported, attempts - reported)


def _spent_on_judges(case: CaseResult) -> Iterator[Spent]:
    for metric in case.metrics.values():
        for score in metric.per_trial:
            for details in all_details(score) if score is not None else ():
                yield from spent_on(details)
