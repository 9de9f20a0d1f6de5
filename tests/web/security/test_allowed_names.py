"""Which models a request of the page may name."""

from pathlib import Path

from proctor.runs.setup.settings import load_settings
from proctor.web.server.security.allowed_names import model_problem


def test_a_script_is_allowed_only_if_it_is_the_projects_own_judge(tmp_path: Path) -> None:
    (tmp_path / "proctor.toml").write_text('judge = "scripted:judge.json"')
    settings = load_settings(tmp_path)
    for same in ("scripted:judge.json", f"scripted:{tmp_path}/judge.json"):
        assert not model_problem(same, settings)
    for other in ("scripted:other.json", "scripted:/etc/passwd"):
        assert "reads a file" in model_problem(other, settings)
