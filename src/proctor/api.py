"""The functions behind the command line, as a Python API. Each name loads on first use."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proctor.analysis.acceptance.accept_candidate import accept_candidate, accept_candidate_sync
    from proctor.analysis.acceptance.held_out_set import split
    from proctor.analysis.calibration.calibrate import calibrate, calibrate_sync
    from proctor.analysis.calibration.labels import label_run
    from proctor.analysis.compare.baselines import (
        export_baseline,
        list_baselines,
        load_baseline,
        remove_baseline,
        set_baseline,
    )
    from proctor.analysis.compare.compare_runs import compare, compare_sync
    from proctor.analysis.history.history import history, history_sync
    from proctor.analysis.power.plan import plan, plan_sync
    from proctor.authoring.audit.audit_sets import audit, audit_sync
    from proctor.authoring.bless import Blessing, bless
    from proctor.authoring.check_files import check_files
    from proctor.authoring.generate_scenarios import generate_scenarios, generate_scenarios_sync
    from proctor.authoring.record import eval_set_of
    from proctor.runs.arguments import AgentLike, ConfigLike, EvalSetLike, EvaluateOptions
    from proctor.runs.estimate import estimate, estimate_sync
    from proctor.runs.evaluate import evaluate, evaluate_matrix, evaluate_sync
    from proctor.runs.importing.import_runs import import_run, import_runs
    from proctor.runs.load import load_agent, load_config, load_eval_set
    from proctor.runs.rescore import rescore, rescore_sync
    from proctor.runs.resume import resume, resume_sync
    from proctor.runs.score import score, score_sync
    from proctor.runs.setup.prepare import Prepared, prepare
    from proctor.runs.storage.export import export_run, export_to_adk
    from proctor.runs.storage.open import open_store
    from proctor.runs.storage.queries import list_runs, load_run, prune_runs
    from proctor.runs.traces.receiver import receive_traces
    from proctor.runs.traces.score import score_trace, score_trace_sync

__path__: list[str] = []  # `common.renamed_modules` finds the modules that used to be below this name

_WHERE = {
    "proctor.analysis.acceptance.accept_candidate": ("accept_candidate", "accept_candidate_sync"),
    "proctor.analysis.acceptance.held_out_set": ("split",),
    "proctor.analysis.compare.baselines": (
        "export_baseline",
        "list_baselines",
        "load_baseline",
        "remove_baseline",
        "set_baseline",
    ),
    "proctor.analysis.calibration.calibrate": ("calibrate", "calibrate_sync"),
    "proctor.authoring.audit.audit_sets": ("audit", "audit_sync"),
    "proctor.authoring.check_files": ("check_files",),
    "proctor.analysis.compare.compare_runs": ("compare", "compare_sync"),
    "proctor.authoring.bless": ("Blessing", "bless"),
    "proctor.runs.estimate": ("estimate", "estimate_sync"),
    "proctor.runs.evaluate": ("evaluate", "evaluate_matrix", "evaluate_sync"),
    "proctor.runs.storage.export": ("export_run", "export_to_adk"),
    "proctor.runs.arguments": ("AgentLike", "ConfigLike", "EvalSetLike", "EvaluateOptions"),
    "proctor.authoring.generate_scenarios": ("generate_scenarios", "generate_scenarios_sync"),
    "proctor.runs.importing.import_runs": ("import_run", "import_runs"),
    "proctor.analysis.calibration.labels": ("label_run",),
    "proctor.analysis.history.history": ("history", "history_sync"),
    "proctor.analysis.power.plan": ("plan", "plan_sync"),
    "proctor.runs.setup.prepare": ("Prepared", "prepare"),
    "proctor.runs.load": ("load_agent", "load_config", "load_eval_set"),
    "proctor.runs.rescore": ("rescore", "rescore_sync"),
    "proctor.runs.resume": ("resume", "resume_sync"),
    "proctor.runs.storage.open": ("open_store",),
    "proctor.runs.storage.queries": ("list_runs", "load_run", "prune_runs"),
    "proctor.runs.score": ("score", "score_sync"),
    "proctor.authoring.record": ("eval_set_of",),
    "proctor.runs.traces.score": ("score_trace", "score_trace_sync"),
    "proctor.runs.traces.receiver": ("receive_traces",),
}
_MODULE_OF = {name: module for module, names in _WHERE.items() for name in names}

__all__ = [
    "AgentLike",
    "Blessing",
    "ConfigLike",
    "EvalSetLike",
    "EvaluateOptions",
    "Prepared",
    "accept_candidate",
    "accept_candidate_sync",
    "audit",
    "audit_sync",
    "bless",
    "calibrate",
    "calibrate_sync",
    "check_files",
    "compare",
    "compare_sync",
    "estimate",
    "estimate_sync",
    "eval_set_of",
    "evaluate",
    "evaluate_matrix",
    "evaluate_sync",
    "export_baseline",
    "export_run",
    "export_to_adk",
    "generate_scenarios",
    "generate_scenarios_sync",
    "history",
    "history_sync",
    "import_run",
    "import_runs",
    "label_run",
    "list_baselines",
    "list_runs",
    "load_agent",
    "load_baseline",
    "load_config",
    "load_eval_set",
    "load_run",
    "open_store",
    "plan",
    "plan_sync",
    "prepare",
    "prune_runs",
    "receive_traces",
    "remove_baseline",
    "rescore",
    "rescore_sync",
    "resume",
    "resume_sync",
    "score",
    "score_sync",
    "score_trace",
    "score_trace_sync",
    "set_baseline",
    "split",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)
