"""Rules about the files themselves: size, names, what may never be in one, and reasons for every exception."""

import ast
import io
import re
import shutil
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.figures import functions
from tests.architecture.source import SRC, modules

ROOT = SRC.parent
PYTHON_FOLDERS = ("src", "tests", "examples", "benchmarks", "docs")

# Written in pieces, so that this file does not hold what it looks for.
NEVER = {
    "address of a package index": re.compile("pypi" + r"\.org/simple|" + "files.python" + "hosted|--(extra-)?index" + "-url"),
    "path of one machine": re.compile(r"(?<![\w.])/(" + "work|root|home/[a-z]+|Users/[a-z]+" + r")/"),
    "who or what made it": re.compile("co-authored" + "-by|generated (with|by) " + "(claude|copilot|chatgpt|codex)", re.IGNORECASE),
}  # fmt: skip
MAY_NAME_THEM = {
    "Makefile": "the maintainers' `make lock` names the option that leaves index addresses out",
    "CONTRIBUTING.md": "explains the rule",
}

_SUPPRESSION = re.compile(r"#\s*(noqa|type:\s*ignore|pyright:|pragma:)")
_WITH_CODE_AND_REASON = re.compile(
    r"#\s*(noqa:\s*[A-Z]+[0-9]+(,\s*[A-Z]+[0-9]+)*|type:\s*ignore\[[\w, -]+\])\s*\W+\s*\w.{7,}"
)


def _python_files() -> Iterator[Path]:
    for folder in PYTHON_FOLDERS:
        yield from sorted((ROOT / folder).rglob("*.py"))


def _relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _tracked_texts() -> Iterator[tuple[str, str]]:
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        pytest.skip("no git, or no git checkout: which files are tracked is unknown")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        path = ROOT / name
        if path.is_file():
            yield name, path.read_text(encoding="utf-8", errors="replace")


def _exceptions(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the comments of a file in which one may make an exception; the others are not read as tokens, which takes long."""
    text = path.read_text(encoding="utf-8")
    if not _SUPPRESSION.search(text):
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def _unexplained(comment: str) -> bool:
    return bool(_SUPPRESSION.search(comment)) and not _WITH_CODE_AND_REASON.search(comment)


def test_files_are_short() -> None:
    long = {
        _relative(path): n
        for path in sorted(SRC.rglob("*.py"))
        if (n := len(path.read_text().splitlines())) > 450
    }
    assert long == {}


@pytest.mark.slow
def test_nine_functions_in_ten_are_under_25_lines() -> None:
    lengths = {
        f"{module.name}.{node.name}": (node.end_lineno or 0) - node.lineno + 1 - _docstring_lines(node)
        for module, node in functions()
    }
    long = sorted(((n, name) for name, n in lengths.items() if n >= 25), reverse=True)
    assert len(long) <= len(lengths) / 10, long


def _docstring_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = node.body[0]
    has_docstring = ast.get_docstring(node, clean=False) is not None
    return (first.end_lineno or 0) - first.lineno + 1 if has_docstring else 0


def test_no_drawer_for_odds_and_ends() -> None:
    drawers = re.compile(r"(^|_)(utils?|helpers?|managers?)(_|$)")
    ours = (
        name for name in modules() if not name.startswith("proctor.compat.adk.evaluation.")
    )  # names of ADK's
    named = [name for name in ours if any(drawers.search(part) for part in name.split("."))]
    assert named == []


def test_every_folder_is_a_package_with_a_docstring() -> None:
    folders = {
        folder for path in (SRC / "proctor").rglob("*.py") for folder in path.parents if SRC in folder.parents
    }
    without = [
        _relative(folder)
        for folder in sorted(folders)
        if not (folder / "__init__.py").is_file()
        or not ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
    ]
    assert without == []


def test_lines_fit_a_screen() -> None:
    wide = [
        f"{_relative(path)}:{number}"
        for path in _python_files()
        if not _relative(path).startswith("tests/")  # a row of a test's table may hold a whole document
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > 160
    ]
    assert wide == []


@pytest.mark.slow
@pytest.mark.parametrize("what", NEVER)
def test_never_in_a_tracked_file(what: str) -> None:
    found = [
        f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match.group()}"
        for name, text in _tracked_texts()
        if name not in MAY_NAME_THEM
        for match in NEVER[what].finditer(text)
    ]
    assert found == []


@pytest.mark.slow
def test_every_exception_to_a_rule_has_its_code_and_its_reason() -> None:
    bare = [
        f"{_relative(path)}:{line}: {comment}"
        for path in _python_files()
        for line, comment in _exceptions(path)
        if _unexplained(comment)
    ]
    assert bare == []


@pytest.mark.parametrize(
    ("comment", "unexplained"),
    [
        ("# noqa", True),
        ("# noqa: BLE001", True),
        ("# noqa: BLE001, S110", True),
        ("# noqa: BLE001 - ok", True),
        ("# noqa: BLE001 - any exception of an agent is data", False),
        ("# noqa: BLE001, S110  # any exception of an agent is data", False),
        ("# type: ignore", True),
        ("# type: ignore[attr-defined]", True),
        ("# type: ignore[attr-defined]  # set by the decorator", False),
        ("# a plain comment", False),
    ],
)
def test_what_counts_as_explained(comment: str, unexplained: bool) -> None:
    assert _unexplained(comment) is unexplained


def test_every_ignored_rule_of_the_linter_has_its_reason() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    section = text[text.index("[tool.ruff.lint]") : text.index("[tool.ruff.lint.mccabe]")]
    ignored = [
        line
        for line in section.splitlines()
        if re.match(r'\s+"[A-Z]+[0-9]*",', line) and line.count('"') == 2
    ]
    assert ignored
    assert [line for line in ignored if "# " not in line] == []
