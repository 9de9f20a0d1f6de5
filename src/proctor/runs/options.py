"""The forms in which agents, sets, configs and options may come."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    from pydantic import ValidationError

    from proctor.engine.execution.progress import Progress
    from proctor.engine.execution.stop_request import StopRequest
    from proctor.schema.format.config import EvalConfig
    from proctor.schema.format.eval_set import EvalSet
    from proctor.stores.base import Store

AgentLike = Any
"""An AGENT string, or an object of any recognised kind: see `proctor.load_agent`."""

EvalSetLike: TypeAlias = "str | Path | EvalSet | Mapping[str, Any]"
"""A path or selector (`file.json:case_1,case_2`, a folder, the id of a set in the agent's folder), a set, or a dict."""

ConfigLike: TypeAlias = "str | Path | EvalConfig | Mapping[str, Any] | None"
"""A path, a config, a dict; `None` finds `test_config.json` beside the set or above it, else ADK's defaults."""


class EvaluateOptions(TypedDict, total=False):
    """The keyword arguments that `evaluate`, `evaluate_sync` and `evaluate_matrix` share."""

    config: ConfigLike
    default_config: Literal["adk-rs"] | None
    num_runs: int
    min_pass_rate: float | None
    pass_k: int | None
    confidence: float | None
    until_decided: bool
    against: str | None
    margin: float | None
    concurrency: int
    timeout: float | None
    trial_timeout: float | None
    metrics: Sequence[str] | None
    no_judge: bool
    limit: int | None
    tags: Sequence[str]
    only: Mapping[str, Sequence[str]] | None
    shard: str | None
    changed_since: str | None
    retry_errors: int
    fail_fast: bool
    max_failures: int | None
    max_tokens: int | None
    max_cost: float | None
    max_judge_calls: int | None
    max_time: float | None
    max_text: int
    max_events: int
    stop: StopRequest | None
    keep_going: bool
    allow_duplicate_ids: bool
    allow_unknown_keys: bool
    warnings_as_errors: bool
    allow_unasserted: bool
    compat: str | None
    agent_name: str | None
    isolate: bool
    isolate_memory: str | int | None
    setup: Callable[..., Any] | None
    teardown: Callable[..., Any] | None
    judge: Any
    user: Any
    store: str | Path | Store | None
    outputs: Mapping[str, Sequence[str]]
    keep_evidence: Literal["all", "failures"]
    explain: Literal["all", "failures"]
    progress: Progress | None


def lines_of(error: ValidationError) -> list[str]:
    """What a model says is wrong, one line each: the field, and what was expected."""
    return [f"{_place(one['loc'], one['type'])}: {one['msg']}" for one in error.errors()]


def _place(loc: Sequence[int | str], kind: str) -> str:
    """Where it is; what is missing has no spelling yet, and gets that of the files."""
    names = [*map(str, loc)]
    if kind == "missing" and names:
        names[-1] = re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", names[-1])
    return ".".join(names) or "document"
