"""What `proctor eval` was asked to run: the command line over the project's settings."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proctor.causes import safe_str
from proctor.errors import SetupError, did_you_mean
from proctor.files.find import SET_SUFFIXES, sets_in, split_selector
from proctor.settings import Settings

_SET_SUFFIXES = (".json", ".jsonc", ".json5", ".jsonl", ".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Request:
    """Which agents run which sets."""

    agents: list[str]
    sets: list[str]


def who_and_what(
    words: Sequence[str],
    agents: Sequence[str],
    sets: Sequence[str],
    settings: Settings,
    *,
    earlier: Request | None = None,
) -> Request:
    """Tell agents from sets.

    `words` are the arguments without an option. With `--agent` all of them are sets. Without it the first one is the
    agent, unless the settings name an agent and the word is an eval set: an existing file or folder of sets, or the
    id of a set in that agent's folder. Whatever is not said comes from the settings; sets first from `earlier`, the
    run that `--failed` names (its agent comes last), and last from the agent's own folder.

    Raises:
        SetupError: no agent, or no set, is named anywhere.
    """
    rest = list(words)
    chosen = list(agents)
    if not chosen and rest and not _is_set(rest[0], settings):
        chosen = [rest.pop(0)]
    chosen = chosen or list(settings.agent) or (earlier.agents if earlier else [])
    asked = (
        [*rest, *sets]
        or (earlier.sets if earlier else [])
        or [_as_seen_from_here(one) for one in settings.sets]
    )
    if not chosen:
        raise SetupError(_no_agent(rest))
    asked = asked or _sets_beside(chosen[0])
    if not asked:
        raise SetupError(
            f"No eval set to run against {chosen[0]}: give one after the agent (proctor eval AGENT SET), "
            f"with --set, or as `sets` in proctor.toml."
        )
    return Request(chosen, asked)


def _sets_beside(agent: str) -> list[str]:
    """Return the agent's own folder, where it holds eval sets; `proctor eval AGENT` runs these."""
    from proctor.files.find import sets_in

    folder = Path(agent)
    return [agent] if folder.is_dir() and any(sets_in(folder)) else []


def _no_agent(rest: Sequence[str]) -> str:
    where = (
        "give one before the eval set (proctor eval AGENT SET), with --agent, or as `agent` in proctor.toml"
    )
    if rest:
        return f"{rest[0]} is an eval set, and no agent is named: {where}."
    return f"Nothing to run: no agent is named, and no settings were found. Either {where}, or start with `proctor init`."


def _as_seen_from_here(path: str) -> str:
    """Shorten a path below the working folder: where it was written changes nothing that is printed."""
    return path.removeprefix(f"{Path.cwd()}{os.sep}")


def _is_set(word: str, settings: Settings) -> bool:
    name = split_selector(word)[0]
    path = Path(name)
    if path.suffix.lower() in _SET_SUFFIXES:
        return True  # never an agent
    if not settings.agent:
        return False
    if path.is_dir():
        return not _holds_agent(path) and any(sets_in(path))
    return any(
        (Path(agent) / f"{name}{suffix}").is_file() for agent in settings.agent for suffix in SET_SUFFIXES
    )


def _holds_agent(folder: Path) -> bool:
    return any((folder / name).exists() for name in ("__init__.py", "agent.py"))


def first_given(*values: Any) -> Any:
    """Return the first value that was given at all."""
    return next((value for value in values if value is not None), None)


def engine_options(given: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Return the keyword arguments of `proctor.api.evaluate`: what was given, else the settings, else its defaults."""
    wanted: dict[str, Any] = {
        name: first_given(given.get(name), getattr(settings, name))
        for name in (
            "config", "agent_name", "num_runs", "concurrency", "timeout", "trial_timeout", "retry_errors",
            "compat", "setup", "teardown", "judge",
        )
    }  # fmt: skip
    if settings.config and not given.get("config"):
        wanted["config"] = _as_seen_from_here(settings.config)
    wanted["metrics"] = given.get("metrics") or list(settings.metrics) or None
    for name in (
        "limit",
        "no_judge",
        "keep_going",
        "allow_duplicate_ids",
        "fail_fast",
        "tags",
        "max_time",
        "max_tokens",
        "max_failures",
    ):
        wanted[name] = given.get(name) or None
    return {name: value for name, value in wanted.items() if value is not None}


def prepare_process(settings: Settings) -> None:
    """Let modules of the project be imported, and set the environment that its settings ask for."""
    folders = [str(Path.cwd()), *([str(settings.file.parent)] if settings.file else [])]
    installed = (i for i, entry in enumerate(sys.path) if entry.endswith(("site-packages", "dist-packages")))
    place = next(installed, len(sys.path))  # no folder may shadow the standard library
    sys.path[place:place] = [folder for folder in dict.fromkeys(folders) if folder not in sys.path]
    for name, value in settings.env.items():
        os.environ.setdefault(name, value)


def load_function(reference: str, said_by: str) -> Callable[..., Any]:
    """Return the function that `module:function` names.

    Raises:
        SetupError: it cannot be found, with what the module itself raised as the cause.
    """
    module, colon, name = reference.partition(":")
    if not (module and colon and name):
        raise SetupError(f"{said_by} takes module:function, got {reference!r}")
    try:
        found: Any = importlib.import_module(module)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise SetupError(
            f"{said_by} {reference}: the module {module!r} cannot be imported: {type(error).__name__}: {safe_str(error)}"
        ) from error
    for part in name.split("."):
        if not hasattr(found, part):
            known = (
                [known for known in vars(found) if not known.startswith("_")]
                if hasattr(found, "__dict__")
                else []
            )
            raise SetupError(f"{said_by} {reference}: {module!r} has no {name!r}.{did_you_mean(name, known)}")
        found = getattr(found, part)
    if not callable(found):
        raise SetupError(f"{said_by} {reference}: that is {type(found).__name__}, not a function")
    function: Callable[..., Any] = found
    return function
