"""The manifest of a run: agent, source code, options and versions."""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pydantic

from proctor.agents.load import agent_folder
from proctor.agents.reference import read_reference
from proctor.common.secrets import redact_arguments, redact_text
from proctor.common.version import __version__
from proctor.engine.planning.judging_manifest import set_manifests
from proctor.engine.planning.plan import Plan
from proctor.runs.arguments import AgentLike, EvalSetLike
from proctor.runs.setup.judge_and_user import AN_OBJECT
from proctor.schema.results.manifest import USER_CODE, AgentManifest, Manifest, new_run_id
from proctor.schema.results.run_result import SetSummary
from proctor.schema.serialize import content_hash

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
    return AgentManifest(
        reference=reference,
        label=label,
        source_hash=_source_hash(agent, folder),
        commit=_commit(folder) if folder is not None else None,
    )


def options_json(eval_sets: list[EvalSetLike], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a run as JSON, sufficient to resume it. Values that cannot be written as JSON are left out."""
    kept = {name: value for name, value in options.items() if name not in _NOT_RECORDED and _is_plain(value)}
    hooks = {name: _function_of(options.get(name)) for name in ("setup", "teardown")}
    kept |= {name: reference for name, reference in hooks.items() if reference}
    kept |= _user_json(options.get("user"))
    if isinstance(options.get("config"), Path):
        kept["config"] = str(options["config"])
    if (outputs := kept.pop("outputs", None)) is not None:
        kept["outputs"] = {name: redact_arguments(list(places)) for name, places in outputs.items()}
    if all(isinstance(one, str | Path) for one in eval_sets):
        kept["eval_sets"] = [str(one) for one in eval_sets]
    return kept


def _user_json(user: object) -> dict[str, str]:
    """Return the reference of a simulated user that is a Python object, or the hash of the file that defines a named one."""
    if isinstance(user, str):
        code = _code_of_user(user)
        return {USER_CODE: code} if code else {}
    if user is None:
        return {}
    is_main = getattr(user, "__module__", "") == "__main__"  # a different module in another process
    return {"user": AN_OBJECT if is_main else _function_of(user) or AN_OBJECT}


def _function_of(given: Any) -> str:
    """Return `module:function` for a function that can be named, else an empty string."""
    name = getattr(given, "__qualname__", "<")
    return "" if "<" in name else f"{given.__module__}:{name}"


def _code_of_user(named: str) -> str:
    """Return the hash of the file that defines the simulated user; empty if it is not a file, as for a model."""
    file = Path(named if named.endswith(".py") else named.rpartition(":")[0])
    try:
        return content_hash(file.read_bytes()) if file.suffix == ".py" else ""
    except (OSError, ValueError):
        return ""


_NOT_RECORDED = frozenset({"progress", "stop", "store", "setup", "teardown"})


def _is_plain(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_plain(item) for key, item in value.items())
    if isinstance(value, list | tuple | set | frozenset):
        return all(_is_plain(item) for item in value)
    return isinstance(value, str | int | float | bool)


def versions() -> dict[str, str]:
    """Return the versions of Python, of proctor, and of the agent frameworks that are loaded."""
    found = {"python": platform.python_version(), "proctor": __version__, "pydantic": pydantic.VERSION}
    loaded = {module: package for module, package in _FRAMEWORKS.items() if module in sys.modules}
    if not loaded:
        return found
    from importlib.metadata import PackageNotFoundError, version  # takes 10 ms, which most runs can save

    for package in loaded.values():
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # a user's module with the same name
            continue
    return found


def _source_hash(agent: AgentLike, folder: Path | None) -> str | None:
    """Return one hash over the Python files of the agent: its own file, or all files of its folder."""
    if folder is None:
        return None
    files = sorted(_sources(agent, folder))
    hashed = blake2b(digest_size=16)
    for file in files:
        hashed.update(str(file.relative_to(folder)).encode() + b"\0")
        try:
            hashed.update(file.read_bytes())
        except OSError:
            continue
    return hashed.hexdigest() if files else None


def _sources(agent: AgentLike, folder: Path) -> Iterator[Path]:
    if not isinstance(agent, str | Path):
        return
    file = read_reference(str(agent)).file
    if file is not None and file.is_file() and file.stem not in ("agent", "__init__"):
        yield file
        return
    for count, found in enumerate(_python_files(folder)):
        if count >= _MOST_FILES:
            return
        yield found


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
