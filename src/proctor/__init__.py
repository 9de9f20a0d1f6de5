"""Proctor evaluates AI agents: it replays recorded conversations against any build and judges what came of them.

    result = proctor.evaluate_sync("my_agent", "cases.evalset.json")
    result.passed, result.outcome, result.cases[0].reason

Names load on first use, so that `import proctor` stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from proctor.version import __version__

if TYPE_CHECKING:  # what type checkers and editors see; at run time the table below says where each name is
    from proctor import types as types
    from proctor.agents.base import (
        Agent as Agent,
    )
    from proctor.agents.base import (
        AgentInfo as AgentInfo,
    )
    from proctor.agents.base import (
        Session as Session,
    )
    from proctor.api import (
        evaluate as evaluate,
    )
    from proctor.api import (
        evaluate_matrix as evaluate_matrix,
    )
    from proctor.api import (
        evaluate_sync as evaluate_sync,
    )
    from proctor.api import (
        export_run as export_run,
    )
    from proctor.api import (
        export_to_adk as export_to_adk,
    )
    from proctor.api import (
        import_run as import_run,
    )
    from proctor.api import (
        import_runs as import_runs,
    )
    from proctor.api import (
        list_runs as list_runs,
    )
    from proctor.api import (
        load_agent as load_agent,
    )
    from proctor.api import (
        load_config as load_config,
    )
    from proctor.api import (
        load_eval_set as load_eval_set,
    )
    from proctor.api import (
        load_run as load_run,
    )
    from proctor.api import (
        open_store as open_store,
    )
    from proctor.api import (
        prune_runs as prune_runs,
    )
    from proctor.api import (
        rescore as rescore,
    )
    from proctor.api import (
        rescore_sync as rescore_sync,
    )
    from proctor.api import (
        resume as resume,
    )
    from proctor.api import (
        resume_sync as resume_sync,
    )
    from proctor.api import (
        score as score,
    )
    from proctor.api import (
        score_sync as score_sync,
    )
    from proctor.engine.stopping import StopRequest as StopRequest
    from proctor.errors import (
        AgentError as AgentError,
    )
    from proctor.errors import (
        AgentLoadError as AgentLoadError,
    )
    from proctor.errors import (
        CriterionError as CriterionError,
    )
    from proctor.errors import (
        EvalError as EvalError,
    )
    from proctor.errors import (
        EvalFileError as EvalFileError,
    )
    from proctor.errors import (
        JudgeError as JudgeError,
    )
    from proctor.errors import (
        MetricError as MetricError,
    )
    from proctor.errors import (
        MissingExtraError as MissingExtraError,
    )
    from proctor.errors import (
        ProctorError as ProctorError,
    )
    from proctor.errors import (
        SettingsError as SettingsError,
    )
    from proctor.errors import (
        SetupError as SetupError,
    )
    from proctor.errors import (
        SetupProblems as SetupProblems,
    )
    from proctor.errors import (
        SimulatorError as SimulatorError,
    )
    from proctor.errors import (
        StoreError as StoreError,
    )
    from proctor.errors import (
        UnknownNameError as UnknownNameError,
    )
    from proctor.metrics.base import (
        CaseView as CaseView,
    )
    from proctor.metrics.base import (
        Metric as Metric,
    )
    from proctor.metrics.base import (
        MetricFacts as MetricFacts,
    )
    from proctor.metrics.custom import metric as metric
    from proctor.schema import (
        AgentDetails as AgentDetails,
    )
    from proctor.schema import (
        AppDetails as AppDetails,
    )
    from proctor.schema import (
        BaseCriterion as BaseCriterion,
    )
    from proctor.schema import (
        Blob as Blob,
    )
    from proctor.schema import (
        CodeConfig as CodeConfig,
    )
    from proctor.schema import (
        Content as Content,
    )
    from proctor.schema import (
        ConversationScenario as ConversationScenario,
    )
    from proctor.schema import (
        ConversationScenarios as ConversationScenarios,
    )
    from proctor.schema import (
        CustomMetricConfig as CustomMetricConfig,
    )
    from proctor.schema import (
        EvalCase as EvalCase,
    )
    from proctor.schema import (
        EvalCaseResult as EvalCaseResult,
    )
    from proctor.schema import (
        EvalConfig as EvalConfig,
    )
    from proctor.schema import (
        EvalMetric as EvalMetric,
    )
    from proctor.schema import (
        EvalMetricResult as EvalMetricResult,
    )
    from proctor.schema import (
        EvalSet as EvalSet,
    )
    from proctor.schema import (
        EvalSetResult as EvalSetResult,
    )
    from proctor.schema import (
        EvalStatus as EvalStatus,
    )
    from proctor.schema import (
        FunctionCall as FunctionCall,
    )
    from proctor.schema import (
        FunctionResponse as FunctionResponse,
    )
    from proctor.schema import (
        HallucinationsCriterion as HallucinationsCriterion,
    )
    from proctor.schema import (
        IntermediateData as IntermediateData,
    )
    from proctor.schema import (
        Interval as Interval,
    )
    from proctor.schema import (
        Invocation as Invocation,
    )
    from proctor.schema import (
        InvocationEvent as InvocationEvent,
    )
    from proctor.schema import (
        InvocationEvents as InvocationEvents,
    )
    from proctor.schema import (
        JudgeModelOptions as JudgeModelOptions,
    )
    from proctor.schema import (
        LlmAsAJudgeCriterion as LlmAsAJudgeCriterion,
    )
    from proctor.schema import (
        MetricInfo as MetricInfo,
    )
    from proctor.schema import (
        MetricValueInfo as MetricValueInfo,
    )
    from proctor.schema import (
        Part as Part,
    )
    from proctor.schema import (
        PrebuiltMetrics as PrebuiltMetrics,
    )
    from proctor.schema import (
        Rubric as Rubric,
    )
    from proctor.schema import (
        RubricContent as RubricContent,
    )
    from proctor.schema import (
        RubricsBasedCriterion as RubricsBasedCriterion,
    )
    from proctor.schema import (
        RubricScore as RubricScore,
    )
    from proctor.schema import (
        SessionInput as SessionInput,
    )
    from proctor.schema import (
        ToolTrajectoryCriterion as ToolTrajectoryCriterion,
    )
    from proctor.schema import (
        UserBehavior as UserBehavior,
    )
    from proctor.schema import (
        UserPersona as UserPersona,
    )
    from proctor.schema.event import Event as Event
    from proctor.schema.run import RunRecord as RunRecord
    from proctor.schema.run import RunState as RunState
    from proctor.schema.score import (
        Explanation as Explanation,
    )
    from proctor.schema.score import (
        MetricScore as MetricScore,
    )
    from proctor.schema.score import (
        Score as Score,
    )
    from proctor.schema.trial import (
        Failure as Failure,
    )
    from proctor.schema.trial import (
        FailureKind as FailureKind,
    )
    from proctor.schema.trial import (
        Trial as Trial,
    )
    from proctor.schema.trial import (
        Turn as Turn,
    )
    from proctor.schema.verdict import (
        CaseResult as CaseResult,
    )
    from proctor.schema.verdict import (
        InvocationVerdict as InvocationVerdict,
    )
    from proctor.schema.verdict import (
        MetricVerdict as MetricVerdict,
    )
    from proctor.schema.verdict import (
        Outcome as Outcome,
    )
    from proctor.schema.verdict import (
        RunResult as RunResult,
    )
    from proctor.schema.verdict import (
        TrialResult as TrialResult,
    )


_WHERE = {
    "proctor.api": (
        "evaluate evaluate_sync evaluate_matrix score score_sync load_eval_set load_config load_agent"
        " export_run export_to_adk import_run import_runs list_runs load_run open_store prune_runs"
        " rescore rescore_sync resume resume_sync"
    ),
    "proctor.metrics.custom": "metric",
    "proctor.metrics.base": "CaseView Metric MetricFacts",
    "proctor.agents.base": "Agent AgentInfo Session",
    "proctor.errors": (
        "ProctorError SetupError SetupProblems EvalFileError UnknownNameError MissingExtraError AgentLoadError"
        " CriterionError SettingsError StoreError EvalError AgentError MetricError JudgeError SimulatorError"
    ),
    "proctor.engine.stopping": "StopRequest",
    "proctor.schema.event": "Event",
    "proctor.schema.trial": "Trial Turn Failure FailureKind",
    "proctor.schema.run": "RunRecord RunState",
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
