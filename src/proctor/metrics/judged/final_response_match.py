"""The metric `final_response_match_v2`: whether a judge finds the final answers valid, compared with the reference answers."""

from __future__ import annotations

from proctor.judges.base import AnswerForm, Passage, Question
from proctor.judges.votes import is_majority_settled, majority
from proctor.metrics.base import CaseView, MetricFacts, no_recording_score, paired, reference_answers
from proctor.metrics.judged.base import BallotOutcome, LlmJudgeMetric, case_score
from proctor.metrics.judged.checklist import object_of, text_field, word_field
from proctor.metrics.judged.passages import answer_text, final_answer, user_message
from proctor.metrics.text.visible_text import is_blank
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import text_of
from proctor.schema.format.criterion import LlmAsAJudgeCriterion
from proctor.schema.format.invocation import Invocation
from proctor.schema.results.score import MetricScore, Score

NO_REFERENCE = "the case states no reference answer for this turn"

VALID_OR_NOT: AnswerForm[bool] = AnswerForm(
    "validity",
    object_of(
        rationale=text_field(
            "Which point of the reference decides, and how the answer stands to it; briefly."
        ),
        verdict=word_field("valid", "invalid"),
    ),
    lambda answer: bool(answer["verdict"] == "valid"),
)


class FinalResponseMatch(LlmJudgeMetric[LlmAsAJudgeCriterion]):
    """1 for a turn whose answer most votes find valid, else 0; a tie is 0. Overall the mean.

    Differences from google-adk (`compat: "adk"` reverts the first two): a turn without reference text is not applicable;
    thoughts are not part of an answer; the verdict is one of two words in a separate field, never searched for in a text;
    failed votes do not discard the others.
    """

    facts: MetricFacts = MetricFacts(
        name="final_response_match_v2",
        description="The share of final answers that a judge model finds valid, compared with the reference answers.",
        kind="judge",
        default_threshold=0.8,
        needs=frozenset({"judge", "expected"}),
        statement=reference_answers,
        source="google-adk's metric of this name; prompt, answers and votes are Proctor's",
    )

    def applies(self, case: EvalCase) -> bool:
        """Return whether any turn of the case has a reference answer."""
        return self._adk or not all(is_blank(self._reference(turn)) for turn in case.conversation or ())

    async def score(self, case: CaseView) -> MetricScore:
        """Ask about each turn that has a reference answer."""
        if case.expected is None:
            return no_recording_score(case)
        turns = [
            (index, actual, expected)
            for index, (actual, expected) in enumerate(paired(case))
            if self._adk or not is_blank(self._reference(expected))
        ]
        outcomes = await self._ask([self._question(*turn) for turn in turns], is_majority_settled)
        by_turn = {index: each for (index, _, _), each in zip(turns, outcomes, strict=True)}
        scores = [
            _score(by_turn[index]) if index in by_turn else Score(reason=NO_REFERENCE, not_applicable=True)
            for index in range(len(case.actual))
        ]
        return case_score(scores, [each.failure for each in outcomes])

    def _reference(self, turn: Invocation) -> str:
        return text_of(turn.final_response, thoughts=self._adk)

    def _question(self, index: int, actual: Invocation, expected: Invocation) -> Question[bool]:
        with_steps = self._criterion.include_intermediate_responses_in_final
        passages = [
            user_message(expected),
            Passage("reference answer", self._reference(expected)),
            final_answer(answer_text(actual, thoughts=self._adk, with_steps=with_steps)),
        ]
        return self._make_question(passages, VALID_OR_NOT, turn=index)


def _score(outcome: BallotOutcome[bool]) -> Score:
    if outcome.failure is not None:
        return outcome.score(None, "")
    is_valid = majority(outcome.votes)
    why = next(vote.rationale for vote in outcome.ballot.votes if vote.verdict is is_valid)
    return outcome.score(float(is_valid), why)
