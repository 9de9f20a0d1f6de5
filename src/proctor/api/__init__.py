"""Everything the command line can do, from Python. The other doors go through here. Names load on first use."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proctor.api.baselines import (
        export_baseline,
        list_baselines,
        load_baseline,
        remove_baseline,
        set_baseline,
    )
    from proctor.api.blessing import Blessing, bless
    from proctor.api.calibrating import calibrate, calibrate_sync
    from proctor.api.checking import check_files
    from proctor.api.comparing import compare, compare_sync
    from proctor.api.estimating import estimate, estimate_sync
    from proctor.api.evaluating import evaluate, evaluate_matrix, evaluate_sync
    from proctor.api.exporting import export_run, export_to_adk
    from proctor.api.forms import AgentLike, ConfigLike, EvalSetLike, EvaluateOptions
    from proctor.api.generating import generate_scenarios, generate_scenarios_sync
    from proctor.api.importing_runs import import_run, import_runs
    from proctor.api.labelling import label_run
    from proctor.api.looking_back import history, history_sync
    from proctor.api.planning import plan, plan_sync
    from proctor.api.preparing import Prepared, prepare
    from proctor.api.reading import load_agent, load_config, load_eval_set
    from proctor.api.receiving_traces import receive_traces
    from proctor.api.rescoring import rescore, rescore_sync
    from proctor.api.resuming import resume, resume_sync
    from proctor.api.runs import list_runs, load_run, open_store, prune_runs
    from proctor.api.scoring import score, score_sync
    from proctor.api.traces import eval_set_of, score_trace, score_trace_sync

_WHERE = {
    "baselines": (
        "export_baseline",
        "list_baselines",
        "load_baseline",
        "remove_baseline",
        "set_baseline",
    ),
    "calibrating": ("calibrate", "calibrate_sync"),
    "checking": ("check_files",),
    "comparing": ("compare", "compare_sync"),
    "blessing": ("Blessing", "bless"),
    "estimating": ("estimate", "estimate_sync"),
    "evaluating": ("evaluate", "evaluate_matrix", "evaluate_sync"),
    "exporting": ("export_run", "export_to_adk"),
    "forms": ("AgentLike", "ConfigLike", "EvalSetLike", "EvaluateOptions"),
    "generating": ("generate_scenarios", "generate_scenarios_sync"),
    "importing_runs": ("import_run", "import_runs"),
    "labelling": ("label_run",),
    "looking_back": ("history", "history_sync"),
    "planning": ("plan", "plan_sync"),
    "preparing": ("Prepared", "prepare"),
    "reading": ("load_agent", "load_config", "load_eval_set"),
    "rescoring": ("rescore", "rescore_sync"),
    "resuming": ("resume", "resume_sync"),
    "runs": ("list_runs", "load_run", "open_store", "prune_runs"),
    "scoring": ("score", "score_sync"),
    "traces": ("eval_set_of", "score_trace", "score_trace_sync"),
    "receiving_traces": ("receive_traces",),
}
_MODULE_OF = {name: module for module, names in _WHERE.items() for name in names}

__all__ = [
    "AgentLike",
    "Blessing",
    "ConfigLike",
    "EvalSetLike",
    "EvaluateOptions",
    "Prepared",
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
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
