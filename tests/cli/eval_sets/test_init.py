"""`proctor init`: what it writes runs, and nothing is overwritten."""

from pathlib import Path

import pytest

from proctor.cli.eval_sets.init import FILES
from tests.cli.project import in_this_process, proctor


def test_it_runs_at_once(tmp_path: Path) -> None:
    written = proctor("init", cwd=tmp_path)
    assert written.returncode == 0
    assert [line for line in written.stdout.splitlines() if line.startswith("wrote")] == [
        f"wrote {name}" for name in FILES
    ]
    done = proctor("eval", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "VERDICT  passed: " in done.stdout
    assert proctor("check", "evals", cwd=tmp_path).returncode == 0


def test_in_a_new_folder_and_what_comes_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written = in_this_process("init", "a/new one")
    assert "  cd a/new one\n" in written.stdout
    monkeypatch.chdir(tmp_path / "a" / "new one" / "evals")
    assert in_this_process("eval").returncode == 0


def test_it_is_easy_to_make_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    in_this_process("init")
    cases = tmp_path / "evals" / "weather.evalset.yaml"
    cases.write_text(cases.read_text().replace("city=Paris", "city=Oslo"))
    done = in_this_process("eval")
    assert done.returncode == 1
    assert "VERDICT  failed" in done.stdout
    assert "get_weather" in done.stdout


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    mine = tmp_path / name
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("mine")
    done = in_this_process("init")
    assert done.returncode == 2
    assert f"error: {name}: already there; nothing was written" in done.stderr
    assert mine.read_text() == "mine"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [mine]


def test_a_project_that_is_set_up_in_pyproject(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.proctor]\nagent = 'x'\n")
    done = in_this_process("init")
    assert done.returncode == 2
    assert "has [tool.proctor] already" in done.stderr
    assert len(list(tmp_path.iterdir())) == 1


def test_file_is_not_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    done = in_this_process("init", "file")
    assert (done.returncode, done.stderr) == (2, "error: file is not a folder\n")
