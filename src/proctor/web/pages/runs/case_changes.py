"""How the cases of a run changed since the run with which it is compared, by the rule of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from proctor.analysis.compare.sides import BriefCase, change_of
from proctor.schema.analysis.comparison import CaseChange
from proctor.schema.format.wire_model import PageModel
from proctor.schema.results.run_result import Outcome
from proctor.web.pages.base import PassedShare

Direction = Literal["worse", "missing", "better", "no_longer_in_error", "within_noise"]
"""How a case changed, as in a comparison of both runs; `missing`: verdicts are missing, and it may have fallen. A case that is
no longer in error, or that changed within noise, is neither worse nor better."""
Changed = tuple[Direction | None, Outcome]
"""How a case changed, and its earlier outcome."""


class Against(PageModel):
    """The run with which this one is compared, and the number of changes; null until every case of both is read."""

    run_id: str
    short: str
    kind: str
    """`previous`: the previous run of the same agent and sets; else the baseline's name."""
    created_at: float
    outcome: Outcome | None
    pass_rate: PassedShare
    worse: int | None = None
    missing: int | None = None
    """Cases that have missing verdicts, and may have fallen."""
    better: int | None = None
    no_longer_in_error: int | None = None
    """Cases that were in error and are not now."""
    within_noise: int | None = None
    """Cases whose change the unequal numbers of trials explain."""
    same: int | None = None
    not_run: int | None = None
    """Cases that this run has not reached: they are not compared."""
    unpaired: int | None = None
    """Cases of this run that the other run lacks, or has in another version."""


def direction_of(before: BriefCase, now: BriefCase) -> Direction | None:
    """Return how a case changed, as a comparison of both runs has it; a case that was not run has not changed."""
    if now.outcome is Outcome.NOT_RUN:
        return None
    match change_of(before, now):
        case None:
            return None
        case CaseChange.NOW_FAILS | CaseChange.FEWER_TRIALS:
            return "worse"
        case CaseChange.MISSING | CaseChange.NOW_IN_ERROR:
            return "missing"
        case CaseChange.WITHIN_NOISE:
            return "within_noise"
        case CaseChange.NO_LONGER_IN_ERROR:
            return "no_longer_in_error"
        case CaseChange.NOW_PASSES | CaseChange.MORE_TRIALS:
            return "better"


def count_changes(changes: Sequence[Changed], cases: int, not_run: int) -> dict[str, int]:
    """Return the counts of `Against`, given the changes of the cases that were run, and the number of all cases of the run."""
    directions = [direction for direction, _ in changes]
    return {
        **{name: directions.count(name) for name in get_args(Direction)},
        "same": directions.count(None),
        "not_run": not_run,
        "unpaired": cases - len(directions) - not_run,
    }
