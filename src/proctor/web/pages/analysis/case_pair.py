"""One case of two runs side by side, from the first point where two trials part."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from itertools import groupby

from proctor.analysis.compare.reports.case_diff import Parting, Step, parting_sentence
from proctor.reports.evidence.blocks import Piece
from proctor.reports.evidence.diff_kind import Kind
from proctor.schema.results.outcome import Outcome
from proctor.schema.results.page_model import PageModel
from proctor.schema.results.run_result import CaseResult
from proctor.web.pages.analysis.comparison import Sided
from proctor.web.pages.case.texts import Marked, marked, text_difference

__all__ = ["PairPage", "pair_page"]


class PairSide(PageModel):
    """The trial of one of the runs."""

    run: Sided
    position: int
    """The place of the case in its run."""
    number: int | None
    """The trial, from 0; null where none was run."""
    told: str
    """`trial 1 of 5, failed`."""
    outcome: Outcome
    """Of the case."""


class PairLine(PageModel):
    """One step: that of the base, that of the candidate, or both."""

    kind: Kind
    turn: int
    """From 0."""
    what: str
    """`user`, `call`, `returned`, `answer`, `state` or `failure`."""
    base: Marked | None
    candidate: Marked | None


class SawLine(PageModel):
    """What a metric that decides said of either trial."""

    metric: str
    base: str
    candidate: str


class PairPage(PageModel):
    """Two trials of one case."""

    name: str
    """`set/case`."""
    sentence: str
    """Where they part."""
    base: PairSide
    candidate: PairSide
    turn: int | None
    """The first turn in which they part, from 0; null where they do the same."""
    alike: int
    """Steps before that in which they do the same."""
    lines: list[PairLine]
    """That turn and those after it."""
    saw: list[SawLine]
    command: str
    """What shows the same in a terminal."""


def pair_page(
    found: Parting, sides: tuple[Sided, Sided], cases: tuple[CaseResult, CaseResult], places: tuple[int, int]
) -> PairPage:
    """Return two trials side by side; `places` are those of the case in either run."""
    told = found.base, found.candidate
    both = [
        PairSide(run=side, position=place, number=number, told=text, outcome=case.outcome)
        for side, place, number, text, case in zip(sides, places, found.numbers, told, cases, strict=True)
    ]
    return PairPage(
        name=found.name,
        sentence=parting_sentence(found),
        base=both[0],
        candidate=both[1],
        turn=found.turn,
        alike=found.alike,
        lines=[*_lines(found.steps)],
        saw=[SawLine(metric=one.metric, base=one.base, candidate=one.candidate) for one in found.saw],
        command=shlex.join(["proctor", "compare", sides[0].short, sides[1].short, found.name]),
    )


def _lines(steps: Sequence[tuple[Kind, Step]]) -> Iterator[PairLine]:
    """Put what the base did beside what the candidate did in its place, where both are of one sort."""
    for same, group in groupby(steps, key=lambda one: one[0] is Kind.SAME):
        run = [*group]
        if same:
            yield from (_line(Kind.SAME, step, step) for _, step in run)
            continue
        gone = [step for kind, step in run if kind is Kind.MISSING]
        new = [step for kind, step in run if kind is Kind.EXTRA]
        yield from _replaced(gone, new)


def _replaced(gone: Sequence[Step], new: Sequence[Step]) -> Iterator[PairLine]:
    """Steps of the base and those in their place: alike in turn and sort side by side, in order, the rest alone."""
    rest = list(new)
    for step in gone:
        at = next((n for n, other in enumerate(rest) if _sort(other) == _sort(step)), None)
        if at is None:
            yield _line(Kind.MISSING, step, None)
            continue
        yield from (_line(Kind.EXTRA, None, other) for other in rest[:at])
        yield _line(Kind.DIFFERS, step, rest[at])
        rest = rest[at + 1 :]
    yield from (_line(Kind.EXTRA, None, other) for other in rest)


def _sort(step: Step) -> tuple[int, str]:
    return step[0], step[1].partition(":")[0]


def _line(kind: Kind, before: Step | None, now: Step | None) -> PairLine:
    step = before or now or (0, "")
    texts = [None if one is None else one[1].partition(": ")[2] for one in (before, now)]
    base, candidate = (None if text is None else marked([Piece(text)]) for text in texts)
    if kind is Kind.DIFFERS:
        base, candidate = text_difference(texts[0] or "", texts[1] or "")
    return PairLine(kind=kind, turn=step[0], what=_sort(step)[1], base=base, candidate=candidate)
