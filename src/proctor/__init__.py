"""Proctor evaluates AI agents: it replays recorded conversations against any build and scores the result.

    result = proctor.evaluate_sync("my_agent", "cases.evalset.json")
    result.passed, result.outcome, result.cases[0].reason

Names load on first use, so that `import proctor` stays light. (For pytest: PYTEST_DONT_REWRITE, nothing here asserts.)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from proctor.common.renamed_modules import find_renamed_modules
from proctor.common.version import __version__

if TYPE_CHECKING:  # for type checkers and editors; at run time the table below has the module of each name
    from proctor import types as types
    from proctor.agents.base import (
        Agent as Agent,
        AgentInfo as AgentInfo,
        Session as Session,
    )
    from proctor.analysis.acceptance.accept_candidate import (
        accept_candidate as accept_candidate,
        accept_candidate_sync as accept_candidate_sync,
    )
    from proctor.analysis.acceptance.held_out_set import split as split
    from proctor.analysis.calibration.calibrate import (
        calibrate as calibrate,
        calibrate_sync as calibrate_sync,
    )
    from proctor.analysis.calibration.labels import label_run as label_run
    from proctor.analysis.compare.baselines import (
        export_baseline as export_baseline,
        list_baselines as list_baselines,
        load_baseline as load_baseline,
        remove_baseline as remove_baseline,
        set_baseline as set_baseline,
    )
    from proctor.analysis.compare.compare_runs import compare as compare, compare_sync as compare_sync
    from proctor.analysis.history.history import history as history, history_sync as history_sync
    from proctor.analysis.power.plan import plan as plan, plan_sync as plan_sync
    from proctor.authoring.audit.audit_sets import audit as audit, audit_sync as audit_sync
    from proctor.authoring.bless import bless as bless
    from proctor.authoring.generate_scenarios import (
        generate_scenarios as generate_scenarios,
        generate_scenarios_sync as generate_scenarios_sync,
    )
    from proctor.authoring.record import eval_set_of as eval_set_of
    from proctor.engine.execution.run_control import StopRequest as StopRequest
    from proctor.errors import (
        AgentError as AgentError,
        AgentLoadError as AgentLoadError,
        CriterionError as CriterionError,
        EvalError as EvalError,
        EvalFileError as EvalFileError,
        JudgeError as JudgeError,
        MetricError as MetricError,
        MissingExtraError as MissingExtraError,
        NoLooksLeftError as NoLooksLeftError,
        NothingToRunError as NothingToRunError,
        ProctorError as ProctorError,
        SettingsError as SettingsError,
        SetupError as SetupError,
        SetupProblems as SetupProblems,
        SimulatorError as SimulatorError,
        StoreError as StoreError,
        UnknownNameError as UnknownNameError,
    )
    from proctor.metrics.base import (
        CaseView as CaseView,
        Metric as Metric,
        MetricFacts as MetricFacts,
    )
    from proctor.metrics.custom.function_metric import metric as metric
    from proctor.models.base import (
        ChatModel as ChatModel,
        Message as Message,
        ModelError as ModelError,
        ModelOptions as ModelOptions,
        Reply as Reply,
    )
    from proctor.models.scripted import ScriptedModel as ScriptedModel
    from proctor.runs.estimate import estimate as estimate, estimate_sync as estimate_sync
    from proctor.runs.evaluate import (
        evaluate as evaluate,
        evaluate_matrix as evaluate_matrix,
        evaluate_sync as evaluate_sync,
    )
    from proctor.runs.importing.import_runs import import_run as import_run, import_runs as import_runs
    from proctor.runs.load import (
        load_agent as load_agent,
        load_config as load_config,
        load_eval_set as load_eval_set,
    )
    from proctor.runs.rescore import rescore as rescore, rescore_sync as rescore_sync
    from proctor.runs.resume import resume as resume, resume_sync as resume_sync
    from proctor.runs.score import score as score, score_sync as score_sync
    from proctor.runs.storage.export import export_run as export_run, export_to_adk as export_to_adk
    from proctor.runs.storage.open import open_store as open_store
    from proctor.runs.storage.queries import (
        list_runs as list_runs,
        load_run as load_run,
        prune_runs as prune_runs,
    )
    from proctor.runs.traces.receiver import receive_traces as receive_traces
    from proctor.runs.traces.score import score_trace as score_trace, score_trace_sync as score_trace_sync
    from proctor.schema import (
        AgentDetails as AgentDetails,
        AppDetails as AppDetails,
        BaseCriterion as BaseCriterion,
        Blob as Blob,
        CodeConfig as CodeConfig,
        Content as Content,
        ConversationScenario as ConversationScenario,
        ConversationScenarios as ConversationScenarios,
        CustomMetricConfig as CustomMetricConfig,
        EvalCase as EvalCase,
        EvalCaseResult as EvalCaseResult,
        EvalConfig as EvalConfig,
        EvalMetric as EvalMetric,
        EvalMetricResult as EvalMetricResult,
        EvalSet as EvalSet,
        EvalSetResult as EvalSetResult,
        EvalStatus as EvalStatus,
        FunctionCall as FunctionCall,
        FunctionResponse as FunctionResponse,
        HallucinationsCriterion as HallucinationsCriterion,
        IntermediateData as IntermediateData,
        Interval as Interval,
        Invocation as Invocation,
        InvocationEvent as InvocationEvent,
        InvocationEvents as InvocationEvents,
        JudgeModelOptions as JudgeModelOptions,
        LlmAsAJudgeCriterion as LlmAsAJudgeCriterion,
        MetricInfo as MetricInfo,
        MetricValueInfo as MetricValueInfo,
        Part as Part,
        PrebuiltMetrics as PrebuiltMetrics,
        Rubric as Rubric,
        RubricContent as RubricContent,
        RubricsBasedCriterion as RubricsBasedCriterion,
        RubricScore as RubricScore,
        SessionInput as SessionInput,
        ToolTrajectoryCriterion as ToolTrajectoryCriterion,
        UserBehavior as UserBehavior,
        UserPersona as UserPersona,
    )
    from proctor.schema.analysis.acceptance import Acceptance as Acceptance
    from proctor.schema.analysis.audit_result import (
        AuditResult as AuditResult,
        CaseAudit as CaseAudit,
        Fate as Fate,
        MutantFate as MutantFate,
        MutationScore as MutationScore,
        OperatorScore as OperatorScore,
        SetAudit as SetAudit,
    )
    from proctor.schema.analysis.calibration import HumanLabel as HumanLabel
    from proctor.schema.analysis.comparison import (
        CaseChange as CaseChange,
        Change as Change,
        ChangedCase as ChangedCase,
        Comparison as Comparison,
        Measured as Measured,
    )
    from proctor.schema.analysis.history import (
        CaseHistory as CaseHistory,
        CasePoint as CasePoint,
        ChangedBy as ChangedBy,
        Course as Course,
        RunChange as RunChange,
        RunHistory as RunHistory,
    )
    from proctor.schema.analysis.power_plan import (
        MeasureSize as MeasureSize,
        RunSize as RunSize,
        SizeRow as SizeRow,
    )
    from proctor.schema.evidence.event import Event as Event
    from proctor.schema.evidence.trial import Failure as Failure, FailureKind as FailureKind, Trial as Trial
    from proctor.schema.evidence.turn import Turn as Turn
    from proctor.schema.results.manifest import RunRecord as RunRecord, RunState as RunState
    from proctor.schema.results.run_result import (
        CaseResult as CaseResult,
        InvocationVerdict as InvocationVerdict,
        MetricVerdict as MetricVerdict,
        Outcome as Outcome,
        RunResult as RunResult,
        TrialResult as TrialResult,
    )
    from proctor.schema.results.score import (
        Explanation as Explanation,
        MetricScore as MetricScore,
        Score as Score,
    )


find_renamed_modules()

_WHERE = {
    "proctor.analysis.acceptance.accept_candidate": "accept_candidate accept_candidate_sync",
    "proctor.analysis.acceptance.held_out_set": "split",
    "proctor.analysis.calibration.calibrate": "calibrate calibrate_sync",
    "proctor.analysis.calibration.labels": "label_run",
    "proctor.analysis.compare.baselines": "export_baseline list_baselines load_baseline remove_baseline set_baseline",
    "proctor.analysis.compare.compare_runs": "compare compare_sync",
    "proctor.analysis.history.history": "history history_sync",
    "proctor.analysis.power.plan": "plan plan_sync",
    "proctor.authoring.audit.audit_sets": "audit audit_sync",
    "proctor.authoring.bless": "bless",
    "proctor.authoring.generate_scenarios": "generate_scenarios generate_scenarios_sync",
    "proctor.authoring.record": "eval_set_of",
    "proctor.runs.estimate": "estimate estimate_sync",
    "proctor.runs.evaluate": "evaluate evaluate_matrix evaluate_sync",
    "proctor.runs.importing.import_runs": "import_run import_runs",
    "proctor.runs.load": "load_agent load_config load_eval_set",
    "proctor.runs.rescore": "rescore rescore_sync",
    "proctor.runs.resume": "resume resume_sync",
    "proctor.runs.score": "score score_sync",
    "proctor.runs.storage.export": "export_run export_to_adk",
    "proctor.runs.storage.open": "open_store",
    "proctor.runs.storage.queries": "list_runs load_run prune_runs",
    "proctor.runs.traces.receiver": "receive_traces",
    "proctor.runs.traces.score": "score_trace score_trace_sync",
    "proctor.metrics.custom.function_metric": "metric",
    "proctor.metrics.base": "CaseView Metric MetricFacts",
    "proctor.agents.base": "Agent AgentInfo Session",
    "proctor.errors": (
        "ProctorError SetupError SetupProblems EvalFileError NothingToRunError UnknownNameError MissingExtraError AgentLoadError"
        " CriterionError SettingsError NoLooksLeftError StoreError EvalError AgentError MetricError JudgeError SimulatorError"
    ),
    "proctor.models.base": "ChatModel Message ModelError ModelOptions Reply",
    "proctor.models.scripted": "ScriptedModel",
    "proctor.engine.execution.run_control": "StopRequest",
    "proctor.schema.analysis.acceptance": "Acceptance",
    "proctor.schema.analysis.comparison": "CaseChange Change ChangedCase Comparison Measured",
    "proctor.schema.evidence.event": "Event",
    "proctor.schema.analysis.history": "CaseHistory CasePoint ChangedBy Course RunChange RunHistory",
    "proctor.schema.analysis.calibration": "HumanLabel",
    "proctor.schema.evidence.trial": "Trial Failure FailureKind",
    "proctor.schema.evidence.turn": "Turn",
    "proctor.schema.results.manifest": "RunRecord RunState",
    "proctor.schema.analysis.audit_result": "AuditResult CaseAudit Fate MutantFate MutationScore OperatorScore SetAudit",
    "proctor.schema.analysis.power_plan": "MeasureSize RunSize SizeRow",
    "proctor.schema.results.score": "Score MetricScore Explanation",
    "proctor.schema.results.run_result": "Outcome RunResult CaseResult TrialResult MetricVerdict InvocationVerdict",
    "proctor.schema.format.case": "EvalSet EvalCase SessionInput ConversationScenario ConversationScenarios",
    "proctor.schema.format.invocation": (
        "Invocation IntermediateData InvocationEvents InvocationEvent AppDetails AgentDetails"
    ),
    "proctor.schema.format.content": "Content Part FunctionCall FunctionResponse Blob",
    "proctor.schema.format.rubric": "Rubric RubricContent RubricScore",
    "proctor.schema.format.config": "EvalConfig CustomMetricConfig CodeConfig",
    "proctor.schema.format.criterion": (
        "PrebuiltMetrics BaseCriterion ToolTrajectoryCriterion LlmAsAJudgeCriterion RubricsBasedCriterion"
        " HallucinationsCriterion JudgeModelOptions EvalMetric MetricInfo Interval MetricValueInfo"
    ),
    "proctor.schema.format.persona": "UserPersona UserBehavior",
    "proctor.schema.format.result": "EvalStatus EvalMetricResult EvalCaseResult EvalSetResult",
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
