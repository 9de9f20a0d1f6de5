"""What the agent used, and what had to be tried again: counted as trials end, to be shown and to be limited."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from proctor.engine.trial.played_conversation import spent_on_user
from proctor.engine.usage.agent_costs import AgentCosts
from proctor.schema.evidence.event import WaitingEvent
from proctor.schema.evidence.played_user import PlayedUser
from proctor.schema.evidence.trial import Failure, Trial, Turn
from proctor.schema.results.model_usage import Spent, together

_TRIED_AGAIN = "tried again after "
_REASONS = {False: "infrastructure errors", True: "faults of the played user"}
"""What trials are tried again after: whether it was the simulator."""
_MOST_NAMED = 3


class Spending:
    """Tokens that the agent reported, the models that it named, and the trials that took more than one attempt."""

    __slots__ = ("_before", "_retried", "costs", "models", "silent", "tokens", "trials", "users")

    def __init__(self) -> None:
        """Begin with nothing."""
        self.tokens = self._before = 0
        self.trials = self.silent = 0
        """Trials that came to their end since this process has been at work, and those that reported no tokens."""
        self.models: set[str] = set()
        self.costs = AgentCosts()
        self.users: list[Spent] = []
        """What played users took, by model."""
        self._retried: dict[tuple[int, int], tuple[bool, str]] = {}

    def begin_with(self, attempts: Iterable[tuple[int, int, bytes]]) -> None:
        """Count what an earlier process recorded: position, number and evidence of each attempt."""
        for position, number, evidence in attempts:
            told = json.loads(evidence)
            earlier = told.get("attempts") or []
            for attempt in (told, *earlier):
                self._add_recorded(attempt.get("turns") or [])
                self._add_user(attempt.get("played_user"))
            if earlier and (failure := earlier[-1].get("failure")):
                self._note(position, number, told, Failure.model_validate(failure))
        self._before = self.tokens

    @property
    def tokens_now(self) -> int:
        """Tokens since this process has been at work."""
        return self.tokens - self._before

    def add(self, position: int, trial: Trial) -> None:
        """Count one trial of the case at `position`, the attempts before its last one included."""
        before, fields = self.tokens, trial.__dict__  # one look-up in place of one per field
        self._add(fields["turns"])
        if fields["played_user"] is not None:
            self._add_user(fields["played_user"])
        for attempt in fields["attempts"]:
            self._add(attempt.turns)
            self._add_user(attempt.played_user)
        if fields["failure"] is None:
            self.trials += 1
            self.silent += self.tokens == before
        if fields["attempts"] and (failure := trial.attempts[-1].failure) is not None:
            self._note(position, trial.number, trial.__dict__, failure)

    def warning(self) -> str:
        """Say what was tried again: what passed only then is not as sound as it looks. Empty when nothing was."""
        told = []
        for is_user, reason in _REASONS.items():
            retried = [said for _, (by_user, said) in sorted(self._retried.items()) if by_user is is_user]
            if retried:
                trials = "1 trial was" if len(retried) == 1 else f"{len(retried)} trials were"
                more = " …" if len(retried) > _MOST_NAMED else ""
                told.append(f"{trials} {_TRIED_AGAIN}{reason}: {'; '.join(retried[:_MOST_NAMED])}{more}")
        return "; and ".join(told)

    def blind_spot(self) -> str:
        """Say what a limit of tokens could not see; empty when every trial reported what it used."""
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
                if type(event) is WaitingEvent:  # it says neither
                    continue
                if event.usage_metadata is not None:
                    usage = event.usage_metadata
                    self.tokens += usage.total_token_count or _sum_of(usage.__dict__)
                    self.costs.add(event.model_version, usage.__dict__)
                if event.model_version:
                    self.models.add(event.model_version)

    def _add_user(self, played: PlayedUser | dict[str, Any] | None) -> None:
        if played is not None:
            self.users = together([*self.users, *spent_on_user(played)])

    def _add_recorded(self, turns: Iterable[dict[str, Any]]) -> None:
        """Do what `_add` does, with the JSON of turns: a model of each would take ten times as long."""
        for turn in turns:
            for event in turn.get("events") or ():
                if usage := event.get("usage_metadata"):
                    self.tokens += usage.get("total_token_count") or _sum_of(usage)
                    self.costs.add(event.get("model_version"), usage)
                if model := event.get("model_version"):
                    self.models.add(model)

    def _note(self, position: int, number: int, trial: dict[str, Any], failure: Failure) -> None:
        said = f"{trial['eval_set_id']}/{trial['eval_id']}, {failure.cause}"
        self._retried[position, number] = (failure.where == "simulator", said)


_PARTS = (
    "prompt_token_count",
    "tool_use_prompt_token_count",
    "candidates_token_count",
    "thoughts_token_count",
)


def _sum_of(usage: Mapping[str, Any]) -> int:
    """The tokens of a call whose total was not reported."""
    return sum(usage.get(name) or 0 for name in _PARTS)


def is_about_retries(warning: str) -> bool:
    """Tell whether `Spending.warning` said it: of a run that is gone on with, it is said again for the whole."""
    return _TRIED_AGAIN in warning
