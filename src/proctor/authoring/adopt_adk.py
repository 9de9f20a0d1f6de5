"""Adopt a google-adk project: what it has, what can be read, and how Proctor scores the results that it kept."""

from __future__ import annotations

import ast
import os
import re
import subprocess
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.authoring.check_files import assertion_problems
from proctor.errors import EvalFileError, ProctorError, SetupError
from proctor.files.eval_sets.eval_set_file import EvalSetFile
from proctor.files.eval_sets.file_problems import FileCheck, check_file
from proctor.files.eval_sets.selectors import CONFIG_NAMES, SET_SUFFIXES
from proctor.files.text.problems import Problem
from proctor.runs.importing.import_runs import import_runs
from proctor.runs.rescore import rescore
from proctor.runs.storage.open import open_store
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
class AdkSurvey:
    """What a project has of google-adk's evaluation."""

    folder: Path
    agents: list[Path] = field(default_factory=list)
    """Folders of agents."""
    files: list[FileCheck] = field(default_factory=list)
    """Eval sets and configs, each as `proctor check` reports it."""
    tests: list[RewrittenFile] = field(default_factory=list)
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
        nearest = {path: self._nearest(path) for path in self._sets() if not self.agents_of(path)}
        return nearest if self.agents else {}

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


def survey(folder: str | Path) -> AdkSurvey:
    """Look through a project: agents, eval sets, configs, tests, and results that google-adk kept. Nothing is changed.

    Raises:
        SetupError: the folder does not exist.
    """
    top = Path(folder)
    if not top.is_dir():
        raise SetupError(f"{top}: expected the folder of a project")
    result = AdkSurvey(top)
    for place, names in _folders(top):
        if any(_is_agent(place / name) for name in _AGENT_FILES if name in names):
            result.agents.append(place)
        for name in names:
            _add_path(result, place / name)
    return result


def _add_path(result: AdkSurvey, path: Path) -> None:
    if path.name.endswith(SUFFIX):
        result.history.append(path)
    elif path.name.lower().endswith(SET_SUFFIXES) or path.name in CONFIG_NAMES:
        _add_file(result, path)
    elif path.name.endswith((".py", ".ipynb")) and not path.is_symlink():
        rewritten = rewrite_imports(path)
        result.tests += [rewritten] if rewritten is not None else []


def _add_file(result: AdkSurvey, path: Path) -> None:
    report = check_file(path, allow_duplicate_ids=True)
    result.files.append(report)
    if isinstance(report.content, EvalSetFile) and (problems := assertion_problems(report.content, path)):
        report.problems += problems
        result.assertions[report.file] = problems


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
    """The result by Proctor."""
    adk_outcome: Outcome
    """The outcome of google-adk."""
    causes: list[str]
    """Why the two differ; empty where they agree."""


@dataclass(slots=True)
class AdkComparison:
    """All cases of all result files."""

    cases: list[Compared] = field(default_factory=list)
    unread: dict[Path, str] = field(default_factory=dict)
    """Files that cannot be compared, and why."""


async def compare_history(files: list[Path]) -> AdkComparison:
    """Re-score what google-adk's result files recorded, by the criteria of that time; no agent is called."""
    comparison = AdkComparison()
    for file in files:
        store = open_store("memory:")
        try:
            for run_id in import_runs(file, store):
                comparison.cases += await _compare(file, store, run_id)
        except ProctorError as problem:
            comparison.unread[file] = str(problem).splitlines()[0]
        finally:
            store.close()
    return comparison


async def _compare(file: Path, store: Store, run_id: str) -> list[Compared]:
    before = store.load(run_id, 1)
    now = await rescore(run_id, store=store, explain="all", no_judge=True)
    return [
        Compared(file, case, was.outcome, [] if was.outcome is case.outcome else list(_causes(was, case)))
        for was, case in zip(before.cases, now.cases, strict=True)
    ]


_ANOTHER_RULE = "by another rule, see docs/explanation/differences-from-adk.md"


def _causes(was: CaseResult, now: CaseResult) -> Iterator[str]:
    """Return the metrics with different verdicts, each with Proctor's reason; else the reason of the whole case."""
    differences = [*_metric_differences(was, now)]
    yield from differences
    if not differences and now.outcome is Outcome.NOT_RUN:
        yield "google-adk kept nothing that the agent did (it broke, or answered nothing): there is nothing to score"
    elif not differences:
        yield now.reason or "the case was not scored"


def _metric_differences(was: CaseResult, now: CaseResult) -> Iterator[str]:
    for name, metric in now.metrics.items():
        before = was.metrics.get(name)
        if metric.gate and (before is None or before.outcome is not metric.outcome):
            yield f"{name}: {_score_of(before)} there, {_score_of(metric)} here: {metric.reason or _ANOTHER_RULE}"
    for name, before in was.metrics.items():
        if name not in now.metrics and before.gate:
            yield f"{name}: {_score_of(before)} there, not computed here"


def _score_of(metric: MetricVerdict | None) -> str:
    if metric is None:
        return "not scored"
    score = "" if metric.score is None else f" ({metric.score:.2f})"
    return f"{metric.outcome.value.replace('_', ' ')}{score}"


# --- imports of google-adk's evaluation -------------------------------------------------------------------------------


OLD, NEW = "google.adk", "proctor.compat.adk"
MODULES = ("evaluation", "cli.cli_eval")
"""What is mirrored, in both packages."""
_OLD_MODULES = tuple(f"{OLD}.{module}" for module in MODULES)
_DOT = rb"[ \t]*\.[ \t]*"
_PACKAGE = re.compile(rb"\bgoogle" + _DOT + rb"adk\b")
_WORD = re.compile(rb"\b(google%badk%b(?:evaluation|cli%bcli_eval))\b(?:%b\w+)*" % (_DOT, _DOT, _DOT, _DOT))
_RELATIVE = re.compile(rb"\s*from\s*\.")
_MOST_SHOWN = 80  # characters of a line of a notebook


@dataclass(slots=True)
class RewrittenFile:
    """One file: its text, and the text with rewritten imports."""

    path: Path
    before: str
    after: str
    left: list[str] = field(default_factory=list)
    """`line: why` of what names google-adk's evaluation and was left alone."""

    @property
    def is_changed(self) -> bool:
        """Whether the text differs."""
        return self.after != self.before

    def write(self) -> None:
        """Write the new text. Raises EvalFileError: the file was changed since it was read, or cannot be written."""
        from proctor.files.edit.editable_file import text_of_file
        from proctor.files.eval_sets.save import write_text

        if text_of_file(self.path) != self.before:
            raise EvalFileError(
                f"{self.path}: the file was changed since it was read; nothing was written to it"
            )
        write_text(self.path, self.after)


def rewrite_imports(path: Path) -> RewrittenFile | None:
    """Return a Python file with the prefix of google-adk's evaluation modules replaced, where they are imported or used.

    `None` for a file that does not name them. Texts and comments are left alone; so are modules that Proctor does not
    mirror, ways around the prefix (`from google import adk`), notebooks, and files that are no Python that can be read:
    `left` has the line.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        return RewrittenFile(path, "", "", [f"1: cannot be read: {error.strerror}"])
    names_it = _WORD.search(data) is not None
    if path.suffix == ".ipynb":
        return RewrittenFile(path, "", "", list(_notebook_lines(data))) if names_it else None
    if not names_it and not _may_go_through_package(data):
        return None
    mark = data[: len(BOM_UTF8)] if data.startswith(BOM_UTF8) else b""
    file = _Source(data[len(mark) :])
    try:
        before, tree = file.data.decode(), ast.parse(file.data)
    except (SyntaxError, ValueError):
        why = "1: names google-adk's evaluation, and is not Python 3 in UTF-8: change it by hand"
        return RewrittenFile(path, "", "", [why]) if names_it else None
    after, left = file.rewrite(tree)
    if after == file.data and not left:
        return None
    return RewrittenFile(path, mark.decode() + before, mark.decode() + after.decode(), left)


def _may_go_through_package(data: bytes) -> bool:
    """Whether a file may use google-adk's evaluation without its full name, as by `from google import adk`."""
    return b"adk" in data and b"google" in data and (b"evaluation" in data or b"cli_eval" in data)


def _notebook_lines(data: bytes) -> Iterator[str]:
    for number, line in enumerate(data.splitlines(), 1):
        if _WORD.search(line):
            code = line.decode("utf-8", "replace").strip().rstrip(",").strip('"').removesuffix("\\n")
            yield f"{number}: in a notebook, which is not rewritten: {code[:_MOST_SHOWN]}"


Edit = tuple[int, int, bytes]


class _Source:
    """A Python file, and where google-adk's evaluation is named in it."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.lines = data.splitlines(keepends=True)
        self.left: list[tuple[int, str]] = []
        self._starts = [0]
        for line in self.lines:
            self._starts.append(self._starts[-1] + len(line))

    def line(self, offset: int) -> int:
        """Return the line of an offset, counted from 1."""
        return sum(start <= offset for start in self._starts)

    def rewrite(self, tree: ast.Module) -> tuple[bytes, list[str]]:
        """Return the text with all edits, and `line: why` of what was left alone."""
        edits = sorted(set(self._edits(tree)), reverse=True)
        after = self.data
        for start, end, new in edits:
            after = after[:start] + new + after[end:]
        left = [*self.left, *self.in_texts({self.line(start) for start, _, _ in edits})]
        return after, [f"{line}: {why}" for line, why in sorted(set(left))]

    def _edits(self, tree: ast.Module) -> Iterator[Edit]:
        """Yield the replacements in import statements, and in expressions that go through them."""
        nodes = list(ast.walk(tree))
        imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
        packages, prefixes = set[str](), set[str]()
        for node in imports:
            if isinstance(node, ast.ImportFrom) and node.level:
                continue  # a package of one's own
            edits = list(self._import_edits(node))
            yield from edits
            packages |= _names_of_package(node)
            prefixes |= _imported_modules(node) if edits else set()
        uses = [node for node in nodes if isinstance(node, ast.Attribute)]
        for use in uses:
            yield from self._use_edits(use, packages, prefixes)
        if prefixes and not _imports_google(imports):
            self._report_lost_names(uses)

    def in_texts(self, known_lines: set[int]) -> Iterator[tuple[int, str]]:
        """Yield the lines that name it where nothing is an import: texts and comments."""
        reported = {line for line, _ in self.left}
        for number, line in enumerate(self.lines, 1):
            if _WORD.search(line) and number not in known_lines | reported and not _RELATIVE.match(line):
                yield number, "in a text or a comment"

    def _import_edits(self, node: ast.Import | ast.ImportFrom) -> Iterator[Edit]:
        start, end = self._span(node)
        for match in _WORD.finditer(self.data, start, end):
            module = b"".join(match[0].split()).decode()
            if _is_mirrored(module):
                yield match.start(1), match.end(1), _new(b"".join(match[1].split()).decode()).encode()
            else:
                self.left.append((node.lineno, f"{module} has no counterpart in Proctor"))
        package = _PACKAGE.search(self.data, start, end)
        if not isinstance(node, ast.ImportFrom) or package is None:
            return
        for old in _OLD_MODULES:
            parent, _, module = old.rpartition(".")
            names = {alias.name for alias in node.names} if node.module == parent else set()
            if names == {module}:
                yield package.start(), package.end(), NEW.encode()
            elif module in names:
                self.left.append((node.lineno, f"take `{module}` out of it: `{_import_of(old)}`"))

    def _use_edits(self, node: ast.Attribute, packages: set[str], prefixes: set[str]) -> Iterator[Edit]:
        if not isinstance(node.value, ast.Name | ast.Attribute):
            return
        through = ast.unparse(node)
        if through in prefixes:
            yield (*self._span(node), _new(through).encode())
        for package, old in product(packages, _OLD_MODULES):
            if through not in prefixes and through == f"{package}{old.removeprefix(OLD)}":
                self.left.append((node.lineno, f"goes through `{through}`: write `{_import_of(old)}`"))

    def _report_lost_names(self, uses: list[ast.Attribute]) -> None:
        """Report uses of `google.adk.NAME`, where `google` came by an import that is rewritten."""
        rewritten = {id(node.value) for node in uses if ast.unparse(node) in _OLD_MODULES}
        for node in uses:
            name = ast.unparse(node)
            is_name_in_adk = name.startswith(f"{OLD}.") and name.count(".") == 2
            if is_name_in_adk and id(node) not in rewritten and name not in _OLD_MODULES:
                message = f"`{name}` came by an import that is rewritten: import it, too"
                self.left.append((node.lineno, message))

    def _span(self, node: ast.Import | ast.ImportFrom | ast.Attribute) -> tuple[int, int]:
        start = self._starts[node.lineno - 1] + node.col_offset
        end = self._starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        return start, end


def _imported_modules(node: ast.Import | ast.ImportFrom) -> set[str]:
    """Return the mirrored modules that an `import` statement binds by their full names."""
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    return {old for name in names for old in _OLD_MODULES if _is_in(name, old)}


def _imports_google(imports: list[ast.Import | ast.ImportFrom]) -> bool:
    """Whether an `import` statement that is not rewritten binds the name `google`."""
    aliases = [alias for node in imports if isinstance(node, ast.Import) for alias in node.names]
    names = [alias.name for alias in aliases if not alias.asname]
    return any(name.split(".")[0] == "google" and not name.startswith(_OLD_MODULES) for name in names)


def _names_of_package(node: ast.Import | ast.ImportFrom) -> set[str]:
    """The names by which `google.adk` itself is known after an import."""
    if isinstance(node, ast.ImportFrom):
        return {a.asname or a.name for a in node.names if node.module == "google" and a.name == "adk"}
    return {a.asname or a.name for a in node.names if a.name == "google.adk"}


def _new(module: str) -> str:
    return module.replace(OLD, NEW, 1)


def _import_of(module: str) -> str:
    parent, _, name = _new(module).rpartition(".")
    return f"from {parent} import {name}"


def _is_in(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _is_mirrored(module: str) -> bool:
    try:
        return find_spec(_new(module)) is not None
    except ModuleNotFoundError:
        return False
