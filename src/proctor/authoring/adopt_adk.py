"""Adopt a google-adk project: what it has, what can be read, and how Proctor scores the results that it kept."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.authoring.adk_imports import Rewritten, rewrite_imports
from proctor.authoring.assertion_report import assertion_problems
from proctor.errors import ProctorError, SetupError
from proctor.files.eval_sets.check_file import Report, check_file
from proctor.files.eval_sets.selectors import CONFIG_NAMES, SET_SUFFIXES
from proctor.files.eval_sets.source import EvalSetFile
from proctor.files.text.problems import Problem
from proctor.runs.importing.import_runs import import_runs
from proctor.runs.rescore import rescore
from proctor.runs.storage.queries import open_store
from proctor.schema.format.adk_results import SUFFIX
from proctor.schema.results.run_result import CaseResult, MetricVerdict
from proctor.schema.results.score import Outcome

if TYPE_CHECKING:
    from proctor.stores.base import Store

_NOT_LOOKED_INTO = frozenset({"node_modules", "site-packages", "venv", "env", "__pycache__", "build", "dist"})
_AGENT_FILES = ("agent.py", "__init__.py")
_AGENT = re.compile(
    r"^\s*(?:root_agent|app)\s*[:=]|^\s*(?:async\s+)?def\s+(?:root_agent|get_agent_async)\b", re.MULTILINE
)
_HISTORY = ".adk"
_GIT_SECONDS = 20.0


@dataclass(slots=True)
class Survey:
    """What a project has of google-adk's evaluation."""

    folder: Path
    agents: list[Path] = field(default_factory=list)
    """Folders of agents."""
    files: list[Report] = field(default_factory=list)
    """Eval sets and configs, each as `proctor check` reports it."""
    tests: list[Rewritten] = field(default_factory=list)
    """Python files that import google-adk's evaluation."""
    history: list[Path] = field(default_factory=list)
    """Result files that google-adk kept."""
    assertions: dict[str, list[Problem]] = field(default_factory=dict)
    """By the file of a set: the cases that a run would refuse because they assert nothing, and those that are negative only."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was found at all."""
        return not (self.agents or self.files or self.tests or self.history)

    def sets_of(self, agent: Path) -> list[Path]:
        """Return the readable eval sets in an agent's folder and below it, and those next to it that are of no other."""
        return [path for path in self._sets() if agent in self.agents_of(path)]

    def sets_without_agent(self) -> dict[Path, list[Path]]:
        """Return the readable eval sets that belong to no single agent, each with the agents that it might be for."""
        found = {path: self._nearest(path) for path in self._sets() if not self.agents_of(path)}
        return found if self.agents else {}

    def agents_of(self, path: Path) -> list[Path]:
        """Return the agents whose folder a set is in; else the agent of the nearest folder above that has just one."""
        if around := [agent for agent in self.agents if path.is_relative_to(agent)]:
            return around
        nearest = self._nearest(path)
        return nearest if len(nearest) == 1 else []

    def _sets(self) -> list[Path]:
        return [Path(one.file) for one in self.files if one.usable and one.file.endswith(SET_SUFFIXES)]

    def _nearest(self, path: Path) -> list[Path]:
        """Return the agents below the nearest folder above a set that has any, without agents of agents."""
        for folder in path.parents:
            here = [agent for agent in self.agents if agent.is_relative_to(folder)]
            if here or folder == self.folder:
                return [one for one in here if not any(other in one.parents for other in here)]
        return []


def survey(folder: str | Path) -> Survey:
    """Look through a project: agents, eval sets, configs, tests, and results that google-adk kept. Nothing is changed.

    Raises:
        SetupError: the folder does not exist.
    """
    top = Path(folder)
    if not top.is_dir():
        raise SetupError(f"{top}: expected the folder of a project")
    found = Survey(top)
    for place, names in _folders(top):
        if any(_is_agent(place / name) for name in _AGENT_FILES if name in names):
            found.agents.append(place)
        for name in names:
            path = place / name
            if name.endswith(SUFFIX):
                found.history.append(path)
            elif name.lower().endswith(SET_SUFFIXES) or name in CONFIG_NAMES:
                _add_file(found, path)
            elif (
                name.endswith((".py", ".ipynb"))
                and not path.is_symlink()
                and (rewritten := rewrite_imports(path)) is not None
            ):
                found.tests.append(rewritten)
    return found


def _add_file(found: Survey, path: Path) -> None:
    report = check_file(path, allow_duplicate_ids=True)
    found.files.append(report)
    if isinstance(report.content, EvalSetFile) and (problems := assertion_problems(report.content, path)):
        report.problems += problems
        found.assertions[report.file] = problems


def uncommitted_changes(folder: Path) -> int:
    """Return how many files of the repository around a folder have changes that are not committed; 0 outside of one."""
    command = ["git", "-c", "core.fsmonitor=false", "status", "--porcelain"]
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=_GIT_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):  # no git, or no repository
        return 0
    return len(done.stdout.splitlines())


def _folders(top: Path) -> Iterator[tuple[Path, list[str]]]:
    for place, folders, files in os.walk(top):
        hidden = {name for name in folders if name.startswith(".") and name != _HISTORY}
        is_installed = {name for name in folders if (Path(place) / name / "pyvenv.cfg").exists()}
        folders[:] = sorted({*folders} - hidden - is_installed - _NOT_LOOKED_INTO)
        yield Path(place), sorted(files)


def _is_agent(path: Path) -> bool:
    try:
        return _AGENT.search(path.read_text(encoding="utf-8", errors="replace")) is not None
    except OSError:
        return False


# --- earlier results ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Compared:
    """One case of a result that google-adk kept: its outcome, and the outcome of Proctor for the same evidence."""

    file: Path
    case: CaseResult
    """As Proctor judges it."""
    said: Outcome
    """The outcome of google-adk."""
    causes: list[str]
    """Why the two differ; empty where they agree."""


@dataclass(slots=True)
class Comparison:
    """All cases of all result files."""

    cases: list[Compared] = field(default_factory=list)
    unread: dict[Path, str] = field(default_factory=dict)
    """Files that cannot be compared, and why."""


async def compare_history(files: list[Path]) -> Comparison:
    """Judge what google-adk's result files recorded, by the criteria that it was judged by then; no agent is called."""
    found = Comparison()
    for file in files:
        store = open_store("memory:")
        try:
            for run_id in import_runs(file, store):
                found.cases += await _compare(file, store, run_id)
        except ProctorError as problem:
            found.unread[file] = str(problem).splitlines()[0]
        finally:
            store.close()
    return found


async def _compare(file: Path, store: Store, run_id: str) -> list[Compared]:
    before = store.load(run_id, 1)
    now = await rescore(run_id, store=store, explain="all", no_judge=True)
    return [
        Compared(file, case, was.outcome, [] if was.outcome is case.outcome else list(_causes(was, case)))
        for was, case in zip(before.cases, now.cases, strict=True)
    ]


_ANOTHER_RULE = "by another rule, see docs/differences-from-adk.md"


def _causes(was: CaseResult, now: CaseResult) -> Iterator[str]:
    """Return the metrics with different verdicts, each with Proctor's reason; else the reason of the whole case."""
    found = False
    for name, metric in now.metrics.items():
        before = was.metrics.get(name)
        if metric.gate and (before is None or before.outcome is not metric.outcome):
            found = True
            yield f"{name}: {_score_of(before)} there, {_score_of(metric)} here: {metric.reason or _ANOTHER_RULE}"
    for name, before in was.metrics.items():
        if name not in now.metrics and before.gate:
            found = True
            yield f"{name}: {_score_of(before)} there, not computed here"
    if not found and now.outcome is Outcome.NOT_RUN:
        yield "google-adk kept nothing that the agent did (it broke, or answered nothing): there is nothing to judge"
    elif not found:
        yield now.reason or "the case was not judged"


def _score_of(metric: MetricVerdict | None) -> str:
    if metric is None:
        return "not judged"
    score = "" if metric.score is None else f" ({metric.score:.2f})"
    return f"{metric.outcome.value.replace('_', ' ')}{score}"
