"""The wire models: the data of files in the eval-set format. Names load on first use."""

from importlib import import_module
from typing import Any

_WHERE = {
    "format.wire_model": "PathError UnknownKeys WireModel plain_data unknown_keys",
    "format.content": (
        "Blob CodeExecutionResult Content ExecutableCode FileData FunctionCall FunctionResponse FunctionResponseBlob"
        " FunctionResponseFileData FunctionResponsePart GenerateContentConfig GenerateContentResponseUsageMetadata"
        " ModalityTokenCount Part PartialArg ThinkingConfig UsageMetadata VideoMetadata text_content text_of"
    ),
    "format.rubric": "Rubric RubricContent RubricScore",
    "format.invocation": (
        "AgentDetails AppDetails GroundingChunk GroundingChunkWeb GroundingMetadata GroundingSupport IntermediateData"
        " Invocation InvocationEvent InvocationEvents RetrievalMetadata SearchEntryPoint Segment tool_calls_of"
        " tool_responses_of"
    ),
    "format.persona": "UnknownPersonaError UserBehavior UserPersona find_persona persona_ids register_persona",
    "format.case": (
        "ConversationGenerationConfig ConversationScenario ConversationScenarios EvalCase EvalSet SessionDetails"
        " SessionInput"
    ),
    "format.criterion": (
        "BaseCriterion EvalMetric HallucinationsCriterion Interval JudgeModelOptions LlmAsAJudgeCriterion"
        " LlmBackedUserSimulatorCriterion MetricInfo MetricValueInfo PrebuiltMetrics RubricsBasedCriterion"
        " ToolTrajectoryCriterion"
    ),
    "format.config": (
        "CodeConfig CustomMetricConfig EvalConfig LiveModelConfig LlmAudioUserSimulatorConfig"
        " LlmBackedUserSimulatorConfig TrialsConfig"
    ),
    "results.case_result": "Repeats",
    "results.score": "TrialRule",
    "format.result": (
        "DurationDetails EvalCaseResult EvalMetricResult EvalMetricResultDetails EvalMetricResultPerInvocation"
        " EvalSetResult EvalStatus InferenceStatus TokenUsageDetails"
    ),
    "format.legacy": "convert_cases convert_turns",
    "serialize": "to_adk_json",
}
_MODULE_OF = {name: module for module, names in _WHERE.items() for name in names.split()}

__all__ = sorted(_MODULE_OF)  # noqa: PLE0605 - the list is the table above


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return __all__
