"""Criteria: the configuration and threshold of a metric; and metrics by the format's names."""

from enum import Enum, IntEnum
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, SerializeAsAny
from pydantic_core import PydanticCustomError

from proctor.schema.format.content import GenerateContentConfig
from proctor.schema.format.rubric import Rubric
from proctor.schema.format.wire_model import NULL_IS_EMPTY_LIST, Ratio, WireModel


class PrebuiltMetrics(str, Enum):  # noqa: UP042 - members print as in ADK ("PrebuiltMetrics.X"), which StrEnum would change
    """The names of the format's own metrics. Members and their values are valid keys of a config's criteria."""

    TOOL_TRAJECTORY_AVG_SCORE = "tool_trajectory_avg_score"
    RESPONSE_EVALUATION_SCORE = "response_evaluation_score"
    RESPONSE_MATCH_SCORE = "response_match_score"
    SAFETY_V1 = "safety_v1"
    MULTI_TURN_TASK_SUCCESS_V1 = "multi_turn_task_success_v1"
    MULTI_TURN_TRAJECTORY_QUALITY_V1 = "multi_turn_trajectory_quality_v1"
    MULTI_TURN_TOOL_USE_QUALITY_V1 = "multi_turn_tool_use_quality_v1"
    FINAL_RESPONSE_MATCH_V2 = "final_response_match_v2"
    RUBRIC_BASED_FINAL_RESPONSE_QUALITY_V1 = "rubric_based_final_response_quality_v1"
    HALLUCINATIONS_V1 = "hallucinations_v1"
    RUBRIC_BASED_TOOL_USE_QUALITY_V1 = "rubric_based_tool_use_quality_v1"
    PER_TURN_USER_SIMULATOR_QUALITY_V1 = "per_turn_user_simulator_quality_v1"
    RUBRIC_BASED_MULTI_TURN_TRAJECTORY_QUALITY_V1 = "rubric_based_multi_turn_trajectory_quality_v1"
    TOOL_CALL_COUNT_V1 = "tool_call_count_v1"
    INFERENCE_CALL_COUNT_V1 = "inference_call_count_v1"
    TOKEN_USAGE_V1 = "token_usage_v1"  # noqa: S105 - counts tokens of a model, keeps no secret
    INVOCATION_DURATION_V1 = "invocation_duration_v1"


EFFICIENCY_METRICS = (
    PrebuiltMetrics.TOOL_CALL_COUNT_V1,
    PrebuiltMetrics.INFERENCE_CALL_COUNT_V1,
    PrebuiltMetrics.TOKEN_USAGE_V1,
    PrebuiltMetrics.INVOCATION_DURATION_V1,
)
"""Metrics that are always reported and never decide."""


class BaseCriterion(WireModel):
    """The threshold of a metric (a number or a fraction as `"2/3"`), with the metric's own options as extra keys."""

    threshold: Ratio
    include_intermediate_responses_in_final: bool = False


MOST_SAMPLES = 1_000
"""The maximum number of votes on one verdict: each is a model call. ADK states no limit."""


class JudgeModelOptions(WireModel):
    """The judge model, its number of votes on one verdict (at most 1,000), and the number of parallel calls."""

    judge_model: str = "gemini-2.5-flash"
    judge_model_config: GenerateContentConfig | None = None
    num_samples: Annotated[int, Field(ge=1, le=MOST_SAMPLES)] = 5
    parallelism_limit: Annotated[int, Field(ge=1)] = 1


class LlmAsAJudgeCriterion(BaseCriterion):
    """The criterion of a metric with an LLM judge."""

    judge_model_options: JudgeModelOptions = Field(default_factory=JudgeModelOptions)


def _read_texts(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return [{"criterion": each} if isinstance(each, str) and each.strip() else each for each in value]


class RubricsBasedCriterion(BaseCriterion):
    """The criterion of a metric with an LLM judge and rubrics; a rubric may be written as its text alone."""

    judge_model_options: JudgeModelOptions = Field(default_factory=JudgeModelOptions)
    rubrics: Annotated[list[Rubric], BeforeValidator(_read_texts), NULL_IS_EMPTY_LIST] = []


class HallucinationsCriterion(BaseCriterion):
    """The criterion of `hallucinations_v1`, with the option to evaluate intermediate answers."""

    judge_model_options: JudgeModelOptions = Field(default_factory=JudgeModelOptions)
    evaluate_intermediate_nl_responses: bool = False


class LlmBackedUserSimulatorCriterion(LlmAsAJudgeCriterion):
    """The criterion of the user simulator's quality; `stop_signal` ends a conversation."""

    stop_signal: str = "</finished>"


def _read_match_type(value: Any) -> Any:
    match_types = ToolTrajectoryCriterion.MatchType
    if isinstance(value, str):
        name = value.strip().upper().replace("-", "_").replace(" ", "_")
        if name in match_types.__members__:
            return match_types[name]
    elif not isinstance(value, bool) and isinstance(value, int | float) and value in (0, 1, 2):
        return match_types(int(value))
    known = {
        "expected": "'EXACT', 'IN_ORDER' or 'ANY_ORDER'"
    }  # in the form of pydantic's message for a `Literal`
    raise PydanticCustomError("match_type", "expected EXACT, IN_ORDER or ANY_ORDER (or 0, 1, 2)", known)


class ToolTrajectoryCriterion(BaseCriterion):
    """For `tool_trajectory_avg_score`. `match_type` is read by name (any case) or number, and written as the number."""

    class MatchType(IntEnum):
        """The match rule: the same calls in order; contained, in order; contained, in any order."""

        EXACT = 0
        IN_ORDER = 1
        ANY_ORDER = 2

    match_type: Annotated[MatchType, BeforeValidator(_read_match_type)] = MatchType.EXACT
    ignore_args: bool = False


class EvalMetric(WireModel):
    """A metric to compute, with its criterion. `threshold` is the older form of `criterion.threshold`; null: not decisive."""

    metric_name: str
    threshold: float | None = None
    criterion: SerializeAsAny[BaseCriterion] | None = None
    custom_function_path: str | None = None

    @property
    def effective_threshold(self) -> float:
        """Return the required score. Raises ValueError without a criterion and a threshold."""
        if self.criterion is not None:
            return self.criterion.threshold
        if self.threshold is None:
            raise ValueError(f"metric {self.metric_name!r} has neither a criterion nor a threshold")
        return self.threshold


class Interval(WireModel):
    """A range of values; a bound is included unless open."""

    min_value: float
    open_at_min: bool = False
    max_value: float
    open_at_max: bool = False


class MetricValueInfo(WireModel):
    """The range of a metric's values; null: unspecified (0 to 1; any number for a metric that does not decide)."""

    interval: Interval | None = None


class MetricInfo(WireModel):
    """The description of a metric, for lists of metrics."""

    metric_name: str
    description: str | None = None
    metric_value_info: MetricValueInfo
    requires_threshold: bool = True
