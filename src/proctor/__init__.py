"""Proctor evaluates AI agents: it replays recorded conversations against any build and judges what came of them.

    result = proctor.evaluate_sync("my_agent", "cases.evalset.json")
    result.passed, result.outcome, result.cases[0].reason

Names load on first use, so that `import proctor` stays light.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_WHERE = {
    "proctor.api": (
        "evaluate evaluate_sync evaluate_matrix score score_sync load_eval_set load_config load_agent"
    ),
    "proctor.metrics.custom": "metric",
    "proctor.metrics.base": "CaseView Metric MetricFacts",
    "proctor.agents.base": "Agent AgentInfo Session",
    "proctor.errors": (
        "ProctorError SetupError SetupProblems EvalFileError UnknownNameError MissingExtraError AgentLoadError"
        " CriterionError SettingsError EvalError AgentError MetricError JudgeError SimulatorError"
    ),
    "proctor.schema.event": "Event",
    "proctor.schema.trial": "Trial Turn Failure FailureKind",
    "proctor.schema.score": "Score MetricScore Explanation",
    "proctor.schema.verdict": "Outcome RunResult CaseResult TrialResult MetricVerdict InvocationVerdict",
    "proctor.schema": (
        "EvalSet EvalCase Invocation IntermediateData InvocationEvents InvocationEvent SessionInput AppDetails"
        " AgentDetails Content Part FunctionCall FunctionResponse Blob Rubric RubricContent RubricScore EvalConfig"
        " PrebuiltMetrics BaseCriterion ToolTrajectoryCriterion LlmAsAJudgeCriterion RubricsBasedCriterion"
        " HallucinationsCriterion JudgeModelOptions CustomMetricConfig CodeConfig EvalMetric MetricInfo Interval"
        " MetricValueInfo ConversationScenario ConversationScenarios UserPersona UserBehavior EvalStatus"
        " EvalMetricResult EvalCaseResult EvalSetResult"
    ),
}
_MODULE_OF = {name: module for module, names in _WHERE.items() for name in names.split()}

__all__ = ["__version__", "types", *sorted(_MODULE_OF)]  # noqa: PLE0604 - the list is the table above


def __getattr__(name: str) -> Any:
    if name == "types":  # stands in for `google.genai.types`
        return import_module("proctor.types")
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return __all__
