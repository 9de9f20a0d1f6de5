"""Everything the command line can do, from Python. The other doors go through here."""

from proctor.api.evaluating import evaluate, evaluate_matrix, evaluate_sync
from proctor.api.forms import AgentLike, ConfigLike, EvalSetLike, EvaluateOptions
from proctor.api.preparing import Prepared, prepare
from proctor.api.reading import load_agent, load_config, load_eval_set
from proctor.api.runs import list_runs, load_run, open_store, prune_runs
from proctor.api.scoring import score, score_sync

__all__ = [
    "AgentLike",
    "ConfigLike",
    "EvalSetLike",
    "EvaluateOptions",
    "Prepared",
    "evaluate",
    "evaluate_matrix",
    "evaluate_sync",
    "list_runs",
    "load_agent",
    "load_config",
    "load_eval_set",
    "load_run",
    "open_store",
    "prepare",
    "prune_runs",
    "score",
    "score_sync",
]
