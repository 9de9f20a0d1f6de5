"""The votes of LLM judges on a trial with their rationales, rubric by rubric, and the labels of people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from proctor.reports.content.case_data import StoredCase
from proctor.reports.evidence.judge_findings import objects_in
from proctor.schema.analysis.calibration import WHOLE, Labelled
from proctor.schema.format.wire_model import PageModel
from proctor.schema.results.run_result import MetricVerdict
from proctor.schema.results.score import MetricScore, Outcome, Score
from proctor.web.pages.base import copy_fields
from proctor.web.pages.case.page_parts import CausePart, Clip, FindingPart, cause_part, clip, score_part


class LabelPart(PageModel):
    """A person's label of a trial, of one of its turns, or of one rubric."""

    metric: str
    """Empty: the label applies to every metric."""
    turn: int | None
    """From 0; null: the trial as a whole."""
    rubric_id: str
    """Empty: none."""
    passes: bool
    note: str
    labeller: str
    """The name of the person; empty: a person without a name."""
    labelled_at: float
    """Unix seconds: the version of the label, which a change has to name."""


class VotePart(PageModel):
    """One vote."""

    verdict: str
    """The verdict as text: `yes`, `no`, a number, or a verdict per item; empty if there is none."""
    passes: bool | None
    """Set if the verdict is a plain yes or no."""
    findings: list[FindingPart]
    """The parts of a verdict on several items; `name` is the rubric's id, if there are rubrics."""
    rationale: Clip
    problem: str
    """Why there is no verdict."""
    answers: list[Clip]
    """The raw answers of the model."""
    cached: bool
    """The answer came from the cache: it cost nothing."""
    cost: float | None
    """US dollars; null if unknown."""
    input_tokens: int | None
    output_tokens: int | None


class BallotPart(PageModel):
    """One question to a judge, and its votes."""

    metric: str
    turn: int | None
    """From 0; null: the trial as a whole."""
    outcome: Outcome
    score: float | None
    threshold: float | None
    reason: str
    model: str
    prompt: str
    """The hash of the prompt."""
    planned: int | None
    """The planned number of votes."""
    agreement: float | None
    """The share of the majority, 0 to 1."""
    votes: list[VotePart]
    findings: list[FindingPart]
    """Rubric by rubric, sentence by sentence; `name` is the rubric's id."""
    rubrics: bool
    """Whether the findings are rubrics, which can be labelled one by one."""
    labels: list[LabelPart]
    """The labels of this turn (or of the trial) for this metric or for all."""


class JudgeOfTrial(PageModel):
    """One metric with an LLM judge."""

    metric: str
    outcome: Outcome
    score: float | None
    threshold: float | None
    badge: str
    """The calibration of the judge; empty if it was not calibrated."""
    failure: CausePart | None
    cost: float | None
    """The cost of all votes in this trial in US dollars; null if unknown."""
    tokens: int
    ballots: list[BallotPart]


class JudgesPage(PageModel):
    """The votes of all LLM judges on a trial."""

    run_id: str
    position: int
    number: int
    judges: list[JudgeOfTrial]
    labels: list[LabelPart]
    """All labels of the trial."""


class AskedMessage(PageModel):
    """One message to a judge."""

    role: str
    text: Clip


class PromptPage(PageModel):
    """The prompt of a judge."""

    metric: str
    turn: int | None
    messages: list[AskedMessage]
    """Empty if the prompt cannot be reconstructed."""
    same: bool
    """Whether the present prompt is the one that was sent."""
    note: str
    """A sentence about the prompt."""


def judges_page(
    view: StoredCase, position: int, place: int, *, labels: Sequence[Labelled] = ()
) -> JudgesPage:
    """Return the votes on the trial at index `place` of a case, with the `labels` of people."""
    number = view.case.trials[place].number
    mine = [
        label_part(label)
        for label in labels
        if label.key[:3] == (view.case.eval_set_id, view.case.eval_id, number)
    ]
    judges = []
    for metric in view.case.metrics.values():
        score = metric.per_trial[place] if place < len(metric.per_trial) else None
        if score is not None and (ballots := [*_ballots(metric, score, mine)]):
            judges.append(_judge(metric, place, score, ballots, view.badges.get(metric.name, "")))
    return JudgesPage(run_id=view.run_id, position=position, number=number, judges=judges, labels=mine)


def label_part(label: Labelled) -> LabelPart:
    """Return the page's model of a label."""
    turn = None if label.key[3] == WHOLE else label.key[3]
    return copy_fields(LabelPart, label, turn=turn, rubric_id=label.key[4])


def _judge(
    metric: MetricVerdict, place: int, score: MetricScore, ballots: list[BallotPart], badge: str
) -> JudgeOfTrial:
    votes = [vote for ballot in ballots for vote in ballot.votes]
    known = [vote.cost for vote in votes if vote.cost is not None]
    return JudgeOfTrial(
        metric=metric.name,
        outcome=metric.outcome_in(place),
        score=score.value,
        threshold=metric.threshold,
        badge=badge,
        failure=cause_part(score.failure),
        cost=sum(known) if len(known) == len(votes) else None,
        tokens=sum((vote.input_tokens or 0) + (vote.output_tokens or 0) for vote in votes),
        ballots=ballots,
    )


def _ballots(metric: MetricVerdict, score: MetricScore, labels: Sequence[LabelPart]) -> Iterator[BallotPart]:
    for turn, each in enumerate(score.per_invocation):
        if _has_votes(each.details):
            yield _Ballot(metric, each, turn, labels).part()
    if _has_votes(score.details):
        yield _Ballot(metric, score, None, labels).part()


def _has_votes(details: Mapping[str, object] | None) -> bool:
    return any((details or {}).get(key) for key in ("ballot", "rubrics", "sentences"))


@dataclass(frozen=True, slots=True)
class _Ballot:
    metric: MetricVerdict
    score: Score | MetricScore
    turn: int | None
    labels: Sequence[LabelPart]

    def part(self) -> BallotPart:
        details = self.score.details or {}
        recorded = details.get("ballot")
        ballot: Mapping[str, object] = recorded if isinstance(recorded, Mapping) else {}
        part = score_part(self.metric, self.score)
        planned, agreed = ballot.get("planned"), ballot.get("agreement")
        names = [finding.name for finding in part.findings] if details.get("rubrics") else []
        return BallotPart(
            metric=self.metric.name,
            turn=self.turn,
            outcome=part.outcome,
            score=part.score,
            threshold=self.metric.threshold,
            reason=self.score.reason,
            model=str(ballot.get("model") or ""),
            prompt=str(ballot.get("prompt") or ""),
            planned=planned if isinstance(planned, int) else None,
            agreement=float(agreed) if isinstance(agreed, int | float) else None,
            votes=[_vote(vote, names) for vote in objects_in(ballot.get("votes"))],
            findings=part.findings,
            rubrics=bool(details.get("rubrics")),
            labels=[*self._labels()],
        )

    def _labels(self) -> Iterator[LabelPart]:
        return (one for one in self.labels if one.turn == self.turn and one.metric in ("", self.metric.name))


def _vote(vote: Mapping[str, object], names: Sequence[str]) -> VotePart:
    verdict, cost = vote.get("verdict"), vote.get("cost")
    answers = raw if isinstance(raw := vote.get("answers"), list) else ()
    return VotePart(
        verdict=_word(verdict),
        passes=verdict if isinstance(verdict, bool) else None,
        findings=[_vote_finding(one, names) for one in objects_in(verdict)],
        rationale=clip(str(vote.get("rationale") or "")),
        problem=str(vote.get("problem") or ""),
        answers=[clip(str(one)) for one in answers],
        cached=bool(vote.get("cached")),
        cost=float(cost) if isinstance(cost, int | float) else None,
        input_tokens=_whole(vote.get("input_tokens")),
        output_tokens=_whole(vote.get("output_tokens")),
    )


def _vote_finding(one: Mapping[str, object], names: Sequence[str]) -> FindingPart:
    """Return a vote's verdict on one item; items are counted from 1."""
    word, number = str(one.get("verdict", one.get("label", ""))), one.get("number")
    known = isinstance(number, int) and 1 <= number <= len(names)
    return FindingPart(
        holds=_HOLDS.get(word),
        name=names[number - 1] if known and isinstance(number, int) else str(number or ""),
        text=word.replace("_", " "),
        why=str(one.get("rationale") or ""),
    )


_HOLDS = {"yes": True, "no": False, "supported": True, "not_applicable": True}
_HOLDS |= {"unsupported": False, "contradictory": False, "disputed": False}


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _word(verdict: object) -> str:
    if verdict is None:
        return ""
    if isinstance(verdict, bool):
        return "yes" if verdict else "no"
    return (
        verdict if isinstance(verdict, str) else json.dumps(verdict, ensure_ascii=False, default=str)[:2_000]
    )
