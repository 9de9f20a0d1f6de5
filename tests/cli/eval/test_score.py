"""`proctor score`: the judge where neither the criterion nor the command names one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proctor.runs.storage.open import open_store
from tests.cli.project import case, in_this_process, make_project

MATCH = "final_response_match_v2"
SAID = {"rationale": "it does", "verdict": "valid"}


def judge(folder: Path, name: str) -> str:
    """Write a judge of that name, and return how it is named."""
    (folder / f"{name}.json").write_text(json.dumps([{"when": "material", "say": SAID}]))
    return f"scripted:{name}.json"


@pytest.mark.parametrize(
    ("asked", "sources"),
    [
        ("by_hand", ["by_hand", "run", "variable", "setting"]),
        ("run", ["run", "variable", "setting"]),
        ("variable", ["variable", "setting"]),
        ("setting", ["setting"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_choice_of_the_judge_for_a_rescore(
    asked: str, sources: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_project(tmp_path, case("one", "hello"), criteria={MATCH: 1.0})
    monkeypatch.chdir(tmp_path)
    names = {name: judge(tmp_path, name) for name in sources}
    run = ["--judge", names["run"]] if "run" in sources else ["--no-judge"]
    (tmp_path / "rules.json").write_text(json.dumps({"criteria": {MATCH: 1.0, "response_match_score": 0.5}}))
    begun = in_this_process("eval", "agent.py", "cases.evalset.json", "--config", "rules.json", *run)
    assert begun.returncode == 0, begun.stderr
    (tmp_path / "proctor.toml").write_text(f'judge = "{names["setting"]}"')
    monkeypatch.setenv("PROCTOR_JUDGE_MODEL", names.get("variable", " "))
    given = ["--judge", names["by_hand"]] if "by_hand" in sources else []
    again = in_this_process("score", "latest", *given)
    assert again.returncode == 0, again.stdout + again.stderr
    kept = open_store(str(tmp_path / ".proctor" / "store.sqlite3"))
    metrics = kept.scorings(kept.find("latest"))[-1].sets[0].metrics
    kept.close()
    told = {metric.name: metric.judge for metric in metrics}
    assert told[MATCH].startswith(f"scripted:{asked}.json")


def test_setting_without_a_model_is_reported_before_any_judge_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_project(tmp_path, case("one", "hello"))
    monkeypatch.chdir(tmp_path)
    assert in_this_process("eval", "agent.py", "cases.evalset.json", "--no-judge").returncode == 0
    (tmp_path / "proctor.toml").write_text('judge = "gtp-5"')
    again = in_this_process("score", "latest")
    assert again.returncode == 2
    assert "Did you mean 'gpt-5'?" in again.stderr
