"""Shell completion, through the protocol of click: the values for each kind of argument, and a project that has little or nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from proctor.cli.main import COMMANDS, cli
from tests.cli.project import case, in_this_process, make_project, write_set

SETTINGS = 'agent = "agent.py"\nsets = ["cases.evalset.json"]\nstore = "runs.sqlite3"\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "proctor.toml").write_text(SETTINGS)
    write_set(
        tmp_path / "cases.evalset.json", case("rome", "rome"), case("rimini", "rimini"), case("a b; c", "c")
    )
    return tmp_path


class Shell:
    """Requests completions as bash does: `:` and `=` are separate words."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch, self._capfd = monkeypatch, capfd

    def __call__(self, *words: str) -> list[str]:
        self._monkeypatch.setenv("_PROCTOR_COMPLETE", "bash_complete")
        self._monkeypatch.setenv("COMP_WORDS", "\n".join(["proctor", *words]))
        self._monkeypatch.setenv("COMP_CWORD", str(len(words)))
        self._capfd.readouterr()
        with pytest.raises(SystemExit) as done:
            cli.main()
        self._monkeypatch.delenv("_PROCTOR_COMPLETE")
        out, err = self._capfd.readouterr()
        assert (done.value.code, err) == (0, "")
        lines = [line.partition(",") for line in out.splitlines() if line]
        return [value for kind, _, value in lines if kind == "plain"]


@pytest.fixture
def complete(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capfd)


def test_commands_and_options(project: Path, complete: Shell) -> None:
    assert complete("") == list(COMMANDS)
    assert complete("eval-set", "a") == ["add-case", "add-scenarios"]
    assert complete("eval", "--num") == ["--num-runs"]
    assert complete("runs", "--outcome", "") == ["passed", "failed", "error", "inconclusive"]


def test_an_old_spelling_is_not_offered(project: Path, complete: Shell) -> None:
    assert complete("record", "--in") == []
    assert complete("record", "--out") == ["--output"]


def test_agents_and_eval_sets_of_the_settings(project: Path, complete: Shell) -> None:
    assert complete("eval", "") == ["agent.py", "cases.evalset.json"]
    assert complete("eval", "agent.py", "ca") == ["cases.evalset.json"]
    assert complete("eval", "--agent", "") == ["agent.py"]
    assert complete("eval", "--store", "r") == ["runs.sqlite3"]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("eval", "agent.py", "cases.evalset.json", ":"), ["rome", "rimini"]),
        (("eval", "agent.py", "cases.evalset.json", ":", "ri"), ["rimini"]),
        (("eval", "agent.py", "cases.evalset.json", ":", "rome,"), ["rome,rimini"]),
        (("eval", "cases.evalset.json", ":", "ro"), ["rome"]),
        (("eval", "--set", "cases.evalset.json", ":", "ro"), ["rome"]),
        (("eval", "--set", "=", "cases.evalset.json", ":", "ro"), ["rome"]),
        (
            ("eval", "agent.py", "cases.evalset.json:ro"),
            ["cases.evalset.json:rome"],
        ),  # `:` is no break in this shell
        (("eval-set", "show", "cases.evalset.json", "r"), ["rome", "rimini"]),
        (("eval-set", "remove", "cases.evalset.json", "rome", "r"), ["rimini"]),
    ],
    ids=" ".join,
)
def test_cases_of_an_eval_set(
    project: Path, complete: Shell, words: tuple[str, ...], offered: list[str]
) -> None:
    assert complete(*words) == offered


@pytest.mark.slow
def test_runs_and_their_cases(project: Path, complete: Shell) -> None:
    assert complete("show", "") == []
    for _ in range(2):
        assert in_this_process("eval").returncode == 0
    offered = complete("show", "")
    assert offered[:2] == ["latest", "previous"]
    assert len(offered) == 4
    assert complete("resume", offered[2][:6]) == [offered[2]]
    for words in (
        ["show", "latest"],
        ["bless", offered[3]],
        ["judge", "label", "latest"],
        ["compare", "previous", "latest"],
    ):
        assert complete(*words, "r") == ["rome", "rimini"]
    assert complete("runs", "--agent", "") == [complete("history", "--agent", "")[0]]
    assert complete("runs", "--set", "c") == ["cases"]
    assert in_this_process("baseline", "set", "main").returncode == 0
    assert complete("baseline", "show", "") == ["main"]
    assert complete("compare", "--baseline", "mai") == ["main"]
    assert complete("eval", "--against", "mai") == ["main"]  # an id of a run may begin with m


def test_names_of_metrics_and_reports(project: Path, complete: Shell) -> None:
    assert complete("metrics", "safe") == ["safety_v1"]
    assert complete("eval", "--metrics", "safety_v1,response_m") == ["safety_v1,response_match_score"]
    assert complete("plan", "--metric", "response_m") == ["response_match_score"]
    assert complete("eval", "--report", "js") == ["json=", "jsonl="]
    assert complete("show", "--format", "ju") == ["junit"]


def test_an_id_that_a_shell_would_run_is_not_offered(project: Path, complete: Shell) -> None:
    write_set(
        project / "hostile.evalset.json", case("$(touch hacked)", "x"), case("`id`", "x"), case("fine", "x")
    )
    assert complete("eval", "agent.py", "hostile.evalset.json", ":") == ["fine"]


BROKEN = {
    "no project": {},
    "broken settings": {"proctor.toml": "agent = ["},
    "a store that is none": {"proctor.toml": 'store = "x.sqlite3"', "x.sqlite3": "no database"},
    "a broken eval set": {"cases.evalset.json": "{"},
}


@pytest.mark.parametrize("files", BROKEN.values(), ids=BROKEN)
def test_completion_never_fails_and_creates_nothing(
    tmp_path: Path, complete: Shell, monkeypatch: pytest.MonkeyPatch, files: dict[str, str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    for words in (
        ["show", ""],
        ["show", "latest", ""],
        ["compare", ""],
        ["eval", ""],
        ["eval", "a", "cases.evalset.json", ":"],
    ):
        assert complete(*words) == []
    assert complete("nosuch", "") == []
    assert complete("baseline", "show", "") == []
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(files)


@pytest.mark.slow
def test_completion_in_a_real_bash(project: Path) -> None:
    script = (
        'eval "$(_PROCTOR_COMPLETE=bash_source proctor)"\n'
        "COMP_WORDS=(proctor eval agent.py cases.evalset.json : ri) COMP_CWORD=5\n"
        "_proctor_completion proctor\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": path},
    )
    assert (done.stdout, done.stderr) == ("rimini\n", "")
