"""The manifest of a run: agent, source code, options, versions, the eval sets, and how they are scored."""

from __future__ import annotations

import inspect
import platform
import secrets
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import chain
from math import inf
from os.path import relpath
from pathlib import Path
from typing import Any

import pydantic

from proctor.agents.base import AgentInfo
from proctor.agents.import_user_code import imported_late
from proctor.agents.load import agent_folder
from proctor.agents.reference import Reference, read_reference
from proctor.common.code_identity import identify
from proctor.common.project_code import modules_of_file, project_code
from proctor.common.prompts import Prompt, read_prompt
from proctor.common.secrets import redact_arguments, redact_text
from proctor.common.version import __version__
from proctor.engine.planning.bound_metric import BoundMetric
from proctor.engine.planning.plan import Plan
from proctor.engine.planning.set_plan import SetPlan
from proctor.engine.trial.conversation import HOOKS
from proctor.runs.arguments import AgentLike, EvalSetLike
from proctor.runs.setup.judge_and_user import function_reference
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.results.manifest import (
    UNKNOWN_MODULES,
    USER_CODE,
    AgentManifest,
    JudgedSet,
    Manifest,
    MetricManifest,
    PlannedCase,
    ScoringManifest,
    SetManifest,
)
from proctor.schema.results.run_result import SetSummary
from proctor.schema.serialize import content_hash, json_hash

_FRAMEWORKS = {
    "google.adk": "google-adk",
    "agents": "openai-agents",
    "langgraph": "langgraph",
    "pydantic_ai": "pydantic-ai",
    "litellm": "litellm",
}
_NOT_SOURCE = frozenset({"__pycache__", "node_modules", "site-packages", "venv", "build", "dist"})
_MOST_FILES = 2_000
_GIT_SECONDS = 2.0


def manifest_of(
    plan: Plan,
    unreadable: Sequence[SetSummary] = (),
    *,
    agent: AgentLike,
    label: str,
    eval_sets: list[EvalSetLike],
    options: Mapping[str, Any],
) -> Manifest:
    """Return the manifest of a run that is about to begin, without the agent's description of itself."""
    now = time.time()
    return Manifest(
        run_id=new_run_id(),
        created_at=now,
        agent=agent_manifest(agent, label),
        sets=set_manifests(plan, unreadable),
        num_runs=plan.num_runs,
        options=options_json(eval_sets, options),
        command=redact_arguments(sys.argv),
        folder=str(Path.cwd()),
        versions=versions(),
    )


def agent_manifest(agent: AgentLike, label: str) -> AgentManifest:
    """Return the facts about an agent that are known without calling it: its reference, source and commit."""
    reference = str(agent) if isinstance(agent, str | Path) else None
    if reference is not None and ("//" in reference or reference.startswith("cmd:")):
        # an address or a command may contain a secret, which the user provides again to resume
        reference = redact_text(reference)
    folder = agent_folder(agent)
    code = read_reference(str(agent)) if folder is not None and isinstance(agent, str | Path) else None
    files = sorted(_sources(code, folder)) if code is not None and folder is not None else []
    return AgentManifest(
        reference=reference,
        label=label,
        source_hash=_source_hash(folder, files),
        modules=_modules(code, folder, files),
        commit=_commit(folder) if folder is not None else None,
    )


def options_json(eval_sets: list[EvalSetLike], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a run as JSON, sufficient to resume it. Values that cannot be written as JSON are left out."""
    values = {
        name: value for name, value in options.items() if name not in _NOT_RECORDED and _is_plain(value)
    }
    hooks = {name: options.get(name) for name in HOOKS}
    values |= {name: function_reference(hook) for name, hook in hooks.items() if hook is not None}
    values |= _user_json(options.get("user"))
    if isinstance(options.get("config"), Path):
        values["config"] = str(options["config"])
    if (outputs := values.pop("outputs", None)) is not None:
        values["outputs"] = {name: redact_arguments(list(places)) for name, places in outputs.items()}
    if all(isinstance(one, str | Path) for one in eval_sets):
        values["eval_sets"] = [str(one) for one in eval_sets]
    return values


def _user_json(user: object) -> dict[str, str]:
    """Return the reference of a simulated user that is a Python object, or the hash of the file that defines a named one."""
    if isinstance(user, str):
        code = _code_of_user(user)
        return {USER_CODE: code} if code else {}
    if user is None:
        return {}
    return {"user": function_reference(user)}


def _code_of_user(reference: str) -> str:
    """Return the hash of the file that defines the simulated user; empty if it is not a file, as for a model."""
    file = Path(reference if reference.endswith(".py") else reference.rpartition(":")[0])
    try:
        return content_hash(file.read_bytes()) if file.suffix == ".py" else ""
    except (OSError, ValueError):
        return ""


_NOT_RECORDED = frozenset({"progress", "stop", "store", *HOOKS})


def _is_plain(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_plain(item) for key, item in value.items())
    if isinstance(value, list | tuple | set | frozenset):
        return all(_is_plain(item) for item in value)
    return isinstance(value, str | int | float | bool)


def versions() -> dict[str, str]:
    """Return the versions of Python, of proctor, and of the agent frameworks that are loaded."""
    by_package = {"python": platform.python_version(), "proctor": __version__, "pydantic": pydantic.VERSION}
    loaded = {module: package for module, package in _FRAMEWORKS.items() if module in sys.modules}
    if not loaded:
        return by_package
    from importlib.metadata import PackageNotFoundError, version  # takes 10 ms, which most runs can save

    for package in loaded.values():
        try:
            by_package[package] = version(package)
        except PackageNotFoundError:  # a user's module with the same name
            continue
    return by_package


def _source_hash(folder: Path | None, files: Sequence[Path]) -> str | None:
    """Return one hash over the Python files of the agent: its own file, or all files of its folder."""
    if folder is None or not files:
        return None
    hashed = blake2b(digest_size=16)
    for file in files:
        hashed.update(str(file.relative_to(folder)).encode() + b"\0")
        try:
            hashed.update(file.read_bytes())
        except OSError:
            continue
    return hashed.hexdigest()


def _modules(code: Reference | None, folder: Path | None, files: Sequence[Path]) -> dict[str, str] | None:
    """Return the hashes of the project's modules that the agent imports, other than its own files (see `AgentManifest`)."""
    if code is None or folder is None or not files:
        return None
    folder, files = folder.resolve(), [file.resolve() for file in files]
    usual = (folder / "__init__.py", folder / "agent.py")
    entries = files if len(files) == 1 else filter(Path.is_file, usual)
    with imported_late(*(code.roots or (folder,))):
        hashes = project_code(chain.from_iterable(map(modules_of_file, entries)), values=False).files
    others = sorted(hashes.keys() - set(files))
    return {Path(relpath(file, folder)).as_posix(): hashes[file] for file in others}


def _sources(code: Reference, folder: Path) -> Iterator[Path]:
    file = code.file
    if file is not None and file.is_file() and file.stem not in ("agent", "__init__"):
        yield file
        return
    for count, path in enumerate(_python_files(folder)):
        if count >= _MOST_FILES:
            return
        yield path


def _python_files(folder: Path) -> Iterator[Path]:
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith(".") or entry.name in _NOT_SOURCE or entry.is_symlink():
            continue
        if entry.is_dir():
            yield from _python_files(entry)
        elif entry.suffix == ".py":
            yield entry


def _commit(folder: Path) -> str | None:
    """Return the commit of a folder, followed by `+` if its project has uncommitted changes."""
    if not any((above / ".git").exists() for above in (folder, *folder.parents)):
        return None
    import subprocess

    command = [
        "git",
        "-c",
        "core.fsmonitor=false",
        "describe",
        "--always",
        "--abbrev=40",
        "--exclude=*",
        "--dirty=+",
    ]
    try:
        output = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=_GIT_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return output.stdout.strip() or None


# --- The sets of a run and how they are scored -------------------------------------------------------------------------


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


def scoring_manifest(
    plan: Plan, unreadable: Sequence[SetSummary] = (), *, created_at: float
) -> ScoringManifest:
    """Return how the sets of a plan are scored; those that could not be run are in it, too, as not scored."""
    sets = [judged_set(chosen) for chosen in plan.sets]
    sets += [JudgedSet(eval_set_id=one.eval_set_id, config_source=one.config_source) for one in unreadable]
    return ScoringManifest(created_at=created_at, sets=sets)


def judged_set(chosen: SetPlan) -> JudgedSet:
    """Return how one set is scored: its config and its metrics."""
    config = chosen.config.model_dump(mode="json", exclude_none=True)
    criteria = {name: chosen.config.criterion_for(name) for name in chosen.config.criteria}
    modules = {bound.name: _modules_of(bound.metric) for bound in chosen.metrics}
    return JudgedSet(
        eval_set_id=chosen.summary.eval_set_id,
        config_source=chosen.summary.config_source,
        config=config,
        config_hash=json_hash(config),
        metrics=[
            _metric(bound, criteria.get(bound.name), _with_parts(bound, modules)) for bound in chosen.metrics
        ],
        skipped_metrics=chosen.summary.skipped_metrics,
    )


def _metric(bound: BoundMetric, criterion: BaseCriterion | None, modules: str) -> MetricManifest:
    code = _code_of(bound.metric)
    definition = {
        "name": bound.name,
        "criterion": criterion.model_dump(mode="json", exclude_none=True) if criterion else None,
        "code": code,
    }
    prompts = prompts_of(bound.metric) if bound.judge else {}
    if bound.judge:
        definition |= {"judge": bound.judge, "prompts": prompts}
    both_known = bound.facts.score_range
    return MetricManifest(
        name=bound.name,
        definition=json_hash(definition),
        code=json_hash(code),
        modules=modules,
        threshold=bound.threshold,
        gate=bound.gate,
        judge=bound.judge,
        judge_code=bound.judge_code,
        prompts=prompts,
        score_range=both_known,
        lowest_score=None if both_known or bound.facts.minimum == -inf else bound.facts.minimum,
        highest_score=None if both_known else bound.facts.maximum,
    )


FORMER_MODULES = {
    "proctor.metrics.judged.rubrics.final_response": "proctor.metrics.judged.rubric_final_response",
    "proctor.metrics.judged.rubrics.tool_use": "proctor.metrics.judged.rubric_tool_use",
    "proctor.metrics.judged.rubrics.trajectory": "proctor.metrics.judged.rubric_trajectory",
    "proctor.metrics.text.json.json_equal": "proctor.metrics.text.json_equal",
    "proctor.metrics.text.numeric.numeric_match": "proctor.metrics.text.numeric_match",
    "proctor.metrics.text.regex.regex_match": "proctor.metrics.text.regex_match",
    "proctor.metrics.text.response_match": "proctor.metrics.response_match",
    "proctor.metrics.text.rouge_metrics": "proctor.metrics.text.rouge_scores",
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
    return json_hash([identity.held, identity.modules]) if identity.is_complete else UNKNOWN_MODULES


def _with_parts(bound: BoundMetric, modules: Mapping[str, str]) -> str:
    """Return the modules of a metric and of those that it weights."""
    parts: Iterable[str] = getattr(getattr(bound.metric, "criterion", None), "weights", None) or ()
    hashes = [modules[bound.name], *(modules.get(name, "") for name in parts)]
    known = list(filter(None, hashes))
    return (
        UNKNOWN_MODULES
        if UNKNOWN_MODULES in known
        else json_hash(known)
        if len(known) > 1
        else "".join(known)
    )


def prompts_of(metric: Any) -> dict[str, str]:
    """Return the hashes of the prompts that a metric holds, and of the instructions of every judge."""
    prompts = [
        one
        for value in getattr(metric, "__dict__", {}).values()
        for one in _several(value)
        if isinstance(one, Prompt)
    ]
    return {
        prompt.name: prompt.hash for prompt in [*prompts, read_prompt("proctor.judges", "instructions.md")]
    }


def _several(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else [value]


_LETTERS = "23456789bcdfghjkmnpqrstvwxz"  # no vowels, so that no words occur; no characters that look alike


def new_run_id() -> str:
    """Return a unique name for a run: ten letters and digits, of which the first few usually suffice."""
    return "".join(secrets.choice(_LETTERS) for _ in range(10))


def add_description(agent: AgentManifest, info: AgentInfo | None) -> AgentManifest:
    """Return the manifest of an agent, completed with the agent's description of itself."""
    if info is None:
        return agent
    return agent.model_copy(update={"version": info.version, "description": info.app_details})
