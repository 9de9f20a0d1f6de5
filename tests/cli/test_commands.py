"""The frame of every command: help, unknown names, error messages."""

import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Iterator

import click
import pytest
from click.testing import CliRunner, Result

from proctor.cli import main
from proctor.cli.main import COMMANDS, SECTIONS, cli
from proctor.cli.messages import Stopped
from proctor.common.registry import AGENTS, METRICS, MODELS, REPORTS, STORES, Registry, load_object
from proctor.errors import (
    AgentLoadError,
    EvalFileError,
    MetricError,
    SetupError,
    SetupProblems,
    UnknownNameError,
)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments))


# --- help ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]], ids=str)
def test_help_lists_every_command(arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.exit_code == 0
    names = re.findall(r"^  ([a-z][a-z-]*)  ", result.stdout, flags=re.MULTILINE)
    assert names == list(COMMANDS)
    assert names[:5] == ["init", "eval", "show", "compare", "web"]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        pytest.param(name, line, id=name)
        for section in SECTIONS.values()
        for name, (_, line) in section.items()
    ],
)
def test_every_command_explains_itself(name: str, line: str) -> None:
    result = run(name, "--help")
    assert result.exit_code == 0
    assert "Examples:" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 100
    command = load_object(COMMANDS[name])
    assert command.get_short_help_str(limit=200).rstrip(".") == line.rstrip(".")


def commands_below(command: click.Command) -> Iterator[click.Command]:
    yield command
    for below in getattr(command, "commands", {}).values():
        yield from commands_below(below)


def test_every_command_that_sets_its_exit_code_explains_it() -> None:
    explained = {
        one.name: "Exit codes: " in (one.help or "")
        for name in COMMANDS
        for one in commands_below(load_object(COMMANDS[name]))
        if one.callback is not None
        and re.search(r"\.exit\(", inspect.getsource(inspect.unwrap(one.callback)))
    }
    assert {"eval", "compare", "bless", "adopt", "audit", "check", "generate"} <= set(explained)
    assert [name for name, is_explained in explained.items() if not is_explained] == ["eval"]


@pytest.mark.parametrize("registry", [METRICS, AGENTS, REPORTS, STORES, MODELS], ids=lambda one: one.kind)
def test_unknown_name_of_a_plugin_leads_to_all_names(registry: Registry) -> None:
    with pytest.raises(UnknownNameError) as refused:
        registry.get("plain")
    message = str(refused.value)
    command = re.search(r"`proctor (\w+)` lists all", message)
    if command is not None:
        assert command[1] in COMMANDS
        assert set(registry.names()) <= set(run(command[1]).stdout.split())
    else:
        assert all(name in message for name in registry.names())


@pytest.mark.slow
def test_on_80_columns_only_a_command_to_copy_is_longer() -> None:
    for name in COMMANDS:
        text = CliRunner().invoke(cli, [name, "--help"], terminal_width=80).stdout
        long_lines = [line for line in text.splitlines() if len(line) > 80]
        assert [
            line for line in long_lines if not line.startswith("  proctor ") or "  " in line.strip()
        ] == []


@pytest.mark.slow
def test_help_loads_nothing_heavy() -> None:
    heavy = ("pydantic", "rich", "yaml", "asyncio", "google", "dotenv")
    code = (
        "import sys; from proctor.cli.main import cli\n"
        "try: cli(['--help'])\n"
        "except SystemExit: pass\n"
        f"print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_version() -> None:
    result = run("--version")
    assert (result.exit_code, result.stdout) == (0, "proctor 0.1.0\n")


# --- spellings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evl"], "error: No command 'evl'. Did you mean 'eval'?"),
        (
            ["xyzzy"],
            "error: No command 'xyzzy'.\n       See: ",
        ),
        (
            ["eval", "--concurency", "x"],
            "error: No such option '--concurency'. Did you mean '--concurrency'?",
        ),
        (
            ["eval", "--num-runs", "0"],
            "error: Invalid value for '--num-runs' / '--trials': expected a whole number of at least 1, got 0",
        ),
        (
            ["eval", "--num_runs", "many"],
            "error: Invalid value for '--num-runs' / '--trials': expected a whole number of at least 1, got many",
        ),
        (
            ["eval", "--timeout", "0"],
            "error: Invalid value for '--timeout': expected a number above 0, got 0",
        ),
        (["eval", "--metrics", ","], "error: Invalid value for '--metrics': expected one or more names"),
        (["eval", "--compat", "ADK2"], "error: Invalid value for '--compat': 'ADK2' is not 'adk'."),
        (["eval", "--log_level", "loud"], "error: Invalid value for '--log_level'"),
        (["metrics", "a", "b"], "error: Got unexpected extra argument (b)"),
    ],
    ids=str,
)
def test_usage_errors(arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(message)
    assert "--help" in result.stderr


def test_what_was_typed_cannot_reach_the_terminal_as_a_command() -> None:
    result = run("\x1b[2Jevil\x07")
    assert result.exit_code == 2
    assert "\x1b" not in result.stderr
    assert r"\x1b" in result.stderr


# --- when something goes wrong ---------------------------------------------------------------------------------------

Break = Callable[[BaseException], Callable[..., Result]]


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Break:
    """A command that raises the given exception."""

    def make(error: BaseException) -> Callable[..., Result]:
        @click.command()
        def command() -> None:
            try:
                raise ValueError("the deeper cause")
            except ValueError as cause:
                raise error from cause

        monkeypatch.setitem(COMMANDS, "break", ("unused", "Break."))
        monkeypatch.setattr(main, "load_object", lambda _path: command)
        return lambda *arguments: run(*arguments, "break")

    return make


FAILURES = {
    "a set-up error": (SetupError("no agent"), 2, "error: no agent\n"),
    "several lines are one block": (SetupError("a.json:\n1:2: x"), 2, "error: a.json:\n       1:2: x\n"),
    "problems of a file": (
        EvalFileError("a.json:1:2: error: x: y (z)\na.json:3:4: error: v\n… and 3 more problems"),
        2,
        "error: a.json:1:2: x: y (z)\nerror: a.json:3:4: v\n       … and 3 more problems\n",
    ),
    "several problems": (
        SetupProblems([SetupError("one"), SetupProblems([SetupError("two"), SetupError("one")])]),
        2,
        "error: one\nerror: two\n",
    ),
    "control sequences": (AgentLoadError("\x1b[31mred\x1b[0m"), 2, "error: \\x1b[31mred\\x1b[0m\n"),
    "Ctrl-C": (KeyboardInterrupt(), 130, "interrupted\n"),
    "SIGTERM": (Stopped(143), 143, ""),
    "something of ours that should have been data": (MetricError("odd"), 3, "error: odd\n"),
    "a file that cannot be written": (
        PermissionError(13, "Permission denied", "x.json"),
        3,
        "error: x.json: Permission denied\n",
    ),
    "a reader that is gone": (BrokenPipeError(32, "Broken pipe"), 3, ""),
    "a bug": (
        RuntimeError("oops"),
        3,
        "error: RuntimeError: oops\n       This is a bug in Proctor; -v shows where.\n",
    ),
    "a stray sys.exit(0)": (
        SystemExit(0),
        3,
        "error: SystemExit: 0\n       This is a bug in Proctor; -v shows where.\n",
    ),
    "memory": (MemoryError(), 3, "error: MemoryError: \n       This is a bug in Proctor; -v shows where.\n"),
}


@pytest.mark.parametrize(("error", "code", "stderr"), FAILURES.values(), ids=FAILURES)
def test_failures(broken: Break, error: BaseException, code: int, stderr: str) -> None:
    result = broken(error)()
    assert (result.exit_code, result.stdout, result.stderr) == (code, "", stderr)


@pytest.mark.parametrize("error", [RuntimeError("oops"), SetupError("oops")], ids=repr)
def test_verbose_shows_where_it_came_from(broken: Break, error: BaseException) -> None:
    quiet, loud = broken(error)(), broken(error)("-v")
    assert "the deeper cause" not in quiet.stderr
    assert "ValueError: the deeper cause" in loud.stderr
    assert quiet.exit_code == loud.exit_code
