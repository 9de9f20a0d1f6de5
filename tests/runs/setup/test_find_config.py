"""Where the config of an eval set is found."""

from pathlib import Path

import pytest

from proctor.errors import SetupError
from proctor.runs.setup import settings
from proctor.runs.setup.settings import find_config


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "above.txt").write_text("")
    root = tmp_path / "project"
    (root / "evals" / "deep").mkdir(parents=True)
    (root / "proctor.toml").write_text("")
    return root


def test_config_in_the_folder_of_the_set(project: Path) -> None:
    for place in (project, project / "evals" / "deep"):
        (place / "test_config.json").write_text("{}")
    assert find_config(project / "evals/deep/x.evalset.json") == project / "evals/deep/test_config.json"


@pytest.mark.parametrize("name", ["test_config.yaml", "test_config.yml"])
def test_a_config_in_yaml(project: Path, name: str) -> None:
    (project / "test_config.json").write_text("{}")
    (project / "evals" / name).write_text("{}")
    assert find_config(project / "evals/deep/x.evalset.json") == project / "evals" / name


def test_two_configs_in_one_folder_are_refused(project: Path) -> None:
    for name in ("test_config.json", "test_config.yaml"):
        (project / name).write_text("criteria: {}")
    with pytest.raises(
        SetupError, match=r"test_config.json and .*test_config.yaml: only one may configure x"
    ):
        find_config(project / "evals/deep/x.evalset.json")


def test_else_the_config_of_the_nearest_folder_above(project: Path) -> None:
    (project / "test_config.json").write_text("{}")
    assert find_config(project / "evals/deep/x.evalset.json") == project / "test_config.json"
    (project / "evals" / "test_config.json").write_text("{}")
    assert find_config(project / "evals/deep/x.evalset.json") == project / "evals" / "test_config.json"


def test_no_config_above_the_project(project: Path) -> None:
    (project.parent / "test_config.json").write_text("{}")
    assert find_config(project / "evals/deep/x.evalset.json") is None


def test_outside_a_project_only_the_folder_of_the_set_is_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        settings, "project_root", lambda _: None
    )  # the folder of these tests may itself be in a project
    (tmp_path / "test_config.json").write_text("{}")
    (tmp_path / "deep").mkdir()
    assert find_config(tmp_path / "x.evalset.json") == tmp_path / "test_config.json"
    assert find_config(tmp_path / "deep" / "x.evalset.json") is None


def test_relative_names_stay_relative(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "test_config.json").write_text("{}")
    monkeypatch.chdir(project)
    assert find_config(Path("evals/deep/x.evalset.json")) == Path("test_config.json")
