"""The config of an eval set: the document in `test_config.json`."""

import re
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PlainValidator,
    SerializeAsAny,
    StrictBool,
    Tag,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from proctor.schema.evidence.simulated_user import FaultKind
from proctor.schema.format.content import GenerateContentConfig, ThinkingConfig
from proctor.schema.format.criterion import (
    EFFICIENCY_METRICS,
    BaseCriterion,
    EvalMetric,
    MetricInfo,
    PrebuiltMetrics,
)
from proctor.schema.format.wire_model import WireModel
from proctor.schema.results.score import TrialRule

DEFAULT_CRITERIA: dict[str, float] = {
    PrebuiltMetrics.TOOL_TRAJECTORY_AVG_SCORE.value: 1.0,
    PrebuiltMetrics.RESPONSE_MATCH_SCORE.value: 0.8,
}
"""The criteria if there is no config."""


def _read_criterion(value: Any) -> float | BaseCriterion:
    if isinstance(value, BaseCriterion):
        return value
    if isinstance(value, dict | BaseModel):  # a model of another library has the same fields
        return BaseCriterion.model_validate(value)
    if isinstance(value, int | float | str):
        return _read_threshold(value)
    raise PydanticCustomError("criterion", "expected a number (the threshold) or an object with `threshold`")


def _read_threshold(value: float | str) -> float:
    # through the model, so that a bare number and a stated `threshold` accept and refuse the same
    try:
        return BaseCriterion.model_validate({"threshold": value}).threshold
    except ValueError:
        raise PydanticCustomError(
            "threshold",
            "expected a number (the threshold) or an object with `threshold`, got {value}",
            {"value": repr(value)},
        ) from None


Criterion = Annotated[
    float | SerializeAsAny[BaseCriterion],
    PlainValidator(_read_criterion, json_schema_input_type=float | BaseCriterion),
]


class CodeConfig(WireModel):
    """The location of a custom metric's code: `name` is its dotted path. Other keys are rejected, not ignored."""

    model_config = ConfigDict(extra="forbid")

    name: str


class CustomMetricConfig(WireModel):
    """A custom metric."""

    code_config: CodeConfig
    metric_info: MetricInfo | None = None
    description: str = ""


class LiveModelConfig(WireModel):
    """Bidirectional streaming; its presence turns that mode on."""

    timeout_seconds: int = 300


def _thinking() -> GenerateContentConfig:
    return GenerateContentConfig(thinking_config=ThinkingConfig(include_thoughts=True, thinking_budget=10240))


_NEEDED_PLACEHOLDERS = ("stop_signal", "conversation_plan", "conversation_history")


class LlmBackedUserSimulatorConfig(WireModel):
    """The config of an LLM-backed user simulator.

    `max_allowed_invocations`: the maximum number of turns, including the starting prompt; negative: no limit.
    `custom_instructions`: a Jinja template that must use `stop_signal`, `conversation_plan` and `conversation_history`.
    `faults` (an extension of Proctor's; other readers preserve it): the faults of the simulated user that make a trial a
    simulator error: all, unless it is false, or an object sets some kinds to false.
    """

    type: Literal["llm_backed"] = "llm_backed"
    model: str = "gemini-2.5-flash"
    model_configuration: GenerateContentConfig = Field(default_factory=_thinking)
    max_allowed_invocations: int = 20
    custom_instructions: str | None = None
    include_function_calls: bool = False
    faults: bool | dict[str, bool] | None = Field(default=None, exclude_if=lambda value: value is None)

    def counts(self, kind: FaultKind) -> bool:
        """Return whether a fault of this kind makes the trial a simulator error."""
        if isinstance(self.faults, dict):
            return self.faults.get(kind.value, True)
        return self.faults is not False

    @field_validator("faults", mode="before")
    @classmethod
    def _names_faults(cls, faults: Any) -> Any:
        """Accept only `false` as false: a fault must be excluded explicitly."""
        switches = [*faults.values()] if isinstance(faults, dict) else [] if faults is None else [faults]
        if not all(isinstance(switch, bool) for switch in switches):
            raise PydanticCustomError(
                "faults",
                "expected true, false, or an object from kinds of faults to true or false, got {got}",
                {"got": repr(faults)},
            )
        kinds = [kind.value for kind in FaultKind if kind is not FaultKind.NO_MESSAGE]
        unknown = [name for name in (faults if isinstance(faults, dict) else ()) if name not in kinds]
        if unknown:
            raise PydanticCustomError(
                "faults",
                "expected true, false, or an object from kinds of faults to true or false; there is no kind {unknown} (kinds: {kinds})",
                {"unknown": ", ".join(map(repr, unknown)), "kinds": ", ".join(kinds)},
            )
        return faults

    @field_validator("custom_instructions")
    @classmethod
    def _uses_placeholders(cls, text: str | None) -> str | None:
        missing = [
            name
            for name in _NEEDED_PLACEHOLDERS
            if text is not None and not re.search(r"\{\{[^{}]*\b" + name + r"\b[^{}]*\}\}", text)
        ]
        if missing:
            raise PydanticCustomError(
                "custom_instructions",
                "expected a template that uses {missing}",
                {"missing": ", ".join(f"{{{{ {name} }}}}" for name in missing)},
            )
        return text


def _default_voice() -> GenerateContentConfig:
    return GenerateContentConfig.model_validate(
        {"speech_config": {"voice_config": {"prebuilt_voice_config": {"voice_name": "en-US-Studio-O"}}}}
    )


class LlmAudioUserSimulatorConfig(LlmBackedUserSimulatorConfig):
    """The config of a user simulator that speaks."""

    type: Literal["llm_audio"] = "llm_audio"  # type: ignore[assignment]  # narrows the literal of the class above
    audio_model: str = "cloud_tts"
    audio_model_configuration: GenerateContentConfig = Field(default_factory=_default_voice)
    include_text_with_audio: bool = True


def _no_truth_value(value: Any) -> Any:
    if isinstance(value, bool):
        raise PydanticCustomError("number", "expected a number")
    return value


def _share(value: float) -> float:
    if value <= 0:
        raise PydanticCustomError("share", "expected a share above 0: what is asked for could never fail")
    if value > 1:
        raise PydanticCustomError(
            "share", "expected a share of at most 1, such as 0.9: more could never pass"
        )
    return value


def _confidence(value: float) -> float:
    if not 0 < value < 1:
        raise PydanticCustomError("confidence", "expected null or a number between 0 and 1, such as 0.95")
    return value


_Count = Annotated[int, BeforeValidator(_no_truth_value), Field(ge=1, le=1_000_000)]


class TrialsConfig(WireModel):
    """The number of trials of each case, and the required pass rate. An extension of Proctor's; ADK ignores it.

    `num_runs`: trials of each case, at most 1,000,000; `None`: the run's option, else 1.
    `min_pass_rate`: the required pass rate, above 0 and up to 1; `None`: 1 if `pass_k` is given.
    `pass_k`: `min_pass_rate` applies to the probability that this many trials all pass, instead of the pass rate.
    `confidence`: `None`: the pass rate itself decides; a number: its Wilson interval at this confidence decides.
    `until_decided`: trials are added until the verdict is known, up to `num_runs`, at the same confidence.

    Without any of the last three, every metric's mean over the trials decides, as without `trials`.
    """

    num_runs: _Count | None = None
    min_pass_rate: Annotated[float, BeforeValidator(_no_truth_value), AfterValidator(_share)] | None = None
    pass_k: _Count | None = None
    confidence: Annotated[float, BeforeValidator(_no_truth_value), AfterValidator(_confidence)] | None = None
    until_decided: StrictBool | None = Field(default=None, exclude_if=lambda value: value is None)

    @model_validator(mode="after")
    def _can_decide(self) -> Self:
        if self.confidence is not None and self.min_pass_rate in (None, 1):
            raise PydanticCustomError(
                "confidence",
                "expected a `min_pass_rate` below 1 with `confidence`, got {rate}: no number of trials shows that all would pass",
                {"rate": "none" if self.min_pass_rate is None else "1"},
            )
        if self.until_decided and self.confidence is None:
            raise PydanticCustomError(
                "until_decided",
                "expected a `min_pass_rate` and a `confidence` in addition to `until_decided`: what is to be decided, and how surely "
                "(or a run to be compared with: --against RUN)",
            )
        if self.confidence is None and self.num_runs and self.pass_k and self.pass_k > self.num_runs:
            raise PydanticCustomError(
                "pass_k",
                "expected a `pass_k` of at most `num_runs` ({num_runs}), got {k}: it needs that many trials",
                {"num_runs": self.num_runs, "k": self.pass_k},
            )
        return self

    @property
    def rule(self) -> TrialRule | None:
        """Return the required pass rate; `None`: none is stated."""
        if self.min_pass_rate is None and self.pass_k is None and self.confidence is None:
            return None
        rate = 1.0 if self.min_pass_rate is None else self.min_pass_rate
        return TrialRule(rate, self.pass_k or 1, self.confidence)

    def rule_for(self, num_runs: int) -> TrialRule | None:
        """Return the rule for a case with `num_runs` trials, or with up to as many if they are added until a decision."""
        rule = self.rule
        if rule is None or not self.until_decided:
            return rule
        return TrialRule(rule.min_pass_rate, rule.pass_k, rule.confidence, num_runs)


def _simulator_kind(value: Any) -> str | None:
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return kind or "llm_backed"


UserSimulatorConfig = Annotated[
    Annotated[LlmBackedUserSimulatorConfig, Tag("llm_backed")]
    | Annotated[LlmAudioUserSimulatorConfig, Tag("llm_audio")],
    Discriminator(
        _simulator_kind,
        custom_error_type="user_simulator_type",
        custom_error_message="expected `type` to be llm_backed or llm_audio",
    ),
]


def _drop_null_type(value: Any) -> Any:
    if isinstance(value, dict) and value.get("type", "") is None:
        return {key: item for key, item in value.items() if key != "type"}
    return value


class EvalConfig(WireModel):
    """The metrics, with the required score of each: a number (the threshold) or a criterion with options.

    A document without `criteria` scores nothing; the defaults (`DEFAULT_CRITERIA`) apply if there is no document.
    Unknown keys are preserved.
    """

    criteria: dict[str, Criterion] = {}
    custom_metrics: dict[str, CustomMetricConfig] | None = None
    user_simulator_config: Annotated[UserSimulatorConfig | None, BeforeValidator(_drop_null_type)] = None
    live_model_config: LiveModelConfig | None = None
    trials: TrialsConfig | None = None

    @property
    def rule(self) -> TrialRule | None:
        """Return the required pass rate of a case; `None`: every metric's mean over its trials decides."""
        return self.trials.rule if self.trials is not None else None

    def rule_for(self, num_runs: int) -> TrialRule | None:
        """Return the rule for a case with `num_runs` trials; see `TrialsConfig.rule_for`."""
        return self.trials.rule_for(num_runs) if self.trials is not None else None

    @classmethod
    def default(cls) -> "EvalConfig":
        """Return the config that applies without a document: exact trajectory 1.0 and response match 0.8."""
        return cls(criteria=dict(DEFAULT_CRITERIA))

    def criterion_for(self, metric_name: str) -> BaseCriterion | None:
        """Return the criterion of a metric, also if the config has a bare number; None: it is not in the config."""
        value = self.criteria.get(metric_name)
        return BaseCriterion(threshold=value) if isinstance(value, int | float) else value

    def eval_metrics(self) -> list[EvalMetric]:
        """Return the metrics to compute: the criteria in order, then the remaining efficiency metrics."""
        metrics = [self._eval_metric(name) for name in self.criteria]
        return metrics + [
            EvalMetric(metric_name=name.value)
            for name in EFFICIENCY_METRICS
            if name.value not in self.criteria
        ]

    def _eval_metric(self, name: str) -> EvalMetric:
        criterion = self.criterion_for(name)
        custom = (self.custom_metrics or {}).get(name)
        return EvalMetric(
            metric_name=name,
            threshold=criterion.threshold if criterion is not None else None,
            criterion=criterion,
            custom_function_path=custom.code_config.name if custom else None,
        )
