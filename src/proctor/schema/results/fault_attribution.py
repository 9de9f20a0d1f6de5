"""Attribution of simulated conversations that did not pass: the failure rates of the agent and of the user simulator."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from proctor.schema.evidence.simulator_fault import FaultKind, UserFault, faults_in
from proctor.schema.results.outcome import Outcome
from proctor.stats.intervals import wilson

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from proctor.schema.evidence.trial import Failure
    from proctor.schema.results.run_result import CaseResult, TrialResult

__all__ = ["FaultRate", "WhoseFault", "user_faults"]

_SIMULATOR = "simulator"


@dataclass(frozen=True, slots=True)
class FaultRate:
    """A rate of faults."""

    faults: int
    of: int

    @property
    def rate(self) -> float | None:
        """The rate, from 0 to 1; `None` without conversations."""
        return self.faults / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % Wilson interval; (0, 1) without conversations."""
        return wilson(self.faults, self.of)


class WhoseFault:
    """The fault rates of agent and user simulator over all simulated conversations, updated one case at a time.
    Every attempt is a conversation, including attempts that were retried. The simulator's rate covers all conversations: it
    counts those in which the simulated user went off script, or that ended because it gave no message. The agent's rate covers the
    other conversations that could be scored: it counts those that failed, or in which the agent caused an error. A worse
    simulator thus leaves fewer conversations to count, and does not raise the agent's rate.
    """

    def __init__(self, cases: Iterable[CaseResult] = ()) -> None:
        self.kinds: Counter[FaultKind] = Counter()
        """Faults of simulated users by kind; a conversation may have several."""
        self._conversations = self._spoiled = self._judged = self._agents = 0
        for case in cases:
            self.add(case)

    @property
    def user(self) -> FaultRate:
        """Conversations with a fault of the simulated user, of all conversations."""
        return FaultRate(self._spoiled, self._conversations)

    @property
    def agent(self) -> FaultRate:
        """Conversations with a fault of the agent, of those that could be scored and have no simulator fault."""
        return FaultRate(self._agents, self._judged)

    def __bool__(self) -> bool:
        """Return whether any conversation was simulated."""
        return self._conversations > 0

    def add(self, case: CaseResult) -> None:
        """Add one case; a recorded conversation does not count."""
        if not case.is_played:
            return
        for place, trial in enumerate(case.trials):
            if trial.outcome in (Outcome.NOT_RUN, Outcome.SKIPPED):
                continue
            for failure in _earlier(trial):
                self._take(Outcome.ERROR, failure)
            self._take(trial.outcome, trial.failure)
            self.kinds.update(fault.kind for one in trial.earlier for fault in _by_rules(one))
            self.kinds.update(fault.kind for fault in user_faults(case, place))

    def _take(self, outcome: Outcome, failure: Failure | None) -> None:
        self._conversations += 1
        if failure is not None and failure.where == _SIMULATOR:
            self._spoiled += 1
        elif outcome in (Outcome.PASSED, Outcome.FAILED) or (
            failure is not None and failure.where == "agent"
        ):
            self._judged += 1
            self._agents += outcome is not Outcome.PASSED


def _earlier(trial: TrialResult) -> Iterator[Failure | None]:
    """Return why each earlier attempt at a trial was retried: attempts in the store, and those within the evidence."""
    from proctor.schema.evidence.trial import Failure

    for one in (*trial.earlier, trial):
        for attempt in (one.evidence_data() or {}).get("attempts") or ():
            told = attempt.get("failure")
            yield Failure.model_validate(told) if told else None
        if one is not trial:
            yield one.failure


def user_faults(case: CaseResult, place: int) -> list[UserFault]:
    """Return the simulated user's faults in the trial at `place` and its earlier attempts: by rules, then by judges."""
    if not case.is_played:
        return []
    found = _by_rules(case.trials[place])
    for metric in case.metrics.values():
        score = metric.per_trial[place] if place < len(metric.per_trial) else None
        found += faults_in(score.details) if score is not None else []
    return found


def _by_rules(trial: TrialResult) -> list[UserFault]:
    """Return the faults that rules detected in a trial and in the attempts within its evidence."""
    data: dict[str, Any] = trial.evidence_data() or {}
    played = [one.get("played_user") or {} for one in (*(data.get("attempts") or ()), data)]
    return [UserFault.model_validate(fault) for one in played for fault in one.get("faults") or ()]
