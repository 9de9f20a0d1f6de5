"""Which public name of Python is on which page of the reference, and in which group."""

Groups = dict[str, tuple[str, str]]
"""The module to import from, and the names, by heading."""

PAGES: dict[str, tuple[str, str, Groups]] = {
    "evaluate.md": (
        "Evaluate and score",
        (
            "How to call them: [Your agent in Python](../../how-to/agents/python.md), [re-score a run](../../how-to/runs.md#re-score-without-running), "
            "[score traces](../../how-to/traces.md)."
        ),
        {
            "Run an agent": ("proctor", "evaluate evaluate_sync evaluate_matrix StopRequest"),
            "Score recorded invocations": ("proctor", "score score_sync"),
            "Resume and re-score": ("proctor", "resume resume_sync rescore rescore_sync"),
            "Score traces": ("proctor", "score_trace score_trace_sync receive_traces"),
            "The trace receiver": ("proctor.runs.traces.receiver", "TraceReceiver"),
            "Load files and agents": ("proctor", "load_eval_set load_config load_agent"),
            "Estimate the cost": ("proctor", "estimate estimate_sync"),
            "The estimate": ("proctor.schema.results.model_usage", "Estimate"),
        },
    ),
    "results.md": (
        "Results",
        (
            '`bool()` of a result is its verdict: `assert result.cases[0].metrics["response_match_score"]` fails if the metric failed. '
            "This applies to runs, cases, trials, comparisons, verdicts, outcomes, and to the results of `score` and `evaluate_matrix`. "
            "`bool()` raises a `TypeError` if there is no verdict: for *not applicable*, for *informational*, and for a score, which only a criterion can "
            "judge. To test whether there is a value, compare with `None`: `metric.score is None`."
        ),
        {
            "Runs": ("proctor", "RunResult CaseResult TrialResult Outcome"),
            "Scores and verdicts": (
                "proctor",
                "MetricVerdict InvocationVerdict MetricScore Score Explanation Interval",
            ),
            "Evidence": ("proctor", "Trial Turn Failure FailureKind"),
            "Stored runs": ("proctor", "RunRecord RunState"),
        },
    ),
    "runs.md": (
        "Stored runs and comparisons",
        (
            "How to use them: [runs](../../how-to/runs.md), [compare two versions](../../how-to/compare.md), [history](../../how-to/history.md), "
            "[gate a search](../../how-to/gate-a-search.md), [calibrate a judge](../../how-to/calibration.md)."
        ),
        {
            "Read, export and delete runs": (
                "proctor",
                "list_runs load_run open_store prune_runs export_run export_to_adk import_run import_runs",
            ),
            "Compare": ("proctor", "compare compare_sync Comparison CaseChange Change ChangedCase Measured"),
            "Baselines": (
                "proctor",
                "set_baseline list_baselines load_baseline remove_baseline export_baseline",
            ),
            "Accept a candidate of a search": (
                "proctor",
                "split accept_candidate accept_candidate_sync Acceptance",
            ),
            "Plan the number of trials": ("proctor", "plan plan_sync RunSize MeasureSize SizeRow"),
            "History": (
                "proctor",
                "history history_sync RunHistory CaseHistory CasePoint Course RunChange ChangedBy",
            ),
            "Calibrate a judge": ("proctor", "calibrate calibrate_sync label_run HumanLabel"),
            "The calibration": ("proctor.schema.analysis.calibration", "CalibrationReport"),
        },
    ),
    "eval-sets.md": (
        "Write eval sets",
        "How to use them: [make eval sets](../../how-to/authoring.md), [test them](../../how-to/audit.md), [simulate users](../../how-to/simulate-users.md).",
        {
            "Accept behaviour": ("proctor", "bless"),
            "Test eval sets": ("proctor", "audit audit_sync"),
            "The audit": (
                "proctor",
                "AuditResult SetAudit CaseAudit MutantFate Fate MutationScore OperatorScore",
            ),
            "Edit a file": (
                "proctor.authoring.edit_eval_set",
                "create_eval_set new_case add_cases add_scenarios remove_cases",
            ),
            "Generate scenarios": ("proctor", "generate_scenarios generate_scenarios_sync"),
            "Generated scenarios": ("proctor.simulation.generate_scenarios", "Generated"),
            "From traces": ("proctor", "eval_set_of"),
            "Check files": ("proctor.authoring.check_files", "check_files"),
        },
    ),
    "agents.md": (
        "Agents",
        "How to write one: [Your agent in Python](../../how-to/agents/python.md).",
        {
            "The contract": ("proctor", "Agent Session AgentInfo Event"),
            "Conformance": (
                "proctor.conformance",
                "check_agent check_agent_sync AgentConformance Finding Fit Check CHECKS",
            ),
        },
    ),
    "metrics.md": (
        "Metrics and models",
        "How to write one: [Write a metric](../../how-to/write-a-metric.md).",
        {
            "Metrics": ("proctor", "metric Metric MetricFacts CaseView"),
            "Tests of metrics": ("proctor.testing", "check_metric sample_views"),
            "Models": ("proctor", "ChatModel Message ModelOptions Reply ModelError ScriptedModel"),
        },
    ),
    "format.md": (
        "Eval sets, configs and contents",
        (
            "The types of [the file format](../file-formats.md). Each reads and writes JSON: `EvalSet.model_validate(…)`, `.model_dump(…)`. "
            "`proctor.types` has the types of contents, too, under the names of `google.genai.types`."
        ),
        {
            "Eval sets": (
                "proctor",
                "EvalSet EvalCase Invocation IntermediateData InvocationEvents InvocationEvent SessionInput AppDetails AgentDetails",
            ),
            "Scenarios": (
                "proctor",
                "ConversationScenario ConversationScenarios UserPersona UserBehavior",
            ),
            "Configs": (
                "proctor",
                (
                    "EvalConfig BaseCriterion ToolTrajectoryCriterion LlmAsAJudgeCriterion RubricsBasedCriterion HallucinationsCriterion "
                    "JudgeModelOptions CustomMetricConfig CodeConfig Rubric RubricContent RubricScore PrebuiltMetrics EvalMetric MetricInfo "
                    "MetricValueInfo"
                ),
            ),
            "Results in google-adk's format": (
                "proctor",
                "EvalSetResult EvalCaseResult EvalMetricResult EvalStatus",
            ),
            "Contents": ("proctor", "Content Part FunctionCall FunctionResponse Blob"),
            "More types of contents": (
                "proctor.types",
                (
                    "CodeExecutionResult ExecutableCode FileData FunctionResponsePart GenerateContentConfig "
                    "GenerateContentResponseUsageMetadata PartialArg ThinkingConfig VideoMetadata"
                ),
            ),
        },
    ),
    "errors.md": (
        "Errors",
        (
            "All errors that Proctor raises on purpose are subclasses of `ProctorError`. A `SetupError` is a configuration error: you can fix it, and "
            "nothing was run. An `EvalError` is a failure of something under evaluation; it becomes data in a result."
        ),
        {
            "Configuration errors": (
                "proctor",
                (
                    "ProctorError SetupError SetupProblems EvalFileError NothingToRunError UnknownNameError MissingExtraError AgentLoadError "
                    "CriterionError SettingsError NoLooksLeftError StoreError"
                ),
            ),
            "Failures under evaluation": (
                "proctor",
                "EvalError AgentError MetricError JudgeError SimulatorError",
            ),
        },
    ),
}
"""File name -> title, introduction, and the groups of names."""
