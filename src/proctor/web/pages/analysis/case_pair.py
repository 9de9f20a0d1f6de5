"""One case of two runs side by side, from the first difference between two trials."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from itertools import groupby

from proctor.analysis.compare.case_diff import CaseDiff, Step, case_diff_sentence
from proctor.reports.content.symbols import DiffKind
from proctor.reports.content.text_blocks import DiffPiece
from proctor.schema.format.wire_model import PageModel
from proctor.schema.results.run_result import CaseResult
from proctor.schema.results.score import Outcome
from proctor.web.pages.analysis.comparison import ComparedRunPart
from proctor.web.pages.base import copy_fields
from proctor.web.pages.case.page_parts import MarkedText, marked_pieces, text_difference


class PairSide(PageModel):
    """The trial of one of the runs."""

    run: ComparedRunPart
    position: int
    """The position of the case in its run."""
    number: int | None
    """The trial, from 0; null if none was run."""
    trial: str
    """`trial 1 of 5, failed`."""
    outcome: Outcome
    """The outcome of the case."""


class PairLine(PageModel):
    """One step of the baseline, of the candidate, or of both."""

    kind: DiffKind
    turn: int
    """From 0."""
    what: str
    """`user`, `call`, `returned`, `answer`, `state` or `failure`."""
    base: MarkedText | None
    candidate: MarkedText | None


class ReasonLine(PageModel):
    """The reasons that a deciding metric gave for each trial."""

    metric: str
    base: str
    candidate: str


class PairPage(PageModel):
    """Two trials of one case."""

    name: str
    """`set/case`."""
    sentence: str
    """The first difference, as a sentence."""
    base: PairSide
    candidate: PairSide
    turn: int | None
    """The first turn with a difference, from 0; null if there is none."""
    alike: int
    """The number of equal steps before the first difference."""
    lines: list[PairLine]
    """The steps of that turn and of the later turns."""
    reasons: list[ReasonLine]
    command: str
    """The equivalent command."""


def pair_page(
    divergence: CaseDiff,
    sides: tuple[ComparedRunPart, ComparedRunPart],
    cases: tuple[CaseResult, CaseResult],
    places: tuple[int, int],
    store: str = "",
) -> PairPage:
    """Return two trials side by side.

    `places` are the positions of the case in the two runs; `store` ends the command if it needs `--store`.
    """
    texts = divergence.base, divergence.candidate
    both = [
        PairSide(run=side, position=place, number=number, trial=text, outcome=case.outcome)
        for side, place, number, text, case in zip(
            sides, places, divergence.numbers, texts, cases, strict=True
        )
    ]
    return PairPage(
        name=divergence.name,
        sentence=case_diff_sentence(divergence),
        base=both[0],
        candidate=both[1],
        turn=divergence.turn,
        alike=divergence.alike,
        lines=[*_lines(divergence.steps)],
        reasons=[copy_fields(ReasonLine, line) for line in divergence.saw],
        command=shlex.join(["proctor", "compare", sides[0].short, sides[1].short, divergence.name]) + store,
    )


def _lines(steps: Sequence[tuple[DiffKind, Step]]) -> Iterator[PairLine]:
    """Pair the steps of the baseline with those of the candidate that replace them, if both are of the same type."""
    for same, group in groupby(steps, key=lambda one: one[0] is DiffKind.SAME):
        run = [*group]
        if same:
            yield from (_line(DiffKind.SAME, step, step) for _, step in run)
            continue
        removed = [step for kind, step in run if kind is DiffKind.MISSING]
        added = [step for kind, step in run if kind is DiffKind.EXTRA]
        yield from _pair_steps(removed, added)


def _pair_steps(removed: Sequence[Step], added: Sequence[Step]) -> Iterator[PairLine]:
    """Pair steps of the same turn and type, in order; the others are not paired."""
    rest = list(added)
    for step in removed:
        at = next((n for n, other in enumerate(rest) if _sort(other) == _sort(step)), None)
        if at is None:
            yield _line(DiffKind.MISSING, step, None)
            continue
        yield from (_line(DiffKind.EXTRA, None, other) for other in rest[:at])
        yield _line(DiffKind.DIFFERS, step, rest[at])
        rest = rest[at + 1 :]
    yield from (_line(DiffKind.EXTRA, None, other) for other in rest)


def _sort(step: Step) -> tuple[int, str]:
    return step[0], step[1].partition(":")[0]


def _line(kind: DiffKind, before: Step | None, now: Step | None) -> PairLine:
    step = before or now or (0, "")
    texts = [None if one is None else one[1].partition(": ")[2] for one in (before, now)]
    base, candidate = (None if text is None else marked_pieces([DiffPiece(text)]) for text in texts)
    if kind is DiffKind.DIFFERS:
        base, candidate = text_difference(texts[0] or "", texts[1] or "")
    return PairLine(kind=kind, turn=step[0], what=_sort(step)[1], base=base, candidate=candidate)
