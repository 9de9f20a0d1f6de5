"""As `google.adk.evaluation.llm_as_judge`: a judge of one's own, with its prompt and its reading of the answer.

The calls are those of Proctor's judges: the model of the criterion or of the run (`--judge`, `judge=`), its limits, its caps on
calls and cost. The prompt is the subclass's alone, so nothing fences what the agent wrote in it, and answers are not kept for
another run.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, TypeVar, cast

from pydantic import ValidationError

from proctor.common.async_tools import gather_all
from proctor.compat.adk.argument_errors import set_up, setup_error
from proctor.compat.adk.evaluation.evaluator import (
    EvalStatus,
    EvaluationResult,
    Evaluator,
    PerInvocationResult,
)
from proctor.compat.adk.evaluation.llm_as_judge_utils import get_eval_status
from proctor.errors import JudgeError
from proctor.judges.base import JudgeSource, PromptedJudge
from proctor.judges.votes import early_end_failure
from proctor.metrics.judged.base import stated_options
from proctor.models.base import ModelError, Reply
from proctor.runs.setup.judge_and_user import JudgesOnDemand
from proctor.schema.format.case import ConversationScenario
from proctor.schema.format.content import Content, UsageMetadata, text_content
from proctor.schema.format.criterion import EvalMetric, LlmAsAJudgeCriterion, RubricsBasedCriterion
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.rubric import RubricScore
from proctor.schema.format.wire_model import WireModel, plain_data

__all__ = ["AutoRaterScore", "LlmAsJudge", "LlmResponse"]

CriterionT = TypeVar("CriterionT", LlmAsAJudgeCriterion, RubricsBasedCriterion)


class LlmResponse(WireModel):
    """What the judge's model answered, with the fields of `google.adk.models.llm_response.LlmResponse` that judges read."""

    content: Content | None = None
    model_version: str | None = None
    finish_reason: str | None = None
    usage_metadata: UsageMetadata | None = None


class AutoRaterScore(WireModel):
    """What one answer of the judge means."""

    score: float | None = None
    rubric_scores: list[RubricScore] | None = None


class LlmAsJudge(Evaluator, Generic[CriterionT]):
    """An evaluator that asks a model about each invocation, `num_samples` times.

    Subclasses form the prompt, read the answer, and aggregate samples and invocations. They are registered as other evaluators
    are (`metric_evaluator_registry`), or evaluate by themselves.
    """

    def __init__(
        self,
        eval_metric: EvalMetric,
        criterion_type: type[CriterionT],
        expected_invocations_required: bool = False,  # noqa: FBT001, FBT002 - google-adk's signature
    ) -> None:
        """Take the metric with its criterion, and the class of the criterion.

        Raises:
            ValueError: the metric has no criterion, or one of another form.
        """
        name = eval_metric.metric_name
        if eval_metric.criterion is None:
            raise setup_error(f"{name}: expected a criterion of the type {criterion_type.__name__}, got none")
        criterion_data = eval_metric.criterion.model_dump(exclude_unset=True)
        try:
            self._criterion: CriterionT = criterion_type.model_validate(plain_data(criterion_data))
        except ValidationError as error:
            message = error.errors()[0]["msg"]
            raise setup_error(
                f"{name}: expected a criterion of the type {criterion_type.__name__}: {message}"
            ) from None
        self._eval_metric = eval_metric
        self._expected_invocations_required = expected_invocations_required
        self._judge_model_options = self._criterion.judge_model_options
        self._threshold: float = self._criterion.threshold
        self._judge: PromptedJudge | None = None
        self._problems: list[str] = []

    # --- what subclasses implement -----------------------------------------------------------------------------------

    @abstractmethod
    def format_auto_rater_prompt(self, actual: Invocation, expected: Invocation | None) -> str:
        """Return the prompt that asks about an invocation."""

    @abstractmethod
    def convert_auto_rater_response_to_score(self, auto_rater_response: LlmResponse) -> AutoRaterScore:
        """Return what an answer means; without a score where it cannot be read."""

    @abstractmethod
    def aggregate_per_invocation_samples(
        self, per_invocation_samples: list[PerInvocationResult]
    ) -> PerInvocationResult:
        """Return the result of an invocation from those of its samples."""

    @abstractmethod
    def aggregate_invocation_results(
        self, per_invocation_results: list[PerInvocationResult]
    ) -> EvaluationResult:
        """Return the result of the conversation from those of its invocations."""

    # --- how the judge is asked ----------------------------------------------------------------------------------------

    def use(self, judges: JudgeSource) -> None:
        """Take the judge that the criterion names, or the run's.

        Raises:
            SetupError: it cannot be asked.
        """
        criterion_options = stated_options(self._criterion)
        options = self._judge_model_options
        judge = judges.judge(
            self._eval_metric.metric_name, options, stated="judge_model" in criterion_options
        )
        self._judge = cast("PromptedJudge", judge)

    async def evaluate_invocations(
        self,
        actual_invocations: list[Invocation],
        expected_invocations: list[Invocation] | None = None,
        conversation_scenario: ConversationScenario | None = None,
    ) -> EvaluationResult:
        """Ask about each invocation. One with a sample that the judge did not answer is not evaluated.

        Raises:
            ValueError: expected invocations are needed, or not as many as actual ones; the judge cannot be asked.
        """
        expected = self._expected_turns(actual_invocations, expected_invocations)
        if self._judge is not None:
            return await self._evaluate(actual_invocations, expected, self._judge)
        judges = JudgesOnDemand()
        with set_up():
            self.use(judges)
        assert self._judge is not None  # noqa: S101 - `use` sets it
        try:
            return await self._evaluate(actual_invocations, expected, self._judge)
        finally:
            self._judge = None
            await judges.close()

    def require_scores(self, result: EvaluationResult) -> None:
        """Refuse a result in which an invocation has no score: within a run it is an error, and never left out.

        Raises:
            JudgeError: an invocation has none; the message has the reasons.
        """
        unscored = [
            str(turn)
            for turn, one in enumerate(result.per_invocation_results, 1)
            if one.score is None and one.eval_status == EvalStatus.NOT_EVALUATED
        ]
        if unscored or self._problems:
            reasons = "; ".join(dict.fromkeys(self._problems)) or "its answer has no score"
            where = f" (turn {', '.join(unscored)})" if unscored else ""
            raise JudgeError(f"the judge could not decide{where}: {reasons}")

    def _expected_turns(
        self, actual: Sequence[Invocation], expected: Sequence[Invocation] | None
    ) -> Sequence[Invocation | None]:
        name = self._eval_metric.metric_name
        if expected is None:
            if self._expected_invocations_required:
                raise setup_error(f"{name} needs expected_invocations")
            return [None] * len(actual)
        if len(expected) != len(actual):
            raise setup_error(
                f"{name}: expected as many expected_invocations as actual_invocations, got {len(expected)} and {len(actual)}"
            )
        return expected

    async def _evaluate(
        self, actual: Sequence[Invocation], expected: Sequence[Invocation | None], judge: PromptedJudge
    ) -> EvaluationResult:
        self._problems = []
        pairs = list(zip(actual, expected, strict=True))
        prompts = []
        for actual_turn, expected_turn in pairs:
            prompts.append((self.format_auto_rater_prompt(actual_turn, expected_turn), self._state_of_turn()))
        samples = self._judge_model_options.num_samples
        asking = [gather_all([_answer(judge, prompt) for _ in range(samples)]) for prompt, _ in prompts]
        results = []
        for (actual_turn, expected_turn), (_, state), replies in zip(
            pairs, prompts, await gather_all(asking), strict=True
        ):
            self._enter_turn(state)
            results.append(self._result(actual_turn, expected_turn, replies))
        return self.aggregate_invocation_results(results) if results else EvaluationResult()

    def _result(
        self, actual: Invocation, expected: Invocation | None, replies: Sequence[Reply | ModelError]
    ) -> PerInvocationResult:
        samples = [self._sample(actual, expected, reply) for reply in replies]
        usable = [sample for sample in samples if sample is not None]
        if len(usable) < len(samples):
            return PerInvocationResult(actual_invocation=actual, expected_invocation=expected)
        return self.aggregate_per_invocation_samples(usable)

    def _sample(
        self, actual: Invocation, expected: Invocation | None, reply: Reply | ModelError
    ) -> PerInvocationResult | None:
        """Return the meaning of one reply; `None`, with the reason recorded, if the reply is not readable."""
        if isinstance(reply, ModelError):
            self._problems.append(str(reply))
            return None
        if (problem := early_end_failure(reply, None)) is not None:
            self._problems.append(problem.message)
            return None
        try:
            score = self.convert_auto_rater_response_to_score(_response(reply))
        except Exception as error:  # noqa: BLE001 - a subclass may raise anything for an answer that it cannot read
            self._problems.append(f"reading its answer raised {type(error).__name__}: {error}")
            return None
        return PerInvocationResult(
            actual_invocation=actual,
            expected_invocation=expected,
            score=score.score,
            eval_status=get_eval_status(score.score, self._threshold),
            rubric_scores=score.rubric_scores,
        )

    def _state_of_turn(self) -> Any:
        """Return what forming a prompt left for reading its answer; the next prompt may replace it."""
        return None

    def _enter_turn(self, state: Any) -> None:
        """Take back what `_state_of_turn` returned, before the answers about that turn are read."""


async def _answer(judge: PromptedJudge, prompt: str) -> Reply | ModelError:
    try:
        return await judge.answer(prompt)
    except ModelError as error:
        return error


def _response(reply: Reply) -> LlmResponse:
    usage, text = reply.usage, reply.text
    if not text and reply.structured is not None:
        text = json.dumps(reply.structured, ensure_ascii=False)
    return LlmResponse(
        content=text_content(text, "model"),
        model_version=reply.model or None,
        finish_reason=reply.finish.value.upper(),
        usage_metadata=None
        if usage is None
        else UsageMetadata(
            prompt_token_count=usage.input_tokens,
            candidates_token_count=usage.output_tokens,
            cached_content_token_count=usage.cached_tokens,
        ),
    )
