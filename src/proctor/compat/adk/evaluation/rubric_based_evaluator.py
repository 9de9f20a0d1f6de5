"""As `google.adk.evaluation.rubric_based_evaluator`: a judge of one's own that gives a verdict on each rubric."""

from __future__ import annotations

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from proctor.compat.adk.argument_errors import setup_error
from proctor.compat.adk.evaluation.evaluator import EvaluationResult, PerInvocationResult
from proctor.compat.adk.evaluation.llm_as_judge import AutoRaterScore, LlmAsJudge, LlmResponse
from proctor.compat.adk.evaluation.llm_as_judge_utils import (
    get_average_rubric_score,
    get_eval_status,
    get_text_from_content,
)
from proctor.schema.format.criterion import EvalMetric, RubricsBasedCriterion
from proctor.schema.format.rubric import Rubric, RubricScore
from proctor.schema.format.wire_model import WireModel

__all__ = [
    "AutoRaterResponseParser",
    "DefaultAutoRaterResponseParser",
    "InvocationResultsSummarizer",
    "MajorityVotePerInvocationResultsAggregator",
    "MeanInvocationResultsSummarizer",
    "PerInvocationResultsAggregator",
    "RubricBasedEvaluator",
    "RubricResponse",
]


# --- reading an answer -------------------------------------------------------------------------------------------------


class RubricResponse(WireModel):
    """What the judge answered about one rubric."""

    rubric_id: str | None = None
    property_text: str | None = None
    rationale: str | None = None
    score: float | None = None


class AutoRaterResponseParser(ABC):
    """Reads the answer of a judge."""

    @abstractmethod
    def parse(self, auto_rater_response: str) -> list[RubricResponse]:
        """Return the verdict for each rubric."""


_LINE = re.compile(r"^\s*(ID|Property): (.*)$|(Rationale|Verdict): (.*)$", re.MULTILINE)


class DefaultAutoRaterResponseParser(AutoRaterResponseParser):
    """Reads blocks of lines `ID:` (optional), `Property:`, `Rationale:` and `Verdict: yes` or `no`."""

    def parse(self, auto_rater_response: str) -> list[RubricResponse]:
        """Return the verdict for each rubric; nothing if a property, a rationale or a verdict is missing."""
        matches = _LINE.finditer(auto_rater_response)
        lines = [(match[1] or match[3], (match[2] or match[4] or "").strip()) for match in matches]
        counts = {
            sum(label == heading for label, _ in lines) for heading in ("Property", "Rationale", "Verdict")
        }
        if len(counts) != 1:
            return []
        return [_response(block) for block in _blocks(lines)]


def _blocks(lines: Iterable[tuple[str, str]]) -> Iterator[dict[str, str]]:
    """Return one dict for each property; an `ID` belongs to the property that follows it."""
    rubric_id, block = "", dict[str, str]()
    for label, text in lines:
        if label == "ID":
            rubric_id = text
        elif label == "Property":
            if block:
                yield block
            block, rubric_id = {"ID": rubric_id, "Property": text}, ""
        elif block:
            block.setdefault(label, text)
    if block:
        yield block


def _response(block: dict[str, str]) -> RubricResponse:
    verdict = block.get("Verdict", "").lower()
    score = 1.0 if "yes" in verdict else 0.0 if "no" in verdict else None
    return RubricResponse(
        rubric_id=block["ID"] or None,
        property_text=block["Property"],
        rationale=block.get("Rationale"),
        score=score,
    )


# --- from samples to an invocation, and from invocations to a conversation ---------------------------------------------


class PerInvocationResultsAggregator(ABC):
    """Makes one result of the samples of an invocation."""

    @abstractmethod
    def aggregate(
        self, per_invocation_samples: list[PerInvocationResult], threshold: float
    ) -> PerInvocationResult:
        """Return the result of the invocation."""


class MajorityVotePerInvocationResultsAggregator(PerInvocationResultsAggregator):
    """Of each rubric, the verdict of most samples; a tie is a no."""

    def aggregate(
        self, per_invocation_samples: list[PerInvocationResult], threshold: float
    ) -> PerInvocationResult:
        """Return the result of the invocation, with the first rationale of the side that won."""
        winners = [_majority(scores) for scores in _scores_by_rubric(per_invocation_samples).values()]
        overall = get_average_rubric_score(winners)
        return PerInvocationResult(
            actual_invocation=per_invocation_samples[0].actual_invocation,
            expected_invocation=per_invocation_samples[0].expected_invocation,
            score=overall,
            rubric_scores=winners,
            eval_status=get_eval_status(overall, threshold),
        )


def _scores_by_rubric(results: Iterable[PerInvocationResult]) -> dict[str, list[RubricScore]]:
    """Return the scores of each rubric, in the order in which rubrics first appear."""
    by_rubric: dict[str, list[RubricScore]] = {}
    for result in results:
        for score in result.rubric_scores or ():
            by_rubric.setdefault(score.rubric_id, []).append(score)
    return by_rubric


def _majority(scores: Sequence[RubricScore]) -> RubricScore:
    positive = [one for one in scores if one.score == 1.0]
    negative = [one for one in scores if one.score is not None and one.score != 1.0]
    if not positive and not negative:
        return scores[0]
    return positive[0] if len(positive) > len(negative) else negative[0]


class InvocationResultsSummarizer(ABC):
    """Makes one result of those of all invocations."""

    @abstractmethod
    def summarize(
        self, per_invocation_results: list[PerInvocationResult], threshold: float
    ) -> EvaluationResult:
        """Return the result of the conversation."""


class MeanInvocationResultsSummarizer(InvocationResultsSummarizer):
    """The mean over all rubrics of all invocations; of each rubric, the mean over invocations."""

    def summarize(
        self, per_invocation_results: list[PerInvocationResult], threshold: float
    ) -> EvaluationResult:
        """Return the result of the conversation."""
        by_rubric = _scores_by_rubric(per_invocation_results)
        overall = get_average_rubric_score([one for scores in by_rubric.values() for one in scores])
        return EvaluationResult(
            overall_score=overall,
            overall_eval_status=get_eval_status(overall, threshold),
            per_invocation_results=per_invocation_results,
            overall_rubric_scores=[
                RubricScore(
                    rubric_id=rubric_id,
                    score=get_average_rubric_score(scores),
                    rationale="The mean over the invocations; each invocation has its own rationale.",
                )
                for rubric_id, scores in by_rubric.items()
            ],
        )


# --- the evaluator -----------------------------------------------------------------------------------------------------

_TYPOGRAPHY = str.maketrans("\u2018\u2019\u201c\u201d\u2013\u2014", "''\"\"--")
_DECORATION = " *_`#>-\u2022\"'"


def _normal_form(text: str | None) -> str:
    """Return a rubric's text without what models add when they repeat it: markup, typographic marks, other spaces and case."""
    plain = unicodedata.normalize("NFKC", text or "").translate(_TYPOGRAPHY)
    return " ".join(plain.split()).strip(_DECORATION).lower()


class RubricBasedEvaluator(LlmAsJudge[RubricsBasedCriterion]):
    """An evaluator whose judge gives a verdict on each rubric; subclasses form the prompt.

    `format_auto_rater_prompt` calls `create_effective_rubrics_list(actual.rubrics)` first.
    """

    def __init__(
        self,
        eval_metric: EvalMetric,
        criterion_type: type[RubricsBasedCriterion],
        auto_rater_response_parser: AutoRaterResponseParser | None = None,
        per_invocation_results_aggregator: PerInvocationResultsAggregator | None = None,
        invocation_results_summarizer: InvocationResultsSummarizer | None = None,
        rubric_type: str | None = None,
    ) -> None:
        """Take the metric, and what reads and aggregates; `rubric_type` chooses among the rubrics of cases and invocations."""
        super().__init__(eval_metric, criterion_type=criterion_type)
        self._rubric_type = rubric_type
        self._auto_rater_prompt_template = ""
        self._auto_rater_response_parser = auto_rater_response_parser or DefaultAutoRaterResponseParser()
        self._per_invocation_results_aggregator = (
            per_invocation_results_aggregator or MajorityVotePerInvocationResultsAggregator()
        )
        self._invocation_results_summarizer = (
            invocation_results_summarizer or MeanInvocationResultsSummarizer()
        )
        self._rubrics: list[Rubric] = self._criterion.rubrics
        self._effective_rubrics_list: list[Rubric] | None = None

    def create_effective_rubrics_list(self, invocation_rubrics: Sequence[Rubric] | None) -> None:
        """Keep the rubrics of the criterion, and those of the invocation that have the evaluator's type.

        Raises:
            ValueError: two have the same id, or there is none.
        """
        typed_rubrics = [
            rubric
            for rubric in invocation_rubrics or ()
            if not self._rubric_type or rubric.type == self._rubric_type
        ]
        by_id: dict[str, Rubric] = {}
        for rubric in [*self._rubrics, *typed_rubrics]:
            if rubric.rubric_id in by_id:
                raise setup_error(f"two rubrics of an invocation have the id {rubric.rubric_id!r}")
            by_id[rubric.rubric_id] = rubric
        if not by_id:
            raise setup_error(
                f"{self._eval_metric.metric_name} needs rubrics, in its criterion or in the case"
            )
        self._effective_rubrics_list = list(by_id.values())

    def get_effective_rubrics_list(self) -> list[Rubric]:
        """Return the rubrics of the invocation. Raises ValueError: `create_effective_rubrics_list` was not called."""
        if self._effective_rubrics_list is None:
            raise setup_error("call create_effective_rubrics_list before get_effective_rubrics_list")
        return self._effective_rubrics_list

    def convert_auto_rater_response_to_score(self, auto_rater_response: LlmResponse) -> AutoRaterScore:
        """Return the verdicts on the invocation's rubrics, and their mean."""
        rubrics = self.get_effective_rubrics_list()
        by_id = {rubric.rubric_id: rubric for rubric in rubrics}
        by_text = {_normal_form(rubric.rubric_content.text_property): rubric for rubric in rubrics}
        text = get_text_from_content(auto_rater_response.content)
        scores = []
        for answer in self._auto_rater_response_parser.parse(text) if text else ():
            rubric = by_id.get(answer.rubric_id or "") or by_text.get(_normal_form(answer.property_text))
            if rubric is not None:
                score = RubricScore(
                    rubric_id=rubric.rubric_id, rationale=answer.rationale, score=answer.score
                )
                scores.append(score)
        return AutoRaterScore(score=get_average_rubric_score(scores), rubric_scores=scores)

    def aggregate_per_invocation_samples(
        self, per_invocation_samples: list[PerInvocationResult]
    ) -> PerInvocationResult:
        """Return the result of an invocation. A rubric without a verdict is an error of a run: google-adk leaves it out."""
        result = self._per_invocation_results_aggregator.aggregate(per_invocation_samples, self._threshold)
        scored = {one.rubric_id for one in result.rubric_scores or () if one.score is not None}
        known = [rubric.rubric_id for rubric in self._effective_rubrics_list or ()]
        self._problems += [
            f"its answers have no verdict on the rubric {rubric_id!r}"
            for rubric_id in known
            if rubric_id not in scored
        ]
        return result

    def aggregate_invocation_results(
        self, per_invocation_results: list[PerInvocationResult]
    ) -> EvaluationResult:
        """Return the result of the conversation."""
        return self._invocation_results_summarizer.summarize(per_invocation_results, self._threshold)

    def _state_of_turn(self) -> Any:
        return self._effective_rubrics_list

    def _enter_turn(self, state: Any) -> None:
        self._effective_rubrics_list = state
