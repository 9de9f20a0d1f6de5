"""What a plan's sets and metrics were, as a run's manifest keeps it."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from proctor.common.code_identity import identify
from proctor.common.prompts import Prompt, read_prompt
from proctor.engine.planning.bound_metric import BoundMetric
from proctor.engine.planning.plan import Plan
from proctor.engine.planning.set_plan import SetPlan
from proctor.schema.results.manifest import (
    UNKNOWN_MODULES,
    JudgedSet,
    Judging,
    MetricManifest,
    PlannedCase,
    SetManifest,
)
from proctor.schema.results.run_result import SetSummary
from proctor.schema.serialize import content_hash


def set_manifests(plan: Plan, unreadable: Sequence[SetSummary] = ()) -> list[SetManifest]:
    """Return what is run of each set, and then the sets that could not be.

    The hash of a set is over the hashes of its chosen cases, in order.
    """
    run = [
        SetManifest(
            eval_set_id=chosen.summary.eval_set_id,
            path=chosen.summary.path,
            content_hash=content_hash(bytes(chosen.hashes)),
            cases=len(chosen.cases),
            num_runs=chosen.num_runs,
        )
        for chosen in plan.sets
    ]
    return run + [
        SetManifest(eval_set_id=one.eval_set_id, path=one.path, failure=one.failure) for one in unreadable
    ]


def planned_cases(plan: Plan) -> Iterator[PlannedCase]:
    """Return the cases of a plan that takes their hashes, in order."""
    position = 0
    for chosen in plan.sets:
        ids = chosen.source.ids()
        for ordinal, index in enumerate(chosen.cases):
            where = chosen.source.where(index)
            set_id, hashed = chosen.summary.eval_set_id, chosen.content_hash(ordinal)
            yield PlannedCase(position, set_id, ids[index], hashed, where)
            position += 1


def judging_of(plan: Plan, unreadable: Sequence[SetSummary] = (), *, created_at: float) -> Judging:
    """Return how the sets of a plan are judged; those that could not be run are in it, too, as not judged."""
    sets = [judged_set(chosen) for chosen in plan.sets]
    sets += [JudgedSet(eval_set_id=one.eval_set_id, config_source=one.config_source) for one in unreadable]
    return Judging(created_at=created_at, sets=sets)


def judged_set(chosen: SetPlan) -> JudgedSet:
    """Return how one set is judged: its config and its metrics."""
    config = chosen.config.model_dump(mode="json", exclude_none=True)
    modules = {bound.name: _modules_of(bound.metric) for bound in chosen.metrics}
    return JudgedSet(
        eval_set_id=chosen.summary.eval_set_id,
        config_source=chosen.summary.config_source,
        config=config,
        config_hash=_hash_of(config),
        metrics=[_metric(bound, chosen, _with_parts(bound, modules)) for bound in chosen.metrics],
        skipped_metrics=chosen.summary.skipped_metrics,
    )


def _metric(bound: BoundMetric, chosen: SetPlan, modules: str) -> MetricManifest:
    criterion = chosen.config.criterion_for(bound.name)
    code = _code_of(bound.metric)
    definition = {
        "name": bound.name,
        "criterion": criterion.model_dump(mode="json", exclude_none=True) if criterion else None,
        "code": code,
    }
    prompts = prompts_of(bound.metric) if bound.judge else {}
    if bound.judge:
        definition |= {"judge": bound.judge, "prompts": prompts}
    return MetricManifest(
        name=bound.name,
        definition=_hash_of(definition),
        code=_hash_of(code),
        modules=modules,
        threshold=bound.threshold,
        gate=bound.gate,
        judge=bound.judge,
        judge_code=bound.judge_code,
        prompts=prompts,
    )


FORMER_MODULES = {
    "proctor.metrics.judged.rubrics.final_response": "proctor.metrics.judged.rubric_final_response",
    "proctor.metrics.judged.rubrics.tool_use": "proctor.metrics.judged.rubric_tool_use",
    "proctor.metrics.judged.rubrics.trajectory": "proctor.metrics.judged.rubric_trajectory",
    "proctor.metrics.text.json.json_equal": "proctor.metrics.text.json_equal",
    "proctor.metrics.text.numeric.numeric_match": "proctor.metrics.text.numeric_match",
    "proctor.metrics.text.regex.regex_match": "proctor.metrics.text.regex_match",
    "proctor.metrics.text.response_match": "proctor.metrics.response_match",
    "proctor.metrics.trajectory.agentevals_relations": "proctor.metrics.trajectories.relations",
    "proctor.metrics.trajectory.classic": "proctor.metrics.trajectories.classic",
    "proctor.metrics.trajectory.node_path": "proctor.metrics.trajectories.node_path",
    "proctor.metrics.trajectory.single_tool_use": "proctor.metrics.trajectories.single_tool_use",
    "proctor.metrics.trajectory.strict": "proctor.metrics.trajectories.strict",
    "proctor.metrics.trajectory.tool_trajectory": "proctor.metrics.tool_trajectory",
}
"""Modules of metrics by the names that manifests of stores and baselines have: a metric whose module moved has not changed."""


def _code_of(metric: Any) -> str:
    """The name of a metric's code; of a user's own function or class, with the hash of its source."""
    code = getattr(metric, "function", type(metric))
    module = FORMER_MODULES.get(code.__module__, code.__module__)
    name = f"{module}.{getattr(code, '__qualname__', '')}"
    if name.startswith("proctor."):
        return name  # it changes with the version of proctor, which the manifest has
    try:
        return f"{name} {content_hash(inspect.getsource(code).encode())}"
    except (OSError, TypeError):
        return name


def _modules_of(metric: Any) -> str:
    """Return the hash of what a custom metric is made of (see `MetricManifest.modules`); empty for a built-in one."""
    code = getattr(metric, "function", type(metric))
    if str(getattr(code, "__module__", "")).startswith("proctor."):
        return ""
    identity = identify(code)
    return _hash_of([identity.held, identity.modules]) if identity.is_complete else UNKNOWN_MODULES


def _with_parts(bound: BoundMetric, modules: Mapping[str, str]) -> str:
    """Return the modules of a metric and of those that it weights."""
    parts: Iterable[str] = getattr(getattr(bound.metric, "criterion", None), "weights", None) or ()
    found = [modules[bound.name], *(modules.get(name, "") for name in parts)]
    known = list(filter(None, found))
    return (
        UNKNOWN_MODULES if UNKNOWN_MODULES in known else _hash_of(known) if len(known) > 1 else "".join(known)
    )


def _hash_of(value: Any) -> str:
    return content_hash(json.dumps(value, sort_keys=True, ensure_ascii=True, default=str).encode())


def prompts_of(metric: Any) -> dict[str, str]:
    """Return the hashes of the prompts that a metric holds, and of the instructions of every judge."""
    held = [
        one
        for value in getattr(metric, "__dict__", {}).values()
        for one in _several(value)
        if isinstance(one, Prompt)
    ]
    return {prompt.name: prompt.hash for prompt in [*held, read_prompt("proctor.judges", "instructions.md")]}


def _several(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else [value]
