"""Runs a page as a reader would: its blocks from top to bottom, in one folder that has a copy of `examples/`."""

import ast
import asyncio
import contextlib
import inspect
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml
from click.testing import CliRunner

from proctor.cli.main import cli
from tests.cli.fork_command import fork_command
from tests.docs.examples.console import agrees, steps
from tests.docs.examples.pages import ROOT, Block

KINDS = {
    "evalset": "eval set",
    "config": "eval config",
    "scenarios": "conversation scenarios",
    "session_input": "session input",
}
"""The word in an info string, and what `proctor check` calls such a file."""
SHELLS = ("sh", "bash", "shell")
_SHELL = re.compile(r"[|&;<>()$`*?{}]")
"""What only a shell understands."""
PROSE = ("text", "js", "markdown", "mermaid", "diff", "html", "ini", "makefile")


class PageError(AssertionError):
    """What a page shows is not what happens."""


class Reader:
    """A reader who works through one page: a folder, the names defined so far, and what was printed last."""

    def __init__(self, folder: Path, *, before: "Reader | None" = None) -> None:
        """Begin in an empty folder, or with a copy of all that a reader of another page has."""
        self.folder = folder
        self.names: dict[str, Any] = {"__name__": "page"}
        self.printed: str | None = None
        if before is not None:
            shutil.copytree(before.folder, folder, dirs_exist_ok=True, symlinks=True)
            self.names, self.printed = dict(before.names), before.printed
        elif (ROOT / "examples").is_dir():
            ignored = shutil.ignore_patterns("__pycache__", ".proctor", ".adk")
            shutil.copytree(ROOT / "examples", folder / "examples", ignore=ignored)

    def follow(self, block: Block) -> None:
        """Run the block. Raises PageError with the page and line where it turns out otherwise."""
        if not block.runs:
            _require(block, bool(block.reason_not_to_run), "`no-run` needs a reason: `no-run: why`")
            return
        if "output" in block.words:
            self._compare(block)
            return
        if name := block.option("file"):
            target = self.folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, encoding="utf-8")
        self._do(block)

    def _do(self, block: Block) -> None:
        if block.option("file") and block.language == "python":
            compile(block.text, str(block), "exec")
        elif block.language == "python":
            self._python(block)
        elif block.language == "console":
            self._console(block)
        elif block.language in PARSERS:
            self._data(block)
        else:
            _require(block, block.language not in SHELLS, "write commands as ```console with `$ ` prompts")
            _require(
                block,
                block.language in PROSE,
                f"unknown language {block.language!r} (```text for plain text)",
            )

    def _compare(self, block: Block) -> None:
        _require(block, self.printed is not None, "`output` follows a block that printed")
        if not agrees(block.text, self.printed or ""):
            raise PageError(f"{block}: the page shows\n{block.text}\nbut printed was\n{self.printed}")

    def _python(self, block: Block) -> None:
        source = "\n" * (block.line - 1) + block.text  # tracebacks then point into the page
        code = compile(source, block.page, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        out = io.StringIO()
        with _inside(self.folder), contextlib.redirect_stdout(out):
            result = eval(code, self.names)
            if inspect.iscoroutine(result):
                asyncio.run(result)
        self.printed = out.getvalue()

    def _console(self, block: Block) -> None:
        todo = list(steps(block.text))
        for step in todo:
            done = _shell(step.command, self.folder)
            self.printed = done.stdout
            expected = int(block.option("exit") or 0) if step is todo[-1] else done.returncode
            if done.returncode != expected:
                raise PageError(f"{block}: `{step.command}` left with {done.returncode}:\n{self.printed}")
            if step.shown and not agrees(step.shown, self.printed):
                raise PageError(
                    f"{block}: `{step.command}` shows\n{step.shown}\nbut printed was\n{self.printed}"
                )

    def _data(self, block: Block) -> None:
        word = next((word for word in block.words if word in KINDS), None)
        if word is None:
            self._parse(block)
            return
        path = self.folder / (block.option("file") or f"page-{block.line}.{word}.{block.language}")
        path.write_text(block.text, encoding="utf-8")
        # the reader of a page has the key that its config requires; nothing is asked here
        with _inside(self.folder):  # not in a process: a page has many of these
            done = CliRunner(env={"GOOGLE_API_KEY": "none"}).invoke(cli, ["check", str(path), "--json"])
        _require(block, done.stdout.startswith("{"), done.output)
        (found,) = json.loads(done.stdout)["files"]
        told = json.dumps(found["problems"], indent=2)
        _require(block, found["usable"], f"is not usable: {told}")
        _require(block, found["kind"] == KINDS[word], f"is read as {found['kind']}, not as {KINDS[word]}")
        _require(
            block,
            not found["problems"] or "warns" in block.words,
            f"a page shows files as they should be: {told}",
        )

    def _parse(self, block: Block) -> None:
        try:
            PARSERS[block.language](block.text)
        except (ValueError, yaml.YAMLError) as error:
            raise PageError(f"{block}: is no {block.language}: {error}") from error


PARSERS: dict[str, Callable[[str], object]] = {
    "json": json.loads,
    "yaml": yaml.safe_load,
    "toml": tomllib.loads,
}


def _require(block: Block, condition: bool, message: str) -> None:
    if not condition:
        raise PageError(f"{block}: {message}")


def _shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    here = str(Path(sys.executable).parent)
    env = {**os.environ, "PATH": here + os.pathsep + os.environ.get("PATH", ""), "COLUMNS": "100"}
    if command.startswith("proctor ") and not _SHELL.search(command):
        words = shlex.split(command.replace("\\\n", " "), comments=True)
        return fork_command(*words[1:], cwd=folder, environment=env, timeout=120, join_outputs=True)
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,  # a reader sees both, in the order they come
        text=True,
        check=False,
        timeout=120,
    )


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before, paths, loaded = Path.cwd(), list(sys.path), set(sys.modules)
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        os.chdir(before)
        sys.path[:] = paths
        for name in (
            set(sys.modules) - loaded
        ):  # another page has another folder, with other modules of these names
            if str(getattr(sys.modules[name], "__file__", None)).startswith(str(folder)):
                del sys.modules[name]
