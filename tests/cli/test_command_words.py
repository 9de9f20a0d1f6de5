"""An empty word on the command line is a usage error, never "not given"; so are options that exclude one another."""

import json
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from proctor.cli.command_base import NumberType, SectionedCommand, SectionedOption
from proctor.cli.main import COMMANDS
from proctor.common.registry import load_object
from tests.cli.project import case, copy_of, in_this_process, make_project

EVAL = ["eval", "agent.py", "cases.evalset.json"]


def _commands(
    command: click.Command, path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield from _commands(inner, (*path, name))
    else:
        yield path, command


ALL = {
    " ".join(path): (path, command)
    for name, reference in COMMANDS.items()
    for path, command in _commands(load_object(reference), (name,))
}
"""Every command, by the words that call it."""
OPTIONS = {
    f"{name} {parameter.opts[0]}": (path, parameter)
    for name, (path, command) in ALL.items()
    for parameter in command.params
    if isinstance(parameter, click.Option) and not parameter.is_flag and not parameter.count
}
"""Every option that takes a value, of every command."""
TEXTS = {"agent check --message", "agent check --failing", "eval-set add-case --expect", "judge label --note"}
"""Options whose value may be an empty text."""
WITH_ARGUMENTS = {
    name: (path, command)
    for name, (path, command) in ALL.items()
    if any(isinstance(parameter, click.Argument) for parameter in command.params)
}


def make_failed_run() -> None:
    """Make one run that failed, and no other file."""
    make_project(Path(), case("bad", "bad", answer="nothing like it"))
    assert in_this_process(*EVAL).returncode == 1


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a run that failed."""
    monkeypatch.chdir(tmp_path)
    return copy_of(make_failed_run, tmp_path)


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refusal(*words: str) -> str:
    """Run a command that is refused before it does anything, and return what it prints."""
    before = sorted(Path().rglob("*"))
    done = in_this_process(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert sorted(Path().rglob("*")) == before
    return done.stderr


@pytest.mark.parametrize("command", [command for _, command in ALL.values()], ids=ALL)
def test_every_command_checks_its_words(command: click.Command) -> None:
    assert isinstance(command, SectionedCommand)


@pytest.mark.nightly(check=120)
@pytest.mark.parametrize("name", sorted(OPTIONS.keys() - TEXTS))
@pytest.mark.parametrize("value", ["", " "], ids=["empty", "blank"])
def test_an_empty_option_is_refused(empty: Path, name: str, value: str) -> None:
    path, option = OPTIONS[name]
    said = refusal(*path, option.opts[0], value)
    assert said.startswith(f"error: {option.opts[0]} is empty: expected {option.opts[0]} ")
    assert said.endswith(f" {' '.join(path)} --help\n")


@pytest.mark.parametrize("name", WITH_ARGUMENTS)
def test_an_empty_argument_is_refused(empty: Path, name: str) -> None:
    assert refusal(*WITH_ARGUMENTS[name][0], "").startswith("error: argument 1 is empty")


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_a_text_may_be_empty(name: str) -> None:
    option = OPTIONS[name][1]
    assert isinstance(option, SectionedOption)
    assert option.allow_empty


@pytest.mark.nightly(check=6)
@pytest.mark.parametrize(
    "words",
    [
        [*EVAL, "--failed", ""],
        [*EVAL, "--failed="],
        [*EVAL, ""],
        [*EVAL, "--shard", ""],
        [*EVAL, "--tag", "a", "--tag", ""],
        [*EVAL, "--report", "json=out.json", "--format", ""],
        ["score", "--config", ""],
        ["score", ""],
        ["compare", ""],
        ["compare", "previous", ""],
        ["check", ""],
        ["check", "cases.evalset.json", ""],
        ["import", ""],
        ["export", "--format", ""],
        ["export", "--format", "json", "--output", ""],
        ["prune", "--run", "", "--yes"],
        ["bless", "latest", "", "--yes"],
        ["show", "latest", ""],
    ],
    ids=" ".join,
)
def test_an_empty_variable_of_a_script_is_not_taken_for_nothing(project: Path, words: list[str]) -> None:
    before = len(json.loads(in_this_process("runs", "--json").stdout)["runs"])
    done = in_this_process(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert " is empty" in done.stderr
    assert done.stderr.count("error: ") == 1
    assert len(json.loads(in_this_process("runs", "--json").stdout)["runs"]) == before


def test_help_takes_precedence_over_other_options(empty: Path) -> None:
    done = in_this_process("eval", "--failed", "", "--config", "a", "--config", "b", "--help")
    assert (done.returncode, done.stderr) == (0, "")


# --- options that exclude one another --------------------------------------------------------------------------------------


REPEATED = {name: (path, option) for name, (path, option) in OPTIONS.items() if not option.multiple}


@pytest.mark.parametrize("name", REPEATED)
def test_an_option_that_takes_one_value_is_given_once(empty: Path, name: str) -> None:
    path, option = REPEATED[name]
    said = refusal(*path, option.opts[0], "1", f"{option.opts[0]}=2")
    first, second = ("***", "***") if option.opts[0] == "--token" else ("1", "2")
    assert said.startswith(f"error: {option.opts[0]} {first} and {option.opts[0]} {second}: "), said


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (
            [*EVAL, "--config", "a.json", "--config_file_path", "b.json"],
            "--config a.json and --config_file_path b.json",
        ),
        ([*EVAL, "--format", "junit", "--json"], "--format junit and --json"),
        ([*EVAL, "--json", "--format", "junit"], "--json and --format junit"),
        (["score", "--json", "--format=json"], "--json and --format json"),
        (["judge", "label", "latest", "bad", "--pass", "--fail"], "--pass and --fail"),
        (["export", "-o", "a.json", "--output", "b.json"], "-o a.json and --output b.json"),
        (
            ["eval", "--num-runs", "1", "--num_runs", "2", "--num-runs=3"],
            "--num-runs 1 and --num-runs 2 and --num-runs 3",
        ),
        ([*EVAL, "--num-runs", "8", "--trials", "5"], "--num-runs 8 and --trials 5"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_words_that_exclude_one_another_are_named(project: Path, words: list[str], named: str) -> None:
    done = in_this_process(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {named}: these options exclude one another. ")


def test_repeatable_options_repeat(project: Path) -> None:
    done = in_this_process(
        *EVAL,
        "--details",
        "--details",
        "-v",
        "-v",
        "--report",
        "json=a.json",
        "--report",
        "junit=b.xml",
        "--json",
        "--json",
    )
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["outcome"] == "failed"


# --- numbers that nothing holds -------------------------------------------------------------------------------------------


NUMBERS = {
    name: (path, option) for name, (path, option) in OPTIONS.items() if isinstance(option.type, NumberType)
}


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_that_no_store_holds_is_refused(empty: Path, name: str) -> None:
    path, option = NUMBERS[name]
    said = refusal(*path, option.opts[0], str(10**19))
    assert said.startswith(f"error: Invalid value for '{option.opts[0]}"), said
    assert "at most 2**63 - 1" in said
