"""The notes of a run, which need all its evidence: warnings of cases, faults of simulated users, slow turns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from proctor.reports.content.run_digest import Digest
from proctor.schema.format.wire_model import PageModel
from proctor.schema.results.run_result import CaseResult, RunResult
from proctor.web.pages.base import Share, share

_TURNS = "invocation_duration_v1"


class Rate(PageModel):
    """How often the agent or the simulated user was at fault in simulated conversations."""

    who: str
    """`agent` or `simulator`."""
    share: Share


class NotesPage(PageModel):
    """The notes of a run."""

    warnings: list[str]
    """Warnings about the figures of cases, each once with its cases."""
    at_fault: list[Rate]
    """Empty if no user was simulated."""
    fault_kinds: dict[str, int]
    """The number of faults of simulated users, by kind."""
    p95_turn: float | None
    """The 95th percentile of the duration of turns in seconds; null: unknown."""


def notes_page(figures: Digest, turns: Iterable[float]) -> NotesPage:
    """Return the notes of a run; `turns`: the duration of each turn in seconds."""
    faults = figures.whose_fault
    rates = (("agent", faults.agent), ("simulator", faults.user)) if faults else ()
    return NotesPage(
        warnings=figures.warnings(RunResult("")),
        at_fault=[Rate(who=who, share=share(rate.faults, rate.of)) for who, rate in rates],
        fault_kinds={kind.value: count for kind, count in faults.kinds.most_common()},
        p95_turn=_p95(sorted(turns)),
    )


def turn_seconds(case: CaseResult) -> Iterator[float]:
    """Yield the known durations of a case's turns in seconds."""
    timed = case.metrics.get(_TURNS)
    for score in timed.per_trial if timed is not None else ():
        yield from (
            one.value for one in (score.per_invocation if score is not None else ()) if one.value is not None
        )


def _p95(turns: Sequence[float]) -> float | None:
    """Return the 95th percentile by the nearest-rank method."""
    return turns[-(-len(turns) * 95 // 100) - 1] if turns else None
