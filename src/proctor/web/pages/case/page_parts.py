"""Parts of several pages: long and marked texts, scores with their findings, and the cause of a failure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

from proctor.reports.content import text_blocks
from proctor.reports.content.text_blocks import Findings, OmittedLines, RecordedFact, Remark
from proctor.reports.evidence.case_evidence import failure_cause
from proctor.reports.evidence.judge_findings import findings_of
from proctor.reports.evidence.value_diff import elide, word_difference
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import Failure
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.content import Part
from proctor.schema.format.wire_model import PageModel
from proctor.schema.results.run_result import MetricVerdict
from proctor.schema.results.score import MetricScore, Outcome, Score
from proctor.web.pages.base import copy_fields

_Call = TypeVar("_Call")

MOST_TEXT = 20_000
"""The characters of one text that a page contains; the evidence has all of them."""
_CONTEXT = 1_000


class Clip(PageModel):
    """A text or, if it is long, its beginning."""

    text: str
    left_out: int
    """The number of characters that were cut."""


class Piece(PageModel):
    """A piece of text; `changed`: the two sides differ here."""

    text: str
    changed: bool


class MarkedText(PageModel):
    """A text in pieces."""

    pieces: list[Piece]
    left_out: int
    """The number of characters that `…` replaces."""


def clip(text: str, most: int = MOST_TEXT) -> Clip:
    """Return a text of at most `most` characters."""
    return Clip(text=text[:most], left_out=max(0, len(text) - most))


def marked_pieces(pieces: Sequence[text_blocks.DiffPiece]) -> MarkedText:
    """Return the page's model of pieces; if they are long, only the text around the changes."""
    total = sum(len(piece.text) for piece in pieces)
    head = (
        list(pieces)
        if total <= MOST_TEXT
        else _truncate(elide(list(pieces), context=_CONTEXT, longest=MOST_TEXT))
    )
    left_out = total - sum(len(piece.text) for piece in head)
    page_pieces = [{"text": piece.text, "changed": piece.changed} for piece in head]
    return MarkedText.model_validate({"pieces": page_pieces, "left_out": max(0, left_out)})


def _truncate(pieces: Sequence[text_blocks.DiffPiece]) -> list[text_blocks.DiffPiece]:
    head: list[text_blocks.DiffPiece] = []
    room = 2 * MOST_TEXT
    for piece in pieces:
        if room <= 0:
            break
        head.append(text_blocks.DiffPiece(piece.text[:room], piece.changed))
        room -= len(piece.text)
    return head


def text_difference(expected: str, actual: str) -> tuple[MarkedText, MarkedText]:
    """Return an expected and an actual text with the differing words marked."""
    left, right = word_difference(expected, actual)
    return marked_pieces(left), marked_pieces(right)


class FindingPart(PageModel):
    """A judge's finding about one rubric or one sentence."""

    holds: bool | None
    name: str
    text: str
    why: str


class NotePart(PageModel):
    """A sentence with its label."""

    label: str
    text: str


class CausePart(PageModel):
    """Why something could not be computed."""

    where: str
    """`agent`, `metric`, `judge`, `simulator`, `setup`, `teardown`, `file` or `store`."""
    what: str
    error: str
    place: str
    code: str
    traceback: Clip | None
    turn: int | None
    infrastructure: bool
    """The cause is a connection, a rate limit, a server or a timeout: another attempt may succeed."""


class ScorePart(PageModel):
    """One metric's score of a turn, or of the trial as a whole."""

    name: str
    outcome: Outcome
    gate: bool
    score: float | None
    threshold: float | None
    reason: str
    warning: str
    findings: list[FindingPart]
    notes: list[NotePart]
    failure: CausePart | None


class OpenCalls(Generic[_Call]):
    """The tool calls that have no response yet."""

    def __init__(self) -> None:
        self._calls: list[tuple[_Call, str | None, str | None]] = []

    def add(self, call: _Call, call_id: str | None, name: str | None) -> None:
        """Add a call."""
        self._calls.append((call, call_id, name))

    def take(self, call_id: str | None, *names: str | None) -> _Call | None:
        """Remove and return the call with this id, else the first call with one of these names."""
        by_id = [each for each in self._calls if call_id and each[1] == call_id]
        by_name = [each for each in self._calls if each[2] in names]
        for match in (*by_id, *by_name):
            self._calls.remove(match)
            return match[0]
        return None


def agent_events(turn: Turn) -> Iterator[tuple[Event, Sequence[Part]]]:
    """Yield the complete events of a turn that are not the user's, with their parts."""
    for event in turn.events:
        if not event.partial and event.author.lower() != "user":
            yield event, (event.content.parts or ()) if event.content is not None else ()


def score_part(metric: MetricVerdict, score: Score | MetricScore) -> ScorePart:
    """Return a metric's score of a turn (`Score`) or of a trial (`MetricScore`)."""
    failure = score.failure if isinstance(score, MetricScore) else None
    plain = score if isinstance(score, Score) else Score(score.value, not_applicable=score.not_applicable)
    findings, notes = _finding_parts(score, metric.name)
    return ScorePart(
        name=metric.name,
        outcome=Outcome.ERROR if failure is not None else _outcome(metric, plain),
        gate=metric.gate,
        score=score.value if score.value == score.value else None,  # JSON has no NaN
        threshold=metric.threshold,
        reason=score.reason,
        warning=plain.warning,
        findings=findings,
        notes=notes,
        failure=cause_part(failure),
    )


def _finding_parts(score: Score | MetricScore, name: str) -> tuple[list[FindingPart], list[NotePart]]:
    """Return a judge's findings in the details of a score, and the notes among them."""
    blocks = [*findings_of(score.details or {}, name, full=True)]
    findings = [part for block in blocks if isinstance(block, Findings) for part in _findings(block)]
    noted = [block for block in blocks if isinstance(block, Remark | RecordedFact)]
    return findings, [NotePart(label=block.label, text=block.text) for block in noted]


def _outcome(metric: MetricVerdict, score: Score) -> Outcome:
    outcome = metric.judge(score).outcome
    return outcome if metric.gate or outcome is Outcome.NOT_APPLICABLE else Outcome.INFORMATIONAL


def cause_part(failure: Failure | None) -> CausePart | None:
    """Return the cause of a failure, with the whole traceback; `None` if there is no failure."""
    if failure is None:
        return None
    cause = failure_cause(failure)
    traceback = clip(failure.traceback) if failure.traceback else None
    return copy_fields(
        CausePart, failure,
        what=cause.what, error=cause.error, place=cause.place, code=cause.code, traceback=traceback,
    )  # fmt: skip


def _findings(block: Findings) -> Iterator[FindingPart]:
    for line in block.lines:
        if not isinstance(line, OmittedLines):
            yield FindingPart(holds=line.holds, name=line.name, text=line.text, why=line.why)
