"""The conversations that are mutated: those that the cases record, or those of a stored run.

A scenario records no conversation, so that only a run has one to mutate. A trial that passed takes the place of the recorded
conversation. A case without such a trial keeps its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING

from proctor.authoring.audit.mutant import Recording
from proctor.engine.planning.set_plan import SetPlan
from proctor.runs.attempts import find_current_run
from proctor.runs.storage.open import StoreLike, is_open, name_of_run, open_runs
from proctor.schema.evidence.trial import Trial
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import text_of
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult

if TYPE_CHECKING:
    from proctor.stores.base import Store

_ALIKE = 0.5
"""The share of common words from which the answers of two cases may both be right."""
_NEAR = 100
"""How many cases are compared, so that the time does not grow with the square of their number."""


def recordings_of(plan: SetPlan, seed: int, conversations: RunConversations) -> dict[int, Recording]:
    """Return the conversation of each case by its index, with the answers of another case."""
    set_id = plan.source.eval_set_id
    cases = {index: plan.source.case(index) for index in plan.cases}
    recordings = {
        index: Recording(case, trial=conversations.of(set_id, case)) for index, case in cases.items()
    }
    others = _OtherCases(
        [each for each in recordings.values() if each.is_recorded and each.conversation], seed
    )
    return {index: replace(each, other=others.answers(each)) for index, each in recordings.items()}


class RunConversations:
    """The passed trials of one run, by case."""

    def __init__(self, store: Store | None = None, run_id: str = "") -> None:
        self._store, self.run_id = store, run_id
        planned = store.planned(run_id) if store is not None else ()
        self._positions = {(case.eval_set_id, case.eval_id): case.position for case in planned}

    def of(self, eval_set_id: str, case: EvalCase) -> Trial | None:
        """Return the first passed trial of a case; `None` if the run has none, or one with other messages of the user."""
        position = self._positions.get((eval_set_id, case.eval_id))
        if self._store is None or position is None:
            return None
        (result,) = self._store.cases(self.run_id, positions=[position])
        return next((trial for trial in _passed(result) if _fits(trial, case)), None)


def _passed(result: CaseResult) -> Iterator[Trial]:
    for each in result.trials:
        if each.outcome is Outcome.PASSED and (trial := each.trial) is not None and trial.turns:
            yield trial


def _fits(trial: Trial, case: EvalCase) -> bool:
    """Whether the messages are those of the case; the turns of a scenario are those of its simulated user."""
    messages = [text_of(turn.user_content) for turn in trial.turns]
    return case.conversation is None or messages == [text_of(turn.user_content) for turn in case.conversation]


@contextmanager
def open_conversations(run: str | RunResult | None, store: StoreLike) -> Iterator[RunConversations]:
    """Open the store of a run, and yield its conversations; without a run there are none.

    Raises:
        UnknownNameError: no run has this name.
        StoreError: the store does not exist, or it cannot be read.
    """
    if run is None:
        yield RunConversations()
        return
    if is_open(store):
        yield RunConversations(store, find_current_run(store, name_of_run(run)))
        return
    with closing(open_runs(store, read_only=True)) as opened:
        yield RunConversations(opened, find_current_run(opened, name_of_run(run)))


# --- The answers of another case --------------------------------------------------------------------------------------


class _OtherCases:
    """The recorded cases of a set in a circle whose order depends on the seed and on their ids."""

    def __init__(self, recorded: Sequence[Recording], seed: int) -> None:
        self._circle = sorted(recorded, key=lambda each: _rank(f"{seed}\0{each.case.eval_id}"))
        self._places = {id(recording): place for place, recording in enumerate(self._circle)}

    def answers(self, recording: Recording) -> Sequence[str]:
        """Return the answers of the next case in the circle whose answers have other words; none if no near one has."""
        size, place = len(self._circle), self._places.get(id(recording))
        if place is None:
            return ()
        for step in range(1, min(_NEAR, size)):
            other = self._circle[(place + step) % size]
            if _share(recording.words, other.words) < _ALIKE:
                return other.answers
        return ()


def _rank(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / (min(len(one), len(other)) or 1)
