"""Arguments of `proctor eval`, validated before anything runs; all problems are reported together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from proctor import api
from proctor.cli.command_base import common
from proctor.cli.messages import problems_of, say
from proctor.cli.outputs import NOWHERE, Keeping, Output, choose_keeping, output_guard, parse_outputs
from proctor.errors import NothingToRunError, SetupError, SetupProblems
from proctor.files.eval_sets.selectors import SET_SUFFIXES, sets_in, split_existing
from proctor.runs.load import ADK_RS
from proctor.runs.output_guard import OutputGuard
from proctor.runs.setup.judge_and_user import load_function
from proctor.runs.setup.settings import Settings, as_seen_from_here, engine_options
from proctor.runs.storage.queries import is_for_results

if TYPE_CHECKING:
    from proctor.cli.eval.failed_cases import Failed

_Part = TypeVar("_Part")


class Asking:
    """The arguments of `proctor eval` merged with the settings and validated.

    Raises:
        SetupProblems: all configuration errors, including those that only the engine detects.
    """

    def __init__(
        self,
        words: Sequence[str],
        given: Mapping[str, Any],
        settings: Settings,
        *,
        earlier: str | None = None,
    ) -> None:
        """Read the arguments; `earlier` is the store that `--failed` searches if the new run is not stored."""
        self._problems: list[SetupError] = []
        self.details = bool(given["details"] or common().verbose)
        self.only_different = bool(given["only_different"])
        self._check(lambda: _refuse_storage(given["eval_storage_uri"]))
        guard = guard_of(words, given, settings)
        outputs = self._check(lambda: parse_outputs(given["reports"], given["format_"], guard))
        keeping = self._check(lambda: choose_keeping(given["stores"], settings))
        self.keeping = keeping or Keeping()
        self.outputs: list[Output] = outputs or []
        self.options = engine_options(given, settings)
        if given["format_"] == ADK_RS:
            self.options["default_config"] = ADK_RS
        self._load_hooks()
        self.is_empty = False
        """Whether `--failed` names a run in which everything passed."""
        failed = self._only_failed(given["failed"], earlier or store_named(given["stores"]))
        if self.is_empty and not self._problems:
            self.request = None
            return
        run = self._earlier(failed, given, settings) if failed.labels else None
        self.request = self._check(
            lambda: who_and_what(words, given["agents"], given["sets"], settings, earlier=run)
        )
        if run is not None and self.request is not None:
            self._run_as_before(failed, words, given)
        if self._problems:
            raise SetupProblems([*self._problems, *self._more_problems()])
        self.options["outputs"] = self._to_be_kept()

    @property
    def chosen(self) -> Request:
        """The agents and the eval sets."""
        if self.request is None:
            raise SetupError("no agent and no eval set")
        return self.request

    def _check(self, part: Callable[[], _Part]) -> _Part | None:
        try:
            return part()
        except SetupError as problem:
            self._problems += problems_of(problem)
            return None

    def _to_be_kept(self) -> dict[str, list[str]]:
        """Return the outputs that `proctor resume` writes again; a report of several agents belongs to no single run."""
        files = [output.word for output in self.outputs if output.path is not None]
        reports = files if len(self.chosen.agents) == 1 else []
        return {"reports": reports, "results": [place.url for place in self.keeping.adk]}

    def _load_hooks(self) -> None:
        for name in ("setup", "teardown"):
            if name in self.options:
                self.options[name] = self._check(partial(load_function, self.options[name], f"--{name}"))

    def _only_failed(self, name: str | None, store: str | None) -> Failed:
        """Read the cases that did not pass in an earlier run, and restrict this run to them."""
        from proctor.cli.eval.failed_cases import Failed, read_failed

        if not name:
            return Failed()
        failed = self._check(lambda: read_failed(name, store))
        if failed is None:
            return Failed()
        self.options["only"], self.is_empty = failed.cases, failed.is_empty
        return failed

    @staticmethod
    def _earlier(failed: Failed, given: Mapping[str, Any], settings: Settings) -> Request:
        """Return the agents and the eval sets of the run that `--failed` names."""
        from proctor.agents.reference import read_reference

        agents = failed.agents
        if not failed.is_of_store:  # a report has only the labels of agents
            agents = [one for one in settings.agent if read_reference(one).label in failed.labels]
        names = ", ".join(dict.fromkeys(failed.labels))
        why = failed.unknown.get("--agent", f"the report does not record how its agent {names} is named")
        missing = f"--failed {given['failed']}: {why}; name the agent with --agent"
        return Request(agents if "--agent" not in failed.unknown else [], failed.files, missing=missing)

    def _run_as_before(self, failed: Failed, words: Sequence[str], given: Mapping[str, Any]) -> None:
        """Use the config and the sub-agent of the run that `--failed` names, unless the command line names others."""
        from proctor.cli.eval.failed_cases import other_agents

        run, is_agent_named = given["failed"], self.chosen.is_agent_named
        others = other_agents(self.chosen.agents, failed) if is_agent_named else []
        if others:
            theirs = ", ".join(dict.fromkeys(failed.labels))
            say(f"--failed {run}: runs {', '.join(others)}, which is not the agent of that run, {theirs}")
        named = {
            "--config": given["config"],
            "--set": given["sets"] or len(words) > (is_agent_named and not given["agents"]),
        }
        self._problems += [
            SetupError(f"--failed {run}: {why}; name it with {option}")
            for option, why in failed.unknown.items()
            if option in named and not named[option]
        ]
        if not failed.is_of_store:
            return
        if "default_config" in failed.options:
            self.options["default_config"] = failed.options["default_config"]
        for name in ("config", *(() if is_agent_named else ("agent_name",))):
            if given[name] is None:
                self.options.pop(name, None)
                self.options |= {name: failed.options[name]} if name in failed.options else {}

    def _more_problems(self) -> list[SetupError]:
        """Return the configuration errors that the engine would raise in addition."""
        found: list[SetupError] = []
        for agent in self.request.agents if self.request else []:
            try:
                api.prepare(agent, self.chosen.sets, self.options)  # type: ignore[arg-type]  # checked by name
            except NothingToRunError:  # less severe than the problems already found
                continue
            except SetupError as problem:
                found += problems_of(problem)
        return found


def guard_of(words: Sequence[str], given: Mapping[str, Any], settings: Settings) -> OutputGuard:
    """Return the output guard of a run: it protects the files that the command line and the settings name as inputs."""
    from proctor.agents.reference import read_reference

    agents = [*words[:1], *given["agents"], *settings.agent]
    config = [given["config"], settings.config]
    named = [
        *words,
        *given["sets"],
        *settings.sets,
        *agents,
        *(one.rpartition(":")[0] for one in agents),
        *config,
    ]
    folders = []
    for agent in agents:
        try:
            folders.append(read_reference(agent).folder)
        except SetupError:  # reported when the agent is loaded
            continue
    return output_guard(
        given,
        inputs=[Path(split_existing(one)[0]) for one in named if one],
        folders=[folder for folder in folders if folder is not None],
    )


def store_named(urls: Sequence[str]) -> str | None:
    """Return the first of `urls` that can hold earlier runs; `None` means the project's own store."""
    return next((url for url in urls if not is_for_results(url) and url != NOWHERE), None)


def _refuse_storage(uri: str | None) -> None:
    if uri:
        raise SetupError(
            f"--eval_storage_uri {uri}: storage in a bucket is not in this version. Give the eval set as a file, "
            f"and keep the result with --report json=PATH."
        )


# --- Determine which agents and eval sets `proctor eval` runs: the command line takes precedence over the settings ----


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
