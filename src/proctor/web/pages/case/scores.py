"""Parts of pages: the scores of a turn or of a trial with their findings, and the cause of a failure."""

from __future__ import annotations

from collections.abc import Iterator

from proctor.reports.evidence.blocks import Fact, Findings, LeftOut, Note
from proctor.reports.evidence.failure_text import cause_of
from proctor.reports.evidence.judge_findings import findings_of
from proctor.schema.evidence.trial import Failure
from proctor.schema.format.wire_model import PageModel
from proctor.schema.results.run_result import MetricVerdict
from proctor.schema.results.score import MetricScore, Outcome, Score
from proctor.web.pages.case.texts import Clip, clip

__all__ = ["CausePart", "FindingPart", "NotePart", "ScorePart", "cause_part", "score_part"]


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


def score_part(metric: MetricVerdict, score: Score | MetricScore) -> ScorePart:
    """Return a metric's score of a turn (`Score`) or of a trial (`MetricScore`)."""
    failure = score.failure if isinstance(score, MetricScore) else None
    plain = score if isinstance(score, Score) else Score(score.value, not_applicable=score.not_applicable)
    outcome = Outcome.ERROR if failure is not None else _outcome(metric, plain)
    found = [*findings_of(score.details or {}, metric.name, full=True)]
    return ScorePart(
        name=metric.name,
        outcome=outcome,
        gate=metric.gate,
        score=score.value if score.value == score.value else None,  # JSON has no NaN
        threshold=metric.threshold,
        reason=score.reason,
        warning=plain.warning,
        findings=[part for block in found if isinstance(block, Findings) for part in _findings(block)],
        notes=[NotePart(label=one.label, text=one.text) for one in found if isinstance(one, Note | Fact)],
        failure=cause_part(failure) if failure is not None else None,
    )


def _outcome(metric: MetricVerdict, score: Score) -> Outcome:
    outcome = metric.judge(score).outcome
    return outcome if metric.gate or outcome is Outcome.NOT_APPLICABLE else Outcome.INFORMATIONAL


def cause_part(failure: Failure) -> CausePart:
    """Return the cause of a failure, with the whole traceback."""
    cause = cause_of(failure)
    return CausePart(
        where=failure.where,
        what=cause.what,
        error=cause.error,
        place=cause.place,
        code=cause.code,
        traceback=clip(failure.traceback) if failure.traceback else None,
        turn=failure.turn,
        infrastructure=failure.infrastructure,
    )


def _findings(block: Findings) -> Iterator[FindingPart]:
    for line in block.lines:
        if not isinstance(line, LeftOut):
            yield FindingPart(holds=line.holds, name=line.name, text=line.text, why=line.why)
