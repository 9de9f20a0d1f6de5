"""The trials of a run, in the order in which they are made; where it is not decided how many, more are added."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from proctor.engine.execution.case_state import CaseState, Job, jobs_of
from proctor.engine.execution.run_recorder import StoredRun
from proctor.engine.planning.plan import Plan, SetPlan
from proctor.engine.planning.stopping_rule import StoppingRule
from proctor.engine.scoring.trial_rule import bounds_of
from proctor.engine.scoring.verdict import trial_outcome
from proctor.schema.results.run_result import CaseResult, Outcome

_NOT_RUN = Outcome.NOT_RUN


@dataclass(slots=True, repr=False)
class Supply:
    """Supplies trials, and takes note of the cases that have all that they were to have."""

    plan: Plan
    stored: StoredRun | None
    only_recorded: bool
    """Whether evidence is judged again, and nothing is run."""
    grows: bool
    """Whether the trials of a case may be fewer than planned: they are added, or were."""
    looks: StoppingRule | None
    """Every case gets one more trial until the looks decide; `None`: each case is decided by itself."""
    decide: Callable[[CaseState], None]
    """Decides a case that has all its trials, outside of the work of a trial."""
    results: list[CaseResult]
    """Where cases stand that are kept nowhere."""
    is_over: bool = False
    """No further trial is asked for."""
    _added: deque[Job] = field(default_factory=deque)
    _round: list[CaseState] = field(default_factory=list)
    _made: int = 0
    """Trials of a case in this round, where there are rounds."""
    _was_decided: bool = False
    """Whether an earlier process has decided cases: of what the looks decide, that there were looks enough."""
    _open: int = 0
    _all_begun: bool = False

    def jobs(self) -> Iterator[Job | None]:
        """Return what is to be done; `None`: nothing now, but that may change when a trial that is under way ends.

        Raises:
            EvalFileError: a set has changed since it was planned.
        """
        if self.looks is not None:
            self._made = self._first_round(self.looks)
        ordinal = -1
        for chosen in self.plan.sets:
            for place, index in enumerate(chosen.cases):
                ordinal += 1
                position = ordinal if self.stored is None else self.stored.position(ordinal)
                if self.stored is not None and self.stored.outcome(position) is not None:
                    self._was_decided = True
                    continue
                while self._added:
                    yield self._added.popleft()
                yield from self._begun(chosen, index, position, chosen.content_hash(place))
        self._all_begun = True
        self._look()
        while self._open and not self.is_over:
            yield self._added.popleft() if self._added else None

    def _first_round(self, looks: StoppingRule) -> int:
        """Trials of a case at the first look; of a run that is gone on with, at the one that it was on its way to."""
        made = [number + 1 for _, number, _ in self.stored.attempts()] if self.stored is not None else []
        most = max(made, default=0) if self.stored is not None and self.stored.resumed else 0
        return looks.next_round(max(0, most - 1))

    def _begun(self, chosen: SetPlan, index: int, position: int, content_hash: str) -> list[Job]:
        state = self._begin_case(chosen, index, position)
        state.content_hash = content_hash
        if self.looks is not None:
            self._round.append(state)
        self._open += self.grows
        jobs = jobs_of(state, self.stored)
        if not state.open and self.is_complete(state):  # everything was there but the verdict
            self.decide(state)
        return jobs

    def _begin_case(self, chosen: SetPlan, index: int, position: int) -> CaseState:
        case = chosen.source.case(index)
        result = CaseResult(
            chosen.summary.eval_set_id, case.eval_id, _NOT_RUN, place=chosen.source.where(index)
        )
        result.is_played = case.conversation is None
        if self.stored is None:
            self.results.append(result)
        runs = self._first(chosen) if self.grows else chosen.num_runs
        return CaseState(
            chosen, case, position, chosen.metrics_for(case), [None] * runs, runs, result,
            only_recorded=self.only_recorded, grows=self.grows, skip=chosen.skip_reason(index),
        )  # fmt: skip

    def _first(self, chosen: SetPlan) -> int:
        """Trials that a case begins with: as few as could decide."""
        if self.looks is not None:
            return self._made
        rule = chosen.rule
        if rule is None or rule.at_most is None or self.only_recorded:
            return chosen.num_runs
        return bounds_of(rule).more(0, 0) or 1

    def is_complete(self, state: CaseState) -> bool:
        """Tell whether a case all of whose trials are in is to be decided now; else it gets more of them, or will."""
        if not self.grows:
            return True
        if self.looks is not None:
            return False
        more = 0 if self.only_recorded else _more(state)
        if more:
            self._added += state.more(more)
        else:
            self._open -= 1
        return not more

    def trial_done(self) -> None:
        """Look, where this was the last trial of a round: all of it is on disk by now."""
        self._look()

    def _look(self) -> None:
        looks = self.looks
        if looks is None or not self._all_begun or self.is_over or any(state.open for state in self._round):
            return
        made = self._made
        following = 0 if self.only_recorded or self._was_decided else looks.next_round(made)
        standing = ((state.content_hash, state.as_it_stands()) for state in self._round)
        if following and not looks.is_decided(standing, made):
            self._made = following
            for state in self._round:
                self._added += state.more(following - made)
            return
        self.is_over = True
        for state in self._round:
            self.decide(state)


def _more(state: CaseState) -> int:
    """How many more trials a case gets: as few as could decide it; none where it is decided, or cannot be."""
    rule = state.chosen.rule
    if rule is None or rule.at_most is None or state.skip:
        return 0
    outcomes = [
        trial_outcome(state.metrics, None if trial is None or trial.failure is not None else trial.scores)
        for trial in state.trials
    ]
    bounds = bounds_of(rule)
    passes = [outcome is Outcome.PASSED for outcome in outcomes]
    known = all(outcome in (Outcome.PASSED, Outcome.FAILED) for outcome in outcomes)
    if not known or bounds.decided(passes)[0]:  # an error cannot be mended by more trials
        return 0
    return bounds.more(sum(passes), len(passes))
