"""Settings that nothing reads because their file or their table is misspelled."""

from pathlib import Path

import pytest

from proctor.runs.setup.settings import misspelled_settings, project_root
from tests.cli.project import case, in_this_process, make_project

EVAL = ["eval", "agent.py", "cases.evalset.json"]
FILES = {
    "proctor.tml": "num_runs = 3\n",
    "proctr.toml": "num_runs = 3\n",
    "Proctor.toml": "num_runs = 3\n",
    ".proctor.toml": "num_runs = 3\n",
    "proctor.yaml": "num_runs: 3\n",
    "proctor.yml": "num_runs: 3\n",
}
TABLES = ["tool.proctr", "tool.Proctor", 'tool."procter"', "tool.proctr.env", "proctor"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(make_project(tmp_path, case("hello", "hello")))
    (tmp_path / ".git").mkdir()
    return tmp_path


def _expect_warning(*named: str) -> None:
    done = in_this_process(*EVAL)
    assert done.returncode == 0
    assert done.stderr.count("warning: ") == 1
    assert all(name in done.stderr for name in ("nothing reads", "Did you mean", *named))
    strict = in_this_process(*EVAL, "--warnings-as-errors")
    assert (strict.returncode, strict.stdout) == (2, "")
    assert all(name in strict.stderr for name in ("error: ", "nothing reads", *named))


@pytest.mark.parametrize("name", FILES)
def test_a_misspelled_file_is_a_warning(project: Path, name: str) -> None:
    (project / name).write_text(FILES[name])
    _expect_warning(name, "proctor.toml")


@pytest.mark.parametrize("table", TABLES)
def test_a_misspelled_table_is_a_warning(project: Path, table: str) -> None:
    (project / "pyproject.toml").write_text(f"[project]\nname = 'x'\n\n[{table}]\nnum_runs = 3\n")
    _expect_warning("pyproject.toml", "[tool.proctor]")


@pytest.mark.parametrize(
    "command", [["score"], ["check", "cases.evalset.json"], ["resume", "latest"]], ids=" ".join
)
def test_other_commands_that_read_settings_warn_too(project: Path, command: list[str]) -> None:
    assert in_this_process(*EVAL).returncode == 0
    (project / "proctor.tml").write_text("")
    assert "warning: " in in_this_process(*command).stderr


def test_it_is_found_up_to_the_root_of_the_project_and_not_above(project: Path) -> None:
    inner = project / "sub" / "inner"
    inner.mkdir(parents=True)
    (project / "proctor.tml").write_text("")
    (project.parent / "proctor.yml").write_text("")
    try:
        assert [
            str(project / "proctor.tml") in one for one in misspelled_settings(inner, project_root(inner))
        ] == [True]
    finally:
        (project.parent / "proctor.yml").unlink()


@pytest.mark.slow
def test_what_only_sounds_like_it_is_left_alone(project: Path) -> None:
    for name in (
        "proctor.html",
        "proctor.json",
        "proctor.py",
        "proctor.txt",
        "proctor.toml.orig",
        "protocol.toml",
    ):
        (project / name).write_text("")
    (project / "proctor.yaml").mkdir()
    (project / "pyproject.toml").write_text(
        "[tool.pytest.ini_options]\n[tool.poetry]\n[tool.proctor]\n[tool.protobuf]\n"
    )
    assert misspelled_settings(project, project) == []
    assert in_this_process(*EVAL).stderr == ""
