"""`user_simulator_faults_v1`: what a played user got wrong that rules cannot tell, by one question about the conversation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from proctor.judges.base import AnswerForm, Passage, Question
from proctor.metrics.base import CaseView, MetricFacts
from proctor.metrics.judged.answer_fields import each_numbered, list_of, object_of, text_field, word_field
from proctor.metrics.judged.checklist import Checked, ItemVerdict, checklist_settled, tallied
from proctor.metrics.judged.passages import turns_of
from proctor.metrics.judged.votes import concluded
from proctor.metrics.judged.whole_conversation import AT_THE_END, NO_TURNS, ConversationMetric
from proctor.schema.evidence.played_user import NextStatus
from proctor.schema.evidence.simulator_fault import USER_FAULTS, FaultKind, UserFault
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import text_of
from proctor.schema.results.score import MetricScore, Score

__all__ = ["UserSimulatorFaults"]

_KINDS = tuple(kind for kind in FaultKind if kind is not FaultKind.NO_MESSAGE)
_ITEM = object_of(
    number={"type": "integer", "description": "The number of the point."},
    message={
        "type": "integer",
        "description": "The turn of the user message at fault; 0 where there is none.",
    },
    evidence=text_field(
        "The words of that message that are at fault, copied exactly; empty where there are none."
    ),
    rationale=text_field("Why, in one or two sentences."),
    verdict=word_field("yes", "no"),
)


class UserSimulatorFaults(ConversationMetric):
    """The share of six points that the played user keeps over the whole conversation, one for each kind of fault.

    A fault counts with the words that it is in: where these are in no message of the user, the point is kept. What most
    votes find is told as faults of the played user, which spoil the trial.
    """

    facts: MetricFacts = MetricFacts(
        name="user_simulator_faults_v1",
        description="Whether the played user is without fault (plan, leaks, early end, inventions, repetitions, answers), by a judge model.",
        kind="judge",
        default_threshold=1.0,
        needs=frozenset({"judge", "scenario"}),
        source="Proctor's own; for what rules over played conversations cannot tell",
    )
    points: ClassVar[Sequence[str]] = tuple(kind.value for kind in _KINDS)
    judges_agent: ClassVar[bool] = False

    def why_not(self, case: EvalCase) -> str:
        """Say why it decides no case by itself."""
        return "it judges the played user, not the agent"

    async def score(self, case: CaseView) -> MetricScore:
        """Ask once about the whole conversation."""
        if case.scenario is None or not case.actual:
            reason = NO_TURNS if case.scenario else "the case has no conversation scenario"
            return MetricScore(reason=reason, not_applicable=True)
        [asked] = await self._ask([self._question(case)], checklist_settled)
        score = self._scored(asked)
        earlier = [Score(reason=AT_THE_END, not_applicable=True) for _ in case.actual[:-1]]
        found = concluded([*earlier, score], [asked.failure])
        found.details = {"overall_rubrics": (score.details or {})["rubrics"]}
        if faults := list(_faults(asked.votes, len(case.actual))):
            found.details[USER_FAULTS] = faults
        return found

    def _question(self, case: CaseView) -> Question[Checked]:
        return Question(
            metric=self.facts.name,
            prompt=self._prompt,
            passages=[*_told(case), *turns_of(case.actual, with_steps=False), _ending(case)],
            form=_form(case),
            turn=len(case.actual) - 1,
        )


def _told(case: CaseView) -> Iterator[Passage]:
    """What the user was told, and what it must not know."""
    if (scenario := case.scenario) is None:
        return
    yield Passage("plan of the user", scenario.conversation_plan)
    if (persona := scenario.user_persona) is not None:
        habits = [line for each in persona.behaviors for line in each.behavior_instructions]
        yield Passage("manner of the user", "\n".join([persona.description, *habits]))
    for key, value in (case.expected_state or {}).items():
        yield Passage("expected result", f"{key}: {value}")
    for rubric in case.rubrics:
        yield Passage("what the agent is judged by", rubric.rubric_content.text_property or "")


def _ending(case: CaseView) -> Passage:
    how = (
        "The user ended the conversation."
        if _ended_by_user(case)
        else "The conversation reached its limit of turns."
    )
    return Passage("end", how)


def _ended_by_user(case: CaseView) -> bool:
    played = case.trial.played_user if case.trial is not None else None
    return (
        played is None or not played.replies or played.replies[-1].status is NextStatus.STOP_SIGNAL_DETECTED
    )


def _form(case: CaseView) -> AnswerForm[Checked]:
    """One entry for each point; a fault without its words is none, and the messages that nobody made have none."""
    said = [_folded(text_of(turn.user_content, thoughts=False)) for turn in case.actual]
    first = len(case.opening) + 1
    may_end = _ended_by_user(case)
    schema = object_of(verdicts=list_of(_ITEM, f"One entry for each point: {len(_KINDS)} in all."))

    def read(data: Any) -> Checked:
        items = each_numbered(data["verdicts"], len(_KINDS), "point")
        return [
            _read(kind, number, item)
            for number, (kind, item) in enumerate(zip(_KINDS, items, strict=True), 1)
        ]

    def _read(kind: FaultKind, number: int, item: Mapping[str, Any]) -> ItemVerdict:
        quoted, turn = _folded(item["evidence"]), int(item["message"]) - 1
        at = turn if first <= turn < len(said) and quoted in said[turn] else None
        if at is None:
            at = next((each for each in range(first, len(said)) if quoted and quoted in said[each]), None)
        holds = may_end if kind is FaultKind.STOPPED_EARLY else bool(quoted) and at is not None
        found: Any = {
            "number": number,
            "verdict": "no" if item["verdict"] == "no" and holds else "yes",
            "rationale": item["rationale"].strip(),
            "evidence": item["evidence"].strip(),
            "turn": len(said) if kind is FaultKind.STOPPED_EARLY else at,
        }
        told: ItemVerdict = found
        return told

    return AnswerForm("points", schema, read)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" \"'.…")


def _faults(votes: Sequence[Checked], turns: int) -> Iterator[dict[str, Any]]:
    """The points that most votes find broken, with the words of the first of these votes."""
    for number, (kind, tally) in enumerate(zip(_KINDS, tallied(votes, len(_KINDS)), strict=True), 1):
        if tally.met is not False:
            continue
        broken: list[Any] = [
            item for vote in votes for item in vote if item["number"] == number and item["verdict"] == "no"
        ]
        for item in broken[:1]:
            turn = turns if item["turn"] is None else item["turn"]
            fault = UserFault(
                kind=kind, turn=turn, evidence=item["evidence"], why=item["rationale"], found_by="judge"
            )
            yield fault.model_dump(mode="json")
