"""The metric `response_evaluation_score`: how coherent the answers are, from 1 to 5."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.judges.base import AnswerForm
from proctor.metrics.base import MetricFacts
from proctor.metrics.judged.base import BallotOutcome, LlmJudgeAnswerMetric, lower_median, median_is_final
from proctor.metrics.judged.checklist import object_of, text_field, word_field
from proctor.schema.results.score import Score

FORM: AnswerForm[int] = AnswerForm(
    "grade",
    object_of(
        rationale=text_field("Why, in one or two sentences."),
        # words, since not every provider can restrict a model to a few numbers
        grade=word_field(*"12345", description="From 1 (incoherent) to 5 (fully coherent)."),
    ),
    lambda data: int(data["grade"]),
)


class ResponseEvaluation(LlmJudgeAnswerMetric):
    """The coherence of a final answer, a whole number from 1 to 5: the lower median of the votes; for a case, the mean.

    Judge-based here; google-adk uses a model of Google's evaluation service, which takes a reference without using it.
    """

    facts: MetricFacts = MetricFacts(
        name="response_evaluation_score",
        description="How coherent the final answers are, 1 to 5, by a judge model (google-adk asks Google's service).",
        kind="judge",
        minimum=1.0,
        maximum=5.0,
        default_threshold=3.5,
        needs=frozenset({"judge"}),
        source="Proctor's own question for google-adk's metric of this name, which is computed by a model of Vertex AI",
        example={"response_evaluation_score": 3.5},
    )
    form = FORM

    @staticmethod
    def _is_final(votes: Sequence[int], left: int) -> bool:
        return median_is_final(votes, left)

    def _score(self, outcome: BallotOutcome[int]) -> Score:
        grade = lower_median(outcome.votes)
        why = next(vote.rationale for vote in outcome.ballot.votes if vote.verdict == grade)
        return outcome.score(
            float(grade), why or f"grade {grade} of 5", outcome.votes.count(grade) / len(outcome.votes)
        )
