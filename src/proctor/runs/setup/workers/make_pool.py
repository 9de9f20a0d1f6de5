"""Make the workers of a run from its options, and compare what they report with this process."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

from proctor.agents.load import agent_folder, describe_ref, read_env_file
from proctor.agents.process.worker_agent import PATH_VARIABLE, reference_of
from proctor.common.error_text import safe_repr
from proctor.engine.execution.worker_engine import Admission, Engine, Facts
from proctor.engine.execution.workers import WorkerPool
from proctor.engine.run_options import RunOptions
from proctor.engine.trial.conversation import HOOKS
from proctor.errors import AgentLoadError, SetupError
from proctor.runs.setup.judge_and_user import AN_OBJECT, function_reference
from proctor.runs.setup.manifest import versions
from proctor.runs.setup.workers.processes import ProcessEngine
from proctor.runs.setup.workers.trial_server import OPTIONS, code_facts
from proctor.schema.results.manifest import DEFAULT_WORKERS

_STEPS = 4
"""Steps of a trial besides its turns that have the time of a turn: set-up, begin, final state, tear-down."""


def worker_pool(ref: object, options: RunOptions) -> WorkerPool:
    """Return the workers on which the trials of the agent `ref` run.

    Raises:
        AgentLoadError: no AGENT string names the agent, so that no other process can load it.
        SetupError: a hook has no name, or the engine is not installed.
    """
    if PATH_VARIABLE in os.environ:
        raise AgentLoadError(
            f"The agent {describe_ref(ref)} is loaded in a worker, and its module starts a run when it is "
            "imported; put that under: if __name__ == '__main__'."
        )
    reference = reference_of(ref)
    folder = agent_folder(reference)
    if folder is not None:
        read_env_file(folder)  # for judges and metrics, which run in this process
    job: dict[str, Any] = {name: getattr(options, name) for name in OPTIONS}
    job |= {"agent": reference, "env": list(options.env), **_hooks(options)}
    workers = options.workers or DEFAULT_WORKERS
    per_worker = options.per_worker or -(-options.concurrency // workers)
    own = cache(
        lambda: {**code_facts(reference), "versions": versions()}
    )  # of the start: files may change meanwhile
    return WorkerPool(
        _engine(options, per_worker),
        job,
        workers,
        per_worker,
        compare=lambda facts: list(worker_differences(own(), facts)),
        seconds=_seconds(options),
        admission=Admission(options.max_pending, options.ramp),
    )


def _engine(options: RunOptions, per_worker: int) -> Engine:
    if options.on == "processes":
        return ProcessEngine()
    from proctor.runs.setup.workers.ray_cluster import RayEngine

    return RayEngine(str(options.on), per_worker, cpus=options.worker_cpu or 1)


def _hooks(options: RunOptions) -> dict[str, str]:
    """Return the names of the hooks, by which workers load them."""
    names = {}
    for option in HOOKS:
        hook = getattr(options, option)
        if hook is None:
            continue
        names[option] = function_reference(hook)
        if names[option] == AN_OBJECT:
            raise SetupError(
                f"{option}: workers (--on) cannot load {safe_repr(hook)}: no name in a module leads to it. Put it at the top "
                "of a module, and name it module:function"
            )
    return names


def _seconds(options: RunOptions) -> Callable[[int], float | None]:
    """Return the function from the turns of a trial to the sum of its deadlines."""
    attempts, turn, trial = options.retry_errors + 1, options.timeout, options.trial_timeout

    def seconds(turns: int) -> float | None:
        if turn is None:
            return None
        talking = turn * turns if trial is None else trial
        return attempts * (talking + _STEPS * turn)

    return seconds


def worker_differences(own: Facts, workers: Sequence[tuple[str, Facts]]) -> Iterator[str]:
    """Yield a sentence for each difference between this process and a worker, or between two workers."""
    first, first_facts = workers[0]
    known_there = {
        package: version
        for package, version in first_facts["versions"].items()
        if package not in own["versions"]
    }
    for name, facts in workers:
        yield from _other_versions(name, "this process", own["versions"], facts["versions"])
        for key, what in (("source_hash", "the source of the agent"), ("modules", "a module of the agent")):
            if own[key] is not None and own[key] != facts[key]:
                yield f"{name}: {what} differs from this process{_different_modules(own[key], facts[key])}"
        yield from _other_versions(name, first, known_there, facts["versions"])
        if facts["info"] != first_facts["info"]:
            yield f"{name}: the agent describes itself differently from {first} (instructions or tools)"


def _other_versions(name: str, other: str, before: Facts, now: Facts) -> Iterator[str]:
    for package in sorted(before.keys() & now.keys()):
        if before[package] != now[package]:
            yield f"{name} has {package} {now[package]}, and {other} has {before[package]}"


def _different_modules(own: Any, there: Any) -> str:
    """Return the names of the modules that differ."""
    if not isinstance(own, dict):
        return ""
    names = sorted({name for name, _ in own.items() ^ (there or {}).items()})
    return f": {', '.join(names)}"
