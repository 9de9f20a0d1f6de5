"""`proctor baseline` and `proctor compare --baseline`: what is printed, and what is refused."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from proctor.cli.main import cli
from tests.cli.runs.test_compare import IDS, bad, good, runs


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "runs.sqlite3"


def call(store: Path, *arguments: str) -> Result:
    return CliRunner().invoke(cli, [*arguments, "--store", str(store)])


def test_from_a_name_to_a_file_in_the_repository(store: Path, tmp_path: Path) -> None:
    runs(store, good)
    said = call(store, "baseline", "set", "main")
    assert (said.exit_code, said.stdout.startswith("main  run=")) == (0, True)
    assert call(store, "baseline", "list").stdout == said.stdout
    assert json.loads(call(store, "baseline", "list", "--json").stdout)[0]["cases"] == len(IDS)
    file = tmp_path / "main.json"
    assert call(store, "baseline", "export", "main", str(file)).stdout.startswith(f"{file}: baseline main, ")
    assert call(store, "baseline", "show", "main").stdout == file.read_text()
    runs(store, bad)
    for named in ("main", str(file)):
        found = call(store, "compare", "--baseline", named)
        assert (found.exit_code, "OUTCOME  regression" in found.stdout) == (1, True)
    itself = call(store, "compare", "--baseline", "main", "latest~1")
    assert (itself.exit_code, "a run does not differ from itself" in itself.stderr) == (2, True)
    assert "CASE  words/case1" in call(store, "compare", "--baseline", "main", "latest", "case1").stdout
    named_as_run = call(store, "compare", "main", "latest", "case1")
    assert (named_as_run.exit_code, "`proctor compare --baseline main" in named_as_run.stderr) == (2, True)
    assert call(store, "baseline", "remove", "main").stdout == "removed main\n"
    assert call(store, "baseline", "list").stdout == ""
    assert call(store, "prune", "--run", "latest~1", "--yes").exit_code == 0
    gone = call(store, "compare", "--baseline", str(file), "latest", "case1")
    assert (gone.exit_code, f"of the baseline {file} is not in" in gone.stderr) == (2, True)


def test_one_that_cannot_be_read_is_named_and_can_be_removed(store: Path) -> None:
    runs(store, good)
    call(store, "baseline", "set", "main")
    file = store.with_name(f"{store.name}.baselines") / "main.json"
    file.write_text("{")
    listed = call(store, "baseline", "list")
    assert (listed.exit_code, f"{file}: not a baseline: not JSON" in listed.stderr) == (2, True)
    assert call(store, "baseline", "remove", "main").exit_code == 0
    assert call(store, "baseline", "list").exit_code == 0


@pytest.mark.slow
def test_prune_leaves_a_baseline_alone(store: Path) -> None:
    runs(store, good, good)
    call(store, "baseline", "set", "main", "latest~1")
    assert "deleted 1 run" in call(store, "prune", "--keep", "0", "--yes").stdout
    refused = call(store, "prune", "--run", "latest", "--yes")
    assert (refused.exit_code, "is the baseline main" in refused.stderr) == (2, True)


@pytest.mark.nightly(check=3)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "--baseline", "mian"], "No baseline 'mian'"),
        (["compare", "--baseline", "none.json"], "none.json: the baseline cannot be read"),
        (["compare", "--baseline", "main", "latest", "case1", "more"], "expected at most CANDIDATE and CASE"),
        (["compare", "a", "b", "c", "d"], "expected at most BASE, CANDIDATE and CASE"),
        (["baseline", "set", "latest"], "a baseline cannot be called 'latest'"),
        (["baseline", "set", "main", "nothing"], "nothing"),
        (["baseline", "remove", "none"], "No baseline 'none'"),
        (["baseline", "export", "none", "x.json"], "No baseline 'none'"),
        (["baseline", "export", "main", "."], "is a folder: name a file in it"),
        (["baseline"], "Name runs that others are compared with"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_refused_is_refused_in_one_message(store: Path, arguments: list[str], message: str) -> None:
    runs(store, good, good)
    call(store, "baseline", "set", "main")
    found = call(store, *arguments) if len(arguments) > 1 else CliRunner().invoke(cli, arguments)
    assert (found.exit_code, found.stdout) == (2, "")
    assert message in found.stderr
