"""What takes a look at all evidence of a run to know: warnings of its cases, whose fault it was, how slow turns are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from proctor.reports.content.run_digest import Digest
from proctor.schema.results.page_model import PageModel
from proctor.schema.results.run_result import CaseResult, RunResult
from proctor.web.pages.base import Share, share

_TURNS = "invocation_duration_v1"


class Rate(PageModel):
    """How often somebody was at fault in played conversations."""

    who: str
    """`agent` or `simulator`."""
    share: Share


class NotesPage(PageModel):
    """What takes a look at all evidence of a run to know."""

    warnings: list[str]
    """What is weak about the numbers of cases, each once with the cases that it is about."""
    at_fault: list[Rate]
    """Empty where no conversation was played."""
    fault_kinds: dict[str, int]
    """What played users got wrong."""
    p95_turn: float | None
    """Seconds within which 95 % of the turns were answered; null: not known."""


def notes_page(figures: Digest, turns: Iterable[float]) -> NotesPage:
    """Return what a look at everything found; `turns`: the seconds that each turn took."""
    faults = figures.whose_fault
    rates = (("agent", faults.agent), ("simulator", faults.user)) if faults else ()
    return NotesPage(
        warnings=figures.warnings(RunResult("")),
        at_fault=[Rate(who=who, share=share(rate.faults, rate.of)) for who, rate in rates],
        fault_kinds={kind.value: count for kind, count in faults.kinds.most_common()},
        p95_turn=_p95(sorted(turns)),
    )


def turn_seconds(case: CaseResult) -> Iterator[float]:
    """Yield the seconds that each turn of a case took, as far as they are known."""
    timed = case.metrics.get(_TURNS)
    for score in timed.per_trial if timed is not None else ():
        yield from (
            one.value for one in (score.per_invocation if score is not None else ()) if one.value is not None
        )


def _p95(turns: Sequence[float]) -> float | None:
    """The least that 95 % of the turns do not exceed (the nearest-rank percentile)."""
    return turns[-(-len(turns) * 95 // 100) - 1] if turns else None
