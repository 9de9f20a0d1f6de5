"""Determine which agents and eval sets `proctor eval` runs: the command line takes precedence over the settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from proctor.errors import SetupError
from proctor.files.eval_sets.selectors import SET_SUFFIXES, sets_in, split_existing
from proctor.runs.setup.project_defaults import as_seen_from_here
from proctor.runs.setup.settings import Settings

_SET_SUFFIXES = (".json", ".jsonc", ".json5", ".jsonl", ".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Request:
    """The agents and the eval sets to run."""

    agents: list[str]
    sets: list[str]
    is_agent_named: bool = True
    """Whether the command line names the agents."""
    missing: str = ""
    """For an earlier run whose agent is not known: the error message that asks for it."""


def who_and_what(
    words: Sequence[str],
    agents: Sequence[str],
    sets: Sequence[str],
    settings: Settings,
    *,
    earlier: Request | None = None,
) -> Request:
    """Separate the agents from the eval sets and fill in the defaults.

    `words` are the positional arguments. With `--agent` all of them are sets. Otherwise the first one is the agent, unless
    the settings name an agent and the word is an eval set: an existing file or folder of sets, or the id of a set in that
    agent's folder. If the command line names no agent or no set, use those of `earlier` (the run that `--failed` names),
    otherwise those of the settings. The last default for sets is the agent's own folder.

    Raises:
        SetupError: no agent or no set is named anywhere.
    """
    rest = list(words)
    chosen = list(agents)
    if not chosen and rest and not _is_set(rest[0], settings):
        chosen = [rest.pop(0)]
    is_named = bool(chosen)
    if not is_named and earlier is not None and not earlier.agents:
        raise SetupError(earlier.missing)
    chosen = chosen or (earlier.agents if earlier else list(settings.agent))
    asked = (
        [*rest, *sets]
        or (earlier.sets if earlier else [])
        or [as_seen_from_here(one) for one in settings.sets]
    )
    if not chosen:
        raise SetupError(_no_agent(rest))
    asked = asked or _sets_beside(chosen[0])
    if not asked:
        raise SetupError(
            f"No eval set to run against {chosen[0]}: give one after the agent (proctor eval AGENT SET), "
            f"with --set, or as `sets` in proctor.toml."
        )
    return Request(chosen, asked, is_named)


def _sets_beside(agent: str) -> list[str]:
    """Return the agent's own folder if it contains eval sets, for `proctor eval AGENT`."""
    from proctor.files.eval_sets.selectors import sets_in

    folder = Path(agent)
    return [agent] if folder.is_dir() and any(sets_in(folder)) else []


def _no_agent(rest: Sequence[str]) -> str:
    where = (
        "give one before the eval set (proctor eval AGENT SET), with --agent, or as `agent` in proctor.toml"
    )
    if rest:
        return f"{rest[0]} is an eval set, and no agent is named: {where}."
    return f"Nothing to run: no agent is named, and no settings were found. Either {where}, or start with `proctor init`."


def _is_set(word: str, settings: Settings) -> bool:
    name = split_existing(word)[0]
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
