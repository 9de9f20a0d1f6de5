"""The metric `user_simulator_faults_v1`: faults of the simulated user that rules cannot detect, by one question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from proctor.judges.base import AnswerForm, Passage, Question
from proctor.metrics.base import CaseView, MetricFacts
from proctor.metrics.judged.base import NO_TURNS, ConversationMetric
from proctor.metrics.judged.checklist import (
    Checked,
    ItemVerdict,
    checklist_is_final,
    in_number_order,
    list_of,
    object_of,
    tally_items,
    text_field,
    word_field,
)
from proctor.metrics.judged.passages import turns_of
from proctor.metrics.judged.user_simulator import ended_by_user
from proctor.schema.evidence.simulated_user import USER_FAULTS, FaultKind, UserFault
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import text_of
from proctor.schema.results.score import MetricScore


class FaultVerdict(ItemVerdict):
    """The verdict of one vote on one kind of fault, with the quotation that proves it."""

    evidence: str
    turn: int | None


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
    """The share of six points that the simulated user meets in the whole conversation, one for each kind of fault.

    A fault only counts with a quotation from one of the user's messages. The faults that most votes find are reported as faults
    of the simulated user, which make the trial an error.
    """

    facts: MetricFacts = MetricFacts(
        name="user_simulator_faults_v1",
        description="Whether the simulated user is without fault (plan, leaks, early end, inventions, repetitions, answers), by a judge model.",
        kind="judge",
        default_threshold=1.0,
        needs=frozenset({"judge", "scenario"}),
        source="Proctor's own, for faults that rules cannot detect",
    )
    points: ClassVar[Sequence[str]] = tuple(kind.value for kind in _KINDS)
    judges_agent: ClassVar[bool] = False

    def reason_not_applicable(self, case: EvalCase) -> str:
        """Return why it decides no case."""
        return "it judges the simulated user, not the agent"

    async def score(self, case: CaseView) -> MetricScore:
        """Ask once about the whole conversation."""
        if case.scenario is None or not case.actual:
            reason = NO_TURNS if case.scenario else "the case has no conversation scenario"
            return MetricScore(reason=reason, not_applicable=True)
        [outcome] = await self._ask([self._question(case)], checklist_is_final)
        result = self._case_score(case, outcome)
        if faults := list(_faults(outcome.votes, len(case.actual))):
            result.details = {**(result.details or {}), USER_FAULTS: faults}
        return result

    def _question(self, case: CaseView) -> Question[Checked]:
        end = "The conversation reached its limit of turns."
        if ended_by_user(case):
            end = "The user ended the conversation."
        passages = [*_instructions(case), *turns_of(case.actual, with_steps=False), Passage("end", end)]
        return self._make_question(passages, _form(case), turn=len(case.actual) - 1)


def _instructions(case: CaseView) -> Iterator[Passage]:
    """Yield the instructions of the user, and what it must not know."""
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


def _form(case: CaseView) -> AnswerForm[Checked]:
    """Return the form; a fault without a quotation from a simulated message does not count."""
    messages = [_fold(text_of(turn.user_content, thoughts=False)) for turn in case.actual]
    first = len(case.opening) + 1
    may_end = ended_by_user(case)
    schema = object_of(verdicts=list_of(_ITEM, f"One entry for each point: {len(_KINDS)} in all."))

    def read(data: Any) -> Checked:
        items = in_number_order(data["verdicts"], len(_KINDS), "point")
        return [
            _read_item(kind, number, item)
            for number, (kind, item) in enumerate(zip(_KINDS, items, strict=True), 1)
        ]

    def quoted_turn(quote: str, stated_turn: int) -> int | None:
        """Return the turn with the quotation: the stated one, or else the first."""
        if first <= stated_turn < len(messages) and quote in messages[stated_turn]:
            return stated_turn
        quoting = (each for each in range(first, len(messages)) if quote and quote in messages[each])
        return next(quoting, None)

    def _read_item(kind: FaultKind, number: int, item: Mapping[str, Any]) -> FaultVerdict:
        quote = _fold(item["evidence"])
        turn = quoted_turn(quote, int(item["message"]) - 1)
        counts = bool(quote) and turn is not None
        if kind is FaultKind.STOPPED_EARLY:
            turn, counts = len(messages), may_end
        return {
            "number": number,
            "verdict": "no" if item["verdict"] == "no" and counts else "yes",
            "rationale": item["rationale"].strip(),
            "evidence": item["evidence"].strip(),
            "turn": turn,
        }

    return AnswerForm("points", schema, read)


def _fold(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" \"'.…")


def _faults(votes: Sequence[Checked], turns: int) -> Iterator[dict[str, object]]:
    """Yield the points that most votes find broken, with the quotation of the first of these votes."""
    for number, (kind, tally) in enumerate(zip(_KINDS, tally_items(votes, len(_KINDS)), strict=True), 1):
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
