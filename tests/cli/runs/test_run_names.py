"""A run is named alike wherever one is asked for: `latest~1` and `previous` are the one before the newest."""

import json
from pathlib import Path

import pytest

from tests.cli.project import case, copy_of, in_this_process, make_project


def make_two_runs() -> None:
    """Make two runs: `wrong` fails in the first, and passes since then."""
    make_project(Path(), case("right", "hello"), case("wrong", "no call"))
    in_this_process("eval", "agent.py", "cases.evalset.json")
    make_project(Path(), case("right", "hello"))
    in_this_process("eval", "agent.py", "cases.evalset.json")


@pytest.fixture
def ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The runs of a project, oldest first."""
    monkeypatch.chdir(tmp_path)
    copy_of(make_two_runs, tmp_path)
    listed = json.loads(in_this_process("runs", "--json").stdout)
    return [run["run_id"] for run in reversed(listed["runs"])]


COMMANDS = {
    "show": ["show", "{}"],
    "show a case": ["show", "{}", "wrong"],
    "score": ["score", "{}", "--config", "test_config.json"],
    "export": ["export", "{}", "--format", "json"],
    "resume": ["resume", "{}"],
    "bless": ["bless", "{}", "wrong", "--dry-run"],
    "judge label": ["judge", "label", "{}", "wrong", "--fail"],
    "prune": ["prune", "--run", "{}", "--dry-run"],
    "failed": ["eval", "agent.py", "cases.evalset.json", "--failed", "{}"],
    "compare": ["compare", "{}", "latest"],
    "baseline": ["baseline", "set", "main", "{}"],
    "plan": ["plan", "{}"],
}


_CHANGING = {"score", "bless", "judge label", "failed", "baseline"}
READING = {name: words for name, words in COMMANDS.items() if name not in _CHANGING}


@pytest.mark.nightly(check=4)
@pytest.mark.parametrize("name", ["latest~1", "previous"])
@pytest.mark.parametrize("arguments", READING.values(), ids=READING)
def test_the_run_before_the_newest_is_what_its_id_names(
    ids: list[str], arguments: list[str], name: str
) -> None:
    by_name, by_id = (in_this_process(*(one.format(run) for one in arguments)) for run in (name, ids[0]))
    assert (by_name.returncode, by_name.stdout) == (by_id.returncode, by_id.stdout)
    assert by_name.stdout
    assert by_name.stdout != in_this_process(*(one.format("latest") for one in arguments)).stdout


def test_show_of_a_case_without_a_run_names_the_command(ids: list[str]) -> None:
    done = in_this_process("show", "wrong")
    assert (done.returncode, done.stdout) == (2, "")
    command = f"`proctor show {ids[0]} wrong`"
    assert done.stderr == f"error: No run named 'wrong'. It is a case of the run {ids[0]}: {command}\n"
    assert "`proctor show latest right`" in in_this_process("show", "right").stderr


def test_what_did_not_pass_in_it_is_run_again(ids: list[str], tmp_path: Path) -> None:
    make_project(tmp_path, case("right", "hello"), case("wrong", "no call"))
    done = in_this_process("eval", "agent.py", "cases.evalset.json", "--failed", "latest~1")
    assert "FAILED  cases/wrong" in done.stdout
    assert "cases/right" not in done.stdout


@pytest.mark.nightly(check=5)
@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_name_before_the_first_run_is_reported(ids: list[str], arguments: list[str]) -> None:
    done = in_this_process(*(one.format("latest~2") for one in arguments))
    assert done.returncode == 2
    assert "No run 'latest~2': the store " in done.stderr
    assert " has 2 runs. `proctor runs` lists them" in done.stderr


def test_cases_that_no_name_tells_apart_are_named_with_their_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("north", "south"):
        (tmp_path / folder).mkdir()
        make_project(tmp_path / folder, case("a", "hello"))
    files = [f"{folder}/cases.evalset.json" for folder in ("north", "south")]
    assert in_this_process("eval", "north/agent.py", *files).returncode == 0
    for name in ("a", "cases/a"):
        message = in_this_process("show", "latest", name).stderr
        assert "the run has 2 cases cases/a (north/cases.evalset.json" in message
        assert "and south/cases.evalset.json" in message
        assert "give one of the sets another `eval_set_id`" in message
