"""Count the tokens and models of the agent, and the trials that were retried, as trials end."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from proctor.engine.trial.played_conversation import usage_of_user
from proctor.schema.evidence.event import WaitingEvent
from proctor.schema.evidence.simulated_user import SimulatedUser
from proctor.schema.evidence.trial import Attempt, Failure, Trial, Turn
from proctor.schema.results.model_usage import Spent, sum_usage

_TRIED_AGAIN = "tried again after "
_REASONS = {False: "infrastructure errors", True: "faults of the played user"}
"""Whether the simulated user was at fault -> why trials are retried."""
_MOST_NAMED = 3


class AgentUsage:
    """Tokens that the agent reported, the models that it named, and the trials that took more than one attempt."""

    __slots__ = ("_before", "_retried", "costs", "models", "silent", "tokens", "trials", "users")

    def __init__(self) -> None:
        """Start with no usage."""
        self.tokens = self._before = 0
        self.trials = self.silent = 0
        """Complete trials of this process, and those of them that reported no tokens."""
        self.models: set[str] = set()
        self.costs = AgentCosts()
        self.users: list[Spent] = []
        """Usage of simulated users, by model."""
        self._retried: dict[tuple[int, int], tuple[bool, str]] = {}

    def begin_with(self, attempts: Iterable[tuple[int, int, bytes]]) -> None:
        """Count the usage that an earlier process recorded: position, number and evidence of each attempt."""
        for position, number, evidence in attempts:
            trial = json.loads(evidence)
            earlier = trial.get("attempts") or []
            for attempt in (trial, *earlier):
                self._add_json(attempt.get("turns") or [])
                self._add_user(attempt.get("played_user"))
            if earlier and (failure := earlier[-1].get("failure")):
                self._note(position, number, trial, Failure.model_validate(failure))
        self._before = self.tokens

    @property
    def tokens_now(self) -> int:
        """Tokens that this process used."""
        return self.tokens - self._before

    def add(self, position: int, trial: Trial) -> None:
        """Count one trial of the case at `position`, with all its attempts."""
        before = self.tokens
        attempts: list[Trial | Attempt] = [*trial.attempts, trial]
        for attempt in attempts:
            self._add(attempt.turns)
            self._add_user(attempt.played_user)
        if trial.failure is None:
            self.trials += 1
            self.silent += self.tokens == before
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

    def _add(self, turns: Iterable[Turn]) -> None:
        for turn in turns:
            for event in turn.__dict__["events"]:
                if type(event) is WaitingEvent:  # it has neither usage nor a model
                    continue
                if event.usage_metadata is not None:
                    usage = event.usage_metadata
                    self.tokens += usage.total_token_count or _sum_of(usage.__dict__)
                    self.costs.add(event.model_version, usage.__dict__)
                if event.model_version:
                    self.models.add(event.model_version)

    def _add_user(self, played: SimulatedUser | dict[str, Any] | None) -> None:
        if played is not None:
            self.users = sum_usage([*self.users, *usage_of_user(played)])

    def _add_json(self, turns: Iterable[dict[str, Any]]) -> None:
        """Do what `_add` does, from the JSON of turns: validating the models would take ten times as long."""
        for turn in turns:
            for event in turn.get("events") or ():
                if usage := event.get("usage_metadata"):
                    self.tokens += usage.get("total_token_count") or _sum_of(usage)
                    self.costs.add(event.get("model_version"), usage)
                if model := event.get("model_version"):
                    self.models.add(model)

    def _note(self, position: int, number: int, trial: dict[str, Any], failure: Failure) -> None:
        text = f"{trial['eval_set_id']}/{trial['eval_id']}, {failure.cause}"
        self._retried[position, number] = (failure.where == "simulator", text)


_PARTS = (
    "prompt_token_count",
    "tool_use_prompt_token_count",
    "candidates_token_count",
    "thoughts_token_count",
)


def _sum_of(usage: Mapping[str, Any]) -> int:
    """Return the tokens of a call whose total was not reported."""
    return sum(usage.get(name) or 0 for name in _PARTS)


def is_about_retries(warning: str) -> bool:
    """Return whether a warning is about retries; a resumed run writes it again for all its trials."""
    return _TRIED_AGAIN in warning


# --- What the agent's own calls cost: counted as they are reported, priced when somebody asks -------------------------


_MOST_UNLIKE = 2_000
"""Calls with different counts that are kept before they are priced: memory stays flat."""
_PRICES = "proctor.models.prices:price_of"

Call = tuple[str, int, int, int]
"""Model, input tokens, output tokens, and the input tokens that came from the provider's cache."""


class AgentCosts:
    """The calls of models that an agent reported."""

    __slots__ = ("_calls", "_spent")

    def __init__(self) -> None:
        """Start with no usage."""
        self._calls: Counter[Call] = Counter()
        self._spent: dict[str, Spent] = {}

    def add(self, model: str | None, usage: Mapping[str, Any]) -> None:
        """Count one call: the usage as google-adk's events have it."""
        asked = (usage.get("prompt_token_count") or 0) + (usage.get("tool_use_prompt_token_count") or 0)
        said = (usage.get("candidates_token_count") or 0) + (usage.get("thoughts_token_count") or 0)
        if not said and usage.get("total_token_count"):
            said = max(0, usage["total_token_count"] - asked)
        self._calls[model or "", asked, said, usage.get("cached_content_token_count") or 0] += 1
        if len(self._calls) >= _MOST_UNLIKE:
            self._price()

    def add_turns(self, turns: Iterable[Turn]) -> None:
        """Count the calls that are reported in turns."""
        for turn in turns:
            for event in turn.events:
                if event.usage_metadata is not None:
                    self.add(event.model_version, event.usage_metadata.__dict__)

    def spent(self) -> list[Spent]:
        """Return what they took so far, by model."""
        self._price()
        return [one.model_copy() for one in self._spent.values()]

    def _price(self) -> None:
        if not self._calls:
            return
        from proctor.common.registry import load_object

        price_of = load_object(_PRICES)
        for (model, asked, said, cached), times in self._calls.items():
            one = self._spent.setdefault(model, Spent(purpose="agent", model=model))
            one.calls += times
            one.input_tokens += times * asked
            one.output_tokens += times * said
            price = (
                price_of(model, input_tokens=asked, output_tokens=said, cached_tokens=cached)
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
        costs.add_turns(turns)
    return costs.spent()
